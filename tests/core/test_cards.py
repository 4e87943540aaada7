"""Card numbers: check digits, brands, issuers. The magic numbers of the sandbox are the vectors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.cards import bin_records, find_bin, find_brand, find_range, is_card_number, is_luhn, luhn_digit
from kasuwa.core.reference_tables import load_reference_data

MAGIC = load_reference_data("magic_values")
DIGITS = st.text("0123456789", min_size=11, max_size=18)

PUBLISHED = [
    ("4111111111111111", "visa"),
    ("4242424242424242", "visa"),
    ("4222222222222", "visa"),
    ("5123450000000008", "mastercard"),
    ("5438898014560229", "mastercard"),
    ("2223003122003222", "mastercard"),
    ("5060990000000016", "verve"),
    ("6011000990139424", "discover"),
    ("378282246310005", "amex"),
    ("6200000000000005", "unionpay"),
]


@pytest.mark.parametrize(("number", "brand"), PUBLISHED)
def test_a_published_number_is_right_and_has_its_brand(number: str, brand: str) -> None:
    assert is_luhn(number)
    assert is_card_number(number)
    assert find_brand(number) == brand


@pytest.mark.parametrize(("head", "brand"), [("650001", "discover"), ("650002", "verve"), ("650027", "verve")])
def test_a_brand_with_a_range_inside_anothers_is_tried_first(head: str, brand: str) -> None:
    assert find_brand(head) == brand


@given(DIGITS)
def test_one_check_digit_in_ten_is_right(head: str) -> None:
    right = [digit for digit in "0123456789" if is_luhn(head + digit)]
    assert right == [luhn_digit(head)]


@given(DIGITS, st.data())
def test_one_mistyped_digit_is_detected(head: str, data: st.DataObject) -> None:
    number = head + luhn_digit(head)
    place = data.draw(st.integers(0, len(number) - 1))
    typed = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != number[place]]))
    assert not is_luhn(number[:place] + typed + number[place + 1 :])


@pytest.mark.parametrize(
    "number", ["", "4111 1111 1111 1111", "٤١١١١١١١١١١١١١١١", "411111111111111²", "-4111111111111"]
)
def test_text_other_than_digits_is_not_a_card_number(number: str) -> None:
    assert not is_card_number(number)


@pytest.mark.parametrize("number", ["41111111111111", "51234500000016", "37828224631000", "0" * 11, "9" * 20])
def test_a_length_that_the_brand_does_not_have_is_refused(number: str) -> None:
    assert not is_card_number(number[:-1] + luhn_digit(number[:-1]))


def test_a_brand_that_is_not_known_may_have_any_length() -> None:
    assert find_brand("999999") is None
    assert is_card_number("99999999999" + luhn_digit("99999999999"))


def test_the_table_knows_the_issuer() -> None:
    found = find_bin("5399831234567892")
    assert (found.bin, found.brand, found.type, found.issuer, found.country) == (
        "539983",
        "mastercard",
        "debit",
        "GTBank",
        "NG",
    )
    assert find_bin("424242").country == "US"


def test_the_brand_is_known_for_an_unknown_issuer() -> None:
    found = find_bin("400000")
    assert (found.bin, found.brand, found.type, found.issuer, found.country) == ("400000", "visa", None, None, None)


def test_the_table_and_the_ranges_agree() -> None:
    """Otherwise the brand of a card would change when its BIN is added to the table."""
    ranged = {row.bin: find_range(row.bin) for row in bin_records().values()}
    assert [row.bin for row in bin_records().values() if (found := ranged[row.bin]) and found.brand != row.brand] == []
    assert all(len(head) == 6 and head.isdecimal() for head in bin_records())


def test_every_magic_card_is_a_card() -> None:
    rows = MAGIC["cards"]
    numbers = [value for row in rows for value in row.values() if isinstance(value, str) and len(value) == 16]
    assert len(numbers) > 50
    assert [number for number in numbers if not is_card_number(number)] == []
