"""Single transfers over HTTP: reply shapes, the wallet to the kobo, references and repeats.

Contract: #requests, #repeats, disburse#transfer, disburse#verify
"""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import check_letter, is_reference
from tests.merchant_client import MerchantClient, Wallet, to_minor_units, without_codes
from tests.running import Deployment

OPENING = 1_000_000_000
START = "2026-01-05T23:30:00Z"  # already the 6th in Lagos
TXN_REF = re.compile(r"GP\|FD\|[0-9]{9}\|[0-9]{8}[A-Z]")

PENDING = "0000000020"
FAILING = "0000000500"

UNKNOWN = {"status": 104, "message": "Invalid Transaction Reference"}


def spent(amount: int) -> Wallet:
    return Wallet(OPENING - amount, OPENING - amount, 0)


# --- one transfer -----------------------------------------------------------------------------------------


def test_a_transfer_answers_its_references_and_status(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    http, body = shop.put(
        "disburse",
        action="transfer",
        amount="1500.00",
        bankcode="058",
        accountnumber="0000000000",
        sender_name="Ada Stores",
        narration="Invoice 1042",
        orderRef="order-1042",
    )
    assert http == 200
    txn_ref = body["txnRef"]
    assert body == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": txn_ref,
        "orderRef": "order-1042",
        "message": "Transfer Successful",
        "receiptURL": body["receiptURL"],
    }
    assert TXN_REF.fullmatch(txn_ref)
    assert is_reference(txn_ref)
    assert txn_ref[16:24] == "20260106"
    assert shop.wallet() == spent(151_075)


@pytest.mark.parametrize(
    ("amount", "fee", "vat"),
    [
        ("1.00", "10.00", "0.75"),
        ("5000.00", "10.00", "0.75"),
        ("5000.01", "25.00", "1.88"),
        ("50000.00", "25.00", "1.88"),
        ("50000.01", "50.00", "3.75"),
        ("9999946.25", "50.00", "3.75"),
    ],
)
def test_the_fee_follows_its_band_and_vat_the_rounded_fee(
    shop: MerchantClient, amount: str, fee: str, vat: str
) -> None:
    sent = shop.transfer(amount=amount)
    assert shop.verify(sent["orderRef"]) == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": sent["txnRef"],
        "orderRef": sent["orderRef"],
        "amount": amount,
        "fee": fee,
        "vat": vat,
        "message": "Transfer Successful",
        "receiptURL": sent["receiptURL"],
    }
    cost = sum(int(figure.replace(".", "")) for figure in (amount, fee, vat))
    assert shop.wallet() == spent(cost)


def test_an_open_transfer_holds_its_cost_and_success_takes_it(shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber=PENDING)
    assert (sent["status"], sent["txnStatus"]) == (200, "pending")
    assert shop.wallet() == Wallet(OPENING, OPENING - 151_075, 151_075)
    shop.put("sandbox", action="settle", txnRef=sent["txnRef"], outcome="successful")
    assert shop.status_of(sent["orderRef"]) == "successful"
    assert shop.wallet() == spent(151_075)


def test_an_open_transfer_that_fails_gives_all_of_it_back(shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber=PENDING)
    shop.put("sandbox", action="settle", txnRef=sent["txnRef"], outcome="failed")
    assert shop.status_of(sent["orderRef"]) == "failed"
    assert shop.wallet() == spent(0)


def test_a_transfer_refused_by_the_bank_is_failed_with_its_reason_and_costs_nothing(shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber=FAILING)
    reason = "The beneficiary's bank: Do not honour"
    assert (sent["status"], sent["txnStatus"], sent["message"]) == (200, "failed", reason)
    found = shop.verify(sent["orderRef"])
    assert (found["amount"], found["fee"], found["vat"], found["message"]) == ("1500.00", "0.00", "0.00", reason)
    assert shop.wallet() == spent(0)


