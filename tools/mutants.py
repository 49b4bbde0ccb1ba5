#!/usr/bin/env python3
"""Remove each refusing check in turn; list those that no test misses.

  tools/mutants.py              all
  tools/mutants.py --list       what would be removed
  tools/mutants.py --only TEXT  those whose place holds TEXT ("Certificate.swift")

In a copy of the sources (build/mutants/tree) every check gets a number and a
switch, so that everything is compiled once:

  try require(holds, ...)            the rule is not asked
  guard a, b && c else { refuse }    one clause of them at a time holds
  if a { refuse }                    is not taken
  return a && b                      one clause at a time holds

where "refuse" throws, or returns nil or false. First a harness runs the case
table for each number in a process of its own; what survives has to get past the
unit tests. Mutants that change nothing stand in Tests/Mutants/equivalent.tsv with
the reason. Exit status 1 when another one survives.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = pathlib.Path(os.environ.get("ASSAY_MUTANTS_OUT", ROOT / "build" / "mutants"))
TREE = OUT / "tree"
HARNESS = ROOT / "Tests" / "Mutants"
EQUIVALENT = HARNESS / "equivalent.tsv"
# Not the rules: these write documents, hold tables, or are the switch itself.
LEFT_OUT = {"Refusal.swift", "StatusTable.swift", "AppleRoots.swift", "JSONWriter.swift"}
# The case table ran before; the others look at the authority, not at the library.
NOT_ASKED = ["CaseTableTests", "AuthorityTests", "ReceiptAuthorityTests"]
# A run that takes so many times as long as one without a mutant does not end.
PATIENCE = 4
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "mutants",
  targets: [
    .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto"),
    .target(
      name: "Assay", dependencies: ["CLibCrypto"], exclude: ["Verdict/statuses.tsv"]),
    .target(name: "AssayAuthority", dependencies: ["Assay", "CLibCrypto"]),
    .testTarget(name: "AssayTests", dependencies: ["Assay", "AssayAuthority"]),
  ], swiftLanguageModes: [.v6])
"""


class Mutant:
    def __init__(self, path, line, kind, clause, rule):
        self.path, self.line, self.kind, self.clause, self.rule = path, line, kind, clause, rule
        self.number = 0
        self.ordinal = ""
        self.killer = None

    @property
    def place(self):
        return f"{self.path}:{self.line}"

    @property
    def key(self):
        """What stays when lines move; #2 is the second of its file that reads so."""
        return (self.path, self.kind, self.clause + self.ordinal)

    def __str__(self):
        rule = f" {self.rule}" if self.rule else ""
        return f"{self.place}{rule} [{self.kind}] {self.clause}"


# ---- reading Swift ---------------------------------------------------------------

def masked(text):
    """The text with comments and string literals blanked, every offset kept."""
    pattern = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')

    def blank(found):
        return "".join("\n" if each == "\n" else "~" for each in found[0])
    return pattern.sub(blank, text)


def split_top(code, start, end, separator):
    """Ranges between separators that stand in no bracket."""
    depth, begin, ranges, at = 0, start, [], start
    while at < end:
        each = code[at]
        if each in "([{":
            depth += 1
        elif each in ")]}":
            depth -= 1
        elif depth == 0 and code.startswith(separator, at):
            ranges.append((begin, at))
            at += len(separator)
            begin = at
            continue
        at += 1
    return ranges + [(begin, end)]


