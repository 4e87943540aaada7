"""Attempts to pay a checkout, as pure decisions: at most one succeeds. Contract: payment#checkout-attempts"""

from datetime import date

import msgspec
import pytest

from kasuwa.core.decision import Decision, Effects, Needs, Refusal, refuse_fields
from kasuwa.core.decision import FieldError as Fault
from kasuwa.methods.checkout.actions import BEGIN_ATTEMPT
from kasuwa.methods.checkout.payer_model import BeginAttempt
from kasuwa.methods.checkout.rules import attempt
from kasuwa.methods.payment.model import JOB_DATA_DECODER, RAIL_ROUTES, WATCH
from kasuwa.terms.vendors import CollectionVendor, CollectionVendors
from kasuwa.transactions.checkouts import CheckoutSource
from tests.methods.checkout.in_memory_checkouts import CARD, ENTERED, InMemoryCheckout
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    BEGUN,
    DECLINED,
    IN_PROGRESS,
    SILENT,
    URL,
    PaymentInProgress,
    challenge,
    fields_of,
    opened,
)
from tests.walk.bounds import CHECKOUT_ATTEMPTS

OTHERS = sorted(set(ENTERED) - {"card"})


# --- begin ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", OTHERS)
def test_a_success_by_any_channel_marks_the_checkout_in_the_same_decision(channel: str) -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin(channel)
    paying.receive_answer(BEGUN[channel])
    decision = paying.receive_answer(APPROVED)
    assert {type(row).__name__ for row in decision.rows} >= {"Transaction", "Payment", "Checkout"}
    assert (checkout.row.state, checkout.row.payment_ref) == ("paid", paying.txn_ref)
    assert checkout.payments.balance(f"rail:{RAIL_ROUTES[channel].rail}:NGN") == -150_000
    assert checkout.expiry_job is None


def test_a_payment_and_its_checkout_have_an_event_each() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.pay()
    payment_event, checkout_event = (msgspec.json.decode(event.payload) for event in checkout.payments.events)
    assert (payment_event["kind"], payment_event["checkoutRef"]) == ("payment", checkout.txn_ref)
    assert checkout_event == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": checkout.txn_ref,
        "chargedAmount": "1500.00",
        "paymentMethod": "card",
        "endpoint": "test",
        "kind": "checkout",
        "currency": "NGN",
        "source": "checkout",
        "paymentRef": paying.txn_ref,
        "customer_txnref": "basket-1",
    }
    assert len([job for job in checkout.payments.jobs() if job.lane == "webhook"]) == 2


def test_an_ended_checkout_keeps_nothing_of_its_payer_and_the_payment_does() -> None:
    checkout = InMemoryCheckout(meta={"shelf": 7})
    assert (checkout.detail.fullname, checkout.detail.email) == ("Ada Obi", "ada@example.com")
    paying = checkout.pay()
    assert (checkout.detail.fullname, checkout.detail.email, checkout.detail.meta) == ("", "", "")
    detail = paying.detail
    assert (detail.fullname, detail.email, detail.meta) == ("Ada Obi", "ada@example.com", '{"shelf":7}')
    assert paying.row.order_ref == "basket-1"


def test_a_declined_card_leaves_the_checkout_to_another_attempt() -> None:
    checkout = InMemoryCheckout()
    first = checkout.begin_card()
    checkout.confirm(first)
    first.receive_answer(DECLINED)
    assert (checkout.row.state, checkout.row.attempts, first.row.status) == ("open", 1, "failed")
    second = checkout.pay()
    assert (checkout.row.state, checkout.row.payment_ref, checkout.row.attempts) == ("paid", second.txn_ref, 2)
    assert checkout.payments.balance("rail:card:NGN") == -150_000


def test_no_attempt_begins_while_another_is_open() -> None:
    checkout = InMemoryCheckout()
    checkout.begin_card()
    assert checkout.try_attempt("ussd", number=2) == attempt.OTHER_ATTEMPT
    assert checkout.row.attempts == 1


def test_no_attempt_begins_after_one_has_succeeded() -> None:
    checkout = InMemoryCheckout()
    checkout.pay()
    assert checkout.try_attempt("ussd", number=2) == attempt.CHECKOUT_ENDED


def test_the_same_form_sent_twice_begins_one_attempt_and_waits_for_it() -> None:
    checkout = InMemoryCheckout()
    first = checkout.begin()
    again = checkout.try_attempt(number=1)
    assert isinstance(again, Decision)
    assert (again.in_progress, again.changes_anything) == (True, False)
    first.receive_answer(opened("OTP"))
    again = checkout.try_attempt(number=1)
    assert (again.in_progress, again.changes_anything) == (False, False)
    assert checkout.row.attempts == 1


