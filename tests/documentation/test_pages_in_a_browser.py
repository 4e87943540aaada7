"""The documentation in a real browser: accessible in every width and theme, with its tabs, menu and search."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from kasuwa.boot.documentation import make_site
from kasuwa.documentation.contents import MARKDOWN_PAGES
from tests.browser import BROWSER_GROUP, OpenPage, browser, open_page, overflows, press_and_leave, reuse_page, reused
from tests.console.page_checks import faults_in_all_viewports
from tests.running import Deployment

__all__ = ["browser", "open_page", "reuse_page", "reused"]
pytestmark = BROWSER_GROUP

CHECKED = (
    "index.html",
    "guides/accept-a-payment.html",
    "reference/resources.html",
    "reference/payment-charge-card.html",
    "search.html?q=refund",
)
SCROLLING_TABLES = '[...document.querySelectorAll(".scroll")].some((part) => part.scrollWidth > part.clientWidth + 1)'
TABLET = 768
TELEPHONE = 360


def address_of(deployment: Deployment, page: str) -> str:
    return f"http://127.0.0.1:{deployment.port}/docs/{page}"


@pytest.mark.parametrize("name", CHECKED)
def test_a_page_is_accessible_and_as_wide_as_its_screen(
    name: str, deployment: Deployment, reuse_page: OpenPage
) -> None:
    page = reuse_page()
    page.goto(address_of(deployment, name))
    assert faults_in_all_viewports(page, f"docs-{name.replace('/', '-')}") == []
    page.set_viewport_size({"width": TABLET, "height": 900})
    assert not overflows(page)


def test_no_page_and_no_table_is_wider_than_a_telephone(deployment: Deployment, reuse_page: OpenPage) -> None:
    page = reuse_page(width=TELEPHONE)
    wide = []
    for name in (one.address for one in MARKDOWN_PAGES):
        page.goto(address_of(deployment, name), wait_until="domcontentloaded")
        wide += [name] if overflows(page) or page.evaluate(SCROLLING_TABLES) else []
    assert wide == []


def test_the_language_that_is_chosen_stays_on_the_next_page(deployment: Deployment, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(address_of(deployment, "guides/pay-out.html"))
    expect(page.get_by_role("tab", name="curl").first).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="PHP").first.click()
    expect(visible_code(page)).to_contain_text("require 'kasuwa.php'")
    page.goto(address_of(deployment, "reference/payment-refund.html"))
    expect(visible_code(page)).to_contain_text("kasuwa('payment'")
    page.get_by_role("tab", name="PHP").focus()
    page.keyboard.press("ArrowLeft")
    expect(visible_code(page)).to_contain_text("shop.payment.refund({")


def visible_code(page: Page) -> Locator:
    return page.locator(".sample:not([hidden]) pre").first


@pytest.mark.parametrize(
    ("query", "among_the_first"),
    [
        ("insufficient funds", "301"),
        ("chargeback", "PUT /payment: disputes"),
        ("rotate key", "Rolling"),
        ("bulk transfer csv", "disburse transfer-bulk"),
        ("how do I verify a webhook", "Verify"),
        ("webhok", "Events"),
        ("refunding payments", "payment refund"),
    ],
)
def test_the_search_finds_what_people_type(
    query: str, among_the_first: str, deployment: Deployment, reuse_page: OpenPage
) -> None:
    page = reuse_page()
    page.goto(address_of(deployment, "search.html"))
    page.get_by_role("searchbox").fill(query)
    expect(page.get_by_role("status")).to_contain_text(query)
    shown = page.locator("#search-results li").all_inner_texts()[:5]
    assert any(among_the_first in one for one in shown)


def test_the_search_finds_sections_and_actions(deployment: Deployment, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(address_of(deployment, "guides/errors.html"))
    page.get_by_role("searchbox").fill("refund payment")
    press_and_leave(page.get_by_role("searchbox"), "Enter")
    results = page.locator("#search-results a")
    expect(results.first).to_be_visible()
    assert "payment refund" in results.all_inner_texts()[:3]
    page.get_by_role("searchbox").fill("idempotency")
    expect(page.get_by_role("status")).to_contain_text("idempotency")
    expect(results.first).to_contain_text("Idempotency-Key")
    results.first.click()
    expect(page.locator(":target")).to_contain_text("Idempotency-Key")
    page.goto(address_of(deployment, "search.html?q=%3Czqxj%3E"))
    expect(page.get_by_role("status")).to_contain_text("0 results")


def test_the_static_site_works_from_a_file_system(open_page: OpenPage, tmp_path: Path) -> None:
    site = make_site()
    for address in (
        "search.html",
        "search-index.js",
        "search.js",
        "docs.js",
        "docs.css",
        "reference/payment-refund.html",
    ):
        place = tmp_path / address
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(site.read(address))
    page = open_page()
    page.goto(f"file://{tmp_path}/search.html?q=payment+refund")
    page.locator("#search-results a", has_text="payment refund").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("refund")


def test_a_printed_page_has_its_text_and_nothing_to_press(deployment: Deployment, reuse_page: OpenPage) -> None:
    page = reuse_page()
    page.goto(address_of(deployment, "guides/errors.html"))
    page.emulate_media(media="print")
    for pressed in ("nav", ".site-header", "[role=tab]", ".copy"):
        parts = page.locator(pressed).all()
        assert parts, pressed
        assert not [part for part in parts if part.is_visible()], pressed
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.emulate_media(media="screen")
    expect(page.get_by_role("searchbox")).to_be_visible()


def test_every_language_is_shown_without_a_script(deployment: Deployment, open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False, width=360)
    page.goto(address_of(deployment, "guides/first-request.html"))
    for language in ("curl", "Python", "TypeScript", "PHP"):
        expect(page.locator(".language", has_text=language).first).to_be_visible()
    assert page.get_by_role("link", name="Pay out").first.is_visible()
