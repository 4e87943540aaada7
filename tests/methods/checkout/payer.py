"""A payer on the page of a checkout, as plain HTTP requests: no cookie, no script."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.merchant_client import HttpConnection, MerchantClient, RawReply

OK_CARD = "4111110000000013"
DECLINED_CARD = "4111115100000011"
AUTH_CVV = {"OTP": "000", "PIN": "100", "3DSecure": "200"}


class Payer:
    """One window of a payer, with a connection of its own."""

    def __init__(self, shop: MerchantClient, url: str, port: int) -> None:
        self.shop = shop
        self.path = urlsplit(url).path
        self.connection = HttpConnection("127.0.0.1", port)
        self.html = ""

    def open(self, part: str = "", path: str = "") -> RawReply:
        reply = self.connection.send("GET", (path or self.path) + part)
        self.html = unescape(reply.raw.decode()) if "html" in reply.headers["content-type"] else ""
        return reply

    def hidden(self, do: str) -> dict[str, str]:
        """Returns the hidden fields of the form with that button."""
        forms = re.findall(r"<form.*?</form>", self.html, re.DOTALL)
        fields = [dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)) for form in forms]
        return next(form for form in fields if form.get("do", "") == do)

    def send(self, do: str, **fields: str) -> RawReply:
        """Sends the form that the page shows, and follows where it leads on our pages."""
        reply = self.post({**self.hidden(do), **fields})
        location = reply.headers.get("location", "")
        if reply.http == 303 and location.startswith(self.path):
            return self.open()
        self.html = unescape(reply.raw.decode())
        return reply

    def post(self, fields: dict[str, str], path: str = "") -> RawReply:
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return self.connection.send("POST", path or self.path, urlencode(fields).encode(), headers)

    def pay_by_card(self, number: str = OK_CARD, auth: str = "OTP", **fields: str) -> RawReply:
        self.open("/card")
        return self.send("pay", number=number, expiry="12/30", cvv=AUTH_CVV[auth], **fields)

    @property
    def heading(self) -> str:
        found = re.search(r"<h1>(.*?)</h1>", self.html)
        return "" if found is None else found[1]

    def close(self) -> None:
        self.connection.close()


def open_checkout(shop: MerchantClient, **fields: Any) -> Any:
    user = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
    body = {"amount": "1500.00", "user": user, "redirect_url": "https://shop.example/done?order=7", **fields}
    reply = shop.put("payment", action="checkout", **{name: value for name, value in body.items() if value is not None})
    assert reply.body["status"] == 202, reply
    return reply.body


def verify(shop: MerchantClient, reference: str) -> Any:
    return shop.put("payment", action="verify", txnRef=reference).body
