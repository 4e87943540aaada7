"""Rules of fixed deposits: their terms on request, and what happens when one ends.

A fixed deposit is a savings account whose interest is posted at the end of each term (accrual.py). The job that posts
the interest ends the terms (post_interest.py) and tells of it (savings_event.py). If nothing rolls over, the deposit
matures. If the principal does, the interest stays in the account beside the new term (`Savings.unlocked`). If all does,
the interest joins the term on the day on which the wallet covers it. Contract: investments#fixed
"""

from collections.abc import Iterable

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, FieldError, LoadedRows, Merchant, Needs, Refusal, refuse_fields
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.methods.investments.accrual import accrue_to
from kasuwa.methods.investments.model import (
    ALL,
    CLOSED,
    MATURED,
    NO_ROLLOVER,
    PRINCIPAL,
    SAVINGS_CLOSED,
    UNKNOWN_SAVINGS,
    Savings,
    SavingsChanges,
    make_savings_record,
    need_savings,
    savings_key,
    state_on,
)
from kasuwa.methods.investments.wire import RolloverReply, RolloverRequest
from kasuwa.terms.savings import SavingsSettings
from kasuwa.wire.interest_wire import DryRunFigure

# Ten years; a longer term is taken for a typing error. Contract: investments#fixed
LONGEST_TERM_DAYS = 3650

# Refusals, in order of precedence: unknown savings, not fixed, closed, matured.
NOT_FIXED = refuse_fields(FieldError("savings_id", "not a fixed deposit", "not_a_fixed_deposit"))
HAS_MATURED = Refusal(
    INVALID_REQUEST,
    "The fixed deposit has matured; take it out, or open another one",
    error_code="fixed_deposit_matured",
)


# --- terms on request ---------------------------------------------------------------------------------------


def check_term_days(merchant: Merchant, term_days: int | None) -> str | None:
    if term_days is None or 1 <= term_days <= LONGEST_TERM_DAYS:
        return None
    return f"a number of days from 1 to {LONGEST_TERM_DAYS}"


def check_one_term(merchant: Merchant, term_days: int | None, period: int | None) -> str | None:
    """Returns an error unless there is either a period or a term. Contract: investments#fixed"""
    if term_days is not None and period is not None:
        return "leave it out of a fixed deposit: term_days says its term"
    return "required" if term_days is None and period is None else None


def check_rollover(merchant: Merchant, term_days: int | None, rollover: str | None) -> str | None:
    return "only with term_days" if rollover is not None and term_days is None else None


# --- the end of a term --------------------------------------------------------------------------------------


def has_ended_term(savings: Savings) -> bool:
    """Returns whether a term of a fixed deposit ended that no event has reported."""
    return savings.is_fixed and savings.months > savings.reported_terms


def close_unfunded(changes: SavingsChanges, references: Iterable[str]) -> None:
    """Closes fixed deposits that would roll over with nothing in them."""
    for savings_id in references:
        savings = changes.load_savings(savings_id)
        if has_ended_term(savings) and savings.rolls_over and changes.kept_open_by(savings_id) is None:
            changes.close(savings_id)


def keep_out_of_term(savings: Savings, interest: int) -> None:
    """Counts interest that is being posted as unlocked if only the principal of a fixed deposit rolls over.

    The balance is counted as if the interest were posted already: it is no deposit into the running term."""
    if savings.rollover == PRINCIPAL:
        savings.unlocked += interest
        savings.last_balance += interest


# --- changing what rolls over -------------------------------------------------------------------------------


def need_rollover(request: RolloverRequest, merchant: Merchant) -> Needs:
    return need_savings(merchant.merchant_id, (request.savings_id,))


def decide_rollover(request: RolloverRequest, context: Context, rows: LoadedRows) -> Decision[RolloverReply] | Refusal:
    """Changes what happens when the running term ends. What ended is not changed, and neither is what is so already."""
    savings = rows.get(Savings, savings_key(context.merchant.merchant_id, request.savings_id))
    if savings is None:
        return UNKNOWN_SAVINGS
    if not savings.is_fixed:
        return NOT_FIXED
    if savings.state == CLOSED:
        return SAVINGS_CLOSED
    changes = SavingsChanges(context, rows)
    if state_on(savings, changes.today) == MATURED:
        return HAS_MATURED
    changed = changes.load_savings(request.savings_id)
    changed.rollover = request.rollover
    account = changes.account(request.savings_id)
    months = context.merchant.terms(SavingsSettings).dormancy_months
    record = make_savings_record(changed, account.posted, account.held, [], changes.today, dormancy_months=months)
    if request.dry_run:
        figures = explain_term_end(changed, account.posted)
        reply = RolloverReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=figures)
        return Decision(reply=reply)
    changed_rows = () if savings.rollover == request.rollover else changes.rows
    return Decision(reply=RolloverReply(message="Rollover Changed", data=record), rows=changed_rows)


def explain_term_end(savings: Savings, posted: int) -> list[DryRunFigure]:
    """Returns what the end of the running term brings if nothing is deposited or taken out before."""
    earning = posted - savings.unlocked
    # As the term ends, whatever follows it.
    terms = msgspec.structs.replace(savings.terms, period=savings.months + 1, rolls_over=False)
    ended = accrue_to(savings.accrual, terms, earning, terms.matures_on)
    interest, tax = ended.due_interest, ended.due_tax
    total = posted + interest - tax
    begins = {NO_ROLLOVER: 0, PRINCIPAL: earning, ALL: total}[savings.rollover]
    rate, day = f"{savings.rate}% {savings.frequency}", terms.matures_on
    withheld = f"{savings.tax_rate}% of the interest" if savings.tax_applied else "no tax is withheld"
    new_term = f"{savings.rollover} of it begins {savings.term_days} days on {day}"
    return [
        DryRunFigure("principal", format_minor(earning), "in the running term now"),
        DryRunFigure("interest", format_minor(interest), f"due on {day}, at {rate} by the day on the principal"),
        DryRunFigure("tax", format_minor(tax), withheld),
        DryRunFigure("balance after", format_minor(total), "the balance and the interest, less tax"),
        DryRunFigure("new term", format_minor(begins), new_term if begins else "nothing rolls over"),
    ]
