#!/usr/bin/env python3
"""Run all checks in parallel and sum their counts.

  tools/check.py              all steps
  tools/check.py --quick      those that a change to the code is most likely to break
  tools/check.py NAME...      only these steps, and the builds that they need
  tools/check.py --list       the names of the steps
  tools/check.py --jobs N     N steps at a time (default: two more than there are cores, because
                              many steps wait for servers that they start)

Each half minute a line says what is running, how long it has taken, and how long this machine took
the last time, or two quiet cores where it never ran.

Each step is one or more make targets, which print lines of the form "suite NAME: N passed, N
failed, N skipped". A step that fails without such a line, or passes without one, counts as one
failure; a step that only builds counts as one pass. A step starts when the steps that it needs have
ended; if one of them failed, the step is not run and counts as one failure. The last line has the
sums.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "check"
COUNTS = re.compile(r"suite (\S+): (\d+) passed, (\d+) failed, (\d+) skipped")
SHOWN_OF_A_FAILURE = 80
SECONDS = LOGS / "seconds.json"  # how long each choice of steps took the last time
PAUSE = 30
# The same on two quiet cores, from nothing built.
EXPECTED = {"all": 3600, "quick": 900}
# Targets that an earlier step has made: later steps pass them to make with -o, as up to date.
MADE = ["deps", "deps-build", "deps-demo", "deps-packages", "all", "cli", "cases", "swift-docs"]


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    arguments: list
    what: str
    needs: tuple = ()
    builds: bool = False  # compiles or installs, and tests nothing
    quick: bool = False

    @property
    def command(self):
        return ["make", "--no-print-directory", "-k", *self.arguments]


def over(target, *variants):
    """Return the names of one check's variants: check-library-shipped, check-library-shared."""
    return [f"check-{target}-{variant}" for variant in variants]


