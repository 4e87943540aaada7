"""`kasuwa listen` and `kasuwa trigger`: show a merchant's events in a terminal and forward them to a local application.

They call a running server as a merchant does, with its mid and key. Events are pulled by sequence number, so this
machine need not be reachable from the server. Forwarded events are signed as webhooks are.
"""

import contextlib
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kasuwa.webhooks.signatures import DEFAULT_HASH_HEADER, object_headers, sign

POLL_SECONDS = 0.5
ANSWER_SECONDS = 10.0
# Of a request that makes an event happen: it may move business time by weeks.
TRIGGER_SECONDS = 60.0


class ListenError(Exception):
    """The command cannot go on. The text says in one line why."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects, as the webhook sender does not: a redirect is an answer like any other."""

    def redirect_request(self, *_: Any) -> None:
        return None


TO_SERVER = urllib.request.build_opener(NoRedirects)
# An application on this machine is reached directly, even if the environment configures a proxy.
TO_APPLICATION = urllib.request.build_opener(NoRedirects, urllib.request.ProxyHandler({}))


def check_address(url: str) -> None:
    try:
        address = urlsplit(url)
        good = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        good = False
    if not good:
        raise ListenError(f"{url} is not an address such as http://127.0.0.1:8080")


class MerchantClient(msgspec.Struct, frozen=True):
    """A client of a running server with a merchant's credentials."""

    server: str
    mid: str
    key: str

    def send_request(self, body: dict[str, Any], path: str = "resources", seconds: float = ANSWER_SECONDS) -> Any:
        check_address(self.server)
        request = urllib.request.Request(
            f"{self.server.rstrip('/')}/{path}",
            data=json.dumps(body).encode(),
            method="PUT",
            headers={"mid": self.mid, "key": self.key, "content-type": "application/json"},
        )
        try:
            with TO_SERVER.open(request, timeout=seconds) as answer:
                reply = json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 401:
                raise ListenError(f"{self.server} does not know this mid and key") from None
            raise ListenError(f"{self.server} answered HTTP {error.code}") from None
        except (OSError, ValueError, HTTPException) as error:
            raise ListenError(f"{self.server} cannot be reached: {getattr(error, 'reason', error)}") from None
        if reply.get("status") not in (200, 202):
            raise ListenError(str(reply.get("message", reply)))
        return reply


class Event(msgspec.Struct):
    event_id: str
    sequence: int
    txn_ref: str = msgspec.field(name="txnRef")
    kind: str
    object: str
    object_sequence: int
    payload: dict[str, Any]


def last_sequence(account: MerchantClient) -> int:
    newest = account.send_request({"inquire": "events", "limit": 1})["data"]
    return int(newest[0]["sequence"]) if newest else 0


def events_after(account: MerchantClient, sequence: int) -> Iterator[Event]:
    """Yields all events after a sequence number, page by page."""
    while True:
        page = account.send_request({"inquire": "event_feed", "after": sequence, "limit": 200})
        yield from msgspec.convert(page["data"], list[Event])
        sequence = page["last"]
        if not page["more"]:
            return


class Forwarded(msgspec.Struct, frozen=True):
    """The result of sending an event to an application."""

    is_accepted: bool
    result: str  # in a few words, such as `HTTP 200`


def forward(event: Event, url: str, key: str) -> Forwarded:
    """Sends one event to a local application."""
    body = msgspec.json.encode(event.payload)
    headers = sign(body, [key.encode()], event.event_id, int(time.time()), DEFAULT_HASH_HEADER, has_bad_signature=False)
    headers |= object_headers(event.object, event.object_sequence)
    request = urllib.request.Request(url, data=body, method="POST", headers=headers)
    try:
        with TO_APPLICATION.open(request, timeout=ANSWER_SECONDS) as answer:
            return Forwarded(True, f"HTTP {answer.status}")
    except urllib.error.HTTPError as error:
        return Forwarded(False, f"HTTP {error.code}")
    except (OSError, HTTPException) as error:
        return Forwarded(False, f"not reached: {getattr(error, 'reason', error)}")


def describe(event: Event) -> str:
    status, amount = event.payload["txnStatus"], event.payload["chargedAmount"]
    return f"{event.sequence:>6}  {event.kind:<10} {status:<11} {amount:>14}  {event.txn_ref}"


def listen(account: MerchantClient, forward_to: str | None, say: Callable[[str], None]) -> None:
    """Prints events as they happen, without end. If the server cannot be reached, it tries again."""
    if forward_to is not None:
        check_address(forward_to)
    sequence = last_sequence(account)
    say(f"Listening to {account.server} as {account.mid}, after event {sequence}. Ctrl-C stops.")
    away = False
    while True:
        try:
            for event in events_after(account, sequence):
                sequence = event.sequence
                answer = "" if forward_to is None else f"  → {forward(event, forward_to, account.key).result}"
                say(describe(event) + answer)
            away = False
        except ListenError as error:
            if not away:
                say(f"{error}; trying again")
            away = True
        time.sleep(POLL_SECONDS)


def make_happen(account: MerchantClient, name: str, changes: list[str], forward_to: str | None) -> str:
    """Makes an event happen in the test environment, and forwards it to an application on this machine if one is given.
    Raises ListenError if it does not happen, or the application does not accept the event."""
    if forward_to is not None:
        check_address(forward_to)
    wanted = {"action": "trigger", "event": name, "fields": dict(read_change(text) for text in changes)}
    event = msgspec.convert(account.send_request(wanted, "sandbox", seconds=TRIGGER_SECONDS)["data"], Event)
    return describe(event) if forward_to is None else forward_line(event, forward_to, account.key)


def read_change(text: str) -> tuple[str, Any]:
    """Returns a field and its value. What is written as an object or a list in JSON is one, and all else is a text."""
    field, equals, value = text.partition("=")
    if not field or not equals:
        raise ListenError(f"{text} is not a field and its value, such as amount=900.00")
    if value.startswith(("{", "[")):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            return field, msgspec.json.decode(value)
    return field, value


def forward_line(event: Event, forward_to: str, key: str) -> str:
    """Forwards an event. Returns the line that says so. Raises ListenError if the application does not accept it."""
    delivery = forward(event, forward_to, key)
    line = f"{describe(event)}  → {delivery.result}"
    if not delivery.is_accepted:
        raise ListenError(line.strip())
    return line


def trigger(account: MerchantClient, reference: str, forward_to: str | None) -> str:
    """Sends the event of a reference again, to the merchant's endpoint or to an application on this machine. Raises
    ListenError if the application does not accept it."""
    if forward_to is not None:
        check_address(forward_to)
    events = account.send_request({"inquire": "events", "txnRef": reference, "limit": 1})["data"]
    if not events:
        raise ListenError(f"there is no event of {reference}: it is not final, or not this merchant's")
    event = msgspec.convert(events[0], Event)
    if forward_to is not None:
        return forward_line(event, forward_to, account.key)
    account.send_request({"request": "resend", "event_id": event.event_id})
    return f"{describe(event)}  → sent again to the endpoint"
