"""Bills over HTTP: paid, repeated, verified, ended; and never twice, however many ask at once.
Contract: #repeats, #states, disburse#transfer, bills#pay

Every merchant here has a clock that stands still but for `advance`, so nothing ends before the test says so.
"""

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import is_reference
from tests.merchant_client import MerchantClient, Wallet, new_reference, without_codes
from tests.running import Deployment

OPENING = 1_000_000_000
START = "2026-01-05T09:30:00+01:00"

# Prepaid electricity, 5000.00: fee 100.00 with VAT 7.50; 1.5 % comes back.
COST, COMMISSION = 510_750, 7_500
PAID = Wallet(OPENING - COST + COMMISSION, OPENING - COST + COMMISSION, 0)
OPEN = Wallet(OPENING, OPENING - COST, COST)
UNTOUCHED = Wallet(OPENING, OPENING, 0)
AFTER = {"successful": PAID, "failed": UNTOUCHED}

PREPAID, AIRTIME, AIRTIME_100 = "IfuR3XxiIpxqbZQ", "yz6wTBdzaYv7oLX", "jESKTgZE3QU2uW8"
WAEC, REMITA = "20srYfiSwA5XnLB", "GHbPiGN31C66uEa"
METER = "45012345678"


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=START)


def pay(shop: MerchantClient, *, headers: dict[str, str] | None = None, **fields: Any) -> Any:
    """Prepaid electricity, but for what is said otherwise; `None` leaves a field out."""
    ordinary = {"paycode": PREPAID, "reference": METER, "amount": "5000.00", "orderRef": new_reference("bill")}
    request = {name: value for name, value in {**ordinary, **fields}.items() if value is not None}
    return shop.put("bills", headers=headers, action="pay", **request).body


def verify(shop: MerchantClient, reference: str) -> Any:
    return shop.put("bills", action="verify", txnRef=reference).body


def status_of(shop: MerchantClient, reference: str) -> str:
    return str(verify(shop, reference)["txnStatus"])


# --- paid -------------------------------------------------------------------------------------------------------


def test_electricity_is_paid_from_the_wallet_and_brings_a_token_and_units(shop: MerchantClient) -> None:
    body = pay(shop, orderRef="lights")
    assert body == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": body["txnRef"],
        "orderRef": "lights",
        "message": "Bill Payment Successful",
        "commission": "75.00",
        "token": body["token"],
        "units": "23.89",
    }
    assert body["txnRef"].startswith("GP|BP|")
    assert is_reference(body["txnRef"])
    assert re.fullmatch("[0-9]{20}", body["token"])
    assert shop.wallet() == PAID


def test_verify_tells_the_same_by_either_reference(shop: MerchantClient) -> None:
    body = pay(shop, orderRef="lights")
    expected = {**body, "amount": "5000.00", "fee": "100.00", "vat": "7.50"}
    assert verify(shop, "lights") == verify(shop, body["txnRef"]) == expected


def test_a_bill_is_verified_by_the_name_of_its_order_reference_too(shop: MerchantClient) -> None:
    paid = pay(shop)
    by_name = shop.put("bills", action="verify", orderRef=paid["orderRef"]).body
    assert by_name == verify(shop, paid["orderRef"])
    assert without_codes(shop.put("bills", action="verify").body["errors"]) == [
        {"field": "txnRef", "reason": "required, or orderRef"}
    ]


def test_airtime_goes_to_a_phone_at_its_fixed_price_or_for_an_amount(shop: MerchantClient) -> None:
    fixed = pay(shop, paycode=AIRTIME_100, reference="08031234567", amount=None)
    assert (fixed["txnStatus"], "token" in fixed, "pin" in fixed) == ("successful", False, False)
    assert shop.wallet().balance == OPENING - 10_000 + 300
    assert pay(shop, paycode=AIRTIME, reference="08031234567", amount="50.00")["txnStatus"] == "successful"
    assert shop.wallet().balance == OPENING - 10_000 + 300 - 5_000 + 150


def test_an_exam_brings_a_pin(shop: MerchantClient) -> None:
    body = pay(shop, paycode=WAEC, reference="08031234567", amount=None, orderRef="exam")
    assert re.fullmatch("[0-9]{12}", body["pin"])
    assert verify(shop, "exam")["pin"] == body["pin"]


