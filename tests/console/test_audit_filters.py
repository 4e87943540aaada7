"""The filter of the audit trail: who, what, and when."""

from datetime import UTC, date, datetime

import pytest

from kasuwa.console.kit.audit_view import TrailFilter, read_trail_filter
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


def test_the_days_of_a_filter_are_whole_days_in_lagos() -> None:
    chosen, faults = read_trail_filter({"actor": " Ada ", "q": "KEY", "from": "2026-01-05", "to": "2026-01-05"})
    assert faults == {}
    assert chosen.parameters == (
        "ada",
        "key",
        datetime(2026, 1, 4, 23, tzinfo=UTC),
        datetime(2026, 1, 5, 23, tzinfo=UTC),
    )
    assert chosen.query == {"actor": "Ada", "q": "KEY", "from": "2026-01-05", "to": "2026-01-05"}


@pytest.mark.parametrize("day", ["tomorrow", "2026-13-01", "0001-01-01", "9999-12-31"])
def test_a_date_that_is_none_is_refused_and_left_out(day: str) -> None:
    chosen, faults = read_trail_filter({"from": day})
    assert (chosen, faults) == (TrailFilter(), {"from": "must be a date such as 2026-01-05"})


def test_an_empty_filter_lets_everything_pass() -> None:
    assert TrailFilter(first=date(2026, 1, 5)).query == {"from": "2026-01-05"}
    assert read_trail_filter({})[0].parameters[:2] == ("", "")


def test_a_trail_is_filtered_on_the_page_and_in_the_file(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/settings")
    assert owner.post("/settings/webhook", url="http://127.0.0.1:9/a").http == 303
    assert owner.post("/settings/wire", http_codes="strict", webhook_order="loose").http == 303
    page = owner.get("/settings/trail?q=webhook+url")
    assert "set the webhook URL" in page.words
    assert "changed settings" not in page.content
    assert "No results" in owner.get("/settings/trail?actor=nobody").words
    assert "must be a date" in owner.get("/settings/trail?from=x").words
    lines = owner.get("/settings/trail.csv?q=webhook+url").text.splitlines()
    assert len(lines) == 2
    assert owner.get("/settings/trail.csv?from=x").http == 303
    admin = sign_in_as(deployment, "operator:admin")
    assert "set the webhook URL" in admin.get(f"/operator/trail?mid={shop.mid}").words
    assert "No results" in admin.get(f"/operator/trail?mid={shop.mid}&q=nothing+of+this").words
