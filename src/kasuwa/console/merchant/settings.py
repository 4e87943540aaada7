"""A merchant's settings page (API keys, webhook, API options, limits) and its audit trail."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from kasuwa.authority.audit_trail import AuditRecord
from kasuwa.authority.cooling_off import read_cooling_off
from kasuwa.console.kit.audit_view import FILTER_NAMES, make_lines, read_trail_filter
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant import store
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE, PAGE_ROWS
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.reading import Reader
from kasuwa.merchants import keys as merchant_keys
from kasuwa.merchants import merchants
from kasuwa.merchants.keys import KeyRefused, Roller
from kasuwa.merchants.merchant_settings import MerchantSettings, read_logo
from kasuwa.postgres.connection_pool import Connection
from kasuwa.terms.business import BusinessTerms, find_address_fault, find_tin_fault
from kasuwa.terms.checkout_origins import read_origins
from kasuwa.terms.mail import MailTerms, find_reply_to_fault, find_sender_name_fault
from kasuwa.transactions.event_payloads import TEST_EVENT
from kasuwa.webhooks.health import list_failing_endpoints
from kasuwa.webhooks.sample_events import SAMPLE_KINDS
from kasuwa.webhooks.signatures import standard_secret

# How many hours the old keys remain valid. Contract: #authentication
KEY_OVERLAP_CHOICES = (
    ("0", "stops working at once"),
    ("1", "works for 1 more hour"),
    ("24", "works for 1 more day"),
    ("72", "works for 3 more days"),
    ("168", "works for 7 more days"),
)
MAX_URL_LENGTH = 2048


async def read_merchant_settings(reader: Reader, visit: Visit) -> MerchantSettings:
    return msgspec.json.decode(await store.read_settings(reader, visit.merchant), type=MerchantSettings)


async def show_settings(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        settings = await read_merchant_settings(reader, visit)
        keys = await merchant_keys.list_keys(reader, visit.merchant.merchant_id)
        failing_endpoints = await list_failing_endpoints(reader, visit.merchant.merchant_id)
    shared: dict[str, Any] = {
        "settings": settings,
        "keys": keys,
        "overlaps": KEY_OVERLAP_CHOICES,
        "url": settings.webhook_url,
        "mail": settings.mail,
        "business": settings.business,
        "origins": " ".join(settings.checkout_origins),
        "failing_endpoints": failing_endpoints,
        "api_url": visit.services.api_url,
    }
    return visit.render("settings.html", status, **{**shared, **values})


async def roll_key(visit: Visit) -> Response:
    """Replaces the keys of scope `all` by a new one. It is shown on this page only, because it is stored encrypted."""
    hours = visit.form_text("overlap")
    if hours not in dict(KEY_OVERLAP_CHOICES):
        return await show_settings(visit, 422, faults={"overlap": "choose one of the options"})
    try:
        async with visit.operator_pool.acquire() as connection, connection.transaction():
            overlap = timedelta(hours=int(hours))
            merchant_id = await merchants.lock_merchant(connection, visit.merchant.mid)
            key_id, key = await merchant_keys.replace_key(
                connection, visit.services.vault, merchant_id, overlap, roller=await find_roller(visit, connection)
            )
            after = {"new key": key_id, "old keys end after hours": int(hours)}
            await visit.record_audit_on(
                connection, visit.audit_chain, "rolled the key", visit.merchant.mid, after=after
            )
            signs = await merchant_keys.is_signing(connection, merchant_id, key_id)
    except KeyRefused as refused:
        return await show_settings(visit, 422, faults={"overlap": str(refused)})
    visit.services.merchant_directory.evict(visit.merchant.mid)
    return visit.render("new_key.html", key=key, secret=standard_secret(key) if signs else "", hours=int(hours))


async def find_roller(visit: Visit, connection: Connection) -> Roller:
    """Returns the user as somebody who makes or rolls a key."""
    return Roller(visit.maker, await read_cooling_off(connection, visit.services.vault))


async def set_webhook(visit: Visit) -> Response:
    url = visit.form_text("url")
    fault = visit.services.url_fault(url) if url else None
    if len(url) > MAX_URL_LENGTH:
        fault = f"at most {MAX_URL_LENGTH} characters"
    if fault is not None:
        return await show_settings(visit, 422, url=url, faults={"url": fault})
    await change_settings(visit, "set the webhook URL", is_endpoint_set=True, webhook_url=url)
    return visit.redirect(
        "/settings", "Events are sent to this URL from now on." if url else "Events are switched off."
    )


async def send_test_event(visit: Visit) -> Response:
    settings = await read_merchant_settings(visit.reader, visit)
    if not settings.webhook_url:
        return await show_settings(visit, 422, faults={"url": "save a URL first"})
    kind = visit.form_text("kind") or TEST_EVENT
    if kind not in SAMPLE_KINDS:
        return await show_settings(visit, 422, faults={"kind": "choose one of the options"})
    result = await visit.services.send_test_event(visit.merchant.merchant_id, FIRST_ENDPOINT, kind)
    return visit.redirect("/events" if visit.form_text("from") == "events" else "/settings", result)


async def set_api_options(visit: Visit) -> Response:
    codes, order = visit.form_text("http_codes"), visit.form_text("webhook_order")
    if codes not in ("compat", "strict") or order not in ("loose", "strict"):
        return await show_settings(visit, 422, faults={"http_codes": "choose one of the options"})
    await change_settings(visit, "changed settings", is_endpoint_set=False, http_codes=codes, webhook_order=order)
    return visit.redirect("/settings", "Settings saved.")


async def set_logo(visit: Visit) -> Response:
    """Sets or removes the picture that payers see on the merchant's pages."""
    picture = await visit.upload("logo")
    if picture is None and visit.form_text("remove") != "yes":
        return await show_settings(visit, 422, faults={"logo": "choose a file"})
    try:
        logo = "" if picture is None else read_logo(picture)
    except ValueError as error:
        return await show_settings(visit, 422, faults={"logo": str(error)})

    def apply(settings: MerchantSettings) -> MerchantSettings:
        return msgspec.structs.replace(settings, logo=logo)

    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await merchants.change_settings(
            connection, visit.services.vault, visit.merchant.mid, apply, is_endpoint_set=False
        )
        after = f"{len(logo)} characters" if logo else "none"
        await visit.record_audit_on(connection, visit.audit_chain, "changed the logo", visit.merchant.mid, after=after)
    return visit.redirect("/settings", "Payers see the logo from now on." if logo else "The logo was removed.")


