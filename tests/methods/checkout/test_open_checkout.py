"""Opening a checkout, and the end of its time, as pure decisions. Contract: payment#checkout"""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import LoadedRows, Refusal
from kasuwa.methods.checkout.model import ACTIVE, PLAIN, PayLink, link_key
from kasuwa.methods.checkout.payer_model import OpenFromLink
from kasuwa.methods.checkout.rules import attempt, pay_link
from kasuwa.methods.checkout.rules.erase import erase_checkout_payer
from kasuwa.methods.checkout.rules.served_channels import (
    DEFAULT_CHANNELS,
    mobile_providers,
    served_channels,
    ussd_banks,
)
from kasuwa.terms.vendors import CollectionVendor, CollectionVendors
from kasuwa.transactions.checkouts import read_checkout_detail
from tests.methods.checkout.in_memory_checkouts import InMemoryCheckout
from tests.methods.payment.in_memory_payments import APPROVED, BEGUN, IN_PROGRESS, NOBODY_ASKED, URL, fields_of
from tests.rule_context import MERCHANT, NOW, VAULT, context, merchant
from tests.walk.bounds import ATTEMPT_SECONDS

PAGE = CollectionVendor("vendor", frozenset({"card", "token"}), frozenset({"NGN"}))
COLLECT = CollectionVendor(
    "vendor", frozenset({"ussd", "bank_transfer", "mobile_money"}), frozenset({"NGN"}), {"ussd": frozenset({"gtb"})}
)


def test_the_reply_has_the_reference_the_page_and_the_end() -> None:
    checkout = InMemoryCheckout()
    reply = checkout.opened.reply
    assert (reply.status, reply.expires) == (202, "2026-01-06T09:30:00.123Z")
    assert reply.checkout_url == f"{URL}/pay/checkout/{checkout.detail.page_token}"
    assert len(checkout.detail.page_token) == 48
    assert checkout.row.txn_ref.startswith("GP|CK|")
    assert (checkout.row.amount, checkout.row.state, checkout.detail.channels) == (150_000, "open", DEFAULT_CHANNELS)
    job = checkout.expiry_job
    assert job is not None
    assert job.due == checkout.row.expires_at


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"amount": None}, ["amount"]),
        ({"amount": "0.50"}, ["amount"]),
        ({"channels": []}, ["channels"]),
        ({"channels": ["bitcoin"]}, ["channels.0"]),
        ({"channels": ["ussd"], "currency": "USD"}, ["channels"]),
        ({"channels": ["ussd"], "recurrent": {}}, ["channels"]),
        ({"expires": "2026-01-05T10:30:00+01:00"}, ["expires"]),
        ({"expires": "2026-03-05T10:30:00+01:00"}, ["expires"]),
        ({"expires": "tomorrow"}, ["expires"]),
        ({"recurrent": {"frequency": "weekly", "value": "9"}}, ["recurrent.value"]),
        ({"split": [{"ref_code": "RS1", "percentage": "10"}]}, ["split.0.ref_code"]),
        ({"amount": None, "installment": {"total": "10.00", "payment_schedule": {"05-02-2026": "10.00"}}},
         ["installment.payment_schedule"]),
        ({"dry_run": True}, ["dry_run"]),
        ({"amount": "-1", "channels": ["x"], "redirect_url": "ftp://x"}, ["amount", "redirect_url", "channels.0"]),
    ],
)  # fmt: skip
def test_every_fault_is_named(fields: dict[str, Any], wrong: list[str]) -> None:
    assert fields_of(InMemoryCheckout(**fields).opened) == wrong


def test_the_page_offers_what_the_vendors_serve() -> None:
    vendors = CollectionVendors(card=(PAGE,), collect=(COLLECT,))
    assert InMemoryCheckout(vendors=vendors).detail.channels == ("card", "bank_transfer", "ussd", "mobile_money")
    assert ussd_banks(vendors, MERCHANT) == ("gtb",)
    assert mobile_providers("NGN", vendors, MERCHANT) == ("paga",)
    assert fields_of(InMemoryCheckout(vendors=vendors, currency="USD").opened) == ["currency"]


