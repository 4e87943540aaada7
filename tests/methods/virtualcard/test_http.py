"""Virtual cards over HTTP: the records of api.md to the letter, the wallet to the cent, states and repeats.

Contract: virtualcard#create
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.investments import savers
from tests.methods.virtualcard.card_client import BILLING, CardClient
from tests.running import Deployment
from tests.walk.bounds import LISTED_CARD_DAYS

OPENING_USD = 1_000_000
OPENING_NGN = 1_000_000_000
START = "2026-01-05T09:30:00+01:00"
REFERENCE = re.compile(r"KSW\|GVC\|1767601800\|[0-9A-Za-z]{22}")


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=START)


def is_luhn(pan: str) -> bool:
    digits = [int(sign) for sign in reversed(pan)]
    return sum(d if n % 2 == 0 else sum(divmod(2 * d, 10)) for n, d in enumerate(digits)) % 10 == 0


# --- creating ----------------------------------------------------------------------------------------------------


def test_a_new_card_is_shown_to_the_letter(shop: MerchantClient) -> None:
    data = CardClient(shop, amount="1234.5").data
    assert list(data) == [
        "reference",
        "balance",
        "currency",
        "cardpan",
        "maskedpan",
        "city",
        "state",
        "address",
        "postal_code",
        "cvv",
        "expiration",
        "card_type",
        "name_on_card",
        "card_owner",
        "status",
    ]
    assert REFERENCE.fullmatch(data["reference"])
    pan = data["cardpan"]
    assert re.fullmatch("400000[0-9]{10}", pan)
    assert is_luhn(pan)
    assert data["maskedpan"] == f"400000*******{pan[-4:]}"
    assert re.fullmatch("[0-9]{3}", data["cvv"])
    kept = {"city": "Lagos", "state": "Lagos State", "address": "12 Marina Road", "postal_code": "101241"}
    assert {name: data[name] for name in kept} == kept
    assert (data["balance"], data["currency"], data["expiration"]) == ("1,234.50", "USD", "2029-01")
    assert (data["card_type"], data["name_on_card"]) == ("visa", "Ada Obi")
    assert (data["card_owner"], data["status"]) == ("customer", "active")


def test_a_card_of_the_other_network_comes_from_its_range(shop: MerchantClient) -> None:
    data = CardClient(shop, card_type="mastercard").data
    assert data["cardpan"].startswith("520000")
    assert is_luhn(data["cardpan"])
    assert data["card_type"] == "mastercard"
    refused = shop.put("virtualcard", action="create", billing=BILLING, amount=5, currency="USD", card_type="verve")
    assert without_codes(refused.body["errors"]) == [{"field": "card_type", "reason": "one of visa, mastercard"}]


def test_creation_takes_amount_fee_and_vat_from_the_wallet_of_the_currency(shop: MerchantClient) -> None:
    dollars = CardClient(shop, amount="100.00")
    assert shop.wallet("USD").balance == OPENING_USD - 10_000 - 200 - 15
    assert shop.wallet("NGN").balance == OPENING_NGN
    naira = CardClient(shop, amount="5000", currency="NG")
    assert naira.data["currency"] == "NGN"
    assert shop.wallet("NGN").balance == OPENING_NGN - 500_000 - 20_000 - 1_500
    assert (dollars.balance, naira.balance) == (10_000, 500_000)


def test_a_new_card_has_its_funding_and_its_fee_on_record_newest_first(shop: MerchantClient) -> None:
    card = CardClient(shop, amount="100.00")
    assert card.record_summaries() == [
        ("Card Funding", 100.0, 0.0, "Successful"),
        ("VAT on Card Issuance Fee", 0.15, 0.0, "Successful"),
        ("Card Issuance Fee", 2.0, 0.0, "Successful"),
        ("Card Funding Debit", 100.0, 0.0, "Successful"),
    ]
    record = card.records()[0]
    ours = ["reference", "effect"]
    contract = ["id", "amount", "fee", "narration", "description", "dateCreated", "status", "currency"]
    assert list(record) == [*contract, *ours]
    assert [line["effect"] for line in card.records()] == [100.0, 0.0, 0.0, 0.0]
    assert isinstance(record["id"], int)
    assert (record["description"], record["currency"]) == ("Card Funding", "USD")
    assert record["dateCreated"] == "2026-01-05T08:30:00.000Z"
    assert len({line["id"] for line in card.records()}) == 4


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"currency": "GHS"}, "currency", "one of USD, NGN"),
        ({"currency": "EUR"}, "currency", "one of USD, NGN"),
        ({"amount": "4.99"}, "amount", "between 5.00 and 10000.00"),
        ({"amount": "10000.01"}, "amount", "between 5.00 and 10000.00"),
        ({"amount": "999.99", "currency": "NGN"}, "amount", "between 1000.00 and 5000000.00"),
        (
            {"amount": "1,000"},
            "amount",
            "digits with at most two decimals, above zero, at most 15 digits; leave out separators, as in 1500.00",
        ),
        ({"billing": {**BILLING, "name": None}}, "billing.name", "required"),
        ({"billing": {**BILLING, "postal_code": ""}}, "billing.postal_code", "1 to 20 characters, or a whole number"),
        ({"billing": None}, "billing", "required"),
        ({"country": "Nigeria"}, "country", "a country code such as NG"),
        (
            {"limits": {"per_day": "0"}},
            "limits.per_day",
            "digits with at most two decimals, above zero, at most 15 digits; it is zero",
        ),
        ({"limits": {"categories": ["541"]}}, "limits.categories.0", "a category code of four digits"),
    ],
)
def test_a_card_that_cannot_be_made_names_the_field(
    shop: MerchantClient, deployment: Deployment, change: dict[str, Any], field: str, reason: str
) -> None:
    fields = {"billing": BILLING, "amount": 100, "currency": "USD", **change}
    body = shop.put("virtualcard", action="create", **fields).body
    assert (body["status"], without_codes(body["errors"])) == (104, [{"field": field, "reason": reason}])
    assert shop.wallet("USD").balance == OPENING_USD
    assert (
        deployment.fetch("select 1 from virtual_card join merchant using (merchant_id) where mid = $1", shop.mid) == []
    )


def test_a_wallet_that_is_short_makes_no_card(shop: MerchantClient) -> None:
    body = shop.put("virtualcard", action="create", billing=BILLING, amount="9999.00", currency="USD").body
    assert (body["status"], "wallet" in body["message"]) == (301, True)
    assert shop.wallet("USD").balance == OPENING_USD


def test_a_repeated_creation_is_one_card_and_does_not_show_its_number_again(shop: MerchantClient) -> None:
    fields = {"action": "create", "billing": BILLING, "amount": 100, "currency": "USD"}
    first, again = (shop.put("virtualcard", headers={"idempotency-key": "one"}, **fields).body for _ in range(2))
    assert first["card_data"].pop("cardpan")
    assert first["card_data"].pop("cvv")
    assert again == first
    assert shop.wallet("USD").balance == OPENING_USD - 10_215


def test_a_number_is_masked_unless_it_is_asked_for_and_that_is_written_down(
    shop: MerchantClient, deployment: Deployment
) -> None:
    card = CardClient(shop)
    shown = card.get()
    assert (shown["cardpan"], shown["cvv"]) == (card.data["maskedpan"], "***")
    trail = (
        "select a.actor, a.action, a.subject, a.seq from audit_entry a join merchant m using (merchant_id) "
        "where m.mid = $1"
    )
    assert deployment.fetch(trail, shop.mid) == []
    assert card.get(reveal=True) == card.data
    assert [tuple(row) for row in deployment.fetch(trail, shop.mid)] == [
        (f"merchant {shop.mid}", "card number shown", card.reference, 1)
    ]


def test_number_and_cvv_are_nowhere_in_the_database(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop)
    card.buy("1.00", cardpan=card.data["cardpan"], cvv=card.data["cvv"])
    for table in (
        "virtual_card",
        "virtual_card_entry",
        "transaction",
        "scheduled_job",
        "event",
        "posting",
        "token_index",
        "audit_entry",
        "idempotency_record",
    ):
        for row in deployment.fetch(f"select t::text as said from {table} t"):
            assert card.data["cardpan"] not in row["said"]
            assert card.data["cardpan"].encode().hex() not in row["said"]


# --- funding, withdrawing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "fee", "vat"), [("50", 100, 8), ("100.00", 100, 8), ("100.01", 100, 8), ("250", 250, 19)]
)
def test_funding_takes_the_amount_and_its_fee(shop: MerchantClient, amount: str, fee: int, vat: int) -> None:
    card = CardClient(shop)
    before = shop.wallet("USD").balance
    assert card.ask("fund", amount=amount) == {"status": 200, "message": "Virtual card funded successfully"}
    minor = round(float(amount) * 100)
    assert shop.wallet("USD").balance == before - minor - fee - vat
    assert card.balance == 10_000 + minor
    assert card.record_summaries()[:3] == [
        ("Card Funding", minor / 100, fee / 100, "Successful"),
        ("VAT on Card Funding Fee", vat / 100, 0.0, "Successful"),
        ("Card Funding Debit", minor / 100, fee / 100, "Successful"),
    ]


def test_funding_a_naira_card_is_free(shop: MerchantClient) -> None:
    card = CardClient(shop, currency="NGN", amount=1000)
    before = shop.wallet().balance
    card.ask("fund", amount="2500.50")
    assert (shop.wallet().balance, card.get()["balance"]) == (before - 250_050, "3,500.50")


def test_withdrawing_gives_back_to_the_wallet(shop: MerchantClient) -> None:
    card = CardClient(shop)
    before = shop.wallet("USD").balance
    assert card.ask("withdraw", amount="30.25") == {"status": 200, "message": "Withdrawal Successful"}
    assert (shop.wallet("USD").balance, card.balance) == (before + 3_025, 6_975)
    assert card.record_summaries()[0] == ("Card Withdrawal", 30.25, 0.0, "Successful")
    assert card.ask("withdraw", amount="69.75")["status"] == 200
    assert card.balance == 0


def test_more_than_is_there_is_301_and_names_card_or_wallet(shop: MerchantClient) -> None:
    card = CardClient(shop)
    taken = card.ask("withdraw", amount="100.01")
    assert (taken["status"], taken["message"]) == (301, "The card does not cover the amount")
    given = card.ask("fund", amount="9800")
    assert (given["status"], "The wallet" in given["message"]) == (301, True)
    assert (card.balance, shop.wallet("USD").balance) == (10_000, OPENING_USD - 10_215)


def test_a_card_holds_no_more_than_its_tariff_allows(shop: MerchantClient) -> None:
    shop.put("sandbox", action="fund_wallet", currency="USD", amount="5000")
    card = CardClient(shop, amount="9000")
    refused = card.ask("fund", amount="1000.01")
    assert without_codes(refused["errors"]) == [{"field": "amount", "reason": "a card may hold at most 10000.00"}]
    assert without_codes(card.ask("fund", amount="0.49")["errors"]) == [
        {"field": "amount", "reason": "between 0.50 and 10000.00"}
    ]
    assert card.ask("fund", amount="1000")["status"] == 200
    assert card.get()["balance"] == "10,000.00"


# --- states -----------------------------------------------------------------------------------------------------


def test_blocking_and_unblocking(shop: MerchantClient) -> None:
    card = CardClient(shop)
    for _ in range(2):
        assert card.ask("block") == {"status": 200, "message": "Card blocked successfully"}
        assert card.state == "blocked"
    assert card.ask("fund", amount=10)["status"] == 104
    assert card.ask("withdraw", amount=10)["status"] == 200
    for _ in range(2):
        assert card.ask("unblock") == {"status": 200, "message": "Card unblocked successfully"}
        assert card.state == "active"
    assert card.ask("fund", amount=10)["status"] == 200


@pytest.mark.parametrize("blocked", [False, True])
def test_termination_empties_a_card_for_good(shop: MerchantClient, blocked: bool) -> None:
    card = CardClient(shop)
    if blocked:
        card.ask("block")
    before = shop.wallet("USD").balance
    assert card.ask("terminate") == {"status": 200, "message": "Card terminated successfully"}
    assert (shop.wallet("USD").balance, card.balance, card.state) == (before + 10_000, 0, "terminated")
    assert card.record_summaries()[0] == ("Card Termination", 100.0, 0.0, "Successful")
    for action in ("fund", "withdraw"):
        assert card.ask(action, amount=1)["message"] == "The card is terminated"
    for action in ("block", "unblock", "terminate"):
        assert card.ask(action)["status"] == 104
    assert card.ask("limits", limits={"per_day": 1})["status"] == 104
    assert shop.advance(days=90)["ran"] == {}


def test_what_is_not_a_card_of_this_merchant_answers_alike(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    card = CardClient(open_shop(now=START))
    unknown = {"status": 104, "message": "Invalid Card Reference"}
    for reference in (card.reference, card.reference[:-1] + "!", "card:x:y:USD", "KSW|GVC|1|x"):
        for action in ("get", "fund", "withdraw", "transactions", "block", "unblock", "terminate"):
            assert without_codes(shop.put("virtualcard", action=action, reference=reference, amount=1).body) == unknown
        assert without_codes(shop.put("sandbox", action="card_purchase", reference=reference, amount=1).body) == unknown
    stolen = shop.put("sandbox", action="card_purchase", cardpan=card.data["cardpan"], amount=1).body
    assert without_codes(stolen) == unknown
    assert card.balance == 10_000


# --- the list ---------------------------------------------------------------------------------------------------


def test_days_of_a_list_are_lagos_days_and_both_are_included(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="2026-01-05T23:30:00Z")  # already the 6th in Lagos
    card = CardClient(shop)
    shop.advance(until="2026-01-07T23:59:59+01:00")
    card.ask("withdraw", amount=1)
    shop.advance(seconds=1)
    card.ask("withdraw", amount=2)
    assert len(card.records(from_date="2026-01-06", to_date="2026-01-06")) == 4
    assert card.records(from_date="2026-01-05", to_date="2026-01-05") == []
    assert [line["amount"] for line in card.records(from_date="2026-01-07", end_date="2026-01-07")] == [1.0]
    assert [line["amount"] for line in card.records(from_date="2026-01-08")] == [2.0]
    assert len(card.records(to_date="2026-01-07T00:00:00")) == 5
    assert without_codes(card.ask("transactions", from_date="2026-01-08", to_date="2026-01-07")["errors"]) == [
        {"field": "to_date", "reason": "not before from_date"}
    ]
    assert card.ask("transactions", from_date="2026-02-30")["errors"][0]["field"] == "from_date"


def test_without_days_a_list_shows_the_last_thirty(shop: MerchantClient) -> None:
    card = CardClient(shop, currency="NGN", amount=1000)
    first, passed, made = card.record_summaries()[-1], 0, 0
    for days, is_within in LISTED_CARD_DAYS.sides:
        shop.advance(days=days - passed)
        passed = days
        listed = card.record_summaries()
        assert (first in listed) == is_within, days
        made = max(made, len(listed))
    fees = [("Monthly Fee", 50.0, 0.0, "Successful"), ("VAT on Monthly Fee", 3.75, 0.0, "Successful")]
    assert card.record_summaries() == fees
    assert len(card.records(from_date="2026-01-05")) == made + len(fees)


def test_a_list_is_paged(shop: MerchantClient) -> None:
    card = CardClient(shop)
    for amount in range(1, 6):
        card.ask("withdraw", amount=amount)
    page = card.ask("transactions", offset=1, limit=2)
    assert [line["amount"] for line in page["data"]] == [4.0, 3.0]
    assert (page["total"], page["offset"], page["limit"]) == (9, 1, 2)
    assert len(card.ask("transactions", limits=3)["data"]) == 3
    assert card.ask("transactions", limit=201)["status"] == 104


def test_a_client_leaves_when_their_cards_are_terminated(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = savers.enroll(shop)
    first, second = (CardClient(shop, currency="NGN", amount="5000", client_id=client_id) for _ in range(2))
    leave: dict[str, Any] = {"action": "update", "client_id": client_id, "status": "exited"}
    assert shop.put("clients", **leave).body["code"] == "client_card_open"
    assert "terminate it first" in deployment.run_refused_command("client", "erase", shop.mid, client_id, "--yes")
    assert first.ask("terminate")["status"] == 200
    assert shop.put("clients", **leave).body["code"] == "client_card_open"
    assert second.ask("terminate")["status"] == 200
    assert shop.put("clients", **leave).body["status"] == 200
    assert deployment.broken_invariants([shop.mid]) == []


def test_the_card_of_an_inactive_client_is_not_funded(shop: MerchantClient) -> None:
    client_id = savers.enroll(shop)
    card = CardClient(shop, currency="NGN", amount="5000", client_id=client_id)
    change: dict[str, Any] = {"action": "update", "client_id": client_id}
    assert shop.put("clients", **change, status="inactive").body["status"] == 200
    assert card.ask("fund", amount="1000")["code"] == "client_inactive"
    assert card.balance == 500_000
    assert shop.put("clients", **change, status="active").body["status"] == 200
    assert card.ask("fund", amount="1000")["status"] == 200
