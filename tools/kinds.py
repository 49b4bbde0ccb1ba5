"""Read contract/kinds.tsv and kind-members.tsv, every operation and its members, for
generators and checks."""
import re
import sys

from status_rows import ROOT

KINDS, MEMBERS = "contract/kinds.tsv", "contract/kind-members.tsv"
ON = ("verifier", "signer", "sessions", "devicecheck", "appstore", "keysets", "ledger")
RUNS = ("call", "http", "store")
# Words for wrong values that may have a refusal of their own; "" is any other wrong value.
WORDS = ("", "type", "short", "long", "character", "same")
CLASSES = ("purchase", "transaction", "jws", "device-jws", "transaction-receipt", "app-receipt",
           "attest-receipt", "attestation", "receipted-attestation", "assertion", "keyset")
# The terms of a step bound, by variable. Bounds of the App Store Server API are listed whole.
TERM = re.compile(r"(\d+)([nl]?)")
PAGES, ATTEMPTS = 100, 5
APP_STORE = {"2a+1": 2 * ATTEMPTS + 1, "p(2a-1)+2": PAGES * (2 * ATTEMPTS - 1) + 2}


def rows(path, count):
    """Yield (line number, fields) of a table whose rows have `count` fields."""
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != count:
                sys.exit(f"{path}:{number}: {len(fields)} fields instead of {count}")
            yield number, fields


def one_of(path, number, value, known):
    if value not in known:
        sys.exit(f"{path}:{number}: {value!r} is none of {', '.join(known)}")
    return value


def words(text):
    return [] if text == "-" else text.split()


class Member:
    """One row of kind-members.tsv."""

    def __init__(self, fields):
        (self.operation, self.name, self.alias, self.place, self.type, self.bound, self.present,
         self.given, self.wrong, self.absent, self.does) = fields
        self.is_list = self.type.startswith("[")
        self.argument = self.name if self.alias == "-" else self.alias

    @property
    def refusals(self):
        """{word: "status rule"}; the word is one of WORDS."""
        parts = [part.rsplit(" ", 2) for part in self.wrong.split("; ") if part != "-"]
        return {one_of(MEMBERS, self.name, part[0] if part[2:] else "", WORDS):
                " ".join(part[-2:]) for part in parts}

    @property
    def is_sent(self):
        """Whether it is a member of the request; some rows are arguments of hosts only."""
        return self.place != "host"

    @property
    def is_required(self):
        return self.present == "required"


class Kind:
    """One row of kinds.tsv, with its members in the order in which hosts send them."""

    def __init__(self, number, fields):
        (self.name, self.on, self.runs, evidence, self.steps, self.again, hidden,
         secret, self.block, self.engines, self.hints, self.result, self.refused,
         self.swift, self.source, self.does) = fields
        one_of(KINDS, number, self.on, ON)
        one_of(KINDS, number, self.runs, RUNS)
        one_of(KINDS, number, self.again, ("retry", "same", "never"))
        self.hidden, self.secret = words(hidden), words(secret)
        count, *classes = evidence.split()
        low, _, high = count.partition("…")
        self.evidence = int(low), int(high or low)
        self.is_live = "live" in classes
        self.classes = [one_of(KINDS, number, name, CLASSES) for name in classes if name != "live"]
        if self.steps not in APP_STORE and not all(map(TERM.fullmatch, self.steps.split("+"))):
            sys.exit(f"{KINDS}:{number}: steps {self.steps!r}")
        self.members = []

    @property
    def bound(self):
        """The most steps, as three numbers: fixed, for each purchase, for each subscription."""
        if self.steps in APP_STORE:
            return APP_STORE[self.steps], 0, 0
        found = {"": 0, "n": 0, "l": 0}
        for term in self.steps.split("+"):
            count, variable = TERM.fullmatch(term).groups()
            found[variable] += int(count)
        return found[""], found["n"], found["l"]

    @property
    def is_app_store(self):
        return self.on == "appstore"

    @property
    def is_paced(self):
        """Whether the operation is retried like a network kind although it has database steps
        (STO-66)."""
        return self.runs == "store" and self.again == "retry"

    @property
    def groups(self):
        """The shared groups, such as `*store`, whose rows in kind-members.tsv it has."""
        found = ["*"]
        if self.runs == "store":
            found.append("*store")
        if self.runs == "http" or self.is_paced:
            found.append("*http")
        return found + ["*appstore"] * self.is_app_store

    @property
    def sent(self):
        """The top-level names of all members, without duplicates: `options.x` becomes `options`."""
        return list(dict.fromkeys(member.name.partition(".")[0] for member in self.members
                                  if member.is_sent))


def kinds():
    """Return the operations in the order of the table."""
    found = {}
    for number, fields in rows(KINDS, 16):
        if fields[0] in found:
            sys.exit(f"{KINDS}:{number}: {fields[0]} twice")
        found[fields[0]] = Kind(number, fields)
    shared = {"*": [], "*http": [], "*store": [], "*appstore": []}
    own = {name: [] for name in found}
    for number, fields in rows(MEMBERS, 11):
        one_of(MEMBERS, number, fields[0], {**shared, **own})
        (shared if fields[0] in shared else own)[fields[0]].append(Member(fields))
    for kind in found.values():
        kind.members = [member for group in kind.groups for member in shared[group]]
        kind.members += own[kind.name]
    return list(found.values())
