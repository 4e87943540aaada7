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
    VerificationMethod,
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
    """The identity rail. `method` is how the rail verifies a BVN: a setting, because a claim must know before it
    asks."""

    def __init__(self, client: RemoteClient, method: VerificationMethod = FIND) -> None:
        self._client = client
        self._method = method

    def choose_method(self, claim: IdentityClaim) -> VerificationMethod:
        return self._method

    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        if self._method == MATCH:
            raise LookupDeclined(TELLS_NOBODY)
        if self._method == CONSENT and not enquiry.consent:
            raise LookupDeclined(NEEDS_CONSENT)
        request = PersonRequest(bvn=enquiry.bvn, consent=enquiry.consent)
        answer = await self._client.look_up(PERSON, request, PersonAnswer)
        if answer.outcome == "not_found":
            return None
        if answer.outcome != "found" and not enquiry.consent:
            raise UnreadableAnswer("the answer speaks of a consent that was not asked for")
        if answer.outcome == "consent_awaited":
            raise ConsentAwaited("the person has not agreed yet")
        if answer.outcome == "consent_refused":
            raise ConsentRefused("the person has refused")
        if answer.bvn != enquiry.bvn or not answer.firstname or not answer.lastname:
            raise UnreadableAnswer("the answer is not the person of this BVN")
        return Person(
            bvn=answer.bvn,
            firstname=answer.firstname,
            lastname=answer.lastname,
            middlename=answer.middlename,
            dob=answer.dob,
            phone=answer.phone,
            is_watch_listed=answer.is_watch_listed,
        )

    async def begin_consent(self, claim: IdentityClaim) -> Consent:
        request = ConsentRequest(
            bvn=claim.bvn, firstname=claim.firstname[:LONGEST_TEXT], lastname=claim.lastname[:LONGEST_TEXT]
        )
        answer = await self._client.look_up(BEGIN_CONSENT, request, ConsentAnswer)
        if answer.outcome == "not_found":
            raise LookupDeclined(UNKNOWN_BVN)
        if not answer.reference or not answer.url.startswith("https://"):
            raise UnreadableAnswer("the answer has no page for the person's consent")
        return Consent(answer.reference, answer.url)

    async def match_person(self, claim: IdentityClaim) -> Match | None:
        request = MatchRequest(
            bvn=claim.bvn,
            firstname=claim.firstname[:LONGEST_TEXT],
            lastname=claim.lastname[:LONGEST_TEXT],
            middlename=claim.middlename[:LONGEST_TEXT],
            dob=claim.dob,
            phone=claim.phone,
        )
        answer = await self._client.look_up(COMPARE, request, MatchAnswer)
        if answer.outcome == "not_found":
            return None
        if not answer.fields:
            raise UnreadableAnswer("the answer compares nothing")
        return Match({str(name): str(word) for name, word in answer.fields.items()}, answer.score)
