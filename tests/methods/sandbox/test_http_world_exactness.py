"""What a world keeps exactly: addresses, orders at the issuer of a card, cards of forks, files of older versions."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from kasuwa.sandbox.worlds.blocks import Part, encode_part
from kasuwa.sandbox.worlds.files import write_file
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.sandbox.test_http_world_crossings import pay_by
from tests.methods.sandbox.test_http_worlds import act, fork_of
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment
from tests.walk.rows import NOW

# A world as an older version wrote it, whose tables had fewer columns. Its rows are those of a merchant who sent a
# transfer and made a card and a client.
OLDER_WORLD = Path(__file__).with_name("older_world.json")
OLDER_MIGRATION = 13
SESSION_ID = re.compile(rb"\b[0-9]{30}\b")
PASSPHRASE = "correct horse battery"


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def receipt_of(shop: MerchantClient, reference: str) -> str:
    address: str = shop.put("disburse", action="verify", orderRef=reference).body["receiptURL"]
    return address


# --- addresses --------------------------------------------------------------------------------------------------------


def test_the_address_of_a_receipt_is_the_same_after_a_restore_and_opens(shop: MerchantClient) -> None:
    shop.transfer(accountnumber="0000000000", orderRef="paid")
    address = receipt_of(shop, "paid")
    act(shop, "snapshot", name="paid")
    for _ in range(2):
        act(shop, "restore", name="paid")
        assert receipt_of(shop, "paid") == address
        assert shop.connection.send("GET", urlsplit(address).path).http == 200
    copy = fork_of(shop)
    other = receipt_of(copy, "paid")
    assert other != address
    assert shop.connection.send("GET", urlsplit(other).path).http == 200
    act(copy, "snapshot", name="copied")
    act(copy, "restore", name="copied")
    assert receipt_of(copy, "paid") == other
    assert shop.connection.send("GET", urlsplit(other).path).http == 200


def test_the_address_of_a_receipt_names_nothing_after_a_reset(shop: MerchantClient) -> None:
    shop.transfer(accountnumber="0000000000", orderRef="paid")
    address = receipt_of(shop, "paid")
    act(shop, "snapshot", name="paid")
    act(shop, "restore", name="paid")
    act(shop, "reset")
    assert shop.connection.send("GET", urlsplit(address).path).http == 404


def test_a_link_to_a_statement_opens_after_a_restore(shop: MerchantClient) -> None:
    asked: dict[str, Any] = {
        "inquire": "statement",
        "account": "wallet",
        "from": "2026-01-05",
        "to": "2026-01-05",
        "format": "csv",
    }
    link = shop.put("resources", **asked).body["link"]
    act(shop, "snapshot", name="linked")
    act(shop, "restore", name="linked")
    assert shop.connection.send("GET", urlsplit(link).path).http == 200


def test_a_transfer_has_the_same_session_id_after_a_restore_and_in_a_fork(shop: MerchantClient) -> None:
    act(shop, "snapshot", name="before")
    copy = fork_of(shop)
    first = pay_and_read_session(shop)
    act(shop, "restore", name="before")
    assert pay_and_read_session(shop) == first
    assert pay_and_read_session(copy) == first


def pay_and_read_session(shop: MerchantClient) -> bytes:
    """Returns the bank's id of a payment, as its receipt shows it."""
    shop.transfer(accountnumber="0000000000", orderRef="paid")
    page = shop.connection.send("GET", urlsplit(receipt_of(shop, "paid")).path).raw
    [session] = set(SESSION_ID.findall(page))
    return bytes(session)


def test_a_list_is_continued_after_a_restore_and_in_a_fork(open_shop: Callable[..., MerchantClient]) -> None:
    """Its clock stands still: all transactions are of one time."""
    shop = open_shop(now=NOW)
    for number in range(3):
        shop.transfer(accountnumber="0000000000", orderRef=f"r{number}")
    first = list_one(shop)
    assert list_one(shop, first["next_cursor"])["data"][0]["orderRef"] == "r1"
    act(shop, "snapshot", name="listed")
    copy = fork_of(shop)
    act(shop, "restore", name="listed")
    for merchant in (shop, copy):
        assert list_one(merchant) == first
        assert list_one(merchant, first["next_cursor"])["data"][0]["orderRef"] == "r1"


