"""A shop on an origin of its own that shows checkouts by kasuwa.js, and the calls that it got."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import FrameLocator, Page, expect

from kasuwa.api.checkout_script import SCRIPTS
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import OK_CARD
from tests.pages.fake_checkout import PageServer, running_page_server
from tests.running import Deployment

SCRIPT_PATH = "/kasuwa-1.js"

SHOP = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Ada Stores</title></head>
<body><main><h1>Two shirts</h1><button id="pay">Pay</button> <input id="behind" aria-label="Voucher">
<div id="place"></div></main>
BEFORE
<script src="SERVICE/kasuwa-1.js" integrity="INTEGRITY" crossorigin="anonymous"></script>
<script>
window.calls = []; window.messages = [];
addEventListener("message", function (event) { messages.push({ origin: event.origin, data: event.data }); });
document.getElementById("pay").addEventListener("click", function () {
  var options = Object.assign({
    onSuccess: function (paid) { calls.push(["success", paid]); },
    onClose: function () { calls.push(["close"].concat([].slice.call(arguments))); },
    onError: function (error) { calls.push(["error", error.code]); }
  }, OPTIONS);
  window.opened = Kasuwa.checkout(options);
});
</script></body></html>"""


class ShopSite:
    """`host` is the name by which browsers open the site: 127.0.0.1, or localhost, which is another host to them."""

    def __init__(self, server: PageServer, deployment: Deployment, host: str) -> None:
        self.server = server
        self.origin = f"http://{host}:{server.server_port}"
        self.service = f"http://127.0.0.1:{deployment.port}"

    def offer(self, before: str = "", path: str = "/shop", **options: Any) -> str:
        """Adds a page with a button that opens a checkout with these options. Returns its address."""
        page = SHOP.replace("SERVICE", self.service).replace("INTEGRITY", SCRIPTS[SCRIPT_PATH].integrity)
        self.server.pages[path] = page.replace("BEFORE", before).replace(
            "OPTIONS", json.dumps(options).replace("<", "\\u003c")
        )
        return self.origin + path

    def frames(self, address: str, path: str = "/frames") -> str:
        """Adds a page with a plain frame. Returns its address."""
        self.server.pages[path] = f'<!doctype html><title>Frame</title><iframe src="{address}"></iframe>'
        return self.origin + path


@contextmanager
def running_shop_site(deployment: Deployment, host: str = "localhost", **pages: str) -> Iterator[ShopSite]:
    with running_page_server(pages=pages) as server:
        yield ShopSite(server, deployment, host)


def allow(shop: MerchantClient, *origins: str) -> None:
    reply = shop.put("sandbox", action="checkout_origins", origins=list(origins)).body
    assert (reply["status"], reply["origins"]) == (200, list(origins)), reply


def open_overlay(page: Page, address: str) -> FrameLocator:
    page.goto(address)
    page.get_by_role("button", name="Pay").click()
    return page.frame_locator("iframe[title=Payment]")


def enter_card(frame: FrameLocator, cvv: str = "000") -> None:
    frame.get_by_label("Card number").fill(OK_CARD)
    frame.get_by_label("Expires").fill("12/30")
    frame.get_by_label("Security code").fill(cvv)
    frame.get_by_role("button", name="Pay NGN").click()


def pay_with_code(frame: FrameLocator) -> None:
    enter_card(frame)
    frame.get_by_label("One-time code").fill("123456")
    frame.get_by_role("button", name="Confirm").click()
    expect(frame.get_by_role("heading", name="Payment successful")).to_be_visible()


def calls_of(page: Page) -> list[Any]:
    return list(page.evaluate("calls"))


def wait_for_call(page: Page, what: str) -> None:
    page.wait_for_function("what => calls.some(one => one[0] === what)", arg=what)
