"""The vendors that collect payments for a deployment, and what each of them serves.

Rules refuse what no vendor of the purpose serves when the payment is taken. The vendor of a payment is chosen among
those that serve it, and its name is written with the payment: it is queried and refunded there, also after the settings
have changed.
"""

from collections.abc import Mapping

import msgspec

from kasuwa.core.money import format_minor
from kasuwa.terms.accounts import SANDBOX_RAIL

CARD_METHODS = frozenset({"card", "token"})
# The purposes of the rails of payments, as the settings name them.
CARD, COLLECT = "card", "collect"


class Unserved(msgspec.Struct, frozen=True):
    """The reason for which a vendor does not serve a payment: the field of the request, and what it must be."""

    field: str
    reason: str


# In the order in which they are checked.
CHECKED_FIELDS = ("paymentType", "currency", "amount")


class CollectionVendor(msgspec.Struct, frozen=True):
    """A vendor's collections. Cards are entered on the vendor's page: no card number passes this service."""

    name: str
    methods: frozenset[str]
    currencies: frozenset[str]
    providers: Mapping[str, frozenset[str]] = {}  # by method; a method that is not named takes all of its providers
    least_amounts: Mapping[str, int] = {}  # by currency, in minor units

    def find_unserved(self, method: str, provider: str, currency: str, charged: int) -> Unserved | None:
        """Returns why the vendor does not serve a payment, or None if it does. `charged` is what the payer pays."""
        if method not in self.methods or provider not in self.providers.get(method, (provider,)):
            what = f"{method} by {provider}" if method in self.methods else method
            return Unserved("paymentType", f"another one: {what} is not served here")
        if currency not in self.currencies:
            return Unserved("currency", f"one of {', '.join(sorted(self.currencies))} for this payment type")
        least = self.least_amounts.get(currency, 0)
        if charged < least:
            return Unserved("amount", f"at least {format_minor(least)} for this payment type")
        return None


class CollectionVendors(msgspec.Struct, frozen=True):
    """The vendors of each purpose, the first choice first. Without any, the rail serves every method and takes card
    numbers: the sandbox."""

    card: tuple[CollectionVendor, ...] = ()  # card payments and saved cards
    collect: tuple[CollectionVendor, ...] = ()  # all other methods
    configured: Mapping[str, CollectionVendor] = {}  # by name: all whose settings are there
    # Whether payers may enter card numbers on a page of ours, where no vendor has a page for them. In live the
    # operator must allow it. Contract: payment#checkout-live
    takes_card_numbers: bool = True

    def of_method(self, method: str, own: Mapping[str, tuple[str, ...]]) -> tuple[CollectionVendor, ...]:
        """Returns the vendors that may take payments of a method. `own` are the rails of the merchant's own."""
        purpose = choose_purpose(method)
        chosen = [name for name in own.get(purpose, ()) if name in self.configured or name == SANDBOX_RAIL]
        if chosen:
            return tuple(self.configured[name] for name in chosen if name in self.configured)
        return self.card if purpose == CARD else self.collect

    def has_card_page(self, own: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether the payers of a merchant enter their cards on a vendor's page."""
        return bool(self.of_method("card", own))


def choose_purpose(method: str) -> str:
    return CARD if method in CARD_METHODS else COLLECT


def find_closest(reasons: list[Unserved]) -> Unserved:
    """Returns the reason of the vendor that comes closest to serving a payment."""
    return max(reasons, key=lambda reason: CHECKED_FIELDS.index(reason.field))


NO_VENDORS = CollectionVendors()
