"""A running back end, and an app that uses it over HTTP.

The configuration is the one that is deployed (config.json), with a test authority instead of
Apple's roots. FREEMIUM_ENGINE=moto selects DynamoDB and Cognito of moto's server.
"""
import atexit
import base64
import functools
import http.client
import json
import logging
import os
import pathlib
import secrets
import shutil
import tempfile
import threading
import time
import unittest
from urllib.parse import urlsplit

from assay_testing import Authority, program
from freemium.local.rsa import Key
from freemium.local.stack import Stack, local

EXAMPLE = pathlib.Path(__file__).resolve().parents[1]
# Most of these tests provoke refusals; those that check the log capture it.
logging.getLogger("freemium").addHandler(logging.NullHandler())
logging.getLogger("freemium").propagate = False
logging.getLogger("assay").addHandler(logging.NullHandler())
ENGINE = os.environ.get("FREEMIUM_ENGINE", "sqlite")
HAS_MINT = program().exists()
# All pools of these tests share one key, because making one takes a second.
Key.make = functools.cache(Key.make)
# Modules that are not packed for Lambda.
COMMANDS = {"freemium/__main__.py", "freemium/operate.py", "freemium/reverify.py"}
STANDARD = "com.example.app.standard.monthly"
PREMIUM = "com.example.app.premium.monthly"
LIFETIME = "com.example.app.lifetime"
TARGET = "AWSCognitoIdentityProviderService."
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


def shipped():
    """Return config.json as it is deployed."""
    return json.loads((EXAMPLE / "config.json").read_text())


class Clock:
    """The back end's time, which can be advanced."""

    def __init__(self):
        self.ahead = self.signed_in = 0.0

    def __call__(self):
        return time.time() + self.ahead

    def of_tokens(self):
        """Return the gateway's time: moto issues tokens at the real time, however far this clock
        is."""
        return self() - (self.signed_in if ENGINE == "moto" else 0.0)

    @property
    def ms(self):
        return int(self() * 1000)


class PaidFor(Authority):
    """Mints paid purchases; a test that needs Sandbox passes it."""

    def _text(self, kind, options):
        return super()._text(kind, {"environment": "Production", **options})


_MADE = {}


