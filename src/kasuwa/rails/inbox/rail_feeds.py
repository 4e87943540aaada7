"""Stores the disputes and settlements that rails report, for reconciliation."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.rails.ports.feed_entries import Dispute, Settlement

LISTING_LEASE = timedelta(minutes=5)
LISTING_INTERVAL = timedelta(hours=24)

# Returns a row if the dispute is new or has changed.
STORE_DISPUTE = """
    insert into rail_dispute as d (rail, dispute_id, payment_reference, merchant_id, txn_ref, amount, currency, status,
        resolution, due_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (rail, dispute_id) do update
    set amount = excluded.amount, status = excluded.status, resolution = excluded.resolution,
        due_at = coalesce(excluded.due_at, d.due_at), changed_at = now()
    where (d.amount, d.status, d.resolution, d.due_at) is distinct from
        (excluded.amount, excluded.status, excluded.resolution, coalesce(excluded.due_at, d.due_at))
    returning d.status
"""
STORE_SETTLEMENT = """
    insert into rail_settlement as s (rail, settlement_id, status, currency, gross, fees, amount, payments, settled_on)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (rail, settlement_id) do update
    set status = excluded.status, gross = excluded.gross, fees = excluded.fees, amount = excluded.amount,
        payments = excluded.payments, settled_on = excluded.settled_on, changed_at = now()
    where (s.status, s.gross, s.fees, s.amount, s.payments, s.settled_on) is distinct from
        (excluded.status, excluded.gross, excluded.fees, excluded.amount, excluded.payments, excluded.settled_on)
"""
RESOLUTION = "select status, resolution from rail_dispute where rail = $1 and dispute_id = $2"
OF_RECEIPT = "select merchant_id, txn_ref from inbound_receipt where rail = $1 and rail_reference = $2"
CLAIM_FEED = """
    insert into rail_listing as l (rail, leased_until) values ($1, now() + $3::interval)
    on conflict (rail) do update set leased_until = excluded.leased_until
    where coalesce(l.listed_at, '-infinity') < now() - $2::interval and l.leased_until < now()
    returning l.listed_at, now()
"""
RECORD_FEED = "update rail_listing set listed_at = $2, leased_until = now() where rail = $1"
# A failed listing is tried again after a while, and not at every poll.
RELEASE_FEED = "update rail_listing set leased_until = now() + $2::interval where rail = $1"

SELECT_DISPUTES = """
    select d.rail, d.dispute_id, m.mid, d.txn_ref, d.payment_reference, d.amount, d.currency, d.status, d.resolution,
        d.due_at, d.first_seen_at
    from rail_dispute d left join merchant m on m.merchant_id = d.merchant_id
    order by d.status = 'resolved', d.due_at nulls last, d.first_seen_at desc, d.rail, d.dispute_id limit $1
"""
SELECT_SETTLEMENTS = """
    select rail, settlement_id, status, currency, gross, fees, amount, payments, settled_on, first_seen_at
    from rail_settlement order by settled_on desc nulls first, first_seen_at desc, rail, settlement_id limit $1
"""
SELECT_SETTLED = """
    select settlement_id, amount, fees, settled_on from rail_settlement
    where rail = $1 and currency = $2 and settled_on is not null and amount <> 0 order by settled_on, settlement_id
"""


class DisputedPayment(msgspec.Struct, frozen=True):
    """The payment of a dispute, if it is known here."""

    merchant_id: int | None = None
    txn_ref: str = ""


async def find_receipt_payment(pool: Pool, rail: str, reference: str) -> DisputedPayment:
    """Returns the payment that was booked for a receipt of a rail."""
    record = await pool.fetchrow(OF_RECEIPT, rail, reference)
    return DisputedPayment() if record is None else DisputedPayment(record[0], record[1])


async def find_resolution(pool: Pool, rail: str, dispute_id: str) -> tuple[str, str] | None:
    """Returns status and resolution of a dispute as they were stored last, or None if it is new."""
    record = await pool.fetchrow(RESOLUTION, rail, dispute_id)
    return None if record is None else (record[0], record[1])


async def store_dispute(pool: Pool, rail: str, dispute: Dispute, payment: DisputedPayment) -> bool:
    """Returns whether the dispute is new or has changed."""
    values = (dispute.amount, dispute.currency, dispute.status, dispute.resolution, dispute.due_at)
    known = (dispute.payment_reference, payment.merchant_id, payment.txn_ref)
    return await pool.fetchval(STORE_DISPUTE, rail, dispute.dispute_id, *known, *values) is not None


async def store_settlement(pool: Pool, rail: str, settlement: Settlement) -> None:
    amounts = (settlement.gross, settlement.fees, settlement.amount, settlement.payments, settlement.settled_on)
    await pool.execute(
        STORE_SETTLEMENT, rail, settlement.settlement_id, settlement.status, settlement.currency, *amounts
    )


async def claim_feed(pool: Pool, rail: str) -> tuple[datetime | None, datetime] | None:
    """Leases the listing of a rail. Returns when it was listed last and the time now, or None if it is not due."""
    record = await pool.fetchrow(CLAIM_FEED, rail, LISTING_INTERVAL, LISTING_LEASE)
    return None if record is None else (record[0], record[1])


async def record_feed(pool: Pool, rail: str, began_at: datetime) -> None:
    await pool.execute(RECORD_FEED, rail, began_at)


async def release_feed(pool: Pool, rail: str, delay: timedelta) -> None:
    await pool.execute(RELEASE_FEED, rail, delay)


async def list_disputes(connection: Connection, most: int) -> Sequence[Any]:
    return list(await connection.fetch(SELECT_DISPUTES, most))


async def list_settlements(connection: Connection, most: int) -> Sequence[Any]:
    return list(await connection.fetch(SELECT_SETTLEMENTS, most))


async def list_settled(connection: Connection, rail: str, currency: str) -> Sequence[Any]:
    """Returns number, amount, fees and day of the settlements of a rail that it has paid out, oldest first."""
    return list(await connection.fetch(SELECT_SETTLED, rail, currency))
