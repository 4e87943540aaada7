"""The Hypothesis state machine that sends each step to a running service and to the model, and compares them.

After every step it checks the invariants of the merchant's books, and compares with the model: the reply, the balance
and holds of every account, the wallets as the API shows them, and the objects that the step touched. When time has
passed, it compares all open transactions and all cards, savings and loans. At the end of a sequence it compares
everything once more, also what was final long before.
"""

import functools
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

import hypothesis.strategies as st
from hypothesis import assume
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition
from hypothesis.stateful import rule as hypothesis_rule

from kasuwa.audit.invariants.ledger import INVARIANTS
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.simulate.model import Model
from tests.simulate.model_books import FAILED, OPENING, SUCCESSFUL, WALLETS, Reply, Txn, money
from tests.simulate.model_rails import (
    AT_ONCE,
    BANK_TRANSFER,
    BY_ACCOUNT,
    BY_SCENARIO,
    CHARGE_BY_SCENARIO,
    CUSTOMERS,
    DECLINED,
    PAYER_CARDS,
    PENDING_BY_SCENARIO,
)
from tests.simulate.themes import ALWAYS, THEMES

T = TypeVar("T")
OPENING_WALLETS = [WALLETS[currency] for currency in OPENING]

# Half a second past a whole second, so that nothing that a step begins falls due exactly at midnight.
START = "2026-01-05T09:30:00.500+01:00"

# The queries of the invariants are made for all merchants. For a single one, a generic plan uses the indexes.
SCOPE = re.compile(r"\(\$1::bigint\[\] is null or ((?:\w+\.)?merchant_id) = any\(\$1\)\)")
ACCOUNTS = "select name, posted, held from account where merchant_id = $1 and (posted <> 0 or held <> 0)"
PLANNER_SETTINGS = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off"


def combine_invariants() -> str:
    """Returns all invariants as one statement, whose rows are the violations."""
    parts = []
    for number, checked in enumerate(INVARIANTS):
        query, found = SCOPE.subn(r"\1 = $1", checked.query)
        assert found, checked.description
        parts.append(f"(select {number} as number, found.place from ({query}) found)")
    return " union all ".join(parts)


class AuditedDeployment:
    """A running service, with access to its database to check the books."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.reached: Counter[str] = Counter()  # rules that ran, and outcomes that the model has counted
        self._invariants: Any = None
        self._accounts: Any = None

    def open_shop(self) -> tuple[MerchantClient, int]:
        shop = self.deployment.open_shop(now=START)
        [[merchant_id]] = self.deployment.fetch("select merchant_id from merchant where mid = $1", shop.mid)
        return shop, merchant_id

    def read_books(self, merchant_id: int) -> tuple[list[str], dict[str, tuple[int, int]]]:
        """Returns the violated invariants of a merchant's books, and the balance and holds of its accounts."""

        async def read(connection: Any) -> Any:
            if self._invariants is None:
                await connection.execute(PLANNER_SETTINGS)
                self._invariants = await connection.prepare(combine_invariants())
                self._accounts = await connection.prepare(ACCOUNTS)
            return await self._invariants.fetch(merchant_id), await self._accounts.fetch(merchant_id)

        broken, accounts = self.deployment.run_on_connection(read)
        return [f"{INVARIANTS[number].description}: {place}" for number, place in broken], {
            row[0]: (row[1], row[2]) for row in accounts
        }


# --- what is tried --------------------------------------------------------------------------------------------------

# Around every limit of the tariff. The large ones empty a wallet, or are refused everywhere.
AMOUNTS = (100, 12_345, 150_000, 249_999, 250_000, 500_000, 500_001, 5_000_000, 5_000_001, 12_666_667)
OUTER = (50, 400_000_000, 990_000_000, 1_000_000_000, 1_000_000_001)
AMOUNT_CHOICES = st.sampled_from(AMOUNTS)
ANY_AMOUNT = st.sampled_from((*AMOUNTS, *OUTER))
OTHER_AMOUNT = 777_777
# A step that would surely be refused in the current state is mostly replaced by one that is possible.
TRY_REFUSED = st.sampled_from((False, False, False, True))
# Index of one of several, newest first.
PICK = st.sampled_from((0, 0, 0, 1, 1, 2, 3, 5, 8))
CURRENCIES = st.sampled_from(("NGN", "NGN", "USD"))

