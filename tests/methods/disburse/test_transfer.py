"""The rules of a transfer that is asked for: what is refused, what is held, and what a repeat gets."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, HeldAmount, Needs, SandboxEffects
from kasuwa.core.money import convert_to_minor
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.references import is_reference
from kasuwa.core.scenario import InjectedFault, Scenario
from kasuwa.methods.disburse.model import JOB_DATA_DECODER, SEND, WALLET, TransferDetail
from kasuwa.methods.disburse.rules.transfer import REFERENCE_USED, WALLET_INSUFFICIENT, decide_transfer, need_transfer
from kasuwa.methods.disburse.wire import TransferReply, TransferRequest
from kasuwa.transactions.transactions import FAILED, PENDING, PROCESSING, SUCCESSFUL, Transaction
from tests.methods.disburse.orders import (
    DUTY_ON,
    FREE,
    ORDER,
    SentTransfer,
    decided,
    key_of,
    order,
    read,
    seen,
)
from tests.rule_context import MERCHANT, NOW, context, merchant

WORKED: list[dict[str, str]] = load_reference_data("tariffs")["worked_transfer_with_stamp_duty"]


def row_of(decision: Decision) -> Transaction:
    (row,) = decision.rows
    assert isinstance(row, Transaction)
    return row


# --- what may be asked ------------------------------------------------------------------------------------------


def faults_of(fields: dict[str, Any], of: Any = MERCHANT) -> dict[str, str]:
    found = read(fields, of)
    return {} if isinstance(found, TransferRequest) else {fault.field: fault.reason for fault in found}


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        ({"amount": "1.00"}, {}),
        ({"amount": "10000000.00"}, {}),
        ({"amount": "0.99"}, {"amount": "between 1.00 and 10000000.00"}),
        ({"amount": "10000000.01"}, {"amount": "between 1.00 and 10000000.00"}),
        ({"bankcode": "999"}, {"bankcode": "no bank has this code; see the banks resource"}),
        ({"bankcode": "030"}, {"bankcode": "no bank has this code; see the banks resource"}),
        ({"bankcode": "058", "accountnumber": "0123456784"}, {"accountnumber": "not an account number of GTBank"}),
        ({"bankcode": "000013", "accountnumber": "0123456785"}, {}),
        ({"bankcode": "100004", "accountnumber": "8012345678"}, {}),
        ({"accountnumber": "0040000008"}, {}),
    ],
)
def test_amount_bank_and_account_are_checked_before_anything(change: dict[str, str], reasons: dict[str, str]) -> None:
    bank = load_reference_data("banks")
    names = {entry["cbn_code"]: entry["name"] for entry in bank}
    expected = {field: reason.replace("GTBank", names["058"]) for field, reason in reasons.items()}
    assert faults_of(ORDER | change) == expected


def test_a_merchants_own_limits_stand() -> None:
    narrow = merchant(limits={"NGN": ("100.00", "200.00")})
    assert faults_of(ORDER | {"amount": "150.00"}, narrow) == {}
    assert faults_of(ORDER, narrow) == {"amount": "between 100.00 and 200.00"}


@pytest.mark.parametrize("account", ["0000000000", "0040000008"])
def test_the_live_environment_has_no_magic_and_no_sample_accounts(account: str) -> None:
    assert set(faults_of(ORDER | {"accountnumber": account}, merchant("live"))) == {"accountnumber"}


# --- what is needed ---------------------------------------------------------------------------------------------


def test_a_transfer_needs_the_wallet_and_the_first_of_its_reference() -> None:
    key = key_of("order-1042")
    assert need_transfer(order(), MERCHANT) == Needs(((Transaction, key),), (WALLET,), (key,))
    assert need_transfer(order(orderRef=None), MERCHANT) == Needs((), (WALLET,))


# --- a new transfer ---------------------------------------------------------------------------------------------


def test_a_new_transfer_is_processing_and_holds_its_money() -> None:
    decision = decided(order())
    row = row_of(decision)
    assert row.txn_ref[:-1] == "GP|FD|000001001|20260105"
    assert is_reference(row.txn_ref)
    assert (row.key, row.order_ref, row.status, row.code) == (key_of("order-1042"), "order-1042", PROCESSING, None)
    assert (row.amount, row.fee, row.vat, row.duty) == (500_000, 1_000, 75, 0)
    assert (row.created_at, row.final_at, row.batch_ref, row.currency) == (NOW, None, None, "NGN")
    (group,) = decision.groups
    assert group.holds == HeldAmount(WALLET, 501_075) == HeldAmount(row.held_on, row.held)
    assert (group.postings, group.releases, group.reference) == ((), None, row.txn_ref)
    assert (decision.numbers_used, decision.events, decision.in_progress) == (1, (), False)


def test_its_job_runs_at_once_and_holds_all_that_the_bank_needs() -> None:
    decision = decided(order(), context(scenario=Scenario(rr="91", webhook="dup")))
    (job,) = decision.jobs
    assert decision.follow_up is job
    assert (job.kind, job.lane, job.due, job.reference) == (SEND, "bank", NOW, row_of(decision).txn_ref)
    assert job.subject == row_of(decision).key
    work = JOB_DATA_DECODER.decode(job.work)
    assert work.order == TransferDetail("058", "0000000000", "Ada Stores", "Invoice 1042")
    assert (work.amount, work.scenario, work.sent_at) == (500_000, Scenario(rr="91", webhook="dup"), NOW.timestamp())


def test_its_reply_says_processing_under_both_references() -> None:
    decision = decided(order())
    assert decision.reply == TransferReply(
        txn_status="processing",
        txn_ref=row_of(decision).txn_ref,
        order_ref="order-1042",
        message="Transfer is being processed",
    )


def test_insufficient_funds_are_status_301_with_a_message_to_fund_the_wallet() -> None:
    assert decided(order()).groups[0].shortfall_refusal is WALLET_INSUFFICIENT
    assert WALLET_INSUFFICIENT.code == 301


@pytest.mark.parametrize("tariff", [{}, DUTY_ON, FREE], ids=["default", "stamp duty", "free"])
@pytest.mark.parametrize("example", WORKED, ids=lambda example: example["amount"])
def test_what_is_held_is_the_amount_with_all_that_comes_on_top(example: dict[str, str], tariff: dict[str, Any]) -> None:
    decision = decided(order(amount=example["amount"]), context(merchant=merchant(tariff=tariff)))
    row = row_of(decision)
    duty = convert_to_minor(example["stamp_duty"]) if tariff is DUTY_ON else 0
    fee, vat = (0, 0) if tariff is FREE else (convert_to_minor(example["fee"]), convert_to_minor(example["vat"]))
    assert (row.fee, row.vat, row.duty) == (fee, vat, duty)
    assert row.held == convert_to_minor(example["amount"]) + fee + vat + duty


def test_without_an_order_reference_the_transaction_reference_stands_in() -> None:
    decision = decided(order(orderRef=None))
    row = row_of(decision)
    assert row.order_ref == row.txn_ref == decision.reply.order_ref
    assert row.key == key_of(row.txn_ref)


def test_the_day_in_a_reference_is_the_day_in_lagos() -> None:
    late = datetime(2026, 1, 5, 23, 30, tzinfo=UTC)
    assert row_of(decided(order(), context(late))).txn_ref.split("|")[3][:8] == "20260106"


@pytest.mark.parametrize("year", [1900, 1950, 1969, 1970, 2038, 8999])
def test_a_transfer_can_be_made_in_any_year_that_a_clock_can_be_set_to(year: int) -> None:
    decision = decided(order(), context(datetime(year, 6, 1, tzinfo=UTC)))
    assert row_of(decision).txn_ref.split("|")[3][:4] == str(year)


@pytest.mark.parametrize("text", ['"', "\\", "\n", "</script>", "₦ é 💸", '","said":"x', "{}"])
def test_names_and_narrations_are_stored_unchanged(text: str) -> None:
    decision = decided(order(narration=text, sender_name=text))
    assert msgspec.json.decode(row_of(decision).detail)["narration"] == text
    assert JOB_DATA_DECODER.decode(decision.jobs[0].work).order.sender_name == text


# --- the test environment's faults ------------------------------------------------------------------------------


def test_a_planned_fault_is_stored_with_the_job_and_used_up() -> None:
    faults = (InjectedFault("bank", "timeout", 2), InjectedFault("card", "reset", 1))
    decision = decided(order(), context(faults=faults))
    assert JOB_DATA_DECODER.decode(decision.jobs[0].work).scenario == Scenario(http="timeout")
    left = (InjectedFault("bank", "timeout", 1), InjectedFault("card", "reset", 1))
    assert decision.sandbox == SandboxEffects(injected_faults=left)


def test_without_a_fault_of_the_bank_none_is_touched() -> None:
    assert decided(order(), context(faults=(InjectedFault("card", "reset", 1),))).sandbox is None
    assert decided(order()).sandbox is None


# --- repeats ----------------------------------------------------------------------------------------------------


def test_the_same_request_again_gets_the_first_answer_and_moves_nothing() -> None:
    first = SentTransfer.new().row
    again = decided(order(), context(number=9), first)
    assert again.reply == decided(order()).reply
    assert msgspec.structs.replace(again, reply=None, in_progress=False) == Decision()


@pytest.mark.parametrize(
    ("status", "code", "waits"),
    [
        (PROCESSING, None, True),  # still at the rail
        (PROCESSING, "unknown", False),  # the rail said nothing in time
        (PENDING, "09", False),
        (SUCCESSFUL, "00", False),
        (FAILED, "51", False),
        (FAILED, None, False),
    ],
)
def test_a_repeat_shows_the_current_status_and_waits_only_for_an_unanswered_call(
    status: str, code: str | None, waits: bool
) -> None:
    first = msgspec.structs.replace(SentTransfer.new().row, status=status, code=code, message=f"it is {status}")
    again = decided(order(), context(number=9), first)
    assert (again.reply.txn_status, again.reply.message, again.in_progress) == (status, f"it is {status}", waits)
    assert again.reply.txn_ref == first.txn_ref


@pytest.mark.parametrize(
    "change",
    [
        {"amount": "5000.01"},
        {"bankcode": "000013"},
        {"accountnumber": "0000000010"},
        {"sender_name": "Ada"},
        {"sender_name": None},
        {"narration": "Invoice 1043"},
        {"narration": None},
    ],
)
def test_the_same_reference_with_another_request_is_refused(change: dict[str, Any]) -> None:
    first = SentTransfer.new().row
    request = order(**change)
    assert decide_transfer(request, context(number=9), seen(request, first)) is REFERENCE_USED
    assert REFERENCE_USED.code == 104


@pytest.mark.parametrize("fields", [{"amount": "5000"}, {"amount": "5000.0"}, {"extra": "ignored"}])
def test_requests_are_compared_after_they_were_read(fields: dict[str, Any]) -> None:
    first = SentTransfer.new().row
    assert decided(order(**fields), context(number=9), first).reply.txn_ref == first.txn_ref


def test_without_an_order_reference_nothing_is_a_repeat() -> None:
    first, second = decided(order(orderRef=None)), decided(order(orderRef=None), context(number=2))
    assert row_of(first).key != row_of(second).key
    assert row_of(first).txn_ref != row_of(second).txn_ref
