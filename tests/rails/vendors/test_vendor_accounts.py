"""Our account with a vendor is written with each order before it is sent. The order is sent, asked after and refunded
with that account, also after the keys have changed, and is neither failed nor sent again by the word of another one."""

import json
from datetime import timedelta

import pytest

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Needs, SandboxEffects
from kasuwa.core.routing import AccountAlias
from kasuwa.engine.batch import Submission
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, Unavailable
from kasuwa.rails.routing.vendor_accounts import KnownAccounts
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import Twin
from kasuwa.rails.vendor_rails import list_vendor_accounts
from kasuwa.rails.watch import vendor_accounts
from kasuwa.rails.watch.watch import RailWatch
from kasuwa.settings.settings import Settings
from tests.rails.vendors.two_vendors import Ground, Process, play, prepare_database, process_of
from tests.running import Deployments

NOT_FOUND = Answer(orders.NOT_FOUND, None, "")
PAID = Answer(orders.SUCCESSFUL, "00", "")


def is_believed(known: KnownAccounts, rail: str, account: str) -> bool:
    try:
        return known.confirm(rail, account, NOT_FOUND) is NOT_FOUND
    except Unavailable:
        return False


def test_missing_order_is_believed_from_its_own_account_alone() -> None:
    known = KnownAccounts({"paystack": "a"}, {("paystack", "former")})
    assert is_believed(known, "paystack", "a")
    assert is_believed(known, "paystack", "former")
    assert not is_believed(known, "paystack", "other")
    with pytest.raises(Unavailable) as caught:
        known.confirm("paystack", "other", NOT_FOUND)
    assert "KASUWA_RAIL_FORMER_ACCOUNTS" in caught.value.notice


@pytest.mark.parametrize("status", [orders.UNKNOWN, orders.UNREADABLE, orders.UNAVAILABLE])
def test_answer_that_does_not_find_the_order_proves_no_account(status: str) -> None:
    known = KnownAccounts({"paystack": "a"})
    answer = Answer(status, None, "")
    assert known.confirm("paystack", "b", answer) is answer
    assert (known.find("paystack", "b"), known.take_learned()) == (None, [])


def test_found_order_proves_that_only_the_key_is_another() -> None:
    known = KnownAccounts({"paystack": "c"})
    known.update([AccountAlias("paystack", "a", "b"), AccountAlias("monnify", "x", "c")])
    assert known.find("paystack", "b") is None
    assert known.confirm("paystack", "b", PAID) is PAID
    assert [known.find("paystack", account) for account in ("b", "a", "x")] == ["c", "c", None]
    assert known.take_learned() == [AccountAlias("paystack", "b", "c")]
    assert known.take_learned() == []


def test_account_follows_from_address_and_key_and_shows_neither() -> None:
    first = list_vendor_accounts(Settings(paystack_secret_key="sk_test_1", remote_base_url="https://rail.example"))
    assert set(first) == {"paystack", "remote"}
    assert first == list_vendor_accounts(
        Settings(paystack_secret_key="sk_test_1", remote_base_url="https://rail.example", remote_secret="x")
    )
    assert first["paystack"] != list_vendor_accounts(Settings(paystack_secret_key="sk_test_2"))["paystack"]
    other = Settings(paystack_secret_key="sk_test_1", paystack_base_url="http://127.0.0.1:1")
    assert first["paystack"] != list_vendor_accounts(other)["paystack"]
    assert "sk_test" not in str(first)


# --- with the database and the vendors -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(deployments: Deployments) -> tuple[str, str]:
    return prepare_database(deployments, "vendor-accounts")


async def report(process: Process) -> None:
    """Writes and reads the accounts, as every process does every few seconds."""
    await RailWatch(process.pool, list, lambda _: None, process.services.rail_choice.accounts).run_once()


