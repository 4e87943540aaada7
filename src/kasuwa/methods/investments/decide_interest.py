"""Posting interest: savings that were opened on one day share their posting days, so one job posts for a sheet of
them, in one commit. What the wallet does not cover is tried again at the next midnight. (D34)

A job that is run twice posts once: what is due is on the savings' own rows and goes with the posting, and a job that
was run has another due time.
"""

from datetime import date, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.accrual import posting_date
from kasuwa.core.calendar import moment_of
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, More, Needs, Post, Row, Seen
from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.core.references import account_key, row_key
from kasuwa.core.transactions import schedule
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.investments.decide import (
    ACTIVE,
    MATURED,
    PENDING,
    WALLET,
    WALLET_SHORT,
    WITHHOLDING,
    Savings,
    Sheet,
    need_savings,
    unseen,
)
from kasuwa.rails.ports import Answer

POST_INTEREST = "savings.post_interest"
# Two lanes, so that one batch is decided while the one before it is being committed.
LANES = ("savings", "savings_beside")

# Savings on one sheet: enough that a commit is shared by many, few enough that a batch of 64 such jobs is done well
# within a second and nobody else of that merchant waits long.
MOST_ON_A_SHEET = 64


class Round(Row):
    """A sheet of savings opened on the same day. The first sheet of a day counts in `opened` all of that day."""

    table: ClassVar[str] = "savings_round"
    changing: ClassVar[tuple[str, ...]] = ("opened", "members")

    opened_on: date
    sheet: int
    opened: int
    members: str

    @property
    def is_open(self) -> bool:
        return False

    @property
    def references(self) -> list[str]:
        return self.members.split(",") if self.members else []


def round_key(merchant_id: int, opened_on: date, sheet: int) -> bytes:
    return row_key(merchant_id, "savings_round", f"{opened_on} {sheet}")


# --- who is on which sheet --------------------------------------------------------------------------------------


def enrol(savings_id: str, opened_on: date, context: Context, seen: Seen) -> More | tuple[tuple[Row, ...], Job | None]:
    """New savings on the sheet of their day that has room; a new sheet brings its job."""
    merchant_id = context.merchant.merchant_id
    first_key = round_key(merchant_id, opened_on, 0)
    if not seen.has(first_key):
        return More(Needs(((Round, first_key),)))
    first = seen.get(Round, first_key) or Round(first_key, merchant_id, opened_on, 0, 0, "")
    number = first.opened // MOST_ON_A_SHEET
    key = round_key(merchant_id, opened_on, number)
    if not seen.has(key):
        return More(Needs(((Round, key),)))
    counted = msgspec.structs.replace(first, opened=first.opened + 1)
    sheet = counted if number == 0 else seen.get(Round, key) or Round(key, merchant_id, opened_on, number, 0, "")
    is_new = seen.get(Round, key) is None
    sheet = msgspec.structs.replace(sheet, members=",".join((*sheet.references, savings_id)))
    job = first_posting(context, sheet) if is_new else None
    return ((sheet,) if number == 0 else (counted, sheet)), job


def first_posting(context: Context, sheet: Round) -> Job:
    due = moment_of(posting_date(sheet.opened_on, 1), 0)
    lane = LANES[sheet.sheet % len(LANES)]
    return schedule(context, POST_INTEREST, lane, sheet, f"savings of {sheet.opened_on} {sheet.sheet}", due, "{}")


# --- a posting day ----------------------------------------------------------------------------------------------


def need_round(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    wallet = account_key(merchant.merchant_id, WALLET)
    return Needs(((Job, job.key), (Round, job.subject), (Account, wallet)), (WALLET, WITHHOLDING))


def decide_round(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    here, sheet = seen.get(Job, job.key), seen.get(Round, job.subject)
    if here is None or here.due != job.due or sheet is None:
        return Decision()
    references = sheet.references
    needs = need_savings(sheet.merchant_id, references)
    if unseen(needs, seen):
        return More(needs)
    book = Sheet(context, seen)
    book.close_emptied(references)
    more = book.missing()
    if more is not None:
        return more
    return end_round(here, sheet, book, tuple(pay_interest(book, references)))


def pay_interest(book: Sheet, references: list[str]) -> list[Group]:
    """What is due, as far as the wallet goes: the balance is read under the merchant's lock, and each payment lessens
    it here as it will there."""
    wallet = book.seen.get(Account, account_key(book.merchant_id, WALLET))
    left = 0 if wallet is None else wallet.available
    groups = []
    for savings_id in references:
        savings = book.open(savings_id)
        if savings.state in (PENDING, ACTIVE) and book.today >= savings.matures_on:
            savings.state = MATURED
        room = LARGEST_BALANCE - book.account(savings_id).posted
        if 0 < savings.due_interest <= min(left, room):
            left -= savings.due_interest
            groups.append(Group(savings_id, WALLET_SHORT, posts=interest_posts(savings)))
            savings.due_interest = savings.due_tax = 0
    return groups


def interest_posts(savings: Savings) -> tuple[Post, ...]:
    account = chart.savings(savings.savings_id)
    interest = Post(WALLET, account, savings.due_interest, "interest")
    if not savings.due_tax:
        return (interest,)
    return interest, Post(account, WITHHOLDING, savings.due_tax, "withholding tax")


def end_round(job: Job, sheet: Round, book: Sheet, groups: tuple[Group, ...]) -> Decision:
    """Who has matured and been paid leaves the sheet; the others wait for their next month, or for the wallet."""
    staying = [one for one in sheet.references if book.open(one).due_interest or book.today < book.open(one).matures_on]
    rows = book.rows
    if len(staying) < len(sheet.references):
        rows = (*rows, msgspec.structs.replace(sheet, members=",".join(staying)))
    if not staying:
        return Decision(groups=groups, rows=rows, jobs_done=(job,))
    first = book.open(staying[0])
    unpaid = any(book.open(savings_id).due_interest for savings_id in staying)
    # Who stays and is paid has not matured, and all of a sheet have had as many months.
    day = book.today + timedelta(days=1) if unpaid else posting_date(sheet.opened_on, first.months + 1)
    again = msgspec.structs.replace(job, attempt=job.attempt + 1, due=moment_of(day, 0))
    return Decision(groups=groups, rows=rows, jobs=(again,))
