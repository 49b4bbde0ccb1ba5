#!/usr/bin/env python3
"""Check what a built libassay.so exports, needs, weighs and contains.

  library.py LIBRARY --shape full|embedded --crypto static|shared|FILE
             [--machine NAME] [--libc glibc|musl] [--package REVISION] [--suite NAME]

FILE is the libcrypto.a or libcrypto.so of a prefix (make CRYPTO=PREFIX). REVISION is that of the
package that the static libcrypto is from, if it is not the system's. Reads the file with readelf;
loads nothing. Source of the limits: docs/building.md.
"""
import argparse
import pathlib
import platform
import re
import subprocess

import hardening
from project import ROOT, declared_functions, soname
from hardening import readelf
from report import Suite

NEEDED = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
# Name of `uname -m` -> readelf's name, the loader, the largest page size.
MACHINES = {
    "x86_64": ("Advanced Micro Devices X86-64", "ld-linux-x86-64.so.2", 1 << 12),
    "aarch64": ("AArch64", "ld-linux-aarch64.so.1", 1 << 16),
}
FLOORS = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29)}
LARGEST = {"full": 13 << 20, "embedded": int(7.4 * (1 << 20))}
# musl is a single library without symbol versions.
MUSL_NEEDED = {"libc.so"}
MUSL_LARGEST = 6_700_000
# Names of test code, sanitizers, coverage and heavier runtimes, which must not occur.
FOREIGN = ["AssayAuthority", "AssayTests", "assay-cli", "ArgumentParser",
           "LLVMFuzzer", "__asan_", "__tsan_", "__ubsan_", "__llvm_profile",
           "XCTest", "swift_testing", "FoundationEssentials", "CoreFoundation",
           "libdispatch", "swift_task_", "cJSON"]
# Weak references of start files and linker. Every other import must come from a needed library,
# with a version, so that no symbol of the host can take its place.
WEAK = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"}
# Functions of the C library for input, output, clock and threads, which the library must not
# import. Only the shape without the Swift runtime and without libcrypto inside can be checked; the
# sources of all shapes are the same.
IO = {"open", "open64", "openat", "fopen", "fopen64", "socket", "connect", "getaddrinfo",
      "getenv", "secure_getenv", "time", "clock_gettime", "gettimeofday", "localtime_r",
      "sigaction", "signal", "pthread_create", "fork", "execve", "system", "dlopen",
      "printf", "puts", "fprintf", "write", "read", "setlocale", "mmap"}
