"""Every page in a real browser, narrow and wide, light and dark: nothing for axe to find, nothing that overflows.

With KASUWA_SCREENSHOTS=<folder> a picture of each is left there, for people to look at.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import (
    BROWSER_GROUP,
    HEIGHT,
    THEMES,
    WIDTHS,
    accessibility_faults,
    browser,
    overflows,
)
from tests.console.visitor import DEPLOYED, sign_in_link
from tests.running import NEWEST, Deployment, Deployments

__all__ = ["browser"]
pytestmark = BROWSER_GROUP

# A theme each for a width: contrast is the theme's, layout the width's, and both are seen.
LOOKS = tuple(zip(WIDTHS.values(), THEMES, strict=True))


class World:
    """A merchant that has done a little of everything, and the two who look at it."""

    def __init__(self, deployment: Deployment, browser: Browser) -> None:
        self.address = f"http://127.0.0.1:{deployment.console_port}"
        shop = deployment.open_shop(name="Ada Stores")
        with shop.wire:
            shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/nobody")
            self.reference = shop.transfer(narration="Invoice 1042")["txnRef"]
            shop.transfer(accountnumber="0000005100")
            shop.transfer(accountnumber="0000000020", orderRef="open")
            shop.put("sandbox", action="advance", days=1)
            shop.put("sandbox", action="settle", txnRef=self.reference, outcome="failed")
        self.mid = shop.mid
        self.owner = self._signed_in(deployment, browser, "merchant:owner", shop.mid)
        self.admin = self._signed_in(deployment, browser, "operator:admin", None)

    def _signed_in(self, deployment: Deployment, browser: Browser, role: str, mid: str | None) -> Any:
        _, link = sign_in_link(deployment, role, mid)
        context = browser.new_context()
        page = context.new_page()
        page.goto(self.address + link)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "/link/" not in url)
        state = context.storage_state()
        context.close()
        return state

    def path_of(self, path: str) -> str:
        told = {
            "ref": quote(self.reference, safe=""),
            "seq": "1",
            "method": "disburse",
            "action": "transfer",
            "mid": self.mid,
            "name": "wallet:main:NGN",
            "token": "nonsense",
        }
        for name, value in told.items():
            path = path.replace("{" + name + "}", value)
        assert "{" not in path, f"{path}: say here what it shows"
        return path


@pytest.fixture(scope="module")
def world(deployments: Deployments, browser: Browser) -> World:
    return World(deployments.on(NEWEST), browser)


@pytest.fixture(scope="module")
def pages(world: World, browser: Browser) -> Iterator[dict[str, Page]]:
    """One for each side and for strangers; they go from page to page, as people do."""
    states = {"owner": world.owner, "admin": world.admin, "stranger": None}
    opened = {who: browser.new_context(storage_state=state) for who, state in states.items()}
    yield {who: context.new_page() for who, context in opened.items()}
    for context in opened.values():
        context.close()


PICTURES = os.environ.get("KASUWA_SCREENSHOTS")
# Records are found and shown by one template each: of those a loan is looked at in test_browser_flows.py.
UNSEEN = (".csv", "/find", "/{reference}")
SEEN = [page.path for page in DEPLOYED if page.verb == "GET" and not page.path.endswith(UNSEEN)]
EMPTY = ["/transactions?q=nothing", "/no-such-page", "/transactions?from=tomorrow"]
STRANGERS = ("/sign-in", "/link/{token}")


@pytest.mark.parametrize("path", [*SEEN, *EMPTY])
def test_a_page_is_sound_narrow_and_wide_light_and_dark(world: World, pages: dict[str, Page], path: str) -> None:
    if path == "/sign-in/code":
        return  # shown to who has just given a password: see test_browser_flows.py
    who = "admin" if path.startswith("/operator") else "stranger" if path in STRANGERS else "owner"
    page = pages[who]
    page.set_viewport_size({"width": LOOKS[0][0], "height": HEIGHT})
    page.goto(world.address + world.path_of(path))
    for width, theme in LOOKS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        if PICTURES:
            name = path.strip("/").replace("/", ".").replace("{", "").replace("}", "") or "overview"
            page.screenshot(path=Path(PICTURES, f"{name}-{width}-{theme}.png"), full_page=True)
        assert accessibility_faults(page) == []
        assert not overflows(page)


def test_the_policy_is_in_force_and_a_script_in_a_page_does_not_run(pages: dict[str, Page], world: World) -> None:
    page = pages["stranger"]
    page.goto(world.address + "/sign-in")
    added = "const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s)"
    with page.expect_console_message(lambda said: "Content Security" in said.text):
        page.evaluate(added)
    assert page.evaluate("window.ran") is None
