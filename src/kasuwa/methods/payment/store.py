"""Reads of payments, plans and beneficiaries. No writes, and merchant_id in every WHERE.

Contract: payment#verify
"""

from datetime import datetime

import msgspec
from msgspec import UNSET

from kasuwa.core.batched_query import Requests, batched_query
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.reading import ActionReader, KeyReader, Reader, Snapshot, merchant_read
from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.methods.payment.model import (
    KIND,
    Payment,
    payment_key,
)
from kasuwa.methods.payment.plan_model import Plan, plan_key
from kasuwa.methods.payment.rules.check_request import HOME_CURRENCY
from kasuwa.methods.payment.rules.plans.installments import UNKNOWN_PLAN, reply_installment_plan
from kasuwa.methods.payment.rules.plans.recurrent import reply_recurrent
from kasuwa.methods.payment.rules.replies import (
    reply_unpaid,
    report_checkout,
)
from kasuwa.methods.payment.rules.verification import (
    AWAITING,
    PaymentProgressRow,
    PaymentRecord,
    reply_refund,
    reply_verify,
    reply_wallet_movement,
)
from kasuwa.methods.payment.settlement_model import Beneficiary, beneficiary_account
from kasuwa.methods.payment.wire import InstallmentsRequest, PlansRequest, VerifyRequest
from kasuwa.methods.payment.wire_reply import (
    InstallmentReply,
    RecurrentReply,
    VerifyReply,
)
from kasuwa.transactions.checkouts import PAID, Checkout, checkout_key
from kasuwa.transactions.checkouts import REFERENCE_PREFIX as CHECKOUT_PREFIX
from kasuwa.transactions.transactions import Transaction, transaction_key

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")
NO_REFERENCE = refuse_fields(FieldError("txnRef", "required, or customer_txnref or refundRef", "reference_missing"))
# Prefix of refund references. Contract: #references
REFUND_PREFIX = "GP|RF|"

# One payment with its refunds, in one statement and so of one snapshot.
MERCHANT = merchant_read("t.merchant_id", "p.merchant_id", "r.first_merchant", "r.last_merchant")
BY_KEYS = batched_query(
    f"""
    select u.n, {MERCHANT} as merchant,
        t.status, t.code, t.order_ref, t.message, t.currency, p.refunded, p.refunding, p.token, p.detail,
        p.expires_at, r.lines, p.disputed, p.payer_sealed, t.txn_ref, p.method, p.charged, p.received,
        p.stage, p.auth, p.facts
    from
    """,
    Requests((("txn", "bytea"), ("payment", "bytea"), ("merchant", "bigint"))),
    """,
        lateral (select merchant_id, status, code, txn_ref, order_ref, message, currency from transaction
            where key = u.txn and merchant_id = u.merchant offset 0) t,
        lateral (select merchant_id, method, charged, received, refunded, refunding, refunds, token, detail, facts,
                stage, auth, expires_at, disputed, payer_sealed from payment
            where key = u.payment and merchant_id = u.merchant offset 0) p
        cross join lateral (
            select min(merchant_id) as first_merchant, max(merchant_id) as last_merchant,
                json_agg(json_build_array(txn_ref, status, amount, message, detail ->> 'comment', created_at)
                    order by created_at desc, seq desc, key desc)::text as lines
            from transaction
            where (p.refunds > 0 or p.refunding > 0 or (p.facts ->> 'returns')::bigint > 0)
                and merchant_id = u.merchant and kind = 'refund' and detail ->> 'payment' = t.txn_ref) r
    """,
)
PAYMENT_OF_REFUND = "select detail ->> 'payment' from transaction where key = $1 and merchant_id = $2"
# Of the payments under one merchant reference: the successful one, else the newest. Contract: #repeats
BY_CUSTOMER_REFERENCE = """
    select txn_ref from (
        select txn_ref, status, created_at, seq, key from transaction
        where merchant_id = $1 and order_ref = $2 and kind = 'payment'
        union all
        select txn_ref, status, created_at, seq, key from transaction
        where merchant_id = $1 and order_ref = $2 and kind in ('repayment', 'deposit')) t
    order by (status = 'successful') desc, created_at desc, seq desc, key desc limit 1
"""
# The newest payment or wallet movement for a loan or savings account. Wallet movements are found by their postings on
# its accounts.
BY_SUBJECT = """
    select txn_ref from (
        select t.txn_ref, t.created_at, t.seq, t.key
        from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
        where p.merchant_id = $1 and p.detail -> 'purpose' ->> 'reference' = $2
        union all
        select txn_ref, created_at, seq, key from transaction
        where merchant_id = $1 and kind in ('repayment', 'deposit') and txn_ref in (
            select reference from posting
            where merchant_id = $1 and starts_with(credit, 'loan_') and split_part(credit, ':', 2) = $2
            union
            select reference from posting
            where merchant_id = $1 and starts_with(debit, 'loan_') and split_part(debit, ':', 2) = $2
            union
            select reference from posting
            where merchant_id = $1 and starts_with(credit, 'savings:') and split_part(credit, ':', 2) = $2)) t
    order by created_at desc, seq desc, key desc limit 1
"""
# Repayments and deposits paid from the wallet. They have a transaction and no payment.
WALLET_MOVEMENT = """
    select status, txn_ref, order_ref, message, currency, amount, detail from transaction
    where merchant_id = $1 and txn_ref = $2 and kind in ('repayment', 'deposit')
"""


