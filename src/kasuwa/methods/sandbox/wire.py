"""Requests and replies of `PUT /sandbox`, which exists only in the test environment.

Contract: sandbox#actions
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.core.scenario import FaultKind, FaultOperation, RailName
from kasuwa.methods.resources.wire import EventLine
from kasuwa.methods.sandbox.world_file import WorldFile
from kasuwa.wire.fields import (
    END,
    Amount,
    AmountOrZero,
    Currency,
    Limit,
    Offset,
    Probability,
    Reference,
    ShortText,
    Timestamp,
)

WebhookUrl = Annotated[str, Meta(max_length=2048, description="a URL of at most 2,048 characters, or empty")]


ResponseCode = Annotated[
    str, Meta(pattern="^[0-9A-Z]{2}" + END, max_length=2, description="a response code of two digits or capitals")
]


TriggerFields = Annotated[dict[str, Any], Meta(max_length=50, description="an object of at most 50 fields")]
MerchantTerms = Annotated[dict[str, Any], Meta(max_length=100, description="an object of at most 100 terms")]


class NewMerchantRequest(msgspec.Struct, kw_only=True):
    """A new merchant. With `now`, its clock starts at that time and moves only by `advance`."""

    name: ShortText | None = None
    "Name of the merchant, shown to payers. Default `Sandbox merchant`."
    now: Timestamp | None = None
    """Business time at which the merchant's clock starts. The clock then moves only by `advance`. Left out: the clock
    runs with the time of day."""
    balance: AmountOrZero | None = None
    """Opening balance of the NGN wallet, with no other wallet. Without it, 10,000,000.00 NGN and 10,000.00 USD."""
    webhook: WebhookUrl | None = None
    """URL that the events of the merchant are sent to."""
    seed: ShortText | None = None
    """Makes random outcomes the same in every run: whether a `fault` with a `probability` occurs. The same requests in
    the same order then have the same outcomes, on every server. References, tokens and numbers stay its own."""
    terms: MerchantTerms | None = None
    """Terms of the merchant, as a file of `kasuwa case export` has them: tariff, limits, days of settlement, savings,
    lending and the like. Left out: those of every new merchant."""


class NewMerchantReply(msgspec.Struct, kw_only=True):
    """A new merchant, with 10,000,000.00 NGN and 10,000.00 USD in its wallets."""

    status: Literal[200] = 200
    "200."
    mid: str
    "Identifier of the merchant, for the header `mid`."
    key: str
    "Key of the merchant, for the header `key`. It is shown this once."


class FundRequest(msgspec.Struct, kw_only=True):
    """Credits the merchant's own wallet."""

    amount: Amount
    "Amount to credit."
    currency: Currency | None = None
    "Currency of the wallet, which is made if there is none. Default `NGN`."


class SettleRequest(msgspec.Struct, kw_only=True):
    """A simulated call-back for a pending transaction, by its txnRef or orderRef, or by its loan or savings account."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    "The transaction, by its `txnRef`, or the `orderRef` of a transfer or bill. It counts before the other three."
    order_ref: Reference | None = field(name="orderRef", default=None)
    "The transaction, by its `orderRef`."
    loan_id: Reference | None = None
    "A loan, for its open disbursement or repayment."
    savings_id: Reference | None = None
    "A savings account, for its open deposit or cash-out."
    outcome: Literal["successful", "failed"]
    "The rail's answer. A transaction that is final keeps its status, and an operator is notified of a contradiction."
    code: ResponseCode | None = None
    """Response code of the answer, such as `51`, whose meaning becomes the message. One that approves is refused if the
    outcome is `failed`, any other if it is `successful`. Default `00` if it is successful, `05` if it failed."""


class SettleReply(msgspec.Struct, kw_only=True):
    """A transaction after the simulated call-back."""

    status: Literal[200] = 200
    "200: the call-back was received. `txnStatus` says the state."
    txn_status: str = field(name="txnStatus")
    "Status of the transaction now. One that was final before keeps its status."
    txn_ref: str = field(name="txnRef")
    "Reference of the transaction."
    message: str
    "The state in words."


class WebhookRequest(msgspec.Struct, kw_only=True):
    """The URL that this merchant's events are sent to. An empty text switches them off."""

    url: WebhookUrl
    """Address that events are sent to. Loopback addresses are allowed in the test environment. Empty: no events are
    sent."""


