#!/usr/bin/env python3
"""Test `assay serve-verify-receipt` with the requests of an old back end.

  serve.py BINARY [--suite NAME]
"""
import argparse
import http.client
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Gates"))
from report import Suite  # noqa: E402

COMMAND = "serve-verify-receipt"
NOW = 1_793_000_000_000
SECRET = "0123456789abcdef0123456789abcdef"
LONGEST = 3_145_728


class Server:
    """A running server; its log is read at the end."""

    def __init__(self, bench, *options, clock=NOW):
        self.process = subprocess.Popen(
            [bench.binary, COMMAND, "--config", "config.json", "--listen", "127.0.0.1:0",
             "--clock", str(clock), *options], cwd=bench.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.first = json.loads(self.process.stdout.readline())
        self.port = int(self.first["url"].rpartition(":")[2])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def ask(self, path, body, method="POST"):
        """Return status, content type and body of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type"), answer.read()
        finally:
            connection.close()

    def told(self, path, receipt, **members):
        return json.loads(self.ask(path, json.dumps({"receipt-data": receipt, **members}))[2])

    def end(self):
        """Stop the server; return its exit code and its log."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        log = self.process.communicate(timeout=60)[1]
        return self.process.returncode, log.decode()


class Bench:
    def __init__(self, suite, binary, folder):
        self.suite, self.binary, self.folder = suite, binary, pathlib.Path(folder)

    def expect(self, met, what, detail=""):
        self.suite.expect(met, what, str(detail)[:400])

    def mint(self, kind, *options):
        return subprocess.run(
            [self.binary, "mint", kind, "--authority", "ca", "--now", str(NOW), *options],
            cwd=self.folder, capture_output=True, timeout=120, check=True).stdout.decode().strip()

    def configure(self, **changes):
        config = json.loads((self.folder / "ca/config.json").read_text())
        config.update(changes)
        (self.folder / "config.json").write_text(json.dumps(config))

    def refused(self, *options):
        done = subprocess.run(
            [self.binary, COMMAND, "--config", "config.json", *options], cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout


def answers(bench):
    sandbox, old = bench.mint("app-receipt"), bench.mint("transaction-receipt")
    production = bench.mint("app-receipt", "--environment", "Production")
    bench.configure()
    with Server(bench) as server:
        bench.expect(server.first["serve"] == "verify-receipt" and
                     server.first["production"].endswith("/verifyReceipt") and
                     server.first["sandbox"].endswith("/sandbox/verifyReceipt"),
                     "the first line has the addresses", server.first)
        for path, receipt, wanted in [
                ("/verifyReceipt", production, 0), ("/production/verifyReceipt", production, 0),
                ("/sandbox/verifyReceipt", sandbox, 0), ("/sandbox/verifyReceipt", old, 0),
                ("/verifyReceipt", sandbox, 21007), ("/verifyReceipt", old, 21007),
                ("/sandbox/verifyReceipt", production, 21008)]:
            found = server.told(path, receipt)
            bench.expect(found["status"] == wanted, f"{path} answers {wanted}", found)
            bench.expect(("receipt" in found) == (wanted == 0), f"{path}: a receipt with 0 alone",
                         found)
        found = server.told("/verifyReceipt", production)
        bench.expect(found["receipt"]["request_date_ms"] == str(NOW), "the clock", found)
        bench.expect(server.ask("/verifyReceipt", "{}")[:2] == (200, "application/json"),
                     "a refusal is HTTP 200")
        for method in ("GET", "PUT"):
            status, _, body = server.ask("/verifyReceipt", None, method)
            bench.expect((status, json.loads(body)) == (200, {"status": 21000}),
                         f"{method} is 21000", body)
        for path in ("/", "/verifyreceipt", "/verifyReceipt/"):
            status, _, body = server.ask(path, "{}")
            bench.expect((status, body) == (404, b""), f"{path} is 404", (status, body))
        for count, wanted in [(LONGEST, 200), (LONGEST + 1, 413)]:
            status, _, body = server.ask("/verifyReceipt", b" " * count)
            bench.expect(status == wanted and bool(body) == (wanted == 200),
                         f"{count} bytes are {wanted}", (status, body[:80]))
        code, log = server.end()
        lines = [json.loads(line) for line in log.splitlines()]
        bench.expect(code == 0, "SIGTERM ends it with 0", code)
        bench.expect(lines[0]["appleStatus"] == 0 and lines[0]["bundleId"] and
                     lines[4]["status"] == "rejected.verify-receipt.environment",
                     "the log says what was answered", lines[:5])
        ids = found["receipt"]["in_app"][0]["transaction_id"]
        bench.expect(production[:40] not in log and ids not in log, "the log has no receipt", log)


def options(bench):
    receipt = bench.mint("app-receipt", "--environment", "Production")
    bench.configure(environments=["Production"])
    with Server(bench, "--no-mark") as server:
        bench.expect(server.first["sandbox"] is None, "no Sandbox where it is not accepted")
        bench.expect(server.ask("/sandbox/verifyReceipt", "{}")[0] == 404, "its path is 404")
        bench.expect("assay" not in server.told("/verifyReceipt", receipt), "--no-mark")
        bench.expect(server.told("/verifyReceipt", receipt + "\n")["status"] == 21002, "base64")
    with Server(bench, "--base64", "tolerant", "--refusals", "measured") as server:
        bench.expect(server.told("/verifyReceipt", receipt + "\n")["status"] == 0, "tolerant")
    config = json.loads((bench.folder / "config.json").read_text())
    receipts = {**config.get("receipts", {}), "sharedSecrets": {"*": SECRET}}
    bench.configure(receipts=receipts)
    with Server(bench) as server:
        for password, wanted in [(SECRET, 0), (SECRET[::-1], 21004), (None, 21004)]:
            found = server.told("/verifyReceipt", receipt, password=password)
            bench.expect(found["status"] == wanted, f"a secret: {wanted}", found)
        log = server.end()[1]
        bench.expect(SECRET not in log and SECRET[::-1] not in log, "the log has no secret", log)


def newer(bench):
    """A folder of newer evidence, and a subscription that has ended."""
    receipt = bench.mint("app-receipt", "--environment", "Production")
    bench.configure()
    with Server(bench) as server:
        sent = server.told("/verifyReceipt", receipt)["receipt"]["in_app"][0]
    line, end = sent["original_transaction_id"], int(sent["expires_date_ms"])
    place = bench.folder / "kept/Production"
    place.mkdir(parents=True)
    (place / f"{line}.renewal-info").write_text(
        bench.mint("renewal-info", "--environment", "Production"))
    (place / f"{line}.transaction").write_text("no evidence")
    with Server(bench, "--evidence", "kept") as server:
        found = server.told("/verifyReceipt", receipt)
        bench.expect(found["pending_renewal_info"][0]["original_transaction_id"] == line and
                     found["assay"]["source"] == "merged", "a folder of newer evidence", found)
    for word, wanted in [("expired", 0), ("later", 21005)]:
        with Server(bench, "--ended", word, clock=end) as server:
            found = server.told("/verifyReceipt", receipt)
            bench.expect(found["status"] == wanted, f"--ended {word}: {wanted}", found)


def usage(bench):
    bench.configure()
    for wrong in [["--listen", "0.0.0.0:0"], ["--listen", "192.0.2.1:80"],
                  ["--refusals", "some"], ["--base64", "any"], ["--ended", "never"],
                  ["--clock", "soon"], ["--config", "missing.json"]]:
        code, out = bench.refused(*wrong)
        bench.expect(code == 2 and not out, f"{wrong} is exit 2", (code, out))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, out = bench.refused("--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        bench.expect(code == 2 and not out, "a port that is taken is exit 2", (code, out))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--suite", default="serve")
    asked = parser.parse_args()
    suite = Suite(asked.suite)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(suite, str(pathlib.Path(asked.binary).resolve()), folder)
        for test in (answers, options, newer, usage):
            test(bench)
    suite.finish()


if __name__ == "__main__":
    main()
