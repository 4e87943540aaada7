"""Opens personalized accounts: one account number per reference of the merchant, to receive money on.

The same reference always returns the same account, whatever name and email come with it later. A rail opens the
account: the request waits for its answer, and says so if there is none yet. An inbound payment finds its account
through the token index: see transactions/inbound_accounts.py.

Contract: resources#personalized-accounts
"""

import re
from typing import Any

import msgspec

from kasuwa.core.banks import Bank, banks_by_code, find_bank
from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Refusal,
    make_job,
    refuse_fields,
)
from kasuwa.core.keyring import derive
from kasuwa.core.references import job_key, movement_reference
from kasuwa.core.routing import RailDemand
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry, own_token_key
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, client_key
from kasuwa.methods.resources.model import (
    ACCOUNT_JOB_DECODER,
    LANE,
    OPEN_ACCOUNT,
    QUERY_ACCOUNT,
    REFERENCE_KIND,
    AccountJobData,
    bvn_aad,
    encode_sealed,
)
from kasuwa.methods.resources.wire import PersonalizedAccount, PersonalizedReply, PersonalizedRequest
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import ACCOUNT_NAME, ACCOUNT_NUMBER, BANK_CODE, BANK_NAME
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.accounts import AccountTerms
from kasuwa.transactions.inbound_accounts import (
    ACCOUNT,
    CLOSED,
    CLOSING,
    FAILED,
    OPEN,
    OPENING,
    PERSONALIZED,
    AccountOwner,
    PersonalizedAccountRow,
    person_aad,
    personalized_key,
    read_owner,
)
from kasuwa.transactions.requery import can_change_rail, next_requery_at
from kasuwa.transactions.transactions import encode_text

PURPOSE = "accounts"  # of the rails that open accounts
MAX_BANK_TEXT_LENGTH = 200
NUMBER_FORM = re.compile("[0-9]{10}", re.ASCII)

# Refusals, in order of precedence.
REFERENCE_CLOSED = refuse_fields(
    FieldError("reference", "another one: the account of this reference was closed", "account_reference_closed")
)
NO_ACCOUNTS = Refusal(
    ERROR,
    "This deployment opens no accounts; nothing was changed. The operator can set it up",
    error_code="accounts_unavailable",
)
NOT_OPENED = Refusal(ERROR, "The account could not be opened: {message}", error_code="account_not_opened")
BVN_REQUIRED = refuse_fields(FieldError("bvn", "required: the bank opens no account without it", "bvn_required"))

IN_PROGRESS = "The account is being opened; ask again with the same reference"
READY = "Personalized account ready"
TAKEN = "the number that {rail} gave for an account belongs to another account: ask {rail} about it"


def choose_bank(merchant: Merchant, requested: Any) -> Bank:
    """Returns the requested bank if it can issue account numbers, else the merchant's inbound bank.

    Only the test environment issues numbers of any bank with a CBN code, except mobile money.

    Contract: resources#personalized-accounts
    """
    inbound_bank = banks_by_code()[merchant.inbound_bank]
    if isinstance(requested, int) and not isinstance(requested, bool):
        requested = f"{requested:03d}"
    bank = find_bank(requested) if isinstance(requested, str) and len(requested) <= MAX_BANK_TEXT_LENGTH else None
    if bank is None or bank.cbn_code is None or bank.kind == "mobile_money":
        return inbound_bank
    return bank if merchant.environment == "test" else inbound_bank


# --- the request ---------------------------------------------------------------------------------------------------


def need_personalized(request: PersonalizedRequest, merchant: Merchant) -> Needs:
    return Needs(((PersonalizedAccountRow, personalized_key(merchant.merchant_id, request.reference)),))


