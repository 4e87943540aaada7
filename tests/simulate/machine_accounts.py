"""The rest of the machine: virtual cards, cashcodes, savings, loans, and time."""

from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import precondition, rule

from tests.simulate.machine import (
    AMOUNTS,
    AT_ONCE_NUMBERS,
    PICK,
    PINS,
    SMALL_AMOUNTS,
    TRANSFER_AMOUNTS,
    Till,
)
from tests.simulate.model_books import DAY, money
from tests.simulate.model_cards import ACTIVE, BLOCKED
from tests.simulate.model_clients import CLIENTS

CARD_AMOUNTS = {
    "USD": (49, 50, 499, 500, 2_000, 10_000, 10_001, 123_456, 990_000, 1_000_000, 1_000_001),
    "NGN": (100, 99_999, 100_000, 250_000, 7_654_321, 499_000_000, 500_000_000, 500_000_001),
}
CURRENCIES = st.sampled_from(["NGN", "USD"])
STATES = {"block": BLOCKED, "unblock": ACTIVE}
BILLING = {"address": "1 Broad Street", "name": "Ada Obi", "city": "Lagos", "state": "Lagos", "postal_code": "101001"}

CHANNELS = ("ATM", "POS", "WEB")
OTHER_SUM = 777_777

RATES = st.sampled_from([("36.5", "annualized"), ("3", "every_month"), ("0.7", "every_week"), ("0.05", "every_day")])
METHODS = st.sampled_from(["declining_equal_instalments", "equal_principal", "flat"])
TAXES = st.sampled_from(["0", "10", "7.5"])
WHO = st.integers(0, len(CLIENTS) - 1)

# Short stretches end what is open; long ones bring fees, interest and instalments.
MOMENTS = st.sampled_from([1, 5, 30, 31, 120, 300, 600, 1_800, 7_200, 90_000])
DAYS = st.sampled_from([1, 3, 27, 31, 62])


