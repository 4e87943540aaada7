"""Many transfers at once: each order stands alone (D28)."""

from functools import partial
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Group, Needs, Refusal, Row, Seen
from kasuwa.core.scenario import PlannedFault, Scenario
from kasuwa.core.transactions import SUCCESSFUL, Transaction
from kasuwa.db.batch import Submission
from kasuwa.ledger import chart
from kasuwa.methods.disburse.actions import TRANSFER_RULES
from kasuwa.methods.disburse.decide import REFERENCE_USED, WALLET, WALLET_SHORT, WORK, decide_bulk, need_bulk
from kasuwa.methods.disburse.wire import BulkReply, BulkRequest, OrderReply
from tests.db.shelf import Shelf
from tests.methods.disburse.orders import ORDER, Sent, key_of
from tests.rules import MERCHANT, context

NEW = {"amount": "5000.00", "bankcode": "058", "accountnumber": "0000000000"}


def bulk(*orders: Any) -> BulkRequest:
    return BulkRequest(data=[msgspec.Raw(msgspec.json.encode(said)) for said in orders])


def decided(*orders: Any, rows: tuple[Row, ...] = (), faults: tuple[PlannedFault, ...] = ()) -> Decision:
    request = bulk(*orders)
    needs = need_bulk(request, MERCHANT, rules=TRANSFER_RULES)
    found: dict[bytes, Row | None] = {key: None for _, key in needs.rows}
    found |= {row.key: row for row in rows}
    return decide_bulk(request, context(number=5, faults=faults), Seen(found), rules=TRANSFER_RULES)


def joined(decision: Decision, results: list[Decision | Refusal] | None = None) -> BulkReply:
    reply = decision.join(list(decision.parts) if results is None else results)
    assert isinstance(reply, BulkReply)
    return reply


def row_of(part: Decision | Refusal) -> Transaction:
    assert isinstance(part, Decision)
    (row,) = part.rows
    assert isinstance(row, Transaction)
    return row


def test_every_order_becomes_a_part_with_a_reference_of_its_own() -> None:
    decision = decided(NEW | {"orderRef": "a"}, NEW | {"orderRef": "b"}, NEW)
    rows = [row_of(part) for part in decision.parts]
    reply = joined(decision)
    assert [row.txn_ref.split("|")[2] for row in rows] == ["000001006", "000001007", "000001008"]
    assert reply.batch_ref[:-1] == "GP|BT|000001005|20260105"
    assert {row.batch_ref for row in rows} == {reply.batch_ref}
    assert [line.order_ref for line in reply.data] == ["a", "b", rows[2].txn_ref]
    assert [line.txn_ref for line in reply.data] == [row.txn_ref for row in rows]
    assert {line.txn_status for line in reply.data} == {"processing"}
    assert reply.status == 202


def test_the_bulk_counts_the_numbers_of_all_its_orders() -> None:
    decision = decided(NEW, NEW | {"amount": "x"}, NEW)
    assert decision.numbers == 4
    assert [part.numbers for part in decision.parts if isinstance(part, Decision)] == [0, 0]


def test_no_order_is_run_at_once() -> None:
    decision = decided(NEW, NEW)
    assert decision.then is None
    assert all(isinstance(part, Decision) and part.then is None for part in decision.parts)
    assert [len(part.jobs) for part in decision.parts if isinstance(part, Decision)] == [1, 1]


def test_what_is_needed_is_the_wallet_and_every_reference_once() -> None:
    request = bulk(NEW | {"orderRef": "a"}, NEW | {"orderRef": "a"}, NEW | {"orderRef": "b"}, NEW, {"orderRef": "bad"})
    assert need_bulk(request, MERCHANT, rules=TRANSFER_RULES) == Needs(
        ((Transaction, key_of("a")), (Transaction, key_of("b"))), (WALLET,)
    )


# --- bad orders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "name", "words"),
    [
        ({"orderRef": "a"}, "a", ["amount: required", "bankcode: required", "accountnumber: required"]),
        (NEW | {"orderRef": "a", "amount": "0.10"}, "a", ["amount: between 1.00 and 10000000.00"]),
        (NEW | {"orderRef": "a", "bankcode": "999"}, "a", ["bankcode: no bank has this code"]),
        (NEW | {"orderRef": "a", "accountnumber": "0123456784"}, "a", ["accountnumber: not an account number of"]),
        (NEW | {"orderRef": 7}, None, ["orderRef: text, not a number: 1 to 100 characters"]),
        (NEW | {"narration": "\0"}, None, ["narration: must not contain U+0000"]),
        ({}, None, ["amount: required"]),
        ("text", None, []),
        ([], None, []),
        (None, None, []),
    ],
)
def test_a_bad_order_fails_with_its_reasons_and_the_others_go(said: Any, name: str | None, words: list[str]) -> None:
    decision = decided(said, NEW | {"orderRef": "good"})
    bad, good = joined(decision).data
    assert (bad.order_ref, bad.txn_status, bad.txn_ref) == (name, "failed", msgspec.UNSET)
    assert bad.message[:1].isalpha()
    for word in words:
        assert word in bad.message
    assert (good.order_ref, good.txn_status) == ("good", "processing")


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 5_000])
def test_a_number_beyond_all_bounds_fails_its_own_order_alone(number: bytes) -> None:
    bad = msgspec.Raw(b'{"orderRef":"bad","amount":' + number + b"}")
    first, second = joined(decided(bad, NEW | {"orderRef": "good"})).data
    assert (first.txn_status, second.txn_status) == ("failed", "processing")
    assert "amount" in first.message


