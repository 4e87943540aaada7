"""Replies stored under an Idempotency-Key: the record, the claim that a submission makes, and the rules for both.

A record is written in the same commit as the decision it belongs to. A request whose follow-up still calls a rail
leaves an open record with its pending reply; the step that ends it replaces the reply and closes the record. If the
rail's answer is still awaited then, the record keeps the key for its request and has no reply. Pure: no I/O and no
clock.

Contract: #repeats
"""

from datetime import UTC, datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Decision, Refusal, Row
from kasuwa.core.keyring import derive
from kasuwa.core.references import KEY_BYTES, row_key
from kasuwa.core.vault import Vault

# How long a reply is stored under its Idempotency-Key. Contract: #repeats
IDEMPOTENCY_KEY_TTL = timedelta(hours=24)

# Expiry time of a record whose key may be used again at once: it is in the past on every clock.
ALREADY_EXPIRED = datetime(2000, 1, 1, tzinfo=UTC)

IDEMPOTENCY_MISMATCH = Refusal(
    INVALID_REQUEST, "This Idempotency-Key was used with another request", error_code="idempotency_key_reused"
)


class IdempotencyRecord(Row):
    """The reply stored under an Idempotency-Key. `is_in_progress` while its request is still waiting for a rail.

    `sealed_reply` is None if the reply was provisional: a repeat is decided anew."""

    table: ClassVar[str] = "idempotency_record"
    mutable_columns: ClassVar[tuple[str, ...]] = ("request_digest", "sealed_reply", "is_in_progress", "expires_at")

    request_digest: bytes
    sealed_reply: bytes | None
    is_in_progress: bool
    expires_at: datetime

    @property
    def is_open(self) -> bool:
        # Never cached: another process may close the record, and repeated requests are rare.
        return False


class IdempotencyClaim(msgspec.Struct, frozen=True):
    """The Idempotency-Key of a submission and the digest of its request."""

    key: bytes
    request_digest: bytes
    # False for the step that ends the request later: it may replace the stored reply, but is never answered from it.
    is_original_request: bool


def parse_idempotency_claim(packed_claim: bytes | None) -> IdempotencyClaim | None:
    """Returns the claim stored in a job, or None if its request had no Idempotency-Key."""
    if packed_claim is None:
        return None
    return IdempotencyClaim(packed_claim[:KEY_BYTES], packed_claim[KEY_BYTES:], is_original_request=False)


def pack_idempotency_claim(claim: IdempotencyClaim) -> bytes:
    """Encodes a claim for the job that ends its request (see parse_idempotency_claim)."""
    return claim.key + claim.request_digest


def idempotency_record_key(merchant_id: int, idempotency_key: str) -> bytes:
    return row_key(merchant_id, "repeat", idempotency_key)


def reply_aad(key: bytes) -> str:
    return f"repeat {key.hex()}"


def read_stored_reply(
    record: Row | None, claim: IdempotencyClaim, merchant_id: int, vault: Vault, earliest_time: datetime
) -> Decision | Refusal | None:
    """Returns the stored reply as a decision, IDEMPOTENCY_MISMATCH if the key was used with another request, or None
    if the request is to be decided. A record counts as expired only if it is expired at `earliest_time`."""
    if not isinstance(record, IdempotencyRecord) or record.expires_at <= earliest_time:
        return None
    if record.request_digest != claim.request_digest:
        return IDEMPOTENCY_MISMATCH
    if record.sealed_reply is None:
        return None
    reply = vault.unseal(merchant_id, reply_aad(claim.key), record.sealed_reply)
    return Decision(reply=msgspec.Raw(reply), in_progress=record.is_in_progress)


class ReplyToStore(msgspec.Struct):
    """A decision whose reply is to be stored, and what its record is made with."""

    claim: IdempotencyClaim
    merchant_id: int
    decision: Decision
    entropy: bytes
    wall_time: datetime


def make_idempotency_record(
    current: Row | None, reply_to_store: ReplyToStore, vault: Vault
) -> IdempotencyRecord | None:
    """Returns the record to write in place of `current`, or None if nothing is to be stored.

    Refusals are not stored. One that ends a request frees the key again."""
    claim, merchant_id, decision = reply_to_store.claim, reply_to_store.merchant_id, reply_to_store.decision
    if not claim.is_original_request and not (
        isinstance(current, IdempotencyRecord)
        and current.is_in_progress
        and current.request_digest == claim.request_digest
    ):
        return None  # the final reply is stored already, or the key has expired and belongs to another request
    if isinstance(decision.reply, Refusal):
        if claim.is_original_request:
            return None
        return IdempotencyRecord(claim.key, merchant_id, claim.request_digest, b"", False, ALREADY_EXPIRED)
    if decision.is_provisional:
        expires_at = reply_to_store.wall_time + IDEMPOTENCY_KEY_TTL
        return IdempotencyRecord(claim.key, merchant_id, claim.request_digest, None, True, expires_at)
    # A reply that shows a secret once is stored without it. Contract: #repeats
    reply = msgspec.json.encode(decision.reply if decision.replay_reply is None else decision.replay_reply)
    nonce = derive(reply_to_store.entropy, "kept reply" if claim.is_original_request else "kept last reply")
    sealed = vault.seal(merchant_id, reply_aad(claim.key), reply, nonce)
    return IdempotencyRecord(
        claim.key,
        merchant_id,
        claim.request_digest,
        sealed,
        decision.follow_up is not None,
        reply_to_store.wall_time + IDEMPOTENCY_KEY_TTL,
    )
