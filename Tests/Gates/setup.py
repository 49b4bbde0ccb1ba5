#!/usr/bin/env python3
"""Check what tools/deps.sh says and asks before it installs, and the lines of tools/pace.sh.

  setup.py [--suite NAME]

The programs that deps.sh calls are this machine's, but for Swift and apt-get, which are pretended,
and git, which is not there.
"""
import argparse
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile

from project import ROOT, run
from report import Suite

TOOLS = ("sh bash cat sed dirname readlink ldd sort tr id mktemp tail cut rm date sleep grep test "
         "gcc g++ readelf pkg-config make python3").split()
SWIFT = "#!/bin/sh\necho 'Swift version {} (swift-{}-RELEASE)'\n"
# Prints the plan as apt does, and keeps what it was asked to do.
APT = """#!/bin/sh
case "$*" in
  *--print-uris*) printf '%s\\n' '0 upgraded, 3 newly installed, 0 to remove' \\
    'Need to get 5,120 kB of archives.' \\
    'After this operation, 41.0 MB of additional disk space will be used.' ;;
  *) echo "$*" >> "$0.asked"; echo 'debconf: delaying, as apt-utils is not installed' >&2 ;;
esac
"""


class Machine:
    """A folder of programs that stands for a machine."""

    def __init__(self, folder, swift):
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        for name in TOOLS:
            found = shutil.which(name)
            if found:
                (self.bin / name).symlink_to(found)
        self.write("apt-get", APT)
        self.write("sudo", '#!/bin/sh\nexec "$@"\n')
        for name in ("swift", "swiftc") if swift else ():
            self.write(name, swift)

    def write(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    @property
    def environment(self):
        return {"PATH": str(self.bin), "HOME": "/", "TMPDIR": str(self.bin.parent)}

    def deps(self):
        return run("sh", ROOT / "tools/deps.sh", "demo", env=self.environment)

    def on_a_terminal(self, answer):
        """Run deps.sh with a terminal on which someone types; return (exit code, what it shows)."""
        above, below = pty.openpty()
        process = subprocess.Popen(["sh", ROOT / "tools/deps.sh", "demo"], env=self.environment,
                                   stdin=below, stdout=below, stderr=below)
        os.close(below)
        os.write(above, answer.encode())
        shown = b""
        while True:
            try:
                part = os.read(above, 4096)
            except OSError:  # Linux says so when the last one has closed it
                break
            if not part:
                break
            shown += part
        os.close(above)
        return process.wait(), shown.decode()

    def asked(self):
        path = self.bin / "apt-get.asked"
        return path.read_text() if path.exists() else ""


def check_swift(suite, folder):
    for name, swift, words in [
            ("none", None, "There is no swift on PATH"),
            ("old", SWIFT.format("6.1.2", "6.1.2"), "older"),
            ("broken", "#!/bin/sh\necho 'cannot open libxml2.so.2' >&2\nexit 127\n",
             "does not run:\ncannot open libxml2.so.2")]:
        machine = Machine(folder / name, swift)
        found = machine.deps()
        suite.expect(found.returncode != 0 and "Swift 6.2 or newer is needed" in found.stderr
                     and words in found.stderr, f"Swift: {name}", found.stdout + found.stderr)
        suite.expect(not machine.asked(), f"nothing is installed without Swift: {name}")
    for version in ("6.2", "6.10.1", "7.0"):
        machine = Machine(folder / version, SWIFT.format(version, version))
        found = machine.deps()
        suite.expect(found.returncode == 0, f"Swift {version} is new enough", found.stderr)


def check_plan(suite, folder):
    machine = Machine(folder / "plan", SWIFT.format("6.3", "6.3"))
    found = machine.deps()
    said = found.stdout + found.stderr
    for words in ("needed and not here: git\n", "3 packages", "to fetch: 5,120 kB",
                  "on the disk: 41.0 MB"):
        suite.expect(words in said, f"before it installs it says {words.strip()}", said)
    suite.expect("debconf" not in said, "apt's own words are kept back", said)
    suite.expect("install" in machine.asked() and " git" in machine.asked(),
                 "without a terminal it installs", machine.asked())
    machine = Machine(folder / "no", SWIFT.format("6.3", "6.3"))
    code, shown = machine.on_a_terminal("n\n")
    suite.expect(code != 0 and "install them? [Y/n]" in shown and "41.0 MB" in shown
                 and not machine.asked(), "on a terminal it asks, and takes a no", shown)
    machine = Machine(folder / "yes", SWIFT.format("6.3", "6.3"))
    code, shown = machine.on_a_terminal("\n")
    suite.expect(code == 0 and " git" in machine.asked(), "and a yes", shown)


def check_pace(suite):
    pace = ROOT / "tools/pace.sh"
    found = run(pace, "9", "waiting", "sleep", "2.5", env=dict(os.environ, EVERY="1"))
    lines = found.stderr.splitlines()
    suite.expect(found.returncode == 0 and len(lines) == 2
                 and lines[0] == "  waiting: 1 s passed, about 9 s expected", "a line each pause",
                 found.stderr)
    found = run(pace, "9", "failing", "sh", "-c", "echo out; exit 7")
    suite.expect((found.returncode, found.stdout, found.stderr) == (7, "out\n", ""),
                 "the command's output and exit code", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="setup")
    suite = Suite(parser.parse_args().suite)
    with tempfile.TemporaryDirectory() as folder:
        check_swift(suite, pathlib.Path(folder))
        check_plan(suite, pathlib.Path(folder))
    check_pace(suite)
    suite.finish()


if __name__ == "__main__":
    main()