async def verify_payment(request: VerifyRequest, merchant: Merchant, reader: ActionReader) -> VerifyReply | Refusal:
    """Returns a payment, refund or wallet movement by one of the references that the request names."""
    refund_ref = read_refund_reference(request)
    if refund_ref is not None:
        async with reader.snapshot() as snapshot:
            payment = await find_refunded_payment(refund_ref, merchant, snapshot)
        return UNKNOWN_REFERENCE if payment is None else reply_refund(payment, refund_ref, reader.unseal)
    reference = request.txn_ref
    if reference is None and request.customer_txnref is None:
        return NO_REFERENCE
    if reference is not None and reference.startswith(CHECKOUT_PREFIX):
        async with reader.snapshot() as snapshot:
            checkout = await snapshot.fetchrow(
                CHECKOUT, merchant.merchant_id, checkout_key(merchant.merchant_id, reference)
            )
            if checkout is None:
                return UNKNOWN_REFERENCE
            return await verify_checkout(Checkout(*checkout), merchant, snapshot, reader)
    if reference is not None and "|" not in reference and reference.startswith("GP"):
        payment = await find_payment(reference, merchant, reader)
        return UNKNOWN_REFERENCE if payment is None else reply_verify(payment, reader.public_url, reader.unseal)
    async with reader.snapshot() as snapshot:
        if reference is None:
            match = await snapshot.fetchrow(BY_CUSTOMER_REFERENCE, merchant.merchant_id, request.customer_txnref)
            checkout = await find_checkout(
                request.customer_txnref or "", None if match is None else match[0], merchant, snapshot
            )
            if checkout is not None:
                return await verify_checkout(checkout, merchant, snapshot, reader)
        else:
            match = await snapshot.fetchrow(BY_SUBJECT, merchant.merchant_id, reference)
        txn_ref = reference if match is None else match[0]
        if txn_ref is None:
            return UNKNOWN_REFERENCE
        if "|" in txn_ref:
            row = await snapshot.fetchrow(WALLET_MOVEMENT, merchant.merchant_id, txn_ref)
            return UNKNOWN_REFERENCE if row is None else reply_wallet_movement(row, merchant.merchant_id, reader.unseal)
        payment = await find_payment(txn_ref, merchant, snapshot)
        return UNKNOWN_REFERENCE if payment is None else reply_verify(payment, reader.public_url, reader.unseal)


async def find_refunded_payment(refund_ref: str, merchant: Merchant, snapshot: Snapshot) -> PaymentRecord | None:
    """Returns the payment that a refund belongs to, or None."""
    txn_ref = await payment_of_refund(refund_ref, merchant, snapshot)
    return None if txn_ref is None else await find_payment(txn_ref, merchant, snapshot)


