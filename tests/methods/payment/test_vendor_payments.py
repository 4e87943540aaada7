"""Payments that a vendor collects: cards on its page, what it serves, saved cards, and money that comes late."""

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.cards import luhn_digit
from kasuwa.core.decision import Decision, FieldError, Job, Refusal
from kasuwa.methods.payment.model import (
    FACTS_DECODER,
    JOB_DATA_DECODER,
    SEALED_CARD_DECODER,
    WATCH,
    SavedCard,
    saved_card_aad,
)
from kasuwa.methods.payment.rules.hosted_card import CARD_NOT_TAKEN, CARD_REQUIRED
from kasuwa.methods.payment.steps import call_rail, call_refund, choose_step, make_collection_order, unseal_saved_card
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED, Rails
from kasuwa.rails.ports.orders import Answer, CollectionOrder, Unavailable, VendorCard, VendorToken
from kasuwa.rails.routing.collections import RoutedCollection
from kasuwa.rails.routing.unconfigured import NoCollection
from kasuwa.rails.vendors.monnify import collection as monnify_collection
from kasuwa.rails.vendors.paystack import collection as paystack_collection
from kasuwa.terms.issuing import CardIssuingSettings
from kasuwa.terms.vendors import CollectionVendors
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    CARD,
    DECLINED,
    IN_PROGRESS,
    NOBODY_ASKED,
    NOT_FOUND,
    REFUSED,
    SILENT,
    InMemoryPayments,
    PaymentInProgress,
    challenge,
)
from tests.rule_context import NOW, VAULT

PAYSTACK = CollectionVendors((paystack_collection.SERVED,), (paystack_collection.SERVED,))
MONNIFY = CollectionVendors((monnify_collection.SERVED,), (monnify_collection.SERVED,))
PAGE = challenge("redirect", url="https://checkout.example/1", session="ac1")
TOKEN = VendorToken("paystack", "AUTH_1", "ada@example.com")
ASK = "payment.ask_refund"
PAID = msgspec.structs.replace(
    APPROVED, facts={"rail_id": "4001"}, card=VendorCard("sig", "408408******4081", "408408", "visa", token=TOKEN)
)


def begin(payments: InMemoryPayments, **fields: Any) -> PaymentInProgress:
    return PaymentInProgress(payments, payments.put("initiate", "card", **({"amount": "1500.00"} | fields)))


def at_page(payments: InMemoryPayments, **fields: Any) -> PaymentInProgress:
    """A payment whose payer was sent to the vendor's page."""
    paying = begin(payments, **fields)
    paying.receive_answer(PAGE)
    return paying


def errors_of(outcome: Any) -> tuple[FieldError, ...]:
    return outcome if isinstance(outcome, tuple) else outcome.field_errors


def watch_of(payments: InMemoryPayments, paying: PaymentInProgress) -> list[Job]:
    return [job for job in payments.jobs(paying.payment.key) if job.kind == WATCH]


# --- what is taken -------------------------------------------------------------------------------------------------


def test_card_is_required_where_no_vendor_has_a_page() -> None:
    payments = InMemoryPayments()
    assert errors_of(payments.put("initiate", "card", amount="1500.00")) == (CARD_REQUIRED,)
    fields = [error.field for error in errors_of(payments.put("initiate", "card", amount="x", country="ZZ"))]
    assert fields == ["amount", "country", "card"]
    assert [error.field for error in errors_of(payments.put("initiate", "card", amount="1.00", country="ZZ"))] == [
        "card",
        "country",
    ]


def test_card_that_a_vendor_would_take_on_its_page_is_refused_with_every_other_error() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    assert errors_of(payments.put("initiate", "card", amount="1500.00", card=CARD)) == (CARD_NOT_TAKEN,)
    refused = payments.put("initiate", "card", amount="1500.00", card=CARD, country="NG", currency="KES")
    assert [error.field for error in errors_of(refused)] == ["card", "currency"]
    assert [error.field for error in errors_of(payments.put("initiate", "card", amount="x"))] == ["amount"]


def test_card_that_was_issued_here_is_charged_by_its_number_all_the_same() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    head = next(iter(payments.context().terms(CardIssuingSettings).ranges.values())).ljust(15, "0")
    own = {**CARD, "card_no": head + luhn_digit(head)}
    paying = begin(payments, card=own)
    assert (paying.job.kind, JOB_DATA_DECODER.decode(paying.job.work).vendor) == ("payment.open", "")


