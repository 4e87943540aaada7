"""Tests of disputes of card purchases by the cardholder: filing, every way they end, and what others do meanwhile."""

from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Job, Refusal
from kasuwa.methods.disputes.model import DisputeFile
from kasuwa.methods.virtualcard.dispute_calls import SHOP_DISPUTE_DECODER
from kasuwa.methods.virtualcard.dispute_model import (
    DECIDED_BY_SHOP,
    DISPUTE_DECIDED,
    DISPUTE_ENDED,
    DISPUTE_OPEN,
    END_AT_SHOP,
    FILED_LATE,
    NOT_CAPTURED,
    NOTHING_LEFT,
    OPEN_AT_SHOP,
    REVIEW,
    TOO_LITTLE_DISPUTED,
    UNKNOWN_CARD_DISPUTE,
    CardDispute,
)
from kasuwa.methods.virtualcard.model import UNKNOWN_CARD, CardRecord
from kasuwa.methods.virtualcard.rules.dispute import erase_card_evidence
from kasuwa.methods.virtualcard.rules.dispute_at_shop import decide_ended, decide_opened, need_shop_answer
from kasuwa.methods.virtualcard.rules.issuer_port import (
    decide_lost_dispute,
    decide_take_back,
    need_lost_dispute,
    need_take_back,
)
from kasuwa.methods.virtualcard.rules.refund import PURCHASE_DECLINED, UNKNOWN_PURCHASE
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import LostDispute, PurchaseOrder, RefundOrder, TakeBackOrder
from kasuwa.rails.ports.orders import Answer
from tests.methods.virtualcard.in_memory_cards import InMemoryCards, dollars, naira
from tests.walk.bounds import CARD_DISPUTE_DAYS

EVIDENCE = {"explanation": "It never came.", "files": [{"name": "mail.pdf", "content": "JVBERi0xLjQK"}]}


class Holder:
    """A card with 100.00 that has bought something for 40.00, unless told otherwise."""

    def __init__(self, counter: InMemoryCards | None = None, *, amount: str = "40", **fields: Any) -> None:
        self.counter = dollars() if counter is None else counter
        self.reference = self.counter.create()
        self.bought = self.buy(amount, **fields)
        self.filed = ""

    def buy(self, amount: str, **fields: Any) -> str:
        reply = self.counter.ask("card_purchase", reference=self.reference, amount=amount, **fields)
        return str(reply.txn_ref)

    def dispute(self, **fields: Any) -> Any:
        request = {"reference": self.reference, "id": self.bought, "reason": "not received", **fields}
        reply = self.counter.ask("dispute", **request)
        self.filed = self.filed if isinstance(reply, Refusal) else reply.data.dispute_id
        return reply

    def decide(self, outcome: str) -> Any:
        return self.counter.ask("card_dispute_outcome", dispute_id=self.filed, outcome=outcome)

    def withdraw(self) -> Any:
        return self.counter.ask("withdraw_dispute", dispute_id=self.filed)

    def refund(self, amount: str) -> Any:
        return self.counter.ask("card_refund", txnRef=self.bought, amount=amount)

    @property
    def row(self) -> CardDispute:
        [row] = [one for one in self.counter.database.all(CardDispute, 7) if one.dispute_id == self.filed]
        return row

    @property
    def money(self) -> int:
        return self.counter.on_card(self.reference)

    def jobs(self) -> list[str]:
        return [job.kind for job in self.counter.jobs() if job.kind != "virtualcard.monthly"]

    def steps(self) -> list[str]:
        payloads = [msgspec.json.decode(event.payload) for event in self.counter.database.events]
        return [payload["step"] for payload in payloads if payload["kind"] == "card_dispute"]

    def answer(self, kind: str, answer: Answer) -> None:
        """Has a job of the dispute get an answer of the shop."""
        [job] = [one for one in self.counter.jobs() if one.kind == kind]
        self.answer_job(job, answer)

    def answer_job(self, job: Job, answer: Answer) -> None:
        decide = decide_opened if job.kind == OPEN_AT_SHOP else decide_ended
        self.counter.submit(need_shop_answer(job, answer, self.counter.merchant), partial(decide, job, answer))


