"""People and approvals are found: colleagues and transfers that wait by a merchant's users, everybody who signs in and
all proposals by operators."""

from urllib.parse import quote

import pytest

from tests.console.visitor import Visitor, sign_in_as, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

MOVEMENT = {"debit": "outside:funding:NGN", "credit": "wallet:main:NGN"}


def search(visitor: Visitor, text: str, path: str = "/search") -> str:
    reply = visitor.get(f"{path}?q={quote(text)}")
    return reply.place or reply.text.partition('<main id="content">')[2]


def test_an_owner_finds_colleagues_and_nobody_elses(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    colleague, _ = sign_in_link(deployment, "merchant:finance", shop.mid)
    stranger = deployment.open_shop()
    with stranger.connection:
        other, _ = sign_in_link(deployment, "merchant:finance", stranger.mid)
    name = colleague.partition("@")[0]
    page = search(owner, name.upper())
    assert f'<a href="/team?q={quote(colleague)}">{colleague}</a>' in page
    assert other not in search(owner, "person")
    team = owner.get(f"/team?q={quote(colleague)}").words
    assert (colleague in team, "Invite a user" in team) == (True, True)
    assert "Nobody has" in owner.get("/team?q=nobody-at-all").words


def test_who_does_not_see_the_team_finds_nobody_of_it(deployment: Deployment, shop: MerchantClient) -> None:
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    colleague, _ = sign_in_link(deployment, "merchant:finance", shop.mid)
    assert f"{colleague}</a>" not in search(reader, colleague)
    assert "No results" in search(reader, colleague)


def test_transfers_that_wait_are_found_by_narration_account_amount_and_bulk(
    deployment: Deployment, shop: MerchantClient
) -> None:
    shop.put("sandbox", action="payout_policy", approve_bulk=True, approve_above="100000.00")
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    sent = shop.transfer(amount="100000.01", orderRef="rent-7", narration="Rent of the warehouse")
    other = shop.transfer(amount="100000.02", orderRef="fuel-7", narration="Diesel")
    for text in ("warehouse RENT", "100,000.01", "rent-7 0000000000"):
        page = search(owner, text)
        assert 'aria-label="Waiting for approval"' in page, text
        assert (sent["txnRef"] in page, other["txnRef"] in page) == (True, False), text
    assert 'href="/transfers/waiting"' in search(owner, "warehouse")
    # What else is known of its maker (scopes, networks, who made the key) is in no answer.
    for text in ("nothing-waits-so", "false", "all"):
        assert 'aria-label="Waiting for approval"' not in search(owner, text), text


def test_an_operator_finds_everybody_who_signs_in(deployment: Deployment, shop: MerchantClient) -> None:
    admin = sign_in_as(deployment, "operator:admin")
    colleague, _ = sign_in_link(deployment, "operator:support")
    of_merchant, _ = sign_in_link(deployment, "merchant:developer", shop.mid)
    page = search(admin, colleague, "/operator/search")
    assert f'<a href="/team?q={quote(colleague)}">{colleague}</a>' in page
    page = search(admin, of_merchant, "/operator/search")
    assert (of_merchant in page, f'href="/operator/merchants/{shop.mid}"' in page) == (True, True)
    support = sign_in_as(deployment, "operator:support")
    page = search(support, colleague, "/operator/search")
    assert (colleague in page, "/team?q" in page) == (True, False)


def test_an_operator_finds_proposals_open_and_decided(deployment: Deployment, shop: MerchantClient) -> None:
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    finance.get("/operator/approvals")
    for amount, reason in (("4,321.09", "Lagoon bridge money"), ("17.00", "Harbour money")):
        proposed = finance.post(
            "/operator/approvals/posting", mid=shop.mid, **MOVEMENT, amount=amount.replace(",", ""), reason=reason
        )
        assert proposed.http == 303
    lines = deployment.fetch("select approval_id, reason from approval where mid = $1 order by approval_id", shop.mid)
    (lagoon, _), (harbour, _) = lines
    for text in ("LAGOON bridge", "4,321.09", f"{shop.mid} lagoon"):
        page = search(admin, text, "/operator/search")
        place = f"/operator/approvals?show=open&amp;before={lagoon + 1}#approval-{lagoon}"
        assert (place in page, f"#approval-{harbour}" in page) == (True, False), text
    assert f'id="approval-{lagoon}"' in admin.get(f"/operator/approvals?show=open&before={lagoon + 1}").text
    admin.get("/operator/approvals")
    admin.post(f"/operator/approvals/{harbour}/reject")
    page = search(finance, "harbour", "/operator/search")
    assert f"/operator/approvals?show=decided&amp;before={harbour + 1}#approval-{harbour}" in page
    assert "rejected" in page.lower()
