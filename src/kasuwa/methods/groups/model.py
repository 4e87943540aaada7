"""Rows of groups of clients who borrow together and answer for each other.

A loan of a group is one loan for each member who borrows, with a schedule of its own (methods/loans/model.py). They are
requested and processed together, and paid out by one transfer to the leader or by one to each member. After that each
is a loan like any other: it is repaid, reversed and written off as such. The postings are those of loans.

    active ── update_group with close, once nothing of its loans is open ──▶ closed

Joint liability: a member's arrears are everyone's. While a loan of the group is in arrears, the group gets no other
loan, and no member leaves it.

Contract: loans#groups
"""

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Job, LoadedRows, Needs, NeedsMore, Refusal, Row
from kasuwa.core.references import job_key, row_key
from kasuwa.methods.loans.group_model import ClientGroup, split_ids
from kasuwa.methods.loans.model import OWING_STATES, UNDISBURSED_STATES, Loan, loan_key

GROUP_PREFIX = "GR"
GROUP_LOAN_PREFIX = "GL"
DISBURSEMENT_PURPOSE = "group-disbursement"
EVENT_KIND = "group"

ACTIVE = "active"
CLOSED = "closed"

ONE = "one"
EACH = "each"

# Replies hold all members and their loans, so they are bounded.
MIN_MEMBERS = 2
MAX_MEMBERS = 30
# Loans of a group that are not closed. A decision loads them all.
MAX_OPEN_LOANS = 10

UNKNOWN_GROUP = Refusal(INVALID_REQUEST, "Invalid Group Reference", error_code="group_not_found")
GROUP_CLOSED = Refusal(INVALID_REQUEST, "The group is closed", error_code="group_closed")
UNKNOWN_GROUP_LOAN = Refusal(INVALID_REQUEST, "Invalid Group Loan Reference", error_code="group_loan_not_found")
GROUP_IN_ARREARS = Refusal(
    INVALID_REQUEST,
    "A loan of the group is in arrears, and all members answer for it: {what}",
    error_code="group_in_arrears",
)


class GroupMember(Row):
    """The membership of a client in a group, also one that is over."""

    table: ClassVar[str] = "group_member"
    mutable_columns: ClassVar[tuple[str, ...]] = ("joined_at", "left_at")

    group_id: str
    client_id: str
    joined_at: datetime
    left_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return False


class GroupLoan(Row):
    """A loan of a group: the loans of its members that were requested together."""

    table: ClassVar[str] = "group_loan"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "group_loan_id",
        "group_id",
        "disbursement",
        "client_id",
        "loans",
        "transfer",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = ("client_id", "transfer", "row_code")

    group_loan_id: str
    group_id: str
    n: int  # from 1
    disbursement: str  # ONE or EACH
    client_id: str  # who receives the one transfer; "" if each member receives one
    loans: str  # loan_ids, by commas
    created_at: datetime
    transfer: str | None = None  # txnRef of the newest transfer of all
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False

    @property
    def loan_ids(self) -> list[str]:
        return split_ids(self.loans)


def member_key(merchant_id: int, group_id: str, client_id: str) -> bytes:
    return row_key(merchant_id, GroupMember.table, f"{group_id} {client_id}")


def group_loan_key(merchant_id: int, group_loan_id: str) -> bytes:
    return row_key(merchant_id, GroupLoan.table, group_loan_id)


# --- the open loans of a group ------------------------------------------------------------------------------------


def find_group_loans(group: ClientGroup, rows: LoadedRows) -> tuple[GroupLoan, ...] | NeedsMore:
    """Returns the loans of a group that were not seen closed."""
    keys = [group_loan_key(group.merchant_id, one) for one in group.unsettled_ids]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(Needs(tuple((GroupLoan, key) for key in keys)))
    group_loans = [rows.get(GroupLoan, key) for key in keys]
    return tuple(one for one in group_loans if one is not None)


def find_loans(group_loans: Iterable[GroupLoan], rows: LoadedRows) -> tuple[Loan, ...] | NeedsMore:
    """Returns the members' loans of loans of a group. Their arrears checks are loaded with them."""
    keys = [loan_key(one.merchant_id, loan_id) for one in group_loans for loan_id in one.loan_ids]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(Needs(tuple(row for key in keys for row in ((Loan, key), (Job, job_key(key))))))
    loans = [rows.get(Loan, key) for key in keys]
    return tuple(loan for loan in loans if loan is not None)


def find_open_loans(group: ClientGroup, rows: LoadedRows) -> tuple[Loan, ...] | NeedsMore:
    """Returns the members' loans of a group that are not closed."""
    group_loans = find_group_loans(group, rows)
    if isinstance(group_loans, NeedsMore):
        return group_loans
    loans = find_loans(group_loans, rows)
    return loans if isinstance(loans, NeedsMore) else tuple(loan for loan in loans if is_unclosed(loan))


def is_unclosed(loan: Loan) -> bool:
    return loan.state in OWING_STATES | UNDISBURSED_STATES


def list_unsettled(group: ClientGroup, open_loans: Iterable[Loan]) -> str:
    """Returns the loans of the group of which something is open, by commas."""
    still_open = {loan.group_loan_id for loan in open_loans}
    return ",".join(one for one in group.unsettled_ids if one in still_open)
