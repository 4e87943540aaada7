"""Requests and replies of groups on `PUT /loans`. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#groups
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.methods.groups.model import MAX_MEMBERS, MIN_MEMBERS
from kasuwa.methods.loans.wire import Allocation, LoanState
from kasuwa.methods.loans.wire_charges import Charges
from kasuwa.terms.loan_schedule import RepaymentMethod
from kasuwa.wire.fields import FREE_TEXT, Amount, NonNegativeInt, PercentRate, Reference
from kasuwa.wire.interest_wire import DryRunFigure, InterestSettings
from kasuwa.wire.paging import Paged
from kasuwa.wire.people import DateText

GroupName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=100, description="1 to 100 characters", extra=FREE_TEXT)
]
Members = Annotated[
    list[Reference],
    msgspec.Meta(min_length=MIN_MEMBERS, max_length=MAX_MEMBERS, description=f"{MIN_MEMBERS} to {MAX_MEMBERS} clients"),
]
SomeMembers = Annotated[
    list[Reference], msgspec.Meta(min_length=1, max_length=MAX_MEMBERS, description=f"1 to {MAX_MEMBERS} clients")
]


class CreateGroupRequest(msgspec.Struct, kw_only=True):
    """Makes a group of clients who borrow together and answer for each other."""

    name: GroupName
    "What you call the group."
    members: Members
    "Its members, by `client_id`. They must be active."
    leader: Reference
    "The member who leads it, by `client_id`."
    dry_run: bool | None = None
    "If true, the reply shows the group, and nothing is stored."


class UpdateGroupRequest(msgspec.Struct, kw_only=True):
    """Changes a group: its name, its members, its leader; or closes it."""

    group_id: Reference
    "The group."
    name: GroupName | None = None
    "Its new name."
    add: SomeMembers | None = None
    "Clients who join it, by `client_id`. They must be active."
    remove: SomeMembers | None = None
    """Members who leave it, by `client_id`. A member whose loan of the group is open stays, and so does everybody while
    a loan of the group is in arrears. A leader leaves only if `leader` names another member."""
    leader: Reference | None = None
    "The member who leads it from now on, by `client_id`."
    close: bool | None = None
    "If true, the group is closed for good. None of its loans may be open."
    dry_run: bool | None = None
    "If true, the reply shows the group as it would be, and nothing is changed."


class ViewGroupRequest(msgspec.Struct, kw_only=True):
    """Returns a group with its standing, its members and its loans."""

    group_id: Reference
    "The group."


class ListGroupsRequest(Paged, kw_only=True):
    """Lists groups, newest first."""

    client_id: Reference | None = None
    "Lists those alone that this client is a member of."
    state: Literal["active", "closed"] | None = None
    "Lists those in this state alone."


class GroupLoanPart(msgspec.Struct, kw_only=True):
    """The loan of one member."""

    client_id: Reference
    "The member."
    amount: Amount
    "Principal of the member's loan, in naira."


GroupLoanParts = Annotated[
    list[GroupLoanPart], msgspec.Meta(min_length=1, max_length=MAX_MEMBERS, description=f"1 to {MAX_MEMBERS} members")
]


class GroupLoanRequest(msgspec.Struct, kw_only=True):
    """Requests a loan for a group: a loan of each member who borrows, all on the same terms. Each has a schedule of its
    own."""

    group_id: Reference
    "The group."
    loans: GroupLoanParts
    "What each member borrows. A member has one loan in it."
    disbursement: Literal["one", "each"] | None = None
    "`one`: the sum goes to the leader's `bankAccount` by one transfer. `each`, the default: each member receives one."
    officer: Reference | None = None
    "Who of your people answers for the loans, in a code of yours."
    branch: Reference | None = None
    "Your branch that makes the loans, in a code of yours."
    interest_settings: InterestSettings = field(name="interestSettings")
    "The interest rate, and with it the interval between installments."
    period: NonNegativeInt
    "Number of installments of each loan, from 1 to 366. All loans together have at most 2,000 installments."
    tax_applied: bool | None = None
    "Whether tax on the interest is added to the installments. Default false."
    tax_rate: PercentRate | None = None
    "Tax in percent of the interest, from 0 to 100. Required if `tax_applied` is true."
    method: RepaymentMethod | None = None
    "How installments are computed, as in `request`. Default: your lending setting."
    charges: Charges | None = None
    "Charges of each loan besides the interest, as in `request`."
    dry_run: bool | None = None
    "If true, the reply shows the loans and explains what each owes in all, and nothing is stored."


class ProcessGroupLoanRequest(msgspec.Struct, kw_only=True):
    """Approves, rejects or cancels the loan of a group, or one member's part of it."""

    group_loan_id: Reference
    "The loan of the group."
    status: Literal["approve", "reject", "cancel"]
    """`approve` pays it out; `reject` and `cancel` close it. After a failed disbursement, `approve` tries again
    what was not paid out."""
    loan_id: Reference | None = None
    """Only this member's loan. Left out: all of those that the status is possible for. A loan that is paid out by one
    transfer is approved as a whole."""
    dry_run: bool | None = None
    "If true, the reply shows the loans as they would be, and nothing is changed."


