"""Decides proposals: who may is in the table of authority (authority/acts.py).

A posting, or another act in a merchant's books, is decided there by the writer. All other proposals are applied in the
transaction that closes the approval. What a command proposed stays open after the first of two operators approved it.
"""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.authority import acts, approvals
from kasuwa.authority.acts import OpenProposal, acts_of_proposal
from kasuwa.authority.approvals import Approval
from kasuwa.authority.cooling_off import read_cooling_off, set_cooling_off
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.operator import suspense, user_proposals
from kasuwa.console.operator.approvals import (
    ProposedAccounts,
    ProposedPolicy,
    ProposedRate,
    find_audit_chain,
    show_approvals,
    title_with_article,
    unknown_accounts,
)
from kasuwa.console.operator.book_acts import BOOK_KINDS, BoundAct, bind_act, describe_reply, reject_act, with_verdict
from kasuwa.console.operator.keys import KeyChange, MadeKey, apply_key_change, audit_change
from kasuwa.console.operator.manual_posting import (
    ManualPosting,
    ProposedPosting,
    Verdict,
    VerdictState,
    decide_verdict,
    need_verdict,
)
from kasuwa.console.operator.settings import apply_changes, read_changes
from kasuwa.core.callers import Maker
from kasuwa.core.decision import AuditEntry, Decision, Merchant, Refusal
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.merchants import exchange_rates, merchants
from kasuwa.merchants.keys import KeyRefused, Roller, UnknownKey
from kasuwa.postgres.connection_pool import Connection
from kasuwa.rails.watch import vendor_accounts
from kasuwa.terms.conversion import ExchangeRate
from kasuwa.webhooks.signatures import standard_secret

# Kinds that move money by a posting.
POSTING_KINDS = frozenset({"posting", "write_off", "reversal", *suspense.KINDS})
FIRST_OF_TWO = "You have approved it. A command proposed it, so another operator must approve it as well."
CANNOT_APPLY = "It cannot be applied any more: {why}. Reject the proposal."


class ApprovalResult(msgspec.Struct, frozen=True):
    """The result of deciding an approval."""

    state: str = ""
    problem: str | None = None  # why it stays open
    invitation: tuple[str, str] | None = None  # email and link token: its mail is queued in the same commit
    made_key: MadeKey | None = None  # to be shown once
    is_first: bool = False  # another operator must approve it as well
    message: str = ""  # what an act in the books made


class NotApplied(Exception):
    """A proposal cannot be applied. The text says why."""


async def decide_approval(visit: Visit) -> Response:
    """Approves or rejects a proposal. A proposal that cannot be applied stays open, and the page says why.

    The connection is released before the page is read, because the page takes one of its own from the pool.
    """
    verdict, approval_id = visit.path_parameter("verdict"), parse_int(visit.path_parameter("approval_id"), 0)
    if verdict not in ("approve", "reject"):
        raise NotFound
    state: VerdictState = "approved" if verdict == "approve" else "rejected"
    try:
        async with visit.operator_pool.acquire() as connection, connection.transaction():
            result = await lock_and_decide(visit, connection, approval_id, state)
    except NotApplied as why:
        result = ApprovalResult(problem=str(why))
    if result.problem is not None:
        return await show_approvals(visit, 422, faults={"": result.problem})
    if result.is_first:
        return visit.redirect("/operator/approvals", FIRST_OF_TWO)
    if result.made_key is not None:
        return show_made_key(visit, result.made_key)
    delivery = "" if result.invitation is None else " " + visit.services.links.announce(*result.invitation)
    earlier = "" if result.state == state else " Another operator decided it before you."
    message = f" {result.message}." if result.message else ""
    return visit.redirect("/operator/approvals", f"The proposal is {result.state}.{earlier}{message}{delivery}")


def show_made_key(visit: Visit, new_key: MadeKey) -> Response:
    visit.services.merchant_directory.evict(new_key.mid)
    standard = standard_secret(new_key.text) if not new_key.key_id else ""
    return visit.render("operator_key_made.html", made=new_key, standard=standard)


async def lock_and_decide(
    visit: Visit, connection: Connection, approval_id: int, state: VerdictState
) -> ApprovalResult:
    """Locks the open approval, then applies or rejects it in the caller's transaction. Raises NotFound, NotApplied."""
    await connection.execute(approvals.EXTEND_IDLE_TIMEOUT)
    approval = await approvals.lock_open_approval(connection, visit.services.vault, approval_id)
    if approval is None:
        raise NotFound
    if state == "approved":
        problem = await explain_bar(connection, visit, approval)
        if problem is not None:
            return ApprovalResult(problem=problem)
        if approval.needs_two_approvers and approval.first_approved_by is None:
            return await approve_first(visit, connection, approval)
    if approval.kind in POSTING_KINDS | BOOK_KINDS:
        return await decide_in_books(visit, connection, approval, state)
    applied = await apply_proposal(visit, connection, approval) if state == "approved" else ApprovalResult()
    await approvals.close_approval(connection, visit.services.vault, approval_id, visit.user.user_id, state)
    chain = await find_audit_chain(connection, approval.mid)
    await visit.record_audit_on(connection, chain, *audit_text(approval, state))
    return msgspec.structs.replace(applied, state=state)


