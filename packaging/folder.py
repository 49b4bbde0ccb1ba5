#!/usr/bin/env python3
"""Gather everything that a release publishes in one folder.

  folder.py --commit COMMIT --out build/release/assay-VERSION [--partial]

Takes what the targets of `make release` have built below build/, and makes of it the packages for
PHP and Go and the container image. The folder holds, beside README.txt:

  bin/assay        the command line for x86_64, ready to run
  python/ php/ go/ node/ debian/ linux/ lambda/ container/   packages, by who installs them
  sources/ site/                                       the sources and the documentation
  sbom/            what is linked in, one bill of materials a system (CycloneDX)
  provenance.json  which commit and which parts all of this was made of (in-toto, SLSA)
  SHA256SUMS       of all other files; the one to sign

A part that was not built, or was built from another commit or home, ends it; with --partial it is
left out and a line says so. The same builds give the same bytes.
"""
import argparse
import gzip
import hashlib
import io
import json
import pathlib
import shutil
import sys
import tarfile
import tempfile
import zipfile

import archive
import host_packages
import image
import release
from release import ROOT

BUILD = ROOT / "build"
NAME = f"assay-{release.version()}"
# Folder of the release: patterns of the files that go there as they are. Each matches a file.
COPIED = {
    "python": ["dist/{name}/*.whl", "arm64/dist/{name}/*.whl", "musl/dist/{name}/*.whl",
               "musl-arm64/dist/{name}/*.whl", "wheel-testing/*.whl", "sdist/{name}.tar.gz"],
    "node": ["npm/{name}.tgz", "npm/{name}-linux-x64-glibc.tgz", "npm/{name}-linux-x64-musl.tgz",
             "npm/{name}-linux-arm64-glibc.tgz", "npm/{name}-linux-arm64-musl.tgz"],
    "linux": ["dist/{name}/{name}-linux-x86_64.tar.gz", "arm64/dist/{name}/*.tar.gz",
              "musl/dist/{name}/*.tar.gz", "musl-arm64/dist/{name}/*.tar.gz"],
    "debian": ["deb/*.deb", "arm64/deb/*.deb"],
    "lambda": ["layer/*x86_64.zip", "layer/*arm64.zip"],
    "sources": ["dist/{name}/{name}.tar.gz"],
    "sbom": ["dist/{name}/*.cdx.json", "arm64/dist/{name}/*.cdx.json",
             "musl/dist/{name}/*.cdx.json", "musl-arm64/dist/{name}/*.cdx.json"],
}
# What the packages for PHP and Go are made of, by the names that they have there.
LIBRARIES = {"x86_64-linux-gnu": "lib", "aarch64-linux-gnu": "arm64/lib",
             "x86_64-linux-musl": "musl/lib", "aarch64-linux-musl": "musl-arm64/lib"}
ARCHIVES = ["amd64", "arm64"]
# What a tag ends with: by processor, the tarball that the image is made of.
IMAGES = {"": {"amd64": "linux-x86_64", "arm64": "linux-aarch64"},
          "-musl": {"amd64": "linux-musl-x86_64", "arm64": "linux-musl-aarch64"}}
README = """Assay {version}, commit {commit}

  bin/assay   the command line for x86_64, ready to run
  python/     wheels for pip: glibc (manylinux), Alpine (musllinux); assay_testing has the
              command assay and pytest's fixture
  php/        the Composer package with the library inside; the folder is a repository of
              artifacts to Composer
  go/         a module proxy: GONOSUMDB=assay.example GOPROXY=file://.../go
  node/       npm install node/assay-{version}.tgz: all systems; the others have one each
  debian/     libassay0 and libassay-dev for both processors; assay, the command line
  linux/      tarballs: header, library, pkg-config, CMake, manual; on x86_64 bin/assay too
  lambda/     layers for AWS Lambda
  container/  images to copy from (OCI layouts): glibc, and Alpine
  sources/    everything that the rest was made of, and where Swift packages start
  site/       the documentation, to unpack
  sbom/       what is linked in;  provenance.json: how it was made
  SHA256SUMS  sha256sum --check SHA256SUMS

How to install each: site, page Install. It needs no compiler, but for Go and Swift.
"""