def test_its_event_names_the_bill_and_tells_no_token(shop: MerchantClient) -> None:
    body = pay(shop, orderRef="lights")
    (event,) = shop.put("resources", inquire="events").body["data"]
    assert event["kind"] == "bill"
    assert event["payload"] == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": body["txnRef"],
        "chargedAmount": "5000.00",
        "paymentMethod": "bill",
        "endpoint": "test",
        "kind": "bill",
        "currency": "NGN",
        "orderRef": "lights",
        "commission": "75.00",
    }


def test_a_bill_that_failed_shows_no_fee_and_no_commission_and_says_who_refused(shop: MerchantClient) -> None:
    body = pay(shop, orderRef="refused", reference="00000000016")
    assert (body["txnStatus"], body["message"], body["commission"]) == ("failed", "The biller: Refused", "0.00")
    found = verify(shop, "refused")
    assert [found[name] for name in ("amount", "fee", "vat", "commission")] == ["5000.00", "0.00", "0.00", "0.00"]
    (event,) = shop.put("resources", inquire="events").body["data"]
    assert (event["payload"]["txnStatus"], event["payload"]["commission"]) == ("failed", "0.00")


# --- not paid ---------------------------------------------------------------------------------------------------


def test_a_dry_run_tells_what_a_bill_costs_and_pays_nothing(shop: MerchantClient) -> None:
    assert pay(shop, orderRef="maybe", dry_run=True) == {
        "status": 200,
        "orderRef": "maybe",
        "message": "Dry run: the bill can be paid; nothing was",
        "dry_run": True,
        "amount": "5000.00",
        "fee": "100.00",
        "vat": "7.50",
        "commission": "75.00",
    }
    assert shop.wallet() == UNTOUCHED
    assert verify(shop, "maybe")["status"] == 104
    assert shop.put("resources", inquire="events").body["data"] == []
    # Neither its orderRef nor the guard against duplicates remembers it.
    assert pay(shop, orderRef="maybe")["txnStatus"] == "successful"
    assert shop.wallet() == PAID


def test_a_dry_run_is_refused_for_all_that_would_refuse_the_bill(shop: MerchantClient) -> None:
    assert pay(shop, dry_run=True, paycode="nothing")["status"] == 104
    assert pay(shop, dry_run=True, amount="1")["status"] == 104
    paid = pay(shop, orderRef="paid")
    assert "Likely duplicate" in pay(shop, dry_run=True)["message"]
    assert pay(shop, dry_run=True, orderRef="paid", amount="600.00")["status"] == 104
    repeated = pay(shop, dry_run=True, orderRef="paid")
    assert (repeated["txnRef"], repeated["dry_run"]) == (paid["txnRef"], True)
    shop.put("disburse", action="transfer", amount="9994000.00", bankcode="058", accountnumber="0000000000")
    assert pay(shop, dry_run=True, amount="4000.00")["status"] == 301


def test_a_bill_in_another_currency_is_refused(shop: MerchantClient) -> None:
    for currency in ("USD", "EUR"):
        refused = pay(shop, currency=currency)
        assert refused["status"] == 104
        assert without_codes(refused["errors"]) == [
            {"field": "currency", "reason": "NGN, or left out: bills are paid in NGN alone"}
        ]
    assert shop.wallet() == UNTOUCHED
    assert pay(shop, currency="NGN")["txnStatus"] == "successful"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"amount": "5000.00"}, ["amount"]),
        ({"orderRef": "lights"}, ["orderRef"]),
        ({"amount": 12.5, "orderRef": "lights"}, ["amount", "orderRef"]),
        ({"amount": "x", "orderRef": 5}, ["amount", "orderRef"]),
    ],
)
def test_a_resolve_with_payment_fields_is_refused_and_names_pay(
    shop: MerchantClient, fields: dict[str, Any], named: list[str]
) -> None:
    body = shop.put("bills", action="resolve", paycode=PREPAID, reference=METER, **fields).body
    assert body["status"] == 104
    assert [fault["field"] for fault in body["errors"]] == named
    assert all("send action pay" in fault["reason"] for fault in body["errors"])
    assert shop.wallet() == UNTOUCHED