def test_an_order_that_was_refused_has_no_reference_on_the_wire() -> None:
    line = msgspec.json.decode(msgspec.json.encode(joined(decided({"orderRef": "a"})).data[0]))
    assert set(line) == {"orderRef", "txnStatus", "message"}


# --- repeats ----------------------------------------------------------------------------------------------------


def test_a_second_use_inside_one_bulk_is_a_repeat_of_the_first() -> None:
    decision = decided(NEW | {"orderRef": "a"}, NEW, NEW | {"orderRef": "a"})
    first, _, second = joined(decision).data
    assert second == first
    assert [len(part.rows) for part in decision.parts if isinstance(part, Decision)] == [1, 1, 0]


def test_a_second_use_with_another_request_is_refused_and_the_first_stands() -> None:
    decision = decided(NEW | {"orderRef": "a"}, NEW | {"orderRef": "a", "amount": "7.00"})
    assert decision.parts[1] is REFERENCE_USED
    first, second = joined(decision).data
    assert first.txn_status == "processing"
    assert second == OrderReply(order_ref="a", txn_status="failed", message=REFERENCE_USED.message)


def test_an_order_that_was_sent_before_shows_its_current_status() -> None:
    row = msgspec.structs.replace(Sent.new().row, status=SUCCESSFUL, message="Transfer Successful")
    (line,) = joined(decided(ORDER, rows=(row,))).data
    assert line == OrderReply(
        order_ref="order-1042", txn_ref=row.txn_ref, txn_status="successful", message="Transfer Successful"
    )


def test_an_order_whose_reference_was_used_otherwise_before_fails() -> None:
    decision = decided(ORDER | {"amount": "7.00"}, NEW, rows=(Sent.new().row,))
    assert decision.parts[0] is REFERENCE_USED
    assert [line.txn_status for line in joined(decision).data] == ["failed", "processing"]


def test_an_order_the_wallet_does_not_cover_fails_and_so_does_its_repeat() -> None:
    decision = decided(NEW | {"orderRef": "a"}, NEW | {"orderRef": "b"}, NEW | {"orderRef": "a"})
    lines = joined(decision, [WALLET_SHORT, decision.parts[1], decision.parts[2]]).data
    assert [(line.order_ref, line.txn_status) for line in lines] == [
        ("a", "failed"),
        ("b", "processing"),
        ("a", "failed"),
    ]
    assert lines[0].message == WALLET_SHORT.message


# --- faults -----------------------------------------------------------------------------------------------------


def test_planned_faults_are_used_up_order_by_order_and_not_by_bad_ones() -> None:
    faults = (PlannedFault("bank", "timeout", 1), PlannedFault("bank", "decline", 1))
    decision = decided({"orderRef": "bad"}, NEW, NEW, NEW, faults=faults)
    parts = [part for part in decision.parts if isinstance(part, Decision)]
    scenarios = [WORK.decode(part.jobs[0].work).scenario for part in parts]
    assert scenarios == [Scenario(http="timeout"), Scenario(rr="05"), Scenario()]
    assert [part.faults for part in parts] == [faults[1:], (), None]


# --- through the desk -------------------------------------------------------------------------------------------


def shelf_with(kobo: int) -> Shelf:
    shelf = Shelf([MERCHANT.merchant_id])
    post = chart.fund_wallet("NGN", kobo)
    funding = Decision("funded", (Group("funding", WALLET_SHORT, (post,)),))
    shelf.run([Submission(MERCHANT, Needs((), (post.debit, post.credit)), lambda context, seen: funding, bytes(32))])
    return shelf


def send(shelf: Shelf, *orders: Any) -> BulkReply:
    request = bulk(*orders)
    needs = need_bulk(request, MERCHANT, rules=TRANSFER_RULES)
    decide = partial(decide_bulk, request, rules=TRANSFER_RULES)
    (result,) = shelf.run([Submission(MERCHANT, needs, decide, bytes(32))])
    assert isinstance(result, Decision), result
    assert isinstance(result.reply, BulkReply)
    return result.reply


def test_a_wallet_that_covers_two_of_three_sends_two() -> None:
    shelf = shelf_with(1_002_150)
    reply = send(shelf, NEW | {"orderRef": "a"}, NEW | {"orderRef": "b"}, NEW | {"orderRef": "c"})
    assert [line.txn_status for line in reply.data] == ["processing", "processing", "failed"]
    (wallet,) = [account for account in shelf.all(chart.Account, MERCHANT.merchant_id) if account.name == WALLET]
    assert (wallet.held, wallet.available) == (1_002_150, 0)
    assert {row.order_ref for row in shelf.all(Transaction, MERCHANT.merchant_id)} == {"a", "b"}


def test_a_smaller_order_goes_after_one_that_was_short() -> None:
    reply = send(shelf_with(10_000), NEW, NEW | {"amount": "50.00"})
    assert [line.txn_status for line in reply.data] == ["failed", "processing"]


def test_no_two_bulks_share_a_reference_even_when_nothing_of_the_first_stood() -> None:
    shelf = shelf_with(10_000_000)
    replies = [send(shelf, {"orderRef": "bad"}), send(shelf, {"orderRef": "bad"}), send(shelf, NEW)]
    assert len({reply.batch_ref for reply in replies}) == 3
