"""The approvals page: what waits for a second operator, what was decided, and forms that propose.

One operator proposes, another approves or rejects (decisions.py). What a command proposes, two approve.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
from markupsafe import escape
from starlette.responses import Response

from kasuwa.authority import acts, approvals
from kasuwa.authority.approvals import Approval
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.authority.cooling_off import MAX_HOURS, least_hours, read_cooling_off
from kasuwa.authority.roles import CAN_KEEP_BOOKS
from kasuwa.console.kit.values import pretty_json
from kasuwa.console.kit.visit import NotAllowed, NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE
from kasuwa.console.operator import reads, suspense
from kasuwa.console.operator.manual_posting import (
    ProposedPosting,
    parse_posting,
    propose_reversal,
    write_off_accounts,
)
from kasuwa.console.operator.reads import AccountBalance
from kasuwa.core.decision import FieldError
from kasuwa.core.money import CURRENCIES
from kasuwa.core.routing import AccountAlias
from kasuwa.ledger import chart
from kasuwa.merchants import exchange_rates, merchants
from kasuwa.merchants.merchant_settings import MerchantSettings, check_settings
from kasuwa.postgres.connection_pool import Connection
from kasuwa.projections.rail_movement import find_rail_movement
from kasuwa.rails.watch import contradictions
from kasuwa.terms.conversion import FOREIGN, HOME, read_rate

MAX_REASON_LENGTH = 500
MAX_MID_LENGTH = 50
OF_NO_MERCHANT = frozenset({acts.RATE.name, acts.POLICY.name})
# Proposals of a page, and the bytes of their texts: a page stays below 100 kB although one proposal may be a tariff.
PAGE_PROPOSALS = 15
MAX_PAGE_TEXT = 16_000
# Contradictions of rails that a page shows, oldest first.
MAX_CONTRADICTIONS = 20
# Accounts with balances that a form offers. Others can be typed.
MAX_CHOICES = 60
# Acts with a form on this page. Others are proposed on other pages, or by commands.
FORM_ACTS = tuple(act for act in acts.ACTS if acts.APPROVALS in act.pages)
APPROVAL_TITLES = {act.name: act.title for act in acts.ACTS} | {
    acts.SETTINGS_KIND: "Settings of a merchant",
}
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
    "hours",
    "reason",
)


class ProposedRate(msgspec.Struct, frozen=True):
    """A proposed exchange rate: kobo for one unit of the currency. Stored as JSON in approval.proposal."""

    currency: str
    buy: int
    sell: int


class ProposedPolicy(msgspec.Struct, frozen=True):
    """A proposed policy of authority. Stored as JSON in approval.proposal."""

    cooling_off_hours: int


class ProposedAccounts(msgspec.Struct, frozen=True):
    """Keys of a vendor that are proposed to be of one account. Stored as JSON in approval.proposal."""

    accounts: list[AccountAlias]


Proposal = ProposedPosting | ProposedRate | ProposedPolicy | dict[str, Any]


async def show_approvals(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Shows a page of the open proposals with the forms that propose, or a page of the decided ones."""
    await visit.repair(partial(approvals.close_decided_approvals, vault=visit.services.vault))
    mid = str(values.get("submitted", visit.query).get("mid", ""))[:MAX_MID_LENGTH]
    is_decided = visit.query.get("show", "") == "decided"
    list_page = approvals.list_decided if is_decided else approvals.list_open
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as connection:
        entries = await list_page(connection, before, PAGE_PROPOSALS + 1)
        current_rates = await exchange_rates.read_current_rates(connection)
        cooling_off = await read_cooling_off(connection, visit.services.vault)
        lines = [(approval, msgspec.json.decode(approval.proposal)) for approval in cut_page(entries)]
        names = await reads.read_merchant_names(connection, list_mids(lines))
        choices = [] if is_decided else await list_choices(connection, mid)
        contradicted = [] if is_decided else await contradictions.list_open(connection, MAX_CONTRADICTIONS)
    url = "/operator/approvals?show=decided" if is_decided else "/operator/approvals?show=open"
    shared = {
        "lines": lines,
        "is_decided": is_decided,
        "next_url": f"{url}&before={lines[-1][0].approval_id}" if len(lines) < len(entries) else "",
        "first_url": url if before != MAX_SEQUENCE else "",
        "kinds": {act.name: act.title for act in FORM_ACTS if visit.user.role in act.roles},
        "cooling_off_hours": int(cooling_off / timedelta(hours=1)),
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
        "contradictions": contradicted,
        "balance_of": {account.name: account for account in choices},
    }
    return visit.render("operator_approvals.html", status, **{**shared, **values})


def list_mids(lines: Sequence[tuple[Approval, dict[str, Any]]]) -> set[str]:
    """Returns the merchants of proposals: in whose books they are, and who gets money in suspense."""
    targets = [
        proposal["suspense"].get("target_mid") for approval, proposal in lines if approval.kind in suspense.KINDS
    ]
    return {mid for mid in (*(approval.mid for approval, _ in lines), *targets) if mid}


def cut_page(approvals: Sequence[Approval]) -> list[Approval]:
    """Returns the first approvals that one page shows: at least one, further ones while their texts fit."""
    shown: list[Approval] = []
    size = 0
    for approval in approvals[:PAGE_PROPOSALS]:
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
    summary = await reads.find_merchant(connection, mid) if mid else None
    if summary is None:
        return []
    accounts = await reads.list_account_choices(connection, summary.merchant_id, MAX_CHOICES)
    known = {account.name for account in accounts}
    common = sorted(f"{owner}:{currency}" for owner in chart.COMMON for currency in CURRENCIES)
    return accounts + [
        AccountBalance(name, name.rpartition(":")[2], 0, 0, None) for name in common if name not in known
    ]


