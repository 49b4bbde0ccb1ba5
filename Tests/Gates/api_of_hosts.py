#!/usr/bin/env python3
"""Check that the public names of a host language are those recorded in Tests/API.

  api_of_hosts.py HOST            compare what HOST offers with Tests/API/HOST.txt
  api_of_hosts.py --write HOST    write that file: review what changed, and commit it

HOST is python, php, go, swift or node. Each line of a file is one public declaration: its name, then its
signature or type. `git diff Tests/API` therefore lists what a refactoring changes for users. Python
is inspected in the environment of python_tools.py, which has the clients of all database engines;
Swift's module must be built (`make swift-tests`).
"""
import argparse
import difflib
import importlib
import dataclasses
import inspect
import json
import os
import pathlib
import pkgutil
import platform
import re
import sys
import tempfile

import go
import python_tools
from project import ROOT, run
from report import Suite

API = ROOT / "Tests/API"
PYTHON = {"assay": ROOT / "bindings/python", "assay_testing": ROOT / "bindings/python_testing"}
PLAIN = (str, bytes, int, float, type(None))
# Special methods that users call through syntax, such as `with` and `for`.
PROTOCOLS = re.compile(r"__(a?(enter|exit|iter|next)|(get|set|del)item|call|len|bool|eq|hash)__")
# Conformances that every Swift type has, or that follow from a listed one.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype", "RawRepresentable",
           "ExpressibleByUnicodeScalarLiteral", "ExpressibleByExtendedGraphemeClusterLiteral"}


# ---- Python

class Written:
    """An annotation or default whose repr is the text in the source."""

    def __init__(self, what):
        self.text = f"{what.__module__}.{what.__qualname__}" if inspect.isroutine(what) \
            else getattr(what, "__forward_arg__", what)  # a ForwardRef of NamedTuple

    def __repr__(self):
        return self.text if isinstance(self.text, str) else inspect.formatannotation(self.text)


def signature(function, of_object=False):
    """Return `(parameters) -> result`, without `self` for a method."""
    found = inspect.signature(function)
    parameters = [one.replace(
        annotation=one.empty if one.annotation is one.empty else Written(one.annotation),
        default=Written(one.default) if inspect.isroutine(one.default) else one.default)
        for one in found.parameters.values()][of_object:]
    ends = "" if found.return_annotation in (found.empty, "None", None) \
        else f" -> {Written(found.return_annotation)}"
    return f"{found.replace(parameters=parameters, return_annotation=found.empty)}{ends}"


def value(what):
    return f" = {what!r}" if isinstance(what, PLAIN) else f": {type(what).__name__}"


def line(name, found, of_object=False):
    """Return the line of a function or of a class member."""
    if isinstance(found, property):
        kind = "property" if found.fset is None else "property, settable"
        return f"{name} {kind}{signature(found.fget, True).removeprefix('()')}"
    if isinstance(found, (classmethod, staticmethod)):
        name, of_object = f"{name} {type(found).__name__}", isinstance(found, classmethod)
        found = found.__func__
    if not inspect.isfunction(found):
        return f"{name}{value(found)}"
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        name += " async"
    return f"{name}{signature(found, of_object)}"


def class_lines(name, found, names):
    """Yield the lines of a class and its members, with those of bases without a public name."""
    bases = [names.get(base, base.__name__) for base in found.__bases__ if base is not object]
    yield f"{name} class({', '.join(bases)})" if bases else f"{name} class"
    seen = set()
    if dataclasses.is_dataclass(found) and "__init__" not in vars(found):
        # Its constructor is a base's, with the signature of this class.
        yield f"{name}{signature(found)}"
    for each in found.__mro__:
        if each is not found and (each in names or each.__module__.split(".")[0] not in PYTHON):
            continue
        annotations = inspect.get_annotations(each)
        for member in sorted({*vars(each), *annotations} - seen):
            what = vars(each).get(member)
            seen.add(member)
            if member in ("__init__", "__new__") and inspect.isfunction(what):
                yield f"{name}{signature(what, True)}"
            elif PROTOCOLS.fullmatch(member) and inspect.isfunction(what):
                # Methods that a dataclass generates have no source file and are left out.
                if what.__code__.co_filename != "<string>":
                    yield line(f"{name}.{member}", what, True)
            elif member in annotations and member[0] != "_":
                default = value(what) if isinstance(vars(each).get(member, ...), PLAIN) else ""
                yield f"{name}.{member}: {Written(annotations[member])}{default}"
            elif member[0] != "_":
                yield line(f"{name}.{member}", what, True)


