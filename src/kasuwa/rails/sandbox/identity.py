"""The identity register of the test environment. The BVN and the scenario determine its answer.

It keeps no state: the last two digits of a magic BVN are its response code. Any other BVN belongs to a person who is
derived from the number. (data/magic_values.md)
"""

from datetime import date, timedelta
from hashlib import blake2b

from msgspec.structs import replace

from kasuwa.core.people import magic_bvns
from kasuwa.rails.ports import IdentityQuery, NoAnswer, Person, Unavailable
from kasuwa.rails.sandbox.bank import FIRST_NAMES, LAST_NAMES, raise_for_code

FOUND = "00"
MISMATCH = "08"
WATCH_LISTED = "60"
NOT_FOUND = "01"
UNAVAILABLE = "91"
TIMED_OUT = frozenset({"68", "96", "97"})

# Any name and date of birth match this BVN.
UNIVERSAL_BVN = "22222222222"
# Magic BVNs that are found. All other magic BVNs end in their response code.
UNCODED_BVNS = frozenset({UNIVERSAL_BVN, "12345678901"})
ALL_FIELDS = ("firstname", "lastname", "middlename", "dob")

FIRST_BIRTHDAY = date(1950, 1, 1)
BIRTHDAYS = 365 * 50


def response_code_of(enquiry: IdentityQuery) -> str:
    if enquiry.scenario.rr is not None:
        return enquiry.scenario.rr
    return enquiry.bvn[-2:] if enquiry.bvn in magic_bvns() - UNCODED_BVNS else FOUND


def person_of(bvn: str) -> Person:
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


class SandboxIdentity:
    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        http, code = enquiry.scenario.http, response_code_of(enquiry)
        if http in ("timeout", "reset") or (http is None and code in TIMED_OUT):
            raise NoAnswer("the identity register did not answer in time")
        if http is not None or code == UNAVAILABLE:
            raise Unavailable("the identity register refuses calls")
        person = person_of(enquiry.bvn)
        if code == FOUND:
            return person
        if code == MISMATCH:
            return replace(person, firstname="NOBODY", lastname="ELSE", middlename="", always_matching=("dob",))
        if code == WATCH_LISTED:
            return replace(person, is_watch_listed=True)
        if code == NOT_FOUND:
            return None
        raise_for_code(code)
