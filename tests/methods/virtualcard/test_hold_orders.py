"""Tests of authorizations that a rail announces: each order is decided once under its key."""

from typing import Any

import pytest

from kasuwa.methods.virtualcard.dispute_model import CardDispute
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import CaptureOrder, PurchaseOrder, RefundOrder, ReleaseOrder
from kasuwa.rails.ports.orders import Answer
from tests.methods.virtualcard.in_memory_cards import dollars

HELD, TAKEN = "remote a1", "remote c1"


class Network:
    """A card with 100.00, and a rail that announces what the network asks of it."""

    def __init__(self) -> None:
        self.counter = dollars()
        self.reference = self.counter.create()

    def ask(self, amount: int = 4_000, key: str = HELD, *, is_hold: bool = True, **fields: Any) -> Answer:
        order = PurchaseOrder(key, "", None, None, amount, "USD", "Hotel", is_hold=is_hold, country="US", **fields)
        return self.counter.authorize(order, self.reference)

    def capture(self, amount: int = 4_000, key: str = TAKEN, hold_key: str = HELD) -> Answer:
        return self.counter.capture(CaptureOrder(key, hold_key, amount))

    def release(self, *, has_expired: bool = False, key: str = HELD) -> Answer:
        return self.counter.release(ReleaseOrder(key, has_expired))

    @property
    def money(self) -> tuple[int, int]:
        return self.counter.on_card(self.reference), self.counter.held_on(self.reference)

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self.counter.database.notices]


def test_an_authorization_is_held_once_under_its_key() -> None:
    network = Network()
    first = network.ask()
    assert (first.status, first.code, network.money) == (orders.SUCCESSFUL, "00", (10_000, 4_000))
    assert network.ask() == first
    assert network.ask(4_001).code == "94"
    assert network.money == (10_000, 4_000)


def test_a_declined_authorization_stays_declined() -> None:
    network = Network()
    declined = network.ask(10_001)
    assert (declined.status, declined.code) == (orders.FAILED, "51")
    network.counter.ask("fund", reference=network.reference, amount="50")
    assert network.ask(10_001) == declined
    refused = network.capture(10_001)
    assert (refused.status, refused.message) == (orders.FAILED, "The authorization was declined; it holds nothing")


@pytest.mark.parametrize("amount", [2_500, 4_000, 4_800])
def test_a_capture_is_booked_once_under_its_key(amount: int) -> None:
    network = Network()
    network.ask()
    first = network.capture(amount)
    assert (first.status, network.money) == (orders.SUCCESSFUL, (10_000 - amount, 0))
    assert network.capture(amount) == first
    assert network.capture(amount + 1).code == "94"
    assert network.ask().status == orders.SUCCESSFUL
    again = network.capture(amount, key="remote c2")
    assert (again.status, again.message) == (orders.FAILED, "The authorization was captured already")
    assert network.money == (10_000 - amount, 0)


def test_a_capture_that_is_not_booked_is_a_notice() -> None:
    network = Network()
    network.ask()
    assert network.capture(4_801).status == orders.FAILED
    network.release()
    assert network.capture(key="remote c2").status == orders.FAILED
    assert ["is not booked" in notice for notice in network.notices] == [True, True]
    assert network.money == (10_000, 0)


def test_a_capture_above_what_the_card_holds_is_declined_with_a_notice() -> None:
    network = Network()
    network.ask(10_000)
    assert network.capture(10_001).status == orders.FAILED
    assert [notice.count("is not booked") for notice in network.notices] == [1]
    assert network.money == (10_000, 10_000)
    assert network.capture(10_000, key="remote c2").status == orders.SUCCESSFUL
    assert network.money == (0, 0)


def test_a_declined_capture_stays_declined_under_its_key() -> None:
    network = Network()
    network.ask(10_000)
    declined = network.capture(11_000)
    assert (declined.status, declined.code) == (orders.FAILED, "51")
    network.counter.ask("fund", reference=network.reference, amount="50")
    before = network.counter.rows()
    assert network.capture(11_000) == declined
    assert network.capture(10_000).code == "94"
    assert (network.money, network.counter.rows(), len(network.notices)) == ((15_000, 10_000), before, 1)
    reasons = [record.decline_reason for record in network.counter.records(network.reference)]
    assert [reason for reason in reasons if reason] == ["insufficient_funds"]
    assert network.capture(11_000, key="remote c2").status == orders.SUCCESSFUL
    assert network.money == (4_000, 0)


