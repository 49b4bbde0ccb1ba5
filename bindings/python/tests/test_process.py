"""The library in a host process: threads, fork, close, memory, signals."""
import multiprocessing
import os
import pathlib
import subprocess
import sys
import threading
import unittest
import weakref

import assay
from assay import _library
from case_table import called, jws_of, table
from test_loading import real_library


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def at_once(work, threads=8):
    """Run `work` in threads that begin together, and return what they raised."""
    barrier, raised = threading.Barrier(threads), []

    def run():
        barrier.wait()
        try:
            work()
        except BaseException as error:
            raised.append(error)

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(120)
        if thread.is_alive():
            raised.append("a thread hangs")
    return raised


class EvidenceCase(unittest.TestCase):
    def setUp(self):
        self.case = table().accepted("transaction")
        self.now, self.jws = self.case["now"], jws_of(self.case)
        self.configuration = table().configuration(self.case["verifier"])
        self.verifier = assay.Verifier(self.configuration)
        self.product = self.verifier.verify_transaction(self.jws, self.now).product_id

    def answers(self, verifier):
        """Return a verifier's results for a purchase, a forged one, and an attested device."""
        named = {"verifier": self.case["verifier"]}
        bought = verifier.verify_transaction(self.jws, self.now)
        refused = verifier.verify("transaction", self.jws[:-4] + "AAAA", self.now)
        attested = table().first("verify_attestation", **named)
        key = called(attested, verifier)
        receipt = verifier.verify_attest_receipt(
            key.receipt.raw, key.public_key, attested["now"])
        risk = verifier.assess_risk({"request": "paid", "attestation": "refused"}, self.now)
        return (bought.product_id, refused.status, key.key_id, receipt.key_id, risk.verdict,
                verifier.decide(bought, now=self.now).document.kind,
                called(table().first("verify_assertion", **named), verifier).counter)


class CloseTest(EvidenceCase):
    def test_context_manager(self):
        with self.verifier as verifier:
            self.assertFalse(verifier.closed)
            transaction = verifier.verify_transaction(self.jws, self.now)
        self.assertTrue(verifier.closed)
        self.assertEqual(transaction.product_id, self.product)
        with self.assertRaises(ValueError), verifier:
            pass

    def test_close_twice(self):
        self.verifier.close()
        self.verifier.close()
        self.assertTrue(self.verifier.closed)

    def test_use_after_close(self):
        transaction = self.verifier.verify_transaction(self.jws, self.now)
        self.verifier.close()
        for call in (
            lambda: self.verifier.verify_transaction(self.jws, self.now),
            lambda: self.verifier.verify("transaction", self.jws, self.now),
            lambda: self.verifier.decide(transaction, now=self.now),
        ):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()
        self.assertEqual(transaction.document.json["status"]["name"], "ok")
        self.assertIn("apps", self.verifier.configuration)

    def test_another_verifier_takes_the_evidence_of_the_same_configuration(self):
        transaction = self.verifier.verify_transaction(self.jws, self.now)
        self.verifier.close()
        other = assay.Verifier(self.configuration)
        self.assertEqual(
            other.decide(transaction, now=self.now).evidence.kinds, ("transaction",)
        )

    def test_everything_is_given_back(self):
        transaction = self.verifier.verify_transaction(self.jws, self.now)
        watched = [weakref.ref(transaction.document), weakref.ref(self.verifier)]
        del transaction, self.verifier
        self.assertEqual([found() for found in watched], [None, None])

    def test_close_while_others_verify(self):
        """Check that calls in progress finish, and that later ones raise ValueError."""
        for _ in range(20):
            verifier, wrong = assay.Verifier(self.configuration), []

            def work(verifier=verifier, wrong=wrong):
                try:
                    while True:
                        found = verifier.verify_transaction(self.jws, self.now)
                        if found.product_id != self.product:
                            wrong.append(found)
                except ValueError:
                    pass
                except BaseException as error:
                    wrong.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            verifier.close()
            for thread in threads:
                thread.join(60)
            self.assertEqual(wrong, [])


