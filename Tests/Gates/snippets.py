#!/usr/bin/env python3
"""Check that every code block in the documentation works as stated.

  snippets.py --library FILE --cli FILE --cases FILE [--php DIR] [--go DIR] [--swift DIR]
              [--only TEXT] [--suite NAME]

Every fenced block of README.md, docs/, bindings/*/README.md and the other pages has a language,
followed by words that select its test; docs/snippets.md lists the words. A block without a word
fails. The blocks of one page share a folder, build/snippets/PAGE, and are tested in order.
"""
import argparse
import dataclasses
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Snippets"))

from project import ROOT
from report import Suite
import programs
import shapes

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
# Reason why a block is not run -> the check that replaces running it.
REASONS = {
    "diagram": programs.look_at_nothing,  # a picture made of characters
    "app": programs.parse_swift,  # needs Apple's frameworks: only parsed
    "setup": programs.check_setup,  # changes the machine: shell syntax and targets are checked
    "release": programs.check_setup,  # tools/try_release.py runs it, in a clean root
    "settings": programs.look_at_nothing,  # of another program: nginx, php-fpm
    "measured": programs.check_rows,  # output of `make bench`: must have its rows
    "message": programs.check_message,  # a logged refusal: must have the status table's sentences
    "excerpt": programs.check_excerpt,  # must be part of a file of the repository
    "peer": programs.look_at_nothing,  # over a package that is absent; typed_javascript.py reads it
}


@dataclasses.dataclass
class Block:
    """One fenced block: location, language, words and text."""

    page: pathlib.Path
    line: int
    language: str
    words: dict
    text: str

    @property
    def place(self):
        name = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page
        return f"{name}:{self.line}"

    def has(self, word):
        return word in self.words


def words_of(info):
    """Parse 'run with=x exit=1' into {'run': '', 'with': 'x', 'exit': '1'}."""
    pairs = [word.partition("=") for word in info.split()]
    return {name: value for name, _, value in pairs}


def blocks_of(page):
    """Return all fenced blocks of one Markdown file."""
    found, start = [], None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        mark = FENCE.match(line)
        if start is None and mark:
            language, _, info = mark["info"].strip().partition(" ")
            start = (number, mark["indent"], mark["fence"], language, words_of(info), [])
        elif start and mark and mark["fence"].startswith(start[2]) and not mark["info"].strip():
            found.append(Block(page, start[0], start[3], start[4],
                               "".join(text + "\n" for text in start[5])))
            start = None
        elif start:
            start[5].append(line.removeprefix(start[1]))
    if start:
        raise SystemExit(f"{page}:{start[0]}: a block that does not end")
    return found


def pages(bindings):
    found = [ROOT / name for name in PAGES]
    # Code blocks of the specification are formats and statements, some of them only planned.
    found += sorted(page for page in (ROOT / "docs").rglob("*.md")
                    if not page.is_relative_to(ROOT / "docs/spec"))
    found.append(ROOT / "examples/README.md")
    for name in ("c", "python", "python_testing", "php", "go", "node"):
        readme = bindings.get(name, ROOT / "bindings" / name) / "README.md"
        if readme.exists():
            found.append(readme)
    return found


def missing(block, tools):
    """Return a requirement of the block that is missing on this machine; None if there is none."""
    needed = set(filter(None, block.words.get("needs", "").split(",")))
    if block.language in ("php", "go"):
        needed.add(block.language)
    if block.language in ("js", "ts"):
        needed.add("node")
    if block.language == "ts":
        needed.add(programs.NODE_SQLITE)
    return next((why for name in sorted(needed) if (why := tools.missing(name))), None)


class PageRun:
    """The blocks of one page, tested in their order in one folder."""

    def __init__(self, suite, tools, page):
        self.suite, self.tools = suite, tools
        name = str(page.relative_to(ROOT) if page.is_relative_to(ROOT) else page)
        self.folder = tools.scratch / name.strip("/").replace("/", "-")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        tools.prepare(self.folder)
        self.program = None

    def expect(self, block, problem):
        self.suite.expect(problem is None, block.place, problem or "")

    def flush(self):
        """Run the program that the blocks so far form."""
        if self.program is not None:
            program, self.program = self.program, None
            if isinstance(program, programs.Skipped):
                return
            problem = programs.run(program, self.folder, self.tools)
            for block in program.blocks:
                self.expect(block, problem)

    def take(self, block):
        if block.has("output"):
            if self.program is None:
                self.expect(block, "output, and no program above")
            else:
                self.program.expect_output(block)
            return
        if block.has("continues"):
            if self.program is None or self.program.language != block.language:
                self.expect(block, f"continues, and no {block.language} program above")
            else:
                self.program.add(block)
            return
        self.flush()
        why = missing(block, self.tools)
        if why:
            self.suite.skip(block.place, why)
            self.program = programs.Skipped(block)
        elif block.has("file"):
            problem = programs.write_file(block, self.folder, self.tools)
            if problem or not block.has("run"):
                self.expect(block, problem)
        if not why and block.has("run"):
            self.program = programs.Program(block)
        elif not why and not block.has("file"):
            self.expect(block, self.looked_at(block))

    def looked_at(self, block):
        """Check a block that is no program; return what is wrong or None."""
        if block.has("not-run"):
            reason = REASONS.get(block.words["not-run"])
            return reason(block, self.tools) if reason else \
                f"no such reason: {block.words['not-run']}"
        for word, check in shapes.CHECKS.items():
            if block.has(word):
                return check(block, self.tools)
        return "no word says how it is tested (docs/snippets.md)"


