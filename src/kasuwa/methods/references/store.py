"""Finds anything by a reference of the service or of the merchant. Never writes; every WHERE has the merchant_id.

A reference is tried as that of a transaction, then as an event id, a code or an account number, then as the id of
another object. All are look-ups by an index. Contract: resources#transaction
"""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_moment, utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.token_index import token_digest
from kasuwa.methods.cashcode.model import KIND as CASHCODE
from kasuwa.methods.checkout.model import link_key
from kasuwa.methods.clients.model import client_key
from kasuwa.methods.customers.model import customer_key
from kasuwa.methods.disburse.model import BATCH_ORDERS_DECODER, batch_key
from kasuwa.methods.disputes.model import dispute_key
from kasuwa.methods.groups.model import group_loan_key
from kasuwa.methods.investments.model import savings_key
from kasuwa.methods.investments.thrift_model import thrift_plan_key
from kasuwa.methods.invoices.model import invoice_key, parse_invoice_number
from kasuwa.methods.loan_products.model import make_product_id, product_key
from kasuwa.methods.loans.group_model import group_key
from kasuwa.methods.loans.model import loan_key
from kasuwa.methods.payment.model import payment_key, saved_card_key
from kasuwa.methods.payment.plan_model import plan_key
from kasuwa.methods.payment.settlement_model import PAYOUT, beneficiary_key
from kasuwa.methods.references.wire import (
    FoundRecord,
    RelatedReference,
    TimelineLine,
    TransactionReply,
    TransactionRequest,
)
from kasuwa.methods.statements.settlements.store import read_days
from kasuwa.methods.virtualcard.dispute_model import card_dispute_key
from kasuwa.methods.virtualcard.model import card_key
from kasuwa.transactions.checkouts import checkout_key
from kasuwa.transactions.inbound_accounts import ACCOUNT, PAYMENT, personalized_key
from kasuwa.transactions.payers import PAYMENT_MARK_DECODER
from kasuwa.transactions.purpose import SCHEDULED_PAYOUT, SUBJECT_DETAIL_DECODER, TransactionPurpose
from kasuwa.transactions.settlements import parse_settlement_id
from kasuwa.transactions.transactions import FAILED, TRANSACTION_KINDS, transaction_key
from kasuwa.webhooks.signatures import parse_event_id

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")

# Related references of one kind that a reply names, and steps of its timeline. Contract: resources#transaction
MAX_RELATED = 20
MAX_STEPS = 100

# --- transactions -----------------------------------------------------------------------------------------------


class FoundTransaction(msgspec.Struct, frozen=True):
    """A transaction as TRANSACTION selects it. Amounts are in minor units."""

    kind: str
    txn_ref: str
    order_ref: str
    batch_ref: str | None
    currency: str
    amount: int
    fee: int
    vat: int
    duty: int
    status: str
    message: str
    detail: str
    trail: str
    created_at: datetime
    final_at: datetime | None


class TrailStep(msgspec.Struct, frozen=True):
    at: datetime
    step: str
    message: str = msgspec.field(name="said", default="")


TRAIL_DECODER: "msgspec.json.Decoder[list[TrailStep]]" = msgspec.json.Decoder(list[TrailStep])


class RefundDetail(msgspec.Struct, frozen=True):
    """The part of a refund's detail that names its payment."""

    payment: str = ""


REFUND_DECODER: "msgspec.json.Decoder[RefundDetail]" = msgspec.json.Decoder(RefundDetail)

