"""Bulk transfers: each order is accepted or refused on its own."""

from functools import partial
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, LoadedRows, Needs, PostingGroup, Refusal, Row, replace_faults
from kasuwa.core.scenario import InjectedFault, Scenario
from kasuwa.engine.batch import Submission
from kasuwa.ledger import chart
from kasuwa.methods.disburse.actions import TRANSFER_RULES
from kasuwa.methods.disburse.model import BATCH_ORDERS_DECODER, JOB_DATA_DECODER, WALLET, BatchOrder, TransferBatch
from kasuwa.methods.disburse.rules.bulk_transfer import (
    ACCEPTED_MESSAGE,
    INSUFFICIENT_MESSAGE,
    USED_BEFORE,
    BulkOrder,
    decide_bulk,
    need_bulk,
    read_orders,
)
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT
from kasuwa.methods.disburse.wire import BulkReply, BulkRequest, OrderReply
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction
from tests.engine.memory_database import MemoryDatabase
from tests.methods.disburse.orders import ORDER, SentTransfer, key_of
from tests.rule_context import MERCHANT, context

NEW = {"amount": "5000.00", "bankcode": "058", "accountnumber": "0000000000"}


def bulk(*orders: Any) -> list[BulkOrder]:
    request = BulkRequest(data=[msgspec.Raw(msgspec.json.encode(value)) for value in orders])
    return list(read_orders(request, MERCHANT, rules=TRANSFER_RULES))


def decided(*orders: Any, rows: tuple[Row, ...] = (), faults: tuple[InjectedFault, ...] = ()) -> Decision:
    request = bulk(*orders)
    needs = need_bulk(request, MERCHANT)
    found: dict[bytes, Row | None] = {key: None for _, key in needs.rows}
    found |= {row.key: row for row in rows}
    decision = decide_bulk(request, context(number=5, faults=faults), LoadedRows(found))
    decision.sub_decisions = tuple(decision.sub_decisions)
    return decision


def whole(decision: Decision, results: list[Decision | Refusal] | None = None) -> Decision:
    assert decision.combine is not None
    return decision.combine(list(decision.sub_decisions) if results is None else results)


def joined(decision: Decision, results: list[Decision | Refusal] | None = None) -> BulkReply:
    reply = whole(decision, results).reply
    assert isinstance(reply, BulkReply)
    return reply


def row_of(part: Decision | Refusal) -> Transaction:
    assert isinstance(part, Decision)
    (row,) = part.rows
    assert isinstance(row, Transaction)
    return row


def first_part(decision: Decision) -> Decision | Refusal:
    return next(iter(decision.sub_decisions))


def test_every_order_becomes_a_sub_decision_with_its_own_reference() -> None:
    decision = decided(NEW | {"orderRef": "a"}, NEW | {"orderRef": "b"}, NEW)
    rows = [row_of(part) for part in decision.sub_decisions]
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
    assert decision.numbers_used == 4
    assert [part.numbers_used for part in decision.sub_decisions if isinstance(part, Decision)] == [0, 0, 0]


def test_no_order_of_a_bulk_has_a_follow_up_job() -> None:
    decision = decided(NEW, NEW)
    assert decision.follow_up is None
    assert all(isinstance(part, Decision) and part.follow_up is None for part in decision.sub_decisions)
    assert [len(part.jobs) for part in decision.sub_decisions if isinstance(part, Decision)] == [1, 1]


def test_what_is_needed_is_the_wallet_and_every_reference_once() -> None:
    request = bulk(NEW | {"orderRef": "a"}, NEW | {"orderRef": "a"}, NEW | {"orderRef": "b"}, NEW, {"orderRef": "bad"})
    assert need_bulk(request, MERCHANT) == Needs(
        tuple((Transaction, key_of(name)) for name in ("a", "b", "bad")), (WALLET,)
    )


