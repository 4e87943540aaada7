"""Answers requests from a recording, without a service behind it: `kasuwa serve --replay`."""

import difflib
import json
import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from kasuwa.integration.gateway import MAX_BODY_BYTES, Listener
from kasuwa.integration.recording import mask_object
from kasuwa.testing.exchanges import REFERENCE_NAMES, Exchange
from kasuwa.testing.golden import MASKED, VOLATILE_NAMES, StableNames

NOT_RECORDED = 104
# The HTTP status of what is not recorded: nothing that a client repeats.
HTTP_NOT_RECORDED = 409
READY = b'{"status": 200, "message": "ready"}'
STABLE_NAME = re.compile(r"<(\w+) \d+>")
MOST_DIFFERENCES = 5
# Fields whose values a replay does not compare. The seed of a merchant decides nothing there, and has the test's place.
FREE_NAMES = VOLATILE_NAMES | {"seed"}


class Replayed(NamedTuple):
    """The reply to a request, and the number of the recorded exchange, None if there is none."""

    number: int | None
    http_status: int | None  # None: no reply was recorded
    body: bytes


class Replayer:
    """Finds the recorded reply to each request. May be called by several threads.

    Strictly, requests come in the order of the recording, with the same fields in the same order. Loosely, they come in
    any order and any number, and references of the application may be others. In both ways, values that differ between
    runs are matched: those that golden files replace (testing/golden.py). Where the application has chosen another
    value, replies have that one, and later requests with it are those with the recorded one.
    """

    def __init__(self, exchanges: Sequence[Exchange], *, is_loose: bool = False) -> None:
        self._exchanges = exchanges
        self._is_loose = is_loose
        self._used: set[int] = set()
        self._recorded_values: dict[str, str] = {}  # by the value that the application uses
        self._known = {text for exchange in exchanges for text in list_texts(exchange.reply)}
        self._lock = threading.Lock()
        self.refusals: list[str] = []  # what was said of each request that is not recorded

    @property
    def refused(self) -> int:
        return len(self.refusals)

    @property
    def unused(self) -> int:
        return len(self._exchanges) - len(self._used)

    def answer(self, path: str, sent: bytes) -> tuple[int | None, bytes]:
        """Returns the HTTP status and the body of the reply. The status is None if no reply was recorded."""
        replayed = self.replay(path, sent)
        return replayed.http_status, replayed.body

    def replay(self, path: str, sent: bytes) -> Replayed:
        with self._lock:
            request = self._replace(mask_object(sent), self._recorded_values)
            number = next((n for n in self._candidates() if self._fits(self._exchanges[n], path, request)), None)
            if number is None:
                refusal = self._explain(path, request)
                self.refusals.append(refusal["message"])
                return Replayed(None, HTTP_NOT_RECORDED, json.dumps(refusal).encode())
            exchange = self._exchanges[number]
            self._used.add(number)
            self._recorded_values.update(pair_texts(exchange.request, request))
            if exchange.http_status is None:
                return Replayed(number, None, b"")
            own_values = {recorded: own for own, recorded in self._recorded_values.items()}
            reply = json.dumps(self._replace(exchange.reply, own_values)).encode()
            return Replayed(number, exchange.http_status, reply)

    def open_page(self, path: str) -> None:
        """Called with the path of each page or file that is asked for. None is recorded: see recording.is_action."""

    def _candidates(self) -> Iterator[int]:
        """Yields the exchanges that may be the reply to the next request, the likeliest first."""
        numbers = range(len(self._exchanges))
        unused = [number for number in numbers if number not in self._used]
        if not self._is_loose:
            yield from unused[:1]
            return
        yield from unused
        yield from (number for number in reversed(numbers) if number in self._used)

    def _fits(self, exchange: Exchange, path: str, request: Any) -> bool:
        return exchange.action.partition(".")[0] == path and self._is_same(exchange.request, request)

    def _is_same(self, recorded: Any, sent: Any, name: str = "") -> bool:
        if isinstance(recorded, dict) and isinstance(sent, dict):
            names, own = (recorded.keys(), sent.keys()) if self._is_loose else (list(recorded), list(sent))
            return names == own and all(self._is_same(recorded[key], sent[key], key) for key in recorded)
        if isinstance(recorded, list) and isinstance(sent, list):
            pairs = zip(recorded, sent, strict=False)
            return len(recorded) == len(sent) and all(self._is_same(one, other, name) for one, other in pairs)
        if recorded in (sent, MASKED):
            return True
        return isinstance(recorded, str) and isinstance(sent, str) and self._may_differ(recorded, sent, name)

    def _may_differ(self, recorded: str, sent: str, name: str) -> bool:
        """Returns whether two values may stand for each other. One that a reply has given stands for itself."""
        if sent in self._known:
            return False
        is_own_reference = self._is_loose and name in REFERENCE_NAMES
        return is_own_reference or name in FREE_NAMES or get_form(recorded) == get_form(sent)

    def _replace(self, value: Any, values: dict[str, str]) -> Any:
        if isinstance(value, dict):
            return {key: self._replace(part, values) for key, part in value.items()}
        if isinstance(value, list):
            return [self._replace(part, values) for part in value]
        return values.get(value, value) if isinstance(value, str) else value

    def _explain(self, path: str, request: Any) -> dict[str, Any]:
        """Returns the reply to a request that is not recorded: with the nearest one, and what differs."""
        wanted = f"{path} {json.dumps(request)}"
        numbers = list(self._candidates())
        if not numbers:
            message = "All recorded exchanges were replayed, and this request is one more."
            return {"status": NOT_RECORDED, "code": "not_recorded", "message": message}

        def likeness(number: int) -> float:
            exchange = self._exchanges[number]
            text = f"{exchange.action.partition('.')[0]} {json.dumps(exchange.request)}"
            return difflib.SequenceMatcher(None, wanted, text, autojunk=False).ratio()

        nearest = max(numbers, key=likeness)
        exchange = self._exchanges[nearest]
        differences = list(self._differences(exchange.request, request))[:MOST_DIFFERENCES]
        if exchange.action.partition(".")[0] != path:
            differences.insert(0, f"the path is {path}, not {exchange.action.partition('.')[0]}")
        which = "The nearest recorded one" if self._is_loose else "The next recorded one"
        message = f"This request is not recorded. {which} is number {nearest + 1}, {exchange.action}: "
        nearest_request = {"number": nearest + 1, "action": exchange.action, "request": exchange.request}
        return {
            "status": NOT_RECORDED,
            "code": "not_recorded",
            "message": message + "; ".join(differences),
            "nearest": nearest_request,
        }

    def _differences(self, recorded: Any, sent: Any, name: str = "") -> Iterator[str]:
        if isinstance(recorded, dict) and isinstance(sent, dict):
            yield from (f"{key} is missing" for key in recorded if key not in sent)
            yield from (f"{key} is not recorded" for key in sent if key not in recorded)
            both = [key for key in recorded if key in sent]
            for key in both:
                yield from self._differences(recorded[key], sent[key], key)
            if recorded.keys() == sent.keys() and both != list(sent) and not self._is_loose:
                yield "the fields are in another order"
        elif not self._is_same(recorded, sent, name):
            yield f"{name} is {json.dumps(sent)}, recorded was {json.dumps(recorded)}"


