"""`kasuwa merchant keys` and the commands that make, roll and revoke API keys and signing secrets."""

import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, Any, TypeVar

import msgspec
import typer

from kasuwa.authority.acts import HARMLESS_KEY, KEY, Act, moves_money
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.proposing import must_propose, propose
from kasuwa.console.operator.keys import KeyChange, MadeKey, apply_key_change, audit_change
from kasuwa.core.calendar import utc_text
from kasuwa.core.callers import check_key_name, read_ranges, read_scopes
from kasuwa.core.vault import Vault
from kasuwa.merchants import keys, merchants
from kasuwa.merchants.keys import NOBODY, KeyRefused, UnknownKey
from kasuwa.settings.settings import Settings
from kasuwa.webhooks.signatures import standard_secret

T = TypeVar("T")
MAX_EXPIRY_DAYS = 3660
OverlapOption = Annotated[float, typer.Option(help="Hours that the old one still works, at most 168.")]


def register(command: typer.Typer) -> None:
    """Adds the commands to those of `kasuwa merchant`."""
    command.command(name="keys")(list_keys)
    command.command(name="add-key")(add_key)
    command.command(name="roll-key")(roll_key)
    command.command(name="revoke-key")(revoke_key)
    command.command(name="roll-secret")(roll_secret)


def run_on_keys(data: Any, mid: str, change: KeyChange) -> MadeKey | str:
    """Makes or rolls a key, or proposes it. Returns what was made, or the line to print. Exits with one line if it is
    refused."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> MadeKey | str:
        if await must_propose(connection, await find_act(connection, mid, change)):
            return await propose(connection, vault, KEY.name, mid, change, change.description)
        async with connection.transaction():
            new_key = await apply_key_change(connection, vault, mid, change, NOBODY)
            chain = await merchants.find_merchant_id(connection, mid)
            action, subject, after = audit_change(change, new_key)
            await record_audit_entry(connection, chain, action, subject, after=after)
        return new_key

    return run_checked(data, mid, work)


def run_checked(data: Any, mid: str, work: Callable[[Any, Vault, Settings], Awaitable[T]]) -> T:
    """Runs `work`. Exits with one line if the keys cannot be changed like this."""
    try:
        return run_with_connection(data, work)
    except UnknownKey as error:
        sys.exit(f"kasuwa: {mid} has no valid key {error}")
    except KeyRefused as error:
        sys.exit(f"kasuwa: {error}")


async def find_act(connection: Any, mid: str, change: KeyChange) -> Act:
    """Returns the act of a change: another one for keys that cannot move money out."""
    scopes = change.scopes
    if change.change == "roll" and change.key_id:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        matching = [key for key in await keys.list_keys(connection, merchant_id) if key.key_id == change.key_id]
        if not matching:
            raise UnknownKey(change.key_id)
        scopes = tuple(matching[0].scopes)
    return KEY if change.change == "secret" or not scopes or moves_money(scopes) else HARMLESS_KEY


def check_overlap(hours: float) -> float:
    if not 0 <= hours <= keys.MAX_KEY_OVERLAP / timedelta(hours=1):
        sys.exit("kasuwa: --overlap-hours must be between 0 and 168")
    return hours


def list_keys(
    mid: str,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON a key.")] = False,
    data: DataOption = None,
) -> None:
    """List the valid keys of a merchant, the newest first: number, scopes, last use, end, ranges, name."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[keys.KeyRecord]:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        return await keys.list_keys(connection, merchant_id)

    for key in run_with_connection(data, work):
        if json:
            typer.echo(msgspec.json.encode(key).decode())
            continue
        used = "never used" if key.last_used_at is None else f"used {utc_text(key.last_used_at)} {key.last_used_from}"
        ends = "" if key.expires_at is None else f"  ends {utc_text(key.expires_at)}"
        ranges = f"  from {','.join(key.addresses)}" if key.addresses else ""
        refused = "" if key.refused_at is None else f"  refused {utc_text(key.refused_at)} {key.refused_from}"
        typer.echo(f"{key.key_id}  {','.join(key.scopes)}  {used}{ends}{ranges}{refused}  {key.name}")


def add_key(
    mid: str,
    name: Annotated[str, typer.Option(help="Name of the key, to tell it from others.")],
    scope: Annotated[
        list[str], typer.Option(help="collect, payout, issue, lend, read, approve or all. May be repeated.")
    ],
    address: Annotated[
        list[str] | None, typer.Option(help="Address or CIDR range that it may be used from. May be repeated.")
    ] = None,
    expires_days: Annotated[int | None, typer.Option(help="Days after which it stops working.")] = None,
    data: DataOption = None,
) -> None:
    """Make a further key of a merchant and print its number and the key. It cannot be shown again.

    In live a key that can move money out is proposed, and two operators approve it: it is shown to the second of them.
    """
    fault = check_key_name(name)
    if fault is not None:
        sys.exit(f"kasuwa: --name: {fault}")
    if expires_days is not None and not 1 <= expires_days <= MAX_EXPIRY_DAYS:
        sys.exit(f"kasuwa: --expires-days must be between 1 and {MAX_EXPIRY_DAYS}")
    try:
        scopes, addresses = read_scopes(scope), read_ranges(address or [])
    except ValueError as error:
        sys.exit(f"kasuwa: {error}")
    change = KeyChange(change="add", name=name, scopes=scopes, addresses=addresses, expires_days=expires_days)
    new_key = run_on_keys(data, mid, change)
    typer.echo(new_key if isinstance(new_key, str) else f"key_id {new_key.key_id}\nkey {new_key.text}")


def roll_key(
    mid: str,
    key_id: Annotated[int, typer.Option("--key-id", help="The key to replace. Default: all keys of scope all.")] = 0,
    overlap_hours: OverlapOption = 24.0,
    data: DataOption = None,
) -> None:
    """Replace a key of a merchant by a new one and print it. The old one works until the overlap ends.

    In live a key that can move money out is rolled by a proposal, as with add-key."""
    change = KeyChange(change="roll", key_id=key_id, overlap_hours=check_overlap(overlap_hours))
    new_key = run_on_keys(data, mid, change)
    typer.echo(new_key if isinstance(new_key, str) else f"key {new_key.text}")


def revoke_key(mid: str, key_id: int, data: DataOption = None) -> None:
    """End a key of a merchant at once."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        async with connection.transaction():
            merchant_id = await merchants.lock_merchant(connection, mid)
            name = await keys.revoke_key(connection, vault, merchant_id, key_id)
            await record_audit_entry(connection, merchant_id, "revoked a key", f"key {key_id}", before=name)
        return name

    typer.echo(f"key {key_id} ({run_checked(data, mid, work)}) no longer works")


def roll_secret(mid: str, overlap_hours: OverlapOption = 24.0, data: DataOption = None) -> None:
    """Make a new signing secret of events and print it, also in the form of Standard Webhooks. Until the overlap ends,
    events are signed with the old one as well. In live it is proposed, and two operators approve it."""
    new_secret = run_on_keys(data, mid, KeyChange(change="secret", overlap_hours=check_overlap(overlap_hours)))
    typer.echo(
        new_secret
        if isinstance(new_secret, str)
        else f"secret {new_secret.text}\nstandard {standard_secret(new_secret.text)}"
    )
