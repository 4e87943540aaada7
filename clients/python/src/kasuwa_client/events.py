"""The events that the service sends to a merchant's endpoint.

Written by `python -m clients.generate` from the action tables of the service. Do not edit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal, Union

from kasuwa_client._result import Result, no_fields


class EventBase(Result):
    """The fields of every event whose signature is valid.

    The same event may arrive several times, and events may arrive out of order: remember the `event_id`s that you have
    handled, and ask `verify` for the state before you fulfill an order.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""

    @property
    def is_successful(self) -> bool:
        return self.txn_status == "successful"


@dataclass(frozen=True)
class PaymentEvent(EventBase):
    """A payment was completed or has failed, also one of a plan, a loan repayment or a savings deposit."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["payment"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    customer_txnref: str | None = None
    """Your reference of the payment, if the request had one."""
    loan_id: str | None = None
    """The loan that the payment repays. Absent for other payments."""
    savings_id: str | None = None
    """The savings account that the payment was deposited into. Absent for other payments."""
    checkout_ref: str | None = None
    """The checkout that the payment was an attempt to pay. If it failed, the payer may try again: the checkout has
    an event of its own. Absent for other payments.
    """
    account_reference: str | None = None
    """Your reference of the personalized account that received the money. Absent for other payments."""
    account: str | None = None
    """Number of the personalized account that received the money. Absent for other payments."""
    account_details: str | None = None
    """Name of the personalized account that received the money. Absent for other payments."""
    bankname: str | None = None
    """Bank of the personalized account that received the money. Absent for other payments."""
    unapplied_amount: Decimal | None = None
    """Part of the payment that its purpose could not use, such as what exceeds the debt of a loan, in major units.
    It can be refunded. Absent if everything was used.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "customer_txnref": "customer_txnref",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
        "account_reference": "accountReference",
        "account": "account",
        "account_details": "accountDetails",
        "bankname": "bankname",
        "unapplied_amount": "unappliedAmount",
    }


