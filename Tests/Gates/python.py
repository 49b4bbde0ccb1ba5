#!/usr/bin/env python3
"""Run a folder of unittest tests and print their counts.

  python.py FOLDER [--suite NAME]
"""
import argparse
import pathlib
import sys
import unittest

from report import Suite


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--suite", default="python")
    options = parser.parse_args()
    suite = Suite(options.suite)
    if not list(pathlib.Path(options.folder).glob("test_*.py")):
        suite.expect(False, f"{options.folder} has tests")
        suite.finish()
    tests = unittest.defaultTestLoader.discover(options.folder)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(tests)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    suite.failed, suite.skipped = bad, len(result.skipped)
    suite.passed = result.testsRun - bad - suite.skipped
    for test, why in result.skipped:
        print(f"skipped {options.suite}: {test}: {why}")
    suite.finish()


if __name__ == "__main__":
    main()
