"""Extend mkdocs beyond the settings in mkdocs.yml, by hooks.

Every page has its path in the repository, so that the same links work on a code host and on the
site. The list of pages in docs/index.md is the navigation. Generated pages are the references
(tools/reference.py), the statuses, the rules, and one page for each source file that a page links
to. Each rule id becomes a link to the rule's text, each status and C name in code to its
explanation.
"""
import posixpath
import re
import xml.etree.ElementTree as ElementTree

from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.treeprocessors import Treeprocessor
from mkdocs.structure.files import File, InclusionLevel

import reference
from contract.pages import escape, write_statuses_page
from contract.reader import ROOT, Contract

INDEX = "docs/index.md"
# Files that pages link to on a code host -> the page of the site that replaces them.
MADE = {
    "README.md": INDEX, "include/assay.h": "reference/c.md",
    "contract/rules.tsv": "docs/spec/rules.md", "contract/statuses.tsv": "docs/statuses.md",
    "bindings/python/assay": "reference/python/index.md",
    "bindings/php/src": "reference/php/index.md", "bindings/go": "reference/go/index.md",
    "bindings/node": "reference/node/index.md",
    "Sources/AssaySwift": "reference/swift/index.md",
    "Sources/Assay": "reference/swift-core/index.md",
}
LISTED = {".py": "python", ".c": "c", ".php": "php", ".go": "go", ".swift": "swift",
          ".m": "objectivec", ".mjs": "js", ".cjs": "js", ".yaml": "yaml", ".ini": "ini",
          ".sh": "sh", ".json": "json"}
KINDS = {"check": "refuses", "part": "part of a check", "fact": "fact", "row": "row of a table",
         "design": "design", "duty": "the host's duty"}
# How much the search weighs a page, or those below a folder; others: 1.
BOOSTS = {"docs/questions.md": 1.3, "docs/spec/": 0.3, "reference/": 0.3, "bindings/": 0.15}
STATES = {"built": "", "part": "in part", "planned": "planned", "-": ""}
LANGUAGES = {"python": "Python", "php": "PHP", "go": "Go", "js": "Node.js", "ts": "Node.js",
             "swift": "Swift", "c": "C"}
ANCHOR = "\ue000"  # marks the definition of a rule, before its id
RULE = rf"(?<![\w#])({ANCHOR}?[A-Z]{{3,4}}-\d+)\b"
# A rule is defined where a list entry, a paragraph or a table row begins with its id.
DEFINED = re.compile(rf"^( *(?:[-*] |\d+\. )?\**|\| \**){RULE}", re.M)
# Pages that repeat the rules in the same form.
NOT_DEFINED = ("docs/spec/CHANGES.md", "docs/spec/README.md", "docs/spec/rules.md")
LINK = re.compile(r"\]\(([^):#\s]+)")
FENCE = re.compile(r"^( *)(```+|~~~+) *([\w+-]*)[^\n]*\n(.*?\n)\1\2$\n?", re.M | re.S)


# ---- generated pages

