"""The model's books and tariff: integers in minor units, accounts by name, and transactions that are open.

Nothing is imported from the product. The figures are those of docs/contract and the tariff, written a second time. The
account names are those of the chart.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Any

LAGOS = timezone(timedelta(hours=1))
SUCCESSFUL, FAILED, PENDING, PROCESSING = "successful", "failed", "pending", "processing"

WALLET = "wallet:main:NGN"
WALLETS = {currency: f"wallet:main:{currency}" for currency in ("NGN", "USD", "GHS", "KES")}
OPENING = {"NGN": 1_000_000_000, "USD": 1_000_000}
MIN_AMOUNT = {"NGN": 100, "USD": 50}
MAX_AMOUNT = {"NGN": 1_000_000_000, "USD": 1_000_000}

# Ages in seconds at which an unknown outcome is re-queried, then every hour. An order that the rail does not know
# counts as failed after a day.
REQUERY_AGES = (5, 30, 120, 600, 1800)
FIRST_REQUERY_AGE, HOUR, DAY = REQUERY_AGES[0], 3600, 86_400

Reply = dict[str, Any]
Move = tuple[str, str, int]


def refuse(code: int, word: str = "") -> Reply:
    """Returns a refusal with its code, and a word that its reply must contain."""
    return {"status": code, "word": word}


INSUFFICIENT_FUNDS = refuse(301, "not cover")


def money(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02d}"


def grouped(minor: int) -> str:
    return f"{minor // 100:,}.{minor % 100:02d}"


def percentage_of(amount: int, hundredths_of_percent: int) -> int:
    """Returns a percentage in hundredths of a percent (150 is 1.5 %), rounded half up."""
    return (amount * hundredths_of_percent * 2 + 10_000) // 20_000


def next_requery_age(seconds: int) -> int:
    """Returns the age of the first re-query at or after this age."""
    return next((query_age for query_age in REQUERY_AGES if query_age >= seconds), -(-seconds // HOUR) * HOUR)


def add_months(day: date, months: int) -> date:
    """Returns the same day of a later month, or that month's last day."""
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, min(day.day, (following - timedelta(days=1)).day))


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=LAGOS)


