"""Where a payment's money goes: parts, rest, settlement days and payouts, to the last kobo.

Contract: #fx, payment#split
"""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Job
from kasuwa.core.transactions import Transaction
from kasuwa.methods.payment.settlement_model import SettlementBatch
from kasuwa.rails.ports import Answer
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    DECLINED,
    NOBODY_ASKED,
    SILENT,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    charge_token,
    fields_of,
    paid_card,
)
from tests.rule_context import NOW, merchant

LATER = merchant(settlement_days=1)


def beneficiary(desk: InMemoryPayments, name: str = "Bola Ade") -> str:
    said = desk.put("beneficiary", name=name, bankcode="058", accountnumber="0000000000")
    return str(said.reply.ref_code)


def due_jobs(desk: InMemoryPayments) -> list[Job]:
    return sorted((job for job in desk.jobs() if job.lane == "schedule"), key=lambda job: job.due)


def run_next(desk: InMemoryPayments) -> Any:
    job = due_jobs(desk)[0]
    desk.now = max(desk.now, job.due)
    return desk.receive_answer(job, NOBODY_ASKED)


def transfer_of(decision: Any) -> Transaction:
    return next(row for row in decision.rows if isinstance(row, Transaction))


def answer_transfer(desk: InMemoryPayments, decision: Any, answer: Answer) -> Any:
    (job,) = desk.jobs(transfer_of(decision).key)
    return desk.receive_answer(job, answer)


def of_beneficiary(desk: InMemoryPayments, ref_code: str) -> int:
    return desk.balance(f"beneficiary:{ref_code}:NGN")


# --- who may get a part ---------------------------------------------------------------------------------------------


def test_a_beneficiary_has_a_code_and_an_account_that_can_exist() -> None:
    desk = InMemoryPayments()
    assert beneficiary(desk).startswith("RS")
    assert beneficiary(desk) != beneficiary(desk)
    assert fields_of(desk.put("beneficiary", name="A", bankcode="xyz", accountnumber="0000000000")) == ["bankcode"]
    assert fields_of(desk.put("beneficiary", name="A", bankcode="058", accountnumber="0123456780")) == ["accountnumber"]


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ([{"percentage": "60"}, {"percentage": "40.01"}], "split"),
        ([{"share": "1500.01"}, {"percentage": "1"}], "split"),
        ([{"percentage": "0"}, {"percentage": "1"}], "split.0"),
        ([{"percentage": "100.5"}, {"percentage": "1"}], "split.0"),
        ([{}, {"percentage": "1"}], "split.0"),
        ([{"percentage": "1"}, {"percentage": "1", "share": "2.00"}], "split.1"),
    ],
)
def test_parts_that_cannot_be_are_refused(parts: list[dict[str, str]], field: str) -> None:
    desk = InMemoryPayments()
    named = [{"ref_code": beneficiary(desk), **part} for part in parts]
    for method in ("qrpay", "phone"):
        body = {"phonenumber": "08031234567"} if method == "phone" else {}
        refused = desk.put("charge", method, amount="1500.00", split=named, **body)
        assert fields_of(refused) == [field]


def test_nobody_is_named_twice_and_only_naira_is_split() -> None:
    desk = InMemoryPayments()
    code = beneficiary(desk)
    twice = [{"ref_code": code, "percentage": "1"}] * 2
    assert fields_of(desk.put("charge", "qrpay", amount="10.00", split=twice)) == ["split"]
    token = paid_card(desk).payment.token
    dollars = desk.put("charge", "token", token=token, amount="10.00", currency="USD", split=twice[:1])
    assert fields_of(dollars) == ["split"]


def test_a_share_must_fit_every_instalment_and_not_the_first_alone() -> None:
    desk = InMemoryPayments()
    token = paid_card(desk).payment.token
    schedule = {"05-01-2026": "900.00", "06-01-2026": "100.00"}
    said = {"token": token, "installment": {"payment_schedule": schedule, "total": "1000.00"}}
    code = beneficiary(desk)
    refused = desk.put("charge", "token", **said, split=[{"ref_code": code, "share": "101.00"}])
    assert fields_of(refused) == ["split"]
    PaymentInProgress(desk, desk.put("charge", "token", **said, split=[{"ref_code": code, "fixed": "50.00"}]))


