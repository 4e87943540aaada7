"""Names that match the BVN register, and names that do not."""

from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kasuwa.methods.clients.rules.match_names import PARTICLES, ClaimedIdentity, find_differing_fields, split_name
from tests.methods.clients.people import person


def differs(claimed: str, register: str) -> tuple[str, ...]:
    """Names as `first, last` or `first, middle, last`; the register's likewise."""
    first, *middle, last = (part.strip() for part in claimed.split(","))
    kept_first, *kept_middle, kept_last = (part.strip() for part in register.split(","))
    known = person(firstname=kept_first, middlename="".join(kept_middle), lastname=kept_last)
    return find_differing_fields(ClaimedIdentity(first, last, "".join(middle)), known)


# Accepted, whichever of the two is the claim and whichever the register.
SAME = [
    # case, accents, hyphens, apostrophes
    ("Ada, Obi", "ADA, OBI"),
    ("ada , OBI", "Ada, Obi"),
    ("ＡＤＡ, Obi", "ada, obi"),
    ("Ọlá, Ṣadé", "OLA, SADE"),
    ("Adébáyọ̀, Ọláwálé", "ADEBAYO, OLAWALE"),
    ("Olúwaṣeun, Adéṣínà", "OLUWASEUN, ADESINA"),
    ("Chịnedụ, Ọkọ́yẹ", "CHINEDU, OKOYE"),
    ("Ńnámdị, Azikiwe", "NNAMDI, AZIKIWE"),
    ("Ɗanladi, Ɓello", "DANLADI, BELLO"),
    ("Ƙasim, Ƴar'adua", "KASIM, YARADUA"),
    ("Zoë, Müller", "ZOE, MULLER"),
    ("Straße, Øre", "STRASSE, ORE"),
    ("Ada, O'Neil", "ADA, ONEIL"),
    ("Ada, O’Neil", "ADA, O'NEIL"),
    # double names, apart and together, and a part of one
    ("Ada, Adeyemi-Bello", "ADA, ADEYEMI BELLO"),
    ("Ada, Adeyemi Bello", "ADA, BELLO-ADEYEMI"),
    ("Ada, Adeyemi-Bello", "ADA, BELLO"),
    ("Ada, Adeyemi-Bello", "ADA, ADEYEMI"),
    ("Adaobi, Eze", "ADA-OBI, EZE"),
    ("Ada Obi, Eze", "ADAOBI, EZE"),
    ("Oluwa Seun, Ade Yemi", "OLUWASEUN, ADEYEMI"),
    ("Ade-Olu Wa, Bello", "ADE OLUWA, BELLO"),
    ("Abdul Rahman, Sani", "ABDULRAHMAN, SANI"),
    ("Musa, Al-Hassan", "MUSA, ALHASSAN"),
    ("Musa, Al-Hassan", "MUSA, HASSAN"),
    ("Maria, De La Cruz", "MARIA, DELACRUZ"),
    ("Maria, De La Cruz", "MARIA, CRUZ"),
    ("Maria, Grace, Souza", "MARIA, DE SOUZA"),
    # order
    ("Obi, Ada", "ADA, OBI"),
    ("Obi, Grace, Ada", "ADA, GRACE, OBI"),
    ("Bello-Adeyemi, Ada", "ADA, ADEYEMI"),
    # middle names: missing, initials, written elsewhere, the name one goes by
    ("Ada, Grace, Obi", "ADA, OBI"),
    ("Ada, Grace, Obi", "ADA, GRACE, OBI"),
    ("Ada, G., Obi", "ADA, GRACE, OBI"),
    ("Ada, G., Obi", "ADA, OBI"),
    ("Ada G, Obi", "ADA, GRACE, OBI"),
    ("Ada Grace, Obi", "ADA, GRACE, OBI"),
    ("Ada Grace, Obi", "ADA, G, OBI"),
    ("Ada, Grace, Obi", "GRACE, ADA, OBI"),
    ("Obi, Ada", "ADA, GRACE, OBI"),
    ("Ada, Eze, Obi", "ADA, OBI-EZE"),
    ("Al, Hassan", "AL, HASSAN"),
]

