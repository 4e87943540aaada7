"""The row of a group of clients who borrow together. The other rows of groups are in methods/groups/model.py.

It is here because a loan that opens again is one of its group's open loans again.

Contract: loans#groups
"""

from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.decision import LoadedRows, Needs, NeedsMore, Row
from kasuwa.core.references import row_key
from kasuwa.methods.loans.model import Loan


class ClientGroup(Row):
    """A group."""

    table: ClassVar[str] = "client_group"
    coded_columns: ClassVar[tuple[str, ...]] = ("group_id", "leader", "state", "members", "unsettled")
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "name",
        "leader",
        "state",
        "members",
        "unsettled",
        "loans",
        "events",
        "closed_at",
        "row_code",
    )

    group_id: str
    number: int  # the merchant's running number; lists are ordered by it
    name: str
    leader: str  # client_id; "" once it is closed
    state: str
    members: str  # client_ids, by commas
    created_at: datetime
    unsettled: str = ""  # group_loan_ids of loans that were not seen closed, or opened again, by commas
    loans: int = 0  # number of its loans so far
    events: int = 0  # number of its events so far
    closed_at: datetime | None = None
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False

    @property
    def client_ids(self) -> list[str]:
        return split_ids(self.members)

    @property
    def unsettled_ids(self) -> list[str]:
        return split_ids(self.unsettled)


def split_ids(text: str) -> list[str]:
    return text.split(",") if text else []


def group_key(merchant_id: int, group_id: str) -> bytes:
    return row_key(merchant_id, ClientGroup.table, group_id)


def reopen_group_loan(loan: Loan, rows: LoadedRows) -> tuple[ClientGroup, ...] | NeedsMore:
    """Returns the group of a loan that opens again, if it had seen the loan closed: it answers for the loan again. Also
    a closed group knows its open loans."""
    if not loan.group_id:
        return ()
    key = group_key(loan.merchant_id, loan.group_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((ClientGroup, key),)))
    group = rows.get(ClientGroup, key)
    assert group is not None, "a group is not deleted"
    if loan.group_loan_id in group.unsettled_ids:
        return ()
    unsettled = ",".join((*group.unsettled_ids, loan.group_loan_id))
    return (msgspec.structs.replace(group, unsettled=unsettled),)
