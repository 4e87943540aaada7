"""A small pure model of the whole service, for one merchant whose clock stands still but for `advance`.

It is told each request and says what the reply must contain, a refusal's code or a success with its figures, and what
every account of the merchant's books then has and holds. It imports nothing of the product: the tariff, the ladder of
re-queries, interest and schedules are written down once more, from decisions.md and the facts in data/.

What is where: books, tariff and transactions in model_books.py; transfers, bills, card payments and refunds in
model_rails.py; virtual cards and cashcodes in model_cards.py; savings and loans in model_clients.py; time here.

Not modelled, and so not tried by the machine: payment types other than card, token and bank transfer, 3-D Secure,
recurrent and installment plans, split payments and settlement on later days; bulk transfers, whose orders the worker
sends in its own time; personalized accounts; cards of a merchant without a USD wallet, purchases in another currency,
refunds of purchases and spending limits; deposits and repayments by other ways than wallet and card, or whose card
answers later; penalties and write-offs; thrift; planned faults; Idempotency-Key; events and look-ups.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from tests.simulate.model_books import DAY, WALLET, Reply, Txn, midnight
from tests.simulate.model_clients import Clients

Change = tuple[datetime, int, Callable[[], None]]


class Model(Clients):
    def advance(self, seconds: int) -> Reply:
        """Time passes, and what falls due on the way happens in its order."""
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
        """The next of each kind. Of what happens at one midnight the order matters to nobody, since a card's fee is the
        card's and interest the wallet's; here the day begins first. All else happens between two whole seconds, as
        the clock began."""
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
        if self.savings:
            yield midnight(self.today + timedelta(days=1)), 1, self.accrue_day

    # --- what the machine must know before it lets time pass --------------------------------------------------------

    def has_endless_requery(self) -> bool:
        """Whether something would be asked after every hour until somebody ends it: that makes long stretches slow."""
        return any(self.is_requeried(txn) for txn in self.txns.values())

    def is_requeried(self, txn: Txn) -> bool:
        if txn.is_final or txn.next_change() is not None or txn.key in self.codes:
            return False
        return txn.key not in self.payments or not self.payments[txn.key].is_awaiting_otp

    def is_uncertain(self, seconds: int) -> bool:
        """Whether the wallet might not cover the interest of a stretch. Then which savings get theirs depends, for
        those of different days, on the order of jobs that are due at one moment, and that is nobody's promise."""
        if len({savings.opened_on for savings in self.savings.values()}) < 2:
            return False
        yearly = sum(self.posted[savings.account] * savings.annual for savings in self.savings.values())
        due = sum(savings.due_interest for savings in self.savings.values())
        return self.available(WALLET) < due + yearly * (seconds // DAY + 62) / 365 + 1
