"""The pages of transfers that wait for approval: what a bulk pays, and that nothing is released unseen."""

import csv
import io
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from kasuwa.console.merchant.waiting_pages import PAGE_ROWS
from tests.console.visitor import LARGEST_PAGE, PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

PATH = "/transfers/waiting"
ACCOUNTS = ("0000000000", "0123456785")
AUDIT = "select action, subject, after from audit_entry join merchant using (merchant_id) where mid = $1 order by seq"


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    shop.put("sandbox", action="payout_policy", approve_bulk=True, approve_above="100000.00")
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def order(number: int, amount: str) -> dict[str, str]:
    account = ACCOUNTS[number % len(ACCOUNTS)]
    return {
        "amount": amount,
        "bankcode": "058",
        "accountnumber": account,
        "orderRef": f"salary-{number}",
        "narration": f"Salary of {number}",
        "sender_name": "Ada Stores",
    }


def send_bulk(shop: MerchantClient, count: int, amount: str = "1500.00") -> str:
    reply: Any = shop.bulk([order(number, amount) for number in range(count)])
    assert {line["message"] for line in reply["data"]} == {"Waiting for approval"}
    return str(reply["batchRef"])


def bulk_path(batch: str) -> str:
    return f"{PATH}/bulk/{quote(batch, safe='')}"


def confirmation_of(asked: PageReply) -> str:
    return asked.text.partition('name="confirmed" value="')[2].partition('"')[0]


def test_a_bulk_is_one_line_with_its_sum_and_its_page_shows_what_it_pays(owner: Visitor, shop: MerchantClient) -> None:
    batch = send_bulk(shop, 3)
    listed = owner.get(PATH)
    assert listed.text.count(quote(batch, safe="")) == 2, "the link to its page, and the one to decide"
    assert "1 bulk with 3 transfers, together NGN 4,500.00" in listed.words
    page = owner.get(bulk_path(batch))
    assert "Total NGN 4,500.00 Transfers 3 Accounts 2 Largest transfer NGN 1,500.00" in page.words
    for text in ("Salary of 0", "from Ada Stores", "salary-2", *ACCOUNTS):
        assert text in page.words, text
    assert page.text.count("Approve the bulk") == 1
    assert page.text.count("Reject the bulk") == 1


def test_approving_a_bulk_asks_first_with_its_number_and_sum(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    batch, before = send_bulk(shop, 3), shop.wallet()
    owner.get(bulk_path(batch))
    asked = owner.post(f"{bulk_path(batch)}/approve")
    assert asked.http == 200
    assert "Approve 3 transfers of NGN 4,500.00?" in asked.words
    assert "3 transfers to 2 accounts, together NGN 4,500.00" in asked.words
    assert owner.post(f"{bulk_path(batch)}/approve", confirmed="yes").http == 200, "it names what is confirmed"
    assert shop.wallet() == before
    done = owner.post(f"{bulk_path(batch)}/approve", confirmed=confirmation_of(asked))
    assert (done.http, done.place) == (303, PATH)
    assert "Approved 3 orders, NGN 4,500.00." in owner.get(PATH).words
    assert {shop.status_of(f"salary-{number}") for number in range(3)} <= {"processing", "successful"}
    action, subject, after = list(deployment.fetch(AUDIT, shop.mid))[-1]
    assert (action, subject) == ("approved a bulk", batch)
    wanted = {"action": "disburse approve", "transfers": 3, "amount": "4500.00", "currency": "NGN"}
    assert msgspec.json.decode(after) == wanted


def test_a_confirmation_does_not_count_for_another_sum(owner: Visitor, shop: MerchantClient) -> None:
    batch = send_bulk(shop, 3)
    owner.get(bulk_path(batch))
    asked = owner.post(f"{bulk_path(batch)}/approve")
    decided = shop.verify("salary-0")["txnRef"]
    place = owner.post(f"{PATH}/{quote(decided, safe='')}/reject", bulk=batch).place
    assert place == bulk_path(batch)
    again = owner.post(f"{bulk_path(batch)}/approve", confirmed=confirmation_of(asked))
    assert (again.http, "Approve 2 transfers of NGN 3,000.00?" in again.words) == (200, True)
    assert shop.status_of("salary-1") == "pending"


def test_a_bulk_can_be_rejected_as_a_whole(deployment: Deployment, owner: Visitor, shop: MerchantClient) -> None:
    batch = send_bulk(shop, 2)
    owner.get(bulk_path(batch))
    asked = owner.post(f"{bulk_path(batch)}/reject")
    assert "Reject 2 transfers of NGN 3,000.00?" in asked.words
    assert shop.status_of("salary-0") == "pending"
    assert owner.post(f"{bulk_path(batch)}/reject", confirmed=confirmation_of(asked)).http == 303
    assert {shop.status_of(f"salary-{number}") for number in range(2)} == {"failed"}
    assert shop.wallet().held == 0
    assert list(deployment.fetch(AUDIT, shop.mid))[-1]["action"] == "rejected a bulk"
    assert owner.get(bulk_path(batch)).http == 404


def test_a_bulk_is_not_decided_without_its_page(owner: Visitor, shop: MerchantClient) -> None:
    batch = send_bulk(shop, 2)
    owner.get(PATH)
    assert owner.post(f"{PATH}/{quote(batch, safe='')}/approve").http == 404
    assert shop.status_of("salary-0") == "pending"


def test_names_of_accounts_are_looked_up_on_request(owner: Visitor, shop: MerchantClient) -> None:
    batch = send_bulk(shop, 2)
    owner.get(bulk_path(batch))
    named = owner.post(f"{bulk_path(batch)}/names")
    inquiry: Any = shop.put("resources", inquire="accountname", bankcode="058", accountnumber=ACCOUNTS[1]).body
    assert named.http == 200
    assert inquiry["data"]["account_name"] in named.words


def test_a_long_bulk_is_shown_page_by_page_and_exported_whole(owner: Visitor, shop: MerchantClient) -> None:
    count = 2 * PAGE_ROWS + 1
    batch, seen = send_bulk(shop, count), list[str]()
    address = bulk_path(batch)
    while address:
        page = owner.get(address)
        assert len(page.text) < LARGEST_PAGE
        assert f"of {count} transfers" in page.words
        seen += [piece.partition("<")[0] for piece in page.text.split('<span class="muted small name">salary-')[1:]]
        address = page.text.partition('">Next page</a>')[0].rpartition('href="')[2] if "Next page" in page.text else ""
    assert sorted(map(int, seen)) == list(range(count))
    rows = list(csv.DictReader(io.StringIO(owner.get(f"{PATH}.csv").text)))
    assert len(rows) == count
    assert {row["narration"] for row in rows} == {f"Salary of {number}" for number in range(count)}
    assert owner.get(f"{bulk_path(batch)}?after=nonsense").http == 200


def test_single_transfers_are_counted_summed_and_paged(owner: Visitor, shop: MerchantClient) -> None:
    for number in range(PAGE_ROWS + 2):
        shop.transfer(amount="100000.01", orderRef=f"large-{number}", narration=f"Rent {number}")
    first = owner.get(PATH)
    assert f"{PAGE_ROWS + 2} transfers, together NGN 5,200,000.52" in first.words
    assert f"This page shows {PAGE_ROWS} of them" in first.words
    assert "Rent 0" in first.words
    following = first.text.partition('">Next page</a>')[0].rpartition('href="')[2]
    assert "Rent 51" in owner.get(following).words
