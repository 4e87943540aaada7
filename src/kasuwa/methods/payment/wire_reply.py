"""Replies of `PUT /payment`. Every step has one format. Fields that do not apply are absent.

Contract: payment#charge
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

PaymentStatus = Literal["successful", "failed", "pending"]


class CardReply(msgspec.Struct, kw_only=True):
    """The card data that may be shown. `hash` is keyed: equal for the same card of the same merchant."""

    hash: str
    mask: str
    bin: str
    brand: str | None
    type: str | None
    issuer: str | None
    country: str | None


class PaymentReply(msgspec.Struct, kw_only=True):
    """Reply of every payment step.

    Status 200 has `txnStatus`. Status 201 is pending too: the rail's answer could not be read. Status 202 says what the
    payer must do.
    """

    status: Literal[200, 201, 202] = 200
    txn_ref: str = field(name="txnRef")
    txn_status: PaymentStatus | UnsetType = field(name="txnStatus", default=UNSET)
    message: str
    # The loan or savings account that the payment was made for.
    loan_id: str | UnsetType = UNSET
    savings_id: str | UnsetType = UNSET
    # The step that the payer must take.
    apply_auth: str | UnsetType = UNSET
    auth_type: str | UnsetType = UNSET
    validate: str | UnsetType = UNSET
    auth_url: str | UnsetType = field(name="authURL", default=UNSET)
    state: str | UnsetType = UNSET
    ussd_code: str | UnsetType = UNSET
    enrolment: bool | UnsetType = UNSET
    qr_code: str | UnsetType = UNSET
    qr_image: str | UnsetType = UNSET
    account_number: str | UnsetType = field(name="accountNumber", default=UNSET)
    account_name: str | UnsetType = field(name="accountName", default=UNSET)
    bank_name: str | UnsetType = field(name="bankName", default=UNSET)
    account_expires: int | UnsetType = field(name="accountExpires", default=UNSET)
    amount: str | int | float | UnsetType = UNSET
    expires: int | UnsetType = UNSET
    # The completed result.
    card_token: str | UnsetType = field(name="cardToken", default=UNSET)
    bank_message: str | UnsetType = UNSET
    fullname: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    charged_amount: str | UnsetType = field(name="chargedAmount", default=UNSET)
    fraud_status: str | UnsetType = field(name="fraudStatus", default=UNSET)
    card: CardReply | UnsetType = UNSET
    currency: str | UnsetType = UNSET
    payment_method: str | UnsetType = UNSET
    # As the request had it.
    meta: dict[str, Any] | UnsetType = UNSET


class RefundLine(msgspec.Struct, kw_only=True):
    """One refund of a payment, in any status."""

    refund_ref: str = field(name="refundRef")
    txn_status: PaymentStatus = field(name="txnStatus")
    amount: str
    message: str
    comment: str
    date_created: str = field(name="dateCreated")


class VerifyReply(msgspec.Struct, kw_only=True):
    """A payment as `verify` shows it. `chargedAmount` is a number here.

    A pending payment has the payer's next step, as `charge` returns it. `refunds` lists all refunds, newest first,
    failed ones too. If a refund was asked for, `refundRef`, status, message and amount are the refund's, and `txnRef`
    and the rest are its payment's. Contract: payment#verify, payment#refund
    """

    status: Literal[200] = 200
    txn_status: PaymentStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    customer_txnref: str | None
    message: str
    charged_amount: float = field(name="chargedAmount")
    currency: str
    payment_method: str
    fullname: str
    email: str
    bank_message: str
    fraud_status: str = field(name="fraudStatus")
    card: CardReply | UnsetType = UNSET
    card_token: str | UnsetType = field(name="cardToken", default=UNSET)
    refunded_amount: str | UnsetType = field(name="refundedAmount", default=UNSET)
    # The loan or savings account it was made for, the request's meta, and the amount that the account could not use.
    loan_id: str | UnsetType = UNSET
    savings_id: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET
    unapplied_amount: str | UnsetType = field(name="unappliedAmount", default=UNSET)
    refund_ref: str | UnsetType = field(name="refundRef", default=UNSET)
    refundable_amount: str | UnsetType = field(name="refundableAmount", default=UNSET)
    refunds: list[RefundLine] | UnsetType = UNSET
    # The step that the payer must take.
    apply_auth: str | UnsetType = UNSET
    auth_type: str | UnsetType = UNSET
    validate: str | UnsetType = UNSET
    auth_url: str | UnsetType = field(name="authURL", default=UNSET)
    ussd_code: str | UnsetType = UNSET
    qr_code: str | UnsetType = UNSET
    qr_image: str | UnsetType = UNSET
    account_number: str | UnsetType = field(name="accountNumber", default=UNSET)
    account_name: str | UnsetType = field(name="accountName", default=UNSET)
    bank_name: str | UnsetType = field(name="bankName", default=UNSET)
    amount: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET


# Fields of the payer's next step that PaymentReply and VerifyReply share.
STEP_FIELDS = (
    *("apply_auth", "auth_type", "validate", "auth_url", "ussd_code", "qr_code", "qr_image"),
    *("account_number", "account_name", "bank_name", "amount"),
)


class RefundReply(msgspec.Struct, kw_only=True):
    """One refund. `refundedAmount` and `refundableAmount` are of its payment: refunded so far, and still refundable."""

    status: Literal[200] = 200
    txn_ref: str = field(name="txnRef")
    refund_ref: str = field(name="refundRef")
    txn_status: PaymentStatus = field(name="txnStatus")
    amount: str
    currency: str
    refunded_amount: str = field(name="refundedAmount")
    refundable_amount: str = field(name="refundableAmount")
    message: str


class InboundReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    txn_status: PaymentStatus = field(name="txnStatus")
    txn_ref: str = field(name="txnRef")
    message: str


class BeneficiaryReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    ref_code: str


class RecurrentReply(msgspec.Struct, kw_only=True):
    """A recurrent payment. `txnRef` is its newest charge, `paid` the sum of all successful ones."""

    id: str
    state: str
    amount: str
    currency: str
    frequency: str
    value: str
    next_charge: str | None
    paid: str
    card_token: str = field(name="cardToken")
    txn_ref: str = field(name="txnRef")
    email: str
    date_created: str = field(name="dateCreated")


class RecurrentChanged(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: RecurrentReply


class InstallmentLine(msgspec.Struct, kw_only=True):
    date: str
    amount: str
    paid: bool


class InstallmentReply(msgspec.Struct, kw_only=True):
    id: str
    state: str
    total: str
    paid: str
    currency: str
    next_charge: str | None
    payment_schedule: list[InstallmentLine]
    card_token: str = field(name="cardToken")
    txn_ref: str = field(name="txnRef")
    email: str
    date_created: str = field(name="dateCreated")


class InstallmentChanged(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: InstallmentReply


class Charges(msgspec.Struct, kw_only=True):
    """The cost of a payment. `fee` excludes VAT. The payer pays `total_charge`, the merchant gets `settled`."""

    amount: str
    fee: str
    vat: str
    total_charge: str
    settled: str
    currency: str
    bearer: str


class ChargesReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: Charges


class ChargeableBank(msgspec.Struct, kw_only=True):
    bankname: str
    bankcode: str


class ChargeableBanksReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[ChargeableBank]
