"""The monthly fee by business time, and cards of merchants whose only wallet is in NGN.

Contract: #fx, virtualcard#create
"""

import asyncio
from collections.abc import Callable, Iterator

import asyncpg
import pytest

from kasuwa.merchants.merchants import add_merchant
from kasuwa.privacy.vault_keys import open_vault
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.virtualcard.card_client import BILLING, CardClient
from tests.running import Deployment
from tests.walk.bounds import UNPAID_FEES

FEES = "select p.amount, p.at from posting p join merchant m using (merchant_id) where m.mid = $1 and p.kind = $2"


def fee_days(card: CardClient) -> list[tuple[str, str]]:
    """Returns the fees of a card with their due times and statuses, oldest first."""
    lines = [line for line in card.records(from_date="2024-01-01") if line["narration"] == "Monthly Fee"]
    return [(line["dateCreated"][:16], line["status"]) for line in reversed(lines)]


def test_the_fee_falls_due_on_the_day_of_issue_at_midnight_in_lagos(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="2026-01-15T10:00:00+01:00")
    card = CardClient(shop, amount=10)
    shop.advance(until="2026-02-14T23:59:59+01:00")
    assert card.balance == 1_000
    assert shop.advance(seconds=1)["ran"] == {"virtualcard": 1}
    assert card.balance == 1_000 - 100 - 8
    assert card.record_summaries()[0] == ("Monthly Fee", 1.0, 0.0, "Successful")
    assert card.records()[0]["dateCreated"] == "2026-02-14T23:00:00.000Z"


@pytest.mark.parametrize(
    ("issued", "due"),
    [
        ("2026-01-31", ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]),
        ("2024-01-30", ["2024-02-29", "2024-03-30", "2024-04-30", "2024-05-30"]),
    ],
)
def test_a_month_that_is_too_short_is_paid_on_its_last_day_and_the_day_is_kept(
    open_shop: Callable[..., MerchantClient], issued: str, due: list[str]
) -> None:
    shop = open_shop(now=f"{issued}T12:00:00+01:00")
    card = CardClient(shop, currency="NGN", amount=5000)
    shop.advance(until=f"{due[-1]}T00:00:00+01:00")
    records = [line for line in card.records(from_date=issued) if line["narration"] == "Monthly Fee"]
    days = shop.put("virtualcard", action="transactions", reference=card.reference, from_date=issued).body
    assert days["total"] == 4 + 2 * len(due)
    assert len(records) == len(due)
    for day in due:
        assert len(card.records(from_date=day, to_date=day)) == 2, day


def test_three_unpaid_months_block_a_card_and_money_in_time_does_not(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="2026-01-15T10:00:00+01:00")
    card = CardClient(shop, amount=5)
    card.ask("withdraw", amount="3.93")  # 1.07 is left, a fee with its VAT is 1.08
    shop.advance(until="2026-03-15T00:00:00+01:00")
    assert (card.state, card.balance) == ("active", 107)
    card.ask("fund", amount="1.01")
    shop.advance(until="2026-06-14T00:00:00+01:00")
    assert (card.state, card.balance) == ("active", 100)
    shop.advance(until="2026-07-15T00:00:00+01:00")
    assert (card.state, card.balance) == ("blocked", 100)
    paid, unpaid = "Successful", "Failed"
    assert [status for _, status in fee_days(card)] == [unpaid, unpaid, paid, unpaid, unpaid, unpaid]
    assert card.buy("1")["bank_message"] == "The card is blocked"


def test_a_card_that_its_fees_blocked_has_three_months_again(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="2026-01-15T10:00:00+01:00")
    card = CardClient(shop, amount=5)
    card.ask("withdraw", amount="5")
    shop.advance(until="2026-04-15T00:00:00+01:00")
    assert card.state == "blocked"
    card.ask("unblock")
    for until, is_within in UNPAID_FEES.sides:
        shop.advance(until=until)
        assert card.state == ("active" if is_within else "blocked"), until


# --- a merchant without a USD wallet ------------------------------------------------------------------------------


@pytest.fixture
def plain(deployment: Deployment) -> Iterator[MerchantClient]:
    """A merchant as an operator adds one: no wallet until it is funded."""

    async def add() -> tuple[int, str, str]:
        connection = await asyncpg.connect(deployment.dsn)
        try:
            vault = await open_vault(connection, load_secret_key(read_settings({}, data=deployment.directory)))
            return await add_merchant(connection, vault, "Plain Stores")
        finally:
            await connection.close()

    _, mid, key = asyncio.run(add())
    with deployment.connect() as wire:
        shop = MerchantClient(wire, mid, key)
        shop.put("sandbox", action="fund_wallet", currency="NGN", amount="1000000.00")
        yield shop
    assert deployment.broken_invariants([mid]) == []


def test_a_dollar_card_is_funded_at_the_sell_rate_and_withdrawn_at_the_buy_rate(plain: MerchantClient) -> None:
    card = CardClient(plain, amount=100)
    spent = 100_000_000 - 154_000 * 102 - 154_000 * 15 // 100
    assert plain.wallets() == {"NGN": (spent, spent, 0)}
    assert card.get()["balance"] == "100.00"
    assert [line["currency"] for line in card.records()] == ["USD"] * 4
    card.ask("fund", amount="50")
    spent -= 154_000 * 51 + 154_000 * 8 // 100
    assert plain.wallet().balance == spent
    card.ask("withdraw", amount="20.01")
    spent += 150_000 * 2001 // 100
    assert plain.wallet().balance == spent
    txn_ref = card.buy("10")["txnRef"]
    card.ask("terminate")
    spent += 150_000 * 11_999 // 100
    assert plain.wallet().balance == spent
    card.refund(txn_ref)
    assert plain.wallet().balance == spent + 1_500_000


def test_a_dry_run_tells_the_naira_that_a_dollar_card_takes_and_gives_back(plain: MerchantClient) -> None:
    card = CardClient(plain, amount=10)
    for action, fields in (("fund", {"amount": "5.00"}), ("withdraw", {"amount": "3.00"}), ("terminate", {})):
        figure = {line["what"]: line for line in card.ask(action, dry_run=True, **fields)["explained"]}["wallet"]
        assert "the NGN wallet, at 1540.00 NGN for each USD that it pays and 1500.00" in figure["how"]
        before = plain.wallet().balance
        assert card.ask(action, **fields)["status"] == 200
        assert abs(plain.wallet().balance - before) == to_minor_units(figure["amount"])


def test_a_wallet_in_naira_that_is_short_makes_no_card(plain: MerchantClient) -> None:
    body = plain.put("virtualcard", action="create", billing=BILLING, amount=700, currency="USD").body
    assert body["status"] == 301
    assert plain.wallet().balance == 100_000_000


def test_a_wallet_in_dollars_is_used_from_when_there_is_one(plain: MerchantClient) -> None:
    card = CardClient(plain, amount=10)
    before = plain.wallet().balance
    plain.put("sandbox", action="fund_wallet", currency="USD", amount="5")
    card.ask("withdraw", amount="4")
    assert (plain.wallet("USD").balance, plain.wallet().balance) == (900, before)
    assert card.ask("fund", amount="8")["status"] == 301


def test_naira_purchases_of_a_dollar_card_come_back_to_a_naira_wallet(plain: MerchantClient) -> None:
    card = CardClient(plain, amount=10)
    txn_ref = card.buy("3000", currency="NGN")["txnRef"]
    assert card.balance == 800
    card.ask("terminate")
    before = plain.wallet().balance
    card.refund(txn_ref, amount="1500")
    assert plain.wallet().balance == before + 150_000
