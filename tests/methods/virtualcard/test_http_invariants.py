"""Violations of the card invariants are reported: each is made once by SQL."""

import pytest

from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

MINE = "merchant_id = (select merchant_id from merchant where mid = $1)"
EMPTY = "a terminated card is empty but for what is held and has no job, any other has one at most"
TOOK = "a card purchase took its amount from a card if it was paid, and gave no more back; a declined one nothing"


@pytest.mark.parametrize(
    ("plant", "mend", "invariant"),
    [
        ("virtual_card set state = 'terminated'", "virtual_card set state = 'active'", EMPTY),
        ("transaction set status = 'failed'", "transaction set status = 'successful'", TOOK),
        ("transaction set amount = 1001", "transaction set amount = 1000", TOOK),
        ("virtual_card_entry set refunded = 1001", "virtual_card_entry set refunded = 0", TOOK),
    ],
)
def test_a_violated_invariant_is_named(deployment: Deployment, plant: str, mend: str, invariant: str) -> None:
    shop = deployment.open_shop()
    with shop.connection:
        card = CardClient(shop)
        card.buy("10.00")
        assert deployment.broken_invariants([shop.mid]) == []
        deployment.fetch(f"update {plant} where {MINE}", shop.mid)
        assert [line for line in deployment.broken_invariants([shop.mid]) if invariant in line]
        deployment.fetch(f"update {mend} where {MINE}", shop.mid)
        # A trigger listed the transaction when it was planted as failed.
        deployment.fetch(f"delete from failed_transaction where {MINE}", shop.mid)
        assert deployment.broken_invariants([shop.mid]) == []
