#!/usr/bin/env python3
"""Build the one wheel of the Python binding, with the library inside.

  build_wheel.py --library build/lib/libassay.so.0 --out build/wheel [--platform TAG]

The wheel is the same, byte for byte, for the same sources and the same library:
entries are sorted and carry SOURCE_DATE_EPOCH, or 1980-01-01 when it is not set.
It needs nothing but Python, and is the build backend of pyproject.toml as well
(PEP 517): `pip install bindings/python` takes the library that ASSAY_LIBRARY
names, or build/lib/libassay.so.0 of the repository.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAME = "assay"
FLOOR = "manylinux_2_34"
# The number of a machine in a library's ELF header, and its name in a tag.
MACHINES = {62: "x86_64", 183: "aarch64"}
LIBRARY = "libassay.so.0"
SOURCES = (".py", ".typed")
PYTHON = ">=3.9"


def version():
    """The version in assay/_version.py, which tools/generate.py writes."""
    text = (HERE / NAME / "_version.py").read_text()
    return text.split('__version__ = "')[1].split('"')[0]


def platform_of(library):
    """The platform tag of a library: for the machine that it was built for.

    Raises SystemExit for a file that is no shared library of a known machine.
    """
    head = pathlib.Path(library).read_bytes()[:20]
    machine = MACHINES.get(int.from_bytes(head[18:20], "little"))
    if head[:6] != b"\x7fELF\x02\x01" or machine is None:
        raise SystemExit(f"{library} is no library for one of: {', '.join(MACHINES.values())}")
    return f"{FLOOR}_{machine}"


def metadata():
    """METADATA, with the README as the description."""
    head = [
        "Metadata-Version: 2.1",
        f"Name: {NAME}",
        f"Version: {version()}",
        "Summary: Verify what Apple signs: StoreKit transactions, renewals and notifications",
        "License: Apache-2.0",
        f"Requires-Python: {PYTHON}",
        "Classifier: Development Status :: 4 - Beta",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Topic :: Security :: Cryptography",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ]
    return ("\n".join(head) + "\n\n" + (HERE / "README.md").read_text()).encode()


def wheel_file(tag):
    """WHEEL: not pure, for every Python 3 of one platform."""
    return (
        "Wheel-Version: 1.0\n"
        "Generator: assay build_wheel.py\n"
        "Root-Is-Purelib: false\n"
        f"Tag: py3-none-{tag}\n"
    ).encode()


def contents(library, tag):
    """Every file of the wheel but RECORD: path in the archive -> bytes."""
    files = {
        f"{NAME}/{path.name}": path.read_bytes()
        for path in (HERE / NAME).iterdir()
        if path.suffix in SOURCES
    }
    files[f"{NAME}/{LIBRARY}"] = pathlib.Path(library).read_bytes()
    info = f"{NAME}-{version()}.dist-info"
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/WHEEL"] = wheel_file(tag)
    licence = ROOT / "LICENSE"
    if licence.exists():
        files[f"{info}/LICENSE"] = licence.read_bytes()
    return files


def record(files, path):
    """RECORD: name, digest and size of every file; its own line has neither."""
    lines = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest())
        lines.append(f"{name},sha256={digest.rstrip(b'=').decode()},{len(files[name])}")
    return ("\n".join(lines + [f"{path},,"]) + "\n").encode()


def timestamp():
    """The time that every entry carries; a zip file begins in 1980."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    return max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0))


def entry(name, moment):
    """One entry: fixed time, fixed mode; the library may be executed."""
    found = zipfile.ZipInfo(name, moment)
    found.create_system = 3
    found.external_attr = (0o100755 if name.endswith(LIBRARY) else 0o100644) << 16
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def write_wheel(library, out, tag=None):
    """Write the wheel into the folder `out`; gives its path."""
    tag = tag or platform_of(library)
    files = contents(library, tag)
    path = f"{NAME}-{version()}.dist-info/RECORD"
    files[path] = record(files, path)
    target = pathlib.Path(out) / f"{NAME}-{version()}-py3-none-{tag}.whl"
    target.parent.mkdir(parents=True, exist_ok=True)
    moment = timestamp()
    # dist-info last, as PEP 427 recommends.
    order = sorted(files, key=lambda name: (".dist-info/" in name, name))
    with zipfile.ZipFile(target, "w") as archive:
        for name in order:
            archive.writestr(entry(name, moment), files[name], compresslevel=9)
    return target


# ---- PEP 517 -----------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip. `--config-settings library=PATH` and `platform=TAG` are known."""
    settings = config_settings or {}
    library = (
        settings.get("library")
        or os.environ.get("ASSAY_LIBRARY")
        or ROOT / "build" / "lib" / LIBRARY
    )
    if not os.path.exists(library):
        raise SystemExit(
            f"{library} does not exist: run `make` first, or name the library by ASSAY_LIBRARY"
        )
    return write_wheel(library, wheel_directory, settings.get("platform")).name


def build_sdist(sdist_directory, config_settings=None):
    """There is none: the sources of the library are not Python's to build."""
    raise SystemExit("assay has no source distribution: build the wheel in its repository")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="path of libassay.so.0")
    parser.add_argument("--out", required=True, help="folder for the wheel")
    parser.add_argument("--platform", help="platform tag (that of the library's machine)")
    arguments = parser.parse_args()
    print(write_wheel(arguments.library, arguments.out, arguments.platform))
    return 0


if __name__ == "__main__":
    sys.exit(main())
