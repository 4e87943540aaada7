"""Asks merchants' deciders about purchases with their cards: one signed request each, and one answer within 2 seconds.

A decider is a merchant's own service, so nothing about it is trusted: not its address, not that it answers, not what it
answers. It holds up nothing but the purchase that it is asked about: its requests have connections of their own, each
merchant has a share of them, and a decider that failed several times in a row is left alone for a while. No transaction
is open meanwhile: the rules decide once more with the answer (docs/decisions/0096).

Contract: virtualcard#decider
"""

import time
from collections.abc import Callable
from secrets import token_hex

import msgspec
import structlog

from kasuwa.concurrency.breaker import CircuitBreaker
from kasuwa.concurrency.deadlines import Deadlines
from kasuwa.concurrency.exhaustion import PoolExhausted
from kasuwa.concurrency.shares import Shares
from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.money import format_minor
from kasuwa.core.scenario import Scenario
from kasuwa.core.vault import Vault
from kasuwa.outbound.egress import EgressClient, EgressLimits, EgressResponse, RequestFailed, TargetRefused
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import QueryRunner
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderFault, DeciderQuestion
from kasuwa.transactions.event_payloads import CardDecisionRequest
from kasuwa.webhooks.response_excerpt import make_excerpt
from kasuwa.webhooks.signatures import sign
from kasuwa.webhooks.targets import read_targets

log = structlog.get_logger("kasuwa.rails")

# Contract: virtualcard#decider
WAIT_SECONDS = 2.0
FAILURES_UNTIL_PAUSE = 5
PAUSE_SECONDS = 15.0
# Questions of one merchant that are under way in a process. The others wait for their turn, in the time that they have.
MAX_PER_MERCHANT = 32
MAX_BODY_BYTES = 4_096
MAX_REASON_CHARS = 200
# The deadline of a question is WAIT_SECONDS, which also has the wait for its turn. These limits are behind it.
DECIDER_LIMITS = EgressLimits(
    queue_seconds=2 * WAIT_SECONDS,
    connect_seconds=2 * WAIT_SECONDS,
    response_seconds=2 * WAIT_SECONDS,
    total_seconds=2 * WAIT_SECONDS,
    body_bytes=MAX_BODY_BYTES,
)
# The faults by which a decider is known to be slow or broken. The others are no fault of its own.
COUNTED_FAULTS = frozenset({"timeout", "unreachable", "unreadable", "refused"})


class DeciderReply(msgspec.Struct):
    approve: bool
    reason: str | None = None


REPLY_DECODER: "msgspec.json.Decoder[DeciderReply]" = msgspec.json.Decoder(DeciderReply)


class NoDecision(Exception):
    """Raised if a decider gave no answer that counts."""

    def __init__(self, fault: DeciderFault) -> None:
        super().__init__(fault)
        self.fault = fault


class HttpDeciders:
    """The deciders of all merchants, as one process asks them."""

    def __init__(
        self,
        egress: EgressClient,
        reader: QueryRunner,
        vault: Vault,
        hash_header: str,
        clock: DatabaseClock,
        wait_seconds: float = WAIT_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._egress = egress
        self._reader = reader
        self._vault = vault
        self._hash_header = hash_header
        self._clock = clock
        self._wait_seconds = wait_seconds
        self._monotonic = monotonic
        self._deadlines = Deadlines()
        self._shares: Shares[int] = Shares(MAX_PER_MERCHANT)
        self._breaker: CircuitBreaker[tuple[int, str]] = CircuitBreaker(FAILURES_UNTIL_PAUSE, PAUSE_SECONDS, monotonic)

    async def ask(self, question: DeciderQuestion, merchant: Merchant, scenario: Scenario) -> DeciderAnswer:
        message_id = f"dec_{token_hex(12)}"
        decider = merchant.merchant_id, question.url
        began = self._monotonic()
        try:
            reply = await self._ask_in_time(question, merchant, scenario, message_id)
        except NoDecision as error:
            fault, ms = error.fault, int((self._monotonic() - began) * 1000)
            if fault in COUNTED_FAULTS and scenario.http is None:
                self._breaker.record_failure(decider)
                log.warning("a decider gave no answer", merchant_id=merchant.merchant_id, fault=fault, ms=ms)
            return DeciderAnswer(question, message_id, question.on_timeout == "approve", ms, fault=fault)
        self._breaker.record_success(decider)
        ms = int((self._monotonic() - began) * 1000)
        return DeciderAnswer(question, message_id, reply.approve, ms, reply.reason or "")

    async def _ask_in_time(
        self, question: DeciderQuestion, merchant: Merchant, scenario: Scenario, message_id: str
    ) -> DeciderReply:
        """Returns the answer. Raises NoDecision. In the test environment, a fault answers in place of the decider."""
        if scenario.http is not None:
            raise NoDecision("timeout" if scenario.http == "timeout" else "unreachable")
        if scenario.rr is not None:
            return DeciderReply(approve=False)
        if self._breaker.find_pause((merchant.merchant_id, question.url)) > 0:
            raise NoDecision("paused")
        has_turn = False
        try:
            with self._deadlines.within(self._wait_seconds):
                async with self._shares.holding(merchant.merchant_id):
                    has_turn = True
                    return await self._exchange(question, merchant, message_id)
        except TimeoutError:
            raise NoDecision("timeout" if has_turn else "busy") from None
        except PoolExhausted:
            raise NoDecision("busy") from None

    async def _exchange(self, question: DeciderQuestion, merchant: Merchant, message_id: str) -> DeciderReply:
        # Read for each question, so that a rolled secret signs the next one.
        endpoint = merchant.merchant_id, FIRST_ENDPOINT
        target = (await read_targets(self._reader, self._vault, [endpoint])).get(endpoint)
        if target is None:
            raise NoDecision("unsigned")
        now = self._clock.now()
        body = msgspec.json.encode(make_request(question, merchant, message_id, utc_text(now)))
        headers = sign(body, target.keys, message_id, int(now.timestamp()), self._hash_header, has_bad_signature=False)
        try:
            response = await self._egress.post(question.url, body, headers)
        except TargetRefused:
            raise NoDecision("refused") from None
        except RequestFailed:
            raise NoDecision("unreachable") from None
        return read_reply(response, target.keys)


def make_request(question: DeciderQuestion, merchant: Merchant, message_id: str, asked_at: str) -> CardDecisionRequest:
    return CardDecisionRequest(
        id=message_id,
        kind="card_decision",
        endpoint=merchant.environment,  # type: ignore[arg-type]
        operation=question.operation,
        reference=question.card,
        amount=format_minor(question.amount),
        currency=question.currency,
        shop_amount=format_minor(question.shop_amount),
        shop_currency=question.shop_currency,
        merchant_name=question.merchant_name,
        merchant_id=question.merchant_id,
        category=question.category,
        country=question.country,
        channel=question.channel,
        asked_at=asked_at,
    )


def read_reply(response: EgressResponse, keys: list[bytes]) -> DeciderReply:
    """Returns the answer, its reason short and without secrets. Raises NoDecision for anything but an answer."""
    if not 200 <= response.status <= 299 or not response.is_complete:
        raise NoDecision("unreadable")
    try:
        reply = REPLY_DECODER.decode(response.body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise NoDecision("unreadable") from None
    words = " ".join(make_excerpt((reply.reason or "").encode(), keys).split())
    return DeciderReply(reply.approve, words[:MAX_REASON_CHARS])
