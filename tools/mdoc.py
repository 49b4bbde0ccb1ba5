"""Write mdoc(7), the language of manual pages."""
import re
import textwrap

WIDTH = 78
# The date of the pages is that of the release.
DATE = "November 21, 2026"


def escaped(text):
    """Escape a text so that mdoc prints backslashes, quotes and hyphens unchanged."""
    out = text.replace("\\", "\\e")
    out = out.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    out = out.replace("~", "\\(ti")
    return "".join(char if ord(char) < 128 else f"\\[u{ord(char):04X}]" for char in out)


def guarded(line):
    """Escape a text line that would be read as a macro line."""
    return "\\&" + line if line[:1] in (".", "'") else line


def argument(text):
    """Return one argument of a macro, quoted and never read as a macro itself."""
    out = escaped(text).replace('"', "\\(dq").replace("-", "\\-")
    out = re.sub(r"^(?=\W|[A-Z][a-z]$|[A-Z][a-z]\b)", lambda _: "\\&", out)
    return f'"{out}"' if " " in out or not out else out


def sentences(text):
    """Return each sentence as a line of its own, as mdoc requires."""
    words = " ".join(text.split())
    return re.split(r"(?<=[A-Za-z0-9)\"'][.?!]) (?=[A-Z\"'`])", words)


def prose(text):
    """Return a paragraph as text lines."""
    lines = []
    for sentence in sentences(text):
        lines += [guarded(line) for line in textwrap.wrap(
            escaped(sentence), WIDTH, break_long_words=False, break_on_hyphens=False)]
    return lines


def literal(lines):
    """Return lines as a literal display."""
    return [".Bd -literal -offset indent",
            *[guarded(escaped(line).replace("-", "\\-")) for line in lines], ".Ed"]


def discussion(text):
    """Return paragraphs; lines indented by two spaces become literal displays."""
    out, begun = [], False
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        plain, shown = [], []
        for line in block.split("\n") + [""]:
            if line.startswith("  "):
                shown.append(line[2:])
                continue
            if shown:
                out += [*literal(shown)]
                shown = []
            if line:
                if not plain and begun:
                    out.append(".Pp")
                plain.append(line)
                out += prose(line)
                begun = True
        if shown:
            out += literal(shown)
        begun = True
    return out


def page(name, section, names, about, body):
    """Return a whole page: prologue, NAME and the body."""
    known = [f".Nm {one} ,"for one in names[:-1]] + [f".Nm {names[-1]}"]
    return "\n".join([
        '.\\" Made by tools/manual.py.',
        f".Dd {DATE}", f".Dt {name.upper()} {section}", ".Os", ".Sh NAME", *known,
        f".Nd {about}", *body, ".Sh AUTHORS", ".An Assay maintainers", ".Lk https://assay.example", ""])
