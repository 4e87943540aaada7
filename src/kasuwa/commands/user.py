"""`kasuwa user`: users of the console. Live starts without users, so its first operator is added here."""

import sys
from datetime import timedelta
from typing import Annotated, Any

import typer

from kasuwa.authority.acts import FIRST_OPERATOR, FIRST_OWNER, LIVE, PERSON, Act
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.authority.cooling_off import read_cooling_off, read_environment
from kasuwa.authority.roles import OWNER, ROLES, assignable_roles
from kasuwa.boot.server_records import find_servers
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.proposing import must_propose, propose, unproven_maker
from kasuwa.console.kit.access import email_fault
from kasuwa.console.operator.user_proposals import INVITE, RESET, UserChange
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.people import users
from kasuwa.people.users import ConsoleUser
from kasuwa.postgres.primary import connect_to_primary
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings, console_address

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Manage users of the console.")

# Users that a new test environment starts with. They have no password until they set one.
DEMO_USERS = (("owner@kasuwa.test", "GP0000001", "merchant:owner"), ("operator@kasuwa.test", None, "operator:admin"))


MidOption = Annotated[str | None, typer.Option(help="mid of the user's merchant. Leave out for operators.")]
ResetOption = Annotated[
    bool, typer.Option("--reset", help="Reset password and second factor of a user who has joined.")
]


@command.command(name="add")
def add_user(
    email: str,
    role: Annotated[str, typer.Option(help="One of " + ", ".join(ROLES) + ".")],
    mid: MidOption = None,
    data: DataOption = None,
) -> None:
    """Add a user and print a one-time link with which they set their password. Give it to nobody else.

    In live this is for the first two operators and a merchant's first owner. Anybody else is proposed, and two
    operators approve it."""
    if email_fault(email) is not None:
        sys.exit(f"kasuwa: {email_fault(email)}")
    if role not in assignable_roles(mid):
        side = "an operator role without --mid" if mid is None else "a merchant role with --mid"
        sys.exit(f"kasuwa: --role must be {side}: one of {', '.join(assignable_roles(mid))}")

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        async with connection.transaction():
            chain = await find_audit_chain(connection, mid)
            if await users.find_user_of_merchant(connection, vault, email, mid) is not None:
                sys.exit(f"kasuwa: {email} exists already; for a new link run: kasuwa user link {email}")
            act = await find_act(connection, vault, mid, role)
            if await must_propose(connection, act):
                change = UserChange(INVITE, email, role, mid=mid)
                return await propose(connection, vault, PERSON.name, mid, change, change.description)
            if act is FIRST_OWNER and mid is not None and await read_environment(connection) == LIVE:
                await users.withdraw_invitations(connection, vault, mid)
            user_id = await users.add_user(connection, vault, email, mid, role)
            await mark_made(connection, vault, user_id, mid)
            token = await users.make_link(connection, vault, user_id, "invitation")
            await record_audit_entry(connection, chain, "added a person", email, after=role)
        return make_console_link(settings, token)

    typer.echo(run_with_connection(data, work))


def make_console_link(settings: Settings, token: str) -> str:
    """Returns the link with the address of the console that runs on the data directory.

    If none runs there, it has the address of the settings. Standard error says so, unless KASUWA_CONSOLE_URL is set."""
    running = [server.console_url for server in find_servers(settings.data) if server.console_url is not None]
    if not running and settings.console_url is None:
        typer.echo(f"kasuwa: no console runs on {settings.data} now: the link works when one does", err=True)
    return f"{running[-1] if running else console_address(settings)}/link/{token}"


async def find_act(connection: Any, vault: Vault, mid: str | None, role: str) -> Act:
    """Returns the act of adding or resetting a user by command. One person adds those whom nobody else could."""
    if mid is None:
        joined = await users.count_operators(connection, vault, await read_cooling_off(connection, vault))
        return FIRST_OPERATOR if joined < 2 else PERSON
    is_first = role == OWNER and not await users.has_joined_user(connection, mid)
    return FIRST_OWNER if is_first else PERSON


