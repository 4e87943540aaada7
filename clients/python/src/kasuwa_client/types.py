"""Objects of requests and replies.

Written by `python -m clients.generate` from the action tables of the service. Do not edit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypedDict, Union

from kasuwa_client._result import Result, no_fields

# An exact number in major units. An int is whole units: 1500 is 1,500.00. A float is refused.
Amount = Union[Decimal, str, int]


class _AmountRangeRequired(TypedDict):
    min: Amount
    """The smallest amount, in naira. Digits with at most two decimals, above zero, at most 15 digits."""
    max: Amount
    """The largest amount, in naira. Digits with at most two decimals, above zero, at most 15 digits."""


class AmountRange(_AmountRangeRequired, total=False):
    """The amounts that loans of a product may have."""

    default: Amount
    """The amount of a request that names none. Without it a request must name one. Digits with at most two decimals,
    above zero, at most 15 digits.
    """


class CardBilling(TypedDict):
    """The cardholder and the billing address of a card."""

    address: str
    """Street address of the cardholder. 1 to 200 characters."""
    name: str
    """Name of the cardholder, returned as `name_on_card`. 1 to 200 characters."""
    city: str
    """City of the cardholder. 1 to 200 characters."""
    state: str
    """State or province of the cardholder. 1 to 200 characters."""
    postal_code: str | int
    """Postal code of the cardholder. 1 to 20 characters, or a whole number."""


class _CardDetailsRequired(TypedDict):
    card_no: str
    """Number of the card. A card number: its digits, with a right length and check digit."""
    expiry_month: str
    """Month in which the card expires. It is valid until the end of that month. Two digits, 01 to 12."""
    expiry_year: str
    """Last two digits of the year in which the card expires. Two digits."""
    ccv: str
    """Security code of the card (CVV). Never stored. In the test environment it selects the authentication. Three or
    four digits.
    """


class CardDetails(_CardDetailsRequired, total=False):
    """A card as its holder enters it. CVV and PIN are never stored."""

    pin: str
    """PIN of the card. Required by `charge` if `apply_auth` is `PIN`. Never stored. Four digits."""


class CardEvidence(TypedDict, total=False):
    """The words and files of the cardholder. They may be left out."""

    explanation: str
    """What happened, in the cardholder's words. At most 5,000 characters."""
    files: Sequence[EvidenceFile]
    """At most 5 files, such as a receipt, a mail to the shop or a photograph. At most 5 files."""


class _ChargeTermsRequired(TypedDict):
    name: str
    """What the charge is called. 1 to 100 characters."""
    when: Literal["disbursement", "installment", "late", "named_day"]
    """`disbursement`: once, with the first installment, or deducted. `installment`: with every one. `late`: with
    each one that becomes late, once. `named_day`: once, with the installment in whose interval the day `due`
    lies.
    """


class ChargeTerms(_ChargeTermsRequired, total=False):
    """A charge to agree on with a loan: `amount` or `percent`."""

    amount: Amount
    """The charge in naira, without its VAT. Digits with at most two decimals, above zero, at most 15 digits."""
    percent: Amount
    """The charge in percent of `of`, from 0 to 100, without its VAT. A percentage from 0 to 1000 with at most six
    decimals.
    """
    of: Literal["installment", "overdue", "principal"]
    """With `percent`. `principal`: of the loan. `installment`: principal and interest of the installment. `overdue`:
    what is not paid of them on the day on which the installment becomes late. Default: `overdue` of a late
    charge, `installment` of one with every installment, else `principal`.
    """
    deduct: bool
    """With `disbursement`: the client receives the principal without the charge and owes all of the principal, and
    the charge is paid. Default false.
    """
    vat: Amount
    """VAT in percent of the charge, from 0 to 100, on top of it. Default 0. A percentage from 0 to 1000 with at most
    six decimals.
    """
    due: dt.date | str
    """The day of a charge of `named_day`. Not before today. A date such as 2026-01-05."""


class ClientAddress(TypedDict, total=False):
    """The fields of an address that are checked. Other fields are stored unchecked."""

    line1: str
    """First line of the address: house and street. At most 200 characters."""
    line2: str
    """Second line of the address. At most 200 characters."""
    city: str
    """City or town. At most 200 characters."""
    region: str
    """State or region. At most 200 characters."""
    postcode: str | int
    """Postal code. At most 200 characters."""
    country: str
    """Country, by its code or name. The client's telephone number may be a national number of this country. At most
    200 characters.
    """


class _ClientBankAccountRequired(TypedDict):
    account_number: str
    """Number of the account. Its check digit is verified where the bank uses one. Ten digits."""
    bank_code: str
    """Code of the account's bank, as `banks` of `/resources` lists it. A bank code of 3, 5 or 6 digits."""


class ClientBankAccount(_ClientBankAccountRequired, total=False):
    """The bank account of a client. Other fields are stored unchecked."""

    account_name: str
    """Name on the account. Default when money is sent to it: the client's first and last name. At most 200
    characters.
    """


class ClientBankAccountChanges(TypedDict, total=False):
    """Changes to a bank account. A field that is left out keeps its stored value."""

    account_number: str
    """New number of the account. Ten digits."""
    bank_code: str
    """New code of the account's bank, as `banks` of `/resources` lists it. A bank code of 3, 5 or 6 digits."""
    account_name: str
    """New name on the account. At most 200 characters."""


class ClientChanges(TypedDict, total=False):
    """The changed fields of a client. Objects are merged with the stored ones, arrays replace them."""

    firstname: str
    """First name. A change of names or date of birth ends a BVN verification. 1 to 100 characters."""
    lastname: str
    """Last name. 1 to 100 characters."""
    middlename: str
    """Middle name. 1 to 100 characters."""
    email: str
    """Email address. An email address."""
    gender: Literal["female", "male", "other"]
    """Gender of the client."""
    dob: dt.date | str
    """Date of birth, in the past. A day as YYYY-MM-DD."""
    phone: str
    """Telephone number. Without a country code it is one of Nigeria or of the country of an address. A telephone
    number of its country, or one with + and its country's code.
    """
    bvn: str
    """Bank Verification Number. A new one ends an earlier verification. No two of your clients may have the same.
    Eleven digits that begin with 22.
    """
    addresses: Sequence[ClientAddress | Mapping[str, Any]]
    """Addresses of the client. They replace all stored ones. An array of at most 20 addresses."""
    bank_account: ClientBankAccountChanges | Mapping[str, Any]
    """Bank account that loans and cash-outs are paid to. Merged with the stored one."""
    meta: Mapping[str, Any]
    """An object of your own. Merged with the stored one."""
    identification: IdentificationFields | Mapping[str, Any]
    """A document that identifies the client. Merged with the stored one."""
    photo: str
    """SHA-256 of the client's photograph, which you keep. A SHA-256 hash of 64 hexadecimal digits."""


class _ClientFieldsRequired(TypedDict):
    firstname: str
    """First name. 1 to 100 characters."""
    lastname: str
    """Last name. 1 to 100 characters."""


class ClientFields(_ClientFieldsRequired, total=False):
    """A new client. A phone or an email is required."""

    middlename: str
    """Middle name. 1 to 100 characters."""
    email: str
    """Email address. Required unless `phone` is sent. An email address."""
    gender: Literal["female", "male", "other"]
    """Gender of the client."""
    dob: dt.date | str
    """Date of birth, in the past. A day as YYYY-MM-DD."""
    phone: str
    """Telephone number. Required unless `email` is sent. Without a country code it is one of Nigeria or of the
    country of an address. A telephone number of its country, or one with + and its country's code.
    """
    bvn: str
    """Bank Verification Number. No two of your clients may have the same. Stored encrypted and masked in replies.
    Eleven digits that begin with 22.
    """
    addresses: Sequence[ClientAddress | Mapping[str, Any]]
    """Addresses of the client. An array of at most 20 addresses."""
    bank_account: ClientBankAccount | Mapping[str, Any]
    """Bank account that loans and cash-outs are paid to. It may be added later."""
    meta: Mapping[str, Any]
    """An object of your own, such as the number of an identity card. At most 64 KiB."""
    identification: IdentificationFields | Mapping[str, Any]
    """A document that identifies the client, which the limits by tier may need."""
    photo: str
    """SHA-256 of the client's photograph, which you keep. A SHA-256 hash of 64 hexadecimal digits."""


class CollectedAmount(TypedDict):
    """An amount that was collected for one loan."""

    loan_id: str
    """The member's loan of the group. 1 to 100 characters."""
    amount: Amount
    """What was paid, in naira: any part of what is owed, at most what closes the loan. Digits with at most two
    decimals, above zero, at most 15 digits.
    """


class Evidence(TypedDict, total=False):
    """The evidence of a valid payment. Send at least one text or file."""

    explanation: str
    """Why the payment is valid, in your words. At most 5,000 characters."""
    product_description: str
    """What was sold. At most 5,000 characters."""
    customer_name: str
    """Name of the customer. At most 200 characters."""
    customer_email: str
    """Email address of the customer. An email address of at most 254 characters."""
    customer_phone: str
    """Telephone number of the customer. A telephone number in digits."""
    service_date: dt.date | str
    """Day on which it was delivered or rendered. A date such as 2026-01-05."""
    tracking_number: str
    """Number of the shipment. At most 200 characters."""
    refund_policy: str
    """Your terms of refunds, as the customer saw them. At most 5,000 characters."""
    files: Sequence[EvidenceFile]
    """At most 5 files. At most 5 files."""


class EvidenceFile(TypedDict):
    """A file of the evidence."""

    name: str
    """Name of the file, for people. 1 to 200 characters."""
    content: str
    """The file in base64: PDF, PNG or JPEG, at most 2 MiB. The type is read from the content. A PDF, PNG or JPEG
    file of at most 2 MiB in base64.
    """


class GraceTerms(TypedDict, total=False):
    """A grace period at the beginning of a schedule."""

    principal: int
    """Number of first installments without principal. Default 0, or `interest` if that is given. A whole number, not
    negative.
    """
    interest: int
    """Number of first installments that do not ask for their interest either, at most `principal`. It grows, and
    later installments ask for it. Default 0. A whole number, not negative.
    """
    capitalize: bool
    """Whether that interest becomes principal on the due date of its installment, with its tax, and earns interest.
    Default false: the installments after the grace ask for it in equal parts.
    """
    first_due: dt.date | str
    """The first due date, within 366 days from today. The later ones follow it. The first interval earns interest in
    proportion to its days. Default: one interval after the payout. A date such as 2026-01-05.
    """


class GroupLoanPart(TypedDict):
    """The loan of one member."""

    client_id: str
    """The member. 1 to 100 characters."""
    amount: Amount
    """Principal of the member's loan, in naira. Digits with at most two decimals, above zero, at most 15 digits."""


class IdentificationFields(TypedDict):
    """A document that identifies a client. Other fields are stored unchecked."""

    type: Literal["drivers_license", "nin", "passport", "voters_card"]
    """Kind of the document: `nin` is the National Identification Number."""
    number: str
    """Number of the document. At most 200 characters."""


class InstallmentSchedule(TypedDict):
    """An installment schedule: dates as DD-MM-YYYY with amounts that add up to `total`, or percentages of it."""

    payment_schedule: Mapping[str, Amount]
    """Dates (DD-MM-YYYY, none in the past) with what is due on each: percentages that add up to 100, or amounts that
    add up to `total`. What is due today is charged at once. 1 to 120 dates.
    """
    total: Amount
    """Sum of all installments, in the currency of the payment. Digits with at most two decimals, above zero, at most
    15 digits.
    """


class InterestSettings(TypedDict):
    """An interest rate: `interestRate` percent per interval of `interestFrequency`."""

    interest_rate: Amount
    """Interest in percent per interval of `interestFrequency`. A percentage from 0 to 1000 with at most six
    decimals.
    """
    interest_frequency: Literal["annualized", "every_day", "every_four_weeks", "every_month", "every_week"]
    """The interval that the rate is for; `annualized` means a year."""


class ItemFields(TypedDict, total=False):
    """One item. Each of its three parts may have another name."""

    description: str
    """What is sold. Required, under this name or as `name`. 1 to 200 characters."""
    name: str
    """Another name of `description`, which counts if both are sent. 1 to 200 characters."""
    quantity: int
    """Number of units, 1 to 1,000,000. Default 1. A whole number, not negative."""
    qty: int
    """Another name of `quantity`, which counts if both are sent. A whole number, not negative."""
    amount: Amount
    """Price of one unit. Required, under this name, as `unit_cost` or as `price`. Digits with at most two decimals,
    at most 15 digits; zero where nothing is left.
    """
    unit_cost: Amount
    """Another name of `amount`, which counts if both are sent. Digits with at most two decimals, at most 15 digits;
    zero where nothing is left.
    """
    price: Amount
    """Another name of `amount`. Digits with at most two decimals, at most 15 digits; zero where nothing is left."""


class LimitFields(TypedDict, total=False):
    """The most that may be sent in one hour and in one day of Lagos. What is left out has no limit."""

    hourly_count: int
    """Number of transfers in an hour. A whole number, not negative."""
    hourly_amount: Amount
    """Sum of the transfers in an hour, in naira. Digits with at most two decimals, at most 15 digits; zero where
    nothing is left.
    """
    daily_count: int
    """Number of transfers in a day. A whole number, not negative."""
    daily_amount: Amount
    """Sum of the transfers in a day, in naira. Digits with at most two decimals, at most 15 digits; zero where
    nothing is left.
    """


class _OwnFiguresRequired(TypedDict):
    tier: int
    """The tier. 0 to 3."""


class OwnFigures(_OwnFiguresRequired, total=False):
    """Figures of a tier that replace those of the regulator. What is left out keeps them."""

    single_deposit: str
    """Most that one deposit may bring. An amount in naira such as 50000.00, or unlimited."""
    balance: str
    """Most that a client may hold in all savings and cards together. An amount in naira such as 50000.00, or
    unlimited.
    """
    daily: str
    """Most that a client may be paid out in a day of Lagos. An amount in naira such as 50000.00, or unlimited."""


class _PartOfProductRequired(TypedDict):
    client_id: str
    """The member. 1 to 100 characters."""


class PartOfProduct(_PartOfProductRequired, total=False):
    """The loan of one member."""

    amount: Amount
    """Principal of the member's loan, in naira, within the range of the product. Default: as the product says.
    Digits with at most two decimals, above zero, at most 15 digits.
    """


class Payer(TypedDict, total=False):
    """The payer, as far as the merchant knows."""

    firstname: str
    """First name of the payer. First and last name together are `fullname` in replies. At most 200 characters."""
    lastname: str
    """Last name of the payer. At most 200 characters."""
    email: str
    """Email address of the payer, returned as `email`. An email address of at most 254 characters."""
    ip: str
    """IP address of the payer. Kept with the payment; `verify` and lists do not show it. At most 200 characters."""
    fingerprint: str
    """Fingerprint of the payer's device. Kept with the payment; `verify` and lists do not show it. At most 200
    characters.
    """


class PayerAccount(TypedDict):
    """A payer's bank account that is to be debited."""

    accountnumber: str
    """Number of the account. Its check digit is verified. Ten digits."""
    bankcode: str
    """Code of the account's bank, one of `supported_chargable_banks` of `/resources`. A bank code of 3, 5 or 6
    digits.
    """


class _PenaltyTermsRequired(TypedDict):
    rate: Amount
    """Penalty in percent of the overdue principal for each day, from 0 to 100. A percentage from 0 to 1000 with at
    most six decimals.
    """


class PenaltyTerms(_PenaltyTermsRequired, total=False):
    """The cost of lateness."""

    tolerance_days: int
    """Days after the due date before an installment is late, at most 365. Default 0. A whole number, not negative."""
    first: Literal["due", "tolerance"]
    """`tolerance`: the days of tolerance are free, also of an installment that becomes late. `due`: once it is late,
    they are charged too. Default `tolerance`.
    """


class _PeriodRangeRequired(TypedDict):
    min: int
    """The smallest number of installments. A whole number, not negative."""
    max: int
    """The largest number of installments, at most 366. A whole number, not negative."""


class PeriodRange(_PeriodRangeRequired, total=False):
    """The numbers of installments that loans of a product may have."""

    default: int
    """The number of a request that names none. Without it a request must name one. A whole number, not negative."""


class ProductRanges(TypedDict):
    """The ranges within which a request may choose."""

    amount: AmountRange
    """The amounts."""
    period: PeriodRange
    """The numbers of installments."""
    interest_rate: RateRange
    """The interest rates."""


class _RateRangeRequired(TypedDict):
    min: Amount
    """The lowest rate, in percent per interval of `interestFrequency`. A percentage from 0 to 1000 with at most six
    decimals.
    """
    max: Amount
    """The highest rate. A percentage from 0 to 1000 with at most six decimals."""


class RateRange(_RateRangeRequired, total=False):
    """The interest rates that loans of a product may have."""

    default: Amount
    """The rate of a request that names none. Without it a request must name one. A percentage from 0 to 1000 with at
    most six decimals.
    """


class Recurrence(TypedDict, total=False):
    """The recurrence of a payment. `value` is an hour (daily), an ISO weekday (weekly) or a day of the month
    (monthly). By default the frequency is monthly and the value that of the first charge.
    """

    frequency: Literal["daily", "monthly", "weekly"]
    """How often the card is charged again. Default `monthly`. Weekly and monthly charges are made at 09:00 in Lagos."""
    value: str
    """When it is charged: the hour (`daily`, 00 to 23), the weekday (`weekly`, 1 is Monday) or the day of the month
    (`monthly`, 1 to 30, at most the last day), in Lagos time. Default: that of the first charge. One or two
    digits.
    """


class SpendingLimits(TypedDict, total=False):
    """Limits of what may be spent with a card. An empty object means no limits. Fields that were added after the
    release 1.0.0 are unset if they were not sent: the digest of a request under an Idempotency-Key has the others
    as null, and must stay the same.
    """

    per_transaction: Amount
    """Most that one purchase may cost, in the card's currency. Left out: no limit. Digits with at most two decimals,
    above zero, at most 15 digits.
    """
    per_day: Amount
    """Most that may be spent on one day in Lagos, in the card's currency. Refunds do not lower what was spent. Left
    out: no limit. Digits with at most two decimals, above zero, at most 15 digits.
    """
    per_month: Amount
    """Most that may be spent in one calendar month in Lagos, in the card's currency. Left out: no limit. Digits with
    at most two decimals, above zero, at most 15 digits.
    """
    categories: Sequence[str]
    """Merchant category codes (MCC) of the shops that the card may pay. Left out or empty: all shops. At most 50
    category codes of four digits.
    """
    blocked_categories: Sequence[str]
    """Merchant category codes of the shops that the card may not pay, also if `categories` has them. At most 50
    category codes of four digits.
    """
    merchants: Sequence[str]
    """Shops that the card may pay, each by its identifier or its name; upper and lower case are the same. Left out
    or empty: all shops. At most 50 shops.
    """
    blocked_merchants: Sequence[str]
    """Shops that the card may not pay, by identifier or name, also if `merchants` has them. At most 50 shops."""
    countries: Sequence[str]
    """Countries of the shops that the card may pay. Left out or empty: all countries. At most 50 country codes of
    two letters.
    """
    velocity: Sequence[Velocity]
    """How many purchases, and how much, in how many hours. All rules apply. Purchases count from when the card first
    has such a rule. Refunds do not lower what was spent. At most 5 rules.
    """
    single_use: bool
    """If true, the card pays one purchase from when this is set, and declines all further ones. Default false. To
    allow another one, set the limits without it, then with it.
    """
    from_date: dt.date | str
    """First day in Lagos on which the card pays. Left out: from its creation. A date such as 2026-01-05."""
    to_date: dt.date | str
    """Last day in Lagos on which the card pays. Left out: until it expires. A date such as 2026-01-05."""
    channels: Sequence[Literal["atm", "contactless", "online"]]
    """Ways in which the card may be used. Left out or empty: all. Some of online, contactless, atm."""


class _SplitPartRequired(TypedDict):
    ref_code: str
    """The beneficiary, by the code that it was registered under. 1 to 100 characters."""


class SplitPart(_SplitPartRequired, total=False):
    """One beneficiary's part: a percentage of the settled amount, or an amount (`share`, or its synonym `fixed`)."""

    percentage: Amount
    """Percentage of the settled amount, above 0 and at most 100. Either this or `share` is required. A number, not
    negative, with at most four decimals.
    """
    share: Amount
    """Fixed amount in the currency of the payment. Digits with at most two decimals, above zero, at most 15 digits."""


class _TicketKindFieldsRequired(TypedDict):
    name: str
    """Name of the kind, such as `Regular`. Each once. 1 to 100 characters."""
    amount: Amount
    """Price of one ticket. Digits with at most two decimals, above zero, at most 15 digits."""


class TicketKindFields(_TicketKindFieldsRequired, total=False):
    """One kind of ticket."""

    quantity: int
    """How many may be sold, 1 to 1,000,000. Absent: no limit. A whole number, not negative."""


class TierFields(TypedDict, total=False):
    """Limits by the KYC tier of clients."""

    tier_1: LimitFields
    """Clients without a verified BVN."""
    tier_2: LimitFields
    """Clients with a verified BVN."""


class _TransferOrderRequired(TypedDict):
    amount: Amount
    """Amount that the beneficiary receives, in naira. Fee and VAT are debited on top, and stamp duty where it
    applies. Digits with at most two decimals, above zero, at most 15 digits.
    """
    bankcode: str
    """Code of the beneficiary's bank, as `banks` of `/resources` lists it. A bank code of 3, 5 or 6 digits."""
    accountnumber: str
    """Account of the beneficiary at that bank. Its check digit is verified where the bank uses one. Ten digits."""


class TransferOrder(_TransferOrderRequired, total=False):
    """One transfer from the merchant's wallet to a bank account. `currency` may be left out: it is always NGN."""

    currency: Literal["NGN"]
    """May be left out: transfers are always made in NGN."""
    sender_name: str
    """Name of the sender that is passed on to the bank. At most 200 characters."""
    narration: str
    """Purpose of the transfer, passed on to the bank. At most 200 characters."""
    order_ref: str
    """Your reference of the order. Sent again with the same content it returns the first transfer; with other
    content it is refused. If left out, the `txnRef` is used. 1 to 100 characters.
    """


class _VelocityRequired(TypedDict):
    hours: int
    """Length of the window, which ends with the purchase. 1 to 744."""


class Velocity(_VelocityRequired, total=False):
    """The most that a card may pay in some hours, counted back from each purchase. `count` or `amount` is required."""

    count: int
    """Most purchases in these hours. Left out: no limit of their number. 1 to 500."""
    amount: Amount
    """Most that all purchases in these hours may cost, in the card's currency. Left out: no limit of the amount.
    Digits with at most two decimals, above zero, at most 15 digits.
    """


@dataclass(frozen=True)
class AccountLine(Result):
    """A personalized account and its state."""

    reference: str
    """Your reference of the account."""
    state: Literal["closed", "closing", "failed", "open", "opening"]
    """`opening`: its bank has not answered yet. `open`: it can be paid into. `failed`: its bank did not open it.
    `closing`: its bank has not confirmed yet that it is closed. `closed`: nobody can pay into it any more.
    """
    account_name: str
    """Name of the account. Empty if the person was erased."""
    date_created: dt.datetime
    """Time at which the account was requested, in UTC."""
    account_number: str | None = None
    """The number that payers transfer to. Absent until the account was opened."""
    bank_name: str | None = None
    """Bank of the account. Absent until the account was opened."""
    date_closed: dt.datetime | None = None
    """Time at which the bank confirmed that the account is closed, in UTC. Absent before."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "reference": "reference",
        "state": "state",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "date_created": "dateCreated",
        "date_closed": "dateClosed",
    }


@dataclass(frozen=True)
class AccountNameFacts(Result):
    """The holder of a bank account."""

    account_name: str
    """Name of the account's holder, as the bank has it."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"account_name": "account_name"}


@dataclass(frozen=True)
class AccountNameReply(Result):
    """`status` is a text here: `success`, or `error` if there is no such account."""

    status: Literal["error", "success"]
    """`success`, or `error` if there is no such account. Other failures have a numeric status, as everywhere."""
    resolved: bool
    """Whether the name was found."""
    data: AccountNameFacts | None = None
    """The holder of the account. Absent if there is no such account."""
    error: str | None = None
    """Short form of the error. Absent if the name was found."""
    message: str | None = None
    """The reason in words if the account was not found, or a remark of the bank. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "resolved": "resolved",
        "data": "data",
        "error": "error",
        "message": "message",
    }


@dataclass(frozen=True)
class AdvanceReply(Result):
    """The business time that was reached, and the jobs that ran on the way."""

    status: int
    """200."""
    now: dt.datetime
    """Business time that was reached, in Lagos time with its offset."""
    ran: Mapping[str, int]
    """Number of jobs that ran, by kind, such as `payment`, `recurrent` or `webhook`."""
    more: bool | None = None
    """True if the time limit of the request was over before all jobs had run: advance to `until` to go on. Else
    absent.
    """
    until: dt.datetime | None = None
    """The business time to send as `until` to go on, in Lagos time. Present with `more`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "now": "now",
        "ran": "ran",
        "more": "more",
        "until": "until",
    }


@dataclass(frozen=True)
class AgreedChargeRecord(Result):
    """A charge that was agreed with a loan."""

    name: str
    """What the charge is called."""
    when: Literal["disbursement", "installment", "late", "named_day"]
    """When it is made, as in the request."""
    vat: Decimal
    """VAT in percent of the charge."""
    deduct: bool
    """Whether it is deducted from what the client receives."""
    amount: Decimal | None = None
    """The charge in naira, without its VAT. Absent if it is a percentage."""
    percent: Decimal | None = None
    """The charge in percent of `of`. Absent if it is an amount."""
    of: Literal["installment", "overdue", "principal"] | None = None
    """What the percentage is of. Absent if the charge is an amount."""
    due: dt.date | None = None
    """The day of a charge of `named_day`, as YYYY-MM-DD. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "when": "when",
        "amount": "amount",
        "percent": "percent",
        "of": "of",
        "vat": "vat",
        "deduct": "deduct",
        "due": "due",
    }


@dataclass(frozen=True)
class AmountRangeRecord(Result):
    """The amounts of a product, in naira."""

    min: Decimal
    """The smallest amount."""
    max: Decimal
    """The largest amount."""
    default: Decimal | None = None
    """The amount of a request that names none. Absent if a request must name one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"min": "min", "max": "max", "default": "default"}


