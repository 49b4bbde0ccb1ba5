"""Write the Node.js files: what the addon needs of the header, facts, operations, their types."""
from . import calls, facts, header, ledger


def files(contract):
    return {**header.files(contract), **facts.files(contract), **calls.files(contract),
            **ledger.files(contract)}
