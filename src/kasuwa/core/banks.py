"""Nigerian banks: their codes in all three forms, and the check digit of an account number

Contract: resources#banks
"""

from functools import cache
from operator import mul

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.core.reference_tables import load_reference_data


class Bank(msgspec.Struct, frozen=True):
    cbn_code: str | None
    nip_code: str | None
    name: str
    short: str | None
    kind: str
    status: str


@cache
def all_banks() -> tuple[Bank, ...]:
    return msgspec.convert(load_reference_data("banks"), tuple[Bank, ...])


@cache
def banks_by_code() -> dict[str, Bank]:
    """Every accepted code. A closed bank is not one: money sent there comes back."""
    found: dict[str, Bank] = {}
    for bank in all_banks():
        if bank.status == "closed":
            continue
        for code in (bank.nip_code, bank.cbn_code):
            if code is not None:
                found.setdefault(code, bank)
    return found


@cache
def bank_names() -> dict[str, str]:
    """What `banks` answers: the 6-digit codes and the 3-digit ones in use. Contract: resources#banks"""
    return {code: bank.name for code, bank in sorted(banks_by_code().items()) if len(code) in (3, 6)}


def normalize_bank_name(name: str) -> str:
    """A bank's name without case, spaces and punctuation, and without the words that people leave out or add."""
    words = "".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()
    return "".join(word for word in words if word not in ("bank", "plc", "limited", "ltd", "nigeria"))


@cache
def banks_by_name() -> dict[str, Bank]:
    """Banks by their names and short names as `plain_name` makes them; a name that two share is the first's."""
    found: dict[str, Bank] = {}
    for bank in banks_by_code().values():
        for name in (bank.name, bank.short or ""):
            if normalize_bank_name(name):
                found.setdefault(normalize_bank_name(name), bank)
    return found


def find_bank(code_or_name: str) -> Bank | None:
    """A bank by any of its codes or by its name, however it is written; None where no bank is meant."""
    code = code_or_name.strip()
    return banks_by_code().get(code) or banks_by_name().get(normalize_bank_name(code))


# Three-digit codes are padded with 000, five-digit ones with 9 (data: CBN's NUBAN rule).
PADDING = {3: "000", 5: "9", 6: ""}
WEIGHTS = (3, 7, 3) * 5
# What the digits' own codes add to the weighted sum: "0" is 48.
ASCII_ZEROS = 48 * sum(WEIGHTS)


def nuban_check_digit(bank_code: str, serial: str) -> int:
    digits = (PADDING[len(bank_code)] + bank_code + serial).encode()
    total: int = sum(map(mul, digits, WEIGHTS)) - ASCII_ZEROS
    return -total % 10


# The documented sample accounts, which public clients send although their check digits are wrong.
SAMPLE_ACCOUNTS = {
    "000013": frozenset({"0040000008", "0040000009"}),
    "000014": frozenset({"0690000005", "0690000007", "0690000031"}),
}


def is_account_of(bank: Bank, account_number: str) -> bool:
    """Whether ten digits can be an account of this bank. Wallets number their customers by telephone,
    and a bank without a CBN code has no check digit to test. Contract: resources#banks"""
    if bank.cbn_code is None or bank.kind == "mobile_money":
        return True
    return nuban_check_digit(bank.cbn_code, account_number[:9]) == int(account_number[9])


def is_sample_account(bank: Bank, account_number: str) -> bool:
    return account_number in SAMPLE_ACCOUNTS.get(bank.nip_code or "", ())


# In the test environment an account 000000RRVX tells the bank how to answer; it needs no check digit.
MAGIC_PREFIX = "000000"


def can_account_exist(merchant: Merchant, bank: Bank, account_number: str) -> bool:
    if is_account_of(bank, account_number):
        return True
    if merchant.environment != "test":
        return False
    return account_number.startswith(MAGIC_PREFIX) or is_sample_account(bank, account_number)


def check_bank_code(merchant: Merchant, bank_code: str) -> str | None:
    """A rule (core.action.Rule) for every request that names a bank."""
    return None if bank_code in banks_by_code() else "no bank has this code; see the banks resource"


def check_account_number(merchant: Merchant, bank_code: str, account_number: str) -> str | None:
    bank = banks_by_code().get(bank_code)
    if bank is None or can_account_exist(merchant, bank, account_number):
        return None
    return f"not an account number of {bank.name}"
