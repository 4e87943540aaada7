"""Sends writes to the API process that owns the merchant, and answers those that other processes send.

Whoever receives a request authenticates it and reads its body. If it may change the merchant's books and another
process owns the merchant, the request is sent there, and that process's reply is the reply. What only reads is answered
where it arrives.

If the owner is away or declines, nothing was done, and the request is decided here. If its reply is lost, the request
may have been carried out. It is then decided here only if the same request, sent again by the merchant, would be safe:
it has an Idempotency-Key, or a reference that is carried out once. Otherwise the outcome is not known. Contract:
#outcome

The processes of one host count the requests of a merchant together (shared_buckets.py). If the owner is on another
host, that one counts them as well: a write when it arrives there, a read because it is asked to. So a rate limit is the
same however many hosts there are. Contract: #rates
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog
from msgspec import field

from kasuwa.api.dispatch import Dispatch, failure_reply
from kasuwa.api.idempotency_key import HEADER as IDEMPOTENCY_KEY
from kasuwa.api.replies import JSON_HEADERS, HttpReply
from kasuwa.api.routes import Envelope, Route
from kasuwa.authority.audit_notes import ActionNote
from kasuwa.cluster.frames import PAYER_ANSWER, QUESTION_NAMES, RATE, REQUEST
from kasuwa.cluster.links import NothingDone, OwnerLink, OwnerLinks, ReplyLost
from kasuwa.cluster.listener import AnswerQuestion, Inquiry
from kasuwa.core.action import Action, AdminCommand, Write
from kasuwa.core.callers import NO_CALLER, Caller
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.engine.progress import RequestProgress
from kasuwa.http.headers import Headers
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.observe.log import describe_error
from kasuwa.observe.metrics import DECIDED_FOR_OTHERS, Metrics
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.wire.body import InvalidJson, unwrap_single_object

# The headers that dispatch reads after authentication, for an action that writes.
FORWARDED_HEADERS = (IDEMPOTENCY_KEY, "x-sandbox-scenario")

log = structlog.get_logger("kasuwa.api")


class ReferencedEnvelope(Envelope):
    """The body fields that select an action, and the one that may identify its request."""

    order_ref: Any = field(name="orderRef", default=None)


class ForwardedRequest(msgspec.Struct, array_like=True):
    """A request on its way to the owner. It may hold card numbers and PINs: it is never logged."""

    path: str
    mid: str
    headers: dict[str, str | None]  # None for a value with bytes beyond ASCII, which is refused
    body: bytes
    is_on_behalf: bool = False  # of a user of the console
    note: ActionNote | None = None
    caller: Caller = NO_CALLER  # the key whose scopes the owner checks, or the person on whose behalf it is
    is_of_other_host: bool = False  # it has not been counted against the rate limit on the owner's host


class ForwardedReply(msgspec.Struct, array_like=True):
    http_status: int
    body: bytes
    status: int
    action: str
    retry_after: int | None
    headers: tuple[tuple[str, str], ...] | None  # None for those of every JSON reply


class ForwardedPayerAnswer(msgspec.Struct, array_like=True):
    """A payer's action on a page. It may hold an OTP."""

    action: str
    merchant_id: int
    request: msgspec.Raw


class PayerAnswerReply(msgspec.Struct, array_like=True):
    refusal: Refusal | None  # None if it was not refused
    may_have_changed: bool
    has_failed: bool  # the database could not be reached, or a bug


ENCODER = msgspec.msgpack.Encoder()
ENVELOPE = msgspec.json.Decoder(ReferencedEnvelope)
REQUEST_DECODER = msgspec.msgpack.Decoder(ForwardedRequest)
REPLY_DECODER = msgspec.msgpack.Decoder(ForwardedReply)
PAYER_ANSWER_DECODER = msgspec.msgpack.Decoder(ForwardedPayerAnswer)
PAYER_REPLY_DECODER = msgspec.msgpack.Decoder(PayerAnswerReply)


def select_write(path: Route, body: bytes) -> tuple[Write | AdminCommand, ReferencedEnvelope] | None:
    """Returns the action of a body that may change something, or None. Errors are left to dispatch."""
    try:
        envelope = ENVELOPE.decode(unwrap_single_object(body))
    except (msgspec.DecodeError, UnicodeDecodeError, InvalidJson, RecursionError):
        return None
    action: Action | Refusal = path.select_action(envelope)
    if isinstance(action, Write) or (isinstance(action, AdminCommand) and action.writes):
        return action, envelope
    return None


def may_repeat(action: Write | AdminCommand, envelope: ReferencedEnvelope, headers: Headers) -> bool:
    """Whether the same request, sent again, is carried out once. Contract: #repeats"""
    if not isinstance(action, Write):
        return False
    if action.accepts_idempotency_key and IDEMPOTENCY_KEY in headers:
        return True
    return action.unique_reference == "orderRef" and isinstance(envelope.order_ref, str) and envelope.order_ref != ""


