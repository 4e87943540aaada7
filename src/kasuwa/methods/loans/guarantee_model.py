"""Rows of what secures a loan: guarantees by the savings of other clients, and collateral.

A guarantee holds a part of its savings: `held` is reserved on their account (docs/decisions/0099). What was called of
it is on an account of its own until the borrower has paid the guarantor:

    called          savings → wallet                    the part of the guarantor, and the loan is repaid with it
                    lending:guarantors → guarantor      what the borrower owes the guarantor for it
    repaid          wallet → savings                    the guarantor has it back
                    guarantor → lending:guarantors
    given up        guarantor → lending:guarantors      the guarantor waives it

Contract: loans#guarantees, loans#collateral
"""

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, Final

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import LoadedRows, Needs, Refusal, Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, opaque_id, row_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.loans.guarantee_wire import CollateralRecord, GuaranteeRecord
from kasuwa.methods.loans.model import CURRENCY, Loan

# A decision loads all guarantees of a loan with their savings. Contract: loans#guarantees
MAX_GUARANTEES: Final = 20
# Replies of a loan show all of it. Contract: loans#collateral
MAX_COLLATERAL: Final = 50

LENDING_GUARANTORS = chart.lending("guarantors", CURRENCY)

UNKNOWN_GUARANTEE = Refusal(INVALID_REQUEST, "Invalid Guarantee Reference", error_code="guarantee_not_found")
UNKNOWN_COLLATERAL = Refusal(INVALID_REQUEST, "Invalid Collateral Reference", error_code="collateral_not_found")


# --- guarantees -----------------------------------------------------------------------------------------------


class LoanGuarantee(Row):
    """A part of a client's savings that guarantees a loan of another client. Amounts are in minor units."""

    table: ClassVar[str] = "loan_guarantee"
    mutable_columns: ClassVar[tuple[str, ...]] = ("held", "called", "owed", "short", "released_at", "row_code")
    coded_columns: ClassVar[tuple[str, ...]] = (
        "guarantee_id",
        "loan_id",
        "n",
        "borrower_id",
        "client_id",
        "savings_id",
        "amount",
        "base",
        "called",
    )

    guarantee_id: str
    number: int  # the merchant's running number; lists are ordered by it
    loan_id: str
    n: int  # place among those of the loan, from 1
    borrower_id: str
    client_id: str  # the guarantor
    savings_id: str
    amount: int  # what the guarantor answers for at most
    base: int  # principal that was not repaid when it was pledged
    held: int  # reserved on the savings now
    created_at: datetime
    called: int = 0  # paid from the savings so far
    owed: int = 0  # the part of it that the borrower owes the guarantor
    short: int = 0  # what should be held too, and the savings did not have
    released_at: datetime | None = None  # by the merchant
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


def make_guarantee_id(loan_id: str, n: int) -> str:
    """Returns the id of a loan's guarantee. It follows from its place alone, so that a loan finds its guarantees in a
    copy of the books too."""
    return opaque_id("GU", f"{loan_id} {n}".encode())


def guarantee_key(merchant_id: int, guarantee_id: str) -> bytes:
    return row_key(merchant_id, LoanGuarantee.table, guarantee_id)


def list_guarantee_keys(loan: Loan) -> list[bytes]:
    merchant_id, places = loan.merchant_id, range(1, loan.guarantees + 1)
    return [guarantee_key(merchant_id, make_guarantee_id(loan.loan_id, n)) for n in places]


def find_guarantees(loan: Loan, rows: LoadedRows) -> tuple[LoanGuarantee, ...] | None:
    """Returns the guarantees of a loan, or None if they are not loaded yet."""
    keys = list_guarantee_keys(loan)
    if not all(rows.is_loaded(key) for key in keys):
        return None
    rows_of_loan = (rows.get(LoanGuarantee, key) for key in keys)
    return tuple(one for one in rows_of_loan if one is not None)


def need_guarantees(loan: Loan) -> Needs:
    return Needs(tuple((LoanGuarantee, key) for key in list_guarantee_keys(loan)))


def need_pledged_accounts(merchant_id: int, guarantees: Iterable[LoanGuarantee]) -> Needs:
    """Returns the accounts of the savings that are pledged."""
    names = tuple(dict.fromkeys(chart.savings(one.savings_id) for one in guarantees))
    return Needs(tuple((Account, account_key(merchant_id, name)) for name in names), names)


def describe_state(guarantee: LoanGuarantee) -> str:
    if guarantee.released_at is not None:
        return "released"
    if guarantee.held:
        return "active"
    return "called" if guarantee.owed else "ended"


def make_guarantee_record(guarantee: LoanGuarantee) -> GuaranteeRecord:
    released_at = guarantee.released_at
    return GuaranteeRecord(
        guarantee_id=guarantee.guarantee_id,
        loan_id=guarantee.loan_id,
        borrower_id=guarantee.borrower_id,
        client_id=guarantee.client_id,
        savings_id=guarantee.savings_id,
        state=describe_state(guarantee),  # type: ignore[arg-type]
        amount=format_minor(guarantee.amount),
        held=format_minor(guarantee.held),
        called=format_minor(guarantee.called),
        owed=format_minor(guarantee.owed),
        shortfall=format_minor(guarantee.short),
        date_created=utc_text(guarantee.created_at),
        date_released=UNSET if released_at is None else utc_text(released_at),
    )


# --- collateral -----------------------------------------------------------------------------------------------


class LoanCollateral(Row):
    """A thing that secures a loan, as the merchant described it."""

    table: ClassVar[str] = "loan_collateral"
    mutable_columns: ClassVar[tuple[str, ...]] = ("returned_at",)

    collateral_id: str
    loan_id: str
    n: int  # place among that of the loan, from 1
    client_id: str  # the borrower
    description: str
    value: int  # in minor units
    documents: str  # SHA-256 hashes, separated by commas
    created_at: datetime
    returned_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return False


def make_collateral_id(loan_id: str, n: int) -> str:
    return opaque_id("CT", f"{loan_id} {n}".encode())


def collateral_key(merchant_id: int, collateral_id: str) -> bytes:
    return row_key(merchant_id, LoanCollateral.table, collateral_id)


def make_collateral_record(collateral: LoanCollateral) -> CollateralRecord:
    returned_at = collateral.returned_at
    return CollateralRecord(
        collateral_id=collateral.collateral_id,
        loan_id=collateral.loan_id,
        client_id=collateral.client_id,
        description=collateral.description,
        value=format_minor(collateral.value),
        documents=collateral.documents.split(",") if collateral.documents else [],
        state="held" if returned_at is None else "returned",
        date_created=utc_text(collateral.created_at),
        date_returned=UNSET if returned_at is None else utc_text(returned_at),
    )


ERASED_DESCRIPTION = "(erased)"


class ErasableCollateral(LoanCollateral):
    """Collateral whose only writable column is `description`, which nothing but an erasure changes."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("description",)


def erase_description(collateral: ErasableCollateral) -> ErasableCollateral:
    return msgspec.structs.replace(collateral, description=ERASED_DESCRIPTION)