def test_a_form_of_an_earlier_page_is_refused() -> None:
    checkout = InMemoryCheckout()
    for _ in range(2):
        paying = checkout.begin_card()
        checkout.abandon(paying.txn_ref)
    assert checkout.try_attempt(number=1) == attempt.STALE_FORM
    assert checkout.try_attempt(number=4) == attempt.STALE_FORM


def test_attempts_are_bounded() -> None:
    for number, is_within in CHECKOUT_ATTEMPTS.sides:
        checkout = InMemoryCheckout()
        for _ in range(number - 1):
            paying = checkout.begin_card()
            checkout.confirm(paying)
            paying.receive_answer(DECLINED)
        assert (checkout.try_attempt() != attempt.TOO_MANY_ATTEMPTS) == is_within, number


def test_a_channel_that_the_checkout_does_not_offer_is_refused() -> None:
    checkout = InMemoryCheckout(channels=["card", "ussd"])
    assert checkout.try_attempt("qrpay") == attempt.NOT_OFFERED
    assert isinstance(checkout.try_attempt("ussd"), Decision)


def test_another_total_than_the_page_showed_is_not_charged() -> None:
    checkout = InMemoryCheckout(bearer="customer")
    refused = checkout.try_attempt(shown_total=150_000)
    assert fields_of(refused) == ["total"]
    assert "the total is NGN 1524.59" in refused.field_errors[0].reason
    assert refused.total == 152_459
    # A lower one is shown first as well.
    assert checkout.try_attempt(shown_total=152_460).total == 152_459
    assert isinstance(checkout.try_attempt(shown_total=152_459), Decision)


def test_a_field_that_the_channel_refuses_is_named_and_nothing_begins() -> None:
    checkout = InMemoryCheckout()
    expired = msgspec.structs.replace(CARD, expiry_year="20")
    assert fields_of(checkout.try_attempt(card=expired)) == ["card.expiry_year"]
    assert fields_of(checkout.try_attempt("account", bank_code="999")) == ["account.bankcode"]
    assert (checkout.row.attempts, checkout.row.attempt_ref) == (0, "")


def test_a_payer_whom_the_merchant_did_not_name_is_the_one_who_filled_in_the_page() -> None:
    checkout = InMemoryCheckout(user=None)
    paying = checkout.begin(fullname="Bola Ade", email="bola@example.com", address="192.0.2.7")
    detail = paying.detail
    assert (detail.fullname, detail.email, detail.ip) == ("Bola Ade", "bola@example.com", "192.0.2.7")


def test_a_payer_whom_the_merchant_named_is_not_replaced() -> None:
    paying = InMemoryCheckout().begin(fullname="Bola Ade", email="bola@example.com")
    detail = paying.detail
    assert (detail.fullname, detail.email) == ("Ada Obi", "ada@example.com")


def test_an_unknown_checkout_is_refused() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin_card()
    checkout.txn_ref = "GP|CK|000000000|20260105A"
    request = BeginAttempt(reference=checkout.txn_ref, number=1, channel="ussd", shown_total=1)
    assert checkout.run(BEGIN_ATTEMPT, request) == attempt.UNKNOWN_CHECKOUT
    for step in (checkout.charge, checkout.confirm):
        assert step(paying) == attempt.UNKNOWN_CHECKOUT
    assert checkout.abandon(paying.txn_ref) == attempt.UNKNOWN_CHECKOUT


# --- further steps ------------------------------------------------------------------------------------------------


def test_a_card_that_wants_a_pin_is_charged_with_it() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin_card("PIN")
    assert fields_of(checkout.charge(paying)) == ["card.pin"]
    checkout.charge(paying, msgspec.structs.replace(CARD, pin="1234"))
    paying.receive_answer(APPROVED)
    assert checkout.row.state == "paid"


def test_a_step_of_an_earlier_attempt_is_refused() -> None:
    checkout = InMemoryCheckout()
    first = checkout.begin_card()
    checkout.abandon(first.txn_ref)
    checkout.begin_card()
    assert checkout.confirm(first) == attempt.UNKNOWN_CHECKOUT
    assert checkout.charge(first) == attempt.UNKNOWN_CHECKOUT
    assert checkout.abandon(first.txn_ref) == attempt.UNKNOWN_CHECKOUT


# --- abandon ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("auth", ["OTP", "PIN", "3DSecure"])
def test_an_attempt_that_waits_for_a_code_ends_at_once(auth: str) -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin_card(auth)
    checkout.abandon(paying.txn_ref)
    assert (paying.row.status, paying.row.code) == ("failed", "abandoned")
    assert checkout.payments.balances() == {}
    refused = checkout.confirm(paying)
    assert isinstance(refused, Refusal)
    assert isinstance(checkout.try_attempt("ussd"), Decision)


