#!/usr/bin/env python3
"""Draw pictures of the command line's real output.

  tools/pictures.py PROGRAM          write docs/pictures
  tools/pictures.py PROGRAM --check  exit 1 when a picture is not what PROGRAM shows now

refusal.svg is a terminal with a forged transaction, in colours; day.svg is the chart of `assay
report` over a day of minted requests. Dates and seeds are fixed, so that the same program gives the
same bytes. The flow charts are those of flowcharts.py.
"""
import argparse
import html
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import textwrap

from flowcharts import flowcharts

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures"
NOW = "2026-11-21"
FORGERY = "JWS-29"
DAY = "20000"
# A terminal as wide as a phone displays legibly; longer lines are folded.
COLUMNS, LINES = 62, 16
ADVANCE, LINE, PAD = 8.4, 19, 16
SECONDS = 120
CLASSES = {"1": "strong", "2": "quiet", "31": "bad", "32": "good", "33": "caution"}
STYLE = """\
svg{--back:#fbfbf9;--text:#1d2125;--quiet:#6b7280;--bad:#a3232f;--good:#1f6b3a;--caution:#8a5a00;--line:#deded8}
@media (prefers-color-scheme:dark){svg{--back:#1d2125;--text:#e2e5e8;--quiet:#9aa4ad;--bad:#ff8f8f;--good:#8fd19e;--caution:#e5b567;--line:#343a40}}
text{font:14px ui-monospace,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
.strong{font-weight:700}.quiet{fill:var(--quiet)}.bad{fill:var(--bad);font-weight:700}
.good{fill:var(--good);font-weight:700}.caution{fill:var(--caution)}.prompt{fill:var(--quiet)}"""


def run(*command, folder):
    result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True,
                            stdin=subprocess.DEVNULL, timeout=SECONDS)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr.decode()}")
    return result.stdout


def shown(command, folder):
    """Return a command's output to a terminal, with escape sequences."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=theirs,
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(environment, TERM="xterm-256color"))
    os.close(theirs)
    found = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        found += part
    os.close(ours)
    process.wait(timeout=SECONDS)
    return found.decode().replace("\r\n", "\n")


def spans(line):
    """Return [(class or None, text)] of a line with escape sequences."""
    found, style = [], None
    for text, code in re.findall(r"([^\x1b]*)(?:\x1b\[([0-9;]*)m|$)", line):
        if text:
            found.append((style, text))
        style = CLASSES.get(code)
    return found


def folded(line):
    """Fold a line into as many as it needs; continuation lines are indented below its words."""
    plain = "".join(text for _, text in spans(line))
    if len(plain) <= COLUMNS:
        return [spans(line)]
    # In output of two columns, the second is folded below itself.
    start = re.match(r"\s*\S+\s\s+", plain)
    indent = len(start[0]) if start and len(start[0]) <= COLUMNS // 2 else 4
    rows = textwrap.wrap(plain, COLUMNS, subsequent_indent=" " * indent,
                         break_on_hyphens=False, drop_whitespace=True)
    styles = [style for style, text in spans(line) for _ in text]
    at, out = 0, []
    for number, row in enumerate(rows):
        words = row.lstrip() if number else row
        at = plain.index(words, at)
        cells = [(None, " " * (len(row) - len(words)))]
        cells += [(styles[at + place], char) for place, char in enumerate(words)]
        at += len(words)
        out.append(cells)
    return out


def terminal(label, command, output):
    """Return an SVG of a terminal with a command and its output."""
    rows = [[("prompt", "$ " if not number else "    "), (None, part)] for number, part in
            enumerate(textwrap.wrap(command, COLUMNS - 4, break_long_words=False))]
    lines = [row for line in output.rstrip("\n").split("\n") for row in folded(line)]
    rows += lines if len(lines) <= LINES else [*lines[:LINES - 1], [("quiet", "…")]]
    width, height = round(COLUMNS * ADVANCE + 2 * PAD), len(rows) * LINE + 2 * PAD
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(label)}">',
           f"<style>\n{STYLE}\n</style>",
           f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" '
           'fill="var(--back)" stroke="var(--line)"/>']
    for number, row in enumerate(rows):
        merged = []
        for style, text in row:
            if merged and merged[-1][0] == style:
                merged[-1][1] += text
            else:
                merged.append([style, text])
        cells = "".join(
            f'<tspan class="{style}">{html.escape(text, quote=False)}</tspan>' if style
            else html.escape(text, quote=False) for style, text in merged)
        out.append(f'<text x="{PAD}" y="{PAD + 14 + number * LINE}" '
                   f'xml:space="preserve">{cells}</text>')
    return "\n".join([*out, "</svg>", ""])


def pictures(program):
    """Return {name: SVG} of every picture."""
    program = pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory() as folder:
        forged = run(program, "mint", "transaction", "--authority", "authority", "--now", NOW,
                     "--forge", FORGERY, folder=folder)
        (pathlib.Path(folder) / "forged.jws").write_bytes(forged)
        arguments = ["verify", "forged.jws", "--kind", "transaction", "--config",
                     "authority/config.json"]
        refusal = shown([program, *arguments, "--now", NOW], folder)
        run(program, "mint", "--day", DAY, "--now", NOW, "--authority", "authority",
            "--out", "day.ndjson", folder=folder)
        run(program, "report", "day.ndjson", "--config", "authority/config.json",
            "--svg", "day.svg", folder=folder)
        return {
            "refusal.svg": terminal("A refusal in the terminal: status, rule, place and hint",
                                    "assay " + " ".join(arguments), refusal),
            "day.svg": (pathlib.Path(folder) / "day.svg").read_text(),
            **flowcharts(),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the command line that was built")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = pictures(options.program)
    stale = [name for name, text in found.items()
             if not (PICTURES / name).exists() or (PICTURES / name).read_text() != text]
    for name in stale:
        if not options.check:
            PICTURES.mkdir(exist_ok=True)
            (PICTURES / name).write_text(found[name])
        print(("stale: " if options.check else "wrote ") + f"docs/pictures/{name}")
    if options.check:
        print(f"suite pictures: {len(found) - len(stale)} passed, {len(stale)} failed, 0 skipped")
        if stale:
            print("run `make pictures`")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