def decide_personalized(
    request: PersonalizedRequest, context: Context, rows: LoadedRows
) -> Decision[PersonalizedReply] | Refusal | NeedsMore:
    """Returns the account of a reference, or begins to open it. One that could not be opened is tried again."""
    key = personalized_key(context.merchant.merchant_id, request.reference)
    first = rows.get(PersonalizedAccountRow, key)
    if first is not None and first.state in (CLOSING, CLOSED):
        return REFERENCE_CLOSED
    if first is not None and first.state != FAILED:
        is_unanswered, is_awaited = first.state == OPENING and not first.message, first.state == OPENING
        reply = reply_personalized(first, context)
        return Decision(reply=reply, in_progress=is_unanswered, is_provisional=is_awaited)
    if request.client_id is not None:
        client = client_key(context.merchant.merchant_id, request.client_id)
        if not rows.is_loaded(client):
            return NeedsMore(Needs(((Client, client),)))
        if rows.get(Client, client) is None:
            return UNKNOWN_CLIENT
    if not context.terms(AccountTerms).of_merchant(context.merchant.rails.get(PURPOSE, ())):
        return NO_ACCOUNTS
    rails = list_account_rails(context, has_bvn=request.bvn is not None)
    if not rails:
        return BVN_REQUIRED
    rail = context.choose_rail(RailDemand(PURPOSE), among=rails) or rails[0]
    row = make_account(key, request, rail, context)
    if first is not None:
        row = msgspec.structs.replace(row, created_at=first.created_at)
    job = make_opening_job(row, choose_bank(context.merchant, request.bank), context)
    reply = reply_personalized(row, context)
    return Decision(reply=reply, rows=(row,), jobs=(job,), numbers_used=1, follow_up=job)


def list_account_rails(context: Context, *, has_bvn: bool) -> tuple[str, ...]:
    """Returns the rails that may open an account, the first choice first. Some require its owner's BVN."""
    terms = context.terms(AccountTerms)
    names = terms.of_merchant(context.merchant.rails.get(PURPOSE, ()))
    return tuple(name for name in names if has_bvn or name not in terms.bvn_rails)


def make_account(key: bytes, request: PersonalizedRequest, rail: str, context: Context) -> PersonalizedAccountRow:
    return PersonalizedAccountRow(
        key=key,
        merchant_id=context.merchant.merchant_id,
        reference=request.reference,
        account_number="",
        bank_code="",
        bank_name="",
        bvn_sealed=None if request.bvn is None else context.seal(bvn_aad(key), request.bvn.encode()),
        created_at=context.now,
        state=OPENING,
        rail=rail,
        rail_account=context.find_rail_account(rail),
        rail_reference=movement_reference(REFERENCE_KIND, context.permutation(context.number), lagos_day(context.now)),
        person_sealed=seal_owner(key, AccountOwner(request.name, request.email), context),
        client_id=request.client_id or "",
    )


def seal_owner(key: bytes, owner: AccountOwner, context: Context) -> bytes:
    return context.seal(person_aad(key), msgspec.json.encode(owner))


def make_opening_job(row: PersonalizedAccountRow, bank: Bank, context: Context) -> Job:
    assert bank.cbn_code is not None
    work = AccountJobData(
        rail=row.rail,
        bank_code=bank.cbn_code,
        sent_at=context.now.timestamp(),
        sealed_bvn=encode_sealed(row.bvn_sealed),
        sealed_person=encode_sealed(row.person_sealed),
        seed=derive(context.entropy, "account").hex(),
    )
    return make_job(
        key=job_key(row.key),
        merchant_id=row.merchant_id,
        kind=OPEN_ACCOUNT,
        lane=LANE,
        reference=row.rail_reference,
        subject=row.key,
        due=context.now,
        work=encode_text(work),
        rail=row.rail,
        rail_account=row.rail_account,
    )


def reply_personalized(row: PersonalizedAccountRow, context: Context) -> PersonalizedReply:
    if row.state == OPENING:
        return PersonalizedReply(status=202, message=IN_PROGRESS)
    return PersonalizedReply(
        message=READY,
        data=PersonalizedAccount(
            account_number=row.account_number,
            account_name=read_owner(row, context.vault.unseal).name,
            bank_name=row.bank_name,
            reference=row.reference,
        ),
    )


# --- the rail's answer ---------------------------------------------------------------------------------------------


def need_account_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((PersonalizedAccountRow, job.subject), (Job, job.key)))


