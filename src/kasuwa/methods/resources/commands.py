"""The command `resend`: sends events again.

Contract: resources#events
"""

from kasuwa.core.action import AdminOperations
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.methods.resources.wire import ResendReply, ResendRequest
from kasuwa.webhooks.signatures import parse_event_id

UNKNOWN_EVENT = Refusal(INVALID_REQUEST, "Invalid Event Reference", error_code="event_not_found")
NO_ENDPOINT = Refusal(INVALID_REQUEST, "No webhook URL is set; set one first", error_code="webhook_url_missing")
MAX_RESEND_EVENTS = 1_000


async def resend(request: ResendRequest, merchant: Merchant, engine: AdminOperations) -> ResendReply | Refusal:
    if request.event_id is None and request.first is None and request.failed_since is not None:
        count = await engine.resend_failed(merchant, request.failed_since.plain(), MAX_RESEND_EVENTS)
        message = "Sent again" if count else "No event failed since then"
        return (
            NO_ENDPOINT if count is None else ResendReply(message=message, sent=count, more=count == MAX_RESEND_EVENTS)
        )
    if request.event_id is not None:
        first = last = parse_event_id(merchant.merchant_id, request.event_id)
    else:
        first, last = request.first, request.last or request.first
    if first is None or last is None:
        return UNKNOWN_EVENT
    if not 0 <= last - first < MAX_RESEND_EVENTS:
        return refuse_fields(FieldError("to", f"not before from, and at most {MAX_RESEND_EVENTS} events"))
    count = await engine.resend(merchant, first, last)
    if count is None:
        return NO_ENDPOINT
    return ResendReply(message="Sent again", sent=count) if count else UNKNOWN_EVENT
