"""Paystack: payments by QR code on its page, and saved cards that it deactivates, against its twin."""

import pytest

from kasuwa.methods.payment.model import DETAIL_DECODER
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import NoAnswer, Unavailable, VendorToken
from kasuwa.rails.routing.collections import RoutedCollection
from kasuwa.rails.routing.unconfigured import NoCollection
from kasuwa.rails.vendors.paystack import collection
from kasuwa.terms.vendors import CollectionVendors
from tests.methods.payment.in_memory_payments import InMemoryPayments, PaymentInProgress, challenge
from tests.rails.vendors.collections import REFERENCE, PaystackHarness, at_paystack, order

PAYSTACK = CollectionVendors((collection.SERVED,), (collection.SERVED,))


def test_qr_payment_is_paid_on_the_page() -> None:
    async def work(harness: PaystackHarness) -> None:
        begun = await harness.rail.begin(order("qrpay"), None)
        assert (begun.status, begun.facts["auth"]) == (orders.CHALLENGE, "redirect")
        [sent] = [seen for seen in harness.twin.requests if seen.path == "/transaction/initialize"]
        assert sent.body["channels"] == ["qr"]
        harness.rules.pay(REFERENCE)
        paid = await harness.rail.query(order("qrpay", session=begun.facts["session"]), None)
        assert (paid.status, paid.card) == (orders.SUCCESSFUL, None)

    at_paystack(work)


def test_qr_page_whose_address_was_lost_fails() -> None:
    async def work(harness: PaystackHarness) -> None:
        harness.twin.add_fault("lose", "/transaction/initialize")
        with pytest.raises(NoAnswer):
            await harness.rail.begin(order("qrpay"), None)
        assert (await harness.rail.query(order("qrpay"), None)).status == orders.FAILED

    at_paystack(work)


def test_a_code_of_our_own_is_not_shown_where_a_vendor_has_one() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = PaymentInProgress(payments, payments.put("charge", "qrpay", amount="1500.00"))
    paying.receive_answer(challenge("redirect", url="https://checkout.example/1", session="ac1"))
    assert DETAIL_DECODER.decode(paying.payment.detail).qr == ""
    own = InMemoryPayments()
    shown = PaymentInProgress(own, own.put("charge", "qrpay", amount="1500.00"))
    assert DETAIL_DECODER.decode(shown.payment.detail).qr != ""


def test_saved_card_is_deactivated_and_stays_so() -> None:
    async def work(harness: PaystackHarness) -> None:
        paid = await harness.pay_card()
        assert paid.card is not None
        assert paid.card.token is not None
        rail = RoutedCollection(NoCollection(), {"paystack": harness.rail})
        for _ in range(2):
            assert (await rail.deactivate_token(paid.card.token)).status == orders.SUCCESSFUL
        assert harness.rules.saved_cards == {}
        harness.twin.add_fault("bad_gateway", "/customer/authorization")
        with pytest.raises(NoAnswer):
            await rail.deactivate_token(paid.card.token)
        with pytest.raises(Unavailable) as raised:
            await rail.deactivate_token(VendorToken("monnify", "T", "a@b.co"))
        assert "its keys are not set" in raised.value.notice

    at_paystack(work)
