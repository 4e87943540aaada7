"""The operator's pages of reconciliation: imports, what is matched and what is not, and decisions about the rest.

A decision is a manual posting that another operator must approve (approvals.py).
"""

import asyncio
import hashlib
import io
from base64 import b64decode, b64encode
from datetime import date
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from kasuwa.authority import approvals
from kasuwa.authority.roles import CAN_KEEP_BOOKS
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE
from kasuwa.console.operator import approvals as operator_approvals
from kasuwa.console.operator import reads as operator_reads
from kasuwa.console.operator.manual_posting import ProposedPosting
from kasuwa.core.calendar import is_in_range
from kasuwa.core.decision import AuditEntry
from kasuwa.postgres.connection_pool import Connection
from kasuwa.rails.inbox import inbox_table, rail_feeds
from kasuwa.reconciliation import reads as reconciliation_reads
from kasuwa.reconciliation import statement_rows, suspense
from kasuwa.reconciliation.column_choice import AMOUNT_FORMS, MEANINGS, FileColumns, make_mapping, read_columns
from kasuwa.reconciliation.csv_mapping import SUGGESTED_FORMS, decode_mapping
from kasuwa.reconciliation.importing import (
    ImportResult,
    LinesInMemory,
    Preview,
    StatementSource,
    import_statement,
    keep_mapping,
    preview_statement,
    read_mapping,
)
from kasuwa.reconciliation.matching import MatchScope
from kasuwa.reconciliation.model import ReconciledAccount, StatementError, parse_account
from kasuwa.reconciliation.opening import BEGINNING_BYTES, detect_format, open_statement
from kasuwa.reconciliation.reads import FIRST_ENTRIES, MAX_LISTED, STATES, AccountSummary, EntryPlace, EntryRow, LineRow

SHOWN_FEED_ROWS = 20
PAGE = "/operator/reconciliation"
MAX_REASON_LENGTH = 300
# Of a file that the form of its columns keeps. In base64 it fits into a form.
MAX_KEPT_BYTES = 1_000_000
# The accounts that a decision posts against, which exist in every merchant's books, and the kinds of its posting.
DECISIONS = {
    "bank_fee": ("Fee of the bank or rail", "income:bank_fee", "reconciliation: fee of the bank or rail"),
    "suspense": (
        "Unknown: keep it in suspense",
        "suspense:inbound",
        "reconciliation: unknown: keep it in suspense",
    ),
    "write_off": ("Write it off", "income:write_off", "reconciliation: write it off"),
    "wallet": ("The merchant's: its wallet", "wallet:main", "reconciliation: the merchant's: its wallet"),
}


