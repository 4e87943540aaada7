"""How payments begin that are no cards: account, USSD, telephone, QR, bank transfer, mobile money.

Contract: payment#charge
"""

from collections.abc import Callable
from typing import ClassVar

import msgspec

from kasuwa.core.banks import Bank, banks_by_code, can_account_exist
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.emvco import QrPayment, write_payload
from kasuwa.core.inbound_accounts import free_number
from kasuwa.core.people import canonical_phone
from kasuwa.core.pricing import MOBILE_MONEY_CLASSES, bearer_of
from kasuwa.core.references import row_key
from kasuwa.core.tariff import FeeClass
from kasuwa.methods.payment.model import CHARGE, PaymentDetail, PaymentOrder, begin_payment
from kasuwa.methods.payment.rules import request_charge as ask_rules
from kasuwa.methods.payment.rules.charge_card import make_page_token
from kasuwa.methods.payment.wire import (
    ChargeAccount,
    ChargeMobileMoney,
    ChargePhone,
    ChargeShown,
    ChargeUssd,
    PaymentFields,
)
from kasuwa.methods.payment.wire_reply import PaymentReply

# Which banks can be debited, and dialled. Contract: payment#ussd, resources#banks
CHARGEABLE_KINDS = frozenset({"commercial"})
USSD_BANK_NEEDING_PAYER = "zenith"

# A provider's country and currency; who is sent to a page of the provider needs somewhere to come back to.
MOBILE_MONEY_PROVIDERS = {
    "paga": ("NG", "NGN"),
    "paga_connect": ("NG", "NGN"),
    "ghana": ("GH", "GHS"),
    "mpesa": ("KE", "KES"),
}
REDIRECT_PROVIDERS = frozenset({"paga", "paga_connect"})


class EnrolledPhone(Row):
    """A telephone that has paid this merchant before, by keyed hash."""

    table: ClassVar[str] = "enrolled_phone"

    @property
    def is_open(self) -> bool:
        return False


def begin_from_request(
    order_builder: Callable[..., PaymentOrder | Refusal | NeedsMore],
    request: PaymentFields,
    context: Context,
    seen: LoadedRows,
) -> Decision[PaymentReply] | Refusal | NeedsMore:
    order = order_builder(request, context, seen)
    return begin_payment(order, context, CHARGE) if isinstance(order, PaymentOrder) else order


def build_order(
    request: PaymentFields,
    context: Context,
    seen: LoadedRows,
    method: str,
    fee_class: FeeClass,
    amount: int,
    detail: PaymentDetail,
    faults: list[FieldError],
    rows: tuple[Row, ...] = (),
) -> PaymentOrder | Refusal:
    """What all of them share: limits, price, split."""
    currency = str(request.currency or ask_rules.HOME_CURRENCY)
    faults = [*faults, *ask_rules.unsupported_schedule_faults(request)]
    faults += ask_rules.limit_faults(context.merchant, currency, amount)
    bearer = bearer_of(context.merchant.tariff, request.bearer)
    price = ask_rules.price_of(bearer, context.merchant, fee_class, currency, amount)
    faults += ask_rules.split_faults(ask_rules.read_split_parts(request), currency, (price.settled,), context, seen)
    if faults:
        return refuse_fields(*faults)
    return PaymentOrder(method, currency, price, detail, request.customer_txnref or "", rows=rows)


def home_faults(request: PaymentFields) -> list[FieldError]:
    return ask_rules.home_money_faults(*ask_rules.country_and_currency(request))


# --- account --------------------------------------------------------------------------------------------------------


def chargeable_banks() -> list[Bank]:
    """Banks whose accounts can be debited, by name."""
    found = {bank.name: bank for bank in banks_by_code().values() if bank.kind in CHARGEABLE_KINDS}
    return [found[name] for name in sorted(found)]


def account_faults(merchant: Merchant, bank_code: str, account_number: str | None) -> list[FieldError]:
    bank = banks_by_code().get(bank_code)
    if bank is None or bank.kind not in CHARGEABLE_KINDS:
        return [FieldError("account.bankcode", "a bank of supported_chargable_banks")]
    if account_number is None or can_account_exist(merchant, bank, account_number):
        return []
    return [FieldError("account.accountnumber", f"not an account number of {bank.name}")]


def build_account_order(request: ChargeAccount, context: Context, seen: LoadedRows) -> PaymentOrder | Refusal:
    account = request.account
    faults = home_faults(request) + account_faults(context.merchant, account.bank_code, account.account_number)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context), payer=account.account_number, provider=account.bank_code
    )
    return build_order(request, context, seen, "account", "account", int(request.amount), detail, faults)


# --- USSD and telephone ---------------------------------------------------------------------------------------------


def ussd_faults(bank: str, phonenumber: str | None, accountnumber: str | None) -> list[FieldError]:
    given = {"phonenumber": phonenumber, "accountnumber": accountnumber} if bank == USSD_BANK_NEEDING_PAYER else {}
    return [
        FieldError(name, f"required for {USSD_BANK_NEEDING_PAYER}") for name, value in given.items() if value is None
    ]


