"""Imports a statement: stages its lines, matches them with the books and stores both, in one transaction."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import date, timedelta
from hashlib import blake2b
from typing import Any

import asyncpg
import msgspec

from kasuwa.authority import audit_trail
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.core.decision import AuditEntry
from kasuwa.postgres.connection_pool import Connection
from kasuwa.reconciliation import matching, statement_rows
from kasuwa.reconciliation.csv_mapping import CsvMapping
from kasuwa.reconciliation.lump_sums import MAX_CANDIDATES, MAX_DAYS, DayTotal, find_days, find_subset
from kasuwa.reconciliation.matching import LumpLine, MatchScope, RuleCount
from kasuwa.reconciliation.model import (
    ReconciledAccount,
    StatementError,
    StatementFacts,
    StatementLine,
    StatementReader,
)
from kasuwa.reconciliation.our_references import find_line_reference
from kasuwa.reconciliation.statement_rows import KnownAccount, NewImport, Period

DEFAULT_WINDOW_DAYS = 3
MAX_WINDOW_DAYS = 14
# Days beyond these are misread.
FIRST_YEAR, LAST_YEAR = 1970, 2200
# Lump sums are looked for line by line. More lines than this that nothing matches are not settlements.
MAX_LUMP_LINES = 500
# Between two pauses, in which the event loop does other work.
LINES_PER_STEP = 500


class StatementSource(msgspec.Struct, frozen=True):
    """A statement to import."""

    account: ReconciledAccount
    reader: StatementReader
    content_hash: bytes
    file_name: str
    window_days: int = DEFAULT_WINDOW_DAYS


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an import."""

    account: str
    import_id: int
    is_repeated: bool = False  # the same content was imported before: nothing was changed
    format: str = ""
    lines: int = 0
    new_lines: int = 0
    first_day: date | None = None
    last_day: date | None = None
    rules: tuple[RuleCount, ...] = ()  # how many lines each rule matched, older ones included

    @property
    def matched(self) -> int:
        return sum(rule.lines - rule.differing for rule in self.rules)

    @property
    def differing(self) -> int:
        return sum(rule.differing for rule in self.rules)


async def import_statement(connection: Connection, source: StatementSource, entry: AuditEntry) -> ImportResult:
    """Imports a statement, with its audit entry. Raises StatementError: nothing is changed then."""
    try:
        return await import_locked(connection, source, entry)
    except asyncpg.LockNotAvailableError:
        raise StatementError(f"another import of {source.account.name} is running: try again after it") from None


async def import_locked(connection: Connection, source: StatementSource, entry: AuditEntry) -> ImportResult:
    async with connection.transaction():
        known = await statement_rows.lock_account(connection, source.account.name)
        earlier = await statement_rows.find_import(connection, known.account_id, source.content_hash)
        if earlier is not None:
            return ImportResult(account=source.account.name, import_id=earlier.import_id, is_repeated=True)
        staged = await statement_rows.stage_lines(connection, make_records(source.reader))
        await check_facts(connection, source, known, staged)
        new = await statement_rows.select_new_lines(connection, known.account_id)
        import_id = await statement_rows.insert_import(
            connection, known.account_id, describe_import(source, staged, new, entry)
        )
        rules = await match_lines(connection, source, known, new) if new.count else []
        if new.count:
            await statement_rows.store_matches(connection, known.account_id, import_id)
        result = ImportResult(
            account=source.account.name,
            import_id=import_id,
            format=source.reader.facts.format,
            lines=staged.count,
            new_lines=new.count,
            first_day=staged.first_day,
            last_day=staged.last_day,
            rules=tuple(rules),
        )
        after = msgspec.json.encode({"file": source.file_name, "lines": staged.count, "new": new.count}).decode()
        await audit_trail.append_entry(connection, OPERATOR_CHAIN_ID, msgspec.structs.replace(entry, after=after))
        return result


def describe_import(source: StatementSource, staged: Period, new: Period, entry: AuditEntry) -> NewImport:
    facts = source.reader.facts
    return NewImport(
        content_hash=source.content_hash,
        format=facts.format,
        file_name=source.file_name[:200],
        line_count=staged.count,
        new_count=new.count,
        first_day=staged.first_day,
        last_day=staged.last_day,
        opening=facts.opening,
        closing=facts.closing,
        imported_by=entry.actor,
    )


async def check_facts(connection: Connection, source: StatementSource, known: KnownAccount, staged: Period) -> None:
    """Raises StatementError if a line is faulty, or if the file is of another bank account than earlier ones."""
    facts = source.reader.facts
    if facts.fault_count:
        raise StatementError(facts.describe_faults())
    if staged.count == 0:
        raise StatementError("the file has no lines")
    for day in (staged.first_day, staged.last_day):
        if day is not None and not FIRST_YEAR <= day.year <= LAST_YEAR:
            raise StatementError(f"a line is of {day}: is `date_form` in the mapping right?")
    if not facts.bank_account:
        return
    if known.bank_account and known.bank_account != facts.bank_account:
        raise StatementError(
            f"the file is of account {facts.bank_account}, and earlier files of {source.account.name} were of "
            f"{known.bank_account}"
        )
    if not known.bank_account:
        await statement_rows.set_bank_account(connection, known.account_id, facts.bank_account)


