#!/usr/bin/env python3
"""Write man/assay.1 from what the command line says of itself.

  tools/manual.py PROGRAM          write man/assay.1
  tools/manual.py PROGRAM --check  exit 1 when it is not what would be written
  tools/manual.py --help-json FILE [--check]   the same from a saved dump

The command line, built with swift-argument-parser, describes its commands as
JSON (--experimental-dump-help).
"""
import argparse
import json
import pathlib
import subprocess
import sys

import mdoc
from status_rows import ROOT

PAGE = ROOT / "man/assay.1"
FORM = 0  # serializationVersion that this program reads


def described(program):
    """What the program says of itself, parsed."""
    result = subprocess.run([program, "--experimental-dump-help"], check=True, text=True,
                            capture_output=True, stdin=subprocess.DEVNULL)
    return result.stdout


def shown(command):
    """The arguments that help shows; --help is said once for all."""
    return [argument for argument in command.get("arguments", [])
            if argument["shouldDisplay"] and argument["valueName"] != "help"]


def written(name):
    """-o or --out, as arguments of .Fl."""
    dashes = {"short": "", "long": "\\-", "longWithSingleDash": ""}
    return dashes[name["kind"]] + name["name"].replace("-", "\\-")


def names(argument):
    found = argument.get("names", [])
    return sorted(found, key=lambda name: name["kind"] != "short")


def option_line(argument):
    """`Fl o Ar out , Fl \\-out Ar out`, the words of one option."""
    value = f" Ar {mdoc.argument(argument['valueName'])}" if argument["kind"] == "option" else ""
    return " , ".join(f"Fl {written(name)}{value}" for name in names(argument))


def synopsis(command):
    """The .Nm line of a command and its arguments."""
    out = [f".Nm assay Cm {command['commandName']}"]
    optional = [item for item in shown(command) if item["isOptional"]]
    if any(item["kind"] != "positional" for item in optional):
        out.append(".Op Ar options")
    for item in shown(command):
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
    if "defaultValue" in item:
        notes.append(f"Without it: {item['defaultValue']}.")
    if item["isRepeating"]:
        notes.append("May be given more than once.")
    if not item["isOptional"] and item["kind"] != "positional":
        notes.append("Required.")
    return out + mdoc.prose(" ".join(notes))


def section(command):
    out = [f".Ss assay {command['commandName']}", *mdoc.prose(command["abstract"])]
    groups = {}
    for item in shown(command):
        groups.setdefault(item.get("sectionTitle", ""), []).append(item)
    for title in sorted(groups, key=bool):
        out += [".Pp", f"{title}:"] if title else []
        out.append(".Bl -tag -width Ds")
        for item in groups[title]:
            out += argument_text(item)
        out.append(".El")
    if command.get("discussion"):
        out += [".Pp", *mdoc.discussion(command["discussion"])]
    return out


def page(dump):
    if dump.get("serializationVersion") != FORM:
        sys.exit(f"manual: the form of the dump is {dump.get('serializationVersion')}, "
                 f"not {FORM}")
    root = dump["command"]
    commands = [command for command in root["subcommands"]
                if command["shouldDisplay"] and command["commandName"] != "help"]
    body = [".Sh SYNOPSIS"]
    for command in commands:
        body += synopsis(command)
    body += [".Nm assay Cm help", ".Op Ar command", ".Sh DESCRIPTION",
             *mdoc.prose(root["abstract"]), ".Pp", *mdoc.discussion(root["discussion"]), ".Pp",
             "Every command takes", ".Fl h , Fl \\-help", "and shows its own help.",
             ".Sh COMMANDS"]
    for command in commands:
        body += section(command)
    body += [".Sh EXIT STATUS", "0 for a good outcome, 1 for a refusal, 2 for wrong use or a "
             "configuration", "that is not usable; each command says what that means for it.",
             ".Sh SEE ALSO", ".Xr assay 3 ,", ".Xr assay-statuses 7"]
    return mdoc.page("assay", 1, ["assay"], root["abstract"].rstrip(".")[:1].lower()
                     + root["abstract"].rstrip(".")[1:], body, "tools/manual.py")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", help="the command line that was built")
    parser.add_argument("--help-json", type=pathlib.Path, help="a saved dump of its help")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if (options.program is None) == (options.help_json is None):
        parser.error("a program, or a dump of its help")
    text = options.help_json.read_text() if options.help_json else described(options.program)
    wanted = page(json.loads(text))
    if PAGE.exists() and PAGE.read_text() == wanted:
        return 0
    if options.check:
        print("man/assay.1 is not what the command line says of itself: run `make manual`")
        return 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(wanted)
    print("wrote man/assay.1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