# --- bad orders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "name", "amount", "words"),
    [
        ({"orderRef": "a"}, "a", 0, ["amount: required", "bankcode: required", "accountnumber: required"]),
        (NEW | {"orderRef": "a", "amount": "0.10"}, "a", 10, ["amount: between 1.00 and 10000000.00"]),
        (NEW | {"orderRef": "a", "bankcode": "999"}, "a", 500_000, ["bankcode: no bank has this code"]),
        (
            NEW | {"orderRef": "a", "accountnumber": "0123456784"},
            "a",
            500_000,
            ["accountnumber: not an account number of"],
        ),
        (NEW | {"orderRef": "a", "currency": "USD"}, "a", 500_000, ["currency: NGN, or left out"]),
        (NEW | {"orderRef": 7}, None, 500_000, ["orderRef: text, not a number: 1 to 100 characters"]),
        (NEW | {"orderRef": "x" * 101}, None, 500_000, ["orderRef: 1 to 100 characters"]),
        (NEW | {"narration": "\0"}, None, 500_000, ["narration: must not contain U+0000"]),
        ({}, None, 0, ["amount: required"]),
        ("text", None, 0, []),
        ([], None, 0, []),
        (None, None, 0, []),
    ],
)
def test_a_bad_order_is_a_failed_transfer_with_its_reasons_and_the_others_go(
    value: Any, name: str | None, amount: int, words: list[str]
) -> None:
    decision = decided(value, NEW | {"orderRef": "good"})
    bad, good = joined(decision).data
    row = row_of(first_part(decision))
    assert (row.status, row.message, row.amount) == (FAILED, bad.message, amount)
    assert (row.fee, row.vat, row.duty, row.batch_ref) == (0, 0, 0, joined(decision).batch_ref)
    assert (bad.order_ref, bad.txn_status, bad.txn_ref) == (name or row.txn_ref, "failed", row.txn_ref)
    assert bad.message[:1].isalpha()
    for word in words:
        assert word in bad.message
    assert (good.order_ref, good.txn_status) == ("good", "processing")


def test_a_failed_order_has_its_event_and_holds_nothing() -> None:
    (part,) = decided({"orderRef": "a"}).sub_decisions
    assert isinstance(part, Decision)
    (event,) = part.events
    assert msgspec.json.decode(event.payload) == {
        "status": 200,
        "txnStatus": "failed",
        "txnRef": row_of(part).txn_ref,
        "chargedAmount": "0.00",
        "paymentMethod": "transfer",
        "endpoint": "test",
        "kind": "transfer",
        "orderRef": "a",
        "currency": "NGN",
    }
    assert (part.groups, part.jobs) == ((), ())


def test_invalid_fields_of_an_order_are_not_stored() -> None:
    fields = NEW | {"orderRef": "a", "bankcode": "x" * 500, "sender_name": "y" * 500, "narration": "Invoice"}
    kept = msgspec.json.decode(row_of(first_part(decided(fields))).detail)
    assert kept == {"bank_code": "", "account_number": "0000000000", "sender_name": "", "narration": "Invoice"}


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 5_000])
def test_a_number_that_is_too_large_fails_only_its_own_order(number: bytes) -> None:
    bad = msgspec.Raw(b'{"orderRef":"bad","amount":' + number + b"}")
    first, second = joined(decided(bad, NEW | {"orderRef": "good"})).data
    assert (first.txn_status, second.txn_status) == ("failed", "processing")
    assert "amount" in first.message


# --- what a bulk says as a whole --------------------------------------------------------------------------------


def test_the_message_says_whether_all_some_or_none_of_the_orders_were_accepted() -> None:
    twice = NEW | {"orderRef": "a"}
    assert joined(decided(NEW, NEW)).message == ACCEPTED_MESSAGE
    assert "1 of 3 orders; 1 failed, 1 in conflict" in joined(decided(twice, twice, {})).message
    assert "No order of this bulk was accepted: 2 failed, 0 in conflict" in joined(decided({}, {})).message


