#!/usr/bin/env python3
"""Write the package of Node.js as tarballs that npm installs, without npm.

  npm_package.py --package build/node/node_modules/assay [--other PLATFORM:FOLDER …] --out build/npm

--package is what `make node` lays out. Each --other is one more platform: its addon lies in
build/node/prebuilds/PLATFORM, its library in build/FOLDER/lib; it is left out, with a word, if it
was not built, or of another commit. NAME-VERSION.tgz has all platforms; each NAME-VERSION-PLATFORM.tgz
has one, and `os`, `cpu` and `libc` in its package.json. Beside each library lie sbom.cdx.json, what
is linked in, and build.json, what it says of its build; SHA256SUMS is of all files. The same
builds of the same commit give the same bytes.
"""
import argparse
import hashlib
import json
import pathlib
import shutil
import sys
import typing

import archive
import release
import sbom
from release import ROOT

sys.path.append(str(ROOT / "bindings/python"))

import build_wheel  # noqa: E402

BUILD = ROOT / "build"
ADDON = "assay.node"


class Prebuilt(typing.NamedTuple):
    """What the package has of one platform."""

    platform: str
    addon: pathlib.Path
    library: pathlib.Path
    linked: pathlib.Path  # the linker's report
    info: dict  # what the library says of its build

    def files(self, epoch):
        """Return {path in the package: its bytes}."""
        bill = sbom.document(self.library, self.linked, None, None, self.info, epoch, self.addon)
        found = {ADDON: self.addon.read_bytes(), release.soname(): self.library.read_bytes(),
                 "sbom.cdx.json": bill.encode(), "build.json": encoded(self.info)}
        return {f"prebuilds/{self.platform}/{name}": octets for name, octets in found.items()}


def sha256(octets):
    return hashlib.sha256(octets).hexdigest()


def encoded(value):
    return json.dumps(value, indent=2).encode() + b"\n"


def own(package):
    """Return this machine's platform."""
    place, = (package / "prebuilds").iterdir()
    library = place / release.soname()
    return Prebuilt(place.name, place / ADDON, library, BUILD / "link/embedded.map",
                    sbom.build_info(library))


def other(platform, folder, commit):
    """Return another platform; None if it was not built from this commit."""
    place, addon = BUILD / folder, BUILD / "node/prebuilds" / platform / ADDON
    info = place / "info.json"
    if not addon.exists() or not info.exists():
        print(f"left out: {platform}: it was not built")
        return None
    made = Prebuilt(platform, addon, place / "lib" / release.soname(), place / "library.map",
                    json.loads(info.read_text()))
    if made.info["commit"] == commit:
        return made
    print(f"left out: {platform}: its library is of another commit")
    return None


def common(package):
    """Return {path: bytes} of what no platform has for itself."""
    found = {path.relative_to(package).as_posix(): path.read_bytes()
             for path in package.rglob("*") if path.is_file() and path.suffix != ".h"}
    found = {path: octets for path, octets in found.items() if not path.startswith("prebuilds/")}
    page = build_wheel.with_absolute_links(found["README.md"].decode(), "bindings/node")
    found |= {"README.md": page.encode(), "LICENSE": (ROOT / "LICENSE").read_bytes()}
    return {path: release.at_home(octets) for path, octets in found.items()}


def tarball(files, manifest, epoch):
    """Return the bytes of the tarball of {path: bytes}, with their sums."""
    files = {**files, "package.json": encoded(manifest)}
    files["SHA256SUMS"] = "".join(f"{sha256(octets)}  {path}\n"
                                  for path, octets in sorted(files.items())).encode()
    return archive.tarred({f"package/{path}": octets for path, octets in files.items()}, epoch)


def build(package, prebuilt, out):
    """Write the tarballs into an empty folder; return their paths, that of all platforms first."""
    epoch, files = release.epoch(), common(package)
    manifest = json.loads(files["package.json"])
    name = f"{manifest['name']}-{manifest['version']}"
    binaries = {one.platform: one.files(epoch) for one in prebuilt}
    everything = {path: octets for each in binaries.values() for path, octets in each.items()}
    made = {f"{name}.tgz": tarball(files | everything, manifest, epoch)}
    for platform, below in binaries.items():
        words = dict(zip(("os", "cpu", "libc"), ([word] for word in platform.split("-"))))
        made[f"{name}-{platform}.tgz"] = tarball(files | below, manifest | words, epoch)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path, octets in made.items():
        (out / path).write_bytes(octets)
    return [out / path for path in made]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=pathlib.Path, required=True)
    parser.add_argument("--other", action="append", default=[])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    first = own(options.package)
    others = [other(*words.split(":"), first.info["commit"]) for words in options.other]
    for path in build(options.package, [first, *filter(None, others)], options.out):
        print(f"wrote {path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
