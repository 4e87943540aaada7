"""The operator's pages about merchants: made, suspended, limited; their people and their first owner."""

from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from kasuwa.console import operator_reads
from kasuwa.console.access import OWNER, email_fault
from kasuwa.console.events import MAX_SEQUENCE, parse_int
from kasuwa.console.operator_reads import MerchantSummary
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.team import deliver_link, more_people, people_after
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.exchange_rates import HOME
from kasuwa.core.merchant import DEFAULT_LIMITS, MerchantSettings, check_settings
from kasuwa.core.money import CURRENCIES
from kasuwa.core.reading import Reader
from kasuwa.db import console_users, merchants, rates
from kasuwa.db.connections import Connection

MAX_NAME_LENGTH = 200


async def find_merchant_in_path(visit: Visit, reader: Reader) -> MerchantSummary:
    shop = await operator_reads.find_merchant(reader, visit.path_parameter("mid"))
    if shop is None:
        raise NotFound
    return shop


async def show_merchants(visit: Visit, status: int = 200, **values: Any) -> Response:
    before, words = (
        parse_int(visit.query.get("before", ""), MAX_SEQUENCE),
        visit.query.get("q", "").strip()[:MAX_NAME_LENGTH],
    )
    async with visit.snapshot() as reader:
        shops = await operator_reads.list_merchants(reader, before, words)
    shown = shops[:PAGE_ROWS]
    onward = urlencode({"q": words, "before": shown[-1].merchant_id}) if len(shops) > PAGE_ROWS else ""
    more = f"/operator/merchants?{onward}" if onward else ""
    newest = f"/operator/merchants?{urlencode({'q': words})}" if before != MAX_SEQUENCE else ""
    shared = {"shops": shown, "more": more, "newest": newest, "words": words}
    return visit.render("operator_merchants.html", status, **{**shared, **values})


async def add_merchant(visit: Visit) -> Response:
    name = visit.form_text("name")
    if not name or not name.isprintable() or len(name) > MAX_NAME_LENGTH:
        return await show_merchants(visit, 422, faults={"name": f"1 to {MAX_NAME_LENGTH} printable characters"})
    async with visit.operators.acquire() as connection, connection.transaction():
        merchant_id, mid, key = await merchants.add_merchant(connection, visit.services.vault, name)
        await visit.record_audit_on(connection, merchant_id, "added the merchant", mid, after=name)
    return visit.render("operator_new_merchant.html", mid=mid, key=key, name=name)


async def show_merchant(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as connection:
        shop = await find_merchant_in_path(visit, connection)
        people = await console_users.list_users(connection, shop.mid, people_after(visit), PAGE_ROWS + 1)
        has_owner = await console_users.look_joined(connection, shop.mid)
        exchange = await rates.read_current_rates(connection)
    kept = msgspec.json.decode(shop.settings, type=MerchantSettings)
    limits = {currency: kept.limits.get(currency, DEFAULT_LIMITS[currency]) for currency in CURRENCIES}
    shared: dict[str, Any] = {"shop": shop, "kept": kept, "people": people[:PAGE_ROWS], "limits": limits}
    shared |= {"has_owner": has_owner, "more": more_people(f"/operator/merchants/{shop.mid}", people)}
    shared |= {"exchange": exchange, "home": HOME, "said": {}}
    return visit.render("operator_merchant.html", status, **{**shared, **values})


async def toggle_suspension(visit: Visit) -> Response:
    shop = await find_merchant_in_path(visit, visit.reader)
    await change_settings(visit, shop, "changed suspension", suspended=not shop.is_suspended)
    said = "Its requests are answered again." if shop.is_suspended else "Its requests are refused from now on."
    return visit.redirect(f"/operator/merchants/{shop.mid}", said)


async def set_limits(visit: Visit) -> Response:
    """A currency whose limits are left empty has the usual ones."""
    shop = await find_merchant_in_path(visit, visit.reader)
    said = {c: (visit.form_text(f"least-{c}"), visit.form_text(f"most-{c}")) for c in CURRENCIES}
    limits = {c: bounds for c, bounds in said.items() if any(bounds) and bounds != DEFAULT_LIMITS[c]}
    try:
        rate = tuple(int(part) for part in visit.form_text("rate").split(",")) if visit.form_text("rate") else None
        checked = msgspec.convert({"limits": limits, "rate": rate}, MerchantSettings)
        check_settings(checked)
    except (ValueError, msgspec.MsgspecError) as error:
        return await show_merchant(visit, 422, faults={"": f"Limits: {error}"})
    await change_settings(visit, shop, "changed limits", limits=checked.limits, rate=checked.rate)
    return visit.redirect(f"/operator/merchants/{shop.mid}", "The limits are kept.")


async def change_settings(visit: Visit, shop: MerchantSummary, what: str, **changes: Any) -> None:
    def changed(kept: MerchantSettings) -> MerchantSettings:
        return msgspec.structs.replace(kept, **changes)

    kept = msgspec.json.decode(shop.settings, type=MerchantSettings)
    before = {name: getattr(kept, name) for name in changes}
    async with visit.operators.acquire() as connection, connection.transaction():
        await merchants.change_settings(connection, shop.mid, changed, is_endpoint_set=False)
        await visit.record_audit_on(connection, shop.merchant_id, what, shop.mid, before, changes)


async def invite_owner(visit: Visit) -> Response:
    """A merchant's first owner comes by an administrator; everybody after that by the owner. An invitation that was not
    used is replaced by the new one: an address may have been mistyped."""
    shop, email = await find_merchant_in_path(visit, visit.reader), visit.form_text("email")
    fault = email_fault(email)
    if fault is None:
        async with visit.operators.acquire() as connection, connection.transaction():
            token = await invite_first_owner(connection, visit, shop, email)
        if token is not None:
            return visit.redirect(f"/operator/merchants/{shop.mid}", await deliver_link(visit, email, token))
        has_one = "This merchant has an owner: further people are invited by the owner."
        return await show_merchant(visit, 422, faults={"": has_one})
    return await show_merchant(visit, 422, faults={"email": fault}, said={"email": email})


async def invite_first_owner(connection: Connection, visit: Visit, shop: MerchantSummary, email: str) -> str | None:
    """The token of a link for the first owner; None where somebody came in for this merchant before."""
    if await console_users.has_joined_user(connection, shop.mid):
        return None
    await console_users.withdraw_invitations(connection, shop.mid)
    known = await console_users.find_user_of_merchant(connection, email, shop.mid)
    if known is None:
        user_id = await console_users.add_user(connection, email, shop.mid, OWNER)
    else:
        user_id = known.user_id
        await console_users.reset_credentials(connection, user_id)
        await console_users.set_role(connection, user_id, OWNER)
    await visit.record_audit_on(connection, shop.merchant_id, "invited the first owner", email, after=OWNER)
    return await console_users.make_link(connection, user_id, "invitation")
