"""What waits is mailed to those who may do something about it: gathered, once, and not to who made all of it."""

from typing import Any

import pytest

from kasuwa.jobs import people_notices
from kasuwa.people import mails
from tests.jobs.people_ground import CONSOLE, Ground, make_database, run
from tests.running import Deployments

MERCHANT = """
    with made as (
        insert into merchant (merchant_id, mid, name, settings) values ($1, $2, '<b>Ada</b> Stores', '{}') returning 1)
    insert into merchant_state (key, merchant_id) select $3, $1 from made
"""
WAITING = """
    insert into transfer_approval (key, merchant_id, txn_ref, order_ref, amount, state, detail, created_at, expires_at)
    values (decode(md5($2), 'hex'), $1, $2, $2, 150000, 'waiting', $3, now(), now() + interval '1 day')
"""
DISPUTE = """
    insert into dispute (key, merchant_id, dispute_id, number, txn_ref, method, currency, amount, fee, vat, covered,
        reason, plan_id, rail, rail_dispute_id, opened_at, due_at, state, events, files, trail)
    values (decode(md5($2::bigint::text), 'hex'), $1, 'DS' || $2::bigint, $2::bigint, 'none',
        'card', 'NGN', 100, 0, 0, 0, 'fraudulent',
        '', '',
        $2::bigint::text, now(), now() + $3::int * interval '1 day', 'needs_response', 1, 0, '[]')
"""
FAILING = """
    insert into failing_endpoint (merchant_id, endpoint_id, failing_since, off_at)
    values ($1, 1, now() - $2::int * interval '1 minute', case when $3 then now() end)
"""
PROPOSAL = """
    insert into approval (kind, proposal, reason, proposed_by, state) values ('rate', '{}', 'why', $1, 'open')
"""
NOTICE = "insert into operator_notice (merchant_id, reference, message, at) values ($1, 'x', 'See to it', now())"
HOUR_LATER = "update person_mail set created_at = created_at - interval '2 hours'"


@pytest.fixture(scope="module")
def dsn(deployments: Deployments) -> str:
    return make_database(deployments, "people_notices")


class Shop:
    """A merchant with an owner, somebody for finance, a developer and a reader."""

    number = 0

    def __init__(self, ground: Ground) -> None:
        Shop.number += 1
        self.ground = ground
        self.merchant_id = 1000 + Shop.number
        self.mid = f"GP{self.merchant_id:07d}"

    async def open(self) -> None:
        key = self.mid.encode()
        await self.ground.pool.execute(MERCHANT, self.merchant_id, self.mid, key)
        self.people = {
            role: await self.ground.add_person(f"{role}{self.merchant_id}@people.example", f"merchant:{role}", self.mid)
            for role in ("owner", "finance", "developer", "read-only")
        }

    async def add(self, statement: str, *values: Any) -> None:
        await self.ground.pool.execute(statement, self.merchant_id, *values)

    def maker(self, role: str) -> str:
        return f'{{"maker": ["{self.people[role].email}", 0, ["all"], 0, "{self.people[role].email}"], "reasons": []}}'


async def roles(shop: Shop, purpose: str) -> list[str]:
    by_email = {person.email: role for role, person in shop.people.items()}
    return sorted(by_email[mail.email] for mail in await shop.ground.outbox(shop.mid) if mail.purpose == purpose)


