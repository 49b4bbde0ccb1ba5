#!/usr/bin/env python3
"""Gate over include/assay.h: it compiles alone, in every language it promises, and every
declaration has its comment, which names what is there (clang's -Wdocumentation).

  header.py [--suite NAME]
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile

from contract import HEADER, ROOT, declared_functions
from report import Suite

STANDARDS = [("c", standard) for standard in ("c99", "c11", "c17", "gnu17")] + [
    ("c++", standard) for standard in ("c++11", "c++14", "c++17", "c++20")]
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wundef", "-Wconversion",
          "-fsyntax-only"]
DOCUMENTED = {"clang": ["-Wdocumentation"], "clang++": ["-Wdocumentation"]}
ONLY_C = ["-Wstrict-prototypes", "-Wold-style-definition"]


def source(functions):
    """A program of only the header, included twice, that names everything."""
    lines = ["#include <assay.h>", "#include <assay.h>",
             "typedef void (*any_function)(void);",
             "extern any_function const every_function[];",
             "any_function const every_function[] = {"]
    lines += [f"    (any_function){name}," for name in sorted(functions)]
    return "\n".join(lines + ["};", "extern int64_t const no_date;",
                              "int64_t const no_date = ASSAY_NO_DATE;", ""])


def compile_alone(compiler, language, standard, text, folder=ROOT / "include"):
    command = [compiler, "-x", language, f"-std={standard}", *STRICT, *DOCUMENTED.get(compiler, ()),
               *(ONLY_C if language == "c" else []), "-I", str(folder), "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True)


def undocumented(text):
    """The declarations before which no comment ends; a macro may have it behind."""
    lines = text.splitlines()
    return [line for before, line in zip(lines, lines[1:])
            if re.match(r"typedef |enum |ASSAY_API |#define ASSAY_(?!H$|API)", line)
            and not before.endswith("*/") and not line.endswith("*/")]


def check_comments(suite, functions):
    text = HEADER.read_text()
    bare = undocumented(text)
    suite.expect(not bare, "every declaration has its comment", " ".join(bare))
    last = "#ifdef __cplusplus\n}"
    suite.expect(undocumented(text.replace(last, f"\nASSAY_API int assay_bare(void);\n{last}")),
                 "a function without a comment is seen")
    if shutil.which("clang") is None:
        suite.skip("comments that name what is not there", "clang is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "assay.h")
        path.write_text(text.replace("@param ", "@param not_", 1))
        said = compile_alone("clang", "c", "c17", source(functions), folder).stderr
        suite.expect("not_" in said, "a comment that names what is not there is seen", said[:500])


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
    check_comments(suite, functions)
    long_lines = [number for number, line in enumerate(HEADER.read_text().splitlines(), 1)
                  if len(line) > 80]
    suite.expect(not long_lines, "80 columns", str(long_lines))
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
