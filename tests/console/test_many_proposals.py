"""The approvals page with very many proposals: its pages are small, and together they contain every proposal."""

import html
import re
from collections.abc import Iterator

import msgspec
import pytest

from kasuwa.console.operator.approvals import MAX_PAGE_TEXT, MAX_REASON_LENGTH
from kasuwa.core.reference_tables import load_reference_data
from tests.console.visitor import LARGEST_PAGE, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

pytestmark = pytest.mark.xdist_group("full console")

MOVEMENT = {"debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "9.00"}
# The characters that take most bytes of a page.
LONG_REASON = '"' * MAX_REASON_LENGTH
# $1: the proposer; $2: who decided, if anybody did; $3 and $4: kind and proposal; $5: the merchant; $6: the reason.
ADD_PROPOSALS = """
    insert into approval (mid, kind, proposal, reason, proposed_by, state, decided_by, decided_at)
    select $5::text, $3::text, $4::text::json, $6::text, $1::bigint,
        case when $2::bigint is null then 'open' else 'approved' end, $2::bigint,
        case when $2::bigint is null then null else now() end
    from generate_series(1, 40) n
"""
NUMBERS = "select approval_id from approval where (state = 'open') = $1"


@pytest.fixture(scope="module")
def running(deployments: Deployments) -> Iterator[Deployment]:
    with deployments.fresh("many_proposals") as running:
        yield running


@pytest.fixture(scope="module")
def shop(running: Deployment) -> Iterator[MerchantClient]:
    opened = running.open_shop()
    with opened.connection:
        yield opened


@pytest.fixture(scope="module")
def admin(running: Deployment, shop: MerchantClient) -> Visitor:
    """An administrator who may decide the open proposals, with accounts of the merchant for the forms."""
    finance, admin = sign_in_as(running, "operator:finance"), sign_in_as(running, "operator:admin")
    finance.get("/operator/approvals")
    assert finance.post("/operator/approvals/posting", mid=shop.mid, **MOVEMENT, reason=LONG_REASON).http == 303
    tariff = msgspec.json.encode(load_reference_data("tariffs")).decode()
    assert finance.post("/operator/approvals/tariff", mid=shop.mid, tariff=tariff, reason=LONG_REASON).http == 303
    users = dict(running.fetch("select role, user_id from console_user where mid is null"))
    [[posting]] = running.fetch("select proposal::text from approval where kind = 'posting'")
    accounts = (
        "insert into account (key, merchant_id, name, currency, posted, held)"
        " select sha224(('many ' || n)::bytea), merchant_id, 'savings:MANY' || n || ':NGN', 'NGN', 0, 0"
        " from generate_series(1, 100) n, merchant where mid = $1 and current"
    )
    running.fetch(accounts, shop.mid)
    for decider in (None, users["operator:admin"]):
        for kind, proposal, reason in (
            ("tariff", tariff, LONG_REASON),
            ("posting", posting, LONG_REASON),
            ("posting", posting, "a reason"),
        ):
            running.fetch(ADD_PROPOSALS, users["operator:finance"], decider, kind, proposal, shop.mid, reason)
    return admin


@pytest.mark.parametrize("query", ["show=open", "show=open&mid={mid}", "show=decided"])
def test_small_pages_contain_every_proposal(
    running: Deployment, admin: Visitor, shop: MerchantClient, query: str
) -> None:
    path, seen = f"/operator/approvals?{query.format(mid=shop.mid)}", list[int]()
    while path:
        page = admin.get(path)
        assert len(page.text.encode()) < LARGEST_PAGE
        shown = re.findall(r'aria-label="(?:Manual posting|Tariff) ([0-9]+)"', page.text)
        assert shown
        seen += map(int, shown)
        found = re.search(r'href="([^"]+)">Older', page.text)
        path = html.unescape(found[1]) if found else ""
    numbers = [number for [number] in running.fetch(NUMBERS, query.startswith("show=open"))]
    assert len(numbers) >= 120
    assert seen == sorted(numbers, reverse=True)


def test_a_tariff_too_long_for_a_page_is_refused(admin: Visitor, shop: MerchantClient) -> None:
    admin.get("/operator/approvals")
    tariff = msgspec.json.encode({"note": "x" * MAX_PAGE_TEXT}).decode()
    answer = admin.post("/operator/approvals/tariff", mid=shop.mid, tariff=tariff, reason="r")
    assert answer.http == 422
    assert "name only what differs" in answer.words
