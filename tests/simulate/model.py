"""A small pure model of the service for one merchant whose clock moves only by `advance`.

It is given each request, and returns what the reply must contain (the code of a refusal, or the figures of a success).
It also predicts the balance and the holds of every account of the merchant's books. It imports nothing from the
product: tariff, re-query schedule, interest and repayment schedules are implemented a second time, from docs/contract
and the reference data.

Books, tariff and transactions are in model_books.py; transfers, bills, card payments and refunds in model_rails.py;
virtual cards and cashcodes in model_cards.py; savings and loans in model_clients.py; disputes and events in
model_disputes.py; the passing of time is here.

Not modeled, and so not tried by the state machine: payments by phone and mobile money; 3-D Secure; recurrent payments
and installment plans; split payments and later settlement; bulk transfers, whose orders the worker sends in its own
time; personalized accounts; cards of a merchant without a USD wallet; purchases in another currency, refunds of
purchases and spending limits; deposits and repayments by other methods than wallet and card, or whose card answers
later; penalties and write-offs; thrift; injected faults of other rails than the bank; evidence and debts of disputes;
Idempotency-Key; events of other kinds than transfer, bill, payment and refund; look-ups.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from tests.simulate.model_books import DAY, WALLET, Reply, Txn, midnight
from tests.simulate.model_disputes import Disputes

Change = tuple[datetime, int, Callable[[], object]]


class Model(Disputes):
    def advance(self, seconds: int) -> Reply:
        """Moves the clock, and applies what falls due on the way in order."""
        until = self.now + timedelta(seconds=seconds)
        while True:
            coming = [change for change in self.changes() if change[0] <= until]
            if not coming:
                break
            self.now, _, happen = min(coming, key=lambda change: change[:2])
            happen()
        self.now = until
        return {"status": 200, "now": until.isoformat(timespec="milliseconds")}

    def changes(self) -> Iterator[Change]:
        """Yields the next change of each kind. The order of changes at one midnight does not matter, since a card's fee
        is taken from the card and interest from the wallet; here the day begins first. All other changes happen between
        two whole seconds, because the clock starts there."""
        for txn in self.txns.values():
            moment = txn.next_change()
            if moment is not None:
                yield moment, 0, partial(self.apply_next_change, txn)
        for payment in self.payments.values():
            if payment.is_awaiting_otp:
                yield payment.expires_at, 0, partial(self.give_up, self.txns[payment.key])
        for code in self.codes.values():
            if code.state == "active":
                yield code.expires_at, 0, partial(self.end_code, code, "expired", 0)
        for card in self.cards.values():
            due = card.next_fee()
            if due is not None:
                yield due, 2, partial(self.take_monthly_fee, card)
        yield from self.dispute_changes()
        if self.savings:
            yield midnight(self.today + timedelta(days=1)), 1, self.accrue_day

    # --- what the machine must know before it lets time pass --------------------------------------------------------

    def has_endless_requery(self) -> bool:
        """Returns whether a transaction would be re-queried every hour until a callback ends it. That makes long
        advances slow."""
        return any(self.is_requeried(txn) for txn in self.txns.values())

    def is_requeried(self, txn: Txn) -> bool:
        if txn.is_final or txn.next_change() is not None or txn.key in self.codes:
            return False
        return txn.key not in self.payments or not self.payments[txn.key].is_awaiting_otp

    def is_uncertain(self, seconds: int) -> bool:
        """Returns whether the wallet might not cover the interest of the period. Then the order of jobs that are due at
        the same moment decides which savings get theirs, and that order is not specified."""
        if len({savings.opened_on for savings in self.savings.values()}) < 2:
            return False
        yearly = sum(self.posted[savings.account] * savings.annual for savings in self.savings.values())
        due = sum(savings.due_interest for savings in self.savings.values())
        return self.available(WALLET) < due + yearly * (seconds // DAY + 62) / 365 + 1
