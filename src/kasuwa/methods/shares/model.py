"""Rows, states, accounts and postings of shares of a society and of their dividends.

A class of shares has one price, which never changes. What a member paid for its shares is on the account
`shares:<holding_id>`, and is always the number of shares times the price.

    redemption:  waiting ── another party approves ──▶ approved
                    └────── rejected, or 30 days ─────▶ rejected, expired
    dividend:    paying ── every member has its part ──▶ paid

Postings, all in NGN:

    purchase      wallet → shares                       with `wallet`: the society has the cash already
                  savings → shares                      with `savings`, after the member's thrift debts
    transfer      shares → shares                       of another member, at the price
    redemption    shares → savings                      once it is approved
    declaration   wallet → dividend:<id>                the sum of all members' dividends, before tax
    dividend      dividend:<id> → savings               a member's dividend
                  savings → tax:withholding             the tax on it
                  dividend:<id> → wallet                that of a member whose savings have closed meanwhile

Savings that a holding pays into stay open (`Savings.holdings`), so that there is somewhere to pay a dividend to.

Contract: investments#shares, investments#dividends
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.callers import Caller
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import LoadedRows, Needs, NeedsMore, Refusal, Row
from kasuwa.core.money import compute_percent, format_minor
from kasuwa.core.references import row_key
from kasuwa.methods.shares.wire import DividendRecord, HoldingRecord, RedemptionRecord, ShareClassRecord

WAITING = "waiting"
APPROVED = "approved"
REJECTED = "rejected"
EXPIRED = "expired"

PAYING = "paying"
PAID = "paid"

# How long a redemption waits for consent. Contract: investments#redemptions
WAITING_TIME = timedelta(days=30)

# Members of a class. A declaration reads all of them at once. Contract: investments#shares
MAX_HOLDERS = 2_000
# Members on one page of the register, whose dividends one job pays in one commit.
PAGE_HOLDERS = 64
# Days before a declaration within which its record date lies. Contract: investments#dividends
OLDEST_RECORD_DAYS = 366
# Changes of a holding are remembered for longer than a record date may lie back when its last dividend is paid.
REMEMBERED_DAYS = 2 * OLDEST_RECORD_DAYS

UNKNOWN_CLASS = Refusal(INVALID_REQUEST, "Invalid Share Class Reference", error_code="share_class_not_found")


# --- classes ------------------------------------------------------------------------------------------------


class ShareClass(Row):
    """A class of shares."""

    table: ClassVar[str] = "share_class"
    mutable_columns: ClassVar[tuple[str, ...]] = ("holders", "shares")

    class_id: str
    number: int  # the merchant's running number; lists are ordered by it
    name: str
    price: int  # of one share, in kobo
    votes: str  # "member" or "share": what has a vote
    tax_rate: str  # percent of a dividend that is withheld
    created_at: datetime
    holders: int = 0  # members on the register, also those who have no shares any more
    shares: int = 0  # of all members

    @property
    def is_open(self) -> bool:
        return False


def class_key(merchant_id: int, class_id: str) -> bytes:
    return row_key(merchant_id, ShareClass.table, class_id)


class RegisterPage(Row):
    """A part of the register of a class: members in the order in which they joined."""

    table: ClassVar[str] = "share_register"
    mutable_columns: ClassVar[tuple[str, ...]] = ("members",)

    class_id: str
    page: int  # from 0
    members: str  # client ids, separated by commas

    @property
    def is_open(self) -> bool:
        return False

    @property
    def client_ids(self) -> list[str]:
        return self.members.split(",") if self.members else []


def page_key(merchant_id: int, class_id: str, page: int) -> bytes:
    return row_key(merchant_id, RegisterPage.table, f"{class_id} {page}")


def count_pages(holders: int) -> int:
    return -(-holders // PAGE_HOLDERS)


# --- holdings -----------------------------------------------------------------------------------------------

# The shares at the end of each day on which they changed: (day, shares), oldest first.
History = tuple[tuple[date, int], ...]
HISTORY_DECODER: "msgspec.json.Decoder[History]" = msgspec.json.Decoder(History)


class Shareholding(Row):
    """A member's shares of one class."""

    table: ClassVar[str] = "shareholding"
    mutable_columns: ClassVar[tuple[str, ...]] = ("savings_id", "shares", "reserved", "history")

    holding_id: str
    class_id: str
    client_id: str
    savings_id: str  # receives dividends and what is paid for redeemed shares
    position: int  # on the register, from 1
    since: date
    shares: int = 0
    reserved: int = 0  # of redemptions that wait
    history: str = "[]"  # History as JSON

    @property
    def is_open(self) -> bool:
        return False

    @property
    def free(self) -> int:
        """Returns the shares that can be transferred or redeemed."""
        return self.shares - self.reserved