def test_a_transfer_in_another_currency_is_refused_and_naira_may_be_named(shop: MerchantClient) -> None:
    for currency in ("USD", "GHS", "EUR"):
        refused = shop.transfer(currency=currency, orderRef="abroad")
        assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["currency"])
    assert shop.wallet() == spent(0)
    assert without_codes(shop.verify("abroad")) == UNKNOWN
    assert [shop.transfer(currency=value)["txnStatus"] for value in ("NGN", "NG")] == ["successful"] * 2


def test_naming_the_currency_makes_no_other_request_of_a_repeat(shop: MerchantClient) -> None:
    first = shop.transfer(orderRef="again")
    assert shop.transfer(orderRef="again", currency="NGN")["txnRef"] == first["txnRef"]


def test_insufficient_funds_are_status_301_and_nothing_is_stored(shop: MerchantClient) -> None:
    http, body = shop.put(
        "disburse",
        action="transfer",
        amount="10000000.00",
        bankcode="058",
        accountnumber="0000000000",
        orderRef="too-much",
    )
    assert http == 200
    assert without_codes(body) == {"status": 301, "message": body["message"]}
    assert shop.wallet() == spent(0)
    assert without_codes(shop.verify("too-much")) == UNKNOWN
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="53.75")
    assert shop.transfer(amount="10000000.00", orderRef="too-much")["txnStatus"] == "successful"
    assert shop.wallet() == Wallet(0, 0, 0)


def test_a_dry_run_tells_the_cost_and_sends_nothing(shop: MerchantClient) -> None:
    order: dict[str, Any] = {
        "action": "transfer",
        "amount": "1500.00",
        "bankcode": "058",
        "accountnumber": "0000000000",
    }
    shown = shop.put("disburse", dry_run=True, orderRef="tried", **order).body
    assert (shown["dry_run"], shown["txnRef"], shown["orderRef"]) == (True, "", "tried")
    figures = {figure["what"]: figure["amount"] for figure in shown["explained"]}
    assert without_codes(shop.verify("tried")) == UNKNOWN
    assert shop.wallet() == spent(0)
    sent = shop.transfer(orderRef="tried", amount="1500.00")
    assert OPENING - shop.wallet().balance == to_minor_units(figures["wallet"])
    assert shop.put("disburse", dry_run=True, orderRef="tried", **order).body["txnRef"] == sent["txnRef"]
    for dry_run in (True, False):
        short = {**order, "amount": "10000000.00", "dry_run": dry_run}
        assert shop.put("disburse", **short).body["status"] == 301
    bulk = shop.put("disburse", action="transfer", type="bulk", data=[{**order, "dry_run": True}]).body
    assert [line["txnStatus"] for line in bulk["data"]] == ["failed"]


def test_an_order_again_is_answered_the_same_when_the_wallet_is_empty(shop: MerchantClient) -> None:
    """A refusal would deny that the money has left."""
    first = shop.transfer(amount="9999946.25", orderRef="all of it")
    assert shop.wallet() == Wallet(0, 0, 0)
    for _ in range(2):
        assert shop.transfer(amount="9999946.25", orderRef="all of it") == first
        assert shop.transfer(amount="1.00", orderRef="one more")["status"] == 301
    assert without_codes(shop.verify("one more")) == UNKNOWN


def test_a_hold_counts_against_the_next_transfer(shop: MerchantClient) -> None:
    shop.transfer(amount="9999000.00", accountnumber=PENDING)
    assert shop.transfer(amount="1000.00")["status"] == 301
    assert shop.wallet() == Wallet(OPENING, 94_625, 999_905_375)


