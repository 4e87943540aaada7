"""Several keys of one merchant over HTTP: addresses, expiry, last use, rolling, revoking, and the signing secret."""

import asyncio
import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from kasuwa.core.callers import KEY_SCOPES
from kasuwa.merchants.key_usage import RECORD_USE
from kasuwa.merchants.keys import MAX_KEYS
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient, without_codes
from tests.running import Deployment
from tests.walk.bounds import RECORDED_USE
from tests.webhooks.event_log import send_events_to, wait_until
from tests.webhooks.inbox import Inbox, running_inbox

STATE = "select {} from merchant_key join merchant using (merchant_id) where mid = $1 and current and key_id = $2"


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def new_key(shop: MerchantClient, **fields: Any) -> MerchantClient:
    """Returns the merchant with a further key of its own."""
    reply = shop.put("sandbox", action="new_key", **fields).body
    assert reply["status"] == 200, reply
    return MerchantClient(shop.connection, shop.mid, reply["key"])


def list_keys(shop: MerchantClient) -> dict[int, Any]:
    return {key["key_id"]: key for key in shop.put("resources", inquire="keys").body["data"]}


def verifier(secret: str) -> Webhook:
    return Webhook("whsec_" + base64.b64encode(secret.encode()).decode())


# --- addresses, expiry, use -----------------------------------------------------------------------------------------


def test_a_key_is_refused_from_outside_its_ranges(deployment: Deployment, shop: MerchantClient) -> None:
    inside = new_key(shop, name="here", addresses=["127.0.0.0/8"])
    outside = new_key(shop, name="office", addresses=["203.0.113.0/24", "2001:db8::/32"])
    assert inside.put("resources", inquire="wallet").body["status"] == 200
    http, refused = outside.put("resources", inquire="wallet", headers={"x-forwarded-for": "203.0.113.9"})
    assert (http, without_codes(refused)) == (
        401,
        {
            "status": 101,
            "message": "key 3 (office) may not be used from 127.0.0.1, only from 203.0.113.0/24, 2001:db8::/32",
        },
    )
    wait_until("the refusal is recorded", lambda: list_keys(shop)[3]["refused_at"])
    seen = list_keys(shop)[3]
    assert (seen["refused_from"], seen["addresses"]) == ("127.0.0.1", ["203.0.113.0/24", "2001:db8::/32"])
    assert seen["last_used_at"] is None
    assert (
        "refused from 127.0.0.1" in sign_in_as(deployment, "merchant:read-only", shop.mid).get("/settings/keys").words
    )


def test_a_key_that_has_expired_is_refused(shop: MerchantClient) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    brief = new_key(shop, name="brief", expires_at=soon)
    assert list_keys(shop)[2]["expires_at"][:16] == soon[:16]
    wait_until("it has expired", lambda: brief.put("resources", inquire="wallet").body["status"] == 101)
    assert 2 not in list_keys(shop)


@RECORDED_USE.tries
def test_a_use_is_recorded_again_after_a_minute(
    deployment: Deployment, shop: MerchantClient, value: str, is_within: bool
) -> None:
    """All of it happens in one transaction, in which the time does not pass."""

    async def is_kept() -> bool:
        connection = await asyncpg.connect(deployment.dsn)
        try:
            async with connection.transaction():
                used = "update merchant_key set last_used_at = now() - $2::text::interval where {} returning {}"
                key = "merchant_id = (select merchant_id from merchant where mid = $1 and current) and key_id = 1"
                merchant_id = await connection.fetchval(used.format(key, "merchant_id"), shop.mid, value)
                await connection.execute(RECORD_USE, [merchant_id], [1], ["127.0.0.1"])
                return bool(
                    await connection.fetchval(f"select last_used_at < now() from merchant_key where {key}", shop.mid)
                )
        finally:
            await connection.close()

    assert asyncio.run(is_kept()) == is_within