FOUND = """
    t.kind, t.txn_ref, t.order_ref, t.batch_ref, t.currency, t.amount, t.fee, t.vat, t.duty, t.status, t.message,
    t.detail, t.trail, t.created_at, t.final_at, t.seq, t.key
"""
# By txnRef, else by the merchant's own reference, of those the newest.
TRANSACTION = f"""
    select {FOUND}, 1 as place from transaction t where t.merchant_id = $1 and t.txn_ref = $2
    union all select {FOUND}, 2 from transaction t where t.merchant_id = $1 and t.key = any($3)
    union all (select {FOUND}, 2 from transaction t
        where t.merchant_id = $1 and t.order_ref = $2 and t.kind = 'payment'
        order by t.created_at desc, t.seq desc, t.key desc limit 1)
    union all (select {FOUND}, 2 from transaction t
        where t.merchant_id = $1 and t.order_ref = $2 and t.kind in ('repayment', 'deposit')
        order by t.created_at desc, t.seq desc, t.key desc limit 1)
    order by place, created_at desc, seq desc, key desc limit 1
"""
RELATED_TRANSACTIONS = f"""
    (select t.kind, t.txn_ref, t.status from transaction t
        where t.merchant_id = $1 and t.kind = 'refund' and t.detail ->> 'payment' = $2
        order by t.created_at desc, t.seq desc, t.key desc limit {MAX_RELATED})
    union all (select t.kind, t.txn_ref, t.status from transaction t
        where t.merchant_id = $1 and t.kind = 'payment' and t.order_ref = $3 and t.order_ref <> '' and t.txn_ref <> $2
        order by t.created_at desc, t.seq desc, t.key desc limit {MAX_RELATED})
    union all select t.kind, t.txn_ref, t.status from transaction t where t.merchant_id = $1 and t.txn_ref = $4
    union all select 'customer', c.customer_id, 'active' from customer c
        where c.merchant_id = $1 and c.key = $5 and c.erased_at is null
    union all (select 'dispute', d.dispute_id, d.state from dispute d where d.merchant_id = $1 and d.txn_ref = $2
        order by d.number desc limit {MAX_RELATED})
    union all (select 'card_dispute', d.dispute_id, d.state from virtual_card_dispute d
        where d.merchant_id = $1 and d.txn_ref = $2 order by d.number desc limit {MAX_RELATED})
"""
PAYMENT_DETAIL = "select detail from payment where merchant_id = $1 and key = $2"
EVENT = "select reference from event where merchant_id = $1 and seq = $2"
TOKENS = "select kind, reference from token_index where merchant_id = $1 and key = any($2)"


async def show_record(
    request: TransactionRequest, merchant: Merchant, reader: ActionReader
) -> TransactionReply | Refusal:
    async with reader.snapshot() as snapshot:
        reference = await resolve_reference(request.reference, merchant, reader, snapshot)
        transaction = await find_transaction(reference, merchant, snapshot)
        record = (
            await find_record(reference, merchant, snapshot)
            if transaction is None
            else await show_transaction(transaction, merchant, snapshot)
        )
    return UNKNOWN_REFERENCE if record is None else TransactionReply(data=record)


async def resolve_reference(text: str, merchant: Merchant, reader: ActionReader, snapshot: Reader) -> str:
    """Returns the reference that an event id, a cashcode or an account number stands for, otherwise the text."""
    merchant_id = merchant.merchant_id
    seq = parse_event_id(merchant_id, text)
    if seq is not None:
        row = await snapshot.fetchrow(EVENT, merchant_id, seq)
        # Events of a dispute have its reference and their number, also those of a cardholder.
        return text if row is None else str(row[0]).partition("/")[0]
    if not (len(text) == 10 and text.isascii() and text.isdecimal()):
        return text
    keys = [token_digest(reader.digest, kind, text) for kind in (CASHCODE, ACCOUNT)]
    row = await snapshot.fetchrow(TOKENS, merchant_id, keys)
    if row is None:
        return text
    kind, reference = row
    # The entry of an account number names its owner: "payment GP…" or "personalized customer-17".
    return str(reference) if kind == CASHCODE else str(reference).partition(" ")[2]


async def find_transaction(reference: str, merchant: Merchant, reader: Reader) -> FoundTransaction | None:
    keys = [transaction_key(merchant.merchant_id, kind, reference) for kind in TRANSACTION_KINDS]
    row = await reader.fetchrow(TRANSACTION, merchant.merchant_id, reference, keys)
    return None if row is None else FoundTransaction(*tuple(row)[:-3])


async def show_transaction(transaction: FoundTransaction, merchant: Merchant, reader: Reader) -> FoundRecord:
    is_charged = transaction.status != FAILED
    steps = TRAIL_DECODER.decode(transaction.trail)[-MAX_STEPS:]
    method = PAYMENT_MARK_DECODER.decode(transaction.detail).method if transaction.kind == PAYMENT else None
    return FoundRecord(
        kind=transaction.kind,
        reference=transaction.txn_ref,
        order_ref=transaction.order_ref or None,
        state=transaction.status,
        message=transaction.message,
        currency=transaction.currency,
        amount=format_minor(transaction.amount),
        fee=format_minor(transaction.fee if is_charged else 0),
        vat=format_minor(transaction.vat if is_charged else 0),
        duty=format_minor(transaction.duty if is_charged else 0),
        method=method,
        date_created=utc_text(transaction.created_at),
        date_ended=None if transaction.final_at is None else utc_text(transaction.final_at),
        related=await find_related(transaction, merchant, reader),
        timeline=[TimelineLine(at=utc_text(step.at), step=step.step, message=step.message) for step in steps],
    )


