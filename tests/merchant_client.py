"""A merchant as the tests see one: its headers, its requests, and its wallet in kobo.

The client is small on purpose. It sends the given bytes unchanged and keeps its connection, so that
nothing between a test and the wire repairs a request.
"""

import contextlib
import http.client
import itertools
import select
import time
from collections.abc import Iterable, Mapping
from http.cookies import SimpleCookie
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

# Longer than any answer takes: the service gives up on a rail after ten seconds.
ANSWER_SECONDS = 60.0
IDLE_SECONDS = 3.0

reference_numbers = itertools.count(1)


class RawReply(NamedTuple):
    """A reply as it came: header names in lower case, the body in bytes."""

    http: int
    headers: dict[str, str]
    raw: bytes
    cookies: dict[str, str]

    @property
    def body(self) -> Any:
        return msgspec.json.decode(self.raw)


class Reply(NamedTuple):
    http: int
    body: Any


class Wallet(NamedTuple):
    """Figures of one currency, in minor units."""

    balance: int
    available: int
    held: int


def to_minor_units(text: str) -> int:
    assert text[-3:-2] == ".", text
    return int(text.replace(".", ""))


class HttpConnection:
    """One connection, kept open between requests. It is closed with the last reference to it at the latest."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
        self._used_at = 0.0

    def send(
        self, verb: str, path: str, body: bytes | Iterable[bytes] | None = None, headers: Mapping[str, str] = {}
    ) -> RawReply:
        """A body that comes in pieces is sent chunked, with no length announced."""
        self._drop_if_closed()
        pieces = body is not None and not isinstance(body, bytes)
        # A server may reply and close the connection before the whole body is sent. Its reply can still be read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._connection.request(verb, path, body, dict(headers), encode_chunked=pieces)
        if self._connection.sock is None:
            raise ConnectionResetError("the connection was closed before an answer came")
        response = self._connection.getresponse()
        lowered = {name.lower(): value for name, value in response.getheaders()}
        cookies: SimpleCookie = SimpleCookie()
        for line in response.headers.get_all("set-cookie", []):
            cookies.load(line)
        kept = {name: morsel.value for name, morsel in cookies.items()}
        return RawReply(response.status, lowered, response.read(), kept)

    def _drop_if_closed(self) -> None:
        """An idle connection is closed by the server after five seconds; the next request then opens another, and
        does not wait for the very moment."""
        door, idle = self._connection.sock, time.monotonic() - self._used_at
        if door is not None and (idle > IDLE_SECONDS or select.select([door], [], [], 0)[0]):
            self._connection.close()
        self._used_at = time.monotonic()

    def close(self) -> None:
        self._connection.close()

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> "HttpConnection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class MerchantClient:
    """One merchant. `put` speaks JSON; `send` takes the bytes as they are."""

    def __init__(self, wire: HttpConnection, mid: str, key: str) -> None:
        self.connection = wire
        self.mid = mid
        self.key = key

    @property
    def headers(self) -> dict[str, str]:
        return {"mid": self.mid, "key": self.key, "content-type": "application/json"}

    def send(
        self,
        method: str,
        body: bytes | Iterable[bytes],
        *,
        verb: str = "PUT",
        headers: Mapping[str, str] | None = None,
    ) -> RawReply:
        return self.connection.send(verb, f"/{method}", body, {**self.headers, **(headers or {})})

    def send_fields(
        self, method: str, fields: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> RawReply:
        return self.send(method, msgspec.json.encode(fields), headers=headers)

    def put(self, method: str, /, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Reply:
        received = self.send_fields(method, fields, headers=headers)
        return Reply(received.http, received.body)

    # --- what most tests say -----------------------------------------------------------------------------

    def transfer(self, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Any:
        """An ordinary transfer, but for what is said otherwise; `None` leaves a field out."""
        ordinary = {
            "amount": "1500.00",
            "bankcode": "058",
            "accountnumber": "0000000000",
            "orderRef": new_reference("order"),
        }
        request = {name: value for name, value in {**ordinary, **fields}.items() if value is not None}
        return self.put("disburse", headers=headers, action="transfer", **request).body

    def bulk(self, orders: list[Any]) -> Any:
        return self.put("disburse", action="transfer", type="bulk", data=orders).body

    def verify(self, reference: str) -> Any:
        return self.put("disburse", action="verify", txnRef=reference).body

    def status_of(self, reference: str) -> str:
        return str(self.verify(reference)["txnStatus"])

    def advance(self, **stretch: Any) -> Any:
        """Advances to the end, with as many calls as it takes: on a busy machine one call may not reach it."""
        body = self.advance_once(**stretch)
        ran: dict[str, int] = {}
        while True:
            ran = {kind: ran.get(kind, 0) + body["ran"].get(kind, 0) for kind in sorted({*ran, *body["ran"]})}
            if not body.get("more"):
                return {**body, "ran": ran}
            body = self.advance_once(until=body["until"])

    def advance_once(self, **stretch: Any) -> Any:
        http, body = self.put("sandbox", action="advance", **stretch)
        assert (http, body["status"]) == (200, 200), body
        return body

    def now(self) -> str:
        return str(self.put("sandbox", action="clock").body["now"])

    def wallets(self) -> dict[str, Wallet]:
        lines = self.put("resources", inquire="wallet").body["data"]
        return {
            line["currency"]: Wallet(
                to_minor_units(line["balance"]), to_minor_units(line["available"]), to_minor_units(line["held"])
            )
            for line in lines
        }

    def wallet(self, currency: str = "NGN") -> Wallet:
        return self.wallets()[currency]


def without_codes(body: Any) -> Any:
    """Returns an error without what tests of its words leave out: codes, links and the values that were sent."""
    left_out = ("code", "doc_url", "value")
    if isinstance(body, list):
        return [{name: part for name, part in fault.items() if name not in left_out} for fault in body]
    kept = {name: part for name, part in body.items() if name not in left_out}
    return {**kept, "errors": without_codes(body["errors"])} if "errors" in body else kept


def new_reference(what: str) -> str:
    """A reference that was not used before."""
    return f"{what}-{next(reference_numbers)}"
