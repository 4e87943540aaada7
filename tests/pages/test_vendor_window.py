"""The page of a vendor, on a third origin that refuses to be framed, opened from a checkout inside a shop's page.

The service is in live, and the vendor is its twin: the browser reaches it under the vendor's own address, and the shop
at an address with https, as live wants it. Contract: payment#embedding
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Route, expect

from tests.browser import BROWSER_GROUP, browser, new_page
from tests.pages.shop_site import ShopSite, calls_of, open_overlay, running_shop_site, wait_for_call
from tests.rails.vendors.live_collection import CollectionHarness, collecting
from tests.running import Deployments
from tests.simulate.processes import wait_until

__all__ = ["browser"]
pytestmark = BROWSER_GROUP

SHOP = "https://shop.example"
VENDOR = "https://checkout.paystack.com"
REFUSES_FRAMES = {"x-frame-options": "DENY", "content-security-policy": "frame-ancestors 'none'"}
# Browsers of companies and within apps open no window, whatever is pressed.
NO_WINDOWS = "window.open = () => null;"
# The pages of Playwright never lose the focus, as others do to a window before them.
LOSE_FOCUS = "document.hasFocus = () => false;"
ISOLATED = {"cross-origin-opener-policy": "same-origin"}


@pytest.fixture(scope="module")
def harness(deployments: Deployments) -> Iterator[CollectionHarness]:
    with collecting(deployments, "vendor-window", "paystack", "monnify") as harness:
        harness.deployment.change_settings(harness.shop.mid, checkout_origins=(SHOP,))
        yield harness
        harness.compare_books()


class Visit:
    """A payer at the shop, with a checkout that is paid on the vendor's page."""

    def __init__(self, harness: CollectionHarness, page: Page, site: ShopSite) -> None:
        self.harness = harness
        self.page = page
        self.headers: dict[str, str] = {}  # of the shop's pages
        self.begun = harness.put(action="checkout", amount="1900.00", user={"email": "ada@example.com"})
        # The shop's page seems to come from the internet, and the service is on this machine.
        page.context.grant_permissions(["local-network-access"], origin=SHOP)
        page.context.route(f"{SHOP}/**", lambda route: self.show(route, site.server.origin))
        page.context.route(f"{VENDOR}/**", lambda route: self.show(route, harness.vendors.paystack.url))
        site.offer(access_code=self.begun["access_code"])
        site.frames(f"{VENDOR}/pay/any")

    def show(self, route: Route, server: str) -> None:
        """Answers with what a server of this machine answers. Its redirects are the browser's."""
        address = urlsplit(route.request.url)
        reply = route.fetch(url=f"{server}{address.path}", max_redirects=0)
        is_vendor = server == self.harness.vendors.paystack.url
        headers = {**reply.headers, **(REFUSES_FRAMES if is_vendor else self.headers)}
        route.fulfill(response=reply, headers=headers)

    def begin(self) -> FrameLocator:
        """Opens the overlay and begins a payment by card."""
        frame = open_overlay(self.page, f"{SHOP}/shop")
        frame.get_by_role("button", name="Pay NGN").click()
        expect(frame.get_by_role("link", name="Continue")).to_be_visible()
        return frame

    def press_continue(self, frame: FrameLocator) -> Page:
        """Returns the window that opens."""
        with self.page.context.expect_page() as opened:
            frame.get_by_role("link", name="Continue").click()
        window: Page = opened.value
        expect(window.get_by_role("heading", name="Pay NGN 1900.00")).to_be_visible()
        return window

    def pay(self, window: Page) -> None:
        """Pays on the vendor's page, and has the vendor tell it."""
        window.get_by_role("button", name="Pay").click()
        window.wait_for_url(f"http://127.0.0.1:{self.harness.deployment.port}/pay/**")
        attempt = self.harness.verify(self.begun["txnRef"])["checkout"]["attemptRef"]
        self.harness.call_back("paystack", self.harness.paystack.pay(self.harness.wire(attempt)))
        self.harness.wait_for(self.begun["txnRef"], "successful")


@pytest.fixture
def visit(harness: CollectionHarness, browser: Browser) -> Iterator[Visit]:
    with running_shop_site(harness.deployment) as site, new_page(browser) as page:
        yield Visit(harness, page, site)


