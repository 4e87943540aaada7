"""Shares and dividends over HTTP, on real PostgreSQL: a member joins, somebody else consents, and everybody is paid."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.clients.enrollment import update
from tests.methods.investments.savers import NOW, balance, cash_out, enroll, invest, make_deposit, open_savings, view
from tests.methods.statements.test_http import open_link
from tests.pages.pdf_text import read_pdf_pages
from tests.running import Deployment

NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def make_class(shop: MerchantClient, **fields: Any) -> str:
    body = invest(shop, "create_share_class", **{"name": "Ordinary", "price": "100.00", **fields})
    assert body["status"] == 200, body
    return str(body["data"]["class_id"])


def join(shop: MerchantClient, class_id: str, shares: int, deposit: str | None = None) -> tuple[str, str]:
    """Enrolls a member with savings and shares. Returns client and savings."""
    client_id = enroll(shop)
    savings_id = open_savings(shop, client_id, deposit, interestSettings=NO_INTEREST)
    if shares:
        body = buy(shop, class_id, client_id, savings_id, shares)
        assert body["status"] == 200, body
    return client_id, savings_id


def buy(shop: MerchantClient, class_id: str, client_id: str, savings_id: str, shares: int, **fields: Any) -> Any:
    request = {"class_id": class_id, "client_id": client_id, "savings_id": savings_id, "shares": shares, **fields}
    return invest(shop, "buy_shares", **{"payment_method": "wallet", **request})


def with_key(shop: MerchantClient, *scopes: str) -> MerchantClient:
    made = shop.put("sandbox", action="new_key", name="board", scopes=list(scopes)).body
    return MerchantClient(shop.connection, shop.mid, made["key"])


def redeem(shop: MerchantClient, class_id: str, client_id: str, shares: int) -> Any:
    return invest(shop, "redeem_shares", class_id=class_id, client_id=client_id, shares=shares)["data"]


def list_events(shop: MerchantClient, reference: str) -> list[dict[str, Any]]:
    lines = shop.put("resources", inquire="events", txnRef=reference).body["data"]
    return [line["payload"] for line in lines]


def dividends(shop: MerchantClient, class_id: str) -> Any:
    return invest(shop, "list_dividends", class_id=class_id)["data"]


def test_a_member_buys_gets_a_dividend_and_leaves(shop: MerchantClient, deployment: Deployment) -> None:
    class_id = make_class(shop)
    ada, savings = join(shop, class_id, 10, "500.00")
    bought = buy(shop, class_id, ada, savings, 5, payment_method="savings")
    assert (bought["amount"], bought["data"]["shares"], balance(shop, savings)) == ("500.00", 15, 0)
    assert shop.advance(days=1)
    declared = invest(shop, "declare_dividend", class_id=class_id, rate="10", record_date="2026-01-05")
    assert (declared["data"]["state"], declared["data"]["gross"]) == ("paying", "150.00")
    shop.advance(seconds=1)
    [paid] = dividends(shop, class_id)
    assert (paid["state"], paid["paid"], paid["withheld_tax"], paid["members_paid"]) == ("paid", "150.00", "15.00", 1)
    lines = invest(shop, "statement", savings_id=savings)["data"]
    assert [(line["narration"], line["amount"], line["origin"]) for line in lines[:2]] == [
        ("dividend tax", "-15.00", paid["dividend_id"]),
        ("dividend", "150.00", paid["dividend_id"]),
    ]
    moved = invest(shop, "view_savings", savings_id=savings)["moved"]
    assert (moved["dividends"], moved["dividend_tax"], moved["shares_bought"]) == ("150.00", "15.00", "500.00")
    assert [event["step"] for event in list_events(shop, paid["dividend_id"])] == ["paid", "declared"]

    asked = redeem(shop, class_id, ada, 15)
    assert update(shop, ada, status="exited")["status"] == 104
    board = with_key(shop, "approve")
    approved = invest(board, "approve_redemption", redemption_id=asked["redemption_id"])
    assert (approved["message"], approved["data"]["state"]) == ("Redemption Approved", "approved")
    assert [event["approval"] for event in list_events(shop, asked["redemption_id"])] == ["approved", "waiting"]
    assert view(shop, savings)["balance"] == "1635.00"
    assert cash_out(shop, savings, ada, "1635.00")["status"] == 200
    assert update(shop, ada, status="exited")["status"] == 200


def test_nobody_approves_a_redemption_alone(shop: MerchantClient) -> None:
    class_id = make_class(shop)
    ada, savings = join(shop, class_id, 10)
    asked = redeem(shop, class_id, ada, 4)
    refused = invest(shop, "approve_redemption", redemption_id=asked["redemption_id"])
    assert (refused["status"], refused["code"]) == (104, "own_redemption")
    lender = with_key(shop, "lend")
    assert invest(lender, "approve_redemption", redemption_id=asked["redemption_id"])["status"] != 200
    assert (balance(shop, savings), invest(shop, "list_redemptions")["data"][0]["state"]) == (0, "waiting")
    assert invest(shop, "reject_redemption", redemption_id=asked["redemption_id"])["data"]["state"] == "rejected"


def test_a_redemption_of_a_revoked_key_is_not_approved(shop: MerchantClient, deployment: Deployment) -> None:
    class_id = make_class(shop)
    ada, savings = join(shop, class_id, 10)
    made = shop.put("sandbox", action="new_key", name="clerk", scopes=["lend"]).body
    asked = redeem(MerchantClient(shop.connection, shop.mid, made["key"]), class_id, ada, 4)
    deployment.run_command("merchant", "revoke-key", shop.mid, str(made["key_id"]))
    refused = invest(shop, "approve_redemption", redemption_id=asked["redemption_id"])
    assert (refused["status"], refused["code"]) == (104, "sender_ended")
    assert balance(shop, savings) == 0
    assert invest(shop, "reject_redemption", redemption_id=asked["redemption_id"])["data"]["state"] == "rejected"


def test_a_redemption_waits_30_days(shop: MerchantClient) -> None:
    class_id = make_class(shop)
    ada, _ = join(shop, class_id, 10)
    asked = redeem(shop, class_id, ada, 4)
    shop.advance(days=31)
    [line] = invest(shop, "list_redemptions", class_id=class_id, state="expired")["data"]
    assert line["redemption_id"] == asked["redemption_id"]
    refused = invest(with_key(shop, "approve"), "approve_redemption", redemption_id=asked["redemption_id"])
    assert refused["code"] == "redemption_decided"
    [holding] = invest(shop, "list_shareholders", client_id=ada)["data"]
    assert (holding["shares"], holding["reserved"]) == (10, 0)


def test_shares_are_transferred_and_listed_by_name(shop: MerchantClient) -> None:
    class_id = make_class(shop, votes="share")
    ada, _ = join(shop, class_id, 10)
    bola, savings = join(shop, class_id, 0)
    given: dict[str, Any] = {"class_id": class_id, "client_id": ada, "to_client_id": bola, "savings_id": savings}
    assert invest(shop, "transfer_shares", **given, shares=3)["to"]["shares"] == 3
    body = invest(shop, "list_shareholders", class_id=class_id)
    lines = [(line["client_id"], line["name"], line["shares"], line["votes"]) for line in body["data"]]
    assert (lines, body["total"]) == ([(ada, "Ada Obi", 7, 7), (bola, "Ada Obi", 3, 3)], 2)
    [of_class] = invest(shop, "list_share_classes")["data"]
    assert (of_class["members"], of_class["shares"], of_class["capital"]) == (2, 10, "1000.00")


def test_a_register_is_a_file_as_csv_and_pdf(shop: MerchantClient) -> None:
    class_id = make_class(shop)
    ada, _ = join(shop, class_id, 10)
    bola, _ = join(shop, class_id, 1)
    made = invest(shop, "share_register", class_id=class_id, format="csv")
    rows = list(csv.reader(io.StringIO(open_link(shop, made["link"]).raw.decode())))
    assert rows == [
        ["member", "name", "since", "shares", "votes", "capital"],
        [ada, "Ada Obi", "2026-01-05", "10", "1", "1000.00"],
        [bola, "Ada Obi", "2026-01-05", "1", "1", "100.00"],
        ["total", "", "", "11", "2", "1100.00"],
    ]
    made = invest(shop, "share_register", class_id=class_id, format="pdf")
    [page] = read_pdf_pages(open_link(shop, made["link"]).raw)
    for text in ("Register of members: Ordinary", "Ada Obi", ada, "1000.00", "1100.00", "TEST - no shares are held"):
        assert text in page, page


def test_the_register_of_a_key_that_reads_names_nobody(shop: MerchantClient) -> None:
    class_id = make_class(shop)
    ada, _ = join(shop, class_id, 10)
    made = invest(with_key(shop, "read"), "share_register", class_id=class_id, format="csv")
    text = open_link(shop, made["link"]).raw.decode()
    assert ada in text
    assert "Obi" not in text


def test_a_dry_run_of_a_dividend_explains_it(shop: MerchantClient) -> None:
    class_id = make_class(shop)
    _, savings = join(shop, class_id, 10)
    shop.advance(days=1)
    reply = invest(shop, "declare_dividend", class_id=class_id, rate="7.5", record_date="2026-01-05", dry_run=True)
    assert [line["amount"] for line in reply["explained"]] == ["75.00", "7.50", "67.50"]
    assert (dividends(shop, class_id), balance(shop, savings)) == ([], 0)


def test_a_merchant_does_not_reach_another_ones_shares(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    class_id = make_class(shop)
    ada, savings = join(shop, class_id, 10)
    asked = redeem(shop, class_id, ada, 4)
    other = open_shop(now=NOW)
    stranger, theirs = join(other, make_class(other), 0)
    assert buy(other, class_id, stranger, theirs, 1)["code"] == "share_class_not_found"
    assert invest(other, "approve_redemption", redemption_id=asked["redemption_id"])["code"] == "redemption_not_found"
    assert invest(other, "share_register", class_id=class_id, format="csv")["code"] == "share_class_not_found"
    assert invest(other, "list_redemptions")["data"] == []
    assert make_deposit(other, savings, "1.00")["status"] == 104
    assert to_minor_units(invest(shop, "list_shareholders", client_id=ada)["data"][0]["capital"]) == 100_000


def test_a_member_buys_more_shares_in_a_world(shop: MerchantClient, deployment: Deployment) -> None:
    class_id = make_class(shop)
    client_id, savings_id = join(shop, class_id, 3)
    assert shop.put("sandbox", action="snapshot", name="three").body["status"] == 200
    assert shop.put("sandbox", action="restore", name="three").body["status"] == 200
    bought = buy(shop, class_id, client_id, savings_id, 2)
    assert (bought["status"], bought["data"]["shares"]) == (200, 5)
    assert deployment.broken_invariants([shop.mid]) == []
