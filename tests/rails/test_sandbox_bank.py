"""The bank of the test environment: every magic account does what its table says, and all else succeeds."""

import asyncio
import re
from typing import Any

import msgspec
import pytest

from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import (
    Answer,
    LookupDeclined,
    NameAnswer,
    NameEnquiry,
    NoAnswer,
    TransferOrder,
    Unavailable,
    UnreadableAnswer,
)
from kasuwa.rails.routing.beneficiaries import OTHER_BENEFICIARY
from kasuwa.rails.sandbox.bank import SandboxBank, person_name, response_codes
from tests.rails.banks import GTBANK

BANK = SandboxBank()
ACCOUNTS: list[dict[str, Any]] = load_reference_data("magic_values")["accounts"]["list"]
DAY = 24 * 3600
ORDINARY = "0123456785"
OPEN = {orders.UNKNOWN, orders.PROCESSING, orders.NOT_FOUND, orders.UNREADABLE}

AT_ONCE = [row for row in ACCOUNTS if row["after_seconds"] == 0]
LATER = [row for row in ACCOUNTS if 0 < row["after_seconds"] < DAY]
NEVER_FOUND = [row for row in ACCOUNTS if row["after_seconds"] == DAY]


def order(account: str, age: float = 0, scenario: Scenario = NO_SCENARIO) -> TransferOrder:
    return TransferOrder("GP|FD|1", 500_000, "NGN", GTBANK, account, "Ada", "rent", age, scenario)


def send(account: str, scenario: Scenario = NO_SCENARIO, age: float = 0) -> Answer:
    """Returns the answer without the name on the account."""
    answer = asyncio.run(BANK.transfer(order(account, age, scenario)))
    return msgspec.structs.replace(answer, facts={})


def ask(account: str, age: float, scenario: Scenario = NO_SCENARIO) -> Answer:
    """Returns the answer without the id of the payment."""
    answer = asyncio.run(BANK.query(order(account, age, scenario)))
    return msgspec.structs.replace(answer, facts={})


def name_of(account: str, scenario: Scenario = NO_SCENARIO) -> NameAnswer:
    return asyncio.run(BANK.find_account_name(NameEnquiry(GTBANK, account, scenario)))


def by_code(row: dict[str, Any]) -> str:
    return str(row["response_code"])


def manner(account: str, figure: int) -> str:
    """The same account with another V: 1 processing first, 2 pending until told."""
    return f"{account[:8]}{figure}{account[9]}"


# --- the table of accounts --------------------------------------------------------------------------------------


def test_the_table_has_accounts_of_all_three_kinds() -> None:
    assert len(AT_ONCE) + len(LATER) + len(NEVER_FOUND) == len(ACCOUNTS)
    assert {row["final"] for row in AT_ONCE} == {row["final"] for row in LATER} == {"successful", "failed"}
    assert [by_code(row) for row in NEVER_FOUND] == ["25"]
    assert all(row["account"][6:8] == by_code(row) for row in ACCOUNTS)


@pytest.mark.parametrize("row", AT_ONCE, ids=by_code)
def test_an_account_that_ends_at_once_does_so_and_stays_so(row: dict[str, Any]) -> None:
    first = send(row["account"])
    assert (first.status, first.code) == (row["final"], by_code(row))
    assert first.message == response_codes()[by_code(row)].meaning
    assert ask(row["account"], 5) == ask(row["account"], 30 * DAY) == first


@pytest.mark.parametrize("row", LATER, ids=by_code)
def test_an_account_that_ends_later_is_open_until_then_however_often_it_is_asked(row: dict[str, Any]) -> None:
    after = row["after_seconds"]
    assert (send(row["account"]).status, send(row["account"]).code) == (orders.UNKNOWN, by_code(row))
    for age in (0, 1, after - 0.001):
        assert ask(row["account"], age).status in OPEN
    for age in (after, after + 1, 30 * DAY):
        assert ask(row["account"], age).status == row["final"]


@pytest.mark.parametrize("row", NEVER_FOUND, ids=by_code)
def test_an_account_that_is_never_found_says_so_and_not_that_it_failed(row: dict[str, Any]) -> None:
    assert send(row["account"]).status == orders.UNKNOWN
    for age in (5, 3600, DAY, 30 * DAY):
        assert ask(row["account"], age).status == orders.NOT_FOUND


def test_99_never_ends_by_itself() -> None:
    assert send("0000009900").status == orders.UNKNOWN
    assert ask("0000009900", 5) == ask("0000009900", 300 * DAY)
    assert ask("0000009900", 5).status == orders.UNKNOWN


