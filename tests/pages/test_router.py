"""Routing of payers' requests below /pay/."""

import ast
import asyncio
import threading
from pathlib import Path
from urllib.parse import urlencode

import pytest

import kasuwa.pages
from kasuwa.http.page import Page
from kasuwa.pages import render
from kasuwa.pages.checkout_view import CheckoutView
from kasuwa.pages.render import TEMPLATES, compile_templates
from kasuwa.pages.router import MAX_FORM_FIELDS, OTP_REQUIRED, CheckoutPages, read_form
from kasuwa.postgres.connections import DatabaseUnreachable
from tests.pages.fake_checkout import ADDRESS, RIGHT_CODE, InMemoryCheckout, make_view


def visit(checkout: InMemoryCheckout, verb: str = "GET", path: str = ADDRESS, form: bytes = b"") -> Page:
    return asyncio.run(CheckoutPages(checkout).serve(verb, path, form))


def send(checkout: InMemoryCheckout, **fields: str) -> Page:
    return visit(checkout, "POST", ADDRESS, urlencode(fields).encode())


def test_templates_are_compiled_before_a_page_is_made() -> None:
    checkout, cache, compiled = InMemoryCheckout(make_view()), TEMPLATES.cache, []
    assert cache is not None

    async def prepare() -> None:
        cache.clear()
        await asyncio.to_thread(compile_templates)
        compiled.append({name for _, name in cache})

    pages = CheckoutPages(checkout, prepare=prepare)
    assert asyncio.run(pages.serve("GET", ADDRESS, b"")).http == 200
    assert compiled == [set(TEMPLATES.list_templates(extensions=["html"]))]


@pytest.mark.parametrize("path", [ADDRESS, f"{ADDRESS}/qr.svg"])
def test_qr_codes_are_drawn_in_a_thread(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def draw(payload: str, *, scale: int | None = None) -> bytes:
        threads.append(threading.get_ident())
        return b"<svg/>"

    monkeypatch.setattr(render, "draw_qr_svg", draw)
    assert visit(InMemoryCheckout(make_view("qr")), path=path).http == 200
    assert len(threads) == 1
    assert threading.get_ident() not in threads


# Functions that may draw QR codes, which takes milliseconds each.
DRAWING = {"draw_qr_svg", "render_qr_image", "render_checkout", "render_step", "render_receipt", "render_attempt"}


def test_no_page_with_qr_codes_is_rendered_by_the_event_loop() -> None:
    for path in Path(*kasuwa.pages.__path__).glob("*.py"):
        coroutines = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.AsyncFunctionDef))
        calls = (node for coroutine in coroutines for node in ast.walk(coroutine) if isinstance(node, ast.Call))
        assert {ast.unparse(call.func) for call in calls}.isdisjoint(DRAWING), path.name


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
def test_an_unknown_path_is_not_found(path: str) -> None:
    assert visit(InMemoryCheckout(make_view()), path=path).http == 404


@pytest.mark.parametrize("verb", ["PUT", "DELETE", "OPTIONS"])
def test_other_http_methods_are_not_allowed(verb: str) -> None:
    assert visit(InMemoryCheckout(make_view()), verb).http == 405


@pytest.mark.parametrize("kind", ["qr", "transfer"])
def test_a_page_without_a_form_refuses_a_post(kind: str) -> None:
    checkout = InMemoryCheckout(make_view(kind))
    assert send(checkout, decision="approve").http == 405
    assert checkout.answers == []


def test_the_right_code_approves() -> None:
    checkout = InMemoryCheckout(make_view())
    assert send(checkout, otp=f" {RIGHT_CODE} ", decision="approve").body == checkout.view.result_json
    assert checkout.answers == [RIGHT_CODE]


def test_declining_ignores_the_code() -> None:
    checkout = InMemoryCheckout(make_view(redirect_url="https://shop.example/"))
    page = send(checkout, otp=RIGHT_CODE, decision="decline")
    assert page.http == 303
    assert dict(page.headers)["location"].endswith("txnStatus=failed")
    assert checkout.answers == [None]


def test_a_wrong_code_is_asked_for_again() -> None:
    checkout = InMemoryCheckout(make_view())
    page = send(checkout, otp="000000", decision="approve")
    assert b"The code is not right" in page.body
    assert b"<form" in page.body
    assert b"000000 is wrong" in page.body  # The hint of the test environment; what was typed is not repeated.
    assert page.body.count(b"000000") == 1


@pytest.mark.parametrize("otp", ["", "123", "123456789", "12345a", "١٢٣٤٥٦"])
def test_an_invalid_code_is_not_submitted(otp: str) -> None:
    checkout = InMemoryCheckout(make_view())
    assert OTP_REQUIRED.encode() in send(checkout, otp=otp, decision="approve").body
    assert checkout.answers == []


def test_a_handoff_is_approved_without_a_code() -> None:
    checkout = InMemoryCheckout(make_view("handoff", redirect_url="https://shop.example/"))
    assert dict(send(checkout, decision="approve").headers)["location"].endswith("txnStatus=successful")
    assert checkout.answers == [""]


@pytest.mark.parametrize(
    "form",
    [b"", b"decision=maybe", b"otp=123456", b"\xff\xfe", b"decision=%FF", b"&".join([b"a=1"] * (MAX_FORM_FIELDS + 1))],
)
def test_an_invalid_form_changes_nothing(form: bytes) -> None:
    checkout = InMemoryCheckout(make_view())
    assert visit(checkout, "POST", ADDRESS, form).http == 400
    assert checkout.answers == []


def test_the_first_value_of_a_repeated_field_counts() -> None:
    assert read_form(b"decision=decline&decision=approve&otp=") == {"decision": "decline", "otp": ""}


@pytest.mark.parametrize("form", [b"otp=123456&decision=approve", b"decision=decline", b"whatever"])
def test_a_post_to_an_answered_payment_returns_its_outcome(form: bytes) -> None:
    checkout = InMemoryCheckout(make_view(redirect_url="https://shop.example/"))
    checkout.end("successful")
    page = visit(checkout, "POST", ADDRESS, form)
    assert dict(page.headers)["location"].endswith("txnStatus=successful")
    assert checkout.answers == []


def test_the_state_path_returns_the_current_status() -> None:
    checkout = InMemoryCheckout(make_view("qr"))
    assert visit(checkout, path=ADDRESS + "/state").body == b'{"txnStatus":"pending"}'
    checkout.end("successful")
    assert visit(checkout, path=ADDRESS + "/state").body == b'{"txnStatus":"successful"}'
    assert b"Payment successful" in visit(checkout).body


class BrokenCheckout(InMemoryCheckout):
    def __init__(self, error: Exception) -> None:
        super().__init__(make_view())
        self.error = error

    async def find(self, token: str) -> CheckoutView | None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "http"),
    [(DatabaseUnreachable(is_outcome_unknown=False), 503), (ConnectionResetError(), 503), (KeyError("secret"), 500)],
)
def test_a_server_error_is_a_page_without_internal_details(error: Exception, http: int) -> None:
    page = visit(BrokenCheckout(error))
    assert page.http == http
    assert b"secret" not in page.body
