"""Mails people what waits for them: transfers to approve, disputes to answer, endpoints that fail, proposals, notices.

Each kind is gathered: a person gets one mail about all that waits, and the next one when something new has come and
GATHERED_FOR has passed. What is new is told by a mark, such as the newest transfer that waits: a mark has one mail, in
whatever process the task runs.
"""

from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from kasuwa.authority.roles import ADMIN, DEVELOPER, MERCHANT_FINANCE, OPERATOR_FINANCE, OWNER, SUPPORT
from kasuwa.core.calendar import lagos_day
from kasuwa.core.mail_text import MailText, format_day
from kasuwa.core.money import format_grouped
from kasuwa.core.vault import Vault
from kasuwa.people import mails, users
from kasuwa.people.users import ConsoleUser
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.polling import Polling

POLL_SECONDS = 5.0
# The least time between two mails of a kind to a person.
GATHERED_FOR = timedelta(hours=1)
# Days before its end at which an open dispute is mailed again.
DISPUTE_ENDS_WITHIN = timedelta(days=2)
# An endpoint that fails is mailed after so long, and again when it is disabled.
ENDPOINT_FAILS_FOR = timedelta(hours=1)
# Merchants that one query returns. Further ones follow in the order of their mids.
MAX_FOUND = 200

NOW_OF_MERCHANT = "coalesce(b.clock_fixed_at, now() + b.clock_offset_us * interval '1 microsecond')"
CURRENT = """
    join merchant m on m.merchant_id = w.merchant_id and m.current
    join merchant_state b on b.merchant_id = w.merchant_id
"""
NEXT_PAGE = "m.mid > $1 group by m.mid, m.name order by m.mid limit $2"
# Each query takes the mid after which it begins and the most rows. It returns mid and name of the merchant (null for
# operators), the mark, a count, and what its words need.
APPROVALS_WAITING = f"""
    select m.mid, m.name, max(encode(w.key, 'hex')) filter (where w.created_at = w.newest), count(*),
        sum(w.amount)::bigint, min(w.expires_at), min(w.maker), max(w.maker)
    from (select merchant_id, key, amount, created_at, expires_at, detail -> 'maker' ->> 4 as maker,
            max(created_at) over (partition by merchant_id) as newest
        from transfer_approval where state = 'waiting') w {CURRENT} where {NEXT_PAGE}
"""
DISPUTES_WAITING = f"""
    select m.mid, m.name, max(w.number)::text, count(*), min(w.due_at)
    from dispute w {CURRENT} where w.state = 'needs_response' and {NEXT_PAGE}
"""
DISPUTES_ENDING = f"""
    select m.mid, m.name, 'ending ' || max(w.number)::text, count(*), min(w.due_at)
    from dispute w {CURRENT} where w.state = 'needs_response' and w.due_at < {NOW_OF_MERCHANT} + $3::interval
        and {NEXT_PAGE}
"""
ENDPOINTS_FAILING = f"""
    select m.mid, m.name, max(coalesce(w.off_at, w.failing_since))::text, count(*), count(w.off_at),
        min(w.failing_since)
    from failing_endpoint w {CURRENT}
    where (w.off_at is not null or w.failing_since < {NOW_OF_MERCHANT} - $3::interval) and {NEXT_PAGE}
"""
PROPOSALS_WAITING = """
    select null, null, max(approval_id)::text, count(*), min(proposed_by), max(proposed_by) from approval
    where state = 'open' and $1::text is not null having count(*) > 0 limit $2
"""
NOTICES_NEW = """
    select null, null, max(notice_id)::text, count(*) from operator_notice
    where notice_id > (select coalesce(max(notice_id), 0) - 1000 from operator_notice) and at > now() - interval '1 day'
        and $1::text is not null
    having count(*) > 0 limit $2
"""


class WaitingSum(msgspec.Struct, frozen=True):
    """The matters of a kind that wait for the people of a merchant, or for operators."""

    mid: str | None
    merchant_name: str
    mark: str  # another one when something new has come
    count: int
    rest: tuple[Any, ...]  # what the words need besides


class NoticeKind(msgspec.Struct, frozen=True):
    """One kind of notices."""

    purpose: str
    roles: frozenset[str]
    query: str
    write: Callable[[WaitingSum, str], MailText]  # takes the address of the console
    arguments: tuple[Any, ...] = ()
    # Whether a person made all that waits.
    is_maker: Callable[[WaitingSum, ConsoleUser], bool] | None = None


