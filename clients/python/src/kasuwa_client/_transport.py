"""Drives flows with httpx: the only part of the client that does I/O."""

from __future__ import annotations

import os
import ssl
import time
from typing import Any, TypeVar

import httpx

from kasuwa_client._flow import Effect, Flow, Pause, Send
from kasuwa_client._judge import Answer, Failure

T = TypeVar("T")

# Errors that are raised before any byte of the request is written.
NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
# Less than the service keeps an idle connection, so that none is used that it is closing.
KEEPALIVE_SECONDS = 3.0
MAX_CONNECTIONS = 100
MAX_CONNECT_SECONDS = 10.0
TOO_SLOW = Failure("the reply was not complete in time", was_sent=True)


def read_failure(error: httpx.HTTPError) -> Failure:
    """Returns the failure of an attempt. Its reason has the kind of error, what the system says of it and the address:
    texts of errors and requests may hold secrets."""
    return Failure(describe_failure(error), was_sent=not isinstance(error, NOT_SENT))


def describe_failure(error: httpx.HTTPError) -> str:
    cause: BaseException | None = error
    meaning = ""
    while cause is not None and not meaning:
        if isinstance(cause, ssl.SSLError):
            meaning = str(cause.reason or "")
        elif isinstance(cause, OSError):
            # Numbers of a failed look-up of a name are below zero, and mean something else.
            number = cause.errno or 0
            meaning = os.strerror(number) if number > 0 else cause.strerror or ""
        cause = cause.__cause__ or cause.__context__
    kind = type(error).__name__
    try:
        url = error.request.url
    except RuntimeError:  # the error was raised before there was a request
        return f"{meaning} ({kind})" if meaning else kind
    port = "" if url.port is None else f":{url.port}"
    where = f"{kind} at {url.scheme}://{url.host}{port}"
    return f"{meaning} ({where})" if meaning else where


def timeout_of(effect: Send) -> httpx.Timeout:
    return httpx.Timeout(effect.timeout_seconds, connect=min(MAX_CONNECT_SECONDS, effect.timeout_seconds))


def limits() -> httpx.Limits:
    return httpx.Limits(
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=MAX_CONNECTIONS,
        keepalive_expiry=KEEPALIVE_SECONDS,
    )


class SyncTransport:
    """Runs flows with an httpx.Client. Can be used by several threads at once."""

    def __init__(self, client: httpx.Client, base_url: str, *, is_owner: bool) -> None:
        self._client = client
        self._base_url = base_url
        self._is_owner = is_owner

    def run(self, flow: Flow[T]) -> T:
        outcome: Answer | Failure | None = None
        try:
            while True:
                try:
                    effect = flow.send(outcome)
                except StopIteration as done:
                    result: T = done.value
                    return result
                outcome = self._perform(effect)
        finally:
            flow.close()

    def _perform(self, effect: Effect) -> Answer | Failure | None:
        if isinstance(effect, Pause):
            time.sleep(effect.seconds)
            return None
        request = effect.request
        try:
            with self._client.stream(
                "PUT",
                self._base_url + request.path,
                content=request.content,
                headers=dict(request.headers),
                timeout=timeout_of(effect),
                follow_redirects=False,
            ) as response:
                content = bytearray()
                for part in response.iter_bytes():
                    content += part
                    if time.monotonic() > effect.until:
                        return TOO_SLOW
                return Answer(response.status_code, dict(response.headers), bytes(content))
        except httpx.HTTPError as error:
            return read_failure(error)

    def close(self) -> None:
        """Closes the connections, unless the httpx.Client was given by the user."""
        if self._is_owner:
            self._client.close()


async def sleep(seconds: float) -> None:
    """Pauses in the event loop that runs: of asyncio or of trio. httpx finds it in the same way."""
    import anyio  # here, because only the async client needs it

    await anyio.sleep(seconds)


async def read_until(response: httpx.Response, until: float) -> bytes | None:
    """Returns the body, or None if it was not complete in time. What reads is cancelled then, so that nothing of it is
    left: trio warns of each generator that was not run to its end."""
    import anyio

    content = bytearray()
    with anyio.move_on_after(until - time.monotonic()) as scope:
        async for part in response.aiter_bytes():
            content += part
    return None if scope.cancelled_caught else bytes(content)


class AsyncTransport:
    """Runs flows with an httpx.AsyncClient. Can be used by several tasks at once."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, *, is_owner: bool) -> None:
        self._client = client
        self._base_url = base_url
        self._is_owner = is_owner

    async def run(self, flow: Flow[T]) -> T:
        outcome: Answer | Failure | None = None
        try:
            while True:
                try:
                    effect = flow.send(outcome)
                except StopIteration as done:
                    result: T = done.value
                    return result
                outcome = await self._perform(effect)
        finally:
            flow.close()

    async def _perform(self, effect: Effect) -> Answer | Failure | None:
        if isinstance(effect, Pause):
            await sleep(effect.seconds)
            return None
        request = effect.request
        try:
            async with self._client.stream(
                "PUT",
                self._base_url + request.path,
                content=request.content,
                headers=dict(request.headers),
                timeout=timeout_of(effect),
                follow_redirects=False,
            ) as response:
                content = await read_until(response, effect.until)
                return TOO_SLOW if content is None else Answer(response.status_code, dict(response.headers), content)
        except httpx.HTTPError as error:
            return read_failure(error)

    async def close(self) -> None:
        """Closes the connections, unless the httpx.AsyncClient was given by the user."""
        if self._is_owner:
            await self._client.aclose()


def describe(value: Any) -> str:
    """Returns a client's repr, without its key."""
    return f"{type(value).__name__}(mid={value.mid!r}, base_url={value.base_url!r})"
