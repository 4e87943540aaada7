"""A lending merchant in memory whose clients borrow in groups."""

from typing import Any

import msgspec

from kasuwa.methods.groups.model import GroupLoan, group_loan_key
from kasuwa.methods.loans.group_model import ClientGroup, group_key
from kasuwa.methods.loans.model import Loan
from tests.methods.guarantees.guaranteed_lender import PLAIN, GuaranteedLender
from tests.methods.loans.in_memory_lender import GOOD

TERMS = {**PLAIN, "period": 4}
MEMBERS = ["ADA", "BOLA", "CHI"]


class GroupLender(GuaranteedLender):
    """A lender with a group of three: Ada, who leads it, Bola and Chi."""

    def __init__(self, **lending: Any) -> None:
        super().__init__(**lending)
        for name in MEMBERS:
            self.add_client(name)
        self.group_id = self.make_group()

    def make_group(self, members: list[str] = MEMBERS, leader: str = "ADA", **fields: Any) -> str:
        return str(self.create(members=members, leader=leader, **fields).data.group_id)

    def create(self, **fields: Any) -> Any:
        return self.ask("create_group", {"name": "Traders", "members": MEMBERS, "leader": "ADA", **fields})

    def update(self, **fields: Any) -> Any:
        return self.ask("update_group", {"group_id": self.group_id, **fields})

    def request_group(self, amounts: dict[str, str] | None = None, **fields: Any) -> Any:
        parts = amounts or dict.fromkeys(MEMBERS, "1000.00")
        loans = [{"client_id": name, "amount": amount} for name, amount in parts.items()]
        return self.ask("request_group_loan", {"group_id": self.group_id, "loans": loans, **TERMS, **fields})

    def process_group(self, group_loan_id: str, status: str = "approve", bank: Any = GOOD, **fields: Any) -> Any:
        return self.ask("process_group_loan", {"group_loan_id": group_loan_id, "status": status, **fields}, bank)

    def lend_group(self, amounts: dict[str, str] | None = None) -> dict[str, str]:
        """Returns the loans of a group by their clients, paid out by one transfer."""
        made = self.request_group(amounts, disbursement="one").data
        paid = self.process_group(made.group_loan_id).data
        assert {line.state for line in paid.loans} == {"active"}
        return {line.client_id: line.loan_id for line in paid.loans}

    def collect(self, amounts: dict[str, str], **fields: Any) -> Any:
        lines = [{"loan_id": loan_id, "amount": amount} for loan_id, amount in amounts.items()]
        return self.ask("collect", {"group_id": self.group_id, "amounts": lines, **fields})

    @property
    def group(self) -> ClientGroup:
        row = self.database.rows[group_key(self.merchant_id, self.group_id)]
        assert isinstance(row, ClientGroup)
        return row

    def group_loan(self, group_loan_id: str) -> GroupLoan:
        row = self.database.rows[group_loan_key(self.merchant_id, group_loan_id)]
        assert isinstance(row, GroupLoan)
        return row

    def list_steps(self) -> list[tuple[str, str]]:
        """Returns step and client of the events of groups."""
        payloads = [msgspec.json.decode(event.payload) for event in self.database.events if event.kind == "group"]
        return [(one["step"], one.get("client_id", "")) for one in payloads]

    def list_amounts(self) -> list[tuple[str, str]]:
        """Returns step and amount of the events of groups."""
        payloads = [msgspec.json.decode(event.payload) for event in self.database.events if event.kind == "group"]
        return [(one["step"], one["chargedAmount"]) for one in payloads]

    def check_books(self) -> None:
        super().check_books()
        groups: list[ClientGroup] = self.database.all(ClientGroup, self.merchant_id)
        loans: list[Loan] = self.database.all(Loan, self.merchant_id)
        for group in groups:
            assert (group.state == "closed") == (not group.client_ids)
            assert not group.client_ids or group.leader in group.client_ids
        for made in self.database.all(GroupLoan, self.merchant_id):
            own = [loan for loan in loans if loan.group_loan_id == made.group_loan_id]
            assert sorted(made.loan_ids) == sorted(loan.loan_id for loan in own)
            assert {loan.group_id for loan in own} == {made.group_id}


def expect_members(lender: GroupLender) -> None:
    """Asserts that each client counts the groups that it is a member of."""
    for name in MEMBERS:
        groups = [one for one in lender.database.all(ClientGroup, lender.merchant_id) if name in one.client_ids]
        assert lender.client(name).groups == len(groups)