def test_the_last_use_is_recorded_at_most_once_a_minute(deployment: Deployment, shop: MerchantClient) -> None:
    other = new_key(shop, name="other")
    assert list_keys(shop)[2]["last_used_at"] is None
    assert other.put("resources", inquire="wallet").body["status"] == 200
    wait_until("the use is recorded", lambda: list_keys(shop)[2]["last_used_at"])
    assert (list_keys(shop)[2]["last_used_from"], list_keys(shop)[2]["is_this"]) == ("127.0.0.1", False)
    recorded = deployment.fetch(STATE.format("last_used_at, merchant_key.xmin::text"), shop.mid, 2)
    third = new_key(shop, name="third")
    for _ in range(20):
        other.put("resources", inquire="wallet")
    third.put("resources", inquire="wallet")
    wait_until("a later use of another key is recorded", lambda: list_keys(shop)[3]["last_used_at"])
    assert deployment.fetch(STATE.format("last_used_at, merchant_key.xmin::text"), shop.mid, 2) == recorded


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"scopes": ["pay", "collect"]}, {"scopes"}),
        ({"addresses": ["10.0.0.1/8", "x"], "name": "a\tb"}, {"addresses", "name"}),
        ({"scopes": [], "name": "x" * 61}, {"name"}),
    ],
)
def test_faults_of_a_new_key_are_all_named(shop: MerchantClient, fields: dict[str, Any], wrong: set[str]) -> None:
    _, reply = shop.put("sandbox", action="new_key", **fields)
    assert (reply["status"], {error["field"] for error in reply["errors"]}) == (104, wrong)
    assert list(list_keys(shop)) == [1]


# --- rolling and revoking -------------------------------------------------------------------------------------------


def test_a_rolled_key_keeps_name_scopes_and_ranges(deployment: Deployment, shop: MerchantClient) -> None:
    old = new_key(shop, name="payroll", scopes=["payout", "read"], addresses=["127.0.0.0/8"])
    rolled = deployment.run_command("merchant", "roll-key", shop.mid, "--key-id", "2").split()[-1]
    new = MerchantClient(shop.connection, shop.mid, rolled)
    assert [one.transfer()["status"] for one in (old, new, shop)] == [200, 200, 200]
    keys = list_keys(shop)
    assert (keys[2]["replaced_by"], bool(keys[2]["expires_at"]), keys[1]["expires_at"]) == (3, True, None)
    assert {keys[3][name] == keys[2][name] for name in ("name", "scopes", "addresses")} == {True}
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/settings/keys")
    assert "rolled already" in owner.post("/settings/keys/2/roll", overlap="1").words
    deployment.run_command("merchant", "revoke-key", shop.mid, "2")
    wait_until("the old one ends", lambda: old.transfer()["status"] == 101)


def test_the_only_key_that_signs_events_is_not_revoked(deployment: Deployment, shop: MerchantClient) -> None:
    new_key(shop, name="second", scopes=["all"])
    refused = deployment.run_refused_command("merchant", "revoke-key", shop.mid, "1")
    assert "Events are signed with this key alone" in refused
    deployment.run_command("merchant", "roll-secret", shop.mid, "--overlap-hours", "0")
    deployment.run_command("merchant", "revoke-key", shop.mid, "1")


def test_a_reset_keeps_keys_and_secret(deployment: Deployment, shop: MerchantClient, inbox: Inbox) -> None:
    reader = new_key(shop, name="reader", scopes=["read"])
    secret = deployment.run_command("merchant", "roll-secret", shop.mid, "--overlap-hours", "0").split()[1]
    before = list_keys(shop)
    assert shop.put("sandbox", action="reset").body["status"] == 200
    after = list_keys(shop)
    assert [key["name"] for key in after.values()] == [key["name"] for key in before.values()]
    assert reader.transfer()["status"] == 101
    send_events_to(shop, inbox.url)
    shop.transfer()
    [letter] = inbox.wait_for(1)
    assert verifier(secret).verify(letter.body, letter.headers) == letter.payload


# --- the signing secret ---------------------------------------------------------------------------------------------


