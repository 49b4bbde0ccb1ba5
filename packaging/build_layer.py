#!/usr/bin/env python3
"""Build an AWS Lambda layer: the Python package and the library.

  build_layer.py --library build/lib/libassay.so.0 --out build/layer

Lambda unpacks a layer under /opt. The archive has:

  python/assay/…              the package; Lambda's Python searches /opt/python
  python/assay/libassay.so.0  a symbolic link to the library
  lib/libassay.so.0           the library; every runtime searches /opt/lib

A tool that does not support symbolic links writes a small text file instead; the package then finds
the library in /opt/lib. The same sources and library give the same bytes: entries are sorted and
have the time of SOURCE_DATE_EPOCH, or 1980-01-01.
"""
import argparse
import pathlib
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bindings" / "python"))
import build_wheel  # noqa: E402

# Machine in a wheel's tag -> Lambda's name.
ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64"}
LINK = 0o120777


def architecture_of(library):
    """Return the Lambda architecture that a library is for."""
    tag = build_wheel.platform_of(library)
    return ARCHITECTURES[tag[len(build_wheel.FLOOR) + 1:]]


def link(name, target, moment):
    """Return an entry that is a symbolic link, and its content."""
    found = build_wheel.entry(name, moment)
    found.external_attr = LINK << 16
    return found, target.encode()


def entries(library):
    """Return every entry of the layer with its bytes, in the order of the archive."""
    moment = build_wheel.timestamp()
    name = build_wheel.LIBRARY
    inside = f"{build_wheel.NAME}/{name}"
    found = []
    for path, data in build_wheel.contents(library, build_wheel.platform_of(library)).items():
        if path == inside:
            found.append(link(f"python/{path}", f"../../lib/{name}", moment))
            found.append((build_wheel.entry(f"lib/{name}", moment), data))
        else:
            found.append((build_wheel.entry(f"python/{path}", moment), data))
    return sorted(found, key=lambda item: item[0].filename)


def write_layer(library, out):
    """Write the layer into the folder `out`; return its path."""
    target = pathlib.Path(out) / f"assay-layer-{architecture_of(library)}.zip"
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for entry, data in entries(library):
            archive.writestr(entry, data, compresslevel=9)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="path of libassay.so.0")
    parser.add_argument("--out", required=True, help="folder for the layer")
    arguments = parser.parse_args()
    layer = write_layer(arguments.library, arguments.out)
    print(f"{layer}: {layer.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