# A claim that says less than the register; the other way round it says too much, or a first name nobody knows.
LESS = [
    ("A. Grace, Obi", "ADA, GRACE, OBI"),
    ("Grace, Obi", "ADA, GRACE, OBI"),
    ("Ada, Obi", "ADA, GRACE MARY, OBI"),
    ("Ada, Obi", "ADA, GRACE, OBI-EZE"),
    ("Ada, Obi", "ADA GRACE, MARY, OBI"),
    ("Bola, Idris", "BOLA CHUKWUMA DONALD NNAMDI, IDRIS SMITH JONES"),
    ("Ada, G., Obi", "ADA, GRACE MARY, OBI EZE"),
]

# Refused, whichever is the claim; named are the fields of the one on the left.
DIFFERENT = [
    ("Ada, Obi", "ADA, EZE", ["lastname"]),
    ("Ada, Obi", "NGOZI, OBI", ["firstname"]),
    ("Ada, Obi", "NGOZI, EZE", ["firstname", "lastname"]),
    ("Ada, Obi", "ADAM, OBI", ["firstname"]),
    ("Ada, Ada", "ADA, OBI", ["lastname"]),
    ("Obi, Obi", "ADA, OBI", ["firstname"]),
    ("Ada, ---", "ADA, ---", ["lastname"]),
    ("..., Obi", "ADA, OBI", ["firstname"]),
    # an initial or a particle alone is no name
    ("A, Obi", "ADA, OBI", ["firstname"]),
    ("A, Obi", "A ADA, OBI", ["firstname"]),
    ("Ada, O", "ADA, OBI", ["lastname"]),
    ("Musa, Al", "MUSA, AL HASSAN", ["lastname"]),
    ("De, Van", "DE LA CRUZ, VAN DER BERG", ["firstname", "lastname"]),
    ("Maria, De Souza", "MARIA, DE SILVA", ["lastname"]),
    ("Abdul, Sani", "ABDUL RAHMAN, SANI", ["firstname"]),
    ("Jan, Van Berg", "JAN, DER BERG", ["lastname"]),
    # what is left over on both sides is another's
    ("Bola Xavier, Idris", "BOLA, TUNDE, IDRIS", ["firstname"]),
    ("Ada Grace, Obi", "ADA MARY, OBI", ["firstname"]),
    ("Ada, Grace, Obi", "ADA, FAITH, OBI", ["middlename"]),
    ("Ada, F., Obi", "ADA, GRACE, OBI", ["middlename"]),
    ("Ada, Xena, Obi", "ADA MARY, OBI", ["middlename"]),
    ("Ada, Obi-Eze", "ADA, OBI-NWOSU", ["lastname"]),
    ("Ada, Obi-Eze", "ADA, GRACE, OBI", ["lastname"]),
    ("Ada, Grace, Obi", "ADA, OBI-EZE", ["middlename"]),
    ("Ada, Grace Faith, Obi", "ADA, GRACE MARY, OBI", ["middlename"]),
    ("Ọlá Àdùkẹ́, Ṣadé", "OLA ABENI, SADE", ["firstname"]),
]

