"""Webhook events: ids, signatures and the retry schedule. Contract: events#signatures, events#delivery"""

import hmac
from base64 import b64encode
from collections.abc import Sequence
from hashlib import blake2b, sha256, sha512

from kasuwa.core.references import first_number

DEFAULT_HASH_HEADER = "service-hash"
# Appended to the name of that header for the hash by the key that was rolled, while it is still valid.
PREVIOUS_SUFFIX = "-previous"
# Keys that an event is signed with, the newest ones. A merchant that rolls its key often has more valid ones.
MAX_SIGNING_KEYS = 4

# Header names that may not carry the service hash: HTTP, Standard Webhooks or the delivery itself use them.
RESERVED_HEADERS = frozenset(
    {"host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "user-agent"}
)
RESERVED_PREFIXES = ("content-", "proxy-", "accept", "webhook-")


# Recorded result of a delivery whose endpoint was removed. Contract: events#delivery
NO_ENDPOINT = "no endpoint is set"


def is_allowed_hash_header(header: str) -> bool:
    name = header.lower()
    return name not in RESERVED_HEADERS and not name.startswith(RESERVED_PREFIXES)


def event_id(merchant_id: int, seq: int) -> str:
    """Returns the public id of an event: its sequence number in the merchant's log, and a checksum."""
    return f"evt_{seq:08d}{event_checksum(merchant_id, seq)}"


def event_checksum(merchant_id: int, seq: int) -> str:
    return blake2b(b"%d %d" % (first_number(merchant_id), seq), digest_size=6, person=b"kasuwa event").hexdigest()


def parse_event_id(merchant_id: int, text: str) -> int | None:
    """Returns the sequence number of an event id, or None if it is not an id of this merchant."""
    digits, mark = text.removeprefix("evt_")[:-12], text[-12:]
    if not text.startswith("evt_") or not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        return None
    seq = int(digits)
    return seq if mark == event_checksum(merchant_id, seq) else None


def service_hash(body: bytes, key: bytes) -> str:
    return sha512(body + key).hexdigest()


def standard_signature(message_id: str, timestamp: int, body: bytes, key: bytes) -> str:
    """Returns the Standard Webhooks signature. Its secret is the merchant's key."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, sha256)).decode()


def standard_secret(key: str) -> str:
    """Returns a merchant's key in the form in which Standard Webhooks libraries take a secret."""
    return "whsec_" + b64encode(key.encode()).decode()


def sign(
    body: bytes, keys: Sequence[bytes], message_id: str, timestamp: int, hash_header: str, *, has_bad_signature: bool
) -> dict[str, str]:
    """Returns the headers of one delivery. `has_bad_signature` breaks the signatures, for the test environment.

    `keys` are the merchant's valid keys, the newest first: several while a rolled key overlaps with the new one.
    `webhook-signature` has a signature of each. The service hash is one value, of the newest key; that of the key
    before it has a header of its own. Contract: events#signatures
    """
    signing_keys = [b"not " + key for key in keys] if has_bad_signature else keys
    signatures = [standard_signature(message_id, timestamp, body, key) for key in signing_keys]
    headers = {
        "content-type": "application/json",
        hash_header: service_hash(body, signing_keys[0]),
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
    if len(signing_keys) > 1:
        headers[hash_header + PREVIOUS_SUFFIX] = service_hash(body, signing_keys[1])
    return headers


def object_headers(reference: str, sequence: int) -> dict[str, str]:
    """Returns the headers that name what an event belongs to, and its place among the events of that object."""
    return {"webhook-object": reference, "webhook-sequence": str(sequence)}
