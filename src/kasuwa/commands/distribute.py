"""`kasuwa database`: distributes the database over the servers of a Citus cluster."""

from typing import Any

import typer

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.boot.supervise import ServeError
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.postgres.distribution.distribute import CannotDistribute, distribute
from kasuwa.postgres.logins import grant_rights
from kasuwa.settings.database_logins import find_logins
from kasuwa.settings.settings import Settings

command = typer.Typer(no_args_is_help=True)


@command.callback()
def describe() -> None:
    """Distribute the database over several servers."""


@command.command(name="distribute")
def distribute_database(data: DataOption = None) -> None:
    """Distribute the tables by merchant over the servers of a Citus cluster.

    Moves the rows that there are. Run it again after an upgrade: it distributes what is new. Every kasuwa on the
    database must be stopped."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        if settings.database_url is None or settings.database_owner_url is None:
            raise ServeError(
                "a distributed database needs KASUWA_DATABASE_URL and KASUWA_DATABASE_OWNER_URL with a login each: "
                "its servers connect to each other as the login that asks"
            )
        try:
            done = await distribute(connection)
        except CannotDistribute as error:
            raise ServeError(str(error)) from None
        await grant_rights(connection, await find_logins(settings, settings.database_url, connection))
        if done:
            await record_audit_entry(
                connection, OPERATOR_CHAIN_ID, "distributed tables", "database", "", str(len(done))
            )
        return done

    done = run_with_connection(data, work, as_owner=True)
    typer.echo("\n".join(done) or "nothing to do: every table is where it belongs")