@dataclass(frozen=True)
class ApprovalLine(Result):
    """The approval of a transfer that waits, or waited, for one."""

    state: Literal["approved", "expired", "rejected", "waiting"]
    """`waiting`, or what became of it. `expired`: nobody decided in time, and the transfer has failed."""
    reasons: tuple[str, ...]
    """Why the transfer waits, or waited."""
    requested_by: str
    """The key or the person that made the transfer."""
    expires_at: dt.datetime
    """When the transfer fails unless it is approved before, in UTC."""
    decided_by: str | None = None
    """The key or the person that approved or rejected it. Absent while it waits, and if nobody decided in time."""
    decided_at: str | None = None
    """When it was decided, or was over, in UTC. Absent while it waits."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "state": "state",
        "reasons": "reasons",
        "requested_by": "requested_by",
        "expires_at": "expires_at",
        "decided_by": "decided_by",
        "decided_at": "decided_at",
    }


@dataclass(frozen=True)
class ApprovalReply(Result):
    """The state of a transfer after it was approved or rejected, or of a bulk with the orders that were decided."""

    status: int
    """200, or 201 if the bank's answer could not be read: the transfer stays open and the bank is asked again."""
    txn_status: Literal["failed", "pending", "processing", "successful"]
    """As in the reply of `transfer`: an approved transfer is sent at once, and a rejected one has failed."""
    message: str
    """The state in words; of a failed transfer, the reason."""
    txn_ref: str | None = None
    """Reference of the transfer. Absent for a bulk."""
    order_ref: str | None = None
    """Your reference of the order, or the `txnRef` if it had none. Absent for a bulk."""
    batch_ref: str | None = None
    """Reference of the bulk. Absent for a single transfer."""
    receipt_url: str | None = None
    """Address of the receipt, as in the reply of `transfer`. Absent unless the transfer is successful, and for a
    bulk.
    """
    data: tuple[BulkOrderReply, ...] | None = None
    """The orders of the bulk that were decided, in the order of the request. Absent for a single transfer."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "batch_ref": "batchRef",
        "message": "message",
        "receipt_url": "receiptURL",
        "data": "data",
    }


@dataclass(frozen=True)
class AuditReply(Result):
    status: int
    """Always 200."""
    data: tuple[Violation, ...]
    """Every violation that was found, at most 20 of each invariant. Empty if the books are right."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class AuthorizeReply(Result):
    """The result of an authorization, or of its reversal, in the test environment."""

    status: int
    """200, also for a declined authorization."""
    txn_status: Literal["failed", "pending"]
    """`pending`: the card holds the amount. `failed`: it was declined, or has been reversed."""
    txn_ref: str
    """Reference of the authorization, made by the service."""
    bank_message: str
    """Answer of the card's issuer in its own words."""
    message: str | None = None
    """Of a declined authorization, who declined it and why. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "bank_message": "bank_message",
        "message": "message",
    }


@dataclass(frozen=True)
class AutoRepayRecord(Result):
    """The automatic collection of a loan."""

    loan_id: str
    """The loan."""
    client_id: str
    """The client who borrows."""
    state: Literal["active", "ended", "paused", "stopped"]
    """`active`: what falls due is collected. `paused`: nothing is, until you send `auto_repay` again; `reason` says
    why. `stopped`: by `stop_auto_repay`. `ended`: the loan is closed.
    """
    source: Literal["savings", "token", "wallet"]
    """Where the money comes from."""
    at: str
    """Hour of the day in Lagos, from 00 to 23, at which it is collected."""
    retry: tuple[int, ...]
    """Days after a due date on which a declined attempt is made again."""
    attempts: int
    """Number of attempts so far. `collections` lists them."""
    collections: int
    """Number of those that succeeded."""
    collected: Decimal
    """Sum of what was collected, in naira, also if a part of it was taken back later."""
    missed: int
    """Number of due dates that were given up after all retries."""
    date_created: dt.datetime
    """Time at which it was first agreed on, in UTC."""
    auto_repay_id: str | None = None
    """Identifier of the collection, made by the service: its repayments have it as `customer_txnref`. Null in a dry
    run of a first agreement.
    """
    token: str | None = field(default=None, repr=False)
    """The first characters of the token of the saved card that is charged. Absent for another source."""
    savings_id: str | None = None
    """The savings that pay. Absent for another source."""
    next_step: Literal["charging", "collect", "notice", "payout", "retry"] | None = None
    """What comes next. `payout`: the loan is not paid out yet. `notice`: the client is told, by the event
    `loan_due`. `collect`: what is due is collected. `retry`: so it is after it was declined. `charging`: the card
    is being charged. Null unless it is active.
    """
    next_date: dt.date | None = None
    """Day on which that happens, as YYYY-MM-DD. Null while the card is charged, and unless it is active."""
    collect_date: str | None = None
    """Day that is collected next, or now, as YYYY-MM-DD. Null unless it is active and the loan was paid out."""
    next_amount: str | None = None
    """What will be due on that day if nothing is paid before, in naira. Only in `view` of the loan and in replies of
    `auto_repay`, and absent if nothing is collected.
    """
    reason: (
        Literal[
            "card_declined",
            "card_erased",
            "card_refused",
            "no_due_date",
            "repayment_reversed",
            "savings_closed",
            "savings_dormant",
            "savings_held",
            "savings_short",
            "wallet_short",
        ]
        | None
    ) = None
    """Why the last attempt failed, or why it is paused. Absent if there is nothing to say."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "auto_repay_id": "auto_repay_id",
        "loan_id": "loan_id",
        "client_id": "client_id",
        "state": "state",
        "source": "source",
        "token": "token",
        "savings_id": "savings_id",
        "at": "at",
        "retry": "retry",
        "next_step": "next_step",
        "next_date": "next_date",
        "collect_date": "collect_date",
        "next_amount": "next_amount",
        "attempts": "attempts",
        "collections": "collections",
        "collected": "collected",
        "missed": "missed",
        "reason": "reason",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class AutoRepayReply(Result):
    """The automatic collection of a loan after a change. A dry run explains what it would collect."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: AutoRepayRecord
    """The automatic collection."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class BeneficiaryReply(Result):
    """A new beneficiary of split payments."""

    status: int
    """200: the beneficiary was registered."""
    ref_code: str
    """Code of the beneficiary, made by the service, for `split`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "ref_code": "ref_code"}


@dataclass(frozen=True)
class BillCatalogue(Result):
    """The selected part of the bill catalogue."""

    categories: tuple[BillCategory, ...]
    """The categories."""
    bills: tuple[BillLine, ...]
    """The bills of these categories."""
    items: tuple[BillItem, ...]
    """The items of these bills."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"categories": "categories", "bills": "bills", "items": "items"}


@dataclass(frozen=True)
class BillCatalogueReply(Result):
    """The catalogue of bills, or the selected part of it. Paycodes change, so pull it at least once a day."""

    status: int
    """200."""
    data: BillCatalogue
    """The catalogue."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class BillCategory(Result):
    """A category of bills, such as electricity."""

    name: str
    """Name of the category."""
    code: str
    """Code of the category, which `bills` refer to as `category`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"name": "name", "code": "code"}


@dataclass(frozen=True)
class BillCustomer(Result):
    """`custName` is empty if the biller has no name query. `mismatch` is present, and true, if the biller knows the
    customer under another name.
    """

    status: int
    """200: the reference can be paid for."""
    message: str
    """The outcome in words."""
    cust_name: str
    """Name of the customer at the biller. Empty if the biller tells no names."""
    reference: str
    """The customer's reference, as in the request."""
    paycode: str
    """Code of the item, as in the request."""
    mismatch: bool | None = None
    """True if the biller knows the customer under another name. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "cust_name": "custName",
        "reference": "reference",
        "paycode": "paycode",
        "mismatch": "mismatch",
    }


@dataclass(frozen=True)
class BillItem(Result):
    """An item that can be paid: a product with its price, or one with an open amount."""

    name: str
    """Name of the item."""
    bills_id: int
    """The bill that the item belongs to."""
    amount: Decimal
    """Fixed price in naira. `0` is an open amount, within the biller's bounds."""
    discount: Decimal
    """Percent of the amount that is credited to the wallet as commission when the bill is paid."""
    fee: Decimal
    """Fee in naira without VAT, debited on top of the amount."""
    paycode: str
    """Code of the item, for `resolve` and `pay`. It changes with the catalogue; an old one is accepted for 24 hours."""
    require_name_query: int
    """1 if `resolve` tells the customer's name, which the payer should confirm before `pay`; else 0."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "bills_id": "bills_id",
        "amount": "amount",
        "discount": "discount",
        "fee": "fee",
        "paycode": "paycode",
        "require_name_query": "require_name_query",
    }


@dataclass(frozen=True)
class BillLine(Result):
    """A biller or a product of one, whose items can be paid."""

    id: int
    """Number of the bill, which `items` refer to as `bills_id`."""
    name: str
    """Name of the bill."""
    reference: str
    """Label of the customer reference that the biller needs, such as a meter number, to show in a form."""
    category: str
    """Code of its category."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "name": "name",
        "reference": "reference",
        "category": "category",
    }


@dataclass(frozen=True)
class BillReply(Result):
    """The outcome of a bill, or of its dry run, which has no txnStatus and no txnRef, but amount, fee and VAT."""

    status: int
    """200, or 201 if the biller's answer could not be read: the bill stays pending and the biller is asked again."""
    order_ref: str
    """Your reference of the bill."""
    message: str
    """The outcome in words; of a failed bill, the biller's reason."""
    commission: Decimal
    """Amount credited to the wallet when the bill is successful, in naira: the item's `discount`. 0.00 if the bill
    failed.
    """
    txn_status: Literal["failed", "pending", "successful"] | None = None
    """`successful` and `failed` are final. `pending`: the biller has not confirmed yet and is asked again. Absent in
    a dry run.
    """
    txn_ref: str | None = None
    """Reference of the bill, made by the service. Absent in a dry run."""
    dry_run: bool | None = None
    """True in a dry run: nothing was paid. Else absent."""
    amount: Decimal | None = None
    """Amount that would be paid, in naira. Present in a dry run."""
    fee: Decimal | None = None
    """Fee without VAT that would be debited, in naira. Present in a dry run."""
    vat: Decimal | None = None
    """VAT on the fee that would be debited, in naira. Present in a dry run."""
    token: str | None = field(default=None, repr=False)
    """Token of 20 digits that the customer enters into a prepaid meter. Present if the biller gave one."""
    units: str | None = None
    """Units that the token is worth, such as kWh. Present if the biller reports them."""
    pin: str | None = field(default=None, repr=False)
    """PIN that the customer redeems. Present if the biller gave one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "message": "message",
        "dry_run": "dry_run",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "commission": "commission",
        "token": "token",
        "units": "units",
        "pin": "pin",
    }


@dataclass(frozen=True)
class BillState(Result):
    """The current state of a bill, with the token or PIN if the biller gave one."""

    status: int
    """200: the reference is known. `txnStatus` says what became of the bill."""
    txn_status: Literal["failed", "pending", "successful"]
    """`successful` and `failed` are final. `pending`: the biller has not confirmed yet and is asked again."""
    txn_ref: str
    """Reference of the bill, made by the service."""
    order_ref: str
    """Your reference of the bill."""
    amount: Decimal
    """Amount paid to the biller, in naira, without fee and VAT."""
    fee: Decimal
    """Fee without VAT, in naira; 0.00 if the bill failed."""
    vat: Decimal
    """VAT on the fee, in naira; 0.00 if the bill failed."""
    commission: Decimal
    """Amount credited to the wallet when the bill is successful, in naira: the item's `discount`. 0.00 if the bill
    failed.
    """
    message: str
    """The state in words; of a failed bill, the biller's reason."""
    token: str | None = field(default=None, repr=False)
    """Token of 20 digits that the customer enters into a prepaid meter. Present if the biller gave one."""
    units: str | None = None
    """Units that the token is worth, such as kWh. Present if the biller reports them."""
    pin: str | None = field(default=None, repr=False)
    """PIN that the customer redeems. Present if the biller gave one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "commission": "commission",
        "message": "message",
        "token": "token",
        "units": "units",
        "pin": "pin",
    }


@dataclass(frozen=True)
class BulkOrderReply(Result):
    """The outcome of one order of a bulk. An order in conflict has no txnRef: its orderRef belongs to another order."""

    order_ref: str
    """Your reference of the order, or its `txnRef` if the order had no valid one."""
    txn_status: Literal["conflict", "failed", "pending", "processing", "successful"]
    """`processing`, `pending`, `successful` or `failed` as for a single transfer; a refused order has failed.
    `conflict`: the `orderRef` belongs to another order, and nothing was sent for this one.
    """
    message: str
    """The state in words; of a failed or conflicting order, the reason."""
    txn_ref: str | None = None
    """Reference of the transfer, made by the service. Absent if the order is in conflict."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "order_ref": "orderRef",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
    }


@dataclass(frozen=True)
class BulkOrderState(Result):
    """The current state of one order of a bulk, with amount, fee and VAT unless it is in conflict."""

    order_ref: str
    """Your reference of the order, or its `txnRef` if the order had no valid one."""
    txn_status: Literal["conflict", "failed", "pending", "processing", "successful"]
    """`processing`, `pending`, `successful` or `failed` as for a single transfer; a refused order has failed.
    `conflict`: the `orderRef` belongs to another order, and nothing was sent for this one.
    """
    message: str
    """The state in words; of a failed or conflicting order, the reason."""
    txn_ref: str | None = None
    """Reference of the transfer, made by the service. Absent if the order is in conflict."""
    amount: Decimal | None = None
    """Amount of the transfer, in naira; 0.00 if the order had no valid one. Absent if the order is in conflict."""
    fee: Decimal | None = None
    """Fee without VAT, in naira; 0.00 if the transfer failed. Absent if the order is in conflict."""
    vat: Decimal | None = None
    """VAT on the fee, in naira; 0.00 if the transfer failed. Absent if the order is in conflict."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "order_ref": "orderRef",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
    }


@dataclass(frozen=True)
class BulkTransferReply(Result):
    """The outcome of every order of a bulk. The bank is called after the reply: verify each order later."""

    status: int
    """202: the bulk was recorded, and accepted orders are still to be verified. Also if every order was refused."""
    batch_ref: str
    """Reference of the bulk, made by the service. `verify` takes it."""
    message: str
    """Whether all, some or none of the orders were accepted, with the numbers of those that were not."""
    data: tuple[BulkOrderReply, ...]
    """One line per order, in the order of the request."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "batch_ref": "batchRef",
        "message": "message",
        "data": "data",
    }


@dataclass(frozen=True)
class BvnPerson(Result):
    """A person in the BVN register."""

    firstname: str
    """First name in the register."""
    lastname: str
    """Last name in the register."""
    dob: dt.date
    """Date of birth, as YYYY-MM-DD."""
    bvn: str = field(repr=False)
    """The Bank Verification Number that was asked for."""
    phone: str
    """Telephone number in the register."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "firstname": "firstname",
        "lastname": "lastname",
        "dob": "dob",
        "bvn": "bvn",
        "phone": "phone",
    }


@dataclass(frozen=True)
class BvnReply(Result):
    """`status` is a text here: `success`, or `error` if there is no such BVN."""

    status: Literal["error", "success"]
    """`success`, or `error` if there is no such BVN. Other failures have a numeric status, as everywhere."""
    data: BvnPerson | None = None
    """The person. Absent if there is no such BVN."""
    resolved: bool | None = None
    """False if there is no such BVN. Else absent."""
    error: str | None = None
    """Short form of the error. Absent if the person was found."""
    message: str | None = None
    """The reason in words if the BVN was not found, or that it is watch-listed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "data": "data",
        "resolved": "resolved",
        "error": "error",
        "message": "message",
    }


@dataclass(frozen=True)
class BvnVerification(Result):
    """The verification of a client's BVN, or the consent that is awaited."""

    method: Literal["consent", "match", "register"]
    """`register`: the register told the person, who was compared. `match`: the register compared the client and told
    nothing of the person. `consent`: the person consents to the look-up on a page first.
    """
    state: Literal["awaiting_consent", "verified"]
    """`awaiting_consent`: the person has not agreed yet. `verified`: names and date of birth agreed."""
    at: dt.datetime
    """Time of the verification, or of the newest answer that the consent is awaited, in UTC."""
    consent_url: str | None = None
    """Page on which the person consents: send the client there. Absent unless it is awaited."""
    score: int | None = None
    """How far the names agree by the register's own comparison, 0 to 100. Absent if it gave none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "method": "method",
        "state": "state",
        "consent_url": "consent_url",
        "score": "score",
        "at": "at",
    }


@dataclass(frozen=True)
class CallGuaranteeReply(Result):
    """A loan that was paid out of the savings that guarantee it."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    loan_id: str
    """The loan."""
    amount: Decimal
    """Amount that was taken from the savings and paid on the loan, in naira."""
    allocation: RepaymentAllocation
    """The parts of the loan that it covers."""
    guarantees: tuple[GuaranteeRecord, ...]
    """The guarantees of the loan after it."""
    data: LoanRecord
    """The loan after it."""
    txn_ref: str | None = None
    """Reference of the repayment. Absent in a dry run."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "loan_id": "loan_id",
        "amount": "amount",
        "allocation": "allocation",
        "guarantees": "guarantees",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class CardDisputeChanged(Result):
    """The dispute after the request, or as it would be after a dry run."""

    status: int
    """200: it was done."""
    message: str
    """The outcome in words."""
    data: CardDisputeSummary
    """The dispute."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class CardDisputeDecided(Result):
    """The dispute after the request."""

    status: int
    """200: it was done."""
    message: str
    """The outcome in words."""
    data: CardDisputeSummary
    """The dispute."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class CardDisputeDetail(Result):
    """A dispute of a card purchase with its evidence and its steps."""

    dispute_id: str
    """Reference of the dispute. Empty in the dry run of `dispute`."""
    reference: str
    """The card."""
    txn_ref: str
    """The purchase that is disputed."""
    state: Literal["closed", "lost", "submitted", "withdrawn", "won"]
    """`submitted`: it is not decided yet. `won`: the card has the money, or your wallet if the card is terminated.
    `lost`: the shop keeps it. `withdrawn`: by you. `closed`: nothing is left of the purchase to decide on.
    """
    reason: str
    """The cardholder's reason."""
    amount: Decimal
    """What is disputed, in the shop's currency. What the shop refunds meanwhile is subtracted."""
    currency: str
    """Currency of the shop."""
    credited: Decimal
    """What the card got for it, in the card's currency. 0.00 unless it is won."""
    card_currency: str
    """Currency of the card."""
    filed_at: dt.datetime
    """Time at which it was filed, in UTC."""
    timeline: tuple[CardDisputeStep, ...]
    """Its steps so far, oldest first. An event was sent at each."""
    outcome: str | None = None
    """How it ended, in words. Null while it is open."""
    ended_at: dt.datetime | None = None
    """Time at which it ended, in UTC. Null while it is open."""
    refund_ref: str | None = None
    """The `txnRef` of the refund by which the card got the money. Null if it got none."""
    evidence: CardEvidenceView | None = None
    """The evidence that was sent with it. Null if there was none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "dispute_id": "dispute_id",
        "reference": "reference",
        "txn_ref": "txnRef",
        "state": "state",
        "reason": "reason",
        "amount": "amount",
        "currency": "currency",
        "credited": "credited",
        "card_currency": "card_currency",
        "outcome": "outcome",
        "filed_at": "filed_at",
        "ended_at": "ended_at",
        "refund_ref": "refundRef",
        "evidence": "evidence",
        "timeline": "timeline",
    }


@dataclass(frozen=True)
class CardDisputeReply(Result):
    """The dispute."""

    status: int
    """200."""
    data: CardDisputeDetail
    """The dispute."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class CardDisputeStep(Result):
    """One step in the life of a dispute."""

    at: dt.datetime
    """Time of the step, in UTC."""
    step: str
    """What happened: `submitted`, `reduced` by a refund of the shop, or the state that it got."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"at": "at", "step": "step"}


@dataclass(frozen=True)
class CardDisputeSummary(Result):
    """A dispute of a card purchase."""

    dispute_id: str
    """Reference of the dispute. Empty in the dry run of `dispute`."""
    reference: str
    """The card."""
    txn_ref: str
    """The purchase that is disputed."""
    state: Literal["closed", "lost", "submitted", "withdrawn", "won"]
    """`submitted`: it is not decided yet. `won`: the card has the money, or your wallet if the card is terminated.
    `lost`: the shop keeps it. `withdrawn`: by you. `closed`: nothing is left of the purchase to decide on.
    """
    reason: str
    """The cardholder's reason."""
    amount: Decimal
    """What is disputed, in the shop's currency. What the shop refunds meanwhile is subtracted."""
    currency: str
    """Currency of the shop."""
    credited: Decimal
    """What the card got for it, in the card's currency. 0.00 unless it is won."""
    card_currency: str
    """Currency of the card."""
    filed_at: dt.datetime
    """Time at which it was filed, in UTC."""
    outcome: str | None = None
    """How it ended, in words. Null while it is open."""
    ended_at: dt.datetime | None = None
    """Time at which it ended, in UTC. Null while it is open."""
    refund_ref: str | None = None
    """The `txnRef` of the refund by which the card got the money. Null if it got none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "dispute_id": "dispute_id",
        "reference": "reference",
        "txn_ref": "txnRef",
        "state": "state",
        "reason": "reason",
        "amount": "amount",
        "currency": "currency",
        "credited": "credited",
        "card_currency": "card_currency",
        "outcome": "outcome",
        "filed_at": "filed_at",
        "ended_at": "ended_at",
        "refund_ref": "refundRef",
    }


@dataclass(frozen=True)
class CardEvidenceView(Result):
    """The evidence that was sent."""

    files: tuple[EvidenceFileLine, ...]
    """The files, in the order in which they were sent."""
    explanation: str | None = None
    """What happened, in the cardholder's words. Null if there is none, or it was erased."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"explanation": "explanation", "files": "files"}


@dataclass(frozen=True)
class CardFacts(Result):
    """The known facts of a card. If its issuer is unknown, only `bin` and perhaps `brand` have a value."""

    bin: str
    """The first six digits, which name the issuer."""
    brand: str | None = None
    """Card network, such as `visa`. Null if unknown."""
    type: str | None = None
    """Kind of card: `debit` or `credit`. Null if the issuer is unknown."""
    issuer: str | None = None
    """Name of the bank that issued the card. Null if unknown."""
    country: str | None = None
    """Country of the issuer. Null if unknown: payments are then priced as by a local card."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "bin": "bin",
        "brand": "brand",
        "type": "type",
        "issuer": "issuer",
        "country": "country",
    }


@dataclass(frozen=True)
class CardFactsReply(Result):
    """The known facts of a card."""

    status: int
    """200, also for a card of an unknown issuer."""
    data: CardFacts
    """The facts."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class CardTransaction(Result):
    """A transaction of a card: a purchase or refund, a movement between wallet and card, or a fee."""

    id: int
    """Number of the record, made by the service."""
    amount: Decimal
    """Amount, always positive, in `currency`."""
    fee: Decimal
    """Fee without VAT that the wallet paid for this movement, in `currency`. Its VAT is a record of its own."""
    narration: str
    """Kind of the record, such as `Card Purchase`, `Card Funding` or `Monthly Fee`."""
    description: str
    """Same as `narration`."""
    date_created: dt.datetime
    """Time of the record, in UTC."""
    status: Literal["Failed", "Successful"]
    """`Successful`, or `Failed` for a declined purchase or refund, or a monthly fee that the card could not pay."""
    currency: str
    """The card's currency; of a declined purchase or refund, that of the shop."""
    reference: str
    """The card."""
    effect: Decimal
    """Change of the card's balance: negative if money left the card, 0 for failed records and those about the
    wallet. All effects add up to the balance.
    """
    txn_ref: str | None = None
    """Reference of the purchase or refund. Absent for other records."""
    refund_of: str | None = None
    """The `txnRef` of the purchase that was refunded. Absent for other records."""
    authorization_ref: str | None = None
    """The `txnRef` of the authorization that the purchase captured, or was declined to. Absent for other records."""
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
    """Why the purchase was declined. Absent for other records."""
    decision: DecisionShown | None = None
    """What your decider said of the purchase or authorization. Absent if none was asked."""
    dispute_id: str | None = None
    """The last dispute of the purchase. Absent if there was none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "amount": "amount",
        "fee": "fee",
        "narration": "narration",
        "description": "description",
        "date_created": "dateCreated",
        "status": "status",
        "currency": "currency",
        "reference": "reference",
        "effect": "effect",
        "txn_ref": "txnRef",
        "refund_of": "refundOf",
        "authorization_ref": "authorizationRef",
        "decline_reason": "declineReason",
        "decision": "decision",
        "dispute_id": "dispute_id",
    }


@dataclass(frozen=True)
class CashcodeCancelReply(Result):
    """A cancelled cashcode. The money that was held for it is available again."""

    status: int
    """200, also if the code was cancelled before."""
    order_ref: str
    """Your reference of the code."""
    txn_status: Literal["failed", "pending", "successful"]
    """Always `failed`: no cash was drawn."""
    state: Literal["active", "cancelled", "expired", "locked", "redeemed"]
    """Always `cancelled`."""
    message: str
    """The state in words."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "txn_status": "txnStatus",
        "state": "state",
        "message": "message",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class CashcodeRedeemReply(Result):
    """The result of drawing cash, in the test environment."""

    status: int
    """200: the cash was paid."""
    order_ref: str
    """Your reference of the code."""
    txn_status: Literal["failed", "pending", "successful"]
    """`successful`: the code is used up."""
    amount: Decimal
    """Cash that was paid, in naira, as text or number as in the request."""
    returned: Decimal
    """Part of the code's amount that was not drawn and is available in the wallet again, in naira."""
    channel: Literal["ATM", "POS", "WEB"]
    """Place where the code was used."""
    message: str
    """The outcome in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "txn_status": "txnStatus",
        "amount": "amount",
        "returned": "returned",
        "channel": "channel",
        "message": "message",
    }


@dataclass(frozen=True)
class CashcodeReply(Result):
    """A new cashcode, or the state of the first one if the request was repeated."""

    status: int
    """200."""
    order_ref: str
    """Your reference of the code."""
    amount: Decimal
    """Cash that the code draws, in naira, as text or number as in the request."""
    channel: Literal["ATM", "POS", "WEB"]
    """Place where the code can be used."""
    expires_at: dt.datetime
    """Time at which the code expires, in UTC."""
    txn_status: Literal["failed", "pending", "successful"]
    """`pending` until the code ends; `successful` once cash was drawn; `failed` if it expired, was cancelled or is
    locked.
    """
    message: str
    """The state in words."""
    cashcode: str | None = field(default=None, repr=False)
    """The code. It is shown this once: absent from the reply to a repeated request, and of a dry run."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "cashcode": "cashcode",
        "amount": "amount",
        "channel": "channel",
        "expires_at": "expires_at",
        "txn_status": "txnStatus",
        "message": "message",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class CashcodeState(Result):
    """The current state of a cashcode."""

    status: int
    """200: the reference is known. `state` says what became of the code."""
    order_ref: str
    """Your reference of the code."""
    txn_status: Literal["failed", "pending", "successful"]
    """`pending` while the code is active; `successful` once cash was drawn; else `failed`."""
    state: Literal["active", "cancelled", "expired", "locked", "redeemed"]
    """`active`: can be used. `redeemed`: cash was drawn. `expired`, `cancelled` (by you) and `locked` (after three
    wrong PINs): the held money is available again.
    """
    amount: Decimal
    """Cash that the code draws, in naira."""
    paid: Decimal
    """Cash that was drawn, in naira. It may be less than the amount by `POS` and `WEB`; the rest is available again."""
    fee: Decimal
    """Fee without VAT, in naira; 0.00 if the code ended without being used."""
    vat: Decimal
    """VAT on the fee, in naira; 0.00 if the code ended without being used."""
    channel: Literal["ATM", "POS", "WEB"]
    """Place where the code can be used."""
    expires_at: dt.datetime
    """Time at which the code expires, in UTC."""
    message: str
    """The state in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "order_ref": "orderRef",
        "txn_status": "txnStatus",
        "state": "state",
        "amount": "amount",
        "paid": "paid",
        "fee": "fee",
        "vat": "vat",
        "channel": "channel",
        "expires_at": "expires_at",
        "message": "message",
    }


@dataclass(frozen=True)
class CashoutReply(Result):
    """The result of a cash-out. A dry run explains each figure and has no txnRef."""

    status: int
    """200, or 201 if the bank's answer could not be read: the transfer stays open and the bank is asked again."""
    message: str
    """The outcome in words; of a failed transfer, the reason."""
    balance: Decimal
    """Money that can be taken out after the cash-out, in naira."""
    txn_ref: str | None = None
    """Reference of the cash-out, made by the service. Absent in a dry run and if empty savings were closed."""
    txn_status: str | None = None
    """`successful` and `failed` are final; `processing` and `pending` as for a transfer. Absent for `cashcode`, in a
    dry run and if empty savings were closed.
    """
    savings_id: str | None = None
    """The savings account. Absent in a dry run."""
    dry_run: bool | None = None
    """True in a dry run: nothing was paid. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "savings_id": "savings_id",
        "balance": "balance",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class CertificateReply(Result):
    """The links to a certificate and to what proves it. They need no key: whoever has one can read what it shows."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    link: str
    """Address of the certificate, a PDF. Its QR code is `proof_link`."""
    expires: dt.datetime
    """Time until which `link` works, in UTC: an hour from now."""
    proof_link: str
    """Address of what proves the certificate, as JSON without personal data: the balance, the newest posting and the
    signed close of the books that has it.
    """
    proof_expires: dt.datetime
    """Time until which `proof_link` works, in UTC: a year after the end of the running term."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "link": "link",
        "expires": "expires",
        "proof_link": "proof_link",
        "proof_expires": "proof_expires",
    }


@dataclass(frozen=True)
class ChargeableBank(Result):
    """A bank whose accounts can be debited."""

    bankname: str
    """Name of the bank."""
    bankcode: str
    """Code of the bank, for `account.bankcode`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"bankname": "bankname", "bankcode": "bankcode"}


@dataclass(frozen=True)
class ChargeableBanksReply(Result):
    """The banks whose accounts can be debited."""

    status: int
    """200."""
    data: tuple[ChargeableBank, ...]
    """The banks, by name."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class Charges(Result):
    """The cost of a payment. `fee` excludes VAT. The payer pays `total_charge`, the merchant gets `settled`."""

    amount: Decimal
    """Amount of the payment, as in the request."""
    fee: Decimal
    """Fee without VAT."""
    vat: Decimal
    """VAT on the fee."""
    total_charge: Decimal
    """Amount that the payer pays: `amount`, or more if the customer bears the fee."""
    settled: Decimal
    """Amount that reaches the wallet: `total_charge` less fee and VAT."""
    currency: str
    """Currency of the amounts."""
    bearer: str
    """Payer of the fee: `merchant` or `customer`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "total_charge": "total_charge",
        "settled": "settled",
        "currency": "currency",
        "bearer": "bearer",
    }


@dataclass(frozen=True)
class ChargesReply(Result):
    """The cost of a payment. Nothing is charged."""

    status: int
    """200: the payment could be made at this price."""
    data: Charges
    """The figures."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class CheckoutReply(Result):
    """A checkout that was opened. Send its payer to `checkoutURL`."""

    status: int
    """202: the payer must pay on the page."""
    txn_ref: str
    """Reference of the checkout, by which `verify` shows it. The payments that are made for it have their own."""
    checkout_url: str
    """Address of the page. It is a secret of the payer: whoever has it sees the checkout and its receipt."""
    expires: dt.datetime
    """Time until which it can be paid, in UTC."""
    access_code: str
    """Last part of that address, by which `kasuwa.js` opens the page in yours. It is the same secret."""
    message: str
    """The next step in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "checkout_url": "checkoutURL",
        "expires": "expires",
        "access_code": "access_code",
        "message": "message",
    }


