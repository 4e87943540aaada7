"""Queries the register of Bank Verification Numbers (BVN) for clients that are to be verified."""

from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.scenario import Scenario
from kasuwa.methods.clients.rules.verify_bvn import BvnQuestion, RegistryAnswer
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.identities import ConsentRefused, FieldsRequired, IdentityClaim
from kasuwa.rails.ports.orders import NoAnswer, Unavailable, refuse_unanswered

COMPARED_FIELD = "required: the BVN register compares it"


async def query_bvn_registry(
    question: BvnQuestion, merchant: Merchant, rails: Rails, scenario: Scenario
) -> RegistryAnswer | Refusal:
    claimed = question.claimed
    claim = IdentityClaim(
        bvn=question.bvn,
        firstname=claimed.firstname,
        lastname=claimed.lastname,
        middlename=claimed.middlename,
        dob=claimed.dob,
        phone=question.phone,
        consent=question.consent,
        scenario=scenario,
        rails=merchant.rails.get("identity", ()),
    )
    try:
        return RegistryAnswer(question.bvn, await rails.identity.verify_person(claim))
    except ConsentRefused:
        return RegistryAnswer(question.bvn, None, is_consent_refused=True)
    except FieldsRequired as error:
        return refuse_fields(*(FieldError(f"data.{name}", COMPARED_FIELD) for name in error.fields))
    except (Unavailable, NoAnswer) as error:
        return refuse_unanswered("BVN register", error)
