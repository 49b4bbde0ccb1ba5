"""The freemium back end of this repository, for scenarios that play the app against it.

Its device is that of a test authority: what the stub of DeviceCheck returns is minted by the
command line, under the authority that the back end trusts.
"""
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
FREEMIUM = ROOT / "examples/freemium"
PREMIUM = "com.example.app.premium.monthly"


def why_not():
    """Return why the back end cannot run; None if it can."""
    missing = [name for name in ("ASSAY_LIBRARY", "ASSAY_PROGRAM")
               if not pathlib.Path(os.environ.get(name, "")).is_file()]
    return f"{' and '.join(missing)} name no file: make check-app-side" if missing else None


def grant(backend, account, offer, grant_id):
    """Grant the promotion of a scenario."""
    return {"coins": 5}


class Log(logging.Handler):
    """Keeps the messages of the back end."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def played(program, scene, environment="Production", **settings):
    """Play a scenario against a new back end that accepts production keys; return its output and
    the back end's log.

    environment  of the keys that the device makes: those of Sandbox are development keys
    settings     of the back end
    """
    sys.path[:0] = [str(FREEMIUM)]
    from assay_testing import Authority
    from assay_testing.apple import MockApple
    from freemium.local.pool import CLIENT
    from freemium.local.stack import Stack, local

    log = Log()
    logging.getLogger("freemium").addHandler(log)
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        authority = Authority(home / "authority")
        jws = authority.transaction(product=PREMIUM, transaction_id="7", environment="Production")
        policy = json.loads((FREEMIUM / "config.json").read_text())["assay"]
        policy["ledger"].pop("forgetKey")
        policy["storekit"] = authority.config["storekit"]
        policy["attest"] = {
            **authority.config["attest"], "environments": ["production"],
            "challenge": {"mode": "json", "path": "challenge", "encoding": "base64url"}}
        apple = MockApple(authority)
        policy["deviceCheck"] = {**apple.config["deviceCheck"], "environment": "production",
                                 "bits": {"bit0": {"name": "promo"}}}
        settings = {"promotions": {"welcome": {"grant": "back_end:grant"}}, **settings}
        stack = Stack(local(policy, home, **settings), hosts=apple.hosts).start()
        try:
            done = subprocess.run(
                [program, scene, stack.url, home / "queue"], capture_output=True, text=True,
                timeout=60, stdin=subprocess.DEVNULL,
                env={**os.environ, "HOME": name, "XDG_CONFIG_HOME": name, "CLIENT": CLIENT,
                     "JWS": jws, "AUTHORITY": str(authority.folder),
                     "ENVIRONMENT": environment})
        finally:
            stack.close()
            apple.close()
            logging.getLogger("freemium").removeHandler(log)
        return done.stdout.strip() + done.stderr, log.lines
