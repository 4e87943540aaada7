"""Money in suspense: assigned to a merchant or returned by its rail, once, by the verdict of two operators."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.console.operator.manual_posting import (
    ManualPosting,
    ProposedPosting,
    Verdict,
    decide_verdict,
    need_verdict,
    posting_key,
)
from kasuwa.core.decision import AuditEntry, Decision, HeldAmount, Job, LoadedRows, NeedsMore, Posting, Refusal, Row
from kasuwa.methods.payment.model import JOB_DATA_DECODER
from kasuwa.methods.payment.rules.receipts.suspense import (
    QUERY_RETURN,
    SEND_RETURN,
    AssignedMoney,
    SuspenseDecision,
    SuspenseProposal,
    choose_accounts,
    decide_assigned,
    decide_return_answer,
    decision_key,
    need_assigned,
    need_return_answer,
)
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import RAIL_UNAVAILABLE, Answer
from kasuwa.transactions.inbound_accounts import ALREADY_DECIDED, NOT_IN_SUSPENSE, InboundReceipt, receipt_key
from tests.rule_context import MERCHANT, NOW, context

SUSPENSE, WALLET, RAIL = "suspense:inbound:NGN", "wallet:main:NGN", "rail:debit:NGN"
PLACE = (MERCHANT.merchant_id, "paystack", "T1")
KEY, RECEIPT_KEY = decision_key(*PLACE), receipt_key(*PLACE)
RECEIPT = InboundReceipt(
    RECEIPT_KEY, MERCHANT.merchant_id, "paystack", "T1", "9900000009", 33_300, "NGN", "", NOW, "account-1"
)
PAID = Answer(orders.SUCCESSFUL, "00", "")


def verdict_on(action: Any, target_id: int = 0, state: Any = "approved") -> Verdict:
    proposal = SuspenseProposal(action, "paystack", "T1", "GP0000002", target_id)
    posting = ProposedPosting(*choose_accounts(proposal, "NGN"), 33_300, "", suspense=proposal)
    return Verdict(7, state, 3, posting, AuditEntry("ada@example.com", "approved", "approval 7"))


def decide(
    verdict: Verdict, receipt: InboundReceipt | None = RECEIPT, known: SuspenseDecision | None = None
) -> Decision | Refusal:
    rows: dict[bytes, Row | None] = {posting_key(MERCHANT.merchant_id, 7): None, KEY: known, RECEIPT_KEY: receipt}
    assert {key for _, key in need_verdict(verdict, MERCHANT).rows} == set(rows)
    decision = decide_verdict(verdict, context(), LoadedRows(rows))
    assert not isinstance(decision, NeedsMore)
    return decision


def decided(verdict: Verdict) -> tuple[Decision, SuspenseDecision]:
    decision = decide(verdict)
    assert isinstance(decision, Decision)
    verdict_row, row = decision.rows
    assert isinstance(verdict_row, ManualPosting)
    assert isinstance(row, SuspenseDecision)
    assert (decision.reply, len(decision.audit_entries)) == (verdict_row, 1)
    return decision, row


@pytest.mark.parametrize(("target_id", "credited"), [(0, WALLET), (902, RAIL)])
def test_assigned_money_leaves_suspense(target_id: int, credited: str) -> None:
    decision, row = decided(verdict_on("assign", target_id))
    [group] = decision.groups
    assert group.postings == (Posting(SUSPENSE, credited, 33_300, "assigned from suspense"),)
    assert (row.state, row.other_merchant_id, row.approval_id, decision.jobs) == ("assigned", target_id, 7, ())


def test_rejected_proposal_moves_nothing() -> None:
    decision = decide(verdict_on("assign", state="rejected"))
    assert isinstance(decision, Decision)
    assert (decision.groups, len(decision.rows)) == ((), 1)


@pytest.mark.parametrize("action", ["assign", "return"])
@pytest.mark.parametrize("state", ["assigned", "returning", "returned"])
def test_money_is_decided_once(action: str, state: str) -> None:
    known = msgspec.structs.replace(decided(verdict_on("assign"))[1], state=state)
    assert decide(verdict_on(action), known=known) == ALREADY_DECIDED


def test_money_whose_return_failed_is_decided_anew() -> None:
    known = msgspec.structs.replace(decided(verdict_on("return"))[1], state="failed")
    assert isinstance(decide(verdict_on("assign"), known=known), Decision)


@pytest.mark.parametrize("receipt", [None, msgspec.structs.replace(RECEIPT, txn_ref="GP123")])
def test_money_that_is_not_in_suspense_is_not_assigned(receipt: InboundReceipt | None) -> None:
    assert decide(verdict_on("assign"), receipt) == NOT_IN_SUSPENSE


def test_other_merchant_is_credited_once() -> None:
    money = AssignedMoney("paystack", "T1", 33_300, "NGN", 7, 901)
    [(_, key)] = need_assigned(money, MERCHANT).rows
    first = decide_assigned(money, context(), LoadedRows({key: None}))
    assert first.groups[0].postings == (Posting(RAIL, WALLET, 33_300, "assigned from suspense"),)
    [row] = first.rows
    assert isinstance(row, SuspenseDecision)
    assert (row.state, row.other_merchant_id) == ("received", 901)
    assert not decide_assigned(money, context(), LoadedRows({key: row})).changes_anything


# --- the return ----------------------------------------------------------------------------------------------------


def answer_return(answer: Answer, seconds: float = 1, **changes: Any) -> tuple[Decision, SuspenseDecision, Job]:
    begun, row = decided(verdict_on("return"))
    job = msgspec.structs.replace(begun.jobs[0], **changes)
    rows: dict[bytes, Row | None] = {key: None for _, key in need_return_answer(job, answer, MERCHANT).rows}
    rows |= {KEY: row, job.key: job}
    decision = decide_return_answer(job, answer, context(NOW + timedelta(seconds=seconds)), LoadedRows(rows))
    return decision, row, job


def test_return_holds_the_money_and_is_sent_with_the_account_that_received_it() -> None:
    decision, row = decided(verdict_on("return"))
    [group], [job] = decision.groups, decision.jobs
    assert (group.postings, group.holds) == ((), HeldAmount(SUSPENSE, 33_300))
    assert (job.kind, job.rail, job.rail_account, job.reference) == (
        SEND_RETURN,
        "paystack",
        "account-1",
        row.reference,
    )
    work = JOB_DATA_DECODER.decode(job.work)
    assert (work.rail_facts, work.session, work.amount) == ({"transaction": "T1"}, "T1", 33_300)
    assert (row.state, row.reference.startswith("GP|RF|")) == ("returning", True)


def test_returned_money_leaves_suspense() -> None:
    decision, _, job = answer_return(PAID)
    [group], [ended] = decision.groups, decision.rows
    assert group.postings == (Posting(SUSPENSE, RAIL, 33_300, "returned from suspense"),)
    assert group.releases == HeldAmount(SUSPENSE, 33_300)
    assert isinstance(ended, SuspenseDecision)
    assert (ended.state, decision.jobs_done, decision.notices) == ("returned", (job,), ())


@pytest.mark.parametrize(
    ("answer", "seconds", "kind"),
    [
        (Answer(orders.FAILED, "05", "the sender's account is closed"), 1, SEND_RETURN),
        (Answer(orders.NOT_FOUND, None, "no such refund"), 25 * 3600, QUERY_RETURN),
    ],
)
def test_money_that_cannot_be_returned_stays_in_suspense(answer: Answer, seconds: float, kind: str) -> None:
    decision, _, job = answer_return(answer, seconds, kind=kind)
    [group], [ended], [notice] = decision.groups, decision.rows, decision.notices
    assert (group.postings, group.releases, decision.jobs_done) == ((), HeldAmount(SUSPENSE, 33_300), (job,))
    assert isinstance(ended, SuspenseDecision)
    assert (ended.state, "stays in suspense" in notice.message) == ("failed", True)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (RAIL_UNAVAILABLE, SEND_RETURN),
        (orders.RAIL_SILENT, QUERY_RETURN),
        (Answer(orders.PROCESSING, "09", ""), QUERY_RETURN),
        (Answer(orders.NOT_FOUND, None, ""), QUERY_RETURN),
    ],
)
def test_open_return_is_sent_again_only_if_the_rail_refused_it(answer: Answer, expected: str) -> None:
    decision, _, _ = answer_return(answer)
    [job] = decision.jobs
    assert (job.kind, job.is_rail_fixed, decision.groups, decision.jobs_done) == (expected, True, (), ())


def test_answer_to_a_return_that_has_ended_changes_nothing() -> None:
    begun, row = decided(verdict_on("return"))
    [job] = begun.jobs
    ended = msgspec.structs.replace(row, state="returned")
    rows: dict[bytes, Row | None] = {KEY: ended, job.key: job}
    assert not decide_return_answer(job, PAID, context(), LoadedRows(rows)).changes_anything
