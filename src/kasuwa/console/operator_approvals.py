"""What two operators must agree on: manual postings, write-offs, tariffs, rates. One proposes, another decides."""

import os
from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console import operator_reads, operator_user_proposals
from kasuwa.console.access import CAN_KEEP_BOOKS
from kasuwa.console.events import parse_int
from kasuwa.console.manual_posting import (
    ManualPosting,
    ProposedPosting,
    Verdict,
    VerdictState,
    decide_verdict,
    need_verdict,
    parse_posting,
    write_off_accounts,
)
from kasuwa.console.team import deliver_link
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.decision import AuditEntry, Decision, FieldError, Refusal
from kasuwa.core.exchange_rates import FOREIGN, HOME, ExchangeRate, read_rate
from kasuwa.core.merchant import MerchantSettings, check_settings
from kasuwa.db import approvals, merchants, rates
from kasuwa.db.approvals import Approval
from kasuwa.db.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.db.batch import RuleFailure, Submission
from kasuwa.db.connections import Connection
from kasuwa.ledger import chart

MAX_REASON_LENGTH = 500
PROPOSAL_TITLES = {
    "posting": "Manual posting",
    "write_off": "Write-off",
    "tariff": "Tariff",
    "rate": "Rate of exchange",
}
# Kinds that move money: they are decided in the merchant's books.
POSTING_KINDS = frozenset({"posting", "write_off"})
ALREADY_POSTED = "Its posting was made already. Approve it, so that the record says so."
# Operators are proposed on the page of the team.
APPROVAL_TITLES = {**PROPOSAL_TITLES, operator_user_proposals.USER_PROPOSAL_KIND: "Change of operator"}
FORM_FIELDS = ("mid", "debit", "credit", "account", "amount", "tariff", "currency", "buy", "sell", "reason")


class ProposedRate(msgspec.Struct, frozen=True):
    """What one unit of a currency is to bring and to cost, in minor units."""

    currency: str
    buy: int
    sell: int


Proposal = ProposedPosting | ProposedRate | dict[str, Any]


async def show_approvals(visit: Visit, status: int = 200, **values: Any) -> Response:
    await visit.repair(approvals.close_decided_approvals)
    async with visit.snapshot() as connection:
        found, in_force = await approvals.list_newest(connection), await rates.read_current_rates(connection)
    shared = {
        "open": [(a, msgspec.json.decode(a.proposal)) for a in found if a.state == "open"],
        "decided": [(a, msgspec.json.decode(a.proposal)) for a in found if a.state != "open"],
        "kinds": PROPOSAL_TITLES,
        "titles": APPROVAL_TITLES,
        "in_force": in_force,
        "foreign": [(currency, currency) for currency in FOREIGN],
        "said": visit.query,
        "home": HOME,
        "may_decide": visit.user.role in CAN_KEEP_BOOKS,
        "asked": visit.query.get("kind", "posting"),
    }
    return visit.render("operator_approvals.html", status, **{**shared, **values})


# --- proposing ----------------------------------------------------------------------------------------------------


async def submit_proposal(visit: Visit) -> Response:
    kind = visit.path_parameter("kind")
    if kind not in PROPOSAL_TITLES:
        raise NotFound
    said = {name: visit.form_text(name) for name in FORM_FIELDS}
    read = await read_proposal(visit, kind, said)
    faults = {fault.field: fault.reason for fault in read} if isinstance(read, tuple) else {}
    if not 1 <= len(said["reason"]) <= MAX_REASON_LENGTH:
        faults["reason"] = f"why, in 1 to {MAX_REASON_LENGTH} characters"
    if faults or isinstance(read, tuple):
        return await show_approvals(visit, 422, faults=faults, said=said, asked=kind)
    proposal = msgspec.json.encode(read).decode()
    async with visit.operators.acquire() as connection, connection.transaction():
        mid = None if kind == "rate" else said["mid"]
        approval_id = await approvals.propose(connection, mid, kind, proposal, said["reason"], visit.user.user_id)
        chain = await find_audit_chain(connection, mid)
        await visit.record_audit_on(
            connection, chain, f"proposed a {PROPOSAL_TITLES[kind].lower()}", f"approval {approval_id}", after=read
        )
    return visit.redirect("/operator/approvals", "Proposed. Somebody else must approve it.")


