"""The page of a merchant's API keys and signing secret: lists, makes, rolls and revokes them. Contract: keys#making"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from kasuwa.console.access import OWNER
from kasuwa.console.events import parse_int
from kasuwa.console.settings_pages import KEY_OVERLAP_CHOICES
from kasuwa.console.values import time_text
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.callers import KEY_SCOPES, SCOPE_DESCRIPTIONS, check_key_name, read_ranges, read_scopes
from kasuwa.core.events import standard_secret
from kasuwa.db import merchant_keys, merchants
from kasuwa.db.connection_pool import Connection
from kasuwa.db.merchant_keys import KeyRefused, NewKey, UnknownKey

EXPIRY_CHOICES = (("", "never"), ("30", "30 days"), ("90", "90 days"), ("365", "1 year"))
# A key with one of these could approve what another key of the same person sends. Contract: keys#two-persons
OWNER_SCOPES = frozenset({"approve", "all"})
OWNER_ONLY = "only an owner can make keys of scope approve or all"
OWNER_ROLLS = "Only an owner can roll this key: it can approve transfers"


async def show_keys(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        keys = await merchant_keys.list_keys(reader, visit.merchant.merchant_id)
        secrets = await merchant_keys.list_secrets(reader, visit.merchant.merchant_id)
    shared: dict[str, Any] = {
        "keys": keys,
        "secrets": secrets,
        "scopes": [(scope, SCOPE_DESCRIPTIONS[scope]) for scope in KEY_SCOPES],
        "overlaps": KEY_OVERLAP_CHOICES,
        "expiries": EXPIRY_CHOICES,
        "submitted": {},
        "chosen": [],
    }
    return visit.render("keys.html", status, **{**shared, **values})


def read_new_key(visit: Visit, faults: dict[str, str]) -> NewKey | None:
    """Reads the form of a new key. Returns None if it has faults, which are added to `faults` by field."""
    name, days = visit.form_text("name"), visit.form_text("expires_days")
    chosen = [scope for scope in KEY_SCOPES if visit.form_text(f"scope-{scope}")]
    fault = check_key_name(name)
    if fault is not None:
        faults["name"] = fault
    if days not in dict(EXPIRY_CHOICES):
        faults["expires_days"] = "choose one of the options"
    ranges = visit.form_text("addresses").replace("\n", ",").split(",")
    try:
        addresses = read_ranges([text for text in ranges if text.strip()])
    except ValueError as error:
        faults["addresses"] = str(error)
    try:
        scopes = read_scopes(list(chosen))
        if OWNER_SCOPES & set(scopes) and visit.user.role != OWNER:
            faults["scopes"] = OWNER_ONLY
    except ValueError as error:
        faults["scopes"] = str(error)
    if faults:
        return None
    expires_at = datetime.now(UTC) + timedelta(days=int(days)) if days else None
    return NewKey(name=name, scopes=scopes, addresses=addresses, expires_at=expires_at, created_by=visit.user.email)


async def create_key(visit: Visit) -> Response:
    """Makes a key. It is shown on this page only, because it is stored encrypted."""
    faults: dict[str, str] = {}
    new = read_new_key(visit, faults)
    if new is not None:
        try:
            async with visit.operator_pool.acquire() as connection, connection.transaction():
                merchant_id = await merchants.lock_merchant(connection, visit.merchant.mid)
                key_id, key = await merchant_keys.create_key(connection, visit.services.vault, merchant_id, new)
                after = {"name": new.name, "scopes": new.scopes, "addresses": new.addresses, "expires": new.expires_at}
                await visit.record_audit_on(connection, visit.audit_chain, "made a key", f"key {key_id}", after=after)
        except KeyRefused as refused:
            faults[""] = str(refused)
        else:
            visit.services.merchant_directory.evict(visit.merchant.mid)
            return visit.render("key_made.html", key=key, key_id=key_id, name=new.name, scopes=new.scopes)
    chosen = [scope for scope in KEY_SCOPES if visit.form_text(f"scope-{scope}")]
    submitted = {name: visit.form_text(name) for name in ("name", "addresses", "expires_days")}
    return await show_keys(visit, 422, faults=faults, submitted=submitted, chosen=chosen)


def read_overlap(visit: Visit) -> timedelta | None:
    hours = visit.form_text("overlap")
    return timedelta(hours=int(hours)) if hours in dict(KEY_OVERLAP_CHOICES) else None


async def roll_key(visit: Visit) -> Response:
    """Replaces one key by a new one with the same name, scopes and ranges."""
    key_id, overlap = parse_int(visit.path_parameter("key_id"), 0), read_overlap(visit)
    if overlap is None:
        return await show_keys(visit, 422, faults={"": "Overlap: choose one of the options"})
    try:
        async with visit.operator_pool.acquire() as connection, connection.transaction():
            merchant_id = await lock_changeable(visit, connection, key_id)
            new_id, key = await merchant_keys.replace_key(
                connection, visit.services.vault, merchant_id, overlap, key_id
            )
            after = {"new key": new_id, "old key ends after hours": overlap / timedelta(hours=1)}
            await visit.record_audit_on(connection, visit.audit_chain, "rolled a key", f"key {key_id}", after=after)
            signs = await merchant_keys.is_signing(connection, merchant_id, new_id)
    except UnknownKey:
        raise NotFound from None
    except KeyRefused as refused:
        return await show_keys(visit, 422, faults={"": str(refused)})
    visit.services.merchant_directory.evict(visit.merchant.mid)
    hours = int(overlap / timedelta(hours=1))
    return visit.render("new_key.html", key=key, secret=standard_secret(key) if signs else "", hours=hours)


async def lock_changeable(visit: Visit, connection: Connection, key_id: int) -> int:
    """Locks the merchant's row and returns its number. Raises UnknownKey, also for 0, and KeyRefused if the user may
    not hold a key of these scopes."""
    merchant_id = await merchants.lock_merchant(connection, visit.merchant.mid)
    found = [key for key in await merchant_keys.list_keys(connection, merchant_id) if key.key_id == key_id]
    if not found:
        raise UnknownKey(key_id)
    if needs_owner(visit, found[0].scopes) and visit.user.role != OWNER:
        raise KeyRefused(OWNER_ROLLS)
    return merchant_id


def needs_owner(visit: Visit, scopes: Collection[str]) -> bool:
    """Returns whether only an owner may roll a key of these scopes. Whoever rolls a key holds the new one, and could
    approve with it what another key sends."""
    return "approve" in scopes or ("all" in scopes and visit.merchant.payouts is not None)


async def revoke_key(visit: Visit) -> Response:
    """Revokes a key, once the user has confirmed it."""
    key_id = parse_int(visit.path_parameter("key_id"), 0)
    keys = await merchant_keys.list_keys(visit.reader, visit.merchant.merchant_id)
    key = next((key for key in keys if key.key_id == key_id), None)
    if key is None:
        raise NotFound
    used = "It was never used." if key.last_used_at is None else f"It was last used at {time_text(key.last_used_at)}."
    consequence = f"{used} Requests with it are refused from then on, and it cannot be made to work again."
    visit.ask_first(f"Revoke key {key_id}, {key.name}?", consequence, f"Revoke key {key_id}", "/settings/keys")
    try:
        async with visit.operator_pool.acquire() as connection, connection.transaction():
            merchant_id = await merchants.lock_merchant(connection, visit.merchant.mid)
            name = await merchant_keys.revoke_key(connection, merchant_id, key_id)
            await visit.record_audit_on(connection, visit.audit_chain, "revoked a key", f"key {key_id}", before=name)
    except UnknownKey:
        raise NotFound from None
    except KeyRefused as refused:
        return await show_keys(visit, 422, faults={"": str(refused)})
    visit.services.merchant_directory.evict(visit.merchant.mid)
    return visit.redirect("/settings/keys", f"Key {key_id} no longer works.")


async def roll_secret(visit: Visit) -> Response:
    """Makes a new signing secret. It is shown on this page only."""
    overlap = read_overlap(visit)
    if overlap is None:
        return await show_keys(visit, 422, faults={"": "Overlap: choose one of the options"})
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        merchant_id = await merchants.lock_merchant(connection, visit.merchant.mid)
        secret = await merchant_keys.replace_secret(
            connection, visit.services.vault, merchant_id, overlap, visit.user.email
        )
        after = {"the old one signs for hours": overlap / timedelta(hours=1)}
        await visit.record_audit_on(
            connection, visit.audit_chain, "rolled the signing secret", visit.merchant.mid, after=after
        )
    return visit.render("secret_made.html", secret=secret, standard=standard_secret(secret))