async def explain_bar(connection: Connection, visit: Visit, approval: Approval) -> str | None:
    """Returns why the user may not approve this, or None."""
    proposal = msgspec.json.decode(approval.proposal, type=dict[str, Any])
    is_person = approval.kind == user_proposals.USER_PROPOSAL_KIND
    waiting = OpenProposal(
        acts=acts_of_proposal(approval.kind, proposal),
        proposed_at=approval.proposed_at,
        subject_id=int(proposal.get("user_id", 0)) if is_person else 0,
        proposer=await user_proposals.find_decider(connection, visit.services.vault, approval.proposed_by),
        first_approver=await user_proposals.find_decider(connection, visit.services.vault, approval.first_approved_by),
    )
    return acts.explain_bar(user_proposals.make_decider(visit.user), waiting, datetime.now(UTC))


async def approve_first(visit: Visit, connection: Connection, approval: Approval) -> ApprovalResult:
    """Records the first of the two operators who approve what a command proposed."""
    await approvals.record_first_approval(connection, visit.services.vault, approval.approval_id, visit.user.user_id)
    action, subject = audit_text(approval, "approved")
    chain = await find_audit_chain(connection, approval.mid)
    await visit.record_audit_on(connection, chain, f"{action}, as the first of two", subject)
    return ApprovalResult(is_first=True)


def audit_text(approval: Approval, state: VerdictState) -> tuple[str, str]:
    """Returns action and subject of the audit entry of a decision."""
    return f"{state} {title_with_article(approval.kind)}", f"approval {approval.approval_id}"


# --- in the transaction of the approval -----------------------------------------------------------------------------


async def apply_proposal(visit: Visit, connection: Connection, approval: Approval) -> ApprovalResult:
    """Applies a proposal in the approval's transaction, so that a crash leaves neither or both. Raises NotApplied."""
    both = f"{approval.people} and {visit.user.email}"
    if approval.kind == user_proposals.USER_PROPOSAL_KIND:
        applied = await user_proposals.apply_change(connection, visit.services.vault, approval)
        if isinstance(applied, str):
            raise NotApplied(applied)
        if applied is not None:
            await visit.services.links.queue(connection, applied[1])
        return ApprovalResult(invitation=applied)
    if approval.kind == acts.RATE.name:
        rate = msgspec.json.decode(approval.proposal, type=ProposedRate)
        await exchange_rates.set_rate(
            connection,
            visit.services.vault,
            rate.currency,
            ExchangeRate(rate.buy, rate.sell),
            both,
            visit.client_address,
        )
        return ApprovalResult()
    if approval.kind == acts.POLICY.name:
        policy = msgspec.json.decode(approval.proposal, type=ProposedPolicy)
        await set_cooling_off(connection, visit.services.vault, policy.cooling_off_hours, both)
        return ApprovalResult()
    if approval.kind == acts.VENDOR_ACCOUNT.name:
        named = msgspec.json.decode(approval.proposal, type=ProposedAccounts)
        await vendor_accounts.add_aliases(connection, named.accounts)
        return ApprovalResult()
    assert approval.mid is not None, "it is a merchant's"
    if approval.kind == acts.KEY.name:
        return await apply_key(visit, connection, approval, approval.mid)
    proposal = msgspec.json.decode(approval.proposal, type=dict[str, Any])
    await apply_settings(
        visit, connection, approval.mid, {"tariff": proposal} if approval.kind == "tariff" else proposal
    )
    return ApprovalResult()


async def apply_settings(visit: Visit, connection: Connection, mid: str, proposal: dict[str, Any]) -> None:
    try:
        changes = read_changes(proposal)
    except (ValueError, msgspec.MsgspecError) as error:
        raise NotApplied(CANNOT_APPLY.format(why=error)) from None
    faults = visit.services.find_rail_faults(changes.get("rails", {}))
    if faults:
        raise NotApplied(CANNOT_APPLY.format(why="; ".join(faults)))
    before, _ = await apply_changes(connection, visit.services.vault, mid, changes)
    chain = await find_audit_chain(connection, mid)
    await visit.record_audit_on(connection, chain, "changed settings", mid, before, changes)


