"""Recordings of what an application sent and got: the files of `kasuwa record`, in the format of golden files.

A golden file (testing/golden.py) has stable names in place of references. A recording keeps the values, so that an
application can work with them when they are replayed. In both, secrets are masked, and the server's address is `<url>`.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kasuwa.integration.gateway import WireExchange, read_object
from kasuwa.sandbox.request_bodies import mask_body
from kasuwa.testing.exchanges import Exchange, UnreadableRecording, read_exchanges, write_exchanges
from kasuwa.testing.golden import URL_NAME

NO_REPLY = "no reply"


def mask_object(body: bytes) -> dict[str, Any]:
    return read_object(mask_body(body).encode())


def as_exchange(wire: WireExchange, started: float) -> Exchange:
    timing = {"at_ms": round((wire.started - started) * 1000), "ms": round(wire.seconds * 1000)}
    exchange = Exchange(wire.action, mask_object(wire.sent), timing=timing)
    if wire.http_status is None:
        exchange.failure = NO_REPLY
    else:
        exchange.http_status, exchange.reply = wire.http_status, json.loads(mask_body(wire.answered))
    return exchange


def is_action(exchange: WireExchange) -> bool:
    """Returns whether this is a request of the API, with a reply in JSON or none. Pages and files are not recorded."""
    is_json = exchange.http_status is None or exchange.answered[:1] in (b"{", b"[")
    return exchange.method == "PUT" and bool(exchange.request) and is_json


def render_recording(exchanges: Iterable[WireExchange], addresses: Iterable[str], events: Sequence[Any] = ()) -> str:
    """Returns the text of a recording. `addresses` are those that the application may have seen of the server."""
    actions = [exchange for exchange in exchanges if is_action(exchange)]
    recorded = [as_exchange(exchange, actions[0].started) for exchange in actions]
    text = write_exchanges(recorded, events, seed="")
    for address in addresses:
        text = text.replace(address, URL_NAME)
    return text


def read_recording(path: Path, url: str) -> list[Exchange]:
    """Returns the exchanges of a recording or golden file, with `url` as the server's address. Raises
    UnreadableRecording."""
    try:
        contents = json.loads(path.read_text(encoding="utf-8").replace(URL_NAME, url))
        return read_exchanges(contents)
    except OSError as error:
        raise UnreadableRecording(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UnreadableRecording(f"{path} is neither a recording nor a golden file ({reason})") from None