@dataclass(frozen=True)
class Id:
    """Stands for the identifier that the service gave to an object of the model. With an empty key, for one that no
    reply shows."""

    key: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a rail call: the first answer, the final status and the age at which it is reached by itself (0:
    never), and the status from the first re-query on if that differs."""

    first_status: str
    final_status: str = ""
    final_after_seconds: int = 0
    interim_status: str = ""

    @property
    def end(self) -> str:
        return self.final_status or self.first_status


@dataclass
class Txn:
    """A transaction: its holds while it is open, and the postings of its success."""

    key: str
    kind: str
    amount: int
    fee: int
    vat: int
    sent_at: datetime
    outcome: Outcome
    request: tuple[Any, ...] = ()
    holds: dict[str, int] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()
    purpose: str = ""
    status: str = ""
    is_requeried: bool = False

    @property
    def is_final(self) -> bool:
        return self.status in (SUCCESSFUL, FAILED)

    def next_change(self) -> datetime | None:
        if self.is_final or (not self.outcome.final_after_seconds and not self.outcome.interim_status):
            return None
        if self.outcome.interim_status and not self.is_requeried:
            return self.sent_at + timedelta(seconds=FIRST_REQUERY_AGE)
        return self.sent_at + timedelta(seconds=self.outcome.final_after_seconds)


class Books:
    """The state that all parts of the model share: accounts, time, the tariff and the transactions."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.posted: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self.txns: dict[str, Txn] = {}
        # A planned fault of the next call of a rail: the rail and the kind.
        self.fault = ("", "")
        # What the log of events must contain, and what has been reached.
        self.events: list[Reply] = []
        self.reached: Counter[str] = Counter()
        self._count = 0
        for currency, amount in OPENING.items():
            self.fund_wallet(currency, amount)

    @property
    def today(self) -> date:
        return self.now.date()

    def new_key(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    # --- money ---------------------------------------------------------------------------------------------------

    def available(self, account: str) -> int:
        return self.posted[account] - self.held[account]

    def move(self, *moves: Move) -> None:
        for source, target, amount in moves:
            self.posted[source] -= amount
            self.posted[target] += amount

    def fund_wallet(self, currency: str, amount: int) -> Reply:
        self.move((f"outside:funding:{currency}", WALLETS[currency], amount))
        return {"status": 200}

    def wallet(self, currency: str) -> Reply:
        account = WALLETS[currency]
        return {
            "currency": currency,
            "balance": money(self.posted[account]),
            "available": money(self.available(account)),
            "held": money(self.held[account]),
        }

    # --- planned faults and events -------------------------------------------------------------------------------

    def take_fault(self, rail: str) -> str:
        """Returns the kind of the fault that is planned for a call of this rail, and uses it up. Empty if there is
        none."""
        planned, kind = self.fault
        if planned != rail:
            return ""
        self.fault = ("", "")
        self.reached[f"{kind} of the {rail} rail"] += 1
        return kind

    def apply_fault(self, rail: str, outcome: Outcome, unanswered: str = PENDING) -> Outcome:
        """Returns the outcome of a call that may have a planned fault. Contract: sandbox#fault

        `unanswered` is the status while the rail has not answered.
        """
        kind = self.take_fault(rail)
        if kind == "decline":
            return Outcome(FAILED)
        if kind == "reset":
            return Outcome(unanswered, FAILED, DAY, interim_status=PENDING if unanswered != PENDING else "")
        if kind == "unavailable" and outcome.final_after_seconds:
            # It is sent at the first retry, and open from then on.
            after = FIRST_REQUERY_AGE + outcome.final_after_seconds
            return Outcome(unanswered, outcome.end, after, interim_status=PENDING if unanswered != PENDING else "")
        return Outcome(unanswered, outcome.end, FIRST_REQUERY_AGE) if kind else outcome

    def add_event(
        self, kind: str, key: str, status: str, amount: int, currency: str = "NGN", method: str = "", **fields: Any
    ) -> None:
        """Adds an event. `key` is that of the object which has the reference, or empty."""
        charged = money(amount if status == SUCCESSFUL else 0)
        payload = {"status": 200, "txnStatus": status, "txnRef": Id(key), "chargedAmount": charged, "kind": kind}
        payload |= {"paymentMethod": method or kind, "endpoint": "test", "currency": currency}
        self.events.append({**payload, **fields})

    def add_end_event(self, txn: Txn) -> None:
        """Adds the event of a transaction that has become final."""

    # --- the tariff ----------------------------------------------------------------------------------------------

    def vat(self, fee: int) -> int:
        return percentage_of(fee, 750)

    def transfer_fee(self, amount: int) -> int:
        if amount <= 500_000:
            return 1_000
        return 2_500 if amount <= 5_000_000 else 5_000

    def card_fee(self, amount: int, currency: str, local: bool) -> int:
        """Returns the fee of a card collection. Flat part and cap apply to naira only. Fee and VAT never exceed the
        amount."""
        fee = percentage_of(amount, 150 if local else 390)
        if currency == "NGN":
            fee += 10_000 if amount >= 250_000 or not local else 0
            fee = min(fee, 200_000) if local else fee
        fee = min(fee, amount * 1000 // 1075 + 1)
        while fee + self.vat(fee) > amount:
            fee -= 1
        return fee

    def mobile_fee(self, method: str, amount: int) -> int:
        """Returns the fee of a collection by USSD, telephone, QR code or from a bank account, in naira."""
        if method in ("ussd", "phone"):
            return self.card_fee(amount, "NGN", True)
        return min(percentage_of(amount, 50), 100_000)

    def inbound_fee(self, amount: int) -> int:
        """Returns the fee of a collection by bank transfer."""
        return min(percentage_of(amount, 100), 30_000)

    def gross(self, amount: int, currency: str, local: bool) -> int:
        """Returns the smallest gross amount that, less its fee and VAT, settles at least the amount. Tries one by
        one."""
        fee = self.card_fee(amount, currency, local)
        charged = amount + fee + self.vat(fee)
        while True:
            fee = self.card_fee(charged, currency, local)
            if charged - fee - self.vat(fee) >= amount:
                return charged
            charged += 1

    def fee_moves(self, wallet: str, income: str, currency: str, fee: int) -> tuple[Move, ...]:
        return ((wallet, f"income:{income}:{currency}", fee), (wallet, f"tax:vat:{currency}", self.vat(fee)))

    # --- transactions --------------------------------------------------------------------------------------------

    def begin(self, txn: Txn) -> bool:
        """Holds the money and applies the first answer. Returns False, and changes nothing, if an account is short."""
        if any(self.available(account) < amount for account, amount in txn.holds.items()):
            return False
        self.held.update(txn.holds)
        self.txns[txn.key] = txn
        txn.status = txn.outcome.first_status
        if txn.is_final:
            self.end(txn, txn.status)
        return True

    def end(self, txn: Txn, status: str) -> None:
        """Ends a transaction once: releases its holds and, if it succeeded, posts it."""
        txn.status = status
        self.held.subtract(txn.holds)
        if status == SUCCESSFUL:
            self.move(*txn.moves)
        self.add_end_event(txn)
        self.on_end(txn)

    def on_end(self, txn: Txn) -> None:
        """Called when a transaction becomes final. Each part of the model adds its own effects."""

    def apply_next_change(self, txn: Txn) -> None:
        """Applies the transaction's next scheduled change."""
        if txn.outcome.interim_status and not txn.is_requeried:
            txn.is_requeried, txn.status = True, txn.outcome.interim_status
        else:
            self.end(txn, txn.outcome.final_status)

    def call_back(self, key: str, status: str) -> Reply:
        """Applies a callback of the rail. It ends an open transaction and does not change a final one."""
        txn = self.txns[key]
        if not txn.is_final:
            self.end(txn, status)
        return {"status": 200, "txnStatus": txn.status}
