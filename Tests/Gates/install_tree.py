#!/usr/bin/env python3
"""Check that `make install` writes the right files and `make uninstall` removes exactly those.

  install_tree.py PROGRAM [--suite NAME]

PROGRAM is the command line that was built. Installs into temporary folders.
"""
import argparse
import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import completion
import hardening
from project import ROOT, declared_functions, run, soname
from library import Library
from report import Suite

PROGRAM_NEEDS = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6",
                 "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
PROGRAM_FLOOR = (2, 34)
PROGRAM_LARGEST = 17_200_000
SHELLS = {"bash": "share/bash-completion/completions/assay",
          "zsh": "share/zsh/site-functions/_assay",
          "fish": "share/fish/vendor_completions.d/assay.fish"}


def make(*arguments):
    return run("make", "--no-print-directory", *arguments, cwd=ROOT)


def library_files():
    """Return the files that `make install-lib` must write below PREFIX."""
    manual = {f"share/man/man3/{name}.3" for name in declared_functions()}
    return manual | {
        "include/assay.h", "include/assay.hpp", "include/assay_names.h", f"lib/{soname()}", "lib/libassay.so",
        "lib/pkgconfig/assay.pc",
        "lib/cmake/assay/assay-config.cmake", "lib/cmake/assay/assay-config-version.cmake",
        "share/man/man3/assay.3", "share/man/man3/libassay.3", "share/man/man7/assay-statuses.7",
        "share/assay/installed.txt"}


def program_files():
    """Return the files that `make install` adds."""
    return {"bin/assay", "share/man/man1/assay.1", *SHELLS.values()}


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if path.is_file() or path.is_symlink()}