def test_a_code_that_is_none_cannot_be_read_now_or_later() -> None:
    assert send("0000000200").status == ask("0000000200", 5).status == orders.UNREADABLE
    assert send("0000000200").code == "02"


@pytest.mark.parametrize("row", ACCOUNTS, ids=by_code)
def test_the_last_figure_of_a_magic_account_is_ignored(row: dict[str, Any]) -> None:
    other = row["account"][:9] + "7"
    assert send(other) == send(row["account"])
    assert ask(other, DAY) == ask(row["account"], DAY)


@pytest.mark.parametrize("row", ACCOUNTS, ids=by_code)
def test_with_v_1_it_is_processing_first_and_then_as_its_code_says(row: dict[str, Any]) -> None:
    account = manner(row["account"], 1)
    assert send(account).status == orders.PROCESSING
    assert ask(account, 4.999).status in OPEN
    assert ask(account, 5) == ask(row["account"], 5)


@pytest.mark.parametrize("row", ACCOUNTS, ids=by_code)
def test_with_v_2_it_is_pending_until_settled(row: dict[str, Any]) -> None:
    account = manner(row["account"], 2)
    assert send(account).status == orders.UNKNOWN
    for age in (0, 5, DAY, 300 * DAY):
        assert ask(account, age).status == orders.UNKNOWN


@pytest.mark.parametrize("account", [ORDINARY, "0040000008", "8012345678", "1000000000"])
def test_every_other_account_is_paid_at_once(account: str) -> None:
    assert send(account) == ask(account, 5) == Answer("successful", "00", "Approved or completed successfully")


# --- scenarios --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ACCOUNTS, ids=by_code)
@pytest.mark.parametrize("account", [ORDINARY, "0000000000", "0000005110", "0000009920"])
def test_a_scenario_overrides_whatever_the_account_says(row: dict[str, Any], account: str) -> None:
    scenario = Scenario(rr=by_code(row))
    assert send(account, scenario) == send(row["account"])
    for age in (0, 5, DAY):
        actual, expected = ask(account, age, scenario), ask(row["account"], age)
        assert (actual.status, actual.code) == (expected.status, expected.code)


def test_a_scenario_may_name_a_code_that_cannot_be_read() -> None:
    assert send(ORDINARY, Scenario(rr="ZZ")) == Answer("unreadable", "ZZ", "The bank's answer could not be read")


@pytest.mark.parametrize(
    ("rr", "final"), [(None, "successful"), ("51", "failed"), ("91", "failed"), ("09", "successful")]
)
@pytest.mark.parametrize("delay", [1, 5, 60, 3600])
def test_a_delay_in_business_seconds_puts_the_answer_off(rr: str | None, final: str, delay: int) -> None:
    scenario = Scenario(rr=rr, delay=delay)
    assert send(ORDINARY, scenario).status == orders.UNKNOWN
    due = max(delay, 5)
    assert ask(ORDINARY, due - 0.001, scenario).status == orders.UNKNOWN
    assert ask(ORDINARY, due, scenario).status == final


@pytest.mark.parametrize("http", ["timeout", "500"])
def test_a_lost_answer_is_found_at_the_first_re_query(http: str) -> None:
    scenario = Scenario(http=http)
    with pytest.raises(NoAnswer):
        send(ORDINARY, scenario)
    assert ask(ORDINARY, 5, scenario).status == orders.SUCCESSFUL
    assert ask("0000005100", 5, scenario).status == orders.FAILED


@pytest.mark.parametrize("account", [ORDINARY, "0000000000", "0000000900", "0000000020"])
def test_a_lost_request_is_never_found(account: str) -> None:
    scenario = Scenario(http="reset")
    with pytest.raises(NoAnswer):
        send(account, scenario)
    for age in (0, 5, DAY, 30 * DAY):
        assert ask(account, age, scenario).status == orders.NOT_FOUND


def test_an_unavailable_bank_refuses_the_call_and_takes_it_when_it_is_sent_again() -> None:
    """sandbox.md: refused before anything was done, tried again under the same key."""
    scenario = Scenario(http="unavailable")
    with pytest.raises(Unavailable):
        send(ORDINARY, scenario)
    assert send(ORDINARY, scenario, age=5).status == orders.SUCCESSFUL


# --- name enquiry -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ACCOUNTS, ids=by_code)
def test_the_name_on_a_magic_account_is_as_the_table_says(row: dict[str, Any]) -> None:
    code = by_code(row)
    if code in ("91", "96", "97"):
        with pytest.raises(NoAnswer if code == "97" else Unavailable):
            name_of(row["account"])
    elif code in ("07", "16", "25"):
        assert name_of(row["account"]) == NameAnswer(None, "No such account")
    else:
        assert name_of(row["account"]).name == f"SANDBOX {code} ACCOUNT"
        assert name_of(row["account"]).message == ("Account is dormant" if code == "06" else "")


