"""Pseudonyms: the form of the value, the same for the same person, and another one with another key."""

import re

import pytest

from kasuwa.core.vault import Vault
from kasuwa.wire.pseudonyms import make_pseudonym

VAULT, OTHER = Vault(bytes(range(32))), Vault(bytes(range(1, 33)))


def pseudonym(text: str, vault: Vault = VAULT) -> str:
    return make_pseudonym(text, vault.hash_person)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Ada Obi", r"[A-Z][a-z]{9}"),
        ("ada@example.org", r"p[0-9a-f]{16}@example\.com"),
        ("08031234567", r"0803[0-9]{7}"),
        ("+2348031234567", r"\+234803[0-9]{7}"),
        ("0123456785", r"[1-9][0-9]{9}"),
        ("22212345678", r"[1-9][0-9]{10}"),
        ("1987-06-05", r"19[6-9][0-9]-[0-1][0-9]-[0-3][0-9]"),
    ],
)
def test_a_pseudonym_has_the_form_of_the_value(text: str, form: str) -> None:
    assert re.fullmatch(form, pseudonym(text)), pseudonym(text)
    assert pseudonym(text) == pseudonym(text)
    assert pseudonym(text) != text


def test_spellings_of_a_person_have_one_pseudonym() -> None:
    assert pseudonym("Ada  Obi ") == pseudonym("ADA OBI")
    assert pseudonym("ADA@example.org") == pseudonym("ada@example.org")
    assert pseudonym("08031234567")[1:] == pseudonym("+234 803 123 4567")[4:]


def test_people_and_keys_have_different_pseudonyms() -> None:
    assert len({pseudonym(f"Ada {number}") for number in range(2_000)}) == 2_000
    assert pseudonym("Ada Obi") != pseudonym("Ada Obi", OTHER)
    assert pseudonym("08031234567") != pseudonym("08031234567", OTHER)


def test_nothing_stays_nothing() -> None:
    assert pseudonym("  ") == ""
