"""The scopes and address ranges of keys, and who counts as another party."""

import pytest

from kasuwa.core.callers import (
    KEY_SCOPES,
    MAX_ADDRESS_RANGES,
    NO_CALLER,
    Caller,
    Maker,
    check_key_name,
    is_same_party,
    read_ranges,
    read_scopes,
)

OWNER, OTHER = "owner@example.com", "finance@example.com"
COMMAND = "command:root on host"


def make_key(
    number: int, lineage: int = 0, person: str = "", holders: tuple[str, ...] = (), behind: tuple[str, ...] = ()
) -> Caller:
    name, lineage = f"key {number}", lineage or number
    return Caller(name, number, ("payout",), lineage, person, holders=holders, behind=behind)


def make_person(email: str, *makers: str) -> Caller:
    return Maker(email, 1, makers).as_caller(is_cooling_off=False)


def test_a_scope_includes_its_actions_and_reference_data_alone() -> None:
    key = Caller(scopes=("collect",))
    assert key.has_scope("collect", only_shows=False)
    assert key.has_scope("any", only_shows=True)
    assert not key.has_scope("payout", only_shows=True)
    assert not key.has_scope("all", only_shows=False)


def test_the_scope_read_includes_every_action_that_only_shows() -> None:
    key = Caller(scopes=("read",))
    assert all(key.has_scope(scope, only_shows=True) for scope in KEY_SCOPES)
    assert [scope for scope in KEY_SCOPES if key.has_scope(scope, only_shows=False)] == ["read"]


def test_the_scope_all_includes_everything() -> None:
    assert all(NO_CALLER.has_scope(scope, only_shows=False) for scope in KEY_SCOPES)


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("203.0.113.9", True),
        ("203.0.114.9", False),
        ("2001:db8::5", True),
        ("2001:db9::5", False),
        ("::ffff:203.0.113.9", True),
        ("", False),
        ("unix", False),
    ],
)
def test_a_key_is_accepted_from_its_ranges_alone(address: str, is_allowed: bool) -> None:
    key = Caller(addresses=("203.0.113.0/24", "2001:db8::/32"))
    assert key.may_come_from(address) is is_allowed
    assert Caller().may_come_from(address)


@pytest.mark.parametrize(
    ("maker", "approver", "is_same"),
    [
        (make_key(1), make_key(1), True),
        (make_key(1), make_key(2), False),
        (make_key(1), make_key(3, lineage=1), True),
        (make_key(1, person=OWNER), make_key(2, person=OWNER), True),
        (make_key(1, person=OWNER), make_key(2, person=OTHER), False),
        (make_key(1, person=OTHER, holders=(OTHER, OWNER)), make_key(2, person=OWNER), True),
        (make_key(1, holders=(COMMAND,)), make_key(2, holders=(COMMAND,)), False),
        (make_person(OWNER), make_person(OWNER), True),
        (make_person(OWNER), make_person(OTHER), False),
        (make_key(1, person=OWNER), make_person(OWNER), True),
        (make_key(1, person=OWNER), make_person(OTHER), False),
        (make_person(OWNER), make_key(1, person=OWNER), True),
        (make_person(OWNER), make_key(1), False),
        # A key that the person rolled, and one of a colleague whom the person invited.
        (make_key(1, person=OTHER, behind=(OTHER, OWNER)), make_person(OWNER), True),
        (make_person(OWNER), make_key(1, person=OTHER, holders=(OTHER, OWNER)), True),
        (make_person(OWNER), make_key(1, person=OTHER, holders=(OTHER,), behind=(OTHER, OWNER)), False),
        # A colleague whom the person invited, and the other way round: after the cooling-off time.
        (make_person(OTHER, OWNER), make_person(OWNER), True),
        (make_person(OWNER), make_person(OTHER, OWNER), False),
        (make_person(OTHER, OWNER), make_key(1, person=OWNER, holders=(OWNER,)), True),
        (make_key(1, behind=(OWNER,)), make_key(2, person=OWNER), True),
    ],
)
def test_rolled_keys_and_keys_of_ones_own_are_no_other_party(maker: Caller, approver: Caller, is_same: bool) -> None:
    assert is_same_party(maker, approver) is is_same


def test_scopes_are_read_in_their_usual_order() -> None:
    assert read_scopes(["read", "collect"]) == ("collect", "read")
    assert read_scopes(["payout", "all"]) == ("all",)
    for wrong in ([], ["pay"], ["collect", "Pay", "x"]):
        with pytest.raises(ValueError, match=", ".join(wrong[-2:]) if "x" in wrong else "one or more of collect"):
            read_scopes(wrong)


def test_invalid_ranges_are_all_named() -> None:
    assert read_ranges([" 203.0.113.9 ", "10.0.0.0/8", "10.0.0.0/8"]) == ("203.0.113.9/32", "10.0.0.0/8")
    with pytest.raises(ValueError, match=r"not 10\.0\.0\.1/8, somewhere"):
        read_ranges(["10.0.0.1/8", "10.0.0.0/8", "somewhere"])
    with pytest.raises(ValueError, match="at most 50"):
        read_ranges([f"10.0.0.{n}" for n in range(MAX_ADDRESS_RANGES + 1)])


@pytest.mark.parametrize("name", ["", " payroll", "a\nb", "x" * 61])
def test_a_name_is_short_and_printable(name: str) -> None:
    assert check_key_name(name) is not None
    assert check_key_name("payroll server") is None
