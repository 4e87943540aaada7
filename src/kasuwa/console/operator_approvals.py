"""The approvals page: manual postings, write-offs, reversals, money in suspense, tariffs and exchange rates need two
operators.

One operator proposes, another approves or rejects. A posting is decided in the merchant's books by the writer, all
other proposals in the transaction that closes the approval.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from markupsafe import escape
from starlette.responses import Response

from kasuwa.console import operator_reads, operator_suspense, operator_user_proposals
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
from kasuwa.console.operator_reads import AccountBalance
from kasuwa.console.store import MAX_SEQUENCE
from kasuwa.console.team import deliver_link
from kasuwa.console.values import pretty_json
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.decision import AuditEntry, Decision, FieldError, Refusal
from kasuwa.core.exchange_rates import FOREIGN, HOME, ExchangeRate, read_rate
from kasuwa.core.merchant import MerchantSettings, check_settings
from kasuwa.core.money import CURRENCIES
from kasuwa.db import approvals, merchants, rates
from kasuwa.db.approvals import Approval
from kasuwa.db.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.db.batch import RuleFailure, Submission
from kasuwa.db.connection_pool import Connection
from kasuwa.db.entropy import draw_entropy
from kasuwa.ledger import chart

MAX_REASON_LENGTH = 500
MAX_MID_LENGTH = 50
# Proposals of a page, and the bytes of their texts: a page stays below 100 kB although one proposal may be a tariff.
PAGE_PROPOSALS = 15
MAX_PAGE_TEXT = 16_000
# Contradictions of rails that a page shows, oldest first.
MAX_CONTRADICTIONS = 20
# Accounts with balances that a form offers. Others can be typed.
MAX_CHOICES = 60
PROPOSAL_TITLES = {
    "posting": "Manual posting",
    "write_off": "Write-off",
    "reversal": "Reversal by a rail",
    operator_suspense.ASSIGN: "Assignment of money in suspense",
    operator_suspense.RETURN: "Return of money in suspense",
    "tariff": "Tariff",
    "rate": "Exchange rate",
}
# Kinds that move money. They are decided in the merchant's books.
POSTING_KINDS = frozenset({"posting", "write_off", "reversal", *operator_suspense.KINDS})
ALREADY_POSTED = "The posting was made already. Approve it to close the approval."
# Changes of operators are proposed on the team page.
APPROVAL_TITLES = {**PROPOSAL_TITLES, operator_user_proposals.USER_PROPOSAL_KIND: "Change of operator"}
FORM_FIELDS = (
    "mid",
    "reference",
    "debit",
    "credit",
    "account",
    "amount",
    "tariff",
    "currency",
    "buy",
    "sell",
    "reason",
)


class ProposedRate(msgspec.Struct, frozen=True):
    """A proposed exchange rate: kobo for one unit of the currency. Stored as JSON in approval.proposal."""

    currency: str
    buy: int
    sell: int


Proposal = ProposedPosting | ProposedRate | dict[str, Any]


async def show_approvals(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Shows a page of the open proposals with the forms that propose, or a page of the decided ones."""
    await visit.repair(approvals.close_decided_approvals)
    mid = str(values.get("submitted", visit.query).get("mid", ""))[:MAX_MID_LENGTH]
    is_decided = visit.query.get("show", "") == "decided"
    list_page = approvals.list_decided if is_decided else approvals.list_open
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as connection:
        found = await list_page(connection, before, PAGE_PROPOSALS + 1)
        current_rates = await rates.read_current_rates(connection)
        lines = [(approval, msgspec.json.decode(approval.proposal)) for approval in cut_page(found)]
        names = await operator_reads.read_merchant_names(connection, list_mids(lines))
        choices = [] if is_decided else await list_choices(connection, mid)
        contradictions = [] if is_decided else await operator_reads.list_contradictions(connection, MAX_CONTRADICTIONS)
    url = "/operator/approvals?show=decided" if is_decided else "/operator/approvals?show=open"
    shared = {
        "lines": lines,
        "is_decided": is_decided,
        "next_url": f"{url}&before={lines[-1][0].approval_id}" if len(lines) < len(found) else "",
        "first_url": url if before != MAX_SEQUENCE else "",
        "kinds": PROPOSAL_TITLES,
        "titles": APPROVAL_TITLES,
        "current_rates": current_rates,
        "foreign": [(currency, currency) for currency in FOREIGN],
        "submitted": visit.query,
        "home": HOME,
        "can_decide": visit.user.role in CAN_KEEP_BOOKS,
        "open_form": visit.query.get("kind", "posting"),
        "mid": mid,
        "names": names,
        "choices": choices,
        "contradictions": contradictions,
        "balance_of": {account.name: account for account in choices},
    }
    return visit.render("operator_approvals.html", status, **{**shared, **values})


