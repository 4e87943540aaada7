"""Products, grace periods, reschedules and top-ups over HTTP: the books, portfolios of past days, events and lists.

Contract: loans#products, loans#grace, loans#reschedule, loans#top-up
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.loan_products.test_products import PRODUCT
from tests.methods.loans.lending_client import FAILING, PENDING, START, LendingClient
from tests.methods.loans.test_http_portfolio import PLAIN, WITH_INTEREST
from tests.methods.loans.test_http_reverse import events_of
from tests.running import Deployment

CAPITALIZED = {"interest": 2, "capitalize": True}


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


def portfolio(bank: LendingClient, **fields: Any) -> Any:
    return bank.loans("portfolio", **fields)["data"]


def reschedule(bank: LendingClient, loan_id: str, **fields: Any) -> Any:
    return bank.loans("reschedule", loan_id=loan_id, reason="The harvest failed", **fields)


def steps_of(bank: LendingClient, loan_id: str) -> list[str]:
    return [event["step"] for event in events_of(bank, loan_id)]


def ask_at_once(bank: LendingClient, deployment: Deployment, requests: list[dict[str, Any]]) -> list[int]:
    """Sends requests at the same time, and returns their statuses in order of size."""

    def ask(fields: dict[str, Any]) -> int:
        with deployment.connect() as wire:
            return int(LendingClient(wire, bank.mid, bank.key).loans(**fields)["status"])

    with ThreadPoolExecutor(len(requests)) as pool:
        return sorted(pool.map(ask, requests))


# --- products ---------------------------------------------------------------------------------------------------------


def test_a_product_is_made_changed_and_closed_with_its_loans_counted(bank: LendingClient) -> None:
    product = bank.loans("create_product", **PRODUCT)["data"]
    product_id, client_id = product["product_id"], bank.client()
    requested = bank.loans("request", client_id=client_id, product_id=product_id)["data"]
    assert (requested["product_id"], requested["amount"]) == (product_id, "1000.00")
    other = bank.loans("request", client_id=client_id, product_id=product_id, period=12)["data"]["loan_id"]
    bank.loans("process", loan_id=other, status="approve")
    bank.lend()
    changed = bank.loans("update_product", product_id=product_id, name="Traders")["data"]
    assert (changed["name"], changed["code"]) == ("Traders", "MW-12")
    [listed] = bank.loans("list_products", state="open")["data"]
    assert listed["loans"] == {"requested": 1, "active": 1, "in_arrears": 0, "closed": 0, "lent": "1000.00"}
    assert bank.loans("view_product", product_id=product_id)["data"] == listed
    assert [loan["loan_id"] for loan in bank.loans("list", product_id=product_id)["data"]] == [
        other,
        requested["loan_id"],
    ]
    groups = portfolio(bank, by="product")["groups"]
    assert {group["name"]: group["loans"] for group in groups} == {product_id: 1, None: 1}
    assert bank.loans("close_product", product_id=product_id)["data"]["state"] == "closed"
    refused = bank.loans("request", client_id=client_id, product_id=product_id)
    assert (refused["status"], refused["code"]) == (104, "product_closed")
    assert bank.loans("list_products", state="open")["total"] == 0
    payloads = [line["payload"] for line in bank.put("resources", inquire="events", limit=50).body["data"]]
    steps = [one["step"] for one in reversed(payloads) if one["kind"] == "loan_product"]
    assert steps == ["created", "changed", "closed"]


def test_one_of_two_products_with_the_same_code_is_made(bank: LendingClient, deployment: Deployment) -> None:
    made = [{"action": "create_product", **PRODUCT, "name": name} for name in ("Ada", "Bola")]
    assert ask_at_once(bank, deployment, made) == [104, 200]
    assert bank.loans("list_products")["total"] == 1


# --- grace and reschedules --------------------------------------------------------------------------------------------


def test_capitalized_interest_is_principal_in_the_portfolio_from_its_day_on(bank: LendingClient) -> None:
    loan_id = bank.lend(**{**WITH_INTEREST, "period": 5}, grace=CAPITALIZED)
    days = {}
    for hours in (0, 24 * 27, 24, 24 * 40):
        bank.advance(hours=hours)
        days[bank.now()[:10]] = portfolio(bank)
    assert [one["principal"] for one in days.values()] == ["1000.00", "1000.00", "1100.00", "1210.00"]
    assert {one["period"]["collected"] for one in days.values()} == {"0.00"}
    for day, shown in days.items():
        assert portfolio(bank, as_of=day) == shown
    [line] = bank.loans("list")["data"]
    assert line["outstanding"] == bank.view(loan_id)["outstanding"]
    narrations = {line["narration"] for line in bank.loans("statement", loan_id=loan_id)["data"]}
    assert {"interest capitalized", "principal capitalized"} <= narrations


@pytest.mark.parametrize("grace", [{"principal": 1}, {"interest": 2}, CAPITALIZED, {"first_due": "2026-03-20"}])
def test_a_list_says_what_the_loan_says_on_every_day_of_a_grace(bank: LendingClient, grace: dict[str, Any]) -> None:
    loan_id = bank.lend(**{**WITH_INTEREST, "period": 5}, grace=grace)
    for hours in (24 * 10, 24 * 18, 24 * 20, 24 * 30):
        bank.advance(hours=hours)
        [line] = bank.loans("list")["data"]
        assert line["outstanding"] == bank.view(loan_id)["outstanding"]


def test_capitalized_arrears_leave_the_portfolio_of_before_as_it_was(bank: LendingClient) -> None:
    loan_id = bank.lend(**WITH_INTEREST)
    bank.advance(hours=24 * 29)
    late = portfolio(bank)
    late_on = bank.now()[:10]
    assert late["par1"]["principal"] == "1000.00"
    bank.advance(hours=24)
    shown = reschedule(bank, loan_id, capitalize_arrears=True, extra_installments=2, dry_run=True)
    done = reschedule(bank, loan_id, capitalize_arrears=True, extra_installments=2)
    assert (done["data"], done["data"]["state"]) == (shown["data"], "active")
    cured = portfolio(bank)
    assert (cured["par1"]["principal"], cured["principal"], cured["period"]["collected"]) == ("0.00", "1100.00", "0.00")
    assert portfolio(bank, as_of=late_on) == late
    loan = bank.view(loan_id)
    [earlier] = loan["schedules"]
    assert (earlier["reason"], earlier["schedule"][0]["state"]) == ("The harvest failed", "late")
    assert [line["total"] for line in earlier["schedule"]] == ["350.00", "325.00", "300.00", "275.00"]
    assert len(loan["schedule"]) == 6
    bank.advance(hours=24 * 40)
    assert portfolio(bank, as_of=late_on) == late
    assert steps_of(bank, loan_id) == ["late", "rescheduled", "late"]


def test_a_guaranteed_loan_is_rescheduled_and_its_guarantee_does_not_grow(bank: LendingClient) -> None:
    terms: dict[str, Any] = {"interestSettings": {"interestRate": "0", "interestFrequency": "annualized"}, "period": 12}
    guarantor = bank.client()
    savings = bank.put("investments", action="create_savings", name="Bola", client_id=guarantor, **terms).body
    savings_id = savings["data"]["savings_id"]
    bank.put("investments", action="deposit", savings_id=savings_id, payment_method="wallet", amount="900.00")
    loan_id = bank.lend(**WITH_INTEREST)
    pledge = {"loan_id": loan_id, "client_id": guarantor, "savings_id": savings_id, "amount": "500.00"}
    bank.loans("guarantee", **pledge)
    bank.advance(hours=24 * 30)
    reschedule(bank, loan_id, capitalize_arrears=True, extra_installments=2)
    [held] = bank.view(loan_id)["guarantees"]
    assert (held["held"], held["shortfall"]) == ("500.00", "0.00")
    bank.repay(loan_id, amount="600.00")
    [held] = bank.view(loan_id)["guarantees"]
    assert held["held"] < "500.00"


# --- top-ups ----------------------------------------------------------------------------------------------------------


def test_a_loan_is_topped_up_in_one_commit(bank: LendingClient) -> None:
    old = bank.lend(**WITH_INTEREST)
    bank.loans("collateral", loan_id=old, description="Tricycle", value="850000.00")
    bank.advance(hours=24 * 14)
    shown = bank.loans("top_up", loan_id=old, amount="2000.00", dry_run=True)
    done = bank.loans("top_up", loan_id=old, amount="2000.00")
    new = done["data"]
    assert (new["tops_up"], new["schedule"], done["txnStatus"]) == (old, shown["data"]["schedule"], "successful")
    closed = bank.view(old)
    assert (closed["state"], closed["topped_up_by"]) == ("closed_repaid", new["loan_id"])
    sent = bank.put("disburse", action="verify", txnRef=done["txnRef"]).body
    assert sent["amount"] == "950.00"
    assert [one["state"] for one in closed["collateral"]] == ["returned"]
    assert [one["description"] for one in bank.view(new["loan_id"])["collateral"]] == ["Tricycle"]
    figures = portfolio(bank)
    assert (figures["loans"], figures["principal"], figures["period"]["collected"]) == (1, "2000.00", "0.00")
    assert steps_of(bank, old) == ["topped_up"]


def test_a_top_up_that_fails_or_waits_leaves_the_old_loan(bank: LendingClient) -> None:
    for account, state in ((FAILING, "approved"), (PENDING, "disbursing")):
        old = bank.request(bank.client(), **WITH_INTEREST)["data"]
        bank.loans("process", loan_id=old["loan_id"], status="approve")
        client = bank.view(old["loan_id"])["client_id"]
        details = {"bankAccount": {"account_number": account, "bank_code": "058"}}
        bank.put("clients", action="update", client_id=client, data=details)
        reply = bank.loans("top_up", loan_id=old["loan_id"], amount="2000.00")
        assert reply["data"]["state"] == state
        assert bank.view(old["loan_id"])["state"] == "active"
        again = bank.loans("top_up", loan_id=old["loan_id"], amount="2000.00")
        assert again["code"] == "top_up_in_progress"


def test_of_two_top_ups_at_once_one_is_made(bank: LendingClient, deployment: Deployment) -> None:
    old = bank.lend(**WITH_INTEREST)
    asked = [{"action": "top_up", "loan_id": old, "amount": amount} for amount in ("2000.00", "2001.00")]
    assert ask_at_once(bank, deployment, asked) == [104, 200]
    assert portfolio(bank)["loans"] == 1


def test_a_charge_of_a_day_that_has_come_is_in_the_payoff_of_the_list(bank: LendingClient) -> None:
    charge = {"name": "Insurance", "amount": "10.00", "when": "named_day", "due": "2026-04-15"}
    loan_id = bank.lend(**PLAIN, charges=[charge])
    reschedule(bank, loan_id, first_due="2026-04-10", **{"from": "2026-01-31"})
    for day, payoff in (("2026-04-14", "1000.00"), ("2026-04-15", "1010.00")):
        bank.advance(until=f"{day}T12:00:00+01:00")
        [listed] = bank.loans("list")["data"]
        assert listed["outstanding"] == bank.view(loan_id)["outstanding"]
        assert listed["outstanding"]["payoff"] == payoff
