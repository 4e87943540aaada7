"""What can be paid: categories, billers and items, as the biller rail lists them and as a merchant pulls them.

A *sheet* is what the rail says it sells. Loaded, it is an *edition* of the catalogue; the newest one is listed, and a
paycode that is no longer in it is accepted for another day of wall time, because merchants pull once a day
Contract: bills#pay
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache

import msgspec

from kasuwa.core.action import PreencodedReply
from kasuwa.core.decision import Merchant
from kasuwa.core.money import minor_of, parse_minor
from kasuwa.core.references import row_key
from kasuwa.core.tariff import PERCENTAGE

# How long a paycode is accepted after a newer one took its place. Contract: bills#pay
PAYCODE_LIFE = timedelta(hours=24)

# What an item brings besides the receipt: both are as good as money to whoever reads them.
GIVES_TOKEN = "electricity_token"
GIVES_PIN = "pin"


class Category(msgspec.Struct, frozen=True):
    name: str
    code: str


class Biller(msgspec.Struct, frozen=True):
    """`reference` is what its customers are known by (a label), `pattern` how that must look; `least` and `most`
    bound an open amount, in minor units."""

    id: int
    name: str
    reference: str
    category: str
    slug: str
    pattern: str
    least: int | None
    most: int | None


class Item(msgspec.Struct, frozen=True):
    """`amount` as the rail writes it, "0" where the payer names it; `discount` in percent; `fee` in minor units."""

    name: str
    bills_id: int
    amount: str
    discount: str
    fee: int
    paycode: str
    require_name_query: bool
    fulfilment: str


class CatalogueEdition(msgspec.Struct, frozen=True):
    categories: tuple[Category, ...]
    billers: tuple[Biller, ...]
    items: tuple[Item, ...]


EMPTY_EDITION = CatalogueEdition((), (), ())


class InvalidCatalogue(Exception):
    """What is wrong with a sheet, in one line."""


def check_edition(sheet: CatalogueEdition) -> None:
    """A sheet that cannot be sold from is refused whole, and the edition before it stands."""
    codes = {category.code for category in sheet.categories}
    billers = {biller.id: biller for biller in sheet.billers}
    if len(codes) != len(sheet.categories) or len(billers) != len(sheet.billers):
        raise InvalidCatalogue("two categories or two billers have the same code")
    for biller in sheet.billers:
        if biller.category not in codes:
            raise InvalidCatalogue(f"{biller.name}: there is no category {biller.category}")
        try:
            compiled(biller.pattern)
        except re.error:
            raise InvalidCatalogue(f"{biller.name}: its pattern of references cannot be read") from None
    if len({item.paycode for item in sheet.items}) != len(sheet.items):
        raise InvalidCatalogue("two items have the same paycode")
    for item in sheet.items:
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
    """The key of an item's row. The catalogue is no merchant's: 0 stands in its place."""
    return row_key(0, "bill_item", paycode)


# --- the catalogue in memory ----------------------------------------------------------------------------------


class ItemTerms(msgspec.Struct, frozen=True):
    """What an item asks of whoever pays it: a reference of its biller's form, and its `price`, or, where that is 0, an
    amount within its biller's bounds."""

    name: str
    biller: str
    pattern: str
    price: int
    least: int | None
    most: int | None


class CatalogueItem(msgspec.Struct, frozen=True):
    """An item with its biller; `retired_at` where a newer paycode took its place."""

    item: Item
    biller: Biller
    retired_at: datetime | None = None

    @property
    def terms(self) -> ItemTerms:
        item, biller = self.item, self.biller
        return ItemTerms(item.name, biller.name, biller.pattern, minor_of(item.amount), biller.least, biller.most)


class Catalogue:
    """One edition as it is served. `prepared` keeps the replies already made of it, by category and biller: they are
    the same for everybody until the next edition."""

    def __init__(self, edition: int, sheet: CatalogueEdition, retired: tuple[CatalogueItem, ...] = ()) -> None:
        self.edition_number = edition
        self.contents = sheet
        self.billers = {biller.id: biller for biller in sheet.billers}
        self.encoded_replies: dict[tuple[str | None, int | None], PreencodedReply] = {}
        current = [CatalogueItem(item, self.billers[item.bills_id]) for item in sheet.items]
        self._by_paycode = {listed.item.paycode: listed for listed in (*retired, *current)}

    def find(self, paycode: str, wall: datetime) -> CatalogueItem | None:
        listed = self._by_paycode.get(paycode)
        if listed is None or listed.retired_at is None:
            return listed
        return listed if wall < listed.retired_at + PAYCODE_LIFE else None


# --- customer references ----------------------------------------------------------------------------------------

# Told by the value sent, in the test environment (sandbox.md): zeros and two figures, or a magic phone.
MAGIC_REFERENCE = re.compile(r"0{6,}[0-9]{2}", re.ASCII)
MAGIC_PHONE = re.compile(r"(?:080000000|02400000|07000000)[0-9]{2}", re.ASCII)


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def is_magic(reference: str) -> bool:
    return bool(MAGIC_REFERENCE.fullmatch(reference) or MAGIC_PHONE.fullmatch(reference))


def may_be_customer(merchant: Merchant, pattern: str, reference: str) -> bool:
    """Whether a biller's customers are known by references of this form. Which network a number belongs to is not
    asked: numbers are ported."""
    if merchant.environment == "test" and is_magic(reference):
        return True
    return compiled(pattern).fullmatch(reference) is not None
