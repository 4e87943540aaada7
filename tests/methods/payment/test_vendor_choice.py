"""The vendor of a payment: chosen when it is taken, and changed only while certainly nothing of it has left.

Contract: payment#second-vendor
"""

from itertools import product
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.routing import RailDemand
from kasuwa.methods.payment.model import JOB_DATA_DECODER
from kasuwa.methods.payment.rules.on_rail_answer import RAIL_UNAVAILABLE as NOT_AVAILABLE
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import RAIL_SILENT, RAIL_UNAVAILABLE, Answer, VendorCard, VendorToken
from kasuwa.terms.vendors import CollectionVendor, CollectionVendors
from kasuwa.transactions.payers import PAYMENT_MARK_DECODER
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    InMemoryPayments,
    PaymentInProgress,
    challenge,
    charge_token,
    fields_of,
)
from tests.rule_context import merchant

NOT_SENT = msgspec.structs.replace(RAIL_UNAVAILABLE, is_unsent=True)
PAGE = challenge("redirect", url="https://checkout.example/1", session="ac1")

ONE = CollectionVendor("one", frozenset({"card", "token", "ussd"}), frozenset({"NGN", "USD"}))
TWO = CollectionVendor(
    "two", frozenset({"card", "token", "ussd", "bank_transfer"}), frozenset({"NGN"}), least_amounts={"NGN": 2_000}
)
BOTH = CollectionVendors((ONE, TWO), (ONE, TWO), {"one": ONE, "two": TWO})


