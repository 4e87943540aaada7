"""Rendering of payers' pages: content, escaping and headers."""

import base64
import html
import re
from hashlib import sha256

import pytest
import segno

from kasuwa.http.page import Page
from kasuwa.pages.render import add_outcome_params, format_amount, render_checkout, render_notice, render_qr_image
from tests.pages.fake_checkout import ADDRESS, REFERENCE, make_view

KINDS = ("challenge", "handoff", "qr", "transfer")
HOSTILE = """"'><script>alert(1)</script>{{ 7 * 7 }}&amp;"""


def text_of(page: Page) -> str:
    return page.body.decode()


def header(page: Page, name: str) -> str:
    return dict(page.headers)[name]


def policy(page: Page) -> dict[str, str]:
    rules = (rule.strip().partition(" ") for rule in header(page, "content-security-policy").split(";"))
    return {name: value for name, _, value in rules}


def inline(tag: str, text: str) -> str:
    match = re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    assert match is not None
    return match[1]


def test_the_challenge_has_one_form_with_a_code_and_two_decisions() -> None:
    text = text_of(render_checkout(make_view(), ADDRESS))
    assert text.count("<form") == 1
    assert f'method="post" action="{ADDRESS}"' in text
    assert f'<input type="hidden" name="txnRef" value="{REFERENCE}">' in text
    assert re.search(r'<input [^>]*name="otp"', text)
    assert re.findall(r'<button name="decision" value="(\w+)"', text) == ["approve", "decline"]
    assert all(shown in text for shown in ("Ada Stores", "NGN\N{NO-BREAK SPACE}1,500.00", "411111******1111"))


def test_the_handoff_page_asks_for_no_code() -> None:
    text = text_of(render_checkout(make_view("handoff"), ADDRESS))
    assert 'name="otp"' not in text
    assert re.findall(r'<button name="decision" value="(\w+)"', text) == ["approve", "decline"]
    assert "Paga" in text


def test_the_transfer_page_shows_account_bank_and_the_remaining_amount() -> None:
    whole = text_of(render_checkout(make_view("transfer"), ADDRESS))
    assert all(shown in whole for shown in ("0123456789", "Wema Bank", "Ada Stores", "10:40 on 05 January 2026"))
    assert "has arrived" not in whole
    part = text_of(render_checkout(make_view("transfer", received_amount=50_000), ADDRESS))
    assert "NGN\N{NO-BREAK SPACE}500.00 has arrived. Transfer the rest, NGN\N{NO-BREAK SPACE}1,000.00." in part
    assert '<p class="sum">NGN\N{NO-BREAK SPACE}1,000.00</p>' in part
    assert ("exactly this amount" in whole, "exactly this amount" in part) == (True, False)
    assert "Transfer exactly the rest, NGN\N{NO-BREAK SPACE}1,000.00," in part


def test_the_qr_image_encodes_the_payload() -> None:
    bill = make_view("qr")
    page = render_qr_image(bill.qr_payload)
    assert header(page, "content-type") == "image/svg+xml"
    code = segno.make(bill.qr_payload, error="m", micro=False)
    assert page.body.startswith(b'<svg xmlns="http://www.w3.org/2000/svg" width="')
    assert max(code.symbol_size(border=4)) * 6 == int(re.search(rb'width="(\d+)"', page.body)[1])  # type: ignore[index]


@pytest.mark.parametrize("kind", KINDS)
def test_untrusted_text_is_escaped(kind: str) -> None:
    names = {
        "merchant_name": HOSTILE,
        "provider": HOSTILE,
        "card_mask": HOSTILE,
        "account_name": HOSTILE,
        "bank_name": HOSTILE,
    }
    text = text_of(render_checkout(make_view(kind, **names), ADDRESS, HOSTILE))
    assert "alert(1)</script>" not in text
    assert html.escape("<script>") in text
    assert "49" not in inline("title", text)


@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_allows_only_the_inline_style_and_script_by_hash(kind: str) -> None:
    page = render_checkout(make_view(kind), ADDRESS)
    rules = policy(page)

    def hash_of(tag: str) -> str:
        return f"'sha256-{base64.b64encode(sha256(inline(tag, text_of(page)).encode()).digest()).decode()}'"

    assert rules["default-src"] == rules["base-uri"] == "'none'"
    assert rules["style-src"] == hash_of("style")
    waits = kind in ("qr", "transfer")
    assert rules.get("script-src") == (hash_of("script") if waits else None)
    assert ("<script" in text_of(page)) == waits
    assert rules["frame-ancestors"] == ("'none'" if waits else "*")
    assert " style=" not in text_of(page)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_loads_nothing_and_sends_no_referrer(kind: str) -> None:
    page = render_checkout(make_view(kind), ADDRESS)
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', text_of(page))
    assert set(addresses) == {ADDRESS}
    assert header(page, "referrer-policy") == "no-referrer"
    assert header(page, "cache-control") == "no-store"
    assert header(page, "x-content-type-options") == "nosniff"
    assert "set-cookie" not in dict(page.headers)


@pytest.mark.parametrize(
    ("redirect_url", "targets"),
    [
        (None, "'self'"),
        ("https://shop.example/done", "'self' https:"),
        ("http://shop.example/done", "'self' https: http:"),
    ],
)
def test_the_form_action_policy_allows_the_merchants_redirect(redirect_url: str | None, targets: str) -> None:
    assert policy(render_checkout(make_view(redirect_url=redirect_url), ADDRESS))["form-action"] == targets


