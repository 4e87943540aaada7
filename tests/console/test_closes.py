"""The operator's page of daily closes: the state of each day, what is missing, and closing by hand."""

from datetime import UTC, date, datetime

import pytest

from kasuwa.console.operator.closes import describe_days
from kasuwa.console.operator.home_reads import CloseRow
from kasuwa.reconciliation.reads import AccountSummary
from tests.console.visitor import sign_in_as
from tests.running import Deployment, Deployments

pytestmark = pytest.mark.xdist_group("console")

TODAY = date(2026, 1, 7)
# Lagos is an hour ahead: the first is of the 6th at 00:30, the second of the 6th at 23:30.
CLOSES = [
    CloseRow(1, datetime(2026, 1, 5, 23, 30, tzinfo=UTC), 3),
    CloseRow(2, datetime(2026, 1, 6, 22, 30, tzinfo=UTC), 3),
]


def make_account(last_day: date | None) -> AccountSummary:
    return AccountSummary(7, "rail:bank:NGN", None, "", 1, last_day, None, None)


def test_a_day_is_closed_by_the_first_close_after_its_end_in_lagos() -> None:
    days = describe_days(date(2026, 1, 4), TODAY, CLOSES, [], {}, {})
    assert [(one.day.day, one.state, one.close and one.close.number) for one in days] == [
        (7, "running", None),
        (6, "overdue", None),
        (5, "closed", 1),
        (4, "closed", 1),
    ]


def test_statements_are_missed_of_days_that_are_over() -> None:
    days = describe_days(date(2026, 1, 4), TODAY, CLOSES, [make_account(date(2026, 1, 5))], {}, {})
    assert [len(one.missing) for one in days] == [0, 1, 0, 0]
    [(text, path)] = days[1].missing
    assert (text, path) == (
        "no statement of rail:bank:NGN",
        "/operator/reconciliation/7?from=2026-01-06&to=2026-01-06",
    )


def test_an_account_without_a_line_is_not_missed() -> None:
    assert not any(one.missing for one in describe_days(TODAY, TODAY, [], [make_account(None)], {}, {}))


def test_unmatched_lines_and_what_else_is_open_are_named_with_their_day() -> None:
    lines = {date(2026, 1, 5): {7: 1}, date(2026, 1, 4): {7: 1200, 8: 3}}
    others = {date(2026, 1, 5): [("2 open notices", "/operator/notices")]}
    days = describe_days(date(2026, 1, 4), TODAY, CLOSES, [make_account(date(2026, 1, 6))], lines, others)
    assert [text for text, _ in days[2].missing] == ["1 unmatched line of rail:bank:NGN", "2 open notices"]
    assert [text for text, _ in days[3].missing] == ["1,200 unmatched lines of rail:bank:NGN"]


def test_an_operator_closes_the_books_after_a_confirmation(deployment: Deployment) -> None:
    finance, support = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:support")
    assert "Close the books now" not in support.get("/operator/closes").words
    assert support.post("/operator/closes", confirmed="yes").http == 403
    finance.get("/operator/closes")
    [[before]] = deployment.fetch("select count(*) from book_close")
    asked = finance.post("/operator/closes")
    assert "cannot be taken back" in asked.words
    done = finance.post("/operator/closes", confirmed="yes")
    assert done.http == 303
    [[after, newest]] = deployment.fetch("select count(*), max(number) from book_close")
    assert after == before + 1
    assert f"The books are closed: close {newest}" in finance.get(done.place).words
    assert "closed the books" in finance.get("/operator/trail").words


def test_a_close_is_in_the_audit_trail_also_if_it_is_not_published(deployments: Deployments) -> None:
    with deployments.fresh("unpublished", KASUWA_CLOSE_COMMAND="false") as deployment:
        finance = sign_in_as(deployment, "operator:finance")
        finance.get("/operator/closes")
        assert finance.post("/operator/closes", confirmed="yes").http == 503
        closes = deployment.fetch("select 'close ' || number, tree_size || ' heads' from book_close order by number")
        noted = "select subject, after from audit_entry where action = 'closed the books' order by seq"
        assert len(closes) == 1
        assert deployment.fetch(noted) == closes
        deployment.new_stderr()
