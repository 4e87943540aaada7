"""The payloads of webhook events: one struct per kind of transaction or object. Contract: events#payload

`end_transaction` builds them. The OpenAPI documents and the generated clients describe events by these structs. `kind`
tells them apart on the wire.
"""

from typing import Any, Final, Literal

import msgspec
from msgspec import field

from kasuwa.transactions.collection_events import (
    GroupEvent,
    LoanCollectedEvent,
    LoanCollectionFailedEvent,
    LoanDueEvent,
)
from kasuwa.transactions.event_fields import DeclineReason, EventPayload, TransactionEvent
from kasuwa.transactions.savings_events import (
    DividendEvent,
    FixedDepositEvent,
    HeldDepositEvent,
    ReactivationEvent,
    SavingsEvent,
    ShareRedemptionEvent,
    ThriftPayoutEvent,
)


class PaymentEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A payment was completed or has failed, also one of a plan, a loan repayment or a savings deposit."""

    kind: Literal["payment"]
    customer_txnref: str | None = None
    "Your reference of the payment, if the request had one."
    loan_id: str | None = None
    "The loan that the payment repays. Absent for other payments."
    savings_id: str | None = None
    "The savings account that the payment was deposited into. Absent for other payments."
    checkout_ref: str | None = field(name="checkoutRef", default=None)
    """The checkout that the payment was an attempt to pay. If it failed, the payer may try again: the checkout has an
    event of its own. Absent for other payments."""
    account_reference: str | None = field(name="accountReference", default=None)
    "Your reference of the personalized account that received the money. Absent for other payments."
    account: str | None = None
    "Number of the personalized account that received the money. Absent for other payments."
    account_details: str | None = field(name="accountDetails", default=None)
    "Name of the personalized account that received the money. Absent for other payments."
    bankname: str | None = None
    "Bank of the personalized account that received the money. Absent for other payments."
    unapplied_amount: str | None = field(name="unappliedAmount", default=None)
    """Part of the payment that its purpose could not use, such as what exceeds the debt of a loan, in major units. It
    can be refunded. Absent if everything was used."""


class TransferEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A transfer was paid out or has failed, also the disbursement of a loan or a cash-out to a bank account."""

    kind: Literal["transfer"]
    order_ref: str = field(name="orderRef")
    "Your reference of the transfer, or its `txnRef` if the request had none."
    loan_id: str | None = None
    "The loan that the transfer disburses. Absent for other transfers."
    group_loan_id: str | None = None
    "The loan of a group whose members' loans the transfer disburses. Absent for other transfers."
    savings_id: str | None = None
    "The savings account that the transfer pays out. Absent for other transfers."


class TransferApprovalEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A transfer waits for approval, or was approved, rejected, or not decided in time. It is not about the outcome of
    the transfer, which has an event of its own."""

    kind: Literal["transfer_approval"]
    order_ref: str = field(name="orderRef")
    "Your reference of the transfer, or its `txnRef` if the request had none."
    approval: Literal["waiting", "approved", "rejected", "expired"]
    "What became of the approval."
    amount: str
    "Amount of the transfer, in naira."
    reasons: list[str]
    "Why the transfer waits, or waited."
    requested_by: str = field(name="requestedBy")
    "The key or the person that made the transfer."
    decided_by: str | None = field(name="decidedBy", default=None)
    "The key or the person that approved or rejected it. Absent while it waits, and if it was not decided in time."


class BillEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A bill was paid or has failed."""

    kind: Literal["bill"]
    order_ref: str = field(name="orderRef")
    "Your reference of the bill, or its `txnRef` if the request had none."
    commission: str
    "Your commission on the bill, in major units of the currency; 0.00 if the bill failed."


class RefundEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A refund of a payment was completed or has failed."""

    kind: Literal["refund"]
    refund_of: str = field(name="refundOf")
    "The `txnRef` of the payment that is refunded."
    loan_id: str | None = None
    "The loan that the refunded payment repaid. Absent for other payments."
    savings_id: str | None = None
    "The savings account that the refunded payment was deposited into. Absent for other payments."
    checkout_ref: str | None = field(name="checkoutRef", default=None)
    "The checkout that the refunded payment paid. Absent for other payments."


class CashcodeEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A cashcode was redeemed (`successful`), or has expired or was cancelled (`failed`).

    Its `txnRef` is the `orderRef` of the cashcode, unless the code cashes out a savings account.
    """

    kind: Literal["cashcode"]
    order_ref: str | None = field(name="orderRef", default=None)
    "Your reference of the cashcode. Absent if the code cashes out a savings account."
    savings_id: str | None = None
    "The savings account that the code cashes out. Absent for other cashcodes."


class CardPurchaseEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A purchase with a virtual card was authorized or declined."""

    kind: Literal["card_purchase"]
    reference: str
    "Reference of the virtual card."
    decline_reason: DeclineReason | None = field(name="declineReason", default=None)
    "Why the purchase was declined. Absent if it was not. Later versions may add reasons."
    authorization_ref: str | None = field(name="authorizationRef", default=None)
    "The `txnRef` of the authorization that the purchase captured, or was declined to. Absent for other purchases."


class CardAuthorizationEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A shop's authorization of a virtual card was given or declined, or has ended. One event for each."""

    kind: Literal["card_authorization"]
    reference: str
    "Reference of the virtual card."
    amount: str
    "The amount that the card holds, in its currency; of a declined one, what the shop asked for, in the shop's."
    state: Literal["authorized", "declined", "captured", "reversed", "expired"]
    """`authorized`: the amount is held. `captured`: the purchase `purchaseRef` took it, in whole or in part. `reversed`
    by the shop, `expired`: nothing was taken."""
    purchase_ref: str | None = field(name="purchaseRef", default=None)
    "The `txnRef` of the purchase that captured it. Absent if none did."
    decline_reason: DeclineReason | None = field(name="declineReason", default=None)
    "Why the authorization was declined. Absent if it was not. Later versions may add reasons."


class CardRefundEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A purchase with a virtual card was refunded, in part or in full. Failed: a refund of its shop was declined."""

    kind: Literal["card_refund"]
    reference: str
    "Reference of the virtual card."
    refund_of: str = field(name="refundOf")
    "The `txnRef` of the purchase that is refunded."
    dispute_id: str | None = None
    "The dispute that the cardholder has won with it. Absent if the shop refunded the purchase."


class CardDisputeEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A dispute of a card purchase was filed, or has changed. One event for each."""

    kind: Literal["card_dispute"]
    txn_ref: str = field(name="txnRef")
    "Reference of the dispute: its `dispute_id`."
    charged_amount: str = field(name="chargedAmount")
    "What is disputed, in major units of the shop's currency."
    payment_method: str = field(name="paymentMethod")
    "Always `virtual_card`."
    reference: str
    "Reference of the virtual card."
    dispute_of: str = field(name="disputeOf")
    "The `txnRef` of the purchase that is disputed. The purchase itself stays `successful`, as `txnStatus` says."
    state: Literal["submitted", "won", "lost", "withdrawn", "closed"]
    "The state of the dispute."
    step: str
    "What happened: `submitted`, `reduced` by a refund of the shop, or the state that it got."
    reason: str
    "The cardholder's reason."
    credited: str
    "What the card got, in its currency; 0.00 unless the dispute is won."
    card_currency: str
    "Currency of the card."


class RepaymentEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A loan was repaid from the wallet. A repayment by a payer has the event of its payment."""

    kind: Literal["repayment"]
    loan_id: str
    "The loan that was repaid."
    order_ref: str | None = field(name="orderRef", default=None)
    "Reference of the repayment. Absent if the request had a `customer_txnref`."
    customer_txnref: str | None = None
    "Your reference of the repayment, if the request had one."


class SavingsMovementEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """Money moved between a savings account and the wallet, or was paid in or out as cash.

    Deposits by a payer have the event of their payment; cash-outs to a bank account that of their transfer.
    """

    kind: Literal["deposit", "cashout"]
    savings_id: str
    "The savings account."
    customer_txnref: str | None = None
    "Your reference of the movement, if the request had one."


class StandingOrderEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A standing order could not pay, gave a date up, or has ended. A payment that it made has the event of the deposit
    or repayment, with its `order_id` as `customer_txnref`."""

    kind: Literal["standing_order"]
    txn_ref: str = field(name="txnRef")
    "The `order_id`."
    charged_amount: str = field(name="chargedAmount")
    "Always `0.00`: nothing was paid."
    payment_method: str = field(name="paymentMethod")
    "Always `savings`."
    client_id: str
    "The client whose savings pay."
    savings_id: str
    "The savings account that pays."
    target: str = field(name="to")
    "What is paid: a `savings_id`, `loan_id` or `thrift_id`."
    step: Literal["failed", "missed", "ended"]
    """`failed`: it is tried again on `next_date`. `missed`: that payment is given up, and `next_date` is the next one.
    `ended`: it pays no more."""
    amount: str
    "Amount of each payment, in naira."
    reason: str
    "Why it failed or ended, in words."
    next_date: str | None = None
    "Day of the next attempt, as YYYY-MM-DD. Absent if it has ended."


class DisputeEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A payment is disputed, the time to respond runs out, or a dispute has changed its state. One event for each."""

    kind: Literal["dispute"]
    txn_ref: str = field(name="txnRef")
    "Reference of the dispute: its `dispute_id`."
    charged_amount: str = field(name="chargedAmount")
    "The disputed amount, in major units of the currency."
    payment_method: str = field(name="paymentMethod")
    "Payment type of the disputed payment."
    dispute_of: str = field(name="disputeOf")
    "The `txnRef` of the payment that is disputed. The payment itself stays `successful`, as `txnStatus` says."
    state: Literal["needs_response", "under_review", "won", "lost", "accepted", "expired"]
    "The state of the dispute."
    step: str
    "What happened: `opened`, `reminder` (48 and 12 hours before the deadline), or the state that it got."
    reason: str
    "The reason that the payer's bank gave."
    fee: str
    "Fee of the dispute, which you pay unless you win."
    vat: str
    "VAT on the fee."
    respond_by: str
    "Time by which you must respond, in UTC."
    plan_id: str | None = None
    "The recurrent payment or installment plan that the payment was a charge of. Absent for other payments."


class SettlementEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """Collected money reached the wallet on its settlement day, was released from the reserve, or was paid out. If
    daily events are on, also: a day with a settlement has ended."""

    kind: Literal["settlement"]
    txn_ref: str = field(name="txnRef")
    "The `settlement_id`; of a payout, the `txnRef` of its transfer."
    charged_amount: str = field(name="chargedAmount")
    """The amount that moved, in major units of the currency. If the step is `closed`, the `net` of the settlement: with
    a minus sign if the day took more from the wallet than it brought, and 0.00 if the two are equal."""
    payment_method: str = field(name="paymentMethod")
    "`wallet` if it is about the wallet, `bank` if it was paid out to your bank account."
    settlement_id: str
    "The settlement of the day, with all its lines: `inquire` it."
    step: Literal["settled", "released", "paid_out", "closed"]
    """`settled`: to the wallet; `released`: from the reserve; `paid_out`: to your bank account, by a transfer;
    `closed`: the day has ended, and its settlement does not change any more."""


class CheckoutEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A checkout was paid (`successful`), or its time is over (`failed`).

    Its payment has an event of its own, and so has each attempt that failed.
    """

    kind: Literal["checkout"]
    source: str
    "What the checkout was opened for: `checkout` (by the API), `link`, `ticket` or `invoice`."
    source_id: str | None = None
    "Identifier of the link or other source. Absent if the API opened the checkout."
    payment_ref: str | None = field(name="paymentRef", default=None)
    "The `txnRef` of the payment that succeeded. Absent if none did."
    customer_txnref: str | None = None
    "Your reference of the checkout, if the request had one."


class PaymentRejectedEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A payer's transfer for a payment was sent back, for instance because the sum was wrong. Nothing was booked.

    Its `txnRef` is its own. The payment stays as it is: it waits for the right transfer until it expires.
    """

    kind: Literal["payment_rejected"]
    payment_ref: str = field(name="paymentRef")
    "The `txnRef` of the payment that the transfer was meant for."
    customer_txnref: str | None = None
    "Your reference of the payment, if the request had one."
    expected_amount: str = field(name="expectedAmount")
    "Amount that the payer must transfer, in major units of the currency."
    rejected_amount: str | None = field(name="rejectedAmount", default=None)
    "Amount that the payer transferred, in major units. Absent if the bank did not say."
    reason: str | None = None
    "The bank's word for the reason, such as `UNDER_PAYMENT`. Absent if it gave none."


class ReversalEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A bank or vendor contradicts the end of a transaction, and the operator has booked it: one that was successful
    was taken back, or one that failed was paid after all.

    Its `txnRef` is its own. The transaction itself stays as it is, and so do its fees.
    """

    kind: Literal["reversal"]
    reversal_of: str = field(name="reversalOf")
    "The `txnRef` of the transfer, bill, refund or payment."
    direction: Literal["credit", "debit"]
    """`credit`: the amount of a transfer, bill or refund is yours again. `debit`: that of a payment, or of a transfer,
    bill or refund that was paid after all, was taken from your wallet."""


class AccountClosedEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A personalized account was closed at its bank. It is no transaction: `txnRef` names the account at the bank."""

    kind: Literal["account_closed"]
    account_reference: str = field(name="accountReference")
    "Your reference of the personalized account."
    account: str
    "Number of the account that was closed."
    account_details: str = field(name="accountDetails")
    "Name of the account."
    bankname: str
    "Bank of the account."


class InvoiceEvent(EventPayload, kw_only=True, omit_defaults=True):
    """An invoice was made, changed, paid in part or in full, voided, or became overdue.

    The payments of an invoice have events of their own. `txnRef` is the `invoice_id`; `txnStatus` is `successful` once
    the invoice is paid in full, `failed` if it is void, else `pending`; `chargedAmount` is what was paid so far.
    """

    kind: Literal["invoice"]
    invoice_id: str
    "The invoice."
    number: str
    "Number of the invoice."
    customer_id: str
    "The customer."
    invoice_status: Literal["unpaid", "partly_paid", "paid", "overdue", "void"] = field(name="invoiceStatus")
    "State of the invoice after the event."
    total: str
    "What is to be paid in all, in major units."
    outstanding: str
    "What is left to pay, in major units."
    payment_ref: str | None = field(name="paymentRef", default=None)
    "The `txnRef` of the payment that led to the event. Absent if none did."


class LoanEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A loan became late, was charged or something of it was waived; a repayment of it was reversed or counted again;
    it was written off, whole or in part, or a write-off waits or was rejected; its guarantees were called; or it was
    rescheduled, or repaid by a new loan.
    Repayments have events of their own. `txnRef` is the `loan_id`."""

    kind: Literal["loan"]
    charged_amount: str = field(name="chargedAmount")
    """The amount of the step, in major units: what is late, what was reversed or counted again, charged, waived,
    what was or would be written off, what guarantors or a new loan paid, or the principal that was rescheduled."""
    loan_id: str
    "The loan."
    client_id: str
    "The borrower."
    step: Literal[
        "late",
        "repayment_reversed",
        "repayment_reinstated",
        "written_off",
        "partly_written_off",
        "write_off_waiting",
        "write_off_rejected",
        "guarantee_called",
        "guarantor_waived",
        "charged",
        "waived",
        "rescheduled",
        "topped_up",
    ]
    """What happened. `repayment_reversed`: by you, by a lost dispute, or by its rail; `repayment_reinstated`: the
    dispute was won in the end, and the repayment counts again; `guarantee_called`: guarantors paid out of their
    savings; `guarantor_waived`: one waived that; `topped_up`: a new loan, which `repayment_ref` paid out, repaid it."""
    state: str
    "State of the loan after the step."
    outstanding: str
    "What is owed after the step by the schedule, in major units. 0.00 once the loan is closed."
    repayment_ref: str | None = field(name="repaymentRef", default=None)
    "The `txnRef` of the repayment that the step is about. Absent for others."
    reason: str | None = None
    "Why a repayment was reversed, or is to be written off. Absent for other steps."


class LoanProductEvent(TransactionEvent, kw_only=True, omit_defaults=True):
    """A loan product was created, changed for new loans, or closed. `txnRef` is the `product_id`."""

    kind: Literal["loan_product"]
    charged_amount: str = field(name="chargedAmount")
    "Always `0.00`: no money moved."
    payment_method: str = field(name="paymentMethod")
    "Always `loan`."
    product_id: str
    "The product."
    code: str
    "Your code of the product."
    name: str
    "What the product is called."
    step: Literal["created", "changed", "closed"]
    "What happened."
    state: str
    "State of the product after the step."


class EndpointTestEvent(EventPayload, kw_only=True, omit_defaults=True):
    """A merchant sent a test event to its own endpoint from the console. There is no transaction."""

    kind: Literal["test"]


