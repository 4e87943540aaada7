"""Proposals about money in suspense: to assign it to a merchant, or to return it through its rail."""

from functools import partial

import msgspec

from kasuwa.authority.approvals import Approval
from kasuwa.console.kit.visit import ConsoleServices
from kasuwa.console.operator import reads
from kasuwa.console.operator.manual_posting import ProposedPosting
from kasuwa.core.decision import FieldError
from kasuwa.core.reading import Reader
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.merchants import merchants
from kasuwa.methods.payment.rules.receipts.suspense import (
    ASSIGN_POSTING,
    RETURN_POSTING,
    AssignedMoney,
    SuspenseProposal,
    choose_accounts,
    decide_assigned,
    need_assigned,
)
from kasuwa.postgres.connection_pool import Connection
from kasuwa.reconciliation import suspense

ASSIGN, RETURN = "suspense_assign", "suspense_return"
KINDS = frozenset({ASSIGN, RETURN})


async def read(reader: Reader, kind: str, reference: str, mid: str) -> ProposedPosting | tuple[FieldError, ...]:
    """Returns the proposal about a receipt, or all of its field errors. `mid` is who gets it, for an assignment."""
    receipts = await suspense.list_suspense(reader, 2, reference) if reference else []
    faults = []
    if len(receipts) != 1:
        several = "several rails have it: write the rail before it, such as paystack T1" if receipts else ""
        faults.append(FieldError("reference", several or "no money in suspense has this reference of a rail"))
    elif receipts[0].is_proposed or receipts[0].state == "returning":
        faults.append(FieldError("reference", "its assignment or return is proposed or under way already"))
    target = await reads.find_merchant(reader, mid) if kind == ASSIGN else None
    if kind == ASSIGN and target is None:
        faults.append(FieldError("mid", "no merchant has this mid"))
    if faults:
        return tuple(faults)
    money = receipts[0]
    is_other = target is not None and target.merchant_id != money.merchant_id
    proposal = SuspenseProposal(
        action="assign" if kind == ASSIGN else "return",
        rail=money.rail,
        rail_reference=money.rail_reference,
        target_mid="" if target is None else target.mid,
        target_id=target.merchant_id if target is not None and is_other else 0,
    )
    debit, credit = choose_accounts(proposal, money.currency)
    title = ASSIGN_POSTING if kind == ASSIGN else RETURN_POSTING
    return ProposedPosting(debit, credit, money.amount, title, suspense=proposal)


async def find_holder(connection: Connection, proposed: ProposedPosting) -> str:
    """Returns the merchant in whose books the money is: they are the books of the approval."""
    assert proposed.suspense is not None
    return await suspense.find_holder(connection, proposed.suspense.rail, proposed.suspense.rail_reference)


async def explain_bar(connection: Connection, posting: ProposedPosting) -> str | None:
    """Returns why an assignment cannot be approved: the books of the merchant who gets it are no longer the current
    ones, because the test environment has reset them. None if it can."""
    proposal = posting.suspense
    if proposal is None or not proposal.target_id:
        return None
    current = await merchants.find_merchant_id(connection, proposal.target_mid)
    return None if current == proposal.target_id else "The merchant who gets it has new books. Reject the proposal."


async def credit_other(services: ConsoleServices, connection: Connection, approval: Approval) -> None:
    """Books assigned money in the books of the merchant who gets it, if that is another one. Does it once: after a
    crash the approval is still open, and approving it again ends here."""
    posting = msgspec.json.decode(approval.proposal, type=ProposedPosting)
    proposal = posting.suspense
    assert proposal is not None
    assert approval.mid is not None
    if not proposal.target_id:
        return
    money = AssignedMoney(
        rail=proposal.rail,
        rail_reference=proposal.rail_reference,
        amount=posting.amount,
        currency=posting.debit.rpartition(":")[2],
        approval_id=approval.approval_id,
        from_merchant_id=await merchants.find_merchant_id(connection, approval.mid),
    )
    merchant = await services.merchant_directory.get_by_id(proposal.target_id)
    rule = partial(decide_assigned, money)
    result = await services.writer.submit(Submission(merchant, need_assigned(money, merchant), rule, draw_entropy()))
    if isinstance(result, RuleFailure):
        raise result.error
