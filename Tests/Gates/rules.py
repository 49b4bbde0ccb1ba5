#!/usr/bin/env python3
"""Check that every rule of docs/spec has its text, code, cases and mutants.

  rules.py CASES DUMP LIBRARY   check the register, contract/rules.tsv, and what cites it
  rules.py --write              write Tests/Mutants/rules.tsv: by rule, its mutants
  rules.py --show ID CASES      all that is known about one rule

A rule has its text on a page of docs/spec and a row in the register. The check of a rule, once
built, refuses: a status and the rule's id are arguments of one call in the code, as in
`require(holds, .status, "JWS-20")`, or the library refuses a case by that rule. The rule has a
mutant, and a case or test that names it. Every status given by a rule, in the code or in the
document of a case, lists the rule in the status table. CASES is the table that `make cases` writes;
DUMP (Tests/ABI/dump.c) prints the documents that the library in the folder LIBRARY returns for it.
"""
import argparse
import collections
import copy
import json
import pathlib
import re
import subprocess
import sys

import documents
from project import ROOT
from report import Suite

sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import mutants
from tools.contract.reader import Contract

SPEC = ROOT / "docs" / "spec"
REGISTER = ROOT / "contract/rules.tsv"
MUTANTS = ROOT / "Tests" / "Mutants" / "rules.tsv"
MUTANTS_HEAD = ("# By rule, the files whose refusals of it are mutants, and of which kinds "
                "(tools/mutants.py).\n# Written by Tests/Gates/rules.py --write.\n")
KINDS = {"check", "part", "fact", "row", "design", "duty"}
STATES = {"built", "part", "planned", "-"}
TEXTS = {".swift", ".c", ".h", ".md", ".tsv"}
# Pages that define no rule.
NO_RULES = {"README.md", "CHANGES.md"}
DEFINED = re.compile(r"\s*(?:(?:- |\d+\. )?\*\*|\| )([A-Z]{3,4}-\d+)\b")
# Ids that tests use because no such rule exists.
NONE_SUCH = {"RSK-10", "RSK-99", "JWS-200"}
# Matches a citation of a page, with its section if it has one.
CITED = re.compile(r"((?:docs/spec/)?)\b([a-z-]+\.md)(?: §(\d+(?:\.\d+)*))?")


class Rule:
    """A row of the register."""

    def __init__(self, line):
        cells = line.split("\t")
        self.cells = len(cells)
        self.id, self.section, self.kind, self.state, self.title, self.reason = \
            (cells + [""] * 6)[:6]

    @property
    def is_checked(self):
        return self.kind == "check" and self.state != "planned"


def register():
    return [Rule(line) for line in REGISTER.read_text().splitlines()
            if line and not line.startswith("#")]


def pages():
    return [page for page in sorted(SPEC.glob("*.md")) if page.name not in NO_RULES]


def definitions(families):
    """Yield (id, "file §section") of each definition: an id at the start of a paragraph, a list
    entry or a table row."""
    for page in pages():
        section = ""
        for line in page.read_text().splitlines():
            heading = re.match(r"#{2,4} (?:(\d+(?:\.\d+)*)\.? )?(.*)", line)
            if heading:
                section = " §" + heading[1] if heading[1] else " " + heading[2].strip()
            found = DEFINED.match(line)
            if found and found[1].split("-")[0] in families:
                yield found[1], page.name + section


def ids(text, families):
    return [found for found in re.findall(r"\b[A-Z]{3,4}-\d+\b", text)
            if found.split("-")[0] in families]