class ExplainRequest(msgspec.Struct, kw_only=True):
    """A reference of any kind. If several are sent, the first field of this list counts."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    "Reference of a transaction."
    order_ref: Reference | None = field(name="orderRef", default=None)
    "Your reference of a transfer, bill or cashcode."
    batch_ref: Reference | None = field(name="batchRef", default=None)
    "Reference of a bulk transfer."
    refund_ref: Reference | None = field(name="refundRef", default=None)
    "Reference of a refund."
    customer_txnref: Reference | None = None
    "Your reference of a payment."
    loan_id: Reference | None = None
    "A loan."
    savings_id: Reference | None = None
    "A savings account."
    thrift_id: Reference | None = None
    "A thrift plan."
    group_id: Reference | None = None
    "A group of borrowers."
    group_loan_id: Reference | None = None
    "A loan of a group."
    product_id: Reference | None = None
    "A loan product."
    client_id: Reference | None = None
    "A client."
    ref_code: Reference | None = None
    "A beneficiary of split payments."
    reference: Reference | None = None
    "A reference of any kind: also of a virtual card, a saved card, an event, a payment plan or a personalized account."


class ExplainReply(msgspec.Struct, kw_only=True):
    """The timeline of a reference."""

    status: Literal[200] = 200
    "200: the reference is known."
    data: list[dict[str, Any]]
    """The entries, oldest first, at most 1,000. Each has `at` (UTC), `what` (such as `requested`, `hold`, `posting`,
    `event`, `webhook` or `job`), `said`, and fields of its kind."""


class ResetRequest(msgspec.Struct):
    """Has no fields."""


WorldName = Annotated[str, Meta(min_length=1, max_length=100, description="1 to 100 characters")]


class SnapshotRequest(msgspec.Struct, kw_only=True):
    """Stores everything that this merchant has, as a world."""

    name: WorldName
    "Name of the world, one that none of the merchant's worlds has."


class World(msgspec.Struct, kw_only=True):
    """A world: everything that a merchant had at one moment."""

    name: str
    "Its name."
    rows: int
    "Number of its rows."
    bytes: int
    "Its size in the database."
    business_time: str
    "The merchant's business time at that moment, in Lagos time with its offset."
    made_at: str
    "The time of the server's clock at that moment, in UTC."
    made_by: str
    "Version of Kasuwa that made it."


class SnapshotReply(msgspec.Struct, kw_only=True):
    """The world that was stored."""

    status: Literal[200] = 200
    "200: it is stored."
    data: World
    "The world."


class RestoreRequest(msgspec.Struct, kw_only=True):
    """Makes this merchant what it was when a world was stored."""

    name: WorldName
    "Name of the world."


class RestoreReply(msgspec.Struct, kw_only=True):
    """The confirmation of a restore."""

    status: Literal[200] = 200
    "200: it was done. The next request is answered from the world."
    message: str
    "The outcome in words."
    rows: int
    "Number of rows that were restored."


class ForkRequest(msgspec.Struct, kw_only=True):
    """Makes a new merchant that is a copy of this one."""

    name: WorldName | None = None
    "Name of the world to copy. Left out: the merchant as it is now."


class ForkReply(msgspec.Struct, kw_only=True):
    """The new merchant."""

    status: Literal[200] = 200
    "200."
    mid: str
    "Identifier of the copy, for the header `mid`."
    key: str
    "A key of the copy, for the header `key`, beside those that it has of the merchant. It is shown this once."


class WorldsRequest(msgspec.Struct):
    """Has no fields."""


class RunningWorld(msgspec.Struct, kw_only=True):
    """A snapshot, a restore or a copy that takes longer than a second, and is not done."""

    action: str
    "`snapshot`, `restore` or `fork`."
    name: str
    "Name of the world; empty for a copy of the merchant as it is."
    rows_done: int
    "Rows that were read or written so far."
    rows_total: int
    "All rows; 0 while they are being counted."
    began_at: str
    "The time of the server's clock when it began, in UTC."


class WorldsReply(msgspec.Struct, kw_only=True):
    """The worlds of this merchant, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[World]
    "The worlds."
    running: list[RunningWorld] | msgspec.UnsetType = msgspec.UNSET
    "What is running now. Left out if that is nothing."


class CompareWorldsRequest(msgspec.Struct, kw_only=True):
    """Two worlds of this merchant."""

    name: WorldName
    "Name of the first world."
    other: WorldName
    "Name of the other world."


class WorldDifference(msgspec.Struct, kw_only=True):
    """A table in which two worlds differ."""

    table: str
    "What the rows are, such as `transaction`."
    only_in_first: int
    "Rows that only the first world has."
    only_in_other: int
    "Rows that only the other world has."
    changed: int
    "Rows that both have, with different values."


class CompareWorldsReply(msgspec.Struct, kw_only=True):
    """The differences of two worlds."""

    status: Literal[200] = 200
    "200."
    data: list[WorldDifference]
    "The tables in which they differ. Empty if they are the same."


class DeleteWorldRequest(msgspec.Struct, kw_only=True):
    """Deletes a world."""

    name: WorldName
    "Name of the world."


Passphrase = Annotated[str, Meta(min_length=12, max_length=200, description="12 to 200 characters")]


