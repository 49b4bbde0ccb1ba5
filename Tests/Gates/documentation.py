#!/usr/bin/env python3
"""Build the documentation site and check it.

  documentation.py FOLDER [--symbols FOLDER]...

mkdocs finds no broken link or anchor and no page missing from the navigation; no page loads
anything from elsewhere. Every rule and status has an anchor, is found by the search, and is a link
where it is named. Every public name of every host is in its reference. Lists and tables equal those
of a CommonMark renderer. The search finds what people type (Tests/Gates/questions.tsv) among its
first three results, and answers in a page opened as a file. DocC reports nothing about the
comments of the Swift modules. Planted faults must be found. Skipped if the
package index cannot be reached.
"""
import argparse
import collections
import html.parser
import json
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from project import ROOT
from report import Suite
import api_of_hosts
import python_tools
import site_search

sys.path.insert(0, str(ROOT))

from tools.contract.reader import Contract

CONTRACT = Contract()

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "srcset"}
RULE = re.compile(r"\b[A-Z]{3,4}-\d+\b")
# Inside these elements a rule's id is already a link, or part of a text to copy.
CLOSED = {"a", "code", "pre", "script", "style", "title", "nav", "svg", "label"}
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "path"}
# Typical searches, and parts of addresses that must be among the first results. No section of a
# page contains all words of the first three.
QUESTIONS = {"grant purchase once database crash": ["ledger"],
             "lambda cold start python layer receipts": ["lambda"],
             "laravel routes heroku refunds": ["frameworks"],
             "STO-33": ["#sto-33"], "rejected.jws.algorithm": ["#rejected.jws.algorithm"],
             "verifyToken": ["#keysetcache.verifytoken", "#verifier.verifytoken"]}
# Programs and patterns that find public names in another way than tools/reference.py.
PYTHON_NAMES = """
import importlib, inspect
for module in ("", ".ledger", ".aio", ".http", ".keysets", ".senders"):
    module = importlib.import_module("assay" + module)
    for name in module.__all__:
        print(name.strip("_"))
        found = getattr(module, name)
        if inspect.isclass(found) and found.__module__.startswith("assay"):
            print(*(each for each in vars(found) if each[0] != "_"), sep="\\n")
"""
PHP_NAMES = re.compile(r"^ {4}(?:final |abstract )?public (?:[^(=;]*?function |[^(=;]*?\$"
                       r"|const (?:string |int )?)(\w+)|^ {4}case (\w+)"
                       r"|^(?:final |abstract )*(?:class|interface|enum) (\w+)", re.M)
PHP_INTERNAL = re.compile(r"^ +/\*\*(?:(?!\*/).)*?@internal(?:(?!\*/).)*\*/\n[^\n]*", re.M | re.S)
# Methods of operations are in the reference of the class that has them.
NODE_NAMES = re.compile(r"(\w+)(?:\.(?:static |readonly )*(\w+)(?=[?:(<]))?")
GO_NAMES = re.compile(r"^(?:func (?:\([^)]*\) )?|type |var |const |\t)([A-Z]\w*)", re.M)


