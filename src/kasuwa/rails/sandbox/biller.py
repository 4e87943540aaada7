"""The biller rail of the test environment. It sells the items of data/billers.json. The customer reference, the
scenario and the age of an order determine its answer.

It keeps no state. A magic reference (zeros, then RR) or phone number holds the response code. Tokens and PINs are
derived from the order's key, so a query returns the same ones. Every edition of the catalogue after the first has new
paycodes, derived from those of the first. (data/magic_values.md)
"""

from base64 import b32encode
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from typing import Any

import msgspec

from kasuwa.core.money import convert_to_minor
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.references import reference_of_rail_key
from kasuwa.rails.catalogue.catalogue import (
    GIVES_PIN,
    GIVES_TOKEN,
    MAGIC_PHONE,
    Biller,
    CatalogueEdition,
    Category,
    Item,
    is_magic,
)
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, BillOrder, CustomerAnswer, CustomerQuery, NoAnswer, Unavailable
from kasuwa.rails.sandbox.bank import (
    APPROVED,
    FAIL_ON_REQUERY,
    FIRST_REQUERY_SECONDS,
    IN_PROGRESS,
    LOOKUP_UNAVAILABLE_CODES,
    NEVER_ENDS,
    RECORD_NOT_FOUND,
    SUCCEED_ON_REQUERY,
    person_name,
    raise_for_code,
    raise_scenario_fault,
    response_codes,
)

DELIVERED = frozenset({"00", "01", "08"})
UNKNOWN_CUSTOMER = "07"
NAME_MISMATCH = "08"
FAILS_LATER = "06"
UNREACHABLE = frozenset({"30", "91"})
TIMED_OUT = "68"
LOOKUP_TIMEOUT_CODES = frozenset({"68", "97"})

MEANINGS = {
    "06": "Could not deliver",
    "07": "Unknown customer",
    "09": "Delivery in progress",
    "13": "Below the minimum amount",
    "16": "Refused",
    "17": "Cancelled by the customer",
    "30": "Not reachable",
    "51": "The customer's balance is insufficient",
    "91": "Operator not reachable",
}

# The price of a kilowatt-hour for prepaid meters of the sandbox, in kobo.
KOBO_PER_UNIT = 20_925
TOKEN_DIGITS = 20
PIN_DIGITS = 12
PAYCODE_LENGTH = 15
# Printed in the documentation of public clients, so it is valid in every edition.
SAMPLE_PAYCODES = frozenset({"lAApm6OBmRmp3cQ"})


# --- the catalogue --------------------------------------------------------------------------------------------


@cache
def first_edition() -> CatalogueEdition:
    listed, terms = load_reference_data("billers")["data"], load_reference_data("billers_meta")
    return CatalogueEdition(
        tuple(Category(row["name"], row["code"]) for row in listed["categories"]),
        tuple(read_biller(row, terms[str(row["id"])]) for row in listed["bills"]),
        tuple(read_item(row, terms[str(row["bills_id"])]) for row in listed["items"]),
    )


def read_biller(row: Any, terms: Any) -> Biller:
    least, most = (
        None if limit is None else convert_to_minor(str(limit)) for limit in (terms["min_amount"], terms["max_amount"])
    )
    pattern = terms["reference_regex"]
    return Biller(row["id"], row["name"], row["reference"], row["category"], terms["slug"], pattern, least, most)


def read_item(row: Any, terms: Any) -> Item:
    return Item(
        name=row["name"],
        bills_id=row["bills_id"],
        amount=row["amount"],
        discount=str(row["discount"]),
        fee=convert_to_minor(str(row["fee"])),
        paycode=row["paycode"],
        require_name_query=bool(row["require_name_query"]),
        fulfilment=terms.get("item_fulfilment", {}).get(row["paycode"], terms["fulfilment"]),
    )


def rotate_paycode(item: Item, edition: int) -> Item:
    if edition == 1 or item.paycode in SAMPLE_PAYCODES:
        return item
    noise = blake2b(f"{edition} {item.paycode}".encode(), digest_size=20, person=b"paycode").digest()
    return msgspec.structs.replace(item, paycode=b32encode(noise).decode()[:PAYCODE_LENGTH])


# --- the answers --------------------------------------------------------------------------------------------


def choose_response_code(order: BillOrder | CustomerQuery) -> str:
    if order.scenario.rr is not None:
        return order.scenario.rr
    return order.reference[-2:] if is_magic(order.reference) else APPROVED