class HolderOfShop(Holder):
    """A purchase of NGN 400.00 that a shop of this deployment has ordered, under the key of merchant 9."""

    KEY = "9 GP1"

    def __init__(self) -> None:
        super().__init__(naira(), amount="1", currency="USD")
        card = self.counter.row(self.reference)
        order = PurchaseOrder(self.KEY, "", card.expiration, None, 1_000, "USD", "Ada Stores")
        answer = self.counter.authorize(order, self.reference)
        assert answer.status == orders.SUCCESSFUL, answer
        self.bought = answer.facts["txnRef"]

    @property
    def key(self) -> str:
        return f"7 {self.filed}"

    def lose_at_shop(self, key: str = "9 DS1/2", amount: int = 1_000) -> Answer:
        return self.counter.refund(RefundOrder(key, self.KEY, amount, dispute_key=self.key))

    def win_at_shop(self) -> Answer:
        lost = LostDispute(self.key)
        result = self.counter.submit(need_lost_dispute(lost, self.counter.merchant), partial(decide_lost_dispute, lost))
        assert isinstance(result, Decision)
        answer: Answer = result.reply
        return answer

    def correct(self) -> Answer:
        order = TakeBackOrder("9 DS1/3", "9 DS1/2", self.KEY, self.key)
        result = self.counter.submit(need_take_back(order, self.counter.merchant), partial(decide_take_back, order))
        assert isinstance(result, Decision)
        answer: Answer = result.reply
        return answer


OPENED = Answer(orders.SUCCESSFUL, None, "the dispute is open")
NOTHING_THERE = Answer(orders.FAILED, None, "Nothing is left to dispute")
LOST_ANSWER = Answer(orders.UNKNOWN, None, "")


# --- filing ---------------------------------------------------------------------------------------------------------


def test_a_filed_dispute_moves_no_money() -> None:
    holder = Holder()
    reply = holder.dispute(evidence=EVIDENCE)
    assert (reply.message, reply.data.state, reply.data.amount) == ("Dispute filed", "submitted", "40.00")
    assert (holder.money, holder.jobs(), holder.steps()) == (6_000, [REVIEW], ["submitted"])
    assert holder.row.evidence_sealed is not None
    assert b"never came" not in holder.row.evidence_sealed
    [file] = holder.counter.database.all(DisputeFile, 7)
    assert (file.dispute_id, file.media_type) == (holder.filed, "application/pdf")
    assert "is disputed: file it at the card network" in holder.counter.database.notices[-1].message


def test_a_purchase_is_disputed_for_what_was_not_refunded() -> None:
    holder = Holder()
    holder.refund("15")
    refused = holder.dispute(amount="25.01")
    assert [error.code for error in refused.field_errors] == ["dispute_too_large"]
    assert holder.dispute().data.amount == "25.00"


def test_what_cannot_be_disputed_is_refused() -> None:
    holder = Holder()
    assert holder.dispute(reference="none") is UNKNOWN_CARD
    assert holder.dispute(id="none") is UNKNOWN_PURCHASE
    other = holder.counter.create()
    assert holder.dispute(reference=other) is UNKNOWN_PURCHASE
    refunded = holder.refund("1").txn_ref
    assert holder.dispute(id=refunded) is UNKNOWN_PURCHASE
    assert holder.dispute(id=holder.buy("1000")) is PURCHASE_DECLINED
    held = holder.counter.ask("card_authorize", reference=holder.reference, amount="5").txn_ref
    assert holder.dispute(id=held) is NOT_CAPTURED
    captured = holder.counter.ask("card_capture", txnRef=held, amount="4").txn_ref
    assert holder.dispute(id=captured).data.amount == "4.00"
    holder.refund("39")
    assert holder.dispute() is NOTHING_LEFT


def test_a_purchase_is_disputed_within_120_days() -> None:
    for days, is_within in CARD_DISPUTE_DAYS.sides:
        holder = Holder()
        holder.counter.now += timedelta(days=days) - timedelta(seconds=1)
        assert (holder.dispute() is not FILED_LATE) == is_within, days


def test_a_part_below_the_smallest_unit_of_the_card_is_refused() -> None:
    holder = Holder(amount="15400", currency="NGN")
    assert holder.dispute(amount="0.01") is TOO_LITTLE_DISPUTED


def test_a_purchase_has_one_open_dispute() -> None:
    holder = Holder()
    holder.dispute(amount="10")
    assert holder.dispute(amount="10") is DISPUTE_OPEN


def test_purchases_of_blocked_and_terminated_cards_are_disputed() -> None:
    for act in ("block", "terminate"):
        holder = Holder()
        holder.counter.ask(act, reference=holder.reference)
        assert holder.dispute().data.state == "submitted"


# --- decided by the network -----------------------------------------------------------------------------------------


