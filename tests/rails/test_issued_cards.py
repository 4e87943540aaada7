"""Cards issued here in front of the card rail: which go to our issuer, which on, and what is asked after whom."""

import asyncio
from typing import Any

import msgspec
import pytest

from kasuwa.core.scenario import Scenario
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import (
    CaptureOrder,
    LostDispute,
    PurchaseOrder,
    RefundOrder,
    ReleaseOrder,
    TakeBackOrder,
)
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, NoAnswer, Unavailable
from kasuwa.rails.routing.issued_cards import IssuedCardRail
from kasuwa.rails.sandbox.collection import SandboxCards
from kasuwa.rails.sandbox.magic import outcome_of_card
from kasuwa.terms.issuing import DEFAULT_ISSUING

PAID = Answer(orders.SUCCESSFUL, "00", "Approved", {"txnRef": "GP|CP|1"})
SHORT = Answer(orders.FAILED, "51", "Insufficient funds", {"txnRef": "GP|CP|2"})
NEVER = Answer(orders.NOT_FOUND, "25", "Unable to locate record")

OURS = CardSecrets("4000001234567899", "03", "29", "321", "1111")
THEIRS = CardSecrets("4111110000000013", "12", "30", "100", "1234")


class FakeIssuer:
    """An issuer that always gives the same answer and records what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    async def authorize(self, order: PurchaseOrder) -> Answer:
        self.asked.append(order)
        return self.answer

    async def refund(self, order: RefundOrder) -> Answer:
        self.asked.append(order)
        return self.answer

    async def take_back(self, order: TakeBackOrder) -> Answer:
        self.asked.append(order)
        return self.answer

    async def capture(self, order: CaptureOrder) -> Answer:
        self.asked.append(order)
        return self.answer

    async def release(self, order: ReleaseOrder) -> Answer:
        self.asked.append(order)
        return self.answer

    async def lose_dispute(self, lost: LostDispute) -> Answer:
        self.asked.append(lost)
        return self.answer

    async def query(self, key: str) -> Answer:
        self.asked.append(key)
        return self.answer


def rail(answer: Answer = PAID) -> tuple[IssuedCardRail, FakeIssuer]:
    issuer = FakeIssuer(answer)
    return IssuedCardRail(SandboxCards(), issuer, DEFAULT_ISSUING), issuer


def order(method: str = "card", **changes: Any) -> CollectionOrder:
    plain = CollectionOrder("7 GP1", method, 150_000, "NGN", merchant_name="Ada Stores")
    return msgspec.structs.replace(plain, **changes)


def run(call: Any) -> Answer:
    answer: Answer = asyncio.run(call)
    return answer


# --- ours -----------------------------------------------------------------------------------------------------------


def test_a_card_of_ours_begins_with_nobody_asked() -> None:
    cards, issuer = rail()
    begun = run(cards.begin(order(), OURS))
    assert (begun.status, begun.facts) == (orders.SUCCESSFUL, {"session": "issued", "auth": "PIN"})
    assert issuer.asked == []


def test_its_charge_is_a_purchase_under_the_merchants_key() -> None:
    cards, issuer = rail()
    answer = run(cards.charge(order(session="issued"), OURS))
    assert (answer.status, answer.code, answer.facts) == (orders.SUCCESSFUL, "00", {"session": "issued"})
    assert issuer.asked == [PurchaseOrder("7 GP1", OURS.number, "2029-03", "321", 150_000, "NGN", "Ada Stores")]


def test_a_saved_card_is_charged_without_its_cvv() -> None:
    cards, issuer = rail()
    answer = run(cards.charge(order("token"), msgspec.structs.replace(OURS, cvv="")))
    assert (answer.facts, issuer.asked[0].cvv) == ({"session": "issued"}, None)


def test_a_card_without_a_cvv_is_asked_for_with_none_that_could_be_right() -> None:
    cards, issuer = rail()
    run(cards.charge(order(session="issued"), msgspec.structs.replace(OURS, cvv="")))
    assert issuer.asked[0].cvv == ""


def test_a_decline_is_the_issuers_and_a_number_never_issued_is_invalid() -> None:
    declined = run(rail(SHORT)[0].charge(order(session="issued"), OURS))
    assert (declined.status, declined.code, declined.message) == (orders.FAILED, "51", "Insufficient funds")
    unknown = run(rail(NEVER)[0].charge(order(session="issued"), OURS))
    assert (unknown.status, unknown.code) == (orders.FAILED, "14")


@pytest.mark.parametrize("answer", [PAID, SHORT, NEVER])
def test_what_became_of_it_is_asked_by_its_key(answer: Answer) -> None:
    cards, issuer = rail(answer)
    for asked, card in ((order(session="issued"), None), (order("token"), OURS)):
        found = run(cards.query(asked, card))
        assert (found.status, found.code) == (answer.status, answer.code)
    assert issuer.asked == ["7 GP1", "7 GP1"]


@pytest.mark.parametrize(("http", "status"), [("timeout", orders.SUCCESSFUL), ("reset", orders.NOT_FOUND)])
def test_a_lost_session_of_an_issued_card_is_found_here_and_not_at_the_rail_behind(http: str, status: str) -> None:
    cards, issuer = rail(NEVER)
    outcome = outcome_of_card(OURS.number, OURS.cvv, OURS.pin)
    lost = order(
        step=orders.BEGIN, is_issued_here=True, sandbox_outcome=outcome, age_seconds=5, scenario=Scenario(http=http)
    )
    found = run(cards.query(lost, None))
    assert found.status == status
    assert found.facts == ({"session": "issued", "auth": "PIN"} if status == orders.SUCCESSFUL else {})
    assert issuer.asked == []


def test_a_lost_charge_of_an_issued_card_is_not_asked_of_the_rail_behind() -> None:
    outcome = outcome_of_card(OURS.number, OURS.cvv, OURS.pin)
    lost = order(step=orders.CHARGE, is_issued_here=True, sandbox_outcome=outcome, age_seconds=5)
    assert run(rail(NEVER)[0].query(lost, None)).status == orders.NOT_FOUND


def test_it_is_refunded_by_the_keys_of_both() -> None:
    cards, issuer = rail()
    back = order(key="7 GP|RF|1", refund_of="7 GP1", amount=400, session="issued")
    assert run(cards.refund(back)).status == run(cards.query_refund(back)).status == orders.SUCCESSFUL
    assert issuer.asked == [RefundOrder("7 GP|RF|1", "7 GP1", 400), "7 GP|RF|1"]


def test_a_delayed_answer_arrives_after_its_delay() -> None:
    cards, _ = rail()
    later = Scenario(delay=60)
    waiting = order(session="issued", scenario=later)
    assert run(cards.charge(waiting, OURS)).status == orders.UNKNOWN
    assert run(cards.query(waiting, None)).status == orders.UNKNOWN
    assert run(cards.query(msgspec.structs.replace(waiting, age_seconds=60), None)).status == orders.SUCCESSFUL
    assert run(cards.refund(waiting)).status == orders.UNKNOWN
    assert run(rail(SHORT)[0].refund(waiting)).status == orders.FAILED


@pytest.mark.parametrize(("http", "raised"), [("unavailable", Unavailable), ("reset", NoAnswer), ("timeout", NoAnswer)])
def test_a_line_may_break_before_anything_was_begun(http: str, raised: type[Exception]) -> None:
    cards, _ = rail()
    with pytest.raises(raised):
        run(cards.begin(order(scenario=Scenario(http=http)), OURS))


def test_a_line_that_refused_is_back_for_the_next_call() -> None:
    cards, issuer = rail()
    refused = order("token", scenario=Scenario(http="unavailable", webhook="dup"))
    run(cards.charge(refused, OURS))
    run(cards.charge(msgspec.structs.replace(refused, age_seconds=5), OURS))
    assert [asked.scenario.http for asked in issuer.asked] == ["unavailable", None]


# --- somebody else's ------------------------------------------------------------------------------------------------


def test_any_other_card_goes_on_to_the_rail_behind_and_our_issuer_hears_nothing() -> None:
    cards, issuer = rail()
    begun = run(cards.begin(order(), THEIRS))
    assert begun.facts["auth"] == "PIN"
    session = begun.facts["session"]
    assert session != "issued"
    known = order(session=session)
    for call in (cards.charge(known, THEIRS), cards.refund(known)):
        assert run(call).status == orders.SUCCESSFUL
    assert run(cards.validate(known, "123456")).status == orders.SUCCESSFUL
    outcome = outcome_of_card(THEIRS.number, THEIRS.cvv, THEIRS.pin)
    late = msgspec.structs.replace(known, step=orders.CHARGE, sandbox_outcome=outcome, age_seconds=5)
    for call in (cards.query(late, None), cards.query_refund(late)):
        assert run(call).status == orders.SUCCESSFUL
    assert run(cards.charge(order("token"), THEIRS)).facts["session"].startswith("sbx-")
    assert issuer.asked == []


def test_an_order_without_a_session_is_asked_of_our_issuer_first() -> None:
    """Begun and charged in one step, and whoever did it died: it may have been a purchase."""
    lost = order(age_seconds=5)
    assert run(rail(PAID)[0].query(lost, None)).status == orders.SUCCESSFUL
    cards, issuer = rail(NEVER)
    assert run(cards.query(lost, None)).status == orders.NOT_FOUND
    assert run(cards.query(order("token", age_seconds=5), THEIRS)).status == orders.SUCCESSFUL
    assert run(cards.query_refund(lost)).status == orders.SUCCESSFUL
    assert run(cards.refund(lost)).status == orders.SUCCESSFUL
    assert len(issuer.asked) == 4
