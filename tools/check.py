#!/usr/bin/env python3
"""Run everything that must pass, in order, and add the counts up.

  tools/check.py              all steps
  tools/check.py NAME...      these steps alone
  tools/check.py --list       their names

Each step is one make target. It prints lines of the form
"suite NAME: N passed, N failed, N skipped"; a step that fails without such a
line, or passes without one, counts as one failure (steps that only build
something count as one pass). The last line has the sums.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "check"
COUNTS = re.compile(r"suite (\S+): (\d+) passed, (\d+) failed, (\d+) skipped")
SHOWN_OF_A_FAILURE = 80

ALL = ["full", "embedded", "full-shared", "embedded-shared"]
BOTH = ["full", "embedded"]


def each(target, variants):
    """check-library over two builds: check-library-full check-library-embedded."""
    return [f"check-{target}-{variant}" for variant in variants]


# (name, make arguments, what it does; True when it only builds)
STEPS = [
    ("generated", ["check-generated"], "generated files are in step", False),
    ("statuses", ["check-statuses"], "status numbers and names are what they were", False),
    ("format", ["check-format"], "Swift style", False),
    ("sources", ["check-sources"], "what the library's sources may use", False),
    ("header", ["check-header"], "assay.h in C99 to C17 and C++", False),
    ("reference", ["check-reference"], "doxygen", False),
    ("gates", ["check-selftest"], "the gates see what they should", False),
    ("abi", ["check-abi"], "the header keeps the ABI baseline", False),
    ("build", ["all"], "the library", True),
    ("build-embedded", ["all", "EMBEDDED=1"], "the Embedded library", True),
    ("build-shared", ["all", "CRYPTO=shared"], "the library over the host's libcrypto", True),
    ("build-embedded-shared", ["all", "EMBEDDED=1", "CRYPTO=shared"],
     "the Embedded library over the host's libcrypto", True),
    ("library", each("library", ALL), "what the libraries show and hold", False),
    ("schema", ["check-schema"], "the configuration's schema says what is accepted", False),
    ("cases", ["cases"], "command line, case table", True),
    ("cli", ["check-cli"], "the command line: triage, report and the rest", False),
    ("smoke", each("smoke", ALL), "the C ABI over all cases", False),
    ("properties", ["check-properties"],
     "what holds for decisions about any evidence, 100,000 times", False),
    ("documents", ["check-documents"], "all builds answer the same bytes", False),
    ("smoke-sanitized", each("smoke-sanitized", BOTH), "the same under ASan and UBSan", False),
    ("threads", each("threads", BOTH), "verifiers shared by threads", False),
    ("fork", [*each("fork", BOTH), *each("fork-inside", ALL)],
     "verifiers across fork, children forked at any moment", False),
    ("soak", each("soak", BOTH), "many calls, flat memory", False),
    ("reload", each("reload", ALL), "dlopen and dlclose, signals untouched", False),
    ("guest", [*each("guest", ALL), *each("secrets", ALL)],
     "no file, handler or error of the host touched; no secret left behind", False),
    ("swift", ["check-swift"], "the Swift tests", False),
    ("python", each("python", BOTH), "the Python binding", False),
    ("wheel", ["wheel", "check-wheel"], "the wheel in an environment of its own", False),
    ("go", [*each("go", BOTH), "check-go-race", "check-go-gcstress", "check-go-style"],
     "the Go module", False),
    ("php", ["check-php-ffi", "check-php-ext"], "the PHP binding, by FFI and extension", False),
    ("php-fpm", ["check-php-fpm"], "php-fpm and php-cgi, preloaded FFI and extension", False),
    ("python-lint", ["check-python-lint"], "ruff and mypy over the Python binding", False),
    ("sdist", ["sdist", "check-sdist"], "the Python part alone, by pip", False),
    ("arm64", ["check-arm64"], "the library and the wheel for 64-bit ARM, under qemu", False),
    ("layer", ["layer", "check-layer"], "the AWS Lambda layers as Lambda unpacks them", False),
    ("auditwheel", ["check-auditwheel"], "auditwheel agrees with the wheels' tags", False),
    ("c", ["check-c"], "install, pkg-config, CMake, the C examples", False),
    ("man", ["check-man"], "the manual pages", False),
    ("install", ["check-install"], "make install and uninstall, completion", False),
    ("dist", ["check-dist"], "the folder of a release, its bill of materials", False),
    ("deb", ["check-deb"], "the Debian packages", False),
    ("fuzz", ["check-fuzz"], "the fuzz corpus once more", False),
    ("docs", ["docs", "check-site", "check-snippets"],
     "the documentation site, its links, and every code block in it", False),
    ("demo", ["demo"], "the demonstration", True),
    ("valgrind", each("valgrind", BOTH), "definite leaks", False),
    ("thread-sanitizer", ["check-thread-sanitizer"], "data races", False),
]


class Totals:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.broken = []

    def add(self, passed, failed, skipped):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped


def run(name, arguments, only_builds, totals):
    """Run one step; its output goes to build/check/NAME.log."""
    log = LOGS / f"{name}.log"
    counted = failed = 0
    with log.open("w") as out:
        process = subprocess.Popen(
            ["make", "--no-print-directory", "-k", *arguments], cwd=ROOT, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            errors="replace")
        for line in process.stdout:
            out.write(line)
            found = COUNTS.fullmatch(line.strip())
            if found:
                numbers = [int(number) for number in found.groups()[1:]]
                counted += sum(numbers)
                failed += numbers[1]
                totals.add(*numbers)
            if found or line.startswith(("skipped ", "FAILED ")):
                print("   " + line.rstrip()[:300], flush=True)
        code = process.wait()
    if code == 0 and only_builds and not counted:
        totals.add(1, 0, 0)
        print(f"   suite {name}: 1 passed, 0 failed, 0 skipped", flush=True)
    elif code == 0 and not counted:
        totals.add(0, 1, 0)
        print(f"   suite {name}: 0 passed, 1 failed, 0 skipped (it counted nothing)")
        failed = 1
    elif code != 0 and not failed:
        totals.add(0, 1, 0)
        print(f"   suite {name}: 0 passed, 1 failed, 0 skipped", flush=True)
        failed = 1
    if code != 0 or failed:
        totals.broken.append(name)
        print(f"   FAILED step {name}. Alone: make {' '.join(arguments)}; all of its "
              f"output: {log.relative_to(ROOT)}. The end of it:")
        for line in log.read_text(errors="replace").splitlines()[-SHOWN_OF_A_FAILURE:]:
            print("   | " + line[:400])
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = [step[0] for step in STEPS]
    if options.list:
        print("\n".join(names))
        return 0
    unknown = set(options.steps) - set(names)
    if unknown:
        parser.error(f"no step {' '.join(sorted(unknown))}")
    LOGS.mkdir(parents=True, exist_ok=True)
    totals = Totals()
    chosen = [step for step in STEPS if not options.steps or step[0] in options.steps]
    for number, (name, arguments, what, only_builds) in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {name}: {what}", flush=True)
        begin = time.monotonic()
        run(name, arguments, only_builds, totals)
        print(f"   {time.monotonic() - begin:.0f} s", flush=True)
    if totals.broken:
        print("steps that failed: " + " ".join(totals.broken))
        print("again, alone: tools/check.py " + " ".join(totals.broken))
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped",
          flush=True)
    return 1 if totals.broken else 0


if __name__ == "__main__":
    sys.exit(main())
