#!/usr/bin/env python3
"""Build the source distribution of the Python binding: the Python part alone.

  build_sdist.py --out build/sdist

libassay.so.0 is not in it, nor what it is built from. Installing it therefore fails,
with what to do, unless ASSAY_LIBRARY names a library or is "system" (build_wheel.py).
The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import calendar
import gzip
import io
import pathlib
import sys
import tarfile

import build_wheel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from build_wheel import Path

# Beside the package itself; what tests it needs the repository.
FILES = ("README.md", "build_sdist.py", "build_wheel.py", "pyproject.toml")


def contents() -> dict[str, bytes]:
    """Every file of the distribution, at home: path below its folder -> bytes."""
    here = build_wheel.HERE
    place, home = build_wheel.PLACEHOLDER.encode(), build_wheel.HOME.encode()
    found = {name: (here / name).read_bytes().replace(place, home) for name in FILES}
    for folder in (build_wheel.NAME, "examples"):
        for path in (here / folder).rglob("*"):
            if path.suffix in build_wheel.SOURCES:
                found[path.relative_to(here).as_posix()] = path.read_bytes()
    found["LICENSE"] = build_wheel.licence()
    found["PKG-INFO"] = build_wheel.metadata()
    return found


def write_sdist(out: Path) -> pathlib.Path:
    """Write the distribution into the folder `out`; returns its path."""
    name = f"{build_wheel.NAME}-{build_wheel.version()}"
    target = pathlib.Path(out) / f"{name}.tar.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    moment = calendar.timegm((*build_wheel.timestamp(), 0, 0, 0))
    octets = io.BytesIO()
    with tarfile.open(fileobj=octets, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(contents().items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), moment, 0o644
            archive.addfile(entry, io.BytesIO(data))
    target.write_bytes(gzip.compress(octets.getvalue(), mtime=moment))
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder for the distribution")
    print(write_sdist(parser.parse_args().out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