def test_in_live_without_a_vendor_cards_are_taken_if_the_operator_allows_it() -> None:
    live = msgspec.structs.replace(MERCHANT, environment="live")
    refusing = CollectionVendors(takes_card_numbers=False)
    assert served_channels(DEFAULT_CHANNELS, "NGN", refusing, live) == ()
    assert served_channels(DEFAULT_CHANNELS, "NGN", CollectionVendors(), live) == ("card",)
    assert served_channels(DEFAULT_CHANNELS, "NGN", refusing, MERCHANT) == DEFAULT_CHANNELS


# --- the end of its time ------------------------------------------------------------------------------------------


def test_an_unpaid_checkout_expires_with_an_event() -> None:
    checkout = InMemoryCheckout()
    checkout.payments.advance(hours=24)
    assert checkout.try_attempt() == attempt.CHECKOUT_EXPIRED
    checkout.expire()
    assert (checkout.row.state, checkout.row.ended_at, checkout.detail.email) == ("expired", checkout.payments.now, "")
    assert checkout.expiry_job is None
    [event] = checkout.payments.events
    payload = msgspec.json.decode(event.payload)
    assert (payload["txnStatus"], payload["chargedAmount"], payload["paymentMethod"]) == ("failed", "0.00", "checkout")
    assert "paymentRef" not in payload
    assert checkout.try_attempt() == attempt.CHECKOUT_ENDED


def test_a_checkout_waits_for_an_attempt_that_began_in_time_and_is_paid_by_it() -> None:
    checkout = InMemoryCheckout()
    checkout.payments.advance(hours=23, minutes=55)
    paying = checkout.begin("ussd")
    paying.receive_answer(BEGUN["ussd"])
    checkout.payments.advance(minutes=6)
    checkout.expire()
    assert checkout.row.state == "open"
    paying.receive_answer(APPROVED)
    assert (checkout.row.state, checkout.expiry_job) == ("paid", None)


def test_a_checkout_ends_with_its_last_attempt_if_its_time_is_over() -> None:
    checkout = InMemoryCheckout()
    checkout.payments.advance(hours=23, minutes=55)
    paying = checkout.begin_card()
    checkout.payments.advance(minutes=6)
    checkout.expire()
    paying.receive_answer(NOBODY_ASKED, minutes=4)
    assert (paying.row.code, checkout.row.state, checkout.expiry_job) == ("expired", "expired", None)
    assert [event.kind for event in checkout.payments.events] == ["payment", "checkout"]
    assert isinstance(checkout.confirm(paying), Refusal)
    assert checkout.payments.balances() == {}


@ATTEMPT_SECONDS.tries
def test_an_attempt_that_expires_in_time_leaves_the_checkout_open(value: int, is_within: bool) -> None:
    checkout = InMemoryCheckout()
    paying = checkout.begin("ussd")
    paying.receive_answer(BEGUN["ussd"])
    paying.receive_answer(IN_PROGRESS, seconds=value)
    assert (paying.row.code, checkout.row.state) == ("09" if is_within else "expired", "open")


def test_an_erased_checkout_has_no_payer_and_its_page_asks_for_one() -> None:
    user = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
    row = InMemoryCheckout(user=user, meta={"basket": 7}).row
    before = read_checkout_detail(row, VAULT.unseal)
    assert (before.fullname, before.email, before.is_payer_given) == ("Ada Obi", "ada@example.com", True)
    erased = erase_checkout_payer(row)
    left = msgspec.structs.replace(before, fullname="", email="", meta="", is_payer_given=False)
    assert read_checkout_detail(erased, VAULT.unseal) == left
    assert msgspec.structs.replace(erased, detail=row.detail, payer_sealed=row.payer_sealed) == row
    assert erase_checkout_payer(erased) == erased


def test_a_link_that_no_rail_serves_any_more_opens_no_checkout() -> None:
    """The operator has switched off the rails of the link's currency since the merchant made it."""
    shop, key = merchant("live"), link_key(MERCHANT.merchant_id, "PL1")
    link = PayLink(key, MERCHANT.merchant_id, "PL1", PLAIN, "class", "Class", "NGN", 150_000, ACTIVE, "{}", NOW, NOW)
    request = OpenFromLink(reference="PL1", page_token="0" * 48, amount=0, fullname="Ada Obi", email="ada@example.com")
    for vendors, is_open in ((CollectionVendors((PAGE,)), True), (CollectionVendors(takes_card_numbers=False), False)):
        opened = pay_link.decide_open(request, context(merchant=shop, vendors=vendors), LoadedRows({key: link}))
        assert (opened != pay_link.NOT_SERVED_NOW) == is_open
