"""Inbound transfers into a payment's account number and into personalized accounts."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry
from kasuwa.methods.payment.rules.receipts.inbound_transfer import UNKNOWN_ACCOUNT
from kasuwa.methods.payment.rules.refund import REFUND_DETAIL_DECODER
from kasuwa.methods.resources.rules.open_account import seal_owner
from kasuwa.terms.tariff import Tariff
from kasuwa.transactions.inbound_accounts import ACCOUNT, AccountOwner, PersonalizedAccountRow, personalized_key
from kasuwa.transactions.transactions import Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    IN_PROGRESS,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    challenge,
    fields_of,
)
from tests.rule_context import MERCHANT, with_terms
from tests.walk.bounds import ACCOUNT_SECONDS

CHARGED = 150_000


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments()


def shown(payments: InMemoryPayments) -> PaymentInProgress:
    paying = begin(payments, "bank_transfer")
    paying.receive_answer(challenge())
    return paying


def pay_in(payments: InMemoryPayments, paying: PaymentInProgress, amount: int) -> Any:
    number = paying.detail.inbound_account_number
    return payments.put("pay_account", accountNumber=number, amount=f"{amount / 100:.2f}")


def parked(payments: InMemoryPayments) -> int:
    return payments.balance("unapplied:main:NGN")


def test_the_exact_amount_ends_the_payment(payments: InMemoryPayments) -> None:
    paying = shown(payments)
    reply = pay_in(payments, paying, CHARGED).reply
    assert (reply.txn_status, reply.message, paying.state) == ("successful", "Paid", ("successful", "done", None))
    assert (payments.balance("rail:debit:NGN"), parked(payments)) == (-CHARGED, 0)
    assert payments.balance("wallet:main:NGN") == paying.payment.settled


def test_a_partial_transfer_is_kept_and_the_rest_completes_the_payment(payments: InMemoryPayments) -> None:
    paying = shown(payments)
    reply = pay_in(payments, paying, 100_000).reply
    assert (reply.txn_status, reply.message) == (
        "pending",
        "1000.00 of 1500.00 has arrived; the rest is awaited",
    )
    assert (parked(payments), paying.state) == (100_000, ("pending", "awaiting_payer", "payment.ask"))
    assert pay_in(payments, paying, 50_000).reply.txn_status == "successful"
    assert (parked(payments), payments.balance("rail:debit:NGN")) == (0, -CHARGED)


def test_an_excess_is_returned(payments: InMemoryPayments) -> None:
    paying = shown(payments)
    reply = pay_in(payments, paying, CHARGED + 7_000).reply
    assert reply.message == "Paid; the excess goes back to the payer"
    assert (parked(payments), payments.balance("rail:debit:NGN")) == (7_000, -CHARGED - 7_000)
    assert give_back(payments, 7_000, "Paid more than was asked for") == paying.txn_ref
    assert (parked(payments), payments.balance("rail:debit:NGN")) == (0, -CHARGED)
    assert (paying.payment.refunded, paying.payment.refunds) == (0, 1)


def test_a_partial_transfer_is_returned_at_expiry(payments: InMemoryPayments) -> None:
    paying = shown(payments)
    pay_in(payments, paying, 100_000)
    paying.receive_answer(IN_PROGRESS, minutes=10)
    assert (paying.row.status, payments.balances()) == ("failed", {})


@ACCOUNT_SECONDS.tries
def test_an_account_of_a_payment_takes_money_for_ten_minutes(
    payments: InMemoryPayments, value: float, is_within: bool
) -> None:
    paying = shown(payments)
    payments.advance(seconds=value)
    assert pay_in(payments, paying, CHARGED).reply.txn_status == ("successful" if is_within else "failed")
    assert parked(payments) == (0 if is_within else CHARGED)


def test_a_transfer_after_the_end_or_expiry_is_returned(payments: InMemoryPayments) -> None:
    done = shown(payments)
    pay_in(payments, done, CHARGED)
    before = payments.balances()
    late = pay_in(payments, done, CHARGED)
    assert (late.reply.txn_status, parked(payments)) == ("successful", CHARGED)
    assert give_back(payments, CHARGED, "Paid more than was asked for") == done.txn_ref
    assert payments.balances() == before
    over = shown(payments)
    pay_in(payments, over, 100)
    payments.advance(minutes=10, seconds=1)
    reply = pay_in(payments, over, CHARGED).reply
    assert (reply.txn_status, reply.message) == ("failed", "The payment is over; the money goes back to the payer")
    assert (over.row.status, over.row.code) == ("failed", "expired")
    assert give_back(payments, CHARGED, "Paid after the payment had failed") == over.txn_ref
    assert pay_in(payments, over, 500).reply.txn_status == "failed"
    assert give_back(payments, 500, "Paid after the payment had failed") == over.txn_ref
    assert payments.balances() == before


def give_back(payments: InMemoryPayments, amount: int, reason: str) -> str:
    """Has the rail return what was paid too much or too late. Returns the payment's reference, as the event has it."""
    [job] = [job for job in payments.jobs() if job.kind == "payment.refund"]
    payments.receive_answer(job, APPROVED)
    event = msgspec.json.decode(payments.events[-1].payload)
    assert (event["txnStatus"], event["chargedAmount"]) == ("successful", f"{amount / 100:.2f}")
    refund = payments.transaction(event["txnRef"], "refund")
    assert REFUND_DETAIL_DECODER.decode(refund.detail).comment == reason
    return str(event["refundOf"])


