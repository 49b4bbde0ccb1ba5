#!/usr/bin/env python3
"""Build the wheel assay-testing, with the command line inside.

  build_wheel.py --program .build-cli/release/assay-cli --out build/wheel-testing

The program is stripped first. As with the binding's wheel (bindings/python/build_wheel.py),
the same sources and program give the same bytes.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
import build_wheel as binding  # noqa: E402

NAME = "assay_testing"
PROGRAM = "assay"


def metadata() -> bytes:
    """Return METADATA, with the README as the description."""
    version = binding.version()
    head = [
        "Metadata-Version: 2.1",
        "Name: assay-testing",
        f"Version: {version}",
        "Summary: Evidence that Apple would sign, minted for tests: pytest fixture and mint",
        "License: Apache-2.0",
        f"Requires-Python: {binding.PYTHON}",
        f"Requires-Dist: assay=={version}",
        "Classifier: Development Status :: 4 - Beta",
        "Classifier: Framework :: Pytest",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Topic :: Software Development :: Testing",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ]
    return ("\n".join(head) + "\n\n" + (HERE / "README.md").read_text()).encode()


def stripped(program: pathlib.Path) -> bytes:
    """Return the program without its symbols."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["objcopy", "--strip-all", program, out.name], check=True)
        return pathlib.Path(out.name).read_bytes()


def write_wheel(program: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Write the wheel into the folder `out`, and return its path."""
    tag = binding.platform_of(program)
    info = f"{NAME}-{binding.version()}.dist-info"
    files = {
        f"{NAME}/{path.name}": path.read_bytes()
        for path in (HERE / NAME).iterdir()
        if path.suffix in binding.SOURCES
    }
    files[f"{NAME}/{PROGRAM}"] = stripped(program)
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/WHEEL"] = binding.wheel_file(tag)
    files[f"{info}/LICENSE"] = binding.licence()
    files[f"{info}/entry_points.txt"] = (
        f"[console_scripts]\nassay = {NAME}.__main__:main\n\n"
        f"[pytest11]\n{NAME} = {NAME}.pytest_plugin\n"
    ).encode()
    record = f"{info}/RECORD"
    files[record] = binding.record(files, record)
    target = out / f"{NAME}-{binding.version()}-py3-none-{tag}.whl"
    target.parent.mkdir(parents=True, exist_ok=True)
    moment = binding.timestamp()
    order = sorted(files, key=lambda name: (".dist-info/" in name, name))
    with zipfile.ZipFile(target, "w") as archive:
        for name in order:
            entry = binding.entry(name, moment)
            if name == f"{NAME}/{PROGRAM}":
                entry.external_attr = 0o100755 << 16
            archive.writestr(entry, files[name], compresslevel=9)
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for the wheel")
    arguments = parser.parse_args()
    print(write_wheel(arguments.program, arguments.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
