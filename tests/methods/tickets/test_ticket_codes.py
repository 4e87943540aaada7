"""Codes of tickets: form, check character, and what people make of them. (Contract: resources#ticket-codes)"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.methods.tickets.ticket_codes import ALPHABET, format_ticket_code, make_ticket_code, read_ticket_code
from tests.walk.bounds import TICKET_CODE

CODES = st.binary(min_size=32, max_size=32).map(lambda entropy: make_ticket_code(entropy, 1))


def test_the_alphabet_has_no_look_alikes() -> None:
    assert (len(ALPHABET), len(set(ALPHABET))) == (32, 32)
    assert not set("01IO") & set(ALPHABET)


def test_codes_of_one_purchase_differ_and_depend_on_the_entropy() -> None:
    codes = [make_ticket_code(bytes([seed] * 32), number) for seed in range(20) for number in range(1, 21)]
    assert len(set(codes)) == 400
    assert make_ticket_code(bytes(32), 1) == make_ticket_code(bytes(32), 1)


@given(CODES)
def test_a_code_is_read_however_it_is_spelled(code: str) -> None:
    shown = format_ticket_code(code)
    assert (len(code), shown.count("-")) == (12, 2)
    for text in (code, shown, shown.lower(), f" {shown.replace('-', ' ')} "):
        assert read_ticket_code(text) == code


@given(CODES, st.integers(0, 11), st.sampled_from(ALPHABET))
def test_every_wrong_character_is_found(code: str, place: int, character: str) -> None:
    wrong = code[:place] + character + code[place + 1 :]
    assert read_ticket_code(wrong) == (code if wrong == code else None)


@pytest.mark.parametrize("text", ["", "2222", "0" * 12, "I" * 12, "٣" * 12, "2" * 13])
def test_what_is_no_code_is_refused(text: str) -> None:
    assert read_ticket_code(text) is None


@TICKET_CODE.tries
def test_a_code_has_twelve_characters(value: int, is_within: bool) -> None:
    code = make_ticket_code(bytes(32), 1)
    # Codes of other lengths end with every possible check character.
    texts = [code] if value == len(code) else [(code * 2)[: value - 1] + last for last in ALPHABET]
    assert {read_ticket_code(text) is not None for text in texts} == {is_within}