@dataclass(frozen=True)
class CheckoutReport(Result):
    """A checkout as `verify` shows it."""

    state: Literal["expired", "open", "paid"]
    """`open`: it can be paid. `paid`: an attempt has succeeded. `expired`: its time is over, and it was not paid."""
    amount: Decimal
    """Amount of the checkout, without a fee that the payer bears."""
    url: str
    """Address of its page."""
    expires: dt.datetime
    """Time until which an attempt may begin, in UTC."""
    attempts: int
    """Number of attempts to pay it, each a payment of its own."""
    source: str
    """What the checkout was opened for: `checkout` (by the API), `link`, `ticket` or `invoice`."""
    payment_ref: str | None = None
    """The `txnRef` of the payment that succeeded, by which it is refunded. Null if none did."""
    attempt_ref: str | None = None
    """The `txnRef` of the newest attempt. Null if there was none."""
    source_id: str | None = None
    """Identifier of the link or other source. Null if the API opened it."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "state": "state",
        "amount": "amount",
        "url": "url",
        "expires": "expires",
        "attempts": "attempts",
        "payment_ref": "paymentRef",
        "attempt_ref": "attemptRef",
        "source": "source",
        "source_id": "source_id",
    }


@dataclass(frozen=True)
class ClientRecord(Result):
    """A client with a masked BVN. An erased one has only its id, status and dates."""

    client_id: str
    """Identifier of the client, made by the service. Loans and savings take it. Null in a dry run of `create`."""
    status: Literal["active", "blacklisted", "exited", "inactive", "pending_approval", "rejected"]
    """`pending_approval`: not decided yet. `active`: may borrow and save. `inactive`: may not at present.
    `rejected`: may be submitted again. `exited` and `blacklisted` are final.
    """
    bvn_verified: bool
    """Whether names and date of birth agreed with the BVN register, and have not changed since."""
    date_created: dt.datetime
    """Time at which the client was created, in UTC."""
    bvn_verification: BvnVerification | None = None
    """How the BVN was verified, or the consent that is awaited. Absent if it was not to be verified."""
    firstname: str | None = None
    """First name."""
    lastname: str | None = None
    """Last name."""
    middlename: str | None = None
    """Middle name. Absent if unknown."""
    email: str | None = None
    """Email address. Absent if unknown."""
    gender: str | None = None
    """Gender. Absent if unknown."""
    dob: dt.date | None = None
    """Date of birth, as YYYY-MM-DD. Absent if unknown."""
    phone: str | None = None
    """Telephone number as it was sent. Absent if unknown."""
    bvn: str | None = field(default=None, repr=False)
    """Bank Verification Number, masked but for its first three and last two digits. Absent if unknown."""
    addresses: tuple[Mapping[str, Any], ...] | None = None
    """Addresses, with all fields that were sent. Absent if there are none."""
    bank_account: Mapping[str, Any] | None = None
    """Bank account that loans and cash-outs are paid to, with all fields that were sent. Absent if there is none."""
    meta: Mapping[str, Any] | None = None
    """Your own object. Absent if there is none."""
    identification: Mapping[str, Any] | None = None
    """Document that identifies the client, with all fields that were sent. Absent if there is none."""
    photo: str | None = None
    """SHA-256 of the client's photograph. Absent if unknown."""
    date_erased: dt.datetime | None = None
    """Time at which the personal data were erased, in UTC. Absent if they were not."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "client_id": "client_id",
        "status": "status",
        "bvn_verified": "bvn_verified",
        "bvn_verification": "bvn_verification",
        "firstname": "firstname",
        "lastname": "lastname",
        "middlename": "middlename",
        "email": "email",
        "gender": "gender",
        "dob": "dob",
        "phone": "phone",
        "bvn": "bvn",
        "addresses": "addresses",
        "bank_account": "bankAccount",
        "meta": "meta",
        "identification": "identification",
        "photo": "photo",
        "date_created": "dateCreated",
        "date_erased": "dateErased",
    }


@dataclass(frozen=True)
class ClientReply(Result):
    """One client, after a change if the request had one."""

    status: int
    """200. 202: the person must consent to the look-up of the BVN, on the page that `bvn_verification` names; then
    send `update` with `verify_bvn`.
    """
    message: str
    """The outcome in words."""
    data: ClientRecord
    """The client."""
    dry_run: bool | None = None
    """True in a dry run: nothing was stored. Else absent."""
    tier: ClientTier | None = None
    """The client's tier and limits, in the reply to `view`. Absent if the limits by tier do not apply to your
    clients.
    """
    held: tuple[str, ...] | None = None
    """Payments whose money is still held although the limits do not apply any more, by `txnRef`: the newest 100, in
    the reply to `view`. Else absent: `tier` has them.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "tier": "tier",
        "held": "held",
    }


@dataclass(frozen=True)
class ClientTier(Result):
    """The tier of a client and its limits."""

    tier: int
    """The tier: 0 to 3. Tier 0 lacks something of tier 1."""
    limits: TierLimitsShown
    """The limits of the tier."""
    used: TierUse
    """What of them is used."""
    next: NextTier | None = None
    """What the next tier needs. Absent in tier 3."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"tier": "tier", "limits": "limits", "used": "used", "next": "next"}


@dataclass(frozen=True)
class ClockReply(Result):
    """The merchant's business time."""

    status: int
    """200."""
    now: dt.datetime
    """Business time, in Lagos time with its offset."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "now": "now"}


@dataclass(frozen=True)
class CloseAccountReply(Result):
    """The account after the request."""

    status: int
    """200: the account is closed. 202: the bank has not confirmed it yet; ask again, or wait for the event."""
    message: str
    """The outcome in words."""
    data: AccountLine
    """The account."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class CloseReply(Result):
    """A close of the books of all merchants of the test environment."""

    status: int
    """Always 200."""
    close_number: int
    """Number of the close."""
    closed_at: dt.datetime
    """Time of the close by the server's clock, in UTC."""
    root: str
    """Root of the close's tree, in hexadecimal."""
    public_key: str
    """Ed25519 key that checks the close and the proofs, in hexadecimal."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "close_number": "close_number",
        "closed_at": "closed_at",
        "root": "root",
        "public_key": "public_key",
    }


@dataclass(frozen=True)
class CollateralRecord(Result):
    """A thing that secures a loan, as you described it. No money is held for it."""

    loan_id: str
    """The loan."""
    client_id: str
    """The client who borrows."""
    description: str
    """What it is. `(erased)` once the client's personal data were erased."""
    value: Decimal
    """What it is worth, in naira."""
    documents: tuple[str, ...]
    """SHA-256 hashes of its documents, in hexadecimal digits."""
    state: Literal["held", "returned"]
    """Whether you hold it, or have given it back."""
    date_created: dt.datetime
    """Time at which it was recorded, in UTC."""
    collateral_id: str | None = None
    """Identifier of the collateral, made by the service. Null in a dry run of `collateral`."""
    date_returned: dt.datetime | None = None
    """Time at which it was given back, in UTC. Absent before."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "collateral_id": "collateral_id",
        "loan_id": "loan_id",
        "client_id": "client_id",
        "description": "description",
        "value": "value",
        "documents": "documents",
        "state": "state",
        "date_created": "dateCreated",
        "date_returned": "dateReturned",
    }


@dataclass(frozen=True)
class CollateralReply(Result):
    """Collateral, after a change."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: CollateralRecord
    """The collateral."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class CollectLine(Result):
    """An amount after it was recorded or refused."""

    loan_id: str
    """The loan."""
    amount: Decimal
    """The amount, in naira."""
    state: Literal["collected", "refused"]
    """Whether it was recorded."""
    client_id: str | None = None
    """The member. Absent if the loan is unknown."""
    txn_ref: str | None = None
    """Reference of the repayment. Absent in a dry run, and if it was refused."""
    allocation: RepaymentAllocation | None = None
    """The parts of the loan that it covers. Absent if it was refused."""
    outstanding: Decimal | None = None
    """What the loan owes by its schedule then, in naira. Absent if it was refused."""
    code: str | None = None
    """Why it was refused, as the code of an error. Absent if it was recorded."""
    message: str | None = None
    """The same in words. Absent if it was recorded."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "loan_id": "loan_id",
        "client_id": "client_id",
        "amount": "amount",
        "state": "state",
        "txn_ref": "txnRef",
        "allocation": "allocation",
        "outstanding": "outstanding",
        "code": "code",
        "message": "message",
    }


@dataclass(frozen=True)
class CollectReply(Result):
    """The amounts of a meeting after they were recorded or refused."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    group_id: str
    """The group."""
    amount: Decimal
    """Sum of what was recorded, in naira."""
    data: tuple[CollectLine, ...]
    """One line an amount, in their order."""
    dry_run: bool | None = None
    """True in a dry run: nothing was recorded. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "group_id": "group_id",
        "amount": "amount",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class CollectionRecord(Result):
    """One attempt to collect what was due of a loan."""

    loan_id: str
    """The loan."""
    n: int
    """Number of the attempt, from 1 for the loan."""
    due: dt.date
    """Day that was collected, as YYYY-MM-DD."""
    source: Literal["savings", "token", "wallet"]
    """Where the money was to come from."""
    amount: Decimal
    """What was due, in naira."""
    state: Literal["charging", "collected", "declined"]
    """`charging`: the card is being charged."""
    date_created: dt.datetime
    """Time of the attempt, in UTC."""
    reason: (
        Literal[
            "card_declined",
            "card_erased",
            "card_refused",
            "no_due_date",
            "repayment_reversed",
            "savings_closed",
            "savings_dormant",
            "savings_held",
            "savings_short",
            "wallet_short",
        ]
        | None
    ) = None
    """Why it was declined. Absent unless it was."""
    message: str | None = None
    """The same in words, of a card as its bank said it. Absent unless it was declined."""
    is_final: bool | None = None
    """Whether nothing is tried again for that day. Absent unless it was declined."""
    txn_ref: str | None = None
    """Reference of the repayment, or of the charge. Absent if the savings or the wallet were short."""
    next_date: dt.date | None = None
    """Day of the next step that was planned then, as YYYY-MM-DD. Absent if there was none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "loan_id": "loan_id",
        "n": "n",
        "due": "due",
        "source": "source",
        "amount": "amount",
        "state": "state",
        "reason": "reason",
        "message": "message",
        "is_final": "is_final",
        "txn_ref": "txnRef",
        "next_date": "next_date",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class CollectionSheetReply(Result):
    """The sheet of a meeting of a group."""

    status: int
    """200."""
    data: SheetRecord
    """The sheet."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class CompareWorldsReply(Result):
    """The differences of two worlds."""

    status: int
    """200."""
    data: tuple[WorldDifference, ...]
    """The tables in which they differ. Empty if they are the same."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class CustomerCard(Result):
    """A saved card of a customer."""

    card: str
    """The masked number of the card."""
    token: str = field(repr=False)
    """The first characters of the card's token."""
    created_at: dt.datetime
    """Time at which the card was saved, in UTC."""
    brand: str | None = None
    """Card network, such as `visa`. Null if unknown."""
    issuer: str | None = None
    """Name of the bank that issued the card. Null if unknown."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "card": "card",
        "brand": "brand",
        "issuer": "issuer",
        "token": "token",
        "created_at": "created_at",
    }


@dataclass(frozen=True)
class CustomerDetail(Result):
    """A customer with what belongs to it."""

    customer_id: str
    """Identifier of the customer."""
    created_at: dt.datetime
    """Time of the first registration, in UTC."""
    totals: tuple[CustomerTotal, ...]
    """Totals of the customer's payments, one line a currency."""
    invoices: tuple[CustomerInvoices, ...]
    """Totals of the customer's invoices, one line a currency."""
    cards: tuple[CustomerCard, ...]
    """Saved cards of the customer's newest 1,000 payments, newest first, at most 20."""
    transactions: tuple[CustomerPayment, ...]
    """The newest 20 payments."""
    name: str | None = None
    """Name of the customer."""
    email: str | None = None
    """Email address as it was sent last. Null if the customer is known by the telephone number."""
    phone: str | None = None
    """Telephone number. Null if it was never sent."""
    address: str | None = None
    """Postal address. Null if it was never sent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "customer_id": "customer_id",
        "name": "name",
        "email": "email",
        "phone": "phone",
        "address": "address",
        "created_at": "created_at",
        "totals": "totals",
        "invoices": "invoices",
        "cards": "cards",
        "transactions": "transactions",
    }


@dataclass(frozen=True)
class CustomerDetailReply(Result):
    """One customer."""

    status: int
    """200: there is such a customer."""
    message: str
    """The outcome in words."""
    data: CustomerDetail
    """The customer."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class CustomerInvoices(Result):
    """The invoices of a customer in one currency, without void ones."""

    currency: str
    """Currency of the amounts."""
    invoices: int
    """Number of invoices."""
    overdue: int
    """Number of those that are overdue."""
    total: Decimal
    """Sum of their totals."""
    paid: Decimal
    """What was paid of them, refunded payments included."""
    refunded: Decimal
    """What was refunded of these payments."""
    outstanding: Decimal
    """What is left to pay."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "currency": "currency",
        "invoices": "invoices",
        "overdue": "overdue",
        "total": "total",
        "paid": "paid",
        "refunded": "refunded",
        "outstanding": "outstanding",
    }


@dataclass(frozen=True)
class CustomerPayment(Result):
    """A payment of a customer."""

    txn_ref: str
    """Reference of the payment."""
    customer_txnref: str
    """Your own reference. Empty if you gave none."""
    txn_status: Literal["failed", "pending", "processing", "successful"]
    """State of the payment."""
    currency: str
    """Currency of the payment."""
    amount: Decimal
    """Amount of the payment."""
    method: str
    """Payment type."""
    date_created: dt.datetime
    """Time at which the payment began, in UTC."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "txn_ref": "txnRef",
        "customer_txnref": "customer_txnref",
        "txn_status": "txnStatus",
        "currency": "currency",
        "amount": "amount",
        "method": "method",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class CustomerRecord(Result):
    """A customer. Personal data of an erased customer are null."""

    customer_id: str
    """Identifier of the customer."""
    created_at: dt.datetime
    """Time of the first registration, in UTC."""
    name: str | None = None
    """Name of the customer."""
    email: str | None = None
    """Email address as it was sent last. Null if the customer is known by the telephone number."""
    phone: str | None = None
    """Telephone number. Null if it was never sent."""
    address: str | None = None
    """Postal address. Null if it was never sent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "customer_id": "customer_id",
        "name": "name",
        "email": "email",
        "phone": "phone",
        "address": "address",
        "created_at": "created_at",
    }


@dataclass(frozen=True)
class CustomerRegisteredReply(Result):
    """The customer, new or brought up to date."""

    status: int
    """200: the customer is registered."""
    message: str
    """The outcome in words."""
    data: CustomerRecord
    """The customer."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class CustomerTotal(Result):
    """The payments of a customer in one currency."""

    currency: str
    """Currency of the amounts."""
    payments: int
    """Number of successful payments."""
    paid: Decimal
    """Sum of the successful payments, refunded ones included."""
    refunded: Decimal
    """Sum of the successful refunds of these payments."""
    failed: int
    """Number of failed payments."""
    open: int
    """Number of payments that have not ended."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "currency": "currency",
        "payments": "payments",
        "paid": "paid",
        "refunded": "refunded",
        "failed": "failed",
        "open": "open",
    }


@dataclass(frozen=True)
class DeciderReply(Result):
    """The decider of purchases after a change."""

    status: int
    """200: it decides from now on, or would."""
    message: str
    """The outcome in words."""
    data: DeciderShown
    """Who decides."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class DeciderShown(Result):
    """The decider of purchases, besides the card's own limits."""

    on_timeout: Literal["approve", "decline"]
    """What counts if there is no answer in time."""
    reference: str | None = None
    """The card that it is set for. Absent: all cards that have none of their own."""
    decision_url: str | None = None
    """Address that is asked. Null: nobody is asked."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "reference": "reference",
        "decision_url": "decision_url",
        "on_timeout": "on_timeout",
    }


@dataclass(frozen=True)
class DecisionShown(Result):
    """The answer of your decider to a purchase."""

    id: str
    """Identifier of the request that it was asked with."""
    answer: Literal["approved", "declined", "none"]
    """Its answer. `none`: there was no answer that counts, and what `on_timeout` says was done."""
    latency_ms: int
    """Milliseconds until the answer, or until the wait ended."""
    fault: Literal["busy", "paused", "refused", "timeout", "unreachable", "unreadable", "unsigned"] | None = None
    """Why no answer counts. `timeout`: none within 2 seconds. `unreachable`: no connection, or it broke.
    `unreadable`: not HTTP 2xx with the JSON that is asked for. `refused`: the address is not allowed. `paused`:
    it failed several times in a row, and is left alone for 15 seconds. `busy`: too many purchases of yours wait.
    `unsigned`: no secret of yours can be read. Absent if there was an answer.
    """
    reason: str | None = None
    """The `reason` of its answer, at most 200 characters. Absent if it gave none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "answer": "answer",
        "fault": "fault",
        "reason": "reason",
        "latency_ms": "latency_ms",
    }


@dataclass(frozen=True)
class DeliveryAttempt(Result):
    """One attempt to deliver an event."""

    number: int
    """Number of the attempt for this event, counted from 1."""
    at: dt.datetime
    """Time of the attempt, in UTC."""
    ms: int
    """Duration of the attempt in milliseconds."""
    http: int | None = None
    """HTTP status of your endpoint's answer. Null if there was none."""
    error: str | None = None
    """Why the attempt failed. Null if the event was delivered."""
    response: str | None = None
    """The first 1,000 characters of your endpoint's answer, with anything that looks like a secret masked. Null if
    there was none.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "number": "number",
        "at": "at",
        "http": "http",
        "error": "error",
        "ms": "ms",
        "response": "response",
    }


@dataclass(frozen=True)
class DepositReply(Result):
    """The reply of the payment. A deposit from the wallet also has the new balance. A dry run explains each figure
    and has no txnRef.
    """

    status: int
    """200: `txnStatus` says the outcome. 201: the rail's answer could not be read, the payment is pending. 202: a
    further step is needed, named by the fields `apply_auth` to `expires`.
    """
    message: str
    """The outcome or the next step in words. Of a failed payment it says who declined and why."""
    txn_ref: str | None = None
    """Reference of the payment, made by the service. Absent in a dry run of a payment that would begin."""
    txn_status: Literal["failed", "pending", "successful"] | None = None
    """`successful` and `failed` are final. `pending`: the outcome is not known yet; verify later. Absent with status
    202 and in a dry run.
    """
    loan_id: str | None = None
    """The loan that the payment repays. Absent for every other payment."""
    savings_id: str | None = None
    """The savings account that the payment is deposited to. Absent for every other payment."""
    checkout_ref: str | None = None
    """The checkout that the payment is an attempt to pay. Absent for every other payment."""
    apply_auth: str | None = None
    """Reply of `initiate`: the authentication that the card's bank wants, `PIN`, `OTP` or `3DSecure`. Call `charge`
    next, or for `OTP` call `validate`. `redirect`: the payer enters the card at `authURL`, and nothing is called.
    """
    auth_type: str | None = None
    """What the payer does next: `OTP`: tell the code for `validate`; `ussd`: dial `ussd_code`; `device`: approve,
    scan or transfer. Absent if there is an `authURL`.
    """
    validate: str | None = None
    """A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."""
    auth_url: str | None = None
    """Page on which the payer approves the payment, or pays. Open it in a window, one of ours also in a frame.
    Present for 3-D Secure and paga, and where payers pay on the page of a vendor.
    """
    state: str | None = None
    """`validated` in the reply to a savings deposit that awaits an OTP. Absent otherwise."""
    ussd_code: str | None = None
    """The code that the payer dials. Present for `ussd`."""
    enrolment: bool | None = None
    """True for the first `phone` payment of a number at this merchant: the payer enrolls on the telephone. Else
    absent.
    """
    qr_code: str | None = None
    """Content of the QR code (EMVCo), to draw it yourself. Present for `qrpay`."""
    qr_image: str | None = None
    """Address of the QR code as an SVG image. Present for `qrpay`."""
    account_number: str | None = None
    """Account that the payer transfers the money to, made for this payment. Present for `bank_transfer`."""
    account_name: str | None = None
    """Name of that account: the request's `business_name`, or the merchant's name."""
    bank_name: str | None = None
    """Bank of that account."""
    account_expires: int | None = None
    """Seconds from the beginning of the payment until the account is no longer valid."""
    amount: Decimal | None = None
    """Amount that the payer must transfer, with the fee if the customer bears it. Present for `bank_transfer`."""
    expires: int | None = None
    """Seconds from the beginning of the payment until the code is no longer valid. Present for `ussd` and `qrpay`."""
    card_token: str | None = field(default=None, repr=False)
    """Token of the saved card, for payments of type `token`. Present if a card payment was successful."""
    bank_message: str | None = None
    """Answer of the payer's bank or provider in its own words; of a failed payment, the reason."""
    fullname: str | None = None
    """First and last name of the payer as sent with `user`. Empty if unknown."""
    email: str | None = None
    """Email address of the payer as sent with `user`. Empty if unknown."""
    charged_amount: Decimal | None = None
    """Amount that the payer was charged, with the fee if the customer bears it; 0.00 if the payment failed."""
    fraud_status: str | None = None
    """Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."""
    card: PayerCard | None = None
    """The card that was charged. Present for card and token payments."""
    currency: str | None = None
    """Currency of the charged amount."""
    payment_method: str | None = None
    """The payment type, such as `card` or `ussd`; `wallet` if a loan or savings account was paid from the wallet."""
    meta: Mapping[str, Any] | None = None
    """The object that was sent as `meta`. Absent if there was none."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed, and no rail was asked. Else absent."""
    charges: Charges | None = None
    """What the payment would cost now. Present in a dry run of `initiate` and `charge`."""
    balance: Decimal | None = None
    """Money in the savings that can be taken out after the deposit, in naira. Present for `wallet` and in a dry run."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "dry_run": "dry_run",
        "charges": "charges",
        "balance": "balance",
        "explained": "explained",
    }


@dataclass(frozen=True)
class DepositValidateReply(Result):
    """The outcome of a deposit after the payer's code, or of a dry run."""

    status: int
    """200: `txnStatus` says the outcome. 201: the rail's answer could not be read, the payment is pending. 202: a
    further step is needed, named by the fields `apply_auth` to `expires`.
    """
    message: str
    """The outcome or the next step in words. Of a failed payment it says who declined and why."""
    txn_ref: str | None = None
    """Reference of the payment, made by the service. Absent in a dry run of a payment that would begin."""
    txn_status: Literal["failed", "pending", "successful"] | None = None
    """`successful` and `failed` are final. `pending`: the outcome is not known yet; verify later. Absent with status
    202 and in a dry run.
    """
    loan_id: str | None = None
    """The loan that the payment repays. Absent for every other payment."""
    savings_id: str | None = None
    """The savings account that the payment is deposited to. Absent for every other payment."""
    checkout_ref: str | None = None
    """The checkout that the payment is an attempt to pay. Absent for every other payment."""
    apply_auth: str | None = None
    """Reply of `initiate`: the authentication that the card's bank wants, `PIN`, `OTP` or `3DSecure`. Call `charge`
    next, or for `OTP` call `validate`. `redirect`: the payer enters the card at `authURL`, and nothing is called.
    """
    auth_type: str | None = None
    """What the payer does next: `OTP`: tell the code for `validate`; `ussd`: dial `ussd_code`; `device`: approve,
    scan or transfer. Absent if there is an `authURL`.
    """
    validate: str | None = None
    """A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."""
    auth_url: str | None = None
    """Page on which the payer approves the payment, or pays. Open it in a window, one of ours also in a frame.
    Present for 3-D Secure and paga, and where payers pay on the page of a vendor.
    """
    state: str | None = None
    """`validated` in the reply to a savings deposit that awaits an OTP. Absent otherwise."""
    ussd_code: str | None = None
    """The code that the payer dials. Present for `ussd`."""
    enrolment: bool | None = None
    """True for the first `phone` payment of a number at this merchant: the payer enrolls on the telephone. Else
    absent.
    """
    qr_code: str | None = None
    """Content of the QR code (EMVCo), to draw it yourself. Present for `qrpay`."""
    qr_image: str | None = None
    """Address of the QR code as an SVG image. Present for `qrpay`."""
    account_number: str | None = None
    """Account that the payer transfers the money to, made for this payment. Present for `bank_transfer`."""
    account_name: str | None = None
    """Name of that account: the request's `business_name`, or the merchant's name."""
    bank_name: str | None = None
    """Bank of that account."""
    account_expires: int | None = None
    """Seconds from the beginning of the payment until the account is no longer valid."""
    amount: Decimal | None = None
    """Amount that the payer must transfer, with the fee if the customer bears it. Present for `bank_transfer`."""
    expires: int | None = None
    """Seconds from the beginning of the payment until the code is no longer valid. Present for `ussd` and `qrpay`."""
    card_token: str | None = field(default=None, repr=False)
    """Token of the saved card, for payments of type `token`. Present if a card payment was successful."""
    bank_message: str | None = None
    """Answer of the payer's bank or provider in its own words; of a failed payment, the reason."""
    fullname: str | None = None
    """First and last name of the payer as sent with `user`. Empty if unknown."""
    email: str | None = None
    """Email address of the payer as sent with `user`. Empty if unknown."""
    charged_amount: Decimal | None = None
    """Amount that the payer was charged, with the fee if the customer bears it; 0.00 if the payment failed."""
    fraud_status: str | None = None
    """Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."""
    card: PayerCard | None = None
    """The card that was charged. Present for card and token payments."""
    currency: str | None = None
    """Currency of the charged amount."""
    payment_method: str | None = None
    """The payment type, such as `card` or `ussd`; `wallet` if a loan or savings account was paid from the wallet."""
    meta: Mapping[str, Any] | None = None
    """The object that was sent as `meta`. Absent if there was none."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed, and no rail was asked. Else absent."""
    charges: Charges | None = None
    """What the payment would cost now. Present in a dry run of `initiate` and `charge`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "dry_run": "dry_run",
        "charges": "charges",
    }


@dataclass(frozen=True)
class DisputeChanged(Result):
    """The dispute after the request."""

    status: int
    """200: it was done."""
    message: str
    """The outcome in words."""
    data: DisputeSummary
    """The dispute."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class DisputeDetail(Result):
    """A dispute with its evidence and its steps."""

    dispute_id: str
    """Reference of the dispute."""
    txn_ref: str
    """The payment that is disputed."""
    state: Literal["accepted", "expired", "lost", "needs_response", "under_review", "won"]
    """`needs_response`: answer it by `respond_by`; `under_review`: you sent evidence and the payer's bank decides;
    `won`: the money is yours again; `lost`, `accepted` (by you) and `expired` (no answer in time): the payer has
    it.
    """
    reason: str
    """The reason that the payer's bank gave."""
    amount: Decimal
    """The disputed amount, at most what was charged and not refunded."""
    currency: str
    """Currency of the payment and of the amounts."""
    fee: Decimal
    """Fee of the dispute by your tariff. You pay it unless you win."""
    vat: Decimal
    """VAT on the fee."""
    held: Decimal
    """What is held in the wallet for it: amount, fee and VAT as far as they were covered. 0.00 after its end."""
    respond_by: dt.datetime
    """Time by which you must respond, in UTC."""
    opened_at: dt.datetime
    """Time at which it was opened, in UTC."""
    timeline: tuple[DisputeStep, ...]
    """Its steps so far, oldest first. An event was sent at each."""
    ended_at: dt.datetime | None = None
    """Time at which it ended, in UTC. Null while it is open."""
    plan_id: str | None = None
    """The recurrent payment or installment plan that the payment was a charge of. It goes on: stop it if you should."""
    responded_at: str | None = None
    """Time of your response, in UTC. Null if there was none."""
    evidence: EvidenceView | None = None
    """The evidence that you sent. Null if there is none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "dispute_id": "dispute_id",
        "txn_ref": "txnRef",
        "state": "state",
        "reason": "reason",
        "amount": "amount",
        "currency": "currency",
        "fee": "fee",
        "vat": "vat",
        "held": "held",
        "respond_by": "respond_by",
        "opened_at": "opened_at",
        "ended_at": "ended_at",
        "plan_id": "plan_id",
        "responded_at": "responded_at",
        "evidence": "evidence",
        "timeline": "timeline",
    }


@dataclass(frozen=True)
class DisputeReply(Result):
    """The dispute."""

    status: int
    """200."""
    data: DisputeDetail
    """The dispute."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class DisputeStep(Result):
    """One step in the life of a dispute."""

    at: dt.datetime
    """Time of the step, in UTC."""
    step: str
    """What happened: `opened`, `reminder`, or the state that it got."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"at": "at", "step": "step"}


@dataclass(frozen=True)
class DisputeSummary(Result):
    """A dispute of a payment."""

    dispute_id: str
    """Reference of the dispute."""
    txn_ref: str
    """The payment that is disputed."""
    state: Literal["accepted", "expired", "lost", "needs_response", "under_review", "won"]
    """`needs_response`: answer it by `respond_by`; `under_review`: you sent evidence and the payer's bank decides;
    `won`: the money is yours again; `lost`, `accepted` (by you) and `expired` (no answer in time): the payer has
    it.
    """
    reason: str
    """The reason that the payer's bank gave."""
    amount: Decimal
    """The disputed amount, at most what was charged and not refunded."""
    currency: str
    """Currency of the payment and of the amounts."""
    fee: Decimal
    """Fee of the dispute by your tariff. You pay it unless you win."""
    vat: Decimal
    """VAT on the fee."""
    held: Decimal
    """What is held in the wallet for it: amount, fee and VAT as far as they were covered. 0.00 after its end."""
    respond_by: dt.datetime
    """Time by which you must respond, in UTC."""
    opened_at: dt.datetime
    """Time at which it was opened, in UTC."""
    ended_at: dt.datetime | None = None
    """Time at which it ended, in UTC. Null while it is open."""
    plan_id: str | None = None
    """The recurrent payment or installment plan that the payment was a charge of. It goes on: stop it if you should."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "dispute_id": "dispute_id",
        "txn_ref": "txnRef",
        "state": "state",
        "reason": "reason",
        "amount": "amount",
        "currency": "currency",
        "fee": "fee",
        "vat": "vat",
        "held": "held",
        "respond_by": "respond_by",
        "opened_at": "opened_at",
        "ended_at": "ended_at",
        "plan_id": "plan_id",
    }


@dataclass(frozen=True)
class DividendRecord(Result):
    """A dividend."""

    class_id: str
    """The class."""
    rate: str
    """Dividend in percent of the price of the shares."""
    record_date: dt.date
    """The day at whose end the shares were counted, as YYYY-MM-DD."""
    state: Literal["paid", "paying"]
    """`paying` until every member has the dividend."""
    members: int
    """Number of members who get a dividend."""
    members_paid: int
    """Number of them who have it."""
    gross: Decimal
    """Sum of all dividends before tax, in naira. It left the wallet when the dividend was declared."""
    paid: Decimal
    """Sum of the dividends that were paid, before tax, in naira."""
    withheld_tax: Decimal
    """Tax that was withheld from these, in naira."""
    returned: Decimal
    """Sum of the dividends of members whose savings account has closed, in naira. It is back in the wallet."""
    date_declared: dt.datetime
    """Time of the declaration, in UTC."""
    dividend_id: str | None = None
    """Identifier of the dividend, made by the service. Null in a dry run."""
    date_paid: dt.datetime | None = None
    """Time at which every member had the dividend, in UTC. Absent before."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "dividend_id": "dividend_id",
        "class_id": "class_id",
        "rate": "rate",
        "record_date": "record_date",
        "state": "state",
        "members": "members",
        "members_paid": "members_paid",
        "gross": "gross",
        "paid": "paid",
        "withheld_tax": "withheld_tax",
        "returned": "returned",
        "date_declared": "dateDeclared",
        "date_paid": "datePaid",
    }


