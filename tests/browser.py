"""A real browser for what people see: Debian's Chromium, driven by Playwright, and axe for its accessibility.

The fixtures are imported by the test files that want them (`from tests.browser import browser, open_page`), which
also mark themselves with `BROWSER_GROUP`, so that one xdist worker runs them all. The browser is a module's, not
the session's: while Playwright's loop exists, no other test of its thread can run a loop of its own.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from tests.packages import need_package

CHROMIUM = Path("/usr/bin/chromium")
CHROMIUM_PACKAGE = "chromium"
# What drops down from the address bar is a page of its own in each window, drawn again with every size. Nobody sees it.
ADDRESS_BAR = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
# What Playwright turns off. The browser has one list: ours takes the place of that.
OFF_BY_DEFAULT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
# No sandbox: the tests may run as root in a container. The rest keeps it from calling home.
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join((*OFF_BY_DEFAULT, *ADDRESS_BAR))}",
)
# Long enough for a machine that does much else: what is waited for is there at once otherwise.
ANSWER_MILLISECONDS = 60_000
# Of a key whose answer may be lost.
KEY_MILLISECONDS = 10_000
# Of one test: what has no time-out of its own, such as a script of a page (evaluate), ends with the browser then.
LONGEST_SECONDS = 600.0

BROWSER_GROUP = pytest.mark.xdist_group("browser")

# The widths and themes that every page must be sound in.
WIDTHS = {"narrow": 360, "middle": 768, "wide": 1440}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
HEIGHT = 900

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
# Those whose answer can be another when nothing but the colors changes.
COLOR_RULES = ["color-contrast", "link-in-text-block"]
# And those whose answer can be another when things are elsewhere.
LAYOUT_RULES = ["scrollable-region-focusable"]

# Finds one part of each look. Text of the same element, colors, size and backgrounds around it has the same contrast.
FIND_LOOKS = """() => {
  const styles = new Map();
  const styleOf = (part) => {
    if (!styles.has(part)) styles.set(part, getComputedStyle(part));
    return styles.get(part);
  };
  const hasText = (part) => [...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  window.looks = new Map();
  for (const part of document.body.querySelectorAll("*")) {
    if (!(hasText(part) || part.matches("input, select, textarea")) || !part.checkVisibility()) continue;
    const style = styleOf(part), parent = part.parentElement;
    const look = [part.tagName, part.getAttribute("class"), part.disabled, style.color, style.fontSize];
    look.push(style.fontWeight, style.textDecorationLine, parent.tagName, styleOf(parent).color);
    for (let around = part; around; around = around.parentElement) {
      look.push(styleOf(around).backgroundColor, styleOf(around).backgroundImage, styleOf(around).opacity);
    }
    if (!window.looks.has(look.join())) window.looks.set(look.join(), part);
  }
  return [...window.looks.keys()];
}"""
RUN_AXE = (
    "([options, looks]) => axe.run(looks ? {include: looks.map((look) => window.looks.get(look))} : document, options)"
)

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need_package(CHROMIUM_PACKAGE, CHROMIUM)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(ARGUMENTS))
        yield launched
        launched.close()


@contextmanager
def ending(seconds: float = LONGEST_SECONDS) -> Iterator[None]:
    """Kills the browsers of this process if the block takes longer, so that whatever it waits for in them raises: the
    test fails where it waits, and the worker goes on."""
    timer = threading.Timer(seconds, kill_browsers)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def kill_browsers() -> None:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.name() == CHROMIUM.name:
                child.kill()


@contextmanager
def new_page(browser: Browser) -> Iterator[Page]:
    """A page in a profile of its own, whose console may show what the browser has blocked or could not load."""
    with ending(), browser.new_context() as context:
        context.set_default_timeout(ANSWER_MILLISECONDS)
        expect.set_options(timeout=ANSWER_MILLISECONDS)
        yield context.new_page()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Pages, each in a profile of its own unless a context is given. What a page's script or policy complains of
    fails the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(*, width: int = WIDTHS["wide"], theme: Any = "light", **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": HEIGHT}, color_scheme=theme, **options)
        context.set_default_timeout(ANSWER_MILLISECONDS)
        expect.set_options(timeout=ANSWER_MILLISECONDS)
        contexts.append(context)
        return listen_to(context.new_page(), complaints)

    with ending():
        yield open_one
        for context in contexts:
            context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def reused(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    complaints: list[str] = []
    with browser.new_context() as context:
        context.set_default_timeout(ANSWER_MILLISECONDS)
        expect.set_options(timeout=ANSWER_MILLISECONDS)
        yield listen_to(context.new_page(), complaints), complaints


@pytest.fixture
def reuse_page(reused: tuple[Page, list[str]]) -> Iterator[OpenPage]:
    """Like `open_page`, but one page for all tests of a module, with the cookies that a test gives: in a page of its
    own, axe takes three times as long. For tests that have one page, and leave nothing but cookies in the browser."""
    page, complaints = reused

    def reopen(*, width: int = WIDTHS["wide"], theme: Any = "light", storage_state: Any = None) -> Page:
        page.context.clear_cookies()
        page.context.add_cookies([] if storage_state is None else storage_state["cookies"])
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(color_scheme=theme)
        return page

    with ending():
        yield reopen
    assert complaints == []


def press_and_leave(focused: Locator, key: str) -> None:
    """Presses a key at which the page or the frame goes away.

    The browser's answer may go with it. `page.keyboard.press` waits for it without end; here it is not awaited for
    long, and the test looks at what follows."""
    with suppress(PlaywrightTimeoutError):
        focused.press(key, timeout=KEY_MILLISECONDS)


def listen_to(page: Page, complaints: list[str]) -> Page:
    """Adds to `complaints` what scripts and policies of a page complain of."""
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Content Security" in message.text else None)
    return page


def accessibility_faults(page: Page, only: Sequence[str] | None = None) -> list[str]:
    """Returns what axe reports against WCAG 2.1 A and AA, or against the given rules, one line per violation with its
    places."""
    return run_axe(page, {"type": "tag", "values": TAGS} if only is None else {"type": "rule", "values": only})


def color_faults(page: Page, sound_looks: set[str]) -> list[str]:
    """Returns what axe reports against COLOR_RULES, asked of one part of each look: they take axe most of its time.

    Looks in `sound_looks` are not asked again. Those without a fault are added to it."""
    looks = [look for look in page.evaluate(FIND_LOOKS) if look not in sound_looks]
    faults = run_axe(page, {"type": "rule", "values": COLOR_RULES}, looks) if looks else []
    if not faults:
        sound_looks.update(looks)
    return faults


def run_axe(page: Page, chosen: dict[str, Any], looks: Sequence[str] | None = None) -> list[str]:
    """Runs rules of axe on a page, or on the parts of some looks. Axe is loaded once, since it is half a megabyte."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate(RUN_AXE, [{"runOnly": chosen, "resultTypes": ["violations"]}, looks])["violations"]
    return [
        f"{fault['id']}: {fault['help']}: " + "; ".join(str(node["target"]) for node in fault["nodes"][:3])
        for fault in found
    ]


def overflows(page: Page) -> bool:
    """Whether the page as a whole scrolls sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
