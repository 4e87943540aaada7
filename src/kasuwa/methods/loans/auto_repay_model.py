"""Rows of the automatic collection of loans: how a loan is collected, and each attempt.

    active ── declined for good, given up, or a collected repayment was taken back ──▶ paused ── auto_repay ──▶ active
      │  └──────────────────────────── stop_auto_repay ───────────────────────────▶ stopped ── auto_repay ──▶ active
      └── the loan is closed ──▶ ended

A paused one has no job that would see its loan closed: replies say that it has ended (rules/auto_repay_record.py).

An active one has one job while it waits, and none while a card is charged (`charging`). The end of the charge makes the
next job in the same commit, so that no day is collected twice or left out if a process dies in between.

What is collected is a repayment like any other, with its postings (model.py). Its own reference (`customer_txnref`) is
the `auto_repay_id`.

Contract: loans#auto-repay
"""

from datetime import date, datetime
from typing import ClassVar

import msgspec

from kasuwa.core.decision import Job, Needs, Row
from kasuwa.core.references import job_key, row_key

ACTIVE = "active"
PAUSED = "paused"
STOPPED = "stopped"
ENDED = "ended"

TOKEN = "token"
SAVINGS = "savings"
WALLET = "wallet"

# What the job does next: look whether the loan was paid out, tell the client, or collect.
WAIT = "wait"
NOTICE = "notice"
COLLECT = "collect"

CHARGING = "charging"
COLLECTED = "collected"
DECLINED = "declined"

ID_PREFIX = "AR"
EVENT_FAILED = "loan_collection_failed"


class AutoRepayment(Row):
    """The agreement on how a loan is collected, and where it stands. A loan has one at most."""

    table: ClassVar[str] = "loan_auto_repayment"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "auto_repay_id",
        "loan_id",
        "client_id",
        "source",
        "card_token",
        "savings_id",
        "hour",
        "retry",
        "state",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "source",
        "card_token",
        "savings_id",
        "hour",
        "retry",
        "state",
        "step",
        "due_on",
        "next_at",
        "tries",
        "misses",
        "charging",
        "attempts",
        "collections",
        "collected",
        "missed",
        "reason",
        "events",
        "row_code",
    )

    auto_repay_id: str
    loan_id: str
    client_id: str
    source: str  # TOKEN, SAVINGS or WALLET
    card_token: str  # of the saved card; "" for another source
    savings_id: str  # the savings that pay; "" for another source
    hour: int  # of the day in Lagos
    retry: str  # days after a due date, by commas
    state: str
    step: str  # WAIT, NOTICE or COLLECT
    created_at: datetime
    due_on: date | None = None  # the day that is collected next, or now
    next_at: datetime | None = None  # when its job is due
    tries: int = 0  # attempts for the day so far
    misses: int = 0  # days that failed in a row
    charging: str = ""  # txnRef of the charge in progress
    attempts: int = 0  # number of its LoanCollections
    collections: int = 0  # those that succeeded
    collected: int = 0  # sum of these
    missed: int = 0  # days that were given up
    reason: str = ""  # why the last attempt failed, or why it does not go on
    events: int = 0  # number of its events so far
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False

    @property
    def retry_days(self) -> tuple[int, ...]:
        return tuple(int(day) for day in self.retry.split(",")) if self.retry else ()


class LoanCollection(Row):
    """One attempt to collect what was due of a loan."""

    table: ClassVar[str] = "loan_collection"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "reason", "message", "is_final", "next_on")

    loan_id: str
    n: int  # from 1
    number: int  # the merchant's running number; lists are ordered by it
    due_on: date
    source: str
    amount: int
    state: str  # CHARGING, COLLECTED or DECLINED
    made_at: datetime
    txn_ref: str = ""  # of the repayment or of the charge
    reason: str = ""  # why it was declined
    message: str = ""  # the same in words
    is_final: bool = False  # whether nothing is tried again for the day
    next_on: date | None = None  # day of the next attempt

    @property
    def is_open(self) -> bool:
        return False


def auto_repayment_key(merchant_id: int, loan_id: str) -> bytes:
    return row_key(merchant_id, AutoRepayment.table, loan_id)


def collection_key(merchant_id: int, loan_id: str, n: int) -> bytes:
    return row_key(merchant_id, LoanCollection.table, f"{loan_id} {n}")


def need_auto_repayment(merchant_id: int, loan_id: str) -> Needs:
    """Returns the automatic collection of a loan, and its job."""
    key = auto_repayment_key(merchant_id, loan_id)
    return Needs(((AutoRepayment, key), (Job, job_key(key))))


def halt(auto: AutoRepayment, state: str, reason: str = "") -> AutoRepayment:
    """Returns the collection that collects no more until it is agreed on again."""
    return msgspec.structs.replace(auto, state=state, next_at=None, tries=0, misses=0, reason=reason)
