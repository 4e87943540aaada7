"""One request, from its headers and bytes to its reply. The order of checks is fixed: 101, 103, 102, 104,
then the operation's own (D4)."""

import asyncio
import os
import time
import typing
from collections.abc import Awaitable, Callable
from functools import cache, lru_cache, partial
from typing import Any, Protocol

import msgspec
import structlog

from kasuwa.core.action import Action, Command, Engine, Foresight, Known, Lookup, Prepared, Read, Write
from kasuwa.core.body import NotJson, check_json, one_object
from kasuwa.core.codes import (
    AUTHENTICATION_FAILED,
    ERROR,
    INVALID_JSON,
    http_status,
)
from kasuwa.core.decision import Context, Decision, Deed, Fault, Job, Merchant, Needs, Refusal, Seen, refuse_fields
from kasuwa.core.decoding import Faults, decode, foretell
from kasuwa.core.fields import echo_amount
from kasuwa.core.paging import MOST_PAGE_BYTES, is_page, shorten
from kasuwa.core.reading import Readers
from kasuwa.core.references import book_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario, plan_call, read_scenario
from kasuwa.core.secrets import Vault
from kasuwa.db import jobs
from kasuwa.db.batch import Book, Broken, Claim, Result, Submission, business_now
from kasuwa.db.merchants import Directory
from kasuwa.db.progress import Progress, is_outage
from kasuwa.db.turns import collect, run_in_turns
from kasuwa.db.writer import Writer
from kasuwa.observe.log import where_it_broke
from kasuwa.web.idempotency import claim_of
from kasuwa.web.limits import Limiter
from kasuwa.web.outcome import NO_ANSWER, reply_to_failure
from kasuwa.web.table import Envelope, Path
from kasuwa.web.throttle import AuthenticationThrottle

NOT_AUTHENTICATED = Refusal(AUTHENTICATION_FAILED, "Merchant authentication failed; check the mid and key headers")
SUSPENDED = Refusal(AUTHENTICATION_FAILED, "This merchant is suspended; ask the operator")
TOO_MANY_FAILURES = Refusal(
    ERROR, "Too many failed authentications from your address; check mid and key, and wait as retry-after says"
)
TOO_MANY = Refusal(ERROR, "Too many requests; wait as retry-after says")

# How long a rail is waited for, and a copy of a request for the first one, which is still at the rail. Spec silent: D7
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


class Steps(Protocol):
    async def run(self, job: Job, merchant: Merchant, now: Any, beside: Any = None) -> Result: ...


class Headers(Protocol):
    def get(self, key: str, default: Any = None) -> Any: ...

    def __contains__(self, key: str) -> bool: ...


# Makes the audit entry of a decision, for who acts in the name of a merchant; it is written in the decision's commit.
Note = Callable[[Decision], Deed]

JSON_HEADERS = (("content-type", "application/json"),)
PREPARED_HEADERS = (*JSON_HEADERS, ("vary", "accept-encoding"))
PACKED_HEADERS = (*PREPARED_HEADERS, ("content-encoding", "gzip"))


class Answered(msgspec.Struct):
    """A reply, and what the log may say of it."""

    http: int
    body: bytes
    status: int = 200
    mid: str = ""
    action: str = ""
    retry_after: int | None = None
    headers: tuple[tuple[str, str], ...] = JSON_HEADERS
    # The body was not read to its end: nothing more can come on the connection.
    hang_up: bool = False


class ErrorBody(msgspec.Struct, omit_defaults=True):
    """Spec silent: D4"""

    status: int
    message: str
    errors: tuple[Fault, ...] = ()


class Parts(msgspec.Struct):
    """What dispatch works with, handed over by app.py."""

    directory: Directory
    writer: Writer
    reader: Readers
    steps: Steps
    rails: Any
    engine: Engine | None
    vault: Vault
    environment: str
    deadline_seconds: float = DEADLINE_SECONDS


class NotRecorded(Exception):
    """A step's rule refused to record what its rail answered: a bug of that rule, named by its job's kind."""


