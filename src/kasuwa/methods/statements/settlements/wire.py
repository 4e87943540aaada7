"""Requests and replies of `resources` about settlements. Contract: resources#settlements"""

from typing import Literal

import msgspec
from msgspec import field

from kasuwa.wire.fields import Currency, LagosDate, Reference
from kasuwa.wire.paging import Paged


class SettlementsRequest(Paged, kw_only=True):
    """Lists settlements, newest first: one for each day and currency on which collected money moved."""

    currency: Currency | None = None
    "Lists only settlements in this currency."
    first_day: LagosDate | None = field(name="from", default=None)
    "First day, in Lagos. Default: 30 days before the last."
    last_day: LagosDate | None = field(name="to", default=None)
    "Last day, in Lagos. Default: today. At most 92 days after `from`."


class SettlementRequest(msgspec.Struct, kw_only=True):
    """Reads one settlement."""

    settlement_id: Reference
    "The settlement, by its `settlement_id`."


class SettlementSummary(msgspec.Struct, kw_only=True):
    """The effect of collections on the wallet of one currency on one day. Amounts that left the wallet are negative."""

    settlement_id: str
    "Identifier of the settlement."
    day: str
    "The day, in Lagos."
    currency: str
    "Currency of the amounts."
    state: Literal["open", "settled"]
    "`open` while the day lasts; after it the settlement does not change."
    gross: str
    "What payers were charged, of the payments that reached the wallet on this day."
    fee: str
    "Fees of payments."
    vat: str
    "VAT on these fees."
    split: str
    "Parts of split payments that went to their beneficiaries."
    refunds: str
    "Refunds that were paid to payers."
    disputes: str
    "Disputes that were not won, with their fees, less what is owed for them."
    reserve: str
    "What was kept back of payments (negative), and what was released from the reserve."
    net: str
    "The sum of all lines: by so much collections changed the balance of the wallet."
    paid_out: str
    "Payouts to your bank account by schedule. They are not part of `net`."


class SettlementsReply(msgspec.Struct, kw_only=True):
    """One page of settlements."""

    status: Literal[200] = 200
    "200."
    data: list[SettlementSummary]
    "The settlements."
    total: int
    "How many settlements the period has."
    offset: int
    "The number of records skipped."
    limit: int
    "The largest number of records of a page."


class SettlementLine(msgspec.Struct, kw_only=True):
    """The movements of one kind."""

    kind: Literal["gross", "fee", "vat", "split", "refunds", "disputes", "reserve", "paid_out"]
    "Kind of the movements."
    amount: str
    "Their sum: negative if they left the wallet."
    count: int
    "Number of the postings. A settlement of an earlier day's payments is one."


class SettlementDetail(SettlementSummary, kw_only=True):
    """A settlement with its lines."""

    lines: list[SettlementLine]
    "The lines that have movements."
    payouts: list[str]
    "The `txnRef` of each payout of the day."


class SettlementReply(msgspec.Struct, kw_only=True):
    """The settlement."""

    status: Literal[200] = 200
    "200."
    data: SettlementDetail
    "The settlement."