class TwoVendors:
    """Chooses as rails/routing/orders.py does: the first of those that may take it, and another one than `avoided`."""

    def __init__(self, *away: str) -> None:
        self.away = away
        self.demands: list[tuple[RailDemand, tuple[str, ...], str]] = []

    def choose(self, demand: RailDemand, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        self.demands.append((demand, preferred, avoided))
        able = [name for name in preferred if name != avoided and name not in self.away]
        return able[0] if able else avoided or preferred[0]

    def count_rails(self, purpose: str, preferred: tuple[str, ...] = ()) -> int:
        return len(preferred)

    def find_account(self, rail: str, kept: str = "") -> str:
        return kept or f"account with {rail}"


def payments_of(*away: str, **more: Any) -> InMemoryPayments:
    return InMemoryPayments(vendors=BOTH, rail_chooser=TwoVendors(*away), **more)


def begin(payments: InMemoryPayments, method: str = "card", **fields: Any) -> PaymentInProgress:
    action = ("initiate", "card") if method == "card" else ("charge", method)
    body = {"amount": "1500.00"} | ({"bank": "gtb"} if method == "ussd" else {}) | fields
    paying = PaymentInProgress(payments, payments.put(*action, **body))
    paying.job.claims = 1
    return paying


def vendors_in(paying: PaymentInProgress) -> set[str | msgspec.UnsetType]:
    """Returns every place that has the vendor of a payment: they must agree."""
    work = JOB_DATA_DECODER.decode(paying.job.work)
    mark = PAYMENT_MARK_DECODER.decode(paying.row.detail)
    return {
        paying.row.rail,
        paying.job.rail,
        work.vendor,
        mark.vendor,
        paying.detail.vendor,
    }


# --- the choice ----------------------------------------------------------------------------------------------------


def test_first_vendor_takes_a_payment_and_is_written_with_it() -> None:
    assert vendors_in(begin(payments_of())) == {"one"}
    assert vendors_in(begin(payments_of(), "ussd")) == {"one"}


def test_second_vendor_takes_a_payment_while_the_first_is_away() -> None:
    assert vendors_in(begin(payments_of("one"))) == {"two"}


def test_vendor_that_does_not_serve_a_payment_is_not_asked() -> None:
    payments = payments_of()
    assert vendors_in(begin(payments, "bank_transfer")) == {"two"}
    assert vendors_in(begin(payments, amount="15.00")) == {"one"}
    chooser = payments.rail_chooser
    assert isinstance(chooser, TwoVendors)
    assert [(demand.purpose, names) for demand, names, _ in chooser.demands] == [
        ("collect", ("two",)),
        ("card", ("one",)),
    ]


@pytest.mark.parametrize(
    ("method", "fields", "field"),
    [
        ("phone", {"phonenumber": "08031234567"}, "paymentType"),
        ("bank_transfer", {"amount": "15.00"}, "amount"),
        ("card", {"currency": "GHS", "country": "GH"}, "currency"),
    ],
)
def test_payment_that_no_vendor_serves_is_refused_by_the_closest(
    method: str, fields: dict[str, Any], field: str
) -> None:
    action = ("initiate", "card") if method == "card" else ("charge", method)
    assert field in fields_of(payments_of().put(*action, **{"amount": "1500.00", **fields}))


@pytest.mark.parametrize(("own", "vendor"), [(("two", "one"), "two"), (("two",), "two"), (("gone",), "one")])
def test_rails_of_a_merchants_own_come_first(own: tuple[str, ...], vendor: str) -> None:
    payments = payments_of(of=merchant(rails={"card": own}))
    assert vendors_in(begin(payments)) == {vendor}
    assert vendors_in(begin(payments, "ussd")) == {"one"}


def test_one_merchant_may_use_the_sandbox_while_others_use_vendors() -> None:
    payments = payments_of(of=merchant(rails={"card": ("sandbox",)}))
    assert fields_of(payments.put("initiate", "card", amount="1500.00")) == ["card"]


# --- the change ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["card", "ussd"])
def test_payment_that_was_not_sent_goes_to_the_second_vendor_at_once(method: str) -> None:
    paying = begin(payments_of(), method)
    moved = paying.receive_answer(NOT_SENT)
    assert vendors_in(paying) == {"two"}
    assert moved.follow_up is paying.job
    assert (paying.job.due, paying.job.attempt, paying.job.is_rail_fixed) == (paying.payments.now, 1, False)
    assert paying.row.status == "pending"
    paying.job.claims = 1
    shown = paying.receive_answer(PAGE).reply
    assert paying.payment.session == "ac1"
    assert "one" not in msgspec.json.encode(shown).decode().split('"')


ANSWERS = (NOT_SENT, RAIL_UNAVAILABLE, RAIL_SILENT, PAGE, Answer(orders.PROCESSING, "09", ""))


@pytest.mark.parametrize(("answer", "claims", "is_fixed"), list(product(ANSWERS, (1, 2), (False, True))))
def test_payment_moves_only_if_certainly_nothing_has_left(answer: Answer, claims: int, is_fixed: bool) -> None:
    paying = begin(payments_of(), "ussd")
    paying.job.claims, paying.job.is_rail_fixed = claims, is_fixed
    paying.receive_answer(answer)
    is_moved = answer is NOT_SENT and claims == 1 and not is_fixed
    assert vendors_in(paying) == {"two" if is_moved else "one"}


def test_payment_whose_page_was_shown_stays_also_if_a_query_is_not_sent() -> None:
    paying = begin(payments_of())
    paying.receive_answer(PAGE)
    paying.job.claims = 1
    paying.receive_answer(NOT_SENT)
    assert vendors_in(paying) == {"one"}


def test_card_payment_that_no_vendor_can_be_sent_fails_and_may_be_sent_again() -> None:
    payments = payments_of()
    paying = begin(payments)
    paying.receive_answer(NOT_SENT)
    paying.job.claims = 1
    ended = paying.receive_answer(NOT_SENT)
    assert ended.reply == NOT_AVAILABLE
    assert paying.row.status == "failed"


def test_payment_without_a_card_waits_and_is_sent_to_either_vendor_later() -> None:
    paying = begin(payments_of(), "ussd")
    paying.receive_answer(NOT_SENT)
    paying.job.claims = 1
    back = paying.receive_answer(NOT_SENT)
    assert vendors_in(paying) == {"one"}
    assert back.follow_up is None
    assert paying.job.due > paying.payments.now


# --- what belongs to one vendor ------------------------------------------------------------------------------------


def saved_at(payments: InMemoryPayments, vendor: str) -> str:
    """Pays with a card that its vendor keeps. Returns the token by which the merchant charges it."""
    paying = begin(payments, is_recurring=True)
    assert vendors_in(paying) == {vendor}
    paying.receive_answer(PAGE)
    card = VendorCard("sig", "408408******4081", "408408", "visa", token=VendorToken(vendor, "AUTH_1", "a@b.example"))
    paying.receive_answer(msgspec.structs.replace(APPROVED, card=card))
    assert paying.payment.token is not None
    return paying.payment.token


def test_saved_card_is_charged_by_its_vendor_alone() -> None:
    payments = payments_of("one")
    token = saved_at(payments, "two")
    payments.rail_chooser = TwoVendors("two")
    charged = charge_token(payments, token)
    assert vendors_in(charged) == {"two"}
    charged.job.claims = 1
    decision = charged.receive_answer(NOT_SENT)
    assert isinstance(decision, Decision)
    assert vendors_in(charged) == {"two"}
    refused = payments.put("charge", "token", token=token, amount="15.00")
    assert isinstance(refused, Refusal)
    assert fields_of(refused) == ["amount"], "the other vendor would take so little"


def test_refund_goes_to_the_vendor_of_its_payment() -> None:
    payments = payments_of("one", funds=1_000_000)
    paying = begin(payments)
    paying.receive_answer(PAGE)
    paying.receive_answer(APPROVED)
    payments.rail_chooser = TwoVendors("two")
    refund = payments.put("refund", txnRef=paying.txn_ref, amount="100.00")
    [job] = refund.jobs
    assert (job.rail, refund.rows[0].rail, JOB_DATA_DECODER.decode(job.work).vendor) == ("two", "two", "two")