def decide_account_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Applies the rail's answer: the account is open with its number, or failed, or is asked after again."""
    row, current = rows.get(PersonalizedAccountRow, job.subject), rows.get(Job, job.key)
    assert row is not None
    if row.state != OPENING or current is None or current.reference != job.reference:
        return Decision(reply=reply_personalized(row, context), is_provisional=row.state == OPENING)
    if answer.status == orders.FAILED:
        failed = msgspec.structs.replace(row, state=FAILED, message=answer.message)
        refusal = NOT_OPENED.fill(message=answer.message)
        return Decision(reply=refusal, rows=(failed,), jobs_done=(current,), notices=make_notices(row, answer))
    number = answer.facts.get(ACCOUNT_NUMBER, "")
    if answer.status != orders.SUCCESSFUL or not NUMBER_FORM.fullmatch(number):
        rail = find_next_rail(row, job, current, answer, context)
        return move_account(row, current, rail, context) if rail else ask_again(row, current, answer, context)
    key = own_token_key(context, ACCOUNT, number)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((TokenIndexEntry, key),)))
    if rows.get(TokenIndexEntry, key) is not None:
        notice = "" if row.rail == "sandbox" else TAKEN.format(rail=row.rail)
        return ask_again(row, current, msgspec.structs.replace(answer, notice=notice), context)
    requested_owner = read_owner(row, context.vault.unseal)
    owner = AccountOwner(answer.facts.get(ACCOUNT_NAME) or requested_owner.name, requested_owner.email)
    opened = msgspec.structs.replace(
        row,
        state=OPEN,
        message="",
        account_number=number,
        bank_code=answer.facts.get(BANK_CODE, ""),
        bank_name=answer.facts.get(BANK_NAME, ""),
        person_sealed=seal_owner(row.key, owner, context),
        facts=encode_text({name: fact for name, fact in answer.facts.items() if name != ACCOUNT_NAME}),
    )
    entry = make_token_entry(context, ACCOUNT, number, f"{PERSONALIZED} {row.reference}")
    return Decision(reply=reply_personalized(opened, context), rows=(opened, entry), jobs_done=(current,))


def find_next_rail(row: PersonalizedAccountRow, claimed: Job, job: Job, answer: Answer, context: Context) -> str:
    """Returns another rail for an account whose order has certainly not left, or "" if it stays where it is."""
    if not job.rail or not can_change_rail(claimed, job, answer, OPEN_ACCOUNT):
        return ""
    rails = list_account_rails(context, has_bvn=row.bvn_sealed is not None)
    chosen = context.choose_rail(RailDemand(PURPOSE), avoided=row.rail, among=rails) if rails else row.rail
    return "" if chosen == row.rail else chosen


def move_account(row: PersonalizedAccountRow, job: Job, rail: str, context: Context) -> Decision:
    """Gives an account to another rail. The request opens it there at once, until every rail was tried."""
    work = ACCOUNT_JOB_DECODER.decode(job.work)
    rails = list_account_rails(context, has_bvn=row.bvn_sealed is not None)
    is_untried = context.has_untried_rail(PURPOSE, job.attempt, rails)
    moved = msgspec.structs.replace(row, rail=rail, rail_account=context.find_rail_account(rail))
    next_job = msgspec.structs.replace(
        job,
        rail=rail,
        rail_account=moved.rail_account,
        due=context.now if is_untried else next_requery_at(context.now, context.now.timestamp() - work.sent_at),
        attempt=job.attempt + 1,
        work=encode_text(msgspec.structs.replace(work, rail=rail)),
    )
    reply = reply_personalized(moved, context)
    return Decision(reply=reply, rows=(moved,), jobs=(next_job,), follow_up=next_job if is_untried else None)


def ask_again(row: PersonalizedAccountRow, job: Job, answer: Answer, context: Context) -> Decision:
    """Keeps the account opening and reschedules its job: to open it if the rail has done nothing, else to query."""
    is_unsent = answer.status == orders.UNAVAILABLE and job.kind == OPEN_ACCOUNT
    # Opening again under the same key is harmless, so an account that the rail does not know is ordered again. The
    # sandbox is ordered another number if the first is taken.
    is_ordered_again = answer.status in (orders.NOT_FOUND, orders.SUCCESSFUL)
    kind = OPEN_ACCOUNT if is_unsent or is_ordered_again else QUERY_ACCOUNT
    now = context.now
    due = next_requery_at(now, now.timestamp() - ACCOUNT_JOB_DECODER.decode(job.work).sent_at)
    waiting = msgspec.structs.replace(row, message=answer.message or IN_PROGRESS)
    fixed = job.is_rail_fixed or not answer.is_unsent
    next_job = msgspec.structs.replace(job, kind=kind, due=due, attempt=job.attempt + 1, is_rail_fixed=fixed)
    return Decision(
        reply=reply_personalized(waiting, context),
        rows=(waiting,),
        jobs=(next_job,),
        notices=make_notices(row, answer),
        is_provisional=True,
    )


def make_notices(row: PersonalizedAccountRow, answer: Answer) -> tuple[OperatorNotice, ...]:
    """Returns the notice of an answer. Rails repeat themselves: it is given when the words change."""
    if not answer.notice or answer.message == row.message:
        return ()
    return (OperatorNotice(row.rail_reference, answer.notice),)