class Release:
    """The folder that is being filled."""

    def __init__(self, folder, commit, partial):
        self.folder, self.commit, self.partial = folder, commit, partial

    def write(self, name, octets):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(octets)

    def lacks(self, what):
        if not self.partial:
            sys.exit(f"release: {what}: make release makes it")
        print(f"release: left out: {what}", file=sys.stderr)
        return False

    def copy(self):
        for place, patterns in COPIED.items():
            for pattern in patterns:
                found = sorted(BUILD.glob(pattern.format(name=NAME)))
                for path in filter(self.fits, found):
                    self.write(f"{place}/{path.name}", path.read_bytes())
                if not found:
                    self.lacks(f"no build/{pattern.format(name=NAME)}")

    def fits(self, path):
        """Return whether a file is there, and of this commit and home, where it says so."""
        name = path.relative_to(ROOT)
        if not path.exists():
            return self.lacks(f"no {name}")
        said = content(path)
        if (b"\x7fELF" in said or path.suffix == ".a") and self.commit.encode() not in said:
            return self.lacks(f"{name} is of another commit")
        if b"Home-page: " in said and f"Home-page: https://{release.home()}\n".encode() not in said:
            return self.lacks(f"{name} is of another home")
        return True

    def built(self, paths):
        """Return {name: path} of those that fit."""
        return {name: path for name, path in paths.items() if self.fits(path)}

    def program(self):
        """Take the command line out of its tarball."""
        path = self.folder / f"linux/{NAME}-linux-x86_64.tar.gz"
        if path.exists():
            with tarfile.open(path) as given:
                self.write("bin/assay", given.extractfile(f"{NAME}-linux-x86_64/bin/assay").read())
            (self.folder / "bin/assay").chmod(0o755)

    def site(self, epoch):
        folder = BUILD / "docs"
        if not (folder / "index.html").exists():
            self.lacks("no build/docs")
            return
        with tempfile.TemporaryDirectory() as work:
            copy = pathlib.Path(work) / "site"
            shutil.copytree(folder, copy)
            release.name_home(copy)
            self.write(f"site/{NAME}-site.tar.gz", archive.tarball(copy, f"{NAME}-site", epoch))

    def packages(self, epoch):
        libraries = self.built({system: BUILD / place / release.soname()
                                for system, place in LIBRARIES.items()})
        self.write(f"php/{NAME}.zip", host_packages.php(libraries, epoch))
        archives = self.built({machine: BUILD / f"archive/libassay_{machine}.a"
                               for machine in ARCHIVES})
        for path, octets in host_packages.go(archives, epoch).items():
            self.write(f"go/{path}", octets)

    def image(self, epoch):
        for libc, machines in IMAGES.items():
            paths = {machine: self.folder / f"linux/{NAME}-{system}.tar.gz"
                     for machine, system in machines.items()}
            there = {machine: path.read_bytes() for machine, path in paths.items()
                     if path.exists()}
            if there:
                self.write(f"container/{NAME}{libc}.oci.tar", image.write(
                    f"assay:{release.version()}{libc}", there, self.commit, epoch))

    def sums(self):
        """Return {path: digest} of every file so far, in order."""
        return {path.relative_to(self.folder).as_posix(): sha256(path)
                for path in sorted(self.folder.rglob("*")) if path.is_file()}

    def provenance(self):
        """Return the statement of how the files were made: in-toto's, with SLSA's predicate."""
        home = f"https://{release.home()}"
        parts = {one["purl"]: one["hashes"][0]["content"]
                 for path in sorted((self.folder / "sbom").glob("*.json"))
                 for one in json.loads(path.read_text())["components"]
                 if one["purl"].startswith(("pkg:deb", "pkg:swift"))}
        return {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": name, "digest": {"sha256": digest}}
                        for name, digest in self.sums().items()],
            "predicateType": "https://slsa.dev/provenance/v1",
            "predicate": {
                "buildDefinition": {
                    "buildType": f"{home}/releasing.html",
                    "externalParameters": {"version": release.version(), "command": "make release",
                                           "PROJECT_HOME": release.home()},
                    "resolvedDependencies": [
                        {"uri": f"git+{home}", "digest": {"gitCommit": self.commit}},
                        *({"uri": purl, "digest": {"sha256": digest}}
                          for purl, digest in sorted(parts.items()))]},
                "runDetails": {"builder": {"id": f"{home}/releasing.html"}}}}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def content(path):
    """Return the bytes of a package's files that say what it is of: libraries and metadata."""
    if path.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(path) as given:
            return b"".join(given.read(name) for name in given.namelist()
                            if release.soname() in name or name.endswith("/METADATA"))
    if path.name.endswith((".tar.gz", ".tgz")):
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(path.read_bytes()))) as given:
            return b"".join(given.extractfile(entry).read() for entry in given if entry.isreg()
                            and entry.name.endswith((f"/{release.soname()}", "/PKG-INFO")))
    return path.read_bytes() if path.name == release.soname() or path.suffix == ".a" else b""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--partial", action="store_true")
    options = parser.parse_args()
    epoch = release.epoch()
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    made = Release(options.out, options.commit, options.partial)
    made.copy()
    made.program()
    made.site(epoch)
    made.packages(epoch)
    made.image(epoch)
    made.write("README.txt", release.at_home(README.format(
        version=release.version(), commit=options.commit).encode()))
    made.write("provenance.json", json.dumps(made.provenance(), indent=1).encode() + b"\n")
    made.write("SHA256SUMS", "".join(f"{digest}  {name}\n"
                                     for name, digest in made.sums().items()).encode())
    for name in sorted(made.sums()):
        print(f"{options.out / name}: {(options.out / name).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
