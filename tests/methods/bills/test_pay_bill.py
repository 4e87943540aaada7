"""The rules of a bill that is paid: what is refused, what is held, and what a repeat gets.

Contract: #repeats, #rates, bills#pay
"""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, FieldError, HeldAmount, Refusal, SandboxEffects
from kasuwa.core.references import is_reference
from kasuwa.core.scenario import InjectedFault, Scenario
from kasuwa.methods.bills.model import JOB_DATA_DECODER, SEND, WALLET, BillDetail, DuplicateGuard
from kasuwa.methods.bills.rules.on_biller_answer import seal_delivery
from kasuwa.methods.bills.rules.pay_bill import LIKELY_DUPLICATE, REFERENCE_USED, UNKNOWN_PAYCODE, WALLET_INSUFFICIENT
from kasuwa.methods.bills.wire import BillDelivery, PayReply
from kasuwa.transactions.transactions import FAILED, PENDING, SUCCESSFUL, Transaction
from tests.methods.bills.payments import (
    AIRTIME,
    AIRTIME_100,
    EXAM,
    METER,
    PREPAID,
    TELEVISION,
    SentBill,
    decide,
    decided,
    guard_of,
    key_of,
    listed,
    payment,
)
from tests.rule_context import NOW, context, merchant
from tests.walk.bounds import BILLER_AMOUNT, DUPLICATE_SECONDS


def row_of(decision: Decision) -> Transaction:
    row = decision.rows[0]
    assert isinstance(row, Transaction)
    return row


def faults_of(name: str, given: Any = None, **changes: Any) -> dict[str, str]:
    outcome = decide(payment(name, **changes), listed(name), given)
    return {fault.field: fault.reason for fault in outcome.field_errors} if isinstance(outcome, Refusal) else {}


# --- what may be asked ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", [None, listed(PREPAID, accepted=False)], ids=["never listed", "a day too old"])
def test_a_paycode_that_is_not_accepted_is_named(item: Any) -> None:
    assert decide(payment(), item) is UNKNOWN_PAYCODE
    assert (UNKNOWN_PAYCODE.code, UNKNOWN_PAYCODE.field_errors[0].field) == (104, "paycode")


@BILLER_AMOUNT.tries
def test_an_open_amount_is_bounded_by_its_biller(value: str, is_within: bool) -> None:
    outcome = decide(payment(PREPAID, amount=value), listed(PREPAID))
    if is_within:
        assert isinstance(outcome, Decision)
    else:
        assert isinstance(outcome, Refusal)
        assert outcome.field_errors == (FieldError("amount", "between 500.00 and 1000000.00"),)


def test_an_open_amount_is_required() -> None:
    outcome = decide(msgspec.structs.replace(payment(PREPAID), amount=None), listed(PREPAID))
    assert isinstance(outcome, Refusal)
    assert outcome.field_errors == (FieldError("amount", "required: this item has no fixed price"),)


@pytest.mark.parametrize("amount", [None, "100", "100.00"])
def test_a_fixed_price_is_taken_or_left_out(amount: str | None) -> None:
    assert row_of(decided(payment(AIRTIME_100, amount=amount), listed(AIRTIME_100))).amount == 10_000


@pytest.mark.parametrize("amount", ["99.99", "100.01", "1", "200"])
def test_another_amount_than_the_fixed_price_is_refused(amount: str) -> None:
    reason = "100.00, or left out: the price of MTN Airtime 100 is fixed"
    assert faults_of(AIRTIME_100, amount=amount) == {"amount": reason}


def test_a_merchants_own_limits_apply_in_addition_to_the_billers() -> None:
    narrow = context(merchant=merchant(limits={"NGN": ("600.00", "700.00")}))
    assert faults_of(PREPAID, narrow, amount="500.00") == {"amount": "between 600.00 and 700.00"}
    assert faults_of(PREPAID, narrow, amount="650.00") == {}
    assert faults_of(AIRTIME_100, narrow) == {"amount": "between 600.00 and 700.00"}


@pytest.mark.parametrize("reference", ["4501234567", "45012345678901", "4501234567x", "٤٥٠١٢٣٤٥٦٧٨", f"{METER}\n", "x"])
def test_a_reference_must_have_the_form_of_its_biller(reference: str) -> None:
    assert faults_of(PREPAID, reference=reference) == {
        "reference": "not a customer reference of Ikeja Electric (IKEDC)"
    }


@pytest.mark.parametrize("reference", ["00000000", "0000000016", "08000000051", "0240000009", "0700000099"])
@pytest.mark.parametrize("name", [PREPAID, AIRTIME, TELEVISION])
def test_magic_references_and_phones_skip_the_form_in_test_alone(name: str, reference: str) -> None:
    assert faults_of(name, reference=reference) == {}
    live = faults_of(name, context(merchant=merchant("live")), reference="0000000")
    assert set(live) == {"reference"}