# --- refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"amount": "499.99"}, ["amount"]),
        ({"amount": "1000000.01"}, ["amount"]),
        ({"amount": None}, ["amount"]),
        ({"amount": "0"}, ["amount"]),
        ({"reference": "12"}, ["reference"]),
        ({"reference": "12", "amount": "1"}, ["reference", "amount"]),
        ({"paycode": "nothing"}, ["paycode"]),
        ({"paycode": AIRTIME_100, "reference": "08031234567", "amount": "99"}, ["amount"]),
        ({"orderRef": None}, ["orderRef"]),
        ({"orderRef": None, "reference": "123", "amount": "1"}, ["orderRef", "reference", "amount"]),
        ({"orderRef": None, "reference": None, "amount": None}, ["reference", "orderRef", "amount"]),
        ({"orderRef": "", "reference": "", "amount": "x"}, ["reference", "amount", "orderRef"]),
        ({"paycode": "nothing", "amount": "x"}, ["amount", "paycode"]),
        ({"paycode": "nothing", "orderRef": None, "reference": "x", "amount": "1"}, ["orderRef", "paycode"]),
        ({"paycode": AIRTIME_100, "orderRef": None, "amount": None}, ["orderRef", "reference"]),
    ],
)
def test_bad_input_is_named_and_moves_nothing(shop: MerchantClient, fields: dict[str, Any], faults: list[str]) -> None:
    body = pay(shop, **fields)
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, faults)
    assert shop.wallet() == UNTOUCHED


def test_insufficient_funds_are_status_301_and_nothing_is_stored(shop: MerchantClient) -> None:
    fields: dict[str, Any] = {"paycode": REMITA, "reference": "290007654321", "amount": "10000000.00"}
    assert pay(shop, orderRef="tax", **fields)["status"] == 301
    assert verify(shop, "tax")["status"] == 104
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="1000.00")
    assert pay(shop, orderRef="tax", **fields)["txnStatus"] == "successful"


def test_another_merchants_bill_is_unknown(shop: MerchantClient, open_shop: Callable[..., MerchantClient]) -> None:
    body = pay(shop, orderRef="lights")
    stranger = open_shop(now=START)
    for reference in ("lights", body["txnRef"], "never"):
        assert without_codes(verify(stranger, reference)) == {"status": 104, "message": "Invalid Transaction Reference"}


def test_a_transfer_is_no_bill_and_may_have_the_same_reference(shop: MerchantClient) -> None:
    shop.transfer(orderRef="same")
    assert verify(shop, "same")["status"] == 104
    assert pay(shop, orderRef="same")["txnStatus"] == "successful"
    assert shop.verify("same")["amount"] == "1500.00"
    assert verify(shop, "same")["amount"] == "5000.00"


# --- repeated ---------------------------------------------------------------------------------------------------


def test_the_same_order_again_is_the_first_answer_and_another_is_refused(shop: MerchantClient) -> None:
    first = pay(shop, orderRef="lights")
    assert pay(shop, orderRef="lights") == first
    assert pay(shop, orderRef="lights", amount="5000.01")["status"] == 104
    assert shop.wallet() == PAID


def test_an_idempotency_key_brings_the_token_again(shop: MerchantClient) -> None:
    key = {"idempotency-key": "lights"}
    assert pay(shop, headers=key, orderRef="lights") == pay(shop, headers=key, orderRef="lights")
    assert shop.wallet() == PAID


def test_the_same_payment_under_another_order_waits_half_a_minute_of_business_time(shop: MerchantClient) -> None:
    pay(shop, orderRef="first")
    refused = pay(shop, orderRef="second")
    assert (refused["status"], refused["message"][:16]) == (104, "Likely duplicate")
    assert pay(shop, orderRef="another amount", amount="5000.01")["status"] == 200
    assert pay(shop, orderRef="another customer", reference="45012345679")["status"] == 200
    shop.advance(seconds=29)
    assert pay(shop, orderRef="second")["status"] == 104
    shop.advance(seconds=1)
    assert pay(shop, orderRef="second")["txnStatus"] == "successful"


def test_a_bill_that_failed_may_be_paid_again_at_once(shop: MerchantClient) -> None:
    failing = {"x-sandbox-scenario": "rr=16"}
    assert pay(shop, headers=failing, orderRef="first")["txnStatus"] == "failed"
    assert pay(shop, headers={"x-sandbox-scenario": "rr=06"}, orderRef="second")["txnStatus"] == "pending"
    assert pay(shop, orderRef="third")["status"] == 104
    shop.advance(seconds=5)
    assert status_of(shop, "second") == "failed"
    assert pay(shop, orderRef="third")["txnStatus"] == "successful"
    assert pay(shop, orderRef="fourth")["status"] == 104
    assert shop.wallet() == PAID


