"""Write the Swift files: the tables of the library, and the typed layer of Swift hosts."""
from . import configuration, hosts, ledger, library, operations


def files(contract):
    return {**library.files(contract), **configuration.files(contract),
            **operations.files(contract), **hosts.files(contract), **ledger.files(contract)}
