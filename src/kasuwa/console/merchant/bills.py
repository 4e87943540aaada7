"""The bills page: choose category, biller and item from the catalogue, check the customer's name, then pay."""

from typing import Any

from starlette.responses import Response

from kasuwa.authority.roles import CAN_MOVE_MONEY
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.transfers import new_reference
from kasuwa.console.records.record_pages import create_record, read_list
from kasuwa.console.records.table import BILLS

MAX_CODE_LENGTH = 40


async def show_bills(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Shows the catalogue as far as the query has narrowed it down: category, biller, item; and the bills that were
    paid."""
    category, biller = visit.query.get("category", "")[:MAX_CODE_LENGTH], parse_int(visit.query.get("biller", ""), 0)
    selection: dict[str, Any] = {"bills_id": biller} if biller else {"category": category} if category else {}
    catalogue = (await visit.call_action("bills", action="pull", **selection)).body.get("data", {})
    paycode = visit.query.get("item", "")[:MAX_CODE_LENGTH]
    items = catalogue.get("items", []) if biller else []
    async with visit.snapshot() as reader:
        paid = await read_list(BILLS, visit, reader)
    shared: dict[str, Any] = {
        **paid,
        "categories": (await visit.call_action("bills", action="pull")).body.get("data", {}).get("categories", []),
        "category": category,
        "billers": catalogue.get("bills", []) if category or biller else [],
        "biller": biller,
        "items": items,
        "item": next((item for item in items if item["paycode"] == paycode), None),
        "order_ref": new_reference("console"),
        "can_pay": visit.user.role in CAN_MOVE_MONEY,
        "submitted": {},
    }
    return visit.render("bills.html", status, **{**shared, **values})


async def pay_bill(visit: Visit) -> Response:
    """Shows the customer's name for confirmation, and pays once the form comes back confirmed."""
    submitted = {name: visit.form_text(name) for name in ("paycode", "reference", "orderRef")}
    submitted["amount"] = visit.form_amount("amount")
    if visit.form_text("confirmed"):
        return await create_record(BILLS, visit)
    resolved = await visit.call_action(
        "bills", action="resolve", paycode=submitted["paycode"], reference=submitted["reference"]
    )
    if not resolved.is_success:
        return await show_bills(visit, 422, faults=resolved.faults, submitted=submitted)
    return visit.render(
        "bill_preview.html",
        submitted=submitted,
        name=resolved.body.get("custName", ""),
        query=visit.request.url.query,
    )
