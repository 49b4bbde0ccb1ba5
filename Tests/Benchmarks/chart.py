#!/usr/bin/env python3
"""Draw docs/benchmarks.svg, the chart of the table in docs/benchmarks.md.

  chart.py           draw the chart of the table that is in the page
  chart.py --check   exit 1 if the chart is not that of the table

`make bench` writes the rows of the table (bench.py). The chart is plain SVG: bars as long as the
ratios, narrow enough for the full size on a phone, in light and dark colours.
"""
import argparse
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/benchmarks.md"
CHART = ROOT / "docs/benchmarks.svg"
BLOCK = re.compile(r"(## One run\n\n).*?(:\n\n```text not-run=measured\n)(.*?)(```\n)", re.S)
WIDTH, LEFT, ROW, BAR = 460, 10, 42, 14
STYLE = """\
svg{--back:#fdfdfc;--text:#1d2125;--soft:#5b636b;--bar:#4a6da7;--fast:#3f7d3f;--one:#8a3b56}
@media (prefers-color-scheme:dark){svg{--back:#15181b;--text:#e2e5e8;--soft:#9aa4ad;--bar:#7a9bd0;--fast:#6fb06f;--one:#e39ab3}}
text{font:13px system-ui,"DejaVu Sans",sans-serif;fill:var(--text)}
.h{font-size:15px;font-weight:600}.s{fill:var(--soft);font-size:12px}.v{font-weight:600;text-anchor:end}
.bar{fill:var(--bar)}.fast{fill:var(--fast)}.one{stroke:var(--one);stroke-width:1.5;stroke-dasharray:4 3}"""


def rows_of(table):
    """Split a table, as the benchmark prints it, into [[cell]], without its head."""
    return [[cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in table.strip().splitlines()[2:]]


def ratio(cells):
    """Return the ratio of a row; None for rows with another figure."""
    found = re.fullmatch(r"([0-9.]+) x", cells[4])
    return float(found[1]) if found else None


def group(rows, first, style, longest, title, note, line=None):
    """Return (SVG lines, height below `first`) of bars under a title."""
    out = [f'<text x="{LEFT}" y="{first + 18}" class="h">{title}</text>',
           f'<text x="{LEFT}" y="{first + 36}" class="s">{note}</text>']
    room = WIDTH - 2 * LEFT
    top = first + 50
    bottom = top + len(rows) * ROW
    if line:
        x = round(LEFT + room * line / longest, 1)
        out.append(f'<path d="M{x} {top + 14}V{bottom - 6}" class="one"/>')
    for number, cells in enumerate(rows):
        y = top + number * ROW
        length = max(2, round(room * ratio(cells) / longest, 1))
        out += [f'<text x="{LEFT}" y="{y + 12}">{html.escape(cells[0])} '
                f'<tspan class="s">· {html.escape(cells[2])}</tspan></text>',
                f'<text x="{WIDTH - LEFT}" y="{y + 12}" class="v">{cells[4][:-2]} ×</text>',
                f'<rect x="{LEFT}" y="{y + 18}" width="{length}" height="{BAR}" rx="2" '
                f'class="{style}"/>']
    return out, bottom - first


def draw(rows):
    """Return the SVG of rows in the form of the table."""
    measured = [cells for cells in rows
                if ratio(cells) is not None and "two over one" not in cells[2]]
    through = [cells for cells in measured if cells[0].endswith("through Python")]
    bare = [cells for cells in measured if cells not in through and cells[0] != "Python package"]
    one, height = group(
        bare, 8, "bar", max([1.0, *map(ratio, bare)]), "Time of a call over that of bare libcrypto",
        "by hand in C, the same signatures; dashed: as long; shorter is faster", 1.0)
    two, more = group(
        through, 16 + height, "fast", max([1.0, *map(ratio, through)]),
        "Through Python: how many times as fast", "as the library named behind the dot")
    height += more + 20
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Measured ratios: calls of Assay '
        'against bare libcrypto and against other libraries; the table has the numbers">',
        f"<style>\n{STYLE}\n</style>", f'<rect width="{WIDTH}" height="{height}" fill="var(--back)"/>',
        *one, *two, "</svg>", ""])


def write(about, table):
    """Write a run into the page: its machine, its table, and the chart."""
    text = PAGE.read_text()
    if not BLOCK.search(text):
        sys.exit("docs/benchmarks.md has no table of one run")
    PAGE.write_text(BLOCK.sub(lambda found: found[1] + about + found[2] + table + found[4], text))
    CHART.write_text(draw(rows_of(table)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wanted = draw(rows_of(BLOCK.search(PAGE.read_text())[3]))
    if not options.check:
        CHART.write_text(wanted)
        return 0
    fits = CHART.exists() and CHART.read_text() == wanted
    print(f"suite chart: {int(fits)} passed, {int(not fits)} failed, 0 skipped")
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