def list_mids(lines: Sequence[tuple[Approval, dict[str, Any]]]) -> set[str]:
    """Returns the merchants of proposals: in whose books they are, and who gets money in suspense."""
    targets = [
        proposal["suspense"].get("target_mid")
        for approval, proposal in lines
        if approval.kind in operator_suspense.KINDS
    ]
    return {mid for mid in (*(approval.mid for approval, _ in lines), *targets) if mid}


def cut_page(found: Sequence[Approval]) -> list[Approval]:
    """Returns the first approvals that one page shows: at least one, further ones while their texts fit."""
    shown: list[Approval] = []
    size = 0
    for approval in found[:PAGE_PROPOSALS]:
        size += shown_size(approval.reason) + shown_size(pretty_json(approval.proposal))
        if shown and size > MAX_PAGE_TEXT:
            break
        shown.append(approval)
    return shown


def shown_size(text: str) -> int:
    """Returns the bytes of a text in a page."""
    return len(escape(text).encode())


async def list_choices(connection: Connection, mid: str) -> list[AccountBalance]:
    """Returns the accounts that the forms offer for a merchant: those with the largest balances, then those that every
    merchant may have. Empty without a merchant."""
    summary = await operator_reads.find_merchant(connection, mid) if mid else None
    if summary is None:
        return []
    found = await operator_reads.list_account_choices(connection, summary.merchant_id, MAX_CHOICES)
    known = {account.name for account in found}
    common = sorted(f"{owner}:{currency}" for owner in chart.COMMON for currency in CURRENCIES)
    return found + [AccountBalance(name, name.rpartition(":")[2], 0, 0, None) for name in common if name not in known]


# --- proposing ----------------------------------------------------------------------------------------------------


async def submit_proposal(visit: Visit) -> Response:
    """Stores a proposal for another operator to decide."""
    kind = visit.path_parameter("kind")
    if kind not in PROPOSAL_TITLES:
        raise NotFound
    submitted = {name: visit.form_text(name) for name in FORM_FIELDS}
    submitted |= {name: visit.form_amount(name) for name in ("amount", "buy", "sell")}
    read = await read_proposal(visit, kind, submitted)
    faults = {fault.field: fault.reason for fault in read} if isinstance(read, tuple) else {}
    if not 1 <= len(submitted["reason"]) <= MAX_REASON_LENGTH:
        faults["reason"] = f"enter a reason of 1 to {MAX_REASON_LENGTH} characters"
    if faults or isinstance(read, tuple):
        return await show_approvals(visit, 422, faults=faults, submitted=submitted, open_form=kind)
    proposal = msgspec.json.encode(read).decode()
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        mid = None if kind == "rate" else submitted["mid"]
        if kind in operator_suspense.KINDS and isinstance(read, ProposedPosting):
            mid = await operator_suspense.find_holder(connection, read)
        approval_id = await approvals.propose(connection, mid, kind, proposal, submitted["reason"], visit.user.user_id)
        chain = await find_audit_chain(connection, mid)
        await visit.record_audit_on(
            connection, chain, f"proposed {title_with_article(kind)}", f"approval {approval_id}", after=read
        )
    return visit.redirect("/operator/approvals", "Proposed. Another operator must approve it.")


async def find_audit_chain(connection: Connection, mid: str | None) -> int:
    """Returns the audit chain of a merchant, or the operator's for None."""
    return OPERATOR_CHAIN_ID if mid is None else await merchants.find_merchant_id(connection, mid)


