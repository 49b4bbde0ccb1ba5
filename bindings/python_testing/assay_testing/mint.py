"""The command `assay mint`: `python -m assay_testing.mint ARGUMENTS`."""

from __future__ import annotations

import os
import sys

from . import program


def main() -> None:
    """Replace this process by `assay mint`."""
    path = str(program())
    os.execv(path, [path, "mint", *sys.argv[1:]])


if __name__ == "__main__":
    main()
