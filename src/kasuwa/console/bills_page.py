"""Paying a bill: from the catalogue's categories to a biller, to what it sells, to the customer's name, and only then
the payment."""

from typing import Any

from starlette.responses import Response

from kasuwa.console.access import MOVES_MONEY
from kasuwa.console.events import number
from kasuwa.console.record_table import BILLS
from kasuwa.console.records import make
from kasuwa.console.transfers import new_reference
from kasuwa.console.visit import Visit

CODE_LENGTH = 40


async def show_bills(visit: Visit, status: int = 200, **told: Any) -> Response:
    """One step at a time, each in the address: category, biller, item."""
    category, biller = visit.query.get("category", "")[:CODE_LENGTH], number(visit.query.get("biller", ""), 0)
    narrowed: dict[str, Any] = {"bills_id": biller} if biller else {"category": category} if category else {}
    pulled = (await visit.act("bills", action="pull", **narrowed)).body.get("data", {})
    chosen = visit.query.get("item", "")[:CODE_LENGTH]
    items = pulled.get("items", []) if biller else []
    shared: dict[str, Any] = {
        "kind": BILLS,
        "categories": (await visit.act("bills", action="pull")).body.get("data", {}).get("categories", []),
        "category": category,
        "billers": pulled.get("bills", []) if category or biller else [],
        "biller": biller,
        "items": items,
        "item": next((item for item in items if item["paycode"] == chosen), None),
        "order_ref": new_reference("console"),
        "may_pay": visit.user.role in MOVES_MONEY,
        "said": {},
        "name": "",
    }
    return visit.show("bills.html", status, **{**shared, **told})


async def pay_bill(visit: Visit) -> Response:
    """Asked first who the customer is; the second time it is paid."""
    said = {name: visit.said(name) for name in ("paycode", "reference", "amount", "orderRef")}
    if visit.said("confirmed"):
        return await make(BILLS, visit)
    resolved = await visit.act("bills", action="resolve", paycode=said["paycode"], reference=said["reference"])
    if not resolved.is_good:
        return await show_bills(visit, 422, faults=resolved.faults, said=said)
    return visit.show(
        "bill_preview.html", said=said, name=resolved.body.get("custName", ""), back=visit.request.url.query
    )
