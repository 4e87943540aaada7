"""Reads of groups. No writes; every WHERE names the merchant_id.

What is late is computed for the merchant's business day of the request, as for single loans.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from msgspec import UNSET

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader, ReplyReader
from kasuwa.methods.groups.model import UNKNOWN_GROUP, GroupLoan, GroupMember
from kasuwa.methods.groups.rules.records import make_group_loan_record, make_group_summary, summarize_group
from kasuwa.methods.groups.rules.standing import GroupStanding, MeetingSums, compute_group_standing, sum_meeting
from kasuwa.methods.groups.wire import (
    CollectionSheetReply,
    CollectionSheetRequest,
    GroupListReply,
    GroupMemberRecord,
    GroupStandingRecord,
    GroupView,
    ListGroupsRequest,
    SheetLine,
    SheetRecord,
    SheetTotals,
    ViewGroupReply,
    ViewGroupRequest,
)
from kasuwa.methods.loans.group_model import ClientGroup, group_key
from kasuwa.methods.loans.model import Loan, LoanInstallment
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position

MAX_LOANS_SHOWN = 20
MAX_SHEET_DAYS = 366

DATE_OUT_OF_RANGE = refuse_fields(
    FieldError("date", f"at most {MAX_SHEET_DAYS} days before or after today", "date_out_of_range")
)

GROUP_COLUMNS = ", ".join(ClientGroup.__struct_fields__)
GROUP = f"select {GROUP_COLUMNS} from client_group where key = $1 and merchant_id = $2"
# Business time, computed as the writer computes it.
NOW = """select coalesce(clock_fixed_at, clock_timestamp() + clock_offset_us * interval '1 microsecond')
    from merchant_state where merchant_id = $1"""
MATCHING = """
    from client_group g where merchant_id = $1 and ($3::text is null or state = $3) and ($2::text is null or exists (
        select 1 from group_member m where m.merchant_id = $1 and m.group_id = g.group_id and m.client_id = $2
            and m.left_at is null))
"""
GROUPS = f"select {GROUP_COLUMNS} {MATCHING} order by number desc offset $4 limit $5"
COUNT_GROUPS = f"select count(*) {MATCHING}"
MEMBERS = f"""
    select {", ".join(GroupMember.__struct_fields__)} from group_member
    where merchant_id = $1 and group_id = $2 order by joined_at, key
"""
NEWEST_LOANS = f"""
    select {", ".join(GroupLoan.__struct_fields__)} from group_loan
    where merchant_id = $1 and group_id = $2 order by n desc limit {MAX_LOANS_SHOWN}
"""
LOAN_COLUMNS = ", ".join(Loan.__struct_fields__)
LOANS_OF = f"select {LOAN_COLUMNS} from loan where merchant_id = $1 and group_loan_id = any($2) order by number"
# Those that owe something, were written off, or were repaid on a day.
COUNTED = f"""
    select {LOAN_COLUMNS} from loan l where merchant_id = $1 and group_id = $2 and (
        state in ('active', 'active_in_arrears', 'closed_written_off') or exists (
            select 1 from loan_act a where a.merchant_id = $1 and a.loan_id = l.loan_id and a.day = $3
                and a.kind = 'repayment'))
    order by number
"""
LINES = f"""
    select {", ".join(LoanInstallment.__struct_fields__)} from loan_installment
    where merchant_id = $1 and loan_id = any($2) order by loan_id, n
"""
COLLECTED_ON = """
    select loan_id, sum(applied)::bigint from loan_act
    where merchant_id = $1 and loan_id = any($2) and day = $3 and kind = 'repayment' and not is_reversed
    group by loan_id