@pytest.mark.parametrize(
    ("amount", "ended", "reason"),
    [(4_801, False, "captured_too_much"), (4_000, True, "authorization_ended")],
)
def test_a_declined_capture_says_why(amount: int, ended: bool, reason: str) -> None:
    network = Network()
    network.ask()
    if ended:
        network.release()
    declined = network.capture(amount)
    assert (declined.status, declined.code) == (orders.FAILED, "13")
    assert network.capture(amount) == declined
    record = network.counter.records(network.reference)[-1]
    assert (record.txn_ref, record.status, record.amount) == (declined.facts["txnRef"], "Failed", amount)
    assert record.decline_reason == reason


def test_a_declined_refund_stays_declined_under_its_key() -> None:
    network = Network()
    network.ask(4_000, "remote p1", is_hold=False)
    declined = network.counter.refund(RefundOrder("remote r1", "remote p1", 4_001))
    assert (declined.status, declined.code) == (orders.FAILED, "13")
    before = network.counter.rows()
    assert network.counter.refund(RefundOrder("remote r1", "remote p1", 4_001)) == declined
    assert network.counter.refund(RefundOrder("remote r1", "remote p1", 4_000)).code == "94"
    assert (network.money, network.counter.rows(), len(network.notices)) == ((6_000, 0), before, 1)
    assert network.counter.refund(RefundOrder("remote r2", "remote p1", 4_000)).status == orders.SUCCESSFUL
    assert network.money == (10_000, 0)


def test_a_hold_is_released_once() -> None:
    network = Network()
    network.ask()
    assert [network.release().status, network.release().status] == [orders.SUCCESSFUL] * 2
    assert network.money == (10_000, 0)
    network.ask(key="remote a2")
    network.capture(key="remote c2", hold_key="remote a2")
    assert network.release(key="remote a2").status == orders.FAILED
    assert network.money == (6_000, 0)


def test_a_hold_expires_by_the_rail_or_by_itself() -> None:
    network = Network()
    network.ask()
    assert network.release(has_expired=True).status == orders.SUCCESSFUL
    network.ask(key="remote a2")
    network.counter.pass_days(8)
    assert network.money == (10_000, 0)
    late = network.capture(hold_key="remote a2")
    assert late.message == "The authorization has expired; it holds nothing any more"


def test_a_key_of_one_event_is_a_duplicate_under_another() -> None:
    network = Network()
    network.ask()
    network.ask(1_000, "remote p1", is_hold=False)
    before = network.counter.rows()
    repeats = (
        network.capture(key=HELD),
        network.capture(key="remote p1"),
        network.ask(1_000, HELD, is_hold=False),
        network.ask(key="remote p1"),
        network.counter.refund(RefundOrder("remote p1", "remote p1", 400)),
        network.counter.refund(RefundOrder(HELD, "remote p1", 400)),
    )
    assert [(answer.status, answer.code) for answer in repeats] == [(orders.FAILED, "94")] * 6
    assert (network.money, network.counter.rows()) == ((9_000, 4_000), before)


def test_unknown_orders_and_cards_are_not_found() -> None:
    network = Network()
    assert [network.capture().status, network.release().status] == [orders.NOT_FOUND] * 2
    network.reference = "none"
    assert network.ask().status == orders.NOT_FOUND


def test_a_captured_purchase_is_refunded_and_disputed_with_the_network() -> None:
    network = Network()
    network.ask()
    bought = network.capture().facts["txnRef"]
    assert network.counter.refund(RefundOrder("remote r1", TAKEN, 1_000)).status == orders.SUCCESSFUL
    request = {"reference": network.reference, "id": bought, "reason": "not received"}
    dispute_id = network.counter.ask("dispute", **request).data.dispute_id
    [dispute] = network.counter.database.all(CardDispute, 7)
    assert (dispute.shop_key, dispute.amount) == ("", 3_000)
    assert network.counter.ask("card_dispute_outcome", dispute_id=dispute_id, outcome="won").data.credited == "30.00"
    assert network.money == (10_000, 0)


def test_the_limits_of_the_card_know_the_shop() -> None:
    network = Network()
    network.counter.ask("limits", reference=network.reference, limits={"countries": ["NG"]})
    assert network.ask().code == "62"
    network.counter.ask("limits", reference=network.reference, limits={"merchants": ["SHOP-7"]})
    assert network.ask(key="remote a2").code == "57"
    assert network.ask(key="remote a3", merchant_id="shop-7").status == orders.SUCCESSFUL
    assert network.ask(1_000, "remote p1", is_hold=False, merchant_id="SHOP-7").status == orders.SUCCESSFUL
    assert network.money == (9_000, 4_000)
