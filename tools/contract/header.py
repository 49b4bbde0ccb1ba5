"""Read include/assay.h: the constants, handles and functions it declares.

The header keeps to a narrow form of C99: integer and text macros, enums with explicit values,
opaque struct typedefs, one integer typedef, and prototypes that begin with ASSAY_API. Any other
text ends the program with a message that quotes it, so that no declaration can be left out
silently.
"""
import collections
import re
import sys

# Macros about the file or the compiler, which are not part of the interface.
NOT_CONSTANTS = {"ASSAY_H", "ASSAY_API"}

# A macro or an enumerator: `value` is an int or a str.
Constant = collections.namedtuple("Constant", "name value")
# One parameter: its C type, without spaces around `*`, and its name.
Parameter = collections.namedtuple("Parameter", "type name")
# One prototype; `doc` is the text of the comment above it.
Function = collections.namedtuple("Function", "name result parameters doc")


def fail(text):
    sys.exit("assay.h: cannot read: " + " ".join(text.split())[:120])


def split_type(declarator):
    """Split `const assay_doc *const *evidence` into type and name."""
    match = re.fullmatch(r"(.*[\s*])(\w+)", declarator.strip(), re.S) or fail(declarator)
    return re.sub(r"\s*\*\s*", "*", " ".join(match[1].split())), match[2]


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
        return sys.exit(f"assay.h: {name} is not declared")

    def read_macro(self, line):
        match = re.fullmatch(r"#\s*define\s+(\w+)(?:\s+(.*))?", line)
        if not match or match[1] in NOT_CONSTANTS:
            return
        name, text = match[1], (match[2] or "").strip()
        if not text or text.startswith("_"):
            self.annotations.add(name)
        elif text == "INT64_MIN":
            self.constants.append(Constant(name, -2**63))
        elif re.fullmatch(r"-?(0|[1-9][0-9]*)", text):
            self.constants.append(Constant(name, int(text)))
        elif re.fullmatch(r'"[^"\\]*"', text):
            self.constants.append(Constant(name, text[1:-1]))
        else:
            fail(line)

    def read_prototype(self, text, doc):
        match = re.fullmatch(r"ASSAY_API\s+(.*?)(\w+)\s*\((.*)\)", text, re.S) or fail(text)
        result, _ = split_type(match[1] + " result")
        inside = match[3].strip()
        parameters = [Parameter(*split_type(part)) for part in inside.split(",")
                      if inside != "void"]
        self.functions.append(Function(match[2], result, parameters, doc))

    def read_enum(self, text):
        for part in text[text.index("{") + 1:text.rindex("}")].split(","):
            if part.strip():
                match = re.fullmatch(r"\s*(\w+)\s*=\s*(-?\d+)\s*", part) or fail(part)
                self.constants.append(Constant(match[1], int(match[2])))

    def read_declaration(self, text, doc):
        if text.startswith("ASSAY_API"):
            self.read_prototype(text, doc)
        elif re.fullmatch(r"enum\s*\{.*\}", text, re.S):
            self.read_enum(text)
        elif match := re.fullmatch(r"typedef\s+struct\s+(\w+)\s+\1", text):
            self.handles.append(match[1])
        elif match := re.fullmatch(r"typedef\s+(u?int\d+_t)\s+(\w+)", text):
            self.integers[match[2]] = match[1]
        else:
            fail(text)


def strip_hidden(text):
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
    return fail("#if without #endif") if hidden else kept


def read(text):
    """Parse the text of assay.h."""
    header, comments, body = Header(), [], []

    def keep(match):
        """Replace a comment by a mark at its position."""
        if not match[0].startswith("/**") or match[0].startswith("/**<"):
            return " "
        lines = match[0][3:-2].splitlines()
        comments.append(" ".join(line.strip().lstrip("*").strip() for line in lines).strip())
        return f" @{len(comments) - 1}@ "

    for line in strip_hidden(re.sub(r"/\*.*?\*/", keep, text, flags=re.S)):
        if line.lstrip().startswith("#"):
            header.read_macro(re.sub(r"@\d+@", "", line).strip())
        else:
            body.append(line)
    for piece in "\n".join(body).split(";"):
        marks = re.findall(r"@(\d+)@", piece)
        piece = re.sub(r"@\d+@", " ", piece)
        piece = re.sub(r"\b\w+\b", lambda word: "" if word[0] in header.annotations
                       else word[0], piece).strip()
        if piece:
            header.read_declaration(piece, comments[int(marks[-1])] if marks else "")
    return header
