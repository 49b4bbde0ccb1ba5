#!/usr/bin/env python3
"""Check that the Debian packages install, work, and leave no file behind.

  deb.py FOLDER CASES [--suite NAME]

dpkg installs the packages into a root of its own, whose list of packages is a copy of this
machine's: dependencies are resolved as on this machine, which stays unchanged. Programs are then
built against the installed files and run.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from project import ROOT, declared_functions, run, soname, version
from report import Suite

sys.path.insert(0, str(ROOT / "bindings/python/tests"))
import case_table  # noqa: E402

PACKAGES = ["libassay0", "libassay-dev", "assay"]
# A lintian tag for uploads to Debian's archive, which must close a bug report; these are none.
NOT_FOR_US = "initial-upload-closes-no-bugs"


def field(deb, name):
    return run("dpkg-deb", "-f", deb, name).stdout.strip()


def packages(suite, folder):
    """Return {package: file}; exactly the three packages must be there."""
    found = {field(path, "Package"): path for path in sorted(folder.glob("*.deb"))}
    suite.expect(sorted(found) == sorted(PACKAGES), "the three packages", " ".join(found))
    return found


def check_control(suite, debs):
    for name, deb in debs.items():
        wanted = version()
        suite.expect(field(deb, "Version").rpartition("-")[0] == wanted,
                     f"{name} has the version of the header", field(deb, "Version"))
    library = field(debs["libassay0"], "Depends")
    for word in ("libc6 (>= 2.34)", "libssl3"):
        suite.expect(word in library, f"libassay0 depends on {word}", library)
    for word in ("libstdc++", "swift"):
        suite.expect(word not in library, f"libassay0 does not depend on {word}", library)
    exact = f"libassay0 (= {field(debs['libassay0'], 'Version')})"
    suite.expect(exact in field(debs["libassay-dev"], "Depends"),
                 "libassay-dev depends on the same version")
    suite.expect("libassay0" not in field(debs["assay"], "Depends"),
                 "the command line needs no library of ours")
    listed = re.findall(r"^ (assay_\w+)@ASSAY_0 ",
                        (ROOT / "packaging/debian/libassay0.symbols").read_text(), re.M)
    suite.expect(set(listed) == declared_functions(), "the symbols are those of the header",
                 str(set(listed) ^ declared_functions()))


def check_lintian(suite, debs):
    if shutil.which("lintian") is None:
        suite.skip("lintian", "it is not installed")
        return
    result = run("lintian", "--fail-on", "error,warning", "--suppress-tags", NOT_FOR_US,
                 *debs.values())
    suite.expect(result.returncode == 0, "lintian has nothing to say",
                 (result.stdout + result.stderr)[:1500])


def check_reproducible(suite, debs, folder):
    """Check that a second build from the same library and program has the same bytes."""
    again = folder / "again"
    result = run(sys.executable, ROOT / "packaging/deb.py",
                 "--library", ROOT / "build/embedded-shared/lib" / soname(),
                 "--program", ROOT / ".build/release/assay-cli", "--out", again)
    suite.expect(result.returncode == 0, "they can be built again", result.stderr[-800:])
    for name, deb in debs.items():
        other = again / deb.name
        suite.expect(other.exists() and hashlib.sha256(other.read_bytes()).digest()
                     == hashlib.sha256(deb.read_bytes()).digest(), f"{name} is reproducible")


class Root:
    """A root for dpkg, with files of its own and this machine's list of packages."""

    def __init__(self, folder):
        self.folder = folder
        admin = folder / "var/lib/dpkg"
        (admin / "info").mkdir(parents=True)
        (admin / "updates").mkdir()
        (admin / "triggers").mkdir()
        text = pathlib.Path("/var/lib/dpkg/status").read_text(errors="replace")
        kept = [part for part in text.split("\n\n") if part.strip()
                and not re.match(rf"Package: ({'|'.join(PACKAGES)})\n", part)]
        (admin / "status").write_text("\n\n".join(kept) + "\n")
        if pathlib.Path("/var/lib/dpkg/arch").exists():
            shutil.copy("/var/lib/dpkg/arch", admin)

    def dpkg(self, *arguments):
        # Triggers belong to packages that are listed but have no files in this root.
        return run("dpkg", f"--root={self.folder}", "--force-not-root", "--no-triggers",
                   "--log=/dev/null", *arguments, env=dict(os.environ, LC_ALL="C"))

    def files(self):
        """Return every path outside of dpkg's own folder."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                if not str(path.relative_to(self.folder)).startswith("var")}


def check_dependencies(suite, debs, folder):
    """Check that dpkg refuses the library without libssl3, so that a successful install means
    something."""
    root = Root(folder / "bare")
    status = root.folder / "var/lib/dpkg/status"
    status.write_text("\n\n".join(part for part in status.read_text().split("\n\n")
                                  if not part.startswith("Package: libssl3\n")))
    result = root.dpkg("-i", debs["libassay0"])
    suite.expect(result.returncode != 0 and "libssl3" in result.stderr,
                 "without libssl3 dpkg refuses the library", result.stderr[-500:])


def check_install(suite, debs, root):
    result = root.dpkg("-i", *debs.values())
    suite.expect(result.returncode == 0, "dpkg -i installs the three",
                 (result.stdout + result.stderr)[-1500:])
    listed = root.dpkg("-l", *PACKAGES).stdout
    suite.expect(len(re.findall(r"^ii ", listed, re.M)) == 3, "all are installed", listed)
    verified = root.dpkg("--verify", *PACKAGES)
    suite.expect(verified.returncode == 0 and not verified.stdout.strip(),
                 "dpkg --verify finds what was packed", verified.stdout[:500])


def example_environment(root, multiarch):
    lib = f"{root.folder}/usr/lib/{multiarch}"
    return dict(os.environ, LD_LIBRARY_PATH=lib, PKG_CONFIG_LIBDIR=f"{lib}/pkgconfig",
                PKG_CONFIG_SYSROOT_DIR=str(root.folder))


def check_use(suite, root, cases, folder):
    """Build verify.c against the installed packages; run it and the installed command line."""
    multiarch = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").stdout.strip()
    environment = example_environment(root, multiarch)
    said = run("pkg-config", "--modversion", "assay", env=environment).stdout.strip()
    suite.expect(said == version(), "pkg-config finds the package", said)
    flags = run("pkg-config", "--cflags", "--libs", "assay", env=environment).stdout.split()
    program = folder / "verify"
    result = run("gcc", ROOT / "bindings/c/examples/verify.c", "-o", program, *flags, "-lcjson")
    suite.expect(result.returncode == 0, "verify.c builds against the packages",
                 result.stderr[:800])
    table = case_table.CaseTable(cases)
    case = table.accepted("transaction")
    (folder / "config.json").write_text(json.dumps(table.configuration(case["verifier"])))
    text = case_table.octets_of(case, "jws")
    (folder / "good.jws").write_bytes(text)
    head, _, rest = text.partition(b".")
    forged = rest[:-8] + (b"AAAAAAAA" if rest[-8:] != b"AAAAAAAA" else b"BBBBBBBB")
    (folder / "forged.jws").write_bytes(head + b"." + forged)
    for name, code, word in [("good", 0, "verified: transaction"), ("forged", 1, "refused: ")]:
        arguments = [folder / "config.json", "transaction", folder / f"{name}.jws", "--at",
                     case["now"]]
        result = run(program, *arguments, env=environment)
        suite.expect(result.returncode == code and result.stdout.startswith(word),
                     f"verify.c over the packages: {name}", result.stdout[:300] + result.stderr)
        result = run(root.folder / "usr/bin/assay", "verify", folder / f"{name}.jws",
                     "--kind", "transaction", "--config", folder / "config.json",
                     "--now", case["now"])
        suite.expect(result.returncode == code, f"the packaged command line: {name}",
                     result.stdout[:300] + result.stderr[:300])


def check_remove(suite, debs, root, before):
    result = root.dpkg("-i", *debs.values())
    suite.expect(result.returncode == 0, "dpkg -i over themselves", result.stderr[-500:])
    result = root.dpkg("-r", *PACKAGES)
    suite.expect(result.returncode == 0 and root.files() == before, "dpkg -r leaves nothing",
                 result.stderr[-500:] + str(sorted(root.files() ^ before))[:800])
    root.dpkg("-i", *debs.values())
    result = root.dpkg("-P", *PACKAGES)
    suite.expect(result.returncode == 0 and root.files() == before, "dpkg -P leaves nothing",
                 result.stderr[-500:] + str(sorted(root.files() ^ before))[:800])
    result = root.dpkg("-s", "libassay0")
    suite.expect("Status: install ok installed" not in result.stdout, "and dpkg knows it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases")
    parser.add_argument("--suite", default="deb")
    options = parser.parse_args()
    suite = Suite(options.suite)
    debs = packages(suite, options.folder.resolve())
    check_control(suite, debs)
    check_lintian(suite, debs)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_reproducible(suite, debs, folder)
        check_dependencies(suite, debs, folder)
        root = Root(folder / "root")
        (root.folder / "usr/include").mkdir(parents=True)
        (root.folder / "usr/include/other.h").write_text("/* of another package */\n")
        before = root.files()
        check_install(suite, debs, root)
        check_use(suite, root, options.cases, folder)
        check_remove(suite, debs, root, before)
    suite.finish()


if __name__ == "__main__":
    main()
