"""Read the contract: include/assay.h and every table of contract/.

`Contract` has each table as an attribute. What a column means stands at the head of its table. A
wrong number of columns, an unknown word or a name that stands twice ends the program with file and
line.
"""
import collections
import json
import pathlib
import re
import sys

from . import header
from .text import camel, split_words

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fail(at, text):
    sys.exit(f"{at}: {text}")


def read_rows(name, *counts):
    """Yield (place, fields) of each row of a table; a row has one of `counts` fields."""
    path = f"contract/{name}"
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) not in counts:
                fail(f"{path}:{number}", f"{len(fields)} columns, not {counts}")
            yield f"{path}:{number}", fields


def keep_by_hand(path, mark):
    """Return what stands by hand in a file whose end is generated: the text up to the line that
    ends so, and this line."""
    head, found, _ = (ROOT / path).read_text().partition(f"{mark}, to the end. Do not edit.\n")
    return head + found if found else fail(path, f"no line {mark!r}, below which it is generated")


def check_known(at, value, known):
    if value not in known:
        fail(at, f"{value!r} is none of {', '.join(map(repr, known))}")
    return value


def check_once(at, name, found):
    if name in found:
        fail(at, f"{name} stands twice")
    return name


def split_column(column):
    return [] if column == "-" else column.split()


# ---- statuses.tsv and status-words.tsv ---------------------------------------------------------


Family = collections.namedtuple("Family", "number name meaning remedy")


class Words:
    """What status-words.tsv says: families are [Family]; retry classes and kinds of evidence are
    {name: text}."""

    def __init__(self):
        self.families, self.retry, self.evidence = [], {}, {}
        for at, (of, number, name, text, remedy) in read_rows("status-words.tsv", 5):
            if check_known(at, of, ("family", "retry", "evidence")) == "family":
                check_known(at, number, [str(len(self.families))])
                self.families.append(Family(int(number), name, text, remedy.removeprefix("-")))
            else:
                found = getattr(self, of)
                found[check_once(at, name, found)] = text

    def for_whom(self, kinds):
        """Describe kinds in words: ["jws", "app-receipt"] -> "a JWS, an app receipt"."""
        return ", ".join(self.evidence[kind] for kind in kinds)


class Status:
    """One row of statuses.tsv, with the rows of hints below it."""

    def __init__(self, at, fields, words):
        (self.name, detail, self.http, self.retry, self.rules, self.message, self.hint) = fields
        families = [family.name for family in words.families]
        self.family = families.index(check_known(at, self.name.partition(".")[0], families))
        check_known(at, self.retry, (*words.retry, "reserved"))
        if re.search(r'["\\]', self.message):
            fail(at, f"the message of {self.name} would have to be escaped in JSON")
        self.detail = int(detail)
        self.code = self.family | self.detail << 8
        # [([kind], hint)] where the kinds that give the status need different hints.
        self.hints, self.has_one_hint = [], False

    def add(self, at, known, names, *hint):
        """Add a row of hints: kinds and their hint, or `any`: one hint fits every kind."""
        if self.has_one_hint or (names == "any" and (hint or self.hints)):
            fail(at, f"{self.name} has one hint for any kind, that of its row")
        if names == "any":
            self.has_one_hint = True
            return
        kinds = names.split(",")
        for kind in kinds:
            check_known(at, kind, known)
            check_once(at, kind, [each for one, _ in self.hints for each in one])
        if len(hint) != 1 or not hint[0]:
            fail(at, f"no hint of {self.name} for {names}")
        self.hints.append((kinds, hint[0]))

    @property
    def client(self):
        """The HTTP status for a client; 500 for a fault on the host's side."""
        return int(self.http) if self.http.isdigit() else 500

    @property
    def constant(self):
        """The name of the Swift constant: rejected.chain.not-ca -> rejectedChainNotCa."""
        return camel(self.name)


def read_statuses(words):
    """Return the statuses by family and detail, with those that no check gives yet."""
    found = []
    for at, fields in read_rows("statuses.tsv", 7, 3, 2):
        if fields[0]:
            check_once(at, fields[0], [each.name for each in found])
            found.append(Status(at, fields, words))
            check_once(at, found[-1].code, [each.code for each in found[:-1]])
        else:
            found[-1].add(at, words.evidence, *fields[1:])
    return sorted(found, key=lambda status: (status.family, status.detail))


