#!/usr/bin/env python3
"""Check that the folder of a release is complete and consistent, and that it can be used.

  dist.py FOLDER [--suite NAME]

FOLDER is what `make dist` made of the builds in build/ and .build/.
"""
import argparse
import ctypes
import hashlib
import json
import os
import pathlib
import platform
import re
import sys
import tarfile
import tempfile
import zipfile

from project import ROOT, run, soname, version
from report import Suite

REQUIRED = {"bomFormat", "specVersion", "serialNumber", "version", "metadata", "components",
            "dependencies"}
PURL = re.compile(r"pkg:(generic|deb|swift)/[^@\s]+@[^@\s]+")
# Components that the bill of materials must list for each file, by the beginning of their purl.
INSIDE = {
    "libassay": ["pkg:deb/debian/libssl-dev@", "pkg:swift/github.com/swiftlang/swift@"],
    "assay-command-line": ["pkg:swift/github.com/swiftlang/swift@",
                           "pkg:deb/debian/libssl-dev@"],
}
NOT_INSIDE = {name: ["argument-parser", "foundation", "libdispatch"] for name in INSIDE}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build_info(library):
    loaded = ctypes.CDLL(str(library))
    loaded.assay_build_info.restype = ctypes.c_char_p
    return json.loads(loaded.assay_build_info())


def check_sums(suite, folder, work):
    result = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=folder)
    suite.expect(result.returncode == 0, "SHA256SUMS verifies", result.stdout + result.stderr)
    listed = {line.split("  ", 1)[1] for line in
              (folder / "SHA256SUMS").read_text().splitlines()}
    there = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    suite.expect(listed == there, "SHA256SUMS lists every file", str(listed ^ there))
    copy = work / "changed"
    copy.mkdir()
    for path in folder.iterdir():
        data = path.read_bytes()
        (copy / path.name).write_bytes(data + b"x" if path.suffix == ".json" else data)
    suite.expect(run("sha256sum", "--check", "SHA256SUMS", cwd=copy).returncode != 0,
                 "a file that was changed is seen")


def wanted_files():
    name, machine = f"assay-{version()}", platform.machine()
    return {f"{name}.tar.gz", f"{name}-linux-{machine}.tar.gz", f"{name}.cdx.json",
            f"{name}-py3-none-manylinux_2_34_{machine}.whl", "SHA256SUMS"}


def unpacked(archive, work):
    """Unpack a tarball with one folder and check plain owners and modes, and paths that stay
    inside."""
    with tarfile.open(archive) as file:
        entries = file.getmembers()
        bad = [entry.name for entry in entries if entry.name.startswith("/")
               or ".." in entry.name.split("/") or entry.uid or entry.gid]
        tops = {entry.name.split("/")[0] for entry in entries}
    result = run("tar", "-xzf", archive, "-C", work)
    return result.returncode == 0 and not bad and len(tops) == 1, work / tops.pop()


PROGRAM = """
#include <assay.h>
#include <stdio.h>
int main(void) {
  puts(assay_version());
  return assay_version_number() == ASSAY_VERSION_NUMBER ? 0 : 1;
}
"""


def check_program(suite, compiler, flags, program, environment):
    result = run(compiler, "-std=c99", "-x", "c", "-", "-o", program, *flags, input=PROGRAM)
    suite.expect(result.returncode == 0, "a C program builds against it", result.stderr[:800])
    result = run(program, env=environment)
    suite.expect(result.returncode == 0 and result.stdout.strip() == version(),
                 "and runs", result.stdout + result.stderr)


def check_binaries(suite, folder, work):
    """Check that a C program builds against the unpacked tarball, in any folder, and runs."""
    archive = folder / f"assay-{version()}-linux-{platform.machine()}.tar.gz"
    good, tree = unpacked(archive, work)
    suite.expect(good, "the tarball of the library unpacks into one folder")
    for name in ["include/assay.h", "include/assay.hpp", "include/assay_names.h",
                 f"lib/{soname()}", "lib/libassay.so",
                 "bin/assay", "LICENSE", "COPYRIGHT", "README", "lib/pkgconfig/assay.pc",
                 "lib/cmake/assay/assay-config.cmake", "share/man/man1/assay.1",
                 "share/man/man3/assay.3", "share/man/man7/assay-statuses.7",
                 "share/bash-completion/completions/assay"]:
        suite.expect((tree / name).exists(), f"the tarball has {name}")
    result = run(sys.executable, ROOT / "Tests/Gates/library.py", tree / "lib" / soname(),
                 "--shape", "embedded", "--crypto", "static", "--suite", "dist-library")
    suite.expect(result.returncode == 0, "its library keeps its limits", result.stdout[-1000:])
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(tree / "lib/pkgconfig"),
                       LD_LIBRARY_PATH=str(tree / "lib"))
    said = run("pkg-config", "--modversion", "assay", env=environment).stdout.strip()
    suite.expect(said == version(), "its assay.pc has the version", said)
    flags = run("pkg-config", "--cflags", "--libs", "assay", env=environment).stdout.split()
    suite.expect(any(str(tree.name) in flag for flag in flags),
                 "its assay.pc leads into the tarball", " ".join(flags))
    check_program(suite, "gcc", flags, work / "program", environment)
    result = run(tree / "bin/assay", "--help")
    suite.expect(result.returncode == 0, "its command line runs", result.stderr[:300])
    return tree


