"""Read include/assay.h: the constants, handles and functions it declares.

The header keeps to a narrow form of C99: integer and text macros, enums with explicit values,
opaque struct typedefs, one integer typedef, and prototypes that begin with ASSAY_API. Any other
text ends the program with a message that quotes it, so that no declaration can be left out
silently.
"""
import re
import sys

# Macros about the file or the compiler, which are not part of the interface.
NOT_CONSTANTS = {"ASSAY_H", "ASSAY_API"}


class Constant:
    """A macro or an enumerator: `value` is an int or a str."""

    def __init__(self, name, value):
        self.name, self.value = name, value


class Parameter:
    """One parameter: its C type, without spaces around `*`, and its name."""

    def __init__(self, type_, name):
        self.type, self.name = type_, name


class Function:
    """One prototype. `doc` is the text of the comment above it."""

    def __init__(self, name, result, parameters, doc):
        self.name, self.result, self.parameters = name, result, parameters
        self.doc = doc


class Header:
    """All declarations of the header, in order."""

    def __init__(self):
        self.constants = []
        self.annotations = {"_Nullable", "_Nonnull"}  # words without meaning here
        self.handles = []  # names of opaque structs
        self.integers = {}  # typedef name -> C integer type
        self.functions = []

    def constant(self, name):
        for constant in self.constants:
            if constant.name == name:
                return constant.value
        sys.exit(f"assay.h: {name} is not declared")


def fail(text):
    sys.exit("assay.h: cannot read: " + " ".join(text.split())[:120])


def comment_text(comment):
    """Return the words of a doxygen comment on one line."""
    lines = comment[3:-2].splitlines()
    return " ".join(line.strip().lstrip("*").strip() for line in lines).strip()


def number(text):
    if text == "INT64_MIN":
        return -2**63
    if re.fullmatch(r"-?(0|[1-9][0-9]*)", text):
        return int(text)
    return None


def read_macro(line, header):
    match = re.fullmatch(r"#\s*define\s+(\w+)(?:\s+(.*))?", line)
    if not match or match[1] in NOT_CONSTANTS:
        return
    name, text = match[1], (match[2] or "").strip()
    if not text or text.startswith("_"):
        header.annotations.add(name)
        return
    value = number(text)
    if value is None and re.fullmatch(r'"[^"\\]*"', text):
        value = text[1:-1]
    if value is None:
        fail(line)
    header.constants.append(Constant(name, value))


def split_type(declarator):
    """Split `const assay_doc *const *evidence` into type and name."""
    match = re.fullmatch(r"(.*[\s*])(\w+)", declarator.strip(), re.S)
    if not match:
        fail(declarator)
    type_ = re.sub(r"\s*\*\s*", "*", " ".join(match[1].split()))
    return type_, match[2]


def read_prototype(text, doc, header):
    match = re.fullmatch(r"ASSAY_API\s+(.*?)(\w+)\s*\((.*)\)", text, re.S)
    if not match:
        fail(text)
    result, _ = split_type(match[1] + " result")
    inside = match[3].strip()
    parameters = []
    if inside != "void":
        parameters = [Parameter(*split_type(part)) for part in inside.split(",")]
    header.functions.append(Function(match[2], result, parameters, doc))


def read_enum(text, header):
    for part in text[text.index("{") + 1:text.rindex("}")].split(","):
        if not part.strip():
            continue
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(-?\d+)\s*", part)
        if not match:
            fail(part)
        header.constants.append(Constant(match[1], int(match[2])))


def read_declaration(text, doc, header):
    if text.startswith("ASSAY_API"):
        return read_prototype(text, doc, header)
    if re.fullmatch(r"enum\s*\{.*\}", text, re.S):
        return read_enum(text, header)
    match = re.fullmatch(r"typedef\s+struct\s+(\w+)\s+(\w+)", text)
    if match and match[1] == match[2]:
        header.handles.append(match[1])
        return None
    match = re.fullmatch(r"typedef\s+(u?int\d+_t)\s+(\w+)", text)
    if match:
        header.integers[match[2]] = match[1]
        return None
    return fail(text)


def contract_lines(text):
    """Return the header without the parts for C++ or for old C."""
    hidden, kept = [], []
    for line in text.replace("\\\n", " ").split("\n"):
        directive = re.match(r"#\s*(\w+)\s*(.*)", line)
        word = directive[1] if directive else ""
        if word in ("if", "ifdef", "ifndef"):
            # The include guard and the guard of ASSAY_API enclose code that is read.
            hidden.append("__cplusplus" in directive[2])
        elif word in ("else", "elif"):
            hidden[-1] = False
        elif word == "endif":
            hidden.pop()
        elif not any(hidden):
            kept.append(line)
    if hidden:
        fail("#if without #endif")
    return kept


def read(text):
    """Parse the text of assay.h."""
    header = Header()
    comments = {}

    def keep(match):
        """Replace a comment by a mark at its position."""
        if not match[0].startswith("/**") or match[0].startswith("/**<"):
            return " "
        comments[len(comments)] = comment_text(match[0])
        return f" @{len(comments) - 1}@ "

    body = []
    for line in contract_lines(re.sub(r"/\*.*?\*/", keep, text, flags=re.S)):
        if line.lstrip().startswith("#"):
            read_macro(re.sub(r"@\d+@", "", line).strip(), header)
        else:
            body.append(line)
    doc = ""
    for piece in re.split(r";", "\n".join(body)):
        marks = re.findall(r"@(\d+)@", piece)
        doc = comments[int(marks[-1])] if marks else ""
        piece = re.sub(r"@\d+@", " ", piece)
        piece = re.sub(r"\b\w+\b", lambda word: "" if word[0] in header.annotations
                       else word[0], piece).strip()
        if piece:
            read_declaration(piece, doc, header)
    return header