@dataclass(frozen=True)
class DividendReply(Result):
    """A dividend after it was declared. A dry run explains each figure."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: DividendRecord
    """The dividend."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class DryRunFigure(Result):
    """One figure of a dry run, and how it was calculated."""

    what: str
    """Name of the figure."""
    amount: Decimal
    """Its value: money in naira unless `how` names another currency, or a word such as a state."""
    how: str
    """How the value was calculated, in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"what": "what", "amount": "amount", "how": "how"}


@dataclass(frozen=True)
class EarlierSchedule(Result):
    """The schedule that a loan had until it was rescheduled."""

    n: int
    """Place among the schedules of the loan, from 1."""
    until: dt.datetime
    """Time of the reschedule, in UTC."""
    interest_rate: Decimal
    """Interest rate that it had, in percent."""
    reason: str
    """Why the loan was rescheduled."""
    schedule: tuple[LoanScheduleLine, ...]
    """The installments as they were then."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "n": "n",
        "until": "until",
        "interest_rate": "interestRate",
        "reason": "reason",
        "schedule": "schedule",
    }


@dataclass(frozen=True)
class EventLine(Result):
    """An event of the log with its delivery."""

    event_id: str
    """Identifier of the event, which `resend` takes. Deliveries carry it in the header `webhook-id`."""
    sequence: int
    """Number of the event in your log, rising from 1."""
    txn_ref: str
    """Reference of the transaction that became final."""
    kind: str
    """Kind of the transaction, such as `payment`, `transfer`, `bill` or `refund`."""
    state: Literal["delivered", "endpoint_off", "exhausted", "no_endpoint", "scheduled"]
    """`delivered`; `scheduled`: an attempt is due; `exhausted`: the last attempt failed; `no_endpoint`: no URL was
    set; `endpoint_off`: it waits, because the endpoint was switched off after failing for days.
    """
    date_created: dt.datetime
    """Time at which the transaction became final, in UTC."""
    object: str
    """What the event belongs to, such as the payment of a refund. Deliveries carry it in the header
    `webhook-object`.
    """
    object_sequence: int
    """Number of the event among those of its object, from 1. Deliveries carry it in the header `webhook-sequence`."""
    payload: Mapping[str, Any]
    """The body that is sent to your endpoint."""
    attempts: tuple[DeliveryAttempt, ...]
    """The newest 100 attempts to deliver it, oldest first."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "event_id": "event_id",
        "sequence": "sequence",
        "txn_ref": "txnRef",
        "kind": "kind",
        "state": "state",
        "date_created": "dateCreated",
        "object": "object",
        "object_sequence": "object_sequence",
        "payload": "payload",
        "attempts": "attempts",
    }


@dataclass(frozen=True)
class EvidenceFileLine(Result):
    """A file of the evidence."""

    name: str
    """Its name, as it was sent. Empty if it was erased."""
    media_type: str
    """`application/pdf`, `image/png` or `image/jpeg`, read from its content."""
    size: int
    """Its size in bytes."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"name": "name", "media_type": "media_type", "size": "size"}


@dataclass(frozen=True)
class EvidenceView(Result):
    """The evidence that was sent."""

    files: tuple[EvidenceFileLine, ...]
    """The files, in the order in which they were sent."""
    explanation: str | None = None
    """Why the payment is valid, in your words."""
    product_description: str | None = None
    """What was sold."""
    customer_name: str | None = None
    """Name of the customer."""
    customer_email: str | None = None
    """Email address of the customer."""
    customer_phone: str | None = None
    """Telephone number of the customer."""
    service_date: str | None = None
    """Day on which it was delivered or rendered."""
    tracking_number: str | None = None
    """Number of the shipment."""
    refund_policy: str | None = None
    """Your terms of refunds, as the customer saw them."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "explanation": "explanation",
        "product_description": "product_description",
        "customer_name": "customer_name",
        "customer_email": "customer_email",
        "customer_phone": "customer_phone",
        "service_date": "service_date",
        "tracking_number": "tracking_number",
        "refund_policy": "refund_policy",
        "files": "files",
    }


@dataclass(frozen=True)
class ExplainReply(Result):
    """The timeline of a reference."""

    status: int
    """200: the reference is known."""
    data: tuple[Mapping[str, Any], ...]
    """The entries, oldest first, at most 1,000. Each has `at` (UTC), `what` (such as `requested`, `hold`, `posting`,
    `event`, `webhook` or `job`), `said`, and fields of its kind.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class ExportWorldReply(Result):
    """The file of a world."""

    status: int
    """200."""
    data: World
    """The world. The file has all its rows but those of API keys and signing secrets."""
    file: str
    """The file, in base64. At most 10 MiB."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data", "file": "file"}


@dataclass(frozen=True)
class ForkReply(Result):
    """The new merchant."""

    status: int
    """200."""
    mid: str
    """Identifier of the copy, for the header `mid`."""
    key: str = field(repr=False)
    """A key of the copy, for the header `key`, beside those that it has of the merchant. It is shown this once."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "mid": "mid", "key": "key"}


@dataclass(frozen=True)
class FoundRecord(Result):
    """Anything that has a reference, in one shape. Fields that it does not have are null."""

    kind: str
    """A kind of transaction, or `batch`, `loan`, `savings`, `thrift_plan`, `virtual_card`, `saved_card`, `plan`,
    `beneficiary`, `personalized_account`, `client`, `customer`, `dispute`, `card_dispute`, `settlement`,
    `checkout`, `link`, `invoice`, `group`, `group_loan`, `loan_product`.
    """
    reference: str
    """Reference of the service: the `txnRef` of a transaction, the id of anything else."""
    state: str
    """Its state: of a transaction `pending`, `processing`, `successful` or `failed`. Of a batch and of the loan of a
    group `accepted`: what belongs to it has states of its own.
    """
    date_created: dt.datetime
    """Time of creation, in UTC."""
    related: tuple[RelatedReference, ...]
    """What belongs to it, the newest 20 of each kind."""
    timeline: tuple[TimelineLine, ...]
    """Its steps, oldest first, the newest 100."""
    order_ref: str | None = None
    """Your own reference."""
    message: str | None = None
    """Last message about a transaction."""
    currency: str | None = None
    """Currency of the amounts."""
    amount: Decimal | None = None
    """Amount of a transaction or dispute, principal of a loan, sum of a batch or of the loans of a group, net of a
    settlement, or present balance of savings and cards.
    """
    fee: Decimal | None = None
    """Fee of a transaction. Zero if it failed."""
    vat: Decimal | None = None
    """VAT on the fee. Zero if the transaction failed."""
    duty: Decimal | None = None
    """Stamp duty. Zero if the transaction failed."""
    method: str | None = None
    """Payment type of a payment."""
    date_ended: dt.datetime | None = None
    """Time at which a transaction became final, in UTC."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "kind": "kind",
        "reference": "reference",
        "order_ref": "orderRef",
        "state": "state",
        "message": "message",
        "currency": "currency",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "duty": "duty",
        "method": "method",
        "date_created": "dateCreated",
        "date_ended": "dateEnded",
        "related": "related",
        "timeline": "timeline",
    }


@dataclass(frozen=True)
class FoundReply(Result):
    """The object that has the reference."""

    status: int
    """200: there is such a reference."""
    data: FoundRecord
    """What has it. If several things have the same reference: a transaction first, of those the newest."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class GraceRecord(Result):
    """The grace period that was agreed with a loan."""

    principal: int
    """Number of first installments without principal."""
    interest: int
    """Number of those that do not ask for their interest either."""
    capitalize: bool
    """Whether that interest becomes principal. Else the installments after the grace ask for it."""
    first_due: str | None = None
    """The agreed first due date, as YYYY-MM-DD. Absent if it is one interval after the payout."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "principal": "principal",
        "interest": "interest",
        "capitalize": "capitalize",
        "first_due": "first_due",
    }


@dataclass(frozen=True)
class GroupLoanLine(Result):
    """One member's loan in the loan of a group."""

    client_id: str
    """The member."""
    amount: Decimal
    """Its principal, in naira."""
    state: Literal[
        "active",
        "active_in_arrears",
        "approved",
        "closed_rejected",
        "closed_repaid",
        "closed_withdrawn",
        "closed_written_off",
        "disbursing",
        "pending_approval",
    ]
    """Its state."""
    loan_id: str | None = None
    """The member's loan. Null in a dry run of `request_group_loan`."""
    code: str | None = None
    """Why it could not be processed, as the code of an error. Absent if it could."""
    message: str | None = None
    """The same in words. Absent if it could be processed."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "loan_id": "loan_id",
        "client_id": "client_id",
        "amount": "amount",
        "state": "state",
        "code": "code",
        "message": "message",
    }


@dataclass(frozen=True)
class GroupLoanRecord(Result):
    """A loan of a group."""

    group_id: str
    """The group."""
    disbursement: Literal["each", "one"]
    """How it is paid out: by one transfer to the leader, or by one to each member."""
    amount: Decimal
    """Sum of the principals, in naira."""
    loans: tuple[GroupLoanLine, ...]
    """The members' loans."""
    date_created: dt.datetime
    """Time at which it was requested, in UTC."""
    group_loan_id: str | None = None
    """Identifier of the loan of the group, made by the service. Null in a dry run of `request_group_loan`."""
    client_id: str | None = None
    """Who receives the one transfer. Absent if each member receives one."""
    txn_ref: str | None = None
    """Reference of the newest transfer of all. Absent if there is none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "group_loan_id": "group_loan_id",
        "group_id": "group_id",
        "disbursement": "disbursement",
        "client_id": "client_id",
        "amount": "amount",
        "loans": "loans",
        "txn_ref": "txnRef",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class GroupLoanReply(Result):
    """A loan of a group after it was requested or processed."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: GroupLoanRecord
    """The loan of the group."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class GroupMemberRecord(Result):
    """A member of a group, or a client who has left it and still owes it something."""

    client_id: str
    """The client."""
    is_leader: bool
    """Whether the client leads the group."""
    loans: int
    """Number of the member's loans of the group that are paid out and open."""
    outstanding: Decimal
    """What the member owes of them by their schedules, in naira."""
    overdue: Decimal
    """What is late of them, penalties included, in naira."""
    written_off: Decimal
    """What was written off of them and not recovered, in naira."""
    date_joined: dt.datetime
    """Time at which the client joined, in UTC."""
    date_left: str | None = None
    """Time at which the client left, in UTC. Absent for a member."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "client_id": "client_id",
        "is_leader": "is_leader",
        "loans": "loans",
        "outstanding": "outstanding",
        "overdue": "overdue",
        "written_off": "written_off",
        "date_joined": "dateJoined",
        "date_left": "dateLeft",
    }


@dataclass(frozen=True)
class GroupRecord(Result):
    """A group."""

    name: str
    """What you call it."""
    state: Literal["active", "closed"]
    """Its state."""
    member_count: int
    """Number of its members."""
    loan_count: int
    """Number of loans that it has had."""
    date_created: dt.datetime
    """Time at which it was made, in UTC."""
    members: tuple[str, ...]
    """Its members, by `client_id`."""
    group_id: str | None = None
    """Identifier of the group, made by the service. Null in a dry run of `create_group`."""
    leader: str | None = None
    """The member who leads it, by `client_id`. Null once it is closed."""
    date_closed: dt.datetime | None = None
    """Time at which it was closed, in UTC. Absent unless it was."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "group_id": "group_id",
        "name": "name",
        "state": "state",
        "leader": "leader",
        "member_count": "member_count",
        "loan_count": "loan_count",
        "date_created": "dateCreated",
        "date_closed": "dateClosed",
        "members": "members",
    }


@dataclass(frozen=True)
class GroupReply(Result):
    """A group after it was made or changed."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: GroupRecord
    """The group."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class GroupStandingRecord(Result):
    """The standing of a group, which is that of each of its members: one member's arrears are everyone's."""

    state: Literal["good", "in_arrears", "written_off"]
    """`good`: nothing is late. `in_arrears`: a member's loan is late. `written_off`: nothing is late, but something
    was written off and not recovered.
    """
    loans: int
    """Number of members' loans that are paid out and open."""
    outstanding: Decimal
    """What is owed of them by their schedules, in naira."""
    overdue: Decimal
    """What is late of them, penalties included, in naira."""
    days_late: int
    """Days since the oldest due date that is late. 0 if nothing is late."""
    written_off: Decimal
    """What was written off of members' loans and not recovered, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "state": "state",
        "loans": "loans",
        "outstanding": "outstanding",
        "overdue": "overdue",
        "days_late": "days_late",
        "written_off": "written_off",
    }


@dataclass(frozen=True)
class GroupSummary(Result):
    """A group in a list."""

    name: str
    """What you call it."""
    state: Literal["active", "closed"]
    """Its state."""
    member_count: int
    """Number of its members."""
    loan_count: int
    """Number of loans that it has had."""
    date_created: dt.datetime
    """Time at which it was made, in UTC."""
    group_id: str | None = None
    """Identifier of the group, made by the service. Null in a dry run of `create_group`."""
    leader: str | None = None
    """The member who leads it, by `client_id`. Null once it is closed."""
    date_closed: dt.datetime | None = None
    """Time at which it was closed, in UTC. Absent unless it was."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "group_id": "group_id",
        "name": "name",
        "state": "state",
        "leader": "leader",
        "member_count": "member_count",
        "loan_count": "loan_count",
        "date_created": "dateCreated",
        "date_closed": "dateClosed",
    }


@dataclass(frozen=True)
class GroupView(Result):
    """A group with its standing, its members and its loans."""

    name: str
    """What you call it."""
    state: Literal["active", "closed"]
    """Its state."""
    member_count: int
    """Number of its members."""
    loan_count: int
    """Number of loans that it has had."""
    date_created: dt.datetime
    """Time at which it was made, in UTC."""
    standing: GroupStandingRecord
    """How the loans of the group are repaid."""
    members: tuple[GroupMemberRecord, ...]
    """Its members, and the clients who have left it and still owe it something."""
    loans: tuple[GroupLoanRecord, ...]
    """Its newest loans."""
    group_id: str | None = None
    """Identifier of the group, made by the service. Null in a dry run of `create_group`."""
    leader: str | None = None
    """The member who leads it, by `client_id`. Null once it is closed."""
    date_closed: dt.datetime | None = None
    """Time at which it was closed, in UTC. Absent unless it was."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "group_id": "group_id",
        "name": "name",
        "state": "state",
        "leader": "leader",
        "member_count": "member_count",
        "loan_count": "loan_count",
        "date_created": "dateCreated",
        "date_closed": "dateClosed",
        "standing": "standing",
        "members": "members",
        "loans": "loans",
    }


@dataclass(frozen=True)
class GuaranteeRecord(Result):
    """A part of a client's savings that guarantees another client's loan."""

    loan_id: str
    """The loan."""
    borrower_id: str
    """The client who borrows."""
    client_id: str
    """The guarantor: the client whose savings are pledged."""
    savings_id: str
    """The savings."""
    state: Literal["active", "called", "ended", "released"]
    """`active`: a part of the savings is held. `called`: nothing is held, and the borrower owes the guarantor what
    was called. `ended`: nothing is held and nothing is owed. `released`: by you, for good; something may still be
    owed.
    """
    amount: Decimal
    """What the guarantor answers for at most, in naira."""
    held: Decimal
    """What is held on the savings now, in naira: it cannot be taken out of them."""
    called: Decimal
    """What was called so far, in naira."""
    owed: Decimal
    """What the borrower owes the guarantor for it, in naira."""
    shortfall: Decimal
    """What would be held if the savings had it, in naira: a repayment was reversed after its part of the guarantee
    had been released and used.
    """
    date_created: dt.datetime
    """Time at which the savings were pledged, in UTC."""
    guarantee_id: str | None = None
    """Identifier of the guarantee, made by the service. Null in a dry run of `guarantee`."""
    date_released: dt.datetime | None = None
    """Time at which you released it, in UTC. Absent if you did not."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "guarantee_id": "guarantee_id",
        "loan_id": "loan_id",
        "borrower_id": "borrower_id",
        "client_id": "client_id",
        "savings_id": "savings_id",
        "state": "state",
        "amount": "amount",
        "held": "held",
        "called": "called",
        "owed": "owed",
        "shortfall": "shortfall",
        "date_created": "dateCreated",
        "date_released": "dateReleased",
    }


@dataclass(frozen=True)
class GuaranteeReply(Result):
    """A guarantee, after a change."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: GuaranteeRecord
    """The guarantee."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class HoldingRecord(Result):
    """A member's shares of one class."""

    class_id: str
    """The class."""
    client_id: str
    """The member."""
    savings_id: str
    """The savings account that receives dividends and what is paid for redeemed shares."""
    shares: int
    """Shares of the member, with those of redemptions that wait."""
    reserved: int
    """Shares of redemptions that wait: they cannot be transferred."""
    votes: int
    """Votes of the member."""
    capital: Decimal
    """What these shares were sold for, in naira."""
    since: dt.date
    """Day of the first purchase, as YYYY-MM-DD in Lagos."""
    holding_id: str | None = None
    """Identifier of the holding, made by the service: the origin of its lines in statements. Null in a dry run."""
    name: str | None = None
    """First and last name of the member. Absent unless the list of shareholders was asked for, or if they were
    erased.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "holding_id": "holding_id",
        "class_id": "class_id",
        "client_id": "client_id",
        "savings_id": "savings_id",
        "shares": "shares",
        "reserved": "reserved",
        "votes": "votes",
        "capital": "capital",
        "since": "since",
        "name": "name",
    }


@dataclass(frozen=True)
class HoldingReply(Result):
    """A holding after a purchase."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    amount: Decimal
    """What was paid, in naira."""
    data: HoldingRecord
    """The holding."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "amount": "amount",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class InboundPaymentReply(Result):
    """The effect of a bank transfer into an account number, in the test environment."""

    status: int
    """200: the transfer arrived, or was returned: see `message`."""
    txn_status: Literal["failed", "pending", "successful"]
    """State of the payment after the transfer: `pending` if it was too little, `successful` if it covers the amount.
    A payment that had ended keeps its state, and the money is returned.
    """
    txn_ref: str
    """The payment that the transfer belongs to."""
    message: str
    """What became of the money: paid, how much is still awaited, or returned to the payer."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "message": "message",
    }


@dataclass(frozen=True)
class InstallmentChangedReply(Result):
    """An installment plan after a change."""

    status: int
    """200: the plan has the requested state."""
    message: str
    """The state in words."""
    data: InstallmentPlan
    """The installment plan."""
    dry_run: bool | None = None
    """True in a dry run: `data` is what the plan would be, and nothing was changed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class InstallmentLine(Result):
    """One installment of a plan."""

    date: str
    """Date on which it is due, as DD-MM-YYYY in Lagos. Of the first charge, its own date."""
    amount: Decimal
    """Amount of the installment, without a fee that the customer bears."""
    paid: bool
    """Whether it was collected."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"date": "date", "amount": "amount", "paid": "paid"}


@dataclass(frozen=True)
class InstallmentPlan(Result):
    """An installment plan with its schedule."""

    id: str
    """Identifier of the plan, made by the service."""
    state: str
    """`active`: charged on its dates. `paused`: by you, or after declines. `cancelled`: by you, or because the
    payer's data were erased. After the last date `finished` (all was collected), `incomplete` (a part was) or
    `unpaid` (nothing was).
    """
    total: Decimal
    """Sum of all installments."""
    paid: Decimal
    """Sum of the installments that were collected."""
    currency: str
    """Currency of the amounts."""
    payment_schedule: tuple[InstallmentLine, ...]
    """The installments by date, the first charge included."""
    card_token: str = field(repr=False)
    """Token of the saved card that is charged."""
    txn_ref: str
    """Reference of the newest charge."""
    email: str
    """Email address of the payer. Empty if unknown."""
    date_created: dt.datetime
    """Time at which the plan began, with the first successful charge or authentication, in UTC."""
    next_charge: dt.datetime | None = None
    """Due time of the installment that comes next or is being retried, in UTC. Null unless the state is `active`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "state": "state",
        "total": "total",
        "paid": "paid",
        "currency": "currency",
        "next_charge": "next_charge",
        "payment_schedule": "payment_schedule",
        "card_token": "cardToken",
        "txn_ref": "txnRef",
        "email": "email",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class InterestReply(Result):
    """An interest rate as it was agreed: `interestRate` percent per interval of `interestFrequency`."""

    interest_rate: Decimal
    """Interest in percent per interval of `interestFrequency`."""
    interest_frequency: Literal["annualized", "every_day", "every_four_weeks", "every_month", "every_week"]
    """The interval that the rate is for; `annualized` means a year."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "interest_rate": "interestRate",
        "interest_frequency": "interestFrequency",
    }


@dataclass(frozen=True)
class InvoiceCustomer(Result):
    """The customer as the invoice shows it."""

    name: str
    """Name of the customer."""
    email: str | None = None
    """Email address, or null."""
    phone: str | None = None
    """Telephone number, or null."""
    address: str | None = None
    """Postal address, or null."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"name": "name", "email": "email", "phone": "phone", "address": "address"}


@dataclass(frozen=True)
class InvoiceLine(Result):
    """One item of an invoice."""

    description: str
    """What is sold."""
    quantity: int
    """Number of units."""
    amount: Decimal
    """Price of one unit."""
    total: Decimal
    """`quantity` times `amount`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "description": "description",
        "quantity": "quantity",
        "amount": "amount",
        "total": "total",
    }


@dataclass(frozen=True)
class InvoicePayment(Result):
    """A successful payment of an invoice."""

    txn_ref: str
    """Reference of the payment."""
    amount: Decimal
    """What it paid of the invoice."""
    refunded: Decimal
    """What was refunded of it."""
    disputed: str
    """What is disputed of it or was lost in disputes. 0.00 if every dispute was won."""
    method: str
    """Payment type."""
    paid_at: dt.datetime
    """Time of the payment, in UTC."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "txn_ref": "txnRef",
        "amount": "amount",
        "refunded": "refunded",
        "disputed": "disputed",
        "method": "method",
        "paid_at": "paid_at",
    }


@dataclass(frozen=True)
class InvoiceReceipt(Result):
    """An amount that you received for an invoice yourself. Nothing of it is in your wallet."""

    amount: Decimal
    """What was received."""
    method: Literal["bank", "cash", "other"]
    """How it was received."""
    received_on: dt.date
    """The day on which it was received."""
    recorded_at: dt.datetime
    """Time at which it was recorded, in UTC."""
    recorded_by: str
    """The key or the person that recorded it."""
    reference: str | None = None
    """Your reference. Null if the customer was erased."""
    undone_at: dt.datetime | None = None
    """Time at which the record was taken back, in UTC. Else null."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "reference": "reference",
        "amount": "amount",
        "method": "method",
        "received_on": "received_on",
        "recorded_at": "recorded_at",
        "recorded_by": "recorded_by",
        "undone_at": "undone_at",
    }


@dataclass(frozen=True)
class InvoiceRecord(Result):
    """An invoice."""

    invoice_id: str
    """Identifier of the invoice."""
    number: str
    """Number of the invoice. Yours are numbered from 1 without holes."""
    link: str
    """Address of the page that shows the invoice and takes its payment. Whoever has it can pay."""
    customer_id: str
    """The customer."""
    currency: str
    """Currency of all amounts."""
    subtotal: Decimal
    """Sum of the items."""
    discount: Decimal
    """The discount as an amount."""
    vat: Decimal
    """The VAT as an amount."""
    shipping: Decimal
    """Shipping costs."""
    total: Decimal
    """What is to be paid: `subtotal` less `discount`, plus `vat` and `shipping`."""
    paid: Decimal
    """What was paid, refunded payments included."""
    refunded: Decimal
    """What was refunded of the payments. It does not change the status."""
    outstanding: Decimal
    """What is left to pay. 0.00 if the invoice is void."""
    status: Literal["overdue", "paid", "partly_paid", "unpaid", "void"]
    """State of the invoice."""
    reminders: bool
    """Whether the customer is reminded of it by mail."""
    created_at: dt.datetime
    """Time at which the invoice was made, in UTC."""
    items: tuple[InvoiceLine, ...]
    """What the invoice is for."""
    discount_type: Literal["flat", "percentage"]
    """What the requested discount was."""
    vat_rate: Decimal
    """The VAT in percent."""
    charge_user: Literal["full", "parts"]
    """Whether the customer may pay in parts."""
    payments: tuple[InvoicePayment, ...]
    """The newest 100 successful payments, newest first."""
    date_due: dt.date | None = None
    """Last day to pay. Null if there is none."""
    paid_at: dt.datetime | None = None
    """Time at which it was paid in full, in UTC. Else null."""
    discount_rate: Decimal | None = None
    """The discount in percent. Null if it is an amount."""
    note: str | None = None
    """Text to the customer. Null if there is none, or if the customer was erased."""
    customer: InvoiceCustomer | None = None
    """The customer as of the last change of the invoice. Null if the customer was erased."""
    voided_at: dt.datetime | None = None
    """Time at which it was voided, in UTC. Else null."""
    received: tuple[InvoiceReceipt, ...] | None = None
    """What you received yourself, outside of your wallet, oldest first. Absent if nothing was recorded."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "invoice_id": "invoice_id",
        "number": "number",
        "link": "link",
        "customer_id": "customer_id",
        "currency": "currency",
        "subtotal": "subtotal",
        "discount": "discount",
        "vat": "vat",
        "shipping": "shipping",
        "total": "total",
        "paid": "paid",
        "refunded": "refunded",
        "outstanding": "outstanding",
        "status": "status",
        "date_due": "date_due",
        "reminders": "reminders",
        "created_at": "created_at",
        "paid_at": "paid_at",
        "items": "items",
        "discount_type": "discount_type",
        "discount_rate": "discount_rate",
        "vat_rate": "vat_rate",
        "charge_user": "charge_user",
        "note": "note",
        "customer": "customer",
        "voided_at": "voided_at",
        "payments": "payments",
        "received": "received",
    }


@dataclass(frozen=True)
class InvoiceReply(Result):
    """One invoice."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: InvoiceRecord
    """The invoice."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class InvoiceSendReply(Result):
    """The mail of an invoice."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: InvoiceSending
    """The mail."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class InvoiceSending(Result):
    """The mail of an invoice, and the next reminder."""

    invoice_id: str
    """Identifier of the invoice."""
    number: str
    """Number of the invoice."""
    mail_id: str
    """Identifier of the mail. The same invoice is mailed once a day: the second request returns the first mail."""
    mail_status: Literal["bounced", "failed", "queued", "sent", "unknown"]
    """State of the mail."""
    reminders: bool
    """Whether the customer is reminded."""
    next_reminder: str | None = None
    """Time of the next reminder, in UTC. Null if there is none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "invoice_id": "invoice_id",
        "number": "number",
        "mail_id": "mail_id",
        "mail_status": "mail_status",
        "reminders": "reminders",
        "next_reminder": "next_reminder",
    }


