"""The catalogue of VTpass: its categories, services and variations as an edition of ours.

A paycode is `<serviceID>/<variation_code>`, and `<serviceID>/` where a service has no variations, so that the product
can be found again from it alone. What cannot be sold by our rules is left out rather than refusing the whole catalogue.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from typing import Any, NamedTuple

from kasuwa.core.money import MINOR_PER_MAJOR, format_minor
from kasuwa.rails.catalogue.catalogue import GIVES_PIN, GIVES_TOKEN, Biller, CatalogueEdition, Category, Item
from kasuwa.rails.ports.orders import UnreadableAnswer

TOPUP = "topup"
PREPAID = "prepaid"
# What a part of a name may consist of, so that a paycode is short and reads back.
CODE = re.compile(r"[A-Za-z0-9 _.+-]{1,48}", re.ASCII)
FIXED_FEE = re.compile(r"(?:N|₦|NGN)?\s*([0-9]+(?:\.[0-9]{1,2})?)", re.ASCII)
PERCENT_FEE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%", re.ASCII)


class Product(NamedTuple):
    """The terms on which the services of a category are sold."""

    label: str  # of the customer reference
    pattern: str
    has_variations: bool
    names_customers: bool
    fulfilment: str


PHONE_PATTERN = r"^0[789][01]\d{8}$"
PRODUCTS = {
    "airtime": Product("Phone number", PHONE_PATTERN, False, False, TOPUP),
    "data": Product("Phone number", PHONE_PATTERN, True, False, TOPUP),
    "tv-subscription": Product("Smartcard number", r"^\d{8,12}$", True, True, TOPUP),
    "electricity-bill": Product("Meter number", r"^\d{6,13}$", True, True, TOPUP),
    "education": Product("Phone number", PHONE_PATTERN, True, False, GIVES_PIN),
}
# Services that differ from their category.
SERVICES = {
    "jamb": Product("Profile code", r"^\d{10}$", True, True, GIVES_PIN),
    "showmax": Product("Phone number", PHONE_PATTERN, True, False, GIVES_PIN),
    "spectranet": Product("Phone number", PHONE_PATTERN, True, False, GIVES_PIN),
    "smile-direct": Product("Account number", r"^\d{6,13}$", True, True, TOPUP),
}

ReadPath = Callable[[str, Mapping[str, str]], Awaitable[dict[str, Any]]]


def make_paycode(service: str, variation: str) -> str:
    return f"{service}/{variation}"


def split_paycode(paycode: str) -> tuple[str, str]:
    service, _, variation = paycode.partition("/")
    return service, variation


async def read_catalogue(read: ReadPath) -> CatalogueEdition:
    """Reads the vendor's lists, one after the other. Raises UnreadableAnswer if any of them is not as documented: the
    edition before then stays."""
    categories, billers, items = [], [], []
    for category in read_list(await read("/service-categories", {}), "content"):
        code = read_text(category, "identifier")
        if code not in PRODUCTS:
            continue
        categories.append(Category(read_text(category, "name"), code))
        for service in read_list(await read("/services", {"identifier": code}), "content"):
            biller, sold = await read_service(read, service, code)
            if sold:
                billers.append(biller)
                items += sold
    return CatalogueEdition(tuple(categories), tuple(billers), tuple(items))


async def read_service(read: ReadPath, service: dict[str, Any], category: str) -> tuple[Biller, list[Item]]:
    slug, name = read_text(service, "serviceID"), read_text(service, "name")
    product = SERVICES.get(slug, PRODUCTS[category])
    biller = Biller(
        id=biller_id(slug),
        name=name,
        reference=product.label,
        category=category,
        slug=slug,
        pattern=product.pattern,
        least=read_amount(service.get("minimium_amount")),
        most=read_amount(service.get("maximum_amount")),
        amount_step=MINOR_PER_MAJOR,
    )
    fee = read_fee(service.get("convinience_fee"))
    if fee is None or CODE.fullmatch(slug) is None:
        return biller, []
    if not product.has_variations:
        items = [make_item(biller, product, name, "", 0, fee)]
    else:
        listed = read_variations(await read("/service-variations", {"serviceID": slug}))
        items = [item for variation in listed if (item := read_variation(biller, product, variation, fee)) is not None]
    return biller, [item for item in items if item.amount != "0" or (biller.least and biller.most)]


def read_variations(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the variations of a service. The vendor spells their name in two ways."""
    content = body.get("content")
    if not isinstance(content, dict):
        raise UnreadableAnswer("the variations have another form than documented")
    return read_list(content, "variations" if "variations" in content else "varations")


def read_variation(biller: Biller, product: Product, variation: dict[str, Any], fee: int) -> Item | None:
    """Returns the item of a variation, or None if it cannot be sold: a price in kobo, or a code that is too long."""
    code = read_text(variation, "variation_code")
    is_fixed = str(variation.get("fixedPrice", "")).lower() == "yes"
    price = read_amount(variation.get("variation_amount")) if is_fixed else 0
    if price is None or price % MINOR_PER_MAJOR or (is_fixed and not price) or CODE.fullmatch(code) is None:
        return None
    return make_item(biller, product, read_text(variation, "name"), code, price, fee)


def make_item(biller: Biller, product: Product, name: str, variation: str, price: int, fee: int) -> Item:
    is_prepaid = biller.category == "electricity-bill" and variation == PREPAID
    return Item(
        name=name,
        bills_id=biller.id,
        amount=format_minor(price) if price else "0",
        discount="0",
        fee=fee,
        paycode=make_paycode(biller.slug, variation),
        require_name_query=product.names_customers,
        fulfilment=GIVES_TOKEN if is_prepaid else product.fulfilment,
    )


def biller_id(slug: str) -> int:
    """Returns a number that is the same in every edition: the vendor has none."""
    return int.from_bytes(blake2b(slug.encode(), digest_size=4, person=b"vtpass").digest(), "big") % (2**31 - 1) + 1


def read_amount(value: Any) -> int | None:
    """Returns an amount in kobo, of a number or a text in naira. None for anything else."""
    try:
        amount = Decimal(str(value).replace(",", "")) * MINOR_PER_MAJOR
        whole = int(amount)
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return whole if amount == whole and 0 <= whole < 10**15 else None


def read_fee(value: Any) -> int | None:
    """Returns a convenience fee in kobo. None for a percentage above zero, which our items cannot express."""
    text = "0" if value is None else str(value).strip()
    percent = PERCENT_FEE.fullmatch(text)
    if percent:
        return 0 if not Decimal(percent[1]) else None
    fixed = FIXED_FEE.fullmatch(text)
    return read_amount(fixed[1]) if fixed else None


def read_list(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    items = body.get(name)
    if not isinstance(items, list) or not all(isinstance(row, dict) for row in items):
        raise UnreadableAnswer(f"the list {name} has another form than documented")
    return items


def read_text(row: Mapping[str, Any], name: str) -> str:
    text = row.get(name)
    if not isinstance(text, str) or not text.strip():
        raise UnreadableAnswer(f"{name} is missing in the catalogue")
    return text.strip()