def select_headers(headers: Headers) -> dict[str, str | None]:
    return {name: headers.get(name) for name in FORWARDED_HEADERS if name in headers}


def decode_reply(answer: bytes) -> HttpReply:
    reply = REPLY_DECODER.decode(answer)
    return HttpReply(
        reply.http_status,
        reply.body,
        reply.status,
        action=reply.action,
        retry_after=reply.retry_after,
        headers=reply.headers or JSON_HEADERS,
    )


def encode_reply(answered: HttpReply) -> bytes:
    reply = ForwardedReply(
        answered.http_status,
        answered.body,
        answered.status,
        answered.action,
        answered.retry_after,
        None if answered.headers is JSON_HEADERS else answered.headers,
    )
    return ENCODER.encode(reply)


class RequestForwarder:
    """Answers requests through the merchant's owner. Takes the place of dispatch if there are several API processes."""

    def __init__(self, dispatch: Dispatch, links: OwnerLinks, metrics: Metrics) -> None:
        self._dispatch = dispatch
        self._links = links
        self._metrics = metrics

    async def answer(self, path: Route, headers: Headers, body: bytes, merchant: Merchant) -> HttpReply:
        """Answers a request of the API, as `Dispatch.answer` does."""
        link = self._find_owner(REQUEST, merchant)
        selected = None if link is None else select_write(path, body)
        if link is None or selected is None:
            return await self._count_read(link, merchant) or await self._dispatch.answer(path, headers, body, merchant)
        request = ForwardedRequest(
            path.method.name,
            merchant.mid,
            select_headers(headers),
            body,
            caller=merchant.caller,
            is_of_other_host=bool(link.peer),
        )
        is_repeatable = may_repeat(*selected, headers)
        answered = await self._ask(link, path, request, is_repeatable) or await self._dispatch.answer(
            path, headers, body, merchant
        )
        answered.mid = merchant.mid
        return answered

    async def handle_on_behalf(
        self, path: Route, merchant: Merchant, headers: Headers, body: bytes, note: ActionNote | None = None
    ) -> HttpReply:
        """Handles a request of a user of the console, as `Dispatch.handle_on_behalf` does."""
        link = self._find_owner(REQUEST, merchant)
        selected = None if link is None or merchant.suspended else select_write(path, body)
        if link is None or selected is None:
            return await self._dispatch.handle_on_behalf(path, merchant, headers, body, note)
        forwarded_headers = select_headers(headers)
        request = ForwardedRequest(path.method.name, merchant.mid, forwarded_headers, body, True, note, merchant.caller)
        is_repeatable = may_repeat(*selected, headers)
        answered = await self._ask(link, path, request, is_repeatable)
        return answered or await self._dispatch.handle_on_behalf(path, merchant, headers, body, note)

    async def run_write(self, action: Write, request: Any, merchant: Merchant, progress: RequestProgress) -> Any:
        """Runs a payer's action on a page, as `Dispatch.run_write` does. Returns the reply, or a Refusal. If the owner
        decided, a reply that is no refusal is None."""
        link = self._find_owner(PAYER_ANSWER, merchant)
        if link is not None:
            encoded = msgspec.Raw(ENCODER.encode(request))
            forwarded = ForwardedPayerAnswer(action.name, merchant.merchant_id, encoded)
            progress.expect_changes()
            try:
                reply = PAYER_REPLY_DECODER.decode(await link.ask(PAYER_ANSWER, ENCODER.encode(forwarded)))
            except NothingDone:
                progress.may_have_changed = False
                self._count(PAYER_ANSWER, "declined")
            except ReplyLost:
                raise DatabaseUnreachable(is_outcome_unknown=True) from None
            else:
                progress.may_have_changed = reply.may_have_changed
                if reply.has_failed:
                    raise DatabaseUnreachable(is_outcome_unknown=reply.may_have_changed)
                return reply.refusal
        return await self._dispatch.run_write(action, request, merchant, progress)

    async def _ask(
        self, link: OwnerLink, path: Route, request: ForwardedRequest, is_repeatable: bool
    ) -> HttpReply | None:
        """Returns the owner's reply, or None if the request is to be decided here."""
        try:
            answer = await link.ask(REQUEST, ENCODER.encode(request), may_repeat=is_repeatable)
        except NothingDone:
            self._count(REQUEST, "declined")
            return None
        except ReplyLost:
            if is_repeatable:
                self._count(REQUEST, "reply lost")
                return None
            progress = RequestProgress()
            progress.expect_changes()
            return failure_reply(path, DatabaseUnreachable(is_outcome_unknown=True), progress)
        return decode_reply(answer)

    async def _count_read(self, link: OwnerLink | None, merchant: Merchant) -> HttpReply | None:
        """Counts a request that is answered here at an owner on another host. Returns the refusal if it is beyond the
        limit. If the owner does not answer, the count of this host is enough."""
        if link is None or not link.peer or merchant.rate_limit is None:
            return None
        try:
            answer = await link.ask(RATE, merchant.mid.encode(), may_repeat=True)
        except (NothingDone, ReplyLost):
            return None
        return decode_reply(answer) if answer else None

    def _find_owner(self, kind: int, merchant: Merchant) -> OwnerLink | None:
        """Returns the connection to the owner, or None if this process decides."""
        link = self._links.find(merchant.merchant_id)
        if link is None and not self._links.is_first_choice(merchant.merchant_id):
            self._count(kind, "owner away")
        return link

    def _count(self, kind: int, why: str) -> None:
        self._metrics.count(DECIDED_FOR_OTHERS, QUESTION_NAMES[kind], why)


