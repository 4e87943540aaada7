"""A page in every width and theme: what is wrong with it, and its pictures.

With KASUWA_SCREENSHOTS=<folder> a picture of each look is left there, for people to look at.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

from tests.browser import COLOR_RULES, HEIGHT, LAYOUT_RULES, WIDTHS, accessibility_faults, overflows

PICTURES = os.environ.get("KASUWA_SCREENSHOTS")
# Every width in every theme. All rules are asked once; a width and a theme change no more than where things are and
# their colors, and the frame around a page, the same on all of them, has the same colors in both widths.
VIEWPORTS: tuple[tuple[int, Literal["light", "dark"], Sequence[str] | None, str], ...] = (
    (WIDTHS["narrow"], "light", None, "html"),
    (WIDTHS["narrow"], "dark", COLOR_RULES, "html"),
    (WIDTHS["wide"], "light", LAYOUT_RULES + COLOR_RULES, "main"),
    (WIDTHS["wide"], "dark", COLOR_RULES, "main"),
)


def faults_in_all_viewports(page: Page, name: str) -> list[str]:
    found = []
    for width, theme, rules, within in VIEWPORTS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(color_scheme=theme)
        if PICTURES:
            page.screenshot(path=Path(PICTURES, f"{name}-{width}-{theme}.png"), full_page=True)
        found += [f"{width} {theme}: {fault}" for fault in accessibility_faults(page, rules, within)]
        found += [f"{width} {theme}: it scrolls sideways"] if overflows(page) else []
    return found
