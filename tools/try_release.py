#!/usr/bin/env python3
"""Install from the folder of a release in clean roots, and run each start page there.

  try_release.py FOLDER [--arm64 build/arm64] [--suite NAME]

A clean root is an overlay over this system: its interpreters and packages, without this repository,
the Swift toolchain and anything of Assay, and without a compiler where the page does not name one.
Nothing that is written in it reaches the system, and it has no network but loopback. The blocks of
the page run in it in their order; those that install from the release are marked `not-run=release`,
and what needs the checkout is marked `checkout` and left out (docs/snippets.md). The roots need root
and the kernel's overlay file system; without them the pages are skipped with a message.

The table that it prints says how many commands a page takes to its first decision, and how many
seconds they took here.
"""
import argparse
import ctypes
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / place) for place in ("Tests/Snippets", "Tests/Gates")]

import programs  # noqa: E402
import snippets  # noqa: E402
from project import run, soname, version  # noqa: E402
from report import Suite  # noqa: E402

NAME = f"assay-{version()}"
# Start page -> whether it names a compiler. Swift's is compiled with the package it depends on,
# which Tests/Gates/snippets.py does, so only its sources are looked at.
PAGES = {"command-line": False, "python": False, "php": False, "c": True, "go": True, "node": False}
# Page -> the most commands to its first decision.
MOST_COMMANDS = {"command-line": 4, "python": 4, "php": 4, "c": 4, "go": 4, "node": 4}
# What a page prints when it has decided.
DECIDED = re.compile(r"premium,? active")
COMPILERS = ("/usr/bin/*gcc*", "/usr/bin/cc", "/usr/bin/c++", "/usr/bin/*g++*", "/usr/bin/clang*",
             "/usr/bin/ld*", "/usr/bin/as", "/usr/bin/*-ld", "/usr/bin/*-as", "/usr/bin/go",
             "/usr/bin/pkg-config", "/usr/bin/pkgconf", "/usr/bin/make")
RUNNERS = {"sh": "bash -e -o pipefail", "python": "python3", "php": "php",
           "js": "node --input-type=module - <"}
# Sets the flag IFF_UP of loopback by SIOCSIFFLAGS: a program of iproute2 may not be there.
LOOPBACK = """import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))
"""
# Makes the root, and runs a program in it. The mounts end with the namespace.
ENTER = r"""
set -e
mount --make-rprivate /
mount -t tmpfs none "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
[ -z "$ONLY_LOOK" ] || exit 0
cd "$WORK/root"
mount --rbind /dev dev
mount -t proc proc proc
python3 -c "$LOOPBACK"
# Covered, not removed: other steps write there meanwhile, and rm fails over what they add.
for place in "$REPOSITORY" "$TOOLCHAIN"; do
  [ ! -d ."$place" ] || mount -t tmpfs none ."$place"
done
rm -rf usr/local/include/assay* usr/local/lib/*assay* usr/local/bin/assay \
  usr/local/lib/pkgconfig/assay.pc usr/local/share/assay
for path in $HIDDEN; do rm -f .$path; done
mkdir -p srv/page
mount --bind "$PAGE" srv/page
mount --bind -o ro "$RELEASE" srv/page/"$NAME"
exec chroot . /usr/bin/env -i HOME=/root PATH="$PLACES" LANG=C.UTF-8 COMPOSER_ALLOW_SUPERUSER=1 \
  COMPOSER_DISABLE_NETWORK=1 PIP_NO_INDEX=1 \
  PIP_DISABLE_PIP_VERSION_CHECK=1 bash -c 'cd /srv/page && . ./all.sh'
"""


def toolchain():
    """Return the folder of the Swift toolchain, or one that is nowhere."""
    swift = shutil.which("swift")
    return str(pathlib.Path(os.path.realpath(swift)).parents[2]) if swift else "/nowhere"


