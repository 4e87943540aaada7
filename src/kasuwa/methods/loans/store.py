"""Reads of loans. No writes; every WHERE names the merchant_id.

Figures that change with time (penalties, arrears, payoff) are computed for the merchant's business day of the request.
"""

from datetime import date, datetime
from typing import Any

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader, ReplyReader
from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.methods.loans.auto_repay_model import AutoRepayment, auto_repayment_key
from kasuwa.methods.loans.guarantee_model import (
    LoanCollateral,
    LoanGuarantee,
    make_collateral_record,
    make_guarantee_record,
)
from kasuwa.methods.loans.model import (
    UNKNOWN_LOAN,
    Loan,
    LoanInstallment,
    LoanSchedule,
    LoanWriteOff,
    loan_key,
    write_off_key,
)
from kasuwa.methods.loans.rules.auto_repay_record import make_auto_repay_record
from kasuwa.methods.loans.rules.loan_position import compute_position
from kasuwa.methods.loans.rules.loan_record import (
    InstallmentSummary,
    describe_earlier,
    describe_waiting,
    make_loan_record,
    make_loan_summary,
)
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

# Columns that a list adds up over the installments that it does not load one by one.
SUMMED_PARTS = ("principal", "interest", "tax", "charge", "vat")
SUMMED = (*SUMMED_PARTS, *(f"paid_{part}" for part in SUMMED_PARTS))
NO_INSTALLMENTS = InstallmentSummary(total=0, paid=0, lines=(), later_total=None)

LOAN_COLUMNS = ", ".join(f"l.{name}" for name in Loan.__struct_fields__)
LINE_COLUMNS = ", ".join(LoanInstallment.__struct_fields__)

# Business time, computed as the writer computes it.
NOW = """select coalesce(clock_fixed_at, clock_timestamp() + clock_offset_us * interval '1 microsecond')
    from merchant_state where merchant_id = $1"""
CREDIT = """coalesce((select a.posted from account a
    where a.merchant_id = l.merchant_id and a.name = 'loan_credit:' || l.loan_id || ':NGN'), 0)"""
LOAN = f"select {LOAN_COLUMNS}, {CREDIT} from loan l where l.key = $1 and l.merchant_id = $2"
LINES = f"select {LINE_COLUMNS} from loan_installment where merchant_id = $1 and loan_id = $2 order by n"

# --- lists: totals instead of schedules, so that a page of long loans stays small ---

OWED = """n.principal + n.interest + n.tax + n.penalty + n.charge + n.vat
    - n.paid_principal - n.paid_interest - n.paid_tax - n.paid_penalty - n.paid_charge - n.paid_vat
    - n.lost_principal - n.lost_interest - n.lost_tax - n.lost_penalty - n.lost_charge - n.lost_vat"""
# A loan is in arrears from midnight, even before the arrears job has updated its row.
STATE = f"""
    case when l.state not in ('active', 'active_in_arrears') then l.state
        when exists (select 1 from loan_installment n where n.merchant_id = l.merchant_id and n.loan_id = l.loan_id
            and n.due + l.tolerance_days::int < $4 and {OWED} > 0) then 'active_in_arrears'
        else 'active' end
"""
CHOSEN = f"""
    from loan l where l.merchant_id = $1 and ($2::text is null or l.client_id = $2)
        and ($3::text is null or $3 = {STATE}) and ($5::text is null or l.product = $5)
"""
LOANS = f"select {LOAN_COLUMNS}, {CREDIT} {CHOSEN} order by l.number desc offset $6 limit $7"
COUNT = f"select count(*) {CHOSEN}"
RANKED_INSTALLMENTS = f"""
    select n.*, {OWED} as owed,
        min(n.n) filter (where n.due > $3) over w as running,
        min(n.n) filter (where n.due > $3 and {OWED} > 0) over w as coming
    from loan_installment n where n.merchant_id = $1 and n.loan_id = any($2)
    window w as (partition by n.loan_id)
"""
# Of a grace, what is owed today follows from all of its installments. A reschedule can leave a charge whose day has
# come with an installment whose interval has not begun.
IS_SHOWN = """(due <= $3 and owed > 0) or n in (running, coming) or grown > 0 or deferred > 0 or pending > 0
    or (due > $3 and exists (
        select from jsonb_array_elements(nullif(charges, '')::jsonb) c where (c ->> 'day')::date <= $3))"""
