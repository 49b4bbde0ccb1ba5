#!/usr/bin/env python3
"""Check what the sources of the library import and call.

  sources.py [--suite NAME]

The library is pure computation: no Foundation, no Dispatch, no concurrency runtime, no way to end
the process (CONTRIBUTING.md, Rules of the project).
"""
import argparse
import os
import re
import subprocess
import tempfile

from project import ROOT
from report import Suite

IMPORTS = {"Assay": {"CLibCrypto", "Synchronization"},
           "AssayABI": {"Assay", "CAssay", "CGate"}}
FATAL = [r"\btry!", r"\bas!", r"\bfatalError\b", r"\bpreconditionFailure\b",
         r"\bprecondition\(", r"\bassertionFailure\b", r"\bassert\(", r"\bunsafelyUnwrapped\b",
         r"\bunowned\(unsafe\)", r"\bunchecked:"]
RUNTIME = [r"\basync\b", r"\bawait\b", r"\bactor\b", r"\bTask\s*[{.(]", r"\bDispatchQueue\b",
           r"\bDate\(\)", r"\bProcessInfo\b", r"\bCommandLine\b", r"\bprint\(", r"\bgetenv\b",
           r"\bContinuousClock\b", r"\bSystemClock\b"]
UNFINISHED = [r"\bTODO\b", r"\bFIXME\b", r"\bXXX\b", r"\bHACK\b"]
SHIM_HEADERS = re.compile(
    r"(openssl/\w+\.h|errno\.h|sys/syscall\.h|pthread\.h|stdatomic\.h|stdint\.h|stddef\.h|stdlib\.h|string\.h"
    r"|stdbool\.h|unistd\.h)")


def without_comments_and_texts(text):
    """Return Swift code with emptied comments and string literals and unchanged line numbers."""
    pattern = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
    return pattern.sub(lambda found: '""' + "\n" * found[0].count("\n"), text)


def found_lines(patterns, code):
    return [f"{number}: {line.strip()}" for number, line in enumerate(code.splitlines(), 1)
            if any(re.search(pattern, line) for pattern in patterns)]


def class_bodies(code):
    """Yield the text between the braces of every class in a file."""
    for found in re.finditer(r"\bclass\s+[A-Z]\w*[^{}]*\{", code):
        depth, at = 1, found.end()
        while depth and at < len(code):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        yield code[found.end():at]


def failing_initialisers(code):
    """Yield the initializers of classes that may fail: Embedded Swift never frees the object
    allocated for a failed one (seen with Swift 6.3.1)."""
    pattern = r"\binit\?\s*[(<]|\binit\s*\([^{}]*?\)\s*throws"
    return [found[0].strip() for body in class_bodies(code)
            for found in re.finditer(pattern, body)]


def check_swift(suite, module, path):
    text = path.read_text()
    code = without_comments_and_texts(text)
    name = str(path.relative_to(ROOT))
    imports = set(re.findall(r"^[ \t]*(?:@\w+[ \t]+|public[ \t]+)*import[ \t]+(?:\w+[ \t]+)?"
                             r"([A-Za-z_]\w*)", code, re.M))
    suite.expect(imports <= IMPORTS[module], f"{name} imports nothing foreign",
                 " ".join(sorted(imports - IMPORTS[module])))
    for patterns, what in [(FATAL, "has no way to end the process"),
                           (RUNTIME, "asks for no clock, task, environment or output")]:
        lines = found_lines(patterns, code)
        suite.expect(not lines, f"{name} {what}", "; ".join(lines))
    lines = failing_initialisers(code)
    suite.expect(not lines, f"{name} has no class whose initialiser may fail", "; ".join(lines))
    lines = found_lines(UNFINISHED, text)
    suite.expect(not lines, f"{name} is finished", "; ".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="sources")
    suite = Suite(parser.parse_args().suite)
    for module in IMPORTS:
        files = sorted((ROOT / "Sources" / module).rglob("*.swift"))
        suite.expect(files, f"Sources/{module} has sources")
        for path in files:
            check_swift(suite, module, path)
    headers = sorted((ROOT / "Sources/CLibCrypto").glob("*.h"))
    suite.expect(headers, "Sources/CLibCrypto has headers")
    own = {path.name for path in headers}
    for path in headers:
        foreign = [name for name in re.findall(r"#\s*include\s*[<\"](.*?)[>\"]", path.read_text())
                   if name not in own and not SHIM_HEADERS.fullmatch(name)]
        suite.expect(not foreign, f"{path.name} includes libcrypto and plain C only",
                     " ".join(foreign))
    manifest = (ROOT / "Package.swift").read_text()
    code = without_comments_and_texts(manifest)
    # A package that depends on this one gets none of the flags that the Makefile sets.
    outside = {name: value for name, value in os.environ.items() if name != "ASSAY_MAKE"}
    # A scratch folder of its own: a running build locks the usual one for minutes.
    with tempfile.TemporaryDirectory() as scratch:
        dump = subprocess.run(["swift", "package", "dump-package", "--scratch-path", scratch],
                              cwd=ROOT, env=outside, capture_output=True, text=True)
    suite.expect(dump.returncode == 0 and "unsafeFlags" not in dump.stdout,
                 "Package.swift has no unsafeFlags for others", dump.stderr)
    for setting in ["swiftLanguageMode(.v6)", "strictMemorySafety()"]:
        suite.expect(setting in code, f"Package.swift has {setting}")
    suite.finish()


if __name__ == "__main__":
    main()