def test_the_bulk_keeps_the_transfer_of_each_order_or_why_there_is_none() -> None:
    decision = decided(NEW | {"orderRef": "a"}, NEW | {"orderRef": "a"}, {"orderRef": "b"})
    (batch,) = whole(decision).rows
    assert isinstance(batch, TransferBatch)
    lines = joined(decision).data
    assert BATCH_ORDERS_DECODER.decode(batch.detail) == [
        BatchOrder("a", txn_ref=str(lines[0].txn_ref)),
        BatchOrder("a", conflict=lines[1].message),
        BatchOrder("b", txn_ref=str(lines[2].txn_ref)),
    ]


# --- repeats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", ["5000.00", "7.00"])
def test_a_second_use_inside_one_bulk_is_a_conflict_and_the_first_stands(amount: str) -> None:
    decision = decided(NEW | {"orderRef": "a"}, NEW, NEW | {"orderRef": "a", "amount": amount})
    first, _, second = joined(decision).data
    assert (first.txn_status, second.txn_status, second.txn_ref) == ("processing", "conflict", msgspec.UNSET)
    assert second.message.startswith("Order 1 of this bulk has the same orderRef")
    assert [len(part.rows) for part in decision.sub_decisions if isinstance(part, Decision)] == [1, 1, 0]


def test_a_refused_order_still_uses_up_its_orderref() -> None:
    first, second = joined(decided({"orderRef": "a"}, NEW | {"orderRef": "a"})).data
    assert (first.txn_status, second.txn_status) == ("failed", "conflict")


def test_an_order_in_conflict_has_no_txnref_on_the_wire() -> None:
    line = msgspec.json.decode(msgspec.json.encode(joined(decided(ORDER, ORDER)).data[1]))
    assert set(line) == {"orderRef", "txnStatus", "message"}


def test_an_order_that_was_sent_before_shows_its_current_status() -> None:
    row = msgspec.structs.replace(SentTransfer.new().row, status=SUCCESSFUL, message="Transfer Successful")
    (line,) = joined(decided(ORDER, rows=(row,))).data
    assert line == OrderReply(
        order_ref="order-1042", txn_ref=row.txn_ref, txn_status="successful", message="Transfer Successful"
    )


def test_an_order_whose_reference_was_used_otherwise_before_is_in_conflict() -> None:
    decision = decided(ORDER | {"amount": "7.00"}, NEW, rows=(SentTransfer.new().row,))
    first, second = joined(decision).data
    assert first == OrderReply(order_ref="order-1042", txn_status="conflict", message=USED_BEFORE)
    assert second.txn_status == "processing"


def test_a_refused_order_sent_again_is_the_same_failed_transfer() -> None:
    bad = {"orderRef": "a", "amount": "0.10"}
    row = row_of(first_part(decided(bad)))
    again = decided(bad, rows=(row,))
    (line,) = joined(again).data
    assert (line.txn_ref, line.txn_status) == (row.txn_ref, "failed")
    assert [part.rows for part in again.sub_decisions if isinstance(part, Decision)] == [()]
    (corrected,) = joined(decided(NEW | {"orderRef": "a"}, rows=(row,))).data
    assert corrected.txn_status == "conflict"


@pytest.mark.parametrize("amount", [b"1e999", b"0.10", b"-5", b"9" * 5_000, b'"x"', b"null", b"[]"])
def test_a_refused_order_is_the_same_however_it_is_spaced_and_ordered(amount: bytes) -> None:
    first = msgspec.Raw(b'{"orderRef":"a","amount":' + amount + b"}")
    row = row_of(first_part(decided(first)))
    again = msgspec.Raw(b'{ "amount" : ' + amount + b',\n "orderRef" : "a" }')
    (line,) = joined(decided(again, rows=(row,))).data
    assert (line.txn_status, line.txn_ref) == ("failed", row.txn_ref)
    other = msgspec.Raw(b'{"orderRef":"a","amount":' + amount + b',"bankcode":"058"}')
    (changed,) = joined(decided(other, rows=(row,))).data
    assert changed.txn_status == "conflict"