async def mark_made(connection: Any, vault: Vault, user_id: int, mid: str | None) -> None:
    """Records that somebody whom nothing proved made or reset an account. It approves nothing for the cooling-off time,
    unless nobody else could: the first operator, and the first user of a merchant."""
    if mid is None:
        is_first = not await users.has_other_operators(connection, user_id)
    else:
        is_first = not await users.has_joined_user(connection, mid)
    cooling_off = timedelta() if is_first else await read_cooling_off(connection, vault)
    await users.set_makers(connection, vault, user_id, [unproven_maker()], cooling_off)


async def find_audit_chain(connection: Any, mid: str | None) -> int:
    return OPERATOR_CHAIN_ID if mid is None else await merchants.find_merchant_id(connection, mid)


async def find_only_user(connection: Any, email: str, mid: str | None) -> ConsoleUser:
    """Returns the user with this email and mid. Exits if there is none, or several and no mid is given."""
    matching = [user for user in await users.find_users_by_email(connection, email) if mid is None or user.mid == mid]
    if not matching:
        sys.exit(f"kasuwa: nobody has the email address {email}")
    if len(matching) > 1:
        owners = ", ".join(user.mid or "the operator" for user in matching)
        sys.exit(f"kasuwa: {email} is a user of {owners}: choose one with --mid")
    return matching[0]


@command.command(name="link")
def make_link(email: str, mid: MidOption = None, reset: ResetOption = False, data: DataOption = None) -> None:
    """Print a new link for an invited user, or with --reset for a user who has joined.

    In live a reset is proposed once two operators have joined, and two operators approve it."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        async with connection.transaction():
            user = await find_only_user(connection, email, mid)
            if user.state != "invited" and not reset:
                sys.exit(f"kasuwa: {email} has joined or is disabled: use --reset to reset password and second factor")
            if reset and await must_propose(connection, await find_act(connection, vault, user.mid, user.role)):
                change = UserChange(RESET, user.email, user.role, user.user_id, mid=user.mid)
                return await propose(connection, vault, PERSON.name, user.mid, change, change.description)
            if reset:
                await users.reset_credentials(connection, vault, user.user_id)
            await mark_made(connection, vault, user.user_id, user.mid)
            token = await users.make_link(connection, vault, user.user_id, "invitation")
            what = "made a link, password and second factor to be set anew" if reset else "made a link"
            await record_audit_entry(connection, await find_audit_chain(connection, user.mid), what, email)
        return make_console_link(settings, token)

    typer.echo(run_with_connection(data, work))


@command.command(name="list")
def list_users(data: DataOption = None) -> None:
    """List all users, including disabled ones."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[ConsoleUser]:
        return await users.list_all_users(connection)

    for user in run_with_connection(data, work):
        state = "disabled" if user.disabled_at else user.state
        typer.echo(f"{user.email}  {user.role}  {user.mid or '-'}  {state}")


@command.command(name="disable")
def disable_user(email: str, mid: MidOption = None, data: DataOption = None) -> None:
    """Disable a user and end their sessions."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> None:
        async with connection.transaction():
            user = await find_only_user(connection, email, mid)
            await users.disable(connection, vault, user.user_id)
            await record_audit_entry(
                connection, await find_audit_chain(connection, user.mid), "disabled", email, user.role
            )

    run_with_connection(data, work)
    typer.echo(f"{email} can no longer sign in")


async def make_demo_links(settings: Settings, dsn: str) -> list[tuple[str, str]]:
    """Adds the demo users of the test environment if missing.

    Returns email and link token of each that has no password yet.
    """
    connection = await connect_to_primary(dsn)
    try:
        vault = await vault_keys.open_vault(connection, load_secret_key(settings))
        links = []
        for email, mid, role in DEMO_USERS:
            known = await users.find_user_of_merchant(connection, vault, email, mid)
            if known is None:
                await users.add_user(connection, vault, email, mid, role)
                known = await users.find_user_of_merchant(connection, vault, email, mid)
            assert known is not None
            if known.password_hash is None and known.disabled_at is None:
                links.append((email, await users.make_link(connection, vault, known.user_id, "sign_in")))
                await record_audit_entry(connection, await find_audit_chain(connection, mid), "made a link", email)
        return links
    finally:
        await connection.close()