@dataclass(frozen=True)
class InvoiceSummary(Result):
    """An invoice without its items."""

    invoice_id: str
    """Identifier of the invoice."""
    number: str
    """Number of the invoice. Yours are numbered from 1 without holes."""
    link: str
    """Address of the page that shows the invoice and takes its payment. Whoever has it can pay."""
    customer_id: str
    """The customer."""
    currency: str
    """Currency of all amounts."""
    subtotal: Decimal
    """Sum of the items."""
    discount: Decimal
    """The discount as an amount."""
    vat: Decimal
    """The VAT as an amount."""
    shipping: Decimal
    """Shipping costs."""
    total: Decimal
    """What is to be paid: `subtotal` less `discount`, plus `vat` and `shipping`."""
    paid: Decimal
    """What was paid, refunded payments included."""
    refunded: Decimal
    """What was refunded of the payments. It does not change the status."""
    outstanding: Decimal
    """What is left to pay. 0.00 if the invoice is void."""
    status: Literal["overdue", "paid", "partly_paid", "unpaid", "void"]
    """State of the invoice."""
    reminders: bool
    """Whether the customer is reminded of it by mail."""
    created_at: dt.datetime
    """Time at which the invoice was made, in UTC."""
    date_due: dt.date | None = None
    """Last day to pay. Null if there is none."""
    paid_at: dt.datetime | None = None
    """Time at which it was paid in full, in UTC. Else null."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "invoice_id": "invoice_id",
        "number": "number",
        "link": "link",
        "customer_id": "customer_id",
        "currency": "currency",
        "subtotal": "subtotal",
        "discount": "discount",
        "vat": "vat",
        "shipping": "shipping",
        "total": "total",
        "paid": "paid",
        "refunded": "refunded",
        "outstanding": "outstanding",
        "status": "status",
        "date_due": "date_due",
        "reminders": "reminders",
        "created_at": "created_at",
        "paid_at": "paid_at",
    }


@dataclass(frozen=True)
class KeyLine(Result):
    """A valid API key. The key itself was shown once, when it was made."""

    key_id: int
    """Number of the key, from 1. It never changes."""
    name: str
    """Name of the key, chosen by whoever made it."""
    scopes: tuple[Literal["all", "approve", "collect", "issue", "lend", "payout", "read"], ...]
    """What the key may be used for."""
    addresses: tuple[str, ...]
    """Addresses and CIDR ranges that it may be used from. Empty: from everywhere."""
    made_by: str
    """Email address of the person who made it in the console. Empty if the operator made it."""
    made_at: dt.datetime
    """When it was made, in UTC."""
    signs_events: bool
    """Whether events are signed with it: the signing secret was never rolled."""
    is_this: bool
    """Whether the request was made with this key."""
    expires_at: dt.datetime | None = None
    """When it stops working, in UTC. Null if it does not expire."""
    replaced_by: int | None = None
    """The key that replaced it when it was rolled. Null for a key that was not rolled."""
    last_used_at: dt.datetime | None = None
    """When it was last used, in UTC, to the minute. Null if it was never used."""
    last_used_from: str | None = None
    """Address that it was last used from. Null if it was never used."""
    refused_at: dt.datetime | None = None
    """When it was last refused because of its address, in UTC. Null if it never was."""
    refused_from: str | None = None
    """Address that it was refused from. Null if it never was."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "key_id": "key_id",
        "name": "name",
        "scopes": "scopes",
        "addresses": "addresses",
        "made_by": "made_by",
        "made_at": "made_at",
        "expires_at": "expires_at",
        "replaced_by": "replaced_by",
        "last_used_at": "last_used_at",
        "last_used_from": "last_used_from",
        "refused_at": "refused_at",
        "refused_from": "refused_from",
        "signs_events": "signs_events",
        "is_this": "is_this",
    }


@dataclass(frozen=True)
class KeysReply(Result):
    """The valid keys of the merchant, the newest first."""

    status: int
    """200."""
    data: tuple[KeyLine, ...]
    """The keys."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class LoanChargeRecord(Result):
    """A charge that was made on a loan, or will be by its schedule."""

    charge_id: str
    """Identifier of the charge in its loan."""
    name: str
    """What the charge is called."""
    n: int
    """Number of the installment with which it is asked for."""
    due: dt.date
    """Date from which it is asked for, in Lagos, as YYYY-MM-DD."""
    amount: Decimal
    """The charge in naira, without its VAT."""
    vat: Decimal
    """The VAT on it, in naira."""
    paid: Decimal
    """Part of both that was paid, in naira."""
    waived: Decimal
    """Part of both that was waived, or was not asked for because the loan was paid off before, in naira."""
    outstanding: Decimal
    """Part of both that is owed, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "charge_id": "charge_id",
        "name": "name",
        "n": "n",
        "due": "due",
        "amount": "amount",
        "vat": "vat",
        "paid": "paid",
        "waived": "waived",
        "outstanding": "outstanding",
    }


@dataclass(frozen=True)
class LoanInstallments(Result):
    """The numbers of a loan's installments."""

    total: int
    """Number of all installments."""
    paid: int
    """Number of those that are fully paid."""
    late: int
    """Number of those that are late."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"total": "total", "paid": "paid", "late": "late"}


@dataclass(frozen=True)
class LoanNextDue(Result):
    """The oldest installment that is not fully paid."""

    n: int
    """Number of the installment."""
    due: dt.date
    """Date on which it is due, in Lagos, as YYYY-MM-DD."""
    amount: Decimal
    """Amount that is still owed of it, penalties included, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"n": "n", "due": "due", "amount": "amount"}


@dataclass(frozen=True)
class LoanOutstanding(Result):
    """The amounts that the client owes by the schedule, and `payoff`, the amount that closes the loan today. All are
    0.00 unless the loan is active.
    """

    principal: Decimal
    """Principal that is not repaid yet, in naira."""
    interest: Decimal
    """Interest of all installments that is not paid yet, in naira, also that of later ones."""
    tax: Decimal
    """Tax on that interest, in naira."""
    penalty: Decimal
    """Penalties for lateness that are not paid yet, in naira."""
    total: Decimal
    """Sum of them, in naira: what the client pays if nothing is paid early."""
    payoff: Decimal
    """Amount that closes the loan today, in naira. Before the last due date it is less than `total`, because
    interest that is not earned yet and charges of later days are not asked for.
    """
    charges: Decimal | None = None
    """Charges of all installments that are not paid yet, with their VAT, in naira. Absent if the loan has none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "principal": "principal",
        "interest": "interest",
        "tax": "tax",
        "penalty": "penalty",
        "charges": "charges",
        "total": "total",
        "payoff": "payoff",
    }


@dataclass(frozen=True)
class LoanRecord(Result):
    """One loan with its schedule. Until it is paid out, the schedule is the one it would have from today."""

    client_id: str
    """The client who borrows."""
    state: Literal[
        "active",
        "active_in_arrears",
        "approved",
        "closed_rejected",
        "closed_repaid",
        "closed_withdrawn",
        "closed_written_off",
        "disbursing",
        "pending_approval",
    ]
    """`pending_approval`: not decided. `disbursing`: being paid out. `approved`: the payout failed, approve again.
    `active`: paid out. `active_in_arrears`: an installment is late. All states that begin with `closed_` are
    final.
    """
    amount: Decimal
    """Principal of the loan, in naira."""
    currency: Literal["NGN"]
    """Currency of all amounts."""
    interest_settings: InterestReply
    """The agreed interest rate."""
    method: Literal["declining_equal_instalments", "equal_principal", "flat"]
    """How installments are calculated, as in the request."""
    period: int
    """Number of installments."""
    tax_applied: bool
    """Whether tax on the interest is added to the installments."""
    tax_rate: Decimal
    """Tax in percent of the interest. 0 if none was agreed."""
    penalty_rate: Decimal
    """Penalty in percent of the overdue principal for each day late: your lending setting when the loan was
    requested.
    """
    tolerance_days: int
    """Days after the due date before an installment is late: your lending setting when the loan was requested."""
    outstanding: LoanOutstanding
    """The amounts that the client still owes."""
    credit: Decimal
    """Amount that the client overpaid and that was not refunded yet, in naira."""
    created_at: dt.datetime
    """Time of the request, in UTC."""
    schedule: tuple[LoanScheduleLine, ...]
    """The installments by date."""
    loan_id: str | None = None
    """Identifier of the loan, made by the service. Null in the dry run of `request`."""
    officer: str | None = None
    """Who answers for the loan, as in the request. Null if nobody was named."""
    branch: str | None = None
    """The branch that made the loan, as in the request. Null if none was named."""
    product_id: str | None = None
    """The product that the terms were copied from. Absent if the loan has none."""
    txn_ref: str | None = None
    """Reference of the newest disbursement. Null if the loan was never approved."""
    disbursed_at: dt.datetime | None = None
    """Time at which the loan was paid out, in UTC. Null before."""
    closed_at: dt.datetime | None = None
    """Time at which the loan was closed, in UTC. Null before."""
    net_amount: Decimal | None = None
    """The principal without deducted charges, in naira. The client receives it; of a top-up, what is left of it
    after the payoff of the old loan. Absent if none is deducted.
    """
    agreed_charges: tuple[AgreedChargeRecord, ...] | None = None
    """The charges that were agreed with the loan. Absent if none were."""
    grace: GraceRecord | None = None
    """The grace period that was agreed with the loan. Absent if none was."""
    charges: tuple[LoanChargeRecord, ...] | None = None
    """The charges of its installments, by their days. Absent if it has none."""
    written_off: WrittenOff | None = None
    """What was written off and not recovered. Absent if there is nothing of it."""
    waiting_write_off: WaitingWriteOff | None = None
    """The write-off that waits for the approval of another party. Absent if none does."""
    schedules: tuple[EarlierSchedule, ...] | None = None
    """The schedules that it had before, in `view`. Absent if it was never rescheduled."""
    tops_up: str | None = None
    """The loan that it pays off, or has paid off. Absent if it is no top-up."""
    topped_up_by: str | None = None
    """The newest loan that is to pay it off, or has paid it off. Absent if there is none."""
    guarantees: tuple[GuaranteeRecord, ...] | None = None
    """Its guarantees by savings of other clients, in `view` and in `call_guarantee`. Absent if it never had one."""
    collateral: tuple[CollateralRecord, ...] | None = None
    """What else secures it, in `view`. Absent if it never had any."""
    group_id: str | None = None
    """The group whose member borrows it. Absent for a loan of nobody else."""
    group_loan_id: str | None = None
    """The loan of the group that it is a part of. Absent if it is of none."""
    auto_repay: AutoRepayRecord | None = None
    """How it is collected by itself, in `view`. Absent if that was never agreed on."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "loan_id": "loan_id",
        "client_id": "client_id",
        "officer": "officer",
        "branch": "branch",
        "product_id": "product_id",
        "state": "state",
        "amount": "amount",
        "currency": "currency",
        "interest_settings": "interestSettings",
        "method": "method",
        "period": "period",
        "tax_applied": "tax_applied",
        "tax_rate": "tax_rate",
        "penalty_rate": "penalty_rate",
        "tolerance_days": "tolerance_days",
        "outstanding": "outstanding",
        "credit": "credit",
        "txn_ref": "txnRef",
        "created_at": "created_at",
        "disbursed_at": "disbursed_at",
        "closed_at": "closed_at",
        "schedule": "schedule",
        "net_amount": "net_amount",
        "agreed_charges": "agreed_charges",
        "grace": "grace",
        "charges": "charges",
        "written_off": "written_off",
        "waiting_write_off": "waiting_write_off",
        "schedules": "schedules",
        "tops_up": "tops_up",
        "topped_up_by": "topped_up_by",
        "guarantees": "guarantees",
        "collateral": "collateral",
        "group_id": "group_id",
        "group_loan_id": "group_loan_id",
        "auto_repay": "auto_repay",
    }


@dataclass(frozen=True)
class LoanReply(Result):
    """A loan, after a change if the request had one."""

    status: int
    """200."""
    message: str
    """The outcome in words; of a failed disbursement, the reason."""
    data: LoanRecord
    """The loan with its schedule."""
    txn_ref: str | None = None
    """Reference of the disbursement. Present if the loan was approved by this request."""
    txn_status: str | None = None
    """Status of the disbursement, as of a transfer: `successful`, `failed`, `pending` or `processing`. Present if
    the loan was approved by this request.
    """
    loan_id: str | None = None
    """The loan. Present if it was approved by this request; else see `data.loan_id`."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "loan_id": "loan_id",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class LoanScheduleLine(Result):
    """One installment of a schedule. Penalties are not part of it."""

    n: int
    """Number of the installment, counted from 1."""
    due: dt.date
    """Date on which it is due, in Lagos, as YYYY-MM-DD."""
    principal: Decimal
    """Principal that is due with it, in naira."""
    interest: Decimal
    """Interest that is due with it, in naira."""
    tax: Decimal
    """Tax on that interest, in naira."""
    total: Decimal
    """Sum of principal, interest, tax and charges, in naira."""
    paid: Decimal
    """Part of `total` that was paid, in naira."""
    state: Literal["late", "paid", "partially_paid", "pending", "written_off"]
    """`pending`: nothing was paid yet. `partially_paid`, `paid`. `late`: not fully paid after the due date and the
    tolerance. `written_off`: with its loan, or what was left of it.
    """
    charges: Decimal | None = None
    """Charges that are due with it, with their VAT, in naira. Absent if it has none."""
    grace: Literal["capitalize", "principal", "spread"] | None = None
    """What is left out of it. `principal`: its principal. `spread`: its interest too, which later installments ask
    for. `capitalize`: its interest too, which becomes principal on the due date. Absent if it has no grace.
    """
    grown: str | None = None
    """Interest that grows in its interval and that it does not ask for, in naira; with its tax if it becomes
    principal. Absent if there is none.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "n": "n",
        "due": "due",
        "principal": "principal",
        "interest": "interest",
        "tax": "tax",
        "charges": "charges",
        "total": "total",
        "paid": "paid",
        "state": "state",
        "grace": "grace",
        "grown": "grown",
    }


@dataclass(frozen=True)
class LoanStatementLine(Result):
    """One posting on one of the loan's accounts."""

    date_created: dt.datetime
    """Time of the posting, in UTC."""
    origin: str
    """The `txnRef` of the transaction that caused it, or the `loan_id` if none did."""
    part: Literal["charge", "credit", "interest", "penalty", "principal", "tax", "vat"]
    """What the posting is about: `principal`, `interest`, `tax`, `penalty`, `charge` or the `vat` on it that the
    client owes, or the client's `credit`.
    """
    narration: str
    """Kind of the posting in words."""
    amount: Decimal
    """Amount, in naira: positive if it raises the balance of the part, negative if it lowers it."""
    balance: Decimal
    """Balance of the part after the posting, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "date_created": "dateCreated",
        "origin": "origin",
        "part": "part",
        "narration": "narration",
        "amount": "amount",
        "balance": "balance",
    }


@dataclass(frozen=True)
class LoanSummary(Result):
    """A loan in a list, with figures in place of its schedule. `view` shows the schedule."""

    client_id: str
    """The client who borrows."""
    state: Literal[
        "active",
        "active_in_arrears",
        "approved",
        "closed_rejected",
        "closed_repaid",
        "closed_withdrawn",
        "closed_written_off",
        "disbursing",
        "pending_approval",
    ]
    """`pending_approval`: not decided. `disbursing`: being paid out. `approved`: the payout failed, approve again.
    `active`: paid out. `active_in_arrears`: an installment is late. All states that begin with `closed_` are
    final.
    """
    amount: Decimal
    """Principal of the loan, in naira."""
    currency: Literal["NGN"]
    """Currency of all amounts."""
    interest_settings: InterestReply
    """The agreed interest rate."""
    method: Literal["declining_equal_instalments", "equal_principal", "flat"]
    """How installments are calculated, as in the request."""
    period: int
    """Number of installments."""
    tax_applied: bool
    """Whether tax on the interest is added to the installments."""
    tax_rate: Decimal
    """Tax in percent of the interest. 0 if none was agreed."""
    penalty_rate: Decimal
    """Penalty in percent of the overdue principal for each day late: your lending setting when the loan was
    requested.
    """
    tolerance_days: int
    """Days after the due date before an installment is late: your lending setting when the loan was requested."""
    outstanding: LoanOutstanding
    """The amounts that the client still owes."""
    credit: Decimal
    """Amount that the client overpaid and that was not refunded yet, in naira."""
    created_at: dt.datetime
    """Time of the request, in UTC."""
    installments: LoanInstallments
    """The numbers of the installments: all, paid and late."""
    overdue: Decimal
    """Amount that is owed of late installments, penalties included, in naira."""
    loan_id: str | None = None
    """Identifier of the loan, made by the service. Null in the dry run of `request`."""
    officer: str | None = None
    """Who answers for the loan, as in the request. Null if nobody was named."""
    branch: str | None = None
    """The branch that made the loan, as in the request. Null if none was named."""
    product_id: str | None = None
    """The product that the terms were copied from. Absent if the loan has none."""
    txn_ref: str | None = None
    """Reference of the newest disbursement. Null if the loan was never approved."""
    disbursed_at: dt.datetime | None = None
    """Time at which the loan was paid out, in UTC. Null before."""
    closed_at: dt.datetime | None = None
    """Time at which the loan was closed, in UTC. Null before."""
    next_due: LoanNextDue | None = None
    """The oldest installment that is not fully paid. Null if nothing is owed."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "loan_id": "loan_id",
        "client_id": "client_id",
        "officer": "officer",
        "branch": "branch",
        "product_id": "product_id",
        "state": "state",
        "amount": "amount",
        "currency": "currency",
        "interest_settings": "interestSettings",
        "method": "method",
        "period": "period",
        "tax_applied": "tax_applied",
        "tax_rate": "tax_rate",
        "penalty_rate": "penalty_rate",
        "tolerance_days": "tolerance_days",
        "outstanding": "outstanding",
        "credit": "credit",
        "txn_ref": "txnRef",
        "created_at": "created_at",
        "disbursed_at": "disbursed_at",
        "closed_at": "closed_at",
        "installments": "installments",
        "next_due": "next_due",
        "overdue": "overdue",
    }


@dataclass(frozen=True)
class LoggedRequest(Result):
    """A request and its reply. Secrets are `***`."""

    number: int
    """Number of the request in the order of recording. It counts those of all merchants, so a merchant's have gaps."""
    answered_at: str
    """Time of the reply by the server's clock, ISO 8601, UTC."""
    request_id: str
    """The header `x-request-id` of the reply."""
    path: str
    """What was called, such as `/disburse`."""
    action: str
    """The action. Empty if the request named none that exists."""
    http_status: int
    """Status of HTTP."""
    result: int
    """Status in the reply's body."""
    milliseconds: Decimal
    """From the arrival of the headers to the reply."""
    request_body: str
    """What was sent, as JSON. `[40,000 bytes]` if it was longer than 32 KiB."""
    reply_body: str
    """What was answered, in the same way."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "number": "number",
        "answered_at": "answered_at",
        "request_id": "request_id",
        "path": "path",
        "action": "action",
        "http_status": "http_status",
        "result": "result",
        "milliseconds": "milliseconds",
        "request_body": "request_body",
        "reply_body": "reply_body",
    }


@dataclass(frozen=True)
class MailRecord(Result):
    """A mail."""

    mail_id: str
    """Identifier of the mail."""
    purpose: str
    """What it is for: `invoice`, `invoice_reminder` or `payment_receipt`."""
    reference: str
    """What it is about: the `invoice_id`, or the `txnRef` of a receipt."""
    customer_id: str
    """The customer that it is for. Empty for a receipt: it is for whoever paid."""
    status: Literal["bounced", "failed", "queued", "sent", "unknown"]
    """State of the mail."""
    attempts: int
    """How often it was given to the mail system."""
    created_at: dt.datetime
    """Time at which it was made, in UTC."""
    changed_at: dt.datetime
    """Time at which its state changed last, in UTC."""
    reply_code: str | None = None
    """Code of the mail system's last reply or bounce, such as `550 5.1.1`; of a text message that of its vendor,
    such as `400`. Null if there was none, or none that it explained.
    """
    channel: Literal["mail", "sms"] | None = None
    """`mail`, or `sms` for a text message. Null if the customer was erased."""
    last: str | None = None
    """Address that it is for, or telephone number with its country's code. Null if the customer was erased."""
    to_name: str | None = None
    """Name of whom it is for. Null if the customer was erased."""
    subject: str | None = None
    """Subject. A text message has none: it is empty. Null if the customer was erased."""
    sent_at: dt.datetime | None = None
    """Time at which the mail system took it, in UTC. Else null."""
    sender_name: str | None = None
    """Name that it is sent with. Empty for a text message. Null if the customer was erased."""
    reply_to: str | None = None
    """Address that answers go to. Null if you have set none, or if the customer was erased."""
    text: str | None = None
    """The mail as plain text, or the text message. Null if the customer was erased."""
    html: str | None = None
    """The mail as HTML, with the same words. Empty for a text message. Null if the customer was erased."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "mail_id": "mail_id",
        "purpose": "purpose",
        "reference": "reference",
        "customer_id": "customer_id",
        "status": "status",
        "attempts": "attempts",
        "reply_code": "reply_code",
        "channel": "channel",
        "last": "to",
        "to_name": "to_name",
        "subject": "subject",
        "created_at": "created_at",
        "changed_at": "changed_at",
        "sent_at": "sent_at",
        "sender_name": "sender_name",
        "reply_to": "reply_to",
        "text": "text",
        "html": "html",
    }


@dataclass(frozen=True)
class MailReply(Result):
    """One mail."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: MailRecord
    """The mail."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class MailSummary(Result):
    """A mail without its text."""

    mail_id: str
    """Identifier of the mail."""
    purpose: str
    """What it is for: `invoice`, `invoice_reminder` or `payment_receipt`."""
    reference: str
    """What it is about: the `invoice_id`, or the `txnRef` of a receipt."""
    customer_id: str
    """The customer that it is for. Empty for a receipt: it is for whoever paid."""
    status: Literal["bounced", "failed", "queued", "sent", "unknown"]
    """State of the mail."""
    attempts: int
    """How often it was given to the mail system."""
    created_at: dt.datetime
    """Time at which it was made, in UTC."""
    changed_at: dt.datetime
    """Time at which its state changed last, in UTC."""
    reply_code: str | None = None
    """Code of the mail system's last reply or bounce, such as `550 5.1.1`; of a text message that of its vendor,
    such as `400`. Null if there was none, or none that it explained.
    """
    channel: Literal["mail", "sms"] | None = None
    """`mail`, or `sms` for a text message. Null if the customer was erased."""
    last: str | None = None
    """Address that it is for, or telephone number with its country's code. Null if the customer was erased."""
    to_name: str | None = None
    """Name of whom it is for. Null if the customer was erased."""
    subject: str | None = None
    """Subject. A text message has none: it is empty. Null if the customer was erased."""
    sent_at: dt.datetime | None = None
    """Time at which the mail system took it, in UTC. Else null."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "mail_id": "mail_id",
        "purpose": "purpose",
        "reference": "reference",
        "customer_id": "customer_id",
        "status": "status",
        "attempts": "attempts",
        "reply_code": "reply_code",
        "channel": "channel",
        "last": "to",
        "to_name": "to_name",
        "subject": "subject",
        "created_at": "created_at",
        "changed_at": "changed_at",
        "sent_at": "sent_at",
    }


@dataclass(frozen=True)
class NewKeyReply(Result):
    """A new key."""

    status: int
    """200."""
    key_id: int
    """Number of the key."""
    key: str = field(repr=False)
    """The key, for the header `key`. It is shown this once."""
    scopes: tuple[Literal["all", "approve", "collect", "issue", "lend", "payout", "read"], ...]
    """What the key may be used for."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "key_id": "key_id", "key": "key", "scopes": "scopes"}


@dataclass(frozen=True)
class NewMerchantReply(Result):
    """A new merchant, with 10,000,000.00 NGN and 10,000.00 USD in its wallets."""

    status: int
    """200."""
    mid: str
    """Identifier of the merchant, for the header `mid`."""
    key: str = field(repr=False)
    """Key of the merchant, for the header `key`. It is shown this once."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "mid": "mid", "key": "key"}


@dataclass(frozen=True)
class NextTier(Result):
    """The tier above the client's."""

    tier: int
    """The tier."""
    missing: tuple[Literal["addresses", "bvn_or_nin", "bvn_verified", "dob", "identification", "phone", "photo"], ...]
    """What the client lacks for it. `bvn_or_nin`: a BVN, or an identification of the type `nin`. `bvn_verified`: by
    `verify_bvn`. `addresses`: one with `line1` and `city`.
    """
    limits: TierLimitsShown
    """Its limits."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"tier": "tier", "missing": "missing", "limits": "limits"}


@dataclass(frozen=True)
class OriginsReply(Result):
    """The confirmation of the setting."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    origins: tuple[str, ...]
    """The origins as browsers write them."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "origins": "origins"}


@dataclass(frozen=True)
class PayGuarantorReply(Result):
    """A guarantee of which the borrower owes less."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: GuaranteeRecord
    """The guarantee."""
    amount: Decimal
    """Amount that is owed no more, in naira."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    txn_ref: str | None = None
    """Reference of the deposit into the guarantor's savings. Absent if it was waived, and in a dry run."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "txn_ref": "txnRef",
        "amount": "amount",
    }


@dataclass(frozen=True)
class PayerCard(Result):
    """The card data that may be shown. `hash` is keyed: equal for the same card of the same merchant."""

    hash: str
    """Keyed hash of number and expiry: equal for the same card of the same merchant, and of no use elsewhere."""
    mask: str
    """The card number with all but its first six and last four digits replaced by asterisks."""
    bin: str
    """The first six digits, which name the issuer."""
    brand: str | None = None
    """Card network, such as `visa`. Null if unknown."""
    type: str | None = None
    """Kind of card, such as `debit` or `credit`. Null if the issuer is unknown."""
    issuer: str | None = None
    """Name of the bank that issued the card. Null if unknown."""
    country: str | None = None
    """Country of the issuer. Null if unknown: the fee is then that of a local card."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "hash": "hash",
        "mask": "mask",
        "bin": "bin",
        "brand": "brand",
        "type": "type",
        "issuer": "issuer",
        "country": "country",
    }


@dataclass(frozen=True)
class PaylinkDetail(Result):
    """A payment link with its terms, payments and totals."""

    link_id: str
    """Identifier of the link, made by the service."""
    link: str
    """Address of the link, to give to payers."""
    title: str
    """What is paid for."""
    amount: Decimal
    """Amount to pay. 0.00 if the payer chooses it."""
    currency: str
    """Currency of the amount."""
    type: Literal["one_time", "recurring"]
    """Whether a payer pays once, or the card is charged again."""
    status: Literal["active", "disabled"]
    """Whether the link can be paid by."""
    description: str
    """Further text, which payers see."""
    payer_bears_fees: bool
    """Whether the payer pays the fee."""
    accept_number: bool
    """Whether the page asks for a telephone number."""
    created_at: dt.datetime
    """Time at which the link was made, in UTC."""
    checkouts: int
    """Number of payers who filled in its page."""
    paid_count: int
    """Number of successful payments, later charges of a recurring link not counted."""
    total: Decimal
    """Sum of these payments, refunded ones included."""
    payments: tuple[PaylinkPayment, ...]
    """The newest 50 successful payments, newest first."""
    frequency: str | None = None
    """How often the card is charged again. Null unless recurring."""
    redirect_url: str | None = None
    """Address to which the payer goes after the receipt. Null if there is none."""
    custom_message: str | None = None
    """Shown after the payment. Null if there is none."""
    notification_email: str | None = None
    """Your address for questions. Null if there is none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "link_id": "link_id",
        "link": "link",
        "title": "title",
        "amount": "amount",
        "currency": "currency",
        "type": "type",
        "status": "status",
        "description": "description",
        "frequency": "frequency",
        "payer_bears_fees": "payer_bears_fees",
        "accept_number": "accept_number",
        "redirect_url": "redirect_url",
        "custom_message": "custom_message",
        "notification_email": "notification_email",
        "created_at": "created_at",
        "checkouts": "checkouts",
        "paid_count": "paid_count",
        "total": "total",
        "payments": "payments",
    }


@dataclass(frozen=True)
class PaylinkDetailReply(Result):
    """One payment link."""

    status: int
    """200: there is such a link."""
    message: str
    """The outcome in words."""
    data: PaylinkDetail
    """The link, with its payments and totals."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class PaylinkPayment(Result):
    """A payment that was made by a link."""

    txn_ref: str
    """Reference of the payment."""
    checkout_ref: str
    """Reference of its checkout."""
    amount: Decimal
    """Amount of the payment, without a fee that the payer bears."""
    fullname: str
    """Name of the payer."""
    email: str
    """Email address of the payer."""
    method: str
    """Payment type."""
    date_paid: dt.datetime
    """Time of the payment, in UTC."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "txn_ref": "txnRef",
        "checkout_ref": "checkoutRef",
        "amount": "amount",
        "fullname": "fullname",
        "email": "email",
        "method": "method",
        "date_paid": "datePaid",
    }


