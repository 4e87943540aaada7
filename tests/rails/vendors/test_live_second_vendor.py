"""Payments and accounts in live with a second vendor: whatever cannot be sent to the first goes to the second, and
stays with the vendor that has it.

Paystack is the first choice. Nobody listens at its address until the last tests.
"""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from kasuwa.rails.twins.server import TwinThread
from tests.rails.vendors.live_collection import CollectionHarness, Vendors
from tests.running import Deployments
from tests.webhooks.event_log import wait_until

# One deployment serves all of them.
pytestmark = pytest.mark.xdist_group("live second vendor")

BVN = "22212345678"


class SecondVendorHarness(CollectionHarness):
    """The deployment, whose first vendor is away until `bring_back` is called."""

    stack: contextlib.ExitStack
    place: socket.socket  # keeps the port of the vendor that is away: connections are refused

    def bring_back(self) -> None:
        port = self.place.getsockname()[1]
        self.place.close()
        self.stack.enter_context(TwinThread(self.vendors.paystack, port))

    def rail_of(self, txn_ref: str) -> str:
        return str(self.deployment.fetch("select rail from transaction where txn_ref = $1", txn_ref)[0][0])

    def request_account(self, reference: str, **fields: Any) -> Any:
        body = {"name": "Ada Obi", "reference": reference, "email": "ada@example.com", **fields}
        return self.shop.put("resources", request="personalized-accounts", **body).body


@pytest.fixture(scope="module")
def harness(deployments: Deployments) -> Iterator[SecondVendorHarness]:
    vendors = Vendors()
    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    with contextlib.ExitStack() as stack:
        stack.callback(place.close)
        stack.enter_context(TwinThread(vendors.monnify))
        settings = vendors.settings("paystack,monnify", "paystack,monnify") | {
            "KASUWA_RAIL_ACCOUNTS": "paystack,monnify",
            "KASUWA_PAYSTACK_PHONE": "08031234567",
            "KASUWA_PAYSTACK_BASE_URL": f"http://127.0.0.1:{place.getsockname()[1]}",
        }
        deployment = stack.enter_context(deployments.fresh("live-second-vendor", **settings))
        harness = SecondVendorHarness(deployment, vendors, settings)
        harness.stack, harness.place = stack, place
        with contextlib.closing(harness.shop.connection):
            yield harness
            harness.compare_books()


def test_card_page_of_the_second_vendor_is_in_the_first_reply(harness: SecondVendorHarness) -> None:
    begun = harness.begin_card("1500.00")
    txn_ref = begun["txnRef"]
    assert begun["authURL"].startswith("http")
    assert harness.rail_of(txn_ref) == "monnify"
    assert list(harness.monnify.payments) == [harness.wire(txn_ref)]
    harness.call_back("monnify", harness.monnify.pay(harness.wire(txn_ref)))
    harness.wait_for(txn_ref, "successful")
    refunded = harness.refund(txn_ref, "500.00")
    assert harness.rail_of(refunded["refundRef"]) == "monnify"
    harness.monnify.end_refund(harness.wire(refunded["refundRef"]))
    harness.run_open_jobs()
    wait_until(
        "it is refunded",
        lambda: harness.put(action="verify", refundRef=refunded["refundRef"])["txnStatus"] == "successful",
    )


def test_repeat_under_an_idempotency_key_answers_what_the_second_vendor_gave(harness: SecondVendorHarness) -> None:
    body = {"action": "charge", "paymentType": "bank_transfer", "amount": "2500.00"}
    first = harness.shop.put("payment", headers={"Idempotency-Key": "moved-1"}, **body).body
    assert first["accountNumber"]
    assert harness.rail_of(first["txnRef"]) == "monnify"
    assert harness.shop.put("payment", headers={"Idempotency-Key": "moved-1"}, **body).body == first


def test_account_is_opened_by_the_second_vendor_in_the_same_request(harness: SecondVendorHarness) -> None:
    opened = harness.request_account("moved", bvn=BVN)
    assert (opened["status"], len(opened["data"]["accountNumber"])) == (200, 10)
    found = harness.deployment.fetch("select rail, state from personalized_account where reference = 'moved'")
    assert [tuple(row) for row in found] == [("monnify", "open")]


def test_account_without_a_bvn_waits_for_the_vendor_that_asks_for_none(harness: SecondVendorHarness) -> None:
    assert harness.request_account("waits")["status"] == 202
    found = harness.deployment.fetch("select rail, state from personalized_account where reference = 'waits'")
    assert [tuple(row) for row in found] == [("paystack", "opening")]


def test_doctor_and_the_console_know_the_rails_of_payments(harness: SecondVendorHarness) -> None:
    output = harness.deployment._run(("doctor",)).stdout
    assert "orders for card go to paystack, else to monnify" in output
    assert "orders for accounts go to paystack, else to monnify" in output
    assert "paystack does not answer" in output


def test_first_vendor_takes_payments_again_and_keeps_its_saved_cards(harness: SecondVendorHarness) -> None:
    """The vendor comes back. Later tests have both."""
    harness.bring_back()
    harness.run_open_jobs()
    wait_until("the account is open", lambda: harness.request_account("waits").get("data"))
    begun = harness.begin_card("700.00", user={"email": "ada@example.com"})
    assert harness.rail_of(begun["txnRef"]) == "paystack"
    harness.call_back("paystack", harness.paystack.pay(harness.wire(begun["txnRef"])))
    token = harness.wait_for(begun["txnRef"], "successful")["cardToken"]
    harness.deployment.change_settings(harness.shop.mid, rails={"card": ["monnify", "paystack"]})

    def is_at_monnify() -> bool:
        return harness.rail_of(harness.begin_card("800.00")["txnRef"]) == "monnify"

    wait_until("the merchant has rails of its own", is_at_monnify)
    charged = harness.put(action="charge", paymentType="token", token=token, amount="900.00")
    assert charged["txnStatus"] == "successful"
    assert harness.rail_of(charged["txnRef"]) == "paystack", "a saved card is charged where it was saved"


def test_qr_payment_is_paid_on_the_page_of_the_vendor_that_serves_it(harness: SecondVendorHarness) -> None:
    begun = harness.put(action="charge", paymentType="qrpay", amount="1700.00", redirect_url="https://shop.example")
    assert (begun["status"], harness.rail_of(begun["txnRef"])) == (202, "paystack")
    assert begun["authURL"].startswith("https://checkout.paystack.com/pay/")
    assert "qrcode" not in begun
    harness.call_back("paystack", harness.paystack.pay(harness.wire(begun["txnRef"])))
    paid = harness.wait_for(begun["txnRef"], "successful")
    assert (paid["txnStatus"], paid["chargedAmount"]) == ("successful", 1700)