def register():
    """Yield (id, file, kind, state, title, reason) of the register of rules."""
    for line in (ROOT / "contract/rules.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, section, *rest = (line.split("\t") + [""])[:6]
            yield name, section.split(" ")[0], *rest


def rules_page():
    out = ["# All rules", "Each rule of the [specification](README.md) by its id, which is in the "
           "code beside the check, in the case or test, with the mutant and in `error.rule` of a "
           "document."]
    last = None
    for name, page, kind, state, title, reason in register():
        if page != last:
            last = page
            heading = (ROOT / "docs/spec" / page).read_text().partition("\n")[0][2:]
            out.append(f"## {heading}")
        words = " · ".join(filter(None, (KINDS[kind], STATES[state], reason)))
        out.append(f"#### {name} {{#{name}}}\n\n{escape(title)} ({words})")
    return "\n\n".join(out)


# ---- hooks

REFERENCES = {f"reference/{path}": text for path, text in reference.pages().items()}
SPECIFICATION = sorted(f"docs/spec/{path.name}" for path in (ROOT / "docs/spec").glob("*.md"))
TITLES = {}  # page of docs/index.md -> its title
PLACES = {}  # rule, status or C name -> the address of its explanation


def on_config(config):
    """Set the navigation: the sections and links of docs/index.md."""
    config.nav = [{"Assay": INDEX}]
    for part in re.split(r"^## ", (ROOT / INDEX).read_text(), flags=re.M)[1:]:
        title, _, text = part.partition("\n")
        pages = []
        for words, address in re.findall(r"^- \[(.*?)\]\((.*?)\)", text, re.M):
            page = posixpath.normpath(posixpath.join("docs", address))
            page = MADE.get(page, page)
            TITLES[page] = words
            below = [path for path in [*SPECIFICATION, *REFERENCES] if path != page
                     and posixpath.dirname(path) == posixpath.dirname(page)]
            if not page.endswith(("/README.md", "/index.md")):
                below = []
            pages.append({words: [page, *below] if below else page})
        config.nav.append({title: pages})
    version = re.search(r'ASSAY_VERSION "(.*)"', (ROOT / "include/assay.h").read_text())[1]
    config.copyright = f"Assay {version}, Apache-2.0. Not affiliated with Apple."
    config.markdown_extensions.append(Repository())
    return config


def on_files(files, config):
    """Put every page under its path in the repository; add the generated pages and the files
    outside of docs/ that pages link to."""
    texts = []

    def add(path, target="", **what):
        file = File.generated(config, path, **what)
        if target:
            file.dest_uri = target
        files.append(file)
        if path.endswith(".md") and "abs_src_path" in what:
            texts.append((path, (ROOT / path).read_text()))

    for file in [file for file in files if file.src_dir == config.docs_dir]:
        files.remove(file)
        if file.src_uri != "statuses.md":
            add(f"docs/{file.src_uri}", file.dest_uri, abs_src_path=file.abs_src_path)
    add("docs/statuses.md", "statuses.html", content=re.sub(
        "^#### `(.*)`$", r"\g<0> {#\1}", write_statuses_page(Contract()), flags=re.M))
    add("docs/spec/rules.md", "spec/rules.html", content=rules_page())
    for path, text in REFERENCES.items():
        add(path, content=text)
    PLACES.update({row.name: f"docs/statuses.md#{row.name}" for row in Contract().statuses})
    PLACES.update({name: f"docs/spec/{page}#{name}" for name, page, *_ in register()})
    PLACES.update({name: f"reference/c.md#{name}" for name in re.findall(
        r'(?:\{#|id=")(\w+)', REFERENCES["reference/c.md"])})
    for path, text in texts:  # the list grows by the pages found
        for address in LINK.findall(text):
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), address))
            language = LISTED.get(posixpath.splitext(there)[1])
            if there in MADE or files.get_file_from_path(there) or not (ROOT / there).is_file():
                continue
            if there.endswith(".md"):
                add(there, abs_src_path=str(ROOT / there), inclusion=InclusionLevel.NOT_IN_NAV)
            elif language:
                MADE[there] = f"source/{there}.md"
                add(MADE[there], inclusion=InclusionLevel.NOT_IN_NAV, content=(
                    f"---\nsearch: {{exclude: true}}\n---\n\n# {there}\n\n"
                    + reference.fenced(language, (ROOT / there).read_text())))
    return files


def on_page_markdown(markdown, page, **_):
    """Convert CommonMark to Python-Markdown's dialect; remove the test words of code blocks."""
    Repository.source = page.file.src_uri
    # Ranks guides first in the search results, and references before the packages' own pages,
    # whose tables name every call.
    page.meta.setdefault("search", {"boost": next(
        (boost for start, boost in BOOSTS.items() if page.file.src_uri.startswith(start)), 1)})
    if page.file.src_uri.startswith("docs/spec/") and page.file.src_uri not in NOT_DEFINED:
        markdown = DEFINED.sub(rf"\1{ANCHOR}\2", markdown)
    return with_tabs(with_lists(markdown))