SHOWN_LINES = (
    f"select {LINE_COLUMNS} from ({RANKED_INSTALLMENTS}) p where merchant_id = $1 and ({IS_SHOWN}) order by loan_id, n"
)
HIDDEN_TOTALS = f"""
    select loan_id, count(*), count(*) filter (where owed = 0),
        max(due), {", ".join(f"coalesce(sum({part}) filter (where later), 0)::bigint" for part in SUMMED)}
    from (select p.*, due > $3 and not ({IS_SHOWN}) as later from ({RANKED_INSTALLMENTS}) p
        where merchant_id = $1) q group by loan_id
"""

# The predicates must equal those of the indexes (0001_baseline.sql), else PostgreSQL does not use them.
STATEMENT = f"""
    with moved as (
        select seq, at, reference, kind, credit as name, amount, credit_after as after from posting
        where merchant_id = $1 and starts_with(credit, 'loan_') and split_part(credit, ':', 2) = $2
        union all
        select seq, at, reference, kind, debit, -amount, debit_after from posting
        where merchant_id = $1 and starts_with(debit, 'loan_') and split_part(debit, ':', 2) = $2)
    select at, reference, {title_sql()}, split_part(name, ':', 1), amount, after from moved
"""
STATEMENT_PAGE = f"{STATEMENT} order by seq desc offset $3 limit $4"
STATEMENT_COUNT = f"select count(*) from ({STATEMENT}) s"


WAITING_WRITE_OFF = f"""
    select {", ".join(LoanWriteOff.__struct_fields__)} from loan_write_off where key = $1 and merchant_id = $2
"""


GUARANTEES = f"""
    select {", ".join(LoanGuarantee.__struct_fields__)} from loan_guarantee
    where merchant_id = $1 and loan_id = $2 order by n
"""
SCHEDULES = f"""
    select {", ".join(LoanSchedule.__struct_fields__)} from loan_schedule where merchant_id = $1 and loan_id = $2
    order by n
"""
AUTO_REPAYMENT = f"""
    select {", ".join(AutoRepayment.__struct_fields__)} from loan_auto_repayment where key = $1 and merchant_id = $2
"""
COLLATERAL = f"""
    select {", ".join(LoanCollateral.__struct_fields__)} from loan_collateral
    where merchant_id = $1 and loan_id = $2 order by n
"""


async def business_now(merchant: Merchant, reader: Reader) -> datetime:
    [[now]] = await reader.fetch(NOW, merchant.merchant_id)
    assert isinstance(now, datetime)
    return now


async def list_loans(request: ListRequest, merchant: Merchant, reader: ReplyReader) -> ListReply:
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        today = lagos_day(await business_now(merchant, snapshot))
        parameters = merchant.merchant_id, request.client_id, request.state, today, request.product_id
        [[total]] = await snapshot.fetch(COUNT, *parameters)
        loans = [
            (Loan(*row[:-1]), row[-1]) for row in map(tuple, await snapshot.fetch(LOANS, *parameters, offset, limit))
        ]
        summaries = await summarize_installments([loan for loan, _ in loans], today, merchant, snapshot)

    def summary(line: tuple[Loan, int]) -> LoanSummary:
        loan, credit = line
        return make_loan_summary(loan, summaries.get(loan.loan_id, NO_INSTALLMENTS), today, credit)

    data = await reader.make_lines(summary, loans)
    return ListReply(data=data, total=total, offset=offset, limit=limit)


