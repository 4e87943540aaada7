"""Database reads for a merchant's pages. No writes, and merchant_id is in every WHERE.

Lists use keyset pagination: each page continues after the last row of the one before, so that the last page of a long
list is read as fast as the first.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.console.kit.audit_view import TrailFilter, make_trail_condition
from kasuwa.console.merchant.wire import (
    BeneficiariesReply,
    BeneficiaryLine,
    CardLine,
    CardsReply,
    CheckoutAttempt,
    CheckoutLine,
    CheckoutRecord,
    CheckoutReply,
    CheckoutRequest,
    CheckoutsReply,
    PageRequest,
)
from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader, ReplyReader
from kasuwa.engine.journal import PostingRow
from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.methods.resources.store import EVENT_COLUMNS, event_line
from kasuwa.methods.resources.wire import EventLine
from kasuwa.methods.virtualcard.model import read_holder
from kasuwa.postgres.columns import describe_columns
from kasuwa.transactions.checkouts import DETAIL_DECODER as CHECKOUT_DETAIL
from kasuwa.transactions.checkouts import Checkout, CheckoutDetail, checkout_key, checkout_url
from kasuwa.transactions.transactions import Transaction
from kasuwa.webhooks.health import EndpointState, read_endpoint_states, worst_state

PAGE_ROWS = 50
MAX_SEQUENCE = 2**62


# Largest bigint of PostgreSQL. Cursors come from URLs, so they may contain any number.
MAX_SEQ = 2**63 - 1


class TransactionLine(msgspec.Struct):
    """A transaction in a list. Amounts are in minor units."""

    key: bytes
    kind: str
    txn_ref: str
    order_ref: str
    currency: str
    amount: int
    charges: int  # fee, VAT and duty; 0 if the transaction failed
    status: str
    message: str  # the rail's last message
    created_at: datetime
    seq: int


# A failed transaction has no charges, although its row keeps those that were planned.
LINE_COLUMNS = """
    t.key, t.kind, t.txn_ref, t.order_ref, t.currency, t.amount,
    case when t.status = 'failed' then 0 else t.fee + t.vat + t.duty end as charges, t.status, t.message,
    t.created_at, t.seq
"""

# The transaction kinds of a merchant. Loose index scan: one index lookup per kind.
KINDS_CTE = """
    with recursive k as (
        select min(kind) as kind from transaction where merchant_id = $1
        union all
        select (select min(t.kind) from transaction t where t.merchant_id = $1 and t.kind > k.kind) from k
        where k.kind is not null)
"""

# Reads the newest rows of each kind from its index, then the newest of those.
NEWEST_TRANSACTIONS = f"""
    {KINDS_CTE} select l.* from k cross join lateral (
        select {LINE_COLUMNS} from transaction t where t.merchant_id = $1 and t.kind = k.kind
        order by t.created_at desc, t.seq desc, t.key desc limit $2) l
    where k.kind is not null order by l.created_at desc, l.seq desc, l.key desc limit $2
"""
TRANSACTION = (
    f"select {', '.join(describe_columns(Transaction).names)} from transaction where merchant_id = $1 and txn_ref = $2"
)


async def list_newest_transactions(reader: Reader, merchant: Merchant, limit: int) -> list[TransactionLine]:
    return [TransactionLine(*row) for row in await reader.fetch(NEWEST_TRANSACTIONS, merchant.merchant_id, limit)]


async def find_transaction(reader: Reader, merchant: Merchant, txn_ref: str) -> Transaction | None:
    row = await reader.fetchrow(TRANSACTION, merchant.merchant_id, txn_ref)
    return None if row is None else Transaction(*row)


# The columns of a posting, with the title of its kind.
POSTING_COLUMNS = ", ".join(title_sql() if name == "kind" else name for name in PostingRow.__struct_fields__)
# Only the first posting of a group is indexed by reference. The others follow it by seq.
POSTINGS_OF = f"""
    select {POSTING_COLUMNS} from (
        select p.* from posting g join posting p on p.merchant_id = g.merchant_id
            and p.seq between g.seq and g.seq + 9999 and p.group_seq = g.seq
        where g.merchant_id = $1 and g.reference = $2 and g.seq = g.group_seq) p
    order by seq limit 200
"""


async def list_postings(reader: Reader, merchant: Merchant, reference: str) -> list[PostingRow]:
    return [PostingRow(*row) for row in await reader.fetch(POSTINGS_OF, merchant.merchant_id, reference)]


# --- business time ------------------------------------------------------------------------------------------------

CLOCK = "select clock_offset_us, clock_fixed_at from merchant_state where merchant_id = $1"


class BusinessClock(msgspec.Struct):
    """A merchant's business time. It is moved if it differs from real time, which the sandbox allows."""

    now: datetime
    is_moved: bool


