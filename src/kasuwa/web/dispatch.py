"""One request, from its headers and bytes to its reply. The order of checks is fixed: 101, 103, 102, 104,
then the operation's own (Contract: #errors)."""

import asyncio
import os
import time
import typing
from collections.abc import Awaitable, Callable
from functools import cache, lru_cache, partial
from typing import Any, Protocol

import msgspec
import structlog

from kasuwa.core.action import (
    Action,
    AdminCommand,
    AdminOperations,
    Lookup,
    MemoryRead,
    PreencodedReply,
    PreflightContext,
    Read,
    Write,
)
from kasuwa.core.body import InvalidJson, check_json, unwrap_single_object
from kasuwa.core.codes import (
    AUTHENTICATION_FAILED,
    ERROR,
    INVALID_JSON,
    http_status,
)
from kasuwa.core.decision import (
    AuditEntry,
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    Refusal,
    refuse_fields,
)
from kasuwa.core.decoding import InvalidRequest, add_preflight_errors, decode
from kasuwa.core.fields import echo_amount
from kasuwa.core.paging import MOST_PAGE_BYTES, is_page, truncate_page
from kasuwa.core.reading import ReaderFactory
from kasuwa.core.references import book_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario, read_scenario, take_call_scenario
from kasuwa.core.vault import Vault
from kasuwa.db import jobs
from kasuwa.db.batch import IdempotencyClaim, MerchantState, Result, RuleFailure, Submission, business_now
from kasuwa.db.merchants import MerchantDirectory
from kasuwa.db.progress import RequestProgress, is_outage
from kasuwa.db.time_slices import collect, run_in_slices
from kasuwa.db.writer import Writer
from kasuwa.observe.log import describe_error
from kasuwa.web.idempotency import claim_of
from kasuwa.web.outcome import RAIL_TIMEOUT, reply_to_failure
from kasuwa.web.rate_limit import RateLimiter
from kasuwa.web.routes import Envelope, Route
from kasuwa.web.throttle import AuthenticationThrottle

NOT_AUTHENTICATED = Refusal(AUTHENTICATION_FAILED, "Merchant authentication failed; check the mid and key headers")
SUSPENDED = Refusal(AUTHENTICATION_FAILED, "This merchant is suspended; ask the operator")
TOO_MANY_FAILURES = Refusal(
    ERROR, "Too many failed authentications from your address; check mid and key, and wait as retry-after says"
)
TOO_MANY = Refusal(ERROR, "Too many requests; wait as retry-after says")

# How long a rail is waited for, and a copy of a request for the first one, which is still at the rail.
# Contract: #repeats
DEADLINE_SECONDS = 10.0
# A copy of a request that is still at the rail asks again after this long, then twice that, and so on.
FIRST_PAUSE_SECONDS = 0.01
LONGEST_PAUSE_SECONDS = 0.25
# What was asked may have changed by the time of the answer, for instance which BVN is kept: then it is asked again.
MOST_QUESTIONS = 3

# What is prepared is asked for in the same bytes by everybody, and reading them is a fifth of our work on it: so many
# short bodies are remembered.
MOST_REMEMBERED = 256
MOST_REMEMBERED_BYTES = 256
# Of a long reply, this much is encoded before others are let run.
MOST_ENCODED_AT_ONCE = 64 * 1024

log = structlog.get_logger("kasuwa.web")
ENVELOPE = msgspec.json.Decoder(Envelope)
ENCODER = msgspec.json.Encoder()


class StepRunner(Protocol):
    async def run(self, job: Job, merchant: Merchant, now: Any, beside: Any = None) -> Result: ...


class Headers(Protocol):
    def get(self, key: str, default: Any = None) -> Any: ...

    def __contains__(self, key: str) -> bool: ...


# Makes the audit entry of a decision, for who acts in the name of a merchant; it is written in the decision's commit.
MakeAuditEntry = Callable[[Decision], AuditEntry]

JSON_HEADERS = (("content-type", "application/json"),)
PREPARED_HEADERS = (*JSON_HEADERS, ("vary", "accept-encoding"))
PACKED_HEADERS = (*PREPARED_HEADERS, ("content-encoding", "gzip"))


