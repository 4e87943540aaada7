"""Acts of operators in a merchant's books besides postings: write off a loan, open or decide a dispute, add a split
beneficiary. A command does it in the test environment. In live it proposes, and two people decide.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from kasuwa.authority import acts
from kasuwa.console.operator.manual_posting import ManualPosting, VerdictState, posting_key
from kasuwa.core.decision import (
    AuditEntry,
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    Outcome,
)
from kasuwa.methods.disputes.actions import SANDBOX as DISPUTE_ACTIONS
from kasuwa.methods.loans.rules.write_off import decide_operator_write_off, need_operator_write_off
from kasuwa.methods.payment.actions import ADD_BENEFICIARY
from kasuwa.methods.virtualcard.dispute_actions import OUTCOME as CARD_OUTCOME
from kasuwa.wire.decoding import decode

OPEN_DISPUTE, DECIDE_DISPUTE = DISPUTE_ACTIONS
ACTIONS = {
    acts.DISPUTE_OPEN.name: OPEN_DISPUTE,
    acts.DISPUTE_OUTCOME.name: DECIDE_DISPUTE,
    acts.CARD_DISPUTE_OUTCOME.name: CARD_OUTCOME,
    acts.BENEFICIARY.name: ADD_BENEFICIARY,
}
BOOK_KINDS = frozenset({*ACTIONS, acts.LOAN_WRITE_OFF.name})


class BoundAct(msgspec.Struct, frozen=True):
    """An act on the books of one merchant, with its fields filled in."""

    needs: Needs
    rule: Callable[[Context, LoadedRows], Outcome]


def bind_act(kind: str, fields: Mapping[str, Any], merchant: Merchant) -> BoundAct | tuple[FieldError, ...]:
    """Returns the act, or all of its field errors."""
    if kind == acts.LOAN_WRITE_OFF.name:
        loan_id = str(fields["loan_id"])
        return BoundAct(need_operator_write_off(loan_id, merchant), partial(decide_operator_write_off, loan_id))
    action: Any = ACTIONS[kind]
    request = decode(action.request, msgspec.json.encode(dict(fields)), action.rules, merchant)
    if isinstance(request, tuple):
        return request
    return BoundAct(action.needs(request, merchant), partial(action.decide, request))


def with_verdict(bound: BoundAct, merchant: Merchant, approval_id: int, decided_by: int, entry: AuditEntry) -> BoundAct:
    """Returns the act with the verdict that lets it happen, in one commit and once."""
    row = make_verdict(merchant, approval_id, "approved", decided_by)

    def decide(context: Context, rows: LoadedRows) -> Outcome:
        if rows.get(ManualPosting, row.key) is not None:
            return Decision(reply=rows.get(ManualPosting, row.key))
        decided = bound.rule(context, rows)
        if not isinstance(decided, Decision):
            return decided
        decided.rows = (row, *decided.rows)
        decided.audit_entries += (entry,)
        return decided

    needs = msgspec.structs.replace(bound.needs, rows=((ManualPosting, row.key), *bound.needs.rows))
    return BoundAct(needs, decide)


def reject_act(merchant: Merchant, approval_id: int, decided_by: int, entry: AuditEntry) -> BoundAct:
    """Returns what records that an act was rejected, unless it was decided before."""
    row = make_verdict(merchant, approval_id, "rejected", decided_by)

    def decide(context: Context, rows: LoadedRows) -> Outcome:
        known = rows.get(ManualPosting, row.key)
        return Decision(reply=known) if known else Decision(reply=row, rows=(row,), audit_entries=(entry,))

    return BoundAct(Needs(((ManualPosting, row.key),)), decide)


def make_verdict(merchant: Merchant, approval_id: int, state: VerdictState, decided_by: int) -> ManualPosting:
    key = posting_key(merchant.merchant_id, approval_id)
    return ManualPosting(key, merchant.merchant_id, approval_id, state, decided_by)


def describe_reply(kind: str, reply: Any) -> str:
    """Returns what a done act says: the number of what it made, or the state."""
    if isinstance(reply, ManualPosting):
        return ""
    if kind == acts.BENEFICIARY.name:
        return f"ref_code {reply.ref_code}"
    if kind == acts.DISPUTE_OPEN.name:
        return f"dispute_id {reply.data.dispute_id}"
    if kind == acts.LOAN_WRITE_OFF.name:
        return f"{reply.data.loan_id} is {reply.data.state}"
    return str(reply.message)
