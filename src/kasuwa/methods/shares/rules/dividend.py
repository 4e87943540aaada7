"""Rules of dividends: a declaration takes the sum of all members' dividends out of the wallet, and a job pays them page
by page of the register, each page in one commit.

A job that runs twice pays once: the page that is paid next is on the dividend's row, and a finished run changes the
job's due time. Whatever happens in between, what is not paid yet is on the dividend's own account.

Contract: investments#dividends
"""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    make_job,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, job_key, opaque_id
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.investments.model import (
    CLOSED,
    WALLET,
    WALLET_INSUFFICIENT,
    WITHHOLDING,
    Savings,
    SavingsChanges,
    has_unseen_rows,
    need_savings,
    savings_key,
)
from kasuwa.methods.investments.rules.dry_run import wallet_available
from kasuwa.methods.investments.rules.savings import need_debt_repayments, receive_deposit
from kasuwa.methods.shares.model import (
    MAX_HOLDERS,
    OLDEST_RECORD_DAYS,
    PAID,
    UNKNOWN_CLASS,
    Dividend,
    MemberDividend,
    RegisterPage,
    ShareClass,
    Shareholding,
    class_key,
    count_pages,
    dividend_key,
    list_dividends,
    load_holdings,
    make_dividend_record,
    page_key,
)
from kasuwa.methods.shares.wire import DeclareDividendRequest, DividendReply
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.object_events import ObjectEvent, make_object_event
from kasuwa.wire.interest_wire import DryRunFigure

PAY_DIVIDEND = "shares.pay_dividend"
LANE = "savings"
# Between the pages of a dividend, so that a page has a due time of its own.
PAGE_INTERVAL = timedelta(milliseconds=1)
EVENT_KIND = "dividend"

# Refusals, in order of precedence: unknown class, and these; then a wallet that does not cover it.
DIVIDEND_DECLARED = Refusal(
    INVALID_REQUEST,
    "A dividend of this class was declared for {day} already; name another record_date",
    error_code="dividend_declared",
)
INVALID_RECORD_DATE = refuse_fields(
    FieldError("record_date", f"before today, and at most {OLDEST_RECORD_DAYS} days ago", "record_date_out_of_range")
)
NO_DIVIDEND = Refusal(
    INVALID_REQUEST,
    "Nobody had shares of this class on {day} that a dividend of {rate}% gives a kobo on",
    error_code="no_dividend",
)


def check_rate(merchant: Merchant, rate: str) -> str | None:
    return None if Decimal(rate) > 0 else "above 0"


# --- declaring ----------------------------------------------------------------------------------------------


def weigh_declaration(request: DeclareDividendRequest) -> int:
    """Returns as how many orders a declaration counts: it reads every member of the register."""
    return MAX_HOLDERS