TRANSFER_CASES = st.sampled_from(
    [(account, "") for account in BY_ACCOUNT] + [("0000000000", value) for value in BY_SCENARIO]
)
BILLS = st.sampled_from([(paycode, customer) for paycode, known in CUSTOMERS.items() for customer in known])
BILL_SUMS = st.sampled_from((50_000, 123_456, 4_999, 100_000_001))
# Mostly no scenario.
SCENARIOS = st.sampled_from(("",) * 12 + tuple(PENDING_BY_SCENARIO))
CHARGE_SCENARIOS = st.sampled_from(("",) * 8 + tuple(CHARGE_BY_SCENARIO))

# Cards that pay are more likely than all others together.
PLAIN_CARD = "4111110000000013"
NUMBERS = st.sampled_from((*PAYER_CARDS, PLAIN_CARD, "4111110000050018", "4111110000090014", "4242424242424242"))
IMMEDIATE_CARD_NUMBERS = st.sampled_from(
    [number for number in PAYER_CARDS if PAYER_CARDS[number].charge in (AT_ONCE, DECLINED)]
)
PINS = st.sampled_from(("1234", "1234", "1234", "1234", "0000", "9999"))
OTPS = st.sampled_from(("123456", "123456", "000000", "111111", "999999"))
BEARERS = st.sampled_from(("merchant", "customer"))
MOST_USD = 500_000


RULES: list[str] = []  # names of all rules


def rule(**strategies: Any) -> Callable[[Callable[..., None]], Any]:
    """Makes a rule of the machine that counts how often it runs, and runs only if it is part of the theme."""

    def count(step: Callable[..., None]) -> Any:
        RULES.append(f"rule {step.__name__}")

        @functools.wraps(step)
        def counted(self: "RailMachine", *drawn: Any, **named: Any) -> None:
            self.world.reached[f"rule {step.__name__}"] += 1
            step(self, *drawn, **named)

        def is_in_theme(self: "RailMachine") -> bool:
            return not THEMES[self.theme] or step.__name__ in (*ALWAYS, *THEMES[self.theme])

        return precondition(is_in_theme)(hypothesis_rule(**strategies)(counted))

    return count


