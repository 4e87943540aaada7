"""Nigerian banks: their codes (3, 5 or 6 digits) and the NUBAN check digit of account numbers.

Contract: resources#banks
"""

from functools import cache
from operator import mul

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.core.reference_tables import load_reference_data

NIP_DIGITS = 6


class Bank(msgspec.Struct, frozen=True):
    cbn_code: str | None
    nip_code: str | None  # 6 digits
    name: str
    short: str | None  # short name
    kind: str
    status: str


@cache
def all_banks() -> tuple[Bank, ...]:
    return msgspec.convert(load_reference_data("banks"), tuple[Bank, ...])


@cache
def banks_by_code() -> dict[str, Bank]:
    """Returns the banks by every accepted code. Closed banks are left out: transfers to them are returned."""
    banks: dict[str, Bank] = {}
    for bank in all_banks():
        if bank.status == "closed":
            continue
        for code in (bank.nip_code, bank.cbn_code):
            if code is not None:
                banks.setdefault(code, bank)
    return banks


@cache
def bank_names() -> dict[str, str]:
    """Returns the reply of the `banks` resource: names by 6-digit and by 3-digit code. Contract: resources#banks"""
    return {code: bank.name for code, bank in sorted(banks_by_code().items()) if len(code) in (3, 6)}


# NIP codes of the institutions with the most accounts, largest first.
LARGEST_BANKS = (
    "000014",
    "000015",
    "000004",
    "000016",
    "000013",
    "100004",
    "090405",
    "100033",
    "090267",
    "000010",
    "000007",
    "000003",
    "000018",
    "000012",
    "000001",
    "000017",
    "000008",
)


def by_size(bank: Bank) -> tuple[int, str]:
    """Sorts banks: the largest first, then commercial banks and the others by name."""
    if bank.nip_code in LARGEST_BANKS:
        return LARGEST_BANKS.index(bank.nip_code), bank.name
    return len(LARGEST_BANKS) + (bank.kind != "commercial"), bank.name


@cache
def bank_choices() -> tuple[tuple[str, str], ...]:
    """Returns code and name of each bank once, by name, for people to choose from. Most banks have two codes: the one
    that `bank_names` shows is taken, and of two the shorter."""
    codes: dict[Bank, str] = {}
    for code, bank in sorted(banks_by_code().items(), key=lambda item: (item[0] not in bank_names(), len(item[0]))):
        codes.setdefault(bank, code)
    return tuple(sorted(((code, bank.name) for bank, code in codes.items()), key=lambda one: one[1].casefold()))


def bank_of_code(code: str) -> Bank:
    """Returns the bank of an order by its code, also one that was closed since, or that is not known any more."""
    known_bank = banks_by_code().get(code)
    if known_bank is not None:
        return known_bank
    known = (bank for bank in all_banks() if code in (bank.nip_code, bank.cbn_code))
    unknown = Bank(
        None if len(code) == NIP_DIGITS else code, code if len(code) == NIP_DIGITS else None, "", None, "", ""
    )
    return next(known, unknown)


def normalize_bank_name(name: str) -> str:
    """Normalizes a bank name: no case, spaces, punctuation or words such as "bank" and "plc"."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return "".join(word for word in words if word not in ("bank", "plc", "limited", "ltd", "nigeria"))


@cache
def banks_by_name() -> dict[str, Bank]:
    """Returns the banks by normalized name and short name. Of two banks with the same name, the first is found."""
    banks: dict[str, Bank] = {}
    for bank in banks_by_code().values():
        for name in (bank.name, bank.short or ""):
            if normalize_bank_name(name):
                banks.setdefault(normalize_bank_name(name), bank)
    return banks


def find_bank(code_or_name: str) -> Bank | None:
    """Returns the bank with a code or a name (in any spelling), or None."""
    code = code_or_name.strip()
    return banks_by_code().get(code) or banks_by_name().get(normalize_bank_name(code))


# Prefix of a bank code in the check-digit calculation, by the code's length (CBN's NUBAN standard).
PADDING = {3: "000", 5: "9", 6: ""}
WEIGHTS = (3, 7, 3) * 5
# The weighted sum is taken over ASCII codes, where "0" is 48. This is subtracted from it.
ASCII_ZEROS = 48 * sum(WEIGHTS)


def nuban_check_digit(bank_code: str, serial: str) -> int:
    digits = (PADDING[len(bank_code)] + bank_code + serial).encode()
    total: int = sum(map(mul, digits, WEIGHTS)) - ASCII_ZEROS
    return -total % 10


# Sample accounts of the documentation, by NIP code. Public clients send them although their check digits are wrong.
SAMPLE_ACCOUNTS = {
    "000013": frozenset({"0040000008", "0040000009"}),
    "000014": frozenset({"0690000005", "0690000007", "0690000031"}),
}


def is_account_number(bank: Bank, account_number: str) -> bool:
    """Returns whether ten digits can be an account number of this bank.

    Mobile-money accounts are telephone numbers, and a bank without a CBN code has no check digit: both always pass.
    Contract: resources#banks
    """
    if bank.cbn_code is None or bank.kind == "mobile_money":
        return True
    return nuban_check_digit(bank.cbn_code, account_number[:9]) == int(account_number[9])


def is_sample_account(bank: Bank, account_number: str) -> bool:
    return account_number in SAMPLE_ACCOUNTS.get(bank.nip_code or "", ())


# In the test environment, account 000000RRVX selects the sandbox bank's answer. It needs no check digit.
# Contract: sandbox#magic
MAGIC_PREFIX = "000000"


def can_account_exist(merchant: Merchant, bank: Bank, account_number: str) -> bool:
    """Returns whether an account number is valid for the bank, or a sandbox value in the test environment."""
    if is_account_number(bank, account_number):
        return True
    if merchant.environment != "test":
        return False
    return account_number.startswith(MAGIC_PREFIX) or is_sample_account(bank, account_number)


def check_bank_code(merchant: Merchant, bank_code: str) -> str | None:
    """Field rule: returns what is wrong with a bank code, or None."""
    return None if bank_code in banks_by_code() else "no bank has this code; see the banks resource"


def check_account_number(merchant: Merchant, bank_code: str, account_number: str) -> str | None:
    """Field rule: returns what is wrong with an account number at a bank, or None. Ignores unknown bank codes."""
    bank = banks_by_code().get(bank_code)
    if bank is None or can_account_exist(merchant, bank, account_number):
        return None
    return f"not an account number of {bank.name}"
