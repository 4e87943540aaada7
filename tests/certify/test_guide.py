"""docs/guides/certify.md lists the checks as they are, and each check leads to a section of the documentation."""

import re

from kasuwa.boot.documentation import make_site
from kasuwa.integration.all_checks import ALL_CHECKS
from kasuwa.integration.order_checks import ORDER_CHECKS
from kasuwa.integration.receiver_checks import RECEIVER_CHECKS
from kasuwa.integration.traffic_checks import TRAFFIC_CHECKS
from tests.source_rules import REPOSITORY

GUIDE = REPOSITORY / "docs" / "guides" / "certify.md"


def test_the_guide_lists_the_checks_of_each_group() -> None:
    page = GUIDE.read_text()
    for heading, checks in (("Events", RECEIVER_CHECKS), ("Orders", ORDER_CHECKS), ("Requests", TRAFFIC_CHECKS)):
        section = page.partition(f"### {heading}\n")[2].partition("\n### ")[0]
        rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.MULTILINE)
        assert rows == [(check.id, check.title) for check in checks]
    overview = GUIDE.with_name("README.md").read_text()
    assert f"| {len(ALL_CHECKS)} checks of your application" in overview


def test_each_check_leads_to_a_section_of_the_documentation() -> None:
    site = make_site()
    for check in ALL_CHECKS:
        page, _, anchor = check.doc.partition("#")
        assert page in site.addresses, check.id
        assert not anchor or f'id="{anchor}"' in site.read(page).decode(), check.doc
