"""The pages of the documentation: complete, linked, small, and the same as a static site."""

import gzip
import html
import json
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kasuwa.__main__ import command
from kasuwa.boot.documentation import make_site
from kasuwa.documentation.contents import GUIDE_LABELS, MARKDOWN_PAGES
from kasuwa.documentation.markdown import SAMPLE_LANGUAGES, render_markdown, rewrite_links
from kasuwa.documentation.refusals import find_refusals
from kasuwa.documentation.synonyms import SYNONYMS
from tests.contract import CODES, refusals_of, reply_fields, request_fields
from tests.documentation.guide_programs import GUIDES
from tests.source_rules import REPOSITORY
from tests.walk.rows import ACTION_ROWS, ActionRow

# As it is sent: pages are compressed.
LARGEST_PAGE = 30_000
LINK_IN_MARKDOWN = re.compile(r"\]\(([^)\s]+)\)")
# Of tags, not of samples that show some: their brackets are escaped.
LINK = re.compile(r'<\w[^<>]*\s(?:href|src|action)="([^"]*)"')
ID = re.compile(r'\bid="([^"]+)"')
PAGES_OF_METHODS = sorted({row.method for row in ACTION_ROWS})


@cache
def site() -> Mapping[str, str]:
    built = make_site()
    return {address: built.read(address).decode() for address in built.addresses}


def pages() -> list[str]:
    return [address for address in site() if address.endswith(".html")]