class HttpReply(msgspec.Struct):
    """A reply, and what the log may say of it."""

    http_status: int
    body: bytes
    status: int = 200
    mid: str = ""
    action: str = ""
    retry_after: int | None = None
    headers: tuple[tuple[str, str], ...] = JSON_HEADERS
    # The body was not read to its end: nothing more can come on the connection.
    must_close: bool = False


class ErrorBody(msgspec.Struct, omit_defaults=True):
    """Contract: #errors"""

    status: int
    message: str
    errors: tuple[FieldError, ...] = ()


class DispatchServices(msgspec.Struct):
    """What dispatch works with, handed over by app.py."""

    directory: MerchantDirectory
    writer: Writer
    reader: ReaderFactory
    steps: StepRunner
    rails: Any
    admin_operations: AdminOperations | None
    vault: Vault
    environment: str
    deadline_seconds: float = DEADLINE_SECONDS


class StepNotRecorded(Exception):
    """A step's rule refused to record what its rail answered: a bug of that rule, named by its job's kind."""


class Dispatch:
    def __init__(self, parts: DispatchServices) -> None:
        self._parts = parts
        self._limiter = RateLimiter()
        self._throttle = AuthenticationThrottle()
        self._parsed_cache: dict[tuple[str, bytes], tuple[Action, Any]] = {}

    def reading(self, reader: ReaderFactory, writer: Any) -> "Dispatch":
        """The same on another reader, and on a writer that only decides (db/snapshot_writer.py)."""
        return Dispatch(msgspec.structs.replace(self._parts, reader=reader, writer=writer))

    async def authenticate(self, path: Route, headers: Headers, address: Callable[[], str]) -> Merchant | HttpReply:
        """Returns who asks, by the headers alone, or the reply that refuses a stranger or one who asks too often: a
        stranger's body is not read. `address` tells where the request came from, where that matters."""
        try:
            mid, key = headers.get("mid"), headers.get("key")
            if mid is None or key is None:
                return refusal_reply(NOT_AUTHENTICATED, strict=False)
            directory, mid, throttle = self._parts.directory, mid.strip(), self._throttle
            if throttle.failures:
                wait = throttle.wait_seconds(address(), mid)
                if wait:
                    return rate_limit_reply(TOO_MANY_FAILURES, wait)
            merchant = directory.authenticate(directory.get_cached(mid) or await directory.load(mid), key.strip())
            return self._admit(merchant, mid, address)
        except Exception as error:
            return failure_reply(path, error, RequestProgress())

    async def answer(self, path: Route, headers: Headers, body: bytes, merchant: Merchant) -> HttpReply:
        progress = RequestProgress()
        try:
            answered = await self._answer_merchant(path, headers, body, merchant, progress)
        except Exception as error:
            return failure_reply(path, error, progress)
        answered.mid = merchant.mid
        return answered

    async def handle_on_behalf(
        self, path: Route, merchant: Merchant, body: bytes, note: MakeAuditEntry | None = None
    ) -> HttpReply:
        """For who signed in another way: the same rules from the body on. What is written is noted by `note`."""
        if merchant.suspended:
            return refusal_reply(SUSPENDED, strict=False)
        progress = RequestProgress()
        try:
            return await self._answer_merchant(path, {}, body, merchant, progress, note)
        except Exception as error:
            return failure_reply(path, error, progress)

    def _admit(self, merchant: Merchant | None, mid: str, address: Callable[[], str]) -> Merchant | HttpReply:
        """Returns the merchant whose key was right, unless it is suspended or asks too often; None is a stranger."""
        throttle = self._throttle
        if merchant is None or merchant.suspended:
            if self._parts.environment == "live":
                throttle.record_failure(address())
            return refusal_reply(NOT_AUTHENTICATED, strict=False)
        if throttle.failures:
            throttle.record_success(address(), mid)
        wait = self._limiter.wait_seconds(merchant.merchant_id, merchant.rate_limit)
        if wait:
            return rate_limit_reply(TOO_MANY, wait)
        return merchant

    async def _answer_merchant(
        self,
        path: Route,
        headers: Headers,
        body: bytes,
        merchant: Merchant,
        progress: RequestProgress,
        note: MakeAuditEntry | None = None,
    ) -> HttpReply:
        strict = merchant.has_strict_http
        remembered = self._parsed_cache.get((path.method.name, body))
        understood = remembered or self._parse_request(path, body, merchant)
        if isinstance(understood, Refusal):
            return refusal_reply(understood, strict=strict)
        action, request = understood
        faulty = isinstance(request, InvalidRequest)
        if faulty and any(rule.is_preflight for rule in action.rules):
            request = add_preflight_errors(
                action.request, request, action.rules, merchant, await self._preflight_context(merchant)
            )
        scenario = self._scenario(headers)
        if faulty or scenario is None:
            faults: tuple[FieldError, ...] = request if faulty else ()
            if scenario is None:
                faults += (
                    FieldError("x-sandbox-scenario", "rr, delay, http and webhook as key=value, with ; between"),
                )
            answered = refusal_reply(refuse_fields(*faults), strict=strict)
        else:
            if isinstance(action, Read):
                reply = await action.read(request, merchant, self._parts.reader.for_one_reply(merchant.merchant_id))
            elif isinstance(action, MemoryRead):
                reply = action.answer(request, merchant, self._parts.rails)
            else:
                reply = await self._run(path, action, request, merchant, headers, scenario, progress, note)
            if isinstance(reply, PreencodedReply):
                if remembered is None:
                    self._cache_parsed(path, body, action, request)
                answered = answer_prepared(reply, headers.get("accept-encoding", ""))
            else:
                kind: Any = type(reply)
                if echoes_amount(kind):
                    reply.amount = echo_amount(reply.amount, getattr(request, "amount", None))
                answered = await reply_page(reply, strict) if is_page(reply) else action_reply(reply, strict=strict)
        answered.action = action.name
        return answered

    def _parse_request(self, path: Route, body: bytes, merchant: Merchant) -> Refusal | tuple[Action, Any]:
        """Which action a body asks for, and its request or its faults."""
        try:
            body = unwrap_single_object(body)
            check_json(body)
            envelope = ENVELOPE.decode(body)
        except InvalidJson as error:
            return Refusal(INVALID_JSON, f"Invalid JSON request: {error}")
        except (msgspec.DecodeError, RecursionError):
            return Refusal(INVALID_JSON, "Invalid JSON request: send one JSON object")
        action = path.select_action(envelope)
        if isinstance(action, Refusal):
            return action
        return action, decode(action.request, body, action.rules, merchant)

    async def _preflight_context(self, merchant: Merchant) -> PreflightContext:
        reader = self._parts.reader.for_one_reply(merchant.merchant_id)
        row = await reader.fetchrow(jobs.SELECT_MERCHANT_STATE, merchant.merchant_id)
        return PreflightContext(business_now(MerchantState(*row), self._parts.writer.clock.now()), self._parts.rails)

    def _cache_parsed(self, path: Route, body: bytes, action: Action, request: Any) -> None:
        """Unless its rules may judge the same body otherwise for another merchant."""
        if all(rule.is_preflight for rule in action.rules) and len(body) <= MOST_REMEMBERED_BYTES:
            if len(self._parsed_cache) >= MOST_REMEMBERED:
                self._parsed_cache.clear()
            self._parsed_cache[path.method.name, body] = (action, request)

    def _scenario(self, headers: Headers) -> Scenario | None:
        if self._parts.environment != "test":
            return NO_SCENARIO
        said = headers.get("x-sandbox-scenario")
        if said is not None:
            return read_scenario(said)
        return None if "x-sandbox-scenario" in headers else NO_SCENARIO

    async def _run(
        self,
        path: Route,
        action: Write | Lookup | AdminCommand,
        request: Any,
        merchant: Merchant,
        headers: Headers,
        scenario: Scenario,
        progress: RequestProgress,
        note: MakeAuditEntry | None = None,
    ) -> Any:
        parts = self._parts
        if isinstance(action, Write):
            claim = claim_of(path.method.name, action, request, merchant, headers, parts.vault)
            if isinstance(claim, Refusal):
                return claim
            return await self._write(action, request, merchant, scenario, claim, progress, note)
        if isinstance(action, Lookup):
            plan = partial(self._take_call_scenario, action.rail, merchant, scenario)
            return await self._with_deadline(action.ask(request, merchant, parts.rails, plan))
        if action.writes:
            progress.expect_changes()
        return await action.run(request, merchant, parts.admin_operations)

    # --- writes ---------------------------------------------------------------------------------------------

    async def run_write(self, action: Write, request: Any, merchant: Merchant, progress: RequestProgress) -> Any:
        """A write that nobody asked for over the API: what a payer does on a page."""
        return await self._write(action, request, merchant, NO_SCENARIO, None, progress)

    async def _write(
        self,
        action: Write,
        request: Any,
        merchant: Merchant,
        scenario: Scenario,
        claim: IdempotencyClaim | None,
        progress: RequestProgress,
        note: MakeAuditEntry | None = None,
    ) -> Any:
        """Into the next batch. Where the decision says so, the outside is asked and it is made again on the answer;
        or its job is run at once."""
        if action.unpack is not None:
            request = await run_in_slices(collect(action.unpack(request, merchant)))
        decide = with_audit_entry(partial(action.decide, request), note)
        for _ in range(MOST_QUESTIONS):
            result = await self._decide(action, request, decide, merchant, scenario, claim, progress)
            if not isinstance(result, Decision) or result.question is None:
                return await self._finish_write(result, merchant)
            assert action.rail_question is not None
            told = await self._call(
                action.rail_question.rail, action.rail_question.ask, result.question, merchant, scenario
            )
            if isinstance(told, Refusal):
                return told
            decide = with_audit_entry(partial(action.decide, request, answer=told), note)
        return RAIL_TIMEOUT

    async def _decide(
        self,
        action: Write,
        request: Any,
        decide: Callable[..., Any],
        merchant: Merchant,
        scenario: Scenario,
        claim: IdempotencyClaim | None,
        progress: RequestProgress,
    ) -> Result:
        """A copy of a request that is still under way waits for it."""
        until = time.monotonic() + DEADLINE_SECONDS
        pause = FIRST_PAUSE_SECONDS
        while True:
            submission = Submission(
                merchant=merchant,
                needs=action.needs(request, merchant),
                decide=decide,
                entropy=os.urandom(32),
                idempotency_claim=claim,
                scenario=scenario,
            )
            result = await progress.submit(self._parts.writer, submission)
            if not (isinstance(result, Decision) and result.in_progress) or time.monotonic() > until:
                return result
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _finish_write(self, result: Result, merchant: Merchant) -> Any:
        """Returns the reply to a result. Runs the job of a committed decision first; raises unless what the rail
        answered is recorded: a bare refusal would deny what the first commit and the rail have done."""
        if not isinstance(result, Decision):
            if isinstance(result, RuleFailure):
                raise result.error
            return result
        job = result.follow_up
        if job is None:
            return result.reply
        recorded = await self._parts.steps.run(job, merchant, job.due, result.secrets)
        if isinstance(recorded, Decision):
            return recorded.reply
        raise recorded.error if isinstance(recorded, RuleFailure) else StepNotRecorded(job.kind)

    # --- rails that are asked ---------------------------------------------------------------------------------

    async def _call(
        self, rail: str, ask: Callable[..., Awaitable[Any]], request: Any, merchant: Merchant, scenario: Scenario
    ) -> Any:
        async def ask_planned() -> Any:
            planned = await self._take_call_scenario(rail, merchant, scenario)
            return await ask(request, merchant, self._parts.rails, planned)

        return await self._with_deadline(ask_planned())

    async def _with_deadline(self, asking: Awaitable[Any]) -> Any:
        """Rails keep their deadline themselves; one that does not costs nobody more than that."""
        try:
            async with asyncio.timeout(self._parts.deadline_seconds):
                return await asking
        except TimeoutError:
            return RAIL_TIMEOUT

    async def _take_call_scenario(self, rail: str, merchant: Merchant, scenario: Scenario) -> Scenario:
        """To ask is to call the rail too: it uses up a fault the merchant asked for."""
        if self._parts.environment != "test":
            return scenario
        reader = self._parts.reader.for_one_reply(merchant.merchant_id)
        row = await reader.fetchrow(jobs.FAULTS, book_key(merchant.merchant_id))
        if row[0] is None:
            return scenario

        def take(context: Context, seen: LoadedRows) -> Decision:
            planned, left = take_call_scenario(
                scenario, context.injected_faults, rail, int.from_bytes(context.entropy[:8], "big")
            )
            return Decision(reply=planned, injected_faults=left)

        result = await self._parts.writer.submit(Submission(merchant, Needs(), take, os.urandom(32)))
        return result.reply if isinstance(result, Decision) else scenario