async def read_proposal(visit: Visit, kind: str, submitted: dict[str, str]) -> Proposal | tuple[FieldError, ...]:
    """Parses and checks a submitted proposal. Returns it, or its field errors."""
    if kind == "rate":
        return read_proposed_rate(submitted["currency"], submitted["buy"], submitted["sell"])
    if kind in operator_suspense.KINDS:
        return await operator_suspense.read(visit.reader, kind, submitted["reference"], submitted["mid"])
    summary = await operator_reads.find_merchant(visit.reader, submitted["mid"])
    if summary is None:
        return (FieldError("mid", "no merchant has this mid"),)
    if kind == "tariff":
        return read_tariff(submitted["tariff"])
    if kind == "reversal":
        return await read_reversal(visit, summary.merchant_id, submitted["reference"])
    if kind == "posting":
        posting = parse_posting(submitted["debit"], submitted["credit"], submitted["amount"], "manual posting")
        unknown = () if isinstance(posting, tuple) else await unknown_accounts(visit, summary.merchant_id, posting)
        return unknown or posting
    account = await operator_reads.find_account(visit.reader, summary.merchant_id, submitted["account"])
    if account is None:
        return (FieldError("account", "this merchant has no such account"),)
    posting = parse_posting(*write_off_accounts(account.name, account.posted), submitted["amount"], "write-off")
    if isinstance(posting, ProposedPosting) and posting.amount > abs(account.posted):
        return (FieldError("amount", "must not exceed the account's balance"),)
    return posting


async def read_reversal(visit: Visit, merchant_id: int, reference: str) -> ProposedPosting | tuple[FieldError, ...]:
    """Returns the posting that books what a rail says late: all that the transaction moved, or would have moved."""
    movement = await operator_reads.find_rail_movement(visit.reader, merchant_id, reference)
    if movement is None:
        missing = "no transfer, bill or refund that has ended, and no successful payment of this merchant, has it"
        return (FieldError("reference", missing),)
    if movement.is_reversed:
        return (FieldError("reference", "its reversal is proposed or booked already"),)
    kind = "paid by the rail" if movement.credit.startswith("rail:") else "reversed by the rail"
    return ProposedPosting(
        movement.debit, movement.credit, movement.amount, kind, reference, refund_of=movement.refund_of
    )


async def unknown_accounts(visit: Visit, merchant_id: int, posting: ProposedPosting) -> tuple[FieldError, ...]:
    """Returns errors for accounts that neither exist nor belong to every merchant. A manual posting opens no others."""
    faults = []
    for field, name in (("debit", posting.debit), ("credit", posting.credit)):
        known = chart.is_common(name) or await operator_reads.find_account(visit.reader, merchant_id, name)
        if not known:
            faults.append(FieldError(field, "no such account; see the trial balance"))
    return tuple(faults)


def read_tariff(text: str) -> dict[str, Any] | tuple[FieldError, ...]:
    try:
        tariff = msgspec.json.decode(text, type=dict[str, Any])
        check_settings(MerchantSettings(tariff=tariff))
    except (ValueError, msgspec.MsgspecError) as error:
        return (FieldError("tariff", f"must be JSON that overrides the default tariff: {error}"),)
    if shown_size(pretty_json(tariff)) > MAX_PAGE_TEXT:
        return (FieldError("tariff", "is too long: name only what differs from the default tariff"),)
    return tariff


def read_proposed_rate(currency: str, buy: str, sell: str) -> ProposedRate | tuple[FieldError, ...]:
    read = read_rate(currency, buy, sell)
    if isinstance(read, dict):
        return tuple(FieldError(field, fault) for field, fault in read.items())
    return ProposedRate(currency, read.buy, read.sell)


# --- deciding -----------------------------------------------------------------------------------------------------


class ApprovalResult(msgspec.Struct, frozen=True):
    """The result of deciding an approval."""

    state: str = ""
    problem: str | None = None  # why it stays open
    invitation: tuple[str, str] | None = None  # email and link token, to be sent after the commit


async def decide_approval(visit: Visit) -> Response:
    """Approves or rejects a proposal. A proposal that cannot be applied stays open, and the page says why.

    The connection is released before the page is read, because the page takes one of its own from the pool.
    """
    verdict, approval_id = visit.path_parameter("verdict"), parse_int(visit.path_parameter("approval_id"), 0)
    if verdict not in ("approve", "reject"):
        raise NotFound
    state: VerdictState = "approved" if verdict == "approve" else "rejected"
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        result = await lock_and_decide(visit, connection, approval_id, state)
    if result.problem is not None:
        return await show_approvals(visit, 422, faults={"": result.problem})
    delivery = "" if result.invitation is None else " " + await deliver_link(visit, *result.invitation)
    earlier = "" if result.state == state else " Another operator decided it before you."
    return visit.redirect("/operator/approvals", f"The proposal is {result.state}.{earlier}{delivery}")