# Steps start in this order as soon as their needs are met. What others need comes first, then what
# takes long, so that only short steps are left at the end.
STEPS = [
    Step("inputs", ["inputs"], "what the builds share", builds=True, quick=True),
    Step("tools", ["tools"], "checkers and clients from the Python package index", builds=True),
    Step("cases", ["cases"], "command line, case table", needs=("inputs",), builds=True,
         quick=True),
    Step("build", ["libraries"], "the library, and over the host's libcrypto",
         needs=("inputs",), builds=True, quick=True),
    Step("node-package", ["node-package"], "the Node.js package", needs=("build",), builds=True,
         quick=True),
    Step("programs", ["programs"], "the C programs, built", needs=("build",), builds=True,
         quick=True),
    Step("swift-modules", ["library-full", "swift-docs"],
         "the library and its modules with the full Swift library", needs=("cases",), builds=True),
    Step("docs", ["check-site", "check-screens", "check-snippets", "check-pictures"],
         "the documentation site, its links, its looks, and every code block in it",
         needs=("build", "swift-modules", "tools", "node-package")),
    Step("arm64", ["check-arm64"],
         "the library, the wheel and the Node.js package for 64-bit ARM, under qemu",
         needs=("programs", "cases", "node-package")),
    # Follows the other SwiftPM builds: it reuses their modules, and SwiftPM locks its build folder.
    Step("swift", ["check-swift"], "the Swift tests", needs=("swift-modules",)),
    Step("musl", ["check-musl"],
         "the library, the wheel and the Node.js package for musl, with its loader",
         needs=("programs", "cases", "node-package")),
    Step("packages", ["check-dist", "check-deb", "check-home", "check-install", "check-man",
                      "check-c"],
         "releases, Debian packages, installing, manual pages, pkg-config, CMake, C examples",
         # A release takes along the wheels for other systems that are there: they must not come
         # between the release and the second one that it is compared with.
         needs=("cases", "docs", "arm64", "musl")),
    Step("wheels", ["wheel", "check-wheel", "wheel-testing", "check-wheel-testing", "sdist",
                    "check-sdist", "check-auditwheel", "layer", "check-layer"],
         "wheels, the source distribution and Lambda layers, each where it is unpacked",
         needs=("build", "cases", "arm64", "tools")),
    Step("release", ["check-release"],
         "the folder of a release; each start page, installed from it in a clean root",
         needs=("packages", "wheels")),
    Step("stores", ["check-engines", "check-store-races", "check-reconcile",
                    "check-refund-answers", "check-customers"],
         "throw-away engines, on each a race with killed processes; reconcile, refunds, customers",
         needs=("build", "cases", "tools")),
    Step("php", ["check-php-ffi", "check-php-ext", "check-php-fpm"],
         "the PHP binding, by FFI and extension, in prefork servers", needs=("build", "cases"),
         quick=True),
    Step("shop", ["check-shop"], "the shop in PHP over HTTP, its attacks, a day with kills",
         needs=("php",)),
    Step("go", ["check-go"], "the Go module", needs=("build", "cases"), quick=True),
    Step("go-more", ["check-go-race", "check-go-gcstress", "check-go-style"],
         "the Go module under the race detector, with a collection at every use, its style",
         needs=("go",)),
    Step("node", ["check-node"], "the Node.js binding, documents byte for byte those of C",
         needs=("programs", "node-package", "cases"), quick=True),
    Step("node-more", ["check-node-asan", "check-node-package", "check-node-versions"],
         "the Node.js addon under AddressSanitizer, a fault in each call of Node-API; the package; "
         "Node.js 18 to 24, Deno and Bun",
         needs=("node",)),
    Step("lambda", ["check-lambda"], "the freemium back end, attacked over HTTP; its demonstration",
         needs=("build", "cases", "tools")),
    Step("host-engines", ["check-go-engines", "check-php-engines", "check-node-engines",
                          "check-node-races"],
         "the ledgers of Go, PHP and Node.js over engines of their own; races of Node.js",
         needs=("go", "php", "node", "tools")),
    Step("thread-sanitizer", ["check-thread-sanitizer"], "data races",
         needs=("programs", "cases")),
    Step("fuzz", ["check-fuzz"], "the fuzz corpus again", needs=("cases",)),
    Step("fork", [*over("fork", "shipped"), *over("fork-inside", "shipped", "shared")],
         "verifiers across fork, children forked at any moment", needs=("programs", "cases")),
    Step("history", ["check-history", "check-races"],
         "the checker of histories and the runner of races find planted faults"),
    Step("sources", [f"check-{name}" for name in (
        "generated", "tables", "store-statements", "guides", "setup", "statuses", "format",
        "sources",
        "layers", "header", "abi")], "what sources, tables, header and guides must keep to",
         quick=True),
    Step("rules", ["check-rules", "check-facts", "check-kinds"],
         "every rule has its text, code, case and mutant; facts and kinds are as tables say",
         needs=("programs", "cases"), quick=True),
    Step("library", [*over("library", "shipped", "shared"), "check-schema", "check-selftest"],
         "what the libraries show, hold and accept; the gates see faults", needs=("build",),
         quick=True),
    Step("cli", ["check-cli"], "the command line: triage, report and the rest",
         needs=("build", "cases"), quick=True),
    Step("migrate", ["check-migrate"],
         "assay migrate against an oracle, on three engines, killed at any moment",
         needs=("build", "swift-modules", "tools", "node-package")),
    Step("play", ["check-play", "check-app-side"],
         "the server that plays Apple; the Swift for apps against it", needs=("build", "cases")),
    Step("frameworks", ["check-frameworks"],
         "a shop on each of nine web frameworks, asked the same",
         needs=("build", "cases", "tools", "node-package")),
    Step("smoke", over("smoke", "shipped"), "the C ABI over all cases",
         needs=("programs", "cases"), quick=True),
    Step("agree", [*over("smoke", "shared"), *over("smoke-sanitized", "shipped"),
                   "check-documents", *over("reload", "shipped", "shared")],
         "the same over the host's libcrypto and under sanitizers; all builds answer the same",
         needs=("programs", "swift-modules")),
    Step("valgrind", over("valgrind", "shipped"), "definite leaks", needs=("programs", "cases")),
    Step("threads", [*over("threads", "shipped"), *over("soak", "shipped"), "check-properties"],
         "verifiers shared by threads, flat memory, what holds for decisions about any evidence",
         needs=("programs", "cases")),
    Step("guest", [*over("guest", "shipped", "shared"), *over("secrets", "shipped", "shared")],
         "no file, handler or error of the host touched; no secret left behind",
         needs=("programs", "cases")),
    Step("python", ["check-python"], "the Python binding", needs=("build", "cases"), quick=True),
    Step("lint", ["check-python-lint", "check-python-testing-lint", "check-examples-lint",
                  "check-stores-lint", "check-typed-snippets", "check-apple"],
         "ruff, mypy and pyright over all that is Python; tsc over the pages; Apple's own library",
         needs=("tools",)),
    Step("python-more", ["check-senders", "check-python-stores"],
         "exchanges with httpx and requests, stores through the Python binding",
         needs=("build", "cases", "tools")),
    Step("prefix", ["check-shim", "check-prefix"],
         "the shim and the library over another libcrypto", needs=("programs", "cases")),
    Step("demo", ["demo"], "the demonstration", needs=("swift-modules",), builds=True),
]


