"""A database with people and without a service, for the tests of the mails to them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

from kasuwa.core.mail_text import MailText
from kasuwa.core.vault import Vault
from kasuwa.jobs.people_mails import PeopleMails
from kasuwa.jobs.people_notices import PeopleNotices
from kasuwa.people import mails, users
from kasuwa.people.users import ConsoleUser
from kasuwa.postgres import migrate
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.connections import open_operator_pool
from kasuwa.rails.mail_system import MailPace, SmtpMail
from kasuwa.rails.ports.mail import MailRail
from tests.outbound.mail_server import SmtpServer
from tests.running import Deployments

T = TypeVar("T")
VAULT = Vault(bytes(32))
CONSOLE = "https://console.example.com"
TEXT = MailText("Words", "Hello,", ("Something waits.",))


class Ground:
    """The database, and the people in it."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def add_person(self, email: str, role: str = "operator:admin", mid: str | None = None) -> ConsoleUser:
        async with self.pool.acquire() as connection, connection.transaction():
            user_id = await users.add_user(connection, VAULT, email, mid, role)
            token = await users.make_link(connection, VAULT, user_id, "sign_in")
            assert await users.redeem_link(connection, VAULT, token)
            person = await users.get_user(connection, VAULT, user_id, mid)
        assert person is not None
        return person

    async def queue(self, person: ConsoleUser, occasion: str = "one", purpose: str = mails.SIGN_IN_ALERT) -> bool:
        async with self.pool.acquire() as connection:
            return await mails.queue_mail(connection, VAULT, person, purpose, occasion, TEXT)

    async def send(self, rail: MailRail | None, *, keeps_content: bool = False) -> int:
        """Sends what is due, as a worker does in one turn."""
        return await PeopleMails(self.pool, rail, VAULT, DatabaseClock(), keeps_content=keeps_content).run_once()

    async def look(self) -> None:
        """Looks for what waits, as a worker that has just started."""
        await PeopleNotices(self.pool, VAULT, CONSOLE, sends_mail=True).run_once()

    async def states(self) -> list[tuple[str, int, str]]:
        """Returns state, number of tries and code of all mails, oldest first."""
        rows = await self.pool.fetch("select status, attempts, reply_code from person_mail order by number")
        return [tuple(row) for row in rows]

    async def outbox(self, mid: str | None = None) -> list[Any]:
        async with self.pool.acquire() as connection:
            return await mails.list_mails(connection, VAULT, mid)

    async def make_due(self) -> None:
        await self.pool.execute("update person_mail set due_at = now() where status = 'queued'")

    async def end_lease(self) -> None:
        """Lets the lease run out, as time does when the process that claimed a mail has died."""
        await self.pool.execute("update person_mail set leased_until = now() where leased_until is not null")


@contextlib.asynccontextmanager
async def opened(dsn: str) -> AsyncIterator[Ground]:
    pool = await open_operator_pool(dsn)
    try:
        await pool.execute("delete from person_mail")
        await pool.execute("delete from person_mail_off")
        yield Ground(pool)
    finally:
        await pool.close()


def make_database(deployments: Deployments, name: str) -> str:
    """Returns the address of a new database in which the service's role has its rights."""
    dsn = deployments.migrated_database(name)

    async def grant() -> None:
        connection = await asyncpg.connect(dsn)
        await migrate.prepare_roles(connection, may_create=True)
        await connection.close()

    asyncio.run(grant())
    return dsn


def run(dsn: str, work: Callable[[Ground], Awaitable[T]]) -> T:
    async def begin() -> T:
        async with opened(dsn) as ground:
            return await work(ground)

    return asyncio.run(begin())


def smtp(server: SmtpServer, mails_a_minute: int = 6000) -> SmtpMail:
    return SmtpMail(server.transport(), MailPace(mails_a_minute))
