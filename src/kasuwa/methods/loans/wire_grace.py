"""Requests and replies of grace periods of loans. Docstrings are the descriptions in the OpenAPI document.

Contract: loans#grace
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.wire.fields import LagosDate, NonNegativeInt


class GraceTerms(msgspec.Struct, kw_only=True):
    """A grace period at the beginning of a schedule."""

    principal: NonNegativeInt | None = None
    "Number of first installments without principal. Default 0, or `interest` if that is given."
    interest: NonNegativeInt | None = None
    """Number of first installments that do not ask for their interest either, at most `principal`. It grows, and later
    installments ask for it. Default 0."""
    capitalize: bool | None = None
    """Whether that interest becomes principal on the due date of its installment, with its tax, and earns interest.
    Default false: the installments after the grace ask for it in equal parts."""
    first_due: LagosDate | None = None
    """The first due date, within 366 days from today. The later ones follow it. The first interval earns interest in
    proportion to its days. Default: one interval after the payout."""


class GraceRecord(msgspec.Struct, kw_only=True):
    """The grace period that was agreed with a loan."""

    principal: int
    "Number of first installments without principal."
    interest: int
    "Number of those that do not ask for their interest either."
    capitalize: bool
    "Whether that interest becomes principal. Else the installments after the grace ask for it."
    first_due: str | UnsetType = UNSET
    "The agreed first due date, as YYYY-MM-DD. Absent if it is one interval after the payout."


GraceKind = Literal["principal", "spread", "capitalize"]
