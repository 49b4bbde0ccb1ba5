"""Write the Python files: what ctypes needs of the header, facts, calls, and results."""
from . import calls, facts, prototypes, results


def files(contract):
    return {**prototypes.files(contract), **facts.files(contract), **calls.files(contract),
            **results.files(contract)}
