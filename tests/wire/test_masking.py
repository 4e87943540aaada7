"""Card numbers in free text are masked; other numbers are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.wire.masking import mask_card_numbers, mask_reference

MASKED = "539983******7895"


@pytest.mark.parametrize(
    "text",
    [
        "5399831234567895",
        "5399 8312 3456 7895",
        "5399-8312-3456-7895",
        "5399.8312.3456.7895",
        "5399  8312  3456  7895",
        "5399 - 8312 - 3456 - 7895",
        "5399_8312_3456_7895",
        "5 3 9 9 8 3 1 2 3 4 5 6 7 8 9 5",
        *(sign.join(("5399", "8312", "3456", "7895")) for sign in "\u2009\u202f\u00a0\u200b\u2011\u2013\u2212\n\t"),
        "\uff15\uff13\uff19\uff19831234567895",
    ],
)
@pytest.mark.parametrize("around", ["{}", "card {} of Ada", "x{}y", "({})", "{}, {}"])
def test_a_card_number_is_masked_wherever_it_stands(text: str, around: str) -> None:
    assert mask_card_numbers(around.format(text, text)) == around.format(MASKED, MASKED)


@pytest.mark.parametrize("text", ["4111111111111111", "371449635398431", "6011111111111117", "5061460410120223210"])
def test_cards_of_other_networks_are_masked(text: str) -> None:
    assert text not in mask_card_numbers(f"paid by {text}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "School fees, third term",
        "0123456789",
        "22212345678",
        "+2348031234567",
        "5399831234567896",
        "GP|FD|236221303|20261115X",
        "order 1234567890123456",
        "4000001234567899017",
        "100004231115093012345678901234",
        "GP62622130320261115X",
        "5399|8312|3456|7895",
        "2026-11-15 09:30:00.123456",
    ],
)
def test_other_numbers_are_left_alone(text: str) -> None:
    assert mask_card_numbers(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("5399831234567895123", "539983******7895123"),
        ("53998312345678955399831234567895", "539983******7895539983******7895"),
        ("000 5399831234567895 1227", "000 539983******7895 1227"),
        ("99994111111111111111999", "9999411111******1111999"),
    ],
)
def test_a_card_of_a_known_issuer_is_masked_inside_a_longer_number(text: str, masked: str) -> None:
    assert mask_card_numbers(text) == masked
    assert mask_reference(text) == masked


@pytest.mark.parametrize("text", ["5399831234567895", "order-5399831234567895", "2026/5399 8312 3456 7895"])
def test_a_card_number_in_a_reference_is_masked(text: str) -> None:
    assert "831234567" not in mask_reference(text).replace(" ", "")


@given(
    st.integers(0, 999_999_999),
    st.dates().map(lambda day: f"{day:%Y%m%d}"),
    st.sampled_from(["GP{}{}X", "GP|FD|{}|{}X"]),
)
def test_our_own_references_are_never_changed(number: int, day: str, form: str) -> None:
    reference = form.format(f"{number:09d}", day)
    assert mask_reference(reference) == reference
