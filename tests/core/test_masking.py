"""Card numbers in free text are masked; other numbers are left alone."""

import pytest

from kasuwa.core.masking import mask_card_numbers

MASKED = "539983******7895"


@pytest.mark.parametrize(
    "text",
    ["5399831234567895", "5399 8312 3456 7895", "5399-8312-3456-7895", "5399.8312.3456.7895"],
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
        "53998312345678955399831234567895",
        "5399  8312  3456  7895",
        "2026-11-15 09:30:00.123456",
    ],
)
def test_other_numbers_are_left_alone(text: str) -> None:
    assert mask_card_numbers(text) == text
