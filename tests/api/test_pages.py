"""Pages of lists: bounded in bytes, truthful about what was cut, and made without holding up others."""

import asyncio
from typing import Any

import msgspec
import pytest

from kasuwa.api.replies import page_reply
from kasuwa.methods.clients.wire import ListReply
from kasuwa.methods.investments.wire import MAX_MEMBERS, SubscriptionsRequest
from kasuwa.methods.payment.wire import InstallmentsRequest, PlansRequest
from kasuwa.methods.resources.wire import EventLine, FeedReply
from kasuwa.wire.paging import MAX_PAGE_BYTES
from tests.merchant_client import MerchantClient
from tests.methods.loans.lending_client import LendingClient
from tests.running import Deployment
from tests.walk.bounds import PAGE_BYTES

LINE = "x" * 10_000


def page_of(reply: Any) -> Any:
    answered = asyncio.run(page_reply(reply, strict=False))
    assert len(answered.body) < MAX_PAGE_BYTES + 1_000
    return msgspec.json.decode(answered.body)


@pytest.mark.parametrize("lines", [0, 1, 50, 104, 105, 200])
def test_a_page_is_cut_at_its_bound_and_says_how_long_it_is(lines: int) -> None:
    data: Any = [LINE] * lines
    page = page_of(ListReply(data=data, total=1_000, offset=40, limit=200))
    assert (page["status"], page["total"], page["offset"]) == (200, 1_000, 40)
    served = min(lines, 104)
    assert page["data"] == [LINE] * served
    assert page["limit"] == (200 if served == lines else served)


@PAGE_BYTES.tries
def test_a_page_and_an_array_have_1_mib_and_no_more(value: int, is_within: bool) -> None:
    """A line counts with its quotes and the comma after it."""
    lines: Any = ["x" * (value - 2 * len('"",') - 1), "y"]
    served = lines if is_within else lines[:1]
    assert page_of(ListReply(data=lines, total=2, offset=0, limit=50))["data"] == served
    assert page_of(lines) == served


def test_one_line_beyond_the_bound_is_served_alone() -> None:
    data: Any = ["x" * (2 * MAX_PAGE_BYTES), "y"]
    answered = asyncio.run(page_reply(ListReply(data=data, total=2, offset=0, limit=50), strict=False))
    page = msgspec.json.decode(answered.body)
    assert (len(page["data"]), page["limit"]) == (1, 1)


@pytest.mark.parametrize("lines", [0, 104, 105, 200])
def test_a_bare_array_is_cut_at_the_same_bound(lines: int) -> None:
    assert page_of([LINE] * lines) == [LINE] * min(lines, 104)


def test_a_bare_array_without_a_limit_has_the_maximum_page_size() -> None:
    assert PlansRequest().offset_and_limit == InstallmentsRequest().offset_and_limit == (0, 200)
    assert PlansRequest(offset=5, limits=7).offset_and_limit == (5, 7)
    assert SubscriptionsRequest(thrift_id="TH").offset_and_limit == (0, MAX_MEMBERS)


def event(sequence: int) -> EventLine:
    return EventLine(
        event_id=LINE,
        sequence=sequence,
        txn_ref="GP",
        kind="payment",
        state="delivered",
        date_created="",
        object="GP",
        object_sequence=1,
        payload={},
        attempts=[],
    )


def test_a_feed_that_is_cut_goes_on_after_its_last_line() -> None:
    page = page_of(FeedReply(data=[event(n) for n in range(7, 207)], last=206, more=False))
    assert (page["last"], page["more"]) == (page["data"][-1]["sequence"], True)
    assert [line["sequence"] for line in page["data"]] == list(range(7, page["last"] + 1))


def test_pages_of_large_records_reach_every_record(shop: MerchantClient) -> None:
    made = []
    for n in range(80):
        data = {"firstname": f"Ada {n}", "lastname": "Obi", "phone": "08031234567", "meta": {"notes": "x" * 15_000}}
        made.append(shop.put("clients", action="create", data=data).body["data"]["client_id"])
    seen: list[str] = []
    pages = 0
    while len(seen) < 80:
        page = shop.put("clients", action="list", offset=len(seen), limit=80).body
        assert page["data"]
        assert page["limit"] == (len(page["data"]) if pages == 0 else 80)
        seen += [client["client_id"] for client in page["data"]]
        pages += 1
    assert seen == made[::-1]
    assert pages == 2


def test_a_list_of_long_loans_is_a_list_of_summaries(shop: MerchantClient, deployment: Deployment) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    client_id = bank.client()
    for _ in range(20):
        assert bank.request(client_id, period=366)["status"] == 200
    reply = shop.send_fields("loans", {"action": "list", "limit": 200})
    assert len(reply.body["data"]) == 20
    assert all("schedule" not in loan and loan["period"] == 366 for loan in reply.body["data"])
    assert len(reply.raw) < 20 * 1024
    assert deployment.new_stderr() == ""
