"""Makes jobs due before their time, and says whose clocks are being advanced."""

from kasuwa.postgres.connection_pool import Connection

ADVANCING = "select coalesce(array_agg(merchant_id), '{}') from advance_lease where leased_until > $1"


# Only jobs that ask a rail about an open transaction. Jobs that are due at a business time (fees, settlements,
# expiries) must not run before it.
RUN_NOW = """
    update scheduled_job j set run_at = now()
    from transaction t, merchant m
    where j.key = $1 and j.kind = any($2) and (j.leased_until is null or j.leased_until <= now())
      and t.key = j.subject and t.merchant_id = j.merchant_id and t.status in ('pending', 'processing')
      and m.merchant_id = j.merchant_id and m.current
    returning j.merchant_id, j.reference
"""


RUN_REFERENCE_NOW = """
    update scheduled_job j set run_at = now()
    from transaction t, merchant m
    where t.merchant_id = $1 and t.txn_ref = $2 and t.status in ('pending', 'processing')
      and j.merchant_id = $1 and j.subject = t.key and j.kind = any($3) and j.run_at > now()
      and (j.leased_until is null or j.leased_until <= now())
      and m.merchant_id = $1 and m.current
    returning j.key
"""


# Jobs that a transaction's rail is queried by after the transaction has ended, and those of its open refunds.
RUN_RELATED_NOW = """
    update scheduled_job j set run_at = now()
    from merchant m
    where j.merchant_id = $1 and j.kind = any($3) and j.run_at > now()
      and (j.leased_until is null or j.leased_until <= now())
      and m.merchant_id = $1 and m.current
      and (j.reference = $2 and not exists (select 1 from transaction t where t.merchant_id = $1 and t.key = j.subject)
        or exists (select 1 from transaction r where r.merchant_id = $1 and r.kind = 'refund' and r.key = j.subject
            and r.status in ('pending', 'processing') and r.detail ->> 'payment' = $2))
    returning j.key
"""


async def run_jobs_of_reference_now(connection: Connection, merchant_id: int, reference: str, kinds: list[str]) -> bool:
    """Makes the jobs of an open transaction due now. Returns whether there was one that waited."""
    return bool(await connection.fetch(RUN_REFERENCE_NOW, merchant_id, reference, kinds))


async def run_related_jobs_now(connection: Connection, merchant_id: int, reference: str, kinds: list[str]) -> bool:
    """Makes the jobs due now that watch an ended transaction, or pay back a part of it. Returns whether one waited."""
    return bool(await connection.fetch(RUN_RELATED_NOW, merchant_id, reference, kinds))


async def run_job_now(connection: Connection, key: bytes, kinds: list[str]) -> tuple[int, str] | None:
    """Makes a job of one of these kinds due now, for an operator. Its business time stays.

    Returns merchant and reference, or None if there is no such job or its transaction is final."""
    record = await connection.fetchrow(RUN_NOW, key, kinds)
    return None if record is None else (record[0], record[1])