def exported(module):
    """Return {name: object} of `__all__`, or of the module's own declarations if it has none."""
    if hasattr(module, "__all__"):
        return {name: getattr(module, name) for name in module.__all__}
    return {name: found for name, found in vars(module).items()
            if name[0] != "_" and getattr(found, "__module__", None) == module.__name__
            and (inspect.isclass(found) or inspect.isfunction(found))}


def python(_):
    """List the members of an object once, under its shortest name, if several modules export it."""
    sys.path[:0] = map(str, PYTHON.values())
    sys.dont_write_bytecode = True
    os.environ.setdefault("ASSAY_LIBRARY", str(ROOT / "build/lib/libassay.so"))
    modules = [*PYTHON, *(
        module.name for package in PYTHON for module in pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}.") if "._" not in module.name)]
    names, lines = {}, []  # object -> its shortest public name
    for module in sorted(modules, key=lambda name: (name.count("."), name)):
        for name, found in sorted(exported(importlib.import_module(module)).items()):
            path = f"{module}.{name}"
            if not (inspect.isclass(found) or inspect.isfunction(found)):
                # Values such as `__version__` change with every release, so only the name is
                # listed.
                lines.append(path if name[0] == "_" else f"{path}{value(found)}")
            elif names.setdefault(found, path) != path:
                lines.append(f"{path} is {names[found]}")
    for found, path in names.items():
        lines += class_lines(path, found, names) if inspect.isclass(found) \
            else [line(path, found)]
    return sorted(lines)


# ---- the others

def output(*command, **more):
    result = run(*command, **more)
    if result.returncode:
        raise SystemExit(f"{command[0]} failed:\n{result.stderr[:2000]}")
    return result.stdout


def php(_):
    return sorted(output(os.environ.get("PHP", "php"), API / "list.php").splitlines())


def golang(_):
    folders = {path.parent for path in go.MODULE.rglob("*.go")
               if not {"internal", "examples"} & set(path.relative_to(go.MODULE).parts)}
    lines = output("go", "run", API / "list.go", *sorted(folders),
                   env=go.environment("api", ROOT / "build/lib")).splitlines()
    # Sorts a method with its type, whether its receiver is a pointer or a value.
    return sorted(lines, key=lambda line: re.sub(r"\(\*?(\w+)\)\.", r"\1.", line))


def swift_line(symbol, bases):
    """Return the declaration, with its owner before its name."""
    path = symbol["pathComponents"]
    words = [fragment["spelling"] for fragment in symbol["declarationFragments"]]
    place = next(at for at, fragment in enumerate(symbol["declarationFragments"])
                 if fragment["kind"] == "identifier" or words[at] in ("init", "subscript"))
    words[place:place] = [f"{owner}." for owner in path[:-1]]
    if bases and symbol["kind"]["identifier"] != "swift.protocol":
        words += [" : ", ", ".join(sorted(bases))]
    return path, " ".join("".join(words).split())


def swift(modules):
    with tempfile.TemporaryDirectory() as folder:
        for module in ("AssaySwift", "AssaySQLite"):
            output("swift", "symbolgraph-extract", "-module-name", module,
                   "-minimum-access-level", "public", "-skip-synthesized-members",
                   "-experimental-allowed-reexported-modules=Assay",
                   "-target", f"{platform.machine()}-unknown-linux-gnu", "-I", modules,
                   "-I", ROOT / "include", "-I", ROOT / "Sources/CLibCrypto",
                   "-I", ROOT / "Sources/CSQLite", "-output-dir", folder)
        graphs = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.json")]
    symbols = {symbol["identifier"]["precise"]: symbol
               for graph in graphs for symbol in graph["symbols"]}
    bases = {}
    for relation in (one for graph in graphs for one in graph["relationships"]):
        name = symbols[relation["target"]]["pathComponents"][-1] if relation["target"] in symbols \
            else relation.get("targetFallback", "").rpartition(".")[2]
        if relation["kind"] == "conformsTo" and name not in {*IMPLIED, ""}:
            bases.setdefault(relation["source"], set()).add(name)
    lines = [swift_line(symbol, bases.get(precise)) for precise, symbol in symbols.items()]
    return [line for _, line in sorted(lines)]


NODE = ROOT / "bindings/node"
COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.S)
DECLARED = re.compile(r"(?:export )?(abstract class|class|interface|type|const|function) ([\w$]+)")


