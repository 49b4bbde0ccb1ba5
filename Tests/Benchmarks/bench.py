#!/usr/bin/env python3
"""Run every benchmark and print one table of ratios.

  bench.py --programs FOLDER --library FILE [--python FILE] [--package FOLDER]
           [--json FILE] [--quick]

Each row has Assay's time, that of a baseline measured in the same run, and their ratio. A missed
bar is marked and never fails the run: times depend on the machine and on its other load.
docs/benchmarks.md explains the rows.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import chart

# name: (title, baseline, comparison, bar on the ratio or None). A ratio is Assay's time over the
# baseline's, except for rows of rates.
ROWS = {
    "warm-transaction": ("transaction, chain known", "bare ES256", "<=", 1.25),
    "warm-notification": ("notification with two JWS inside", "three bare ES256", "<=", 1.39),
    "request": ("the transaction, new verifier", "transaction, chain known", "<=", 2),
    "junk-signature": ("genuine header, junk signature", "bare ES256", "<=", 1.46),
    "forged-root": ("forged chain, foreign root", "bare ES256", "<=", 0.63),
    "cold-unseen": ("transaction, unseen chain", "bare chain", "<=", 0.85),
    "cold-uncached": ("the same, cache switched off", "bare chain", "<=", 0.85),
    "cold-known-intermediate": ("new leaf, known intermediate", "bare chain", "<=", 0.5),
    "receipt-transaction": ("transaction receipt, leaf known", "bare SHA-1 RSA", "<=", 1.3),
    "receipt-app": ("app receipt, 100 purchases", "bare CMS verification", "<=", 1.5),
    "triage": ("triage, a day's mix", "base64 decoding alone", ">=", 200000),
    "attestation": ("attestation, intermediate known", "bare P-384 and P-256", "<=", 1.15),
    "attestation-cold": ("attestation, cache switched off", "bare chain and CMS", None, None),
    "assertion": ("assertion", "bare P-256", "<=", 1.25),
    "token": ("access token, RS256, text not seen before", "bare RSA-2048", "<=", 1.6),
    "token-seen": ("the same, text seen before", "bare RSA-2048", "<=", 0.35),
    "claim-sqlite": ("claim on SQLite", "its statements, bare", "<=", 1.3),
    "quota-postgres": ("a unit on PostgreSQL, through Python", "its statement, bare", None, None),
    "quota-trips": ("the same, in round trips", "its statement, bare", "<=", 1),
    "claim-postgres": ("a claim on PostgreSQL, through Python", "INSERT ... ON CONFLICT, bare",
                       "<=", 4),
    "claim-trips": ("the same, in round trips", "its statement, bare", "<=", 1),
    "claim-again-postgres": ("the same claim again", "an INSERT that conflicts, bare", None, None),
    "migrate-read": ("a row of assay migrate, less 30 us", "transaction, chain known", "<=", 2),
    "migrate-jobs": ("two jobs of it over one", "rows, two over one", ">=", 1.6),
    "migrate-write": ("a purchase written to SQLite by it", "", ">=", 2500),
    "migrate-memory": ("its memory, two jobs", "", "<=", 106496),
    "migrate-work": ("its work folder, a purchase", "", "<=", 1024),
    "receipt-attest": ("App Attest receipt, signer known", "bare P-256", None, None),
    "threads": ("two threads over one", "bare ES256, two over one", ">=", 1.9),
    "python": ("through Python", "app-store-server-library", ">=", 25),
    "python-attest": ("attestation through Python", "pyattest", ">=", 8),
    "python-token": ("access token through Python, text not seen before", "PyJWT", ">=", 2.2),
    "python-token-seen": ("the same, text seen before", "PyJWT", ">=", 6),
    "python-package": ("Python package", "ctypes alone", None, None),
    "start-c": ("load and verify once, C", "bare process", "<=", 15),
    "start-python": ("import and verify once, Python", "bare interpreter", "<=", 15),
    "start-ctypes": ("the same with ctypes alone", "bare interpreter", None, None),
    "start-apple": ("Apple's library, the same", "bare interpreter", None, None),
    "memory-library": ("memory, library in Python", "interpreter", "<=", 6144),
    "memory-python": ("memory, Python package", "bare interpreter", None, None),
    "memory": ("memory, library in C", "libcrypto alone", None, None),
    "memory-private": ("of it private to the process", "libcrypto alone", None, None),
}

FIRST_VERIFICATION = """
import assay, sys, time
folder = sys.argv[1]
verifier = assay.Verifier(open(folder + "/config.json").read())
verifier.verify_transaction(open(folder + "/transaction.jws").read()).product_id
"""
CTYPES_FIRST = """
import ctypes, os, sys, time
folder = sys.argv[1]
library = ctypes.CDLL(os.environ["ASSAY_LIBRARY"])
config = open(folder + "/config.json", "rb").read()
jws = open(folder + "/transaction.jws", "rb").read()
verifier, document = ctypes.c_void_p(), ctypes.c_void_p()
library.assay_verifier_new(
    config, ctypes.c_size_t(len(config)), ctypes.byref(verifier), None)
