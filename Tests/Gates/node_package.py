#!/usr/bin/env python3
"""Check the tarball of the Node.js package: built twice alike, and used as a program finds it.

  node_package.py --package build/node/node_modules/assay --library build/lib/libassay.so.0

It is unpacked into node_modules for `require`, `import` and tsc, and installed by npm, offline and
without scripts, where npm is there.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from project import ROOT
from report import Suite

sys.path.insert(0, str(ROOT / "bindings/node"))
import build_package

USES = {
    "use.cjs": "const { version } = require('assay');\nconst { Ledger } = require('assay/ledger');\n"
               "console.log(version, Ledger.name);\n",
    "use.mjs": "import { version } from 'assay';\nimport { Ledger } from 'assay/ledger';\n"
               "console.log(version, Ledger.name);\n",
}
TYPED = "import { Verifier } from 'assay';\nimport { Ledger } from 'assay/ledger';\n" \
        "export const made = (own: Verifier, executor: any) => new Ledger(executor, own);\n"


def run(command, folder, **more):
    # Nothing of this repository: the library beside the addon is the one that is found.
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("ASSAY_", "NODE_"))}
    return subprocess.run(command, cwd=folder, env={**variables, **more}, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)


def use(suite, folder, version, how):
    for name, text in USES.items():
        (folder / name).write_text(text)
        found = run(["node", name], folder)
        suite.expect(found.stdout == f"{version} Ledger\n", f"{how}: {name}",
                     found.stdout + found.stderr)


def check_types(suite, folder):
    if not shutil.which("tsc"):
        suite.skip("tsc", "install Debian's node-typescript")
        return
    (folder / "use.mts").write_text(TYPED)
    found = run(["tsc", "--strict", "--noEmit", "--module", "node16",
                 "--moduleResolution", "node16", "--target", "es2022", "use.mts"], folder)
    suite.expect(found.returncode == 0, "tsc finds its types", found.stdout)


def check_npm(suite, folder, tarball, version):
    if not shutil.which("npm"):
        suite.skip("npm", "it is not installed")
        return
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}\n')
    found = run(["npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund",
                 str(tarball)], folder, npm_config_cache=str(folder / "cache"))
    if suite.expect(found.returncode == 0, "npm install --offline", found.stderr[-1000:]):
        use(suite, folder, version, "installed by npm")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    options = parser.parse_args()
    suite = Suite("node-package")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        built = [build_package.build(options.package, [], folder / part) for part in ("a", "b")]
        suite.expect(built[0].read_bytes() == built[1].read_bytes(), "two builds are alike")
        with tarfile.open(built[0]) as archive:
            entries = archive.getmembers()
            archive.extractall(folder)
        names = [entry.name for entry in entries]
        suite.expect(names == sorted(names), "entries are sorted")
        suite.expect({(entry.mode, entry.uid, entry.mtime) for entry in entries}
                     == {(0o644, 0, entries[0].mtime)}, "entries name no user and no time")
        manifest = json.loads((folder / "package/package.json").read_text())
        suite.expect(not {"scripts", "dependencies", "optionalDependencies"} & set(manifest),
                     "it has neither scripts nor dependencies")
        inside = list(folder.glob("package/prebuilds/*/libassay.so.0"))
        suite.expect([path.read_bytes() for path in inside] == [options.library.read_bytes()],
                     "the library is that of the build, byte for byte")
        shop = folder / "shop"
        (shop / "node_modules").mkdir(parents=True)
        (folder / "package").rename(shop / "node_modules/assay")
        use(suite, shop, manifest["version"], "unpacked")
        check_types(suite, shop)
        check_npm(suite, folder / "npm", built[0], manifest["version"])
        shutil.rmtree(shop / "node_modules/assay/prebuilds")
        found = run(["node", "use.cjs"], shop)
        suite.expect(found.returncode != 0 and "linux-" in found.stderr,
                     "without a prebuild it says which platform is missing", found.stderr)
    suite.finish()


if __name__ == "__main__":
    main()