def matching(code, at):
    """The offset behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(code):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise ValueError("a bracket stays open")


def find_top(code, at, pattern):
    """The first match of a pattern from `at` on that stands in no bracket."""
    depth = 0
    while at < len(code):
        if depth == 0:
            found = pattern.match(code, at)
            if found:
                return found
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth < 0:
                return None
        at += 1
    return None


def stripped(code, begin, end):
    while begin < end and code[begin].isspace():
        begin += 1
    while end > begin and code[end - 1].isspace():
        end -= 1
    return begin, end


def has_top(code, begin, end, token):
    return len(split_top(code, begin, end, token)) > 1


REFUSES = re.compile(r"\b(throw|return nil|return false)\b")
BINDS = re.compile(r"(let|var|case|unsafe\s+let|#)\b")


class Instrument:
    """The mutants of one file, and its text with their switches."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code = masked(text)
        self.found = []  # (begin, end, prefix, suffix, mutant)

    def note(self, begin, end, kind, prefix, suffix=")"):
        begin, end = stripped(self.code, begin, end)
        clause = " ".join(self.text[begin:end].split())
        line = self.text.count("\n", 0, begin) + 1
        near = re.search(r'"([A-Z]{2,4}-\d+)"', self.text[begin:begin + 400])
        rule = near[1] if near and kind == "require" else ""
        self.found.append((begin, end, prefix, suffix,
                           Mutant(self.path, line, kind, clause, rule)))

    def clauses(self, begin, end, kind):
        """Each Boolean clause of a condition: those of `&&` one by one."""
        begin, end = stripped(self.code, begin, end)
        if BINDS.match(self.code, begin):
            return
        parts = split_top(self.code, begin, end, "&&")
        if has_top(self.code, begin, end, "||") or has_top(self.code, begin, end, " ? "):
            parts = [(begin, end)]
        for part in parts:
            self.note(*part, kind, "(Mutants.off(@) || (", "))")

    def scan(self):
        for word in re.finditer(r"\b(require|guard|if|return)\b", self.code):
            getattr(self, "scan_" + word[1])(word)
        return self

    def scan_require(self, word):
        if not re.match(r"\s*\(", self.code[word.end():]) or \
                "try" not in self.code[max(0, word.start() - 5):word.start()]:
            return
        at = self.code.index("(", word.end())
        end = matching(self.code, at) - 1
        first = split_top(self.code, at + 1, end, ",")[0]
        parts = split_top(self.code, *first, "&&")
        self.note(*first, "require", "(Mutants.off(@) || (", "))")
        if len(parts) > 1 and not has_top(self.code, *first, "||"):
            for part in parts:
                self.note(*part, "clause", "(Mutants.off(@) || (", "))")

    def scan_guard(self, word):
        tail = find_top(self.code, word.end(), re.compile(r"\belse\b\s*\{"))
        if tail is None:
            return
        body = self.code[tail.end() - 1:matching(self.code, tail.end() - 1)]
        if not REFUSES.search(body):
            return
        for part in split_top(self.code, word.end(), tail.start(), ","):
            self.clauses(*part, "guard")

    def scan_if(self, word):
        if re.search(r"#$", self.code[:word.start()]):
            return
        brace = find_top(self.code, word.end(), re.compile(r"(?<=[\s)])\{\s"))
        if brace is None:
            return
        end = matching(self.code, brace.start())
        body = self.code[brace.start() + 1:end - 1].strip()
        if not re.match(r"(throw|return nil|return false)\b", body):
            return
        begin, stop = stripped(self.code, word.end(), brace.start())
        self.note(begin, stop, "if", "!Mutants.off(@), ", "")

    def scan_return(self, word):
        end = word.end()
        while True:
            newline = find_top(self.code, end, re.compile(r"\n"))
            stop = newline.start() if newline else None
            closing = find_top(self.code, end, re.compile(r"\}"))
            if stop is None:
                return
            rest = self.code[stop:].lstrip()
            if not rest.startswith(("&&", "||", "?", ".")):
                break
            end = stop + 1
        begin, stop = stripped(self.code, word.end(), stop)
        if closing and closing.start() < stop:
            stop = closing.start()
        if has_top(self.code, begin, stop, "&&"):
            self.clauses(begin, stop, "return")

    def written(self):
        """The text with a switch at each mutant; numbers must be given before."""
        inserts = []
        for begin, end, prefix, suffix, mutant in self.found:
            inserts.append((begin, -(end - begin), prefix.replace("@", str(mutant.number))))
            inserts.append((end, end - begin, suffix))
        # At one offset: what closes comes before what opens; inner before outer.
        out, last = [], 0
        for at, size, text in sorted(inserts, key=lambda each: (
                each[0], each[1] < 0, each[1])):
            out.append(self.text[last:at])
            out.append(text)
            last = at
        out.append(self.text[last:])
        return "".join(out)


