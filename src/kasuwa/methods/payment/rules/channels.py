"""Begins payments other than by card: account, USSD, phone, QR, bank transfer, mobile money.

Contract: payment#charge
"""

from collections.abc import Callable

import msgspec

from kasuwa.core.banks import Bank, banks_by_code, can_account_exist
from kasuwa.core.codes import ERROR
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
from kasuwa.core.references import first_number, row_key
from kasuwa.methods.payment.model import CHARGE, EnrolledPhone, PaymentDetail
from kasuwa.methods.payment.rules import check_request
from kasuwa.methods.payment.rules.begin import PaymentOrder, begin_payment, make_page_token
from kasuwa.methods.payment.rules.dry_run import preview_order
from kasuwa.methods.payment.wire import (
    ChargeAccount,
    ChargeMobileMoney,
    ChargePhone,
    ChargeShown,
    ChargeUssd,
    PaymentFields,
)
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.terms.tariff import FeeClass, Tariff
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.inbound_accounts import free_number
from kasuwa.transactions.pricing import MOBILE_MONEY_CLASSES, choose_bearer
from kasuwa.transactions.qr_payload import QrPayment, write_payload
from kasuwa.wire.people import canonical_phone

# Kinds of banks whose accounts can be debited. Contract: payment#account, resources#banks
CHARGEABLE_KINDS = frozenset({"commercial"})
# The USSD bank that requires the payer's phone and account number. Contract: payment#ussd
USSD_BANK_NEEDING_PAYER = "zenith"

# Only the sandbox invents account numbers: in live nobody could pay into them.
NO_TRANSFER_ACCOUNTS = Refusal(ERROR, "This deployment opens no accounts for bank transfers; nothing was changed")

# Country and currency of each mobile-money provider.
MOBILE_MONEY_PROVIDERS = {
    "paga": ("NG", "NGN"),
    "paga_connect": ("NG", "NGN"),
    "ghana": ("GH", "GHS"),
    "mpesa": ("KE", "KES"),
}
# Providers whose payers approve on a page. Their requests need a redirect_url to send the payer back to.
REDIRECT_PROVIDERS = frozenset({"paga", "paga_connect"})


def begin_from_request(
    order_builder: Callable[..., PaymentOrder | Refusal | NeedsMore],
    request: PaymentFields,
    context: Context,
    rows: LoadedRows,
) -> Decision[PaymentReply] | Refusal | NeedsMore:
    order = order_builder(request, context, rows)
    if not isinstance(order, PaymentOrder):
        return order
    return preview_order(order) if request.dry_run else begin_payment(order, context, CHARGE)


# Requests of the methods that begin here.
ChargeRequest = ChargeAccount | ChargeUssd | ChargePhone | ChargeShown | ChargeMobileMoney


class OrderDraft(msgspec.Struct, frozen=True):
    """The part of a payment order that depends on its method."""

    method: str
    fee_class: FeeClass
    detail: PaymentDetail
    faults: list[FieldError]  # field errors found so far
    rows: tuple[Row, ...] = ()  # further rows to write with the payment


def build_order(
    draft: OrderDraft, request: ChargeRequest, context: Context, rows: LoadedRows
) -> PaymentOrder | Refusal:
    """Builds a payment order after the checks that all methods share: schedule, limits, price and split."""
    amount = int(request.amount)
    currency = str(request.currency or check_request.HOME_CURRENCY)
    faults = [*draft.faults, *check_request.unsupported_schedule_faults(request)]
    faults += check_request.limit_faults(context.merchant, currency, amount)
    bearer = choose_bearer(context.merchant.terms(Tariff), request.bearer)
    price = check_request.price_request(bearer, context.merchant, draft.fee_class, currency, amount)
    faults += check_request.vendor_faults(draft.method, draft.detail.provider, currency, price.charged, context)
    faults += check_request.split_faults(
        check_request.read_split_parts(request), currency, (price.settled,), context, rows
    )
    if faults:
        return refuse_fields(*faults)
    return PaymentOrder(draft.method, currency, price, draft.detail, request.customer_txnref or "", rows=draft.rows)


def home_faults(request: PaymentFields) -> list[FieldError]:
    return check_request.home_money_faults(*check_request.country_and_currency(request))


# --- account --------------------------------------------------------------------------------------------------------


def chargeable_banks() -> list[Bank]:
    """Returns the banks whose accounts can be debited, sorted by name."""
    banks = {bank.name: bank for bank in banks_by_code().values() if bank.kind in CHARGEABLE_KINDS}
    return [banks[name] for name in sorted(banks)]


def account_faults(merchant: Merchant, bank_code: str, account_number: str | None) -> list[FieldError]:
    bank = banks_by_code().get(bank_code)
    if bank is None or bank.kind not in CHARGEABLE_KINDS:
        return [FieldError("account.bankcode", "a bank of supported_chargable_banks")]
    if account_number is None or can_account_exist(merchant, bank, account_number):
        return []
    return [FieldError("account.accountnumber", f"not an account number of {bank.name}")]


def build_account_order(request: ChargeAccount, context: Context, rows: LoadedRows) -> PaymentOrder | Refusal:
    account = request.account
    faults = home_faults(request) + account_faults(context.merchant, account.bank_code, account.account_number)
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context), payer=account.account_number, provider=account.bank_code
    )
    return build_order(OrderDraft("account", "account", detail, faults), request, context, rows)


# --- USSD and phone -------------------------------------------------------------------------------------------------


def ussd_faults(bank: str, phonenumber: str | None, accountnumber: str | None) -> list[FieldError]:
    values = {"phonenumber": phonenumber, "accountnumber": accountnumber} if bank == USSD_BANK_NEEDING_PAYER else {}
    return [
        FieldError(name, f"required for {USSD_BANK_NEEDING_PAYER}") for name, value in values.items() if value is None
    ]