"""


async def read_today(merchant: Merchant, reader: Reader) -> date:
    [[now]] = await reader.fetch(NOW, merchant.merchant_id)
    return lagos_day(now)


async def list_groups(request: ListGroupsRequest, merchant: Merchant, reader: ReplyReader) -> GroupListReply:
    offset, limit = request.offset_and_limit
    chosen = merchant.merchant_id, request.client_id, request.state
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(GROUPS, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_GROUPS, *chosen)
    data = [make_group_summary(ClientGroup(*row)) for row in rows]
    return GroupListReply(data=data, total=total, offset=offset, limit=limit)


async def view_group(request: ViewGroupRequest, merchant: Merchant, reader: ReplyReader) -> ViewGroupReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(GROUP, group_key(merchant_id, request.group_id), merchant_id)
        if row is None:
            return UNKNOWN_GROUP
        group = ClientGroup(*row)
        today = await read_today(merchant, snapshot)
        members = [GroupMember(*one) for one in await snapshot.fetch(MEMBERS, merchant_id, group.group_id)]
        group_loans = [GroupLoan(*one) for one in await snapshot.fetch(NEWEST_LOANS, merchant_id, group.group_id)]
        names = [one.group_loan_id for one in group_loans]
        loans = [Loan(*one) for one in await snapshot.fetch(LOANS_OF, merchant_id, names)]
        positions = await read_positions(group, today, merchant, snapshot)
    group_standing = compute_group_standing(positions)
    by_group_loan: dict[str, list[Loan]] = {}
    for loan in loans:
        by_group_loan.setdefault(loan.group_loan_id, []).append(loan)
    return ViewGroupReply(
        data=GroupView(
            **summarize_group(group),
            group_standing=make_group_standing_record(group_standing),
            members=make_member_records(group, members, positions),
            loans=[make_group_loan_record(one, by_group_loan.get(one.group_loan_id, [])) for one in group_loans],
        )
    )


async def read_positions(
    group: ClientGroup, day: date, merchant: Merchant, reader: Reader, repaid_on: date | None = None
) -> list[LoanPosition]:
    """Returns the positions of the loans of a group that count for its standing, or were repaid on a day."""
    rows = await reader.fetch(COUNTED, merchant.merchant_id, group.group_id, repaid_on)
    loans = [Loan(*row) for row in rows]
    lines: dict[str, list[LoanInstallment]] = {}
    for row in await reader.fetch(LINES, merchant.merchant_id, [loan.loan_id for loan in loans]):
        line = LoanInstallment(*row)
        lines.setdefault(line.loan_id, []).append(line)
    return [compute_position(loan, tuple(lines.get(loan.loan_id, ())), day) for loan in loans]


def make_group_standing_record(group_standing: GroupStanding) -> GroupStandingRecord:
    return GroupStandingRecord(
        state=group_standing.state,  # type: ignore[arg-type]
        loans=group_standing.loans,
        outstanding=format_minor(group_standing.outstanding),
        overdue=format_minor(group_standing.overdue),
        days_late=group_standing.days_late,
        written_off=format_minor(group_standing.written_off),
    )


def make_member_records(
    group: ClientGroup, members: Iterable[GroupMember], positions: list[LoanPosition]
) -> list[GroupMemberRecord]:
    """Returns the members, and the clients who have left the group and of whose loans something is open or lost."""
    records, places = [], {client_id: place for place, client_id in enumerate(group.client_ids)}
    for member in sorted(members, key=lambda one: places.get(one.client_id, len(places))):
        own = [position for position in positions if position.loan.client_id == member.client_id]
        if member.left_at is not None and not own:
            continue
        own_part = compute_group_standing(own)
        records.append(
            GroupMemberRecord(
                client_id=member.client_id,
                is_leader=member.client_id == group.leader,
                loans=own_part.loans,
                outstanding=format_minor(own_part.outstanding),
                overdue=format_minor(own_part.overdue),
                written_off=format_minor(own_part.written_off),
                date_joined=utc_text(member.joined_at),
                date_left=UNSET if member.left_at is None else utc_text(member.left_at),
            )
        )
    return records


# --- the sheet of a meeting -----------------------------------------------------------------------------------------


async def show_sheet(
    request: CollectionSheetRequest, merchant: Merchant, reader: ReplyReader
) -> CollectionSheetReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(GROUP, group_key(merchant_id, request.group_id), merchant_id)
        if row is None:
            return UNKNOWN_GROUP
        group = ClientGroup(*row)
        today = await read_today(merchant, snapshot)
        day = today if request.date is None else date.fromisoformat(request.date)
        if abs(day - today) > timedelta(days=MAX_SHEET_DAYS):
            return DATE_OUT_OF_RANGE
        positions = await read_positions(group, max(day, today), merchant, snapshot, day)
        loan_ids = [position.loan.loan_id for position in positions]
        collected = dict(map(tuple, await snapshot.fetch(COLLECTED_ON, merchant_id, loan_ids, day)))
    sums = [sum_meeting(position, day, collected.get(position.loan.loan_id, 0)) for position in positions]
    shown = [(one.loan, own) for one, own in zip(positions, sums, strict=True) if own.is_shown]
    return CollectionSheetReply(
        data=SheetRecord(
            group_id=group.group_id,
            name=group.name,
            leader=group.leader or None,
            date=day.isoformat(),
            lines=[
                SheetLine(client_id=loan.client_id, loan_id=loan.loan_id, **show_sums(sum_)) for loan, sum_ in shown
            ],
            totals=SheetTotals(**show_sums(add_up(sum_ for _, sum_ in shown))),
        )
    )


def add_up(sums: Iterable[MeetingSums]) -> MeetingSums:
    total = MeetingSums()
    for one in sums:
        total = total + one
    return total


def show_sums(sums: MeetingSums) -> dict[str, Any]:
    return {
        "arrears": format_minor(sums.arrears),
        "installment": format_minor(sums.installment),
        "due": format_minor(sums.arrears + sums.installment),
        "collected": format_minor(sums.collected),
        "outstanding": format_minor(sums.outstanding),
    }
