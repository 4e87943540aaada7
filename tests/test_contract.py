"""docs/contract is complete and current: every path has its page, every link and mark has its anchor."""

import re

from kasuwa.methods.tables import list_methods
from tests.contract import BLOCK, FOLDER, ROOT, build, reply_fields, request_fields
from tests.walk.rows import ACTION_ROWS

STALE = "run `python -m tests.contract`, and look at what has changed"
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
LINK = re.compile(r"\]\(([a-z]+\.md)?(#[\w-]+)?\)")
# In the code: `# Contract: payment/refund#partial` or `# Contract: #amounts` for what holds for all paths.
MARK = re.compile(r"Contract: ([a-z]+)?(?:/[\w-]+)?#([\w-]+)")


def anchors_of(page: str) -> list[str]:
    return ANCHOR.findall((FOLDER / page).read_text())


def test_every_path_has_its_page_with_a_reference() -> None:
    for method in list_methods("test"):
        page = FOLDER / f"{method.name}.md"
        assert BLOCK.search(page.read_text()), page.name


def test_the_reference_sections_are_current() -> None:
    for page in FOLDER.glob("*.md"):
        assert build(page) == page.read_text(), STALE


def test_every_field_of_the_reference_sections_has_a_meaning() -> None:
    for row in ACTION_ROWS:
        lines = [*request_fields(row), *reply_fields(row)]
        assert [line.name for line in lines if not line.meaning.strip()] == [], row.title
        assert reply_fields(row) or row.title == "resources-banks", row.title


def test_anchors_are_unique_within_their_page() -> None:
    for page in FOLDER.glob("*.md"):
        anchors = anchors_of(page.name)
        assert len(anchors) == len(set(anchors)), page.name


def test_every_link_between_the_pages_leads_somewhere() -> None:
    for page in FOLDER.glob("*.md"):
        for target, anchor in LINK.findall(page.read_text()):
            assert (FOLDER / (target or page.name)).exists(), (page.name, target)
            if anchor:
                assert anchor[1:] in anchors_of(target or page.name), (page.name, target, anchor)


def test_every_mark_in_the_code_has_its_anchor() -> None:
    for source in (ROOT / "src").rglob("*.py"):
        for path, anchor in MARK.findall(source.read_text()):
            assert anchor in anchors_of(f"{path or 'README'}.md"), (source.name, path, anchor)