async def show_reconciliation(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        accounts = await reconciliation_reads.list_accounts(reader)
        disputes = await rail_feeds.list_disputes(reader, SHOWN_FEED_ROWS)
        settlements = await rail_feeds.list_settlements(reader, SHOWN_FEED_ROWS)
        unclaimed = await inbox_table.list_unclaimed(reader, SHOWN_FEED_ROWS)
        waiting = await suspense.list_suspense(reader, SHOWN_FEED_ROWS)
        choices = await reconciliation_reads.list_account_names(reader)
        mids = {*(row[2] for row in disputes if row[2]), *(row.mid for row in waiting)}
        names = await operator_reads.read_merchant_names(reader, mids)
    shared = {
        "accounts": accounts,
        "disputes": disputes,
        "settlements": settlements,
        "suspense": waiting,
        "names": names,
        "unclaimed": [(*row[:2], msgspec.json.decode(row[2]), row[3]) for row in unclaimed],
        "can_import": visit.user.role in CAN_KEEP_BOOKS,
        "choices": [(name, name) for name in {**dict.fromkeys(one.name for one in accounts), **dict.fromkeys(choices)}],
        "submitted": {},
        "preview": None,
        "columns": None,
        "meanings": list(MEANINGS.items()),
        "date_forms": [(form, form) for form in SUGGESTED_FORMS],
        "amount_forms": [(form, form) for form in AMOUNT_FORMS],
        "file_faults": [],
    }
    return visit.render("operator_reconciliation.html", status, **{**shared, **values})


# --- importing ------------------------------------------------------------------------------------------------------


async def submit_statement(visit: Visit) -> Response:
    """Previews or imports an uploaded file. A form holds at most 2 MiB; the command imports larger files.

    The columns of a CSV file are chosen on its preview. The file is in that form as text, so that it is chosen once; a
    file too large for that is chosen again."""
    submitted = {name: visit.form_text(name) for name in ("account", "mapping", "content")}
    content = await visit.upload("file") or read_kept_content(submitted["content"])
    try:
        account = parse_account(submitted["account"])
    except StatementError as error:
        return await show_reconciliation(visit, 422, faults={"account": str(error)}, submitted=submitted)
    if not content:
        return await show_reconciliation(visit, 422, faults={"file": "choose a file"}, submitted=submitted)
    submitted["content"] = b64encode(content).decode() if len(content) <= MAX_KEPT_BYTES else ""
    columns: FileColumns | None = None
    try:
        columns, is_known = await find_columns(visit, account, content)
        if columns is not None:
            submitted["mapping"] = choose_mapping(visit, columns, submitted["mapping"])
            if not (is_known or submitted["mapping"]):
                return await show_reconciliation(visit, submitted=submitted, columns=columns)
        result = await read_upload(visit, account, submitted["mapping"], content)
    except StatementError as error:
        faults = str(error).splitlines()
        return await show_reconciliation(visit, 422, file_faults=faults, submitted=submitted, columns=columns)
    if isinstance(result, Preview):
        return await show_reconciliation(visit, preview=result, submitted=submitted, columns=columns)
    again = "This file was imported before: nothing was changed." if result.is_repeated else ""
    text = again or (
        f"{result.new_lines:,} new lines of {result.lines:,}. {result.matched:,} matched, {result.differing:,} differ."
    )
    async with visit.operator_pool.acquire() as connection:
        known = await find_by_name(connection, account.name)
    return visit.redirect(f"{PAGE}/{known.account_id}", text)


def read_kept_content(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)[:MAX_KEPT_BYTES] or None
    except ValueError:
        return None


async def find_columns(visit: Visit, account: ReconciledAccount, content: bytes) -> tuple[FileColumns | None, bool]:
    """Returns the columns of a CSV file with the meanings that are kept for the account, and whether any are. None for
    other formats."""
    if detect_format(content[:BEGINNING_BYTES]) != "csv":
        return None, False
    async with visit.operator_pool.acquire() as connection:
        known = await read_mapping(connection, account)
    return read_columns(content[:BEGINNING_BYTES], known), known is not None


def choose_mapping(visit: Visit, columns: FileColumns, text: str) -> str:
    """Returns the mapping that was chosen column by column, as JSON, or the text if none was."""
    chosen = [visit.form_text(f"column-{number}") for number in range(len(columns.names))]
    if not any(chosen):
        return text
    options = {name: visit.form_text(name) for name in ("date_form", "amount_form", "is_out_positive")}
    return msgspec.json.encode(make_mapping(columns, chosen, options)).decode()


async def read_upload(
    visit: Visit, account: ReconciledAccount, mapping_text: str, content: bytes
) -> ImportResult | Preview:
    """Returns the preview or the result. Parsing runs in a thread: it takes longer than other visits should wait."""
    new_mapping = decode_mapping(mapping_text) if mapping_text else None
    async with visit.operator_pool.acquire() as connection:
        mapping = new_mapping or await read_mapping(connection, account)
    reader = open_statement(io.BytesIO(content), account, mapping)
    if visit.form_text("step") != "import":
        return await asyncio.to_thread(preview_statement, reader)
    lines = await asyncio.to_thread(list, reader)
    memory, digest = LinesInMemory(reader.facts, lines), hashlib.sha256(content).digest()
    entry = AuditEntry(visit.user.email, "imported a statement", account.name, visit.client_address)
    async with visit.operator_pool.acquire() as connection:
        result = await import_statement(connection, StatementSource(account, memory, digest, "upload"), entry)
        if new_mapping is not None and not result.is_repeated:
            changed = msgspec.structs.replace(entry, action="changed a CSV mapping")
            await keep_mapping(connection, account, new_mapping, changed)
    return result


async def find_by_name(connection: Connection, name: str) -> AccountSummary:
    return next(row for row in await reconciliation_reads.list_accounts(connection) if row.name == name)


# --- results --------------------------------------------------------------------------------------------------------


async def show_account(visit: Visit) -> Response:
    """Shows the totals of some days by state, and the lines or entries of one state."""
    state = visit.query.get("state", "")
    state = state if state in STATES else "theirs only"
    async with visit.snapshot() as reader:
        account, scope = await read_scope(visit, reader)
        totals = await reconciliation_reads.sum_states(reader, scope)
        entries, lines = await read_page(visit, reader, scope, state)
        matches = [line.match_id for line in lines if line.match_id is not None]
        matched = await reconciliation_reads.list_matched_entries(reader, account.account_id, matches)
        imports = await reconciliation_reads.list_imports(reader, account.account_id, 20)
        names = await operator_reads.read_merchant_names(reader, {entry.mid for entry in entries})
    shown, shown_entries = lines[:MAX_LISTED], entries[:MAX_LISTED]
    days = f"from={scope.first_day}&to={scope.last_day}"
    after = str(shown[-1].line_id) if len(lines) > MAX_LISTED else ""
    if len(entries) > MAX_LISTED:
        last = shown_entries[-1]
        after = EntryPlace(last.day, last.merchant_id, last.group_seq).encode()
    more = f"{PAGE}/{account.account_id}?{days}&state={quote(state)}&after={after}" if after else ""
    rows_by_match: dict[int, list[Any]] = {}
    for row in matched:
        rows_by_match.setdefault(row[0], []).append(row)
    return visit.render(
        "operator_reconciliation_account.html",
        account=account,
        currency=parse_account(account.name).currency,
        scope=scope,
        days=days,
        state=state,
        totals=totals,
        entries=shown_entries,
        names=names,
        lines=shown,
        matched=rows_by_match,
        imports=imports,
        more_url=more,
    )


async def read_page(
    visit: Visit, reader: Connection, scope: MatchScope, state: str
) -> tuple[list[EntryRow], list[LineRow]]:
    """Returns the entries, or the lines, of a state from the place of the query on."""
    after = visit.query.get("after", "")
    if state == "ours only":
        return await reconciliation_reads.list_entries(reader, scope, parse_place(after)), []
    return [], await reconciliation_reads.list_lines(reader, scope, state, parse_int(after, 0))


def parse_place(text: str) -> EntryPlace:
    """Returns the place in a URL parameter, or the beginning of the list if it is not valid."""
    day, *numbers = text.split("-")
    try:
        place = EntryPlace(date.fromisoformat(day), *(parse_int(number, 0) for number in numbers))
    except (ValueError, TypeError):
        return FIRST_ENTRIES
    return place


async def read_scope(visit: Visit, reader: Connection) -> tuple[AccountSummary, MatchScope]:
    """Returns the account of the path, and the days of the query or of its newest import. Raises NotFound."""
    account = await reconciliation_reads.find_account(reader, parse_int(visit.path_parameter("account_id"), 0))
    if account is None:
        raise NotFound
    parsed_account = parse_account(account.name)
    first = parse_day(visit.query.get("from", "")) or account.first_day_of_last or date.min
    last = parse_day(visit.query.get("to", "")) or account.last_day or date.max
    return account, MatchScope(account.account_id, parsed_account.ledger_name, parsed_account.vendor, first, last)


def parse_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if is_in_range(day) else None


# --- decisions ------------------------------------------------------------------------------------------------------


async def show_item(visit: Visit, status: int = 200, **values: Any) -> Response:
    """Shows a line or an entry that is not matched, and the form to decide about it."""
    async with visit.snapshot() as reader:
        account, scope = await read_scope(visit, reader)
        item = await find_item(visit, reader, scope)
        names = await operator_reads.read_merchant_names(reader, {item.mid} if item.mid else ())
    shared = {
        "account": account,
        "currency": parse_account(account.name).currency,
        "item": item,
        "names": names,
        "is_line": isinstance(item, LineRow),
        "open_amount": get_open_amount(item),
        "decisions": [(name, label) for name, (label, _, _) in DECISIONS.items()],
        "can_decide": visit.user.role in CAN_KEEP_BOOKS and not find_bar(item),
        "bar": find_bar(item),
        "can_release": visit.user.role in CAN_KEEP_BOOKS and not find_release_bar(item),
        "submitted": {"mid": item.mid or ""},
    }
    return visit.render("operator_reconciliation_item.html", status, **{**shared, **values})


async def find_item(visit: Visit, reader: Connection, scope: MatchScope) -> LineRow | EntryRow:
    """Returns the line (`line-7`) or entry (`entry-901-15`) of the path. Raises NotFound."""
    kind, *numbers = visit.path_parameter("item").split("-")
    item: LineRow | EntryRow | None = None
    places = [parse_int(number, 0) for number in numbers]
    if all(0 < place < MAX_SEQUENCE for place in places):
        if kind == "line" and len(places) == 1:
            item = await reconciliation_reads.find_line(reader, scope.account_id, places[0])
        elif kind == "entry" and len(places) == 2:
            item = await reconciliation_reads.find_entry(reader, scope, places[0], places[1])
    if item is None:
        raise NotFound
    return item


def get_open_amount(item: LineRow | EntryRow) -> int:
    """Returns what the books need, with the sign of a statement: a line that they lack, an entry taken back."""
    return item.open_amount if isinstance(item, LineRow) else -item.amount


def find_bar(item: LineRow | EntryRow) -> str:
    """Returns why nothing can be proposed, or an empty text."""
    if item.open_approval is not None:
        return f"Approval {item.open_approval} is open."
    if isinstance(item, LineRow) and item.state in ("matched", "decided"):
        return f"This line is {item.state}."
    return ""


def make_posting(ledger_name: str, amount: int, decision: str) -> ProposedPosting:
    """Returns the posting of a decision. Money that came in is a debit of the account, money that went out a credit."""
    currency = ledger_name.rpartition(":")[2]
    _, name, kind = DECISIONS[decision]
    contra = f"{name}:{currency}"
    debit, credit = (ledger_name, contra) if amount > 0 else (contra, ledger_name)
    return ProposedPosting(debit, credit, abs(amount), kind)


async def release_item(visit: Visit) -> Response:
    """Undoes the match of a line, which a rule got wrong. No money moves, so one operator is enough."""
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        account, scope = await lock_scope(visit, connection)
        item = await find_item(visit, connection, scope)
        problem = find_release_bar(item)
        if not problem and isinstance(item, LineRow) and item.match_id is not None:
            await statement_rows.release_match(connection, account.account_id, item.match_id)
            subject = f"{visit.path_parameter('item')} of {account.name}"
            await visit.record_audit_on(connection, visit.audit_chain, "released a match", subject, before=item.rule)
    if problem:
        return await show_item(visit, 422, faults={"": problem})
    return visit.redirect(f"{PAGE}/{account.account_id}", "The match is released.")


def find_release_bar(item: LineRow | EntryRow) -> str:
    """Returns why a match cannot be released, or an empty text."""
    if not isinstance(item, LineRow) or item.match_id is None:
        return "Nothing is matched."
    if item.state == "decided" or item.open_approval is not None:
        return "A decision about this line is proposed or made."
    return ""


async def submit_item(visit: Visit) -> Response:
    return await (release_item(visit) if visit.form_text("step") == "release" else propose_decision(visit))


async def propose_decision(visit: Visit) -> Response:
    """Proposes the posting of a decision. Another operator must approve it."""
    submitted = {name: visit.form_text(name) for name in ("mid", "decision", "reason")}
    faults = {}
    if submitted["decision"] not in DECISIONS:
        faults["decision"] = "choose one"
    if not 1 <= len(submitted["reason"]) <= MAX_REASON_LENGTH:
        faults["reason"] = f"enter a reason of 1 to {MAX_REASON_LENGTH} characters"
    summary = await operator_reads.find_merchant(visit.reader, submitted["mid"])
    if summary is None:
        faults["mid"] = "no merchant has this mid"
    if faults or summary is None:
        return await show_item(visit, 422, faults=faults, submitted=submitted)
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        # One at a time for an account: of two proposals about the same line the second finds the first.
        account, scope = await lock_scope(visit, connection)
        item = await find_item(visit, connection, scope)
        faults = {"": bar} if (bar := find_bar(item)) else {}
        posting = make_posting(scope.ledger_name, get_open_amount(item), submitted["decision"])
        if not faults and await operator_approvals.unknown_accounts(visit, summary.merchant_id, posting):
            faults["mid"] = f"this merchant has no account {scope.ledger_name}: choose one that has"
        if not faults:
            reason = f"{submitted['reason']} ({visit.path_parameter('item')} of {account.name})"
            number = await approvals.propose(
                connection,
                visit.services.vault,
                summary.mid,
                "posting",
                msgspec.json.encode(posting).decode(),
                reason,
                visit.user.user_id,
            )
            await reconciliation_reads.add_decision(connection, number, scope.account_id, item)
            subject = f"approval {number}"
            await visit.record_audit_on(
                connection, summary.merchant_id, "proposed a manual posting", subject, after=posting
            )
    if faults:
        return await show_item(visit, 422, faults=faults, submitted=submitted)
    return visit.redirect("/operator/approvals", "Proposed. Another operator must approve it.")


async def lock_scope(visit: Visit, connection: Connection) -> tuple[AccountSummary, MatchScope]:
    account, scope = await read_scope(visit, connection)
    await reconciliation_reads.lock_account(connection, account.account_id)
    return account, scope