class Page(html.parser.HTMLParser):
    """One parsed page: anchors, links, addresses of loaded resources, counts of elements in the
    text."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.repeated, self.links, self.loads = set(), [], [], []
        self.words, self.said, self.open, self.counts = [], set(), [], collections.Counter()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            if found["id"] in self.anchors:
                self.repeated.append(found["id"])
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get(LOADED.get(tag)) and found.get("rel") not in ("prev", "next", "canonical"):
            self.loads.append((tag, found[LOADED[tag]]))
        if tag not in VOID:
            self.open.append(tag)
        if "article" in self.open:
            self.counts[tag] += 1

    def handle_endtag(self, tag):
        while tag in self.open and self.open.pop() != tag:
            pass

    def handle_data(self, text):
        if "article" in self.open:
            self.words.append(text)
            if not CLOSED & set(self.open):
                self.said |= set(RULE.findall(text))


def outside(address):
    return re.match(r"[a-z][a-z0-9+.-]*:|//", address) is not None


def faults(folder, rules):
    """Return {kind of fault: [location]} of a built site, and {path: Page}."""
    found = collections.defaultdict(list)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    pages = {name: Page((folder / name).read_text()) for name in sorted(files)
             if name.endswith(".html") and name != "404.html"}
    reached, waiting = set(), ["index.html"]
    leads = collections.defaultdict(set)
    for name, page in pages.items():
        for address in page.links:
            path, _, anchor = urllib.parse.unquote(address).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) \
                if path else name
            if outside(address):
                continue
            leads[name].add(target)
            if target not in files:
                found["links"].append(f"{name}: {address}")
            elif anchor and target in pages and anchor not in pages[target].anchors | {"__top"}:
                found["anchors"].append(f"{name}: {address}")
        for tag, address in page.loads:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
            if outside(address) or target.partition("?")[0] not in files:
                found["nothing is fetched"].append(f"{name}: {tag} {address}")
        if page.said & rules:
            found["rules are links"].append(f"{name}: {sorted(page.said & rules)[:5]}")
        if page.repeated:
            found["anchors are there once"].append(f"{name}: {page.repeated[:5]}")
    while waiting:
        name = waiting.pop()
        if name in pages and name not in reached:
            reached.add(name)
            waiting += leads[name]
    found["reached"] = sorted(set(pages) - reached)
    for path in folder.rglob("*.css"):
        if re.search(r"@import|url\(['\"]?(?:https?:)?//", path.read_text()):
            found["nothing is fetched"].append(path.name)
    return found, pages


KINDS = ["links", "anchors", "anchors are there once", "reached", "nothing is fetched",
         "rules are links"]


def rule_places():
    """Return {rule: (page, anchor)}."""
    lines = (ROOT / "contract/rules.tsv").read_text().splitlines()
    return {name: f"spec/{section.split(' ')[0].removesuffix('.md')}.html"
            for name, section in (line.split("\t")[:2] for line in lines
                                  if line and line[0] != "#")}


def check_site(suite, folder):
    places = rule_places()
    found, pages = faults(folder, set(places))
    for kind in KINDS:
        suite.expect(not found[kind], kind, f"{len(found[kind])}, first: {found[kind][:12]}")
    index = json.loads((folder / "search/search_index.json").read_text())["docs"]
    searched = {entry["location"] for entry in index}
    unknown = [name for name in pages if name not in searched and not name.startswith("source/")]
    suite.expect(not unknown, "every page is searched", " ".join(unknown[:5]))
    for rule, page in places.items():
        suite.expect(rule in pages[page].anchors, "a rule has its place", f"{page}#{rule}")
        suite.expect(f"spec/rules.html#{rule}" in searched, "a rule is found", rule)
    statuses = " ".join("".join(pages["statuses.html"].words).split())
    for row in CONTRACT.statuses:
        suite.expect(row.name in pages["statuses.html"].anchors and all(
            " ".join(words.replace("`", "").split()) in statuses
            for words in (row.message, row.hint, *(hint for _, hint in row.hints))),
            "a status has cause and remedy", row.name)
        suite.expect(f"statuses.html#{row.name}" in searched, "a status is found", row.name)
    receipts = "".join(pages["receipts.html"].words)
    names = next([value for _, value in each.values] for each in CONTRACT.value_sets
                 if each.name == "TriageAnomaly")
    for name in [*names, "missing:KEY", "bare:KEY", "format:KEY"]:
        suite.expect(name in receipts, "a trait is explained", name)
    start = (folder / "index.html").read_text()
    for part in ("__palette", "content.code.copy", "iframe-worker.js", "md-search"):
        suite.expect(part in start, "the site has", part)
    suite.expect(pages["tasks/verify-receipt.html"].counts["label"] >= 4,
                 "blocks of several languages are tabs")
    return pages


def check_markdown(suite, pages):
    """Check that a page has the same lists, tables and code blocks as cmark-gfm's output."""
    if shutil.which("cmark-gfm") is None:
        return suite.skip("markdown", "cmark-gfm is not installed")
    for source in sorted((ROOT / "docs").rglob("*.md")):
        name = re.sub(r"(^|/)README", r"\1index", str(source.relative_to(ROOT / "docs")))
        there = subprocess.run(["cmark-gfm", "-e", "table", source], text=True,
                               capture_output=True, check=True).stdout
        counts = pages[name.removesuffix(".md") + ".html"].counts
        wrong = {tag: (there.count(f"<{tag}>") + there.count(f"<{tag} "), counts[tag])
                 for tag in ("li", "tr", "h1", "h2", "h3", "h4")}
        suite.expect(all(a == b for a, b in wrong.values()),
                     "as a code host shows it (there, here)", f"{name}: {wrong}")
    return None