def test_a_cursor_of_what_a_restore_took_back_leaves_nothing_out(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=NOW)
    for number in range(2):
        shop.transfer(accountnumber="0000000000", orderRef=f"r{number}")
    act(shop, "snapshot", name="listed")
    shop.transfer(accountnumber="0000000000", orderRef="taken back")
    first = list_one(shop)
    assert first["data"][0]["orderRef"] == "taken back"
    act(shop, "restore", name="listed")
    assert list_one(shop, first["next_cursor"])["data"][0]["orderRef"] == "r1"


def list_one(shop: MerchantClient, cursor: str | None = None) -> dict[str, Any]:
    further = {} if cursor is None else {"cursor": cursor}
    reply: dict[str, Any] = shop.send_fields("resources", {"inquire": "transactions", "limit": 1, **further}).body
    return reply


# --- cards that were issued here --------------------------------------------------------------------------------------


def test_a_payment_by_a_card_of_another_merchant_is_refunded_after_a_restore(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    card, payee = CardClient(open_shop(now=NOW), currency="NGN", amount=5_000), PaymentClient(shop)
    paid = pay_by(payee, card)
    act(shop, "snapshot", name="paid")
    for name in ("paid", "again"):
        act(shop, "restore", name=name)
        act(shop, "snapshot", name="again" if name == "paid" else "last")
    refunded = payee.refund(paid, "100.00")
    assert (refunded["status"], refunded["txnStatus"]) == (200, "successful"), refunded
    assert card.balance == 3_600_00


def test_a_payment_by_the_merchants_own_card_is_refunded_once_restored_or_forked(
    shop: MerchantClient,
) -> None:
    card, payee = CardClient(shop, currency="NGN", amount=5_000), PaymentClient(shop)
    paid = pay_by(payee, card)
    act(shop, "snapshot", name="paid")
    act(shop, "restore", name="paid")
    copy = fork_of(shop, name="paid")
    refunded = payee.refund(paid, "100.00")
    assert (refunded["status"], refunded["txnStatus"]) == (200, "successful"), refunded
    assert card.balance == 3_600_00
    card.shop = copy
    assert card.balance == 3_500_00
    refunded = PaymentClient(copy).refund(paid, "200.00")
    assert (refunded["status"], refunded["txnStatus"]) == (200, "successful"), refunded
    assert card.balance == 3_700_00
    card.shop = shop
    assert card.balance == 3_600_00


def test_a_fork_does_not_refund_to_the_card_of_a_merchant_who_was_not_copied(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    card, payee = CardClient(open_shop(now=NOW), currency="NGN", amount=5_000), PaymentClient(shop)
    paid = pay_by(payee, card)
    refunded = PaymentClient(fork_of(shop)).refund(paid, "100.00")
    assert refunded.get("txnStatus") != "successful", refunded
    assert card.balance == 3_500_00


def test_a_payment_in_a_fork_by_the_number_of_its_card_is_by_the_card_of_the_fork(shop: MerchantClient) -> None:
    card = CardClient(shop, currency="NGN", amount=5_000)
    copy = fork_of(shop)
    year, month = card.data["expiration"].split("-")
    given = {"card_no": card.data["cardpan"], "expiry_month": month, "expiry_year": year[2:], "ccv": card.data["cvv"]}
    payee = PaymentClient(copy)
    charged = payee.charge(payee.initiate(given), {**given, "pin": "4321"})
    assert charged["txnStatus"] == "successful", charged
    assert card.balance == 5_000_00
    card.shop = copy
    assert card.balance == 3_500_00


# --- files of older versions ------------------------------------------------------------------------------------------


def test_a_file_of_an_older_version_with_fewer_columns_is_taken(shop: MerchantClient, deployment: Deployment) -> None:
    recorded: dict[str, Any] = json.loads(OLDER_WORLD.read_text())
    part = msgspec.convert(recorded, Part)
    assert part.source is not None
    parts = [encode_part(Part([], part.source)), encode_part(Part(part.blocks))]
    source = part.source

    async def make_file(connection: Any) -> bytes:
        vault = await deployment.open_vault(connection)
        return write_file(vault, source, OLDER_MIGRATION, parts, PASSPHRASE)

    content = deployment.run_on_connection(make_file)
    act(shop, "import_world", name="older", passphrase=PASSPHRASE, file=b64encode(content).decode())
    act(shop, "restore", name="older")
    sent = shop.put("disburse", action="verify", orderRef="first").body
    assert (sent["status"], sent["txnStatus"]) == (200, "successful")
    assert shop.put("clients", action="list").body["data"][0]["firstname"] == "Ada"
    assert shop.transfer(accountnumber="0000000000", orderRef="second")["txnStatus"] == "successful"
    act(shop, "advance", days=40)
    assert fork_of(shop, name="older").wallets()
