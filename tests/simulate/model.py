"""A small pure model of the service for one merchant whose clock moves only by `advance`.

It is given each request, and returns what the reply must contain (the code of a refusal, or the figures of a success).
It also predicts the balance and the holds of every account of the merchant's books. It imports nothing from the
product: tariff, re-query schedule, interest and repayment schedules are implemented a second time, from docs/contract
and the reference data.

Books, tariff and transactions are in model_books.py; transfers, bills, card payments and refunds in model_rails.py;
virtual cards and cashcodes in model_cards.py; savings and loans in model_clients.py; disputes in model_disputes.py;
telephone and mobile money in model_phones.py; splits in model_splits.py; recurrent payments and installments in
model_plans.py; thrift in model_thrift.py; lost steps of payments and the contents of events in model_events.py. The
passing of time is here.

Not modeled, and so not tried by the state machine: 3-D Secure; later settlement; bulk transfers, whose orders the
worker sends in its own time; personalized accounts; cards of a merchant without a USD wallet; purchases in another
currency, refunds of purchases and spending limits; deposits and repayments by other methods than wallet and card, or
whose card answers later; penalties and write-offs; faults of the identity register; evidence and debts of disputes;
Idempotency-Key; checkouts, invoices and tickets; look-ups.
"""

import copy
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from tests.simulate.model_books import DAY, WALLET, Reply, Txn, midnight
from tests.simulate.model_events import Events

Change = tuple[datetime, int, Callable[[], object]]
# Rank of the end of a day, which precedes everything else at midnight.
FIRST = -1


class Model(Events):
    # Whether changes that fall due at the same moment are applied in reverse order.
    is_reversed = False

    def advance(self, seconds: int) -> Reply:
        """Moves the clock, and applies what falls due on the way in order."""
        until = self.now + timedelta(seconds=seconds)
        while True:
            coming = [change for change in self.changes() if change[0] <= until]
            if not coming:
                break
            coming.sort(key=lambda change: (max(change[0], self.now), change[1]))
            self.now = max(self.now, coming[0][0])
            first = [change for change in coming if change[0] <= self.now]
            if self.is_reversed and first[0][1] != FIRST:
                first.reverse()
            first[0][2]()
        self.now = until
        return {"status": 200, "now": until.isoformat(timespec="milliseconds")}

    def changes(self) -> Iterator[Change]:
        """Yields the next changes, each with its moment and a rank among those of the same moment.

        Only the end of a day, which is not a job of the service, has a fixed rank: see `depends_on_order`.
        """
        for txn in self.txns.values():
            moment = txn.next_change()
            if moment is not None:
                yield moment, 0, partial(self.apply_next_change, txn)
        for payment in self.payments.values():
            if payment.is_awaiting_otp:
                yield payment.expires_at, 0, partial(self.give_up, self.txns[payment.key])
            if payment.asked_at is not None:
                yield payment.asked_at, 0, partial(self.learn_question, payment.key)
        for code in self.codes.values():
            if code.state == "active":
                yield code.expires_at, 0, partial(self.end_code, code, "expired", 0)
        for loan in self.loans.values():
            late_on = loan.next_late_day()
            if late_on is not None:
                yield midnight(late_on), 0, partial(self.become_late, loan)
        for card in self.cards.values():
            due = card.next_fee()
            if due is not None:
                yield due, 2, partial(self.take_monthly_fee, card)
        yield from self.dispute_changes()
        yield from self.payout_changes()
        yield from self.plan_changes()
        yield from self.thrift_changes()
        if self.savings:
            yield midnight(self.today + timedelta(days=1)), FIRST, self.accrue_day
        if self.is_interest_due:
            yield midnight(self.today), 1, self.pay_interest

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

    def depends_on_order(self, seconds: int) -> bool:
        """Returns whether the order of jobs that are due at the same moment makes a difference. It is not specified, so
        such a period is not tried: interest that is posted at the midnight of a thrift cycle may fund a member."""
        if not any(plan.run_at for plan in self.thrifts.values()):
            return False
        one, other = copy.deepcopy(self), copy.deepcopy(self)
        other.is_reversed = True
        for model in (one, other):
            model.advance(seconds)
        return (one.posted, one.held) != (other.posted, other.held) or any(
            one.expected_members(key) != other.expected_members(key) for key in self.thrifts
        )