def public_names(symbols, tools):
    """Return {folder of the reference: names}, for Python with the clients of all engines."""
    found = {"python": set(subprocess.run(
        [tools / "python", "-c", PYTHON_NAMES], cwd=ROOT / "bindings/python", text=True,
        capture_output=True, check=True,
        env=dict({"ASSAY_LIBRARY": str(ROOT / "build/lib/libassay.so.0")},
                 **os.environ)).stdout.split()),
        "php": set(), "go": set(),
        "node": {name for line in api_of_hosts.node(None)
                 for name in NODE_NAMES.match(line).groups("")
                 if not name.endswith(("Calls", "Requests"))}}
    for path in (ROOT / "bindings/php/src").rglob("*.php"):
        text = path.read_text()
        if "Internal" not in path.parts and "\n * @internal" not in text:
            found["php"] |= {name for names in PHP_NAMES.findall(PHP_INTERNAL.sub("", text))
                             for name in names if name}
    if shutil.which("go"):
        for package in (".", "./ledger"):
            found["go"] |= set(GO_NAMES.findall(subprocess.run(
                ["go", "doc", "-all", package], cwd=ROOT / "bindings/go", text=True,
                capture_output=True, check=True, env=dict(os.environ, GOFLAGS="-mod=mod")).stdout))
    for folder in symbols:
        module = folder.name.removesuffix(".symbols")
        graph = json.loads((folder / f"{module}.symbols.json").read_text())
        found["swift-core" if module == "Assay" else "swift"] = {
            re.split(r"\W", symbol["pathComponents"][-1])[0] for symbol in graph["symbols"]
            if "location" in symbol and f"/Sources/{module}/" in symbol["location"]["uri"]}
    return found


def check_reference(suite, pages, symbols, tools):
    """Check that every public name is in its host's reference."""
    for host, names in public_names(symbols, tools).items():
        words = {word for name, page in pages.items() if name.startswith(f"reference/{host}/")
                 for word in re.findall(r"\w+", "".join(page.words))}
        suite.expect(len(names) > 20, "a host has public names", host)
        for name in sorted(names - {""}):
            suite.expect(name in words, "a public name is in the reference", f"{host}: {name}")
    declared = CONTRACT.header
    page = pages["reference/c.html"]
    for name in [each.name for each in declared.functions] + declared.handles \
            + list(declared.integers):
        suite.expect(name in page.anchors, "in the reference", name)
    for constant in declared.constants:
        suite.expect(constant.name in "".join(page.words), "in the reference", constant.name)


def check_questions(suite, folder):
    """Check that each question has its heading, and is found among the first three results."""
    questions = site_search.questions()
    headings = set(re.findall(r"^## (.*)$", (ROOT / "docs/questions.md").read_text(), re.M))
    asked = {heading for _, heading, _ in questions}
    suite.expect(asked == headings, "each question has its heading", sorted(asked ^ headings))
    # A digit alone begins words of many kinds: what docs/search_hook.py mends shows there.
    found = site_search.results(folder, [*(query for query, _, _ in questions), *"0123456789"])
    if found is None:
        return suite.skip("questions", "neither node nor chromium is installed")
    for question, results in zip(questions, found):
        fault = site_search.wrong(*question, results)
        suite.expect(fault is None, "a question is answered among the first three", fault)
    for digit, results in zip("0123456789", found[len(questions):]):
        suite.expect(results, "a digit finds something", digit)
    query, heading, words = questions[0]
    suite.expect(site_search.wrong(query, heading, words, found[0][1:])
                 and site_search.wrong(query, heading, "gone", found[0]),
                 "the gate sees a question that is not answered")
    return None