class OtherAccount:
    """Another account with Paystack, in settings that have the first one as a former account, or not at all."""

    def __init__(self, ground: Ground) -> None:
        self.rules = PaystackRules("sk_test_2")
        self.twin = Twin(self.rules)
        self._ground = ground

    def settings(self, *, has_former: bool = True) -> Settings:
        former = {"rail": "paystack", "secret_key": "sk_test_1", "base_url": self._ground.paystack.url}
        return self._ground.settings(
            "paystack",
            paystack_secret_key="sk_test_2",
            paystack_base_url=self.twin.url,
            rail_former_accounts=json.dumps([former] if has_former else []),
        )

    async def __aenter__(self) -> "OtherAccount":
        await self.twin.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.twin.stop()

    def paid(self) -> tuple[int, int]:
        """Returns how many transfers the first and the other account have."""
        return len(self._ground.paystack_rules.transfers), len(self.rules.transfers)


async def account_of(process: Process, job: Job) -> tuple[str, str]:
    """Returns the account that is written with a transfer and with its job ("" if it has ended)."""
    row = await process.connection.fetchrow(
        "select t.rail_account, coalesce(j.rail_account, '') from transaction t left join scheduled_job j "
        "on j.subject = t.key where t.merchant_id = $1 and t.txn_ref = $2",
        job.merchant_id,
        job.reference,
    )
    return row[0], row[1]


@pytest.mark.parametrize("death", ["taken", "called"])
def test_order_stays_with_its_account_after_the_keys_have_changed(address: tuple[str, str], death: str) -> None:
    """The first process dies before or after it has sent the order. The next one has the keys of another account, and
    those of the first as a former one."""

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings("paystack"), merchant_id) as first:
            job = await first.take(f"stays-{death}")
            own = first.services.rail_choice.accounts.own["paystack"]
            assert await account_of(first, job) == (own, own), "written before anything is sent"
            if death == "called":
                await first.services.step_runner.call(job, first.services.clock.now())
        async with OtherAccount(ground) as other, process_of(ground, other.settings(), merchant_id) as second:
            assert await second.finish(job) == ("successful", "paystack")
            assert other.paid() == (1, 0)
            assert other.twin.count("/transfer") == 0, "the other account is not even asked"
            assert (await account_of(second, job))[0] == own
            later = await second.take(f"later-{death}")
            assert later.rail_account == second.services.rail_choice.accounts.own["paystack"] != own
            assert await second.finish(later) == ("successful", "paystack")
            assert other.paid() == (1, 1), "new orders go to the account of the settings"

    play(address, story)


def test_order_of_another_account_waits_and_is_not_sent_again(address: tuple[str, str]) -> None:
    """The process that has sent the order dies. The next one has the keys of another account, and only those."""

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings("paystack"), merchant_id) as first:
            job = await first.take("other-account")
            await first.services.step_runner.call(job, first.services.clock.now())
        async with OtherAccount(ground) as other:
            async with process_of(ground, other.settings(has_former=False), merchant_id) as second:
                assert await second.finish(job) == ("processing", "paystack")
                notices = await second.connection.fetch(
                    "select message from operator_notice where merchant_id = $1", merchant_id
                )
                assert "may have been sent with another account" in notices[0][0]
                # One that is found is this account's: only its key was replaced.
                other.rules.transfers |= ground.paystack_rules.transfers
                assert await second.finish(job) == ("successful", "paystack")
                await report(second)
                assert AccountAlias(
                    "paystack", job.rail_account, second.services.rail_choice.accounts.own["paystack"]
                ) in (await vendor_accounts.list_aliases(second.connection))
            assert other.twin.count("/transfer") == 0

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
            others = await vendor_accounts.list_others(second.connection, "paystack", "another-key", [])
            assert others
            await vendor_accounts.add_aliases(second.connection, others)
            await report(second)
            assert await second.finish(job) == ("successful", "paystack")
        assert ground.paid_by() == {"paystack": 1, "monnify": 0}

    play(address, story)


