#!/usr/bin/env python3
"""Generate the files that follow from the tables in contract/ and from the C header.

  tools/generate.py          write the generated files
  tools/generate.py --check  exit 1 when one of them is not what it would write

From include/assay.h, statuses.tsv, configuration.tsv and tables in docs/ (decisions.md, risk.md):
  Sources/Assay/Verdict/StatusTable.swift   the statuses in the library
  Sources/AssayABI/Link/assay.map           the functions that the library exports
  Sources/Assay/Configuration/ConfigurationTable.swift  the configuration's members
  docs/config.schema.json                   the configuration's JSON Schema
  docs/config.md                            the configuration's tables
  Sources/assay-cli/Explain/ExplanationText.swift  the texts of `assay explain`
  bindings/python/assay/_prototypes.py      constants and functions for ctypes
  bindings/python/assay/_version.py         the version of the header
  bindings/go/internal/libassay/constants.go the constants
  bindings/go/functions_test.go             the functions that Go must bind
  bindings/php/assay.ffi.h                  the header as PHP's FFI reads it
  bindings/php/src/Internal/                constants, calls
  bindings/php/ext/                         stub, arginfo and functions of the extension
From appstore/endpoints.tsv and appstore/errors.tsv:
  Sources/Assay/Exchange/AppStore/          the kinds of the App Store Server API
  docs/tasks/app-store-server-api.md        their table
From kinds.tsv and kind-members.tsv:
  Sources/Assay/Exchange/Kernel/            Operation.swift, AnyStateMachine.swift,
                                            OperationContext+Operations.swift
  bindings/go/ledger/ledger_calls.go        the methods of Go's ledger
  bindings/python/assay/ledger/              _ledger_calls.py, _async_ledger_calls.py: the methods
                                            of ledgers; _plain_results.py (from facts.tsv)
  bindings/php/src/Ledger/LedgerCalls.php   the methods of PHP's ledger
  Sources/AssaySwift/                       LedgerCalls.swift: a method for each kind of a store
from statements.tsv, tables.tsv and indexes.tsv of store/:
  Sources/Assay/Ledger/Engines/            SQLStatement.swift, SchemaTable.swift
From facts.tsv and names.tsv:
  Sources/Assay/Evidence/                   StoreKitMembers.swift, ResponseFacts.swift: how the
                                            library reads Apple's members
  docs/documents.md                         the tables of members
  Sources/AssaySwift/                       the typed facts of Swift hosts, LedgerResults.swift
  bindings/python/assay/                    facts.py, receipts.py, attest.py, names.py
  bindings/php/src/Facts, Names, Ledger     the classes of facts, the sets of values, what a
                                            ledger answers
  bindings/go/                              facts_types.go, enums.go
"""
import sys

import generate_go
import generate_go_ledger
import header
import generate_app_store_calls
from contract import pages, php, python, swift
from contract.reader import Contract
from status_rows import FAMILIES, ROOT, rows

# The generators. Each has outputs(table, contract) -> {path: text}.
BINDINGS = [generate_app_store_calls, generate_go, generate_go_ledger]


def contract():
    """Read include/assay.h; exit if its families differ from those of the status table."""
    found = header.read((ROOT / "include/assay.h").read_text())
    for code, family, _ in FAMILIES:
        name = "ASSAY_" + family.replace("-", "_").upper()
        if found.constant(name) != code:
            sys.exit(f"assay.h: {name} is not {code}")
    return found


def outputs():
    table = rows()
    declared = contract()
    files = {}
    for writer in (swift, python, php, pages):
        files.update(writer.files(Contract()))
    for binding in BINDINGS:
        files.update(binding.outputs(table, declared))
    return files


def main():
    check = "--check" in sys.argv[1:]
    stale = []
    for name, text in outputs().items():
        path = ROOT / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name in stale:
        print(("stale: " if check else "wrote ") + name)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
