"""Request for a loan of a group that has a product. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#groups
"""

from typing import Annotated, Literal

import msgspec
from msgspec import field

from kasuwa.methods.groups.model import MAX_MEMBERS
from kasuwa.methods.loans.wire_grace import GraceTerms
from kasuwa.wire.fields import Amount, NonNegativeInt, Reference
from kasuwa.wire.interest_wire import InterestSettings


class PartOfProduct(msgspec.Struct, kw_only=True):
    """The loan of one member."""

    client_id: Reference
    "The member."
    amount: Amount | None = None
    "Principal of the member's loan, in naira, within the range of the product. Default: as the product says."


PartsOfProduct = Annotated[
    list[PartOfProduct], msgspec.Meta(min_length=1, max_length=MAX_MEMBERS, description=f"1 to {MAX_MEMBERS} members")
]


class GroupLoanOfProductRequest(msgspec.Struct, kw_only=True):
    """Requests a loan of a product for a group: a loan of each member who borrows, all on the same terms. What the
    request leaves out comes from the product, and what is outside its ranges is refused. The terms are copied into
    the loans."""

    group_id: Reference
    "The group."
    product_id: Reference
    "The product. It must be open."
    loans: PartsOfProduct
    "What each member borrows. A member has one loan in it."
    disbursement: Literal["one", "each"] | None = None
    "`one`: the sum goes to the leader's `bankAccount` by one transfer. `each`, the default: each member receives one."
    officer: Reference | None = None
    "Who of your people answers for the loans, in a code of yours."
    branch: Reference | None = None
    "Your branch that makes the loans, in a code of yours."
    period: NonNegativeInt | None = None
    """Number of installments of each loan, within the range of the product. All loans together have at most 2,000
    installments. Default: as the product says."""
    interest_settings: InterestSettings | None = field(name="interestSettings", default=None)
    "The interest rate, within the range of the product, for its `interestFrequency`. Default: as the product says."
    grace: GraceTerms | None = None
    "A grace period with at most as many installments as that of the product, or a first due date."
    dry_run: bool | None = None
    "If true, the reply shows the loans and explains what each owes in all, and nothing is stored."
