"""Opens a dispute of a payment: holds its amount and fee in the wallet, and counts it as disputed on the payment.

The money is the merchant's, whoever got a share of a split payment. What the wallet lacks is lent by the operator
within the merchant's `dispute_credit`; the rest is not held, and is owed if the dispute is lost.
Contract: payment#disputes
"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, movement_reference
from kasuwa.ledger import chart
from kasuwa.methods.disputes.model import (
    COLLECT_INTERVAL,
    DEADLINE,
    DEFAULT_HOURS,
    NEEDS_RESPONSE,
    NOT_DISPUTABLE,
    NOTHING_LEFT,
    REFERENCE_TYPE,
    REMINDER_HOURS,
    Dispute,
    DisputeOrigin,
    dispute_key,
    origin_key,
)
from kasuwa.methods.disputes.rules.debt import debt_job, need_debt_job
from kasuwa.methods.disputes.rules.steps_of_dispute import (
    NO_STEPS,
    OPENED,
    dispute_accounts,
    dispute_job,
    reply_dispute,
    take_step,
)
from kasuwa.methods.disputes.wire import DisputeChanged, OpenRequest
from kasuwa.methods.payment.model import (
    DETAIL_DECODER,
    FACTS_DECODER,
    KIND,
    UNKNOWN_REFERENCE,
    Payment,
    RailReversal,
    payment_key,
    reversal_key,
)
from kasuwa.methods.payment.plan_model import CHARGE_JOB_KINDS
from kasuwa.terms.tariff import Tariff, calculate_dispute_fees
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, transaction_key

# Required by PostingGroup, and never returned: what is held was found to be there.
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the dispute", error_code="insufficient_funds"
)


class NewDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute to be opened."""

    txn_ref: str
    reason: str
    amount: int | None = None  # None: all that is left
    due_at: datetime | None = None  # None: DEFAULT_HOURS from now
    rail: str = ""
    rail_dispute_id: str = ""


def need_open(request: OpenRequest, merchant: Merchant) -> Needs:
    return need_payment(request.txn_ref, merchant)


