"""A payment made for another slice: a loan's repayment, a deposit. What loans and savings borrow of payments.

Every payment type is taken, in one step where it can be: a card is opened and charged at once, and its code is brought
by `bring_code`. The errand says what it is for, and its purpose is asked at the end (core/purpose.py).
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from kasuwa.core.action import Foresight, Rule
from kasuwa.core.decision import Context, Decision, Fault, Merchant, More, Needs, Refusal, Seen, refuse_fields
from kasuwa.core.documents import Document
from kasuwa.core.fields import AccountNumber, Amount, Currency, Phone, Reference, ShortText
from kasuwa.core.purpose import Errand
from kasuwa.methods.payment.decide import CHARGE, Ask, SavedCard, begin, saved_card_key
from kasuwa.methods.payment.decide_card import ask_card, ask_token, decide_validate, need_validate
from kasuwa.methods.payment.decide_types import (
    ask_account,
    ask_bank_transfer,
    ask_mobile_money,
    ask_phone,
    ask_qrpay,
    ask_ussd,
)
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

__all__ = ["PaymentReply", "ValidateRequest", "decide_validate", "need_validate"]

CollectMethod = Literal["card", "token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money"]


class PayerFields(msgspec.Struct, kw_only=True):
    """How somebody pays: the fields of every payment type, beside the `payment_method` that chooses among them."""

    card: Card | None = None
    token: Reference | None = None
    account: Account | None = None
    bank: Literal["gtb", "zenith"] | None = None
    phonenumber: Phone | None = None
    accountnumber: AccountNumber | None = None
    business_name: ShortText | None = None
    type: Literal["paga", "paga_connect", "ghana", "mpesa"] | None = None
    network: ShortText | None = None
    redirect_url: Url | None = None
    country: Country | None = None
    currency: Currency | None = None
    user: User | None = None
    ip: ShortText | None = None
    fingerprint: ShortText | None = None
    customer_txnref: Reference | None = None
    meta: Document | None = None


# What each type must bring, and who reads it.
REQUIRED: dict[str, tuple[str, ...]] = {
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


def needs_field(name: str) -> Rule:
    """A field that a way of paying needs, missed beside whatever else is wrong."""

    def reason(merchant: Merchant, foresight: Foresight, method: str, value: Any) -> str | None:
        return required_for(method) if value is None and name in REQUIRED.get(method, ()) else None

    return Rule(("payment_method", name), reason, foretells=True)


PAYER_RULES = tuple(needs_field(name) for names in REQUIRED.values() for name in names)


class Way(msgspec.Struct, frozen=True):
    request: type[msgspec.Struct]
    ask: Callable[..., Ask | Refusal | More]
    fields: tuple[str, ...]


WAYS = {
    "card": Way(InitiateCard, ask_card, ("card",)),
    "token": Way(ChargeToken, ask_token, ("token",)),
    "account": Way(ChargeAccount, ask_account, ("account",)),
    "ussd": Way(ChargeUssd, ask_ussd, ("bank", "phonenumber", "accountnumber")),
    "phone": Way(ChargePhone, ask_phone, ("phonenumber",)),
    "qrpay": Way(ChargeShown, ask_qrpay, ("business_name",)),
    "bank_transfer": Way(ChargeShown, ask_bank_transfer, ("business_name",)),
    "mobile_money": Way(ChargeMobileMoney, ask_mobile_money, ("type", "phonenumber", "network")),
}
SHARED = ("country", "currency", "redirect_url", "user", "customer_txnref")


def told_of_payer(fields: PayerFields) -> dict[str, str]:
    """What the merchant tells of the payer, for an errand or for the detail of a movement from the wallet."""
    said = {"meta": fields.meta, "ip": fields.ip, "fingerprint": fields.fingerprint}
    return {name: str(value) for name, value in said.items() if value}


def need_collect(method: str, fields: PayerFields, merchant: Merchant) -> Needs:
    if method != "token" or fields.token is None:
        return Needs()
    return Needs(((SavedCard, saved_card_key(merchant.merchant_id, fields.token)),))


def collect(
    method: str, fields: PayerFields, amount: int, errand: Errand, context: Context, seen: Seen, state: str = ""
) -> Decision | Refusal | More:
    """Begin a payment for an errand. The fee is the merchant's; `state` is what a 202 for a code says besides."""
    missing = [Fault(name, required_for(method)) for name in REQUIRED[method] if getattr(fields, name) is None]
    if missing:
        return refuse_fields(*missing)
    way = WAYS[method]
    given: dict[str, Any] = {name: getattr(fields, name) for name in (*way.fields, *SHARED)}
    request = way.request(amount=Amount(amount), bearer="merchant", **given)
    ask = way.ask(request, context, seen)
    if not isinstance(ask, Ask):
        return ask
    detail = msgspec.structs.replace(ask.detail, errand=errand, state=state)
    return begin(msgspec.structs.replace(ask, detail=detail), context, CHARGE)
