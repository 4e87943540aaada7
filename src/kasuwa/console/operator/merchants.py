"""The operator's pages of merchants: add and suspend merchants, set limits, invite the first owner."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from kasuwa.authority.acts import LIMITS, RESUMPTION, SUSPENSION
from kasuwa.authority.roles import OWNER
from kasuwa.console.kit.access import email_fault
from kasuwa.console.kit.figures import MONEY_IN, MONEY_OUT, percentage, rank_reasons, sum_by_currency
from kasuwa.console.kit.merchant_health import read_health
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant import store
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE, PAGE_ROWS
from kasuwa.console.merchant.team import next_users_url, users_cursor
from kasuwa.console.operator import reads
from kasuwa.console.operator.home_reads import MerchantVolume, list_largest, read_volumes
from kasuwa.console.operator.reads import MerchantSummary
from kasuwa.console.operator.settings import change_or_propose
from kasuwa.core.calendar import lagos_day
from kasuwa.core.money import CURRENCIES
from kasuwa.core.reading import Reader
from kasuwa.merchants import exchange_rates, keys, merchants
from kasuwa.merchants.merchant_settings import DEFAULT_LIMITS, MerchantSettings, check_settings
from kasuwa.methods.resources.store import show_wallet
from kasuwa.methods.resources.wire import WalletRequest
from kasuwa.people import users as console_users
from kasuwa.postgres.connection_pool import Connection
from kasuwa.projections.daily_totals import list_open_totals, read_totals
from kasuwa.terms.conversion import HOME

MAX_NAME_LENGTH = 200
# The period of a merchant's health, and the failure reasons that it shows.
HEALTH_DAYS = 7
# The days whose volume the list shows.
VOLUME_DAYS = 30
NO_VOLUME = MerchantVolume(0)
HEALTH_REASONS = 3


async def find_merchant_in_path(visit: Visit, reader: Reader) -> MerchantSummary:
    summary = await reads.find_merchant(reader, visit.path_parameter("mid"))
    if summary is None:
        raise NotFound
    return summary


async def show_merchants(visit: Visit, status: int = 200, **values: Any) -> Response:
    before, search = (
        parse_int(visit.query.get("before", ""), MAX_SEQUENCE),
        visit.query.get("q", "").strip()[:MAX_NAME_LENGTH],
    )
    today = lagos_day(datetime.now(UTC))
    days = today - timedelta(days=VOLUME_DAYS - 1), today
    is_by_volume = visit.query.get("sort") == "volume"
    async with visit.snapshot() as reader:
        if is_by_volume:
            largest = await list_largest(reader, days, sorted(MONEY_IN | MONEY_OUT), HOME, PAGE_ROWS)
            summaries = await reads.list_merchants_by_id(reader, largest)
        else:
            summaries = await reads.list_merchants(reader, before, search)
        ids = [summary.merchant_id for summary in summaries[:PAGE_ROWS]]
        volumes = await read_volumes(reader, ids, days, (sorted(MONEY_IN), sorted(MONEY_OUT)), HOME)
    shown = summaries[:PAGE_ROWS]
    query = urlencode({"q": search, "before": shown[-1].merchant_id}) if len(summaries) > PAGE_ROWS else ""
    next_url = f"/operator/merchants?{query}" if query else ""
    first_url = f"/operator/merchants?{urlencode({'q': search})}" if before != MAX_SEQUENCE else ""
    shared: dict[str, Any] = {"summaries": shown, "next_url": next_url, "first_url": first_url, "search": search}
    shared |= {"volumes": {one.merchant_id: volumes.get(one.merchant_id, NO_VOLUME) for one in shown}}
    shared |= {"is_by_volume": is_by_volume, "percentage": percentage, "volume_days": VOLUME_DAYS, "home": HOME}
    return visit.render("operator_merchants.html", status, **{**shared, **values})


async def add_merchant(visit: Visit) -> Response:
    name = visit.form_text("name")
    if not name or not name.isprintable() or len(name) > MAX_NAME_LENGTH:
        return await show_merchants(
            visit, 422, faults={"name": f"must have 1 to {MAX_NAME_LENGTH} printable characters"}
        )
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        merchant_id, mid, key = await merchants.add_merchant(connection, visit.services.vault, name)
        secret = await keys.replace_secret(connection, visit.services.vault, merchant_id, timedelta(), visit.user.email)
        await visit.record_audit_on(connection, merchant_id, "added the merchant", mid, after=name)
    return visit.render("operator_new_merchant.html", mid=mid, key=key, secret=secret, name=name)


async def show_merchant(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as connection:
        summary = await find_merchant_in_path(visit, connection)
        users = await console_users.list_users(connection, summary.mid, users_cursor(visit), PAGE_ROWS + 1)
        has_owner = await console_users.has_joined_user_unlocked(connection, summary.mid)
        current_rates = await exchange_rates.read_current_rates(connection)
        health = await read_health(connection, summary.merchant_id)
        merchant = await visit.services.merchant_directory.get_by_id(summary.merchant_id)
        today = lagos_day((await store.read_clock(connection, merchant, datetime.now(UTC))).now)
        totals = await read_totals(connection, summary.merchant_id, today - timedelta(days=HEALTH_DAYS - 1), today)
        open_totals = await list_open_totals(connection, summary.merchant_id)
        wallets = await show_wallet(WalletRequest(), merchant, connection)
    settings = msgspec.json.decode(summary.settings, type=MerchantSettings)
    limits = {currency: settings.limits.get(currency, DEFAULT_LIMITS[currency]) for currency in CURRENCIES}
    shared: dict[str, Any] = {"summary": summary, "settings": settings, "members": users[:PAGE_ROWS], "limits": limits}
    shared |= {"has_owner": has_owner, "next_url": next_users_url(f"/operator/merchants/{summary.mid}", users)}
    shared |= {"current_rates": current_rates, "home": HOME, "submitted": {}}
    shared |= {"health": health, "figures": sum_by_currency(totals.totals, open_totals).values()}
    shared |= {"wallets": wallets.data, "reasons": rank_reasons(totals.totals, HEALTH_REASONS), "days": HEALTH_DAYS}
    shared["purposes"] = visit.services.rail_purposes
    shared["rails"] = {purpose: ", ".join(names) for purpose, names in settings.rails.items()}
    return visit.render("operator_merchant.html", status, **{**shared, **values})


async def suspend(visit: Visit) -> Response:
    summary = await find_merchant_in_path(visit, visit.reader)
    consequence = f"All API requests of {summary.mid} are refused until it is resumed. "
    consequence += "Payouts by schedule are left out. What is open goes on, also the charges of plans."
    visit.ask_first(f"Suspend {summary.name}?", consequence, "Suspend", f"/operator/merchants/{summary.mid}")
    done = "Its requests are refused from now on."
    response = await change_or_propose(visit, summary, SUSPENSION, "suspended the merchant", done, suspended=True)
    await merchants.wait_until_in_force()
    return response


async def resume(visit: Visit) -> Response:
    summary = await find_merchant_in_path(visit, visit.reader)
    done = "The merchant is active again."
    response = await change_or_propose(visit, summary, RESUMPTION, "resumed the merchant", done, suspended=False)
    await merchants.wait_until_in_force()
    return response


async def set_limits(visit: Visit) -> Response:
    """Saves amount and rate limits. Empty fields mean the defaults."""
    summary = await find_merchant_in_path(visit, visit.reader)
    entered = {c: (visit.form_amount(f"least-{c}"), visit.form_amount(f"most-{c}")) for c in CURRENCIES}
    limits = {c: bounds for c, bounds in entered.items() if any(bounds) and bounds != DEFAULT_LIMITS[c]}
    try:
        rate = tuple(int(part) for part in visit.form_text("rate").split(",")) if visit.form_text("rate") else None
        checked = msgspec.convert({"limits": limits, "rate": rate}, MerchantSettings)
        check_settings(checked)
    except (ValueError, msgspec.MsgspecError) as error:
        return await show_merchant(visit, 422, faults={"": f"Limits: {error}"})
    changes = {"limits": checked.limits, "rate": checked.rate}
    return await change_or_propose(visit, summary, LIMITS, "changed limits", "Limits saved.", **changes)


async def invite_owner(visit: Visit) -> Response:
    """Invites a merchant's first owner. Further users are invited by the owner.

    It withdraws an earlier invitation that was not used, because its address may have been mistyped.
    """
    summary, email = await find_merchant_in_path(visit, visit.reader), visit.form_text("email")
    fault = email_fault(email)
    if fault is None:
        async with visit.operator_pool.acquire() as connection, connection.transaction():
            token = await invite_first_owner(connection, visit, summary, email)
        if token is not None:
            return visit.redirect(f"/operator/merchants/{summary.mid}", visit.services.links.announce(email, token))
        has_one = "This merchant has an owner already. Further users are invited by the owner."
        return await show_merchant(visit, 422, faults={"": has_one})
    return await show_merchant(visit, 422, faults={"email": fault}, submitted={"email": email})


async def invite_first_owner(connection: Connection, visit: Visit, summary: MerchantSummary, email: str) -> str | None:
    """Returns the link token for the first owner, or None if a user of this merchant has joined already."""
    if await console_users.has_joined_user(connection, summary.mid):
        return None
    await console_users.withdraw_invitations(connection, visit.services.vault, summary.mid)
    known = await console_users.find_user_of_merchant(connection, visit.services.vault, email, summary.mid)
    if known is None:
        user_id = await console_users.add_user(connection, visit.services.vault, email, summary.mid, OWNER)
    else:
        user_id = known.user_id
        await console_users.reset_credentials(connection, visit.services.vault, user_id)
        await console_users.set_role(connection, visit.services.vault, user_id, OWNER)
    # Nobody else could approve instead: the first owner has no cooling-off time.
    await console_users.set_makers(connection, visit.services.vault, user_id, [visit.maker], timedelta())
    await visit.record_audit_on(connection, summary.merchant_id, "invited the first owner", email, after=OWNER)
    token = await console_users.make_link(connection, visit.services.vault, user_id, "invitation")
    await visit.services.links.queue(connection, token)
    return token