def test_each_final_transfer_leaves_one_event_and_an_open_one_none(
    shop: MerchantClient, deployment: Deployment
) -> None:
    good, bad = shop.transfer(), shop.transfer(accountnumber=FAILING)
    shop.transfer(accountnumber=PENDING)
    rows = deployment.fetch(
        "select e.payload from event e join merchant m using (merchant_id) where m.mid = $1 order by e.seq", shop.mid
    )
    common = {"status": 200, "paymentMethod": "transfer", "endpoint": "test", "kind": "transfer", "currency": "NGN"}
    assert [msgspec.json.decode(row[0]) for row in rows] == [
        common | {k: good[k] for k in ("txnRef", "orderRef", "txnStatus")} | {"chargedAmount": "1500.00"},
        common | {k: bad[k] for k in ("txnRef", "orderRef", "txnStatus")} | {"chargedAmount": "0.00"},
    ]


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "taken"),
    [
        (b"1500", 151_075),
        (b"1500.5", 151_125),
        (b"1500.50", 151_125),
        (b'"1500"', 151_075),
        (b'"1500.5"', 151_125),
        (b'"0001500.00"', 151_075),
    ],
)
def test_an_amount_is_a_number_or_a_numeric_text(shop: MerchantClient, amount: bytes, taken: int) -> None:
    body = b'{"action":"transfer","amount":%b,"bankcode":"058","accountnumber":"0000000000"}' % amount
    assert shop.send("disburse", body).body["txnStatus"] == "successful"
    assert shop.wallet() == spent(taken)


REFUSED_AMOUNTS = (
    '1e5 -5 0 0.0 0.99 1500.001 true null [5] {} 10000000.01 1234567890123456 "1e5" "+1" " 5" "5 " "1,000" "٣" "NaN" '
    '"" "-5" "0" "0.00" "0.99" "1500.001" "1." ".5" "0x10" "1_000" "Infinity" "1234567890123456" "10000000.01"'
)


def test_every_other_amount_is_refused_by_name(shop: MerchantClient) -> None:
    amounts = re.findall(r'"[^"]*"|\S+', REFUSED_AMOUNTS)
    for amount in amounts:
        body = b'{"action":"transfer","amount":%b,"bankcode":"058","accountnumber":"0000000000"}' % amount.encode()
        reply = shop.send("disburse", body)
        assert (reply.http, reply.body["status"]) == (200, 104), amount
        assert [fault["field"] for fault in reply.body["errors"]] == ["amount"], amount
    assert shop.wallet() == spent(0)


@pytest.mark.parametrize(
    ("wrong", "fields"),
    [
        ({"bankcode": "999"}, ["bankcode"]),
        ({"bankcode": "1"}, ["bankcode"]),
        ({"bankcode": 58}, ["bankcode"]),
        ({"accountnumber": "0123456780", "bankcode": "011"}, ["accountnumber"]),
        ({"accountnumber": "123456789"}, ["accountnumber"]),
        ({"accountnumber": 1234567890}, ["accountnumber"]),
        ({"orderRef": 7}, ["orderRef"]),
        ({"orderRef": "x" * 101}, ["orderRef"]),
        ({"narration": "x" * 201, "sender_name": 5}, ["sender_name", "narration"]),
        ({"amount": "-1", "bankcode": "999", "accountnumber": "x"}, ["amount", "bankcode", "accountnumber"]),
    ],
)
def test_a_wrong_field_is_named_and_moves_nothing(
    shop: MerchantClient, wrong: dict[str, Any], fields: list[str]
) -> None:
    body = shop.transfer(**wrong)
    assert body["status"] == 104
    assert body["message"]
    assert sorted(fault["field"] for fault in body["errors"]) == sorted(fields)
    assert shop.wallet() == spent(0)


def test_missing_fields_are_all_named(shop: MerchantClient) -> None:
    body = shop.put("disburse", action="transfer").body
    assert [(fault["field"], fault["reason"]) for fault in body["errors"]] == [
        ("amount", "required"),
        ("bankcode", "required"),
        ("accountnumber", "required"),
    ]


