"""One timeline of what happened to a transaction, oldest first: what `explain` answers."""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.events import event_id
from kasuwa.core.money import format_minor
from kasuwa.core.references import fee_hold_key, hold_key
from kasuwa.core.transactions import Transaction
from kasuwa.db.pool import Connection

POSTINGS = """
    select p.seq, p.debit, p.credit, p.amount, p.debit_after, p.credit_after, p.kind, p.at
    from posting g join posting p on p.merchant_id = g.merchant_id and p.seq between g.seq and g.seq + 9999
        and p.group_seq = g.seq
    where g.merchant_id = $1 and g.reference = $2 and g.seq = g.group_seq order by p.seq
"""
HOLDS = "select account, amount, state, taken from hold where merchant_id = $1 and key = any($2)"
JOBS = "select kind, lane, due, attempt from job where merchant_id = $1 and reference = $2 order by due"
EVENTS = "select seq, payload, at from event where merchant_id = $1 and reference = $2 order by seq"
ATTEMPTS = """
    select number, at, http, error, ms from attempt where merchant_id = $1 and event_seq = $2 order by number
"""


class Happening(msgspec.Struct, omit_defaults=True):
    """One line of the story. `order` keeps what happened in the same instant in its place."""

    at: datetime
    order: int
    what: str
    said: str
    more: dict[str, Any] = {}


class TrailEntry(msgspec.Struct):
    at: datetime
    step: str
    said: str


TRAIL: "msgspec.json.Decoder[list[TrailEntry]]" = msgspec.json.Decoder(list[TrailEntry])


async def timeline(connection: Connection, row: Transaction) -> list[dict[str, Any]]:
    whose, holds = (row.merchant_id, row.txn_ref), [hold_key(row.key), fee_hold_key(row.key)]
    story = [Happening(e.at, 0 if e.step == "requested" else 2, e.step, e.said) for e in TRAIL.decode(row.trail)]
    for account, amount, state, taken in await connection.fetch(HOLDS, row.merchant_id, holds):
        more = {"account": account, "amount": format_minor(amount), "state": state, "taken": format_minor(taken)}
        story.append(Happening(row.created_at, 1, "hold", f"{format_minor(amount)} held on {account}", more))
    story += [posted(record) for record in await connection.fetch(POSTINGS, *whose)]
    for kind, lane, due, attempt in await connection.fetch(JOBS, *whose):
        story.append(Happening(due, 6, "job", f"{kind} falls due", {"lane": lane, "attempt": attempt}))
    for seq, payload, at in await connection.fetch(EVENTS, *whose):
        message_id = event_id(row.merchant_id, seq)
        told = {"event_id": message_id, "payload": msgspec.json.decode(payload)}
        story.append(Happening(at, 4, "event", "written with the end", told))
        story += [tried(message_id, payload, r) for r in await connection.fetch(ATTEMPTS, row.merchant_id, seq)]
    story.sort(key=lambda happening: (happening.at, happening.order))
    return [{"at": utc_text(h.at), "what": h.what, "said": h.said, **h.more} for h in story]


def posted(record: Any) -> Happening:
    seq, debit, credit, amount, debit_after, credit_after, kind, at = record
    more = {
        "seq": seq,
        "debit": debit,
        "credit": credit,
        "amount": format_minor(amount),
        "debit_after": format_minor(debit_after),
        "credit_after": format_minor(credit_after),
    }
    return Happening(at, 3, "posting", kind, more)


def tried(message_id: str, payload: str, record: Any) -> Happening:
    number, at, http, error, ms = record
    more = {"event_id": message_id, "number": number, "http": http, "error": error, "ms": ms, "body": payload}
    return Happening(at, 5, "webhook", error or "delivered", more)
