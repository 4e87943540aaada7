"""A payer with a real browser, from the merchant's own page through 3-D Secure and back. (Contract: payment#charge)"""

from typing import Any

from playwright.sync_api import expect

from tests.browser import BROWSER_GROUP, WIDTHS, OpenPage, browser, open_page
from tests.merchant_client import MerchantClient
from tests.pages.fake_checkout import running_page_server

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP

CARD = {"card_no": "4111111111111111", "expiry_month": "12", "expiry_year": "39", "ccv": "200"}


def begin(shop: MerchantClient, **fields: Any) -> Any:
    body: Any = {"paymentType": "card", "card": CARD, "amount": "1500.00", **fields}
    begun = shop.put("payment", action="initiate", **body).body
    return shop.put("payment", action="charge", txnRef=begun["txnRef"], auth_type=begun["apply_auth"], **body).body


def test_a_payer_verifies_in_a_frame_and_comes_back_to_the_merchant(shop: MerchantClient, open_page: OpenPage) -> None:
    with running_page_server(pages={"/done": "<title>Shop</title><h1>Thank you</h1>"}) as site:
        asked = begin(shop, redirect_url=f"{site.origin}/done")
        site.pages["/checkout"] = f'<h1>Checkout</h1><iframe src="{asked["authURL"]}" height="700"></iframe>'
        page = open_page(width=WIDTHS["narrow"])
        page.goto(f"{site.origin}/checkout")
        frame = page.frame_locator("iframe")
        frame.get_by_label("One-time code").fill("000000")
        frame.get_by_role("button", name="Approve").click()
        expect(frame.get_by_role("alert")).to_be_visible()
        frame.get_by_label("One-time code").fill("123456")
        frame.get_by_role("button", name="Approve").click()
        expect(frame.get_by_role("heading")).to_have_text("Thank you")
        assert f"/done?txnRef={asked['txnRef']}&txnStatus=successful" in site.requested_paths
    assert shop.put("payment", action="verify", txnRef=asked["txnRef"]).body["txnStatus"] == "successful"


def test_without_an_address_the_window_shows_the_bare_result(shop: MerchantClient, open_page: OpenPage) -> None:
    asked = begin(shop)
    page = open_page()
    page.goto(asked["authURL"])
    page.get_by_role("button", name="Decline").click()
    page.wait_for_function("document.contentType == 'application/json'")
    result = page.evaluate("JSON.parse(document.body.innerText)")
    assert (result["status"], result["txnRef"], result["txnStatus"]) == (200, asked["txnRef"], "failed")


def test_a_waiting_page_sees_the_money_come(shop: MerchantClient, open_page: OpenPage) -> None:
    charged = shop.put("payment", action="charge", paymentType="qrpay", amount="1500.00").body
    page = open_page(width=WIDTHS["narrow"])
    page.clock.install()
    page.goto(charged["qr_image"].removesuffix("/qr.svg"))
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    shop.put("sandbox", action="settle", txnRef=charged["txnRef"], outcome="successful")
    page.clock.run_for(3_000)
    expect(page.get_by_role("heading")).to_have_text("Payment successful")
