"""Generate the references of C, Python, PHP, Go, Node.js and Swift: public declarations with their comments.

The sources are read as text, not compiled or imported: formatters keep them regular, so that a
declaration is recognized by its indentation and first words, and its comment is the one above.
`pages()` returns Markdown, from which tools/mkdocs_hooks.py makes pages of the site.
"""
import ast
import dataclasses
import re
import textwrap

from contract.reader import ROOT

LONG = 88


@dataclasses.dataclass
class Entry:
    """A type with its members, or one member: name, code, and comment in Markdown."""

    name: str
    code: str
    comment: str = ""
    value: bool = False  # a constant or property: a row of the type's table
    members: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Language:
    """Patterns of a language's public declarations; the last group of a match is the name.

    type      a public type member    a member with the keyword for public, in a type or outside
    inner     a member that is public without the keyword, by the kind of its type again     the
    continuation of a type declared elsewhere hidden    a declaration that is not public; its
    members are skipped
    """

    name: str
    indent: int
    comment: str
    skipped: str
    type: str
    member: str
    inner: dict
    again: str = r"(?!)"
    hidden: str = r"(?!)"


SWIFT = Language(
    "swift", 2, comment=r"/// ?", skipped=r"@\w+(\(.*\))?$|#|where |\)",
    type=r"public (?:final |indirect )?(?:class|struct|enum|protocol) (\w+)",
    member=r"public (?:[a-z]+(?:\([a-z]+\))? )*?(?:(?:func|let|var|typealias) `?|"
           r"(?=init\b|subscript\b))(\w+|[^\s\w(]+)",
    inner={"public protocol ":
           r"(?:static |mutating )?(?:(?:func|var|associatedtype) `?|(?=init\b))(\w+)",
           r"public (?:indirect )?enum ": r"case `?(\w+)"},
    again=r"extension ([\w.]+)",
    hidden=r"@_spi|(?:[a-z]+ )*(?:class|struct|enum|protocol|actor) (?!func|let|var)")
GO = Language(
    "go", 1, comment=r"// ?", skipped=r"//go:|[})]",
    type=r"type ([A-Z]\w*)", member=r"(?:func|var|const) ([A-Z]\w*)",
    inner={"type ": r"\*?(?:\w+\.)?([A-Z]\w*)"},
    again=r"func \((?:\w+ )?\*?([A-Z]\w*)(?:\[.*?\])?\) [A-Z]", hidden=r"type [a-z]|func \(")
PHP = Language(
    "php", 4, comment=r"(?:/\*\*|\*(?!/)) ?", skipped=r"#\[|\{$|\)",
    type=r"(?:(?:final|abstract|readonly) )*(?:class|interface|enum) (\w+)",
    member=r"(?:(?:final|abstract) )?public (?:const (?:\w+ )??|[^(=;]*?function |[^(=;]*?(?=\$))"
           r"(\$?\w+)\b(?! [A-Z])",
    inner={"enum ": r"case (\w+)"},
    # What a class has from a file of its own.
    again=r"trait (\w+)Calls$", hidden=r"trait ")
CALL = re.compile(r"\b(?:func|function|init|subscript)\b")


def comment_above(language, lines, at):
    """Return the comment that ends above a line, skipping attributes in between."""
    words = []
    while at and re.match(r"\s*(?:@\w|#\[|//go:)", lines[at - 1]):
        at -= 1
    while at:
        line = lines[at - 1].strip().removesuffix("*/").rstrip()
        mark = re.match(language.comment, line)
        if not mark and not (line == "" and lines[at - 1].strip() == "*/"):
            break
        words.append(line[mark.end():] if mark else "")
        at -= 1
        if line.startswith("/**"):
            break
    return textwrap.dedent("\n".join(reversed(words))).strip()


def head(lines, at, has_body):
    """Return the code of a declaration without its body: up to its `{` or `;`, or, without a body,
    to the end of the line with its last closing bracket."""
    margin, depth, code = len(lines[at]) - len(lines[at].lstrip()), 0, []
    for line in lines[at:]:
        text = re.sub(r"#\[\w+\] ?", "", line[margin:])
        for place, mark in enumerate(text):
            depth += (mark in "([") - (mark in ")]")
            if not depth and (mark == ";" or mark == "{" and text[:place].endswith((" ", "\t"))
                              or text == "{"):
                return "\n".join([*code, text[:place]]).strip()
        code.append(text)
        if not depth and not has_body:
            break
    return "\n".join(code).strip()


def plain(code):
    """Remove the keyword `public` and Go's struct tags from code."""
    return re.sub(r"^public | +`[^`]*`$", "", code)