# --- what the biller says ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "first", "final"),
    [
        ("16", "failed", "failed"),
        ("13", "failed", "failed"),
        ("09", "pending", "successful"),
        ("06", "pending", "failed"),
        ("30", "pending", "failed"),
        ("68", "pending", "successful"),
    ],
)
def test_a_magic_reference_ends_as_its_table_says(shop: MerchantClient, code: str, first: str, final: str) -> None:
    body = pay(shop, reference=f"000000{code}")
    assert (body["txnStatus"], "token" in body) == (first, False)
    if first == "pending":
        assert shop.wallet() == OPEN
        shop.advance(seconds=4)
        assert status_of(shop, body["orderRef"]) == "pending"
        assert shop.advance(seconds=1)["ran"] == {"bills": 1}
    ended = verify(shop, body["orderRef"])
    assert (ended["txnStatus"], "token" in ended) == (final, final == "successful")
    assert pay(shop, orderRef=body["orderRef"], reference=f"000000{code}").get("token") == ended.get("token")
    assert shop.wallet() == AFTER[final]


@pytest.mark.parametrize("outcome", ["successful", "failed"])
def test_what_stays_pending_is_settled_by_the_call_back_once(
    shop: MerchantClient, deployment: Deployment, outcome: str
) -> None:
    pay(shop, orderRef="open", reference="00000099")
    shop.advance(days=2)
    assert status_of(shop, "open") == "pending"
    reply = shop.put("sandbox", action="settle", orderRef="open", outcome=outcome).body
    assert (reply["status"], reply["txnStatus"]) == (200, outcome)
    other = {"successful": "failed", "failed": "successful"}[outcome]
    assert shop.put("sandbox", action="settle", orderRef="open", outcome=other).body["txnStatus"] == outcome
    assert ("token" in verify(shop, "open")) == (outcome == "successful")
    assert shop.wallet() == AFTER[outcome]
    assert shop.advance(days=2)["ran"] == {}
    query = "select count(*) from operator_notice n join merchant m using (merchant_id) where m.mid = $1"
    assert deployment.fetch(query, shop.mid)[0][0] == 1


@pytest.mark.parametrize(
    ("kind", "first", "seconds", "final"),
    [
        ("timeout", "pending", 5, "successful"),
        ("reset", "pending", 86_400, "failed"),
        ("unavailable", "pending", 5, "successful"),
        ("decline", "failed", 0, "failed"),
    ],
)
def test_a_fault_strikes_the_next_bill_and_ends_as_written(
    shop: MerchantClient, kind: str, first: str, seconds: int, final: str
) -> None:
    shop.put("sandbox", action="fault", rail="biller", kind=kind)
    body = pay(shop)
    assert body["txnStatus"] == first
    shop.advance(seconds=seconds)
    assert status_of(shop, body["orderRef"]) == final
    assert shop.wallet() == AFTER[final]


def test_an_unreadable_answer_is_status_201_and_stays_pending(shop: MerchantClient) -> None:
    body = pay(shop, headers={"x-sandbox-scenario": "rr=ZZ"}, orderRef="unreadable")
    assert (body["status"], body["txnStatus"]) == (201, "pending")
    assert shop.wallet() == OPEN


# --- secrets ----------------------------------------------------------------------------------------------------

EVERYWHERE = (
    "transaction",
    "event",
    "scheduled_job",
    "operator_notice",
    "posting",
    "bill_voucher",
    "bill_guard",
    "idempotency_record",
)


def test_a_token_is_in_no_table_no_event_no_explanation_and_no_log(
    shop: MerchantClient, deployment: Deployment
) -> None:
    shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/")
    token = pay(shop, headers={"idempotency-key": "k"}, orderRef="lights")["token"]
    pin = pay(shop, paycode=WAEC, reference="08031234567", amount=None)["pin"]
    reply = [msgspec.json.encode(shop.put("sandbox", action="explain", orderRef="lights").body).decode()]
    reply.append(msgspec.json.encode(shop.put("resources", inquire="events").body).decode())
    for table in EVERYWHERE:
        query = f"select t::text from {table} t join merchant m using (merchant_id) where m.mid = $1"
        reply += [row[0] for row in deployment.fetch(query, shop.mid)]
    reply += [deployment.out.read_text(), deployment.err.read_text()]
    assert any("bill commission" in text for text in reply), "the control: what is kept plain is found"
    for secret in (token, pin):
        assert all(secret not in text and secret.encode().hex() not in text for text in reply)


