"""A request that fails after its first commit: its reply never denies what is durable.

The service runs in the test's own process, so that a failure can be made at one exact moment: between the commit of a
request's decision and the commit of the rail's answer. Every row of the action tables that calls a rail after its
commit is tested.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    an outage after the first commit is answered as pending           ("nothing was changed")
    so is a bug in the step's call or in its rule                     ("nothing was changed")
    so is a step whose rule refuses to record the rail's answer       (the refusal was the reply)
"""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from kasuwa.api.dispatch import Dispatch, DispatchServices
from kasuwa.api.outcome import OUTCOME_UNKNOWN, UNREACHABLE
from kasuwa.api.replies import HttpReply
from kasuwa.api.routes import Envelope, Route, make_routes
from kasuwa.boot.api import make_admin_operations
from kasuwa.boot.composition import Services
from kasuwa.core.action import AdminCommand
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Refusal
from kasuwa.jobs.leases import Claimed
from kasuwa.jobs.steps import StepRunner
from kasuwa.jobs.worker import Worker
from kasuwa.methods.tables import index_steps, list_methods
from kasuwa.pages.checkout import CheckoutPayments, PageReads
from kasuwa.pages.router import CheckoutPages
from kasuwa.postgres.connections import open_operator_pool
from kasuwa.postgres.merchant_rows import MerchantReader
from kasuwa.settings.settings import read_settings
from tests.database_proxy import DatabaseProxy
from tests.merchant_client import MerchantClient, RawReply, without_codes
from tests.methods.payment.test_http_pages import ask_card
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import ACTION_ROWS, NOW, ActionRow, prepare_example, send_examples
from tests.walk.test_tenancy import everything_of
from tests.webhooks.event_log import wait_until

TABLE = make_routes(list_methods("test"))
OPEN = frozenset({"pending", "processing"})
# Jobs of a merchant that the worker has or may take.
UNFINISHED = """
    select count(*) from scheduled_job j join merchant m using (merchant_id)
    where m.mid = $1 and (j.run_at <= now() or j.leased_until > now())
"""

# How long writes wait for the database once it is away. Before that they have the service's own timeout, so that a busy
# machine does not make the first commit fail.
OUTAGE_TIMEOUT_SECONDS = 0.3

CALLED_BY_STEPS = ("bank", "card", "debit", "mobile", "biller")

Fail = Callable[["LocalService"], None]


# --- a service in this process --------------------------------------------------------------------------------


class FailingRail:
    """A rail that answers as usual; then something fails before the answer can be recorded."""

    def __init__(self, rail: Any, fail: Callable[[], None]) -> None:
        self._rail = rail
        self._fail = fail

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._rail, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def call(*arguments: Any, **named: Any) -> Any:
            answer = await found(*arguments, **named)
            self._fail()
            return answer

        return call


class Local(MerchantClient):
    """A merchant whose requests go straight to a dispatch in this process."""

    def __init__(self, shop: MerchantClient, local: "LocalService") -> None:
        super().__init__(shop.connection, shop.mid, shop.key)
        self._local = local

    def send(self, method: str, body: Any, *, verb: str = "PUT", headers: Mapping[str, str] | None = None) -> RawReply:
        return self._local.answer(method, {**self.headers, **(headers or {})}, body)


class LocalService:
    def __init__(self, deployment: Deployment, dsn: str) -> None:
        self._deployment = deployment
        self._dsn = dsn
        self._runner = asyncio.Runner()
        # Kinds of the jobs that requests have run.
        self.ran: list[str] = []

    def open(self, fail: Fail, rule: Any) -> None:
        self._runner.run(self._open(fail, rule))

    async def _open(self, fail: Fail, rule: Any) -> None:
        environment = {"KASUWA_DATABASE_URL": self._dsn, "KASUWA_DATA": str(self._deployment.directory)}
        services = self._services = await Services.build(read_settings(environment), self._dsn)
        services.writer.start()
        await services.catalogue_cache.refresh()
        self._operators = await open_operator_pool(self._dsn)

        failing = {name: FailingRail(getattr(services.rails, name), partial(fail, self)) for name in CALLED_BY_STEPS}
        steps = index_steps(services.methods)
        if rule is not None:
            steps = {kind: msgspec.structs.replace(step, decide=rule) for kind, step in steps.items()}
        rails = msgspec.structs.replace(services.rails, **failing)
        stepper = StepRunner(services.writer, rails, steps, services.vault, services.metrics, services.readers)
        self.dispatch = Dispatch(
            DispatchServices(
                directory=services.merchant_directory,
                writer=services.writer,
                reader=services.readers,
                steps=self,
                rails=services.rails,
                admin_operations=make_admin_operations(services, self._operators),
                vault=services.vault,
                environment="test",
            )
        )
        self._stepper = stepper
        self._table = make_routes(services.methods)
        reads = PageReads(services.reader, partial(MerchantReader, services.lists))
        self._visits = CheckoutPages(
            CheckoutPayments(reads, services.vault, services.merchant_directory, self.dispatch, "http://pay")
        )

    def shorten_timeout(self) -> None:
        """Makes writes wait only OUTAGE_TIMEOUT_SECONDS from now on."""
        self._services.writer.timeout_seconds = OUTAGE_TIMEOUT_SECONDS

    async def run(self, job: Any, merchant: Any, now: Any, secrets: Any = None) -> Any:
        """Runs a step and records its kind."""
        self.ran.append(job.kind)
        return await self._stepper.run(job, merchant, now, secrets)

    def answer(self, method: str, headers: Mapping[str, str], body: bytes) -> RawReply:
        path = self._table[f"/{method}"]
        answered = self._runner.run(self._answer(path, dict(headers), body))
        return RawReply(answered.http_status, dict(answered.headers), answered.body, {})

    async def _answer(self, path: Route, headers: dict[str, str], body: bytes) -> HttpReply:
        merchant = await self.dispatch.authenticate(path, headers, lambda: "127.0.0.1")
        if isinstance(merchant, HttpReply):
            return merchant
        return await self.dispatch.answer(path, headers, body, merchant)

    def run_in_worker(self, claimed: Claimed) -> None:
        worker = Worker(self._operators, self._stepper, self._services.merchant_directory, self._services.writer.clock)
        self._runner.run(self._run_claimed(worker, claimed))

    async def _run_claimed(self, worker: Worker, claimed: Claimed) -> None:
        await worker._run_job(claimed, await self._services.merchant_directory.get_by_id(claimed.job.merchant_id))

    def visit(self, path: str, **fields: str) -> Any:
        return self._runner.run(self._visits.serve("POST", path, urlencode(fields).encode()))

    def close(self) -> None:
        self._runner.run(self._close())
        self._runner.close()

    async def _close(self) -> None:
        await self._services.close()
        await self._operators.close()


