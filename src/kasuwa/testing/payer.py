"""A payer on the pages of a checkout, as plain HTTP requests: no browser, no script."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Literal
from urllib.parse import urlsplit

import httpx

Method = Literal["card", "token", "account", "bank_transfer", "ussd", "phone", "qrpay", "mobile_money"]
Authentication = Literal["OTP", "PIN", "3DSecure"]

# A card of the test environment that is approved, and the CVV by which its bank asks for a code, a PIN or its own page.
APPROVED_CARD = "4111110000000013"
CVV: dict[Authentication, str] = {"OTP": "000", "PIN": "100", "3DSecure": "200"}
# What a payer enters where a test says nothing else.
ENTERED = {
    "expiry": "12/30",
    "account_number": "0000000000",
    "phone": "08000000000",
    "fullname": "Ada Obi",
    "email": "ada@example.com",
    "contact_phone": "08031234567",
}
MAX_STEPS = 10


class CheckoutError(AssertionError):
    """A payer could not go on. The text says what the page shows."""


@dataclass(frozen=True)
class CheckoutPage:
    """The page that a payer ends on."""

    is_paid: bool
    heading: str
    problem: str  # what the page says went wrong; empty if nothing did


@dataclass
class Form:
    """A form of a page, with the values that it has before a payer enters anything."""

    action: str
    values: dict[str, str] = field(default_factory=dict)


class PageReader(HTMLParser):
    """Reads what a payer sees and can do."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.buttons: list[str] = []  # addresses of links that look like buttons
        self.shown: dict[str, str] = {}  # texts by the id of their element, and the heading by "h1"
        self.problem = self.sum = ""
        self._select = self._text_of = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        name = values.get("name", "")
        if tag == "form":
            self.forms.append(Form(values.get("action", "")))
        elif tag == "input" and self.forms and (values.get("type") != "radio" or name not in self.forms[-1].values):
            self.forms[-1].values[name] = values.get("value", "")
        elif tag == "button" and name and self.forms:
            self.forms[-1].values.setdefault(name, values.get("value", ""))
        elif tag == "select":
            self._select = name
            self.forms[-1].values[name] = ""
        elif tag == "option" and not self.forms[-1].values[self._select]:
            self.forms[-1].values[self._select] = values.get("value", "")
        elif tag == "a" and values.get("class") == "button":
            self.buttons.append(values.get("href", ""))
        if tag == "h1":
            self._text_of = "h1"
        elif tag == "output":
            self._text_of = values.get("id", "")
        elif values.get("class") in ("problem", "wrong"):
            self._text_of = "problem"
        elif values.get("class") == "sum":
            self._text_of = "sum"

    def handle_data(self, data: str) -> None:
        if self._text_of == "problem":
            self.problem = f"{self.problem} {data}".strip()
        elif self._text_of == "sum":
            self.sum += data
        elif self._text_of:
            self.shown[self._text_of] = self.shown.get(self._text_of, "") + data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h1", "output", "p"):
            self._text_of = ""

    def find_form(self, do: str) -> Form | None:
        return next((form for form in self.forms if form.values.get("do") == do), None)


class Payer:
    """Pays one checkout. `pay_account` and `settle` play the payer's bank, which is told outside the pages."""

    def __init__(
        self,
        http_client: httpx.Client,
        server: str,
        pay_account: Callable[[str, str], object],
        settle: Callable[[str], object],
    ) -> None:
        self._http_client = http_client
        self._server = server
        self._pay_account = pay_account
        self._settle = settle
        self._path = ""
        self._has_paid_outside = False
        self._page = PageReader("")

    def pay(self, address: str, method: Method, entered: dict[str, str], otp: str, pin: str) -> CheckoutPage:
        self._path = urlsplit(address).path
        self._send("GET", f"{self._path}/{method}")
        form = self._page.find_form("pay")
        if form is None or form.values.get("channel") != method:
            raise CheckoutError(f"this checkout does not offer {method}: {self._page.shown.get('h1', '')}")
        self._fill(form, entered)
        for _ in range(MAX_STEPS):
            if not self._take_step(otp, pin, entered):
                break
        paid = self._http_client.get(f"{self._server}{self._path}/receipt.pdf").status_code == 200
        return CheckoutPage(paid, self._page.shown.get("h1", ""), self._page.problem)

    def _take_step(self, otp: str, pin: str, entered: dict[str, str]) -> bool:
        """Does what the page asks for. Returns False if it asks for nothing, or refused what was entered."""
        page = self._page
        if page.problem:
            return False
        for do, values in (("otp", {"otp": otp}), ("pin", {**entered, "pin": pin})):
            form = page.find_form(do)
            if form is not None:
                self._fill(form, values)
                return True
        decision = next((form for form in page.forms if "decision" in form.values), None)
        if decision is not None:
            # The page of a bank or of a provider, which leads back by a script.
            self._fill(decision, {"decision": "approve", "otp": otp})
            wrong = self._page.problem
            self._send("GET", self._path)
            self._page.problem = self._page.problem or wrong
            return not wrong
        attempt = page.find_form("abandon")
        if attempt is not None and page.buttons and urlsplit(page.buttons[0]).path != self._path:
            self._send("GET", urlsplit(page.buttons[0]).path)
            return True
        if attempt is None or self._has_paid_outside:
            return False
        self._has_paid_outside = True
        number = page.shown.get("account-number", "").strip()
        if number:
            self._pay_account(number, "".join(letter for letter in page.sum if letter in "0123456789."))
        else:
            self._settle(attempt.values["attempt"])
        self._send("GET", self._path)
        return True

    def _fill(self, form: Form, entered: dict[str, str]) -> None:
        values = {name: entered.get(name, value or ENTERED.get(name, "")) for name, value in form.values.items()}
        self._send("POST", urlsplit(form.action).path or self._path, values)

    def _send(self, verb: str, path: str, values: dict[str, str] | None = None) -> None:
        reply = self._http_client.request(verb, f"{self._server}{path}", data=values)
        while reply.is_redirect and urlsplit(reply.headers["location"]).path.startswith("/pay/"):
            reply = self._http_client.get(f"{self._server}{urlsplit(reply.headers['location']).path}")
        if reply.status_code >= 400 and "html" not in reply.headers.get("content-type", ""):
            raise CheckoutError(f"{path} answered HTTP {reply.status_code}")
        self._page = PageReader(reply.text)