# ---- configuration.tsv -------------------------------------------------------------------------

# 2^53 - 1, the largest integer that every JSON reader keeps; as a bound it means none.
EXACT = 9007199254740991


class Setting:
    """One row of configuration.tsv, with the rows of the members inside it."""

    def __init__(self, at, fields):
        self.at = at
        self.path, schema, default, self.values, self.shown, self.swift, self.meaning = fields
        self.schema = json.loads(schema)
        self.choices = self.schema.get("enum")
        self.is_secret = self.schema.get("writeOnly", False)
        self.is_required = default == "!"
        self.has_default = default not in ("", "!")
        self.default = json.loads(default) if self.has_default else None
        self.outer, _, self.name = self.path.replace("[].", ".[].").rpartition(".")
        self.outer = self.outer.replace(".[]", "[]")
        self.inner = []

    @property
    def is_block(self):
        """Whether the member is a block with a Swift type of its own."""
        return bool(self.inner) and self.swift[:1].isupper()

    def bounds(self):
        """Return the least and the greatest length, count or value, or None."""
        for low, high in (("minItems", "maxItems"), ("minLength", "maxLength"),
                          ("minimum", "maximum"), ("minProperties", "maxProperties")):
            if low in self.schema or high in self.schema:
                return self.schema.get(low, 0), self.schema.get(high, EXACT)
        return None

    @property
    def taken(self):
        """The values that the member accepts, in words of Markdown."""
        if self.values:
            return self.values
        if self.choices:
            return ", ".join(f"`{choice}`" for choice in self.choices)
        if self.schema.get("type") == "boolean":
            return "boolean"
        low, high = self.bounds() or fail(self.at, "needs words in the column values")
        return f"{low} … {'' if high == EXACT else high}".strip()


def read_configuration():
    found = {}
    for at, fields in read_rows("configuration.tsv", 7):
        setting = found[check_once(at, fields[0], found)] = Setting(at, fields)
        if setting.outer:
            outer = setting.outer.removesuffix("[]").removesuffix(".*")
            found[check_known(at, outer, found)].inner.append(setting)
    return list(found.values())


# ---- facts.tsv and names.tsv -------------------------------------------------------------------

SHAPES = ("claims", "evidence", "facts", "object", "shared")
PLAIN = {"text", "integer", "boolean", "time", "duration", "octets", "json", "value", "texts"}
# Where a document has what an operation answers, and the request for later.
RESULTS = {"exchange", "exchange.retry"}


class Fact:
    """One row of a type: a member of its JSON."""

    def __init__(self, at, path, kind, present, unit, source, text, read=""):
        # `place`: the facts, the signed JSON, the document beside the facts, or the status, from
        # which the value follows.
        self.at, self.place, self.key = at, "facts", path
        for mark, place in [("payload.", "signed"), ("/", "beside")]:
            if path.startswith(mark):
                self.place, self.key = place, path.removeprefix(mark)
        if source == "status":
            self.place = "status"
        self.is_list = kind.startswith("[")
        self.kind = kind.strip("[]")
        self.is_always = check_known(at, present, ("always", "maybe")) == "always"
        self.unit, self.source, self.text = unit, source, text
        # How the library reads Apple's member; empty if the library computes the fact.
        self.read = read.split()

    @property
    def apple(self):
        """The name of the member in Apple's signed JSON."""
        return self.key if self.source == "Apple" else self.source

    @property
    def is_time(self):
        return self.kind == "time"

    @property
    def has_unit(self):
        """Whether the name ends in the unit of a time; languages with a type for times drop it."""
        return self.kind in ("time", "duration") and split_words(self.key)[-1].lower() == "ms"

    @property
    def can_be_zero(self):
        """Whether 0 or false has another meaning than an absent member."""
        return not (self.unit in ("id", "count", "1+", "false") or self.unit.startswith("1…"))


