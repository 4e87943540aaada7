"""Decisions on a biller's answer to a bill: every answer, at every age, in every status."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import HeldAmount, Posting, PostingGroup
from kasuwa.core.money import format_minor
from kasuwa.methods.bills.model import INCOME, QUERY, RAIL, SEND, VAT, WALLET, Voucher, voucher_aad
from kasuwa.methods.bills.rules.on_biller_answer import seal_delivery
from kasuwa.methods.bills.rules.pay_bill import WALLET_INSUFFICIENT
from kasuwa.methods.bills.wire import BillDelivery
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import FAILED, PENDING, SUCCESSFUL, Transaction
from tests.methods.bills.payments import AIRTIME_100, EXAM, POSTPAID, PREPAID, SentBill, listed
from tests.rule_context import context

DAY = 24 * 3600
TOKEN = {"token": "12345678901234567890", "units": "23.89"}

DELIVERED = Answer(orders.SUCCESSFUL, "00", "Delivered", TOKEN)
EMPTY_HANDED = Answer(orders.SUCCESSFUL, "00", "Delivered")
DECLINED = Answer(orders.FAILED, "16", "Refused")
IN_PROGRESS = Answer(orders.UNKNOWN, "09", "The biller is still at it")
SILENT = Answer(orders.UNKNOWN, None, "The rail has not answered")
NOT_FOUND = Answer(orders.NOT_FOUND, "25", "No such order")
GIBBERISH = Answer(orders.UNREADABLE, "ZZ", "The biller's answer could not be read")
REFUSED = Answer(orders.UNAVAILABLE, None, "The rail is not available")
OPEN = [IN_PROGRESS, SILENT, NOT_FOUND, GIBBERISH, REFUSED, EMPTY_HANDED]


# --- the end ----------------------------------------------------------------------------------------------------


HELD = HeldAmount(WALLET, 510_750)


def test_a_success_posts_amount_fee_vat_and_commission_under_the_hold() -> None:
    sent = SentBill.new()
    decision = sent.receive_answer(DELIVERED)
    posts = (
        Posting(WALLET, RAIL, 500_000, "bill"),
        Posting(WALLET, INCOME, 10_000, "bill fee"),
        Posting(WALLET, VAT, 750, "bill VAT"),
        Posting(RAIL, WALLET, 7_500, "bill commission"),
    )
    assert decision.groups == (PostingGroup(sent.row.txn_ref, WALLET_INSUFFICIENT, postings=posts, releases=HELD),)
    row = decision.rows[0]
    assert isinstance(row, Transaction)
    assert (row.status, row.code, row.message) == (SUCCESSFUL, "00", "Bill Payment Successful")
    assert (decision.jobs_done, decision.jobs) == ((sent.job,), ())


@given(
    amount=st.integers(50_000, 100_000_000),
    fee=st.integers(0, 100_000),
    discount=st.decimals(0, 100, places=2).map(str),
)
def test_the_whole_hold_is_posted_and_the_commission_is_part_of_the_amount(
    amount: int, fee: int, discount: str
) -> None:
    sent = SentBill.new(amount=format_minor(amount), of=listed(PREPAID, fee=fee, discount=discount))
    (group,) = sent.receive_answer(DELIVERED).groups
    assert sum(post.amount for post in group.postings if post.debit == WALLET) == sent.row.held
    back = sum(post.amount for post in group.postings if post.credit == WALLET)
    assert 0 <= back <= amount
    assert abs(back * 10_000 - amount * int(discount.replace(".", ""))) <= 5_000


def test_what_costs_nothing_is_not_posted() -> None:
    (group,) = SentBill.new(AIRTIME_100).receive_answer(EMPTY_HANDED).groups
    assert group.postings == (Posting(WALLET, RAIL, 10_000, "bill"), Posting(RAIL, WALLET, 300, "bill commission"))


def test_a_failure_gives_the_hold_back_and_says_why() -> None:
    sent = SentBill.new()
    decision = sent.receive_answer(DECLINED)
    assert decision.groups == (PostingGroup(sent.row.txn_ref, WALLET_INSUFFICIENT, postings=(), releases=HELD),)
    assert (decision.reply.txn_status, decision.reply.message) == (FAILED, "The biller: Refused")
    assert decision.reply.commission == "0.00"
    assert len(decision.rows) == 1


def test_the_end_writes_one_event_and_its_delivery_where_somebody_listens() -> None:
    for has_webhook in (False, True):
        decision = SentBill.new(given=context(has_webhook=has_webhook)).receive_answer(DELIVERED)
        (event,) = decision.events
        payload = msgspec.json.decode(event.payload)
        assert (event.kind, payload["paymentMethod"], payload["orderRef"]) == ("bill", "bill", "bill-1042")
        assert (payload["txnStatus"], payload["chargedAmount"], payload["endpoint"]) == (
            "successful",
            "5000.00",
            "test",
        )
        assert len(decision.jobs) == has_webhook


# --- what was delivered -----------------------------------------------------------------------------------------


def test_a_token_is_sealed_into_its_own_row_and_shown_in_the_reply() -> None:
    sent = SentBill.new()
    decision = sent.receive_answer(DELIVERED)
    voucher = decision.rows[1]
    assert isinstance(voucher, Voucher)
    opened = context().unseal(voucher_aad(sent.row.txn_ref), voucher.sealed)
    assert msgspec.json.decode(opened) == TOKEN
    assert (decision.reply.token, decision.reply.units) == (TOKEN["token"], TOKEN["units"])


def test_a_pin_is_kept_likewise() -> None:
    decision = SentBill.new(EXAM).receive_answer(Answer(orders.SUCCESSFUL, "00", "Delivered", {"pin": "123456789012"}))
    assert (decision.reply.pin, decision.reply.token) == ("123456789012", msgspec.UNSET)
    assert len(decision.rows) == 2


def test_what_was_delivered_is_nowhere_but_in_the_reply_and_under_seal() -> None:
    decision = SentBill.new(given=context(has_webhook=True)).receive_answer(DELIVERED)
    besides = msgspec.structs.replace(decision, reply=None)
    assert TOKEN["token"] in repr(decision.reply)
    assert TOKEN["token"] not in repr(besides)
    assert TOKEN["units"] not in repr(besides)


@pytest.mark.parametrize("name", [POSTPAID, AIRTIME_100])
def test_an_item_without_a_delivery_stores_none(name: str) -> None:
    assert len(SentBill.new(name).receive_answer(DELIVERED).rows) == 1
    assert len(SentBill.new(name).receive_answer(EMPTY_HANDED).rows) == 1


@pytest.mark.parametrize("name", [PREPAID, EXAM])
def test_a_delivery_that_tells_no_token_is_asked_for_it_and_stays_open(name: str) -> None:
    sent = SentBill.new(name)
    decision = sent.receive_answer(EMPTY_HANDED, 1)
    assert (decision.reply.txn_status, decision.groups, decision.events) == (PENDING, (), ())
    (job,) = decision.jobs
    assert (job.kind, job.due) == (QUERY, sent.row.created_at + timedelta(seconds=5))


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        (PREPAID, {"token": "1234567890123456789", "units": "1"}),
        (PREPAID, {"token": "123456789012345678901"}),
        (PREPAID, {"token": "12345678901234567890\n"}),
        (PREPAID, {"token": "1234-5678-9012-3456-7890"}),
        (PREPAID, {"token": "٠" * 20}),
        (PREPAID, {**TOKEN, "units": "many"}),
        (PREPAID, {**TOKEN, "units": "-1"}),
        (PREPAID, {**TOKEN, "units": "NaN"}),
        (EXAM, {"pin": " "}),
        (EXAM, {"pin": "1" * 101}),
        (EXAM, {"pin": "12\x0034"}),
        (EXAM, {"pin": "1234\n"}),
    ],
)
def test_a_malformed_token_or_pin_is_an_unreadable_answer(name: str, facts: dict[str, str]) -> None:
    sent = SentBill.new(name)
    decision = sent.receive_answer(Answer(orders.SUCCESSFUL, "00", "Delivered", facts), 1)
    assert (decision.reply.status, decision.reply.txn_status) == (201, PENDING)
    assert (decision.reply.token, decision.reply.pin) == (msgspec.UNSET, msgspec.UNSET)
    assert (decision.groups, decision.events, decision.jobs_done) == ((), (), ())
    (job,) = decision.jobs
    assert (job.kind, job.due) == (QUERY, sent.row.created_at + timedelta(seconds=5))
    good = DELIVERED if name == PREPAID else Answer(orders.SUCCESSFUL, "00", "Delivered", {"pin": "WRC 1234-5678"})
    assert sent.after(decision).receive_answer(good, 5).reply.txn_status == SUCCESSFUL


def test_a_failure_is_one_whatever_comes_with_it() -> None:
    decision = SentBill.new().receive_answer(Answer(orders.FAILED, "16", "The biller refused it", {"token": "none"}))
    assert (decision.reply.status, decision.reply.txn_status) == (200, FAILED)


@pytest.mark.parametrize("units", ["0", "23", "23.8", "999999999.9999"])
def test_units_are_any_number(units: str) -> None:
    decision = SentBill.new().receive_answer(Answer(orders.SUCCESSFUL, "00", "Delivered", {**TOKEN, "units": units}))
    assert (decision.reply.txn_status, decision.reply.units) == (SUCCESSFUL, units)


def test_of_what_else_a_biller_tells_nothing_is_kept() -> None:
    besides = {**TOKEN, "pin": "\x00", "debt": "none"}
    decision = SentBill.new().receive_answer(Answer(orders.SUCCESSFUL, "00", "Delivered", besides))
    assert (decision.reply.token, decision.reply.pin) == (TOKEN["token"], msgspec.UNSET)


# --- nothing is known yet ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", OPEN, ids=lambda answer: f"{answer.status} {answer.code}")
def test_whatever_is_no_end_leaves_the_bill_pending_and_moves_nothing(answer: Answer) -> None:
    sent = SentBill.new()
    decision = sent.receive_answer(answer, 1)
    assert (decision.groups, decision.events, decision.jobs_done) == ((), (), ())
    assert decision.reply.txn_status == PENDING
    assert decision.reply.status == (201 if answer is GIBBERISH else 200)
    (job,) = decision.jobs
    assert job.kind == (SEND if answer is REFUSED else QUERY)
    assert job.due == sent.row.created_at + timedelta(seconds=5)


@pytest.mark.parametrize(("age", "status"), [(5, PENDING), (DAY - 1, PENDING), (DAY, FAILED)])
def test_not_found_counts_as_failed_after_a_day(age: float, status: str) -> None:
    sent = SentBill.new()
    lost = sent.after(sent.receive_answer(SILENT, 0))
    assert lost.receive_answer(NOT_FOUND, age).reply.txn_status == status


def test_the_day_begins_when_a_bill_that_was_refused_for_days_has_left() -> None:
    refused = SentBill.new()
    for age in (0.0, DAY, 2.0 * DAY):
        refused = refused.after(refused.receive_answer(REFUSED, age))
        assert refused.job.kind == SEND
    lost = refused.after(refused.receive_answer(SILENT, 2.5 * DAY))
    assert lost.receive_answer(NOT_FOUND, 3.5 * DAY - 1).reply.txn_status == PENDING
    assert lost.receive_answer(NOT_FOUND, 3.5 * DAY).reply.txn_status == FAILED


# --- final is final -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "answer"), [(SUCCESSFUL, DECLINED), (FAILED, DELIVERED)])
def test_an_answer_that_contradicts_a_final_state_changes_nothing_and_is_noted(status: str, answer: Answer) -> None:
    sent = SentBill.new()
    sent.row = msgspec.structs.replace(sent.row, status=status)
    decision = sent.receive_answer(answer, job_is_gone=True)
    assert (decision.groups, decision.rows, decision.events) == ((), (), ())
    assert [notice.reference for notice in decision.notices] == [sent.row.txn_ref]


def test_a_late_answer_to_a_delivered_bill_replies_with_its_delivery() -> None:
    sent = SentBill.new()
    sent.row = msgspec.structs.replace(sent.row, status=SUCCESSFUL)
    voucher = seal_delivery(sent.row, BillDelivery(token="9" * 20), context())
    decision = sent.receive_answer(DELIVERED, 1.0, voucher, job_is_gone=True)
    assert (decision.reply.token, decision.notices) == ("9" * 20, ())
