"""Tests of the shop with Django's own runner: one server for the module, a merchant for each test."""

import unittest
from collections.abc import Mapping
from decimal import Decimal

from django.test import TestCase, override_settings

from kasuwa.testing import Server, serve
from shop.models import Order

CUSTOMER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}


server: Server


def setUpModule() -> None:
    global server
    server = unittest.enterModuleContext(serve())


class OrderTest(TestCase):
    def setUp(self) -> None:
        self.kasuwa = self.enterContext(server.merchant())
        self.enterContext(override_settings(**self.kasuwa.environ))

    def place_order(self, amount: str) -> Order:
        body = {"amount": amount, "customer": CUSTOMER}
        reply = self.client.post("/orders/", body, content_type="application/json")
        self.assertEqual(reply.status_code, 201)
        order: Order = Order.objects.get(reference=reply.json()["reference"])
        return order

    def receive(self, body: bytes, headers: Mapping[str, str]) -> int:
        """Calls the webhook in the thread of the test, whose transaction sees the orders."""
        reply = self.client.post("/webhooks/kasuwa/", body, content_type="application/json", headers=dict(headers))
        return int(reply.status_code)

    def test_an_order_is_paid_when_the_money_has_come(self) -> None:
        order = self.place_order("2500.00")
        self.kasuwa.pay_account(account_number=order.account_number, amount="2500.00")
        self.assertEqual(self.kasuwa.events.hand_over(self.receive), [200])
        order.refresh_from_db()
        self.assertEqual(order.state, "paid")
        self.assertGreater(self.kasuwa.wallet(), Decimal("50000.00"))

    def test_events_that_come_twice_and_out_of_order_do_no_harm(self) -> None:
        orders = [self.place_order(amount) for amount in ("100.00", "200.00", "300.00")]
        self.kasuwa.events.duplicate(times=3)
        with self.kasuwa.events.reorder():
            for order in orders:
                self.kasuwa.pay_account(account_number=order.account_number, amount=order.amount)
        self.assertEqual(set(self.kasuwa.events.hand_over(self.receive)), {200})
        self.assertEqual(list(Order.objects.values_list("state", flat=True)), ["paid"] * 3)

    def test_a_forged_event_is_refused(self) -> None:
        order = self.place_order("2500.00")
        forged = {"webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1,Zm9yZ2Vk"}
        self.assertEqual(self.receive(b'{"txnStatus":"successful"}', forged), 400)
        order.refresh_from_db()
        self.assertEqual(order.state, "open")
