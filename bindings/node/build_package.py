#!/usr/bin/env python3
"""Write the package of Node.js as a tarball that npm installs, without npm.

  build_package.py --package build/node/node_modules/assay [--prebuild FOLDER …] --out build/npm

The folder is what `make node` lays out; each --prebuild is one more platform, a folder named like
linux-arm64-glibc with assay.node and libassay.so.0. The tarball is the same, byte for byte, for the
same files: entries are sorted and have the time SOURCE_DATE_EPOCH, or 1985-10-26, which is npm's.
"""
import argparse
import io
import json
import os
import pathlib
import re
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import archive  # noqa: E402

BINARIES = {"assay.node", "libassay.so.0"}
PLATFORM = re.compile(r"linux-(x64|arm64)-(glibc|musl)")
# What npm gives to each file of a package.
NPM_TIME = 499162500


def files_of(package, prebuilds):
    """Return {path in the package: its bytes}."""
    found = {str(path.relative_to(package)): path.read_bytes()
             for path in package.rglob("*") if path.is_file() and path.suffix != ".h"}
    for folder in prebuilds:
        for name in sorted(BINARIES):
            found[f"prebuilds/{folder.name}/{name}"] = (folder / name).read_bytes()
    found["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    return found


def check(files):
    """End the program if a platform lacks a file, or has one too many."""
    platforms = {}
    for path in files:
        if path.startswith("prebuilds/"):
            _, platform, name = path.split("/")
            platforms.setdefault(platform, set()).add(name)
    for platform, names in platforms.items():
        if not PLATFORM.fullmatch(platform) or names != BINARIES:
            sys.exit(f"prebuilds/{platform}: {', '.join(sorted(names))}")
    if not platforms:
        sys.exit("no platform: make node")


def build(package, prebuilds, out):
    """Write the tarball, and return its path."""
    files = files_of(package, prebuilds)
    check(files)
    manifest = json.loads(files["package.json"])
    octets = io.BytesIO()
    with tarfile.open(fileobj=octets, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mode = len(files[path]), 0o644
            entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH") or NPM_TIME)
            tar.addfile(entry, io.BytesIO(files[path]))
    target = out / f"{manifest['name']}-{manifest['version']}.tgz"
    out.mkdir(parents=True, exist_ok=True)
    target.write_bytes(archive.compressed(octets.getvalue()))
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=pathlib.Path, required=True)
    parser.add_argument("--prebuild", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    target = build(options.package, options.prebuild, options.out)
    print(f"wrote {target}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
