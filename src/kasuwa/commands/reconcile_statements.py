"""The commands of `kasuwa reconcile` that compare statements with the books."""

import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeVar

import msgspec
import typer

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.commands.database import make_audit_entry, record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.calendar import lagos_day
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Vault
from kasuwa.reconciliation import reads, statement_rows
from kasuwa.reconciliation.csv_mapping import CsvMapping, decode_mapping
from kasuwa.reconciliation.importing import (
    DEFAULT_WINDOW_DAYS,
    MAX_WINDOW_DAYS,
    ImportResult,
    StatementSource,
    import_statement,
    keep_mapping,
    preview_statement,
    read_mapping,
)
from kasuwa.reconciliation.matching import MatchScope
from kasuwa.reconciliation.model import ReconciledAccount, StatementError, parse_account
from kasuwa.reconciliation.opening import FORMATS, hash_content, open_statement
from kasuwa.reconciliation.reads import STATES, AccountSummary
from kasuwa.reconciliation.settlement_feed import read_feed
from kasuwa.settings.settings import Settings

T = TypeVar("T")
NOTHING_IMPORTED = "nothing was imported: "

AccountOption = Annotated[
    str, typer.Option("--account", help="Account of the ledger, such as rail:bank:NGN, or rail:card:NGN@paystack.")
]
WindowOption = Annotated[
    int,
    typer.Option(min=0, max=MAX_WINDOW_DAYS, help="Days between a line without a reference and the books, at most."),
]


def run_statement_work(data: Path | None, work: Callable[[Any], Awaitable[T]], prefix: str = "") -> T:
    """Runs `work` with a connection. Exits with the text of a StatementError after the prefix."""

    async def run(connection: Any, vault: Vault, settings: Settings) -> T | StatementError:
        try:
            return await work(connection)
        except StatementError as error:
            return error

    result = run_with_connection(data, run)
    if isinstance(result, StatementError):
        sys.exit(f"kasuwa: {prefix}{result}")
    return result


def read_account(text: str) -> ReconciledAccount:
    try:
        return parse_account(text)
    except StatementError as error:
        raise typer.BadParameter(str(error), param_hint="--account") from None


def read_given_mapping(text: str) -> CsvMapping | None:
    """Reads the mapping of an option: JSON, or @ and the name of a file with it. None if there is none."""
    if not text:
        return None
    try:
        return decode_mapping(Path(text[1:]).read_bytes() if text.startswith("@") else text)
    except (OSError, StatementError) as error:
        raise typer.BadParameter(str(error), param_hint="--mapping") from None


def import_file(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The statement.")],
    account: AccountOption,
    mapping: Annotated[str, typer.Option(help="How to read CSV: JSON, or @FILE. Kept for the account.")] = "",
    statement_format: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}. Found by the content if it is not given.")
    ] = "",
    window: WindowOption = DEFAULT_WINDOW_DAYS,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show how the file is read, and change nothing.")] = False,
    data: DataOption = None,
) -> None:
    """Import a statement and match it with the books.

    Reads CSV, MT940 and CAMT.053. A file with a line that cannot be read, or of another currency, is refused
    as a whole. Importing a file again, or one that overlaps with it, adds no line twice."""
    if statement_format not in ("", *FORMATS):
        raise typer.BadParameter(f"must be one of {', '.join(FORMATS)}", param_hint="--format")
    statement_account, new_mapping = read_account(account), read_given_mapping(mapping)
    with ExitStack() as stack:
        opened: BinaryIO = stack.enter_context(file.open("rb"))

        async def work(connection: Any) -> ImportResult | str:
            content_hash = hash_content(opened)
            used = new_mapping or await read_mapping(connection, statement_account)
            reader = open_statement(opened, statement_account, used, statement_format)
            if dry_run:
                return describe_preview(preview_statement(reader))
            source = StatementSource(statement_account, reader, content_hash, file.name, window)
            entry = make_audit_entry("imported a statement", statement_account.name)
            result = await import_statement(connection, source, entry)
            if new_mapping is not None and not result.is_repeated:
                await keep_mapping(
                    connection,
                    statement_account,
                    new_mapping,
                    make_audit_entry("changed a CSV mapping", statement_account.name),
                )
            return result

        result = run_statement_work(data, work, NOTHING_IMPORTED)
    typer.echo(result if isinstance(result, str) else describe_result(result))


def import_feed(account: AccountOption, window: WindowOption = DEFAULT_WINDOW_DAYS, data: DataOption = None) -> None:
    """Match the settlements that a rail reported with the books.

    The account names the vendor, such as rail:card:NGN@paystack. Settlements that are matched change nothing."""
    statement_account = read_account(account)

    async def work(connection: Any) -> ImportResult:
        source = await read_feed(connection, statement_account, window)
        return await import_statement(
            connection, source, make_audit_entry("imported a settlement feed", statement_account.name)
        )

    typer.echo(describe_result(run_statement_work(data, work, NOTHING_IMPORTED)))


