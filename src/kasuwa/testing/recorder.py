"""A hook that records what the clients of a test's merchant send and get. Their hooks mask secrets."""

import threading
from typing import Any

from kasuwa.testing.exchanges import Exchange, references_in
from kasuwa_client import AttemptFailed, CallEvent, ReplyReceived, RequestSent


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
