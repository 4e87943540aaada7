"""The receipt of a transfer in a real browser: every width and theme."""

import pytest
from playwright.sync_api import expect

from tests.browser import (
    BROWSER_GROUP,
    THEMES,
    WIDTHS,
    OpenPage,
    accessibility_faults,
    browser,
    open_page,
    overflows,
    reuse_page,
    reused,
)
from tests.console.page_checks import PICTURES
from tests.merchant_client import MerchantClient
from tests.running import Deployment

__all__ = ["browser", "open_page", "reuse_page", "reused"]
pytestmark = BROWSER_GROUP


@pytest.mark.parametrize("theme", THEMES)
def test_a_receipt_is_accessible_in_every_width_and_theme(
    deployment: Deployment, shop: MerchantClient, reuse_page: OpenPage, theme: str
) -> None:
    reply = shop.transfer(narration="Rent of May", sender_name="Ada Stores")
    shop.put("sandbox", action="close")
    page = reuse_page(width=WIDTHS["narrow"], theme=theme)
    page.goto(reply["receiptURL"])
    for width in (WIDTHS["narrow"], WIDTHS["wide"]):
        page.set_viewport_size({"width": width, "height": 900})
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/receipt-{width}-{theme}.png", full_page=True)
        assert accessibility_faults(page) == []
        assert not overflows(page)


def test_without_script_a_receipt_offers_no_button_that_does_nothing(shop: MerchantClient, open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(shop.transfer()["receiptURL"])
    expect(page.locator("[data-print]")).to_have_count(1)
    expect(page.locator("[data-print]")).to_be_hidden()
