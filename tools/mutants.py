#!/usr/bin/env python3
"""Remove each refusing check in turn; list the removals that no test notices.

  tools/mutants.py              all
  tools/mutants.py --list       what would be removed
  tools/mutants.py --only TEXT  those whose line in the list contains TEXT ("Certificate.swift",
                                "JWS-20", "[name]"); give it again for more

In a copy of the sources (build/mutants/tree) every check gets a number and a run-time switch, so
that all mutants are compiled once:

  try require(holds, ...)            the condition is not checked
  guard a, b && c else { refuse }    one clause at a time is true
  if a { refuse }                    the branch is not taken
  return a && b                      one clause at a time is true
  Refusal(.status, ...)              elsewhere: the status is another one
  CertificateProfile([(demand, rule), ...])   one row at a time is missing

"refuse" throws, or returns nil or false. The mutant of Refusal covers refusals that have no
removable condition: unwrapping a value, or a case of a switch. First a harness runs the case table
for each mutant in a process of its own. Survivors then meet the unit tests: each test is run once
to record which checks it reaches, and a mutant is run against the tests that reach it, fastest
first. build/mutants/killers.tsv records the test that killed each mutant; that test is tried first
the next time, so that an interrupted run continues where it stopped. Mutants without effect are
listed with a reason in Tests/Mutants/equivalent.tsv. Exit status 1 when another mutant survives.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = pathlib.Path(os.environ.get("ASSAY_MUTANTS_OUT", ROOT / "build" / "mutants"))
TREE = OUT / "tree"
HARNESS = ROOT / "Tests" / "Mutants"
EQUIVALENT = HARNESS / "equivalent.tsv"
# Files without rules: they write documents, contain tables, or implement the switch itself.
LEFT_OUT = {"Refusal.swift", "StatusTable.swift", "AppleRoots.swift", "JSONWriter.swift"}
# The harness has run the case table already; the other two test the test authority.
NOT_ASKED = ["CaseTableTests", "AuthorityTests", "ReceiptAuthorityTests"]
# A mutant counts as hanging after PATIENCE times the processor time of the unmutated run plus GRACE
# seconds; elapsed time may be BUSY times that on a loaded machine.
PATIENCE, GRACE, BUSY = 4, 20, 20
# Each batch of tests for a mutant takes about this many times as long as the last.
GROWTH = 3
WORKERS = os.cpu_count() or 1
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "mutants",
  targets: [
    .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto"),
    .target(
      name: "Assay", dependencies: ["CLibCrypto"]),
    .target(name: "AssayAuthority", dependencies: ["CLibCrypto"]),
    .target(
      name: "AssayCases", dependencies: ["Assay", "AssayAuthority"], path: "Tests/AssayCases"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
    .testTarget(
      name: "AssayTests", dependencies: ["Assay", "AssayAuthority", "AssayCases", "CSQLite"]),
  ], swiftLanguageModes: [.v6])
"""


class Mutant:
    def __init__(self, path, line, kind, clause, rule):
        self.path, self.line, self.kind, self.clause, self.rule = path, line, kind, clause, rule
        self.number = 0
        self.ordinal = ""
        self.killer = None
        self.refusal = (0, 0)  # the range of the refusal in the text

    @property
    def place(self):
        return f"{self.path}:{self.line}"

    @property
    def key(self):
        """The identity of the mutant when lines move; #2 is the second equal one of its file."""
        return (self.path, self.kind, self.clause + self.ordinal)

    def __str__(self):
        rule = f" {self.rule}" if self.rule else ""
        return f"{self.place}{rule} [{self.kind}] {self.clause}"


# ---- reading Swift ---------------------------------------------------------------

def masked(text):
    """Return the text with comments and string literals blanked, at unchanged offsets."""
    pattern = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')

    def blank(found):
        return "".join("\n" if each == "\n" else "~" for each in found[0])
    return pattern.sub(blank, text)


