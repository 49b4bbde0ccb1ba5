"""The contract as Python: `reader.Contract` reads include/assay.h and the tables of contract/;
swift, python, php, go, node and pages write what follows from them. `python3 tools/generate.py` runs all
of it."""
