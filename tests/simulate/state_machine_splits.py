"""Rules of the state machine for split payments and their beneficiaries."""

from typing import Any

import hypothesis.strategies as st

from tests.simulate.model_books import Reply, money
from tests.simulate.model_rails import ACCOUNT, BANK_TRANSFER
from tests.simulate.model_splits import BENEFICIARY_ACCOUNTS, Part
from tests.simulate.state_machine import AMOUNT_CHOICES, BEARERS, MOST_USD, PICK, PLAIN_CARD, rule
from tests.simulate.state_machine_disputes import DisputeMachine

METHODS = ("card", "card", "foreign card", "token", ACCOUNT, "ussd", "qrpay", BANK_TRANSFER, "phone")
# How a payment is divided: percentages and shares in order. Some exceed what is settled.
DIVISIONS = (
    ("33.33", 1_000),
    ("50", "50"),
    ("0.01", "12.5", 101),
    (5_000,),
    (99, "99.99"),
    ("100",),
    (1, "66.67", "33.33"),
    (7_000_000, "20"),
)
MOST_BENEFICIARIES = 3


class SplitMachine(DisputeMachine):
    def make_parts(self, division: tuple[str | int, ...], first: int) -> tuple[Part, ...]:
        """Returns the parts of a division among the beneficiaries, who are registered on first use."""
        listed = [self.beneficiary(n) for n in range(MOST_BENEFICIARIES)]
        parts = []
        for n, size in enumerate(division):
            key = listed[(first + n) % MOST_BENEFICIARIES]
            parts.append(Part(key, percentage=size) if isinstance(size, str) else Part(key, share=size))
        return tuple(parts)

    def beneficiary(self, n: int) -> str:
        key = f"beneficiary{n}"
        if key not in self.ids:
            account = BENEFICIARY_ACCOUNTS[n]
            fields = {"name": "Bola Ade", "bankcode": "058", "accountnumber": account}
            expected = self.model.add_beneficiary(key, account)
            body = self.send_and_compare(expected, "sandbox", action="beneficiary", **fields)
            self.ids[key] = body["ref_code"]
        return key

    def wire_parts(self, parts: tuple[Part, ...]) -> list[dict[str, str]]:
        return [
            {"ref_code": self.ids[part.beneficiary]}
            | ({"percentage": part.percentage} if part.percentage else {"share": money(part.share)})
            for part in parts
        ]

    @rule(
        method=st.sampled_from(METHODS),
        division=st.sampled_from(DIVISIONS),
        first=st.integers(0, MOST_BENEFICIARIES - 1),
        amount=AMOUNT_CHOICES,
        bearer=BEARERS,
        number=PICK,
        is_foreign=st.sampled_from((False, False, False, False, True)),
    )
    def pay_split(
        self,
        method: str,
        division: tuple[str | int, ...],
        first: int,
        amount: int,
        bearer: str,
        number: int,
        is_foreign: bool,
    ) -> None:
        """Pays by any payment type, and divides what is settled. Beneficiaries are paid in naira alone."""
        parts, key = self.make_parts(division, first), self.model.new_key("p")
        if method == "token" and not self.tokens():
            method = "card"
        is_card = method in ("card", "foreign card", "token")
        of = self.pick(self.tokens(), number) if method == "token" else ""
        plastic = self.model.payments[of].number if of else "4242424242424242" if "foreign" in method else PLAIN_CARD
        bearer = "merchant" if method != "card" else bearer
        currency = "USD" if is_foreign and is_card else "NGN"
        amount = min(amount, MOST_USD) if currency == "USD" else amount
        if is_card:
            [settled] = self.model.settled_amounts(plastic, currency, bearer, amount)
        else:
            fee = self.model.inbound_fee(amount) if method == BANK_TRANSFER else self.model.mobile_fee(method, amount)
            settled = amount - fee - self.model.vat(fee)
        expected = self.model.split_payment(key, parts, currency, settled)
        fields: dict[str, Any] = {"split": self.wire_parts(parts), "amount": money(amount), "currency": currency}
        if method in ("card", "foreign card") and expected is None:
            self.charge_by_pin(key, plastic, currency, amount, bearer, split=fields["split"])
        elif is_card and not of:
            fields = self.card_fields(key, plastic, currency, amount, bearer) | fields
            self.send_and_compare(expected or {}, "payment", action="initiate", **fields)
        elif of:
            fields |= {"paymentType": "token", "token": self.ids[f"token of {of}"], "customer_txnref": key}
            expected = expected or self.model.charge_token(key, of, currency, amount, "")
            self.keep_split(key, self.send_and_compare(expected, "payment", action="charge", **fields))
        elif method == BANK_TRANSFER:
            fields |= {"paymentType": BANK_TRANSFER, "customer_txnref": key}
            expected = expected or self.model.await_transfer(key, amount)
            self.keep_split(key, self.send_and_compare(expected, "payment", action="charge", **fields))
        else:
            expected = expected or self.begin_elsewhere(key, method, amount)
            self.keep_split(key, self.send_elsewhere(key, expected, method, amount, split=fields["split"]))

    def begin_elsewhere(self, key: str, method: str, amount: int) -> Reply:
        if method == "phone":
            return self.model.pay_by_phone(key, "phone", "00", amount)
        return self.model.charge_elsewhere(key, method, amount)

    def keep_split(self, key: str, body: Any) -> None:
        if key not in self.model.payments:
            return
        if "accountNumber" in body:
            self.keep_account(key, body)
        else:
            self.keep_payment(key, body)
