"""The browser that the other tests look through: it sees what is wrong with a page, and what is right."""

from tests.browser import BROWSER_GROUP, OpenPage, accessibility_faults, browser, open_page, overflows
from tests.running import Deployment

__all__ = ["browser", "open_page"]
pytestmark = BROWSER_GROUP

GOOD = """<!doctype html><html lang="en"><title>Good</title><main><h1>Good</h1>
<label>Name <input name="name"></label></main></html>"""
BAD = """<!doctype html><html lang="en"><title>Bad</title><main><h1>Bad</h1><input name="name">
<p style="color:#999;background:#aaa">Hardly seen</p><div style="width:3000px">wide</div></main></html>"""


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


def test_the_database_can_be_asked_while_a_browser_is_open(open_page: OpenPage, deployment: Deployment) -> None:
    open_page().set_content(GOOD)
    assert deployment.fetch("select 1")[0][0] == 1
