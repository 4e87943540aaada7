"""Plain reads of payments and plans. No writes; merchant_id in every WHERE."""

from datetime import datetime

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Fault, Merchant, Refusal, refuse_fields
from kasuwa.core.money import MINOR_PER_MAJOR, format_minor
from kasuwa.core.purpose import BELONGING, subject_in, subject_of
from kasuwa.core.reading import Reader, SealedReader, Snapshot
from kasuwa.core.transactions import PENDING, SUCCESSFUL, Transaction, transaction_key
from kasuwa.methods.payment.decide import DETAIL, FACTS, KIND, PENDING_MESSAGE, Payment, payment_key
from kasuwa.methods.payment.decide_ask import HOME_CURRENCY
from kasuwa.methods.payment.decide_plan import TERMS, Plan, missed_cycles, reply_plan
from kasuwa.methods.payment.decide_reply import COMPLETED, card_reply, short_message
from kasuwa.methods.payment.decide_split import Beneficiary, beneficiary_account
from kasuwa.methods.payment.wire import PlansRequest, VerifyRequest
from kasuwa.methods.payment.wire_reply import (
    InstallmentLine,
    InstallmentReply,
    RecurrentReply,
    VerifyReply,
)

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference")
NO_REFERENCE = refuse_fields(Fault("txnRef", "required, or customer_txnref"))
AWAITING = "Awaiting Validation"

BY_KEYS = """
    select u.n, t.status, t.txn_ref, t.order_ref, t.message, t.currency, p.method, p.charged, p.received, p.refunded,
        p.token, p.detail, p.facts
    from unnest($1::bytea[], $2::bytea[], $3::bigint[]) with ordinality u (txn, payment, merchant, n),
        lateral (select status, txn_ref, order_ref, message, currency from transaction
            where key = u.txn and merchant_id = u.merchant offset 0) t,
        lateral (select method, charged, received, refunded, token, detail, facts from payment
            where key = u.payment and merchant_id = u.merchant offset 0) p
"""
# The successful one of those that share a merchant's reference, else the newest. Spec silent: D7
BY_CUSTOMER_REFERENCE = """
    select txn_ref from (
        select txn_ref, status, created_at, seq, key from transaction
        where merchant_id = $1 and order_ref = $2 and kind = 'payment'
        union all
        select txn_ref, status, created_at, seq, key from transaction
        where merchant_id = $1 and order_ref = $2 and kind in ('repayment', 'deposit')) t
    order by (status = 'successful') desc, created_at desc, seq desc, key desc limit 1
"""
# The newest payment made for a loan or savings.
BY_SUBJECT = """
    select t.txn_ref from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
    where p.merchant_id = $1 and p.detail -> 'errand' ->> 'reference' = $2
    order by t.created_at desc, t.seq desc, t.key desc limit 1
"""
# Repayments and deposits that the wallet paid: they have a transaction alone.
BY_WALLET = """
    select status, txn_ref, order_ref, message, currency, amount, detail from transaction
    where merchant_id = $1 and txn_ref = $2 and kind in ('repayment', 'deposit')
"""


async def verify_payment(request: VerifyRequest, merchant: Merchant, reader: SealedReader) -> VerifyReply | Refusal:
    said = request.txn_ref
    if said is None and request.customer_txnref is None:
        return NO_REFERENCE
    if said is not None and "|" not in said and said.startswith("GP"):
        return await verify_by_reference(said, merchant, reader)
    async with reader.snapshot() as moment:
        if said is None:
            found = await moment.fetchrow(BY_CUSTOMER_REFERENCE, merchant.merchant_id, request.customer_txnref)
        else:
            found = await moment.fetchrow(BY_SUBJECT, merchant.merchant_id, said)
        txn_ref = said if found is None else found[0]
        if txn_ref is None:
            return UNKNOWN_REFERENCE
        if "|" in txn_ref:
            row = await moment.fetchrow(BY_WALLET, merchant.merchant_id, txn_ref)
            return UNKNOWN_REFERENCE if row is None else reply_wallet(*row)
        return await verify_by_reference(txn_ref, merchant, moment)


