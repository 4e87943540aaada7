"""The list of all transactions over HTTP: filters alone and together, the order, cursors. (Contract:
resources#transactions)"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import MASTERCARD_OK, PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.bounds import MESSAGE_CHARACTERS, NEWER_TRANSACTIONS

NOW = "2026-01-05T09:30:00+01:00"
DECLINED, PENDING = "0000000500", "0000000020"


def inquire(shop: MerchantClient, **filters: Any) -> Any:
    body = shop.put("resources", inquire="transactions", **filters).body
    assert body["status"] == 200, body
    return body


def walk(shop: MerchantClient, **filters: Any) -> list[Any]:
    """Reads all pages."""
    lines: list[Any] = []
    cursor: str | None = None
    while True:
        page = inquire(shop, **filters, **({} if cursor is None else {"cursor": cursor}))
        lines += page["data"]
        cursor = page["next_cursor"]
        if cursor is None:
            return lines


def refs(lines: list[Any]) -> list[str]:
    return [line["txnRef"] for line in lines]


@pytest.fixture(scope="module")
def busy(deployments: Deployments) -> Iterator[MerchantClient]:
    """A merchant with transactions of many kinds, on two days. Tests only read them."""
    shop = deployments.for_version(NEWEST).open_shop(now=NOW)
    with shop.connection:
        payments = PaymentClient(shop)
        done = payments.paid(customer_txnref="Basket-Alpha-1")
        payments.paid(MASTERCARD_OK, user={"email": "BOLA@example.com"}, amount="250.00", customer_txnref="bola-1")
        payments.paid(country="US", currency="USD", amount="20.00")
        assert payments.pay(action="charge", paymentType="ussd", user={}, amount="300.00", bank="gtb")["status"] == 202
        assert payments.refund(done["txnRef"], "100.00")["status"] == 200
        for amount in ("10.00", "20.00", "30.00"):
            shop.transfer(amount=amount, orderRef=f"pay-{amount}")
        shop.transfer(accountnumber=DECLINED, orderRef="declined-1")
        shop.transfer(accountnumber=PENDING, orderRef="pending-1")
        shop.transfer(amount="1500000.00", orderRef="large-1")
        card = CardClient(shop, amount=100, currency="USD")
        card.buy("5.00", currency="USD")
        shop.advance(until="2026-01-06T10:00:00+01:00")
        shop.transfer(amount="40.00", orderRef="second-day")
        yield shop


def test_every_transaction_is_listed_once_newest_first(busy: MerchantClient, deployments: Deployments) -> None:
    lines = walk(busy)
    rows = deployments.for_version(NEWEST).fetch(
        """select t.txn_ref from transaction t join merchant m using (merchant_id) where m.mid = $1
        order by t.created_at desc, t.seq desc, t.key desc""",
        busy.mid,
    )
    assert refs(lines) == [row[0] for row in rows]
    assert len(lines) >= 12
    assert {line["kind"] for line in lines} >= {"payment", "refund", "transfer", "card_purchase"}


def test_pages_of_any_size_join(busy: MerchantClient) -> None:
    whole = walk(busy)
    for limit in (1, 2, 5, 100):
        assert walk(busy, limit=limit) == whole
    page = inquire(busy, limit=3)
    assert len(page["data"]) == 3
    assert inquire(busy, limit=3, cursor=page["next_cursor"])["data"] == whole[3:6]


def test_transactions_that_are_made_meanwhile_do_not_move_the_pages(shop: MerchantClient) -> None:
    made = [shop.transfer()["txnRef"] for _ in range(4)]
    page = inquire(shop, limit=2)
    shop.transfer()
    following = inquire(shop, limit=2, cursor=page["next_cursor"])
    assert refs([*page["data"], *following["data"]]) == made[::-1]
    assert following["next_cursor"] is None


FILTERS: list[dict[str, Any]] = [
    {"kind": "transfer"},
    {"kind": "bill"},
    {"status": "successful"},
    {"status": "failed"},
    {"status": "pending"},
    {"status": "processing"},
    {"currency": "USD"},
    {"currency": "NGN"},
    {"min_amount": "250"},
    {"min_amount": "1000000"},
    {"max_amount": "30.00"},
    {"min_amount": 20, "max_amount": 30},
    {"method": "card"},
    {"method": "ussd"},
    {"from": "2026-01-06"},
    {"to": "2026-01-05"},
    {"from": "2026-01-05", "to": "2026-01-05"},
    {"reference": "PAY-"},
    {"reference": "20260105"},
    {"kind": "transfer", "status": "failed"},
    {"kind": "transfer", "status": "successful", "min_amount": "15", "max_amount": "35", "to": "2026-01-05"},
    {"kind": "payment", "method": "card", "currency": "USD", "status": "successful"},
    {"currency": "USD", "kind": "card_purchase"},
    {"status": "failed", "method": "card"},
]


def matches(line: Any, filters: dict[str, Any]) -> bool:
    day = line["dateCreated"][:10]  # no transaction of these tests is made between 23:00 and 24:00 UTC
    text = f"{line['txnRef']}\n{line['orderRef']}".lower()
    amount = float(line["amount"])
    return all(
        (
            filters.get("kind", line["kind"]) == line["kind"],
            filters.get("status", line["txnStatus"]) == line["txnStatus"],
            filters.get("currency", line["currency"]) == line["currency"],
            filters.get("method", line["method"]) == line["method"],
            float(filters.get("min_amount", 0)) <= amount <= float(filters.get("max_amount", 10**12)),
            filters.get("from", day) <= day <= filters.get("to", day),
            filters.get("reference", "").lower() in text,
        )
    )


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters_select_alone_and_together(busy: MerchantClient, filters: dict[str, Any]) -> None:
    expected = [line for line in walk(busy) if matches(line, filters)]
    assert walk(busy, **filters) == expected
    assert walk(busy, **filters, limit=1) == expected


def test_most_filters_have_something_to_select(busy: MerchantClient) -> None:
    """Control: the filters above are not all empty."""
    empty = [filters for filters in FILTERS if not inquire(busy, **filters)["data"]]
    assert empty == [{"kind": "bill"}, {"status": "processing"}, {"status": "failed", "method": "card"}]


def test_a_whole_reference_finds_its_transactions_alone(busy: MerchantClient) -> None:
    [line] = walk(busy, reference="pay-10.00")
    assert (line["orderRef"], line["amount"]) == ("pay-10.00", "10.00")
    assert walk(busy, reference=line["txnRef"]) == [line]
    assert walk(busy, reference="pay-10.00", status="failed") == []
    for listed in walk(busy):
        for reference in filter(None, (listed["orderRef"], listed["txnRef"])):
            lines = walk(busy, reference=reference)
            assert listed in lines
            assert all(reference in (other["orderRef"], other["txnRef"]) for other in lines), (reference, lines)
    [found] = walk(busy, reference="Basket-Alpha-1")
    assert walk(busy, reference="alpha") == [found]
    assert walk(busy, reference="no such thing") == []


def test_a_customer_is_named_by_address_or_id(busy: MerchantClient) -> None:
    [line] = walk(busy, customer="bola@example.com")
    assert line["orderRef"] == "bola-1"
    made = busy.put("resources", request="customer", name="Bola", email="bola@EXAMPLE.com").body
    assert walk(busy, customer=made["data"]["customer_id"]) == [line]
    assert walk(busy, customer=made["data"]["customer_id"], method="ussd") == []
    assert walk(busy, customer="nobody@example.com") == []
    assert walk(busy, customer="CUunknown") == []


def test_a_failed_transaction_costs_nothing(busy: MerchantClient) -> None:
    [line] = walk(busy, status="failed", kind="transfer")
    assert (line["fee"], line["vat"], line["duty"]) == ("0.00", "0.00", "0.00")
    [open_line] = walk(busy, reference="pending-1")
    assert open_line["dateEnded"] is None
    assert float(open_line["fee"]) > 0


def test_rare_matches_are_found_beyond_the_window(shop: MerchantClient, deployment: Deployment) -> None:
    """More transactions than one request looks at, and a filter that only the oldest passes."""
    shop.transfer(amount="77.00", orderRef="oldest")
    made = 0
    for count, is_within in NEWER_TRANSACTIONS.sides:
        deployment.fetch(
            """insert into transaction (key, merchant_id, kind, txn_ref, order_ref, currency, amount, fee, vat, duty,
                status, message, digest, detail, trail, created_at, final_at)
            select decode(md5(m.mid || n), 'hex'), m.merchant_id, 'transfer', 'made' || n, 'made' || n, 'NGN', 100, 0,
                0, 0, 'successful', '', '', '{}', '[]', now() + interval '1 hour' + n * interval '1 second', now()
            from merchant m, generate_series($2::int, $3::int) n where m.mid = $1 and m.current""",
            shop.mid,
            made + 1,
            count,
        )
        made = count
        first = inquire(shop, min_amount="77", kind="transfer")
        assert [line["orderRef"] for line in first["data"]] == (["oldest"] if is_within else []), count
        assert is_within or first["next_cursor"] is not None
    assert [line["orderRef"] for line in walk(shop, min_amount="77", kind="transfer")] == ["oldest"]
    assert [line["orderRef"] for line in walk(shop, reference="ldes")] == ["oldest"]
    assert [line["orderRef"] for line in inquire(shop, reference="oldest")["data"]] == ["oldest"]
    deployment.fetch("delete from transaction where txn_ref like 'made%' and order_ref = txn_ref")


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"limit": 101}, {"limit"}),
        ({"cursor": "bm90IGEgY3Vyc29y"}, {"cursor"}),
        ({"kind": "loan", "status": "done", "method": "cash"}, {"kind", "status", "method"}),
        ({"from": "2026-01-06", "to": "2026-01-05", "min_amount": "2", "max_amount": "1"}, {"to", "max_amount"}),
        ({"reference": "ab", "currency": "EUR", "from": "yesterday"}, {"reference", "currency", "from"}),
    ],
)
def test_every_fault_of_a_request_is_named(shop: MerchantClient, fields: dict[str, Any], faults: set[str]) -> None:
    body = shop.put("resources", inquire="transactions", **fields).body
    assert (body["status"], {error["field"] for error in body["errors"]}) == (104, faults)


def test_a_list_shows_the_first_200_characters_of_a_message(shop: MerchantClient, deployment: Deployment) -> None:
    txn_ref = shop.transfer(amount="88.00", orderRef="told")["txnRef"]
    for size, shown in MESSAGE_CHARACTERS.sides:
        deployment.fetch("update transaction set message = $2 where txn_ref = $1 returning 1", txn_ref, "m" * size)
        [line] = inquire(shop, reference="told")["data"]
        assert line["message"] == "m" * shown, size