def tree(folder):
    """Return {path: (kind, mode, content)} of every entry."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        content = os.readlink(path) if path.is_symlink() else \
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (path.is_dir(), mode, content)
    return found


def strangers(prefix):
    """Create files and empty folders of other software where the installation writes."""
    for name in ["include", "share/man/man3", "lib/cmake/other", "share/zsh/site-functions"]:
        (prefix / name).mkdir(parents=True)
    for name in ["share/man/man3/other.3", "lib/cmake/other/other-config.cmake", "lib/other.so"]:
        (prefix / name).write_text(name)


def check_files(suite, prefix):
    result = make("install", f"PREFIX={prefix}")
    suite.expect(result.returncode == 0, "make install",
                 (result.stdout + result.stderr)[-1500:])
    suite.expect(f"export LD_LIBRARY_PATH={prefix}/lib" in result.stdout,
                 "says what to do where the loader does not look", result.stdout[-500:])
    wanted, found = library_files() | program_files(), files_below(prefix)
    suite.expect(found == wanted, "installs these files", str(sorted(found ^ wanted)))
    for name in sorted(found):
        path = prefix / name
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = 0o755 if name in ("bin/assay", f"lib/{soname()}", "lib/libassay.so") else 0o644
        suite.expect(mode == wanted, f"the mode of {name}", oct(mode))
        suite.expect(not path.is_symlink() or path.exists(), f"{name} leads somewhere")
        if "share/man" in name or name.endswith((".cmake", ".pc", ".h")):
            suite.expect(not re.search(r"@[A-Z_]+@", path.read_text()), f"{name} is filled in")


def check_side_by_side(suite, folder):
    """Check that parallel installs each get their own prefix in their files."""
    prefixes = [folder / f"side{number}" for number in range(4)]
    for turn in range(3):
        running = [subprocess.Popen(["make", "--no-print-directory", "install-lib-files",
                                     f"PREFIX={prefix}", "MANIFEST="], cwd=ROOT,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True) for prefix in prefixes]
        faults = [one.communicate()[1] for one in running]
        suite.expect(not any(one.returncode for one in running),
                     f"four installs at once, turn {turn}", "".join(faults)[-800:])
        wrong = [prefix.name for prefix in prefixes
                 if f"prefix={prefix}\n" not in (prefix / "lib/pkgconfig/assay.pc").read_text()]
        suite.expect(not wrong, f"each of four installs has its own prefix, turn {turn}",
                     " ".join(wrong))


def check_library(suite, prefix):
    """Run library.py over the installed library."""
    result = run(sys.executable, ROOT / "Tests/Gates/library.py", prefix / "lib" / soname(),
                 "--shape", "embedded", "--crypto", "static", "--suite", "installed-library")
    counts = re.search(r"(\d+) passed, 0 failed", result.stdout)
    suite.expect(result.returncode == 0 and counts, "the installed library keeps its limits",
                 result.stdout[-1500:])


def check_program(suite, prefix):
    program = prefix / "bin/assay"
    library = Library(str(program))
    needed = set(library.tagged("NEEDED"))
    suite.expect(needed <= PROGRAM_NEEDS, "the program needs no other library",
                 " ".join(needed - PROGRAM_NEEDS))
    hardening.check(suite, program)
    highest = max(library.versions("GLIBC"))
    suite.expect(highest <= PROGRAM_FLOOR, "the program's glibc floor", str(highest))
    size = program.stat().st_size
    suite.expect(size <= PROGRAM_LARGEST, f"the program's size is at most {PROGRAM_LARGEST}",
                 f"{size} bytes")
    foreign = [name for name in ["FoundationEssentials", "CoreFoundation", "libdispatch"]
               if name.encode() in program.read_bytes()]
    suite.expect(not foreign, "the program holds no heavier runtime", " ".join(foreign))
    suite.expect(not re.search(r"\((RUNPATH|RPATH)\)", library.dynamic),
                 "the program has no RUNPATH")
    suite.expect(".symtab" not in library.sections, "the program is stripped")
    result = run(program, "--help")
    suite.expect(result.returncode == 0 and "verify" in result.stdout, "the program runs",
                 result.stderr)


def check_completion(suite, prefix):
    for shell, place in SHELLS.items():
        if shutil.which(shell) is None:
            suite.skip(f"completion for {shell}", f"{shell} is not installed")
            continue
        script, program = prefix / place, prefix / "bin/assay"
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "purchase.jws").touch()
            for line, wanted in [
                    ("assay veri", "verify"), ("assay config ch", "check"),
                    ("assay verify --ki", "--kind"), ("assay mint --list", "--list-forgeries"),
                    ("assay verify --kind attesta", "attestation"),
                    ("assay mint --environment Sa", "Sandbox"),
                    ("assay verify purch", "purchase.jws"),
                    ("assay verify --config purch", "purchase.jws")]:
                if shell == "zsh":
                    suite.expect(
                        completion.zsh_completes(script, line, wanted, program, folder),
                        f"zsh completes {line!r}")
                    continue
                ask = completion.bash if shell == "bash" else completion.fish
                offered = ask(script, line, program, folder)
                suite.expect(offered == [wanted], f"{shell} completes {line!r}",
                             " ".join(offered))


def check_uninstall(suite, prefix, before):
    for what, arguments in [("once more", ["install-lib-files", "install-cli-files"]),
                            ("the library alone", ["install-lib-files"])]:
        result = make(*arguments, f"PREFIX={prefix}")
        suite.expect(result.returncode == 0, f"installs {what}", result.stderr[-800:])
    lines = (prefix / "share/assay/installed.txt").read_text().splitlines()
    suite.expect(len(lines) == len(set(lines)), "the list names everything once")
    result = make("uninstall", f"PREFIX={prefix}")
    after = tree(prefix)
    suite.expect(result.returncode == 0 and after == before, "uninstall leaves what was before",
                 str(sorted(set(after.items()) ^ set(before.items())))[:1500])
    result = make("uninstall", f"PREFIX={prefix}")
    suite.expect(result.returncode == 0 and "nothing was installed" in result.stdout
                 and tree(prefix) == before, "uninstall again does nothing", result.stderr)


def check_kept(suite, prefix, before):
    """Check that uninstall keeps files that others have put into Assay's folders, and those
    folders."""
    make("install-lib-files", f"PREFIX={prefix}")
    (prefix / "lib/cmake/assay/mine.cmake").write_text("mine")
    make("uninstall", f"PREFIX={prefix}")
    left = set(tree(prefix)) - set(before)
    suite.expect(left == {"lib/cmake/assay", "lib/cmake/assay/mine.cmake"},
                 "uninstall leaves files that are not its own", str(left))


def build_with(suite, what, folder, environment, pkg_config):
    """Compile the one-page example by pkg-config and run it."""
    flags = run("pkg-config", "--cflags", "--libs", "assay",
                env=dict(environment, **pkg_config)).stdout.split()
    program = folder / "product"
    result = run("gcc", ROOT / "bindings/c/examples/product.c", "-o", program, *flags)
    built = suite.expect(result.returncode == 0, f"a program builds {what}", result.stderr[:800])
    result = run(program, env=environment) if built else None
    suite.expect(result and result.returncode == 2 and "usage" in result.stderr,
                 f"a program runs {what}", result.stderr[:800] if result else "")


def check_stage(suite, folder):
    """Check DESTDIR with the library folder of a distribution."""
    stage = folder / "stage"
    multiarch = "/usr/lib/x86_64-linux-gnu"
    result = make("install-lib-files", "PREFIX=/usr", f"LIBDIR={multiarch}", f"DESTDIR={stage}",
                  "MANIFEST=")
    suite.expect(result.returncode == 0, "installs with LIBDIR and DESTDIR", result.stderr[-800:])
    found = files_below(stage)
    suite.expect({f"{multiarch[1:]}/{soname()}", "usr/include/assay.h", "usr/include/assay.hpp"}
                 <= found
                 and not any("installed.txt" in name for name in found),
                 "LIBDIR is where the library goes; no list without MANIFEST", str(found)[:500])
    for name in sorted(found):
        suite.expect(str(stage) not in (stage / name).read_bytes().decode("latin-1"),
                     f"DESTDIR does not stand in {name}")
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{stage}{multiarch}")
    build_with(suite, "against a stage", folder, environment,
               {"PKG_CONFIG_LIBDIR": f"{stage}{multiarch}/pkgconfig",
                "PKG_CONFIG_SYSROOT_DIR": str(stage)})
    if shutil.which("cmake") is None:
        suite.skip("the CMake package in a stage", "cmake is not installed")
        return
    source = folder / "cmake-source"
    source.mkdir()
    shutil.copy(ROOT / "bindings/c/examples/product.c", source)
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(product C)\n"
        "find_package(assay 0.1 REQUIRED)\nadd_executable(product product.c)\n"
        "target_link_libraries(product PRIVATE assay::assay)\n")
    result = run("cmake", "-S", source, "-B", folder / "cmake",
                 f"-DCMAKE_PREFIX_PATH={stage}/usr",
                 "-DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu")
    result = run("cmake", "--build", folder / "cmake") if result.returncode == 0 else result
    suite.expect(result.returncode == 0, "the CMake package of a stage",
                 (result.stdout + result.stderr)[-800:])


def check_moved(suite, folder):
    """Check an installation that may be moved: assay.pc finds its prefix from its own location."""
    here, there = folder / "here", folder / "there"
    make("install-lib-files", f"PREFIX={here}", "PC_PREFIX=$${pcfiledir}/../..", "MANIFEST=")
    here.rename(there)
    build_with(suite, "against a folder that was moved", folder,
               dict(os.environ, LD_LIBRARY_PATH=f"{there}/lib"),
               {"PKG_CONFIG_LIBDIR": f"{there}/lib/pkgconfig"})


def check_refusal(suite):
    result = make("install-lib-files", "PREFIX=relative")
    suite.expect(result.returncode != 0 and "absolute" in result.stderr,
                 "a relative PREFIX is refused", result.stderr[-500:])
    suite.expect(not (ROOT / "relative").exists(), "and nothing is installed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the command line that was built")
    parser.add_argument("--suite", default="install")
    options = parser.parse_args()
    suite = Suite(options.suite)
    suite.expect(os.access(ROOT / options.program, os.X_OK), "the command line is built")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fresh = folder / "not/there/yet"
        check_files(suite, fresh)
        check_library(suite, fresh)
        check_program(suite, fresh)
        check_completion(suite, fresh)
        make("uninstall", f"PREFIX={fresh}")
        suite.expect(not (folder / "not").exists(), "a PREFIX that was made goes as well")
        prefix = folder / "prefix"
        prefix.mkdir()
        strangers(prefix)
        before = tree(prefix)
        check_uninstall(suite, prefix, before)
        check_kept(suite, prefix, before)
        check_stage(suite, folder)
        check_moved(suite, folder)
        check_side_by_side(suite, folder)
        check_refusal(suite)
    suite.finish()


if __name__ == "__main__":
    main()
