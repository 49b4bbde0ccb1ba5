#!/usr/bin/env python3
"""Make the folder of a release: sources, binaries, wheels, and a bill of materials.

  dist.py --library L --library-map M [--program P --program-map M]
          [--system SYSTEM --info FILE] [--old-libcrypto] --commit COMMIT
          --out build/dist/assay-VERSION

  assay-VERSION.tar.gz               the sources, as git has them; man/, docs/statuses.md
  assay-VERSION-linux-MACHINE.tar.gz the library, the command line, their files
  assay-VERSION-py3-none-*.whl       the Python wheel of this machine, and those
                                     of other machines that build/ has
  assay-VERSION.cdx.json             the linked components (CycloneDX 1.5)
  SHA256SUMS                         of all of these

No release is made if apt has a newer libcrypto than the library, unless --old-libcrypto is given.

Without a program, the folder is for a library built for another system, linux-musl-x86_64 or
linux-aarch64 (make dist-musl, make dist-arm64): a tarball of that name, its wheel, its bill and the
sums. FILE is the library's description of its build (assay_build_info), because this machine cannot
load the library.

The same commit and the same builds give the same bytes: all archives have the time of the commit,
or SOURCE_DATE_EPOCH. All packages name PROJECT_HOME as the project's home (release.py).
"""
import argparse
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import archive
import release
import sbom
from release import ROOT

sys.path.append(str(ROOT / "tools"))

from contract.pages import write_statuses_page
from contract.reader import Contract


# Systems of a library without the command line, and the README of their tarballs.
SYSTEMS = {"linux-musl-x86_64": "README.musl", "linux-musl-aarch64": "README.musl",
           "linux-aarch64": "README.aarch64"}


def check_library(options):
    """Check that the library was built from this commit."""
    commit = options.info["commit"]
    if commit != options.commit:
        sys.exit(f"dist: the library was built from {commit}, not {options.commit}: run make")
    if commit == "unknown":
        sys.exit("dist: a release is made from a git clone")
    if commit.endswith("-dirty"):
        print("dist: the tree has changes that are not committed: the source tarball is that "
              "of the last commit, the library is not", file=sys.stderr)


def check_libcrypto(options):
    """Check that the libcrypto inside is the newest that apt has."""
    revision = options.info["libcrypto"].removeprefix("OpenSSL ")
    older = subprocess.run([ROOT / "tools/deps.sh", "--older", revision], check=False)
    if older.returncode == 0 and not options.old_libcrypto:
        sys.exit("dist: a release has no libcrypto that is known to be old; OLD_LIBCRYPTO=1 "
                 "makes the folder all the same")


def sources(name, tree):
    """Return the tarball of the last commit, whose id git archive stores in it, with the project's
    home written in and with two parts that git does not have: the manual, as installed, and the
    page of statuses."""
    page = tree.parent / "statuses.md"
    page.write_text(write_statuses_page(Contract()) + "\n")
    manual = sorted(path for path in (tree / "share/man").glob("*/*") if not path.is_symlink())
    tar = subprocess.run(["git", "archive", "--format=tar", f"--prefix={name}/docs/",
                          f"--add-file={page}", f"--prefix={name}/man/",
                          *(f"--add-file={path}" for path in manual), f"--prefix={name}/", "HEAD"],
                         cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(tar)) as given, tarfile.open(
            fileobj=out, mode="w", format=tarfile.PAX_FORMAT,
            pax_headers=given.pax_headers) as made:
        for entry in given:
            octets = release.at_home(given.extractfile(entry).read()) if entry.isreg() else b""
            entry.size = len(octets)
            made.addfile(entry, io.BytesIO(octets))
    return archive.compressed(out.getvalue())


def staged(stage, name, options):
    """Return the folder with the files that `make install` would install below a prefix."""
    release.stage(stage, options.library, options.program, f"/{name}",
                  "PC_PREFIX=$${pcfiledir}/../..")
    folder = stage / name
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    shutil.copy(ROOT / "packaging/debian/copyright", folder / "COPYRIGHT")
    readme = "README.tarball" if options.program else SYSTEMS[options.system]
    shutil.copy(ROOT / "packaging" / readme, folder / "README")
    release.name_home(folder)
    return folder


def own_wheel(options, out, epoch):
    subprocess.run([sys.executable, ROOT / "bindings/python/build_wheel.py", "--library",
                    options.library, "--out", out], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, SOURCE_DATE_EPOCH=str(epoch)))


def other_wheels(options, out):
    """Copy wheels for other machines that were built earlier from the same commit."""
    for path in sorted((ROOT / "build").glob(f"*/wheel/assay-{release.version()}-*.whl")):
        if (out / path.name).exists() or platform.machine() in path.name:
            continue
        said = wheel_says(path)
        if options.commit.encode() in said and f"https://{release.home()}\n".encode() in said:
            shutil.copy(path, out / path.name)
        else:
            print(f"dist: {path.name} is left out: it is not of {options.commit}, or of "
                  "another home", file=sys.stderr)


def wheel_says(path):
    """Return the bytes of a wheel that identify it: the library names the commit that it was built
    from, the metadata the project's home."""
    with zipfile.ZipFile(path) as wheel:
        return b"".join(wheel.read(name) for name in wheel.namelist()
                        if "libassay.so" in name or name.endswith("/METADATA"))


def sums(folder):
    """Return SHA256SUMS in the format of sha256sum."""
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
                   for path in sorted(folder.iterdir()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("library", "library-map", "out"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    for name in ("program", "program-map", "info"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    parser.add_argument("--system", choices=SYSTEMS)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--old-libcrypto", action="store_true")
    options = parser.parse_args()
    if bool(options.program) == bool(options.system):
        parser.error("either a program or another system")
    options.library = options.library.resolve()
    options.program = options.program and options.program.resolve()
    options.info = (json.loads(options.info.read_text()) if options.info
                    else sbom.build_info(options.library))
    check_library(options)
    check_libcrypto(options)
    epoch = release.epoch()
    name = f"assay-{release.version()}"
    machine = f"{name}-{options.system or f'linux-{platform.machine()}'}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / name
        folder.mkdir()
        tree = staged(pathlib.Path(temporary) / "stage", machine, options)
        (folder / f"{machine}.tar.gz").write_bytes(archive.tarball(tree, machine, epoch))
        own_wheel(options, folder, epoch)
        bill = f"{machine}.cdx.json"
        if options.program:
            (folder / f"{name}.tar.gz").write_bytes(sources(name, tree))
            other_wheels(options, folder)
            bill = f"{name}.cdx.json"
        (folder / bill).write_text(sbom.document(
            tree / "lib" / release.soname(), options.library_map,
            tree / "bin/assay" if options.program else None, options.program_map,
            options.info, epoch))
        (folder / "SHA256SUMS").write_text(sums(folder))
        shutil.rmtree(options.out, ignore_errors=True)
        shutil.copytree(folder, options.out)
    for path in sorted(options.out.iterdir()):
        print(f"{path}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