class Type:
    """The rows of one type; `path` is where a document has such facts."""

    def __init__(self, at, name, path, shape, bases, shown, source, text, read=""):
        self.at, self.name, self.path, self.shape = at, name, path, check_known(at, shape, SHAPES)
        self.source, self.text = source, text
        self.base_names, self.shown = split_column(bases), split_column(shown)
        # The members of its bases that its signed JSON has.
        self.read = read.split()
        self.bases, self.own = [], []

    @property
    def is_top(self):
        return self.shape in ("claims", "facts", "evidence")

    @property
    def members(self):
        """All members, inherited ones first."""
        return [member for base in self.bases for member in base.members] + self.own

    @property
    def is_signed(self):
        """Whether its facts come from signed JSON, which `payload` contains."""
        return any(base.name == "Signed" for base in self.bases)

    @property
    def has_payload(self):
        """Whether `payload` contains the signed JSON, read by the table or not."""
        return self.is_signed or self.shape == "claims"

    @property
    def document_kind(self):
        """The kind of the documents with such facts: "app-transaction"."""
        kind = "-".join(split_words(self.path.partition(".")[0])).lower()
        return kind + "-response" if kind.startswith("verify-") else kind

    def member(self, key):
        return next((member for member in self.members if member.key == key), None)

    def check(self, known):
        """Refuse members of no known type, and those whose place contradicts how they are read."""
        for row in self.own:
            check_known(row.at, row.kind, known)
            # Members that affect decisions are facts; descriptive ones and nested objects stay in
            # the payload.
            in_payload = row.read[:1] == ["descriptive"] or isinstance(known[row.kind], Type)
            if self.is_signed and row.read and in_payload != (row.place == "signed"):
                fail(row.at, f"{row.key} is {row.read[0]} and {row.place}")
        for key in self.shown:
            if key != "status":
                check_known(self.at, key, [member.key for member in self.members])


class ValueSet:
    """One set of names.tsv; `values` are (name, value in JSON), of a set of numbers its digits."""

    def __init__(self, name, text, mark=""):
        self.name, self.text, self.values = name, text, []
        self.places = {}  # value -> the only location where it occurs
        self.is_deprecated, self.deprecated = mark == "deprecated", set()

    @property
    def is_numeric(self):
        return all(value.isdecimal() for _, value in self.values)

    @property
    def bound(self):
        """The least and the greatest of a set of numbers, as a bound names them."""
        numbers = sorted(int(value) for _, value in self.values)
        return f"{numbers[0]}…{numbers[-1]}"

    def about(self, value=None):
        """What is said about the set, or about a value that is deprecated; "" about others."""
        if value is None:
            return self.text + " Deprecated: Apple has replaced these." * self.is_deprecated
        return "Deprecated: Apple has replaced this." if value in self.deprecated else ""

    def values_in(self, place):
        return [value for _, value in self.values if self.places.get(value, place) == place]


def read_value_sets():
    found = []
    for at, (name, *fields) in read_rows("names.tsv", 2, 3, 4):
        if name:
            check_known(at, "".join(fields[1:]), ("", "deprecated"))
            found.append(ValueSet(check_once(at, name, [each.name for each in found]), *fields))
        else:
            name, value, *place = fields
            check_once(at, name, [each for each, _ in found[-1].values])
            found[-1].values.append((name, value))
            if place == ["deprecated"]:
                found[-1].deprecated.add(value)
            else:
                found[-1].places.update({value: check_known(at, each, ("payload", "receipt"))
                                         for each in place})
    return found


RequestClass = collections.namedtuple("RequestClass", "name meaning explanation")


def read_request_classes(value_sets):
    """Return the classes of `assay report`: every category of triage has its row."""
    found = {}
    known = [value for each in value_sets if each.name == "Category" for _, value in each.values]
    for at, fields in read_rows("request-classes.tsv", 3):
        one = RequestClass(*fields)
        check_known(at, one.name, [*known, "repeated"])
        found[check_once(at, one.name, found)] = one
    if missing := set(known) - found.keys():
        fail("contract/request-classes.tsv", f"no row for {sorted(missing)}")
    return list(found.values())