class CollectionSheetRequest(msgspec.Struct, kw_only=True):
    """Returns what each member of a group is to pay at a meeting, and what was paid on its day."""

    group_id: Reference
    "The group."
    date: DateText | None = None
    "Day of the meeting, at most 366 days before or after today. Default: today."


class CollectedAmount(msgspec.Struct, kw_only=True):
    """An amount that was collected for one loan."""

    loan_id: Reference
    "The member's loan of the group."
    amount: Amount
    "What was paid, in naira: any part of what is owed, at most what closes the loan."


CollectedAmounts = Annotated[
    list[CollectedAmount],
    msgspec.Meta(min_length=1, max_length=MAX_MEMBERS * 2, description=f"1 to {MAX_MEMBERS * 2} amounts"),
]


class CollectRequest(msgspec.Struct, kw_only=True):
    """Records what a meeting has collected, in one request: a repayment of each loan, out of money that you have
    received."""

    group_id: Reference
    "The group."
    amounts: CollectedAmounts
    "What was paid, by loan. A loan is named once."
    apply: Literal["all", "each"] | None = None
    """`all`, the default: if one amount is refused, none is recorded. `each`: those that are possible are recorded, and
    the reply says why the others are not."""
    customer_txnref: Reference | None = None
    "Your reference of the meeting, which each of the repayments has. It need not be unique."
    dry_run: bool | None = None
    "If true, the reply shows what each amount would cover, and nothing is recorded."


# --- replies ------------------------------------------------------------------------------------------------------


class GroupStandingRecord(msgspec.Struct, kw_only=True):
    """The standing of a group, which is that of each of its members: one member's arrears are everyone's."""

    state: Literal["good", "in_arrears", "written_off"]
    """`good`: nothing is late. `in_arrears`: a member's loan is late. `written_off`: nothing is late, but something was
    written off and not recovered."""
    loans: int
    "Number of members' loans that are paid out and open."
    outstanding: str
    "What is owed of them by their schedules, in naira."
    overdue: str
    "What is late of them, penalties included, in naira."
    days_late: int
    "Days since the oldest due date that is late. 0 if nothing is late."
    written_off: str
    "What was written off of members' loans and not recovered, in naira."


class GroupMemberRecord(msgspec.Struct, kw_only=True):
    """A member of a group, or a client who has left it and still owes it something."""

    client_id: str
    "The client."
    is_leader: bool
    "Whether the client leads the group."
    loans: int
    "Number of the member's loans of the group that are paid out and open."
    outstanding: str
    "What the member owes of them by their schedules, in naira."
    overdue: str
    "What is late of them, penalties included, in naira."
    written_off: str
    "What was written off of them and not recovered, in naira."
    date_joined: str = field(name="dateJoined")
    "Time at which the client joined, in UTC."
    date_left: str | UnsetType = field(name="dateLeft", default=UNSET)
    "Time at which the client left, in UTC. Absent for a member."


class GroupLoanLine(msgspec.Struct, kw_only=True):
    """One member's loan in the loan of a group."""

    loan_id: str | None
    "The member's loan. Null in a dry run of `request_group_loan`."
    client_id: str
    "The member."
    amount: str
    "Its principal, in naira."
    state: LoanState
    "Its state."
    code: str | UnsetType = UNSET
    "Why it could not be processed, as the code of an error. Absent if it could."
    message: str | UnsetType = UNSET
    "The same in words. Absent if it could be processed."


class GroupLoanRecord(msgspec.Struct, kw_only=True):
    """A loan of a group."""

    group_loan_id: str | None
    "Identifier of the loan of the group, made by the service. Null in a dry run of `request_group_loan`."
    group_id: str
    "The group."
    disbursement: Literal["one", "each"]
    "How it is paid out: by one transfer to the leader, or by one to each member."
    client_id: str | UnsetType = UNSET
    "Who receives the one transfer. Absent if each member receives one."
    amount: str
    "Sum of the principals, in naira."
    loans: list[GroupLoanLine]
    "The members' loans."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the newest transfer of all. Absent if there is none."
    date_created: str = field(name="dateCreated")
    "Time at which it was requested, in UTC."