@dataclass(frozen=True)
class TransferEvent(EventBase):
    """A transfer was paid out or has failed, also the disbursement of a loan or a cash-out to a bank account."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["transfer"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    order_ref: str
    """Your reference of the transfer, or its `txnRef` if the request had none."""
    loan_id: str | None = None
    """The loan that the transfer disburses. Absent for other transfers."""
    group_loan_id: str | None = None
    """The loan of a group whose members' loans the transfer disburses. Absent for other transfers."""
    savings_id: str | None = None
    """The savings account that the transfer pays out. Absent for other transfers."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "order_ref": "orderRef",
        "loan_id": "loan_id",
        "group_loan_id": "group_loan_id",
        "savings_id": "savings_id",
    }


@dataclass(frozen=True)
class TransferApprovalEvent(EventBase):
    """A transfer waits for approval, or was approved, rejected, or not decided in time. It is not about the outcome
    of the transfer, which has an event of its own.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["transfer_approval"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    order_ref: str
    """Your reference of the transfer, or its `txnRef` if the request had none."""
    approval: Literal["approved", "expired", "rejected", "waiting"]
    """What became of the approval."""
    amount: Decimal
    """Amount of the transfer, in naira."""
    reasons: tuple[str, ...]
    """Why the transfer waits, or waited."""
    requested_by: str
    """The key or the person that made the transfer."""
    decided_by: str | None = None
    """The key or the person that approved or rejected it. Absent while it waits, and if it was not decided in time."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "order_ref": "orderRef",
        "approval": "approval",
        "amount": "amount",
        "reasons": "reasons",
        "requested_by": "requestedBy",
        "decided_by": "decidedBy",
    }


@dataclass(frozen=True)
class BillEvent(EventBase):
    """A bill was paid or has failed."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["bill"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    order_ref: str
    """Your reference of the bill, or its `txnRef` if the request had none."""
    commission: Decimal
    """Your commission on the bill, in major units of the currency; 0.00 if the bill failed."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "order_ref": "orderRef",
        "commission": "commission",
    }


@dataclass(frozen=True)
class RefundEvent(EventBase):
    """A refund of a payment was completed or has failed."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["refund"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    refund_of: str
    """The `txnRef` of the payment that is refunded."""
    loan_id: str | None = None
    """The loan that the refunded payment repaid. Absent for other payments."""
    savings_id: str | None = None
    """The savings account that the refunded payment was deposited into. Absent for other payments."""
    checkout_ref: str | None = None
    """The checkout that the refunded payment paid. Absent for other payments."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "refund_of": "refundOf",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
    }


@dataclass(frozen=True)
class CashcodeEvent(EventBase):
    """A cashcode was redeemed (`successful`), or has expired or was cancelled (`failed`). Its `txnRef` is the
    `orderRef` of the cashcode, unless the code cashes out a savings account.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["cashcode"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    order_ref: str | None = None
    """Your reference of the cashcode. Absent if the code cashes out a savings account."""
    savings_id: str | None = None
    """The savings account that the code cashes out. Absent for other cashcodes."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "order_ref": "orderRef",
        "savings_id": "savings_id",
    }


@dataclass(frozen=True)
class CardPurchaseEvent(EventBase):
    """A purchase with a virtual card was authorized or declined."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["card_purchase"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    reference: str
    """Reference of the virtual card."""
    decline_reason: (
        Literal[
            "authorization_ended",
            "captured_too_much",
            "card_blocked",
            "card_expired",
            "card_terminated",
            "category_blocked",
            "category_not_allowed",
            "channel_not_allowed",
            "country_not_allowed",
            "currency_not_supported",
            "declined_by_merchant",
            "insufficient_funds",
            "issuer_declined",
            "merchant_blocked",
            "merchant_not_allowed",
            "no_decision",
            "no_longer_valid",
            "not_yet_valid",
            "over_client_limit",
            "over_daily_limit",
            "over_monthly_limit",
            "over_transaction_limit",
            "single_use_spent",
            "velocity_amount",
            "velocity_count",
            "wrong_cvv",
        ]
        | None
    ) = None
    """Why the purchase was declined. Absent if it was not. Later versions may add reasons."""
    authorization_ref: str | None = None
    """The `txnRef` of the authorization that the purchase captured, or was declined to. Absent for other purchases."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "reference": "reference",
        "decline_reason": "declineReason",
        "authorization_ref": "authorizationRef",
    }


@dataclass(frozen=True)
class CardAuthorizationEvent(EventBase):
    """A shop's authorization of a virtual card was given or declined, or has ended. One event for each."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["card_authorization"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    reference: str
    """Reference of the virtual card."""
    amount: Decimal
    """The amount that the card holds, in its currency; of a declined one, what the shop asked for, in the shop's."""
    state: Literal["authorized", "captured", "declined", "expired", "reversed"]
    """`authorized`: the amount is held. `captured`: the purchase `purchaseRef` took it, in whole or in part.
    `reversed` by the shop, `expired`: nothing was taken.
    """
    purchase_ref: str | None = None
    """The `txnRef` of the purchase that captured it. Absent if none did."""
    decline_reason: (
        Literal[
            "authorization_ended",
            "captured_too_much",
            "card_blocked",
            "card_expired",
            "card_terminated",
            "category_blocked",
            "category_not_allowed",
            "channel_not_allowed",
            "country_not_allowed",
            "currency_not_supported",
            "declined_by_merchant",
            "insufficient_funds",
            "issuer_declined",
            "merchant_blocked",
            "merchant_not_allowed",
            "no_decision",
            "no_longer_valid",
            "not_yet_valid",
            "over_client_limit",
            "over_daily_limit",
            "over_monthly_limit",
            "over_transaction_limit",
            "single_use_spent",
            "velocity_amount",
            "velocity_count",
            "wrong_cvv",
        ]
        | None
    ) = None
    """Why the authorization was declined. Absent if it was not. Later versions may add reasons."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "reference": "reference",
        "amount": "amount",
        "state": "state",
        "purchase_ref": "purchaseRef",
        "decline_reason": "declineReason",
    }


@dataclass(frozen=True)
class CardRefundEvent(EventBase):
    """A purchase with a virtual card was refunded, in part or in full. Failed: a refund of its shop was declined."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["card_refund"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    reference: str
    """Reference of the virtual card."""
    refund_of: str
    """The `txnRef` of the purchase that is refunded."""
    dispute_id: str | None = None
    """The dispute that the cardholder has won with it. Absent if the shop refunded the purchase."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "reference": "reference",
        "refund_of": "refundOf",
        "dispute_id": "dispute_id",
    }


@dataclass(frozen=True)
class CardDisputeEvent(EventBase):
    """A dispute of a card purchase was filed, or has changed. One event for each."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the dispute: its `dispute_id`."""
    charged_amount: Decimal
    """What is disputed, in major units of the shop's currency."""
    payment_method: str
    """Always `virtual_card`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["card_dispute"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    reference: str
    """Reference of the virtual card."""
    dispute_of: str
    """The `txnRef` of the purchase that is disputed. The purchase itself stays `successful`, as `txnStatus` says."""
    state: Literal["closed", "lost", "submitted", "withdrawn", "won"]
    """The state of the dispute."""
    step: str
    """What happened: `submitted`, `reduced` by a refund of the shop, or the state that it got."""
    reason: str
    """The cardholder's reason."""
    credited: Decimal
    """What the card got, in its currency; 0.00 unless the dispute is won."""
    card_currency: str
    """Currency of the card."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "reference": "reference",
        "dispute_of": "disputeOf",
        "state": "state",
        "step": "step",
        "reason": "reason",
        "credited": "credited",
        "card_currency": "card_currency",
    }


@dataclass(frozen=True)
class RepaymentEvent(EventBase):
    """A loan was repaid from the wallet. A repayment by a payer has the event of its payment."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["repayment"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    loan_id: str
    """The loan that was repaid."""
    order_ref: str | None = None
    """Reference of the repayment. Absent if the request had a `customer_txnref`."""
    customer_txnref: str | None = None
    """Your reference of the repayment, if the request had one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "loan_id": "loan_id",
        "order_ref": "orderRef",
        "customer_txnref": "customer_txnref",
    }


@dataclass(frozen=True)
class SavingsMovementEvent(EventBase):
    """Money moved between a savings account and the wallet, or was paid in or out as cash. Deposits by a payer have
    the event of their payment; cash-outs to a bank account that of their transfer.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["cashout", "deposit"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    savings_id: str
    """The savings account."""
    customer_txnref: str | None = None
    """Your reference of the movement, if the request had one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "savings_id": "savings_id",
        "customer_txnref": "customer_txnref",
    }


@dataclass(frozen=True)
class FixedDepositEvent(EventBase):
    """A term of a fixed deposit has ended. One event for each term. Its `txnRef` is the `savings_id`. What is taken
    out has events of its own.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `savings_id`."""
    charged_amount: Decimal
    """Interest less tax that was posted with the event, in naira; 0.00 if the wallet did not cover it yet."""
    payment_method: str
    """Always `wallet`, which pays the interest."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["fixed_deposit"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    savings_id: str
    """The fixed deposit."""
    client_id: str
    """The client who saves."""
    step: Literal["matured", "rolled_over"]
    """`matured`: it earns nothing any more. `rolled_over`: a new term has begun."""
    term: int
    """Number of the term that has ended, counted from 1."""
    interest: Decimal
    """Interest that was due at the end of the term, before tax, in naira."""
    tax: Decimal
    """Tax on that interest, in naira."""
    balance: Decimal
    """Balance after the event, in naira, held money included."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "savings_id": "savings_id",
        "client_id": "client_id",
        "step": "step",
        "term": "term",
        "interest": "interest",
        "tax": "tax",
        "balance": "balance",
    }


@dataclass(frozen=True)
class SavingsEvent(EventBase):
    """Interest was posted on a savings account, or the account has matured. One event for both if they come
    together. Its `txnRef` is the `savings_id`. Interest that is posted as a term of a fixed deposit ends is in
    the event of that term.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `savings_id`."""
    charged_amount: Decimal
    """Interest less tax that was posted with the event, in naira; 0.00 if none was due, or the wallet did not cover
    it.
    """
    payment_method: str
    """Always `wallet`, which pays the interest."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["savings"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    savings_id: str
    """The savings account."""
    client_id: str
    """The client who saves."""
    step: Literal["interest_posted", "matured"]
    """`matured`: it earns nothing any more. The last interest comes with it, or later as `interest_posted`."""
    interest: Decimal
    """Interest that was due, before tax, in naira."""
    tax: Decimal
    """Tax on that interest, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "savings_id": "savings_id",
        "client_id": "client_id",
        "step": "step",
        "interest": "interest",
        "tax": "tax",
    }


@dataclass(frozen=True)
class ThriftPayoutEvent(EventBase):
    """A member of a thrift plan received the pot of a cycle. Its `txnRef` is the `thrift_id`. What a member who was
    short pays later is in the statement of the recipient's savings.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `thrift_id`."""
    charged_amount: Decimal
    """The pot that was paid out, the recipient's own contribution included, in naira."""
    payment_method: str
    """Always `wallet`: the money moves within the books."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["thrift_payout"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    thrift_id: str
    """The thrift plan."""
    savings_id: str
    """The savings account that received the pot."""
    client_id: str
    """The client who received it."""
    cycle: int
    """Number of the cycle, counted from 1, which is also the member's position."""
    cycles: int
    """Number of all cycles of the plan. With the last one the plan is completed."""
    owed: Decimal
    """What members who were short owe to the recipient for this cycle, in naira."""
    repaid: str
    """Thrift debts of the recipient that were repaid out of the pot, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "thrift_id": "thrift_id",
        "savings_id": "savings_id",
        "client_id": "client_id",
        "cycle": "cycle",
        "cycles": "cycles",
        "owed": "owed",
        "repaid": "repaid",
    }


@dataclass(frozen=True)
class HeldDepositEvent(EventBase):
    """A deposit arrived above the limits of its client's tier and is held, or was released or sent back. One event
    for each. The payment that brought it has an event of its own.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `txnRef` of the payment."""
    charged_amount: Decimal
    """The amount that is held, in naira."""
    payment_method: str
    """Always `wallet`: the money moves within the books."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["held_deposit"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    client_id: str
    """The client."""
    step: Literal["held", "released", "returned"]
    """`released`: the savings or your wallet have it. `returned`: a refund sends it back, with an event of its own."""
    reason: str
    """The limit that it was above, in words."""
    held_until: str
    """When it goes back unless the client's tier rises before, in UTC."""
    savings_id: str | None = None
    """The savings account that it is for. Absent if it came into a personalized account of the client."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "savings_id": "savings_id",
        "client_id": "client_id",
        "step": "step",
        "reason": "reason",
        "held_until": "held_until",
    }


@dataclass(frozen=True)
class DividendEvent(EventBase):
    """A dividend was declared, or every member has it. One event for each; what each member got is in the statement
    of their savings.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `dividend_id`."""
    charged_amount: Decimal
    """Sum of the dividends that were paid, before tax, in naira; 0.00 when it was declared."""
    payment_method: str
    """Always `wallet`, which pays the dividend."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["dividend"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    class_id: str
    """The class of shares."""
    step: Literal["declared", "paid"]
    """`declared`: the sum has left the wallet. `paid`: every member has the dividend."""
    rate: str
    """Dividend in percent of the price of the shares."""
    record_date: dt.date
    """The day at whose end the shares were counted, as YYYY-MM-DD."""
    members: int
    """Number of members who get a dividend."""
    gross: Decimal
    """Sum of all dividends before tax, in naira."""
    withheld_tax: Decimal
    """Tax that was withheld, in naira; 0.00 when it was declared."""
    returned: Decimal
    """Sum of the dividends of members whose savings account has closed, in naira. It is back in the wallet."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "class_id": "class_id",
        "step": "step",
        "rate": "rate",
        "record_date": "record_date",
        "members": "members",
        "gross": "gross",
        "withheld_tax": "withheld_tax",
        "returned": "returned",
    }


@dataclass(frozen=True)
class ShareRedemptionEvent(EventBase):
    """A redemption of shares waits for approval, or was approved, rejected, or not decided in time."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `redemption_id`."""
    charged_amount: Decimal
    """What was paid into the member's savings account, in naira; 0.00 unless it was approved."""
    payment_method: str
    """Always `wallet`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["share_redemption"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    class_id: str
    """The class of shares."""
    client_id: str
    """The member."""
    shares: int
    """Number of shares."""
    amount: Decimal
    """What the shares are paid out for, in naira."""
    approval: Literal["approved", "expired", "rejected", "waiting"]
    """What became of the redemption."""
    requested_by: str
    """The key or the person that asked for it."""
    decided_by: str | None = None
    """The key or the person that approved or rejected it. Absent while it waits, and if it was not decided in time."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "class_id": "class_id",
        "client_id": "client_id",
        "shares": "shares",
        "amount": "amount",
        "approval": "approval",
        "requested_by": "requestedBy",
        "decided_by": "decidedBy",
    }


@dataclass(frozen=True)
class ReactivationEvent(EventBase):
    """The reactivation of a dormant savings account waits for approval, or was approved or rejected."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `savings_id`."""
    charged_amount: Decimal
    """Always `0.00`: no money moves."""
    payment_method: str
    """Always `wallet`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["reactivation"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    savings_id: str
    """The savings account."""
    client_id: str
    """The client who saves."""
    approval: Literal["approved", "rejected", "waiting"]
    """What became of the reactivation."""
    reason: str
    """The reason that was given."""
    requested_by: str
    """The key or the person that asked for it."""
    decided_by: str | None = None
    """The key or the person that approved or rejected it. Absent while it waits."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "savings_id": "savings_id",
        "client_id": "client_id",
        "approval": "approval",
        "reason": "reason",
        "requested_by": "requestedBy",
        "decided_by": "decidedBy",
    }


@dataclass(frozen=True)
class LoanProductEvent(EventBase):
    """A loan product was created, changed for new loans, or closed. `txnRef` is the `product_id`."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Always `0.00`: no money moved."""
    payment_method: str
    """Always `loan`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["loan_product"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    product_id: str
    """The product."""
    code: str
    """Your code of the product."""
    name: str
    """What the product is called."""
    step: Literal["changed", "closed", "created"]
    """What happened."""
    state: str
    """State of the product after the step."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "product_id": "product_id",
        "code": "code",
        "name": "name",
        "step": "step",
        "state": "state",
    }