async def find_related(transaction: FoundTransaction, merchant: Merchant, reader: Reader) -> list[RelatedReference]:
    """Returns the refunds of a payment, the payment of a refund, further attempts under the same reference, the
    customer, the bulk, and the loan, savings account or plan that a transaction was made for."""
    merchant_id, detail = merchant.merchant_id, transaction.detail
    customer = b""
    if transaction.kind == PAYMENT:
        mark = PAYMENT_MARK_DECODER.decode(detail)
        customer = customer_key(merchant_id, bytes.fromhex(mark.customer))
        row = await reader.fetchrow(PAYMENT_DETAIL, merchant_id, payment_key(merchant_id, transaction.txn_ref))
        detail = "{}" if row is None else row[0]
    origin = REFUND_DECODER.decode(detail).payment if transaction.kind == "refund" else transaction.batch_ref or ""
    shared_ref = transaction.order_ref if transaction.kind == PAYMENT else ""
    rows = await reader.fetch(RELATED_TRANSACTIONS, merchant_id, transaction.txn_ref, shared_ref, origin, customer)
    related = [RelatedReference(kind=kind, reference=reference, state=state) for kind, reference, state in rows]
    if transaction.batch_ref and not any(one.reference == transaction.batch_ref for one in related):
        related.append(RelatedReference(kind="batch", reference=transaction.batch_ref, state=None))
    subject = SUBJECT_DETAIL_DECODER.decode(detail)
    # A payout by schedule was made for the wallet's owner: there is nothing else to name.
    if subject.purpose is not None and subject.purpose.purpose != SCHEDULED_PAYOUT:
        related.append(show_purpose(subject.purpose))
    for kind, reference in (("loan", subject.loan_id), ("savings", subject.savings_id)):
        if reference:
            related.append(RelatedReference(kind=kind, reference=reference, state=None))
    return related


# Kinds of what transactions are made for, by the name of the purpose.
SUBJECT_KINDS = {
    "loan-disbursement": "loan",
    "loan-repayment": "loan",
    "group-disbursement": "group_loan",
    "savings-deposit": "savings",
    "savings-cashout": "savings",
    "held-inbound": "client",
    "checkout": "checkout",
    "recurrent": "plan",
    "instalment": "plan",
}


def show_purpose(purpose: TransactionPurpose) -> RelatedReference:
    if purpose.purpose == PAYOUT:
        return RelatedReference(kind="beneficiary", reference=purpose.beneficiary, state=None)
    return RelatedReference(kind=SUBJECT_KINDS[purpose.purpose], reference=purpose.reference, state=None)


# --- other objects ----------------------------------------------------------------------------------------------

