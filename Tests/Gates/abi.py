#!/usr/bin/env python3
"""Check that assay.h stays compatible with programs built against the baseline.

  abi.py [--suite NAME]

tools/abi.py compares the current header with the baseline, and then headers with one change each,
to prove that it accepts additions and refuses everything else.
"""
import argparse
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

from project import HEADER, ROOT
from report import Suite

TEXT = HEADER.read_text()
ADDED = "ASSAY_API int32_t assay_added(const assay_doc *doc);\n"
END = "#ifdef __cplusplus\n}"

# (change, before, after): tools/abi.py must refuse each.
BREAKS = [
    ("a function is taken away", "ASSAY_API const char *assay_version(void);", ""),
    ("a function has another name", "assay_doc_status(", "assay_doc_state("),
    ("a parameter is wider", "int32_t kind, const char *jws", "int64_t kind, const char *jws"),
    ("a parameter is unsigned", "int32_t kind, const char *jws", "uint32_t kind, const char *jws"),
    ("a parameter is of another type", "const char *body", "const void *body"),
    ("a parameter is no longer const", "const assay_verifier *verifier,\n"
     "                                        int32_t kind", "assay_verifier *verifier,\n"
     "                                        int32_t kind"),
    ("a parameter is taken away", "const assay_doc *doc, size_t *len);",
     "const assay_doc *doc);"),
    ("a parameter is added", "assay_status_name(assay_status status)",
     "assay_status_name(assay_status status, int32_t more)"),
    ("two parameters change places", "const char *config, size_t config_len",
     "size_t config_len, const char *config"),
    ("a result is of another type", "ASSAY_API uint32_t assay_version_number",
     "ASSAY_API uint64_t assay_version_number"),
    ("the status is wider", "typedef int32_t assay_status;", "typedef int64_t assay_status;"),
    ("an enum value changes", "ASSAY_JWS_RENEWAL_INFO = 2", "ASSAY_JWS_RENEWAL_INFO = 12"),
    ("a first enum value changes", "ASSAY_RECEIPT_TRANSACTION = 1",
     "ASSAY_RECEIPT_TRANSACTION = 3"),
    ("an enum value is taken away", "ASSAY_JWS_APP_TRANSACTION = 4,", ""),
    ("a constant changes", "ASSAY_NO_DATE INT64_MIN", "ASSAY_NO_DATE 0"),
    ("the number of the ABI changes", "#define ASSAY_ABI 0 ", "#define ASSAY_ABI 1 "),
]
# tools/abi.py must accept each, and must report that the baseline is older.
ADDS = [
    ("a function is added", END, ADDED + END),
    ("an enum value is added", "ASSAY_JWS_RENEWAL_INFO = 2,",
     "ASSAY_JWS_RENEWAL_INFO = 2,\n  ASSAY_JWS_OTHER = 6,"),
]


def judge(text):
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "assay.h"
        path.write_text(text)
        return subprocess.run([sys.executable, ROOT / "tools/abi.py", "--header", path],
                              text=True, capture_output=True)


def changed(suite, what, before, after):
    """Return the header with one change; None if the text to replace is missing."""
    found = suite.expect(before in TEXT, f"the header has what is changed: {what}", before)
    return TEXT.replace(before, after, 1) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="abi")
    suite = Suite(parser.parse_args().suite)
    if shutil.which("abidiff") is None or platform.machine() != "x86_64":
        suite.skip("the baseline", "abidiff is not installed, or this is no x86_64")
        print(f"suite {suite.name}: 0 passed, 0 failed, 1 skipped")
        return
    result = judge(TEXT)
    suite.expect(result.returncode == 0, "the header keeps the baseline",
                 result.stdout[-3000:] + result.stderr[-500:])
    if "only adds" in result.stdout:
        print(result.stdout)
    for what, before, after in BREAKS:
        text = changed(suite, what, before, after)
        if text:
            result = judge(text)
            suite.expect(result.returncode == 1 and "breaks programs" in result.stdout,
                         f"refused: {what}", result.stdout[-800:] + result.stderr[-500:])
    for what, before, after in ADDS:
        text = changed(suite, what, before, after)
        if text:
            result = judge(text)
            suite.expect(result.returncode == 0 and "tools/abi.py --write" in result.stdout,
                         f"passes, with how to refresh: {what}",
                         result.stdout[-800:] + result.stderr[-500:])
    text = changed(suite, "a name", "int64_t fallback);", "int64_t otherwise);")
    suite.expect(text and judge(text).returncode == 0, "the name of a parameter may change")
    suite.finish()


if __name__ == "__main__":
    main()