@contextmanager
def local_service(deployment: Deployment, dsn: str, fail: Fail, rule: Any = None) -> Iterator[LocalService]:
    local = LocalService(deployment, dsn)
    local.open(fail, rule)
    try:
        yield local
    finally:
        local.close()


def raise_bug(*_: Any, **__: Any) -> Any:
    raise KeyError("a bug")


def refuse(*_: Any, **__: Any) -> Any:
    return Refusal(ERROR, "No; try again")


@contextmanager
def failing(deployment: Deployment, how: str) -> Iterator[LocalService]:
    """A service that fails in one way between a request's two commits."""
    with DatabaseProxy(deployment.dsn) as cable:

        def cut(local: LocalService) -> None:
            local.shorten_timeout()
            cable.cut()

        fail, rule = {
            "outage": (cut, None),
            "bug in the call": (raise_bug, None),
            "bug in the rule": (no_failure, raise_bug),
            "rule refuses": (no_failure, refuse),
        }[how]
        with local_service(deployment, cable.dsn, fail, rule) as local:
            try:
                yield local
            finally:
                cable.restore()


def no_failure(_: LocalService) -> None:
    """Nothing fails."""


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


# --- the rows that go on after their commit -------------------------------------------------------------------

# Rows whose example runs a job right after its commit. The test below keeps the list complete.
FOLLOWED_UP = frozenset(
    {
        "bills-pay",
        "disburse-transfer",
        "investments-deposit",
        "investments-validate",
        "loans-process",
        "loans-process_group_loan",
        "loans-repay",
        "loans-top_up",
        "loans-validate",
        *(f"payment-charge-{kind}" for kind in ("account", "bank_transfer", "card", "mobile_money", "phone", "qrpay")),
        "payment-charge-token",
        "payment-charge-ussd",
        "payment-initiate-card",
        "payment-refund",
        "payment-validate",
        "resources-personalized-accounts",
        "disburse-approve",
        "resources-close_personalized_account",
        "resources-personalized_account",
    }
)
HOW = ("outage", "bug in the call", "bug in the rule", "rule refuses")
# An outage is tried on every row. For the other failures the row makes no difference to dispatch.
CASES = [
    pytest.param(row, how, id=f"{row.title}-{how.replace(' ', '-')}")
    for row in ACTION_ROWS
    for how in HOW
    if row.title in FOLLOWED_UP and (how == "outage" or row.title in ("disburse-transfer", "payment-validate"))
]


def test_the_rows_with_a_follow_up_are_all_listed(deployment: Deployment, shop: MerchantClient) -> None:
    with local_service(deployment, deployment.dsn, no_failure) as local:
        here = NotingShop(shop, local)
        send_examples(here)
        assert here.followed_up == FOLLOWED_UP


