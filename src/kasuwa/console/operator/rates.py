"""The operator's page of exchange rates: current rates and history."""

from starlette.responses import Response

from kasuwa.authority.roles import CAN_KEEP_BOOKS
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE, PAGE_ROWS
from kasuwa.merchants import exchange_rates
from kasuwa.terms.conversion import FOREIGN, HOME


async def show_rates(visit: Visit) -> Response:
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as connection:
        current_rates = await exchange_rates.read_current_rates(connection)
        lines = await exchange_rates.list_rates(connection, PAGE_ROWS + 1, before)
    shown = lines[:PAGE_ROWS]
    return visit.render(
        "operator_rates.html",
        home=HOME,
        currencies=[(currency, current_rates.get(currency)) for currency in FOREIGN],
        lines=shown,
        current_rate_ids={line.rate_id for line in current_rates.values()},
        next_url=f"/operator/rates?before={shown[-1].rate_id}" if len(lines) > PAGE_ROWS else "",
        first_url="/operator/rates" if before != MAX_SEQUENCE else "",
        can_propose=visit.user.role in CAN_KEEP_BOOKS,
    )
