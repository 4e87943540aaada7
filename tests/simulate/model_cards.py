"""The model of virtual cards and of cashcodes."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tests.simulate.model_books import (
    FAILED,
    INSUFFICIENT_FUNDS,
    MAX_AMOUNT,
    MIN_AMOUNT,
    PENDING,
    SUCCESSFUL,
    WALLET,
    WALLETS,
    Id,
    Outcome,
    Reply,
    Txn,
    add_months,
    grouped,
    midnight,
    money,
    percentage_of,
    refuse,
)
from tests.simulate.model_rails import Rails

ACTIVE, BLOCKED, TERMINATED = "active", "blocked", "terminated"
# By currency: issuance fee, monthly fee, smallest first amount, and largest balance.
CARD_TARIFF = {"USD": (200, 100, 500, 1_000_000), "NGN": (20_000, 5_000, 100_000, 500_000_000)}
GOOD_FOR_MONTHS, MOST_UNPAID = 36, 3

CASHCODE_FEE = {"ATM": 10_000, "POS": 0, "WEB": 0}
SHORTEST_LIFE, LONGEST_LIFE = 5, 10_080
MOST_TRIES = 3


@dataclass
class Card:
    key: str
    currency: str
    made_on: date
    state: str = ACTIVE
    months: int = 0
    unpaid: int = 0

    @property
    def account(self) -> str:
        return f"card:{self.key}:{self.currency}"

    def is_expired(self, day: date) -> bool:
        last = add_months(self.made_on, GOOD_FOR_MONTHS)
        return (day.year, day.month) > (last.year, last.month)

    def next_fee(self) -> datetime | None:
        """Returns the next fee time: midnight of the day of issue each month, until the card ends or its month is
        over."""
        day = add_months(self.made_on, self.months + 1)
        return None if self.state == TERMINATED or self.is_expired(day) else midnight(day)


@dataclass
class Cashcode:
    """The fields of a cashcode that its transaction does not have."""

    key: str
    pin: str
    channel: str
    expires_at: datetime
    state: str = ACTIVE
    tries: int = 0
    paid: int = 0


class Cards(Rails):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.cards: dict[str, Card] = {}
        self.codes: dict[str, Cashcode] = {}

    # --- cards ---------------------------------------------------------------------------------------------------

    def create_card(self, key: str, currency: str, amount: int) -> Reply:
        issuance, _, least, most = CARD_TARIFF[currency]
        if not max(least, MIN_AMOUNT[currency]) <= amount <= min(most, MAX_AMOUNT[currency]):
            return refuse(104, "amount")
        card = Card(key, currency, self.today)
        if not self.load_card(card, amount, issuance):
            return INSUFFICIENT_FUNDS
        self.cards[key] = card
        return {"status": 200, "message": "Created Successfully"}

    def load_card(self, card: Card, amount: int, fee: int) -> bool:
        """Funds the card from the wallet of its currency, with the fee."""
        wallet = WALLETS[card.currency]
        if self.available(wallet) < amount + fee + self.vat(fee):
            return False
        self.move((wallet, card.account, amount), *self.fee_moves(wallet, "card", card.currency, fee))
        return True

    def fund_card(self, key: str, amount: int) -> Reply:
        card = self.cards[key]
        if card.state != ACTIVE:
            return refuse(104, card.state)
        if card.is_expired(self.today):
            return refuse(104, "expired")
        most = CARD_TARIFF[card.currency][3]
        if (
            not MIN_AMOUNT[card.currency] <= amount <= MAX_AMOUNT[card.currency]
            or self.posted[card.account] + amount > most
        ):
            return refuse(104, "amount")
        return (
            {"status": 200}
            if self.load_card(card, amount, self.funding_fee(card.currency, amount))
            else INSUFFICIENT_FUNDS
        )

    def funding_fee(self, currency: str, amount: int) -> int:
        """Returns the fee: one dollar up to 100 dollars, one percent of the whole amount above. Naira cost nothing."""
        if currency == "NGN":
            return 0
        return 100 if amount <= 10_000 else percentage_of(amount, 100)

    def withdraw(self, key: str, amount: int) -> Reply:
        card = self.cards[key]
        if card.state == TERMINATED:
            return refuse(104, TERMINATED)
        if amount > self.posted[card.account]:
            return refuse(301, "card")
        self.move((card.account, WALLETS[card.currency], amount))
        return {"status": 200}

    def set_card_state(self, key: str, state: str) -> Reply:
        """Blocks or unblocks a card. An unblocked card is valid for three months again."""
        card = self.cards[key]
        if card.state == TERMINATED:
            return refuse(104, TERMINATED)
        if card.state != state:
            card.state, card.unpaid = state, 0 if state == ACTIVE else card.unpaid
        return {"status": 200}

    def terminate(self, key: str) -> Reply:
        card = self.cards[key]
        if card.state == TERMINATED:
            return refuse(104, TERMINATED)
        self.move((card.account, WALLETS[card.currency], self.posted[card.account]))
        card.state = TERMINATED
        return {"status": 200}

    def purchase(self, key: str, amount: int) -> Reply:
        """Charges a card in a shop. Every fault of the issuer declines it."""
        card = self.cards[key]
        reason = self.decline_reason(card, amount)
        status, fields = (FAILED, {"declineReason": reason}) if reason else (SUCCESSFUL, {})
        if status == SUCCESSFUL:
            self.move((card.account, f"rail:issuer:{card.currency}", amount))
        self.add_event("card_purchase", "", status, amount, card.currency, "virtual_card", reference=Id(key), **fields)
        return {"status": 200, "txnStatus": status}

    def decline_reason(self, card: Card, amount: int) -> str:
        """Returns the first reason that applies, or an empty text. Contract: virtualcard#declines"""
        if self.take_fault("issuer"):
            return "issuer_declined"
        if card.state != ACTIVE:
            return f"card_{card.state}"
        if card.is_expired(self.today):
            return "card_expired"
        return "insufficient_funds" if amount > self.posted[card.account] else ""

    def take_monthly_fee(self, card: Card) -> None:
        fee = CARD_TARIFF[card.currency][1]
        card.months += 1
        if self.posted[card.account] >= fee + self.vat(fee):
            self.move(*self.fee_moves(card.account, "card", card.currency, fee))
            card.unpaid = 0
            return
        card.unpaid += 1
        if card.unpaid >= MOST_UNPAID:
            card.state = BLOCKED

    def expected_card(self, key: str) -> Reply:
        card = self.cards[key]
        return {"status": card.state, "balance": grouped(self.posted[card.account]), "currency": card.currency}

    # --- cashcodes -----------------------------------------------------------------------------------------------

    def generate(self, key: str, amount: int, pin: str, channel: str, minutes: int) -> Reply:
        if not MIN_AMOUNT["NGN"] <= amount <= MAX_AMOUNT["NGN"]:
            return refuse(104, "amount")
        if not SHORTEST_LIFE <= minutes <= LONGEST_LIFE:
            return refuse(104, "life_time")
        first, content = self.txns.get(key), (amount, pin, channel, minutes)
        if first is not None and first.request != content:
            return refuse(104, "orderRef")
        if first is None and not self.new_code(key, amount, pin, channel, minutes, WALLET, request=content):
            return INSUFFICIENT_FUNDS
        fields = {"orderRef": key, "amount": money(amount), "channel": channel}
        return {"status": 200, "txnStatus": self.txns[key].status, **fields}

    def new_code(
        self,
        key: str,
        amount: int,
        pin: str,
        channel: str,
        minutes: int,
        source: str,
        *,
        request: tuple[object, ...] = (),
        purpose: str = "",
    ) -> bool:
        fee = CASHCODE_FEE[channel]
        holds = {source: amount}
        holds[WALLET] = holds.get(WALLET, 0) + fee + self.vat(fee)
        moves = ((source, "rail:cash:NGN", amount), *self.fee_moves(WALLET, "cashcode", "NGN", fee))
        txn = Txn(
            key, "cashcode", amount, fee, self.vat(fee), self.now, Outcome(PENDING), request, holds, moves, purpose
        )
        if not self.begin(txn):
            return False
        self.codes[key] = Cashcode(key, pin, channel, self.now + timedelta(minutes=minutes))
        return True

    def redeem(self, key: str, pin: str, amount: int, channel: str) -> Reply:
        code, txn = self.codes[key], self.txns[key]
        if code.state != ACTIVE:
            return refuse(104, "cashcode")
        if pin != code.pin:
            code.tries += 1
            if code.tries == MOST_TRIES:
                self.end_code(code, "locked", 0)
            return refuse(203, "PIN")
        if channel != code.channel:
            return refuse(104, "channel")
        if amount > txn.amount or (channel == "ATM" and amount != txn.amount):
            return refuse(104, "amount")
        self.end_code(code, "redeemed", amount)
        return {"status": 200, "txnStatus": SUCCESSFUL, "returned": money(txn.amount - amount)}

    def cancel(self, key: str) -> Reply:
        code = self.codes[key]
        if code.state not in (ACTIVE, "cancelled"):
            return refuse(104, "cashcode")
        if code.state == ACTIVE:
            self.end_code(code, "cancelled", 0)
        return {"status": 200, "state": "cancelled", "txnStatus": FAILED}

    def end_code(self, code: Cashcode, state: str, paid: int) -> None:
        """Ends a cashcode: the drawn amount leaves its source with the fee and the rest returns. Otherwise nothing
        moves."""
        txn = self.txns[code.key]
        code.state, code.paid = state, paid
        (source, rail, _), *fees = txn.moves
        txn.moves = ((source, rail, paid), *fees)
        self.end(txn, SUCCESSFUL if paid else FAILED)

    def expected_cashcode(self, key: str) -> Reply:
        code, txn = self.codes[key], self.txns[key]
        fee, vat = (0, 0) if txn.status == FAILED else (txn.fee, txn.vat)
        figures = {"amount": money(txn.amount), "paid": money(code.paid), "fee": money(fee), "vat": money(vat)}
        return {"status": 200, "txnStatus": txn.status, "state": code.state, "channel": code.channel, **figures}