class CardDecisionRequest(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Asks whether a purchase with a virtual card is approved. It is signed as events are, and answered at once."""

    id: str
    "Identifier of the request, also its header `webhook-id`. The card's record has it as `decision.id`."
    kind: Literal["card_decision"]
    "Always `card_decision`."
    endpoint: Literal["test", "live"]
    "The environment that asks."
    operation: Literal["purchase", "authorization"]
    "`purchase`: the amount is taken at once. `authorization`: it is held, and captured later."
    reference: str
    "Reference of the virtual card."
    amount: str
    "What the card is to pay, in its currency, in major units."
    currency: str
    "Currency of the card, as its ISO 4217 code."
    shop_amount: str
    "The amount in the currency of the shop, in major units."
    shop_currency: str
    "Currency of the shop, as its ISO 4217 code."
    merchant_name: str
    "Name of the shop. Empty if it is not known."
    merchant_id: str | None = None
    "Identifier of the shop in the card network. Absent if it is not known."
    category: str | None = None
    "Merchant category code (MCC) of the shop. Absent if it is not known."
    country: str | None = None
    "Country of the shop. Absent if it is not known."
    channel: str
    "How the card is used: `online`, `contactless` or `atm`."
    asked_at: str
    "Time of the request, in UTC."


class EventKind(msgspec.Struct, frozen=True):
    """A kind of event: its payload and what it reports."""

    payload: type[EventPayload]
    summary: str


TEST_EVENT: Final = "test"

# By the kind of the transaction, which the log of events shows as `kind`.
EVENT_KINDS: dict[str, EventKind] = {
    "payment": EventKind(PaymentEvent, "A payment is final"),
    "transfer": EventKind(TransferEvent, "A transfer is final"),
    "transfer_approval": EventKind(TransferApprovalEvent, "A transfer waits for approval, or was decided"),
    "bill": EventKind(BillEvent, "A bill payment is final"),
    "refund": EventKind(RefundEvent, "A refund of a payment is final"),
    "cashcode": EventKind(CashcodeEvent, "A cashcode was redeemed, cancelled, or has expired"),
    "card_purchase": EventKind(CardPurchaseEvent, "A purchase with a virtual card was authorized or declined"),
    "card_authorization": EventKind(
        CardAuthorizationEvent, "An authorization of a virtual card was given or declined, or has ended"
    ),
    "card_refund": EventKind(CardRefundEvent, "A purchase with a virtual card was refunded, or a refund declined"),
    "card_dispute": EventKind(CardDisputeEvent, "A dispute of a card purchase was filed, or has changed"),
    "repayment": EventKind(RepaymentEvent, "A loan was repaid from the wallet"),
    "deposit": EventKind(SavingsMovementEvent, "A savings account was credited from the wallet or in cash"),
    "fixed_deposit": EventKind(FixedDepositEvent, "A term of a fixed deposit has ended"),
    "savings": EventKind(SavingsEvent, "Interest was posted on a savings account, or it has matured"),
    "thrift_payout": EventKind(ThriftPayoutEvent, "A member of a thrift plan received the pot"),
    "held_deposit": EventKind(HeldDepositEvent, "A deposit above a client's limits is held, or is over"),
    "dividend": EventKind(DividendEvent, "A dividend on shares was declared, or every member has it"),
    "share_redemption": EventKind(ShareRedemptionEvent, "A redemption of shares waits, or was decided"),
    "reactivation": EventKind(ReactivationEvent, "A reactivation of dormant savings waits, or was decided"),
    "loan_product": EventKind(LoanProductEvent, "A loan product was created, changed or closed"),
    "standing_order": EventKind(StandingOrderEvent, "A standing order could not pay, or has ended"),
    "dispute": EventKind(DisputeEvent, "A dispute of a payment was opened, is due soon, or has changed its state"),
    "settlement": EventKind(SettlementEvent, "Collected money was settled, released or paid out, or its day has ended"),
    "checkout": EventKind(CheckoutEvent, "A checkout was paid, or has expired"),
    "cashout": EventKind(SavingsMovementEvent, "A savings account was cashed out to the wallet or in cash"),
    "payment_rejected": EventKind(PaymentRejectedEvent, "A payer's transfer for a payment was sent back"),
    "reversal": EventKind(ReversalEvent, "A successful transaction was taken back by its rail"),
    "account_closed": EventKind(AccountClosedEvent, "A personalized account was closed at its bank"),
    "invoice": EventKind(InvoiceEvent, "An invoice was made, paid, voided, or became overdue"),
    "loan": EventKind(LoanEvent, "A loan became late, or a repayment of it was reversed"),
    "group": EventKind(GroupEvent, "A group of borrowers was changed, or a meeting of it has collected"),
    "loan_due": EventKind(LoanDueEvent, "What is due of a loan will be collected"),
    "loan_collected": EventKind(LoanCollectedEvent, "What was due of a loan was collected"),
    "loan_collection_failed": EventKind(LoanCollectionFailedEvent, "What was due of a loan could not be collected"),
}


def build_event(kind: str, fields: dict[str, Any]) -> EventPayload:
    """Returns the payload of an event of this kind. `fields` are those of its struct, by their Python names."""
    return EVENT_KINDS[kind].payload(kind=kind, **fields)


def build_test_event(environment: Any) -> EndpointTestEvent:
    """Returns the event that a merchant sends to its own endpoint from the console."""
    return EndpointTestEvent(
        status=200,
        txn_status="successful",
        txn_ref="TEST",
        charged_amount="0.00",
        payment_method="test",
        endpoint=environment,
        currency="NGN",
        kind=TEST_EVENT,
    )
