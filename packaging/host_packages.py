"""Make the packages of a release for PHP and Go, with the library inside."""
import json
import re
import time

import archive
import release
from release import ROOT


def sources(folder, left_out):
    """Return {path below the folder: bytes} of what git has there, with the home written in, and
    the licence."""
    names = release.run("git", "ls-files", "-z", folder, cwd=ROOT).split("\0")
    found = {name.removeprefix(f"{folder}/"): release.at_home((ROOT / name).read_bytes())
             for name in names if name and not re.search(left_out, name)}
    return {**found, "LICENSE": (ROOT / "LICENSE").read_bytes()}


def php(libraries, epoch):
    """Return the Composer package as a zip file. `libraries` is {system: path}: the loader takes
    the one that the machine can load."""
    files = sources("bindings/php", r"/tests/")
    for system, path in libraries.items():
        files[f"lib/{system}/{release.soname()}"] = path.read_bytes()
    return archive.zipped(files, epoch)


def go_files(archives):
    """Return the files of the Go module, which links the library statically. `archives` is
    {processor as Go names it: path}."""
    package = "internal/libassay"
    files = sources("bindings/go", r"_test\.go$|/testdata/")
    shared = files[f"{package}/link.go"]
    files[f"{package}/link.go"] = b"//go:build assay_shared\n\n" + shared
    files[f"{package}/link_archive.go"] = (ROOT / "packaging/go/link_archive.go").read_bytes()
    files[f"{package}/assay.h"] = (ROOT / "include/assay.h").read_bytes()
    for machine, path in archives.items():
        files[f"{package}/libassay_{machine}.a"] = path.read_bytes()
    return files


def go(archives, epoch):
    """Return {path: bytes} of a module proxy in a folder: what `GOPROXY=file://…` reads."""
    files, version = go_files(archives), f"v{release.version()}"
    manifest = files["go.mod"]
    module = re.search(r"^module (\S+)", manifest.decode(), re.M)[1]
    # In a proxy's paths an upper case letter is an exclamation mark and the lower case one.
    place = re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), module) + "/@v"
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    return {
        f"{place}/list": f"{version}\n".encode(),
        f"{place}/{version}.info": json.dumps({"Version": version, "Time": moment}).encode(),
        f"{place}/{version}.mod": manifest,
        f"{place}/{version}.zip": archive.zipped(
            {f"{module}@{version}/{path}": octets for path, octets in files.items()}, epoch),
    }
