"""Reads of checkouts and payment links. Never writes; every WHERE has the merchant_id."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.vault import Unsealer
from kasuwa.methods.checkout.model import LINK_DETAIL_DECODER, PLAIN, UNKNOWN_LINK, PayLink, link_key
from kasuwa.methods.checkout.rules.pay_link import show_link
from kasuwa.methods.checkout.wire import (
    PaylinkDetail,
    PaylinkDetailReply,
    PaylinkDetailRequest,
    PaylinkPayment,
    PaylinksReply,
    PaylinksRequest,
)
from kasuwa.methods.payment.model import CARD_SUMMARY_DECODER, payment_key, saved_card_key
from kasuwa.methods.payment.payer_model import open_detail
from kasuwa.transactions.checkouts import Checkout, checkout_key

MAX_PAYMENTS_SHOWN = 50
PAGE_SIZE = 1_000

CHECKOUT_COLUMNS = ", ".join(Checkout.__struct_fields__)
# Page of the checkouts that are open, in the order of the index checkout_merchant.
OPEN_CHECKOUTS = f"""
    select seq, {CHECKOUT_COLUMNS} from checkout
    where merchant_id = $1 and state = 'open' and (created_at, seq) > ($2::timestamptz, $3::bigint)
    order by created_at, seq limit $4
"""
ONE_CHECKOUT = f"select {CHECKOUT_COLUMNS} from checkout where merchant_id = $1 and key = $2"
LINK_COLUMNS = ", ".join(PayLink.__struct_fields__)
ONE_LINK = f"select {LINK_COLUMNS} from pay_link where merchant_id = $1 and key = $2"
LINKS = f"""
    select {LINK_COLUMNS} from pay_link where merchant_id = $1 and kind = $2
    order by created_at desc, seq desc, key desc offset $3 limit $4
"""
COUNT = "select count(*) from pay_link where merchant_id = $1 and kind = $2"
TOTALS = """
    select count(*), count(*) filter (where state = 'paid'),
        coalesce(sum(amount) filter (where state = 'paid'), 0)::bigint
    from checkout where merchant_id = $1 and source = 'link' and source_id = $2 and source_id <> ''
"""
PAYMENTS = f"""
    select t.txn_ref, c.txn_ref, t.amount, p.detail, p.payer_sealed, p.method, c.ended_at
    from checkout c
    join transaction t on t.merchant_id = c.merchant_id and t.txn_ref = c.payment_ref
    join payment p on p.merchant_id = c.merchant_id and p.txn_ref = c.payment_ref
        and p.detail -> 'purpose' ->> 'reference' = c.txn_ref
    where c.merchant_id = $1 and c.source = 'link' and c.source_id = $2 and c.source_id <> '' and c.state = 'paid'
    order by c.created_at desc, c.seq desc, c.key desc limit {MAX_PAYMENTS_SHOWN}
"""


async def read_checkout(merchant_id: int, txn_ref: str, reader: Reader) -> Checkout | None:
    row = await reader.fetchrow(ONE_CHECKOUT, merchant_id, checkout_key(merchant_id, txn_ref))
    return None if row is None else Checkout(*row)


async def iterate_open_checkouts(
    merchant_id: int, reader: Reader, page_size: int = PAGE_SIZE
) -> AsyncIterator[Checkout]:
    """Yields every open checkout of a merchant, oldest first, for exports and erasure."""
    after = (datetime.min.replace(tzinfo=UTC), 0)
    while rows := await reader.fetch(OPEN_CHECKOUTS, merchant_id, *after, page_size):
        for seq, *columns in rows:
            checkout = Checkout(*columns)
            after = (checkout.created_at, seq)
            yield checkout


async def read_link(merchant_id: int, link_id: str, reader: Reader) -> PayLink | None:
    row = await reader.fetchrow(ONE_LINK, merchant_id, link_key(merchant_id, link_id))
    return None if row is None else PayLink(*row)


# --- saved cards ----------------------------------------------------------------------------------------------------

MAX_CARDS = 5
# Payments whose cards are looked up.
MAX_PAYMENTS_WITH_CARDS = 200
# The conditions must equal those of the index (0001_baseline.sql), else PostgreSQL does not use it.
PAYMENTS_OF_CUSTOMER = f"""
    select t.txn_ref from transaction t where t.merchant_id = $1 and t.kind = 'payment'
        and t.detail ->> 'customer' = $2 and t.detail ->> 'customer' <> '' and t.status = 'successful'
    order by t.detail ->> 'customer' desc, t.created_at desc, t.seq desc, t.key desc limit {MAX_PAYMENTS_WITH_CARDS}
