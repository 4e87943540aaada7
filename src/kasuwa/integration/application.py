"""The application that is checked: its receiver of events, and where it takes orders, pays out and says what is
fulfilled."""

import http.client
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

# What the application's answer about an order means, in lower case.
WORDS = {"true": 1, "yes": 1, "fulfilled": 1, "false": 0, "no": 0}
FIELD = "fulfilled"
CONNECT_SECONDS = 5.0
# Of an answer, so many bytes are read: documents of a server have some megabytes.
MOST_BYTES = 32 * 1024 * 1024
PLACEHOLDER = re.compile(r"\{(txnRef|customerRef)\}")


class UnreadableFulfilment(Exception):
    """The application's answer does not say whether an order is fulfilled. The text says why."""


@dataclass(frozen=True)
class AppAnswer:
    """The answer of the application. `http_status` is None if it did not: `failure` then says why."""

    http_status: int | None
    seconds: float
    text: str = ""
    failure: str = ""

    @property
    def is_accepted(self) -> bool:
        return self.http_status is not None and 200 <= self.http_status < 300

    def __str__(self) -> str:
        return self.failure if self.http_status is None else f"HTTP {self.http_status}"


@dataclass(frozen=True)
class Fulfilment:
    """The application's word on an order: whether it is fulfilled, and how often if it tells."""

    times: int
    is_counted: bool


@dataclass(frozen=True)
class Application:
    """The addresses of an application."""

    events_url: str
    fulfilled_url: str | None = None  # a template with {txnRef} or {customerRef}
    order_url: str | None = None
    order_body: str = ""
    payout_url: str | None = None
    payout_body: str = ""

    def deliver(
        self, body: bytes, headers: Mapping[str, str], *, timeout: float, pieces: int = 1, pause: float = 0.0
    ) -> AppAnswer:
        """Sends a delivery to the receiver, in so many pieces with pauses between them."""
        return send("POST", self.events_url, body, headers, timeout=timeout, pieces=pieces, pause=pause)

    def place_order(self, timeout: float) -> AppAnswer:
        return post_text(str(self.order_url), self.order_body, timeout)

    def pay_out(self, timeout: float) -> AppAnswer:
        return post_text(str(self.payout_url), self.payout_body, timeout)

    def ask_fulfilled(self, txn_ref: str, customer_ref: str, timeout: float) -> Fulfilment:
        """Asks how often an order is fulfilled. Raises UnreadableFulfilment."""
        references = {"txnRef": txn_ref, "customerRef": customer_ref}
        url = PLACEHOLDER.sub(lambda match: quote(references[match[1]], safe=""), str(self.fulfilled_url))
        answer = send("GET", url, b"", {}, timeout=timeout)
        if answer.http_status == 404:
            return Fulfilment(0, is_counted=False)
        if not answer.is_accepted:
            raise UnreadableFulfilment(f"GET {url}: {answer}")
        return read_fulfilment(answer.text)


def read_fulfilment(text: str) -> Fulfilment:
    """Reads a number, a word such as `true` or `no`, or the field `fulfilled` of a JSON object. Raises
    UnreadableFulfilment."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text.strip()
    if isinstance(value, dict):
        value = value.get(FIELD)
    if isinstance(value, str):
        value = WORDS.get(value.lower(), value)
        return Fulfilment(unreadable(text) if isinstance(value, str) else value, is_counted=False)
    if isinstance(value, bool):
        return Fulfilment(int(value), is_counted=False)
    if isinstance(value, int) and value >= 0:
        return Fulfilment(value, is_counted=True)
    return Fulfilment(unreadable(text), is_counted=False)


def unreadable(text: str) -> int:
    raise UnreadableFulfilment(f"the answer {text.strip()[:60]!r} is no number, true, false or an object with {FIELD}")


def post_text(url: str, body: str, timeout: float) -> AppAnswer:
    kind = "application/json" if body.lstrip().startswith(("{", "[")) else "text/plain; charset=utf-8"
    if re.fullmatch(r"[\w.%+-]+=[^\s&]*(&[\w.%+-]+=[^\s&]*)*", body):
        kind = "application/x-www-form-urlencoded"
    return send("POST", url, body.encode(), {"content-type": kind}, timeout=timeout)


def send(
    method: str,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    timeout: float,
    pieces: int = 1,
    pause: float = 0.0,
) -> AppAnswer:
    """Sends one request, with the header names as they are given. Redirects are answers like others."""
    address = urlsplit(url)
    make = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    started = time.monotonic()
    connection = make(address.netloc, timeout=timeout)
    try:
        connection.putrequest(method, (address.path or "/") + (f"?{address.query}" if address.query else ""))
        for name, value in headers.items():
            connection.putheader(name, value)
        if method != "GET":
            connection.putheader("content-length", str(len(body)))
        connection.endheaders()
        step = max(1, -(-len(body) // pieces))
        for first in range(0, len(body), step):
            if first:
                time.sleep(pause)
            connection.send(body[first : first + step])
        reply = connection.getresponse()
        text = reply.read(MOST_BYTES).decode(errors="replace")
        return AppAnswer(reply.status, time.monotonic() - started, text)
    except TimeoutError:
        return AppAnswer(None, time.monotonic() - started, failure=f"no answer within {timeout:g} seconds")
    except (OSError, http.client.HTTPException) as error:
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        return AppAnswer(None, time.monotonic() - started, failure=f"no answer ({reason})")
    finally:
        connection.close()


def is_listening(url: str) -> bool:
    """Returns whether something accepts connections at the address."""
    address = urlsplit(url)
    make = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = make(address.netloc, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
    except OSError:
        return False
    finally:
        connection.close()
    return True