def sources(*folders):
    """Yield (path, text) of the files written by hand."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in TEXTS - {".tsv"}:
                yield path, path.read_text(errors="replace")


# Function or label that takes a rule as its argument -> the file whose mutants are those of the
# rule.
PASSED_TO = {"refusing": "MemberNode", "MemberRefusals": "MemberNode", "names": "MemberNode",
             "refuse": "PurchaseInfo", "refusal": "AppleReceiptStatus",
             "milliseconds": "ReceiptAttributes", "form": "ChainProfile",
             "root": "CandidatePath", "signature": "CandidatePath",
             "requireCandidate": "CandidatePath", "dates": "CertificateReport",
             "checkValidity": "CertificateReport"}
LITERAL = re.compile(r'"([A-Z]{3,4}-\d+)"')
# Statuses that refuse nothing, or begin so.
HARMLESS = ("ok", "internal.", "pending.")


def taken_by(code, at):
    """Return the label before an argument, or the name of the called function."""
    label = re.search(r"(\w+): $", code[:at])
    if label:
        return label[1]
    depth = 0
    while at > 0 and (depth or code[at - 1] not in "([{"):
        at -= 1
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(code[at], 0)
    return re.search(r"\w*$", code[:max(at - 1, 0)])[0]


class Code:
    """For each rule its lines in the code, its statuses and its mutants."""

    def __init__(self, answers=()):
        names = {row.constant: row.name for row in Contract().statuses}
        self.places = collections.defaultdict(set)
        self.mutants = collections.defaultdict(set)
        self.all_mutants, files = mutants.instrumented()
        self.pairs = {(each["status"]["name"], each["error"]["rule"])
                      for each in answers if "error" in each}
        passing = {pathlib.Path(each.path).stem for each in self.all_mutants if not each.rule}
        self.gone = sorted(set(PASSED_TO.values()) - passing)
        for file in files:
            text = re.sub(r"//[^\n]*", lambda found: "~" * len(found[0]), file.text)
            for found in LITERAL.finditer(text):
                rule, at = found[1], found.start()
                status = re.search(r"\.(\w+),\s*$", file.code[:at])
                if status and status[1] in names:
                    self.pairs.add((names[status[1]], rule))
                self.places[rule].add(
                    (f"Sources/Assay/{file.path}", text.count("\n", 0, at) + 1))
                self.mutants[rule] |= self.mutants_of(file, at)

    def mutants_of(self, file, at):
        """Return the mutants of the refusal that contains a rule, or of the function it is passed
        to."""
        direct = [mutant for *_, mutant in file.found
                  if mutant.refusal[0] <= at < mutant.refusal[1]]
        passed = PASSED_TO.get(taken_by(file.code, at))
        return {f"{pathlib.Path(each.path).name} [{each.kind}]" for each in direct or (
            each for each in self.all_mutants if not each.rule
            and each.kind in ("require", "clause", "name")
            and pathlib.Path(each.path).stem == passed)}

    def refuses(self, rule):
        return any(rule == other and not name.startswith(HARMLESS)
                   for name, other in self.pairs)

    def written(self, rules):
        return MUTANTS_HEAD + "".join(
            f"{rule}\t{', '.join(sorted(self.mutants[rule]))}\n" for rule in sorted(
                (rule.id for rule in rules if rule.is_checked and self.mutants[rule.id]),
                key=by_number))


def by_number(rule):
    family, number = rule.split("-")
    return family, int(number)


class Named:
    """The cases and tests that name each rule."""

    def __init__(self, path, families):
        self.cases = json.loads(path.read_text())["cases"]
        self.refusing = collections.Counter(
            case["rule"] for case in self.cases if case["expect"]["status"] != "ok")
        self.all = collections.Counter(case["rule"] for case in self.cases)
        self.tests = collections.Counter()
        for _, text in sources("Tests/AssayTests"):
            for title in re.findall(r'@(?:Test|Suite)\(\s*"([^"]*)"', text):
                self.tests.update(ids(title, families))
        for _, text in sources("Tests/ABI"):
            self.tests.update(ids(text, families))

    def cover(self, rule):
        return self.refusing[rule] + self.tests[rule]


# ---- checks --------------------------------------------------------------------------

def judge_register(suite, rules, families):
    defined = dict()
    for rule, section in definitions(families):
        suite.expect(rule not in defined, f"{rule} is defined once", section)
        defined[rule] = section
    rows = {rule.id: rule for rule in rules}
    suite.expect(len(rows) == len(rules), "no id has two rows")
    suite.expect(not NONE_SUCH & set(rows), "there is no rule that tests use as none")
    for rule in sorted(set(defined) - set(rows)):
        suite.expect(False, f"{rule} of {defined[rule]} has a row in rules.tsv")
    for rule in rules:
        suite.expect(
            rule.section == defined.get(rule.id) and rule.kind in KINDS
            and rule.state in STATES and bool(rule.title) and rule.cells in (5, 6),
            f"row of {rule.id}", f"its text stands in {defined.get(rule.id, 'no page')}")
        if rule.kind == "part":
            others = ids(rule.reason, families)
            suite.expect(others and all(
                other in rows and rows[other].is_checked for other in others),
                f"{rule.id} says which checks refuse what it asks for", rule.reason)


def judge_citations(suite, rules, families):
    """Check that comments, documentation and tables name only existing rules and pages."""
    rows = {rule.id: rule for rule in rules}
    sections = {page.name: set(re.findall(
        r"^#{2,4} (\d+(?:\.\d+)*)", page.read_text(), re.M)) for page in pages()}
    for path, text in sources("Sources", "Tests/AssayCases", "docs", "include"):
        name = str(path.relative_to(ROOT))
        unknown = sorted(set(ids(text, families)) - set(rows) - NONE_SUCH)
        suite.expect(not unknown, f"{name} names rules that there are", " ".join(unknown))
        if not name.startswith(("Sources/Assay/", "Sources/AssayABI/", "Sources/CGate/")):
            continue
        planned = sorted({each for each in ids(text, families)
                          if each in rows and rows[each].state == "planned"})
        suite.expect(not planned, f"{name} names rules that are built", " ".join(planned))
        for folder, page, section in CITED.findall(text):
            if page in sections:
                suite.expect(folder and (not section or section in sections[page]),
                             f"{name} cites {page} as docs/spec/{page}, and a section of it",
                             section)


def judge_checks(suite, rules, code, named):
    rows = {rule.id: rule for rule in rules}
    suite.expect(not code.gone, "what a rule is passed to has mutants", " ".join(code.gone))
    for rule in rules:
        suite.expect(code.refuses(rule.id) == rule.is_checked,
                     f"{rule.id} is a check exactly where code refuses by it",
                     f"{rule.kind}, {rule.state}; {len(code.places.get(rule.id, ()))} places")
        if rule.is_checked:
            suite.expect(named.cover(rule.id), f"a case or test names {rule.id}")
            suite.expect(code.mutants.get(rule.id) or rule.reason,
                         f"{rule.id} has a mutant, or says why not")
        elif rule.kind == "row":
            suite.expect(named.all[rule.id] + named.tests[rule.id],
                         f"a case or test names {rule.id}")
    for each in sorted(set(named.all) | set(named.tests)):
        if each in rows or each not in named.all:
            continue
        suite.expect(False, f"the cases of {each} name a rule that exists")
    keys = {mutant.key for mutant in code.all_mutants}
    for key in mutants.equivalents():
        suite.expect(key in keys, "an equivalent mutant is there", " ".join(key))
    suite.expect(MUTANTS.read_text() == code.written(rules),
                 "Tests/Mutants/rules.tsv is in step", "run Tests/Gates/rules.py --write")


def judge_statuses(suite, rules, code):
    rows = {rule.id: rule for rule in rules}
    table = {row.name: row.rules.split(",") if row.rules else [] for row in Contract().statuses}
    for name, rule in sorted(code.pairs):
        suite.expect(rule in table.get(name, ()),
                     f"{name} has {rule} in contract/statuses.tsv")
    judge_shared(suite, code, table)
    for name, cited in table.items():
        unknown = [rule for rule in cited if rule not in rows]
        suite.expect(not unknown, f"{name} has rules that there are", " ".join(unknown))


def judge_shared(suite, code, table):
    """Check the statuses of code that checks several rules at once, where not every rule has a
    case."""
    read = {name: set(cited) for name, cited in table.items() if ".json." in name}
    for name, cited in read.items():
        lacking = set().union(*read.values()) - cited
        suite.expect(not lacking, f"{name} has the rules of the reader of JSON", " ".join(lacking))
    text = (ROOT / "Sources/Assay/Trust/CertificateProfiles.swift").read_text()
    demands = collections.defaultdict(set)
    for demand, rule in re.findall(r'\(\s*\.(\w+)[^"]*"([A-Z]{3,4}-\d+)"', text):
        demands[demand].add(rule)
    suite.expect(demands, "the demands of certificate profiles are found")
    for demand, asked in demands.items():
        shown = collections.Counter(
            name for name, rule in code.pairs if rule in asked and ".chain." in name)
        given = [name for name, count in shown.items() if count == max(shown.values())]
        for rule in sorted(asked):
            suite.expect(any(rule in table[name] for name in given),
                         f"a status of the demand {demand} has {rule}", " ".join(given))


def tracked():
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                          capture_output=True)
    if done.returncode == 0:
        return [ROOT / name for name in done.stdout.splitlines()]
    return [path for folder in ("Sources", "Tests", "contract", "docs", "tools", "include")
            for path in (ROOT / folder).rglob("*") if path.is_file()]


def judge_search(suite, rules, families):
    """Check that a search for an id finds its text, its row, the code, a case or test, and a
    mutant."""
    found = collections.defaultdict(set)
    for path in tracked():
        name = str(path.relative_to(ROOT))
        if name.startswith(("contract/", "docs/spec/", "Sources/", "Tests/")) and path.exists():
            text = path.read_text(errors="replace") if path.suffix in TEXTS else ""
            for each in set(ids(text, families)):
                found[each].add(name)
    for rule in filter(lambda rule: rule.is_checked, rules):
        files = found[rule.id]
        lacking = [what for what, there in {
            "text": "docs/spec/" + rule.section.split(" ")[0] in files,
            "row": "contract/rules.tsv" in files,
            "code": any(name.startswith("Sources/Assay/") and name.endswith(".swift")
                        and not name.endswith("StatusTable.swift") for name in files),
            "case": any(name.startswith(("Sources/AssayAuthority/Variations/", "Tests/AssayCases/",
                                         "Tests/AssayTests/", "Tests/ABI/"))
                        for name in files),
            "mutant": "Tests/Mutants/rules.tsv" in files or rule.reason,
        }.items() if not there]
        suite.expect(not lacking, f"one search shows all of {rule.id}", " ".join(lacking))


class Silent(Suite):
    """Counts failures and prints nothing."""

    def expect(self, met, what, detail=""):
        self.passed += bool(met)
        self.failed += not met
        return bool(met)


def judge_gate(suite, rules, families, code, named):
    """Check that each of several planted faults is found."""
    def changed(rule, **members):
        other = copy.copy(rule)
        other.__dict__.update(members)
        return [other if each is rule else each for each in rules]

    def without(thing, member, rule):
        other = copy.copy(thing)
        kept = {key: value for key, value in getattr(thing, member).items() if key != rule}
        setattr(other, member, collections.Counter(kept))
        return other

    check = next(rule for rule in rules if rule.is_checked and not rule.reason
                 and named.refusing[rule.id] and not named.tests[rule.id])
    planned = next(rule for rule in rules if rule.state == "planned")
    more = copy.copy(code)
    more.pairs = code.pairs | {("rejected.jws.algorithm", planned.id)}
    faults = {
        "a rule without a row": lambda silent: judge_register(
            silent, [rule for rule in rules if rule is not check], families),
        "a row without a rule": lambda silent: judge_register(
            silent, changed(check, id=check.id + "0"), families),
        "a row of another section": lambda silent: judge_register(
            silent, changed(check, section="build.md"), families),
        "a planned rule that is cited": lambda silent: judge_citations(
            silent, changed(check, state="planned"), families),
        "a check that is called a fact": lambda silent: judge_checks(
            silent, changed(check, kind="fact"), code, named),
        "a check that nothing refuses by": lambda silent: judge_checks(
            silent, changed(planned, kind="check", state="built"), code, named),
        "a check without a case": lambda silent: judge_checks(
            silent, rules, code, without(named, "refusing", check.id)),
        "a check without a mutant": lambda silent: judge_checks(
            silent, rules, without(code, "mutants", check.id), named),
        "a status without its rule": lambda silent: judge_statuses(silent, rules, more),
    }
    for what, judge in faults.items():
        silent = Silent("silent")
        judge(silent)
        suite.expect(silent.failed, f"the gate sees {what}")


def show(rule, code, named):
    print(f"{rule.id} {rule.title}\n  {rule.kind}, {rule.state}; docs/spec/{rule.section}")
    for file, line in sorted(code.places.get(rule.id, ())):
        print(f"  code    {file}:{line}")
    for name in sorted(name for name, other in code.pairs if other == rule.id):
        print(f"  status  {name}")
    for each in sorted(code.mutants.get(rule.id, ())):
        print(f"  mutant  {each}")
    for case in named.cases:
        if case["rule"] == rule.id:
            print(f"  case    {case['name']}: {case['expect']['status']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="?", type=pathlib.Path)
    parser.add_argument("dump", nargs="?")
    parser.add_argument("library", nargs="?")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", metavar="ID")
    options = parser.parse_args()
    rules = register()
    families = {rule.id.split("-")[0] for rule in rules}
    code = Code(documents.read(options.dump, options.cases, options.library)
                if options.library else ())
    if options.write:
        MUTANTS.write_text(code.written(rules))
        return
    if options.cases is None:
        parser.error("the table of cases is needed: build/cases.json")
    named = Named(options.cases, families)
    if options.show:
        for rule in rules:
            if rule.id == options.show:
                show(rule, code, named)
        return
    if options.library is None:
        parser.error("the program and the library are needed that answer the cases")
    suite = Suite("rules")
    judge_register(suite, rules, families)
    judge_citations(suite, rules, families)
    judge_checks(suite, rules, code, named)
    judge_statuses(suite, rules, code)
    judge_search(suite, rules, families)
    judge_gate(suite, rules, families, code, named)
    suite.finish()


if __name__ == "__main__":
    main()
