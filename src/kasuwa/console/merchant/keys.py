"""The page of a merchant's API keys and signing secret: lists, makes, rolls and revokes them. Contract: keys#making"""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from kasuwa.authority.acts import find_excess_scopes
from kasuwa.console.kit.values import time_text
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.settings import KEY_OVERLAP_CHOICES, find_roller
from kasuwa.core.callers import KEY_SCOPES, SCOPE_DESCRIPTIONS, KeyScope, check_key_name, read_ranges, read_scopes
from kasuwa.merchants import keys as merchant_keys
from kasuwa.merchants import merchants
from kasuwa.merchants.keys import KeyRefused, NewKey, UnknownKey
from kasuwa.postgres.connection_pool import Connection
from kasuwa.webhooks.signatures import standard_secret

EXPIRY_CHOICES = (("", "never"), ("30", "30 days"), ("90", "90 days"), ("365", "1 year"))
# Nobody makes a key that may do more than they may themselves. Contract: keys#making
TOO_MANY_SCOPES = "a key of scope {scopes} may do more than your role may; ask an owner"
TOO_POWERFUL = "This key may do more than your role may. Ask an owner to roll it."


async def show_keys(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        keys = await merchant_keys.list_keys(reader, visit.merchant.merchant_id)
        secrets = await merchant_keys.list_secrets(reader, visit.merchant.merchant_id)
    shared: dict[str, Any] = {
        "keys": keys,
        "secrets": secrets,
        "scopes": [(scope, SCOPE_DESCRIPTIONS[scope]) for scope in KEY_SCOPES if is_givable(visit, scope)],
        "can_roll": {key.key_id for key in keys if not find_excess_scopes(visit.user.role, key.scopes)},
        "overlaps": KEY_OVERLAP_CHOICES,
        "expiries": EXPIRY_CHOICES,
        "submitted": {},
        "chosen": [],
    }
    return visit.render("keys.html", status, **{**shared, **values})


def is_givable(visit: Visit, scope: KeyScope) -> bool:
    return not find_excess_scopes(visit.user.role, [scope])


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
        excess = find_excess_scopes(visit.user.role, scopes)
        if excess:
            faults["scopes"] = TOO_MANY_SCOPES.format(scopes=" or ".join(excess))
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
                held = (await find_roller(visit, connection)).make(new)
                key_id, key = await merchant_keys.create_key(connection, visit.services.vault, merchant_id, held)
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
            roller = await find_roller(visit, connection)
            new_id, key = await merchant_keys.replace_key(
                connection, visit.services.vault, merchant_id, overlap, key_id, roller
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
    not have a key of these scopes: whoever rolls a key holds the new one."""
    merchant_id = await merchants.lock_merchant(connection, visit.merchant.mid)
    matching = [key for key in await merchant_keys.list_keys(connection, merchant_id) if key.key_id == key_id]
    if not matching:
        raise UnknownKey(key_id)
    if find_excess_scopes(visit.user.role, matching[0].scopes):
        raise KeyRefused(TOO_POWERFUL)
    return merchant_id


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
            name = await merchant_keys.revoke_key(connection, visit.services.vault, merchant_id, key_id)
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