def with_tabs(text):
    """Make tabs of adjacent code blocks in different languages."""
    groups = []
    for block in FENCE.finditer(text):
        if groups and block.start() == groups[-1][-1].end():
            groups[-1].append(block)
        else:
            groups.append([block])
    for blocks in reversed(groups):
        names = [LANGUAGES.get(block[3]) for block in blocks]
        if len(blocks) > 1 and None not in names and len(set(names)) == len(names):
            tabs = "".join(f'=== "{name}"\n\n' + re.sub("^(?=.)", "    ", block[0], flags=re.M)
                           + "\n" for name, block in zip(names, blocks))
            text = text[:blocks[0].start()] + tabs + text[blocks[-1].end():]
    return text


def with_lists(text):
    """Indent lists by four columns a level, and put blank lines before lists, as Python-Markdown
    requires."""
    out, levels, fence, base = [], [], None, 0
    for line in text.split("\n"):
        body, above = line.lstrip(" "), out[-1].strip() if out else ""
        margin = len(line) - len(body)
        opens = None if fence else re.match(r"(```+|~~~+) *([\w+-]*)", body)
        item = re.match(r"([-*+]|\d+[.)]) +(?=\S)", body)
        if fence:
            fence = None if body.startswith(fence) and not body.strip(fence[0]) else fence
            out.append(" " * 4 * len(levels) + line[min(margin, base):])
            continue
        if not body:
            out.append("")
            continue
        was_list, kind = bool(levels), item and item[1].strip("0123456789")
        ended = None
        if not above or item or opens or body[0] in "#|":
            while levels and margin < levels[-1][0]:
                ended = levels.pop()[1]
        base = levels[-1][0] if levels else 0
        begins = item and (was_list or not above or item[1] in "-*+1.")
        if above and (begins and (not was_list or ended not in (None, kind))
                      or body[0] == "|" and above[0] != "|"):
            out.append("")
        if body[0] == "|":
            body = re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), body)
        if opens:
            fence, body = opens[1], opens[1] + opens[2]
        out.append(" " * (4 * len(levels) + max(margin - base, 0)) + body)
        if begins and margin - base < 4:
            levels.append((margin + item.end(), kind))
    return "\n".join(out)


def on_post_page(output, **_):
    """Name the dialog of the search for screen readers; the theme does not."""
    found = 'data-md-component="search" role="dialog"'
    return output.replace(found, f'{found} aria-label="Search"')


class Rules(InlineProcessor):
    """Makes a rule's id a link to its definition, and sets the anchor at an ANCHOR mark."""

    ANCESTOR_EXCLUDES = ("a",)

    def handleMatch(self, found, data):
        name = found[1].strip(ANCHOR)
        if name not in PLACES:
            return (name, *found.span(0)) if name != found[1] else (None, None, None)
        link = ElementTree.Element("a", href=from_here(PLACES[name]))
        link.text = name
        if name != found[1]:
            link.set("id", name)
        return link, found.start(0), found.end(0)


class Links(Treeprocessor):
    """Rewrites links to files that have a page of the site, and links names in code."""

    def run(self, root):
        for above in root.iter():
            if re.fullmatch("h[1-6]|a", above.tag):
                continue
            for place, element in enumerate(list(above)):
                if element.tag == "a":
                    self.link(element)
                elif element.tag == "code" and (element.text or "").removesuffix("()") in PLACES:
                    link = ElementTree.Element("a", href=from_here(
                        PLACES[element.text.removesuffix("()")]))
                    link.tail, element.tail = element.tail, None
                    link.append(element)
                    above[place] = link

    @staticmethod
    def link(element):
        path, mark, anchor = element.get("href", "").partition("#")
        if not path or ":" in path:
            return
        here = posixpath.dirname(Repository.source)
        there = posixpath.normpath(posixpath.join(here, path))
        if there in MADE:
            there = MADE[there]
            element.set("href", from_here(there) + mark + anchor)
        if re.fullmatch(r"[\w./-]+\.(md|tsv)", element.text or ""):
            element.text = TITLES.get(there, element.text)


class Repository(Extension):
    """Adds the project's own syntax to Markdown, for the page at `source`."""

    source = INDEX

    def extendMarkdown(self, md):
        md.inlinePatterns.register(Rules(RULE), "rules", 25)
        md.treeprocessors.register(Links(), "repository", 3)


def from_here(address):
    """Return an address relative to the page being built."""
    path, mark, anchor = address.partition("#")
    return posixpath.relpath(path, posixpath.dirname(Repository.source) or ".") + mark + anchor
