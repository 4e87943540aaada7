"""Rail calls of payment and refund jobs: begin, charge, validate, query, refund. No decisions and no SQL here.

Secrets (card, OTP) are passed beside the job, in the memory of the process whose request carried them. A job that was
claimed again after a crash has none: it queries the rail for the outcome first.
"""

from base64 import b64decode
from collections.abc import Awaitable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.core.vault import Vault
from kasuwa.methods.payment.model import (
    CHARGE,
    JOB_DATA_DECODER,
    OPEN,
    QUERY,
    RAIL_ROUTES,
    SEALED_CARD_DECODER,
    VALIDATE,
    WATCH,
    PaymentJobData,
    saved_card_aad,
)
from kasuwa.methods.payment.rules.charge_card import PayerCode
from kasuwa.methods.payment.rules.forget_card import FORGOTTEN_CARD_DECODER
from kasuwa.methods.payment.rules.receipts.suspense import QUERY_RETURN
from kasuwa.methods.payment.rules.refund import QUERY_REFUND, REFUND_DETAIL_DECODER
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, CollectionRail, VendorToken
from kasuwa.rails.ports.tokens import TokenRail
from kasuwa.transactions.payers import PAYMENT_MARK_DECODER
from kasuwa.transactions.transactions import Transaction


def unseal_saved_card(job: Job, vault: Vault) -> CardSecrets | VendorToken | None:
    """Decrypts the saved card that a job charges, without CVV and PIN. Returns None if the job charges none."""
    work = JOB_DATA_DECODER.decode(job.work)
    if not work.token:
        return None
    card = SEALED_CARD_DECODER.decode(
        vault.unseal(job.merchant_id, saved_card_aad(work.token), b64decode(work.sealed_card))
    )
    if card.vendor:
        return VendorToken(card.vendor, card.vendor_token, card.email, card.vendor_account)
    return CardSecrets(card.number, card.expiry_month, card.expiry_year)


async def call_rail(rails: Rails, job: Job, now: datetime, secrets: Any) -> Answer:
    """Takes a payment's step at its rail, or queries the outcome of the last one.

    A job that was claimed before queries first and sends only what the rail has not seen. So does one that needs the
    payer's card or code in a process that does not have it.
    """
    work = JOB_DATA_DECODER.decode(job.work)
    rail = get_rail(rails, work)
    order = make_collection_order(job, work, now)
    if isinstance(secrets, VendorToken):
        order = msgspec.structs.replace(order, saved_card=secrets)
    card = secrets if isinstance(secrets, CardSecrets) else None
    if job.kind in (QUERY, WATCH):
        return await rail.query(order, card)
    if job.claims > 1 or (secrets is None and needs_secrets(job, work)):
        answer = await query_taken_over(rail.query(order, card))
        if answer.status != orders.NOT_FOUND or needs_secrets(job, work):
            return answer
    return await send(rail, job, order, work, secrets)


async def query_taken_over(query: Awaitable[Answer]) -> Answer:
    """Queries an order that another process may have sent. If the rail cannot be queried, the outcome is unknown."""
    try:
        return await query
    except orders.Unavailable as trouble:
        return msgspec.structs.replace(orders.RAIL_SILENT, retry_after=trouble.retry_after, notice=trouble.notice)


def needs_secrets(job: Job, work: PaymentJobData) -> bool:
    return (work.method == "card" and not work.is_hosted) or job.kind == VALIDATE


async def send(rail: CollectionRail, job: Job, order: CollectionOrder, work: PaymentJobData, secrets: Any) -> Answer:
    if job.kind == VALIDATE:
        assert isinstance(secrets, PayerCode)
        return await rail.validate(order, secrets.otp)
    card = secrets if isinstance(secrets, CardSecrets) else None
    if order.step == orders.BEGIN:
        return await rail.begin(order, card)
    if work.method == "card" and not work.session:
        return await begin_and_charge(rail, order, card)
    return await rail.charge(order, card)


async def begin_and_charge(rail: CollectionRail, order: CollectionOrder, card: CardSecrets | None) -> Answer:
    """Opens a card session and charges it in one step, without asking the payer in between."""
    begin_answer = await rail.begin(order, card)
    if begin_answer.status != orders.SUCCESSFUL:
        return begin_answer
    session = begin_answer.facts.get("session", "")
    try:
        charged = await rail.charge(msgspec.structs.replace(order, session=session), card)
    except orders.NoAnswer:
        # The session is needed to query the outcome: it must not be lost with the answer.
        charged = orders.RAIL_SILENT
    return msgspec.structs.replace(charged, facts={**begin_answer.facts, **charged.facts})


async def call_refund(rails: Rails, job: Job, now: datetime, secrets: Any) -> Answer:
    work = JOB_DATA_DECODER.decode(job.work)
    rail = get_rail(rails, work)
    order = make_collection_order(job, work, now)
    return await orders.send_or_query(job, QUERY_REFUND, partial(rail.refund, order), partial(rail.query_refund, order))


