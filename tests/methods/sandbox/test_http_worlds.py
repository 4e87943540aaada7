"""Worlds over HTTP: snapshot, restore, fork, list, compare and delete."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from kasuwa.sandbox.worlds.operations import check_bounds
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment
from tests.walk.rows import NOW

PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
THREE_D_SECURE = {"card_no": "4111111111111111", "expiry_month": "12", "expiry_year": "30", "ccv": "200"}
LEASE = """
    update scheduled_job set leased_until = now() + interval '1 hour', claims = claims + 1
    where merchant_id = (select merchant_id from merchant where mid = $1 and current) returning key
"""
PAGE_TOKEN = """
    select p.detail ->> 'page' from payment p join merchant m using (merchant_id) where m.mid = $1 and m.current
"""
OPEN_ROWS = """
    select count(*) from token_index t join merchant m using (merchant_id) where m.mid = $1 and m.current
"""


def act(shop: MerchantClient, action: str, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = shop.send_fields("sandbox", {"action": action, **fields}).body
    assert body["status"] == 200, body
    return body


def refused(shop: MerchantClient, action: str, **fields: Any) -> str:
    body = shop.send_fields("sandbox", {"action": action, **fields}).body
    assert body["status"] == 104, body
    message: str = body["message"]
    return message


def fork_of(shop: MerchantClient, **fields: Any) -> MerchantClient:
    made = act(shop, "fork", **fields)
    return MerchantClient(shop.connection, made["mid"], made["key"])


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


@pytest.fixture
def full(open_full: Callable[[], MerchantClient]) -> MerchantClient:
    """A merchant who has used every action."""
    return open_full()


def test_a_restored_world_has_every_row_of_the_snapshot(full: MerchantClient, deployment: Deployment) -> None:
    act(full, "snapshot", name="one")
    rows = act(full, "restore", name="one")["rows"]
    assert rows > 300
    assert deployment.broken_invariants([full.mid]) == []
    act(full, "snapshot", name="two")
    assert act(full, "compare_worlds", name="one", other="two")["data"] == []
    # A restored world is taken and restored like any other.
    act(full, "restore", name="two")
    full.transfer(accountnumber="0000000000")
    act(full, "restore", name="one")
    act(full, "snapshot", name="three")
    assert act(full, "compare_worlds", name="one", other="three")["data"] == []


def test_a_fork_has_every_row_and_moves_nothing_of_its_origin(full: MerchantClient, deployment: Deployment) -> None:
    act(full, "snapshot", name="before")
    copy = fork_of(full)
    assert copy.mid != full.mid
    assert copy.wallets() == full.wallets()
    copy.transfer(accountnumber="0000000000")
    assert copy.wallets() != full.wallets()
    act(full, "snapshot", name="after")
    assert act(full, "compare_worlds", name="before", other="after")["data"] == []
    assert deployment.broken_invariants([full.mid, copy.mid]) == []


def test_what_was_done_since_the_snapshot_is_gone_after_a_restore(shop: MerchantClient) -> None:
    kept = shop.transfer(accountnumber="0000000000", orderRef="before")
    act(shop, "snapshot", name="early")
    wallets = shop.wallets()
    lost = shop.transfer(accountnumber="0000000000", orderRef="since")
    assert shop.wallets() != wallets
    act(shop, "snapshot", name="late")
    differences = {line["table"]: line for line in act(shop, "compare_worlds", name="early", other="late")["data"]}
    assert differences["transaction"] == {
        "table": "transaction",
        "only_in_first": 0,
        "only_in_other": 1,
        "changed": 0,
    }
    act(shop, "restore", name="early")
    assert shop.wallets() == wallets
    assert shop.put("disburse", action="verify", txnRef=kept["txnRef"]).body["txnStatus"] == "successful"
    assert shop.put("disburse", action="verify", txnRef=lost["txnRef"]).body["status"] == 104
    # The worlds stay, also the one that was made later.
    assert [world["name"] for world in act(shop, "worlds")["data"]] == ["late", "early"]
    act(shop, "restore", name="late")
    assert shop.put("disburse", action="verify", txnRef=lost["txnRef"]).body["txnStatus"] == "successful"


def test_the_next_reference_after_a_restore_is_the_one_after_the_snapshot(shop: MerchantClient) -> None:
    act(shop, "snapshot", name="start")
    first = [shop.transfer(accountnumber="0000000000", orderRef=f"r{n}")["txnRef"] for n in range(3)]
    copy = fork_of(shop, name="start")
    act(shop, "restore", name="start")
    assert [shop.transfer(accountnumber="0000000000", orderRef=f"r{n}")["txnRef"] for n in range(3)] == first
    assert [copy.transfer(accountnumber="0000000000", orderRef=f"r{n}")["txnRef"] for n in range(3)] == first


def test_a_page_is_valid_after_a_restore_and_a_fork_has_one_of_its_own(
    shop: MerchantClient, deployment: Deployment
) -> None:
    asked = {"action": "initiate", "paymentType": "card", "amount": "100.00", "user": PAYER, "card": THREE_D_SECURE}
    made = shop.send_fields("payment", asked).body
    page = urlsplit(made["authURL"]).path
    act(shop, "snapshot", name="asked")
    act(shop, "restore", name="asked")
    assert shop.connection.send("GET", page).http == 200
    copy = fork_of(shop, name="asked")
    [(token,)] = deployment.fetch(PAGE_TOKEN, copy.mid)
    pages = [page, f"{page.rpartition('/')[0]}/{token}"]
    assert pages[0] != pages[1]
    form = {"content-type": "application/x-www-form-urlencoded"}
    for place, merchant in enumerate((shop, copy)):
        shop.connection.send("POST", pages[place], b"decision=approve&otp=123456", form)
        states = [one.put("payment", action="verify", txnRef=made["txnRef"]).body["txnStatus"] for one in (shop, copy)]
        assert states[place] == "successful", (merchant.mid, states)
        assert states.count("successful") == place + 1


def test_an_account_number_of_a_fork_takes_money_for_the_fork_alone(shop: MerchantClient) -> None:
    asked = {"action": "charge", "paymentType": "bank_transfer", "amount": "100.00", "user": PAYER}
    made = shop.send_fields("payment", asked).body
    copy = fork_of(shop)
    paid = copy.put("sandbox", action="pay_account", accountNumber=made["accountNumber"], amount=made["amount"])
    assert paid.body["status"] == 200, paid
    assert copy.put("payment", action="verify", txnRef=made["txnRef"]).body["txnStatus"] == "successful"
    assert shop.put("payment", action="verify", txnRef=made["txnRef"]).body["txnStatus"] == "pending"


def test_a_card_of_a_fork_buys_with_the_money_of_the_fork(shop: MerchantClient) -> None:
    card = CardClient(shop, currency="NGN", amount=20_000)
    before, copy = card.balance, fork_of(shop)
    bought = {"action": "card_purchase", "amount": 5, "cardpan": card.data["cardpan"]}
    assert copy.send_fields("sandbox", bought).body["txnStatus"] == "successful"
    card.shop = copy
    assert card.balance < before
    card.shop = shop
    assert card.balance == before


def test_a_stored_reply_is_in_the_world(shop: MerchantClient) -> None:
    order = {"action": "transfer", "amount": "10.00", "bankcode": "058", "accountnumber": "0000000000"}
    first = shop.send_fields("disburse", order, headers={"idempotency-key": "one"})
    act(shop, "snapshot", name="sent")
    act(shop, "restore", name="sent")
    assert shop.send_fields("disburse", order, headers={"idempotency-key": "one"}).raw == first.raw
    other = {**order, "amount": "11.00"}
    assert shop.send_fields("disburse", other, headers={"idempotency-key": "one"}).body["status"] == 104


def test_a_job_that_was_leased_runs_after_the_restore(shop: MerchantClient, deployment: Deployment) -> None:
    sent = shop.transfer(accountnumber="0000000910")
    assert sent["txnStatus"] in ("processing", "pending")
    assert deployment.fetch_as_service(LEASE, shop.mid)
    act(shop, "snapshot", name="on the way")
    act(shop, "restore", name="on the way")
    act(shop, "advance", days=2)
    assert shop.put("disburse", action="verify", txnRef=sent["txnRef"]).body["txnStatus"] in ("successful", "failed")


def test_the_clock_goes_on_from_the_snapshot(shop: MerchantClient) -> None:
    act(shop, "snapshot", name="monday")
    before = act(shop, "clock")["now"]
    act(shop, "advance", days=3)
    assert act(shop, "clock")["now"] != before
    act(shop, "restore", name="monday")
    assert act(shop, "clock")["now"] == before


def test_faults_keys_and_endpoints_are_in_the_world(shop: MerchantClient) -> None:
    act(shop, "fault", rail="bank", kind="decline", times=1)
    made = act(shop, "new_key", name="reader", scopes=["read"])
    act(shop, "snapshot", name="planned")
    assert shop.transfer(accountnumber="0000000000")["txnStatus"] == "failed"
    assert shop.transfer(accountnumber="0000000000")["txnStatus"] == "successful"
    act(shop, "restore", name="planned")
    assert shop.transfer(accountnumber="0000000000")["txnStatus"] == "failed"
    reader = MerchantClient(shop.connection, shop.mid, made["key"])
    assert reader.send_fields("resources", {"inquire": "wallet"}).body["status"] == 200


def test_a_payment_by_a_card_goes_on_after_a_restore(shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    card = {**THREE_D_SECURE, "ccv": "000", "pin": "4321"}
    begun = payments.initiate(card)
    act(shop, "snapshot", name="begun")
    act(shop, "restore", name="begun")
    assert payments.charge(begun, card)["status"] in (200, 202)


def test_unknown_names_taken_names_and_other_merchants_worlds_are_refused(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    act(shop, "snapshot", name="mine")
    assert "exists" in refused(shop, "snapshot", name="mine")
    other = open_shop(now=NOW)
    assert act(other, "worlds")["data"] == []
    for action, fields in (
        ("restore", {"name": "mine"}),
        ("fork", {"name": "mine"}),
        ("delete_world", {"name": "mine"}),
        ("compare_worlds", {"name": "mine", "other": "mine"}),
    ):
        assert refused(other, action, **fields) == "There is no world of this name"
    act(shop, "delete_world", name="mine")
    assert refused(shop, "restore", name="mine") == "There is no world of this name"


def test_a_merchant_keeps_twenty_worlds(shop: MerchantClient) -> None:
    for number in range(20):
        act(shop, "snapshot", name=f"w{number}")
    message = refused(shop, "snapshot", name="one too many")
    assert message == "A merchant keeps at most 20 worlds: delete one first"
    act(shop, "delete_world", name="w0")
    act(shop, "snapshot", name="one too many")


def test_worlds_have_so_many_rows_at_most_alone_and_together(shop: MerchantClient, deployment: Deployment) -> None:
    act(shop, "snapshot", name="first")

    def message(rows: int) -> str | None:
        refusal = deployment.run_on_connection(lambda connection: check_bounds(connection, shop.mid, rows))
        return None if refusal is None else str(refusal.message)

    assert message(1_000_000) is None
    assert message(1_000_001) == "A world has at most 1,000,000 rows, and this merchant has 1,000,001"
    deployment.fetch_as_service("update world set row_count = 1999000 where mid = $1 returning 1", shop.mid)
    assert message(1_000) is None
    assert message(1_001) == "All worlds of a merchant have at most 2,000,000 rows: delete one first"


def test_worlds_that_are_compared_have_so_many_rows_at_most(shop: MerchantClient, deployment: Deployment) -> None:
    act(shop, "snapshot", name="first")
    act(shop, "snapshot", name="second")
    assert act(shop, "compare_worlds", name="first", other="second")["data"] == []
    deployment.fetch_as_service("update world set row_count = 200001 where mid = $1 returning 1", shop.mid)
    message = refused(shop, "compare_worlds", name="first", other="second")
    assert message == "Worlds of more than 200,000 rows cannot be compared"


def test_a_world_of_a_newer_version_is_refused(shop: MerchantClient, deployment: Deployment) -> None:
    act(shop, "snapshot", name="tomorrow")
    deployment.fetch_as_service("update world set schema_version = 9999 where mid = $1 returning 1", shop.mid)
    for action in ("restore", "fork"):
        assert "The world was made by kasuwa" in refused(shop, action, name="tomorrow")


def test_a_damaged_world_changes_nothing(shop: MerchantClient, deployment: Deployment) -> None:
    shop.transfer(accountnumber="0000000000")
    act(shop, "snapshot", name="damaged")
    deployment.fetch_as_service(
        "update world_part set sealed = sealed || '\\x00' where number = 2"
        " and world_id = (select world_id from world where mid = $1) returning 1",
        shop.mid,
    )
    wallets, found = shop.wallets(), deployment.fetch(OPEN_ROWS, shop.mid)
    for action in ("restore", "fork"):
        assert refused(shop, action, name="damaged").startswith("The world is damaged: ")
    assert (shop.wallets(), deployment.fetch(OPEN_ROWS, shop.mid)) == (wallets, found)
