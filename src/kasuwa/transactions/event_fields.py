"""The fields that the payloads of all webhook events have. Contract: events#payload"""

from typing import Literal

import msgspec
from msgspec import field

# Why a virtual card declined a purchase, one code for each reason. Contract: virtualcard#declines
DeclineReason = Literal[
    "card_terminated",
    "card_blocked",
    "card_expired",
    "wrong_cvv",
    "currency_not_supported",
    "over_transaction_limit",
    "over_daily_limit",
    "over_monthly_limit",
    "category_not_allowed",
    "category_blocked",
    "merchant_not_allowed",
    "merchant_blocked",
    "country_not_allowed",
    "channel_not_allowed",
    "not_yet_valid",
    "no_longer_valid",
    "single_use_spent",
    "velocity_count",
    "velocity_amount",
    "over_client_limit",
    "insufficient_funds",
    "declined_by_merchant",
    "no_decision",
    "issuer_declined",
    "captured_too_much",
    "authorization_ended",
]


class EventPayload(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The fields of every event."""

    status: Literal[200]
    "Always 200, also for a failed transaction: `txnStatus` has the outcome."
    txn_status: Literal["pending", "successful", "failed"] = field(name="txnStatus")
    """The state of what the event is about. That of a transaction is final and never changes after the event; `pending`
    only in events of an invoice, of a transfer that waits for approval, of a loan that will be collected, or of an
    authorization of a virtual card."""
    txn_ref: str = field(name="txnRef")
    "Reference of the transaction, made by the service. Verify it before you act on the event."
    charged_amount: str = field(name="chargedAmount")
    """Of a payment, what the payer was charged; of others, the amount without fees. In major units of the currency;
    0.00 if the transaction failed."""
    payment_method: str = field(name="paymentMethod")
    """How the money moved: `card`, `token`, `account`, `ussd`, `phone`, `qrpay`, `bank_transfer`, `mobile_money`,
    `transfer`, `bill`, `refund`, `cashcode`, `virtual_card`, `wallet`, `bank` or `cash`; `checkout` for a checkout that
    was not paid; `invoice` in the event of an invoice, `loan` in that of a loan; `test` in a test event."""
    endpoint: Literal["test", "live"]
    "The environment that sent the event. Ignore events of the test environment in production."
    kind: str
    "The kind of the transaction. It decides which other fields the event has. Later versions may add kinds."
    currency: str
    "Currency of the amount, as its ISO 4217 code."


class TransactionEvent(EventPayload, kw_only=True, omit_defaults=True):
    """The fields of every event of a transaction."""
