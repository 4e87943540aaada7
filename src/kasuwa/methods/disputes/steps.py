"""Calls of rails about disputes: the rail that announced one, and the issuer of a card. Also the merchant's answer,
decrypted for the rail that it is handed in at."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.core.vault import Vault
from kasuwa.methods.disputes.model import (
    ASKED_DISPUTE_DECODER,
    DUE_FACT,
    EVIDENCE_DECODER,
    OUTCOME_FACT,
    REVIEW_FACT,
    TAKE_CARD,
    TELL_CARD,
    EvidenceTexts,
    evidence_aad,
    file_aad,
)
from kasuwa.methods.disputes.rules.card_of_dispute import CARD_ORDER_DECODER
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.disputes import DisputeAnswer, EvidenceFile
from kasuwa.rails.ports.issuer import LostDispute, RefundOrder, TakeBackOrder
from kasuwa.rails.ports.orders import Answer, Unavailable

EXTENSIONS = {"application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpg"}


async def ask_rail(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    """Asks the rail that announced a dispute what has become of it."""
    query = ASKED_DISPUTE_DECODER.decode(job.work)
    feed = rails.feeds.get(query.rail)
    if feed is None:
        notice = f"a dispute waits for {query.rail}, whose keys are not set"
        raise Unavailable(f"{query.rail} cannot be asked", notice=notice)
    dispute = await feed.find_dispute(query.rail_dispute_id)
    if dispute is None:
        return Answer(orders.NOT_FOUND, None, "it is not known there")
    facts = {OUTCOME_FACT: dispute.outcome} if dispute.outcome else {}
    if dispute.is_under_review:
        facts[REVIEW_FACT] = "yes"
    if dispute.due_at is not None:
        facts[DUE_FACT] = str(dispute.due_at.timestamp())
    return Answer(orders.SUCCESSFUL, None, f"{dispute.status} {dispute.resolution}".strip(), facts)


async def call_issuer(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    """Has the issuer give a card the money of a dispute, take it back, or end the cardholder's dispute. It may be
    repeated: its key decides."""
    order, key = CARD_ORDER_DECODER.decode(job.work), rail_key(job.merchant_id, job.reference)
    purchase = rail_key(job.merchant_id, order.payment)
    if job.kind == TELL_CARD:
        return await rails.issuer.lose_dispute(LostDispute(order.filed_as))
    if job.kind == TAKE_CARD:
        refund = rail_key(job.merchant_id, order.paid_under)
        return await rails.issuer.take_back(TakeBackOrder(key, refund, purchase, order.filed_as))
    return await rails.issuer.refund(RefundOrder(key, purchase, order.amount, dispute_key=order.filed_as))


class AnsweredDispute(Protocol):
    """A dispute that its merchant has answered. Implemented by methods/disputes/hand_ins.py."""

    @property
    def merchant_id(self) -> int: ...

    @property
    def dispute_id(self) -> str: ...

    @property
    def rail_dispute_id(self) -> str: ...

    @property
    def amount(self) -> int: ...

    @property
    def is_accepted(self) -> bool: ...

    @property
    def rail_account(self) -> str: ...


class SealedFile(Protocol):
    @property
    def place(self) -> int: ...

    @property
    def media_type(self) -> str: ...

    @property
    def content(self) -> bytes: ...


def read_answer(
    vault: Vault, dispute: AnsweredDispute, sealed_texts: bytes | None, files: Sequence[SealedFile]
) -> DisputeAnswer:
    """Returns the answer to a dispute. One that is accepted has no texts."""
    merchant_id, dispute_id = dispute.merchant_id, dispute.dispute_id
    texts = EvidenceTexts()
    if sealed_texts is not None:
        texts = EVIDENCE_DECODER.decode(vault.unseal(merchant_id, evidence_aad(dispute_id), sealed_texts))
    return DisputeAnswer(
        dispute_id=dispute.rail_dispute_id,
        is_accepted=dispute.is_accepted,
        amount=dispute.amount,
        account=dispute.rail_account,
        explanation=texts.explanation,
        service=texts.product_description or texts.explanation,
        customer_name=texts.customer_name,
        customer_email=texts.customer_email,
        customer_phone=texts.customer_phone,
        files=tuple(
            EvidenceFile(
                # The merchant's own name could be that of any file.
                name=f"{file.place + 1}.{EXTENSIONS[file.media_type]}",
                media_type=file.media_type,
                content=vault.unseal(merchant_id, file_aad(dispute_id, file.place), file.content),
            )
            for file in files
        ),
    )
