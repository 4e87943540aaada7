"""What an invariant of the books is: a statement, and a query that returns where it is violated."""

import msgspec


class Invariant(msgspec.Struct, frozen=True):
    """A statement that must hold of the books."""

    description: str
    query: str  # returns (merchant_id, place) for each violation


# Executed in the transaction of an audit: joins are made by hashing. If PostgreSQL expects few rows, as of a merchant
# who came after the tables were analyzed, other joins may compare each row with each, which takes hours for many rows.
# A plan that needs a nested loop all the same gets a cost at which PostgreSQL would compile it first, for seconds.
PREPARE_AUDIT = "set local enable_nestloop = off; set local enable_mergejoin = off; set local jit = off"

# `$1` is null for all merchants, or the array of those to check.
ALL_MERCHANTS = "$1::bigint[] is null or "
SCOPE = f"({ALL_MERCHANTS}{{table}}merchant_id = any($1))"


def merchant_filter(alias: str = "") -> str:
    """Returns the condition that limits a table to the merchants of an audit. Every table of an invariant has it, since
    each is read as a whole and then joined."""
    return SCOPE.format(table=f"{alias}." if alias else "")


def count_jobs(alias: str) -> str:
    """Returns a left join `j`: `j.jobs` is how many jobs are scheduled for a row, and null if there is none. Deliveries
    of events are not counted."""
    return f"""left join (
                select merchant_id, subject, count(*) as jobs from scheduled_job
                where {merchant_filter()} and lane <> 'webhook' group by 1, 2) j
                on j.merchant_id = {alias}.merchant_id and j.subject = {alias}.key"""