async def apply_key(visit: Visit, connection: Connection, approval: Approval, mid: str) -> ApprovalResult:
    """Makes or rolls a key. It is shown once, to the operator who approved it last."""
    change = msgspec.json.decode(approval.proposal, type=KeyChange)
    roller = Roller(Maker(visit.user.email), await read_cooling_off(connection, visit.services.vault))
    try:
        new_key = await apply_key_change(connection, visit.services.vault, mid, change, roller)
    except (UnknownKey, KeyRefused) as refused:
        why = f"there is no valid key {refused}" if isinstance(refused, UnknownKey) else str(refused)
        raise NotApplied(CANNOT_APPLY.format(why=why)) from None
    action, subject, after = audit_change(change, new_key)
    chain = await find_audit_chain(connection, mid)
    await visit.record_audit_on(connection, chain, action, subject, after=after)
    return ApprovalResult(made_key=new_key)


# --- in the merchant's books ----------------------------------------------------------------------------------------


async def decide_in_books(
    visit: Visit, connection: Connection, approval: Approval, state: VerdictState
) -> ApprovalResult:
    """Submits the verdict to the writer, then closes the approval.

    The writer commits verdict, posting and audit entry together in the merchant's books. A crash between that commit
    and the approval's leaves an open approval whose verdict is known. The next visit of the page closes it with that
    verdict.
    """
    known, message = await approvals.find_posting_verdict(connection, approval.approval_id), ""
    if known is None:
        submit = submit_book_act if approval.kind in BOOK_KINDS else submit_posting
        result = await submit(visit, connection, approval, state)
        if isinstance(result, str):
            return ApprovalResult(problem=result)
        known = (result.state, result.decided_by) if isinstance(result, ManualPosting) else (state, visit.user.user_id)
        message = describe_reply(approval.kind, result) if approval.kind in BOOK_KINDS else ""
    stands, decided_by = known
    if stands == "approved" and approval.kind == suspense.ASSIGN:
        await suspense.credit_other(visit.services, connection, approval)
    await approvals.close_approval(connection, visit.services.vault, approval.approval_id, decided_by, stands)
    return ApprovalResult(stands, message=message)


async def submit_posting(
    visit: Visit, connection: Connection, approval: Approval, state: VerdictState
) -> ManualPosting | str:
    """Returns the verdict in the merchant's books, which may be an earlier one, or why the posting cannot be made."""
    posting = msgspec.json.decode(approval.proposal, type=ProposedPosting)
    merchant = await find_merchant(visit, connection, approval)
    bar = await suspense.explain_bar(connection, posting) if state == "approved" else None
    if bar is not None:
        return bar
    opens_accounts = state == "approved" and approval.kind == "posting"
    if opens_accounts and await unknown_accounts(visit, merchant.merchant_id, posting):
        return "It names an account that does not exist. Reject the proposal."
    verdict = Verdict(approval.approval_id, state, visit.user.user_id, posting, make_entry(visit, approval, state))
    bound = BoundAct(need_verdict(verdict, merchant), partial(decide_verdict, verdict))
    reply = await submit_bound(visit, merchant, bound)
    assert isinstance(reply, ManualPosting | str)
    return reply


async def submit_book_act(visit: Visit, connection: Connection, approval: Approval, state: VerdictState) -> Any:
    """Returns the reply of the act, an earlier verdict, or a text that says why it cannot be done."""
    merchant = await find_merchant(visit, connection, approval)
    entry, user_id = make_entry(visit, approval, state), visit.user.user_id
    if state == "rejected":
        return await submit_bound(visit, merchant, reject_act(merchant, approval.approval_id, user_id, entry))
    bound = bind_act(approval.kind, msgspec.json.decode(approval.proposal, type=dict[str, Any]), merchant)
    if isinstance(bound, tuple):
        return CANNOT_APPLY.format(why="; ".join(f"{fault.field} {fault.reason}" for fault in bound))
    return await submit_bound(visit, merchant, with_verdict(bound, merchant, approval.approval_id, user_id, entry))


def make_entry(visit: Visit, approval: Approval, state: VerdictState) -> AuditEntry:
    return AuditEntry(visit.user.email, *audit_text(approval, state), visit.client_address)


async def find_merchant(visit: Visit, connection: Connection, approval: Approval) -> Merchant:
    assert approval.mid is not None, "it is in a merchant's books"
    merchant_id = await merchants.find_merchant_id(connection, approval.mid)
    return await visit.services.merchant_directory.get_by_id(merchant_id)


async def submit_bound(visit: Visit, merchant: Merchant, bound: BoundAct) -> Any:
    """Returns the reply of a rule, or the text of its refusal."""
    result = await visit.services.writer.submit(Submission(merchant, bound.needs, bound.rule, draw_entropy()))
    if isinstance(result, RuleFailure):
        raise result.error
    if isinstance(result, Refusal):
        return result.message
    assert isinstance(result, Decision), "the writer loads what a rule needs"
    return result.reply
