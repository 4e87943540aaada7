"""Every invariant of the books reports the violations made for it. One that reports nothing would be useless."""

from collections.abc import Callable
from typing import Any

from kasuwa.audit.invariants.invariant import Invariant
from kasuwa.audit.invariants.ledger import INVARIANTS, VIOLATIONS_OF_MERCHANTS
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.invariant_violations import NOW, VIOLATIONS, make_history


def offenders_of(invariant: Invariant) -> list[str]:
    return [harm for words, harms in VIOLATIONS.items() if invariant.description.startswith(words) for harm in harms]


def test_every_invariant_has_a_violation_and_every_violation_one() -> None:
    assert [invariant.description for invariant in INVARIANTS if not offenders_of(invariant)] == []
    for words in VIOLATIONS:
        assert len([invariant for invariant in INVARIANTS if invariant.description.startswith(words)]) == 1, words


def test_every_invariant_reports_its_violations(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now=NOW)
    make_history(shop, deployment)
    assert deployment.broken_invariants([shop.mid]) == []
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)

    async def look(connection: Any) -> list[tuple[str, str]]:
        overlooked = []
        together = await connection.prepare(
            VIOLATIONS_OF_MERCHANTS
        )  # as the books of a merchant are audited, and after each test
        planted = [(invariant, harm) for invariant in INVARIANTS for harm in offenders_of(invariant)]
        for invariant, harm in planted:
            attempt = connection.transaction()
            await attempt.start()
            try:
                await do_harm(connection, harm, merchant_id)
                # One plan for all: planning takes ten times as long as the query.
                await connection.execute("set local plan_cache_mode = force_generic_plan")
                found = [INVARIANTS[n] for n, *_ in await together.fetch([merchant_id])]
                if not await connection.fetch(invariant.query, [merchant_id]) or invariant not in found:
                    overlooked.append((invariant.description, harm))
            finally:
                await attempt.rollback()
        return overlooked

    assert deployment.run_on_connection(look) == []


async def do_harm(connection: Any, harm: str, merchant_id: int) -> None:
    """Executes a statement with the triggers disabled, which would refuse most of them."""
    await connection.execute("set local session_replication_role = replica")
    for statement in harm.split("; "):
        await connection.execute(statement, *([merchant_id] if "$1" in statement else []))
