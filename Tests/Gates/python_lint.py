#!/usr/bin/env python3
"""Check that ruff and mypy --strict report nothing in a folder of Python code.

  python_lint.py FOLDER [--suite NAME]

The folder's pyproject.toml has their settings, Tests/requirements.txt their versions. Skipped if
the package index cannot be reached.
"""
import argparse
import pathlib
import subprocess
import tempfile

import python_tools
from report import Suite

# Each tool must also find a planted fault, because silence by itself proves nothing.
FAULTS = {
    "ruff": "import os\n",
    "mypy": "def half(number: int) -> str:\n    return number / 2\n",
}
# All folders share mypy's cache of the standard library and of the binding.
COMMANDS = {"ruff": ["ruff", "check", "--no-cache"],
            "mypy": ["mypy", "--cache-dir", python_tools.MYPY_CACHE]}


def run(programs, tool, folder, *arguments):
    name, *options = COMMANDS[tool]
    return subprocess.run([programs / name, *options, *arguments], cwd=folder, text=True,
                          capture_output=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--suite", default="python-lint")
    options = parser.parse_args()
    suite = Suite(options.suite)
    programs, why = python_tools.installed()
    if why:
        for tool in COMMANDS:
            suite.skip(tool, why)
        suite.finish(may_be_empty=True)
    for tool in COMMANDS:
        result = run(programs, tool, options.folder)
        suite.expect(result.returncode == 0, f"{tool} finds nothing",
                     "\n" + result.stdout[-4000:] + result.stderr[-1000:])
        with tempfile.TemporaryDirectory() as name:
            fault = pathlib.Path(name) / "fault.py"
            fault.write_text(FAULTS[tool])
            settings = f"--config={pathlib.Path(options.folder).resolve() / 'pyproject.toml'}"
            settings = settings.replace("--config", "--config-file") if tool == "mypy" else settings
            result = run(programs, tool, name, settings, str(fault))
            suite.expect(result.returncode == 1, f"{tool} finds a fault",
                         result.stdout[-1000:] + result.stderr[-1000:])
    suite.finish()


if __name__ == "__main__":
    main()
