"""Plain reads of loans. No writes; merchant_id in every WHERE."""

from datetime import datetime
from typing import Any

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import LineReader, Reader
from kasuwa.methods.loans.decide import UNKNOWN_LOAN, Line, Loan, loan_key
from kasuwa.methods.loans.decide_record import record_of, summary_of
from kasuwa.methods.loans.wire import (
    ListReply,
    ListRequest,
    LoanReply,
    LoanSummary,
    StatementLine,
    StatementReply,
    StatementRequest,
    ViewRequest,
)

LOAN_COLUMNS = ", ".join(Loan.__struct_fields__)
LINE_COLUMNS = ", ".join(Line.__struct_fields__)

# Business time, as the writer reckons it.
NOW = """select coalesce(clock_fixed, clock_timestamp() + clock_offset * interval '1 microsecond')
    from book where merchant_id = $1"""
LOAN = f"select {LOAN_COLUMNS} from loan where key = $1 and merchant_id = $2"
LOANS = f"select {LOAN_COLUMNS} from loan where merchant_id = $1 order by number desc offset $2 limit $3"
COUNT = "select count(*) from loan where merchant_id = $1"
LINES = f"select {LINE_COLUMNS} from loan_line where merchant_id = $1 and loan_id = any($2) order by loan_id, n"

# The predicates are spelled as those of the indexes (0009_loans.sql).
STATEMENT = """
    with moved as (
        select seq, at, reference, kind, credit as name, amount, credit_after as after from posting
        where merchant_id = $1 and starts_with(credit, 'loan_') and split_part(credit, ':', 2) = $2
        union all
        select seq, at, reference, kind, debit, -amount, debit_after from posting
        where merchant_id = $1 and starts_with(debit, 'loan_') and split_part(debit, ':', 2) = $2)
    select at, reference, kind, split_part(name, ':', 1), amount, after from moved
"""
STATEMENT_PAGE = f"{STATEMENT} order by seq desc offset $3 limit $4"
STATEMENT_COUNT = f"select count(*) from ({STATEMENT}) s"


async def business_now(merchant: Merchant, reader: Reader) -> datetime:
    [[now]] = await reader.fetch(NOW, merchant.merchant_id)
    assert isinstance(now, datetime)
    return now


async def read_lines(loan_ids: list[str], merchant: Merchant, reader: LineReader) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {}
    rows = await reader.fetch(LINES, merchant.merchant_id, loan_ids)
    for line in await reader.make_lines(lambda row: Line(*row), rows, at_once=1_000):
        lines.setdefault(line.loan_id, []).append(line)
    return lines


async def list_loans(request: ListRequest, merchant: Merchant, reader: LineReader) -> ListReply:
    offset, limit = request.window
    now = await business_now(merchant, reader)
    [[total]] = await reader.fetch(COUNT, merchant.merchant_id)
    loans = [Loan(*row) for row in await reader.fetch(LOANS, merchant.merchant_id, offset, limit)]
    lines = await read_lines([loan.loan_id for loan in loans], merchant, reader)

    def summary(loan: Loan) -> LoanSummary:
        return summary_of(loan, tuple(lines.get(loan.loan_id, ())), now)

    return ListReply(data=await reader.make_lines(summary, loans, at_once=1), total=total, offset=offset, limit=limit)


async def view_loan(request: ViewRequest, merchant: Merchant, reader: LineReader) -> LoanReply | Refusal:
    row = await reader.fetchrow(LOAN, loan_key(merchant.merchant_id, request.loan_id), merchant.merchant_id)
    if row is None:
        return UNKNOWN_LOAN
    now = await business_now(merchant, reader)
    lines = await read_lines([request.loan_id], merchant, reader)
    return LoanReply(message="Loan", data=record_of(Loan(*row), tuple(lines.get(request.loan_id, ())), now))


async def show_statement(request: StatementRequest, merchant: Merchant, reader: Reader) -> StatementReply | Refusal:
    """The loan's postings, newest first: the books themselves, nothing reckoned. Spec silent: D8"""
    row = await reader.fetchrow(LOAN, loan_key(merchant.merchant_id, request.loan_id), merchant.merchant_id)
    if row is None:
        return UNKNOWN_LOAN
    offset, limit = request.window
    [[total]] = await reader.fetch(STATEMENT_COUNT, merchant.merchant_id, request.loan_id)
    rows = await reader.fetch(STATEMENT_PAGE, merchant.merchant_id, request.loan_id, offset, limit)
    return StatementReply(data=[statement_line(row) for row in rows], total=total, offset=offset, limit=limit)


def statement_line(row: Any) -> StatementLine:
    at, reference, kind, account, amount, after = row
    return StatementLine(
        date_created=utc_text(at),
        origin=reference,
        part=account.removeprefix("loan_"),
        narration=kind,
        amount=format_minor(amount),
        balance=format_minor(after),
    )
