"""The rail of an account: chosen when the account is ordered, and changed only while certainly nothing has left."""

from itertools import product

import msgspec
import pytest

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Refusal
from kasuwa.core.references import job_key
from kasuwa.core.routing import RailDemand
from kasuwa.methods.resources.model import ACCOUNT_JOB_DECODER
from kasuwa.methods.resources.rules.open_account import BVN_REQUIRED, decide_account_answer, decide_personalized
from kasuwa.methods.resources.wire import PersonalizedRequest
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import RAIL_SILENT, RAIL_UNAVAILABLE, Answer
from kasuwa.terms.accounts import AccountTerms
from kasuwa.transactions.inbound_accounts import PersonalizedAccountRow, personalized_key
from tests.rule_context import MERCHANT, context, merchant

TERMS = AccountTerms(("monnify", "paystack"), frozenset({"monnify", "paystack", "remote"}), frozenset({"monnify"}))
KEY = personalized_key(MERCHANT.merchant_id, "r 1")
WITH_BVN = PersonalizedRequest(name="Ada Obi", reference="r 1", email="ada@example.com", bvn="22212345678")
WITHOUT = msgspec.structs.replace(WITH_BVN, bvn=None)
NOT_SENT = msgspec.structs.replace(RAIL_UNAVAILABLE, is_unsent=True)
ANSWERS = (NOT_SENT, RAIL_UNAVAILABLE, RAIL_SILENT, Answer(orders.PROCESSING, "09", ""))


class Rails:
    """Chooses the first of those that may open an account and are not away."""

    def __init__(self, *away: str) -> None:
        self.away = away

    def choose(self, demand: RailDemand, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        assert demand == RailDemand("accounts")
        able = [name for name in preferred if name != avoided and name not in self.away]
        return able[0] if able else avoided or preferred[0]

    def count_rails(self, purpose: str, preferred: tuple[str, ...] = ()) -> int:
        return len(preferred)

    def find_account(self, rail: str, kept: str = "") -> str:
        return kept or f"account with {rail}"


def given(*away: str, own: tuple[str, ...] = ()) -> Context:
    made = context(merchant=merchant(rails={"accounts": own} if own else {}))
    made.deployment_terms, made.rail_chooser = {AccountTerms: TERMS}, Rails(*away)
    return made


def order(made: Context, request: PersonalizedRequest = WITH_BVN) -> tuple[PersonalizedAccountRow, Job]:
    decision = decide_personalized(request, made, LoadedRows({KEY: None}))
    assert isinstance(decision, Decision), decision
    [row], [job] = decision.rows, decision.jobs
    assert isinstance(row, PersonalizedAccountRow)
    job.claims = 1
    assert row.rail == job.rail == ACCOUNT_JOB_DECODER.decode(job.work).rail
    return row, job


def answer(row: PersonalizedAccountRow, job: Job, reply: Answer, made: Context) -> tuple[str, Decision]:
    """Returns the rail that the account has afterwards, with the decision."""
    decision = decide_account_answer(job, reply, made, LoadedRows({KEY: row, job_key(KEY): job}))
    assert isinstance(decision, Decision)
    [changed], [next_job] = decision.rows, decision.jobs
    assert isinstance(changed, PersonalizedAccountRow)
    assert changed.rail == next_job.rail == ACCOUNT_JOB_DECODER.decode(next_job.work).rail
    return changed.rail, decision


def test_first_rail_opens_an_account_and_the_second_while_it_is_away() -> None:
    assert order(given())[0].rail == "monnify"
    assert order(given("monnify"))[0].rail == "paystack"
    assert order(given(own=("remote", "monnify")))[0].rail == "remote"


def test_rail_that_requires_a_bvn_is_left_out_where_none_is_given() -> None:
    assert order(given(), WITHOUT)[0].rail == "paystack"
    refused = decide_personalized(WITHOUT, given(own=("monnify",)), LoadedRows({KEY: None}))
    assert isinstance(refused, Refusal)
    assert refused == BVN_REQUIRED


def test_account_that_was_not_sent_is_opened_by_the_second_rail_at_once() -> None:
    made = given()
    row, job = order(made)
    rail, decision = answer(row, job, NOT_SENT, made)
    assert rail == "paystack"
    assert decision.follow_up is decision.jobs[0]
    assert decision.jobs[0].due == made.now


@pytest.mark.parametrize(("reply", "claims", "is_fixed"), list(product(ANSWERS, (1, 2), (False, True))))
def test_account_moves_only_if_certainly_nothing_has_left(reply: Answer, claims: int, is_fixed: bool) -> None:
    made = given()
    row, job = order(made)
    job.claims, job.is_rail_fixed = claims, is_fixed
    is_moved = reply is NOT_SENT and claims == 1 and not is_fixed
    assert answer(row, job, reply, made)[0] == ("paystack" if is_moved else "monnify")


def test_account_without_a_bvn_does_not_move_to_a_rail_that_requires_one() -> None:
    made = given()
    row, job = order(made, WITHOUT)
    assert answer(row, job, NOT_SENT, made)[0] == "paystack"


def test_refused_order_fixes_the_rail() -> None:
    made = given()
    row, job = order(made)
    _, decision = answer(row, job, RAIL_UNAVAILABLE, made)
    assert decision.jobs[0].is_rail_fixed is True
