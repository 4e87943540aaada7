"""The command of the test environment that names the sites which may show payers' pages in a frame. In live an owner
does it in the console.

Contract: payment#embedding
"""

from kasuwa.core.action import AdminOperations
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.methods.checkout.wire import OriginsReply, OriginsRequest
from kasuwa.terms.checkout_origins import read_origin, read_origins


async def set_origins(request: OriginsRequest, merchant: Merchant, engine: AdminOperations) -> OriginsReply | Refusal:
    faults = []
    for place, text in enumerate(request.origins):
        try:
            read_origin(text)
        except ValueError as error:
            faults.append(FieldError(f"origins.{place}", str(error)))
    if faults:
        return refuse_fields(*faults)
    origins = read_origins(request.origins)
    await engine.set_checkout_origins(merchant, origins)
    message = "These sites may show your checkouts" if origins else "No site may show your checkouts"
    return OriginsReply(message=message, origins=list(origins))
