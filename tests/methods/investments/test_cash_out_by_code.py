"""Savings cashed out by a code: what is held, what each end of the code means, and what is shown once."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Refusal
from kasuwa.ledger import chart
from kasuwa.methods.cashcode.model import Cashcode
from kasuwa.methods.cashcode.rules.issue import FEE_INSUFFICIENT
from kasuwa.methods.investments.model import SAVINGS_CLOSED, SAVINGS_INSUFFICIENT, UNKNOWN_SAVINGS, WALLET
from kasuwa.methods.investments.rules.cash_out import NOT_THE_OWNER
from kasuwa.methods.investments.wire import CashcodeReply
from tests.methods.investments.books import InMemorySavings
from tests.walk.bounds import CASH_OUT_CODE

# What a code for a cash machine costs: 100.00 and its VAT.
CHARGE = 10_750


def draw(books: InMemorySavings, reply: CashcodeReply, pin: str = "2580", amount: str = "400.00") -> Any:
    fields: dict[str, Any] = {"cashcode": reply.cashcode, "pin": pin, "amount": amount, "channel": "ATM"}
    return books.ask("redeem_cashcode", path="sandbox", **fields)


def held(books: InMemorySavings, savings_id: str) -> tuple[int, int]:
    return books.account(chart.savings(savings_id)).held, books.account(WALLET).held


def test_a_code_holds_the_amount_on_the_savings_and_its_fee_on_the_wallet() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    reply = books.cash_out(savings_id, "400.00", "cashcode", pin="2580")
    assert (reply.status, reply.balance, reply.txn_ref[:6]) == (200, "600.00", "GP|CC|")
    assert (len(reply.cashcode), reply.pin) == (10, msgspec.UNSET)
    assert held(books, savings_id) == (40_000, CHARGE)
    [code] = [row for row in books.state.rows.values() if isinstance(row, Cashcode)]
    assert (code.channel, (code.expires_at - books.now).total_seconds()) == ("ATM", 1440 * 60)
    assert books.balance(savings_id) == 100_000
    assert books.cash_out(savings_id, "600.01") == SAVINGS_INSUFFICIENT


def test_cash_that_is_drawn_leaves_the_savings_and_loses_what_it_earned() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00")
    wallet = books.wallet
    books.advance_to("2026-01-15")
    reply = books.cash_out(savings_id, "400.00", "cashcode", pin="2580")
    assert books.record(savings_id).accrued_interest == "10.00"
    assert draw(books, reply).status == 200
    assert books.record(savings_id).accrued_interest == "6.00"
    assert books.posted("cash drawn") == [(chart.savings(savings_id), "rail:cash:NGN", 40_000)]
    assert (wallet - books.wallet, held(books, savings_id), books.jobs("cashcode")) == (CHARGE, (0, 0), [])
    books.check()


def test_its_one_event_is_the_cashcodes_with_the_cash_outs_reference() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    before = len(books.state.events)
    reply = books.cash_out(savings_id, "400.00", "cashcode", pin="2580")
    assert len(books.state.events) == before
    draw(books, reply)
    [event] = books.state.events[before:]
    payload = msgspec.json.decode(event.payload)
    assert (payload["txnRef"], payload["paymentMethod"], payload["chargedAmount"]) == (
        reply.txn_ref,
        "cashcode",
        "400.00",
    )


@CASH_OUT_CODE.tries
def test_a_code_for_savings_is_valid_for_a_day(value: tuple[str, int], is_within: bool) -> None:
    books = InMemorySavings("2026-01-05")
    reply = books.cash_out(books.open_savings(deposit="1000.00"), "400.00", "cashcode", pin="2580")
    books.advance_to(*value)
    [code] = [row for row in books.state.rows.values() if isinstance(row, Cashcode)]
    assert code.state == ("active" if is_within else "expired")
    assert isinstance(draw(books, reply), Refusal) != is_within


@pytest.mark.parametrize("way", ["expired", "cancelled", "locked"])
def test_a_code_that_ends_unused_gives_all_back_with_its_interest(way: str) -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00")
    wallet = books.wallet
    reply = books.cash_out(savings_id, "400.00", "cashcode", pin="2580")
    if way == "expired":
        books.advance_to("2026-01-06", 10)
    elif way == "cancelled":
        books.ask("cancel", path="cashcode", orderRef=reply.txn_ref)
    else:
        for _ in range(3):
            draw(books, reply, pin="0000")
    [code] = [row for row in books.state.rows.values() if isinstance(row, Cashcode)]
    assert code.state == way
    assert (books.balance(savings_id), books.wallet, held(books, savings_id)) == (100_000, wallet, (0, 0))
    books.advance_to("2026-01-15")
    assert books.record(savings_id).accrued_interest == "10.00"
    assert isinstance(draw(books, reply), Refusal)


def test_without_a_pin_one_is_made_and_draws_the_cash() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    first, second = (books.cash_out(savings_id, "400.00", "cashcode") for _ in range(2))
    assert all(len(reply.pin) == 4 and reply.pin.isdigit() for reply in (first, second))
    assert first.pin != second.pin
    assert first.cashcode != second.cashcode
    assert draw(books, first, first.pin).status == 200


def test_a_repeated_request_shows_neither_code_nor_pin() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    fields = {"savings_id": savings_id, "client_id": "CL1", "amount": "400.00", "method": "cashcode"}
    decision = books.decide("cashout", **fields)
    first, again = (msgspec.to_builtins(reply) for reply in (decision.reply, decision.replay_reply))
    assert set(first) - set(again) == {"cashcode", "pin"}
    assert again == {
        "status": 200,
        "message": first["message"],
        "txnRef": first["txnRef"],
        "savings_id": savings_id,
        "balance": "600.00",
    }


def test_savings_close_when_a_code_has_emptied_them_after_maturity() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00", period=1)
    books.advance_to("2026-02-05")
    reply = books.cash_out(savings_id, "1031.00", "cashcode", pin="2580")
    assert books.record(savings_id).state == "matured"
    assert draw(books, reply, amount="1031.00").status == 200
    assert (books.record(savings_id).state, books.open_accounts()) == ("closed", 0)
    assert books.cash_out(savings_id, "5.00", "cashcode") == SAVINGS_CLOSED


def test_each_refusal_in_its_turn_and_nothing_kept() -> None:
    books = InMemorySavings(wallet=100_000 + CHARGE - 1)
    savings_id = books.open_savings(deposit="1000.00")
    assert books.cash_out("SVnobody", "5.00", "cashcode") == UNKNOWN_SAVINGS
    assert books.cash_out(savings_id, "5.00", "cashcode", client=books.client("CL2")) == NOT_THE_OWNER
    for dry_run in (True, False):
        assert books.cash_out(savings_id, "1000.01", "cashcode", dry_run=dry_run) == SAVINGS_INSUFFICIENT
        assert books.cash_out(savings_id, "5.00", "cashcode", dry_run=dry_run) == FEE_INSUFFICIENT
    for pin in ("123", "12345", "12a4", " ", 1234):
        assert [fault.field for fault in books.cash_out(savings_id, "5.00", "cashcode", pin=pin).field_errors] == [
            "pin"
        ]
    assert held(books, savings_id) == (0, 0)
    assert books.jobs("cashcode") == []


def test_a_dry_run_shows_the_fee_and_makes_no_code() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    before = len(books.state.rows)
    reply = books.cash_out(savings_id, "400.00", "cashcode", dry_run=True, pin="2580")
    assert [(figure.what, figure.amount) for figure in reply.explained] == [
        ("balance", "1000.00"),
        ("amount", "400.00"),
        ("accrued interest", "0.00"),
        ("forfeited interest", "0.00"),
        ("fee", "100.00"),
        ("VAT", "7.50"),
        ("balance after", "600.00"),
    ]
    assert (len(books.state.rows), held(books, savings_id)) == (before, (0, 0))
