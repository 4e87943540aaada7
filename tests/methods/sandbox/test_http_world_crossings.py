"""Worlds that meet what others do meanwhile: resets, deletions, suspensions, names and numbers that are taken."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import asyncpg
import msgspec
import pytest

from kasuwa.merchants import merchants
from kasuwa.merchants.merchant_settings import MerchantSettings
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings
from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import dispute_of, file_of, open_dispute
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment
from tests.walk.rows import NOW
from tests.webhooks.event_log import wait_until

WAITING = """
    select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ~ $1
"""
LOCK = "select merchant_id from merchant where mid = $1 and current for update"
IS_SUSPENDED = "select coalesce((settings ->> 'suspended')::boolean, false) from merchant where mid = $1 and current"
NO_NEW_KEYS = "lock table merchant_key in share mode"
COUNT_PARTS = "select count(*) from world_part join world using (world_id) where mid = $1"
# The statements in which a restore and a deletion wait for others.
RESTORE_WAITS, DELETION_WAITS = "for no key update", "delete from world"


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def ask(shop: MerchantClient, action: str, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = shop.put("sandbox", action=action, **fields).body
    return body


def do(shop: MerchantClient, action: str, **fields: Any) -> dict[str, Any]:
    body = ask(shop, action, **fields)
    assert body["status"] == 200, body
    return body


class Asked(threading.Thread):
    """A request on a connection of its own, so that it may wait."""

    def __init__(self, deployment: Deployment, shop: MerchantClient, action: str, **fields: Any) -> None:
        super().__init__()
        self._client = MerchantClient(deployment.connect(), shop.mid, shop.key)
        self._action, self._fields = action, fields
        self.body: dict[str, Any] = {}
        self.start()

    def run(self) -> None:
        self.body = ask(self._client, self._action, **self._fields)


def wait_for_lock(deployment: Deployment, statement: str, asked: Asked) -> None:
    def is_waiting() -> bool:
        assert asked.is_alive(), f"it did not wait: {asked.body}"
        return deployment.fetch(WAITING, statement) == [(1,)]

    wait_until(f"a session waits in {statement}", is_waiting)


# --- resets -----------------------------------------------------------------------------------------------------------


def test_a_world_is_restored_after_a_reset_with_its_card_and_link(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop)
    number = card.data["cardpan"]
    do(shop, "snapshot", name="before")
    do(shop, "reset")
    do(shop, "restore", name="before")
    assert do(shop, "card_purchase", cardpan=number, amount="1.00")["txnStatus"] == "successful"
    # Once more, from books that are themselves a copy.
    do(shop, "reset")
    do(shop, "restore", name="before")
    assert card.balance == 100_00
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_payment_by_a_card_stays_known_after_resets_and_restores_of_its_issuer(
    shop: MerchantClient, deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    card, payee = CardClient(shop, currency="NGN", amount=5_000), PaymentClient(open_shop(now=NOW))
    paid = pay_by(payee, card)
    do(shop, "snapshot", name="paid")
    do(shop, "reset")
    do(shop, "restore", name="paid")
    refunded = payee.refund(paid, "100.00")
    assert (refunded["status"], refunded["txnStatus"]) == (200, "successful"), refunded
    assert card.balance == 3_600_00
    assert deployment.broken_invariants([shop.mid, payee.shop.mid]) == []


def pay_by(payee: PaymentClient, card: CardClient) -> str:
    """Pays 1,500.00 by a card, and returns the reference of the payment."""
    year, month = card.data["expiration"].split("-")
    number = {"card_no": card.data["cardpan"], "expiry_month": month, "expiry_year": year[2:], "ccv": card.data["cvv"]}
    given = {**number, "pin": "4321"}
    charged = payee.charge(payee.initiate(given), given)
    assert card.balance == 3_500_00
    return str(charged["txnRef"])


def dispute_in_fork(card: CardClient) -> tuple[MerchantClient, dict[str, Any]]:
    """Forks the card's merchant and disputes the card's purchase there. Returns the fork and the cardholder's
    dispute."""
    made = do(card.shop, "fork")
    fork = MerchantClient(card.shop.connection, made["mid"], made["key"])
    [bought] = [line["txnRef"] for line in card.records() if line["narration"] == "Card Purchase"]
    request: dict[str, Any] = {"reference": card.reference, "id": bought, "reason": "not received"}
    filed = fork.put("virtualcard", action="dispute", **request).body
    assert filed["status"] == 200, filed
    return fork, filed["data"]


def test_a_dispute_in_a_fork_is_of_the_payment_in_the_fork(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop, currency="NGN", amount=5_000)
    pay_by(PaymentClient(shop), card)
    fork, _ = dispute_in_fork(card)
    client = PaymentClient(fork)
    wait_until("the fork's payment is disputed", lambda: len(client.pay(action="disputes")["data"]) == 1)
    [opened] = client.pay(action="disputes")["data"]
    client.pay(action="dispute_respond", dispute_id=opened["dispute_id"], accept=True)
    named: dict[str, Any] = {"action": "get", "reference": card.reference}

    def balance_in_fork() -> str:
        return str(fork.put("virtualcard", **named).body["card_data"]["balance"])

    wait_until("the fork's card has its money", lambda: balance_in_fork() == "5,000.00")
    assert (card.balance, PaymentClient(shop).pay(action="disputes")["data"]) == (3_500_00, [])
    assert deployment.broken_invariants([shop.mid, fork.mid]) == []


def test_a_dispute_in_a_fork_does_not_reach_another_merchants_shop(
    shop: MerchantClient, deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    card, payee = CardClient(shop, currency="NGN", amount=5_000), PaymentClient(open_shop(now=NOW))
    pay_by(payee, card)
    fork, filed = dispute_in_fork(card)
    named: dict[str, Any] = {"action": "view_dispute", "dispute_id": filed["dispute_id"]}
    wait_until("it is closed", lambda: fork.put("virtualcard", **named).body["data"]["state"] == "closed")
    assert payee.pay(action="disputes")["data"] == []
    assert deployment.broken_invariants([shop.mid, fork.mid, payee.shop.mid]) == []


def test_a_link_that_another_merchant_took_since_is_named_as_the_reason(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    slug = f"shop-{shop.mid.lower()}"
    link: dict[str, Any] = {"title": "Shop", "description": "Shoes", "amount": "100.00", "custom_link": slug}
    do(shop, "snapshot", name="empty")
    assert shop.put("resources", request="paylink", **link).body["status"] == 200
    do(shop, "snapshot", name="with a link")
    do(shop, "restore", name="empty")
    assert open_shop().put("resources", request="paylink", **link).body["status"] == 200
    refused = ask(shop, "restore", name="with a link")
    assert (refused["status"], refused["code"]) == (104, "world_not_possible")
    assert refused["message"].startswith("Another merchant has an address or a number of this world now")
    assert do(shop, "restore", name="empty")["rows"] > 0


# --- snapshots at once ------------------------------------------------------------------------------------------------


def test_snapshots_at_once_take_turns_and_keep_within_the_bounds(shop: MerchantClient, deployment: Deployment) -> None:
    for number in range(18):
        do(shop, "snapshot", name=f"w{number}")
    names = ["same"] * 4 + ["other", "third", "fourth"]
    asked = [Asked(deployment, shop, "snapshot", name=name) for name in names]
    for one in asked:
        one.join()
    codes = Counter(one.body.get("code", "stored") for one in asked)
    assert codes["stored"] == 2, codes
    assert codes.keys() <= {"stored", "world_name_taken", "too_many_worlds"}
    assert len(do(shop, "worlds")["data"]) == 20


def test_snapshots_and_copies_while_the_books_change_are_all_answered(
    shop: MerchantClient, deployment: Deployment
) -> None:
    do(shop, "snapshot", name="base")
    asked = [
        Asked(deployment, shop, action, **fields)
        for number in range(3)
        for action, fields in (
            ("snapshot", {"name": f"w{number}"}),
            ("restore", {"name": "base"}),
            ("new_key", {"name": f"key {number}", "scopes": ["read"]}),
            ("fork", {}),
            ("reset", {}),
        )
    ]
    for one in asked:
        one.join()
    assert [one.body["status"] for one in asked] == [200] * len(asked), [one.body for one in asked]
    assert deployment.broken_invariants([shop.mid]) == []


# --- deletions --------------------------------------------------------------------------------------------------------


def test_a_snapshot_has_nothing_that_was_set_for_an_event_alone(shop: MerchantClient, deployment: Deployment) -> None:
    async def run() -> tuple[Asked, Asked]:
        holder = await asyncpg.connect(deployment.dsn)
        try:
            async with holder.transaction():
                await holder.execute(NO_NEW_KEYS)
                event = Asked(deployment, shop, "trigger", event="transfer_approval.failed")
                await asyncio.to_thread(wait_for_lock, deployment, "insert into merchant_key", event)
                # The policy by which every transfer waits is set.
                snapshot = Asked(deployment, shop, "snapshot", name="meanwhile")
                for _ in range(20):
                    assert (await asyncio.to_thread(do, shop, "worlds"))["data"] == []
        finally:
            await holder.close()
        return event, snapshot

    for asked in asyncio.run(run()):
        asked.join()
        assert asked.body["status"] == 200, asked.body
    do(shop, "restore", name="meanwhile")
    assert shop.transfer(accountnumber="0000000000")["txnStatus"] == "successful"


def test_a_deletion_waits_for_the_restore_that_reads_the_world(shop: MerchantClient, deployment: Deployment) -> None:
    do(shop, "snapshot", name="read")
    wallets = shop.wallets()
    shop.transfer(accountnumber="0000000000")

    async def run() -> tuple[Asked, Asked]:
        holder = await asyncpg.connect(deployment.dsn)
        try:
            async with holder.transaction():
                await holder.fetch(LOCK, shop.mid)
                restore = Asked(deployment, shop, "restore", name="read")
                await asyncio.to_thread(wait_for_lock, deployment, RESTORE_WAITS, restore)
                deletion = Asked(deployment, shop, "delete_world", name="read")
                await asyncio.to_thread(wait_for_lock, deployment, DELETION_WAITS, deletion)
        finally:
            await holder.close()
        return restore, deletion

    restore, deletion = asyncio.run(run())
    restore.join()
    deletion.join()
    assert (restore.body["status"], deletion.body["status"]) == (200, 200)
    assert shop.wallets() == wallets
    assert do(shop, "worlds")["data"] == []


def test_a_world_with_fewer_rows_than_it_had_is_damaged(shop: MerchantClient, deployment: Deployment) -> None:
    do(shop, "snapshot", name="whole")
    do(shop, "snapshot", name="cut off")
    deployment.fetch_as_service(
        "update world set row_count = row_count + 1 where mid = $1 and name = 'cut off' returning 1", shop.mid
    )
    wallets = shop.wallets()
    for action in ("restore", "fork"):
        assert ask(shop, action, name="cut off")["code"] == "world_damaged"
    assert ask(shop, "compare_worlds", name="whole", other="cut off")["code"] == "world_damaged"
    assert shop.wallets() == wallets


# --- suspensions ------------------------------------------------------------------------------------------------------


def test_a_suspension_during_a_restore_stays(shop: MerchantClient, deployment: Deployment) -> None:
    do(shop, "snapshot", name="free")

    def suspend(settings: MerchantSettings) -> MerchantSettings:
        return msgspec.structs.replace(settings, suspended=True)

    async def run() -> Asked:
        holder = await asyncpg.connect(deployment.dsn)
        try:
            vault = await vault_keys.open_vault(holder, load_secret_key(Settings(data=deployment.directory)))
            async with holder.transaction():
                await merchants.change_settings(holder, vault, shop.mid, suspend, is_endpoint_set=False)
                restore = Asked(deployment, shop, "restore", name="free")
                await asyncio.to_thread(wait_for_lock, deployment, RESTORE_WAITS, restore)
        finally:
            await holder.close()
        return restore

    asyncio.run(run()).join()
    assert deployment.fetch(IS_SUSPENDED, shop.mid) == [(True,)]


# --- large rows -------------------------------------------------------------------------------------------------------


def test_large_files_are_in_parts_of_their_own_and_come_back(shop: MerchantClient, deployment: Deployment) -> None:
    client = PaymentClient(shop)
    opened = open_dispute(client, client.paid()["txnRef"])
    whole = b"%PDF-1.4\n" + bytes(2 * 1024 * 1024 - 9)
    evidence = {"explanation": "see the files", "files": [file_of(whole)] * 3}
    answered = client.pay(action="dispute_respond", dispute_id=opened["data"]["dispute_id"], evidence=evidence)
    assert answered["data"]["state"] == "under_review"
    shown = dispute_of(client, opened)
    do(shop, "snapshot", name="files")
    [(parts,)] = deployment.fetch(COUNT_PARTS, shop.mid)
    assert parts >= 4, "the source, and each of the files"
    do(shop, "restore", name="files")
    assert dispute_of(client, opened) == shown
    assert deployment.broken_invariants([shop.mid]) == []
