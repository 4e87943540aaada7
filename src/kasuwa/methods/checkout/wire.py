"""Requests and replies of checkouts and payment links. Contract: payment#checkout, resources#paylinks"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.methods.checkout.field_types import Flag, LinkType, Slug
from kasuwa.methods.payment.wire import Bearer, Country, Installment, Recurrent, Split, Url, User
from kasuwa.terms.checkout_origins import MAX_ORIGIN_LENGTH, MAX_ORIGINS
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import FREE_TEXT, Amount, AmountOrZero, Currency, Email, Reference, Timestamp
from kasuwa.wire.paging import Paged

Channel = Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"]
Title = Annotated[str, Meta(min_length=1, max_length=100, description="1 to 100 characters", extra=FREE_TEXT)]
Origin = Annotated[str, Meta(max_length=MAX_ORIGIN_LENGTH, description="at most 270 characters")]
LongText = Annotated[str, Meta(max_length=1000, description="at most 1,000 characters", extra=FREE_TEXT)]


class CheckoutRequest(msgspec.Struct, kw_only=True):
    """Opens a page on which one payer pays one amount, by any of the channels."""

    amount: Amount | None = None
    "Amount to pay. Required unless `installment` is sent; then it is what the schedule has due today, or left out."
    currency: Currency | None = None
    "Currency of all amounts. Default `NGN`."
    country: Country | None = None
    "Country of card payments. Default `NG`."
    user: User | None = None
    "The payer. If it has no `email`, the page asks for one."
    customer_txnref: Reference | None = None
    "Your reference of the checkout, which `verify` takes. It need not be unique."
    redirect_url: Url | None = None
    "Address to which the payer goes after the receipt, with `txnRef` and `status` added to it."
    channels: Annotated[list[Channel], Meta(min_length=1, max_length=8, description="1 to 8 payment types")] | None = (
        None
    )
    """Payment types that the page offers, as far as they are served here. Default: all but `token`. With `token` the
    page offers the saved cards of the payer whom `user.email` names."""
    title: Title | None = None
    "What is paid for, shown on the page and on the receipt."
    description: LongText | None = None
    "Further text about it, shown on the page."
    bearer: Bearer | None = None
    """Payer of the fee: `merchant` (also spelled `account`) or `customer`, who sees it on the page. Default: your
    tariff's setting."""
    split: Split | None = None
    "Beneficiaries that get a part of the settled amount, as in `initiate`."
    recurrent: Recurrent | None = None
    "Charges the card again on a schedule after the first charge, as in `initiate`. The page then offers cards alone."
    installment: Installment | None = None
    "Charges a total in parts on several dates, as in `initiate`, the first today. The page then offers cards alone."
    expires: Timestamp | None = None
    "Time until which it can be paid: at least a minute and at most 30 days from now. Default: 24 hours."
    meta: Document | None = None
    "An object of your own, stored with the payment and returned unchanged. At most 64 KiB."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and opens nothing."


class CheckoutReply(msgspec.Struct, kw_only=True):
    """A checkout that was opened. Send its payer to `checkoutURL`."""

    status: Literal[202] = 202
    "202: the payer must pay on the page."
    txn_ref: str = field(name="txnRef")
    "Reference of the checkout, by which `verify` shows it. The payments that are made for it have their own."
    checkout_url: str = field(name="checkoutURL")
    "Address of the page. It is a secret of the payer: whoever has it sees the checkout and its receipt."
    expires: str
    "Time until which it can be paid, in UTC."
    access_code: str
    "Last part of that address, by which `kasuwa.js` opens the page in yours. It is the same secret."
    message: str = "Send the customer to checkoutURL"
    "The next step in words."


# --- frames -------------------------------------------------------------------------------------------------------


class OriginsRequest(msgspec.Struct, kw_only=True):
    """The whole list: what it does not name may not show the pages any more."""

    origins: Annotated[list[Origin], Meta(max_length=MAX_ORIGINS, description="an array of at most 20 origins")]
    "Origins of your sites, such as `https://shop.example`. In test also `http://localhost` with any port."


