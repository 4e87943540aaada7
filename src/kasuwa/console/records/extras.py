"""What the pages of some kinds of record show beyond their fields: a client's products, the picture of a schedule.

Each function returns further values for the template `record_<kind>.html`, or `records_<kind>.html` for a list. They
are called while the page's snapshot is open.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from kasuwa.authority.roles import CAN_INTEGRATE
from kasuwa.console.kit.visit import Visit
from kasuwa.console.kit.vocabulary import DECLINE_TEXTS, humanize
from kasuwa.console.merchant.store import read_clock
from kasuwa.console.money.arrivals import read_arriving_money
from kasuwa.console.records.schedule_chart import draw_schedule
from kasuwa.core.calendar import lagos_day
from kasuwa.core.money import parse_minor

# Records of each list on the page of a client.
MAX_PRODUCTS = 20
LATE = "late"
# Newest transactions of a card among which its page looks for declined purchases.
MAX_CARD_TRANSACTIONS = 200


async def read_client_products(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns loans, savings accounts and payments of a client. Payments are found by the client's email address."""
    client_id, email = row["client_id"], row.get("email")
    products: dict[str, Any] = {"loans": [], "savings": [], "payments": []}
    for name, method, action in (("loans", "loans", "list"), ("savings", "investments", "list_savings")):
        if visit.services.has_action(method, action):
            reply = await visit.call_action(method, action=action, client_id=client_id, limit=MAX_PRODUCTS)
            products[name] = reply.body["data"] if reply.is_success else []
    if email:
        reply = await visit.call_action("resources", inquire="transactions", customer=email, limit=MAX_PRODUCTS)
        products["payments"] = reply.body["data"] if reply.is_success else []
    return products


async def read_schedule(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the picture of a loan's schedule and what is in arrears, in minor units."""
    schedule: list[dict[str, str]] = row.get("schedule", [])
    late = [line for line in schedule if line["state"] == LATE]
    arrears = sum((parse_minor(line["total"]) or 0) - (parse_minor(line["paid"]) or 0) for line in late)
    return {"chart": draw_schedule(schedule), "arrears": arrears, "late_count": len(late)}


async def read_declined_purchases(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the declined purchases among the newest transactions of a card, each with the reason in words."""
    reply = await visit.call_action(
        "virtualcard", action="transactions", reference=row["reference"], limit=MAX_CARD_TRANSACTIONS
    )
    lines = reply.body["data"] if reply.is_success else []
    return {
        "declined": [
            {**line, "why": DECLINE_TEXTS.get(line["declineReason"], humanize(line["declineReason"]))}
            for line in lines
            if "declineReason" in line
        ]
    }


async def read_nothing(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    return {}


# By the name of the record kind. Those that only have a template read nothing.
EXTRAS: dict[str, Callable[[Visit, dict[str, Any]], Awaitable[dict[str, Any]]]] = {
    "accounts": read_nothing,
    "cards": read_declined_purchases,
    "clients": read_client_products,
    "disputes": read_nothing,
    "loans": read_schedule,
}


async def read_settlement_events(visit: Visit) -> dict[str, Any]:
    """Returns what arrives, whether daily events of settlements are on, and whether the user may change that."""
    reader = visit.open_snapshot
    assert reader is not None, "the list is read in a snapshot"
    clock = await read_clock(reader, visit.merchant, datetime.now(UTC))
    return {
        "arriving": await read_arriving_money(reader, visit.merchant.merchant_id, lagos_day(clock.now)),
        "settlement_events": (await visit.call_action("resources", inquire="settlement_events")).body["data"],
        "can_change": visit.user.role in CAN_INTEGRATE,
    }


# The same for lists.
LIST_EXTRAS: dict[str, Callable[[Visit], Awaitable[dict[str, Any]]]] = {"settlements": read_settlement_events}
