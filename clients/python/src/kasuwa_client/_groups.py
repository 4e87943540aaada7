"""Parents of the generated groups of methods: `shop.disburse` and its like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from kasuwa_client._action import Action
from kasuwa_client._flow import Settings, call
from kasuwa_client._pages import AsyncPager, Page
from kasuwa_client._paging import fetch_page
from kasuwa_client._transport import AsyncTransport, SyncTransport
from kasuwa_client._waiting import wait

T = TypeVar("T")


class SyncGroup:
    """The actions of one path."""

    def __init__(self, transport: SyncTransport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings

    def _call(self, action: Action[T], arguments: Mapping[str, Any], idempotency_key: str | None = None) -> T:
        return self._transport.run(call(self._settings, action, arguments, idempotency_key))

    def _list(self, action: Action[T], arguments: Mapping[str, Any]) -> Page[T]:
        contents = self._transport.run(fetch_page(self._settings, action, arguments))
        return Page(contents, self._transport, self._settings)

    def _wait(self, verify: Action[T], thing: object, seconds: float) -> T:
        return self._transport.run(wait(self._settings, verify, thing, seconds))


class AsyncGroup:
    """The actions of one path."""

    def __init__(self, transport: AsyncTransport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings

    async def _call(self, action: Action[T], arguments: Mapping[str, Any], idempotency_key: str | None = None) -> T:
        return await self._transport.run(call(self._settings, action, arguments, idempotency_key))

    def _list(self, action: Action[T], arguments: Mapping[str, Any]) -> AsyncPager[T]:
        return AsyncPager(action, arguments, self._transport, self._settings)

    async def _wait(self, verify: Action[T], thing: object, seconds: float) -> T:
        return await self._transport.run(wait(self._settings, verify, thing, seconds))
