"""Queries the register of Bank Verification Numbers (BVN) for clients that are to be verified."""

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.scenario import Scenario
from kasuwa.methods.clients.rules.manage_client import RegistryAnswer
from kasuwa.rails.all_rails import Rails
from kasuwa.rails.ports import IdentityQuery, NoAnswer, Unavailable, refuse_unanswered


async def query_bvn_registry(
    bvn: str, merchant: Merchant, rails: Rails, scenario: Scenario
) -> RegistryAnswer | Refusal:
    try:
        query = IdentityQuery(bvn, scenario, merchant.rails.get("identity", ()))
        return RegistryAnswer(bvn, await rails.identity.find_person(query))
    except (Unavailable, NoAnswer) as error:
        return refuse_unanswered("BVN register", error)
