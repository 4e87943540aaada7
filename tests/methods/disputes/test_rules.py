"""The rules of disputes: opening, responding, deadlines, outcomes and debts."""

from base64 import b64encode
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Decision
from kasuwa.core.money import format_minor
from kasuwa.methods.disputes.model import (
    ALREADY_ANSWERED,
    ALREADY_ENDED,
    EVIDENCE_DECODER,
    MAX_FILE_BYTES,
    NOT_DISPUTABLE,
    NOTHING_LEFT,
    ONE_ANSWER,
    TELL_CARD,
    TOO_LATE,
    UNKNOWN_DISPUTE,
    Dispute,
    DisputeFile,
    detect_media_type,
    evidence_aad,
    file_aad,
)
from kasuwa.methods.disputes.rules.cardholder_dispute import decide_filed, need_cardholder_dispute
from kasuwa.methods.disputes.rules.respond import EMPTY_EVIDENCE
from kasuwa.methods.payment.model import UNKNOWN_REFERENCE
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.rails.ports.shops import ShopDispute
from kasuwa.transactions.event_payloads import DisputeEvent
from tests.hypothesis_settings import without_deadline
from tests.methods.disputes.in_memory_disputes import OPEN, OUTCOME, RESPOND, InMemoryDisputes
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    PaymentInProgress,
    begin,
    fields_of,
    initiate,
    paid_card,
)
from tests.rule_context import VAULT, merchant
from tests.walk.bounds import DISPUTE_SECONDS, SPARE_CREDIT

FEE, VAT = 150_000, 11_250
EVIDENCE = {"explanation": "The parcel was delivered."}
PNG, PDF, JPEG = b"\x89PNG\r\n\x1a\n12", b"%PDF-1.4\n", b"\xff\xd8\xff\xe0jfif"


@pytest.fixture
def books() -> InMemoryDisputes:
    return InMemoryDisputes()


def file_of(content: bytes, name: str = "receipt") -> dict[str, str]:
    return {"name": name, "content": b64encode(content).decode()}


def last_event(books: InMemoryDisputes) -> DisputeEvent:
    return msgspec.json.decode(books.events[-1].payload, type=DisputeEvent)


# --- opening --------------------------------------------------------------------------------------------------------


