"""A database with the schema alone, for tests that put postings and statements into it."""

import asyncio
import hashlib
import io
import itertools
from collections.abc import Awaitable
from datetime import date
from typing import Any, TypeVar

import asyncpg

from kasuwa.core.calendar import lagos_moment
from kasuwa.core.decision import AuditEntry
from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.postgres.migrate import migrate
from kasuwa.reconciliation import reads
from kasuwa.reconciliation.csv_mapping import CsvMapping
from kasuwa.reconciliation.importing import ImportResult, StatementSource, import_statement
from kasuwa.reconciliation.matching import MatchScope
from kasuwa.reconciliation.model import ReconciledAccount, parse_account
from kasuwa.reconciliation.opening import open_statement
from kasuwa.reconciliation.reads import EntryRow, LineRow
from kasuwa.reconciliation.settlement_feed import read_feed

T = TypeVar("T")
MAPPING = CsvMapping(date="date", amount="amount", reference=("ref",), description=("text",), fee="fee")
ENTRY = AuditEntry("ada@example.com", "imported a statement", "test")
numbers = itertools.count(1)


class LedgerDatabase:
    """Statements and postings of accounts that each test names by itself."""

    def __init__(self, dsn: str) -> None:
        self._runner = asyncio.Runner()
        self.dsn = dsn
        self.connection: asyncpg.Connection[Any] = self._runner.run(asyncpg.connect(dsn))
        self._runner.run(migrate(self.connection, "test", bytes(32)))
        for merchant_id, mid in ((901, "GP0000901"), (902, "GP0000902")):
            self.execute("insert into merchant (merchant_id, mid, name) values ($1, $2, $2)", merchant_id, mid)

    def run(self, work: Awaitable[T]) -> T:
        return self._runner.run(work)  # type: ignore[arg-type]

    def execute(self, query: str, *values: Any) -> None:
        self.run(self.connection.execute(query, *values))

    def fetch(self, query: str, *values: Any) -> list[Any]:
        return list(self.run(self.connection.fetch(query, *values)))

    def close(self) -> None:
        self.run(self.connection.close())
        self._runner.close()

    def post(self, account: str, amount: int, day: str, merchant_id: int = 901, reference: str = "") -> str:
        """Posts an amount, above zero if money came in. Returns the reference of its transaction."""
        number = next(numbers)
        booked = date.fromisoformat(day)
        made = reference or movement_reference("FD", number, booked)
        debit, credit = (account, "wallet:main:NGN") if amount > 0 else ("wallet:main:NGN", account)
        self.execute(
            "insert into posting values ($1, $2, $2, $3, $4, $5, $6, 0, 0, 'transfer', $7::timestamptz)",
            merchant_id,
            number,
            made,
            debit,
            credit,
            abs(amount),
            lagos_moment(booked, 12),
        )
        return made

    def add_transaction(self, reference: str, rail: str = "", batch_ref: str | None = None) -> None:
        self.execute(
            "insert into transaction (key, merchant_id, kind, txn_ref, order_ref, batch_ref, currency, amount, fee,"
            " vat, duty, status, message, digest, detail, trail, created_at, rail)"
            " values (sha224($1::text::bytea), 901, 'transfer', $1, $1, $3,"
            " 'NGN', 1, 0, 0, 0, 'successful', '', '', '{}', '[]', now(), $2)",
            reference,
            rail,
            batch_ref,
        )

    def import_rows(self, account: str, *rows: str, window: int = 3) -> ImportResult:
        """Imports a CSV file with the columns date, ref, text, amount and fee."""
        return self.import_content(account, "\n".join(["date,ref,text,amount,fee", *rows]).encode(), window)

    def import_content(self, account: str, content: bytes, window: int = 3) -> ImportResult:
        found = parse_account(account)
        reader = open_statement(io.BytesIO(content), found, MAPPING)
        source = StatementSource(found, reader, hashlib.sha256(content).digest(), "test.csv", window)
        return self.run(import_statement(self.connection, source, ENTRY))

    def import_while_locked(self, account: str) -> ImportResult:
        """Imports a file with a short patience while another session has the account."""

        async def hold() -> "asyncpg.Connection[Any]":
            other: asyncpg.Connection[Any] = await asyncpg.connect(self.dsn)
            await other.execute("begin")
            await other.execute("select 1 from statement_account where name = $1 for update", account)
            return other

        other = self.run(hold())
        self.execute("set lock_timeout = '50ms'")
        try:
            return self.import_rows(account, "2026-11-02,,x,1.00,")
        finally:
            self.run(other.close())
            self.execute("reset lock_timeout")

    def import_feed(self, account: str) -> ImportResult:
        async def work() -> ImportResult:
            source = await read_feed(self.connection, parse_account(account))
            return await import_statement(self.connection, source, ENTRY)

        return self.run(work())

    def scope(self, account: str) -> MatchScope:
        found: ReconciledAccount = parse_account(account)
        [(account_id,)] = self.fetch("select account_id from statement_account where name = $1", account)
        return MatchScope(account_id, found.ledger_name, found.vendor, date(2026, 1, 1), date(2026, 12, 31))

    def lines(self, account: str, state: str) -> list[LineRow]:
        return self.run(reads.list_lines(self.connection, self.scope(account), state))

    def ours_only(self, account: str) -> list[EntryRow]:
        return self.run(reads.list_entries(self.connection, self.scope(account)))

    def states(self, account: str) -> dict[str, tuple[int, int]]:
        """Returns number and sum by state, without states that nothing has."""
        totals = self.run(reads.sum_states(self.connection, self.scope(account)))
        return {total.state: (total.number, total.amount) for total in totals if total.number}

    def rules(self, account: str) -> dict[str, int]:
        query = "select rule, count(*) from statement_line where account_id = $1 and match_id is not null group by rule"
        return {row[0]: row[1] for row in self.fetch(query, self.scope(account).account_id)}


def wire(reference: str, merchant_id: int = 901) -> str:
    return wire_reference(rail_key(merchant_id, reference))
