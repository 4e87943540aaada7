"""A payer with a browser on the pages of invoices and tickets, at 360 pixels. (Contract: resources#invoice-page)"""

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
from tests.methods.invoices.test_http import made, show
from tests.methods.tickets.test_http import make_link, sales

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP


def assert_sound(page: Page) -> None:
    assert accessibility_faults(page) == []
    assert not overflows(page)
    take_pictures(page)


def pay_by_card(page: Page) -> None:
    page.get_by_label("Card number").press_sequentially("4111110000000013")
    page.get_by_label("Expires").press_sequentially("1230")
    page.get_by_label("Security code").fill("000")
    press_and_leave(page.get_by_label("Security code"), "Enter")
    page.get_by_label("One-time code").fill("123456")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", name="Payment successful")).to_be_visible()


def test_a_part_of_an_invoice_is_paid_and_the_page_shows_what_is_left(
    shop: MerchantClient, open_page: OpenPage
) -> None:
    record = made(
        shop, charge_user="parts", vat=7.5, discount=500, shipping=1500, note="Thank you", date_due="2099-01-31"
    )
    page = open_page(width=WIDTHS["narrow"], theme="dark")
    page.goto(record["link"])
    assert_sound(page)
    page.get_by_label("Amount to pay now").fill("nothing")
    page.get_by_role("button", name="Continue to payment").click()
    expect(page.get_by_text("Enter an amount, such as 1500")).to_be_visible()
    assert_sound(page)
    page.get_by_label("Amount to pay now").fill("5,000.00")
    page.get_by_role("button", name="Continue to payment").click()
    expect(page.get_by_role("heading", name=f"Invoice {record['number']}")).to_be_visible()
    pay_by_card(page)
    page.goto(record["link"])
    expect(page.get_by_text("Partly paid")).to_be_visible()
    expect(page.get_by_text("Amount due")).to_be_visible()
    assert_sound(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download invoice").click()
    assert download.value.suggested_filename == f"invoice-{record['number']}.pdf"
    assert show(shop, record["invoice_id"])["paid"] == "5000.00"


def test_tickets_are_bought_and_shown_with_their_codes(shop: MerchantClient, open_page: OpenPage) -> None:
    link = make_link(shop, description="Saturday, 20:00")
    page = open_page(width=WIDTHS["narrow"])
    page.goto(link["link"])
    assert_sound(page)
    page.get_by_label("Name").fill("Ada Obi")
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose at least one ticket")
    assert_sound(page)
    page.get_by_label(re.compile("Regular")).select_option("2")
    page.get_by_role("button", name="Continue").click()
    pay_by_card(page)
    codes = [ticket["code"] for ticket in sales(shop, link["link_id"])["tickets"]]
    for code in codes:
        expect(page.get_by_text(code, exact=True)).to_be_visible()
        expect(page.get_by_role("img", name=f"QR code of ticket {code}")).to_be_visible()
    assert len(codes) == 2
    assert_sound(page)
