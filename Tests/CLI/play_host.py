"""A host that uses mock Apple, and the names of Apple's servers."""
import pathlib

import player
from player import NOW

assay, driver = player.binding(pathlib.Path(__file__).resolve().parents[2])

BUY, SANDBOX = "buy.itunes.apple.com", "sandbox.itunes.apple.com"
DEVICES, DEVELOPMENT = "api.devicecheck.apple.com", "api.development.devicecheck.apple.com"
ATTEST, ATTEST_DEVELOPMENT = "data.appattest.apple.com", "data-development.appattest.apple.com"
STORE, STORE_SANDBOX = "api.storekit.apple.com", "api.storekit-sandbox.apple.com"
APPLE_ID = "appleid.apple.com"
POOL = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE01"
ELLIPTIC = "https://es256.example.com"
KEYS = "/.well-known/jwks.json"


class Host:
    """A host with a verifier of the mock's configuration and the Python driver."""

    def __init__(self, player, **changes):
        config = {**player.config, **changes}
        if "Production" in config["environments"]:
            config["storekit"] = {k: v for k, v in config["storekit"].items()
                                  if k != "xcodeCertificates"}
        self.player, self.verifier = player, assay.Verifier(config)

    def token(self, operation):
        exchange = self.verifier.exchange({"operation": operation}, now=NOW)
        found = exchange.payload
        return found.get("token") or found["clientSecret"]

    def sender(self):
        return driver.Sender(hosts=dict.fromkeys(self.player.first["hosts"], self.player.url))

    def ask(self, request, evidence=()):
        """Run a whole exchange at the mock's time, skipping its waits."""
        now = [NOW / 1000]
        with self.verifier.exchange(request, evidence=evidence, now=NOW) as exchange:
            return exchange.run(
                self.sender(), max_wait=86_400, clock=lambda: now[0],
                sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
