"""List what a linker took into a file, from the map that the linker wrote (-Map)."""
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

from release import ROOT, run

GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
SWIFT = "Apache-2.0 WITH Swift-exception"
# Licences of components from Debian, by source package.
DEBIAN = {
    "openssl": ("OpenSSL libcrypto", "Apache-2.0"),
    "gcc-12": ("GCC runtime libraries", GCC),
    "gcc-12-cross": ("GCC runtime libraries", GCC),
    "glibc": ("GNU C Library, start files", "LGPL-2.1-or-later"),
    "cross-toolchain-base": ("GNU C Library, start files", "LGPL-2.1-or-later"),
    "musl": ("musl, start files", "MIT"),
}
ARM64 = "build/arm64/root"
# Archives of packages that are not installed here: the archive, the source package, the package,
# its architecture, and the file with its revision. That for musl is built here from Debian's
# sources.
UNPACKED = {
    "build/musl/link/libcrypto.a": (
        "build/musl/openssl/libcrypto.a", "openssl", "openssl", "source",
        "build/musl/openssl.version"),
    "build/arm64/link/libcrypto.a": (
        f"{ARM64}/usr/lib/aarch64-linux-gnu/libcrypto.a", "openssl", "libssl-dev", "arm64",
        f"{ARM64}/usr/share/doc/libssl-dev/changelog.Debian.gz"),
    "build/musl-arm64/link/libcrypto.a": (
        "build/musl-arm64/openssl/libcrypto.a", "openssl", "openssl", "source",
        "build/musl-arm64/openssl.version"),
    **{f"{ARM64}/usr/lib/aarch64-linux-musl/{name}": (
        f"{ARM64}/usr/lib/aarch64-linux-musl/{name}", "musl", "musl-dev", "arm64",
        f"{ARM64}/usr/share/doc/musl-dev/changelog.Debian.gz") for name in ("crti.o", "crtn.o")},
}
# Parts of the Swift toolchain that are separate projects.
TOOLCHAIN = [
    (r".*", "swift", SWIFT),
]


class Component:
    """A third-party component; `files` are the files that it was linked from."""

    def __init__(self, purl, name, version, licence):
        self.purl, self.name, self.version, self.licence = purl, name, version, licence
        self.files = set()


def inputs(map_file):
    """Return the archives and objects that contributed a section of non-zero size."""
    path = pathlib.Path(map_file)
    if not path.exists():
        sys.exit(f"{map_file} is not there: the linker writes it when it links")
    found = set()
    for line in path.read_text(errors="replace").splitlines():
        match = re.match(r"\s*[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+\s+"
                         r"(/?\S+?\.(?:a|o))(?:\(\S+\))?:\(", line)
        if match and int(match[1], 16):
            found.add(match[2])
    if not found:
        sys.exit(f"{map_file} names nothing that was linked")
    return sorted(found)


def original(path):
    """Return the file that a copy or a link below build/link was made from; the map has some paths
    relative to the repository."""
    path = os.path.join(ROOT, path)
    if path.endswith("/build/link/static/libcrypto.a"):
        path = run("gcc", "-print-file-name=libcrypto.a").strip()
    return os.path.realpath(path)


def debian(path):
    """Return (binary package, source package, version, architecture) of a file; None if it has no
    package."""
    for name in (path, path.removeprefix("/usr")):
        result = subprocess.run(["dpkg-query", "-S", name], text=True, capture_output=True)
        if result.returncode == 0:
            package = result.stdout.split(":")[0]
            form = "${source:Package} ${Version} ${Architecture}"
            source, version, machine = run("dpkg-query", "-W", "-f", form, package).split()
            return package, source, version, machine
    return None


def deb(source, package, version, machine):
    """Return the component of a Debian package."""
    if source not in DEBIAN:
        sys.exit(f"{package} is of {source}, of which packaging/linked.py knows no licence")
    name, licence = DEBIAN[source]
    quoted = version.replace("+", "%2B").replace(":", "%3A")
    return Component(f"pkg:deb/debian/{package}@{quoted}?arch={machine}", f"{name} ({package})",
                     version, licence)


def from_unpacked(below):
    """Return the component of an archive whose package is not installed; `below` is a key of
    UNPACKED."""
    archive, source, package, machine, revision = UNPACKED[below]
    if revision.endswith(".gz"):
        with gzip.open(ROOT / revision, "rt") as changes:
            version = re.search(r"\((.*?)\)", changes.readline())[1]
    else:
        version = (ROOT / revision).read_text().strip()
    found = deb(source, package, version, machine)
    found.files.add(str(ROOT / archive))
    return found


def from_debian(path):
    found = debian(path)
    if found is None:
        sys.exit(f"{path} is linked in, and no Debian package has it")
    package, source, version, machine = found
    return deb(source, package, version, machine)


def swift_version():
    return re.search(r"Swift version (\S+)", run("swiftc", "--version"))[1]


def from_toolchain(path):
    name, licence = next((name, licence) for pattern, name, licence in TOOLCHAIN
                         if re.fullmatch(pattern, os.path.basename(path)))
    version = swift_version()
    purl = f"pkg:swift/github.com/swiftlang/{name}@{version}"
    return Component(purl, name, version, licence)


def module_of(path):
    """Return the module that SwiftPM compiled into an object; None for other objects."""
    found = re.search(r"/\.build/.*/([\w-]+)\.build/", path)
    return found[1].replace("-", "_") if found else None


def is_ours(path):
    """Whether an object was compiled from this project's own sources."""
    if path.startswith(f"{ROOT}/build/") and path.endswith(".o"):
        return True
    return module_of(path) in {folder.name.replace("-", "_")
                               for folder in (ROOT / "Sources").iterdir()}


def toolchain_folder():
    paths = json.loads(run("swiftc", "-print-target-info"))["paths"]
    return str(pathlib.Path(os.path.realpath(paths["runtimeResourcePath"])).parent.parent)


def embedded_module(toolchain, below):
    """Return Embedded Swift's standard library for an object of ours. It has no archive: used
    functions are compiled from this module into the object that uses them."""
    target = "aarch64-none-none-elf" if "/arm64/" in below else "x86_64-unknown-linux-gnu"
    return f"{toolchain}/lib/swift/embedded/Swift.swiftmodule/{target}.swiftmodule"


def components(map_file):
    """Return the third-party components in a file, by purl. Exit if one is unknown."""
    toolchain = toolchain_folder()
    found = {}
    for path in inputs(map_file):
        real = original(path)
        below = os.path.relpath(os.path.join(ROOT, path), ROOT)
        if is_ours(real) and below.endswith("/objects/Assay.o"):
            real = embedded_module(toolchain, below)
            one = from_toolchain(real)
        elif is_ours(real):
            continue
        elif below in UNPACKED:
            one, real = from_unpacked(below), None
        elif real.startswith(toolchain + "/"):
            one = from_toolchain(real)
        else:
            one = from_debian(real)
        kept = found.setdefault(one.purl, one)
        if real is not None:
            kept.files.add(real)
    return found