def test_payment_begins_at_the_vendor_that_is_written_with_it() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = begin(payments, user={"email": "ada@example.com", "firstname": "Ada"}, redirect_url="https://shop.example")
    work = JOB_DATA_DECODER.decode(paying.opened_job.work)
    order = make_collection_order(paying.job, work, NOW)
    assert (order.vendor, order.step, order.payer_email, order.payer_name) == (
        "paystack",
        orders.BEGIN,
        "ada@example.com",
        "Ada",
    )
    assert order.return_url.startswith("https://pay.example/pay/")
    assert order.expires_at is not None
    assert abs(order.expires_at - paying.payment.expires_at) < timedelta(milliseconds=1)
    assert order.sent_at is not None
    assert paying.payment.sealed_card is None


@pytest.mark.parametrize(
    ("vendors", "variant", "body", "field"),
    [
        (MONNIFY, "qrpay", {}, "paymentType"),
        (PAYSTACK, "phone", {"phonenumber": "08031234567"}, "paymentType"),
        (PAYSTACK, "mobile_money", {"type": "paga", "redirect_url": "https://shop.example"}, "paymentType"),
        (MONNIFY, "account", {"account": {"accountnumber": "0000000000", "bankcode": "058"}}, "paymentType"),
        (MONNIFY, "ussd", {"bank": "gtb", "amount": "19.99"}, "amount"),
        (MONNIFY, "bank_transfer", {"amount": "19.99"}, "amount"),
    ],
)
def test_what_a_vendor_does_not_serve_is_refused(
    vendors: CollectionVendors, variant: str, body: dict[str, Any], field: str
) -> None:
    refused = InMemoryPayments(vendors=vendors).put("charge", variant, **({"amount": "1500.00"} | body))
    assert field in [error.field for error in errors_of(refused)]


def test_currency_that_a_vendor_does_not_serve_is_refused() -> None:
    refused = InMemoryPayments(vendors=MONNIFY).put("initiate", "card", amount="100.00", country="GH", currency="GHS")
    assert [error.field for error in errors_of(refused)] == ["currency"]


def test_installments_need_a_part_that_is_due_today() -> None:
    plan = {"total": "200.00", "payment_schedule": {"06-01-2026": "100.00", "07-02-2026": "100.00"}}
    refused = InMemoryPayments(vendors=PAYSTACK).put("initiate", "card", installment=plan)
    assert [error.field for error in errors_of(refused)] == ["installment.payment_schedule"]


# --- the page ------------------------------------------------------------------------------------------------------


def test_payer_is_sent_to_the_page_and_the_answer_repeats() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = begin(payments)
    reply = paying.receive_answer(PAGE).reply
    assert (reply.status, reply.auth_url) == (202, "https://checkout.example/1")
    assert paying.state == ("pending", "awaiting_payer", "payment.ask")
    for dry_run in (None, True):
        again = payments.put("charge", "card", txnRef=paying.txn_ref, dry_run=dry_run).reply
        assert (again.auth_url, again.apply_auth, again.dry_run is True) == (reply.auth_url, "redirect", bool(dry_run))
    assert errors_of(payments.put("charge", "card", txnRef=paying.txn_ref, card=CARD, amount="1.00")) == (
        CARD_NOT_TAKEN,
        FieldError("amount", "as it was initiated"),
    )
    order = make_collection_order(paying.job, JOB_DATA_DECODER.decode(paying.job.work), NOW)
    assert (order.session, order.rail_facts["url"]) == ("ac1", "https://checkout.example/1")


def test_paid_page_saves_the_vendors_token_sealed() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments)
    reply = paying.receive_answer(PAID, seconds=5).reply
    assert (reply.txn_status, reply.card.mask) == ("successful", "408408******4081")
    [saved] = payments.of_type(SavedCard)
    assert b"AUTH_1" not in saved.sealed
    sealed = VAULT.unseal(7, saved_card_aad(saved.token), saved.sealed)
    assert SEALED_CARD_DECODER.decode(sealed).vendor_token == "AUTH_1"
    assert "AUTH_1" not in repr((paying.payment, paying.row, PAID))
    charged = PaymentInProgress(payments, payments.put("charge", "token", token=saved.token, amount="700.00"))
    work = JOB_DATA_DECODER.decode(charged.job.work)
    assert (work.vendor, choose_step(charged.job, work)) == ("paystack", orders.CHARGE)
    assert "AUTH_1" not in charged.job.work


def test_saved_card_stays_with_its_vendor_when_another_is_chosen() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    at_page(payments).receive_answer(PAID)
    [saved] = payments.of_type(SavedCard)
    payments.vendors = MONNIFY
    charged = PaymentInProgress(payments, payments.put("charge", "token", token=saved.token, amount="700.00"))
    assert JOB_DATA_DECODER.decode(charged.job.work).vendor == "paystack"


