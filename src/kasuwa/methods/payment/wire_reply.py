"""What `PUT /payment` answers. One shape for every step: what does not apply is not there.

Contract: payment#charge
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

PaymentStatus = Literal["successful", "failed", "pending"]


class CardReply(msgspec.Struct, kw_only=True):
    """What may be shown of a card. `hash` is keyed: the same card of the same merchant has the same."""

    hash: str
    mask: str
    bin: str
    brand: str | None
    type: str | None
    issuer: str | None
    country: str | None


class PaymentReply(msgspec.Struct, kw_only=True):
    """200: `txnStatus` says how it ended, or pending. 202: the payer must act, and how."""

    status: Literal[200, 201, 202] = 200
    txn_ref: str = field(name="txnRef")
    txn_status: PaymentStatus | UnsetType = field(name="txnStatus", default=UNSET)
    message: str
    # What the payment was made for.
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
    # As the request had it, text or number.
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
    # As it came with the request.
    meta: dict[str, Any] | UnsetType = UNSET


class RefundLine(msgspec.Struct, kw_only=True):
    """One refund of a payment, whatever became of it."""

    refund_ref: str = field(name="refundRef")
    txn_status: PaymentStatus = field(name="txnStatus")
    amount: str
    message: str
    comment: str
    date_created: str = field(name="dateCreated")


class VerifyReply(msgspec.Struct, kw_only=True):
    """`chargedAmount` is a number here. While a payment is pending, the payer's next step is told as `charge` told it
    or, where its answer was lost, would have. `refunds` lists all refunds, newest first, failed ones too. Of a refund
    that was asked for by its own reference, `refundRef`, status, message and amount are the refund's, `txnRef` and the
    rest its payment's. Contract: payment#verify, payment#refund"""

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
    # What the payment was made for, what the merchant told with it, and how much that had no use for.
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


# What a pending payment's step and its verification tell alike.
STEP_FIELDS = (
    *("apply_auth", "auth_type", "validate", "auth_url", "ussd_code", "qr_code", "qr_image"),
    *("account_number", "account_name", "bank_name", "amount"),
)


class RefundReply(msgspec.Struct, kw_only=True):
    """One refund: its `amount`, and of its payment `refundedAmount`, what has gone back so far, and `refundableAmount`,
    what still may."""

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
    """A recurrent payment as it stands; `txnRef` is its newest charge, `paid` what all of them brought."""

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
    """`fee` is without VAT; the payer pays `total_charge`, the merchant gets `settled`."""

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
