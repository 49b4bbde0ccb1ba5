"""Write the files that follow from the contract, or say which are not what would be written."""
import sys

from . import c, go, node, pages, php, python, swift
from .reader import ROOT, Contract

# Each has files(contract) -> {path below the repository: text}, and knows no file of another.
WRITERS = (swift, python, php, go, node, c, pages)


def main():
    is_check = "--check" in sys.argv[1:]
    contract, stale = Contract(), []
    for writer in WRITERS:
        for name, text in writer.files(contract).items():
            path = ROOT / name
            if path.exists() and path.read_text() == text:
                continue
            stale.append(name)
            if not is_check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    for name in stale:
        print(("stale: " if is_check else "wrote ") + name)
    return 1 if is_check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
