"""Find libassay, load it, and check that it fits this binding.

The library is searched for in this order:

1. `libassay.so.0` inside this package: what a wheel contains;
2. the file that the environment variable ASSAY_LIBRARY names, if it is set;
   the system is then not searched, so that a wrong path is never ignored;
3. `libassay.so.0`, as the system's loader finds it; also when ASSAY_LIBRARY is
   "system", as it is when such a package is made (build_wheel.py).

A library is used if it has every function of the header and its version is
not older than the header that this binding was generated from. A newer one of
the same ABI number (the 0 in the file's name) is fine.
"""

from __future__ import annotations

import os
from ctypes import CDLL, PyDLL

from ._prototypes import ASSAY_ABI, ASSAY_VERSION, ASSAY_VERSION_NUMBER, Functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE_NAME = f"libassay.so.{ASSAY_ABI}"
VARIABLE = "ASSAY_LIBRARY"
SYSTEM = "system"


def candidates(folder: str, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what to try, best first: (origin, name for the loader)."""
    yield "inside the package", os.path.join(folder, FILE_NAME)
    named = environment.get(VARIABLE)
    if named == SYSTEM:
        yield f"by the system's loader, as {VARIABLE} says", FILE_NAME
    elif named:
        yield f"named by {VARIABLE}", named
    else:
        yield f"by the system's loader ({VARIABLE} is not set)", FILE_NAME


def open_library(name: str) -> Functions:
    """Load one library and check it.

    Raises OSError with the reason if it cannot be loaded or does not fit.
    """
    if os.sep in name and not os.path.exists(name):
        raise OSError("no such file")
    try:
        working = CDLL(name)
    except OSError:
        if is_for_another_machine(name):
            raise OSError(f"built for another machine than {os.uname().machine}") from None
        raise
    try:
        functions = Functions(working, PyDLL(name, handle=working._handle))
    except AttributeError as missing:
        raise OSError(f"not libassay {ASSAY_VERSION} or later: {missing}") from None
    number = functions.assay_version_number()
    if number < ASSAY_VERSION_NUMBER:
        version = functions.assay_version().decode("ascii", "replace")
        raise OSError(f"it is libassay {version}, but {ASSAY_VERSION} or later is needed")
    abi = abi_number(functions.assay_build_info())
    if abi != ASSAY_ABI:
        raise OSError(f"it has ABI {abi}, but ABI {ASSAY_ABI} is needed")
    return functions


def is_for_another_machine(name: str) -> bool:
    """Return whether a file is a library for a machine other than the interpreter's.

    The loader reports such a file as missing.
    """
    heads = []
    for path in (name, "/proc/self/exe"):
        try:
            with open(path, "rb") as file:
                heads.append(file.read(20))
        except OSError:
            return False
    library, interpreter = heads
    return library[:4] == b"\x7fELF" and library[18:] != interpreter[18:]


def abi_number(build_info: bytes) -> int:
    """Return the member `abi` of assay_build_info, which is flat and compact JSON.

    The json module would cost as much as loading the library.
    """
    digits = build_info.partition(b'"abi":')[2].split(b",")[0].strip(b" }\n")
    return int(digits) if digits.isdigit() else -1


def load(folder: str, environment: Mapping[str, str]) -> tuple[str, Functions]:
    """Return the name and the functions of the first library that fits.

    Raises ImportError with every name tried and the reason why each failed.
    """
    tried = []
    for source, name in candidates(folder, environment):
        try:
            return name, open_library(name)
        except OSError as error:
            tried.append(f"  - {name}, {source}: {error}")
    raise ImportError(
        f"assay {ASSAY_VERSION}: no usable {FILE_NAME}. Tried:\n"
        + "\n".join(tried)
        + f"\nInstall the wheel that has the library inside, or set {VARIABLE} to its path.",
        name="assay",
    )


path, functions = load(os.path.dirname(os.path.abspath(__file__)), os.environ)
