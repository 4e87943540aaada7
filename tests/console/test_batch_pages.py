"""The page of a bulk transfer: what it pays, how far it is, that nothing is released unseen or sent again twice."""

import csv
import html
import io
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from kasuwa.console.merchant.batch_pages import PAGE_ROWS
from kasuwa.console.merchant.batch_reads import next_reference
from tests.console.visitor import LARGEST_PAGE, PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

PATH = "/transfers/batches"
WAITING = "/transfers/waiting"
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
    return f"{PATH}/{quote(batch, safe='')}"


def confirmation_of(asked: PageReply) -> str:
    return asked.text.partition('name="confirmed" value="')[2].partition('"')[0]


def test_a_bulk_is_one_line_with_its_sum_and_its_page_shows_what_it_pays(owner: Visitor, shop: MerchantClient) -> None:
    batch = send_bulk(shop, 3)
    listed = owner.get(WAITING)
    assert listed.text.count(quote(batch, safe="")) == 2, "the link to its page, and the one to decide"
    assert "1 bulk with 3 transfers, together NGN 4,500.00" in listed.words
    page = owner.get(bulk_path(batch))
    assert "Waiting NGN 4,500.00 to 2 accounts Largest transfer NGN 1,500.00" in page.words
    assert "0 of 3 transfers have ended. 3 wait for approval." in page.words
    assert "waiting 3 NGN 4,500.00" in page.words
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
    assert (done.http, done.place) == (303, bulk_path(batch))
    assert "Approved 3 orders, NGN 4,500.00." in owner.get(bulk_path(batch)).words
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
    rejected = owner.post(f"{WAITING}/{quote(decided, safe='')}/reject", bulk=batch, confirmed=decided)
    assert rejected.place == bulk_path(batch)
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
    page = owner.get(bulk_path(batch))
    assert "failed 2 NGN 3,000.00" in page.words
    assert "Send the failed again" not in page.words, "a person decided that they are not sent"


def test_a_bulk_is_not_decided_without_its_page(owner: Visitor, shop: MerchantClient) -> None:
    batch = send_bulk(shop, 2)
    owner.get(WAITING)
    assert owner.post(f"{WAITING}/{quote(batch, safe='')}/approve").http == 404
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
        assert f"of {count} orders" in page.words
        seen += [piece.partition("<")[0] for piece in page.text.split('<span class="muted small name">salary-')[1:]]
        following = page.text.partition('">Next page</a>')[0].rpartition('href="')[2]
        address = f"{bulk_path(batch)}{html.unescape(following)}" if "Next page" in page.text else ""
    assert sorted(map(int, seen)) == list(range(count))
    rows = list(csv.DictReader(io.StringIO(owner.get(f"{bulk_path(batch)}/orders.csv").text)))
    assert [row["narration"] for row in rows] == [f"Salary of {number}" for number in range(count)]
    assert {row["state"] for row in rows} == {"waiting"}
    assert owner.get(f"{bulk_path(batch)}?from=nonsense&state=nonsense").http == 200
    assert len(list(csv.DictReader(io.StringIO(owner.get(f"{WAITING}.csv").text)))) == count


# --- sending again --------------------------------------------------------------------------------------------------

FAILS = "0000005100"


