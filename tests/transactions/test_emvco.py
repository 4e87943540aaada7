"""QR code payloads, checked against published examples and with an independent parser."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import CURRENCIES
from kasuwa.transactions.qr_payload import (
    ACCOUNT_TEMPLATE_ID,
    QrPayment,
    append_checksum,
    to_printable_ascii,
    write_object,
    write_payload,
)

# The worked example of the standard's annex, in the order it is printed in.
TRANSPORT = (
    "00020101021229300012D156000000000510A93FO3230Q31280012D15600000001030812345678520441115802CN"
    "5914BEST TRANSPORT6007BEIJING64200002ZH0104最佳运输0202北京540523.7253031565502016233030412340603***"
    "0708A60086670902ME91320016A0112233449988770708123456786304A13A"
)
# Codes printed in the documents of two readers of such codes.
SHOP = (
    "00020101021252044131153137210116372101160123456789ABCDE6016Banteay Meanchey5913Kuntheas Shop"
    "5802KH540510.005303840621201081234567863041FF2"
)
JAPAN = (
    "0002010102121313JCB12345678900416MASTER12345678905204531153033925407999.1235802JP5906DONGRI6005TOKYO"
    "62240104hoge0504fuga0704piyo6304C343"
)


@dataclass
class Reader:
    """Cuts a payload into its objects, character by character."""

    left: str

    def take(self, count: int) -> str:
        assert len(self.left) >= count, "a length goes past the end"
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def objects(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.left:
            tag = self.take(2)
            assert tag not in found
            found[tag] = self.take(int(self.take(2)))
        return found


def checksum(text: str) -> str:
    """Computes the CRC-16 bit by bit, as it is defined."""
    register = 0xFFFF
    for byte in text.encode():
        register ^= byte << 8
        for _ in range(8):
            register = (register << 1) ^ (0x1021 if register & 0x8000 else 0)
            register &= 0xFFFF
    return f"{register:04X}"


def test_the_checksum_equals_the_published_check_value() -> None:
    assert checksum("123456789") == "29B1"


@pytest.mark.parametrize("published", [TRANSPORT, SHOP, JAPAN])
def test_published_codes_are_signed_as_they_were_printed(published: str) -> None:
    objects, tag, printed = published[:-8], published[-8:-4], published[-4:]
    assert tag == "6304"
    assert append_checksum(objects) == published
    assert checksum(published[:-4]) == printed


def test_the_objects_of_the_standards_example_are_written_as_printed() -> None:
    """Lengths count characters, not bytes: 最佳运输 has four."""
    templates = {
        "29": {"00": "D15600000000", "05": "A93FO3230Q"},
        "31": {"00": "D15600000001", "03": "12345678"},
        "64": {"00": "ZH", "01": "最佳运输", "02": "北京"},
        "62": {"03": "1234", "06": "***", "07": "A6008667", "09": "ME"},
        "91": {"00": "A011223344998877", "07": "12345678"},
    }
    plain = {
        "00": "01",
        "01": "12",
        "52": "4111",
        "58": "CN",
        "59": "BEST TRANSPORT",
        "60": "BEIJING",
        "54": "23.72",
        "53": "156",
        "55": "01",
    }
    objects = plain | {
        tag: "".join(write_object(inner, value) for inner, value in inside.items()) for tag, inside in templates.items()
    }
    order = ["00", "01", "29", "31", "52", "58", "59", "60", "64", "54", "53", "55", "62", "91"]
    assert append_checksum("".join(write_object(tag, objects[tag]) for tag in order)) == TRANSPORT


def test_a_payment_is_written_out() -> None:
    shown = QrPayment("GP0000001", "GP12345678920260105K", 150_000, "NGN", "Ada Stores")
    written = write_payload(shown)
    assert written[-4:] == checksum(written[:-4])
    objects = Reader(written).objects()
    assert next(iter(objects)) == "00"
    assert list(objects)[-1] == "63"
    account = objects.pop("26")
    assert Reader(account).objects() == {"00": ACCOUNT_TEMPLATE_ID, "01": "GP0000001"}
    assert objects == {
        "00": "01",
        "01": "12",
        "52": "0000",
        "53": "566",
        "54": "1500.00",
        "58": "NG",
        "59": "Ada Stores",
        "60": "Lagos",
        "62": "0520GP12345678920260105K",
        "63": written[-4:],
    }


shown_payments = st.builds(
    QrPayment,
    merchant=st.just("GP0000001"),
    reference=st.just("GP12345678920260105K"),
    amount=st.integers(1, 10**12 - 1),
    currency=st.sampled_from(CURRENCIES),
    name=st.text(),
    city=st.text(),
    country=st.sampled_from(["NG", "GH", "KE"]),
)


@given(shown_payments)
def test_a_code_is_readable_for_any_merchant_name(shown: QrPayment) -> None:
    written = write_payload(shown)
    objects = Reader(written).objects()
    assert written.isascii()
    assert written.isprintable()
    assert objects["63"] == checksum(written[:-4])
    assert 1 <= len(objects["59"]) <= 25
    assert 1 <= len(objects["60"]) <= 15


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ada Stores", "Ada Stores"),
        ("Ọlá & Ṣadé  Fashion", "Ola & Sade Fashion"),
        ("  Café\tRoyal\n", "Cafe Royal"),
        ("最佳运输", ""),
        ("The longest name in the whole market", "The longest name in the w"),
        ("A name of four and twenty more", "A name of four and twenty"),
        ("A name of four and twent y more", "A name of four and twent"),
    ],
)
def test_names_are_reduced_to_printable_ascii(text: str, plain: str) -> None:
    assert to_printable_ascii(text, 25) == plain


@pytest.mark.parametrize("value", ["", "x" * 100])
def test_a_value_has_one_to_ninety_nine_characters(value: str) -> None:
    with pytest.raises(ValueError, match="data object 59"):
        write_object("59", value)


def test_an_amount_that_is_too_long_raises() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        write_payload(QrPayment("GP0000001", "GP12345678920260105K", 10**13, "NGN", "Ada"))


def test_any_changed_character_breaks_the_checksum() -> None:
    written = write_payload(QrPayment("GP0000001", "GP12345678920260105K", 150_000, "NGN", "Ada Stores"))
    for place in range(len(written) - 4):
        other = written[:place] + chr(ord(written[place]) ^ 1) + written[place + 1 :]
        assert checksum(other[:-4]) != other[-4:]
