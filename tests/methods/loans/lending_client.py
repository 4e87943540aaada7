"""HTTP client of a merchant that lends: clients, loans, repayments."""

from typing import Any

from tests.merchant_client import MerchantClient
from tests.running import Deployment

START = "2026-01-31T10:00:00+01:00"

GOOD, PENDING, FAILING = "0000000000", "0000000020", "0000000500"

TERMS = {
    "interestSettings": {"interestRate": "24", "interestFrequency": "annualized"},
    "amount": 120000,
    "tax_applied": True,
    "tax_rate": 7.5,
    "period": 12,
}


class LendingClient(MerchantClient):
    """A merchant client that lends."""

    def client(self, account: str | None = GOOD, status: str = "active") -> str:
        details = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
        if account is not None:
            details |= {"bankAccount": {"account_number": account, "bank_code": "058"}}  # type: ignore[dict-item]
        made = self.put("clients", action="create", data=details, status=status).body
        assert made["status"] == 200, made
        return str(made["data"]["client_id"])

    def loans(self, action: str, **fields: Any) -> Any:
        http, body = self.put("loans", action=action, **fields)
        assert http == 200
        return body

    def request(self, client_id: str, **changes: Any) -> Any:
        return self.loans("request", client_id=client_id, **{**TERMS, **changes})

    def lend(self, **changes: Any) -> str:
        loan_id = self.request(self.client(), **changes)["data"]["loan_id"]
        assert self.loans("process", loan_id=loan_id, status="approve")["data"]["state"] == "active"
        return str(loan_id)

    def repay(self, loan_id: str, **fields: Any) -> Any:
        return self.loans("repay", loan_id=loan_id, payment_method="wallet", **fields)

    def view(self, loan_id: str) -> Any:
        return self.loans("view", loan_id=loan_id)["data"]

    def open_accounts(self, deployment: Deployment, loan_id: str) -> int:
        [[count]] = deployment.fetch(
            "select c.open_accounts from client c join loan l using (merchant_id, client_id) where l.loan_id = $1",
            loan_id,
        )
        return int(count)