async def verify_by_reference(txn_ref: str, merchant: Merchant, reader: Snapshot) -> VerifyReply | Refusal:
    keys = transaction_key(merchant.merchant_id, KIND, txn_ref), payment_key(merchant.merchant_id, txn_ref)
    row = await reader.gather_row(BY_KEYS, *keys, merchant.merchant_id)
    return UNKNOWN_REFERENCE if row is None else reply_verify(*row[1:])


def reply_wallet(
    status: str, txn_ref: str, order_ref: str, message: str, currency: str, amount: int, detail: str
) -> VerifyReply:
    """A repayment or deposit whose money the merchant had already."""
    meta = BELONGING.decode(detail).meta
    return VerifyReply(
        txn_status=status,  # type: ignore[arg-type]
        txn_ref=txn_ref,
        customer_txnref=order_ref if order_ref != txn_ref else None,
        message=message,
        charged_amount=amount / MINOR_PER_MAJOR if status == SUCCESSFUL else 0,
        currency=currency,
        payment_method="wallet",
        fullname="",
        email="",
        bank_message=message,
        fraud_status="ok",
        refunded_amount=format_minor(0),
        meta=msgspec.json.decode(meta) if meta else UNSET,
        **subject_in(detail),
    )


def reply_verify(
    status: str,
    txn_ref: str,
    order_ref: str,
    message: str,
    currency: str,
    method: str,
    charged: int,
    received: int,
    refunded: int,
    token: str | None,
    detail: str,
    facts: str,
) -> VerifyReply:
    asked = DETAIL.decode(detail)
    waiting = short_message(received, charged) if received else AWAITING
    reply = VerifyReply(
        txn_status=status,  # type: ignore[arg-type]
        txn_ref=txn_ref,
        customer_txnref=order_ref or None,
        message=PENDING_MESSAGE if status == PENDING else COMPLETED[status],
        charged_amount=charged / MINOR_PER_MAJOR if status == SUCCESSFUL else 0,
        currency=currency,
        payment_method=method,
        fullname=asked.fullname,
        email=asked.email,
        bank_message=waiting if status == PENDING else message,
        fraud_status=FACTS.decode(facts).fraud,
        **subject_of(asked.errand),
    )
    if asked.errand is not None and asked.errand.meta:
        reply.meta = msgspec.json.decode(asked.errand.meta)
    if FACTS.decode(facts).surplus:
        reply.unapplied_amount = format_minor(max(0, FACTS.decode(facts).surplus - refunded))
    if status == SUCCESSFUL:
        reply.refunded_amount = format_minor(refunded)
        if asked.card is not None:
            reply.card = card_reply(asked.card)
        if token is not None:
            reply.card_token = token
    return reply


# --- a payment's rows, for its payer's page ---------------------------------------------------------------------------

# Both in one statement, so that they are of one moment.
ROWS = f"""
    select {", ".join(f"t.{name}" for name in Transaction.__struct_fields__)},
        {", ".join(f"p.{name}" for name in Payment.__struct_fields__)}
    from transaction t, payment p
    where t.key = $1 and t.merchant_id = $3 and p.key = $2 and p.merchant_id = $3
"""


async def read_payment(txn_ref: str, merchant: Merchant, reader: Reader) -> tuple[Transaction, Payment] | None:
    keys = transaction_key(merchant.merchant_id, KIND, txn_ref), payment_key(merchant.merchant_id, txn_ref)
    found = await reader.fetchrow(ROWS, *keys, merchant.merchant_id)
    if found is None:
        return None
    width = len(Transaction.__struct_fields__)
    return Transaction(*found[:width]), Payment(*found[width:])


# --- plans ----------------------------------------------------------------------------------------------------------

PLAN_COLUMNS = ", ".join(Plan.__struct_fields__)
PLANS = f"select {PLAN_COLUMNS} from plan where merchant_id = $1 and kind = $2 order by created_at desc, seq desc"


