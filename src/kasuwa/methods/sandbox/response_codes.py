"""The response codes of rails that a test asks for: those that approve, and what each means.

Transfers and bills have the codes of NIP, all others those of ISO 8583. A vendor may have further ones.
"""

from functools import cache

import msgspec

from kasuwa.core.reference_tables import load_reference_data

NIP_RAILS = frozenset({"bank", "biller"})
APPROVES = "approves, so it is not a decline"
DECLINES = "is not the code of an approval"


class ResponseCode(msgspec.Struct, frozen=True):
    meaning: str
    is_approval: bool


@cache
def nip_codes() -> dict[str, ResponseCode]:
    rows = load_reference_data("response_codes")["nip"]
    return {row["code"]: ResponseCode(row["meaning"], row["txnStatus"] == "successful") for row in rows}


@cache
def card_codes() -> dict[str, ResponseCode]:
    rows = load_reference_data("response_codes")["iso8583"]
    return {row["code"]: ResponseCode(row["meaning"], row["retry_class"] == "ok") for row in rows}


def find_code(rail: str, code: str) -> ResponseCode | None:
    """Returns what a code says when this rail answers it, or None if no table has it."""
    return (nip_codes() if rail in NIP_RAILS else card_codes()).get(code)


def check_code(rail: str, code: str, is_approval: bool) -> str | None:
    """Returns the error of a code that says the contrary of the rail's answer. A code that no table has declines."""
    known = find_code(rail, code)
    if is_approval is (known is not None and known.is_approval):
        return None
    return DECLINES if is_approval else APPROVES
