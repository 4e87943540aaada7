"""The rules of a cashcode that is asked for: what is refused, what is held and kept, and what a repeat gets."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Decision, HeldAmount, Job
from kasuwa.core.references import is_reference
from kasuwa.core.scenario import Scenario
from kasuwa.core.token_index import TokenIndexEntry, token_key
from kasuwa.methods.cashcode.model import JOB_DATA_DECODER, KIND, WALLET, Cashcode
from kasuwa.methods.cashcode.rules.issue import REFERENCE_USED, WALLET_INSUFFICIENT
from kasuwa.methods.cashcode.wire import GenerateRequest
from kasuwa.transactions.transactions import Transaction
from tests.methods.cashcode.codes import ORDER, InMemoryCashcodes, active_cashcode, order, read
from tests.rule_context import MERCHANT, NOW, VAULT, context, merchant
from tests.walk.bounds import CASHCODE_MINUTES


def faults_of(fields: dict[str, Any], of: Any = MERCHANT) -> dict[str, str]:
    found = read(fields, of)
    return {} if isinstance(found, GenerateRequest) else {fault.field: fault.reason for fault in found}


# --- what may be asked ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        ({"amount": "1.00", "life_time": "5"}, {}),
        ({"amount": "0.99"}, {"amount": "between 1.00 and 10000000.00"}),
        ({"amount": "10000000.01"}, {"amount": "between 1.00 and 10000000.00"}),
        ({"life_time": "-5"}, {"life_time": "a whole number, not negative"}),
        ({"life_time": 5.5}, {"life_time": "a whole number, not negative"}),
        ({"life_time": "٣٠"}, {"life_time": "a whole number, not negative"}),
        ({"pin": "258"}, {"pin": "four digits"}),
        ({"pin": "25800"}, {"pin": "four digits"}),
        ({"pin": "2580\n"}, {"pin": "four digits"}),
        ({"pin": 2580}, {"pin": "text, not a number: four digits"}),
        ({"channel": "atm"}, {"channel": "one of ATM, POS, WEB (did you mean ATM?)"}),
        ({"orderRef": ""}, {"orderRef": "1 to 100 characters"}),
    ],
)
def test_every_field_is_checked_before_anything(change: dict[str, Any], reasons: dict[str, str]) -> None:
    assert faults_of(ORDER | change) == reasons


@CASHCODE_MINUTES.tries
def test_a_code_lives_5_to_10080_minutes(value: int, is_within: bool) -> None:
    for life_time in (value, str(value)):
        faults = faults_of(ORDER | {"life_time": life_time})
        assert faults == ({} if is_within else {"life_time": "minutes, from 5 to 10080"})


def test_all_faults_are_named_at_once() -> None:
    fields = {"amount": "0", "pin": "x", "channel": "SHOP", "life_time": "1"}
    assert set(faults_of(fields)) == {"amount", "pin", "channel", "life_time", "orderRef"}


# --- a new code -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("channel", "fee", "vat"),
    [("ATM", 10_000, 750), ("POS", 0, 0), ("WEB", 0, 0)],
)
def test_a_code_holds_its_amount_with_the_fee_of_its_channel(channel: str, fee: int, vat: int) -> None:
    table = InMemoryCashcodes()
    decision = table.generate(channel=channel)
    assert isinstance(decision, Decision)
    row = decision.rows[0]
    assert isinstance(row, Transaction)
    assert (row.amount, row.fee, row.vat, row.status) == (500_000, fee, vat, "pending")
    [group] = decision.groups
    assert group.holds == HeldAmount(WALLET, 500_000 + fee + vat) == HeldAmount(row.held_on, row.held)
    assert (group.shortfall_refusal, group.reference) == (WALLET_INSUFFICIENT, row.txn_ref)


def test_a_merchants_own_fee_stands() -> None:
    costly = merchant(tariff={"cashcode": {"POS": "20.00"}})
    decision = InMemoryCashcodes().generate(context(merchant=costly), channel="POS")
    assert isinstance(decision, Decision)
    assert decision.groups[0].holds == HeldAmount(WALLET, 502_150)


def test_it_is_answered_with_its_code_and_expiry() -> None:
    decision = InMemoryCashcodes().generate(life_time="5")
    assert isinstance(decision, Decision)
    reply = msgspec.to_builtins(decision.reply)
    code = reply.pop("cashcode")
    assert reply == {
        "status": 200,
        "orderRef": "cash-1",
        "amount": "5000.00",
        "channel": "ATM",
        "expires_at": "2026-01-05T09:35:00.123Z",
        "txnStatus": "pending",
        "message": "Cashcode generated; it is shown this once",
    }
    assert len(code) == 10
    assert code.isdecimal()
    assert msgspec.to_builtins(decision.replay_reply) == reply


def test_its_job_ends_it_at_its_expiry() -> None:
    decision = InMemoryCashcodes().generate(context(scenario=Scenario(webhook="dup")))
    assert isinstance(decision, Decision)
    [job] = decision.jobs
    row = decision.rows[0]
    assert (job.kind, job.due, job.subject) == ("cashcode.expire", NOW + timedelta(days=1), row.key)
    assert isinstance(row, Transaction)
    assert is_reference(row.txn_ref)
    assert (job.reference, row.txn_ref[:6]) == (row.txn_ref, "GP|CC|")
    assert JOB_DATA_DECODER.decode(job.work).scenario.webhook == "dup"


def test_neither_code_nor_pin_is_kept() -> None:
    hiding = context()
    hiding.digest = VAULT.digest
    decision = InMemoryCashcodes().generate(hiding)
    assert isinstance(decision, Decision)
    kept = msgspec.json.encode((decision.rows, decision.jobs, decision.groups, decision.replay_reply))
    assert decision.reply.cashcode.encode() not in kept
    assert b"2580" not in kept
    entry = next(row for row in decision.rows if isinstance(row, TokenIndexEntry))
    assert entry.key == token_key(VAULT, KIND, decision.reply.cashcode)
    assert (entry.kind, entry.reference) == ("cashcode", "cash-1")


def test_the_same_pin_of_two_codes_has_two_hashes() -> None:
    pins = {active_cashcode(orderRef=reference)[0].one(Cashcode).pin for reference in ("one", "two")}
    assert len(pins) == 2


@given(st.binary(min_size=32, max_size=32))
def test_a_code_has_ten_digits_for_any_entropy(entropy: bytes) -> None:
    lucky = context()
    lucky.entropy = entropy
    decision = InMemoryCashcodes().generate(lucky)
    assert isinstance(decision, Decision)
    assert len(decision.reply.cashcode) == 10
    assert decision.reply.cashcode.isdecimal()


def test_a_code_that_anybody_had_is_not_given_out_again() -> None:
    _, first = active_cashcode()
    taken = TokenIndexEntry(token_key(VAULT, KIND, first), 99, KIND, "somebody else's")
    table = InMemoryCashcodes(taken)
    decision = table.generate()
    assert isinstance(decision, Decision)
    assert decision.reply.cashcode != first
    assert table.rounds == 2


# --- repeats ----------------------------------------------------------------------------------------------------


def test_a_repeat_moves_nothing_and_does_not_show_the_code() -> None:
    table, _ = active_cashcode()
    again = table.generate()
    assert isinstance(again, Decision)
    assert again == Decision(reply=again.reply)
    assert again.reply.cashcode is msgspec.UNSET
    assert again.reply.txn_status == "pending"


@pytest.mark.parametrize("change", [{"amount": "5000.01"}, {"pin": "2581"}, {"channel": "POS"}, {"life_time": 30}])
def test_the_reference_with_another_request_is_refused(change: dict[str, Any]) -> None:
    table, _ = active_cashcode()
    assert table.generate(**change) == REFERENCE_USED


def test_a_repeat_tells_what_has_become_of_it() -> None:
    table, code = active_cashcode()
    ended = table.redeem(cashcode=code)
    assert isinstance(ended, Decision)
    table.apply(ended)
    again = table.generate()
    assert isinstance(again, Decision)
    assert (again.reply.txn_status, again.reply.message) == ("successful", "Cash was paid")
    assert not [row for row in table.rows.values() if isinstance(row, Job)]


def test_amounts_are_one_whether_sent_as_number_or_text() -> None:
    assert order(amount=5000) == order(amount="5000.00")
