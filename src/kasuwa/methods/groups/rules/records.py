"""Records and events of groups and their loans.

Contract: loans#groups
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, Effects
from kasuwa.core.money import format_minor
from kasuwa.methods.groups.model import EVENT_KIND, GroupLoan
from kasuwa.methods.groups.wire import GroupLoanLine, GroupLoanRecord, GroupRecord, GroupSummary
from kasuwa.methods.loans.group_model import ClientGroup
from kasuwa.methods.loans.model import CURRENCY, Loan
from kasuwa.transactions.object_events import list_jobs, make_object_event


class GroupNews(msgspec.Struct, frozen=True):
    """One thing that happened to a group."""

    step: str
    client_id: str = ""  # whom it is about
    group_loan_id: str = ""  # the loan of the group that it is about
    amount: int = 0


class NotedGroup(msgspec.Struct, frozen=True):
    """A group whose row counts its events, and the events with their deliveries."""

    group: ClientGroup
    effects: Effects


def tell_of_group(group: ClientGroup, news: Iterable[GroupNews], context: Context) -> NotedGroup:
    noted, events = group, []
    for one in news:
        noted = msgspec.structs.replace(noted, events=noted.events + 1)
        fields: dict[str, Any] = {
            "txn_status": "successful",
            "charged_amount": format_minor(one.amount),
            "payment_method": EVENT_KIND,
            "currency": CURRENCY,
            "group_id": group.group_id,
            "step": one.step,
            "state": group.state,
            "members": len(group.client_ids),
            **({"client_id": one.client_id} if one.client_id else {}),
            **({"group_loan_id": one.group_loan_id} if one.group_loan_id else {}),
        }
        events.append(make_object_event(context, EVENT_KIND, noted, group.group_id, noted.events, fields))
    return NotedGroup(noted, Effects(events=tuple(one.event for one in events), jobs=list_jobs(events)))


def summarize_group(group: ClientGroup) -> dict[str, Any]:
    """Returns the fields that every record of a group has."""
    return {
        "group_id": group.group_id,
        "name": group.name,
        "state": group.state,
        "leader": group.leader or None,
        "member_count": len(group.client_ids),
        "loan_count": group.loans,
        "date_created": utc_text(group.created_at),
        "date_closed": UNSET if group.closed_at is None else utc_text(group.closed_at),
    }


def make_group_summary(group: ClientGroup) -> GroupSummary:
    return GroupSummary(**summarize_group(group))


def make_group_record(group: ClientGroup) -> GroupRecord:
    return GroupRecord(**summarize_group(group), members=group.client_ids)


def make_group_loan_record(
    group_loan: GroupLoan, loans: Sequence[Loan], faults: dict[str, tuple[str, str]] | None = None
) -> GroupLoanRecord:
    """Returns the record of a loan of a group. `faults` are code and message of what was refused, by loan."""
    refused = faults or {}
    lines = [
        GroupLoanLine(
            loan_id=loan.loan_id,
            client_id=loan.client_id,
            amount=format_minor(loan.amount),
            state=loan.state,  # type: ignore[arg-type]
            code=refused[loan.loan_id][0] if loan.loan_id in refused else UNSET,
            message=refused[loan.loan_id][1] if loan.loan_id in refused else UNSET,
        )
        for loan in loans
    ]
    return GroupLoanRecord(
        group_loan_id=group_loan.group_loan_id,
        group_id=group_loan.group_id,
        disbursement=group_loan.disbursement,  # type: ignore[arg-type]
        client_id=group_loan.client_id or UNSET,
        amount=format_minor(sum(loan.amount for loan in loans)),
        loans=lines,
        txn_ref=group_loan.transfer or UNSET,
        date_created=utc_text(group_loan.created_at),
    )
