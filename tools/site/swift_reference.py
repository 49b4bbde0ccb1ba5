"""The Swift module as plain pages, from the compiler's symbol graph.

DocC's own pages are drawn by a script that fetches data, which a browser refuses
for files that come from no server; so the graph is written out here, and docc is
run over the same graph to judge the comments (Tests/Gates/documentation.py).
"""
import html
import json

import markup

FOLDER = "swift"
KINDS = [("swift.init", "Making one"), ("swift.type.method", "Type methods"),
         ("swift.method", "Methods"), ("swift.enum.case", "Cases"),
         ("swift.property", "Properties"), ("swift.type.property", "Type properties"),
         ("swift.func.op", "Operators")]
ORDER = ["Verifier", "Document", "Exchange", "Status", "Refusal", "StoreKitKind", "ReceiptKind",
         "ClientDataInput", "Environment", "ProductType", "Text", "LibraryDescription"]


def declared(symbol):
    """Its declaration as a block of code."""
    text = "".join(part["spelling"] for part in symbol["declarationFragments"])
    code = markup.highlighted("swift", html.escape(text, quote=False))
    return f'<pre class="code"><code>{code}</code></pre>'


def comment(symbol):
    return "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))


def own(symbol):
    """Whether it was written in this module: synthesized ones have no place."""
    return "location" in symbol


def read(path):
    """Top-level symbols in reading order, and the members of each type."""
    symbols = [symbol for symbol in json.loads(path.read_text())["symbols"] if own(symbol)]
    top = [symbol for symbol in symbols if len(symbol["pathComponents"]) == 1]
    places = {name: index for index, name in enumerate(ORDER)}
    top.sort(key=lambda symbol: (places.get(symbol["names"]["title"], len(ORDER)),
                                 symbol["names"]["title"]))
    members = {symbol["pathComponents"][0]: [] for symbol in top}
    for symbol in symbols:
        if len(symbol["pathComponents"]) > 1:
            members[symbol["pathComponents"][0]].append(symbol)
    return top, members


def words(symbol, names):
    source = comment(symbol).replace("- Returns:", "**Returns**").replace(
        "- Throws:", "**Throws**").replace("- Parameters:", "**Parameters**")
    return markup.convert(source, lambda address: None, names).text if source else ""


def entry(symbol, slugs, names, tag):
    title = symbol["names"]["title"]
    slug = slugs.of(".".join(symbol["pathComponents"][1:]) or title)
    place = html.escape(slug)
    return (slug, f'<div class="symbol" id="{place}">\n<{tag}><code>{html.escape(title)}</code>'
                  f'<a class="anchor" href="#{place}" aria-label="link to here">#</a></{tag}>\n'
                  f"{declared(symbol)}\n{words(symbol, names)}</div>\n")


def type_page(symbol, members, status_page, names):
    """One type: its comment, then its members by kind."""
    title = symbol["names"]["title"]
    slugs = markup.Slugs()
    out = [f"<h1><code>{title}</code></h1>\n{declared(symbol)}\n{words(symbol, names)}\n"]
    headings, found = [], []
    for kind, heading in KINDS:
        mine = [member for member in members if member["kind"]["identifier"] == kind]
        if not mine:
            continue
        slug = slugs.of(heading)
        headings.append((2, slug, heading))
        out.append(f'<h2 id="{slug}">{heading}</h2>\n')
        if title == "Status" and kind == "swift.type.property":
            out.append(f'<p>One for each status of <a href="{status_page}">the table</a>, which '
                       "has cause and remedy:</p>\n<ul class=\"terms\">\n" + "".join(
                           f"<li><code>{member['names']['title']}</code></li>\n"
                           for member in sorted(mine, key=lambda one: one["names"]["title"]))
                       + "</ul>\n")
            continue
        for member in mine:
            slug, text = entry(member, slugs, names, "h3")
            found.append((f"{title}.{member['names']['title']}", slug))
            out.append(text)
    return "".join(out), headings, found


def pages(graph, names_for, status_target):
    """[(target, title, text, headings)] and {symbol: address} for the index."""
    top, members = read(graph)
    index = f"{FOLDER}/index.html"
    names = names_for(index)
    made, terms, loose = [], {}, []
    rows = []
    slugs = markup.Slugs()
    for symbol in top:
        title = symbol["names"]["title"]
        if members[title] or symbol["kind"]["identifier"] not in ("swift.func", "swift.var"):
            target = f"{FOLDER}/{title}.html"
            text, headings, found = type_page(
                symbol, members[title], markup.relative(status_target, target),
                names_for(target))
            made.append((target, title, text, headings))
            terms[title] = target
            terms.update({name: f"{target}#{slug}" for name, slug in found})
            first = comment(symbol).partition("\n\n")[0]
            about = markup.commonmark(first).replace("<p>", "").replace("</p>", "")
            rows.append(f'<tr><td><a href="{title}.html"><code>{title}</code></a></td>'
                        f"<td>{about}</td></tr>\n")
        else:
            slug, text = entry(symbol, slugs, names, "h3")
            terms[title] = f"{index}#{slug}"
            loose.append(text)
    text = ("<h1>Swift module</h1>\n<p><code>import Assay</code>: depend on this package and its "
            'product <code>Assay</code>. <a href="../start/swift.html">Start in five minutes</a>.'
            '</p>\n<h2 id="types">Types</h2>\n<div class="wide"><table><thead><tr><th>type</th>'
            "<th>what it is</th></tr></thead>\n<tbody>" + "".join(rows)
            + "</tbody></table></div>\n"
            '<h2 id="functions-and-constants">Functions and constants</h2>\n' + "".join(loose))
    made.insert(0, (index, "Swift module", text, []))
    return made, terms
