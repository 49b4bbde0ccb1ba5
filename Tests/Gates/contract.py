"""Read the declarations of include/assay.h, and run programs, for the other checks."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "assay.h"


def declared_functions(text=None):
    """Return the names of all functions that the header declares with ASSAY_API."""
    text = HEADER.read_text() if text is None else text
    code = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    code = re.sub(r"^\s*#.*$", "", code, flags=re.M)
    names = re.findall(r"ASSAY_API\b[^;()]*?\b(assay_\w+)\s*\(", code)
    if len(names) != len(set(names)):
        raise SystemExit("assay.h declares a function twice")
    return set(names)


def soname():
    """Return libassay.so.N with the header's ABI number."""
    number = re.search(r"^#define ASSAY_ABI (\d+)", HEADER.read_text(), re.M)
    return f"libassay.so.{number[1]}"


def version():
    """Return the header's version."""
    return re.search(r'^#define ASSAY_VERSION "(.*)"', HEADER.read_text(), re.M)[1]


def run(*command, **more):
    """Run a program to its end, with its output as text and no input unless `input` is given."""
    if "input" not in more:
        more["stdin"] = subprocess.DEVNULL
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, **more)
