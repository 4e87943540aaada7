"""Personalized accounts over HTTP: one for each reference, for ever the same, and nobody else's.

Contract: resources#personalized-accounts
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kasuwa.core.banks import banks_by_code, is_account_number
from tests.merchant_client import MerchantClient, new_reference, without_codes
from tests.running import Deployment

ADA = {"name": "Ada Obi", "email": "ada@example.com"}


def ask(shop: MerchantClient, reference: str, **changes: Any) -> Any:
    fields = {"request": "personalized-accounts", **ADA, "reference": reference, **changes}
    return shop.put("resources", **fields).body


def test_an_account_is_a_valid_number_of_the_deployments_bank(shop: MerchantClient) -> None:
    made = ask(shop, "customer-17")
    number = made["data"]["accountNumber"]
    assert made == {
        "status": 200,
        "message": made["message"],
        "data": {
            "accountNumber": number,
            "accountName": "Ada Obi",
            "bankName": "Wema Bank",
            "reference": "customer-17",
        },
    }
    assert is_account_number(banks_by_code()["035"], number)


def test_a_reference_keeps_its_account_whatever_the_other_fields(shop: MerchantClient, deployment: Deployment) -> None:
    first = ask(shop, "one")
    assert ask(shop, "one", name="Another", email="other@example.com", bvn="22212345678", bank="035") == first
    assert ask(shop, "one", request="personalized_account") == first
    assert ask(shop, "two")["data"]["accountNumber"] != first["data"]["accountNumber"]
    query = "select count(*) from personalized_account join merchant using (merchant_id) where mid = $1"
    assert deployment.fetch(query, shop.mid)[0][0] == 2


def test_a_reference_is_one_merchants_own(shop: MerchantClient, open_shop: Callable[..., MerchantClient]) -> None:
    mine, other = ask(shop, "one"), ask(open_shop(), "one")
    assert mine["data"]["accountNumber"] != other["data"]["accountNumber"]


def test_many_at_once_are_given_many_accounts_and_one_reference_one(
    shop: MerchantClient, deployment: Deployment
) -> None:
    def make(reference: str) -> str:
        with deployment.connect() as wire:
            return str(ask(MerchantClient(wire, shop.mid, shop.key), reference)["data"]["accountNumber"])

    references = [new_reference("payee") for _ in range(12)] + ["same"] * 4
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(make, references))
    assert len(set(numbers)) == 13
    assert len(set(numbers[-4:])) == 1


def test_the_bvn_of_a_personalized_account_is_encrypted(shop: MerchantClient, deployment: Deployment) -> None:
    bvn = "22255566677"
    assert ask(shop, "one", bvn=bvn)["status"] == 200
    [[kept]] = deployment.fetch("select string_agg(t::text, '') from personalized_account t")
    assert bvn not in kept
    assert bvn.encode().hex() not in kept


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"name": None}, "name"),
        ({"name": " "}, "name"),
        ({"email": None}, "email"),
        ({"email": "ada"}, "email"),
        ({"reference": None}, "reference"),
        ({"reference": ""}, "reference"),
        ({"bvn": "123"}, "bvn"),
        ({"bvn": "33333333333"}, "bvn"),
        ({"dry_run": True}, "dry_run"),
        ({"reference": " "}, "reference"),
        ({"reference": "\t\n"}, "reference"),
    ],
)
def test_what_is_wrong_is_named(shop: MerchantClient, value: Any, field: str) -> None:
    refused = ask(shop, **{"reference": "one", **value})
    assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, [field])


def test_the_bank_is_a_preference_that_is_served_where_it_can_be(shop: MerchantClient) -> None:
    """Two public clients send "providus" unless they are told otherwise."""
    made = ask(shop, "one", bank="providus")["data"]
    assert made["bankName"] == "Providus Bank"
    assert is_account_number(banks_by_code()["101"], made["accountNumber"])
    for preferred in ("no such bank", "999", 58.5, True, {"code": "058"}):
        assert ask(shop, new_reference("payee"), bank=preferred)["data"]["bankName"] == "Wema Bank"


def test_a_later_preference_does_not_change_the_account(shop: MerchantClient) -> None:
    first = ask(shop, "one")
    assert [ask(shop, "one", bank=bank) for bank in ("035", "000017", "providus")] == [first] * 3


def test_money_paid_into_an_account_of_a_preferred_bank_arrives_and_names_it(shop: MerchantClient) -> None:
    number = ask(shop, "one", bank="providus")["data"]["accountNumber"]
    paid = shop.put("sandbox", action="pay_account", accountNumber=number, amount="500.00").body
    assert paid["txnStatus"] == "successful"
    (event,) = shop.put("resources", inquire="events").body["data"]
    assert (event["payload"]["account"], event["payload"]["bankname"]) == (number, "Providus Bank")


@pytest.mark.parametrize("request_word", ["personalized", "personalised-accounts", "", "Personalized-Accounts"])
def test_an_unknown_request_is_status_102(shop: MerchantClient, request_word: str) -> None:
    assert ask(shop, "one", request=request_word)["status"] == 102


# --- closing -------------------------------------------------------------------------------------------------------


def close(shop: MerchantClient, reference: str, **fields: Any) -> Any:
    return shop.put("resources", request="close_personalized_account", reference=reference, **fields).body


def test_a_closed_account_takes_no_money_and_its_reference_opens_no_other(shop: MerchantClient) -> None:
    number = ask(shop, "one")["data"]["accountNumber"]
    kept = ask(shop, "two")["data"]["accountNumber"]
    pay = {"action": "pay_account", "accountNumber": number, "amount": "500.00"}
    assert shop.put("sandbox", **pay).body["txnStatus"] == "successful"
    closed = close(shop, "one")
    assert (closed["status"], closed["data"]["state"], closed["data"]["accountNumber"]) == (200, "closed", number)
    assert close(shop, "one") == closed
    refused = shop.put("sandbox", **pay).body
    assert without_codes(refused["errors"]) == [
        {"field": "accountNumber", "reason": "the account is closed: the bank returns the transfer"}
    ]
    assert ask(shop, "one")["errors"][0]["field"] == "reference"
    assert shop.put("sandbox", **{**pay, "accountNumber": kept}).body["txnStatus"] == "successful"
    events = [event["payload"] for event in shop.put("resources", inquire="events").body["data"]]
    [closing] = [event for event in events if event["kind"] == "account_closed"]
    assert (closing["accountReference"], closing["account"], closing["txnStatus"]) == ("one", number, "successful")


def test_accounts_are_listed_with_their_states(shop: MerchantClient) -> None:
    for reference in ("one", "two", "three"):
        ask(shop, reference)
    close(shop, "two")
    shown = shop.put("resources", inquire="transaction", reference="two").body["data"]
    assert (shown["kind"], shown["state"]) == ("personalized_account", "closed")

    def listed(**filters: Any) -> list[tuple[str, str]]:
        page = shop.put("resources", inquire="accounts", **filters).body
        assert page["total"] >= len(page["data"])
        return [(line["reference"], line["state"]) for line in page["data"]]

    assert set(listed()) == {("one", "open"), ("two", "closed"), ("three", "open")}
    assert listed(state="closed") == listed(reference="two") == [("two", "closed")]
    assert len(listed(limit=1, offset=1)) == 1
    assert listed(reference="four") == []


def test_what_cannot_be_closed_is_refused(shop: MerchantClient, open_shop: Callable[..., MerchantClient]) -> None:
    ask(open_shop(), "theirs")
    for reference in ("theirs", "nobody's"):
        refused = close(shop, reference)
        assert without_codes(refused["errors"]) == [
            {"field": "reference", "reason": "you have no account with this reference"}
        ]
    ask(shop, "one")
    assert close(shop, "one", dry_run=True)["errors"][0]["field"] == "dry_run"
    assert shop.put("resources", inquire="accounts").body["data"][0]["state"] == "open"
