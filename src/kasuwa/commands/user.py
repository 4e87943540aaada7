"""`kasuwa user`: who may sign in to the console. Live has no user but those who are added here, or invited there."""

import sys
from typing import Annotated, Any

import typer

from kasuwa.commands.database import DataOption, with_connection
from kasuwa.console.access import ROLES, email_fault, roles_beside
from kasuwa.core.secrets import Vault
from kasuwa.db import console_users, merchants
from kasuwa.db.console_users import User
from kasuwa.db.primary import connect_to_primary
from kasuwa.settings import Settings, console_address

command = typer.Typer(no_args_is_help=True, help="Add and change people who may sign in to the console.")

# The people of the test environment's first start: they have no password until they set one.
DEMO_USERS = (("owner@kasuwa.test", "GP0000001", "merchant:owner"), ("operator@kasuwa.test", None, "operator:admin"))


@command.command(name="add")
def add_user(
    email: str,
    role: Annotated[str, typer.Option(help="One of " + ", ".join(ROLES) + ".")],
    mid: Annotated[str | None, typer.Option(help="The merchant that a merchant's user belongs to.")] = None,
    data: DataOption = None,
) -> None:
    """Add a person, or invite one anew: prints a link with which they set their password; it works once."""
    if email_fault(email) is not None:
        sys.exit(f"kasuwa: {email_fault(email)}")
    if role not in roles_beside(mid):
        belongs = "an operator's, without --mid" if mid is None else "a merchant's"
        sys.exit(f"kasuwa: --role must be {belongs}: one of {', '.join(roles_beside(mid))}")

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        if mid is not None:
            await merchants.find_merchant_id(connection, mid)
        known = await console_users.find_user(connection, email)
        if known is not None and (known.mid, known.role) != (mid, role):
            sys.exit(f"kasuwa: {email} is {known.role} of {known.mid or 'the operator'} already")
        user_id = await console_users.add_user(connection, email, mid, role) if known is None else known.user_id
        token = await console_users.make_link(connection, user_id, "invitation")
        return f"{console_address(settings)}/link/{token}"

    typer.echo(with_connection(data, work))


@command.command(name="list")
def list_users(data: DataOption = None) -> None:
    """Everybody who may sign in, and who may not any more."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[User]:
        return await console_users.everybody(connection)

    for user in with_connection(data, work):
        state = "disabled" if user.disabled_at else "active" if user.password else "invited"
        typer.echo(f"{user.email}  {user.role}  {user.mid or '-'}  {state}")


@command.command(name="disable")
def disable_user(email: str, data: DataOption = None) -> None:
    """End a person's sessions and let them in no more."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> None:
        user = await console_users.find_user(connection, email)
        if user is None:
            sys.exit(f"kasuwa: nobody has the address {email}")
        await console_users.disable(connection, user.user_id)

    with_connection(data, work)
    typer.echo(f"{email} cannot sign in any more")


async def demo_links(dsn: str) -> list[tuple[str, str]]:
    """In the test environment: the people of the first start, and a link for each who has no password yet."""
    connection = await connect_to_primary(dsn)
    try:
        links = []
        for email, mid, role in DEMO_USERS:
            known = await console_users.find_user(connection, email)
            if known is None:
                await console_users.add_user(connection, email, mid, role)
                known = await console_users.find_user(connection, email)
            assert known is not None
            if known.password is None and known.disabled_at is None:
                links.append((email, await console_users.make_link(connection, known.user_id, "sign_in")))
        return links
    finally:
        await connection.close()
