#!/usr/bin/env python3
"""Gate over the built documentation site.

  documentation.py FOLDER [--symbols FOLDER]... [--suite NAME]

Every page is well-formed; every relative link leads to a file and an anchor that
exist; nothing is fetched from elsewhere and nothing needs a script; every status and
every function of the header has its place; every page is reached from the first one;
every rule of the specification has its place and every mention of one, outside code,
leads there; the search knows every page; docc finds nothing wrong with the comments of
the Swift module. A site with one of each fault must be refused, or the gate would prove nothing.
"""
import argparse
import collections
import functools
import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree as ElementTree

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path += [str(TOOLS), str(TOOLS / "site")]

import members
import specification

from contract import declared_functions
from report import Suite
from status_rows import rows

ENTITIES = '<!DOCTYPE html [<!ENTITY nbsp "&#160;"><!ENTITY ndash "&#8211;">' \
           '<!ENTITY mdash "&#8212;"><!ENTITY copy "&#169;">]>'
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "srcset"}
START = "index.html"
# A rule inside these is a link, or part of a text to be copied.
CLOSED = specification.CLOSED | {"head"}
PLACES = specification.addresses()


class SitePage:
    """One page as parsed: its anchors, its links and what it loads."""

    def __init__(self, text):
        doctype = re.search(r"<!DOCTYPE[^>]*>", text)
        root = ElementTree.fromstring(text.replace(doctype[0], ENTITIES, 1) if doctype else text)
        elements = list(root.iter())
        self.words = "".join(root.itertext())
        ids = [element.get("id") for element in elements if element.get("id")]
        self.anchors = set(ids) | {element.get("name") for element in elements
                                   if element.tag == "a" and element.get("name")}
        self.repeated = [name for name, count in collections.Counter(ids).items() if count > 1]
        self.links = [element.get("href") for element in elements
                      if element.tag == "a" and element.get("href") is not None]
        self.loads = [(element.tag, element.get(FETCHED[element.tag])) for element in elements
                      if element.tag in FETCHED and element.get(FETCHED[element.tag])]
        self.title = root.findtext("head/title") or ""
        said = specification.ID.findall(" ".join(shown(root)))
        self.unlinked = sorted(set(said) & set(PLACES))
        self.headed = any(element.tag == "h1" or element.get("class") == "title"
                          for element in elements)


def shown(element):
    """The texts of an element that are neither links nor code blocks."""
    name = element.tag.rpartition("}")[2]
    if name not in CLOSED and element.get("class") != "fragment":
        if element.text:
            yield element.text
        for child in element:
            yield from shown(child)
            if child.tail:
                yield child.tail


def outside(address):
    return re.match(r"[a-z][a-z0-9+.-]*:|//", address) is not None


# Of the copies with a fault each, all pages but one are the same.
page_of = functools.cache(SitePage)