def need_declaration(request: DeclareDividendRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    share_class = (ShareClass, class_key(merchant_id, request.class_id))
    return Needs((share_class, (Account, account_key(merchant_id, WALLET))), (WALLET,))


def decide_declaration(
    request: DeclareDividendRequest, context: Context, rows: LoadedRows
) -> Decision[DividendReply] | Refusal | NeedsMore:
    merchant_id, today = context.merchant.merchant_id, lagos_day(context.now)
    share_class = rows.get(ShareClass, class_key(merchant_id, request.class_id))
    if share_class is None:
        return UNKNOWN_CLASS
    record_date = request.record_date.plain()
    if not today - timedelta(days=OLDEST_RECORD_DAYS) <= record_date < today:
        return INVALID_RECORD_DATE
    dividend_id = name_dividend(share_class.class_id, record_date)
    declared = Needs(((Dividend, dividend_key(merchant_id, dividend_id)),))
    if has_unseen_rows(declared, rows):
        return NeedsMore(declared)
    if rows.get(Dividend, dividend_key(merchant_id, dividend_id)) is not None:
        return DIVIDEND_DECLARED.fill(day=record_date)
    holdings = load_register(share_class, rows)
    if isinstance(holdings, NeedsMore):
        return holdings
    members = list_dividends(holdings, share_class, str(request.rate), record_date)
    if not members:
        return NO_DIVIDEND.fill(day=record_date, rate=request.rate)
    gross = sum(member.gross for member in members.values())
    if wallet_available(SavingsChanges(context, rows)) < gross:
        return WALLET_INSUFFICIENT
    dividend = Dividend(
        key=dividend_key(merchant_id, dividend_id),
        merchant_id=merchant_id,
        dividend_id=dividend_id,
        number=context.number,
        class_id=share_class.class_id,
        rate=str(request.rate),
        record_date=record_date,
        members=len(members),
        gross=gross,
        holders=share_class.holders,
        declared_at=context.now,
    )
    if request.dry_run:
        return show_declaration(dividend, share_class, members)
    return declare(dividend, context, rows)


def name_dividend(class_id: str, record_date: date) -> str:
    """Returns the id of the dividend of a class for a day, of which there is one: a declaration that is sent again pays
    nobody twice."""
    return opaque_id("DV", blake2b(f"{class_id} {record_date}".encode()).digest())


def load_register(share_class: ShareClass, rows: LoadedRows) -> list[Shareholding] | NeedsMore:
    """Returns all holdings of a class, or NeedsMore: first the pages of the register, then the holdings."""
    merchant_id, class_id = share_class.merchant_id, share_class.class_id
    keys = [page_key(merchant_id, class_id, number) for number in range(count_pages(share_class.holders))]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(Needs(tuple((RegisterPage, key) for key in keys)))
    pages = [rows.get(RegisterPage, key) for key in keys]
    return load_holdings([page for page in pages if page is not None], rows)


def show_declaration(
    dividend: Dividend, share_class: ShareClass, members: Mapping[str, MemberDividend]
) -> Decision[DividendReply]:
    record = make_dividend_record(dividend)
    record.dividend_id = None
    tax = sum(member.tax for member in members.values())
    figures = [
        DryRunFigure(
            "dividends",
            format_minor(dividend.gross),
            f"{dividend.rate}% of {format_minor(share_class.price)} for each share on {dividend.record_date}, "
            f"rounded for each member, of whom there are {dividend.members}",
        ),
        DryRunFigure("withheld tax", format_minor(tax), f"{share_class.tax_rate}% of each dividend"),
        DryRunFigure("net", format_minor(dividend.gross - tax), "into the members' savings"),
    ]
    return Decision(reply=DividendReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=figures))


def declare(dividend: Dividend, context: Context, rows: LoadedRows) -> Decision[DividendReply] | NeedsMore:
    """Takes the sum out of the wallet, and schedules its payment at once."""
    account = chart.dividend(dividend.dividend_id)
    needs = Needs(((Account, account_key(dividend.merchant_id, account)),), (account,))
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    post = Posting(WALLET, account, dividend.gross, "dividend declared")
    job = make_job(
        key=job_key(dividend.key),
        merchant_id=dividend.merchant_id,
        kind=PAY_DIVIDEND,
        lane=LANE,
        reference=dividend.dividend_id,
        subject=dividend.key,
        due=context.now,
    )
    report = report_dividend(dividend, 1, context)
    return Decision(
        reply=DividendReply(message="Dividend Declared", data=make_dividend_record(dividend)),
        groups=(PostingGroup(dividend.dividend_id, WALLET_INSUFFICIENT, postings=(post,)),),
        rows=(dividend,),
        jobs=(job, *report.jobs),
        events=(report.event,),
        numbers_used=1,
    )


def report_dividend(dividend: Dividend, number: int, context: Context) -> ObjectEvent:
    """Returns an event of a dividend: the first when it was declared, the second when every member has it."""
    fields: dict[str, Any] = {
        "txn_status": "successful" if dividend.state == PAID else "pending",
        "charged_amount": format_minor(dividend.paid),
        "payment_method": "wallet",
        "currency": "NGN",
        "class_id": dividend.class_id,
        "step": "paid" if dividend.state == PAID else "declared",
        "rate": dividend.rate,
        "record_date": dividend.record_date.isoformat(),
        "members": dividend.members,
        "gross": format_minor(dividend.gross),
        "withheld_tax": format_minor(dividend.tax),
        "returned": format_minor(dividend.returned),
    }
    return make_object_event(context, EVENT_KIND, dividend, dividend.dividend_id, number, fields)


