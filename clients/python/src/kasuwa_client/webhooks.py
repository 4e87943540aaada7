"""Verifies the events that the service sends to a merchant's endpoint, and signs some for unit tests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from kasuwa_client._json import as_object, is_filled_text
from kasuwa_client._notation import Decoder
from kasuwa_client._tables import EVENTS
from kasuwa_client.errors import InvalidSignature
from kasuwa_client.events import EVENT_KINDS, Event, UnknownEvent

TOLERANCE_SECONDS = 300.0
SERVICE_HASH = "service-hash"
# Appended to the name of that header: the hash by the key before the newest one, while a key is being rolled.
PREVIOUS_SUFFIX = "-previous"


def verify_event(
    raw_body: bytes | str,
    headers: Mapping[str, str],
    key: str | Iterable[str],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    hash_header: str = SERVICE_HASH,
    accept_service_hash_alone: bool = False,
    now: float | None = None,
) -> Event:
    """Returns the event of a delivery, typed by its kind. Raises InvalidSignature if no key has signed it.

    raw_body: the body exactly as it was received. Do not decode and encode it again.
    headers: the headers of the delivery, in any case.
    key: the merchant's key, or several while a key is being rolled.
    tolerance_seconds: how old, or how far in the future, a delivery may be. It limits replays.
    hash_header: the header of the service hash, if the operator has named it differently.
    accept_service_hash_alone: also accept deliveries without the Standard Webhooks headers. Such a delivery has no
        time, so whoever has recorded it can send it again at any time.
    now: the present as a Unix time, for tests.
    """
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    keys = _list_keys(key)
    lowered = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    message_id, sent_at = lowered.get("webhook-id"), None
    has_standard = "webhook-signature" in lowered
    if has_standard:
        sent_at = _check_standard(body, lowered, keys, tolerance_seconds, time.time() if now is None else now)
    elif not accept_service_hash_alone:
        raise InvalidSignature("The delivery has no webhook-signature header")
    service_hash = lowered.get(hash_header.lower())
    if service_hash is None and not has_standard:
        raise InvalidSignature(f"The delivery has neither a webhook-signature nor a {hash_header} header")
    hashes = [service_hash, lowered.get(hash_header.lower() + PREVIOUS_SUFFIX)]
    if service_hash is not None and not any(_is_service_hash(body, one, keys) for one in hashes if one is not None):
        raise InvalidSignature(f"The {hash_header} header does not fit the body and the key")
    return _read_event(body, message_id, sent_at)


class SignedEvent(NamedTuple):
    """A delivery as the service would send it."""

    body: bytes
    headers: dict[str, str]


def sign_event(
    payload: Mapping[str, Any] | bytes,
    key: str | Iterable[str],
    *,
    event_id: str = "evt_00000001",
    hash_header: str = SERVICE_HASH,
    now: float | None = None,
) -> SignedEvent:
    """Returns a delivery of an event, signed in both ways: for unit tests of what receives events, without a server.

    payload: the fields of the event by their names on the wire, or a body that is ready.
    key: the merchant's key, or several, the newest first, while a key is being rolled.
    event_id: the `webhook-id`, the same for each delivery of one event.
    hash_header: the header of the service hash, if the operator has named it differently.
    now: the time of the delivery as a Unix time. Default: the present.
    """
    body = payload if isinstance(payload, bytes) else json.dumps(payload, default=str, separators=(",", ":")).encode()
    keys = _list_keys(key)
    timestamp = str(int(time.time() if now is None else now))
    signed = f"{event_id}.{timestamp}.".encode() + body
    signatures = [base64.b64encode(hmac.new(_secret(one), signed, hashlib.sha256).digest()).decode() for one in keys]
    headers = {
        "content-type": "application/json",
        hash_header: _service_hash(body, keys[0]),
        "webhook-id": event_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
    if len(keys) > 1:
        headers[f"{hash_header}-previous"] = _service_hash(body, keys[1])
    return SignedEvent(body, headers)


def _list_keys(key: str | Iterable[str]) -> list[str]:
    keys = [key] if isinstance(key, str) else list(key)
    if not keys or not all(map(is_filled_text, keys)):
        raise ValueError("key: must be a text or several texts that are not empty")
    return keys


def _check_standard(body: bytes, headers: Mapping[str, str], keys: list[str], tolerance: float, now: float) -> datetime:
    """Checks the Standard Webhooks headers and returns the time of the delivery."""
    message_id, timestamp = headers.get("webhook-id"), headers.get("webhook-timestamp", "")
    if not message_id or not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise InvalidSignature("The webhook-id or webhook-timestamp header is missing or not valid")
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = [hmac.new(_secret(key), signed, hashlib.sha256).digest() for key in keys]
    given = [_read_signature(part) for part in headers["webhook-signature"].split()]
    # All pairs are compared, so that the time does not tell which key or signature was right.
    matches = [hmac.compare_digest(one, other) for one in given if one is not None for other in expected]
    if not any(matches):
        raise InvalidSignature("The webhook-signature header does not fit the body and the key")
    if abs(now - int(timestamp)) > tolerance:
        raise InvalidSignature(f"The delivery is more than {tolerance:g} seconds old, or from the future")
    return datetime.fromtimestamp(int(timestamp), tz=timezone.utc)


def _secret(key: str) -> bytes:
    """Returns the bytes of a key, which may also be in the form that Standard Webhooks libraries take."""
    if key.startswith("whsec_"):
        secret = _decode_base64(key[len("whsec_") :])
        if not secret:
            raise ValueError("key: a secret that begins with whsec_ must continue in base64")
        return secret
    return key.encode()


def _read_signature(part: str) -> bytes | None:
    version, _, encoded = part.partition(",")
    return _decode_base64(encoded) if version == "v1" else None


def _decode_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _service_hash(body: bytes, key: str) -> str:
    return hashlib.sha512(body + _secret(key)).hexdigest()


def _is_service_hash(body: bytes, given: str, keys: list[str]) -> bool:
    expected = [_service_hash(body, key) for key in keys]
    matches = [hmac.compare_digest(one.encode(), given.lower().encode()) for one in expected]
    return any(matches)


def _read_event(body: bytes, message_id: str | None, sent_at: datetime | None) -> Event:
    try:
        payload = as_object(json.loads(body, parse_float=Decimal))
    except ValueError:
        raise InvalidSignature("The body is signed, but is not JSON") from None
    if payload is None:
        raise InvalidSignature("The body is signed, but is not an object")
    kind: object = payload.get("kind")
    chosen = EVENT_KINDS.get(kind, UnknownEvent) if isinstance(kind, str) else UnknownEvent
    build = partial(chosen, event_id=message_id, sent_at=sent_at)
    event: Event = Decoder(EVENTS, {chosen.__name__: build}).decode(chosen.__name__, payload)
    return event
