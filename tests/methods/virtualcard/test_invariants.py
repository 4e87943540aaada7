"""Whatever is done to cards in whatever order, the books keep their laws; and changing money there and back never
earns."""

from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from kasuwa.ledger.chart import Account
from kasuwa.methods.virtualcard.model import Card, CardRecord, balance_effect
from kasuwa.terms.conversion import ExchangeRate, foreign_to_raise, kobo_from_sale, kobo_to_buy
from kasuwa.transactions.transactions import FINAL, Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.virtualcard.in_memory_cards import BILLING, InMemoryCards

rates = st.builds(
    lambda buy, margin: ExchangeRate(buy, buy + margin), st.integers(1, 10_000_000), st.integers(0, 1_000_000)
)
money = st.integers(1, 1_000_000_000)


@without_deadline(300)
@given(rates, money)
def test_a_round_trip_never_earns(rate: ExchangeRate, minor: int) -> None:
    assert kobo_from_sale(rate, minor) <= kobo_to_buy(rate, minor)
    kobo = kobo_from_sale(rate, minor)
    if kobo:
        assert foreign_to_raise(rate, kobo) <= minor  # the least that brings so much
        assert kobo_from_sale(rate, foreign_to_raise(rate, kobo)) >= kobo


@without_deadline(200)
@given(rates, st.lists(money, min_size=1, max_size=5))
def test_in_parts_nothing_is_cheaper_and_brings_more_than_as_a_whole(rate: ExchangeRate, parts: list[int]) -> None:
    assert sum(kobo_to_buy(rate, part) for part in parts) >= kobo_to_buy(rate, sum(parts))
    assert sum(kobo_from_sale(rate, part) for part in parts) <= kobo_from_sale(rate, sum(parts))


@without_deadline(60)
@given(rates, st.integers(500, 1_000_000), st.integers(1, 100))
def test_a_card_made_of_naira_and_ended_leaves_no_more_than_there_was(
    rate: ExchangeRate, amount: int, part: int
) -> None:
    free = {"virtual_card": {"USD": {"issuance": "0", "fund": {"flat": "0", "percent_above": "0"}}}}
    counter = InMemoryCards(wallets={"NGN": 10**16}, exchange={"USD": rate}, tariff=free)
    text = f"{amount // 100}.{amount % 100:02d}"
    reply = counter.ask("create", billing=BILLING, amount=text, currency="USD")
    reference = reply.card_data.reference
    counter.ask("withdraw", reference=reference, amount=f"{part / 100:.2f}")
    counter.ask("terminate", reference=reference)
    assert counter.wallet("NGN") <= 10**16
    assert counter.on_card(reference) == 0


# --- any sequence -----------------------------------------------------------------------------------------------

amounts = st.sampled_from(["0.01", "0.50", "1.00", "4.99", "20.00", "99.99", "500.00", "1000.00"])
currencies = st.sampled_from(["USD", "NGN"])


