"""The React example of the guide, as it is printed, with React itself in a browser. Contract: payment#embedding"""

import re
from pathlib import Path

from playwright.sync_api import Route, expect

from kasuwa.api.checkout_script import SCRIPTS
from tests.browser import BROWSER_GROUP, OpenPage, browser, open_page, press_and_leave
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import open_checkout, verify
from tests.node import install_npm_packages
from tests.pages.shop_site import SCRIPT_PATH, ShopSite, allow, pay_with_code, running_shop_site
from tests.pages.test_embedding import GUIDE
from tests.running import Deployment

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP

REACT = ("react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js")
CODE_OF_EXAMPLE = "387d488f5e37caadf44a0052137e377dea0a6110185dcc9a"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def offer_button(site: ShopSite, access_code: str) -> str:
    """Adds the page of the guide with the button, and its files. Returns its address."""
    packages = install_npm_packages(Path(__file__).parent / "react")
    [component], [_, page_of_react] = blocks("js"), blocks("html")
    html = page_of_react.replace("https://pay.example", site.service)
    html = html.replace(CODE_OF_EXAMPLE, access_code)
    assert SCRIPTS[SCRIPT_PATH].integrity in html
    # The root is named for the test that takes the button away.
    html = re.sub(r"(ReactDOM.createRoot\([^;]*?\))(\.render)", r"(window.root = \1)\2", html)
    site.server.pages["/react"] = f'<!doctype html><meta charset="utf-8"><title>Shop</title>{html}'
    for path in REACT:
        site.server.pages[f"/{Path(path).name}"] = packages.joinpath(path).read_text()
    site.server.pages["/pay-button.js"] = component
    return f"{site.origin}/react"


def test_the_button_of_the_guide_pays_and_can_be_pressed_again(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    begun = open_checkout(shop, redirect_url=None)
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        page = open_page()
        page.goto(offer_button(site, begun["access_code"]))
        button = page.get_by_role("button", name="Pay ₦2,500.00")
        for _ in range(2):
            button.click()
            frame = page.frame_locator("iframe[title=Payment]")
            expect(frame.get_by_label("Card number")).to_be_visible()
            press_and_leave(page.locator("iframe[title=Payment]"), "Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)
        button.click()
        with page.expect_console_message(lambda message: message.text == begun["txnRef"]):
            pay_with_code(page.frame_locator("iframe[title=Payment]"))
        assert page.locator("script[src$='kasuwa-1.js']").count() == 1
    assert verify(shop, begun["txnRef"])["txnStatus"] == "successful"


def test_a_button_that_is_gone_opens_nothing_when_the_script_arrives(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    begun, waiting = open_checkout(shop, redirect_url=None), list[Route]()
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        page = open_page()
        page.route("**/kasuwa-1.js", lambda route: waiting.append(route))
        page.goto(offer_button(site, begun["access_code"]))
        with page.expect_request("**/kasuwa-1.js"):
            page.get_by_role("button", name="Pay ₦2,500.00").click()
        page.evaluate(
            "() => { window.loaded = new Promise(done => "
            "document.querySelector('script[src$=\"kasuwa-1.js\"]').addEventListener('load', done)); }"
        )
        page.evaluate("root.unmount()")
        [route] = waiting
        route.continue_()
        page.evaluate("loaded.then(() => new Promise(done => setTimeout(done)))")
        assert page.evaluate("Kasuwa.edition") == 1
        assert page.get_by_role("dialog").count() == 0


def test_the_page_of_the_guide_leads_a_payer_to_its_thanks(
    shop: MerchantClient, deployment: Deployment, open_page: OpenPage
) -> None:
    [plain, _] = blocks("html")
    begun = open_checkout(shop, redirect_url=None)
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        html = plain.replace("https://pay.example", site.service).replace(CODE_OF_EXAMPLE, begun["access_code"])
        site.server.pages["/shop"] = f'<!doctype html><meta charset="utf-8"><title>Shop</title>{html}'
        site.server.pages["/thanks"] = "<title>Thanks</title><h1>Thank you</h1>"
        page = open_page()
        page.goto(f"{site.origin}/shop")
        page.get_by_role("button", name="Pay").click()
        frame = page.frame_locator("iframe[title=Payment]")
        frame.get_by_label("Card number").fill("4111110000000013")
        frame.get_by_label("Expires").fill("12/30")
        frame.get_by_label("Security code").fill("000")
        frame.get_by_role("button", name="Pay NGN").click()
        frame.get_by_label("One-time code").fill("123456")
        frame.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile("/thanks"))
        assert page.url == f"{site.origin}/thanks?reference={begun['txnRef'].replace('|', '%7C')}"
    assert verify(shop, begun["txnRef"])["txnStatus"] == "successful"
