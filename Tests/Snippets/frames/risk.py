"""Frame of a request from a device that cannot attest."""
import typing

import assay

verifier = assay.Verifier({"apps": [{"bundleId": "com.example.app", "appAppleId": 1}]})


def endpoint() -> typing.Any:
    # SNIPPET
    return risk.verdict, None


assert endpoint()[0] in (401, 403, 429, "allow"), endpoint()
