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

# Differences of requests to those of earlier versions, by slice and type. A retry may reach another version than the
# first request: what a key stands for must be the same in both, or the retry would be refused as another request.
# Optional fields that were gained count only if they are sent.
GAINED_FIELDS = {
    **dict.fromkeys(("clients.CreateRequest", "clients.UpdateRequest"), "dry_run"),
    **dict.fromkeys(("payment.InitiateCard", "payment.ChargeCard", "payment.ChargeToken"), "dry_run"),
    **dict.fromkeys(("payment.ChargeAccount", "payment.ChargeUssd", "payment.ChargePhone"), "dry_run"),
    **dict.fromkeys(("payment.ChargeShown", "payment.ChargeMobileMoney", "payment.ValidateRequest"), "dry_run"),
    "payment.PayAccountRequest": "rejected",
    "bills.PayRequest": "phonenumber",
    "tickets.TicketUseRequest": "link_id",
    **dict.fromkeys(("payment.RefundRequest", "payment.RecurrentRequest"), "dry_run"),
}
# A field that was lost counts as absent, after the field that it followed.
LOST_FIELDS = {"loans.RepayRequest": ("type", "network"), "investments.DepositRequest": ("type", "network")}


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
    the same request fields, for instance funding a card and withdrawing from it. Contract: #repeats"""
    compared = (method, action.name, action.variant, as_in_earlier_versions(request))
    return msgspec.msgpack.encode(compared, enc_hook=plain_scalar)


def as_in_earlier_versions(request: Any) -> Any:
    """Returns a request with the fields that earlier versions compared (GAINED_FIELDS, LOST_FIELDS)."""
    kind = ".".join((*type(request).__module__.split(".")[2:3], type(request).__name__))
    gained, (followed, lost) = GAINED_FIELDS.get(kind), LOST_FIELDS.get(kind, ("", ""))
    if gained is None and not lost:
        return request
    fields = {}
    for name, encoded in zip(request.__struct_fields__, request.__struct_encode_fields__, strict=True):
        value = getattr(request, name)
        if name != gained or value is not None:
            fields[encoded] = value
        if name == followed:
            fields[lost] = None
    return fields


def plain_scalar(value: Any) -> Any:
    return int(value) if isinstance(value, int) else str(value)
