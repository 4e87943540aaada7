"""The identity rail of a deployment: asks the chosen rails in turn."""

import msgspec

from kasuwa.rails.ports.identities import Consent, IdentityClaim, Verdict, verify_person
from kasuwa.rails.ports.orders import IdentityQuery, IdentityRail, Person
from kasuwa.rails.routing.orders import RailSet


class RoutedIdentity:
    def __init__(self, rails: RailSet[IdentityRail]) -> None:
        self._rails = rails

    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        _, person = await self._rails.ask_in_turn(enquiry.rails, "", lambda rail: rail.find_person(enquiry))
        return person

    async def verify_person(self, claim: IdentityClaim) -> Verdict:
        """Verifies a claim. A consent that was begun is asked after where it was begun."""
        rails = claim.rails if claim.consent is None or not claim.consent.rail else (claim.consent.rail,)
        name, verdict = await self._rails.ask_in_turn(rails, "", lambda rail: verify_person(rail, claim))
        return msgspec.structs.replace(verdict, rail=name) if isinstance(verdict, Consent) else verdict
