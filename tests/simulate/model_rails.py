"""The model of actions that call a rail: transfers and bills out of the wallet, card payments into it, and refunds."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.simulate.model_books import (
    DAY,
    FAILED,
    FIRST_REQUERY_AGE,
    INSUFFICIENT_FUNDS,
    MAX_AMOUNT,
    MIN_AMOUNT,
    PENDING,
    PROCESSING,
    SUCCESSFUL,
    WALLET,
    WALLETS,
    Books,
    Id,
    Outcome,
    Reply,
    Txn,
    money,
    next_requery_age,
    percentage_of,
    refuse,
)

AT_ONCE, DECLINED = Outcome(SUCCESSFUL), Outcome(FAILED)
SUCCEEDS_LATER, FAILS_LATER = (
    Outcome(PENDING, SUCCESSFUL, FIRST_REQUERY_AGE),
    Outcome(PENDING, FAILED, FIRST_REQUERY_AGE),
)
PENDING_UNTIL_CALLBACK = Outcome(PENDING)

# Outcome of a transfer by the account it goes to or, below, by its scenario. (docs/contract/sandbox.md)
BY_ACCOUNT = {
    "0000000000": AT_ONCE,
    "0000005100": DECLINED,
    "0000000900": SUCCEEDS_LATER,
    "0000009100": FAILS_LATER,
    "0000000010": Outcome(PROCESSING, SUCCESSFUL, FIRST_REQUERY_AGE),
    "0000000510": Outcome(PROCESSING, FAILED, FIRST_REQUERY_AGE),
    "0000002500": Outcome(PENDING, FAILED, DAY),
    "0000000020": PENDING_UNTIL_CALLBACK,
}
BY_SCENARIO = {
    "rr=51;http=timeout": Outcome(PROCESSING, FAILED, FIRST_REQUERY_AGE),
    "rr=51;http=unavailable": Outcome(PROCESSING, FAILED, FIRST_REQUERY_AGE),
    "rr=00;delay=20": Outcome(PENDING, SUCCESSFUL, next_requery_age(20)),
    "rr=05;delay=700": Outcome(PENDING, FAILED, next_requery_age(700)),
    "rr=00;delay=9000": Outcome(PENDING, SUCCESSFUL, next_requery_age(9000)),
    "http=timeout": Outcome(PROCESSING, SUCCESSFUL, FIRST_REQUERY_AGE),
    "http=unavailable": Outcome(PROCESSING, SUCCESSFUL, FIRST_REQUERY_AGE),
    "http=reset": Outcome(PROCESSING, FAILED, DAY, interim_status=PENDING),
}
# The same for transactions that are `pending` until they end: bills, refunds, charges of a saved card.
PENDING_BY_SCENARIO = {
    "rr=00;http=timeout": SUCCEEDS_LATER,
    "rr=00;http=unavailable": SUCCEEDS_LATER,
    "rr=00;http=reset": Outcome(PENDING, FAILED, DAY),
    "rr=51;http=timeout": FAILS_LATER,
    "rr=51;http=unavailable": FAILS_LATER,
    "rr=00;delay=20": Outcome(PENDING, SUCCESSFUL, next_requery_age(20)),
    "rr=00;delay=9000": Outcome(PENDING, SUCCESSFUL, next_requery_age(9000)),
    "rr=51;delay=31": Outcome(PENDING, FAILED, next_requery_age(31)),
}
# The same for a card charge with a PIN, which is never sent again: a lost one fails when its time is over.
CHARGE_BY_SCENARIO = {
    "rr=00;http=timeout": SUCCEEDS_LATER,
    "rr=00;http=reset": Outcome(PENDING, FAILED, 600),
    "rr=51;http=timeout": FAILS_LATER,
    "rr=00;delay=20": Outcome(PENDING, SUCCESSFUL, next_requery_age(20)),
    "rr=51;delay=31": Outcome(PENDING, FAILED, next_requery_age(31)),
}

# An item of the catalogue: biller, fee, discount in hundredths of a percent, smallest and largest amount.
ITEMS = {
    "IfuR3XxiIpxqbZQ": ("IKEDC", 10_000, 150, 50_000, 100_000_000),
    "yz6wTBdzaYv7oLX": ("MTN", 0, 300, 5_000, 5_000_000),
}
# Outcome of a bill by its customer reference.
CUSTOMERS = {
    "IfuR3XxiIpxqbZQ": {
        "45012345678": AT_ONCE,
        "00000000000": AT_ONCE,
        "00000000016": DECLINED,
        "00000000009": SUCCEEDS_LATER,
        "00000000006": FAILS_LATER,
        "00000000068": SUCCEEDS_LATER,
        "00000000030": FAILS_LATER,
        "00000000099": PENDING_UNTIL_CALLBACK,
    },
    "yz6wTBdzaYv7oLX": {"08031234567": AT_ONCE, "08000000009": SUCCEEDS_LATER, "08000000006": FAILS_LATER},
}
DUPLICATE_WITHIN = timedelta(seconds=30)


def magic_card(charge: str, token: str, refund: str = "00") -> str:
    """Returns the number of a card with these response codes, with its check digit (Luhn)."""
    digits = f"411111{charge}{token}{refund}001"
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(digits)]
    return digits + str(-sum(sum(divmod(value, 10)) for value in doubled) % 10)


@dataclass(frozen=True)
class PayerCard:
    """A payer's card: the outcome of its charge, of a later charge by its token, and of a refund; and whether it is a
    local card.

    `is_soft` says whether a plan tries again after a declined token charge, `recovers_on` which attempt for the same
    due date succeeds after all (0: none).
    """

    charge: Outcome = AT_ONCE
    token: Outcome = AT_ONCE
    refund: Outcome = AT_ONCE
    local: bool = True
    is_soft: bool = True
    recovers_on: int = 0


PAYER_CARDS = {
    "4111110000000013": PayerCard(),
    "4111115100000011": PayerCard(DECLINED),
    "4111110900000014": PayerCard(SUCCEEDS_LATER),
    "4111110600000017": PayerCard(FAILS_LATER),
    "4111116800000012": PayerCard(SUCCEEDS_LATER),
    "4111119600000018": PayerCard(FAILS_LATER),
    "4111119900000015": PayerCard(PENDING_UNTIL_CALLBACK),
    "4111110051000011": PayerCard(token=DECLINED),
    "4111110000050018": PayerCard(refund=DECLINED),
    "4111110000090014": PayerCard(refund=SUCCEEDS_LATER),
    "4242424242424242": PayerCard(local=False),
    "4111110054000018": PayerCard(token=DECLINED, is_soft=False),
    "4111110091000013": PayerCard(token=DECLINED, recovers_on=3),
    magic_card("00", "09"): PayerCard(token=SUCCEEDS_LATER),
    magic_card("00", "68"): PayerCard(token=SUCCEEDS_LATER),
    magic_card("00", "06"): PayerCard(token=FAILS_LATER),
    magic_card("00", "96"): PayerCard(token=FAILS_LATER, is_soft=False),
}
# Payment types that the payer completes elsewhere: by a call-back within ten minutes. They cannot be paid back.
MOBILE = ("ussd", "qrpay")
ACCOUNT = "account"  # debited after an OTP
BANK_TRANSFER = "bank_transfer"
# The rail of a payment type, in account names and in faults. All others are `mobile` in both.
RAILS = {"card": "card", "token": "card", ACCOUNT: "debit", BANK_TRANSFER: "debit"}
FAULT_RAILS = {"card": "card", "debit": "bank", "mobile": "mobile"}
WRONG_PINS = ("0000", "9999")
RIGHT_OTP, UNKNOWN_OTP = "123456", "999999"
MOST_TRIES = 3
PAYMENT_EXPIRY_SECONDS = 600
VALIDATED: Reply = {"status": 200, "txnStatus": SUCCESSFUL, "message": "Validation Successful"}


@dataclass
class Payment:
    """The fields of a payment that its transaction does not have. Contract: payment#validate"""

    key: str
    number: str  # of the card; empty for other payment types
    currency: str
    charged: int
    expires_at: datetime
    method: str = "card"
    by_otp: bool = False  # the payer is sent an OTP
    is_awaiting_otp: bool = False
    tries: int = 0
    received: int = 0  # of a bank transfer, so far
    refunded: int = 0
    refunding: int = 0
    has_failed_validation: bool = False  # by three wrong OTPs; validate has its own reply for this end

    disputed: int = 0  # and not won
    asked_at: datetime | None = None  # when the question of a lost first step becomes known
    is_opening: bool = False  # the card's session is not known to be open
    plan: str = ""  # of which it is a charge after the first
    is_soft: bool = True  # whether a plan tries again if the charge is declined

    @property
    def rail(self) -> str:
        return f"rail:{RAILS.get(self.method, 'mobile')}:{self.currency}"

    @property
    def fault_rail(self) -> str:
        return FAULT_RAILS[RAILS.get(self.method, "mobile")]


