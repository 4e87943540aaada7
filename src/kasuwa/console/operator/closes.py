"""The operator's page of daily closes: which days are closed, what is missing of each, and closing by hand.

The service signs the books after the end of every day (docs/proofs.md). A person does so where it did not, or where a
close is wanted at once. What banks and rails say of a day is compared on the page of reconciliation.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.audit.close_task import NoCloseKey, PublishError
from kasuwa.audit.make_close import SignedClose
from kasuwa.authority.roles import CAN_KEEP_BOOKS
from kasuwa.console.kit.values import short_date
from kasuwa.console.kit.visit import Visit
from kasuwa.console.operator import home_reads
from kasuwa.console.operator.home_reads import CloseRow
from kasuwa.core.calendar import lagos_day
from kasuwa.rails.watch import notices
from kasuwa.reconciliation import reads as reconciliation_reads
from kasuwa.reconciliation.reads import AccountSummary
from kasuwa.reconciliation.suspense import list_suspense

PATH = "/operator/closes"
SHOWN_DAYS = 14
MAX_RECEIPTS = 500
NO_KEY = "This deployment has no key to sign closes with: set KASUWA_CLOSE_KEY."
CONSEQUENCE = (
    "The heads of all merchants' books are signed as they are now, and the close is published. It cannot be taken back."
    " Later postings are in the next close."
)


class ClosedDay(msgspec.Struct, frozen=True):
    """A day with its close, and what a person has still to do about it."""

    day: date
    close: CloseRow | None  # the first close after the day's end; None if there is none yet
    is_over: bool
    missing: list[tuple[str, str]]  # each with the path of the page where it is done

    @property
    def state(self) -> str:
        if self.close is not None:
            return "closed"
        return "overdue" if self.is_over else "running"


def describe_days(
    first: date,
    today: date,
    closes: Sequence[CloseRow],
    accounts: Iterable[AccountSummary],
    open_lines: Mapping[date, Mapping[int, int]],
    others: Mapping[date, Sequence[tuple[str, str]]],
) -> list[ClosedDay]:
    """Returns the days from today back to `first`. `open_lines` counts lines that are not matched by day and account,
    `others` has what else is open of a day. Statements are missed of days that are over, once an account has one."""
    known, days = list(accounts), []
    for back in range((today - first).days + 1):
        day = today - timedelta(days=back)
        missing = []
        for account in known:
            page = f"/operator/reconciliation/{account.account_id}?from={day}&to={day}"
            if day < today and account.last_day is not None and account.last_day < day:
                missing.append((f"no statement of {account.name}", page))
            count = open_lines.get(day, {}).get(account.account_id, 0)
            if count:
                missing.append((f"{count:,} unmatched line{'' if count == 1 else 's'} of {account.name}", page))
        missing += others.get(day, ())
        close = next((one for one in closes if lagos_day(one.closed_at) > day), None)
        days.append(ClosedDay(day, close, is_over=day < today, missing=missing))
    return days


async def show_closes(visit: Visit, status: int = 200, **values: Any) -> Response:
    now = datetime.now(UTC)
    today = lagos_day(now)
    async with visit.snapshot() as reader:
        since = await home_reads.read_first_day(reader)
        first = max(today - timedelta(days=SHOWN_DAYS - 1), min(since, today))
        closes = await home_reads.list_closes(reader, first)
        accounts = await reconciliation_reads.list_accounts(reader)
        lines = await home_reads.count_open_lines(reader, first)
        receipts = await list_suspense(reader, MAX_RECEIPTS)
        open_notices = await notices.count_open_by_day(reader)
        newest = await home_reads.find_newest_close(reader)
    others: dict[date, list[tuple[str, str]]] = {}
    for count, text, path in (
        (count_by_day(lagos_day(one.booked_at) for one in receipts), "unidentified receipt", "/operator/approvals"),
        (open_notices, "open notice", "/operator/notices"),
    ):
        for day, number in count.items():
            others.setdefault(day, []).append((f"{number:,} {text}{'' if number == 1 else 's'}", path))
    shared = {
        "days": describe_days(first, today, closes, accounts, lines, others),
        "newest": newest,
        "now": now,
        "can_close": visit.user.role in CAN_KEEP_BOOKS,
    }
    return visit.render("operator_closes.html", status, **{**shared, **values})


def count_by_day(days: Iterable[date]) -> dict[date, int]:
    counts: dict[date, int] = {}
    for day in days:
        counts[day] = counts.get(day, 0) + 1
    return counts


async def close_books(visit: Visit) -> Response:
    """Closes the books now, once the user has confirmed it."""
    today = lagos_day(datetime.now(UTC))
    visit.ask_first(f"Close the books of {short_date(today)} so far?", CONSEQUENCE, "Close the books", PATH)

    async def record(connection: Any, signed_close: SignedClose) -> None:
        subject, after = f"close {signed_close.close.number}", f"{signed_close.close.tree_size} heads"
        await visit.record_audit_on(connection, visit.audit_chain, "closed the books", subject, after=after)

    try:
        close = (await visit.services.close_books(record)).close
    except NoCloseKey:
        return await show_closes(visit, 422, faults={"": NO_KEY})
    except PublishError as error:
        return await show_closes(
            visit, 503, faults={"": f"The books are closed, but the close is not published: {error}"}
        )
    return visit.redirect(PATH, f"The books are closed: close {close.number}, {close.tree_size:,} heads.")
