"""An approval whose process dies, or whose connection is lost, between doing what was proposed and recording that it
was decided: nothing is done twice, and nothing that was done is recorded as rejected."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psutil
import pytest

from tests.command_processes import is_service_process
from tests.console.test_operator_pages import propose
from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

MOVEMENT = {"debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "12.34"}
# Whoever marks an approval as decided waits here, after everything else, while a test holds the lock.
HOLD_UP = """
    create function hold_up() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(4242); return new; end $$;
    create trigger zz_hold_up before update on approval for each row execute function hold_up();
"""
WAITING = "select pid from pg_locks where locktype = 'advisory' and objid = 4242 and not granted"
STATE = "select state, decided_by, decided_at is not null from approval where approval_id = $1"
ENTRIES = (
    "select actor, action from audit_entry where subject = 'approval ' || $1::bigint "
    "and action not like 'proposed%' order by at"
)


@pytest.fixture(scope="module")
def held_up(deployments: Deployments) -> Iterator[Deployment]:
    with deployments.fresh("broken_off_approvals") as running:
        running.run_on_connection(lambda connection: connection.execute(HOLD_UP))
        yield running


@pytest.fixture
def shop(held_up: Deployment) -> Iterator[MerchantClient]:
    opened = held_up.open_shop()
    with opened.connection:
        yield opened


def lose_connection(running: Deployment, pid: int) -> None:
    assert running.fetch("select pg_terminate_backend($1)", pid) == [(True,)]


def kill_console(running: Deployment, pid: int) -> None:
    consoles = [
        process for process in psutil.process_iter() if is_service_process(process, "console", running.directory)
    ]
    assert consoles
    for process in consoles:
        process.kill()


def approve(running: Deployment, visitor: Visitor, number: int) -> PageReply | None:
    """None where the connection broke instead of an answer."""
    with suppress(OSError, EOFError, AssertionError):
        return visitor.post(f"/operator/approvals/{number}/approve")
    return None


def break_off(
    running: Deployment, visitor: Visitor, number: int, how: Callable[[Deployment, int], None] = lose_connection
) -> None:
    """Approves, and breaks it off just before the approval is marked as decided."""
    visitor.get("/operator/approvals")
    running.fetch("select pg_advisory_lock(4242)")
    try:
        with ThreadPoolExecutor(1) as apart:
            answer = apart.submit(approve, running, visitor, number)
            wait_until("it is about to be recorded", lambda: running.fetch(WAITING))
            how(running, running.fetch(WAITING)[0][0])
            seen = answer.result()
    finally:
        running.fetch("select pg_advisory_unlock(4242)")
    assert seen is None or seen.http >= 500
    wait_until("nobody holds it", lambda: not running.fetch("select 1 from pg_locks where objid = 4242"))
    wait_until("the console is there", lambda: is_there(running))
    assert running.fetch(STATE, number)[0][0] == "open"


def is_there(running: Deployment) -> bool:
    with suppress(OSError):
        return Visitor(running).get("/sign-in").http == 200
    return False


@pytest.mark.parametrize("how", [lose_connection, kill_console])
@pytest.mark.parametrize("then", ["look", "approve", "reject"])
def test_an_interrupted_approval_posts_once_and_ends_as_approved(
    held_up: Deployment, shop: MerchantClient, how: Callable[[Deployment, int], None], then: str
) -> None:
    finance, admin, other = (sign_in_as(held_up, f"operator:{role}") for role in ("finance", "admin", "admin"))
    before = shop.wallet().balance
    number = propose(finance, "posting", mid=shop.mid, **MOVEMENT)
    break_off(held_up, admin, number, how)
    assert shop.wallet().balance == before + 1_234
    [(approver, result)] = held_up.fetch(ENTRIES, number)
    assert result == "approved a manual posting"
    if then == "look":
        other.get("/operator/approvals")
    else:
        answer = other.post(f"/operator/approvals/{number}/{then}")
        assert answer.http == 303
    [(state, decided_by, has_time)] = held_up.fetch(STATE, number)
    assert (state, has_time) == ("approved", True)
    assert held_up.fetch("select email from console_user where user_id = $1", decided_by) == [(approver,)]
    assert shop.wallet().balance == before + 1_234
    assert held_up.fetch(ENTRIES, number) == [(approver, result)]
    assert other.post(f"/operator/approvals/{number}/approve").http == 404
    assert held_up.broken_invariants([shop.mid]) == []


def test_an_interrupted_approval_stands_after_its_approver_was_disabled(
    held_up: Deployment, shop: MerchantClient
) -> None:
    finance, admin, other = (sign_in_as(held_up, f"operator:{role}") for role in ("finance", "admin", "admin"))
    number = propose(finance, "posting", mid=shop.mid, **MOVEMENT)
    break_off(held_up, admin, number)
    disable = (
        "update console_user set disabled_at = now() from audit_entry where subject = $1 "
        "and email = actor and action like $2"
    )
    held_up.fetch_as_service(disable, f"approval {number}", "approved%")
    assert other.get("/operator/approvals").http == 200
    assert held_up.fetch(STATE, number)[0][0] == "approved"


def test_a_late_approval_does_not_make_a_rejected_posting(held_up: Deployment, shop: MerchantClient) -> None:
    finance, admin = (sign_in_as(held_up, f"operator:{role}") for role in ("finance", "admin"))
    before = shop.wallet().balance
    number = propose(finance, "posting", mid=shop.mid, **MOVEMENT)
    assert finance.post(f"/operator/approvals/{number}/reject").http == 303
    reopen = "update approval set state = 'open', decided_by = null, decided_at = null where approval_id = $1"
    held_up.fetch_as_service(reopen, number)
    answer = admin.post(f"/operator/approvals/{number}/approve")
    assert "Another operator decided it before you" in admin.get(answer.place).words
    assert (held_up.fetch(STATE, number)[0][0], shop.wallet().balance) == ("rejected", before)


def test_the_database_refuses_to_reject_a_posting_that_was_made(held_up: Deployment, shop: MerchantClient) -> None:
    finance, admin = (sign_in_as(held_up, f"operator:{role}") for role in ("finance", "admin"))
    number = propose(finance, "posting", mid=shop.mid, **MOVEMENT)
    break_off(held_up, admin, number)
    with pytest.raises(Exception, match="decided otherwise"):
        held_up.fetch("update approval set state = 'rejected', decided_by = proposed_by where approval_id = $1", number)


def rate_of(running: Deployment, shop: MerchantClient) -> Any:
    return running.fetch("select count(*) from exchange_rate where currency = 'KES'")


def tariff_of(running: Deployment, shop: MerchantClient) -> Any:
    return running.fetch("select settings::text from merchant where mid = $1", shop.mid)


def people_of(running: Deployment, shop: MerchantClient) -> Any:
    return running.fetch("select email from console_user where email = 'new@example.com'")


@pytest.mark.parametrize(("kind", "look"), [("rate", rate_of), ("tariff", tariff_of), ("person", people_of)])
def test_an_interrupted_approval_of_another_kind_changes_nothing(
    held_up: Deployment, shop: MerchantClient, kind: str, look: Callable[[Deployment, MerchantClient], Any]
) -> None:
    proposer, admin = (sign_in_as(held_up, "operator:admin") for _ in range(2))
    if kind == "person":
        proposer.get("/team")
        assert proposer.post("/team", email="new@example.com", role="operator:support").http == 303
        [(number,)] = held_up.fetch("select max(approval_id) from approval")
    elif kind == "rate":
        number = propose(proposer, "rate", currency="KES", buy="11.50", sell="12.25")
    else:
        number = propose(proposer, "tariff", mid=shop.mid, tariff='{"vat_percent_on_fees": "5"}')
    before = look(held_up, shop)
    break_off(held_up, admin, number)
    assert look(held_up, shop) == before
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert look(held_up, shop) != before
    assert held_up.fetch(STATE, number)[0][0] == "approved"
