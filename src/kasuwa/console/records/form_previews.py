"""What a form needs beside its action: people entered by name, also in filters of lists, and the total of an invoice
that is not made yet.

All of it works by posting the form. The script of the console only posts it earlier (console.js).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kasuwa.console.kit.forms import FormField
from kasuwa.console.kit.people import client_filter, find_records
from kasuwa.console.kit.visit import Visit
from kasuwa.core.money import format_grouped
from kasuwa.core.reading import Reader
from kasuwa.core.references import is_opaque_id
from kasuwa.methods.clients.model import ID_PREFIX as CLIENT_ID_PREFIX
from kasuwa.methods.customers.model import ID_PREFIX as CUSTOMER_ID_PREFIX
from kasuwa.methods.invoices.rules.check_invoice import compute_request_amounts
from kasuwa.methods.invoices.wire import InvoiceRequest

# Names the button that shows the preview of a form instead of sending it.
PREVIEW_FIELD = "preview"
# People that are named if several have a name.
MAX_NAMED = 5
ID_PREFIXES = {"customers": CUSTOMER_ID_PREFIX, "clients": CLIENT_ID_PREFIX}
NAME_IS_NOT_ENOUGH = "others may have this name: choose one of the list, or enter the email address, number or id"
NOT_YET = "The total cannot be worked out yet: each item needs a description and a price, and amounts are numbers."


async def resolve_people(
    visit: Visit, reader: Reader, fields: Iterable[FormField], request: dict[str, Any], *, is_filter: bool = False
) -> dict[str, str]:
    """Puts the ids of customers and clients into a request in place of their names, telephone numbers or email
    addresses. Returns error texts by field: of names that nobody or several people have.

    A client is found by parts of the name, and some seconds after enrolment. That serves a filter: a form, which may
    move money, takes no name of a client."""
    faults = {}
    for field in fields:
        text = request.get(field.name)
        if not field.people or not isinstance(text, str) or is_opaque_id(ID_PREFIXES[field.people], text):
            continue
        if field.people == "clients" and not is_filter and not client_filter(text):
            faults[field.name] = NAME_IS_NOT_ENOUGH
            continue
        people = await FINDERS[field.people](visit, reader, text)
        person = field.people.removesuffix("s")
        if len(people) == 1:
            [request[field.name]] = people
        elif people:
            named = "; ".join(list(people.values())[:MAX_NAMED])
            faults[field.name] = f"several {field.people} have this name, enter the email address or number: {named}"
        else:
            faults[field.name] = f"no {person} has this name, email address, number or id: add the {person} first"
    return faults


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
