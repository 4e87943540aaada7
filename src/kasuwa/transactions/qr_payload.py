"""The payload of a payment's QR code: EMV QR Code Specification for Payment Systems, Merchant-Presented Mode.

A payload is a sequence of data objects: two-digit tag, two-digit length in characters, value. The value of a template
is again such a sequence. The last object is a checksum over everything before its own value.
"""

import unicodedata
from binascii import crc_hqx

import msgspec

from kasuwa.core.money import format_minor
from kasuwa.core.reference_tables import load_reference_data

FORMAT_VERSION = "01"
# Point of initiation method 12: a new code for each payment. 11 is a static code.
DYNAMIC_QR = "12"
# Globally unique identifier of our merchant account template, a UUID (section 4.7.4 of the specification).
ACCOUNT_TEMPLATE_ID = "288dbe7e4c1e446b9155a884e2ae1eba"
# Merchant category code if none is known. ISO 18245 defines no such value.
NO_CATEGORY = "0000"

LONGEST_VALUE = 99
LONGEST_NAME = 25
LONGEST_CITY = 15
LONGEST_AMOUNT = 13

CRC_TAG = "6304"
# Initial value of the CRC-16 of ISO/IEC 13239. `crc_hqx` uses its polynomial, 0x1021.
CRC_START = 0xFFFF

NUMERIC_CURRENCIES = {
    currency["code"]: currency["numeric"] for currency in load_reference_data("currencies_countries")["currencies"]
}


class QrPayment(msgspec.Struct, frozen=True):
    """The payment details in a QR code."""

    # Merchant and reference together identify the payment: two merchants may use the same reference.
    merchant: str
    reference: str
    amount: int  # in minor units
    currency: str
    name: str  # of the merchant, as the payer's wallet shows it
    city: str = "Lagos"
    country: str = "NG"


def write_payload(payment: QrPayment) -> str:
    """Returns the QR code's text. Raises ValueError if a value is too long for its data object."""
    amount = format_minor(payment.amount)
    if len(amount) > LONGEST_AMOUNT:
        raise ValueError(f"an amount of {len(amount)} characters does not fit a QR code")
    return append_checksum(
        write_object("00", FORMAT_VERSION)
        + write_object("01", DYNAMIC_QR)
        + write_object("26", write_object("00", ACCOUNT_TEMPLATE_ID) + write_object("01", payment.merchant))
        + write_object("52", NO_CATEGORY)
        + write_object("53", NUMERIC_CURRENCIES[payment.currency])
        + write_object("54", amount)
        + write_object("58", payment.country)
        + write_object("59", to_printable_ascii(payment.name, LONGEST_NAME) or payment.merchant)
        + write_object("60", to_printable_ascii(payment.city, LONGEST_CITY) or payment.country)
        + write_object("62", write_object("05", payment.reference))
    )


def write_object(tag: str, value: str) -> str:
    if not 1 <= len(value) <= LONGEST_VALUE:
        raise ValueError(f"data object {tag} has {len(value)} characters")
    return f"{tag}{len(value):02d}{value}"


def append_checksum(objects: str) -> str:
    """Appends the CRC-16 object to the encoded objects. The checksum also covers its own tag and length."""
    unsigned = objects + CRC_TAG
    return f"{unsigned}{crc_hqx(unsigned.encode(), CRC_START):04X}"


def to_printable_ascii(text: str, most: int) -> str:
    """Reduces a name to printable ASCII of at most `most` characters: removes diacritics (Ọlá becomes Ola) and drops
    every other character, because not every scanner reads them."""
    letters = unicodedata.normalize("NFKD", " ".join(text.split()))
    printable = "".join(letter for letter in letters if " " <= letter <= "~")
    return " ".join(printable.split())[:most].rstrip()