@cache
def words_of(address: str) -> str:
    """Returns the text of a page without tags, with code in backticks and white space collapsed."""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", re.sub("</?code>", "`", site()[address])).split()))


@cache
def ids_on(address: str) -> list[str]:
    return ID.findall(site()[address])


def page_of(row: ActionRow) -> str:
    return f"reference/{row.title}.html"


# --- links and sizes ------------------------------------------------------------------------------------------------


def test_every_link_leads_to_a_page_and_a_place_on_it() -> None:
    wrong = []
    for address in pages():
        for link in map(html.unescape, LINK.findall(site()[address])):
            if link == "data:,":
                continue
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(address), path)) if path else address
            if target not in site() or (anchor and anchor not in ids_on(target)):
                wrong.append(f"{address}: {link}")
    assert wrong == []


def test_nothing_is_loaded_from_elsewhere_and_no_code_is_inline() -> None:
    for address in pages():
        assert [link for link in LINK.findall(site()[address]) if re.match("(?:https?:)?//", link)] == [], address
        assert "<style" not in site()[address], address
        assert re.findall(r"<script(?! src=)", site()[address]) == [], address
        assert re.findall(r'\son[a-z]+="|\sstyle="', site()[address]) == [], address


def test_tools_are_documented_besides_the_api() -> None:
    """The clients, the test kit, the commands and the settings, for readers who have the package alone."""
    for address, words in {
        "tools/python.html": "verify_event",
        "tools/typescript.html": "verifyEvent",
        "tools/php.html": "verifyEvent",
        "tools/testing.html": "kasuwa.events",
        "tools/commands.html": "kasuwa restore-test",
        "tools/operating.html": "KASUWA_DATABASE_URL",
        "tools/upgrade.html": "kasuwa migrate --dry-run",
    }.items():
        assert words in site()[address], address


def test_ids_are_unique_on_each_page() -> None:
    for address in pages():
        ids = ids_on(address)
        assert len(ids) == len(set(ids)), (address, sorted(one for one in ids if ids.count(one) > 1))


def test_every_page_is_small() -> None:
    assert len(pages()) > len(ACTION_ROWS) + len(GUIDE_LABELS)
    assert [address for address in pages() if len(gzip.compress(site()[address].encode())) > LARGEST_PAGE] == []


def test_every_page_can_be_reached_from_the_overview() -> None:
    seen, todo = set(), ["index.html"]
    while todo:
        address = todo.pop()
        if address in seen or not address.endswith(".html"):
            continue
        seen.add(address)
        links = (link.partition("#")[0] for link in LINK.findall(site()[address]))
        todo += [posixpath.normpath(posixpath.join(posixpath.dirname(address), link)) for link in links if link]
    assert set(pages()) - seen == set()


def test_every_guide_is_in_the_navigation() -> None:
    assert {path.stem for path in GUIDES.glob("*.md")} == {"README", *GUIDE_LABELS}
    for page in MARKDOWN_PAGES:
        assert f">{page.label}</a>" in site()["index.html"]
    assert {page.source for page in MARKDOWN_PAGES if page.source.startswith("contract/")} == {
        f"contract/{path.name}"
        for path in (REPOSITORY / "docs" / "contract").glob("*.md")
        if path.stem not in PAGES_OF_METHODS
    }


# --- the reference ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", PAGES_OF_METHODS)
def test_every_action_has_a_page_with_all_fields_and_four_languages(method: str) -> None:
    for row in (row for row in ACTION_ROWS if row.method == method):
        shown, words = site()[page_of(row)], words_of(page_of(row))
        assert row.action.summary in words
        assert re.findall(r'<p class="language">(.*?)</p>', shown) == list(SAMPLE_LANGUAGES.values())
        for line in [*request_fields(row), *reply_fields(row)]:
            assert line.meaning in words, (row.title, line.name)
            assert f"<code>{line.name.replace('[]', '').lstrip('.')}</code>" in shown, (row.title, line.name)
        assert "Exists in the test environment only" in words or method != "sandbox"


def test_every_refusal_of_a_path_is_on_its_page() -> None:
    for method in PAGES_OF_METHODS:
        shown = {address: words_of(address) for address in pages() if address.startswith("reference/")}
        for status, message, _ in refusals_of(method):
            assert status in CODES.values()
            assert any(message in words for words in shown.values()), (method, message)


def test_an_action_shows_the_refusals_that_its_own_rule_refers_to() -> None:
    rows = {row.title: row for row in ACTION_ROWS}
    found = {refusal.message for refusal in find_refusals(rows["payment-refund"].action)}
    assert "Invalid Transaction Reference" in found
    assert all(message in words_of("reference/payment-refund.html") for message in found)
    assert "Invalid Transaction Reference" not in {r.message for r in find_refusals(rows["resources-banks"].action)}


# --- search -----------------------------------------------------------------------------------------------------------


def test_the_search_index_has_every_page_and_leads_to_places_that_exist() -> None:
    index, synonyms = site()["search-index.js"].removesuffix(";\n").split(";\nwindow.searchSynonyms = ")
    entries = json.loads(index.removeprefix("window.searchIndex = "))
    assert tuple(map(tuple, json.loads(synonyms))) == SYNONYMS
    for page, _, address, _ in entries:
        path, _, anchor = address.partition("#")
        assert page
        assert path in site()
        assert not anchor or anchor in ids_on(path), address
    indexed = {entry[2].partition("#")[0] for entry in entries}
    assert set(pages()) - indexed == {"search.html"}


def test_no_word_of_the_search_has_two_lists_of_synonyms_that_agree() -> None:
    assert len(set(SYNONYMS)) == len(SYNONYMS)
    for group in SYNONYMS:
        assert len(set(group)) == len(group) > 1
        assert all(re.fullmatch("[a-z]+", word) for word in group)


# --- pages as Markdown ------------------------------------------------------------------------------------------------


def markdown_pages() -> list[str]:
    return [address for address in site() if address.endswith(".md")]


def test_every_page_is_markdown_too_and_names_it() -> None:
    own = [address for address in pages() if address != "search.html"]
    assert {address.replace(".html", ".md") for address in own} == set(markdown_pages())
    for address in own:
        name = posixpath.basename(address).replace(".html", ".md")
        assert f'<link rel="alternate" type="text/markdown" href="{name}">' in site()[address]


def test_links_in_markdown_lead_to_pages() -> None:
    wrong = []
    for address in [*markdown_pages(), "llms.txt"]:
        text = re.sub(r"```.*?```", "", site()[address], flags=re.DOTALL)
        for link in LINK_IN_MARKDOWN.findall(text):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(address), link.partition("#")[0]))
            if not re.match("[a-z]+:|#", link) and target not in site():
                wrong.append(f"{address}: {link}")
    assert wrong == []


def test_the_contents_for_programs_list_every_page() -> None:
    assert set(LINK_IN_MARKDOWN.findall(site()["llms.txt"])) == set(markdown_pages())


@pytest.mark.parametrize("method", PAGES_OF_METHODS)
def test_the_markdown_of_an_action_has_its_fields_and_refusals(method: str) -> None:
    for row in (row for row in ACTION_ROWS if row.method == method):
        text = site()[page_of(row).replace(".html", ".md")]
        assert row.action.summary in text
        for line in [*request_fields(row), *reply_fields(row)]:
            assert f"| `{line.name.replace('[]', '').lstrip('.')}` |" in text.replace("[]", ""), (row.title, line.name)
        for refusal in find_refusals(row.action):
            assert f"| {refusal.code} | {refusal.message} |" in text


def test_links_in_code_are_left_and_links_to_other_files_are_only_named() -> None:
    text = "[a](errors.md#x) [b](../operating.md) [c](#own)\n\n```sh\n[d](errors.md)\n```\n"
    shown = rewrite_links(text, "guides/x.md", {"guides/errors.md": "errors.md"})
    assert shown == "[a](errors.md#x) b [c](#own)\n\n```sh\n[d](errors.md)\n```\n"


# --- Markdown ---------------------------------------------------------------------------------------------------------


def test_blocks_of_several_languages_are_one_sample() -> None:
    text = "# T\n\n```sh\na\n```\n```python\nb\n```\n\n```json\n{}\n```\n\n```sh\nc\n```\n"
    shown = render_markdown(text, "guides/x.md", {}).html
    assert shown.count("data-samples") == 1
    assert re.findall(r'class="language">(\w+)', shown) == ["curl", "Python"]


def test_cells_of_tables_have_the_headings_of_their_columns() -> None:
    table = "# Page\n\n| `Status` | What to *do* |\n|---|---|\n| 101 | stop |\n| 102 | go on |\n"
    shown = render_markdown(table + "\n" + table.replace("Status", "Code").partition("\n\n")[2], "x.md", {}).html
    assert re.findall(r'<td data-label="([^"]+)">([^<]+)</td>', shown) == [
        ("Status", "101"),
        ("What to do", "stop"),
        ("Status", "102"),
        ("What to do", "go on"),
        ("Code", "101"),
        ("What to do", "stop"),
        ("Code", "102"),
        ("What to do", "go on"),
    ]


def test_code_is_escaped_and_links_to_other_files_are_only_named() -> None:
    text = "# T\n\n[a](../operating.md) [b](errors.md#x) [c](https://example.com)\n\n```text\n<script>\n```\n"
    shown = render_markdown(text, "guides/x.md", {"guides/errors.md": "errors.html"}).html
    assert "&lt;script&gt;" in shown
    assert "operating.md" in shown
    assert 'href="../operating.md"' not in shown
    assert 'href="errors.html#x"' in shown
    assert 'href="https://example.com"' in shown


# --- the static site --------------------------------------------------------------------------------------------------


def test_the_command_writes_the_same_files(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["docs", "--out", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    written = {
        path.relative_to(tmp_path / "site").as_posix(): path.read_text()
        for path in (tmp_path / "site").rglob("*")
        if path.is_file()
    }
    assert written == site()


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(command, ["docs", "--out", str(tmp_path / "file" / "site")])
    assert done.exit_code == 1
    assert "cannot be written" in str(done.exception)