def read_types(value_sets):
    found = {}
    for at, (name, path, *fields) in read_rows("facts.tsv", 7, 8):
        if path.startswith("@"):
            one = found[check_once(at, name, found)] = Type(at, name, path[1:], *fields)
            one.bases = [found[check_known(at, base, found)] for base in one.base_names]
        else:
            member, own = Fact(at, path, *fields), found[check_known(at, name, found)].own
            check_once(at, member.key, [each.key for each in own])
            own.append(member)
    known = {**dict.fromkeys(PLAIN), **{each.name: None for each in value_sets}, **found}
    for one in found.values():
        one.check(known)
    return list(found.values())


def find_reached(types, names):
    """Return the types with these names, and those of their parts, in the order of the table."""
    known, found, names = {one.name: one for one in types}, set(), list(names)
    while names:
        name = names.pop()
        if name in known and name not in found:
            found.add(name)
            names += [*known[name].base_names, *(row.kind for row in known[name].own)]
    return [one for one in types if one.name in found]


# ---- kinds.tsv, kind-members.tsv and appstore/ -------------------------------------------------

ON = ("verifier", "signer", "sessions", "devicecheck", "appstore", "keysets", "ledger")
RUNS = ("call", "http", "store")
# Words for wrong values that may have a refusal of their own; "" is any other wrong value.
WORDS = ("", "type", "short", "long", "character", "same")
CLASSES = ("purchase", "transaction", "jws", "device-jws", "transaction-receipt", "app-receipt",
           "attest-receipt", "attestation", "receipted-attestation", "assertion", "keyset",
           "realtime-request")
# The terms of a step bound, by variable. Bounds of the App Store Server API are listed whole.
TERM = re.compile(r"(\d+)([nl]?)")
PAGES, ATTEMPTS = 100, 5
APP_STORE = {"2a+1": 2 * ATTEMPTS + 1, "3a": 3 * ATTEMPTS, "p(2a-1)+2": PAGES * (2 * ATTEMPTS - 1) + 2}
# The rules of the responses of the App Store Server API.
RULES = ("-", "production", "once", "same-id", "account", "consumption", "consumption-v1",
         "notifications", "messaging", "already", "image", "message", "performance-test",
         "commerce", "refund", "report", "reported")
# Hosts of Apple's beside those of the App Store Server API.
HOSTS = ("-", "itunes")


class Member:
    """One row of kind-members.tsv: a member of a request, or an argument of hosts alone."""

    def __init__(self, at, fields):
        (self.operation, self.name, self.alias, self.place, self.type, self.bound, self.present,
         self.given, self.wrong, self.absent, self.does) = fields
        self.at = at
        self.is_list = self.type.startswith("[")
        self.is_deprecated, self.schema, self.known = False, None, None
        self.argument = self.name if self.alias == "-" else self.alias
        self.is_required = self.present == "required"
        self.is_sent = self.place != "host"
        self.is_duration = self.type == "integer" and self.argument.endswith("Ms")
        self.is_time = self.type == "time"

    @property
    def value_set(self):
        """The name of the set of names.tsv that its bound names; "" without one."""
        found = re.search(r"\bin ([A-Z]\w+)", self.bound)
        return found[1] if found else ""

    def check(self, sets, schemas):
        """Check the set that the bound names, whose numbers are the bound's; find the schema."""
        self.schema = schemas.get(self.type.strip("[]"))
        if self.value_set:
            check_known(self.at, self.value_set, sets)
            one = sets[self.value_set]
            self.is_deprecated = one.is_deprecated
            self.known = [value for _, value in one.values]
            if one.is_numeric and self.bound.split(",")[0] != one.bound:
                fail(self.at, f"{self.bound}: {one.name} is {one.bound}")

    @property
    def refusals(self):
        """{word: "status rule"}; the word is one of WORDS."""
        parts = [part.rsplit(" ", 2) for part in self.wrong.split("; ") if part != "-"]
        return {check_known(self.at, part[0] if part[2:] else "", WORDS): " ".join(part[-2:])
                for part in parts}

    @property
    def plain(self):
        """What kind of value hosts give: number, boolean, time, object or text."""
        kind = self.type.strip("[]")
        if self.schema:
            return "object"
        return {"integer": "number"}.get(kind, kind if kind in ("boolean", "time") else "text")

    @property
    def choices(self):
        """The values of a choice: those of its set, or those that its bound lists."""
        if self.type != "choice":
            return []
        return self.known or self.bound.split("|")


