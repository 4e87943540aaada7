"""Requests of `PUT /payment`, and of `resources` and `sandbox` about payments. Replies are in wire_reply.py.

Contract: #fees, payment#told
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.transactions.schedule import COUNT_REASON, MAX_INSTALLMENTS
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import (
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
from kasuwa.wire.paging import PagedArray

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
    "First name of the payer. First and last name together are `fullname` in replies."
    lastname: ShortText | None = None
    "Last name of the payer."
    email: Email | None = None
    "Email address of the payer, returned as `email`."
    ip: ShortText | None = None
    "IP address of the payer. Kept with the payment; `verify` and lists do not show it."
    fingerprint: ShortText | None = None
    "Fingerprint of the payer's device. Kept with the payment; `verify` and lists do not show it."


class Card(msgspec.Struct, kw_only=True):
    """A card as its holder enters it. CVV and PIN are never stored."""

    card_no: CardNumber
    "Number of the card."
    expiry_month: Month
    "Month in which the card expires. It is valid until the end of that month."
    expiry_year: TwoDigits
    "Last two digits of the year in which the card expires."
    ccv: SecurityCode
    "Security code of the card (CVV). Never stored. In the test environment it selects the authentication."
    pin: Pin | None = None
    "PIN of the card. Required by `charge` if `apply_auth` is `PIN`. Never stored."


class Part(msgspec.Struct, kw_only=True):
    """One beneficiary's part: a percentage of the settled amount, or an amount (`share`, or its synonym `fixed`)."""

    ref_code: Reference
    "The beneficiary, by the code that it was registered under."
    percentage: PercentOrAmount | None = None
    "Percentage of the settled amount, above 0 and at most 100. Either this or `share` is required."
    share: Amount | None = None
    "Fixed amount in the currency of the payment."
    fixed: Amount | None = None
    "Another name of `share`, which counts if both are sent."


Split = Annotated[list[Part], Meta(min_length=1, max_length=50, description="at least one part, at most 50")]


class Recurrent(msgspec.Struct, kw_only=True):
    """The recurrence of a payment. `value` is an hour (daily), an ISO weekday (weekly) or a day of the month (monthly).

    By default the frequency is monthly and the value that of the first charge. Contract: payment#recurrent
    """

    frequency: Literal["daily", "weekly", "monthly"] | None = None
    "How often the card is charged again. Default `monthly`. Weekly and monthly charges are made at 09:00 in Lagos."
    value: Annotated[str, Meta(pattern="^[0-9]{1,2}" + END, max_length=2, description="one or two digits")] | None = (
        None
    )
    """When it is charged: the hour (`daily`, 00 to 23), the weekday (`weekly`, 1 is Monday) or the day of the month
    (`monthly`, 1 to 30, at most the last day), in Lagos time. Default: that of the first charge."""


class Installment(msgspec.Struct, kw_only=True):
    """An installment schedule: dates as DD-MM-YYYY with amounts that add up to `total`, or percentages of it."""

    payment_schedule: Annotated[
        dict[str, PercentOrAmount], Meta(min_length=1, max_length=MAX_INSTALLMENTS, description=COUNT_REASON)
    ]
    """Dates (DD-MM-YYYY, none in the past) with what is due on each: percentages that add up to 100,
    or amounts that add up to `total`. What is due today is charged at once."""
    total: Amount
    "Sum of all installments, in the currency of the payment."


class PaymentFields(msgspec.Struct, kw_only=True):
    """Fields that every payment request has. Contract: payment#told"""

    user: User | None = None
    "The payer."
    country: Country | None = None
    """Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's country;
    other payment types: `NG` alone."""
    currency: Currency | None = None
    """Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money: the provider's
    currency; other payment types: `NGN` alone."""
    customer_txnref: Reference | None = None
    """Your reference of the payment, which `verify` takes. It need not be unique: `verify` then returns the successful
    payment, else the newest."""
    redirect_url: Url | None = None
    """Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor, with `txnRef` and
    `txnStatus` added to it. Required for paga. Without one, the page shows the result as JSON."""
    meta: Document | None = None
    "An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB."
    bearer: Bearer | None = None
    """Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays it on top of
    the amount. Default: your tariff's setting, `merchant` unless changed."""
    split: Split | None = None
    "Beneficiaries that get a part of the settled amount. The remainder is yours."
    is_recurring: bool | None = None
    "Implied by `recurrent`. Alone it plans no further charges. Card payments only."
    recurrent: Recurrent | None = None
    """Charges the card again on a schedule after the first charge succeeded. Card payments only, and not together with
    `installment`."""
    installment: Installment | None = None
    "Charges a total in parts on several dates. Card and token payments only."
    dry_run: bool | None = None
    """If true, the request is checked, the reply says what the payment would cost, and nothing is charged. The rail is
    not asked."""


