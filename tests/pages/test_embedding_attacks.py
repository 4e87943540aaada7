"""Sites that try to frame, forge or misuse a checkout, in a real browser. Contract: payment#embedding"""

import re
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from tests.browser import BROWSER_GROUP, browser, new_page
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import open_checkout
from tests.pages.shop_site import ShopSite, allow, calls_of, open_overlay, running_shop_site
from tests.running import Deployment

__all__ = ["browser"]
pytestmark = BROWSER_GROUP

EVIL_FRAME = """<!doctype html><title>Evil</title><script>
window.heard = [];
addEventListener("message", function (event) { heard.push(event.data); });
</script>"""
NONCE = "0123456789abcdef" * 2


@pytest.fixture
def page(browser: Browser) -> Any:
    """A page whose console may show what the browser has blocked."""
    with new_page(browser) as page:
        yield page


def frame_at(page: Page, start: str) -> Frame:
    return next(frame for frame in page.frames if frame.url.startswith(start))


def blocked_by_policy(page: Page, address: str) -> bool:
    """Opens a page, and returns whether the browser has refused to show a frame of it."""
    with page.expect_event("console", lambda message: "frame-ancestors" in message.text):
        page.goto(address)
    return all(frame.get_by_label("Card number").count() == 0 for frame in page.frames)


def test_a_site_that_is_not_on_the_list_cannot_frame_a_checkout(
    shop: MerchantClient, deployment: Deployment, page: Page
) -> None:
    begun = open_checkout(shop)
    with running_shop_site(deployment) as listed, running_shop_site(deployment) as hostile:
        assert blocked_by_policy(page, listed.frames(begun["checkoutURL"]))
        allow(shop, listed.origin)
        page.goto(listed.frames(begun["checkoutURL"]))
        expect(page.frame_locator("iframe").get_by_label("Card number")).to_be_visible()
        assert blocked_by_policy(page, hostile.frames(begun["checkoutURL"]))
        # The same port under another name is another origin.
        other_name = ShopSite(listed.server, deployment, "127.0.0.1")
        assert blocked_by_policy(page, other_name.frames(begun["checkoutURL"]))


def test_a_hostile_site_cannot_frame_the_shop_with_its_checkout(
    shop: MerchantClient, deployment: Deployment, page: Page
) -> None:
    """All pages around the checkout must be on the list: else buttons could be laid over the overlay."""
    begun = open_checkout(shop)
    with running_shop_site(deployment) as site, running_shop_site(deployment) as hostile:
        allow(shop, site.origin)
        offered = site.offer(access_code=begun["access_code"])
        page.goto(hostile.frames(offered))
        framed = page.frame_locator("iframe")
        with page.expect_event("console", lambda message: "frame-ancestors" in message.text):
            framed.get_by_role("button", name="Pay").click()
        assert all(frame.get_by_label("Card number").count() == 0 for frame in page.frames)


def test_a_shop_that_may_not_frame_redirects_its_payer(
    shop: MerchantClient, deployment: Deployment, page: Page
) -> None:
    begun = open_checkout(shop)
    with running_shop_site(deployment) as site:
        page.goto(site.offer(access_code=begun["access_code"]))
        # What the shop was told is read when the payer has left its page.
        page.evaluate("calls.push = (one) => { sessionStorage.call = JSON.stringify(one); }")
        page.get_by_role("button", name="Pay").click()
        page.wait_for_url(begun["checkoutURL"])
        expect(page.get_by_label("Card number")).to_be_visible()
        page.goto(f"{site.origin}/shop")
        assert page.evaluate("JSON.parse(sessionStorage.call)") == ["error", "not_framed"]


def test_a_script_of_another_protocol_redirects_its_payer(
    shop: MerchantClient, deployment: Deployment, page: Page
) -> None:
    """A page of a later release, which does not know an old script any more, is reached all the same."""
    begun = open_checkout(shop)
    script = (files("kasuwa") / "pages" / "embed" / "kasuwa-1.js").read_text()
    other = script.replace("PROTOCOL = 1", "PROTOCOL = 99")
    assert other != script
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        address = site.offer(access_code=begun["access_code"])
        site.server.pages["/shop"] = re.sub(
            r' integrity="[^"]*" crossorigin="anonymous"', "", site.server.pages["/shop"]
        )
        page.route("**/kasuwa-1.js", lambda route: route.fulfill(body=other, content_type="text/javascript"))
        page.goto(address)
        page.get_by_role("button", name="Pay").click()
        page.wait_for_url(begun["checkoutURL"])


def test_a_script_that_was_changed_on_the_way_is_not_run(
    shop: MerchantClient, deployment: Deployment, page: Page
) -> None:
    with running_shop_site(deployment) as site:
        page.route(
            "**/kasuwa-1.js",
            lambda route: route.fulfill(
                body="window.Kasuwa = 'evil'",
                content_type="text/javascript",
                headers={"access-control-allow-origin": "*"},
            ),
        )
        page.goto(site.offer(access_code="0" * 48))
        assert page.evaluate("typeof window.Kasuwa") == "undefined"