def need_payment(txn_ref: str, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    return Needs(
        (
            (Transaction, transaction_key(merchant_id, KIND, txn_ref)),
            (Payment, payment_key(merchant_id, txn_ref)),
            (RailReversal, reversal_key(merchant_id, txn_ref)),
        )
    )


def decide_open(
    request: OpenRequest, context: Context, rows: LoadedRows
) -> Decision[DisputeChanged] | Refusal | NeedsMore:
    """Opens the dispute that a merchant simulates in the test environment."""
    due_at = None if request.hours is None else context.now + timedelta(hours=request.hours)
    amount = None if request.amount is None else int(request.amount)
    new = NewDispute(txn_ref=request.txn_ref, reason=request.reason, amount=amount, due_at=due_at)
    return open_dispute(new, context, rows)


def open_dispute(new: NewDispute, context: Context, rows: LoadedRows) -> Decision[DisputeChanged] | Refusal | NeedsMore:
    """Opens a dispute. Refused if the payment is not successful, or less is left than is disputed."""
    merchant_id = context.merchant.merchant_id
    row = rows.get(Transaction, transaction_key(merchant_id, KIND, new.txn_ref))
    payment = rows.get(Payment, payment_key(merchant_id, new.txn_ref))
    if row is None or payment is None:
        return UNKNOWN_REFERENCE
    if row.status != SUCCESSFUL:
        return NOT_DISPUTABLE
    if payment.undisputed <= 0 or rows.get(RailReversal, reversal_key(merchant_id, new.txn_ref)) is not None:
        return NOTHING_LEFT
    amount = payment.undisputed if new.amount is None else new.amount
    if amount > payment.undisputed:
        return refuse_fields(
            FieldError("amount", f"at most {format_minor(payment.undisputed)}, what was not refunded or disputed")
        )
    missing = missing_accounts(payment.method, row.currency, merchant_id, rows)
    return missing or record_dispute(new, amount, row.currency, payment, context, rows)


def missing_accounts(method: str, currency: str, merchant_id: int, loaded_rows: LoadedRows) -> NeedsMore | None:
    """Returns the accounts and the job that a dispute in a currency needs, if they are not loaded."""
    accounts, job = dispute_accounts(method, currency), need_debt_job(merchant_id, currency)
    keys = [job[1], *(account_key(merchant_id, name) for name in accounts)]
    if all(loaded_rows.is_loaded(key) for key in keys):
        return None
    rows = tuple((chart.Account, account_key(merchant_id, name)) for name in accounts)
    return NeedsMore(Needs((job, *rows), accounts))


def available_in(account: str, merchant_id: int, rows: LoadedRows) -> int:
    """Returns what an account has and does not hold."""
    row = rows.get(chart.Account, account_key(merchant_id, account))
    return 0 if row is None else row.available


def record_dispute(
    new: NewDispute, amount: int, currency: str, payment: Payment, context: Context, loaded_rows: LoadedRows
) -> Decision[DisputeChanged]:
    merchant = context.merchant
    fees = calculate_dispute_fees(merchant.terms(Tariff), currency)
    total = amount + fees.total
    there = max(0, available_in(chart.wallet(currency), merchant.merchant_id, loaded_rows))
    owed = max(0, -available_in(chart.dispute_debt(currency), merchant.merchant_id, loaded_rows))
    credit = max(0, merchant.dispute_credit.get(currency, 0) - owed)
    lent = min(max(0, total - there), credit)
    dispute_id = movement_reference(REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now))
    due_at = new.due_at or context.now + timedelta(hours=DEFAULT_HOURS)
    opened = Dispute(
        key=dispute_key(merchant.merchant_id, dispute_id),
        merchant_id=merchant.merchant_id,
        dispute_id=dispute_id,
        number=context.number,
        txn_ref=new.txn_ref,
        method=payment.method,
        currency=currency,
        amount=amount,
        fee=fees.fee,
        vat=fees.vat,
        covered=min(total, there + lent),
        reason=new.reason,
        plan_id=find_plan_id(payment),
        rail=new.rail,
        rail_dispute_id=new.rail_dispute_id,
        opened_at=context.now,
        due_at=due_at,
        state=NEEDS_RESPONSE,
        responded_at=None,
        ended_at=None,
        events=0,
        files=0,
        evidence_sealed=None,
        trail=NO_STEPS,
    )
    step = take_step(opened, OPENED, context)
    rows: tuple[Row, ...] = (
        step.row,
        msgspec.structs.replace(payment, disputed=payment.disputed + amount),
        *origin_rows(new, dispute_id, context),
    )
    return Decision(
        reply=reply_dispute(step.row),
        groups=hold_groups(step.row, lent),
        rows=rows,
        jobs=(
            dispute_job(step.row, DEADLINE, next_deadline_step(step.row, context.now)),
            *step.jobs,
            *(debt_job(currency, context.now + COLLECT_INTERVAL, context, loaded_rows) if lent else ()),
        ),
        events=(step.event,),
        notices=uncovered_notices(step.row),
        numbers_used=1,
    )


def find_plan_id(payment: Payment) -> str:
    """Returns the plan that a payment was a charge of, the first one included, or "" if there is none."""
    purpose = DETAIL_DECODER.decode(payment.detail).purpose
    if purpose is not None and purpose.purpose in CHARGE_JOB_KINDS:
        return purpose.reference
    return FACTS_DECODER.decode(payment.facts).plan_id


def origin_rows(new: NewDispute, dispute_id: str, context: Context) -> tuple[Row, ...]:
    if not new.rail:
        return ()
    merchant_id = context.merchant.merchant_id
    key = origin_key(merchant_id, new.rail, new.rail_dispute_id)
    return (DisputeOrigin(key, merchant_id, new.rail, new.rail_dispute_id, dispute_id),)


def hold_groups(dispute: Dispute, lent: int) -> tuple[PostingGroup, ...]:
    """Returns the group that lends what the wallet lacks and holds what the dispute may take."""
    held = dispute.held
    if held is None:
        return ()
    advance = Posting(chart.dispute_debt(dispute.currency), chart.wallet(dispute.currency), lent, "dispute advance")
    postings = (advance,) if lent else ()
    return (PostingGroup(dispute.dispute_id, WALLET_INSUFFICIENT, postings=postings, holds=held),)


def uncovered_notices(dispute: Dispute) -> tuple[OperatorNotice, ...]:
    short = dispute.total - dispute.covered
    if not short:
        return ()
    message = f"the wallet lacks {dispute.currency} {format_minor(short)} for a dispute of {dispute.txn_ref}"
    return (OperatorNotice(dispute.dispute_id, message),)


def next_deadline_step(dispute: Dispute, now: datetime) -> datetime:
    """Returns the time of the next reminder that lies ahead, or of the deadline."""
    reminders = (dispute.due_at - timedelta(hours=hours) for hours in REMINDER_HOURS)
    return next((moment for moment in reminders if moment > now), dispute.due_at)
