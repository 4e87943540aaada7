"""The identity register of the test environment. The BVN and the scenario determine its answer.

It keeps no state: the last two digits of a magic BVN are its response code. Any other BVN belongs to a person who is
derived from the number. Some magic BVNs are verified in another way, as some registers do: they are only compared, or
need the person's consent. (data/magic_values.md)
"""

from datetime import date, timedelta
from hashlib import blake2b

from msgspec.structs import replace

from kasuwa.rails.ports.identities import (
    CONSENT,
    FIND,
    FULL,
    MATCH,
    NEEDS_CONSENT,
    PARTIAL,
    TELLS_NOBODY,
    Consent,
    ConsentAwaited,
    ConsentRefused,
    IdentityClaim,
    Match,
    VerificationMethod,
)
from kasuwa.rails.ports.orders import IdentityQuery, LookupDeclined, NoAnswer, Person, Unavailable
from kasuwa.rails.sandbox.bank import FIRST_NAMES, LAST_NAMES, raise_for_code
from kasuwa.wire.people import magic_bvns

FOUND = "00"
MISMATCH = "08"
WATCH_LISTED = "60"
NOT_FOUND = "01"
UNAVAILABLE = "91"
# Only compared: the names agree, or only in part.
MATCHES, MATCHES_IN_PART = "30", "35"
# The person must consent, and does so at once, has not done so yet, or refuses.
CONSENTS, CONSENT_AWAITED, CONSENT_REFUSED = "40", "41", "42"
CONSENT_CODES = frozenset({CONSENTS, CONSENT_AWAITED, CONSENT_REFUSED})
CONSENT_URL = "https://bvn.example.com/consent/"
SCORES = {MATCHES: 100, MATCHES_IN_PART: 66}
TIMED_OUT = frozenset({"68", "96", "97"})

# Any name and date of birth match this BVN.
UNIVERSAL_BVN = "22222222222"
# Magic BVNs that are found. All other magic BVNs end in their response code.
UNCODED_BVNS = frozenset({UNIVERSAL_BVN, "12345678901"})
ALL_FIELDS = ("firstname", "lastname", "middlename", "dob")

FIRST_BIRTHDAY = date(1950, 1, 1)
BIRTHDAYS = 365 * 50


def choose_response_code(enquiry: IdentityQuery) -> str:
    if enquiry.scenario.rr is not None:
        return enquiry.scenario.rr
    return enquiry.bvn[-2:] if enquiry.bvn in magic_bvns() - UNCODED_BVNS else FOUND


def raise_for_outage(http: str | None, code: str) -> None:
    if http in ("timeout", "reset") or (http is None and code in TIMED_OUT):
        raise NoAnswer("the identity register did not answer in time")
    if http is not None or code == UNAVAILABLE:
        raise Unavailable("the identity register refuses calls")


def make_person(bvn: str) -> Person:
    """Returns a person who is always the same for the same BVN."""
    chance = blake2b(bvn.encode(), digest_size=12).digest()
    return Person(
        bvn=bvn,
        firstname=FIRST_NAMES[chance[0] % len(FIRST_NAMES)],
        lastname=LAST_NAMES[chance[1] % len(LAST_NAMES)],
        middlename=FIRST_NAMES[chance[2] % len(FIRST_NAMES)],
        dob=(FIRST_BIRTHDAY + timedelta(days=int.from_bytes(chance[3:6], "big") % BIRTHDAYS)).isoformat(),
        phone=f"080{int.from_bytes(chance[6:], 'big') % 10**8:08d}",
        always_matching=ALL_FIELDS if bvn == UNIVERSAL_BVN else (),
    )


def find_consenting(enquiry: IdentityQuery, code: str, person: Person) -> Person:
    if not enquiry.consent:
        raise LookupDeclined(NEEDS_CONSENT)
    if code == CONSENT_AWAITED:
        raise ConsentAwaited("the person has not agreed yet")
    if code == CONSENT_REFUSED:
        raise ConsentRefused("the person has refused")
    return replace(person, always_matching=ALL_FIELDS)


def make_query(claim: IdentityClaim) -> IdentityQuery:
    return IdentityQuery(claim.bvn, claim.scenario)


class SandboxIdentity:
    def choose_method(self, claim: IdentityClaim) -> VerificationMethod:
        code = choose_response_code(make_query(claim))
        return MATCH if code in SCORES else CONSENT if code in CONSENT_CODES else FIND

    async def match_person(self, claim: IdentityClaim) -> Match | None:
        code = choose_response_code(make_query(claim))
        raise_for_outage(claim.scenario.http, code)
        return Match({"name": FULL if code == MATCHES else PARTIAL, "dob": FULL, "phone": FULL}, SCORES[code])

    async def begin_consent(self, claim: IdentityClaim) -> Consent:
        raise_for_outage(claim.scenario.http, FOUND)
        code = choose_response_code(make_query(claim))
        reference = f"BVC{code}-{blake2b(claim.bvn.encode(), digest_size=8).hexdigest()}"
        return Consent(reference, CONSENT_URL + reference)

    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        code = choose_response_code(enquiry)
        raise_for_outage(enquiry.scenario.http, code)
        person = make_person(enquiry.bvn)
        if code in SCORES:
            raise LookupDeclined(TELLS_NOBODY)
        if code in CONSENT_CODES:
            return find_consenting(enquiry, code, person)
        if code == FOUND:
            return person
        if code == MISMATCH:
            return replace(person, firstname="NOBODY", lastname="ELSE", middlename="", always_matching=("dob",))
        if code == WATCH_LISTED:
            return replace(person, is_watch_listed=True)
        if code == NOT_FOUND:
            return None
        raise_for_code(code)