class Rails(Books):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.payments: dict[str, Payment] = {}
        self.paid_bills: dict[tuple[str, str, int], tuple[datetime, str]] = {}

    # --- transfers -----------------------------------------------------------------------------------------------

    def transfer(self, key: str, amount: int, account: str, scenario: str) -> Reply:
        """Sends a transfer. A repeated orderRef returns the first transfer's current state, whatever the scenario."""
        if not MIN_AMOUNT["NGN"] <= amount <= MAX_AMOUNT["NGN"]:
            return refuse(104, "amount")
        first, content = self.txns.get(key), (amount, account)
        if first is not None:
            return self.expected_transfer(first) if first.request == content else refuse(104, "orderRef")
        outcome = BY_SCENARIO[scenario] if scenario else BY_ACCOUNT[account]
        txn = self.new_transfer(key, amount, WALLET, outcome)
        txn.request = content
        return self.expected_transfer(txn) if self.begin(txn) else INSUFFICIENT_FUNDS

    def new_transfer(self, key: str, amount: int, source: str, outcome: Outcome, purpose: str = "") -> Txn:
        """Starts a transfer. The amount comes from its source account, the fee always from the wallet."""
        fee, outcome = self.transfer_fee(amount), self.apply_fault("bank", outcome, PROCESSING)
        holds = {source: amount}
        holds[WALLET] = holds.get(WALLET, 0) + fee + self.vat(fee)
        moves = ((source, "rail:bank:NGN", amount), *self.fee_moves(WALLET, "transfer", "NGN", fee))
        return Txn(
            key, "transfer", amount, fee, self.vat(fee), self.now, outcome, holds=holds, moves=moves, purpose=purpose
        )

    def expected_transfer(self, txn: Txn) -> Reply:
        return {"status": 200, "txnStatus": txn.status, "orderRef": txn.key}

    def expected_verification(self, txn: Txn) -> Reply:
        """Returns the expected reply to verify of a transfer or a bill. A failed one has no fee."""
        fee, vat = (0, 0) if txn.status == FAILED else (txn.fee, txn.vat)
        fees = {"amount": money(txn.amount), "fee": money(fee), "vat": money(vat)}
        return {"status": 200, "txnStatus": txn.status, **fees}

    # --- bills ---------------------------------------------------------------------------------------------------

    def pay_bill(self, key: str, paycode: str, customer: str, amount: int, scenario: str) -> Reply:
        first, content = self.txns.get(key), (paycode, customer, amount)
        if first is not None:
            return self.expected_transfer(first) if first.request == content else refuse(104, "orderRef")
        biller, fee, discount, least, most = ITEMS[paycode]
        if not least <= amount <= most:
            return refuse(104, "amount")
        paid_at, earlier = self.paid_bills.get((biller, customer, amount), (None, ""))
        # A failed bill paid nothing, so paying it again is not a likely duplicate. (Contract: bills#pay)
        if paid_at is not None and self.now - paid_at < DUPLICATE_WITHIN and self.txns[earlier].status != FAILED:
            return refuse(104, "likely duplicate")
        moves = (
            (WALLET, "rail:biller:NGN", amount),
            *self.fee_moves(WALLET, "bill", "NGN", fee),
            ("rail:biller:NGN", WALLET, percentage_of(amount, discount)),
        )
        outcome = PENDING_BY_SCENARIO[scenario] if scenario else CUSTOMERS[paycode][customer]
        outcome, vat = self.apply_fault("biller", outcome), self.vat(fee)
        holds = {WALLET: amount + fee + vat}
        txn = Txn(key, "bill", amount, fee, vat, self.now, outcome, content, holds, moves)
        if not self.begin(txn):
            return INSUFFICIENT_FUNDS
        self.paid_bills[biller, customer, amount] = (self.now, key)
        return self.expected_transfer(txn)

    # --- card payments -------------------------------------------------------------------------------------------

    def open_payment(self, key: str, number: str, currency: str, amount: int, bearer: str, outcome: Outcome) -> Txn:
        local = PAYER_CARDS[number].local
        charged = self.gross(amount, currency, local) if bearer == "customer" else amount
        fee = self.card_fee(charged, currency, local)
        payment = Payment(key, number, currency, charged, self.now + timedelta(seconds=PAYMENT_EXPIRY_SECONDS))
        return self.new_payment(payment, amount, fee, outcome)

    def new_payment(self, payment: Payment, amount: int, fee: int, outcome: Outcome) -> Txn:
        self.payments[payment.key] = payment
        wallet = WALLETS[payment.currency]
        fees = self.fee_moves(wallet, "collection", payment.currency, fee)
        moves = ((payment.rail, wallet, payment.charged), *fees)
        return Txn(payment.key, "payment", amount, fee, self.vat(fee), self.now, outcome, moves=moves)

    def pay_by_pin(
        self, key: str, number: str, currency: str, amount: int, bearer: str, pin: str, scenario: str
    ) -> Reply:
        """Returns the reply to `initiate` followed by `charge` with the PIN."""
        outcome = DECLINED if pin in WRONG_PINS else PAYER_CARDS[number].charge
        outcome = CHARGE_BY_SCENARIO[scenario] if scenario else outcome
        txn = self.open_payment(key, number, currency, amount, bearer, outcome)
        self.begin(txn)
        return self.expected_payment(txn)

    def begin_otp(self, key: str, number: str, currency: str, amount: int, bearer: str) -> Reply:
        """Initiates a payment with a card that requires an OTP. Nothing moves before `validate`."""
        txn = self.open_payment(key, number, currency, amount, bearer, PENDING_UNTIL_CALLBACK)
        self.begin(txn)
        self.payments[key].by_otp = self.payments[key].is_awaiting_otp = True
        return {"status": 202, "apply_auth": "OTP"}

    def validate(self, key: str, otp: str) -> Reply:
        txn, payment = self.txns[key], self.payments[key]
        if payment.has_failed_validation:
            return refuse(203)
        if txn.status == SUCCESSFUL:
            return VALIDATED
        if not payment.is_awaiting_otp:
            asked_after = payment.by_otp and not txn.is_final
            return {"status": 200, "txnStatus": PENDING, "message": "PENDING"} if asked_after else refuse(104)
        if otp not in (RIGHT_OTP, UNKNOWN_OTP):
            payment.tries += 1
            if payment.tries == MOST_TRIES:
                payment.has_failed_validation = True
                self.give_up(txn)
            return refuse(203)
        payment.is_awaiting_otp = False
        outcome = self.outcome_of_charge(payment)
        if otp == UNKNOWN_OTP and not outcome.final_after_seconds and outcome.first_status != PENDING:
            outcome = Outcome(PENDING, outcome.first_status, FIRST_REQUERY_AGE)
        txn.sent_at, txn.outcome, txn.status = self.now, outcome, outcome.first_status
        if txn.is_final:
            self.end(txn, txn.status)
        if txn.status == SUCCESSFUL:
            return VALIDATED
        return {"status": 200, "txnStatus": txn.status}

    def outcome_of_charge(self, payment: Payment) -> Outcome:
        """Returns the outcome of a card or account payment after the right OTP."""
        return AT_ONCE if payment.method == ACCOUNT else PAYER_CARDS[payment.number].charge

    def give_up(self, txn: Txn) -> None:
        """Fails the payment: no right OTP in time, or three wrong ones."""
        self.end(txn, FAILED)

    def charge_token(self, key: str, of: str, currency: str, amount: int, scenario: str) -> Reply:
        """Charges a saved card again, by the token of a successful payment."""
        number = self.payments[of].number
        outcome = PENDING_BY_SCENARIO[scenario] if scenario else PAYER_CARDS[number].token
        txn = self.open_payment(key, number, currency, amount, "merchant", self.apply_fault("card", outcome))
        self.payments[key].method = "token"
        self.begin(txn)
        return self.expected_payment(txn)

    def await_transfer(self, key: str, amount: int) -> Reply:
        """Begins a payment by bank transfer: the payer has ten minutes to pay into the account shown."""
        expires_at = self.now + timedelta(seconds=PAYMENT_EXPIRY_SECONDS)
        payment = Payment(key, "", "NGN", amount, expires_at, BANK_TRANSFER)
        self.begin(
            self.new_payment(
                payment, amount, self.inbound_fee(amount), Outcome(PENDING, FAILED, PAYMENT_EXPIRY_SECONDS)
            )
        )
        return {"status": 202, "amount": money(amount)}

    def charge_elsewhere(self, key: str, method: str, amount: int) -> Reply:
        """Begins a payment by USSD or QR code, or from a bank account, whose payer is sent an OTP."""
        fee = self.mobile_fee(method, amount)
        payment = Payment(key, "", "NGN", amount, self.now + timedelta(seconds=PAYMENT_EXPIRY_SECONDS), method)
        payment.by_otp = payment.is_awaiting_otp = method == ACCOUNT
        outcome = PENDING_UNTIL_CALLBACK if method == ACCOUNT else Outcome(PENDING, FAILED, PAYMENT_EXPIRY_SECONDS)
        self.begin(self.new_payment(payment, amount, fee, outcome))
        return {"status": 202, "auth_type": {"ussd": "ussd", "qrpay": "device", ACCOUNT: "OTP"}[method]}

    def pay_in(self, key: str, amount: int) -> Reply:
        """Receives a transfer from a payer. It is kept unapplied until the amount is complete. An excess or a late
        transfer is returned by a refund that takes nothing from the wallet."""
        txn, payment = self.txns[key], self.payments[key]
        excess = amount if txn.is_final else max(0, payment.received + amount - payment.charged)
        if not txn.is_final:
            self.move((payment.rail, "unapplied:main:NGN", amount - excess))
            payment.received += amount - excess
            if payment.received >= payment.charged:
                self.end(txn, SUCCESSFUL)
        if excess:
            self.add_event("refund", "", SUCCESSFUL, excess, "NGN", refundOf=Id(key))
        return {"status": 200, "txnStatus": txn.status}

    def expected_payment(self, txn: Txn) -> Reply:
        if not txn.is_final:
            return {"status": 200, "txnStatus": txn.status, "message": "PENDING"}
        charged = self.payments[txn.key].charged if txn.status == SUCCESSFUL else 0
        return {"status": 200, "txnStatus": txn.status, "chargedAmount": money(charged)}

    def verify_payment(self, key: str) -> Reply:
        txn, payment = self.txns[key], self.payments[key]
        reply: Reply = {"status": 200, "txnStatus": txn.status, "customer_txnref": key, "currency": payment.currency}
        if txn.status == SUCCESSFUL:
            return {**reply, "chargedAmount": payment.charged / 100, "refundedAmount": money(payment.refunded)}
        return {**reply, "chargedAmount": 0}

    # --- refunds -------------------------------------------------------------------------------------------------

    def refundable(self, payment: Payment) -> int:
        return payment.charged - payment.refunded - payment.refunding - payment.disputed

    def can_refund(self, payment: Payment) -> bool:
        is_paid = self.txns[payment.key].status == SUCCESSFUL
        return is_paid and payment.method not in MOBILE and self.refundable(payment) > 0

    def refund(self, key: str, of: str, amount: int, scenario: str) -> Reply:
        payment = self.payments[of]
        if self.txns[of].status != SUCCESSFUL:
            return refuse(104, "successful payment")
        if payment.method in MOBILE:
            return refuse(104, "cannot be paid back")
        if amount > self.refundable(payment):
            return refuse(104, "left to refund")
        wallet = WALLETS[payment.currency]
        outcome = PAYER_CARDS[payment.number].refund if payment.number in PAYER_CARDS else AT_ONCE
        outcome = PENDING_BY_SCENARIO[scenario] if scenario else outcome
        if self.available(wallet) < amount:
            return INSUFFICIENT_FUNDS
        outcome = self.apply_fault(payment.fault_rail, outcome)
        holds, moves = {wallet: amount}, ((wallet, payment.rail, amount),)
        txn = Txn(key, "refund", amount, 0, 0, self.now, outcome, (), holds, moves, purpose=of)
        payment.refunding += amount
        self.begin(txn)
        left = {"refundedAmount": money(payment.refunded), "refundableAmount": money(self.refundable(payment))}
        return {"status": 200, "txnStatus": txn.status, **left}

    def on_end(self, txn: Txn) -> None:
        if txn.kind == "refund":
            payment = self.payments[txn.purpose]
            payment.refunding -= txn.amount
            payment.refunded += txn.amount if txn.status == SUCCESSFUL else 0
        elif txn.kind == "payment":
            payment = self.payments[txn.key]
            payment.is_awaiting_otp, payment.asked_at = False, None
            self.move(("unapplied:main:NGN", "rail:debit:NGN", payment.received))
        else:
            super().on_end(txn)
