"""The rest of the state machine: virtual cards, cashcodes, savings, loans, and time."""

from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import precondition

from tests.simulate.model_books import DAY, MAX_AMOUNT, MIN_AMOUNT, WALLET, money
from tests.simulate.model_cards import ACTIVE, BLOCKED, TERMINATED
from tests.simulate.model_clients import CLIENTS, Savings
from tests.simulate.state_machine import (
    ANY_AMOUNT,
    CURRENCIES,
    IMMEDIATE_CARD_NUMBERS,
    OTHER_AMOUNT,
    PICK,
    PINS,
    TRY_REFUSED,
    RailMachine,
    rule,
)

# Amounts that a card is issued or funded with: around the limits, mostly within them.
CARD_SUMS = {
    "USD": (500, 2_000, 10_000, 10_001, 123_456, 500_000, 999_000, 499, 1_000_001),
    "NGN": (100_000, 250_000, 7_654_321, 250_000_000, 499_999_900, 100, 99_999, 500_000_001),
}
STATES = {"block": BLOCKED, "unblock": ACTIVE}
BILLING = {"address": "1 Broad Street", "name": "Ada Obi", "city": "Lagos", "state": "Lagos", "postal_code": "101001"}

CHANNELS = ("ATM", "POS", "WEB")
LIFE = 60
LIVES = st.sampled_from((5, 60, 1440, 10_080, 4))

RATES = st.sampled_from([("36.5", "annualized"), ("3", "every_month"), ("0.7", "every_week"), ("0.05", "every_day")])
METHODS = st.sampled_from(["declining_equal_instalments", "equal_principal", "flat"])
TAXES = st.sampled_from(["0", "10", "7.5"])
CLIENT_INDEXES = st.integers(0, len(CLIENTS) - 1)

LOW_WALLET = 100_000_000

# Short periods end open transactions; long ones bring fees, interest and installments.
SHORT_WAITS = st.sampled_from([1, 5, 30, 31, 120, 300, 600, 1_800, 7_200, 90_000])
DAYS = st.sampled_from([1, 3, 27, 31, 62])


