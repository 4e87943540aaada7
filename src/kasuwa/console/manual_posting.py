"""The rules of manual postings: what one operator proposed is decided by another, once.

The verdict is a row of the merchant's own books, written in the commit that moves the money: the first one stands,
and everybody who decides later is told it.

posting      debit → credit               any two accounts of one merchant and currency
write-off    a claim that will not come    income:write_off → account
             a debt nobody will ask for    account → income:write_off
"""

from typing import ClassVar, Literal

import msgspec

from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import (
    AuditEntry,
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    Posting,
    PostingGroup,
    Refusal,
    Row,
)
from kasuwa.core.money import CURRENCIES, parse_minor
from kasuwa.core.references import row_key
from kasuwa.ledger import chart

INSUFFICIENT_FUNDS_REFUSAL = Refusal(INSUFFICIENT_FUNDS, "The account that pays does not cover it")
MAX_ACCOUNT_NAME_LENGTH = 120


class ProposedPosting(msgspec.Struct, frozen=True):
    """What a proposal moves, in minor units."""

    debit: str
    credit: str
    amount: int
    kind: str


VerdictState = Literal["approved", "rejected"]


class ManualPosting(Row):
    """The verdict on a proposed posting: an approved one was made in the same commit. `decided_by` is the user who
    decided; None in rows of versions that did not keep it."""

    table: ClassVar[str] = "manual_posting"

    approval_id: int
    state: str = "approved"
    decided_by: int | None = None

    @property
    def is_open(self) -> bool:
        return False


class Verdict(msgspec.Struct, frozen=True):
    """What an operator decides about a proposed posting; `deed` is its audit entry."""

    approval_id: int
    state: VerdictState
    decided_by: int
    posting: ProposedPosting
    audit_entry: AuditEntry


def account_fault(name: str) -> str | None:
    parts = name.split(":")
    fits = len(parts) == 3 and parts[0] in chart.ACCOUNT_KINDS and all(parts) and parts[2] in CURRENCIES
    if not fits or len(name) > MAX_ACCOUNT_NAME_LENGTH:
        return "kind:owner:currency, with a kind of the chart: " + ", ".join(sorted(chart.ACCOUNT_KINDS))
    return None


def parse_posting(debit: str, credit: str, amount: str, kind: str) -> ProposedPosting | tuple[FieldError, ...]:
    """The movement that a form describes, or every fault it has."""
    minor = parse_minor(amount)
    faults = [
        FieldError(field, fault)
        for field, name in (("debit", debit), ("credit", credit))
        if (fault := account_fault(name))
    ]
    if not minor:
        faults.append(FieldError("amount", "digits with at most two decimals, above zero"))
    if not faults and (debit == credit or debit.rpartition(":")[2] != credit.rpartition(":")[2]):
        faults.append(FieldError("credit", "another account of the same currency"))
    return tuple(faults) if faults or not minor else ProposedPosting(debit, credit, minor, kind)


def write_off_accounts(account: str, balance: int) -> tuple[str, str]:
    """From which account to which, so that the balance goes towards zero."""
    against = chart.income("write_off", account.rpartition(":")[2])
    return (against, account) if balance < 0 else (account, against)


def posting_key(merchant_id: int, approval_id: int) -> bytes:
    return row_key(merchant_id, "manual_posting", str(approval_id))


def need_verdict(verdict: Verdict, merchant: Merchant) -> Needs:
    key = posting_key(merchant.merchant_id, verdict.approval_id)
    accounts = (verdict.posting.debit, verdict.posting.credit) if verdict.state == "approved" else ()
    return Needs(((ManualPosting, key),), accounts)


def decide_verdict(verdict: Verdict, context: Context, seen: LoadedRows) -> Decision | Refusal:
    """The reply is the verdict that stands: this one, or the one that was given first."""
    key = posting_key(context.merchant.merchant_id, verdict.approval_id)
    known = seen.get(ManualPosting, key)
    if known is not None:
        return Decision(reply=known)
    row = ManualPosting(key, context.merchant.merchant_id, verdict.approval_id, verdict.state, verdict.decided_by)
    if verdict.state == "rejected":
        return Decision(reply=row, rows=(row,), audit_entries=(verdict.audit_entry,))
    movement = verdict.posting
    post = Posting(movement.debit, movement.credit, movement.amount, movement.kind)
    group = PostingGroup(f"approval {verdict.approval_id}", INSUFFICIENT_FUNDS_REFUSAL, postings=(post,))
    return Decision(reply=row, groups=(group,), rows=(row,), audit_entries=(verdict.audit_entry,))