class Silent(Suite):
    """Counts failures and prints nothing."""

    def expect(self, met, what, detail=""):
        self.passed += bool(met)
        self.failed += not met
        return bool(met)


# Pages with one fault each, all of which must be found; {} is replaced by a fence.
FAULTY = {
    "a block without a word": "{}python\nprint(1)\n{}\n",
    "a block without a language": "{}\nprint(1)\n{}\n",
    "a program that fails": "{}python run\nraise SystemExit(1)\n{}\n",
    "a program that ends otherwise": "{}sh run exit=1\ntrue\n{}\n",
    "another output": "{}sh run\necho 1\n{}\n{}text output\n2\n{}\n",
    "an output of nothing": "{}text output\n2\n{}\n",
    "JavaScript that fails": "{}js run\nthrow new Error('no')\n{}\n",
    "C that does not compile": "{}c run\nint main(void) { return x; }\n{}\n",
    "no such frame": "{}python run with=gone\npass\n{}\n",
    "a frame that looks at it": "{}c run with=check\nint check(const assay_verifier *v,"
                                "\n const char *j, size_t n, int64_t t) { return 1; }\n{}\n",
    "a configuration that is refused": '{}json config\n{"receipts": {"v3": "accept"}}\n{}\n',
    "a request that is refused": '{}json request\n{"operation": "assess-risk", "x": 1}\n{}\n',
    "a document that there is not": '{}json document\n{"kind": "transaction", "ok": true, '
                                    '"status": {"name": "ok"}, "plan": 1}\n{}\n',
    "SQL that is none": "{}sql run\ncreate tabel x (y);\n{}\n",
    "Swift that is none": "{}swift not-run=app\nlet = 1\n{}\n",
    "no such make target": "{}sh not-run=setup\nmake gone\n{}\n",
    "no such reason": "{}sh not-run=tired\ntrue\n{}\n",
    "no such line": "{}sh not-run=excerpt of=Makefile\nnever stood there\n{}\n",
    "no such message": "{}text not-run=message\nrejected.jws.algorithm: all is well\n{}\n",
    "no such row": "{}text not-run=measured\n| a |\n|---|\n| gone | 1 |\n{}\n",
}


def check_gate(suite, tools):
    """Check the faulty pages, and one good page."""
    folder = tools.scratch / "faulty"
    folder.mkdir(exist_ok=True)
    for name, text in {**FAULTY, "": "{}sh run\necho 1\n{}\n{}text output\n…\n{}\n"}.items():
        page = folder / (name.replace(" ", "-") + ".md")
        page.write_text(text.replace("{}", "```"))
        silent = Silent(name)
        run = PageRun(silent, tools, page)
        for block in blocks_of(page):
            run.take(block)
        run.flush()
        suite.expect(bool(silent.failed) == bool(name) and silent.passed + silent.failed,
                     f"the gate over a page with {name or 'no fault'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("library", "cli", "cases"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--php", type=pathlib.Path, default=ROOT / "bindings/php")
    parser.add_argument("--go", type=pathlib.Path, default=ROOT / "bindings/go")
    parser.add_argument("--swift", type=pathlib.Path, default=ROOT / "build/swift",
                        help="folder with the modules and archives of Assay and AssaySwift")
    parser.add_argument("--only", default="", help="pages whose path has this text")
    parser.add_argument("--suite", default="snippets")
    options = parser.parse_args()
    suite = Suite(options.suite)
    bindings = {"php": options.php.resolve(), "go": options.go.resolve(),
                "c": ROOT / "bindings/c"}
    tools = programs.Tools(options.library, options.cli, options.cases, bindings, options.swift)
    count = 0
    for page in pages(bindings):
        if options.only not in str(page.relative_to(ROOT) if page.is_relative_to(ROOT) else page):
            continue
        run = PageRun(suite, tools, page)
        for block in blocks_of(page):
            count += 1
            run.take(block)
        run.flush()
    if not options.only:
        check_gate(suite, tools)
    print(f"{count} blocks looked at")
    suite.finish()


if __name__ == "__main__":
    main()