def check_sources(suite, folder, work):
    """Check that the source tarball is git's tree plus the generated manual and page of statuses,
    and that its own tools find nothing stale."""
    good, tree = unpacked(folder / f"assay-{version()}.tar.gz", work)
    suite.expect(good, "the source tarball unpacks into one folder")
    listed = set(run("git", "ls-tree", "-r", "--name-only", "HEAD", cwd=ROOT).stdout.split("\n"))
    there = {str(path.relative_to(tree)) for path in tree.rglob("*") if not path.is_dir()}
    pages = ["assay.1", "assay.3", "assay-statuses.7"]
    listed |= {"docs/statuses.md", *(f"man/{page}" for page in pages)}
    suite.expect(listed - {""} == there, "it has what git has", str(listed ^ there)[:500])
    result = run(sys.executable, "-B", "tools/generate.py", "--check", cwd=tree)
    suite.expect(result.returncode == 0, "its generated files are in step", result.stdout)
    environment = {key: value for key, value in os.environ.items() if "MAKE" not in key}
    result = run("make", "--no-print-directory", "help", cwd=tree, env=environment)
    suite.expect(result.returncode == 0 and "make install" in result.stdout,
                 "its Makefile reads", result.stderr[:500])
    result = run("make", "install-lib-files", "install-cli-files", f"OUT={ROOT}/build/lib",
                 f"CLI={ROOT}/.build/release/assay-cli", "PREFIX=/installed", f"DESTDIR={work}",
                 "PYTHON=false", cwd=tree, env=environment)
    suite.expect(result.returncode == 0 and all(
        (work / f"installed/share/man/man{page[-1]}" / page).read_bytes()
        == (tree / "man" / page).read_bytes() for page in pages),
        "its manual is installed without python3", result.stderr[-500:])


def check_wheels(suite, folder, tree):
    wheels = sorted(folder.glob("*.whl"))
    suite.expect(wheels, "there is a wheel")
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            suite.expect(wheel.testzip() is None, f"{path.name} is whole")
            if platform.machine() in path.name:
                data = wheel.read(f"assay/{soname()}")
                suite.expect(data == (tree / "lib" / soname()).read_bytes(),
                             f"{path.name} has the library of the tarball")


def check_bill(suite, path, tree, info, inside, not_inside):
    """Check one bill of materials; `info` is the library's description of its build."""
    bill = json.loads(path.read_text())
    suite.expect(REQUIRED <= set(bill) and bill["bomFormat"] == "CycloneDX"
                 and bill["specVersion"] == "1.5", "the bill has what CycloneDX 1.5 requires")
    suite.expect(re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                              bill["serialNumber"]), "its serial number is a UUID")
    components = {one["bom-ref"]: one for one in bill["components"]}
    suite.expect(len(components) == len(bill["components"]), "its references are unique")
    for ref, one in components.items():
        suite.expect(one.get("name") and one.get("version") and PURL.fullmatch(one["purl"])
                     and one.get("licenses") and len(one["hashes"][0]["content"]) == 64,
                     f"{ref}: name, version, purl, licence, digest")
    graph = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    known = set(components) | {bill["metadata"]["component"]["bom-ref"]}
    suite.expect(set(graph) == known and all(set(uses) <= known for uses in graph.values()),
                 "its dependencies name its components", str(set(graph) ^ known))
    for ref, beginnings in inside.items():
        for beginning in beginnings:
            suite.expect(any(use.startswith(beginning) for use in graph[ref]),
                         f"{ref} holds {beginning}", str(graph[ref]))
    for ref, words in not_inside.items():
        suite.expect(not any(word in use for use in graph[ref] for word in words),
                     f"{ref} holds no {' '.join(words)}", str(graph[ref]))
    check_agreement(suite, bill, components, graph, tree, info)


