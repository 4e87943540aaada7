"""The timeline of a transaction, or of any other object with a reference, oldest entry first, for `explain`.

A long timeline has its newest entries only, and a first line that says how many were left out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.money import format_minor
from kasuwa.core.references import row_key
from kasuwa.core.vault import Unsealer
from kasuwa.ledger.holds import find_fee_hold, find_hold
from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.postgres.columns import describe_columns
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.transactions.purpose import device_in, read_subject, subject_device
from kasuwa.transactions.sealed_payers import payment_payer_aad, read_device, unseal_payer
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction
from kasuwa.webhooks.signatures import event_id, parse_event_id

# Disputes of a payment, oldest first.
DISPUTES = """
    select dispute_id, amount, trail::text from dispute where merchant_id = $1 and txn_ref = $2 order by number, key
"""
# Disputes of a card purchase by the cardholder.
CARD_DISPUTES = """
    select dispute_id, amount, trail::text from virtual_card_dispute where merchant_id = $1 and txn_ref = $2
    order by number, key
"""
POSTINGS = f"""
    select p.seq, p.debit, p.credit, p.amount, p.debit_after, p.credit_after, {title_sql("p.kind")}, p.at
    from posting g join posting p on p.merchant_id = g.merchant_id and p.seq between g.seq and g.seq + 9999
        and p.group_seq = g.seq
    where g.merchant_id = $1 and g.reference = $2 and g.seq = g.group_seq order by p.seq
"""
# Deliveries are those of the first endpoint, as in the list of events.
JOBS = f"""
    select kind, lane, due, attempt from scheduled_job
    where merchant_id = $1 and reference = $2 and endpoint_id <= {FIRST_ENDPOINT} order by due, seq
"""
EVENTS = "select seq, payload, at from event where merchant_id = $1 and reference = $2 order by seq"
ATTEMPTS = f"""
    select number, at, http, error, ms from delivery_attempt
    where merchant_id = $1 and endpoint_id = {FIRST_ENDPOINT} and event_seq = $2 order by number
"""

# The payer's details are stored in the payment of the transaction.
PAYMENT_DETAIL = "select detail::text, payer_sealed from payment where merchant_id = $1 and key = $2"

# An object that is not a transaction has accounts of its own (a card, a loan, savings, a thrift plan, a beneficiary) or
# a reference that several transactions share: a bulk, a payer's order with more than one attempt, a loan.
SELECT_TRANSACTIONS = f"""
    select {", ".join(describe_columns(Transaction).names)}, count(*) over () from transaction
    where merchant_id = $1 and (batch_ref = $2 or order_ref = $2 or detail ->> 'loan_id' = $2
        or detail ->> 'savings_id' = $2 or detail -> 'purpose' ->> 'reference' = $2
        or txn_ref in (select p.txn_ref from payment p
            where p.merchant_id = $1 and p.detail -> 'purpose' ->> 'reference' = $2))
    order by created_at desc, seq desc, key desc limit $3
"""
OWNER_PREFIXES = ["card", "beneficiary", "savings", "thrift"]
SELECT_ACCOUNT_POSTINGS = f"""
    select p.seq, p.debit, p.credit, p.amount, p.debit_after, p.credit_after, {title_sql("p.kind")}, p.at, p.reference,
        count(*) over ()
    from posting p
    where p.merchant_id = $1 and exists (
        select 1 from unnest(array[p.debit, p.credit]) a where split_part(a, ':', 2) = any($2)
            and (split_part(a, ':', 1) = any($3) or a like 'loan\\_%'))
    order by p.seq desc limit $4
"""
# All objects with a reference that are not transactions, with the time of creation.
SELECT_CREATED = """
    select 'client' as what, created_at from client where merchant_id = $1 and client_id = $2
    union all select 'loan', created_at from loan where merchant_id = $1 and loan_id = $2
    union all select 'savings', opened_at from savings where merchant_id = $1 and savings_id = $2
    union all select 'thrift plan', created_at from thrift_plan where merchant_id = $1 and thrift_id = $2
    union all select kind || ' plan', created_at from payment_plan where merchant_id = $1 and plan_id = $2
    union all select 'saved card', created_at from saved_card where merchant_id = $1 and token = $2
    union all select 'virtual card', created_at from virtual_card where merchant_id = $1 and reference = $2
    union all select 'beneficiary', created_at from beneficiary where merchant_id = $1 and ref_code = $2
    union all select 'dispute', opened_at from dispute where merchant_id = $1 and dispute_id = $2
    union all select 'dispute of a card purchase', filed_at from virtual_card_dispute
        where merchant_id = $1 and dispute_id = $2
    union all select 'personalized account', created_at from personalized_account
        where merchant_id = $1 and $2 in (reference, account_number)
    union all select 'group', created_at from client_group where merchant_id = $1 and group_id = $2
    union all select 'loan of a group', created_at from group_loan where merchant_id = $1 and group_loan_id = $2
    union all select 'loan product', created_at from loan_product where merchant_id = $1 and product_id = $2
