"""Requests of `PUT /payment`, and of `resources` and `sandbox` about payments. Replies are in wire_reply.py.

Contract: #fees, payment#told
"""

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
# A host name, an IPv4 address or [::1], in ASCII. International names are given as browsers send them (xn--…).
HOST = r"([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?|\[::1\])"
PORT = r"(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4}))?"
# No spaces and no control or formatting characters.
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
    """The payer, as far as the merchant knows. Contract: payment#payer"""

    firstname: ShortText | None = None
    lastname: ShortText | None = None
    email: Email | None = None
    ip: ShortText | None = None
    fingerprint: ShortText | None = None


class Card(msgspec.Struct, kw_only=True):
    """A card as its holder enters it. CVV and PIN are never stored."""

    card_no: CardNumber
    expiry_month: Month
    expiry_year: TwoDigits
    ccv: SecurityCode
    pin: Pin | None = None


class Part(msgspec.Struct, kw_only=True):
    """One beneficiary's part: a percentage of the settled amount, or an amount (`share`, or its synonym `fixed`)."""

    ref_code: Reference
    percentage: PercentOrAmount | None = None
    share: Amount | None = None
    fixed: Amount | None = None


Split = Annotated[list[Part], Meta(min_length=1, max_length=50, description="at least one part, at most 50")]


class Recurrent(msgspec.Struct, kw_only=True):
    """The recurrence of a payment. `value` is an hour (daily), an ISO weekday (weekly) or a day of the month (monthly).

    By default the frequency is monthly and the value that of the first charge. Contract: payment#recurrent
    """

    frequency: Literal["daily", "weekly", "monthly"] | None = None
    value: Annotated[str, Meta(pattern="^[0-9]{1,2}" + END, max_length=2, description="one or two digits")] | None = (
        None
    )


class Installment(msgspec.Struct, kw_only=True):
    """An installment schedule: dates as DD-MM-YYYY with amounts that add up to `total`, or percentages of it."""

    payment_schedule: Annotated[dict[str, PercentOrAmount], Meta(max_length=366, description="at most 366 dates")]
    total: Amount


class PaymentFields(msgspec.Struct, kw_only=True):
    """Fields that every payment request has. Contract: payment#told"""

    user: User | None = None
    country: Country | None = None
    currency: Currency | None = None
    customer_txnref: Reference | None = None
    redirect_url: Url | None = None
    # An object of the merchant's own, stored and returned unchanged.
    meta: Document | None = None
    bearer: Bearer | None = None
    split: Split | None = None
    # Methods that cannot be charged again refuse these three.
    is_recurring: bool | None = None
    recurrent: Recurrent | None = None
    installment: Installment | None = None


class InitiateCard(PaymentFields, kw_only=True):
    """The first step of a card payment. `amount` may be absent if an installment schedule says what is due."""

    card: Card
    amount: Amount | None = None


class ChargeCard(InitiateCard, kw_only=True):
    """The second step: the same body with the reference and the authentication that the first step asked for.

    Fields that only this step has count as if the first had them. Contract: payment#charge-late-fields
    """

    txn_ref: Reference = field(name="txnRef")
    auth_type: Literal["PIN", "OTP", "3DSecure"] | None = None


class ChargeToken(PaymentFields, kw_only=True):
    """Charges a saved card."""

    token: Reference
    amount: Amount | None = None


class Account(msgspec.Struct, kw_only=True):
    account_number: AccountNumber = field(name="accountnumber")
    bank_code: BankCode = field(name="bankcode")


class ChargeAccount(PaymentFields, kw_only=True):
    """Debits a bank account after an OTP."""

    amount: Amount
    account: Account


class ChargeUssd(PaymentFields, kw_only=True):
    """Returns a code that the payer dials. Zenith requires phone and account number."""

    amount: Amount
    bank: Literal["gtb", "zenith"]
    phonenumber: Phone | None = None
    accountnumber: AccountNumber | None = None


class ChargePhone(PaymentFields, kw_only=True):
    """Prompts the payer on the phone."""

    amount: Amount
    phonenumber: Phone


class ChargeShown(PaymentFields, kw_only=True):
    """Returns what the payer is shown: a QR code, or an account number to pay into."""

    amount: Amount
    business_name: ShortText | None = None


class ChargeMobileMoney(PaymentFields, kw_only=True):
    """Charges mobile money. `type` is the provider: paga (or paga_connect), ghana, mpesa."""

    amount: Amount
    type: Literal["paga", "paga_connect", "ghana", "mpesa"]
    phonenumber: Phone | None = None
    network: ShortText | None = None


class ValidateRequest(msgspec.Struct, kw_only=True):
    """Submits the OTP that the payer's bank sent. For account payments `validate` is "account"."""

    txn_ref: Reference = field(name="txnRef")
    otp: Otp
    validate: Literal["card", "account"] | None = None


class VerifyRequest(msgspec.Struct, kw_only=True):
    """Asks for a payment by our or the merchant's reference, or for a refund by `refundRef` or `txnRef`."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    customer_txnref: Reference | None = None
    refund_ref: Reference | None = field(name="refundRef", default=None)


class RefundRequest(msgspec.Struct, kw_only=True):
    """Refunds a payment or a part of it."""

    txn_ref: Reference = field(name="txnRef")
    amount: Amount
    comment: ShortText | None = None


class RecurrentRequest(msgspec.Struct, kw_only=True):
    """Reads one recurrent payment. With `status` it is stopped or started."""

    id: Reference
    status: Literal["stop", "start"] | None = None


class PlansRequest(PagedArray, kw_only=True):
    """Lists recurrent payments, newest first. Contract: payment#recurrent"""


class InstallmentsRequest(PagedArray, kw_only=True):
    """Lists installment plans, newest first, or reads the one named. With `status` that one is changed.

    Contract: payment#installment
    """

    id: Reference | None = None
    status: Literal["resume", "pause", "cancel"] | None = None


class InstallmentRequest(msgspec.Struct, kw_only=True):
    """Resumes, pauses or cancels one installment plan. The action's variant `status` says which."""

    id: Reference
    dry_run: bool | None = None


class ChargesRequest(msgspec.Struct, kw_only=True):
    """Asks what a payment would cost, by payment type or by a card's first six digits (or all of them)."""

    amount: Amount
    card_no: Annotated[str, Meta(pattern="^[0-9]{6,19}" + END, max_length=19, description="6 to 19 digits")] | None = (
        None
    )
    type: Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"] | None = None
    country: Country | None = None
    currency: Currency | None = None
    bearer: Bearer | None = None


class ChargeableBanksRequest(msgspec.Struct):
    """Lists the banks whose accounts can be debited."""


class PayAccountRequest(msgspec.Struct, kw_only=True):
    """Simulates a customer's bank transfer into an account number, in the test environment."""

    account_number: AccountNumber = field(name="accountNumber")
    amount: Amount
    sender_name: ShortText | None = None


class BeneficiaryRequest(msgspec.Struct, kw_only=True):
    """Adds a payee of split payments."""

    name: BeneficiaryName
    bank_code: BankCode = field(name="bankcode")
    account_number: AccountNumber = field(name="accountnumber")
