"""Monnify: compares a person with the register of Bank Verification Numbers (BVN).

The vendor says how far name, date of birth and telephone number agree, and tells nothing of the person. It has no
look-up of a person and no consent page. All four fields are required.
"""

from datetime import date
from typing import Any

from kasuwa.rails.ports.identities import (
    FULL,
    MATCH,
    NO_MATCH,
    PARTIAL,
    TELLS_NOBODY,
    Consent,
    FieldsRequired,
    IdentityClaim,
    Match,
    VerificationMethod,
)
from kasuwa.rails.ports.orders import IdentityQuery, LookupDeclined, Person, Unavailable, UnreadableAnswer
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.monnify.session import NAME, MonnifySession, get_response_body, read_message

MATCH_DETAILS = "/api/v1/vas/bvn-details-match"

WORDS = {"FULL_MATCH": FULL, "PARTIAL_MATCH": PARTIAL, "NO_MATCH": NO_MATCH}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
NATIONAL_DIGITS = 11
UNKNOWN_BVN = ("not found", "does not exist", "invalid bvn", "no record")
# Refusals that are about our contract with the vendor, by a word of theirs.
OUR_CONTRACT = ("balance", "not enabled", "not permitted", "not allowed", "contract")


class MonnifyIdentity(MonnifySession):
    """The identity rail."""

    def choose_method(self, claim: IdentityClaim) -> VerificationMethod:
        return MATCH

    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        raise LookupDeclined(TELLS_NOBODY)

    async def begin_consent(self, claim: IdentityClaim) -> Consent:
        raise LookupDeclined("monnify has no page for consents")

    async def match_person(self, claim: IdentityClaim) -> Match | None:
        missing = tuple(name for name in ("dob", "phone") if not getattr(claim, name))
        if missing:
            raise FieldsRequired(missing)
        names = (claim.firstname, claim.middlename, claim.lastname)
        body = {
            "bvn": claim.bvn,
            "name": " ".join(name for name in names if name),
            "dateOfBirth": vendor_date(claim.dob),
            "mobileNo": national_number(claim.phone),
        }
        reply = await self._call("POST", MATCH_DETAILS, body=body)
        if reply.body["requestSuccessful"]:
            return read_match(get_response_body(reply), claim.bvn)
        raise_unless_unknown(reply)
        return None


def raise_unless_unknown(reply: VendorReply) -> None:
    """Raises what a refusal means, unless it says that the register has no such BVN."""
    words = read_message(reply)
    lower = words.lower()
    if any(word in lower for word in OUR_CONTRACT):
        raise Unavailable(words, notice=f"{NAME} compares no BVNs for us: {words}")
    if "bvn" in lower and any(text in lower for text in UNKNOWN_BVN):
        return
    raise LookupDeclined(words)


def read_match(body: dict[str, Any], bvn: str) -> Match:
    """Returns how far a claim agrees. An answer about another BVN, or with other words, is unreadable."""
    name = body.get("name")
    if body.get("bvn", bvn) != bvn or not isinstance(name, dict):
        raise UnreadableAnswer("the answer is not the comparison with this BVN")
    words = {"name": name.get("matchStatus"), "dob": body.get("dateOfBirth"), "phone": body.get("mobileNo")}
    fields = {field: WORDS.get(str(word)) for field, word in words.items() if word is not None}
    score = name.get("matchPercentage")
    if "name" not in fields or None in fields.values():
        raise UnreadableAnswer("the comparison has another form than documented")
    is_score = isinstance(score, int) and not isinstance(score, bool) and 0 <= score <= 100
    return Match({field: word for field, word in fields.items() if word is not None}, score if is_score else None)


def vendor_date(day: str) -> str:
    """Returns a day in the form of the vendor's examples: 28-Jun-1990."""
    born = date.fromisoformat(day)
    return f"{born.day:02d}-{MONTHS[born.month - 1]}-{born.year}"


def national_number(phone: str) -> str:
    """Returns a Nigerian number in its national form of eleven digits. Others are returned as their digits."""
    digits = "".join(sign for sign in phone if sign.isdecimal())
    if digits.startswith("234") and len(digits) == NATIONAL_DIGITS + 2:
        return f"0{digits[3:]}"
    return digits
