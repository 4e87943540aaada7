"""Limits by tier of the client, over HTTP: what is refused, what is held, and what becomes of it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.clients.tiered import enroll_in, raise_to, turn_on, view_tier
from tests.methods.investments.held import begin_deposit, finish_deposit
from tests.methods.investments.savers import NOW, balance, cash_out, invest, make_deposit, open_savings
from tests.methods.payment.payment_client import card
from tests.methods.virtualcard.card_client import BILLING, CardClient
from tests.running import Deployment


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def fault(body: Any) -> tuple[int, str]:
    return body["status"], body["message"].removeprefix("amount: ")


def hold(shop: MerchantClient, tier: int = 1) -> tuple[str, str, str]:
    """Holds 40,000.00 above the balance of tier 1. Returns the client, the savings and the payment."""
    client_id = enroll_in(shop, tier)
    savings_id = open_savings(shop, client_id)
    turn_on(shop)
    txn_ref = begin_deposit(shop, savings_id, "40000.00")
    for _ in range(6):
        assert make_deposit(shop, savings_id, "50000.00")["status"] == 200
    finish_deposit(shop, txn_ref)
    return client_id, savings_id, txn_ref


def held_events(shop: MerchantClient, txn_ref: str) -> list[str]:
    events = shop.put("resources", inquire="events", txnRef=txn_ref).body["data"]
    return [event["payload"]["step"] for event in reversed(events) if event["payload"]["kind"] == "held_deposit"]


def test_without_the_setting_no_limit_applies(shop: MerchantClient) -> None:
    client_id = enroll_in(shop, 0)
    savings_id = open_savings(shop, client_id, "900000.00")
    assert cash_out(shop, savings_id, client_id, "800000.00")["status"] == 200
    assert view_tier(shop, client_id) is None


@pytest.mark.parametrize(
    ("tier", "single", "whole", "missing"),
    [
        (0, "0.00", "0.00", ["phone", "dob", "photo", "bvn_or_nin"]),
        (1, "50000.00", "300000.00", ["bvn_verified"]),
        (2, "100000.00", "500000.00", ["addresses", "identification"]),
    ],
)
def test_view_says_the_tier_its_limits_and_what_the_next_one_needs(
    shop: MerchantClient, tier: int, single: str, whole: str, missing: list[str]
) -> None:
    client_id = enroll_in(shop, tier)
    turn_on(shop)
    shown = view_tier(shop, client_id)
    assert (shown["tier"], shown["limits"]["single_deposit"], shown["limits"]["balance"]) == (tier, single, whole)
    assert (shown["next"]["tier"], shown["next"]["missing"]) == (tier + 1, missing)
    assert shown["used"] == {"balance": "0.00", "today": "0.00", "held": []}
    raise_to(shop, client_id, tier + 1)
    assert view_tier(shop, client_id)["tier"] == tier + 1


def test_tier_3_has_no_next_and_only_a_daily_limit(shop: MerchantClient) -> None:
    client_id = enroll_in(shop, 3)
    turn_on(shop)
    shown = view_tier(shop, client_id)
    assert shown["limits"] == {"single_deposit": None, "balance": None, "daily": "5000000.00"}
    assert "next" not in shown
    assert make_deposit(shop, open_savings(shop, client_id), "6000000.00")["status"] == 200


def test_a_national_identification_number_stands_in_for_the_bvn_in_tier_1(shop: MerchantClient) -> None:
    facts = {"phone": "08031234567", "dob": "1990-04-17", "photo": "ab" * 32}
    client_id = enroll_in(shop, 0, **facts, identification={"type": "nin", "number": "12345678901"})
    turn_on(shop)
    assert view_tier(shop, client_id)["tier"] == 1


@pytest.mark.parametrize("method", ["wallet", "card"])
def test_a_deposit_above_a_limit_is_refused_before_it_is_paid(shop: MerchantClient, method: str) -> None:
    client_id = enroll_in(shop, 1)
    savings_id = open_savings(shop, client_id)
    turn_on(shop)
    given: dict[str, Any] = {"card": card(auth="PIN")} if method == "card" else {}
    request = {"savings_id": savings_id, "payment_method": method, **given}
    for dry_run in (True, False):
        refused = invest(shop, "deposit", **request, amount="50000.01", dry_run=dry_run)
        assert fault(refused) == (104, "beyond the limits of tier 1: a deposit is at most 50000.00")
        assert refused["errors"][0]["code"] == "beyond_tier_limit"
    assert invest(shop, "deposit", **request, amount="50000.00")["status"] == 200


def test_the_balance_limit_counts_all_savings_of_the_client(shop: MerchantClient) -> None:
    client_id = enroll_in(shop, 1)
    first, second = open_savings(shop, client_id, "260000.00"), open_savings(shop, client_id)
    turn_on(shop)
    words = "beyond the limits of tier 1: the client may hold at most 300000.00, and holds 260000.00"
    assert fault(make_deposit(shop, second, "40000.01")) == (104, words)
    assert make_deposit(shop, second, "40000.00")["status"] == 200
    assert cash_out(shop, first, client_id, "50000.00")["status"] == 200
    assert make_deposit(shop, second, "50000.00")["status"] == 200
    assert view_tier(shop, client_id)["used"] == {"balance": "300000.00", "today": "50000.00", "held": []}


@pytest.mark.parametrize("method", ["cash", "transfer", "cashcode"])
def test_a_day_is_paid_out_up_to_its_limit_and_the_next_day_anew(shop: MerchantClient, method: str) -> None:
    client_id = enroll_in(shop, 1)
    savings_id = open_savings(shop, client_id, "250000.00")
    turn_on(shop)
    first = cash_out(shop, savings_id, client_id, "30000.00", method)
    assert first["status"] in (200, 202), first
    words = "beyond the limits of tier 1: at most 50000.00 is paid out in a day, of which 30000.00 was today"
    for dry_run in (True, False):
        refused = cash_out(shop, savings_id, client_id, "20000.01", method, dry_run=dry_run)
        assert fault(refused) == (104, words)
    shop.put("sandbox", action="advance", seconds=14 * 3600 + 29 * 60)
    assert fault(cash_out(shop, savings_id, client_id, "20000.01", method)) == (104, words)
    shop.put("sandbox", action="advance", seconds=60)
    assert view_tier(shop, client_id)["used"]["today"] == "0.00"
    assert cash_out(shop, savings_id, client_id, "50000.00", method)["status"] in (200, 202)


def test_a_transfer_that_fails_and_a_code_that_ends_unused_do_not_count(shop: MerchantClient) -> None:
    bank = {"bank_code": "058", "account_number": "0000000500"}
    client_id = enroll_in(shop, 1, bankAccount=bank)
    savings_id = open_savings(shop, client_id, "250000.00")
    turn_on(shop)
    assert cash_out(shop, savings_id, client_id, "30000.00", "transfer")["txnStatus"] == "failed"
    assert view_tier(shop, client_id)["used"]["today"] == "0.00"
    code = cash_out(shop, savings_id, client_id, "30000.00", "cashcode")
    assert view_tier(shop, client_id)["used"]["today"] == "30000.00"
    assert shop.put("cashcode", action="cancel", orderRef=code["txnRef"]).body["status"] == 200
    assert view_tier(shop, client_id)["used"]["today"] == "0.00"


def test_a_deposit_that_is_paid_above_the_limit_is_held_and_then_goes_back(
    shop: MerchantClient, deployment: Deployment
) -> None:
    client_id, savings_id, txn_ref = hold(shop)
    assert balance(shop, savings_id) == 30_000_000
    assert view_tier(shop, client_id)["used"]["held"] == [txn_ref]
    assert held_events(shop, txn_ref) == ["held"]
    assert deployment.broken_invariants([shop.mid]) == []
    shop.put("sandbox", action="advance", days=7)
    assert held_events(shop, txn_ref) == ["held", "returned"]
    assert (balance(shop, savings_id) >= 30_000_000, view_tier(shop, client_id)["used"]["held"]) == (True, [])
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_held_deposit_is_released_when_the_client_reaches_the_next_tier(
    shop: MerchantClient, deployment: Deployment
) -> None:
    client_id, savings_id, txn_ref = hold(shop)
    raise_to(shop, client_id, 2)
    shop.put("sandbox", action="advance", seconds=1)
    assert (balance(shop, savings_id), held_events(shop, txn_ref)) == (34_000_000, ["held", "released"])
    shop.put("sandbox", action="advance", days=8)
    assert held_events(shop, txn_ref) == ["held", "released"]
    assert deployment.broken_invariants([shop.mid]) == []


def test_savings_and_their_client_stay_while_a_deposit_is_held(shop: MerchantClient) -> None:
    client_id, savings_id, _ = hold(shop)
    turn_on(shop, tiers=[{"tier": 1, "daily": "unlimited", "single_deposit": "1.00"}])
    assert cash_out(shop, savings_id, client_id, "300000.00")["status"] == 200
    assert invest(shop, "view_savings", savings_id=savings_id)["data"]["state"] == "active"
    left = shop.put("clients", action="update", client_id=client_id, status="exited").body
    assert left["status"] == 104
    shop.put("sandbox", action="advance", days=7)
    assert balance(shop, savings_id) == 0
    assert view_tier(shop, client_id)["used"]["held"] == []


def test_fifty_deposits_at_once_never_exceed_the_balance(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll_in(shop, 1)
    savings = [open_savings(shop, client_id) for _ in range(5)]
    turn_on(shop)

    def ask(place: int, do: Callable[[MerchantClient, str], Any]) -> Any:
        with deployment.connect() as wire:
            return do(MerchantClient(wire, shop.mid, shop.key), savings[place % 5])

    def pay_in(teller: MerchantClient, savings_id: str) -> Any:
        return make_deposit(teller, savings_id, "10000.00")

    def take_out(teller: MerchantClient, savings_id: str) -> Any:
        return cash_out(teller, savings_id, client_id, "2000.00")

    with ThreadPoolExecutor(10) as pool:
        replies = list(pool.map(lambda place: ask(place, pay_in), range(50)))
    assert sorted(reply["status"] for reply in replies) == [104] * 20 + [200] * 30
    assert view_tier(shop, client_id)["used"]["balance"] == "300000.00"
    with ThreadPoolExecutor(10) as pool:
        taken = list(pool.map(lambda place: ask(place, take_out), range(50)))
    assert sorted(reply["status"] for reply in taken) == [104] * 25 + [200] * 25
    assert deployment.broken_invariants([shop.mid]) == []


# --- personalized accounts ------------------------------------------------------------------------------------------


def ask_account(shop: MerchantClient, **fields: str) -> Any:
    owner: dict[str, Any] = {"name": "Ada Obi", "email": "ada@example.com", **fields}
    return shop.put("resources", request="personalized-accounts", **owner).body


def open_account(shop: MerchantClient, client_id: str, reference: str = "ada") -> str:
    opened = ask_account(shop, reference=reference, client_id=client_id)
    assert opened["status"] == 200, opened
    return str(opened["data"]["accountNumber"])


def pay_account(shop: MerchantClient, number: str, amount: str) -> Any:
    return shop.put("sandbox", action="pay_account", accountNumber=number, amount=amount).body


def test_an_account_is_opened_for_a_client_that_exists(shop: MerchantClient) -> None:
    assert ask_account(shop, reference="nobody", client_id="CL1")["code"] == "client_not_found"


def test_a_transfer_into_a_clients_account_above_the_limit_is_held_and_goes_back(
    shop: MerchantClient, deployment: Deployment
) -> None:
    client_id = enroll_in(shop, 1)
    number = open_account(shop, client_id)
    assert pay_account(shop, number, "900000.00")["message"] == "Paid"
    turn_on(shop)
    before = shop.wallet()
    arrived = pay_account(shop, number, "50000.01")
    assert arrived["message"] == "Held: beyond the limits of tier 1: a deposit is at most 50000.00"
    assert (arrived["txnStatus"], shop.wallet()) == ("successful", before)
    assert held_events(shop, arrived["txnRef"]) == ["held"]
    assert shop.put("clients", action="update", client_id=client_id, status="exited").body["status"] == 104
    assert deployment.broken_invariants([shop.mid]) == []
    shop.put("sandbox", action="advance", days=7)
    assert held_events(shop, arrived["txnRef"]) == ["held", "returned"]
    assert shop.wallet() == before
    assert deployment.broken_invariants([shop.mid]) == []
    assert pay_account(shop, number, "50000.00")["message"] == "Paid"


def test_a_held_transfer_reaches_the_wallet_when_the_tier_rises(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll_in(shop, 1)
    number = open_account(shop, client_id)
    turn_on(shop)
    before = shop.wallet()[0]
    arrived = pay_account(shop, number, "90000.00")
    raise_to(shop, client_id, 2)
    shop.put("sandbox", action="advance", seconds=1)
    assert held_events(shop, arrived["txnRef"]) == ["held", "released"]
    assert shop.wallet()[0] == before + 9_000_000
    assert view_tier(shop, client_id)["used"]["held"] == []
    assert deployment.broken_invariants([shop.mid]) == []


# --- virtual cards --------------------------------------------------------------------------------------------------


def ask_card(shop: MerchantClient, client_id: str, amount: str, currency: str = "NGN") -> Any:
    request: dict[str, Any] = {
        "billing": BILLING,
        "amount": amount,
        "currency": currency,
        "country": "NG",
        "client_id": client_id,
    }
    return shop.put("virtualcard", action="create", **request).body


def test_a_clients_card_is_in_naira_and_of_a_client_that_is_active(shop: MerchantClient) -> None:
    client_id = enroll_in(shop, 1)
    assert ask_card(shop, client_id, "100.00", "USD")["errors"][0]["code"] == "client_card_currency"
    assert ask_card(shop, "CL1", "5000.00")["code"] == "client_not_found"
    assert shop.put("clients", action="update", client_id=client_id, status="inactive").body["status"] == 200
    assert ask_card(shop, client_id, "5000.00")["code"] == "client_inactive"


def test_what_funds_a_clients_card_is_a_deposit(shop: MerchantClient) -> None:
    client_id = enroll_in(shop, 1)
    open_savings(shop, client_id, "230000.00")
    turn_on(shop)
    assert fault(ask_card(shop, client_id, "50000.01")) == (
        104,
        "beyond the limits of tier 1: a deposit is at most 50000.00",
    )
    card = CardClient(shop, client_id=client_id, amount="40000.00", currency="NGN")
    words = "beyond the limits of tier 1: the client may hold at most 300000.00, and holds 270000.00"
    assert fault(card.ask("fund", amount="30000.01")) == (104, words)
    assert card.ask("fund", amount="30000.00")["status"] == 200
    assert view_tier(shop, client_id)["used"]["balance"] == "300000.00"


def test_purchases_and_authorizations_count_for_the_day_with_cash_outs(
    shop: MerchantClient, deployment: Deployment
) -> None:
    client_id = enroll_in(shop, 1)
    savings_id = open_savings(shop, client_id, "100000.00")
    spender = CardClient(shop, client_id=client_id, amount="90000.00", currency="NGN")
    assert spender.buy("1000.00")["txnStatus"] == "successful"
    turn_on(shop)
    bought = spender.buy("20000.00")
    assert bought["txnStatus"] == "successful"
    held: dict[str, Any] = {"action": "card_authorize", "reference": spender.reference}
    assert shop.put("sandbox", **held, amount="10000.00").body["status"] == 200
    assert cash_out(shop, savings_id, client_id, "10000.00")["status"] == 200
    declined = spender.buy("10000.01")
    assert (declined["txnStatus"], declined["bank_message"]) == ("failed", "Exceeds what the client may spend in a day")
    assert spender.records()[0]["declineReason"] == "over_client_limit"
    assert cash_out(shop, savings_id, client_id, "10000.01")["status"] == 104
    assert spender.refund(bought["txnRef"])["status"] == 200
    assert view_tier(shop, client_id)["used"]["today"] == "40000.00"
    assert spender.buy("10000.00")["txnStatus"] == "successful"
    assert deployment.broken_invariants([shop.mid]) == []


def test_what_a_capture_takes_above_its_authorization_counts_for_the_day(shop: MerchantClient) -> None:
    client_id = enroll_in(shop, 1)
    spender = CardClient(shop, client_id=client_id, amount="90000.00", currency="NGN")
    turn_on(shop)
    authorize: dict[str, Any] = {"action": "card_authorize", "reference": spender.reference, "amount": "10000.00"}
    held = shop.put("sandbox", **authorize).body["txnRef"]
    assert view_tier(shop, client_id)["used"]["today"] == "10000.00"
    assert shop.put("sandbox", action="card_capture", txnRef=held, amount="12000.00").body["txnStatus"] == "successful"
    assert view_tier(shop, client_id)["used"]["today"] == "12000.00"
    smaller = shop.put("sandbox", **authorize).body["txnRef"]
    assert shop.put("sandbox", action="card_capture", txnRef=smaller, amount="1.00").body["txnStatus"] == "successful"
    assert view_tier(shop, client_id)["used"]["today"] == "22000.00"


def test_a_lost_dispute_of_a_held_deposit_pays_the_payer_once(shop: MerchantClient, deployment: Deployment) -> None:
    _, _, txn_ref = hold(shop)
    opened = shop.put("sandbox", action="dispute", txnRef=txn_ref, amount="15000.00", reason="fraudulent").body
    assert opened["status"] == 200, opened
    lost: dict[str, Any] = {"dispute_id": opened["data"]["dispute_id"], "outcome": "lost"}
    assert shop.put("sandbox", action="dispute_outcome", **lost).body["status"] == 200
    before = shop.wallet()[0]
    shop.put("sandbox", action="advance", days=7)
    assert held_events(shop, txn_ref) == ["held", "returned"]
    assert shop.wallet()[0] == before + 1_500_000
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_deposit_that_fits_when_its_time_is_over_is_released(shop: MerchantClient) -> None:
    client_id, savings_id, txn_ref = hold(shop)
    assert cash_out(shop, savings_id, client_id, "40000.00")["status"] == 200
    shop.put("sandbox", action="advance", days=7)
    assert held_events(shop, txn_ref) == ["held", "released"]


def test_a_held_deposit_is_shown_and_released_after_the_limits_were_turned_off(shop: MerchantClient) -> None:
    client_id, savings_id, txn_ref = hold(shop)
    assert shop.put("sandbox", action="client_tiers", is_on=False).body["status"] == 200
    shown = shop.put("clients", action="view", client_id=client_id).body
    assert ("tier" in shown, shown["held"]) == (False, [txn_ref])
    shop.put("sandbox", action="advance", days=7)
    assert (balance(shop, savings_id) >= 34_000_000, held_events(shop, txn_ref)) == (True, ["held", "released"])
    assert "held" not in shop.put("clients", action="view", client_id=client_id).body
