"""Decisions on several loans of a group in one request: each by the rule of a single loan, one after the other.

Every part is decided once beforehand, so that all rows are loaded and it is known which parts are possible. Then they
are decided as sub-decisions, each on what the ones before have changed, and committed together.

Contract: loans#groups
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Decision, Needs, NeedsMore, Refusal
from kasuwa.core.keyring import derive
from kasuwa.methods.loans.model import Loan

Outcome = Decision[Any] | Refusal | NeedsMore
# Decides one part, given the context of its own.
Part = Callable[[Context], Outcome]


def context_of_part(context: Context, place: int) -> Context:
    """Returns the context of one part, from 1: its random bytes and its reference number are its own."""
    return msgspec.structs.replace(
        context, number=context.number + place, entropy=derive(context.entropy, f"part {place}")
    )


def find_loan(decision: Decision[Any]) -> Loan:
    """Returns the loan that a part has made or changed."""
    return next(row for row in decision.rows if isinstance(row, Loan))


def try_parts(parts: Sequence[Part], context: Context) -> list[Decision[Any] | Refusal] | NeedsMore:
    """Returns what each part would do by itself, or all rows that they still need."""
    outcomes: list[Decision[Any] | Refusal] = []
    missing: list[Needs] = []
    for place, part in enumerate(parts, start=1):
        outcome = part(context_of_part(context, place))
        if isinstance(outcome, NeedsMore):
            missing.append(outcome.needs)
        else:
            outcomes.append(outcome)
    if not missing:
        return outcomes
    rows = dict.fromkeys(row for needs in missing for row in needs.rows)
    accounts = dict.fromkeys(name for needs in missing for name in needs.accounts)
    return NeedsMore(Needs(tuple(rows), tuple(accounts)))


def run_parts(parts: Sequence[Part], context: Context) -> Iterator[Decision[Any] | Refusal]:
    """Yields the parts as sub-decisions. A worker runs their jobs: nobody waits for one of them."""
    for place, part in enumerate(parts, start=1):
        outcome = part(context_of_part(context, place))
        assert isinstance(outcome, Decision | Refusal), "the rows of all parts are loaded"
        if isinstance(outcome, Decision):
            outcome.numbers_used, outcome.follow_up = 0, None  # the whole has reserved the numbers of all parts
            if outcome.sandbox is not None and outcome.sandbox.injected_faults is not None:
                context = msgspec.structs.replace(context, injected_faults=outcome.sandbox.injected_faults)
        yield outcome
