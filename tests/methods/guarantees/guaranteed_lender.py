"""A lending merchant in memory whose clients save, and guarantee the loans of others."""

from typing import Any

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.investments.model import Savings, savings_key
from kasuwa.methods.loans.guarantee_model import LoanGuarantee, guarantee_key, make_guarantee_id
from kasuwa.methods.loans.model import WRITTEN_OFF
from kasuwa.methods.loans.rules.guarantor_holds import compute_hold, count_unpaid_principal
from kasuwa.methods.tables import ALL_INVESTMENTS, ALL_LOANS
from tests.methods.loans import in_memory_lender
from tests.methods.loans.in_memory_lender import Lender

ALL_WRITES = {
    action.title or action.name: action
    for method in (ALL_LOANS, ALL_INVESTMENTS)
    for action in method.actions
    if isinstance(action, Write) and action.variant is None
}
NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}
# A loan without interest, so that every figure is one of principal.
PLAIN: dict[str, Any] = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_month"}}


class GuaranteedLender(Lender):
    """A lender whose first client borrows and whose others save."""

    def __init__(self, **lending: Any) -> None:
        self.savings_of: dict[str, str] = {}
        super().__init__(**lending)

    def ask(self, name: str, fields: dict[str, Any], bank: Any = in_memory_lender.GOOD) -> Any:
        in_memory_lender.WRITES.setdefault(name, ALL_WRITES[name])
        return super().ask(name, fields, bank)

    def member(self, name: str, deposit: str = "1000.00", **fields: Any) -> str:
        """Makes a client with savings, and returns the savings."""
        self.add_client(name)
        terms = {"name": name, "client_id": name, "period": 12, "interestSettings": NO_INTEREST, **fields}
        self.savings_of[name] = str(self.ask("create_savings", terms).data.savings_id)
        self.deposit(name, deposit)
        return self.savings_of[name]

    def deposit(self, name: str, amount: str) -> Any:
        fields = {"savings_id": self.savings_of[name], "payment_method": "wallet", "amount": amount}
        return self.ask("deposit", fields)

    def cash_out(self, name: str, amount: str) -> Any:
        fields = {"savings_id": self.savings_of[name], "client_id": name, "amount": amount, "method": "cash"}
        return self.ask("cashout", fields)

    def pledge(self, loan_id: str, name: str, amount: str, **more: Any) -> Any:
        fields = {"loan_id": loan_id, "client_id": name, "savings_id": self.savings_of[name], "amount": amount, **more}
        return self.ask("guarantee", fields)

    def call(self, loan_id: str, **more: Any) -> Any:
        return self.ask("call_guarantee", {"loan_id": loan_id, **more})

    def pay_guarantor(self, guarantee_id: str, amount: str, method: str = "wallet", **more: Any) -> Any:
        fields = {"guarantee_id": guarantee_id, "amount": amount, "payment_method": method, **more}
        return self.ask("pay_guarantor", fields)

    def release(self, guarantee_id: str, **more: Any) -> Any:
        return self.ask("release_guarantee", {"guarantee_id": guarantee_id, **more})

    def guarantee(self, loan_id: str, n: int = 1) -> LoanGuarantee:
        row = self.database.rows[guarantee_key(self.merchant_id, make_guarantee_id(loan_id, n))]
        assert isinstance(row, LoanGuarantee)
        return row

    def loan_events(self, loan_id: str) -> list[Any]:
        """Returns the events of a loan, but not those of its repayments."""
        return [one for one in self.database.events if one.kind == "loan" and one.object == loan_id]

    def savings(self, name: str) -> Savings:
        row = self.database.rows[savings_key(self.merchant_id, self.savings_of[name])]
        assert isinstance(row, Savings)
        return row

    def account(self, name: str) -> Account:
        row = self.database.rows[account_key(self.merchant_id, chart.savings(self.savings_of[name]))]
        assert isinstance(row, Account)
        return row

    def available(self, name: str) -> int:
        return self.account(name).available

    def check_books(self) -> None:
        """Checks, besides the loans, that guarantees hold what they should and claims are in the books."""
        guarantees: list[LoanGuarantee] = self.database.all(LoanGuarantee, self.merchant_id)
        saved: list[Savings] = self.database.all(Savings, self.merchant_id)
        for one in saved:
            pledged = sum(each.held for each in guarantees if each.savings_id == one.savings_id)
            account = self.database.rows.get(account_key(self.merchant_id, chart.savings(one.savings_id)))
            assert (account.held if isinstance(account, Account) else 0) == pledged
            assert one.claims == sum(each.owed > 0 for each in guarantees if each.savings_id == one.savings_id)
        for each in guarantees:
            assert self.balance(chart.guarantor(each.guarantee_id)) == each.owed
            loan, lines = self.loan(each.loan_id), tuple(self.lines(each.loan_id))
            unpaid = count_unpaid_principal(lines) if lines else loan.amount
            if loan.state in ("closed_rejected", "closed_withdrawn"):
                unpaid = 0
            assert each.held + each.short == compute_hold(each, unpaid)
            assert loan.state != WRITTEN_OFF or loan.closed_at is not None
        self.check_accounts(guarantees, saved)

    def check_accounts(self, guarantees: list[LoanGuarantee], saved: list[Savings]) -> None:
        """Checks the loans as `Lender` does, with counts of open accounts that have savings and claims."""
        clients = [(key, row) for key, row in self.database.rows.items() if getattr(row, "table", "") == "client"]
        for key, client in clients:
            name = client.client_id  # type: ignore[attr-defined]
            more = sum(one.client_id == name and one.state != "closed" for one in saved)
            more += sum(each.borrower_id == name and each.owed > 0 for each in guarantees)
            self.database.rows[key] = msgspec.structs.replace(
                client,
                open_accounts=client.open_accounts - more,  # type: ignore[attr-defined]
            )
        try:
            super().check_books()
        finally:
            self.database.rows |= dict(clients)