# Refused as a claim: it says more than one word that the register does not have.
TOO_MUCH = [
    ("Bola Chukwuma Donald Nnamdi, Idris Smith Jones", "BOLA, TUNDE, IDRIS", ["firstname", "lastname"]),
    ("Bola Chukwuma Donald Nnamdi, Idris Smith Jones", "BOLA, IDRIS", ["firstname", "lastname"]),
    ("Ada, Grace, Obi-Eze", "ADA, OBI", ["lastname", "middlename"]),
    ("Ada, Grace Mary, Obi", "ADA, OBI", ["middlename"]),
    ("Ada, Grace", "ADA, GRACE, OBI", ["lastname"]),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equivalent_names_match_in_both_directions(one: str, other: str) -> None:
    assert differs(one, other) == ()
    assert differs(other, one) == ()


@pytest.mark.parametrize(("claimed", "register"), LESS)
def test_who_says_less_than_the_register_is_accepted_and_who_says_more_is_not(claimed: str, register: str) -> None:
    assert differs(claimed, register) == ()
    assert differs(register, claimed) != ()


@pytest.mark.parametrize(("one", "other", "named"), DIFFERENT)
def test_other_names_are_refused_naming_the_differing_fields(one: str, other: str, named: list[str]) -> None:
    assert list(differs(one, other)) == named
    assert differs(other, one) != ()


@pytest.mark.parametrize(("claimed", "register", "named"), TOO_MUCH)
def test_who_says_more_than_a_word_that_the_register_does_not_have_is_refused(
    claimed: str, register: str, named: list[str]
) -> None:
    assert list(differs(claimed, register)) == named


def test_a_birth_date_is_equal_or_differs() -> None:
    ada = ClaimedIdentity("Ada", "Obi", "", "1990-04-17")
    assert find_differing_fields(ada, person()) == ()
    assert find_differing_fields(ada, person(dob="1990-04-18")) == ("dob",)
    assert find_differing_fields(ada, person(dob="1990-04-18", lastname="EZE")) == ("lastname", "dob")


def test_a_birth_date_that_one_side_does_not_say_is_not_compared() -> None:
    assert find_differing_fields(ClaimedIdentity("Ada", "Obi"), person()) == ()
    assert find_differing_fields(ClaimedIdentity("Ada", "Obi", "", "1990-04-17"), person(dob="")) == ()


def test_what_the_sandbox_says_agrees_does() -> None:
    stranger = ClaimedIdentity("Tunde", "Sani", "Musa", "1970-01-01")
    assert find_differing_fields(stranger, person(always_matching=("firstname", "lastname", "middlename", "dob"))) == ()
    assert find_differing_fields(stranger, person(always_matching=("dob",))) == ("firstname", "lastname")


NAMES = st.text(st.characters(categories=["Lu", "Ll", "Lo"]), min_size=2, max_size=12).filter(
    lambda name: len("".join(split_name(name))) > 1
)


@given(NAMES, NAMES, NAMES)
def test_names_match_themselves_in_either_order_and_any_case(first: str, last: str, middle: str) -> None:
    known = person(firstname=first, lastname=last, middlename=middle)
    assert find_differing_fields(ClaimedIdentity(first, last, middle), known) == ()
    assert find_differing_fields(ClaimedIdentity(last.swapcase(), first), known) == ()


def spellings(name: str) -> set[str]:
    return {*split_name(name), "".join(split_name(name))}


@given(NAMES, NAMES, NAMES, NAMES)
def test_a_claim_without_the_surname_or_a_part_of_it_is_refused(first: str, last: str, middle: str, other: str) -> None:
    known = person(firstname=first, lastname=last, middlename=middle)
    if find_differing_fields(ClaimedIdentity(first, other, middle), known) == ():
        assert spellings(last) & (spellings(first) | spellings(other))


@given(NAMES, NAMES, NAMES, NAMES)
def test_a_second_name_that_is_another_is_never_accepted_wherever_it_is_written(
    first: str, last: str, one: str, other: str
) -> None:
    parts = [split_name(name) for name in (first, last, one, other)]
    assume(all(len(words) == 1 for words in parts))
    assume(len({words[0] for words in parts}) == 4)
    assume(all("".join(pair) not in {words[0] for words in parts} for pair in permutations((w[0] for w in parts), 2)))
    assume(not {words[0] for words in parts} & PARTICLES)
    register = person(firstname=first, lastname=last, middlename=other)
    for claim in (
        ClaimedIdentity(first, last, one),
        ClaimedIdentity(f"{first} {one}", last),
        ClaimedIdentity(first, f"{one}-{last}"),
    ):
        assert find_differing_fields(claim, register) != ()