def authority():
    """Return the authority of all tests; its folder is deleted with the process."""
    if not _MADE:
        folder = tempfile.mkdtemp(prefix="freemium-authority-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _MADE["authority"] = PaidFor(folder)
    return _MADE["authority"]


def policy(**members):
    """Return the deployed policy under the test authority's roots."""
    mine = authority().config
    found = shipped()["assay"]
    found["ledger"].pop("forgetKey")
    found["attest"] = mine["attest"]
    found["attest"]["challenge"] = {"mode": "json", "path": "challenge", "encoding": "base64url"}
    return {**found, "storekit": mine["storekit"], **members}


def post(url, path, body=None, token=None, headers=None, raw=None, method="POST"):
    """Send one HTTP request; return status, headers and JSON."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    sent = {"Content-Type": "application/json", **(headers or {})}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    octets = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
    try:
        connection.request(method, path, octets, sent)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    return Said(answer.status, dict(answer.getheaders()), text)


class Said:
    """The response to a request."""

    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text.decode()

    @property
    def json(self):
        return json.loads(self.text) if self.text else None

    def __repr__(self):
        return f"<{self.status} {self.text[:200]}>"


def at_once(calls):
    """Return the results of calls that begin together."""
    said, gate = [None] * len(calls), threading.Barrier(len(calls))

    def run(number):
        gate.wait()
        said[number] = calls[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def new_username():
    return f"u_{secrets.token_hex(8)}"


def new_password():
    return f"Rp{base64.b64encode(secrets.token_bytes(24)).decode()[:20]}1!"


class App:
    """An app on a device, with its own name and password, and its calls."""

    def __init__(self, case, username=None, password=None):
        self.case = case
        self.username = username or new_username()
        self.password = password or new_password()
        self.token = self.identity_token = None

    def sign_up(self, **more):
        body = {"username": self.username, "password": self.password, **more}
        return post(self.case.url, "/v1/signup", body)

    def initiate_auth(self, password=None):
        """Sign in at the provider itself, as the app does it."""
        given = {"USERNAME": self.username, "PASSWORD": password or self.password}
        return provider_call(self.case, "InitiateAuth", {
            "AuthFlow": "USER_PASSWORD_AUTH", "ClientId": self.case.client,
            "AuthParameters": given})

    def sign_in(self):
        said = self.initiate_auth()
        self.case.assertEqual(said.status, 200, said)
        self.case.clock.signed_in = self.case.clock.ahead
        found = said.json["AuthenticationResult"]
        self.token, self.identity_token = found["AccessToken"], found["IdToken"]
        return self

    def post(self, path, body=None, **more):
        return post(self.case.url, path, body, token=self.token, **more)

    @property
    def account(self):
        segment = self.token.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))["sub"]

    # ---- calls of the routes

    def update(self, jws, **more):
        return self.post("/v1/update-subscription", {"signedTransactionData": jws, **more})

    def analyze(self, tier, **more):
        return self.post("/v1/analyze", {"tier": tier, "input": "text", **more})

    def plan(self):
        """Return the plan that the server has for the account, by a call that every account may
        make."""
        said = self.analyze("free")
        self.case.assertEqual(said.status, 200, said)
        return said.json["plan"]


def provider_call(case, name, body):
    """Send one request of the provider's public API, without credentials."""
    return post(case.provider_url, "/", body, headers={
        "X-Amz-Target": TARGET + name, "Content-Type": "application/x-amz-json-1.1"})


@unittest.skipUnless(HAS_MINT, "no command line to mint with: make cli, or ASSAY_PROGRAM")
class BackendCase(unittest.TestCase):
    """A base class with one back end for the tests of a class."""

    form = "http"
    settings = {}
    verifier_members = {}
    hosts = {}
    limits = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="freemium-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.clock, cls.authority = Clock(), authority()
        wanted = policy(**cls.verifier_members)
        if cls.limits:
            wanted["quotas"] = cls.limits
        cls.start(wanted)

    @classmethod
    def start(cls, wanted):
        settings = local(wanted, cls.folder.name, **cls.settings)
        hosts = dict(cls.hosts)
        if ENGINE == "moto":
            import moto_stage

            settings, hosts = moto_stage.settings(settings, hosts)
        cls.stack = Stack(settings, form=cls.form, hosts=hosts, clock=cls.clock,
                          tokens_at=cls.clock.of_tokens)
        if ENGINE == "moto":
            import rights

            cls.stack.backend.ledger.create_schema()
            cls.watch = rights.Watch().of(cls.stack.backend)
            cls.watch.started(cls.stack.backend)
            cls.addClassCleanup(cls.within_its_rights)
            cls.provider_url = moto_stage.url()
        else:
            cls.provider_url = cls.stack.url
        cls.stack.start()
        cls.addClassCleanup(cls.stack.close)
        cls.backend, cls.url = cls.stack.backend, cls.stack.url
        cls.client = settings.assay["tokens"][0]["clients"][0]

    @classmethod
    def within_its_rights(cls):
        """Check that no route exceeded the role of its function (BCK-15)."""
        if cls.watch.refused:
            raise AssertionError(f"not in the template: {sorted(cls.watch.refused)}")

    def setUp(self):
        self.clock.ahead = self.clock.signed_in = 0.0

    def app(self):
        """Return a device whose account was created, and that is signed in."""
        app = App(self)
        said = app.sign_up()
        self.assertEqual(said.status, 200, said)
        return app.sign_in()

    def bought(self, product=STANDARD, **options):
        """Return a signed transaction, each of its own subscription unless one is named."""
        given = {"transaction_id": str(2_000_000_000 + secrets.randbelow(10**9)), **options}
        if product == LIFETIME:
            given.setdefault("type", "non-consumable")
        return self.authority.transaction(product=product, **given)

    def told(self, kind, **options):
        """Deliver a notification as Apple does."""
        signed = self.authority.notification(kind, **options)
        return post(self.url, "/v1/notifications", {"signedPayload": signed})

    def events(self, method, path, body, address, token=None):
        """Call the function directly, as the gateway would for this address."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        event = self.stack.gateway.event(
            method, path, headers, json.dumps(body).encode(), address)
        return self.backend.answer(event)

    def assertAnswer(self, said, status, body):
        self.assertEqual((said.status, said.json), (status, body))
