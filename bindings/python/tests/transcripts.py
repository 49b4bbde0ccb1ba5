"""The transcripts of the case table, and the results of their exchanges."""
import contextlib
import json
import threading
from unittest import mock

from assay import exchange as exchanges
from case_table import given, table


def transcript(name):
    """Return the case that is a transcript of this name, or of the text that follows its rule."""
    for case in table().cases:
        if case["call"] == "transcript" \
                and name in (case["name"], case["name"].partition(": ")[2]):
            return case
    raise AssertionError(f"the case table has no transcript {name}")


def answers(case):
    """Return the reply to each step of a transcript."""
    return [json.loads(given(step, "answer")) for step in case["steps"]]


def bodies(case):
    """Return the bodies of Apple's responses in a transcript, in order."""
    for answer in answers(case):
        if answer.get("body"):
            yield answer["body"]["text"].encode()


def begun(case, verifier=None):
    """Return the exchange of a transcript before its first reply."""
    verifier = verifier or table().verifier(case["verifier"])
    return verifier.exchange(given(case, "request"), now=case["now"])


def played(case):
    """Return the exchange of a transcript after its last reply."""
    exchange = begun(case)
    for step, answer in zip(case["steps"], answers(case)):
        exchange.step(answer, step["now"])
    return exchange


@contextlib.contextmanager
def watched():
    """Record the addresses of the exchanges that are freed in the library."""
    freed = []
    free = exchanges.OwnedExchange.__del__

    def noting(handle):
        if handle:
            freed.append(handle.value)
        free(handle)

    with mock.patch.object(exchanges.OwnedExchange, "__del__", noting):
        yield freed


class Door:
    """Passes steps to the library; while the door is closed, they wait inside of the call."""

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
