"""What the pages of some kinds of record show beyond their fields: a client's products, the picture of a schedule.

Each function returns further values for the template `record_<kind>.html`, or `records_<kind>.html` for a list. They
are called while the page's snapshot is open.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from kasuwa.authority.roles import CAN_INTEGRATE
from kasuwa.console.histories.account_payments import read_account_payments
from kasuwa.console.histories.movements import read_movements
from kasuwa.console.histories.plans import read_charges
from kasuwa.console.kit.visit import Visit
from kasuwa.console.kit.vocabulary import COLLECTION_TEXTS, DECLINE_TEXTS, NEXT_STEP_TEXTS, humanize
from kasuwa.console.merchant.store import read_clock
from kasuwa.console.money.arrivals import read_arriving_money
from kasuwa.console.money.settled_payments import read_payments
from kasuwa.console.records.collections import INSTALLMENTS
from kasuwa.console.records.schedule_chart import draw_schedule
from kasuwa.console.records.store import read_client_summary
from kasuwa.core.calendar import lagos_day
from kasuwa.core.money import parse_minor

# Records of each list on the page of a client.
MAX_PRODUCTS = 20
LATE = "late"
# Mails to a customer among which those about an invoice are looked for: the longest page of the API.
MAX_MAILS = 200
# Newest transactions of a card among which its page looks for declined purchases.
MAX_CARD_TRANSACTIONS = 200


async def read_client_products(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns what a client owns and owes in all, loans, savings, shares, guarantees, standing orders, payments and the
    tier. Payments are found by the client's email address; there is a tier where the limits by tier apply."""
    client_id, email = row["client_id"], row.get("email")
    kinds = ("loans", "groups", "savings", "shares", "guarantees", "orders", "payments")
    products: dict[str, Any] = {kind: [] for kind in kinds}
    for name, method, action in (
        ("loans", "loans", "list"),
        ("groups", "loans", "list_groups"),
        ("savings", "investments", "list_savings"),
        ("shares", "investments", "list_shareholders"),
        ("guarantees", "loans", "guarantees"),
        ("orders", "investments", "list_standing_orders"),
    ):
        if visit.services.has_action(method, action):
            reply = await visit.call_action(method, action=action, client_id=client_id, limit=MAX_PRODUCTS)
            products[name] = reply.body["data"] if reply.is_success else []
    if email:
        reply = await visit.call_action("resources", inquire="transactions", customer=email, limit=MAX_PRODUCTS)
        products["payments"] = reply.body["data"] if reply.is_success else []
    reader = visit.open_snapshot
    assert reader is not None, "a record is read in a snapshot"
    products["summary"] = await read_client_summary(reader, visit.merchant.merchant_id, client_id)
    viewed = await visit.call_action("clients", action="view", client_id=client_id)
    products["tier"] = viewed.body.get("tier") if viewed.is_success else None
    return products


async def read_schedule(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the picture of a loan's schedule, what is in arrears, in minor units, and how it is collected."""
    schedule: list[dict[str, str]] = row.get("schedule", [])
    late = [line for line in schedule if line["state"] == LATE]
    arrears = sum((parse_minor(line["total"]) or 0) - (parse_minor(line["paid"]) or 0) for line in late)
    collection = describe_collection(row["auto_repay"]) if "auto_repay" in row else None
    return {
        "chart": draw_schedule(schedule),
        "arrears": arrears,
        "late_count": len(late),
        "collection": collection,
    }


def describe_collection(record: dict[str, Any]) -> dict[str, Any]:
    """Returns how a loan is collected in plain words: its state, what comes next, and what was collected so far."""
    text = COLLECTION_TEXTS.get(record.get("reason", ""), "")
    step, day = record["next_step"], record["next_date"]
    shown = {
        "source": record["source"],
        "savings_id": record.get("savings_id"),
        "card_token": record.get("token"),
        "what_comes_next": None if step is None else NEXT_STEP_TEXTS[step].format(day=day),
        "amount": record.get("next_amount"),
        "hour_of_the_day": record["at"],
        "retries": ", ".join(f"{days} days" for days in record["retry"]) or "none",
        "collected": f"{record['collected']} in {record['collections']} of {record['attempts']} attempts",
        "due_dates_given_up": record["missed"] or None,
    }
    return {"state": record["state"], "text": text, "shown": shown}


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


async def read_registers(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the links to the register of a class of shares, by format."""
    links = []
    for name in ("PDF", "CSV"):
        request = {"action": "share_register", "class_id": row["class_id"], "format": name.lower()}
        reply = await visit.call_action("investments", **request)
        if reply.is_success:
            links.append((name, reply.body["link"]))
    return {"registers": links}


async def read_sendings(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the mails and text messages about an invoice, newest first, among the newest to its customer."""
    reply = await visit.call_action("resources", inquire="mail", customer_id=row["customer_id"], limit=MAX_MAILS)
    mails = reply.body["data"] if reply.is_success else []
    sendings = [mail for mail in mails if mail["reference"] == row["invoice_id"]]
    return {"sendings": sendings, "has_all_sendings": reply.is_success and reply.body["total"] <= MAX_MAILS}


async def read_nothing(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    return {}


# By the name of the record kind. Those that only have a template read nothing.
EXTRAS: dict[str, Callable[[Visit, dict[str, Any]], Awaitable[dict[str, Any]]]] = {
    "accounts": read_account_payments,
    "beneficiaries": read_movements,
    "card-disputes": read_nothing,
    "cards": read_declined_purchases,
    "clients": read_client_products,
    "disputes": read_nothing,
    "groups": read_nothing,
    INSTALLMENTS.name: read_charges,
    "invoices": read_sendings,
    "loans": read_schedule,
    "recurrents": read_charges,
    "savings": read_movements,
    "settlements": read_payments,
    "shares": read_registers,
}


# Those that are long stand below the details.
EXTRAS_BELOW = frozenset(
    {"accounts", "beneficiaries", "clients", INSTALLMENTS.name, "invoices", "recurrents", "savings", "settlements"}
)


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
