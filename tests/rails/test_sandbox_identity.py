"""The sandbox's identity register: every magic number, and people who stay who they are."""

import asyncio
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.rails.ports.orders import IdentityQuery, LookupDeclined, NoAnswer, Person, Unavailable, UnreadableAnswer
from kasuwa.rails.routing.identities import RoutedIdentity
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.wire.people import is_telephone
from tests.rails.no_rails import no_rails


def find(bvn: str, scenario: Scenario = NO_SCENARIO) -> Person | None:
    return asyncio.run(SandboxIdentity().find_person(IdentityQuery(bvn, scenario)))


@given(st.from_regex("22[0-9]{9}", fullmatch=True).filter(lambda bvn: not bvn.startswith("222222222")))
def test_any_number_has_one_person_who_could_be(bvn: str) -> None:
    person = find(bvn)
    assert person is not None
    assert person == find(bvn)
    assert (person.bvn, person.is_watch_listed, person.always_matching) == (bvn, False, ())
    assert person.firstname.isalpha()
    assert person.lastname.isalpha()
    assert date(1950, 1, 1) <= date.fromisoformat(person.dob) < date(2000, 1, 1)
    assert is_telephone(person.phone)


def test_the_magic_numbers_answer_as_they_are_documented() -> None:
    anyone, mismatch, listed = find("22222222222"), find("22222222208"), find("22222222260")
    assert anyone is not None
    assert {"firstname", "lastname", "dob"} <= set(anyone.always_matching)
    assert mismatch is not None
    assert mismatch.always_matching == ("dob",)
    assert listed is not None
    assert listed.is_watch_listed
    assert find("22222222201") is None
    assert find("12345678901") is not None


@pytest.mark.parametrize(("bvn", "error"), [("22222222291", Unavailable), ("22222222296", NoAnswer)])
def test_a_register_that_does_not_answer(bvn: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        find(bvn)


@pytest.mark.parametrize("bvn", ["22222222222", "22222222201", "22222222291", "22222222296", "22212345678"])
def test_the_scenario_overrules_every_number(bvn: str) -> None:
    assert find(bvn, Scenario(rr="00")) is not None
    assert find(bvn, Scenario(rr="01")) is None
    for scenario, error in (
        (Scenario(rr="05"), LookupDeclined),
        (Scenario(rr="07"), LookupDeclined),
        (Scenario(rr="25"), LookupDeclined),
        (Scenario(rr="97"), NoAnswer),
        (Scenario(rr="09"), NoAnswer),
        (Scenario(rr="ZZ"), UnreadableAnswer),
        (Scenario(rr="91"), Unavailable),
        (Scenario(rr="96"), NoAnswer),
        (Scenario(http="timeout"), NoAnswer),
        (Scenario(http="reset"), NoAnswer),
        (Scenario(http="500"), Unavailable),
        (Scenario(http="unavailable"), Unavailable),
    ):
        with pytest.raises(error):
            find(bvn, scenario)


def test_a_deployment_without_a_register_says_so() -> None:
    with pytest.raises(Unavailable):
        asyncio.run(RoutedIdentity(no_rails("identity")).find_person(IdentityQuery("22212345678")))