class GroupSummary(msgspec.Struct, kw_only=True):
    """A group in a list."""

    group_id: str | None
    "Identifier of the group, made by the service. Null in a dry run of `create_group`."
    name: str
    "What you call it."
    state: Literal["active", "closed"]
    "Its state."
    leader: str | None
    "The member who leads it, by `client_id`. Null once it is closed."
    member_count: int
    "Number of its members."
    loan_count: int
    "Number of loans that it has had."
    date_created: str = field(name="dateCreated")
    "Time at which it was made, in UTC."
    date_closed: str | UnsetType = field(name="dateClosed", default=UNSET)
    "Time at which it was closed, in UTC. Absent unless it was."


class GroupRecord(GroupSummary, kw_only=True):
    """A group."""

    members: list[str]
    "Its members, by `client_id`."


class GroupView(GroupSummary, kw_only=True):
    """A group with its standing, its members and its loans."""

    group_standing: GroupStandingRecord = field(name="standing")
    "How the loans of the group are repaid."
    members: list[GroupMemberRecord]
    "Its members, and the clients who have left it and still owe it something."
    loans: list[GroupLoanRecord]
    "Its newest loans."


class GroupReply(msgspec.Struct, kw_only=True):
    """A group after it was made or changed."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: GroupRecord
    "The group."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class ViewGroupReply(msgspec.Struct, kw_only=True):
    """A group with all that belongs to it."""

    status: Literal[200] = 200
    "200."
    data: GroupView
    "The group."


class GroupListReply(msgspec.Struct, kw_only=True):
    """One page of groups, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[GroupSummary]
    "The groups."
    total: int
    "Number of matching groups on all pages."
    offset: int
    "Number of groups that were skipped."
    limit: int
    "Largest number of groups on this page. The next page begins at `offset` + `limit`."


class GroupLoanReply(msgspec.Struct, kw_only=True):
    """A loan of a group after it was requested or processed."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: GroupLoanRecord
    "The loan of the group."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class SheetLine(msgspec.Struct, kw_only=True):
    """A line of the sheet: one loan."""

    client_id: str
    "The member."
    loan_id: str
    "The member's loan of the group."
    arrears: str
    "Of what fell due before the day, what is not paid, penalties included, in naira."
    installment: str
    "Of what falls due on the day itself, what is not paid, in naira."
    due: str
    "Both together, in naira."
    collected: str
    "What was repaid on the day and counts, in naira."
    outstanding: str
    "What is owed by the schedule, in naira."


class SheetTotals(msgspec.Struct, kw_only=True):
    """The sums of a sheet."""

    arrears: str
    "Sum of the arrears, in naira."
    installment: str
    "Sum of the installments, in naira."
    due: str
    "Sum of both, in naira."
    collected: str
    "Sum of what was repaid on the day, in naira."
    outstanding: str
    "Sum of what is owed, in naira."


class SheetRecord(msgspec.Struct, kw_only=True):
    """The sheet of a meeting."""

    group_id: str
    "The group."
    name: str
    "What you call it."
    leader: str | None
    "The member who leads it, by `client_id`. Null once it is closed."
    date: str
    "Day of the meeting, as YYYY-MM-DD."
    lines: list[SheetLine]
    "One line a loan that is open, or that was repaid on the day."
    totals: SheetTotals
    "Their sums."


class CollectionSheetReply(msgspec.Struct, kw_only=True):
    """The sheet of a meeting of a group."""

    status: Literal[200] = 200
    "200."
    data: SheetRecord
    "The sheet."


class CollectLine(msgspec.Struct, kw_only=True):
    """An amount after it was recorded or refused."""

    loan_id: str
    "The loan."
    client_id: str | UnsetType = UNSET
    "The member. Absent if the loan is unknown."
    amount: str
    "The amount, in naira."
    state: Literal["collected", "refused"]
    "Whether it was recorded."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the repayment. Absent in a dry run, and if it was refused."
    allocation: Allocation | UnsetType = UNSET
    "The parts of the loan that it covers. Absent if it was refused."
    outstanding: str | UnsetType = UNSET
    "What the loan owes by its schedule then, in naira. Absent if it was refused."
    code: str | UnsetType = UNSET
    "Why it was refused, as the code of an error. Absent if it was recorded."
    message: str | UnsetType = UNSET
    "The same in words. Absent if it was recorded."


class CollectReply(msgspec.Struct, kw_only=True):
    """The amounts of a meeting after they were recorded or refused."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    group_id: str
    "The group."
    amount: str
    "Sum of what was recorded, in naira."
    data: list[CollectLine]
    "One line an amount, in their order."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was recorded. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."
