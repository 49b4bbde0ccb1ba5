"""The command line `assay` itself: `python -m assay_testing ARGUMENTS`."""

from __future__ import annotations

import os
import sys

from . import program


def main() -> None:
    """Replace this process by the command line."""
    path = str(program())
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
