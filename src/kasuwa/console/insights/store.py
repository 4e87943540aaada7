"""Database reads of outcomes of transactions and of card spend. No writes, and merchant_id is in every WHERE.

The newest transactions of a period are counted, up to a limit: the page says so if there are more.
"""

from datetime import datetime

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader

# Transactions of one kind that are counted.
MAX_COUNTED = 20_000
# The conditions on kind and time are those of the index transaction_kind_time.
NEWEST = """
    from (select t.status, t.amount, t.currency, t.detail, t.code from transaction t
        where t.merchant_id = $1 and t.kind = $2 and t.created_at >= $3 and t.created_at < $4
        order by t.created_at desc, t.seq desc, t.key desc limit $5) t
"""
OUTCOMES_BY_METHOD = f"""
    select coalesce(t.detail ->> 'method', ''), t.status, coalesce(t.code, ''), count(*) {NEWEST} group by 1, 2, 3
"""
OUTCOMES_BY_BANK = f"""
    select coalesce(t.detail ->> 'bank_code', ''), t.status, coalesce(t.code, ''), count(*) {NEWEST} group by 1, 2, 3
"""
SPENT_BY_CATEGORY = f"""
    select coalesce(t.detail ->> 'category', ''), t.currency, count(*), sum(t.amount)::bigint {NEWEST}
    where t.status = 'successful' group by 1, 2
"""


class OutcomeCount(msgspec.Struct, frozen=True):
    """The transactions of one group with the same outcome."""

    group: str  # a payment method, or the code of a bank
    status: str
    code: str  # of the rail, if it failed
    count: int


class CategorySum(msgspec.Struct, frozen=True):
    """The card spend in shops of one category. The amount is in minor units."""

    category: str  # four digits; empty if the shop named none
    currency: str
    count: int
    amount: int


Span = tuple[datetime, datetime]  # the end is not included


async def count_payments(reader: Reader, merchant: Merchant, span: Span) -> list[OutcomeCount]:
    """Returns the outcomes of payments by method."""
    rows = await reader.fetch(OUTCOMES_BY_METHOD, merchant.merchant_id, "payment", *span, MAX_COUNTED)
    return [OutcomeCount(*row) for row in rows]


async def count_payouts(reader: Reader, merchant: Merchant, span: Span) -> list[OutcomeCount]:
    """Returns the outcomes of transfers by bank."""
    rows = await reader.fetch(OUTCOMES_BY_BANK, merchant.merchant_id, "transfer", *span, MAX_COUNTED)
    return [OutcomeCount(*row) for row in rows]


async def sum_card_spend(reader: Reader, merchant: Merchant, span: Span) -> list[CategorySum]:
    """Returns what cards spent by category of the shop."""
    rows = await reader.fetch(SPENT_BY_CATEGORY, merchant.merchant_id, "card_purchase", *span, MAX_COUNTED)
    return [CategorySum(*row) for row in rows]