"""
TOKENS = "select distinct token from payment where merchant_id = $1 and key = any($2) and token is not null"
SAVED_CARDS = f"""
    select token, detail from saved_card where merchant_id = $1 and key = any($2) and length(sealed) > 0
    order by created_at desc, seq desc, key desc limit {MAX_CARDS}
"""


class OfferedCard(msgspec.Struct, frozen=True):
    """A saved card that its holder may pay with."""

    token: str
    mask: str
    brand: str | None


async def read_saved_cards(merchant_id: int, customer: str, reader: Reader) -> list[OfferedCard]:
    """Returns the saved cards of a customer, newest first, by the hash of the email address."""
    payments = await reader.fetch(PAYMENTS_OF_CUSTOMER, merchant_id, customer)
    keys = [payment_key(merchant_id, row[0]) for row in payments]
    tokens = [row[0] for row in await reader.fetch(TOKENS, merchant_id, keys)]
    rows = await reader.fetch(SAVED_CARDS, merchant_id, [saved_card_key(merchant_id, token) for token in tokens])
    cards = ((token, CARD_SUMMARY_DECODER.decode(detail)) for token, detail in rows)
    return [OfferedCard(token, summary.mask, summary.brand) for token, summary in cards]


# --- payment links --------------------------------------------------------------------------------------------------


async def list_links(request: PaylinksRequest, merchant: Merchant, reader: ActionReader) -> PaylinksReply:
    merchant_id, public_url = merchant.merchant_id, reader.public_url
    async with reader.snapshot() as snapshot:
        offset, limit = request.offset_and_limit
        rows = await snapshot.fetch(LINKS, merchant_id, PLAIN, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, merchant_id, PLAIN)
    lines = await reader.make_lines(lambda row: show_link(PayLink(*row), public_url), rows)
    return PaylinksReply(data=lines, total=total, offset=offset, limit=limit)


async def show_link_detail(
    request: PaylinkDetailRequest, merchant: Merchant, reader: ActionReader
) -> PaylinkDetailReply | Refusal:
    async with reader.snapshot() as snapshot:
        shown = await read_link_detail(request.link_id, merchant.merchant_id, snapshot, reader)
    return UNKNOWN_LINK if shown is None else PaylinkDetailReply(message="Link", data=shown)


async def read_link_detail(
    link_id: str, merchant_id: int, snapshot: Reader, reader: ActionReader
) -> PaylinkDetail | None:
    """Returns a link with its payments and totals, or None if there is none."""
    link = await read_link(merchant_id, link_id, snapshot)
    if link is None:
        return None
    [[checkouts, paid, total]] = await snapshot.fetch(TOTALS, merchant_id, link_id)
    payments = await snapshot.fetch(PAYMENTS, merchant_id, link_id)
    record, terms = show_link(link, reader.public_url), LINK_DETAIL_DECODER.decode(link.detail)
    return PaylinkDetail(
        link_id=record.link_id,
        link=record.link,
        title=record.title,
        amount=record.amount,
        currency=record.currency,
        type=record.type,
        status=record.status,
        description=terms.description,
        frequency=terms.frequency or None,
        payer_bears_fees=terms.payer_bears_fees,
        accept_number=terms.asks_phone,
        redirect_url=terms.redirect_url or None,
        custom_message=terms.message or None,
        notification_email=terms.notification_email or None,
        created_at=utc_text(link.created_at),
        checkouts=checkouts,
        paid_count=paid,
        total=format_minor(total),
        payments=[show_payment(row, merchant_id, reader.unseal) for row in payments],
    )


def show_payment(row: Any, merchant_id: int, unseal: Unsealer) -> PaylinkPayment:
    txn_ref, checkout_ref, amount, detail, sealed, method, ended_at = row
    payer = open_detail(merchant_id, txn_ref, detail, sealed, unseal)
    return PaylinkPayment(
        txn_ref=txn_ref,
        checkout_ref=checkout_ref,
        amount=format_minor(amount),
        fullname=payer.fullname,
        email=payer.email,
        method=method,
        date_paid=utc_text(ended_at),
    )
