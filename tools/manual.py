#!/usr/bin/env python3
"""Print a page of the manual.

  tools/manual.py PAGE PROGRAM     assay.1, assay.3 or assay-statuses.7

assay(1) comes from the JSON with which the command line PROGRAM describes itself (--describe), the
other pages from the header and the table of statuses.
"""
import json
import subprocess
import sys

import manual_library
import mdoc


def described(program):
    """Return the JSON with which the program describes itself."""
    result = subprocess.run([program, "--describe"], check=True, text=True,
                            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return json.loads(result.stdout)


def option_line(item):
    """Return one option in mdoc: `Fl o Ar out , Fl \\-out Ar out`."""
    value = f" Ar {mdoc.argument(item['valueName'])}" if item["kind"] == "option" else ""
    names = [item["letter"]] if item["letter"] else []
    names.append("\\-" + item["name"].replace("-", "\\-"))
    return " , ".join(f"Fl {name}{value}" for name in names)


def leaves(command, words=()):
    """Return [(words after `assay`, command)] of all commands without subcommands."""
    found = []
    for inner in command["subcommands"]:
        path = (*words, inner["commandName"])
        found += leaves(inner, path) if inner["subcommands"] else [(path, inner)]
    return found


def synopsis(words, command):
    """Return the .Nm line of a command with its arguments."""
    out = [f".Nm assay Cm {' '.join(words)}"]
    if any(item["isOptional"] and item["kind"] != "positional" for item in command["arguments"]):
        out.append(".Op Ar options")
    for item in command["arguments"]:
        if item["kind"] == "option" and not item["isOptional"]:
            out.append(f".{option_line(item)}")
        elif item["kind"] == "positional":
            macro = ".Op Ar" if item["isOptional"] else ".Ar"
            more = " ..." if item["isRepeating"] else ""
            out.append(f"{macro} {mdoc.argument(item['valueName'])}{more}")
    return out


def argument_text(item):
    if item["kind"] == "positional":
        out = [f".It Ar {mdoc.argument(item['valueName'])}"]
    else:
        out = [f".It {option_line(item)}"]
    out += mdoc.prose(item["abstract"])
    notes = []
    if item["default"]:
        notes.append(f"Without it: {item['default']}.")
    if item["isRepeating"]:
        notes.append("May be given more than once.")
    if not item["isOptional"] and item["kind"] != "positional":
        notes.append("Required.")
    return out + mdoc.prose(" ".join(notes))


def section(words, command):
    out = [f".Ss assay {' '.join(words)}", *mdoc.prose(command["abstract"])]
    groups = {}
    for item in command["arguments"]:
        groups.setdefault(item["section"], []).append(item)
    for title in sorted(groups, key=bool):
        out += [".Pp", f"{title}:"] if title else []
        out.append(".Bl -tag -width Ds")
        for item in groups[title]:
            out += argument_text(item)
        out.append(".El")
    if command.get("discussion"):
        out += [".Pp", *mdoc.discussion(command["discussion"])]
    return out


def page(root):
    commands = leaves(root)
    body = [".Sh SYNOPSIS"]
    for words, command in commands:
        body += synopsis(words, command)
    body += [".Nm assay Cm help", ".Op Ar command", ".Nm assay", ".Fl \\-version",
             ".Sh DESCRIPTION", *mdoc.prose(root["abstract"]), ".Pp",
             *mdoc.discussion(root["discussion"]), ".Pp",
             "Every command takes", ".Fl h , Fl \\-help", "and shows its own help.",
             ".Sh COMMANDS"]
    for words, command in commands:
        body += section(words, command)
    body += [".Sh EXIT STATUS", "0 for a good outcome, 1 for a refusal, 2 for incorrect usage or a "
             "configuration", "that is not usable; each command says what that means for it.",
             ".Sh SEE ALSO", ".Xr assay 3 ,", ".Xr assay-statuses 7"]
    return mdoc.page("assay", 1, ["assay"], root["abstract"].rstrip(".")[:1].lower()
                     + root["abstract"].rstrip(".")[1:], body)


if __name__ == "__main__":
    _, wanted, of = sys.argv
    print({"assay.1": lambda: page(described(of)), "assay.3": manual_library.functions_page,
           "assay-statuses.7": manual_library.statuses_page}[wanted](), end="")
