#!/usr/bin/env python3
"""Gate: the wheel, installed alone into an environment of its own, works.

  wheel.py FOLDER CASES [--suite NAME]
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import zipfile

from contract import soname
from report import Suite

# Runs in the new environment, with nothing of this repository on its path.
PROGRAM = """
import json, sys
import assay
table = json.load(open(sys.argv[1]))
outcomes = []
for case in table["cases"]:
    if case["call"] == "verify_receipt" and "receipt" in case and "subjectBase64" not in case:
        with assay.Verifier(table["verifiers"][case["verifier"]]) as verifier:
            document = verifier.verify(case["kind"], case["receipt"], now=case["now"])
            outcomes.append([case["name"], case["expect"]["status"], document.status])
            if document.ok:
                finding = verifier.triage(case["receipt"], now=case["now"])
                outcomes.append([case["name"] + ", triage", "pending.triage.unverified",
                                 finding.status])
    if case["call"] != "verify_jws" or "jws" not in case:
        continue
    with assay.Verifier(table["verifiers"][case["verifier"]]) as verifier:
        document = verifier.verify(case["kind"], case["jws"], now=case["now"])
        outcomes.append([case["name"], case["expect"]["status"], document.status])
        if case["kind"] == "transaction" and document.ok:
            facts = verifier.verify_transaction(case["jws"], now=case["now"])
            outcomes.append([case["name"] + ", by its own call", "ok", facts.document.status])
print(json.dumps({"file": assay.__file__, "library": assay.library_path(),
                  "outcomes": outcomes}))
"""


def check_content(suite, wheel):
    machine = platform.machine()
    suite.expect(wheel.name.endswith(f"-py3-none-manylinux_2_34_{machine}.whl"),
                 "named for every Python 3 on glibc 2.34", wheel.name)
    suite.expect(wheel.stat().st_size <= 6_000_000, "at most 6 MB", str(wheel.stat().st_size))
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ["assay/__init__.py", "assay/py.typed"]:
        suite.expect(wanted in names, f"holds {wanted}")
    suite.expect(sum(name.endswith(soname()) for name in names) == 1,
                 "holds the library once", str(names))
    tests = [name for name in names
             if "tests" in name.lower() or name.rpartition("/")[2].startswith("test_")]
    suite.expect(not tests, "holds no tests", str(tests))


def check_use(suite, wheel, cases):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith(("ASSAY_", "PYTHON", "LD_"))}
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, env=clean)
        python = folder / "venv/bin/python"
        installed = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
             "--disable-pip-version-check", wheel.resolve()],
            env=clean, text=True, capture_output=True)
        if not suite.expect(installed.returncode == 0, "pip installs it", installed.stderr[:1500]):
            return
        result = subprocess.run([python, "-c", PROGRAM, str(pathlib.Path(cases).resolve())],
                                cwd=folder, env=clean, text=True, capture_output=True)
        if not suite.expect(result.returncode == 0, "it can be used", result.stderr[-1500:]):
            return
        said = json.loads(result.stdout)
        for member in ["file", "library"]:
            suite.expect(said[member].startswith(str(folder)), f"the {member} is the installed one",
                         said[member])
        suite.expect(said["outcomes"], "there are cases")
        for case, wanted, status in said["outcomes"]:
            suite.expect(status == wanted, case, f"{status}, not {wanted}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("cases")
    parser.add_argument("--suite", default="wheel")
    options = parser.parse_args()
    suite = Suite(options.suite)
    wheels = sorted(pathlib.Path(options.folder).glob("*.whl"))
    if suite.expect(len(wheels) == 1, "there is one wheel", str(wheels)):
        check_content(suite, wheels[0])
        check_use(suite, wheels[0], options.cases)
    suite.finish()


if __name__ == "__main__":
    main()
