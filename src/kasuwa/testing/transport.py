"""HTTP transports of the clients of tests: connections that all merchants share, and the scenario of a block."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

SCENARIO_HEADER = "x-sandbox-scenario"
# The service closes idle connections after some seconds.
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=3.0)
# An asynchronous connection must be closed in its own event loop, which a test may have closed by then: none is kept.
NO_KEEPALIVE = httpx.Limits(max_connections=100, max_keepalive_connections=0)

# How long an answer may take where no client has a limit of its own: an advance runs what falls due in years.
ANSWER_SECONDS = 120.0

# The connections of this process, closed at its end.
CONNECTIONS = httpx.HTTPTransport(limits=LIMITS)
atexit.register(CONNECTIONS.close)


class Scenarios:
    """The scenario that a merchant's requests are sent with."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    @contextmanager
    def use(self, text: str) -> Iterator[None]:
        self._texts.append(text)
        try:
            yield
        finally:
            self._texts.remove(text)

    def add_header(self, request: httpx.Request) -> None:
        """Adds the header, unless the request has one of its own. An inner block takes precedence."""
        if self._texts and SCENARIO_HEADER not in request.headers:
            request.headers[SCENARIO_HEADER] = self._texts[-1]


def make_http_client(scenarios: Scenarios) -> httpx.Client:
    """Returns an HTTP client for a merchant. It ignores the proxies of the environment: the server is near."""
    return httpx.Client(transport=SandboxTransport(scenarios), trust_env=False, timeout=ANSWER_SECONDS)


def make_async_http_client(scenarios: Scenarios) -> httpx.AsyncClient:
    """Like `make_http_client`, for asyncio."""
    return httpx.AsyncClient(transport=AsyncSandboxTransport(scenarios), trust_env=False)


class SandboxTransport(httpx.BaseTransport):
    def __init__(self, scenarios: Scenarios) -> None:
        self._scenarios = scenarios

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._scenarios.add_header(request)
        return CONNECTIONS.handle_request(request)

    def close(self) -> None:
        """Closes nothing: other merchants use the connections too."""


class AsyncSandboxTransport(httpx.AsyncBaseTransport):
    def __init__(self, scenarios: Scenarios) -> None:
        self._scenarios = scenarios
        self._connections = httpx.AsyncHTTPTransport(limits=NO_KEEPALIVE)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._scenarios.add_header(request)
        return await self._connections.handle_async_request(request)

    async def aclose(self) -> None:
        await self._connections.aclose()
