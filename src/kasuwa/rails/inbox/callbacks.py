"""Receives the call-backs of rails: makes the job of the named order due now, so that the worker queries the rail.

The rail's answer to the query is recorded, never the call-back. If the order has ended already, the rail is queried
too, and an answer that contradicts the books becomes a notice to the operator. What names no order of ours (money that
came into an account, a dispute) goes to the inbox of rails: rails/inbox/processing.py.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import msgspec
import structlog

from kasuwa.concurrency.shares import Shares
from kasuwa.core.addresses import Network, is_trusted, read_address
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, Outcome
from kasuwa.core.references import read_rail_key
from kasuwa.engine import due_jobs
from kasuwa.engine.decision_inputs import DecisionInput
from kasuwa.engine.rule_submission import TRANSACTION_COLUMNS, submit_rule
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connection_pool import Pool
from kasuwa.rails.catalogue import editions
from kasuwa.rails.inbox import inbox_table, rail_accounts
from kasuwa.rails.inbox.card_messages import CardMessages
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.callback import CallbackReply
from kasuwa.rails.ports.callbacks import CallbackRefused, CallbackSource, CatalogueSource
from kasuwa.rails.ports.hints import Hint, ReadHint
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable, without_words
from kasuwa.rails.ports.rejections import Rejection
from kasuwa.rails.remote.cards import PATH as CARDS_PATH
from kasuwa.transactions.transactions import FAILED, FINAL, Transaction, contradiction_notices

log = structlog.get_logger("kasuwa.rails")

NO_SUCH_RAIL = CallbackReply(404, b'{"status":102,"message":"Invalid method call: there is no such path"}')
REFUSED = CallbackReply(401, b'{"status":101,"message":"Refused"}')

HAS_NOTICE = "select exists (select 1 from operator_notice where merchant_id = $1 and reference = $2 and message = $3)"
HAS_MERCHANT = "select exists (select 1 from merchant where merchant_id = $1 and current)"
HAS_REFUND = """
    select exists (select 1 from transaction
        where merchant_id = $1 and kind = 'refund' and detail ->> 'payment' = $2 and status <> 'failed')
"""
SELECT_TRANSACTION = f"select {TRANSACTION_COLUMNS} from transaction where merchant_id = $1 and txn_ref = $2"

# Call-backs of one merchant's orders that are looked up at once. Others wait briefly, and are then sent again.
CALLBACKS_PER_MERCHANT = 4

ReadRejection = Callable[[str, bytes], Rejection | None]
QueryEnded = Callable[[Rails, Transaction], Awaitable[Answer]]


class RejectionRules(msgspec.Struct, frozen=True):
    """The rule that records that a payer's transfer was sent back. Nothing is booked from it."""

    needs: Callable[[Rejection, Merchant], Needs]
    decide: Callable[[Rejection, Context, LoadedRows], Outcome]


class CallbackServices(msgspec.Struct, frozen=True):
    """The services that call-backs use."""

    operators: Pool
    writer: Writer
    directory: MerchantDirectory
    rails: Rails
    rail_job_kinds: list[str]
    query_ended: Mapping[str, QueryEnded]  # by kind of transaction: queries the rail for one that has ended
    account_job_kinds: tuple[str, ...] = ()  # of the jobs that open accounts
    read_rejection: ReadRejection = lambda rail, body: None  # (rail, body) of a call-back whose sender was checked
    rejection_rules: RejectionRules | None = None


