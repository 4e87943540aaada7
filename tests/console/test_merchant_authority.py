"""Authority within a merchant: nobody gives more than they have, approves what they made, or gets round it by "try it".

Contract: keys#two-persons
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.console.test_permissions import try_it
from tests.console.test_user_invitations import accept, new_address
from tests.console.visitor import PageReply, Visitor, link_for, sign_in_as, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

OWNER = "merchant:owner"


class Person(NamedTuple):
    """A person of a merchant's team, in their browser."""

    email: str
    browser: Visitor

    def make_key(self, *scopes: str) -> str:
        self.browser.get("/settings/keys")
        chosen = {f"scope-{scope}": "1" for scope in scopes}
        return key_in(self.browser.post("/settings/keys", name="mine", expires_days="", **chosen))

    def roll_key(self, key_id: int) -> str:
        self.browser.get("/settings/keys")
        return key_in(self.browser.post(f"/settings/keys/{key_id}/roll", overlap="0"))

    def send(self) -> str:
        """Sends a transfer on the page for it, and returns its reference."""
        order = {"action": "transfer", "amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}
        reply = try_it(self.browser, "disburse/transfer", **order, orderRef=f"by-{self.email}")
        return reply.text.partition("GP|FD|")[2].partition("&")[0]

    def approve(self, reference: str) -> PageReply:
        self.browser.get("/transfers/waiting")
        return self.browser.post(f"/transfers/waiting/{reference.replace('|', '%7C')}/approve", confirmed=reference)

    def invite(self, deployment: Deployment, role: str) -> "Person":
        email = new_address("colleague")
        self.browser.get("/team")
        assert self.browser.post("/team", email=email, role=role).http == 303
        return Person(email, accept(deployment, link_for(deployment, email)))


def key_in(page: PageReply) -> str:
    assert page.http == 200, page.words
    return page.text.partition("data-key>")[2].partition("<")[0]


def person_of(deployment: Deployment, shop: MerchantClient, role: str = OWNER) -> Person:
    email, link = sign_in_link(deployment, role, shop.mid, "invitation")
    return Person(email, accept(deployment, link))


@pytest.fixture
def guarded(shop: MerchantClient) -> MerchantClient:
    """A merchant whose transfers all wait for approval."""
    assert shop.put("sandbox", action="payout_policy", approve_above="0.00").body["status"] == 200
    return shop


def send_with(shop: MerchantClient, key: str, reference: str) -> str:
    client = MerchantClient(shop.connection, shop.mid, key)
    wait_until("the key works", lambda: client.put("resources", inquire="wallet").http == 200)
    sent = client.transfer(orderRef=reference)
    assert sent["message"] == "Waiting for approval", sent
    return str(sent["txnRef"])


# --- who approves -----------------------------------------------------------------------------------------------------


def test_whoever_rolled_a_key_does_not_approve_what_it_sends(deployment: Deployment, guarded: MerchantClient) -> None:
    ada, obi, third = (person_of(deployment, guarded) for _ in range(3))
    send_with(guarded, ada.make_key("payout"), "of-ada")
    reference = send_with(guarded, obi.roll_key(2), "rolled")
    for holder in (ada, obi):
        assert "cannot approve" in holder.approve(reference).words, "both know the key, or could"
    assert third.approve(reference).http == 303
    assert guarded.verify("rolled")["txnStatus"] == "successful"


def test_nobody_approves_what_they_invited_promoted_or_reset(deployment: Deployment, guarded: MerchantClient) -> None:
    ada, other = person_of(deployment, guarded), person_of(deployment, guarded)
    invited = ada.invite(deployment, OWNER)
    further = invited.invite(deployment, "merchant:finance")
    promoted = person_of(deployment, guarded, "merchant:read-only")
    [(user_id,)] = deployment.fetch("select user_id from console_user where email = $1", promoted.email)
    ada.browser.get("/team")
    assert ada.browser.post(f"/team/{user_id}/role", role="merchant:finance").http == 303
    promoted.browser.get("/sign-in")
    assert promoted.browser.post("/sign-in", email=promoted.email, password="correct horse battery").http == 303
    for colleague in (invited, further, promoted):
        reference = f"GP|FD|{colleague.send()}"
        assert "cannot approve" in ada.approve(reference).words, colleague
        assert other.approve(reference).http == 303
    key = invited.make_key("payout")
    assert "cannot approve" in ada.approve(send_with(guarded, key, "by-their-key")).words


def test_a_rolled_key_keeps_its_makers_and_gains_the_person(deployment: Deployment, shop: MerchantClient) -> None:
    ada, obi = (person_of(deployment, shop) for _ in range(2))
    ada.make_key("payout")
    obi.roll_key(2)
    ada.roll_key(3)
    rows = deployment.fetch(
        "select holders, makers, created_by from merchant_key join merchant using (merchant_id) where mid = $1"
        " and key_id = 4",
        shop.mid,
    )
    assert [tuple(row) for row in rows] == [([ada.email, obi.email], [ada.email, obi.email], ada.email)]


@pytest.fixture(scope="module")
def slow(deployments: Deployments) -> Iterator[Deployment]:
    """A deployment in which new accounts and keys approve nothing for a day."""
    with deployments.fresh("slow", KASUWA_COOLING_OFF_HOURS="24") as running:
        yield running


def test_new_people_and_keys_approve_nothing_during_the_cooling_off_time(slow: Deployment) -> None:
    shop = slow.open_shop()
    with shop.connection:
        admin = sign_in_as(slow, "operator:admin")
        email = new_address("first")
        admin.get(f"/operator/merchants/{shop.mid}")
        assert admin.post(f"/operator/merchants/{shop.mid}/invite", email=email).http == 303
        first = Person(email, accept(slow, link_for(slow, email)))
        second = first.invite(slow, OWNER)
        assert shop.put("sandbox", action="payout_policy", approve_above="0.00").body["status"] == 200
        reference = shop.transfer(orderRef="waits")["txnRef"]
        assert "cannot approve yet" in second.approve(reference).words
        approver = MerchantClient(shop.connection, shop.mid, first.make_key("approve"))
        wait_until("the key works", lambda: approver.put("resources", inquire="keys").http in (200, 401))
        decided = approver.put("disburse", action="approve", txnRef=reference).body
        assert "cannot approve yet" in decided["message"], decided
        assert first.approve(reference).http == 303, "the first owner is exempt"
        own = f"GP|FD|{first.send()}"
        assert "cannot approve yet" in second.approve(own).words
        slow.fetch_as_service("update console_user set approves_from = now() where email = $1", second.email)
        assert second.approve(own).http == 303


# --- "try it" ---------------------------------------------------------------------------------------------------------


def try_sandbox(visitor: Visitor, **fields: Any) -> PageReply:
    return try_it(visitor, f"sandbox/{fields['action']}", **fields)


def test_try_it_of_the_sandbox_obeys_the_rules_of_the_pages(deployment: Deployment, shop: MerchantClient) -> None:
    developer, owner = (sign_in_as(deployment, f"merchant:{role}", shop.mid) for role in ("developer", "owner"))
    for scopes in (["all"], ["payout"], None, [], ["read", "approve"], ["nonsense"], "read"):
        body = {"action": "new_key"} | ({} if scopes is None else {"scopes": scopes})
        assert try_sandbox(developer, **body).http == 403, scopes
    assert "key_id" in try_sandbox(developer, action="new_key", scopes=["read"]).words
    assert try_sandbox(developer, action="payout_policy", approve_above="1.00").http == 403
    assert try_sandbox(developer, action="checkout_origins", origins=["https://shop.example"]).http == 403
    assert try_sandbox(owner, action="checkout_origins", origins=["https://shop.example"]).http == 200
    beneficiary = {"action": "beneficiary", "name": "Ada Obi", "bankcode": "058", "accountnumber": "0000000000"}
    assert try_sandbox(developer, **beneficiary).http == 403
    assert try_sandbox(owner, action="payout_policy", approve_above="1.00").http == 200
    assert "key_id" in try_sandbox(owner, action="new_key", scopes=["all"]).words
    holders = deployment.fetch(
        "select scopes, holders <> '{}' from merchant_key join merchant using (merchant_id)"
        " where mid = $1 and key_id > 1 order by key_id",
        shop.mid,
    )
    assert [tuple(row) for row in holders] == [(["read"], True), (["all"], True)], "who made them stands behind them"
    settings = deployment.fetch("select settings::text from merchant where mid = $1 and current", shop.mid)[0][0]
    assert msgspec.json.decode(settings)["payouts"]["approve_above"] == "1.00"


def test_try_it_asks_for_a_second_factor_where_the_page_does(deployment: Deployment, shop: MerchantClient) -> None:
    email, link = sign_in_link(deployment, OWNER, shop.mid, "invitation")
    owner = accept(deployment, link)
    deployment.fetch_as_service(
        "update console_session set verified_at = now() - interval '1 day' from console_user u"
        " where u.user_id = console_session.user_id and u.email = $1",
        email,
    )
    for fields in (
        {"action": "webhook", "url": ""},
        {"action": "new_key", "scopes": ["read"]},
        {"action": "payout_policy", "approve_above": "1.00"},
    ):
        asked = try_sandbox(owner, **fields)
        assert 'name="confirm_password"' in asked.text, fields
    keys = "select count(*) from merchant_key join merchant using (merchant_id) where mid = $1"
    assert deployment.fetch(keys, shop.mid)[0][0] == 1, "nothing was done"
