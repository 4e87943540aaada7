"""How payments begin that are no cards: account, USSD, telephone, QR, bank transfer, mobile money. (D19–D24)"""

from collections.abc import Callable
from typing import ClassVar

import msgspec

from kasuwa.core.banks import Bank, banks_by_code, may_exist
from kasuwa.core.decision import Context, Decision, Fault, Merchant, More, Needs, Refusal, Row, Seen, refuse_fields
from kasuwa.core.emvco import Shown, write_payload
from kasuwa.core.inbound import free_number
from kasuwa.core.people import canonical_phone
from kasuwa.core.pricing import MOBILE_MONEY_CLASSES, bearer_of
from kasuwa.core.references import row_key
from kasuwa.core.tariff import FeeClass
from kasuwa.methods.payment import decide_ask as ask_rules
from kasuwa.methods.payment.decide import CHARGE, Ask, Detail, begin
from kasuwa.methods.payment.decide_card import page_token
from kasuwa.methods.payment.wire import (
    ChargeAccount,
    ChargeMobileMoney,
    ChargePhone,
    ChargeShown,
    ChargeUssd,
    Common,
)

# Which banks can be debited, and dialled. Spec silent: D20, D36
CHARGEABLE_KINDS = frozenset({"commercial"})
USSD_NEEDS_PAYER = "zenith"

# A provider's country and currency; who is sent to a page of the provider needs somewhere to come back to.
PROVIDERS = {
    "paga": ("NG", "NGN"),
    "paga_connect": ("NG", "NGN"),
    "ghana": ("GH", "GHS"),
    "mpesa": ("KE", "KES"),
}
SENT_TO_A_PAGE = frozenset({"paga", "paga_connect"})


class EnrolledPhone(Row):
    """A telephone that has paid this merchant before, by keyed hash."""

    table: ClassVar[str] = "enrolled_phone"

    @property
    def is_open(self) -> bool:
        return False


def begin_with(
    ask_rule: Callable[..., Ask | Refusal | More], request: Common, context: Context, seen: Seen
) -> Decision | Refusal | More:
    ask = ask_rule(request, context, seen)
    return begin(ask, context, CHARGE) if isinstance(ask, Ask) else ask


def ask_type(
    request: Common,
    context: Context,
    seen: Seen,
    method: str,
    fee_class: FeeClass,
    amount: int,
    detail: Detail,
    faults: list[Fault],
    rows: tuple[Row, ...] = (),
) -> Ask | Refusal:
    """What all of them share: limits, price, split."""
    currency = str(request.currency or ask_rules.HOME_CURRENCY)
    faults = [*faults, *ask_rules.schedule_faults(request)]
    faults += ask_rules.limit_faults(context.merchant, currency, amount)
    bearer = bearer_of(context.merchant.tariff, request.bearer)
    price = ask_rules.price_of(bearer, context.merchant, fee_class, currency, amount)
    faults += ask_rules.split_faults(ask_rules.parts_of(request), currency, (price.settled,), context, seen)
    if faults:
        return refuse_fields(*faults)
    return Ask(method, currency, price, detail, request.customer_txnref or "", rows=rows)


def home_faults(request: Common) -> list[Fault]:
    return ask_rules.home_money_faults(*ask_rules.money_of(request))


# --- account --------------------------------------------------------------------------------------------------------


def chargeable_banks() -> list[Bank]:
    """Banks whose accounts can be debited, by name."""
    found = {bank.name: bank for bank in banks_by_code().values() if bank.kind in CHARGEABLE_KINDS}
    return [found[name] for name in sorted(found)]


def account_faults(merchant: Merchant, bank_code: str, account_number: str | None) -> list[Fault]:
    bank = banks_by_code().get(bank_code)
    if bank is None or bank.kind not in CHARGEABLE_KINDS:
        return [Fault("account.bankcode", "a bank of supported_chargable_banks")]
    if account_number is None or may_exist(merchant, bank, account_number):
        return []
    return [Fault("account.accountnumber", f"not an account number of {bank.name}")]


def ask_account(request: ChargeAccount, context: Context, seen: Seen) -> Ask | Refusal:
    account = request.account
    faults = home_faults(request) + account_faults(context.merchant, account.bank_code, account.account_number)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context), payer=account.account_number, provider=account.bank_code
    )
    return ask_type(request, context, seen, "account", "account", int(request.amount), detail, faults)


# --- USSD and telephone ---------------------------------------------------------------------------------------------


def ussd_faults(bank: str, phonenumber: str | None, accountnumber: str | None) -> list[Fault]:
    given = {"phonenumber": phonenumber, "accountnumber": accountnumber} if bank == USSD_NEEDS_PAYER else {}
    return [Fault(name, f"required for {USSD_NEEDS_PAYER}") for name, value in given.items() if value is None]