class Run:
    """The sums of the counts and the state of all steps; each step's thread updates them."""

    def __init__(self, chosen, jobs, expected):
        self.chosen = chosen
        self.jobs = jobs
        self.expected = expected  # seconds of all, None if nobody knows
        self.begun = {}  # step name -> when it began
        self.waiting = list(chosen)
        self.running = {}
        self.ended = {}  # step name -> whether it passed
        self.passed = self.failed = self.skipped = 0
        self.changed = threading.Condition()

    def loop(self):
        self.begin = told = time.monotonic()
        with self.changed:
            while self.waiting or self.running:
                step = self.next()
                if step is None:
                    self.changed.wait(max(0, told + PAUSE - time.monotonic()))
                    if time.monotonic() >= told + PAUSE:
                        told = time.monotonic()
                        self.tell(told)
                    continue
                self.waiting.remove(step)
                lost = [need for need in step.needs if self.ended.get(need) is False]
                if lost:
                    self.failed += 1
                    self.end(step, False, [f"   suite {step.name}: 0 passed, 1 failed, 0 skipped "
                                           f"(not run: {' '.join(lost)} failed)"])
                    continue
                self.running[step.name] = step
                self.begun[step.name] = time.monotonic()
                print(f"begin {step.name}: {step.what}", flush=True)
                threading.Thread(target=self.one, args=(step,)).start()

    def tell(self, now):
        """Print one line: what is running, how long it has taken, and how long all takes."""
        names = ", ".join(f"{name} {now - self.begun[name]:.0f} s" for name in self.running)
        expected = f", about {self.expected / 60:.0f} min expected" if self.expected else ""
        print(f"  check: {(now - self.begin) / 60:.1f} min passed{expected}, {len(self.ended)} of "
              f"{len(self.chosen)} steps ended, running: {names}", flush=True)

    def next(self):
        """Return the first step whose needs have ended; None if there is none or no free job."""
        if len(self.running) >= self.jobs:
            return None
        names = {step.name for step in self.chosen}
        for step in self.waiting:
            if all(need not in names or need in self.ended for need in step.needs):
                return step
        return None

    def one(self, step):
        begin = time.monotonic()
        try:
            good, lines, counts, busy = perform(
                step, set(self.ended) if not step.builds else set())
        except Exception as error:  # otherwise the step would never count as ended
            good, counts, busy = False, (0, 1, 0), 0
            lines = [f"   FAILED step {step.name}: {error}"]
        with self.changed:
            self.passed += counts[0]
            self.failed += counts[1]
            self.skipped += counts[2]
            del self.running[step.name]
            self.end(step, good, lines, time.monotonic() - begin, busy)
            self.changed.notify()

    def end(self, step, good, lines, seconds=0, busy=0):
        self.ended[step.name] = good
        print(f"[{len(self.ended)}/{len(self.chosen)}] {step.name}: {seconds:.0f} s, "
              f"{busy:.0f} s of a core")
        print("\n".join(lines), flush=True)


