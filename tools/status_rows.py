"""Read Sources/Assay/Verdict/statuses.tsv: the one table of statuses."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = [
    (0, "ok", "Verified: every check passed."),
    (1, "rejected", "Well formed, but not authentic, not for us, or not allowed."),
    (2, "malformed", "Not the format it claims to be."),
    (3, "unsupported", "Algorithm, version or kind not handled."),
    (4, "too-large", "A size, depth or count limit was exceeded."),
    (5, "misuse", "The calling program broke a rule."),
    (6, "config", "The configuration is not usable."),
    (7, "unavailable", "The other side gave no usable answer: retry."),
    (8, "internal", "A bug or a damaged build; nothing was trusted."),
    (9, "pending", "Nothing is decided yet: take the next step."),
]


class Row:
    """One status: a line of statuses.tsv."""

    def __init__(self, line):
        (family, detail, self.name, self.message, self.hint, self.retry,
         self.http, self.rules) = line.split("\t")
        self.family, self.detail = int(family), int(detail)
        self.code = self.family | self.detail << 8

    @property
    def constant(self):
        """rejected.chain.not-ca -> rejectedChainNotCa."""
        words = self.name.replace("-", ".").split(".")
        return words[0] + "".join(w[:1].upper() + w[1:] for w in words[1:])


def rows():
    text = (ROOT / "Sources/Assay/Verdict/statuses.tsv").read_text()
    found = [Row(line) for line in text.splitlines() if line and not line.startswith("#")]
    found.sort(key=lambda row: (row.family, row.detail))
    for attribute in ("code", "name"):
        values = [getattr(row, attribute) for row in found]
        if len(set(values)) != len(values):
            sys.exit(f"statuses.tsv: a {attribute} stands twice")
    for row in found:
        if FAMILIES[row.family][1] != row.name.split(".")[0]:
            sys.exit(f"statuses.tsv: {row.name} is not of family {row.family}")
    return found


def quoted(text):
    """A literal of Swift, and of Python too."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
