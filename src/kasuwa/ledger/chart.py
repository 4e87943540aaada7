"""The chart of accounts: account kinds, their floors, and the names of accounts.

An account's name is `kind:owner:currency`, and it belongs to one merchant. Balances are credit-positive: what we owe
the merchant or its customers is above zero, what the outside owes us is below. The floor is stored with the account.
Rules never check balances: applying a group refuses it if an account would fall below its floor.
"""

from typing import ClassVar

import msgspec

from kasuwa.core.decision import Posting, Row
from kasuwa.core.money import CURRENCIES
from kasuwa.core.references import account_key


class AccountKind(msgspec.Struct, frozen=True):
    """A kind of account."""

    floor: int | None  # least value of posted - held; None for external and income accounts
    meaning: str


ACCOUNT_KINDS = {
    "wallet": AccountKind(0, "the merchant's own money"),
    "outside": AccountKind(None, "where money comes from and goes to, beyond every rail"),
    "rail": AccountKind(None, "money on its way through a rail, until the rail settles with the operator"),
    "card": AccountKind(0, "what can be spent with a virtual card"),
    "fx": AccountKind(None, "the operator's position in a currency that was bought or sold"),
    "income": AccountKind(None, "the operator's fees"),
    "tax": AccountKind(None, "tax collected and not yet paid over"),
    "settling": AccountKind(0, "collected for the merchant, and settled to its wallet on a later day"),
    "reserve": AccountKind(0, "collected for the merchant, and kept back until a day"),
    "receivable": AccountKind(None, "what the merchant owes the operator, below zero"),
    "unapplied": AccountKind(0, "paid in by customers, not yet enough for what it was meant for"),
    "suspense": AccountKind(0, "received from a rail for nobody who is known, until an operator decides"),
    "beneficiary": AccountKind(0, "somebody else's part of split payments, until it is paid out"),
    # What a client owes is a positive balance, so that the floor refuses a repayment of more than is owed.
    "loan_principal": AccountKind(0, "what a client owes of a loan's principal"),
    "loan_interest": AccountKind(0, "what a client owes of a loan's interest, as agreed for its whole life"),
    "loan_tax": AccountKind(0, "what a client owes of the tax on that interest"),
    "loan_penalty": AccountKind(0, "what a client owes for being late"),
    "loan_charge": AccountKind(0, "what a client owes of a loan's charges"),
    "loan_vat": AccountKind(0, "what a client owes of the VAT on those charges"),
    "loan_credit": AccountKind(0, "what a client paid beyond what was owed, to be given back"),
    "provision": AccountKind(0, "what a merchant sets aside for the loss of a loan"),
    "guarantor": AccountKind(0, "what a borrower owes a guarantor whose savings repaid a part of a loan"),
    "savings": AccountKind(0, "a client's savings, kept by the merchant"),
    "thrift": AccountKind(0, "a thrift plan's pot, empty between its cycles"),
    "shares": AccountKind(0, "what a member of a society paid for its shares"),
    "dividend": AccountKind(0, "a declared dividend, until every member has it"),
    "lending": AccountKind(None, "a merchant's loans all together: the other side of every loan's own accounts"),
}


# Accounts that every merchant may have in each currency. The others belong to one loan, card, savings account or rail.
COMMON = frozenset(
    {
        "wallet:main",
        "outside:funding",
        "fx:position",
        "unapplied:main",
        "suspense:inbound",
        "income:write_off",
        "income:bank_fee",
        "receivable:disputes",
        "tax:vat",
    }
)


def is_common(name: str) -> bool:
    owner, _, currency = name.rpartition(":")
    return owner in COMMON and currency in CURRENCIES


class Account(Row):
    """An account: its posted balance, the amount held, and its floor."""

    table: ClassVar[str] = "account"
    mutable_columns: ClassVar[tuple[str, ...]] = ("posted", "held")

    name: str
    currency: str
    posted: int
    held: int
    floor: int | None

    @property
    def available(self) -> int:
        return self.posted - self.held


def open_account(merchant_id: int, name: str) -> Account:
    """Returns a new, empty account. Its floor and currency follow from its name."""
    kind, _, currency = name.split(":")
    return Account(account_key(merchant_id, name), merchant_id, name, currency, 0, 0, ACCOUNT_KINDS[kind].floor)


def wallet(currency: str) -> str:
    return f"wallet:main:{currency}"


def suspense(currency: str) -> str:
    return f"suspense:inbound:{currency}"


def dispute_debt(currency: str) -> str:
    """Returns the account of what the merchant owes for disputes that its wallet did not cover."""
    return f"receivable:disputes:{currency}"


def outside(what: str, currency: str) -> str:
    return f"outside:{what}:{currency}"


def rail(name: str, currency: str) -> str:
    return f"rail:{name}:{currency}"


def card(short_id: str, currency: str) -> str:
    return f"card:{short_id}:{currency}"


def fx_position_account(currency: str) -> str:
    return f"fx:position:{currency}"


def income(source: str, currency: str) -> str:
    return f"income:{source}:{currency}"


def tax(name: str, currency: str) -> str:
    return f"tax:{name}:{currency}"


def loan(part: str, loan_id: str, currency: str) -> str:
    return f"loan_{part}:{loan_id}:{currency}"


def loan_provision(loan_id: str) -> str:
    return f"provision:{loan_id}:NGN"


def guarantor(guarantee_id: str) -> str:
    return f"guarantor:{guarantee_id}:NGN"


def lending(what: str, currency: str) -> str:
    return f"lending:{what}:{currency}"


def savings(savings_id: str) -> str:
    return f"savings:{savings_id}:NGN"


def thrift(thrift_id: str) -> str:
    return f"thrift:{thrift_id}:NGN"


def shares(holding_id: str) -> str:
    return f"shares:{holding_id}:NGN"


def dividend(dividend_id: str) -> str:
    return f"dividend:{dividend_id}:NGN"


def make_funding_posting(currency: str, amount: int) -> Posting:
    """Returns the posting that funds the wallet with money that the operator received from the merchant."""
    return Posting(outside("funding", currency), wallet(currency), amount, "wallet funding")