class Dispatch:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._limiter = Limiter()
        self._throttle = AuthenticationThrottle()
        self._understood: dict[tuple[str, bytes], tuple[Action, Any]] = {}

    def reading(self, reader: Readers, writer: Any) -> "Dispatch":
        """The same on another reader, and on a writer that only decides (db/snapshot_writer.py)."""
        return Dispatch(msgspec.structs.replace(self._parts, reader=reader, writer=writer))

    async def identify(self, path: Path, headers: Headers, address: Callable[[], str]) -> Merchant | Answered:
        """Returns who asks, by the headers alone, or the reply that refuses a stranger or one who asks too often: a
        stranger's body is not read. `address` tells where the request came from, where that matters."""
        try:
            mid, key = headers.get("mid"), headers.get("key")
            if mid is None or key is None:
                return refused(NOT_AUTHENTICATED, strict=False)
            directory, mid, throttle = self._parts.directory, mid.strip(), self._throttle
            if throttle.failures:
                wait = throttle.wait_seconds(address(), mid)
                if wait:
                    return limited(TOO_MANY_FAILURES, wait)
            merchant = directory.check(directory.recall(mid) or await directory.load(mid), key.strip())
            return self._admit(merchant, mid, address)
        except Exception as error:
            return answer_trouble(path, error, Progress())

    async def answer(self, path: Path, headers: Headers, body: bytes, merchant: Merchant) -> Answered:
        progress = Progress()
        try:
            answered = await self._answer_merchant(path, headers, body, merchant, progress)
        except Exception as error:
            return answer_trouble(path, error, progress)
        answered.mid = merchant.mid
        return answered

    async def answer_as(self, path: Path, merchant: Merchant, body: bytes, note: Note | None = None) -> Answered:
        """For who signed in another way: the same rules from the body on. What is written is noted by `note`."""
        if merchant.suspended:
            return refused(SUSPENDED, strict=False)
        progress = Progress()
        try:
            return await self._answer_merchant(path, {}, body, merchant, progress, note)
        except Exception as error:
            return answer_trouble(path, error, progress)

    def _admit(self, merchant: Merchant | None, mid: str, address: Callable[[], str]) -> Merchant | Answered:
        """Returns the merchant whose key was right, unless it is suspended or asks too often; None is a stranger."""
        throttle = self._throttle
        if merchant is None or merchant.suspended:
            if self._parts.environment == "live":
                throttle.record_failure(address())
            return refused(NOT_AUTHENTICATED, strict=False)
        if throttle.failures:
            throttle.record_success(address(), mid)
        wait = self._limiter.wait_seconds(merchant.merchant_id, merchant.rate)
        if wait:
            return limited(TOO_MANY, wait)
        return merchant

    async def _answer_merchant(
        self,
        path: Path,
        headers: Headers,
        body: bytes,
        merchant: Merchant,
        progress: Progress,
        note: Note | None = None,
    ) -> Answered:
        strict = merchant.strict
        remembered = self._understood.get((path.method.name, body))
        understood = remembered or self._understand(path, body, merchant)
        if isinstance(understood, Refusal):
            return refused(understood, strict=strict)
        action, request = understood
        faulty = isinstance(request, Faults)
        if faulty and any(rule.foretells for rule in action.rules):
            request = foretell(action.request, request, action.rules, merchant, await self._foresight(merchant))
        scenario = self._scenario(headers)
        if faulty or scenario is None:
            faults: tuple[Fault, ...] = request if faulty else ()
            if scenario is None:
                faults += (Fault("x-sandbox-scenario", "rr, delay, http and webhook as key=value, with ; between"),)
            answered = refused(refuse_fields(*faults), strict=strict)
        else:
            if isinstance(action, Read):
                reply = await action.read(request, merchant, self._parts.reader.for_one_reply(merchant.merchant_id))
            elif isinstance(action, Known):
                reply = action.answer(request, merchant, self._parts.rails)
            else:
                reply = await self._run(path, action, request, merchant, headers, scenario, progress, note)
            if isinstance(reply, Prepared):
                if remembered is None:
                    self._remember(path, body, action, request)
                answered = answer_prepared(reply, headers.get("accept-encoding", ""))
            else:
                kind: Any = type(reply)
                if echoes_amount(kind):
                    reply.amount = echo_amount(reply.amount, getattr(request, "amount", None))
                answered = await reply_page(reply, strict) if is_page(reply) else replied(reply, strict=strict)
        answered.action = action.name
        return answered

    def _understand(self, path: Path, body: bytes, merchant: Merchant) -> Refusal | tuple[Action, Any]:
        """Which action a body asks for, and its request or its faults."""
        try:
            body = one_object(body)
            check_json(body)
            envelope = ENVELOPE.decode(body)
        except NotJson as error:
            return Refusal(INVALID_JSON, f"Invalid JSON request: {error}")
        except (msgspec.DecodeError, RecursionError):
            return Refusal(INVALID_JSON, "Invalid JSON request: send one JSON object")
        action = path.find(envelope)
        if isinstance(action, Refusal):
            return action
        return action, decode(action.request, body, action.rules, merchant)

    async def _foresight(self, merchant: Merchant) -> Foresight:
        reader = self._parts.reader.for_one_reply(merchant.merchant_id)
        row = await reader.fetchrow(jobs.CLOCK, merchant.merchant_id)
        return Foresight(business_now(Book(*row), self._parts.writer.clock.now()), self._parts.rails)

    def _remember(self, path: Path, body: bytes, action: Action, request: Any) -> None:
        """Unless its rules may judge the same body otherwise for another merchant."""
        if all(rule.foretells for rule in action.rules) and len(body) <= MOST_REMEMBERED_BYTES:
            if len(self._understood) >= MOST_REMEMBERED:
                self._understood.clear()
            self._understood[path.method.name, body] = (action, request)

    def _scenario(self, headers: Headers) -> Scenario | None:
        if self._parts.environment != "test":
            return NO_SCENARIO
        said = headers.get("x-sandbox-scenario")
        if said is not None:
            return read_scenario(said)
        return None if "x-sandbox-scenario" in headers else NO_SCENARIO

    async def _run(
        self,
        path: Path,
        action: Write | Lookup | Command,
        request: Any,
        merchant: Merchant,
        headers: Headers,
        scenario: Scenario,
        progress: Progress,
        note: Note | None = None,
    ) -> Any:
        parts = self._parts
        if isinstance(action, Write):
            claim = claim_of(path.method.name, action, request, merchant, headers, parts.vault)
            if isinstance(claim, Refusal):
                return claim
            return await self._write(action, request, merchant, scenario, claim, progress, note)
        if isinstance(action, Lookup):
            plan = partial(self._plan_call, action.rail, merchant, scenario)
            return await self._in_time(action.ask(request, merchant, parts.rails, plan))
        if action.writes:
            progress.expect_changes()
        return await action.run(request, merchant, parts.engine)

    # --- writes ---------------------------------------------------------------------------------------------

    async def perform(self, action: Write, request: Any, merchant: Merchant, progress: Progress) -> Any:
        """A write that nobody asked for over the API: what a payer does on a page."""
        return await self._write(action, request, merchant, NO_SCENARIO, None, progress)

    async def _write(
        self,
        action: Write,
        request: Any,
        merchant: Merchant,
        scenario: Scenario,
        claim: Claim | None,
        progress: Progress,
        note: Note | None = None,
    ) -> Any:
        """Into the next batch. Where the decision says so, the outside is asked and it is made again on the answer;
        or its job is run at once."""
        if action.unpack is not None:
            request = await run_in_turns(collect(action.unpack(request, merchant)))
        decide = noted(partial(action.decide, request), note)
        for _ in range(MOST_QUESTIONS):
            result = await self._decide(action, request, decide, merchant, scenario, claim, progress)
            if not isinstance(result, Decision) or result.asks is None:
                return await self._end(result, merchant)
            assert action.ask is not None
            told = await self._call(action.ask.rail, action.ask.ask, result.asks, merchant, scenario)
            if isinstance(told, Refusal):
                return told
            decide = noted(partial(action.decide, request, told=told), note)
        return NO_ANSWER

    async def _decide(
        self,
        action: Write,
        request: Any,
        decide: Callable[..., Any],
        merchant: Merchant,
        scenario: Scenario,
        claim: Claim | None,
        progress: Progress,
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
                claim=claim,
                scenario=scenario,
            )
            result = await progress.submit(self._parts.writer, submission)
            if not (isinstance(result, Decision) and result.wait) or time.monotonic() > until:
                return result
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _end(self, result: Result, merchant: Merchant) -> Any:
        """Returns the reply to a result. Runs the job of a committed decision first; raises unless what the rail
        answered is recorded: a bare refusal would deny what the first commit and the rail have done."""
        if not isinstance(result, Decision):
            if isinstance(result, Broken):
                raise result.error
            return result
        job = result.then
        if job is None:
            return result.reply
        recorded = await self._parts.steps.run(job, merchant, job.due, result.beside)
        if isinstance(recorded, Decision):
            return recorded.reply
        raise recorded.error if isinstance(recorded, Broken) else NotRecorded(job.kind)

    # --- rails that are asked ---------------------------------------------------------------------------------

    async def _call(
        self, rail: str, ask: Callable[..., Awaitable[Any]], request: Any, merchant: Merchant, scenario: Scenario
    ) -> Any:
        async def ask_planned() -> Any:
            planned = await self._plan_call(rail, merchant, scenario)
            return await ask(request, merchant, self._parts.rails, planned)

        return await self._in_time(ask_planned())

    async def _in_time(self, asking: Awaitable[Any]) -> Any:
        """Rails keep their deadline themselves; one that does not costs nobody more than that."""
        try:
            async with asyncio.timeout(self._parts.deadline_seconds):
                return await asking
        except TimeoutError:
            return NO_ANSWER

    async def _plan_call(self, rail: str, merchant: Merchant, scenario: Scenario) -> Scenario:
        """To ask is to call the rail too: it uses up a fault the merchant asked for."""
        if self._parts.environment != "test":
            return scenario
        reader = self._parts.reader.for_one_reply(merchant.merchant_id)
        row = await reader.fetchrow(jobs.FAULTS, book_key(merchant.merchant_id))
        if row[0] is None:
            return scenario

        def take(context: Context, seen: Seen) -> Decision:
            planned, left = plan_call(scenario, context.faults, rail, int.from_bytes(context.entropy[:8], "big"))
            return Decision(reply=planned, faults=left)

        result = await self._parts.writer.submit(Submission(merchant, Needs(), take, os.urandom(32)))
        return result.reply if isinstance(result, Decision) else scenario