def test_explain_tells_a_bills_story_by_its_order_reference(shop: MerchantClient) -> None:
    pay(shop, orderRef="lights")
    story = shop.put("sandbox", action="explain", orderRef="lights").body["data"]
    what = [line["what"] for line in story]
    assert what == ["requested", "hold", "successful", *["posting"] * 4, "event"]
    assert [line["amount"] for line in story if line["what"] == "posting"] == ["5000.00", "100.00", "7.50", "75.00"]


# --- the invariants ---------------------------------------------------------------------------------------------

COMMISSION_OF = """
    update transaction t set detail = (t.detail::jsonb || jsonb_build_object('commission', $2::bigint))::json
    from merchant m where m.merchant_id = t.merchant_id and m.mid = $1 returning 1
"""
VOUCHERS_OF = """
    update bill_voucher v set txn_ref = $2 from merchant m
    where m.merchant_id = v.merchant_id and m.mid = $1 returning 1
"""


def test_the_auditor_notices_a_commission_or_a_token_that_is_not_there(
    shop: MerchantClient, deployment: Deployment
) -> None:
    txn_ref = pay(shop)["txnRef"]
    for statement, wrong, right, invariant in (
        (COMMISSION_OF, COMMISSION - 1, COMMISSION, "gave its commission back"),
        (VOUCHERS_OF, "elsewhere", txn_ref, "what a bill brought is kept"),
    ):
        deployment.fetch_as_service(statement, shop.mid, wrong)
        (line,) = deployment.broken_invariants([shop.mid])
        assert invariant in line
        assert line.endswith(txn_ref)
        deployment.fetch_as_service(statement, shop.mid, right)
    assert deployment.broken_invariants([shop.mid]) == []


# --- many at once -----------------------------------------------------------------------------------------------


def at_once(deployment: Deployment, shop: MerchantClient, orders: list[dict[str, Any]]) -> list[Any]:
    """Runs the calls concurrently, each on its own connection."""
    start = threading.Barrier(len(orders))

    def send(fields: dict[str, Any]) -> Any:
        with deployment.connect() as wire:
            one = MerchantClient(wire, shop.mid, shop.key)
            start.wait()
            return pay(one, **fields)

    with ThreadPoolExecutor(len(orders)) as pool:
        return list(pool.map(send, orders))


def test_fifty_copies_of_one_order_are_one_bill(shop: MerchantClient, deployment: Deployment) -> None:
    replies = at_once(deployment, shop, [{"orderRef": "lights"}] * 50)
    assert {msgspec.json.encode(reply) for reply in replies} == {msgspec.json.encode(pay(shop, orderRef="lights"))}
    assert replies[0]["txnStatus"] == "successful"
    assert shop.wallet() == PAID


def test_two_concurrent_orders_for_one_payment_are_a_bill_and_a_likely_duplicate(
    shop: MerchantClient, deployment: Deployment
) -> None:
    for customer in ("45012345671", "45012345672", "45012345673"):
        replies = at_once(
            deployment, shop, [{"orderRef": new_reference("race"), "reference": customer} for _ in range(2)]
        )
        assert sorted(reply["status"] for reply in replies) == [104, 200]
    taken = 3 * (COST - COMMISSION)
    assert shop.wallet() == Wallet(OPENING - taken, OPENING - taken, 0)


def test_a_wallet_raced_for_by_many_bills_is_spent_once(shop: MerchantClient, deployment: Deployment) -> None:
    """Ten bills of which the wallet covers three: commission comes back only after each is paid."""
    orders = [
        {"paycode": REMITA, "reference": f"29000765432{n}", "amount": "3300000.00", "orderRef": new_reference("tax")}
        for n in range(10)
    ]
    replies = at_once(deployment, shop, orders)
    assert sorted(reply["status"] for reply in replies) == [200] * 3 + [301] * 7
    assert shop.wallet().balance == OPENING - 3 * (330_000_000 + 15_000 + 1_125)
