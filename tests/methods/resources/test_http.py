"""Look-ups over HTTP: banks, account names, the wallet. (Contract: #replies, resources#banks, resources#wallet)"""

from collections.abc import Callable
from typing import Any

import pytest

from kasuwa.core.reference_tables import load_reference_data
from tests.merchant_client import MerchantClient, without_codes

ENQUIRIES = load_reference_data("magic_values")["accounts"]["name_enquiry"]
BANKS = load_reference_data("banks")


def name_of(shop: MerchantClient, account: str, bank: str = "058", **headers: str) -> tuple[int, Any]:
    return shop.put("resources", headers=headers, inquire="accountname", accountnumber=account, bankcode=bank)


# --- banks --------------------------------------------------------------------------------------------------


def test_banks_is_a_flat_map_of_codes_to_names(shop: MerchantClient) -> None:
    http, body = shop.put("resources", inquire="banks")
    assert http == 200
    assert body["058"] == body["000013"]
    assert all(isinstance(name, str) and name for name in body.values())
    assert {len(code) for code in body} == {3, 6}
    assert all(code.isdecimal() for code in body)


def test_every_open_bank_is_listed(shop: MerchantClient) -> None:
    listed = shop.put("resources", inquire="banks").body
    assert {bank["nip_code"] for bank in BANKS if bank["status"] != "closed" and bank["nip_code"]} <= set(listed)


def test_every_listed_code_can_be_sent_to(shop: MerchantClient) -> None:
    codes = list(shop.put("resources", inquire="banks").body)
    orders = [{"amount": "1", "bankcode": code, "accountnumber": "0000000000", "orderRef": code} for code in codes]
    lines = shop.bulk(orders)["data"]
    assert [line["message"] for line in lines if "txnRef" not in line] == []


def test_the_word_action_is_read_where_a_client_sent_it(shop: MerchantClient) -> None:
    assert shop.put("resources", action="banks") == shop.put("resources", inquire="banks")
    assert shop.put("resources", action="wallet", inquire="banks") == shop.put("resources", inquire="banks")


@pytest.mark.parametrize("word", ["banks", "wallet", "accountname", "charges", "recurrents", "event_feed"])
def test_what_is_inquired_cannot_be_requested(shop: MerchantClient, word: str) -> None:
    assert shop.put("resources", request=word).body["status"] == 102
    assert shop.put("resources", request=word, action="banks").body["status"] == 102
    assert b'"status":102' not in shop.send_fields("resources", {"inquire": word}).raw


@pytest.mark.parametrize("word", ["personalized-accounts", "personalized_account", "resend"])
def test_what_is_requested_cannot_be_inquired(shop: MerchantClient, word: str) -> None:
    fields = {"name": "Ada Obi", "reference": "customer-17", "email": "ada@example.com", "from": 1}
    for selector in ("inquire", "action"):
        assert shop.send_fields("resources", {selector: word, **fields}).body["status"] == 102
    assert shop.send_fields("resources", {"request": word, **fields}).body["status"] != 102


# --- account names ------------------------------------------------------------------------------------------