async def find_audit_chain(connection: Connection, mid: str | None) -> int:
    """Where the trail tells of it: with its merchant, or with the operator where it is no merchant's."""
    return OPERATOR_CHAIN_ID if mid is None else await merchants.find_merchant_id(connection, mid)


async def read_proposal(visit: Visit, kind: str, said: dict[str, str]) -> Proposal | tuple[FieldError, ...]:
    if kind == "rate":
        return read_proposed_rate(said["currency"], said["buy"], said["sell"])
    shop = await operator_reads.find_merchant(visit.reader, said["mid"])
    if shop is None:
        return (FieldError("mid", "no merchant has this mid"),)
    if kind == "tariff":
        return read_tariff(said["tariff"])
    if kind == "posting":
        movement = parse_posting(said["debit"], said["credit"], said["amount"], "manual posting")
        unknown = () if isinstance(movement, tuple) else await unknown_accounts(visit, shop.merchant_id, movement)
        return unknown or movement
    account = await operator_reads.find_account(visit.reader, shop.merchant_id, said["account"])
    if account is None:
        return (FieldError("account", "not an account of this merchant"),)
    movement = parse_posting(*write_off_accounts(account.name, account.posted), said["amount"], "write-off")
    if isinstance(movement, ProposedPosting) and movement.amount > abs(account.posted):
        return (FieldError("amount", "not more than its balance"),)
    return movement


async def unknown_accounts(visit: Visit, merchant_id: int, movement: ProposedPosting) -> tuple[FieldError, ...]:
    """A manual posting opens no account but those that every merchant may have."""
    faults = []
    for field, name in (("debit", movement.debit), ("credit", movement.credit)):
        known = chart.is_common(name) or await operator_reads.find_account(visit.reader, merchant_id, name)
        if not known:
            faults.append(FieldError(field, "no such account: choose one of the trial balance"))
    return tuple(faults)


def read_tariff(text: str) -> dict[str, Any] | tuple[FieldError, ...]:
    try:
        tariff = msgspec.json.decode(text, type=dict[str, Any])
        check_settings(MerchantSettings(tariff=tariff))
    except (ValueError, msgspec.MsgspecError) as error:
        return (FieldError("tariff", f"JSON laid over the usual tariff: {error}"),)
    return tariff


def read_proposed_rate(currency: str, buy: str, sell: str) -> ProposedRate | tuple[FieldError, ...]:
    read = read_rate(currency, buy, sell)
    if isinstance(read, dict):
        return tuple(FieldError(field, fault) for field, fault in read.items())
    return ProposedRate(currency, read.buy, read.sell)


# --- deciding -----------------------------------------------------------------------------------------------------


class ApprovalResult(msgspec.Struct, frozen=True):
    """What became of an approval. `trouble` says why it stays open; `link` is an address with the token of a link that
    is to be handed over after the commit."""

    state: str = ""
    problem: str | None = None
    invitation: tuple[str, str] | None = None


async def decide_approval(visit: Visit) -> Response:
    """Approving does it, under the approval's lock; what cannot be done leaves it open and says why. The page that says
    so reads on a connection of its own, so this one is given back first."""
    verdict, approval_id = visit.path_parameter("verdict"), parse_int(visit.path_parameter("approval_id"), 0)
    if verdict not in ("approve", "reject"):
        raise NotFound
    state: VerdictState = "approved" if verdict == "approve" else "rejected"
    async with visit.operators.acquire() as connection, connection.transaction():
        done = await lock_and_decide(visit, connection, approval_id, state)
    if done.problem is not None:
        return await show_approvals(visit, 422, faults={"": done.problem})
    told = "" if done.invitation is None else " " + await deliver_link(visit, *done.invitation)
    before = "" if done.state == state else " Somebody decided it before you."
    return visit.redirect("/operator/approvals", f"It is {done.state}.{before}{told}")