@dataclass(frozen=True)
class StandingOrderEvent(EventBase):
    """A standing order could not pay, gave a date up, or has ended. A payment that it made has the event of the
    deposit or repayment, with its `order_id` as `customer_txnref`.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `order_id`."""
    charged_amount: Decimal
    """Always `0.00`: nothing was paid."""
    payment_method: str
    """Always `savings`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["standing_order"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    client_id: str
    """The client whose savings pay."""
    savings_id: str
    """The savings account that pays."""
    target: str
    """What is paid: a `savings_id`, `loan_id` or `thrift_id`."""
    step: Literal["ended", "failed", "missed"]
    """`failed`: it is tried again on `next_date`. `missed`: that payment is given up, and `next_date` is the next
    one. `ended`: it pays no more.
    """
    amount: Decimal
    """Amount of each payment, in naira."""
    reason: str
    """Why it failed or ended, in words."""
    next_date: dt.date | None = None
    """Day of the next attempt, as YYYY-MM-DD. Absent if it has ended."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "client_id": "client_id",
        "savings_id": "savings_id",
        "target": "to",
        "step": "step",
        "amount": "amount",
        "reason": "reason",
        "next_date": "next_date",
    }


@dataclass(frozen=True)
class DisputeEvent(EventBase):
    """A payment is disputed, the time to respond runs out, or a dispute has changed its state. One event for each."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the dispute: its `dispute_id`."""
    charged_amount: Decimal
    """The disputed amount, in major units of the currency."""
    payment_method: str
    """Payment type of the disputed payment."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["dispute"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    dispute_of: str
    """The `txnRef` of the payment that is disputed. The payment itself stays `successful`, as `txnStatus` says."""
    state: Literal["accepted", "expired", "lost", "needs_response", "under_review", "won"]
    """The state of the dispute."""
    step: str
    """What happened: `opened`, `reminder` (48 and 12 hours before the deadline), or the state that it got."""
    reason: str
    """The reason that the payer's bank gave."""
    fee: Decimal
    """Fee of the dispute, which you pay unless you win."""
    vat: Decimal
    """VAT on the fee."""
    respond_by: dt.datetime
    """Time by which you must respond, in UTC."""
    plan_id: str | None = None
    """The recurrent payment or installment plan that the payment was a charge of. Absent for other payments."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "dispute_of": "disputeOf",
        "state": "state",
        "step": "step",
        "reason": "reason",
        "fee": "fee",
        "vat": "vat",
        "respond_by": "respond_by",
        "plan_id": "plan_id",
    }


@dataclass(frozen=True)
class SettlementEvent(EventBase):
    """Collected money reached the wallet on its settlement day, was released from the reserve, or was paid out. If
    daily events are on, also: a day with a settlement has ended.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `settlement_id`; of a payout, the `txnRef` of its transfer."""
    charged_amount: Decimal
    """The amount that moved, in major units of the currency. If the step is `closed`, the `net` of the settlement:
    with a minus sign if the day took more from the wallet than it brought, and 0.00 if the two are equal.
    """
    payment_method: str
    """`wallet` if it is about the wallet, `bank` if it was paid out to your bank account."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["settlement"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    settlement_id: str
    """The settlement of the day, with all its lines: `inquire` it."""
    step: Literal["closed", "paid_out", "released", "settled"]
    """`settled`: to the wallet; `released`: from the reserve; `paid_out`: to your bank account, by a transfer;
    `closed`: the day has ended, and its settlement does not change any more.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "settlement_id": "settlement_id",
        "step": "step",
    }


@dataclass(frozen=True)
class CheckoutEvent(EventBase):
    """A checkout was paid (`successful`), or its time is over (`failed`). Its payment has an event of its own, and
    so has each attempt that failed.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["checkout"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    source: str
    """What the checkout was opened for: `checkout` (by the API), `link`, `ticket` or `invoice`."""
    source_id: str | None = None
    """Identifier of the link or other source. Absent if the API opened the checkout."""
    payment_ref: str | None = None
    """The `txnRef` of the payment that succeeded. Absent if none did."""
    customer_txnref: str | None = None
    """Your reference of the checkout, if the request had one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "source": "source",
        "source_id": "source_id",
        "payment_ref": "paymentRef",
        "customer_txnref": "customer_txnref",
    }


@dataclass(frozen=True)
class PaymentRejectedEvent(EventBase):
    """A payer's transfer for a payment was sent back, for instance because the sum was wrong. Nothing was booked.
    Its `txnRef` is its own. The payment stays as it is: it waits for the right transfer until it expires.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["payment_rejected"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    payment_ref: str
    """The `txnRef` of the payment that the transfer was meant for."""
    expected_amount: str
    """Amount that the payer must transfer, in major units of the currency."""
    customer_txnref: str | None = None
    """Your reference of the payment, if the request had one."""
    rejected_amount: str | None = None
    """Amount that the payer transferred, in major units. Absent if the bank did not say."""
    reason: str | None = None
    """The bank's word for the reason, such as `UNDER_PAYMENT`. Absent if it gave none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "payment_ref": "paymentRef",
        "customer_txnref": "customer_txnref",
        "expected_amount": "expectedAmount",
        "rejected_amount": "rejectedAmount",
        "reason": "reason",
    }


@dataclass(frozen=True)
class ReversalEvent(EventBase):
    """A bank or vendor contradicts the end of a transaction, and the operator has booked it: one that was successful
    was taken back, or one that failed was paid after all. Its `txnRef` is its own. The transaction itself stays
    as it is, and so do its fees.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["reversal"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    reversal_of: str
    """The `txnRef` of the transfer, bill, refund or payment."""
    direction: Literal["credit", "debit"]
    """`credit`: the amount of a transfer, bill or refund is yours again. `debit`: that of a payment, or of a
    transfer, bill or refund that was paid after all, was taken from your wallet.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "reversal_of": "reversalOf",
        "direction": "direction",
    }


@dataclass(frozen=True)
class AccountClosedEvent(EventBase):
    """A personalized account was closed at its bank. It is no transaction: `txnRef` names the account at the bank."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["account_closed"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    account_reference: str
    """Your reference of the personalized account."""
    account: str
    """Number of the account that was closed."""
    account_details: str
    """Name of the account."""
    bankname: str
    """Bank of the account."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "account_reference": "accountReference",
        "account": "account",
        "account_details": "accountDetails",
        "bankname": "bankname",
    }


@dataclass(frozen=True)
class InvoiceEvent(EventBase):
    """An invoice was made, changed, paid in part or in full, voided, or became overdue. The payments of an invoice
    have events of their own. `txnRef` is the `invoice_id`; `txnStatus` is `successful` once the invoice is paid
    in full, `failed` if it is void, else `pending`; `chargedAmount` is what was paid so far.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["invoice"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    invoice_id: str
    """The invoice."""
    number: str
    """Number of the invoice."""
    customer_id: str
    """The customer."""
    invoice_status: Literal["overdue", "paid", "partly_paid", "unpaid", "void"]
    """State of the invoice after the event."""
    total: Decimal
    """What is to be paid in all, in major units."""
    outstanding: Decimal
    """What is left to pay, in major units."""
    payment_ref: str | None = None
    """The `txnRef` of the payment that led to the event. Absent if none did."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "invoice_id": "invoice_id",
        "number": "number",
        "customer_id": "customer_id",
        "invoice_status": "invoiceStatus",
        "total": "total",
        "outstanding": "outstanding",
        "payment_ref": "paymentRef",
    }


@dataclass(frozen=True)
class LoanEvent(EventBase):
    """A loan became late, was charged or something of it was waived; a repayment of it was reversed or counted
    again; it was written off, whole or in part, or a write-off waits or was rejected; its guarantees were called;
    or it was rescheduled, or repaid by a new loan. Repayments have events of their own. `txnRef` is the
    `loan_id`.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """The amount of the step, in major units: what is late, what was reversed or counted again, charged, waived,
    what was or would be written off, what guarantors or a new loan paid, or the principal that was rescheduled.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["loan"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    loan_id: str
    """The loan."""
    client_id: str
    """The borrower."""
    step: Literal[
        "charged",
        "guarantee_called",
        "guarantor_waived",
        "late",
        "partly_written_off",
        "repayment_reinstated",
        "repayment_reversed",
        "rescheduled",
        "topped_up",
        "waived",
        "write_off_rejected",
        "write_off_waiting",
        "written_off",
    ]
    """What happened. `repayment_reversed`: by you, by a lost dispute, or by its rail; `repayment_reinstated`: the
    dispute was won in the end, and the repayment counts again; `guarantee_called`: guarantors paid out of their
    savings; `guarantor_waived`: one waived that; `topped_up`: a new loan, which `repayment_ref` paid out, repaid
    it.
    """
    state: str
    """State of the loan after the step."""
    outstanding: Decimal
    """What is owed after the step by the schedule, in major units. 0.00 once the loan is closed."""
    repayment_ref: str | None = None
    """The `txnRef` of the repayment that the step is about. Absent for others."""
    reason: str | None = None
    """Why a repayment was reversed, or is to be written off. Absent for other steps."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "loan_id": "loan_id",
        "client_id": "client_id",
        "step": "step",
        "state": "state",
        "outstanding": "outstanding",
        "repayment_ref": "repaymentRef",
        "reason": "reason",
    }


@dataclass(frozen=True)
class GroupEvent(EventBase):
    """A group of borrowers was made or changed, its loan was requested or processed, or a meeting has collected.
    Disbursements and repayments have events of their own.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `group_id`."""
    charged_amount: Decimal
    """The sum of the loans that were requested, approved, rejected or cancelled, or of what was collected, in naira.
    0.00 for other steps. Whether a loan was paid out is in the event of its transfer.
    """
    payment_method: str
    """Always `group`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["group"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    group_id: str
    """The group."""
    step: Literal[
        "closed",
        "collected",
        "created",
        "leader_changed",
        "loan_approved",
        "loan_cancelled",
        "loan_rejected",
        "loan_requested",
        "member_joined",
        "member_left",
        "renamed",
    ]
    """The thing that happened."""
    state: Literal["active", "closed"]
    """State of the group after the step."""
    members: int
    """Number of its members after the step."""
    client_id: str | None = None
    """The client who joined, left or leads it now. Absent for other steps."""
    group_loan_id: str | None = None
    """The loan of the group. Absent for steps that are about none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "group_id": "group_id",
        "step": "step",
        "state": "state",
        "members": "members",
        "client_id": "client_id",
        "group_loan_id": "group_loan_id",
    }


@dataclass(frozen=True)
class LoanDueEvent(EventBase):
    """A loan falls due and will be collected. The event comes a day before, or at once if that is over."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `auto_repay_id`."""
    charged_amount: Decimal
    """Always `0.00`: nothing was collected yet."""
    payment_method: str
    """Where the money comes from: `token`, `savings` or `wallet`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["loan_due"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    loan_id: str
    """The loan."""
    client_id: str
    """The client who borrows, and is to be told."""
    amount: Decimal
    """What is or was due, in naira."""
    date: str
    """Day on which it will be collected, as YYYY-MM-DD. What is paid before is not collected."""
    next_date: dt.date | None = None
    """Day of what comes next, as YYYY-MM-DD. Absent if nothing does."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "loan_id": "loan_id",
        "client_id": "client_id",
        "amount": "amount",
        "next_date": "next_date",
        "date": "date",
    }


@dataclass(frozen=True)
class LoanCollectedEvent(EventBase):
    """A loan was collected. The repayment has an event of its own, with the `auto_repay_id` as its
    `customer_txnref`.
    """

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `auto_repay_id`."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """Where the money comes from: `token`, `savings` or `wallet`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["loan_collected"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    loan_id: str
    """The loan."""
    client_id: str
    """The client who borrows, and is to be told."""
    amount: Decimal
    """What is or was due, in naira."""
    date: str
    """Day that was collected, as YYYY-MM-DD."""
    repayment_ref: str
    """The `txnRef` of the repayment."""
    state: str
    """State of the loan with the repayment."""
    outstanding: Decimal
    """What is owed with the repayment by the schedule, in naira. 0.00 once the loan is closed."""
    next_date: dt.date | None = None
    """Day of what comes next, as YYYY-MM-DD. Absent if nothing does."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "loan_id": "loan_id",
        "client_id": "client_id",
        "amount": "amount",
        "next_date": "next_date",
        "date": "date",
        "repayment_ref": "repaymentRef",
        "state": "state",
        "outstanding": "outstanding",
    }


@dataclass(frozen=True)
class LoanCollectionFailedEvent(EventBase):
    """A loan could not be collected, or a repayment that was collected was taken back."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """The `auto_repay_id`."""
    charged_amount: Decimal
    """Always `0.00`: nothing was collected."""
    payment_method: str
    """Where the money comes from: `token`, `savings` or `wallet`."""
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["loan_collection_failed"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    loan_id: str
    """The loan."""
    client_id: str
    """The client who borrows, and is to be told."""
    amount: Decimal
    """What is or was due, in naira."""
    step: Literal["failed", "missed", "paused"]
    """`failed`: it is tried again on `next_date`. `missed`: that day is given up, and what is due is collected with
    the next due date. `paused`: nothing is collected until you send `auto_repay` again.
    """
    reason: str
    """Why: `card_declined`, `card_refused`, `card_erased`, `savings_short`, `savings_held`, `savings_dormant`,
    `savings_closed`, `wallet_short` or `repayment_reversed`.
    """
    message: str
    """The same in words, of a card as its bank said it."""
    next_date: dt.date | None = None
    """Day of what comes next, as YYYY-MM-DD. Absent if nothing does."""
    date: str | None = None
    """Day that was to be collected, as YYYY-MM-DD. Absent if a repayment was taken back."""
    repayment_ref: str | None = None
    """The `txnRef` of the charge that failed, or of the repayment that was taken back. Absent if there is none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
        "loan_id": "loan_id",
        "client_id": "client_id",
        "amount": "amount",
        "next_date": "next_date",
        "step": "step",
        "reason": "reason",
        "message": "message",
        "date": "date",
        "repayment_ref": "repaymentRef",
    }


@dataclass(frozen=True)
class EndpointTestEvent(EventBase):
    """A merchant sent a test event to its own endpoint from the console. There is no transaction."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    kind: Literal["test"]
    """The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "kind": "kind",
        "currency": "currency",
    }


