"""The demonstration and the package's command, which serve, and end without leftovers."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from urllib.parse import urlsplit

from assay_testing import program
from freemium.local.pool import CLIENT, ISSUER
from running import BackendCase, policy, post

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Started:
    """A process that serves until it is stopped."""

    def __init__(self, *command, cwd=ROOT):
        self.process = subprocess.Popen(
            [sys.executable, *map(str, command)], cwd=cwd, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def line(self, wanted):
        """Return the first line that contains a text."""
        for line in self.process.stdout:
            if wanted in line:
                return line
        raise AssertionError(f"it ended without {wanted!r}")

    def end(self, number):
        self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=60)
        return self.process.returncode, said

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def is_open(url):
    place = urlsplit(url)
    with socket.socket() as tried:
        return tried.connect_ex((place.hostname, place.port)) == 0


class DemoTest(BackendCase):
    def test_bck40_the_demonstration_ends_without_leftovers(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                demo = Started("examples/freemium/demo.py", program())
                self.addCleanup(demo.kill)
                url = demo.line("listens on").split()[-1]
                demo.line("until Ctrl-C")
                self.assertEqual(post(url, "/v1/analyze", {}).status, 401)
                code, _ = demo.end(number)
                self.assertEqual(code, 0)
                self.assertFalse(is_open(url))
                self.assertFalse((ROOT / "build/demo-lambda").exists())

    def test_bck40_one_command_and_one_file(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            found = policy(tokens=[{"profile": "cognito-access", "issuers": [ISSUER],
                                    "clients": [CLIENT]}])
            (folder / "config.json").write_text(json.dumps({
                "engine": f"sqlite:///{folder}/freemium.db",
                "provider": {"kind": "local", "file": f"{folder}/pool.db"}, "assay": found}))
            served = Started("-m", "freemium", folder / "config.json", "0", cwd=folder)
            self.addCleanup(served.kill)
            url = served.line("listening on").split()[-1]
            self.assertEqual(post(url, "/v1/analyze", {}).status, 401)
            self.assertEqual(served.end(signal.SIGTERM)[0], 0)
            self.assertFalse(is_open(url))

    def test_bck40_no_secret_on_the_command_line(self):
        said = subprocess.run([sys.executable, "-m", "freemium"], capture_output=True, text=True,
                              env=dict(os.environ))
        self.assertEqual(said.returncode, 1)
        self.assertIn("usage: python3 -m freemium CONFIGURATION [PORT]", said.stderr)


if __name__ == "__main__":
    unittest.main()
