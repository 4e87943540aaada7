"""Posting interest: savings that were opened on one day share their posting days, so one job posts for a sheet of
them, in one commit. What the wallet does not cover is tried again at the next midnight. (Contract: investments#savings)

A job that is run twice posts once: what is due is on the savings' own rows and goes with the posting, and a job that
was run has another due time.
"""

from datetime import date, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.accrual import posting_date
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
from kasuwa.core.references import account_key, row_key
from kasuwa.core.transactions import make_job
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.investments.model import (
    ACTIVE,
    MATURED,
    PENDING,
    WALLET,
    WALLET_INSUFFICIENT,
    WITHHOLDING,
    Savings,
    SavingsChanges,
    has_unseen_rows,
    need_savings,
)
from kasuwa.rails.ports import Answer

POST_INTEREST = "savings.post_interest"
# Two lanes, so that one batch is decided while the one before it is being committed.
LANES = ("savings", "savings_beside")

# Savings on one sheet: enough that a commit is shared by many, few enough that a batch of 64 such jobs is done well
# within a second and nobody else of that merchant waits long.
MAX_SAVINGS_PER_BATCH = 64


class InterestBatch(Row):
    """A sheet of savings opened on the same day. The first sheet of a day counts in `opened` all of that day."""

    table: ClassVar[str] = "interest_batch"
    mutable_columns: ClassVar[tuple[str, ...]] = ("opened", "members")

    opened_on: date
    sheet: int
    opened: int
    members: str

    @property
    def is_open(self) -> bool:
        return False

    @property
    def savings_ids(self) -> list[str]:
        return self.members.split(",") if self.members else []


def interest_batch_key(merchant_id: int, opened_on: date, batch_number: int) -> bytes:
    return row_key(merchant_id, "savings_round", f"{opened_on} {batch_number}")


# --- who is on which sheet --------------------------------------------------------------------------------------


def add_to_interest_batch(
    savings_id: str, opened_on: date, context: Context, seen: LoadedRows
) -> NeedsMore | tuple[tuple[Row, ...], Job | None]:
    """New savings on the sheet of their day that has room; a new sheet brings its job."""
    merchant_id = context.merchant.merchant_id
    first_key = interest_batch_key(merchant_id, opened_on, 0)
    if not seen.is_loaded(first_key):
        return NeedsMore(Needs(((InterestBatch, first_key),)))
    first = seen.get(InterestBatch, first_key) or InterestBatch(first_key, merchant_id, opened_on, 0, 0, "")
    number = first.opened // MAX_SAVINGS_PER_BATCH
    key = interest_batch_key(merchant_id, opened_on, number)
    if not seen.is_loaded(key):
        return NeedsMore(Needs(((InterestBatch, key),)))
    counted = msgspec.structs.replace(first, opened=first.opened + 1)
    batch = (
        counted
        if number == 0
        else seen.get(InterestBatch, key) or InterestBatch(key, merchant_id, opened_on, number, 0, "")
    )
    is_new = seen.get(InterestBatch, key) is None
    batch = msgspec.structs.replace(batch, members=",".join((*batch.savings_ids, savings_id)))
    job = first_posting_job(context, batch) if is_new else None
    return ((batch,) if number == 0 else (counted, batch)), job


def first_posting_job(context: Context, batch: InterestBatch) -> Job:
    due = lagos_moment(posting_date(batch.opened_on, 1), 0)
    lane = LANES[batch.sheet % len(LANES)]
    return make_job(context, POST_INTEREST, lane, batch, f"savings of {batch.opened_on} {batch.sheet}", due, "{}")


# --- a posting day ----------------------------------------------------------------------------------------------


def need_interest_posting(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    wallet = account_key(merchant.merchant_id, WALLET)
    return Needs(((Job, job.key), (InterestBatch, job.subject), (Account, wallet)), (WALLET, WITHHOLDING))


def decide_interest_posting(job: Job, answer: Answer, context: Context, seen: LoadedRows) -> Decision | NeedsMore:
    current_job, batch = seen.get(Job, job.key), seen.get(InterestBatch, job.subject)
    if current_job is None or current_job.due != job.due or batch is None:
        return Decision()
    references = batch.savings_ids
    needs = need_savings(batch.merchant_id, references)
    if has_unseen_rows(needs, seen):
        return NeedsMore(needs)
    changes = SavingsChanges(context, seen)
    changes.close_emptied(references)
    more = changes.missing_clients()
    if more is not None:
        return more
    return finish_interest_posting(current_job, batch, changes, tuple(pay_interest(changes, references)))


def pay_interest(changes: SavingsChanges, references: list[str]) -> list[PostingGroup]:
    """What is due, as far as the wallet goes: the balance is read under the merchant's lock, and each payment lessens
    it here as it will there."""
    wallet = changes.seen.get(Account, account_key(changes.merchant_id, WALLET))
    left = 0 if wallet is None else wallet.available
    groups = []
    for savings_id in references:
        savings = changes.load_savings(savings_id)
        if savings.state in (PENDING, ACTIVE) and changes.today >= savings.matures_on:
            savings.state = MATURED
        room = LARGEST_BALANCE - changes.account(savings_id).posted
        if 0 < savings.due_interest <= min(left, room):
            left -= savings.due_interest
            groups.append(PostingGroup(savings_id, WALLET_INSUFFICIENT, postings=interest_posts(savings)))
            savings.due_interest = savings.due_tax = 0
    return groups


def interest_posts(savings: Savings) -> tuple[Posting, ...]:
    account = chart.savings(savings.savings_id)
    interest = Posting(WALLET, account, savings.due_interest, "interest")
    if not savings.due_tax:
        return (interest,)
    return interest, Posting(account, WITHHOLDING, savings.due_tax, "withholding tax")


def finish_interest_posting(
    job: Job, batch: InterestBatch, changes: SavingsChanges, groups: tuple[PostingGroup, ...]
) -> Decision:
    """Who has matured and been paid leaves the sheet; the others wait for their next month, or for the wallet."""
    staying = [
        one
        for one in batch.savings_ids
        if changes.load_savings(one).due_interest or changes.today < changes.load_savings(one).matures_on
    ]
    rows = changes.rows
    if len(staying) < len(batch.savings_ids):
        rows = (*rows, msgspec.structs.replace(batch, members=",".join(staying)))
    if not staying:
        return Decision(groups=groups, rows=rows, jobs_done=(job,))
    first = changes.load_savings(staying[0])
    unpaid = any(changes.load_savings(savings_id).due_interest for savings_id in staying)
    # Who stays and is paid has not matured, and all of a sheet have had as many months.
    day = changes.today + timedelta(days=1) if unpaid else posting_date(batch.opened_on, first.months + 1)
    again = msgspec.structs.replace(job, attempt=job.attempt + 1, due=lagos_moment(day, 0))
    return Decision(groups=groups, rows=rows, jobs=(again,))