class RailCallbacks:
    """Receives call-backs. `senders` are the networks that those of a rail come from; a rail without any is called from
    everywhere."""

    def __init__(
        self,
        services: CallbackServices,
        sources: Mapping[str, CallbackSource],
        hints: Mapping[str, ReadHint] = {},
        senders: Mapping[str, tuple[Network, ...]] = {},
        cards: CardMessages | None = None,
    ) -> None:
        self._services = services
        self._sources = sources
        self._hints = hints
        self._senders = senders
        self._cards = cards  # of the rail that announces what the card network asks
        # The call-backs of one merchant's orders leave connections and rail calls for those of others.
        self._shares: Shares[int] = Shares(CALLBACKS_PER_MERCHANT)

    async def receive(
        self, path: str, find_header: Callable[[str], str | None], body: bytes, address: str
    ) -> CallbackReply:
        name, _, rest = path.removeprefix("/rails/").partition("/")
        source = self._sources.get(name)
        is_card_message = self._cards is not None and path == CARDS_PATH
        if source is None and not is_card_message:
            return NO_SUCH_RAIL
        sender, networks = read_address(address), self._senders.get(name, ())
        if networks and (sender is None or not is_trusted(sender, networks)):
            log.warning("a call-back came from another address than its rail's", rail=name, address=address)
            return REFUSED
        if self._cards is not None and is_card_message:
            return await self._cards.receive(find_header, body)
        assert source is not None
        try:
            key = source.find_order(rest, find_header, body)
        except CallbackRefused:
            log.warning("a call-back was refused", rail=name)
            return REFUSED
        if key is not None:
            merchant_id, reference = read_rail_key(key)
            async with self._shares.holding(merchant_id):
                await self._query_soon(merchant_id, reference)
        elif isinstance(source, CatalogueSource) and source.is_catalogue_change(body):
            async with self._services.operators.acquire() as connection:
                await editions.request_refresh(connection)
        hint = self._hints[name](body) if name in self._hints else None
        if hint is not None:
            await self._keep_hint(name, hint)
        rejection = self._services.read_rejection(name, body)
        if rejection is not None:
            await self._record_rejection(rejection)
        return CallbackReply(200, source.accepted_body)

    async def _keep_hint(self, rail: str, hint: Hint) -> None:
        """Writes what a call-back names to the inbox, so that it is not lost once the call-back is answered."""
        async with self._services.operators.acquire() as connection:
            if hint.kind == "account":
                merchant_id, reference = read_rail_key(hint.reference)
                kinds = self._services.account_job_kinds
                await rail_accounts.run_opening_now(connection, merchant_id, reference, kinds)
            else:
                await inbox_table.announce(connection, rail, hint.kind, hint.reference)

    async def _record_rejection(self, rejection: Rejection) -> None:
        merchant_id, reference = read_rail_key(rejection.order_key)
        rules = self._services.rejection_rules
        if rules is None or not await self._services.operators.fetchval(HAS_MERCHANT, merchant_id):
            return
        merchant = await self._services.directory.get_by_id(merchant_id)
        decide = partial(rules.decide, rejection)
        sent = DecisionInput("rejection", "", rejection, reference)
        await submit_rule(self._services.writer, merchant, rules.needs(rejection, merchant), decide, sent)

    async def _query_soon(self, merchant_id: int, reference: str) -> None:
        services = self._services
        async with services.operators.acquire() as connection:
            if await due_jobs.run_jobs_of_reference_now(connection, merchant_id, reference, services.rail_job_kinds):
                return
            if await due_jobs.run_related_jobs_now(connection, merchant_id, reference, services.rail_job_kinds):
                return
            record = await connection.fetchrow(SELECT_TRANSACTION, merchant_id, reference)
        row = None if record is None else Transaction(*record)
        if row is not None and row.is_final and row.kind in services.query_ended:
            await self._compare(row, services.query_ended[row.kind])

    async def _compare(self, row: Transaction, query: QueryEnded) -> None:
        """Queries the rail for a final transaction and records a notice if it says otherwise."""
        try:
            answer = await query(self._services.rails, row)
        except (Unavailable, NoAnswer):
            return
        notices = contradiction_notices(row, answer.status) if answer.status in FINAL else ()
        operators = self._services.operators
        if answer.status == FAILED and await operators.fetchval(HAS_REFUND, row.merchant_id, row.txn_ref):
            return  # what was refunded is reversed at the rail
        for notice in notices:
            known = (row.merchant_id, notice.reference, notice.message)
            if await operators.fetchval(HAS_NOTICE, *known):
                return  # the rail repeats its call-backs
        if notices:
            merchant = await self._services.directory.get_by_id(row.merchant_id)
            sent = DecisionInput("answer", f"{row.kind}.ended", without_words(answer), row.txn_ref)
            await submit_rule(self._services.writer, merchant, Needs(), lambda _, rows: Decision(notices=notices), sent)