class Reading:
    """The declarations of one module's files: `types` by name, `pages` by title. An extension of a
    type that the module does not declare, or hides, has no page."""

    def __init__(self, language, pages):
        self.language, self.types, self.pages = language, {}, pages

    def type(self, name):
        return self.types.setdefault(name, Entry(name, ""))

    def read(self, path, page):
        """Read one file, whose declarations belong on the given page."""
        how = self.language
        lines, scopes = path.read_text().splitlines(), []
        for at, line in enumerate(lines):
            text = line.strip().replace("\t", " ")
            if not text or re.match(how.skipped, text) or re.match(how.comment, text):
                continue
            margin = len(line) - len(line.lstrip())
            while scopes and margin <= scopes[-1][0]:
                scopes.pop()
            outer, inner = scopes[-1][1:] if scopes else (None, None)
            if scopes and (outer is None or margin != scopes[-1][0] + how.indent):
                continue
            comment = comment_above(how, lines, at)
            if how is GO and re.match(r"(?:const|var) \($", text):
                self.group(lines, at, comment, page)
                continue
            if found := re.match(how.type, text):
                name = f"{outer.name}.{found[1]}" if outer else found[1]
                if "@internal" in comment:
                    scopes.append((margin, None, None))
                    continue
                entry = self.type(name)
                entry.code, entry.comment = plain(head(lines, at, how is not GO)), comment
                self.pages.setdefault(page, []).append(entry)
                scopes.append((margin, entry, next(
                    (within for kind, within in how.inner.items() if re.match(kind, text)), None)))
                continue
            again = re.match(how.again, text)
            if again and how is not GO:
                scopes.append((margin, self.type(again[1].removeprefix("Assay.")), None))
            elif again or (found := re.match(how.member, text)) or (
                    inner and (found := re.match(inner, text))):
                name = re.search(r"\) (\w+)", text)[1] if again else found[1]
                value = not CALL.search(text.partition("(")[0])
                code = plain(head(lines, at, not inner and not value and how is not GO))
                entry = Entry(name, re.sub(r"\n.*", " …", code, flags=re.S) if value else code,
                              comment, value)
                if again:
                    outer = self.type(again[1])
                if "@internal" not in comment and not (
                        outer and any(code == one.code for one in outer.members)):
                    (outer.members if outer else self.loose_of(page)).append(entry)
            elif re.match(how.hidden, text):
                scopes.append((margin, None, None))

    def loose_of(self, page):
        return self.pages.setdefault(page, [])

    def group(self, lines, at, comment, page):
        """Read a bracketed group of Go constants or variables as one block, placed beside their
        type."""
        end = next(place for place in range(at, len(lines)) if lines[place] == ")")
        kept = [line for line in lines[at + 1:end] if re.match(r"\t([A-Z]|//)", line)]
        first = next((re.match(r"\t(\w+) +(\w+)?", line) for line in kept
                      if re.match(r"\t[A-Z]", line)), None)
        if first:
            entry = Entry(first[1], "\n".join([lines[at], *kept, ")"]), comment)
            known = first[2] and re.search(rf"^type {first[2]}\b", "\n".join(lines), re.M)
            (self.type(first[2]).members if known else self.loose_of(page)).append(entry)


def php_markdown(comment):
    """Return the tags of a docblock as a Markdown list."""
    kind = r"(?:[^\s$<({]|<[^>]*>|\([^)]*\)|\{[^}]*\}|, )+"
    for tag, words in ((r"\{@inheritdoc\}|^@(?:psalm|phpstan)-\S+.*$\n?", ""),
                       (rf"^@var\s+({kind})[ \t]*", r"`\1` "),
                       (r"^@param\s[^$\n]*(\$\w+)[ \t]*", r"- `\1`: "),
                       (rf"^@return\s+({kind})[ \t]*", r"- returns `\1` "),
                       (r"^@throws\s+(\S+)[ \t]*", r"- throws `\1` ")):
        comment = re.sub(tag, words, comment, flags=re.M | re.I)
    return comment


# ---- Python

def python_signature(node):
    """Return `def name(...) -> type`, with a line for each parameter if it is long."""
    marks = "".join(f"@{ast.unparse(mark)}\n" for mark in node.decorator_list)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    ends = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{word} {node.name}({ast.unparse(node.args)}){ends}"
    if len(line) > LONG:
        inside = re.sub(r", (?=(?:\*{0,2}\w+(?::|=|,|$)|\*,|/))", ",\n    ",
                        ast.unparse(node.args))
        line = f"{word} {node.name}(\n    {inside},\n){ends}"
    return marks + line