# --- paying -------------------------------------------------------------------------------------------------


def need_dividend_page(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    accounts = chart.dividend(job.reference), WALLET, WITHHOLDING
    return Needs(((Job, job.key), (Dividend, job.subject)), accounts)


def decide_dividend_page(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Pays the members of one page of the register."""
    current, dividend = rows.get(Job, job.key), rows.get(Dividend, job.subject)
    if current is None or current.due != job.due or dividend is None or dividend.state == PAID:
        return Decision()
    members = load_members(dividend, rows)
    if isinstance(members, NeedsMore):
        return members
    changes = SavingsChanges(context, rows)
    more = need_creditors(members, changes)
    if more is not None:
        return more
    paid = msgspec.structs.replace(dividend, page=dividend.page + 1)
    for savings_id, member in members.items():
        pay_member(paid, savings_id, member, changes)
    group = PostingGroup(dividend.dividend_id, WALLET_INSUFFICIENT, postings=tuple(changes.posts))
    decision: Decision = Decision(groups=(group,) if changes.posts else (), rows=(paid, *changes.rows))
    if paid.page < count_pages(dividend.holders):
        due = max(context.now, current.due + PAGE_INTERVAL)
        decision.jobs = (msgspec.structs.replace(current, attempt=current.attempt + 1, due=due),)
        return decision
    paid.state, paid.paid_at = PAID, context.now
    report = report_dividend(paid, 2, context)
    decision.jobs, decision.jobs_done, decision.events = report.jobs, (current,), (report.event,)
    return decision


def load_members(dividend: Dividend, rows: LoadedRows) -> dict[str, MemberDividend] | NeedsMore:
    """Returns the dividends of the page that is paid next, by the savings that receive them."""
    merchant_id, class_id = dividend.merchant_id, dividend.class_id
    needs = Needs(
        (
            (ShareClass, class_key(merchant_id, class_id)),
            (RegisterPage, page_key(merchant_id, class_id, dividend.page)),
        )
    )
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    share_class = rows.get(ShareClass, class_key(merchant_id, class_id))
    page = rows.get(RegisterPage, page_key(merchant_id, class_id, dividend.page))
    assert share_class is not None, "a dividend is of a class"
    assert page is not None, "it is of a class with a register"
    holdings = load_holdings((page,), rows)
    if isinstance(holdings, NeedsMore):
        return holdings
    needs = need_savings(merchant_id, [holding.savings_id for holding in holdings])
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    dividends = list_dividends(holdings, share_class, dividend.rate, dividend.record_date)
    return {one.savings_id: dividends[one.client_id] for one in holdings if one.client_id in dividends}


def is_closed(savings_id: str, changes: SavingsChanges) -> bool:
    savings = changes.seen.get(Savings, savings_key(changes.merchant_id, savings_id))
    return savings is None or savings.state == CLOSED


def need_creditors(members: Mapping[str, MemberDividend], changes: SavingsChanges) -> NeedsMore | None:
    """Returns NeedsMore for whoever the members of a page owe thrift debts to, all at once, or None if they are
    loaded."""
    return need_debt_repayments(
        changes, {savings_id: one.net for savings_id, one in members.items() if not is_closed(savings_id, changes)}
    )


def pay_member(dividend: Dividend, savings_id: str, member: MemberDividend, changes: SavingsChanges) -> None:
    """Posts one member's dividend and counts it. That of closed savings returns to the wallet."""
    account = chart.dividend(dividend.dividend_id)
    if is_closed(savings_id, changes):
        changes.posts.append(Posting(account, WALLET, member.gross, "dividend returned"))
        dividend.returned += member.gross
        return
    savings = chart.savings(savings_id)
    changes.posts.append(Posting(account, savings, member.gross, "dividend"))
    if member.tax:
        changes.posts.append(Posting(savings, WITHHOLDING, member.tax, "dividend tax"))
    more = receive_deposit(changes, savings_id, member.net)
    assert more is None, "whoever is owed is loaded"
    dividend.paid += member.gross
    dividend.tax += member.tax
    dividend.members_paid += 1
