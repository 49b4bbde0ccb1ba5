"""Ask Apple what a migration left open: each line of its ask.ndjson.

    python3 ask.py migrate-look config.json sqlite:////var/lib/shop/ledger.db

writes, beside ask.ndjson,

    answers.ndjson           rows for another `assay migrate`: the account, and what Apple signed
    unknown-to-apple.ndjson  the lines that Apple did not answer, with the status

config.json has the block `appStoreServerApi`. Each question waits for a permit of the ledger, which
the shop shares: both together stay below half of Apple's limit. Killed, or Apple is away: the same
command goes on where it was.
"""

import base64
import itertools
import json
import os
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import assay
from assay.http import Sender
from assay.ledger import Ledger

# The questions at once: there are 25 permits a second, and Apple answers in about a third of one.
THREADS = 8
# The questions after which the place is noted, and the most texts of a row.
CHUNK, TEXTS = 64, 32
NAMES = ("answers.ndjson", "unknown-to-apple.ndjson")
ENVIRONMENTS = ("Production", "Sandbox")
LIMITED = "unavailable.app-store.local-rate-limit"
UNAUTHORIZED = "rejected.app-store.unauthorized"


def signed(value):
    """Yield the signed texts of an answer."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name in ("signedTransactionInfo", "signedRenewalInfo"):
                yield each
            elif name == "signedTransactions":
                yield from each
            else:
                yield from signed(each)
    elif isinstance(value, list):
        for each in value:
            yield from signed(each)


def payload(text):
    middle = text.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))


class Questions:
    """The questions of one migration. Any number of threads may ask."""

    def __init__(self, ledger, send):
        self.ledger, self.send = ledger, send

    def ask(self, line):
        """Return the rows, and None; or none, and the line with its status. Raises AssayError if
        Apple is away, or refuses the key."""
        id = line.get("originalTransactionId") or line["transactionId"]
        environment, operation = line["environment"], line["operation"]
        if environment not in ENVIRONMENTS:
            return [], line | {"status": "unsupported.app-store.environment"}
        while not (permit := self.ledger.acquire_rate_permit(operation, environment)).ok:
            if permit.status != LIMITED:
                permit.raise_for_status()
        answers = []

        def keep(request):
            reply = self.send(request)
            answers.append(reply)
            return reply

        request = {"operation": operation, "environment": environment, "transactionId": id}
        if operation == "get-transaction-history":
            request["options"] = {"pages": 100}
        with self.ledger.verifier.exchange(request) as exchange:
            document = exchange.run(keep, max_wait=3600)
        try:
            document.raise_for_status()
        except (assay.UnavailableError, assay.PendingError, assay.ConfigError):
            raise
        except assay.AssayError as refusal:
            if refusal.status == UNAUTHORIZED:
                raise
            return [], line | {"status": refusal.status}
        # Every text was verified. An answer has the customer's other purchases, too, and the line
        # says nothing about whose those are.
        texts = dict.fromkeys(
            text
            for answer in answers
            if answer["status"] == 200
            for text in signed(json.loads(answer["body"]["text"]))
        )
        found = [(text, payload(text)) for text in texts]
        of = {
            each["originalTransactionId"]
            for _, each in found
            if id in (each["originalTransactionId"], each.get("transactionId"))
        }
        texts = [text for text, each in found if each["originalTransactionId"] in of]
        if not texts:
            return [], line | {"status": document.status}
        head = {
            "account": line["account"],
            "environment": environment,
            "originalTransactionId": next(iter(of), id),
        }
        return [
            head | {"evidences": texts[at : at + TEXTS]} for at in range(0, len(texts), TEXTS)
        ], None


class Outcome:
    """Some files, and the place that they have reached: lines that are done, and the bytes of
    each."""

    def __init__(self, place, *paths):
        self.place = place
        self.done, *sizes = (
            json.loads(place.read_text()) if place.exists() else [0] * (1 + len(paths))
        )
        self.files = []
        for path, size in zip(paths, sizes):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            os.ftruncate(descriptor, size)
            self.files.append(os.fdopen(descriptor, "r+b"))
            self.files[-1].seek(size)

    def write(self, *lines_of_files, count=1):
        """Write what some lines come to, a list of lines for each file."""
        for file, lines in zip(self.files, lines_of_files):
            for line in lines:
                file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self.done += count

    def note(self):
        """Note the place, by a rename: a kill before it repeats the lines since the last."""
        for file in self.files:
            file.flush()
            os.fsync(file.fileno())
        part = self.place.with_name(f"{self.place.name}.part-{os.getpid()}")
        part.write_text(json.dumps([self.done, *(file.tell() for file in self.files)]))
        part.replace(self.place)

    def close(self):
        for file in self.files:
            file.close()


def ask(folder, ledger, send):
    """Ask Apple every line of ask.ndjson in a folder. Return how many have been asked."""
    questions = Questions(ledger, send)
    with (
        open(folder / "ask.ndjson", encoding="utf-8") as lines,
        closing(Outcome(folder / "asked.json", *(folder / name for name in NAMES))) as outcome,
        ThreadPoolExecutor(THREADS) as pool,
    ):
        lines = map(json.loads, itertools.islice(lines, outcome.done, None))
        while chunk := list(itertools.islice(lines, CHUNK)):
            for rows, unknown in pool.map(questions.ask, chunk):
                outcome.write(rows, [unknown] if unknown else [])
            outcome.note()
        return outcome.done


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, config, url = sys.argv[1:]
    with closing(Ledger(url, json.loads(pathlib.Path(config).read_text()))) as ledger:
        try:
            print(f"asked {ask(pathlib.Path(folder), ledger, Sender())}")
        except assay.AssayError as refusal:
            sys.exit(f"{refusal}\nthe same command goes on from here")


if __name__ == "__main__":
    main()