async def lock_and_decide(
    visit: Visit, connection: Connection, approval_id: int, state: VerdictState
) -> ApprovalResult:
    """Locks the open approval, then applies or rejects it in the caller's transaction. Raises NotFound."""
    await connection.execute(approvals.EXTEND_IDLE_TIMEOUT)
    found = await approvals.lock_open_approval(connection, approval_id)
    if found is None:
        raise NotFound
    problem = (
        await operator_user_proposals.explain_approval_bar(connection, visit, found) if state == "approved" else None
    )
    if problem is not None:
        return ApprovalResult(problem=problem)
    if found.kind in POSTING_KINDS:
        return await decide_posting(visit, connection, found, state)
    applied = await apply_proposal(visit, connection, found) if state == "approved" else None
    if isinstance(applied, str):
        return ApprovalResult(problem=applied)
    await approvals.close_approval(connection, approval_id, visit.user.user_id, state)
    chain = await find_audit_chain(connection, found.mid)
    await visit.record_audit_on(connection, chain, *audit_text(found, state))
    return ApprovalResult(state, invitation=applied)


def title_with_article(kind: str) -> str:
    title = APPROVAL_TITLES[kind].lower()
    return f"an {title}" if title[0] in "aeiou" else f"a {title}"


def audit_text(found: Approval, state: VerdictState) -> tuple[str, str]:
    """Returns action and subject of the audit entry of a decision."""
    return f"{state} {title_with_article(found.kind)}", f"approval {found.approval_id}"


async def apply_proposal(visit: Visit, connection: Connection, found: Approval) -> str | tuple[str, str] | None:
    """Applies a proposal in the approval's transaction, so that a crash leaves neither or both.

    Returns a text if it cannot be applied, (email, link token) for an invitation, else None.
    """
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
    """Submits the verdict to the writer, then closes the approval.

    The writer commits verdict, posting and audit entry together in the merchant's books. A crash between that commit
    and the approval's leaves an open approval whose verdict is known. The next visit of the page closes it with that
    verdict.
    """
    known = await approvals.find_posting_verdict(connection, found.approval_id)
    if known is None:
        result = await submit_verdict(visit, connection, found, state)
        if isinstance(result, str):
            return ApprovalResult(problem=result)
        known = (result.state, result.decided_by)
    stands, decided_by = known
    if stands == "approved" and found.kind == operator_suspense.ASSIGN:
        await operator_suspense.credit_other(visit.services, connection, found)
    if decided_by is None:  # posted by a version that did not store who approved it
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
    """Returns the verdict in the merchant's books, which may be an earlier one, or why the posting cannot be made."""
    assert found.mid is not None, "a posting is in a merchant's books"
    posting = msgspec.json.decode(found.proposal, type=ProposedPosting)
    merchant = await visit.services.merchant_directory.get_by_id(
        await merchants.find_merchant_id(connection, found.mid)
    )
    bar = await operator_suspense.explain_bar(connection, posting) if state == "approved" else None
    if bar is not None:
        return bar
    opens_accounts = state == "approved" and found.kind == "posting"
    if opens_accounts and await unknown_accounts(visit, merchant.merchant_id, posting):
        return "It names an account that does not exist. Reject the proposal."
    entry = AuditEntry(visit.user.email, *audit_text(found, state), visit.client_address)
    verdict = Verdict(found.approval_id, state, visit.user.user_id, posting, entry)
    needs, rule = need_verdict(verdict, merchant), partial(decide_verdict, verdict)
    result = await visit.services.writer.submit(Submission(merchant, needs, rule, draw_entropy()))
    if isinstance(result, RuleFailure):
        raise result.error
    if isinstance(result, Refusal):
        return result.message
    assert isinstance(result, Decision), "this rule needs nothing more"
    assert isinstance(result.reply, ManualPosting)
    return result.reply


async def set_tariff(connection: Connection, mid: str, tariff: dict[str, Any]) -> None:
    def apply(settings: MerchantSettings) -> MerchantSettings:
        return msgspec.structs.replace(settings, tariff=tariff)

    await merchants.change_settings(connection, mid, apply, is_endpoint_set=False)
