"""Reads clients. Never writes; every WHERE has the merchant_id."""

from collections.abc import Iterable
from datetime import date
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, Unsealer, client_key, spent_today
from kasuwa.methods.clients.rules.check_limits import list_accounts
from kasuwa.methods.clients.rules.find_tier import find_missing
from kasuwa.methods.clients.rules.manage_client import hash_bvn, hash_email, hash_phone, show_client
from kasuwa.methods.clients.wire import (
    ClientReply,
    ClientTier,
    ListReply,
    ListRequest,
    NextTier,
    TierLimitsShown,
    TierUse,
    ViewRequest,
)
from kasuwa.terms.client_tiers import TIER_NAMES, TierLimits, TierTerms
from kasuwa.wire.people import NATIONAL_NUMBERS

COLUMNS = """
    select key, merchant_id, client_id, number, status, bvn_verified, open_accounts, bvn_hash, bvn_mask, bvn_sealed,
        created_at, changed_at, erased_at, detail_sealed, phone_hash, email_hash, bvn_check_sealed, pending_payments,
        credit, savings, spent_on, spent, cards, held
    from client
"""
# Held deposits that a reply names. Payers can pay in any number, however many are held.
MAX_HELD_SHOWN = 100
BY_KEY = f"{COLUMNS} where key = $1 and merchant_id = $2"
# A filter that the request does not have is null.
MATCHING = """
    merchant_id = $1 and ($2::bytea[] is null or phone_hash = any($2)) and ($3::bytea[] is null or email_hash = any($3))
    and ($4::bytea[] is null or bvn_hash = any($4)) and ($5::text is null or status = $5)
"""
NEWEST_FIRST = f"{COLUMNS} where {MATCHING} order by number desc offset $6 limit $7"
COUNT = f"select count(*) from client where {MATCHING}"


BALANCE = """
    select coalesce(sum(a.posted), 0)::bigint,
        coalesce(b.clock_fixed_at, now() + b.clock_offset_us * interval '1 microsecond')
    from merchant_state b left join account a on a.merchant_id = b.merchant_id and a.name = any($2)
    where b.merchant_id = $1 group by b.clock_fixed_at, b.clock_offset_us
"""


async def find_client(merchant_id: int, client_id: str, reader: Reader) -> Client | None:
    row = await reader.fetchrow(BY_KEY, client_key(merchant_id, client_id), merchant_id)
    return None if row is None else Client(*row)


BY_KEYS = f"{COLUMNS} where merchant_id = $1 and key = any($2)"


async def find_clients(merchant_id: int, client_ids: Iterable[str], reader: Reader) -> list[Client]:
    """Returns the clients with these ids, in any order."""
    keys = [client_key(merchant_id, client_id) for client_id in client_ids]
    return [Client(*row) for row in await reader.fetch(BY_KEYS, merchant_id, keys)]


async def view_client(request: ViewRequest, merchant: Merchant, reader: ActionReader) -> ClientReply | Refusal:
    if merchant.terms(TierTerms).are_on:
        return await view_with_tier(request, merchant, reader)
    client = await find_client(merchant.merchant_id, request.client_id, reader)
    if client is None:
        return UNKNOWN_CLIENT
    held = client.held_refs[-MAX_HELD_SHOWN:] or UNSET
    return ClientReply(message="Client found", data=show_client(client, reader.unseal), held=held)


async def view_with_tier(request: ViewRequest, merchant: Merchant, reader: ActionReader) -> ClientReply | Refusal:
    """Reads the client and the balances from one snapshot."""
    async with reader.snapshot() as snapshot:
        client = await find_client(merchant.merchant_id, request.client_id, snapshot)
        if client is None:
            return UNKNOWN_CLIENT
        names = list_accounts(client)
        [[balance, now]] = await snapshot.fetch(BALANCE, merchant.merchant_id, names)
    tier = show_tier(client, balance, lagos_day(now), merchant.terms(TierTerms), reader.unseal)
    return ClientReply(message="Client found", data=show_client(client, reader.unseal), tier=tier)


def show_tier(client: Client, balance: int, today: date, terms: TierTerms, unseal: Unsealer) -> ClientTier:
    missing = find_missing(client, unseal)
    tier = min(missing, default=len(TIER_NAMES)) - 1
    above = tier + 1
    following: NextTier | UnsetType = UNSET
    if above < len(TIER_NAMES):
        limits = show_limits(terms.by_tier[above])
        following = NextTier(tier=above, missing=missing[above], limits=limits)  # type: ignore[arg-type]
    used = TierUse(
        balance=format_minor(balance),
        today=format_minor(spent_today(client, today)),
        held=client.held_refs[-MAX_HELD_SHOWN:],
    )
    return ClientTier(tier=tier, limits=show_limits(terms.by_tier[tier]), used=used, next=following)


def show_limits(limits: TierLimits) -> TierLimitsShown:
    shown = {
        name: None if most is None else format_minor(most) for name, most in msgspec.structs.asdict(limits).items()
    }
    return TierLimitsShown(**shown)


def make_filters(request: ListRequest, merchant: Merchant, reader: ActionReader) -> tuple[Any, ...]:
    """Returns the parameters of `MATCHING`. A national phone number matches in every known country.

    While the key of the hashes is replaced there are several, and a client has the hash of one of them."""
    merchant_id, phone, email, bvn = merchant.merchant_id, request.phone, request.email, request.bvn
    digests = reader.index_digests
    phones = phone and {
        hash_phone(digest, merchant_id, phone, (code,)) for code in NATIONAL_NUMBERS for digest in digests
    }
    return (
        merchant_id,
        None if phones is None else sorted(phones),
        None if email is None else [hash_email(digest, merchant_id, email) for digest in digests],
        None if bvn is None else [hash_bvn(digest, merchant_id, bvn) for digest in digests],
        request.status,
    )


async def list_clients(request: ListRequest, merchant: Merchant, reader: ActionReader) -> ListReply:
    offset, limit = request.offset_and_limit
    filters = make_filters(request, merchant, reader)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_FIRST, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *filters)
    clients = await reader.make_lines(lambda row: show_client(Client(*row), reader.unseal), rows, at_once=5)
    return ListReply(data=clients, total=total, offset=offset, limit=limit)