def python_comment(node):
    """Return a docstring as Markdown; indented lists of arguments (`name  description`) are
    converted."""
    return re.sub(r"^(?: {4})?(\w+(?:, \w+)*) {2,}(\S.*(?:\n {6,}\S.*)*)$",
                  lambda found: f"- `{found[1]}`: " + " ".join(found[2].split()),
                  ast.get_docstring(node) or "", flags=re.M)


def python_member(node):
    """Return a declared member; its description is the last literal of the call that reads it."""
    texts = [argument.value for argument in getattr(node.value, "args", [])
             if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
    comment = "The same as an aware datetime in UTC." \
        if getattr(getattr(node.value, "func", None), "id", "") == "moment" \
        else texts[-1] if len(texts) > 1 else ""
    return Entry(node.target.id, f"{node.target.id}: {ast.unparse(node.annotation)}", comment, True)


def python_class(node):
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    entry = Entry(node.name, f"class {node.name}({bases})" if bases else f"class {node.name}",
                  python_comment(node))
    for member in node.body:
        name = getattr(member, "name", "")
        if isinstance(member, ast.AnnAssign) and not member.target.id.startswith("_") \
                and "ClassVar" not in ast.unparse(member.annotation):
            entry.members.append(python_member(member))
        elif isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and (
                not name.startswith("_") or name == "__init__"):
            marks = [ast.unparse(mark) for mark in member.decorator_list]
            if "overload" not in marks and not any(mark.endswith(".setter") for mark in marks):
                comment = python_comment(member)
                ends = ast.unparse(member.returns) if member.returns else ""
                entry.members.append(
                    Entry(name, f"{name}: {ends}", comment, True) if "property" in marks
                    else Entry(name, python_signature(member), comment))
    return entry


def python_declared(node):
    """Return the name and the entry of a top-level statement of a module; None if it declares
    nothing."""
    if isinstance(node, ast.ClassDef):
        return node.name, python_class(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name, Entry(node.name, python_signature(node), python_comment(node))
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, Entry(node.targets[0].id, ast.unparse(node))
    return None


def python_pages():
    """Return a page for each public module: its exports, and the classes that they lead to."""
    package = ROOT / "bindings/python/assay"
    modules, exported = {}, {}
    for path in sorted(package.rglob("*.py")):
        name = ".".join(["assay", *path.relative_to(package).with_suffix("").parts])
        tree = ast.parse(path.read_text()).body
        modules[name] = dict(filter(None, map(python_declared, tree)))
        exported[name] = next((ast.literal_eval(node.value) for node in tree if isinstance(
            node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"), ())
    everywhere = set().union(*exported.values())
    found, size = {}, -1
    while size != len(everywhere):
        size = len(everywhere)
        for name, entries in modules.items():
            wanted = exported[name] or everywhere
            found[name] = [entry for each, entry in entries.items()
                           if each in wanted and each[0] != "_"]
            everywhere |= {word for entry in found[name] for one in [entry, *entry.members]
                           for word in re.findall(r"\b[A-Z]\w+[a-z]\w*", one.code)}
    # Public declarations of a module with an underscore belong to its package.
    for name in [name for name in found if "._" in name and "__init__" not in name]:
        package = found[name.rpartition(".")[0] + ".__init__"]
        package += [entry for entry in found.pop(name)
                    if entry.name not in [one.name for one in package]]
    return {name.removesuffix(".__init__"): entries for name, entries in sorted(found.items())}


# ---- Node.js

NODE_PAGES = {"index": "assay", "generated/kinds": "assay", "generated/facts": "assay: facts",
              "generated/configuration": "assay: configuration",
              "generated/operations": "assay: requests", "ledger": "assay/ledger",
              "generated/ledger": "assay/ledger: requests and results",
              "testing": "assay/testing"}
NODE_DECLARED = re.compile(
    r"(?:export )?(?:abstract )?(class|interface|type|const|function) (\w+)")
NODE_HIDDEN = re.compile(r"private |protected |\[Symbol\.|import |export \*|declare |\[\w+:")
NODE_FOLDED = re.compile("Calls$|Requests$")
NODE_PIECE = re.compile(r"/\*\*(.*?)\*/|//[^\n]*|[^/]|/", re.S)


def node_statements(text):
    """Yield (comment, code) of each declaration in a text: it ends with `;`, a block without one."""
    comment, code, depth = "", "", 0
    for piece in NODE_PIECE.finditer(text):
        words = piece[0]
        if len(words) > 1 and not code.strip():
            comment = "" if piece[1] is None else re.sub(
                r"^ *\* ?", "", piece[1], flags=re.M).strip()
            continue
        code += words
        if len(words) > 1:
            continue
        depth += (words in "([{") - (words in ")]}")
        is_block = words == "}" and re.match(r"(?:export |abstract |declare )*"
                                             r"(?:class|interface|global)\b", code.strip())
        if not depth and (words == ";" or is_block):
            yield comment, textwrap.dedent(code.strip("\n")).strip().removesuffix(";")
            comment, code = "", ""
    if code.strip():
        yield comment, code.strip()


def node_entry(comment, code):
    """Return a declaration, and the names of its bases; None if it is not public."""
    declared = NODE_DECLARED.match(code)
    if NODE_HIDDEN.match(code) or declared is None:
        return None
    kind, name = declared.groups()
    if kind not in ("class", "interface"):
        return Entry(name, code.removeprefix("export "), comment), []
    start = code.index("{")
    head, inside = code[:start].strip().removeprefix("export "), code[start + 1:-1]
    entry = Entry(name, head, comment)
    for words, member in node_statements(inside):
        named = re.match(r"(?:static |readonly )*(\w+)", member)
        if named and not NODE_HIDDEN.match(member):
            is_value = not re.match(r"(?:static )?\w+(?:<[^>]*>)?\(", member)
            member = " ".join(member.split()) if is_value else member
            entry.members.append(Entry(named[1], member, words, is_value))
    bases = head.partition(" extends ")[2]
    return entry, [] if "<" in bases else re.findall(r"\w+", bases)


def node_pages():
    """Return a page for each file of declarations. Methods of operations, which an interface
    `…Calls` or `…Requests` declares, are those of the class that extends it."""
    found, known, extended = {}, {}, []
    for file, title in NODE_PAGES.items():
        text = (ROOT / f"bindings/node/{file}.d.cts").read_text()
        for entry, bases in filter(None, (node_entry(*each) for each in node_statements(text))):
            kept = known.setdefault((title, entry.name), entry)
            if kept is entry:
                found.setdefault(title, []).append(entry)
            extended.append((kept, bases))
    folded = {name: entry for (_, name), entry in known.items() if NODE_FOLDED.search(name)}
    # A base is declared before what extends it, so that its own members are whole by then.
    for entry, bases in extended:
        for base in filter(None, map(folded.get, bases)):
            entry.members += base.members
    return {title: [entry for entry in entries if entry.name not in folded]
            for title, entries in found.items()}


# ---- C

def c_page():
    """Return the page of the header: its conventions unchanged, then its parts."""
    text = (ROOT / "include/assay.h").read_text()
    conventions = re.sub(r"(?m)^ \*(/| |$)", "", text[2:text.index("*/")]).strip()
    macros = re.findall(r"^#define ASSAY_[A-Z_]+ .*\d.*$", text.partition("#ifndef ASSAY_API")[0],
                        re.M)
    out = ["# C header", "Generated from `include/assay.h`.",
           fenced("text", conventions), fenced("c", "\n".join(macros))]
    for title, part in re.findall(
            r"/\* ---- (.*?) -+ \*/\n(.*?)(?=/\* ----|#ifdef __cpl)", text, re.S):
        out.append(f"## {title.capitalize()}")
        for comment, code in re.findall(
                r"/\*\*(?!<)(.*?)\*/\s*(ASSAY_API.*?;|typedef.*?;|enum \{.*?\};|#define [^\n]*)",
                part, re.S):
            words = re.sub(r"^ *\* ?", "", comment, flags=re.M).strip()
            words = re.sub(r"^@param (\w+) +", r"- `\1`: ", words, flags=re.M)
            words = re.sub(r"^ {2,}", "  ", re.sub(r"^@return +", "- returns ", words, flags=re.M),
                           flags=re.M)
            names = re.findall(r"\bassay_\w+(?= ?\(|;)|\bASSAY_[A-Z_]+(?= =| INT)", code)
            places = "".join(f'<a id="{name}"></a>' for name in names[1:])
            title = f"`{names[0]}`" if len(names) == 1 else words.partition(".")[0]
            out += [f"### {title} {{#{names[0]}}}", places, fenced("c", code.removeprefix(
                "ASSAY_API ")), words]
    return "\n\n".join(out) + "\n"


# ---- pages

def fenced(language, code):
    return f"```{language}\n{code}\n```"


def first_sentence(comment):
    words = re.split(r"\n\n|(?<=[.:])\s", comment, maxsplit=1)[0]
    return " ".join(words.split()).replace("|", "\\|")


def place_of(name):
    """Return the anchor of a name."""
    return re.sub(r"[^\w.$]", "", name)


def rendered(entry, language, places, level=2, of=""):
    """Return one declaration as Markdown: heading, code, comment, then its members."""
    name = f"{of}.{entry.name}" if of else entry.name
    place = place_of(name)
    places[place] = places.get(place, 0) + 1
    if places[place] > 1:
        place += f"-{places[place]}"
    out = [f"{'#' * level} `{name}` {{#{place}}}", fenced(language, entry.code), entry.comment]
    rows = [one for one in entry.members if one.value and one.comment
            and "\n\n" not in one.comment and "\n- " not in one.comment and "\n" not in one.code]
    bare = [one.code for one in entry.members if one.value and not one.comment]
    if bare:
        out.append(fenced(language, "\n".join(bare)))
    if rows:
        out.append("| member | what it is |\n|---|---|\n" + "\n".join(
            f"| `{one.code}` | {' '.join(one.comment.split()).replace('|', chr(92) + '|')} |"
            for one in rows))
    out += [rendered(one, language, places, 3, name) for one in entry.members
            if one not in rows and not (one.value and not one.comment)]
    return "\n\n".join(out)


def source_pages(language, folder, page_of, comments=str):
    """Return {title: entries} of the sources below a folder; page_of maps a path to the title of
    its page, or to None for a file outside the public interface."""
    found, readings = {}, {}
    for path in sorted((ROOT / folder).rglob(f"*.{language.name}")):
        title = page_of(path.relative_to(ROOT / folder))
        if title:
            # In Go and PHP each folder is a package of its own; in Swift all folders are one
            # module.
            name = folder if language is SWIFT else path.parent
            readings.setdefault(name, Reading(language, found)).read(path, title)
    for entry in [one for entries in found.values() for one in entries]:
        for one in [entry, *entry.members]:
            one.comment = comments(one.comment)
    return found


def go_page(path):
    hidden = path.name.endswith("_test.go") or path.parts[0] in ("internal", "examples")
    return None if hidden else f"assay/ledger: {path.stem}" if len(path.parts) > 1 \
        else f"assay: {path.stem}"


HOSTS = {
    # folder of the site: (title, language, introduction, {title: entries})
    "python": ("Python reference", "python", "`import assay`: a page for each module.",
               python_pages),
    "php": ("PHP reference", "php", "A page for each namespace, for FFI and the extension alike.",
            lambda: source_pages(
                PHP, "bindings/php/src", lambda path: None if path.parts[0] == "Internal" else
                "\\".join(["Assay", *path.parts[:-1]]), php_markdown)),
    "go": ("Go reference", "go", "The packages `assay` and `assay/ledger`, file by file.",
           lambda: source_pages(GO, "bindings/go", go_page)),
    "node": ("Node.js reference", "ts", "The package `assay`, its ledger and what is for tests: a "
             "page for each file of declarations.", node_pages),
    "swift": ("Swift reference", "swift", "`import AssaySwift`: depend on this package and its "
              "product `AssaySwift`. It hands `Document` and `Status` of the core through. Files of "
              "SQLite are in the product `AssaySQLite`.",
              lambda: {**source_pages(SWIFT, "Sources/AssaySwift", lambda path: path.stem),
                       **source_pages(SWIFT, "Sources/AssaySQLite", lambda path: path.stem)}),
    "swift-core": ("Swift core", "swift", "`import Assay`: bytes in, documents out, without "
                   "Foundation; what libassay.so is made of. Servers are better served by "
                   "`AssaySwift`.",
                   lambda: source_pages(SWIFT, "Sources/Assay", lambda path: path.parts[0])),
}


def pages():
    """Return {path below the reference: Markdown}."""
    found = {"c.md": c_page()}
    for folder, (title, language, about, read) in HOSTS.items():
        index = [f"# {title}", about]
        for name, entries in read().items():
            if not entries:
                continue
            page, places = re.sub(r"\W+", "-", name.lower()) + ".md", {}
            index += [f"## [{name}]({page})", "| | |\n|---|---|\n" + "\n".join(
                f"| [`{one.name}`]({page}#{place_of(one.name)}) | {first_sentence(one.comment)} |"
                for one in entries)]
            found[f"{folder}/{page}"] = "\n\n".join(
                [f"# {name}", *(rendered(one, language, places) for one in entries)]) + "\n"
        found[f"{folder}/index.md"] = "\n\n".join(index) + "\n"
    return found
