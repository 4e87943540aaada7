"""Every refusal that the sources name is produced by a test; those that only their own request reaches, by one here."""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.reached_refusals import GUARDS, NamedRefusal, is_reached, named_refusals, phrases_of
from tests.source_rules import Source, read_all
from tests.walk.bounds import IDEMPOTENCY_KEY

PLAN = {"action": "create_plan", "name": "Market", "amount": "5000.00", "member_required": "2"}
PLAN |= {"frequency": "every_month"}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "today or later, within ten years": ("investments", {**PLAN, "start_date": "2001-01-01"}),
    "required, or customer_txnref or refundRef": ("payment", {"action": "verify"}),
    "required if frequency is above": (
        "resources",
        {"request": "payout_schedule", "frequency": "above", "bankcode": "058", "accountnumber": "0000000000"},
    ),
    "required with the first schedule": ("resources", {"request": "payout_schedule", "frequency": "daily"}),
    "Say seconds, minutes, hours or days, or until": ("sandbox", {"action": "advance"}),
    "the wallet would hold more than 15 digits": ("sandbox", {"action": "fund_wallet", "amount": "9" * 15}),
    "not before from, and at most": ("resources", {"inquire": "settlements", "from": "2026-01-02", "to": "2026-01-01"}),
}


@pytest.mark.parametrize("message", REQUESTS)
def test_a_request_is_refused_with_its_own_words(shop: MerchantClient, message: str) -> None:
    path, fields = REQUESTS[message]
    reply = shop.put(path, **fields).body
    assert reply["status"] == 104, reply
    assert message in str(reply)


def test_a_link_of_a_name_that_is_taken_is_refused(shop: MerchantClient) -> None:
    link: dict[str, Any] = {"request": "paylink", "title": "Class", "custom_link": f"class-{shop.mid.lower()}"}
    assert shop.put("resources", **link).body["status"] == 200
    assert "taken: choose another" in str(shop.put("resources", **link).body)


def test_the_reference_of_a_closed_account_is_refused(
    shop: MerchantClient,
) -> None:
    asked: dict[str, Any] = {
        "request": "personalized_account",
        "name": "Bola Ade",
        "reference": "c-18",
        "email": "bola@example.com",
    }
    account = shop.put("resources", **asked).body
    number = account["data"]["accountNumber"]
    rejected: dict[str, Any] = {"action": "pay_account", "accountNumber": number, "amount": "10.00", "rejected": True}
    assert "left out: a personalized account takes any sum" in str(shop.put("sandbox", **rejected).body)
    closed = shop.put("resources", request="close_personalized_account", reference="c-18").body
    assert closed["status"] == 200, closed
    assert "another one: the account of this reference was closed" in str(shop.put("resources", **asked).body)


def test_no_more_faults_are_planned_than_are_kept(shop: MerchantClient) -> None:
    fault: dict[str, Any] = {"action": "fault", "rail": "bank", "kind": "timeout", "times": 1}
    replies = [shop.put("sandbox", **fault).body for _ in range(101)]
    assert [reply["status"] for reply in replies] == [200] * 100 + [104]
    assert "So many faults are planned already" in replies[-1]["message"]


def test_a_key_of_idempotency_has_1_to_255_characters(shop: MerchantClient) -> None:
    for size, is_within in IDEMPOTENCY_KEY.sides:
        headers = {"idempotency-key": "k" * size}
        body = shop.put("sandbox", headers=headers, action="fund_wallet", amount="1.00").body
        assert body["status"] == (200 if is_within else 104), size
        assert ("Idempotency-Key must be 1 to 255 ASCII characters" in str(body)) != is_within, size


def test_a_wrong_key_is_refused_with_what_to_check(shop: MerchantClient) -> None:
    stranger = MerchantClient(shop.connection, shop.mid, "another-key")
    message = stranger.put("resources", inquire="wallet").body["message"]
    assert message == "Merchant authentication failed; check the mid and key headers"


def test_every_refusal_is_reached_by_a_test() -> None:
    refusals = named_refusals(read_all("src/kasuwa"))
    unreached = {f"{refusal.module}.{refusal.name}" for refusal in refusals if not is_reached(refusal)}
    assert unreached == set(GUARDS)


def test_a_refusal_that_nothing_names_or_quotes_is_noticed() -> None:
    name, message, code = "FULL_" * 3, " ".join(word * 9 for word in "zyxw"), "_".join("zyxw")
    text = f"{name} = Refusal(INVALID_REQUEST, {message!r}, error_code={code!r})"
    [found] = named_refusals([Source("methods/x.py", text)])
    assert found == NamedRefusal("methods.x", name, message, code, (message,))
    assert not is_reached(found)
    # A code that two refusals have tells neither.
    both = named_refusals([Source("methods/x.py", text), Source("methods/y.py", text)])
    assert [one.code for one in both] == ["", ""]
    # So do words that two messages have.
    longer = f"LONGER = Refusal(INVALID_REQUEST, {message + ' end'!r})"
    [short, long] = named_refusals([Source("methods/x.py", text), Source("methods/y.py", longer)])
    assert (short.phrases, long.phrases) == ((), (message.partition(" ")[2] + " end",))
    assert list(phrases_of("one two three four five.")) == ["one two three four", "two three four five"]
