"""A merchant's settings: keys, webhook, HTTP codes; limits and tariff to look at; and its own audit trail."""

from datetime import timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console import store
from kasuwa.console.events import LAST, number
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import Visit
from kasuwa.core.events import standard_secret
from kasuwa.core.merchant import MerchantSettings
from kasuwa.core.reading import Reader
from kasuwa.db import merchants
from kasuwa.db.audit_trail import Entry

# How long an old key may go on working, in hours. Spec silent: D40
OVERLAPS = (
    ("0", "stops at once"),
    ("1", "works for 1 more hour"),
    ("24", "works for 1 more day"),
    ("72", "works for 3 more days"),
    ("168", "works for 7 more days"),
)
MOST_URL = 2048


async def kept_settings(reader: Reader, visit: Visit) -> MerchantSettings:
    return msgspec.json.decode(await store.read_settings(reader, visit.merchant), type=MerchantSettings)


async def show_settings(visit: Visit, status: int = 200, **told: Any) -> Response:
    async with visit.snapshot() as reader:
        kept = await kept_settings(reader, visit)
        keys = await store.list_keys(reader, visit.merchant)
        trouble = await store.endpoint_trouble(reader, visit.merchant)
    shared: dict[str, Any] = {
        "kept": kept,
        "keys": keys,
        "overlaps": OVERLAPS,
        "url": kept.webhook_url,
        "trouble": trouble,
        "api_url": visit.parts.api_url,
    }
    return visit.show("settings.html", status, **{**shared, **told})


async def roll_key(visit: Visit) -> Response:
    """The new key is on this page alone: it is not kept where anybody could read it."""
    hours = visit.said("overlap")
    if hours not in dict(OVERLAPS):
        return await show_settings(visit, 422, faults={"overlap": "one of those in the list"})
    async with visit.operators.acquire() as connection, connection.transaction():
        overlap = timedelta(hours=int(hours))
        key = await merchants.roll_key(connection, visit.parts.vault, visit.merchant.mid, overlap)
        after = {"old keys end after hours": int(hours)}
        await visit.record_on(connection, visit.chain, "rolled the key", visit.merchant.mid, after=after)
    visit.parts.directory.forget(visit.merchant.mid)
    return visit.show("new_key.html", key=key, secret=standard_secret(key), hours=int(hours))


async def set_webhook(visit: Visit) -> Response:
    url = visit.said("url")
    fault = visit.parts.url_fault(url) if url else None
    if len(url) > MOST_URL:
        fault = f"at most {MOST_URL} characters"
    if fault is not None:
        return await show_settings(visit, 422, url=url, faults={"url": fault})
    await change(visit, "set the webhook URL", endpoint_set=True, webhook_url=url)
    return visit.go("/settings", "Events go there from now on." if url else "Events are switched off.")


async def test_webhook(visit: Visit) -> Response:
    kept = await kept_settings(visit.reader, visit)
    if not kept.webhook_url:
        return await show_settings(visit, 422, faults={"url": "set a URL first"})
    said = await visit.parts.ping(visit.merchant.merchant_id, kept.webhook_url)
    return visit.go("/settings", said)


async def set_wire(visit: Visit) -> Response:
    codes, order = visit.said("http_codes"), visit.said("webhook_order")
    if codes not in ("compat", "strict") or order not in ("loose", "strict"):
        return await show_settings(visit, 422, faults={"http_codes": "one of those in the list"})
    await change(visit, "changed settings", endpoint_set=False, http_codes=codes, webhook_order=order)
    return visit.go("/settings", "Your settings are kept.")


async def change(visit: Visit, what: str, *, endpoint_set: bool, **changes: Any) -> None:
    """Keeps the changed settings, and what they were before in the audit trail, in one commit."""
    before: dict[str, Any] = {}

    def changed(kept: MerchantSettings) -> MerchantSettings:
        before.update({name: getattr(kept, name) for name in changes})
        return msgspec.structs.replace(kept, **changes)

    async with visit.operators.acquire() as connection, connection.transaction():
        await merchants.change_settings(connection, visit.merchant.mid, changed, endpoint_set=endpoint_set)
        await visit.record_on(connection, visit.chain, what, visit.merchant.mid, before, changes)


async def show_trail(visit: Visit) -> Response:
    before = number(visit.query.get("before", ""), LAST)
    async with visit.snapshot() as reader:
        rows = [Entry(*row) for row in await store.list_deeds(reader, visit.merchant, before)]
    shown = rows[:PAGE_ROWS]
    more = f"/settings/trail?before={shown[-1].seq}" if len(rows) > PAGE_ROWS else ""
    return visit.show("trail.html", entries=shown, more=more, across=False)
