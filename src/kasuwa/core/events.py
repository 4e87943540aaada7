"""Events on their way: how they are named and signed, and when they are tried again. (Contract: events#payload)"""

import hmac
from base64 import b64encode
from datetime import timedelta
from hashlib import blake2b, sha256, sha512

# Waits between attempts, in business time; after the last the event stays in the log. Contract: events#payload
RETRY_DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
LONGEST_WAIT = timedelta(days=1)

# An endpoint that has failed for so long is switched off and shown. Contract: events#payload
DISABLE_AFTER = timedelta(days=5)

DEFAULT_HASH_HEADER = "service-hash"

# Names that the request needs for itself, or that the Standard Webhooks and our own headers have: a hash under one of
# these would break every delivery, or stand in the place of something else.
TAKEN_HEADERS = frozenset(
    {"host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "user-agent"}
)
TAKEN_BEGINNINGS = ("content-", "proxy-", "accept", "webhook-")

# What is recorded of an event whose merchant has no endpoint by the time it is its turn. Contract: events#payload
NO_ENDPOINT = "no endpoint is set"


def is_allowed_hash_header(header: str) -> bool:
    name = header.lower()
    return name not in TAKEN_HEADERS and not name.startswith(TAKEN_BEGINNINGS)


def event_id(merchant_id: int, seq: int) -> str:
    """Tells the event's place in its merchant's log, and that it is one of ours."""
    return f"evt_{seq:08d}{event_checksum(merchant_id, seq)}"


def event_checksum(merchant_id: int, seq: int) -> str:
    return blake2b(b"%d %d" % (merchant_id, seq), digest_size=6, person=b"kasuwa event").hexdigest()


def parse_event_id(merchant_id: int, text: str) -> int | None:
    """The place that an event id tells, where it is one of this merchant's."""
    digits, mark = text.removeprefix("evt_")[:-12], text[-12:]
    if not text.startswith("evt_") or not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        return None
    seq = int(digits)
    return seq if mark == event_checksum(merchant_id, seq) else None


def service_hash(body: bytes, key: bytes) -> str:
    return sha512(body + key).hexdigest()


def standard_signature(message_id: str, timestamp: int, body: bytes, key: bytes) -> str:
    """As Standard Webhooks signs, with the bytes of the merchant's key as its secret."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, sha256)).decode()


def standard_secret(key: str) -> str:
    """What a Standard Webhooks library is given to verify with."""
    return "whsec_" + b64encode(key.encode()).decode()


def sign(
    body: bytes, key: bytes, message_id: str, timestamp: int, hash_header: str, *, has_bad_signature: bool
) -> dict[str, str]:
    """The headers of one delivery; `badly` is the test environment's broken signature."""
    signing_key = key if not has_bad_signature else b"not " + key
    return {
        "content-type": "application/json",
        hash_header: service_hash(body, signing_key),
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": standard_signature(message_id, timestamp, body, signing_key),
    }


def retry_delay(attempts: int) -> timedelta | None:
    """How long to wait after so many attempts; None when there are to be no more."""
    return RETRY_DELAYS[attempts - 1] if attempts <= len(RETRY_DELAYS) else None
