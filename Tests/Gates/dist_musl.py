#!/usr/bin/env python3
"""Gate: the folder of a release for musl is whole, agrees with itself, and can be used.

  dist_musl.py FOLDER --library LIBRARY --info FILE --reload PROGRAM [--suite NAME]

FOLDER is what `make dist-musl` made of LIBRARY; FILE is what it says about its build,
PROGRAM is Tests/ABI/reload.c for musl.
"""
import argparse
import json
import pathlib
import platform
import tempfile
import zipfile

import dist
from contract import ROOT, run, soname, version
from report import Suite

# What must be listed as contents, and where each comes from.
INSIDE = ["pkg:deb/debian/openssl@", "pkg:deb/debian/musl-dev@",
          "pkg:swift/github.com/swiftlang/swift@"]
NOT_INSIDE = ["libssl-dev", "libstdc", "libc6", "argument-parser"]
PROGRAM = """
#include <assay.h>
#include <stdio.h>
int main(void) {
  puts(assay_version());
  return assay_version_number() == ASSAY_VERSION_NUMBER ? 0 : 1;
}
"""


def check_tarball(suite, archive, work, options):
    good, tree = dist.unpacked(archive, work)
    suite.expect(good, "the tarball unpacks into one folder")
    for name in ["include/assay.h", f"lib/{soname()}", "lib/libassay.so", "LICENSE",
                 "COPYRIGHT", "README", "lib/pkgconfig/assay.pc", "share/man/man3/assay.3",
                 "lib/cmake/assay/assay-config.cmake"]:
        suite.expect((tree / name).exists(), f"the tarball has {name}")
    suite.expect(not (tree / "bin").exists(), "it has no program of glibc")
    library = tree / "lib" / soname()
    suite.expect(library.read_bytes() == options.library.read_bytes(), "its library is that built")
    environment = {"PKG_CONFIG_LIBDIR": str(tree / "lib/pkgconfig"), "PATH": "/usr/bin:/bin",
                   "LD_LIBRARY_PATH": str(tree / "lib")}
    flags = run("pkg-config", "--cflags", "--libs", "assay", env=environment).stdout.split()
    program = work / "program"
    result = run("musl-gcc", "-std=c99", "-x", "c", "-", "-o", program, *flags,
                      input=PROGRAM)
    suite.expect(result.returncode == 0, "a C program builds against it", result.stderr[:800])
    result = run(program, env=environment)
    suite.expect(result.returncode == 0 and result.stdout.strip() == version(),
                 "and runs", result.stdout + result.stderr)
    result = run(options.reload.resolve(), library)
    suite.expect(result.returncode == 0 and " 0 failed" in result.stdout,
                 "musl's loader loads it, and it verifies", result.stdout + result.stderr)
    return tree


def check_bill(suite, path, tree, info):
    text = path.read_text()
    bill = json.loads(text)
    suite.expect(dist.REQUIRED <= set(bill) and bill["specVersion"] == "1.5",
                 "the bill has what CycloneDX 1.5 requires")
    suite.expect(str(ROOT) not in text, "it names no folder of the machine that built it")
    components = {one["bom-ref"]: one for one in bill["components"]}
    for ref, one in components.items():
        suite.expect(one.get("name") and one.get("version") and dist.PURL.fullmatch(one["purl"])
                     and one.get("licenses") and len(one["hashes"][0]["content"]) == 64,
                     f"{ref}: name, version, purl, licence, digest")
    graph = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    suite.expect(set(graph) == set(components) | {bill["metadata"]["component"]["bom-ref"]},
                 "its dependencies name its components")
    for beginning in INSIDE:
        suite.expect(any(use.startswith(beginning) for use in graph["libassay"]),
                     f"the library holds {beginning}", str(graph["libassay"]))
    for word in NOT_INSIDE:
        suite.expect(word not in text, f"it holds nothing of {word}")
    suite.expect(components["libassay"]["hashes"][0]["content"]
                 == dist.sha256(tree / "lib" / soname()), "the library's digest is the tarball's")
    needs = [one["value"] for one in components["libassay"]["properties"]
             if one["name"] == "assay:needs"]
    suite.expect(needs == ["libc.so"], "it needs musl alone", str(needs))
    crypto = next(one for ref, one in components.items() if "/openssl@" in ref)
    suite.expect(info["libcrypto"] == f"OpenSSL {crypto['version']}",
                 "bill and library name one libcrypto", f"{info['libcrypto']}, {crypto['version']}")
    for one in crypto["properties"]:
        archive = ROOT / one["name"].split(":", 2)[2]
        suite.expect(dist.sha256(archive) == one["value"], "the digest of libcrypto.a is the file's")


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
    machine = f"assay-{version()}-linux-musl-{platform.machine()}"
    wheel = f"assay-{version()}-py3-none-musllinux_1_2_{platform.machine()}.whl"
    wanted = {f"{machine}.tar.gz", f"{machine}.cdx.json", wheel, "SHA256SUMS"}
    there = {path.name for path in folder.iterdir()}
    if suite.expect(there == wanted, "the files of the folder", str(there ^ wanted)):
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            dist.check_sums(suite, folder, work)
            tree = check_tarball(suite, folder / f"{machine}.tar.gz", work, options)
            check_bill(suite, folder / f"{machine}.cdx.json", tree, info)
            data = zipfile.ZipFile(folder / wheel).read(f"assay/{soname()}")
            suite.expect(data == options.library.read_bytes(), "the wheel has the same library")
    suite.finish()


if __name__ == "__main__":
    main()
