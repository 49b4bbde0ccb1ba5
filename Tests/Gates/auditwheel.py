#!/usr/bin/env python3
"""Check with auditwheel that each wheel satisfies the platform tag in its name.

  auditwheel.py WHEEL... [--suite NAME]

Skipped if the package index, from which auditwheel is installed, cannot be reached.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

import python_tools
from report import Suite


def verdict(programs, wheel):
    """Return the platform tag that auditwheel finds for a wheel, and its whole output."""
    result = subprocess.run([programs / "auditwheel", "show", wheel], text=True,
                            capture_output=True)
    text = " ".join((result.stdout + result.stderr).split())
    found = re.search(r'is consistent with the following platform tag: "(\w+)"', text)
    return (found[1] if found and result.returncode == 0 else None), text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheels", nargs="+")
    parser.add_argument("--suite", default="auditwheel")
    options = parser.parse_args()
    suite = Suite(options.suite)
    programs, why = python_tools.installed()
    wheels = [pathlib.Path(wheel) for wheel in options.wheels]
    if why:
        for wheel in wheels:
            suite.skip(wheel.name, why)
        suite.finish(may_be_empty=True)
    for wheel in wheels:
        promised = wheel.stem.rpartition("-")[2]
        found, text = verdict(programs, wheel)
        suite.expect(found == promised, f"{wheel.name}: auditwheel agrees", text[:1000])
    # auditwheel must notice the same bytes under the tag of an older glibc.
    with tempfile.TemporaryDirectory() as name:
        false = pathlib.Path(name) / wheels[0].name.replace("_2_34_", "_2_17_")
        false.write_bytes(wheels[0].read_bytes())
        suite.expect(verdict(programs, false)[0] != false.stem.rpartition("-")[2],
                     "auditwheel sees a false tag")
    suite.finish()


if __name__ == "__main__":
    main()
