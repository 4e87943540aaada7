"""A society in memory: members with savings, a class of shares, and two keys of which each can approve the other's."""

from datetime import timedelta
from typing import Any

import msgspec

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Refusal
from kasuwa.ledger import chart
from kasuwa.methods.shares.model import (
    APPROVED,
    Dividend,
    ShareClass,
    Shareholding,
    ShareRedemption,
    class_key,
    dividend_key,
    holding_key,
    redemption_key,
)
from tests.methods.investments.books import MERCHANT_ID, InMemorySavings
from tests.rule_context import MERCHANT

SECRETARY = Caller("secretary", key_id=1, lineage=1)
BOARD = Caller("board", key_id=2, lineage=2)
PRICE = 100_000  # of a share, in kobo


class Society(InMemorySavings):
    """Savings that earn nothing, so that every figure is one of shares."""

    def __init__(self, day: str = "2026-01-05", **fields: Any) -> None:
        super().__init__(day)
        self.speak(SECRETARY)
        ordinary: dict[str, Any] = {"name": "Ordinary", "price": "1000.00"}
        self.class_id = str(self.ask("create_share_class", **ordinary | fields).data.class_id)
        self.savings_of: dict[str, str] = {}

    def speak(self, caller: Caller) -> None:
        """Lets further requests come from a caller."""
        self.merchant = msgspec.structs.replace(MERCHANT, caller=caller)

    def member(self, name: str, shares: int = 0, deposit: str | None = None) -> str:
        interest = {"interestRate": "0", "interestFrequency": "annualized"}
        self.savings_of[name] = self.open_savings(name, deposit, interestSettings=interest)
        if shares:
            reply = self.buy(name, shares)
            assert not isinstance(reply, Refusal), reply
        return self.savings_of[name]

    def buy(self, name: str, shares: int, method: str = "wallet", **fields: Any) -> Any:
        request = {"savings_id": self.savings_of[name], "class_id": self.class_id, **fields}
        return self.ask("buy_shares", client_id=name, shares=shares, payment_method=method, **request)

    def transfer(self, giver: str, taker: str, shares: int, **fields: Any) -> Any:
        request = {"savings_id": self.savings_of[taker], "class_id": self.class_id, **fields}
        return self.ask("transfer_shares", client_id=giver, to_client_id=taker, shares=shares, **request)

    def redeem(self, name: str, shares: int, **fields: Any) -> Any:
        return self.ask("redeem_shares", class_id=self.class_id, client_id=name, shares=shares, **fields)

    def decide_redemption(self, verdict: str, redemption_id: str, caller: Caller = BOARD, **fields: Any) -> Any:
        self.speak(caller)
        reply = self.ask(f"{verdict}_redemption", redemption_id=redemption_id, **fields)
        self.speak(SECRETARY)
        return reply

    def declare(self, rate: str, record_date: str, **fields: Any) -> Any:
        return self.ask("declare_dividend", class_id=self.class_id, rate=rate, record_date=record_date, **fields)

    def redeem_all(self, name: str) -> None:
        asked = self.redeem(name, self.holding(name).shares)
        assert self.decide_redemption("approve", asked.data.redemption_id).data.state == APPROVED

    def wait(self, days: int) -> None:
        self.advance_to((self.today + timedelta(days=days)).isoformat())

    @property
    def yesterday(self) -> str:
        return (self.today - timedelta(days=1)).isoformat()

    # --- looking --------------------------------------------------------------------------------------------

    @property
    def share_class(self) -> ShareClass:
        found = self.state.rows[class_key(MERCHANT_ID, self.class_id)]
        assert isinstance(found, ShareClass)
        return found

    def holding(self, name: str) -> Shareholding:
        found = self.state.rows[holding_key(MERCHANT_ID, self.class_id, name)]
        assert isinstance(found, Shareholding)
        return found

    def redemption(self, redemption_id: str) -> ShareRedemption:
        found = self.state.rows[redemption_key(MERCHANT_ID, redemption_id)]
        assert isinstance(found, ShareRedemption)
        return found

    def dividend(self, dividend_id: str) -> Dividend:
        found = self.state.rows[dividend_key(MERCHANT_ID, dividend_id)]
        assert isinstance(found, Dividend)
        return found

    def capital(self, name: str) -> int:
        return self.account(chart.shares(self.holding(name).holding_id)).posted

    def saved(self, name: str) -> int:
        return self.balance(self.savings_of[name])

    def holdings(self) -> list[Shareholding]:
        return [row for row in self.state.rows.values() if isinstance(row, Shareholding)]

    def check(self) -> None:
        """Checks, besides the books, that shares are what was paid for them and that every dividend left nothing."""
        super().check()
        holdings = self.holdings()
        assert self.share_class.shares == sum(one.shares for one in holdings)
        assert self.share_class.holders == len(holdings)
        waiting = [r for r in self.state.rows.values() if isinstance(r, ShareRedemption) and r.state == "waiting"]
        for one in holdings:
            assert self.account(chart.shares(one.holding_id)).posted == one.shares * self.share_class.price
            assert one.reserved == sum(r.shares for r in waiting if r.client_id == one.client_id)
            assert self.savings(one.savings_id).holdings == (one.shares > 0)
        for row in self.state.rows.values():
            if isinstance(row, Dividend):
                left = self.account(chart.dividend(row.dividend_id)).posted
                assert left == row.gross - row.paid - row.returned
                assert left == 0 or row.state == "paying"
