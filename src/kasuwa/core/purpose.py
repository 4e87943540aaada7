"""What money is moved for, where that is more than the wallet's: a repayment, a deposit, a disbursement.

Slices do not import each other. A payment or a transfer made for another slice carries a purpose: a name and a
reference ("loan", "LN…"). app.py hands the owners' rules over by name, and the decision that ends the payment or
transfer adds what the purpose's rule answers, in the same group and the same commit.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Job, Merchant, More, Needs, Notice, Post, Row, Seen
from kasuwa.core.transactions import Transaction


class Errand(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a transaction is for: kept in its detail."""

    purpose: str
    reference: str


class Addition(msgspec.Struct, frozen=True):
    """What a purpose adds to the decision on its transaction; `posts` go into the same group. `reply` is what whoever
    waits is answered, where that is not the transaction's own reply."""

    reply: Any = None
    posts: tuple[Post, ...] = ()
    rows: tuple[Row, ...] = ()
    jobs: tuple[Job, ...] = ()
    jobs_done: tuple[Job, ...] = ()
    notices: tuple[Notice, ...] = ()


NOTHING_MORE = Addition()


class Purpose(msgspec.Struct, frozen=True):
    """`needs(merchant, reference)` are the rows its rule must see; `end(row, reference, context, seen)` is asked each
    time the rail has answered, and may ask for `More`. While the row is not final it adds its reply and nothing else;
    once the row is successful or failed, all that follows from it. `account(reference, currency)` is where a payment's
    money goes, whole, where that is not the wallet; the fee is the wallet's all the same. `tell(row, reference,
    context, seen)` is the reply to whoever still waits for a transaction that a call-back has ended meanwhile: nothing
    follows from it twice."""

    name: str
    needs: Callable[[Merchant, str], Needs]
    end: Callable[[Transaction, str, Context, Seen], Addition | More]
    account: Callable[[str, str], str] | None = None
    tell: Callable[[Transaction, str, Context, Seen], Any] | None = None


def ask_purpose(row: Transaction, errand: Errand | None, context: Context, seen: Seen) -> Addition | More:
    """What a transaction's purpose adds to what was decided of it."""
    if errand is None:
        return NOTHING_MORE
    purpose: Purpose = context.purposes[errand.purpose]
    unseen = unseen_needs(purpose, errand, context, seen)
    return unseen or purpose.end(row, errand.reference, context, seen)


def ask_told(row: Transaction, errand: Errand | None, context: Context, seen: Seen) -> Any:
    """What a purpose tells of a transaction that is over: its reply, None where it has none of its own, or `More`."""
    if errand is None:
        return None
    purpose: Purpose = context.purposes[errand.purpose]
    if purpose.tell is None:
        return None
    unseen = unseen_needs(purpose, errand, context, seen)
    return unseen or purpose.tell(row, errand.reference, context, seen)


def unseen_needs(purpose: Purpose, errand: Errand, context: Context, seen: Seen) -> More | None:
    needs = purpose.needs(context.merchant, errand.reference)
    return None if all(seen.has(key) for _, key in needs.rows) else More(needs)
