"""What a form needs beside its action: people and loan products entered by name, also in filters of lists, and the
total of an invoice that is not made yet.

All of it works by posting the form. The script of the console only posts it earlier (console.js).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kasuwa.console.kit.forms import FormField, split_words
from kasuwa.console.kit.people import client_filter, find_records
from kasuwa.console.kit.visit import Visit
from kasuwa.core.money import format_grouped
from kasuwa.core.reading import Reader
from kasuwa.core.references import is_opaque_id
from kasuwa.methods.clients.model import ID_PREFIX as CLIENT_ID_PREFIX
from kasuwa.methods.customers.model import ID_PREFIX as CUSTOMER_ID_PREFIX
from kasuwa.methods.invoices.rules.check_invoice import compute_request_amounts
from kasuwa.methods.invoices.wire import InvoiceRequest
from kasuwa.methods.loan_products.model import PRODUCT_PREFIX, make_product_id

# Names the button that shows the preview of a form instead of sending it.
PREVIEW_FIELD = "preview"
# Products among which one is found by its name: the longest page of the API. All are found by their code.
MAX_PRODUCTS = 200
# People that are named if several have a name.
MAX_NAMED = 5
# References in one field. Each is looked for in the database, before the action checks how many it takes.
MAX_WORDS = 50
ID_PREFIXES = {"customers": CUSTOMER_ID_PREFIX, "clients": CLIENT_ID_PREFIX, "loan-products": PRODUCT_PREFIX}
NAME_IS_NOT_ENOUGH = "others may have this name: choose one of the list, or enter the email address, number or id"
NOT_YET = "The total cannot be worked out yet: each item needs a description and a price, and amounts are numbers."


async def resolve_references(
    visit: Visit, reader: Reader, fields: Iterable[FormField], texts: dict[str, Any], *, is_filter: bool = False
) -> dict[str, str]:
    """Puts the ids of customers, clients and loan products in place of their names, telephone numbers, email addresses
    and codes, in texts by field. Returns error texts by field: of names that nothing or several things have.

    A client is found by parts of the name, and some seconds after enrolment. That serves a filter: a form, which may
    move money, takes no name of a client or product."""
    faults = {}
    for field in fields:
        text = texts.get(field.name)
        if not field.refers_to or not isinstance(text, str) or not text:
            continue
        references: list[str] = []
        wrong: list[str] = []
        words = split_words(text) if field.value_type == "words" else [text]
        if len(words) > MAX_WORDS:
            faults[field.name] = f"names {len(words)}: at most {MAX_WORDS} are taken at a time"
            continue
        for word in words:
            reference, fault = await resolve_reference(visit, reader, field.refers_to, word, is_filter=is_filter)
            references.append(reference)
            wrong += [f"{word}: {fault}" if field.value_type == "words" else fault] if fault else []
        texts[field.name] = " ".join(references)
        if wrong:
            faults[field.name] = "; ".join(wrong[:MAX_NAMED])
    return faults


async def resolve_reference(visit: Visit, reader: Reader, kind: str, text: str, *, is_filter: bool) -> tuple[str, str]:
    """Returns the id that a text stands for, or the text with what is wrong with it."""
    if is_opaque_id(ID_PREFIXES[kind], text):
        return text, ""
    if kind == "loan-products":
        return await resolve_product(visit, text, by_name=is_filter)
    if kind == "clients" and not is_filter and not client_filter(text):
        return text, NAME_IS_NOT_ENOUGH
    people = await FINDERS[kind](visit, reader, text)
    person = kind.removesuffix("s")
    if len(people) == 1:
        [reference] = people
        return reference, ""
    if people:
        named = "; ".join(list(people.values())[:MAX_NAMED])
        return text, f"several {kind} have this name, enter the email address or number: {named}"
    return text, f"no {person} has this name, email address, number or id: add the {person} first"


async def resolve_product(visit: Visit, text: str, *, by_name: bool) -> tuple[str, str]:
    """Returns the id of the loan product with this code, or of the one of this whole name, or the text with what is
    wrong with it."""
    product_id = make_product_id(visit.merchant.merchant_id, text)
    if (await visit.call_action("loans", action="view_product", product_id=product_id)).is_success:
        return product_id, ""
    if not by_name:
        return text, "no product has this code or id: choose one of the list"
    reply = await visit.call_action("loans", action="list_products", limit=MAX_PRODUCTS)
    rows = reply.body["data"] if reply.is_success else []
    named = [row for row in rows if row["name"].casefold() == text.casefold()]
    if len(named) == 1:
        return str(named[0]["product_id"]), ""
    if named:
        return text, f"several products have this name, enter the code: {', '.join(row['code'] for row in named)}"
    return text, "no product has this name, code or id"


async def find_customers(visit: Visit, reader: Reader, text: str) -> dict[str, str]:
    """Returns the ids of customers whom a text names, with their names and addresses."""
    reply = await visit.call_action("resources", inquire="customer", search=text, limit=MAX_NAMED + 1)
    rows = reply.body["data"] if reply.is_success else []
    return {row["customer_id"]: f"{row['name']}, {row['email'] or row['phone']}" for row in rows}


async def find_clients(visit: Visit, reader: Reader, text: str) -> dict[str, str]:
    """Returns the ids of clients whom a text names, with their names and addresses: by whole words of the name, and by
    the whole email address or telephone number."""
    exact = client_filter(text)
    if exact:
        reply = await visit.call_action("clients", action="list", limit=MAX_NAMED + 1, **exact)
        return {row["client_id"]: row["client_id"] for row in (reply.body["data"] if reply.is_success else [])}
    records = await find_records(visit, reader, text, ())
    return {
        one.reference: ", ".join(filter(None, (one.text.name, one.text.email)))
        for one in records
        if one.kind == "client"
    }


FINDERS = {"customers": find_customers, "clients": find_clients}


async def preview_invoice(visit: Visit, method: str, request: Mapping[str, Any]) -> str:
    """Returns what an invoice would amount to."""
    placed = {"customer_id": "-", **request}
    selected = await visit.services.read_request(visit.merchant, method, placed)
    decoded = None if selected is None else selected[1]
    if not isinstance(decoded, InvoiceRequest):
        return NOT_YET
    amounts, currency = compute_request_amounts(decoded), decoded.currency or "NGN"
    if min(amounts.total, amounts.subtotal - amounts.discount) < 0:
        return "The discount is more than the items."
    parts = [
        f"Items {format_grouped(amounts.subtotal)}",
        *([f"discount {format_grouped(amounts.discount)}"] if amounts.discount else []),
        *([f"VAT {format_grouped(amounts.vat)}"] if amounts.vat else []),
        *([f"shipping {format_grouped(amounts.shipping)}"] if amounts.shipping else []),
    ]
    return f"Total {currency} {format_grouped(amounts.total)}. {', '.join(parts)}."


PREVIEWS = {"invoice": preview_invoice}
