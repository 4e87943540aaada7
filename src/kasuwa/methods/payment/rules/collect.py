"""Payments made for another slice: loan repayments and savings deposits.

Every payment method is accepted. A card is opened and charged in one step, and its OTP comes by `validate_for_purpose`.
The payment's purpose says what it is for. The purpose's rules are called when the payment ends
(transactions/purpose.py).
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from kasuwa.core.action import FieldRule, PreflightContext
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    refuse_fields,
)
from kasuwa.methods.payment.model import (
    CHARGE,
    DETAIL_DECODER,
    UNKNOWN_REFERENCE,
    Payment,
    SavedCard,
    payment_key,
    saved_card_key,
)
from kasuwa.methods.payment.rules.begin import PaymentOrder, begin_payment
from kasuwa.methods.payment.rules.channels import (
    MOBILE_MONEY_PROVIDERS,
    build_account_order,
    build_bank_transfer_order,
    build_mobile_money_order,
    build_phone_order,
    build_qr_order,
    build_ussd_order,
)
from kasuwa.methods.payment.rules.charge_card import build_card_order, build_token_order, decide_validate
from kasuwa.methods.payment.rules.check_request import HOME_CURRENCY
from kasuwa.methods.payment.rules.hosted_card import has_card_page
from kasuwa.methods.payment.wire import (
    Account,
    Card,
    ChargeAccount,
    ChargeMobileMoney,
    ChargePhone,
    ChargeShown,
    ChargeToken,
    ChargeUssd,
    Country,
    InitiateCard,
    Url,
    User,
    ValidateRequest,
)
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.purpose import TransactionPurpose
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import AccountNumber, Amount, Currency, Phone, Reference, ShortText

CollectMethod = Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"]


class PayerFields(msgspec.Struct, kw_only=True):
    """The payer fields of all payment methods. The request's `payment_method` says which of them apply."""

    card: Card | None = None
    """The card to charge. Required for `card`, unless payers enter their cards on the page of a vendor: then it must be
    left out."""
    token: Reference | None = None
    "The `cardToken` of an earlier successful payment. Required for `token`."
    account: Account | None = None
    "The bank account to debit. Required for `account`."
    bank: Literal["gtb", "zenith"] | None = None
    "Bank of the payer, whose USSD service is dialed. Required for `ussd`."
    phonenumber: Phone | None = None
    "Telephone number of the payer. Required for `phone`, and for `ussd` with `zenith`."
    accountnumber: AccountNumber | None = None
    "Bank account of the payer. Required for `ussd` with `zenith`."
    business_name: ShortText | None = None
    "Name that the payer sees with `qrpay` and `bank_transfer`. Default: the merchant's name."
    type: Literal["paga", "paga_connect", "ghana", "mpesa"] | None = None
    """The mobile-money provider: `paga` or `paga_connect`. Required for `mobile_money`. `ghana` and `mpesa` are
    refused, because loans and savings are kept in NGN."""
    redirect_url: Url | None = None
    "Address to which the payer is sent after a page of ours (3-D Secure, paga). Required for paga."
    country: Country | None = None
    "Country of the payment. Default `NG`. It must fit the payment type, as for `charge` of `/payment`."
    currency: Currency | None = None
    "Currency of the amount. Only `NGN`, which is the default, is accepted."
    user: User | None = None
    "The payer."
    ip: ShortText | None = None
    "IP address of the payer. Kept with the payment and part of the client's data export."
    fingerprint: ShortText | None = None
    "Fingerprint of the payer's device. Kept with the payment and part of the client's data export."
    customer_txnref: Reference | None = None
    "Your reference of the payment, which `verify` of `/payment` takes. It need not be unique."
    meta: Document | None = None
    "An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB."


# Fields that each payment method requires.
REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
    "card": ("card",),
    "token": ("token",),
    "account": ("account",),
    "ussd": ("bank",),
    "phone": ("phonenumber",),
    "qrpay": (),
    "bank_transfer": (),
    "mobile_money": ("type",),
}


def required_for(method: str) -> str:
    return f"required for {method}"


def require_field(name: str) -> FieldRule:
    """Returns the preflight rule that reports a missing field of the chosen method beside other errors."""

    def reason(merchant: Merchant, preflight: PreflightContext, method: str, value: Any) -> str | None:
        has_page = name == "card" and has_card_page(merchant, preflight)
        is_required = name in REQUIRED_FIELDS.get(method, ()) and not has_page
        return required_for(method) if value is None and is_required else None

    return FieldRule(("payment_method", name), reason, is_preflight=True)