def test_a_field_that_requests_gained_later_does_not_change_what_is_compared() -> None:
    """Digests are kept for ever: one that an earlier version wrote must still be found equal."""
    assert SentTransfer.new().row.digest == msgspec.msgpack.encode(
        {
            "amount": 500_000,
            "bankcode": "058",
            "accountnumber": "0000000000",
            "sender_name": "Ada Stores",
            "narration": "Invoice 1042",
            "orderRef": "order-1042",
        }
    )
    assert SentTransfer.new(currency="NGN").row.digest == SentTransfer.new().row.digest


# --- faults -----------------------------------------------------------------------------------------------------


def test_planned_faults_are_used_up_order_by_order_and_not_by_bad_ones() -> None:
    faults = (InjectedFault("bank", "timeout", 1), InjectedFault("bank", "decline", 1))
    decision = decided({"orderRef": "bad"}, NEW, NEW, NEW, faults=faults)
    parts = [part for part in decision.sub_decisions if isinstance(part, Decision) and part.jobs]
    scenarios = [JOB_DATA_DECODER.decode(part.jobs[0].work).scenario for part in parts]
    assert scenarios == [Scenario(http="timeout"), Scenario(rr="05"), Scenario()]
    assert [part.sandbox for part in parts] == [replace_faults(faults[1:]), replace_faults(()), None]


# --- through the desk -------------------------------------------------------------------------------------------


def database_with_balance(kobo: int) -> MemoryDatabase:
    database = MemoryDatabase([MERCHANT.merchant_id])
    post = chart.make_funding_posting("NGN", kobo)
    funding = Decision(reply="funded", groups=(PostingGroup("funding", WALLET_INSUFFICIENT, (post,)),))
    database.run([Submission(MERCHANT, Needs((), (post.debit, post.credit)), lambda context, seen: funding, bytes(32))])
    return database


def send(database: MemoryDatabase, *orders: Any) -> BulkReply:
    request = bulk(*orders)
    needs = need_bulk(request, MERCHANT)
    decide = partial(decide_bulk, request)
    (result,) = database.run([Submission(MERCHANT, needs, decide, bytes(32))])
    assert isinstance(result, Decision), result
    assert isinstance(result.reply, BulkReply)
    return result.reply


def test_a_wallet_that_covers_two_of_three_sends_two() -> None:
    database = database_with_balance(1_002_150)
    reply = send(database, NEW | {"orderRef": "a"}, NEW | {"orderRef": "b"}, NEW | {"orderRef": "c"})
    assert [line.txn_status for line in reply.data] == ["processing", "processing", "failed"]
    assert reply.data[2].message == INSUFFICIENT_MESSAGE
    (wallet,) = [account for account in database.all(chart.Account, MERCHANT.merchant_id) if account.name == WALLET]
    assert (wallet.held, wallet.available) == (1_002_150, 0)
    rows = {row.order_ref: row for row in database.all(Transaction, MERCHANT.merchant_id)}
    assert {name: row.status for name, row in rows.items()} == {"a": "processing", "b": "processing", "c": "failed"}
    assert (rows["c"].amount, rows["c"].fee, rows["c"].vat) == (500_000, 0, 0)
    assert rows["c"].txn_ref == reply.data[2].txn_ref


def test_a_smaller_order_is_sent_after_one_the_wallet_did_not_cover() -> None:
    reply = send(database_with_balance(10_000), NEW, NEW | {"amount": "50.00"})
    assert [line.txn_status for line in reply.data] == ["failed", "processing"]


def test_two_bulks_have_different_references_even_if_the_first_was_all_refused() -> None:
    database = database_with_balance(10_000_000)
    replies = [send(database, {"orderRef": "bad"}), send(database, {"orderRef": "bad"}), send(database, NEW)]
    assert len({reply.batch_ref for reply in replies}) == 3
