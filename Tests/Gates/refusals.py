#!/usr/bin/env python3
"""Which refusals the library can give: pairs of a status and a rule, with their places.

  refusals.py            print status, rule and place of each, tabs between

Read from the compiler's own typed tree of Sources/Assay (swiftc -dump-ast), not from its
text. A place is a call of `Refusal` or `require`. Where it passes on what its function was
given, or the member of a value, every call that gives one is followed, so that a status
and a rule that come from the same call stay together.

Two kinds of code name a refusal apart from where it is thrown, and are read as they are
built: the rows of a CertificateProfile, whose demand chooses the status and which bring
the rule; and what a MemberNode refuses with, which is named when a MemberRefusals is made.
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
# Makes the demand of a row: by the case of its switch, with the rule of the row.
MEET = "s:5Assay11CertificateV4meet"
PROFILE = "s:5Assay18CertificateProfileV"
DEMAND = PROFILE + "6DemandO"
# The rule of the row that is about the key; which demands are.
KEY_RULE, IS_OF_KEY = PROFILE + "7keyRule", DEMAND + "7isOfKey"
# What members are refused with; who carries it; who names it anew.
REFUSALS = "s:5Assay14MemberRefusalsC"
NODE = "s:5Assay10MemberNodeV"
REFUSING = NODE + "8refusing"
# The statuses of a MemberRefusals; of an unknown member with a rule of its own.
FAULTS = ("syntax", "unknown", "type", "range", "missing")
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
        params = node.get("params", {}).get("params", [])
        self.params = [base_name(each) for each in params]
        self.defaults = {base_name(each): each["expression"] for each in params
                         if "expression" in each}
        self.locals = {}  # name: the expressions that it is given


class Row:
    """A row of a certificate profile, in the place of a function that gives a rule."""

    def __init__(self, node, file):
        demand, self.rule = node["elements"]
        self.case = next(each["decl"]["base_name"] for each in nodes(demand)
                         if kind(each) == "declref_expr"
                         and each["decl"].get("decl_usr", "").startswith(DEMAND))
        self.file, self.place = file, (file, node["range"]["start"])
        self.usr, self.params, self.locals, self.parent = "", [], {}, None


class Program:
    """The module's functions, calls and members, and what their expressions come to."""

    def __init__(self):
        self.functions = {}  # usr: Function
        self.callers = {}    # usr: [(call, Function)]
        self.members = {}    # usr of a property: [(expression, Function)]
        self.made = {}       # usr of a type: [(call of its memberwise initializer, Function)]
        self.places = []     # (call, Function, [(status, rule)])
        self.asked = []      # (call, Function, node): where a MemberNode is judged
        self.rows = []       # of all certificate profiles
        self.met = set()     # those whose demand refuses somewhere
        self.cases = {}      # id of a call or result: the case of the switch that it is in
        for tree in trees():
            self.read(tree, Function(tree))
        for usr, calls in self.callers.items():
            if usr.endswith("fc") and usr not in self.functions:
                owner = OWNER.match(usr)
                if owner:
                    self.made.setdefault(owner[0], []).extend(calls)

    # ---- reading ----------------------------------------------------------------

    def read(self, node, function, cases=frozenset()):
        each = kind(node)
        if each in ("func_decl", "constructor_decl", "accessor_decl"):
            if node.get("implicit"):
                return
            function, cases = Function(node, function), frozenset()
            self.functions[function.usr] = function
        elif each in ("struct_decl", "enum_decl", "class_decl", "extension_decl"):
            self.read_type(node, function)
        elif each in ("var_decl", "subscript_decl"):
            self.read_property(node, function)
        elif each == "pattern_binding_decl":
            for name, value in bindings(node):
                function.locals.setdefault(name, []).append(value)
        elif each == "pattern" and isinstance(node.get("initializer"), dict):
            function.locals.setdefault(pattern_name(node["pattern"]), []).append(
                node["initializer"])
        elif each == "assign_expr":
            self.read_assignment(node, function)
        elif each == "for_each_stmt" and pattern_name(node["pattern"]):
            function.locals.setdefault(pattern_name(node["pattern"]), []).append(
                node["parsed_sequence"])
        elif each == "case_stmt":
            cases = labels(node) or cases
        elif each == "return_stmt" and isinstance(node.get("result"), dict):
            self.cases[id(node["result"])] = cases
        elif each == "call_expr":
            self.cases[id(node)] = cases
            self.read_call(node, function)
        for child in children(node):
            self.read(child, function, cases)

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
        given = [value for _, value in arguments(node)]
        if function.usr.startswith((REFUSALS, REFUSING, "s:5Assay7require")):
            # Passes on what was named.
            return
        if usr.startswith("s:5Assay7RefusalV") and usr.endswith("fc"):
            self.places.append((node, function, [tuple(given[:2])]))
        elif usr.startswith("s:5Assay7require") and "10MemberNodeV" in usr:
            self.asked.append((node, function, given[1]))
        elif usr.startswith("s:5Assay7require"):
            self.places.append((node, function, [tuple(given[1:3])]))
        elif usr.startswith((NODE + "7refusal", NODE + "7missing", REFUSALS + "7refusal")):
            self.asked.append((node, function, receiver(node)))
        elif usr.startswith(PROFILE + "yAC") and usr.endswith("fc"):
            if kind(given[0]) != "array_expr":
                sys.exit(f"{function.file}: the rows of a certificate profile stand in its call")
            self.rows += [Row(each, function.file) for each in given[0]["elements"]]
        elif names_refusals(usr):
            self.places.append((node, function, named(node)))

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

    def frames(self, function, names, depth, inside=None):
        """What callers give for the parameters of these names, caller by caller; of a
        demand, what the rows give that make the one which the call `inside` belongs to."""
        if not names or depth == 0:
            yield {}
            return
        if function.usr.startswith(MEET):
            for row in self.rows:
                if row.case in self.cases.get(id(inside), ()):
                    yield {name: (row.rule, row, {}) for name in names}
            return
        for call, caller in self.callers.get(function.usr, []):
            given = dict(zip(function.params, (value for _, value in arguments(call))))
            given = {name: given[name] for name in names if name in given}
            omitted = {name: (function.defaults[name], function, {})
                       for name, each in given.items()
                       if kind(each) == "default_argument_expr" and name in function.defaults}
            needs = set().union(*(self.free(each, caller) for each in given.values()))
            for frame in self.frames(caller, needs, depth - 1, call):
                yield {name: (each, caller, frame) for name, each in given.items()} | omitted

    def values(self, node, function, frame, depth=DEEPEST):
        """The statuses, by their Swift names, the texts, and with a dot before them the
        cases of enumerations that an expression gives."""
        if depth == 0:
            return set()
        each = kind(node)
        if each == "string_literal_expr":
            return {node["value"]}
        if each == "member_ref_expr":
            usr = node["decl"].get("decl_usr", "")
            if re.match(r"s:5Assay6StatusV\d+\w+vpZ", usr):
                return {node["decl"]["base_name"]}
            if usr.startswith(KEY_RULE):
                return self.key_rules()
            return self.member_values(node, usr, function, frame, depth)
        if each == "declref_expr" and re.match(r"s:5Assay.*mF$", node["decl"].get("decl_usr", "")):
            return {"." + node["decl"]["base_name"]}
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
        if name == "self":
            return set().union(*(
                self.values(receiver(call), caller, {}, depth - 1)
                for call, caller in self.callers.get(function.usr, []) if receiver(call)))
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

    def key_rules(self):
        """The rules of the rows that are about a key."""
        cases = frozenset().union(*(
            self.cases.get(id(value), ()) for usr, values in self.members.items()
            if str(usr).startswith(IS_OF_KEY) for value, _ in values
            if value.get("value") == "true"))
        return {row.rule["value"] for row in self.rows if row.case in cases}

    def chosen(self, node, function, frame, depth):
        """What a property gives: of a switch, for the cases that its value can be."""
        given = self.members.get(node["decl"].get("decl_usr"), [])
        if not any(self.cases.get(id(value)) for value, _ in given):
            return given
        cases = {each[1:] for each in self.values(node.get("base", {}), function, frame, depth)
                 if each.startswith(".")}
        return [(value, owner) for value, owner in given
                if not cases or cases & self.cases.get(id(value), cases)]

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
            return [made for value, owner in self.chosen(node, function, frame, depth - 1)
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
        for call, function, given in self.places:
            for status, rule in given:
                yield from self.pairs_of(call, function, status, rule)
        for row in self.rows:
            if row not in self.met:
                yield (None, row.rule.get("value"), *row.place)

    def pairs_of(self, call, function, status, rule):
        place = function.file, call.get("range", {}).get("start", 0)
        names = self.free(status, function) | self.free(rule, function)
        for frame in self.frames(function, names, 6, call):
            statuses = {each for each in self.values(status, function, frame)
                        if not each.startswith(".")}
            rules = {each for each in self.values(rule, function, frame)
                     if RULE.fullmatch(each)}
            if not statuses and self.is_never_made(status):
                continue
            rows = set(rows_in(frame))
            self.met |= rows
            for where in {place, *(row.place for row in rows)}:
                yield from ((each, other, *where) for each in statuses or {None}
                            for other in rules or {None})

    # ---- members ----------------------------------------------------------------

    def judged(self):
        """(rule, file, offset) of the code that judges members: each with the rules that
        its node can be refused by."""
        rules = {id(call): {
            found for _, rule in given for found in self.values(rule, function, {})
            if RULE.fullmatch(found)} for call, function, given in self.places}
        for call, function, node in self.asked:
            for naming in self.namings(node, function, set()):
                for rule in rules.get(naming, ()):
                    yield rule, function.file, call.get("range", {}).get("start", 0)

    def namings(self, node, function, seen):
        """The ids of the calls that named what a node, or a MemberRefusals, refuses with."""
        each, usr = kind(node), callee(node) if kind(node) == "call_expr" else ""
        if names_refusals(usr):
            return {id(node)}
        if usr.startswith(REFUSING):
            return self.namings(arguments(node)[0][1], function, seen)
        found = set()
        for value, owner in self.givers(node, each, function, seen):
            found |= self.namings(value, owner, seen)
        if not found and each in ("call_expr", "subscript_expr") \
                and "10MemberNodeV" in str(node.get("type")):
            # What it is made from has no name: a function that names it itself.
            for value, owner in self.returned(node, usr):
                found |= self.namings(value, owner, seen)
        return found

    def returned(self, node, usr):
        """What the function returns that a call, or a subscript, asks. A node's own
        functions return what they were asked of."""
        usr = usr or node.get("decl", {}).get("decl_usr", "")
        if usr.startswith(NODE):
            return []
        if kind(node) == "subscript_expr":
            return self.members.get(usr, [])
        called = self.functions.get(usr)
        return [(result, called) for result in results(called.node["body"])] if called else []

    def givers(self, node, each, function, seen):
        """The expressions, with their functions, that an expression is made from."""
        if each not in ("declref_expr", "member_ref_expr"):
            return [(child, function) for child in children(node)]
        name, usr = node["decl"].get("base_name"), node["decl"].get("decl_usr", "")
        key = usr or (function.usr, name)
        inside = [(node["base"], function)] if isinstance(node.get("base"), dict) else []
        if key in seen or usr.startswith(NODE):
            return inside
        seen.add(key)
        if usr:
            return inside + self.members.get(usr, []) + [
                (value, caller) for call, caller, _ in self.made_of(usr)
                for label, value in arguments(call) if label == name]
        given = [(value, function) for value in function.locals.get(name, [])]
        if name == "self" or name in function.params:
            given += [(value, caller) for call, caller in self.callers.get(function.usr, [])
                      for value in [given_for(name, function, call)] if value]
        if given:
            return given
        return self.givers(node, each, function.parent, seen) if function.parent else []

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
        pattern = entry.get("pattern", {})
        if not isinstance(value, dict):
            continue
        if kind(pattern) == "pattern_tuple" and kind(value) == "tuple_expr":
            yield from zip(map(pattern_name, pattern["elements"]), value["elements"])
        else:
            yield pattern_name(pattern), value


def labels(case):
    """The cases that a branch of a switch is for."""
    return frozenset(base_name({"name": each["element"]}) for item in case["case_label_items"]
                     for each in nodes(item) if kind(each) == "pattern_enum_element")


def receiver(call):
    """The value whose method is called."""
    node = call.get("fn")
    while isinstance(node, dict):
        if kind(node) == "dot_syntax_call_expr":
            return node["args"]["args"][0]["expr"]
        node = node.get("fn") or node.get("sub_expr")
    return None


def given_for(name, function, call):
    """What a call gives for a parameter, or for self."""
    if name == "self":
        return receiver(call) or call.get("base")
    return dict(zip(function.params, (value for _, value in arguments(call)))).get(name)


def names_refusals(usr):
    """Whether a function is given the status and the rule that members are refused with."""
    if usr.startswith(REFUSALS):
        return usr.endswith("fc") or usr.startswith(REFUSALS + "4form")
    return usr.startswith(REFUSING) and "6StatusV" in usr


def named(call):
    """[(status, rule)] of such a call: MemberRefusals(syntax: … missing: …, rule,
    unknownRule: …), MemberRefusals(status, rule), form(status, rule) or
    refusing(status, rule)."""
    given = arguments(call)
    by_label = {label: value for label, value in given
                if label and kind(value) != "default_argument_expr"}
    if "syntax" not in by_label:
        return [(given[0][1], given[1][1])]
    rule = next(value for label, value in given if not label)
    return [(by_label[fault], by_label.get("unknownRule", rule) if fault == "unknown" else rule)
            for fault in FAULTS if kind(by_label[fault]) != "nil_literal_expr"]


def rows_in(frame):
    """The rows that give what a frame has."""
    for _, owner, outer in frame.values():
        if isinstance(owner, Row):
            yield owner
        yield from rows_in(outer)


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
