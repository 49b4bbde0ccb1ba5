#!/usr/bin/env python3
"""Run a folder of unittest tests and print their counts.

  python.py FOLDER [--suite NAME] [--only PATTERN] [--tools]

With --tools the tests run in the environment of python_tools.py, and are skipped if the package
index cannot be reached.
"""
import argparse
import os
import pathlib
import sys
import unittest

import python_tools
from report import Suite


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--suite", default="python")
    parser.add_argument("--only", default="test*.py")
    parser.add_argument("--tools", action="store_true")
    options = parser.parse_args()
    suite = Suite(options.suite)
    if options.tools:
        programs, why = python_tools.installed()
        if why is None:
            os.execv(programs / "python", [
                str(programs / "python"), __file__, options.folder, "--suite", options.suite,
                "--only", options.only])
        suite.skip("the environment", why)
        suite.finish(may_be_empty=True)
    if not list(pathlib.Path(options.folder).glob("test_*.py")):
        suite.expect(False, f"{options.folder} has tests")
        suite.finish()
    tests = unittest.defaultTestLoader.discover(options.folder, options.only)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(tests)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    suite.failed, suite.skipped = bad, len(result.skipped)
    suite.passed = result.testsRun - bad - suite.skipped
    for test, why in result.skipped:
        print(f"skipped {options.suite}: {test}: {why}")
    suite.finish()


if __name__ == "__main__":
    main()