def with_audit_entry(decide: Callable[..., Any], note: MakeAuditEntry | None) -> Callable[..., Any]:
    """The rule with an audit entry added to whatever it decides; a refusal leaves none."""
    if note is None:
        return decide

    def decide_and_note(context: Context, seen: LoadedRows) -> Any:
        decided = decide(context, seen)
        if not isinstance(decided, Decision) or decided.question is not None or decided.in_progress:
            return decided
        return msgspec.structs.replace(decided, audit_entries=(*decided.audit_entries, note(decided)))

    return decide_and_note


def failure_reply(path: Route, error: Exception, progress: RequestProgress) -> HttpReply:
    """Whatever breaks, the reply says what is known of the outcome, and the log where it broke."""
    if not is_outage(error):
        log.error("request failed", path=path.method.name, **describe_error(error))
    failure = reply_to_failure(error, progress)
    answered = action_reply(failure.reply, strict=False)
    answered.http_status = failure.http or answered.http_status
    return answered


@cache
def echoes_amount(kind: Any) -> bool:
    """Whether a reply may repeat the amount as the request had it: its type takes numbers too."""
    return int in typing.get_args(typing.get_type_hints(kind).get("amount"))


def refusal_reply(refusal: Refusal, *, strict: bool, http: int | None = None) -> HttpReply:
    body = ENCODER.encode(ErrorBody(refusal.code, refusal.message, refusal.field_errors))
    return HttpReply(http or http_status(refusal.code, strict=strict), body, refusal.code)


