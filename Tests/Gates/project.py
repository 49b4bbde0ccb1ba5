"""Where the project is, what include/assay.h declares, and how a check runs a program."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "assay.h"
sys.path.append(str(ROOT))

from tools.contract import header  # noqa: E402


def declared_functions():
    """Return the names of all functions that the header declares."""
    return {function.name for function in header.read(HEADER.read_text()).functions}


def soname():
    """Return libassay.so.N with the header's ABI number."""
    return f"libassay.so.{header.read(HEADER.read_text()).constant('ASSAY_ABI')}"


def version():
    """Return the header's version."""
    return header.read(HEADER.read_text()).constant("ASSAY_VERSION")


def run(*command, **more):
    """Run a program to its end, with its output as text and no input unless `input` is given."""
    if "input" not in more:
        more["stdin"] = subprocess.DEVNULL
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, **more)