# --- proposing ----------------------------------------------------------------------------------------------------


async def submit_proposal(visit: Visit) -> Response:
    """Stores a proposal for another operator to decide."""
    kind = visit.path_parameter("kind")
    act = next((act for act in FORM_ACTS if act.name == kind), None)
    if act is None:
        raise NotFound
    if visit.user.role not in act.roles:
        raise NotAllowed
    submitted = {name: visit.form_text(name) for name in FORM_FIELDS}
    submitted |= {name: visit.form_amount(name) for name in ("amount", "buy", "sell")}
    proposal_or_faults = await read_proposal(visit, kind, submitted)
    faults = (
        {fault.field: fault.reason for fault in proposal_or_faults} if isinstance(proposal_or_faults, tuple) else {}
    )
    if not 1 <= len(submitted["reason"]) <= MAX_REASON_LENGTH:
        faults["reason"] = f"enter a reason of 1 to {MAX_REASON_LENGTH} characters"
    if faults or isinstance(proposal_or_faults, tuple):
        return await show_approvals(visit, 422, faults=faults, submitted=submitted, open_form=kind)
    proposal = msgspec.json.encode(proposal_or_faults).decode()
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        mid = None if kind in OF_NO_MERCHANT else submitted["mid"]
        if kind in suspense.KINDS and isinstance(proposal_or_faults, ProposedPosting):
            mid = await suspense.find_holder(connection, proposal_or_faults)
        approval_id = await approvals.propose(
            connection, visit.services.vault, mid, kind, proposal, submitted["reason"], visit.user.user_id
        )
        chain = await find_audit_chain(connection, mid)
        await visit.record_audit_on(
            connection,
            chain,
            f"proposed {title_with_article(kind)}",
            f"approval {approval_id}",
            after=proposal_or_faults,
        )
    return visit.redirect("/operator/approvals", "Proposed. Another operator must approve it.")


async def find_audit_chain(connection: Connection, mid: str | None) -> int:
    """Returns the audit chain of a merchant, or the operator's for None."""
    return OPERATOR_CHAIN_ID if mid is None else await merchants.find_merchant_id(connection, mid)


async def read_proposal(visit: Visit, kind: str, submitted: dict[str, str]) -> Proposal | tuple[FieldError, ...]:
    """Parses and checks a submitted proposal. Returns it, or its field errors."""
    if kind == "rate":
        return read_proposed_rate(submitted["currency"], submitted["buy"], submitted["sell"])
    if kind == acts.POLICY.name:
        return read_policy(submitted["hours"], visit.services.environment)
    if kind in suspense.KINDS:
        return await suspense.read(visit.reader, kind, submitted["reference"], submitted["mid"])
    summary = await reads.find_merchant(visit.reader, submitted["mid"])
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
    account = await reads.find_account(visit.reader, summary.merchant_id, submitted["account"])
    if account is None:
        return (FieldError("account", "this merchant has no such account"),)
    posting = parse_posting(*write_off_accounts(account.name, account.posted), submitted["amount"], "write-off")
    if isinstance(posting, ProposedPosting) and posting.amount > abs(account.posted):
        return (FieldError("amount", "must not exceed the account's balance"),)
    return posting


async def read_reversal(visit: Visit, merchant_id: int, reference: str) -> ProposedPosting | tuple[FieldError, ...]:
    """Returns the posting that books what a rail says late: all that the transaction moved, or would have moved."""
    movement = await find_rail_movement(visit.reader, merchant_id, reference)
    if movement is None:
        missing = "no transfer, bill or refund that has ended, and no successful payment of this merchant, has it"
        return (FieldError("reference", missing),)
    if movement.is_reversed:
        return (FieldError("reference", "its reversal is proposed or booked already"),)
    return propose_reversal(movement, reference)


async def unknown_accounts(visit: Visit, merchant_id: int, posting: ProposedPosting) -> tuple[FieldError, ...]:
    """Returns errors for accounts that neither exist nor belong to every merchant. A manual posting opens no others."""
    faults = []
    for field, name in (("debit", posting.debit), ("credit", posting.credit)):
        known = chart.is_common(name) or await reads.find_account(visit.reader, merchant_id, name)
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


def read_policy(text: str, environment: str) -> ProposedPolicy | tuple[FieldError, ...]:
    least, hours = least_hours(environment), parse_int(text, -1)
    if not least <= hours <= MAX_HOURS:
        return (FieldError("hours", f"must be a whole number of hours from {least} to {MAX_HOURS}"),)
    return ProposedPolicy(hours)


def read_proposed_rate(currency: str, buy: str, sell: str) -> ProposedRate | tuple[FieldError, ...]:
    rate_or_faults = read_rate(currency, buy, sell)
    if isinstance(rate_or_faults, dict):
        return tuple(FieldError(field, fault) for field, fault in rate_or_faults.items())
    return ProposedRate(currency, rate_or_faults.buy, rate_or_faults.sell)


def title_with_article(kind: str) -> str:
    title = APPROVAL_TITLES[kind]
    title = title if title[:2].isupper() else title[0].lower() + title[1:]
    return f"an {title}" if title[0].lower() in "aeiou" else f"a {title}"