class NotingShop(Local):
    """Records the rows whose requests ran a job."""

    def __init__(self, shop: MerchantClient, local: LocalService) -> None:
        super().__init__(shop, local)
        self.followed_up: set[str] = set()

    def send_fields(
        self, method: str, fields: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> RawReply:
        before = len(self._local.ran)
        reply = super().send_fields(method, fields, headers=headers)
        if len(self._local.ran) > before:
            self.followed_up.add(title_of(method, fields))
        return reply


def title_of(method: str, fields: Mapping[str, Any]) -> str:
    """Returns the title of the row that a request selects."""
    path = TABLE[f"/{method}"]
    action = path.select_action(msgspec.convert(dict(fields), Envelope))
    assert action is not None
    assert not isinstance(action, Refusal)
    return next(row.title for row in ACTION_ROWS if row.action is action)


@pytest.mark.parametrize(("row", "how"), CASES)
def test_a_failure_after_the_first_commit_is_not_denied(
    deployment: Deployment, shop: MerchantClient, row: ActionRow, how: str
) -> None:
    fields = prepare_example(shop, row)
    before = everything_of(deployment, shop)
    with failing(deployment, how) as local:
        reply = Local(shop, local).send_fields(row.method, fields)
    assert len(local.ran) == 1
    assert everything_of(deployment, shop) != before, "the first commit is durable"
    check_open(row, reply)


def check_open(row: ActionRow, reply: RawReply) -> None:
    """Asserts that the reply has the action's reply type and an open state."""
    body = reply.body
    if row.method == "resources":
        # An account: being opened, or opened by the worker meanwhile.
        assert (reply.http, body["status"], "data" in body) in ((200, 202, False), (200, 200, True)), body
        return
    assert (reply.http, body["status"]) == (200, 200), body
    assert msgspec.to_builtins(msgspec.json.decode(reply.raw, type=row.action.reply)) == body
    if row.method == "loans" and row.action.name == "process":
        assert body["data"]["state"] == "disbursing", body
        return
    if row.method == "loans" and row.action.name == "process_group_loan":
        assert {line["state"] for line in body["data"]["loans"]} == {"disbursing"}, body
        return
    assert body["txnStatus"] in OPEN, body
    assert body["txnRef"], body


@pytest.mark.parametrize("how", HOW)
def test_a_failure_after_a_payers_answer_is_not_denied_on_the_page(
    deployment: Deployment, shop: MerchantClient, how: str
) -> None:
    asked = ask_card(shop)
    with failing(deployment, how) as local:
        page = local.visit(asked.path, decision="approve", otp="123456")
    assert local.ran == ["payment.validate"]
    assert page.http == 503
    assert b"Do not pay again" in page.body
    assert "Nothing was" not in page.body.decode()
    assert asked.verified()["txnStatus"] == "pending"


def test_a_repeat_under_the_idempotency_key_is_pending_too(deployment: Deployment, shop: MerchantClient) -> None:
    [row] = [row for row in ACTION_ROWS if row.title == "payment-charge-token"]
    fields, headers = prepare_example(shop, row), {"idempotency-key": "one"}
    with failing(deployment, "bug in the rule") as local:
        first = Local(shop, local).send_fields(row.method, fields, headers=headers)
    again = shop.send_fields(row.method, fields, headers=headers)
    assert first.body["txnStatus"] == "pending"
    assert again.body["txnRef"] == first.body["txnRef"]


# --- before the first commit, and commands of several ---------------------------------------------------------


@pytest.mark.parametrize("title", ["disburse-transfer", "payment-charge-token", "sandbox-fund_wallet"])
def test_an_outage_before_the_first_commit_changes_nothing_and_says_so(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], title: str
) -> None:
    shop = open_shop(now=NOW)  # nothing falls due by itself while the database is away
    [row] = [row for row in ACTION_ROWS if row.title == title]
    fields = prepare_example(shop, row)
    with DatabaseProxy(deployment.dsn) as cable, local_service(deployment, cable.dsn, no_failure) as local:
        here = Local(shop, local)
        here.wallet()  # the merchant is known to this process from here on
        wait_until("nothing of the merchant is due", lambda: deployment.fetch(UNFINISHED, shop.mid)[0][0] == 0)
        before = everything_of(deployment, shop)
        local.shorten_timeout()
        cable.cut()
        reply = here.send_fields(row.method, fields)
        cable.restore()
    assert (reply.http, without_codes(reply.body)) == (503, {"status": ERROR, "message": UNREACHABLE.message})
    assert everything_of(deployment, shop) == before


@pytest.mark.parametrize(
    "title", ["sandbox-settle", "sandbox-advance", "sandbox-freeze", "sandbox-reset", "resources-resend"]
)
def test_a_command_that_fails_on_its_way_does_not_deny(
    deployment: Deployment, shop: MerchantClient, title: str
) -> None:
    [row] = [row for row in ACTION_ROWS if row.title == title]
    fields = prepare_example(shop, row)
    with DatabaseProxy(deployment.dsn) as cable, local_service(deployment, cable.dsn, no_failure) as local:
        here = Local(shop, local)
        here.wallet()
        local.shorten_timeout()
        cable.cut()
        reply = here.send_fields(row.method, fields)
        cable.restore()
    assert (reply.http, without_codes(reply.body)) == (503, {"status": ERROR, "message": OUTCOME_UNKNOWN.message})


def test_commands_that_only_read_say_that_nothing_was_changed() -> None:
    commands = {row.title for row in ACTION_ROWS if isinstance(row.action, AdminCommand) and not row.action.writes}
    assert commands == {
        "sandbox-audit",
        "sandbox-clock",
        "sandbox-compare_worlds",
        "sandbox-explain",
        "sandbox-export_world",
        "sandbox-people_mails",
        "sandbox-requests",
        "sandbox-worlds",
    }