@pytest.mark.parametrize(
    "options",
    [
        {"url": "javascript:parent.calls.push('run')"},
        {"url": "JaVaScRiPt:alert(1)//SERVICE/pay/link/abc"},
        {"url": "data:text/html,<script>parent.calls.push('run')</script>"},
        {"url": "https://evil.example/pay/link/cooking-class"},
        {"url": "//evil.example/pay/link/cooking-class"},
        {"url": "SERVICE@evil.example/pay/link/cooking-class"},
        {"url": "SERVICE/docs/index.html"},
        {"url": "SERVICE/pay/link/../../docs/index.html"},
        {"url": "SERVICE/pay/link/%2e%2e/%2e%2e/docs"},
        {"url": ""},
        {"access_code": "../../docs/index.html"},
        {"access_code": ["0" * 48]},
        {"access_code": ""},
        {"access_code": "0" * 48, "url": "SERVICE/pay/link/cooking-class"},
        {},
    ],
    ids=str,
)
def test_an_address_that_is_no_page_of_the_service_opens_nothing(
    options: dict[str, Any], deployment: Deployment, page: Page
) -> None:
    with running_shop_site(deployment) as site:
        real = {
            name: value.replace("SERVICE", site.service) if isinstance(value, str) else value
            for name, value in options.items()
        }
        address = site.offer(**real)
        page.goto(address)
        page.get_by_role("button", name="Pay").click()
        assert calls_of(page) == [["error", "address_invalid"]]
        assert page.evaluate("opened === null")
        assert (page.locator("iframe").count(), page.url) == (0, address)
        assert "TypeError" in page.evaluate("o => { try { Kasuwa.checkout(o) } catch (e) { return String(e) } }", real)


@pytest.mark.parametrize(
    ("options", "code"),
    [({"element": "#nowhere"}, "element_missing"), ({"accessCode": "x"}, "option_unknown")],
)
def test_a_wrong_option_is_named(options: dict[str, Any], code: str, deployment: Deployment, page: Page) -> None:
    with running_shop_site(deployment) as site:
        page.goto(site.offer(access_code="0" * 48, **options))
        page.get_by_role("button", name="Pay").click()
        assert calls_of(page) == [["error", code]]


def test_an_element_that_poses_as_the_script_does_not_name_the_service(deployment: Deployment, page: Page) -> None:
    with running_shop_site(deployment) as site:
        page.goto(
            site.offer('<img name="currentScript" src="https://evil.example/a.png" alt="">', access_code="0" * 48)
        )
        page.get_by_role("button", name="Pay").click()
        assert calls_of(page) == [["error", "not_loaded"]]


def wait_for_message(page: Page, mark: str) -> None:
    page.wait_for_function("mark => messages.some(one => one.data.mark === mark)", arg=mark)


def test_forged_messages_do_not_pay_or_close_anything(shop: MerchantClient, deployment: Deployment, page: Page) -> None:
    begun = open_checkout(shop)
    with running_shop_site(deployment) as site, running_shop_site(deployment, **{"/evil": EVIL_FRAME}) as hostile:
        allow(shop, site.origin)
        # Frames beside the checkout: of a hostile site, and of another page of the service itself.
        neighbors = f'<iframe src="{hostile.origin}/evil"></iframe><iframe src="{site.service}/pay/nowhere"></iframe>'
        frame = open_overlay(page, site.offer(neighbors, access_code=begun["access_code"]))
        expect(frame.get_by_label("Card number")).to_be_visible()
        page.wait_for_function("messages.some(one => one.data.type === 'ready')")
        nonce = page.evaluate("messages[0].data.nonce")
        assert re.fullmatch("[0-9a-f]{32}", nonce)
        senders = {
            "evil": (frame_at(page, f"{hostile.origin}/evil"), nonce),
            "sibling": (frame_at(page, f"{site.service}/pay/nowhere"), nonce),
            "wrong nonce": (frame_at(page, begun["checkoutURL"]), NONCE),
            "no nonce": (frame_at(page, begun["checkoutURL"]), None),
            "the shop itself": (page.main_frame, nonce),
        }
        for mark, (sender, sent_nonce) in senders.items():
            for kind in ("paid", "close"):
                message = {
                    "kasuwa": 1,
                    "nonce": sent_nonce,
                    "type": kind,
                    "reference": "GP|CK|forged",
                    "mark": mark + kind,
                }
                # The hostile page says to whom it speaks as an attacker would: to anybody.
                sender.evaluate("message => parent.postMessage(message, '*')", message)
                wait_for_message(page, mark + kind)
        junk: tuple[Any, ...] = ("text", None, 7, {"kasuwa": 2, "nonce": nonce, "type": "close"})
        for other in junk:
            frame_at(page, begun["checkoutURL"]).evaluate("message => parent.postMessage(message, '*')", other)
        genuine = {"kasuwa": 1, "nonce": nonce, "type": "paid", "reference": 7, "mark": "last"}
        frame_at(page, begun["checkoutURL"]).evaluate("message => parent.postMessage(message, '*')", genuine)
        wait_for_last = "messages.some(one => one.data && one.data.mark === 'last')"
        page.wait_for_function(wait_for_last)
        assert calls_of(page) == []
        expect(frame.get_by_label("Card number")).to_be_visible()