# Functions that the linker redirects to Link/sealed.c, in every shape (see the Makefile).
SEALED = set(re.search(r"^SEALED := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.M)[1]
             .replace("\\\n", " ").split())


class Library:
    """A shared library as readelf describes it."""

    def __init__(self, path):
        self.path = path
        self.header = readelf("-h", path)
        self.dynamic = readelf("-d", path)
        self.sections = readelf("-S", path)
        self.segments = readelf("-l", path)
        self.exports, self.imports = self.symbols()

    def symbols(self):
        """Return the defined and the undefined dynamic symbols, as {name: version}."""
        exports, imports = {}, {}
        for line in readelf("--dyn-syms", self.path).splitlines():
            words = line.split()
            if len(words) < 8 or not words[0][:-1].isdigit() or words[4] == "LOCAL":
                continue
            name, _, version = words[7].partition("@")
            if words[6] == "UND":
                imports[name] = version.lstrip("@")
            elif words[6] != "ABS":  # ABS is the version node itself
                exports[name] = version.lstrip("@")
        return exports, imports

    def tagged(self, tag):
        """Return the bracketed names of all dynamic entries with a tag."""
        return re.findall(rf"\({tag}\).*?\[(.*?)\]", self.dynamic)

    def versions(self, node):
        """Return the required symbol versions of a library, as tuples."""
        text = readelf("-V", self.path)
        return [tuple(map(int, found.split(".")))
                for found in re.findall(rf"Name: {node}_(\d+(?:\.\d+)*)", text)]


def check_exports(suite, library):
    declared = declared_functions()
    exported = set(library.exports)
    suite.expect(declared, "the header declares functions")
    for name in sorted(declared):
        suite.expect(name in exported, "declared and exported", name)
    extra = sorted(exported - declared)
    suite.expect(not extra, "nothing but the header is exported", " ".join(extra))
    wrong = sorted(name for name, version in library.exports.items()
                   if version != "ASSAY_0")
    suite.expect(not wrong, "every export has version ASSAY_0", " ".join(wrong))


def check_machine(suite, library, machine):
    name, _, page = MACHINES[machine]
    found = re.search(r"Machine:\s+(.*)", library.header)[1].strip()
    suite.expect(found == name, "is for the machine", found)
    aligned = [int(number, 16) for number in
               re.findall(r"^\s+LOAD\s.*\s0x([0-9a-f]+)$", library.segments, re.M)]
    suite.expect(aligned and min(aligned) >= page, "loads where pages are largest",
                 f"{min(aligned, default=0)} bytes, not {page}")


def crypto_names(crypto):
    """Return the names of the libraries that provide libcrypto; none if it is inside."""
    if crypto == "shared":
        return ["libcrypto.so.3"]
    if crypto.endswith(".so"):
        return Library(crypto).tagged("SONAME")
    return []


def check_needs_of_musl(suite, library):
    needed = set(library.tagged("NEEDED"))
    suite.expect(needed == MUSL_NEEDED, "needs musl alone", " ".join(needed))
    suite.expect("Name: GLIBC" not in readelf("-V", library.path), "asks nothing of glibc")


def check_needs(suite, library, crypto, machine):
    allowed = NEEDED | {MACHINES[machine][1]}
    theirs = set(crypto_names(crypto))
    allowed |= theirs
    needed = set(library.tagged("NEEDED"))
    suite.expect(needed <= allowed, "needs no other library", " ".join(needed - allowed))
    if theirs:
        suite.expect(theirs <= needed, "libcrypto comes from the host")
    for node, floor in FLOORS.items():
        highest = max(library.versions(node), default=())
        suite.expect(highest <= floor, f"{node} floor", ".".join(map(str, highest)))
    suite.expect(library.versions("GLIBC"), "versions of glibc are named")
    if not theirs:  # AWS-LC's own names have no versions
        open_ones = sorted(name for name, version in library.imports.items()
                           if not version and name not in WEAK)
        suite.expect(not open_ones, "asks nothing of whoever defines it", " ".join(open_ones))


def check_form(suite, library, largest):
    size = pathlib.Path(library.path).stat().st_size
    suite.expect(size <= largest, f"at most {largest} bytes", str(size))
    suite.expect(library.tagged("SONAME") == [soname()], "soname",
                 " ".join(library.tagged("SONAME")))
    suite.expect(not re.search(r"\((RUNPATH|RPATH)\)", library.dynamic), "no RUNPATH")
    suite.expect(not re.search(r"\((TEXTREL|RELR)\)", library.dynamic),
                 "no text relocations, no RELR")
    suite.expect(re.search(r"FLAGS_1\).*\bNODELETE\b", library.dynamic), "stays loaded")
    suite.expect(".symtab" not in library.sections, "stripped")
    suite.expect(".debug_" not in library.sections, "no debug information")


def libcrypto_package():
    """Return the revision of the system's libcrypto package; None without dpkg."""
    try:
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libssl-dev"], check=True,
                              text=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def check_content(suite, library, shape, crypto, package):
    data = pathlib.Path(library.path).read_bytes()
    for word in FOREIGN:
        suite.expect(word.encode() not in data, "holds no test code or foreign runtime", word)
    home = str(ROOT).encode()
    suite.expect(home not in data, "holds no path of the machine that built it")
    if crypto == "static" and package:
        suite.expect(f"OpenSSL {package}".encode() in data, "names libcrypto's package", package)
    used = sorted(SEALED & set(library.imports))
    suite.expect(not used, "asks for no file, variable, handler or program", " ".join(used))
    if shape == "embedded" and crypto == "shared":
        used = sorted(IO & set(library.imports))
        suite.expect(not used, "asks for no file, socket, clock or thread", " ".join(used))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--shape", choices=["full", "embedded"], required=True)
    parser.add_argument("--crypto", required=True)
    parser.add_argument("--machine", choices=sorted(MACHINES), default=platform.machine())
    parser.add_argument("--libc", choices=["glibc", "musl"], default="glibc")
    parser.add_argument("--package")
    parser.add_argument("--suite", default="library")
    options = parser.parse_args()
    if options.crypto not in ("static", "shared") and not pathlib.Path(options.crypto).exists():
        parser.error(f"{options.crypto} is not there")
    suite = Suite(options.suite)
    library = Library(options.library)
    check_exports(suite, library)
    check_machine(suite, library, options.machine)
    if options.libc == "musl":
        check_needs_of_musl(suite, library)
    else:
        check_needs(suite, library, options.crypto, options.machine)
    check_form(suite, library, MUSL_LARGEST if options.libc == "musl" else LARGEST[options.shape])
    # Only libcrypto's code calls functions that have a checked form.
    hardening.check(suite, options.library, fortified=(
        options.libc == "glibc" and not crypto_names(options.crypto)))
    own = options.machine == platform.machine() and options.libc == "glibc"
    check_content(suite, library, options.shape, options.crypto,
                  options.package or (libcrypto_package() if own else None))
    suite.finish()


if __name__ == "__main__":
    main()
