"""Commands of look-ups: sending events again. (D42)"""

from kasuwa.core.action import Engine
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Fault, Merchant, Refusal, refuse_fields
from kasuwa.core.events import event_seq
from kasuwa.methods.resources.wire import ResendReply, ResendRequest

UNKNOWN_EVENT = Refusal(INVALID_REQUEST, "Invalid Event Reference")
NO_ENDPOINT = Refusal(INVALID_REQUEST, "No webhook URL is set; set one first")
MOST_AT_ONCE = 1_000


async def resend(request: ResendRequest, merchant: Merchant, engine: Engine) -> ResendReply | Refusal:
    if request.event_id is not None:
        first = last = event_seq(merchant.merchant_id, request.event_id)
    else:
        first, last = request.first, request.last or request.first
    if first is None or last is None:
        return UNKNOWN_EVENT
    if not 0 <= last - first < MOST_AT_ONCE:
        return refuse_fields(Fault("to", f"not before from, and at most {MOST_AT_ONCE} events"))
    sent = await engine.resend(merchant, first, last)
    if sent is None:
        return NO_ENDPOINT
    return ResendReply(message="Sent again", sent=sent) if sent else UNKNOWN_EVENT
