"""Admin operations of the test environment: creates merchants, moves clocks, simulates call-backs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from datetime import datetime, timedelta
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from kasuwa.audit.close_task import BookCloser, NoCloseKey
from kasuwa.audit.invariants.ledger import find_violations
from kasuwa.audit.make_close import SignedClose
from kasuwa.core.callers import KeyScope
from kasuwa.core.codes import ERROR, INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    PostingGroup,
    Refusal,
    SandboxEffects,
    refuse_fields,
)
from kasuwa.core.money import convert_to_minor
from kasuwa.core.references import first_number
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import RuleFailure
from kasuwa.engine.rule_submission import TRANSACTION_COLUMNS, submit_rule
from kasuwa.engine.writer import Writer
from kasuwa.jobs import leases
from kasuwa.jobs.clock_leases import LEASE, WAIT_SECONDS, ClockLease, ClockLeases, LeaseTimeout
from kasuwa.jobs.job_times import reschedule_jobs
from kasuwa.jobs.steps import StepRunner
from kasuwa.ledger import chart
from kasuwa.merchants import merchants
from kasuwa.merchants.keys import KeyRefused, NewKey, create_key, random_key
from kasuwa.merchants.merchant_settings import MerchantSettings, read_terms
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.merchants.payout_policy import change_policy
from kasuwa.methods.sandbox.response_codes import check_code, find_code
from kasuwa.methods.virtualcard.rules.issuer_orders import ORDER_KEY as ISSUER_ORDER
from kasuwa.outbound.url_policy import url_fault
from kasuwa.people import mails
from kasuwa.people.mails import ListedMail
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.merchant_rows import snapshot
from kasuwa.postgres.row_codes import require_intact
from kasuwa.projections.timeline import object_timeline, resolve_event_id, transaction_timeline
from kasuwa.rails.ports.orders import Answer
from kasuwa.sandbox.admin_operations import CommonOperations
from kasuwa.sandbox.advance import AdvanceResult, ClockAdvance, StopSignal
from kasuwa.sandbox.archived_tokens import archive_tokens
from kasuwa.sandbox.event_maker import BookReversal, EventMaker, SendRequest
from kasuwa.sandbox.request_records import (
    LAST_NUMBER,
    LoggedRequest,
    RequestFilter,
    RequestRecorder,
    find_newest_number,
    list_requests,
)
from kasuwa.sandbox.worlds.comparing import TableDifference
from kasuwa.sandbox.worlds.operations import WorldOperations
from kasuwa.sandbox.worlds.progress import RunningAct
from kasuwa.sandbox.worlds.records import WorldRecord
from kasuwa.terms.client_tiers import ClientTiers
from kasuwa.terms.payouts import PayoutPolicy
from kasuwa.transactions.transactions import (
    FAILED,
    MERCHANT_REFERENCED_KINDS,
    SUCCESSFUL,
    Transaction,
    contradiction_notices,
    transaction_key,
)
from kasuwa.webhooks.sender import WebhookSender

T = TypeVar("T")

# Opening balances of every merchant of the test environment. Contract: #authentication
OPENING_BALANCES = {"NGN": convert_to_minor("10000000.00"), "USD": convert_to_minor("10000.00")}
NEVER_SHORT = Refusal(INSUFFICIENT_FUNDS, "The outside does not run short", error_code="outside_insufficient")
KEY_REFUSED = Refusal(INVALID_REQUEST, "{reason}", error_code="key_refused")
NO_CALLBACK = Refusal(
    INVALID_REQUEST, "No rail decides this one, so no call-back can end it", error_code="callback_not_awaited"
)

CALLBACK_ANSWERS = {
    SUCCESSFUL: Answer(SUCCESSFUL, "00", "Approved or completed successfully"),
    FAILED: Answer(FAILED, "05", "Do not honour"),
}
UNKNOWN_DECLINE = "Declined"

# While others hold the merchant's lease for longer than a request waits.
BUSY = Refusal(
    ERROR,
    "This merchant's clock or books are being changed by other requests. Nothing was done: try again",
    error_code="merchant_busy",
)
NO_CLOSE_KEY = Refusal(
    ERROR,
    "This deployment has no key to sign closes with: see KASUWA_CLOSE_KEY. Nothing was done",
    error_code="close_key_missing",
)
ADVANCE_SECONDS = 20.0

NEWEST_KEY = "select max(key_id) from merchant_key where merchant_id = $1"
BY_REFERENCE = f"""
    select {TRANSACTION_COLUMNS} from transaction
    where merchant_id = $1 and (txn_ref = $2 or key = any($3)) order by created_at desc, seq desc, key desc