class AccountMachine(RailMachine):
    # --- virtual cards ------------------------------------------------------------------------------------------------

    @rule(
        act=st.sampled_from(
            ("create", "fund", "fund", "withdraw", "card_purchase", "card_purchase", *STATES, "terminate")
        ),
        currency=CURRENCIES,
        number=PICK,
        size=st.integers(0, 8),
        part=st.sampled_from((1, 2, 5, 0)),
        stubborn=TRY_REFUSED,
    )
    def card(self, act: str, currency: str, number: int, size: int, part: int, stubborn: bool) -> None:
        cards = [card for card in self.model.cards.values() if stubborn or card.state != TERMINATED]
        if act == "create" or not cards:
            self.create_card(currency, CARD_SUMS[currency][size % len(CARD_SUMS[currency])])
            return
        card = self.pick(cards, number)
        there, sums = self.model.posted[card.account], CARD_SUMS[card.currency]
        amount = sums[size % len(sums)] if act == "fund" else max(1, there // part) if part else there + 1
        fields = {"action": act, "reference": self.ids[card.key]}
        if act in STATES:
            self.send_and_compare(self.model.set_card_state(card.key, STATES[act]), "virtualcard", **fields)
        elif act == "terminate":
            self.send_and_compare(self.model.terminate(card.key), "virtualcard", **fields)
        elif act == "fund":
            self.send_and_compare(self.model.fund_card(card.key, amount), "virtualcard", amount=money(amount), **fields)
        elif act == "withdraw":
            self.send_and_compare(self.model.withdraw(card.key, amount), "virtualcard", amount=money(amount), **fields)
        else:
            self.send_and_compare(self.model.purchase(card.key, amount), "sandbox", amount=money(amount), **fields)
        self.touched.append(card.key)

    def create_card(self, currency: str, amount: int) -> None:
        key = self.model.new_key("v")
        fields = {"billing": BILLING, "amount": money(amount), "currency": currency}
        body = self.send_and_compare(
            self.model.create_card(key, currency, amount), "virtualcard", action="create", **fields
        )
        if "card_data" in body:
            self.ids[key] = body["card_data"]["reference"]
        self.touched.append(key)

    # --- cashcodes ----------------------------------------------------------------------------------------------------

    @rule(
        act=st.sampled_from(("new", "new", "same", "changed", "cancel")),
        amount=ANY_AMOUNT,
        channel=st.sampled_from(CHANNELS),
        minutes=LIVES,
        number=PICK,
    )
    def cashcode(self, act: str, amount: int, channel: str, minutes: int, number: int) -> None:
        codes = [txn for txn in self.txns("cashcode") if txn.request]
        if act == "new" or not codes:
            self.send_code(self.model.new_key("c"), amount, "4321", channel, minutes)
        elif act == "cancel":
            key = self.pick(self.model.codes, number)
            self.send_and_compare(self.model.cancel(key), "cashcode", action="cancel", orderRef=self.ids.get(key, key))
            self.touched += [key, self.model.txns[key].purpose]
        else:
            first = self.pick(codes, number)
            sum_then, *rest = first.request
            self.send_code(first.key, OTHER_AMOUNT if act == "changed" else sum_then, *rest)

    def send_code(self, key: str, amount: int, pin: str, channel: str, minutes: int) -> None:
        expected = self.model.generate(key, amount, pin, channel, minutes)
        fields = {"amount": money(amount), "pin": pin, "channel": channel, "life_time": str(minutes), "orderRef": key}
        self.keep_code(key, self.send_and_compare(expected, "cashcode", action="generate", **fields))
        self.touched.append(key)

    def keep_code(self, key: str, body: Any) -> None:
        if "cashcode" in body:
            self.ids[f"code of {key}"] = body["cashcode"]

    @rule(
        number=PICK,
        pin=st.sampled_from(("4321", "4321", "0000")),
        less=st.sampled_from((0, 0, 0, 1, -1)),
        turned=st.sampled_from((0, 0, 0, 1)),
        stubborn=TRY_REFUSED,
    )
    def redeem(self, number: int, pin: str, less: int, turned: int, stubborn: bool) -> None:
        """Redeems a cashcode, sometimes with a wrong PIN, channel or amount."""
        codes = [code for code in self.model.codes.values() if stubborn or code.state == ACTIVE]
        if not codes:
            self.send_code(self.model.new_key("c"), OTHER_AMOUNT, "4321", CHANNELS[number % len(CHANNELS)], LIFE)
            return
        code = self.pick(codes, number)
        txn = self.model.txns[code.key]
        amount, channel = txn.amount - less, CHANNELS[CHANNELS.index(code.channel) - turned]
        expected = self.model.redeem(code.key, pin, amount, channel)
        fields = {"cashcode": self.ids[f"code of {code.key}"], "pin": pin, "amount": money(amount), "channel": channel}
        self.send_and_compare(expected, "sandbox", action="redeem_cashcode", **fields)
        self.touched += [code.key, txn.purpose]

    # --- savings ------------------------------------------------------------------------------------------------------

    def client(self, who: int) -> str:
        """Returns a client, created on first use: one for each outcome of the bank."""
        key = f"client {who}"
        if key not in self.ids:
            account = {"bank_code": "058", "account_number": CLIENTS[who]}
            person = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567", "bankAccount": account}
            body = self.send_and_compare({"status": 200}, "clients", action="create", data=person, status="active")
            self.ids[key] = body["data"]["client_id"]
        return self.ids[key]

    @rule(
        act=st.sampled_from(("open", "deposit", "deposit", "card", "cash", "cash", "transfer", "cashcode", "close")),
        terms=st.tuples(CLIENT_INDEXES, RATES, st.integers(1, 4), TAXES),
        number=PICK,
        amount=ANY_AMOUNT.filter(lambda amount: MIN_AMOUNT["NGN"] <= amount <= MAX_AMOUNT["NGN"]),
        plastic=IMMEDIATE_CARD_NUMBERS,
        pin=PINS,
        part=st.sampled_from((1, 2, 3, 0)),
        stranger=st.sampled_from((0, 0, 0, 0, 1)),
        stubborn=TRY_REFUSED,
    )
    def save(
        self,
        act: str,
        terms: tuple[int, tuple[str, str], int, str],
        number: int,
        amount: int,
        plastic: str,
        pin: str,
        part: int,
        stranger: int,
        stubborn: bool,
    ) -> None:
        several = [savings for savings in self.model.savings.values() if stubborn or savings.is_open]
        if act == "open" or not several:
            self.open_savings(*terms)
            return
        savings = self.pick(several, number)
        if act in ("cash", "transfer", "cashcode") and not stubborn and not self.model.available(savings.account):
            act = "deposit"
        fields = {"savings_id": self.ids[savings.key], "amount": money(amount)}
        if act == "deposit":
            expected = self.model.deposit(savings.key, amount)
            self.send_and_compare(expected, "investments", action="deposit", payment_method="wallet", **fields)
        elif act == "card":
            key, card = self.model.new_key("d"), self.plastic(plastic, "100", pin)
            expected = self.model.deposit_by_card(key, savings.key, amount, plastic, pin)
            fields |= {"payment_method": "card"}
            body = self.send_and_compare(expected, "investments", action="deposit", card=card, **fields)
            self.ids[key] = body.get("txnRef", "")
        elif act == "close":
            owner = {"saving_id": self.ids[savings.key], "client_id": self.client(savings.client), "amount": "0"}
            expected = self.model.close_savings(savings.key)
            self.send_and_compare(expected, "investments", action="cashout", method="cash", **owner)
        else:
            self.cash_out(savings, act, part, stranger)
        self.touched.append(savings.key)

    def open_savings(self, who: int, rate: tuple[str, str], period: int, tax: str) -> None:
        key, (percent, frequency) = self.model.new_key("s"), rate
        expected = self.model.open_savings(key, who, percent, frequency, period, tax)
        terms = {"interestSettings": {"interestRate": percent, "interestFrequency": frequency}, "period": period}
        if tax != "0":
            terms |= {"tax_applied": True, "tax_rate": tax}
        fields = {"name": "School fees", "client_id": self.client(who), **terms}
        body = self.send_and_compare(expected, "investments", action="create_savings", **fields)
        self.ids[key] = body["data"]["savings_id"]
        self.touched.append(key)

    def cash_out(self, savings: Savings, method: str, part: int, stranger: int) -> None:
        """Cashes out all, a part, or more than the balance; sometimes with a client who is not the owner."""
        key, there = self.model.new_key("o"), self.model.available(savings.account)
        who = (savings.client + stranger) % len(CLIENTS)
        amount = max(100, there // part) if part else there + 100
        expected = self.model.cash_out(key, savings.key, who, amount, method, "4321")
        fields = {"saving_id": self.ids[savings.key], "client_id": self.client(who), "amount": money(amount)}
        pin = "4321" if method == "cashcode" else None
        body = self.send_and_compare(expected, "investments", action="cashout", method=method, pin=pin, **fields)
        if body["status"] == 200:
            self.ids[key] = body["txnRef"]
            self.keep_code(key, body)
        self.touched.append(key)

    # --- loans --------------------------------------------------------------------------------------------------------

    @rule(
        act=st.sampled_from(("request", "approve", "approve", "reject", "cancel", *("repay",) * 5)),
        who=CLIENT_INDEXES,
        amount=st.sampled_from((50, 150_000, 500_001, 12_666_667, 400_000_000)),
        terms=st.tuples(RATES, st.integers(1, 5), METHODS, TAXES),
        number=PICK,
        part=st.sampled_from(("usual", "usual", "part", "payoff", "too much")),
        plastic=IMMEDIATE_CARD_NUMBERS | st.just(""),
        pin=PINS,
        stubborn=TRY_REFUSED,
    )
    def loan(
        self,
        act: str,
        who: int,
        amount: int,
        terms: tuple[tuple[str, str], int, str, str],
        number: int,
        part: str,
        plastic: str,
        pin: str,
        stubborn: bool,
    ) -> None:
        if act == "repay" and not stubborn and not any(map(self.is_owed, self.model.loans)):
            act = "approve"
        wanted = self.is_owed if act == "repay" else self.is_asked_for
        several = [key for key in self.model.loans if stubborn or wanted(key)]
        if act == "request" or not several:
            self.request_loan(who, amount, *terms)
            return
        key = self.pick(several, number)
        if act == "repay":
            self.repay(key, part, plastic, pin)
        else:
            expected = self.model.process(self.model.new_key("x"), key, act)
            self.send_and_compare(expected, "loans", action="process", loan_id=self.ids[key], status=act)
        self.touched.append(key)

    def is_owed(self, key: str) -> bool:
        return self.model.loans[key].is_owed

    def is_asked_for(self, key: str) -> bool:
        return self.model.loans[key].state in ("pending_approval", "approved")

    def request_loan(self, who: int, amount: int, rate: tuple[str, str], period: int, method: str, tax: str) -> None:
        key, (percent, frequency) = self.model.new_key("l"), rate
        expected = self.model.request_loan(key, who, amount, percent, frequency, period, method, tax)
        fields = {
            "client_id": self.client(who),
            "interestSettings": {"interestRate": percent, "interestFrequency": frequency},
            "amount": money(amount),
            "period": period,
            "method": method,
            "tax_applied": tax != "0",
            "tax_rate": tax,
        }
        body = self.send_and_compare(expected, "loans", action="request", **fields)
        if "data" in body:
            self.ids[key] = body["data"]["loan_id"]

    def repay(self, key: str, part: str, plastic: str, pin: str) -> None:
        """Repays by card if a card may pay the amount, else from the wallet."""
        loan = self.model.loans[key]
        payoff = self.model.payoff(loan)
        sums = {"usual": None, "part": max(1, payoff // 3), "payoff": max(1, payoff), "too much": payoff + 1}
        paid = sums[part]
        fields = {"loan_id": self.ids[key], "amount": None if paid is None else money(paid)}
        if not plastic or (self.model.default_repayment(loan) if paid is None else paid) < MIN_AMOUNT["NGN"]:
            self.send_and_compare(
                self.model.repay(key, paid), "loans", action="repay", payment_method="wallet", **fields
            )
            return
        card, expected = self.plastic(plastic, "100", pin), self.model.repay(key, paid, plastic, pin)
        self.send_and_compare(expected, "loans", action="repay", payment_method="card", card=card, **fields)

    # --- money and time -----------------------------------------------------------------------------------------------

    @precondition(lambda self: self.model.available(WALLET) < LOW_WALLET)
    @rule(amount=st.sampled_from((1, 500_000_000)))
    def fund_wallet(self, amount: int) -> None:
        self.fund("NGN", amount)

    def fund(self, currency: str, amount: int) -> None:
        fields = {"currency": currency, "amount": money(amount)}
        self.send_and_compare(self.model.fund_wallet(currency, amount), "sandbox", action="fund_wallet", **fields)

    @rule(seconds=SHORT_WAITS)
    def pass_a_moment(self, seconds: int) -> None:
        self.pass_time(seconds)

    @precondition(lambda self: not self.model.has_endless_requery())
    @rule(days=DAYS)
    def pass_days(self, days: int) -> None:
        self.pass_time(days * DAY)

    def pass_time(self, seconds: int) -> None:
        if self.model.is_uncertain(seconds):
            self.fund("NGN", MAX_AMOUNT["NGN"])
        if not self.model.is_uncertain(seconds) and not self.model.depends_on_order(seconds):
            self.touched += self.time_dependent_keys()
            self.send_and_compare(self.model.advance(seconds), "sandbox", action="advance", seconds=seconds)