def test_a_transfer_before_the_rails_answer_is_applied(payments: InMemoryPayments) -> None:
    paying = begin(payments, "bank_transfer")
    job = paying.job
    assert pay_in(payments, paying, CHARGED).reply.txn_status == "successful"
    assert payments.receive_answer(job, challenge()).rows == ()


def test_an_unused_or_foreign_account_number_is_unknown(payments: InMemoryPayments) -> None:
    assert payments.put("pay_account", accountNumber="0123456789", amount="1.00") == UNKNOWN_ACCOUNT
    paying = shown(payments)
    (own,) = [row for row in payments.of_type(TokenIndexEntry) if row.reference == f"payment {paying.txn_ref}"]
    own.merchant_id += 1
    assert pay_in(payments, paying, CHARGED) == UNKNOWN_ACCOUNT
    open_personalized(payments)
    (theirs,) = [row for row in payments.of_type(TokenIndexEntry) if row.reference == "personalized tenant 12"]
    theirs.merchant_id += 1
    assert pay_personalized(payments, "1.00") == UNKNOWN_ACCOUNT


@given(st.lists(st.integers(100, 90_000), max_size=8), st.booleans())
@without_deadline(150)
def test_transfers_in_any_pieces_pay_the_charge_or_nothing(pieces: list[int], expires: bool) -> None:
    payments = InMemoryPayments()
    paying = shown(payments)
    for piece in pieces:
        pay_in(payments, paying, piece)
    enough = sum(pieces) >= CHARGED
    if not enough and expires:
        paying.receive_answer(IN_PROGRESS, minutes=10)
        assert payments.balances() == {}
    elif not enough:
        assert parked(payments) == paying.payment.received == sum(pieces)
    assert (paying.row.status == "successful") == enough
    if enough:
        for job in [job for job in payments.jobs() if job.kind == "payment.refund"]:
            payments.receive_answer(job, APPROVED)
        assert (payments.balance("rail:debit:NGN"), parked(payments)) == (-CHARGED, 0)


# --- personalized accounts --------------------------------------------------------------------------------------------

NUMBER = "0123456789"


def open_personalized(payments: InMemoryPayments) -> None:
    """Adds the rows of a personalized account, as `resources` creates them."""
    merchant_id, reference = payments.merchant.merchant_id, "tenant 12"
    row = PersonalizedAccountRow(
        key=personalized_key(merchant_id, reference),
        merchant_id=merchant_id,
        reference=reference,
        account_number=NUMBER,
        bank_code="035",
        bank_name="Wema Bank",
        bvn_sealed=None,
        created_at=payments.now,
        state="open",
        rail="sandbox",
        rail_reference="GP|PA|1",
    )
    owner = AccountOwner("Ada Obi", "ada@example.com")
    row = msgspec.structs.replace(row, person_sealed=seal_owner(row.key, owner, payments.context()))
    entry = make_token_entry(payments.context(), ACCOUNT, NUMBER, f"personalized {reference}")
    payments.rows |= {row.key: row, entry.key: entry}


def pay_personalized(payments: InMemoryPayments, amount: str, scenario: Scenario = NO_SCENARIO, **fields: Any) -> Any:
    return payments.put("pay_account", None, scenario, accountNumber=NUMBER, amount=amount, **fields)


