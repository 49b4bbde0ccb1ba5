"""Apple's DeviceCheck: two bits for each device, over the network (docs/tasks/device-check.md).

Loaded on first use.
"""

from __future__ import annotations

from ._calls import base64_text, given, octets_of
from .attest import DeviceCheck

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ._calls import SignedText
    from .documents import Document
    from .http import Send


class DeviceCheckClient:
    """A client of Apple's DeviceCheck server. Made by `Verifier.device_check`."""

    __slots__ = ("_run",)

    def __init__(self, run: Callable[..., Document]) -> None:
        self._run = run

    def __repr__(self) -> str:
        return "<assay.DeviceCheckClient>"

    def query_device_bits(
        self,
        token: SignedText,
        transaction_id: str,
        offer: bool = False,
        send: Send | None = None,
    ) -> DeviceCheck:
        """Query the two bits of a device from Apple, over the network.

        token           what `generateToken` returned to the app: its bytes, or base64
        transaction_id  your own id of the request, 1 to 64 characters: the key in your log
        offer           as in `Verifier.read_device_check_response`
        send            sends a request (assay.http); None: a `Sender`

        Waits and repeats as Apple allows, a few seconds at most. Needs the block
        `deviceCheck` with its key. Errors as in
        `Verifier.read_device_check_response`.
        """
        request = {"operation": "query-device-bits", **_of_device(token, transaction_id)}
        return self._asked({**request, "offer": offer}, send)

    def update_device_bits(
        self,
        token: SignedText,
        transaction_id: str,
        bit0: bool | None = None,
        bit1: bool | None = None,
        send: Send | None = None,
    ) -> DeviceCheck:
        """Set the bits of a device; a bit that is None does not change. Arguments and errors as in
        `query_device_bits`."""
        request = {"operation": "update-device-bits", **_of_device(token, transaction_id)}
        return self._asked(given({**request, "bit0": bit0, "bit1": bit1}), send)

    def validate_device_token(
        self, token: SignedText, transaction_id: str, send: Send | None = None
    ) -> DeviceCheck:
        """Have Apple check a device token only: whether it is genuine, and of this team. Arguments
        and errors as in `query_device_bits`."""
        request = {"operation": "validate-device-token", **_of_device(token, transaction_id)}
        return self._asked(request, send)

    def _asked(self, request: Mapping[str, Any], send: Send | None) -> DeviceCheck:
        return DeviceCheck(self._run(request, (), send), "exchange.deviceCheck")


def _of_device(token: SignedText, transaction_id: str) -> dict[str, Any]:
    octets = octets_of(token)
    form: Any = octets.decode("utf-8", "replace")
    if not isinstance(token, str):
        form = {"base64": base64_text(octets)}
    return {"deviceToken": form, "transactionId": transaction_id}
