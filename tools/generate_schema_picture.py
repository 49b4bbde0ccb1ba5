"""Draw the ledger's tables, from tables.tsv: docs/pictures/schema.svg.

This file has the positions of the tables and the arrows between them.
"""
import generate_statements

# Left and top of each box; all boxes have the same width.
PLACES = {"purchase_key": (20, 50), "purchase": (240, 50), "evidence": (460, 50),
          "subscription": (680, 50), "quota": (20, 150), "challenge": (20, 300),
          "event": (20, 466), "audit": (460, 160), "merged_account": (460, 312),
          "schema": (460, 428), "device_key": (680, 416)}
ARROWS = [("purchase_key", "target", "purchase"), ("purchase", "evidence", "evidence"),
          ("subscription", "evidence", "evidence")]
WIDTH, LINE, HEAD = 180, 16, 26
PAGE = (880, 680)
STYLE = """\
svg{--back:#fbfbf9;--box:#ffffff;--text:#1d2125;--quiet:#6b7280;--line:#9aa4ad}
@media (prefers-color-scheme:dark){svg{--back:#1d2125;--box:#262b30;--text:#e2e5e8;--quiet:#9aa4ad;--line:#5b636b}}
text{font:12px ui-monospace,"DejaVu Sans Mono",monospace;fill:var(--text)}
.name{font-weight:700}.key{text-decoration:underline}.none{fill:var(--quiet)}
rect.box{fill:var(--box);stroke:var(--line)}path{stroke:var(--line);fill:none}.head{fill:var(--line);stroke:none}"""


def box(table):
    left, top = PLACES[table.name]
    height = HEAD + LINE * len(table.columns) + 6
    out = [f'<rect class="box" x="{left}" y="{top}" width="{WIDTH}" height="{height}" rx="4"/>',
           f'<text class="name" x="{left + 10}" y="{top + 17}">assay_{table.name}</text>',
           f'<path d="M{left} {top + HEAD - 2}h{WIDTH}"/>']
    for place, column in enumerate(table.columns):
        kind = "key" if column.is_key else "none" if column.is_null else ""
        out.append(f'<text class="{kind}" x="{left + 10}" y="{top + HEAD + 13 + LINE * place}">'
                   f"{column.name}</text>")
    return out


def arrow(tables, source, column, target):
    """Return an arrow from a column to the table whose key the column holds."""
    left, top = PLACES[source]
    names = [each.name for each in tables[source].columns]
    y = top + HEAD + 9 + LINE * names.index(column)
    goal_x, goal_y = PLACES[target]
    goal_y += 13
    if goal_x > left:
        start, end, back = left + WIDTH, goal_x, -8
    else:
        start, end, back = left, goal_x + WIDTH, 8
    middle = (start + end) / 2
    return [f'<path d="M{start} {y}H{middle:g}V{goal_y}H{end}"/>',
            f'<path class="head" d="M{end} {goal_y}l{back} -4v8z"/>']


def outputs(*_):
    tables = generate_statements.tables()
    width, height = PAGE
    label = ("The tables of the ledger: the keys of a purchase lead to its row; purchases and "
             "subscriptions name their evidence; counters, challenges, device keys, events, "
             "merged accounts and audit rows are on their own")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" role="img" aria-label="{label}">',
           f"<style>\n{STYLE}\n</style>",
           f'<rect width="{width}" height="{height}" rx="8" fill="var(--back)"/>',
           '<text class="none" x="20" y="28">underlined: the key; grey: may be null</text>']
    for each in ARROWS:
        out += arrow(tables, *each)
    for table in tables.values():
        out += box(table)
    return {"docs/pictures/schema.svg": "\n".join([*out, "</svg>", ""])}
