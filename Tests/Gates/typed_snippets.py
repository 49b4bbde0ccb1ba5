#!/usr/bin/env python3
"""Check with mypy --strict and pyright the Python blocks of the documentation and the example shop.

  typed_snippets.py [--suite NAME]

The shop is examples/fastapi, of which the page on frameworks quotes a part. Each block is checked
inside its frame, with the blocks that continue it; findings in the frame itself are ignored. The
checkers come from the Python package index, pyright as basedpyright, which includes node. Skipped
if the index cannot be reached.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Snippets"))

from project import ROOT
from report import Suite
import programs
import python_tools
import snippets

FOLDER = ROOT / "build/snippets-typed"
SHOP = ROOT / "examples/fastapi/shop.py"
PLACES = [ROOT / "bindings/python", ROOT / "bindings/python_testing", programs.EVIDENCE]
# A fault on the second line, which each checker must find.
FAULT = "import assay\nprint(assay.Verifier({}).verify_transaction('').expiresDate)\n"
# A block is not a module: redefined and unused names are allowed.
PYRIGHT = {"typeCheckingMode": "standard", "reportUnusedExpression": False,
           "extraPaths": [str(place) for place in PLACES]}


class Source:
    """A program made of blocks, with the range of lines that come from the blocks."""

    def __init__(self, path, blocks):
        self.path, self.blocks = path, blocks
        path.parent.mkdir(exist_ok=True)
        program = programs.Program(blocks[0])
        for block in blocks[1:]:
            program.add(block)
        text = programs.source_of(program)
        self.path.write_text(text)
        wanted = [line.strip() for line in program.text.splitlines()]
        lines = [line.strip() for line in text.splitlines()]
        self.start = next((at for at in range(len(lines))
                           if lines[at:at + len(wanted)] == wanted), 0)
        self.size = len(wanted)
        self.found = []

    def note(self, line, what):
        """Record a finding by its line number from 1; ignore it if the frame has it."""
        if self.start < line <= self.start + self.size:
            self.found.append(f"{line - self.start}: {what}")

    @property
    def place(self):
        return self.blocks[0].place


def place_of(page, block):
    """Return the file of a program: blocks that are files of one page import each other there."""
    named = block.words.get("file")
    return FOLDER / page / named if named else FOLDER / f"{page}_{block.line}.py"


def sources():
    """Yield every Python program of the documentation, and the shop."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    # Not under its own name, which a page's file may have too.
    yield Source(FOLDER / "fastapi_shop.py",
                 [snippets.Block(SHOP, 1, "python", {}, SHOP.read_text())])
    for page in snippets.pages({}):
        name = str(page.relative_to(ROOT)).removesuffix(".md").replace("/", "_").replace("-", "_")
        program = []
        for block in [*snippets.blocks_of(page), None]:
            if block is not None and block.language == "python" and block.has("continues"):
                program.append(block)
            elif block is None or not block.has("output"):
                if program:
                    yield Source(place_of(name, program[0]), program)
                starts = block is not None and block.language == "python" \
                    and not block.has("not-run") \
                    and block.words.get("needs") not in programs.PEERS
                program = [block] if starts else []


def mypy(tools, files):
    """Run mypy --strict, once for each folder; return {path: [(line, message)]}."""
    folders = {path.parent: [each for each in files if each.parent == path.parent]
               for path in files}
    return {path: found for folder, files in folders.items()
            for path, found in mypy_in(folder, tools, files).items()}


def mypy_in(folder, tools, files):
    command = [tools / "mypy", "--strict", "--cache-dir", python_tools.MYPY_CACHE,
               "--no-error-summary", "--hide-error-context", "--no-color-output", *files]
    environment = dict(os.environ, MYPYPATH=":".join(map(str, PLACES)))
    result = subprocess.run(command, text=True, capture_output=True, cwd=folder, env=environment)
    found = {}
    for line in result.stdout.splitlines():
        said = re.match(r"(.+?\.py):(\d+): error: (.*)", line)
        if said:
            path = (folder / said[1]).resolve()
            found.setdefault(path, []).append((int(said[2]), said[3]))
    if result.returncode > 1:
        sys.exit(f"mypy: {result.stdout[-500:]}{result.stderr[-500:]}")
    return found


def pyright(tools, files):
    (FOLDER / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    result = subprocess.run(
        [tools / "basedpyright", "--outputjson", "--project", FOLDER / "pyrightconfig.json",
         "--pythonpath", tools / "python"],
        text=True, capture_output=True, cwd=FOLDER)
    found = {}
    for each in json.loads(result.stdout)["generalDiagnostics"]:
        if each["severity"] == "error":
            found.setdefault(pathlib.Path(each["file"]).resolve(), []).append(
                (each["range"]["start"]["line"] + 1, each["message"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="typed-snippets")
    options = parser.parse_args()
    suite = Suite(options.suite)
    tools, why = python_tools.installed()
    if why:
        for name in ("mypy", "pyright"):
            suite.skip(name, why)
        suite.finish(may_be_empty=True)
    found = list(sources())
    suite.expect(len(found) > 20, "the documentation has Python blocks", str(len(found)))
    fault = FOLDER / "fault.py"
    fault.write_text(FAULT)
    for name, checker in [("mypy --strict", mypy), ("pyright", pyright)]:
        said = checker(tools, [*(source.path for source in found), fault])
        suite.expect([line for line, _ in said.get(fault.resolve(), [])] == [2],
                     f"{name} finds a fault", str(said.get(fault.resolve())))
        for source in found:
            source.found = []
            for line, what in said.get(source.path.resolve(), []):
                source.note(line, what)
            suite.expect(not source.found, f"{name}: {source.place}",
                         "".join(f"\n  {each}" for each in source.found))
    suite.finish()


if __name__ == "__main__":
    main()
