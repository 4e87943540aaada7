"""The names of ledger accounts in beancount, one for each: no two accounts share a name.

beancount has five roots and its balances are debit-positive. A component begins with a capital or a digit and has
letters, digits and dashes.
"""

from functools import lru_cache

ROOTS = {
    "outside": "Assets",
    "rail": "Assets",
    "income": "Income",
    "fx": "Equity",
    # Accounts of what clients owe to the merchant, and their other side: they are no part of the operator's money.
    "lending": "Equity",
    "loan_principal": "Equity",
    "loan_interest": "Equity",
    "loan_tax": "Equity",
    "loan_penalty": "Equity",
    "loan_charge": "Equity",
    "loan_vat": "Equity",
    "provision": "Equity",
}
OTHER_ROOT = "Liabilities"


@lru_cache(maxsize=65536)
def beancount_account(mid: str, name: str) -> str:
    """Returns the name of an account, such as Liabilities:GP0000001:Wallet:Main:NGN for wallet:main:NGN."""
    kind, owner, currency = name.split(":")
    root = ROOTS.get(kind, OTHER_ROOT)
    return ":".join((root, mid, component(kind), component(owner), currency))


def component(text: str) -> str:
    """Returns a component that stands for a text, and for no other.

    A small first letter becomes a capital, so a text that begins with a capital gets `Id-` before it. Characters that
    beancount does not allow, and the dash, become a dash and two hexadecimal digits for each byte."""
    escaped = "".join(escape(character) for character in text)
    first = escaped[0]
    if first.isascii() and first.islower():
        return first.upper() + escaped[1:]
    return escaped if first.isdecimal() else f"Id-{escaped}"


def escape(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    return "".join(f"-{byte:02x}" for byte in character.encode())