async def list_recurrents(request: PlansRequest, merchant: Merchant, reader: Reader) -> list[RecurrentReply]:
    rows = await reader.fetch(PLANS, merchant.merchant_id, "recurrent")
    return [reply_plan(Plan(*row)) for row in rows]


async def list_installments(request: PlansRequest, merchant: Merchant, reader: Reader) -> list[InstallmentReply]:
    rows = await reader.fetch(PLANS, merchant.merchant_id, "instalment")
    return [reply_instalments(Plan(*row)) for row in rows]


def reply_instalments(plan: Plan) -> InstallmentReply:
    terms = TERMS.decode(plan.detail)
    first = terms.total - sum(amount for _, amount in terms.later)
    done = len(terms.later) if plan.state == "finished" else plan.cycle - 1
    missed = missed_cycles(plan)
    lines = [
        InstallmentLine(
            date=day_text(datetime.fromisoformat(due)),
            amount=format_minor(amount),
            paid=n < done and n + 1 not in missed,
        )
        for n, (due, amount) in enumerate(terms.later)
    ]
    if first:
        lines.insert(0, InstallmentLine(date=day_text(plan.created_at), amount=format_minor(first), paid=True))
    return InstallmentReply(
        id=plan.plan_id,
        state=plan.state,
        total=format_minor(terms.total),
        paid=format_minor(plan.paid),
        currency=plan.currency,
        next_charge=utc_text(plan.cycle_due) if plan.state == "active" else None,
        payment_schedule=lines,
        card_token=plan.token,
        txn_ref=plan.last_ref,
        email=terms.detail.email,
        date_created=utc_text(plan.created_at),
    )


def day_text(moment: datetime) -> str:
    return f"{lagos_day(moment):%d-%m-%Y}"


# --- who gets a part ------------------------------------------------------------------------------------------------

BENEFICIARY_COLUMNS = ", ".join(f"b.{name}" for name in Beneficiary.__struct_fields__)
# Beneficiaries are paid by bank transfer, in one currency.
BENEFICIARIES = f"""
    select {BENEFICIARY_COLUMNS}, coalesce(a.posted, 0)
    from beneficiary b left join account a
        on a.merchant_id = b.merchant_id and a.name = 'beneficiary:' || b.ref_code || ':{HOME_CURRENCY}'
    where b.merchant_id = $1 order by b.created_at, b.seq
"""
ONE_BENEFICIARY = f"select {BENEFICIARY_COLUMNS} from beneficiary b where b.merchant_id = $1 and b.ref_code = $2"
STATEMENT = """
    select at, kind, reference, case when credit = $2 then amount else -amount end,
        case when credit = $2 then credit_after else debit_after end
    from posting where merchant_id = $1 and $2 in (debit, credit) order by seq
"""


class StatementLine(msgspec.Struct, frozen=True):
    """One movement on a beneficiary's account, and what it left there."""

    at: datetime
    kind: str
    reference: str
    amount: int
    balance: int


async def read_beneficiaries(merchant_id: int, reader: Reader) -> list[tuple[Beneficiary, int]]:
    """Each with what is yet to be paid out."""
    rows = await reader.fetch(BENEFICIARIES, merchant_id)
    return [(Beneficiary(*row[:-1]), row[-1]) for row in map(tuple, rows)]


async def read_beneficiary(merchant_id: int, ref_code: str, reader: Reader) -> Beneficiary | None:
    row = await reader.fetchrow(ONE_BENEFICIARY, merchant_id, ref_code)
    return None if row is None else Beneficiary(*row)


async def read_statement(merchant_id: int, ref_code: str, reader: Reader) -> list[StatementLine]:
    """Oldest first, out of the postings."""
    rows = await reader.fetch(STATEMENT, merchant_id, beneficiary_account(ref_code, HOME_CURRENCY))
    return [StatementLine(*row) for row in rows]