@pytest.mark.parametrize("channel", ["ussd", "qrpay", "phone", "bank_transfer", "mobile_money"])
def test_an_attempt_that_is_paid_elsewhere_ends_once_its_rail_says_it_is_unpaid(channel: str) -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin(channel)
    paying.receive_answer(BEGUN[channel])
    asked = checkout.abandon(paying.txn_ref)
    assert (asked.follow_up.kind, paying.row.status) == ("payment.ask", "pending")
    paying.receive_answer(IN_PROGRESS)
    assert (paying.row.status, paying.row.code) == ("failed", "abandoned")
    assert isinstance(checkout.try_attempt(), Decision)


def test_an_attempt_whose_payer_has_paid_meanwhile_pays_the_checkout() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin("ussd")
    paying.receive_answer(BEGUN["ussd"])
    checkout.abandon(paying.txn_ref)
    paying.receive_answer(APPROVED)
    assert (checkout.row.state, paying.row.status) == ("paid", "successful")
    assert checkout.try_attempt(number=2) == attempt.CHECKOUT_ENDED


def test_an_attempt_whose_rail_is_silent_stays_open() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin("ussd")
    paying.receive_answer(BEGUN["ussd"])
    checkout.abandon(paying.txn_ref)
    paying.receive_answer(SILENT)
    assert paying.row.status == "pending"
    assert checkout.try_attempt(number=2) == attempt.OTHER_ATTEMPT


def test_an_attempt_whose_outcome_is_unknown_cannot_be_abandoned() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin_card()
    checkout.confirm(paying)
    assert checkout.abandon(paying.txn_ref).in_progress is True
    paying.receive_answer(SILENT)
    assert checkout.abandon(paying.txn_ref) == attempt.STILL_CONFIRMING
    paying.receive_answer(APPROVED)
    assert checkout.row.state == "paid"


def test_abandoning_an_attempt_that_has_ended_changes_nothing() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin_card()
    checkout.abandon(paying.txn_ref)
    assert checkout.abandon(paying.txn_ref).changes_anything is False


def test_a_partly_paid_transfer_is_returned_when_it_is_abandoned() -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin("bank_transfer")
    paying.receive_answer(challenge())
    account = paying.detail.inbound_account_number
    checkout.payments.put("pay_account", accountNumber=account, amount="100.00")
    assert checkout.payments.balance("unapplied:main:NGN") == 10_000
    checkout.abandon(paying.txn_ref)
    paying.receive_answer(IN_PROGRESS)
    assert (paying.row.status, checkout.payments.balances()) == ("failed", {})
    checkout.payments.put("pay_account", accountNumber=account, amount="1500.00")
    # What comes later is kept until its refund has ended.
    assert checkout.payments.balances() == {"rail:debit:NGN": -150_000, "unapplied:main:NGN": 150_000}


# --- plans --------------------------------------------------------------------------------------------------------


def test_a_recurrent_checkout_starts_its_plan_when_it_is_paid() -> None:
    checkout = InMemoryCheckout(recurrent={"frequency": "weekly", "value": "1"})
    assert checkout.detail.channels == ("card",)
    checkout.pay()
    plan = checkout.payments.plan()
    assert (plan.kind, plan.first_ref) == ("recurrent", checkout.row.payment_ref)


def test_an_installment_checkout_that_is_paid_a_day_later_takes_what_fell_due() -> None:
    schedule = {"05-01-2026": "25", "06-01-2026": "25.5", "05-02-2026": "49.5"}
    checkout = InMemoryCheckout(amount=None, installment={"total": "1000.00", "payment_schedule": schedule})
    assert checkout.row.amount == 25_000
    checkout.payments.advance(hours=23)
    paying = checkout.pay()
    assert paying.payment.charged == 50_500
    assert checkout.payments.plan().kind == "instalment"


@pytest.mark.parametrize(
    ("today", "due", "later"),
    [
        (date(2026, 1, 5), 25_000, [("2026-01-06", 25_500), ("2026-02-05", 49_500)]),
        (date(2026, 1, 6), 50_500, [("2026-02-05", 49_500)]),
        (date(2026, 2, 4), 50_500, [("2026-02-05", 49_500)]),
        (date(2026, 2, 6), 100_000, []),
    ],
)
def test_what_is_due_today_counts_the_dates_that_have_passed(
    today: date, due: int, later: list[tuple[str, int]]
) -> None:
    schedule = {"05-01-2026": "25", "06-01-2026": "25.5", "05-02-2026": "49.5"}
    checkout = InMemoryCheckout(amount=None, installment={"total": "1000.00", "payment_schedule": schedule})
    amount, plan = attempt.due_today(checkout.row, checkout.detail, today)
    assert plan is not None
    assert (amount, [(day[:10], part) for day, part in plan.later_charges]) == (due, later)


