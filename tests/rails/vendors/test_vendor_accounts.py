"""Orders that were sent with another account at the vendor: they are not found with the keys of this one, and are
neither failed nor sent again."""

from datetime import UTC, datetime, timedelta

import pytest

from kasuwa.db import vendor_accounts
from kasuwa.db.vendor_accounts import AccountUse
from kasuwa.rail_choice import vendor_accounts_of
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, Unavailable
from kasuwa.rails.vendor_accounts import MARGIN, KnownAccounts
from kasuwa.settings import Settings
from kasuwa.twins.paystack import PaystackRules
from kasuwa.twins.server import Twin
from kasuwa.work.rail_watch import RailWatch
from tests.rails.vendors.two_vendors import Ground, Process, play, prepare_database, process_of
from tests.running import Deployments

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NOT_FOUND = Answer(ports.NOT_FOUND, None, "")


def is_believed(known: KnownAccounts, rail: str, sent_at: datetime | None) -> bool:
    try:
        return known.confirm(rail, sent_at, NOT_FOUND) is NOT_FOUND
    except Unavailable:
        return False


@pytest.mark.parametrize(
    ("sent_at", "believed"),
    [
        (NOON - HOUR, True),
        (NOON - MARGIN, False),
        (NOON + HOUR, False),
        (NOON + 2 * HOUR + MARGIN, False),
        (NOON + 3 * HOUR, True),
        (None, False),
    ],
)
def test_order_is_missing_only_if_no_other_account_was_used_then(sent_at: datetime | None, believed: bool) -> None:
    known = KnownAccounts({"paystack": "a", "monnify": "m"})
    assert is_believed(known, "paystack", sent_at), "nothing is known of other accounts"
    known.update([AccountUse("paystack", "b", NOON, NOON + 2 * HOUR), AccountUse("vtpass", "v", NOON, NOON)])
    assert is_believed(known, "paystack", sent_at) is believed
    assert is_believed(known, "monnify", sent_at)
    with pytest.raises(Unavailable) as caught:
        known.confirm("paystack", NOON, NOT_FOUND)
    assert "--same paystack" in caught.value.notice
    found = Answer(ports.PROCESSING, "09", "")
    assert known.confirm("paystack", sent_at, found) is found, "an order that is found is this account's"


def test_account_follows_from_address_and_key_and_shows_neither() -> None:
    first = vendor_accounts_of(Settings(paystack_secret_key="sk_test_1", remote_base_url="https://rail.example"))
    assert set(first) == {"paystack", "remote"}
    assert first == vendor_accounts_of(
        Settings(paystack_secret_key="sk_test_1", remote_base_url="https://rail.example", remote_secret="x")
    )
    assert first["paystack"] != vendor_accounts_of(Settings(paystack_secret_key="sk_test_2"))["paystack"]
    other = Settings(paystack_secret_key="sk_test_1", paystack_base_url="http://127.0.0.1:1")
    assert first["paystack"] != vendor_accounts_of(other)["paystack"]
    assert "sk_test" not in str(first)


# --- with the database and the vendors -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(deployments: Deployments) -> tuple[str, str]:
    return prepare_database(deployments, "vendor-accounts")


async def report(process: Process) -> None:
    """Writes and reads the accounts, as every process does every few seconds."""
    accounts = process.services.rail_choice.accounts
    await RailWatch(process.pool, list, lambda _: None, accounts.own, accounts.update).run_once()


def test_order_of_another_account_waits_and_is_not_sent_again(address: tuple[str, str]) -> None:
    """The process that has sent the order dies. The next one has the keys of another account."""

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings("paystack"), merchant_id) as first:
            await report(first)
            job = await first.take("other-account")
            await first.services.step_runner.call(job, first.services.clock.now())
        assert ground.paid_by() == {"paystack": 1, "monnify": 0}
        other_rules = PaystackRules("sk_test_2")
        other = Twin(other_rules)
        await other.start()
        try:
            settings = ground.settings("paystack", paystack_secret_key="sk_test_2", paystack_base_url=other.url)
            async with process_of(ground, settings, merchant_id) as second:
                await report(second)
                assert await second.finish(job) == ("processing", "paystack")
                notices = await second.connection.fetch(
                    "select message from operator_notice where merchant_id = $1", merchant_id
                )
                assert "may have been sent with another account" in notices[0][0]
                # One that is found is this account's: only its key was replaced.
                other_rules.transfers |= ground.paystack_rules.transfers
                assert await second.finish(job) == ("successful", "paystack")
            assert other.count("/transfer") == 0
        finally:
            await other.stop()

    play(address, story)


def test_order_counts_as_missing_once_the_account_is_named_the_same(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings("paystack"), merchant_id) as first:
            await report(first)
            job = await first.take("same-account")
        async with process_of(ground, ground.settings("paystack"), merchant_id) as second:
            accounts = second.services.rail_choice.accounts
            accounts.own["paystack"] = "another-key"
            await report(second)
            await report(second)
            uses = await vendor_accounts.list_uses(second.connection)
            assert sum(use.account == "another-key" for use in uses) == 1, "a report goes on with the row that is there"
            await second.connection.execute("update scheduled_job set claims = 2")
            assert await second.finish(job) == ("processing", "paystack")
            assert await vendor_accounts.forget_others(second.connection, "paystack", "another-key") >= 1
            await report(second)
            assert await second.finish(job) == ("successful", "paystack")
        assert ground.paid_by() == {"paystack": 1, "monnify": 0}

    play(address, story)