# ---- building ------------------------------------------------------------------------

def copied_tree():
    """A fresh copy of what is built; unchanged files keep their times."""
    TREE.mkdir(parents=True, exist_ok=True)
    for name in ["Sources", "include", "docs", "Tests/AssayTests"]:
        shutil.rmtree(TREE / name, ignore_errors=True)
        shutil.copytree(ROOT / name, TREE / name)
    (TREE / "Package.swift").write_text(MANIFEST)
    shutil.copy2(HARNESS / "Mutants.swift", TREE / "Sources/Assay/Mutants.swift")


def instrumented():
    mutants, files = [], []
    for path in sorted((ROOT / "Sources/Assay").rglob("*.swift")):
        if path.name in LEFT_OUT:
            continue
        name = str(path.relative_to(ROOT / "Sources/Assay"))
        files.append(Instrument(name, path.read_text()).scan())
        mutants += [entry[-1] for entry in files[-1].found]
    seen = collections.Counter()
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
        seen[mutant.key] += 1
        if seen[mutant.key] > 1:
            mutant.ordinal = f" #{seen[mutant.key]}"
    return mutants, files


def run(command, log, **options):
    with (OUT / log).open("w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **options).returncode
    if code != 0:
        print((OUT / log).read_text()[-6000:])
        sys.exit(f"{command[0]} failed; all of it: {OUT / log}")


def build_harness():
    objects = OUT / "objects"
    objects.mkdir(exist_ok=True)

    def sources(folder):
        return sorted(str(path) for path in (TREE / folder).rglob("*.swift"))
    common = ["swiftc", "-O", "-wmo", "-parse-as-library", "-enable-testing",
              "-I", str(TREE / "include"), "-I", str(TREE / "Sources/CLibCrypto"),
              "-I", str(HARNESS), "-I", str(objects), "-swift-version"]
    for module, version, files in [
            ("Assay", "6", sources("Sources/Assay")),
            ("AssayAuthority", "6", sources("Sources/AssayAuthority")),
            ("Harness", "5", [str(HARNESS / "Harness.swift")])]:
        run([*common, version, "-module-name", module, "-emit-module", "-emit-module-path",
             str(objects / f"{module}.swiftmodule"), "-c", *files,
             "-o", str(objects / f"{module}.o")], f"{module}.log")
    run(["swiftc", "-use-ld=lld", *[str(objects / f"{module}.o") for module in
         ("Assay", "AssayAuthority", "Harness")], "-lcrypto", "-o", str(OUT / "harness")],
        "link.log")


def unit_tests(suites=()):
    """The test program itself: `swift test` would leave it behind when ended."""
    program = OUT / "scratch" / "debug" / "mutantsPackageTests.xctest"
    return [str(program), "--testing-library", "swift-testing",
            *(part for name in suites for part in ("--filter", f"AssayTests\\.{name}/")),
            *(part for name in NOT_ASKED for part in ("--skip", name))]


def suites_about(path):
    """The suites whose file names what the mutant's file is named after."""
    about = re.compile(r"\b" + pathlib.Path(path).stem.split("+")[0] + r"\b")
    suites = []
    for file in sorted((ROOT / "Tests/AssayTests").glob("*Tests.swift")):
        text = file.read_text()
        if about.search(text) or file.stem.startswith(pathlib.Path(path).stem):
            suites += re.findall(r"^(?:final class|struct) (\w+Tests)\b", text, re.M)
    return [name for name in suites if name not in NOT_ASKED]


# ---- running -------------------------------------------------------------------------

def run_cases(mutants):
    process = subprocess.Popen([str(OUT / "harness"), str(len(mutants))], text=True,
                               stdout=subprocess.PIPE, errors="replace",
                               env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
    by_number = {mutant.number: mutant for mutant in mutants}
    seen = set()
    for line in process.stdout:
        number, outcome, *what = line.strip().split(" ", 2)
        if number == "0":
            sys.exit("the case table does not hold: " + line)
        seen.add(int(number))
        if outcome == "killed":
            by_number[int(number)].killer = what[0] if what else "a case"
    if process.wait() != 0 or len(seen) != len(mutants):
        sys.exit("the harness did not come to its end")


def run_units(survivors):
    environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
    begin = time.monotonic()
    code, text = run_bounded(unit_tests(), environment, None)
    seconds = PATIENCE * (time.monotonic() - begin)
    if code != 0:
        print(text[-4000:])
        sys.exit("the unit tests do not pass without a mutant")
    for done, mutant in enumerate(survivors, 1):
        mutated = dict(environment, ASSAY_MUTANT=str(mutant.number))
        # What is about the file first: mostly enough, and much shorter.
        near = suites_about(mutant.path)
        code, text = run_bounded(unit_tests(near), mutated, seconds) if near else (0, "")
        if code == 0:
            code, text = run_bounded(unit_tests(), mutated, seconds)
        if code == 0 or done % 20 == 0:
            print(f"{done} of {len(survivors)} asked" + (
                "" if code else f"; survives: {mutant}"), flush=True)
        if code != 0:
            failed = re.search(r'Test "?(.*?)"? recorded an issue', text)
            mutant.killer = "unit test " + (failed[1] if failed else "(it ends the process)")


def run_bounded(command, environment, seconds):
    """Status and output of the unit tests. A run that does not end is ended with all
    that it started; one that somebody else ended says nothing, and is done again."""
    code, text = 0, ""
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   env=environment, start_new_session=True)
        try:
            text = process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 1, ""
        code = process.returncode
        if code not in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, -signal.SIGKILL):
            break
    return code, text


