"""What a shop hears of a checkout that cannot go on: notices, ended payments, and a service that is away, in a real
browser. Contract: payment#embedding"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from kasuwa.http.public_limits import FAILED_LINKS
from kasuwa.pages.render import FRAME_SCRIPT, csp_hash
from kasuwa.transactions.checkouts import TOKEN_DIGITS
from tests.browser import BROWSER_GROUP, OpenPage, accessibility_faults, browser, new_page, open_page, press_and_leave
from tests.database_proxy import DatabaseProxy
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import OK_CARD, open_checkout, verify
from tests.pages.shop_site import allow, calls_of, open_overlay, pay_with_code, running_shop_site, wait_for_call
from tests.running import Deployment, Deployments, running_deployment, stop
from tests.simulate.processes import wait_until

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP

UNKNOWN = "0" * TOKEN_DIGITS


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose console may show that the service was away."""
    with new_page(browser) as page:
        yield page


def fill_card(frame: FrameLocator) -> None:
    frame.get_by_label("Card number").fill(OK_CARD)
    frame.get_by_label("Expires").fill("12/30")
    frame.get_by_label("Security code").fill("000")


def wait_for_error(page: Page, code: str) -> None:
    page.wait_for_function("code => calls.some(one => one[0] === 'error' && one[1] === code)", arg=code)


@contextmanager
def service_with_cable(deployments: Deployments, directory: Path) -> Iterator[tuple[Deployment, DatabaseProxy]]:
    """A service whose database can be taken away."""
    dsn = deployments.migrated_database(f"embedded_{directory.name}")
    with DatabaseProxy(dsn) as cable, running_deployment(directory / "serve", cable.dsn) as deployment:
        yield deployment, cable


@pytest.mark.parametrize("element", [None, "#place"], ids=["overlay", "element"])
def test_a_busy_service_is_shown_in_the_checkout_and_the_shop_hears_of_it(
    element: str | None, deployments: Deployments, tmp_path: Path, page: Page
) -> None:
    """The payer sends the card while the database is away, and goes on when it is back."""
    with service_with_cable(deployments, tmp_path) as (deployment, cable):
        shop = deployment.open_shop()
        begun = open_checkout(shop, redirect_url=None)
        with running_shop_site(deployment) as site:
            allow(shop, site.origin)
            options = {} if element is None else {"element": element}
            address = site.offer(access_code=begun["access_code"], **options)
            frame = open_overlay(page, address)
            fill_card(frame)
            cable.cut()
            frame.get_by_role("button", name="Pay NGN").click()
            wait_for_error(page, "unavailable")
            expect(frame.get_by_role("heading", name="Please try again in a moment")).to_be_visible()
            assert (page.url, calls_of(page)) == (address, [["error", "unavailable"]])
            cable.restore()
            wait_until("the service is back", deployment.is_ready)
            frame.get_by_role("link", name="Try again").click()
            pay_with_code(frame)
            wait_for_call(page, "success")
            page.evaluate("opened.close()")
            assert calls_of(page)[-2:] == [["success", {"reference": begun["txnRef"]}], ["close"]]
        shop.connection.close()


def test_a_service_that_is_busy_from_the_start_does_not_lead_the_payer_away(
    deployments: Deployments, tmp_path: Path, page: Page
) -> None:
    with service_with_cable(deployments, tmp_path) as (deployment, cable):
        shop = deployment.open_shop()
        begun = open_checkout(shop, redirect_url=None)
        with running_shop_site(deployment) as site:
            allow(shop, site.origin)
            address = site.offer(access_code=begun["access_code"])
            cable.cut()
            frame = open_overlay(page, address)
            wait_for_error(page, "unavailable")
            press_and_leave(frame.get_by_role("link", name="Try again"), "Escape")
            wait_for_call(page, "close")
            assert (page.url, calls_of(page)) == (address, [["error", "unavailable"], ["close"]])
            expect(page.get_by_role("button", name="Pay")).to_be_focused()
            cable.restore()
            wait_until("the service is back", deployment.is_ready)
        assert verify(shop, begun["txnRef"])["txnStatus"] == "pending"
        shop.connection.close()


