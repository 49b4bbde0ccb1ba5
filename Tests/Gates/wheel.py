#!/usr/bin/env python3
"""Gate: the wheel, installed alone into an environment of its own, works.

  wheel.py FOLDER CASES [--arm64-root ROOT | --musl-loader PROGRAM] [--suite NAME]

With ROOT the wheel is for 64-bit ARM: Debian's Python for that machine, unpacked
there by packaging/arm64_root.sh, installs and uses it under qemu: one case of each
kind and status, as the C programs run the whole table there.

With PROGRAM, which is Tests/ABI/reload.c for musl, the wheel is for musl. Debian has no
Python for it: pip unpacks the wheel for that platform, and will not for this one; the
program loads the library and verifies with it.
"""
import argparse
import glob
import json
import os
import pathlib
import platform
import tempfile
import zipfile

from contract import run, soname
from python_tools import Environment, clean
from report import Suite

# Runs in the new environment, with nothing of this repository on its path.
PROGRAM = """
import json, platform, sys
import assay
table = json.load(open(sys.argv[1]))
outcomes, verifiers = [], {}
def verifier_of(case):
    name = case["verifier"]
    if name not in verifiers:
        verifiers[name] = assay.Verifier(table["verifiers"][name])
    return verifiers[name]
for case in table["cases"]:
    if case["call"] == "verify_receipt" and "receipt" in case and "subjectBase64" not in case:
        verifier = verifier_of(case)
        document = verifier.verify(case["kind"], case["receipt"], now=case["now"])
        outcomes.append([case["name"], case["expect"]["status"], document.status])
        if document.ok:
            finding = verifier.triage(case["receipt"], now=case["now"])
            outcomes.append([case["name"] + ", triage", "pending.triage.unverified",
                             finding.status])
    if case["call"] != "verify_jws" or "jws" not in case:
        continue
    verifier = verifier_of(case)
    document = verifier.verify(case["kind"], case["jws"], now=case["now"])
    outcomes.append([case["name"], case["expect"]["status"], document.status])
    if case["kind"] == "transaction" and document.ok:
        facts = verifier.verify_transaction(case["jws"], now=case["now"])
        outcomes.append([case["name"] + ", by its own call", "ok", facts.document.status])
print(json.dumps({"file": assay.__file__, "library": assay.library_path(),
                  "machine": platform.machine(), "outcomes": outcomes}))
"""


def check_content(suite, wheel, machine, floor):
    suite.expect(wheel.name.endswith(f"-py3-none-{floor}_{machine}.whl"),
                 f"named for every Python 3 on {floor}", wheel.name)
    suite.expect(wheel.stat().st_size <= 6_000_000, "at most 6 MB", str(wheel.stat().st_size))
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ["assay/__init__.py", "assay/py.typed"]:
        suite.expect(wanted in names, f"holds {wanted}")
    suite.expect(sum(name.endswith(soname()) for name in names) == 1,
                 "holds the library once", str(names))
    tests = [name for name in names
             if "tests" in name.lower() or name.rpartition("/")[2].startswith("test_")]
    suite.expect(not tests, "holds no tests", str(tests))


def native(suite, wheel, folder):
    """Install into an environment of its own: (interpreter, its variables) or None."""
    Environment(folder)
    python = [folder / "venv/bin/python"]
    return (python, clean()) if pip_installs(suite, python, clean(), wheel) else None


def emulated(suite, wheel, folder, root):
    """The same with Debian's Python for ARM, whose pip knows what that machine takes."""
    site = str(folder / "site")
    python = ["qemu-aarch64-static", "-L", root, f"{root}/usr/bin/python3.11"]
    pip = glob.glob(f"{root}/usr/share/python-wheels/pip-*.whl")
    home = {"PYTHONHOME": f"{root}/usr", "PYTHONDONTWRITEBYTECODE": "1"}
    installer = clean(**home, PYTHONPATH=os.pathsep.join(pip))
    if not pip_installs(suite, python, installer, wheel, "--target", site):
        return None
    return python, clean(**home, PYTHONPATH=site)


def pip_installs(suite, python, variables, wheel, *options):
    installed = run(*python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                    "--no-cache-dir", "--disable-pip-version-check", *options, wheel.resolve(),
                    env=variables)
    return suite.expect(installed.returncode == 0, "pip installs it", installed.stderr[-1500:])


def one_of_each(cases, target):
    """Write a case table with the first case of each call, kind and status."""
    table = json.loads(pathlib.Path(cases).read_text())
    first = {}
    for case in table["cases"]:
        first.setdefault((case["call"], case.get("kind"), case["expect"]["status"]), case)
    target.write_text(json.dumps({**table, "cases": list(first.values())}))
    return target


def check_use(suite, wheel, cases, root):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = emulated(suite, wheel, folder, root) if root else native(suite, wheel, folder)
        if not found:
            return
        python, variables = found
        cases = one_of_each(cases, folder / "cases.json") if root else pathlib.Path(cases)
        result = run(*python, "-c", PROGRAM, cases.resolve(), cwd=folder, env=variables)
        if not suite.expect(result.returncode == 0, "it can be used", result.stderr[-1500:]):
            return
        said = json.loads(result.stdout)
        for member in ["file", "library"]:
            suite.expect(said[member].startswith(str(folder)), f"the {member} is the installed one",
                         said[member])
        suite.expect(said["machine"] == ("aarch64" if root else platform.machine()),
                     "the machine is that of the wheel", said["machine"])
        suite.expect(said["outcomes"], "there are cases")
        for case, wanted, status in said["outcomes"]:
            suite.expect(status == wanted, case, f"{status}, not {wanted}")


def check_load(suite, wheel, program):
    """What can be seen of a wheel for musl without a Python for musl."""
    platform_tag = wheel.stem.rpartition("-")[2]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        own = Environment(folder)
        refused = own.install("--no-deps", "--target", folder / "here", wheel.resolve())
        suite.expect("not a supported wheel on this platform" in refused.stderr,
                     "pip takes it for no wheel of glibc", refused.stderr[-500:])
        if not pip_installs(suite, [folder / "venv/bin/python"], clean(), wheel, "--target",
                            folder / "site", "--platform", platform_tag, "--only-binary=:all:"):
            return
        library = folder / "site/assay" / soname()
        result = run(pathlib.Path(program).resolve(), library, env=clean())
        suite.expect(result.returncode == 0 and " 0 failed" in result.stdout,
                     "musl's loader loads its library, which verifies",
                     result.stdout + result.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("cases")
    parser.add_argument("--arm64-root", metavar="ROOT")
    parser.add_argument("--musl-loader", metavar="PROGRAM")
    parser.add_argument("--suite", default="wheel")
    options = parser.parse_args()
    suite = Suite(options.suite)
    wheels = sorted(pathlib.Path(options.folder).glob("*.whl"))
    if suite.expect(len(wheels) == 1, "there is one wheel", str(wheels)):
        machine = "aarch64" if options.arm64_root else platform.machine()
        floor = "musllinux_1_2" if options.musl_loader else "manylinux_2_34"
        check_content(suite, wheels[0], machine, floor)
        if options.musl_loader:
            check_load(suite, wheels[0], options.musl_loader)
        else:
            check_use(suite, wheels[0], options.cases, options.arm64_root)
    suite.finish()


if __name__ == "__main__":
    main()