def test_the_live_environment_has_no_magic_references() -> None:
    assert set(faults_of(TELEVISION, context(merchant=merchant("live")), reference="00000000")) == {"reference"}


def test_every_fault_is_named_at_once() -> None:
    assert set(faults_of(PREPAID, reference="x", amount="1")) == {"reference", "amount"}


# --- a new bill -------------------------------------------------------------------------------------------------


def test_a_new_bill_is_pending_and_holds_amount_fee_and_vat() -> None:
    decision = decided(payment(), listed(PREPAID))
    row = row_of(decision)
    assert row.txn_ref[:-1] == "GP|BP|000001001|20260105"
    assert is_reference(row.txn_ref)
    assert (row.key, row.order_ref, row.kind, row.status, row.code) == (key_of(), "bill-1042", "bill", PENDING, None)
    assert (row.amount, row.fee, row.vat, row.duty) == (500_000, 10_000, 750, 0)
    (group,) = decision.groups
    assert group.holds == HeldAmount(WALLET, 510_750) == HeldAmount(row.held_on, row.held)
    assert (group.postings, group.releases, group.shortfall_refusal) == ((), None, WALLET_INSUFFICIENT)
    assert (decision.numbers_used, decision.events, decision.in_progress) == (1, (), False)
    assert decision.reply == PayReply(
        status=200,
        txn_status="pending",
        txn_ref=row.txn_ref,
        order_ref="bill-1042",
        message="The biller has not confirmed yet; verify later",
        commission="75.00",
    )


def test_its_job_runs_at_once_and_holds_all_that_the_biller_needs() -> None:
    decision = decided(payment(), listed(PREPAID), context(scenario=Scenario(rr="09", webhook="dup")))
    (job,) = decision.jobs
    assert decision.follow_up is job
    assert (job.kind, job.lane, job.due, job.subject) == (SEND, "biller", NOW, key_of())
    work = JOB_DATA_DECODER.decode(job.work)
    item = listed(PREPAID)
    assert work.order == BillDetail(
        paycode=item.paycode,
        item=PREPAID,
        bills_id=14,
        biller="Ikeja Electric (IKEDC)",
        slug="ikeja-electric",
        reference=METER,
        fulfillment="electricity_token",
        commission=7_500,
    )
    assert (work.amount, work.scenario, work.sent_at) == (500_000, Scenario(rr="09", webhook="dup"), NOW.timestamp())


@pytest.mark.parametrize(
    ("amount", "discount", "commission"),
    [("5000.00", "1.5", 7_500), ("500.33", "1.5", 750), ("500.34", "1.5", 751), ("1000.00", "0.0", 0)],
)
def test_the_commission_is_percent_of_the_amount_half_up(amount: str, discount: str, commission: int) -> None:
    decision = decided(payment(amount=amount), listed(PREPAID, discount=discount))
    assert JOB_DATA_DECODER.decode(decision.jobs[0].work).order.commission == commission


def test_a_bill_without_a_fee_holds_its_amount_alone() -> None:
    (group,) = decided(payment(EXAM), listed(EXAM)).groups
    assert group.holds == HeldAmount(WALLET, 510_000)


def test_a_planned_fault_of_the_biller_rides_with_the_job_and_is_used_up() -> None:
    faults = (InjectedFault("bank", "timeout", 2), InjectedFault("biller", "reset", 1))
    decision = decided(payment(), listed(PREPAID), context(faults=faults))
    assert JOB_DATA_DECODER.decode(decision.jobs[0].work).scenario == Scenario(http="reset")
    assert decision.sandbox == SandboxEffects(injected_faults=(InjectedFault("bank", "timeout", 2),))


# --- likely duplicates ------------------------------------------------------------------------------------------


def test_a_new_bill_guards_its_biller_customer_and_amount() -> None:
    guard = decided(payment(), listed(PREPAID)).rows[1]
    assert guard == guard_of(PREPAID, 500_000, NOW, "bill-1042")


@DUPLICATE_SECONDS.tries
def test_the_same_payment_under_another_order_within_30_seconds_is_refused(value: float, is_within: bool) -> None:
    guard = guard_of(PREPAID, 500_000, NOW - timedelta(seconds=value))
    outcome = decide(payment(), listed(PREPAID), None, guard)
    assert (outcome is LIKELY_DUPLICATE) == is_within
    if isinstance(outcome, Decision):
        renewed = outcome.rows[1]
        assert isinstance(renewed, DuplicateGuard)
        assert (renewed.key, renewed.order_ref, renewed.at) == (guard.key, "bill-1042", NOW)


