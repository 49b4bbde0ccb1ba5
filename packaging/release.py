#!/usr/bin/env python3
"""Provide the version, time and project home that all packages of a release share.

  release.py FOLDER    write the project's home into the files below a folder

The sources name PLACEHOLDER wherever they mean the home: the Go module path, addresses and authors
of packages, manual pages, documentation. The sources keep the placeholder: the release's real home
is in PROJECT_HOME (`make` exports it), and each packed copy gets it.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACEHOLDER = "assay.example"


def run(*command, **more):
    """Run a command and return its output; exit with its messages if it fails."""
    words = [str(word) for word in command]
    result = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{result.stdout}{result.stderr}")
    return result.stdout


def version():
    text = (ROOT / "include/assay.h").read_text()
    return re.search(r'^#define ASSAY_VERSION "(.*)"', text, re.M)[1]


def soname():
    text = (ROOT / "include/assay.h").read_text()
    return f"libassay.so.{re.search(r'^#define ASSAY_ABI ([0-9]+)', text, re.M)[1]}"


def epoch():
    """Return the time of every archive entry in seconds since 1970 UTC: that of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or run("git", "log", "-1", "--format=%ct", cwd=ROOT))


def make(*arguments):
    """Make a target of the Makefile; its output is dropped."""
    run("make", "--no-print-directory", *arguments, cwd=ROOT)


def stage(folder, library, program, prefix, *more):
    """Install the built files into a folder, without a manifest; the program may be None."""
    targets = ["install-lib-files", *(["install-cli-files", f"CLI={program}"] if program else [])]
    make(*targets, f"DESTDIR={folder}", f"PREFIX={prefix}", f"OUT={pathlib.Path(library).parent}",
         "MANIFEST=", *more)


def home():
    """Return the configured home. Raise SystemExit if it is no host with a domain."""
    found = os.environ.get("PROJECT_HOME") or PLACEHOLDER
    label = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
    if not re.fullmatch(rf"{label}(?:\.{label})+(?:/[A-Za-z0-9._~-]+)*", found):
        raise SystemExit(f"PROJECT_HOME={found}: wanted host.domain or host.domain/path")
    return found


def vendor(place):
    """Return the owner of the Composer package: the end of the path, else the host's first word."""
    host, _, path = place.partition("/")
    return re.sub(r"[^a-z0-9-]", "-", (path.rpartition("/")[2] or host.partition(".")[0]).lower())


def at_home(octets):
    """Return the bytes of a file with the home written in; binary files are returned unchanged."""
    place = home()
    if b"\0" in octets:
        return octets
    octets = octets.replace(f"@{PLACEHOLDER}".encode(), f"@{place.partition('/')[0]}".encode())
    octets = octets.replace(PLACEHOLDER.encode(), place.encode())
    return re.sub(rf"(?<![\w.-]){vendor(PLACEHOLDER)}/assay(?![\w.-])".encode(),
                  f"{vendor(place)}/assay".encode(), octets)


def name_home(folder):
    """Write the home into every file below a folder."""
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and not path.is_symlink():
            octets = path.read_bytes()
            changed = at_home(octets)
            if changed != octets:
                path.write_bytes(changed)


if __name__ == "__main__":
    name_home(sys.argv[1])