class Machine(Till):
    # --- virtual cards ------------------------------------------------------------------------------------------------

    @rule(currency=CURRENCIES, number=PICK)
    def create_card(self, currency: str, number: int) -> None:
        key, amounts = self.model.new_key("v"), CARD_AMOUNTS[currency]
        amount = amounts[number % len(amounts)]
        said = {"billing": BILLING, "amount": money(amount), "currency": currency}
        body = self.ask(self.model.create_card(key, currency, amount), "virtualcard", action="create", **said)
        if "card_data" in body:
            self.ids[key] = body["card_data"]["reference"]
        self.touched.append(key)

    @precondition(lambda self: self.model.cards)
    @rule(number=PICK, action=st.sampled_from(["fund", "withdraw", "purchase"]), sum_number=PICK)
    def move_money_of_a_card(self, number: int, action: str, sum_number: int) -> None:
        key = self.pick(self.model.cards, number)
        amounts = CARD_AMOUNTS[self.model.cards[key].currency]
        amount = amounts[sum_number % len(amounts)]
        said = {"reference": self.ids[key], "amount": money(amount)}
        if action == "fund":
            self.ask(self.model.fund_card(key, amount), "virtualcard", action="fund", **said)
        elif action == "withdraw":
            self.ask(self.model.withdraw(key, amount), "virtualcard", action="withdraw", **said)
        else:
            self.ask(self.model.purchase(key, amount), "sandbox", action="card_purchase", **said)
        self.touched.append(key)

    @precondition(lambda self: self.model.cards)
    @rule(number=PICK, action=st.sampled_from(["block", "unblock", "terminate"]))
    def change_a_card(self, number: int, action: str) -> None:
        key = self.pick(self.model.cards, number)
        expected = self.model.terminate(key) if action == "terminate" else self.model.switch(key, STATES[action])
        self.ask(expected, "virtualcard", action=action, reference=self.ids[key])
        self.touched.append(key)

    # --- cashcodes ----------------------------------------------------------------------------------------------------

    @rule(amount=TRANSFER_AMOUNTS, channel=st.sampled_from(CHANNELS), minutes=st.sampled_from([4, 5, 60, 1440, 10_080]))
    def generate(self, amount: int, channel: str, minutes: int) -> None:
        self.send_code(self.model.new_key("c"), amount, "4321", channel, minutes)

    def send_code(self, key: str, amount: int, pin: str, channel: str, minutes: int) -> None:
        expected = self.model.generate(key, amount, pin, channel, minutes)
        said = {"amount": money(amount), "pin": pin, "channel": channel, "life_time": str(minutes), "orderRef": key}
        self.keep_code(key, self.ask(expected, "cashcode", action="generate", **said))
        self.touched.append(key)

    def keep_code(self, key: str, body: Any) -> None:
        if "cashcode" in body:
            self.ids[f"code of {key}"] = body["cashcode"]

    @precondition(lambda self: any(txn.said for txn in self.txns("cashcode")))
    @rule(number=PICK, changed=st.booleans())
    def repeat_generate(self, number: int, changed: bool) -> None:
        key = self.pick([txn.key for txn in self.txns("cashcode") if txn.said], number)
        amount, pin, channel, minutes = self.model.txns[key].said
        self.send_code(key, OTHER_SUM if changed else amount, pin, channel, minutes)

    @precondition(lambda self: self.model.codes)
    @rule(
        number=PICK,
        pin=st.sampled_from(["4321", "4321", "4321", "0000"]),
        less=st.sampled_from([0, 0, 1, -1]),
        other_channel=st.sampled_from([False, False, False, True]),
    )
    def redeem(self, number: int, pin: str, less: int, other_channel: bool) -> None:
        key = self.pick(self.model.codes, number)
        code, amount = self.model.codes[key], self.model.txns[key].amount - less
        channel = CHANNELS[CHANNELS.index(code.channel) - 1] if other_channel else code.channel
        expected = self.model.redeem(key, pin, amount, channel)
        said = {"cashcode": self.ids[f"code of {key}"], "pin": pin, "amount": money(amount), "channel": channel}
        self.ask(expected, "sandbox", action="redeem_cashcode", **said)
        self.touched += [key, self.model.txns[key].purpose]

    @precondition(lambda self: self.model.codes)
    @rule(number=PICK)
    def cancel(self, number: int) -> None:
        key = self.pick(self.model.codes, number)
        self.ask(self.model.cancel(key), "cashcode", action="cancel", orderRef=self.ids.get(key, key))
        self.touched += [key, self.model.txns[key].purpose]

    # --- savings ------------------------------------------------------------------------------------------------------

    def client(self, who: int) -> str:
        """Made when first wanted: one for each way in which a bank answers."""
        key = f"client {who}"
        if key not in self.ids:
            account = {"bank_code": "058", "account_number": CLIENTS[who]}
            person = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567", "bankAccount": account}
            body = self.ask({"status": 200}, "clients", action="create", data=person, status="active")
            self.ids[key] = body["data"]["client_id"]
        return self.ids[key]

    @rule(who=WHO, rate=RATES, period=st.integers(1, 4), tax=TAXES)
    def open_savings(self, who: int, rate: tuple[str, str], period: int, tax: str) -> None:
        key, (percent, frequency) = self.model.new_key("s"), rate
        expected = self.model.open_savings(key, who, percent, frequency, period, tax)
        terms = {"interestSettings": {"interestRate": percent, "interestFrequency": frequency}, "period": period}
        if tax != "0":
            terms |= {"tax_applied": True, "tax_rate": tax}
        said = {"name": "School fees", "client_id": self.client(who), **terms}
        body = self.ask(expected, "investments", action="create_savings", **said)
        self.ids[key] = body["data"]["savings_id"]
        self.touched.append(key)

    @precondition(lambda self: self.model.savings)
    @rule(number=PICK, amount=TRANSFER_AMOUNTS.filter(lambda amount: 100 <= amount <= 1_000_000_000))
    def deposit(self, number: int, amount: int) -> None:
        key = self.pick(self.model.savings, number)
        said = {"savings_id": self.ids[key], "payment_method": "wallet", "amount": money(amount)}
        self.ask(self.model.deposit(key, amount), "investments", action="deposit", **said)
        self.touched.append(key)

    @precondition(lambda self: self.model.savings)
    @rule(number=PICK, amount=SMALL_AMOUNTS, plastic=AT_ONCE_NUMBERS, pin=PINS)
    def deposit_by_card(self, number: int, amount: int, plastic: str, pin: str) -> None:
        of = self.pick(self.model.savings, number)
        expected = self.model.deposit_by_card(self.model.new_key("d"), of, amount, plastic, pin)
        card = self.plastic(plastic, "100", pin)
        said = {"savings_id": self.ids[of], "payment_method": "card", "amount": money(amount), "card": card}
        self.ask(expected, "investments", action="deposit", **said)
        self.touched.append(of)

    @precondition(lambda self: self.model.savings)
    @rule(
        number=PICK,
        part=st.sampled_from([1, 2, 3, 0]),
        method=st.sampled_from(["cash", "cash", "transfer", "cashcode"]),
        stranger=st.sampled_from([0, 0, 0, 0, 1]),
    )
    def cash_out(self, number: int, part: int, method: str, stranger: int) -> None:
        """All, a part, or a kobo more than there is; now and then by who is not the owner."""
        of, key = self.pick(self.model.savings, number), self.model.new_key("o")
        savings = self.model.savings[of]
        there, who = self.model.available(savings.account), (savings.client + stranger) % len(CLIENTS)
        amount = max(100, there // part) if part else there + 100
        expected = self.model.cash_out(key, of, who, amount, method, "4321")
        said = {"saving_id": self.ids[of], "client_id": self.client(who), "amount": money(amount), "method": method}
        pin = "4321" if method == "cashcode" else None
        body = self.ask(expected, "investments", action="cashout", pin=pin, **said)
        if body["status"] == 200:
            self.ids[key] = body["txnRef"]
            self.keep_code(key, body)
        self.touched += [of, key]

    # --- loans --------------------------------------------------------------------------------------------------------

    @rule(
        who=WHO,
        amount=st.sampled_from([*AMOUNTS, 400_000_000]),
        rate=RATES,
        period=st.integers(1, 5),
        method=METHODS,
        tax=TAXES,
    )
    def request_loan(self, who: int, amount: int, rate: tuple[str, str], period: int, method: str, tax: str) -> None:
        key, (percent, frequency) = self.model.new_key("l"), rate
        expected = self.model.request_loan(key, who, amount, percent, frequency, period, method, tax)
        said = {
            "client_id": self.client(who),
            "interestSettings": {"interestRate": percent, "interestFrequency": frequency},
            "amount": money(amount),
            "period": period,
            "method": method,
            "tax_applied": tax != "0",
            "tax_rate": tax,
        }
        body = self.ask(expected, "loans", action="request", **said)
        if "data" in body:
            self.ids[key] = body["data"]["loan_id"]

    @precondition(lambda self: self.model.loans)
    @rule(number=PICK, step=st.sampled_from(["approve", "approve", "approve", "reject", "cancel"]))
    def process_loan(self, number: int, step: str) -> None:
        key = self.pick(self.model.loans, number)
        expected = self.model.process(self.model.new_key("x"), key, step)
        self.ask(expected, "loans", action="process", loan_id=self.ids[key], status=step)
        self.touched.append(key)

    @precondition(lambda self: self.model.loans)
    @rule(number=PICK, amount=st.sampled_from(["usual", "usual", "part", "payoff", "too much"]))
    def repay(self, number: int, amount: str) -> None:
        key = self.pick(sorted(self.model.loans, key=lambda key: self.model.loans[key].is_owed), number)
        payoff = self.model.payoff(self.model.loans[key])
        sums = {"usual": None, "part": max(1, payoff // 3), "payoff": max(1, payoff), "too much": payoff + 1}
        paid = sums[amount]
        said = {"loan_id": self.ids[key], "amount": None if paid is None else money(paid)}
        self.ask(self.model.repay(key, paid), "loans", action="repay", payment_method="wallet", **said)
        self.touched.append(key)

    # --- money and time -----------------------------------------------------------------------------------------------

    @rule(currency=CURRENCIES, amount=st.sampled_from([1, 500_000_000]))
    def fund_wallet(self, currency: str, amount: int) -> None:
        said = {"currency": currency, "amount": money(amount)}
        self.ask(self.model.fund_wallet(currency, amount), "sandbox", action="fund_wallet", **said)

    @rule(seconds=MOMENTS)
    def pass_a_moment(self, seconds: int) -> None:
        self.pass_time(seconds)

    @precondition(lambda self: not self.model.waits_for_ever())
    @rule(days=DAYS)
    def pass_days(self, days: int) -> None:
        self.pass_time(days * DAY)

    def pass_time(self, seconds: int) -> None:
        if self.model.is_uncertain(seconds):
            self.fund_wallet(currency="NGN", amount=1_000_000_000)
        if not self.model.is_uncertain(seconds):
            self.ask(self.model.advance(seconds), "sandbox", action="advance", seconds=seconds)
            self.view_all()
