"""Reads customers. Never writes; every WHERE has the merchant_id."""

from typing import Any

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.customers.model import (
    SHORTEST_BEGINNING,
    UNKNOWN_CUSTOMER,
    Customer,
    hash_phones,
    hash_word,
)
from kasuwa.methods.customers.rules import read_data, show_customer
from kasuwa.methods.customers.wire import (
    CustomerCard,
    CustomerDetail,
    CustomerDetailReply,
    CustomerDetailRequest,
    CustomerInvoices,
    CustomerPayment,
    CustomerRecord,
    CustomersReply,
    CustomersRequest,
    CustomerTotal,
)
from kasuwa.methods.payment.model import CARD_SUMMARY_DECODER, payment_key, saved_card_key
from kasuwa.transactions.payers import hash_customer
from kasuwa.wire.people import NATIONAL_NUMBERS, is_telephone, split_words

COLUMNS = """
    key, merchant_id, customer_id, number, detail_sealed, email_hash, phone_hash, words, created_at, changed_at,
    erased_at
"""
BY_ID = f"select {COLUMNS} from customer where merchant_id = $1 and customer_id = $2"
BY_IDS = f"select {COLUMNS} from customer where merchant_id = $1 and customer_id = any($2)"
# A filter that the request does not have is null. Erased customers are found by their id alone.
MATCHING = """
    merchant_id = $1 and erased_at is null and ($2::bytea is null or email_hash = $2)
    and ($3::bytea[] is null or phone_hash = any($3))
    and ($4::text[] is null or string_to_array(words, ' ') @> $4)
"""
NEWEST_FIRST = f"select {COLUMNS} from customer where {MATCHING} order by number desc offset $5 limit $6"
COUNT = f"select count(*) from customer where {MATCHING}"


async def find_customer(merchant_id: int, customer_id: str, reader: Reader) -> Customer | None:
    row = await reader.fetchrow(BY_ID, merchant_id, customer_id)
    return None if row is None else Customer(*row)


async def find_customers(merchant_id: int, customer_ids: list[str], reader: Reader) -> list[Customer]:
    """Returns the customers with these ids, in any order."""
    return [Customer(*row) for row in await reader.fetch(BY_IDS, merchant_id, customer_ids)]


def make_search(text: str | None, merchant_id: int, reader: ActionReader) -> tuple[Any, Any, Any]:
    """Returns the hash of an email address, those of a telephone number, or those of the beginnings of words."""
    if text is None:
        return None, None, None
    if "@" in text:
        return hash_customer(reader.digest, merchant_id, text), None, None
    if is_telephone(text, NATIONAL_NUMBERS):
        return None, hash_phones(reader.digest, merchant_id, text), None
    words = [word for word in split_words(text) if len(word) >= SHORTEST_BEGINNING] or split_words(text) or [text]
    return None, None, [hash_word(reader.digest, merchant_id, word) for word in words]


async def list_customers(request: CustomersRequest, merchant: Merchant, reader: ActionReader) -> CustomersReply:
    offset, limit = request.offset_and_limit
    filters = (merchant.merchant_id, *make_search(request.search, merchant.merchant_id, reader))
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_FIRST, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *filters)

    def show(row: Any) -> CustomerRecord:
        customer = Customer(*row)
        return show_customer(customer, read_data(customer, reader.unseal))

    lines = await reader.make_lines(show, rows, at_once=10)
    return CustomersReply(data=lines, total=total, offset=offset, limit=limit)


# --- one customer -----------------------------------------------------------------------------------------------

MAX_PAYMENTS_SHOWN = 20
MAX_CARDS_SHOWN = 20
# Payments whose cards are looked up. Contract: resources#customers
MAX_PAYMENTS_WITH_CARDS = 1_000

