#!/usr/bin/env python3
"""Gate over the header's reference: doxygen makes it without a warning.

  reference.py [--suite NAME]

A second run, over a header with one more function, undocumented, must warn:
otherwise the first run would prove nothing.
"""
import argparse
import pathlib
import subprocess
import tempfile

from contract import HEADER, ROOT, declared_functions
from report import Suite

DOXYFILE = ROOT / "docs/Doxyfile"


def doxygen(settings, folder):
    text = DOXYFILE.read_text() + settings
    return subprocess.run(["doxygen", "-"], input=text, text=True, capture_output=True,
                          cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="reference")
    suite = Suite(parser.parse_args().suite)
    (ROOT / "build").mkdir(exist_ok=True)
    result = doxygen("", ROOT)
    suite.expect(result.returncode == 0 and not result.stderr.strip(),
                 "doxygen without warnings", result.stderr[:3000])
    page = ROOT / "build/reference/assay_8h.html"
    html = page.read_text() if page.exists() else ""
    for name in sorted(declared_functions()):
        suite.expect(f">{name}</" in html or f"{name} (" in html, "in the reference", name)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "include").mkdir()
        (folder / "docs").mkdir()
        (folder / "docs/reference.dox").write_text((ROOT / "docs/reference.dox").read_text())
        (folder / "include/assay.h").write_text(HEADER.read_text().replace(
            "#ifdef __cplusplus\n}", "ASSAY_API int assay_bare(void);\n#ifdef __cplusplus\n}"))
        result = doxygen("\nOUTPUT_DIRECTORY = .\n", folder)
        suite.expect(result.returncode != 0 and "assay_bare" in result.stderr,
                     "doxygen sees an undocumented function", result.stderr[:1000])
    suite.finish()


if __name__ == "__main__":
    main()
