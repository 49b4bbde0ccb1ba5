#!/usr/bin/env python3
"""Check that library.py and layers.py find the faults that they exist to find.

Builds one sound library in C from the header's names, and variants of it with one fault each;
library.py must report exactly that fault. layers.py is tested with folders of two files.
"""
import pathlib
import platform
import subprocess
import sys
import tempfile

from project import ROOT, declared_functions, soname
from library import LARGEST, libcrypto_package
from report import Suite

HERE = pathlib.Path(__file__).resolve().parent
MAP = ROOT / "Sources/AssayABI/Link/assay.map"
SOUND = ["-shared", "-fPIC", "-O1", "-s", "-Wl,-z,now", "-Wl,-z,nodelete", "-Wl,--build-id=sha1",
         "-fstack-protector-all", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
         f"-Wl,-soname,{soname()}", f"-Wl,--version-script={MAP}"]


def code(functions, extra="", package=libcrypto_package()):
    lines = ["#include <stdlib.h>", "#include <stdio.h>", "#include <string.h>",
             "void *fortified(char *to, const char *from) { char of[9]; strcpy(of, from);"
             " return strcpy(to, of); }",
             f'const char *package = "OpenSSL {package}";']
    lines += [f"void *{name}(void) {{ return malloc(1); }}" for name in sorted(functions)]
    return "\n".join(lines + [extra, ""])


def without(*flags):
    return [flag for flag in SOUND if flag not in flags]


def variants(folder):
    """Yield (library.py's message, source, flags, arguments) for each fault."""
    functions = declared_functions()
    full = ["--shape", "full", "--crypto", "static"]
    plain = code(functions)
    missing = code(functions - {"assay_version"})
    yield None, plain, SOUND, full
    if libcrypto_package():
        yield "names libcrypto's package", code(functions, package="3"), SOUND, full
    yield ("asks for no file, variable, handler or program",
           code(functions, "char *(*keep)(const char *) = getenv;"), SOUND, full)
    yield "declared and exported", missing, SOUND, full
    more = folder / "more.map"
    more.write_text(MAP.read_text().replace("  local:", "    assay_extra;\n  local:"))
    yield ("nothing but the header is exported", code(functions | {"assay_extra"}),
           without(SOUND[-1]) + [f"-Wl,--version-script={more}"], full)
    other = folder / "other.map"
    other.write_text(MAP.read_text().replace("ASSAY_0", "OTHER_0"))
    yield ("every export has version ASSAY_0", plain,
           without(SOUND[-1]) + [f"-Wl,--version-script={other}"], full)
    linked = code(functions, "int deflate(void);"
                  "__attribute__((visibility(\"hidden\"))) int use(void);"
                  "int use(void) { return deflate(); } void *keep = (void *)use;")
    yield "needs no other library", linked, SOUND + [str(dummy(folder))], full
    yield ("GLIBC floor", code(functions, "#include <stdlib.h>\n"
           "unsigned arc4random(void); unsigned (*keep)(void) = arc4random;"), SOUND, full)
    yield ("asks nothing of whoever defines it",
           code(functions, "__attribute__((weak)) int of_the_host(void);"
                "int (*keep)(void) = of_the_host;"), SOUND, full)
    yield ("soname", plain,
           without(f"-Wl,-soname,{soname()}") + ["-Wl,-soname,libassay.so"], full)
    yield "no RUNPATH", plain, SOUND + ["-Wl,-rpath,$ORIGIN"], full
    yield "bound at load", plain, without("-Wl,-z,now") + ["-Wl,-z,lazy"], full
    yield "stays loaded", plain, without("-Wl,-z,nodelete"), full
    yield "has a build id", plain, without("-Wl,--build-id=sha1") + ["-Wl,--build-id=none"], full
    yield "read only once it is bound", plain, [*SOUND, "-Wl,-z,norelro"], full
    yield ("watches its stack", plain,
           without("-fstack-protector-all") + ["-fno-stack-protector"], full)
    yield ("watches the ends of buffers", plain, without("-D_FORTIFY_SOURCE=2"), full)
    yield "stripped", plain, without("-s"), full
    yield "stack not executable", plain, SOUND + ["-Wl,-z,execstack"], full
    machine = other_machine()
    yield "is for the machine", plain, SOUND, full + ["--machine", machine]
    yield ("needs no other library", linked,
           SOUND + [str(dummy(folder, LOADERS[machine]))], full)
    yield ("loads where pages are largest", plain,
           SOUND + ["-Wl,-z,max-page-size=4096,-z,common-page-size=4096"],
           full + ["--machine", "aarch64"])
    yield (f"at most {LARGEST['embedded']} bytes",
           code(functions, f"char big[{LARGEST['embedded']}] = {{1}};"), SOUND,
           ["--shape", "embedded", "--crypto", "static"])
    yield ("holds no test code or foreign runtime",
           code(functions, 'const char *word = "AssayAuthority";'), SOUND, full)
    yield ("holds no path of the machine that built it",
           code(functions, f'const char *word = "{ROOT}/Sources";'), SOUND, full)
    yield ("libcrypto comes from the host", plain, SOUND,
           ["--shape", "full", "--crypto", "shared"])
    yield ("asks for no file, socket, clock or thread",
           code(functions, "#include <time.h>\ntime_t (*keep)(time_t *) = time;"),
           SOUND, ["--shape", "embedded", "--crypto", "shared"])


LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}


def other_machine():
    """Return the name of a machine other than this one."""
    return next(name for name in LOADERS if name != platform.machine())


def dummy(folder, name="libdummy.so.1"):
    """Build a library that libassay.so must not need."""
    path = folder / name
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path),
                    f"-Wl,-soname,{name}"], check=True, text=True,
                   input="int deflate(void); int deflate(void) { return 1; }")
    return path


# Contents of the two files, the table of layers and types.tsv, and the expected message.
FLOORS = "| `Sources/Assay/Low` |\n| `Sources/Assay/High` |\n"
LOW, HIGH = "struct Low {}\n", "struct High { let low = Low() }\n"
HOUSES = [
    (None, LOW, HIGH, FLOORS, ""),
    (None, LOW, HIGH + "enum Other {}\n", FLOORS, "a family\tHigh/High\n"),
    (None, LOW, HIGH + "private enum Own {}\nextension Low {}\n", FLOORS, ""),
    ("Low uses only the floors below it", "struct Low { let high: High }\n",
     "struct High {}\n", FLOORS, ""),
    ("Low/Low.swift holds one type", LOW + "enum Other {}\n", HIGH, FLOORS, ""),
    ("Low/Low.swift holds one type", "struct Lower {}\n", "struct High {}\n", FLOORS, ""),
    ("Low/Low.swift needs its line in types.tsv", LOW, HIGH, FLOORS, "no reason\tLow/Low\n"),
    ("types.tsv names files that are there", LOW, HIGH, FLOORS, "gone\tLow/Gone\n"),
    ("names every folder once", LOW, HIGH, FLOORS.splitlines()[0] + "\n", ""),
]


def check_layers(suite, folder):
    for said, low, high, table, types in HOUSES:
        for name, text in [("Low/Low.swift", low), ("High/High.swift", high)]:
            path = folder / "house" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (folder / "table.md").write_text(table)
        (folder / "types.tsv").write_text(types)
        result = subprocess.run(
            [sys.executable, HERE / "layers.py", "--sources", folder / "house",
             "--table", folder / "table.md", "--types", folder / "types.tsv"],
            text=True, capture_output=True)
        met = (result.returncode == 0 if said is None
               else result.returncode == 1 and f" {said}" in result.stdout)
        suite.expect(met, f"layers: {said or 'a sound house passes'}",
                     result.stdout[:1000] + result.stderr[:1000])


def main():
    suite = Suite("gates-selftest")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number, (said, text, flags, arguments) in enumerate(variants(folder)):
            library = folder / f"lib{number}.so"
            subprocess.run(["gcc", "-x", "c", "-", "-x", "none", *flags, "-o", str(library)],
                           check=True, text=True, input=text)
            result = subprocess.run([sys.executable, HERE / "library.py", str(library),
                                     *arguments], text=True, capture_output=True)
            if said is None:
                suite.expect(result.returncode == 0, "a sound library passes",
                             result.stdout[:1000] + result.stderr[:1000])
            else:
                suite.expect(result.returncode == 1 and f": {said}" in result.stdout,
                             f"sees a library that breaks: {said}",
                             result.stdout[:1000] + result.stderr[:1000])
        check_layers(suite, folder)
    suite.finish()


if __name__ == "__main__":
    main()
