"""Append-only rows that a batch writes: postings, events, notices, audit entries and commit marks."""

from datetime import datetime

import msgspec

from kasuwa.core.decision import AuditEntry, Event


class PostingRow(msgspec.Struct):
    """A row of the journal. Amounts are in minor units."""

    merchant_id: int
    seq: int
    group_seq: int  # seq of the first posting that was applied together with it
    reference: str
    debit: str  # account name
    credit: str  # account name
    amount: int
    debit_after: int  # balance of the debited account after the posting
    credit_after: int  # balance of the credited account after the posting
    kind: str
    at: datetime
    hash: bytes | None = None  # the chain's value after the group, on the last posting of the group

    @property
    def currency(self) -> str:
        return self.debit.rpartition(":")[2]


class EventRow(msgspec.Struct):
    merchant_id: int
    seq: int
    reference: str
    object: str
    object_seq: int
    kind: str
    payload: str
    at: datetime
    hash: bytes = b""  # the chain's value after the event; set as soon as it is computed from the other fields


def event_row(event: Event, merchant_id: int, seq: int, now: datetime) -> EventRow:
    about, payload = event.object or event.reference, event.payload.decode()
    return EventRow(merchant_id, seq, event.reference, about, event.object_seq, event.kind, payload, now)


class CommitMarkRow(msgspec.Struct):
    """A random mark, written with each batch. Shows after a lost connection whether the batch was committed."""

    merchant_id: int
    mark: bytes
    at: datetime


class NoticeRow(msgspec.Struct):
    merchant_id: int
    reference: str
    message: str
    at: datetime
    is_contradiction: bool


class AuditRow(msgspec.Struct):
    """An audit entry without its number, time and hash: the table's trigger sets those."""

    merchant_id: int
    actor: str
    address: str
    action: str
    subject: str
    before: str
    after: str


def audit_row(entry: AuditEntry, merchant_id: int) -> AuditRow:
    return AuditRow(merchant_id, entry.actor, entry.address, entry.action, entry.subject, entry.before, entry.after)
