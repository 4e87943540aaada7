"""`kasuwa keys`: lists, rotates and drops the keys that encrypt."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, Any, TypeVar

import asyncpg
import msgspec
import typer

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.commands.database import record_audit_entry, run_with_connection, system_user
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.calendar import utc_text
from kasuwa.core.keyring import INDEX, SEAL
from kasuwa.core.vault import Vault, kek_name
from kasuwa.merchants import merchants
from kasuwa.methods.sealed_columns import SEALED_PLACES
from kasuwa.privacy import key_moves, key_versions
from kasuwa.privacy.key_versions import KeyVersion, RotationRefused
from kasuwa.settings.database_logins import OWNER_SETTING
from kasuwa.settings.secret_key import is_secret_in_data, load_next_secret_key, load_secret_key, replace_secret_file
from kasuwa.settings.settings import Settings

command = typer.Typer(no_args_is_help=True, help="List, rotate and drop the keys that encrypt.")

T = TypeVar("T")

MAX_OVERLAP_HOURS = 168
POLL_SECONDS = 0.5

KEK_CHANGED = "the new secret key is in place; the old one decrypts nothing anymore"
KEK_ADDED = """\
both secret keys open this database now. Next:
1. set KASUWA_SECRET_KEY to the new key and restart all processes, one after the other
2. run `kasuwa keys drop --kek`: the old key opens nothing from then on"""


def run_change(data: Any, change: Callable[[Any, bytes, Settings], Awaitable[T]]) -> T:
    """Runs a change with the key-encryption key, as the owner of the tables: the application's login cannot change the
    wrapped root. Exits with one line if it is refused."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> T:
        return await change(connection, load_secret_key(settings, may_create=False), settings)

    try:
        return run_with_connection(data, work, as_owner=True)
    except RotationRefused as error:
        sys.exit(f"kasuwa: {error}")
    except asyncpg.InsufficientPrivilegeError:
        sys.exit(f"kasuwa: keys are changed with the owner's login: set {OWNER_SETTING}")


class ListedVersion(msgspec.Struct):
    """A version, with how many ciphertexts of the database need it."""

    key: KeyVersion
    ciphertexts: int | None  # None for keys of hashes, which have none


