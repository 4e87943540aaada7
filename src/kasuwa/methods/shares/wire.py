"""Requests and replies of shares and dividends on `PUT /investments`. Docstrings are the descriptions in the OpenAPI
document.

Contract: investments#shares, investments#dividends
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.wire.fields import FREE_TEXT, Amount, LagosDate, NonNegativeInt, PercentRate, Reference
from kasuwa.wire.interest_wire import DryRunFigure
from kasuwa.wire.paging import Paged

ClassName = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]

Votes = Literal["member", "share"]

# --- classes ------------------------------------------------------------------------------------------------


class CreateShareClassRequest(msgspec.Struct, kw_only=True):
    """A new class of shares."""

    name: ClassName
    "Name of the class, such as Ordinary."
    price: Amount
    "Price of one share, in naira. It never changes."
    votes: Votes | None = None
    "What has a vote: each `member` with shares, which is the default, or each `share`."
    tax_rate: PercentRate | None = None
    "Tax that is withheld from dividends, in percent of them, from 0 to 100. Default 10."
    dry_run: bool | None = None
    "If true, the reply shows the class, and nothing is stored."


class ShareClassRecord(msgspec.Struct, kw_only=True):
    """A class of shares."""

    class_id: str | None
    "Identifier of the class, made by the service. Null in a dry run."
    name: str
    "Name of the class."
    price: str
    "Price of one share, in naira."
    votes: Votes
    "What has a vote: each `member` with shares, or each `share`."
    tax_rate: str
    "Tax that is withheld from dividends, in percent of them."
    members: int
    "Number of clients on the register, also those who have no shares any more."
    shares: int
    "Shares of all members."
    capital: str
    "What these shares were sold for, in naira."
    date_created: str = field(name="dateCreated")
    "Time at which the class was created, in UTC."


class ShareClassReply(msgspec.Struct, kw_only=True):
    """A class of shares after it was created."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: ShareClassRecord
    "The class."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was stored. Else absent."


class ListShareClassesRequest(Paged, kw_only=True):
    """Lists classes of shares, newest first."""


class ShareClassListReply(msgspec.Struct, kw_only=True):
    """One page of classes of shares, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[ShareClassRecord]
    "The classes."
    total: int
    "Number of classes on all pages."
    offset: int
    "Number of classes that were skipped."
    limit: int
    "Largest number of classes on this page. The next page begins at `offset` + `limit`."


# --- holdings -----------------------------------------------------------------------------------------------


class HoldingRecord(msgspec.Struct, kw_only=True):
    """A member's shares of one class."""

    holding_id: str | None
    "Identifier of the holding, made by the service: the origin of its lines in statements. Null in a dry run."
    class_id: str
    "The class."
    client_id: str
    "The member."
    savings_id: str
    "The savings account that receives dividends and what is paid for redeemed shares."
    shares: int
    "Shares of the member, with those of redemptions that wait."
    reserved: int
    "Shares of redemptions that wait: they cannot be transferred."
    votes: int
    "Votes of the member."
    capital: str
    "What these shares were sold for, in naira."
    since: str
    "Day of the first purchase, as YYYY-MM-DD in Lagos."
    name: str | UnsetType = UNSET
    "First and last name of the member. Absent unless the list of shareholders was asked for, or if they were erased."


class BuySharesRequest(msgspec.Struct, kw_only=True):
    """A purchase of shares by a member."""

    class_id: Reference
    "The class."
    client_id: Reference
    "The member, who must be active."
    shares: NonNegativeInt
    "Number of shares, from 1 to 1,000,000."
    payment_method: Literal["wallet", "savings"]
    """`wallet`: you have the member's money already, such as in cash, and your wallet brings it. `savings`: out of the
    savings account."""
    savings_id: Reference | None = None
    """The member's savings account that pays with `savings`, and that receives dividends and what is paid for redeemed
    shares. Required for a member without shares of the class; afterwards it must be the same."""
    dry_run: bool | None = None
    "If true, the reply shows the holding as it would be, and nothing is changed."


class HoldingReply(msgspec.Struct, kw_only=True):
    """A holding after a purchase."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    amount: str
    "What was paid, in naira."
    data: HoldingRecord
    "The holding."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."


class TransferSharesRequest(msgspec.Struct, kw_only=True):
    """A transfer of shares to another member. What the other pays for them is not part of it."""

    class_id: Reference
    "The class."
    client_id: Reference
    "The member who gives the shares."
    to_client_id: Reference
    "The member who gets them, who must be active."
    shares: NonNegativeInt
    "Number of shares, from 1 to 1,000,000."
    savings_id: Reference | None = None
    """The savings account of the member who gets them, which receives dividends. Required if that member has no shares
    of the class; afterwards it must be the same."""
    dry_run: bool | None = None
    "If true, the reply shows the holdings as they would be, and nothing is changed."


class TransferSharesReply(msgspec.Struct, kw_only=True):
    """Both holdings after a transfer of shares."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: HoldingRecord
    "The holding that gave the shares."
    to: HoldingRecord
    "The holding that got them."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."


class ListShareholdersRequest(Paged, kw_only=True):
    """Lists shareholders in the order in which they joined: of a class, or with all holdings of a client."""

    class_id: Reference | None = None
    "Lists the shareholders of this class."
    client_id: Reference | None = None
    "Lists the holdings of this client."


class HoldingListReply(msgspec.Struct, kw_only=True):
    """One page of shareholders."""

    status: Literal[200] = 200
    "200."
    data: list[HoldingRecord]
    "The holdings."
    total: int
    "Number of matching holdings on all pages."
    offset: int
    "Number of holdings that were skipped."
    limit: int
    "Largest number of holdings on this page. The next page begins at `offset` + `limit`."


