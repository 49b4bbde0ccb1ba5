"""Read the table of facts, contract/facts.tsv, and the sets of values, contract/names.tsv.

All host generators (generate_python.py and so on) use this reader: a new fact is one row, and a new
host one more generator.
"""
import re
import sys

from status_rows import ROOT

TABLE = "contract/facts.tsv"
NAMES = "contract/names.tsv"
COLUMNS = (7, 8)
WORD = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
SHAPES = {"claims", "evidence", "facts", "object", "shared"}
PLAIN = {"text", "integer", "boolean", "time", "duration", "octets", "json", "texts"}
# Where a document has what a kind of request answers, and the request for later.
RESULTS = {"exchange", "exchange.retry"}


class Member:
    """One row of a type: a member of its JSON."""

    def __init__(self, path, kind, present, unit, source, text, read=""):
        # `place`: the facts, the signed JSON, the document beside the facts, or the status, from
        # which the value follows.
        self.place, self.key = "facts", path
        for mark, place in [("payload.", "signed"), ("/", "beside")]:
            if path.startswith(mark):
                self.place, self.key = place, path.removeprefix(mark)
        if source == "status":
            self.place = "status"
        if present not in ("always", "maybe"):
            sys.exit(f"{TABLE}: {path} is {present!r}, neither always nor maybe present")
        self.is_list = kind.startswith("[")
        self.kind = kind.strip("[]")
        self.is_always = present == "always"
        self.unit, self.source, self.text = unit, source, text
        # How the library reads Apple's member; empty if the library computes the fact.
        self.read = read.split()

    @property
    def apple(self):
        """The name of the member in Apple's signed JSON."""
        return self.key if self.source == "Apple" else self.source

    @property
    def words(self):
        return words(self.key)

    @property
    def is_time(self):
        return self.kind == "time"

    @property
    def can_be_zero(self):
        """Whether 0 or false has another meaning than an absent member."""
        return not (self.unit in ("id", "count", "1+", "false") or self.unit.startswith("1…"))


class Type:
    """The rows of one type; `path` is the location of such facts in a document."""

    def __init__(self, name, path, shape, bases, shown, source, text, read=""):
        if shape not in SHAPES:
            sys.exit(f"{TABLE}: {name} is {shape!r}, none of {sorted(SHAPES)}")
        self.name, self.path, self.shape, self.source, self.text = name, path, shape, source, text
        self.base_names, self.shown = split(bases), split(shown)
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
        kind = "-".join(words(self.path.partition(".")[0])).lower()
        return kind + "-response" if kind.startswith("verify-") else kind

    def member(self, key):
        return next((member for member in self.members if member.key == key), None)


class Names:
    """One set of values; `values` are (name, value in JSON)."""

    def __init__(self, name, text):
        self.name, self.text, self.values = name, text, []
        self.places = {}  # value -> the only location where it occurs

    def values_in(self, place):
        return [value for _, value in self.values if self.places.get(value, place) == place]


def words(name):
    """Split a name into words: dependentSKUs -> dependent, SKUs; createdAtMs -> created, At, Ms."""
    return WORD.findall(name)


def snake(name):
    return "_".join(words(name)).lower()


def camel(name):
    """Return camel case, with one upper-case letter for each further word: appleId, sku."""
    first, *more = words(name)
    return first.lower() + "".join(word.capitalize() for word in more)


def split(column):
    return [] if column == "-" else column.split()


def lines(path):
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def types():
    """Every type that hosts have, in the order of the table: all but those of results."""
    without = {one.name for one in results()}
    return [one for one in all_types() if one.name not in without]


def results():
    """The types of results of kinds, with those of their parts. Hosts but PHP have them by
    hand."""
    known = {one.name: one for one in all_types()}
    found, open_ends = {}, [one.name for one in known.values() if one.path in RESULTS]
    while open_ends:
        name = open_ends.pop()
        if name in known and name not in found:
            found[name] = known[name]
            open_ends += [*known[name].base_names, *(row.kind for row in known[name].own)]
    return [one for one in known.values() if one.name in found]


def all_types():
    """Every type of the table, in its order."""
    found = {}
    for number, row in lines(TABLE):
        if len(row) not in COLUMNS:
            sys.exit(f"{TABLE}:{number}: {len(row)} columns, not one of {COLUMNS}")
        name, path, *rest = row
        if path.startswith("@"):
            found[name] = Type(name, path[1:], *rest)
            found[name].bases = [found[base] for base in found[name].base_names]
        elif found[name].member(path):
            sys.exit(f"{TABLE}:{number}: {name} has {path} twice")
        else:
            found[name].own.append(Member(path, *rest))
    known = PLAIN | {names.name for names in all_value_sets()} | set(found)
    for one in found.values():
        # Members that affect decisions are facts; descriptive ones and nested objects stay in the
        # payload.
        for row in one.own if one.is_signed else ():
            if row.read and (row.read[0] == "descriptive" or row.kind in found) \
                    != (row.place == "signed"):
                sys.exit(f"{TABLE}: {one.name}.{row.key} is {row.read[0]} and {row.place}")
        strange = [member.key for member in one.own if member.kind not in known]
        strange += [key for key in one.shown if not one.member(key) and key != "status"]
        if strange:
            sys.exit(f"{TABLE}: {one.name} has members of no known type: {' '.join(strange)}")
    return list(found.values())


def value_sets():
    """Every set of values that hosts have, in the order of the table: all but those of results."""
    without = {each.name for each in result_sets()}
    return [each for each in all_value_sets() if each.name not in without]


def result_sets():
    """The sets of values that results alone have."""
    own = {row.kind for one in results() for row in one.own}
    own -= {row.kind for one in types() for row in one.own}
    return [each for each in all_value_sets() if each.name in own]


def all_value_sets():
    """Every set of values, in its order."""
    found = []
    for _, row in lines(NAMES):
        if row[0]:
            found.append(Names(*row))
        else:
            name, value, *place = row[1:]
            found[-1].values.append((name, value))
            found[-1].places.update({value: each for each in place})
    return found


def told(text, one, spell, nothing, others=(), quote="`"):
    """Return a text of the table in the terms of a host language.

    spell    returns the host's name of a member of `one` nothing  the host's word for nil others
    {further name in backticks: the host's name for it} quote    the quote around such names in the
    host
    """
    others = dict(others)

    def name(found):
        first, *more = found[1].split(".")
        if found[1] in others:
            return quote + others[found[1]] + quote
        member = one.member(first)
        if member is None:
            return found[0]
        return quote + ".".join([spell(member), *(others.get(step, step) for step in more)]) + quote

    text = re.sub(r"`([\w.-]+)`", name, text)
    return re.sub(r"\bNil\b", nothing[0].upper() + nothing[1:],
                  re.sub(r"\bnil\b", nothing, text))
