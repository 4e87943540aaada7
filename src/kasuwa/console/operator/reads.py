"""Database reads across merchants, for the operator's pages only: tests/test_tidy.py forbids others to import this.

No writes. Queries about one merchant have merchant_id in their WHERE. The others read what belongs to the operator:
merchants, queues, notices and the audit trail.
"""

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from kasuwa.authority.audit_trail import AuditRecord
from kasuwa.console.kit.audit_view import EVERYTHING, TrailFilter, make_trail_condition
from kasuwa.console.merchant.store import MAX_SEQ, PAGE_ROWS
from kasuwa.core.calendar import EARLIEST, NEVER
from kasuwa.core.reading import Reader
from kasuwa.engine.journal import PostingRow
from kasuwa.webhooks.health import FAILING_ENDPOINTS


class MerchantSummary(msgspec.Struct):
    merchant_id: int
    mid: str
    name: str
    settings: str
    created_at: datetime

    @property
    def is_suspended(self) -> bool:
        return bool(msgspec.json.decode(self.settings).get("suspended"))


MERCHANTS = """
    select merchant_id, mid, name, settings::text, created_at from merchant
    where current and merchant_id < $1 and ($2 = '' or mid = $2 or strpos(lower(name), lower($2)) > 0)
    order by merchant_id desc limit $3
"""
MERCHANTS_BY_ID = """
    select merchant_id, mid, name, settings::text, created_at from merchant
    where current and merchant_id = any($1) order by array_position($1, merchant_id)
"""
MERCHANT_NAMES = "select mid, name from merchant where mid = any($1::text[]) and current"
MERCHANT = "select merchant_id, mid, name, settings::text, created_at from merchant where mid = $1 and current"


async def list_merchants(reader: Reader, before: int, search: str, limit: int = PAGE_ROWS + 1) -> list[MerchantSummary]:
    return [MerchantSummary(*row) for row in await reader.fetch(MERCHANTS, before, search, limit)]


async def list_merchants_by_id(reader: Reader, ids: list[int]) -> list[MerchantSummary]:
    """Returns merchants in the given order."""
    return [MerchantSummary(*row) for row in await reader.fetch(MERCHANTS_BY_ID, ids)]


async def find_merchant(reader: Reader, mid: str) -> MerchantSummary | None:
    row = await reader.fetchrow(MERCHANT, mid)
    return None if row is None else MerchantSummary(*row)


async def read_merchant_names(reader: Reader, mids: Iterable[str]) -> dict[str, str]:
    """Returns the names of merchants by their mids."""
    return dict(await reader.fetch(MERCHANT_NAMES, list(mids)))


# --- books --------------------------------------------------------------------------------------------------------


class AccountBalance(msgspec.Struct):
    name: str
    currency: str
    posted: int
    held: int
    floor: int | None

    @property
    def debit(self) -> int:
        """The balance if it is a debit balance, else 0."""
        return max(-self.posted, 0)

    @property
    def credit(self) -> int:
        return max(self.posted, 0)


# Sums of all accounts of a kind in a currency, and the first accounts of each by name.
ACCOUNT_SUMS = """
    select split_part(name, ':', 1) as kind, currency, count(*),
        coalesce(sum(-posted) filter (where posted < 0), 0)::bigint,
        coalesce(sum(posted) filter (where posted > 0), 0)::bigint, sum(held)::bigint
    from account where merchant_id = $1 group by 1, 2 order by currency, kind
"""
ACCOUNTS = """
    select name, currency, posted, held, floor from (
        select *, row_number() over (partition by currency, split_part(name, ':', 1) order by name) as place
        from account where merchant_id = $1) a
    where place <= $2 order by currency, name
"""
ACCOUNTS_OF_KIND = """
    select name, currency, posted, held, floor from account
    where merchant_id = $1 and split_part(name, ':', 1) = $2 and name > $3 order by name limit $4
"""
# The accounts that a manual posting most likely names: those with a balance, the largest first.
ACCOUNT_CHOICES = """
    select name, currency, posted, held, floor from account where merchant_id = $1
    order by posted = 0, abs(posted) desc, name limit $2
"""
ACCOUNT = "select name, currency, posted, held, floor from account where merchant_id = $1 and name = $2"
POSTING_COLUMNS = ", ".join(PostingRow.__struct_fields__)
STATEMENT = f"""
    select {POSTING_COLUMNS} from posting where merchant_id = $1 and (debit = $2 or credit = $2) and seq < $3
    order by seq desc limit $4
"""
POSTING_GROUP = f"""
    select {POSTING_COLUMNS} from posting where merchant_id = $1 and group_seq =
        (select group_seq from posting where merchant_id = $1 and seq = $2)
    and seq between $2 - 500 and $2 + 500 order by seq
"""


class AccountSum(msgspec.Struct):
    """The accounts of one kind and currency together."""

    kind: str
    currency: str
    count: int
    debit: int  # sum of the debit balances
    credit: int  # sum of the credit balances
    held: int


async def list_account_sums(reader: Reader, merchant_id: int) -> list[AccountSum]:
    return [AccountSum(*row) for row in await reader.fetch(ACCOUNT_SUMS, merchant_id)]


async def list_first_accounts(reader: Reader, merchant_id: int, limit: int) -> list[AccountBalance]:
    """Returns the first accounts of every kind and currency, by name."""
    return [AccountBalance(*row) for row in await reader.fetch(ACCOUNTS, merchant_id, limit)]


async def list_accounts_of_kind(
    reader: Reader, merchant_id: int, kind: str, after: str, limit: int
) -> list[AccountBalance]:
    return [AccountBalance(*row) for row in await reader.fetch(ACCOUNTS_OF_KIND, merchant_id, kind, after, limit)]


