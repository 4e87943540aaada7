"""The Idempotency-Key header: validation, and the digest of the request that a key stands for."""

from typing import Any

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.vault import Vault
from kasuwa.db.idempotency import IdempotencyClaim, idempotency_record_key
from kasuwa.web.headers import Headers

BAD_IDEMPOTENCY_KEY = Refusal(INVALID_REQUEST, "Idempotency-Key must be 1 to 255 ASCII characters")
MAX_KEY_CHARS = 255
HEADER = "idempotency-key"


def claim_of(
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
    the same request fields, for instance funding a card and withdrawing from it. Absent fields are not part of it, so
    that a version with a new optional field accepts the keys of the version before. Contract: #repeats"""
    compared = (method, action.name, action.variant, present_fields(request))
    return msgspec.msgpack.encode(compared, enc_hook=plain_scalar)


def present_fields(value: Any) -> Any:
    """Returns a request as a dictionary of the fields that are not None, at every depth."""
    if isinstance(value, list):
        return [present_fields(element) for element in value]
    if not isinstance(value, msgspec.Struct):
        return value
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    return {name: present_fields(field) for name, field in fields.items() if field is not None}


def plain_scalar(value: Any) -> Any:
    return int(value) if isinstance(value, int) else str(value)
