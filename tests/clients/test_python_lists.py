"""Lists and wait() of the Python client, with the real service."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kasuwa_client import AsyncKasuwa, InvalidRequest, Kasuwa, Page, StillPending
from tests.merchant_client import MerchantClient

ACCOUNT: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
OPEN_ACCOUNT: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000020"}


@pytest.fixture
def people(client: Kasuwa) -> list[str]:
    """Seven clients of the merchant, newest first."""
    return [enroll(client, number) for number in range(7)][::-1]


def enroll(client: Kasuwa, number: int) -> str:
    name = "ABCDEFGHIJ"[number]
    made = client.clients.create(data={"firstname": name, "lastname": "Obi", "email": f"{name}@example.com"})
    return made.data.client_id


def test_iterating_a_list_reads_all_pages(client: Kasuwa, people: list[str]) -> None:
    page = client.clients.list(limit=3)
    assert (page.total, page.offset, len(page.data), page.has_next) == (7, 0, 3, True)
    assert [person.client_id for person in page] == people
    following = page.next_page()
    assert following is not None
    assert [person.client_id for person in following] == people[3:]
    assert [person.client_id for person in client.clients.list(offset=5)] == people[5:]
    last = client.clients.list(offset=5)
    assert (last.has_next, last.next_page()) == (False, None)


def test_records_that_are_added_meanwhile_are_not_read_twice(client: Kasuwa, people: list[str]) -> None:
    read = []
    for person in client.clients.list(limit=2):
        read.append(person.client_id)
        if len(read) in (2, 5):
            enroll(client, 6 + len(read) // 2)
    assert read == people


def test_an_empty_list_has_no_records(client: Kasuwa) -> None:
    assert list(client.loans.list()) == []
    assert list(client.resources.recurrents()) == []
    assert list(client.resources.event_feed()) == []


def test_bare_arrays_and_the_event_feed_are_read_to_their_end(client: Kasuwa) -> None:
    made = [client.disburse.transfer(amount="10.00", **ACCOUNT).txn_ref for _ in range(5)]
    feed = client.resources.event_feed(limit=2)
    assert feed.has_next
    assert [event.txn_ref for event in feed] == made
    assert [event.txn_ref for event in client.resources.events(limit=2)] == made[::-1]
    card: Any = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
    plan = {"is_recurring": True, "recurrent": {"frequency": "monthly", "value": "30"}}
    for _ in range(3):
        payment: dict[str, Any] = {"card": card, "amount": "100.00", "user": {"email": "ada@example.com"}, **plan}
        opened = client.payment.initiate_card(**payment)
        client.payment.charge_card(txn_ref=opened.txn_ref, **payment)
    plans = client.resources.recurrents(limit=2)
    assert len(plans.data) == 2
    assert len({found.id for found in plans}) == 3


def test_lists_by_cursor_are_read_to_their_end(client: Kasuwa) -> None:
    made = [client.disburse.transfer(amount="10.00", **ACCOUNT).txn_ref for _ in range(5)]
    page = client.resources.transactions(limit=2, kind="transfer")
    assert ([line.txn_ref for line in page.data], page.total, page.has_next) == (made[:2:-1], None, True)
    assert [line.txn_ref for line in page] == made[::-1]
    client.disburse.transfer(amount="10.00", **ACCOUNT)
    following = page.next_page()
    assert following is not None
    assert [line.txn_ref for line in following] == made[2::-1]
    assert list(client.resources.transactions(kind="bill")) == []


def test_async_lists_can_be_awaited_and_iterated(shop: MerchantClient, base_url: str, people: list[str]) -> None:
    async def read() -> None:
        async with AsyncKasuwa(mid=shop.mid, key=shop.key, base_url=base_url) as client:
            assert [person.client_id async for person in client.clients.list(limit=3)] == people
            page = await client.clients.list(limit=3)
            assert [person.client_id for person in page.data] == people[:3]
            assert [person.client_id async for person in page] == people
            following = await page.next_page()
            assert following is not None
            assert following.offset == 3

    asyncio.run(read())


def test_a_page_shows_how_many_records_it_has(client: Kasuwa, people: list[str]) -> None:
    page: Page[Any] = client.clients.list(limit=3)
    assert repr(page) == "Page(3 records, offset=0, total=7)"


# --- wait -------------------------------------------------------------------------------------------------------


def test_wait_returns_the_final_state_of_a_transfer(client: Kasuwa) -> None:
    made = client.disburse.transfer(amount="10.00", **OPEN_ACCOUNT)
    assert made.txn_status != "successful"
    with pytest.raises(StillPending) as raised:
        client.disburse.wait(made, seconds=0.3)
    assert raised.value.state.txn_ref == made.txn_ref
    client.sandbox.settle(order_ref=made.order_ref, outcome="failed")
    for thing in (made, made.txn_ref, made.order_ref, raised.value, raised.value.state):
        assert client.disburse.wait(thing, seconds=30).txn_status == "failed"


def test_wait_returns_the_final_state_of_a_bulk(client: Kasuwa) -> None:
    orders: Any = [{"amount": "10.00", **ACCOUNT}, {"amount": 20, **ACCOUNT}]
    made = client.disburse.transfer_bulk(data=orders)
    final = client.disburse.wait(made, seconds=60)
    assert (final.batch_ref, final.txn_status) == (made.batch_ref, "successful")
    assert final.data is not None
    assert [line.txn_status for line in final.data] == ["successful", "successful"]


def test_wait_returns_the_final_state_of_payments_and_refunds(client: Kasuwa) -> None:
    card: Any = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
    opened = client.payment.initiate_card(card=card, amount="100.00", customer_txnref="basket-1")
    charged = client.payment.charge_card(card=card, amount="100.00", txn_ref=opened.txn_ref)
    assert client.payment.wait(charged, seconds=30).txn_status == "successful"
    refund = client.payment.refund(txn_ref=charged.txn_ref, amount="40.00")
    final = client.payment.wait(refund, seconds=60)
    assert (final.refund_ref, final.txn_status) == (refund.refund_ref, "successful")


def test_wait_returns_the_final_state_of_bills_and_cashcodes(client: Kasuwa) -> None:
    bill = client.bills.pay(paycode="IfuR3XxiIpxqbZQ", reference="45012345678", amount=5000)
    assert client.bills.wait(bill, seconds=30).txn_status == "successful"
    code = client.cashcode.generate(amount="500", pin="2580", channel="ATM")
    with pytest.raises(StillPending):
        client.cashcode.wait(code, seconds=0.2)
    client.cashcode.cancel(order_ref=code.order_ref)
    assert client.cashcode.wait(code, seconds=30).state == "cancelled"


def test_wait_returns_the_final_state_of_loans_and_savings(client: Kasuwa) -> None:
    person: Any = {
        "firstname": "Ada",
        "lastname": "Obi",
        "email": "ada@example.com",
        "bank_account": {"account_number": "0000000000", "bank_code": "058"},
    }
    client_id = client.clients.create(data=person, status="active").data.client_id
    rate: Any = {"interest_rate": "24", "interest_frequency": "annualized"}
    loan = client.loans.request(client_id=client_id, interest_settings=rate, amount=12000, period=12)
    assert loan.data.loan_id is not None
    paid_out = client.loans.process(loan_id=loan.data.loan_id, status="approve")
    assert client.loans.wait(paid_out, seconds=30).loan_id == loan.data.loan_id
    card: Any = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
    repaid = client.loans.repay(loan_id=loan.data.loan_id, payment_method="card", card=card, amount=500)
    state = client.loans.wait(repaid, seconds=30)
    assert (state.txn_status, state.loan_id) == ("successful", loan.data.loan_id)
    savings = client.investments.create_savings(
        name="School", client_id=client_id, period=12, interest_settings=rate
    ).data.savings_id
    assert savings is not None
    deposit = client.investments.deposit(savings_id=savings, payment_method="card", card=card, amount=5000)
    assert client.investments.wait(deposit, seconds=30).savings_id == savings
    taken = client.investments.cashout(savings_id=savings, client_id=client_id, amount=1000, method="transfer")
    assert client.investments.wait(taken, seconds=30).txn_status == "successful"


def test_wait_for_an_unknown_reference_is_refused_at_once(client: Kasuwa) -> None:
    with pytest.raises(InvalidRequest):
        client.disburse.wait("no-such-order", seconds=30)
    nothing: Any = object()
    with pytest.raises(TypeError, match="no reference"):
        client.disburse.wait(nothing)


def test_clients_of_several_threads_share_connections(connect: Callable[..., Kasuwa]) -> None:
    client = connect()
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = list(pool.map(lambda _: client.resources.wallet().data[0].currency, range(24)))
    assert len(found) == 24