@pytest.mark.parametrize("name", [PREPAID, "EKEDC Prepaid"])
@pytest.mark.parametrize("reference", [METER, "45012345679"])
@pytest.mark.parametrize("amount", ["5000.00", "5000.01"])
def test_biller_customer_and_amount_must_all_be_the_same(name: str, reference: str, amount: str) -> None:
    item = listed(name)
    request = msgspec.structs.replace(payment(amount=amount, reference=reference), paycode=item.paycode)
    same = (name, reference, amount) == (PREPAID, METER, "5000.00")
    assert (decide(request, item, None, guard_of(PREPAID, 500_000, NOW)) is LIKELY_DUPLICATE) == same


@pytest.mark.parametrize("status", [PENDING, SUCCESSFUL, FAILED])
def test_what_has_failed_may_be_paid_again_at_once(status: str) -> None:
    first = msgspec.structs.replace(SentBill.new(orderRef="first").row, status=status)
    guard = guard_of(PREPAID, 500_000, NOW, "first")
    outcome = decide(payment(), listed(PREPAID), context(number=9), guard, first)
    if status != FAILED:
        assert outcome is LIKELY_DUPLICATE
    else:
        assert isinstance(outcome, Decision)
        assert [row.order_ref for row in outcome.rows if isinstance(row, DuplicateGuard)] == ["bill-1042"]


def test_prepaid_and_postpaid_of_one_biller_are_one_biller() -> None:
    request = msgspec.structs.replace(payment(), paycode=listed("IKEDC Postpaid").paycode)
    assert decide(request, listed("IKEDC Postpaid"), None, guard_of(PREPAID, 500_000, NOW)) is LIKELY_DUPLICATE


# --- repeats ----------------------------------------------------------------------------------------------------


def test_the_same_request_again_gets_the_first_answer_and_moves_nothing() -> None:
    first = SentBill.new().row
    again = decided(payment(), listed(PREPAID), context(number=9), first)
    assert again.reply == decided(payment(), listed(PREPAID)).reply
    assert msgspec.structs.replace(again, reply=None, in_progress=False) == Decision()


def test_a_repeat_is_answered_though_its_paycode_is_long_gone() -> None:
    first = SentBill.new().row
    outcome = decide(payment(), None, None, first)
    assert isinstance(outcome, Decision)
    assert outcome.reply.txn_ref == first.txn_ref


@pytest.mark.parametrize(
    ("status", "code", "waits"),
    [(PENDING, None, True), (PENDING, "unknown", False), (SUCCESSFUL, "00", False), (FAILED, "16", False)],
)
def test_a_repeat_shows_the_current_status_and_waits_only_for_an_unanswered_call(
    status: str, code: str | None, waits: bool
) -> None:
    first = msgspec.structs.replace(SentBill.new().row, status=status, code=code, message=f"it is {status}")
    again = decided(payment(), listed(PREPAID), context(number=9), first)
    assert (again.reply.txn_status, again.reply.message, again.in_progress) == (status, f"it is {status}", waits)


def test_a_repeat_of_a_delivered_bill_shows_what_it_brought() -> None:
    first = msgspec.structs.replace(SentBill.new().row, status=SUCCESSFUL, code="00")
    voucher = seal_delivery(first, BillDelivery(token="1" * 20, units="23.89"), context())
    again = decided(payment(), listed(PREPAID), context(number=9), first, voucher)
    assert (again.reply.token, again.reply.units, again.reply.pin) == ("1" * 20, "23.89", msgspec.UNSET)


@pytest.mark.parametrize("change", [{"amount": "5000.01"}, {"reference": "45012345679"}, {"paycode": "other"}])
def test_the_same_reference_with_another_request_is_refused(change: dict[str, Any]) -> None:
    first = SentBill.new().row
    assert decide(payment(**change), listed(PREPAID), context(number=9), first) is REFERENCE_USED


def test_refusals_come_in_their_order() -> None:
    """Used reference, paycode, fields, likely duplicate; the wallet is asked last, when it is applied."""
    first, guard = SentBill.new().row, guard_of(PREPAID, 500_000, NOW)
    wrong = payment(reference="x", amount="5000.00")
    assert decide(wrong, None, None, first, guard) is REFERENCE_USED
    assert decide(wrong, None, None, guard) is UNKNOWN_PAYCODE
    outcome = decide(wrong, listed(PREPAID), None, guard)
    assert isinstance(outcome, Refusal)
    assert outcome.field_errors[0].field == "reference"
    assert decide(payment(), listed(PREPAID), None, guard) is LIKELY_DUPLICATE
