"""Run blocks that are programs: put each into its frame, compile, run, and compare its output."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))
sys.path.append(str(ROOT / "Tests/Gates"))

import node_tools  # noqa: E402
import python_tools  # noqa: E402
from tools.contract.reader import Contract  # noqa: E402

FRAMES = pathlib.Path(__file__).resolve().parent / "frames"
# Packages of Tests/requirements.txt that a page compares with, by the word that names them.
PEERS = ("app-store-server-library", "sqlalchemy", "fastapi", "django", "flask")
# The files that frames include or import.
EVIDENCE = FRAMES.parent / "evidence"
SECONDS = 300
ENDINGS = {"python": ".py", "c": ".c", "sh": ".sh", "php": ".php", "go": ".go",
           "swift": ".swift", "sql": ".sql", "js": ".mjs", "ts": ".mts"}
# What `make node` builds: a program below this folder's parent imports it by its name.
NODE_MODULES = ROOT / "build/node/node_modules"

# What is needed by a block that uses node:sqlite: a newer Node.js than Debian's.
NODE_SQLITE = "node-sqlite"

# Modules of Go that blocks may use, from Debian.
GOCODE = pathlib.Path("/usr/share/gocode/src")
GO_MODULES = {"go-sqlite3": "github.com/mattn/go-sqlite3"}


class Tools:
    """The library, the command line and the bindings with which blocks are run."""

    def __init__(self, library, cli, cases, bindings, swift):
        for path in (library, cli, cases):
            if not path.exists():
                raise SystemExit(f"{path} is not there: build it first")
        self.library, self.cli = library.resolve(), cli.resolve()
        self.cases, self.bindings, self.swift = cases.resolve(), bindings, swift.resolve()
        self.peers = None
        self.scratch = ROOT / "build/snippets"
        self.prefix = self.scratch / "prefix"
        self.repository = self.scratch / "repository"
        self.install()
        self.gather()

    def install(self):
        """Install what `make install` installs, from the library and command line given."""
        shutil.rmtree(self.prefix, ignore_errors=True)
        for name in ("bin", "include", "lib/pkgconfig"):
            (self.prefix / name).mkdir(parents=True)
        (self.prefix / "bin/assay").symlink_to(self.cli)
        for name in ("assay.h", "assay.hpp"):
            shutil.copy(ROOT / "include" / name, self.prefix / "include")
        for name in (self.library.name, "libassay.so"):
            (self.prefix / "lib" / name).symlink_to(self.library)
        version = re.search(r'ASSAY_VERSION "(.*)"', (ROOT / "include/assay.h").read_text())[1]
        text = (ROOT / "bindings/c/assay.pc.in").read_text()
        for name, value in [("PREFIX", str(self.prefix)), ("LIBDIR", "${prefix}/lib"),
                            ("INCLUDEDIR", "${prefix}/include"), ("VERSION", version)]:
            text = text.replace(f"@{name}@", value)
        (self.prefix / "lib/pkgconfig/assay.pc").write_text(text)

    def gather(self):
        """Make a folder in which bindings and examples are as in the repository, wherever they
        are."""
        shutil.rmtree(self.repository, ignore_errors=True)
        (self.repository / "bindings").mkdir(parents=True)
        for name, folder in self.bindings.items():
            (self.repository / "bindings" / name).symlink_to(folder)
        (self.repository / "examples").symlink_to(ROOT / "examples")

    def prepare(self, folder):
        """Write what a page's folder has before its first block: Composer's autoloader, and the
        folder of Node.js packages."""
        if self.missing("node") is None:
            (folder / "node_modules").symlink_to(NODE_MODULES)
        if self.missing("php") is None:
            (folder / "vendor").mkdir()
            (folder / "vendor/autoload.php").write_text(
                "<?php require getenv('ASSAY') . '/bindings/php/autoload.php';\n")

    def packages(self):
        """Return the folder of the packages of peers, and None; or None, and why there are none."""
        if self.peers is None:
            programs, why = python_tools.installed()
            found = programs and next(programs.parent.glob("lib/python3*/site-packages"))
            self.peers = found, why
        return self.peers

    def environment(self, needs=""):
        """Return the environment of a program: only the installation above, the bindings' folders,
        and the packages that it needs."""
        lib = str(self.prefix / "lib")
        peers = f":{self.packages()[0]}" if set(needs.split(",")) & set(PEERS) else ""
        path = os.environ["PATH"]
        if NODE_SQLITE in needs.split(","):
            path = f"{node_tools.find_program()[0].parent}:{path}"
        return dict(
            os.environ, PATH=f"{self.prefix}/bin:{path}", LD_LIBRARY_PATH=lib,
            PKG_CONFIG_PATH=f"{lib}/pkgconfig", ASSAY_LIBRARY=str(self.library),
            PYTHONPATH=f"{ROOT}/bindings/python:{ROOT}/bindings/python_testing:{EVIDENCE}"
            + peers,
            ASSAY_PROGRAM=f"{self.prefix}/bin/assay",
            ASSAY=str(self.repository), ASSAY_EVIDENCE=str(EVIDENCE), GOPROXY="off",
            GOFLAGS="-mod=mod")

    def missing(self, name):
        """Return why blocks that need `name` cannot be run, or None."""
        if name in self.bindings:
            if not self.bindings[name].is_dir():
                return f"bindings/{name} is not there"
        if name in PEERS:
            return self.packages()[1]
        if name in GO_MODULES:
            path = GOCODE / GO_MODULES[name]
            return None if path.is_dir() else f"{path} is not there"
        if name == NODE_SQLITE:
            return self.missing("node") or node_tools.find_program()[1]
        if name == "node" and not (NODE_MODULES / "assay").is_dir():
            return "build/node is not there: make node"
        if name == "swift":
            return None if (self.swift / "libAssaySwift.a").exists() else "build/swift is not there"
        return None if shutil.which(name) else f"{name} is not installed"


class Program:
    """A block that is run, the blocks that continue it, and their output."""

    def __init__(self, block):
        self.language, self.blocks, self.outputs = block.language, [block], []

    def add(self, block):
        self.blocks.append(block)

    def expect_output(self, block):
        self.blocks.append(block)
        self.outputs.append(block.text)

    @property
    def text(self):
        return "".join(block.text for block in self.blocks if not block.has("output"))

    def word(self, name):
        return self.blocks[0].words.get(name)


class Skipped(Program):
    """A program that cannot be run here: the blocks that belong to it are skipped too."""


def framed(text, frame, language):
    """Return the frame with the text in place of its SNIPPET line, indented like it."""
    path = FRAMES / (frame + ENDINGS[language])
    if not path.exists():
        raise ValueError(f"no frame {path.relative_to(ROOT)}")
    frame_text = path.read_text()
    for name, other in re.findall(r"^\s*(?:#|//) REPLACES (.+) WITH (.+)$", frame_text, re.M):
        text = text.replace(name, other)
    out, placed = [], False
    for line in frame_text.splitlines():
        mark = re.match(r"^(\s*)(?:#|//|/\*)\s*SNIPPET\b", line)
        if mark:
            placed = True
            out += [(mark[1] + inner).rstrip() for inner in text.splitlines()]
        else:
            out.append(line)
    if not placed:
        raise ValueError(f"{path.name} has no SNIPPET line")
    return "\n".join(out) + "\n"


def source_of(program):
    frame = program.word("with")
    return framed(program.text, frame, program.language) if frame else program.text


def call(command, folder, tools, needs="", **more):
    return subprocess.run([str(word) for word in command], cwd=folder, text=True,
                          capture_output=True, env=tools.environment(needs), timeout=SECONDS,
                          stdin=subprocess.DEVNULL, errors="replace", **more)


def pkg_config(tools):
    return call(["pkg-config", "--cflags", "--libs", "assay", "libcjson"], ROOT,
                tools).stdout.split()


def build_c(source, folder, tools):
    strict = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror",
              "-Wno-unused", "-I", EVIDENCE]
    result = call(["gcc", *strict, source, "-o", source.with_suffix(""),
                   *pkg_config(tools), "-pthread"], folder, tools)
    return result, [source.with_suffix("")]


def build_swift(source, folder, tools):
    modules = ["AssaySwift", "Assay"]
    libraries = ["-lcrypto", "-lm"]
    if "import AssaySQLite" in source.read_text():
        modules, libraries = ["AssaySQLite", *modules], ["-lsqlite3", *libraries]
    result = call(["swiftc", "-swift-version", "6", "-Onone", "-module-name", "Program",
                   "-static-stdlib", "-suppress-warnings", "-I", tools.swift,
                   "-I", ROOT / "Sources/CLibCrypto", "-I", ROOT / "Sources/CSQLite", source,
                   *(tools.swift / f"lib{module}.a" for module in modules), *libraries,
                   "-o", source.with_suffix("")], folder, tools)
    return result, [source.with_suffix("")]


def build_go(source, folder, tools):
    """Build a module of its own, which has the binding by a replace. With packages of Debian, which
    has no modules, it is built in the older way."""
    module = folder / source.stem
    module.mkdir()
    source.rename(module / "main.go")
    shutil.copy(EVIDENCE / "evidence.go", module)
    program = folder / f"{source.stem}.program"
    command = ["go", "build", "-o", program, "."]
    name, binding = "assay.example/bindings/go", tools.bindings["go"]
    text = (module / "main.go").read_text()
    if any(f'"{path}"' in text for path in GO_MODULES.values()):
        place = module / "gopath/src" / name
        place.parent.mkdir(parents=True)
        place.symlink_to(binding)
        command = ["env", "GO111MODULE=off", "GOFLAGS=",
                   f"GOPATH={module}/gopath:{GOCODE.parent}", *command]
    else:
        (module / "go.mod").write_text(
            f"module block\n\ngo 1.19\n\nrequire {name} v0.0.0\n\nreplace {name} => {binding}\n")
    return call(command, module, tools), [program]


BUILDERS = {"c": build_c, "swift": build_swift, "go": build_go}
RUNNERS = {"python": lambda source: ["python3", source],
           "sh": lambda source: ["bash", "-e", "-o", "pipefail", source],
           "php": lambda source: ["php", source],
           "js": lambda source: ["node", source],
           "ts": lambda source: ["node", source],
           "sql": lambda source: ["sqlite3", "-bail", ":memory:", f".read {source}"]}


def run(program, folder, tools):
    """Run one program; None if it ended and printed what the page has."""
    if program.language not in BUILDERS and program.language not in RUNNERS:
        return f"no way to run {program.language!r}"
    try:
        text = source_of(program)
    except ValueError as problem:
        return str(problem)
    source = folder / f"block{program.blocks[0].line}{ENDINGS[program.language]}"
    source.write_text(text)
    try:
        if program.language in BUILDERS:
            result, command = BUILDERS[program.language](source, folder, tools)
            if result.returncode:
                return "does not compile: " + (result.stderr + result.stdout)[-2500:]
        else:
            command = RUNNERS[program.language](source)
        needs = NODE_SQLITE if program.language == "ts" else program.word("needs") or ""
        result = call(command, folder, tools, needs=needs)
    except subprocess.TimeoutExpired:
        return f"did not end in {SECONDS} s"
    return judged(program, result)


def judged(program, result):
    wanted = int(program.word("exit") or 0)
    if result.returncode != wanted:
        return (f"ended with {result.returncode}, not {wanted}: "
                + (result.stdout + result.stderr)[-2500:])
    if program.outputs:
        return difference("".join(program.outputs), result.stdout)
    return None


def difference(wanted, printed):
    """Return the difference of two outputs, in which … matches anything; None if they agree."""
    pattern = ".*?".join(re.escape(part) for part in wanted.strip().split("…"))
    if re.fullmatch(pattern, printed.strip(), re.S):
        return None
    return f"printed\n{printed}not\n{wanted}"


def write_file(block, folder, tools):
    """Write a block with file=NAME for the blocks that follow."""
    path = folder / block.words["file"]
    if not path.resolve().is_relative_to(folder.resolve()):
        return f"{path} is outside of the page's folder"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text)
    return None


# ---- blocks that are not run -------------------------------------------------

def look_at_nothing(block, tools):
    return None


def parse_swift(block, tools):
    result = call(["swiftc", "-frontend", "-parse", "-swift-version", "6",
                   saved(block, ".swift", tools)], ROOT, tools)
    return result.stderr[-2000:] if result.returncode else None


def check_setup(block, tools):
    """Check that the shell parses a block, and that every make target in it exists."""
    result = call(["bash", "-n", saved(block, ".sh", tools)], ROOT, tools)
    if result.returncode:
        return result.stderr
    makefiles = [ROOT / "Makefile", *ROOT.glob("*/*.mk")]
    rules = "\n".join(path.read_text() for path in makefiles)
    for line in re.split(r"\n|&&", re.sub(r"#.*", "", block.text)):
        words = line.split()
        if words[:1] != ["make"]:
            continue
        for target in [word for word in words[1:] if "=" not in word]:
            if not re.search(rf"^[\w -]*\b{re.escape(target)}\b[\w -]*:", rules, re.M):
                return f"make has no target {target}"
    return None


def check_message(block, tools):
    """Check a refusal in a log: the sentences of the status with which it begins."""
    text = " ".join(block.text.split())
    name = text.partition(":")[0]
    for row in Contract().statuses:
        if row.name == name:
            said, _, hint = text.removeprefix(f"{name}: ").partition("; hint: ")
            hint, elided, _ = hint.partition("…")
            hint = hint.strip()
            fits = any(known.startswith(hint) if elided else known == hint
                       for known in [row.hint, *(hint for _, hint in row.hints)])
            return None if said.startswith(row.message) and fits else \
                f"{name} says: {row.message}; {row.hint}"
    return f"no status {name!r}"


def rows_of(path):
    """Return the columns of each line of a table."""
    return [line.split("\t") for line in path.read_text().splitlines()]


def check_rows(block, tools):
    """Check that the benchmark measures every row of the table."""
    measured = "".join(path.read_text() for path in (ROOT / "Tests/Benchmarks").glob("*.[cp]*"))
    for line in block.text.splitlines()[2:]:
        name = line.strip("| ").partition("|")[0].strip()
        if name and f'"{name}"' not in measured:
            return f"the benchmark has no row {name!r}"
    return None


def check_excerpt(block, tools):
    """Check that every line of a block is, in this order, in the file that `of` names."""
    path = ROOT / block.words.get("of", "")
    if not path.is_file():
        return "excerpt without of=FILE"
    lines = iter(line.strip() for line in path.read_text().splitlines())
    for line in filter(None, map(str.strip, block.text.splitlines())):
        if line != "…" and line not in lines:
            return f"{path.name} has no line {line!r} there"
    return None


def saved(block, ending, tools):
    path = tools.scratch / ("looked-at" + ending)
    path.write_text(block.text)
    return path