# Kind, reference, the merchant's own reference, state, currency, amount, time of creation, and the name by which its
# transactions are found.
RECORD = """
    select 'loan' as kind, loan_id as reference, null::text as own, state, 'NGN' as currency, amount, created_at,
        loan_id as owner
    from loan where merchant_id = $1 and key = $2
    union all select 'savings', s.savings_id, null, s.state, 'NGN', coalesce(a.posted, 0), s.opened_at, s.savings_id
    from savings s left join account a on a.merchant_id = s.merchant_id and a.name like 'savings:%'
        and a.name = 'savings:' || s.savings_id || ':NGN'
    where s.merchant_id = $1 and s.key = $3
    union all select 'thrift_plan', thrift_id, null, state, 'NGN', amount, created_at, thrift_id
    from thrift_plan where merchant_id = $1 and key = $4
    union all select 'plan', plan_id, null, state, currency, paid, created_at, plan_id
    from payment_plan where merchant_id = $1 and key = $5
    union all select 'saved_card', token, null, case when length(sealed) > 0 then 'active' else 'erased' end, null,
        null, created_at, ''
    from saved_card where merchant_id = $1 and key = $6
    union all select 'virtual_card', c.reference, null, c.state, c.currency, coalesce(a.posted, 0), c.created_at,
        'card:' || c.short_id || ':' || c.currency
    from virtual_card c left join account a on a.merchant_id = c.merchant_id
        and a.name = 'card:' || c.short_id || ':' || c.currency
    where c.merchant_id = $1 and c.key = $7
    union all select 'beneficiary', ref_code, null, 'active', null, null, created_at, ref_code
    from beneficiary where merchant_id = $1 and key = $8
    union all select 'personalized_account', account_number, reference,
        case state when 'open' then 'active' else state end, 'NGN', null, created_at, reference
    from personalized_account where merchant_id = $1 and key = $9
    union all select 'client', client_id, null, status, null, null, created_at, client_id
    from client where merchant_id = $1 and key = $10
    union all select 'batch', batch_ref, null, 'accepted', 'NGN', null, created_at, detail::text
    from transfer_batch where merchant_id = $1 and key = $11
    union all select 'customer', customer_id, null, case when erased_at is null then 'active' else 'erased' end, null,
        null, created_at, encode(email_hash, 'hex')
    from customer where merchant_id = $1 and customer_id = $12
    union all select 'dispute', dispute_id, null, state, currency, amount, opened_at, txn_ref
    from dispute where merchant_id = $1 and key = $13
    union all select 'checkout', txn_ref, nullif(customer_txnref, ''), state, currency, amount, created_at, txn_ref
    from checkout where merchant_id = $1 and key = $14
    union all select 'link', link_id, slug, state, currency, amount, created_at, link_id
    from pay_link where merchant_id = $1 and key = $15
    union all select 'invoice', invoice_id, 'INV-' || lpad(number::text, 6, '0'), status, currency, total, created_at,
        invoice_id
    from invoice where merchant_id = $1 and (key = $16 or number = $17)
    union all select 'card_dispute', dispute_id, null, state, currency, amount, filed_at, txn_ref
    from virtual_card_dispute where merchant_id = $1 and key = $18
    union all select 'group', group_id, null, state, null, null, created_at, group_id
    from client_group where merchant_id = $1 and key = $19
    union all select 'group_loan', group_loan_id, null, 'accepted', 'NGN', (select sum(amount)::bigint from loan l
            where l.merchant_id = g.merchant_id and l.group_id = g.group_id and l.group_id <> ''
            and l.group_loan_id = g.group_loan_id), created_at, group_loan_id
    from group_loan g where merchant_id = $1 and key = $20
    union all select 'loan_product', product_id, code, state, null, null, created_at, product_id
    from loan_product where merchant_id = $1 and key = any($21)
    limit 1
"""
NEWEST = f"order by t.created_at desc, t.seq desc, t.key desc limit {MAX_RELATED}"
MADE = "t.kind, t.txn_ref, t.status, t.amount, t.created_at"
# The newest postings of a loan or savings account name more transactions than are shown.
OF_PRODUCT = f"""
    select {MADE} from transaction t where t.merchant_id = $1 and t.txn_ref in (
        (select reference from posting where merchant_id = $1 and starts_with(credit, 'loan_')
            and split_part(credit, ':', 2) = $2 order by seq desc limit 500)
        union (select reference from posting where merchant_id = $1 and starts_with(debit, 'loan_')
            and split_part(debit, ':', 2) = $2 order by seq desc limit 500)
        union (select reference from posting where merchant_id = $1 and starts_with(credit, 'savings:')
            and split_part(credit, ':', 2) = $2 order by seq desc limit 500)
        union (select reference from posting where merchant_id = $1 and starts_with(debit, 'savings:')
            and split_part(debit, ':', 2) = $2 order by seq desc limit 500)
        union (select txn_ref from payment where merchant_id = $1 and detail -> 'purpose' ->> 'reference' = $2
            limit 500)) {NEWEST}
"""
# The conditions must equal those of the indexes (0001_baseline.sql), else PostgreSQL does not use them.
OWNED_CREDIT = """(starts_with(credit, 'card:') or starts_with(credit, 'beneficiary:')
    or (starts_with(credit, 'wallet:') and credit <> 'wallet:main:NGN'))"""
