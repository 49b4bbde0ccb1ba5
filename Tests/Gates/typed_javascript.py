#!/usr/bin/env python3
"""Check with tsc --strict the JavaScript and TypeScript of the documentation and the shops.

  typed_javascript.py [--suite NAME]

Blocks are checked with the blocks that continue them, against the declarations of bindings/node;
files of one page (file=NAME.mjs) may import each other. In JavaScript a parameter without a type is
allowed, but not in the shops. What others declare is in Tests/Snippets/others.d.ts. Skipped without
tsc.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Snippets"))

from project import ROOT
from report import Suite
import programs
import snippets

FOLDER = ROOT / "build/snippets-typed-js"
OTHERS = ROOT / "Tests/Snippets/others.d.ts"
ENDINGS = {"js": ".mjs", "ts": ".mts"}
# Express has no declarations here; its shop is run.
SHOPS = [ROOT / "examples/node-http/shop.mjs", ROOT / "examples/node-http/main.mjs",
         ROOT / "examples/fastify/main.mjs"]
# The page whose blocks import the shop.
FRAMEWORKS = "docs_tasks_frameworks"
# A fault on the second line, which must be found.
FAULT = ('import { Verifier } from "assay";\n'
         'new Verifier({ apps: [] }).verifyTransaction("").expires;\n')
OPTIONS = {"strict": True, "noEmit": True, "target": "es2022", "lib": ["es2022", "dom"],
           "types": [], "module": "node16", "moduleResolution": "node16", "allowJs": True,
           "checkJs": True}
FINDING = re.compile(r"(.+?)\((\d+),\d+\): error (TS\d+: .*)")


def prepare():
    """Make the folder in which programs find the declarations as an installed package."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    package = FOLDER / "node_modules/assay"
    package.mkdir(parents=True)
    for path in (ROOT / "bindings/node").rglob("*"):
        if re.search(r"\.d\.[cm]ts$|^package\.json$", path.name):
            target = package / path.relative_to(ROOT / "bindings/node")
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
    (FOLDER / FRAMEWORKS).mkdir()
    shutil.copy(SHOPS[0], FOLDER / FRAMEWORKS)


def written(page, number, blocks):
    """Write a program made of blocks, and return its path."""
    program = programs.Program(blocks[0])
    for block in blocks[1:]:
        program.add(block)
    name = blocks[0].words.get("file", f"block{number}{ENDINGS[blocks[0].language]}")
    path = FOLDER / page / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(programs.source_of(program))
    return path


def sources():
    """Yield (path, place) of every program of the documentation."""
    for page in snippets.pages({}):
        name = str(page.relative_to(ROOT)).removesuffix(".md").replace("/", "_")
        program = []
        for block in [*snippets.blocks_of(page), None]:
            if block is not None and program and block.has("continues") \
                    and block.language == program[0].language:
                program.append(block)
            elif block is None or not block.has("output"):
                if program:
                    yield written(name, program[0].line, program), program[0].place
                starts = block is not None and block.language in ENDINGS \
                    and block.words.get("not-run") in (None, "peer")
                program = [block] if starts else []


def tsc(folder, files, **more):
    """Return {path: [finding]} of files, in one run of the compiler."""
    config = folder / "tsconfig.json"
    config.write_text(json.dumps({
        "compilerOptions": {**OPTIONS, **more},
        "files": [str(path) for path in (OTHERS, *files)]}))
    said = subprocess.run(["tsc", "-p", config, "--pretty", "false"], cwd=folder, text=True,
                          capture_output=True).stdout
    found = {}
    for line in said.splitlines():
        match = FINDING.match(line)
        if match:
            path = (folder / match[1]).resolve()
            found.setdefault(path, []).append(f"{match[2]}: {match[3]}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="typed-javascript")
    suite = Suite(parser.parse_args().suite)
    if not shutil.which("tsc"):
        suite.skip("tsc --strict", "no tsc on PATH: install Debian's node-typescript")
        suite.finish(may_be_empty=True)
    prepare()
    found = list(sources())
    suite.expect(len(found) > 20, "the documentation has JavaScript blocks", str(len(found)))
    fault = FOLDER / "fault.mjs"
    fault.write_text(FAULT)
    said = tsc(FOLDER, [fault, *(path for path, _ in found)], noImplicitAny=False)
    suite.expect([line[0] for line in said.get(fault, [])] == ["2"], "tsc finds a fault",
                 str(said.get(fault)))
    for path, place in found:
        suite.expect(path not in said, place, "".join(f"\n  {each}" for each in said.get(path, [])))
    shops = []
    for path in SHOPS:
        shops.append(FOLDER / path.parent.name / path.name)
        shops[-1].parent.mkdir(exist_ok=True)
        shutil.copy(path, shops[-1])
        if path.name == "main.mjs":
            shutil.copy(SHOPS[0], shops[-1].parent)
    said = tsc(FOLDER, shops)
    for path, shop in zip(SHOPS, shops):
        suite.expect(shop not in said, str(path.relative_to(ROOT)),
                     "".join(f"\n  {each}" for each in said.get(shop, [])))
    suite.finish()


if __name__ == "__main__":
    main()
