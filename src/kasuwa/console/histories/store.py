"""Database reads of what happened with a merchant's records. No writes, and merchant_id is in every WHERE.

The sums of lists are those of the records of one page.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.banks import bank_names
from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader
from kasuwa.core.vault import Unsealer
from kasuwa.methods.cashcode.model import cashcode_key
from kasuwa.methods.disburse.receipts import open_facts
from kasuwa.methods.payment.model import payment_key
from kasuwa.transactions.checkouts import checkout_key
from kasuwa.transactions.transactions import transaction_key

# Charges or payments of one record that its page reads.
MAX_SHOWN = 1_000


class HistoryLine(msgspec.Struct, frozen=True):
    """A payment of a record. The amount is in minor units."""

    txn_ref: str
    currency: str
    amount: int
    status: str
    message: str
    created_at: datetime


COLUMNS = "t.txn_ref, t.currency, t.amount, t.status, t.message, t.created_at"

# --- plans ----------------------------------------------------------------------------------------------------------

# The condition on the purpose must equal that of the index (0001_baseline.sql), else PostgreSQL does not use it.
CHARGES = f"""
    select {COLUMNS} from transaction t where t.merchant_id = $1 and t.txn_ref in (
        select p.txn_ref from payment p where p.merchant_id = $1 and p.detail -> 'purpose' ->> 'reference' = $2
        union all select l.first_ref from payment_plan l where l.merchant_id = $1 and l.key = $3)
    order by t.created_at desc, t.seq desc, t.key desc limit $4
"""
PLAN = "select state, misses, cycle_due, last_ref from payment_plan where merchant_id = $1 and key = $2"
OUTCOMES = "select t.txn_ref, t.status, t.message from transaction t where t.merchant_id = $1 and t.txn_ref = any($2)"


class PlanProgress(msgspec.Struct, frozen=True):
    """The progress of a plan."""

    state: str
    misses: int  # due dates in a row that could not be charged
    cycle_due: datetime
    last_ref: str  # of the newest charge


async def list_charges(reader: Reader, merchant: Merchant, plan_id: str, key: bytes) -> list[HistoryLine]:
    """Returns the charges of a plan, the first one included, newest first."""
    rows = await reader.fetch(CHARGES, merchant.merchant_id, plan_id, key, MAX_SHOWN)
    return [HistoryLine(*row) for row in rows]


async def find_progress(reader: Reader, merchant: Merchant, key: bytes) -> PlanProgress | None:
    row = await reader.fetchrow(PLAN, merchant.merchant_id, key)
    return None if row is None else PlanProgress(*row)


async def read_outcomes(reader: Reader, merchant: Merchant, references: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Returns status and message of transactions by their txnRefs."""
    rows = await reader.fetch(OUTCOMES, merchant.merchant_id, list(references))
    return {reference: (status, message) for reference, status, message in rows}


# --- payments into personalized accounts ----------------------------------------------------------------------------

PAID_UNDER = f"""
    select {COLUMNS} from transaction t where t.merchant_id = $1 and t.kind = 'payment' and t.order_ref = $2
    order by t.created_at desc, t.seq desc, t.key desc limit $3
"""
INTO_ACCOUNTS = """
    select p.txn_ref from payment p where p.merchant_id = $1 and p.key = any($2)
        and p.detail ->> 'account_reference' = $3
"""


async def list_account_payments(
    reader: Reader, merchant: Merchant, reference: str, limit: int = MAX_SHOWN
) -> list[HistoryLine]:
    """Returns the payments into a personalized account, newest first. A merchant may use the reference of an account
    for other payments as well: those are left out."""
    rows = [HistoryLine(*row) for row in await reader.fetch(PAID_UNDER, merchant.merchant_id, reference, limit)]
    keys = [payment_key(merchant.merchant_id, row.txn_ref) for row in rows]
    into = await reader.fetch(INTO_ACCOUNTS, merchant.merchant_id, keys, reference)
    known = {txn_ref for (txn_ref,) in into}
    return [row for row in rows if row.txn_ref in known]


# --- sums of the records of a list -----------------------------------------------------------------------------------


class RecordSum(msgspec.Struct, frozen=True):
    """The sum of what was paid to a record in one currency. Amounts are in minor units."""

    reference: str
    currency: str
    count: int
    amount: int
    last_at: datetime


# The conditions on the customer must equal those of the index (0001_baseline.sql), else PostgreSQL does not use it.
CUSTOMER_SUMS = """
    select c.customer_id, p.currency, count(*), sum(p.amount - p.refunded)::bigint, max(p.created_at)
    from customer c cross join lateral (
        select t.currency, t.amount, t.created_at, (
            select least(coalesce(sum(r.amount), 0), t.amount)::bigint from transaction r
            where r.merchant_id = $1 and r.kind = 'refund' and r.status = 'successful'
                and r.detail ->> 'payment' = t.txn_ref
                and (r.detail ->> 'is_return' is null or r.detail ->> 'is_of_charge' is not null)) as refunded
        from transaction t where t.merchant_id = $1 and t.kind = 'payment' and t.status = 'successful'
            and t.detail ->> 'customer' = encode(c.email_hash, 'hex') and t.detail ->> 'customer' <> '') p
    where c.merchant_id = $1 and c.customer_id = any($2) and c.email_hash is not null
    group by c.customer_id, p.currency
"""
SOURCE_SUMS = """
    select c.source_id, c.currency, count(*), sum(c.amount)::bigint, max(c.ended_at) from checkout c
    where c.merchant_id = $1 and c.source = any($3) and c.source_id = any($2) and c.source_id <> ''
        and c.state = 'paid'
    group by c.source_id, c.currency
"""