class InitiateCard(PaymentFields, kw_only=True):
    """The first step of a card payment. `amount` may be absent if an installment schedule says what is due."""

    card: Card | None = None
    """The card to charge. Required, unless payers enter their cards on the page of a vendor: then it must be left out,
    and the reply has an `authURL`."""
    amount: Amount | None = None
    "Amount to charge. Required unless `installment` is sent; then it is what the schedule has due today, or left out."


class ChargeCard(InitiateCard, kw_only=True):
    """The second step: the same body with the reference and the authentication that the first step asked for.

    Fields that only this step has count as if the first had them. Contract: payment#charge-late-fields
    """

    txn_ref: Reference = field(name="txnRef")
    "The `txnRef` that `initiate` returned."
    auth_type: Literal["PIN", "OTP", "3DSecure"] | None = None
    "The `apply_auth` that `initiate` returned. May be left out; another value is refused."


class ChargeToken(PaymentFields, kw_only=True):
    """Charges a saved card."""

    token: Reference
    "The `cardToken` of an earlier successful payment, which names the saved card."
    amount: Amount | None = None
    "Amount to charge. Required unless `installment` is sent; then it is what the schedule has due today, or left out."


class Account(msgspec.Struct, kw_only=True):
    """A payer's bank account that is to be debited."""

    account_number: AccountNumber = field(name="accountnumber")
    "Number of the account. Its check digit is verified."
    bank_code: BankCode = field(name="bankcode")
    "Code of the account's bank, one of `supported_chargable_banks` of `/resources`."


class ChargeAccount(PaymentFields, kw_only=True):
    """Debits a bank account after an OTP."""

    amount: Amount
    "Amount to debit, in naira."
    account: Account
    "The account to debit. Its bank sends the payer an OTP for `validate`."


class ChargeUssd(PaymentFields, kw_only=True):
    """Returns a code that the payer dials. Zenith requires phone and account number."""

    amount: Amount
    "Amount to pay, in naira."
    bank: Literal["gtb", "zenith"]
    "Bank of the payer, whose USSD service is dialed."
    phonenumber: Phone | None = None
    "Telephone number of the payer. Required for `zenith`."
    accountnumber: AccountNumber | None = None
    "Bank account of the payer. Required for `zenith`."


class ChargePhone(PaymentFields, kw_only=True):
    """Prompts the payer on the phone."""

    amount: Amount
    "Amount to pay, in naira."
    phonenumber: Phone
    "Telephone number on which the payer approves the payment."


class ChargeShown(PaymentFields, kw_only=True):
    """Returns what the payer is shown: a QR code, or an account number to pay into."""

    amount: Amount
    "Amount to pay, in naira."
    business_name: ShortText | None = None
    "Name that the payer sees: in the QR code, or as the name of the account. Default: the merchant's name."


class ChargeMobileMoney(PaymentFields, kw_only=True):
    """Charges mobile money. `type` is the provider: paga (or paga_connect), ghana, mpesa."""

    amount: Amount
    "Amount to pay, in the provider's currency."
    type: Literal["paga", "paga_connect", "ghana", "mpesa"]
    "The provider: `paga` or `paga_connect` (Nigeria, NGN), `ghana` (Ghana, GHS), `mpesa` (Kenya, KES)."
    phonenumber: Phone | None = None
    "Telephone number of the payer's mobile-money account. Required for `ghana` and `mpesa`."
    network: ShortText | None = None
    "Mobile network of the payer, by its short name. Required for `ghana`."


class ValidateRequest(msgspec.Struct, kw_only=True):
    """Submits the OTP that the payer's bank sent. For account payments `validate` is "account"."""

    txn_ref: Reference = field(name="txnRef")
    "The payment that awaits an OTP."
    otp: Otp
    "The code that the payer received. The third wrong one fails the payment."
    validate: Literal["card", "account"] | None = None
    "Kind of the payment. May be left out: the payment itself says it."
    dry_run: bool | None = None
    "If true, the request is only checked, and no code is sent to the payer's bank."


