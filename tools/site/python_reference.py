"""The Python package's reference, from its sources: nothing is imported.

What the package exports, and the classes that its members lead to, with their
signatures, members and docstrings.
"""
import ast
import re
import textwrap

from pages import ROOT
from reference import Entry, Reference, Type

SOURCES = ROOT / "bindings/python/assay"
# Modules whose names are part of the interface, beside what `assay` itself exports.
PUBLIC_MODULES = ("aio", "http", "store")
FIRST = ["Verifier", "Exchange", "Document", "Transaction", "Renewal", "Notification",
         "AppTransaction", "RealtimeRequest", "Decision", "GroupDecision", "TransactionReceipt",
         "AppReceipt", "VerifyReceiptAnswer", "Triage", "Attestation", "Assertion",
         "AttestReceipt", "DeviceCheck", "Risk", "AssayError"]


def modules():
    """(module, tree) of every file; those of the package `store` count as one module."""
    found = [(path.stem, path) for path in sorted(SOURCES.glob("*.py"))]
    found += [("store", path) for path in sorted(SOURCES.glob("store/[!_]*.py"))]
    return [(module, ast.parse(path.read_text())) for module, path in found]


def exported(package):
    """The names in `__all__`."""
    for node in package.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    raise SystemExit("tools/site/python_reference.py: assay/__init__.py has no __all__")


def docstring(node):
    return as_markdown(ast.get_docstring(node) or "")


def as_markdown(text):
    """Docstrings are Markdown, but for indented argument lists (`name  what it is`)."""
    return re.sub(r"^(?: {4})?(\w+(?:, \w+)*) {2,}(\S.*(?:\n {6,}\S.*)*)$",
                  lambda found: f"- `{found[1]}`: " + " ".join(found[2].split()), text, flags=re.M)


def signature(node):
    """`def name(...) -> type`, a parameter a line where it is long."""
    marks = "".join(f"@{ast.unparse(mark)}\n" for mark in node.decorator_list)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    ends = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{word} {node.name}({ast.unparse(node.args)}){ends}"
    if len(line) <= 88:
        return marks + line
    arguments = re.split(r", (?=(?:[^\[\]()]|\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|\([^()]*\))*$)",
                         ast.unparse(node.args))
    inside = textwrap.indent(",\n".join(arguments), "    ")
    return f"{marks}{word} {node.name}(\n{inside},\n){ends}"


def described(value):
    """The text that stands with a declared member: the last literal of its call."""
    if not isinstance(value, ast.Call):
        return ""
    texts = [argument.value for argument in value.args
             if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
    if getattr(value.func, "id", "") == "moment":
        return "The same as an aware datetime in UTC."
    return texts[-1] if len(texts) > 1 else ""


def is_shown(name):
    return not name.startswith("_") or name == "__init__"


def class_type(node):
    """One class: its members, properties and methods."""
    groups = {"Members": [], "Properties": [], "Methods": []}
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
            name = member.target.id
            if is_shown(name) and "ClassVar" not in ast.unparse(member.annotation):
                groups["Members"].append(Entry(
                    name, f"{name}: {ast.unparse(member.annotation)}", described(member.value)))
        elif isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_shown(member.name):
            marks = [ast.unparse(mark) for mark in member.decorator_list]
            if "overload" in marks or any(mark.endswith(".setter") for mark in marks):
                continue
            group = "Properties" if "property" in marks else "Methods"
            groups[group].append(Entry(member.name, signature(member), docstring(member)))
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    return Type(node.name, f"class {node.name}({bases})" if bases else f"class {node.name}",
                docstring(node), groups)


def named_in(each):
    """Names of classes that the code of a type leads to."""
    code = " ".join(entry.code for entries in each.groups.values() for entry in entries)
    return set(re.findall(r"\b[A-Z]\w+", each.code + " " + code))


def reference():
    parsed = modules()
    names = exported(dict(parsed)["__init__"])
    classes, functions = {}, {}
    for module, tree in parsed:
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                name = f"{module}.{node.name}" if module in PUBLIC_MODULES else node.name
                classes[name] = class_type(node)
                classes[name].name = name
            elif isinstance(node, ast.FunctionDef) and node.name in names:
                functions[node.name] = Entry(node.name, signature(node), docstring(node))
    shown, waiting = {}, sorted(name for name in classes
                                if name in names or name.split(".")[0] in PUBLIC_MODULES)
    while waiting:
        name = waiting.pop()
        if name in classes and name not in shown:
            shown[name] = classes[name]
            waiting += sorted(named_in(classes[name]))
    order = {name: place for place, name in enumerate(FIRST)}
    types = sorted(shown.values(), key=lambda each: (order.get(each.name, len(order)), each.name))
    introduction = ("`import assay`: what each class and function takes and gives. Examples: "
                    "the package's own page.")
    return Reference("python", "Python reference", "python", introduction, types,
                     {"Functions": [functions[name] for name in sorted(functions)]})