"""
# The postings of a dispute have its reference.
OF_REFERENCE = f"""
    select p.seq, p.debit, p.credit, p.amount, p.debit_after, p.credit_after, {title_sql("p.kind")}, p.at
    from posting p where p.merchant_id = $1 and p.reference = $2 order by p.seq
"""
# The transaction of an event.
OF_EVENT = "select reference from event where merchant_id = $1 and seq = $2"
CARD = "select short_id from virtual_card where merchant_id = $1 and reference = $2"
JOBS_ABOUT = f"""
    select kind, lane, due, attempt from scheduled_job
    where merchant_id = $1 and reference = any($2) and endpoint_id <= {FIRST_ENDPOINT} order by due, seq
"""
EVENTS_ABOUT = """
    select seq, payload, at, count(*) over () from event
    where merchant_id = $1 and (object = any($2) or reference = any($2)) order by seq desc limit $3
"""

# Limits of one timeline: transactions and events (each takes statements of its own), postings, entries, and bytes.
# Contract: #authentication
MAX_DETAILED = 100
MAX_POSTINGS = 1_000
MAX_ENTRIES = 1_000
MAX_REPLY_BYTES = 1024 * 1024


class TimelineEntry(msgspec.Struct, omit_defaults=True):
    """One line of the timeline. `rank` orders entries with the same time."""

    at: datetime
    rank: int
    kind: str
    text: str
    details: dict[str, Any] = {}


class TrailEntry(msgspec.Struct):
    at: datetime
    step: str
    message: str = msgspec.field(name="said")


TRAIL: "msgspec.json.Decoder[list[TrailEntry]]" = msgspec.json.Decoder(list[TrailEntry])


async def transaction_timeline(connection: Connection, row: Transaction, unseal: Unsealer) -> list[dict[str, Any]]:
    return render_timeline(await transaction_entries(connection, row, unseal))


async def object_timeline(
    connection: Connection, merchant_id: int, reference: str, unseal: Unsealer
) -> list[dict[str, Any]] | None:
    """Returns the timeline of an object, or None if there is no entry. A card is known by two references."""
    names = [reference, *(record[0] for record in await connection.fetch(CARD, merchant_id, reference))]
    creations = await connection.fetch(SELECT_CREATED, merchant_id, reference)
    entries = [TimelineEntry(at, 0, "created", f"{what} created") for what, at in creations]
    left_out: dict[str, int] = {}
    shared = await connection.fetch(SELECT_TRANSACTIONS, merchant_id, reference, MAX_DETAILED)
    for *record, count in reversed(shared):  # oldest first, as entries with the same time
        row, left_out["transactions"] = Transaction(*record), count - len(shared)
        for entry in await transaction_entries(connection, row, unseal):
            entry.details = {"txnRef": row.txn_ref, **entry.details}
            entries.append(entry)
    known_postings = {entry.details["seq"] for entry in entries if entry.kind == "posting"}
    postings = await connection.fetch(SELECT_ACCOUNT_POSTINGS, merchant_id, names, OWNER_PREFIXES, MAX_POSTINGS)
    for *posting, txn_ref, count in reversed(postings):
        entry, left_out["postings"] = posting_entry(posting), count - len(postings)
        if entry.details["seq"] in known_postings:
            continue
        entry.details = {"txnRef": txn_ref, **entry.details}
        entries.append(entry)
    if any(what == "dispute" for what, _ in creations):
        entries += [posting_entry(record) for record in await connection.fetch(OF_REFERENCE, merchant_id, reference)]
    entries += [job_entry(record) for record in await connection.fetch(JOBS_ABOUT, merchant_id, names)]
    events = await connection.fetch(EVENTS_ABOUT, merchant_id, names, MAX_DETAILED)
    for *event, count in reversed(events):
        left_out["events"] = count - len(events)
        entries += await event_entries(connection, merchant_id, event)
    return render_timeline(entries, left_out) if entries else None


async def resolve_event_id(connection: Connection | Pool, merchant_id: int, text: str) -> str:
    """Returns the reference of the event if the text is an event id, otherwise the text."""
    seq = parse_event_id(merchant_id, text)
    reference = None if seq is None else await connection.fetchval(OF_EVENT, merchant_id, seq)
    return text if reference is None else str(reference)


async def transaction_entries(connection: Connection, row: Transaction, unseal: Unsealer) -> list[TimelineEntry]:
    whose = (row.merchant_id, row.txn_ref)
    entries = [
        TimelineEntry(e.at, 0 if e.step == "requested" else 2, e.step, e.message) for e in TRAIL.decode(row.trail)
    ]
    payer = await find_payer(connection, row, unseal)
    if entries and payer:
        entries[0].details = {**entries[0].details, **payer}
    postings = await connection.fetch(POSTINGS, *whose)
    entries += hold_entries(row, postings)
    entries += [posting_entry(record) for record in postings]
    entries += [job_entry(record) for record in await connection.fetch(JOBS, *whose)]
    for record in await connection.fetch(EVENTS, *whose):
        entries += await event_entries(connection, row.merchant_id, record)
    if row.kind == "card_purchase":
        filed = await connection.fetch(CARD_DISPUTES, *whose)
        entries += [entry for record in filed for entry in dispute_entries(*record)]
    if row.kind == "payment":
        entries += [entry for record in await connection.fetch(DISPUTES, *whose) for entry in dispute_entries(*record)]
    return entries


# The state of a hold by the status of its transaction. One that is open holds.
HOLD_STATES = {SUCCESSFUL: "posted", FAILED: "voided"}


def hold_entries(row: Transaction, postings: list[Any]) -> list[TimelineEntry]:
    """Returns what a transaction holds or held. What was taken of it is what was posted from its account."""
    state = HOLD_STATES.get(row.status, "pending")
    entries = []
    for held in (find_hold(row), find_fee_hold(row)):
        if held is None:
            continue
        taken = sum(record["amount"] for record in postings if state == "posted" and record["debit"] == held.account)
        amount = format_minor(held.amount)
        more = {"account": held.account, "amount": amount, "state": state, "taken": format_minor(taken)}
        entries.append(TimelineEntry(row.created_at, 1, "hold", f"{amount} held on {held.account}", more))
    return entries


def dispute_entries(dispute_id: str, amount: int, trail: str) -> list[TimelineEntry]:
    """Returns the steps of a dispute, for the timeline of its payment."""
    more = {"dispute_id": dispute_id, "amount": format_minor(amount)}
    return [TimelineEntry(step.at, 2, "dispute", step.step, more) for step in TRAIL.decode(trail)]


async def find_payer(connection: Connection, row: Transaction, unseal: Unsealer) -> dict[str, str]:
    """Returns the payer's address and device, as far as they are known."""
    if row.kind != "payment":
        return subject_device(read_subject(row.merchant_id, row.txn_ref, row.detail, unseal))
    key = row_key(row.merchant_id, "payment", row.txn_ref)
    detail, sealed = await connection.fetchrow(PAYMENT_DETAIL, row.merchant_id, key) or ("{}", None)
    payer = unseal_payer(row.merchant_id, payment_payer_aad(row.txn_ref), sealed, unseal)
    return read_device(payer) | device_in(detail)


