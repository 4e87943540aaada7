"""The clients: Kasuwa, and AsyncKasuwa for asyncio and trio."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

import httpx

from kasuwa_client import _async_groups, _sync_groups
from kasuwa_client._environment import read_credentials
from kasuwa_client._events import Hook
from kasuwa_client._flow import DEFAULT_RETRY, RetryPolicy, Settings
from kasuwa_client._json import is_filled_text
from kasuwa_client._transport import AsyncTransport, SyncTransport, describe, limits
from kasuwa_client._version import __version__
from kasuwa_client.events import Event
from kasuwa_client.webhooks import verify_event

C = TypeVar("C", "Kasuwa", "AsyncKasuwa")

USER_AGENT = f"kasuwa-client-python/{__version__}"
SCENARIO_HEADER = "x-sandbox-scenario"


def make_settings(
    mid: str, key: str, timeout: float, retry: RetryPolicy, make_references: bool, hooks: Iterable[Hook]
) -> Settings:
    """Returns the settings of a client. Raises ValueError or TypeError for values that cannot work."""
    for name, value in (("mid", mid), ("key", key)):
        if not is_filled_text(value):
            raise TypeError(f"{name}: must be a text that is not empty")
        if not (value.isascii() and value.isprintable()):
            # The value is not shown: it may be a key.
            raise ValueError(f"{name}: must be printable ASCII characters")
    if not timeout > 0:
        raise ValueError("timeout: must be above zero")
    headers = {"user-agent": USER_AGENT}
    return Settings(mid, key, timeout, retry, make_references, tuple(hooks), headers)


def check_base_url(base_url: str) -> str:
    url = httpx.URL(base_url)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("base_url: must be an http or https address, such as http://127.0.0.1:8080")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("base_url: must have no user name, query or fragment")
    return str(url).rstrip("/")


def changed_settings(
    settings: Settings,
    timeout: float | None,
    retry: RetryPolicy | None,
    scenario: str | None,
    headers: Mapping[str, str] | None,
) -> Settings:
    extra = {**settings.extra_headers, **{name.lower(): value for name, value in (headers or {}).items()}}
    if scenario is not None:
        extra[SCENARIO_HEADER] = scenario
    return replace(
        settings,
        timeout_seconds=settings.timeout_seconds if timeout is None else timeout,
        retry=retry or settings.retry,
        extra_headers=extra,
    )


class Kasuwa:
    """The client of one merchant. Can be used by several threads at once.

    mid, key: the merchant's credentials. They are sent as headers and appear in no log, error or repr.
    base_url: the address of the service.
    timeout: seconds for each step of an attempt: writing, and each wait for a part of the reply.
    retry: how often and how long safe requests are repeated.
    make_references: whether the client makes an orderRef or Idempotency-Key for writes that come without one, so that
        they can be repeated safely. If false, such writes are never repeated.
    hooks: functions that are called with what happens to requests, for logging. Secrets are masked.
    proxy, transport: passed to httpx.Client. http_client: an httpx.Client of your own, which you close yourself.
    """

    def __init__(
        self,
        *,
        mid: str,
        key: str,
        base_url: str = "http://127.0.0.1:8080",
        timeout: float = 30.0,
        retry: RetryPolicy = DEFAULT_RETRY,
        make_references: bool = True,
        hooks: Iterable[Hook] = (),
        proxy: str | None = None,
        transport: httpx.BaseTransport | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        self.mid = mid
        self.base_url = check_base_url(base_url)
        settings = make_settings(mid, key, timeout, retry, make_references, hooks)
        client = http_client or httpx.Client(proxy=proxy, transport=transport, limits=limits())
        self._connect(SyncTransport(client, self.base_url, is_owner=http_client is None), settings)

    @classmethod
    def from_environment(cls) -> Kasuwa:
        """Returns a client of the merchant that KASUWA_MID, KASUWA_KEY and KASUWA_URL name. Raises ValueError that
        names every variable that is not set."""
        mid, key, base_url = read_credentials()
        return cls(mid=mid, key=key, base_url=base_url)

    def verify_event(self, raw_body: bytes | str, headers: Mapping[str, str]) -> Event:
        """Returns the event of a delivery, typed by its kind. Raises InvalidSignature if it was not signed with the key
        of this client. The function verify_event has options."""
        return verify_event(raw_body, headers, self._settings.key)

    def _connect(self, transport: SyncTransport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings
        self.disburse = _sync_groups.Disburse(transport, settings)
        self.payment = _sync_groups.Payment(transport, settings)
        self.bills = _sync_groups.Bills(transport, settings)
        self.clients = _sync_groups.Clients(transport, settings)
        self.loans = _sync_groups.Loans(transport, settings)
        self.investments = _sync_groups.Investments(transport, settings)
        self.virtualcard = _sync_groups.Virtualcard(transport, settings)
        self.cashcode = _sync_groups.Cashcode(transport, settings)
        self.resources = _sync_groups.Resources(transport, settings)
        self.sandbox = _sync_groups.Sandbox(transport, settings)

    def with_options(
        self,
        *,
        timeout: float | None = None,
        retry: RetryPolicy | None = None,
        scenario: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Kasuwa:
        """Returns a client with other options that shares the connections of this one.

        `scenario` tells the test environment how the outside behaves, such as "rr=91;delay=5". `headers` are sent with
        every request, such as x-request-id.
        """
        copy = _copy_of(self)
        copy._connect(self._transport, changed_settings(self._settings, timeout, retry, scenario, headers))
        return copy

    def close(self) -> None:
        """Closes the connections, also those of clients that with_options returned."""
        self._transport.close()

    def __enter__(self) -> Kasuwa:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return describe(self)


class AsyncKasuwa:
    """The client of one merchant for asyncio and trio. Can be used by several tasks at once.

    See Kasuwa for the parameters."""

    def __init__(
        self,
        *,
        mid: str,
        key: str,
        base_url: str = "http://127.0.0.1:8080",
        timeout: float = 30.0,
        retry: RetryPolicy = DEFAULT_RETRY,
        make_references: bool = True,
        hooks: Iterable[Hook] = (),
        proxy: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self.mid = mid
        self.base_url = check_base_url(base_url)
        settings = make_settings(mid, key, timeout, retry, make_references, hooks)
        client = http_client or httpx.AsyncClient(proxy=proxy, transport=transport, limits=limits())
        self._connect(AsyncTransport(client, self.base_url, is_owner=http_client is None), settings)

    @classmethod
    def from_environment(cls) -> AsyncKasuwa:
        """Returns a client of the merchant that KASUWA_MID, KASUWA_KEY and KASUWA_URL name. Raises ValueError that
        names every variable that is not set."""
        mid, key, base_url = read_credentials()
        return cls(mid=mid, key=key, base_url=base_url)

    def verify_event(self, raw_body: bytes | str, headers: Mapping[str, str]) -> Event:
        """Returns the event of a delivery, typed by its kind. Raises InvalidSignature if it was not signed with the key
        of this client. The function verify_event has options."""
        return verify_event(raw_body, headers, self._settings.key)

    def _connect(self, transport: AsyncTransport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings
        self.disburse = _async_groups.Disburse(transport, settings)
        self.payment = _async_groups.Payment(transport, settings)
        self.bills = _async_groups.Bills(transport, settings)
        self.clients = _async_groups.Clients(transport, settings)
        self.loans = _async_groups.Loans(transport, settings)
        self.investments = _async_groups.Investments(transport, settings)
        self.virtualcard = _async_groups.Virtualcard(transport, settings)
        self.cashcode = _async_groups.Cashcode(transport, settings)
        self.resources = _async_groups.Resources(transport, settings)
        self.sandbox = _async_groups.Sandbox(transport, settings)

    def with_options(
        self,
        *,
        timeout: float | None = None,
        retry: RetryPolicy | None = None,
        scenario: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncKasuwa:
        """Returns a client with other options that shares the connections of this one. See Kasuwa.with_options."""
        copy = _copy_of(self)
        copy._connect(self._transport, changed_settings(self._settings, timeout, retry, scenario, headers))
        return copy

    async def close(self) -> None:
        """Closes the connections, also those of clients that with_options returned."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncKasuwa:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return describe(self)


def _copy_of(client: C) -> C:
    """Returns a client of the same merchant and address that is not connected yet."""
    copy: Any = object.__new__(type(client))
    copy.mid, copy.base_url = client.mid, client.base_url
    found: C = copy
    return found