def holding_key(merchant_id: int, class_id: str, client_id: str) -> bytes:
    return row_key(merchant_id, Shareholding.table, f"{class_id} {client_id}")


def change_shares(holding: Shareholding, by: int, today: date) -> Shareholding:
    """Returns a holding with more or fewer shares, and remembers how many it has at the end of the day."""
    shares = holding.shares + by
    earlier = [change for change in HISTORY_DECODER.decode(holding.history) if change[0] < today]
    # The last change before the oldest record date says what the member had on it.
    oldest = today - timedelta(days=REMEMBERED_DAYS)
    forgotten = max(0, sum(day < oldest for day, _ in earlier) - 1)
    history = msgspec.json.encode((*earlier[forgotten:], (today, shares))).decode()
    return msgspec.structs.replace(holding, shares=shares, history=history)


def shares_on(holding: Shareholding, day: date) -> int:
    """Returns how many shares a holding had at the end of a day."""
    return next((shares for changed, shares in reversed(HISTORY_DECODER.decode(holding.history)) if changed <= day), 0)


# --- redemptions --------------------------------------------------------------------------------------------


class ShareRedemption(Row):
    """Shares that a member gives back, which waits for the consent of another party."""

    table: ClassVar[str] = "share_redemption"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "redemption_id",
        "class_id",
        "client_id",
        "shares",
        "amount",
        "state",
        "maker",
        "expires_at",
        "decided_by",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "decided_by", "decided_at", "row_code")

    redemption_id: str
    number: int  # the merchant's running number; lists are ordered by it
    class_id: str
    client_id: str
    shares: int
    amount: int
    state: str
    maker: str  # a Caller as JSON
    created_at: datetime
    expires_at: datetime
    decided_by: str = ""  # as people read it: a key or an email address
    decided_at: datetime | None = None
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


MAKER_DECODER: "msgspec.json.Decoder[Caller]" = msgspec.json.Decoder(Caller)


def redemption_key(merchant_id: int, redemption_id: str) -> bytes:
    return row_key(merchant_id, ShareRedemption.table, redemption_id)


# --- dividends ----------------------------------------------------------------------------------------------


class Dividend(Row):
    """A dividend on the shares of a class, which a job pays page by page of the register."""

    table: ClassVar[str] = "dividend"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "page", "paid", "tax", "members_paid", "returned", "paid_at")

    dividend_id: str
    number: int  # the merchant's running number; lists are ordered by it
    class_id: str
    rate: str  # percent of the price
    record_date: date
    members: int  # who have a dividend
    gross: int  # sum of all dividends before tax: what was taken out of the wallet
    holders: int  # members on the register when it was declared
    declared_at: datetime
    state: str = PAYING
    page: int = 0  # of the register, to be paid next
    paid: int = 0  # paid so far, before tax
    tax: int = 0  # withheld so far
    members_paid: int = 0
    returned: int = 0  # of members whose savings had closed: back in the wallet
    paid_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return False


def dividend_key(merchant_id: int, dividend_id: str) -> bytes:
    return row_key(merchant_id, Dividend.table, dividend_id)


class MemberDividend(msgspec.Struct, frozen=True):
    """The dividend of one member, and the tax on it."""

    gross: int
    tax: int

    @property
    def net(self) -> int:
        return self.gross - self.tax