def test_opening_holds_amount_fee_and_vat(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    before, _ = books.wallet
    dispute = books.open(paying.txn_ref)
    assert (dispute.amount, dispute.fee, dispute.vat, dispute.covered) == (150_000, FEE, VAT, 150_000 + FEE + VAT)
    assert books.wallet == (before, dispute.total)
    assert paying.payment.disputed == 150_000
    assert dispute.due_at - books.now == timedelta(hours=168)
    event = last_event(books)
    assert (event.state, event.step, event.dispute_of) == ("needs_response", "opened", paying.txn_ref)
    assert (event.txn_ref, event.charged_amount, event.fee) == (dispute.dispute_id, "1500.00", "1500.00")


def test_only_what_is_left_of_a_successful_payment_is_disputed(books: InMemoryDisputes) -> None:
    assert books.send(OPEN, txnRef="GP|nothing", reason="r") == UNKNOWN_REFERENCE
    assert books.send(OPEN, txnRef=initiate(books).txn_ref, reason="r") == NOT_DISPUTABLE
    paying = paid_card(books)
    assert fields_of(books.send(OPEN, txnRef=paying.txn_ref, amount="1500.01", reason="r")) == ["amount"]
    books.open(paying.txn_ref, amount="1000.00")
    refused = books.send(OPEN, txnRef=paying.txn_ref, amount="500.01", reason="r")
    assert refused.field_errors[0].reason == "at most 500.00, what was not refunded or disputed"
    assert books.open(paying.txn_ref).amount == 50_000
    assert books.send(OPEN, txnRef=paying.txn_ref, reason="r") == NOTHING_LEFT


def test_a_refund_counts_what_is_disputed_and_a_dispute_what_is_refunded(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    books.open(paying.txn_ref, amount="1000.00")
    refused = books.put("refund", txnRef=paying.txn_ref, amount="500.01")
    assert refused.field_errors[0].reason == "at most 500.00, what is left to refund"
    refund = books.put("refund", txnRef=paying.txn_ref, amount="500.00")
    assert (refund.reply.refundable_amount, paying.payment.refunding) == ("0.00", 50_000)
    assert books.send(OPEN, txnRef=paying.txn_ref, reason="r") == NOTHING_LEFT


def test_money_that_was_won_back_can_be_refunded_and_disputed_again(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    dispute = books.open(paying.txn_ref)
    assert isinstance(books.end(dispute, "won"), Decision)
    assert paying.payment.disputed == 0
    assert books.put("refund", txnRef=paying.txn_ref, amount="500.00").reply.refundable_amount == "1000.00"
    assert books.open(paying.txn_ref).amount == 100_000


def test_the_hold_of_a_dispute_that_is_won_is_released(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    before = books.wallet
    dispute = books.open(paying.txn_ref)
    assert books.wallet == (before[0], before[1] + dispute.covered)
    books.end(dispute, "won")
    assert books.wallet == before


def test_the_fee_is_that_of_the_payments_currency() -> None:
    books = InMemoryDisputes()
    books.fund(1_000_000, "USD")
    paying = paid_card(books, currency="USD", amount="100.00")
    dispute = books.open(paying.txn_ref)
    assert (dispute.currency, dispute.fee) == ("USD", 1_500)
    assert books.account("wallet:main:USD").held == 10_000 + 1_500 + 113
    books.end(dispute, "lost")
    assert (books.balance("income:dispute:USD"), books.balance("income:dispute:NGN")) == (1_500, 0)


def test_the_merchant_bears_a_dispute_of_a_split_payment(books: InMemoryDisputes) -> None:
    ref_code = books.put("beneficiary", name="Bola Ade", bankcode="058", accountnumber="0000000000").reply.ref_code
    paying = paid_card(books, split=[{"ref_code": ref_code, "percentage": "50"}])
    share = books.balance(f"beneficiary:{ref_code}:NGN")
    dispute = books.open(paying.txn_ref)
    books.end(dispute, "lost")
    assert dispute.amount == paying.payment.charged
    assert books.balance(f"beneficiary:{ref_code}:NGN") == share > 0


PLANS: dict[str, dict[str, Any]] = {
    "recurrent": {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "12"}},
    "installment": {
        "amount": None,
        "installment": {"payment_schedule": {"05-01-2026": 600, "05-02-2026": 400}, "total": "1000.00"},
    },
}


@pytest.mark.parametrize("kind", list(PLANS))
def test_a_dispute_of_the_first_charge_names_the_plan_that_it_started(books: InMemoryDisputes, kind: str) -> None:
    paying = paid_card(books, **PLANS[kind])
    dispute = books.open(paying.txn_ref)
    plan = books.plan()
    assert plan.first_ref == paying.txn_ref
    assert (dispute.plan_id, last_event(books).plan_id) == (plan.plan_id, plan.plan_id)


def test_a_dispute_of_a_plans_charge_names_the_plan_which_goes_on(books: InMemoryDisputes) -> None:
    paid_card(books, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    due = next(job for job in books.jobs() if job.kind == "recurrent.charge")
    books.now = due.due
    paying = PaymentInProgress(books, books.receive_answer(due, APPROVED))
    paying.receive_answer(APPROVED)
    dispute = books.open(paying.txn_ref)
    plan = books.plan()
    assert (dispute.plan_id, last_event(books).plan_id) == (plan.plan_id, plan.plan_id)
    books.end(dispute, "lost")
    assert books.plan().state == "active"


def test_payments_of_every_method_can_be_disputed(books: InMemoryDisputes) -> None:
    for method in ("account", "ussd", "phone", "qrpay", "bank_transfer"):
        paying = begin(books, method)
        paying.receive_answer(APPROVED)
        assert books.open(paying.txn_ref).method == method


# --- a wallet that does not cover it --------------------------------------------------------------------------------


@SPARE_CREDIT.tries
def test_a_dispute_is_covered_if_the_credit_is_what_the_wallet_lacks(value: int, is_within: bool) -> None:
    known = InMemoryDisputes(funds=0)
    paid = paid_card(known).txn_ref
    lacking = -known.wallet[0] + known.open(paid).total
    books = InMemoryDisputes(merchant(dispute_credit={"NGN": format_minor(lacking + value)}), funds=0)
    dispute = books.open(paid_card(books).txn_ref)
    assert dispute.total - dispute.covered == (0 if is_within else -value)


def test_what_the_wallet_lacks_is_lent_within_the_operators_credit() -> None:
    books = InMemoryDisputes(merchant(dispute_credit={"NGN": "1000.00"}), funds=0)
    paying = paid_card(books)
    there = books.wallet[0]
    dispute = books.open(paying.txn_ref)
    assert dispute.covered == there + 100_000 < dispute.total
    assert books.wallet == (there + 100_000, there + 100_000)
    assert books.balance("receivable:disputes:NGN") == -100_000
    assert "the wallet lacks" in books.notices[-1].message
    other = books.open(paid_card(books).txn_ref)
    assert books.balance("receivable:disputes:NGN") == -100_000, "the credit is used up"
    assert other.covered < other.total


def test_without_a_credit_the_wallet_never_goes_below_zero() -> None:
    books = InMemoryDisputes(funds=0)
    dispute = books.open(paid_card(books).txn_ref)
    there, held = books.wallet
    assert (held, dispute.covered) == (there, there)
    empty = books.open(paid_card(books, amount="100.00").txn_ref, amount="1.00")
    assert 0 < empty.covered < empty.total


def test_a_dispute_is_opened_also_if_the_wallet_is_empty() -> None:
    books = InMemoryDisputes(merchant(settlement_days=1), funds=0)
    paying = paid_card(books)
    dispute = books.open(paying.txn_ref)
    assert (dispute.covered, books.wallet) == (0, (0, 0))
    books.end(dispute, "lost")
    assert books.balance("receivable:disputes:NGN") == -dispute.total
    assert books.balance("income:dispute:NGN") == FEE
    books.fund(200_000)
    books.collect_debt()
    assert (books.wallet, books.balance("receivable:disputes:NGN")) == ((0, 0), 200_000 - dispute.total)
    books.fund(1_000_000)
    books.collect_debt()
    assert books.balance("receivable:disputes:NGN") == 0
    assert [job for job in books.jobs() if job.kind == "dispute.collect"] == []


def test_a_loan_for_a_dispute_that_is_won_is_paid_back_at_once() -> None:
    books = InMemoryDisputes(merchant(dispute_credit={"NGN": "100000.00"}), funds=0)
    paying = paid_card(books)
    there = books.wallet[0]
    dispute = books.open(paying.txn_ref)
    assert dispute.covered == dispute.total
    books.end(dispute, "won")
    books.collect_debt()
    assert (books.wallet, books.balance("receivable:disputes:NGN")) == ((there, 0), 0)


# --- responding -----------------------------------------------------------------------------------------------------


def test_accepting_takes_the_money_at_once(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    dispute = books.open(paying.txn_ref)
    before = books.wallet[0]
    accepted = books.respond(dispute, accept=True)
    assert accepted.reply.data.state == "accepted"
    assert books.wallet == (before - dispute.total, 0)
    assert (books.balance("income:dispute:NGN"), paying.payment.disputed) == (FEE, 150_000)
    assert (books.job_of(dispute), last_event(books).step) == (None, "accepted")
    assert books.respond(dispute, accept=True) == ALREADY_ANSWERED


def test_evidence_is_sealed_and_waits_for_the_bank(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref)
    files = [file_of(PNG), file_of(PDF, "a.pdf"), file_of(JPEG)]
    answered = books.respond(dispute, evidence={**EVIDENCE, "files": files})
    assert answered.reply.data.state == "under_review"
    kept = books.dispute(dispute.dispute_id)
    assert kept.evidence_sealed is not None
    assert b"parcel" not in kept.evidence_sealed
    texts = EVIDENCE_DECODER.decode(VAULT.unseal(7, evidence_aad(kept.dispute_id), kept.evidence_sealed))
    assert (texts.explanation, texts.file_names) == ("The parcel was delivered.", ("receipt", "a.pdf", "receipt"))
    stored = books.of_type(DisputeFile)
    assert [row.media_type for row in stored] == ["image/png", "application/pdf", "image/jpeg"]
    plain = [VAULT.unseal(7, file_aad(kept.dispute_id, row.place), row.content_sealed) for row in stored]
    assert plain == [PNG, PDF, JPEG]
    assert books.respond(dispute, accept=True) == ALREADY_ANSWERED


@pytest.mark.parametrize(
    "answer",
    [{}, {"accept": False}, {"accept": True, "evidence": EVIDENCE}],
    ids=["nothing", "not accepted", "both"],
)
def test_an_answer_is_to_accept_or_evidence(books: InMemoryDisputes, answer: dict[str, Any]) -> None:
    assert books.respond(books.open(paid_card(books).txn_ref), **answer) == ONE_ANSWER


@pytest.mark.parametrize(
    ("evidence", "fields"),
    [
        ({"files": [file_of(b"MZ\x90 a program")]}, ["evidence.files.0.content"]),
        ({"files": [file_of(PNG + bytes(MAX_FILE_BYTES))]}, ["evidence.files.0.content"]),
        ({"files": [{"name": "x", "content": "not base64!"}, file_of(PDF)]}, ["evidence.files.0.content"]),
        ({"files": [{"name": "", "content": "JVBERi0"}]}, ["evidence.files.0.name", "evidence.files.0.content"]),
        ({"files": [file_of(PDF)] * 6}, ["evidence.files"]),
        ({"explanation": "x" * 5_001, "customer_email": "ada"}, ["evidence.explanation", "evidence.customer_email"]),
    ],
    ids=["a program", "too large", "not base64", "two faults", "six files", "texts"],
)
def test_every_fault_of_the_evidence_is_named(
    books: InMemoryDisputes, evidence: dict[str, Any], fields: list[str]
) -> None:
    dispute = books.open(paid_card(books).txn_ref)
    assert sorted(fields_of(books.respond(dispute, evidence=evidence))) == sorted(fields)
    assert books.dispute(dispute.dispute_id).state == "needs_response"


def test_evidence_without_content_is_refused(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref)
    assert books.respond(dispute, evidence={"files": []}) == EMPTY_EVIDENCE


def test_the_largest_file_is_accepted() -> None:
    assert detect_media_type(PNG + bytes(8)) == "image/png"
    books = InMemoryDisputes()
    dispute = books.open(paid_card(books).txn_ref)
    whole = PNG + bytes(MAX_FILE_BYTES - len(PNG))
    assert isinstance(books.respond(dispute, evidence={"files": [file_of(whole)]}), Decision)


def test_an_unknown_dispute_is_neither_answered_nor_decided(books: InMemoryDisputes) -> None:
    assert books.send(RESPOND, dispute_id="GP|DS|1", accept=True) == UNKNOWN_DISPUTE
    assert books.send(OUTCOME, dispute_id="GP|DS|1", outcome="won") == UNKNOWN_DISPUTE


# --- the deadline ---------------------------------------------------------------------------------------------------


def test_a_dispute_is_answered_within_168_hours() -> None:
    for seconds, is_within in DISPUTE_SECONDS.sides:
        books = InMemoryDisputes()
        dispute = books.open(paid_card(books).txn_ref)
        books.later(seconds=seconds)
        assert (books.respond(dispute, accept=True) != TOO_LATE) == is_within, seconds


def test_reminders_come_48_and_12_hours_before_the_deadline(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref)
    for hours in (48, 12):
        job = books.job_of(dispute)
        assert job is not None
        assert dispute.due_at - job.due == timedelta(hours=hours)
        books.run_job(job)
        assert last_event(books).step == "reminder"
    job = books.job_of(dispute)
    assert job is not None
    assert job.due == dispute.due_at
    before = books.wallet[0]
    books.run_job(job)
    assert (books.dispute(dispute.dispute_id).state, last_event(books).step) == ("expired", "expired")
    assert books.wallet == (before - dispute.total, 0)
    assert books.respond(dispute, accept=True) == TOO_LATE


def test_a_short_deadline_has_the_reminders_that_lie_ahead(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref, hours=24)
    job = books.job_of(dispute)
    assert job is not None
    assert dispute.due_at - job.due == timedelta(hours=12)
    soon = books.open(paid_card(books).txn_ref, hours=1)
    job = books.job_of(soon)
    assert job is not None
    assert job.due == soon.due_at


def test_after_days_without_a_worker_the_deadline_counts_and_no_reminder_comes(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref)
    job = books.job_of(dispute)
    assert job is not None
    books.later(days=30)
    books.run_job(job)
    assert [event.object_seq for event in books.events if event.object == dispute.dispute_id] == [1, 2]
    assert books.dispute(dispute.dispute_id).state == "expired"


def test_a_response_after_the_deadline_is_refused_also_before_the_job_has_run(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref, hours=1)
    books.later(hours=1)
    assert books.respond(dispute, evidence=EVIDENCE) == TOO_LATE
    assert books.dispute(dispute.dispute_id).state == "needs_response"


def test_a_deadline_job_that_comes_after_the_response_changes_nothing(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref, hours=1)
    late = books.job_of(dispute)
    assert late is not None
    books.respond(dispute, evidence=EVIDENCE)
    before = dict(books.rows)
    books.run_job(late)
    assert {key: books.rows[key] for key in before} == before


def test_the_operator_hears_of_evidence_and_of_a_review_that_takes_long(books: InMemoryDisputes) -> None:
    dispute = books.open(paid_card(books).txn_ref)
    books.respond(dispute, evidence=EVIDENCE)
    assert "evidence came" in books.notices[-1].message
    for count in (2, 3):
        job = books.job_of(dispute)
        assert job is not None
        books.run_job(job)
        assert len(books.notices) == count
        assert "has no outcome" in books.notices[-1].message
    books.end(dispute, "won")
    assert books.job_of(dispute) is None


# --- the outcome ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answers_first", [True, False])
@pytest.mark.parametrize("outcome", ["won", "lost"])
def test_the_bank_decides_once(books: InMemoryDisputes, outcome: str, answers_first: bool) -> None:
    paying = paid_card(books)
    before = books.wallet[0]
    dispute = books.open(paying.txn_ref)
    if answers_first:
        books.respond(dispute, evidence=EVIDENCE)
    assert books.end(dispute, outcome).reply.data.state == outcome
    assert books.wallet == (before - (0 if outcome == "won" else dispute.total), 0)
    assert books.end(dispute, outcome) == ALREADY_ENDED
    assert books.respond(dispute, accept=True) == ALREADY_ENDED


@without_deadline(100)
@given(
    st.integers(0, 400_000),
    st.integers(0, 400_000),
    st.lists(st.tuples(st.integers(1, 60_000), st.sampled_from(["won", "lost", "accept", "expire"])), max_size=4),
)
def test_whatever_the_wallet_has_the_books_balance(funds: int, credit: int, disputes: list[tuple[int, str]]) -> None:
    books = InMemoryDisputes(merchant(dispute_credit={"NGN": f"{credit / 100:.2f}"}), funds=funds)
    paying = paid_card(books)
    start = books.wallet[0]
    taken = 0
    for amount, ending in disputes:
        if amount > paying.payment.undisputed:
            continue
        dispute = books.open(paying.txn_ref, amount=f"{amount / 100:.2f}")
        assert books.wallet[0] >= books.wallet[1] >= 0
        assert -books.balance("receivable:disputes:NGN") <= credit + taken
        taken += 0 if ending == "won" else dispute.total
        if ending == "accept":
            books.respond(dispute, accept=True)
        elif ending == "expire":
            books.later(days=30)
            job = books.job_of(dispute)
            assert job is not None
            books.run_job(job)
        else:
            books.end(dispute, ending)
    assert books.wallet[0] + books.balance("receivable:disputes:NGN") == start - taken
    assert books.wallet[1] == 0


# --- a rail's disputes ----------------------------------------------------------------------------------------------


def test_an_announced_dispute_is_opened_once_and_ended_by_the_rail(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    dispute_id = books.announce(paying.txn_ref).reply.data.dispute_id
    dispute = books.dispute(dispute_id)
    assert (dispute.amount, dispute.rail_dispute_id) == (50_000, "77")
    assert dispute.due_at - books.now == timedelta(hours=30)
    books.announce(paying.txn_ref)
    assert (books.dispute(dispute_id), paying.payment.disputed) == (dispute, 50_000)
    books.announce(paying.txn_ref, outcome="lost")
    lost = books.dispute(dispute_id)
    assert lost.state == "lost"
    books.announce(paying.txn_ref, outcome="lost")
    assert (books.dispute(dispute_id), books.notices) == (lost, [])


def test_an_announced_dispute_of_money_that_is_gone_is_a_notice(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    books.put("refund", txnRef=paying.txn_ref, amount="1200.00")
    opened = books.announce(paying.txn_ref).reply.data
    assert opened.amount == "300.00"
    assert "only 300.00 is left" in books.notices[-1].message
    other = paid_card(books)
    books.put("refund", txnRef=other.txn_ref, amount="1500.00")
    decided = books.announce(other.txn_ref, rail_dispute_id="78", amount=None, due_at=None)
    assert isinstance(decided, Decision)
    assert decided.reply is None
    assert "is not opened here" in books.notices[-1].message


def test_a_dispute_that_was_won_before_it_was_announced_is_not_opened(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    books.announce(paying.txn_ref, outcome="won")
    assert paying.payment.disputed == 0


# --- filed by the holder of a card issued here ------------------------------------------------------------------------


def test_a_cardholders_dispute_that_could_not_be_ended_is_a_notice_about_no_money(books: InMemoryDisputes) -> None:
    paying = paid_card(books)
    filed = ShopDispute("9 DI1", f"{books.merchant.merchant_id} {paying.txn_ref}", 150_000, "not received")
    opened = books.decide(need_cardholder_dispute(filed, books.merchant), partial(decide_filed, filed))
    assert isinstance(opened, Decision), opened
    [dispute] = [row for row in books.rows.values() if isinstance(row, Dispute)]
    books.end(dispute, "won")
    [job] = [job for job in books.jobs() if job.kind == TELL_CARD]
    books.run_job(job, Answer(orders.NOT_FOUND, "25", "Unable to locate record"))
    [text] = [notice.message for notice in books.notices if notice.reference == dispute.dispute_id]
    assert ("0.00" in text, "the shop has won" in text) == (False, True)
    assert [job for job in books.jobs() if job.kind == TELL_CARD] == []
