"""The rest of the state machine: other payment types, planned faults, disputes, and the contents of events."""

from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import precondition, rule

from tests.simulate.model_books import money
from tests.simulate.model_rails import ACCOUNT, MOBILE
from tests.simulate.state_machine import AMOUNT_CHOICES, PICK, TRY_REFUSED, assert_same
from tests.simulate.state_machine_accounts import AccountMachine

ELSEWHERE: dict[str, dict[str, Any]] = {
    "ussd": {"bank": "gtb"},
    "qrpay": {},
    ACCOUNT: {"account": {"accountnumber": "0000000000", "bankcode": "058"}},
}
# What a planned fault of the bank does to a transfer that would succeed: the same as the scenario of a header.
FAULTS = {"timeout": "http=timeout", "reset": "http=reset", "unavailable": "http=unavailable"}
FEED_PAGE = 200


class ApiStateMachine(AccountMachine):
    @rule(method=st.sampled_from((*MOBILE, ACCOUNT, ACCOUNT)), amount=AMOUNT_CHOICES)
    def pay_elsewhere(self, method: str, amount: int) -> None:
        key = self.model.new_key("p")
        fields = {"paymentType": method, "amount": money(amount), "customer_txnref": key, **ELSEWHERE[method]}
        expected = self.model.charge_elsewhere(key, method, amount)
        self.keep_payment(key, self.send_and_compare(expected, "payment", action="charge", **fields))

    @rule(fault=st.sampled_from(sorted(FAULTS)), amount=AMOUNT_CHOICES)
    def transfer_with_fault(self, fault: str, amount: int) -> None:
        """Plans a fault of the bank for the next call, and sends a transfer."""
        planned = {"rail": "bank", "kind": fault, "times": 1}
        self.send_and_compare({"status": 200}, "sandbox", action="fault", **planned)
        key = self.model.new_key("t")
        expected = self.model.transfer(key, amount, "0000000000", FAULTS[fault])
        order = {"amount": money(amount), "bankcode": "058", "accountnumber": "0000000000", "orderRef": key}
        self.send_and_compare(expected, "disburse", action="transfer", **order)
        self.send_and_compare({"status": 200}, "sandbox", action="fault", rail="bank", kind="none")
        self.touched.append(key)

    # --- disputes -----------------------------------------------------------------------------------------------------

    @precondition(lambda self: any(map(self.model.can_dispute, self.model.payments.values())))
    @rule(number=PICK, part=st.sampled_from((1, 1, 3, 0)))
    def dispute(self, number: int, part: int) -> None:
        """Opens a dispute of what is left of a payment, of a part, or of too much."""
        paid = [payment for payment in self.model.payments.values() if self.model.can_dispute(payment)]
        payment, key = self.pick(paid, number), self.model.new_key("d")
        left = self.model.refundable(payment)
        amount = max(1, left // part) if part else left + 1
        expected = self.model.open_dispute(key, payment.key, amount)
        fields = {"txnRef": self.ids[payment.key], "reason": "fraudulent", "amount": money(amount)}
        body = self.send_and_compare(expected, "sandbox", action="dispute", **fields)
        if "data" in body:
            self.ids[key] = body["data"]["dispute_id"]
            self.touched.append(key)

    @precondition(lambda self: self.model.disputes)
    @rule(number=PICK, state=st.sampled_from(("won", "lost", "accepted")), stubborn=TRY_REFUSED)
    def end_dispute(self, number: int, state: str, stubborn: bool) -> None:
        listed = [key for key, dispute in self.model.disputes.items() if stubborn or dispute.is_open]
        if not listed:
            return
        key = self.pick(listed, number)
        expected = self.model.end_dispute(key, state)
        if state == "accepted":
            fields = {"action": "dispute_respond", "dispute_id": self.ids[key], "accept": True}
            self.send_and_compare(expected, "payment", **fields)
        else:
            fields = {"action": "dispute_outcome", "dispute_id": self.ids[key], "outcome": state}
            self.send_and_compare(expected, "sandbox", **fields)
        self.touched.append(key)

    def compare_view(self, key: str) -> None:
        if key not in self.model.disputes:
            super().compare_view(key)
            return
        body = self.shop.put("payment", action="dispute", dispute_id=self.ids[key]).body
        self.compare(self.model.expected_dispute(key), body["data"], key)

    def time_dependent_keys(self) -> list[str]:
        return [*super().time_dependent_keys(), *self.model.disputes]

    # --- events -------------------------------------------------------------------------------------------------------

    def compare_everything(self) -> None:
        super().compare_everything()
        for key in self.model.disputes:
            self.compare_view(key)
        self.compare_events()

    def compare_events(self) -> None:
        """Compares the whole log of events: its numbers have no gap, and each final transaction has one event."""
        lines: list[Any] = []
        while True:
            page = self.shop.put("resources", inquire="event_feed", after=len(lines), limit=FEED_PAGE).body
            lines += page["data"]
            if not page["more"]:
                break
        assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
        by_order = {line["payload"].get("orderRef"): line for line in lines if line["kind"] in ("transfer", "bill")}
        by_reference = {line["txnRef"]: line for line in lines}
        assert len(by_reference) == len(lines), "an event came twice"
        for txn in self.model.txns.values():
            expected = self.model.expected_event(txn)
            reference = self.ids.get(txn.key)
            line = by_reference.get(reference or "") or by_order.get(txn.key)
            if expected is None or (reference is None and txn.key not in by_order):
                assert expected is None or self.is_hidden(txn) or txn.purpose, (txn, "no event")
                continue
            assert line is not None, (txn, "no event")
            payload = line["payload"]
            assert_same({name: payload.get(name) for name in expected}, expected, txn, payload)
