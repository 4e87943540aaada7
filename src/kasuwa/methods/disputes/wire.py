"""Requests and replies of `PUT /payment` and `PUT /sandbox` about disputes. Contract: payment#disputes"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.methods.disputes.model import MAX_FILES, DisputeState, FileContent
from kasuwa.wire.fields import FREE_TEXT, Amount, Email, LagosDate, Phone, Reference, ShortText
from kasuwa.wire.paging import Paged

LongText = Annotated[str, Meta(max_length=5_000, description="at most 5,000 characters", extra=FREE_TEXT)]
FileName = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]
Reason = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]
Hours = Annotated[int, Meta(ge=1, le=2_160, description="1 to 2,160")]

# --- disputes and one dispute ---------------------------------------------------------------------------------------


class DisputesRequest(Paged, kw_only=True):
    """Lists disputes, newest first."""

    state: DisputeState | None = None
    "Lists only disputes in this state."
    txn_ref: Reference | None = field(name="txnRef", default=None)
    "Lists only disputes of this payment."


class DisputeRequest(msgspec.Struct, kw_only=True):
    """Reads one dispute with its evidence."""

    dispute_id: Reference
    "The dispute, by its `dispute_id`."


class DisputeSummary(msgspec.Struct, kw_only=True):
    """A dispute of a payment."""

    dispute_id: str
    "Reference of the dispute."
    txn_ref: str = field(name="txnRef")
    "The payment that is disputed."
    state: DisputeState
    """`needs_response`: answer it by `respond_by`; `under_review`: you sent evidence and the payer's bank decides;
    `won`: the money is yours again; `lost`, `accepted` (by you) and `expired` (no answer in time): the payer has it."""
    reason: str
    "The reason that the payer's bank gave."
    amount: str
    "The disputed amount, at most what was charged and not refunded."
    currency: str
    "Currency of the payment and of the amounts."
    fee: str
    "Fee of the dispute by your tariff. You pay it unless you win."
    vat: str
    "VAT on the fee."
    held: str
    "What is held in the wallet for it: amount, fee and VAT as far as they were covered. 0.00 after its end."
    respond_by: str
    "Time by which you must respond, in UTC."
    opened_at: str
    "Time at which it was opened, in UTC."
    ended_at: str | None
    "Time at which it ended, in UTC. Null while it is open."
    plan_id: str | None
    "The recurrent payment or installment plan that the payment was a charge of. It goes on: stop it if you should."


class DisputesReply(msgspec.Struct, kw_only=True):
    """One page of disputes."""

    status: Literal[200] = 200
    "200."
    data: list[DisputeSummary]
    "The disputes."
    total: int
    "How many disputes match."
    offset: int
    "The number of records skipped."
    limit: int
    "The largest number of records of a page."


class EvidenceFileLine(msgspec.Struct, kw_only=True):
    """A file of the evidence."""

    name: str
    "Its name, as it was sent. Empty if it was erased."
    media_type: str
    "`application/pdf`, `image/png` or `image/jpeg`, read from its content."
    size: int
    "Its size in bytes."


class EvidenceView(msgspec.Struct, kw_only=True):
    """The evidence that was sent."""

    explanation: str | None
    "Why the payment is valid, in your words."
    product_description: str | None
    "What was sold."
    customer_name: str | None
    "Name of the customer."
    customer_email: str | None
    "Email address of the customer."
    customer_phone: str | None
    "Telephone number of the customer."
    service_date: str | None
    "Day on which it was delivered or rendered."
    tracking_number: str | None
    "Number of the shipment."
    refund_policy: str | None
    "Your terms of refunds, as the customer saw them."
    files: list[EvidenceFileLine]
    "The files, in the order in which they were sent."


class DisputeStep(msgspec.Struct, kw_only=True):
    """One step in the life of a dispute."""

    at: str
    "Time of the step, in UTC."
    step: str
    "What happened: `opened`, `reminder`, or the state that it got."


class DisputeDetail(DisputeSummary, kw_only=True):
    """A dispute with its evidence and its steps."""

    responded_at: str | None
    "Time of your response, in UTC. Null if there was none."
    evidence: EvidenceView | None
    "The evidence that you sent. Null if there is none."
    timeline: list[DisputeStep]
    "Its steps so far, oldest first. An event was sent at each."


class DisputeReply(msgspec.Struct, kw_only=True):
    """The dispute."""

    status: Literal[200] = 200
    "200."
    data: DisputeDetail
    "The dispute."


# --- responding -----------------------------------------------------------------------------------------------------


class EvidenceFile(msgspec.Struct, kw_only=True):
    """A file of the evidence."""

    name: FileName
    "Name of the file, for people."
    content: FileContent
    "The file in base64: PDF, PNG or JPEG, at most 2 MiB. The type is read from the content."


class Evidence(msgspec.Struct, kw_only=True):
    """The evidence of a valid payment. Send at least one text or file."""

    explanation: LongText | None = None
    "Why the payment is valid, in your words."
    product_description: LongText | None = None
    "What was sold."
    customer_name: ShortText | None = None
    "Name of the customer."
    customer_email: Email | None = None
    "Email address of the customer."
    customer_phone: Phone | None = None
    "Telephone number of the customer."
    service_date: LagosDate | None = None
    "Day on which it was delivered or rendered."
    tracking_number: ShortText | None = None
    "Number of the shipment."
    refund_policy: LongText | None = None
    "Your terms of refunds, as the customer saw them."
    files: Annotated[list[EvidenceFile], Meta(max_length=MAX_FILES, description="at most 5 files")] | None = None
    "At most 5 files."


class RespondRequest(msgspec.Struct, kw_only=True):
    """Responds to a dispute, once: accepts it, or sends evidence against it. A body may have 15 MiB."""

    dispute_id: Reference
    "The dispute, by its `dispute_id`."
    accept: bool | None = None
    "True: the payer is right, and the amount with the fee is taken at once. Leave it out to send evidence."
    evidence: Evidence | None = None
    "Why the payer is wrong. The payer's bank decides on it."


class DisputeChanged(msgspec.Struct, kw_only=True):
    """The dispute after the request."""

    status: Literal[200] = 200
    "200: it was done."
    message: str
    "The outcome in words."
    data: DisputeSummary
    "The dispute."


# --- the sandbox ----------------------------------------------------------------------------------------------------


class OpenRequest(msgspec.Struct, kw_only=True):
    """Simulates that the payer's bank disputes a payment."""

    txn_ref: Reference = field(name="txnRef")
    "The payment. It must be successful."
    amount: Amount | None = None
    "The disputed amount, in the payment's currency. Default: all that was not refunded or disputed before."
    reason: Reason
    "The reason that the bank gives, such as `fraudulent` or `product not received`."
    hours: Hours | None = None
    "Hours until the deadline. Default 168."


class OutcomeRequest(msgspec.Struct, kw_only=True):
    """Simulates the decision of the payer's bank."""

    dispute_id: Reference
    "The dispute. One that has ended may be decided otherwise: a bank's last word counts."
    outcome: Literal["won", "lost"]
    "`won`: the bank decides for you; `lost`: for the payer."