# --- lines ----------------------------------------------------------------------------------------------------------


async def make_records(lines: Iterable[StatementLine]) -> AsyncIterator[tuple[Any, ...]]:
    """Yields the rows to stage. Pauses now and then, because parsing does not wait for anything."""
    for count, line in enumerate(lines, start=1):
        ours = find_line_reference(line.bank_reference, line.description)
        values = (line.number, line.booked_on, line.amount, line.fee, hash_line(line))
        yield (*values, ours.merchant_id, ours.reference, line.bank_reference, line.description)
        if count % LINES_PER_STEP == 0:
            await asyncio.sleep(0)


def hash_line(line: StatementLine) -> bytes:
    """Returns the identity of a line: the bank's number of it with day and amount, or else all that it says."""
    if line.bank_id:
        text = f"{line.bank_id}\0{line.booked_on}\0{line.amount}"
    else:
        text = f"\0{line.booked_on}\0{line.amount}\0{line.bank_reference}\0{line.description}\0{line.balance}"
    return blake2b(text.encode(), digest_size=16).digest()


# --- matching -------------------------------------------------------------------------------------------------------


async def match_lines(
    connection: Connection, source: StatementSource, known: KnownAccount, new: Period
) -> list[RuleCount]:
    """Matches the new lines, and older ones of the same days that nothing matches. Returns what each rule matched."""
    assert new.first_day is not None, "there is a new line"
    assert new.last_day is not None
    account, window = source.account, timedelta(days=source.window_days)
    first_day, last_day = new.first_day - window - timedelta(days=MAX_DAYS), new.last_day + window
    scope = MatchScope(known.account_id, account.ledger_name, account.vendor, first_day, last_day)
    await matching.open_scope(connection, scope)
    await matching.match_references(connection, account.vendor)
    await matching.apply_settlement_fees(connection, account.currency)
    await matching.match_amounts(connection, source.window_days)
    await match_lump_sums(connection, account.currency, source.window_days)
    await matching.match_differing(connection)
    return await matching.count_rules(connection)


async def match_lump_sums(connection: Connection, currency: str, window: int) -> None:
    """Matches lines with the entries of whole days, then with a few entries, where only one choice adds up."""
    lines = await matching.list_lump_lines(connection, currency, MAX_LUMP_LINES)
    totals = await matching.sum_days(connection) if lines else {}
    unmatched = []
    for line in lines:
        days = find_days(totals, line.wanted, window)
        if days is None:
            unmatched.append(line)
            continue
        await matching.take_days(connection, line, days)
        totals = await matching.sum_days(connection)
    for line in unmatched:
        await match_subset(connection, line, window, totals)


async def match_subset(connection: Connection, line: LumpLine, window: int, totals: dict[date, DayTotal]) -> None:
    first_day = line.wanted.booked_on - timedelta(days=window)
    if not any(first_day <= day <= line.wanted.booked_on for day in totals):
        return
    candidates = await matching.list_candidates(connection, line, first_day, MAX_CANDIDATES + 1)
    places = find_subset([amount for _, _, amount in candidates], line.wanted.gross)
    if places is not None:
        await matching.take_entries(connection, line, [candidates[place] for place in places])


# --- previews and feeds -----------------------------------------------------------------------------------------------


class Preview(msgspec.Struct, frozen=True):
    """A statement as it would be read: its first lines, and what is wrong with the others."""

    lines: tuple[StatementLine, ...]
    count: int
    total: int
    facts: StatementFacts


def preview_statement(reader: StatementReader, most: int = 10) -> Preview:
    """Reads a whole statement and stores nothing. Raises StatementError if it cannot be read at all."""
    first: list[StatementLine] = []
    count = total = 0
    for line in reader:
        count, total = count + 1, total + line.amount
        if len(first) < most:
            first.append(line)
    return Preview(tuple(first), count, total, reader.facts)


class LinesInMemory:
    """A statement whose lines were made or read before: a settlement feed, or a small file."""

    def __init__(self, facts: StatementFacts, lines: list[StatementLine]) -> None:
        self.facts = facts
        self._lines = lines

    def __iter__(self) -> Iterator[StatementLine]:
        return iter(self._lines)


async def read_mapping(connection: Connection, account: ReconciledAccount) -> CsvMapping | None:
    """Returns the mapping that is kept for an account, or None."""
    known = await statement_rows.find_account(connection, account.name)
    return None if known is None or known.mapping is None else msgspec.json.decode(known.mapping, type=CsvMapping)


async def keep_mapping(
    connection: Connection, account: ReconciledAccount, mapping: CsvMapping, entry: AuditEntry
) -> None:
    """Stores the mapping of an account, with its audit entry."""
    async with connection.transaction():
        known = await statement_rows.lock_account(connection, account.name)
        text = msgspec.json.encode(mapping).decode()
        await statement_rows.set_mapping(connection, known.account_id, text)
        noted = msgspec.structs.replace(entry, before=known.mapping or "", after=text)
        await audit_trail.append_entry(connection, OPERATOR_CHAIN_ID, noted)
