"""Memory use over many verifications, loads and unloads, which must not grow.

ASSAY_SOAK is the number of verifications: 1000000 for the whole soak, which
`make check-python-soak` runs. Without the variable a part of it runs.
"""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import assay
from case_table import call_of, jws_of, table
from test_loading import real_library
from test_process import resident_bytes

VARIABLE = "ASSAY_SOAK"
COUNT = int(os.environ.get(VARIABLE, "30000"))
ROUNDS = 10
# How many bytes the allocator may keep of the last round beyond the first.
SLACK = 1 << 20
PACKAGES = str(pathlib.Path(assay.__file__).parent.parent)


class VerificationTest(unittest.TestCase):
    """Mostly transactions with their facts, and each other call once in 32."""

    def setUp(self):
        case = table().accepted("transaction")
        self.jws, self.now = jws_of(case), case["now"]
        self.verifier = assay.Verifier(table().configuration(case["verifier"]))
        self.others = [
            self.refusal, self.decision, self.exchange,
            self.call("verify_receipt", kind="app-receipt"),
            self.call("verify_receipt", kind="transaction-receipt"),
            self.call("verify_jws", kind="notification"),
            self.call("verify_attestation"), self.call("verify_assertion"),
        ]

    def facts(self):
        found = self.verifier.verify_transaction(self.jws, self.now)
        return (found.transaction_id, found.original_transaction_id, found.product_id,
                found.bundle_id, found.environment, found.type, found.purchase_date,
                found.expires_date, found.quantity, found.in_app_ownership_type)

    def refusal(self):
        with self.assertRaises(assay.RejectedError):
            self.verifier.verify_transaction(self.jws[:-4] + "AAAA", self.now)

    def decision(self):
        found = self.verifier.verify_transaction(self.jws, self.now)
        self.assertIsInstance(self.verifier.decide(found, now=self.now).plan, str)

    def exchange(self):
        request = {"operation": "assess-risk", "observations": {"request": "paid"}}
        with self.verifier.exchange(request, now=self.now) as exchange:
            self.assertTrue(exchange.done)

    def call(self, call, **members):
        """Make another call, and read its facts."""
        case = table().first(call, **members)
        verifier = table().verifier(case["verifier"])
        name, arguments = call_of(case)
        method = getattr(verifier, name)
        return lambda: repr(method(**arguments))

    def work(self, count):
        for number in range(count):
            if number % 4:
                self.facts()
            else:
                self.others[number // 4 % len(self.others)]()

    def test_flat_memory(self):
        self.assertEqual(self.facts()[2], table().accepted("transaction")["expect"]["facts"]
                         ["transaction.productId"])
        self.work(max(COUNT // ROUNDS, 2_000))
        before, begin = resident_bytes(), time.monotonic()
        sizes = []
        for _ in range(ROUNDS):
            self.work(COUNT // ROUNDS)
            sizes.append(resident_bytes() - before)
        seconds = time.monotonic() - begin
        print(f"{COUNT} verifications in {seconds:.0f} s; resident memory after each tenth, "
              f"kB more than before: {[size // 1024 for size in sizes]}")
        self.assertLess(max(sizes), SLACK)


# Prints how much a program grows in so many rounds of its `once`, after a third of them.
MEASURED = """
import gc, json, os, pathlib, sys
rounds, verifies, library, configuration, jws, now = json.load(sys.stdin)
def work(count):
    for _ in range(count):
        once()
        gc.collect()
def resident():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
%s
work(rounds // 3)
before = resident()
work(rounds)
print(resident() - before)
"""

# Imports, verifies, deletes and unloads repeatedly. Python itself keeps some objects of a module
# (ctypes every pointer type), so both programs also run without a verification, and the difference
# counts.
RELOAD = MEASURED % """
import _ctypes
def verify(assay):
    with assay.Verifier(configuration) as verifier:
        assert verifier.verify_transaction(jws, now=now).product_id
def once():
    import assay
    if verifies:
        verify(assay)
    handle = assay._library.CDLL(library)._handle
    for name in [name for name in sys.modules if name.partition(".")[0] == "assay"]:
        del sys.modules[name]
    del assay
    for _ in range(3):
        try:
            _ctypes.dlclose(handle)
        except OSError:
            break
"""

# Loads the library without the package.
LIBRARY_ALONE = MEASURED.replace("        gc.collect()\n", "") % """
import _ctypes, ctypes
def once():
    _ctypes.dlclose(ctypes.CDLL(library)._handle)
"""

# Does so in interpreters of this process, made and ended in turn.
INTERPRETERS = MEASURED % """
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
code = "import assay" if not verifies else f'''
import assay
with assay.Verifier({json.dumps(configuration)!r}) as verifier:
    assert verifier.verify_transaction({jws!r}, now={now}).product_id
'''
def make():
    try:
        return interpreters.create("legacy")
    except TypeError:
        return interpreters.create(isolated=False)
def once():
    made = make()
    failed = run(made, code)
    assert failed is None, failed
    interpreters.destroy(made)
"""


class LoadingTest(unittest.TestCase):
    def setUp(self):
        case = table().accepted("transaction")
        self.arguments = [real_library(), table().configuration(case["verifier"]),
                          jws_of(case), case["now"]]

    def grown(self, program, rounds, verifies):
        """Return the bytes by which a child's memory grew in this many rounds."""
        done = subprocess.run(
            [sys.executable, "-c", program], input=json.dumps([rounds, verifies, *self.arguments]),
            capture_output=True, text=True, timeout=600,
            env={**os.environ, "ASSAY_LIBRARY": real_library(), "PYTHONPATH": PACKAGES})
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return int(done.stdout)

    def test_child_processes(self):
        """Check child processes that load the library, verify and end normally."""
        for _ in range(min(COUNT // 3_000, 100)):
            self.grown(RELOAD, 1, True)

    def test_library_loaded_and_unloaded(self):
        """Check the library without the package: the loader frees what it allocated."""
        grown = self.grown(LIBRARY_ALONE, min(COUNT, 100_000), False)
        self.assertLess(grown, SLACK)

    def check_flat(self, program, what, rounds):
        bare, verifying = (self.grown(program, rounds, verifies) for verifies in (False, True))
        print(f"{rounds} {what}: {verifying // 1024} kB grown, "
              f"{bare // 1024} kB of it Python's own")
        self.assertLess(verifying - bare, 2 * SLACK)

    def test_loaded_and_unloaded_in_one_process(self):
        self.check_flat(RELOAD, "loads and unloads", min(COUNT // 500, 1_000))

    def test_interpreters_of_one_process(self):
        self.check_flat(INTERPRETERS, "interpreters", min(COUNT // 2_000, 300))


if __name__ == "__main__":
    unittest.main()