def test_a_rolled_secret_and_the_old_one_both_sign_and_keys_do_not(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    send_events_to(shop, inbox.url)
    new_key(shop, name="another")
    shop.transfer()
    inbox.wait_for(1)  # an event that is sent later has both signatures
    secret = deployment.run_command("merchant", "roll-secret", shop.mid).split()[1]
    first = shop.key
    shop.key = deployment.run_command("merchant", "roll-key", shop.mid, "--key-id", "1").split()[-1]
    assert list_keys(shop)[3]["signs_events"] is False
    shop.transfer()
    by_key, by_both = inbox.wait_for(2)
    assert len(by_key.headers["webhook-signature"].split(" ")) == 1
    assert verifier(first).verify(by_key.body, by_key.headers) == by_key.payload
    assert len(by_both.headers["webhook-signature"].split(" ")) == 2
    for signer in (secret, first):
        assert verifier(signer).verify(by_both.body, by_both.headers) == by_both.payload
    with pytest.raises(WebhookVerificationError):
        verifier(shop.key).verify(by_both.body, by_both.headers)


@pytest.mark.parametrize("option", [(), ("--key-signs",)])
def test_an_added_merchant_begins_with_a_secret_of_its_own(deployment: Deployment, option: tuple[str, ...]) -> None:
    lines = deployment.run_command("merchant", "add", "Ada Stores", *option).splitlines()
    assert [line.split()[0] for line in lines] == (["mid", "key"] if option else ["mid", "key", "secret"])
    with deployment.connect() as wire:
        shop = MerchantClient(wire, lines[0].split()[1], lines[1].split()[1])
        assert list_keys(shop)[1]["signs_events"] is bool(option)


# --- the console ----------------------------------------------------------------------------------------------------


def key_on(page: str) -> str:
    return page.partition("data-key>")[2].partition("<")[0]


def test_keys_are_made_rolled_and_revoked_in_the_console(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/settings/keys")
    wrong = owner.post("/settings/keys", name="", addresses="nowhere", expires_days="7")
    assert (wrong.http, wrong.text.count('class="fault"')) == (422, 4)
    made = owner.post(
        "/settings/keys", name="payroll", addresses="127.0.0.1, ::1", expires_days="30", **{"scope-payout": "1"}
    )
    assert made.http == 200
    client = MerchantClient(shop.connection, shop.mid, key_on(made.text))
    assert (client.transfer()["status"], client.put("resources", inquire="keys").http) == (200, 401)
    kept = list_keys(shop)[2]
    assert (kept["name"], kept["addresses"], "@" in kept["made_by"]) == (
        "payroll",
        ["127.0.0.1/32", "::1/128"],
        True,
    )
    rolled = owner.post("/settings/keys/2/roll", overlap="0")
    wait_until("the old key ends", lambda: client.transfer()["status"] == 101)
    client.key = key_on(rolled.text)
    assert client.transfer()["status"] == 200
    asked = owner.post("/settings/keys/3/revoke")
    assert (asked.http, "Revoke key 3, payroll?" in asked.words) == (200, True)
    assert client.transfer()["status"] == 200, "nothing has been done yet"
    assert owner.post("/settings/keys/3/revoke", confirmed="yes").http == 303
    wait_until("the new key ends", lambda: client.transfer()["status"] == 101)
    assert "only valid key" in owner.post("/settings/keys/1/revoke", confirmed="yes").words
    for number in (0, 2, 9):
        assert owner.post(f"/settings/keys/{number}/roll", overlap="1").http == 404
        assert owner.post(f"/settings/keys/{number}/revoke").http == 404
    assert "data-secret>" in owner.post("/settings/secret", overlap="24").text
    trail = owner.get("/settings/trail").words
    for action in ("made a key", "rolled a key", "revoked a key", "rolled the signing secret"):
        assert action in trail
    assert client.key not in trail


def post_key(visitor: Visitor, scope: str) -> int:
    visitor.get("/settings/keys")
    fields = {"name": "mine", "expires_days": "", f"scope-{scope}": "1"}
    return visitor.post("/settings/keys", **fields).http


def test_the_page_says_why_no_key_of_scope_all_can_be_made(deployment: Deployment, shop: MerchantClient) -> None:
    """The merchant has as many valid keys as it may have, and none of them is of scope `all`."""
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    made = [shop.put("sandbox", action="new_key", scopes=["read"]).body["status"] for _ in range(MAX_KEYS - 1)]
    assert set(made) == {200}
    deployment.run_command("merchant", "roll-secret", shop.mid, "--overlap-hours", "0")
    deployment.run_command("merchant", "revoke-key", shop.mid, "1")
    assert post_key(owner, "read") == 200
    owner.get("/settings")
    refused = owner.post("/settings/key", overlap="24")
    assert (refused.http, f"at most {MAX_KEYS} valid keys" in refused.words) == (422, True)


def test_nobody_makes_or_rolls_a_key_that_may_do_more_than_they_may(
    deployment: Deployment, shop: MerchantClient
) -> None:
    developer = sign_in_as(deployment, "merchant:developer", shop.mid)
    made = {scope: post_key(developer, scope) for scope in KEY_SCOPES}
    assert made == {**dict.fromkeys(KEY_SCOPES, 422), "read": 200}
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert {post_key(owner, scope) for scope in KEY_SCOPES} == {200}
    developer.get("/settings/keys")
    rows = deployment.fetch(
        "select key_id, scopes from merchant_key join merchant using (merchant_id) where mid = $1", shop.mid
    )
    for key_id, scopes in rows:
        rolled = developer.post(f"/settings/keys/{key_id}/roll", overlap="1")
        assert rolled.http == (200 if scopes == ["read"] else 422), scopes
    assert developer.post("/settings/key", overlap="1").http == 403
    for role in ("merchant:finance", "merchant:read-only"):
        assert post_key(sign_in_as(deployment, role, shop.mid), "collect") == 403