def test_an_account_has_a_name_and_always_the_same(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    http, body = name_of(shop, "0123456784", "011")
    assert http == 200
    assert body == {"status": "success", "resolved": True, "data": {"account_name": body["data"]["account_name"]}}
    assert body["data"]["account_name"]
    assert name_of(open_shop(), "0123456784", "011") == (http, body)


@pytest.mark.parametrize(
    ("bank", "account"),
    [
        ("058", "0040000008"),
        ("000013", "0040000009"),
        ("044", "0690000005"),
        ("000014", "0690000007"),
        ("044", "0690000031"),
    ],
)
def test_the_documented_samples_exist(shop: MerchantClient, bank: str, account: str) -> None:
    assert name_of(shop, account, bank)[1]["resolved"] is True


def test_the_code_of_a_bank_may_have_each_of_its_forms(shop: MerchantClient) -> None:
    assert name_of(shop, "0123456784", "011")[1]["resolved"] is True
    assert name_of(shop, "0123456784", "000016")[1]["resolved"] is True
    five = [bank["cbn_code"] for bank in BANKS if len(bank["cbn_code"] or "") == 5 and bank["status"] != "closed"]
    assert five
    assert name_of(shop, "0000000000", five[0])[1]["resolved"] is True


def test_the_same_account_has_one_name_by_whatever_code_its_bank_is_called(shop: MerchantClient) -> None:
    assert name_of(shop, "0123456784", "011") == name_of(shop, "0123456784", "000016")


def test_a_bank_without_check_digits_takes_any_ten_digits(shop: MerchantClient) -> None:
    wallet = next(bank for bank in BANKS if bank["kind"] == "mobile_money" and bank["nip_code"])
    for account in ("8031234567", "8031234568"):
        assert name_of(shop, account, wallet["nip_code"])[1]["resolved"] is True


@pytest.mark.parametrize("account", ["0123456780", "0000000700", "0000001600", "0000002500"])
def test_an_account_that_does_not_exist_is_an_error_of_the_look_up(shop: MerchantClient, account: str) -> None:
    http, body = name_of(shop, account, "011")
    assert http == 200
    assert set(body) == {"status", "resolved", "error", "message"}
    assert (body["status"], body["resolved"]) == ("error", False)


@pytest.mark.parametrize("code", ["00", "03", "05", "06", "51", "99"])
def test_a_magic_account_resolves_to_its_code(shop: MerchantClient, code: str) -> None:
    _, body = name_of(shop, f"000000{code}00")
    assert (body["status"], body["data"]["account_name"]) == ("success", f"SANDBOX {code} ACCOUNT")
    assert ("dormant" in body.get("message", "").lower()) == (code == "06")


@pytest.mark.parametrize("code", ["91", "96", "97"])
def test_a_rail_that_does_not_answer_is_status_204(shop: MerchantClient, code: str) -> None:
    http, body = name_of(shop, f"000000{code}00")
    assert (http, without_codes(body)) == (200, {"status": 204, "message": body["message"]})
    assert body["code"] == ("bank_timeout" if code == "97" else "bank_unavailable")


@pytest.mark.parametrize(
    ("account", "bank", "fields"),
    [
        ("123456789", "058", ["accountnumber"]),
        ("12345678901", "058", ["accountnumber"]),
        ("12345abcde", "058", ["accountnumber"]),
        ("0040000008", "999", ["bankcode"]),
        ("0040000008", "0580", ["bankcode"]),
        ("x", "y", ["accountnumber", "bankcode"]),
    ],
)
def test_a_malformed_name_enquiry_is_status_104(
    shop: MerchantClient, account: str, bank: str, fields: list[str]
) -> None:
    http, body = name_of(shop, account, bank)
    assert (http, body["status"]) == (200, 104)
    assert [fault["field"] for fault in body["errors"]] == fields


@pytest.mark.parametrize("kind", ["timeout", "reset", "unavailable"])
def test_a_fault_of_the_bank_strikes_one_enquiry(shop: MerchantClient, kind: str) -> None:
    shop.put("sandbox", action="fault", rail="bank", kind=kind)
    assert name_of(shop, "0040000008")[1]["status"] == 204
    assert name_of(shop, "0040000008")[1]["status"] == "success"


def test_a_scenario_strikes_one_enquiry(shop: MerchantClient) -> None:
    assert name_of(shop, "0040000008", **{"x-sandbox-scenario": "rr=07"})[1]["status"] == "error"
    assert name_of(shop, "0040000008", **{"x-sandbox-scenario": "rr=91"})[1]["status"] == 204
    assert name_of(shop, "0040000008", **{"x-sandbox-scenario": "http=timeout"})[1]["status"] == 204
    assert name_of(shop, "0040000008")[1]["status"] == "success"


# --- the wallet ---------------------------------------------------------------------------------------------


def test_the_wallet_shows_each_currency_in_text_with_two_decimals(shop: MerchantClient) -> None:
    http, body = shop.put("resources", inquire="wallet")
    assert (http, body) == (
        200,
        {
            "status": 200,
            "data": [
                {"currency": "NGN", "balance": "10000000.00", "available": "10000000.00", "held": "0.00"},
                {"currency": "USD", "balance": "10000.00", "available": "10000.00", "held": "0.00"},
            ],
        },
    )


def test_the_wallet_shows_what_is_held(shop: MerchantClient) -> None:
    shop.transfer(accountnumber="0000000020", amount="0001000.10")
    line = shop.put("resources", inquire="wallet").body["data"][0]
    assert line == {"currency": "NGN", "balance": "10000000.00", "available": "9998989.15", "held": "1010.85"}


def test_the_wallet_shows_only_the_merchants_own_balances(open_shop: Callable[..., MerchantClient]) -> None:
    one, other = open_shop(), open_shop()
    one.transfer()
    assert other.wallet().balance == 1_000_000_000