class RailMachine(RuleBasedStateMachine):
    """The comparisons of the machine, and its rules for actions that call a rail. The other rules are in
    state_machine_accounts.py."""

    def __init__(self, world: AuditedDeployment, model: type[Model], theme: str) -> None:
        super().__init__()
        self.world = world
        self.theme = theme
        self.model = model(datetime.fromisoformat(START))
        # Identifiers that the service gave to the objects of the model.
        self.ids: dict[str, str] = {}
        # References of transfers and bills, which are otherwise named by their orderRef.
        self.references: dict[str, str] = {}
        self.touched: list[str] = []

    @initialize(going=st.integers(0, 9))
    def open_shop(self, going: int) -> None:
        """Opens the merchant. Hypothesis tries the simplest examples first: fifty times the simplest step would test
        nothing."""
        assume(going)
        self.shop, self.merchant_id = self.world.open_shop()

    def teardown(self) -> None:
        """Compares everything at the end of a successful sequence, also transactions that ended long ago."""
        if hasattr(self, "shop"):
            if sys.exc_info()[0] is None:
                self.compare_everything()
            self.world.reached.update(self.model.reached)
            self.shop.connection.close()

    def compare_everything(self) -> None:
        for key in (*self.model.txns, *self.model.cards, *self.model.savings, *self.model.loans):
            self.compare_view(key)

    # --- asking and comparing ----------------------------------------------------------------------------------------

    def send_and_compare(self, expected: Reply, method: str, scenario: str = "", /, **fields: Any) -> Any:
        headers = {"x-sandbox-scenario": scenario} if scenario else None
        request = {name: value for name, value in fields.items() if value is not None}
        http, body = self.shop.put(method, headers=headers, **request)
        assert http == 200, (method, request, body)
        self.compare(expected, body, request)
        return body

    def compare(self, expected: Reply, body: Any, given: Any) -> None:
        """Compares a reply with the model. Fields that the model does not have are not compared."""
        figures = {name: value for name, value in expected.items() if name != "word"}
        found = {name: restrict_to_expected(body.get(name), value) for name, value in figures.items()}
        assert_same(found, figures, given, body)
        assert expected.get("word", "").lower() in str(body).lower(), (given, expected, body)

    def pick(self, several: Iterable[T], number: int) -> T:
        """Returns one of several, preferring the last."""
        listed = list(several)
        return listed[-1 - number % len(listed)]

    def txns(self, kind: str) -> list[Txn]:
        return [txn for txn in self.model.txns.values() if txn.kind == kind]

    @invariant()
    def check_against_model(self) -> None:
        broken, accounts = self.world.read_books(self.merchant_id)
        assert broken == [], broken
        names = {*self.model.posted, *self.model.held}
        figures = {self.service_account_name(name): (self.model.posted[name], self.model.held[name]) for name in names}
        assert_same(accounts, {name: both for name, both in figures.items() if both != (0, 0)})
        lines = self.shop.put("resources", inquire="wallet").body["data"]
        used = [currency for currency, wallet in WALLETS.items() if wallet in {*OPENING_WALLETS, *accounts}]
        assert_same({line["currency"]: line for line in lines}, {c: self.model.wallet(c) for c in used})
        touched, self.touched = dict.fromkeys(self.touched), []
        for key in touched:
            self.compare_view(key)

    def service_account_name(self, name: str) -> str:
        kind, owner, currency = name.split(":")
        return f"{kind}:{self.ids.get(owner, owner).rpartition('|')[2]}:{currency}"

    # --- a thing as the API tells it ----------------------------------------------------------------------------------

    def compare_view(self, key: str) -> None:
        model = self.model
        if key in model.cards:
            body = self.shop.put("virtualcard", action="get", reference=self.ids[key]).body
            self.compare(model.expected_card(key), body["card_data"], key)
        elif key in model.savings:
            body = self.shop.put("investments", action="view_savings", savings_id=self.ids[key]).body
            self.compare(model.expected_savings(key), body["data"], key)
        elif key in model.loans:
            body = self.shop.put("loans", action="view", loan_id=self.ids[key]).body
            self.compare(model.expected_loan(key), body["data"], key)
        elif key in model.payments:
            by = {"txnRef": self.ids[key]} if self.is_of_plan(key) else {"customer_txnref": key}
            self.send_and_compare(model.verify_payment(key), "payment", action="verify", **by)
        elif key in model.codes:
            self.send_and_compare(
                model.expected_cashcode(key), "cashcode", action="verify", orderRef=self.ids.get(key, key)
            )
        elif key in model.txns and model.txns[key].kind in ("transfer", "bill") and not self.is_hidden(model.txns[key]):
            method = "disburse" if model.txns[key].kind == "transfer" else "bills"
            self.send_and_compare(
                model.expected_verification(model.txns[key]), method, action="verify", txnRef=self.ids.get(key, key)
            )

    def is_of_plan(self, key: str) -> bool:
        """Whether other payments share the reference that the merchant gave to this one."""
        return bool(self.model.payments[key].plan) or key in self.model.agreed

    def is_hidden(self, txn: Txn) -> bool:
        """Whether no reply shows the reference, as for a transfer that disburses a loan or pays a beneficiary out."""
        return txn.purpose in self.model.loans or txn.key in self.model.sent_payouts

    def time_dependent_keys(self) -> list[str]:
        model = self.model
        going_on = [txn.key for txn in model.txns.values() if not txn.is_final]
        return [*going_on, *model.cards, *model.savings, *model.loans]

    # --- transfers and bills ------------------------------------------------------------------------------------------

    @rule(act=st.sampled_from(("new", "new", "same", "changed")), amount=ANY_AMOUNT, how=TRANSFER_CASES, number=PICK)
    def transfer(self, act: str, amount: int, how: tuple[str, str], number: int) -> None:
        sent = [txn for txn in self.txns("transfer") if txn.request]
        if act == "new" or not sent:
            self.send_transfer(self.model.new_key("t"), amount, *how)
            return
        first = self.pick(sent, number)
        self.send_transfer(first.key, OTHER_AMOUNT if act == "changed" else first.request[0], first.request[1], "")

    def send_transfer(self, key: str, amount: int, account: str, scenario: str) -> None:
        expected = self.model.transfer(key, amount, account, scenario)
        order = {"amount": money(amount), "bankcode": "058", "accountnumber": account, "orderRef": key}
        body = self.send_and_compare(expected, "disburse", scenario, action="transfer", **order)
        self.keep_reference(key, body)

    def keep_reference(self, key: str, body: Any) -> None:
        if "txnRef" in body:
            self.references[key] = body["txnRef"]
        self.touched.append(key)

    @rule(
        act=st.sampled_from(("new", "new", "same", "changed", "once more")),
        bill=BILLS,
        amount=BILL_SUMS,
        scenario=SCENARIOS,
        number=PICK,
    )
    def bill(self, act: str, bill: tuple[str, str], amount: int, scenario: str, number: int) -> None:
        """Pays a bill. May repeat it under another orderRef, which is refused as a likely duplicate if it comes
        soon."""
        paid = self.txns("bill")
        if act == "new" or not paid:
            self.send_bill(self.model.new_key("b"), *bill, amount, scenario)
            return
        first = self.pick(paid, number)
        key = self.model.new_key("b") if act == "once more" else first.key
        paycode, customer, sum_then = first.request
        self.send_bill(key, paycode, customer, OTHER_AMOUNT if act == "changed" else sum_then, scenario)

    def send_bill(self, key: str, paycode: str, customer: str, amount: int, scenario: str) -> None:
        expected = self.model.pay_bill(key, paycode, customer, amount, scenario)
        order = {"paycode": paycode, "reference": customer, "amount": money(amount), "orderRef": key}
        self.keep_reference(key, self.send_and_compare(expected, "bills", scenario, action="pay", **order))

    @precondition(lambda self: self.callback_candidates())
    @rule(number=PICK, status=st.sampled_from((SUCCESSFUL, FAILED)))
    def settle(self, number: int, status: str) -> None:
        """Sends a callback of the rail, also for a final transaction."""
        self.settle_one(number, status)

    def settle_one(self, number: int, status: str) -> None:
        txn = self.pick(self.callback_candidates(), number)
        expected = self.model.call_back(txn.key, status)
        self.send_and_compare(
            expected, "sandbox", action="settle", txnRef=self.ids.get(txn.key, txn.key), outcome=status
        )
        self.touched += [txn.key, txn.purpose]

    def callback_candidates(self) -> list[Txn]:
        """Returns transactions for a callback, open ones last, so that they are picked first."""
        kinds = ("transfer", "bill", "payment", "refund")
        payments = self.model.payments
        opening = {key for key in payments if payments[key].is_opening and not self.model.txns[key].is_final}
        found = [txn for txn in self.model.txns.values() if txn.kind in kinds and not self.is_hidden(txn)]
        return sorted((txn for txn in found if txn.key not in opening), key=lambda txn: not txn.is_final)

    # --- card payments ------------------------------------------------------------------------------------------------

    def plastic(self, number: str, cvv: str, pin: str) -> dict[str, str]:
        return {"card_no": number, "expiry_month": "12", "expiry_year": "60", "ccv": cvv, "pin": pin}

    @rule(
        plastic=NUMBERS, currency=CURRENCIES, amount=AMOUNT_CHOICES, bearer=BEARERS, pin=PINS, scenario=CHARGE_SCENARIOS
    )
    def pay_by_pin(self, plastic: str, currency: str, amount: int, bearer: str, pin: str, scenario: str) -> None:
        amount = min(amount, MOST_USD) if currency == "USD" else amount
        self.charge_by_pin(self.model.new_key("p"), plastic, currency, amount, bearer, pin, scenario)

    def charge_by_pin(
        self,
        key: str,
        plastic: str,
        currency: str,
        amount: int,
        bearer: str,
        pin: str = "1234",
        scenario: str = "",
        /,
        **more: Any,
    ) -> None:
        """Makes both steps of a payment with a card that requires a PIN."""
        expected = self.model.pay_by_pin(key, plastic, currency, amount, bearer, pin, scenario)
        fields = self.card_fields(key, plastic, currency, amount, bearer, pin) | more
        begun = self.send_and_compare({"status": 202, "apply_auth": "PIN"}, "payment", action="initiate", **fields)
        fields |= {"txnRef": begun["txnRef"], "auth_type": "PIN"}
        self.keep_payment(key, self.send_and_compare(expected, "payment", scenario, action="charge", **fields))

    def card_fields(
        self, key: str, plastic: str, currency: str, amount: int, bearer: str, pin: str = "1234"
    ) -> dict[str, Any]:
        card = {"paymentType": "card", "card": self.plastic(plastic, "100", pin), "bearer": bearer}
        return {**card, "amount": money(amount), "currency": currency, "customer_txnref": key}

    @rule(
        act=st.sampled_from(("OTP", "token", "token")),
        plastic=NUMBERS,
        currency=CURRENCIES,
        amount=AMOUNT_CHOICES,
        bearer=BEARERS,
        scenario=SCENARIOS,
        number=PICK,
    )
    def pay(self, act: str, plastic: str, currency: str, amount: int, bearer: str, scenario: str, number: int) -> None:
        """Pays with a saved card, or with a card that requires an OTP."""
        amount = min(amount, MOST_USD) if currency == "USD" else amount
        if act == "token" and self.tokens():
            self.charge_token(self.pick(self.tokens(), number), currency, amount, scenario)
            return
        key = self.model.new_key("p")
        fields: dict[str, Any] = {"amount": money(amount), "currency": currency, "customer_txnref": key}
        expected = self.model.begin_otp(key, plastic, currency, amount, bearer)
        fields |= {"paymentType": "card", "bearer": bearer, "card": self.plastic(plastic, "000", "1234")}
        self.keep_payment(key, self.send_and_compare(expected, "payment", action="initiate", **fields))

    def charge_token(self, of: str, currency: str, amount: int, scenario: str) -> None:
        key = self.model.new_key("p")
        expected = self.model.charge_token(key, of, currency, amount, scenario)
        fields = {"paymentType": "token", "token": self.ids[f"token of {of}"], "amount": money(amount)}
        fields |= {"currency": currency, "customer_txnref": key}
        self.keep_payment(key, self.send_and_compare(expected, "payment", scenario, action="charge", **fields))

    def keep_payment(self, key: str, body: Any) -> None:
        if "txnRef" not in body:
            body = self.shop.put("payment", action="verify", customer_txnref=key).body
        self.ids[key] = body["txnRef"]
        self.keep_token(key, body)
        self.touched.append(key)

    @rule(
        act=st.sampled_from(("new", "pay", "pay", "pay")),
        amount=AMOUNT_CHOICES,
        part=st.sampled_from((1, 1, 2, 0)),
        number=PICK,
        stubborn=TRY_REFUSED,
    )
    def inbound(self, act: str, amount: int, part: int, number: int, stubborn: bool) -> None:
        """Begins a payment by bank transfer, or pays into the account of one: the missing amount, a part, or too
        much."""
        shown = [payment for payment in self.model.payments.values() if payment.method == BANK_TRANSFER]
        if not stubborn:
            shown = [payment for payment in shown if not self.model.txns[payment.key].is_final]
        if act == "new" or not shown:
            key = self.model.new_key("p")
            fields = {"paymentType": "bank_transfer", "amount": money(amount), "customer_txnref": key}
            body = self.send_and_compare(self.model.await_transfer(key, amount), "payment", action="charge", **fields)
            self.keep_account(key, body)
            return
        payment = self.pick(shown, number)
        missing = max(1, payment.charged - payment.received)
        paid = max(1, missing // part) if part else missing + 1
        fields = {"accountNumber": self.ids[f"account of {payment.key}"], "amount": money(paid)}
        self.send_and_compare(self.model.pay_in(payment.key, paid), "sandbox", action="pay_account", **fields)
        # What is returned to the payer is sent by a job.
        self.shop.advance(seconds=0)
        self.touched.append(payment.key)

    def keep_account(self, key: str, body: Any) -> None:
        self.ids[f"account of {key}"] = body["accountNumber"]
        self.keep_payment(key, body)

    def keep_token(self, key: str, body: Any) -> None:
        if "cardToken" in body:
            self.ids[f"token of {key}"] = body["cardToken"]

    def tokens(self) -> list[str]:
        return [key for key in self.model.payments if f"token of {key}" in self.ids]

    @precondition(lambda self: self.model.payments)
    @rule(number=PICK, otp=OTPS, stubborn=TRY_REFUSED)
    def validate(self, number: int, otp: str, stubborn: bool) -> None:
        payments = list(self.model.payments.values())
        key = self.pick(
            [payment for payment in payments if stubborn or payment.is_awaiting_otp] or payments, number
        ).key
        expected = self.model.validate(key, otp)
        body = self.send_and_compare(expected, "payment", action="validate", txnRef=self.ids[key], otp=otp)
        self.keep_token(key, body)
        self.touched.append(key)

    @precondition(lambda self: self.model.payments)
    @rule(
        number=PICK,
        part=st.sampled_from(("all", "third", "third", "little", "too much")),
        scenario=SCENARIOS,
        stubborn=TRY_REFUSED,
    )
    def refund(self, number: int, part: str, scenario: str, stubborn: bool) -> None:
        self.send_refund(number, part, scenario, stubborn=stubborn)

    def send_refund(self, number: int, part: str, scenario: str, *, stubborn: bool) -> None:
        payments = list(self.model.payments.values())
        paid = [payment for payment in payments if stubborn or self.model.can_refund(payment)]
        if not paid:
            self.charge_by_pin(self.model.new_key("p"), PLAIN_CARD, "NGN", OTHER_AMOUNT, "merchant")
            return
        payment, key = self.pick(paid, number), self.model.new_key("r")
        left = self.model.refundable(payment)
        amount = {"all": max(1, left), "third": left // 3 + 1, "little": 100, "too much": left + 1}[part]
        expected = self.model.refund(key, payment.key, amount, scenario)
        body = self.send_and_compare(
            expected, "payment", scenario, action="refund", txnRef=self.ids[payment.key], amount=money(amount)
        )
        if "refundRef" in body:
            self.ids[key] = body["refundRef"]
        self.touched.append(payment.key)


def assert_same(found: dict[str, Any], expected: dict[str, Any], *context: Any) -> None:
    """Asserts that two tables are equal. The message shows the differences, found first, then expected."""
    names = [name for name in {**found, **expected} if found.get(name) != expected.get(name)]
    assert not names, ({name: (found.get(name), expected.get(name)) for name in names}, *context)


def restrict_to_expected(found: Any, expected: Any) -> Any:
    """Returns only the fields of an object that the model has."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return {name: found.get(name) for name in expected}
    return found