async def read_clock(reader: Reader, merchant: Merchant, real_time: datetime) -> BusinessClock:
    offset, fixed = await reader.fetchrow(CLOCK, merchant.merchant_id)
    now = fixed if fixed is not None else real_time + timedelta(microseconds=offset)
    return BusinessClock(now, fixed is not None or offset != 0)


# --- events -------------------------------------------------------------------------------------------------------

EVENTS = f"{EVENT_COLUMNS} where e.merchant_id = $1 and e.seq = any($2::bigint[]) order by e.seq desc"
EVENT = f"{EVENT_COLUMNS} where e.merchant_id = $1 and e.seq = $2"
EVENT_OF = f"{EVENT_COLUMNS} where e.merchant_id = $1 and e.reference = $2"


async def list_events_by_number(reader: Reader, merchant: Merchant, sequences: list[int]) -> list[EventLine]:
    """Returns the events with these numbers, newest first."""
    return [event_line(row) for row in await reader.fetch(EVENTS, merchant.merchant_id, sequences)]


async def find_event(reader: Reader, merchant: Merchant, seq: int) -> EventLine | None:
    row = await reader.fetchrow(EVENT, merchant.merchant_id, seq)
    return None if row is None else event_line(row)


async def find_event_by_reference(reader: Reader, merchant: Merchant, reference: str) -> EventLine | None:
    row = await reader.fetchrow(EVENT_OF, merchant.merchant_id, reference)
    return None if row is None else event_line(row)


class ShownEvent(msgspec.Struct, frozen=True):
    """An event with what became of it at every endpoint."""

    line: EventLine  # its attempts are those at the first endpoint
    others: list[EndpointState]  # at the further endpoints

    @property
    def state(self) -> str:
        """The worst of its states."""
        return worst_state([self.line.state, *(other.state for other in self.others)])

    @property
    def unaccepted(self) -> list[EndpointState]:
        """The further endpoints that have not accepted it."""
        return [other for other in self.others if other.state != "delivered"]


async def add_endpoints(reader: Reader, merchant: Merchant, lines: Sequence[EventLine]) -> list[ShownEvent]:
    """Returns events with their states at the further endpoints."""
    states = await read_endpoint_states(reader, merchant.merchant_id, [line.sequence for line in lines])
    return [ShownEvent(line, states.get(line.sequence, [])) for line in lines]


# --- cards --------------------------------------------------------------------------------------------------------

CARDS = """
    select c.key, c.holder_sealed, c.reference, c.mask, coalesce(a.posted - a.held, 0), c.currency, c.state,
        c.expiration, c.created_at
    from virtual_card c left join account a
        on a.merchant_id = c.merchant_id and a.name = 'card:' || c.short_id || ':' || c.currency
    where c.merchant_id = $1 order by c.created_at desc, c.seq desc offset $2 limit $3
"""
CARD_COUNT = "select count(*) from virtual_card where merchant_id = $1"


async def list_cards(request: PageRequest, merchant: Merchant, reader: ActionReader) -> CardsReply:
    offset, limit = request.offset or 0, request.limit or PAGE_ROWS
    async with reader.snapshot() as connection:
        rows = await connection.fetch(CARDS, merchant.merchant_id, offset, limit)
        [[total]] = await connection.fetch(CARD_COUNT, merchant.merchant_id)
    lines = [
        CardLine(
            reference=reference,
            maskedpan=mask,
            name_on_card=read_holder(merchant.merchant_id, key, sealed, reader.unseal).name,
            balance=format_minor(balance),
            currency=currency,
            status=state,
            expiration=expiration,
            created_at=utc_text(at),
        )
        for key, sealed, reference, mask, balance, currency, state, expiration, at in rows
    ]
    return CardsReply(data=lines, total=total, offset=offset, limit=limit)


# --- checkouts ----------------------------------------------------------------------------------------------------

CHECKOUT_COLUMNS = ", ".join(Checkout.__struct_fields__)
CHECKOUTS = f"""
    select {CHECKOUT_COLUMNS} from checkout where merchant_id = $1
    order by created_at desc, seq desc offset $2 limit $3
"""
ONE_CHECKOUT = f"select {CHECKOUT_COLUMNS} from checkout where merchant_id = $1 and key = $2"
ATTEMPTS = """
    select t.txn_ref, p.method, t.status, p.charged, t.message, t.created_at
    from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
    where p.merchant_id = $1 and p.detail -> 'purpose' ->> 'reference' = $2
    order by t.created_at desc, t.seq desc, t.key desc
"""
UNKNOWN_CHECKOUT = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")


