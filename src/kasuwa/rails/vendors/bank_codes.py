"""Finds the code by which a vendor knows a bank.

A wrong code sends money to a stranger, so a bank is mapped only by what identifies it: the NIP code that the vendor
gives, a table of exceptions, or an equal CBN code together with an agreeing name. Transfers to other banks are refused
before anything is sent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

import msgspec

from kasuwa.core.banks import Bank, banks_by_code, normalize_bank_name
from kasuwa.rails.ports import FAILED, Answer, LookupDeclined, NoAnswer, Unavailable

LIST_SECONDS = 86_400
# The answer to a transfer to a bank that cannot be identified. Nothing was sent; 16 is NIP's code of an unknown bank.
UNSERVED_BANK = Answer(FAILED, "16", "The bank cannot be reached by this rail", is_unsent=True)

# Words that vendors add to or leave out of names.
FILLERS = ("microfinance", "mfb", "merchant", "mortgage")


class VendorBank(msgspec.Struct, frozen=True):
    """A bank in the list of a vendor. `nip_code` is "" if the vendor does not tell it."""

    name: str
    code: str
    nip_code: str = ""


class BankList:
    """The banks of a vendor. Its list is read once a day. If it cannot be read, the last one stays."""

    def __init__(
        self, read: Callable[[], Awaitable[list[VendorBank]]], exceptions: Mapping[str, str], clock: Callable[[], float]
    ) -> None:
        self._read = read
        self._exceptions = exceptions
        self._clock = clock
        self._codes: dict[Bank, str] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def find_code(self, bank: Bank) -> str | None:
        """Returns the vendor's code of a bank, None if it cannot be identified. Raises Unavailable without a list."""
        return (await self._current()).get(bank)

    async def require_code(self, bank: Bank) -> str:
        """Returns the vendor's code of a bank, for a look-up. Raises LookupDeclined if it cannot be identified."""
        code = await self.find_code(bank)
        if code is None:
            raise LookupDeclined("it does not serve this bank")
        return code

    def is_mapped(self, bank_code: str) -> bool | None:
        """Tells whether the vendor serves a bank, by the list that was read last. None before the first one."""
        bank = banks_by_code().get(bank_code)
        return bank in self._codes if self._codes else None

    async def list_unmapped(self) -> list[str]:
        """Returns the names of our banks that the vendor cannot be asked to pay."""
        return list_missing(await self._current())

    def known_unmapped(self) -> list[str] | None:
        """Returns the same by the list that was read last. None before the first one."""
        return list_missing(self._codes) if self._codes else None

    async def _current(self) -> dict[Bank, str]:
        async with self._reading:
            if self._clock() - self._read_at > LIST_SECONDS:
                try:
                    self._codes = map_banks(await self._read(), self._exceptions)
                    self._read_at = self._clock()
                except (Unavailable, NoAnswer) as error:
                    if not self._codes:
                        notice = error.notice if isinstance(error, Unavailable) else ""
                        raise Unavailable(f"the list of banks cannot be read: {error}", notice=notice) from None
        return self._codes


def list_missing(codes: Mapping[Bank, str]) -> list[str]:
    return sorted(bank.name for bank in dict.fromkeys(banks_by_code().values()) if bank not in codes)


def map_banks(listed: Iterable[VendorBank], exceptions: Mapping[str, str]) -> dict[Bank, str]:
    """Returns the vendor's code of each of our banks that can be identified.

    `exceptions` holds vendor codes by NIP code.
    """
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
