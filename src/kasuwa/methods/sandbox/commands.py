"""Commands of `PUT /sandbox` that need more than one decision: they call `AdminOperations`."""

from base64 import b64encode
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from kasuwa.audit.close_tree import close_time_text
from kasuwa.core.action import AdminOperations
from kasuwa.core.calendar import lagos_text, utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.methods.resources.wire import EventLine
from kasuwa.methods.sandbox.rules import resolve_advance
from kasuwa.methods.sandbox.wire import (
    AdvanceReply,
    AdvanceRequest,
    AuditReply,
    AuditRequest,
    ClockReply,
    ClockRequest,
    CloseReply,
    CloseRequest,
    CompareWorldsReply,
    CompareWorldsRequest,
    DeleteWorldRequest,
    DoneReply,
    ExplainReply,
    ExplainRequest,
    ExportWorldReply,
    ExportWorldRequest,
    ForkReply,
    ForkRequest,
    FreezeRequest,
    ImportWorldRequest,
    LoggedRequest,
    NewMerchantReply,
    NewMerchantRequest,
    PeopleMail,
    PeopleMailsReply,
    PeopleMailsRequest,
    RequestsReply,
    RequestsRequest,
    ResetRequest,
    RestoreReply,
    RestoreRequest,
    RunningWorld,
    SettleReply,
    SettleRequest,
    SnapshotReply,
    SnapshotRequest,
    TriggerReply,
    TriggerRequest,
    Violation,
    WebhookRequest,
    World,
    WorldDifference,
    WorldsReply,
    WorldsRequest,
)

DEFAULT_REQUESTS = 50
# Times in replies have whole milliseconds. `until` is rounded up, so that it is not before the business time.
ROUND_UP_MILLISECOND = timedelta(microseconds=999)
UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")
NOTHING_KNOWN = Refusal(
    INVALID_REQUEST,
    "Nothing has this reference: send that of a transaction, bulk, refund, event, client, loan, savings, thrift plan, "
    "card, saved card, payment plan, beneficiary, personalized account or dispute",
    error_code="reference_not_found",
)


async def new_merchant(
    request: NewMerchantRequest, merchant: Merchant, engine: AdminOperations
) -> NewMerchantReply | Refusal:
    now = None if request.now is None else request.now.plain()
    balance = None if request.balance is None else int(request.balance)
    name, url, seed = request.name or "Sandbox merchant", request.webhook or "", request.seed or ""
    mid_and_key = await engine.new_merchant(
        name, now, balance, webhook_url=url, seed=seed, terms=msgspec.json.encode(request.terms or {})
    )
    if isinstance(mid_and_key, FieldError):
        return refuse_fields(mid_and_key)
    mid, key = mid_and_key
    return NewMerchantReply(mid=mid, key=key)


async def simulate_callback(
    request: SettleRequest, merchant: Merchant, engine: AdminOperations
) -> SettleReply | Refusal:
    reference = request.txn_ref or request.order_ref or request.loan_id or request.savings_id
    row = await engine.simulate_callback(merchant, reference or "", request.outcome, request.code)
    if row is None:
        return UNKNOWN_REFERENCE
    if isinstance(row, Refusal):
        return row
    return SettleReply(txn_status=row.status, txn_ref=row.txn_ref, message=row.message)


async def set_webhook(request: WebhookRequest, merchant: Merchant, engine: AdminOperations) -> DoneReply | Refusal:
    fault = await engine.set_webhook(merchant, request.url)
    if fault is not None:
        return refuse_fields(FieldError("url", fault))
    return DoneReply(message="Events go there now" if request.url else "Events are switched off")


async def explain(request: ExplainRequest, merchant: Merchant, engine: AdminOperations) -> ExplainReply | Refusal:
    reference = next(value for value in msgspec.structs.astuple(request) if value is not None)
    timeline = await engine.explain(merchant, reference)
    return NOTHING_KNOWN if timeline is None else ExplainReply(data=timeline)


async def reset(request: ResetRequest, merchant: Merchant, engine: AdminOperations) -> DoneReply | Refusal:
    return await engine.reset(merchant) or DoneReply(message="Fresh books, as on day one")


async def snapshot_world(
    request: SnapshotRequest, merchant: Merchant, engine: AdminOperations
) -> SnapshotReply | Refusal:
    world = await engine.snapshot_world(merchant, request.name)
    return world if isinstance(world, Refusal) else SnapshotReply(data=show_world(world))


async def restore_world(request: RestoreRequest, merchant: Merchant, engine: AdminOperations) -> RestoreReply | Refusal:
    rows = await engine.restore_world(merchant, request.name)
    if isinstance(rows, Refusal):
        return rows
    return RestoreReply(message=f"The merchant is as it was in {request.name}", rows=rows)


async def fork_world(request: ForkRequest, merchant: Merchant, engine: AdminOperations) -> ForkReply | Refusal:
    mid_and_key = await engine.fork_world(merchant, request.name)
    if isinstance(mid_and_key, Refusal):
        return mid_and_key
    mid, key = mid_and_key
    return ForkReply(mid=mid, key=key)


async def list_worlds(request: WorldsRequest, merchant: Merchant, engine: AdminOperations) -> WorldsReply:
    running = [
        RunningWorld(
            action=one.act,
            name=one.name,
            rows_done=one.done_rows,
            rows_total=one.total_rows,
            began_at=utc_text(one.began_at),
        )
        for one in await engine.list_running_worlds(merchant)
    ]
    return WorldsReply(
        data=[show_world(world) for world in await engine.list_worlds(merchant)], running=running or msgspec.UNSET
    )