def test_order_that_never_left_is_given_the_account_of_the_settings(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        closed = "http://127.0.0.1:9"
        settings = ground.settings("paystack", paystack_base_url=closed)
        async with process_of(ground, settings, merchant_id) as first:
            job = await first.take("never-left")
            answer = await first.services.step_runner.call(job, first.services.clock.now())
            assert answer.is_unsent
            await first.services.step_runner.record_answer(job, first.merchant, answer)
        async with process_of(ground, ground.settings("paystack"), merchant_id) as second:
            assert await second.finish(job) == ("successful", "paystack")
            own = second.services.rail_choice.accounts.own["paystack"]
            assert (await account_of(second, job))[0] == own != job.rail_account
        assert ground.paid_by() == {"paystack": 1, "monnify": 0}

    play(address, story)


async def move_clock(process: Process, time: timedelta) -> None:
    """Moves the business time of the merchant, as `advance` of the sandbox does."""

    def decide(context: Context, rows: LoadedRows) -> Decision:
        return Decision(sandbox=SandboxEffects(clock=context.now + time))

    result = await process.services.writer.submit(Submission(process.merchant, Needs(), decide, bytes(32)))
    assert isinstance(result, Decision), result


def test_day_after_which_a_missing_order_fails_counts_with_its_own_account_alone(address: tuple[str, str]) -> None:
    """The clock moves by two days. The other account does not know the order and fails nothing; its own one does."""

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings("paystack"), merchant_id) as first:
            job = await first.take("two-days")
            await first.services.step_runner.call(job, first.services.clock.now())
        kept = dict(ground.paystack_rules.transfers)
        async with OtherAccount(ground) as other:
            async with process_of(ground, other.settings(has_former=False), merchant_id) as second:
                await second.finish(job)
                await move_clock(second, timedelta(days=2))
                assert await second.finish(job) == ("processing", "paystack")
            async with process_of(ground, other.settings(), merchant_id) as third:
                assert await third.finish(job) == ("successful", "paystack"), "its own account has it"
                missing = await third.take("missing")
                await third.services.step_runner.call(missing, third.services.clock.now())
            async with process_of(ground, other.settings(), merchant_id) as fourth:
                other.rules.transfers.clear()
                ground.paystack.add_fault("drop", "/transfer$", 50)
                other.twin.add_fault("drop", "/transfer$", 50)
                await fourth.finish(missing)
                await move_clock(fourth, timedelta(days=2))
                assert await fourth.finish(missing) == ("failed", "paystack")
            assert other.paid() == (len(kept), 0)

    play(address, story)


def test_database_refuses_another_account_once_an_order_may_have_left(address: tuple[str, str]) -> None:
    """A process that was paused beyond its lease writes an older view of the job, with another account."""

    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings("paystack"), merchant_id) as first:
            job = await first.take("fixed-account")
            await first.connection.execute("update scheduled_job set claims = 2 where key = $1", job.key)
            change = "update scheduled_job set rail_account = 'other', claims = 1 where key = $1"
            with pytest.raises(Exception, match="may have reached its account"):
                await first.connection.execute(change, job.key)
            assert await account_of(first, job) == (job.rail_account, job.rail_account)

    play(address, story)


def test_former_account_with_revoked_keys_does_not_pause_the_vendor(address: tuple[str, str]) -> None:
    async def story(ground: Ground, merchant_id: int) -> None:
        async with process_of(ground, ground.settings("paystack"), merchant_id) as first:
            job = await first.take("revoked")
            await first.services.step_runner.call(job, first.services.clock.now())
        async with OtherAccount(ground) as other, process_of(ground, other.settings(), merchant_id) as second:
            ground.paystack.add_fault("bad_gateway", "/transfer/verify", 50)
            assert await second.finish(job) == ("processing", "paystack")
            later = await second.take("not-paused")
            assert not second.services.rail_choice.monitors["paystack"].is_paused
            assert await second.finish(later) == ("successful", "paystack")
            assert other.paid() == (1, 1)

    play(address, story)