async def lock_and_decide(
    visit: Visit, connection: Connection, approval_id: int, state: VerdictState
) -> ApprovalResult:
    await connection.execute(approvals.EXTEND_IDLE_TIMEOUT)
    found = await approvals.lock_open_approval(connection, approval_id)
    if found is None:
        raise NotFound
    trouble = (
        await operator_user_proposals.explain_approval_bar(connection, visit, found) if state == "approved" else None
    )
    if trouble is not None:
        return ApprovalResult(problem=trouble)
    if found.kind in POSTING_KINDS:
        return await decide_posting(visit, connection, found, state)
    done = await apply_proposal(visit, connection, found) if state == "approved" else None
    if isinstance(done, str):
        return ApprovalResult(problem=done)
    await approvals.close_approval(connection, approval_id, visit.user.user_id, state)
    chain = await find_audit_chain(connection, found.mid)
    await visit.record_audit_on(connection, chain, *audit_text(found, state))
    return ApprovalResult(state, invitation=done)


def audit_text(found: Approval, state: VerdictState) -> tuple[str, str]:
    """What the audit trail says of a decision, and about what."""
    return f"{state} a {APPROVAL_TITLES[found.kind].lower()}", f"approval {found.approval_id}"


async def apply_proposal(visit: Visit, connection: Connection, found: Approval) -> str | tuple[str, str] | None:
    """Does what was proposed, within the approval's transaction: a crash leaves neither or both. Answers why it cannot
    be done; or the address and the token of a link; or None."""
    if found.kind == operator_user_proposals.USER_PROPOSAL_KIND:
        return await operator_user_proposals.apply_change(connection, visit, found)
    if found.kind == "rate":
        rate = msgspec.json.decode(found.proposal, type=ProposedRate)
        both = f"{found.proposer_email} and {visit.user.email}"
        await rates.set_rate(connection, rate.currency, ExchangeRate(rate.buy, rate.sell), both, visit.client_address)
        return None
    assert found.mid is not None, "a tariff is a merchant's; postings are decided in the merchant's books"
    await set_tariff(connection, found.mid, msgspec.json.decode(found.proposal))
    return None


async def decide_posting(visit: Visit, connection: Connection, found: Approval, state: VerdictState) -> ApprovalResult:
    """The verdict is committed by the writer, in the merchant's books, together with the posting and the audit entry;
    the approval follows. Whoever breaks off between the two leaves an open approval whose verdict is known: it is
    closed with that verdict by the next who decides it or looks at the list."""
    known = await approvals.find_posting_verdict(connection, found.approval_id)
    if known is None:
        result = await submit_verdict(visit, connection, found, state)
        if isinstance(result, str):
            return ApprovalResult(problem=result)
        known = (result.state, result.decided_by)
    stands, decided_by = known
    if decided_by is None:  # made by a version that did not keep who approved it
        if state != stands:
            return ApprovalResult(problem=ALREADY_POSTED)
        decided_by = visit.user.user_id
        await visit.record_audit_on(
            connection, await find_audit_chain(connection, found.mid), *audit_text(found, state)
        )
    await approvals.close_approval(connection, found.approval_id, decided_by, stands)
    return ApprovalResult(stands)


async def submit_verdict(
    visit: Visit, connection: Connection, found: Approval, state: VerdictState
) -> ManualPosting | str:
    """Returns the verdict that stands in the merchant's books, or why the posting cannot be made."""
    assert found.mid is not None, "a posting is in a merchant's books"
    movement = msgspec.json.decode(found.proposal, type=ProposedPosting)
    merchant = await visit.services.merchant_directory.get_by_id(
        await merchants.find_merchant_id(connection, found.mid)
    )
    opens_accounts = state == "approved" and found.kind == "posting"
    if opens_accounts and await unknown_accounts(visit, merchant.merchant_id, movement):
        return "It names an account that does not exist. Reject it."
    deed = AuditEntry(visit.user.email, *audit_text(found, state), visit.client_address)
    verdict = Verdict(found.approval_id, state, visit.user.user_id, movement, deed)
    needs, rule = need_verdict(verdict, merchant), partial(decide_verdict, verdict)
    result = await visit.services.writer.submit(Submission(merchant, needs, rule, os.urandom(32)))
    if isinstance(result, RuleFailure):
        raise result.error
    if isinstance(result, Refusal):
        return result.message
    assert isinstance(result, Decision), "this rule needs nothing more"
    assert isinstance(result.reply, ManualPosting)
    return result.reply


async def set_tariff(connection: Connection, mid: str, tariff: dict[str, Any]) -> None:
    def changed(kept: MerchantSettings) -> MerchantSettings:
        return msgspec.structs.replace(kept, tariff=tariff)

    await merchants.change_settings(connection, mid, changed, is_endpoint_set=False)
