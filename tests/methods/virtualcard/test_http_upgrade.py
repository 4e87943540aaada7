"""The entries of cards whose merchants' clocks were moved, before and after an upgrade and a restart.

A version before migration 15 charged the VAT on a monthly fee without a line for it. Only clocks that were moved a
month or more had such fees. The upgrade adds the line. A list without days shows the last thirty, and so has two
entries where it had one: the fee and its VAT. A restart changes nothing.
"""

from pathlib import Path
from typing import Any

from kasuwa.db.migrate import known_migrations
from tests.merchant_client import MerchantClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment, Deployments, running_deployment

NAIRA = {"currency": "NGN", "amount": 1000}
LEFT_OUT = "delete from virtual_card_entry where narration = 'VAT on Monthly Fee'"
FEE = ("Monthly Fee", 50.0, 0.0, "Successful")
VAT = ("VAT on Monthly Fee", 3.75, 0.0, "Successful")


def list_entries(deployment: Deployment, cards: list[CardClient]) -> list[list[tuple[str, float, float, str]]]:
    """Lists each card's entries of the last thirty days, over a new connection."""
    found = []
    for card in cards:
        with deployment.connect() as wire:
            card.shop = MerchantClient(wire, card.shop.mid, card.shop.key)
            found.append(card.record_summaries())
    return found


def add_lines(deployment: Deployment) -> None:
    """Adds the lines that an earlier version left out, as its upgrade does."""
    [upgrade] = [migration for migration in known_migrations() if migration.version == 15]
    sql = "insert into card_record" + upgrade.sql.partition("insert into card_record")[2]

    async def run(connection: Any) -> None:
        await connection.execute(sql)

    deployment.run_on_connection(run)


def test_an_upgrade_adds_the_vat_of_fees_and_a_restart_nothing(deployments: Deployments, tmp_path: Path) -> None:
    dsn = deployments.new_database("cards_before_an_upgrade")
    with running_deployment(tmp_path, dsn) as deployment:
        still, running = deployment.open_shop(now="2026-01-05T09:00:00Z"), deployment.open_shop()
        cards = [CardClient(shop, **NAIRA) for shop in (still, running) for _ in range(2)]
        for shop in (still, running):
            shop.advance(days=32)
        assert list_entries(deployment, cards) == [[FEE, VAT]] * len(cards)
        deployment.fetch(LEFT_OUT)
        assert list_entries(deployment, cards) == [[FEE]] * len(cards)
        add_lines(deployment)
        assert list_entries(deployment, cards) == [[FEE, VAT]] * len(cards)
    with running_deployment(tmp_path, dsn) as deployment:
        assert list_entries(deployment, cards) == [[FEE, VAT]] * len(cards)
        assert deployment.broken_invariants() == []
