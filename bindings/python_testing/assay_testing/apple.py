"""Mock Apple's servers on this machine with `assay mock-apple`.

    from assay_testing import Authority
    from assay_testing.apple import MockApple

    with MockApple(Authority()) as apple:
        exchange = apple.verifier.exchange({"operation": "call-verify-receipt", "receipt": receipt})
        document = exchange.run(apple.sender)

With pytest the fixture `assay_apple` is such a server, one for the whole run.
"""

from __future__ import annotations

import http.client
import json
import pathlib
import subprocess
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import assay
from assay.http import Sender

from . import Authority, program

__all__ = ["MockApple", "MockError"]

_TIMEOUT_SECONDS = 30


class MockError(RuntimeError):
    """Raised if the server does not start or refuses a request; the message has the reason."""


class MockApple:
    """A server that behaves like Apple's, from its start to the end of the `with`.

    authority  the authority whose keys sign its responses
    clock      its current time in milliseconds since 1970 UTC; None: the real time
    script     faults, a list of rules (docs/spec/mock-apple.md §3)
    state      a file with purchases; None: three samples in each environment
    """

    def __init__(
        self,
        authority: Authority,
        *,
        clock: int | None = None,
        script: list[dict[str, Any]] | None = None,
        state: str | pathlib.Path | None = None,
    ) -> None:
        words = [str(program()), "mock-apple", "--authority", str(authority.folder)]
        words += ["--clock", "live" if clock is None else str(clock)]
        if state is not None:
            words += ["--state", str(state)]
        self.authority = authority
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            _, complaint = self._process.communicate(timeout=_TIMEOUT_SECONDS)
            raise MockError(complaint.decode(errors="replace").strip())
        first = json.loads(line)
        #: `http://127.0.0.1:PORT`.
        self.url: str = first["url"]
        #: The address of every mocked host, for `assay.http.Sender(hosts=…)`.
        self.hosts: dict[str, str] = dict.fromkeys(first["hosts"], self.url)
        #: A configuration for these hosts: Sandbox, the roots of the authority, test keys.
        self.config: dict[str, Any] = json.loads(pathlib.Path(first["config"]).read_text())
        if script is not None:
            self.play("script", script)

    @property
    def verifier(self) -> assay.Verifier:
        """A new verifier of `config`."""
        return assay.Verifier(self.config)

    @property
    def sender(self) -> Sender:
        """A sender that sends requests for Apple to this server instead."""
        return Sender(hosts=self.hosts)

    def play(self, name: str, body: Any) -> dict[str, Any]:
        """Post to /play/NAME, which changes the mock, and return the response. Raises MockError."""
        return self._ask("POST", f"/play/{name}", json.dumps(body).encode())

    @property
    def log(self) -> list[dict[str, Any]]:
        """The requests to the server: `method`, `host`, `path`, `status`, `atMs`."""
        found: list[dict[str, Any]] = self._ask("GET", "/play/log", None)["log"]
        return found

    def _ask(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(
            place.hostname or "", place.port, timeout=_TIMEOUT_SECONDS
        )
        try:
            connection.request(method, path, body, {"Host": "play"})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise MockError(text.decode(errors="replace") or f"{path}: {response.status}")
        found: dict[str, Any] = json.loads(text)
        return found

    def close(self) -> None:
        """End the server. Closing twice is allowed."""
        if self._process.poll() is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=_TIMEOUT_SECONDS)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> MockApple:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
