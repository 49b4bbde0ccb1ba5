#!/usr/bin/env python3
"""Check that include/assay.h compiles by itself in every supported language and that its comments
are valid; that include/assay.hpp compiles as C++17 and later, and has every call with a handle;
that include/assay_names.h has every value.

  header.py [--suite NAME]

Every declaration has a comment, which names only parameters that exist.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile

from project import HEADER, ROOT, declared_functions
from report import Suite
from tools.contract.reader import Contract
from tools.contract.text import constant

CPP = ROOT / "include/assay.hpp"
STANDARDS = [("c", standard) for standard in ("c99", "c11", "c17", "gnu17")] + [
    ("c++", standard) for standard in ("c++11", "c++14", "c++17", "c++20")]
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wundef", "-Wconversion",
          "-fsyntax-only"]
# Clang parses the comments and reports unknown parameters and unknown commands.
COMMENTS = ["-Wdocumentation", "-Wdocumentation-unknown-command"]
DECLARATION = re.compile(r"(/\*\*(?!<)(?:(?!\*/).)*\*/\s*)?"
                         r"((?:ASSAY_API\b[^;]*|typedef\b[^;]*|enum \{[^}]*\});)", re.S)
ONLY_C = ["-Wstrict-prototypes", "-Wold-style-definition"]


def source(functions):
    """Return a program that includes only the header, twice, and uses every declaration."""
    lines = ["#include <assay.h>", "#include <assay.h>",
             "typedef void (*any_function)(void);",
             "extern any_function const every_function[];",
             "any_function const every_function[] = {"]
    lines += [f"    (any_function){name}," for name in sorted(functions)]
    return "\n".join(lines + ["};", "extern int64_t const no_date;",
                              "int64_t const no_date = ASSAY_NO_DATE;", ""])


def compile_alone(compiler, language, standard, text):
    command = [compiler, "-x", language, f"-std={standard}", *STRICT,
               *(ONLY_C if language == "c" else []), "-I", str(ROOT / "include"), "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True)


def without_comment(text):
    """Return the declarations without a comment above, each by its first line."""
    code = re.sub(r"/\*(?!\*).*?\*/|^#.*?(?<!\\)$", "", text, flags=re.S | re.M)
    return [declaration.split("\n")[0] for comment, declaration in DECLARATION.findall(code)
            if not comment]


def check_comments(suite, text):
    bare = without_comment(text)
    suite.expect(not bare, "everything has a comment", "; ".join(bare))
    for old, new in (("#ifdef __cplusplus\n}", "ASSAY_API int assay_bare(void);\n}"),
                     ("/** A document: status", "/* An answer: status"),
                     ("/** Receipt formats. */", "")):
        suite.expect(len(without_comment(text.replace(old, new, 1))) == 1,
                     f"the gate sees a declaration without a comment: {new or old}")
    if shutil.which("clang") is None:
        suite.skip("comments", "clang is not installed")
        return
    for old, new in (("", ""), ("@param len receives", "@param length receives"),
                     ("@return NULL", "@returned NULL")):
        result = subprocess.run(
            ["clang", "-x", "c", "-std=c99", "-fsyntax-only", "-Werror", *COMMENTS, "-"],
            input=text.replace(old, new, 1), text=True, capture_output=True)
        suite.expect((result.returncode == 0) == (old == ""),
                     f"clang reads the comments{f', and sees {new}' if new else ''}", result.stderr)


def check_cpp(suite, functions):
    """Check that assay.hpp compiles without a warning, and calls each function about a handle."""
    text = CPP.read_text()
    missing = sorted(name for name in functions if not re.search(rf"\b{name}\b", text)
                     and not re.match(r"assay_(version|build_info|status_next)", name))
    suite.expect(not missing, "assay.hpp has every function about a handle", " ".join(missing))
    lines = [number for number, line in enumerate(text.splitlines(), 1) if len(line) > 100]
    suite.expect(not lines, "assay.hpp: 100 columns", str(lines))
    program = "#include <assay.hpp>\n#include <assay.hpp>\n"
    for compiler in COMPILERS["c++"]:
        if shutil.which(compiler) is None:
            suite.skip(f"assay.hpp with {compiler}", "not installed")
            continue
        for standard in ("c++17", "c++20"):
            result = compile_alone(compiler, "c++", standard, program)
            suite.expect(result.returncode == 0, f"assay.hpp: {compiler} -std={standard}",
                         result.stderr[:2000])
        result = compile_alone(compiler, "c++", "c++14", program)
        suite.expect("assay.hpp needs C++17" in result.stderr,
                     f"assay.hpp: {compiler} -std=c++14 is told what it needs")


def check_names(suite):
    """Check that assay_names.h compiles alone, that each value is a constant of its kind, and that
    every set that hosts have is there."""
    lines = ["#include <assay_names.h>", "#include <assay_names.h>", "#include <assay.h>",
             "extern const char *const texts[];", "extern const int numbers[];"]
    values = [(f"ASSAY_{constant(each.name)}_{constant(name)}", each.is_numeric)
              for each in Contract().value_sets for name, _ in each.values]
    for head, is_numeric in (("const char *const texts[]", False), ("const int numbers[]", True)):
        lines += [f"{head} = {{", *(f"    {name}," for name, number in values
                                    if number == is_numeric), "};"]
    for language, standard in (("c", "c99"), ("c++", "c++11")):
        for compiler in COMPILERS[language]:
            if shutil.which(compiler) is None:
                suite.skip(f"assay_names.h with {compiler}", "not installed")
                continue
            result = compile_alone(compiler, language, standard, "\n".join([*lines, ""]))
            suite.expect(result.returncode == 0, f"assay_names.h: {compiler} -std={standard}",
                         result.stderr[:2000])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="header")
    suite = Suite(parser.parse_args().suite)
    functions = declared_functions()
    suite.expect(functions, "the header declares functions")
    for language, standard in STANDARDS:
        for compiler in COMPILERS[language]:
            what = f"{compiler} -std={standard}"
            if shutil.which(compiler) is None:
                suite.skip(what, "not installed")
                continue
            result = compile_alone(compiler, language, standard, source(functions))
            suite.expect(result.returncode == 0, what, result.stderr[:2000])
            broken = compile_alone(compiler, language, standard,
                                   source(functions | {"assay_not_declared"}))
            suite.expect(broken.returncode != 0, f"{what} sees an undeclared function")
    long_lines = [number for number, line in enumerate(HEADER.read_text().splitlines(), 1)
                  if len(line) > 80]
    suite.expect(not long_lines, "80 columns", str(long_lines))
    check_comments(suite, HEADER.read_text())
    check_cpp(suite, functions)
    check_names(suite)
    with tempfile.TemporaryDirectory() as folder:
        alone = pathlib.Path(folder) / "assay.h"
        alone.write_text(HEADER.read_text())
        result = subprocess.run(["gcc", "-std=c99", *STRICT, "-x", "c", str(alone)],
                                text=True, capture_output=True)
        suite.expect(result.returncode == 0, "needs no other file of ours",
                     result.stderr[:2000])
    suite.finish()


if __name__ == "__main__":
    main()
