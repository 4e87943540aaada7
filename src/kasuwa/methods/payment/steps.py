"""What a payment's job does outside: begin, charge, validate, ask. No decisions and no SQL here.

Secrets come beside the job, in the memory of the request that brought them. A step that is taken up from somebody
who died has none: it asks the rail what became of it, and decides nothing itself.
"""

from base64 import b64decode
from datetime import UTC, datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.core.secrets import Vault
from kasuwa.methods.payment.decide import ASK, CHANNELS, CHARGE, KEPT, OPEN, VALIDATE, WORK, Work, saved_card_place
from kasuwa.methods.payment.decide_card import Code
from kasuwa.methods.payment.decide_refund import ASK_REFUND
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, CardSecrets, CollectionRail, CollectOrder, Rails


def recall_card(job: Job, vault: Vault) -> CardSecrets | None:
    """The saved card that a job charges: its number, and nothing that authenticates its holder."""
    work = WORK.decode(job.work)
    if not work.token:
        return None
    kept = KEPT.decode(vault.open(job.merchant_id, saved_card_place(work.token), b64decode(work.sealed)))
    return CardSecrets(kept.number, kept.expiry_month, kept.expiry_year)


async def call_rail(rails: Rails, job: Job, now: datetime, beside: Any) -> Answer:
    work = WORK.decode(job.work)
    rail = rail_of(rails, work)
    order = order_of(job, work, now)
    card = beside if isinstance(beside, CardSecrets) else None
    if job.kind == ASK or job.claims > 1:
        answer = await rail.query(order, card)
        if job.kind == ASK or answer.status != ports.NOT_FOUND or needs_secrets(job, work):
            return answer
    return await send(rail, job, order, work, beside)


def needs_secrets(job: Job, work: Work) -> bool:
    return work.method == "card" or job.kind == VALIDATE


async def send(rail: CollectionRail, job: Job, order: CollectOrder, work: Work, beside: Any) -> Answer:
    if job.kind == VALIDATE:
        assert isinstance(beside, Code)
        return await rail.validate(order, beside.otp)
    card = beside if isinstance(beside, CardSecrets) else None
    if order.step == ports.BEGIN:
        return await rail.begin(order, card)
    if work.method == "card" and not work.session:
        return await begin_and_charge(rail, order, card)
    return await rail.charge(order, card)


async def begin_and_charge(rail: CollectionRail, order: CollectOrder, card: CardSecrets | None) -> Answer:
    """Both steps of a card payment in one, where nobody is asked in between."""
    begun = await rail.begin(order, card)
    if begun.status != ports.SUCCESSFUL:
        return begun
    session = begun.facts.get("session", "")
    try:
        charged = await rail.charge(msgspec.structs.replace(order, session=session), card)
    except ports.NoAnswer:
        # By its session it can be asked after: that must not be lost with the answer.
        charged = ports.SILENT
    return msgspec.structs.replace(charged, facts={**begun.facts, **charged.facts})


async def call_refund(rails: Rails, job: Job, now: datetime, beside: Any) -> Answer:
    work = WORK.decode(job.work)
    rail = rail_of(rails, work)
    order = order_of(job, work, now)
    if job.kind == ASK_REFUND or job.claims > 1:
        answer = await rail.query_refund(order)
        if job.kind == ASK_REFUND or answer.status != ports.NOT_FOUND:
            return answer
    return await rail.refund(order)


def rail_of(rails: Rails, work: Work) -> CollectionRail:
    rail: CollectionRail = getattr(rails, CHANNELS[work.method].rail)
    return rail


def order_of(job: Job, work: Work, now: datetime) -> CollectOrder:
    return CollectOrder(
        key=rail_key(job.merchant_id, job.reference),
        method=work.method,
        amount=work.amount,
        currency=work.currency,
        step=step_of(job, work),
        session=work.session,
        payer=work.payer,
        provider=work.provider,
        attempt=work.attempt,
        shop=work.shop,
        issued=work.issued,
        refund_of=rail_key(job.merchant_id, work.refund_of) if work.refund_of else "",
        sent_on=lagos_day(datetime.fromtimestamp(work.sent_at, UTC)),
        age_seconds=now.timestamp() - work.sent_at,
        told=work.told,
        scenario=work.scenario,
    )


def step_of(job: Job, work: Work) -> str:
    """Which of the rail's steps the payment's step is: where no card is charged, a charge begins it."""
    kind = work.step or job.kind
    if kind == VALIDATE:
        return ports.VALIDATE
    if kind == CHARGE and work.method in ("card", "token"):
        return ports.CHARGE
    return ports.BEGIN if kind in (OPEN, CHARGE) else ""