def test_the_page_answers_only_the_window_around_it_and_only_a_whole_greeting(
    shop: MerchantClient, deployment: Deployment, page: Page
) -> None:
    begun = open_checkout(shop)
    hello = {"kasuwa": 1, "type": "hello", "nonce": NONCE}
    with running_shop_site(deployment) as site, running_shop_site(deployment, **{"/evil": EVIL_FRAME}) as hostile:
        allow(shop, site.origin)
        site.server.pages["/frames"] = (
            "<script>window.messages = []; addEventListener('message', e => messages.push(e.data))</script>"
            f'<iframe src="{begun["checkoutURL"]}"></iframe><iframe src="{hostile.origin}/evil"></iframe>'
        )
        page.goto(f"{site.origin}/frames")
        checkout, evil = frame_at(page, begun["checkoutURL"]), frame_at(page, f"{hostile.origin}/evil")
        checkout.evaluate("window.heard = []; addEventListener('message', e => heard.push(e.data))")
        evil.evaluate("message => parent.frames[0].postMessage(message, '*')", hello)
        broken = [{**hello, "nonce": "short"}, {**hello, "nonce": None}, {**hello, "kasuwa": 2}, {**hello, "type": "x"}]
        for message in (*broken, None, "hello"):
            page.evaluate("message => frames[0].postMessage(message, '*')", message)
        checkout.wait_for_function("heard.length === 7")
        page.evaluate("message => frames[0].postMessage(message, '*')", hello)
        page.wait_for_function("messages.length >= 1")
        assert page.evaluate("messages[0]") == {"kasuwa": 1, "nonce": NONCE, "type": "ready"}
        assert evil.evaluate("heard") == []
        # The first counts: nobody takes a checkout over later.
        page.evaluate("message => frames[0].postMessage(message, '*')", {**hello, "nonce": "f" * 32})
        checkout.wait_for_function("heard.length === 9")
        assert {message["nonce"] for message in page.evaluate("messages")} == {NONCE}


def test_a_window_that_the_shop_has_opened_cannot_speak_for_the_checkout(
    shop: MerchantClient, deployment: Deployment, page: Page
) -> None:
    begun = open_checkout(shop)
    with running_shop_site(deployment) as site, running_shop_site(deployment, **{"/evil": EVIL_FRAME}) as hostile:
        allow(shop, site.origin)
        frame = open_overlay(page, site.offer(access_code=begun["access_code"]))
        page.wait_for_function("messages.some(one => one.data.type === 'ready')")
        nonce = page.evaluate("messages[0].data.nonce")
        with page.expect_popup() as popup:
            page.evaluate("address => { window.open(address); }", f"{hostile.origin}/evil")
        popup.value.wait_for_load_state()
        message = {"kasuwa": 1, "nonce": nonce, "type": "paid", "reference": "GP|CK|forged", "mark": "popup"}
        popup.value.evaluate("message => opener.postMessage(message, '*')", message)
        wait_for_message(page, "popup")
        assert calls_of(page) == []
        assert frame.get_by_label("Card number").count() == 1


def test_a_framed_page_cannot_lead_the_shop_elsewhere(shop: MerchantClient, deployment: Deployment, page: Page) -> None:
    begun = open_checkout(shop)
    with running_shop_site(deployment) as site:
        allow(shop, site.origin)
        address = site.offer(access_code=begun["access_code"])
        frame = open_overlay(page, address)
        frame.get_by_label("Card number").click()
        refused = frame_at(page, begun["checkoutURL"]).evaluate(
            "() => { try { top.location.href = 'https://evil.example/'; return ''; } catch (e) { return e.name; } }"
        )
        assert (refused, page.url) == ("SecurityError", address)


def test_no_message_is_for_any_origin() -> None:
    """Each call of postMessage names one origin, which is a variable, never a star."""
    folder = files("kasuwa") / "pages"
    for path in ("embed/kasuwa-1.js", "templates/frame.js"):
        text = folder.joinpath(path).read_text()
        calls = re.findall(r"postMessage\(.*?(?:,\s*)(\w+(?:\.\w+)*)\);", text)
        assert calls, path
        assert len(calls) == text.count("postMessage("), path
        assert set(calls) <= {"home", "shop.origin"}
