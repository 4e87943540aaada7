"""A page in every width and theme: what is wrong with it, and its pictures.

With KASUWA_SCREENSHOTS=<folder> a picture of each look is left there, for people to look at.
"""

import os
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

from tests.browser import HEIGHT, LAYOUT_RULES, THEMES, WIDTHS, accessibility_faults, color_faults, overflows

PICTURES = os.environ.get("KASUWA_SCREENSHOTS")
# Every width in every theme. All rules of axe are asked in the first. A width and a theme change no more than where
# things are and their colors: colors are asked in each for every look that was not seen before, the layout once more.
VIEWPORTS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (WIDTHS["narrow"], "light"),
    (WIDTHS["narrow"], "dark"),
    (WIDTHS["wide"], "light"),
    (WIDTHS["wide"], "dark"),
)
# Looks of the pages so far whose colors have no fault. Most of a page looks as another one does.
SOUND_LOOKS: set[str] = set()
# Neither on a telephone nor on a wide screen is anything read by scrolling sideways, or wider than the panel it is in.
CUT_PARTS = """() => {
  const regions = [...document.querySelectorAll(".scroll")].filter((part) => part.scrollWidth > part.clientWidth + 1);
  const parts = [...document.querySelectorAll(".panel :is(a, button, h2, h3, input, p, select, table)")].filter(
    (part) => part.checkVisibility() && !part.closest(".scroll, .visually-hidden") &&
      part.getBoundingClientRect().right > part.closest(".panel").getBoundingClientRect().right + 1);
  return [...regions.map((part) => `${part.getAttribute("aria-label")} scrolls sideways`),
    ...parts.map((part) => `${part.tagName} ${part.textContent.trim().slice(0, 40)} is wider than its panel`)];
}"""


def take_pictures(page: Page, name: str = "") -> None:
    """Leaves a picture of a page in every width and theme if a folder is given for them, named by its heading if it has
    no name. The page is left as it was, in the light theme."""
    if not PICTURES:
        return
    name = name or "payer-" + "-".join(page.locator("h1").first.inner_text().lower().split())
    size = page.viewport_size
    assert size is not None
    for width in WIDTHS.values():
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for theme in reversed(THEMES):
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=Path(PICTURES, f"{name}-{width}-{theme}.png"), full_page=True)
    page.set_viewport_size(size)


def faults_in_all_viewports(page: Page, name: str, has_chosen_columns: bool = False) -> list[str]:
    """Returns what is wrong with a page. A table with columns that a user has added may scroll on a wide screen."""
    page.set_viewport_size({"width": WIDTHS["middle"], "height": HEIGHT})
    for theme in THEMES if PICTURES else ():
        page.emulate_media(color_scheme=theme)
        page.screenshot(path=Path(str(PICTURES), f"{name}-{WIDTHS['middle']}-{theme}.png"), full_page=True)
    found = [f"{WIDTHS['middle']}: it scrolls sideways"] if overflows(page) else []
    for number, (width, theme) in enumerate(VIEWPORTS):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(color_scheme=theme)
        if PICTURES:
            page.screenshot(path=Path(PICTURES, f"{name}-{width}-{theme}.png"), full_page=True)
        faults = accessibility_faults(page) if number == 0 else color_faults(page, SOUND_LOOKS)
        if number == len(VIEWPORTS) - 1:
            faults += accessibility_faults(page, LAYOUT_RULES)
        found += [f"{width} {theme}: {fault}" for fault in faults]
        found += [f"{width} {theme}: it scrolls sideways"] if overflows(page) else []
        if theme == "light" and not (has_chosen_columns and width == WIDTHS["wide"]):
            found += [f"{width}: {cut}" for cut in page.evaluate(CUT_PARTS)]
    return found
