"""Evidence for the frames of Python blocks, minted into the folder of the page.

The pages configure verifiers as in production, with Apple's roots. Importing this module gives
every `assay.Verifier` made later the roots of the test authority instead, and the command line
mints what Apple would have signed.
"""
import json
import pathlib
import subprocess

import assay

AUTHORITY = pathlib.Path("authority")
ACCOUNT = "1b4e28ba-2fa1-11d2-883f-b9a761bde3fb"


def mint(*arguments, environment="Production"):
    """Return one piece of evidence as text, as an app would send it."""
    made = subprocess.run(
        ["assay", "mint", *arguments, "--authority", str(AUTHORITY),
         "--environment", environment], capture_output=True, text=True, check=True)
    return made.stdout.strip()


def device():
    """Return keyId and publicKey of the authority's device."""
    return json.loads((AUTHORITY / "device.json").read_text())


def with_test_roots(configuration):
    """Return the configuration with the test authority's roots instead of Apple's."""
    made = dict(json.loads(configuration) if isinstance(configuration, (str, bytes)) else configuration)
    roots = json.loads((AUTHORITY / "config.json").read_text())
    for area, members in [("storekit", ["anchors"]), ("receipts", ["anchors", "intermediates"]),
                          ("attest", ["anchors", "receiptAnchors"])]:
        of_the_app = any("teamId" in app for app in made["apps"])
        if area != "attest" or of_the_app or "appIds" in made.get("attest", {}):
            made[area] = {**made.get(area, {}), **{name: roots[area][name] for name in members}}
    return made


mint("transaction")                 # creates the authority
mint("attestation")                 # creates its device


class Verifier(assay.Verifier):
    """A verifier with the test authority's roots, whichever way it is made."""

    def __init__(self, configuration):
        super().__init__(with_test_roots(configuration))


assay.Verifier = Verifier
