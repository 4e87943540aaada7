"""Look-ups of BVNs at Dojah, against its twin."""

import asyncio
from typing import Any

import pytest

from kasuwa.rails.ports.orders import IdentityQuery, LookupDeclined, NoAnswer, Person, Unavailable, UnreadableAnswer
from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.dojah import DojahIdentity, DojahKeys, read_match, read_person
from tests.rails.vendors.adapters import Observed, twin_of

BVN = "22212345678"
ADA = Person(BVN, "ADAEZE", "OKAFOR", "CHIOMA", "1990-06-28", "08031234567")
KEYS = DojahKeys("app-1", "test_sk_1")


async def look_up(bvn: str, fault: FaultKind | None = None, keys: DojahKeys = KEYS) -> tuple[Person | None, Twin]:
    async with twin_of(DojahRules()) as (twin, transport):
        if fault is not None:
            twin.add_fault(fault)
        rail = DojahIdentity(transport, twin.url, keys, Observed())
        return await rail.find_person(IdentityQuery(bvn)), twin


def test_person_is_found_without_photograph_and_address() -> None:
    person, twin = asyncio.run(look_up(BVN))
    assert person == ADA
    [request] = twin.requests
    assert request.query == {"bvn": BVN}


def test_watch_list() -> None:
    person, _ = asyncio.run(look_up("22200000001"))
    assert person is not None
    assert person.is_watch_listed


@pytest.mark.parametrize("bvn", ["33312345678", "22200000404"])
def test_unknown_bvn(bvn: str) -> None:
    assert asyncio.run(look_up(bvn))[0] is None


@pytest.mark.parametrize(
    ("bvn", "expected"), [("22200000424", Unavailable), ("22200000402", Unavailable), ("22200000400", LookupDeclined)]
)
def test_refusals(bvn: str, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught:
        asyncio.run(look_up(bvn))
    assert type(caught.value) is expected


def test_used_up_balance_tells_the_operator() -> None:
    with pytest.raises(Unavailable) as caught:
        asyncio.run(look_up("22200000402"))
    assert "fund it" in caught.value.notice


def test_wrong_keys_tell_the_operator_and_show_nothing() -> None:
    keys = DojahKeys("app-1", "sk_secret_9")
    with pytest.raises(Unavailable) as caught:
        asyncio.run(look_up(BVN, keys=keys))
    assert "check the keys" in caught.value.notice
    assert "sk_secret_9" not in f"{caught.value!r} {caught.value.notice} {keys!r}"


FAULTS: dict[FaultKind, type[Exception]] = {
    "drop": NoAnswer,
    "lose": NoAnswer,
    "half": UnreadableAnswer,
    "page": UnreadableAnswer,
    "empty": UnreadableAnswer,
    "bad_gateway": Unavailable,
    "too_many": Unavailable,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault: FaultKind) -> None:
    with pytest.raises(FAULTS[fault]) as caught:
        asyncio.run(look_up(BVN, fault))
    assert type(caught.value) is FAULTS[fault]


def entity(**changes: Any) -> VendorReply:
    person = {"bvn": BVN, "first_name": "Ada", "last_name": "Obi", "date_of_birth": "01-Feb-1980"}
    return VendorReply(200, {"entity": person | changes})


@pytest.mark.parametrize(
    "reply",
    [
        VendorReply(200, {"entity": {"bvn": {"status": True}, "first_name": {"confidence_value": 100}}}),
        VendorReply(200, {"entity": []}),
        entity(bvn="22299999999"),
        entity(first_name=""),
        entity(last_name=None),
        entity(date_of_birth="28-Jun-00"),
        entity(date_of_birth="yesterday"),
        VendorReply(404, {"error": "Page not found"}),
        VendorReply(418, {"error": "BVN not found"}),
    ],
)
def test_undocumented_replies_are_unreadable(reply: VendorReply) -> None:
    with pytest.raises(UnreadableAnswer):
        read_person(reply, BVN)


@pytest.mark.parametrize("dob", [None, "1980-02-01", True, []])
def test_a_comparison_whose_birth_date_is_no_object_is_unreadable(dob: Any) -> None:
    full = {"confidence_value": 100}
    compared = {"bvn": {"status": True}, "first_name": full, "last_name": full, "dob": dob}
    with pytest.raises(UnreadableAnswer):
        read_match(VendorReply(200, {"entity": compared}))


def test_birth_date_may_be_missing() -> None:
    person = read_person(entity(date_of_birth=None), BVN)
    assert person is not None
    assert person.dob == ""


def test_balance_shows_whether_the_keys_are_right() -> None:
    async def check(keys: DojahKeys) -> dict[str, int]:
        async with twin_of(DojahRules()) as (twin, transport):
            return await DojahIdentity(transport, twin.url, keys, Observed()).balance()

    assert asyncio.run(check(KEYS)) == {"NGN": 500_050}
    with pytest.raises(Unavailable):
        asyncio.run(check(DojahKeys("app-1", "other")))