class ExportWorldRequest(msgspec.Struct, kw_only=True):
    """Writes a world to a file that this deployment, and every other with the same KASUWA_SECRET_KEY, can import."""

    name: WorldName
    "Name of the world."
    passphrase: Passphrase
    "Encrypts the file. Whoever imports it sends it again; it is not stored."


class ExportWorldReply(msgspec.Struct, kw_only=True):
    """The file of a world."""

    status: Literal[200] = 200
    "200."
    data: World
    "The world. The file has all its rows but those of API keys and signing secrets."
    file: str
    "The file, in base64. At most 10 MiB."


class ImportWorldRequest(msgspec.Struct, kw_only=True):
    """Stores the world of a file. The merchant stays as it is until the world is restored."""

    name: WorldName
    "Name of the world here, one that none of the merchant's worlds has."
    passphrase: Passphrase
    "The passphrase that the file was written with."
    file: WorldFile
    "The file, in base64, as `export_world` returned it."


class DoneReply(msgspec.Struct, kw_only=True):
    """The confirmation of a sandbox action."""

    status: Literal[200] = 200
    "200: it was done."
    message: str
    "The outcome in words."


class TriggerRequest(msgspec.Struct, kw_only=True):
    """Makes an event happen, by requests of this merchant that lead to it."""

    event: ShortText
    "Name of the event, such as `dispute.opened`: its kind, and what has become of it."
    fields: TriggerFields | None = None
    """Fields of the requests, such as `amount`. Each replaces that of every request that has it, and one that none has
    is sent with the last."""


class TriggerReply(msgspec.Struct, kw_only=True):
    """The event that has happened."""

    status: Literal[200] = 200
    "200."
    data: EventLine
    "The event. It is delivered as any other, and `txnRef` and `payload` say what it is about."


class RequestsRequest(msgspec.Struct, kw_only=True):
    """Requests of this merchant and their replies, newest first."""

    search: ShortText | None = None
    "Only those with this text in path, action, request id, or a body, whatever its capitals."
    refused: bool = False
    "Only those that were refused or failed."
    before: Offset | None = None
    "Only those whose `number` is below this one. Send a reply's `last` to read on."
    after: Offset | None = None
    "Lists those whose `number` is above this one, oldest first. Send a reply's `last` to follow the log."
    limit: Limit | None = None
    "Largest number of requests to return. Default 50."


class LoggedRequest(msgspec.Struct, kw_only=True):
    """A request and its reply. Secrets are `***`."""

    number: int
    "Number of the request in the order of recording. It counts those of all merchants, so a merchant's have gaps."
    answered_at: str
    "Time of the reply by the server's clock, ISO 8601, UTC."
    request_id: str
    "The header `x-request-id` of the reply."
    path: str
    "What was called, such as `/disburse`."
    action: str
    "The action. Empty if the request named none that exists."
    http_status: int
    "Status of HTTP."
    result: int
    "Status in the reply's body."
    milliseconds: float
    "From the arrival of the headers to the reply."
    request_body: str
    "What was sent, as JSON. `[40,000 bytes]` if it was longer than 32 KiB."
    reply_body: str
    "What was answered, in the same way."


class RequestsReply(msgspec.Struct, kw_only=True):
    """Requests of this merchant."""

    placed_by: ClassVar[str] = "number"  # field of its records from which the log is read on

    status: Literal[200] = 200
    "200."
    data: list[LoggedRequest]
    "The requests."
    last: int
    """The `number` to read on from, for `before` or `after`: that of the last request returned, 0 if there was none.
    With `after`, once there are no further ones, that of the newest request, also if it does not match."""
    more: bool
    "Whether there are further ones now."


class PeopleMailsRequest(msgspec.Struct, kw_only=True):
    """Mails to the people of this merchant, newest first."""

    before: Offset | None = None
    "Only those whose `number` is below this one. Send a reply's `last` to read on."
    limit: Limit | None = None
    "Largest number of mails to return. Default 50."


class PeopleMail(msgspec.Struct, kw_only=True):
    """A mail to a person of the console. It is in this outbox and goes nowhere else."""

    number: int
    "Number of the mail in the order of queueing. It counts those of all merchants, so a merchant's have gaps."
    mail_id: str
    "Identifier of the mail."
    purpose: str
    "What it is for, such as `invitation`, `sign_in_alert` or `approvals_waiting`."
    status: Literal["queued", "sent", "failed", "unknown", "bounced"]
    "State of the mail."
    to: str
    "Address of the person."
    subject: str | None
    "Subject. Null if the mail was replaced before it was sent."
    text: str | None
    "The mail as plain text. Null if the mail was replaced before it was sent."
    html: str | None
    "The mail as HTML, with the same words. Null if the mail was replaced before it was sent."
    created_at: str
    "Time at which it was queued, by the server's clock, in UTC."


