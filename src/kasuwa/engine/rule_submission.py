"""Submits a rule to the writer outside a request: for operations of the sandbox and call-backs of rails."""

from collections.abc import Callable

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, Outcome
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.engine.decision_inputs import DecisionInput
from kasuwa.engine.entropy import draw_entropy
from kasuwa.engine.writer import Writer
from kasuwa.postgres.columns import describe_columns
from kasuwa.transactions.transactions import Transaction

TRANSACTION_COLUMNS = ", ".join(describe_columns(Transaction).names)


async def submit_rule(
    writer: Writer,
    merchant: Merchant,
    needs: Needs,
    rule: Callable[[Context, LoadedRows], Outcome],
    sent: DecisionInput | None = None,
) -> Decision:
    """Returns the decision of a rule. `sent` is what it decides on, to be recorded."""
    result = await writer.submit(Submission(merchant, needs, rule, draw_entropy(), sent=sent))
    if isinstance(result, RuleFailure):
        raise result.error
    assert isinstance(result, Decision), result
    return result
