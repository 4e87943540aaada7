"""Finds the code by which a vendor knows a bank.

A wrong code sends money to a stranger, so a bank is mapped only by what identifies it: the NIP code that the vendor
gives, a table of exceptions, or an equal CBN code together with an agreeing name. Transfers to other banks are refused
before anything is sent.
"""

from collections.abc import Iterable, Mapping

import msgspec

from kasuwa.core.banks import Bank, banks_by_code, normalize_bank_name

# Words that vendors add to or leave out of names.
FILLERS = ("microfinance", "mfb", "merchant", "mortgage")


class VendorBank(msgspec.Struct, frozen=True):
    """A bank in the list of a vendor. `nip_code` is "" if the vendor does not tell it."""

    name: str
    code: str
    nip_code: str = ""


def map_banks(listed: Iterable[VendorBank], exceptions: Mapping[str, str]) -> dict[Bank, str]:
    """Returns the vendor's code of each of our banks that can be told. `exceptions` holds vendor codes by NIP code."""
    listed = list(listed)
    by_nip = {bank.nip_code: bank.code for bank in listed if bank.nip_code}
    by_code = {bank.code: bank for bank in listed}
    found = {}
    for bank in dict.fromkeys(banks_by_code().values()):
        same_code = by_code.get(bank.cbn_code or "")
        code = by_nip.get(bank.nip_code or "")
        if code is None and exceptions.get(bank.nip_code or "") in by_code:
            code = exceptions[bank.nip_code or ""]
        if code is None and same_code is not None and do_names_agree(bank, same_code.name):
            code = same_code.code
        if code:
            found[bank] = code
    return found


def do_names_agree(bank: Bank, name: str) -> bool:
    """Tells whether a vendor's name of a bank is ours, but for words such as "bank", "plc" and "mfb"."""
    theirs = simplify(name)
    return bool(theirs) and theirs in {simplify(bank.name), simplify(bank.short or "")}


def simplify(name: str) -> str:
    words = [word for word in name.casefold().replace("-", " ").split() if word.strip("()") not in FILLERS]
    return normalize_bank_name(" ".join(words))


def list_unmapped(mapped: Mapping[Bank, str]) -> list[str]:
    """Returns the names of our banks that the vendor cannot be asked to pay."""
    return sorted(bank.name for bank in dict.fromkeys(banks_by_code().values()) if bank not in mapped)
