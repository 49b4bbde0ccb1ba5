#!/usr/bin/env python3
"""Check that a release with another project home names only that home, and that the sources stay.

  home.py --docs FOLDER [--suite NAME]

`make dist` and `make deb` of the current builds, the source distribution, and a copy of the
documentation in FOLDER are made with PROJECT_HOME set, then unpacked and read. In the sources,
every Go module path names the placeholder.
"""
import argparse
import gzip
import os
import pathlib
import re
import shutil
import sys
import tempfile

from project import ROOT, run, version
from report import Suite

sys.path.append(str(ROOT / "packaging"))

import release

OTHER = "verify.example.net/apple"
ADDRESS = f"https://{OTHER}"
AUTHORS = "Assay maintainers <maintainers@verify.example.net>"
# The packages of a release, below the folder in which they are made.
PACKAGES = {
    "sources": f"dist/assay-{version()}.tar.gz",
    "binaries": f"dist/assay-{version()}-linux-*.tar.gz",
    "wheel": "dist/*.whl",
    "sdist": "sdist/*.tar.gz",
    "node": f"npm/assay-{version()}.tgz",
    "libassay0": "debs/libassay0_*.deb",
    "libassay-dev": "debs/libassay-dev_*.deb",
    "assay": "debs/assay_*.deb",
}
UNPACK = {**dict.fromkeys((".gz", ".tgz"), "tar --strip=1 -xzf {} -C {}"),
          ".whl": sys.executable + " -m zipfile -e {} {}", ".deb": "dpkg-deb --raw-extract {} {}"}
# Places that must name the home: one for each form and each kind of package.
PLACES = {
    "sources/bindings/go/go.mod": f"module {OTHER}/bindings/go\n",
    "sources/bindings/go/verifier.go": f'"{OTHER}/bindings/go/internal/libassay"',
    "sources/README.md": f"{OTHER}/bindings/go",
    "sources/docs/start/go.md": f"{OTHER}/bindings/go",
    "sources/docs/start/php.md": "composer require apple/assay",
    "sources/docs/tasks/php-fpm.md": "vendor/apple/assay/preload.php",
    "sources/bindings/php/composer.json": '"email": "maintainers@verify.example.net"',
    "sources/bindings/php/tests/ComposerTest.php": "['apple/assay' => '*']",
    "binaries/COPYRIGHT": f"Upstream-Contact: {AUTHORS}\nSource: {ADDRESS}\n",
    "binaries/lib/pkgconfig/assay.pc": f"URL: {ADDRESS}\n",
    "binaries/share/man/man1/assay.1": f".Lk {ADDRESS}\n",
    "binaries/share/man/man3/assay.3": f".Lk {ADDRESS}\n",
    "binaries/share/man/man7/assay-statuses.7": f".Lk {ADDRESS}\n",
    "wheel/assay-*.dist-info/METADATA": f"Home-page: {ADDRESS}\nAuthor-email: {AUTHORS}\n",
    "node/package.json": f'"homepage": "{ADDRESS}/start/node.html"',
    "sdist/PKG-INFO": f"Home-page: {ADDRESS}\nAuthor-email: {AUTHORS}\n",
    "libassay0/DEBIAN/control": f"Maintainer: {AUTHORS}\n",
    "libassay-dev/DEBIAN/control": f"Homepage: {ADDRESS}\n",
    "libassay-dev/usr/share/man/man3/assay.3.gz": f".Lk {ADDRESS}\n",
    "assay/usr/share/doc/assay/copyright": f"Source: {ADDRESS}\n",
    "assay/usr/share/doc/assay/changelog.Debian.gz": f" -- {AUTHORS}  ",
}
# Matches an import path below a home, not a folder such as `../assay/bindings/go`.
MODULE = re.compile(
    r"(?<![\w./$}-])([a-z0-9-]+(?:\.[a-z0-9-]+)+(?:/[\w.~-]+)*)/bindings/go(?![\w-])")
NAMED = re.compile(rf"{re.escape(release.PLACEHOLDER)}|(?<![\w.-])assay/assay(?![\w.-])".encode())


def at(place, *command, cwd=ROOT):
    """Run a program with PROJECT_HOME set."""
    variables = {key: value for key, value in os.environ.items() if "MAKE" not in key}
    return run(*command, cwd=cwd, env={**variables, "PROJECT_HOME": place})


def content(path):
    """Return the bytes of a file, decompressed; for HTML, its text before its source."""
    octets = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(octets)
    return re.sub(rb"<[^>]*>", b"", octets) + octets if path.suffix == ".html" else octets


