"""A shop takes payments on a hosted page: a declined card and another, a link, and a checkout that nobody pays.

Run `make serve`, then `python docs/recipes/checkout.py`. checkout.md tells why each step is what it is.
"""

import re
import urllib.parse
import urllib.request
from typing import Any

from story import ANSWER_SECONDS, Merchant, Surprise, kobo, open_merchant, percent, read_arguments

DECLINED, PAYS = "4111115100000011", "4111110000000013"
FEE_PERCENT, VAT_PERCENT = "1.5", "7.5"


class Payer:
    """A payer on the page of a checkout, without a browser: the page needs no script."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.html = self.send()

    def send(self, **fields: str) -> str:
        """Opens the page, or sends its form. Where the form leads is the next page."""
        body = urllib.parse.urlencode(fields).encode() if fields else None
        with urllib.request.urlopen(self.url, body, timeout=ANSWER_SECONDS) as reply:
            self.url = reply.url
            return str(reply.read().decode())

    def fill_in(self, **fields: str) -> None:
        form = self.html.partition("<form")[2].partition("</form>")[0]
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
        self.html = self.send(**hidden, **fields)

    def pay_by_card(self, number: str) -> None:
        self.fill_in(number=number, expiry="12/30", cvv="000")
        self.fill_in(otp="123456")

    def expect(self, text: str) -> None:
        if text not in self.html:
            raise Surprise(f"the page does not say: {text}")


def settled(amount: str) -> int:
    """Returns the part of a payment by a local card, below 2,500.00, that reaches the wallet."""
    fee = percent(kobo(amount), FEE_PERCENT)
    return kobo(amount) - fee - percent(fee, VAT_PERCENT)


def state_of(shop: Merchant, **reference: str) -> Any:
    found = shop.put("payment", action="verify", **reference)
    shop.show(found, "txnStatus", "message")
    return found["checkout"]


def run(shop: Merchant) -> None:
    shop.step("The shop opens a checkout and sends its customer to the page")
    order = {"amount": "1500.00", "title": "Two shirts", "customer_txnref": "order-7"}
    opened = shop.put("payment", 202, action="checkout", **order, user={"firstname": "Ada", "email": "ada@example.com"})
    shop.show(opened, "txnRef", "expires")
    payer = Payer(opened["checkoutURL"])
    shop.step("Her first card is declined: the checkout stays open")
    payer.pay_by_card(DECLINED)
    payer.expect("Your last attempt did not succeed")
    shop.same("the state", "open", state_of(shop, customer_txnref="order-7")["state"])
    shop.step("Another card pays: one checkout, two attempts, one payment")
    payer.pay_by_card(PAYS)
    payer.expect("Payment successful")
    paid = state_of(shop, customer_txnref="order-7")
    shop.same("state and attempts", ("paid", 2), (paid["state"], paid["attempts"]))
    shop.wallet += settled("1500.00")
    shop.step("A link is for anybody who has it")
    link = shop.put("resources", request="paylink", title="Cooking class", amount="2000.00")["data"]
    visitor = Payer(link["link"])
    visitor.fill_in(fullname="Bola Ade", email="bola@example.com")
    visitor.pay_by_card(PAYS)
    visitor.expect("Payment successful")
    shop.wallet += settled("2000.00")
    shown = shop.put("resources", inquire="paylink", link_id=link["link_id"])["data"]
    shop.same("paid by the link", (1, "2000.00"), (shown["paid_count"], shown["total"]))
    shop.step("A checkout that nobody pays ends after a day, and its event says so")
    left = shop.put("payment", 202, action="checkout", amount="900.00", customer_txnref="order-8")
    shop.advance("2026-01-06T12:00:00+01:00")
    shop.same("the state", "expired", state_of(shop, txnRef=left["txnRef"])["state"])
    shop.step("In the evening the wallet is counted")
    shop.check_wallet()
    shop.check_events()
    print("\nThe books are right.")


if __name__ == "__main__":
    run(open_merchant(read_arguments("A shop with a hosted checkout"), "Ada's shirts"))
