"""Records what the clients of a test's merchant send and receive. Secrets are masked by the client's hooks."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kasuwa_client import AttemptFailed, CallEvent, ReplyReceived, RequestSent

# Fields that name something with a timeline, in requests and replies.
REFERENCE_NAMES = frozenset(
    {
        "txnRef",
        "orderRef",
        "batchRef",
        "refundRef",
        "refundOf",
        "customer_txnref",
        "loan_id",
        "savings_id",
        "thrift_id",
        "client_id",
        "ref_code",
        "reference",
    }
)


@dataclass
class Exchange:
    """One request with its reply, or with the failure of the attempt."""

    action: str
    request: Mapping[str, Any]
    http_status: int | None = None
    reply: Any = None
    failure: str | None = None


class Recorder:
    """A hook of the clients of one merchant. May be called by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[str, int], Exchange] = {}
        self._references: dict[str, None] = {}
        self.exchanges: list[Exchange] = []

    def __call__(self, event: CallEvent) -> None:
        with self._lock:
            if isinstance(event, RequestSent):
                exchange = Exchange(event.action, event.body)
                self._open[event.request_id, event.attempt] = exchange
                self.exchanges.append(exchange)
                self._note(event.body)
            elif isinstance(event, ReplyReceived):
                exchange = self._open.pop((event.request_id, event.attempt))
                exchange.http_status, exchange.reply = event.http_status, event.body
                self._note(event.body)
            elif isinstance(event, AttemptFailed):
                self._open.pop((event.request_id, event.attempt)).failure = event.reason

    def _note(self, body: Any) -> None:
        self._references.update(dict.fromkeys(references_in(body)))

    @property
    def references(self) -> list[str]:
        """The references of all requests and replies, in the order in which they appeared."""
        with self._lock:
            return list(self._references)


def references_in(body: Any) -> Iterator[str]:
    if isinstance(body, Mapping):
        for name, value in body.items():
            if name in REFERENCE_NAMES and isinstance(value, str) and value:
                yield value
            else:
                yield from references_in(value)
    elif isinstance(body, list | tuple):
        for part in body:
            yield from references_in(part)
