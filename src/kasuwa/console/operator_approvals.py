"""What two operators must agree on: manual postings, write-offs, tariffs, rates. One proposes, another decides."""

import os
from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console import operator_reads, people_proposals
from kasuwa.console.access import KEEPS_BOOKS
from kasuwa.console.decide import (
    ManualPosting,
    Movement,
    State,
    Verdict,
    decide_verdict,
    need_verdict,
    read_movement,
    write_off,
)
from kasuwa.console.events import number
from kasuwa.console.team import hand_over
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.decision import Decision, Deed, Fault, Refusal
from kasuwa.core.merchant import MerchantSettings, check_settings
from kasuwa.core.rates import FOREIGN, HOME, Rate, read_rate
from kasuwa.db import approvals, merchants, rates
from kasuwa.db.approvals import Approval
from kasuwa.db.audit_trail import OPERATORS_CHAIN
from kasuwa.db.batch import Broken, Submission
from kasuwa.db.pool import Connection
from kasuwa.ledger import chart

MOST_REASON = 500
KINDS = {"posting": "Manual posting", "write_off": "Write-off", "tariff": "Tariff", "rate": "Rate of exchange"}
# Kinds that move money: they are decided in the merchant's books.
POSTINGS = frozenset({"posting", "write_off"})
MADE_ALREADY = "Its posting was made already. Approve it, so that the record says so."
# Operators are proposed on the page of the team.
TITLES = {**KINDS, people_proposals.KIND: "Change of operator"}
FIELDS = ("mid", "debit", "credit", "account", "amount", "tariff", "currency", "buy", "sell", "reason")


class ProposedRate(msgspec.Struct, frozen=True):
    """What one unit of a currency is to bring and to cost, in minor units."""

    currency: str
    buy: int
    sell: int


Proposal = Movement | ProposedRate | dict[str, Any]


async def show_approvals(visit: Visit, status: int = 200, **told: Any) -> Response:
    await visit.repair(approvals.finish_decided)
    async with visit.snapshot() as connection:
        found, in_force = await approvals.newest(connection), await rates.in_force(connection)
    shared = {
        "open": [(a, msgspec.json.decode(a.proposal)) for a in found if a.state == "open"],
        "decided": [(a, msgspec.json.decode(a.proposal)) for a in found if a.state != "open"],
        "kinds": KINDS,
        "titles": TITLES,
        "in_force": in_force,
        "foreign": [(currency, currency) for currency in FOREIGN],
        "said": visit.query,
        "home": HOME,
        "may_decide": visit.user.role in KEEPS_BOOKS,
        "asked": visit.query.get("kind", "posting"),
    }
    return visit.show("operator_approvals.html", status, **{**shared, **told})


# --- proposing ----------------------------------------------------------------------------------------------------


async def propose(visit: Visit) -> Response:
    kind = visit.path("kind")
    if kind not in KINDS:
        raise NotFound
    said = {name: visit.said(name) for name in FIELDS}
    read = await read_proposal(visit, kind, said)
    faults = {fault.field: fault.reason for fault in read} if isinstance(read, tuple) else {}
    if not 1 <= len(said["reason"]) <= MOST_REASON:
        faults["reason"] = f"why, in 1 to {MOST_REASON} characters"
    if faults or isinstance(read, tuple):
        return await show_approvals(visit, 422, faults=faults, said=said, asked=kind)
    proposal = msgspec.json.encode(read).decode()
    async with visit.operators.acquire() as connection, connection.transaction():
        mid = None if kind == "rate" else said["mid"]
        approval_id = await approvals.propose(connection, mid, kind, proposal, said["reason"], visit.user.user_id)
        chain = await chain_of(connection, mid)
        await visit.record_on(
            connection, chain, f"proposed a {KINDS[kind].lower()}", f"approval {approval_id}", after=read
        )
    return visit.go("/operator/approvals", "Proposed. Somebody else must approve it.")