def is_silent_phone(order: BillOrder) -> bool:
    """Tells whether the order is never found: the magic phone that times out. Other timeouts end at a re-query."""
    return (
        order.scenario.rr is None and order.reference[-2:] == TIMED_OUT and bool(MAGIC_PHONE.fullmatch(order.reference))
    )


def answer_send(order: BillOrder) -> Answer:
    code = choose_response_code(order)
    if order.scenario.delay > 0 or code in (IN_PROGRESS, FAILS_LATER, NEVER_ENDS):
        return in_progress()
    if code in UNREACHABLE and order.age_seconds < FIRST_REQUERY_SECONDS:
        raise Unavailable(get_meaning(code))
    if code == TIMED_OUT:
        raise NoAnswer("the biller rail: timeout")
    return answer_for_code(code, order)


def answer_query(order: BillOrder) -> Answer:
    """Returns the rail's answer to a query for the outcome of an order."""
    code = choose_response_code(order)
    if order.scenario.http == "reset" or code == RECORD_NOT_FOUND or is_silent_phone(order):
        return Answer(orders.NOT_FOUND, RECORD_NOT_FOUND, "No such order")
    if code == NEVER_ENDS or order.age_seconds < max(order.scenario.delay, FIRST_REQUERY_SECONDS):
        return in_progress()
    if code in SUCCEED_ON_REQUERY:
        return delivered(order)
    if code in FAIL_ON_REQUERY:
        return failed(code)
    return answer_for_code(code, order)


def answer_for_code(code: str, order: BillOrder) -> Answer:
    if code in DELIVERED:
        return delivered(order)
    if code in MEANINGS:
        return failed(code)
    row = response_codes().get(code)
    if row is None:
        return Answer(orders.UNREADABLE, code, "The biller's answer could not be read")
    return Answer(orders.UNKNOWN, code, row.meaning) if row.handling != "final" else failed(code)


def in_progress() -> Answer:
    return Answer(orders.UNKNOWN, IN_PROGRESS, MEANINGS[IN_PROGRESS])


def failed(code: str) -> Answer:
    return Answer(orders.FAILED, code, get_meaning(code))


def get_meaning(code: str) -> str:
    return MEANINGS.get(code) or response_codes()[code].meaning


def delivered(order: BillOrder) -> Answer:
    return Answer(orders.SUCCESSFUL, APPROVED, "Delivered", make_fulfillment(order))


def make_fulfillment(order: BillOrder) -> dict[str, str]:
    """Returns the token or PIN that an order delivers. It is the same for every call."""
    if order.fulfillment == GIVES_TOKEN:
        hundredths = order.amount * 100 // KOBO_PER_UNIT
        return {"token": digits(order, TOKEN_DIGITS), "units": f"{hundredths // 100}.{hundredths % 100:02d}"}
    return {"pin": digits(order, PIN_DIGITS)} if order.fulfillment == GIVES_PIN else {}


def digits(order: BillOrder, count: int) -> str:
    seed = f"{order.biller} {order.reference} {reference_of_rail_key(order.key)}"
    noise = blake2b(seed.encode(), person=b"goods").digest()
    return str(int.from_bytes(noise, "big"))[-count:]


class SandboxBiller:
    async def fetch_catalogue(self, edition: int) -> CatalogueEdition:
        first = first_edition()
        return msgspec.structs.replace(first, items=tuple(rotate_paycode(item, edition) for item in first.items))

    async def find_customer(self, query: CustomerQuery) -> CustomerAnswer:
        http, code = query.scenario.http, choose_response_code(query)
        if http == "timeout" or (http is None and code in LOOKUP_TIMEOUT_CODES):
            raise NoAnswer("the biller rail: timeout")
        if http is not None or code in UNREACHABLE | LOOKUP_UNAVAILABLE_CODES:
            raise Unavailable("the biller does not answer")
        if code == UNKNOWN_CUSTOMER:
            return CustomerAnswer(None)
        if query.scenario.rr is not None and code not in DELIVERED:
            raise_for_code(code, MEANINGS.get(code))
        if not query.is_name_required:
            return CustomerAnswer("")
        magic = is_magic(query.reference)
        name = f"SANDBOX {code} CUSTOMER" if magic else person_name(query.biller, query.reference)
        return CustomerAnswer(name, is_name_mismatch=code == NAME_MISMATCH)

    async def pay(self, order: BillOrder) -> Answer:
        raise_scenario_fault(order, "biller rail")
        return answer_send(order)

    async def query(self, order: BillOrder) -> Answer:
        return answer_query(order)

    async def reprint(self, order: BillOrder) -> Mapping[str, str]:
        return make_fulfillment(order)