async def event_entries(connection: Connection, merchant_id: int, record: Any) -> list[TimelineEntry]:
    seq, payload, at = record
    message_id = event_id(merchant_id, seq)
    more = {"event_id": message_id, "payload": msgspec.json.decode(payload)}
    attempts = await connection.fetch(ATTEMPTS, merchant_id, seq)
    written = TimelineEntry(at, 4, "event", "written with the end", more)
    return [written, *(attempt_entry(message_id, payload, attempt) for attempt in attempts)]


def render_timeline(entries: list[TimelineEntry], left_out: Mapping[str, int] = {}) -> list[dict[str, Any]]:
    """Returns the entries as JSON objects, oldest first. If older ones are left out, the first line says how many."""
    entries.sort(key=lambda entry: (entry.at, entry.rank))
    lines: list[dict[str, Any]] = []
    size = 0
    for entry in reversed(entries[-MAX_ENTRIES:]):
        line = {"at": utc_text(entry.at), "what": entry.kind, "said": entry.text, **entry.details}
        size += len(msgspec.json.encode(line))
        if size > MAX_REPLY_BYTES and lines:
            break
        lines.append(line)
    counts = {**left_out, "entries": len(entries) - len(lines)}
    summary = ", ".join(f"{count} earlier {what}" for what, count in counts.items() if count)
    if summary:
        lines.append({"at": lines[-1]["at"], "what": "left out", "said": summary})
    return lines[::-1]


def job_entry(record: Any) -> TimelineEntry:
    kind, lane, due, attempt = record
    return TimelineEntry(due, 6, "job", f"{kind} falls due", {"lane": lane, "attempt": attempt})


def posting_entry(record: Any) -> TimelineEntry:
    seq, debit, credit, amount, debit_after, credit_after, kind, at = record
    more = {
        "seq": seq,
        "debit": debit,
        "credit": credit,
        "amount": format_minor(amount),
        "debit_after": format_minor(debit_after),
        "credit_after": format_minor(credit_after),
    }
    return TimelineEntry(at, 3, "posting", kind, more)


def attempt_entry(message_id: str, payload: str, record: Any) -> TimelineEntry:
    number, at, http, error, ms = record
    more = {"event_id": message_id, "number": number, "http": http, "error": error, "ms": ms, "body": payload}
    return TimelineEntry(at, 5, "webhook", error or "delivered", more)
