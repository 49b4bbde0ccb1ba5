#!/usr/bin/env python3
"""Check that the source distribution of the Python binding reports what it needs.

  sdist.py FOLDER CASES --library LIBRARY [--suite NAME]

pip installs it into new environments: without a library, which must fail with instructions; with a
named library; and for the system's library.
"""
import argparse
import json
import os
import pathlib
import sys
import tarfile
import tempfile

from project import ROOT, soname
from python_tools import Environment
from report import Suite

sys.path.insert(0, str(ROOT / "bindings/python"))
sys.path.insert(0, str(ROOT / "bindings/python/tests"))
import build_wheel  # noqa: E402
import case_table  # noqa: E402

# Runs in the new environment, with nothing of this repository on its path.
PROGRAM = """
import sys
import assay
configuration, jws, now = sys.argv[1:]
with assay.Verifier(open(configuration).read()) as verifier:
    verifier.verify_transaction(open(jws).read(), now=int(now))
print(assay.library_path())
"""
CHOICES = ["install the wheel", "ASSAY_LIBRARY to the path", "ASSAY_LIBRARY=system"]


def check_content(suite, sdist):
    with tempfile.TemporaryDirectory() as name:
        again = build_wheel.write_sdist(name)
        suite.expect(again.read_bytes() == sdist.read_bytes(), "the same bytes when built again")
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    for wanted in ["PKG-INFO", "LICENSE", "README.md", "pyproject.toml", "assay/__init__.py"]:
        suite.expect(wanted in names, f"holds {wanted}")
    suite.expect(not [name for name in names if ".so" in name], "holds no library", str(names))


def check_refusal(suite, environment, sdist):
    """Check that nothing is installed, and that the message explains what to do."""
    for what, variables in [("without a library", {}),
                            ("with a library that is not there",
                             {"ASSAY_LIBRARY": "/nowhere/libassay.so.0"})]:
        failed = environment.install("--force-reinstall", sdist, **variables)
        text = failed.stdout + failed.stderr
        suite.expect(failed.returncode != 0, f"{what} it is not installed", text[-500:])
        for choice in CHOICES:
            suite.expect(choice in text, f"{what} it says: {choice}", text[-1500:])
    suite.expect(environment.python("-c", "import assay").returncode != 0,
                 "nothing was left behind")


def check_named(suite, environment, sdist, case, library):
    done = environment.install("--force-reinstall", sdist, ASSAY_LIBRARY=library)
    suite.expect(done.returncode == 0, "with a named library it is installed", done.stderr[-1000:])
    done = environment.python("-c", PROGRAM, *case)
    inside = done.stdout.strip()
    suite.expect(inside.startswith(str(environment.folder)) and inside.endswith(soname()),
                 "it verifies with the library inside", inside + done.stderr[-1000:])


def check_system(suite, environment, sdist, case, library):
    done = environment.install("--force-reinstall", sdist, ASSAY_LIBRARY="system")
    suite.expect(done.returncode == 0, "for the system's it is installed", done.stderr[-1000:])
    folder = os.path.dirname(library)
    for variables in [{"LD_LIBRARY_PATH": folder},
                      {"LD_LIBRARY_PATH": folder, "ASSAY_LIBRARY": "system"}]:
        done = environment.python("-c", PROGRAM, *case, **variables)
        suite.expect(done.stdout.strip() == soname(), "it verifies with the system's",
                     done.stdout + done.stderr[-1000:])
    done = environment.python("-c", "import assay", ASSAY_LIBRARY="/nowhere/libassay.so.0")
    suite.expect("ImportError" in done.stderr and "ASSAY_LIBRARY" in done.stderr,
                 "without one the import says what to do", done.stderr[-1000:])


def evidence(cases, folder):
    """Return an accepted transaction as arguments of PROGRAM."""
    table = case_table.CaseTable(cases)
    case = table.accepted("transaction")
    configuration, jws = folder / "configuration.json", folder / "transaction.jws"
    configuration.write_text(json.dumps(table.configuration(case["verifier"])))
    jws.write_text(case_table.jws_of(case))
    return [str(configuration), str(jws), str(case["now"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("cases")
    parser.add_argument("--library", required=True, type=os.path.abspath)
    parser.add_argument("--suite", default="sdist")
    options = parser.parse_args()
    suite = Suite(options.suite)
    found = sorted(pathlib.Path(options.folder).resolve().glob("*.tar.gz"))
    if suite.expect(len(found) == 1, "there is one source distribution", str(found)):
        check_content(suite, found[0])
        with tempfile.TemporaryDirectory() as name:
            environment = Environment(pathlib.Path(name))
            case = evidence(options.cases, environment.folder)
            check_refusal(suite, environment, found[0])
            check_named(suite, environment, found[0], case, options.library)
            check_system(suite, environment, found[0], case, options.library)
    suite.finish()


if __name__ == "__main__":
    main()
