"""The request and reply of `resources` for statements of account. Contract: resources#statements"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.methods.statements.proofs.wire import Proof
from kasuwa.wire.fields import END, Currency, LagosDate, Limit, Reference

CursorText = Annotated[
    str,
    Meta(
        pattern=rf"^[0-9]{{1,18}}\.[0-9]{{1,18}}\.[0-9]{{1,18}}\.[01]{END}",
        max_length=60,
        description="the `next_cursor` of a reply",
    ),
]
AccountKind = Literal["wallet", "card", "savings", "loan", "beneficiary"]


class StatementRequest(msgspec.Struct, kw_only=True):
    """Asks for a statement of account over whole days. The statement of the days that follow begins with the balance
    at which this one ends."""

    account: AccountKind
    "Kind of the account: your wallet, a virtual card, a savings account, a loan, or a beneficiary of split payments."
    id: Reference | None = None
    """The card's `reference`, `savings_id`, `loan_id` or `ref_code` of a beneficiary. Required for all but the
    wallet."""
    currency: Currency | None = None
    "Currency of a wallet or beneficiary. Default NGN. Other accounts have one currency."
    first_day: LagosDate = field(name="from")
    "First day, in Lagos."
    last_day: LagosDate = field(name="to")
    "Last day, in Lagos. At most 366 days after `from`."
    format: Literal["json", "csv", "pdf"] | None = None
    "`json`, in pages (default), or a link to a file."
    limit: Limit | None = None
    "Largest number of movements on a page. Default 50."
    proof: bool | None = None
    """Adds the proof of every page to it (`json` only). A page then has the movements among the next `limit` postings
    of your books, which may be few or none."""
    cursor: CursorText | None = None
    "Continues after the page that had this `next_cursor`. Send the other fields with it again."


class StatementTotal(msgspec.Struct, kw_only=True):
    """The movements of one kind together."""

    kind: Literal["collected", "fees", "vat", "refunds", "disputes", "reserve", "payouts", "interest", "tax", "other"]
    """`collected`: payments and settlements; `disputes`: disputes that were not won, and what is lent and paid back for
    them; `reserve`: what was kept back and released; `payouts`: transfers, bills, cash and parts of others; `tax`:
    withheld tax, stamp duty and other tax but VAT; `other`: everything else, such as funding and repayments."""
    amount: str
    "Sum of the movements: negative if more went out than came in."
    count: int
    "Number of the movements."


class StatementMovement(msgspec.Struct, kw_only=True):
    """One movement."""

    date_created: str = field(name="dateCreated")
    "Time of the movement, in UTC."
    kind: str
    "What the movement is, such as `payment`, `collection fee`, `interest` or `thrift payout`."
    reference: str
    "Reference of the transaction, or of what caused the movement."
    counterparty: str
    "The other account of the movement, such as `rail:bank:NGN` or `income:transfer:NGN`."
    amount: str
    "Amount: negative if it left the account. On a loan, a positive amount is owed."
    balance: str
    "Balance after the movement."


class StatementReply(msgspec.Struct, kw_only=True):
    """A statement, or the link to one."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    currency: str
    "Currency of the amounts."
    opening_balance: str
    "Balance at the beginning of the first day."
    closing_balance: str
    "Balance at the end of the last day, or now if that day is not over. It is the opening balance and all movements."
    totals: list[StatementTotal] | None
    """The movements by kind. Null on later pages, beside a link, and for a period with more than 1,000,000 postings:
    the file has them."""
    data: list[StatementMovement]
    "The movements, oldest first. Empty beside a link."
    next_cursor: str | None
    "Send it as `cursor` for the next page. Null if there is none."
    link: str | None
    "Address of the file. It needs no key: whoever has it can read the statement. Null for `json`."
    expires: str | None
    "Time until which the link works, in UTC: an hour from now. Null for `json`."
    account: str | None = None
    "With a proof: the account's name in the books, or the id of a loan or savings account."
    proof: Proof | None = None
    """The proof that the movements of this page are in the books, and that none of those postings is left out. Null
    unless it was asked for, and for a period without postings."""