class ShareRegisterRequest(msgspec.Struct, kw_only=True):
    """Names the class whose register is made."""

    class_id: Reference
    "The class."
    format: Literal["csv", "pdf"]
    "Format of the file."


class ShareRegisterReply(msgspec.Struct, kw_only=True):
    """The link to a register of members. It needs no key: whoever has it can read the register."""

    status: Literal[200] = 200
    "200."
    message: str = "Register"
    "The outcome in words."
    link: str
    "Address of the file."
    expires: str
    "Time until which the link works, in UTC: an hour from now."


# --- redemptions --------------------------------------------------------------------------------------------


class RedeemSharesRequest(msgspec.Struct, kw_only=True):
    """Shares that a member gives back. Another party must consent before anything is paid."""

    class_id: Reference
    "The class."
    client_id: Reference
    "The member."
    shares: NonNegativeInt
    "Number of shares, from 1 to 1,000,000."
    dry_run: bool | None = None
    "If true, the reply shows the redemption, and nothing is stored."


class RedemptionVerdictRequest(msgspec.Struct, kw_only=True):
    """Names the redemption that is decided."""

    redemption_id: Reference
    "The redemption."
    dry_run: bool | None = None
    "If true, the reply says what the decision would do, and nothing is changed."


class RedemptionRecord(msgspec.Struct, kw_only=True):
    """A redemption of shares."""

    redemption_id: str | None
    "Identifier of the redemption, made by the service. Null in a dry run."
    class_id: str
    "The class."
    client_id: str
    "The member."
    shares: int
    "Number of shares."
    amount: str
    "What is paid into the member's savings account, in naira."
    state: Literal["waiting", "approved", "rejected", "expired"]
    "`waiting` for consent. `approved`: paid. `rejected`, and `expired` after 30 days: the member keeps the shares."
    requested_by: str = field(name="requestedBy")
    "The key or the person that asked for it."
    decided_by: str | UnsetType = field(name="decidedBy", default=UNSET)
    "The key or the person that decided it. Absent while it waits, and if nobody did."
    date_created: str = field(name="dateCreated")
    "Time of the request, in UTC."
    expires_at: str
    "Time until which it can be approved, in UTC."
    date_decided: str | UnsetType = field(name="dateDecided", default=UNSET)
    "Time of the decision or of the expiry, in UTC. Absent while it waits."


class RedemptionVerdictReply(msgspec.Struct, kw_only=True):
    """A redemption after it was decided."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: RedemptionRecord
    "The redemption."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class RedemptionReply(RedemptionVerdictReply, kw_only=True):
    """A redemption after it was asked for."""


class ListRedemptionsRequest(Paged, kw_only=True):
    """Lists redemptions, newest first."""

    class_id: Reference | None = None
    "Lists redemptions of this class."
    state: Literal["waiting", "approved", "rejected", "expired"] | None = None
    "Lists redemptions in this state."


class RedemptionListReply(msgspec.Struct, kw_only=True):
    """One page of redemptions, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[RedemptionRecord]
    "The redemptions."
    total: int
    "Number of matching redemptions on all pages."
    offset: int
    "Number of redemptions that were skipped."
    limit: int
    "Largest number of redemptions on this page. The next page begins at `offset` + `limit`."


# --- dividends ----------------------------------------------------------------------------------------------


class DeclareDividendRequest(msgspec.Struct, kw_only=True):
    """A dividend for all who had shares of a class at the end of a day."""

    class_id: Reference
    "The class."
    rate: PercentRate
    "Dividend in percent of the price of the shares, above 0."
    record_date: LagosDate
    "The day at whose end the shares are counted: before today, and at most 366 days ago."
    dry_run: bool | None = None
    "If true, the reply shows the dividend with its figures, and nothing is changed."


class DividendRecord(msgspec.Struct, kw_only=True):
    """A dividend."""

    dividend_id: str | None
    "Identifier of the dividend, made by the service. Null in a dry run."
    class_id: str
    "The class."
    rate: str
    "Dividend in percent of the price of the shares."
    record_date: str
    "The day at whose end the shares were counted, as YYYY-MM-DD."
    state: Literal["paying", "paid"]
    "`paying` until every member has the dividend."
    members: int
    "Number of members who get a dividend."
    members_paid: int
    "Number of them who have it."
    gross: str
    "Sum of all dividends before tax, in naira. It left the wallet when the dividend was declared."
    paid: str
    "Sum of the dividends that were paid, before tax, in naira."
    withheld_tax: str
    "Tax that was withheld from these, in naira."
    returned: str
    "Sum of the dividends of members whose savings account has closed, in naira. It is back in the wallet."
    date_declared: str = field(name="dateDeclared")
    "Time of the declaration, in UTC."
    date_paid: str | UnsetType = field(name="datePaid", default=UNSET)
    "Time at which every member had the dividend, in UTC. Absent before."


class DividendReply(msgspec.Struct, kw_only=True):
    """A dividend after it was declared. A dry run explains each figure."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: DividendRecord
    "The dividend."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class ListDividendsRequest(Paged, kw_only=True):
    """Lists dividends, newest first."""

    class_id: Reference | None = None
    "Lists dividends of this class."


class DividendListReply(msgspec.Struct, kw_only=True):
    """One page of dividends, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[DividendRecord]
    "The dividends."
    total: int
    "Number of matching dividends on all pages."
    offset: int
    "Number of dividends that were skipped."
    limit: int
    "Largest number of dividends on this page. The next page begins at `offset` + `limit`."