@dataclass(frozen=True)
class UnknownEvent(EventBase):
    """An event of a kind that this version of the client does not know. `raw` has all of its fields."""

    event_id: str | None
    """The same for every delivery of an event. None if the delivery has no `webhook-id`."""
    sent_at: dt.datetime | None
    """The time of this delivery. None if it has no `webhook-timestamp`."""
    status: int
    """Always 200, also for a failed transaction: `txnStatus` has the outcome."""
    txn_status: Literal["failed", "pending", "successful"]
    """The state of what the event is about. That of a transaction is final and never changes after the event;
    `pending` only in events of an invoice, of a transfer that waits for approval, of a loan that will be
    collected, or of an authorization of a virtual card.
    """
    txn_ref: str
    """Reference of the transaction, made by the service. Verify it before you act on the event."""
    charged_amount: Decimal
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed.
    """
    payment_method: str
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a
    checkout that was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test
    event.
    """
    endpoint: Literal["live", "test"]
    """The environment that sent the event. Ignore events of the test environment in production."""
    currency: str
    """Currency of the amount, as its ISO 4217 code."""
    sent_kind: str | None = None
    """The kind as it was sent. None in events of versions that sent none."""
    kind: Literal["unknown"] = "unknown"
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "charged_amount": "chargedAmount",
        "payment_method": "paymentMethod",
        "endpoint": "endpoint",
        "sent_kind": "kind",
        "currency": "currency",
    }


