"""Senders of an exchange's requests with the host's own client: httpx or requests.

    from assay.senders import HttpxSender, RequestsSender

    document = exchange.run(HttpxSender())

and in an asyncio program:

    from assay.aio import AsyncRunner
    from assay.senders import AsyncHttpxSender

    document = await async_verifier.exchange(request, AsyncRunner(AsyncHttpxSender()))

A client that is passed in keeps its connections, certificates and proxies. Its redirects,
cookies and authentication and the proxies of the environment are not used, except those that
httpx read when the client was made (avoid them by `trust_env=False`). Without a client each
sender makes one of its own at the first request.

Loaded on first use; httpx and requests only by the sender that needs them.
"""

from __future__ import annotations

import time
import zlib

from ._wire import PIECE, Body, Hosts, NoAnswer, answer, headers_of, no_answer, note, octets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import httpx
    import requests

__all__ = ["AsyncHttpxSender", "HttpxSender", "RequestsSender"]

# Further errors of a client for a response that did not arrive.
_FAULTS = (OSError, zlib.error, NoAnswer)


class HttpxSender:
    """Sends with an `httpx.Client`.

    client  used by any number of threads; None: one of its own, without proxies
    hosts   only for tests: replacement addresses of hosts, loopback addresses only
    """

    def __init__(
        self, client: httpx.Client | None = None, hosts: Mapping[str, str] | None = None
    ) -> None:
        self._client = client
        self._hosts = Hosts(hosts)

    def __repr__(self) -> str:
        return "<assay.senders.HttpxSender>"

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to one request; its status is 0 if no response came."""
        import httpx

        if self._client is None:
            self._client = httpx.Client(trust_env=False)
        return _in_time(self._send, request, (*_FAULTS, httpx.HTTPError))

    def _send(self, request: Mapping[str, Any], end: float) -> dict[str, Any]:
        client = self._client
        assert client is not None
        asked = _httpx_request(request, self._hosts)
        response = client.send(asked, stream=True, auth=None, follow_redirects=False)
        try:
            body = Body(request, response.headers)
            for piece in response.iter_raw():
                if not body.add(piece):
                    break
                _still(end)
            return answer(request, response.status_code, response.headers, body)
        finally:
            response.close()


class AsyncHttpxSender:
    """Sends with an `httpx.AsyncClient`; `assay.aio.AsyncRunner` takes it.

    client  for one event loop; None: one of its own, without proxies
    hosts   only for tests: replacement addresses of hosts, loopback addresses only
    """

    def __init__(
        self, client: httpx.AsyncClient | None = None, hosts: Mapping[str, str] | None = None
    ) -> None:
        self._client = client
        self._hosts = Hosts(hosts)

    def __repr__(self) -> str:
        return "<assay.senders.AsyncHttpxSender>"

    async def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to one request; its status is 0 if no response came."""
        import asyncio

        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(trust_env=False)
        begin = time.monotonic()
        try:
            sent = self._send(self._client, request)
            found = await asyncio.wait_for(sent, request["timeoutMs"] / 1000)
        except (*_FAULTS, asyncio.TimeoutError, httpx.HTTPError):
            found = no_answer(request)
        note(request, found, begin)
        return found

    async def _send(
        self, client: httpx.AsyncClient, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        asked = _httpx_request(request, self._hosts)
        response = await client.send(asked, stream=True, auth=None, follow_redirects=False)
        try:
            body = Body(request, response.headers)
            async for piece in response.aiter_raw():
                if not body.add(piece):
                    break
            return answer(request, response.status_code, response.headers, body)
        finally:
            await response.aclose()


class RequestsSender:
    """Sends with a `requests.Session`.

    session  None: one of its own
    hosts    only for tests: replacement addresses of hosts, loopback addresses only
    """

    def __init__(
        self, session: requests.Session | None = None, hosts: Mapping[str, str] | None = None
    ) -> None:
        self._session = session
        self._hosts = Hosts(hosts)

    def __repr__(self) -> str:
        return "<assay.senders.RequestsSender>"

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to one request; its status is 0 if no response came."""
        import requests
        from urllib3.exceptions import HTTPError

        if self._session is None:
            self._session = requests.Session()
        return _in_time(self._send, request, (*_FAULTS, requests.RequestException, HTTPError))

    def _send(self, request: Mapping[str, Any], end: float) -> dict[str, Any]:
        import requests

        session = self._session
        assert session is not None
        asked = requests.Request(
            request["method"],
            self._hosts.find(request["url"]).geturl(),
            headers=headers_of(request),
            data=octets_of(request),
        ).prepare()
        # The request is prepared without the session's cookies and netrc, and sent with its
        # proxies.
        response = session.send(
            asked,
            stream=True,
            timeout=request["timeoutMs"] / 1000,
            allow_redirects=False,
            proxies=session.proxies,
        )
        with response:
            response.raw.enforce_content_length = True
            body = Body(request, response.headers)
            for piece in response.raw.stream(PIECE, decode_content=False):
                if not body.add(piece):
                    break
                _still(end)
            return answer(request, response.status_code, response.headers, body)


def _httpx_request(request: Mapping[str, Any], hosts: Hosts) -> httpx.Request:
    """Return a request made without the client, whose cookies and headers it would carry."""
    import httpx

    seconds = request["timeoutMs"] / 1000
    return httpx.Request(
        request["method"],
        hosts.find(request["url"]).geturl(),
        headers=headers_of(request),
        content=octets_of(request),
        extensions={"timeout": httpx.Timeout(seconds).as_dict()},
    )


def _still(end: float) -> None:
    if time.monotonic() > end:
        raise NoAnswer("the answer took too long")


def _in_time(
    send: Callable[[Mapping[str, Any], float], dict[str, Any]],
    request: Mapping[str, Any],
    faults: tuple[type[BaseException], ...],
) -> dict[str, Any]:
    """Return a client's response, if it comes within the time of the request. The time-outs of
    these clients cover single reads only, so each request has a thread, which is left to end by
    itself if it takes longer."""
    from contextvars import copy_context
    from threading import Thread

    begin = time.monotonic()
    seconds = request["timeoutMs"] / 1000
    ended: list[dict[str, Any] | BaseException] = []

    def work() -> None:
        try:
            ended.append(send(request, begin + seconds))
        except BaseException as error:
            ended.append(error)

    thread = Thread(target=copy_context().run, args=(work,), daemon=True)
    thread.start()
    thread.join(seconds)
    found = ended[0] if ended else no_answer(request)
    if isinstance(found, BaseException):
        if not isinstance(found, faults):
            raise found
        found = no_answer(request)
    note(request, found, begin)
    return found
