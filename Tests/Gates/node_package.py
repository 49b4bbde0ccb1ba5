#!/usr/bin/env python3
"""Check the tarballs of the Node.js package: what is in them, and their use as programs find it.

  node_package.py --package build/node/node_modules/assay      makes those of this machine, twice
  node_package.py --tarballs build/release/assay-0.1.0/node    those of a release, of all platforms

One is unpacked into node_modules for `require`, `import` and tsc, and installed by npm, offline and
without scripts. The addons of other machines are read, not run.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import sys
import tarfile
import tempfile

import hardening
import node_tools
from library import FLOORS, MACHINES, WEAK, Library
from project import ROOT, run, soname, version
from report import Suite

sys.path.append(str(ROOT / "packaging"))
import npm_package

NAME = f"assay-{version()}"
# Node.js's name of a machine -> that of `uname -m`.
MACHINE = {"x64": "x86_64", "arm64": "aarch64"}
OWN = {machine: name for name, machine in MACHINE.items()}[platform.machine()]
# What each C library's addon may need, beside the loader of the machine.
NEEDED = {"glibc": "libc.so.6", "musl": "libc.so"}
# musl itself, from which the addons' other names must come: it has no versions that say so.
MUSL = {"x64": "/usr/lib/x86_64-linux-musl/libc.so",
        "arm64": ROOT / "build/arm64/root/lib/aarch64-linux-musl/libc.so"}
EXPORTS = {"napi_register_module_v1", "node_api_module_get_api_version_v1"}
USES = {
    "use.cjs": "const { version } = require('assay');\nconst { Ledger } = require('assay/ledger');\n"
               "console.log(version, Ledger.name);\n",
    "use.mjs": "import { version } from 'assay';\nimport { Ledger } from 'assay/ledger';\n"
               "console.log(version, Ledger.name);\n",
}
TYPED = "import { Verifier } from 'assay';\nimport { Ledger } from 'assay/ledger';\n" \
        "export const made = (own: Verifier, executor: any) => new Ledger(executor, own);\n"


def call(folder, *command, **more):
    # Nothing of this repository: the library beside the addon is the one that is found.
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("ASSAY_", "NODE_"))}
    return run(*command, cwd=folder, env={**variables, **more})


def use(suite, folder, how):
    for name, text in USES.items():
        (folder / name).write_text(text)
        found = call(folder, "node", name)
        suite.expect(found.stdout == f"{version()} Ledger\n", f"{how}: {name}",
                     found.stdout + found.stderr)


def check_types(suite, folder):
    if not shutil.which("tsc"):
        suite.skip("tsc", "install Debian's node-typescript")
        return
    (folder / "use.mts").write_text(TYPED)
    found = call(folder, "tsc", "--strict", "--noEmit", "--module", "node16",
                 "--moduleResolution", "node16", "--target", "es2022", "use.mts")
    suite.expect(found.returncode == 0, "tsc finds its types", found.stdout)


def unpacked(suite, tarball, folder):
    """Check the form of a tarball; return {path: bytes}, and leave it in folder/package."""
    what = tarball.name
    with tarfile.open(tarball) as archive:
        entries = archive.getmembers()
        archive.extractall(folder)
    names = [entry.name for entry in entries]
    suite.expect(names == sorted(names), f"{what}: entries are sorted")
    suite.expect({(entry.mode, entry.uid, entry.mtime, entry.isreg()) for entry in entries}
                 == {(0o644, 0, entries[0].mtime, True)}, f"{what}: no user, one time")
    package = folder / "package"
    files = {path.relative_to(package).as_posix(): path.read_bytes()
             for path in package.rglob("*") if path.is_file()}
    found = run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS", cwd=package)
    listed = {line.split("  ", 1)[1] for line in files["SHA256SUMS"].decode().splitlines()}
    suite.expect(found.returncode == 0 and listed == set(files) - {"SHA256SUMS"},
                 f"{what}: SHA256SUMS is of all files", found.stderr)
    manifest = json.loads(files["package.json"])
    suite.expect(not {"scripts", "dependencies", "optionalDependencies"} & set(manifest),
                 f"{what}: neither scripts nor dependencies")
    suite.expect(not re.search(rb"\]\((?!https?:|#)", files["README.md"]),
                 f"{what}: every link of README.md leads to the site")
    return files


def check_platform(suite, name, place):
    """Check what the package has of a platform, in a folder."""
    _, processor, libc = name.split("-")
    addon, library = Library(place / "assay.node"), Library(place / soname())
    suite.expect({path.name for path in place.iterdir()}
                 == {"assay.node", soname(), "sbom.cdx.json", "build.json"}, f"{name}: four files")
    kind, loader, _ = MACHINES[MACHINE[processor]]
    for each in (addon, library):
        needed = set(each.tagged("NEEDED"))
        suite.expect(kind in each.header and NEEDED[libc] in needed,
                     f"{name}: {each.path.name} is for it", each.header)
    suite.expect(set(addon.tagged("NEEDED")) <= {NEEDED[libc], loader}
                 and not re.search(r"\((RPATH|RUNPATH)\)", addon.dynamic),
                 f"{name}: the addon needs the C library alone", addon.dynamic)
    suite.expect(set(addon.exports) - {"_init", "_fini"} == EXPORTS,
                 f"{name}: the addon exports what Node.js asks for", str(addon.exports))
    check_imports(suite, name, addon, libc, processor)
    hardening.check(suite, addon.path, fortified=libc == "glibc")
    suite.expect(str(ROOT).encode() not in addon.path.read_bytes(),
                 f"{name}: no path of the machine that built the addon")
    bill = json.loads((place / "sbom.cdx.json").read_text())
    digests = {one["name"]: one["hashes"][0]["content"] for one in bill["components"]}
    for path, what in ((addon.path, "assay.node"), (library.path, "libassay")):
        suite.expect(digests.get(what) == npm_package.sha256(path.read_bytes()),
                     f"{name}: the bill of materials has the digest of {what}")
    info = json.loads((place / "build.json").read_text())
    suite.expect(info["version"] == version() and info["commit"].encode() in
                 library.path.read_bytes(), f"{name}: build.json is of this library", str(info))


def check_imports(suite, name, addon, libc, processor):
    """Check that the addon asks for names of Node-API and of its C library alone."""
    asked = {symbol: node for symbol, node in addon.imports.items()
             if symbol not in WEAK and not symbol.startswith("napi_")}
    if libc == "glibc":
        suite.expect(all(asked.values()) and max(addon.versions("GLIBC")) <= FLOORS["GLIBC"],
                     f"{name}: the addon asks for glibc 2.34 or earlier", str(asked))
    elif os.path.exists(MUSL[processor]):
        rest = set(asked) - set(Library(MUSL[processor]).exports)
        suite.expect(not rest, f"{name}: musl has what the addon asks for", " ".join(rest))
    else:
        suite.skip(f"{name}: what the addon asks for", f"no {MUSL[processor]}")


def check_npm(suite, folder, tarballs, files):
    """Install by npm what is for this machine, and try what is not; pack what it installed."""
    npm, why = node_tools.find_npm()
    if npm is None:
        suite.skip("npm", why)
        return
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}\n')
    for tarball in tarballs:
        platform_of = tarball.name.removeprefix(NAME).strip("-").removesuffix(".tgz")
        found = call(folder, *npm, "install", "--offline", "--ignore-scripts", "--no-audit",
                     "--no-fund", tarball, npm_config_cache=str(folder / "cache"))
        if platform_of in ("", f"linux-{OWN}-glibc"):
            if suite.expect(found.returncode == 0, f"npm installs {tarball.name}",
                            found.stderr[-1000:]):
                use(suite, folder, f"{tarball.name} by npm")
        elif OWN not in platform_of:
            suite.expect(found.returncode != 0 and "EBADPLATFORM" in found.stderr,
                         f"npm refuses {tarball.name}", found.stderr[-1000:])
    found = call(folder.parent / "package", *npm, "pack", "--json", "--dry-run",
                 npm_config_cache=str(folder / "cache"))
    packed = {one["path"] for one in json.loads(found.stdout)[0]["files"]}
    suite.expect(packed == set(files), "npm packs the same files", str(packed ^ set(files)))


def check_tarballs(suite, folder, work):
    """Check the tarball of all platforms, and those of one."""
    full, slim = folder / f"{NAME}.tgz", sorted(folder.glob(f"{NAME}-*.tgz"))
    files = unpacked(suite, full, work)
    package = work / "package"
    platforms = sorted(path.name for path in (package / "prebuilds").iterdir())
    suite.expect([f"{NAME}-{name}.tgz" for name in platforms] == [path.name for path in slim],
                 "a tarball for each platform", str(slim))
    for name, tarball in zip(platforms, slim):
        check_platform(suite, name, package / "prebuilds" / name)
        (work / name).mkdir()
        one = unpacked(suite, tarball, work / name)
        changed = {path for path in one if one[path] != files.get(path)}
        suite.expect(changed == {"package.json", "SHA256SUMS"}, f"{name}: its files are the same",
                     str(changed))
        suite.expect({path for path in files if path not in one}
                     == {path for path in files if path.startswith("prebuilds/")
                         and not path.startswith(f"prebuilds/{name}/")}, f"{name}: its files alone")
        manifest = json.loads(one["package.json"])
        suite.expect("-".join(manifest.pop(key)[0] for key in ("os", "cpu", "libc")) == name
                     and manifest == json.loads(files["package.json"]),
                     f"{name}: os, cpu and libc", str(manifest))
    check_npm(suite, work / "npm", [full, *slim], files)
    shop = work / "shop"
    (shop / "node_modules").mkdir(parents=True)
    package.rename(shop / "node_modules/assay")
    use(suite, shop, "unpacked")
    check_types(suite, shop)
    shutil.rmtree(shop / f"node_modules/assay/prebuilds/linux-{OWN}-glibc")
    found = call(shop, "node", "use.cjs")
    suite.expect(found.returncode != 0 and f"no addon for linux-{OWN}-glibc" in found.stderr,
                 "without a platform it says which is missing", found.stderr)


def check_others(suite, work):
    """Check that a platform is left out that was not built, or was built of another commit."""
    npm_package.BUILD = work / "build"
    place, addon = npm_package.BUILD / "arm64", npm_package.BUILD / "node/prebuilds/one/assay.node"
    suite.expect(npm_package.other("one", "arm64", "a") is None, "not built: left out")
    for path, text in ((place / "info.json", '{"commit": "a"}'), (addon, "")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    found = npm_package.other("one", "arm64", "a")
    suite.expect(found and found.library == place / "lib" / soname(), "built: taken", str(found))
    suite.expect(npm_package.other("one", "arm64", "b") is None, "of another commit: left out")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=pathlib.Path)
    parser.add_argument("--tarballs", type=pathlib.Path)
    parser.add_argument("--suite", default="node-package")
    options = parser.parse_args()
    suite = Suite(options.suite)
    with tempfile.TemporaryDirectory() as name:
        work, folder = pathlib.Path(name), options.tarballs and options.tarballs.resolve()
        if options.package:
            own = npm_package.own(options.package)
            suite.expect(own.library.read_bytes() == (ROOT / "build/lib" / soname()).read_bytes(),
                         "the library is that of the build, byte for byte")
            built = [npm_package.build(options.package, [own], work / part)
                     for part in ("made", "again")]
            suite.expect([path.read_bytes() for path in built[0]]
                         == [path.read_bytes() for path in built[1]], "two builds are alike")
            check_others(suite, work)
            folder = work / "made"
        check_tarballs(suite, folder, work)
    suite.finish()


if __name__ == "__main__":
    main()
