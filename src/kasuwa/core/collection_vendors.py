"""The vendors that collect payments for a deployment, and what each of them serves.

Rules refuse what the chosen vendor does not serve when the payment is taken, and write the vendor's name with the
payment: it is queried and refunded there, also after the settings have changed.
"""

from collections.abc import Mapping

import msgspec

CARD_METHODS = frozenset({"card", "token"})


class CollectionVendor(msgspec.Struct, frozen=True):
    """A vendor's collections. Cards are entered on the vendor's page: no card number passes this service."""

    name: str
    methods: frozenset[str]
    currencies: frozenset[str]
    providers: Mapping[str, frozenset[str]] = {}  # by method; a method that is not named takes all of its providers
    least_amounts: Mapping[str, int] = {}  # by currency, in minor units


class CollectionVendors(msgspec.Struct, frozen=True):
    """The vendor of each purpose. None is a rail that serves every method and takes card numbers: the sandbox."""

    card: CollectionVendor | None = None  # card payments and saved cards
    collect: CollectionVendor | None = None  # all other methods
    # Whether payers may enter card numbers on a page of ours, where no vendor has a page for them. In live the
    # operator must allow it. Contract: payment#checkout-live
    takes_card_numbers: bool = True

    def of_method(self, method: str) -> CollectionVendor | None:
        return self.card if method in CARD_METHODS else self.collect

    def name_of(self, method: str) -> str:
        """Returns the name of the vendor that serves a method, or "" for the rail of the deployment."""
        vendor = self.of_method(method)
        return "" if vendor is None else vendor.name

    @property
    def has_card_page(self) -> bool:
        """Whether payers enter their cards on the vendor's page."""
        return self.card is not None


NO_VENDORS = CollectionVendors()
