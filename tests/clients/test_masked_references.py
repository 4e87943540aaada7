"""Hooks of the Python client see references whole, and card numbers not at all."""

from kasuwa_client._masking import mask

CARD = "4111111111111111"


def has_check_digit(digits: str) -> bool:
    doubled = [int(digit) * (1 + n % 2) for n, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def find_reference() -> str:
    """Returns a payment's reference whose digits have the check digit of a card number."""
    for number in range(100_000_000, 100_000_100):
        if has_check_digit(f"{number}20260105"):
            return f"GP{number}20260105L"
    raise AssertionError("one in ten has it")


def test_a_reference_of_a_payment_is_not_taken_for_a_card_number() -> None:
    reference = find_reference()
    assert mask({"txnRef": reference, "message": f"{reference} was paid"}) == {
        "txnRef": reference,
        "message": f"{reference} was paid",
    }


def test_ids_of_events_and_made_references_are_not_taken_for_card_numbers() -> None:
    for reference in (f"kc-e04f72114974e{CARD}abc", f"evt_{CARD}abcd"):
        assert mask({"orderRef": reference, "message": f"{reference}: sent"}) == {
            "orderRef": reference,
            "message": f"{reference}: sent",
        }


def test_digits_that_are_no_reference_are_masked_also_after_its_letters() -> None:
    digits = find_reference()[2:-1]
    for text in (
        CARD,
        f"GP{CARD}",
        f"GP{digits}",
        f"GP{digits}LX",
        f"gp{digits}L",
        f"kc-{CARD}",
        f"evt_{CARD}",
        f"card {CARD[:4]} {CARD[4:]}",
    ):
        assert "***" in mask(text), text
        assert CARD not in mask(text)