async def set_mail(visit: Visit) -> Response:
    """Sets how the merchant's mails name it, and where answers to them go."""
    name, reply_to = visit.form_text("sender_name"), visit.form_text("reply_to")
    faults = {"sender_name": find_sender_name_fault(name), "reply_to": find_reply_to_fault(reply_to)}
    terms = MailTerms(
        name, reply_to, receipts=visit.form_text("receipts") == "yes", sms=visit.form_text("sms") == "yes"
    )
    named = {field: fault for field, fault in faults.items() if fault is not None}
    if named:
        return await show_settings(visit, 422, mail=terms, faults=named)
    await change_settings(visit, "changed how mails are sent", is_endpoint_set=False, mail=terms)
    return visit.redirect("/settings", "Mails are sent so from now on.")


async def set_origins(visit: Visit) -> Response:
    """Sets the merchant's sites that may show its payers' pages in a frame. They are separated by spaces or lines."""
    submitted = visit.form_text("origins")
    try:
        origins = read_origins(submitted.split(), visit.services.environment)
    except ValueError as error:
        return await show_settings(visit, 422, origins=submitted, faults={"origins": str(error)})
    await change_settings(visit, "changed the sites of checkouts", is_endpoint_set=False, checkout_origins=origins)
    done = "These sites may show your checkouts from now on." if origins else "No site may show your checkouts."
    return visit.redirect("/settings", done)


async def set_business(visit: Visit) -> Response:
    """Sets the address and the tax identification number that invoices show."""
    terms = BusinessTerms(" ".join(visit.form_text("address").split()), visit.form_text("tin"))
    faults = {"address": find_address_fault(terms.address), "tin": find_tin_fault(terms.tin)}
    named = {field: fault for field, fault in faults.items() if fault is not None}
    if named:
        return await show_settings(visit, 422, business=terms, faults=named)
    await change_settings(visit, "changed what invoices show", is_endpoint_set=False, business=terms)
    return visit.redirect("/settings", "Invoices show this from now on.")


async def change_settings(visit: Visit, audit_text: str, *, is_endpoint_set: bool, **changes: Any) -> None:
    """Saves the changed settings, and records their old and new values in the audit trail in the same commit."""
    before: dict[str, Any] = {}

    def apply(settings: MerchantSettings) -> MerchantSettings:
        before.update({name: getattr(settings, name) for name in changes})
        return msgspec.structs.replace(settings, **changes)

    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await merchants.change_settings(
            connection, visit.services.vault, visit.merchant.mid, apply, is_endpoint_set=is_endpoint_set
        )
        await visit.record_audit_on(connection, visit.audit_chain, audit_text, visit.merchant.mid, before, changes)


async def show_audit_trail(visit: Visit, status: int = 200) -> Response:
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    chosen, faults = read_trail_filter(visit.query)
    async with visit.snapshot() as reader:
        rows = [AuditRecord(*row) for row in await store.list_audit_entries(reader, visit.merchant, before, chosen)]
    shown = rows[:PAGE_ROWS]
    older = urlencode({**chosen.query, "before": shown[-1].seq}) if len(rows) > PAGE_ROWS else ""
    return visit.render(
        "audit_trail.html",
        status,
        lines=make_lines(shown),
        submitted={name: visit.query.get(name, "") for name in FILTER_NAMES},
        is_filtered=bool(chosen.query or faults),
        faults=faults,
        next_url=f"/settings/trail?{older}" if older else "",
        export_query=urlencode(chosen.query),
        is_operator_view=False,
    )
