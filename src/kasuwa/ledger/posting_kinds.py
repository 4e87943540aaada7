"""The kinds of postings: what money means, in one table. The rule that makes a posting sets its kind.

Reports, settlements and the audit read the kind and nothing else: not the reference, not the names of accounts, not
the title. The CHECK of table `posting` has the same kinds (tests/ledger/test_posting_kinds.py compares them).

Statements, proofs and timelines show a posting's title. It is the kind, except that the VAT on every fee has one title,
and so have transfers and payouts by schedule. The chain covers the title (docs/decisions/0094).
"""

from itertools import product

import msgspec

from kasuwa.core.money import CURRENCIES
from kasuwa.terms.conversion import HOME


class PostingKind(msgspec.Struct, frozen=True):
    """A kind of posting."""

    line: str = ""  # of the settlement that a posting of it on a wallet belongs to; "" for none
    title: str = ""  # what statements show; "" if that is the kind


def of_line(line: str, *kinds: str) -> dict[str, PostingKind]:
    return dict.fromkeys(kinds, PostingKind(line))


def without_line(*kinds: str) -> dict[str, PostingKind]:
    return dict.fromkeys(kinds, PostingKind())


# The kinds of VAT, and the fees that each is charged on. Both are in one posting group.
VAT_OF_FEES = {
    "collection VAT": ("collection fee",),
    "dispute VAT": ("dispute fee",),
    "transfer VAT": ("transfer fee",),
    "bill VAT": ("bill fee",),
    "cashcode VAT": ("cashcode fee",),
    "card VAT": (
        "card issuance fee",
        "card funding fee",
        "card withdrawal fee",
        "card termination fee",
        "card monthly fee",
    ),
}
VAT_TITLE = "VAT on fee"
VAT_LINES = {"collection VAT": "vat", "dispute VAT": "disputes"}

PAYOUT = "payout"  # by schedule, from the wallet
TRANSFER = "transfer"

# What a client owes of a loan, and what happens to it.
LOAN_PARTS = ("principal", "interest", "tax", "penalty", "charge", "vat")
LOAN_STEPS = (
    "agreed",
    "by the schedule computed anew",
    "repaid",
    "deducted",
    "not used",
    "waived",
    "written off",
    "recovered",
    "reversed",
    "for lateness",
    "capitalized",
    "refinanced",
)

POSTING_KINDS: dict[str, PostingKind] = {
    # collections
    **of_line("gross", "payment"),
    **of_line("settled", "settlement"),
    **of_line("fee", "collection fee"),
    **of_line("split", "split"),
    **of_line("refunds", "refund"),
    **of_line("disputes", "dispute", "dispute fee", "dispute advance", "dispute debt"),
    **of_line("reserve", "reserve", "reserve released"),
    **{kind: PostingKind(VAT_LINES.get(kind, ""), VAT_TITLE) for kind in VAT_OF_FEES},
    **without_line(
        "inbound transfer",
        "applied",
        "paid after the payment had failed",
        "paid more than was asked for",
        "returned to the payer",
        "received for nobody known",
        "assigned from suspense",
        "returned from suspense",
    ),
    # money out
    PAYOUT: PostingKind("paid_out", TRANSFER),
    **without_line(TRANSFER, "transfer fee", "stamp duty"),
    **without_line("bill", "bill fee", "bill commission"),
    **without_line("cash drawn", "cashcode fee"),
    # cards
    **without_line("card purchase", "card refund", "card refund taken back"),
    **without_line("card funding", "card withdrawal", "card termination", *VAT_OF_FEES["card VAT"]),
    **without_line(
        *(f"{currency} {deal}" for currency in CURRENCIES if currency != HOME for deal in ("bought", "sold"))
    ),
    # loans and savings
    **without_line(*(f"{part} {step}" for step, part in product(LOAN_STEPS, LOAN_PARTS))),
    **without_line("paid too much", "paid back", "credit used", "provision raised", "provision released"),
    **without_line("guarantee called", "owed to a guarantor", "guarantor repaid", "claim of a guarantor waived"),
    **without_line("deposit held", "deposit released", "deposit sent back", "deposit kept for a dispute"),
    **without_line("savings deposit", "savings cash-out", "savings closed meanwhile", "interest", "withholding tax"),
    **without_line("thrift contribution", "thrift payout", "thrift debt"),
    **without_line("shares bought", "shares transferred", "shares redeemed"),
    **without_line("dividend declared", "dividend", "dividend tax", "dividend returned"),
    # the operator
    **without_line("wallet funding", "manual posting", "write-off", "reversed by the rail", "paid by the rail"),
    **without_line(
        "reconciliation: fee of the bank or rail",
        "reconciliation: unknown: keep it in suspense",
        "reconciliation: write it off",
        "reconciliation: the merchant's: its wallet",
    ),
}

# Kinds whose title is another text, with that text.
TITLES = {kind: entry.title for kind, entry in POSTING_KINDS.items() if entry.title}


def title_sql(column: str = "kind") -> str:
    """Returns SQL of the title of a posting, from the column that has its kind."""
    cases = " ".join(f"when '{kind}' then '{title}'" for kind, title in TITLES.items())
    return f"case {column} {cases} else {column} end"
