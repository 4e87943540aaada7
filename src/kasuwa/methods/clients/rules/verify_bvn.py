"""Verifies a client by the BVN: the question to the register, and what its answer means.

The register tells the person, who is compared here; or it compares and says how far the claim agrees; or the person
must consent on a page first, and the client stays unverified until then. How a client was verified is stored
encrypted, with the register's score. Nothing of the person that the merchant did not give is stored.

Contract: clients#verify-bvn
"""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, FieldError, Refusal, refuse_fields
from kasuwa.methods.clients.model import Client, Unsealer
from kasuwa.methods.clients.rules.match_names import ClaimedIdentity, find_differing_fields
from kasuwa.methods.clients.wire import BvnVerification
from kasuwa.rails.ports.identities import FULL, Consent, Match, Verdict
from kasuwa.rails.ports.orders import Person

UNKNOWN_BVN = refuse_fields(FieldError("data.bvn", "the register has no such BVN", "bvn_unknown"))
WATCH_LISTED = refuse_fields(FieldError("data.bvn", "this BVN is watch-listed", "bvn_watch_listed"))
CONSENT_REFUSED = refuse_fields(
    FieldError(
        "data.bvn",
        "the person did not consent to the look-up; verify again to ask the person anew",
        "bvn_consent_refused",
    )
)
DIFFERS = "not as the BVN register has it"

# The fields that are compared with the BVN register. Changing one of them ends the verification.
VERIFIED_FIELDS = ("firstname", "lastname", "middlename", "dob")

Detail = dict[str, Any]


class BvnQuestion(msgspec.Struct, frozen=True):
    """A question to the register: a BVN, the client as the merchant describes it, and a consent that was begun."""

    bvn: str
    claimed: ClaimedIdentity
    phone: str = ""
    consent: Consent | None = None

    def __repr__(self) -> str:
        return "BvnQuestion(…)"


class RegistryAnswer(msgspec.Struct, frozen=True):
    """The register's answer about a BVN. `verdict` is None if the register has no such BVN."""

    bvn: str
    verdict: Verdict
    is_consent_refused: bool = False


class BvnCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verification of a client's BVN, or the consent that is awaited."""

    method: str  # register, match or consent
    at: datetime
    consent: Consent | None = None  # while it is awaited
    score: int | None = None  # of the register's comparison

    @property
    def is_awaited(self) -> bool:
        return self.consent is not None


BVN_CHECK_DECODER: "msgspec.json.Decoder[BvnCheck]" = msgspec.json.Decoder(BvnCheck)


def check_aad(client_id: str) -> str:
    return f"client.bvn_check_sealed {client_id}"


def read_check(client: Client, unseal: Unsealer) -> BvnCheck | None:
    if client.bvn_check_sealed is None:
        return None
    aad = check_aad(client.client_id)
    return BVN_CHECK_DECODER.decode(unseal(client.merchant_id, aad, client.bvn_check_sealed))


def seal_check(check: BvnCheck | None, client_id: str, context: Context) -> bytes | None:
    return None if check is None else context.seal(check_aad(client_id), msgspec.json.encode(check))


def make_question(bvn: str, detail: Detail, check: BvnCheck | None) -> BvnQuestion:
    consent = None if check is None else check.consent
    return BvnQuestion(bvn, make_claimed_identity(detail), detail.get("phone", ""), consent)


def make_claimed_identity(detail: Detail) -> ClaimedIdentity:
    return ClaimedIdentity(**{name: detail.get(name, "") for name in VERIFIED_FIELDS})


def judge_answer(detail: Detail, answer: RegistryAnswer, before: BvnCheck | None, now: datetime) -> BvnCheck | Refusal:
    """Returns how the client is verified, the consent that is awaited, or why the client cannot be verified."""
    verdict = answer.verdict
    if answer.is_consent_refused:
        return CONSENT_REFUSED
    if verdict is None:
        return UNKNOWN_BVN
    if isinstance(verdict, Consent):
        return BvnCheck("consent", now, verdict)
    if isinstance(verdict, Match):
        return refuse_unmatched(verdict, detail) or BvnCheck("match", now, score=verdict.score)
    method = "consent" if before is not None and before.is_awaited else "register"
    return refuse_differing(verdict, detail) or BvnCheck(method, now)


def refuse_differing(person: Person, detail: Detail) -> Refusal | None:
    if person.is_watch_listed:
        return WATCH_LISTED
    differing = find_differing_fields(make_claimed_identity(detail), person)
    return refuse_fields(*(FieldError(f"data.{name}", DIFFERS) for name in differing)) if differing else None


def refuse_unmatched(match: Match, detail: Detail) -> Refusal | None:
    """Returns a refusal unless names and date of birth agree in full. Telephone numbers change: they may differ."""
    scored = DIFFERS if match.score is None else f"{DIFFERS}: {match.score} of 100"
    names = [name for name in ("firstname", "lastname") if match.fields.get(name, match.fields.get("name")) != FULL]
    faults = [FieldError(f"data.{name}", scored) for name in names]
    if match.fields.get("dob", FULL) != FULL:
        faults.append(FieldError("data.dob", DIFFERS))
    return refuse_fields(*faults) if faults else None


def show_verification(client: Client, unseal: Unsealer) -> BvnVerification | msgspec.UnsetType:
    """Returns how the BVN was verified, or what is awaited. Absent if it was not."""
    check = read_check(client, unseal)
    if check is None:
        return UNSET
    return BvnVerification(
        method=check.method,  # type: ignore[arg-type]
        state="awaiting_consent" if check.is_awaited else "verified",
        consent_url=UNSET if check.consent is None else check.consent.url,
        score=UNSET if check.score is None else check.score,
        at=utc_text(check.at),
    )
