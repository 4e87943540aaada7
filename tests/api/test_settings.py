"""What an operator sets for a merchant shows at the wire: HTTP codes, keys, limits, rates.

Contract: #http, #rates, #authentication
"""

import time

import pytest

from kasuwa.commands.merchant import parse_settings
from tests.merchant_client import MerchantClient, to_minor_units
from tests.running import Deployment

WALLET = {"inquire": "wallet"}


def key_of(text: str) -> str:
    word, key = text.split()
    assert word == "key"
    return key


def http_with(shop: MerchantClient, key: str) -> int:
    return shop.send_fields("resources", WALLET, headers={"key": key}).http


# --- HTTP codes ---------------------------------------------------------------------------------------------

STRICT = {102: 404, 103: 400, 104: 422, 201: 502, 204: 500, 301: 402}


def provoke(shop: MerchantClient) -> dict[int, int]:
    """HTTP status by the code of the body, for every code that can be had from here."""
    order = {"action": "transfer", "amount": "9999999.00", "bankcode": "058", "accountnumber": "0000000000"}
    unavailable = {"inquire": "accountname", "accountnumber": "0000009100", "bankcode": "058"}
    replies = [
        shop.send_fields("disburse", {"action": "nothing"}),
        shop.send("disburse", b"garbage"),
        shop.send_fields("disburse", {"action": "verify", "txnRef": "x"}),
        shop.send_fields("disburse", order | {"amount": "1.00"}, headers={"x-sandbox-scenario": "rr=ZZ"}),
        shop.send_fields("resources", unavailable),
        shop.send_fields("disburse", order),
        shop.send_fields("resources", WALLET),
        shop.send_fields("disburse", {"action": "transfer", "type": "bulk", "data": [order | {"amount": "1.00"}]}),
    ]
    return {reply.body["status"]: reply.http for reply in replies}


def test_a_merchant_may_ask_for_strict_http_codes_and_go_back(shop: MerchantClient, deployment: Deployment) -> None:
    compatible = dict.fromkeys((*STRICT, 200, 202), 200)
    assert provoke(shop) == compatible
    deployment.run_command("merchant", "set", shop.mid, "--http-codes", "strict")
    assert provoke(shop) == STRICT | {200: 200, 202: 200}
    assert shop.send_fields("resources", WALLET, headers={"key": "wrong"}).http == 401
    deployment.run_command("merchant", "set", shop.mid, "--http-codes", "compat")
    assert provoke(shop) == compatible


# --- keys ---------------------------------------------------------------------------------------------------


def test_a_key_rolled_without_overlap_is_refused_after_a_second(shop: MerchantClient, deployment: Deployment) -> None:
    assert http_with(shop, shop.key) == 200
    fresh = key_of(deployment.run_command("merchant", "roll-key", shop.mid, "--overlap-hours", "0"))
    assert http_with(shop, shop.key) == 401
    assert http_with(shop, fresh) == 200


def test_a_key_rolled_with_overlap_works_with_the_new_one_until_it_is_cut_off(
    shop: MerchantClient, deployment: Deployment
) -> None:
    second = key_of(deployment.run_command("merchant", "roll-key", shop.mid, "--overlap-hours", "24"))
    assert (http_with(shop, shop.key), http_with(shop, second)) == (200, 200)
    third = key_of(deployment.run_command("merchant", "roll-key", shop.mid, "--overlap-hours", "0"))
    assert [http_with(shop, key) for key in (shop.key, second, third)] == [401, 401, 200]


# --- limits and rates ---------------------------------------------------------------------------------------


def test_without_a_rate_the_test_environment_limits_nobody(shop: MerchantClient) -> None:
    assert {http_with(shop, shop.key) for _ in range(300)} == {200}


def test_a_merchant_over_its_rate_gets_the_time_to_retry(shop: MerchantClient, deployment: Deployment) -> None:
    deployment.run_command("merchant", "set", shop.mid, "--rate", "1,5")
    replies = [shop.send_fields("resources", WALLET) for _ in range(12)]
    codes = [reply.http for reply in replies]
    assert codes[:5] == [200] * 5
    assert set(codes) == {200, 429}
    limited = next(reply for reply in replies if reply.http == 429)
    assert limited.body["status"] == 204
    assert limited.body["message"]
    assert int(limited.headers["retry-after"]) >= 1
    time.sleep(int(limited.headers["retry-after"]))
    assert shop.send_fields("resources", WALLET).http == 200


def test_a_rate_is_one_merchants_own(shop: MerchantClient, deployment: Deployment) -> None:
    other = deployment.open_shop()
    with other.connection:
        deployment.run_command("merchant", "set", shop.mid, "--rate", "1,1")
        deployment.run_command("merchant", "set", other.mid, "--rate", "1,5")
        assert 429 in {shop.send_fields("resources", WALLET).http for _ in range(5)}
        assert {other.send_fields("resources", WALLET).http for _ in range(5)} == {200}


def test_limits_and_tariff_are_a_merchants_own(shop: MerchantClient, deployment: Deployment) -> None:
    tariff = '{"transfer":{"bands":[{"up_to":null,"fee":"3.33"}]}}'
    deployment.run_command("merchant", "set", shop.mid, "--limits", '{"NGN":["10.00","20.00"]}', "--tariff", tariff)
    assert [shop.transfer(amount=amount)["status"] for amount in ("9.99", "10.00", "20.00", "20.01")] == [
        104,
        200,
        200,
        104,
    ]
    sent = shop.transfer(amount="15.00")
    found = shop.verify(sent["txnRef"])
    assert (found["fee"], found["vat"]) == ("3.33", "0.25")
    assert shop.wallet().balance == 1_000_000_000 - 3 * (333 + 25) - to_minor_units("45.00")


def test_a_setting_that_cannot_be_used_is_refused_in_one_line(shop: MerchantClient, deployment: Deployment) -> None:
    output = deployment.run_refused_command("merchant", "set", shop.mid, "--http-codes", "loose")
    assert output.startswith("kasuwa: ")
    assert len(output.strip().splitlines()) == 1
    assert http_with(shop, shop.key) == 200


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("rate", value) for value in ("x", "5", "5,5,5", "0,0", "0,5", "-1,5", "5,0", "")),
        *(
            ("limits", value)
            for value in ("[]", "{", '{"NGN":["20.00","10.00"]}', '{"NGN":["x","y"]}', '{"XXX":["1","2"]}')
        ),
        *(
            ("tariff", value)
            for value in (
                "{",
                "[]",
                '{"vat_percent_on_fees":"x"}',
                '{"transfer":{"bands":[]}}',
                '{"transfer":{"bands":[{"up_to":"5000","fee":"1"}]}}',
                '{"transfer":{"bands":[{"up_to":null,"fee":"-1"}]}}',
            )
        ),
    ],
)
def test_what_would_break_a_merchants_requests_cannot_be_set(name: str, text: str) -> None:
    """The same check as the command's, without the wait for its process."""
    with pytest.raises(SystemExit, match=r"^kasuwa: [^\n]+$"):
        parse_settings(**{name: text})
