#!/usr/bin/env python3
"""Make the Debian packages: libassay0, libassay-dev, assay.

  deb.py --library build/embedded-shared/lib/libassay.so.0 --program P --out build/deb
  deb.py --library build/arm64/shared/libassay.so.0 --machine arm64 --like L --out build/arm64/deb

The files of `make install` are staged below /usr and distributed over the packages by the lists
packaging/debian/PACKAGE.install. dpkg's tools find the dependencies, check the library against
packaging/debian/libassay0.symbols and write the packages. The library is the one that uses the
system's libcrypto, so that Debian's security updates reach it. The same builds give the same bytes.

For another machine there is no program, and dpkg knows none of its packages: the dependencies are
those of the library L for this machine, which must need all libraries that the other needs.
"""
import argparse
import email.utils
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import sys

import release
from release import ROOT, run

PACKAGES = ["libassay0", "libassay-dev"]
PROGRAM = "assay"
REVISION = "1"


def debian_version():
    return f"{release.version()}-{REVISION}"


def changelog(work, epoch):
    """Return a changelog with one entry: the version, and the commit that it was made from."""
    control = (work / "debian/control").read_text()
    maintainer = control.partition("Maintainer: ")[2].partition("\n")[0]
    return (f"assay ({debian_version()}) unstable; urgency=medium\n\n"
            f"  * Release {release.version()}; changes: /usr/share/doc/libassay0/changelog.gz\n\n"
            f" -- {maintainer}  {email.utils.formatdate(epoch)}\n")


def prepare(work, library, program, epoch):
    """Create the folder in which dpkg's tools work, and the stage."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(ROOT / "packaging/debian", work / "debian")
    machine = os.environ.get("DEB_HOST_ARCH")
    multiarch = run("dpkg-architecture", *([f"-a{machine}"] if machine else []),
                    "-qDEB_HOST_MULTIARCH").strip()
    stage = work / "stage"
    release.stage(stage, library, program, "/usr", f"LIBDIR=/usr/lib/{multiarch}",
                  "ZSHDIR=/usr/share/zsh/vendor-completions")
    release.name_home(work)
    (work / "debian/changelog").write_text(changelog(work, epoch))
    return stage


def lists(stage, work, packages):
    """Yield (staged file, its package) of all lists, before any file is moved."""
    for package in packages:
        for pattern in (work / f"debian/{package}.install").read_text().split():
            found = sorted(stage.glob(pattern))
            if not found:
                sys.exit(f"deb: {package} lists {pattern}, which is not installed")
            yield from ((path, package) for path in found)


def share_out(stage, work, packages):
    """Move every staged file into the tree of the one package that lists it."""
    for path, package in list(lists(stage, work, packages)):
        target = work / package / path.relative_to(stage)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    left = [str(path) for path in stage.rglob("*") if path.is_file() or path.is_symlink()]
    if left:
        sys.exit(f"deb: no package lists {' '.join(left)}")


def compress(path):
    """Replace PATH by PATH.gz, without name and time; a link then points to its compressed file."""
    target = path.with_name(path.name + ".gz")
    if path.is_symlink():
        target.symlink_to(os.readlink(path) + ".gz")
    else:
        target.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()


def add_documents(work, package, epoch):
    tree, debian = work / package, work / "debian"
    folder = tree / "usr/share/doc" / package
    folder.mkdir(parents=True)
    shutil.copy(debian / "copyright", folder / "copyright")
    shutil.copy(debian / "changelog", folder / "changelog.Debian")
    (folder / "changelog").write_text((ROOT / "CHANGELOG.md").read_text())
    compress(folder / "changelog.Debian")
    compress(folder / "changelog")
    overrides = debian / f"{package}.lintian-overrides"
    if overrides.exists():
        (tree / "usr/share/lintian/overrides").mkdir(parents=True)
        shutil.copy(overrides, tree / "usr/share/lintian/overrides" / package)
    for path in sorted((tree / "usr/share/man").rglob("*.[1-9]")):
        compress(path)


def needs(path):
    """Return the shared libraries that a file needs, but for the loader."""
    said = run("readelf", "-dW", path, env=dict(os.environ, LC_ALL="C"))
    return {name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said)
            if not name.startswith("ld-linux")}


def dependencies(work, package, like):
    """Run dpkg-shlibdeps over programs and libraries, or over the library that they are like;
    return the substvars file."""
    variables = work / f"debian/{package}.substvars"
    variables.write_text("misc:Depends=\n")
    files = [path for path in sorted((work / package).rglob("*"))
             if path.is_file() and not path.is_symlink()
             and path.open("rb").read(4) == b"\x7fELF"]
    if files and like:
        more = set().union(*map(needs, files)) - needs(like)
        if more:
            sys.exit(f"deb: {package} needs more libraries than {like}: {' '.join(sorted(more))}")
        files = [like]
    if files:
        this = {key: value for key, value in os.environ.items() if key != "DEB_HOST_ARCH"}
        run("dpkg-shlibdeps", f"-T{variables}", *[f"-e{path}" for path in files], cwd=work,
            env=this)
    return variables


def library_control(work, tree):
    """Write shlibs, symbols and the trigger of the library's package."""
    control = tree / "DEBIAN"
    run("dpkg-gensymbols", "-plibassay0", f"-P{tree}", f"-I{work / 'debian/libassay0.symbols'}",
        f"-v{debian_version()}", f"-O{control / 'symbols'}", "-c4", cwd=work)
    number = release.soname().rpartition(".")[2]
    (control / "shlibs").write_text(
        f"libassay {number} libassay0 (>= {release.version()})\n")
    shutil.copy(work / "debian/libassay0.triggers", control / "triggers")


def md5sums(tree):
    lines = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n"
             for path in sorted(tree.rglob("*"))
             if path.is_file() and not path.is_symlink() and "DEBIAN" not in path.parts]
    (tree / "DEBIAN/md5sums").write_text("".join(lines))


def set_modes(tree):
    """Set the modes that Debian requires, whatever the umask was."""
    for path in tree.rglob("*"):
        if path.is_symlink():
            continue
        program = path.parent.name == "bin"
        path.chmod(0o755 if path.is_dir() or program else 0o644)


def build(work, package, out, epoch, like):
    tree = work / package
    add_documents(work, package, epoch)
    (tree / "DEBIAN").mkdir()
    variables = dependencies(work, package, like)
    if package == "libassay0":
        library_control(work, tree)
    md5sums(tree)
    run("dpkg-gencontrol", f"-p{package}", f"-P{tree}", f"-T{variables}",
        f"-f{work / 'debian/files'}", f"-O{tree / 'DEBIAN/control'}", cwd=work)
    set_modes(tree)
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch))
    said = run("dpkg-deb", "--root-owner-group", "--build", tree, out, env=environment)
    print(said.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("library", "out"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    for name in ("program", "like"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    parser.add_argument("--machine", help="Debian's name of another machine")
    options = parser.parse_args()
    if options.machine:
        os.environ["DEB_HOST_ARCH"] = options.machine
    packages = [*PACKAGES, *([PROGRAM] if options.program else [])]
    like = options.like and options.like.resolve()
    epoch = release.epoch()
    out = options.out.resolve()
    work = out / "work"
    stage = prepare(work, options.library.resolve(),
                    options.program and options.program.resolve(), epoch)
    share_out(stage, work, packages)
    for old in out.glob("*.deb"):
        old.unlink()
    # The library comes first: the dependencies of the other packages are looked up in its package.
    for package in packages:
        build(work, package, out, epoch, like)
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
