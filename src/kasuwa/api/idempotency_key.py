"""The Idempotency-Key header: validation, and the digest of the request that a key stands for."""

from typing import Any

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.vault import Vault
from kasuwa.engine.idempotency import IdempotencyClaim, idempotency_record_key
from kasuwa.http.headers import Headers

BAD_IDEMPOTENCY_KEY = Refusal(
    INVALID_REQUEST, "Idempotency-Key must be 1 to 255 ASCII characters", error_code="idempotency_key_invalid"
)
MAX_KEY_CHARS = 255
HEADER = "idempotency-key"


def read_claim(
    method: str, action: Write, request: Any, merchant: Merchant, headers: Headers, vault: Vault
) -> IdempotencyClaim | Refusal | None:
    """Returns the idempotency claim of a request, or None if it has no key or the action accepts none.

    A dry run neither uses nor reads its key, so that the request itself can follow under the same one."""
    if not action.accepts_idempotency_key or HEADER not in headers:
        return None
    key = headers.get(HEADER)
    # `get` returns None for a header with bytes beyond ASCII. Such a key must be refused, not ignored.
    if key is None or not 1 <= len(key) <= MAX_KEY_CHARS:
        return BAD_IDEMPOTENCY_KEY
    if getattr(request, "dry_run", None):
        return None
    digest = vault.digest(idempotency_payload(method, action, request))
    return IdempotencyClaim(idempotency_record_key(merchant.merchant_id, key), digest, is_original_request=True)


def idempotency_payload(method: str, action: Write, request: Any) -> bytes:
    """Returns the bytes that a key stands for: path, action and request. The action is part of it because several have
    the same request fields, for instance funding a card and withdrawing from it. One that shares its name with others
    counts with the field that selects it. Contract: #repeats

    Fields that were not sent are left out: a retry may reach another version than the first request, and one that has
    gained an optional field must take both for the same."""
    named = zip(request.__struct_fields__, request.__struct_encode_fields__, strict=True)
    fields = {encoded: value for name, encoded in named if (value := getattr(request, name)) is not None}
    compared = (method, action.name, action.variant or action.only_with or None, fields)
    return msgspec.msgpack.encode(compared, enc_hook=plain_scalar)


def plain_scalar(value: Any) -> Any:
    return int(value) if isinstance(value, int) else str(value)