def test_a_page_that_refuses_frames_opens_in_a_window_and_the_frame_waits(visit: Visit) -> None:
    with visit.page.expect_event("console", lambda message: "frame" in message.text):
        visit.page.goto(f"{SHOP}/frames")
    frame = visit.begin()
    window = visit.press_continue(frame)
    assert window.url.startswith(f"{VENDOR}/pay/")
    # The vendor cannot lead the frame elsewhere, and is not told who sent the payer.
    assert window.evaluate("[window.opener, document.referrer]") == [None, ""]
    visit.pay(window)
    expect(frame.get_by_role("heading", name="Payment successful")).to_be_visible()
    wait_for_call(visit.page, "success")
    assert calls_of(visit.page) == [["success", {"reference": visit.begun["txnRef"]}]]
    assert visit.page.url == f"{SHOP}/shop"


def test_a_page_opens_in_a_window_from_a_shop_that_isolates_itself(visit: Visit) -> None:
    visit.headers = ISOLATED
    visit.page.add_init_script(LOSE_FOCUS)
    frame = visit.begin()
    window = visit.press_continue(frame)
    assert window.evaluate("[window.opener, document.referrer]") == [None, ""]
    visit.pay(window)
    expect(frame.get_by_role("heading", name="Payment successful")).to_be_visible()
    wait_for_call(visit.page, "success")
    assert calls_of(visit.page) == [["success", {"reference": visit.begun["txnRef"]}]]


def test_a_payer_whose_browser_opens_no_window_is_redirected_and_pays(visit: Visit) -> None:
    visit.page.add_init_script(NO_WINDOWS)
    frame = visit.begin()
    # What the shop was told is read when the payer has left its page.
    visit.page.evaluate("calls.push = (one) => { sessionStorage.call = JSON.stringify(one); }")
    frame.get_by_role("link", name="Continue").click()
    visit.page.wait_for_url(visit.begun["checkoutURL"])
    visit.page.get_by_role("link", name="Continue").click()
    visit.page.wait_for_url(f"{VENDOR}/pay/**")
    visit.pay(visit.page)
    visit.page.goto(visit.begun["checkoutURL"])
    expect(visit.page.get_by_role("heading", name="Payment successful")).to_be_visible()
    visit.page.goto(f"{SHOP}/shop")
    assert visit.page.evaluate("JSON.parse(sessionStorage.call)") == ["error", "window_blocked"]


def test_a_payer_who_closes_the_window_continues_or_pays_in_another_way(visit: Visit) -> None:
    frame = visit.begin()
    attempt = visit.harness.verify(visit.begun["txnRef"])["checkout"]["attemptRef"]
    visit.press_continue(frame).close()
    expect(frame.get_by_role("link", name="Continue")).to_be_visible()
    again = visit.press_continue(frame)
    assert visit.harness.verify(visit.begun["txnRef"])["checkout"]["attempts"] == 1
    again.close()
    frame.get_by_role("button", name="Pay another way").click()
    frame.get_by_role("link", name="Transfer").click()
    frame.get_by_role("button", name="Get account number").click()
    expect(frame.get_by_role("heading", name="Transfer to this account")).to_be_visible()
    assert visit.harness.verify(attempt)["txnStatus"] == "failed"
    second = visit.harness.verify(visit.begun["txnRef"])["checkout"]["attemptRef"]
    visit.harness.call_back("monnify", visit.harness.monnify.pay(visit.harness.wire(second)))
    expect(frame.get_by_role("heading", name="Payment successful")).to_be_visible()
    wait_for_call(visit.page, "success")
    assert calls_of(visit.page) == [["success", {"reference": visit.begun["txnRef"]}]]


def test_a_payer_who_closes_the_overlay_finds_the_open_window_paid(visit: Visit) -> None:
    """The window is the payer's: what is paid in it counts, whatever became of the frame."""
    frame = visit.begin()
    window = visit.press_continue(frame)
    visit.page.get_by_role("button", name="Close payment").click()
    wait_for_call(visit.page, "close")
    visit.pay(window)
    wait_until("it is paid", lambda: visit.harness.verify(visit.begun["txnRef"])["txnStatus"] == "successful")
    visit.page.get_by_role("button", name="Pay").click()
    wait_for_call(visit.page, "success")
    paid: Any = ["success", {"reference": visit.begun["txnRef"]}]
    assert calls_of(visit.page) == [["close"], paid]