def noted(decide: Callable[..., Any], note: Note | None) -> Callable[..., Any]:
    """The rule with an audit entry added to whatever it decides; a refusal leaves none."""
    if note is None:
        return decide

    def decide_and_note(context: Context, seen: Seen) -> Any:
        decided = decide(context, seen)
        if not isinstance(decided, Decision) or decided.asks is not None or decided.wait:
            return decided
        return msgspec.structs.replace(decided, deeds=(*decided.deeds, note(decided)))

    return decide_and_note


def answer_trouble(path: Path, error: Exception, progress: Progress) -> Answered:
    """Whatever breaks, the reply says what is known of the outcome, and the log where it broke."""
    if not is_outage(error):
        log.error("request failed", path=path.method.name, **where_it_broke(error))
    failure = reply_to_failure(error, progress)
    answered = replied(failure.reply, strict=False)
    answered.http = failure.http or answered.http
    return answered


@cache
def echoes_amount(kind: Any) -> bool:
    """Whether a reply may repeat the amount as the request had it: its type takes numbers too."""
    return int in typing.get_args(typing.get_type_hints(kind).get("amount"))


def refused(refusal: Refusal, *, strict: bool, http: int | None = None) -> Answered:
    body = ENCODER.encode(ErrorBody(refusal.code, refusal.message, refusal.faults))
    return Answered(http or http_status(refusal.code, strict=strict), body, refusal.code)