class Cards(RuleBasedStateMachine):
    """A merchant with or without a wallet in USD. Beside the books, what each card should have is counted from the
    replies alone."""

    references = Bundle("references")

    def __init__(self) -> None:
        super().__init__()
        self.counter = InMemoryCards(wallets={"NGN": 500_000_000})
        self.expected: dict[str, int] = {}
        self.paid: dict[str, str] = {}

    @rule(target=references, currency=currencies, amount=st.sampled_from(["1000.00", "9999.00"]))
    def create(self, currency: str, amount: str) -> Any:
        reply = self.counter.ask("create", billing=BILLING, amount=amount, currency=currency)
        if getattr(reply, "status", None) != 200:
            return "none was made"
        reference = reply.card_data.reference
        self.expected[reference] = minor(amount)
        return reference

    @rule()
    def open_a_wallet_in_dollars(self) -> None:
        self.counter.fund_wallet("USD", 10_000)

    @rule(reference=references, amount=amounts)
    def fund(self, reference: str, amount: str) -> None:
        if self.succeeds("fund", reference, amount=amount):
            self.expected[reference] += minor(amount)

    @rule(reference=references, amount=amounts)
    def withdraw(self, reference: str, amount: str) -> None:
        had = self.expected.get(reference, 0)
        if self.succeeds("withdraw", reference, amount=amount):
            assert had >= minor(amount)
            self.expected[reference] -= minor(amount)

    @rule(reference=references, amount=amounts, currency=st.none() | currencies)
    def buy(self, reference: str, amount: str, currency: str | None) -> None:
        reply = self.counter.ask("card_purchase", reference=reference, amount=amount, currency=currency)
        if getattr(reply, "txn_status", None) == "successful":
            record = next(r for r in self.counter.database.all(CardRecord, 7) if r.txn_ref == reply.txn_ref)
            self.expected[reference] -= record.amount
            self.paid[reply.txn_ref] = reference

    @rule(data=st.data(), amount=st.none() | amounts)
    def give_back(self, data: st.DataObject, amount: str | None) -> None:
        if not self.paid:
            return
        txn_ref = data.draw(st.sampled_from(sorted(self.paid)))
        reply = self.counter.ask("card_refund", txnRef=txn_ref, amount=amount)
        reference = self.paid[txn_ref]
        if getattr(reply, "txn_status", None) == "successful" and self.state(reference) != "terminated":
            record = next(r for r in self.counter.database.all(CardRecord, 7) if r.txn_ref == reply.txn_ref)
            self.expected[reference] += record.amount

    @rule(reference=references, action=st.sampled_from(["block", "unblock"]))
    def change_state(self, reference: str, action: str) -> None:
        self.succeeds(action, reference)

    @rule(reference=references)
    def terminate(self, reference: str) -> None:
        if self.succeeds("terminate", reference):
            self.expected[reference] = 0

    @rule(days=st.integers(1, 100))
    def pass_days(self, days: int) -> None:
        """Monthly fees are taken where they are covered: the card's records say which were."""
        before = {reference: self.fees(reference) for reference in self.expected}
        self.counter.pass_time(self.counter.now + timedelta(days=days))
        for reference, paid in before.items():
            each = 108 if self.counter.row(reference).currency == "USD" else 5_375
            self.expected[reference] -= (self.fees(reference) - paid) * each

    # --- looking ------------------------------------------------------------------------------------------------

    def succeeds(self, action: str, reference: str, **fields: Any) -> bool:
        return getattr(self.counter.ask(action, reference=reference, **fields), "status", None) == 200

    def state(self, reference: str) -> str:
        return self.counter.row(reference).state

    def fees(self, reference: str) -> int:
        lines = self.counter.records(reference)
        return sum(line.narration == "Monthly Fee" and line.status == "Successful" for line in lines)

    def accounts(self) -> list[Account]:
        return list(self.counter.database.all(Account, 7))

    @invariant()
    def all_balances_of_a_currency_sum_to_zero_and_no_floor_is_broken(self) -> None:
        for currency in ("NGN", "USD"):
            assert sum(account.posted for account in self.accounts() if account.currency == currency) == 0
        assert all(account.floor is None or account.available >= account.floor for account in self.accounts())

    @invariant()
    def each_card_has_what_was_acknowledged_and_a_terminated_one_nothing(self) -> None:
        for reference, expected in self.expected.items():
            assert self.counter.on_card(reference) == expected
            if self.state(reference) == "terminated":
                assert expected == 0

    @invariant()
    def the_lines_of_a_card_add_up_to_its_balance(self) -> None:
        for reference, expected in self.expected.items():
            lines = self.counter.records(reference)
            assert sum(balance_effect(line.narration, line.status, line.amount) for line in lines) == expected
            assert all(line.txn_ref for line in lines if line.narration.startswith(("Card Purchase", "Card Refund")))

    @invariant()
    def a_card_has_one_job_until_it_ends(self) -> None:
        jobs = [job.subject for job in self.counter.jobs()]
        for card in self.counter.database.all(Card, 7):
            if card.state == "terminated":
                assert card.key not in jobs
            elif not card.is_expired(self.counter.now):
                assert jobs.count(card.key) == 1

    @invariant()
    def every_transaction_is_final_and_has_one_event(self) -> None:
        rows = self.counter.database.all(Transaction, 7)
        assert all(row.status in FINAL for row in rows)
        assert sorted(row.txn_ref for row in rows) == sorted(e.reference for e in self.counter.database.events)


def minor(amount: str) -> int:
    return int(amount.replace(".", ""))


TestAnySequenceOfCardActionsKeepsTheInvariants = Cards.TestCase
TestAnySequenceOfCardActionsKeepsTheInvariants.settings = settings(without_deadline(40), stateful_step_count=40)