def compute_dividend(shares: int, price: int, rate: str, tax_rate: str) -> MemberDividend:
    """Returns the dividend on a holding. It is rounded half up to the kobo for each member, then taxed, and the tax is
    rounded in the same way. Sums are those of rounded figures. Contract: investments#rounding"""
    gross = compute_percent(shares * price, rate)
    return MemberDividend(gross, compute_percent(gross, tax_rate))


def list_dividends(
    holdings: Iterable[Shareholding], share_class: ShareClass, rate: str, record_date: date
) -> dict[str, MemberDividend]:
    """Returns the dividends above zero of holdings, by client."""
    dividends = {
        one.client_id: compute_dividend(shares_on(one, record_date), share_class.price, rate, share_class.tax_rate)
        for one in holdings
    }
    return {client_id: dividend for client_id, dividend in dividends.items() if dividend.gross}


# --- needs --------------------------------------------------------------------------------------------------


def load_holdings(pages: Iterable[RegisterPage], rows: LoadedRows) -> list[Shareholding] | NeedsMore:
    """Returns the holdings of pages of a register."""
    keys = [holding_key(page.merchant_id, page.class_id, client_id) for page in pages for client_id in page.client_ids]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(Needs(tuple((Shareholding, key) for key in keys)))
    holdings = [rows.get(Shareholding, key) for key in keys]
    assert all(one is not None for one in holdings), "the register names holdings"
    return [one for one in holdings if one is not None]


# --- records of replies ---------------------------------------------------------------------------------------


def count_votes(share_class: ShareClass, shares: int) -> int:
    """Returns the votes of a member: one for each share, or one if it has any."""
    return shares if share_class.votes == "share" else min(1, shares)


def make_class_record(share_class: ShareClass) -> ShareClassRecord:
    return ShareClassRecord(
        class_id=share_class.class_id,
        name=share_class.name,
        price=format_minor(share_class.price),
        votes=share_class.votes,  # type: ignore[arg-type]
        tax_rate=share_class.tax_rate,
        members=share_class.holders,
        shares=share_class.shares,
        capital=format_minor(share_class.shares * share_class.price),
        date_created=utc_text(share_class.created_at),
    )


def make_holding_record(holding: Shareholding, share_class: ShareClass, name: str | None = None) -> HoldingRecord:
    return HoldingRecord(
        holding_id=holding.holding_id,
        class_id=holding.class_id,
        client_id=holding.client_id,
        savings_id=holding.savings_id,
        shares=holding.shares,
        reserved=holding.reserved,
        votes=count_votes(share_class, holding.shares),
        capital=format_minor(holding.shares * share_class.price),
        since=holding.since.isoformat(),
        name=msgspec.UNSET if name is None else name,
    )


def make_redemption_record(redemption: ShareRedemption) -> RedemptionRecord:
    return RedemptionRecord(
        redemption_id=redemption.redemption_id,
        class_id=redemption.class_id,
        client_id=redemption.client_id,
        shares=redemption.shares,
        amount=format_minor(redemption.amount),
        state=redemption.state,  # type: ignore[arg-type]
        requested_by=MAKER_DECODER.decode(redemption.maker).label,
        decided_by=redemption.decided_by or msgspec.UNSET,
        date_created=utc_text(redemption.created_at),
        expires_at=utc_text(redemption.expires_at),
        date_decided=msgspec.UNSET if redemption.decided_at is None else utc_text(redemption.decided_at),
    )


def make_dividend_record(dividend: Dividend) -> DividendRecord:
    return DividendRecord(
        dividend_id=dividend.dividend_id,
        class_id=dividend.class_id,
        rate=dividend.rate,
        record_date=dividend.record_date.isoformat(),
        state=dividend.state,  # type: ignore[arg-type]
        members=dividend.members,
        members_paid=dividend.members_paid,
        gross=format_minor(dividend.gross),
        paid=format_minor(dividend.paid),
        withheld_tax=format_minor(dividend.tax),
        returned=format_minor(dividend.returned),
        date_declared=utc_text(dividend.declared_at),
        date_paid=msgspec.UNSET if dividend.paid_at is None else utc_text(dividend.paid_at),
    )
