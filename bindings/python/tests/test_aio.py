"""Verification in an executor, and exchanges whose host is a coroutine."""
import asyncio
import inspect
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import assay
from assay._run import run_steps
from assay.aio import AsyncVerifier
from case_table import call_of, given, jws_of, table
from test_exchange import RISK
from transcripts import Door, answers, begun, transcript, watched


class CountingExecutor(Executor):
    """Threads that count the submitted jobs, and the most at once."""

    def __init__(self, threads):
        self.threads = ThreadPoolExecutor(threads)
        self.lock = threading.Lock()
        self.submitted = self.open = self.most = 0
        self.gate = threading.Event()
        self.gate.set()

    def submit(self, call, *arguments, **named):
        with self.lock:
            self.submitted += 1
            self.open += 1
            self.most = max(self.most, self.open)

        def work():
            try:
                self.gate.wait(30)
                return call(*arguments, **named)
            finally:
                with self.lock:
                    self.open -= 1

        return self.threads.submit(work)

    def shutdown(self, wait=True, **options):
        self.gate.set()
        self.threads.shutdown(wait, **options)


class AioCase(unittest.TestCase):
    def setUp(self):
        self.case = table().accepted("transaction")
        self.now, self.jws = self.case["now"], jws_of(self.case)
        self.forged = self.jws[:-4] + "AAAA"
        self.plain = table().verifier(self.case["verifier"])
        self.executor = CountingExecutor(2)
        self.addCleanup(self.executor.shutdown)
        self.verifier = AsyncVerifier(self.plain, self.executor, limit=3, chunk=4)


class BatchTest(AioCase):
    def texts(self, count):
        return [self.forged if number % 3 == 1 else self.jws for number in range(count)]

    def test_documents_in_their_order(self):
        for count in (0, 1, 3, 4, 5, 100):
            texts = self.texts(count)
            found = asyncio.run(self.verifier.verify_many("transaction", texts, self.now))
            self.assertEqual([document.ok for document in found],
                             [text is self.jws for text in texts])

    def test_jobs_are_chunks_and_bounded(self):
        asyncio.run(self.verifier.verify_many("transaction", self.texts(50), self.now))
        self.assertEqual(self.executor.submitted, 13)
        self.assertLessEqual(self.executor.most, 3)

    def test_reads_no_further_ahead_than_its_limit(self):
        taken = []

        def texts():
            for number in range(1000):
                taken.append(number)
                yield self.jws

        async def first():
            found = self.verifier.verify_each("transaction", texts(), self.now)
            document = await found.__anext__()
            await found.aclose()
            return document

        self.assertTrue(asyncio.run(first()).ok)
        self.assertLessEqual(len(taken), (3 + 1) * 4)

    def test_asynchronous_source(self):
        async def texts():
            for text in self.texts(10):
                await asyncio.sleep(0)
                yield text

        found = asyncio.run(self.verifier.verify_many("transaction", texts(), self.now))
        self.assertEqual(sum(document.ok for document in found), 7)
        self.assertEqual(len(found), 10)

    def test_every_kind(self):
        case = table().first("verify_receipt")
        verifier = AsyncVerifier(table().verifier(case["verifier"]), self.executor)
        found = asyncio.run(
            verifier.verify_many(case["kind"], [given(case, "receipt")], case["now"]))
        self.assertEqual(found[0].kind, case["kind"])

    def test_what_ends_a_batch(self):
        for texts, kind, error in (([self.jws] * 9 + [5], "transaction", TypeError),
                                   ([5] * 30, "transaction", TypeError),
                                   ([self.jws], "anything", ValueError),
                                   (self.jws, "transaction", TypeError),
                                   (self.jws.encode(), "transaction", TypeError)):
            with self.subTest(kind=kind), self.assertRaises(error):
                asyncio.run(self.verifier.verify_many(kind, texts, self.now))

    def test_a_failing_batch_leaves_no_warning(self):
        logged = []

        async def fail():
            asyncio.get_running_loop().set_exception_handler(
                lambda loop, context: logged.append(context))
            with self.assertRaises(TypeError):
                await self.verifier.verify_many("transaction", [5] * 40, self.now)

        asyncio.run(fail())
        self.assertEqual(logged, [])

    def test_cancelled(self):
        async def cancel():
            self.executor.gate.clear()
            task = asyncio.ensure_future(
                self.verifier.verify_many("transaction", self.texts(100), self.now))
            while self.executor.submitted < 3:
                await asyncio.sleep(0.001)
            task.cancel()
            self.executor.gate.set()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(cancel())
        self.assertEqual(self.executor.submitted, 3)

    def test_the_loop_goes_on(self):
        async def both():
            self.executor.gate.clear()
            task = asyncio.ensure_future(self.verifier.verify_transaction(self.jws, self.now))
            for _ in range(20):
                await asyncio.sleep(0)
            self.assertFalse(task.done())
            self.executor.gate.set()
            return await task

        self.assertEqual(asyncio.run(both()).product_id,
                         self.plain.verify_transaction(self.jws, self.now).product_id)


