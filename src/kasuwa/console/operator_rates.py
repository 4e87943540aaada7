"""What the operator pays and asks for other currencies: the rates in force, and all that were before."""

from starlette.responses import Response

from kasuwa.console.access import CAN_KEEP_BOOKS
from kasuwa.console.events import MAX_SEQUENCE, parse_int
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import Visit
from kasuwa.core.exchange_rates import FOREIGN, HOME
from kasuwa.db import rates


async def show_rates(visit: Visit) -> Response:
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as connection:
        in_force = await rates.read_current_rates(connection)
        lines = await rates.list_rates(connection, PAGE_ROWS + 1, before)
    shown = lines[:PAGE_ROWS]
    return visit.render(
        "operator_rates.html",
        home=HOME,
        foreign=[(currency, in_force.get(currency)) for currency in FOREIGN],
        lines=shown,
        in_force={line.rate_id for line in in_force.values()},
        more=f"/operator/rates?before={shown[-1].rate_id}" if len(lines) > PAGE_ROWS else "",
        newest="/operator/rates" if before != MAX_SEQUENCE else "",
        may_propose=visit.user.role in CAN_KEEP_BOOKS,
    )
