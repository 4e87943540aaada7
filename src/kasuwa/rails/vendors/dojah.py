"""Dojah: looks up the person of a Bank Verification Number (BVN).

A look-up changes nothing, so there is nothing to query later. Photographs and addresses in the answer are dropped.
Replies that the vendor does not document are never taken for "no such person". If the operator chooses so, the vendor
only compares the person, so that it tells nothing that the merchant does not know.
"""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.rails.ports.identities import (
    FULL,
    MATCH,
    NO_MATCH,
    TELLS_NOBODY,
    Consent,
    IdentityClaim,
    Match,
    VerificationMethod,
)
from kasuwa.rails.ports.orders import IdentityQuery, LookupDeclined, Person, Unavailable, UnreadableAnswer
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.vendors.amounts import read_balance
from kasuwa.rails.vendors.client import CallObserver, VendorClient, VendorReply

NAME = "dojah"
LIVE_URL = "https://api.dojah.io"
TEST_URL = "https://sandbox.dojah.io"

FULL_LOOKUP = "/api/v1/kyc/bvn/full"
COMPARISON = "/api/v1/kyc/bvn"
BALANCE = "/api/v1/balance"
DATE_FORMS = ("%d-%b-%Y", "%Y-%m-%d")
LONGEST_MESSAGE = 200

OK, NOT_FOUND, BAD_REQUEST, PAYMENT_REQUIRED, REGISTER_AWAY = 200, 404, 400, 402, 424
HIGHEST_SCORE = 100


class DojahKeys(msgspec.Struct, frozen=True):
    app_id: str
    secret_key: str

    def __repr__(self) -> str:
        return "DojahKeys(…)"


def is_envelope(body: dict[str, Any]) -> bool:
    return "entity" in body or isinstance(body.get("error"), str)


class DojahIdentity:
    def __init__(self, transport: HttpTransport, base_url: str, keys: DojahKeys, observe: CallObserver) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._headers = {"Authorization": keys.secret_key, "AppId": keys.app_id}

    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        query = {"bvn": enquiry.bvn}
        reply = await self._client.call("GET", FULL_LOOKUP, moves_money=False, headers=self._headers, query=query)
        return read_person(reply, enquiry.bvn)

    async def balance(self) -> dict[str, int]:
        reply = await self._client.call("GET", BALANCE, moves_money=False, headers=self._headers)
        entity = reply.body.get("entity")
        return {"NGN": read_balance(entity.get("wallet_balance") if isinstance(entity, dict) else None)}


class DojahMatching(DojahIdentity):
    """The same vendor, which only compares."""

    def choose_method(self, claim: IdentityClaim) -> VerificationMethod:
        return MATCH

    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        raise LookupDeclined(TELLS_NOBODY)

    async def begin_consent(self, claim: IdentityClaim) -> Consent:
        raise LookupDeclined("dojah has no page for consents")

    async def match_person(self, claim: IdentityClaim) -> Match | None:
        claimed = {"bvn": claim.bvn, "first_name": claim.firstname, "last_name": claim.lastname, "dob": claim.dob}
        query = {name: value for name, value in claimed.items() if value}
        reply = await self._client.call("GET", COMPARISON, moves_money=False, headers=self._headers, query=query)
        return read_match(reply)


def read_match(reply: VendorReply) -> Match | None:
    """Returns how far a claim agrees, or None if the register has no such BVN. The vendor's values are 0 to 100."""
    if reply.status != OK:
        raise_unless_unknown(reply)
        return None
    entity = reply.body.get("entity")
    if entity in ({}, None):
        return None
    bvn = entity.get("bvn") if isinstance(entity, dict) else None
    if not isinstance(entity, dict) or not isinstance(bvn, dict):
        raise UnreadableAnswer("the entity is not a comparison")
    if bvn.get("status") is False:
        return None
    scores = {"firstname": read_score(entity, "first_name"), "lastname": read_score(entity, "last_name")}
    compared = {name: FULL if score == HIGHEST_SCORE else NO_MATCH for name, score in scores.items()}
    if "dob" in entity:
        compared["dob"] = FULL if read_status(entity["dob"]) else NO_MATCH
    return Match(compared, min(scores.values()))


def read_status(part: Any) -> bool:
    if not isinstance(part, dict):
        raise UnreadableAnswer("the comparison has another form than documented")
    return part.get("status") is True


def read_score(entity: dict[str, Any], name: str) -> int:
    field = entity.get(name)
    value = field.get("confidence_value") if isinstance(field, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= HIGHEST_SCORE:
        raise UnreadableAnswer("the comparison has another form than documented")
    return value


def read_person(reply: VendorReply, bvn: str) -> Person | None:
    """Returns the person of a reply, or None if the register has no such BVN."""
    if reply.status == OK:
        return read_entity(reply.body.get("entity"), bvn)
    raise_unless_unknown(reply)
    return None


def raise_unless_unknown(reply: VendorReply) -> None:
    """Raises what a refusal means, unless it says that the register has no such BVN."""
    words = str(reply.body.get("error", ""))
    if reply.status in (NOT_FOUND, BAD_REQUEST) and speaks_of_unknown_bvn(words):
        return
    if reply.status == PAYMENT_REQUIRED or "balance" in words.lower():
        raise Unavailable(words, notice="the balance of our account with dojah does not cover a look-up: fund it")
    if reply.status == BAD_REQUEST:
        raise LookupDeclined(words[:LONGEST_MESSAGE])
    if reply.status == REGISTER_AWAY:
        raise Unavailable("the register behind the vendor does not answer")
    raise UnreadableAnswer(f"HTTP {reply.status}")


def speaks_of_unknown_bvn(words: str) -> bool:
    words = words.lower()
    return "bvn" in words and "not found" in words


def read_entity(entity: Any, bvn: str) -> Person | None:
    """Returns the person of a look-up's entity. An empty one means that there is no such BVN."""
    if entity in ({}, None):
        return None
    if not isinstance(entity, dict) or entity.get("bvn") != bvn:
        # The newest form of the vendor's page compares names and has an object here: it tells nothing of a person.
        raise UnreadableAnswer("the entity is not the person of this BVN")
    first, last = entity.get("first_name"), entity.get("last_name")
    if not (isinstance(first, str) and isinstance(last, str) and first and last):
        raise UnreadableAnswer("the person has no name")
    return Person(
        bvn=bvn,
        firstname=first,
        lastname=last,
        middlename=read_text(entity, "middle_name"),
        dob=read_birth_date(read_text(entity, "date_of_birth")),
        phone=read_text(entity, "phone_number1"),
        is_watch_listed=read_text(entity, "watch_listed").upper() in ("YES", "TRUE"),
    )


def read_text(entity: dict[str, Any], name: str) -> str:
    value = entity.get(name)
    return value if isinstance(value, str) else ""


def read_birth_date(text: str) -> str:
    """Returns a birth date as YYYY-MM-DD, or "" for none. Years of two digits are not accepted: they do not tell the
    century."""
    if not text:
        return ""
    for form in DATE_FORMS:
        try:
            return datetime.strptime(text, form).date().isoformat()  # noqa: DTZ007 - a date has no zone
        except ValueError:
            continue
    raise UnreadableAnswer("the birth date has another form than documented")
