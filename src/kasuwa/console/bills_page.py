"""Paying a bill: from the catalogue's categories to a biller, to what it sells, to the customer's name, and only then
the payment."""

from typing import Any

from starlette.responses import Response

from kasuwa.console.access import CAN_MOVE_MONEY
from kasuwa.console.events import parse_int
from kasuwa.console.record_table import BILLS
from kasuwa.console.records import create_record
from kasuwa.console.transfers import new_reference
from kasuwa.console.visit import Visit

MAX_CODE_LENGTH = 40


async def show_bills(visit: Visit, status: int = 200, **values: Any) -> Response:
    """One step at a time, each in the address: category, biller, item."""
    category, biller = visit.query.get("category", "")[:MAX_CODE_LENGTH], parse_int(visit.query.get("biller", ""), 0)
    narrowed: dict[str, Any] = {"bills_id": biller} if biller else {"category": category} if category else {}
    pulled = (await visit.call_action("bills", action="pull", **narrowed)).body.get("data", {})
    chosen = visit.query.get("item", "")[:MAX_CODE_LENGTH]
    items = pulled.get("items", []) if biller else []
    shared: dict[str, Any] = {
        "kind": BILLS,
        "categories": (await visit.call_action("bills", action="pull")).body.get("data", {}).get("categories", []),
        "category": category,
        "billers": pulled.get("bills", []) if category or biller else [],
        "biller": biller,
        "items": items,
        "item": next((item for item in items if item["paycode"] == chosen), None),
        "order_ref": new_reference("console"),
        "may_pay": visit.user.role in CAN_MOVE_MONEY,
        "said": {},
        "name": "",
    }
    return visit.render("bills.html", status, **{**shared, **values})


async def pay_bill(visit: Visit) -> Response:
    """Asked first who the customer is; the second time it is paid."""
    said = {name: visit.form_text(name) for name in ("paycode", "reference", "amount", "orderRef")}
    if visit.form_text("confirmed"):
        return await create_record(BILLS, visit)
    resolved = await visit.call_action("bills", action="resolve", paycode=said["paycode"], reference=said["reference"])
    if not resolved.is_success:
        return await show_bills(visit, 422, faults=resolved.faults, said=said)
    return visit.render(
        "bill_preview.html", said=said, name=resolved.body.get("custName", ""), back=visit.request.url.query
    )
