"""What `PUT /payment` takes. Its replies are in wire_reply.py. (Contract: #fees, payment#charge)"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.core.documents import Document
from kasuwa.core.fields import (
    END,
    FREE_TEXT,
    AccountNumber,
    Amount,
    BankCode,
    CardNumber,
    Currency,
    Email,
    Otp,
    PercentOrAmount,
    Phone,
    Pin,
    Reference,
    ShortText,
)
from kasuwa.core.paging import PagedArray

Country = Annotated[str, Meta(pattern="^[A-Z]{2}" + END, max_length=2, description="a country as two capital letters")]
# A name, an IPv4 address or this machine's IPv6 one, in ASCII: an international name comes as browsers send it (xn--…).
HOST = r"([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?|\[::1\])"
PORT = r"(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4}))?"
# Neither spaces nor characters that control how text is shown.
REST = r"([/?#][^\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*)?"
Url = Annotated[
    str,
    Meta(
        pattern=f"^https?://{HOST}{PORT}{REST}{END}",
        max_length=2048,
        description="an http or https URL of at most 2,048 characters, its host in ASCII",
    ),
]
TwoDigits = Annotated[str, Meta(pattern="^[0-9]{2}" + END, max_length=2, description="two digits")]
Month = Annotated[str, Meta(pattern="^(0[1-9]|1[0-2])" + END, max_length=2, description="two digits, 01 to 12")]
SecurityCode = Annotated[str, Meta(pattern="^[0-9]{3,4}" + END, max_length=4, description="three or four digits")]
BeneficiaryName = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters", extra=FREE_TEXT)]
Bearer = Literal["merchant", "customer", "account"]


class User(msgspec.Struct, kw_only=True):
    """Who pays, as far as the merchant knows."""

    firstname: ShortText | None = None
    lastname: ShortText | None = None
    email: Email | None = None
    ip: ShortText | None = None
    fingerprint: ShortText | None = None


class Card(msgspec.Struct, kw_only=True):
    """A card as its holder gives it. CVV and PIN are never kept."""

    card_no: CardNumber
    expiry_month: Month
    expiry_year: TwoDigits
    ccv: SecurityCode
    pin: Pin | None = None


class Part(msgspec.Struct, kw_only=True):
    """One beneficiary's part: a percentage of what is settled, or a share of it as an amount."""

    ref_code: Reference
    percentage: PercentOrAmount | None = None
    share: Amount | None = None
    fixed: Amount | None = None


Split = Annotated[list[Part], Meta(min_length=1, max_length=50, description="at least one part, at most 50")]


class Recurrent(msgspec.Struct, kw_only=True):
    """When the next charges come: an hour (daily), an ISO weekday (weekly), a day (monthly). Left out, the frequency is
    monthly and the value that of the first charge. Contract: payment#recurrent"""

    frequency: Literal["daily", "weekly", "monthly"] | None = None
    value: Annotated[str, Meta(pattern="^[0-9]{1,2}" + END, max_length=2, description="one or two digits")] | None = (
        None
    )


class Installment(msgspec.Struct, kw_only=True):
    """Dates as DD-MM-YYYY with amounts that add up to `total`, or percentages of it that add up to 100."""

    payment_schedule: Annotated[dict[str, PercentOrAmount], Meta(max_length=366, description="at most 366 dates")]
    total: Amount


class PaymentFields(msgspec.Struct, kw_only=True):
    """The fields that every payment type shares. Types that cannot be charged again refuse the last three. `meta` is an
    object of the merchant's own: it is kept whole and shown again."""

    user: User | None = None
    country: Country | None = None
    currency: Currency | None = None
    customer_txnref: Reference | None = None
    redirect_url: Url | None = None
    meta: Document | None = None
    bearer: Bearer | None = None
    split: Split | None = None
    is_recurring: bool | None = None
    recurrent: Recurrent | None = None
    installment: Installment | None = None


class InitiateCard(PaymentFields, kw_only=True):
    """The first step of a card payment. `amount` may be absent where an instalment schedule says what is due."""

    card: Card
    amount: Amount | None = None