def check_provider(merchant: Merchant, method: str, provider: str | None) -> str | None:
    """Returns an error for a mobile-money provider that does not pay in the currency of loans and savings.

    Contract: loans#methods, investments#deposit
    """
    if method != "mobile_money" or provider is None:
        return None
    currency = MOBILE_MONEY_PROVIDERS[provider][1]
    if currency == HOME_CURRENCY:
        return None
    return (
        f"{' or '.join(HOME_PROVIDERS)}: loans and savings are kept in {HOME_CURRENCY}, and {provider} pays {currency}"
    )


HOME_PROVIDERS = [name for name, (_, currency) in MOBILE_MONEY_PROVIDERS.items() if currency == HOME_CURRENCY]
PAYER_RULES = (
    FieldRule(("payment_method", "type"), check_provider),
    *(require_field(name) for names in REQUIRED_FIELDS.values() for name in names),
)


class PaymentChannel(msgspec.Struct, frozen=True):
    """The request type of a payment method, and the function that builds its order."""

    request: type[msgspec.Struct]
    build_order: Callable[..., PaymentOrder | Refusal | NeedsMore]  # called with (request, context, seen)
    fields: tuple[str, ...]  # of PayerFields, besides SHARED_FIELDS


PAYMENT_CHANNELS = {
    "card": PaymentChannel(InitiateCard, build_card_order, ("card",)),
    "token": PaymentChannel(ChargeToken, build_token_order, ("token",)),
    "account": PaymentChannel(ChargeAccount, build_account_order, ("account",)),
    "ussd": PaymentChannel(ChargeUssd, build_ussd_order, ("bank", "phonenumber", "accountnumber")),
    "phone": PaymentChannel(ChargePhone, build_phone_order, ("phonenumber",)),
    "qrpay": PaymentChannel(ChargeShown, build_qr_order, ("business_name",)),
    "bank_transfer": PaymentChannel(ChargeShown, build_bank_transfer_order, ("business_name",)),
    "mobile_money": PaymentChannel(ChargeMobileMoney, build_mobile_money_order, ("type", "phonenumber")),
}
SHARED_FIELDS = ("country", "currency", "redirect_url", "user", "customer_txnref")


def payer_metadata(fields: PayerFields) -> dict[str, str]:
    """Returns the payer data to store with a purpose or a wallet movement: meta, IP address and device."""
    values = {"meta": fields.meta, "ip": fields.ip, "fingerprint": fields.fingerprint}
    return {name: str(value) for name, value in values.items() if value}


def need_collect(method: str, fields: PayerFields, merchant: Merchant) -> Needs:
    if method != "token" or fields.token is None:
        return Needs()
    return Needs(((SavedCard, saved_card_key(merchant.merchant_id, fields.token)),))


def collect_payment(
    method: str,
    fields: PayerFields,
    amount: int,
    purpose: TransactionPurpose,
    context: Context,
    rows: LoadedRows,
    otp_reply_state: str = "",
) -> Decision | Refusal | NeedsMore:
    """Begins a payment for a purpose. The merchant bears the fee.

    `otp_reply_state` is the value of `state` in a reply with status 202 that asks for an OTP.
    """
    required = (
        ()
        if method == "card" and context.terms(CollectionVendors).has_card_page(context.merchant.rails)
        else REQUIRED_FIELDS[method]
    )
    missing = [FieldError(name, required_for(method)) for name in required if getattr(fields, name) is None]
    if missing:
        return refuse_fields(*missing)
    channel = PAYMENT_CHANNELS[method]
    values: dict[str, Any] = {name: getattr(fields, name) for name in (*channel.fields, *SHARED_FIELDS)}
    request = channel.request(amount=Amount(amount), bearer="merchant", **values)
    order = channel.build_order(request, context, rows)
    if isinstance(order, Refusal):
        return name_method_field(order)
    if not isinstance(order, PaymentOrder):
        return order
    detail = msgspec.structs.replace(order.detail, purpose=purpose, otp_reply_state=otp_reply_state)
    return begin_payment(msgspec.structs.replace(order, detail=detail), context, CHARGE)


def name_method_field(refusal: Refusal) -> Refusal:
    """Returns the refusal with the name that the payment method's field has in requests of other slices."""
    if all(error.field != "paymentType" for error in refusal.field_errors):
        return refusal
    return refuse_fields(
        *(
            FieldError("payment_method", error.reason) if error.field == "paymentType" else error
            for error in refusal.field_errors
        )
    )


def validate_for_purpose(
    request: ValidateRequest, purpose_name: str, context: Context, rows: LoadedRows
) -> Decision[PaymentReply] | Refusal:
    """Submits the payer's code for a payment with the given purpose. Other payments are refused as unknown."""
    payment = rows.get(Payment, payment_key(context.merchant.merchant_id, request.txn_ref))
    purpose = None if payment is None else DETAIL_DECODER.decode(payment.detail).purpose
    if purpose is None or purpose.purpose != purpose_name:
        return UNKNOWN_REFERENCE
    return decide_validate(request, context, rows)
