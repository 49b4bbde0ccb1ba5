"""Apple's servers, played on this machine by `assay mock-apple`.

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
    """The server did not start, or refused what it was asked to play; the text says why."""


class MockApple:
    """A server that plays Apple, from its start to the end of the `with`.

    authority  whose keys sign what it answers
    clock      what it takes as now: milliseconds since 1970 UTC; None: the real time
    script     faults, a list of rules (docs/spec/mock-apple.md §3)
    state      file with purchases; None: three samples in each environment
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
        #: Every host that is played, and where: for `assay.http.Sender(hosts=…)`.
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
        """Sends what is meant for Apple to this server instead."""
        return Sender(hosts=self.hosts)

    def play(self, name: str, body: Any) -> dict[str, Any]:
        """POST /play/NAME: changes what is played; what came back. Raises MockError."""
        return self._ask("POST", f"/play/{name}", json.dumps(body).encode())

    @property
    def log(self) -> list[dict[str, Any]]:
        """What was asked: `method`, `host`, `path`, `status`, `atMs`."""
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
