"""Closes personalized accounts, at their bank as well.

    requested  open → closing     the bank is asked; money that comes in meanwhile is a payment as before
    confirmed  closing → closed   final, with an event; money that still comes in goes to suspense (rail_receipt.py)
    refused    closing → open     with the bank's words

Nothing is returned to payers by closing: payments that were booked stay. Contract: resources#close-account
"""

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    OperatorNotice,
    Refusal,
    make_job,
    refuse_fields,
)
from kasuwa.core.references import job_key
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.core.vault import Unsealer
from kasuwa.methods.resources.model import (
    ACCOUNT_CLOSED,
    ACCOUNT_FACTS_DECODER,
    ACCOUNT_JOB_DECODER,
    CLOSE_ACCOUNT,
    LANE,
    AccountJobData,
    encode_sealed,
)
from kasuwa.methods.resources.wire import AccountLine, CloseAccountReply, CloseAccountRequest
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.inbound_accounts import (
    CLOSED,
    CLOSING,
    FAILED,
    OPEN,
    OPENING,
    PersonalizedAccountRow,
    personalized_key,
    read_owner,
)
from kasuwa.transactions.requery import next_requery_at
from kasuwa.transactions.transactions import SUCCESSFUL, encode_text, make_delivery_jobs

# Refusals, in order of precedence.
UNKNOWN_REFERENCE = refuse_fields(
    FieldError("reference", "you have no account with this reference", "account_reference_unknown")
)
NOT_CLOSED = Refusal(
    ERROR, "The account could not be closed and stays open: {message}", error_code="account_not_closed"
)
STILL_OPENING = refuse_fields(
    FieldError("reference", "the account is still being opened; close it once it is open", "account_still_opening")
)

CLOSED_WORDS = "The account is closed"
IN_PROGRESS = "The account is being closed; ask again with the same reference"


def need_close(request: CloseAccountRequest, merchant: Merchant) -> Needs:
    return Needs(((PersonalizedAccountRow, personalized_key(merchant.merchant_id, request.reference)),))


def decide_close(
    request: CloseAccountRequest, context: Context, rows: LoadedRows
) -> Decision[CloseAccountReply] | Refusal:
    """Begins to close an account, or replies how far that is."""
    row = rows.get(PersonalizedAccountRow, personalized_key(context.merchant.merchant_id, request.reference))
    if row is None or row.state == FAILED:
        return UNKNOWN_REFERENCE
    if row.state == OPENING:
        return STILL_OPENING
    if row.state != OPEN:
        is_unanswered = row.state == CLOSING and not row.message
        reply = reply_close(row, context)
        return Decision(reply=reply, in_progress=is_unanswered, is_provisional=row.state == CLOSING)
    closing = msgspec.structs.replace(row, state=CLOSING, message="")
    job = make_closing_job(closing, context)
    reply = reply_close(closing, context)
    return Decision(reply=reply, rows=(closing,), jobs=(job,), follow_up=job)


def make_closing_job(row: PersonalizedAccountRow, context: Context) -> Job:
    work = AccountJobData(
        rail=row.rail,
        bank_code=row.bank_code,
        sent_at=context.now.timestamp(),
        sealed_person=encode_sealed(row.person_sealed),
        facts=ACCOUNT_FACTS_DECODER.decode(row.facts),
    )
    return make_job(
        key=job_key(row.key),
        merchant_id=row.merchant_id,
        kind=CLOSE_ACCOUNT,
        lane=LANE,
        reference=row.rail_reference,
        subject=row.key,
        due=context.now,
        work=encode_text(work),
        rail_account=row.rail_account,
    )


def reply_close(row: PersonalizedAccountRow, context: Context) -> CloseAccountReply:
    shown = show_account(row, context.vault.unseal)
    if row.state == CLOSING:
        return CloseAccountReply(status=202, message=IN_PROGRESS, data=shown)
    return CloseAccountReply(message=CLOSED_WORDS, data=shown)


def show_account(row: PersonalizedAccountRow, unseal: Unsealer) -> AccountLine:
    return AccountLine(
        reference=row.reference,
        state=row.state,  # type: ignore[arg-type]
        account_number=row.account_number or UNSET,
        account_name=read_owner(row, unseal).name,
        bank_name=row.bank_name or UNSET,
        date_created=utc_text(row.created_at),
        date_closed=UNSET if row.closed_at is None else utc_text(row.closed_at),
    )


# --- the rail's answer ---------------------------------------------------------------------------------------------


def need_close_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((PersonalizedAccountRow, job.subject), (Job, job.key)))


def decide_close_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Applies the rail's answer: the account is closed, open again, or the rail is asked again later."""
    row, current = rows.get(PersonalizedAccountRow, job.subject), rows.get(Job, job.key)
    assert row is not None
    if row.state != CLOSING or current is None or current.kind != CLOSE_ACCOUNT:
        return Decision(reply=reply_close(row, context), is_provisional=row.state == CLOSING)
    notices = (OperatorNotice(row.rail_reference, answer.notice),) if answer.notice else ()
    if answer.status == orders.SUCCESSFUL:
        closed = msgspec.structs.replace(row, state=CLOSED, message="", closed_at=context.now)
        event = make_closed_event(closed, context)
        return Decision(
            reply=reply_close(closed, context),
            rows=(closed,),
            jobs=make_delivery_jobs(context, closed, event, NO_SCENARIO),
            jobs_done=(current,),
            events=(event,),
            notices=notices,
        )
    if answer.status == orders.FAILED:
        refusal = NOT_CLOSED.fill(message=answer.message)
        refused = OperatorNotice(row.rail_reference, f"{row.rail} does not close account {row.account_number}")
        open_account = msgspec.structs.replace(row, state=OPEN, message="")
        return Decision(reply=refusal, rows=(open_account,), jobs_done=(current,), notices=notices or (refused,))
    sent_at = ACCOUNT_JOB_DECODER.decode(current.work).sent_at
    due = next_requery_at(context.now, context.now.timestamp() - sent_at)
    waiting = msgspec.structs.replace(row, message=answer.message or IN_PROGRESS)
    again = msgspec.structs.replace(current, due=due, attempt=current.attempt + 1)
    is_repeated = answer.message == row.message
    return Decision(
        reply=reply_close(waiting, context),
        rows=(waiting,),
        jobs=(again,),
        notices=() if is_repeated else notices,
        is_provisional=True,
    )


def make_closed_event(row: PersonalizedAccountRow, context: Context) -> Event:
    payload = {
        "status": 200,
        "txn_status": SUCCESSFUL,
        "txn_ref": row.rail_reference,
        "charged_amount": "0.00",
        "payment_method": "bank_transfer",
        "endpoint": context.merchant.environment,
        "currency": "NGN",
        "account_reference": row.reference,
        "account": row.account_number,
        "account_details": read_owner(row, context.vault.unseal).name,
        "bankname": row.bank_name,
    }
    return Event(row.rail_reference, ACCOUNT_CLOSED, msgspec.json.encode(build_event(ACCOUNT_CLOSED, payload)))