def check_search(suite, folder):
    """Check the search field of a page opened as a file, in a browser without a network."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        return suite.skip("search", "chromium is not installed")
    for question, answers in QUESTIONS.items():
        with tempfile.TemporaryDirectory() as profile:
            shown = subprocess.run(
                [browser, "--headless=new", "--no-sandbox", "--disable-gpu",
                 f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND",
                 "--virtual-time-budget=20000", "--dump-dom",
                 f"{(folder / 'index.html').as_uri()}?q={urllib.parse.quote(question)}"],
                text=True, capture_output=True).stdout
        results = re.findall(r'<a href="([^"]*)" class="md-search-result__link"', shown)
        suite.expect(all(any(answer in result.lower() for result in results[:6])
                         for answer in answers), f"the search answers: {question}", results[:6])
    return None


def check_gate(suite, mkdocs, folder):
    """Check that each planted fault is found, in the built site and in pages that mkdocs builds."""
    changes = {
        "links": '<a href="gone.html">x</a>', "anchors": '<a href="config.html#gone">x</a>',
        "anchors are there once": '<i id="a"></i><i id="a"></i>',
        "nothing is fetched": '<img src="https://example.com/a.png">',
        "rules are links": "<b>JWS-20</b>",
    }
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name) / "site"
        shutil.copytree(folder, copy)
        for path in copy.glob("source/**/*.html"):
            path.unlink()
        text = (copy / "index.html").read_text()
        (copy / "index.html").write_text(text.replace("</article>", "".join(
            changes.values()) + "</article>", 1))
        (copy / "alone.html").write_text(text)
        (copy / "a.css").write_text('@import "https://example.com/a.css"')
        found, _ = faults(copy, {"JWS-20"})
        for kind in changes:
            suite.expect(any("index.html: " in where for where in found[kind]),
                         f"the gate sees a fault: {kind}")
        suite.expect("a.css" in found["nothing is fetched"], "the gate sees a style's import")
        suite.expect("alone.html" in found["reached"], "the gate sees a page that is not reached")
        settings = re.sub(r"^hooks:.*\n", "", (ROOT / "mkdocs.yml").read_text(), flags=re.M)
        (copy / "mkdocs.yml").write_text(re.sub("^docs_dir:.*", "docs_dir: pages", settings,
                                                flags=re.M) + "nav: [index.md]\n")
        (copy / "pages").mkdir()
        (copy / "pages/index.md").write_text("# A\n[b](gone.md) [c](#gone) [d](/gone)\n")
        (copy / "pages/alone.md").write_text("# B\n")
        built = subprocess.run([mkdocs, "build", "--strict", "-f", copy / "mkdocs.yml"],
                               text=True, capture_output=True)
        for words in ("'gone.md'", "'#gone'", "'/gone'", "alone.md"):
            suite.expect(built.returncode and words in built.stderr,
                         f"mkdocs refuses a page with {words}", built.stderr[-2000:])


def check_docc(suite, symbols):
    """Check with DocC the comments and links of one Swift module."""
    module = symbols.name.removesuffix(".symbols")
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
    options = parser.parse_args()
    suite = Suite("site")
    tools, why = python_tools.installed()
    if tools is None:
        suite.skip("site", why)
        suite.finish(may_be_empty=True)
    os.environ["NO_MKDOCS_2_WARNING"] = "1"  # hides an announcement of the theme
    built = subprocess.run([tools / "mkdocs", "build", "--strict", "-f",
                            ROOT / "mkdocs.yml", "-d", options.folder.resolve()], text=True,
                           capture_output=True)
    if suite.expect(built.returncode == 0, "mkdocs build --strict", built.stderr[-4000:]):
        pages = check_site(suite, options.folder)
        check_markdown(suite, pages)
        check_reference(suite, pages, options.symbols, tools)
        check_questions(suite, options.folder)
        check_search(suite, options.folder.resolve())
        check_gate(suite, tools / "mkdocs", options.folder)
        print(f"{len(pages)} pages")
    for symbols in options.symbols:
        check_docc(suite, symbols)
    suite.finish()


if __name__ == "__main__":
    main()
