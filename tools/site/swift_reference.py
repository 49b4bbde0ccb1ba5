"""The Swift modules as plain pages, from the compiler's symbol graphs.

DocC's own pages are drawn by a script that fetches data, which a browser refuses
for files that come from no server; so the graphs are written out here, and docc is
run over the same graphs to judge the comments (Tests/Gates/documentation.py).
"""
import html
import json

import markup

KINDS = [("swift.init", "Making one"), ("swift.type.method", "Type methods"),
         ("swift.method", "Methods"), ("swift.enum.case", "Cases"),
         ("swift.property", "Properties"), ("swift.type.property", "Type properties"),
         ("swift.func.op", "Operators")]
# What all facts share comes after what they say.
SHARED = ("document", "raw", "payload", "description")
TYPED_ORDER = [
    "Verifier", "Refusal", "Status", "Timestamp", "JSON", "Document", "Facts",
    "PurchaseEvidence", "Transaction", "Renewal", "Notification", "AppTransaction",
    "RealtimeRequest", "Triage", "Claims", "TransactionReceipt", "AppReceipt",
    "AppReceiptPurchase", "VerifyReceiptAnswer", "Decision", "GroupDecision", "Attestation",
    "Assertion", "AttestReceipt", "ClientData", "DeviceCheck", "Risk", "Exchange", "Name"]
CORE_ORDER = ["Verifier", "Document", "Exchange", "Status", "Refusal", "StoreKitKind",
              "ReceiptKind", "ClientDataInput", "Environment", "ProductType", "Text",
              "LibraryDescription"]


def declared(symbol):
    """Its declaration as a block of code."""
    text = "".join(part["spelling"] for part in symbol["declarationFragments"])
    code = markup.highlighted("swift", html.escape(text, quote=False))
    return f'<pre class="code"><code>{code}</code></pre>'


def comment(symbol):
    return "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))


def graph(path):
    """Its symbols; synthesized ones are left out."""
    return [symbol for symbol in json.loads(path.read_text())["symbols"] if "location" in symbol]


def modules(folder):
    """The modules that have a reference; `folder` has their symbol graphs."""
    core = graph(folder / "Assay.symbols/Assay.symbols.json")
    typed = graph(folder / "AssaySwift.symbols/AssaySwift.symbols.json")
    # The table of statuses is an extension, which a graph leaves out of what is handed
    # through.
    known = {tuple(symbol["pathComponents"]) for symbol in typed}
    typed += [symbol for symbol in core if symbol["pathComponents"][0] == "Status"
              and tuple(symbol["pathComponents"]) not in known]
    return [
        Module("swift", "Swift reference", "Swift", typed, TYPED_ORDER,
               "<code>import AssaySwift</code>: depend on this package and its product "
               '<code>AssaySwift</code>. <a href="../start/swift.html">Start in five minutes</a>.'),
        Module("swift-core", "Swift core", "Swift core", core, CORE_ORDER,
               "<code>import Assay</code>, the product <code>Assay</code>: bytes in, documents "
               "out, without Foundation; what libassay.so is made of. Servers are better served "
               'by the <a href="../swift/index.html">typed layer</a>.'),
    ]


def words(symbol, names):
    source = comment(symbol).replace("- Returns:", "**Returns**").replace(
        "- Throws:", "**Throws**").replace("- Parameters:", "**Parameters**").replace(
        "- Parameter ", "**Parameter** ")
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
    slugs.of("text")  # the frame of every page has that one
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


class Module:
    """One module: its symbols, and what its pages are called."""

    def __init__(self, folder, title, kind, symbols, order, about):
        self.folder, self.title, self.kind, self.about = folder, title, kind, about
        self.top = [symbol for symbol in symbols if len(symbol["pathComponents"]) == 1
                    and symbol["kind"]["identifier"] != "swift.extension"]
        places = {name: index for index, name in enumerate(order)}
        self.top.sort(key=lambda symbol: (places.get(symbol["names"]["title"], len(order)),
                                          symbol["names"]["title"]))
        self.members = {symbol["pathComponents"][0]: [] for symbol in self.top}
        for symbol in symbols:
            if len(symbol["pathComponents"]) > 1:
                # A member of a foreign type has no page.
                self.members.get(symbol["pathComponents"][0], []).append(symbol)
        for mine in self.members.values():
            mine.sort(key=lambda symbol: symbol["names"]["title"] in SHARED)

    def pages(self, names_for, status_target):
        """[(target, title, text, headings)] and {symbol: address} for the index."""
        index = f"{self.folder}/index.html"
        made, terms, loose, rows = [], {}, [], []
        slugs = markup.Slugs()
        for symbol in self.top:
            title = symbol["names"]["title"]
            if self.members[title] or symbol["kind"]["identifier"] not in ("swift.func",
                                                                           "swift.var"):
                target = f"{self.folder}/{title}.html"
                text, headings, found = type_page(
                    symbol, self.members[title], markup.relative(status_target, target),
                    names_for(target))
                made.append((target, title, text, headings))
                terms[title] = target
                terms.update({name: f"{target}#{slug}" for name, slug in found})
                rows.append(row(symbol))
            else:
                slug, text = entry(symbol, slugs, names_for(index), "h3")
                terms[title] = f"{index}#{slug}"
                loose.append(text)
        text = (f"<h1>{self.title}</h1>\n<p>{self.about}</p>\n"
                '<h2 id="types">Types</h2>\n<div class="wide"><table><thead><tr><th>type</th>'
                "<th>what it is</th></tr></thead>\n<tbody>" + "".join(rows)
                + "</tbody></table></div>\n"
                '<h2 id="functions-and-constants">Functions and constants</h2>\n'
                + "".join(loose))
        made.insert(0, (index, self.title, text, []))
        return made, terms


def row(symbol):
    """A type in the list of all of them: the first sentence of its comment."""
    title = symbol["names"]["title"]
    first = comment(symbol).partition("\n\n")[0]
    about = markup.commonmark(first).replace("<p>", "").replace("</p>", "")
    return (f'<tr><td><a href="{title}.html"><code>{title}</code></a></td>'
            f"<td>{about}</td></tr>\n")