sys.exit(library.assay_verify_jws(
    verifier, 1, jws, ctypes.c_size_t(len(jws)),
    ctypes.c_int64(time.time_ns() // 1000000), ctypes.byref(document)))
"""
# Prints resident memory with ctypes imported, before the library is loaded and after a
# verification: the growth that the library itself causes in an interpreter.
CTYPES_GROWTH = """
import ctypes, os, sys, time
def resident():
    return int(next(line.split()[1] for line in open("/proc/self/status") if "VmRSS" in line))
folder = sys.argv[1]
config = open(folder + "/config.json", "rb").read()
jws = open(folder + "/transaction.jws", "rb").read()
verifier, document = ctypes.c_void_p(), ctypes.c_void_p()
now = ctypes.c_int64(time.time_ns() // 1000000)
before = resident()
library = ctypes.CDLL(os.environ["ASSAY_LIBRARY"])
library.assay_verifier_new(
    config, ctypes.c_size_t(len(config)), ctypes.byref(verifier), None)
if library.assay_verify_jws(
        verifier, 1, jws, ctypes.c_size_t(len(jws)), now, ctypes.byref(document)):
    sys.exit("the transaction was refused")
print(before, resident())
"""
# Prints the highest resident memory since the program began. wait4 is not used: its figure would
# include the memory of the process that forked the program.
HIGHEST = """
print(next(line.split()[1] for line in open("/proc/self/status") if "VmHWM" in line))
"""
APPLES_FIRST = """
import sys
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
folder = sys.argv[1]
verifier = SignedDataVerifier(
    [open(folder + "/root.der", "rb").read()], False, Environment.SANDBOX,
    "com.example.bench", 1234567890)
verifier.verify_and_decode_signed_transaction(
    open(folder + "/transaction.jws").read()).productId
"""


class Row:
    """One row of the table."""

    def __init__(self, name, ours, baseline, value, unit, low=None, high=None):
        self.name, self.unit = name, unit
        self.ours, self.baseline, self.value = ours, baseline, value
        self.low, self.high = low, high
        self.title, self.against, self.sense, self.bar = ROWS[name]

    @property
    def met(self):
        if self.bar is None:
            return None
        return self.value <= self.bar if self.sense == "<=" else self.value >= self.bar

    def cells(self):
        bar = "" if self.bar is None else f"{self.sense} {self.bar:g}"
        met = {None: "", True: "met", False: "MISSED"}[self.met]
        return (self.title, self.amount(self.ours), self.against,
                self.amount(self.baseline), self.shown(), bar, met)

    def amount(self, value):
        if value is None:
            return ""
        if self.unit in ("ns", "per second"):
            return f"{value / 1000:.1f} us"
        if self.unit == "ms":
            return f"{value:.1f} ms"
        if self.unit == "KiB":
            return f"{value:.0f} KiB"
        if self.unit == "trips":
            return f"{value:g}"
        if self.unit == "bytes":
            return f"{value:,.0f} bytes"
        return f"{value:.2f} x"

    def shown(self):
        if self.unit == "ms":
            return f"+{self.value:.1f} ms"
        if self.unit == "KiB":
            return f"+{self.value:.0f} KiB"
        if self.unit == "trips":
            return f"{self.value:g} a call"
        if self.unit == "bytes":
            return self.amount(self.value)
        if self.unit == "per second":
            return f"{self.value:,.0f} a second"
        return f"{self.value:.2f} x"

    def record(self):
        return {
            "name": self.name, "title": self.title, "against": self.against,
            "unit": self.unit, "ours": self.ours, "baseline": self.baseline,
            "value": self.value, "low": self.low, "high": self.high,
            "sense": self.sense, "bar": self.bar, "met": self.met,
        }


# ---- running ----------------------------------------------------------------


def lines(command, environment=None):
    """Run a program; return its output as (remarks, rows of cells)."""
    done = subprocess.run(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=sys.stderr)
    remarks, rows = [], []
    for line in done.stdout.splitlines():
        if line.startswith("#"):
            remarks.append(line[1:].strip())
        else:
            rows.append(line.split("\t"))
    if done.returncode:
        remarks.append(f"{pathlib.Path(command[0]).name} ended with {done.returncode}")
    return remarks, rows


def store_rows(program, quick, environment, remarks):
    """Return the row of a claim, with databases beside the programs, because TMPDIR may be in
    memory."""
    if not program.exists():
        remarks.append("no libsqlite3 or libcjson to build the claim with")
        return []
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        said, found = lines([str(program), *quick, folder], environment)
    remarks += said
    return [compared(cells) for cells in found]


MIGRATE_UNITS = {"migrate-read": "ns", "migrate-jobs": "x", "migrate-write": "per second",
                 "migrate-memory": "KiB", "migrate-work": "bytes"}


def migrate_rows(rows, programs, quick, environment, remarks):
    """Return the rows of `assay migrate`, whose first is against a verification of this run."""
    warm = next((row.ours for row in rows if row.name == "warm-transaction"), None)
    if warm is None:
        return []
    said, found = lines([sys.executable, str(pathlib.Path(__file__).parent / "migrations.py"),
                         str(programs), str(warm), *quick], environment)
    remarks += said
    return [Row(name, float(ours), float(other) if other else None, float(value),
                MIGRATE_UNITS[name]) for name, ours, other, value in found]


def compared(cells):
    name, ours, baseline, ratio, low, high = cells
    numbers = [float(cell) for cell in (ours, baseline, ratio, low, high)]
    if name == "warm-notification":
        # The baseline's time is for one check, but a notification that contains two JWS needs
        # three.
        numbers = [numbers[0], numbers[1] * 3] + [number / 3 for number in numbers[2:]]
    if name == "python-package":
        # The program prints the time of the package first, then that of ctypes; the row has them
        # reversed.
        numbers[0], numbers[1] = numbers[1], numbers[0]
    if name == "triage":
        # The bar is on a rate, whose spread follows from that of the ratios.
        rate = 1e9 / numbers[0]
        return Row(name, numbers[0], numbers[1], rate, "per second",
                   rate * numbers[2] / numbers[4], rate * numbers[2] / numbers[3])
    unit = "x" if name == "threads" else "ns"
    return Row(name, numbers[0], numbers[1], numbers[2], unit, numbers[3], numbers[4])


def cpu_ms(command, environment):
    """Return the CPU time of one process from its start to its end."""
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command[:3]} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def started(name, ours, baseline, environment, times):
    """Return the extra CPU time of new processes over bare ones, run alternately, as medians."""
    mine, theirs = [], []
    cpu_ms(ours, environment), cpu_ms(baseline, environment)
    for _ in range(times):
        mine.append(cpu_ms(ours, environment))
        theirs.append(cpu_ms(baseline, environment))
    over = statistics.median(a - b for a, b in zip(mine, theirs))
    return Row(name, statistics.median(mine), statistics.median(theirs), over, "ms")


def compiled_package(options, programs):
    """Copy the package with compiled bytecode, as pip installs it."""
    place = programs / "package"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(pathlib.Path(options.package) / "assay", place / "assay",
                    ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
    subprocess.run([options.python, "-m", "compileall", "-q", str(place)], check=True)
    return str(place.resolve())


def python_memory(python, folder, environment, times):
    def highest(program):
        found = [
            int(subprocess.run([*python, "-c", program + HIGHEST, folder], env=environment,
                               text=True, check=True, stdout=subprocess.PIPE).stdout)
            for _ in range(times)
        ]
        return statistics.median(found)

    ours, bare = highest(FIRST_VERIFICATION), highest("")
    return Row("memory-python", ours, bare, ours - bare, "KiB")


def library_memory(python, folder, environment, times):
    """Return the memory, in KiB, that loading and a first verification add to an interpreter."""
    found = []
    for _ in range(times):
        before, after = subprocess.run(
            [*python, "-c", CTYPES_GROWTH, folder], env=environment, text=True, check=True,
            stdout=subprocess.PIPE).stdout.split()
        found.append((int(after), int(before)))
    ours, bare = (statistics.median(column) for column in zip(*found))
    return Row("memory-library", ours, bare, ours - bare, "KiB")


def memory_rows(fresh, library, folder, times):
    """Yield the growth of a process in KiB: in total, and without pages backed by a file."""

    def growth(name):
        found = []
        for _ in range(times):
            output = subprocess.run([fresh, name, folder], text=True, check=True,
                                    stdout=subprocess.PIPE).stdout
            before, after, highest, private = (int(cell) for cell in output.split())
            found.append((max(after, highest) - before, private))
        return [statistics.median(column) for column in zip(*found)]

    ours, libcrypto = growth(library), growth("--libcrypto")
    yield Row("memory", ours[0], libcrypto[0], ours[0], "KiB")
    yield Row("memory-private", ours[1], libcrypto[1], ours[1], "KiB")


def measure(options, folder):
    programs = pathlib.Path(options.programs)
    library = str(pathlib.Path(options.library).resolve())
    quick = ["--quick"] if options.quick else []
    times = 5 if options.quick else 21
    remarks, rows = [], []

    environment = dict(os.environ, LD_LIBRARY_PATH=str(pathlib.Path(library).parent))
    said, found = lines([str(programs / "bench"), *quick], environment)
    remarks += said
    rows += [compared(cells) for cells in found]
    rows += store_rows(programs / "stores", quick, environment, remarks)

    fresh = str(programs / "fresh")
    rows.append(started("start-c", [fresh, library, folder], [fresh], None, times))
    rows += memory_rows(fresh, library, folder, times)

    python = [options.python]
    environment = dict(os.environ, ASSAY_LIBRARY=library,
                       PYTHONPATH=compiled_package(options, programs))
    script = str(pathlib.Path(__file__).parent / "in_python.py")
    said, found = lines([*python, script, folder, *quick], environment)
    remarks += said
    rows += [compared(cells) for cells in found]
    said, found = lines([*python, str(pathlib.Path(__file__).parent / "on_postgres.py"), *quick],
                        environment)
    remarks += said
    for cells in found:
        trips = cells[0].endswith("-trips")
        rows.append(Row(cells[0], float(cells[1]), 1, float(cells[1]), "trips") if trips
                    else compared(cells))
    rows += migrate_rows(rows, programs, quick, environment, remarks)
    bare = [*python, "-c", "pass"]
    programs_in_python = [("start-python", FIRST_VERIFICATION), ("start-ctypes", CTYPES_FIRST)]
    if any(row.name == "python" for row in rows):
        programs_in_python.append(("start-apple", APPLES_FIRST))
    for name, program in programs_in_python:
        rows.append(started(name, [*python, "-c", program, folder], bare, environment, times))
    rows.append(library_memory(python, folder, environment, 5))
    rows.append(python_memory(python, folder, environment, 5))
    order = list(ROWS)
    return remarks, sorted(rows, key=lambda row: order.index(row.name))


# ---- showing ----------------------------------------------------------------


def machine():
    model = platform.processor() or platform.machine()
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {
        "processor": model, "cores": os.cpu_count(), "system": platform.platform(),
        "python": platform.python_version(),
    }


def table(rows):
    """Return the rows as text with aligned columns."""
    head = ("measured", "Assay", "against", "baseline", "result", "bar", "")
    cells = [head] + [row.cells() for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
             for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--programs", required=True)
    options.add_argument("--library", required=True)
    options.add_argument("--package", default="bindings/python")
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--json")
    options.add_argument("--quick", action="store_true")
    options = options.parse_args()
    options.package = str(pathlib.Path(options.package).resolve())
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(pathlib.Path(options.programs) / "mint"), folder], check=True)
        remarks, rows = measure(options, folder)
    about = machine()
    loads = (round(load_before, 2), round(os.getloadavg()[0], 2))
    print(f"{about['processor']}, {about['cores']} cores, {about['system']}; "
          f"load {loads[0]} before, {loads[1]} after")
    for remark in remarks:
        print(remark)
    print()
    shown = table(rows)
    print(shown, end="")
    missing = [name for name in ROWS if name not in {row.name for row in rows}]
    if missing:
        print("\nnot measured:", ", ".join(missing))
    missed = [row.title for row in rows if row.met is False]
    print("\nbars missed:", "; ".join(missed) if missed else "none")
    if not options.quick and not missing:
        # The page and its chart are always from the same run.
        chart.write(f"{about['processor']}, {about['cores']} cores, {about['system']}, load "
                    f"{loads[0]} before and {loads[1]} after", shown)
        print("wrote docs/benchmarks.md and docs/benchmarks.svg")
    if options.json:
        record = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "machine": about,
            "load": loads, "remarks": remarks, "rows": [row.record() for row in rows],
            "notMeasured": missing,
        }
        pathlib.Path(options.json).write_text(json.dumps(record, indent=2) + "\n")


main()
