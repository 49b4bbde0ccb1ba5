#!/usr/bin/env python3
"""Run the tests of the Node.js binding by `node --test`, and count what TAP says of them.

  node.py [--node PROGRAM] [--suite NAME] [--only FILES]   FILES: names without .test.cjs, by commas
  node.py [--node PROGRAM] --ask                           exit 1, with a word, without Node.js 18

The variables that tests read (ASSAY_NODE, ASSAY_CASES …) are those of bindings/bindings.mk.
"""
import argparse
import pathlib
import re
import shutil
import subprocess

from project import ROOT
from report import Suite

TESTS = ROOT / "bindings/node/tests"
OLDEST = (18, 17)
LINE = re.compile(r"(?P<indent> *)(?P<result>ok|not ok) \d+ - (?P<name>.*?)"
                  r"(?: # (?P<word>SKIP|TODO)\b ?(?P<why>.*))?$")
LONGEST = 1800
SHOWN_OF_A_FAILURE = 60


def find_reason(program):
    """Return why there is nothing to run; None if there is."""
    if not shutil.which(program):
        return f"no {program} on PATH: install Debian's nodejs and libnode-dev"
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
    found = tuple(int(number) for number in re.findall(r"\d+", said)[:2])
    if found < OLDEST:
        return f"Node.js {'.'.join(map(str, OLDEST))} or later is needed, and {program} is {said}"
    return None


def read_tap(lines):
    """Yield (result, name, reason of a skip, details) of each test that has no tests inside."""
    found, inside = [], 0
    for number, line in enumerate(lines):
        match = LINE.match(line)
        if match is None:
            continue
        depth = len(match["indent"])
        # A test that has others inside stands below them, with a smaller indent.
        has_inside, inside = inside > depth, depth
        result = "skip" if match["word"] == "SKIP" else match["result"]
        if has_inside and result == "ok":
            continue
        found.append((result, match["name"], match["why"] or "it does not say why",
                      details(lines, number, depth)))
    return found


def details(lines, number, depth):
    """Return the block of YAML below a line of TAP."""
    out = []
    for line in lines[number + 1:number + 1 + SHOWN_OF_A_FAILURE]:
        if line.strip() == "...":
            break
        if not line.startswith(" " * (depth + 1)):
            break
        out.append(line)
    return out


def run_file(suite, program, path):
    command = [program, "--test", "--test-reporter=tap", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=LONGEST, cwd=ROOT)
    except subprocess.TimeoutExpired:
        suite.expect(False, path.name, f"no end after {LONGEST} s")
        return
    lines = done.stdout.splitlines()
    results = read_tap(lines)
    for result, name, why, said in results:
        what = f"{path.name.removesuffix('.test.cjs')}: {name}"
        if result == "skip":
            suite.skip(what, why)
        else:
            suite.expect(result == "ok", what, "\n  " + "\n  ".join(said))
    if not results or done.returncode and all(result != "not ok" for result, *_ in results):
        rest = (lines + done.stderr.splitlines())[-SHOWN_OF_A_FAILURE:]
        suite.expect(False, path.name, f"exit {done.returncode}\n  " + "\n  ".join(rest))


# What the reader of TAP must see: lines, and how many passed, failed, were skipped.
KNOWN = [
    (["    ok 1 - a", "    not ok 2 - b", "not ok 1 - both", "ok 2 - c # SKIP no d"], (1, 2, 1)),
    (["        ok 1 - a", "    ok 1 - in", "ok 1 - out", "ok 2 - b"], (2, 0, 0)),
    (["TAP version 13", "1..0"], (0, 0, 0)),
]


def check_reader(suite):
    for lines, wanted in KNOWN:
        results = [result for result, *_ in read_tap(lines)]
        counts = tuple(results.count(word) for word in ("ok", "not ok", "skip"))
        suite.expect(counts == wanted, "the gate reads TAP", f"{counts}, not {wanted}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--node", default="node")
    parser.add_argument("--suite", default="node")
    parser.add_argument("--only", default="")
    parser.add_argument("--ask", action="store_true")
    options = parser.parse_args()
    suite = Suite(options.suite)
    why = find_reason(options.node)
    if options.ask:
        if why is None:
            return
        suite.skip("the Node.js binding", why)
        print(f"suite {suite.name}: 0 passed, 0 failed, 1 skipped")
        raise SystemExit(1)
    if not suite.expect(why is None, "node", why or ""):
        suite.finish()
    check_reader(suite)
    names = [name for name in options.only.split(",") if name]
    files = [TESTS / f"{name}.test.cjs" for name in names] or sorted(TESTS.glob("*.test.cjs"))
    for path in files:
        if suite.expect(pathlib.Path(path).exists(), f"{path.name} is there"):
            run_file(suite, options.node, path)
    suite.finish()


if __name__ == "__main__":
    main()