@command.command(name="list")
def list_keys(
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON a version.")] = False,
    data: DataOption = None,
) -> None:
    """List the versions of the data keys: purpose, version, state, merchant, when it was made, age, and how many
    ciphertexts of the database have it. Counting reads every table that has some."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[ListedVersion]:
        counts = await key_moves.count_ciphertexts(connection, SEALED_PLACES)
        return [
            ListedVersion(key, counts.get(key.version, 0) if key.purpose == SEAL else None)
            for key in await key_versions.list_versions(connection)
        ]

    for listed in run_with_connection(data, work):
        typer.echo(encode_line(listed) if json else describe(listed))


def encode_line(listed: ListedVersion) -> str:
    fields = msgspec.structs.asdict(listed.key) | {"ciphertexts": listed.ciphertexts}
    return msgspec.json.encode(fields).decode()


def describe(listed: ListedVersion) -> str:
    key = listed.key
    used = "" if listed.ciphertexts is None else f"  {listed.ciphertexts} ciphertexts"
    progress = "" if key.finished_at is not None else f"  being rolled out, {key.rewritten} rows rewritten"
    unreadable = f"  {key.unreadable} unreadable" if key.unreadable else ""
    creation = f"made {utc_text(key.created_at)}, {key.age_days} days ago"
    owner = key.mid or "all merchants"
    return f"{key.purpose} {key.version}  {key.state}  {owner}  {creation}{used}{progress}{unreadable}"


@command.command()
def rotate(
    kek: Annotated[bool, typer.Option("--kek", help="Replace the secret key (KASUWA_NEW_SECRET_KEY).")] = False,
    root: Annotated[bool, typer.Option("--root", help="Replace the key of all merchants.")] = False,
    merchant: Annotated[str | None, typer.Option("--merchant", metavar="MID", help="Replace one merchant's.")] = None,
    overlap_hours: Annotated[
        float, typer.Option(help="Hours that links to statements and open forms of the old key still work.")
    ] = 1.0,
    wait: Annotated[bool, typer.Option("--wait", help="Return when the old key is retired.")] = False,
    data: DataOption = None,
) -> None:
    """Replace a key while the service runs.

    `--root` and `--merchant` add a version. All processes learn it within a minute and then encrypt with it; the worker
    encrypts everything else anew in the background, and then the old version is retired. `--kek` wraps the data keys
    with a new secret key."""
    if [kek, root, merchant is not None].count(True) != 1:
        sys.exit("kasuwa: give one of --kek, --root and --merchant")
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        sys.exit(f"kasuwa: --overlap-hours must be between 0 and {MAX_OVERLAP_HOURS}")
    if kek:
        typer.echo(run_change(data, rotate_kek))
        return
    version = run_change(data, make_version_adder(merchant, timedelta(hours=overlap_hours)))
    typer.echo(f"version {version} is being rolled out; `kasuwa keys list` says how far it is")
    if wait:
        run_change(data, wait_for_rotation)
        typer.echo(f"version {version} is in use everywhere; the versions before it are retired")


def make_version_adder(mid: str | None, overlap: timedelta) -> Callable[[Any, bytes, Settings], Awaitable[int]]:
    async def add(connection: Any, secret_key: bytes, settings: Settings) -> int:
        async with connection.transaction():
            merchant_id = None if mid is None else await merchants.lock_merchant(connection, mid)
            await key_versions.lock_rotation(connection, secret_key)
            by = system_user()
            version = await key_versions.add_version(connection, secret_key, SEAL, merchant_id, overlap, by)
            if merchant_id is None:
                await key_versions.add_version(connection, secret_key, INDEX, None, timedelta(), by)
            subject = f"data key {version}" if mid is None else f"data key {version} of {mid}"
            await record_audit_entry(connection, OPERATOR_CHAIN_ID, "rotated a key", subject)
            return version

    return add


async def wait_for_rotation(connection: Any, secret_key: bytes, settings: Settings) -> None:
    while await key_versions.find_unfinished(connection):
        await asyncio.sleep(POLL_SECONDS)


async def rotate_kek(connection: Any, secret_key: bytes, settings: Settings) -> str:
    new = await asyncio.to_thread(load_next_secret_key, settings)
    if new == secret_key:
        raise RotationRefused("the new secret key is the one in use")
    async with connection.transaction():
        await key_versions.wrap_all(connection, secret_key, new)
        subject = f"secret key {kek_name(secret_key)} to {kek_name(new)}"
        await record_audit_entry(connection, OPERATOR_CHAIN_ID, "rotated a key", subject)
    if settings.new_secret_key is not None or settings.new_secret_key_command is not None:
        return KEK_ADDED
    assert is_secret_in_data(settings), "a new key is made only beside the file of the data directory"
    replace_secret_file(settings)
    async with connection.transaction():
        await key_versions.drop_other_keks(connection, new)
    return KEK_CHANGED


@command.command()
def drop(
    version: Annotated[int | None, typer.Argument(help="A retired version of the key that encrypts.")] = None,
    kek: Annotated[
        bool, typer.Option("--kek", help="Delete what other secret keys than the configured one can open.")
    ] = False,
    data: DataOption = None,
) -> None:
    """Delete a retired key for good, or what an old secret key could open."""
    if (version is None) != kek:
        sys.exit("kasuwa: give a version, or --kek")

    async def change(connection: Any, secret_key: bytes, settings: Settings) -> None:
        async with connection.transaction():
            if version is None:
                await key_versions.drop_other_keks(connection, secret_key)
            else:
                await key_versions.drop_version(connection, secret_key, version)
            subject = "old secret keys" if version is None else f"data key {version}"
            await record_audit_entry(connection, OPERATOR_CHAIN_ID, "dropped a key", subject)

    run_change(data, change)
    typer.echo("only the configured secret key opens this database" if kek else f"version {version} is deleted")