def perform(step, made):
    """Run one step and write its output to build/check/NAME.log.

    Return whether it passed, the lines to print, (passed, failed, skipped), and its processor time
    in seconds.
    """
    log = LOGS / f"{step.name}.log"
    command = [*step.command]
    if made:
        for target in MADE:
            if target not in step.arguments:
                command += ["-o", target]
    shown = []
    passed = failed = skipped = 0
    told = False
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, errors="replace")
        for line in process.stdout:
            out.write(line)
            found = COUNTS.fullmatch(line.strip())
            if found:
                numbers = [int(number) for number in found.groups()[1:]]
                passed, failed, skipped = (
                    passed + numbers[0], failed + numbers[1], skipped + numbers[2])
            # Lines indented below a failure are its details.
            told = line.startswith("FAILED ") or (told and line.startswith("  "))
            if found or told or line.startswith("skipped "):
                shown.append("   " + line.rstrip()[:300])
        # Only wait4 reports the processor time of a single step with its children.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    busy = usage.ru_utime + usage.ru_stime
    counted = passed + failed + skipped
    if code == 0 and step.builds and not counted:
        passed = 1
        shown.append(f"   suite {step.name}: 1 passed, 0 failed, 0 skipped")
    elif code == 0 and not counted:
        failed = 1
        shown.append(f"   suite {step.name}: 0 passed, 1 failed, 0 skipped (it counted nothing)")
    elif code != 0 and not failed:
        failed = 1
        shown.append(f"   suite {step.name}: 0 passed, 1 failed, 0 skipped")
    good = code == 0 and not failed
    if not good:
        shown.append(f"   FAILED step {step.name}. Alone: make {' '.join(step.arguments)}; all of "
                     f"its output: {log.relative_to(ROOT)}. The end of it:")
        lines = [line for line in log.read_text(errors="replace").splitlines()
                 if not line.startswith("skipped ")]
        for line in lines[-SHOWN_OF_A_FAILURE:]:
            shown.append("   | " + line[:400])
    return good, shown, (passed, failed, skipped), busy


def with_needs(names):
    """Return the named steps and the build steps that they need, in the order of STEPS."""
    by_name = {step.name: step for step in STEPS}
    wanted = set()

    def add(name):
        if name not in wanted:
            wanted.add(name)
            for need in by_name[name].needs:
                if by_name[need].builds:
                    add(need)

    for name in names:
        add(name)
    return [step for step in STEPS if step.name in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) + 2,
                        metavar="N")
    options = parser.parse_args()
    names = [step.name for step in STEPS]
    if options.list:
        print("\n".join(names))
        return 0
    unknown = set(options.steps) - set(names)
    if unknown:
        parser.error(f"no step {' '.join(sorted(unknown))}")
    if options.jobs < 1:
        parser.error("--jobs is at least 1")
    LOGS.mkdir(parents=True, exist_ok=True)
    if options.steps:
        chosen = with_needs(options.steps)
    elif options.quick:
        chosen = with_needs(step.name for step in STEPS if step.quick)
    else:
        chosen = STEPS
    begin = time.monotonic()
    name = "quick" if options.quick else " ".join(options.steps) or "all"
    seconds = EXPECTED | (json.loads(SECONDS.read_text()) if SECONDS.exists() else {})
    run = Run(chosen, options.jobs, seconds.get(name))
    run.loop()
    broken = [step.name for step in chosen if not run.ended[step.name]]
    if not broken:
        SECONDS.write_text(json.dumps(seconds | {name: round(time.monotonic() - begin)}) + "\n")
    if broken:
        print("steps that failed: " + " ".join(broken))
        print("again, alone: tools/check.py " + " ".join(broken))
    minutes, seconds = divmod(int(time.monotonic() - begin), 60)
    print(f"{len(chosen)} steps, {minutes} min {seconds} s")
    print(f"{run.passed} passed, {run.failed} failed, {run.skipped} skipped", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