def test_parts_that_round_to_nothing_when_they_fall_due_together_leave_the_amount() -> None:
    days = ("05-01-2026", "06-01-2026", "07-01-2026", "08-01-2026", "05-02-2026")
    parts = ("24.8333", "24.8333", "24.8333", "24.8333", "0.6668")
    checkout = InMemoryCheckout()
    detail = msgspec.structs.replace(checkout.detail, installment_total=6, schedule=dict(zip(days, parts, strict=True)))
    first = attempt.due_today(checkout.row, detail, date(2026, 1, 5))[0]
    assert (first, attempt.due_today(checkout.row, detail, date(2026, 1, 8))) == (1, (checkout.row.amount, None))


# --- sources ------------------------------------------------------------------------------------------------------


def test_a_source_takes_part_in_the_decisions_on_its_checkouts() -> None:
    seen: list[str] = []

    def note(name: str) -> Effects:
        seen.append(name)
        return Effects()

    source = CheckoutSource(
        name="checkout",
        needs=lambda merchant, checkout: Needs(),
        on_attempt=lambda checkout, context, rows: note("attempt"),
        on_paid=lambda checkout, paid, context, rows: note(f"paid {paid.amount}"),
        on_attempt_failed=lambda checkout, context, rows: note("failed"),
        on_expired=lambda checkout, context, rows: note("expired"),
    )
    checkout = InMemoryCheckout(source=source)
    checkout.abandon(checkout.begin_card().txn_ref)
    checkout.pay()
    assert seen == ["attempt", "failed", "attempt", "paid 150000"]
    late = InMemoryCheckout(source=source)
    late.payments.advance(hours=25)
    late.expire()
    assert seen[-1] == "expired"


def test_a_source_can_refuse_an_attempt() -> None:
    sold_out = refuse_fields(Fault("", "Sold out"))
    source = CheckoutSource(
        name="checkout",
        needs=lambda merchant, checkout: Needs(),
        on_attempt=lambda checkout, context, rows: sold_out,
    )
    checkout = InMemoryCheckout(source=source)
    assert checkout.try_attempt() == sold_out
    assert checkout.row.attempts == 0


# --- on a vendor's page -----------------------------------------------------------------------------------------


VENDOR = CollectionVendor("vendor", frozenset({"card", "token"}), frozenset({"NGN"}))


def begin_on_page(checkout: InMemoryCheckout) -> PaymentInProgress:
    paying = checkout.begin(card=None)
    paying.receive_answer(challenge("redirect", url="https://vendor.example/pay/1"))
    return paying


def test_a_card_is_entered_on_the_vendors_page_and_no_number_is_taken_here() -> None:
    checkout = InMemoryCheckout(vendors=CollectionVendors(card=(VENDOR,)))
    assert fields_of(checkout.try_attempt()) == ["card"]
    paying = begin_on_page(checkout)
    assert (paying.payment.stage, paying.payment.sealed_card) == ("awaiting_payer", None)
    work = JOB_DATA_DECODER.decode(paying.job.work)
    assert (work.vendor, work.is_hosted) == ("vendor", True)
    back = paying.detail.redirect_url
    assert back == f"{URL}/pay/checkout/{checkout.detail.page_token}"
    paying.receive_answer(APPROVED)
    assert checkout.row.state == "paid"


def test_money_that_a_vendor_takes_for_an_abandoned_attempt_is_booked_and_returned() -> None:
    checkout = InMemoryCheckout(vendors=CollectionVendors(card=(VENDOR,)))
    first = begin_on_page(checkout)
    checkout.abandon(first.txn_ref)
    first.receive_answer(IN_PROGRESS)
    assert first.row.code == "abandoned"
    second = begin_on_page(checkout)
    second.receive_answer(APPROVED)
    assert (checkout.row.state, checkout.row.payment_ref) == ("paid", second.txn_ref)
    [watch] = [job for job in checkout.payments.jobs() if job.kind == WATCH]
    checkout.payments.receive_answer(watch, APPROVED)
    assert checkout.payments.balance("unapplied:main:NGN") == 150_000
    [refund] = [job for job in checkout.payments.jobs() if job.kind == "payment.refund"]
    checkout.payments.receive_answer(refund, APPROVED)
    assert checkout.payments.balance("unapplied:main:NGN") == 0
    assert checkout.payments.balance("rail:card:NGN") == -150_000
    assert checkout.row.payment_ref == second.txn_ref