class ThreadTest(EvidenceCase):
    def test_eight_threads(self):
        wanted, wrong = self.answers(self.verifier), []

        def work():
            wrong.extend(found for found in (self.answers(self.verifier) for _ in range(80))
                         if found != wanted)

        self.assertEqual((at_once(work), wrong), ([], []))

    def test_one_document_in_many_threads(self):
        document = self.verifier.verify("transaction", self.jws, self.now)
        found = []

        def work():
            for _ in range(200):
                found.append((document.facts.product_id, document.json["kind"]))

        self.assertEqual(at_once(work), [])
        self.assertEqual(set(found), {(self.product, "transaction")})
        self.assertEqual(len(found), 1600)


class ForkTest(EvidenceCase):
    def test_fork_while_threads_verify(self):
        stop, failed = threading.Event(), []

        def work():
            try:
                while not stop.is_set():
                    self.verifier.verify_transaction(self.jws, self.now)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            answers = [self.answer_of_a_child() for _ in range(8)]
        finally:
            stop.set()
            for thread in threads:
                thread.join(60)
        wanted = self.answers(self.verifier)
        self.assertEqual(answers, [(wanted, wanted, self.product)] * 8)
        self.assertEqual(failed, [])

    def answer_of_a_child(self):
        context = multiprocessing.get_context("fork")
        document = self.verifier.verify("transaction", self.jws, self.now)
        reader, writer = context.Pipe(duplex=False)
        child = context.Process(target=self.child, args=(document, writer))
        child.start()
        self.assertTrue(reader.poll(60), "the child hangs")
        answer = reader.recv()
        child.join(60)
        self.assertEqual(child.exitcode, 0)
        return answer

    def child(self, document, writer):
        inherited = self.answers(self.verifier)
        with assay.Verifier(self.configuration) as own:
            fresh = self.answers(own)
        self.verifier.close()
        writer.send((inherited, fresh, document.facts.product_id))


class MemoryTest(EvidenceCase):
    """Memory of objects; test_soak.py tests that of calls."""

    def test_verifiers_are_given_back(self):
        def work(count):
            for _ in range(count):
                assay.Verifier(self.configuration).verify_transaction(self.jws, self.now)

        work(50)
        before = resident_bytes()
        work(500)
        self.assertLess(resident_bytes() - before, 1 << 20)


# Tests/ABI/reload.c tests repeated loading and unloading.
SIGNALS = """
import pathlib, sys, threading
def state():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    # Not SigQ: it counts the signals that wait for all processes of the user.
    names = ("SigPnd", "SigBlk", "SigIgn", "SigCgt", "ShdPnd", "Threads")
    return [line for line in lines if line.startswith(names)]
before = state()
import assay
verifier = assay.Verifier(sys.argv[1])
verifier.verify("transaction", sys.argv[2], int(sys.argv[3]))
verifier.close()
assert state() == before, (before, state())
print("same")
"""


class HostTest(EvidenceCase):
    def test_signals_and_threads_of_the_host_stay(self):
        import json

        done = subprocess.run(
            [sys.executable, "-c", SIGNALS, json.dumps(self.configuration), self.jws,
             str(self.now)],
            capture_output=True, text=True, timeout=60,
            env={**os.environ, "ASSAY_LIBRARY": real_library(),
                 "PYTHONPATH": str(pathlib.Path(assay.__file__).parent.parent)},
        )
        self.assertEqual((done.stdout.strip(), done.returncode), ("same", 0), done.stderr)

    def test_python_keeps_its_own_libcrypto(self):
        """Check that the library's libcrypto and that of Python's ssl do not interfere."""
        import hashlib
        import ssl

        self.assertTrue(ssl.OPENSSL_VERSION)
        ssl.create_default_context()
        self.assertEqual(hashlib.sha256(b"").hexdigest()[:8], "e3b0c442")
        transaction = self.verifier.verify_transaction(self.jws, self.now)
        self.assertEqual(transaction.product_id, self.product)

    def test_loaded_library_is_the_one_under_test(self):
        named = os.environ.get("ASSAY_LIBRARY")
        inside = pathlib.Path(assay.__file__).parent / _library.FILE_NAME
        if named and not inside.exists():
            self.assertEqual(os.path.realpath(named), os.path.realpath(real_library()))


if __name__ == "__main__":
    unittest.main()
