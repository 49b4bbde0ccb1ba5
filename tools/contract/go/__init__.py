"""Write the Go files: constants of the header, facts and results, and calls."""
from . import calls, types


def files(contract):
    return {**types.files(contract), **calls.files(contract)}