class Kind:
    """One row of kinds.tsv, with its members in the order in which hosts send them. An operation of
    the App Store Server API has the columns of appstore/endpoints.tsv as well."""

    method = path = answer = paging = rule = limit = host = None

    def __init__(self, at, fields):
        (self.name, self.on, self.runs, evidence, self.steps, self.again, hidden,
         secret, blocks, self.engines, self.hints, self.result, self.refused,
         self.swift, self.source, self.does) = fields
        check_known(at, self.on, ON)
        check_known(at, self.runs, RUNS)
        check_known(at, self.again, ("retry", "same", "never"))
        self.hidden, self.secret = split_column(hidden), split_column(secret)
        self.blocks = split_column(blocks)
        # The name of the type of what it answers.
        self.answers = self.result.partition("@")[0]
        count, *classes = evidence.split()
        low, _, high = count.partition("…")
        self.evidence = int(low), int(high or low)
        self.is_live = "live" in classes
        self.classes = [check_known(at, name, CLASSES) for name in classes if name != "live"]
        if self.steps not in APP_STORE and not all(map(TERM.fullmatch, self.steps.split("+"))):
            fail(at, f"steps {self.steps!r}")
        self.members = []

    def serve(self, at, fields):
        """Take a row of appstore/endpoints.tsv."""
        self.method, self.path, answer, self.paging, self.rule, self.limit, *rest = fields
        # None: the body is not read.
        self.answer = None if answer == "empty" else [] if answer == "json" else answer.split(" ")
        self.host = check_known(at, rest[0] if rest else "-", HOSTS)
        check_known(at, self.rule, RULES)
        inside = re.findall(r"\{(\w+)\}", self.path)
        if inside != [member.name for member in self.members if member.place == "path"]:
            fail(at, f"path of {self.name}")

    @property
    def parameters(self):
        """The members of a request to Apple, or of what is signed for it: those of the operation
        itself."""
        return [each for each in self.members if each.place in ("path", "query", "body")]

    @property
    def ordered(self):
        """The same as hosts declare them: what is required first."""
        return sorted(self.parameters, key=lambda member: not member.is_required)

    @property
    def own(self):
        """All members that are the operation's own, in the order of `ordered`."""
        found = [member for member in self.members if member.operation == self.name]
        return sorted(found, key=lambda member: not member.is_required)

    @property
    def has_pages(self):
        return self.paging != "-"

    @property
    def has_evidence(self):
        return self.evidence[1] > 0

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
    def is_mixed(self):
        """Whether an operation of the ledger also asks Apple, in a machine of its own."""
        return self.runs == "store" and self.swift.endswith("StateMachine")

    @property
    def is_paced(self):
        """Whether the operation is retried like a network kind although it has database steps
        (STO-66)."""
        return self.runs == "store" and self.again == "retry"

    @property
    def groups(self):
        """The shared groups, such as `*store`, whose rows in kind-members.tsv it has."""
        return ["*", *["*store"] * (self.runs == "store"),
                *["*http"] * (self.runs == "http" or self.is_paced),
                *["*appstore"] * self.is_app_store]

    @property
    def sent(self):
        """The top-level names of all members, without duplicates: `options.x` becomes `options`."""
        return list(dict.fromkeys(member.name.partition(".")[0] for member in self.members
                                  if member.is_sent))


Schema = collections.namedtuple("Schema", "name does members")


def read_schemas(value_sets):
    """Return the objects of appstore/schemas.tsv by name."""
    found, sets = {}, {each.name: each for each in value_sets}
    for at, (name, *fields) in read_rows("appstore/schemas.tsv", 2, 6):
        if name:
            last = found[check_once(at, name, found)] = Schema(name, *fields, [])
        else:
            member, type_, bound, present, does = fields
            check_once(at, member, [each.name for each in last.members])
            row = [last.name, member, "-", "body", type_, bound, present, "argument", "-", "-", does]
            last.members.append(Member(at, row))
            last.members[-1].check(sets, found)
    return found