def test_recurrent_charges_go_to_the_vendor_that_keeps_the_card() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    at_page(payments, recurrent={"frequency": "daily"}).receive_answer(PAID)
    [due] = payments.jobs(payments.plan().key)
    payments.now = due.due
    payments.receive_answer(due, NOBODY_ASKED)
    [charge] = [job for job in payments.jobs() if job.kind == "payment.charge"]
    work = JOB_DATA_DECODER.decode(charge.work)
    assert (work.vendor, work.method, work.amount) == ("paystack", "token", 1500_00)
    assert unseal_saved_card(charge, VAULT) == TOKEN


def test_rail_that_is_away_ends_the_payment_and_nothing_is_watched() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = begin(payments)
    assert isinstance(paying.receive_answer(REFUSED).reply, Refusal)
    assert paying.state == ("failed", "done", None)
    assert watch_of(payments, paying) == []


@pytest.mark.parametrize("answer", [IN_PROGRESS, NOT_FOUND])
def test_payment_expires_if_its_payer_does_not_come(answer: Answer) -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments)
    paying.receive_answer(answer, seconds=601)
    assert (paying.row.status, paying.row.code) == ("failed", "expired")


@pytest.mark.parametrize("answer", [SILENT, Answer(orders.PROCESSING, None, "The bank is working on it")])
def test_payment_that_may_have_been_paid_does_not_expire(answer: Answer) -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments)
    paying.receive_answer(answer, seconds=601)
    assert paying.row.status == "pending"


# --- money that comes late -----------------------------------------------------------------------------------------


def test_failed_payment_is_watched_for_three_days() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments, user={"email": "ada@example.com"})
    paying.receive_answer(DECLINED, seconds=5)
    ages = []
    ended = payments.now
    while watching := watch_of(payments, paying):
        [job] = watching
        assert "ada@example.com" not in job.work
        payments.now = job.due
        ages.append(round((job.due - ended).total_seconds()))
        payments.receive_answer(job, IN_PROGRESS)
    assert (ages[0], ages[-1], len(ages)) == (600, 72 * 3600, 9)
    assert payments.balances() == {}


def test_late_money_is_booked_and_returned_once() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments)
    paying.receive_answer(IN_PROGRESS, seconds=601)
    [job] = watch_of(payments, paying)
    payments.receive_answer(job, PAID)
    assert payments.balances() == {"rail:card:NGN": -1500_00, "unapplied:main:NGN": 1500_00}
    assert (payments.receive_answer(job, PAID).groups, len(payments.notices)) == ((), 1)
    [refund] = [row for row in payments.jobs() if row.kind == "payment.refund"]
    order = make_collection_order(refund, JOB_DATA_DECODER.decode(refund.work), payments.now)
    assert (order.vendor, order.amount, order.refund_of) == ("paystack", 1500_00, f"7 {paying.txn_ref}")
    assert order.rail_facts["rail_id"] == "4001"
    payments.receive_answer(refund, Answer(orders.PROCESSING, "09", "", {"refund_id": "77"}))
    [refund] = [row for row in payments.jobs() if row.kind == "payment.ask_refund"]
    assert JOB_DATA_DECODER.decode(refund.work).rail_facts["refund_id"] == "77"
    ended = payments.receive_answer(refund, APPROVED)
    assert (ended.reply.txn_status, payments.balances(), paying.row.status) == ("successful", {}, "failed")
    assert len(payments.events) == 2


def test_late_money_that_cannot_be_returned_stays_and_raises_a_notice() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments)
    paying.receive_answer(DECLINED)
    [job] = watch_of(payments, paying)
    payments.receive_answer(job, PAID)
    [refund] = [row for row in payments.jobs() if row.kind == "payment.refund"]
    payments.receive_answer(refund, DECLINED)
    assert payments.balances() == {"rail:card:NGN": -1500_00, "unapplied:main:NGN": 1500_00}
    assert "1500.00 NGN could not be returned" in payments.notices[-1].message


def test_excess_is_booked_and_returned_and_the_payment_stands() -> None:
    payments = InMemoryPayments(vendors=MONNIFY)
    paying = PaymentInProgress(payments, payments.put("charge", "bank_transfer", amount="1500.00"))
    shown = challenge("device", session="M1", account_number="5000000001", account_name="A", bank_name="Wema")
    reply = paying.receive_answer(shown).reply
    assert (reply.account_number, reply.bank_name) == ("5000000001", "Wema")
    more = Answer(orders.SUCCESSFUL, "00", "Approved", {"rail_id": "M1", "excess": "20050"})
    paying.receive_answer(more, seconds=5)
    assert paying.row.status == "successful"
    assert payments.balance("unapplied:main:NGN") == 200_50
    assert FACTS_DECODER.decode(paying.payment.facts).returns == 1
    assert paying.payment.refunding == 0
    [refund] = [row for row in payments.jobs() if row.kind == "payment.refund"]
    payments.receive_answer(refund, APPROVED)
    assert payments.balance("unapplied:main:NGN") == 0
    assert payments.balance("rail:debit:NGN") == -1500_00


