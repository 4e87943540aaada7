"""Who a bank would take for the person of the register, and who not. (D31)"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.methods.clients.decide_names import Claimed, what_differs, words_of
from tests.methods.clients.people import person


def differs(claimed: str, register: str) -> tuple[str, ...]:
    """Names as `first, last` or `first, middle, last`; the register's likewise."""
    first, *middle, last = (part.strip() for part in claimed.split(","))
    kept_first, *kept_middle, kept_last = (part.strip() for part in register.split(","))
    known = person(firstname=kept_first, middlename="".join(kept_middle), lastname=kept_last)
    return what_differs(Claimed(first, last, "".join(middle)), known)


@pytest.mark.parametrize(
    ("claimed", "register"),
    [
        ("Ada, Obi", "ADA, OBI"),
        ("ada , OBI", "Ada, Obi"),
        ("Obi, Ada", "Ada, Obi"),
        ("Ọlá, Ṣadé", "OLA, SADE"),
        ("Zoë, Müller", "ZOE, MULLER"),
        ("Ɗanladi, Ɓello", "Danladi, Bello"),
        ("Straße, Øre", "STRASSE, ORE"),
        ("Ada, O'Neil", "ADA, ONEIL"),
        ("Ada, O’Neil", "ADA, O'NEIL"),
        ("Ada, Adeyemi-Bello", "ADA, ADEYEMI BELLO"),
        ("Ada, Adeyemi Bello", "ADA, BELLO-ADEYEMI"),
        ("Ada, Adeyemi-Bello", "ADA, BELLO"),
        ("Ada, Bello", "ADA, ADEYEMI-BELLO"),
        ("Adaobi, Eze", "ADA-OBI, EZE"),
        ("Ada Obi, Eze", "ADAOBI, EZE"),
        ("Ada, Obi", "ADA, GRACE, OBI"),
        ("Ada, Grace, Obi", "ADA, OBI"),
        ("Ada, Grace, Obi", "ADA, GRACE, OBI"),
        ("Ada, G., Obi", "ADA, GRACE, OBI"),
        ("Ada, Grace, Obi", "ADA, G, OBI"),
        ("Ada, Grace, Obi", "GRACE, ADA, OBI"),
        ("Grace, Obi", "ADA, GRACE, OBI"),
        ("Ada Grace, Obi", "ADA, GRACE, OBI"),
        ("Ada, Grace, Obi", "ADA GRACE, OBI"),
        ("Obi, Ada", "ADA, GRACE, OBI"),
        ("Ada, Obi", "ADA  , OBI "),
        ("ＡＤＡ, Obi", "ada, obi"),
    ],
)
def test_a_bank_would_accept_it(claimed: str, register: str) -> None:
    assert differs(claimed, register) == ()


@pytest.mark.parametrize(
    ("claimed", "register", "named"),
    [
        ("Ada, Obi", "ADA, EZE", ["lastname"]),
        ("Ada, Obi", "NGOZI, OBI", ["firstname"]),
        ("Ada, Obi", "NGOZI, EZE", ["firstname", "lastname"]),
        ("Ada, Obi", "ADAM, OBI", ["firstname"]),
        ("A, Obi", "ADA, OBI", ["firstname"]),
        ("A, Obi", "A ADA, OBI", ["firstname"]),
        ("Ada, Grace", "ADA, GRACE, OBI", ["lastname"]),
        ("Ada, Ada", "ADA, OBI", ["lastname"]),
        ("Obi, Obi", "ADA, OBI", ["firstname"]),
        ("Ada, Grace, Obi", "ADA, FAITH, OBI", ["middlename"]),
        ("Ada, F., Obi", "ADA, GRACE, OBI", ["middlename"]),
        ("Ada, ---", "ADA, ---", ["lastname"]),
        ("..., Obi", "ADA, OBI", ["firstname"]),
    ],
)
def test_a_bank_would_not_and_is_told_what_differs(claimed: str, register: str, named: list[str]) -> None:
    assert list(differs(claimed, register)) == named


def test_a_birth_date_is_equal_or_differs() -> None:
    ada = Claimed("Ada", "Obi", "", "1990-04-17")
    assert what_differs(ada, person()) == ()
    assert what_differs(ada, person(dob="1990-04-18")) == ("dob",)
    assert what_differs(ada, person(dob="1990-04-18", lastname="EZE")) == ("lastname", "dob")


def test_a_birth_date_that_one_side_does_not_say_is_not_compared() -> None:
    assert what_differs(Claimed("Ada", "Obi"), person()) == ()
    assert what_differs(Claimed("Ada", "Obi", "", "1990-04-17"), person(dob="")) == ()


def test_what_the_sandbox_says_agrees_does() -> None:
    stranger = Claimed("Tunde", "Sani", "Musa", "1970-01-01")
    assert what_differs(stranger, person(agrees=("firstname", "lastname", "middlename", "dob"))) == ()
    assert what_differs(stranger, person(agrees=("dob",))) == ("firstname", "lastname")


NAMES = st.text(st.characters(categories=["Lu", "Ll", "Lo"]), min_size=2, max_size=12).filter(
    lambda name: len("".join(words_of(name))) > 1
)


@given(NAMES, NAMES, NAMES)
def test_everybody_is_themselves_in_either_order_and_any_case(first: str, last: str, middle: str) -> None:
    known = person(firstname=first, lastname=last, middlename=middle)
    assert what_differs(Claimed(first, last, middle), known) == ()
    assert what_differs(Claimed(last.swapcase(), first), known) == ()


def spellings(name: str) -> set[str]:
    return {*words_of(name), "".join(words_of(name))}


@given(NAMES, NAMES, NAMES, NAMES)
def test_nobody_is_accepted_who_has_not_said_the_surname_or_a_part_of_it(
    first: str, last: str, middle: str, other: str
) -> None:
    known = person(firstname=first, lastname=last, middlename=middle)
    if what_differs(Claimed(first, other, middle), known) == ():
        assert spellings(last) & (spellings(first) | spellings(other))