def rate_limit_reply(refusal: Refusal, wait_seconds: float) -> HttpReply:
    answered = refusal_reply(refusal, strict=False, http=429)
    answered.retry_after = int(wait_seconds) + 1
    return answered


def answer_prepared(reply: PreencodedReply, accepted: str | None) -> HttpReply:
    if accepted and takes_gzip(accepted):
        return HttpReply(200, reply.gzip_body, headers=PACKED_HEADERS)
    return HttpReply(200, reply.plain, headers=PREPARED_HEADERS)


@lru_cache(maxsize=256)
def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding names gzip, and not with the weight of zero that would forbid it."""
    for part in accepted.lower().split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight.strip("0.") != "" or weight == ""
    return False


async def reply_page(reply: Any, strict: bool) -> HttpReply:
    """A page of a list, encoded line by line and cut where it would be too long; others are let run in between."""
    lines: list[bytes] = []
    size = encoded = 0
    for line in reply if isinstance(reply, list) else reply.data:
        text = ENCODER.encode(line)
        size += len(text) + 1
        if size > MOST_PAGE_BYTES and lines:
            reply = truncate_page(reply, len(lines))
            break
        lines.append(text)
        if size - encoded > MOST_ENCODED_AT_ONCE:
            encoded = size
            await asyncio.sleep(0)
    listed = msgspec.Raw(b"[" + b",".join(lines) + b"]")
    whole = listed if isinstance(reply, list) else msgspec.structs.replace(reply, data=listed)
    return action_reply(whole, strict=strict)


def action_reply(reply: Any, *, strict: bool) -> HttpReply:
    if isinstance(reply, Refusal):
        return refusal_reply(reply, strict=strict)
    status = getattr(reply, "status", 200)
    code = status if isinstance(status, int) else 200
    return HttpReply(http_status(code, strict=strict), ENCODER.encode(reply), code)
