"""Sandbox scenarios: parsed from the header, or injected into the next rail calls."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.scenario import (
    NO_SCENARIO,
    OPERATIONS,
    FaultOperation,
    InjectedFault,
    RailName,
    Scenario,
    read_faults,
    read_scenario,
    take_call_scenario,
)


@pytest.mark.parametrize(
    ("text", "scenario"),
    [
        ("", Scenario()),
        (";;", Scenario()),
        ("rr=91", Scenario(rr="91")),
        ("rr=91;delay=5;webhook=dup;http=timeout", Scenario("91", 5, "timeout", "dup")),
        (" rr=A1 ; delay=00 ", Scenario("A1", 0)),
        ("http=500", Scenario(http="500")),
        ("http=reset", Scenario(http="reset")),
        ("webhook=late:30", Scenario(webhook="late:30")),
        ("webhook=drop", Scenario(webhook="drop")),
        ("webhook=bad-hash", Scenario(webhook="bad-hash")),
        ("delay=99999999", Scenario(delay=99_999_999)),
    ],
)
def test_a_header_becomes_a_scenario(text: str, scenario: Scenario) -> None:
    assert read_scenario(text) == scenario


@pytest.mark.parametrize(
    "text",
    [
        "rr",
        "rr=",
        "rr=9",
        "rr=911",
        "rr=9a",
        "rr=٩١",
        "RR=91",
        "rr =91",
        "rr:91",
        "rr=91,delay=5",
        "rr=91\n;rr",
        "delay=-1",
        "delay=5.5",
        "delay=x",
        "delay=999999999",
        "delay=5;rr=91x",
        "http=404",
        "http=timeout2",
        "webhook=late",
        "webhook=late:",
        "webhook=nope",
        "color=red",
        "=",
    ],
)
def test_a_header_that_cannot_be_read_is_none(text: str) -> None:
    assert read_scenario(text) is None


@given(st.text(max_size=30))
def test_any_header_is_read_or_refused(text: str) -> None:
    assert isinstance(read_scenario(text), Scenario | None)


# --- faults of the next calls ---------------------------------------------------------------------------------


def test_without_faults_the_requested_scenario_applies() -> None:
    assert take_call_scenario(NO_SCENARIO, (), "bank", "transfer", 0) == (NO_SCENARIO, None)


@pytest.mark.parametrize("kind", ["timeout", "reset", "unavailable"])
def test_a_fault_of_the_wire_is_used_up_by_the_next_call_of_its_rail(kind: str) -> None:
    faults = (InjectedFault("bank", kind, 1),)
    assert take_call_scenario(NO_SCENARIO, faults, "bank", "transfer", 0) == (Scenario(http=kind), ())


def test_a_decline_has_response_code_do_not_honor() -> None:
    assert take_call_scenario(NO_SCENARIO, (InjectedFault("bank", "decline", 1),), "bank", "transfer", 0) == (
        Scenario(rr="05"),
        (),
    )


def test_a_fault_of_many_times_counts_down() -> None:
    faults: tuple[InjectedFault, ...] = (InjectedFault("bank", "timeout", 3),)
    for left in (2, 1):
        planned, rest = take_call_scenario(NO_SCENARIO, faults, "bank", "transfer", 0)
        assert planned == Scenario(http="timeout")
        assert rest == (InjectedFault("bank", "timeout", left),)
        faults = rest
    assert take_call_scenario(NO_SCENARIO, faults, "bank", "transfer", 0) == (Scenario(http="timeout"), ())


def test_another_rails_fault_is_left_alone_and_the_first_of_its_own_is_used() -> None:
    card, first, second = (
        InjectedFault("card", "reset", 1),
        InjectedFault("bank", "decline", 1),
        InjectedFault("bank", "reset", 1),
    )
    assert take_call_scenario(NO_SCENARIO, (card,), "bank", "transfer", 0) == (NO_SCENARIO, None)
    assert take_call_scenario(NO_SCENARIO, (card, first, second), "bank", "transfer", 0) == (
        Scenario(rr="05"),
        (card, second),
    )


@pytest.mark.parametrize("value", [Scenario(rr="91"), Scenario(delay=5), Scenario(http="reset", webhook="dup")])
def test_a_header_about_the_rail_overrides_faults_and_uses_up_none(value: Scenario) -> None:
    assert take_call_scenario(value, (InjectedFault("bank", "timeout", 1),), "bank", "transfer", 0) == (value, None)


def test_a_header_about_webhooks_alone_leaves_the_fault_in_force_and_is_kept() -> None:
    result = Scenario(webhook="dup")
    planned, rest = take_call_scenario(result, (InjectedFault("bank", "timeout", 1),), "bank", "transfer", 0)
    assert (planned, rest) == (Scenario(http="timeout", webhook="dup"), ())
    assert take_call_scenario(result, (InjectedFault("bank", "decline", 1),), "bank", "transfer", 0)[0] == Scenario(
        rr="05", webhook="dup"
    )


def test_a_fault_of_one_operation_leaves_the_others_of_its_rail_alone() -> None:
    name = InjectedFault("bank", "timeout", 1, on="accountname")
    assert take_call_scenario(NO_SCENARIO, (name,), "bank", "transfer", 0) == (NO_SCENARIO, None)
    assert take_call_scenario(NO_SCENARIO, (name,), "bank", "accountname", 0) == (Scenario(http="timeout"), ())
    every = InjectedFault("bank", "decline", 1)
    assert take_call_scenario(NO_SCENARIO, (name, every), "bank", "transfer", 0) == (Scenario(rr="05"), (name,))


def test_every_operation_of_a_rail_can_be_named() -> None:
    assert set(OPERATIONS) == set(get_args(RailName))
    assert {name for names in OPERATIONS.values() for name in names} == set(get_args(FaultOperation))


@given(st.integers(min_value=0, max_value=100), st.integers(min_value=0))
def test_a_fault_with_a_probability_is_used_up_whether_it_occurs_or_not(percent: int, random_number: int) -> None:
    faults = (InjectedFault("bank", "timeout", 2, percent),)
    planned, rest = take_call_scenario(NO_SCENARIO, faults, "bank", "transfer", random_number)
    assert planned == (Scenario(http="timeout") if random_number % 100 < percent else NO_SCENARIO)
    assert rest == (InjectedFault("bank", "timeout", 1, percent),)


def test_stored_faults_are_decoded() -> None:
    assert read_faults(None) == ()
    assert read_faults('[{"rail":"bank","kind":"reset","times":2,"percent":50}]') == (
        InjectedFault("bank", "reset", 2, 50),
    )
