"""Colours for code: comments, strings, keywords. Takes and gives escaped HTML."""
import re

WORDS = {
    "python": """and as assert async await break class continue def del elif else except
        False finally for from if import in is lambda None not or pass raise return True
        try while with yield""",
    "c": """break case char const continue do double else enum extern for if int int32_t
        int64_t long return size_t static struct switch typedef uint32_t unsigned void
        while NULL""",
    "swift": """actor any as async await case catch class do else enum extension false final for
        func guard if import in init internal let nil private protocol public return
        self static struct switch throw throws true try typealias var where while some""",
    "go": """break case chan const continue default defer else fallthrough false for func
        go if import interface map nil package range return select struct switch true
        type var""",
    "php": """as catch class const declare else elseif enum extends false final finally fn
        for foreach function if implements interface match namespace new null private
        public readonly return static throw true try use while yield""",
    "sql": """and as blob create from in insert integer into key not null on or primary
        select set table text unique update values where""",
    "sh": "case do done else esac fi for function if in then while export",
    "json": "true false null",
}
COMMENTS = {"python": r"#[^\n]*", "sh": r"(?<![\w$])#[^\n]*", "sql": r"--[^\n]*",
            "c": r"/\*.*?\*/|//[^\n]*|^\#[^\n]*", "json": r"(?!)"}
STRINGS = (r"(?:&quot;|\")(?:\\.|(?!&quot;)[^\\\n\"])*(?:&quot;|\")|'(?:\\.|[^'\\\n])*'"
           r"|`[^`]*`")
ALIASES = {"bash": "sh", "cpp": "c", "console": "sh", "py": "python"}


def highlighted(language, code):
    """Escaped code with spans; as it came for a language that is not known."""
    language = ALIASES.get(language, language)
    if language not in WORDS:
        return code
    comments = COMMENTS.get(language, COMMENTS["c"].replace(r"|^\#[^\n]*", ""))
    words = "|".join(WORDS[language].split())
    pattern = re.compile(
        rf"(?P<c>{comments})|(?P<s>{STRINGS})|(?<![\w$.&-])(?P<k>{words})(?![\w;-]*;)(?!\w)",
        re.S | re.M)

    def span(found):
        kind = found.lastgroup
        return f'<span class="{kind}">{found[0]}</span>'

    return pattern.sub(span, code)
