"""Swift as the compiler parses it: the trees of `swiftc -frontend -dump-parse`.

Parsing needs no module and no type: one call reads all the files of the library in a second.
What stands between `#if` and `#endif` is not in the tree.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

COMMAND = ["swiftc", "-frontend", "-dump-parse", "-dump-ast-format", "json", "-swift-version", "6",
           "-parse-as-library"]
TYPES = {"struct_decl", "enum_decl", "class_decl", "protocol", "typealias"}
OWN = {"private", "fileprivate"}


def trees(paths):
    """{path: its tree}; what cannot be parsed ends the program."""
    paths = list(paths)
    with tempfile.TemporaryDirectory() as folder:
        command = [*COMMAND]
        for number, path in enumerate(paths):
            command += ["-primary-file", str(path), "-o", f"{folder}/{number}.json"]
        done = subprocess.run(command, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"the compiler gives no tree:\n{done.stderr[-2000:]}")
        return {path: json.loads(pathlib.Path(f"{folder}/{number}.json").read_text())
                for number, path in enumerate(paths)}


def inside(node):
    """The nodes of a tree, each before those in it."""
    rest = [node]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            yield each
            rest += reversed(each.values())
        elif isinstance(each, list):
            rest += reversed(each)


def name(node):
    return node["name"]["base_name"].get("name", "")


def is_own(declaration):
    """Whether only its file sees it."""
    return any(each.get("access_level") in OWN for each in declaration.get("attrs", ()))


def types(tree):
    """The declarations of types at the top of a file that others see."""
    return [item for item in tree.get("items", ())
            if item["_kind"] in TYPES and not is_own(item)]


def texts(node):
    """The string literals in a tree, in their order; those that are put together are left out."""
    return [each["value"] for each in inside(node) if each.get("_kind") == "string_literal_expr"]
