"""`python -m assay_testing ARGUMENTS`: the command line `assay` itself."""

from __future__ import annotations

import os
import sys

from . import program


def main() -> None:
    """Become the command line."""
    path = str(program())
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
