"""What customers transfer into an account they were shown: exact, in pieces, too much, too late, to nobody; and into
a personalized account, where every transfer is a payment.

Contract: payment#bank-transfer, resources#personalized-accounts
"""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.inbound_accounts import ACCOUNT, PersonalizedAccountRow, personalized_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry
from kasuwa.core.transactions import Transaction
from kasuwa.methods.payment.model import DETAIL_DECODER
from kasuwa.methods.payment.rules.inbound_transfer import UNKNOWN_ACCOUNT
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    IN_PROGRESS,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    challenge,
    fields_of,
)
from tests.rule_context import MERCHANT

CHARGED = 150_000


@pytest.fixture
def desk() -> InMemoryPayments:
    return InMemoryPayments()


def shown(desk: InMemoryPayments) -> PaymentInProgress:
    paying = begin(desk, "bank_transfer")
    paying.receive_answer(challenge())
    return paying


def pay_in(desk: InMemoryPayments, paying: PaymentInProgress, amount: int) -> Any:
    number = DETAIL_DECODER.decode(paying.payment.detail).inbound_account_number
    return desk.put("pay_account", accountNumber=number, amount=f"{amount / 100:.2f}")


def parked(desk: InMemoryPayments) -> int:
    return desk.balance("unapplied:main:NGN")


def test_the_exact_amount_ends_the_payment(desk: InMemoryPayments) -> None:
    paying = shown(desk)
    reply = pay_in(desk, paying, CHARGED).reply
    assert (reply.txn_status, reply.message, paying.state) == ("successful", "Paid", ("successful", "done", None))
    assert (desk.balance("rail:debit:NGN"), parked(desk)) == (-CHARGED, 0)
    assert desk.balance("wallet:main:NGN") == paying.payment.settled


def test_too_little_is_kept_and_said_and_the_rest_ends_it(desk: InMemoryPayments) -> None:
    paying = shown(desk)
    reply = pay_in(desk, paying, 100_000).reply
    assert (reply.txn_status, reply.message) == (
        "pending",
        "1000.00 of 1500.00 has arrived; the rest is awaited",
    )
    assert (parked(desk), paying.state) == (100_000, ("pending", "awaiting_payer", "payment.ask"))
    assert pay_in(desk, paying, 50_000).reply.txn_status == "successful"
    assert (parked(desk), desk.balance("rail:debit:NGN")) == (0, -CHARGED)


def test_what_is_too_much_goes_back(desk: InMemoryPayments) -> None:
    paying = shown(desk)
    reply = pay_in(desk, paying, CHARGED + 7_000).reply
    assert reply.message == "Paid; the excess goes back to the payer"
    assert (parked(desk), desk.balance("rail:debit:NGN")) == (0, -CHARGED)


def test_too_little_until_the_end_goes_back_with_the_failure(desk: InMemoryPayments) -> None:
    paying = shown(desk)
    pay_in(desk, paying, 100_000)
    paying.receive_answer(IN_PROGRESS, minutes=10)
    assert (paying.row.status, desk.balances()) == ("failed", {})


def test_what_comes_after_the_end_or_the_time_goes_back_and_changes_nothing(desk: InMemoryPayments) -> None:
    done = shown(desk)
    pay_in(desk, done, CHARGED)
    before = desk.balances()
    late = pay_in(desk, done, CHARGED)
    assert (late.reply.txn_status, late.rows, desk.balances()) == ("successful", (), before)
    over = shown(desk)
    desk.advance(minutes=10, seconds=1)
    reply = pay_in(desk, over, CHARGED).reply
    assert (reply.txn_status, reply.message) == ("pending", "The payment is over; the money goes back to the payer")
    assert (over.row.status, desk.balances()) == ("pending", before)


def test_money_may_come_while_the_rail_has_not_answered_yet(desk: InMemoryPayments) -> None:
    paying = begin(desk, "bank_transfer")
    job = paying.job
    assert pay_in(desk, paying, CHARGED).reply.txn_status == "successful"
    assert desk.receive_answer(job, challenge()).rows == ()


def test_an_account_that_nobody_was_shown_is_unknown_whosever_it_is(desk: InMemoryPayments) -> None:
    assert desk.put("pay_account", accountNumber="0123456789", amount="1.00") == UNKNOWN_ACCOUNT
    paying = shown(desk)
    (own,) = [row for row in desk.of_type(TokenIndexEntry) if row.reference == f"payment {paying.txn_ref}"]
    own.merchant_id += 1
    assert pay_in(desk, paying, CHARGED) == UNKNOWN_ACCOUNT
    open_personalized(desk)
    (theirs,) = [row for row in desk.of_type(TokenIndexEntry) if row.reference == "personalized tenant 12"]
    theirs.merchant_id += 1
    assert pay_personalized(desk, "1.00") == UNKNOWN_ACCOUNT


@given(st.lists(st.integers(100, 90_000), max_size=8), st.booleans())
@without_deadline(150)
def test_in_whatever_pieces_it_comes_the_payer_pays_the_charge_or_nothing(pieces: list[int], expires: bool) -> None:
    desk = InMemoryPayments()
    paying = shown(desk)
    for piece in pieces:
        pay_in(desk, paying, piece)
    enough = sum(pieces) >= CHARGED
    if not enough and expires:
        paying.receive_answer(IN_PROGRESS, minutes=10)
        assert desk.balances() == {}
    elif not enough:
        assert parked(desk) == paying.payment.received == sum(pieces)
    assert (paying.row.status == "successful") == enough
    if enough:
        assert (desk.balance("rail:debit:NGN"), parked(desk)) == (-CHARGED, 0)


