"""Read contract/statuses.tsv, the table of statuses, and write its documentation page."""
import pathlib
import re
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
# Kinds of evidence that may have a hint of their own, in words; Swift's HintKind lists the same.
HINT_KINDS = {
    "jws": "a JWS", "transaction-receipt": "a transaction receipt",
    "app-receipt": "an app receipt", "attest-receipt": "an App Attest receipt",
    "embedded-receipt": "the receipt inside an attestation",
    "verify-receipt-response": "an answer of verifyReceipt", "triage": "triage",
    "attestation": "an attestation", "assertion": "an assertion",
    "token": "an access token", "keyset": "a key set", "decision": "a decision",
    "risk": "a risk assessment", "exchange": "an exchange", "configuration": "a configuration",
}
# The meaning of each retry class, and the remedy for a refusal of each family.
RETRY = {
    "never": "The same evidence will be refused again.",
    "later": "Try again later, with back-off; keep the evidence.",
    "same-once": "Ask the same endpoint again, once.",
    "other-environment": "Ask the endpoint of the other environment, once.",
    "after-config": "Passes after you change the configuration: keep the evidence.",
}
ANSWERS = {
    "rejected": "Trust nothing in it. Log the status, the place and the hint; give the client "
                "one text for every 400 and 403.",
    "malformed": "The bytes are not what they should be: damaged in transit, of another kind, "
                 "or forged. Ask for them again once.",
    "unsupported": "Possibly newer than this library: keep the evidence and look for an update.",
    "too-large": "A cap was exceeded before memory was allocated. Genuine evidence stays far "
                 "below the caps.",
    "misuse": "Your program made an invalid call: fix the call. The client is not to blame.",
    "config": "Fix the configuration; error.at names the member.",
    "unavailable": "This says nothing about the customer: a running period continues.",
    "internal": "Report it, with assay_build_info and the document.",
    "pending": "Not a refusal: a step is open, or evidence is worth verifying.",
}


NUMBERS = {family: number for number, family, _ in FAMILIES}


class Row:
    """One status: a line of statuses.tsv, with the lines of hints below."""

    def __init__(self, fields):
        (self.name, detail, self.http, self.retry, self.rules, self.message, self.hint) = fields
        family = self.name.partition(".")[0]
        if family not in NUMBERS or self.retry not in {*RETRY, "reserved"}:
            sys.exit(f"statuses.tsv: family or retry class of {self.name}")
        self.family, self.detail = NUMBERS[family], int(detail)
        self.code = self.family | self.detail << 8
        # [([kind], hint)] where the kinds that give the status need different hints.
        self.hints, self.has_one_hint = [], False

    def add(self, names, *hint):
        """Add a hint line: kinds and their hint, or the statement that one hint fits every kind."""
        kinds = names.split(",")
        if self.has_one_hint or (names == "any" and (hint or self.hints)):
            sys.exit(f"statuses.tsv: {self.name} has one hint for any kind, that of its line")
        if names == "any":
            self.has_one_hint = True
            return
        told = [kind for others, _ in self.hints for kind in others] + kinds
        if len(hint) != 1 or not hint[0] or set(kinds) - set(HINT_KINDS) or \
                len(set(told)) != len(told):
            sys.exit(f"statuses.tsv: cannot read the hint of {self.name} for {names}")
        self.hints.append((kinds, hint[0]))

    @property
    def client(self):
        """The HTTP status for a client; 500 for a fault on the host's side."""
        return int(self.http) if self.http.isdigit() else 500

    @property
    def constant(self):
        """The name of the Swift constant: rejected.chain.not-ca -> rejectedChainNotCa."""
        words = self.name.replace("-", ".").split(".")
        return words[0] + "".join(w[:1].upper() + w[1:] for w in words[1:])


def for_whom(kinds):
    """Describe kinds in words: ["jws", "app-receipt"] -> "a JWS, an app receipt"."""
    return ", ".join(HINT_KINDS[kind] for kind in kinds)


def rows(also_reserved=False):
    """Return the statuses by family and detail; those without a check yet only if asked for."""
    found = []
    for line in (ROOT / "contract/statuses.tsv").read_text().splitlines():
        fields = line.split("\t")
        if not line or line.startswith("#"):
            continue
        if fields[0]:
            found.append(Row(fields))
        else:
            found[-1].add(*fields[1:])
    found = sorted((row for row in found if also_reserved or row.retry != "reserved"),
                   key=lambda row: (row.family, row.detail))
    for attribute in ("code", "name"):
        values = [getattr(row, attribute) for row in found]
        if len(set(values)) != len(values):
            sys.exit(f"statuses.tsv: a {attribute} appears twice")
    for row in found:
        if re.search(r'["\\]', row.message):
            sys.exit(f"statuses.tsv: the message of {row.name} would have to be escaped in JSON")
    return found


def quoted(text):
    """Return a string literal that is valid in Swift and in Python."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def statuses_page():
    """Return docs/statuses.md of the site and of a release."""
    out = ["# Every refusal", "A call answers with a status. `status & 0xff` is the family, and "
           "all that code should branch on; the rest is detail. Cause and remedy are the sentences "
           "in `error.message` and `error.hint` of a document. *Answer* is what a back end would "
           "tell its own client; the six answers that a client needs are in "
           "[Receipts](receipts.md#5-answer-the-client), the rest in "
           "[errors.md](tasks/errors.md)."]
    for number, family, meaning in FAMILIES:
        out.append(f"## {number} {family}\n\n{escaped(meaning)} {escaped(ANSWERS.get(family, ''))}")
        area = None
        for row in sorted((row for row in rows() if row.family == number),
                          key=lambda row: row.name.split(".")):
            if row.name.split(".")[1] != area:
                area = row.name.split(".")[1]
                out.append(f"### {family}.{area}")
            facts = [("cause", row.message), ("remedy", row.hint),
                     *((for_whom(kinds), hint) for kinds, hint in row.hints),
                     ("again?", f"{RETRY[row.retry]} ({row.retry})"),
                     ("answer", f"HTTP {row.http}" if row.http.isdigit() else row.http),
                     ("rule", row.rules.replace(",", ", ") or "–"),
                     ("code", f"{row.code} = {row.family} + 256 × {row.detail}")]
            out.append(f"#### `{row.name}`\n\n" + "\n".join(
                f"- *{name}:* {escaped(words)}" for name, words in facts))
    return "\n\n".join(out)


def escaped(words):
    """Escape Markdown in a text, except inside code marks."""
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\\])", r"\\\1", part)
                   for part in re.split(r"(`[^`]*`)", words))
