"""Notices: taken over, given to a colleague, closed with a comment, opened again."""

import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

MAKE = """
    insert into operator_notice (merchant_id, reference, message, at)
    select merchant_id, $1, 'The bank says that it paid what failed', now() from merchant where mid = $2 and current
    returning merchant_id, notice_id
"""


@pytest.fixture
def path(deployment: Deployment, shop: MerchantClient) -> str:
    [[merchant_id, notice_id]] = deployment.fetch(MAKE, f"ref-{shop.mid}", shop.mid)
    return f"/operator/notices/{merchant_id}/{notice_id}"


@pytest.fixture
def support(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:support")


def email_of(visitor: Visitor) -> str:
    return visitor.get("/account").text.partition('<a href="/account">')[2].partition("<")[0]


def test_a_notice_is_taken_over_and_closed_with_what_was_found(
    support: Visitor, shop: MerchantClient, path: str
) -> None:
    assert path in support.get("/operator/notices").text
    assert support.post(path, step="take", **{"from": "list"}).place == "/operator/notices"
    assert path in support.get("/operator/notices?state=open&mine=yes").text
    assert "under review" in support.get(path).words
    empty = support.post(path, step="close", comment="")
    assert (empty.http, "what was found" in empty.words) == (422, True)
    assert support.post(path, step="close", comment="x" * 501).http == 422
    assert support.post(path, step="close", comment="The bank was wrong.").http == 303
    assert path not in support.get("/operator/notices").text
    closed = support.get("/operator/notices?state=closed")
    assert path in closed.text
    assert "The bank was wrong." in closed.words
    trail = support.get("/operator/trail?q=The+bank+was+wrong").words
    assert "closed a notice" in trail


def test_a_notice_that_a_colleague_closed_meanwhile_stays_closed(
    deployment: Deployment, support: Visitor, path: str
) -> None:
    admin = sign_in_as(deployment, "operator:admin")
    support.get(path)
    assert admin.post(path, step="close", comment="first").http == 303
    second = support.post(path, step="close", comment="second")
    assert (second.http, "closed this notice meanwhile" in second.words) == (422, True)
    assert support.post(path, step="take").http == 422
    assert "first" in support.get(path).words
    assert support.post(path, step="reopen").http == 303
    again = support.post(path, step="reopen")
    assert (again.http, "open already" in again.words) == (422, True)


def test_a_notice_is_given_to_an_operator_and_to_nobody_else(
    deployment: Deployment, support: Visitor, path: str
) -> None:
    colleague = email_of(sign_in_as(deployment, "operator:finance"))
    assert support.post(path, step="assign", assigned_to=colleague).http == 303
    assert colleague in support.get(path).words.partition("Looked into by")[2]
    assert support.post(path, step="assign", assigned_to="stranger@example.com").http == 303
    assert "Looked into by nobody" in support.get(path).words


@pytest.mark.parametrize("place", ["1/999999999", "x/1", "1/-1", "99999999999999999999/1"])
def test_an_unknown_notice_is_not_found(support: Visitor, place: str) -> None:
    assert support.get(f"/operator/notices/{place}").http == 404


def test_an_unknown_notice_is_not_handled(support: Visitor) -> None:
    for step in ("take", "close"):
        assert support.post("/operator/notices/1/999999999", step=step, comment="x").http in (404, 422)


def test_merchants_do_not_see_notices(deployment: Deployment, shop: MerchantClient, path: str) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert owner.get(path).http == 403