async def sum_customers(reader: Reader, merchant: Merchant, ids: Sequence[str]) -> list[RecordSum]:
    """Returns what customers paid, without what was refunded."""
    return [RecordSum(*row) for row in await reader.fetch(CUSTOMER_SUMS, merchant.merchant_id, list(ids))]


async def sum_links(reader: Reader, merchant: Merchant, ids: Sequence[str]) -> list[RecordSum]:
    """Returns what was paid through payment links and ticket sales."""
    rows = await reader.fetch(SOURCE_SUMS, merchant.merchant_id, list(ids), ["link", "ticket"])
    return [RecordSum(*row) for row in rows]


PAID_BY = "select txn_ref, payment_ref from checkout where merchant_id = $1 and key = any($2) and payment_ref <> ''"


async def read_paying_payments(reader: Reader, merchant: Merchant, references: Sequence[str]) -> dict[str, str]:
    """Returns the txnRefs of the payments that paid checkouts, by the txnRefs of these."""
    keys = [checkout_key(merchant.merchant_id, reference) for reference in references]
    return dict(await reader.fetch(PAID_BY, merchant.merchant_id, keys))


BALANCES = "select name, currency, posted from account where merchant_id = $1 and name = any($2)"


async def read_balances(reader: Reader, merchant: Merchant, names: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Returns currency and balance of accounts by their names. Those that do not exist yet are left out."""
    rows = await reader.fetch(BALANCES, merchant.merchant_id, list(names))
    return {name: (currency, posted) for name, currency, posted in rows}


# --- bills and cashcodes ----------------------------------------------------------------------------------------------

KIND_COLUMNS = """
    select t.txn_ref, t.order_ref, t.currency, t.amount,
        case when t.status = 'failed' then 0 else t.fee + t.vat + t.duty end, t.status, t.message, t.detail::text,
        t.created_at
"""
OF_KIND = f"""
    {KIND_COLUMNS} from transaction t where t.merchant_id = $1 and t.kind = $2
    order by t.created_at desc, t.seq desc, t.key desc offset $3 limit $4
"""
ONE_OF_KIND = f"{KIND_COLUMNS} from transaction t where t.merchant_id = $1 and t.key = $2"
COUNT_OF_KIND = "select count(*) from transaction t where t.merchant_id = $1 and t.kind = $2"
CASHCODES = "select txn_ref, state, paid, channel, expires_at from cashcode where merchant_id = $1 and key = any($2)"


class KindLine(msgspec.Struct, frozen=True):
    """A transaction in the list of one kind. Amounts are in minor units."""

    txn_ref: str
    order_ref: str
    currency: str
    amount: int
    charges: int  # 0 if it failed
    status: str
    message: str
    detail: str
    created_at: datetime


class CashcodeFacts(msgspec.Struct, frozen=True):
    """The fields of a cashcode beside its transaction."""

    txn_ref: str
    state: str
    paid: int  # in minor units
    channel: str
    expires_at: datetime


async def list_of_kind(
    reader: Reader, merchant: Merchant, kind: str, offset: int, limit: int
) -> tuple[list[KindLine], int]:
    """Returns a page of the transactions of a kind, newest first, and how many there are."""
    rows = await reader.fetch(OF_KIND, merchant.merchant_id, kind, offset, limit)
    [[total]] = await reader.fetch(COUNT_OF_KIND, merchant.merchant_id, kind)
    return [KindLine(*row) for row in rows], total


async def read_of_kind(reader: Reader, merchant: Merchant, kind: str, order_ref: str) -> KindLine:
    """Returns the transaction of a kind with the merchant's own reference. There must be one."""
    key = transaction_key(merchant.merchant_id, kind, order_ref)
    return KindLine(*await reader.fetchrow(ONE_OF_KIND, merchant.merchant_id, key))


async def read_cashcodes(reader: Reader, merchant: Merchant, order_refs: Sequence[str]) -> dict[str, CashcodeFacts]:
    """Returns cashcodes by their txnRefs."""
    keys = [cashcode_key(merchant.merchant_id, reference) for reference in order_refs]
    rows = [CashcodeFacts(*row) for row in await reader.fetch(CASHCODES, merchant.merchant_id, keys)]
    return {row.txn_ref: row for row in rows}


# --- transfers -------------------------------------------------------------------------------------------------------

# Newest transfers among which the accounts that were paid last are looked for.
NEWEST = 60
SENT = """
    select t.txn_ref, t.amount, t.status, t.message, coalesce(t.detail ->> 'bank_code', ''),
        coalesce(t.detail ->> 'account_number', ''), coalesce(t.detail ->> 'narration', ''), t.created_at,
        t.facts_sealed
    from transaction t where t.merchant_id = $1 and t.kind = 'transfer'
    order by t.created_at desc, t.seq desc, t.key desc limit $2
"""


class SentTransfer(msgspec.Struct, frozen=True):
    """A transfer as the page lists it. The amount is in minor units."""

    txn_ref: str
    amount: int
    status: str
    message: str
    bank_code: str
    account_number: str
    narration: str
    created_at: datetime
    name: str  # that the rail reported of the account; empty if it is unknown

    @property
    def bank_name(self) -> str:
        return bank_names().get(self.bank_code, self.bank_code)


async def list_sent(reader: Reader, merchant: Merchant, unseal: Unsealer) -> list[SentTransfer]:
    """Returns the newest transfers whose accounts are known."""
    rows = await reader.fetch(SENT, merchant.merchant_id, NEWEST)
    return [read_sent(merchant, row, unseal) for row in rows if row[5]]


def read_sent(merchant: Merchant, row: Sequence[Any], unseal: Unsealer) -> SentTransfer:
    *known, sealed = row
    name = open_facts(merchant.merchant_id, known[0], sealed, unseal).name
    values: list[Any] = [*known, name]
    return SentTransfer(*values)