def test_a_shop_hears_of_a_service_that_goes_down_while_the_checkout_is_open(
    deployments: Deployments, tmp_path: Path, page: Page
) -> None:
    """The browser shows a page of its own in the frame, which says nothing."""
    deployment = Deployment(tmp_path, deployments.migrated_database("embedded_down"), {})
    process = deployment.start()
    try:
        deployment.wait_ready(process)
        shop = deployment.open_shop()
        begun = open_checkout(shop, redirect_url=None)
        with running_shop_site(deployment) as site:
            allow(shop, site.origin)
            address = site.offer(access_code=begun["access_code"])
            fill_card(frame := open_overlay(page, address))
            shop.connection.close()
            stop(process)
            frame.get_by_role("button", name="Pay NGN").click()
            wait_for_error(page, "no_answer")
            expect(page.get_by_role("status")).to_have_text("The payment page does not answer")
            page.get_by_role("button", name="Close payment").click()
            assert (page.url, calls_of(page)) == (address, [["error", "no_answer"], ["close"]])
            process = deployment.start()
            deployment.wait_ready(process)
            page.get_by_role("button", name="Pay").click()
            pay_with_code(page.frame_locator("iframe[title=Payment]"))
            wait_for_call(page, "success")
    finally:
        deployment.close()
        stop(process)


def test_a_shop_hears_of_an_unknown_code_and_the_notice_is_sound(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        page = open_page()
        frame = open_overlay(page, site.offer(access_code=UNKNOWN))
        wait_for_error(page, "not_found")
        expect(frame.get_by_role("heading", name="Page not found")).to_be_visible()
        assert accessibility_faults(page) == []
        messages = [message["data"] for message in page.evaluate("messages")]
        assert [set(one) - {"kasuwa", "nonce", "type"} for one in messages if one["type"] != "size"] == [
            set(),
            {"code"},
        ]
        press_and_leave(page.locator("iframe[title=Payment]"), "Escape")
        wait_for_call(page, "close")
        assert calls_of(page) == [["error", "not_found"], ["close"]]


def test_a_shop_hears_of_links_and_invoices_that_cannot_be_paid(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    made = shop.put("resources", request="paylink", title="Cooking class", amount="500.00").body["data"]
    closed = shop.put("resources", inquire="paylink", link_id=made["link_id"], status="disable").body
    assert closed["status"] == 200
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        page = open_page()
        for url, code in (
            (made["link"], "link_not_in_use"),
            (f"{site.service}/pay/link/nobody-has-this", "not_found"),
            (f"{site.service}/pay/invoice/{UNKNOWN}", "not_found"),
        ):
            open_overlay(page, site.offer(url=url))
            wait_for_error(page, code)
            assert calls_of(page) == [["error", code]]


def test_a_shop_hears_of_a_checkout_that_expires_in_the_frame(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    begun = open_checkout(shop)
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        page = open_page()
        frame = open_overlay(page, site.offer(access_code=begun["access_code"]))
        fill_card(frame)
        shop.put("sandbox", action="advance", days=2)
        frame.get_by_role("button", name="Pay NGN").click()
        wait_for_error(page, "expired")
        expect(frame.get_by_role("heading", name="This page has expired")).to_be_visible()
        frame.get_by_role("link", name="Back to").click()
        wait_for_call(page, "close")
        assert calls_of(page) == [["error", "expired"], ["close"]]


def test_a_network_that_opened_too_many_wrong_addresses_gets_a_notice_that_speaks(deployments: Deployments) -> None:
    """No browser is asked: it depends on the second which requests of a network are refused."""
    with deployments.fresh("embedded_guesses") as deployment, deployment.connect() as wire:
        opened = [wire.send("GET", f"/pay/checkout/{n:0{TOKEN_DIGITS}x}") for n in range(FAILED_LINKS + 60)]
        refused = next(reply for reply in opened if reply.http == 429)
    assert b'data-notice="rate_limited"' in refused.raw
    assert csp_hash(FRAME_SCRIPT) in refused.headers["content-security-policy"]
