"""Read contract/appstore/endpoints.tsv, one conversation of the App Store
Server API a row, for the generators and the gates."""
import dataclasses
import re
import sys

from status_rows import ROOT

FOLDER = "contract/appstore"
TABLE = FOLDER + "/endpoints.tsv"
ERRORS = FOLDER + "/errors.tsv"
PLACES = ("path", "query", "body")
TYPES = ("id", "order", "uuid", "account", "text", "text128", "name", "time", "boolean", "consent")
RULES = ("-", "production", "once", "same-id", "account", "consumption", "consumption-v1",
         "notifications")
MEMBER = re.compile(r"(path|query|body):(\w+)=([a-z]+\d*|\d+…\d+)(\[\])?(!?)")


def fail(text):
    sys.exit(f"endpoints.tsv: {text}")


@dataclasses.dataclass(frozen=True)
class Member:
    """One member of a request."""
    place: str
    name: str
    type: str
    is_list: bool
    is_required: bool

    @classmethod
    def read(cls, text):
        found = MEMBER.fullmatch(text)
        if not found:
            fail(f"member {text!r}")
        place, name, kind, is_list, is_required = found.groups()
        if kind not in TYPES and "…" not in kind:
            fail(f"type of {text!r}")
        return cls(place, name, kind, bool(is_list), bool(is_required))

    @property
    def bounds(self):
        """Of an integer; nil for other types."""
        return tuple(map(int, self.type.split("…"))) if "…" in self.type else None


class Endpoint:
    """One row."""

    def __init__(self, line):
        fields = line.split("\t")
        if len(fields) != 10:
            fail(f"{len(fields)} fields in {line!r}")
        (self.kind, self.method, self.path, listed, answer, self.paging, self.rule, evidence,
         self.limit, self.does) = fields
        self.members = [] if listed == "-" else [Member.read(text) for text in listed.split(" ")]
        self.answer = [] if answer == "empty" else answer.split(" ")
        self.evidence = 1 if evidence == "0…1" else 0
        if self.rule not in RULES:
            fail(f"rule of {self.kind}")
        inside = re.findall(r"\{(\w+)\}", self.path)
        if inside != [member.name for member in self.members if member.place == "path"]:
            fail(f"path of {self.kind}")

    @property
    def name(self):
        """appstore.transaction-info -> transaction-info."""
        return self.kind.partition(".")[2]

    @property
    def required(self):
        return [member for member in self.members if member.is_required]

    @property
    def optional(self):
        return [member for member in self.members if not member.is_required]


def rows(name):
    return [line for line in (ROOT / name).read_text().splitlines()
            if line and not line.startswith("#")]


def endpoints():
    return [Endpoint(line) for line in rows(TABLE)]


def errors():
    """Apple's numbers, with their names."""
    return [tuple(line.split("\t")) for line in rows(ERRORS)]