def test_transfers_that_wait_are_gathered_in_one_mail_to_those_who_may_approve(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        shop = Shop(ground)
        await shop.open()
        for n in range(3):
            await shop.add(WAITING, f"{shop.mid} {n}", shop.maker("read-only"))
        for _ in range(2):
            await ground.look()
        assert await roles(shop, mails.APPROVALS) == ["finance", "owner"]
        content = (await ground.outbox(shop.mid))[0].content
        assert content.subject == "Transfers wait for approval"
        assert "3 transfers wait at <b>Ada</b> Stores" in content.text
        assert "NGN 4,500.00" in content.text
        assert f"{CONSOLE}/transfers/waiting" in content.text
        assert "<b>" not in content.html

    run(dsn, work)


def test_a_new_transfer_is_mailed_when_an_hour_has_passed_and_not_before(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        shop = Shop(ground)
        await shop.open()
        await shop.add(WAITING, f"{shop.mid} first", shop.maker("developer"))
        await ground.look()
        await shop.add(WAITING, f"{shop.mid} second", shop.maker("developer"))
        await ground.look()
        assert await roles(shop, mails.APPROVALS) == ["finance", "owner"]
        await ground.pool.execute(HOUR_LATER)
        await ground.look()
        await ground.look()
        assert await roles(shop, mails.APPROVALS) == ["finance", "finance", "owner", "owner"]

    run(dsn, work)


def test_who_made_all_that_waits_is_not_asked_to_approve_it(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        shop = Shop(ground)
        await shop.open()
        await shop.add(WAITING, f"{shop.mid} own", shop.maker("finance"))
        await ground.look()
        assert await roles(shop, mails.APPROVALS) == ["owner"]

    run(dsn, work)


@pytest.mark.parametrize(("days", "count"), [(7, 1), (1, 2)])
def test_disputes_are_mailed_when_they_are_open_and_again_before_they_end(dsn: str, days: int, count: int) -> None:
    async def work(ground: Ground) -> None:
        shop = Shop(ground)
        await shop.open()
        await shop.add(DISPUTE, shop.merchant_id, days)
        await ground.look()
        await ground.pool.execute(HOUR_LATER)
        for _ in range(2):
            await ground.look()
        assert await roles(shop, mails.DISPUTES) == ["finance"] * count + ["owner"] * count

    run(dsn, work)


@pytest.mark.parametrize(
    ("minutes", "is_off", "receivers"),
    [(10, False, []), (70, False, ["developer", "owner"]), (10, True, ["developer", "owner"])],
)
def test_an_endpoint_is_mailed_once_it_failed_for_an_hour_or_was_disabled(
    dsn: str, minutes: int, is_off: bool, receivers: list[str]
) -> None:
    async def work(ground: Ground) -> None:
        shop = Shop(ground)
        await shop.open()
        await shop.add(FAILING, minutes, is_off)
        await ground.look()
        assert await roles(shop, mails.ENDPOINTS) == receivers

    run(dsn, work)


def test_operators_are_mailed_proposals_of_others_and_new_notices(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        admin = await ground.add_person("admin@operators.example")
        await ground.add_person("finance@operators.example", "operator:finance")
        await ground.add_person("reader@operators.example", "operator:read-only")
        await ground.pool.execute(PROPOSAL, admin.user_id)
        await ground.pool.execute(NOTICE, 1)
        for _ in range(2):
            await ground.look()
        found = sorted((mail.email.partition("@")[0], mail.purpose) for mail in await ground.outbox())
        assert found == [
            ("admin", mails.NOTICES),
            ("finance", mails.NOTICES),
            ("finance", mails.PROPOSALS),
        ]

    run(dsn, work)


def test_nobody_is_mailed_whose_row_was_changed_outside_of_the_service(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        shop = Shop(ground)
        await shop.open()
        change = "update console_user set email = 'thief@people.example' where user_id = $1"
        await ground.pool.execute(change, shop.people["owner"].user_id)
        await shop.add(WAITING, f"{shop.mid} one", shop.maker("developer"))
        await ground.look()
        assert [mail.email for mail in await ground.outbox(shop.mid)] == [shop.people["finance"].email]

    run(dsn, work)


def test_no_merchant_waits_behind_others(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_notices, "MAX_FOUND", 1)

    async def work(ground: Ground) -> None:
        shops = [Shop(ground) for _ in range(3)]
        for shop in shops:
            await shop.open()
            await shop.add(WAITING, f"{shop.mid} one", shop.maker("developer"))
        await ground.look()
        assert [await roles(shop, mails.APPROVALS) for shop in shops] == [["finance", "owner"]] * 3

    run(dsn, work)


def test_a_merchant_that_was_archived_mails_nobody(dsn: str) -> None:
    async def work(ground: Ground) -> None:
        shop = Shop(ground)
        await shop.open()
        await shop.add(WAITING, f"{shop.mid} one", shop.maker("developer"))
        await ground.pool.execute("update merchant set current = false where merchant_id = $1", shop.merchant_id)
        await ground.look()
        assert await ground.outbox(shop.mid) == []

    run(dsn, work)