@pytest.mark.parametrize("kind", ["challenge", "handoff"])
@pytest.mark.parametrize("status", ["successful", "failed", "pending"])
def test_an_answered_payment_redirects_to_the_merchant(kind: str, status: str) -> None:
    bill = make_view(kind, status=status, is_awaiting_payer=False, redirect_url="https://shop.example/done")
    page = render_checkout(bill, ADDRESS)
    assert page.http == 303
    assert header(page, "location") == f"https://shop.example/done?txnRef={REFERENCE}&txnStatus={status}"


def test_without_a_redirect_url_the_result_is_returned_as_json() -> None:
    bill = make_view(status="successful", is_awaiting_payer=False)
    page = render_checkout(bill, ADDRESS)
    assert (page.http, page.body, header(page, "content-type")) == (200, bill.result_json, "application/json")


@pytest.mark.parametrize(("status", "heading"), [("successful", "Payment successful"), ("failed", "Payment failed")])
def test_the_receipt_shows_the_outcome_and_links_to_the_merchant(status: str, heading: str) -> None:
    text = text_of(render_checkout(make_view("qr", status=status, is_awaiting_payer=False), ADDRESS))
    assert f"<h1>{heading}</h1>" in text
    assert "<script" not in text
    back = make_view("transfer", status=status, is_awaiting_payer=False, redirect_url="https://shop.example/?a=1")
    link = html.escape(f"https://shop.example/?a=1&txnRef={REFERENCE}&txnStatus={status}")
    assert f'href="{link}"' in text_of(render_checkout(back, ADDRESS))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example", "https://a.example?txnRef=R&txnStatus=failed"),
        ("https://a.example/x?y=%20z", "https://a.example/x?y=%20z&txnRef=R&txnStatus=failed"),
        ("https://a.example/x#/done", "https://a.example/x?txnRef=R&txnStatus=failed#/done"),
        ("https://a.example:8443/?", "https://a.example:8443/?txnRef=R&txnStatus=failed"),
    ],
)
def test_the_outcome_is_appended_to_the_query(url: str, expected: str) -> None:
    assert add_outcome_params(url, "R", "failed") == expected


def test_a_redirect_url_cannot_inject_a_header() -> None:
    bill = make_view(status="failed", is_awaiting_payer=False, redirect_url="https://a.example/x\r\nset-cookie: a=b")
    assert not set("\r\n") & set(header(render_checkout(bill, ADDRESS), "location"))


def test_amounts_have_thousands_separators() -> None:
    result = [format_amount(amount, "USD") for amount in (0, 1, 123_456_789)]
    assert result == ["Nothing is charged now", "USD\N{NO-BREAK SPACE}0.01", "USD\N{NO-BREAK SPACE}1,234,567.89"]


def test_only_the_test_environment_shows_the_test_banner() -> None:
    assert "No money moves" in text_of(render_checkout(make_view(), ADDRESS))
    live = text_of(render_checkout(make_view(is_test=False), ADDRESS))
    assert "No money moves" not in live
    assert "123456 is right" not in live


def test_a_notice_has_its_status() -> None:
    page = render_notice(404, "Payment not found", "Check the address.")
    assert page.http == 404
    assert "<h1>Payment not found</h1>" in text_of(page)


@pytest.mark.parametrize(
    "url",
    [
        "http://[abc",
        "http://[::zz]/",
        "https://shop.example:99999/",
        "https://shop.example:port/",
        "https://sh\N{FULLWIDTH FULL STOP}p.example/",
        "https://\N{SNOWMAN}.example/",
        "javascript:alert(1)",
        "https://",
        "//shop.example/",
        "",
        "\x00",
    ],
)
@pytest.mark.parametrize("kind", ["challenge", "handoff", "qr", "transfer"])
def test_an_unusable_redirect_url_does_not_break_the_page(kind: str, url: str) -> None:
    bill = make_view(kind, status="successful", is_awaiting_payer=False, redirect_url=url or None)
    page = render_checkout(bill, ADDRESS)
    assert page.http == 200
    assert "location" not in dict(page.headers)
    if kind in ("challenge", "handoff"):
        assert page.body == bill.result_json
    waiting = make_view(kind, redirect_url=url or None)
    assert render_checkout(waiting, ADDRESS).http == 200


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "https://shop.example/d\N{LATIN SMALL LETTER E WITH ACUTE}j\N{CJK UNIFIED IDEOGRAPH-5DF2}",
            "/d%C3%A9j%E5%B7%B2?",
        ),
        ("https://shop.example/a\r\nset-cookie: b=1", "/aset-cookie:%20b=1?"),
        ("https://shop.example/a%20b", "/a%20b?"),
        ("https://shop.example/\x01", "/%01?"),
    ],
)
def test_redirect_urls_are_percent_encoded_in_the_header(url: str, expected: str) -> None:
    page = render_checkout(make_view("challenge", status="failed", is_awaiting_payer=False, redirect_url=url), ADDRESS)
    location = dict(page.headers)["location"]
    assert location.startswith(f"https://shop.example{expected}txnRef=")
    assert location.isascii()