def test_a_transfer_into_a_personalized_account_is_a_successful_payment(payments: InMemoryPayments) -> None:
    open_personalized(payments)
    decision = pay_personalized(payments, "1500.00", sender_name="Bola Ade")
    paying = PaymentInProgress(payments, decision)
    assert (decision.reply.txn_status, decision.reply.txn_ref) == ("successful", paying.txn_ref)
    assert (paying.state, decision.follow_up, decision.jobs) == (("successful", "done", None), None, ())
    row, payment, detail = paying.row, paying.payment, paying.detail
    assert (row.order_ref, row.amount, row.fee, row.vat, row.code) == ("tenant 12", CHARGED, 1_500, 113, "00")
    assert (payment.method, payment.charged, payment.settled, payment.received) == (
        "bank_transfer",
        CHARGED,
        148_387,
        0,
    )
    assert (detail.fullname, detail.email) == ("Bola Ade", "ada@example.com")
    assert payments.balances() == {
        "rail:debit:NGN": -CHARGED,
        "wallet:main:NGN": 148_387,
        "income:collection:NGN": 1_500,
        "tax:vat:NGN": 113,
    }


def test_the_event_names_the_personalized_account(payments: InMemoryPayments) -> None:
    open_personalized(payments)
    pay_personalized(payments, "1500.00")
    (event,) = payments.events
    (row,) = payments.of_type(Transaction)
    assert msgspec.json.decode(event.payload) == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": row.txn_ref,
        "chargedAmount": "1500.00",
        "paymentMethod": "bank_transfer",
        "endpoint": "test",
        "kind": "payment",
        "customer_txnref": "tenant 12",
        "accountReference": "tenant 12",
        "currency": "NGN",
        "account": NUMBER,
        "accountDetails": "Ada Obi",
        "bankname": "Wema Bank",
    }


def test_each_transfer_into_a_personalized_account_is_its_own_payment(payments: InMemoryPayments) -> None:
    open_personalized(payments)
    references = {pay_personalized(payments, "10.00").reply.txn_ref for _ in range(3)}
    assert len(references) == len(payments.events) == 3
    assert payments.balance("rail:debit:NGN") == -3_000


@pytest.mark.parametrize("amount", ["0.01", "0.99", "10000000.01"])
def test_no_limit_applies_to_a_personalized_account(payments: InMemoryPayments, amount: str) -> None:
    open_personalized(payments)
    assert pay_personalized(payments, amount).reply.txn_status == "successful"
    assert payments.balance("wallet:main:NGN") >= 0


def test_a_customer_who_bears_fees_is_charged_what_was_transferred() -> None:
    tariff = msgspec.structs.replace(MERCHANT.terms(Tariff), bearer_default="customer")
    payments = InMemoryPayments(of=with_terms(MERCHANT, tariff))
    open_personalized(payments)
    paying = PaymentInProgress(payments, pay_personalized(payments, "1500.00"))
    assert (paying.payment.charged, paying.payment.settled) == (CHARGED, 148_387)


def test_a_personalized_payment_settles_on_the_merchants_settlement_day() -> None:
    payments = InMemoryPayments(of=msgspec.structs.replace(MERCHANT, settlement_days=1))
    open_personalized(payments)
    pay_personalized(payments, "1500.00")
    assert payments.balance("wallet:main:NGN") == 0
    (job,) = payments.jobs()
    assert timedelta() < job.due - payments.now
    assert sum(amount for name, amount in payments.balances().items() if name.startswith("settling:")) == 148_387


def test_the_event_of_a_personalized_payment_follows_the_scenario() -> None:
    payments = InMemoryPayments(has_webhook=True)
    open_personalized(payments)
    pay_personalized(payments, "1500.00", Scenario(webhook="late:60"))
    (job,) = payments.jobs()
    assert (job.lane, job.due - payments.now) == ("webhook", timedelta(seconds=60))


def test_a_personalized_payment_is_refunded_like_a_bank_transfer(payments: InMemoryPayments) -> None:
    open_personalized(payments)
    paying = PaymentInProgress(payments, pay_personalized(payments, "1500.00"))
    assert fields_of(payments.put("refund", txnRef=paying.txn_ref, amount="1500.01")) == ["amount"]
    assert payments.put("refund", txnRef=paying.txn_ref, amount="400.00").reply.refundable_amount == "1100.00"
