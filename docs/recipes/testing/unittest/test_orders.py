"""Tests of the orders with unittest: one server for the module, a merchant for each test."""

import unittest
from decimal import Decimal

from orders import Orders

from kasuwa.testing import Server, serve
from kasuwa_client import InvalidSignature

server: Server


def setUpModule() -> None:
    global server
    server = unittest.enterModuleContext(serve())


class OrderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.kasuwa = self.enterContext(server.merchant())
        self.orders = Orders(self.kasuwa.client, self.kasuwa.key)

    def test_an_order_ships_when_its_payment_has_come(self) -> None:
        order = self.orders.place("A-1", Decimal("2500.00"))
        self.assertEqual(order.state, "open")
        self.kasuwa.pay_account(account_number=order.account_number, amount="2500.00")
        self.kasuwa.events.hand_over(self.orders.receive_event)
        self.assertEqual(order.state, "shipped")
        self.assertGreater(self.kasuwa.wallet(), Decimal("50000.00"))

    def test_a_changed_event_is_not_accepted(self) -> None:
        order = self.orders.place("A-2", Decimal("2500.00"))
        self.kasuwa.pay_account(account_number=order.account_number, amount="2500.00")
        with self.assertRaises(InvalidSignature):
            self.kasuwa.events.hand_over(lambda body, headers: self.orders.receive_event(body + b" ", headers))
        self.assertEqual(order.state, "open")

    def test_an_order_that_is_not_paid_in_time_is_refused(self) -> None:
        order = self.orders.place("A-3", Decimal("2500.00"))
        self.kasuwa.advance(days=2)
        self.kasuwa.events.hand_over(self.orders.receive_event)
        self.assertEqual(order.state, "refused")


if __name__ == "__main__":
    unittest.main()