@dataclass(frozen=True)
class PaylinkRecord(Result):
    """A payment link."""

    link_id: str
    """Identifier of the link, made by the service."""
    link: str
    """Address of the link, to give to payers."""
    title: str
    """What is paid for."""
    amount: Decimal
    """Amount to pay. 0.00 if the payer chooses it."""
    currency: str
    """Currency of the amount."""
    type: Literal["one_time", "recurring"]
    """Whether a payer pays once, or the card is charged again."""
    status: Literal["active", "disabled"]
    """Whether the link can be paid by."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "link_id": "link_id",
        "link": "link",
        "title": "title",
        "amount": "amount",
        "currency": "currency",
        "type": "type",
        "status": "status",
    }


@dataclass(frozen=True)
class PaylinkReply(Result):
    """The link that was made, or switched."""

    status: int
    """200: done."""
    message: str
    """The outcome in words."""
    data: PaylinkRecord
    """The link."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class PaymentReply(Result):
    """Reply of every payment step. Status 200 has `txnStatus`. Status 201 is pending too: the rail's answer could
    not be read. Status 202 says what the payer must do.
    """

    status: int
    """200: `txnStatus` says the outcome. 201: the rail's answer could not be read, the payment is pending. 202: a
    further step is needed, named by the fields `apply_auth` to `expires`.
    """
    txn_ref: str
    """Reference of the payment, made by the service. Absent in a dry run of a payment that would begin."""
    message: str
    """The outcome or the next step in words. Of a failed payment it says who declined and why."""
    txn_status: Literal["failed", "pending", "successful"] | None = None
    """`successful` and `failed` are final. `pending`: the outcome is not known yet; verify later. Absent with status
    202 and in a dry run.
    """
    loan_id: str | None = None
    """The loan that the payment repays. Absent for every other payment."""
    savings_id: str | None = None
    """The savings account that the payment is deposited to. Absent for every other payment."""
    checkout_ref: str | None = None
    """The checkout that the payment is an attempt to pay. Absent for every other payment."""
    apply_auth: str | None = None
    """Reply of `initiate`: the authentication that the card's bank wants, `PIN`, `OTP` or `3DSecure`. Call `charge`
    next, or for `OTP` call `validate`. `redirect`: the payer enters the card at `authURL`, and nothing is called.
    """
    auth_type: str | None = None
    """What the payer does next: `OTP`: tell the code for `validate`; `ussd`: dial `ussd_code`; `device`: approve,
    scan or transfer. Absent if there is an `authURL`.
    """
    validate: str | None = None
    """A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."""
    auth_url: str | None = None
    """Page on which the payer approves the payment, or pays. Open it in a window, one of ours also in a frame.
    Present for 3-D Secure and paga, and where payers pay on the page of a vendor.
    """
    state: str | None = None
    """`validated` in the reply to a savings deposit that awaits an OTP. Absent otherwise."""
    ussd_code: str | None = None
    """The code that the payer dials. Present for `ussd`."""
    enrolment: bool | None = None
    """True for the first `phone` payment of a number at this merchant: the payer enrolls on the telephone. Else
    absent.
    """
    qr_code: str | None = None
    """Content of the QR code (EMVCo), to draw it yourself. Present for `qrpay`."""
    qr_image: str | None = None
    """Address of the QR code as an SVG image. Present for `qrpay`."""
    account_number: str | None = None
    """Account that the payer transfers the money to, made for this payment. Present for `bank_transfer`."""
    account_name: str | None = None
    """Name of that account: the request's `business_name`, or the merchant's name."""
    bank_name: str | None = None
    """Bank of that account."""
    account_expires: int | None = None
    """Seconds from the beginning of the payment until the account is no longer valid."""
    amount: Decimal | None = None
    """Amount that the payer must transfer, with the fee if the customer bears it. Present for `bank_transfer`."""
    expires: int | None = None
    """Seconds from the beginning of the payment until the code is no longer valid. Present for `ussd` and `qrpay`."""
    card_token: str | None = field(default=None, repr=False)
    """Token of the saved card, for payments of type `token`. Present if a card payment was successful."""
    bank_message: str | None = None
    """Answer of the payer's bank or provider in its own words; of a failed payment, the reason."""
    fullname: str | None = None
    """First and last name of the payer as sent with `user`. Empty if unknown."""
    email: str | None = None
    """Email address of the payer as sent with `user`. Empty if unknown."""
    charged_amount: Decimal | None = None
    """Amount that the payer was charged, with the fee if the customer bears it; 0.00 if the payment failed."""
    fraud_status: str | None = None
    """Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."""
    card: PayerCard | None = None
    """The card that was charged. Present for card and token payments."""
    currency: str | None = None
    """Currency of the charged amount."""
    payment_method: str | None = None
    """The payment type, such as `card` or `ussd`; `wallet` if a loan or savings account was paid from the wallet."""
    meta: Mapping[str, Any] | None = None
    """The object that was sent as `meta`. Absent if there was none."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed, and no rail was asked. Else absent."""
    charges: Charges | None = None
    """What the payment would cost now. Present in a dry run of `initiate` and `charge`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "dry_run": "dry_run",
        "charges": "charges",
    }


@dataclass(frozen=True)
class PaymentState(Result):
    """A payment as `verify` shows it. `chargedAmount` is a number here. A pending payment has the payer's next step,
    as `charge` returns it. `refunds` lists all refunds, newest first, failed ones too. If a refund was asked for,
    `refundRef`, status, message and amount are the refund's, and `txnRef` and the rest are its payment's.
    """

    status: int
    """200: the reference is known. `txnStatus` says what became of it."""
    txn_status: Literal["failed", "pending", "successful"]
    """`successful` and `failed` are final. `pending`: the payer or the rail has not finished it yet."""
    txn_ref: str
    """Reference of the payment, also if a refund was asked for."""
    message: str
    """The state in words: `PENDING`, or the outcome. Of a failed payment it says who declined and why."""
    charged_amount: Decimal
    """Amount that the payer was charged, with the fee if the customer bears it; of a refund, the amount paid back. 0
    unless successful.
    """
    currency: str
    """Currency of the payment."""
    payment_method: str
    """The payment type, `wallet` for a repayment or deposit from the wallet, `refund` if a refund was asked for."""
    fullname: str
    """First and last name of the payer as sent with `user`. Empty if unknown."""
    email: str
    """Email address of the payer as sent with `user`. Empty if unknown."""
    bank_message: str
    """Answer of the payer's bank or provider in its own words. `Awaiting Validation` while pending, or how much of a
    bank transfer has arrived.
    """
    fraud_status: str
    """Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."""
    customer_txnref: str | None = None
    """Your reference of the payment. Null if there is none."""
    card: PayerCard | None = None
    """The card that was charged. Present if a card or token payment was successful."""
    card_token: str | None = field(default=None, repr=False)
    """Token of the saved card, for payments of type `token`. Present if a card or token payment was successful."""
    refunded_amount: Decimal | None = None
    """Sum of the successful refunds of the payment. Present if the payment was successful."""
    disputed_amount: Decimal | None = None
    """Sum of the disputes of the payment that were not won. It cannot be refunded. Absent if there is none."""
    loan_id: str | None = None
    """The loan that the payment repays. Absent for every other payment."""
    savings_id: str | None = None
    """The savings account that the payment was deposited to. Absent for every other payment."""
    checkout_ref: str | None = None
    """The checkout that the payment was an attempt to pay. Absent for every other payment, and for a checkout
    itself.
    """
    checkout: CheckoutReport | None = None
    """The checkout that was asked for. Absent for a payment or refund."""
    meta: Mapping[str, Any] | None = None
    """The object that was sent as `meta`. Absent if there was none, and if a refund was asked for."""
    unapplied_amount: Decimal | None = None
    """Part of a payment for a loan or savings account that it could not use and that can still be refunded. Absent
    if all of it was used.
    """
    refund_ref: str | None = None
    """Reference of the refund that was asked for. Absent for a payment."""
    refundable_amount: Decimal | None = None
    """Amount of the payment that can still be refunded. Present if a refund was asked for."""
    refunds: tuple[RefundLine, ...] | None = None
    """The newest 200 refunds of the payment, newest first, in any status. Absent if there are none."""
    rejections: tuple[RejectionLine, ...] | None = None
    """Transfers for the payment that were sent back, newest first. Absent if there are none."""
    apply_auth: str | None = None
    """While the payment waits for `charge`: the authentication that the card's bank wants."""
    auth_type: str | None = None
    """While the payer must act: `OTP`, `ussd` or `device`, as in the reply of `charge`."""
    validate: str | None = None
    """A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."""
    auth_url: str | None = None
    """Page on which the payer approves the payment, or pays. Present while a payment by 3-D Secure, by paga or on
    the page of a vendor is pending.
    """
    ussd_code: str | None = None
    """The code that the payer dials. Present while a `ussd` payment is pending."""
    qr_code: str | None = None
    """Content of the QR code (EMVCo). Present while a `qrpay` payment is pending."""
    qr_image: str | None = None
    """Address of the QR code as an SVG image. Present while a `qrpay` payment is pending."""
    account_number: str | None = None
    """Account that the payer transfers the money to. Present while a `bank_transfer` payment is pending."""
    account_name: str | None = None
    """Name of that account: the request's `business_name`, or the merchant's name."""
    bank_name: str | None = None
    """Bank of that account."""
    amount: Decimal | None = None
    """Amount that the payer must transfer while a `bank_transfer` payment is pending; or the amount of the refund
    that was asked for.
    """
    expires_at: dt.datetime | None = None
    """Time at which the payment fails if the payer has not acted, in UTC. Present while the payer must act."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "customer_txnref": "customer_txnref",
        "message": "message",
        "charged_amount": "chargedAmount",
        "currency": "currency",
        "payment_method": "payment_method",
        "fullname": "fullname",
        "email": "email",
        "bank_message": "bank_message",
        "fraud_status": "fraudStatus",
        "card": "card",
        "card_token": "cardToken",
        "refunded_amount": "refundedAmount",
        "disputed_amount": "disputedAmount",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
        "checkout": "checkout",
        "meta": "meta",
        "unapplied_amount": "unappliedAmount",
        "refund_ref": "refundRef",
        "refundable_amount": "refundableAmount",
        "refunds": "refunds",
        "rejections": "rejections",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "ussd_code": "ussd_code",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "amount": "amount",
        "expires_at": "expires_at",
    }


@dataclass(frozen=True)
class PenaltyRecord(Result):
    """The cost of lateness with a product."""

    rate: Decimal
    """Penalty in percent of the overdue principal for each day."""
    tolerance_days: int
    """Days after the due date before an installment is late."""
    first: Literal["due", "tolerance"]
    """Whether the days of tolerance are charged once an installment is late (`due`), or never (`tolerance`)."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"rate": "rate", "tolerance_days": "tolerance_days", "first": "from"}


@dataclass(frozen=True)
class PeopleMail(Result):
    """A mail to a person of the console. It is in this outbox and goes nowhere else."""

    number: int
    """Number of the mail in the order of queueing. It counts those of all merchants, so a merchant's have gaps."""
    mail_id: str
    """Identifier of the mail."""
    purpose: str
    """What it is for, such as `invitation`, `sign_in_alert` or `approvals_waiting`."""
    status: Literal["bounced", "failed", "queued", "sent", "unknown"]
    """State of the mail."""
    last: str
    """Address of the person."""
    created_at: dt.datetime
    """Time at which it was queued, by the server's clock, in UTC."""
    subject: str | None = None
    """Subject. Null if the mail was replaced before it was sent."""
    text: str | None = None
    """The mail as plain text. Null if the mail was replaced before it was sent."""
    html: str | None = None
    """The mail as HTML, with the same words. Null if the mail was replaced before it was sent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "number": "number",
        "mail_id": "mail_id",
        "purpose": "purpose",
        "status": "status",
        "last": "to",
        "subject": "subject",
        "text": "text",
        "html": "html",
        "created_at": "created_at",
    }


@dataclass(frozen=True)
class PeriodRangeRecord(Result):
    """The numbers of installments of a product."""

    min: int
    """The smallest number."""
    max: int
    """The largest number."""
    default: int | None = None
    """The number of a request that names none. Absent if a request must name one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"min": "min", "max": "max", "default": "default"}


@dataclass(frozen=True)
class PersonalizedAccount(Result):
    """An account number of its own for one reference. Every transfer into it is a successful payment."""

    account_number: str
    """The number that payers transfer to."""
    account_name: str
    """Name of the account, as it was first requested. Empty if the person was erased."""
    bank_name: str
    """Bank of the account."""
    reference: str
    """Your reference of the account."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "reference": "reference",
    }


@dataclass(frozen=True)
class PersonalizedReply(Result):
    """The account number of a reference, new or made before."""

    status: int
    """200: the account can be paid into. 202: it is being opened; ask again with the same reference."""
    message: str
    """The outcome in words."""
    data: PersonalizedAccount | None = None
    """The account. Absent while it is being opened."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class PlanRecord(Result):
    """A thrift plan."""

    name: str
    """Name of the plan."""
    amount: Decimal
    """Contribution of each member in each cycle, in naira."""
    frequency: str
    """Time between two cycles: `every_day`, `every_week`, `every_four_weeks` or `every_month`."""
    start_date: dt.date
    """Requested first day, in Lagos, as YYYY-MM-DD."""
    member_required: int
    """Number of members that the plan needs. It is also the number of cycles."""
    members: int
    """Number of members that have subscribed."""
    state: Literal["cancelled", "completed", "open", "running"]
    """`open`: not started yet. `running`: started. `completed`: every member has received the pot. `cancelled`:
    before it started.
    """
    cycle: int
    """Number of cycles that are done."""
    thrift_id: str | None = None
    """Identifier of the plan, made by the service. Null in the dry run of a new plan."""
    next_date: dt.date | None = None
    """Date of the next cycle, in Lagos, as YYYY-MM-DD; before the plan is full, the first possible one. Null after
    the last cycle and if cancelled.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "thrift_id": "thrift_id",
        "name": "name",
        "amount": "amount",
        "frequency": "frequency",
        "start_date": "start_date",
        "member_required": "member_required",
        "members": "members",
        "state": "state",
        "cycle": "cycle",
        "next_date": "next_date",
    }


@dataclass(frozen=True)
class PlanReply(Result):
    """A thrift plan after a change."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: PlanRecord
    """The thrift plan."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class PolicyReply(Result):
    """The confirmation of a policy."""

    status: int
    """200: the policy is in force."""
    message: str
    """The outcome in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message"}


@dataclass(frozen=True)
class Portfolio(Result):
    """All loans of a day together."""

    as_of: dt.date
    """The day, as YYYY-MM-DD."""
    currency: Literal["NGN"]
    """Currency of all amounts."""
    loans: int
    """Number of loans that were paid out and owe something."""
    principal: Decimal
    """Principal that they owe, in naira."""
    buckets: tuple[PortfolioBucket, ...]
    """The loans by days late. All six buckets, also empty ones."""
    par1: PortfolioAtRisk
    """Loans that are at least 1 day late."""
    par30: PortfolioAtRisk
    """Loans that are more than 30 days late."""
    par90: PortfolioAtRisk
    """Loans that are more than 90 days late."""
    period: PortfolioPeriod
    """What happened from the first day of the month up to the day."""
    expected: PortfolioExpected
    """What installments still ask for: those that are due already, and those of the next days."""
    provision: Decimal
    """Set aside for losses at the end of the day, in naira, by your lending setting `provision_rates`. It follows a
    change in the night after it.
    """
    groups: tuple[PortfolioGroup, ...] | None = None
    """The loans by officer, branch or product: the 200 with the most principal, the largest first. Present if the
    request has `by`.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "as_of": "as_of",
        "currency": "currency",
        "loans": "loans",
        "principal": "principal",
        "buckets": "buckets",
        "par1": "par1",
        "par30": "par30",
        "par90": "par90",
        "period": "period",
        "expected": "expected",
        "groups": "groups",
        "provision": "provision",
    }


@dataclass(frozen=True)
class PortfolioAtRisk(Result):
    """The principal of loans that are late."""

    principal: Decimal
    """Principal that late loans owe, in naira, also what is not due yet."""
    share: Decimal
    """That principal in percent of all principal, with two decimals."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"principal": "principal", "share": "share"}


@dataclass(frozen=True)
class PortfolioBucket(Result):
    """The loans that are late by about as many days."""

    days_late: Literal["0", "1-30", "181+", "31-60", "61-90", "91-180"]
    """Days since the oldest due date that is not fully paid. `0`: nothing is late, because nothing is due and unpaid
    or because the tolerance of the loan is not over. Penalties do not count.
    """
    loans: int
    """Number of loans."""
    principal: Decimal
    """Principal that they owe, in naira."""
    share: Decimal
    """That principal in percent of all principal, with two decimals."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "days_late": "days_late",
        "loans": "loans",
        "principal": "principal",
        "share": "share",
    }


@dataclass(frozen=True)
class PortfolioExpected(Result):
    """Amounts owed of installments, without penalties."""

    overdue: Decimal
    """Owed of installments that were due up to the day, in naira."""
    days_7: Decimal
    """Owed of installments that are due in the 7 days after the day, in naira."""
    days_30: Decimal
    """Owed of installments that are due in the 30 days after the day, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"overdue": "overdue", "days_7": "days_7", "days_30": "days_30"}


@dataclass(frozen=True)
class PortfolioGroup(Result):
    """The loans of one officer, branch or product."""

    loans: int
    """Number of loans that owe something."""
    principal: Decimal
    """Principal that they owe, in naira."""
    par1: PortfolioAtRisk
    """Of these, loans that are at least 1 day late."""
    par30: PortfolioAtRisk
    """Of these, loans that are more than 30 days late."""
    par90: PortfolioAtRisk
    """Of these, loans that are more than 90 days late."""
    name: str | None = None
    """The officer or branch, or the `product_id`, as in the requests of the loans. Null: the loans that name none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "loans": "loans",
        "principal": "principal",
        "par1": "par1",
        "par30": "par30",
        "par90": "par90",
    }


@dataclass(frozen=True)
class PortfolioPeriod(Result):
    """The month up to the day."""

    first: dt.date
    """First day of the month, as YYYY-MM-DD."""
    last: dt.date
    """The day, as YYYY-MM-DD."""
    amount_due: Decimal
    """Sum of the installments that were due in the period, in naira, without penalties."""
    paid_of_due: Decimal
    """Part of `amount_due` that was paid by the end of the day, in naira."""
    collected: Decimal
    """Repayments of the period, in naira: of what was due, of what was late before, ahead of time, and penalties.
    Less what was reversed in the period. What was recovered after a write-off is in `recovered`.
    """
    written_off: Decimal
    """What was written off in the period, in naira: principal, interest, tax and penalties."""
    recovered: Decimal
    """What was paid in the period of loans that had been written off, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "first": "from",
        "last": "to",
        "amount_due": "amount_due",
        "paid_of_due": "paid_of_due",
        "collected": "collected",
        "written_off": "written_off",
        "recovered": "recovered",
    }


@dataclass(frozen=True)
class PortfolioReply(Result):
    """The portfolio of a day."""

    status: int
    """200."""
    data: Portfolio
    """The portfolio."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class ProductLoans(Result):
    """The numbers of a product's loans."""

    requested: int
    """Loans that are not paid out yet."""
    active: int
    """Loans that owe something, with those that are late."""
    in_arrears: int
    """Of these, loans that are late, by the state of last night."""
    closed: int
    """Loans that are closed."""
    lent: Decimal
    """Sum of the amounts that were paid out, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "requested": "requested",
        "active": "active",
        "in_arrears": "in_arrears",
        "closed": "closed",
        "lent": "lent",
    }


@dataclass(frozen=True)
class ProductRecord(Result):
    """A loan product."""

    code: str
    """Your code of the product."""
    name: str
    """What the product is called."""
    state: Literal["closed", "open"]
    """Whether loans of it can be requested."""
    ranges: RangeRecords
    """What a request may choose."""
    interest_frequency: Literal["annualized", "every_day", "every_four_weeks", "every_month", "every_week"]
    """The interval that the rates are for."""
    method: Literal["declining_equal_instalments", "equal_principal", "flat"]
    """How installments are calculated."""
    tax_rate: Decimal
    """Tax in percent of the interest."""
    allocation: tuple[Literal["charge", "interest", "penalty", "principal"], ...]
    """The order in which a repayment covers an installment that is due."""
    date_created: dt.datetime
    """Time at which it was created, in UTC."""
    product_id: str | None = None
    """Identifier of the product, made by the service. Null in the dry run of `create_product`."""
    penalty: PenaltyRecord | None = None
    """What lateness costs. Absent if your lending setting says it."""
    grace: GraceRecord | None = None
    """The grace period of its loans. Absent if they have none."""
    charges: tuple[AgreedChargeRecord, ...] | None = None
    """The charges of its loans. Absent if they have none."""
    loans: ProductLoans | None = None
    """The numbers of its loans, in `list_products` and `view_product`."""
    date_changed: dt.datetime | None = None
    """Time of the newest change, in UTC. Absent if there was none."""
    date_closed: dt.datetime | None = None
    """Time at which it was closed, in UTC. Absent while it is open."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "product_id": "product_id",
        "code": "code",
        "name": "name",
        "state": "state",
        "ranges": "ranges",
        "interest_frequency": "interestFrequency",
        "method": "method",
        "tax_rate": "tax_rate",
        "penalty": "penalty",
        "grace": "grace",
        "charges": "charges",
        "allocation": "allocation",
        "loans": "loans",
        "date_created": "dateCreated",
        "date_changed": "dateChanged",
        "date_closed": "dateClosed",
    }


@dataclass(frozen=True)
class ProductReply(Result):
    """A product, after a change if the request had one."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: ProductRecord
    """The product."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a loan of its defaults, in a dry run. Absent if a range has no default."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class Proof(Result):
    """All that is needed to check postings against a close. docs/proofs.md describes how."""

    state: Literal["closed", "pending"]
    """`pending` until the next close: then the fields that follow `last` are null or empty."""
    first: int
    """Number of the first posting that is proven."""
    last: int
    """Number of the last posting that is proven."""
    groups: tuple[ProofGroup, ...]
    """All groups from the one before `first` to the next mark, or to the head if there is none: no group between is
    left out.
    """
    path: tuple[str, ...]
    """Hashes of the inclusion proof of the head, from the leaf up, in hexadecimal."""
    start: str | None = None
    """Value of the chain before the first group, in hexadecimal."""
    mark: ProofMark | None = None
    """Place of the mark at which the groups end. Null if they end at the head."""
    head: ProofHead | None = None
    """Your head at the close."""
    index: int | None = None
    """Place of the head in the close's tree, counted from 0."""
    close: ProofClose | None = None
    """The close."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "state": "state",
        "first": "first",
        "last": "last",
        "start": "start",
        "groups": "groups",
        "mark": "mark",
        "head": "head",
        "index": "index",
        "path": "path",
        "close": "close",
    }


@dataclass(frozen=True)
class ProofClose(Result):
    """A close, as it is published."""

    number: int
    """Number of the close."""
    closed_at: dt.datetime
    """Time of the close, in UTC."""
    tree_size: int
    """Number of leaves of the tree."""
    root: str
    """Root of the tree, in hexadecimal."""
    previous: str
    """Hash of the close before."""
    public_key: str
    """Ed25519 key that signed it. Compare it with the one that the operator published."""
    signature: str
    """The signature."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "number": "number",
        "closed_at": "closed_at",
        "tree_size": "tree_size",
        "root": "root",
        "previous": "previous",
        "public_key": "public_key",
        "signature": "signature",
    }


@dataclass(frozen=True)
class ProofGroup(Result):
    """Postings that happened together."""

    number: int
    """Number of the first posting. The others follow without a gap."""
    at: int
    """Time in microseconds since 1970, UTC."""
    reference: str
    """Reference of the transaction, or of what caused it."""
    postings: tuple[ProofPosting, ...]
    """The postings, in order."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "number": "number",
        "at": "at",
        "reference": "reference",
        "postings": "postings",
    }


@dataclass(frozen=True)
class ProofHead(Result):
    """The head of your chains at the close: a leaf of the close's tree."""

    merchant_id: int
    """Number of your books. It changes when the test environment resets them."""
    posting_seq: int
    """Number of the last posting."""
    posting_head: str
    """Value of the chain of postings there, in hexadecimal."""
    mark_count: int
    """Number of marks since the close before."""
    mark_root: str
    """Root of the tree of those marks."""
    event_seq: int
    """Number of the last event."""
    event_head: str
    """Value of the chain of events there."""
    audit_seq: int
    """Number of the last entry of your audit trail."""
    audit_head: str
    """Hash of that entry. Empty if there is none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "merchant_id": "merchant_id",
        "posting_seq": "posting_seq",
        "posting_head": "posting_head",
        "mark_count": "mark_count",
        "mark_root": "mark_root",
        "event_seq": "event_seq",
        "event_head": "event_head",
        "audit_seq": "audit_seq",
        "audit_head": "audit_head",
    }


@dataclass(frozen=True)
class ProofMark(Result):
    """The place of the chain's value in the tree of marks of the head."""

    index: int
    """Place of the mark, counted from 0."""
    path: tuple[str, ...]
    """Hashes of the inclusion proof, from the leaf up, in hexadecimal."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"index": "index", "path": "path"}


@dataclass(frozen=True)
class ProofPosting(Result):
    """One posting of a group."""

    debit_account: str
    """Account that it left, such as `wallet:main:NGN`. The last part is the currency."""
    credit_account: str
    """Account that it entered."""
    amount_minor: str
    """Amount in minor units."""
    debit_after: str
    """Balance of the debited account after it, in minor units."""
    credit_after: str
    """Balance of the credited account after it, in minor units."""
    kind: str
    """What it is, such as `transfer` or `VAT on fee`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "debit_account": "debit_account",
        "credit_account": "credit_account",
        "amount_minor": "amount_minor",
        "debit_after": "debit_after",
        "credit_after": "credit_after",
        "kind": "kind",
    }


@dataclass(frozen=True)
class ProofReply(Result):
    """The proofs of what has the reference."""

    status: int
    """200: there is such a reference."""
    message: str
    """The outcome in words."""
    data: tuple[Proof, ...]
    """A proof for each group of postings, oldest first, at most 20. Empty if no money moved."""
    format: Literal["kasuwa proof 1"]
    """Format of the proofs."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "format": "format",
    }


@dataclass(frozen=True)
class PurchaseReply(Result):
    """The result of a purchase or refund, in the test environment."""

    status: int
    """200, also for a declined purchase."""
    txn_status: Literal["failed", "successful"]
    """`successful`, or `failed` if the purchase was declined. Both are final."""
    txn_ref: str
    """Reference of the purchase or refund, made by the service."""
    bank_message: str
    """Answer of the card's issuer in its own words."""
    message: str | None = None
    """Of a declined purchase, who declined it and why. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "bank_message": "bank_message",
        "message": "message",
    }


@dataclass(frozen=True)
class RangeRecords(Result):
    """The ranges of a product."""

    amount: AmountRangeRecord
    """Amounts, in naira."""
    period: PeriodRangeRecord
    """Numbers of installments."""
    interest_rate: RateRangeRecord
    """Interest rates, in percent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"amount": "amount", "period": "period", "interest_rate": "interestRate"}


