"""The server of a scenario: provider and back end in one, as far as an app can notice."""
import collections
import http.server
import json
import threading
import time

SECONDS = 30
ATTEST = 401, {"error": "Attestation required"}
UNAUTHORIZED = 401, {"error": "Unauthorized"}
AGAIN = 503, {"error": "Try again later"}, {"Retry-After": "5"}
REFUSED = "Invalid subscription data"
NOT_AUTHORIZED = 400, {"__type": "NotAuthorizedException", "message": "Incorrect."}
# The connection ends without a response.
NOTHING = ("nothing",)


def held(answer):
    """Return a response that is held back until the scenario releases it."""
    return "held", answer


class Server:
    """A server that first gives the responses of `script`, once each, and then its usual ones.

    script         path: list of (status, body, headers), NOTHING, or held(…)
    closed         whether every user name that was requested first is closed for ever
    attest_signup, attest_calls   the back end's options
    """

    def __init__(self, script=None, closed=False, attest_signup=False, attest_calls=False):
        self.script = {path: list(answers) for path, answers in (script or {}).items()}
        self.closed, self.attest_signup, self.attest_calls = closed, attest_signup, attest_calls
        self.calls, self.users, self.shut, self.bound = [], set(), set(), set()
        self.counts = collections.Counter()
        self.changed, self.released = threading.Condition(), threading.Event()
        handler = type("Handler", (_Handler,), {"world": self})
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.released.set()
        self.http.shutdown()
        self.http.server_close()

    def paths(self):
        return [path for path, _, _ in self.calls]

    def bodies(self, path):
        return [body for found, body, _ in self.calls if found == path]

    def wait(self, path, count=1):
        """Wait until a path was requested, with "confirm" until a body had that member; not at all
        for ""."""
        def came():
            found = [body for at, body, _ in self.calls
                     if at == path or (path == "confirm" and body.get("confirm"))]
            return len(found) >= count
        with self.changed:
            return not path or self.changed.wait_for(came, SECONDS)

    def take(self, path, body, headers):
        with self.changed:
            self.calls.append((path, body, headers))
            self.changed.notify_all()
            answer = self.script[path].pop(0) if self.script.get(path) else None
        if answer and answer[0] == "held":
            self.released.wait(SECONDS)
            answer = answer[1]
        return answer or self.usual(path, body, headers)

    # ---- the usual responses

    def usual(self, path, body, headers):
        found = getattr(self, "_" + path.split("/")[-1].replace("-", "_"), None)
        if found is None:
            return 404, {"error": "Not found"}
        return found(body, headers)

    def _provider(self, body, headers):
        name = body["AuthParameters"]["USERNAME"]
        if self.closed and not self.users and not self.shut:
            self.shut.add(name)
        if name not in self.users:
            return NOT_AUTHORIZED
        return 200, {"AuthenticationResult": {"AccessToken": f"of {name}", "ExpiresIn": 3600}}

    def _signup(self, body, headers):
        if self.attest_signup and not ("attestation" in body or "unsupported" in body):
            return ATTEST
        name = body["username"]
        if not name.startswith("u_"):
            return 400, {"error": "Invalid credentials"}
        if name in self.users | self.shut:
            return 409, {"status": "already_exists"}
        self.users.add(name)
        self.bound.add(body.get("keyId"))
        return 200, {"status": "created"}

    def _challenge(self, body, headers):
        self.counts["challenge"] += 1
        return 200, {"challenge": f"challenge {self.counts['challenge']}",
                     "expiresAtMs": int(time.time() * 1000) + 300_000}

    def _session(self, body, headers):
        if "attestation" in body:
            self.bound.add(body["keyId"])
        if body["keyId"] not in self.bound:
            return ATTEST
        self.counts["session"] += 1
        return 200, {"session": f"session {self.counts['session']}",
                     "expiresAtMs": int(time.time() * 1000) + 600_000}

    def _promotion(self, body, headers):
        if self.attest_calls and not headers.get("X-Session"):
            return ATTEST
        return 200, {"offer": body["offer"], "grant": {"coins": 5}}

    def _analyze(self, body, headers):
        if self.attest_calls and not headers.get("X-Session"):
            return ATTEST
        return 200, {"tier": body["tier"]}

    def _update_subscription(self, body, headers):
        return 200, {"plan": "premium" if body else "free"}

    def _link(self, body, headers):
        self.users.add("a_joined")
        return 200, {"status": "linked", "username": "a_joined", "password": "p"}

    def _delete(self, body, headers):
        self.users.discard(headers["Authorization"].removeprefix("Bearer of "))
        return 200, {"status": "deleted"}


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        """Handle a request of the scenario itself, /play/…."""
        what = self.path.removeprefix("/play/")
        if what == "release":
            self.world.released.set()
        elif what.startswith("wait/"):
            self.world.wait(what.removeprefix("wait/"))
        elif what == "note/joined":
            self.world.users.add("a_joined")
        self.say(200, {})

    def do_POST(self):
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, body = self.path.removeprefix("/"), json.loads(sent or b"{}")
        answer = self.world.take(path, body, self.headers)
        if answer == NOTHING:
            self.close_connection = True
            return
        self.say(*answer)

    def say(self, status, body, headers=None):
        octets = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(octets)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(octets)
        except OSError:
            pass  # The app was ended meanwhile.

    def log_message(self, *words):
        pass
