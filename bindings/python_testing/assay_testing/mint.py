"""`python -m assay_testing.mint ARGUMENTS`: `assay mint` of the command line."""

from __future__ import annotations

import os
import sys

from . import program


def main() -> None:
    """Become `assay mint`."""
    path = str(program())
    os.execv(path, [path, "mint", *sys.argv[1:]])


if __name__ == "__main__":
    main()