"""
# Open transactions for a loan or savings, by its id: a disbursement, a cash-out, a payment.
SELECT_OPEN_FOR_PURPOSE = f"""
    select {TRANSACTION_COLUMNS} from transaction
    where merchant_id = $1 and status in ('pending', 'processing') and (detail -> 'purpose' ->> 'reference' = $2
        or txn_ref in (select p.txn_ref from payment p
            where p.merchant_id = $1 and p.detail -> 'purpose' ->> 'reference' = $2))
    order by created_at desc, seq desc, key desc
"""


def decide_opening(balances: Mapping[str, int], context: Context, rows: LoadedRows) -> Decision:
    posts = tuple(chart.make_funding_posting(currency, amount) for currency, amount in balances.items())
    return Decision(groups=(PostingGroup("opening", NEVER_SHORT, postings=posts),))


async def fund_new_merchant(writer: Writer, merchant: Merchant, balances: Mapping[str, int] = OPENING_BALANCES) -> None:
    accounts = tuple(
        name for currency in balances for name in (chart.wallet(currency), chart.outside("funding", currency))
    )
    await submit_rule(writer, merchant, Needs((), accounts), partial(decide_opening, balances))


def decide_freeze(is_frozen: bool, context: Context, rows: LoadedRows) -> Decision:
    return Decision(reply=context.now, sandbox=SandboxEffects(is_frozen=is_frozen))


def make_callback_answer(rail: str, status: str, code: str | None) -> Answer | Refusal:
    """Returns the answer of a simulated call-back, with the meaning of its code."""
    usual = CALLBACK_ANSWERS[status]
    if code is None:
        return usual
    fault = check_code(rail, code, is_approval=status == SUCCESSFUL)
    if fault is not None:
        return refuse_fields(FieldError("code", fault))
    known = find_code(rail, code)
    return msgspec.structs.replace(usual, code=code, message=UNKNOWN_DECLINE if known is None else known.meaning)


class SandboxServices(msgspec.Struct, frozen=True):
    """The services that the operations of the test environment use."""

    writer: Writer
    stepper: StepRunner
    directory: MerchantDirectory
    vault: Vault
    webhook_sender: WebhookSender
    closer: BookCloser
    are_others_serving: bool = False  # whether other processes answer requests of the API
    requests: RequestRecorder | None = None  # None in a process that answers no requests of the API


class SandboxOperations(CommonOperations):
    def __init__(
        self,
        operators: Pool,
        services: SandboxServices,
        *,
        seed: bytes | None,
        loopback_allowed: bool,
        advance_seconds: float = ADVANCE_SECONDS,
        lease: timedelta = LEASE,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        super().__init__(operators, services.writer.clock)
        self._writer = services.writer
        self._stepper = services.stepper
        self._directory = services.directory
        self._vault = services.vault
        self._webhook_sender = services.webhook_sender
        self._closer = services.closer
        self._seed = seed
        self._loopback_allowed = loopback_allowed
        self._advance_seconds = advance_seconds
        self._leases = ClockLeases(operators, length=lease, wait_seconds=wait_seconds)
        self._worlds = WorldOperations(operators, services.vault, services.directory, services.writer.clock)
        self._are_others_serving = services.are_others_serving
        self._requests = services.requests
        self._advances: dict[asyncio.Task[Any], StopSignal] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._events = EventMaker(operators, services.vault, services.directory)

    def send_by(self, send: SendRequest) -> None:
        """Sets what answers the requests of a merchant that lead to an event (`trigger`)."""
        self._events.send = send

    def book_reversals_by(self, book: BookReversal) -> None:
        """Sets what plays the operators who book what a rail has taken back (`trigger`)."""
        self._events.book_reversal = book

    async def new_merchant(
        self, name: str, now: datetime | None, balance: int | None, *, webhook_url: str, seed: str, terms: bytes
    ) -> tuple[str, str] | FieldError:
        """Creates a merchant with opening balances, or with `balance` in NGN alone. Returns its mid and key, or the
        error of the webhook URL or of the terms, which are JSON. With a seed, its random outcomes are the same in every
        run."""
        fault = self._url_fault(webhook_url)
        if fault is not None:
            return FieldError("webhook", fault)
        try:
            settings = read_terms(terms)
        except ValueError as error:
            return FieldError("terms", f"the terms of a merchant: {error}")
        async with self._operators.acquire() as connection:
            merchant_id, mid, key = await merchants.add_merchant(
                connection,
                self._vault,
                name,
                clock_fixed=now,
                make_key=self._make_key,
                settings=msgspec.structs.replace(settings, webhook_url=webhook_url, outcome_seed=seed),
            )
        balances = OPENING_BALANCES if balance is None else {"NGN": balance}
        if balance != 0:
            await fund_new_merchant(self._writer, await self._directory.get_by_id(merchant_id), balances)
        return mid, key

    async def new_key(
        self,
        merchant: Merchant,
        name: str,
        scopes: tuple[KeyScope, ...],
        addresses: tuple[str, ...],
        expires_at: datetime | None,
    ) -> tuple[int, str] | Refusal:
        """Adds a key to the merchant's others. Returns its number and the key."""
        caller = merchant.caller
        new = NewKey(
            name=name,
            scopes=scopes,
            addresses=addresses,
            expires_at=expires_at,
            created_by=caller.person,
            holders=caller.holders or ((caller.person,) if caller.person else ()),
            makers=caller.behind,
        )
        try:
            async with self._operators.acquire() as connection, connection.transaction():
                merchant_id = await merchants.lock_merchant(connection, merchant.mid)
                newest = await connection.fetchval(NEWEST_KEY, merchant_id)
                make_key = partial(self._make_key, merchant.mid, first_number(merchant_id), newest)
                number_and_key = await create_key(connection, self._vault, merchant_id, new, make_key)
        except KeyRefused as refused:
            return KEY_REFUSED.fill(reason=refused)
        self._directory.evict(merchant.mid)
        return number_and_key

    async def set_payout_policy(self, merchant: Merchant, policy: PayoutPolicy) -> None:
        """Sets the merchant's policy for money out, also a looser one. Other processes follow within a second."""
        async with self._operators.acquire() as connection, connection.transaction():
            await change_policy(connection, self._vault, merchant.mid, policy, timedelta(), "")
        self._directory.evict(merchant.mid)

    async def set_client_tiers(self, merchant: Merchant, tiers: ClientTiers) -> None:
        """Sets whether the limits by tier apply to the merchant's clients. Other processes follow within a second."""

        def change(settings: MerchantSettings) -> MerchantSettings:
            return msgspec.structs.replace(settings, client_tiers=tiers)

        async with self._operators.acquire() as connection, connection.transaction():
            await merchants.change_settings(connection, self._vault, merchant.mid, change, is_endpoint_set=False)
        self._directory.evict(merchant.mid)

    async def set_checkout_origins(self, merchant: Merchant, origins: tuple[str, ...]) -> None:
        """Sets which sites may show payers' pages in a frame. Other processes follow within a second."""

        def change(settings: MerchantSettings) -> MerchantSettings:
            return msgspec.structs.replace(settings, checkout_origins=origins)

        async with self._operators.acquire() as connection, connection.transaction():
            await merchants.change_settings(connection, self._vault, merchant.mid, change, is_endpoint_set=False)
        self._directory.evict(merchant.mid)

    def _url_fault(self, url: str) -> str | None:
        return url_fault(url, environment="test", loopback_allowed=self._loopback_allowed) if url else None

    async def set_webhook(self, merchant: Merchant, url: str) -> str | None:
        """Sets the merchant's endpoint, or disables it if `url` is empty. Returns an error text or None."""
        fault = self._url_fault(url)
        if fault is not None:
            return fault

        def change(settings: MerchantSettings) -> MerchantSettings:
            return msgspec.structs.replace(settings, webhook_url=url)

        async with self._operators.acquire() as connection:
            await merchants.change_settings(connection, self._vault, merchant.mid, change, is_endpoint_set=True)
        return None

    async def reset(self, merchant: Merchant) -> Refusal | None:
        """Gives the merchant new books with opening balances, under the same mid and keys. The old books are archived.
        Advances and resets of one merchant wait for each other."""
        try:
            async with (
                self._hold_current(merchant.mid) as (_, old),
                self._operators.acquire() as connection,
                connection.transaction(),
            ):
                merchant_id = await merchants.reset_books(connection, self._vault, merchant.mid)
                await archive_tokens(connection, self._vault, old.merchant_id, ISSUER_ORDER)
        except LeaseTimeout:
            return BUSY
        await fund_new_merchant(self._writer, await self._directory.get_by_id(merchant_id))
        # Other processes write to the old books until their cached merchant expires.
        await asyncio.sleep(merchants.STALE_AFTER_SECONDS)
        self._directory.evict(merchant.mid)
        return None

    # --- the request log ---------------------------------------------------------------------------------------------

    async def list_requests(
        self,
        merchant: Merchant,
        *,
        search: str,
        only_refused: bool,
        before: int | None,
        after: int | None,
        limit: int,
    ) -> tuple[list[LoggedRequest], int]:
        """Returns requests of a merchant and their replies, with those that this process has just answered, and the
        number up to which all were looked at if there are fewer than `limit`."""
        if self._requests is not None:
            await self._requests.flush_merchant(merchant.mid)
        wanted = RequestFilter(search, only_refused, LAST_NUMBER if before is None else before, after)
        newest = await find_newest_number(self._operators, merchant.mid)
        return await list_requests(self._operators, self._vault, merchant.mid, wanted, limit), newest

    async def list_people_mails(self, merchant: Merchant, *, before: int | None, limit: int) -> list[ListedMail]:
        """Returns the mails to the people of a merchant, newest first."""
        async with self._operators.acquire() as connection:
            wanted = mails.LAST_NUMBER if before is None else before
            return await mails.list_mails(connection, self._vault, merchant.mid, wanted, limit)

    # --- events ------------------------------------------------------------------------------------------------------

    async def trigger(
        self, merchant: Merchant, event: str, changes: Mapping[str, Any]
    ) -> dict[str, Any] | Refusal | FieldError:
        """Makes an event happen. Returns its entry in the log of events."""
        requests = self._events.make_requests(event, changes)
        if isinstance(requests, FieldError):
            return requests
        return await self._finish(self._events.make(merchant, requests, is_pending=event.endswith(".pending")))

    # --- worlds -----------------------------------------------------------------------------------------------------

    async def snapshot_world(self, merchant: Merchant, name: str) -> WorldRecord | Refusal:
        return await self._finish(self._use_books(merchant, partial(self._worlds.take, name=name)))

    async def restore_world(self, merchant: Merchant, name: str) -> int | Refusal:
        """Gives the merchant new books with a world."""
        return await self._finish(self._restore_world(merchant, name))

    async def _restore_world(self, merchant: Merchant, name: str) -> int | Refusal:
        rows = await self._use_books(merchant, partial(self._worlds.restore, name=name))
        if self._are_others_serving and not isinstance(rows, Refusal):
            # Others read the old books until their cached merchant expires. Writes find the new ones at once.
            await asyncio.sleep(merchants.STALE_AFTER_SECONDS)
        return rows

    async def fork_world(self, merchant: Merchant, name: str | None) -> tuple[str, str] | Refusal:
        fork = partial(self._worlds.fork, name=name, make_key=self._make_key)
        return await self._finish(self._use_books(merchant, fork))

    async def export_world(self, merchant: Merchant, name: str, passphrase: str) -> tuple[WorldRecord, bytes] | Refusal:
        return await self._worlds.write_file(merchant, name, passphrase)

    async def import_world(
        self, merchant: Merchant, name: str, passphrase: str, content: bytes
    ) -> WorldRecord | Refusal:
        take = partial(self._worlds.take_file, name=name, passphrase=passphrase, content=content)
        return await self._finish(self._use_books(merchant, take))

    async def _use_books(self, merchant: Merchant, work: Callable[[Merchant], Awaitable[T]]) -> T | Refusal:
        """Does work on the merchant's current books. Advances, resets, snapshots, forks and restores of one merchant
        take turns, so that none sees the books of another half done, and their bounds hold together. So do events that
        are made: a world has no setting and no key that is made for one alone."""
        try:
            async with self._events.turn(merchant.mid), self._hold_current(merchant.mid) as (_, current):
                return await work(current)
        except LeaseTimeout:
            return BUSY

    async def list_worlds(self, merchant: Merchant) -> list[WorldRecord]:
        return await self._worlds.list_all(merchant)

    async def list_running_worlds(self, merchant: Merchant) -> list[RunningAct]:
        return await self._worlds.list_running(merchant)

    async def compare_worlds(self, merchant: Merchant, first: str, second: str) -> list[TableDifference] | Refusal:
        return await self._worlds.compare(merchant, first, second)

    async def delete_world(self, merchant: Merchant, name: str) -> Refusal | None:
        return await self._worlds.delete(merchant, name)

    async def _finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work to its end, also if the client disconnects: a large world takes a minute."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def explain(self, merchant: Merchant, reference: str) -> list[dict[str, Any]] | None:
        reference = await resolve_event_id(self._operators, merchant.merchant_id, reference)
        row = await self._find(merchant, reference)
        async with snapshot(self._operators, merchant.merchant_id) as connection:
            if row is None:
                return await object_timeline(connection, merchant.merchant_id, reference, self._vault.unseal)
            return await transaction_timeline(connection, row, self._vault.unseal)

    async def audit(self, merchant: Merchant) -> list[tuple[str, str]]:
        """Returns the violated invariants of the merchant's books, each with its place."""
        async with self._operators.acquire() as connection:
            violations = await find_violations(connection, [merchant.merchant_id])
        return [(description, place) for _, description, place in violations]

    async def close_books(self) -> SignedClose | Refusal:
        """Closes the books of all merchants and publishes the close."""
        try:
            return await self._closer.close_now()
        except NoCloseKey:
            return NO_CLOSE_KEY

    def _make_key(self, mid: str, *place: int) -> str:
        """Returns an API key. With a seed, keys are the same in every run: `place` is the number of the first books and
        of the key before, nothing for a merchant's first key. The books do not tell merchants apart, the mid does: a
        fork and a restored file have the number of another merchant's books."""
        if self._seed is None:
            return random_key()
        text = " ".join(("key", mid, *map(str, place))).encode()
        return blake2b(text, key=self._seed, digest_size=32).hexdigest()

    # --- the rail's call-back -----------------------------------------------------------------------------

    async def simulate_callback(
        self, merchant: Merchant, reference: str, status: str, code: str | None
    ) -> Transaction | Refusal | None:
        """Returns the transaction after the call-back, None if the reference is unknown, or a refusal if it waits for
        no rail (a cashcode) or its rail's code says the contrary."""
        named = await self._find_all(merchant, reference)
        if not named:
            records = await self._operators.fetch(SELECT_OPEN_FOR_PURPOSE, merchant.merchant_id, reference)
            named = [Transaction(*record) for record in records]
        # A transfer and a bill may share an orderRef: whichever is still open is meant, then what can be contradicted.
        for row in named:
            waiting = await self._operators.fetch(leases.SELECT_JOBS_OF_SUBJECT, merchant.merchant_id, row.key)
            job = next(
                (job for job in (Job(*record) for record in waiting) if self._stepper.accepts_callback(job)), None
            )
            if job is not None:
                require_intact(self._vault, job)
                answer = make_callback_answer(job.lane, status, code)
                if isinstance(answer, Refusal):
                    return answer
                result = await self._stepper.record_callback(job, merchant, answer)
                if isinstance(result, RuleFailure):
                    raise result.error
                return await self._find(merchant, row.txn_ref)
        for row in named:
            if await self._contradict(merchant, row.key, status):
                return await self._find(merchant, row.txn_ref)
        return NO_CALLBACK if named else None

    async def _find(self, merchant: Merchant, reference: str) -> Transaction | None:
        return next(iter(await self._find_all(merchant, reference)), None)

    async def _find_all(self, merchant: Merchant, reference: str) -> list[Transaction]:
        """Returns the transactions with this reference, newest first."""
        keys = [transaction_key(merchant.merchant_id, kind, reference) for kind in MERCHANT_REFERENCED_KINDS]
        records = await self._operators.fetch(BY_REFERENCE, merchant.merchant_id, reference, keys)
        return [Transaction(*record) for record in records]

    async def _contradict(self, merchant: Merchant, key: bytes, status: str) -> bool:
        """Records a notice if the transaction is final. Returns whether it is."""

        def record(context: Context, rows: LoadedRows) -> Decision:
            row = rows.get(Transaction, key)
            assert row is not None, "nothing is ever deleted"
            return Decision(reply=row.is_final, notices=contradiction_notices(row, status) if row.is_final else ())

        return bool((await submit_rule(self._writer, merchant, Needs(((Transaction, key),)), record)).reply)

    # --- time -----------------------------------------------------------------------------------------------

    async def advance_clock(
        self, merchant: Merchant, target: Callable[[datetime], datetime | Refusal]
    ) -> AdvanceResult | Refusal:
        """Advances the clock in a task of its own: if the client disconnects, the advance finishes the jobs it has
        begun and releases its lease."""
        stop = StopSignal()
        task = asyncio.create_task(self._advance(merchant, target, stop))
        self._advances[task] = stop
        task.add_done_callback(self._forget)
        try:
            return await asyncio.shield(task)
        finally:
            stop.set()

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._advances.pop(task, None)
        if not task.cancelled():
            task.exception()  # marks it as retrieved: the client got it, or has disconnected

    async def _advance(
        self, merchant: Merchant, target: Callable[[datetime], datetime | Refusal], stop: StopSignal
    ) -> AdvanceResult | Refusal:
        try:
            async with self._hold_current(merchant.mid) as (held, current):
                advance = ClockAdvance(self._operators, self._writer, self._stepper, self._webhook_sender, current)
                return await advance.run(target, self._advance_seconds, held, stop)
        except LeaseTimeout:
            return BUSY

    async def freeze_clock(self, merchant: Merchant, is_frozen: bool) -> datetime | Refusal:
        """Stops the merchant's clock or lets it run again. Returns its business time, or BUSY while another request
        moves the clock."""
        try:
            async with self._hold_current(merchant.mid) as (held, current):
                held.is_unfinished = True
                decided = await submit_rule(self._writer, current, Needs(), partial(decide_freeze, is_frozen))
                await reschedule_jobs(self._operators, current.merchant_id, self._writer.clock.now())
                held.is_unfinished = False
        except LeaseTimeout:
            return BUSY
        assert isinstance(decided.reply, datetime)
        return decided.reply

    @contextlib.asynccontextmanager
    async def _hold_current(self, mid: str) -> AsyncIterator[tuple[ClockLease, Merchant]]:
        """Holds the clock lease of the merchant's current books. They may change while it waits for the lease."""
        while True:
            merchant_id = await self._operators.fetchval(merchants.SELECT_CURRENT_ID, mid)
            async with self._leases.acquire(merchant_id) as held:
                if await self._operators.fetchval(merchants.SELECT_CURRENT_ID, mid) == merchant_id:
                    yield held, await self._directory.get_by_id(merchant_id)
                    return

    async def close(self) -> None:
        """Stops running advances after the jobs they have begun, and events after the requests."""
        self._events.stop()
        for stop in self._advances.values():
            stop.set()
        await asyncio.gather(*self._advances, *self._running, return_exceptions=True)
