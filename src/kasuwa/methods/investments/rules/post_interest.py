"""Rules of interest posting. Savings opened on the same day share their posting days, so one job posts the interest of
a batch of them in one commit. Interest that the wallet does not cover is tried again at the next midnight.

A job that runs twice posts once: the due interest is on the savings' rows and cleared with the posting, and a finished
run changes the job's due time. Contract: investments#savings
"""

from datetime import date, timedelta

import msgspec

from kasuwa.core.calendar import lagos_moment
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Row,
)
from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.investments.accrual import posting_date
from kasuwa.methods.investments.model import (
    ACTIVE,
    CLOSED,
    MATURED,
    PENDING,
    WALLET,
    WALLET_INSUFFICIENT,
    WITHHOLDING,
    InterestBatch,
    Savings,
    SavingsChanges,
    has_unseen_rows,
    interest_batch_key,
    need_savings,
)
from kasuwa.methods.investments.rules.fixed_deposit import close_unfunded, keep_out_of_term
from kasuwa.methods.investments.rules.savings_event import read_before_posting, report_posting
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.object_events import list_jobs
from kasuwa.transactions.transactions import make_ordered_job

POST_INTEREST = "savings.post_interest"
# Two lanes, so that one job is decided while the one before it is being committed.
LANES = ("savings", "savings_beside")

# Savings in one batch: enough to share a commit, few enough that the writer decides 64 such jobs well within a second
# and other requests of the merchant do not wait long.
MAX_SAVINGS_PER_BATCH = 64


# --- batches ----------------------------------------------------------------------------------------------------


def add_to_interest_batch(
    savings: Savings, context: Context, rows: LoadedRows
) -> NeedsMore | tuple[tuple[Row, ...], Job | None]:
    """Adds new savings to the last batch of their day and term. Returns the changed rows, and the job if the batch is
    new."""
    merchant_id, opened_on, term_days = savings.merchant_id, savings.opened_on, savings.term_days
    first_key = interest_batch_key(merchant_id, opened_on, 0, term_days)
    if not rows.is_loaded(first_key):
        return NeedsMore(Needs(((InterestBatch, first_key),)))
    first = rows.get(InterestBatch, first_key) or InterestBatch(first_key, merchant_id, opened_on, 0, 0, "", term_days)
    number = first.opened // MAX_SAVINGS_PER_BATCH
    key = interest_batch_key(merchant_id, opened_on, number, term_days)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((InterestBatch, key),)))
    counted = msgspec.structs.replace(first, opened=first.opened + 1)
    batch = (
        counted
        if number == 0
        else rows.get(InterestBatch, key) or InterestBatch(key, merchant_id, opened_on, number, 0, "", term_days)
    )
    is_new = rows.get(InterestBatch, key) is None
    batch = msgspec.structs.replace(batch, members=",".join((*batch.savings_ids, savings.savings_id)))
    job = first_posting_job(context, batch) if is_new else None
    return ((batch,) if number == 0 else (counted, batch)), job


def first_posting_job(context: Context, batch: InterestBatch) -> Job:
    due = lagos_moment(posting_date(batch.opened_on, 1, batch.term_days), 0)
    lane = LANES[batch.sheet % len(LANES)]
    term = f" for {batch.term_days} days" if batch.term_days else ""
    reference = f"savings of {batch.opened_on} {batch.sheet}{term}"
    return make_ordered_job(context, POST_INTEREST, lane, batch, reference, due, "{}")


# --- posting ----------------------------------------------------------------------------------------------------


def need_interest_posting(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    wallet = account_key(merchant.merchant_id, WALLET)
    return Needs(((Job, job.key), (InterestBatch, job.subject), (Account, wallet)), (WALLET, WITHHOLDING))


def decide_interest_posting(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    current_job, batch = rows.get(Job, job.key), rows.get(InterestBatch, job.subject)
    if current_job is None or current_job.due != job.due or batch is None:
        return Decision()
    references = batch.savings_ids
    needs = need_savings(batch.merchant_id, references)
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    changes = SavingsChanges(context, rows)
    changes.close_emptied(references)
    close_unfunded(changes, references)
    more = changes.missing_clients()
    if more is not None:
        return more
    before = read_before_posting(changes, references)
    groups = tuple(pay_interest(changes, references))
    reports = report_posting(changes, before, context)
    decision = finish_interest_posting(current_job, batch, changes, groups)
    decision.events, decision.jobs = tuple(one.event for one in reports), (*decision.jobs, *list_jobs(reports))
    return decision


def pay_interest(changes: SavingsChanges, references: list[str]) -> list[PostingGroup]:
    """Returns the postings of due interest, as far as the wallet covers it.

    The balance is read under the merchant's lock, so counting it down here gives the ledger's result.
    """
    wallet = changes.seen.get(Account, account_key(changes.merchant_id, WALLET))
    available = 0 if wallet is None else wallet.available
    groups = []
    for savings_id in references:
        savings = changes.load_savings(savings_id)
        if savings.state in (PENDING, ACTIVE) and changes.today >= savings.matures_on:
            savings.state = MATURED
        room = LARGEST_BALANCE - changes.account(savings_id).posted
        if 0 < savings.due_interest <= min(available, room):
            available -= savings.due_interest
            groups.append(PostingGroup(savings_id, WALLET_INSUFFICIENT, postings=interest_posts(savings)))
            keep_out_of_term(savings, savings.due_interest - savings.due_tax)
            savings.due_interest = savings.due_tax = 0
    return groups


def is_earning(savings: Savings, today: date) -> bool:
    return savings.state != CLOSED and today < savings.matures_on


def interest_posts(savings: Savings) -> tuple[Posting, ...]:
    account = chart.savings(savings.savings_id)
    interest = Posting(WALLET, account, savings.due_interest, "interest")
    if not savings.due_tax:
        return (interest,)
    return interest, Posting(account, WITHHOLDING, savings.due_tax, "withholding tax")


def finish_interest_posting(
    job: Job, batch: InterestBatch, changes: SavingsChanges, groups: tuple[PostingGroup, ...]
) -> Decision:
    """Removes matured savings without due interest from the batch and schedules the next posting: tomorrow if interest
    is still due, else the next month. The job ends with the last savings of the batch."""
    staying = [
        one
        for one in batch.savings_ids
        if changes.load_savings(one).due_interest or is_earning(changes.load_savings(one), changes.today)
    ]
    rows = changes.rows
    if len(staying) < len(batch.savings_ids):
        rows = (*rows, msgspec.structs.replace(batch, members=",".join(staying)))
    if not staying:
        return Decision(groups=groups, rows=rows, jobs_done=(job,))
    first = changes.load_savings(staying[0])
    unpaid = any(changes.load_savings(savings_id).due_interest for savings_id in staying)
    # If nothing is due, all that stay have not matured and have closed the same number of months.
    day = changes.today + timedelta(days=1) if unpaid else first.terms.posting_date(first.months + 1)
    again = msgspec.structs.replace(job, attempt=job.attempt + 1, due=lagos_moment(day, 0))
    return Decision(groups=groups, rows=rows, jobs=(again,))
