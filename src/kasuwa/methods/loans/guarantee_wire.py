"""What guarantees and collateral look like in replies: in those of their own actions, and in that of a loan.

Contract: loans#guarantees, loans#collateral
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType, field


class GuaranteeRecord(msgspec.Struct, kw_only=True):
    """A part of a client's savings that guarantees another client's loan."""

    guarantee_id: str | None
    "Identifier of the guarantee, made by the service. Null in a dry run of `guarantee`."
    loan_id: str
    "The loan."
    borrower_id: str
    "The client who borrows."
    client_id: str
    "The guarantor: the client whose savings are pledged."
    savings_id: str
    "The savings."
    state: Literal["active", "called", "ended", "released"]
    """`active`: a part of the savings is held. `called`: nothing is held, and the borrower owes the guarantor what was
    called. `ended`: nothing is held and nothing is owed. `released`: by you, for good; something may still be owed."""
    amount: str
    "What the guarantor answers for at most, in naira."
    held: str
    "What is held on the savings now, in naira: it cannot be taken out of them."
    called: str
    "What was called so far, in naira."
    owed: str
    "What the borrower owes the guarantor for it, in naira."
    shortfall: str
    """What would be held if the savings had it, in naira: a repayment was reversed after its part of the guarantee had
    been released and used."""
    date_created: str = field(name="dateCreated")
    "Time at which the savings were pledged, in UTC."
    date_released: str | UnsetType = field(name="dateReleased", default=UNSET)
    "Time at which you released it, in UTC. Absent if you did not."


class CollateralRecord(msgspec.Struct, kw_only=True):
    """A thing that secures a loan, as you described it. No money is held for it."""

    collateral_id: str | None
    "Identifier of the collateral, made by the service. Null in a dry run of `collateral`."
    loan_id: str
    "The loan."
    client_id: str
    "The client who borrows."
    description: str
    "What it is. `(erased)` once the client's personal data were erased."
    value: str
    "What it is worth, in naira."
    documents: list[str]
    "SHA-256 hashes of its documents, in hexadecimal digits."
    state: Literal["held", "returned"]
    "Whether you hold it, or have given it back."
    date_created: str = field(name="dateCreated")
    "Time at which it was recorded, in UTC."
    date_returned: str | UnsetType = field(name="dateReturned", default=UNSET)
    "Time at which it was given back, in UTC. Absent before."
