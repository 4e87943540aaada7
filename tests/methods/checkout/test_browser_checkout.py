"""A payer with a real browser on the page of a checkout, in both widths and themes. Contract: payment#checkout-page"""

import re

from playwright.sync_api import Page, expect

from tests.browser import (
    BROWSER_GROUP,
    WIDTHS,
    OpenPage,
    accessibility_faults,
    browser,
    open_page,
    overflows,
    press_and_leave,
)
from tests.console.page_checks import take_pictures
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import DECLINED_CARD, OK_CARD, open_checkout, verify
from tests.pages.fake_checkout import running_page_server

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP


def assert_sound(page: Page) -> None:
    assert accessibility_faults(page) == []
    assert not overflows(page)
    take_pictures(page)


def assert_hidden(page: Page, selector: str) -> None:
    """The page has this part, for its script to show."""
    expect(page.locator(selector)).to_have_count(1)
    expect(page.locator(selector)).to_be_hidden()


def test_a_declined_card_and_another_with_a_code_to_the_receipt_and_back(
    shop: MerchantClient, open_page: OpenPage
) -> None:
    with running_page_server(pages={"/done": "<title>Shop</title><h1>Thank you</h1>"}) as site:
        begun = open_checkout(shop, title="Two shirts", redirect_url=f"{site.origin}/done", bearer="customer")
        page = open_page(width=WIDTHS["narrow"], theme="dark")
        page.clock.install()
        page.goto(begun["checkoutURL"])
        assert_sound(page)
        page.get_by_role("button", name="Pay NGN").click()
        expect(page.get_by_label("Card number")).to_be_focused()
        expect(page.get_by_text("Check the card number")).to_be_visible()
        assert_sound(page)
        for number in (DECLINED_CARD, OK_CARD):
            page.get_by_label("Card number").press_sequentially(number)
            expect(page.get_by_label("Card number")).to_have_value(re.sub("(.{4})(?=.)", r"\1 ", number))
            page.get_by_label("Expires").press_sequentially("1230")
            page.get_by_label("Security code").fill("000")
            press_and_leave(page.get_by_label("Security code"), "Enter")
            expect(page.get_by_role("heading", name="Enter the code from your bank")).to_be_visible()
            page.get_by_label("One-time code").fill("123456")
            page.get_by_role("button", name="Confirm").click()
            if number == DECLINED_CARD:
                expect(page.get_by_role("alert")).to_contain_text("Your last attempt did not succeed")
                assert_sound(page)
        expect(page.get_by_role("heading", name="Payment successful")).to_be_visible()
        assert_sound(page)
        page.set_viewport_size({"width": 1280, "height": 900})
        assert_sound(page)
        with page.expect_download() as download:
            page.get_by_role("link", name="Download receipt").click()
        assert download.value.suggested_filename.startswith("receipt-GP")
        page.reload()
        page.clock.run_for(11_000)
        page.wait_for_url(re.compile("/done"))
        assert page.url.endswith(f"/done?txnRef={begun['txnRef'].replace('|', '%7C')}&status=successful")
        assert page.context.cookies() == []
    assert verify(shop, begun["txnRef"])["checkout"]["attempts"] == 2


def test_a_transfer_is_confirmed_while_the_payer_looks_at_the_page(shop: MerchantClient, open_page: OpenPage) -> None:
    begun = open_checkout(shop, redirect_url=None)
    page = open_page(width=WIDTHS["narrow"])
    page.clock.install()
    page.goto(begun["checkoutURL"])
    page.get_by_role("link", name="Transfer").click()
    page.get_by_role("button", name="Get account number").click()
    expect(page.get_by_role("heading", name="Transfer to this account")).to_be_visible()
    expect(page.get_by_text("Time left: 9:5")).to_be_visible()
    expect(page.get_by_role("button", name="Copy account number")).to_be_visible()
    assert_sound(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    assert_sound(page)
    account = page.locator("#account-number").inner_text()
    shop.put("sandbox", action="pay_account", accountNumber=account, amount="1500.00")
    page.clock.run_for(4_000)
    expect(page.get_by_role("heading", name="Payment successful")).to_be_visible()


def test_a_link_leads_to_a_payment_by_ussd_without_script(shop: MerchantClient, open_page: OpenPage) -> None:
    made = shop.put("resources", request="paylink", title="Cooking class").body["data"]
    page = open_page(width=WIDTHS["narrow"], theme="dark", java_script_enabled=False)
    page.goto(made["link"])
    page.get_by_label("Amount").fill("2,500")
    page.get_by_label("Name").fill("Bola Ade")
    page.get_by_label("Email").fill("bola@example.com")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="USSD").click()
    page.get_by_label("Bank", exact=True).select_option("gtb")
    page.get_by_role("button", name="Get the code to dial").click()
    expect(page.get_by_text("*737*000*")).to_be_visible()
    page.get_by_role("button", name="Pay another way").click()
    expect(page.get_by_role("navigation", name="Ways to pay")).to_be_visible()


def test_without_script_a_half_paid_transfer_says_what_is_left(shop: MerchantClient, open_page: OpenPage) -> None:
    begun = open_checkout(shop, redirect_url=None)
    page = open_page(width=WIDTHS["narrow"], java_script_enabled=False)
    page.goto(begun["checkoutURL"])
    page.get_by_role("link", name="Transfer").click()
    page.get_by_role("button", name="Get account number").click()
    expect(page.locator(".sum")).to_have_text("NGN\N{NO-BREAK SPACE}1,500.00")
    expect(page.get_by_text("Transfer exactly this amount from any bank")).to_be_visible()
    assert_hidden(page, "[data-copy]")
    account = page.locator("#account-number").inner_text()
    for amount in ("500.00", "1000.00"):
        shop.put("sandbox", action="pay_account", accountNumber=account, amount=amount)
        page.get_by_role("link", name="I have paid").click()
        if amount == "500.00":
            expect(page.locator(".sum")).to_have_text("NGN\N{NO-BREAK SPACE}1,000.00")
            expect(page.locator("body")).to_contain_text("Transfer exactly the rest, NGN\N{NO-BREAK SPACE}1,000.00,")
            expect(page.locator("body")).not_to_contain_text("this amount")
    expect(page.get_by_role("heading", name="Payment successful")).to_be_visible()
    assert_hidden(page, "[data-print]")
