"""Texts of one message: their characters, their length, and what is left out."""

import pytest

from kasuwa.terms.sms import MAX_SMS_LENGTH, fold_text, is_one_sms, is_sms_number, write_sms

LINK = "https://pay.example.com/pay/invoice/" + "f" * 48


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Àdé's Café", "Ades Cafe"),
        ("₦5,000 – today; a|b", "NGN 5,000 - today, a-b"),
        ("a\r\nBcc:\tb", "a Bcc: b"),
        ("Ada\u202eevil {x} ~ €", "Ada evil ?x? ? ?"),
        ("一二", "??"),
    ],
)
def test_a_text_is_written_in_the_characters_of_a_message(text: str, folded: str) -> None:
    assert fold_text(text) == folded
    assert is_one_sms(folded)


def test_a_name_is_cut_and_a_link_is_not() -> None:
    text = write_sms(
        "Adaobi and Daughters Limited, Fashion and Fabrics", "Invoice INV-000001, due 5 Mar 2026. Pay:", LINK
    ).text
    assert text.startswith("Adaobi and Daughters Limited,")
    assert text.endswith(f": Invoice INV-000001, due 5 Mar 2026. Pay: {LINK}")
    assert len(text) <= MAX_SMS_LENGTH
    assert is_one_sms(text)


@pytest.mark.parametrize("link", ["https://pay.example.com/" + "f" * 120, "https://pay.example.com/~a"])
def test_a_link_that_does_not_fit_is_left_out(link: str) -> None:
    text = write_sms("Ada Stores", "Invoice INV-000001 is due.", link).text
    assert text == "Ada Stores: Invoice INV-000001 is due."


def test_words_without_room_for_a_name_are_cut() -> None:
    text = write_sms("Ada Stores", "x" * 300).text
    assert text == "x" * MAX_SMS_LENGTH


@pytest.mark.parametrize(
    "number", ["08031234567", "2348031234567", "+234", "+0348031234567", "+234803123456789012", ""]
)
def test_a_number_without_its_calling_code_is_none(number: str) -> None:
    assert not is_sms_number(number)
    assert is_sms_number("+2348031234567")
