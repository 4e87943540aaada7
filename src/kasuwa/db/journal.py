"""The rows that a batch appends and nobody ever changes: postings, events, notices, audit entries, commit marks."""

from datetime import datetime

import msgspec

from kasuwa.core.decision import AuditEntry, Event


class PostingRow(msgspec.Struct):
    merchant_id: int
    seq: int
    group_seq: int
    reference: str
    debit: str
    credit: str
    amount: int
    debit_after: int
    credit_after: int
    kind: str
    at: datetime


class EventRow(msgspec.Struct):
    merchant_id: int
    seq: int
    reference: str
    object: str
    object_seq: int
    kind: str
    payload: str
    at: datetime


def event_row(event: Event, merchant_id: int, seq: int, now: datetime) -> EventRow:
    about, payload = event.object or event.reference, event.payload.decode()
    return EventRow(merchant_id, seq, event.reference, about, event.object_seq, event.kind, payload, now)


class CommitMarkRow(msgspec.Struct):
    """What a batch leaves behind to be known by."""

    merchant_id: int
    mark: bytes
    at: datetime


class NoticeRow(msgspec.Struct):
    merchant_id: int
    reference: str
    message: str
    at: datetime


class AuditRow(msgspec.Struct):
    """A line of the audit trail, but for its place, time and hash: the table links it to the one before."""

    merchant_id: int
    actor: str
    address: str
    action: str
    subject: str
    before: str
    after: str


def audit_row(deed: AuditEntry, merchant_id: int) -> AuditRow:
    return AuditRow(merchant_id, deed.actor, deed.address, deed.action, deed.subject, deed.before, deed.after)
