"""Registers that only compare a person, or that need the person's consent first. Contract: clients#verify-bvn"""

from typing import Any

import pytest

from kasuwa.core.decision import Decision
from kasuwa.methods.clients.rules.verify_bvn import CONSENT_REFUSED, RegistryAnswer
from kasuwa.rails.ports.identities import FULL, NO_MATCH, PARTIAL, Consent, Match
from tests.methods.clients.people import BVN, OTHER_BVN, InMemoryClients, faults, person, shown

CONSENT = Consent("C-1", "https://bvn.example.com/consent/C-1", "remote")
AWAITED = RegistryAnswer(BVN, CONSENT)
AGREES = RegistryAnswer(BVN, Match({"name": FULL, "dob": FULL, "phone": NO_MATCH}, 100))


@pytest.fixture
def clients() -> InMemoryClients:
    return InMemoryClients()


def question_of(decided: Any) -> Any:
    assert isinstance(decided, Decision)
    return decided.question


# --- compared by the register ---------------------------------------------------------------------------------------


def test_a_match_verifies_the_client_and_keeps_the_score(clients: InMemoryClients) -> None:
    made = shown(clients.create(AGREES, bvn=BVN, verify_bvn=True, dob="1990-04-17"))
    assert (made["bvn_verified"], made["bvn_verification"]["method"]) == (True, "match")
    assert (made["bvn_verification"]["state"], made["bvn_verification"]["score"]) == ("verified", 100)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"name": PARTIAL, "dob": FULL}, ["data.firstname", "data.lastname"]),
        ({"name": NO_MATCH, "dob": NO_MATCH}, ["data.firstname", "data.lastname", "data.dob"]),
        ({"name": FULL, "dob": NO_MATCH}, ["data.dob"]),
        ({"firstname": FULL, "lastname": NO_MATCH}, ["data.lastname"]),
    ],
)
def test_a_client_who_does_not_match_is_refused(
    clients: InMemoryClients, fields: dict[str, str], named: list[str]
) -> None:
    answer = RegistryAnswer(BVN, Match(fields, 66))
    assert list(faults(clients.create(answer, bvn=BVN, verify_bvn=True))) == named
    assert clients.rows == {}


def test_the_register_is_asked_with_the_client_as_it_would_be(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN, dob="1990-04-17")
    asked = question_of(clients.update(client, verify_bvn=True, data={"lastname": "Eze"}))
    assert (asked.claimed.firstname, asked.claimed.lastname, asked.claimed.dob) == ("Ada", "Eze", "1990-04-17")
    assert (asked.phone, asked.consent, BVN in repr(asked)) == ("08031234567", None, False)


# --- with consent ---------------------------------------------------------------------------------------------------


def test_a_client_is_created_while_the_persons_consent_is_awaited(clients: InMemoryClients) -> None:
    decided = clients.create(AWAITED, bvn=BVN, verify_bvn=True, status="active")
    assert decided.reply.status == 202
    made = shown(decided)
    assert (made["status"], made["bvn_verified"]) == ("pending_approval", False)
    assert (made["bvn_verification"]["state"], made["bvn_verification"]["consent_url"]) == (
        "awaiting_consent",
        CONSENT.url,
    )
    [client] = decided.rows[:1]
    assert b"C-1" not in (client.bvn_check_sealed or b"")


def test_the_consent_that_was_begun_is_asked_after_until_it_is_given(clients: InMemoryClients) -> None:
    client = clients.create(AWAITED, bvn=BVN, verify_bvn=True).rows[0]
    for _ in range(2):
        assert question_of(clients.update(client, verify_bvn=True)).consent == CONSENT
        waiting = clients.update(client, AWAITED, verify_bvn=True, status="active")
        assert (waiting.reply.status, shown(waiting)["status"]) == (202, "pending_approval")
    agreed = clients.update(client, RegistryAnswer(BVN, person()), verify_bvn=True, status="active")
    made = shown(agreed)
    assert (agreed.reply.status, made["status"], made["bvn_verified"]) == (200, "active", True)
    assert made["bvn_verification"]["method"] == "consent"
    assert "consent_url" not in made["bvn_verification"]


def test_a_refused_consent_is_forgotten_and_the_next_is_another(clients: InMemoryClients) -> None:
    client = clients.create(AWAITED, bvn=BVN, verify_bvn=True).rows[0]
    refused = clients.update(client, RegistryAnswer(BVN, None, is_consent_refused=True), verify_bvn=True)
    assert refused.reply == CONSENT_REFUSED
    assert clients.now(client.client_id).bvn_check_sealed is None
    assert question_of(clients.update(client, verify_bvn=True)).consent is None


def test_another_bvn_needs_another_consent(clients: InMemoryClients) -> None:
    client = clients.create(AWAITED, bvn=BVN, verify_bvn=True).rows[0]
    asked = question_of(clients.update(client, verify_bvn=True, data={"bvn": OTHER_BVN}))
    assert (asked.bvn, asked.consent) == (OTHER_BVN, None)


def test_other_changes_keep_the_consent_and_end_a_verification(clients: InMemoryClients) -> None:
    waiting = clients.create(AWAITED, bvn=BVN, verify_bvn=True).rows[0]
    changed = clients.update(waiting, data={"lastname": "Eze"})
    assert (changed.reply.status, shown(changed)["bvn_verification"]["state"]) == (200, "awaiting_consent")
    verified = clients.create(
        RegistryAnswer(OTHER_BVN, Match({"name": FULL}, 100)), entropy=1, bvn=OTHER_BVN, verify_bvn=True
    ).rows[0]
    made = shown(clients.update(verified, data={"lastname": "Eze"}))
    assert (made["bvn_verified"], "bvn_verification" in made) == (False, False)
