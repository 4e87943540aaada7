"""Reads balances, personalized accounts and events of a merchant. Never writes; every WHERE has the merchant_id."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.core.reading import ActionReader, Reader, ReplyReader
from kasuwa.methods.resources.rules.close_account import show_account
from kasuwa.methods.resources.wire import (
    AccountsReply,
    AccountsRequest,
    AttemptLine,
    EventLine,
    EventsReply,
    EventsRequest,
    FeedReply,
    FeedRequest,
    WalletLine,
    WalletReply,
    WalletRequest,
)
from kasuwa.transactions.inbound_accounts import PersonalizedAccountRow
from kasuwa.transactions.transactions import MERCHANT_REFERENCED_KINDS, transaction_key
from kasuwa.webhooks.signatures import NO_ENDPOINT, event_id
from kasuwa.wire.fields import DEFAULT_LIMIT

WALLETS = "select currency, posted, held from account where merchant_id = $1 and name like 'wallet:main:%'"


async def show_wallet(request: WalletRequest, merchant: Merchant, reader: Reader) -> WalletReply:
    rows = {currency: (posted, held) for currency, posted, held in await reader.fetch(WALLETS, merchant.merchant_id)}
    # The NGN wallet is always listed, even before its first posting. Contract: #fx
    rows.setdefault("NGN", (0, 0))
    lines = [
        WalletLine(
            currency=currency,
            balance=format_minor(rows[currency][0]),
            available=format_minor(rows[currency][0] - rows[currency][1]),
            held=format_minor(rows[currency][1]),
        )
        for currency in CURRENCIES
        if currency in rows
    ]
    return WalletReply(data=lines)


# --- personalized accounts ------------------------------------------------------------------------------------

# A filter that the request does not have is null.
MATCHING_ACCOUNTS = "merchant_id = $1 and ($2::text is null or state = $2) and ($3::text is null or reference = $3)"
ACCOUNTS = f"""
    select {", ".join(PersonalizedAccountRow.__struct_fields__)}
    from personalized_account where {MATCHING_ACCOUNTS} order by created_at desc, key desc offset $4 limit $5
"""
# Page of all accounts, in the order of the index personalized_account_list.
ALL_ACCOUNTS = f"""
    select {", ".join(PersonalizedAccountRow.__struct_fields__)} from personalized_account
    where merchant_id = $1 and (created_at, key) > ($2::timestamptz, $3::bytea) order by created_at, key limit $4
"""
PAGE_SIZE = 1_000
COUNT_ACCOUNTS = f"select count(*) from personalized_account where {MATCHING_ACCOUNTS}"


async def list_accounts(request: AccountsRequest, merchant: Merchant, reader: ActionReader) -> AccountsReply:
    offset, limit = request.offset_and_limit
    filters = (merchant.merchant_id, request.state, request.reference)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(ACCOUNTS, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_ACCOUNTS, *filters)
    lines = await reader.make_lines(lambda row: show_account(PersonalizedAccountRow(*row), reader.unseal), rows)
    return AccountsReply(data=lines, total=total, offset=offset, limit=limit)


async def iterate_accounts(
    merchant_id: int, reader: Reader, page_size: int = PAGE_SIZE
) -> AsyncIterator[PersonalizedAccountRow]:
    """Yields every personalized account of a merchant, oldest first, for exports and erasure."""
    after = (datetime.min.replace(tzinfo=UTC), b"")
    while rows := await reader.fetch(ALL_ACCOUNTS, merchant_id, *after, page_size):
        for row in rows:
            account = PersonalizedAccountRow(*row)
            after = (account.created_at, bytes(account.key))
            yield account


# --- the event log --------------------------------------------------------------------------------------------

# A reply has at most this many delivery attempts of one event, the newest. Their numbers show how many are left out.
# Contract: resources#attempts
MOST_ATTEMPTS = 100
EVENT_COLUMNS = f"""
    select e.merchant_id, e.seq, e.reference, e.kind, e.object, e.object_seq, e.payload, e.at,
        exists (select 1 from scheduled_job j where j.merchant_id = e.merchant_id and j.lane = 'webhook'
            and j.endpoint_id = {FIRST_ENDPOINT} and j.reference = e.reference) as waits,
        exists (select 1 from failing_endpoint p where p.merchant_id = e.merchant_id
            and p.endpoint_id = {FIRST_ENDPOINT} and p.off_at is not null) as off,
        coalesce((select json_agg(json_build_array(a.number, a.at, a.http, a.error, a.ms, a.response) order by a.number)
            from (select t.number, t.at, t.http, t.error, t.ms, t.response from delivery_attempt t
                where t.merchant_id = e.merchant_id and t.endpoint_id = {FIRST_ENDPOINT} and t.event_seq = e.seq
                order by t.number desc limit {MOST_ATTEMPTS}) a), '[]') as attempts
    from event e