def get_form(text: str) -> str:
    """Returns a text with stable names in place of references, without their numbers."""
    return STABLE_NAME.sub(r"<\1>", str(StableNames("").replace(text)))


def list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from list_texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from list_texts(part)
    elif isinstance(value, str):
        yield value


def pair_texts(recorded: Any, sent: Any) -> dict[str, str]:
    """Returns the recorded text of each text that differs in a request, which fits the recorded one."""
    pairs = zip(list_texts(recorded), list_texts_like(recorded, sent), strict=True)
    return {own: text for text, own in pairs if own != text and MASKED not in (text, own)}


def list_texts_like(recorded: Any, sent: Any) -> Iterator[str]:
    """Yields the texts of a request in the order of the recorded one, which it fits."""
    if isinstance(recorded, dict):
        for key, part in recorded.items():
            yield from list_texts_like(part, sent[key])
    elif isinstance(recorded, list):
        for one, other in zip(recorded, sent, strict=True):
            yield from list_texts_like(one, other)
    elif isinstance(recorded, str):
        yield str(sent)


class ReplayHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "ReplayListener"

    def do_PUT(self) -> None:
        length = self.headers["content-length"] or "0"
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self.send_error(413)
            return
        status, body = self.server.replayer.answer(urlsplit(self.path).path.strip("/"), self.rfile.read(int(length)))
        if status is None:  # the application got no reply when it was recorded
            self.close_connection = True
            return
        self._send(status, body)

    do_POST = do_PUT

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path in ("/readyz", "/healthz"):
            self._send(200, READY)
            return
        self.server.replayer.open_page(path)
        self._send(404, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response_only(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing."""


class ReplayListener(Listener):
    """Answers from a recording. Set `replayer` before it serves."""

    replayer: Replayer


def listen(host: str, port: int) -> ReplayListener:
    """Returns a listener that does not serve yet. Raises OSError."""
    return ReplayListener((host, port), ReplayHandler)