class CallTest(AioCase):
    def test_the_same_parameters_as_the_verifier(self):
        """Check that the parameters have the same names, so that one class can replace the
        other."""
        ours = {name for name, _ in inspect.getmembers(AsyncVerifier, inspect.iscoroutinefunction)}
        self.assertEqual(
            {name for name in dir(assay.Verifier) if name.startswith(("verify", "read_verify"))}
            - ours, set())
        for name in sorted(ours - {"verify_many", "exchange", "_run", "from_file"}):
            with self.subTest(name=name):
                mine = inspect.signature(getattr(AsyncVerifier, name))
                theirs = inspect.signature(getattr(assay.Verifier, name))
                self.assertEqual(mine, theirs)

    def test_answers(self):
        """Check that an accepted case of each call has the verifier's result."""
        seen = set()
        for case in table().cases:
            key = case["call"], case.get("kind")
            if case["expect"]["status"] != "ok" or key in seen:
                continue
            call = call_of(case)
            if call is None:
                continue
            seen.add(key)
            name, arguments = call
            plain = table().verifier(case["verifier"])
            verifier = AsyncVerifier(plain, self.executor)
            with self.subTest(name=name):
                found = asyncio.run(getattr(verifier, name)(**arguments))
                wanted = getattr(plain, name)(**arguments)
                self.assertIs(type(found), type(wanted))
                self.assertEqual(found.document.text, wanted.document.text)
        self.assertEqual(len(seen), 12, seen)

    def test_verify_and_decide(self):
        async def both():
            document = await self.verifier.verify("transaction", self.jws, self.now)
            return document, await self.verifier.decide(document, now=self.now)

        document, decision = asyncio.run(both())
        self.assertTrue(document.ok)
        self.assertEqual(decision.plan, self.plain.decide(document, now=self.now).plan)

    def test_errors_are_the_verifier_s(self):
        with self.assertRaises(assay.RejectedError) as caught:
            asyncio.run(self.verifier.verify_transaction(self.forged, self.now))
        self.assertEqual(caught.exception.status, "rejected.jws.signature")
        with self.assertRaises(TypeError):
            asyncio.run(self.verifier.verify_transaction(5, self.now))

    def test_no_more_than_the_limit_at_once(self):
        async def many():
            calls = [self.verifier.verify_transaction(self.jws, self.now) for _ in range(40)]
            return await asyncio.gather(*calls)

        self.assertEqual(len(asyncio.run(many())), 40)
        self.assertLessEqual(self.executor.most, 3)

    def test_wrong_arguments(self):
        for verifier, executor, error in ((None, self.executor, "Verifier"),
                                          (self.verifier, self.executor, "Verifier"),
                                          (self.plain, None, "Executor")):
            with self.assertRaisesRegex(TypeError, error):
                AsyncVerifier(verifier, executor)
        for count in (0, -1, True, 2.0, None):
            for name in ("limit", "chunk"):
                with self.assertRaisesRegex(ValueError, name):
                    AsyncVerifier(self.plain, self.executor, **{name: count})

    def test_a_configuration_file(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "config.json"
            path.write_text('{"apps":[{"bundleId":"com.example.app","appAppleId":1}]}')
            verifier = asyncio.run(AsyncVerifier.from_file(path, self.executor, limit=2))
            self.assertEqual(verifier.verifier.configuration,
                             assay.Verifier.from_file(path).configuration)
            with self.assertRaises(FileNotFoundError):
                asyncio.run(AsyncVerifier.from_file(f"{path}.none", self.executor))
            with self.assertRaisesRegex(TypeError, "Executor"):
                asyncio.run(AsyncVerifier.from_file(path, None))
            path.write_text("{")
            with self.assertRaises(assay.ConfigError):
                asyncio.run(AsyncVerifier.from_file(path, self.executor))

    def test_processes_are_refused(self):
        with ProcessPoolExecutor(1) as processes:
            verifier = AsyncVerifier(self.plain, processes)
            with self.assertRaisesRegex(TypeError, "pickle"):
                asyncio.run(verifier.verify_transaction(self.jws, self.now))

    def test_an_executor_that_is_shut_down(self):
        self.executor.shutdown()
        with self.assertRaises(RuntimeError):
            asyncio.run(self.verifier.verify_transaction(self.jws, self.now))

    def test_import_assay_does_not_import_asyncio(self):
        code = "import sys, assay; print('asyncio' in sys.modules, 'assay.aio' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "False False", done.stderr)


class ExchangeTest(unittest.TestCase):
    """Exchanges of the library itself, as in test_exchange.py."""

    def setUp(self):
        watching = watched()
        self.freed = watching.__enter__()
        self.addCleanup(watching.__exit__, None, None, None)

    def verifier(self, case):
        return AsyncVerifier(table().verifier(case["verifier"]), NoExecutor())

    def play(self, case, times=None):
        """Return the document of a whole transcript, and the requests to its host."""
        said, asked = iter(answers(case)), []

        async def send(step):
            asked.append(step)
            await asyncio.sleep(0)
            return next(said)

        clock = iter(times or [case["now"], *(step["now"] for step in case["steps"])])
        found = asyncio.run(self.verifier(case).exchange(
            given(case, "request"), send, clock=lambda: next(clock)))
        return found, asked

    def test_to_the_end(self):
        found, asked = self.play(transcript("a Sandbox receipt at production"))
        self.assertTrue(found.ok, found.text)
        self.assertEqual([step["http"]["id"] for step in asked], [1, 2])
        self.assertEqual(len(self.freed), 1)

    def test_the_times_of_steps(self):
        case = transcript("Retry-After with HTTP status 503")
        now = case["now"]
        found, asked = self.play(case, [now, now + 100, now + 7100, now + 7200])
        self.assertTrue(found.ok, found.text)
        self.assertEqual([step["step"] for step in asked], ["http", "wait", "http"])
        self.assertEqual(asked[1]["notBeforeMs"], now + 7100)

    def test_done_at_once(self):
        plain = assay.Verifier({"apps": [{"bundleId": "com.example.app", "appAppleId": 1}]})

        async def never(step):
            self.fail("nothing was to be carried out")

        found = asyncio.run(AsyncVerifier(plain, NoExecutor()).exchange(RISK, never))
        self.assertTrue(found.ok)
        self.assertEqual(found.kind, "risk")

    def test_a_refused_result_is_an_answer(self):
        found, _ = self.play(transcript("HTTP status 400"))
        self.assertEqual(found.status, "rejected.verify-receipt.http")

    def test_what_the_host_raises_ends_it(self):
        case = transcript("a good answer")

        async def send(step):
            raise OSError("no route")

        with Door() as door, self.assertRaisesRegex(OSError, "no route"):
            asyncio.run(self.verifier(case).exchange(given(case, "request"), send))
        self.assertFalse(door.inside.is_set())
        self.assertEqual(len(self.freed), 1)

    def test_an_open_step_can_be_taken_up_again(self):
        case = transcript("a good answer")
        (good,) = answers(case)

        async def send(step):
            return said

        def clock():
            return case["now"]

        with begun(case) as exchange:
            said = {}
            with self.assertRaises(assay.MisuseError):
                asyncio.run(run_steps(exchange, send, clock))
            self.assertFalse(exchange.done)
            said = good
            self.assertTrue(asyncio.run(run_steps(exchange, send, clock)).ok)
        self.assertEqual(len(self.freed), 1)

    def test_cancelled_while_the_host_waits(self):
        case = transcript("a good answer")

        async def cancel():
            async def send(step):
                await asyncio.sleep(60)

            task = asyncio.ensure_future(
                self.verifier(case).exchange(given(case, "request"), send))
            await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        with Door() as door:
            asyncio.run(cancel())
        self.assertFalse(door.inside.is_set())
        self.assertEqual(len(self.freed), 1)


class NoExecutor(Executor):
    """An executor that must not be used, for exchanges."""

    def submit(self, call, *arguments, **named):
        failed = Future()
        failed.set_exception(AssertionError("an executor was used"))
        return failed


if __name__ == "__main__":
    unittest.main()
