"""What a form needs beside its action: people entered by name, and the total of an invoice that is not made yet.

All of it works by posting the form. The script of the console only posts it earlier (console.js).
"""

import re
from collections.abc import Mapping
from typing import Any

from kasuwa.console.kit.forms import ActionForm
from kasuwa.console.kit.visit import Visit
from kasuwa.core.money import format_grouped
from kasuwa.methods.customers.model import ID_PREFIX
from kasuwa.methods.invoices.rules.check_invoice import compute_request_amounts
from kasuwa.methods.invoices.wire import InvoiceRequest

# Names the button that shows the preview of a form instead of sending it.
PREVIEW_FIELD = "preview"
# Customers that are named if several have a name.
MAX_NAMED = 5
CUSTOMER_ID = re.compile(rf"{ID_PREFIX}[0-9A-Za-z]+", re.ASCII)
NOT_YET = "The total cannot be worked out yet: each item needs a description and a price, and amounts are numbers."


async def resolve_people(visit: Visit, form: ActionForm, request: dict[str, Any]) -> dict[str, str]:
    """Puts the ids of customers into a request in place of their names or email addresses. Returns error texts by
    field: of names that nobody or several people have."""
    faults = {}
    for field in form.fields:
        text = request.get(field.name)
        if field.people != "customers" or not isinstance(text, str) or CUSTOMER_ID.fullmatch(text):
            continue
        reply = await visit.call_action("resources", inquire="customer", search=text, limit=MAX_NAMED + 1)
        rows = reply.body["data"] if reply.is_success else []
        if len(rows) == 1:
            request[field.name] = rows[0]["customer_id"]
        elif rows:
            named = "; ".join(f"{row['name']}, {row['email'] or row['phone']}" for row in rows[:MAX_NAMED])
            faults[field.name] = f"several customers have this name, enter the email address or number: {named}"
        else:
            faults[field.name] = "no customer has this name, email address, number or id: add the customer first"
    return faults


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
