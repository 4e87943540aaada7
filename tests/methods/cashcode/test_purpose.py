"""Cashcodes for other slices: holds on their own source account, and effects of the purpose at the end."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    HeldAmount,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Outcome,
    Posting,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.references import row_key
from kasuwa.ledger.holds import find_fee_hold, find_hold
from kasuwa.methods.cashcode.model import INCOME, RAIL, VAT, WALLET
from kasuwa.methods.cashcode.rules.issue import FEE_INSUFFICIENT, CashcodeOrder, issue_code
from kasuwa.transactions.purpose import PurposeRules, TransactionEffects, TransactionPurpose
from kasuwa.transactions.transactions import Transaction
from tests.methods.cashcode.codes import InMemoryCashcodes
from tests.rule_context import MERCHANT, context

SAVINGS = "savings:SV1:NGN"
SAVINGS_SHORT = Refusal(301, "The savings do not cover it")
PENALTY = Posting(WALLET, SAVINGS, 7, "savings deposit")


class Book(Row):
    """The row that the purpose's rule looks at."""

    note: str = ""


BOOK = Book(row_key(MERCHANT.merchant_id, "book of savings", "SV1"), MERCHANT.merchant_id)


def need_savings(merchant: Merchant, reference: str) -> Needs:
    assert reference == "SV1"
    return Needs(((Book, BOOK.key),), (SAVINGS,))


def end_savings(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> TransactionEffects | NeedsMore:
    kept = rows.get(Book, BOOK.key)
    assert kept is not None
    return TransactionEffects(posts=(PENALTY,), rows=(msgspec.structs.replace(kept, note=row.status),))


PURPOSES = {"savings": PurposeRules("savings", need_savings, end_savings)}


def given() -> Context:
    return context(purposes=PURPOSES)


def issued(channel: str) -> tuple[InMemoryCashcodes, str]:
    table = InMemoryCashcodes(BOOK)
    order = CashcodeOrder(
        amount=200_000,
        pin="1234",
        channel=channel,
        digest=b"",
        source_account=SAVINGS,
        insufficient_refusal=SAVINGS_SHORT,
        purpose=TransactionPurpose("savings", "SV1"),
    )
    shown: list[str] = []

    def rule(context: Context, rows: LoadedRows) -> Outcome:
        made = issue_code(order, context, rows)
        if isinstance(made, NeedsMore):
            return made
        shown[:] = [made.code_digits]
        return made.decision

    decision = table.decide(rule, Needs((), (SAVINGS, WALLET)), given())
    assert isinstance(decision, Decision)
    table.apply(decision)
    return table, shown[0]


def ended(table: InMemoryCashcodes, way: str, code: str, channel: str) -> Decision:
    fields: dict[str, Any] = {"cashcode": code, "channel": channel, "amount": "2000.00"}
    txn_ref = table.one(Transaction).txn_ref
    if way == "cancelled":
        outcome = table.cancel(txn_ref, given())
    elif way == "expired":
        job = table.one(Job)
        outcome = table.expire(job, msgspec.structs.replace(given(), now=job.due))
    elif way == "locked":
        for _ in range(2):
            wrong = table.redeem(given(), **fields, pin="0000")
            assert isinstance(wrong, Decision)
            table.apply(wrong)
        outcome = table.redeem(given(), **fields, pin="0000")
    else:
        outcome = table.redeem(given(), **fields, pin="1234")
    assert isinstance(outcome, Decision), outcome
    return outcome


HOLDS = (HeldAmount(SAVINGS, 200_000), HeldAmount(WALLET, 10_750))


def test_the_amount_is_held_on_the_source_and_the_fee_on_the_wallet() -> None:
    table, _ = issued("ATM")
    row = table.one(Transaction)
    assert (find_hold(row), find_fee_hold(row)) == HOLDS
    assert row.order_ref == row.txn_ref


def test_each_account_has_its_own_refusal_for_insufficient_funds() -> None:
    order = CashcodeOrder(
        amount=1, pin="1234", channel="ATM", digest=b"", source_account=SAVINGS, insufficient_refusal=SAVINGS_SHORT
    )

    def rule(context: Context, rows: LoadedRows) -> Outcome:
        made = issue_code(order, context, rows)
        return made if isinstance(made, NeedsMore) else made.decision

    decision = InMemoryCashcodes().decide(rule, Needs(), given())
    assert isinstance(decision, Decision)
    assert [group.shortfall_refusal for group in decision.groups] == [SAVINGS_SHORT, FEE_INSUFFICIENT]


@pytest.mark.parametrize("channel", ["ATM", "POS"])
def test_redeemed_it_is_the_source_that_pays_and_the_purpose_is_asked(channel: str) -> None:
    table, code = issued(channel)
    decision = ended(table, "redeemed", code, channel)
    drawn, *charged = decision.groups
    assert drawn.postings == (Posting(SAVINGS, RAIL, 200_000, "cash drawn"), PENALTY)
    fee = (Posting(WALLET, INCOME, 10_000, "cashcode fee"), Posting(WALLET, VAT, 750, "cashcode VAT"))
    assert [group.postings for group in charged] == ([fee] if channel == "ATM" else [])
    assert [row.note for row in decision.rows if isinstance(row, Book)] == ["successful"]
    assert table.rounds <= 3, "the purpose may still ask for more"


@pytest.mark.parametrize("way", ["expired", "cancelled", "locked"])
def test_unused_it_returns_to_the_source_and_the_purpose_is_asked(way: str) -> None:
    table, code = issued("ATM")
    decision = ended(table, way, code, "ATM")
    assert tuple(group.releases for group in decision.groups) == HOLDS
    assert [post for group in decision.groups for post in group.postings] == [PENALTY]
    assert [row.note for row in decision.rows if isinstance(row, Book)] == ["failed"]


def test_its_event_carries_the_cash_outs_own_reference() -> None:
    table, code = issued("ATM")
    [event] = ended(table, "redeemed", code, "ATM").events
    payload = msgspec.json.decode(event.payload)
    assert payload["txnRef"] == table.one(Transaction).txn_ref
    assert "orderRef" not in payload


def test_all_effects_of_the_purpose_are_written_with_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    group = PostingGroup("SV1", SAVINGS_SHORT, postings=(PENALTY,))
    event, notice = Event("SV1", "savings", b"{}"), OperatorNotice("SV1", "look at it")

    def end_with_all(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> TransactionEffects:
        return TransactionEffects(groups=(group,), rows=(BOOK,), events=(event,), notices=(notice,), numbers_used=1)

    monkeypatch.setitem(PURPOSES, "savings", PurposeRules("savings", need_savings, end_with_all))
    table, code = issued("ATM")
    decision = ended(table, "redeemed", code, "ATM")
    assert decision.events[1:] == (event,)
    assert (decision.groups[-1], decision.rows[-1], decision.notices) == (group, BOOK, (notice,))
    assert decision.numbers_used == 1
