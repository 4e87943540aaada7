"""Receipts of transfers: their page, file and address, and that nobody finds one that was not given to them."""

from hashlib import blake2b
from typing import Any

import pytest

from kasuwa.methods.disburse.receipts import make_receipt_url, read_receipt_token
from tests.merchant_client import MerchantClient, RawReply
from tests.pages.pdf_text import read_pdf_pages
from tests.running import Deployment

URL = "https://api.example.com"


def path_of(address: str) -> str:
    return "/pay/receipt/" + address.rpartition("/pay/receipt/")[2]


def open_page(shop: MerchantClient, path: str, verb: str = "GET") -> RawReply:
    return shop.connection.send(verb, path)


def paid(shop: MerchantClient, **fields: Any) -> Any:
    reply = shop.transfer(**fields)
    assert reply["txnStatus"] == "successful"
    return reply


def test_a_receipt_names_beneficiary_bank_session_reference_and_time(shop: MerchantClient) -> None:
    reply = paid(shop, orderRef="rent-of-may", narration="Rent of May", sender_name="Ada Stores")
    inquiry: Any = shop.put("resources", inquire="accountname", bankcode="058", accountnumber="0000000000").body
    page = open_page(shop, path_of(reply["receiptURL"]))
    text = page.raw.decode()
    assert page.http == 200
    assert page.headers["cache-control"] == "no-store"
    for shown in (
        inquiry["data"]["account_name"],
        "Guaranty Trust Bank",
        "0000000000",
        reply["txnRef"],
        "Rent of May",
        "Ada Stores",
        "Session id",
        "Lagos time",
        "close of the books",
        "<svg",
    ):
        assert shown in text, shown
    assert "rent-of-may" not in text, "what only the merchant knows is not on it"


def test_the_file_has_the_same_lines(shop: MerchantClient) -> None:
    reply = paid(shop, narration="Rent of May")
    file = open_page(shop, f"{path_of(reply['receiptURL'])}/receipt.pdf")
    assert (file.http, file.headers["content-type"]) == (200, "application/pdf")
    [page] = read_pdf_pages(file.raw)
    for shown in ("Receipt of a transfer", reply["txnRef"], "Guaranty Trust Bank", "Rent of May", "Session id"):
        assert shown in page, shown


def test_the_address_is_the_same_in_every_reply_and_absent_before_success(shop: MerchantClient) -> None:
    reply = paid(shop, orderRef="one")
    assert shop.transfer(orderRef="one")["receiptURL"] == reply["receiptURL"]
    assert shop.verify("one")["receiptURL"] == reply["receiptURL"]
    assert "receiptURL" not in shop.transfer(orderRef="open", accountnumber="0000000020")
    assert "receiptURL" not in shop.verify("open")
    assert "receiptURL" not in shop.transfer(orderRef="failed", accountnumber="0000005100")


def test_a_transfer_that_is_not_paid_has_no_receipt(deployment: Deployment, shop: MerchantClient) -> None:
    shop.transfer(orderRef="open", accountnumber="0000000020")
    given = paid(shop)
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1", shop.mid)

    async def work(connection: Any) -> str:
        vault = await deployment.open_vault(connection)
        return make_receipt_url("", merchant_id, shop.verify("open")["txnRef"], vault.digest)

    address = deployment.run_on_connection(work)
    assert open_page(shop, address).http == 404
    shop.put("sandbox", action="settle", txnRef=shop.verify("open")["txnRef"], outcome="successful")
    assert open_page(shop, address).http == 200
    assert shop.verify("open")["receiptURL"].endswith(address)
    assert given["receiptURL"] != shop.verify("open")["receiptURL"]


@pytest.mark.parametrize("change", ["last", "first", "longer", "other"])
def test_a_changed_address_opens_nothing(shop: MerchantClient, change: str) -> None:
    path = path_of(paid(shop)["receiptURL"])
    token = path.removeprefix("/pay/receipt/")
    changed = {
        "last": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "first": ("A" if token[0] != "A" else "B") + token[1:],
        "longer": f"{token}AAAA",
        "other": token[: len(token) // 2] + token[len(token) // 2 :].swapcase(),
    }[change]
    assert open_page(shop, f"/pay/receipt/{changed}").http == 404


def test_a_receipt_is_only_read(shop: MerchantClient) -> None:
    path = path_of(paid(shop)["receiptURL"])
    assert open_page(shop, path, "POST").http == 405


def test_the_facts_of_the_rail_are_stored_encrypted(deployment: Deployment, shop: MerchantClient) -> None:
    reply = paid(shop)
    inquiry: Any = shop.put("resources", inquire="accountname", bankcode="058", accountnumber="0000000000").body
    name = inquiry["data"]["account_name"].encode()
    [[sealed, row]] = deployment.fetch(
        "select facts_sealed, to_json(t)::text from transaction t where txn_ref = $1", reply["txnRef"]
    )
    assert sealed is not None
    assert name not in sealed
    assert name.decode() not in row


def keyed(data: bytes) -> bytes:
    return blake2b(data, key=b"test", digest_size=16).digest()


def test_a_token_is_read_as_it_was_made() -> None:
    address = make_receipt_url(URL, 7, "GP|FD|1", keyed)
    assert read_receipt_token(address.rpartition("/")[2], keyed) == (7, "GP|FD|1")


@pytest.mark.parametrize("token", ["", "A", "AAAA", "é" * 8, "A" * 200])
def test_a_text_that_is_no_token_names_nothing(token: str) -> None:
    assert read_receipt_token(token, keyed) is None