# --- personalized accounts --------------------------------------------------------------------------------------------

NUMBER = "0123456789"


def open_personalized(desk: InMemoryPayments) -> None:
    """As `resources` makes one."""
    merchant_id, reference = desk.merchant.merchant_id, "tenant 12"
    row = PersonalizedAccountRow(
        key=personalized_key(merchant_id, reference),
        merchant_id=merchant_id,
        reference=reference,
        account_number=NUMBER,
        bank_code="035",
        bank_name="Wema Bank",
        account_name="Ada Obi",
        email="ada@example.com",
        bvn_sealed=None,
        created_at=desk.now,
    )
    entry = make_token_entry(desk.context(), ACCOUNT, NUMBER, f"personalized {reference}")
    desk.rows |= {row.key: row, entry.key: entry}


def pay_personalized(desk: InMemoryPayments, amount: str, scenario: Scenario = NO_SCENARIO, **fields: Any) -> Any:
    return desk.put("pay_account", None, scenario, accountNumber=NUMBER, amount=amount, **fields)


def test_what_comes_in_on_a_personalized_account_has_succeeded(desk: InMemoryPayments) -> None:
    open_personalized(desk)
    decision = pay_personalized(desk, "1500.00", sender_name="Bola Ade")
    paying = PaymentInProgress(desk, decision)
    assert (decision.reply.txn_status, decision.reply.txn_ref) == ("successful", paying.txn_ref)
    assert (paying.state, decision.follow_up, decision.jobs) == (("successful", "done", None), None, ())
    row, payment, detail = paying.row, paying.payment, DETAIL_DECODER.decode(paying.payment.detail)
    assert (row.order_ref, row.amount, row.fee, row.vat, row.code) == ("tenant 12", CHARGED, 1_500, 113, "00")
    assert (payment.method, payment.charged, payment.settled, payment.received) == (
        "bank_transfer",
        CHARGED,
        148_387,
        0,
    )
    assert (detail.fullname, detail.email) == ("Bola Ade", "ada@example.com")
    assert desk.balances() == {
        "rail:debit:NGN": -CHARGED,
        "wallet:main:NGN": 148_387,
        "income:collection:NGN": 1_500,
        "tax:vat:NGN": 113,
    }


def test_its_event_tells_which_account_it_was(desk: InMemoryPayments) -> None:
    open_personalized(desk)
    pay_personalized(desk, "1500.00")
    (event,) = desk.events
    (row,) = desk.of_type(Transaction)
    assert msgspec.json.decode(event.payload) == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": row.txn_ref,
        "chargedAmount": "1500.00",
        "paymentMethod": "bank_transfer",
        "endpoint": "test",
        "customer_txnref": "tenant 12",
        "accountReference": "tenant 12",
        "currency": "NGN",
        "account": NUMBER,
        "accountDetails": "Ada Obi",
        "bankname": "Wema Bank",
    }


def test_each_transfer_into_it_is_a_payment_of_its_own(desk: InMemoryPayments) -> None:
    open_personalized(desk)
    references = {pay_personalized(desk, "10.00").reply.txn_ref for _ in range(3)}
    assert len(references) == len(desk.events) == 3
    assert desk.balance("rail:debit:NGN") == -3_000


@pytest.mark.parametrize("amount", ["0.01", "0.99", "10000000.01"])
def test_no_limit_refuses_what_has_come(desk: InMemoryPayments, amount: str) -> None:
    open_personalized(desk)
    assert pay_personalized(desk, amount).reply.txn_status == "successful"
    assert desk.balance("wallet:main:NGN") >= 0


def test_a_customer_who_bears_fees_is_not_charged_more_than_came() -> None:
    tariff = msgspec.structs.replace(MERCHANT.tariff, bearer_default="customer")
    desk = InMemoryPayments(of=msgspec.structs.replace(MERCHANT, tariff=tariff))
    open_personalized(desk)
    paying = PaymentInProgress(desk, pay_personalized(desk, "1500.00"))
    assert (paying.payment.charged, paying.payment.settled) == (CHARGED, 148_387)


def test_it_settles_on_its_day_where_the_merchant_settles_later() -> None:
    desk = InMemoryPayments(of=msgspec.structs.replace(MERCHANT, settlement_days=1))
    open_personalized(desk)
    pay_personalized(desk, "1500.00")
    assert desk.balance("wallet:main:NGN") == 0
    (job,) = desk.jobs()
    assert timedelta() < job.due - desk.now
    assert sum(amount for name, amount in desk.balances().items() if name.startswith("settling:")) == 148_387


def test_its_event_goes_as_the_request_was_told() -> None:
    desk = InMemoryPayments(listens=True)
    open_personalized(desk)
    pay_personalized(desk, "1500.00", Scenario(webhook="late:60"))
    (job,) = desk.jobs()
    assert (job.lane, job.due - desk.now) == ("webhook", timedelta(seconds=60))


def test_it_goes_back_like_any_bank_transfer(desk: InMemoryPayments) -> None:
    open_personalized(desk)
    paying = PaymentInProgress(desk, pay_personalized(desk, "1500.00"))
    assert fields_of(desk.put("refund", txnRef=paying.txn_ref, amount="1500.01")) == ["amount"]
    assert desk.put("refund", txnRef=paying.txn_ref, amount="400.00").reply.refundable_amount == "1100.00"
