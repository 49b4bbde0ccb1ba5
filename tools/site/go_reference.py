"""The Go module's reference, from `go doc -all`."""
import os
import re
import subprocess
import textwrap

from pages import ROOT
from reference import Entry, Reference, Type

FIRST = ["Verifier", "Exchange", "Document", "Transaction", "Renewal", "Notification",
         "AppTransaction", "RealtimeRequest", "Decision", "GroupDecision"]
SECTION = re.compile(r"^(CONSTANTS|VARIABLES|FUNCTIONS|TYPES)$", re.M)


def documented():
    """The text of `go doc`; a build with cgo is not needed for it."""
    found = subprocess.run(["go", "doc", "-all", "."], cwd=ROOT / "bindings/go", text=True,
                           capture_output=True, env=dict(os.environ, GOFLAGS="-mod=mod"))
    if found.returncode:
        raise SystemExit(f"go doc: {found.stderr[-2000:]}")
    return found.stdout


def declarations(text):
    """(code, comment) of each declaration: its comment is the indented text behind it."""
    found = []
    for block in re.split(r"\n(?=(?:func|type|const|var)\b)", "\n" + text.strip("\n")):
        lines = block.strip("\n").split("\n")
        end = 1
        if lines[0].endswith(("{", "(")):
            end += 1 + next(place for place, line in enumerate(lines[1:])
                            if line.startswith(("}", ")")))
        found.append(("\n".join(lines[:end]), textwrap.dedent("\n".join(lines[end:])).strip("\n")))
    return [each for each in found if each[0]]


def name_of(code):
    """The name that a declaration declares; its receiver's, where it has one."""
    method = re.match(r"func \((?:\w+ )?\*?(\w+)(?:\[.*?\])?\) (\w+)", code)
    if method:
        return method[1], method[2]
    return None, re.match(r"(?:func|type|const|var) \(?\s*(?://.*\n\s*)*(\w+)", code)[1]


def reference():
    parts = SECTION.split(documented())
    sections = dict(zip(parts[1::2], parts[2::2]))
    package = parts[0].partition("\n\n")[2]
    types, order = {}, {name: place for place, name in enumerate(FIRST)}
    loose = {"Functions": [], "Constants": [], "Variables": []}
    for heading in loose:
        for code, comment in declarations(sections.get(heading.upper(), "")):
            loose[heading].append(Entry(name_of(code)[1], code, comment))
    last = None
    for code, comment in declarations(sections["TYPES"]):
        receiver, name = name_of(code)
        if code.startswith("type "):
            last = types[name] = Type(name, code, comment, {
                "Constants": [], "Functions": [], "Methods": []})
        elif receiver:
            types[receiver].groups["Methods"].append(Entry(name, code, comment))
        else:
            group = "Functions" if code.startswith("func") else "Constants"
            last.groups[group].append(Entry(name, code, comment))
    listed = sorted(types.values(), key=lambda each: (order.get(each.name, len(order)), each.name))
    return Reference("go", "Go reference", "go", textwrap.dedent(package), listed, loose)