def check_agreement(suite, bill, components, graph, tree, info):
    """Check that the bill, the library and the header agree."""
    suite.expect(bill["metadata"]["component"]["version"] == info["version"] == version(),
                 "bill, library and header have one version", info["version"])
    for ref, place in [("libassay", f"lib/{soname()}"), ("assay-command-line", "bin/assay")]:
        if (tree / place).exists() or ref in components:
            suite.expect(components[ref]["hashes"][0]["content"] == sha256(tree / place),
                         f"the digest of {place} is that of the tarball")
    crypto = next(components[use] for use in graph["libassay"]
                  if "libssl-dev" in use or "/openssl@" in use)
    suite.expect(info["libcrypto"] == f"OpenSSL {crypto['version']}",
                 "the bill names the libcrypto that the library names", crypto["version"])
    archive = dict((one["name"], one["value"]) for one in crypto["properties"])
    suite.expect(all(sha256(ROOT / name.split(":", 2)[2]) == digest
                     for name, digest in archive.items()) and archive,
                 "the digest of libcrypto.a is that of the file")


def make_again(out, commit, *options, **more):
    """Run packaging/dist.py over the same builds."""
    return run(sys.executable, ROOT / "packaging/dist.py", "--library",
               ROOT / "build/lib" / soname(), "--library-map", ROOT / "build/link/embedded.map",
               "--program", ROOT / ".build/release/assay-cli", "--program-map",
               ROOT / "build/link/cli.map", "--commit", commit, "--out", out, *options, **more)


def check_reproducible(suite, folder, work):
    """Check that a second release from the same builds, in another folder, has the same bytes."""
    commit = build_info(ROOT / "build/lib" / soname())["commit"]
    again = work / f"again/assay-{version()}"
    result = make_again(again, commit, "--old-libcrypto")
    suite.expect(result.returncode == 0, "it can be made again", result.stderr[-800:])
    for path in sorted(folder.iterdir()):
        other = again / path.name
        suite.expect(other.exists() and sha256(other) == sha256(path),
                     f"{path.name} is reproducible")
    result = make_again(again, "000000000000", "--old-libcrypto")
    suite.expect(result.returncode != 0 and commit in result.stderr,
                 "a library of another commit is refused", result.stderr[-500:])


def check_old_libcrypto(suite, work):
    """Check that no release is made, with a message, if apt offers a newer libcrypto than the
    library's."""
    info = build_info(ROOT / "build/lib" / soname())
    revision = info["libcrypto"].removeprefix("OpenSSL ")
    tools = work / "tools"
    tools.mkdir()
    for candidate, met in [("99.0-1", True), (revision, False), ("0.9.8-1", False),
                           ("(none)", False), ("", False)]:
        apt = tools / "apt-cache"
        apt.write_text(f"#!/bin/sh\n[ \"$*\" = 'policy libssl-dev' ] &&"
                       f" printf 'libssl-dev:\\n  Candidate: %s\\n' '{candidate}'\n")
        apt.chmod(0o755)
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
        older = run(ROOT / "tools/deps.sh", "--older", revision, env=environment)
        suite.expect((older.returncode == 0, candidate in older.stderr) == (met, met)
                     or not met and older.returncode != 0,
                     f"what apt has: {candidate or 'nothing'}", older.stderr)
        if met:
            made = make_again(work / "old", info["commit"], env=environment)
            suite.expect(made.returncode != 0 and candidate in made.stderr
                         and not (work / "old").exists(),
                         "a release refuses an old libcrypto", made.stderr[-500:])


def check_unknown(suite, work):
    """Check that an unknown component stops the release instead of being left out of the bill."""
    text = (ROOT / "build/link/embedded.map").read_text(errors="replace")
    for path in ["/opt/other/libother.a(x.o):(.text)",
                 f"{ROOT}/.build/x86_64/release/Other.build/x.swift.o:(.text)"]:
        other = work / "other.map"
        other.write_text(text + f"  1234   1234     40    16         {path}\n")
        result = run(sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); "
                     "import linked; print(len(linked.components(sys.argv[2])))",
                     ROOT / "packaging", other)
        suite.expect(result.returncode == 1 and "no Debian package has it" in result.stderr,
                     f"{path} is not passed over", result.stdout + result.stderr[-300:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--suite", default="dist")
    options = parser.parse_args()
    folder = options.folder.resolve()
    suite = Suite(options.suite)
    there = {path.name for path in folder.iterdir()}
    suite.expect(wanted_files() <= there, "the files of a release",
                 str(wanted_files() - there))
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        check_sums(suite, folder, work)
        tree = check_binaries(suite, folder, work)
        check_sources(suite, folder, work)
        check_wheels(suite, folder, tree)
        check_bill(suite, folder / f"assay-{version()}.cdx.json", tree,
                   build_info(tree / "lib" / soname()), INSIDE, NOT_INSIDE)
        check_reproducible(suite, folder, work)
        check_old_libcrypto(suite, work)
        check_unknown(suite, work)
    suite.finish()


if __name__ == "__main__":
    main()
