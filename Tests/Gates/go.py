#!/usr/bin/env python3
"""Run the tests of the Go module against one build of the library, and count them.

  go.py LIBRARY [--suite NAME] [--race] [--tags TAGS] [--run PATTERN] [--style]

LIBRARY is the folder with libassay.so. --style instead runs gofmt and go vet, and checks that
another module can use this one by `replace`.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess

from project import HEADER, ROOT
from report import Suite

MODULE = ROOT / "bindings/go"
SHOPS = (ROOT / "examples/gin", ROOT / "examples/nethttp", ROOT / "examples/migrate/go")
# Drivers of database/sql, from Debian, for the tests of the package ledger.
GOCODE = pathlib.Path("/usr/share/gocode/src")
DRIVERS = ("github.com/mattn/go-sqlite3", "github.com/lib/pq",
           "github.com/go-sql-driver/mysql")
OUTSIDE = ROOT / "Tests/Benchmarks/overhead_go"
SHOWN_OF_A_FAILURE = 60


def pkg_config(suite, library):
    """Write an assay.pc for a build that is not installed, and return its folder."""
    place = ROOT / "build/go" / suite
    place.mkdir(parents=True, exist_ok=True)
    version = re.search(r'ASSAY_VERSION "(.*?)"', HEADER.read_text())[1]
    (place / "assay.pc").write_text(
        f"Name: assay\nDescription: libassay of the build tree\nVersion: {version}\n"
        f"Libs: -L{library} -lassay\nCflags: -I{ROOT / 'include'}\n")
    return str(place)


def environment(suite, library):
    """Return variables under which go downloads nothing, neither modules nor a toolchain."""
    own = {}
    if not {"HOME", "XDG_CACHE_HOME", "GOCACHE"} & set(os.environ):
        own["GOCACHE"] = str(ROOT / "build/go/cache")
    return {**os.environ, **own, "PKG_CONFIG_PATH": pkg_config(suite, library),
            "LD_LIBRARY_PATH": str(library), "CGO_ENABLED": "1", "GOPROXY": "off",
            "GOTOOLCHAIN": "local", "GOFLAGS": ""}


def with_drivers(suite):
    """Return arguments of go that add the drivers to the module; none if Debian's are not
    installed."""
    missing = [name for name in DRIVERS if not (GOCODE / name / "go.mod").exists()]
    if missing:
        suite.skip("drivers of databases", f"not below {GOCODE}: {' '.join(missing)}")
        return []
    manifest = ROOT / "build/go" / suite.name / "drivers.mod"
    lines = [(MODULE / "go.mod").read_text()]
    for name in DRIVERS:
        lines += [f"require {name} v0.0.0", f"replace {name} => {GOCODE / name}"]
    manifest.write_text("\n".join(lines) + "\n")
    return [f"-modfile={manifest}"]


def in_gopath(suite, variables, program):
    """Return variables for GOPATH mode, in which go finds the binding and Debian's packages, which
    are no modules, for the program of a folder; None if a package is missing."""
    wanted = re.findall(r"^\t(github\.com/\S+)", (program / "go.mod").read_text(), re.M)
    missing = [name for name in wanted if not (GOCODE / name).is_dir()]
    if missing:
        suite.skip("packages of Debian", f"not below {GOCODE}: {' '.join(missing)}")
        return None
    path = ROOT / "build/go" / suite.name / "gopath"
    module = (MODULE / "go.mod").read_text().split()[1]
    binding = path / "src" / module
    shutil.rmtree(path, ignore_errors=True)
    binding.parent.mkdir(parents=True)
    binding.symlink_to(MODULE)
    return {**variables, "GO111MODULE": "off", "GOPATH": f"{path}:{GOCODE.parent}"}


def tags_of(*given):
    return ["-tags", ",".join(filter(None, given))] if any(given) else []


def events(command, module, variables):
    """Return the events of `go test -json`, and the lines that are not events."""
    process = subprocess.Popen(command, cwd=module, env=variables, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, errors="replace")
    for line in process.stdout:
        try:
            yield json.loads(line)
        except ValueError:
            yield {"Action": "output", "Output": line}
    yield {"Action": "exit", "Code": process.wait()}


def run_tests(suite, options, variables):
    command = ["go", "test", "-json", "-count=1", "-timeout=30m"]
    drivers = with_drivers(suite)
    command += ["-race"] * options.race + drivers
    command += tags_of(options.tags, "assay_drivers" if drivers else "")
    if options.run:
        command += ["-run", options.run]
    results, output, packages, code = {}, {}, set(), 0
    for event in events([*command, "./..."], MODULE, variables):
        test = (event.get("Package"), event.get("Test"))
        if event["Action"] == "output":
            output.setdefault(test, []).append(event["Output"].rstrip())
        elif event["Action"] == "exit":
            code = event["Code"]
        elif event["Action"] in ("pass", "fail", "skip"):
            if test[1]:
                results[test] = event["Action"]
            else:
                packages.add(test[0])
    parents = {(package, name.rsplit("/", 1)[0]) for package, name in results if "/" in name}
    for test, result in results.items():
        if result == "skip":
            why = [line for line in output.get(test, ()) if ".go:" in line]
            suite.skip(test[1], " ".join(why).strip() or "it does not say why")
        elif test not in parents or result == "fail":
            shown = "\n  " + "\n  ".join(output.get(test, ())[-SHOWN_OF_A_FAILURE:])
            suite.expect(result == "pass", test[1], shown)
    if code and not suite.failed:
        rest = [line for (_, name), lines in output.items() if not name for line in lines]
        suite.expect(False, "go test", "\n  " + "\n  ".join(rest[-SHOWN_OF_A_FAILURE:]))
    suite.expect(len(packages) >= 3 or options.run, "the packages with tests ran",
                 " ".join(sorted(package or "?" for package in packages)))


def run(command, folder, variables):
    return subprocess.run(command, cwd=folder, env=variables, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL)


# A constant with its value, which gofmt aligns by the longest name: nobody can break such a line.
ALIGNED = re.compile(r'\t\w+ +\w+ = "[^"]*"')


def check_style(suite, _, variables):
    for folder in (MODULE, OUTSIDE, *SHOPS):
        name = folder.relative_to(ROOT)
        found = run(["gofmt", "-l", "."], folder, variables)
        suite.expect(found.returncode == 0 and not found.stdout, f"{name} is as gofmt writes it",
                     found.stdout + found.stderr)
        files = sorted(folder.rglob("*.go"))
        suite.expect(files, f"{name} has sources")
        long = [f"{path.name}:{number}" for path in files
                for number, line in enumerate(path.read_text().splitlines(), 1)
                if len(line.expandtabs(4)) > 100 and not ALIGNED.fullmatch(line)]
        suite.expect(not long, f"{name} has lines of at most 100 columns", " ".join(long))
    for tags in ("", "assay_gcstress"):
        found = run(["go", "vet", "-tags", tags, "./..."], MODULE, variables)
        suite.expect(found.returncode == 0, f"go vet {tags}", found.stderr)
    drivers = with_drivers(suite)
    if drivers:
        found = run(["go", "vet", *drivers, "-tags", "assay_drivers", "./..."], MODULE, variables)
        suite.expect(found.returncode == 0, "go vet assay_drivers", found.stderr)
    found = run(["go", "vet", "./..."], OUTSIDE, variables)
    suite.expect(found.returncode == 0, "another module uses it by replace", found.stderr)
    manifest = (MODULE / "go.mod").read_text()
    suite.expect("\ngo 1.19\n" in manifest and "require" not in manifest,
                 "go.mod asks for Go 1.19 and no other module")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--suite", default="go")
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--tags", default="")
    parser.add_argument("--run", help="only the tests that match")
    parser.add_argument("--style", action="store_true")
    options = parser.parse_args()
    suite = Suite(options.suite)
    if not shutil.which("go"):
        suite.expect(False, "go is on PATH", "install Debian's golang-go: tools/deps.sh check")
        suite.finish()
    variables = environment(options.suite, options.library.resolve())
    (check_style if options.style else run_tests)(suite, options, variables)
    suite.finish()


if __name__ == "__main__":
    main()
