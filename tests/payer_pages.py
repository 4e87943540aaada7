"""A payer who opens a link and pays by card, over the merchant's own connection: no cookie, no script."""

import re
from html import unescape
from urllib.parse import urlencode, urlsplit

from tests.merchant_client import HttpConnection, MerchantClient, RawReply

OK_CARD = {"number": "4111110000000013", "expiry": "12/30", "cvv": "000"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


def post_form(wire: HttpConnection, path: str, fields: dict[str, str]) -> RawReply:
    return wire.send("POST", path, urlencode(fields).encode(), FORM)


def open_payment(wire: HttpConnection, url: str, fields: dict[str, str]) -> str:
    """Fills in the page of a link or invoice. Returns the path of the checkout, or "" if it was refused."""
    reply = post_form(wire, urlsplit(url).path, fields)
    assert reply.http in (200, 303), reply
    return reply.headers.get("location", "")


def hidden_fields(html: str, do: str) -> dict[str, str]:
    """Returns the hidden fields of the form that does something, or none if the page has no such form."""
    forms = [dict(HIDDEN.findall(form)) for form in re.findall(r"<form.*?</form>", unescape(html), re.DOTALL)]
    return next((form for form in forms if form.get("do") == do), {})


def begin_card(wire: HttpConnection, path: str, card: dict[str, str] = OK_CARD) -> str:
    """Begins to pay a checkout by a card, up to its code. Returns the last page."""
    page = wire.send("GET", f"{path}/card").raw.decode()
    begin = hidden_fields(page, "pay")
    if not begin:
        return page
    reply = post_form(wire, path, {**begin, **card})
    return wire.send("GET", path).raw.decode() if reply.http == 303 else reply.raw.decode()


def pay_by_card(wire: HttpConnection, path: str, card: dict[str, str] = OK_CARD) -> str:
    """Pays a checkout by a card with a code, as far as its page lets it. Returns the last page."""
    page = begin_card(wire, path, card)
    confirm = hidden_fields(page, "otp")
    if not confirm:
        return page
    post_form(wire, path, {**confirm, "otp": "123456"})
    return wire.send("GET", path).raw.decode()


def pay_on_page(shop: MerchantClient, url: str, fields: dict[str, str]) -> str:
    """Opens a link or invoice, pays by card and returns the path of the checkout."""
    path = open_payment(shop.connection, url, fields)
    assert "Payment successful" in pay_by_card(shop.connection, path), path
    return path