OWNED_DEBIT = """(starts_with(debit, 'card:') or starts_with(debit, 'beneficiary:')
    or (starts_with(debit, 'wallet:') and debit <> 'wallet:main:NGN'))"""
OF_ACCOUNTS = f"""
    select {MADE} from transaction t where t.merchant_id = $1 and t.txn_ref in (
        (select reference from posting where merchant_id = $1 and credit = any($2) and {OWNED_CREDIT}
            order by seq desc limit 500)
        union (select reference from posting where merchant_id = $1 and debit = any($2) and {OWNED_DEBIT}
            order by seq desc limit 500)) {NEWEST}
"""
OF_CUSTOMER = f"""
    select {MADE} from transaction t where t.merchant_id = $1 and t.kind = 'payment'
        and t.detail ->> 'customer' = $2 and t.detail ->> 'customer' <> ''
    order by t.detail ->> 'customer' desc, t.created_at desc, t.seq desc, t.key desc limit {MAX_RELATED}
"""
OF_REFERENCE = f"""
    select {MADE} from transaction t where t.merchant_id = $1 and t.kind = 'payment' and t.order_ref = $2 {NEWEST}
"""
OF_SOURCE = f"""
    select 'checkout', txn_ref, state, amount, created_at from checkout
    where merchant_id = $1 and source = any($3) and source_id = $2 and source_id <> ''
    order by created_at desc, seq desc, key desc limit {MAX_RELATED}
"""
OF_BATCH = f"select {MADE} from transaction t where t.merchant_id = $1 and t.txn_ref = any($2) {NEWEST}"
BATCH_AMOUNT = """
    select coalesce(sum(amount), 0)::bigint from transaction where merchant_id = $1 and txn_ref = any($2)
"""
OF_CLIENT = f"""
    (select 'loan', loan_id, state, amount, created_at from loan where merchant_id = $1 and client_id = $2
        order by number desc limit {MAX_RELATED})
    union all (select 'savings', savings_id, state, 0, opened_at from savings where merchant_id = $1 and client_id = $2
        order by number desc limit {MAX_RELATED})
"""
OF_GROUP = f"""
    (select 'group_loan', group_loan_id, 'accepted', 0, created_at from group_loan
        where merchant_id = $1 and group_id = $2 order by n desc limit {MAX_RELATED})
    union all (select 'client', c.client_id, c.status, 0, m.joined_at from group_member m
        join client c on c.merchant_id = m.merchant_id and c.client_id = m.client_id
        where m.merchant_id = $1 and m.group_id = $2 and m.left_at is null
        order by m.joined_at desc, m.key limit {MAX_RELATED})
"""
OF_GROUP_LOAN = f"""
    select 'group', o.group_id, o.state, 0, o.created_at from group_loan g
        join client_group o on o.merchant_id = g.merchant_id and o.group_id = g.group_id
        where g.merchant_id = $1 and g.group_loan_id = $2
    union all (select 'loan', l.loan_id, l.state, l.amount, l.created_at from group_loan g
        join loan l on l.merchant_id = g.merchant_id and l.group_id = g.group_id and l.group_id <> ''
            and l.group_loan_id = g.group_loan_id
        where g.merchant_id = $1 and g.group_loan_id = $2 order by l.number desc limit {MAX_RELATED})
    union all select {MADE} from group_loan g
        join transaction t on t.merchant_id = g.merchant_id and t.txn_ref = g.transfer
        where g.merchant_id = $1 and g.group_loan_id = $2
"""
OF_LOAN_PRODUCT = f"""
    select 'loan', loan_id, state, amount, created_at from loan
    where merchant_id = $1 and product = $2 and product <> '' order by number desc limit {MAX_RELATED}
"""