def read_kinds(value_sets, schemas):
    """Return the operations in the order of the table."""
    found, sets = {}, {each.name: each for each in value_sets}
    for at, fields in read_rows("kinds.tsv", 16):
        found[check_once(at, fields[0], found)] = Kind(at, fields)
    listed = {name: [] for name in ("*", "*http", "*store", "*appstore", *found)}
    for at, fields in read_rows("kind-members.tsv", 11):
        of = listed[check_known(at, fields[0], listed)]
        check_once(at, fields[1], [each.name for each in of])
        of.append(Member(at, fields))
        of[-1].check(sets, schemas)
    for kind in found.values():
        kind.members = [member for group in (*kind.groups, kind.name) for member in listed[group]]
    app_store = [name for name, kind in found.items() if kind.is_app_store]
    for at, (name, *fields) in read_rows("appstore/endpoints.tsv", 7, 8):
        check_known(at, name, app_store)
        check_once(at, name, [each for each in app_store if found[each].method])
        found[name].serve(at, fields)
    for name in app_store:
        if not found[name].method:
            fail("contract/appstore/endpoints.tsv", f"nothing of {name}")
    return list(found.values())


# ---- store/ ------------------------------------------------------------------------------------

ENGINES = ("sqlite", "postgres", "mariadb")
MARK = re.compile(r"\{(\w+) ([\w.]+)(?: (\w+))?\}")
COLUMNS = {
    "sqlite": {"text": "TEXT", "long": "TEXT", "integer": "INTEGER"},
    "postgres": {"text": "TEXT", "long": "TEXT", "integer": "BIGINT"},
    "mariadb": {"text": "VARCHAR({})", "long": "MEDIUMTEXT", "integer": "BIGINT"},
}
# The end of CREATE TABLE, after the columns.
ENDS = {"sqlite": " STRICT, WITHOUT ROWID", "postgres": "",
        "mariadb": " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"}
# InnoDB's limits in bytes: of a key, and of a character in utf8mb4.
KEY, CHARACTER = 3072, 4


class Column:
    """One row of store/tables.tsv."""

    def __init__(self, at, name, kind, null, key, length):
        self.name, self.kind, self.length = name, kind, int(length or 0)
        self.is_null, self.is_key = null == "null", key == "key"
        check_known(at, kind, COLUMNS["sqlite"])
        if (kind == "text") != bool(self.length):
            fail(at, f"length of {name}")

    def declared(self, engine):
        kind = COLUMNS[engine][self.kind].format(self.length)
        return f"{self.name} {kind}" + ("" if self.is_null else " NOT NULL")

    @property
    def octets(self):
        """The most bytes that the column takes in a key of MariaDB."""
        return self.length * CHARACTER + 2 if self.kind == "text" else 8


class Table:
    """The columns of one table, and its indexes: (name, [column])."""

    def __init__(self, name):
        self.name, self.columns, self.indexes = name, [], []

    @property
    def keys(self):
        return [column.name for column in self.columns if column.is_key]

    def create(self, engine):
        parts = [column.declared(engine) for column in self.columns]
        parts.append(f"PRIMARY KEY ({', '.join(self.keys)})")
        return (f"CREATE TABLE IF NOT EXISTS assay_{self.name} ({', '.join(parts)})"
                + ENDS[engine])

    def create_index(self, name, columns):
        return (f"CREATE INDEX IF NOT EXISTS assay_{self.name}_{name} ON assay_{self.name} "
                f"({', '.join(columns)})")

    def check_key(self, at, names):
        octets = {column.name: column.octets for column in self.columns}
        if sum(octets[check_known(at, name, octets)] for name in names) > KEY:
            fail(at, f"MariaDB has no key of {self.name} ({', '.join(names)})")


def read_tables():
    """Return {name: Table} in the order of tables.tsv."""
    found = {}
    for at, (name, *column) in read_rows("store/tables.tsv", 6):
        table = found.setdefault(name, Table(name))
        check_once(at, column[0], [each.name for each in table.columns])
        table.columns.append(Column(at, *column))
    for name, table in found.items():
        table.check_key("contract/store/tables.tsv", table.keys)
    for at, (name, index, columns) in read_rows("store/indexes.tsv", 3):
        table = found[check_known(at, name, found)]
        table.check_key(at, columns.split(", "))
        table.indexes.append((check_once(at, index, dict(table.indexes)), columns.split(", ")))
    return found


