"""Rules of the state machine for planned faults: the next call of a rail is lost, refused or declined.

A rule plans a fault, makes the operation that meets it, and clears what is left of it. What becomes of the operation
when the fault resolves is predicted by the model, as for every other one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import hypothesis.strategies as st
from hypothesis.stateful import precondition

from tests.simulate.model_rails import ACCOUNT, AT_ONCE, PAYER_CARDS
from tests.simulate.state_machine import AMOUNT_CHOICES, PICK, PLAIN_CARD, rule
from tests.simulate.state_machine_disputes import PROVIDERS
from tests.simulate.state_machine_thrift import ThriftMachine

KINDS = st.sampled_from(("timeout", "reset", "unavailable", "decline"))
BILL = ("IfuR3XxiIpxqbZQ", "45012345678", 123_456)
OPERATIONS = (
    "transfer",
    "bill",
    "phone",
    "token",
    "refund",
    "initiate",
    "charge",
    "account",
    "validate",
    "purchase",
    "disbursement",
    "cash-out",
)
DIGITS = st.sampled_from(("00", "09", "06", "51", "99"))


class FaultMachine(ThriftMachine):
    @contextmanager
    def fault(self, rail: str, kind: str) -> Iterator[None]:
        """Plans a fault of the next call of a rail, at the service and in the model."""
        self.send_and_compare({"status": 200}, "sandbox", action="fault", rail=rail, kind=kind, times=1)
        self.model.fault = (rail, kind)
        yield
        self.model.fault = ("", "")
        self.send_and_compare({"status": 200}, "sandbox", action="fault", rail=rail, kind="none")

    @rule(
        which=st.integers(0, len(OPERATIONS) - 1),
        kind=KINDS,
        amount=AMOUNT_CHOICES,
        number=PICK,
        provider=st.sampled_from(sorted(PROVIDERS)),
        digits=DIGITS,
    )
    def meet_fault(self, which: int, kind: str, amount: int, number: int, provider: str, digits: str) -> None:
        """Makes an operation whose call meets a fault."""
        what = self.pick(filter(self.subjects_of, OPERATIONS), which)
        keys = self.subjects_of(what)
        self.world.reached[f"fault in {what}"] += 1
        if what == "transfer":
            with self.fault("bank", kind):
                self.send_transfer(self.model.new_key("t"), amount, "0000000000", "")
        elif what == "bill":
            with self.fault("biller", kind):
                self.send_bill(self.model.new_key("b"), *BILL, "")
        elif what == "phone":
            with self.fault("mobile", kind):
                self.charge_phone(provider, digits, amount)
        elif what == "token":
            with self.fault("card", kind):
                self.charge_token(self.pick(keys, number), "NGN", amount, "")
        elif what == "refund":
            with self.fault(self.model.payments[self.pick(keys, number)].fault_rail, kind):
                self.send_refund(number, "third" if number else "all", "", stubborn=False)
        elif what in ("initiate", "charge"):
            self.pay_with_fault(what, kind, amount, is_sent_again=bool(number))
        elif what == "account":
            self.debit_with_fault(kind, amount)
        else:
            self.change_with_fault(what, self.pick(keys, number), kind, number)

    def subjects_of(self, what: str) -> list[str]:
        """Returns what an operation can be made with. Those that need nothing have themselves."""
        model = self.model
        found = {
            "token": self.tokens,
            "refund": lambda: [payment.key for payment in model.payments.values() if model.can_refund(payment)],
            "validate": self.awaiting,
            "purchase": lambda: list(model.cards),
            "disbursement": lambda: [key for key in model.loans if self.is_asked_for(key)],
            "cash-out": lambda: [one.key for one in model.savings.values() if model.available(one.account)],
        }
        return found[what]() if what in found else [what]

    def change_with_fault(self, what: str, key: str, kind: str, number: int) -> None:
        """Makes an operation on something that exists."""
        if what == "validate":
            with self.fault(self.model.payments[key].fault_rail, kind):
                expected = self.model.lose_validate(key)
                fields = {"txnRef": self.ids[key], "otp": "123456"}
                self.keep_token(key, self.send_and_compare(expected, "payment", action="validate", **fields))
        elif what == "purchase":
            with self.fault("issuer", kind):
                fields = {"action": "card_purchase", "reference": self.ids[key], "amount": "1.00"}
                self.send_and_compare(self.model.purchase(key, 100), "sandbox", **fields)
        elif what == "disbursement":
            with self.fault("bank", kind):
                expected = self.model.process(self.model.new_key("x"), key, "approve")
                self.send_and_compare(expected, "loans", action="process", loan_id=self.ids[key], status="approve")
        else:
            with self.fault("bank", kind):
                self.cash_out(self.model.savings[key], "transfer", number % 3 + 1, 0)
        self.touched.append(key)

    # --- steps of a payment -------------------------------------------------------------------------------------------

    def pay_with_fault(self, step: str, kind: str, amount: int, *, is_sent_again: bool) -> None:
        """Pays by PIN with a fault of one of the two steps. A step that the rail refused may be taken again."""
        key = self.model.new_key("p")
        fields = self.card_fields(key, PLAIN_CARD, "NGN", amount, "merchant")
        if step == "initiate":
            with self.fault("card", kind):
                expected = self.model.lose_initiate(key, PLAIN_CARD, amount)
                body = self.send_and_compare(expected, "payment", action="initiate", **fields)
            if kind == "decline":
                fields |= {"txnRef": body["txnRef"]}
                body = self.send_and_compare(self.model.charge_declined(key), "payment", action="charge", **fields)
            self.keep_payment(key, body)
            return
        begun = self.send_and_compare({"status": 202, "apply_auth": "PIN"}, "payment", action="initiate", **fields)
        fields |= {"txnRef": begun["txnRef"]}
        with self.fault("card", kind):
            expected = self.model.lose_charge(key, PLAIN_CARD, amount)
            body = self.send_and_compare(expected, "payment", action="charge", **fields)
        if kind == "unavailable" and is_sent_again:
            body = self.send_and_compare(self.model.charge_again(key), "payment", action="charge", **fields)
        self.keep_payment(key, begun | body)

    def debit_with_fault(self, kind: str, amount: int) -> None:
        key = self.model.new_key("p")
        with self.fault("bank", kind):
            expected = self.model.lose_account(key, amount)
            self.keep_payment(key, self.send_elsewhere(key, expected, ACCOUNT, amount))

    def awaiting(self) -> list[str]:
        """Returns payments that wait for an OTP and whose outcome is known at once."""
        return [
            payment.key
            for payment in self.model.payments.values()
            if payment.is_awaiting_otp
            and payment.key not in self.model.declined
            and (payment.method == ACCOUNT or PAYER_CARDS[payment.number].charge == AT_ONCE)
        ]

    # --- calls that fall due ------------------------------------------------------------------------------------------

    def scheduled_calls(self) -> list[tuple[datetime, str]]:
        """Returns the calls of rails that fall due by themselves, earliest first."""
        charges = [(plan.run_at, "card") for plan in self.next_charges() if plan.run_at is not None]
        payouts = [(payout.due, "bank") for payout in self.model.payouts if not payout.is_sent]
        return sorted(charges + payouts)

    def has_lone_call(self) -> bool:
        """Returns whether it is certain which call comes next: what is open may lead to another at the same moment."""
        calls, model = self.scheduled_calls(), self.model
        if not all(model.txns[key].is_final for key in (*model.agreed, *model.sent_payouts)):
            return False
        if any(plan.charging for plan in model.plans.values()):
            return False
        return len({rail for due, rail in calls if due == calls[0][0]}) == sum(due == calls[0][0] for due, _ in calls)

    @precondition(lambda self: self.scheduled_calls() and self.has_lone_call() and not self.model.has_endless_requery())
    @rule(kind=KINDS, extra=st.sampled_from((0, 6, 86_400)))
    def schedule_with_fault(self, kind: str, extra: int) -> None:
        """Lets time pass until the next charge of a plan, or the next payout, has met a fault."""
        due, rail = self.scheduled_calls()[0]
        seconds = max(0, int((due - self.model.now).total_seconds())) + 1
        with self.fault(rail, kind):
            self.pass_time(seconds)
            self.world.reached["scheduled call with a fault"] += not self.model.fault[0]
        if extra:
            self.pass_time(extra)
