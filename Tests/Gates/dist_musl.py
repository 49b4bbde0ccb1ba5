#!/usr/bin/env python3
"""Check that the folder of a release for musl is complete and consistent, and can be used.

  dist_musl.py FOLDER --library LIBRARY --info FILE --reload PROGRAM [--suite NAME]

FOLDER is what `make dist-musl` made of LIBRARY; FILE is the library's description of its build,
PROGRAM is Tests/ABI/reload.c for musl.
"""
import argparse
import json
import pathlib
import platform
import tempfile
import zipfile

import dist
from project import ROOT, soname
from report import Suite

# Components that the bill of materials must list, with the package that each comes from.
INSIDE = {"libassay": ["pkg:deb/debian/openssl@", "pkg:deb/debian/musl-dev@",
                       "pkg:swift/github.com/swiftlang/swift@"]}
NOT_INSIDE = {"libassay": ["libssl-dev", "libstdc", "libc6", "argument-parser"]}


def check_tarball(suite, archive, work, options):
    good, tree = dist.unpacked(archive, work)
    suite.expect(good, "the tarball unpacks into one folder")
    for name in ["include/assay.h", "include/assay.hpp", "include/assay_names.h",
                 f"lib/{soname()}", "lib/libassay.so",
                 "LICENSE", "COPYRIGHT", "README", "lib/pkgconfig/assay.pc", "share/man/man3/assay.3",
                 "lib/cmake/assay/assay-config.cmake"]:
        suite.expect((tree / name).exists(), f"the tarball has {name}")
    suite.expect(not (tree / "bin").exists(), "it has no program of glibc")
    library = tree / "lib" / soname()
    suite.expect(library.read_bytes() == options.library.read_bytes(), "its library is that built")
    environment = {"PKG_CONFIG_LIBDIR": str(tree / "lib/pkgconfig"), "PATH": "/usr/bin:/bin",
                   "LD_LIBRARY_PATH": str(tree / "lib")}
    flags = dist.run("pkg-config", "--cflags", "--libs", "assay", env=environment).stdout.split()
    dist.check_program(suite, "musl-gcc", flags, work / "program", environment)
    result = dist.run(options.reload.resolve(), library)
    suite.expect(result.returncode == 0 and " 0 failed" in result.stdout,
                 "musl's loader loads it, and it verifies", result.stdout + result.stderr)
    return tree


def check_needs(suite, path):
    text = path.read_text()
    suite.expect(str(ROOT) not in text, "the bill names no folder of the machine that built it")
    for word in NOT_INSIDE["libassay"]:
        suite.expect(word not in text, f"it names no {word}")
    needs = [one["value"] for component in json.loads(text)["components"]
             for one in component["properties"] if one["name"] == "assay:needs"]
    suite.expect(needs == ["libc.so"], "it needs musl alone", str(needs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    for name in ("library", "info", "reload"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--suite", default="musl-dist")
    options = parser.parse_args()
    folder = options.folder.resolve()
    suite = Suite(options.suite)
    info = json.loads(options.info.read_text())
    machine = f"assay-{dist.version()}-linux-musl-{platform.machine()}"
    wheel = f"assay-{dist.version()}-py3-none-musllinux_1_2_{platform.machine()}.whl"
    wanted = {f"{machine}.tar.gz", f"{machine}.cdx.json", wheel, "SHA256SUMS"}
    there = {path.name for path in folder.iterdir()}
    if suite.expect(there == wanted, "the files of the folder", str(there ^ wanted)):
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            dist.check_sums(suite, folder, work)
            tree = check_tarball(suite, folder / f"{machine}.tar.gz", work, options)
            bill = folder / f"{machine}.cdx.json"
            dist.check_bill(suite, bill, tree, info, INSIDE, NOT_INSIDE)
            check_needs(suite, bill)
            data = zipfile.ZipFile(folder / wheel).read(f"assay/{soname()}")
            suite.expect(data == options.library.read_bytes(), "the wheel has the same library")
    suite.finish()


if __name__ == "__main__":
    main()