def split_top(code, start, end, separator):
    """Return the ranges between separators that are outside of brackets."""
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
    """Return the offset after the bracket that closes the one at `at`."""
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
    """Return the first match of a pattern, from `at` on, outside of brackets."""
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
RULE = re.compile(r'(?<=")[A-Z]{3,4}-\d+(?=")')
BINDS = re.compile(r"(let|var|case|unsafe\s+let|#)\b")


class Instrument:
    """The mutants of one file, and its text with their switches."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code = masked(text)
        self.found = []  # (begin, end, prefix, suffix, mutant)
        self.wraps = []  # (begin, end, prefix, suffix)

    def note(self, begin, end, kind, refusal, prefix, suffix=")"):
        """Record a mutant; `refusal` is the range of the text that names the rule."""
        begin, end = stripped(self.code, begin, end)
        clause = " ".join(self.text[begin:end].split())
        line = self.text.count("\n", 0, begin) + 1
        cited = dict.fromkeys(RULE.findall(self.text, *refusal))
        mutant = Mutant(self.path, line, kind, clause, " ".join(cited))
        mutant.refusal = refusal
        self.found.append((begin, end, prefix, suffix, mutant))

    def clauses(self, begin, end, kind, refusal=(0, 0)):
        """Record a mutant for each Boolean clause of a condition, operands of `&&` included."""
        begin, end = stripped(self.code, begin, end)
        if BINDS.match(self.code, begin):
            return
        parts = split_top(self.code, begin, end, "&&")
        if has_top(self.code, begin, end, "||") or has_top(self.code, begin, end, " ? "):
            parts = [(begin, end)]
        for part in parts:
            self.note(*part, kind, refusal, "(Mutants.off(@) ? true : (", "))")

    def scan(self):
        for word in re.finditer(r"\b(require|guard|if|return)\b", self.code):
            getattr(self, "scan_" + word[1])(word)
        for word in re.finditer(r"\bCertificateProfile\(\[", self.code):
            self.scan_rows(word)
        for word in re.finditer(r"(?<![\w.])Refusal(?=\()", self.code):
            self.scan_name(word)
        return self

    def scan_name(self, word):
        """Record a mutant with another status for a refusal that no other mutant removes."""
        reached = word.start(), matching(self.code, word.end())
        status = split_top(self.code, word.end() + 1, reached[1] - 1, ",")[0]
        if any(mutant.refusal[0] <= reached[0] and reached[1] <= mutant.refusal[1]
               for *_, mutant in self.found) or \
                self.code.startswith(".internal", stripped(self.code, *status)[0]):
            return
        self.note(*status, "name", reached, "Mutants.named(@, ")

    def scan_rows(self, word):
        start = word.end() - 1
        end = matching(self.code, start)
        self.wraps.append((start, end, "", ".compactMap { $0 }"))
        for part in split_top(self.code, start + 1, end - 1, ","):
            begin, stop = stripped(self.code, *part)
            if begin < stop:
                self.note(begin, stop, "row", (begin, stop), "Mutants.row(@, ",
                          " as (CertificateProfile.Demand, StaticString))")

    def scan_require(self, word):
        if not re.match(r"\s*\(", self.code[word.end():]) or \
                "try" not in self.code[max(0, word.start() - 5):word.start()]:
            return
        at = self.code.index("(", word.end())
        end = matching(self.code, at) - 1
        first = split_top(self.code, at + 1, end, ",")[0]
        parts = split_top(self.code, *first, "&&")
        refusal = word.start(), end + 1
        self.note(*first, "require", refusal, "(Mutants.off(@) ? true : (", "))")
        if len(parts) > 1 and not has_top(self.code, *first, "||"):
            for part in parts:
                self.note(*part, "clause", refusal, "(Mutants.off(@) ? true : (", "))")

    def scan_guard(self, word):
        tail = find_top(self.code, word.end(), re.compile(r"\belse\b\s*\{"))
        if tail is None:
            return
        refusal = tail.end() - 1, matching(self.code, tail.end() - 1)
        if not REFUSES.search(self.code, *refusal):
            return
        for part in split_top(self.code, word.end(), tail.start(), ","):
            self.clauses(*part, "guard", refusal)

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
        self.note(begin, stop, "if", (brace.start(), end), "!Mutants.off(@), ", "")

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
        # Only the condition of `a && b ? c : d`: the values may be no Booleans.
        begin, stop = split_top(self.code, begin, stop, " ? ")[0]
        if has_top(self.code, begin, stop, "&&"):
            self.clauses(begin, stop, "return")

    def written(self):
        """Return the text with a switch at each mutant, after the mutants have been numbered."""
        inserts = []
        for begin, end, prefix, suffix, mutant in self.found:
            inserts.append((begin, -(end - begin), prefix.replace("@", str(mutant.number))))
            inserts.append((end, end - begin, suffix))
        for begin, end, prefix, suffix in self.wraps:
            inserts.append((begin, -(end - begin), prefix))
            inserts.append((end, end - begin, suffix))
        # At equal offsets closing text comes before opening text, and inner before outer.
        out, last = [], 0
        for at, size, text in sorted(inserts, key=lambda each: (
                each[0], each[1] < 0, each[1])):
            out.append(self.text[last:at])
            out.append(text)
            last = at
        out.append(self.text[last:])
        return asked_each_time("".join(out)) if self.wraps else "".join(out)


def asked_each_time(text):
    """Turn tables computed once into tables computed at each use, because a switch may change
    between."""
    out, last = [], 0
    for found in re.finditer(r"static let (\w+) = (?=\w+\()", text):
        at = matching(masked(text), text.index("(", found.end()))
        out += [text[last:found.start()], f"static var {found[1]}: CertificateProfile {{ ",
                text[found.end():at], " }"]
        last = at
    return "".join(out) + text[last:]


# ---- building ------------------------------------------------------------------------

def copied_tree():
    """Copy the sources to build; unchanged files keep their times, so that nothing is rebuilt."""
    TREE.mkdir(parents=True, exist_ok=True)
    for name in ["Sources", "include", "docs", "Tests/AssayCases", "Tests/AssayTests"]:
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
    common = ["swiftc", "-wmo", "-parse-as-library", "-enable-testing",
              "-I", str(TREE / "include"), "-I", str(TREE / "Sources/CLibCrypto"),
              "-I", str(HARNESS), "-I", str(objects), "-package-name", "assay",
              "-swift-version"]
    seen = hashlib.sha256()
    for module, version, files in [
            ("Assay", "6", sources("Sources/Assay")),
            ("AssayAuthority", "6", sources("Sources/AssayAuthority")),
            ("AssayCases", "6", sources("Tests/AssayCases")),
            ("Harness", "5", [str(HARNESS / "Harness.swift")])]:
        # Objects compiled from the same files, their dependencies included, are reused.
        for file in files:
            seen.update(file.encode() + b"\0" + pathlib.Path(file).read_bytes())
        stamp = objects / f"{module}.of"
        if stamp.exists() and stamp.read_text() == seen.hexdigest():
            continue
        stamp.unlink(missing_ok=True)
        # Only the library is optimized: the rest runs once, to mint the table.
        run([*common, version, "-O" if module == "Assay" else "-Onone", "-module-name", module,
             "-emit-module", "-emit-module-path",
             str(objects / f"{module}.swiftmodule"), "-c", *files,
             "-o", str(objects / f"{module}.o")], f"{module}.log")
        stamp.write_text(seen.hexdigest())
    run(["swiftc", "-use-ld=lld", *[str(objects / f"{module}.o") for module in
         ("Assay", "AssayAuthority", "AssayCases", "Harness")], "-lcrypto",
         "-o", str(OUT / "harness")], "link.log")


def test_command(*arguments):
    """Return the command of the test program itself: `swift test`, when killed, would leave it
    running."""
    program = OUT / "scratch" / "debug" / "mutantsPackageTests.xctest"
    return [str(program), "--testing-library", "swift-testing", *arguments]


# ---- running -------------------------------------------------------------------------

def run_cases(mutants, count):
    by_number = {mutant.number: mutant for mutant in mutants}

    def part(first):
        numbers = [str(mutant.number) for mutant in mutants[first::WORKERS]]
        process = subprocess.Popen(
            [str(OUT / "harness"), str(count), *numbers], text=True,
            stdout=subprocess.PIPE, errors="replace",
            env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
        lines = [line.strip().split(" ", 2) for line in process.stdout]
        return process.wait(), lines
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for status, lines in pool.map(part, range(WORKERS)):
            for number, outcome, *what in lines:
                if number == "0":
                    sys.exit("the case table does not hold: " + " ".join([outcome, *what]))
                seen.add(int(number))
                if outcome == "killed":
                    by_number[int(number)].killer = what[0] if what else "a case"
            if status != 0:
                sys.exit("the harness did not come to its end")
    if len(seen) != len(mutants):
        sys.exit(f"the harness told of {len(seen)} of {len(mutants)} mutants")


class UnitTest:
    """One test, with its duration and the numbers of the checks that it reaches."""

    def __init__(self, name, title, seconds, asks):
        self.name, self.title, self.seconds, self.asks = name, title, seconds, asks


def learn(name, count):
    """Run one test without a mutant and record what it reaches. Exit if it fails."""
    with tempfile.NamedTemporaryFile() as reached:
        reached.write(bytes(count + 1))
        reached.flush()
        begin = time.monotonic()
        code, text = run_tests([name], 600, ASSAY_MUTANTS_REACHED=reached.name)
        seconds = time.monotonic() - begin
        marks = pathlib.Path(reached.name).read_bytes()
    if code != 0:
        raise SystemExit(f"{name} does not pass without a mutant:\n{text[-4000:]}")
    title = re.search(r'Test (.*?) (?:with \d+ test cases? )?passed after', text)
    return UnitTest(name, title[1] if title else name, seconds,
                    {number for number, mark in enumerate(marks) if mark})


def batches(tests):
    """Group the tests into batches, the fastest together, each batch longer than the last."""
    rest = sorted(tests, key=lambda test: test.seconds)
    budget = 0.5
    while rest:
        count, seconds = 1, rest[0].seconds
        while count < len(rest) and seconds + rest[count].seconds <= budget:
            seconds += rest[count].seconds
            count += 1
        yield rest[:count], seconds
        rest, budget = rest[count:], budget * GROWTH


def run_units(survivors, count):
    listed = subprocess.run(test_command("--list-tests"), capture_output=True, text=True,
                            check=True).stdout.split("\n")
    names = [name for name in listed if "/" in name
             and not any(f".{suite}/" in name for suite in NOT_ASKED)]
    known = recorded_killers()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        try:
            tests = {test.name: test for test in
                     pool.map(lambda name: learn(name, count), names)}
            print(f"{len(tests)} unit tests learned", flush=True)
            asked = [pool.submit(ask, mutant, tests, known) for mutant in survivors]
            for done, each in enumerate(concurrent.futures.as_completed(asked), 1):
                mutant = each.result()
                if mutant.killer is None:
                    print(f"survives: {mutant}", flush=True)
                else:
                    record_killer(mutant)
                if done % 20 == 0:
                    print(f"{done} of {len(survivors)} asked", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def ask(mutant, tests, known):
    """Return the mutant, and the test that fails without its check; None if no test does."""
    reaching = [test for test in tests.values() if mutant.number in test.asks]
    first = [test for test in reaching if test.name == known.get(mutant.key)]
    rest = [test for test in reaching if test not in first]
    for batch, seconds in [*([(first, first[0].seconds)] if first else []), *batches(rest)]:
        code, text = run_tests([test.name for test in batch], PATIENCE * seconds + GRACE,
                               ASSAY_MUTANT=str(mutant.number))
        if code != 0:
            mutant.killer = "unit test " + who_failed(batch, text)
            break
    return mutant


def who_failed(batch, text):
    """Return the name of the failed test; another text if the process just ended."""
    titles = set(re.findall(r"Test (.*?) (?:with \d+ test cases? )?recorded an issue", text))
    return next((test.name for test in batch if test.title in titles),
                batch[0].name if len(batch) == 1 else "(it ends the process)")


def run_tests(names, seconds, **variables):
    """Run unit tests with a limit of processor seconds; return status and output. A run that
    something else killed proves nothing and is repeated."""
    command = ["prlimit", f"--cpu={int(seconds) + 1}", "--core=0", *test_command(
        *(part for name in names for part in ("--filter", "^" + re.escape(name))))]
    environment = dict(os.environ, SWIFT_BACKTRACE="enable=no", **variables)
    code, text = 0, ""
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   env=environment, start_new_session=True)
        try:
            text = process.communicate(timeout=BUSY * seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 1, ""
        code = process.returncode
        if code not in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP):
            break
    return code, text


def recorded_killers():
    """Return {mutant: the test that killed it before}, which is tried first, not trusted."""
    known = {}
    if (OUT / "killers.tsv").exists():
        for line in (OUT / "killers.tsv").read_text().splitlines():
            path, kind, clause, killer = line.split("\t")
            known[(path, kind, clause)] = killer.removeprefix("unit test ")
    return known


def record_killer(mutant):
    with (OUT / "killers.tsv").open("a") as file:
        file.write("\t".join([*mutant.key, mutant.killer]) + "\n")


def equivalents():
    """Return path, kind, clause and reason of the mutants without effect."""
    known = {}
    if EQUIVALENT.exists():
        for line in EQUIVALENT.read_text().splitlines():
            if line and not line.startswith("#"):
                path, kind, clause, reason = line.split("\t")
                known[(path, kind, clause)] = reason
    return known


def chosen(mutants, texts):
    return [mutant for mutant in mutants
            if not texts or any(text in str(mutant) for text in texts)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", action="append", metavar="TEXT",
                        help="those whose line holds TEXT; may be given again")
    parser.add_argument("--skip-units", action="store_true",
                        help="the case table alone")
    options = parser.parse_args()
    begin = time.monotonic()
    mutants, files = instrumented()
    if options.list:
        mutants = chosen(mutants, options.only)
        for mutant in mutants:
            print(mutant)
        print(f"{len(mutants)} mutants")
        return 0
    copied_tree()
    for file in files:
        (TREE / "Sources/Assay" / file.path).write_text(file.written())
    build_harness()
    print(f"{len(mutants)} mutants, compiled after {time.monotonic() - begin:.0f} s", flush=True)
    count = len(mutants)
    mutants = chosen(mutants, options.only)
    run_cases(mutants, count)
    known = equivalents()
    survivors = [mutant for mutant in mutants if mutant.killer is None
                 and mutant.key not in known]
    by_cases = sum(mutant.killer is not None for mutant in mutants)
    print(f"{by_cases} killed by the case table after {time.monotonic() - begin:.0f} s; "
          f"{len(survivors)} go on to the unit tests", flush=True)
    if survivors and not options.skip_units:
        run(["swift", "build", "--build-tests", "--package-path", str(TREE), "--scratch-path",
             str(OUT / "scratch")], "units.log")
        run_units(survivors, count)
    survivors = [mutant for mutant in survivors if mutant.killer is None]
    accepted = [mutant for mutant in mutants if mutant.killer is None and mutant.key in known]
    with (OUT / "report.tsv").open("w") as report:
        for mutant in mutants:
            outcome = mutant.killer or known.get(mutant.key) or "SURVIVED"
            report.write(f"{mutant.place}\t{mutant.kind}\t{mutant.clause}\t{outcome}\n")
    for mutant in accepted:
        print(f"equivalent: {mutant}: {known[mutant.key]}")
    stale = set(known) - {mutant.key for mutant in accepted} if not options.only else set()
    for key in sorted(stale):
        print("stale entry in equivalent.tsv: " + " ".join(key))
    for mutant in survivors:
        print(f"SURVIVED {mutant}")
    killed = sum(mutant.killer is not None for mutant in mutants)
    print(f"{len(mutants)} mutants: {killed} killed, {len(accepted)} equivalent, "
          f"{len(survivors)} survived; {time.monotonic() - begin:.0f} s")
    return 1 if survivors or stale else 0


if __name__ == "__main__":
    sys.exit(main())
