"""The browser that the other tests look through: it sees what is wrong with a page, and what is right."""

import pytest

from tests.browser import (
    BROWSER_GROUP,
    OpenPage,
    accessibility_faults,
    browser,
    color_faults,
    open_page,
    overflows,
)
from tests.console.page_checks import faults_in_all_viewports
from tests.running import Deployment

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP

GOOD = """<!doctype html><html lang="en"><title>Good</title><main><h1>Good</h1>
<label>Name <input name="name"></label></main></html>"""
BAD = """<!doctype html><html lang="en"><title>Bad</title><main><h1>Bad</h1><input name="name">
<p style="color:#999;background:#aaa">Hardly seen</p><div style="width:3000px">wide</div></main></html>"""


def rows_of(*styles: str) -> str:
    rows = "".join(f'<p style="{style}">Row</p>' for style in styles)
    return f'<!doctype html><html lang="en"><title>Rows</title><main><h1>Rows</h1>{rows}</main></html>'


def test_a_page_that_is_sound_has_no_faults(open_page: OpenPage) -> None:
    page = open_page(width=360)
    page.set_content(GOOD)
    assert accessibility_faults(page) == []
    assert not overflows(page)


def test_a_page_with_faults_is_noticed(open_page: OpenPage) -> None:
    page = open_page(width=360)
    page.set_content(BAD)
    assert {fault.partition(":")[0] for fault in accessibility_faults(page)} >= {"label", "color-contrast"}
    assert overflows(page)


def test_colors_are_asked_of_one_part_of_each_look(open_page: OpenPage) -> None:
    page = open_page(width=360)
    page.set_content(rows_of(*["color:#111"] * 30))
    sound = set[str]()
    assert (color_faults(page, sound), len(sound)) == ([], 2), "the heading, and one row"


@pytest.mark.parametrize(
    "style", ["color:#ddd", "background:#222", "opacity:.2", "color:#ddd;font-weight:bold", "color:#999;font-size:15px"]
)
def test_a_single_part_with_weak_colors_is_found_among_many(open_page: OpenPage, style: str) -> None:
    page = open_page(width=360)
    page.set_content(rows_of(*["color:#111"] * 30, f"color:#111;{style}", *["color:#111"] * 30))
    sound = set[str]()
    for _ in range(2):
        assert {fault.partition(":")[0] for fault in color_faults(page, sound)} == {"color-contrast"}
    assert sound == set()
    page.set_content(rows_of("color:#111"))
    assert color_faults(page, sound) == []
    page.set_content(rows_of("color:#111", f"color:#111;{style}"))
    assert color_faults(page, sound), "a look beside sound ones"


def test_weak_colors_of_what_only_one_width_and_theme_shows_are_found(open_page: OpenPage) -> None:
    page = open_page()
    page.set_content(
        GOOD.replace(
            "<main>",
            "<style>.menu{display:none;color:#111} @media(max-width:40rem){.menu{display:block}}"
            " @media(prefers-color-scheme:dark){body{background:#fff} .menu{color:#ccc}}</style>"
            '<main><p class="menu">Menu</p>',
        )
    )
    assert [fault.partition(": ")[0] for fault in faults_in_all_viewports(page, "one")] == ["360 dark"]


def test_the_database_can_be_asked_while_a_browser_is_open(open_page: OpenPage, deployment: Deployment) -> None:
    open_page().set_content(GOOD)
    assert deployment.fetch("select 1")[0][0] == 1