async def chain_of(connection: Connection, mid: str | None) -> int:
    """Where the trail tells of it: with its merchant, or with the operator where it is no merchant's."""
    return OPERATORS_CHAIN if mid is None else await merchants.find_merchant_id(connection, mid)


async def read_proposal(visit: Visit, kind: str, said: dict[str, str]) -> Proposal | tuple[Fault, ...]:
    if kind == "rate":
        return read_proposed_rate(said["currency"], said["buy"], said["sell"])
    shop = await operator_reads.find_merchant(visit.reader, said["mid"])
    if shop is None:
        return (Fault("mid", "no merchant has this mid"),)
    if kind == "tariff":
        return read_tariff(said["tariff"])
    if kind == "posting":
        movement = read_movement(said["debit"], said["credit"], said["amount"], "manual posting")
        unknown = () if isinstance(movement, tuple) else await unknown_accounts(visit, shop.merchant_id, movement)
        return unknown or movement
    account = await operator_reads.find_account(visit.reader, shop.merchant_id, said["account"])
    if account is None:
        return (Fault("account", "not an account of this merchant"),)
    movement = read_movement(*write_off(account.name, account.posted), said["amount"], "write-off")
    if isinstance(movement, Movement) and movement.amount > abs(account.posted):
        return (Fault("amount", "not more than its balance"),)
    return movement


async def unknown_accounts(visit: Visit, merchant_id: int, movement: Movement) -> tuple[Fault, ...]:
    """A manual posting opens no account but those that every merchant may have."""
    faults = []
    for field, name in (("debit", movement.debit), ("credit", movement.credit)):
        known = chart.is_common(name) or await operator_reads.find_account(visit.reader, merchant_id, name)
        if not known:
            faults.append(Fault(field, "no such account: choose one of the trial balance"))
    return tuple(faults)


def read_tariff(text: str) -> dict[str, Any] | tuple[Fault, ...]:
    try:
        tariff = msgspec.json.decode(text, type=dict[str, Any])
        check_settings(MerchantSettings(tariff=tariff))
    except (ValueError, msgspec.MsgspecError) as error:
        return (Fault("tariff", f"JSON laid over the usual tariff: {error}"),)
    return tariff


def read_proposed_rate(currency: str, buy: str, sell: str) -> ProposedRate | tuple[Fault, ...]:
    read = read_rate(currency, buy, sell)
    if isinstance(read, dict):
        return tuple(Fault(field, fault) for field, fault in read.items())
    return ProposedRate(currency, read.buy, read.sell)


# --- deciding -----------------------------------------------------------------------------------------------------


class Decided(msgspec.Struct, frozen=True):
    """What became of an approval. `trouble` says why it stays open; `link` is an address with the token of a link that
    is to be handed over after the commit."""

    state: str = ""
    trouble: str | None = None
    link: tuple[str, str] | None = None


async def decide(visit: Visit) -> Response:
    """Approving does it, under the approval's lock; what cannot be done leaves it open and says why. The page that says
    so reads on a connection of its own, so this one is given back first."""
    verdict, approval_id = visit.path("verdict"), number(visit.path("approval_id"), 0)
    if verdict not in ("approve", "reject"):
        raise NotFound
    state: State = "approved" if verdict == "approve" else "rejected"
    async with visit.operators.acquire() as connection, connection.transaction():
        done = await decide_open(visit, connection, approval_id, state)
    if done.trouble is not None:
        return await show_approvals(visit, 422, faults={"": done.trouble})
    told = "" if done.link is None else " " + await hand_over(visit, *done.link)
    before = "" if done.state == state else " Somebody decided it before you."
    return visit.go("/operator/approvals", f"It is {done.state}.{before}{told}")