def test_a_won_dispute_gives_the_card_its_money() -> None:
    holder = Holder()
    holder.dispute(amount="25")
    reply = holder.decide("won")
    assert (reply.data.state, reply.data.credited, holder.money) == ("won", "25.00", 8_500)
    assert (holder.jobs(), holder.steps()) == ([], ["submitted", "won"])
    assert [holder.decide("lost"), holder.withdraw()] == [DISPUTE_ENDED, DISPUTE_ENDED]
    assert holder.refund("15").txn_status == "successful"
    assert holder.money == 10_000


def test_what_a_won_dispute_left_may_be_disputed() -> None:
    holder = Holder()
    holder.dispute(amount="25")
    holder.decide("won")
    assert holder.dispute().data.amount == "15.00"


def test_a_lost_dispute_is_final_and_moves_nothing() -> None:
    holder = Holder()
    holder.dispute(amount="25")
    assert (holder.decide("lost").data.state, holder.money, holder.jobs()) == ("lost", 6_000, [])
    assert holder.dispute() is DISPUTE_DECIDED


def test_a_withdrawn_dispute_may_be_filed_again() -> None:
    holder = Holder()
    holder.dispute()
    assert (holder.withdraw().data.state, holder.jobs()) == ("withdrawn", [])
    assert holder.decide("won") is DISPUTE_ENDED
    assert holder.dispute().data.state == "submitted"


def test_a_foreign_purchase_is_credited_at_its_own_rate() -> None:
    holder = Holder(amount="15400", currency="NGN")
    paid = 10_000 - holder.money
    holder.dispute(amount="7700")
    assert holder.decide("won").data.currency == "NGN"
    assert holder.money == 10_000 - paid + paid // 2
    holder.dispute()
    holder.decide("won")
    assert holder.money == 10_000


def test_an_unknown_dispute_is_refused() -> None:
    holder = Holder()
    holder.filed = "none"
    assert [holder.decide("won"), holder.withdraw()] == [UNKNOWN_CARD_DISPUTE, UNKNOWN_CARD_DISPUTE]


def test_the_operator_is_reminded_every_30_days() -> None:
    holder = Holder()
    holder.dispute()
    holder.counter.pass_days(29)
    assert len(holder.counter.database.notices) == 1
    holder.counter.pass_days(32)
    assert ["has no outcome" in notice.message for notice in holder.counter.database.notices] == [False, True, True]


# --- what others do meanwhile ---------------------------------------------------------------------------------------


def test_a_refund_of_the_shop_lowers_what_is_disputed() -> None:
    holder = Holder()
    holder.dispute(amount="30")
    holder.refund("10")
    assert (holder.row.amount, holder.steps()) == (3_000, ["submitted"])
    holder.refund("5")
    assert (holder.row.amount, holder.steps()) == (2_500, ["submitted", "reduced"])
    holder.decide("won")
    assert holder.money == 10_000


def test_a_refund_of_all_closes_the_dispute() -> None:
    holder = Holder()
    holder.dispute()
    holder.refund("40")
    assert (holder.row.state, holder.row.outcome) == ("closed", "The shop has refunded the purchase")
    assert (holder.jobs(), holder.decide("won"), holder.money) == ([], DISPUTE_ENDED, 10_000)


def test_the_money_of_a_card_terminated_meanwhile_goes_to_the_wallet() -> None:
    holder = Holder()
    holder.dispute()
    holder.counter.ask("terminate", reference=holder.reference)
    before = holder.counter.wallet()
    assert holder.decide("won").data.credited == "40.00"
    assert (holder.counter.wallet(), holder.money) == (before + 4_000, 0)


def test_evidence_of_an_open_dispute_is_not_erased() -> None:
    holder = Holder()
    holder.dispute(evidence=EVIDENCE)
    assert erase_card_evidence(holder.row) is TRANSACTION_IN_PROGRESS
    holder.decide("lost")
    erased = erase_card_evidence(holder.row)
    assert isinstance(erased, CardDispute)
    assert erased.evidence_sealed is None


# --- a shop of this deployment --------------------------------------------------------------------------------------


def filed_at_shop() -> HolderOfShop:
    holder = HolderOfShop()
    reply = holder.dispute()
    assert reply.data.state == "submitted", reply
    return holder