def split_at(text, mark):
    """Split at a mark that stands in no bracket."""
    parts, depth = [""], 0
    for at, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}" or letter == ">" and text[at - 1] != "=")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def node(_):
    """List the declarations of the types, which bindings/node/tests compares with the exports."""
    lines = []
    for name in ("index.d.cts", "generated/configuration.d.cts", "generated/facts.d.cts",
                 "generated/kinds.d.cts", "generated/operations.d.cts", "ledger.d.cts",
                 "generated/ledger.d.cts", "testing.d.cts"):
        text = " ".join(COMMENT.sub(" ", (NODE / name).read_text()).split())
        for part in split_at(text.replace("} export ", "}; export ").replace(
                "} interface ", "}; interface ").replace("} type ", "}; type "), ";"):
            match = DECLARED.match(part)
            if match is None:
                continue
            kind, owner = match.groups()
            rest = part[match.end():].strip()
            if "class" not in kind and kind != "interface":
                lines.append(f"{owner} {kind} {rest}".replace(" : ", ": "))
                continue
            bases, _, inside = rest.partition("{")
            lines.append(" ".join(f"{owner} {kind} {bases}".split()))
            lines += [f"{owner}.{member}" for member in split_at(inside.rstrip("} "), ";")
                      if not member.startswith("private readonly")]
    return sorted(line.replace("( ", "(").replace(", )", ")") for line in lines)


HOSTS = {"python": python, "php": php, "go": golang, "swift": swift, "node": node}


def difference(kept, found):
    """Return the removed and the added lines, as a diff."""
    return [line for line in list(difflib.unified_diff(kept, found, n=0, lineterm=""))[2:]
            if line[0] != "@"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host", choices=HOSTS)
    parser.add_argument("--write", action="store_true",
                        help="write Tests/API/HOST.txt instead of comparing with it")
    parser.add_argument("--modules", type=pathlib.Path, default=ROOT / ".build/release/Modules",
                        help="the folder of Swift's built modules")
    options = parser.parse_args()
    suite = Suite(f"api-{options.host}")
    in_tools = pathlib.Path(sys.prefix).resolve() == python_tools.TOOLS.resolve()
    if options.host == "python" and not in_tools:
        programs, why = python_tools.installed()
        if why is None:
            os.execv(programs / "python", [str(programs / "python"), *sys.argv])
        suite.skip("the environment with clients of the stores", why)
        suite.finish(may_be_empty=True)
    found = HOSTS[options.host](options.modules)
    path = API / f"{options.host}.txt"
    if options.write:
        path.write_text("".join(f"{line}\n" for line in found))
        return
    kept = path.read_text().splitlines() if path.exists() else []
    changed = difference(kept, found)
    suite.expect(not changed, f"the public names are those of {path.relative_to(ROOT)}",
                 "".join(f"\n  {line}" for line in changed) + "\n  as it should be? "
                 f"Tests/Gates/api_of_hosts.py --write {options.host}")
    suite.expect(difference(kept[1:], found), "a name that is not listed is seen")
    suite.finish()


if __name__ == "__main__":
    main()
