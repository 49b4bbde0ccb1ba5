#!/usr/bin/env python3
"""Measure the time that a call through each binding adds to the C call, in one run.

  overhead.py --library FILE --mint FILE --out FOLDER [--count N] [--json FILE]

One call: the binding's ordinary public API verifies a transaction of about 5.5 kB, its typed API
reads ten facts, and the document is freed. A program in each language is called

  PROGRAM CONFIG_FILE JWS_FILE NOW_MS COUNT

with ASSAY_LIBRARY (and LD_LIBRARY_PATH) set. The program warms up with 200 calls (Node.js with
2,000, since V8 compiles what is called often, in threads whose time counts), runs seven rounds of
COUNT calls and prints {"language": "go", "ns": [r1 .. r7]}: the process's CPU time in nanoseconds
per call of each round, including the threads of a garbage collector. The programs run in turn,
several times; the result is the fastest round of each language, and its difference from C's. C and
PHP print a second line, "c-request": a request that makes a verifier of its own, reported in warm
calls of the same language. A language whose tools are missing is reported as skipped. A missed bar
is marked and fails nothing: times depend on the machine and on its other load.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NODE_PACKAGE = ROOT / "build/node/node_modules/assay"
EXTENSION = ROOT / "build/php/ext/modules/assay.so"
ROUNDS_OF_ALL = 10

# language: (title, bar in microseconds over C)
LANGUAGES = {
    "c": ("C", None),
    "go": ("Go", 3),
    "php-ffi": ("PHP, FFI", 3),
    "php-ext": ("PHP, extension", 3),
    "node": ("Node.js", 4),
    "python": ("Python", 8),
}
# The time to make a verifier, call and free it, over the warm call of the language.
REQUEST = "-request"
REQUEST_BAR = 2


class Skipped(Exception):
    """Why a language cannot be measured on this machine."""


# ---- the programs ------------------------------------------------------------


def built(command, **more):
    """Run a compiler; if it fails, skip the language with the compiler's message as the reason."""
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          **more)
    if done.returncode:
        raise Skipped(" ".join((done.stderr or done.stdout).split())[:300])


def c_program(options, out):
    program = out / "overhead-c"
    library = options.library
    built([os.environ.get("CC", "cc"), "-std=gnu11", "-O2", f"-I{ROOT / 'include'}",
           HERE / "overhead.c", "-o", program, f"-L{library.parent}", f"-l:{library.name}"])
    return [str(program)], {}


def go_program(options, out):
    if not shutil.which("go"):
        raise Skipped("no 'go' on PATH")
    place = out / "pkgconfig"
    place.mkdir(exist_ok=True)
    (place / "assay.pc").write_text(
        "Name: assay\nDescription: the library that is measured\nVersion: 0\n"
        f"Libs: -L{options.library.parent} -l:{options.library.name}\n"
        f"Cflags: -I{ROOT / 'include'}\n")
    program = out / "overhead-go"
    built(["go", "build", "-o", program, "."], cwd=HERE / "overhead_go",
          env={**os.environ, "PKG_CONFIG_PATH": str(place), "GOFLAGS": "-mod=mod",
               "GOPROXY": "off", "CGO_ENABLED": "1"})
    return [str(program)], {}


def python_program(options, out):
    return ([options.python, str(HERE / "overhead_python.py")],
            {"PYTHONPATH": str(ROOT / "bindings/python")})


def node_program(options, out):
    if not shutil.which("node"):
        raise Skipped("no 'node' on PATH")
    if not NODE_PACKAGE.exists():
        raise Skipped("it is not built: make node")
    return ["node", str(HERE / "overhead.mjs")], {"ASSAY_NODE": str(NODE_PACKAGE)}


def php_program(options, out):
    if not shutil.which("php"):
        raise Skipped("no 'php' on PATH")
    return ["php", str(HERE / "overhead.php")], {}


def php_extension(options, out):
    command, more = php_program(options, out)
    if not EXTENSION.exists():
        raise Skipped("it is not built: make php-extension")
    return [command[0], "-d", f"extension={EXTENSION}", *command[1:]], more


# ---- measuring ---------------------------------------------------------------


