"""The register of Bank Verification Numbers, asked before a client that is to be verified is decided upon."""

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.scenario import Scenario
from kasuwa.methods.clients.decide_client import Told
from kasuwa.rails.ports import IdentityEnquiry, NoAnswer, Rails, Unavailable, refuse_unanswered


async def ask_register(bvn: str, merchant: Merchant, rails: Rails, scenario: Scenario) -> Told | Refusal:
    try:
        return Told(bvn, await rails.identity.find_person(IdentityEnquiry(bvn, scenario)))
    except (Unavailable, NoAnswer) as trouble:
        return refuse_unanswered("BVN register", trouble)
