"""Payers' pages in a real browser, in windows and in iframes."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import (
    BROWSER_GROUP,
    THEMES,
    WIDTHS,
    OpenPage,
    accessibility_faults,
    browser,
    open_page,
    overflows,
    press_and_leave,
    reuse_page,
    reused,
)
from tests.console.page_checks import take_pictures
from tests.pages.fake_checkout import ADDRESS, REFERENCE, RIGHT_CODE, InMemoryCheckout, make_view, running_page_server

__all__ = ["browser", "open_page", "reuse_page", "reused"]
pytestmark = BROWSER_GROUP

# The smallest window that 3-D Secure knows for a challenge (EMV 3DS, challengeWindowSize 01).
SMALLEST_FRAME = (250, 400)

LONG_NAME = "The Very Respectable and Extraordinarily Long-Named Trading Company of Onitsha (Nigeria) Limited"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", ["challenge", "handoff", "qr", "transfer"])
def test_a_payers_page_is_accessible_in_every_width_and_theme(kind: str, theme: str, reuse_page: OpenPage) -> None:
    bill = make_view(
        kind, merchant_name=LONG_NAME, amount=999_999_999_99, received_amount=50_000 if kind == "transfer" else 0
    )
    with running_page_server(InMemoryCheckout(bill)) as stall:
        page = reuse_page(width=WIDTHS["narrow"], theme=theme)
        page.goto(stall.origin + ADDRESS)
        assert accessibility_faults(page) == []
        assert not overflows(page)
        for width, height in ((WIDTHS["wide"], 900), SMALLEST_FRAME):
            page.set_viewport_size({"width": width, "height": height})
            assert not overflows(page)
        assert page.context.cookies() == []
        take_pictures(page, f"payer-{kind}")


@pytest.mark.parametrize("theme", THEMES)
def test_receipt_and_notice_pages_are_accessible(theme: str, reuse_page: OpenPage) -> None:
    checkout = InMemoryCheckout(make_view("qr", merchant_name=LONG_NAME, redirect_url="https://shop.example/done"))
    checkout.end("failed")
    with running_page_server(checkout) as stall:
        page = reuse_page(width=WIDTHS["narrow"], theme=theme)
        for path in (ADDRESS, "/pay/nowhere"):
            page.goto(stall.origin + path)
            assert accessibility_faults(page) == []
            assert not overflows(page)
            take_pictures(page, f"payer-{'receipt' if path == ADDRESS else 'nowhere'}")


def test_the_challenge_works_without_script_and_returns_to_the_merchant(open_page: OpenPage) -> None:
    with running_page_server(pages={"/done": "<title>Shop</title><h1>Thank you</h1>"}) as shop:
        checkout = InMemoryCheckout(make_view(redirect_url=f"{shop.origin}/done?order=7"))
        with running_page_server(checkout) as stall:
            page = open_page(width=WIDTHS["narrow"], java_script_enabled=False)
            page.goto(stall.origin + ADDRESS)
            page.get_by_label("One-time code").fill("000000")
            page.get_by_role("button", name="Approve").click()
            expect(page.get_by_role("alert")).to_contain_text("not right")
            page.get_by_label("One-time code").fill(RIGHT_CODE)
            press_and_leave(page.get_by_label("One-time code"), "Enter")  # As the keyboard of a phone does it.
            page.wait_for_url(re.compile("/done"))
            assert page.url == f"{shop.origin}/done?order=7&txnRef={REFERENCE}&txnStatus=successful"
    assert checkout.answers == ["000000", RIGHT_CODE]


def test_declining_does_not_ask_for_the_code(open_page: OpenPage) -> None:
    with running_page_server(pages={"/done": "<h1>Pity</h1>"}) as shop:
        checkout = InMemoryCheckout(make_view(redirect_url=f"{shop.origin}/done"))
        with running_page_server(checkout) as stall:
            page = open_page()
            page.goto(stall.origin + ADDRESS)
            page.get_by_role("button", name="Decline").click()
            page.wait_for_url(re.compile("txnStatus=failed"))
    assert checkout.answers == [None]


def test_an_empty_code_does_not_leave_the_page(open_page: OpenPage) -> None:
    checkout = InMemoryCheckout(make_view())
    with running_page_server(checkout) as stall:
        page = open_page()
        page.goto(stall.origin + ADDRESS)
        page.get_by_role("button", name="Approve").click()
        assert page.get_by_label("One-time code").evaluate("field => field.validity.valueMissing")
    assert checkout.answers == []


@pytest.mark.parametrize("sandbox", ["", ' sandbox="allow-forms"'], ids=["plain", "sandboxed"])
def test_the_challenge_works_in_a_frame_of_another_site(sandbox: str, open_page: OpenPage) -> None:
    """The shop and the pages are two origins; the frame goes back to the shop, which still stands around it."""
    with running_page_server(pages={"/done": "<title>Shop</title><h1>Thank you</h1>"}) as shop:
        checkout = InMemoryCheckout(make_view(redirect_url=f"{shop.origin}/done"))
        with running_page_server(checkout) as stall:
            shop.pages["/checkout"] = f'<h1>Checkout</h1><iframe src="{stall.origin}{ADDRESS}"{sandbox}></iframe>'
            page = open_page()
            page.goto(f"{shop.origin}/checkout")
            frame = page.frame_locator("iframe")
            frame.get_by_label("One-time code").fill(RIGHT_CODE)
            frame.get_by_role("button", name="Approve").click()
            expect(frame.get_by_role("heading")).to_have_text("Thank you")
            assert page.url == f"{shop.origin}/checkout"
            assert f"/done?txnRef={REFERENCE}&txnStatus=successful" in shop.requested_paths
    assert checkout.answers == [RIGHT_CODE]


def test_the_transfer_page_cannot_be_framed(browser: Browser) -> None:
    with (
        running_page_server() as shop,
        running_page_server(InMemoryCheckout(make_view("transfer"))) as stall,
        browser.new_context() as context,
    ):
        shop.pages["/checkout"] = f'<h1>Checkout</h1><iframe src="{stall.origin}{ADDRESS}"></iframe>'
        page = context.new_page()
        with page.expect_event("console", lambda message: "frame-ancestors" in message.text):
            page.goto(f"{shop.origin}/checkout")
        assert page.frame_locator("iframe").get_by_text("0123456789").count() == 0


def test_without_a_redirect_url_the_browser_shows_the_result_as_json(open_page: OpenPage) -> None:
    checkout = InMemoryCheckout(make_view("handoff"))
    with running_page_server(checkout) as stall:
        page = open_page()
        page.goto(stall.origin + ADDRESS)
        page.get_by_role("button", name="Pay").click()
        page.wait_for_function("document.contentType == 'application/json'")
        assert page.evaluate("JSON.parse(document.body.innerText)") == {
            "status": 200,
            "txnRef": REFERENCE,
            "txnStatus": "successful",
        }


@pytest.mark.parametrize("kind", ["qr", "transfer"])
def test_a_polling_page_shows_the_outcome_without_a_click(kind: str, open_page: OpenPage) -> None:
    checkout = InMemoryCheckout(make_view(kind, redirect_url="https://shop.example/done"))
    with running_page_server(checkout) as stall:
        page = open_page()
        page.clock.install()
        page.goto(stall.origin + ADDRESS)
        expect(page.get_by_role("link", name="I have paid")).to_be_visible()
        checkout.end("successful")
        page.clock.run_for(3_000)
        expect(page.get_by_role("heading")).to_have_text("Payment successful")
        back = page.get_by_role("link", name="Back to Ada Stores").get_attribute("href")
        assert back == f"https://shop.example/done?txnRef={REFERENCE}&txnStatus=successful"


def test_the_qr_image_can_be_embedded_by_a_merchant(open_page: OpenPage) -> None:
    with running_page_server() as shop, running_page_server(InMemoryCheckout(make_view("qr"))) as stall:
        shop.pages["/checkout"] = f'<img alt="QR code" src="{stall.origin}{ADDRESS}/qr.svg">'
        page = open_page()
        page.goto(f"{shop.origin}/checkout")
        picture = page.get_by_role("img")
        assert picture.evaluate("image => image.complete && image.naturalWidth > 100")