def test_a_shop_here_gets_a_dispute_of_its_own() -> None:
    holder = filed_at_shop()
    [job] = [one for one in holder.counter.jobs() if one.kind == OPEN_AT_SHOP]
    order = SHOP_DISPUTE_DECODER.decode(job.work)
    assert (order.key, order.payment_key, order.amount, order.reason) == (holder.key, "9 GP1", 1_000, "not received")
    assert holder.decide("won") is DECIDED_BY_SHOP
    holder.answer(OPEN_AT_SHOP, LOST_ANSWER)
    assert holder.jobs() == [OPEN_AT_SHOP]
    holder.answer(OPEN_AT_SHOP, OPENED)
    assert (holder.jobs(), holder.row.state) == ([], "submitted")


def test_a_dispute_closes_if_nothing_is_left_at_the_shop() -> None:
    holder = filed_at_shop()
    holder.answer(OPEN_AT_SHOP, NOTHING_THERE)
    assert (holder.row.state, holder.row.outcome, holder.jobs()) == ("closed", "Nothing is left to dispute", [])


def test_the_end_at_the_shop_ends_the_dispute() -> None:
    holder = filed_at_shop()
    before = holder.money
    assert holder.lose_at_shop().status == orders.SUCCESSFUL
    assert (holder.row.state, holder.row.outcome) == ("won", "The shop has lost its dispute")
    assert holder.money == before + holder.row.credited
    assert holder.lose_at_shop().status == orders.SUCCESSFUL
    assert holder.steps() == ["submitted", "won"]
    assert holder.correct().status == orders.SUCCESSFUL
    assert (holder.row.state, holder.row.credited, holder.row.refund_ref, holder.money) == ("lost", 0, "", before)
    assert holder.lose_at_shop("9 DS1/4").status == orders.SUCCESSFUL
    assert (holder.row.state, holder.money) == ("won", before + holder.row.credited)


def test_a_shop_that_wins_ends_the_dispute_once() -> None:
    holder = filed_at_shop()
    assert [holder.win_at_shop().status, holder.win_at_shop().status] == [orders.SUCCESSFUL] * 2
    assert (holder.row.state, holder.steps()) == ("lost", ["submitted", "lost"])
    holder.filed = "none"
    assert holder.win_at_shop().status == orders.NOT_FOUND


def test_a_withdrawal_ends_the_shops_dispute_after_it_was_opened() -> None:
    holder = filed_at_shop()
    holder.withdraw()
    assert holder.jobs() == [OPEN_AT_SHOP]
    holder.answer(OPEN_AT_SHOP, OPENED)
    assert holder.jobs() == [END_AT_SHOP]
    holder.answer(END_AT_SHOP, LOST_ANSWER)
    holder.answer(END_AT_SHOP, OPENED)
    holder.win_at_shop()
    assert (holder.jobs(), holder.row.state) == ([], "withdrawn")


def test_a_withdrawal_of_what_the_shop_does_not_know_needs_no_end() -> None:
    holder = filed_at_shop()
    holder.withdraw()
    holder.answer(OPEN_AT_SHOP, NOTHING_THERE)
    assert (holder.jobs(), holder.row.state) == ([], "withdrawn")


def test_a_dispute_that_the_shop_lost_before_the_withdrawal_is_won() -> None:
    holder = filed_at_shop()
    holder.answer(OPEN_AT_SHOP, OPENED)
    holder.withdraw()
    assert holder.jobs() == [END_AT_SHOP]
    holder.lose_at_shop()
    assert (holder.row.state, holder.steps()) == ("won", ["submitted", "withdrawn", "won"])


def test_an_answer_after_the_job_is_gone_changes_nothing() -> None:
    holder = filed_at_shop()
    [job] = [one for one in holder.counter.jobs() if one.kind == OPEN_AT_SHOP]
    holder.answer_job(job, OPENED)
    holder.answer_job(job, LOST_ANSWER)
    assert holder.jobs() == []


@pytest.mark.parametrize("part", [400, 1_000])
def test_a_refund_of_the_shop_reaches_a_dispute_with_it(part: int) -> None:
    holder = filed_at_shop()
    holder.answer(OPEN_AT_SHOP, OPENED)
    holder.counter.refund(RefundOrder("9 RF1", holder.KEY, part))
    expected = ("submitted", 600, []) if part == 400 else ("closed", 1_000, [END_AT_SHOP])
    assert (holder.row.state, holder.row.amount, holder.jobs()) == expected


def test_a_purchase_says_by_which_order_it_was_made() -> None:
    holder = HolderOfShop()
    records = [one for one in holder.counter.database.all(CardRecord, 7) if one.txn_ref == holder.bought]
    assert [one.order_key for one in records] == ["9 GP1"]
