"""A merchant's books in memory, for the rules of cards. Requests are decided and applied as the writer does it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, PostingGroup, Refusal, Row
from kasuwa.core.references import account_key
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.merchants.merchant_settings import MerchantSettings, make_merchant
from kasuwa.methods.virtualcard.actions import SANDBOX, VIRTUALCARD
from kasuwa.methods.virtualcard.model import Card, CardRecord, card_key
from kasuwa.methods.virtualcard.rules.hold_orders import decide_capture, decide_release, need_capture, need_release
from kasuwa.methods.virtualcard.rules.issuer_port import (
    decide_authorization,
    decide_refund_order,
    need_authorization,
    need_refund_order,
)
from kasuwa.rails.ports.issuer import CaptureOrder, PurchaseOrder, RefundOrder, ReleaseOrder
from kasuwa.rails.ports.orders import NO_CALL_MADE, Answer
from kasuwa.terms.conversion import ExchangeRate
from kasuwa.wire.decoding import decode
from tests.engine.memory_database import MemoryDatabase
from tests.engine.toy import WALL, WORLD

ACTIONS: dict[str, Write] = {
    action.name: action for action in (*VIRTUALCARD.actions, *SANDBOX) if isinstance(action, Write)
}
BILLING = {"address": "12 Marina Road", "name": "Ada Obi", "city": "Lagos", "state": "Lagos", "postal_code": "101241"}
RATE = ExchangeRate(150_000, 154_000)
NEVER_SHORT = Refusal(301, "never")


class InMemoryCards:
    """One merchant with its books and clock. Each submission gets new entropy."""

    def __init__(
        self, *, wallets: dict[str, int], exchange: dict[str, ExchangeRate] | None = None, **settings: Any
    ) -> None:
        rates = {"USD": RATE} if exchange is None else exchange
        self.merchant: Merchant = make_merchant(7, "GP0000007", "Ada", "test", MerchantSettings(**settings), rates)
        self.database = MemoryDatabase([7])
        self.now: datetime = WALL
        self.entropy = 0
        for currency, amount in wallets.items():
            self.fund_wallet(currency, amount)

    def fund_wallet(self, currency: str, amount: int) -> None:
        post = chart.make_funding_posting(currency, amount)
        made = Decision(groups=(PostingGroup("funding", NEVER_SHORT, postings=(post,)),))
        self.submit(Needs((), (post.debit, post.credit)), lambda context, seen: made)

    def make(self, needs: Needs, rule: Callable[[Context, LoadedRows], Any]) -> Submission:
        self.entropy += 1
        return Submission(self.merchant, needs, rule, self.entropy.to_bytes(32, "big"))

    def submit(self, needs: Needs, rule: Callable[[Context, LoadedRows], Any]) -> Decision | Refusal:
        [result] = self.database.run([self.make(needs, rule)], wall=self.now, world=WORLD)
        if isinstance(result, RuleFailure):
            raise result.error
        assert isinstance(result, Decision | Refusal), result
        return result

    def read(self, action: str, **fields: Any) -> tuple[Needs, Callable[..., Any]]:
        """Returns the needs of a request, and its rule with the request bound."""
        row = ACTIONS[action]
        request = decode(row.request, msgspec.json.encode(fields), row.rules, self.merchant)
        assert isinstance(request, row.request), request
        return row.needs(request, self.merchant), partial(row.decide, request)

    def ask(self, action: str, /, **fields: Any) -> Any:
        """Returns the reply or the refusal."""
        result = self.submit(*self.read(action, **fields))
        return result.reply if isinstance(result, Decision) else result

    def refuse(self, action: str, /, **fields: Any) -> list[str]:
        """Returns the fields of a request that are refused before it is decided."""
        row = ACTIONS[action]
        errors = decode(row.request, msgspec.json.encode(fields), row.rules, self.merchant)
        assert isinstance(errors, tuple), errors
        return [error.field for error in errors]

    def create(self, **fields: Any) -> str:
        request = {"billing": BILLING, "amount": "100", "currency": "USD", **fields}
        return str(self.ask("create", **request).card_data.reference)

    # --- the port ---------------------------------------------------------------------------------------------

    def authorize(self, order: PurchaseOrder, reference: str) -> Answer:
        needs = need_authorization(order, reference, self.merchant)
        result = self.submit(needs, partial(decide_authorization, order, reference))
        assert isinstance(result, Decision)
        assert isinstance(result.reply, Answer)
        return result.reply

    def capture(self, order: CaptureOrder) -> Answer:
        return self.order(need_capture(order, self.merchant), partial(decide_capture, order))

    def release(self, order: ReleaseOrder) -> Answer:
        return self.order(need_release(order, self.merchant), partial(decide_release, order))

    def order(self, needs: Needs, rule: Callable[..., Any]) -> Answer:
        result = self.submit(needs, rule)
        assert isinstance(result, Decision)
        assert isinstance(result.reply, Answer)
        return result.reply

    def refund(self, order: RefundOrder) -> Answer:
        result = self.submit(need_refund_order(order, self.merchant), partial(decide_refund_order, order))
        assert isinstance(result, Decision)
        assert isinstance(result.reply, Answer)
        return result.reply

    # --- time -------------------------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        return sorted(self.database.all(Job, 7), key=lambda job: job.due)

    def pass_time(self, until: datetime) -> None:
        """Advances business time and runs the jobs that fall due."""
        while self.jobs() and self.jobs()[0].due <= until:
            job = self.jobs()[0]
            self.now = max(self.now, job.due)
            self.run(job)
        self.now = max(self.now, until)

    def pass_days(self, days: int) -> None:
        self.pass_time(self.now + timedelta(days=days))

    def run(self, job: Job) -> None:
        [step] = [step for step in VIRTUALCARD.steps if step.kind == job.kind]
        self.submit(step.needs(job, NO_CALL_MADE, self.merchant), partial(step.decide, job, NO_CALL_MADE))

    # --- looking ----------------------------------------------------------------------------------------------

    def balance(self, name: str) -> int:
        account = self.database.rows.get(account_key(7, name))
        return account.posted if isinstance(account, Account) else 0

    def wallet(self, currency: str = "USD") -> int:
        return self.balance(chart.wallet(currency))

    def row(self, reference: str) -> Card:
        card = self.database.rows[card_key(7, reference)]
        assert isinstance(card, Card)
        return card

    def held_on(self, reference: str) -> int:
        account = self.database.rows.get(account_key(7, self.row(reference).account))
        return account.held if isinstance(account, Account) else 0

    def on_card(self, reference: str) -> int:
        return self.balance(self.row(reference).account)

    def records(self, reference: str) -> list[CardRecord]:
        """Returns the records of a card, oldest first."""
        found = [record for record in self.database.all(CardRecord, 7) if record.card == self.row(reference).key]
        return sorted(found, key=lambda record: record.number)

    def rows(self) -> list[Row]:
        return list(self.database.rows.values())


def dollars() -> InMemoryCards:
    return InMemoryCards(wallets={"NGN": 1_000_000_000, "USD": 1_000_000})


def naira() -> InMemoryCards:
    """A merchant without a wallet in USD."""
    return InMemoryCards(wallets={"NGN": 1_000_000_000})
