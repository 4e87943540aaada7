"""Every page in a real browser, narrow and wide, light and dark: nothing for axe to find, nothing that overflows.

With KASUWA_SCREENSHOTS=<folder> a picture of each is left there, for people to look at.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import (
    BROWSER_GROUP,
    HEIGHT,
    WIDTHS,
    browser,
)
from tests.console.page_checks import faults_in_all_viewports
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import DEPLOYED, browser_state_of
from tests.running import NEWEST, Deployments

__all__ = ["browser"]
pytestmark = BROWSER_GROUP


@pytest.fixture(scope="module")
def world(deployments: Deployments) -> SampleMerchant:
    return SampleMerchant(deployments.for_version(NEWEST))


@pytest.fixture(scope="module")
def pages(deployments: Deployments, world: SampleMerchant, browser: Browser) -> Iterator[dict[str, Page]]:
    """One for each side and for strangers; they go from page to page, as people do."""
    deployment = deployments.for_version(NEWEST)
    states = {
        "owner": browser_state_of(deployment, "merchant:owner", world.mid),
        "admin": browser_state_of(deployment, "operator:admin"),
        "stranger": None,
    }
    address = f"http://127.0.0.1:{deployment.console_port}"
    opened = {who: browser.new_context(storage_state=state, base_url=address) for who, state in states.items()}
    yield {who: context.new_page() for who, context in opened.items()}
    for context in opened.values():
        context.close()


# A file, what only leads elsewhere, and what is shown to who has just given a password: see test_browser_flows.py.
UNSEEN = (".csv", ".pdf", "/find", "/sign-in/code")
SEEN = [page.path for page in DEPLOYED if page.http_method == "GET" and not page.path.endswith(UNSEEN)]
EMPTY = ["/transactions?q=nothing", "/no-such-page", "/transactions?from=tomorrow"]
# People, and transfers that wait.
FOUND = ["/search?q=person", "/search?q=salary", "/operator/search?q=person"]
STRANGERS = ("/sign-in", "/link/{token}")


@pytest.mark.parametrize("path", [*SEEN, *EMPTY, *FOUND])
def test_a_page_is_accessible_in_every_width_and_theme(
    world: SampleMerchant, pages: dict[str, Page], path: str
) -> None:
    page = pages["admin" if path.startswith("/operator") else "stranger" if path in STRANGERS else "owner"]
    name = path.strip("/").replace("/", ".").replace("{", "").replace("}", "") or "overview"
    page.set_viewport_size({"width": WIDTHS["narrow"], "height": HEIGHT})
    page.goto(world.path_of(path))
    assert faults_in_all_viewports(page, name) == []


def test_the_content_security_policy_blocks_inline_scripts(pages: dict[str, Page]) -> None:
    page = pages["stranger"]
    page.goto("/sign-in")
    added = "const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s)"
    with page.expect_console_message(lambda message: "Content Security" in message.text):
        page.evaluate(added)
    assert page.evaluate("window.ran") is None
