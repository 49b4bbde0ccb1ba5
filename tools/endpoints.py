"""Read contract/appstore/endpoints.tsv with the rows of kinds.tsv and kind-members.tsv that have
the same operations, and errors.tsv, for generators and checks."""
import re
import sys

import kinds

FOLDER = "contract/appstore"
TABLE = FOLDER + "/endpoints.tsv"
ERRORS = FOLDER + "/errors.tsv"
RULES = ("-", "production", "once", "same-id", "account", "consumption", "consumption-v1",
         "notifications")
# Types of kind-members.tsv -> their names in the Swift type AppStoreMember, where they differ.
FORMS = {"digits": "id", "order-id": "order", "uuid-or-empty": "account"}
TEXTS = {"1…255": "text", "1…128": "text128"}


class Member:
    """One member of a request."""

    def __init__(self, row):
        self.place, self.name, self.does = row.place, row.name, row.does
        self.is_list, self.is_required = row.is_list, row.is_required
        kind = row.type.strip("[]")
        self.type = FORMS.get(kind, kind)
        self.bounds = None
        if kind == "integer":
            low, high = row.bound.split(",")[0].split("…")
            self.bounds = int(low), int(high)
        elif kind == "text":
            self.type = TEXTS[row.bound.split()[0]]
        elif kind == "boolean" and row.bound == "true alone":
            self.type = "consent"


class Endpoint:
    """One row of endpoints.tsv, with the columns of its operation in kinds.tsv."""

    def __init__(self, kind, fields):
        _, self.method, self.path, answer, self.paging, self.rule, self.limit = fields
        self.name, self.does = kind.name, kind.does
        self.evidence = kind.evidence[1]
        self.members = [Member(row) for row in kind.members
                        if row.place in ("path", "query", "body")]
        self.answer = [] if answer == "empty" else answer.split(" ")
        if self.rule not in RULES:
            sys.exit(f"{TABLE}: rule of {self.name}")
        inside = re.findall(r"\{(\w+)\}", self.path)
        if inside != [member.name for member in self.members if member.place == "path"]:
            sys.exit(f"{TABLE}: path of {self.name}")

    @property
    def required(self):
        return [member for member in self.members if member.is_required]

    @property
    def optional(self):
        return [member for member in self.members if not member.is_required]


def endpoints():
    known = {kind.name: kind for kind in kinds.kinds() if kind.is_app_store}
    found = [Endpoint(known.pop(fields[0]), fields) for _, fields in kinds.rows(TABLE, 7)]
    if known:
        sys.exit(f"{TABLE}: nothing of {', '.join(known)}")
    return found


def errors():
    """Return (number, name) of each error of the App Store Server API."""
    return [tuple(fields) for _, fields in kinds.rows(ERRORS, 2)]