def checkout_fields(checkout: Checkout, detail: CheckoutDetail) -> dict[str, Any]:
    return {
        "txn_ref": checkout.txn_ref,
        "state": checkout.state,
        "amount": format_minor(checkout.amount),
        "currency": checkout.currency,
        "title": detail.title,
        "source": checkout.source,
        "link_id": checkout.source_id if checkout.source == "link" else None,
        "ticket_sale": checkout.source_id if checkout.source == "ticket" else None,
        "invoice_id": checkout.source_id if checkout.source == "invoice" else None,
        "customer_txnref": checkout.customer_txnref,
        "attempts": checkout.attempts,
        "created_at": utc_text(checkout.created_at),
        "expires": utc_text(checkout.expires_at),
        "ended_at": None if checkout.ended_at is None else utc_text(checkout.ended_at),
    }


async def list_checkouts(request: PageRequest, merchant: Merchant, reader: ReplyReader) -> CheckoutsReply:
    offset, limit = request.offset or 0, request.limit or PAGE_ROWS
    async with reader.snapshot() as connection:
        # One more than is shown tells whether others follow: counting a million would take longer than the page.
        records = await connection.fetch(CHECKOUTS, merchant.merchant_id, offset, limit + 1)
    rows = [Checkout(*row) for row in records[:limit]]
    lines = [CheckoutLine(**checkout_fields(row, CHECKOUT_DETAIL.decode(row.detail))) for row in rows]
    return CheckoutsReply(data=lines, total=offset + len(records), offset=offset, limit=limit)


async def show_checkout(request: CheckoutRequest, merchant: Merchant, reader: ActionReader) -> CheckoutReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as connection:
        row = await connection.fetchrow(ONE_CHECKOUT, merchant_id, checkout_key(merchant_id, request.txn_ref))
        attempts = await connection.fetch(ATTEMPTS, merchant_id, request.txn_ref)
    if row is None:
        return UNKNOWN_CHECKOUT
    checkout = Checkout(*row)
    detail = CHECKOUT_DETAIL.decode(checkout.detail)
    record = CheckoutRecord(
        **checkout_fields(checkout, detail),
        link=checkout_url(reader.public_url, detail.page_token),
        payment=checkout.payment_ref,
        payments=[
            CheckoutAttempt(
                txn_ref=txn_ref,
                method=method,
                status=status,
                amount=format_minor(charged),
                message=message,
                created_at=utc_text(at),
            )
            for txn_ref, method, status, charged, message, at in attempts
        ],
    )
    return CheckoutReply(data=record)


# --- beneficiaries ------------------------------------------------------------------------------------------------

BENEFICIARIES = """
    select ref_code, name, bank_code, account_number, created_at from beneficiary
    where merchant_id = $1 order by created_at desc, seq desc offset $2 limit $3
"""
BENEFICIARY_COUNT = "select count(*) from beneficiary where merchant_id = $1"


async def list_beneficiaries(request: PageRequest, merchant: Merchant, reader: ReplyReader) -> BeneficiariesReply:
    offset, limit = request.offset or 0, request.limit or PAGE_ROWS
    async with reader.snapshot() as connection:
        rows = await connection.fetch(BENEFICIARIES, merchant.merchant_id, offset, limit)
        [[total]] = await connection.fetch(BENEFICIARY_COUNT, merchant.merchant_id)
    lines = [
        BeneficiaryLine(ref_code=code, name=name, bank_code=bank, account_number=account, created_at=utc_text(at))
        for code, name, bank, account, at in rows
    ]
    return BeneficiariesReply(data=lines, total=total, offset=offset, limit=limit)


# --- settings -----------------------------------------------------------------------------------------------------


INVOICE = "select invoice_id from invoice where merchant_id = $1 and number = $2"


async def find_invoice_id(reader: Reader, merchant: Merchant, number: int) -> str:
    """Returns the id of the invoice with a number, or nothing."""
    row = await reader.fetchrow(INVOICE, merchant.merchant_id, number)
    return "" if row is None else str(row[0])


SETTINGS = "select settings from merchant where merchant_id = $1"
AUDIT_ENTRIES = f"""
    select merchant_id, seq, at, actor, address, action, subject, before, after from audit_entry
    where merchant_id = $1 and seq < $2 and {make_trail_condition(4)} order by seq desc limit $3
"""


async def read_settings(reader: Reader, merchant: Merchant) -> str:
    row = await reader.fetchrow(SETTINGS, merchant.merchant_id)
    return str(row[0])


async def list_audit_entries(
    reader: Reader, merchant: Merchant, before: int, chosen: TrailFilter, limit: int = PAGE_ROWS + 1
) -> list[Any]:
    return list(await reader.fetch(AUDIT_ENTRIES, merchant.merchant_id, before, limit, *chosen.parameters))