async def decide_open(visit: Visit, connection: Connection, approval_id: int, state: State) -> Decided:
    await connection.execute(approvals.LONGER_IDLE)
    found = await approvals.lock_open(connection, approval_id)
    if found is None:
        raise NotFound
    trouble = await people_proposals.why_not_approve(connection, visit, found) if state == "approved" else None
    if trouble is not None:
        return Decided(trouble=trouble)
    if found.kind in POSTINGS:
        return await decide_posting(visit, connection, found, state)
    done = await carry_out(visit, connection, found) if state == "approved" else None
    if isinstance(done, str):
        return Decided(trouble=done)
    await approvals.decide(connection, approval_id, visit.user.user_id, state)
    chain = await chain_of(connection, found.mid)
    await visit.record_on(connection, chain, *entry_of(found, state))
    return Decided(state, link=done)


def entry_of(found: Approval, state: State) -> tuple[str, str]:
    """What the audit trail says of a decision, and about what."""
    return f"{state} a {TITLES[found.kind].lower()}", f"approval {found.approval_id}"


async def carry_out(visit: Visit, connection: Connection, found: Approval) -> str | tuple[str, str] | None:
    """Does what was proposed, within the approval's transaction: a crash leaves neither or both. Answers why it cannot
    be done; or the address and the token of a link; or None."""
    if found.kind == people_proposals.KIND:
        return await people_proposals.carry_out_change(connection, visit, found)
    if found.kind == "rate":
        rate = msgspec.json.decode(found.proposal, type=ProposedRate)
        both = f"{found.proposer} and {visit.user.email}"
        await rates.set_rate(connection, rate.currency, Rate(rate.buy, rate.sell), both, visit.address)
        return None
    assert found.mid is not None, "a tariff is a merchant's; postings are decided in the merchant's books"
    await set_tariff(connection, found.mid, msgspec.json.decode(found.proposal))
    return None


async def decide_posting(visit: Visit, connection: Connection, found: Approval, state: State) -> Decided:
    """The verdict is committed by the writer, in the merchant's books, together with the posting and the audit entry;
    the approval follows. Whoever breaks off between the two leaves an open approval whose verdict is known: it is
    closed with that verdict by the next who decides it or looks at the list."""
    known = await approvals.verdict_of(connection, found.approval_id)
    if known is None:
        result = await submit_verdict(visit, connection, found, state)
        if isinstance(result, str):
            return Decided(trouble=result)
        known = (result.state, result.decided_by)
    stands, decided_by = known
    if decided_by is None:  # made by a version that did not keep who approved it
        if state != stands:
            return Decided(trouble=MADE_ALREADY)
        decided_by = visit.user.user_id
        await visit.record_on(connection, await chain_of(connection, found.mid), *entry_of(found, state))
    await approvals.decide(connection, found.approval_id, decided_by, stands)
    return Decided(stands)


async def submit_verdict(visit: Visit, connection: Connection, found: Approval, state: State) -> ManualPosting | str:
    """Returns the verdict that stands in the merchant's books, or why the posting cannot be made."""
    assert found.mid is not None, "a posting is in a merchant's books"
    movement = msgspec.json.decode(found.proposal, type=Movement)
    merchant = await visit.parts.directory.by_id(await merchants.find_merchant_id(connection, found.mid))
    opens_accounts = state == "approved" and found.kind == "posting"
    if opens_accounts and await unknown_accounts(visit, merchant.merchant_id, movement):
        return "It names an account that does not exist. Reject it."
    deed = Deed(visit.user.email, *entry_of(found, state), visit.address)
    verdict = Verdict(found.approval_id, state, visit.user.user_id, movement, deed)
    needs, rule = need_verdict(verdict, merchant), partial(decide_verdict, verdict)
    result = await visit.parts.writer.submit(Submission(merchant, needs, rule, os.urandom(32)))
    if isinstance(result, Broken):
        raise result.error
    if isinstance(result, Refusal):
        return result.message
    assert isinstance(result, Decision), "this rule needs nothing more"
    assert isinstance(result.reply, ManualPosting)
    return result.reply


async def set_tariff(connection: Connection, mid: str, tariff: dict[str, Any]) -> None:
    def changed(kept: MerchantSettings) -> MerchantSettings:
        return msgspec.structs.replace(kept, tariff=tariff)

    await merchants.change_settings(connection, mid, changed, endpoint_set=False)
