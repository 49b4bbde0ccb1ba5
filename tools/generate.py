#!/usr/bin/env python3
"""Write the files that follow from include/assay.h and the tables of contract/.

  tools/generate.py          write them
  tools/generate.py --check  exit 1 when one of them is not what it would write

What is written stands at the head of each module in tools/contract: swift, python, php, go, node,
pages.
"""
import sys

from contract.__main__ import main

sys.exit(main())
