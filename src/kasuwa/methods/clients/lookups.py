"""The register of Bank Verification Numbers, asked before a client that is to be verified is decided upon."""

from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Fault, Merchant, Refusal, refuse_fields
from kasuwa.core.people import bvn_may_exist
from kasuwa.core.scenario import Scenario
from kasuwa.methods.clients.decide_client import Told
from kasuwa.methods.clients.wire import CreateRequest, UpdateRequest
from kasuwa.rails.ports import IdentityEnquiry, NoAnswer, Rails, Unavailable

REGISTER_UNAVAILABLE = Refusal(ERROR, "The BVN register does not answer now; nothing was changed, try again later")


async def ask_register(
    request: CreateRequest | UpdateRequest, merchant: Merchant, rails: Rails, scenario: Scenario
) -> Told | Refusal:
    assert request.data is not None
    assert request.data.bvn is not None
    reason = bvn_may_exist(merchant, request.data.bvn)
    if reason is not None:
        return refuse_fields(Fault("data.bvn", reason))
    try:
        return Told(await rails.identity.find_person(IdentityEnquiry(request.data.bvn, scenario)))
    except (Unavailable, NoAnswer):
        return REGISTER_UNAVAILABLE