@pytest.mark.parametrize(
    ("bank", "account"),
    [("011", "0123456784"), ("000016", "0123456784"), ("058", "0040000008"), ("000014", "0690000031")],
)
def test_banks_are_known_by_each_of_their_codes(shop: MerchantClient, bank: str, account: str) -> None:
    assert shop.transfer(bankcode=bank, accountnumber=account)["txnStatus"] == "successful"


# --- references ---------------------------------------------------------------------------------------------


def test_verify_takes_the_order_ref_or_the_txn_ref(shop: MerchantClient) -> None:
    sent = shop.transfer()
    assert shop.verify(sent["orderRef"])["txnRef"] == sent["txnRef"]
    assert shop.verify(sent["txnRef"]) == shop.verify(sent["orderRef"])


def test_an_unknown_or_mistyped_reference_is_refused_alike(shop: MerchantClient) -> None:
    txn_ref = shop.transfer()["txnRef"]
    head = txn_ref[:-2] + str((int(txn_ref[-2]) + 1) % 10)
    for unknown in ("never-sent", txn_ref[:-1] + chr(155 - ord(txn_ref[-1])), head + check_letter(head), "GP", "|"):
        http, body = shop.put("disburse", action="verify", txnRef=unknown)
        assert (http, without_codes(body)) == (200, UNKNOWN), unknown


def test_without_an_order_ref_the_service_makes_one(shop: MerchantClient) -> None:
    first, second = shop.transfer(orderRef=None), shop.transfer(orderRef=None)
    assert first["orderRef"]
    assert first["orderRef"] != second["orderRef"]
    assert shop.verify(first["orderRef"])["txnRef"] == first["txnRef"]
    assert shop.wallet() == spent(2 * 151_075)


def test_the_same_order_again_returns_the_first_answer_and_moves_nothing(shop: MerchantClient) -> None:
    first = shop.transfer(orderRef="again", narration="x")
    same: Any
    for same in ({"amount": 1500}, {"amount": "1500"}, {"extra": [1]}, {"sender_name": None, "type": "single"}):
        assert shop.transfer(**{"orderRef": "again", "narration": "x", **same}) == first
    assert shop.wallet() == spent(151_075)


def test_the_same_order_with_another_request_is_refused(shop: MerchantClient) -> None:
    shop.transfer(orderRef="again")
    other: Any
    for other in ({"amount": "1500.01"}, {"narration": "x"}, {"accountnumber": "0000000001"}, {"bankcode": "000013"}):
        assert shop.transfer(orderRef="again", **other)["status"] == 104
    assert shop.wallet() == spent(151_075)


def test_a_repeat_shows_the_current_status(shop: MerchantClient) -> None:
    first = shop.transfer(orderRef="later", accountnumber=PENDING)
    assert first["txnStatus"] == "pending"
    shop.put("sandbox", action="settle", orderRef="later", outcome="successful")
    again = shop.transfer(orderRef="later", accountnumber=PENDING)
    ended = {"txnStatus": "successful", "message": "Transfer Successful", "receiptURL": again["receiptURL"]}
    assert again == first | ended


def test_one_order_sent_many_times_at_once_is_one_transfer(shop: MerchantClient, deployment: Deployment) -> None:
    def send(_: int) -> Any:
        with deployment.connect() as wire:
            return MerchantClient(wire, shop.mid, shop.key).transfer(orderRef="together")

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(send, range(24)))
    assert {(answer["txnRef"], answer["txnStatus"]) for answer in answers} == {(answers[0]["txnRef"], "successful")}
    assert shop.wallet() == spent(151_075)


def test_two_merchants_may_use_the_same_order_ref(open_shop: Callable[..., MerchantClient]) -> None:
    one, other = open_shop(), open_shop()
    one.transfer(orderRef="mine", amount="100.00")
    assert without_codes(other.verify("mine")) == UNKNOWN
    other.transfer(orderRef="mine", amount="200.00")
    assert (one.verify("mine")["amount"], other.verify("mine")["amount"]) == ("100.00", "200.00")
    assert (one.wallet(), other.wallet()) == (spent(11_075), spent(21_075))
