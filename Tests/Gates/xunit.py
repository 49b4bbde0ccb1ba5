#!/usr/bin/env python3
"""Print the counts of a Swift Testing run, from its xunit file.

  xunit.py FILE [--suite NAME]
"""
import argparse
import xml.etree.ElementTree as tree

from report import Suite


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--suite", default="swift")
    options = parser.parse_args()
    suite = Suite(options.suite)
    for case in tree.parse(options.file).iter("testcase"):
        name = f"{case.get('classname')} {case.get('name')}"
        failures = case.findall("failure") + case.findall("error")
        skipped = case.find("skipped")
        if failures:
            suite.expect(False, name, "; ".join(found.get("message", "") for found in failures))
        elif skipped is not None:
            suite.skip(name, skipped.get("message") or skipped.text or "disabled")
        else:
            suite.expect(True, name)
    suite.finish()


if __name__ == "__main__":
    main()