def count_words(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def write_approvals(waiting: WaitingSum, console: str) -> MailText:
    total, expires_at = waiting.rest[:2]
    what = count_words(waiting.count, "transfer waits", "transfers wait")
    return MailText(
        subject="Transfers wait for approval",
        greeting="Hello,",
        paragraphs=(
            f"{what} at {waiting.merchant_name} until somebody else than their maker approves or rejects them. "
            f"The first one expires on {format_day(lagos_day(expires_at))}.",
        ),
        facts=(("Transfers", f"{waiting.count:,}"), ("In total", f"NGN {format_grouped(total)}")),
        links=(("See what waits", f"{console}/transfers/waiting"),),
    )


def is_maker_of_all(waiting: WaitingSum, user: ConsoleUser) -> bool:
    return bool(waiting.rest[2] == waiting.rest[3] == user.email)


def write_disputes(waiting: WaitingSum, console: str, *, is_ending: bool = False) -> MailText:
    (due_at,) = waiting.rest
    what = count_words(waiting.count, "dispute waits", "disputes wait")
    until = f"The first one must be answered by {format_day(lagos_day(due_at))}: without an answer it is lost."
    return MailText(
        subject="Disputes must be answered soon" if is_ending else "Disputes wait for an answer",
        greeting="Hello,",
        paragraphs=(f"{what} for an answer of {waiting.merchant_name}. {until}",),
        links=(("Answer disputes", f"{console}/disputes"),),
    )


def write_endpoints(waiting: WaitingSum, console: str) -> MailText:
    disabled, since = waiting.rest
    what = count_words(waiting.count, "webhook endpoint fails", "webhook endpoints fail")
    off = (f"{count_words(disabled, 'is', 'are')} disabled: save the endpoint again to enable it.",) if disabled else ()
    return MailText(
        subject="Webhook endpoints fail",
        greeting="Hello,",
        paragraphs=(
            f"{what} at {waiting.merchant_name}, the first since {format_day(lagos_day(since))}. Events wait until "
            "they can be delivered.",
            *off,
        ),
        links=(("See the endpoints", f"{console}/settings/endpoints"),),
    )


def write_proposals(waiting: WaitingSum, console: str) -> MailText:
    what = count_words(waiting.count, "proposal waits", "proposals wait")
    return MailText(
        subject="Proposals wait for a decision",
        greeting="Hello,",
        paragraphs=(f"{what} until an operator who did not make it approves or rejects it.",),
        links=(("See the proposals", f"{console}/operator/approvals"),),
    )


def is_proposer_of_all(waiting: WaitingSum, user: ConsoleUser) -> bool:
    return bool(waiting.rest[0] == waiting.rest[1] == user.user_id)


def write_notices(waiting: WaitingSum, console: str) -> MailText:
    what = count_words(waiting.count, "notice was made", "notices were made")
    return MailText(
        subject="New notices of the service",
        greeting="Hello,",
        paragraphs=(f"{what} within the last day. They say what an operator has to do.",),
        links=(("See the notices", f"{console}/operator/notices"),),
    )


MONEY_ROLES = frozenset({OWNER, MERCHANT_FINANCE})
KINDS = (
    NoticeKind(mails.APPROVALS, MONEY_ROLES, APPROVALS_WAITING, write_approvals, is_maker=is_maker_of_all),
    NoticeKind(mails.DISPUTES, MONEY_ROLES, DISPUTES_WAITING, write_disputes),
    NoticeKind(
        mails.DISPUTES, MONEY_ROLES, DISPUTES_ENDING, partial(write_disputes, is_ending=True), (DISPUTE_ENDS_WITHIN,)
    ),
    NoticeKind(
        mails.ENDPOINTS, frozenset({OWNER, DEVELOPER}), ENDPOINTS_FAILING, write_endpoints, (ENDPOINT_FAILS_FOR,)
    ),
    NoticeKind(
        mails.PROPOSALS,
        frozenset({ADMIN, OPERATOR_FINANCE}),
        PROPOSALS_WAITING,
        write_proposals,
        is_maker=is_proposer_of_all,
    ),
    NoticeKind(mails.NOTICES, frozenset({ADMIN, OPERATOR_FINANCE, SUPPORT}), NOTICES_NEW, write_notices),
)


class PeopleNotices(Polling):
    """Looks for what waits until it is stopped."""

    def __init__(self, pool: Pool, vault: Vault, console_url: str, *, sends_mail: bool) -> None:
        super().__init__()
        self._pool = pool
        self._vault = vault
        self._console_url = console_url
        self._sends_mail = sends_mail
        # The last mark of each kind that was handled for all people: nothing is asked about it again.
        self._handled: dict[tuple[int, str | None], str] = {}

    async def run(self) -> None:
        """Does nothing in a deployment that sends no mail: what waits would be mailed late once it does."""
        if self._sends_mail:
            await self.repeat(self.run_once, POLL_SECONDS, "notices to people failed")

    async def run_once(self) -> None:
        for place, kind in enumerate(KINDS):
            handled = {}
            async for waiting in self._find(kind):
                key = place, waiting.mid
                if self._handled.get(key) == waiting.mark or await self._mail(kind, waiting):
                    handled[key] = waiting.mark
            others = {key: mark for key, mark in self._handled.items() if key[0] != place}
            self._handled = others | handled  # what waits no longer is forgotten

    async def _find(self, kind: NoticeKind) -> AsyncIterator[WaitingSum]:
        """Yields what waits of a kind, merchant by merchant."""
        after = ""
        while True:
            rows = await self._pool.fetch(kind.query, after, MAX_FOUND, *kind.arguments)
            for mid, name, mark, count, *rest in rows:
                yield WaitingSum(mid, name or "", mark, count, tuple(rest))
            if len(rows) < MAX_FOUND:
                return
            after = rows[-1][0]

    async def _mail(self, kind: NoticeKind, waiting: WaitingSum) -> bool:
        """Queues the mails about what waits. Returns False if it is too early for a person."""
        async with self._pool.acquire() as connection:
            people = await users.list_joined(connection, self._vault, waiting.mid, sorted(kind.roles))
            now = await connection.fetchval("select now()")
            people_to_ask = [person for person in people if kind.is_maker is None or not kind.is_maker(waiting, person)]
            outcomes = [await self._mail_person(connection, kind, waiting, person, now) for person in people_to_ask]
        return all(outcomes)

    async def _mail_person(
        self, connection: Connection, kind: NoticeKind, waiting: WaitingSum, person: ConsoleUser, now: datetime
    ) -> bool:
        last = await mails.find_last_mail(connection, person.user_id, kind.purpose)
        occasion = f"{kind.purpose} {waiting.mid or ''} {waiting.mark}"
        if last is not None and last > now - GATHERED_FOR:
            return await mails.has_mail(connection, self._vault, person.user_id, occasion)
        text = kind.write(waiting, self._console_url)
        await mails.queue_mail(connection, self._vault, person, kind.purpose, occasion, text)
        return True