def show_mapping(
    account: AccountOption,
    change: Annotated[str, typer.Option("--set", help="The new mapping: JSON, or @FILE.")] = "",
    data: DataOption = None,
) -> None:
    """Show how CSV files of an account are read, or change it."""
    statement_account, new_mapping = read_account(account), read_given_mapping(change)

    async def work(connection: Any) -> CsvMapping | None:
        if new_mapping is not None:
            await keep_mapping(
                connection,
                statement_account,
                new_mapping,
                make_audit_entry("changed a CSV mapping", statement_account.name),
            )
        return await read_mapping(connection, statement_account)

    stored_mapping = run_statement_work(data, work)
    if stored_mapping is None:
        typer.echo(f"{statement_account.name} has no mapping")
        raise typer.Exit(1)
    typer.echo(msgspec.json.format(msgspec.json.encode(stored_mapping)).decode())


def show_result(
    account: AccountOption,
    first_day: Annotated[datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="First day.")] = None,
    last_day: Annotated[datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day.")] = None,
    state: Annotated[str, typer.Option(help=f"List those that are {', '.join(STATES)}.")] = "",
    data: DataOption = None,
) -> None:
    """Show what is matched, differing, theirs only and ours only.

    Without days it covers those of the newest import. Amounts are above zero if money came in."""
    if state not in ("", *STATES):
        raise typer.BadParameter(f"must be one of {', '.join(STATES)}", param_hint="--state")
    statement_account = read_account(account)

    async def work(connection: Any) -> list[str]:
        accounts = await reads.list_accounts(connection)
        known = next((row for row in accounts if row.name == statement_account.name), None)
        if known is None or known.last_day is None:
            raise StatementError(f"{statement_account.name} has no statement")
        scope = make_scope(statement_account, known, first_day, last_day)
        return [*await describe_states(connection, scope), *(await describe_rows(connection, scope, state))]

    typer.echo("\n".join(run_statement_work(data, work)))


def clear_descriptions(
    days: Annotated[int, typer.Option(min=30, help="Keep the descriptions of so many days.")] = 400,
    data: DataOption = None,
) -> None:
    """Empty the descriptions of old lines that are matched.

    Descriptions may name payers. Days, amounts, references and matches stay, as proof of the books."""
    before = lagos_day(datetime.now(UTC)) - timedelta(days=days)

    async def work(connection: Any) -> int:
        async with connection.transaction():
            count = await statement_rows.clear_descriptions(connection, before)
            await record_audit_entry(
                connection,
                OPERATOR_CHAIN_ID,
                "emptied descriptions of statements",
                f"before {before}",
                after=str(count),
            )
        return count

    typer.echo(f"emptied the descriptions of {run_statement_work(data, work)} lines before {before}")


# --- texts ----------------------------------------------------------------------------------------------------------


def make_scope(
    account: ReconciledAccount, known: AccountSummary, first_day: datetime | None, last_day: datetime | None
) -> MatchScope:
    last = known.last_day if last_day is None else last_day.date()
    first = known.first_day_of_last if first_day is None else first_day.date()
    return MatchScope(known.account_id, account.ledger_name, account.vendor, first or date.min, last or date.max)


async def describe_states(connection: Any, scope: MatchScope) -> list[str]:
    totals = await reads.sum_states(connection, scope)
    lines = [f"{scope.ledger_name} from {scope.first_day} to {scope.last_day}"]
    for total in totals:
        further = f"  fees {format_minor(total.fee)}" if total.fee else ""
        further += f"  difference {format_minor(total.difference)}" if total.difference else ""
        lines.append(f"{total.state:<12} {total.number:>9,}  {format_minor(total.amount):>20}{further}")
    return lines


async def describe_rows(connection: Any, scope: MatchScope, state: str) -> list[str]:
    if not state:
        return []
    if state == "ours only":
        entries = await reads.list_entries(connection, scope)
        return [f"{one.day}  {format_minor(one.amount):>16}  {one.mid} {one.reference}" for one in entries]
    rows = await reads.list_lines(connection, scope, state)
    return [
        f"{one.booked_on}  {format_minor(one.amount):>16}  line {one.line_id}  {one.bank_reference}  {one.description}"
        + (f"  {one.rule}" if one.rule else "")
        + (f"  differs by {format_minor(one.difference)}" if one.difference else "")
        for one in rows
    ]


def describe_preview(preview: Any) -> str:
    lines = [
        f"line {line.number}: {line.booked_on}  {format_minor(line.amount):>16}  "
        f"{line.bank_reference}  {line.description}"
        for line in preview.lines
    ]
    total = f"{preview.count:,} lines can be read, {format_minor(preview.total)} in all; nothing was imported"
    faults = [f"{preview.facts.fault_count:,} cannot:", preview.facts.describe_faults()]
    return "\n".join([*lines, total, *(faults if preview.facts.fault_count else [])])


def describe_result(result: ImportResult) -> str:
    if result.is_repeated:
        return f"nothing was changed: this was imported before (import {result.import_id} of {result.account})"
    rules = ", ".join(f"{rule.lines:,} by {rule.rule}" for rule in result.rules) or "none"
    return (
        f"{result.lines:,} lines from {result.first_day} to {result.last_day} ({result.format}), "
        f"{result.new_lines:,} of them new\n"
        f"matched: {result.matched:,}, differing: {result.differing:,} ({rules})\n"
        f"see `kasuwa reconcile show --account {result.account}`"
    )