async def find_record(reference: str, merchant: Merchant, reader: Reader) -> FoundRecord | None:
    """Returns the object with an id, or None."""
    merchant_id = merchant.merchant_id
    keys = [
        make(merchant_id, reference)
        for make in (
            loan_key,
            savings_key,
            thrift_plan_key,
            plan_key,
            saved_card_key,
            card_key,
            beneficiary_key,
            personalized_key,
            client_key,
            batch_key,
        )
    ]
    further = [make(merchant_id, reference) for make in (dispute_key, checkout_key, link_key, invoice_key)]
    last = (parse_invoice_number(reference), card_dispute_key(merchant_id, reference))
    lending = [make(merchant_id, reference) for make in (group_key, group_loan_key)]
    products = [product_key(merchant_id, one) for one in (reference, make_product_id(merchant_id, reference))]
    row = await reader.fetchrow(RECORD, merchant_id, *keys, reference, *further, *last, *lending, products)
    if row is None:
        return await find_settlement(reference, merchant_id, reader)
    kind, name, own, state, currency, amount, created_at, owner = row
    children = await list_made(kind, owner, merchant_id, reader)
    if kind == "batch":
        [[amount]] = await reader.fetch(BATCH_AMOUNT, merchant_id, batch_references(owner))
    timeline = [TimelineLine(at=utc_text(created_at), step="created", message="")]
    timeline += [TimelineLine(at=utc_text(at), step=what, message=ref) for what, ref, _, _, at in reversed(children)]
    return FoundRecord(
        kind=kind,
        # Whoever has the whole token of a saved card can charge it.
        reference=mask_token(name) if kind == "saved_card" else name,
        order_ref=own,
        state=state,
        message=None,
        currency=currency,
        amount=None if amount is None else format_minor(amount),
        fee=None,
        vat=None,
        duty=None,
        method=None,
        date_created=utc_text(created_at),
        date_ended=None,
        related=[RelatedReference(kind=what, reference=ref, state=state) for what, ref, state, _, _ in children],
        timeline=sorted(timeline, key=lambda line: line.at)[-MAX_STEPS:],
    )


async def list_made(kind: str, owner: str, merchant_id: int, reader: Reader) -> list[Any]:
    """Returns what belongs to an object: kind, reference, state, amount and time of each, the newest first."""
    match kind:
        case "loan" | "savings" | "plan" | "checkout":
            return await reader.fetch(OF_PRODUCT, merchant_id, owner)
        case "virtual_card":
            return await reader.fetch(OF_ACCOUNTS, merchant_id, [owner])
        case "beneficiary":
            accounts = [f"beneficiary:{owner}:{currency}" for currency in CURRENCIES]
            return await reader.fetch(OF_ACCOUNTS, merchant_id, accounts)
        case "customer":
            return await reader.fetch(OF_CUSTOMER, merchant_id, owner or "-")
        case "link":
            return await reader.fetch(OF_SOURCE, merchant_id, owner, ["link", "ticket"])
        case "invoice":
            return await reader.fetch(OF_SOURCE, merchant_id, owner, ["invoice"])
        case "personalized_account":
            return await reader.fetch(OF_REFERENCE, merchant_id, owner)
        case "group":
            return await reader.fetch(OF_GROUP, merchant_id, owner)
        case "group_loan":
            return await reader.fetch(OF_GROUP_LOAN, merchant_id, owner)
        case "loan_product":
            return await reader.fetch(OF_LOAN_PRODUCT, merchant_id, owner)
        case "client":
            return await reader.fetch(OF_CLIENT, merchant_id, owner)
        case "batch":
            return await reader.fetch(OF_BATCH, merchant_id, batch_references(owner))
        case "dispute" | "card_dispute":
            return await reader.fetch(OF_BATCH, merchant_id, [owner])
    return []


async def find_settlement(reference: str, merchant_id: int, reader: Reader) -> FoundRecord | None:
    """Returns the settlement of a day, or None."""
    named = parse_settlement_id(reference)
    days = None if named is None else await read_days(merchant_id, named[0], named[0], named[1], reader)
    if named is None or days is None or isinstance(days, Refusal) or named not in days.settlements:
        return None
    day, currency = named
    at = utc_text(lagos_moment(day, 0))
    return FoundRecord(
        kind="settlement",
        reference=reference,
        order_ref=None,
        state="settled",
        message=None,
        currency=currency,
        amount=format_minor(days.settlements[named].net),
        fee=None,
        vat=None,
        duty=None,
        method=None,
        date_created=at,
        date_ended=None,
        related=[RelatedReference(kind="transfer", reference=one, state=None) for one in days.payouts],
        timeline=[TimelineLine(at=at, step="created", message="")],
    )


def batch_references(detail: str) -> list[str]:
    """Returns the txnRefs of a bulk's transfers."""
    return [order.txn_ref for order in BATCH_ORDERS_DECODER.decode(detail) if order.txn_ref is not None]


def mask_token(token: str) -> str:
    return f"{token[:4]}****"