@pytest.fixture
def sender(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def send_partly(shop: MerchantClient) -> str:
    """Sends a bulk of which one transfer is successful, one fails at the bank, one is invalid and one in conflict."""
    shop.transfer(orderRef="taken")
    failing = {**order(1, "2000.00"), "accountnumber": FAILS}
    batch = shop.bulk(
        [order(0, "1500.00"), failing, {**order(2, "1.00"), "bankcode": "x"}, {**order(3, "7.00"), "orderRef": "taken"}]
    )
    shop.put("sandbox", action="advance", hours=1)
    return str(batch["batchRef"])


def test_the_page_counts_orders_by_state_and_says_how_far_it_is(
    deployment: Deployment, sender: Visitor, shop: MerchantClient
) -> None:
    batch = send_partly(shop)
    page = sender.get(bulk_path(batch))
    assert "3 of 3 transfers have ended." in page.words
    assert "successful 1 NGN 1,500.00 failed 2 NGN 2,001.00 conflict 1 –" in page.words
    assert "data-live" not in page.text, "nothing moves any more"
    only_failed = sender.get(f"{bulk_path(batch)}?state=failed").words
    assert ("Salary of 1" in only_failed, "Salary of 0" in only_failed) == (True, False)
    assert quote(batch, safe="") in sender.get("/transfers").text


def test_an_open_transfer_of_a_bulk_makes_its_page_move(sender: Visitor, shop: MerchantClient) -> None:
    batch = shop.bulk([{**order(0, "1500.00"), "accountnumber": "0000000020"}])["batchRef"]
    page = sender.get(bulk_path(batch))
    assert "0 of 1 transfers have ended." in page.words
    assert page.text.count("data-live") == 2


def test_failed_orders_are_sent_again_once_after_a_confirmation_of_their_sum(
    deployment: Deployment, sender: Visitor, shop: MerchantClient
) -> None:
    batch = send_partly(shop)
    sender.get(bulk_path(batch))
    asked = sender.post(f"{bulk_path(batch)}/retry")
    assert "Send 1 failed transfer of NGN 2,000.00 again?" in asked.words
    assert "1 order with invalid fields cannot be sent again." in asked.words
    sent = sender.post(f"{bulk_path(batch)}/retry", confirmed=confirmation_of(asked))
    assert sent.http == 303
    assert sent.place.startswith(PATH)
    shop.put("sandbox", action="advance", hours=1)
    assert shop.status_of("salary-1~2") == "failed"
    again = sender.post(f"{bulk_path(batch)}/retry", confirmed=confirmation_of(asked))
    assert (again.http, "No failed order of this bulk can be sent again." in again.words) == (422, True)
    assert "It was sent again." in sender.get(bulk_path(batch)).words
    action, subject, after = list(deployment.fetch(AUDIT, shop.mid))[-1]
    assert (action, bulk_path(subject)) == ("sent failed orders again", sent.place)
    facts = msgspec.json.decode(after)
    assert (facts["transfers"], facts["amount"], facts["currency"]) == (1, "2000.00", "NGN")


def test_the_audit_entry_of_a_bulk_names_its_sum_without_what_was_sent_before(
    deployment: Deployment, sender: Visitor, shop: MerchantClient
) -> None:
    first: Any = order(0, "1500.00")
    shop.transfer(**first)
    sender.get("/transfers")
    orders = [order(0, "1500.00"), order(1, "2500.00")]
    sent = sender.post("/transfers/bulk/send", orders=msgspec.json.encode(orders).decode())
    assert "repeated 1 NGN 1,500.00" in sender.get(sent.place).words
    [*_, (action, subject, after)] = list(deployment.fetch(AUDIT, shop.mid))
    assert (action, bulk_path(subject)) == ("sent a bulk transfer", sent.place)
    assert {"transfers": 1, "amount": "2500.00", "orders": 2}.items() <= msgspec.json.decode(after).items()


def test_a_bulk_of_another_merchant_is_not_found(sender: Visitor, open_shop: Callable[..., MerchantClient]) -> None:
    batch = open_shop().bulk([order(0, "1500.00")])["batchRef"]
    for path in ("", "/orders.csv"):
        assert sender.get(f"{bulk_path(batch)}{path}").http == 404
    assert sender.post(f"{bulk_path(batch)}/retry", confirmed="yes").http == 404


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("salary-1", "salary-1~2"),
        ("salary-1~2", "salary-1~3"),
        ("x" * 98, "x" * 98 + "~2"),
    ],
)
def test_the_reference_of_the_next_try_follows_from_the_one_before(reference: str, wanted: str) -> None:
    assert next_reference(reference) == wanted


def test_references_of_next_tries_that_are_too_long_stay_different() -> None:
    tries = {next_reference("x" * 99 + last) for last in "ab"}
    assert len(tries) == 2
    assert all(len(one) <= 100 for one in tries)
