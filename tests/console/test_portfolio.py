"""The page of the loan portfolio: who is late, what is expected this week, and the figures as CSV."""

import csv
import io

import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.methods.loans.lending_client import START, LendingClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def bank(deployment: Deployment) -> LendingClient:
    shop = deployment.open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


@pytest.fixture
def owner(deployment: Deployment, bank: LendingClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", bank.mid)


def test_the_page_says_who_is_late_and_what_is_expected(owner: Visitor, bank: LendingClient) -> None:
    assert "No late loans" in owner.get("/portfolio").words
    late, paying = bank.lend(), bank.lend()
    bank.advance(until="2026-03-26T12:00:00+01:00")
    bank.repay(paying)
    page = owner.get("/portfolio")
    assert page.http == 200
    figures = bank.loans("portfolio")["data"]
    expected = to_shown(figures["expected"]["days_7"])
    assert f"Expected in 7 days NGN {expected}" in page.words
    assert "1-30 1 NGN 120,000.00" in page.words
    assert (late in page.words, paying in page.words) == (True, False)
    [loan] = bank.loans("list", state="active_in_arrears")["data"]
    assert f"{late} Ada Obi 28 Feb 2026 1 NGN {to_shown(loan['overdue'])} NGN 120,000.00" in page.words
    before = owner.get("/portfolio?as_of=2026-02-01").words
    assert "not late 2 NGN 240,000.00 100.00 %" in before


def to_shown(amount: str) -> str:
    whole, _, decimals = amount.partition(".")
    return f"{int(whole):,}.{decimals}"


def test_the_file_has_the_figures_of_the_day(owner: Visitor, bank: LendingClient) -> None:
    bank.lend()
    file = owner.get("/portfolio.csv?as_of=2026-01-31")
    assert (file.http, file.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert {row["as_of"] for row in rows} == {"2026-01-31"}
    amounts = {(row["group"], row["figure"]): (row["loans"], row["amount"]) for row in rows}
    assert amounts["days_late", "0"] == amounts["days_late", "all"] == ("1", "120000.00")
    assert amounts["at_risk", "par1"] == ("", "0.00")
    assert amounts["expected", "days_30"][1] != "0.00"


def test_a_day_that_has_not_come_is_named_and_has_no_file(owner: Visitor) -> None:
    page = owner.get("/portfolio?as_of=2026-02-01")
    assert (page.http, 'id="fault-as-of"' in page.text) == (422, True)
    assert owner.get("/portfolio.csv?as_of=2026-02-01").place == "/portfolio"