def equivalents():
    """Path, kind, clause and reason of mutants that change nothing."""
    known = {}
    if EQUIVALENT.exists():
        for line in EQUIVALENT.read_text().splitlines():
            if line and not line.startswith("#"):
                path, kind, clause, reason = line.split("\t")
                known[(path, kind, clause)] = reason
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--skip-units", action="store_true",
                        help="the case table alone")
    options = parser.parse_args()
    begin = time.monotonic()
    mutants, files = instrumented()
    if options.list:
        for mutant in mutants:
            print(mutant)
        print(f"{len(mutants)} mutants")
        return 0
    copied_tree()
    for file in files:
        (TREE / "Sources/Assay" / file.path).write_text(file.written())
    build_harness()
    print(f"{len(mutants)} mutants, compiled after {time.monotonic() - begin:.0f} s", flush=True)
    run_cases(mutants)
    known = equivalents()
    survivors = [mutant for mutant in mutants if mutant.killer is None
                 and mutant.key not in known and options.only in mutant.place]
    by_cases = sum(mutant.killer is not None for mutant in mutants)
    print(f"{by_cases} killed by the case table after {time.monotonic() - begin:.0f} s; "
          f"{len(survivors)} go on to the unit tests", flush=True)
    if survivors and not options.skip_units:
        run(["swift", "build", "--build-tests", "--package-path", str(TREE), "--scratch-path",
             str(OUT / "scratch")], "units.log")
        run_units(survivors)
    survivors = [mutant for mutant in survivors if mutant.killer is None]
    accepted = [mutant for mutant in mutants if mutant.killer is None and mutant.key in known]
    with (OUT / "report.tsv").open("w") as report:
        for mutant in mutants:
            outcome = mutant.killer or known.get(mutant.key) or "SURVIVED"
            report.write(f"{mutant.place}\t{mutant.kind}\t{mutant.clause}\t{outcome}\n")
    for mutant in accepted:
        print(f"equivalent: {mutant}: {known[mutant.key]}")
    stale = set(known) - {mutant.key for mutant in accepted}
    for key in sorted(stale):
        print("stale entry in equivalent.tsv: " + " ".join(key))
    for mutant in survivors:
        print(f"SURVIVED {mutant}")
    killed = sum(mutant.killer is not None for mutant in mutants)
    print(f"{len(mutants)} mutants: {killed} killed, {len(accepted)} equivalent, "
          f"{len(survivors)} survived; {time.monotonic() - begin:.0f} s")
    return 1 if survivors or (stale and not options.only) else 0


if __name__ == "__main__":
    sys.exit(main())
