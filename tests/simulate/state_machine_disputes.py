"""Rules of the state machine for other payment types (USSD, QR, bank account, telephone, mobile money) and disputes."""

from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import precondition

from tests.simulate.model_books import Reply, money
from tests.simulate.model_disputes import REASON
from tests.simulate.model_phones import BY_DIGITS, LIMITS, MAGIC_PHONES
from tests.simulate.model_phones import CURRENCIES as PHONE_CURRENCIES
from tests.simulate.model_rails import ACCOUNT, MOBILE
from tests.simulate.state_machine import AMOUNT_CHOICES, PICK, TRY_REFUSED, rule
from tests.simulate.state_machine_accounts import AccountMachine

ELSEWHERE: dict[str, dict[str, Any]] = {
    "ussd": {"bank": "gtb"},
    "qrpay": {},
    ACCOUNT: {"account": {"accountnumber": "0000000000", "bankcode": "058"}},
    "phone": {"phonenumber": "08000000000"},
}
# A payer's telephone and what each provider asks for besides.
PROVIDERS: dict[str, dict[str, Any]] = {
    "phone": {"paymentType": "phone"},
    "paga": {"paymentType": "mobile_money", "type": "paga", "redirect_url": "https://example.com/back"},
    "ghana": {"paymentType": "mobile_money", "type": "ghana", "country": "GH", "network": "mtn"},
    "mpesa": {"paymentType": "mobile_money", "type": "mpesa", "country": "KE"},
}


class DisputeMachine(AccountMachine):
    @rule(method=st.sampled_from((*MOBILE, ACCOUNT, ACCOUNT)), amount=AMOUNT_CHOICES)
    def pay_elsewhere(self, method: str, amount: int) -> None:
        key = self.model.new_key("p")
        expected = self.model.charge_elsewhere(key, method, amount)
        self.keep_payment(key, self.send_elsewhere(key, expected, method, amount))

    def send_elsewhere(self, key: str, expected: Reply, method: str, amount: int, **more: Any) -> Any:
        fields = {"paymentType": method, "amount": money(amount), "customer_txnref": key, **ELSEWHERE[method], **more}
        return self.send_and_compare(expected, "payment", action="charge", **fields)

    @rule(
        provider=st.sampled_from(("phone", "phone", *PROVIDERS)),
        digits=st.sampled_from(("00", "00", *BY_DIGITS)),
        amount=AMOUNT_CHOICES,
    )
    def pay_by_phone(self, provider: str, digits: str, amount: int) -> None:
        self.charge_phone(provider, digits, amount)

    def charge_phone(self, provider: str, digits: str, amount: int, **more: Any) -> None:
        key, currency = self.model.new_key("p"), PHONE_CURRENCIES[provider]
        least, most = LIMITS[currency]
        amount = min(max(amount, least), most)
        fields = {**PROVIDERS[provider], "currency": currency, "amount": money(amount), "customer_txnref": key, **more}
        if provider in MAGIC_PHONES:
            fields["phonenumber"] = MAGIC_PHONES[provider] + digits
        expected = self.model.pay_by_phone(key, provider, digits, amount)
        self.keep_payment(key, self.send_and_compare(expected, "payment", action="charge", **fields))

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
        fields = {"txnRef": self.ids[payment.key], "reason": REASON, "amount": money(amount)}
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

    def compare_everything(self) -> None:
        super().compare_everything()
        for key in self.model.disputes:
            self.compare_view(key)
