"""Verifies the events that the service sends to a merchant's endpoint."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, ClassVar

from kasuwa_client._notation import Decoder
from kasuwa_client._result import Result
from kasuwa_client.errors import InvalidSignature

TOLERANCE_SECONDS = 300.0
SERVICE_HASH = "service-hash"


@dataclass(frozen=True)
class Event(Result):
    """An event whose signature is valid: a transaction became final.

    The same event may arrive several times, and events may arrive out of order: remember the `event_id`s that you have
    handled, and ask `verify` for the state before you fulfill an order.
    """

    event_id: str | None  # None if the delivery has no webhook-id
    sent_at: datetime | None
    status: int
    txn_status: str  # successful or failed
    txn_ref: str
    charged_amount: Decimal | None = None
    currency: str | None = None
    payment_method: str | None = None
    endpoint: str | None = None  # test or live
    order_ref: str | None = None
    customer_txnref: str | None = None
    refund_of: str | None = None
    loan_id: str | None = None
    savings_id: str | None = None
    reference: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "currency": "currency",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "order_ref": "orderRef",
        "customer_txnref": "customer_txnref",
        "refund_of": "refundOf",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "reference": "reference",
    }

    @property
    def is_successful(self) -> bool:
        return self.txn_status == "successful"


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
    """Returns the event of a delivery. Raises InvalidSignature if it was not signed with one of the keys.

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
    keys = [key] if isinstance(key, str) else list(key)
    if not keys or not all(isinstance(one, str) and one for one in keys):
        raise ValueError("key: must be a text or several texts that are not empty")
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
    if service_hash is not None and not _is_service_hash(body, service_hash, keys):
        raise InvalidSignature(f"The {hash_header} header does not fit the body and the key")
    return _read_event(body, message_id, sent_at)


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
        try:
            return base64.b64decode(key[len("whsec_") :], validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("key: a secret that begins with whsec_ must continue in base64") from None
    return key.encode()


def _read_signature(part: str) -> bytes | None:
    version, _, encoded = part.partition(",")
    if version != "v1":
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_service_hash(body: bytes, given: str, keys: list[str]) -> bool:
    expected = [hashlib.sha512(body + _secret(key)).hexdigest() for key in keys]
    matches = [hmac.compare_digest(one.encode(), given.lower().encode()) for one in expected]
    return any(matches)


EVENT_FIELDS = {
    name: (wire_name, "amount" if name == "charged_amount" else "any") for name, wire_name in Event.wire_names.items()
}


def _read_event(body: bytes, message_id: str | None, sent_at: datetime | None) -> Event:
    try:
        payload = json.loads(body, parse_float=Decimal)
    except ValueError:
        raise InvalidSignature("The body is signed, but is not JSON") from None
    if not isinstance(payload, dict):
        raise InvalidSignature("The body is signed, but is not an object")
    decoder = Decoder({"Event": EVENT_FIELDS}, {"Event": lambda **fields: fields})
    return Event(event_id=message_id, sent_at=sent_at, **decoder.decode("Event", payload))