class OriginsReply(msgspec.Struct, kw_only=True):
    """The confirmation of the setting."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    origins: list[str]
    "The origins as browsers write them."


# --- payment links ------------------------------------------------------------------------------------------------


class PaylinkRequest(msgspec.Struct, kw_only=True):
    """Makes a link that anybody may open to pay. Optional fields may be null."""

    title: Title
    "What is paid for. Payers see it."
    description: LongText | None = None
    "Further text, which payers see."
    amount: AmountOrZero | None = None
    "Amount to pay. Left out or 0: the payer chooses it."
    currency: Currency | None = None
    "Currency of the amount. Default `NGN`."
    type: LinkType | None = None
    """`one_time` (also `onetime`, `single`, `fixed`): each payer pays once. `recurring` (also `subscription`): the
    payer's card is charged again by `frequency`. Default `one_time`."""
    frequency: Literal["daily", "weekly", "monthly"] | None = None
    "How often the card is charged again. Counts for recurring links alone. Default `monthly`."
    payer_bears_fees: Flag | None = None
    "Whether the payer pays the fee on top. Default: your tariff's setting. Also as `yes`, `no`, 1 or 0."
    accept_number: Flag | None = None
    "Whether the page asks for the payer's telephone number. Default false. Also as `yes`, `no`, 1 or 0."
    custom_link: Slug | None = None
    "Last part of the link's address, unique in the deployment. Default: random characters."
    redirect_url: Url | None = None
    "Address to which the payer goes after the receipt, with `txnRef` and `status` added to it."
    custom_message: LongText | None = None
    "Shown to the payer after the payment."
    notification_email: Email | None = None
    "Your address for questions about this link. Stored with it and shown to you. Nothing is sent to it."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and makes no link."


class PaylinkRecord(msgspec.Struct, kw_only=True):
    """A payment link."""

    link_id: str
    "Identifier of the link, made by the service."
    link: str
    "Address of the link, to give to payers."
    title: str
    "What is paid for."
    amount: str
    "Amount to pay. 0.00 if the payer chooses it."
    currency: str
    "Currency of the amount."
    type: Literal["one_time", "recurring"]
    "Whether a payer pays once, or the card is charged again."
    status: Literal["active", "disabled"]
    "Whether the link can be paid by."


class PaylinkReply(msgspec.Struct, kw_only=True):
    """The link that was made, or switched."""

    status: Literal[200] = 200
    "200: done."
    message: str
    "The outcome in words."
    data: PaylinkRecord
    "The link."


class PaylinksRequest(Paged, kw_only=True):
    """Lists payment links, newest first."""


class PaylinkPayment(msgspec.Struct, kw_only=True):
    """A payment that was made by a link."""

    txn_ref: str = field(name="txnRef")
    "Reference of the payment."
    checkout_ref: str = field(name="checkoutRef")
    "Reference of its checkout."
    amount: str
    "Amount of the payment, without a fee that the payer bears."
    fullname: str
    "Name of the payer."
    email: str
    "Email address of the payer."
    method: str
    "Payment type."
    date_paid: str = field(name="datePaid")
    "Time of the payment, in UTC."


class PaylinkDetail(PaylinkRecord, kw_only=True):
    """A payment link with its terms, payments and totals."""

    description: str
    "Further text, which payers see."
    frequency: str | None
    "How often the card is charged again. Null unless recurring."
    payer_bears_fees: bool
    "Whether the payer pays the fee."
    accept_number: bool
    "Whether the page asks for a telephone number."
    redirect_url: str | None
    "Address to which the payer goes after the receipt. Null if there is none."
    custom_message: str | None
    "Shown after the payment. Null if there is none."
    notification_email: str | None
    "Your address for questions. Null if there is none."
    created_at: str
    "Time at which the link was made, in UTC."
    checkouts: int
    "Number of payers who filled in its page."
    paid_count: int
    "Number of successful payments, later charges of a recurring link not counted."
    total: str
    "Sum of these payments, refunded ones included."
    payments: list[PaylinkPayment]
    "The newest 50 successful payments, newest first."


class PaylinksReply(msgspec.Struct, kw_only=True):
    """One page of links, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[PaylinkRecord]
    "The links."
    total: int
    "Number of links on all pages."
    offset: int
    "Number of links that were skipped."
    limit: int
    "Largest number of links on this page. The next page begins at `offset` + `limit`."


class PaylinkDetailRequest(msgspec.Struct, kw_only=True):
    """Shows one payment link with its payments and totals."""

    link_id: Reference
    "The link to show."


class PaylinkDetailReply(msgspec.Struct, kw_only=True):
    """One payment link."""

    status: Literal[200] = 200
    "200: there is such a link."
    message: str
    "The outcome in words."
    data: PaylinkDetail
    "The link, with its payments and totals."


class SwitchPaylink(msgspec.Struct, kw_only=True):
    """Disables or enables a payment link. The action's variant `status` says which."""

    link_id: Reference
    "The link to switch."