class PeopleMailsReply(msgspec.Struct, kw_only=True):
    """Mails to the people of this merchant."""

    placed_by: ClassVar[str] = "number"  # field of its records from which the list is read on

    status: Literal[200] = 200
    "200."
    data: list[PeopleMail]
    "The mails."
    last: int
    "The `number` of the last mail returned, for `before`. 0 if there was none."
    more: bool
    "Whether there are further ones now."


class ClockRequest(msgspec.Struct):
    """Has no fields."""


class ClockReply(msgspec.Struct, kw_only=True):
    """The merchant's business time."""

    status: Literal[200] = 200
    "200."
    now: str
    "Business time, in Lagos time with its offset."


class FreezeRequest(msgspec.Struct, kw_only=True):
    """Stops this merchant's clock, or lets it run again."""

    frozen: bool = True
    """True stops the clock, so that only `advance` moves it. False lets it run on from where it stands."""


class AuditRequest(msgspec.Struct):
    """Has no fields."""


class Violation(msgspec.Struct, kw_only=True):
    """A place where the books violate an invariant."""

    invariant: str
    """The statement that must hold."""
    place: str
    """The account, posting or reference where it does not."""


class AuditReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    """Always 200."""
    data: list[Violation]
    """Every violation that was found, at most 20 of each invariant. Empty if the books are right."""


class CloseRequest(msgspec.Struct):
    """Has no fields."""


class CloseReply(msgspec.Struct, kw_only=True):
    """A close of the books of all merchants of the test environment."""

    status: Literal[200] = 200
    """Always 200."""
    close_number: int
    """Number of the close."""
    closed_at: str
    """Time of the close by the server's clock, in UTC."""
    root: str
    """Root of the close's tree, in hexadecimal."""
    public_key: str
    """Ed25519 key that checks the close and the proofs, in hexadecimal."""


Count = Annotated[int, Meta(ge=0, le=10_000_000_000, description="a whole number, not negative")]


class AdvanceRequest(msgspec.Struct, kw_only=True):
    """Either a duration, whose parts are added up, or the time to go to."""

    seconds: Count | None = None
    "Seconds to move forward. Seconds, minutes, hours and days are added up."
    minutes: Count | None = None
    "Minutes to move forward."
    hours: Count | None = None
    "Hours to move forward."
    days: Count | None = None
    "Days of 24 hours to move forward."
    until: Timestamp | None = None
    "Business time to move to, in Lagos time if it names no zone. Not together with a duration, and not in the past."


class AdvanceReply(msgspec.Struct, kw_only=True):
    """The business time that was reached, and the jobs that ran on the way."""

    status: Literal[200] = 200
    "200."
    now: str
    "Business time that was reached, in Lagos time with its offset."
    ran: dict[str, int]
    "Number of jobs that ran, by kind, such as `payment`, `recurrent` or `webhook`."
    more: Literal[True] | msgspec.UnsetType = msgspec.UNSET
    "True if the time limit of the request was over before all jobs had run: advance to `until` to go on. Else absent."
    until: str | msgspec.UnsetType = msgspec.UNSET
    "The business time to send as `until` to go on, in Lagos time. Present with `more`."


class FaultRequest(msgspec.Struct, kw_only=True):
    """Makes this merchant's next calls to a rail fail. Kind `none` clears the planned faults of one rail or of all."""

    rail: RailName | None = None
    """The rail whose calls fail: `card`, `bank` (transfers, account payments, names), `biller`, `mobile`, `identity`
    (BVN), `issuer` (virtual cards) or `decider` (your service that decides on purchases with them). Required unless the
    kind is `none`; then left out for all rails."""
    kind: FaultKind
    """`timeout`: done, but the answer is lost. `reset`: it never arrived. `unavailable`: refused before anything was
    done. `decline`: declined. `none`: clears planned faults."""
    on: FaultOperation | None = None
    """The operation that the fault is limited to. Left out: every call of the rail. Of `card`: `initiate`, `charge`,
    `validate`, `refund`. Of `bank`: `transfer`, `charge`, `validate`, `refund`, `accountname`. Of `biller`: `pay`,
    `resolve`. Of `mobile`: `charge`, `validate`, `refund`. Of `identity`: `bvn`. Of `issuer` and `decider`: `purchase`,
    `authorize`."""
    times: Annotated[int, Meta(ge=1, le=1_000_000, description="1 to 1,000,000")] = 1
    "Number of the next calls that the fault applies to. Default 1."
    probability: Probability | None = None
    "Probability from 0 to 1 with which each of these calls fails. Default 1."
    code: ResponseCode | None = None
    "Response code of a decline, such as `51`. Only for the kind `decline`, and none that approves. Default `05`."
