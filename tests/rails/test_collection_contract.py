"""The collection rails of this repository against the contract that every adapter must pass."""

import asyncio
from collections.abc import Coroutine
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
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, CollectionRail, NoAnswer
from kasuwa.rails.routing.issued_cards import IssuedCardRail
from kasuwa.rails.sandbox.collection import SandboxCards, SandboxDebit, SandboxMobile
from kasuwa.rails.sandbox.magic import choose_proof, outcome_of_card
from kasuwa.terms.issuing import DEFAULT_ISSUING
from tests.rails.collection_contract import (
    Payer,
    check_lost_begin,
    check_lost_charge,
    check_lost_saved_card,
    check_lost_validate,
    check_nothing_proved,
)

GOOD, SHORT, SLOW = "4111110000000013", "4111115100000011", "4111110900000014"
FIRST_REQUERY_SECONDS = 5.0


def card(number: str = GOOD, cvv: str = "100", pin: str = "1234") -> CardSecrets:
    return CardSecrets(number, "12", "30", cvv, pin)


def saved(number: str = GOOD) -> CardSecrets:
    return CardSecrets(number, "12", "30")


class SandboxHarness:
    """`faults` are the ways in which an answer is lost though the rail took the step."""

    right_otp = "123456"
    wrong_otp = "000000"

    def __init__(self, rail: CollectionRail, http: str, *, issued: bool = False) -> None:
        self.rail = rail
        self._http = http
        self._issued = issued
        self._count = 0

    def order(self, payer: Payer) -> CollectionOrder:
        self._count += 1
        return CollectionOrder(
            f"7 GP{self._count:09d}20260105A",
            payer.method,
            150_000,
            "NGN",
            payer=payer.account,
            provider=payer.provider,
            is_issued_here=self._issued,
        )

    def run(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run(call)

    def losing(self, order: CollectionOrder) -> CollectionOrder:
        return msgspec.structs.replace(order, scenario=Scenario(http=self._http))

    def asked(
        self, order: CollectionOrder, step: str, card: CardSecrets | None, otp: str | None = ""
    ) -> CollectionOrder:
        outcome = order.sandbox_outcome if card is None else outcome_of_card(card.number, card.cvv, card.pin)
        if step == orders.VALIDATE:
            outcome = msgspec.structs.replace(outcome, proof=choose_proof(otp))
        return msgspec.structs.replace(order, step=step, sandbox_outcome=outcome, age_seconds=FIRST_REQUERY_SECONDS)


@pytest.fixture(params=["timeout", "500"])
def http(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- the sandbox's cards --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cvv", "auth"), [("000", "OTP"), ("100", "PIN"), ("200", "3DSecure")])
def test_a_lost_begin_is_found_with_its_session_and_authentication(http: str, cvv: str, auth: str) -> None:
    found = check_lost_begin(SandboxHarness(SandboxCards(), http), Payer(card=card(cvv=cvv)))
    assert (found.status, found.facts["auth"]) == (orders.SUCCESSFUL, auth)


@pytest.mark.parametrize("cvv", ["000", "200"])
def test_a_lost_charge_of_a_card_that_asks_its_payer_is_still_to_be_proved(http: str, cvv: str) -> None:
    found = check_lost_charge(SandboxHarness(SandboxCards(), http), Payer(card=card(cvv=cvv)))
    assert found.status == orders.CHALLENGE


@pytest.mark.parametrize(
    ("number", "pin", "code"),
    [(GOOD, "1234", "00"), (GOOD, "0000", "55"), (GOOD, "9999", "75"), (GOOD, "", "55"), (SHORT, "1234", "51")],
)
def test_a_lost_charge_with_a_pin_ends_as_the_pin_and_the_card_say(http: str, number: str, pin: str, code: str) -> None:
    found = check_lost_charge(SandboxHarness(SandboxCards(), http), Payer(card=card(number, pin=pin)))
    assert (found.status, found.code) == (orders.SUCCESSFUL if code == "00" else orders.FAILED, code)


@pytest.mark.parametrize("cvv", ["000", "200"])
@pytest.mark.parametrize(
    ("otp", "status"),
    [
        ("123456", orders.SUCCESSFUL),
        ("000000", orders.WRONG_CODE),
        ("111111", orders.WRONG_CODE),
        ("4321", orders.WRONG_CODE),
        (None, orders.FAILED),
    ],
)
def test_a_lost_code_is_found_right_wrong_or_declined_as_it_was(
    http: str, cvv: str, otp: str | None, status: str
) -> None:
    found = check_lost_validate(SandboxHarness(SandboxCards(), http), Payer(card=card(cvv=cvv)), otp)
    assert found.status == status


def test_a_lost_right_code_ends_as_the_card_says(http: str) -> None:
    found = check_lost_validate(SandboxHarness(SandboxCards(), http), Payer(card=card(SHORT, "000")), "123456")
    assert (found.status, found.code) == (orders.FAILED, "51")


@pytest.mark.parametrize(("number", "code"), [(GOOD, "00"), ("4111110051000011", "51")])
def test_a_lost_charge_of_a_saved_card_ends_as_its_number_says(http: str, number: str, code: str) -> None:
    found = check_lost_saved_card(SandboxHarness(SandboxCards(), http), Payer("token", saved(number)))
    assert (found.status, found.code) == (orders.SUCCESSFUL if code == "00" else orders.FAILED, code)


@pytest.mark.parametrize("step", [orders.CHARGE, orders.VALIDATE, ""])
@pytest.mark.parametrize("cvv", ["000", "100", "200"])
def test_a_card_of_whose_proof_nothing_is_known_is_never_charged(cvv: str, step: str) -> None:
    found = check_nothing_proved(SandboxHarness(SandboxCards(), "timeout"), Payer(card=card(cvv=cvv)), step)
    assert found.status == (orders.NOT_FOUND if cvv == "100" and step != orders.VALIDATE else orders.CHALLENGE)


def test_a_lost_answer_to_a_slow_charge_ends_when_its_time_has_come(http: str) -> None:
    """Not at once: such a card is open at first in either case."""
    harness = SandboxHarness(SandboxCards(), http)
    order = harness.order(Payer(card=card(SLOW)))
    asked = harness.asked(harness.losing(order), orders.CHARGE, card(SLOW))
    assert harness.run(harness.rail.query(asked, None)).status == orders.SUCCESSFUL
    early = msgspec.structs.replace(asked, age_seconds=FIRST_REQUERY_SECONDS - 0.01)
    assert harness.run(harness.rail.query(early, None)).status == orders.UNKNOWN


# --- its accounts, telephones and wallets -----------------------------------------------------------------------------


def test_a_lost_begin_of_an_account_still_asks_its_holder(http: str) -> None:
    found = check_lost_begin(SandboxHarness(SandboxDebit(), http), Payer("account", account="0000000000"))
    assert (found.status, found.facts["auth"]) == (orders.CHALLENGE, "OTP")


@pytest.mark.parametrize(
    ("otp", "status"), [("123456", orders.SUCCESSFUL), ("000000", orders.WRONG_CODE), ("111111", orders.WRONG_CODE)]
)
def test_a_lost_code_of_an_account_is_found_as_it_was(http: str, otp: str, status: str) -> None:
    found = check_lost_validate(SandboxHarness(SandboxDebit(), http), Payer("account", account="0000000000"), otp)
    assert found.status == status


@pytest.mark.parametrize("step", [orders.BEGIN, orders.VALIDATE, ""])
def test_an_account_of_whose_code_nothing_is_known_is_never_debited(step: str) -> None:
    payer = Payer("account", account="0000000000")
    assert check_nothing_proved(SandboxHarness(SandboxDebit(), "timeout"), payer, step).status == orders.CHALLENGE


@pytest.mark.parametrize(("otp", "status"), [("", orders.SUCCESSFUL), (None, orders.FAILED)])
def test_a_lost_answer_of_a_payer_on_a_wallets_page_is_found_as_it_was(http: str, otp: str | None, status: str) -> None:
    found = check_lost_validate(SandboxHarness(SandboxMobile(), http), Payer("mobile_money", provider="paga"), otp)
    assert found.status == status


def test_a_wallets_payer_who_has_not_answered_is_still_awaited() -> None:
    payer = Payer("mobile_money", provider="paga")
    for step in (orders.BEGIN, orders.VALIDATE):
        check_nothing_proved(SandboxHarness(SandboxMobile(), "timeout"), payer, step)


def test_a_lost_begin_of_a_dialled_code_is_found_with_the_code(http: str) -> None:
    """Open either way: the step would have asked the payer, the query says that the payer is being asked."""
    harness = SandboxHarness(SandboxMobile(), http)
    order = harness.order(Payer("ussd", provider="gtb"))
    begun = harness.run(harness.rail.begin(order, None))
    found = harness.run(harness.rail.query(harness.asked(harness.losing(order), orders.BEGIN, None), None))
    assert found.facts == begun.facts
    assert found.status == orders.UNKNOWN


# --- cards that were issued here --------------------------------------------------------------------------------------

ISSUED = CardSecrets("4000001234567899", "03", "29", "321", "1111")


class Ledger:
    """An issuer that keeps what it was asked, as the merchant's books do; the answer to a lost call is kept too."""

    def __init__(self, cvv: str) -> None:
        self._cvv = cvv
        self._known: dict[str, Answer] = {}

    async def authorize(self, order: PurchaseOrder) -> Answer:
        right = order.cvv in (None, self._cvv)
        answer = Answer(orders.SUCCESSFUL, "00", "Approved") if right else Answer(orders.FAILED, "N7", "CVV mismatch")
        self._known[order.key] = answer
        if order.scenario.http is not None:
            raise NoAnswer(order.scenario.http)
        return answer

    async def refund(self, order: RefundOrder) -> Answer:
        return self._known[order.purchase_key]

    async def take_back(self, order: TakeBackOrder) -> Answer:
        return self._known[order.purchase_key]

    async def capture(self, order: CaptureOrder) -> Answer:
        return self._known[order.hold_key]

    async def release(self, order: ReleaseOrder) -> Answer:
        return self._known[order.hold_key]

    async def lose_dispute(self, lost: LostDispute) -> Answer:
        return self._known[lost.key]

    async def query(self, key: str) -> Answer:
        return self._known.get(key, Answer(orders.NOT_FOUND, "25", "Unable to locate record"))


def issued_bench(http: str, cvv: str = "321") -> SandboxHarness:
    return SandboxHarness(IssuedCardRail(SandboxCards(), Ledger(cvv), DEFAULT_ISSUING), http, issued=True)


def test_an_issued_cards_lost_begin_is_found(http: str) -> None:
    assert check_lost_begin(issued_bench(http), Payer(card=ISSUED)).facts["session"] == "issued"


@pytest.mark.parametrize(("cvv", "status"), [("321", orders.SUCCESSFUL), ("999", orders.FAILED)])
def test_an_issued_cards_lost_charge_is_found_as_its_cvv_says(http: str, cvv: str, status: str) -> None:
    assert check_lost_charge(issued_bench(http, cvv), Payer(card=ISSUED)).status == status


def test_an_issued_saved_cards_lost_charge_is_found(http: str) -> None:
    assert check_lost_saved_card(issued_bench(http), Payer("token", ISSUED)).status == orders.SUCCESSFUL


def test_an_issued_card_that_was_never_charged_is_not_found() -> None:
    assert check_nothing_proved(issued_bench("timeout"), Payer(card=ISSUED), orders.CHARGE).status == orders.NOT_FOUND
