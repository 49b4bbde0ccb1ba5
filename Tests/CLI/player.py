"""Starts, requests and stops `assay mock-apple` for tests."""
import base64
import http.client
import json
import os
import select
import ssl
import subprocess
import sys
import urllib.parse

# : The time of the tests, 2026-11-20T12:00:00Z, in milliseconds since 1970.
NOW = 1_795_176_000_000
DAY = 86_400_000


class Answer:
    """A response: status 0, with the exception's name, if no usable one came."""

    def __init__(self, status, headers, body, fault=""):
        self.status, self.headers, self.body, self.fault = status, headers, body, fault

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.fault} {self.body[:200]!r}"


class Player:
    """The server in a folder; used in a `with`."""

    def __init__(self, binary, folder, *options, authority="ca", clock=NOW,
                 stdin=subprocess.PIPE, **more):
        words = [str(binary), "mock-apple", "--authority", authority, *map(str, options)]
        if clock is not None:
            words += ["--clock", str(clock)]
        self.folder = folder
        self.process = subprocess.Popen(
            words, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            **more)
        ready, _, _ = select.select([self.process.stdout], [], [], 120)
        if not ready:
            self.process.kill()
            raise SystemExit("assay mock-apple says nothing")
        self.first = json.loads(self.process.stdout.readline() or b"{}")
        if "url" not in self.first:
            raise SystemExit(f"assay mock-apple ended: {self.process.wait()}")
        self.url = self.first["url"]
        self.config = json.loads((folder / self.first["config"]).read_text())

    @property
    def place(self):
        parts = urllib.parse.urlsplit(self.url)
        return parts.hostname, parts.port

    def connect(self, timeout=20):
        return http.client.HTTPConnection(*self.place, timeout=timeout)

    def ask(self, method, host, path, body=None, headers=(), timeout=20):
        """Send one request on a connection of its own."""
        connection = self.connect(timeout)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host)
            if body is not None:
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                connection.putheader("Content-Length", str(len(body)))
            for name, value in dict(headers).items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        except (OSError, http.client.HTTPException) as error:
            return Answer(0, {}, b"", type(error).__name__)
        finally:
            connection.close()

    def play(self, name, body):
        """Post to /play/NAME, which must succeed."""
        answer = self.ask("POST", "play", f"/play/{name}", body)
        if answer.status != 200:
            raise SystemExit(f"/play/{name} {body}: {answer}")
        return answer.json

    def script(self, *rules):
        self.play("script", list(rules))

    def log(self):
        return self.ask("GET", "play", "/play/log").json["log"]

    def end(self):
        """Close standard input; return the exit code."""
        self.process.stdin.close()
        return self.process.wait(timeout=20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        if self.process.stdin:
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=20)


def trusting(path):
    """Return a context that trusts this certificate only."""
    return ssl.create_default_context(cafile=str(path))


def encoded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def jws_payload(text):
    """Return the payload of a JWS, unverified."""
    middle = text.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))


def binding(root):
    """Import the Python binding with the library of this build."""
    sys.path.insert(0, str(root / "bindings/python"))
    os.environ.setdefault("ASSAY_LIBRARY", str(root / "build/lib/libassay.so.0"))
    import assay
    from assay import http as driver
    return assay, driver