def build_ussd_order(request: ChargeUssd, context: Context, rows: LoadedRows) -> PaymentOrder | Refusal:
    faults = home_faults(request) + ussd_faults(request.bank, request.phonenumber, request.accountnumber)
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context),
        payer=request.phonenumber or "",
        payer_account=request.accountnumber or "",
        provider=request.bank,
    )
    return build_order(OrderDraft("ussd", "ussd", detail, faults), request, context, rows)


def build_phone_order(
    request: ChargePhone, context: Context, loaded_rows: LoadedRows
) -> PaymentOrder | Refusal | NeedsMore:
    """Builds the payment order of a phone payment. The first payment of a phone to the merchant enrolls it."""
    merchant_id = context.merchant.merchant_id
    digest = context.digest(f"phone {first_number(merchant_id)} {canonical_phone(request.phonenumber)}".encode())
    key = row_key(merchant_id, "enrolled phone", digest.hex())
    if not loaded_rows.is_loaded(key):
        return NeedsMore(Needs(((EnrolledPhone, key),)))
    first = loaded_rows.get(EnrolledPhone, key) is None
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context), payer=request.phonenumber, enrolment=first
    )
    rows = (EnrolledPhone(key, merchant_id),) if first else ()
    return build_order(OrderDraft("phone", "phone", detail, home_faults(request), rows), request, context, loaded_rows)


# --- QR and bank transfer -------------------------------------------------------------------------------------------


def shown_name(request: ChargeShown, merchant: Merchant) -> str:
    return request.business_name or merchant.name


def build_qr_order(request: ChargeShown, context: Context, rows: LoadedRows) -> PaymentOrder | Refusal:
    token = make_page_token(context)
    bearer = choose_bearer(context.merchant.terms(Tariff), request.bearer)
    price = check_request.price_request(
        bearer, context.merchant, "qrpay", check_request.HOME_CURRENCY, int(request.amount)
    )
    faults = home_faults(request)
    name = shown_name(request, context.merchant)
    reference = context.permutation(context.number)
    # A vendor shows a code of its own on its page.
    has_own_code = not context.terms(CollectionVendors).of_method("qrpay", context.merchant.rails)
    fits = not check_request.limit_faults(context.merchant, check_request.HOME_CURRENCY, int(request.amount))
    payload = QrPayment(context.merchant.mid, f"{reference:09d}", price.charged, check_request.HOME_CURRENCY, name)
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context),
        business_name=name,
        page_token=token,
        qr=write_payload(payload) if fits and has_own_code else "",
    )
    return build_order(OrderDraft("qrpay", "qrpay", detail, faults), request, context, rows)


def build_bank_transfer_order(
    request: ChargeShown, context: Context, rows: LoadedRows
) -> PaymentOrder | Refusal | NeedsMore:
    """Builds the payment order of a bank transfer. Each payment has an account number of its own."""
    if context.terms(CollectionVendors).of_method("bank_transfer", context.merchant.rails):
        # The vendor opens an account for the payment.
        detail = msgspec.structs.replace(
            check_request.make_payment_detail(request, context),
            business_name=shown_name(request, context.merchant),
            page_token=make_page_token(context),
        )
        return build_order(
            OrderDraft("bank_transfer", "bank_transfer", detail, home_faults(request)), request, context, rows
        )
    if context.merchant.environment == "live":
        return NO_TRANSFER_ACCOUNTS
    bank = banks_by_code()[context.merchant.inbound_bank]
    number = free_number(bank, context, rows)
    if isinstance(number, NeedsMore):
        return number
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context),
        business_name=shown_name(request, context.merchant),
        provider=bank.name,
        inbound_account_number=number,
        page_token=make_page_token(context),
    )
    draft = OrderDraft("bank_transfer", "bank_transfer", detail, home_faults(request))
    return build_order(draft, request, context, rows)


# --- mobile money ---------------------------------------------------------------------------------------------------


def mobile_money_faults(
    kind: str, country: str, currency: str, redirect_url: str | None, phonenumber: str | None, network: str | None
) -> list[FieldError]:
    provider_country, provider_currency = MOBILE_MONEY_PROVIDERS[kind]
    faults = []
    if country != provider_country:
        faults.append(FieldError("country", f"{provider_country} for {kind}"))
    if currency != provider_currency:
        faults.append(FieldError("currency", f"{provider_currency} for {kind}"))
    if kind in REDIRECT_PROVIDERS and redirect_url is None:
        faults.append(FieldError("redirect_url", f"required for {kind}"))
    if kind not in REDIRECT_PROVIDERS and phonenumber is None:
        faults.append(FieldError("phonenumber", f"required for {kind}"))
    if kind == "ghana" and network is None:
        faults.append(FieldError("network", "required for ghana"))
    return faults


def build_mobile_money_order(request: ChargeMobileMoney, context: Context, rows: LoadedRows) -> PaymentOrder | Refusal:
    has_page = request.type in REDIRECT_PROVIDERS
    fields = (request.redirect_url, request.phonenumber, request.network)
    faults = mobile_money_faults(request.type, *check_request.country_and_currency(request), *fields)
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context),
        payer=request.phonenumber or "",
        provider=request.type,
        network=request.network or "",
        page_token=make_page_token(context) if has_page else "",
    )
    if faults:
        return refuse_fields(*faults)
    fee_class = MOBILE_MONEY_CLASSES[MOBILE_MONEY_PROVIDERS[request.type][0]]
    return build_order(OrderDraft("mobile_money", fee_class, detail, faults), request, context, rows)
