"""Requests and replies of automatic collection on `PUT /loans`. Docstrings are the descriptions in the OpenAPI
document.

Contract: loans#auto-repay
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.methods.loans.auto_repay_wire import AutoRepayRecord, CollectionSource, DeclineReason
from kasuwa.wire.fields import NonNegativeInt, Reference
from kasuwa.wire.interest_wire import DryRunFigure
from kasuwa.wire.paging import Paged

MAX_RETRIES = 5
Retry = Annotated[
    list[NonNegativeInt], msgspec.Meta(max_length=MAX_RETRIES, description=f"at most {MAX_RETRIES} numbers of days")
]


class AutoRepayRequest(msgspec.Struct, kw_only=True):
    """Agrees on collecting what falls due of a loan, from now on. Sent again, it takes the place of what was agreed
    before, and a collection that was paused or stopped goes on."""

    loan_id: Reference
    "The loan. It owes something, or is not paid out yet."
    source: CollectionSource
    """Where the money comes from. `token`: a saved card is charged. `savings`: savings of the client pay. `wallet`: the
    repayment is recorded out of money that you have received already, such as wages that an employer deducted."""
    token: Reference | None = None
    "The `cardToken` of the card. Required for `token`, and for nothing else."
    savings_id: Reference | None = None
    "The savings that pay. Required for `savings`, and for nothing else. They are the client's own."
    at: NonNegativeInt | None = None
    "Hour of the day in Lagos, from 0 to 23, at which it is collected. Default 9."
    retry: Retry | None = None
    """Days after a due date on which a declined attempt is made again, ascending, each from 1 to 30. Default 1, 3 and
    7. Empty: never."""
    dry_run: bool | None = None
    "If true, the reply shows what would be collected and when, and nothing is stored."


class StopAutoRepayRequest(msgspec.Struct, kw_only=True):
    """Stops the automatic collection of a loan. A charge that is in progress goes on, and its repayment counts."""

    loan_id: Reference
    "The loan."
    dry_run: bool | None = None
    "If true, the reply shows the collection as it would be, and nothing is changed."


class CollectionsRequest(Paged, kw_only=True):
    """Lists the attempts to collect loans, newest first."""

    loan_id: Reference | None = None
    "Lists those of this loan alone."
    state: Literal["charging", "collected", "declined"] | None = None
    "Lists those in this state alone."


class CollectionRecord(msgspec.Struct, kw_only=True):
    """One attempt to collect what was due of a loan."""

    loan_id: str
    "The loan."
    n: int
    "Number of the attempt, from 1 for the loan."
    due: str
    "Day that was collected, as YYYY-MM-DD."
    source: CollectionSource
    "Where the money was to come from."
    amount: str
    "What was due, in naira."
    state: Literal["charging", "collected", "declined"]
    "`charging`: the card is being charged."
    reason: DeclineReason | UnsetType = UNSET
    "Why it was declined. Absent unless it was."
    message: str | UnsetType = UNSET
    "The same in words, of a card as its bank said it. Absent unless it was declined."
    is_final: bool | UnsetType = UNSET
    "Whether nothing is tried again for that day. Absent unless it was declined."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the repayment, or of the charge. Absent if the savings or the wallet were short."
    next_date: str | UnsetType = UNSET
    "Day of the next step that was planned then, as YYYY-MM-DD. Absent if there was none."
    date_created: str = field(name="dateCreated")
    "Time of the attempt, in UTC."


class AutoRepayReply(msgspec.Struct, kw_only=True):
    """The automatic collection of a loan after a change. A dry run explains what it would collect."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: AutoRepayRecord
    "The automatic collection."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class CollectionsReply(msgspec.Struct, kw_only=True):
    """One page of attempts to collect loans, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[CollectionRecord]
    "The attempts."
    total: int
    "Number of matching attempts on all pages."
    offset: int
    "Number of attempts that were skipped."
    limit: int
    "Largest number of attempts on this page. The next page begins at `offset` + `limit`."
