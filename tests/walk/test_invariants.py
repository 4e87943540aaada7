"""Every invariant of the books reports the violations made for it. One that reports nothing would be useless."""

from collections.abc import Callable
from typing import Any

from kasuwa.ledger.invariants import INVARIANTS, Invariant
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.invariant_violations import NOW, VIOLATIONS, make_history


def offenders_of(law: Invariant) -> list[str]:
    return [harm for words, harms in VIOLATIONS.items() if law.description.startswith(words) for harm in harms]


def test_every_law_has_an_offender_and_every_offender_its_law() -> None:
    assert [law.description for law in INVARIANTS if not offenders_of(law)] == []
    for words in VIOLATIONS:
        assert len([law for law in INVARIANTS if law.description.startswith(words)]) == 1, words


def test_every_law_finds_what_breaks_it(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> None:
    shop = open_shop(now=NOW)
    make_history(shop, deployment)
    assert deployment.broken_invariants([shop.mid]) == []
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)

    async def look(connection: Any) -> list[tuple[str, str]]:
        overlooked = []
        planted = [(law, harm) for law in INVARIANTS for harm in offenders_of(law)]
        for law, harm in planted:
            attempt = connection.transaction()
            await attempt.start()
            try:
                await do_harm(connection, harm, merchant_id)
                if not await connection.fetch(law.query, [merchant_id]):
                    overlooked.append((law.description, harm))
            finally:
                await attempt.rollback()
        return overlooked

    assert deployment.run_on_connection(look) == []


async def do_harm(connection: Any, harm: str, merchant_id: int) -> None:
    """Executes a statement with the triggers disabled, which would refuse most of them."""
    await connection.execute("set local session_replication_role = replica")
    for statement in harm.split("; "):
        await connection.execute(statement, *([merchant_id] if "$1" in statement else []))
