"""Requests and replies of checkouts and payment links. Contract: payment#checkout, resources#paylinks"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.core.documents import Document
from kasuwa.core.fields import FREE_TEXT, Amount, Currency, Reference, Timestamp
from kasuwa.methods.payment.wire import Bearer, Country, Installment, Recurrent, Split, Url, User

Channel = Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"]
Title = Annotated[str, Meta(min_length=1, max_length=100, description="1 to 100 characters", extra=FREE_TEXT)]
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
    message: str = "Send the customer to checkoutURL"
    "The next step in words."