class ChargeCard(InitiateCard, kw_only=True):
    """The second step: the same body, the reference and the authentication that the first step asked for. What only
    this step brings counts as if the first had brought it."""

    txn_ref: Reference = field(name="txnRef")
    auth_type: Literal["PIN", "OTP", "3DSecure"] | None = None


class ChargeToken(PaymentFields, kw_only=True):
    """A saved card is charged again."""

    token: Reference
    amount: Amount | None = None


class Account(msgspec.Struct, kw_only=True):
    account_number: AccountNumber = field(name="accountnumber")
    bank_code: BankCode = field(name="bankcode")


class ChargeAccount(PaymentFields, kw_only=True):
    """A bank account is debited, after an OTP."""

    amount: Amount
    account: Account


class ChargeUssd(PaymentFields, kw_only=True):
    """The payer dials a code. The second of the two banks needs telephone and account."""

    amount: Amount
    bank: Literal["gtb", "zenith"]
    phonenumber: Phone | None = None
    accountnumber: AccountNumber | None = None


class ChargePhone(PaymentFields, kw_only=True):
    """The payer is prompted on the telephone."""

    amount: Amount
    phonenumber: Phone


class ChargeShown(PaymentFields, kw_only=True):
    """The payer is shown something: a QR code, or an account number to pay into."""

    amount: Amount
    business_name: ShortText | None = None


class ChargeMobileMoney(PaymentFields, kw_only=True):
    """`type` selects the provider: paga (or paga_connect), ghana, mpesa."""

    amount: Amount
    type: Literal["paga", "paga_connect", "ghana", "mpesa"]
    phonenumber: Phone | None = None
    network: ShortText | None = None


class ValidateRequest(msgspec.Struct, kw_only=True):
    """The code that the payer's bank sent. For account payments `validate` says "account"."""

    txn_ref: Reference = field(name="txnRef")
    otp: Otp
    validate: Literal["card", "account"] | None = None


class VerifyRequest(msgspec.Struct, kw_only=True):
    """A payment by the service's own reference or the merchant's; or a refund, also by its reference as `txnRef`."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    customer_txnref: Reference | None = None
    refund_ref: Reference | None = field(name="refundRef", default=None)


class RefundRequest(msgspec.Struct, kw_only=True):
    """All or a part of a payment goes back to the payer."""

    txn_ref: Reference = field(name="txnRef")
    amount: Amount
    comment: ShortText | None = None


class RecurrentRequest(msgspec.Struct, kw_only=True):
    """One recurrent payment; with `status` it is stopped or started."""

    id: Reference
    status: Literal["stop", "start"] | None = None


class PlansRequest(PagedArray, kw_only=True):
    """Recurrent payments, newest first. Contract: payment#recurrent"""


class InstallmentsRequest(PagedArray, kw_only=True):
    """Installment plans, newest first, or the one named; with `status` that one is changed.

    Contract: payment#installment
    """

    id: Reference | None = None
    status: Literal["resume", "pause", "cancel"] | None = None


class InstallmentRequest(msgspec.Struct, kw_only=True):
    """One installment plan is resumed, paused or cancelled, as `status` says."""

    id: Reference
    dry_run: bool | None = None


class ChargesRequest(msgspec.Struct, kw_only=True):
    """What a payment would cost: by the card's first six digits (or all of them), or by payment type."""

    amount: Amount
    card_no: Annotated[str, Meta(pattern="^[0-9]{6,19}" + END, max_length=19, description="6 to 19 digits")] | None = (
        None
    )
    type: Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"] | None = None
    country: Country | None = None
    currency: Currency | None = None
    bearer: Bearer | None = None


class ChargeableBanksRequest(msgspec.Struct):
    """Nothing more is asked."""


class PayAccountRequest(msgspec.Struct, kw_only=True):
    """A customer's bank transfer into an account that was shown, in the test environment."""

    account_number: AccountNumber = field(name="accountNumber")
    amount: Amount
    sender_name: ShortText | None = None


class BeneficiaryRequest(msgspec.Struct, kw_only=True):
    """Somebody who gets a part of split payments."""

    name: BeneficiaryName
    bank_code: BankCode = field(name="bankcode")
    account_number: AccountNumber = field(name="accountnumber")
