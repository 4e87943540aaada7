"""Requests and replies of guarantees and collateral on `PUT /loans`. Docstrings are the descriptions in the OpenAPI
document.

Contract: loans#guarantees, loans#collateral
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.methods.loans.guarantee_wire import CollateralRecord, GuaranteeRecord
from kasuwa.methods.loans.wire import Allocation, LoanRecord
from kasuwa.wire.fields import END, FREE_TEXT, Amount, Reference
from kasuwa.wire.interest_wire import DryRunFigure
from kasuwa.wire.paging import Paged

Description = Annotated[str, Meta(min_length=1, max_length=500, description="1 to 500 characters", extra=FREE_TEXT)]
Sha256 = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}" + END, max_length=64, description="a SHA-256 hash of 64 hexadecimal digits")
]
Documents = Annotated[list[Sha256], Meta(max_length=20, description="at most 20 hashes")]


# --- guarantees ---------------------------------------------------------------------------------------------


class PledgeRequest(msgspec.Struct, kw_only=True):
    """Pledges a part of a client's savings for the loan of another client."""

    loan_id: Reference
    "The loan: not yet paid out, or not yet repaid."
    client_id: Reference
    "The guarantor. The client must be active, and another one than the borrower."
    savings_id: Reference
    "Savings of the guarantor."
    amount: Amount
    "What the guarantor answers for at most, in naira. The savings must have it."
    dry_run: bool | None = None
    "If true, the reply shows the guarantee, and nothing is held."


class GuaranteeReply(msgspec.Struct, kw_only=True):
    """A guarantee, after a change."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: GuaranteeRecord
    "The guarantee."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."


class ReleaseGuaranteeRequest(msgspec.Struct, kw_only=True):
    """Releases what a guarantee holds, for good. What the borrower owes the guarantor stays owed."""

    guarantee_id: Reference
    "The guarantee to release."
    dry_run: bool | None = None
    "If true, the reply shows the guarantee as it would be, and nothing is changed."


class CallGuaranteeRequest(msgspec.Struct, kw_only=True):
    """Pays what is due of a loan in arrears, or what was written off, out of the savings that guarantee it."""

    loan_id: Reference
    "The loan: in arrears, or written off."
    guarantee_id: Reference | None = None
    "Calls this guarantee alone. Default: all of the loan, each in proportion to what it holds."
    amount: Amount | None = None
    """What to take, in naira: at most what is due, and what the guarantees hold. Default: as much as that."""
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class CallGuaranteeReply(msgspec.Struct, kw_only=True):
    """A loan that was paid out of the savings that guarantee it."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the repayment. Absent in a dry run."
    loan_id: str
    "The loan."
    amount: str
    "Amount that was taken from the savings and paid on the loan, in naira."
    allocation: Allocation
    "The parts of the loan that it covers."
    guarantees: list[GuaranteeRecord]
    "The guarantees of the loan after it."
    data: LoanRecord
    "The loan after it."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with its calculation. Else absent."


class PayGuarantorRequest(msgspec.Struct, kw_only=True):
    """Gives a guarantor back what was called, in whole or in part, or records that the guarantor waives it."""

    guarantee_id: Reference
    "The guarantee that was called."
    amount: Amount
    "How much, in naira: at most what is owed."
    payment_method: Literal["wallet", "waived"]
    """`wallet`: the borrower has paid it to you, and it goes from the wallet into the guarantor's savings. `waived`:
    the guarantor gives it up, and no money moves."""
    dry_run: bool | None = None
    "If true, the reply shows the guarantee as it would be, and nothing is changed."


class PayGuarantorReply(GuaranteeReply, kw_only=True):
    """A guarantee of which the borrower owes less."""

    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the deposit into the guarantor's savings. Absent if it was waived, and in a dry run."
    amount: str
    "Amount that is owed no more, in naira."


class ListGuaranteesRequest(Paged, kw_only=True):
    """Lists guarantees, newest first. The fields filter."""

    loan_id: Reference | None = None
    "Lists the guarantees of this loan alone."
    client_id: Reference | None = None
    "Lists what this client guarantees for others."
    borrower_id: Reference | None = None
    "Lists what others guarantee for this client."


class GuaranteeListReply(msgspec.Struct, kw_only=True):
    """One page of guarantees, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[GuaranteeRecord]
    "The guarantees."
    total: int
    "Number of matching guarantees on all pages."
    offset: int
    "Number of guarantees that were skipped."
    limit: int
    "Largest number of guarantees on this page. The next page begins at `offset` + `limit`."


# --- collateral ---------------------------------------------------------------------------------------------


class CollateralRequest(msgspec.Struct, kw_only=True):
    """Records a thing that secures a loan. Its documents stay with you: only their hashes are kept."""

    loan_id: Reference
    "The loan: not yet paid out, or not yet repaid."
    description: Description
    "What it is, such as a vehicle with its chassis number."
    value: Amount
    "What it is worth, in naira."
    documents: Documents | None = None
    "SHA-256 hashes of its documents, in lowercase hexadecimal digits."
    dry_run: bool | None = None
    "If true, the reply shows the collateral, and nothing is stored."


class ReturnCollateralRequest(msgspec.Struct, kw_only=True):
    """Records that collateral was given back."""

    collateral_id: Reference
    "The collateral."
    dry_run: bool | None = None
    "If true, the reply shows the collateral as it would be, and nothing is changed."


class CollateralReply(msgspec.Struct, kw_only=True):
    """Collateral, after a change."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: CollateralRecord
    "The collateral."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
