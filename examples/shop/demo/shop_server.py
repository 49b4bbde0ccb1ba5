"""The shop on loopback, with a test authority instead of Apple: for its demonstration, and for the
tests that are too large for PHPUnit.

The issuer of its tokens exists only in the folder of the demonstration.
"""
import base64
import http.client
import json
import os
import pathlib
import pwd
import secrets
import signal
import socket
import subprocess
import sys
import time

SHOP = pathlib.Path(__file__).resolve().parents[1]
ROOT = SHOP.parents[1]
ISSUER = "https://local-only.demo.example"
COINS = "com.example.app.coins100"
PATIENCE = 15
# Uses FFI, or the extension in ASSAY_EXTENSION.
PHP = [os.environ.get("PHP", "php"), "-d", f"extension={os.environ['ASSAY_EXTENSION']}"
       if os.environ.get("ASSAY_EXTENSION") else "ffi.enable=1"]
LIBRARY = os.environ.get("ASSAY_LIBRARY", str(ROOT / "build/lib/libassay.so.0"))
# The server preloads its classes, as php-fpm does.
PRELOAD = ["-d", f"ffi.preload={ROOT / 'bindings/php/assay.ffi.h'}", "-d",
           f"opcache.preload={SHOP / 'server/preload.php'}", "-d",
           f"opcache.preload_user={pwd.getpwuid(os.geteuid()).pw_name}"] \
    if pathlib.Path(LIBRARY).name == "libassay.so.0" else []


class ShopServer:
    """PHP's own server with the shop, from `start` to `stop`."""

    def __init__(self, folder, program, workers=1, settings=None, dsn=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = str(program)
        self.workers = workers
        self.database = self.folder / "shop.db"
        self.password = secrets.token_urlsafe(12)
        self.process = None
        self.port = free_port()
        self.tokens = {}
        self.mint("transaction")
        (self.folder / "keys.json").write_text(self.mint("keyset", "--issuer", ISSUER))
        self.configure(settings or {}, dsn or f"sqlite:{self.database}")
        self.run("setup")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def config(self):
        """Return the configuration of the verifier."""
        found = json.loads((self.folder / "authority/config.json").read_text())
        found["decision"] = {"accountToken": "if-present"}
        found["tokens"] = [{"profile": "jwt", "algorithm": "RS256", "issuers": [ISSUER],
                            "audiences": ["shop"]}]
        return found

    def configure(self, settings, dsn):
        everything = {
            "verifier": self.config, "database": {"dsn": dsn},
            "bearer": {"keys": str(self.folder / "keys.json")}, "goods": {COINS: 100},
            "operators": {"operator": self.run("password", text=self.password + "\n").strip()},
            "formKey": secrets.token_hex(32), **settings,
        }
        file = self.folder / "shop.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps(everything, indent=1))

    # ---- evidence

    def mint(self, kind, *options):
        return self.minted("mint", kind, *options)

    def minted(self, *words):
        return subprocess.run(
            [self.program, *words, "--authority", str(self.folder / "authority")], check=True,
            capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip()

    def coins(self, number, **options):
        """Return the JWS of a new purchase in Production."""
        words = ["--environment", "Production", "--type", "consumable", "--product", COINS,
                 "--transaction-id", str(number), "--original-transaction-id", str(number)]
        for name, value in options.items():
            words += [f"--{name}", str(value)]
        return self.mint("transaction", *words)

    def token(self, account):
        if account not in self.tokens:
            self.tokens[account] = self.mint(
                "token", "--profile", "jwt", "--alg", "RS256", "--issuer", ISSUER,
                "--audience", "shop", "--subject", account, "--life", "86400")
        return self.tokens[account]

    # ---- the processes

    @property
    def environment(self):
        workers = {"PHP_CLI_SERVER_WORKERS": str(self.workers)} if self.workers > 1 else {}
        return {"PATH": os.environ["PATH"], "SHOP_CONFIG": str(self.folder / "shop.json"),
                "TMPDIR": str(self.folder),
                "ASSAY_LIBRARY": LIBRARY, **workers}

    def run(self, *words, text=""):
        """Run a command of bin/shop and return its output."""
        done = subprocess.run(
            [*PHP, str(SHOP / "bin/shop"), *words], check=False, input=text,
            capture_output=True, text=True, env=self.environment)
        if done.returncode:
            sys.exit(f"bin/shop {' '.join(words)}: {done.stderr}")
        return done.stdout

    def start(self, script="public/index.php"):
        # Its own process group: its workers end with it, and a Ctrl-C reaches only this program.
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*PHP, *PRELOAD, "-S", f"127.0.0.1:{self.port}", str(SHOP / script)],
                env={**self.environment, "LD_LIBRARY_PATH": str(pathlib.Path(LIBRARY).parent)},
                start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while not self.answers():
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit(f"the shop does not answer: {self.folder / 'log'}")
            time.sleep(0.01)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def end(self, how):
        """End the server and its workers by this signal."""
        if self.process is not None:
            os.killpg(self.process.pid, how)
            self.process.wait()
            self.process = None
            while self.answers():  # a worker is still ending
                time.sleep(0.005)

    def stop(self):
        self.end(signal.SIGTERM)

    def kill(self):
        self.end(signal.SIGKILL)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- requests

    def send(self, evidence, account, timeout=60):
        """Return status and body of POST /v1/receipts. Raises OSError and HTTPException."""
        return self.post("/v1/receipts", {"evidence": evidence}, self.token(account), timeout)

    def post(self, path, body, bearer=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            headers = {"Content-Type": "application/json"}
            if bearer is not None:
                headers["Authorization"] = f"Bearer {bearer}"
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
            found = json.loads(text) if text else {}
            return response.status, found, dict(response.getheaders())
        finally:
            connection.close()

    def read(self, path, account, timeout=30):
        """Read as an account's app does, or as the operator without one.

        Returns the members, or the text of a page; None if the answer is not 200, or there is none.
        """
        token = base64.b64encode(f"operator:{self.password}".encode()).decode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers={"Authorization": (
                f"Basic {token}" if account is None else f"Bearer {self.token(account)}")})
            response = connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        if response.status != 200:
            return None
        return text if account is None else json.loads(text)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
