"""Rules of the state machine for recurrent payments and installment plans."""

from datetime import datetime, timedelta
from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import precondition

from tests.simulate.model_books import DAY, money
from tests.simulate.model_plans import Plan, Terms, day_text
from tests.simulate.model_rails import AT_ONCE, PAYER_CARDS, SUCCEEDS_LATER
from tests.simulate.state_machine import AMOUNT_CHOICES, BEARERS, PICK, TRY_REFUSED, rule
from tests.simulate.state_machine_splits import DIVISIONS, SplitMachine

FEED_PAGE = 200
PLAN_CARDS = [number for number, card in PAYER_CARDS.items() if card.charge in (AT_ONCE, SUCCEEDS_LATER)]
RECURRENCES = (
    ("daily", 10),
    ("daily", None),
    ("weekly", 1),
    ("weekly", 6),
    ("weekly", None),
    ("monthly", 30),
    ("monthly", 6),
    ("monthly", None),
)
# Days from today, and the percentage that is due on each.
SCHEDULES = (
    {0: "50", 3: "50"},
    {1: "33.33", 2: "33.33", 12: "33.34"},
    {0: "10", 2: "45", 30: "45"},
    {2: "100"},
    {0: "100"},
    {1: "20", 2: "20", 3: "20", 4: "20", 20: "20"},
)
TOTALS = st.sampled_from((300_000, 1_000_001, 12_345_678))
STEPS = {True: ("stop", "start"), False: ("pause", "resume", "cancel")}


