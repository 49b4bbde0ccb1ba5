#!/usr/bin/env python3
"""Run a command with the engines that can be started here.

  with_engines.py [--engines postgres,mariadb,redis] [--tools FOLDER] COMMAND …

The command finds the address of each engine in ASSAY_STORE_POSTGRES and so on, or the reason why
there is none in ASSAY_STORE_POSTGRES_MISSING. The engines are temporary (engines.py); --tools is
the environment in which moto's DynamoDB runs.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys

import engines


def programs(folder: pathlib.Path | None) -> pathlib.Path | None:
    """Return the programs of the tools' environment, which is created if missing."""
    if folder is None:
        return None
    sys.path.append(str(engines.HERE.parent / "Gates"))
    import python_tools

    found: pathlib.Path | None
    found, _ = python_tools.installed(folder)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engines", default="postgres,mariadb,redis")
    parser.add_argument("--tools", type=pathlib.Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    variables = dict(os.environ)
    with engines.scratch(programs(options.tools)) as place:
        for name in options.engines.split(","):
            engine = place.engine(name)
            variable = f"ASSAY_STORE_{name.upper()}"
            if engine.missing:
                variables[f"{variable}_MISSING"] = engine.missing
                continue
            engine.start()
            variables[variable] = engine.url
            variables.update(engine.environment)
        return subprocess.run(options.command, check=False, env=variables).returncode


if __name__ == "__main__":
    sys.exit(main())
