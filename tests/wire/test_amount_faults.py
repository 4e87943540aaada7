"""Amounts that are misspelled are told apart by their code, and the reason says how to write them."""

import msgspec
import pytest

from kasuwa.core import error_codes
from kasuwa.core.decision import FieldError
from kasuwa.wire.decoding import decode
from kasuwa.wire.fields import AMOUNT_REASON, Amount
from tests.rule_context import MERCHANT


class Order(msgspec.Struct):
    amount: Amount


def fault_of(text: str) -> FieldError:
    [fault] = decode(Order, f'{{"amount":{text}}}'.encode(), (), MERCHANT)
    assert isinstance(fault, FieldError)
    return fault


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('"1,500.00"', error_codes.AMOUNT_SEPARATORS),
        ('"1.500,00"', error_codes.AMOUNT_SEPARATORS),
        ('"1 500"', error_codes.AMOUNT_SEPARATORS),
        ('" 5"', error_codes.AMOUNT_SEPARATORS),
        ('"5\\n"', error_codes.AMOUNT_SEPARATORS),
        ('"NGN 500"', error_codes.AMOUNT_CURRENCY),
        ('"₦1,500.00"', error_codes.AMOUNT_CURRENCY),
        ('"500 NGN"', error_codes.AMOUNT_CURRENCY),
        ("-5", error_codes.AMOUNT_NEGATIVE),
        ('"-5.00"', error_codes.AMOUNT_NEGATIVE),
        ("0", error_codes.AMOUNT_ZERO),
        ('"0.00"', error_codes.AMOUNT_ZERO),
        ("1500.005", error_codes.AMOUNT_DECIMALS),
        ("1e3", error_codes.AMOUNT_EXPONENT),
        ('"1.5E+3"', error_codes.AMOUNT_EXPONENT),
        ("1" + "0" * 15, error_codes.AMOUNT_DIGITS),
        ("9" * 30, error_codes.AMOUNT_DIGITS),
        ('"much"', error_codes.AMOUNT_NO_NUMBER),
        ('"٥"', error_codes.AMOUNT_NO_NUMBER),
        ("true", error_codes.FIELD_WRONG_TYPE),
        ("[5]", error_codes.FIELD_WRONG_TYPE),
        ("null", error_codes.FIELD_REQUIRED),
    ],
)
def test_a_misspelled_amount_has_the_code_of_its_fault(text: str, code: str) -> None:
    fault = fault_of(text)
    assert fault.code == code
    if code.startswith("amount_"):
        assert fault.reason.startswith(AMOUNT_REASON)


def test_the_remarks_of_all_codes_differ() -> None:
    texts = ['"1,500.00"', '"NGN 500"', "-5", "0", "1500.005", "1e3", "9" * 30]
    assert len({fault_of(text).reason for text in texts}) == len(texts)


def test_a_long_text_is_no_number_and_takes_no_time() -> None:
    assert fault_of('"' + "1," * 50_000 + '"').code == error_codes.AMOUNT_NO_NUMBER
