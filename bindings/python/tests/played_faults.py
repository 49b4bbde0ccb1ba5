"""Mock Apple with its faults on loopback, from Tests/CLI/faults.py, for these tests."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "Tests/CLI"))

from faults import GOOD, NOW, SECRETS, Bench, asked

__all__ = ["GOOD", "NOW", "SECRETS", "asked", "started"]


def started(*options):
    """Start the mock, and skip the test if there is no command line."""
    if "ASSAY_CLI" not in os.environ:
        raise unittest.SkipTest("ASSAY_CLI does not name the command line: nothing plays Apple")
    return Bench(os.environ["ASSAY_CLI"], *options)
