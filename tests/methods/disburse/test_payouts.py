"""Transfers for other slices: from their own source account, with a purpose whose rule is asked at the end."""

from datetime import timedelta
from typing import Any

from kasuwa.core.decision import (
    Context,
    Decision,
    HeldAmount,
    LoadedRows,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.references import row_key
from kasuwa.methods.disburse.model import INCOME, RAIL, VAT, WALLET, TransferDetail
from kasuwa.methods.disburse.rules.on_bank_answer import decide_answer, need_answer
from kasuwa.methods.disburse.rules.transfer import FEE_INSUFFICIENT, WALLET_INSUFFICIENT, send_money
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.purpose import PurposeRules, TransactionEffects, TransactionPurpose
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction
from tests.rule_context import MERCHANT, NOW, context

SOURCE = "savings:SV1:NGN"
EMPTY = Refusal(301, "The savings do not cover it")
CLAIM = row_key(MERCHANT.merchant_id, "claim", "SV1")
APPROVED = Answer(orders.SUCCESSFUL, "00", "Approved or completed successfully")
DECLINED = Answer(orders.FAILED, "51", "No sufficient funds")
IN_PROGRESS = Answer(orders.UNKNOWN, "09", "Request processing in progress")
ADDED = Posting("loan:LN1:NGN", "outside:loans:NGN", 7, "principal agreed")

asked: list[tuple[str, str]] = []


def tell(row: Transaction, reference: str, given: Context, rows: LoadedRows) -> TransactionEffects:
    asked.append((row.status, reference))
    return TransactionEffects(reply={"status": row.status}, posts=(ADDED,) if row.is_final else ())


PURPOSES = {"cash-out": PurposeRules("cash-out", lambda merchant, reference: Needs(((Row, CLAIM),)), tell)}


def sent(source: str = SOURCE) -> Decision:
    order = TransferDetail("058", "0000000000", "Ada", "cash", source, TransactionPurpose("cash-out", "SV1"))
    return send_money(order, 500_000, context(), 1, reference_type="CO", insufficient_refusal=EMPTY)


def hear(decision: Decision, answer: Answer, *, claim_seen: bool = True) -> Any:
    row, job = decision.rows[0], decision.jobs[0]
    rows: dict[bytes, Row | None] = {row.key: row, job.key: job}
    assert {key for _, key in need_answer(job, answer, MERCHANT).rows} == set(rows)
    if claim_seen:
        rows[CLAIM] = None
    given = context(NOW + timedelta(seconds=1), purposes=PURPOSES)
    return decide_answer(job, answer, given, LoadedRows(rows))


HOLDS = [HeldAmount(SOURCE, 500_000), HeldAmount(WALLET, 1_075)]


def test_the_amount_is_held_on_its_source_and_the_fee_on_the_wallet() -> None:
    decision = sent()
    assert [group.holds for group in decision.groups] == HOLDS
    assert [group.shortfall_refusal for group in decision.groups] == [EMPTY, FEE_INSUFFICIENT]
    assert decision.reply.txn_ref.startswith("GP|CO|")


def test_the_purpose_is_asked_only_with_its_rows_in_sight() -> None:
    outcome = hear(sent(), APPROVED, claim_seen=False)
    assert isinstance(outcome, NeedsMore)
    assert outcome.needs.rows == ((Row, CLAIM),)


def test_a_success_posts_both_holds_and_what_the_purpose_adds_in_the_amounts_group() -> None:
    asked.clear()
    decision = hear(sent(), APPROVED)
    amount, fee = decision.groups
    assert amount.postings == (Posting(SOURCE, RAIL, 500_000, "transfer"), ADDED)
    assert [(post.debit, post.credit, post.amount) for post in fee.postings] == [
        (WALLET, INCOME, 1_000),
        (WALLET, VAT, 75),
    ]
    assert [amount.releases, fee.releases] == HOLDS
    assert asked == [(SUCCESSFUL, "SV1")]
    assert decision.reply == {"status": SUCCESSFUL}


def test_a_failure_releases_both_holds_and_posts_the_extra_group() -> None:
    asked.clear()
    decision = hear(sent(), DECLINED)
    first, second, added = decision.groups
    assert first.postings == second.postings == ()
    assert [first.releases, second.releases] == HOLDS
    assert added == PostingGroup(decision.rows[0].txn_ref, WALLET_INSUFFICIENT, postings=(ADDED,))
    assert asked == [(FAILED, "SV1")]


def test_while_nothing_is_known_the_purpose_answers_and_adds_nothing() -> None:
    decision = hear(sent(), IN_PROGRESS)
    assert decision.groups == ()
    assert decision.reply == {"status": "pending"}


def test_from_the_wallet_amount_and_fee_are_one_hold() -> None:
    decision = sent(WALLET)
    assert [group.holds for group in decision.groups] == [HeldAmount(WALLET, 501_075)]
    posted = hear(decision, APPROVED).groups
    assert [post.amount for post in posted[0].postings] == [500_000, 1_000, 75, 7]
    assert len(posted) == 1
