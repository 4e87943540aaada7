"""Merchants on the operator's pages: by their names, with their ids beside them."""

import html
import re
from collections.abc import Callable
from importlib.resources import files

import pytest

from tests.console.test_operator_pages import propose
from tests.console.test_reconciliation_pages import day_of, upload
from tests.console.test_suspense import receive
from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

LINK = re.compile(r'<a(?: class="mono")? href="/operator/merchants/(\w+)">([^<]+)</a>')
SHOWN_ID = re.compile(r">\s*\{\{ [\w.\[\]]*\bmid \}\}")
# Pages about one merchant show the id as a fact of its own.
OF_ONE_MERCHANT = {
    "operator_key_made.html",
    "operator_merchant.html",
    "operator_merchants.html",
    "operator_new_merchant.html",
}


@pytest.fixture
def finance(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:finance")


def linked_merchants(deployment: Deployment, page: PageReply) -> set[str]:
    """Returns the merchants to whose pages a page links, each of which must be written by its name."""
    names = dict(deployment.fetch("select mid, name from merchant where current"))
    linked = LINK.findall(page.text)
    assert {(mid, text) for mid, text in linked if html.unescape(text) != names[mid]} == set()
    return {mid for mid, _ in linked}


def test_no_page_of_the_operator_shows_an_id_without_a_name() -> None:
    templates = files("kasuwa.console") / "templates"
    pages = {path.name: path.read_text() for path in templates.iterdir() if path.name.startswith("operator_")}
    assert len(pages) > 15
    assert {name for name, text in pages.items() if SHOWN_ID.search(text)} == OF_ONE_MERCHANT


def test_jobs_and_notices_name_their_merchants(deployment: Deployment, finance: Visitor, shop: MerchantClient) -> None:
    shop.transfer(accountnumber="0000000020")
    assert linked_merchants(deployment, finance.get("/operator/work"))
    shop.transfer(orderRef="contradicted")
    shop.put("sandbox", action="settle", orderRef="contradicted", outcome="failed")
    assert shop.mid in linked_merchants(deployment, finance.get("/operator/notices"))


def test_taxes_name_their_merchants(deployment: Deployment, finance: Visitor, shop: MerchantClient) -> None:
    shop.transfer(amount="20000.00")
    assert linked_merchants(deployment, finance.get(f"/operator/taxes?month={day_of(shop)[:7]}"))


def test_reconciliation_names_the_merchants_of_disputes_and_entries(
    deployment: Deployment, finance: Visitor, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now="2098-03-05T12:00:00+01:00")
    [(merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)
    deployment.fetch(
        "insert into rail_dispute (rail, dispute_id, payment_reference, amount, currency, status, merchant_id, due_at)"
        " values ('named', $1, 'pay-9', 700, 'NGN', 'awaiting-answer', $2, '2000-01-01')",
        f"D-{shop.mid}",
        merchant_id,
    )
    assert shop.mid in linked_merchants(deployment, finance.get("/operator/reconciliation"))
    sent = shop.transfer(amount="75.00")
    done = upload(finance, "rail:bank:NGN", [f"{day_of(shop)},,filler {shop.mid},-0.01"])
    days = f"from={day_of(shop)}&to={day_of(shop)}"
    entries = finance.get(f"{done.place}?{days}&state=ours+only")
    assert linked_merchants(deployment, entries) == {shop.mid}
    item = entries.text.partition(f"{done.place}/entry-{merchant_id}-")[2].partition('"')[0]
    page = finance.get(f"{done.place}/entry-{merchant_id}-{item}")
    assert (sent["txnRef"] in page.words, linked_merchants(deployment, page)) == (True, {shop.mid})


def test_money_in_suspense_names_who_holds_it_and_who_gets_it(
    deployment: Deployment, finance: Visitor, open_shop: Callable[..., MerchantClient]
) -> None:
    holder, other = open_shop(), open_shop()
    reference = f"T-named-{holder.mid}"
    receive(deployment, holder, reference)
    linked_merchants(deployment, finance.get("/operator/reconciliation"))
    number = propose(finance, "suspense_assign", mid=other.mid, reference=reference)
    assert {holder.mid, other.mid} <= linked_merchants(deployment, finance.get("/operator/approvals"))
    assert finance.post(f"/operator/approvals/{number}/reject").http == 303
