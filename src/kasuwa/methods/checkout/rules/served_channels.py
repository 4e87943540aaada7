"""The channels by which a checkout can be paid: what the currency, the merchant and the rails have in common.

Contract: payment#checkout-channels
"""

from kasuwa.core.checkouts import CheckoutDetail
from kasuwa.core.collection_vendors import CollectionVendors

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


def is_served(channel: str, currency: str, vendors: CollectionVendors, environment: str) -> bool:
    """Whether the deployment's rails take payments of this type in this currency."""
    if channel not in CHANNELS_BY_CURRENCY[currency]:
        return False
    vendor = vendors.of_method(channel)
    if vendor is not None:
        providers = vendor.providers.get(channel)
        has_provider = channel != "mobile_money" or providers is None or bool(mobile_providers(currency, vendors))
        return channel in vendor.methods and currency in vendor.currencies and has_provider
    if channel in CARD_CHANNELS:
        return environment == "test" or vendors.takes_card_numbers
    return environment == "test"


def served_channels(
    wanted: tuple[str, ...], currency: str, vendors: CollectionVendors, environment: str
) -> tuple[str, ...]:
    """Returns those of the wanted channels that are served, in the order of the page."""
    return tuple(
        channel for channel in CHANNELS if channel in wanted and is_served(channel, currency, vendors, environment)
    )


def mobile_providers(currency: str, vendors: CollectionVendors) -> tuple[str, ...]:
    """Returns the mobile-money providers of a currency that are served."""
    vendor = vendors.of_method("mobile_money")
    offered = MOBILE_MONEY_BY_CURRENCY.get(currency, ())
    served = None if vendor is None else vendor.providers.get("mobile_money")
    return offered if served is None else tuple(provider for provider in offered if provider in served)


def ussd_banks(vendors: CollectionVendors) -> tuple[str, ...]:
    """Returns the banks whose USSD service can be dialed."""
    vendor = vendors.of_method("ussd")
    served = None if vendor is None else vendor.providers.get("ussd")
    return tuple(bank for bank in ("gtb", "zenith") if served is None or bank in served)


def channels_of_plan(detail: CheckoutDetail) -> tuple[str, ...]:
    """Returns the channels that can carry a checkout's plan: cards if it is charged again later."""
    if detail.frequency:
        return ("card",)
    return CARD_CHANNELS if detail.schedule else CHANNELS
