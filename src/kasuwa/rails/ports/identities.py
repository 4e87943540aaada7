"""Identity rails that tell no person in one call: some only compare a person, some need the person's consent first.

A rail says by `choose_method` how it verifies a BVN:

    find      find_person returns the person, and the caller compares
    match     match_person compares, and returns no personal data
    consent   begin_consent opens a page on which the person agrees; find_person then returns the person
"""

from collections.abc import Mapping
from typing import Final, Literal, Protocol, runtime_checkable

import msgspec

from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.rails.ports.orders import IdentityQuery, IdentityRail, LookupDeclined, Person

VerificationMethod = Literal["find", "match", "consent"]
FIND: Final[VerificationMethod] = "find"
MATCH: Final[VerificationMethod] = "match"
CONSENT: Final[VerificationMethod] = "consent"

# How far a field agrees with the register.
FULL, PARTIAL, NO_MATCH = "full", "partial", "no"

TELLS_NOBODY = "it compares a person and tells nothing of one: enroll the client with verify_bvn"
NEEDS_CONSENT = "the person must consent first: enroll the client with verify_bvn"


class ConsentAwaited(LookupDeclined):
    """Raised while the person has neither agreed nor refused."""


class ConsentRefused(LookupDeclined):
    """Raised if the person has refused, or the time for it is over. A new consent may be begun."""


class FieldsRequired(LookupDeclined):
    """Raised if the rail compares fields that the claim does not have. Nothing was asked."""

    def __init__(self, fields: tuple[str, ...]) -> None:
        super().__init__(f"required: {', '.join(fields)}")
        self.fields = fields


class Consent(msgspec.Struct, frozen=True):
    """A person's consent to the look-up of a BVN, which is given on the rail's page."""

    reference: str  # the rail's
    url: str
    rail: str = ""  # that is asked for it; empty if there is one rail


class Match(msgspec.Struct, frozen=True):
    """The agreement of a claim with the register. A field that the rail does not compare is absent."""

    fields: Mapping[str, str]  # by `name`, `firstname`, `lastname`, `dob` and `phone`: FULL, PARTIAL or NO_MATCH
    score: int | None = None  # of the names, 0 to 100


class IdentityClaim(msgspec.Struct, frozen=True):
    """A person as the merchant describes one, to be verified by the BVN."""

    bvn: str
    firstname: str
    lastname: str
    middlename: str = ""
    dob: str = ""  # YYYY-MM-DD
    phone: str = ""
    consent: Consent | None = None  # that was begun earlier
    scenario: Scenario = NO_SCENARIO
    rails: tuple[str, ...] = ()  # those of the merchant, if it has rails of its own

    def __repr__(self) -> str:
        return "IdentityClaim(…)"


# What a rail says of a claim. None: the register has no such BVN. A Consent: the person has not agreed yet.
Verdict = Person | Match | Consent | None


@runtime_checkable
class VerifyingRail(IdentityRail, Protocol):
    """An identity rail that verifies in other ways than by telling the person in one call."""

    def choose_method(self, claim: IdentityClaim) -> VerificationMethod: ...

    async def match_person(self, claim: IdentityClaim) -> Match | None: ...

    async def begin_consent(self, claim: IdentityClaim) -> Consent: ...


class DeploymentIdentity(IdentityRail, Protocol):
    """The identity rails of a deployment, together."""

    async def verify_person(self, claim: IdentityClaim) -> Verdict: ...


async def verify_person(rail: IdentityRail, claim: IdentityClaim) -> Verdict:
    """Asks one rail about a claim. Raises what look-ups raise, and ConsentRefused."""
    way = rail.choose_method(claim) if isinstance(rail, VerifyingRail) else FIND
    if isinstance(rail, VerifyingRail) and way == MATCH:
        return await rail.match_person(claim)
    if isinstance(rail, VerifyingRail) and way == CONSENT and claim.consent is None:
        return await rail.begin_consent(claim)
    consent = "" if claim.consent is None else claim.consent.reference
    try:
        return await rail.find_person(IdentityQuery(claim.bvn, claim.scenario, claim.rails, consent))
    except ConsentAwaited:
        assert claim.consent is not None, "only a query with a consent can await it"
        return claim.consent
