"""Redeeming, expiring and cancelling cashcodes, with their refusals and events."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Job, Posting
from kasuwa.core.token_index import TokenIndexEntry, token_key
from kasuwa.methods.cashcode.model import INCOME, KIND, RAIL, VAT, WALLET, Cashcode, FailedAttempts
from kasuwa.methods.cashcode.rules.finish import ENDED_REFUSALS, UNKNOWN_ORDER
from kasuwa.methods.cashcode.rules.redeem import (
    LOCKED_NOW,
    MAX_FAILED_ATTEMPTS,
    TOO_MANY_FAILED_ATTEMPTS,
    UNKNOWN_CODE,
    WRONG_PIN,
)
from kasuwa.transactions.transactions import Transaction
from tests.methods.cashcode.codes import InMemoryCashcodes, active_cashcode, later, refusal
from tests.rule_context import MERCHANT, VAULT, context, merchant


def decided(outcome: Any) -> Decision:
    assert isinstance(outcome, Decision), outcome
    return outcome


def event_payload(decision: Decision) -> dict[str, Any]:
    [event] = decision.events
    payload: dict[str, Any] = msgspec.json.decode(event.payload)
    return payload


def state_of(table: InMemoryCashcodes) -> tuple[str, int, int]:
    code = table.one(Cashcode)
    return code.state, code.tries, code.paid


# --- paid -------------------------------------------------------------------------------------------------------


def test_a_cash_machine_is_paid_the_whole_and_the_fee_is_taken() -> None:
    table, code = active_cashcode()
    decision = table.apply(decided(table.redeem(cashcode=code)))
    [group] = decision.groups
    assert group.postings == (
        Posting(WALLET, RAIL, 500_000, "cash drawn"),
        Posting(WALLET, INCOME, 10_000, "cashcode fee"),
        Posting(WALLET, VAT, 750, "cashcode VAT"),
    )
    assert msgspec.to_builtins(decision.reply) == {
        "status": 200,
        "orderRef": "cash-1",
        "txnStatus": "successful",
        "amount": "5000.00",
        "returned": "0.00",
        "channel": "ATM",
        "message": "Cash was paid",
    }
    assert state_of(table) == ("redeemed", 0, 500_000)
    assert [row for row in table.rows.values() if isinstance(row, Job)] == []


@pytest.mark.parametrize("channel", ["POS", "WEB"])
def test_a_terminal_is_paid_up_to_the_amount_and_the_rest_returns(channel: str) -> None:
    table, code = active_cashcode(channel=channel)
    decision = decided(table.redeem(cashcode=code, channel=channel, amount="1200.50"))
    assert decision.groups[0].postings == (Posting(WALLET, RAIL, 120_050, "cash drawn"),)
    assert (decision.reply.amount, decision.reply.returned) == ("1200.50", "3799.50")
    assert event_payload(decision)["chargedAmount"] == "1200.50"


def test_its_event_names_the_order() -> None:
    table, code = active_cashcode()
    decision = decided(table.redeem(cashcode=code))
    assert event_payload(decision) == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": "cash-1",
        "chargedAmount": "5000.00",
        "paymentMethod": "cashcode",
        "endpoint": "test",
        "kind": "cashcode",
        "orderRef": "cash-1",
        "currency": "NGN",
    }
    assert decision.events[0].reference == table.one(Transaction).txn_ref


# --- refused, and counted ---------------------------------------------------------------------------------------


def test_an_unknown_code_is_refused_and_counted() -> None:
    table, code = active_cashcode()
    for wrong in range(1, MAX_FAILED_ATTEMPTS + 1):
        outcome = decided(table.redeem(cashcode=f"{wrong:010d}"))
        assert outcome.reply == UNKNOWN_CODE
        table.apply(outcome)
        assert table.one(FailedAttempts).wrong == wrong
    assert table.redeem(cashcode="0123456789") == TOO_MANY_FAILED_ATTEMPTS
    assert table.redeem(cashcode=code) == TOO_MANY_FAILED_ATTEMPTS
    assert table.redeem(later(minutes=9, seconds=59), cashcode=code) == TOO_MANY_FAILED_ATTEMPTS
    assert decided(table.redeem(later(minutes=10), cashcode=code)).reply.status == 200


def test_failed_attempts_are_counted_anew_after_ten_minutes() -> None:
    table = InMemoryCashcodes()
    for at in (later(minutes=0), later(minutes=9), later(minutes=11)):
        table.apply(decided(table.redeem(at, cashcode="0123456789")))
    assert (table.one(FailedAttempts).wrong, table.one(FailedAttempts).since) == (1, later(minutes=11).now)


def test_another_merchants_code_is_an_unknown_one() -> None:
    table = InMemoryCashcodes(
        TokenIndexEntry(token_key(VAULT, KIND, "0123456789"), MERCHANT.merchant_id + 1, KIND, "cash-1")
    )
    assert refusal(table.redeem(cashcode="0123456789")) == UNKNOWN_CODE


@pytest.mark.parametrize("wrong", ["1580", "2480", "2570", "2581", "0852"])
def test_a_pin_that_is_wrong_in_any_one_digit_is_wrong(wrong: str) -> None:
    table, code = active_cashcode()
    assert refusal(table.redeem(cashcode=code, pin=wrong)) == WRONG_PIN
    assert state_of(table) == ("active", 0, 0)
    assert decided(table.redeem(cashcode=code, pin="2580")).reply.status == 200


def test_the_third_wrong_pin_locks_and_gives_the_money_back() -> None:
    table, code = active_cashcode()
    for tries in (1, 2):
        assert refusal(table.redeem(cashcode=code, pin="0000")) == WRONG_PIN
        table.apply(decided(table.redeem(cashcode=code, pin="0000")))
        assert state_of(table) == ("active", tries, 0)
    locked = table.apply(decided(table.redeem(cashcode=code, pin="0000")))
    assert locked.reply == LOCKED_NOW
    assert locked.reply.code == 203
    [group] = locked.groups
    assert (group.postings, group.releases is not None) == ((), True)
    assert (event_payload(locked)["txnStatus"], event_payload(locked)["chargedAmount"]) == ("failed", "0.00")
    assert state_of(table) == ("locked", 3, 0)
    assert table.redeem(cashcode=code) == ENDED_REFUSALS["locked"]


def test_a_right_pin_after_two_wrong_ones_is_accepted() -> None:
    table, code = active_cashcode()
    for _ in range(2):
        table.apply(decided(table.redeem(cashcode=code, pin="0000")))
    assert decided(table.redeem(cashcode=code)).reply.status == 200


def test_wrong_channel_and_amount_are_named_and_change_nothing() -> None:
    table, code = active_cashcode()
    found = refusal(table.redeem(cashcode=code, channel="POS", amount="4999.99"))
    assert {(fault.field, fault.reason) for fault in found.field_errors} == {
        ("channel", "this cashcode is for ATM"),
        ("amount", "exactly 5000.00"),
    }
    assert state_of(table) == ("active", 0, 0)


@pytest.mark.parametrize(
    ("channel", "amount", "reason"),
    [("ATM", "5000.01", "exactly 5000.00"), ("POS", "5000.01", "at most 5000.00"), ("WEB", "9000", "at most 5000.00")],
)
def test_never_more_than_the_amount(channel: str, amount: str, reason: str) -> None:
    table, code = active_cashcode(channel=channel)
    [fault] = refusal(table.redeem(cashcode=code, channel=channel, amount=amount)).field_errors
    assert (fault.field, fault.reason) == ("amount", reason)


def test_a_wrong_pin_is_reported_before_a_wrong_amount_or_channel() -> None:
    table, code = active_cashcode()
    assert refusal(table.redeem(cashcode=code, pin="0000", channel="WEB", amount="1")) == WRONG_PIN


# --- the other ends ---------------------------------------------------------------------------------------------


def test_a_code_is_used_once() -> None:
    table, code = active_cashcode(channel="POS")
    table.apply(decided(table.redeem(cashcode=code, channel="POS", amount="10")))
    assert table.redeem(cashcode=code, channel="POS", amount="10") == ENDED_REFUSALS["redeemed"]
    assert table.cancel() == ENDED_REFUSALS["redeemed"]


def test_expiry_gives_the_hold_back_with_one_event() -> None:
    table, code = active_cashcode()
    job = table.one(Job)
    decision = table.apply(decided(table.expire(job)))
    assert decision.groups[0].postings == ()
    assert decision.jobs_done == (job,)
    assert event_payload(decision)["txnStatus"] == "failed"
    assert state_of(table) == ("expired", 0, 0)
    assert table.redeem(cashcode=code) == ENDED_REFUSALS["expired"]
    assert table.expire(job) == Decision()


def test_an_expiry_that_is_run_early_ends_nothing_and_stays() -> None:
    table, code = active_cashcode(life_time=5)
    job = table.one(Job)
    early = decided(table.expire(job, later(seconds=299)))
    assert early == Decision(jobs=(job,))
    assert decided(table.redeem(later(seconds=299), cashcode=code)).reply.status == 200


def test_a_code_whose_time_is_over_pays_nothing_though_its_job_has_not_run() -> None:
    table, code = active_cashcode(life_time=5)
    assert decided(table.redeem(later(seconds=299), cashcode=code)).reply.status == 200
    for outcome in (table.redeem(later(minutes=5), cashcode=code), table.cancel(given=later(minutes=5))):
        assert outcome == ENDED_REFUSALS["expired"]


def test_cancel_gives_the_hold_back_and_may_be_repeated() -> None:
    table, code = active_cashcode()
    decision = table.apply(decided(table.cancel()))
    assert (decision.reply.state, decision.groups[0].postings) == ("cancelled", ())
    again = decided(table.cancel())
    assert again == Decision(reply=decision.reply)
    assert table.redeem(cashcode=code) == ENDED_REFUSALS["cancelled"]
    assert table.cancel("nothing") == UNKNOWN_ORDER


def test_the_end_of_a_code_is_delivered_to_the_webhook() -> None:
    table, code = active_cashcode()
    ended = decided(table.redeem(context(has_webhook=True, merchant=merchant()), cashcode=code))
    assert [job.kind for job in ended.jobs] == ["webhook.deliver"]
