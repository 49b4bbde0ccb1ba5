"""Names, comments and lists, as the writers of several languages spell and fold them."""
import re
import textwrap

WORD = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


# ---- names -------------------------------------------------------------------------------------


def split_words(name):
    """Split a name into words: dependentSKUs -> dependent, SKUs; createdAtMs -> created, At, Ms."""
    return WORD.findall(name)


def snake(name):
    return "_".join(split_words(name)).lower()


def camel(name):
    """Return lower camel case: get-plan -> getPlan, appleID -> appleId."""
    first, *more = split_words(name)
    return first.lower() + "".join(word.capitalize() for word in more)


def constant(name):
    """Return the name of a constant: productNotForSale -> PRODUCT_NOT_FOR_SALE, iOS -> IOS."""
    return name.upper() if name.endswith("OS") else snake(name).upper()


def article(name):
    return "An" if name[0] in "AEIOUaeiou" else "A"


def lower_first(text):
    """Return a sentence that continues a line: its first letter small, unless it is a name."""
    is_word = text[1:2].islower() or text[1:2] == " "
    return text[0].lower() + text[1:] if is_word else text


# ---- texts -------------------------------------------------------------------------------------


def quote(text):
    """Return a string literal that is valid in Swift, in Go and in Python."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def wrap(text, width, first="", more=None):
    """Fold a text into lines; `first` stands before the first line, `more` before the others."""
    return textwrap.wrap(text, width, initial_indent=first,
                         subsequent_indent=first if more is None else more,
                         break_long_words=False, break_on_hyphens=False)


def wrap_comment(text, prefix, width):
    """Return a text of a table as comment lines; `\\n\\n` in it begins a paragraph."""
    out = []
    for number, paragraph in enumerate(text.split("\\n\\n")):
        out += [prefix.rstrip()] * bool(number) + wrap(paragraph, width, prefix)
    return out


def strip_links(text):
    """Return Markdown without the targets of links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def strip_marks(text):
    """Return Markdown as plain text, without code marks and link targets."""
    return strip_links(text).replace("`", "")


def translate(text, one, spell, nothing, others=(), quote="`"):
    """Return a text of facts.tsv in the terms of a host language.

    spell returns the host's name of a member of the type `one`; nothing is its word for nil; others
    are {further name between backticks: the host's name}; quote stands around names in the host.
    """
    others = dict(others)

    def name(found):
        first, *more = found[1].split(".")
        if found[1] in others:
            return quote + others[found[1]] + quote
        member = one.member(first)
        if member is None:
            return found[0]
        return quote + ".".join([spell(member), *(others.get(step, step) for step in more)]) + quote

    text = re.sub(r"`([\w.-]+)`", name, text)
    return re.sub(r"\bNil\b", nothing[0].upper() + nothing[1:],
                  re.sub(r"\bnil\b", nothing, text))


# ---- lists -------------------------------------------------------------------------------------


def pack(parts, indent, width, end="", first=""):
    """Return a list with commas as lines, with as many parts on each as fit into the width; `first`
    stands before the first line instead of the indent, `end` behind the last part."""
    out = [first or indent]
    for number, part in enumerate(parts):
        part += "," if number + 1 < len(parts) else end
        is_begun = out[-1] not in (indent, first)
        if is_begun and len(out[-1]) + 1 + len(part) > width:
            out.append(indent)
            is_begun = False
        out[-1] += " " * is_begun + part
    return out


def list_parts(head, parts, tail, indent):
    """Return head, each part on a line of its own with a comma, and tail; without parts one
    line."""
    if not parts:
        return [head + tail]
    outer = " " * (len(head) - len(head.lstrip()))
    return [head, *(f"{indent}{part}," for part in parts), outer + tail]


def fit_parts(head, parts, tail, width, indent):
    """Return head, parts and tail on one line if they fit, else as `list_parts`."""
    line = head + ", ".join(parts) + tail
    return [line] if len(line) <= width else list_parts(head, parts, tail, indent)
