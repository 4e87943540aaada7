"""Rules of the state machine for thrift plans, whose members are the savings."""

from datetime import timedelta

import hypothesis.strategies as st

from tests.simulate.model_books import WALLET, money
from tests.simulate.model_thrift import OPEN, ThriftPlan
from tests.simulate.state_machine import PICK, TRY_REFUSED, rule
from tests.simulate.state_machine_plans import PlanMachine

SIZES = st.sampled_from((2, 2, 3))
CONTRIBUTIONS = st.sampled_from((10_000, 150_000, 12_345))
FREQUENCIES = st.sampled_from(("every_day", "every_day", "every_week", "every_four_weeks", "every_month"))
STARTS = st.sampled_from((0, 1, 1, 5, -1))
# What a new member's savings hold, in hundredths of a contribution: enough for all cycles, for one, too little, none.
FUNDS_IN_ORDER = (400, 400, 100, 400, 30, 0)


class ThriftMachine(PlanMachine):
    @rule(
        act=st.sampled_from(("fill", "fill", "fill", "subscribe", "subscribe", "cancel", "create")),
        terms=st.tuples(CONTRIBUTIONS, FREQUENCIES, STARTS, SIZES),
        funds=st.integers(0, len(FUNDS_IN_ORDER) - 1),
        number=PICK,
        member=PICK,
        stubborn=TRY_REFUSED,
    )
    def thrift(
        self, act: str, terms: tuple[int, str, int, int], funds: int, number: int, member: int, stubborn: bool
    ) -> None:
        """Creates a plan, joins it with savings, once or until it is full, or cancels it."""
        plans = [plan for plan in self.model.thrifts.values() if stubborn or plan.state == OPEN]
        if act == "create" or not plans:
            self.create_thrift(*terms)
            return
        plan = self.pick(plans, number)
        if act == "cancel":
            expected = self.model.cancel_thrift(plan.key)
            self.send_and_compare(expected, "investments", action="cancel_plan", thrift_id=self.ids[plan.key])
            self.touched += [one.savings.key for one in plan.members]
        elif act == "fill":
            for place in range(len(plan.members), plan.size):
                self.subscribe(plan, FUNDS_IN_ORDER[(funds + place) % len(FUNDS_IN_ORDER)], member, stubborn=False)
        else:
            self.subscribe(plan, FUNDS_IN_ORDER[funds], member, stubborn=stubborn)
        self.touched.append(plan.key)

    def create_thrift(self, amount: int, frequency: str, after: int, size: int) -> None:
        key, start = self.model.new_key("h"), self.model.today + timedelta(days=after)
        expected = self.model.create_thrift(key, amount, frequency, start, size)
        fields = {"name": "Esusu", "amount": money(amount), "frequency": frequency, "member_required": str(size)}
        fields["start_date"] = start.isoformat()
        body = self.send_and_compare(expected, "investments", action="create_plan", **fields)
        if key in self.model.thrifts:
            self.ids[key] = body["data"]["thrift_id"]
            self.touched.append(key)

    def subscribe(self, plan: ThriftPlan, funds: int, number: int, *, stubborn: bool) -> None:
        """Joins savings to a plan, mostly such as are not in it, and opens some for the purpose."""
        members = [member.savings.key for member in plan.members]
        savings = [
            one.key for one in self.model.savings.values() if stubborn or (one.is_open and one.key not in members)
        ]
        if not savings:
            self.open_savings(0, ("36.5", "annualized"), 4, "10")
            savings = [list(self.model.savings)[-1]]
        key = self.pick(savings, number)
        self.fill(key, plan.amount * funds // 100)
        expected = self.model.subscribe(plan.key, key)
        fields = {"savings_id": self.ids[key], "thrift_id": self.ids[plan.key]}
        self.send_and_compare(expected, "investments", action="subscribe", **fields)
        self.touched.append(key)
        if plan.run_at is not None and plan.run_at <= self.model.now:
            self.run_due()

    def fill(self, key: str, wanted: int) -> None:
        """Deposits what savings lack of an amount, if the wallet has it."""
        savings = self.model.savings[key]
        lacking = wanted - self.model.available(savings.account)
        if lacking < 100 or not savings.is_open or self.model.available(WALLET) < lacking:
            return
        expected = self.model.deposit(key, lacking)
        fields = {"savings_id": self.ids[key], "amount": money(lacking), "payment_method": "wallet"}
        self.send_and_compare(expected, "investments", action="deposit", **fields)

    # --- comparing ----------------------------------------------------------------------------------------------------

    def compare_view(self, key: str) -> None:
        if key not in self.model.thrifts:
            super().compare_view(key)
            return
        listed = self.shop.put("investments", action="list_plans", limits=200).body["data"]
        [record] = [one for one in listed if one["thrift_id"] == self.ids[key]]
        self.compare(self.model.expected_thrift(key), record, key)
        members = self.shop.put("investments", action="subscriptions", thrift_id=self.ids[key]).body["data"]
        plan = self.model.thrifts[key]
        assert [one["savings_id"] for one in members] == [self.ids[member.savings.key] for member in plan.members]
        for expected, found in zip(self.model.expected_members(key), members, strict=True):
            self.compare(expected, found, key)

    def time_dependent_keys(self) -> list[str]:
        return [*super().time_dependent_keys(), *self.model.thrifts]

    def compare_everything(self) -> None:
        super().compare_everything()
        for key in self.model.thrifts:
            self.compare_view(key)
