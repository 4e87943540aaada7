"""Sends the mails to the people of the console, through the same mail system as those of merchants.

A mail is claimed under a lease, with no transaction open while it is sent. What every outcome makes of it is the same
as for a merchant's mail (methods/mail): one whose outcome is unknown is not sent again.
"""

import asyncio
from datetime import timedelta
from functools import partial

import structlog

from kasuwa.core.vault import Vault
from kasuwa.people import mails
from kasuwa.people.mails import BOUNCED, DISABLED, FAILED, NO_MAIL_SERVER, RETRY_AFTER, SENT, UNKNOWN, ClaimedMail
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.polling import Polling
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.mail import REPLY_CODE, RETURNED, MailRail
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable

POLL_SECONDS = 0.5
FORGET_SECONDS = 3600.0
# As a step of a job (jobs/steps.py): the mail system has deadlines of its own, and this one ends a call that does not
# keep them.
SEND_SECONDS = 10.0

log = structlog.get_logger("kasuwa.mail")


class PeopleMails(Polling):
    """Sends what is queued until it is stopped. `keeps_content` in the test environment, whose outbox is the table.

    Without a rail every mail fails at once: one that waited until there is a mail server would be late."""

    def __init__(
        self, pool: Pool, rail: MailRail | None, vault: Vault, clock: DatabaseClock, *, keeps_content: bool
    ) -> None:
        super().__init__()
        self._pool = pool
        self._rail = rail
        self._vault = vault
        self._clock = clock
        self._keeps_content = keeps_content

    async def run(self) -> None:
        await asyncio.gather(
            self.repeat(partial(self.drain, self.run_once), POLL_SECONDS, "sending mails to people failed"),
            self.repeat(partial(mails.forget_old, self._pool), FORGET_SECONDS, "forgetting old mails failed"),
        )

    async def run_once(self) -> int:
        """Claims the mails that are due, sends them and returns their number."""
        claimed = await mails.claim(self._pool)
        await asyncio.gather(*(self._handle(mail) for mail in claimed))
        return len(claimed)

    async def _handle(self, mail: ClaimedMail) -> None:
        answer = await self._send(mail)
        if answer.is_unsent:
            await mails.postpone(self._pool, mail, timedelta(seconds=answer.retry_after), was_tried=False)
            return
        # The page of a team shows why a mail was not sent at all.
        code = answer.facts.get(REPLY_CODE) or (answer.message if answer.status == orders.FAILED else "")
        if answer.status == orders.UNAVAILABLE and mail.attempts < len(RETRY_AFTER):
            await mails.postpone(self._pool, mail, RETRY_AFTER[mail.attempts], code, was_tried=True)
            return
        taken = BOUNCED if answer.facts.get(RETURNED) else SENT
        status = {orders.SUCCESSFUL: taken, orders.UNKNOWN: UNKNOWN}.get(answer.status, FAILED)
        if status not in (SENT, BOUNCED) and code != DISABLED:
            log.warning("a mail to a person was not sent", mail_id=mail.mail_id, status=status, code=code)
        await mails.end(self._pool, mail, status, code, keeps_content=self._keeps_content)

    async def _send(self, mail: ClaimedMail) -> Answer:
        """Gives a mail to the mail system. A process that died may have sent one that was claimed before."""
        if mail.claims > 1:
            return orders.RAIL_SILENT
        if self._rail is None or mail.is_disabled:
            reason = DISABLED if mail.is_disabled else NO_MAIL_SERVER
            return Answer(orders.FAILED, None, "", {REPLY_CODE: reason})
        try:
            async with asyncio.timeout(SEND_SECONDS):
                return await self._rail.send(mail.open(self._vault, self._clock.now()))
        except Unavailable as trouble:
            return orders.record_unavailable(trouble)
        except (NoAnswer, TimeoutError):
            return orders.RAIL_SILENT