def ask_ussd(request: ChargeUssd, context: Context, seen: Seen) -> Ask | Refusal:
    faults = home_faults(request) + ussd_faults(request.bank, request.phonenumber, request.accountnumber)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context), payer=request.phonenumber or "", provider=request.bank
    )
    return ask_type(request, context, seen, "ussd", "ussd", int(request.amount), detail, faults)


def ask_phone(request: ChargePhone, context: Context, seen: Seen) -> Ask | Refusal | More:
    """The first payment of a telephone enrols it."""
    merchant_id = context.merchant.merchant_id
    # Under its canonical spelling; a version before kept telephones as they were spelled.
    key, *spelled = (
        row_key(merchant_id, "enrolled phone", context.digest(f"phone {merchant_id} {number}".encode()).hex())
        for number in (canonical_phone(request.phonenumber), request.phonenumber)
    )
    if not seen.has(key):
        return More(Needs(tuple((EnrolledPhone, wanted) for wanted in {key, *spelled})))
    first = all(seen.get(EnrolledPhone, known) is None for known in {key, *spelled})
    detail = msgspec.structs.replace(ask_rules.detail_of(request, context), payer=request.phonenumber, enrolment=first)
    rows = (EnrolledPhone(key, merchant_id),) if first else ()
    return ask_type(request, context, seen, "phone", "phone", int(request.amount), detail, home_faults(request), rows)


# --- what a payer is shown ------------------------------------------------------------------------------------------


def shown_name(request: ChargeShown, merchant: Merchant) -> str:
    return request.business_name or merchant.name


def ask_qrpay(request: ChargeShown, context: Context, seen: Seen) -> Ask | Refusal:
    token = page_token(context)
    bearer = bearer_of(context.merchant.tariff, request.bearer)
    price = ask_rules.price_of(bearer, context.merchant, "qrpay", ask_rules.HOME_CURRENCY, int(request.amount))
    faults = home_faults(request)
    name = shown_name(request, context.merchant)
    reference = context.permutation(context.number)
    fits = not ask_rules.limit_faults(context.merchant, ask_rules.HOME_CURRENCY, int(request.amount))
    payload = Shown(context.merchant.mid, f"{reference:09d}", price.charged, ask_rules.HOME_CURRENCY, name)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context),
        business_name=name,
        page=token,
        qr=write_payload(payload) if fits else "",
    )
    return ask_type(request, context, seen, "qrpay", "qrpay", int(request.amount), detail, faults)


def ask_bank_transfer(request: ChargeShown, context: Context, seen: Seen) -> Ask | Refusal | More:
    """An account number of its own for each payment, so that whoever pays into it pays this."""
    bank = banks_by_code()[context.merchant.inbound_bank]
    number = free_number(bank, context, seen)
    if isinstance(number, More):
        return number
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context),
        business_name=shown_name(request, context.merchant),
        provider=bank.name,
        shown=number,
        page=page_token(context),
    )
    return ask_type(
        request, context, seen, "bank_transfer", "bank_transfer", int(request.amount), detail, home_faults(request)
    )


# --- mobile money ---------------------------------------------------------------------------------------------------


def mobile_faults(
    kind: str, country: str, currency: str, redirect_url: str | None, phonenumber: str | None, network: str | None
) -> list[Fault]:
    where, money = PROVIDERS[kind]
    faults = []
    if country != where:
        faults.append(Fault("country", f"{where} for {kind}"))
    if currency != money:
        faults.append(Fault("currency", f"{money} for {kind}"))
    if kind in SENT_TO_A_PAGE and redirect_url is None:
        faults.append(Fault("redirect_url", f"required for {kind}"))
    if kind not in SENT_TO_A_PAGE and phonenumber is None:
        faults.append(Fault("phonenumber", f"required for {kind}"))
    if kind == "ghana" and network is None:
        faults.append(Fault("network", "required for ghana"))
    return faults


def ask_mobile_money(request: ChargeMobileMoney, context: Context, seen: Seen) -> Ask | Refusal:
    to_a_page = request.type in SENT_TO_A_PAGE
    brought = (request.redirect_url, request.phonenumber, request.network)
    faults = mobile_faults(request.type, *ask_rules.money_of(request), *brought)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context),
        payer=request.phonenumber or "",
        provider=request.type,
        page=page_token(context) if to_a_page else "",
    )
    if faults:
        return refuse_fields(*faults)
    fee_class = MOBILE_MONEY_CLASSES[PROVIDERS[request.type][0]]
    return ask_type(request, context, seen, "mobile_money", fee_class, int(request.amount), detail, faults)
