"""The channels by which a checkout can be paid: what the currency, the merchant and the rails have in common.

Contract: payment#checkout-channels
"""

from kasuwa.core.decision import Merchant
from kasuwa.terms.vendors import CollectionVendor, CollectionVendors
from kasuwa.transactions.checkouts import CheckoutDetail

# Payment types in the order in which the page shows them.
CHANNELS = ("card", "bank_transfer", "ussd", "account", "qrpay", "phone", "mobile_money", "token")
CARD_CHANNELS = ("card", "token")
CHANNELS_BY_CURRENCY = {
    "NGN": CHANNELS,
    "USD": CARD_CHANNELS,
    "GHS": (*CARD_CHANNELS, "mobile_money"),
    "KES": (*CARD_CHANNELS, "mobile_money"),
}
# Saved cards are offered only if the request names them: whoever has the page's address could charge them.
# Contract: payment#checkout-saved-cards
DEFAULT_CHANNELS = tuple(channel for channel in CHANNELS if channel != "token")

MOBILE_MONEY_BY_CURRENCY = {"NGN": ("paga",), "GHS": ("ghana",), "KES": ("mpesa",)}


def is_served(channel: str, currency: str, vendors: CollectionVendors, merchant: Merchant) -> bool:
    """Whether the merchant's rails take payments of this type in this currency."""
    if channel not in CHANNELS_BY_CURRENCY[currency]:
        return False
    choices = vendors.of_method(channel, merchant.rails)
    if choices:
        providers = MOBILE_MONEY_BY_CURRENCY.get(currency, ()) if channel == "mobile_money" else ("",)
        return any(
            channel in vendor.methods and currency in vendor.currencies and has_provider(vendor, channel, providers)
            for vendor in choices
        )
    if channel in CARD_CHANNELS:
        return merchant.environment == "test" or vendors.takes_card_numbers
    return merchant.environment == "test"


def has_provider(vendor: CollectionVendor, channel: str, providers: tuple[str, ...]) -> bool:
    """Whether a vendor serves mobile money of one of these providers. Other channels are chosen by the payer."""
    served = vendor.providers.get(channel)
    return channel != "mobile_money" or served is None or not served.isdisjoint(providers)


def served_channels(
    wanted: tuple[str, ...], currency: str, vendors: CollectionVendors, merchant: Merchant
) -> tuple[str, ...]:
    """Returns those of the wanted channels that are served, in the order of the page."""
    return tuple(
        channel for channel in CHANNELS if channel in wanted and is_served(channel, currency, vendors, merchant)
    )


def served_providers(
    channel: str, offered: tuple[str, ...], vendors: CollectionVendors, merchant: Merchant
) -> tuple[str, ...]:
    """Returns those of the providers of a channel that one of the merchant's rails serves."""
    choices = vendors.of_method(channel, merchant.rails)
    if not choices:
        return offered
    return tuple(
        provider
        for provider in offered
        if any(provider in vendor.providers.get(channel, (provider,)) for vendor in choices)
    )


def mobile_providers(currency: str, vendors: CollectionVendors, merchant: Merchant) -> tuple[str, ...]:
    """Returns the mobile-money providers of a currency that are served."""
    return served_providers("mobile_money", MOBILE_MONEY_BY_CURRENCY.get(currency, ()), vendors, merchant)


def ussd_banks(vendors: CollectionVendors, merchant: Merchant) -> tuple[str, ...]:
    """Returns the banks whose USSD service can be dialed."""
    return served_providers("ussd", ("gtb", "zenith"), vendors, merchant)


def channels_of_plan(detail: CheckoutDetail) -> tuple[str, ...]:
    """Returns the channels that can carry a checkout's plan: cards if it is charged again later."""
    if detail.frequency:
        return ("card",)
    return CARD_CHANNELS if detail.schedule else CHANNELS