async def find_payment(txn_ref: str, merchant: Merchant, reader: KeyReader) -> PaymentRecord | None:
    keys = transaction_key(merchant.merchant_id, KIND, txn_ref), payment_key(merchant.merchant_id, txn_ref)
    row = await reader.fetch_row_batched(BY_KEYS, *keys, merchant.merchant_id)
    return None if row is None else PaymentRecord(PaymentProgressRow(*row[15:]), *row[1:15])


# --- checkouts ------------------------------------------------------------------------------------------------------

CHECKOUT_COLUMNS = ", ".join(f"c.{name}" for name in Checkout.__struct_fields__)
CHECKOUT = f"select {CHECKOUT_COLUMNS} from checkout c where c.merchant_id = $1 and c.key = $2"
# The checkout under a merchant's reference, unless a payment with the same one (its keys are $3 and $4) is no attempt
# of a checkout: then the payment counts if it was successful, or is newer.
CHECKOUT_BY_CUSTOMER_REFERENCE = f"""
    select {CHECKOUT_COLUMNS} from checkout c
    left join payment p on p.merchant_id = $1 and p.key = $3
    left join transaction t on t.merchant_id = $1 and t.key = $4
    where c.merchant_id = $1 and c.customer_txnref = $2 and c.customer_txnref <> ''
        and (t.key is null or p.detail -> 'purpose' ->> 'purpose' = 'checkout' or c.state = 'paid'
            or (t.status <> 'successful' and c.created_at > t.created_at))
    order by (c.state = 'paid') desc, c.created_at desc, c.seq desc, c.key desc limit 1
"""


async def find_checkout(
    customer_txnref: str, txn_ref: str | None, merchant: Merchant, reader: Reader
) -> Checkout | None:
    """Returns the checkout that a merchant's own reference stands for. `found` is the payment that it may stand for."""
    merchant_id = merchant.merchant_id
    keys = (
        (b"", b"")
        if txn_ref is None
        else (payment_key(merchant_id, txn_ref), transaction_key(merchant_id, KIND, txn_ref))
    )
    row = await reader.fetchrow(CHECKOUT_BY_CUSTOMER_REFERENCE, merchant_id, customer_txnref, *keys)
    return None if row is None else Checkout(*row)


async def verify_checkout(
    checkout: Checkout, merchant: Merchant, snapshot: Snapshot, reader: ActionReader
) -> VerifyReply:
    """Returns the state of a checkout, with the payment that paid it. Contract: payment#checkout"""
    newest = checkout.payment_ref or checkout.attempt_ref
    payment = await find_payment(newest, merchant, snapshot) if newest else None
    if checkout.state == PAID and payment is not None:
        reply = reply_verify(payment, reader.public_url, reader.unseal)
        reply.checkout_ref = UNSET
    else:
        reply = reply_unpaid(checkout, AWAITING if payment is None else payment.message, reader.unseal)
    reply.txn_ref = checkout.txn_ref
    reply.customer_txnref = checkout.customer_txnref or None
    reply.checkout = report_checkout(checkout, reader.public_url)
    return reply


def read_refund_reference(request: VerifyRequest) -> str | None:
    if request.refund_ref is not None:
        return request.refund_ref
    return request.txn_ref if (request.txn_ref or "").startswith(REFUND_PREFIX) else None


async def payment_of_refund(refund_ref: str, merchant: Merchant, reader: Reader) -> str | None:
    key = transaction_key(merchant.merchant_id, "refund", refund_ref)
    row = await reader.fetchrow(PAYMENT_OF_REFUND, key, merchant.merchant_id)
    return None if row is None else str(row[0])


# --- rows of a payment, for its hosted page ---------------------------------------------------------------------------

# Both rows in one statement, and so of one snapshot.
ROWS = f"""
    select {", ".join(f"t.{name}" for name in Transaction.__struct_fields__)},
        {", ".join(f"p.{name}" for name in Payment.__struct_fields__)}
    from transaction t, payment p
    where t.key = $1 and t.merchant_id = $3 and p.key = $2 and p.merchant_id = $3
"""