def limited(refusal: Refusal, wait_seconds: float) -> Answered:
    answered = refused(refusal, strict=False, http=429)
    answered.retry_after = int(wait_seconds) + 1
    return answered


def answer_prepared(reply: Prepared, accepted: str | None) -> Answered:
    if accepted and takes_gzip(accepted):
        return Answered(200, reply.packed, headers=PACKED_HEADERS)
    return Answered(200, reply.plain, headers=PREPARED_HEADERS)


@lru_cache(maxsize=256)
def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding names gzip, and not with the weight of zero that would forbid it."""
    for part in accepted.lower().split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight.strip("0.") != "" or weight == ""
    return False


async def reply_page(reply: Any, strict: bool) -> Answered:
    """A page of a list, encoded line by line and cut where it would be too long; others are let run in between."""
    lines: list[bytes] = []
    size = encoded = 0
    for line in reply if isinstance(reply, list) else reply.data:
        text = ENCODER.encode(line)
        size += len(text) + 1
        if size > MOST_PAGE_BYTES and lines:
            reply = shorten(reply, len(lines))
            break
        lines.append(text)
        if size - encoded > MOST_ENCODED_AT_ONCE:
            encoded = size
            await asyncio.sleep(0)
    listed = msgspec.Raw(b"[" + b",".join(lines) + b"]")
    whole = listed if isinstance(reply, list) else msgspec.structs.replace(reply, data=listed)
    return replied(whole, strict=strict)


def replied(reply: Any, *, strict: bool) -> Answered:
    if isinstance(reply, Refusal):
        return refused(reply, strict=strict)
    status = getattr(reply, "status", 200)
    code = status if isinstance(status, int) else 200
    return Answered(http_status(code, strict=strict), ENCODER.encode(reply), code)