async def summarize_installments(
    loans: list[Loan], today: date, merchant: Merchant, reader: Reader
) -> dict[str, InstallmentSummary]:
    """Returns the installment summary of each loan that was paid out, by loan id."""
    parameters = merchant.merchant_id, [loan.loan_id for loan in loans if loan.disbursed_at is not None], today
    shown: dict[str, list[LoanInstallment]] = {}
    for row in await reader.fetch(SHOWN_LINES, *parameters):
        line = LoanInstallment(*row)
        shown.setdefault(line.loan_id, []).append(line)
    loans_by_id = {loan.loan_id: loan for loan in loans}
    summaries = {}
    for loan_id, total, paid, last_due, *sums in await reader.fetch(HIDDEN_TOTALS, *parameters):
        later = sum_later_installments(loans_by_id[loan_id], last_due, dict(zip(SUMMED, sums, strict=True)))
        summaries[loan_id] = InstallmentSummary(total, paid, tuple(shown.get(loan_id, ())), later)
    return summaries


def sum_later_installments(loan: Loan, due: date, sums: dict[str, Any]) -> LoanInstallment | None:
    """Returns one installment with the sums of those whose intervals have not begun, due with the last one.

    Returns None if there are none.
    """
    if not any(sums.values()):
        return None
    return LoanInstallment(key=b"", merchant_id=loan.merchant_id, loan_id=loan.loan_id, n=loan.period, due=due, **sums)


async def view_loan(request: ViewRequest, merchant: Merchant, reader: ReplyReader) -> LoanReply | Refusal:
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(LOAN, loan_key(merchant.merchant_id, request.loan_id), merchant.merchant_id)
        if row is None:
            return UNKNOWN_LOAN
        now = await business_now(merchant, snapshot)
        rows = await snapshot.fetch(LINES, merchant.merchant_id, request.loan_id)
        *columns, credit = row
        loan = Loan(*columns)
        key = write_off_key(merchant.merchant_id, request.loan_id, loan.write_offs)
        waiting = await snapshot.fetchrow(WAITING_WRITE_OFF, key, merchant.merchant_id) if loan.write_offs else None
        of_loan = merchant.merchant_id, request.loan_id
        earlier = await snapshot.fetch(SCHEDULES, *of_loan) if loan.reschedules else ()
        guarantees = await snapshot.fetch(GUARANTEES, *of_loan) if loan.guarantees else ()
        collateral = await snapshot.fetch(COLLATERAL, *of_loan) if loan.collaterals else ()
        auto_key = auto_repayment_key(merchant.merchant_id, request.loan_id)
        auto = await snapshot.fetchrow(AUTO_REPAYMENT, auto_key, merchant.merchant_id)
    lines = tuple(LoanInstallment(*line) for line in rows)
    data = make_loan_record(loan, lines, now, credit=credit)
    data.waiting_write_off = describe_waiting(loan, None if waiting is None else LoanWriteOff(*waiting), now)
    if earlier:
        data.schedules = [describe_earlier(LoanSchedule(*each)) for each in earlier]
    if guarantees:
        data.guarantees = [make_guarantee_record(LoanGuarantee(*each)) for each in guarantees]
    if collateral:
        data.collateral = [make_collateral_record(LoanCollateral(*each)) for each in collateral]
    if auto is not None:
        position = compute_position(loan, lines, lagos_day(now)) if lines else None
        data.auto_repay = make_auto_repay_record(AutoRepayment(*auto), loan, position)
    return LoanReply(message="Loan", data=data)


async def show_statement(
    request: StatementRequest, merchant: Merchant, reader: ReplyReader
) -> StatementReply | Refusal:
    """Returns the loan's postings as the ledger has them, newest first. Contract: loans#view"""
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(LOAN, loan_key(merchant.merchant_id, request.loan_id), merchant.merchant_id)
        if row is None:
            return UNKNOWN_LOAN
        [[total]] = await snapshot.fetch(STATEMENT_COUNT, merchant.merchant_id, request.loan_id)
        rows = await snapshot.fetch(STATEMENT_PAGE, merchant.merchant_id, request.loan_id, offset, limit)
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
