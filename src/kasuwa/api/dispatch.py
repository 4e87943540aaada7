"""Handles one request, from its headers and body to its reply.

Checks are made in a fixed order: authentication (status 101), valid JSON (103), a known action (102), valid fields
(104), then those of the action itself. Contract: #errors
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

import msgspec
import structlog

from kasuwa.api.body_errors import BEYOND_LIMITS, refuse_body
from kasuwa.api.current_merchant import MerchantSuspended, require_current, with_current_merchant
from kasuwa.api.idempotency_key import read_claim
from kasuwa.api.key_rights import mask_for_reader, refuse_address, refuse_scope
from kasuwa.api.outcome import RAIL_TIMEOUT, reply_to_failure
from kasuwa.api.rate_limit import RateLimiter
from kasuwa.api.replies import (
    HttpReply,
    action_reply,
    echoes_amount,
    page_reply,
    preencoded_reply,
    rate_limit_reply,
    refusal_reply,
)
from kasuwa.api.routes import Envelope, Route
from kasuwa.api.sent_values import add_sent_values
from kasuwa.authority.audit_notes import ActionNote
from kasuwa.concurrency.deadlines import Deadlines
from kasuwa.concurrency.time_slices import collect, run_in_shared_slices
from kasuwa.core.action import (
    Action,
    AdminCommand,
    AdminOperations,
    DecideAnsweredRule,
    Lookup,
    MemoryRead,
    PreencodedReply,
    PreflightContext,
    RailQuestion,
    Read,
    Write,
    make_action_title,
)
from kasuwa.core.addresses import find_network
from kasuwa.core.codes import AUTHENTICATION_FAILED, ERROR
from kasuwa.core.decision import (
    AuditEntry,
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    Outcome,
    Refusal,
    refuse_fields,
    replace_faults,
)
from kasuwa.core.dry_run import forbid_changes, is_dry_run, unknown_dry_run_faults
from kasuwa.core.error_codes import HEADER_INVALID
from kasuwa.core.reading import ReaderFactory
from kasuwa.core.references import merchant_state_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario, read_scenario, take_call_scenario
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Result, RuleFailure, Submission
from kasuwa.engine.decision_inputs import DecisionInput
from kasuwa.engine.entropy import draw_entropy
from kasuwa.engine.idempotency import IdempotencyClaim
from kasuwa.engine.merchant_state import MerchantState, business_now
from kasuwa.engine.progress import RequestProgress, is_outage
from kasuwa.engine.writer import Writer
from kasuwa.http.headers import Headers
from kasuwa.http.shared_buckets import SharedLimits
from kasuwa.http.throttle import AuthenticationThrottle, SharedThrottle
from kasuwa.jobs import leases
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.observe.log import describe_error
from kasuwa.wire.body import InvalidJson, check_json, unwrap_single_object
from kasuwa.wire.decoding import InvalidRequest, add_preflight_errors, add_request_errors, decode
from kasuwa.wire.fields import echo_amount
from kasuwa.wire.paging import is_page

NOT_AUTHENTICATED = Refusal(
    AUTHENTICATION_FAILED,
    "Merchant authentication failed; check the mid and key headers",
    error_code="authentication_failed",
)
MISSING_HEADERS = Refusal(
    AUTHENTICATION_FAILED, "Merchant authentication failed; {missing}{hint}", error_code="header_missing"
)
# Headers that other services take, and that say nothing here.
OTHER_HEADERS = (
    "authorization",
    "x-api-key",
    "api-key",
    "apikey",
    "x-mid",
    "merchant-id",
    "merchantid",
    "x-key",
    "merchant_id",
    "secret-key",
)
WRONG_SCENARIO = FieldError(
    "x-sandbox-scenario", "rr, delay, http and webhook as key=value, with ; between", HEADER_INVALID
)
SUSPENDED = Refusal(
    AUTHENTICATION_FAILED, "This merchant is suspended; ask the operator", error_code="merchant_suspended"
)
TOO_MANY_FAILURES = Refusal(
    ERROR,
    "Too many failed authentications from your address; check mid and key, and wait as retry-after says",
    error_code="too_many_failed_authentications",
)

# How long a rail may take, and how long a repeated request waits for the first one to finish.
# Contract: #repeats
DEADLINE_SECONDS = 10.0
# Poll interval of a repeated request while the first one is in progress. It doubles up to the maximum.
INITIAL_POLL_SECONDS = 0.01
MAX_POLL_SECONDS = 0.25
# The question may have changed by the time of the answer, for instance if another BVN was stored. It is then repeated.
MAX_QUESTIONS = 3

# Requests for a preencoded reply are the same bytes for every merchant, and parsing them is a fifth of their cost. So
# this many short bodies are cached with their parsed requests.
PARSED_CACHE_SIZE = 256
# Larger bodies have files or many transfers. They are parsed in a thread, so that other requests go on meanwhile.
PARSED_IN_THREAD_BYTES = 64 * 1024
PARSED_CACHE_MAX_BYTES = 256
log = structlog.get_logger("kasuwa.api")
ENVELOPE = msgspec.json.Decoder(Envelope)


def refuse_headers(headers: Headers) -> Refusal:
    """Returns the refusal of a request without readable mid and key headers. It says nothing of any merchant."""
    missing = [
        f"the {name} header has characters beyond ASCII" if name in headers else f"there is no {name} header"
        for name in ("mid", "key")
        if headers.get(name) is None
    ]
    sent = [name for name in OTHER_HEADERS if name in headers]
    hint = f" (did you mean it by {', '.join(sent)}?)" if sent else ""
    return MISSING_HEADERS.fill(missing=" and ".join(missing), hint=hint)


class StepRunner(Protocol):
    async def run(self, job: Job, merchant: Merchant, now: Any, secrets: Any = None) -> Result: ...


# Makes the audit entry of a decision, if a person acts in the name of the merchant. Written in the decision's commit.
MakeAuditEntry = Callable[[Decision], AuditEntry]
# A rule with its request filled in, as the writer calls it.
BoundRule = Callable[[Context, LoadedRows], Outcome]


class DispatchServices(msgspec.Struct):
    """The services that dispatch uses."""

    directory: MerchantDirectory
    writer: Writer
    reader: ReaderFactory
    steps: StepRunner
    rails: Any
    admin_operations: AdminOperations | None
    vault: Vault
    environment: str
    deadline_seconds: float = DEADLINE_SECONDS
    limits: SharedLimits | None = None  # if several API processes count together


class StepNotRecorded(Exception):
    """Raised if the rule of a step did not record the rail's answer, which is a bug. The text is the job's kind."""


class Dispatch:
    def __init__(self, services: DispatchServices) -> None:
        self._services = services
        self._deadlines = Deadlines()
        limits = services.limits
        self.limiter = RateLimiter() if limits is None else RateLimiter(limits.rates)
        self._throttle = AuthenticationThrottle() if limits is None else SharedThrottle(limits.failures)
        self._parsed_cache: dict[tuple[str, bytes], tuple[Action, Any]] = {}

    def with_reader(self, reader: ReaderFactory, writer: Any) -> "Dispatch":
        """Returns a copy with another reader and a writer that decides without committing
        (engine/snapshot_writer.py)."""
        return Dispatch(msgspec.structs.replace(self._services, reader=reader, writer=writer))

    async def authenticate(self, path: Route, headers: Headers, address: Callable[[], str]) -> Merchant | HttpReply:
        """Returns the merchant named by the headers, or the reply that refuses the request: wrong key, suspended, or
        too many requests. The body is not read before. `address()` returns the client's network address."""
        try:
            mid, key = headers.get("mid"), headers.get("key")
            if mid is None or key is None:
                return refusal_reply(refuse_headers(headers), strict=False)
            directory, mid, throttle = self._services.directory, mid.strip(), self._throttle
            if throttle.has_failures:
                wait = throttle.wait_seconds(find_network(address()), mid)
                if wait:
                    return rate_limit_reply(TOO_MANY_FAILURES, wait)
            merchant = await directory.authenticate(mid, key.strip())
            return self._admit(merchant, mid, address)
        except Exception as error:
            return failure_reply(path, error, RequestProgress())

    async def answer(self, path: Route, headers: Headers, body: bytes, merchant: Merchant) -> HttpReply:
        progress = RequestProgress()
        try:
            answered = await with_current_merchant(
                self._services.directory,
                merchant,
                lambda current: self._answer_merchant(path, headers, body, current, progress),
            )
        except MerchantSuspended:
            return refusal_reply(NOT_AUTHENTICATED, strict=False)
        except Exception as error:
            return failure_reply(path, error, progress)
        answered.mid = merchant.mid
        return answered

    async def handle_on_behalf(
        self, path: Route, merchant: Merchant, headers: Headers, body: bytes, note: ActionNote | None = None
    ) -> HttpReply:
        """Handles a request of a person who is signed in to the console, who is the merchant's caller. `note` makes the
        audit entry of a write."""
        if merchant.suspended:
            return refusal_reply(SUSPENDED, strict=False)
        progress = RequestProgress()
        try:
            return await with_current_merchant(
                self._services.directory,
                merchant,
                lambda current: self._answer_merchant(path, headers, body, current, progress, note),
            )
        except MerchantSuspended:
            return refusal_reply(SUSPENDED, strict=False)
        except Exception as error:
            return failure_reply(path, error, progress)

    def _admit(self, merchant: Merchant | None, mid: str, address: Callable[[], str]) -> Merchant | HttpReply:
        """Returns the merchant, or a refusal if it is None (wrong key), suspended or over its rate limit, or if the key
        may not be used from this address."""
        throttle = self._throttle
        if merchant is None or merchant.suspended:
            if self._services.environment == "live":
                throttle.record_failure(find_network(address()))
            return refusal_reply(NOT_AUTHENTICATED, strict=False)
        caller, usage = merchant.caller, self._services.directory.key_usage
        if caller.addresses and not caller.may_come_from(address()):
            usage.note_refusal(merchant.merchant_id, caller.key_id, address())
            return refusal_reply(refuse_address(caller, address()), strict=False)
        if caller.is_use_due:
            usage.note_use(merchant.merchant_id, caller.key_id, address())
        if throttle.has_failures:
            throttle.record_success(find_network(address()), mid)
        return self.limiter.count_request(merchant) or merchant

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
        cached = self._parsed_cache.get((path.method.name, body))
        if cached is None and len(body) > PARSED_IN_THREAD_BYTES:
            parsed = await asyncio.to_thread(self.parse_request, path, body, merchant)
        else:
            parsed = cached or self.parse_request(path, body, merchant)
        if isinstance(parsed, Refusal):
            return refusal_reply(add_sent_values(parsed, body), strict=strict)
        action, request = parsed
        beyond = refuse_scope(path.method, action, merchant.caller)
        if beyond is not None:
            return refusal_reply(beyond, strict=strict)
        is_invalid = isinstance(request, InvalidRequest)
        if is_invalid and any(rule.is_preflight for rule in action.rules):
            request = add_preflight_errors(
                action.request, request, action.rules, merchant, await self._preflight_context(merchant)
            )
        scenario = self._scenario(headers)
        if is_invalid or scenario is None:
            faults: tuple[FieldError, ...] = request if is_invalid else ()
            if scenario is None:
                faults += (WRONG_SCENARIO,)
            answered = refusal_reply(add_sent_values(refuse_fields(*faults), body), strict=strict)
        else:
            if isinstance(action, Read):
                reply = await action.read(request, merchant, self._services.reader.for_one_reply(merchant.merchant_id))
            elif isinstance(action, MemoryRead):
                reply = action.answer(request, merchant, self._services.rails)
            elif isinstance(action, Write):
                claim = read_claim(path.method.name, action, request, merchant, headers, self._services.vault)
                if isinstance(claim, Refusal):
                    reply = claim
                else:
                    progress.path = path.method.name
                    reply = await self._write(action, request, merchant, scenario, claim, progress, note)
            else:
                reply = await self._run(action, request, merchant, scenario, progress)
            if isinstance(reply, PreencodedReply):
                if cached is None:
                    self._cache_parsed(path, body, action, request)
                answered = preencoded_reply(reply, headers.get("accept-encoding"))
            else:
                kind: Any = type(reply)
                if isinstance(reply, Refusal):
                    reply = add_sent_values(reply, body)
                elif echoes_amount(kind):
                    reply.amount = echo_amount(reply.amount, getattr(request, "amount", None))
                answered = await page_reply(reply, strict) if is_page(reply) else action_reply(reply, strict=strict)
                await mask_for_reader(answered, path.method, action, merchant.caller)
        answered.action = action.name
        return answered

    @staticmethod
    def parse_request(path: Route, body: bytes, merchant: Merchant) -> Refusal | tuple[Action, Any]:
        """Returns the action that a body selects with the decoded request or its field errors, or a Refusal."""
        try:
            body = unwrap_single_object(body)
            check_json(body)
            envelope = ENVELOPE.decode(body)
        except InvalidJson as error:
            return BEYOND_LIMITS.fill(error=error)
        except (msgspec.DecodeError, RecursionError):
            return refuse_body(body)
        action = path.select_action(envelope)
        if isinstance(action, Refusal):
            return action
        request = decode(action.request, body, action.rules, merchant)
        if envelope.dry_run is not None:
            request = add_request_errors(request, unknown_dry_run_faults(action, envelope.dry_run))
        return action, request

    async def _preflight_context(self, merchant: Merchant) -> PreflightContext:
        reader = self._services.reader.for_one_reply(merchant.merchant_id)
        row = await reader.fetchrow(leases.SELECT_MERCHANT_STATE, merchant.merchant_id)
        return PreflightContext(
            business_now(MerchantState(*row), self._services.writer.clock.now()), self._services.rails
        )

    def _cache_parsed(self, path: Route, body: bytes, action: Action, request: Any) -> None:
        """Caches a parsed body, unless its field rules depend on the merchant."""
        if all(rule.is_preflight for rule in action.rules) and len(body) <= PARSED_CACHE_MAX_BYTES:
            if len(self._parsed_cache) >= PARSED_CACHE_SIZE:
                self._parsed_cache.clear()
            self._parsed_cache[path.method.name, body] = (action, request)

    def _scenario(self, headers: Headers) -> Scenario | None:
        if self._services.environment != "test":
            return NO_SCENARIO
        header = headers.get("x-sandbox-scenario")
        if header is not None:
            return read_scenario(header)
        return None if "x-sandbox-scenario" in headers else NO_SCENARIO

    async def _run(
        self,
        action: Lookup | AdminCommand,
        request: Any,
        merchant: Merchant,
        scenario: Scenario,
        progress: RequestProgress,
    ) -> Any:
        """Runs a look-up or an admin command and returns its reply."""
        services = self._services
        if isinstance(action, Lookup):
            plan = partial(self._take_call_scenario, action.rail, action.name, merchant, scenario)
            return await self._with_deadline(action.ask(request, merchant, services.rails, plan))
        if action.writes:
            progress.expect_changes()
        assert services.admin_operations is not None, "an API process has operations"
        return await action.run(request, merchant, services.admin_operations)

    # --- writes ---------------------------------------------------------------------------------------------

    async def run_write(self, action: Write, request: Any, merchant: Merchant, progress: RequestProgress) -> Any:
        """Runs a write that did not come over the API: a payer's action on a page."""
        return await with_current_merchant(
            self._services.directory,
            merchant,
            lambda current: self._write(action, request, current, NO_SCENARIO, None, progress),
        )

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
        """Submits a write to the writer and returns its reply. Asks the rail first if the decision has a question, and
        runs the follow-up job of the decision."""
        sent = None
        if not action.is_read_from_rows:
            sent = DecisionInput("request", f"{progress.path}.{make_action_title(action)}", request)
        if action.unpack is not None:
            request = await run_in_shared_slices(collect(action.unpack(request, merchant)))
            if note is None:
                self.limiter.count_orders(merchant, len(request))
        # A dry run leaves nothing behind, and so no entry either.
        entry = None if is_dry_run(request) else note
        decide = with_audit_entry(forbid_changes(partial(action.decide, request), request), entry)
        for _ in range(MAX_QUESTIONS):
            submission = Submission(
                merchant=merchant,
                needs=Needs(),
                decide=decide,
                entropy=b"",
                idempotency_claim=claim,
                scenario=scenario,
                orders=1 if action.weigh is None else action.weigh(request),
                needs_current_settings=True,
                sent=sent,
            )
            result = await self._decide(action, request, submission, progress)
            if not isinstance(result, Decision) or result.question is None:
                return await self._finish_write(result, merchant)
            answered = await self._answer_question(action, request, result.question, merchant, scenario)
            if isinstance(answered, Refusal):
                return answered
            decide = with_audit_entry(forbid_changes(answered, request), entry)
        return RAIL_TIMEOUT

    async def _decide(self, action: Write, request: Any, prepared: Submission, progress: RequestProgress) -> Result:
        """Submits the rule. While the same request is in progress elsewhere, submits it again until the deadline."""
        until = time.monotonic() + DEADLINE_SECONDS
        poll_seconds = INITIAL_POLL_SECONDS
        while True:
            submission = msgspec.structs.replace(
                prepared, needs=action.needs(request, prepared.merchant), entropy=draw_entropy()
            )
            result = require_current(await progress.submit(self._services.writer, submission))
            if not (isinstance(result, Decision) and result.in_progress) or time.monotonic() > until:
                return result
            await asyncio.sleep(poll_seconds)
            poll_seconds = min(poll_seconds * 2, MAX_POLL_SECONDS)

    async def _finish_write(self, result: Result, merchant: Merchant) -> Any:
        """Returns the reply of a result, after it has run the follow-up job of the decision.

        Raises StepNotRecorded if the rail's answer could not be recorded: a refusal would hide what the first commit
        and the rail have done."""
        if not isinstance(result, Decision):
            if isinstance(result, RuleFailure):
                raise result.error
            return result
        job = result.follow_up
        if job is None:
            return result.reply
        recorded = await self._services.steps.run(job, merchant, job.due, result.secrets)
        if isinstance(recorded, Decision):
            return recorded.reply
        raise recorded.error if isinstance(recorded, RuleFailure) else StepNotRecorded(job.kind)

    async def _answer_question(
        self, action: Write, request: Any, question: Any, merchant: Merchant, scenario: Scenario
    ) -> BoundRule | Refusal:
        """Returns the rule that decides with the answer to the question of a decision, or a rail's Refusal."""
        if action.decide_with_ended is not None:
            ended = await self._services.directory.find_ended_senders(merchant, question)
            return bind_answer(action.decide_with_ended, request, ended)
        assert action.rail_question is not None, "only the rule of a row with a question returns one"
        answer = await self._ask_rail(action.rail_question, question, merchant, scenario)
        return answer if isinstance(answer, Refusal) else bind_answer(action.rail_question.decide, request, answer)

    # --- calls to rails ---------------------------------------------------------------------------------------

    async def _ask_rail(
        self, rail_question: RailQuestion, question: Any, merchant: Merchant, scenario: Scenario
    ) -> Any:
        """Returns the rail's answer to the question of a decision, or a Refusal."""

        async def ask() -> Any:
            rail, operation = rail_question.rail, rail_question.operation
            call_scenario = await self._take_call_scenario(rail, operation, merchant, scenario)
            return await rail_question.ask(question, merchant, self._services.rails, call_scenario)

        return await self._with_deadline(ask())

    async def _with_deadline(self, asking: Awaitable[Any]) -> Any:
        """Awaits a rail's answer. Rails keep deadlines of their own; this bounds one that does not."""
        try:
            with self._deadlines.within(self._services.deadline_seconds):
                return await asking
        except TimeoutError:
            return RAIL_TIMEOUT

    async def _take_call_scenario(self, rail: str, operation: str, merchant: Merchant, scenario: Scenario) -> Scenario:
        """Returns the scenario of the next call of a rail. Uses up an injected fault of the merchant."""
        if self._services.environment != "test":
            return scenario
        reader = self._services.reader.for_one_reply(merchant.merchant_id)
        row = await reader.fetchrow(leases.FAULTS, merchant_state_key(merchant.merchant_id))
        if row[0] is None:
            return scenario

        def take(context: Context, rows: LoadedRows) -> Decision:
            call_scenario, faults = take_call_scenario(
                scenario, context.injected_faults, rail, operation, int.from_bytes(context.entropy[:8], "big")
            )
            return Decision(reply=call_scenario, sandbox=replace_faults(faults))

        result = await self._services.writer.submit(Submission(merchant, Needs(), take, draw_entropy()))
        return result.reply if isinstance(result, Decision) else scenario


def bind_answer(decide: DecideAnsweredRule[Any, Any, Any], request: Any, answer: Any) -> BoundRule:
    """Returns a rule with its request and the answer to its question filled in."""
    return lambda context, rows: decide(request, context, rows, answer)


def with_audit_entry(decide: BoundRule, make_entry: MakeAuditEntry | None) -> BoundRule:
    """Returns a rule that adds an audit entry to its decision. Refusals and decisions that are not final get none."""
    if make_entry is None:
        return decide

    def decide_and_record(context: Context, rows: LoadedRows) -> Outcome:
        decided = decide(context, rows)
        if not isinstance(decided, Decision) or decided.question is not None or decided.in_progress:
            return decided
        return msgspec.structs.replace(decided, audit_entries=(*decided.audit_entries, make_entry(decided)))

    return decide_and_record


def failure_reply(path: Route, error: Exception, progress: RequestProgress) -> HttpReply:
    """Returns the reply to a request that raised. It says what is known of the outcome; the log has the error."""
    if not is_outage(error):
        log.error("request failed", path=path.method.name, **describe_error(error))
    failure = reply_to_failure(error, progress)
    answered = action_reply(failure.reply, strict=False)
    answered.http_status = failure.http or answered.http_status
    return answered
