"""The Idempotency-Key header: what a key is, and what it stands for."""

from typing import Any, Protocol

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.vault import Vault
from kasuwa.db.batch import IdempotencyClaim, idempotency_record_key

BAD_IDEMPOTENCY_KEY = Refusal(INVALID_REQUEST, "Idempotency-Key must be 1 to 255 ASCII characters")
MOST_KEY = 255
HEADER = "idempotency-key"


class Headers(Protocol):
    def get(self, key: str, default: Any = None) -> Any: ...

    def __contains__(self, key: str) -> bool: ...


def claim_of(
    method: str, action: Write, request: Any, merchant: Merchant, headers: Headers, vault: Vault
) -> IdempotencyClaim | Refusal | None:
    """Returns the claim of the key that a request came with; None where it came with none, or the action takes none."""
    if not action.accepts_idempotency_key or HEADER not in headers:
        return None
    key = headers.get(HEADER)
    # A header that is there and cannot be read (bytes beyond ASCII) answers None: it must not be passed over.
    if key is None or not 1 <= len(key) <= MOST_KEY:
        return BAD_IDEMPOTENCY_KEY
    digest = vault.digest(idempotency_payload(method, action, request))
    return IdempotencyClaim(idempotency_record_key(merchant.merchant_id, key), digest, is_original_request=True)


def idempotency_payload(method: str, action: Write, request: Any) -> bytes:
    """What an Idempotency-Key stands for: the path and the action as well as the request. Requests of several actions
    have the same fields, such as funding a card and withdrawing from it. Contract: #repeats"""
    return msgspec.msgpack.encode((method, action.name, action.variant, request), enc_hook=plain_scalar)


def plain_scalar(value: Any) -> Any:
    return int(value) if isinstance(value, int) else str(value)
