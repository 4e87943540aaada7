"""The operator's page of rails: which rails serve which purpose, their health, our balances, and their open orders.

Also the rails of one merchant, which an operator sets on the merchant's page.
"""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.authority.acts import RAILS
from kasuwa.console.kit.visit import Visit
from kasuwa.console.operator.home import sum_by_rail
from kasuwa.console.operator.merchants import find_merchant_in_path, show_merchant
from kasuwa.console.operator.rail_calls import group_calls
from kasuwa.console.operator.settings import change_or_propose
from kasuwa.core.calendar import lagos_day
from kasuwa.projections.daily_totals import read_totals_of_all
from kasuwa.rails.watch import records
from kasuwa.rails.watch.call_timings import list_timings
from kasuwa.rails.watch.records import RailBalance, RailHealth

SHOWN_ERRORS = 5
SHOWN_BANKS = 20
# The time whose calls, and whose orders, are counted.
CALLS_OF, ORDERS_OF = timedelta(hours=24), timedelta(days=1)


class ShownError(msgspec.Struct, frozen=True):
    """A failed call, with its time as pages show it."""

    at: datetime
    call: str
    outcome: str


class RailSummary(msgspec.Struct, kw_only=True):
    """A vendor over all processes."""

    name: str
    purposes: list[str]
    balances: list[RailBalance]
    is_configured: bool = True
    is_watched: bool = False  # a process has published its state within the last minute
    is_paused: bool = False
    held_seconds: int = 0
    in_flight: int = 0
    open_orders: int = 0
    movable_orders: int = 0
    success_rate: str = "–"  # of the orders that ended today and yesterday
    p95: int | None = None  # milliseconds in which 95 of 100 calls of a day were answered
    errors: list[ShownError] = []
    unmapped_banks: list[str] | None = None

    @property
    def state(self) -> str:
        if not self.is_configured:
            return "not configured"
        if self.name == "sandbox":
            return "active"
        if not self.is_watched:
            return "unknown"
        return "paused" if self.is_paused else "held" if self.held_seconds else "active"


async def show_rails(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        health = await records.list_health(reader)
        balances = await records.list_balances(reader)
        orders = await records.count_open_orders(reader)
        now = datetime.now(UTC)
        calls = group_calls(await list_timings(reader, now - CALLS_OF, now), lambda count: count.rail)
        today = lagos_day(now)
        totals = await read_totals_of_all(reader, today - ORDERS_OF, today)
    outcomes = {figures.name: figures for figures in sum_by_rail(totals, set())}
    purposes = defaultdict(list)
    for purpose in visit.services.rail_purposes:
        for name in purpose.configured:
            purposes[name].append(purpose.name)
    names = dict.fromkeys([*purposes, *(row.rail for row in orders)])
    summaries = [
        RailSummary(
            name=name,
            purposes=purposes.get(name, []),
            balances=[row for row in balances if row.rail == name],
            is_configured=name in purposes,
            open_orders=sum(row.count for row in orders if row.rail == name),
            movable_orders=sum(row.movable for row in orders if row.rail == name),
            success_rate=outcomes[name].success_rate if name in outcomes else "–",
            p95=calls[name].p95 if name in calls else None,
            **describe_health([row for row in health if row.rail == name]),
        )
        for name in names
    ]
    return visit.render(
        "operator_rails.html", rails=summaries, purposes=visit.services.rail_purposes, shown_banks=SHOWN_BANKS
    )


def describe_health(rows: list[RailHealth]) -> dict[str, Any]:
    """Returns the fields of a summary that the processes publish: the worst state, and the sum of calls."""
    if not rows:
        return {}
    errors = {(error.at, error.call, error.outcome) for row in rows for error in row.errors}
    newest = sorted(errors, reverse=True)[:SHOWN_ERRORS]
    return {
        "is_watched": True,
        "is_paused": any(row.is_paused for row in rows),
        "held_seconds": int(max(row.held_seconds for row in rows)),
        "in_flight": sum(row.in_flight for row in rows),
        "errors": [ShownError(datetime.fromtimestamp(at, UTC), call, outcome) for at, call, outcome in newest],
        "unmapped_banks": next((row.unmapped_banks for row in rows if row.unmapped_banks is not None), None),
    }


async def set_merchant_rails(visit: Visit) -> Response:
    """Saves the rails of a merchant's own, by purpose. An empty field follows the settings of the deployment."""
    summary = await find_merchant_in_path(visit, visit.reader)
    entered = {p.name: visit.form_text(f"rails-{p.name}") for p in visit.services.rail_purposes}
    rails = {
        purpose: [name.strip() for name in text.split(",") if name.strip()]
        for purpose, text in entered.items()
        if text.strip(" ,")
    }
    faults = visit.services.find_rail_faults(rails)
    if faults:
        return await show_merchant(visit, 422, faults={"": f"Rails: {'; '.join(faults)}"}, rails=entered)
    return await change_or_propose(visit, summary, RAILS, "changed rails", "Rails saved.", rails=rails)