def test_the_table_of_name_enquiries_is_the_one_tested_here() -> None:
    magic_accounts = load_reference_data("magic_values")["accounts"]["name_enquiry"]
    assert set(magic_accounts) == {"00..", "07,25,16", "06", "91,96", "97"}


def test_an_ordinary_account_always_has_the_same_name_and_others_have_others() -> None:
    names = {name_of(f"{number:010d}").name for number in range(2_000_000_000, 2_000_000_200)}
    assert name_of(ORDINARY) == name_of(ORDINARY)
    assert len(names) > 50
    assert person_name("000013", ORDINARY) == name_of(ORDINARY).name


def test_a_transfer_tells_the_name_on_its_account_as_an_enquiry_does() -> None:
    for account in (ORDINARY, "0000000000", "0000005110"):
        answer = asyncio.run(BANK.transfer(order(account)))
        assert answer.facts[orders.BENEFICIARY_NAME] == name_of(account).name
    assert asyncio.run(BANK.transfer(order("0000000700"))).facts == {}, "there is no such account"


def test_a_transfer_that_is_paid_has_one_session_id_in_every_answer() -> None:
    sent = asyncio.run(BANK.transfer(order(ORDINARY))).facts[orders.SESSION_ID]
    assert re.fullmatch("[0-9]{30}", sent)
    assert asyncio.run(BANK.query(order(ORDINARY, DAY))).facts == {orders.SESSION_ID: sent}
    assert orders.SESSION_ID not in asyncio.run(BANK.transfer(order("0000005100"))).facts


def test_an_account_that_belongs_to_another_name_than_before_is_not_paid() -> None:
    name = name_of(ORDINARY).name
    assert name is not None
    same = msgspec.structs.replace(order(ORDINARY), beneficiary_name=" ".join(reversed(name.lower().split())))
    other = msgspec.structs.replace(order(ORDINARY), beneficiary_name="SOMEBODY ELSE")
    assert asyncio.run(BANK.transfer(same)).status == orders.SUCCESSFUL
    assert asyncio.run(BANK.transfer(other)) == OTHER_BENEFICIARY


def test_a_scenario_answers_an_enquiry_too() -> None:
    assert name_of(ORDINARY, Scenario(rr="07")).name is None
    assert name_of("0000000700", Scenario(rr="00")).name == "SANDBOX 00 ACCOUNT"
    assert name_of(ORDINARY, Scenario(rr="06")).message == "Account is dormant"
    for rr, error in (("91", Unavailable), ("96", Unavailable), ("97", NoAnswer)):
        with pytest.raises(error):
            name_of(ORDINARY, Scenario(rr=rr))


FAILING = [code for code, row in response_codes().items() if row.txn_status == "failed"]


@pytest.mark.parametrize("code", sorted(set(FAILING) - {"06", "07", "16"}))
@pytest.mark.parametrize("account", [ORDINARY, "0000000000", "0000000700"])
def test_an_enquiry_with_a_failing_scenario_is_declined_in_the_codes_words(code: str, account: str) -> None:
    with pytest.raises(LookupDeclined, match=re.escape(response_codes()[code].meaning)):
        name_of(account, Scenario(rr=code))


@pytest.mark.parametrize("code", ["01", "09", "26", "68", "94", "99"])
def test_an_enquiry_with_a_pending_scenario_has_no_answer(code: str) -> None:
    with pytest.raises(NoAnswer) as caught:
        name_of(ORDINARY, Scenario(rr=code))
    assert not isinstance(caught.value, UnreadableAnswer)


@pytest.mark.parametrize("code", ["ZZ", "02", "A1"])
def test_an_enquiry_with_an_unknown_code_has_an_unreadable_answer(code: str) -> None:
    with pytest.raises(UnreadableAnswer):
        name_of(ORDINARY, Scenario(rr=code))


@pytest.mark.parametrize(
    ("http", "error"),
    [("timeout", NoAnswer), ("reset", Unavailable), ("500", Unavailable), ("unavailable", Unavailable)],
)
def test_a_fault_of_the_wire_strikes_an_enquiry(http: str, error: type[Exception]) -> None:
    for account in (ORDINARY, "0000000700", "0000009100", "0000009700"):
        with pytest.raises(error):
            name_of(account, Scenario(http=http))
