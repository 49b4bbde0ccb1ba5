"""The commands of the table of mistakes, as calls of the Python binding."""
import datetime

import assay

# What a program that uses the binding knows of a file and a command finds out, by its name.
KINDS = {"r.jws": "renewal-info", "n.jws": "notification", "np.jws": "notification",
         "body.json": "notification", "a.jws": "app-transaction", "app.txt": "app-receipt",
         "form.txt": "app-receipt"}


def options_of(words):
    """Return {option: value} of the words after a command and its file."""
    return dict(zip(words[::2], words[1::2], strict=True))


def time_of(text):
    return int(text) if text.isdigit() else datetime.datetime.fromisoformat(
        text.replace("Z", "+00:00"))


class PythonHost:
    """A program in the folder of the files: it makes the call that a command makes."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, words):
        """Return (status or exception, place, what a log shows)."""
        try:
            found = self.call(*words)
        except assay.AssayError as refusal:
            return refusal.status, refusal.at or "", str(refusal)
        except (TypeError, ValueError) as fault:
            return type(fault).__name__, "", str(fault)
        if isinstance(found, assay.Decision):
            return found.document.status, "", repr(found)
        return "ok", "", ""

    def text(self, name):
        return (self.folder / name).read_text()

    def call(self, command, file, *words):
        if command == "config":
            return assay.Verifier(self.text(words[-1].removeprefix("<")))
        given = options_of(words)
        verifier, now = assay.Verifier(self.text(given["--config"])), time_of(given["--now"])
        if file.endswith("b64"):
            return self.attested(verifier, file, given, now)
        name = file.rpartition(":")[2]
        kind = given.get("--kind", KINDS.get(name, "transaction"))
        document = verifier.verify(kind, self.text(name), now)
        if command == "decide":
            return verifier.decide(document, given.get("--account"), now)
        return document.raise_for_status()

    def attested(self, verifier, file, given, now):
        asked = {"now": now}
        if "--client-data" in given:
            asked["client_data"] = given["--client-data"]
        if "--client-data-file" in given:
            asked["client_data"] = (self.folder / given["--client-data-file"]).read_bytes()
        if "--client-data-hash" in given:
            asked["client_data_hash"] = bytes.fromhex(given["--client-data-hash"])
        if "--key-id" in given:
            asked["key_id"] = given["--key-id"]
        text = self.text(file).strip()
        if "--public-key" in given:
            return verifier.verify_assertion(text, public_key=given["--public-key"],
                                             counter=int(given["--counter"]), **asked)
        return verifier.verify_attestation(text, **asked)