@dataclass(frozen=True)
class RateRangeRecord(Result):
    """The interest rates of a product, in percent."""

    min: Decimal
    """The lowest rate."""
    max: Decimal
    """The highest rate."""
    default: Decimal | None = None
    """The rate of a request that names none. Absent if a request must name one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"min": "min", "max": "max", "default": "default"}


@dataclass(frozen=True)
class RecurrentChangedReply(Result):
    """One recurrent payment, after a change if the request had one."""

    status: int
    """200: the recurrent payment is known, and the change was made."""
    message: str
    """The state in words."""
    data: RecurrentPlan
    """The recurrent payment."""
    dry_run: bool | None = None
    """True in a dry run: `data` is what the recurrent payment would be, and nothing was changed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class RecurrentPlan(Result):
    """A recurrent payment. `txnRef` is its newest charge, `paid` the sum of all successful ones."""

    id: str
    """Identifier of the recurrent payment, made by the service."""
    state: str
    """`active`: charged on its due dates. `paused`: by the service, after a decline that is not retried or three
    failed cycles in a row. `stopped`: by you. `start` activates these again. `cancelled`: the payer's data were
    erased; it cannot be started again.
    """
    amount: Decimal
    """Amount of each charge, without a fee that the customer bears."""
    currency: str
    """Currency of the amounts."""
    frequency: str
    """How often the card is charged: `daily`, `weekly` or `monthly`."""
    value: str
    """The hour, the weekday (1 is Monday) or the day of the month, by `frequency`, in Lagos time."""
    paid: Decimal
    """Sum of the amounts of all successful charges, the first included."""
    card_token: str = field(repr=False)
    """Token of the saved card that is charged."""
    txn_ref: str
    """Reference of the newest charge."""
    email: str
    """Email address of the payer. Empty if unknown."""
    date_created: dt.datetime
    """Time of the first successful charge, in UTC."""
    next_charge: dt.datetime | None = None
    """Due time of the charge that comes next or is being retried, in UTC. Null unless the state is `active`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "state": "state",
        "amount": "amount",
        "currency": "currency",
        "frequency": "frequency",
        "value": "value",
        "next_charge": "next_charge",
        "paid": "paid",
        "card_token": "cardToken",
        "txn_ref": "txnRef",
        "email": "email",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class RedemptionRecord(Result):
    """A redemption of shares."""

    class_id: str
    """The class."""
    client_id: str
    """The member."""
    shares: int
    """Number of shares."""
    amount: Decimal
    """What is paid into the member's savings account, in naira."""
    state: Literal["approved", "expired", "rejected", "waiting"]
    """`waiting` for consent. `approved`: paid. `rejected`, and `expired` after 30 days: the member keeps the shares."""
    requested_by: str
    """The key or the person that asked for it."""
    date_created: dt.datetime
    """Time of the request, in UTC."""
    expires_at: dt.datetime
    """Time until which it can be approved, in UTC."""
    redemption_id: str | None = None
    """Identifier of the redemption, made by the service. Null in a dry run."""
    decided_by: str | None = None
    """The key or the person that decided it. Absent while it waits, and if nobody did."""
    date_decided: dt.datetime | None = None
    """Time of the decision or of the expiry, in UTC. Absent while it waits."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "redemption_id": "redemption_id",
        "class_id": "class_id",
        "client_id": "client_id",
        "shares": "shares",
        "amount": "amount",
        "state": "state",
        "requested_by": "requestedBy",
        "decided_by": "decidedBy",
        "date_created": "dateCreated",
        "expires_at": "expires_at",
        "date_decided": "dateDecided",
    }


@dataclass(frozen=True)
class RedemptionReply(Result):
    """A redemption after it was asked for."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: RedemptionRecord
    """The redemption."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class RedemptionVerdictReply(Result):
    """A redemption after it was decided."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: RedemptionRecord
    """The redemption."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class RefundLine(Result):
    """One refund of a payment, in any status."""

    refund_ref: str
    """Reference of the refund, made by the service."""
    txn_status: Literal["failed", "pending", "successful"]
    """`pending` until the rail has confirmed; `successful` and `failed` are final."""
    amount: Decimal
    """Amount of the refund, in the payment's currency."""
    message: str
    """The outcome in words; of a failed refund, the reason."""
    comment: str
    """The `comment` of the refund request. Empty if there was none."""
    date_created: dt.datetime
    """Time of the refund request, in UTC."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "refund_ref": "refundRef",
        "txn_status": "txnStatus",
        "amount": "amount",
        "message": "message",
        "comment": "comment",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class RefundReply(Result):
    """One refund. `refundedAmount` and `refundableAmount` are of its payment: refunded so far, and still refundable."""

    status: int
    """200: the refund was accepted. `txnStatus` says its outcome."""
    txn_ref: str
    """The payment that is refunded."""
    refund_ref: str
    """Reference of the refund, made by the service. `verify` takes it. Absent in a dry run."""
    txn_status: Literal["failed", "pending", "successful"]
    """`pending`: the rail has not confirmed it yet and is asked again. `successful` and `failed` are final. Absent
    in a dry run.
    """
    amount: Decimal
    """Amount of this refund."""
    currency: str
    """Currency of the payment and of the refund."""
    refunded_amount: Decimal
    """Sum of the successful refunds of the payment."""
    refundable_amount: Decimal
    """Amount of the payment that can still be refunded. Pending refunds are deducted, and in a dry run the amount of
    the request.
    """
    message: str
    """The outcome in words; of a failed refund, the reason."""
    dry_run: bool | None = None
    """True in a dry run: nothing was paid back. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "refund_ref": "refundRef",
        "txn_status": "txnStatus",
        "amount": "amount",
        "currency": "currency",
        "refunded_amount": "refundedAmount",
        "refundable_amount": "refundableAmount",
        "message": "message",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class RejectionLine(Result):
    """A transfer for a payment that was sent back. Nothing was booked."""

    reason: str
    """The bank's word for the reason, such as `UNDER_PAYMENT`. Empty if it gave none."""
    at: dt.datetime
    """Time at which the bank announced it, in UTC."""
    amount: Decimal | None = None
    """Amount that the payer transferred. Null if the bank did not say."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"amount": "amount", "reason": "reason", "at": "at"}


@dataclass(frozen=True)
class RelatedReference(Result):
    """Something that belongs to what was found."""

    kind: str
    """Its kind, such as `refund`, `payment`, `batch`, `loan`, `group_loan`, `client` or `customer`."""
    reference: str
    """Its reference, which `transaction` takes."""
    state: str | None = None
    """Its state. Null if that is not known here."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"kind": "kind", "reference": "reference", "state": "state"}


@dataclass(frozen=True)
class RepayReply(Result):
    """The reply of the payment at every step of its flow. A repayment by `wallet` and a dry run also have the
    allocation and the loan after it. A dry run has no txnRef.
    """

    status: int
    """200: `txnStatus` says the outcome. 201: the rail's answer could not be read, the payment is pending. 202: a
    further step is needed, named by the fields `apply_auth` to `expires`.
    """
    message: str
    """The outcome or the next step in words. Of a failed payment it says who declined and why."""
    txn_ref: str | None = None
    """Reference of the payment, made by the service. Absent in a dry run of a payment that would begin."""
    txn_status: Literal["failed", "pending", "successful"] | None = None
    """`successful` and `failed` are final. `pending`: the outcome is not known yet; verify later. Absent with status
    202 and in a dry run.
    """
    loan_id: str | None = None
    """The loan that the payment repays. Absent for every other payment."""
    savings_id: str | None = None
    """The savings account that the payment is deposited to. Absent for every other payment."""
    checkout_ref: str | None = None
    """The checkout that the payment is an attempt to pay. Absent for every other payment."""
    apply_auth: str | None = None
    """Reply of `initiate`: the authentication that the card's bank wants, `PIN`, `OTP` or `3DSecure`. Call `charge`
    next, or for `OTP` call `validate`. `redirect`: the payer enters the card at `authURL`, and nothing is called.
    """
    auth_type: str | None = None
    """What the payer does next: `OTP`: tell the code for `validate`; `ussd`: dial `ussd_code`; `device`: approve,
    scan or transfer. Absent if there is an `authURL`.
    """
    validate: str | None = None
    """A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."""
    auth_url: str | None = None
    """Page on which the payer approves the payment, or pays. Open it in a window, one of ours also in a frame.
    Present for 3-D Secure and paga, and where payers pay on the page of a vendor.
    """
    state: str | None = None
    """`validated` in the reply to a savings deposit that awaits an OTP. Absent otherwise."""
    ussd_code: str | None = None
    """The code that the payer dials. Present for `ussd`."""
    enrolment: bool | None = None
    """True for the first `phone` payment of a number at this merchant: the payer enrolls on the telephone. Else
    absent.
    """
    qr_code: str | None = None
    """Content of the QR code (EMVCo), to draw it yourself. Present for `qrpay`."""
    qr_image: str | None = None
    """Address of the QR code as an SVG image. Present for `qrpay`."""
    account_number: str | None = None
    """Account that the payer transfers the money to, made for this payment. Present for `bank_transfer`."""
    account_name: str | None = None
    """Name of that account: the request's `business_name`, or the merchant's name."""
    bank_name: str | None = None
    """Bank of that account."""
    account_expires: int | None = None
    """Seconds from the beginning of the payment until the account is no longer valid."""
    amount: Decimal | None = None
    """Amount that the payer must transfer, with the fee if the customer bears it. Present for `bank_transfer`."""
    expires: int | None = None
    """Seconds from the beginning of the payment until the code is no longer valid. Present for `ussd` and `qrpay`."""
    card_token: str | None = field(default=None, repr=False)
    """Token of the saved card, for payments of type `token`. Present if a card payment was successful."""
    bank_message: str | None = None
    """Answer of the payer's bank or provider in its own words; of a failed payment, the reason."""
    fullname: str | None = None
    """First and last name of the payer as sent with `user`. Empty if unknown."""
    email: str | None = None
    """Email address of the payer as sent with `user`. Empty if unknown."""
    charged_amount: Decimal | None = None
    """Amount that the payer was charged, with the fee if the customer bears it; 0.00 if the payment failed."""
    fraud_status: str | None = None
    """Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."""
    card: PayerCard | None = None
    """The card that was charged. Present for card and token payments."""
    currency: str | None = None
    """Currency of the charged amount."""
    payment_method: str | None = None
    """The payment type, such as `card` or `ussd`; `wallet` if a loan or savings account was paid from the wallet."""
    meta: Mapping[str, Any] | None = None
    """The object that was sent as `meta`. Absent if there was none."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed, and no rail was asked. Else absent."""
    charges: Charges | None = None
    """What the payment would cost now. Present in a dry run of `initiate` and `charge`."""
    allocation: RepaymentAllocation | None = None
    """The parts of the loan that the repayment covers. Present for `wallet` and in a dry run."""
    data: LoanRecord | None = None
    """The loan after the repayment. Present for `wallet` and in a dry run."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "dry_run": "dry_run",
        "charges": "charges",
        "allocation": "allocation",
        "data": "data",
        "explained": "explained",
    }


@dataclass(frozen=True)
class RepaymentAllocation(Result):
    """The parts of a loan that a repayment covered, in all installments together."""

    penalty: Decimal
    """Penalties that were paid, in naira."""
    interest: Decimal
    """Interest that was paid, in naira."""
    tax: Decimal
    """Tax on interest that was paid, in naira."""
    principal: Decimal
    """Principal that was repaid, in naira."""
    charges: Decimal | None = None
    """Charges that were paid, with their VAT, in naira. Absent if none were."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "penalty": "penalty",
        "interest": "interest",
        "tax": "tax",
        "principal": "principal",
        "charges": "charges",
    }


@dataclass(frozen=True)
class RepaymentReallocation(Result):
    """A later repayment that covers other parts of its loan than before a reversal."""

    txn_ref: str
    """The repayment."""
    amount: Decimal
    """Amount of it that the loan was given, in naira: without what was taken back or refunded."""
    allocation: RepaymentAllocation
    """The parts of the loan that it covers now."""
    credit: Decimal
    """Amount of it that is beyond what was owed and was not refunded, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "txn_ref": "txnRef",
        "amount": "amount",
        "allocation": "allocation",
        "credit": "credit",
    }


@dataclass(frozen=True)
class RepaymentValidateReply(Result):
    """The outcome of a repayment after the payer's code, or of a dry run."""

    status: int
    """200: `txnStatus` says the outcome. 201: the rail's answer could not be read, the payment is pending. 202: a
    further step is needed, named by the fields `apply_auth` to `expires`.
    """
    message: str
    """The outcome or the next step in words. Of a failed payment it says who declined and why."""
    txn_ref: str | None = None
    """Reference of the payment, made by the service. Absent in a dry run of a payment that would begin."""
    txn_status: Literal["failed", "pending", "successful"] | None = None
    """`successful` and `failed` are final. `pending`: the outcome is not known yet; verify later. Absent with status
    202 and in a dry run.
    """
    loan_id: str | None = None
    """The loan that the payment repays. Absent for every other payment."""
    savings_id: str | None = None
    """The savings account that the payment is deposited to. Absent for every other payment."""
    checkout_ref: str | None = None
    """The checkout that the payment is an attempt to pay. Absent for every other payment."""
    apply_auth: str | None = None
    """Reply of `initiate`: the authentication that the card's bank wants, `PIN`, `OTP` or `3DSecure`. Call `charge`
    next, or for `OTP` call `validate`. `redirect`: the payer enters the card at `authURL`, and nothing is called.
    """
    auth_type: str | None = None
    """What the payer does next: `OTP`: tell the code for `validate`; `ussd`: dial `ussd_code`; `device`: approve,
    scan or transfer. Absent if there is an `authURL`.
    """
    validate: str | None = None
    """A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."""
    auth_url: str | None = None
    """Page on which the payer approves the payment, or pays. Open it in a window, one of ours also in a frame.
    Present for 3-D Secure and paga, and where payers pay on the page of a vendor.
    """
    state: str | None = None
    """`validated` in the reply to a savings deposit that awaits an OTP. Absent otherwise."""
    ussd_code: str | None = None
    """The code that the payer dials. Present for `ussd`."""
    enrolment: bool | None = None
    """True for the first `phone` payment of a number at this merchant: the payer enrolls on the telephone. Else
    absent.
    """
    qr_code: str | None = None
    """Content of the QR code (EMVCo), to draw it yourself. Present for `qrpay`."""
    qr_image: str | None = None
    """Address of the QR code as an SVG image. Present for `qrpay`."""
    account_number: str | None = None
    """Account that the payer transfers the money to, made for this payment. Present for `bank_transfer`."""
    account_name: str | None = None
    """Name of that account: the request's `business_name`, or the merchant's name."""
    bank_name: str | None = None
    """Bank of that account."""
    account_expires: int | None = None
    """Seconds from the beginning of the payment until the account is no longer valid."""
    amount: Decimal | None = None
    """Amount that the payer must transfer, with the fee if the customer bears it. Present for `bank_transfer`."""
    expires: int | None = None
    """Seconds from the beginning of the payment until the code is no longer valid. Present for `ussd` and `qrpay`."""
    card_token: str | None = field(default=None, repr=False)
    """Token of the saved card, for payments of type `token`. Present if a card payment was successful."""
    bank_message: str | None = None
    """Answer of the payer's bank or provider in its own words; of a failed payment, the reason."""
    fullname: str | None = None
    """First and last name of the payer as sent with `user`. Empty if unknown."""
    email: str | None = None
    """Email address of the payer as sent with `user`. Empty if unknown."""
    charged_amount: Decimal | None = None
    """Amount that the payer was charged, with the fee if the customer bears it; 0.00 if the payment failed."""
    fraud_status: str | None = None
    """Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."""
    card: PayerCard | None = None
    """The card that was charged. Present for card and token payments."""
    currency: str | None = None
    """Currency of the charged amount."""
    payment_method: str | None = None
    """The payment type, such as `card` or `ussd`; `wallet` if a loan or savings account was paid from the wallet."""
    meta: Mapping[str, Any] | None = None
    """The object that was sent as `meta`. Absent if there was none."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed, and no rail was asked. Else absent."""
    charges: Charges | None = None
    """What the payment would cost now. Present in a dry run of `initiate` and `charge`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "message": "message",
        "loan_id": "loan_id",
        "savings_id": "savings_id",
        "checkout_ref": "checkoutRef",
        "apply_auth": "apply_auth",
        "auth_type": "auth_type",
        "validate": "validate",
        "auth_url": "authURL",
        "state": "state",
        "ussd_code": "ussd_code",
        "enrolment": "enrolment",
        "qr_code": "qr_code",
        "qr_image": "qr_image",
        "account_number": "accountNumber",
        "account_name": "accountName",
        "bank_name": "bankName",
        "account_expires": "accountExpires",
        "amount": "amount",
        "expires": "expires",
        "card_token": "cardToken",
        "bank_message": "bank_message",
        "fullname": "fullname",
        "email": "email",
        "charged_amount": "chargedAmount",
        "fraud_status": "fraudStatus",
        "card": "card",
        "currency": "currency",
        "payment_method": "payment_method",
        "meta": "meta",
        "dry_run": "dry_run",
        "charges": "charges",
    }


@dataclass(frozen=True)
class ResendReply(Result):
    """The events that are sent again."""

    status: int
    """200: the deliveries are scheduled."""
    message: str
    """The outcome in words."""
    sent: int
    """Number of events that are sent again."""
    more: bool
    """Whether more events failed since `failed_since`: send the same request again for the next 1,000."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "sent": "sent", "more": "more"}


@dataclass(frozen=True)
class RestoreReply(Result):
    """The confirmation of a restore."""

    status: int
    """200: it was done. The next request is answered from the world."""
    message: str
    """The outcome in words."""
    rows: int
    """Number of rows that were restored."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "rows": "rows"}


@dataclass(frozen=True)
class ReverseReply(Result):
    """A repayment that was reversed, and the loan without it."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    txn_ref: str
    """The repayment."""
    loan_id: str
    """The loan."""
    amount: Decimal
    """Amount of the repayment that the loan had been given, in naira."""
    refunded_amount: Decimal
    """Amount that had been refunded to the payer before, in naira. The loan does not ask for it."""
    allocation: RepaymentAllocation
    """The parts of the loan that it had covered. They are owed again."""
    reallocated: tuple[RepaymentReallocation, ...]
    """The later repayments that cover other parts than before."""
    data: LoanRecord
    """The loan without the repayment."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "loan_id": "loan_id",
        "amount": "amount",
        "refunded_amount": "refunded_amount",
        "allocation": "allocation",
        "reallocated": "reallocated",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class RolloverReply(Result):
    """A fixed deposit after a change of its rollover. A dry run explains what the end of the running term brings."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: SavingsRecord
    """The savings account."""
    dry_run: bool | None = None
    """True in a dry run: nothing was stored. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class RunningWorld(Result):
    """A snapshot, a restore or a copy that takes longer than a second, and is not done."""

    action: str
    """`snapshot`, `restore` or `fork`."""
    name: str
    """Name of the world; empty for a copy of the merchant as it is."""
    rows_done: int
    """Rows that were read or written so far."""
    rows_total: int
    """All rows; 0 while they are being counted."""
    began_at: str
    """The time of the server's clock when it began, in UTC."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "action": "action",
        "name": "name",
        "rows_done": "rows_done",
        "rows_total": "rows_total",
        "began_at": "began_at",
    }


@dataclass(frozen=True)
class SandboxReply(Result):
    """The confirmation of a sandbox action."""

    status: int
    """200: it was done."""
    message: str
    """The outcome in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message"}


@dataclass(frozen=True)
class SavingsCashcodeReply(Result):
    """The result of a cash-out by cashcode. `cashcode` and a generated `pin` are shown once. A replayed reply has
    neither.
    """

    status: int
    """200, or 201 if the bank's answer could not be read: the transfer stays open and the bank is asked again."""
    message: str
    """The outcome in words; of a failed transfer, the reason."""
    balance: Decimal
    """Money that can be taken out after the cash-out, in naira."""
    txn_ref: str | None = None
    """Reference of the cash-out, made by the service. Absent in a dry run and if empty savings were closed."""
    txn_status: str | None = None
    """`successful` and `failed` are final; `processing` and `pending` as for a transfer. Absent for `cashcode`, in a
    dry run and if empty savings were closed.
    """
    savings_id: str | None = None
    """The savings account. Absent in a dry run."""
    dry_run: bool | None = None
    """True in a dry run: nothing was paid. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    cashcode: str | None = field(default=None, repr=False)
    """The code for the cash machine. It is shown this once: absent from a repeated reply."""
    pin: str | None = field(default=None, repr=False)
    """PIN of the code, if the request had none. It is shown this once: absent from a repeated reply."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "txn_ref": "txnRef",
        "txn_status": "txnStatus",
        "savings_id": "savings_id",
        "balance": "balance",
        "dry_run": "dry_run",
        "explained": "explained",
        "cashcode": "cashcode",
        "pin": "pin",
    }


@dataclass(frozen=True)
class SavingsRecord(Result):
    """A savings account."""

    client_id: str
    """The client who saves."""
    name: str
    """Name of the savings account."""
    state: Literal["active", "closed", "dormant", "matured", "pending"]
    """`pending` until the first deposit. `active`: earns interest. `matured`: the period is over, and no interest
    accrues any more. `dormant`: the client has not moved money of it for long, and nothing can be taken out until
    it is reactivated. `closed`: emptied.
    """
    balance: Decimal
    """Money that can be taken out, in naira. Money held for open cash-outs is not included."""
    accrued_interest: Decimal
    """Interest that was earned and is not posted yet, before tax, in naira."""
    interest_settings: InterestReply
    """The agreed interest rate."""
    tax_applied: bool
    """Whether tax is withheld from the interest."""
    tax_rate: Decimal
    """Tax in percent of the interest. It counts only if `tax_applied` is true."""
    period: int
    """Months until maturity. 0 for a fixed deposit."""
    opened_at: dt.datetime
    """Time at which the savings account was created, in UTC."""
    matures_at: dt.datetime
    """Time of maturity, in UTC: midnight in Lagos. Of a fixed deposit, the end of the running term."""
    plans: tuple[str, ...]
    """The newest 100 thrift plans that the savings take or took part in, by `thrift_id`, without cancelled ones."""
    plans_total: int
    """Number of all these thrift plans."""
    savings_id: str | None = None
    """Identifier of the savings account, made by the service. Null in a dry run."""
    term_days: int | None = None
    """Days of each term of a fixed deposit. Absent for other savings."""
    rollover: Literal["all", "none", "principal"] | None = None
    """What of a fixed deposit begins a new term when one ends. Absent for other savings."""
    unlocked: Decimal | None = None
    """Part of the balance that is interest of earlier terms and not part of the running one, in naira: it earns
    nothing, and taking it out forfeits nothing. Absent unless it is a fixed deposit.
    """
    dormant_since: dt.date | None = None
    """Day since which it is dormant, as YYYY-MM-DD. Absent unless it is."""
    waiting_reactivation: WaitingReactivation | None = None
    """The reactivation that waits for the approval of another party. Absent if none does, and from lists."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "savings_id": "savings_id",
        "client_id": "client_id",
        "name": "name",
        "state": "state",
        "balance": "balance",
        "accrued_interest": "accrued_interest",
        "interest_settings": "interestSettings",
        "tax_applied": "tax_applied",
        "tax_rate": "tax_rate",
        "period": "period",
        "opened_at": "opened_at",
        "matures_at": "matures_at",
        "plans": "plans",
        "plans_total": "plans_total",
        "term_days": "term_days",
        "rollover": "rollover",
        "unlocked": "unlocked",
        "dormant_since": "dormant_since",
        "waiting_reactivation": "waiting_reactivation",
    }


@dataclass(frozen=True)
class SavingsReply(Result):
    """A savings account after it was created or asked for."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: SavingsRecord
    """The savings account."""
    dry_run: bool | None = None
    """True in a dry run: nothing was stored. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class SavingsStatementLine(Result):
    """One posting on a savings account."""

    date_created: dt.datetime
    """Time of the posting, in UTC."""
    origin: str
    """The `txnRef` of the transaction that caused it, the `thrift_id` of a cycle, or the `savings_id` for interest
    and tax.
    """
    narration: str
    """Kind of the posting in words."""
    amount: Decimal
    """Amount, in naira: positive if it came in, negative if it went out."""
    balance: Decimal
    """Balance after the posting, in naira, held money included."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "date_created": "dateCreated",
        "origin": "origin",
        "narration": "narration",
        "amount": "amount",
        "balance": "balance",
    }


@dataclass(frozen=True)
class SavingsTotals(Result):
    """Totals of all postings on savings other than deposits and cash-outs."""

    interest: Decimal
    """Interest that was posted, before tax, in naira."""
    withheld_tax: Decimal
    """Tax that was withheld from the interest, in naira."""
    thrift_paid: Decimal
    """Contributions to thrift plans and repaid thrift debts, in naira."""
    thrift_received: Decimal
    """Pots and repaid thrift debts that were received, in naira."""
    dividends: Decimal
    """Dividends on shares, before tax, in naira."""
    dividend_tax: Decimal
    """Tax that was withheld from the dividends, in naira."""
    shares_bought: Decimal
    """What was paid for shares, in naira."""
    shares_redeemed: Decimal
    """What was received for redeemed shares, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "interest": "interest",
        "withheld_tax": "withheld_tax",
        "thrift_paid": "thrift_paid",
        "thrift_received": "thrift_received",
        "dividends": "dividends",
        "dividend_tax": "dividend_tax",
        "shares_bought": "shares_bought",
        "shares_redeemed": "shares_redeemed",
    }


@dataclass(frozen=True)
class SavingsViewReply(Result):
    """A savings account with the totals of interest, tax and thrift in `moved`. `statement` shows each posting."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: SavingsRecord
    """The savings account."""
    moved: SavingsTotals
    """Totals of all postings other than deposits and cash-outs."""
    dry_run: bool | None = None
    """True in a dry run: nothing was stored. Else absent."""
    pledged: str | None = None
    """What is held of the savings for loans of others, in naira: it earns interest, and cannot be taken out. Absent
    if nothing is.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "moved": "moved",
        "pledged": "pledged",
    }


@dataclass(frozen=True)
class ScheduleReply(Result):
    """The schedule of payouts."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: ScheduleView
    """The schedule."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class ScheduleView(Result):
    """The schedule of payouts."""

    frequency: Literal["above", "daily", "monthly", "off", "weekly"]
    """When the wallet is paid out. `off` if it is not."""
    least: Decimal
    """A smaller balance is not paid out."""
    currency: str
    """Currency of the wallet that is paid out."""
    bankcode: str | None = None
    """Bank of the account. Null before the first schedule."""
    accountnumber: str | None = None
    """Number of the account. Null before the first schedule."""
    next_payout: dt.datetime | None = None
    """Time of the next payout, in UTC. Null if there is none."""
    last_payout: str | None = None
    """The `txnRef` of the last payout. Null before the first."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "frequency": "frequency",
        "least": "least",
        "currency": "currency",
        "bankcode": "bankcode",
        "accountnumber": "accountnumber",
        "next_payout": "next_payout",
        "last_payout": "last_payout",
    }


@dataclass(frozen=True)
class SettleReply(Result):
    """A transaction after the simulated call-back."""

    status: int
    """200: the call-back was received. `txnStatus` says the state."""
    txn_status: str
    """Status of the transaction now. One that was final before keeps its status."""
    txn_ref: str
    """Reference of the transaction."""
    message: str
    """The state in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "message": "message",
    }


@dataclass(frozen=True)
class SettlementDetail(Result):
    """A settlement with its lines."""

    settlement_id: str
    """Identifier of the settlement."""
    day: dt.date
    """The day, in Lagos."""
    currency: str
    """Currency of the amounts."""
    state: Literal["open", "settled"]
    """`open` while the day lasts; after it the settlement does not change."""
    gross: Decimal
    """What payers were charged, of the payments that reached the wallet on this day."""
    fee: Decimal
    """Fees of payments."""
    vat: Decimal
    """VAT on these fees."""
    split: Decimal
    """Parts of split payments that went to their beneficiaries."""
    refunds: Decimal
    """Refunds that were paid to payers."""
    disputes: Decimal
    """Disputes that were not won, with their fees, less what is owed for them."""
    reserve: Decimal
    """What was kept back of payments (negative), and what was released from the reserve."""
    net: Decimal
    """The sum of all lines: by so much collections changed the balance of the wallet."""
    paid_out: Decimal
    """Payouts to your bank account by schedule. They are not part of `net`."""
    lines: tuple[SettlementLine, ...]
    """The lines that have movements."""
    payouts: tuple[str, ...]
    """The `txnRef` of each payout of the day."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "settlement_id": "settlement_id",
        "day": "day",
        "currency": "currency",
        "state": "state",
        "gross": "gross",
        "fee": "fee",
        "vat": "vat",
        "split": "split",
        "refunds": "refunds",
        "disputes": "disputes",
        "reserve": "reserve",
        "net": "net",
        "paid_out": "paid_out",
        "lines": "lines",
        "payouts": "payouts",
    }


@dataclass(frozen=True)
class SettlementEventsReply(Result):
    """Whether you get daily events of settlements."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: SettlementEventsState
    """The setting."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class SettlementEventsState(Result):
    """Whether you get daily events of settlements."""

    daily: bool
    """Whether they are on."""
    next_event: dt.datetime | None = None
    """When the settlements of the next day to report are sent, in UTC. Null if daily events are off."""
    last_day: dt.date | None = None
    """The last day whose settlements were reported, in Lagos. Null before the first."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"daily": "daily", "next_event": "next_event", "last_day": "last_day"}


@dataclass(frozen=True)
class SettlementLine(Result):
    """The movements of one kind."""

    kind: Literal["disputes", "fee", "gross", "paid_out", "refunds", "reserve", "split", "vat"]
    """Kind of the movements."""
    amount: Decimal
    """Their sum: negative if they left the wallet."""
    count: int
    """Number of the postings. A settlement of an earlier day's payments is one."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"kind": "kind", "amount": "amount", "count": "count"}


@dataclass(frozen=True)
class SettlementReply(Result):
    """The settlement."""

    status: int
    """200."""
    data: SettlementDetail
    """The settlement."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class SettlementSummary(Result):
    """The effect of collections on the wallet of one currency on one day. Amounts that left the wallet are negative."""

    settlement_id: str
    """Identifier of the settlement."""
    day: dt.date
    """The day, in Lagos."""
    currency: str
    """Currency of the amounts."""
    state: Literal["open", "settled"]
    """`open` while the day lasts; after it the settlement does not change."""
    gross: Decimal
    """What payers were charged, of the payments that reached the wallet on this day."""
    fee: Decimal
    """Fees of payments."""
    vat: Decimal
    """VAT on these fees."""
    split: Decimal
    """Parts of split payments that went to their beneficiaries."""
    refunds: Decimal
    """Refunds that were paid to payers."""
    disputes: Decimal
    """Disputes that were not won, with their fees, less what is owed for them."""
    reserve: Decimal
    """What was kept back of payments (negative), and what was released from the reserve."""
    net: Decimal
    """The sum of all lines: by so much collections changed the balance of the wallet."""
    paid_out: Decimal
    """Payouts to your bank account by schedule. They are not part of `net`."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "settlement_id": "settlement_id",
        "day": "day",
        "currency": "currency",
        "state": "state",
        "gross": "gross",
        "fee": "fee",
        "vat": "vat",
        "split": "split",
        "refunds": "refunds",
        "disputes": "disputes",
        "reserve": "reserve",
        "net": "net",
        "paid_out": "paid_out",
    }