# An event, typed by its kind: `isinstance(event, TransferEvent)`, or `event.kind == "transfer"`, tells which.
Event = Union[
    PaymentEvent,
    TransferEvent,
    TransferApprovalEvent,
    BillEvent,
    RefundEvent,
    CashcodeEvent,
    CardPurchaseEvent,
    CardAuthorizationEvent,
    CardRefundEvent,
    CardDisputeEvent,
    RepaymentEvent,
    SavingsMovementEvent,
    FixedDepositEvent,
    SavingsEvent,
    ThriftPayoutEvent,
    HeldDepositEvent,
    DividendEvent,
    ShareRedemptionEvent,
    ReactivationEvent,
    LoanProductEvent,
    StandingOrderEvent,
    DisputeEvent,
    SettlementEvent,
    CheckoutEvent,
    PaymentRejectedEvent,
    ReversalEvent,
    AccountClosedEvent,
    InvoiceEvent,
    LoanEvent,
    GroupEvent,
    LoanDueEvent,
    LoanCollectedEvent,
    LoanCollectionFailedEvent,
    EndpointTestEvent,
    UnknownEvent,
]

# The class of each kind. Other kinds are an UnknownEvent.
EVENT_KINDS: Mapping[str, type[Event]] = {
    "payment": PaymentEvent,
    "transfer": TransferEvent,
    "transfer_approval": TransferApprovalEvent,
    "bill": BillEvent,
    "refund": RefundEvent,
    "cashcode": CashcodeEvent,
    "card_purchase": CardPurchaseEvent,
    "card_authorization": CardAuthorizationEvent,
    "card_refund": CardRefundEvent,
    "card_dispute": CardDisputeEvent,
    "repayment": RepaymentEvent,
    "deposit": SavingsMovementEvent,
    "cashout": SavingsMovementEvent,
    "fixed_deposit": FixedDepositEvent,
    "savings": SavingsEvent,
    "thrift_payout": ThriftPayoutEvent,
    "held_deposit": HeldDepositEvent,
    "dividend": DividendEvent,
    "share_redemption": ShareRedemptionEvent,
    "reactivation": ReactivationEvent,
    "loan_product": LoanProductEvent,
    "standing_order": StandingOrderEvent,
    "dispute": DisputeEvent,
    "settlement": SettlementEvent,
    "checkout": CheckoutEvent,
    "payment_rejected": PaymentRejectedEvent,
    "reversal": ReversalEvent,
    "account_closed": AccountClosedEvent,
    "invoice": InvoiceEvent,
    "loan": LoanEvent,
    "group": GroupEvent,
    "loan_due": LoanDueEvent,
    "loan_collected": LoanCollectedEvent,
    "loan_collection_failed": LoanCollectionFailedEvent,
    "test": EndpointTestEvent,
}
