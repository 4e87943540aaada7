"""A merchant's stored settings, and the Merchant that the rules see."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

import msgspec

from kasuwa.core.banks import banks_by_code
from kasuwa.core.decision import AmountLimits, Merchant
from kasuwa.core.money import CURRENCIES, convert_to_minor, format_minor
from kasuwa.merchants.picture_size import JPEG, PNG, picture_size
from kasuwa.terms.business import NO_BUSINESS_TERMS, BusinessTerms, check_business_terms
from kasuwa.terms.checkout_origins import CheckoutOrigins, check_origins
from kasuwa.terms.client_tiers import NO_CLIENT_TIERS, ClientTiers, TierTerms, read_tiers, terms_of_tiers
from kasuwa.terms.conversion import ExchangeRate, ExchangeRates
from kasuwa.terms.loan_schedule import LendingSettings, check_lending
from kasuwa.terms.mail import NO_MAIL_TERMS, MailTerms, check_mail_terms
from kasuwa.terms.payouts import NO_POLICY, PayoutPolicy, PayoutTerms, PolicyChange, read_policy, rules_of_policy
from kasuwa.terms.reserve import NO_RESERVE, ReserveTerms, check_reserve
from kasuwa.terms.savings import SavingsSettings, check_savings_settings
from kasuwa.terms.tariff import Tariff, read_tariff

# Smallest and largest transaction by currency, in major units. Contract: #rates
DEFAULT_LIMITS = {
    "NGN": ("1.00", "10000000.00"),
    "USD": ("0.50", "10000.00"),
    "GHS": ("1.00", "100000.00"),
    "KES": ("10.00", "1000000.00"),
}

# Default rate limit in live: requests per second and burst. The test environment has none. Contract: #rates
LIVE_RATE = (100, 200)


MAX_SETTLEMENT_DAYS = 30

# Code of the bank whose account numbers customers pay into.
DEFAULT_INBOUND_BANK = "035"


class MerchantSettings(msgspec.Struct, omit_defaults=True):
    webhook_url: str = ""
    webhook_order: Literal["loose", "strict"] = "loose"  # strict: an event waits until the one before was delivered
    http_codes: Literal["compat", "strict"] = "compat"  # see core/codes.py
    tariff: dict[str, Any] = {}  # overrides of the default tariff
    limits: dict[str, tuple[str, str]] = {}  # overrides of DEFAULT_LIMITS
    rate: tuple[int, int] | None = None  # requests per second and burst
    settlement_days: int = 0  # n of T+n
    inbound_bank: str = DEFAULT_INBOUND_BANK
    lending: LendingSettings = LendingSettings()
    savings: SavingsSettings = SavingsSettings()
    suspended: bool = False
    rails: dict[str, list[str]] = {}  # rails of its own, by purpose, in order of preference; others follow the settings
    outcome_seed: str = ""  # in test: makes random outcomes the same in every run
    token_space: int = 0  # in test, of a fork: sets its account numbers and codes apart from those that it is a copy of
    copied_from: int = 0  # in test, of books that are a copy: the number of those that it was made of
    dispute_credit: dict[str, str] = {}  # by currency: how far disputes may take the wallet below zero
    reserve: ReserveTerms = NO_RESERVE
    logo: str = ""  # shown on payers' pages: a data URL of a small PNG or JPEG
    mail: MailTerms = NO_MAIL_TERMS
    business: BusinessTerms = NO_BUSINESS_TERMS  # shown on invoices
    payouts: PayoutPolicy = NO_POLICY
    payouts_change: PolicyChange | None = None  # replaces `payouts` when its time has come
    client_tiers: ClientTiers = NO_CLIENT_TIERS
    checkout_origins: tuple[str, ...] = ()  # sites that may show payers' pages in a frame


@lru_cache(maxsize=1024)
def decode_tariff(override: bytes) -> Tariff:
    return read_tariff(msgspec.json.decode(override))


def check_settings(settings: MerchantSettings) -> None:
    """Raises ValueError if a setting is invalid: it would break every request of the merchant."""
    if settings.rate is not None and min(settings.rate) < 1:
        raise ValueError("rate must be two whole numbers above zero")
    if not 0 <= settings.settlement_days <= MAX_SETTLEMENT_DAYS:
        raise ValueError(f"settlement_days must be 0 (at once) to {MAX_SETTLEMENT_DAYS} business days")
    bank = banks_by_code().get(settings.inbound_bank)
    if bank is None or bank.cbn_code is None:
        raise ValueError("inbound_bank must be the code of a bank that has a CBN code")
    for currency, (least, most) in settings.limits.items():
        if currency not in CURRENCIES:
            raise ValueError(f"limits: there is no currency {currency}")
        if not 0 < convert_to_minor(least) <= convert_to_minor(most):
            raise ValueError(f"limits: the least of {currency} must be above zero and not above the most")
    for currency, most in settings.dispute_credit.items():
        if currency not in CURRENCIES:
            raise ValueError(f"dispute_credit: there is no currency {currency}")
        convert_to_minor(most)
    decode_tariff(msgspec.json.encode(settings.tariff))
    check_lending(settings.lending)
    check_savings_settings(settings.savings)
    check_reserve(settings.reserve)
    check_mail_terms(settings.mail)
    check_business_terms(settings.business)
    read_policy(settings.payouts)
    read_tiers(settings.client_tiers)
    check_origins(settings.checkout_origins)


# The settings by which requests of a merchant are decided. The others say who it is, where its events and orders go, or
# who may do what.
TERMS = (
    "http_codes",
    "tariff",
    "limits",
    "settlement_days",
    "inbound_bank",
    "lending",
    "savings",
    "dispute_credit",
    "reserve",
    "client_tiers",
)


def show_terms(settings: MerchantSettings) -> dict[str, Any]:
    """Returns the terms of a merchant that are not those of every new one."""
    shown = msgspec.to_builtins(settings)
    return {name: shown[name] for name in TERMS if name in shown}


def read_terms(terms: bytes) -> MerchantSettings:
    """Returns settings with terms as `show_terms` has them, in JSON. Raises ValueError."""
    fields = msgspec.json.decode(terms)
    unknown = sorted(set(fields) - set(TERMS))
    if unknown:
        raise ValueError(f"there is no {unknown[0][:40]}")
    settings = msgspec.convert(fields, MerchantSettings)
    check_settings(settings)
    return settings


def apply_policy_change(settings: MerchantSettings, now: datetime) -> MerchantSettings:
    """Returns the settings with the policy for money out that is in force."""
    change = settings.payouts_change
    if change is None or change.effective_at > now:
        return settings
    return msgspec.structs.replace(settings, payouts=change.policy, payouts_change=None)


# The first bytes of the pictures that a logo may be, its largest size, and the most pixels on a side: a browser needs
# four bytes for each, however small the file is.
LOGO_TYPES = {PNG: "image/png", JPEG: "image/jpeg"}
MAX_LOGO_BYTES = 32 * 1024
MAX_LOGO_SIDE = 2_000


def read_logo(picture: bytes) -> str:
    """Returns a picture as the data URL of a logo. Raises ValueError if it is too large, or no PNG or JPEG."""
    kind = next((kind for head, kind in LOGO_TYPES.items() if picture.startswith(head)), None)
    if kind is None:
        raise ValueError("a logo is a PNG or JPEG file")
    if len(picture) > MAX_LOGO_BYTES:
        raise ValueError(f"a logo has at most {MAX_LOGO_BYTES // 1024} KiB")
    size = picture_size(picture)
    if size is None or not 1 <= min(size) <= max(size) <= MAX_LOGO_SIDE:
        raise ValueError(f"a logo has at most {MAX_LOGO_SIDE:,} pixels in width and in height")
    return f"data:{kind};base64,{b64encode(picture).decode()}"


def make_merchant(
    merchant_id: int,
    mid: str,
    name: str,
    environment: str,
    settings: MerchantSettings,
    exchange: Mapping[str, ExchangeRate] | None = None,
) -> Merchant:
    limits = {**DEFAULT_LIMITS, **settings.limits}
    has_policy = settings.payouts != NO_POLICY
    payout_rules = rules_of_policy(msgspec.json.encode(settings.payouts)) if has_policy else None
    return Merchant(
        merchant_id=merchant_id,
        mid=mid,
        name=name,
        environment=environment,
        has_strict_http=settings.http_codes == "strict",
        limits={
            currency: AmountLimits(convert_to_minor(least), convert_to_minor(most))
            for currency, (least, most) in limits.items()
        },
        rate_limit=settings.rate or (LIVE_RATE if environment == "live" else None),
        settlement_days=settings.settlement_days,
        inbound_bank=settings.inbound_bank,
        suspended=settings.suspended,
        rails={purpose: tuple(names) for purpose, names in settings.rails.items() if names},
        outcome_seed=settings.outcome_seed,
        token_space=settings.token_space,
        dispute_credit={currency: convert_to_minor(most) for currency, most in settings.dispute_credit.items()},
        logo=settings.logo,
        subject_terms={
            Tariff: decode_tariff(msgspec.json.encode(settings.tariff)),
            LendingSettings: settings.lending,
            SavingsSettings: settings.savings,
            ExchangeRates: ExchangeRates(exchange or {}),
            ReserveTerms: settings.reserve,
            PayoutTerms: PayoutTerms(payout_rules),
            MailTerms: settings.mail,
            BusinessTerms: settings.business,
            TierTerms: terms_of_tiers(msgspec.json.encode(settings.client_tiers)),
            CheckoutOrigins: CheckoutOrigins(settings.checkout_origins),
        },
    )


class SentMerchant(msgspec.Struct, array_like=True, frozen=True):
    """A merchant as one process sends it to another."""

    merchant: Merchant
    terms: tuple[
        Tariff,
        LendingSettings,
        SavingsSettings,
        ExchangeRates,
        ReserveTerms,
        PayoutTerms,
        MailTerms,
        BusinessTerms,
        TierTerms,
        CheckoutOrigins,
    ]


def pack_merchant(merchant: Merchant) -> SentMerchant:
    terms = (
        merchant.terms(Tariff),
        merchant.terms(LendingSettings),
        merchant.terms(SavingsSettings),
        merchant.terms(ExchangeRates),
        merchant.terms(ReserveTerms),
        merchant.terms(PayoutTerms),
        merchant.terms(MailTerms),
        merchant.terms(BusinessTerms),
        merchant.terms(TierTerms),
        merchant.terms(CheckoutOrigins),
    )
    return SentMerchant(msgspec.structs.replace(merchant, subject_terms={}), terms)


def unpack_merchant(packed: SentMerchant) -> Merchant:
    return msgspec.structs.replace(packed.merchant, subject_terms={type(terms): terms for terms in packed.terms})


def check_amount_limits(merchant: Merchant, currency: str, amount: int) -> str | None:
    """Returns the error text if an amount is outside the merchant's limits, else None."""
    limits = merchant.limits[currency]
    if limits.min_amount <= amount <= limits.max_amount:
        return None
    return f"between {format_minor(limits.min_amount)} and {format_minor(limits.max_amount)}"
