#!/usr/bin/env python3
"""Build the one wheel of the Python binding, with the library inside; or its source
distribution, the Python part only.

  build_wheel.py --library build/lib/libassay.so.0 --out build/wheel [--platform TAG]
  build_wheel.py --sdist --out build/sdist

Both are the same, byte for byte, for the same sources and the same library:
entries are sorted and have the time SOURCE_DATE_EPOCH, or 1980-01-01 if that is not set.
The source distribution contains neither libassay.so.0 nor its sources: its installation fails,
with a message that explains it, unless ASSAY_LIBRARY names a library or is "system".

This program needs only Python, and is the build backend of pyproject.toml as well
(PEP 517): `pip install` of bindings/python, or of the source distribution, takes the
library that ASSAY_LIBRARY names, else build/lib/libassay.so.0 of the repository.
ASSAY_LIBRARY=system makes a package that uses the system's library when it runs.
"""

from __future__ import annotations

import argparse
import base64
import calendar
import gzip
import hashlib
import io
import os
import pathlib
import posixpath
import re
import sys
import tarfile
import time
import zipfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Union

    Path = Union[str, os.PathLike[str]]
    Settings = Mapping[str, str]
    Moment = tuple[int, int, int, int, int, int]

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAME = "assay"
# The placeholder for the project's address, which a source distribution replaces by that of its
# release.
PLACEHOLDER = "assay.example"
HOME = os.environ.get("PROJECT_HOME") or PLACEHOLDER
# Maps the C library that a library needs to its part of a tag.
FLOORS = {b"libc.so.6": "manylinux_2_34", b"libc.so": "musllinux_1_2"}
FLOOR = FLOORS[b"libc.so.6"]
# Maps the number of a machine in an ELF header to its name in a tag.
MACHINES = {62: "x86_64", 183: "aarch64"}
LIBRARY = "libassay.so.0"
SYSTEM = "system"
SOURCES = (".py", ".typed")
LICENCES = (HERE / "LICENSE", ROOT / "LICENSE")
NEEDED = f"""\
This is the Python part of Assay alone; it works with {LIBRARY}, which is not Python's
to build. Do one of these:
  - install the wheel for your platform: it has the library inside
    ({NAME}-VERSION-py3-none-{FLOOR}_MACHINE.whl);
  - set ASSAY_LIBRARY to the path of a {LIBRARY}: it is put into the package;
  - set ASSAY_LIBRARY={SYSTEM} if {LIBRARY} is, or will be, where the system's loader
    finds it (a Debian package, make install): it is looked for at import.
"""
PYTHON = ">=3.9"


def version() -> str:
    """Return the version in assay/_version.py, which tools/generate.py writes."""
    text = (HERE / NAME / "_version.py").read_text()
    return text.split('__version__ = "')[1].split('"')[0]


def platform_of(library: Path) -> str:
    """Return the platform tag of a library: the machine and the C library it was built for.

    Raises SystemExit for a file that is not a shared library of a known machine, or that
    needs neither glibc nor musl.
    """
    data = pathlib.Path(library).read_bytes()
    machine = MACHINES.get(int.from_bytes(data[18:20], "little"))
    if data[:6] != b"\x7fELF\x02\x01" or machine is None:
        raise SystemExit(f"{library} is no library for one of: {', '.join(MACHINES.values())}")
    needed = [name for name in FLOORS if b"\0" + name + b"\0" in data]
    if len(needed) != 1:
        raise SystemExit(f"{library} is not for one of: glibc, musl")
    return f"{FLOORS[needed[0]]}_{machine}"


def with_absolute_links(text: str, folder: str) -> str:
    """Return the README of a folder, which is also a package's page, with links to the same text on
    the site that `make docs` makes, at the project's address."""

    def absolute(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[2]))
        if path.startswith("../"):
            raise SystemExit(f"README.md: {link[2]} leads out of the repository")
        path = re.sub("^docs/", "", path) if path.endswith(".md") else f"source/{path}"
        path = path.replace("/README.md", "/index").removesuffix(".md") + ".html"
        return f"{link[1]}(https://{HOME}/{path}{link[3] or ''})"

    pattern = r"(\[[^\]]*\])\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)"
    return re.sub(pattern, absolute, text)


def description() -> str:
    """Return the README with absolute links."""
    return with_absolute_links((HERE / "README.md").read_text(), "bindings/python")


