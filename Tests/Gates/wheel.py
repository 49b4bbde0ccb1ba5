#!/usr/bin/env python3
"""Check that the wheel, installed into a new environment without other packages, works.

  wheel.py FOLDER CASES [--arm64-root ROOT | --musl-loader PROGRAM] [--suite NAME]

With ROOT the wheel is for 64-bit ARM. Debian's Python for that machine, unpacked there by
packaging/arm64_root.sh, installs the wheel and runs one case of each kind and status under qemu.

With PROGRAM, which is Tests/ABI/reload.c for musl, the wheel is for musl. Debian has no Python for
musl: pip unpacks the wheel for that platform and refuses it for this one, and the program loads the
library and verifies with it.
"""
import argparse
import glob
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import zipfile

from project import ROOT, soname
from python_tools import Environment, clean
from report import Suite

# Runs in the new environment, with only these tests of the repository on its path.
TESTS = ROOT / "bindings/python/tests"
PROGRAM = """
import json, platform, unittest
import assay
ran = unittest.main("test_case_table", argv=["cases"], exit=False).result
print(json.dumps({"file": assay.__file__, "library": assay.library_path(),
                  "machine": platform.machine(), "good": ran.wasSuccessful()}))
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
    """Install into a new environment; return (interpreter, its variables) or None."""
    own = Environment(folder)
    done = own.install("--no-deps", wheel.resolve())
    good = suite.expect(done.returncode == 0, "pip installs it", done.stderr[-1500:])
    return ([own.program], clean()) if good else None


# Uses the library vendored in pip that decides about tags: pip itself takes ten seconds under qemu.
TAKEN = "import sys; from pip._vendor.packaging.tags import sys_tags; " \
    "sys.exit(not any(tag.platform == sys.argv[1] for tag in sys_tags()))"


def emulated(suite, wheel, folder, root):
    """Install with Debian's Python for ARM, after its pip has confirmed the wheel's tag."""
    site = str(folder / "site")
    python = ["qemu-aarch64-static", "-L", root, f"{root}/usr/bin/python3.11"]
    pip = glob.glob(f"{root}/usr/share/python-wheels/pip-*.whl")
    home = {"PYTHONHOME": f"{root}/usr", "PYTHONDONTWRITEBYTECODE": "1"}
    tag = wheel.stem.rpartition("-")[2]
    taken = subprocess.run([*python, "-c", TAKEN, tag], text=True, capture_output=True,
                           env=clean(**home, PYTHONPATH=os.pathsep.join(pip)))
    suite.expect(taken.returncode == 0, f"its pip takes {tag}", taken.stderr[-500:])
    done = Environment(folder).install("--no-deps", "--target", site, "--platform", tag,
                                       "--only-binary=:all:", wheel.resolve())
    good = suite.expect(done.returncode == 0, "pip installs it", done.stderr[-1500:])
    return (python, clean(**home, PYTHONPATH=site)) if good else None


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
        variables["PYTHONPATH"] = os.pathsep.join(
            filter(None, [variables.get("PYTHONPATH"), str(TESTS)]))
        variables.update(ASSAY_CASES=str(cases.resolve()), PYTHONDONTWRITEBYTECODE="1")
        result = subprocess.run([*python, "-c", PROGRAM], cwd=folder, env=variables, text=True,
                                capture_output=True)
        if not suite.expect(result.returncode == 0, "it can be used", result.stderr[-1500:]):
            return
        said = json.loads(result.stdout)
        for member in ["file", "library"]:
            suite.expect(said[member].startswith(str(folder)), f"the {member} is the installed one",
                         said[member])
        suite.expect(said["machine"] == ("aarch64" if root else platform.machine()),
                     "the machine is that of the wheel", said["machine"])
        suite.expect(said["good"], "the cases are answered as they must be", result.stderr[-3000:])


def check_load(suite, wheel, program):
    """Check as much of a wheel for musl as is possible without a Python for musl."""
    platform_tag = wheel.stem.rpartition("-")[2]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        own = Environment(folder)
        into = ["--no-deps", "--target", folder / "site"]
        refused = own.install(*into, wheel.resolve())
        suite.expect("not a supported wheel on this platform" in refused.stderr,
                     "pip takes it for no wheel of glibc", refused.stderr[-500:])
        done = own.install(*into, "--platform", platform_tag, "--only-binary=:all:",
                           wheel.resolve())
        if not suite.expect(done.returncode == 0, "pip installs it", done.stderr[-1500:]):
            return
        library = folder / "site/assay" / soname()
        result = subprocess.run([pathlib.Path(program).resolve(), library], text=True,
                                capture_output=True, env=clean())
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
