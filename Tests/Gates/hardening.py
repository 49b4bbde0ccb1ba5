#!/usr/bin/env python3
"""Check that built files were compiled and linked with the Makefile's SAFE_C and SAFE_LINK.

  hardening.py FILE... [--flags MAKEFILE] [--suite NAME]

MAKEFILE compiled the files, and their C calls no function that has a checked form.

A build id identifies the build of a crash report; addresses are bound at load and read-only
afterwards; no stack is executable; C checks its stack and, where the C library has functions for
it, the ends of its buffers. Reads each file with readelf; loads nothing.
"""
import argparse
import pathlib
import re
import subprocess

from report import Suite


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], check=True, text=True,
                          capture_output=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
                          ).stdout


def check(suite, path, fortified=True):
    """Check one file; `fortified`: its C calls functions with a checked form, which musl lacks."""
    dynamic, segments = readelf("-d", path), readelf("-l", path)
    asked = set(re.findall(r"\bUND (\w+)", readelf("--dyn-syms", path)))
    suite.expect(re.search(r"Build ID: [0-9a-f]{40}\b", readelf("-n", path)), "has a build id")
    suite.expect(re.search(r"FLAGS_1\).*\bNOW\b", dynamic), "bound at load")
    suite.expect("GNU_RELRO" in segments, "read only once it is bound")
    suite.expect(re.search(r"Type:\s+DYN", readelf("-h", path)), "loads at any address")
    stack = re.search(r"GNU_STACK\s+\S+ \S+ \S+ \S+ \S+ (\S+)", segments)
    suite.expect(stack and "E" not in stack[1], "stack not executable")
    suite.expect(not re.search(r"LOAD.*\bRWE\b", segments), "nothing writable and executable")
    suite.expect("__stack_chk_fail" in asked, "watches its stack")
    if fortified:
        suite.expect(any(re.fullmatch(r"__\w+_chk", name) for name in asked),
                     "watches the ends of buffers")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--flags", type=pathlib.Path)
    parser.add_argument("--suite", default="hardening")
    options = parser.parse_args()
    suite = Suite(options.suite)
    for path in options.files:
        check(suite, path, fortified=not options.flags)
    if options.flags:
        suite.expect("-D_FORTIFY_SOURCE=2" in options.flags.read_text(), "compiled to watch buffers")
    suite.finish()


if __name__ == "__main__":
    main()
