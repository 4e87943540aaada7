"""The biller catalogue: categories, billers and items, as the biller rail lists them.

Each load of the rail's list is an *edition*. The newest edition is served. A paycode that is no longer in it stays
accepted for PAYCODE_LIFE of wall time, because merchants pull the catalogue once a day.

Contract: bills#pull
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache

import msgspec

from kasuwa.core.action import PreencodedReply
from kasuwa.core.decision import Merchant
from kasuwa.core.money import convert_to_minor, parse_minor
from kasuwa.core.references import row_key
from kasuwa.terms.tariff import PERCENTAGE

# How long a paycode is accepted after it was replaced. Contract: bills#pay
PAYCODE_LIFE = timedelta(hours=24)

# Values of Item.fulfilment for items that deliver a voucher. Vouchers are as good as cash, so they are stored sealed.
GIVES_TOKEN = "electricity_token"
GIVES_PIN = "pin"


class Category(msgspec.Struct, frozen=True):
    name: str
    code: str


class Biller(msgspec.Struct, frozen=True):
    id: int
    name: str
    reference: str  # label of the customer reference, such as "Meter number"
    category: str
    slug: str
    pattern: str  # regular expression of customer references
    # Bounds of an amount that the payer chooses, in minor units.
    least: int | None
    most: int | None
    amount_step: int = 1  # an amount that the payer chooses is a multiple of it


class Item(msgspec.Struct, frozen=True):
    name: str
    bills_id: int  # id of its biller
    amount: str  # in major units; "0" if the payer chooses it
    discount: str  # in percent
    fee: int  # in minor units
    paycode: str
    require_name_query: bool
    fulfilment: str  # what it delivers besides the receipt


class CatalogueEdition(msgspec.Struct, frozen=True):
    """One edition of the catalogue as the biller rail lists it."""

    categories: tuple[Category, ...]
    billers: tuple[Biller, ...]
    items: tuple[Item, ...]


EMPTY_EDITION = CatalogueEdition((), (), ())


class InvalidCatalogue(Exception):
    """Raised for an edition that cannot be sold from. The message is one line."""


def check_edition(edition: CatalogueEdition) -> None:
    """Raises InvalidCatalogue if an edition cannot be sold from. It is then refused as a whole."""
    codes = {category.code for category in edition.categories}
    billers = {biller.id: biller for biller in edition.billers}
    if len(codes) != len(edition.categories) or len(billers) != len(edition.billers):
        raise InvalidCatalogue("two categories or two billers have the same code")
    for biller in edition.billers:
        if biller.category not in codes:
            raise InvalidCatalogue(f"{biller.name}: there is no category {biller.category}")
        try:
            compiled(biller.pattern)
        except re.error:
            raise InvalidCatalogue(f"{biller.name}: its pattern of references cannot be read") from None
    if len({item.paycode for item in edition.items}) != len(edition.items):
        raise InvalidCatalogue("two items have the same paycode")
    for item in edition.items:
        check_item(item, billers.get(item.bills_id))


def check_item(item: Item, biller: Biller | None) -> None:
    if biller is None:
        raise InvalidCatalogue(f"{item.name}: there is no biller {item.bills_id}")
    price = parse_minor(item.amount)
    if price is None or not item.paycode or item.fee < 0 or not PERCENTAGE.fullmatch(item.discount):
        raise InvalidCatalogue(f"{item.name}: amount, paycode, fee or discount cannot be used")
    if price == 0 and None in (biller.least, biller.most):
        raise InvalidCatalogue(f"{item.name}: an open amount needs bounds")


def paycode_key(paycode: str) -> bytes:
    """Returns the key of an item's row. The catalogue belongs to no merchant, so its merchant id is 0."""
    return row_key(0, "bill_item", paycode)


# --- the catalogue in memory ----------------------------------------------------------------------------------


class ItemTerms(msgspec.Struct, frozen=True):
    """The requirements of an item on its payments. Amounts are in minor units."""

    name: str
    biller: str
    pattern: str  # regular expression of customer references
    price: int  # 0 if the payer chooses the amount
    # Bounds of an amount that the payer chooses, and what it must be a multiple of.
    least: int | None
    most: int | None
    amount_step: int = 1


class CatalogueItem(msgspec.Struct, frozen=True):
    """An item with its biller."""

    item: Item
    biller: Biller
    retired_at: datetime | None = None  # wall time at which a newer edition dropped its paycode

    @property
    def terms(self) -> ItemTerms:
        item, biller = self.item, self.biller
        bounds = (biller.least, biller.most, biller.amount_step)
        return ItemTerms(item.name, biller.name, biller.pattern, convert_to_minor(item.amount), *bounds)


class Catalogue:
    """One edition in memory, with retired paycodes that are still accepted."""

    def __init__(
        self, edition_number: int, contents: CatalogueEdition, retired: tuple[CatalogueItem, ...] = ()
    ) -> None:
        self.edition_number = edition_number
        self.contents = contents
        self.billers = {biller.id: biller for biller in contents.billers}
        # Replies by category and biller. They are the same for every merchant until the next edition.
        self.encoded_replies: dict[tuple[str | None, int | None], PreencodedReply] = {}
        current = [CatalogueItem(item, self.billers[item.bills_id]) for item in contents.items]
        self._by_paycode = {entry.item.paycode: entry for entry in (*retired, *current)}

    def find(self, paycode: str, wall: datetime) -> CatalogueItem | None:
        """Returns the item of a paycode that is accepted at a wall time, or None."""
        entry = self._by_paycode.get(paycode)
        if entry is None or entry.retired_at is None:
            return entry
        return entry if wall < entry.retired_at + PAYCODE_LIFE else None


# --- customer references ----------------------------------------------------------------------------------------

# References that select the sandbox's answer in the test environment: zeros and two digits, or a magic phone.
# Contract: sandbox#magic
MAGIC_REFERENCE = re.compile(r"0{6,}[0-9]{2}", re.ASCII)
MAGIC_PHONE = re.compile(r"(?:080000000|02400000|07000000)[0-9]{2}", re.ASCII)


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def is_magic(reference: str) -> bool:
    return bool(MAGIC_REFERENCE.fullmatch(reference) or MAGIC_PHONE.fullmatch(reference))


def may_be_customer(merchant: Merchant, pattern: str, reference: str) -> bool:
    """Returns whether a customer reference has the biller's form, or is a magic value in the test environment.

    The network of a telephone number is not checked, because numbers are ported between networks.
    """
    if merchant.environment == "test" and is_magic(reference):
        return True
    return compiled(pattern).fullmatch(reference) is not None
