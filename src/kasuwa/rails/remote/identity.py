"""Identities by the rail protocol: the rail tells a person, compares one, or needs the person's consent first."""

from kasuwa.rails.ports.identities import (
    CONSENT,
    FIND,
    MATCH,
    NEEDS_CONSENT,
    TELLS_NOBODY,
    Consent,
    ConsentAwaited,
    ConsentRefused,
    IdentityClaim,
    Match,
    Way,
)
from kasuwa.rails.ports.orders import IdentityQuery, LookupDeclined, Person, UnreadableAnswer
from kasuwa.rails.remote.client import RemoteClient
from kasuwa.rails.remote.messages import (
    ConsentAnswer,
    ConsentRequest,
    MatchAnswer,
    MatchRequest,
    PersonAnswer,
    PersonRequest,
)

PERSON, BEGIN_CONSENT, COMPARE = "/identity", "/identity/consent", "/identity/match"
LONGEST_TEXT = 200
UNKNOWN_BVN = "the register does not know the BVN"


class RemoteIdentity:
    """The identity rail. `way` is how the rail verifies a BVN: a setting, because a claim must know before it asks."""

    def __init__(self, client: RemoteClient, way: Way = FIND) -> None:
        self._client = client
        self._way = way

    def choose_way(self, claim: IdentityClaim) -> Way:
        return self._way

    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        if self._way == MATCH:
            raise LookupDeclined(TELLS_NOBODY)
        if self._way == CONSENT and not enquiry.consent:
            raise LookupDeclined(NEEDS_CONSENT)
        request = PersonRequest(bvn=enquiry.bvn, consent=enquiry.consent)
        found = await self._client.look_up(PERSON, request, PersonAnswer)
        if found.outcome == "not_found":
            return None
        if found.outcome != "found" and not enquiry.consent:
            raise UnreadableAnswer("the answer speaks of a consent that was not asked for")
        if found.outcome == "consent_awaited":
            raise ConsentAwaited("the person has not agreed yet")
        if found.outcome == "consent_refused":
            raise ConsentRefused("the person has refused")
        if found.bvn != enquiry.bvn or not found.firstname or not found.lastname:
            raise UnreadableAnswer("the answer is not the person of this BVN")
        return Person(
            bvn=found.bvn,
            firstname=found.firstname,
            lastname=found.lastname,
            middlename=found.middlename,
            dob=found.dob,
            phone=found.phone,
            is_watch_listed=found.is_watch_listed,
        )

    async def begin_consent(self, claim: IdentityClaim) -> Consent:
        request = ConsentRequest(
            bvn=claim.bvn, firstname=claim.firstname[:LONGEST_TEXT], lastname=claim.lastname[:LONGEST_TEXT]
        )
        begun = await self._client.look_up(BEGIN_CONSENT, request, ConsentAnswer)
        if begun.outcome == "not_found":
            raise LookupDeclined(UNKNOWN_BVN)
        if not begun.reference or not begun.url.startswith("https://"):
            raise UnreadableAnswer("the answer has no page for the person's consent")
        return Consent(begun.reference, begun.url)

    async def match_person(self, claim: IdentityClaim) -> Match | None:
        request = MatchRequest(
            bvn=claim.bvn,
            firstname=claim.firstname[:LONGEST_TEXT],
            lastname=claim.lastname[:LONGEST_TEXT],
            middlename=claim.middlename[:LONGEST_TEXT],
            dob=claim.dob,
            phone=claim.phone,
        )
        found = await self._client.look_up(COMPARE, request, MatchAnswer)
        if found.outcome == "not_found":
            return None
        if not found.fields:
            raise UnreadableAnswer("the answer compares nothing")
        return Match({str(name): str(word) for name, word in found.fields.items()}, found.score)
