"""Who may not approve what waits for another party, in the order in which it is asked."""

import msgspec
import pytest

from kasuwa.core.callers import Caller
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Refusal
from kasuwa.transactions.second_party import COOLING_OFF, SecondParty, find_maker
from tests.rule_context import context, merchant
from tests.test_tidy import SERVICE

OWN = Refusal(INVALID_REQUEST, "your own", error_code="own")
ENDED = Refusal(INVALID_REQUEST, "ended", error_code="ended")
APPROVAL = SecondParty(OWN, ENDED)
MAKER = Caller("payroll", 2, ("payout",), 2)
OTHER_MAKER = Caller("shop", 4, ("payout",), 4)
APPROVER = Caller("finance", 3, ("approve",), 3)
NEW = Caller("new", 5, ("approve",), 5, is_cooling_off=True)


def by(caller: Caller) -> Context:
    return context(merchant=msgspec.structs.replace(merchant(), caller=caller))


@pytest.mark.parametrize(
    ("makers", "approver", "ended", "answer"),
    [
        ((MAKER,), APPROVER, frozenset(), None),
        ((MAKER,), MAKER, frozenset(), OWN),
        ((MAKER,), msgspec.structs.replace(MAKER, key_id=9), frozenset(), OWN),
        ((OTHER_MAKER, MAKER), MAKER, frozenset(), OWN),
        ((MAKER,), NEW, frozenset(), COOLING_OFF),
        ((NEW,), NEW, frozenset(), OWN),
        ((MAKER,), APPROVER, frozenset({MAKER}), ENDED),
        ((MAKER, OTHER_MAKER), APPROVER, frozenset({OTHER_MAKER}), ENDED),
        ((MAKER, OTHER_MAKER, MAKER), APPROVER, None, Decision(question=(MAKER, OTHER_MAKER))),
        ((MAKER,), MAKER, None, OWN),
        ((MAKER,), NEW, None, COOLING_OFF),
    ],
)
def test_an_approver_is_barred_by_who_made_it(
    makers: tuple[Caller, ...],
    approver: Caller,
    ended: frozenset[Caller] | None,
    answer: Decision[object] | Refusal | None,
) -> None:
    assert APPROVAL.bar(makers, by(approver), ended) == answer


def test_it_is_asked_in_one_place() -> None:
    asking = [source.path for source in SERVICE if "is_same_party(" in source.text]
    assert sorted(asking) == ["core/callers.py", "transactions/second_party.py"]


def test_a_maker_is_kept_in_one_way() -> None:
    kept = [source.path for source in SERVICE if "context.merchant.caller, addresses=()" in source.text]
    assert kept == ["transactions/second_party.py"]
    assert find_maker(by(msgspec.structs.replace(MAKER, addresses=("192.0.2.0/24",)))) == MAKER
