"""The sheet of a group's meeting: what each member is to pay, to be printed, and the form for what was paid.

The figures are those of the API (`loans` actions `collection_sheet` and `collect`). Contract: loans#collect
"""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import csv_response
from kasuwa.console.kit.people import read_names
from kasuwa.console.kit.values import remove_separators
from kasuwa.console.kit.visit import ActionReply, NotFound, Visit

# Beginning of the names of the form's amounts, before the id of their loan.
AMOUNT_FIELD = "amount-"
COLUMNS = ("client", "client_id", "loan_id", "arrears", "installment", "due", "collected", "outstanding")
FIGURES = COLUMNS[3:]


async def read_sheet(visit: Visit) -> ActionReply:
    """Returns the sheet that the path and the query name. Raises NotFound for an unknown group."""
    day = visit.query.get("date", "")
    request = {"action": "collection_sheet", "group_id": visit.path_parameter("reference")}
    reply = await visit.call_action("loans", **request, **({"date": day} if day else {}))
    if reply.body.get("code") == "group_not_found":
        raise NotFound
    return reply


async def show_sheet(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        reply = await read_sheet(visit)
        sheet = reply.body["data"] if reply.is_success else None
        names = await read_names(visit, reader, sheet["lines"]) if sheet else {}
    shared: dict[str, Any] = {
        "sheet": sheet,
        "names": names,
        "reference": visit.path_parameter("reference"),
        "day": visit.query.get("date", ""),
        "faults": reply.faults,
        "submitted": {},
        "can_collect": may_collect(visit),
    }
    return visit.render("meeting.html", status if reply.is_success else 422, **{**shared, **values})


def may_collect(visit: Visit) -> bool:
    action = visit.services.find_action("loans", {"action": "collect"})
    return action is not None and visit.is_allowed("loans", action)


async def export_sheet(visit: Visit) -> Response:
    """Returns the sheet as CSV. An invalid day leads to the page."""
    async with visit.snapshot() as reader:
        reply = await read_sheet(visit)
        sheet = reply.body["data"] if reply.is_success else None
        names = await read_names(visit, reader, sheet["lines"]) if sheet else {}
    if sheet is None:
        return visit.redirect(f"/groups/{quote(visit.path_parameter('reference'), safe='')}/sheet")
    return csv_response(visit, f"meeting-{sheet['group_id']}-{sheet['date']}", stream_csv(sheet, names))


async def stream_csv(sheet: dict[str, Any], names: dict[str, str]) -> AsyncIterator[str]:
    yield csv_line(COLUMNS)
    for line in sheet["lines"]:
        yield csv_line(
            (names.get(line["client_id"], ""), line["client_id"], line["loan_id"], *(line[name] for name in FIGURES))
        )
    yield csv_line(("all", "", "", *(sheet["totals"][name] for name in FIGURES)))


async def record_meeting(visit: Visit) -> Response:
    """Records the amounts of the form. Empty ones are left out."""
    amounts = [
        {"loan_id": name.removeprefix(AMOUNT_FIELD), "amount": remove_separators(text.strip())}
        for name, text in visit.form.items()
        if name.startswith(AMOUNT_FIELD) and isinstance(text, str) and text.strip()
    ]
    group_id = visit.path_parameter("reference")
    reply = await visit.run_action("loans", {"action": "collect", "group_id": group_id, "amounts": amounts}, "collect")
    if reply.is_success:
        day = visit.query.get("date", "")
        shown = f"/groups/{quote(group_id, safe='')}/sheet{f'?date={quote(day)}' if day else ''}"
        return visit.redirect(shown, f"{reply.body['amount']} was recorded.")
    faults = {"": "; ".join(f"{name}: {reason}" if name else reason for name, reason in reply.faults.items())}
    return await show_sheet(visit, 422, faults=faults, submitted=dict(visit.form))
