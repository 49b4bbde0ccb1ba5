#!/usr/bin/env python3
"""Build the documentation site: one folder of plain pages, readable as files.

  tools/site/build.py --out build/docs [--symbols build/swift]

Sources: the guides, READMEs and the specification in Markdown (pages.py lists them),
include/assay.h by doxygen, the public Swift symbols, the table of statuses and the register
of rules. Every rule's id on a page leads to its text. Nothing is fetched, no
page needs a script (one adds a search field), every link is relative.
"""
import argparse
import html
import pathlib
import posixpath
import re
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import c_reference
import go_reference
import markup
import php_reference
import python_reference
import reference
import refusals
import search
import shell
import specification
import swift_reference
import terms
from pages import (COPIED, HOME, ROOT, SECTIONS, SPECIFICATION, all_pages, missing_optional,
                   targets, unlisted)

HERE = pathlib.Path(__file__).resolve().parent
LISTED = {".py": "python", ".c": "c", ".h": "c", ".php": "php", ".go": "go", ".swift": "swift",
          ".txt": "", ".yaml": "", ".json": "json", ".in": "", ".conf": "", ".ini": "", ".sh": "sh"}


# What stands for the name of a source where a link shows nothing else.
TITLES = {name: page.title for page in all_pages()
          if page.source.startswith("docs/") and not page.source.startswith("docs/spec/")
          for name in (page.source, page.source.removeprefix("docs/"),
                       posixpath.basename(page.source))}


class Site:
    """What has been written so far, and what is known to lead where."""

    def __init__(self, out):
        self.out = out
        self.targets = targets()
        self.names = refusals.names()
        self.entries = [(name, "status", address, True)
                        for name, address in self.names.items()]
        self.rules = specification.addresses()
        self.entries += [(name, "rule", address, True) for name, address in self.rules.items()]
        self.listings = {}

    def write(self, target, title, text, headings=()):
        path = self.out / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shell.page(target, title, text, headings))

    def names_for(self, target):
        names = dict(self.names)
        if target.startswith("spec/"):
            names.update({page.source.rpartition("/")[2]: page.target for page in SPECIFICATION})
        return {name: markup.relative(address, target) for name, address in names.items()}

    def resolver(self, source, target):
        """How the links of one Markdown file are written in its page."""
        def resolve(address):
            path, mark, anchor = address.partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
            if there == "include/assay.h":
                return markup.relative(c_reference.PAGE, target)
            if there in self.targets:
                return markup.relative(self.targets[there], target) + mark + anchor
            if there in missing_optional() or self.of_a_missing_binding(there):
                return None
            if pathlib.PurePath(there).suffix in LISTED and (ROOT / there).is_file():
                self.listings[there] = f"source/{there}.html"
                return markup.relative(self.listings[there], target)
            raise SystemExit(f"{source}: link to {address}, which the site does not have")
        return resolve

    @staticmethod
    def of_a_missing_binding(path):
        parts = path.split("/")
        return parts[0] == "bindings" and not (ROOT / "/".join(parts[:2])).exists()

    def guide(self, page):
        source = (ROOT / page.source).read_text()
        body = markup.convert(source, self.resolver(page.source, page.target),
                              self.names_for(page.target), TITLES)
        text = with_narrow(body.text.replace("<p>PAGES</p>", cards()))
        if page in SPECIFICATION:
            text = specification.anchored(text)
        self.write(page.target, page.title, text, body.headings)
        for level, slug, words in body.headings:
            if level in (2, 3):
                self.entries.append((words, page.title, f"{page.target}#{slug}", False))
            elif level == 1:
                self.entries.append((words, "page", page.target, False))

    def listing(self, source, target):
        language = LISTED[pathlib.PurePath(source).suffix]
        code = markup.highlighted(language, html.escape((ROOT / source).read_text(), quote=False))
        self.write(target, source, f"<h1>{source}</h1>\n<pre class=\"code\"><code>{code}"
                                   "</code></pre>\n")


def with_narrow(text):
    """Pictures that there is a narrow drawing of show that on a telephone."""
    def chosen(found):
        narrow = found[2] + "-narrow.svg"
        if posixpath.basename(narrow) not in COPIED.values():
            return found[0]
        return (f'<picture><source media="(max-width: 760px)" srcset="{narrow}"/>'
                f"{found[0]}</picture>")
    return re.sub(r'(<img [^>]*src=")([^"]*)\.svg"[^>]*>', chosen, text)


def cards():
    """The list of all pages that the home page shows."""
    out = []
    for title, pages in SECTIONS:
        out.append(f"<h2>{html.escape(title)}</h2>\n<ul class=\"cards\">\n")
        out += [f'<li><a href="{page.target}"><b>{html.escape(page.title)}</b>'
                f"<span>{html.escape(page.about)}</span></a></li>\n"
                for page in pages if page.exists]
        out.append("</ul>\n")
    return "".join(out)


def build(out, symbols):
    if unlisted():
        raise SystemExit(f"tools/site/pages.py has no page for {', '.join(unlisted())}")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    site = Site(out)
    shutil.copy(HERE / "style.css", out / "style.css")
    for source, target in COPIED.items():
        (out / target).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / source, out / target)
    declared = c_reference.make(out, out.parent / "docs-work")
    site.names.update({name: address for name, address in declared.items()})
    site.entries += [(name, "C", address, True) for name, address in declared.items()]
    for module in swift_reference.modules(symbols):
        made, swift_terms = module.pages(site.names_for, refusals.TARGET)
        for page in made:
            site.write(*page)
        site.entries += [(name, module.kind, address, True)
                         for name, address in swift_terms.items()]
    for binding in (python_reference, php_reference, go_reference):
        made, found = reference.pages(binding.reference(), site.names_for)
        for page in made:
            site.write(*page)
        site.entries += [(name, made[0][1].removesuffix(" reference"), address, True)
                         for name, address in found.items()]
    text, headings = refusals.body()
    site.write(refusals.TARGET, "Every refusal", text, headings)
    text, headings = specification.body()
    site.write(specification.TARGET, "All rules", text, headings)
    for page in all_pages():
        if not page.generated:
            site.guide(page)
    for source, target in sorted(site.listings.items()):
        site.listing(source, target)
    site.write(terms.TARGET, "Index", terms.body(site.entries))
    for path in out.rglob("*.html"):
        name = str(path.relative_to(out))
        path.write_text(specification.linked(path.read_text(), name, site.rules))
    search.add(out, [page.target for page in all_pages()])
    count = len(list(out.rglob("*.html")))
    print(f"{out}/{HOME.target}: {count} pages")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/docs")
    parser.add_argument("--symbols", type=pathlib.Path,
                        default=ROOT / "build/swift",
                        help="folder with the symbol graphs of the Swift modules")
    options = parser.parse_args()
    build(options.out.resolve(), options.symbols.resolve())


if __name__ == "__main__":
    main()
