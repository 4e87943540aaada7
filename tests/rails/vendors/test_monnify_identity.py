"""Comparisons of persons at Monnify and Dojah, against their twins."""

import asyncio

import pytest
from msgspec.structs import replace

from kasuwa.rails.ports.identities import (
    FULL,
    NO_MATCH,
    PARTIAL,
    FieldsRequired,
    IdentityClaim,
    Match,
    Verdict,
    verify_person,
)
from kasuwa.rails.ports.orders import IdentityQuery, LookupDeclined, NoAnswer, Unavailable, UnreadableAnswer
from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendors.dojah import DojahKeys, DojahMatching
from kasuwa.rails.vendors.monnify.identity import MonnifyIdentity
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from tests.rails.vendors.adapters import Observed, twin_of

BVN = "22212345678"
ADA = IdentityClaim(BVN, "Adaeze", "Okafor", "Chioma", "1990-06-28", "+2348031234567")
KEYS = MonnifyKeys("MK_TEST_1", "secret-1", "")


async def compare(claim: IdentityClaim, fault: FaultKind | None = None) -> tuple[Verdict, Twin]:
    async with twin_of(MonnifyRules()) as (twin, transport):
        if fault is not None:
            twin.add_fault(fault, "/api/v1/vas")
        return await verify_person(MonnifyIdentity(transport, twin.url, KEYS, Observed()), claim), twin


async def compare_at_dojah(claim: IdentityClaim) -> Verdict:
    async with twin_of(DojahRules()) as (twin, transport):
        return await verify_person(
            DojahMatching(transport, twin.url, DojahKeys("app-1", "test_sk_1"), Observed()), claim
        )


@pytest.mark.parametrize(
    ("claim", "match"),
    [
        (ADA, Match({"name": FULL, "dob": FULL, "phone": FULL}, 100)),
        (replace(ADA, middlename=""), Match({"name": PARTIAL, "dob": FULL, "phone": FULL}, 66)),
        (
            IdentityClaim(BVN, "Bola", "Ade", "", "1991-01-02", "08099999999"),
            Match({"name": NO_MATCH, "dob": NO_MATCH, "phone": NO_MATCH}, 0),
        ),
        (replace(ADA, bvn="33312345678"), None),
    ],
)
def test_monnify_says_how_far_a_claim_agrees(claim: IdentityClaim, match: Match | None) -> None:
    assert asyncio.run(compare(claim))[0] == match


def test_the_comparison_is_a_look_up_with_the_vendors_forms() -> None:
    _, twin = asyncio.run(compare(ADA))
    [request] = [found for found in twin.requests if "vas" in found.path]
    assert request.body == {
        "bvn": BVN,
        "name": "Adaeze Chioma Okafor",
        "dateOfBirth": "28-Jun-1990",
        "mobileNo": "08031234567",
    }


def test_fields_that_the_vendor_compares_are_required_before_it_is_asked() -> None:
    with pytest.raises(FieldsRequired) as caught:
        asyncio.run(compare(replace(ADA, dob="", phone="")))
    assert caught.value.fields == ("dob", "phone")


@pytest.mark.parametrize(
    ("digits", "expected"), [("402", Unavailable), ("400", LookupDeclined), ("500", UnreadableAnswer)]
)
def test_refusals(digits: str, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught:
        asyncio.run(compare(replace(ADA, bvn=f"22200000{digits}")))
    assert type(caught.value) is expected
    assert BVN not in repr(ADA)


FAULTS: dict[FaultKind, type[Exception]] = {
    "lose": NoAnswer,
    "page": UnreadableAnswer,
    "empty": UnreadableAnswer,
    "bad_gateway": Unavailable,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault: FaultKind) -> None:
    with pytest.raises(FAULTS[fault]):
        asyncio.run(compare(ADA, fault))


@pytest.mark.parametrize(
    ("claim", "match"),
    [
        (ADA, Match({"firstname": FULL, "lastname": FULL, "dob": FULL}, 100)),
        (replace(ADA, lastname="Eze", dob=""), Match({"firstname": FULL, "lastname": NO_MATCH}, 0)),
        (replace(ADA, bvn="22200000404"), None),
        (replace(ADA, bvn="33312345678"), None),
    ],
)
def test_dojah_compares_if_the_operator_chooses_so(claim: IdentityClaim, match: Match | None) -> None:
    assert asyncio.run(compare_at_dojah(claim)) == match


def test_a_rail_that_only_compares_declines_to_tell_a_person() -> None:
    async def look_up() -> None:
        async with twin_of(MonnifyRules()) as (twin, transport):
            await MonnifyIdentity(transport, twin.url, KEYS, Observed()).find_person(IdentityQuery(BVN))

    with pytest.raises(LookupDeclined, match="compares a person"):
        asyncio.run(look_up())