class PlanMachine(SplitMachine):
    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.lines: list[Any] = []  # of the log of events, read so far

    def read_feed(self) -> None:
        while True:
            page = self.shop.put("resources", inquire="event_feed", after=len(self.lines), limit=FEED_PAGE).body
            self.lines += page["data"]
            if not page["more"]:
                return

    # --- plans begin --------------------------------------------------------------------------------------------------

    @rule(
        plastic=st.sampled_from(PLAN_CARDS),
        recurrence=st.sampled_from(RECURRENCES),
        amount=AMOUNT_CHOICES,
        bearer=BEARERS,
        division=st.sampled_from(((), (), *DIVISIONS)),
    )
    def recur(
        self,
        plastic: str,
        recurrence: tuple[str, int | None],
        amount: int,
        bearer: str,
        division: tuple[str | int, ...],
    ) -> None:
        """Pays by a card that is charged again by frequency."""
        frequency, value = recurrence
        recurrent = {"frequency": frequency} | ({} if value is None else {"value": f"{value:02d}"})
        fields = {"is_recurring": True, "recurrent": recurrent}
        self.begin_plan(plastic, Terms(frequency, value), amount, bearer, division, fields)

    @rule(
        plastic=st.sampled_from(PLAN_CARDS),
        schedule=st.sampled_from(SCHEDULES),
        total=TOTALS,
        bearer=BEARERS,
        division=st.sampled_from(((), (), *DIVISIONS)),
        has_amounts=st.booleans(),
    )
    def pay_installments(
        self,
        plastic: str,
        schedule: dict[int, str],
        total: int,
        bearer: str,
        division: tuple[str | int, ...],
        has_amounts: bool,
    ) -> None:
        """Agrees on installments, by percentages or by amounts. What is due today is charged at once."""
        days = {self.model.today + timedelta(days=after): part for after, part in schedule.items()}
        amount, terms = self.model.installments(total, days)
        parts = dict(terms.later) | ({self.model.today: amount} if amount else {})
        sums = {day_text(day): money(parts[day]) if has_amounts else days[day] for day in days}
        fields = {"installment": {"payment_schedule": sums, "total": money(total)}, "amount": None}
        self.begin_plan(plastic, terms, amount, bearer, division, fields)

    def begin_plan(
        self,
        plastic: str,
        terms: Terms,
        amount: int,
        bearer: str,
        division: tuple[str | int, ...],
        fields: dict[str, Any],
    ) -> None:
        key, parts = self.model.new_key("p"), self.make_parts(division, 0) if division else ()
        sums = [amount, *(each for _, each in terms.later)]
        settled = self.model.settled_amounts(plastic, "NGN", bearer, *(each for each in sums if each))
        refusal = self.model.split_payment(key, parts, "NGN", *settled)
        fields |= {"split": self.wire_parts(parts)} if parts else {}
        if refusal is not None:
            card = self.card_fields(key, plastic, "NGN", amount, bearer)
            self.send_and_compare(refusal, "payment", action="initiate", **{**card, **fields})
            return
        self.model.agree(key, terms, amount, bearer)
        self.charge_by_pin(key, plastic, "NGN", amount, bearer, **fields)
        self.learn_references()

    # --- plans change -------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.model.plans)
    @rule(number=PICK, step=st.integers(0, 5), stubborn=TRY_REFUSED)
    def change_plan(self, number: int, step: int, stubborn: bool) -> None:
        """Stops, starts, pauses, resumes or cancels a plan."""
        changeable = ("active", "paused", "stopped")
        going = [plan for plan in self.model.plans.values() if stubborn or plan.state in changeable]
        if not going:
            return
        plan = self.pick(going, number)
        steps = STEPS[plan.is_recurrent]
        word = steps[step % len(steps)]
        if plan.state in ("paused", "stopped") and not stubborn:
            word = "start" if plan.is_recurrent else "resume"
        name = "recurrent" if plan.is_recurrent else "installments"
        expected = self.model.change_plan(plan.key, word)
        self.send_and_compare(expected, "resources", inquire=name, id=self.ids[plan.key], status=word)
        if plan.run_at is not None and plan.run_at <= self.model.now:
            self.run_due()
        self.touched.append(plan.key)

    def run_due(self) -> None:
        """Lets a second pass, so that what is due now has run when both are compared."""
        self.touched += self.time_dependent_keys()
        self.send_and_compare(self.model.advance(1), "sandbox", action="advance", seconds=1)
        self.learn_references()

    @precondition(lambda self: self.due_times() and not self.model.has_endless_requery())
    @rule(extra=st.sampled_from((0, 0, 3, 6, DAY)))
    def pass_to_due_time(self, extra: int) -> None:
        """Lets time pass until just after the next charge or cycle of a plan, which may still be open then."""
        self.pass_time(max(0, int((min(self.due_times()) - self.model.now).total_seconds())) + 1 + extra)

    @precondition(lambda self: self.due_times() and not self.model.has_endless_requery())
    @rule(days=st.sampled_from((2, 4, 9, 16)))
    def pass_several_due_times(self, days: int) -> None:
        self.pass_time(days * DAY)

    def due_times(self) -> list[datetime]:
        cycles = [plan.run_at for plan in self.model.thrifts.values() if plan.run_at is not None]
        return cycles + [plan.run_at for plan in self.next_charges() if plan.run_at is not None]

    def next_charges(self) -> list[Plan]:
        return [plan for plan in self.model.plans.values() if plan.run_at is not None]

    # --- what the service has named -----------------------------------------------------------------------------------

    def pass_time(self, seconds: int) -> None:
        super().pass_time(seconds)
        self.learn_references()

    def settle_one(self, number: int, status: str) -> None:
        super().settle_one(number, status)
        self.learn_references()

    def learn_references(self) -> None:
        """Finds the plans that have begun, and the charges that were made, by the reference of their first payment."""
        firsts = {plan.first: plan for plan in self.model.plans.values()}
        if any(plan.key not in self.ids for plan in firsts.values()):
            for name in ("recurrents", "installments"):
                for record in self.shop.put("resources", inquire=name).body:
                    if record["id"] not in self.ids.values():
                        reply = self.shop.put("payment", action="verify", txnRef=record["txnRef"]).body
                        plan = firsts[reply["customer_txnref"]]
                        self.ids[plan.key] = record["id"]
                        self.touched.append(plan.key)
        if all(key in self.ids for plan in firsts.values() for key in plan.charges):
            return
        self.read_feed()
        for plan in firsts.values():
            if all(key in self.ids for key in plan.charges):
                continue
            ended = [
                line["payload"]["txnRef"]
                for line in self.lines
                if line["kind"] == "payment" and line["payload"].get("customer_txnref") == plan.first
            ]
            ended += [self.view_plan(plan)["txnRef"]] if plan.charging else []
            assert len(ended) == 1 + len(plan.charges), (plan, ended)
            for key, reference in zip((plan.first, *plan.charges), ended, strict=True):
                self.ids[key] = reference
                self.touched.append(key)

    # --- comparing ----------------------------------------------------------------------------------------------------

    def view_plan(self, plan: Plan) -> Any:
        if plan.is_recurrent:
            return self.shop.put("resources", inquire="recurrent", id=self.ids[plan.key]).body["data"]
        return self.shop.put("resources", inquire="installments", id=self.ids[plan.key]).body[0]

    def compare_view(self, key: str) -> None:
        if key not in self.model.plans:
            super().compare_view(key)
            return
        body = self.view_plan(self.model.plans[key])
        self.compare(self.model.expected_plan(key), body, key)

    def time_dependent_keys(self) -> list[str]:
        return [*super().time_dependent_keys(), *self.model.plans]

    def compare_everything(self) -> None:
        super().compare_everything()
        for key in self.model.plans:
            self.compare_view(key)
