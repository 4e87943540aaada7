"""Monnify: calls with a token, which every rail of the vendor in this process shares, and lists in pages.

A token expires after an hour or less. A call that the vendor refuses with 401 was not looked at, so it is made again
once with a new token.
"""

import asyncio
import contextlib
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from kasuwa.rails.ports.orders import NoAnswer, NothingSent, Unavailable, UnreadableAnswer, before_sending
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.vendors.client import CallObserver, RefusedCredentials, VendorClient, VendorReply
from kasuwa.rails.vendors.pages import Page, read_pages

NAME = "monnify"
LOG_IN = "/api/v1/auth/login"
LONGEST_MESSAGE = 200
PAGE_SIZE = "100"
# A token is renewed when this part of its life is over, or a minute before its end.
TOKEN_LIFE_PART = 0.9
TOKEN_MARGIN_SECONDS = 60
UNKNOWN_REFERENCE = ("not found", "does not exist", "could not find", "cannot find", "no reserved account")


class MonnifyKeys(msgspec.Struct, frozen=True):
    """The keys of a contract, and the wallet that pays transfers."""

    api_key: str
    secret_key: str
    wallet_account: str
    contract_code: str = ""  # of the contract under which money is collected

    def __repr__(self) -> str:
        return "MonnifyKeys(…)"


def is_envelope(body: dict[str, Any]) -> bool:
    return isinstance(body.get("requestSuccessful"), bool) and "responseMessage" in body


class MonnifyTokens:
    """The token of our account with the vendor. The sessions of one account share it, and one at a time renews it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._token = ""
        self._token_until = float("-inf")
        self._logging_in = asyncio.Lock()

    async def find(self, log_in: Callable[[], Awaitable[tuple[str, int]]]) -> str:
        """Returns the token. `log_in` returns a new one with its life in seconds, if there is none."""
        async with self._logging_in:
            if self._clock() >= self._token_until:
                self._token, seconds = await log_in()
                life = min(seconds * TOKEN_LIFE_PART, seconds - TOKEN_MARGIN_SECONDS)
                self._token_until = self._clock() + life
            return self._token

    def forget(self, token: str) -> None:
        """Has a token that the vendor refused renewed, unless that was done meanwhile."""
        if token == self._token:
            self._token_until = float("-inf")


class UnknownList(LookupError):
    """Raised if the vendor does not know what a list is asked for."""


class MonnifySession:
    """Calls of the vendor with a token. The rails of the vendor extend it."""

    def __init__(
        self,
        transport: HttpTransport,
        base_url: str,
        keys: MonnifyKeys,
        observe: CallObserver,
        tokens: MonnifyTokens | None = None,
    ) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._keys = keys
        self._tokens = tokens or MonnifyTokens()

    async def _call(
        self,
        method: str,
        path: str,
        *,
        moves_money: bool = False,
        query: dict[str, str] | None = None,
        body: dict[str, Any] | None = None,
        is_throttled: bool = False,
    ) -> VendorReply:
        for is_last in (False, True):
            with before_sending() if moves_money and not is_last else contextlib.nullcontext():
                token = await self._tokens.find(self._log_in)
            try:
                return await self._client.call(
                    method,
                    path,
                    moves_money=moves_money,
                    headers={"Authorization": f"Bearer {token}"},
                    query=query,
                    body=body,
                    is_throttled=is_throttled,
                )
            except NothingSent as error:
                if is_last:  # the first call was sent, and refused
                    raise Unavailable(str(error), retry_after=error.retry_after) from None
                raise
            except RefusedCredentials:
                if is_last:
                    raise
                self._tokens.forget(token)
        raise AssertionError("the second call returns or raises")

    async def _log_in(self) -> tuple[str, int]:
        """Returns a new token and its life in seconds. Whatever goes wrong, no order was sent."""
        basic = b64encode(f"{self._keys.api_key}:{self._keys.secret_key}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}"}
        try:
            reply = await self._client.call(
                "POST", LOG_IN, moves_money=False, headers=headers, body={}, is_throttled=False
            )
        except NoAnswer as error:
            raise Unavailable(str(error)) from None
        token, seconds = get_response_body(reply).get("accessToken"), get_response_body(reply).get("expiresIn")
        if not isinstance(token, str) or not isinstance(seconds, int):
            raise Unavailable(read_message(reply), notice="monnify gives us no token: check the keys")
        return token, seconds

    def _list(self, path: str, query: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
        """Yields every row of a list. Raises UnknownList if the vendor does not know what is asked for."""

        async def read(number: int, cursor: str) -> Page:
            place = {"page": str(number), "size": PAGE_SIZE}
            return read_page(await self._call("GET", path, query={**query, **place}, is_throttled=True), number)

        return read_pages(read, msgspec.json.encode)


def read_page(reply: VendorReply, number: int) -> Page:
    """Returns a page of a list. Its end is told by `last`, or by the number of pages or rows."""
    if not reply.body["requestSuccessful"]:
        if is_unknown(reply):
            raise UnknownList
        raise Unavailable(read_message(reply))
    body = get_response_body(reply)
    rows, last, pages, total = (body.get(name) for name in ("content", "last", "totalPages", "totalElements"))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnreadableAnswer("a list has another form than documented")
    has_more = not last if isinstance(last, bool) else number + 1 < pages if isinstance(pages, int) else None
    return Page(rows, has_more, total if isinstance(total, int) else None)


def is_unknown(reply: VendorReply) -> bool:
    """Whether the vendor says that it does not know a reference."""
    words = read_message(reply).lower()
    return reply.status in (400, 404, 422) and any(text in words for text in UNKNOWN_REFERENCE)


def get_response_body(reply: VendorReply) -> dict[str, Any]:
    body = reply.body.get("responseBody")
    return body if isinstance(body, dict) else {}


def read_message(reply: VendorReply) -> str:
    return str(reply.body.get("responseMessage") or "")[:LONGEST_MESSAGE]