def metadata() -> bytes:
    """Return METADATA, with the README as the description."""
    head = [
        "Metadata-Version: 2.1",
        f"Name: {NAME}",
        f"Version: {version()}",
        "Summary: Verify what Apple signs: StoreKit, receipts, App Attest; decide who may "
        "have what",
        f"Home-page: https://{HOME}",
        f"Author-email: Assay maintainers <maintainers@{HOME.partition('/')[0]}>",
        "License: Apache-2.0",
        "Keywords: apple,storekit,app-attest,devicecheck,receipt,in-app-purchase",
        f"Project-URL: Documentation, https://{HOME}/start/python.html",
        f"Project-URL: Changes, https://{HOME}/CHANGELOG.html",
        f"Requires-Python: {PYTHON}",
        "Classifier: Development Status :: 4 - Beta",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Topic :: Security :: Cryptography",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ]
    return ("\n".join(head) + "\n\n" + description()).encode()


def licence() -> bytes:
    """Return the licence, of the repository or of a source distribution."""
    return next(path for path in LICENCES if path.exists()).read_bytes()


def wheel_file(tag: str) -> bytes:
    """Return WHEEL: for every Python 3 of one platform; pure without a library inside."""
    return (
        "Wheel-Version: 1.0\n"
        "Generator: assay build_wheel.py\n"
        f"Root-Is-Purelib: {'true' if tag == 'any' else 'false'}\n"
        f"Tag: py3-none-{tag}\n"
    ).encode()


def contents(library: Path | None, tag: str) -> dict[str, bytes]:
    """Return every file of the wheel except RECORD: path in the archive -> bytes."""
    files = {
        path.relative_to(HERE).as_posix(): path.read_bytes()
        for path in (HERE / NAME).rglob("*")
        if path.suffix in SOURCES
    }
    if library is not None:
        files[f"{NAME}/{LIBRARY}"] = pathlib.Path(library).read_bytes()
    info = f"{NAME}-{version()}.dist-info"
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/WHEEL"] = wheel_file(tag)
    files[f"{info}/LICENSE"] = licence()
    return files


def record(files: dict[str, bytes], path: str) -> bytes:
    """Return RECORD: name, digest and size of every file; its own line has neither."""
    lines = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest())
        lines.append(f"{name},sha256={digest.rstrip(b'=').decode()},{len(files[name])}")
    return ("\n".join([*lines, f"{path},,"]) + "\n").encode()


def timestamp() -> Moment:
    """Return the time of every entry; a zip file begins in 1980."""
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    found = moment.tm_year, moment.tm_mon, moment.tm_mday
    return max((*found, moment.tm_hour, moment.tm_min, moment.tm_sec), (1980, 1, 1, 0, 0, 0))


def entry(name: str, moment: Moment) -> zipfile.ZipInfo:
    """Return one entry with a fixed time and mode; the library is executable."""
    found = zipfile.ZipInfo(name, moment)
    found.create_system = 3
    found.external_attr = (0o100755 if name.endswith(LIBRARY) else 0o100644) << 16
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def write_wheel(library: Path | None, out: Path, tag: str | None = None) -> pathlib.Path:
    """Write the wheel into the folder `out`, and return its path.

    With None for the library the wheel is for every platform and uses the system's.
    """
    tag = tag or ("any" if library is None else platform_of(library))
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


# ---- the source distribution ---------------------------------------------------

# The files beside the package itself; its tests need the repository.
FILES = ("README.md", "build_wheel.py", "pyproject.toml")


def sources() -> dict[str, bytes]:
    """Return every file of the distribution: path below its folder -> bytes."""
    place, home = PLACEHOLDER.encode(), HOME.encode()
    found = {name: (HERE / name).read_bytes().replace(place, home) for name in FILES}
    for folder in (NAME, "examples"):
        for path in (HERE / folder).rglob("*"):
            if path.suffix in SOURCES:
                found[path.relative_to(HERE).as_posix()] = path.read_bytes()
    found["LICENSE"] = licence()
    found["PKG-INFO"] = metadata()
    return found


def write_sdist(out: Path) -> pathlib.Path:
    """Write the distribution into the folder `out`, and return its path."""
    name = f"{NAME}-{version()}"
    target = pathlib.Path(out) / f"{name}.tar.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    moment = calendar.timegm((*timestamp(), 0, 0, 0))
    octets = io.BytesIO()
    with tarfile.open(fileobj=octets, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(sources().items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), moment, 0o644
            archive.addfile(entry, io.BytesIO(data))
    target.write_bytes(gzip.compress(octets.getvalue(), mtime=moment))
    return target


# ---- PEP 517 -----------------------------------------------------------------


def library_for(settings: Settings) -> Path | None:
    """Return the library for a wheel made by pip; None if the system's is used.

    Raises SystemExit with an explanation if there is none.
    """
    named = settings.get("library") or os.environ.get("ASSAY_LIBRARY")
    if named == SYSTEM:
        return None
    found = pathlib.Path(named) if named else ROOT / "build" / "lib" / LIBRARY
    if found.is_file() and (named or (ROOT / "include" / "assay.h").is_file()):
        return found
    why = f"{found} does not exist" if named else f"no {LIBRARY} was built or named"
    raise SystemExit(f"\nassay {version()}: {why}.\n{NEEDED}")


def build_wheel(
    wheel_directory: str,
    config_settings: Settings | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel for pip, with `--config-settings library=PATH` and `platform=TAG`."""
    settings = config_settings or {}
    library = library_for(settings)
    return write_wheel(library, wheel_directory, settings.get("platform")).name


def build_sdist(sdist_directory: str, config_settings: Settings | None = None) -> str:
    """Build the source distribution, the Python part only, for front ends."""
    return write_sdist(sdist_directory).name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--library", help="path of libassay.so.0")
    kind.add_argument("--sdist", action="store_true", help="the source distribution instead")
    parser.add_argument("--out", required=True, help="folder for the wheel")
    parser.add_argument("--platform", help="platform tag (that of the library's machine)")
    arguments = parser.parse_args()
    if arguments.sdist:
        print(write_sdist(arguments.out))
        return 0
    print(write_wheel(arguments.library, arguments.out, arguments.platform))
    return 0


if __name__ == "__main__":
    sys.exit(main())
