"""The model of split payments: parts of what is settled go to beneficiaries, and are paid out the day after.
(Contract: payment#split)"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial

from tests.simulate.model_books import FAILED, SUCCESSFUL, WALLET, Reply, Txn, midnight, refuse
from tests.simulate.model_loans import half_up
from tests.simulate.model_phones import Phones
from tests.simulate.model_rails import BY_ACCOUNT

# Bank accounts of beneficiaries: paid at once, paid later, paid after being processed. Payouts fail by planned faults.
BENEFICIARY_ACCOUNTS = ("0000000000", "0000000900", "0000000010")
DUE_HOUR = timedelta(hours=9)


@dataclass(frozen=True)
class Part:
    """A part of a payment: a percentage of what is settled, or an amount in minor units."""

    beneficiary: str
    percentage: str = ""
    share: int = 0

    def exact(self, settled: int) -> Fraction:
        return Fraction(self.percentage) / 100 * settled if self.percentage else Fraction(self.share)


@dataclass
class Payout:
    """The sum that is paid out to one beneficiary for the payments of one day."""

    beneficiary: str
    due: datetime
    amount: int
    is_sent: bool = False


class Splits(Phones):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.beneficiaries: dict[str, str] = {}  # their bank accounts
        self.splits: dict[str, tuple[Part, ...]] = {}  # of payments
        self.payouts: list[Payout] = []
        self.sent_payouts: dict[str, Payout] = {}  # by their transfers

    def add_beneficiary(self, key: str, account: str) -> Reply:
        self.beneficiaries[key] = account
        return {"status": 200}

    def split_payment(self, key: str, parts: tuple[Part, ...], currency: str, *settled: int) -> Reply | None:
        """Notes the split of a payment that is about to begin. Returns the refusal if it cannot be divided so.

        `settled` are the sums that the payment and later charges of its plan settle.
        """
        is_twice = len({part.beneficiary for part in parts}) < len(parts)
        is_too_much = any(sum(part.exact(each) for part in parts) > each for each in settled)
        if parts and (currency != "NGN" or is_twice or is_too_much):
            self.reached["split refused"] += 1
            return refuse(104, "split")
        self.splits[key] = parts
        return None

    def divide(self, settled: int, parts: tuple[Part, ...]) -> list[int]:
        """Returns the parts in order, rounded half up and at most what is left. The rest is the merchant's."""
        amounts: list[int] = []
        for part in parts:
            amounts.append(min(half_up(part.exact(settled)), settled - sum(amounts)))
        return amounts

    def on_end(self, txn: Txn) -> None:
        super().on_end(txn)
        parts = self.splits.get(txn.key, ()) if txn.kind == "payment" and txn.status == SUCCESSFUL else ()
        if not parts:
            return
        settled = self.payments[txn.key].charged - txn.fee - txn.vat
        for part, amount in zip(parts, self.divide(settled, parts), strict=True):
            self.reached["split by percentage" if part.percentage else "split by share"] += 1
            self.move((WALLET, f"beneficiary:{part.beneficiary}:NGN", amount))
            self.add_to_payout(part.beneficiary, amount)

    def add_to_payout(self, beneficiary: str, amount: int) -> None:
        due = midnight(self.today + timedelta(days=1)) + DUE_HOUR
        for payout in self.payouts:
            if not payout.is_sent and (payout.beneficiary, payout.due) == (beneficiary, due):
                payout.amount += amount
                return
        if amount:
            self.payouts.append(Payout(beneficiary, due, amount))

    # --- payouts -------------------------------------------------------------------------------------------------

    def payout_changes(self) -> Iterator[tuple[datetime, int, partial[None]]]:
        for payout in self.payouts:
            if not payout.is_sent:
                yield payout.due, 0, partial(self.send_payout, payout)

    def send_payout(self, payout: Payout) -> None:
        """Sends a transfer without a fee. It takes everything from the beneficiary's account."""
        payout.is_sent = True
        outcome = BY_ACCOUNT[self.beneficiaries[payout.beneficiary]]
        key, source = self.new_key("y"), f"beneficiary:{payout.beneficiary}:NGN"
        txn = self.new_transfer(key, payout.amount, source, outcome, f"payout {key}")
        txn.fee = txn.vat = 0
        txn.holds, txn.moves = {source: payout.amount}, txn.moves[:1]
        self.sent_payouts[key] = payout
        assert self.begin(txn), "the account has what is paid out of it"

    def end(self, txn: Txn, status: str) -> None:
        """Ends a transaction. What a payout that has failed did not pay is in that of the next day."""
        super().end(txn, status)
        payout = self.sent_payouts.get(txn.key)
        if payout is None:
            return
        self.reached[f"payout {status}"] += 1
        if status == FAILED:
            self.add_to_payout(payout.beneficiary, payout.amount)