def read(folder, fault):
    """All pages by their path; those that are not well-formed are reported to `fault`."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        name = str(path.relative_to(folder))
        try:
            pages[name] = page_of(path.read_text())
        except ElementTree.ParseError as problem:
            fault("well-formed", f"{name}: {problem}")
    return pages


def follow(files, pages, name, address, fault):
    """The page that a link leads to; a missing one is reported to `fault`."""
    path, _, anchor = address.partition("#")
    target = posixpath.normpath(
        posixpath.join(posixpath.dirname(name), urllib.parse.unquote(path))) if path else name
    if target not in files:
        fault("links", f"{name}: {address}")
        return None
    if anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].anchors:
        fault("anchors", f"{name}: {address}")
    return target


def faults(folder):
    """Every fault of a site, as {kind: [where]}; and the pages."""
    found = collections.defaultdict(list)

    def fault(kind, where):
        found[kind].append(where)

    pages = read(folder, fault)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    reached, waiting = set(), [START]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in pages:
            continue
        reached.add(name)
        for address in pages[name].links:
            if not outside(address):
                target = follow(files, pages, name, address, fault)
                if target is not None:
                    waiting.append(target)
    for name in sorted(set(pages) - reached):
        fault("reached", name)
    for name, page in pages.items():
        for tag, address in page.loads:
            if outside(address) or tag == "iframe":
                fault("nothing is fetched", f"{name}: {tag} {address}")
            else:
                follow(files, pages, name, address, fault)
        if page.unlinked:
            fault("rules are links", f"{name}: {' '.join(page.unlinked[:5])}")
        if page.repeated:
            fault("anchors stand once", f"{name}: {page.repeated[:5]}")
        if not page.title or not page.headed:
            fault("title", name)
    for path in folder.rglob("*.css"):
        if re.search(r"@import|url\((?!#)", path.read_text()):
            fault("nothing is fetched", path.name)
    return found, pages


KINDS = ["well-formed", "links", "anchors", "anchors stand once", "reached", "title",
         "nothing is fetched", "rules are links"]


def check_site(suite, folder):
    found, pages = faults(folder)
    for kind in KINDS:
        suite.expect(not found[kind], kind, f"{len(found[kind])}, first: {found[kind][:12]}")
    statuses = pages.get("statuses.html")
    for row in rows():
        suite.expect(statuses and row.name in statuses.anchors and row.message in statuses.words
                     and row.hint in statuses.words
                     and all(hint in statuses.words for _, hint in row.hints),
                     "a status has cause and remedy", row.name)
    for rule, address in PLACES.items():
        page, _, anchor = address.partition("#")
        suite.expect(page in pages and anchor in pages[page].anchors
                     and f"#{rule}" in pages[page].links, "a rule has its place", rule)
    reference = pages.get("c/assay_8h.html")
    for name in sorted(declared_functions()):
        suite.expect(reference and re.search(rf"\b{name}\b", reference.words),
                     "a function of the header is in the reference", name)
    receipts = pages.get("receipts.html")
    names = next([value for _, value in each.values] for each in members.value_sets()
                 if each.name == "TriageTrait")
    for name in [*names, "missing:KEY", "bare:KEY", "format:KEY"]:
        suite.expect(receipts and name in receipts.words, "a trait is explained", name)
    return pages


def check_search(suite, folder, pages):
    """What the search field knows: every part leads to a place that exists."""
    text = (folder / "search-texts.js").read_text()
    entries = json.loads(text[text.index("["):text.rindex("]") + 1])
    gone = [address for _, _, address, _ in entries
            for path, _, anchor in [address.partition("#")]
            if path not in pages or (anchor and anchor not in pages[path].anchors)]
    suite.expect(not gone, "what is found is there", f"{len(gone)}, first: {gone[:5]}")
    known = {address.partition("#")[0] for _, _, address, _ in entries}
    unknown = [name for name in pages if name not in known
               and not name.startswith(("source/", "terms.html"))]
    suite.expect(not unknown, "every page is searched", " ".join(unknown[:5]))
    found = {address for _, _, address, _ in entries}
    for row in rows():
        suite.expect(f"statuses.html#{row.name}" in found, "a status is found", row.name)
    for rule, address in PLACES.items():
        suite.expect(address in found, "a rule is found", rule)


def check_gate(suite, folder):
    """The same site with one fault each: the gate must see it."""
    changes = {
        "well-formed": lambda text: text.replace("</main>", "", 1),
        "links": lambda text: text.replace("</main>", '<a href="gone.html">x</a></main>', 1),
        "anchors": lambda text: text.replace("</main>", '<a href="config.html#gone">x</a></main>'),
        "anchors stand once": lambda text: text.replace("<main ", '<i id="a"/><i id="a"/><main '),
        "title": lambda text: re.sub(r"<title>.*?</title>", "<title/>", text),
        "nothing is fetched": lambda text: text.replace(
            "</main>", '<img alt="" src="https://example.com/a.png"/></main>', 1),
        "rules are links": lambda text: text.replace("</main>", "<b>JWS-20</b></main>", 1),
    }
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name) / "site"
        shutil.copytree(folder, copy)
        start = copy / START
        text = start.read_text()
        for kind, change in changes.items():
            start.write_text(change(text))
            found, _ = faults(copy)
            suite.expect(found[kind], f"the gate sees a fault: {kind}")
        start.write_text(text)
        (copy / "alone.html").write_text(text)
        suite.expect("alone.html" in faults(copy)[0]["reached"],
                     "the gate sees a fault: reached")


def check_docc(suite, symbols):
    """DocC reads the same comments and links, module by module."""
    module = next(symbols.glob("*.symbols.json")).name.partition(".")[0]
    if shutil.which("docc") is None:
        suite.skip("docc", "the toolchain has none")
        return
    with tempfile.TemporaryDirectory() as name:
        result = subprocess.run(
            ["docc", "convert", "--additional-symbol-graph-dir", symbols, "--output-path",
             f"{name}/{module}.doccarchive", "--fallback-display-name", module,
             "--fallback-bundle-identifier", "assay", "--warnings-as-errors"],
            text=True, capture_output=True)
        suite.expect(result.returncode == 0, f"docc without warnings: {module}",
                     (result.stdout + result.stderr)[-3000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--symbols", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--suite", default="site")
    options = parser.parse_args()
    suite = Suite(options.suite)
    pages = check_site(suite, options.folder)
    check_search(suite, options.folder, pages)
    check_gate(suite, options.folder)
    for symbols in options.symbols:
        check_docc(suite, symbols)
    print(f"{len(pages)} pages")
    suite.finish()


if __name__ == "__main__":
    main()
