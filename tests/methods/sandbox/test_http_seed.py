"""With KASUWA_SANDBOX_SEED and `now`, a fresh server replays the same requests with the same answers."""

from typing import Any

from tests.methods.virtualcard.holders import BILLING
from tests.running import NEWEST, Deployment, Deployments
from tests.work.eventlog import wait_until

SEED = "a seed of the tests"
ORDER = {"amount": "1500.00", "bankcode": "058"}

# The faults with a probability are what a seed must foretell besides the references.
SCRIPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("disburse", {"action": "transfer", "accountnumber": "0000000000", "orderRef": "one", **ORDER}),
    ("disburse", {"action": "transfer", "accountnumber": "0000000900", **ORDER}),
    ("disburse", {"action": "transfer", "accountnumber": "0000000500", **ORDER}),
    ("sandbox", {"action": "fault", "rail": "bank", "kind": "decline", "times": 8, "probability": 0.5}),
    *[("disburse", {"action": "transfer", "accountnumber": "0000000000", **ORDER})] * 8,
    ("disburse", {"action": "transfer", "type": "bulk", "data": [{"accountnumber": "0000000000", **ORDER}] * 3}),
    ("resources", {"inquire": "accountname", "accountnumber": "0040000008", "bankcode": "058"}),
    ("sandbox", {"action": "advance", "minutes": 1}),
    ("disburse", {"action": "verify", "txnRef": "one"}),
    ("resources", {"inquire": "wallet"}),
    ("virtualcard", {"action": "create", "billing": BILLING, "amount": 10, "currency": "USD"}),
    ("sandbox", {"action": "clock"}),
    ("disburse", {"action": "nonsense"}),
)

DUE_NOW = "select count(*) from job join merchant using (merchant_id) where mid = $1 and run_at <= now()"


def play(deployment: Deployment) -> list[tuple[int, bytes]]:
    """What is due at once is the worker's: it is let finish, so that `advance` finds the same each time."""
    shop = deployment.open_shop(now="2026-01-05T09:30:00+01:00")
    answers = []
    with shop.wire:
        for method, fields in SCRIPT:
            heard = shop.ask(method, fields)
            answers.append((heard.http, heard.raw))
            wait_until("the worker is done", lambda: deployment.fetch(DUE_NOW, shop.mid) == [(0,)])
    assert deployment.broken_laws([shop.mid]) == []
    return answers


def test_two_servers_with_one_seed_give_the_same_answers(deployments: Deployments) -> None:
    with (
        deployments.fresh("seed_one", KASUWA_SANDBOX_SEED=SEED) as one,
        deployments.fresh("seed_two", KASUWA_SANDBOX_SEED=SEED) as two,
    ):
        first, second = play(one), play(two)
    assert first == second
    assert first != play(deployments.on(NEWEST))
