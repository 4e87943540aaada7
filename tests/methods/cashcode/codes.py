"""Cashcodes for the pure tests: an order as a merchant sends it, and an active code."""

from datetime import timedelta
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Needs, NeedsMore, Outcome, Refusal, Row
from kasuwa.core.references import account_key
from kasuwa.methods.cashcode.actions import GENERATE_RULES
from kasuwa.methods.cashcode.rules.finish import decide_cancel, decide_expiry, need_cancel, need_expiry
from kasuwa.methods.cashcode.rules.issue import decide_generate, need_generate
from kasuwa.methods.cashcode.rules.redeem import decide_redeem, need_redeem
from kasuwa.methods.cashcode.wire import GenerateRequest, OrderRequest, RedeemRequest
from kasuwa.rails.ports.orders import NO_CALL_MADE
from kasuwa.wire.decoding import decode
from tests.rule_context import MERCHANT, context

ORDER: dict[str, Any] = {"amount": "5000.00", "pin": "2580", "channel": "ATM", "orderRef": "cash-1"}


def read(fields: dict[str, Any], of: Any = MERCHANT) -> Any:
    return decode(GenerateRequest, msgspec.json.encode(fields), GENERATE_RULES, of)


def order(**changes: Any) -> GenerateRequest:
    request = read({name: value for name, value in (ORDER | changes).items() if value is not None})
    assert isinstance(request, GenerateRequest), request
    return request


class InMemoryCashcodes:
    """The rows of one merchant. Runs rules as the writer does, also again on NeedsMore."""

    def __init__(self, *rows: Row) -> None:
        self.rows: dict[bytes, Row] = {row.key: row for row in rows}
        self.rounds = 0

    def decide(self, rule: Any, needs: Needs, given: Context) -> Outcome:
        asked: dict[bytes, Row | None] = {}
        for self.rounds in range(5):
            merchant_id = given.merchant.merchant_id
            keys = [key for _, key in needs.rows] + [account_key(merchant_id, name) for name in needs.accounts]
            asked |= {key: self.rows.get(key) for key in keys}
            outcome: Outcome = rule(given, LoadedRows(asked))
            if not isinstance(outcome, NeedsMore):
                return outcome
            needs = outcome.needs
        raise AssertionError("the writer would have given up")

    def apply(self, decision: Decision) -> Decision:
        for row in (*decision.rows, *decision.jobs):
            self.rows[row.key] = row
        for job in decision.jobs_done:
            del self.rows[job.key]
        return decision

    def one(self, kind: type[Row]) -> Any:
        [found] = [row for row in self.rows.values() if type(row) is kind]
        return found

    # --- what merchants and tellers ask ----------------------------------------------------------------------

    def generate(self, given: Context | None = None, **changes: Any) -> Outcome:
        given, request = given or context(), order(**changes)
        needs = need_generate(request, given.merchant)
        return self.decide(lambda c, seen: decide_generate(request, c, seen), needs, given)

    def redeem(self, given: Context | None = None, **changes: Any) -> Outcome:
        given = given or context()
        fields = {"amount": "5000.00", "pin": "2580", "channel": "ATM"} | changes
        request = decode(RedeemRequest, msgspec.json.encode(fields), (), given.merchant)
        assert isinstance(request, RedeemRequest), request
        needs = need_redeem(request, given.merchant)
        return self.decide(lambda c, seen: decide_redeem(request, c, seen), needs, given)

    def cancel(self, order_ref: str = "cash-1", given: Context | None = None) -> Outcome:
        given, request = given or context(), OrderRequest(order_ref=order_ref)
        needs = need_cancel(request, given.merchant)
        return self.decide(lambda c, seen: decide_cancel(request, c, seen), needs, given)

    def expire(self, job: Job, given: Context | None = None) -> Outcome:
        given = given or context(job.due)
        needs = need_expiry(job, NO_CALL_MADE, given.merchant)
        return self.decide(lambda c, seen: decide_expiry(job, NO_CALL_MADE, c, seen), needs, given)


def active_cashcode(**changes: Any) -> tuple[InMemoryCashcodes, str]:
    """Returns rows with one active code, and its digits."""
    table = InMemoryCashcodes()
    decision = table.generate(**changes)
    assert isinstance(decision, Decision), decision
    table.apply(decision)
    return table, decision.reply.cashcode


def later(**stretch: float) -> Context:
    return context(context().now + timedelta(**stretch))


def refusal(outcome: Outcome) -> Refusal:
    """Returns the refusal, also of a decision that stores something."""
    reply = outcome.reply if isinstance(outcome, Decision) else outcome
    assert isinstance(reply, Refusal), reply
    return reply