# The conditions must equal those of the index (0001_baseline.sql), else PostgreSQL does not use it.
OF_CUSTOMER = """
    from transaction t where t.merchant_id = $1 and t.kind = 'payment' and t.detail ->> 'customer' = $2
        and t.detail ->> 'customer' <> ''
"""
TOTALS = f"""
    select p.currency, count(*) filter (where p.status = 'successful'),
        coalesce(sum(p.amount) filter (where p.status = 'successful'), 0)::bigint,
        sum(least(p.refunded, p.amount))::bigint,
        count(*) filter (where p.status = 'failed'), count(*) filter (where p.status in ('pending', 'processing'))
    from (
        select t.currency, t.status, t.amount, (
            select coalesce(sum(r.amount), 0) from transaction r where r.merchant_id = $1 and r.kind = 'refund'
                and r.status = 'successful' and r.detail ->> 'payment' = t.txn_ref
                and (r.detail ->> 'is_return' is null or r.detail ->> 'is_of_charge' is not null)) as refunded
        {OF_CUSTOMER}) p
    group by p.currency
"""
NEWEST_PAYMENTS = f"""
    select t.txn_ref, t.order_ref, t.status, t.currency, t.amount, t.detail ->> 'method', t.created_at {OF_CUSTOMER}
    order by t.detail ->> 'customer' desc, t.created_at desc, t.seq desc, t.key desc limit {MAX_PAYMENTS_WITH_CARDS}
"""
# Void invoices are no debts.
INVOICES = """
    select currency, count(*), count(*) filter (where status = 'overdue'), sum(total)::bigint, sum(paid)::bigint,
        sum(refunded)::bigint
    from invoice where merchant_id = $1 and customer_id = $2 and status <> 'void' group by currency
"""
TOKENS = "select distinct token from payment where merchant_id = $1 and key = any($2) and token is not null"
CARDS = f"""
    select token, detail, created_at from saved_card
    where merchant_id = $1 and key = any($2) and length(sealed) > 0
    order by created_at desc, seq desc limit {MAX_CARDS_SHOWN}
"""


async def show_customer_detail(
    request: CustomerDetailRequest, merchant: Merchant, reader: ActionReader
) -> CustomerDetailReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        customer = await find_customer(merchant_id, request.customer_id, snapshot)
        if customer is None:
            return UNKNOWN_CUSTOMER
        email_hash = "-" if customer.email_hash is None else bytes(customer.email_hash).hex()
        totals = await snapshot.fetch(TOTALS, merchant_id, email_hash)
        invoices = await snapshot.fetch(INVOICES, merchant_id, customer.customer_id)
        payments = await snapshot.fetch(NEWEST_PAYMENTS, merchant_id, email_hash)
        keys = [payment_key(merchant_id, row[0]) for row in payments]
        tokens = [row[0] for row in await snapshot.fetch(TOKENS, merchant_id, keys)]
        cards = await snapshot.fetch(CARDS, merchant_id, [saved_card_key(merchant_id, token) for token in tokens])
    record = show_customer(customer, read_data(customer, reader.unseal))
    detail = CustomerDetail(
        customer_id=record.customer_id,
        name=record.name,
        email=record.email,
        phone=record.phone,
        address=record.address,
        created_at=record.created_at,
        totals=[show_total(*row) for row in sorted(totals, key=lambda row: CURRENCIES.index(row[0]))],
        invoices=[show_invoices(*row) for row in sorted(invoices, key=lambda row: CURRENCIES.index(row[0]))],
        cards=[show_card(*row) for row in cards],
        transactions=[show_payment(*row) for row in payments[:MAX_PAYMENTS_SHOWN]],
    )
    return CustomerDetailReply(message="Customer", data=detail)


def show_total(currency: str, payments: int, paid: int, refunded: int, failed: int, still_open: int) -> CustomerTotal:
    return CustomerTotal(
        currency=currency,
        payments=payments,
        paid=format_minor(paid),
        refunded=format_minor(refunded),
        failed=failed,
        open=still_open,
    )


def show_invoices(currency: str, invoices: int, overdue: int, total: int, paid: int, refunded: int) -> CustomerInvoices:
    return CustomerInvoices(
        currency=currency,
        invoices=invoices,
        overdue=overdue,
        total=format_minor(total),
        paid=format_minor(paid),
        refunded=format_minor(refunded),
        outstanding=format_minor(total - paid),
    )


def show_card(token: str, detail: str, created_at: Any) -> CustomerCard:
    summary = CARD_SUMMARY_DECODER.decode(detail)
    return CustomerCard(
        card=summary.mask,
        brand=summary.brand,
        issuer=summary.issuer,
        token=f"{token[:4]}****",
        created_at=utc_text(created_at),
    )


def show_payment(*row: Any) -> CustomerPayment:
    txn_ref, order_ref, status, currency, amount, method, created_at = row
    return CustomerPayment(
        txn_ref=txn_ref,
        customer_txnref=order_ref,
        txn_status=status,
        currency=currency,
        amount=format_minor(amount),
        method=method,
        date_created=utc_text(created_at),
    )
