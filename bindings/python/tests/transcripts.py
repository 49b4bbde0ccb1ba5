"""Exchanges of the case table: transcripts, and what becomes of their exchanges."""
import contextlib
import json
import threading
from unittest import mock

from assay import exchange as exchanges
from case_table import given, table


def transcript(name):
    """The case of the table that is a transcript of this name, or of what follows its rule."""
    for case in table().cases:
        if case["call"] == "transcript" \
                and name in (case["name"], case["name"].partition(": ")[2]):
            return case
    raise AssertionError(f"the case table has no transcript {name}")


def answers(case):
    """The answer to each step of a transcript."""
    return [json.loads(given(step, "answer")) for step in case["steps"]]


def bodies(case):
    """What Apple says in a transcript, one body after the other."""
    for answer in answers(case):
        if answer.get("body"):
            yield answer["body"]["text"].encode()


def begun(case, verifier=None):
    """The exchange of a transcript, before its first answer."""
    verifier = verifier or table().verifier(case["verifier"])
    return verifier.exchange(given(case, "request"), now=case["now"])


def played(case):
    """The exchange of a transcript after its last answer."""
    exchange = begun(case)
    for step, answer in zip(case["steps"], answers(case)):
        exchange.step(answer, step["now"])
    return exchange


@contextlib.contextmanager
def watched():
    """The addresses of the exchanges that the library is given back."""
    freed = []
    free = exchanges.OwnedExchange.__del__

    def noting(handle):
        if handle:
            freed.append(handle.value)
        free(handle)

    with mock.patch.object(exchanges.OwnedExchange, "__del__", noting):
        yield freed


class Door:
    """Steps go to the library through it: while it is closed, they wait inside of the call."""

    def __init__(self):
        self.step = exchanges._exchange_step
        self.inside = threading.Event()
        self.open = threading.Event()

    def __call__(self, *arguments):
        self.inside.set()
        self.open.wait(30)
        return self.step(*arguments)

    def __enter__(self):
        self.patch = mock.patch.object(exchanges, "_exchange_step", self)
        self.patch.start()
        return self

    def __exit__(self, *_):
        self.open.set()
        self.patch.stop()
