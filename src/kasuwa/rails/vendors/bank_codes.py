"""Finds the code by which a vendor knows a bank.

A wrong code sends money to the wrong account, so a bank is mapped only by what identifies it, in this order: the NIP
code that the vendor gives, a table of exceptions, a name by which vendors are known to list the bank, or an equal CBN
code together with an agreeing name. What fits several banks of a vendor fits none. Transfers to other banks are refused
before anything is sent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

import msgspec

from kasuwa.core.banks import Bank, banks_by_code, by_size, normalize_bank_name
from kasuwa.rails.ports.orders import FAILED, Answer, LookupDeclined, NoAnswer, Unavailable

LIST_SECONDS = 86_400
# The answer to a transfer to a bank that cannot be identified. Nothing was sent; 16 is NIP's code of an unknown bank.
UNSERVED_BANK = Answer(FAILED, "16", "The bank cannot be reached by this rail", is_unsent=True)

# Words that vendors add to or leave out of names.
FILLERS = ("microfinance", "mfb", "merchant", "mortgage")

# Names under which vendors list banks that are called otherwise here, by NIP code.
KNOWN_NAMES: Mapping[str, tuple[str, ...]] = {
    "000003": ("FCMB", "First City Monument Bank (FCMB)"),
    "000004": ("UBA", "United Bank For Africa (UBA)"),
    "000009": ("Citibank", "Citi Bank"),
    "000010": ("Ecobank", "Ecobank Plc"),
    "000012": ("Stanbic IBTC", "Stanbic"),
    "000013": ("GTBank", "GTB", "GTBank Plc", "Guaranty Trust", "Guaranty Trust Bank (GTB)"),
    "000016": ("First Bank", "FirstBank", "FBN", "First Bank PLC"),
    "000018": ("Union Bank", "Union Bank PLC"),
    "000021": ("Standard Chartered", "Standard Chartered Bank"),
    "000031": ("Premium Trust Bank",),
    "000037": ("Alternative Bank", "Sterling Alternative Finance"),
    "090110": ("VFD", "VBank"),
    "090267": ("Kuda", "Kuda Bank", "Kuda MFB"),
    "090405": ("Moniepoint", "Moniepoint MFB"),
    "090551": ("FairMoney",),
    "100004": (
        "Opay",
        "OPay Digital Services Limited",
        "OPay Digital Services Limited (OPay)",
        "Paycom",
        "Paycom (Opay)",
        "Opay (Paycom)",
        "OPay/Paycom",
    ),
    "100026": ("Carbon", "One Finance"),
    "100033": ("PalmPay", "Palmpay Limited"),
    "120001": ("9PSB", "9mobile 9Payment Service Bank"),
    "120003": ("MoMo PSB", "MTN Momo PSB"),
    "120004": ("SmartCash PSB", "Airtel Smartcash PSB"),
}


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
    """Returns the names of our banks that have no code, the largest first."""
    missing = (bank for bank in dict.fromkeys(banks_by_code().values()) if bank not in codes)
    return [bank.name for bank in sorted(missing, key=by_size)]


def map_banks(listed: Iterable[VendorBank], exceptions: Mapping[str, str]) -> dict[Bank, str]:
    """Returns the vendor's code of each of our banks that can be identified.

    `exceptions` holds vendor codes by NIP code.
    """
    listed = list(listed)
    codes = {bank: find_code(bank, listed, exceptions) for bank in dict.fromkeys(banks_by_code().values())}
    return {bank: code for bank, code in codes.items() if code is not None}


def find_code(bank: Bank, listed: list[VendorBank], exceptions: Mapping[str, str]) -> str | None:
    """Returns the vendor's code of a bank, or None if it cannot be identified."""
    nip_code = bank.nip_code or ""
    by_nip = [other for other in listed if nip_code and other.nip_code == nip_code]
    if by_nip:
        return only_code(by_nip) or only_code(other for other in by_nip if do_names_agree(bank, other.name))
    # A NIP code that the vendor gives is another bank's.
    others = [other for other in listed if not other.nip_code or not nip_code]
    known = {exact_name(name) for name in KNOWN_NAMES.get(nip_code, ())}
    return (
        only_code(other for other in others if other.code == exceptions.get(nip_code))
        or only_code(other for other in others if exact_name(other.name) in known)
        or only_code(other for other in others if other.code == bank.cbn_code and do_names_agree(bank, other.name))
    )


def only_code(banks: Iterable[VendorBank]) -> str | None:
    """Returns the code that banks of a vendor have in common, or None."""
    codes = {bank.code for bank in banks}
    return codes.pop() if len(codes) == 1 else None


def exact_name(name: str) -> str:
    """Returns a name without case and punctuation."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in name.casefold()).split())


def do_names_agree(bank: Bank, name: str) -> bool:
    """Tells whether a vendor's name of a bank is ours, but for words such as "bank", "plc" and "mfb"."""
    theirs = simplify(name)
    return bool(theirs) and theirs in {simplify(bank.name), simplify(bank.short or "")}


def simplify(name: str) -> str:
    words = [word for word in name.casefold().replace("-", " ").split() if word.strip("()") not in FILLERS]
    return normalize_bank_name(" ".join(words))