def measured(command, environment, arguments):
    """Return {language: rounds} of one program, which may measure several languages."""
    done = subprocess.run([*command, *arguments], env=environment, text=True,
                          capture_output=True)
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            record = json.loads(line)
            found[record["language"]] = record["ns"]
    if done.returncode or not found:
        raise Skipped(f"ended with {done.returncode}: "
                      + " ".join((done.stderr or done.stdout).split())[:300])
    return found


def evidence(options, folder):
    """Mint evidence; return the arguments that every program gets."""
    subprocess.run([str(options.mint), folder], check=True)
    return [f"{folder}/config.json", f"{folder}/transaction.jws",
            str(time.time_ns() // 1_000_000), str(options.count)]


def measure(options):
    """Return ({language: fastest round in ns}, {language: why it was skipped})."""
    options.out.mkdir(parents=True, exist_ok=True)
    programs, skipped, fastest = {}, {}, {}
    for name, prepare in (("c", c_program), ("go", go_program), ("php-ffi", php_program),
                          ("php-ext", php_extension), ("node", node_program),
                          ("python", python_program)):
        try:
            programs[name] = prepare(options, options.out)
        except Skipped as why:
            skipped[name] = str(why)
    environment = dict(os.environ, ASSAY_LIBRARY=str(options.library),
                       LD_LIBRARY_PATH=str(options.library.parent))
    with tempfile.TemporaryDirectory() as folder:
        arguments = evidence(options, folder)
        for _ in range(ROUNDS_OF_ALL):
            for name, (command, more) in list(programs.items()):
                try:
                    found = measured(command, {**environment, **more}, arguments)
                except Skipped as why:
                    skipped[name] = str(why)
                    del programs[name]
                    continue
                for language, rounds in found.items():
                    fastest[language] = min(*rounds, fastest.get(language, rounds[0]))
    return fastest, skipped


# ---- showing -----------------------------------------------------------------


def rows(fastest):
    """Yield one record for each language, C first."""
    bare = fastest["c"]
    for name in [name for name in LANGUAGES if name in fastest]:
        title, bar = LANGUAGES[name]
        added = (fastest[name] - bare) / 1000
        yield {"language": name, "title": title, "us": fastest[name] / 1000,
               "addedUs": None if name == "c" else added, "barUs": bar,
               "met": None if bar is None else added <= bar}


def requests(fastest):
    """Yield one record for each language that measured requests."""
    for name, (title, _) in LANGUAGES.items():
        if name in fastest and name + REQUEST in fastest:
            ratio = fastest[name + REQUEST] / fastest[name]
            yield {"language": name + REQUEST, "title": title,
                   "us": fastest[name + REQUEST] / 1000, "ratio": ratio,
                   "bar": REQUEST_BAR, "met": ratio <= REQUEST_BAR}


MET = {None: "", True: "met", False: "MISSED"}


def call_cells(records):
    yield ("one transaction and ten facts", "a call", "over C", "bar", "")
    for row in records:
        added = "" if row["addedUs"] is None else f"{row['addedUs']:+.2f} us"
        bar = "" if row["barUs"] is None else f"<= {row['barUs']} us"
        yield (row["title"], f"{row['us']:.2f} us", added, bar, MET[row["met"]])


def request_cells(records):
    yield ("the same, verifier included", "a request", "over a call", "bar", "")
    for row in records:
        yield (row["title"], f"{row['us']:.2f} us", f"{row['ratio']:.2f} x",
               f"<= {row['bar']} x", MET[row["met"]])


def table(cells):
    cells = list(cells)
    head = cells[0]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    for index, line in enumerate(cells):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")
        if index == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("--mint", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.library = options.library.resolve()
    options.mint, options.out = options.mint.resolve(), options.out.resolve()
    fastest, skipped = measure(options)
    for name, why in skipped.items():
        print(f"skipped {name}: {why}")
    if "c" not in fastest:
        print("there is nothing to compare with: the C program did not run")
        return 1
    calls, of_requests = list(rows(fastest)), list(requests(fastest))
    table(call_cells(calls))
    print()
    table(request_cells(of_requests))
    missed = [row["title"] for row in calls if row["met"] is False]
    missed += [row["title"] + ", a request" for row in of_requests if row["met"] is False]
    print("\nbars missed:", "; ".join(missed) if missed else "none")
    if options.json:
        options.json.write_text(
            json.dumps({"rows": calls, "requests": of_requests, "skipped": skipped},
                       indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