def build_ussd_order(request: ChargeUssd, context: Context, seen: LoadedRows) -> PaymentOrder | Refusal:
    faults = home_faults(request) + ussd_faults(request.bank, request.phonenumber, request.accountnumber)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context), payer=request.phonenumber or "", provider=request.bank
    )
    return build_order(request, context, seen, "ussd", "ussd", int(request.amount), detail, faults)


def build_phone_order(request: ChargePhone, context: Context, seen: LoadedRows) -> PaymentOrder | Refusal | NeedsMore:
    """The first payment of a telephone enrols it."""
    merchant_id = context.merchant.merchant_id
    # Under its canonical spelling; a version before kept telephones as they were spelled.
    key, *spelled = (
        row_key(merchant_id, "enrolled phone", context.digest(f"phone {merchant_id} {number}".encode()).hex())
        for number in (canonical_phone(request.phonenumber), request.phonenumber)
    )
    if not seen.is_loaded(key):
        return NeedsMore(Needs(tuple((EnrolledPhone, wanted) for wanted in {key, *spelled})))
    first = all(seen.get(EnrolledPhone, known) is None for known in {key, *spelled})
    detail = msgspec.structs.replace(ask_rules.detail_of(request, context), payer=request.phonenumber, enrolment=first)
    rows = (EnrolledPhone(key, merchant_id),) if first else ()
    return build_order(
        request, context, seen, "phone", "phone", int(request.amount), detail, home_faults(request), rows
    )


# --- what a payer is shown ------------------------------------------------------------------------------------------


def shown_name(request: ChargeShown, merchant: Merchant) -> str:
    return request.business_name or merchant.name


def build_qr_order(request: ChargeShown, context: Context, seen: LoadedRows) -> PaymentOrder | Refusal:
    token = make_page_token(context)
    bearer = bearer_of(context.merchant.tariff, request.bearer)
    price = ask_rules.price_of(bearer, context.merchant, "qrpay", ask_rules.HOME_CURRENCY, int(request.amount))
    faults = home_faults(request)
    name = shown_name(request, context.merchant)
    reference = context.permutation(context.number)
    fits = not ask_rules.limit_faults(context.merchant, ask_rules.HOME_CURRENCY, int(request.amount))
    payload = QrPayment(context.merchant.mid, f"{reference:09d}", price.charged, ask_rules.HOME_CURRENCY, name)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context),
        business_name=name,
        page_token=token,
        qr=write_payload(payload) if fits else "",
    )
    return build_order(request, context, seen, "qrpay", "qrpay", int(request.amount), detail, faults)


def build_bank_transfer_order(
    request: ChargeShown, context: Context, seen: LoadedRows
) -> PaymentOrder | Refusal | NeedsMore:
    """An account number of its own for each payment, so that whoever pays into it pays this."""
    bank = banks_by_code()[context.merchant.inbound_bank]
    number = free_number(bank, context, seen)
    if isinstance(number, NeedsMore):
        return number
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context),
        business_name=shown_name(request, context.merchant),
        provider=bank.name,
        inbound_account_number=number,
        page_token=make_page_token(context),
    )
    return build_order(
        request, context, seen, "bank_transfer", "bank_transfer", int(request.amount), detail, home_faults(request)
    )


# --- mobile money ---------------------------------------------------------------------------------------------------


def mobile_money_faults(
    kind: str, country: str, currency: str, redirect_url: str | None, phonenumber: str | None, network: str | None
) -> list[FieldError]:
    where, money = MOBILE_MONEY_PROVIDERS[kind]
    faults = []
    if country != where:
        faults.append(FieldError("country", f"{where} for {kind}"))
    if currency != money:
        faults.append(FieldError("currency", f"{money} for {kind}"))
    if kind in REDIRECT_PROVIDERS and redirect_url is None:
        faults.append(FieldError("redirect_url", f"required for {kind}"))
    if kind not in REDIRECT_PROVIDERS and phonenumber is None:
        faults.append(FieldError("phonenumber", f"required for {kind}"))
    if kind == "ghana" and network is None:
        faults.append(FieldError("network", "required for ghana"))
    return faults


def build_mobile_money_order(request: ChargeMobileMoney, context: Context, seen: LoadedRows) -> PaymentOrder | Refusal:
    to_a_page = request.type in REDIRECT_PROVIDERS
    brought = (request.redirect_url, request.phonenumber, request.network)
    faults = mobile_money_faults(request.type, *ask_rules.country_and_currency(request), *brought)
    detail = msgspec.structs.replace(
        ask_rules.detail_of(request, context),
        payer=request.phonenumber or "",
        provider=request.type,
        page_token=make_page_token(context) if to_a_page else "",
    )
    if faults:
        return refuse_fields(*faults)
    fee_class = MOBILE_MONEY_CLASSES[MOBILE_MONEY_PROVIDERS[request.type][0]]
    return build_order(request, context, seen, "mobile_money", fee_class, int(request.amount), detail, faults)