async def call_return(rails: Rails, job: Job, now: datetime, secrets: Any) -> Answer:
    """Has the rail return money that nobody claims, or queries what became of it."""
    work = JOB_DATA_DECODER.decode(job.work)
    rail, order = get_rail(rails, work), make_collection_order(job, work, now)
    return await orders.send_or_query(job, QUERY_RETURN, partial(rail.refund, order), partial(rail.query_refund, order))


def get_rail(rails: Rails, work: PaymentJobData) -> CollectionRail:
    rail: CollectionRail = getattr(rails, RAIL_ROUTES[work.method].rail)
    return rail


def make_collection_order(job: Job, work: PaymentJobData, now: datetime) -> CollectionOrder:
    return CollectionOrder(
        key=rail_key(job.merchant_id, job.reference),
        method=work.method,
        amount=work.amount,
        currency=work.currency,
        step=choose_step(job, work),
        session=work.session,
        payer=work.payer,
        payer_account=work.payer_account,
        provider=work.provider,
        network=work.network,
        attempt=work.attempt,
        merchant_name=work.merchant_name,
        is_issued_here=work.is_own_card,
        refund_of=rail_key(job.merchant_id, work.refund_of) if work.refund_of else "",
        vendor=work.vendor,
        account=job.rail_account,
        sent_at=datetime.fromtimestamp(work.sent_at, UTC),
        expires_at=datetime.fromtimestamp(work.expires_at, UTC) if work.expires_at else None,
        payer_email=work.email,
        payer_name=work.fullname,
        payer_phone="" if work.method == "account" else work.payer,
        return_url=work.return_url,
        rail_facts=work.rail_facts,
        sent_on=lagos_day(datetime.fromtimestamp(work.sent_at, UTC)),
        age_seconds=now.timestamp() - work.sent_at,
        sandbox_outcome=work.test_outcomes,
        scenario=work.scenario,
    )


def choose_step(job: Job, work: PaymentJobData) -> str:
    """Returns the rail's step for the payment's last step. Without a card, a charge is the rail's BEGIN."""
    kind = work.last_step or job.kind
    if job.kind == WATCH:
        return ""
    if kind == VALIDATE:
        return orders.VALIDATE
    if kind == CHARGE and work.method in ("card", "token") and not work.is_hosted:
        return orders.CHARGE
    return orders.BEGIN if kind in (OPEN, CHARGE) else ""


# --- what has ended -------------------------------------------------------------------------------------------------


async def query_ended_payment(rails: Rails, row: Transaction) -> Answer:
    """Queries the vendor for a payment that has ended. Of other rails a payment's end is not doubted."""
    detail = PAYMENT_MARK_DECODER.decode(row.detail)
    if not detail.vendor:
        return Answer(row.status, row.code, row.message)
    order = CollectionOrder(
        key=rail_key(row.merchant_id, row.txn_ref),
        method=detail.method,
        amount=detail.charged or 0,
        currency=row.currency,
        vendor=detail.vendor,
        account=row.rail_account,
    )
    return await getattr(rails, RAIL_ROUTES[detail.method].rail).query(order, None)  # type: ignore[no-any-return]


async def query_ended_refund(rails: Rails, row: Transaction) -> Answer:
    """Queries the vendor for a refund that has ended."""
    detail = REFUND_DETAIL_DECODER.decode(row.detail)
    if not detail.vendor:
        return Answer(row.status, row.code, row.message)
    order = CollectionOrder(
        key=rail_key(row.merchant_id, row.txn_ref),
        method=detail.method,
        amount=row.amount,
        currency=row.currency,
        vendor=detail.vendor,
        account=row.rail_account,
        refund_of=rail_key(row.merchant_id, detail.payment),
        sent_at=row.created_at,
    )
    return await getattr(rails, RAIL_ROUTES[detail.method].rail).query_refund(order)  # type: ignore[no-any-return]


# --- saved cards ----------------------------------------------------------------------------------------------------


def unseal_forgotten_card(job: Job, vault: Vault) -> VendorToken:
    sealed = b64decode(FORGOTTEN_CARD_DECODER.decode(job.work).sealed)
    card = SEALED_CARD_DECODER.decode(vault.unseal(job.merchant_id, saved_card_aad(job.reference), sealed))
    return VendorToken(card.vendor, card.vendor_token, card.email, card.vendor_account)


async def deactivate_card(rails: Rails, job: Job, now: datetime, token: VendorToken) -> Answer:
    """Has the vendor of an erased card deactivate its token."""
    if isinstance(rails.card, TokenRail):
        return await rails.card.deactivate_token(token)
    return Answer(orders.FAILED, None, "this rail keeps no cards")