def test_with_nothing_due_today_a_share_is_held_against_what_comes() -> None:
    desk = InMemoryPayments()
    token = paid_card(desk).payment.token
    said = {"token": token, "installment": {"payment_schedule": {"06-01-2026": 100}, "total": "1000.00"}}
    PaymentInProgress(
        desk, desk.put("charge", "token", **said, split=[{"ref_code": beneficiary(desk), "share": "900.00"}])
    )


def test_a_tariff_that_rose_since_takes_from_the_last_part_and_never_breaks_a_plan() -> None:
    desk = InMemoryPayments()
    first, second = beneficiary(desk), beneficiary(desk)
    parts = [{"ref_code": first, "share": "1000.00"}, {"ref_code": second, "share": "470.00"}]
    paid_card(desk, split=parts, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    dearer = {"collection": {"card_local": {"percent": "10", "flat": "0", "cap": None}}}
    desk.merchant = merchant(tariff=dearer)
    job = next(job for job in due_jobs(desk) if job.kind == "recurrent.charge")
    desk.now = job.due
    paying = PaymentInProgress(desk, desk.receive_answer(job, NOBODY_ASKED))
    wallet = desk.balance("wallet:main:NGN")
    paying.receive_answer(APPROVED)
    assert paying.row.status == "successful"
    assert of_beneficiary(desk, first) == 200_000
    assert of_beneficiary(desk, second) == 47_000 + paying.payment.settled - 100_000
    assert desk.balance("wallet:main:NGN") == wallet


# --- parts and rest -------------------------------------------------------------------------------------------------

PARTS = st.lists(
    st.one_of(
        st.integers(1, 4_000).map(lambda n: {"percentage": f"{n / 100:.2f}"}),
        st.integers(1, 30_000).map(lambda n: {"share": f"{n / 100:.2f}"}),
    ),
    min_size=1,
    max_size=5,
)


@given(PARTS, st.integers(100, 2_000_000), st.sampled_from([0, 1, 3]), st.sampled_from(["merchant", "customer"]))
@without_deadline(200)
def test_parts_and_rest_are_what_is_settled_and_all_of_it_is_posted(
    parts: list[dict[str, str]], amount: int, days: int, bearer: str
) -> None:
    desk = InMemoryPayments(of=merchant(settlement_days=days))
    codes = [beneficiary(desk) for _ in parts]
    split = [{"ref_code": code, **part} for code, part in zip(codes, parts, strict=True)]
    asked = desk.put("charge", "qrpay", amount=f"{amount / 100:.2f}", split=split, bearer=bearer)
    if not hasattr(asked, "rows"):
        assert fields_of(asked) == ["split"]
        return
    paying = PaymentInProgress(desk, asked)
    paying.receive_answer(APPROVED)
    shares = [of_beneficiary(desk, code) for code in codes]
    place = next((name for name in desk.balances() if name.startswith(("settling:", "wallet:"))), "wallet:main:NGN")
    assert sum(shares) + desk.balance(place) == paying.payment.settled
    assert place.startswith("settling:") == bool(days) or not desk.balance(place)
    gathered = {(row.kind, row.owner): row.amount for row in desk.of_type(SettlementBatch)}
    expected = {("payout", code): share for code, share in zip(codes, shares, strict=True) if share}
    if days and desk.balance(place):
        expected["settlement", "merchant"] = desk.balance(place)
    assert gathered == expected
    run_all(desk)
    assert desk.balances().keys() <= {
        *("rail:mobile:NGN", "rail:bank:NGN", "wallet:main:NGN", "income:collection:NGN", "tax:vat:NGN")
    }
    assert desk.balance("rail:bank:NGN") == sum(shares)
    assert desk.balance("wallet:main:NGN") == paying.payment.settled - sum(shares)


def run_all(desk: InMemoryPayments) -> None:
    while due_jobs(desk):
        decision = run_next(desk)
        if any(isinstance(row, Transaction) for row in decision.rows):
            answer_transfer(desk, decision, APPROVED)


# --- days -----------------------------------------------------------------------------------------------------------


def test_payments_of_one_day_are_gathered_into_one_settlement() -> None:
    desk = InMemoryPayments(of=LATER)
    payments = [paid_card(desk) for _ in range(3)]
    (job,) = due_jobs(desk)
    (gathering,) = desk.of_type(SettlementBatch)
    assert gathering.amount == sum(paying.payment.settled for paying in payments)
    assert f"{job.due.isoformat()}" == "2026-01-06T08:00:00+00:00"
    run_next(desk)
    assert (desk.balance("settling:20260106:NGN"), desk.balance("wallet:main:NGN")) == (0, gathering.amount)
    assert desk.receive_answer(job, NOBODY_ASKED).groups == ()


def test_a_part_is_paid_out_the_day_after_it_is_settled_free_of_charge() -> None:
    for days, expected in ((0, "20260106"), (1, "20260107")):
        desk = InMemoryPayments(of=merchant(settlement_days=days))
        code = beneficiary(desk)
        begin(desk, "qrpay", split=[{"ref_code": code, "percentage": "50"}]).receive_answer(APPROVED)
        payout = next(row for row in desk.of_type(SettlementBatch) if row.kind == "payout")
        assert (payout.day, payout.owner) == (expected, code)
        while due_jobs(desk)[0].kind != "payout.send":
            run_next(desk)
        sent = run_next(desk)
        row = transfer_of(sent)
        assert (row.amount, row.fee, row.vat) == (payout.amount, 0, 0)
        assert desk.account(f"beneficiary:{code}:NGN").held == payout.amount
        answer_transfer(desk, sent, APPROVED)
        assert of_beneficiary(desk, code) == 0
        assert {row.state for row in desk.of_type(SettlementBatch)} == {"done"}


def test_a_payout_that_fails_is_tried_again_the_next_day_and_an_operator_told() -> None:
    desk = InMemoryPayments()
    code = beneficiary(desk)
    begin(desk, "qrpay", split=[{"ref_code": code, "percentage": "50"}]).receive_answer(APPROVED)
    sent = run_next(desk)
    answer_transfer(desk, sent, SILENT)
    assert [row.state for row in desk.of_type(SettlementBatch)] == ["sent"]
    answer_transfer(desk, sent, DECLINED)
    assert [row.state for row in desk.of_type(SettlementBatch)] == ["due"]
    assert "is tried again tomorrow" in desk.notices[0].what
    (job,) = due_jobs(desk)
    assert lagos_day(job.due) == lagos_day(NOW) + timedelta(days=2)
    again = run_next(desk)
    assert transfer_of(again).txn_ref != transfer_of(sent).txn_ref
    answer_transfer(desk, again, APPROVED)
    assert (of_beneficiary(desk, code), desk.balance("rail:bank:NGN")) == (0, transfer_of(sent).amount)


def test_what_comes_while_a_payout_fails_is_a_payout_of_its_own_day() -> None:
    desk = InMemoryPayments()
    code = beneficiary(desk)
    part = [{"ref_code": code, "percentage": "50"}]
    begin(desk, "qrpay", split=part).receive_answer(APPROVED)
    sent = run_next(desk)
    begin(desk, "qrpay", split=part).receive_answer(APPROVED)
    answer_transfer(desk, sent, DECLINED)
    assert sum(row.amount for row in desk.of_type(SettlementBatch)) == of_beneficiary(desk, code)
    run_all(desk)
    assert of_beneficiary(desk, code) == 0


def test_a_payment_made_again_by_a_token_splits_as_it_was_told() -> None:
    desk = InMemoryPayments()
    token = paid_card(desk).payment.token
    assert token is not None
    code = beneficiary(desk)
    paying = charge_token(desk, token, split=[{"ref_code": code, "share": "100.00"}])
    paying.receive_answer(APPROVED)
    assert of_beneficiary(desk, code) == 10_000
    assert msgspec.json.decode(paying.payment.detail)["split"][0]["share"] == 10_000
