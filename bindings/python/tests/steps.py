"""Database steps as the library writes them (docs/spec/ledger.md, STO-2), made by hand."""
import itertools

_ids = itertools.count(1)


def sql(text, *args, rows=False):
    return {"sql": text, "args": list(args), "returnsRows": rows}


def step(*calls, transaction=None, engine="sqlite", once=False):
    return {
        "id": next(_ids), "engine": engine, "repeatable": not once,
        "connection": "same" if transaction else "any", "transaction": transaction,
        "calls": list(calls),
    }


class Exchange:
    """An exchange made by hand, which returns the payloads in order and records the replies."""

    def __init__(self, *payloads):
        self.payloads, self.answers, self.is_closed = list(payloads), [], False
        self.document = "the end"

    @property
    def done(self):
        return not self.payloads or self.is_closed

    @property
    def payload(self):
        return self.payloads[0]

    def step(self, answer, now=None):
        self.answers.append(answer)
        self.payloads.pop(0)

    def close(self):
        self.is_closed = True


GRANT = {"id": 90, "purchaseKey": "Production/p/1", "grantId": "g" * 64, "fencingToken": 1,
         "account": "ann", "product": "coins", "quantity": 2}


def store(made):
    return {"step": "database", "database": made}


def grant():
    return {"step": "grant", "grant": GRANT}
