#!/usr/bin/env python3
"""Which refusals the library can give: pairs of a status and a rule, with their places.

  refusals.py            print status, rule and place of each, tabs between

Read from the compiler's own typed tree of Sources/Assay (swiftc -dump-ast), not from its
text. A place is a call of `Refusal` or `require`. Where it passes on what its function was
given, or the member of a value, every call that gives one is followed, so that a status
and a rule that come from the same call stay together.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from contract import ROOT

SOURCES = ROOT / "Sources" / "Assay"
# Written by the compiler, or written twice.
NOT_READ = {"original_init", "thrown_error_destination", "throw_dest", "attrs", "inherits"}
# The type in the USR of a member of it.
OWNER = re.compile(r"s:5Assay(?:\d+\w+?[VOC])")
RULE = re.compile(r"[A-Z]{3,4}-\d+")
# Gives what its closure refuses another status and rule: the first appear in no document.
NAMES_ANOTHER = "s:5Assay13ExchangeInputO7members"
# How far values are followed.
DEEPEST = 24


def trees():
    """The typed trees of all files, as the compiler writes them."""
    files = sorted(str(path.relative_to(ROOT)) for path in SOURCES.rglob("*.swift"))
    with tempfile.TemporaryDirectory() as folder:
        command = ["swiftc", "-frontend", "-dump-ast", "-dump-ast-format", "json",
                   "-swift-version", "6", "-module-name", "Assay", "-package-name", "assay",
                   "-I", "Sources/CLibCrypto"]
        for number, file in enumerate(files):
            command += ["-primary-file", file, "-o", f"{folder}/{number}.json"]
        done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"the compiler gives no tree:\n{done.stderr[-2000:]}")
        for number in range(len(files)):
            yield json.loads(pathlib.Path(f"{folder}/{number}.json").read_text())


def children(node):
    for key, value in node.items():
        if key in NOT_READ or not isinstance(value, (dict, list)):
            continue
        rest = [value]
        while rest:
            each = rest.pop(0)
            if isinstance(each, dict):
                yield each
            elif isinstance(each, list):
                rest = each + rest


def kind(node):
    return node.get("_kind", "")


def base_name(node):
    return node.get("name", {}).get("base_name", {}).get("name", "init")


def callee(call):
    """The USR of what a call calls."""
    node = call
    while isinstance(node, dict):
        if kind(node) in ("declref_expr", "member_ref_expr", "other_constructor_ref_expr"):
            return node["decl"].get("decl_usr", "")
        node = node.get("fn") or node.get("sub_expr")
    return ""


def arguments(call):
    """[(label, expression)] in the order of the parameters."""
    return [(each.get("label", ""), each["expr"]) for each in call["args"].get("args", [])]


class Function:
    """A function, initializer or getter, with what its names mean inside it."""

    def __init__(self, node, parent=None):
        self.node, self.parent = node, parent
        self.file = parent.file if parent else node["filename"]
        self.usr = node.get("usr", "")
        self.params = [base_name(each) for each in node.get("params", {}).get("params", [])]
        self.locals = {}  # name: the expressions that it is given


class Program:
    """The module's functions, calls and members, and what their expressions come to."""

    def __init__(self):
        self.functions = {}  # usr: Function
        self.callers = {}    # usr: [(call, Function)]
        self.members = {}    # usr of a property: [(expression, Function)]
        self.made = {}       # usr of a type: [(call of its memberwise initializer, Function)]
        self.places = []     # (call, Function, position of the status)
        self.renamed = set()  # ids of calls whose refusals another status and rule replace
        self.renaming = 0
        for tree in trees():
            self.read(tree, Function(tree))
        for usr, calls in self.callers.items():
            if usr.endswith("fc") and usr not in self.functions:
                owner = OWNER.match(usr)
                if owner:
                    self.made.setdefault(owner[0], []).extend(calls)

    # ---- reading ----------------------------------------------------------------

    def read(self, node, function):
        each = kind(node)
        if each in ("func_decl", "constructor_decl", "accessor_decl"):
            if node.get("implicit"):
                return
            function = Function(node, function)
            self.functions[function.usr] = function
        elif each in ("struct_decl", "enum_decl", "class_decl", "extension_decl"):
            self.read_type(node, function)
        elif each == "var_decl":
            self.read_property(node, function)
        elif each == "pattern_binding_decl":
            for name, value in bindings(node):
                function.locals.setdefault(name, []).append(value)
        elif each == "pattern" and isinstance(node.get("initializer"), dict):
            function.locals.setdefault(pattern_name(node["pattern"]), []).append(
                node["initializer"])
        elif each == "assign_expr":
            self.read_assignment(node, function)
        elif each == "call_expr":
            self.read_call(node, function)
        renames = each == "call_expr" and callee(node).startswith(NAMES_ANOTHER)
        self.renaming += renames
        for child in children(node):
            self.read(child, function)
        self.renaming -= renames

    def read_type(self, node, function):
        """The initial values of stored properties."""
        values = {}
        for member in node.get("members", []):
            if kind(member) == "pattern_binding_decl":
                values.update(bindings(member))
        for member in node.get("members", []):
            if kind(member) == "var_decl" and base_name(member) in values:
                self.members.setdefault(member["usr"], []).append(
                    (values[base_name(member)], function))

    def read_property(self, node, function):
        for accessor in node.get("accessors", []):
            if accessor.get("get") and not accessor.get("implicit"):
                getter = Function(accessor, function)
                for result in results(accessor.get("body", {})):
                    self.members.setdefault(node.get("usr"), []).append((result, getter))

    def read_assignment(self, node, function):
        target = node.get("dest", {})
        if kind(target) == "member_ref_expr":
            self.members.setdefault(target["decl"].get("decl_usr"), []).append(
                (node["src"], function))
        elif kind(target) == "declref_expr":
            function.locals.setdefault(target["decl"].get("base_name"), []).append(node["src"])

    def read_call(self, node, function):
        usr = callee(node)
        self.callers.setdefault(usr, []).append((node, function))
        if self.renaming:
            self.renamed.add(id(node))
        if usr.startswith("s:5Assay7RefusalV") and usr.endswith("fc"):
            self.places.append((node, function, 0))
        elif usr.startswith("s:5Assay7require"):
            self.places.append((node, function, 1))

    # ---- values -----------------------------------------------------------------

    def free(self, expression, function, seen=frozenset()):
        """The names of the function's parameters that an expression depends on."""
        found = set()
        for node in nodes(expression):
            if kind(node) != "declref_expr" or node["decl"].get("decl_usr"):
                continue
            name = node["decl"]["base_name"]
            if name in function.params:
                found.add(name)
            elif name not in seen:
                for value in function.locals.get(name, []):
                    found |= self.free(value, function, seen | {name})
        return found

    def frames(self, function, names, depth):
        """What callers give for the parameters of these names, caller by caller."""
        if not names or depth == 0:
            yield {}
            return
        for call, caller in self.callers.get(function.usr, []):
            given = dict(zip(function.params, (value for _, value in arguments(call))))
            given = {name: given[name] for name in names if name in given}
            needs = set().union(*(self.free(each, caller) for each in given.values()))
            for frame in self.frames(caller, needs, depth - 1):
                yield {name: (each, caller, frame) for name, each in given.items()}

    def values(self, node, function, frame, depth=DEEPEST):
        """The statuses, by their Swift names, and the texts that an expression gives."""
        if depth == 0:
            return set()
        each = kind(node)
        if each == "string_literal_expr":
            return {node["value"]}
        if each == "member_ref_expr":
            usr = node["decl"].get("decl_usr", "")
            if re.match(r"s:5Assay6StatusV\d+\w+vpZ", usr):
                return {node["decl"]["base_name"]}
            return self.member_values(node, usr, function, frame, depth)
        if each == "declref_expr":
            return self.name_values(node, function, frame, depth)
        if each == "call_expr" and callee(node) in self.functions:
            called = self.functions[callee(node)]
            inner = dict(zip(called.params, (
                (value, function, frame) for _, value in arguments(node))))
            return self.union(((result, called) for result in results(called.node["body"])),
                              inner, depth)
        return self.union(((child, function) for child in children(node)
                           if kind(child) not in ("case_label_item", "argument_list")),
                          frame, depth)

    def union(self, pairs, frame, depth):
        found = set()
        for node, function in pairs:
            found |= self.values(node, function, frame, depth - 1)
        return found

    def name_values(self, node, function, frame, depth):
        name = node["decl"]["base_name"]
        if name in frame:
            return self.values(*frame[name], depth - 1)
        if name in function.locals:
            return self.union(((value, function) for value in function.locals[name]),
                              frame, depth)
        if name in function.params:
            found = set()
            for outer in self.frames(function, {name}, 3):
                if name in outer:
                    found |= self.values(*outer[name], depth - 1)
            return found
        if function.parent and function.parent.usr:
            return self.name_values(node, function.parent, frame, depth)
        return set()

    def member_values(self, node, usr, function, frame, depth):
        name = node["decl"]["base_name"]
        made = self.objects(node.get("base", {}), function, frame, depth - 1)
        found = set()
        for call, caller, outer in made or self.made_of(usr):
            for label, value in arguments(call):
                if label == name and kind(value) != "default_argument_expr":
                    found |= self.values(value, caller, outer, depth - 1)
        if not found:
            found = self.union(self.members.get(usr, []), {}, depth)
        return found

    def made_of(self, usr):
        owner = OWNER.match(usr)
        return [(call, caller, {}) for call, caller in
                self.made.get(owner[0] if owner else "", [])]

    def objects(self, node, function, frame, depth):
        """The calls of memberwise initializers that made a value; none if not seen."""
        if depth <= 0:
            return []
        each = kind(node)
        if each == "call_expr" and callee(node).endswith("fc"):
            return [(node, function, frame)]
        if each == "member_ref_expr":
            return [made for value, owner in self.members.get(node["decl"].get("decl_usr"), [])
                    for made in self.objects(value, owner, {}, depth - 1)]
        if each == "declref_expr":
            name = node["decl"]["base_name"]
            if name in frame:
                return self.objects(*frame[name], depth - 1)
            return [made for value in function.locals.get(name, [])
                    for made in self.objects(value, function, frame, depth - 1)]
        inside = [child for child in children(node) if "expr" in kind(child)]
        return self.objects(inside[0], function, frame, depth - 1) if len(inside) == 1 else []

    def pairs(self):
        """(status, rule, file, offset) of every refusal; status None: not read."""
        for call, function, position in self.places:
            if function.usr.startswith("s:5Assay7require") or not self.shows(call, function):
                continue
            given = [value for _, value in arguments(call)][position:position + 2]
            names = self.free(given[0], function) | self.free(given[1], function)
            place = function.file, call.get("range", {}).get("start", 0)
            for frame in self.frames(function, names, 6):
                statuses = self.values(given[0], function, frame)
                rules = {each for each in self.values(given[1], function, frame)
                         if RULE.fullmatch(each)}
                if not statuses and self.is_never_made(given[0]):
                    continue
                for status in statuses or {None}:
                    for rule in rules or {None}:
                        yield (status, rule, *place)

    def shows(self, call, function, seen=frozenset()):
        """Whether a document can say what is refused here: not if every way to it leads
        through a function that names another refusal."""
        if id(call) in self.renamed:
            return False
        if function.usr in seen:
            return False
        calls = self.callers.get(function.usr, [])
        return not calls or any(self.shows(*each, seen | {function.usr}) for each in calls)

    def is_never_made(self, node):
        """Whether a member belongs to a type of which no value is ever made."""
        owner = OWNER.match(node["decl"].get("decl_usr", "")) \
            if kind(node) == "member_ref_expr" else None
        return bool(owner) and not any(
            usr.startswith(owner[0]) and usr.endswith("fc") for usr in self.callers)


def nodes(node):
    yield node
    for child in children(node):
        yield from nodes(child)


def pattern_name(pattern):
    while "sub_pattern" in pattern:
        pattern = pattern["sub_pattern"]
    return base_name(pattern) if kind(pattern) == "pattern_named" else ""


def bindings(node):
    """(name, value) of what a declaration binds."""
    for entry in node.get("pattern_entries", []):
        value = entry.get("processed_init") or entry.get("original_init")
        if isinstance(value, dict):
            yield pattern_name(entry.get("pattern", {})), value


def results(body):
    """What a body returns."""
    if kind(body) in ("closure_expr", "func_decl"):
        return []
    if kind(body) == "return_stmt" and isinstance(body.get("result"), dict):
        return [body["result"]]
    return [result for child in children(body) for result in results(child)]


def main():
    for status, rule, file, offset in sorted(set(Program().pairs()), key=str):
        print(status, rule, f"{file}@{offset}", sep="\t")


if __name__ == "__main__":
    main()
