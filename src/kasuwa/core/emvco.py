"""The text inside a payment's QR code: EMV QR Code Specification for Payment Systems, Merchant-Presented Mode.

A payload is a row of data objects, each a two-digit tag, a two-digit length in characters, and a value; a template's
value is such a row again. The last object is a checksum over everything before its own value.
"""

import unicodedata
from binascii import crc_hqx

import msgspec

from kasuwa.core.money import format_minor
from kasuwa.core.reference_tables import load_reference_data

FORMAT_VERSION = "01"
# A new code for each payment: 11 would be one that hangs on a wall.
DYNAMIC_QR = "12"
# Under which name wallets find our account template: a UUID stands for who gives the codes out (4.7.4).
ACCOUNT_TEMPLATE_ID = "288dbe7e4c1e446b9155a884e2ae1eba"
# ISO 18245 has no category for a merchant that has told us none.
NO_CATEGORY = "0000"

LONGEST_VALUE = 99
LONGEST_NAME = 25
LONGEST_CITY = 15
LONGEST_AMOUNT = 13

CRC_TAG = "6304"
# CRC-16 of ISO/IEC 13239 with polynomial 1021: `crc_hqx` is that polynomial, started here.
CRC_START = 0xFFFF

NUMERIC_CURRENCIES = {
    currency["code"]: currency["numeric"] for currency in load_reference_data("currencies_countries")["currencies"]
}


class QrPayment(msgspec.Struct, frozen=True):
    """What a payer's wallet shows and sends back: `merchant` and `reference` together find the payment again, as two
    merchants may well use the same reference."""

    merchant: str
    reference: str
    amount: int
    currency: str
    name: str
    city: str = "Lagos"
    country: str = "NG"


def write_payload(shown: QrPayment) -> str:
    amount = format_minor(shown.amount)
    if len(amount) > LONGEST_AMOUNT:
        raise ValueError(f"an amount of {len(amount)} characters does not fit a QR code")
    return append_checksum(
        write_object("00", FORMAT_VERSION)
        + write_object("01", DYNAMIC_QR)
        + write_object("26", write_object("00", ACCOUNT_TEMPLATE_ID) + write_object("01", shown.merchant))
        + write_object("52", NO_CATEGORY)
        + write_object("53", NUMERIC_CURRENCIES[shown.currency])
        + write_object("54", amount)
        + write_object("58", shown.country)
        + write_object("59", to_printable_ascii(shown.name, LONGEST_NAME) or shown.merchant)
        + write_object("60", to_printable_ascii(shown.city, LONGEST_CITY) or shown.country)
        + write_object("62", write_object("05", shown.reference))
    )


def write_object(tag: str, value: str) -> str:
    if not 1 <= len(value) <= LONGEST_VALUE:
        raise ValueError(f"data object {tag} has {len(value)} characters")
    return f"{tag}{len(value):02d}{value}"


def append_checksum(objects: str) -> str:
    """The objects with their checksum, which also covers its own tag and length."""
    unsigned = objects + CRC_TAG
    return f"{unsigned}{crc_hqx(unsigned.encode(), CRC_START):04X}"


def to_printable_ascii(text: str, most: int) -> str:
    """A name in the letters that every scanner knows, printable ASCII: marks are taken off letters (Ọlá is Ola), and
    what has no such letter is left out. The standard measures names in those."""
    letters = unicodedata.normalize("NFKD", " ".join(text.split()))
    printable = "".join(letter for letter in letters if " " <= letter <= "~")
    return " ".join(printable.split())[:most].rstrip()