class RequestInbox:
    """Answers the requests that other processes send because this one owns the merchant."""

    def __init__(
        self,
        dispatch: Dispatch,
        routes: Mapping[str, Route],
        directory: MerchantDirectory,
        payer_actions: Mapping[str, Write],
    ) -> None:
        self._dispatch = dispatch
        self._routes = routes
        self._directory = directory
        self._payer_actions = payer_actions
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def handlers(self) -> dict[int, AnswerQuestion]:
        return {REQUEST: self._begin_request, PAYER_ANSWER: self._begin_payer_answer, RATE: self._begin_count}

    def _begin_request(self, payload: bytes, inquiry: Inquiry) -> None:
        request = REQUEST_DECODER.decode(payload)
        self._start(self._answer_request(request, self._routes["/" + request.path], inquiry), inquiry)

    def _begin_payer_answer(self, payload: bytes, inquiry: Inquiry) -> None:
        forwarded = PAYER_ANSWER_DECODER.decode(payload)
        action = self._payer_actions[forwarded.action]
        request = msgspec.msgpack.decode(forwarded.request, type=action.request)
        self._start(self._answer_payer(action, request, forwarded.merchant_id, inquiry), inquiry)

    def _begin_count(self, payload: bytes, inquiry: Inquiry) -> None:
        self._start(self._count(payload.decode(), inquiry), inquiry)

    def _start(self, work: Any, inquiry: Inquiry) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda ended: self._end(ended, inquiry))

    def _end(self, task: "asyncio.Task[None]", inquiry: Inquiry) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("a forwarded request failed", **describe_error(error))
        if task.cancelled() or error is not None:
            inquiry.fail()

    async def _find_merchant(self, mid: str) -> Merchant | None:
        try:
            cached = self._directory.get_cached(mid) or await self._directory.load(mid)
        except Exception:
            return None
        return cached.merchant

    async def _count(self, mid: str, inquiry: Inquiry) -> None:
        """Counts a request that another host answers. The answer is empty if it is within the rate limit."""
        merchant = await self._find_merchant(mid)
        if merchant is None:
            inquiry.decline()
            return
        refused = self._dispatch.limiter.count_request(merchant)
        inquiry.answer(b"" if refused is None else encode_reply(refused))

    async def _answer_request(self, request: ForwardedRequest, path: Route, inquiry: Inquiry) -> None:
        merchant = await self._find_merchant(request.mid)
        if merchant is None:
            inquiry.decline()
            return
        merchant = msgspec.structs.replace(merchant, caller=request.caller)
        refused = self._dispatch.limiter.count_request(merchant) if request.is_of_other_host else None
        if refused is not None:
            answered = refused
        elif request.is_on_behalf:
            answered = await self._dispatch.handle_on_behalf(
                path, merchant, request.headers, request.body, request.note
            )
        else:
            answered = await self._dispatch.answer(path, request.headers, request.body, merchant)
        inquiry.answer(encode_reply(answered))

    async def _answer_payer(self, action: Write, request: Any, merchant_id: int, inquiry: Inquiry) -> None:
        progress = RequestProgress()
        try:
            merchant = await self._directory.get_by_id(merchant_id)
            reply = await self._dispatch.run_write(action, request, merchant, progress)
        except Exception as error:
            if not isinstance(error, DatabaseUnreachable):
                log.error("a payer's answer failed", **describe_error(error))
            failed = PayerAnswerReply(None, progress.may_have_changed, True)
            inquiry.answer(ENCODER.encode(failed))
            return
        refusal = reply if isinstance(reply, Refusal) else None
        decided = PayerAnswerReply(refusal, progress.may_have_changed, False)
        inquiry.answer(ENCODER.encode(decided))
