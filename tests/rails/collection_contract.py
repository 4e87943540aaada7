"""The contract of a collection rail, as checks that every adapter must pass (`CollectionRail` in
rails/ports/orders.py).

Each check takes a step whose answer is lost, asks after it, and compares what is said with what the same step answers
when nothing is lost. None may find a payment successful without the payer's proof.

An adapter is tested through a `RailHarness`: a rail, the payers it can be tried with, and a way to lose an answer. For
a live adapter that is a test account at the provider and a connection that is cut after the request has left.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import msgspec

from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, CollectionRail, NoAnswer

# Facts that the caller needs to go on from where the lost step would have led.
NEEDED_FACTS = ("auth", "session", "ussd_code")
# Those that each order has for itself.
OWN_FACTS = ("session", "ussd_code")


class Payer(msgspec.Struct, frozen=True):
    """A payer with a card, an account, or a wallet's page. A saved card has neither CVV nor PIN."""

    method: str = "card"
    card: CardSecrets | None = None
    account: str = ""
    provider: str = ""


class RailHarness(Protocol):
    """`send` takes a step and answers what the rail says; `lose` does the same, but the answer never arrives (it raises
    NoAnswer, as the adapter does); `ask` is the query that follows. Orders are new ones from `order`; `proved` tells
    what the caller knows of a code that it has sent."""

    rail: CollectionRail
    right_otp: str
    wrong_otp: str

    def order(self, payer: Payer) -> CollectionOrder: ...

    def run(self, call: Coroutine[Any, Any, Answer]) -> Answer: ...

    def losing(self, order: CollectionOrder) -> CollectionOrder:
        """The order of a step that the rail will take and whose answer will be lost."""
        ...

    def asked(
        self, order: CollectionOrder, step: str, card: CardSecrets | None, otp: str | None = ""
    ) -> CollectionOrder:
        """The order as it is asked after, once the rail has had the time to finish: a query has no secrets."""
        ...


Step = Callable[[CollectionOrder], Coroutine[Any, Any, Answer]]


def compare(
    harness: RailHarness, order: CollectionOrder, sent: Step, asked: CollectionOrder, recalled: CardSecrets | None
) -> Answer:
    """Asserts that a query after a lost answer finds what the step answers when it is not lost, and returns it."""
    expected = harness.run(sent(order))
    lost = harness.losing(order)
    try:
        harness.run(sent(lost))
    except NoAnswer:
        pass
    else:
        raise AssertionError("the answer was to be lost")
    found = harness.run(harness.rail.query(asked, recalled))
    assert (found.status, found.code, found.message) == (expected.status, expected.code, expected.message)
    for name in NEEDED_FACTS:
        known = getattr(asked, name, "")
        same = (found.facts.get(name, known), expected.facts.get(name, known))
        if lost.key != order.key and name in OWN_FACTS:
            # A vendor takes a key once, so that the lost order is another one, with identifiers of its own.
            same = (bool(same[0]), bool(same[1]))
        assert same[0] == same[1], name
    return found


def begun(harness: RailHarness, payer: Payer) -> CollectionOrder:
    """An order whose session is open."""
    order = harness.order(payer)
    answer = harness.run(harness.rail.begin(order, payer.card))
    return msgspec.structs.replace(order, session=answer.facts.get("session", ""))


# --- the checks ---------------------------------------------------------------------------------------------------


def check_lost_begin(harness: RailHarness, payer: Payer) -> Answer:
    """The session is found with what the payer must do, and is no charge."""
    order = harness.order(payer)
    asked = harness.asked(harness.losing(order), orders.BEGIN, payer.card)
    found = compare(harness, order, lambda given: harness.rail.begin(given, payer.card), asked, None)
    assert found.facts["auth"]
    return found


def check_lost_page(harness: RailHarness, payer: Payer) -> Answer:
    """Checks a lost begin whose answer named a page: it is found again, or the payment has failed, as nobody saw it."""
    lost = harness.losing(harness.order(payer))
    try:
        harness.run(harness.rail.begin(lost, None))
    except NoAnswer:
        pass
    else:
        raise AssertionError("the answer was to be lost")
    found = harness.run(harness.rail.query(harness.asked(lost, orders.BEGIN, None), None))
    assert found.status == orders.FAILED or (found.status == orders.CHALLENGE and found.facts["url"]), found
    return found


def check_lost_refund(harness: RailHarness, payer: Payer, refund: CollectionOrder) -> Answer:
    """Checks a lost refund: it is found as it was taken, and one that never arrived is not found, or not known yet."""
    never_sent = msgspec.structs.replace(refund, key=f"{refund.key}B")
    missing = harness.run(harness.rail.query_refund(never_sent))
    assert missing.status in (orders.NOT_FOUND, orders.UNKNOWN), missing
    try:
        harness.run(harness.rail.refund(refund))
    except NoAnswer:
        pass
    else:
        raise AssertionError("the answer was to be lost")
    found = harness.run(harness.rail.query_refund(refund))
    assert found.status in (orders.SUCCESSFUL, orders.PROCESSING), found
    return found


def check_lost_charge(harness: RailHarness, payer: Payer) -> Answer:
    """Checks a lost charge. A card is approved or declined by its PIN, else the payer is still to be asked."""
    order = begun(harness, payer)
    asked = harness.asked(harness.losing(order), orders.CHARGE, payer.card)
    return compare(harness, order, lambda given: harness.rail.charge(given, payer.card), asked, None)


def check_lost_validate(harness: RailHarness, payer: Payer, otp: str | None) -> Answer:
    """A right code, a wrong one, or None where the payer declined."""
    order = begun(harness, payer)
    asked = harness.asked(harness.losing(order), orders.VALIDATE, payer.card, otp)
    return compare(harness, order, lambda given: harness.rail.validate(given, otp), asked, None)


def check_lost_saved_card(harness: RailHarness, payer: Payer) -> Answer:
    order = harness.order(payer)
    asked = harness.asked(harness.losing(order), orders.CHARGE, payer.card)
    return compare(harness, order, lambda given: harness.rail.charge(given, payer.card), asked, payer.card)


def check_nothing_proved(harness: RailHarness, payer: Payer, step: str) -> Answer:
    """Asked after with nothing known but the order itself, as after a crash: never successful."""
    order = begun(harness, payer)
    found = harness.run(harness.rail.query(msgspec.structs.replace(order, step=step, age_seconds=3600), None))
    assert found.status in (orders.CHALLENGE, orders.NOT_FOUND, orders.UNKNOWN, orders.PROCESSING), found
    return found