class VerifyRequest(msgspec.Struct, kw_only=True):
    """Asks for a payment by our or the merchant's reference, or for a refund by `refundRef` or `txnRef`."""

    txn_ref: Reference | None = field(name="txnRef", default=None)
    "Reference of a payment or of a refund, or a `loan_id` or `savings_id` for the newest payment of a payer for it."
    customer_txnref: Reference | None = None
    "Your reference of the payment. Used if neither `txnRef` nor `refundRef` is sent."
    refund_ref: Reference | None = field(name="refundRef", default=None)
    "Reference of a refund. It counts before the other two."


class RefundRequest(msgspec.Struct, kw_only=True):
    """Refunds a payment or a part of it."""

    txn_ref: Reference = field(name="txnRef")
    "The payment to refund."
    amount: Amount
    "Amount to pay back, in the payment's currency: at most what was charged and not refunded yet."
    comment: ShortText | None = None
    "Your reason, shown by `verify` with the refund."
    dry_run: bool | None = None
    "If true, the refund is checked, the reply says what would be left to refund, and nothing is paid back."


class RecurrentRequest(msgspec.Struct, kw_only=True):
    """Reads one recurrent payment. With `status` it is stopped or started."""

    id: Reference
    "The recurrent payment, by the `id` that `recurrents` lists."
    status: Literal["stop", "start"] | None = None
    """`stop` ends further charges. `start` resumes a stopped or paused one: dates that passed are not charged. Left
    out, the recurrent payment is only read."""
    dry_run: bool | None = None
    "If true, the reply shows the recurrent payment as it would be, and nothing is changed."


class PlansRequest(PagedArray, kw_only=True):
    """Lists recurrent payments, newest first. Contract: payment#recurrent"""


class InstallmentsRequest(PagedArray, kw_only=True):
    """Lists installment plans, newest first, or reads the one named. With `status` that one is changed.

    Contract: payment#installment
    """

    id: Reference | None = None
    "The plan to read or change. Left out, all plans are listed."
    status: Literal["resume", "pause", "cancel"] | None = None
    """Changes the plan of `id`: `pause` stops charging, `resume` charges at once what fell due meanwhile, `cancel` ends
    it for good. Left out, plans are only read."""


class InstallmentRequest(msgspec.Struct, kw_only=True):
    """Resumes, pauses or cancels one installment plan. The action's variant `status` says which."""

    id: Reference
    "The installment plan to change."
    dry_run: bool | None = None
    "If true, the reply shows the plan as it would be, and nothing is changed."


class ChargesRequest(msgspec.Struct, kw_only=True):
    """Asks what a payment would cost, by payment type or by a card's first six digits (or all of them)."""

    amount: Amount
    "Amount of the payment."
    card_no: Annotated[str, Meta(pattern="^[0-9]{6,19}" + END, max_length=19, description="6 to 19 digits")] | None = (
        None
    )
    "The first six digits of the card, or all of them: they tell a local from an international card."
    type: Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"] | None = None
    "Payment type. Required unless `card_no` is sent. `card` and `token` without `card_no` are priced as a local card."
    country: Country | None = None
    "Country of the payment, as in `charge`. Default `NG`; for mobile money that of the currency."
    currency: Currency | None = None
    "Currency of the payment, as in `charge`. Default `NGN`."
    bearer: Bearer | None = None
    "Payer of the fee, as in `charge`. Default: your tariff's setting, `merchant` unless changed."


class ChargeableBanksRequest(msgspec.Struct):
    """Lists the banks whose accounts can be debited."""


class PayAccountRequest(msgspec.Struct, kw_only=True):
    """Simulates a customer's bank transfer into an account number, in the test environment."""

    account_number: AccountNumber = field(name="accountNumber")
    "The account paid into: one that `charge` by bank transfer returned, or a personalized account."
    amount: Amount
    "Amount that arrives, in naira."
    sender_name: ShortText | None = None
    "Name of the sender, shown as `fullname` of a payment into a personalized account."
    rejected: bool | None = None
    """If true, the bank sends the transfer back, as banks do with a wrong sum: nothing is booked, and an event is sent.
    Only of an account that `charge` returned. Default false."""


class BeneficiaryRequest(msgspec.Struct, kw_only=True):
    """Adds a payee of split payments."""

    name: BeneficiaryName
    "Name of the beneficiary."
    bank_code: BankCode = field(name="bankcode")
    "Code of the beneficiary's bank, as `banks` of `/resources` lists it."
    account_number: AccountNumber = field(name="accountnumber")
    "Account of the beneficiary, to which its parts are paid out."
