"""Checkouts inside the page of a shop on another origin, in a real browser. Contract: payment#embedding"""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import (
    ARGUMENTS,
    BROWSER_GROUP,
    CHROMIUM,
    WIDTHS,
    OpenPage,
    accessibility_faults,
    browser,
    open_page,
    overflows,
    press_and_leave,
)
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import open_checkout, verify
from tests.methods.invoices.test_http import made as make_invoice
from tests.methods.tickets.test_http import make_link as make_ticket_link
from tests.pages.shop_site import (
    ShopSite,
    allow,
    calls_of,
    enter_card,
    open_overlay,
    pay_with_code,
    running_shop_site,
    wait_for_call,
)
from tests.running import Deployment

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP

HOSTS = ("localhost", "127.0.0.1")


def is_in_dialog(page: Page) -> bool:
    """Whether the focus is on the dialog, on something in it, or outside of the page, where the browser's own parts
    are."""
    return bool(page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')"))


def offer_checkout(site: ShopSite, shop: MerchantClient, **options: str) -> tuple[str, str]:
    """Returns the address of the shop's page and the reference of the checkout that it opens."""
    allow(shop, site.origin)
    begun = open_checkout(shop, redirect_url=f"{site.origin}/done")
    return site.offer(access_code=begun["access_code"], **options), begun["txnRef"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_payer_pays_in_an_overlay_and_the_shop_gets_the_reference(
    host: str, shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment, host) as site:
        address, reference = offer_checkout(site, shop)
        page = open_page(width=WIDTHS["narrow"])
        frame = open_overlay(page, address)
        expect(frame.get_by_label("Card number")).to_be_visible()
        dialog = page.get_by_role("dialog", name="Payment")
        expect(dialog).to_have_attribute("aria-modal", "true")
        assert accessibility_faults(page) == []
        assert not overflows(page)
        pay_with_code(frame)
        wait_for_call(page, "success")
        expect(frame.get_by_role("button", name="Print")).to_be_visible()
        expect(frame.get_by_text("You go back to")).to_be_hidden()
        frame.get_by_role("link", name="Continue to").click()
        expect(dialog).to_have_count(0)
        assert calls_of(page) == [["success", {"reference": reference}], ["close"]]
        expect(page.get_by_role("button", name="Pay")).to_be_focused()
        assert (page.url, page.context.cookies()) == (address, [])
    assert verify(shop, reference)["txnStatus"] == "successful"


def test_messages_have_the_reference_and_no_secret(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        address, reference = offer_checkout(site, shop)
        page = open_page()
        pay_with_code(open_overlay(page, address))
        wait_for_call(page, "success")
        messages = page.evaluate("messages")
        assert {message["origin"] for message in messages} == {site.service}
        allowed = {"ready": set(), "size": {"height"}, "paid": {"reference"}}
        for message in (message["data"] for message in messages):
            assert set(message) == {"kasuwa", "nonce", "type"} | allowed[message["type"]], message
        assert {message["data"].get("reference", reference) for message in messages} == {reference}


@pytest.mark.parametrize("cvv", ["100", "200"], ids=["PIN", "3-D Secure"])
def test_a_pin_and_the_page_of_the_bank_are_in_the_overlay(
    cvv: str, shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        address, reference = offer_checkout(site, shop)
        page = open_page()
        frame = open_overlay(page, address)
        enter_card(frame, cvv)
        if cvv == "100":
            frame.get_by_label("Card PIN").fill("1234")
            frame.get_by_role("button", name="Pay NGN").click()
        else:
            expect(frame.get_by_role("heading", name="Confirm your payment")).to_be_visible()
            frame.get_by_label("One-time code").fill("000000")
            frame.get_by_role("button", name="Approve").click()
            expect(frame.get_by_role("alert")).to_contain_text("not right")
            frame.get_by_label("One-time code").fill("123456")
            frame.get_by_role("button", name="Approve").click()
        expect(frame.get_by_role("heading", name="Payment successful")).to_be_visible()
        wait_for_call(page, "success")
        assert calls_of(page) == [["success", {"reference": reference}]]
        assert page.url == address


def test_escape_on_the_page_of_the_bank_closes_the_overlay_and_nothing_is_paid(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        address, reference = offer_checkout(site, shop)
        page = open_page()
        frame = open_overlay(page, address)
        enter_card(frame, "200")
        press_and_leave(frame.get_by_label("One-time code"), "Escape")
        wait_for_call(page, "close")
        assert calls_of(page) == [["close"]]
        expect(page.get_by_role("button", name="Pay")).to_be_focused()
        # The same access code goes on where the payer was.
        frame = open_overlay(page, address)
        frame.get_by_role("link", name="Continue").click()
        frame.get_by_label("One-time code").fill("123456")
        frame.get_by_role("button", name="Approve").click()
        expect(frame.get_by_role("heading", name="Payment successful")).to_be_visible()
    assert verify(shop, reference)["checkout"]["attempts"] == 1


def test_the_focus_stays_in_the_overlay_and_returns(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        address, _ = offer_checkout(site, shop)
        page = open_page()
        frame = open_overlay(page, address)
        expect(frame.get_by_label("Card number")).to_be_visible()
        expect(page.locator("iframe")).to_be_focused()
        visited = set()
        for key in ["Tab"] * 25 + ["Shift+Tab"] * 25:
            page.keyboard.press(key)
            assert is_in_dialog(page)
            visited.add(page.evaluate("document.activeElement.tagName"))
        assert {"IFRAME", "BUTTON"} <= visited
        box = page.locator("#behind").bounding_box()
        assert box is not None
        over = page.evaluate("([x, y]) => document.elementFromPoint(x, y).tagName", [box["x"] + 5, box["y"] + 5])
        assert over == "DIALOG"
        press_and_leave(page.get_by_role("button", name="Close payment"), "Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("button", name="Pay")).to_be_focused()
        assert calls_of(page) == [["close"]]
        open_overlay(page, address)
        page.get_by_role("button", name="Close payment").click()
        wait_for_call(page, "close")
        expect(page.get_by_role("button", name="Pay")).to_be_focused()


def test_a_page_has_one_overlay_at_a_time(shop: MerchantClient, deployment: Deployment, open_page: OpenPage) -> None:
    with running_shop_site(deployment) as site:
        address, _ = offer_checkout(site, shop)
        page = open_page()
        expect(open_overlay(page, address).get_by_label("Card number")).to_be_visible()
        page.evaluate("document.getElementById('pay').click()")
        assert calls_of(page) == [["error", "already_open"]]
        expect(page.get_by_role("dialog")).to_have_count(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_checkout_inside_an_element_has_its_height_and_ignores_escape(
    theme: str, shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        address, reference = offer_checkout(site, shop, element="#place")
        page = open_page(width=WIDTHS["narrow"], theme=theme)
        frame = open_overlay(page, address)
        expect(frame.get_by_label("Card number")).to_be_visible()
        assert page.locator("#place > iframe").count() == 1
        assert page.get_by_role("dialog").count() == 0
        shown = page.locator("iframe").element_handle().content_frame()
        assert shown is not None
        shown.wait_for_function("document.documentElement.scrollHeight <= innerHeight + 1")
        assert accessibility_faults(page) == []
        frame.get_by_label("Card number").press("Escape")
        pay_with_code(frame)
        wait_for_call(page, "success")
        assert calls_of(page) == [["success", {"reference": reference}]]
        page.evaluate("opened.close()")
        expect(page.locator("iframe")).to_have_count(0)
        page.evaluate("opened.close()")
        assert calls_of(page) == [["success", {"reference": reference}], ["close"]]


def test_a_transfer_that_comes_in_two_parts_is_confirmed_in_the_overlay(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        address, reference = offer_checkout(site, shop)
        page = open_page(width=WIDTHS["narrow"])
        frame = open_overlay(page, address)
        frame.get_by_role("link", name="Transfer").click()
        frame.get_by_role("button", name="Get account number").click()
        account = frame.locator("#account-number").inner_text()
        shop.put("sandbox", action="pay_account", accountNumber=account, amount="500.00")
        expect(frame.get_by_text("has arrived")).to_be_visible()
        assert calls_of(page) == []
        shop.put("sandbox", action="pay_account", accountNumber=account, amount="1000.00")
        expect(frame.get_by_role("heading", name="Payment successful")).to_be_visible()
        wait_for_call(page, "success")
        assert calls_of(page) == [["success", {"reference": reference}]]


def test_a_receipt_is_printed_and_downloaded_out_of_the_overlay(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        address, _ = offer_checkout(site, shop)
        page = open_page()
        frame = open_overlay(page, address)
        pay_with_code(frame)
        with page.expect_download() as download:
            frame.get_by_role("link", name="Download receipt").click()
        assert download.value.suggested_filename.startswith("receipt-GP")
        shown = page.locator("iframe").element_handle().content_frame()
        assert shown is not None
        shown.evaluate("window.print = () => { window.printed = true; }")
        frame.get_by_role("button", name="Print").click()
        assert shown.evaluate("printed")


def test_a_link_an_invoice_and_tickets_are_paid_in_the_overlay(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    link = shop.put("resources", request="paylink", title="Cooking class", amount="500.00").body["data"]["link"]
    invoice, tickets = make_invoice(shop)["link"], make_ticket_link(shop)["link"]
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        page = open_page(width=WIDTHS["narrow"])
        for url in (link, invoice, tickets):
            frame = open_overlay(page, site.offer(url=url))
            if url == tickets:
                frame.get_by_label("Regular").select_option("1")
            if url != invoice:
                frame.get_by_label("Name").fill("Bola Ade")
                frame.get_by_label("Email").fill("bola@example.com")
            frame.get_by_role("button", name=re.compile("Continue|Pay|Buy")).first.click()
            pay_with_code(frame)
            wait_for_call(page, "success")
            [[_, paid]] = calls_of(page)
            assert verify(shop, paid["reference"])["txnStatus"] == "successful"
            assert frame.get_by_text("Your tickets for Jazz Night").count() == (url == tickets)


def test_the_overlay_needs_no_cookie_where_those_of_frames_are_blocked(
    shop: MerchantClient, deployment: Deployment, browser: Browser
) -> None:
    """A page that sets a cookie is framed first, so that they are known to be blocked."""
    kind = browser.browser_type
    blocking = kind.launch(executable_path=str(CHROMIUM), args=[*ARGUMENTS, "--test-third-party-cookie-phaseout"])
    sets_one = "<script>document.cookie = 'a=b; SameSite=None; Secure'; document.title = document.cookie</script>"
    with (
        running_shop_site(deployment) as site,
        running_shop_site(deployment, "127.0.0.1", **{"/cookie": sets_one}) as other,
        blocking,
    ):
        address, reference = offer_checkout(site, shop)
        page = blocking.new_page()
        page.goto(f"{other.origin}/cookie")
        assert page.title() == "a=b"
        page.context.clear_cookies()
        page.goto(site.frames(f"{other.origin}/cookie"))
        framed = page.frames[-1]
        assert (framed.url, framed.title()) == (f"{other.origin}/cookie", "")
        pay_with_code(open_overlay(page, address))
        wait_for_call(page, "success")
        assert calls_of(page) == [["success", {"reference": reference}]]
        assert page.context.cookies() == []