async def compare_worlds(
    request: CompareWorldsRequest, merchant: Merchant, engine: AdminOperations
) -> CompareWorldsReply | Refusal:
    tables = await engine.compare_worlds(merchant, request.name, request.other)
    if isinstance(tables, Refusal):
        return tables
    lines = [
        WorldDifference(
            table=line.table, only_in_first=line.only_first, only_in_other=line.only_second, changed=line.changed
        )
        for line in tables
    ]
    return CompareWorldsReply(data=lines)


async def delete_world(request: DeleteWorldRequest, merchant: Merchant, engine: AdminOperations) -> DoneReply | Refusal:
    return await engine.delete_world(merchant, request.name) or DoneReply(message=f"{request.name} is deleted")


async def export_world(
    request: ExportWorldRequest, merchant: Merchant, engine: AdminOperations
) -> ExportWorldReply | Refusal:
    written = await engine.export_world(merchant, request.name, request.passphrase)
    if isinstance(written, Refusal):
        return written
    world, content = written
    return ExportWorldReply(data=show_world(world), file=b64encode(content).decode())


async def import_world(
    request: ImportWorldRequest, merchant: Merchant, engine: AdminOperations
) -> SnapshotReply | Refusal:
    world = await engine.import_world(merchant, request.name, request.passphrase, request.file.content)
    return world if isinstance(world, Refusal) else SnapshotReply(data=show_world(world))


def show_world(world: Any) -> World:
    return World(
        name=world.name,
        rows=world.row_count,
        bytes=world.size,
        business_time=lagos_text(world.business_at),
        made_at=utc_text(world.made_at),
        made_by=world.kasuwa,
    )


async def trigger(request: TriggerRequest, merchant: Merchant, engine: AdminOperations) -> TriggerReply | Refusal:
    event = await engine.trigger(merchant, request.event, request.fields or {})
    if isinstance(event, FieldError):
        return refuse_fields(event)
    return event if isinstance(event, Refusal) else TriggerReply(data=msgspec.convert(event, EventLine))


async def list_requests(request: RequestsRequest, merchant: Merchant, engine: AdminOperations) -> RequestsReply:
    limit = int(request.limit or DEFAULT_REQUESTS)
    after = None if request.after is None else int(request.after)
    before = None if request.before is None else int(request.before)
    listed, newest = await engine.list_requests(
        merchant, search=request.search or "", only_refused=request.refused, before=before, after=after, limit=limit + 1
    )
    data, more = [show_request(one) for one in listed[:limit]], len(listed) > limit
    last = data[-1].number if data else after or 0
    if after is not None and not more:
        last = max(last, newest)  # those that do not match are not looked at again
    return RequestsReply(data=data, last=last, more=more)


def show_request(request: Any) -> LoggedRequest:
    return LoggedRequest(
        number=request.number,
        answered_at=utc_text(request.at),
        request_id=request.request_id,
        path=request.path,
        action=request.action,
        http_status=request.http,
        result=request.status,
        milliseconds=round(request.ms, 2),
        request_body=request.bodies.sent,
        reply_body=request.bodies.answered,
    )


async def list_people_mails(
    request: PeopleMailsRequest, merchant: Merchant, engine: AdminOperations
) -> PeopleMailsReply:
    limit = int(request.limit or DEFAULT_REQUESTS)
    before = None if request.before is None else int(request.before)
    listed = await engine.list_people_mails(merchant, before=before, limit=limit + 1)
    data = [show_people_mail(one) for one in listed[:limit]]
    return PeopleMailsReply(data=data, last=data[-1].number if data else 0, more=len(listed) > limit)


def show_people_mail(mail: Any) -> PeopleMail:
    content = mail.content
    return PeopleMail(
        number=mail.number,
        mail_id=mail.mail_id,
        purpose=mail.purpose,
        status=mail.status,
        to=mail.email,
        subject=None if content is None else content.subject,
        text=None if content is None else content.text,
        html=None if content is None else content.html,
        created_at=utc_text(mail.created_at),
    )


async def clock(request: ClockRequest, merchant: Merchant, engine: AdminOperations) -> ClockReply:
    return ClockReply(now=lagos_text(await engine.business_now(merchant)))


async def freeze(request: FreezeRequest, merchant: Merchant, engine: AdminOperations) -> ClockReply | Refusal:
    now = await engine.freeze_clock(merchant, request.frozen)
    return now if isinstance(now, Refusal) else ClockReply(now=lagos_text(now))


async def audit(request: AuditRequest, merchant: Merchant, engine: AdminOperations) -> AuditReply:
    violations = await engine.audit(merchant)
    return AuditReply(data=[Violation(invariant=invariant, place=place) for invariant, place in violations])


async def close_books(request: CloseRequest, merchant: Merchant, engine: AdminOperations) -> CloseReply | Refusal:
    signed_close = await engine.close_books()
    if isinstance(signed_close, Refusal):
        return signed_close
    close = signed_close.close
    return CloseReply(
        close_number=close.number,
        closed_at=close_time_text(close.closed_at),
        root=close.root.hex(),
        public_key=signed_close.public_key.hex(),
    )


async def advance(request: AdvanceRequest, merchant: Merchant, engine: AdminOperations) -> AdvanceReply | Refusal:
    advanced = await engine.advance_clock(merchant, partial(resolve_advance, request))
    if isinstance(advanced, Refusal):
        return advanced
    reply = AdvanceReply(now=lagos_text(advanced.now), ran=advanced.job_counts)
    if advanced.has_more:
        reply.more, reply.until = True, lagos_text(advanced.until + ROUND_UP_MILLISECOND)
    return reply