class Clean:
    """A clean root, made anew for each page."""

    def __init__(self, release):
        self.release = release

    def enter(self, page, compiler, only_look=False):
        """Run all.sh of a folder in a new root; return the finished process."""
        swift = toolchain()
        places = ":".join(place for place in os.environ["PATH"].split(":")
                          if not place.startswith(swift))
        with tempfile.TemporaryDirectory() as work:
            return subprocess.run(
                ["unshare", "--mount", "--net", "bash", "-c", ENTER], text=True,
                capture_output=True, stdin=subprocess.DEVNULL, env={
                    "PATH": os.environ["PATH"], "WORK": work, "PAGE": str(page), "NAME": NAME,
                    "RELEASE": str(self.release), "REPOSITORY": str(ROOT), "TOOLCHAIN": swift,
                    "PLACES": places, "HIDDEN": "" if compiler else " ".join(COMPILERS),
                    "LOOPBACK": LOOPBACK, "ONLY_LOOK": "1" if only_look else ""})

    def missing(self):
        """Return why no root can be made here, or None."""
        if os.getuid() != 0:
            return "not root"
        found = self.enter(self.release, True, only_look=True)
        return None if found.returncode == 0 else found.stderr.strip()[-200:] or "no overlay"


def script(folder, blocks):
    """Write the blocks of a page into a folder, and all.sh that runs them; return the blocks that
    are run, each with its number."""
    lines, ran = ["export TERM=dumb", "echo $EPOCHREALTIME > begin"], []
    for number, block in enumerate(blocks):
        text = folder / f"block{number}"
        text.write_text(block.text)
        result = f"> {number}.out 2> {number}.err; echo $? > {number}.code"
        if block.words.get("not-run") == "release":
            # In this shell: what it exports holds for the blocks that follow.
            lines.append(f"set -e; . ./block{number} > {number}.out 2> {number}.err; set +e; "
                         f"echo 0 > {number}.code")
        elif block.has("checkout") or block.has("not-run") or block.has("output"):
            continue
        else:
            if block.has("file"):
                lines.append(f"cp block{number} {shlex.quote(block.words['file'])}")
            if not block.has("run"):
                continue
            lines.append(f"{RUNNERS[block.language]} block{number} {result}")
        lines.append(f"echo $EPOCHREALTIME > {number}.end")
        ran.append((number, block))
    (folder / "all.sh").write_text("\n".join(lines) + "\n")
    return ran


def commands(block):
    """Return the number of lines that are entered for a block: those of a shell, a continued line
    counted once, and one that starts a program."""
    if block.language != "sh":
        return 1 if block.has("run") else 0
    lines = block.text.replace("\\\n", " ").splitlines()
    return sum(1 for line in lines if line.strip() and not line.startswith("#"))


def check_page(suite, clean, name, compiler):
    """Run one start page in a clean root; return the commands and the seconds to its first
    decision, None if it came to none."""
    blocks = snippets.blocks_of(ROOT / f"docs/start/{name}.md")
    suite.expect(any(block.words.get("not-run") == "release" for block in blocks),
                 f"the page {name} says how to install from a release")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / NAME).mkdir()
        ran = script(folder, blocks)
        finished = clean.enter(folder, compiler)
        entered, found = 0, None
        for number, block in ran:
            entered += commands(block)
            code, out, err = (read(folder / f"{number}.{what}") for what in ("code", "out", "err"))
            met = suite.expect(code.strip() == block.words.get("exit", "0"),
                               f"{block.place} in a clean root",
                               (out + err + finished.stderr)[-1500:])
            following = blocks[number + 1:number + 2]
            if met and following and following[0].has("output"):
                problem = programs.difference(following[0].text, out)
                suite.expect(problem is None, f"what {block.place} prints", problem or "")
            if met and found is None and DECIDED.search(out):
                found = entered, (float(read(folder / f"{number}.end"))
                                  - float(read(folder / "begin")))
    return found


def check_pages(suite, clean):
    """Run the start pages, and print how long each takes to a decision."""
    found = {name: check_page(suite, clean, name, compiler) for name, compiler in PAGES.items()}
    print("start page     commands  seconds")
    for name, decided in found.items():
        if suite.expect(decided, f"the page {name} comes to a decision"):
            count, seconds = decided
            print(f"{name:<14} {count:8} {seconds:8.1f}")
            suite.expect(count <= MOST_COMMANDS.get(name, count),
                         f"the page {name} decides within {MOST_COMMANDS.get(name)} commands",
                         str(count))


