#!/usr/bin/env python3
"""Check that no Python modules of the repository import each other in a cycle.

  python_imports.py [--suite NAME]

Every import counts: inside a function, under TYPE_CHECKING, as import_module("…"). A name means the
module in the importing file's own folder, else the only module of that name.
"""
import argparse
import ast
import collections
import graphlib
import pathlib
import subprocess
import sys
import tempfile

from project import ROOT
from report import Suite

# Fragments that the snippet tests put around a code block; they are no modules.
NO_MODULES = ROOT / "Tests/Snippets/frames"
# File -> text: modules with one import cycle each, and two modules without one.
FAULTS = {
    "in a function": {"a.py": "def f():\n    import b\n", "b.py": "import a\n"},
    "for types alone": {"p/__init__.py": "", "p/a.py": "if TYPE_CHECKING:\n    from .b import C\n",
                        "p/b.py": "from . import c\n", "p/c.py": "from p.a import D\n"},
    "by import_module": {"p/__init__.py": "", "p/b.py": "from .a import C\n",
                         "p/a.py": "import importlib\nimportlib.import_module('.b', 'p')\n"},
}
NO_FAULT = {"a.py": "import b\nimport json\n", "b.py": "def f():\n    import json\n"}


def base_of(path):
    """Return the folder that module names start from: the first one that is no package."""
    folder = path.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def imported(node, package):
    """Return the absolute names that a node imports; "" for a relative import above the top."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[:len(package.split(".")) - node.level + 1]
        module = ".".join([*(above if node.level else []), *filter(None, [node.module])])
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant) \
            and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
        name = str(node.args[0].value)
        return [f"{package}{name}" if name.startswith(".") else name]
    return []


def graph(paths):
    """Return {file: the files that it imports}."""
    named = collections.defaultdict(dict)  # name -> {base: file}
    for path in paths:
        parts = path.relative_to(base_of(path)).with_suffix("").parts
        named[".".join(parts).removesuffix(".__init__")][base_of(path)] = path
    found = collections.defaultdict(set)
    for name, places in named.items():
        for base, path in places.items():
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            for node in ast.walk(ast.parse(path.read_text())):
                for wanted in imported(node, package):
                    while wanted and wanted not in named:
                        wanted = wanted.rpartition(".")[0]
                    there = named.get(wanted, {})
                    one = there.get(base) or (next(iter(there.values())) if len(there) == 1
                                              and wanted not in sys.stdlib_module_names else None)
                    if one and one != path:
                        found[path].add(one)
    return found


def circle(paths):
    """Return the files of one cycle, the first one again at the end; None if there is none."""
    try:
        graphlib.TopologicalSorter(graph(paths)).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def planted(suite):
    """Check that exactly the planted faults are found."""
    for what, files in {**FAULTS, "": NO_FAULT}.items():
        with tempfile.TemporaryDirectory() as name:
            paths = [pathlib.Path(name) / file for file in files]
            for path, text in zip(paths, files.values()):
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            suite.expect(bool(circle(paths)) == bool(what), f"a circle {what}" if what else
                         "modules without a circle")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="python-imports")
    suite = Suite(parser.parse_args().suite)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.py"], cwd=ROOT,
                            text=True, capture_output=True, check=True).stdout.splitlines()
    paths = [path for path in (ROOT / name for name in listed)
             if path.is_file() and not path.is_symlink() and NO_MODULES not in path.parents]
    found = circle(paths)
    suite.expect(paths and not found, f"no circle among {len(paths)} modules",
                 " <- ".join(str(path.relative_to(ROOT)) for path in found or []))
    planted(suite)
    suite.finish()


if __name__ == "__main__":
    main()
