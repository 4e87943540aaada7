"""What customers transfer into an account they were shown: exact, in pieces, too much, too late, to nobody. (D23)"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.directory import Entry, list_as
from kasuwa.core.inbound import ACCOUNT
from kasuwa.methods.payment.decide import DETAIL
from kasuwa.methods.payment.decide_inbound import UNKNOWN_ACCOUNT
from tests.methods.payment.desk import IN_PROGRESS, Desk, Paying, begin, challenge
from tests.untimed import untimed

CHARGED = 150_000


@pytest.fixture
def desk() -> Desk:
    return Desk()


def shown(desk: Desk) -> Paying:
    paying = begin(desk, "bank_transfer")
    paying.hear(challenge())
    return paying


def pay_in(desk: Desk, paying: Paying, amount: int) -> Any:
    number = DETAIL.decode(paying.payment.detail).shown
    return desk.put("pay_account", accountNumber=number, amount=f"{amount / 100:.2f}")


def parked(desk: Desk) -> int:
    return desk.balance("unapplied:main:NGN")


def test_the_exact_amount_ends_the_payment(desk: Desk) -> None:
    paying = shown(desk)
    reply = pay_in(desk, paying, CHARGED).reply
    assert (reply.txn_status, reply.message, paying.stands) == ("successful", "Paid", ("successful", "done", None))
    assert (desk.balance("rail:debit:NGN"), parked(desk)) == (-CHARGED, 0)
    assert desk.balance("wallet:main:NGN") == paying.payment.settled


def test_too_little_is_kept_and_said_and_the_rest_ends_it(desk: Desk) -> None:
    paying = shown(desk)
    reply = pay_in(desk, paying, 100_000).reply
    assert (reply.txn_status, reply.message) == (
        "pending",
        "1000.00 of 1500.00 has arrived; the rest is awaited",
    )
    assert (parked(desk), paying.stands) == (100_000, ("pending", "awaiting_payer", "payment.ask"))
    assert pay_in(desk, paying, 50_000).reply.txn_status == "successful"
    assert (parked(desk), desk.balance("rail:debit:NGN")) == (0, -CHARGED)


def test_what_is_too_much_goes_back(desk: Desk) -> None:
    paying = shown(desk)
    reply = pay_in(desk, paying, CHARGED + 7_000).reply
    assert reply.message == "Paid; the excess goes back to the payer"
    assert (parked(desk), desk.balance("rail:debit:NGN")) == (0, -CHARGED)


def test_too_little_until_the_end_goes_back_with_the_failure(desk: Desk) -> None:
    paying = shown(desk)
    pay_in(desk, paying, 100_000)
    paying.hear(IN_PROGRESS, minutes=10)
    assert (paying.row.status, desk.balances()) == ("failed", {})


def test_what_comes_after_the_end_or_the_time_goes_back_and_changes_nothing(desk: Desk) -> None:
    done = shown(desk)
    pay_in(desk, done, CHARGED)
    before = desk.balances()
    late = pay_in(desk, done, CHARGED)
    assert (late.reply.txn_status, late.rows, desk.balances()) == ("successful", (), before)
    over = shown(desk)
    desk.wait(minutes=10, seconds=1)
    reply = pay_in(desk, over, CHARGED).reply
    assert (reply.txn_status, reply.message) == ("pending", "The payment is over; the money goes back to the payer")
    assert (over.row.status, desk.balances()) == ("pending", before)


def test_money_may_come_while_the_rail_has_not_answered_yet(desk: Desk) -> None:
    paying = begin(desk, "bank_transfer")
    job = paying.job
    assert pay_in(desk, paying, CHARGED).reply.txn_status == "successful"
    assert desk.hear(job, challenge()).rows == ()


def test_an_account_that_nobody_was_shown_is_unknown_whosever_it_is(desk: Desk) -> None:
    assert desk.put("pay_account", accountNumber="0123456789", amount="1.00") == UNKNOWN_ACCOUNT
    entry = list_as(desk.context(), ACCOUNT, "0123456789", "personalized CL1")
    desk.rows[entry.key] = entry
    assert desk.put("pay_account", accountNumber="0123456789", amount="1.00") == UNKNOWN_ACCOUNT
    paying = shown(desk)
    (own,) = [row for row in desk.of_type(Entry) if row.reference == f"payment {paying.txn_ref}"]
    own.merchant_id += 1
    assert pay_in(desk, paying, CHARGED) == UNKNOWN_ACCOUNT


@given(st.lists(st.integers(100, 90_000), max_size=8), st.booleans())
@untimed(150)
def test_in_whatever_pieces_it_comes_the_payer_pays_the_charge_or_nothing(pieces: list[int], expires: bool) -> None:
    desk = Desk()
    paying = shown(desk)
    for piece in pieces:
        pay_in(desk, paying, piece)
    enough = sum(pieces) >= CHARGED
    if not enough and expires:
        paying.hear(IN_PROGRESS, minutes=10)
        assert desk.balances() == {}
    elif not enough:
        assert parked(desk) == paying.payment.received == sum(pieces)
    assert (paying.row.status == "successful") == enough
    if enough:
        assert (desk.balance("rail:debit:NGN"), parked(desk)) == (-CHARGED, 0)
