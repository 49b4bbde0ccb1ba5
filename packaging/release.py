"""What every package says about the release it is made from."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command, **more):
    """The output of a command that must succeed; what it said when it does not."""
    words = [str(word) for word in command]
    result = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{result.stdout}{result.stderr}")
    return result.stdout


def version():
    text = (ROOT / "include/assay.h").read_text()
    return re.search(r'^#define ASSAY_VERSION "(.*)"', text, re.M)[1]


def soname():
    text = (ROOT / "include/assay.h").read_text()
    return f"libassay.so.{re.search(r'^#define ASSAY_ABI ([0-9]+)', text, re.M)[1]}"


def epoch():
    """Seconds since 1970 that every archive carries: the time of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or run("git", "log", "-1", "--format=%ct", cwd=ROOT))


def make(*arguments):
    """A target of the Makefile; its output is dropped."""
    run("make", "--no-print-directory", *arguments, cwd=ROOT)


def stage(folder, library, program, prefix, *more):
    """Install what is built into a folder, without a list of it; the program may be None."""
    targets = ["install-lib-files", *(["install-cli-files", f"CLI={program}"] if program else [])]
    make(*targets, f"DESTDIR={folder}", f"PREFIX={prefix}", f"OUT={pathlib.Path(library).parent}",
         "MANIFEST=", *more)