async def read_payment(txn_ref: str, merchant: Merchant, reader: Reader) -> tuple[Transaction, Payment] | None:
    keys = transaction_key(merchant.merchant_id, KIND, txn_ref), payment_key(merchant.merchant_id, txn_ref)
    row = await reader.fetchrow(ROWS, *keys, merchant.merchant_id)
    if row is None:
        return None
    width = len(Transaction.__struct_fields__)
    return Transaction(*row[:width]), Payment(*row[width:])


# --- plans ----------------------------------------------------------------------------------------------------------

PLAN_COLUMNS = ", ".join(Plan.__struct_fields__)
PLANS = f"""
    select {PLAN_COLUMNS} from payment_plan where merchant_id = $1 and kind = $2
    order by created_at desc, seq desc offset $3 limit $4
"""
PLAN = f"select {PLAN_COLUMNS} from payment_plan where merchant_id = $1 and kind = $2 and key = $3"
# Plans rendered before other requests get a turn: a plan may have hundreds of installments.
PLANS_PER_YIELD = 5


async def list_recurrents(request: PlansRequest, merchant: Merchant, reader: ActionReader) -> list[RecurrentReply]:
    rows = await reader.fetch(PLANS, merchant.merchant_id, "recurrent", *request.offset_and_limit)
    return await reader.make_lines(lambda row: reply_recurrent(Plan(*row), reader.unseal), rows)


async def list_installments(
    request: InstallmentsRequest, merchant: Merchant, reader: ActionReader
) -> list[InstallmentReply] | Refusal:
    merchant_id = merchant.merchant_id
    if request.id is None:
        rows = await reader.fetch(PLANS, merchant_id, "instalment", *request.offset_and_limit)
        return await reader.make_lines(
            lambda row: reply_installment_plan(Plan(*row), reader.unseal), rows, at_once=PLANS_PER_YIELD
        )
    rows = await reader.fetch(PLAN, merchant_id, "instalment", plan_key(merchant_id, request.id))
    return [reply_installment_plan(Plan(*row), reader.unseal) for row in rows] or UNKNOWN_PLAN


# --- beneficiaries --------------------------------------------------------------------------------------------------

BENEFICIARY_COLUMNS = ", ".join(f"b.{name}" for name in Beneficiary.__struct_fields__)
# Beneficiaries are paid by bank transfer, in one currency.
BENEFICIARIES = f"""
    select {BENEFICIARY_COLUMNS}, coalesce(a.posted, 0)
    from beneficiary b left join account a
        on a.merchant_id = b.merchant_id and a.name = 'beneficiary:' || b.ref_code || ':{HOME_CURRENCY}'
    where b.merchant_id = $1 order by b.created_at, b.seq
"""
ONE_BENEFICIARY = f"select {BENEFICIARY_COLUMNS} from beneficiary b where b.merchant_id = $1 and b.ref_code = $2"
STATEMENT = f"""
    select at, {title_sql()}, reference, case when credit = $2 then amount else -amount end,
        case when credit = $2 then credit_after else debit_after end
    from posting where merchant_id = $1 and $2 in (debit, credit) order by seq
"""


class StatementLine(msgspec.Struct, frozen=True):
    """One movement on a beneficiary's account, and the balance after it."""

    at: datetime
    kind: str
    reference: str
    amount: int
    balance: int


async def read_beneficiaries(merchant_id: int, reader: Reader) -> list[tuple[Beneficiary, int]]:
    """Returns the beneficiaries, each with the amount not yet paid out."""
    rows = await reader.fetch(BENEFICIARIES, merchant_id)
    return [(Beneficiary(*row[:-1]), row[-1]) for row in map(tuple, rows)]


async def read_beneficiary(merchant_id: int, ref_code: str, reader: Reader) -> Beneficiary | None:
    row = await reader.fetchrow(ONE_BENEFICIARY, merchant_id, ref_code)
    return None if row is None else Beneficiary(*row)


async def read_statement(merchant_id: int, ref_code: str, reader: Reader) -> list[StatementLine]:
    """Returns the movements on a beneficiary's account, oldest first."""
    rows = await reader.fetch(STATEMENT, merchant_id, beneficiary_account(ref_code, HOME_CURRENCY))
    return [StatementLine(*row) for row in rows]