"""
EVENTS = f"{EVENT_COLUMNS} where e.merchant_id = $1 order by e.seq desc offset $2 limit $3"
# Finds events by txnRef, or by the merchant's own reference: that is the txnRef in the event of a cashcode. Events of a
# dispute, an invoice, savings, a thrift plan, shares, a standing order, an automatic collection or a group have
# references of their own, and its id as their object. Contract: events#payload
NAMED = """
    where e.merchant_id = $1 and e.reference = any(array(
        select $2::text union select t.txn_ref from transaction t where t.merchant_id = $1 and t.key = any($3)
        union select f.reference from event f
            where f.merchant_id = $1 and f.object = $2 and f.kind in ('dispute', 'card_dispute', 'invoice',
                'savings', 'fixed_deposit', 'thrift_payout', 'dividend', 'share_redemption', 'standing_order',
                'reactivation', 'loan_due', 'loan_collected', 'loan_collection_failed', 'group')
        union select f.reference from event f where f.merchant_id = $1 and f.object = $2 || ':held'))
"""
EVENTS_OF = f"{EVENT_COLUMNS} {NAMED} order by e.seq desc offset $4 limit $5"
COUNT = "select count(*) from event where merchant_id = $1"
COUNT_OF = f"select count(*) from event e {NAMED}"
FEED = f"{EVENT_COLUMNS} where e.merchant_id = $1 and e.seq > $2 order by e.seq limit $3"

Attempts = list[tuple[int, datetime, int | None, str | None, int, str | None]]
ATTEMPTS: "msgspec.json.Decoder[Attempts]" = msgspec.json.Decoder(Attempts)


async def list_events(request: EventsRequest, merchant: Merchant, reader: ReplyReader) -> EventsReply:
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        rows, total = await find_events(request, merchant, snapshot)
    return EventsReply(data=await reader.make_lines(event_line, rows), total=total, offset=offset, limit=limit)


async def find_events(request: EventsRequest, merchant: Merchant, reader: Reader) -> tuple[list[Any], int]:
    offset, limit = request.offset_and_limit
    if request.txn_ref is None:
        rows = await reader.fetch(EVENTS, merchant.merchant_id, offset, limit)
        [[total]] = await reader.fetch(COUNT, merchant.merchant_id)
    else:
        keys = [transaction_key(merchant.merchant_id, kind, request.txn_ref) for kind in MERCHANT_REFERENCED_KINDS]
        rows = await reader.fetch(EVENTS_OF, merchant.merchant_id, request.txn_ref, keys, offset, limit)
        [[total]] = await reader.fetch(COUNT_OF, merchant.merchant_id, request.txn_ref, keys)
    return rows, total


async def feed_events(request: FeedRequest, merchant: Merchant, reader: ReplyReader) -> FeedReply:
    after, limit = request.after or 0, request.limit or DEFAULT_LIMIT
    rows = await reader.fetch(FEED, merchant.merchant_id, after, limit + 1)
    lines = await reader.make_lines(event_line, rows[:limit])
    return FeedReply(data=lines, last=lines[-1].sequence if lines else after, more=len(rows) > limit)


def event_line(row: Any) -> EventLine:
    merchant_id, seq, reference, kind, about, about_seq, payload, at, waits, off, attempts = row
    tried = ATTEMPTS.decode(attempts)
    return EventLine(
        event_id=event_id(merchant_id, seq),
        sequence=seq,
        # The events of an approval have references of their own; they are about a transfer.
        txn_ref=about if kind == "transfer_approval" else reference,
        kind=kind,
        state=delivery_state(tried, waits=waits, off=off),
        date_created=utc_text(at),
        object=about,
        object_sequence=about_seq,
        payload=msgspec.json.decode(payload),
        attempts=[
            AttemptLine(number=number, at=utc_text(when), http=http, error=error, ms=ms, response=response)
            for number, when, http, error, ms, response in tried
        ],
    )


def delivery_state(tried: Attempts, *, waits: bool, off: bool) -> Any:
    """Returns the delivery state of an event. A resend makes a delivered event `scheduled` again."""
    if waits:
        return "endpoint_off" if off else "scheduled"
    if not tried:
        return "no_endpoint"
    _, _, http, error, *_ = tried[-1]
    if error == NO_ENDPOINT:
        return "no_endpoint"
    return "delivered" if http is not None and 200 <= http < 300 else "exhausted"