def test_refund_that_waited_for_days_is_not_failed_by_its_first_query() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments)
    paying.receive_answer(PAID)
    payments.put("refund", txnRef=paying.txn_ref, amount="100.00")
    for answer, kind, stretch in ((REFUSED, "payment.refund", 0), (SILENT, "payment.refund", 3), (NOT_FOUND, ASK, 0)):
        payments.advance(days=stretch)
        [job] = [row for row in payments.jobs() if row.kind == kind]
        payments.receive_answer(job, answer)
    [job] = [row for row in payments.jobs() if row.kind == ASK]
    assert payments.transaction(job.reference, "refund").status == "pending"
    payments.advance(days=1, seconds=1)
    payments.receive_answer(job, NOT_FOUND)
    assert payments.transaction(job.reference, "refund").status == "failed"


def test_saved_card_that_waited_for_days_is_not_failed_by_its_first_query() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    at_page(payments).receive_answer(PAID)
    [saved] = payments.of_type(SavedCard)
    charged = PaymentInProgress(payments, payments.put("charge", "token", token=saved.token, amount="700.00"))
    charged.receive_answer(REFUSED)
    charged.receive_answer(SILENT, days=3)
    charged.receive_answer(NOT_FOUND)
    assert charged.row.status == "pending"
    charged.receive_answer(NOT_FOUND, days=1, seconds=1)
    assert charged.row.status == "failed"


# --- calls ---------------------------------------------------------------------------------------------------------


class ScriptedRail(NoCollection):
    """A vendor that answers as the test says, and keeps what it was asked."""

    def __init__(self, answer: Answer | Exception) -> None:
        self.answer = answer
        self.calls: list[str] = []

    async def _say(self, call: str) -> Answer:
        self.calls.append(call)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def begin(self, order: CollectionOrder, card: Any) -> Answer:
        return await self._say("begin")

    async def query(self, order: CollectionOrder, card: Any) -> Answer:
        return await self._say("query")

    async def refund(self, order: CollectionOrder) -> Answer:
        return await self._say("refund")

    async def query_refund(self, order: CollectionOrder) -> Answer:
        return await self._say("query_refund")


def rails_with(rail: ScriptedRail) -> Rails:
    return Rails(bank=NOT_CONFIGURED, card=RoutedCollection(NoCollection(), {"paystack": rail}))


def test_payment_that_another_process_began_is_not_called_refused_by_a_query_that_is() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    job = msgspec.structs.replace(begin(payments).job, claims=2)
    rail = ScriptedRail(Unavailable("away", retry_after=9, notice="keys"))
    answer = asyncio.run(call_rail(rails_with(rail), job, NOW, None))
    assert (answer.status, answer.code, answer.retry_after, answer.notice) == (orders.UNKNOWN, None, 9, "keys")
    assert rail.calls == ["query"]


def test_page_is_opened_by_the_process_that_takes_over_an_unknown_payment() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    job = msgspec.structs.replace(begin(payments).job, claims=2)
    rail = ScriptedRail(NOT_FOUND)
    asyncio.run(call_rail(rails_with(rail), job, NOW, None))
    assert rail.calls == ["query", "begin"]


@pytest.mark.parametrize("can_resend", [True, False])
def test_refund_is_sent_again_only_where_the_vendor_knows_its_key(can_resend: bool) -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = at_page(payments)
    paying.receive_answer(PAID)
    refunding = payments.put("refund", txnRef=paying.txn_ref, amount="100.00")
    assert isinstance(refunding, Decision)
    job = msgspec.structs.replace(refunding.jobs[0], claims=2)
    rail = ScriptedRail(msgspec.structs.replace(NOT_FOUND, can_resend=can_resend))
    asyncio.run(call_refund(rails_with(rail), job, NOW, None))
    assert rail.calls == (["query_refund", "refund"] if can_resend else ["query_refund"])


def test_payments_of_a_vendor_without_keys_wait_and_new_ones_fail() -> None:
    routed = RoutedCollection(NoCollection(), {})
    order = CollectionOrder("7 GP1", "token", 100, "NGN", vendor="monnify")
    assert asyncio.run(routed.charge(order, None)).status == orders.FAILED
    assert asyncio.run(routed.begin(order, None)).status == orders.FAILED
    for call in (
        routed.query(order, None),
        routed.refund(order),
        routed.query_refund(order),
        routed.validate(order, ""),
    ):
        with pytest.raises(Unavailable) as raised:
            asyncio.run(call)
        assert "keys are not set" in raised.value.notice