async def list_account_choices(reader: Reader, merchant_id: int, limit: int) -> list[AccountBalance]:
    return [AccountBalance(*row) for row in await reader.fetch(ACCOUNT_CHOICES, merchant_id, limit)]


async def find_account(reader: Reader, merchant_id: int, name: str) -> AccountBalance | None:
    row = await reader.fetchrow(ACCOUNT, merchant_id, name)
    return None if row is None else AccountBalance(*row)


async def list_statement(reader: Reader, merchant_id: int, name: str, before: int) -> list[PostingRow]:
    return [PostingRow(*row) for row in await reader.fetch(STATEMENT, merchant_id, name, before, PAGE_ROWS + 1)]


async def list_posting_group(reader: Reader, merchant_id: int, seq: int) -> list[PostingRow]:
    """Returns a posting with the others of its group, or an empty list."""
    return [PostingRow(*row) for row in await reader.fetch(POSTING_GROUP, merchant_id, seq)]


# --- jobs ---------------------------------------------------------------------------------------------------------


class QueueStats(msgspec.Struct):
    """Numbers of jobs in one queue."""

    lane: str
    due: int
    leased: int  # held by a worker
    scheduled: int  # due later
    parked: int  # not due until somebody makes them due
    oldest_due_at: datetime | None  # None if no job is due


QUEUES = """
    select lane, count(*) filter (where run_at <= now() and (leased_until is null or leased_until <= now())),
        count(*) filter (where leased_until > now()), count(*) filter (where run_at > now() and run_at < 'infinity'),
        count(*) filter (where run_at = 'infinity'), min(run_at) filter (where run_at <= now())
    from scheduled_job group by lane order by lane
"""


class OpenJob(msgspec.Struct):
    """A job that is not done."""

    key: bytes
    merchant_id: int
    mid: str
    merchant_name: str
    kind: str
    lane: str  # name of its queue
    reference: str
    due: datetime  # in business time
    attempt: int
    last_message: str | None  # last message of the rail; None if the job has no transaction
    can_requery: bool  # it queries a rail and its transaction is open


# The jobs that are due first. Webhook deliveries are left out: merchants see them on their events page.
OPEN_JOBS = """
    select j.key, j.merchant_id, m.mid, m.name, j.kind, j.lane, j.reference, j.due, j.attempt, t.message,
        j.kind = any($1) and coalesce(t.status in ('pending', 'processing'), false)
    from scheduled_job j join merchant m on m.merchant_id = j.merchant_id and m.current
    left join transaction t on t.key = j.subject and t.merchant_id = j.merchant_id
    where j.lane <> 'webhook' order by j.run_at, j.due, j.seq limit 50
"""
ENDPOINTS = f"""
    select f.mid, f.name, f.endpoint_id, f.failing_since, f.off_at,
        (select a.error from delivery_attempt a
            where a.merchant_id = f.merchant_id and a.endpoint_id = f.endpoint_id
            order by a.event_seq desc, a.number desc limit 1)
    from ({FAILING_ENDPOINTS}) f order by f.failing_since, f.merchant_id, f.endpoint_id limit 50
"""


async def list_queues(reader: Reader) -> list[QueueStats]:
    return [QueueStats(*row) for row in await reader.fetch(QUEUES)]


async def list_open_jobs(reader: Reader, kinds: list[str]) -> list[OpenJob]:
    """Returns open jobs, oldest first. `kinds` are those that query a rail, which an operator may run at once."""
    return [OpenJob(*row) for row in await reader.fetch(OPEN_JOBS, kinds)]


async def list_failing_endpoints(reader: Reader) -> list[Any]:
    return list(await reader.fetch(ENDPOINTS))


# --- audit trail --------------------------------------------------------------------------------------------------

AUDIT_ENTRIES = f"""
    select a.merchant_id, a.seq, a.at, a.actor, a.address, a.action, a.subject, a.before, a.after, m.mid
    from audit_entry a left join merchant m on m.merchant_id = a.merchant_id
    where (a.at, a.merchant_id, a.seq) < ($1, $2, $3) and {make_trail_condition(5)}
        and ($9 = '' or m.mid = $9)
    order by a.at desc, a.merchant_id desc, a.seq desc limit $4
"""


class AuditCursor(NamedTuple):
    """Position of the last entry of a page. The next page continues after it.

    Entries of the same moment are ordered by chain and by their number in it.
    """

    at: datetime
    merchant_id: int
    seq: int

    def encode(self) -> str:
        return f"{self.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}_{self.merchant_id}_{self.seq}"

    @classmethod
    def decode(cls, text: str) -> "AuditCursor":
        """Returns the cursor in a URL parameter, or that of the first page if it is not valid."""
        with contextlib.suppress(ValueError):
            at, merchant_id, seq = text.split("_")
            cursor = cls(datetime.fromisoformat(at), int(merchant_id), int(seq))
            if cursor.at.tzinfo is None or not EARLIEST <= cursor.at <= NEVER:
                return FIRST_AUDIT_PAGE
            if all(0 <= part <= MAX_SEQ for part in cursor[1:]):
                return cursor
        return FIRST_AUDIT_PAGE


FIRST_AUDIT_PAGE = AuditCursor(NEVER, 0, 0)


async def list_audit_entries(
    reader: Reader, before: AuditCursor, chosen: TrailFilter = EVERYTHING, mid: str = ""
) -> list[AuditRecord]:
    """Returns entries of all chains, newest first; with a mid those of one merchant."""
    rows = await reader.fetch(AUDIT_ENTRIES, *before, PAGE_ROWS + 1, *chosen.parameters, mid)
    return [AuditRecord(*row) for row in rows]
