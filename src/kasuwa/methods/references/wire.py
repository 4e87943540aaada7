"""The request and reply of `resources` that find anything by its reference. Contract: resources#transaction"""

from typing import Literal

import msgspec
from msgspec import field

from kasuwa.wire.fields import Reference


class TransactionRequest(msgspec.Struct, kw_only=True):
    """Finds anything that has a reference, whoever gave it."""

    reference: Reference
    """A reference of ours or of yours: `txnRef`, `orderRef`, `customer_txnref`, `refundRef`, `batchRef`, an event id,
    the code of a cashcode, or the id of a loan, savings account, thrift plan, card, saved card, payment plan,
    beneficiary, client, customer, personalized account, dispute (of a payment or of a card purchase), group of
    borrowers, loan of such a group, loan product (also its code) or settlement."""


class RelatedReference(msgspec.Struct, kw_only=True):
    """Something that belongs to what was found."""

    kind: str
    "Its kind, such as `refund`, `payment`, `batch`, `loan`, `group_loan`, `client` or `customer`."
    reference: str
    "Its reference, which `transaction` takes."
    state: str | None
    "Its state. Null if that is not known here."


class TimelineLine(msgspec.Struct, kw_only=True):
    """One step in the life of what was found."""

    at: str
    "Time of the step, in UTC."
    step: str
    "What happened: `requested`, `created`, a state, or the kind of a transaction."
    message: str
    "The message of the step, or the reference of the transaction. May be empty."


class FoundRecord(msgspec.Struct, kw_only=True):
    """Anything that has a reference, in one shape. Fields that it does not have are null."""

    kind: str
    """A kind of transaction, or `batch`, `loan`, `savings`, `thrift_plan`, `virtual_card`, `saved_card`, `plan`,
    `beneficiary`, `personalized_account`, `client`, `customer`, `dispute`, `card_dispute`, `settlement`, `checkout`,
    `link`, `invoice`, `group`, `group_loan`, `loan_product`."""
    reference: str
    "Reference of the service: the `txnRef` of a transaction, the id of anything else."
    order_ref: str | None = field(name="orderRef")
    "Your own reference."
    state: str
    """Its state: of a transaction `pending`, `processing`, `successful` or `failed`. Of a batch and of the loan of a
    group `accepted`: what belongs to it has states of its own."""
    message: str | None
    "Last message about a transaction."
    currency: str | None
    "Currency of the amounts."
    amount: str | None
    """Amount of a transaction or dispute, principal of a loan, sum of a batch or of the loans of a group, net of a
    settlement, or present balance of savings and cards."""
    fee: str | None
    "Fee of a transaction. Zero if it failed."
    vat: str | None
    "VAT on the fee. Zero if the transaction failed."
    duty: str | None
    "Stamp duty. Zero if the transaction failed."
    method: str | None
    "Payment type of a payment."
    date_created: str = field(name="dateCreated")
    "Time of creation, in UTC."
    date_ended: str | None = field(name="dateEnded")
    "Time at which a transaction became final, in UTC."
    related: list[RelatedReference]
    "What belongs to it, the newest 20 of each kind."
    timeline: list[TimelineLine]
    "Its steps, oldest first, the newest 100."


class TransactionReply(msgspec.Struct, kw_only=True):
    """The object that has the reference."""

    status: Literal[200] = 200
    "200: there is such a reference."
    data: FoundRecord
    "What has it. If several things have the same reference: a transaction first, of those the newest."
