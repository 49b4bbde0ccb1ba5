"""The examples run as their first lines say."""
import importlib.util
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from contextlib import closing

import assay
from case_table import jws_of, table

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def load(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ExampleCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def evidence(self, kind):
        """An accepted case: its text and its configuration in a file."""
        case = table().accepted(kind)
        path = self.folder / f"{kind}.json"
        path.write_text(json.dumps(table().configuration(case["verifier"])))
        return case, path


class LambdaTest(ExampleCase):
    def test_runs(self):
        case, config = self.evidence("transaction")
        jws = self.folder / "transaction.jws"
        jws.write_text(jws_of(case))
        packages = str(pathlib.Path(assay.__file__).parent.parent)
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "lambda_handler.py"), str(jws)],
            capture_output=True, text=True, timeout=60,
            env={**os.environ, "ASSAY_CONFIG": str(config), "PYTHONPATH": packages},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["statusCode"], 200, done.stderr)
        self.assertIn("plan", json.loads(answer["body"]))

    def test_refusals(self):
        case, config = self.evidence("transaction")
        self.addCleanup(os.environ.pop, "ASSAY_CONFIG", None)
        os.environ["ASSAY_CONFIG"] = str(config)
        handler = load("lambda_handler").handler
        caller = {"authorizer": {"claims": {"sub": None}}}
        forged = json.dumps({"transaction": jws_of(case)[:-4] + "AAAA"})
        with self.assertLogs("purchases", "WARNING") as logged:
            answer = handler({"requestContext": caller, "body": forged}, None)
        self.assertEqual(answer["statusCode"], 400)
        self.assertNotIn("signature", answer["body"])
        self.assertIn("rejected.jws.signature", logged.output[0])
        for body in ("{", "{}", "[]", '{"transaction":5}', None):
            with self.subTest(body=body):
                answer = handler({"requestContext": caller, "body": body}, None)
                self.assertEqual(answer["statusCode"], 400)


class NotificationTest(ExampleCase):
    def setUp(self):
        super().setUp()
        self.case, _ = self.evidence("notification")
        self.database = str(self.folder / "notifications.db")
        verifier = table().verifier(self.case["verifier"])
        module = load("notification_endpoint")
        self.application = module.make_application(verifier, self.database)

    def post(self, body, method="POST"):
        statuses = []
        environ = {
            "REQUEST_METHOD": method,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
        self.application(environ, lambda status, headers: statuses.append(status))
        return statuses[0]

    def stored(self):
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute("select key, type, jws from notification").fetchall()

    def test_stored_once(self):
        jws = jws_of(self.case)
        body = json.dumps({"signedPayload": jws}).encode()
        self.assertEqual(self.post(body), "200 OK")
        self.assertEqual(self.post(body), "200 OK")
        rows = self.stored()
        self.assertEqual([row[2] for row in rows], [jws])
        self.assertTrue(rows[0][0] and rows[0][1])

    def test_refusals(self):
        forged = json.dumps({"signedPayload": jws_of(self.case)[:-4] + "AAAA"}).encode()
        with self.assertLogs("notifications", "WARNING"):
            self.assertEqual(self.post(forged), "400 Refused")
        for body in (b"x", b"{}", b"[]", b'{"signedPayload":5}'):
            with self.subTest(body=body):
                self.assertEqual(self.post(body), "400 Bad Request")
        self.assertEqual(self.post(b""), "413 Content Too Large")
        self.assertEqual(self.post(b" " * 300_000), "413 Content Too Large")
        self.assertEqual(self.post(b"", "GET"), "405 Method Not Allowed")
        self.assertEqual(self.stored(), [])


if __name__ == "__main__":
    unittest.main()