class Statement:
    """One row of statements.tsv; `texts` has the SQL of each engine that has the statement."""

    def __init__(self, at, fields, tables):
        self.name, rows_of, *texts = fields
        self.texts = {}
        for engine, text in zip(ENGINES, texts):
            text = texts[0] if text == "*" else text
            if text:
                self.texts[engine] = resolve(at, text, engine, tables)
        self.rows = set(ENGINES if rows_of == "all" else rows_of.replace("-", "").split(","))
        self.rows &= set(self.texts)
        if self.rows != {engine for engine, text in self.texts.items() if gives_rows(text)}:
            fail(at, f"where {self.name} gives rows")


def gives_rows(text):
    """Whether a statement gives rows. RETURNING inside parentheses does not: of a statement with a
    CTE (`WITH … AS (DELETE … RETURNING …)`) only what follows the parentheses counts."""
    after = text.rpartition(")")[2]
    if text.startswith("WITH ") and after.startswith(" SELECT "):
        return True
    return text.startswith(("SELECT ", "PRAGMA ")) or " RETURNING " in after


def resolve(at, text, engine, tables):
    """Return a statement with its marks, such as {columns ledger}, replaced."""
    def replaced(mark):
        word, name, alias = mark.groups()
        if word == "skip":
            return (f"ON DUPLICATE KEY UPDATE {name} = {name}" if engine == "mariadb"
                    else "ON CONFLICT DO NOTHING")
        if word == "tables" and name == "all":
            return ",".join(f"'assay_{table}'" for table in tables)
        check_known(at, word, ("columns", "values"))
        check_known(at, name, tables)
        before = ":" if word == "values" else f"{alias}." if alias else ""
        return ",".join(before + column.name for column in tables[name].columns)

    text = MARK.sub(replaced, text)
    literals = re.findall(r"'([^']*)'", text)
    if re.search(r'[{}"\\%?$]|::', text) or ":" in "".join(literals):
        fail(at, f"{text!r} is not plain")
    return text


def read_statements(tables):
    found = []
    for at, fields in read_rows("store/statements.tsv", 5):
        check_once(at, fields[0], [each.name for each in found])
        found.append(Statement(at, fields, tables))
    return found


# ---- all of it ---------------------------------------------------------------------------------


class Contract:
    """The header and all tables."""

    def __init__(self):
        self.header = header.read((ROOT / "include/assay.h").read_text())
        self.words = Words()
        for family in self.words.families:
            name = "ASSAY_" + family.name.replace("-", "_").upper()
            if self.header.constant(name) != family.number:
                fail("include/assay.h", f"{name} is not {family.number}")
        # All statuses, and those that a check gives.
        self.all_statuses = read_statuses(self.words)
        self.statuses = [each for each in self.all_statuses if each.retry != "reserved"]
        self.configuration = read_configuration()
        # Facts, and what operations answer in `exchange`: the types, with those of their parts, and
        # the sets of values that these alone have.
        self.all_value_sets = read_value_sets()
        self.request_classes = read_request_classes(self.all_value_sets)
        self.all_types = read_types(self.all_value_sets)
        self.results = find_reached(self.all_types,
                                    [one.name for one in self.all_types if one.path in RESULTS])
        self.types = [one for one in self.all_types if one not in self.results]
        own = {row.kind for one in self.results for row in one.own}
        own -= {row.kind for one in self.types for row in one.own}
        self.result_sets = [each for each in self.all_value_sets if each.name in own]
        self.value_sets = [each for each in self.all_value_sets if each.name not in own]
        # Operations; those of a ledger here are those that run over the host's store.
        self.schemas = read_schemas(self.all_value_sets)
        self.kinds = read_kinds(self.all_value_sets, self.schemas)
        self.ledger_kinds = [kind for kind in self.kinds if kind.runs == "store"]
        self.app_store_kinds = [kind for kind in self.kinds if kind.is_app_store]
        # Requests of Advanced Commerce that are signed for the app.
        self.in_app_kinds = [kind for kind in self.kinds
                             if kind.on == "signer" and kind.parameters]
        # (number, name) of each error of the App Store Server API.
        self.app_store_errors = [tuple(fields) for _, fields in read_rows("appstore/errors.tsv", 2)]
        self.tables = read_tables()
        self.statements = read_statements(self.tables)
