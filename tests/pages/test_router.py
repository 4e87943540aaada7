"""A payer's visit: which page an address names, and what its form does."""

import asyncio
from urllib.parse import urlencode

import pytest

from kasuwa.core.page import Page
from kasuwa.db.writer import DatabaseUnreachable
from kasuwa.pages.checkout_view import CheckoutView
from kasuwa.pages.router import MAX_FORM_FIELDS, OTP_REQUIRED, CheckoutPages, read_form
from tests.pages.fake_checkout import ADDRESS, RIGHT_CODE, InMemoryCheckout, make_view


def visit(till: InMemoryCheckout, verb: str = "GET", path: str = ADDRESS, form: bytes = b"") -> Page:
    return asyncio.run(CheckoutPages(till).serve(verb, path, form))


def send(till: InMemoryCheckout, **fields: str) -> Page:
    return visit(till, "POST", ADDRESS, urlencode(fields).encode())


@pytest.mark.parametrize(
    "path",
    [
        "/pay/",
        ADDRESS[:-1],
        ADDRESS + "x",
        "/pay/" + "x" * 101,
        ADDRESS + "/",
        ADDRESS + "/qr.png",
        "/pay/0000000000000000000000",
        "/pay/../healthz/0000000000000",
        ADDRESS + "/qr.svg",  # A card has no QR code.
    ],
)
def test_an_address_that_names_no_page_is_not_found(path: str) -> None:
    assert visit(InMemoryCheckout(make_view()), path=path).http == 404


@pytest.mark.parametrize("verb", ["PUT", "DELETE", "OPTIONS"])
def test_pages_know_two_verbs(verb: str) -> None:
    assert visit(InMemoryCheckout(make_view()), verb).http == 405


@pytest.mark.parametrize("kind", ["qr", "transfer"])
def test_a_page_without_a_form_takes_none(kind: str) -> None:
    till = InMemoryCheckout(make_view(kind))
    assert send(till, decision="approve").http == 405
    assert till.answers == []


def test_the_right_code_approves() -> None:
    till = InMemoryCheckout(make_view())
    assert send(till, otp=f" {RIGHT_CODE} ", decision="approve").body == till.view.result_json
    assert till.answers == [RIGHT_CODE]


def test_declining_needs_no_code_and_brings_none() -> None:
    till = InMemoryCheckout(make_view(redirect_url="https://shop.example/"))
    page = send(till, otp=RIGHT_CODE, decision="decline")
    assert page.http == 303
    assert dict(page.headers)["location"].endswith("txnStatus=failed")
    assert till.answers == [None]


def test_a_wrong_code_is_asked_for_again() -> None:
    till = InMemoryCheckout(make_view())
    page = send(till, otp="000000", decision="approve")
    assert b"The code is not right" in page.body
    assert b"<form" in page.body
    assert b"000000 is wrong" in page.body  # The hint of the test environment; what was typed is not repeated.
    assert page.body.count(b"000000") == 1


@pytest.mark.parametrize("otp", ["", "123", "123456789", "12345a", "١٢٣٤٥٦"])
def test_what_is_no_code_is_not_passed_on(otp: str) -> None:
    till = InMemoryCheckout(make_view())
    assert OTP_REQUIRED.encode() in send(till, otp=otp, decision="approve").body
    assert till.answers == []


def test_a_hand_off_is_approved_without_a_code() -> None:
    till = InMemoryCheckout(make_view("handoff", redirect_url="https://shop.example/"))
    assert dict(send(till, decision="approve").headers)["location"].endswith("txnStatus=successful")
    assert till.answers == [""]


@pytest.mark.parametrize(
    "form",
    [b"", b"decision=maybe", b"otp=123456", b"\xff\xfe", b"decision=%FF", b"&".join([b"a=1"] * (MAX_FORM_FIELDS + 1))],
)
def test_a_form_that_is_not_ours_changes_nothing(form: bytes) -> None:
    till = InMemoryCheckout(make_view())
    assert visit(till, "POST", ADDRESS, form).http == 400
    assert till.answers == []


def test_of_a_field_that_comes_twice_the_first_counts() -> None:
    assert read_form(b"decision=decline&decision=approve&otp=") == {"decision": "decline", "otp": ""}


@pytest.mark.parametrize("form", [b"otp=123456&decision=approve", b"decision=decline", b"whatever"])
def test_a_payment_that_was_answered_answers_how_it_stands(form: bytes) -> None:
    till = InMemoryCheckout(make_view(redirect_url="https://shop.example/"))
    till.end("successful")
    page = visit(till, "POST", ADDRESS, form)
    assert dict(page.headers)["location"].endswith("txnStatus=successful")
    assert till.answers == []


def test_a_waiting_page_can_ask_how_it_stands() -> None:
    till = InMemoryCheckout(make_view("qr"))
    assert visit(till, path=ADDRESS + "/state").body == b'{"txnStatus":"pending"}'
    till.end("successful")
    assert visit(till, path=ADDRESS + "/state").body == b'{"txnStatus":"successful"}'
    assert b"Payment successful" in visit(till).body


class BrokenTill(InMemoryCheckout):
    def __init__(self, error: Exception) -> None:
        super().__init__(make_view())
        self.error = error

    async def find(self, token: str) -> CheckoutView | None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "http"),
    [(DatabaseUnreachable(unsure=False), 503), (ConnectionResetError(), 503), (KeyError("secret"), 500)],
)
def test_trouble_of_ours_is_a_page_too_and_says_nothing_of_itself(error: Exception, http: int) -> None:
    page = visit(BrokenTill(error))
    assert page.http == http
    assert b"secret" not in page.body
