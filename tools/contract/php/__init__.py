"""Write the PHP files: what FFI and the extension need of the header, facts, and calls."""
from . import binding, calls, facts


def files(contract):
    return {**binding.files(contract), **facts.files(contract), **calls.files(contract)}