def made(suite, tree, docs):
    """Make every package of a release and unpack each into a folder below `tree`."""
    built = ["-o", "deps-packages", "-o", "all", "-o", "cli", "-o", "node"]
    for what, *command in [
            ("make dist", "make", *built, "dist", "OLD_LIBCRYPTO=1", f"DIST={tree}/made/dist"),
            ("make deb", "make", *built, "deb", f"DEBS={tree}/made/debs"),
            ("make npm", "make", *built, "npm", "NODE_OTHERS=", f"NPM={tree}/made/npm"),
            ("the source distribution", sys.executable, "bindings/python/build_wheel.py",
             "--sdist", "--out", tree / "made/sdist")]:
        result = at(OTHER, *command)
        suite.expect(result.returncode == 0, f"{what} with another home",
                     (result.stdout + result.stderr)[-1500:])
    for name, pattern in PACKAGES.items():
        found = list((tree / "made").glob(pattern))
        if suite.expect(len(found) == 1, f"the {name} are made", str(found)):
            (tree / name).mkdir()
            command = UNPACK[found[0].suffix].format(found[0], tree / name)
            suite.expect(run(*command.split()).returncode == 0, f"the {name} unpack")
    said = at(OTHER, "make", "-n", "docs").stdout
    suite.expect("packaging/release.py build/docs" in said, "make docs names the home", said[-800:])
    if docs.is_dir():
        shutil.copytree(docs, tree / "docs")
        at(OTHER, sys.executable, "packaging/release.py", tree / "docs")
    else:
        suite.skip("the documentation", f"there is no {docs}: make docs")


def check_places(suite, tree):
    for place, words in PLACES.items():
        found = list(tree.glob(place))
        suite.expect(len(found) == 1 and words.encode() in content(found[0]),
                     f"the home is in {place}")
    left = [str(path.relative_to(tree)) for path in tree.rglob("*")
            if path.is_file() and not path.is_symlink() and NAMED.search(content(path))]
    suite.expect(not left, "the placeholder is nowhere", " ".join(left[:20]))


def check_use(suite, tree):
    """Check that a build from the released sources uses their home without any setting."""
    result = at(OTHER, sys.executable, "-B", "tools/generate.py", "--check", cwd=tree / "sources")
    suite.expect(result.returncode == 0, "the generated files of the sources are in step",
                 result.stdout + result.stderr)
    result = at(OTHER, "go", "list", "-deps", "./...", cwd=tree / "sources/bindings/go")
    suite.expect(f"\n{OTHER}/bindings/go/ledger\n" in result.stdout and result.returncode == 0,
                 "the Go module finds its packages", result.stderr)
    result = at("", sys.executable, "-B", "-c", "import build_wheel; "
                "print(build_wheel.metadata().decode())", cwd=tree / "sdist")
    suite.expect(f"Home-page: {ADDRESS}\n" in result.stdout,
                 "the source distribution makes a wheel of its home", result.stderr)


def check_links(suite, tree):
    """Check that the links in the READMEs of packages lead to pages of the documentation."""
    for place in ("wheel/assay-*.dist-info/METADATA", "node/README.md"):
        text = next(tree.glob(place)).read_text()
        links = set(re.findall(rf"{re.escape(ADDRESS)}/([^)#\s]+)", text))
        suite.expect(links, f"{place} has links")
        for link in sorted(links if (tree / "docs").is_dir() else []):
            suite.expect((tree / "docs" / link).is_file(), f"{place}: {link} leads somewhere")


def check_sources(suite):
    """Check that foreign Go module paths and invalid settings of the home are refused."""
    names = run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).stdout.splitlines()
    wrong = {name for name in names if (ROOT / name).is_file()
             for found in MODULE.findall((ROOT / name).read_text(errors="replace"))
             if found != release.PLACEHOLDER}
    suite.expect(not wrong, "the Go module has one path", " ".join(wrong))
    for place in ["no host", "host", "https://host.example", "host.example/"]:
        refused = at(place, sys.executable, "-c", "import sys; sys.path.append('packaging'); "
                     "import release; release.home()")
        suite.expect(refused.returncode == 1 and place in refused.stderr,
                     f"{place!r} is no home", refused.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", required=True, type=pathlib.Path)
    parser.add_argument("--suite", default="home")
    options = parser.parse_args()
    suite = Suite(options.suite)
    before = run("git", "status", "--porcelain", cwd=ROOT).stdout
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        made(suite, tree, options.docs)
        check_places(suite, tree)
        check_use(suite, tree)
        check_links(suite, tree)
    check_sources(suite)
    after = run("git", "status", "--porcelain", cwd=ROOT).stdout
    suite.expect(before == after, "the sources are as they were", after)
    suite.finish()


if __name__ == "__main__":
    main()