def read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def check_sums(suite, folder):
    """Check the sums, and that the statement of the build is about the same files."""
    result = run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS", cwd=folder)
    suite.expect(result.returncode == 0, "SHA256SUMS verifies", result.stdout + result.stderr)
    listed = {name: digest for digest, name in
              (line.split("  ", 1) for line in (folder / "SHA256SUMS").read_text().splitlines())}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    suite.expect(set(listed) == there - {"SHA256SUMS"}, "SHA256SUMS lists every file",
                 str(set(listed) ^ there))
    statement = json.loads((folder / "provenance.json").read_text())
    subjects = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    listed.pop("provenance.json", None)
    suite.expect(subjects == listed, "the statement of the build is about these files",
                 str(set(subjects) ^ set(listed)))
    made = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    loaded = ctypes.CDLL(str(ROOT / "build/lib" / soname()))
    loaded.assay_build_info.restype = ctypes.c_char_p
    info = json.loads(loaded.assay_build_info())
    suite.expect(made[0]["digest"]["gitCommit"] == info["commit"],
                 "the statement names the commit that the library names", made[0])
    suite.expect(any("libssl-dev@" in one["uri"] for one in made)
                 and any("pkg:swift/" in one["uri"] for one in made),
                 "the statement names libcrypto and Swift")