@dataclass(frozen=True)
class ShareClassRecord(Result):
    """A class of shares."""

    name: str
    """Name of the class."""
    price: Decimal
    """Price of one share, in naira."""
    votes: Literal["member", "share"]
    """What has a vote: each `member` with shares, or each `share`."""
    tax_rate: Decimal
    """Tax that is withheld from dividends, in percent of them."""
    members: int
    """Number of clients on the register, also those who have no shares any more."""
    shares: int
    """Shares of all members."""
    capital: Decimal
    """What these shares were sold for, in naira."""
    date_created: dt.datetime
    """Time at which the class was created, in UTC."""
    class_id: str | None = None
    """Identifier of the class, made by the service. Null in a dry run."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "class_id": "class_id",
        "name": "name",
        "price": "price",
        "votes": "votes",
        "tax_rate": "tax_rate",
        "members": "members",
        "shares": "shares",
        "capital": "capital",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class ShareClassReply(Result):
    """A class of shares after it was created."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: ShareClassRecord
    """The class."""
    dry_run: bool | None = None
    """True in a dry run: nothing was stored. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class ShareRegisterReply(Result):
    """The link to a register of members. It needs no key: whoever has it can read the register."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    link: str
    """Address of the file."""
    expires: dt.datetime
    """Time until which the link works, in UTC: an hour from now."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "link": "link",
        "expires": "expires",
    }


@dataclass(frozen=True)
class SheetLine(Result):
    """A line of the sheet: one loan."""

    client_id: str
    """The member."""
    loan_id: str
    """The member's loan of the group."""
    arrears: Decimal
    """Of what fell due before the day, what is not paid, penalties included, in naira."""
    installment: Decimal
    """Of what falls due on the day itself, what is not paid, in naira."""
    due: Decimal
    """Both together, in naira."""
    collected: Decimal
    """What was repaid on the day and counts, in naira."""
    outstanding: Decimal
    """What is owed by the schedule, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "client_id": "client_id",
        "loan_id": "loan_id",
        "arrears": "arrears",
        "installment": "installment",
        "due": "due",
        "collected": "collected",
        "outstanding": "outstanding",
    }


@dataclass(frozen=True)
class SheetRecord(Result):
    """The sheet of a meeting."""

    group_id: str
    """The group."""
    name: str
    """What you call it."""
    date: dt.date
    """Day of the meeting, as YYYY-MM-DD."""
    lines: tuple[SheetLine, ...]
    """One line a loan that is open, or that was repaid on the day."""
    totals: SheetTotals
    """Their sums."""
    leader: str | None = None
    """The member who leads it, by `client_id`. Null once it is closed."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "group_id": "group_id",
        "name": "name",
        "leader": "leader",
        "date": "date",
        "lines": "lines",
        "totals": "totals",
    }


@dataclass(frozen=True)
class SheetTotals(Result):
    """The sums of a sheet."""

    arrears: Decimal
    """Sum of the arrears, in naira."""
    installment: Decimal
    """Sum of the installments, in naira."""
    due: Decimal
    """Sum of both, in naira."""
    collected: Decimal
    """Sum of what was repaid on the day, in naira."""
    outstanding: Decimal
    """Sum of what is owed, in naira."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "arrears": "arrears",
        "installment": "installment",
        "due": "due",
        "collected": "collected",
        "outstanding": "outstanding",
    }


@dataclass(frozen=True)
class SnapshotReply(Result):
    """The world that was stored."""

    status: int
    """200: it is stored."""
    data: World
    """The world."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class SpendingLimitsReply(Result):
    """The limits of a card after a change."""

    status: int
    """200: the limits apply from now on, or would."""
    message: str
    """The outcome in words."""
    data: SpendingLimitsShown
    """The limits."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class SpendingLimitsShown(Result):
    """The limits of what may be spent with a card."""

    categories: tuple[str, ...]
    """Merchant category codes (MCC) of the shops that the card may pay. Empty: all shops."""
    per_transaction: Decimal | None = None
    """Most that one purchase may cost, in the card's currency. Null: no limit."""
    per_day: Decimal | None = None
    """Most that may be spent on one day in Lagos. Null: no limit."""
    per_month: Decimal | None = None
    """Most that may be spent in one calendar month in Lagos. Null: no limit."""
    blocked_categories: tuple[str, ...] | None = None
    """Merchant category codes of the shops that the card may not pay. Absent: none."""
    merchants: tuple[str, ...] | None = None
    """Shops that the card may pay. Absent: all shops."""
    blocked_merchants: tuple[str, ...] | None = None
    """Shops that the card may not pay. Absent: none."""
    countries: tuple[str, ...] | None = None
    """Countries of the shops that the card may pay. Absent: all countries."""
    velocity: tuple[VelocityShown, ...] | None = None
    """How many purchases, and how much, in how many hours. Absent: no such limit."""
    single_use: bool | None = None
    """True if the card pays one purchase. Else absent."""
    from_date: dt.date | None = None
    """First day in Lagos on which the card pays. Absent: from its creation."""
    to_date: str | None = None
    """Last day in Lagos on which the card pays. Absent: until it expires."""
    channels: tuple[Literal["atm", "contactless", "online"], ...] | None = None
    """Ways in which the card may be used. Absent: all."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "per_transaction": "per_transaction",
        "per_day": "per_day",
        "per_month": "per_month",
        "categories": "categories",
        "blocked_categories": "blocked_categories",
        "merchants": "merchants",
        "blocked_merchants": "blocked_merchants",
        "countries": "countries",
        "velocity": "velocity",
        "single_use": "single_use",
        "from_date": "from_date",
        "to_date": "to_date",
        "channels": "channels",
    }


@dataclass(frozen=True)
class StandingOrderRecord(Result):
    """A standing order."""

    client_id: str
    """The client whose money moves."""
    savings_id: str
    """The savings account that pays."""
    target: str
    """What is paid: a `savings_id`, `loan_id` or `thrift_id`."""
    pays: Literal["loan", "savings", "thrift"]
    """What `to` is."""
    amount: Decimal
    """Amount of each payment, in naira."""
    frequency: Literal["every_day", "every_four_weeks", "every_month", "every_week"]
    """Time between two payments."""
    from_date: dt.date
    """Day of the first payment, as YYYY-MM-DD."""
    state: Literal["active", "cancelled", "ended", "paused"]
    """`active`: it pays. `paused`: it waits to be resumed. `ended`: what it paid is repaid, closed or over, or its
    savings are closed. `cancelled`: by `change_standing_order`.
    """
    is_retry: bool
    """Whether `next_date` tries a payment again that the savings did not cover."""
    payments: int
    """Number of payments that were made."""
    paid: Decimal
    """Sum of these payments, in naira."""
    missed: int
    """Number of days that passed without a payment because the savings never covered it."""
    date_created: dt.datetime
    """Time at which it was created, in UTC."""
    order_id: str | None = None
    """Identifier of the standing order, made by the service. Null in a dry run."""
    next_date: dt.date | None = None
    """Day on which it pays next, or tries again, as YYYY-MM-DD. Null unless it is active."""
    reason: str | None = None
    """Why the last attempt failed, or why the standing order ended. Absent if there is nothing to say."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "order_id": "order_id",
        "client_id": "client_id",
        "savings_id": "savings_id",
        "target": "to",
        "pays": "pays",
        "amount": "amount",
        "frequency": "frequency",
        "from_date": "from_date",
        "state": "state",
        "next_date": "next_date",
        "is_retry": "is_retry",
        "payments": "payments",
        "paid": "paid",
        "missed": "missed",
        "reason": "reason",
        "date_created": "dateCreated",
    }


@dataclass(frozen=True)
class StandingOrderReply(Result):
    """A standing order after it was created or changed. A dry run explains what it would pay."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: StandingOrderRecord
    """The standing order."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class Statement(Result):
    """A statement, or the link to one."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    currency: str
    """Currency of the amounts."""
    opening_balance: Decimal
    """Balance at the beginning of the first day."""
    closing_balance: Decimal
    """Balance at the end of the last day, or now if that day is not over. It is the opening balance and all
    movements.
    """
    data: tuple[StatementMovement, ...]
    """The movements, oldest first. Empty beside a link."""
    totals: tuple[StatementTotal, ...] | None = None
    """The movements by kind. Null on later pages, beside a link, and for a period with more than 1,000,000 postings:
    the file has them.
    """
    next_cursor: str | None = None
    """Send it as `cursor` for the next page. Null if there is none."""
    link: str | None = None
    """Address of the file. It needs no key: whoever has it can read the statement. Null for `json`."""
    expires: dt.datetime | None = None
    """Time until which the link works, in UTC: an hour from now. Null for `json`."""
    account: str | None = None
    """With a proof: the account's name in the books, or the id of a loan or savings account."""
    proof: Proof | None = None
    """The proof that the movements of this page are in the books, and that none of those postings is left out. Null
    unless it was asked for, and for a period without postings.
    """
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "currency": "currency",
        "opening_balance": "opening_balance",
        "closing_balance": "closing_balance",
        "totals": "totals",
        "data": "data",
        "next_cursor": "next_cursor",
        "link": "link",
        "expires": "expires",
        "account": "account",
        "proof": "proof",
    }


@dataclass(frozen=True)
class StatementMovement(Result):
    """One movement."""

    date_created: dt.datetime
    """Time of the movement, in UTC."""
    kind: str
    """What the movement is, such as `payment`, `collection fee`, `interest` or `thrift payout`."""
    reference: str
    """Reference of the transaction, or of what caused the movement."""
    counterparty: str
    """The other account of the movement, such as `rail:bank:NGN` or `income:transfer:NGN`."""
    amount: Decimal
    """Amount: negative if it left the account. On a loan, a positive amount is owed."""
    balance: Decimal
    """Balance after the movement."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "date_created": "dateCreated",
        "kind": "kind",
        "reference": "reference",
        "counterparty": "counterparty",
        "amount": "amount",
        "balance": "balance",
    }


@dataclass(frozen=True)
class StatementTotal(Result):
    """The movements of one kind together."""

    kind: Literal["collected", "disputes", "fees", "interest", "other", "payouts", "refunds", "reserve", "tax", "vat"]
    """`collected`: payments and settlements; `disputes`: disputes that were not won, and what is lent and paid back
    for them; `reserve`: what was kept back and released; `payouts`: transfers, bills, cash and parts of others;
    `tax`: withheld tax, stamp duty and other tax but VAT; `other`: everything else, such as funding and
    repayments.
    """
    amount: Decimal
    """Sum of the movements: negative if more went out than came in."""
    count: int
    """Number of the movements."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"kind": "kind", "amount": "amount", "count": "count"}


@dataclass(frozen=True)
class SubscriptionRecord(Result):
    """A member of a thrift plan."""

    savings_id: str
    """The savings account that pays the contributions and receives the pot."""
    client_id: str
    """The client who owns the savings."""
    position: int
    """Number of the cycle whose pot the member receives, counted from 1."""
    payout_date: dt.date
    """Date on which the member received the pot, or will if no cycle is postponed, in Lagos, as YYYY-MM-DD."""
    contributed: Decimal
    """Sum of the contributions to the plan, in naira."""
    received: Decimal
    """Sum of what the member received from the plan, in naira."""
    owed: Decimal
    """Debts of the member in this plan, in naira: contributions that were short and not paid later."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "savings_id": "savings_id",
        "client_id": "client_id",
        "position": "position",
        "payout_date": "payout_date",
        "contributed": "contributed",
        "received": "received",
        "owed": "owed",
    }


@dataclass(frozen=True)
class SubscriptionReply(Result):
    """A new membership of a thrift plan."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: SubscriptionRecord
    """The member."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with its calculation. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class TicketKindRecord(Result):
    """One kind of ticket, with how many were sold."""

    name: str
    """Name of the kind."""
    amount: Decimal
    """Price of one ticket."""
    sold: int
    """How many were sold. Void ones do not count, unless they had been used."""
    reserved: int
    """How many payers are paying for now."""
    used: int
    """How many were used."""
    quantity: int | None = None
    """How many may be sold. Null for no limit."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "amount": "amount",
        "quantity": "quantity",
        "sold": "sold",
        "reserved": "reserved",
        "used": "used",
    }


@dataclass(frozen=True)
class TicketLinkRecord(Result):
    """A link that sells tickets."""

    link_id: str
    """Identifier of the link."""
    link: str
    """Its address, to give to payers."""
    title: str
    """Its title."""
    currency: str
    """Currency of the prices."""
    type: Literal["one_time"]
    """A ticket is paid once."""
    status: Literal["active", "disabled"]
    """Whether tickets can be bought."""
    ticket_data: tuple[TicketKindRecord, ...]
    """The kinds of tickets."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "link_id": "link_id",
        "link": "link",
        "title": "title",
        "currency": "currency",
        "type": "type",
        "status": "status",
        "ticket_data": "ticket_data",
    }


@dataclass(frozen=True)
class TicketLinkReply(Result):
    """A new link that sells tickets."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: TicketLinkRecord
    """The link."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class TicketRecord(Result):
    """A ticket that was sold."""

    code: str
    """Code of the ticket, in groups of four."""
    state: Literal["used", "valid", "void"]
    """`valid`; `used`: its holder was admitted; `void`: its payment was refunded."""
    link_id: str
    """The link that sold it."""
    title: str
    """Title of that link."""
    ticket: str
    """Kind of the ticket."""
    txn_ref: str
    """The payment."""
    checkout_ref: str
    """The checkout."""
    created_at: dt.datetime
    """Time of the purchase, in UTC."""
    name: str | None = None
    """Name of the person who bought it. Null if unknown or erased."""
    email: str | None = None
    """Email address of that person. Null if unknown or erased."""
    phone: str | None = None
    """Telephone number of that person. Null if unknown or erased."""
    used_at: dt.datetime | None = None
    """Time at which its holder was admitted, in UTC. Else null."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "code": "code",
        "state": "state",
        "link_id": "link_id",
        "title": "title",
        "ticket": "ticket",
        "name": "name",
        "email": "email",
        "phone": "phone",
        "txn_ref": "txnRef",
        "checkout_ref": "checkoutRef",
        "created_at": "created_at",
        "used_at": "used_at",
    }


@dataclass(frozen=True)
class TicketReply(Result):
    """One ticket."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: TicketRecord
    """The ticket."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message", "data": "data"}


@dataclass(frozen=True)
class TierLimitsShown(Result):
    """The limits of a tier, in naira. Null for no limit."""

    single_deposit: str | None = None
    """Most that one deposit may bring."""
    balance: Decimal | None = None
    """Most that the client may hold in all savings and cards together."""
    daily: str | None = None
    """Most that the client may be paid out and spend in a day of Lagos."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "single_deposit": "single_deposit",
        "balance": "balance",
        "daily": "daily",
    }


@dataclass(frozen=True)
class TierUse(Result):
    """The use of the limits, in naira."""

    balance: Decimal
    """What the client holds in all savings and cards together, with what cash-outs in progress hold."""
    today: str
    """What was paid out to the client today."""
    held: tuple[str, ...]
    """Payments whose money is held because it is above a limit, by `txnRef`: the newest 100."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"balance": "balance", "today": "today", "held": "held"}


@dataclass(frozen=True)
class TiersReply(Result):
    """The confirmation of the setting."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "message": "message"}


@dataclass(frozen=True)
class TimelineLine(Result):
    """One step in the life of what was found."""

    at: dt.datetime
    """Time of the step, in UTC."""
    step: str
    """What happened: `requested`, `created`, a state, or the kind of a transaction."""
    message: str
    """The message of the step, or the reference of the transaction. May be empty."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"at": "at", "step": "step", "message": "message"}


@dataclass(frozen=True)
class TransactionSummary(Result):
    """A transaction of the list."""

    txn_ref: str
    """Reference of the transaction, given by the service."""
    order_ref: str
    """Your own reference, such as `orderRef` or `customer_txnref`. Empty if you gave none."""
    kind: Literal[
        "bill",
        "card_authorization",
        "card_purchase",
        "card_refund",
        "cashcode",
        "cashout",
        "deposit",
        "payment",
        "refund",
        "repayment",
        "transfer",
    ]
    """Kind of the transaction."""
    txn_status: Literal["failed", "pending", "processing", "successful"]
    """State of the transaction. `successful` and `failed` are final."""
    currency: str
    """Currency of the amounts."""
    amount: Decimal
    """Amount of the transaction, without fees."""
    fee: Decimal
    """Fee of the transaction. Zero if it failed."""
    vat: Decimal
    """VAT on the fee. Zero if the transaction failed."""
    duty: Decimal
    """Stamp duty. Zero if the transaction failed."""
    message: str
    """Last message about the transaction, at most 200 characters."""
    date_created: dt.datetime
    """Time at which the transaction began, in UTC."""
    method: str | None = None
    """Payment type of a payment. Null for other kinds."""
    date_ended: dt.datetime | None = None
    """Time at which the transaction became final, in UTC. Null while it is open."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "kind": "kind",
        "txn_status": "txnStatus",
        "currency": "currency",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "duty": "duty",
        "method": "method",
        "message": "message",
        "date_created": "dateCreated",
        "date_ended": "dateEnded",
    }


@dataclass(frozen=True)
class TransferReply(Result):
    """The state of a transfer: as the bank answered it within ten seconds, else `processing`."""

    status: int
    """200, or 201 if the bank's answer could not be read: the transfer stays open and the bank is asked again."""
    txn_status: Literal["failed", "pending", "processing", "successful"]
    """`successful` and `failed` are final. `processing`: the bank has not answered yet. `pending`: it has answered,
    but without a final result, and is asked again until the result is final; or the transfer waits for approval.
    """
    txn_ref: str
    """Reference of the transfer, made by the service. Empty in a dry run."""
    order_ref: str
    """Your reference of the order, or the `txnRef` if the request had none."""
    message: str
    """The outcome in words; of a failed transfer, the reason."""
    receipt_url: str | None = None
    """Address of the receipt, which anybody may open to check it; with `/receipt.pdf` behind it, the same as a PDF.
    Absent unless the transfer is successful.
    """
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "message": "message",
        "receipt_url": "receiptURL",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class TransferSharesReply(Result):
    """Both holdings after a transfer of shares."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    data: HoldingRecord
    """The holding that gave the shares."""
    last: HoldingRecord
    """The holding that got them."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "data": "data",
        "last": "to",
        "dry_run": "dry_run",
    }


@dataclass(frozen=True)
class TransferState(Result):
    """The current state of a transfer, or of a bulk with its batchRef and one line of `data` per order, as sent."""

    status: int
    """200: the reference is known. `txnStatus` says what became of it."""
    txn_status: Literal["conflict", "failed", "partial", "pending", "processing", "successful"]
    """As in the reply of `transfer`. A bulk is `processing` while an order is open, `partial` if some orders were
    successful and others failed, `conflict` if all orders are in conflict.
    """
    message: str
    """The state in words; of a failed transfer, the reason."""
    txn_ref: str | None = None
    """Reference of the transfer, made by the service. Absent for a bulk."""
    order_ref: str | None = None
    """Your reference of the order, or the `txnRef` if it had none. Absent for a bulk."""
    batch_ref: str | None = None
    """Reference of the bulk. Absent for a single transfer."""
    amount: Decimal | None = None
    """Amount of the transfer, in naira, without fee and VAT. Absent for a bulk."""
    fee: Decimal | None = None
    """Fee without VAT, in naira; 0.00 if the transfer failed. Absent for a bulk."""
    vat: Decimal | None = None
    """VAT on the fee, in naira; 0.00 if the transfer failed. Absent for a bulk."""
    loan_id: str | None = None
    """The loan whose principal the transfer pays out. Absent for every other transfer."""
    group_loan_id: str | None = None
    """The loan of a group that the transfer pays out to its leader. Absent for every other transfer."""
    savings_id: str | None = None
    """The savings account whose cash-out the transfer pays. Absent for every other transfer."""
    receipt_url: str | None = None
    """Address of the receipt, as in the reply of `transfer`. Absent unless it is a successful transfer, and for a
    bulk.
    """
    approval: ApprovalLine | None = None
    """The approval of the transfer. Absent for a transfer that did not have to wait for one, and for a bulk."""
    data: tuple[BulkOrderState, ...] | None = None
    """The orders of a bulk with their current states, in the order of the request. Absent for a single transfer."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "txn_status": "txnStatus",
        "txn_ref": "txnRef",
        "order_ref": "orderRef",
        "batch_ref": "batchRef",
        "amount": "amount",
        "fee": "fee",
        "vat": "vat",
        "message": "message",
        "loan_id": "loan_id",
        "group_loan_id": "group_loan_id",
        "savings_id": "savings_id",
        "receipt_url": "receiptURL",
        "approval": "approval",
        "data": "data",
    }


@dataclass(frozen=True)
class TriggerReply(Result):
    """The event that has happened."""

    status: int
    """200."""
    data: EventLine
    """The event. It is delivered as any other, and `txnRef` and `payload` say what it is about."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class VelocityShown(Result):
    """The most that a card may pay in some hours."""

    hours: int
    """Length of the window, which ends with the purchase."""
    count: int | None = None
    """Most purchases in these hours. Absent: no limit of their number."""
    amount: Decimal | None = None
    """Most that all purchases in these hours may cost, in the card's currency. Absent: no limit of the amount."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"count": "count", "amount": "amount", "hours": "hours"}


@dataclass(frozen=True)
class ViewGroupReply(Result):
    """A group with all that belongs to it."""

    status: int
    """200."""
    data: GroupView
    """The group."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class Violation(Result):
    """A place where the books violate an invariant."""

    invariant: str
    """The statement that must hold."""
    place: str
    """The account, posting or reference where it does not."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"invariant": "invariant", "place": "place"}


@dataclass(frozen=True)
class VirtualCard(Result):
    """A card. Number and CVV are absent from the replayed reply of a creation."""

    reference: str
    """Identifier of the card, made by the service. All other card actions take it. Empty in the dry run of `create`."""
    balance: Decimal
    """Money on the card, in its currency, with thousands separators, without what open authorizations hold."""
    currency: Literal["NGN", "USD"]
    """Currency of the card."""
    maskedpan: str
    """Card number with all but its first six and last four digits masked. Empty in the dry run of `create`."""
    city: str
    """City of the cardholder."""
    state: str
    """State or province of the cardholder."""
    address: str
    """Street address of the cardholder."""
    postal_code: str
    """Postal code of the cardholder."""
    expiration: str
    """Month until whose end the card is valid, as YYYY-MM."""
    card_type: str
    """Card network in lower case, such as `visa`."""
    name_on_card: str
    """Name of the cardholder: `billing.name`."""
    card_owner: Literal["customer"]
    """Kind of owner: always `customer`."""
    status: Literal["active", "blocked", "terminated"]
    """`active`: can pay. `blocked`: by you, or after three unpaid monthly fees; purchases are declined until
    `unblock`. `terminated`: for good.
    """
    cardpan: str | None = field(default=None, repr=False)
    """Card number: in full when the card is created or revealed, else masked. Absent if `create` is repeated with
    the same Idempotency-Key, and in its dry run.
    """
    cvv: str | None = field(default=None, repr=False)
    """Security code: shown when the card is created or revealed, else `***`. Absent if `create` is repeated with the
    same Idempotency-Key, and in its dry run.
    """
    held: Decimal | None = None
    """Money that open authorizations of shops hold, in the card's currency. Absent if there are none."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "reference": "reference",
        "balance": "balance",
        "currency": "currency",
        "cardpan": "cardpan",
        "maskedpan": "maskedpan",
        "city": "city",
        "state": "state",
        "address": "address",
        "postal_code": "postal_code",
        "cvv": "cvv",
        "expiration": "expiration",
        "card_type": "card_type",
        "name_on_card": "name_on_card",
        "card_owner": "card_owner",
        "status": "status",
        "held": "held",
    }


@dataclass(frozen=True)
class VirtualCardChangedReply(Result):
    """The confirmation of a change of a card."""

    status: int
    """200: the change was made, or would be."""
    message: str
    """The outcome in words."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class VirtualCardReply(Result):
    """A card, new or as it is now."""

    status: int
    """200."""
    message: str
    """The outcome in words."""
    card_data: VirtualCard
    """The card."""
    limits: SpendingLimitsShown | None = None
    """The limits of the card. Absent if it has none."""
    decider: DeciderShown | None = None
    """Who decides on the card's purchases besides its limits. Absent if nobody does, and in the reply of a creation."""
    dry_run: bool | None = None
    """True in a dry run: nothing was changed. Else absent."""
    explained: tuple[DryRunFigure, ...] | None = None
    """The figures of a dry run, each with how it comes about. Else absent."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "status": "status",
        "message": "message",
        "card_data": "card_data",
        "limits": "limits",
        "decider": "decider",
        "dry_run": "dry_run",
        "explained": "explained",
    }


@dataclass(frozen=True)
class WaitingReactivation(Result):
    """A reactivation that waits for the approval of another party."""

    reason: str
    """The reason that was given."""
    proposed_by: str
    """The key or person that proposed it."""
    proposed_at: dt.datetime
    """Time of the proposal, in UTC."""
    expires_at: dt.datetime
    """Time from which it cannot be approved any more, in UTC."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "reason": "reason",
        "proposed_by": "proposed_by",
        "proposed_at": "proposed_at",
        "expires_at": "expires_at",
    }


@dataclass(frozen=True)
class WaitingWriteOff(Result):
    """A write-off that waits for the approval of another party."""

    amount: Decimal
    """Amount that would have been written off when it was proposed, in naira. What is owed at the approval counts."""
    reason: str
    """The reason that was given."""
    proposed_by: str
    """The key or person that proposed it."""
    proposed_at: dt.datetime
    """Time of the proposal, in UTC."""
    expires_at: dt.datetime
    """Time from which it cannot be approved any more, in UTC."""
    parts: tuple[Literal["charge", "interest", "penalty", "principal", "tax"], ...] | None = None
    """The parts that it names. Absent if all of the loan is to be written off."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "amount": "amount",
        "parts": "parts",
        "reason": "reason",
        "proposed_by": "proposed_by",
        "proposed_at": "proposed_at",
        "expires_at": "expires_at",
    }


@dataclass(frozen=True)
class WalletLine(Result):
    """The balances of one wallet."""

    currency: str
    """Currency of the wallet."""
    balance: Decimal
    """Money in the wallet, held money included."""
    available: Decimal
    """Money that can be spent: `balance` less `held`."""
    held: Decimal
    """Money reserved for transfers, bills, cashcodes, refunds and fees that are still open."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "currency": "currency",
        "balance": "balance",
        "available": "available",
        "held": "held",
    }


@dataclass(frozen=True)
class WalletReply(Result):
    """The merchant's wallets, one per currency. NGN is always listed."""

    status: int
    """200."""
    data: tuple[WalletLine, ...]
    """The wallets."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data"}


@dataclass(frozen=True)
class World(Result):
    """A world: everything that a merchant had at one moment."""

    name: str
    """Its name."""
    rows: int
    """Number of its rows."""
    bytes: int
    """Its size in the database."""
    business_time: dt.datetime
    """The merchant's business time at that moment, in Lagos time with its offset."""
    made_at: dt.datetime
    """The time of the server's clock at that moment, in UTC."""
    made_by: str
    """Version of Kasuwa that made it."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "rows": "rows",
        "bytes": "bytes",
        "business_time": "business_time",
        "made_at": "made_at",
        "made_by": "made_by",
    }


@dataclass(frozen=True)
class WorldDifference(Result):
    """A table in which two worlds differ."""

    table: str
    """What the rows are, such as `transaction`."""
    only_in_first: int
    """Rows that only the first world has."""
    only_in_other: int
    """Rows that only the other world has."""
    changed: int
    """Rows that both have, with different values."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "table": "table",
        "only_in_first": "only_in_first",
        "only_in_other": "only_in_other",
        "changed": "changed",
    }


@dataclass(frozen=True)
class WorldsReply(Result):
    """The worlds of this merchant, newest first."""

    status: int
    """200."""
    data: tuple[World, ...]
    """The worlds."""
    running: tuple[RunningWorld, ...] | None = None
    """What is running now. Left out if that is nothing."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {"status": "status", "data": "data", "running": "running"}


@dataclass(frozen=True)
class WrittenOff(Result):
    """The parts of a loan that were written off and not recovered."""

    penalty: Decimal
    """Penalties, in naira."""
    interest: Decimal
    """Interest, in naira."""
    tax: Decimal
    """Tax on interest, in naira."""
    principal: Decimal
    """Principal, in naira."""
    total: Decimal
    """Sum of them, in naira: what later repayments recover."""
    charges: Decimal | None = None
    """Charges with their VAT, in naira. Absent if there are none of them."""
    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)

    wire_names: ClassVar[Mapping[str, str]] = {
        "penalty": "penalty",
        "interest": "interest",
        "tax": "tax",
        "principal": "principal",
        "charges": "charges",
        "total": "total",
    }
