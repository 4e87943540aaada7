"""The model of recurrent payments and installment plans: when a saved card is charged, and what a decline leads to.
(Contract: payment#recurrent, payment#installment)"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import partial

from tests.simulate.model_books import LAGOS, SUCCESSFUL, Reply, Txn, midnight, money, refuse
from tests.simulate.model_disputes import utc_text
from tests.simulate.model_loans import half_up
from tests.simulate.model_rails import AT_ONCE, PAYER_CARDS, Payment
from tests.simulate.model_splits import DUE_HOUR, Splits

RETRY_DAYS = (1, 3, 7)
MOST_MISSED = 3
ACTIVE, PAUSED, STOPPED, CANCELLED = "active", "paused", "stopped", "cancelled"
FINISHED, INCOMPLETE, UNPAID = "finished", "incomplete", "unpaid"


def day_text(day: date) -> str:
    return f"{day:%d-%m-%Y}"


def due_on(day: date) -> datetime:
    return midnight(day) + DUE_HOUR


@dataclass(frozen=True)
class Terms:
    """The terms that are agreed with the first payment. A plan of installments has `later`, the amounts after today by
    date, and `total`; a recurrent payment has a frequency and, perhaps, a value."""

    frequency: str = ""
    value: int | None = None
    total: int = 0
    later: tuple[tuple[date, int], ...] = ()


@dataclass
class Plan:
    key: str
    first: str  # the payment that it began with
    number: str  # of the card
    currency: str
    bearer: str
    amount: int  # of each charge of a recurrent payment; the first one of installments
    terms: Terms
    began_at: datetime
    due: datetime  # of the current cycle
    value: int = 0
    state: str = ACTIVE
    cycle: int = 1
    attempt: int = 0
    missed_in_a_row: int = 0
    missed: list[int] = field(default_factory=list)
    paid: int = 0
    run_at: datetime | None = None  # when the card is charged next
    charging: str = ""  # the charge in progress
    charges: list[str] = field(default_factory=list)  # after the first

    @property
    def is_recurrent(self) -> bool:
        return bool(self.terms.frequency)

    @property
    def cycle_amount(self) -> int:
        return self.amount if self.is_recurrent else self.terms.later[self.cycle - 1][1]

    def due_after(self, moment: datetime) -> datetime:
        """Returns the first due time after a moment: for a week or month, on a later day."""
        day = moment.astimezone(LAGOS).date()
        if self.terms.frequency == "daily":
            today = midnight(day) + timedelta(hours=self.value)
            return today if today > moment else today + timedelta(days=1)
        while True:
            day += timedelta(days=1)
            last = (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
            on = day.isoweekday() if self.terms.frequency == "weekly" else day.day
            if on == (self.value if self.terms.frequency == "weekly" else min(self.value, last.day)):
                return due_on(day)

    def next_due(self) -> datetime | None:
        """Returns the due time of the next cycle, or None after the last installment."""
        if self.is_recurrent:
            return self.due_after(self.due)
        return due_on(self.terms.later[self.cycle][0]) if self.cycle < len(self.terms.later) else None


class Plans(Splits):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.plans: dict[str, Plan] = {}
        self.agreed: dict[str, tuple[Terms, int, str]] = {}  # with payments: terms, amount, bearer

    def agree(self, key: str, terms: Terms, amount: int, bearer: str) -> None:
        """Notes the plan that a payment begins if it succeeds."""
        self.agreed[key] = (terms, amount, bearer)

    def installments(self, total: int, percentages: dict[date, str]) -> tuple[int, Terms]:
        """Returns what is due today, and the rest by date. The last date takes the remainder."""
        days = sorted(percentages)
        amounts = [half_up(total * Fraction(percentages[day]) / 100) for day in days[:-1]]
        amounts.append(total - sum(amounts))
        parts = dict(zip(days, amounts, strict=True))
        now = parts.pop(self.today, 0)
        return now, Terms(total=total, later=tuple(parts.items()))

    def settled_amounts(self, number: str, currency: str, bearer: str, *amounts: int) -> list[int]:
        """Returns what charges of these amounts settle."""
        local, settled = PAYER_CARDS[number].local, []
        for amount in amounts:
            charged = self.gross(amount, currency, local) if bearer == "customer" else amount
            fee = self.card_fee(charged, currency, local)
            settled.append(charged - fee - self.vat(fee))
        return settled

    def on_end(self, txn: Txn) -> None:
        super().on_end(txn)
        if txn.kind != "payment":
            return
        if self.payments[txn.key].plan:
            self.end_charge(self.plans[self.payments[txn.key].plan], txn)
        elif txn.key in self.agreed and txn.status == SUCCESSFUL:
            self.start_plan(txn, *self.agreed[txn.key])

    def plan_of(self, payment: Payment) -> str:
        started = next((plan.key for plan in self.plans.values() if plan.first == payment.key), "")
        return super().plan_of(payment) or started

    def start_plan(self, txn: Txn, terms: Terms, amount: int, bearer: str) -> None:
        if not terms.frequency and not terms.later:
            return
        payment, key = self.payments[txn.key], self.new_key("n")
        plan = Plan(key, txn.key, payment.number, payment.currency, bearer, amount, terms, self.now, self.now)
        plan.paid = amount
        if terms.frequency:
            anchors = {"daily": self.now.hour, "weekly": self.today.isoweekday(), "monthly": self.today.day}
            plan.value = anchors[terms.frequency] if terms.value is None else terms.value
            plan.due = plan.due_after(self.now)
        else:
            plan.due = due_on(terms.later[0][0])
        plan.run_at = plan.due
        self.plans[key] = plan

    # --- charges -------------------------------------------------------------------------------------------------

    def plan_changes(self) -> Iterator[tuple[datetime, int, partial[None]]]:
        for plan in self.plans.values():
            if plan.run_at is not None:
                yield plan.run_at, 0, partial(self.charge_plan, plan)

    def charge_plan(self, plan: Plan) -> None:
        """Charges the saved card for the current cycle."""
        card, key = PAYER_CARDS[plan.number], self.new_key("p")
        plan.run_at, plan.attempt, plan.charging = None, plan.attempt + 1, key
        plan.charges.append(key)
        has_recovered = 0 < card.recovers_on <= plan.attempt
        outcome = AT_ONCE if has_recovered else card.token
        is_soft = card.is_soft or self.fault in (("card", "decline"), ("card", "reset"))
        outcome = self.apply_fault("card", outcome)
        txn = self.open_payment(key, plan.number, plan.currency, plan.cycle_amount, plan.bearer, outcome)
        payment = self.payments[key]
        payment.method, payment.plan, payment.is_soft = "token", plan.key, is_soft
        self.splits[key] = self.splits.get(plan.first, ())
        self.begin(txn)

    def call_back(self, key: str, status: str) -> Reply:
        """Applies a callback. A decline that it brings is one that may be tried again."""
        if key in self.payments and not self.txns[key].is_final:
            self.payments[key].is_soft = True
        return super().call_back(key, status)

    def end_charge(self, plan: Plan, txn: Txn) -> None:
        plan.charging = ""
        if txn.status == SUCCESSFUL:
            plan.paid, plan.missed_in_a_row = plan.paid + txn.amount, 0
            self.go_on(plan)
        elif not self.payments[txn.key].is_soft:
            self.pause(plan, "plan paused by a decline")
        elif not self.retry(plan):
            plan.missed.append(plan.cycle)
            plan.missed_in_a_row += 1
            if plan.missed_in_a_row >= MOST_MISSED:
                self.pause(plan, "plan paused after three cycles")
            else:
                self.go_on(plan)

    def retry(self, plan: Plan) -> bool:
        """Schedules the next try of the same cycle. Returns False if there is none."""
        following = plan.next_due()
        tries = (plan.due + timedelta(days=days) for days in RETRY_DAYS)
        again = next((moment for moment in tries if moment > self.now), None)
        if not plan.attempt or again is None or (following is not None and again >= following):
            return False
        self.reached["plan retried"] += 1
        self.schedule(plan, again)
        return True

    def schedule(self, plan: Plan, moment: datetime) -> None:
        plan.run_at = moment if plan.state == ACTIVE else None

    def pause(self, plan: Plan, how: str) -> None:
        plan.attempt = 0
        if plan.state not in (STOPPED, CANCELLED):
            plan.state = PAUSED
            self.reached[how] += 1

    def go_on(self, plan: Plan) -> None:
        """Moves the plan to its next cycle, or ends it. What was cancelled stays so."""
        due, plan.attempt = plan.next_due(), 0
        if due is not None:
            plan.cycle, plan.due = plan.cycle + 1, due
            self.schedule(plan, due)
        elif plan.state == CANCELLED:
            plan.cycle += 1
            self.reached["last charge of a cancelled plan"] += 1
        else:
            plan.state = FINISHED if plan.paid >= plan.terms.total else INCOMPLETE if plan.paid else UNPAID
            self.reached[f"plan {plan.state}"] += 1

    def verify_payment(self, key: str) -> Reply:
        plan = self.payments[key].plan
        reply = super().verify_payment(key)
        return {**reply, "customer_txnref": self.plans[plan].first} if plan else reply

    # --- the merchant's changes ----------------------------------------------------------------------------------

    def change_plan(self, key: str, step: str) -> Reply:
        """Changes a plan: stop and start of a recurrent payment; pause, resume and cancel of installments."""
        plan = self.plans[key]
        wanted = {"stop": STOPPED, "start": ACTIVE, "pause": PAUSED, "resume": ACTIVE, "cancel": CANCELLED}[step]
        if plan.state == wanted:
            return {"status": 200}
        if not plan.is_recurrent and plan.state not in (ACTIVE, PAUSED):
            return refuse(104, plan.state)
        self.reached[f"plan: {step}"] += 1
        plan.state = wanted
        if wanted != ACTIVE:
            plan.run_at = None
            return {"status": 200}
        plan.missed_in_a_row = 0
        if plan.is_recurrent:
            self.restart(plan)
        elif not plan.charging:
            plan.attempt, plan.run_at = 0, max(plan.due, self.now)
        return {"status": 200}

    def restart(self, plan: Plan) -> None:
        """Starts a recurrent payment again. Due dates that have passed are not charged."""
        passed = plan.due
        while plan.due_after(passed) <= self.now:
            passed = plan.due_after(passed)
        if plan.charging:
            plan.attempt, plan.due = plan.attempt if passed == plan.due else 0, passed
            return
        plan.due, plan.attempt = plan.due if plan.due > self.now else plan.due_after(passed), 0
        plan.run_at = plan.due

    def expected_plan(self, key: str) -> Reply:
        plan = self.plans[key]
        coming = utc_text(plan.due) if plan.state == ACTIVE else None
        reply: Reply = {"state": plan.state, "paid": money(plan.paid), "next_charge": coming}
        reply["currency"] = plan.currency
        if plan.is_recurrent:
            value = f"{plan.value:02d}" if plan.terms.frequency == "daily" else str(plan.value)
            return {**reply, "amount": money(plan.amount), "frequency": plan.terms.frequency, "value": value}
        return {**reply, "total": money(plan.terms.total), "payment_schedule": self.expected_schedule(plan)}

    def expected_schedule(self, plan: Plan) -> list[Reply]:
        lines = [{"date": day_text(plan.began_at.date()), "amount": money(plan.amount), "paid": True}]
        done = len(plan.terms.later) if plan.state in (FINISHED, INCOMPLETE, UNPAID) else plan.cycle - 1
        for n, (day, amount) in enumerate(plan.terms.later, start=1):
            lines.append({"date": day_text(day), "amount": money(amount), "paid": n <= done and n not in plan.missed})
        return lines if plan.amount else lines[1:]