def libraries(folder):
    """Yield (package, system, bytes) of every libassay that a package of the folder holds."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".whl", ".zip") and "go" not in path.relative_to(folder).parts:
            with zipfile.ZipFile(path) as given:
                for name in given.namelist():
                    octets = given.read(name) if name.endswith(soname()) else b""
                    if octets.startswith(b"\x7fELF"):
                        yield f"{path.name}:{name}", octets
        elif path.parent.name in ("linux", "node"):
            with tarfile.open(path) as given:
                for entry in given:
                    if entry.isreg() and entry.name.endswith(f"/{soname()}"):
                        yield f"{path.name}:{entry.name}", given.extractfile(entry).read()


def check_one_library(suite, folder):
    """Check that all packages of a system hold the same bytes."""
    found = {}
    for name, octets in libraries(folder):
        # The processor, and whose C library it needs.
        system = octets[18], b"\0libc.so.6\0" in octets
        found.setdefault(system, {}).setdefault(hashlib.sha256(octets).hexdigest(), []).append(name)
    suite.expect(len(found) >= 1, "the packages have libraries")
    for system, kinds in found.items():
        suite.expect(len(kinds) == 1 and len(next(iter(kinds.values()))) >= 2,
                     f"all packages for {system} hold one library", str(kinds))


def blob(layout, descriptor):
    octets = layout[f"blobs/sha256/{descriptor['digest'].partition(':')[2]}"]
    if len(octets) != descriptor["size"] \
            or f"sha256:{hashlib.sha256(octets).hexdigest()}" != descriptor["digest"]:
        raise ValueError(f"{descriptor['digest']} is another blob")
    return octets


def images(layout):
    """Yield (name, processor, configuration, layers) of each image of a layout; check blobs."""
    for named in json.loads(layout["index.json"])["manifests"]:
        for entry in json.loads(blob(layout, named))["manifests"]:
            manifest = json.loads(blob(layout, entry))
            yield (next(iter(named["annotations"].values())), entry["platform"]["architecture"],
                   json.loads(blob(layout, manifest["config"])),
                   [gzip.decompress(blob(layout, layer)) for layer in manifest["layers"]])


# As a Dockerfile on Debian would: COPY --from, then a program of the image and one of the host's.
COPIED = """set -e
cp -a image/. /
assay mint transaction --authority ./authority > purchase.jws
assay verify purchase.jws --kind transaction --config ./authority/config.json > verdict
head -n 1 verdict
python3 -c 'import ctypes; assay = ctypes.CDLL("libassay.so.0")
assay.assay_version.restype = ctypes.c_char_p; print(assay.assay_version().decode())'
"""


def check_image(suite, folder, clean):
    """Unpack the layers of the images into a clean root, as COPY --from does, and run them."""
    archives = sorted((folder / "container").glob("*.oci.tar"))
    suite.expect(folder / f"container/{NAME}.oci.tar" in archives, "there is an image", archives)
    for path in archives:
        with tarfile.open(path) as given:
            layout = {entry.name: given.extractfile(entry).read() for entry in given
                      if entry.isreg()}
        try:
            found = list(images(layout))
        except (KeyError, ValueError) as problem:
            suite.expect(False, "the blobs of the image are those that it names", problem)
            continue
        for name, machine, configuration, layers in found:
            digests = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
            suite.expect(configuration["rootfs"]["diff_ids"] == digests
                         and configuration["architecture"] == machine,
                         f"the configuration of {name} for {machine} names its layers")
            check_layer(suite, f"{name} for {machine}", layers[0],
                        clean if (name, machine) == (f"assay:{version()}", "amd64") else None)


def check_layer(suite, what, octets, clean):
    """Check what is in a layer; run it in a clean root, if one is given."""
    with tarfile.open(fileobj=io.BytesIO(octets)) as layer:
        names = set(layer.getnames())
        suite.expect({f"usr/lib/{soname()}", "usr/lib/libassay.so", "usr/include/assay.h",
                      "usr/include/assay.hpp"} <= names,
                     f"what is in {what}", str(names))
        if clean is None:
            return
        with tempfile.TemporaryDirectory() as name:
            page = pathlib.Path(name)
            (page / NAME).mkdir()
            layer.extractall(page / "image")
            (page / "all.sh").write_text(COPIED)
            result = clean.enter(page, False)
            suite.expect(result.returncode == 0
                         and result.stdout == f"VERIFIED  transaction  ok\n{version()}\n",
                         "the image's program and library run where they are copied to",
                         result.stdout + result.stderr[-1500:])


def check_arm64(suite, folder, arm64):
    """Check the Debian packages for 64-bit ARM: their fields, and the library under qemu."""
    debs = sorted((folder / "debian").glob("*_arm64.deb"))
    if not debs:
        suite.skip("the packages for arm64", "they are not in the folder")
        return
    fields = {run("dpkg-deb", "-f", deb, "Package").stdout.strip(): deb for deb in debs}
    suite.expect(set(fields) == {"libassay0", "libassay-dev"}, "the two packages for arm64",
                 str(fields))
    depends = run("dpkg-deb", "-f", fields["libassay0"], "Depends").stdout
    suite.expect("libssl3" in depends and "libc6 (>= 2.34)" in depends,
                 "libassay0 for arm64 depends on libssl3 and libc6", depends)
    with tempfile.TemporaryDirectory() as work:
        for deb in debs:
            run("dpkg-deb", "-x", deb, work)
        library = pathlib.Path(work) / "usr/lib/aarch64-linux-gnu" / soname()
        root = arm64.resolve() / "root"
        result = run("qemu-aarch64-static", "-L", root, "-E",
                     f"LD_LIBRARY_PATH={root}/usr/lib/aarch64-linux-gnu",
                     arm64 / "abi/reload", library)
        suite.expect(result.returncode == 0 and " 0 failed" in result.stdout,
                     "its library verifies under qemu", result.stdout + result.stderr)


def check_swift(suite, folder):
    """Check that the sources are a Swift package with the product that the start page names."""
    with tempfile.TemporaryDirectory() as work:
        run("tar", "-xzf", folder / f"sources/{NAME}.tar.gz", "-C", work)
        manifest = (pathlib.Path(work) / NAME / "Package.swift").read_text()
        suite.expect('"AssaySwift"' in manifest, "the sources are a package with AssaySwift")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--arm64", type=pathlib.Path, default=ROOT / "build/arm64")
    parser.add_argument("--suite", default="release")
    options = parser.parse_args()
    folder, suite = options.folder.resolve(), Suite(options.suite)
    check_sums(suite, folder)
    check_one_library(suite, folder)
    check_arm64(suite, folder, options.arm64)
    check_swift(suite, folder)
    clean = Clean(folder)
    why = clean.missing()
    check_image(suite, folder, None if why else clean)
    if why:
        suite.skip("the start pages in clean roots", why)
    else:
        check_pages(suite, clean)
    suite.finish()


if __name__ == "__main__":
    main()
