"""Write the Node.js files: what the addon needs of the header, facts, operations, their types."""
from . import calls, configuration, facts, header, ledger


def files(contract):
    return {name: text for writer in (header, configuration, facts, calls, ledger)
            for name, text in writer.files(contract).items()}
