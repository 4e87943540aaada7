"""The BVN of a client (verified, encrypted, masked, unique), and the erasure of a client."""

from functools import partial
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.methods.clients.model import ACCOUNTS_OPEN, UNKNOWN_CLIENT, Client, adjust_open_accounts, client_key
from kasuwa.methods.clients.rules.manage_client import (
    ERASED,
    bvn_aad,
    decide_erase,
    decide_update,
    need_erase,
)
from kasuwa.methods.clients.rules.verify_bvn import UNKNOWN_BVN, WATCH_LISTED, RegistryAnswer
from kasuwa.methods.clients.wire import ClientChanges, UpdateRequest
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS, RowErasure
from kasuwa.wire.people import magic_bvns
from tests.methods.clients.people import ANYONE, BVN, OTHER_BVN, InMemoryClients, faults, person, shown
from tests.rule_context import MERCHANT, context, merchant

FOUND = RegistryAnswer(BVN, person())


@pytest.fixture
def clients() -> InMemoryClients:
    return InMemoryClients()


def erase(clients: InMemoryClients, client_id: str, *traces: RowErasure) -> Any:
    keys = [key for _, key in need_erase(client_id, traces, MERCHANT).rows]
    return clients.decide(partial(decide_erase, client_id), traces, keys)


# --- when the register is asked -----------------------------------------------------------------------------


def asked(decided: Any) -> str | None:
    """The BVN that a decision asks for; it does nothing else."""
    assert isinstance(decided, Decision), decided
    if decided.question is not None:
        assert decided == Decision(question=decided.question)
    return None if decided.question is None else decided.question.bvn


def test_the_register_is_asked_only_for_a_bvn_that_is_to_be_verified(clients: InMemoryClients) -> None:
    assert asked(clients.create(bvn=BVN, verify_bvn=True)) == BVN
    assert clients.rows == {}
    assert asked(clients.create(bvn=BVN)) is None
    assert asked(clients.create(entropy=1)) is None


def test_a_request_that_is_refused_anyway_does_not_query_the_register(clients: InMemoryClients) -> None:
    first = clients.enroll(bvn=BVN)
    assert set(faults(clients.create(entropy=1, bvn=BVN, verify_bvn=True))) == {"data.bvn"}
    assert set(faults(clients.create(bvn=OTHER_BVN, verify_bvn=True, dob="2030-01-01"))) == {"data.dob"}
    assert set(faults(clients.update(first, status="exited", verify_bvn=True))) == {"status"}
    nobody = UpdateRequest(client_id="CLx", verify_bvn=True, data=ClientChanges(bvn=BVN))
    assert clients.decide(decide_update, nobody, [client_key(MERCHANT.merchant_id, "CLx")]) == UNKNOWN_CLIENT


def test_an_answer_about_another_bvn_is_ignored(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=OTHER_BVN)
    assert asked(clients.update(client, FOUND, verify_bvn=True)) == OTHER_BVN
    assert asked(clients.create(FOUND, entropy=1, bvn=OTHER_BVN[:-1] + "2", verify_bvn=True)) == OTHER_BVN[:-1] + "2"


def test_the_stored_bvn_is_verified_if_the_request_has_none(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN)
    ways: list[dict[str, Any]] = [{}, {"data": {}}, {"status": "active"}]
    for value in ways:
        assert asked(clients.update(client, verify_bvn=True, **value)) == BVN
    assert shown(clients.update(client, FOUND, verify_bvn=True))["bvn_verified"] is True
    assert set(faults(clients.update(client, FOUND, verify_bvn=True, data={"lastname": "Eze"}))) == {"data.lastname"}
    assert clients.now(client.client_id).bvn_sealed == client.bvn_sealed


# --- verified, or not ---------------------------------------------------------------------------------------


def test_a_client_who_matches_the_register_is_verified(clients: InMemoryClients) -> None:
    assert shown(clients.create(FOUND, bvn=BVN, verify_bvn=True))["bvn_verified"] is True
    assert shown(clients.create(entropy=1, bvn=OTHER_BVN))["bvn_verified"] is False


@pytest.mark.parametrize(
    ("registered", "named"),
    [
        (person(firstname="NGOZI"), ["data.firstname"]),
        (person(lastname="EZE", dob="1991-04-17"), ["data.lastname", "data.dob"]),
        (person(middlename="FAITH"), ["data.middlename"]),
        (None, ["data.bvn"]),
        (person(is_watch_listed=True), ["data.bvn"]),
    ],
)
def test_a_client_who_differs_from_the_register_is_refused_and_not_stored(
    clients: InMemoryClients, registered: Any, named: list[str]
) -> None:
    fields: dict[str, Any] = {"bvn": BVN, "dob": "1990-04-17", "middlename": "Grace"}
    assert list(faults(clients.create(RegistryAnswer(BVN, registered), verify_bvn=True, **fields))) == named
    assert clients.rows == {}


@pytest.mark.parametrize(("registered", "refusal"), [(None, UNKNOWN_BVN), (person(is_watch_listed=True), WATCH_LISTED)])
def test_an_unknown_and_a_watch_listed_bvn_are_refused_for_what_they_are(
    clients: InMemoryClients, registered: Any, refusal: Any
) -> None:
    assert clients.create(RegistryAnswer(BVN, registered), bvn=BVN, verify_bvn=True) == refusal
    client = clients.enroll(bvn=BVN)
    assert clients.update(client, RegistryAnswer(BVN, registered), verify_bvn=True) == refusal


def test_verify_bvn_without_a_bvn_is_refused(clients: InMemoryClients) -> None:
    assert faults(clients.create(verify_bvn=True)) == {"data.bvn": "required, to be verified"}
    ways: list[dict[str, Any]] = [{"data": {"middlename": "Grace"}}, {"data": {}}, {}]
    for value in ways:
        assert faults(clients.update(clients.enroll(), verify_bvn=True, **value)) == {
            "data.bvn": "required, to be verified"
        }


def test_an_update_is_compared_as_a_whole(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN, lastname="Eze")
    assert set(faults(clients.update(client, FOUND, verify_bvn=True, data={"bvn": BVN}))) == {"data.lastname"}
    changed = clients.update(client, FOUND, verify_bvn=True, data={"bvn": BVN, "lastname": "Obi"})
    assert shown(changed)["bvn_verified"] is True


@pytest.mark.parametrize(
    ("data", "stays"),
    [
        ({"lastname": "Eze"}, False),
        ({"dob": "1990-04-18"}, False),
        ({"middlename": "Grace"}, False),
        ({"bvn": OTHER_BVN}, False),
        ({"lastname": "Obi", "bvn": BVN}, True),
        ({"lastname": "ỌBÍ", "firstname": "ADA"}, True),
        ({"lastname": "ỌBÍ", "dob": "1990-04-18"}, False),
        ({"lastname": "Obi-Eze"}, False),
        ({"phone": "08039999999", "meta": {"a": 1}}, True),
    ],
)
def test_changing_the_name_or_birth_date_ends_the_verification(
    clients: InMemoryClients, data: Any, stays: bool
) -> None:
    client = clients.enroll(answer=FOUND, bvn=BVN, verify_bvn=True)
    assert shown(clients.update(client, data=data))["bvn_verified"] is stays


# --- kept ---------------------------------------------------------------------------------------------------


def test_a_bvn_is_sealed_and_shown_masked(clients: InMemoryClients) -> None:
    decided = clients.create(bvn=BVN)
    client: Client = decided.rows[0]
    assert shown(decided)["bvn"] == "222******78"
    assert BVN not in clients.detail_of(client.client_id)
    assert client.bvn_sealed is not None
    assert BVN.encode() not in client.bvn_sealed
    assert clients.context.unseal(bvn_aad(client.client_id), client.bvn_sealed) == BVN.encode()
    assert BVN.encode() not in msgspec.json.encode(decided.reply)


def test_two_merchants_do_not_keep_the_same_hash() -> None:
    mine, other = InMemoryClients().enroll(bvn=BVN), InMemoryClients(context(merchant=ANOTHER)).create(bvn=BVN).rows[0]
    assert mine.bvn_hash != other.bvn_hash


ANOTHER = msgspec.structs.replace(MERCHANT, merchant_id=8)


# --- one client's alone -------------------------------------------------------------------------------------


def test_the_same_bvn_twice_names_the_client_that_has_it(clients: InMemoryClients) -> None:
    first = clients.enroll(bvn=BVN)
    assert faults(clients.create(entropy=1, bvn=BVN)) == {"data.bvn": f"this is the BVN of client {first.client_id}"}
    other = clients.enroll(entropy=2)
    assert first.client_id in faults(clients.update(other, data={"bvn": BVN}))["data.bvn"]
    assert clients.guards() == [first.client_id]


def test_a_client_may_be_updated_with_its_own_bvn(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN)
    sealed = client.bvn_sealed
    assert isinstance(clients.update(client, data={"bvn": BVN}), Decision)
    assert clients.now(client.client_id).bvn_sealed == sealed


def test_a_bvn_that_is_changed_is_free_for_another(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN)
    clients.update(client, data={"bvn": OTHER_BVN})
    assert sorted(clients.guards(), key=str) == [client.client_id, None]
    second = clients.enroll(entropy=1, bvn=BVN)
    assert set(clients.guards()) == {client.client_id, second.client_id}
    assert second.client_id in faults(clients.update(client, data={"bvn": BVN}))["data.bvn"]


def test_a_bvn_can_come_back_to_its_client(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN)
    for bvn in (OTHER_BVN, BVN):
        assert shown(clients.update(client, data={"bvn": bvn}))["bvn"][-2:] == bvn[-2:]
    assert sorted(clients.guards(), key=str) == [client.client_id, None]


@pytest.mark.parametrize("bvn", sorted(magic_bvns()))
def test_a_magic_bvn_may_be_many_clients(clients: InMemoryClients, bvn: str) -> None:
    assert clients.enroll(bvn=bvn).client_id != clients.enroll(entropy=1, bvn=bvn).client_id
    assert clients.guards() == []


def test_in_live_no_bvn_belongs_to_two_clients() -> None:
    clients = InMemoryClients(context(merchant=merchant("live")))
    clients.create(bvn=ANYONE)
    assert set(faults(clients.create(entropy=1, bvn=ANYONE))) == {"data.bvn"}


def test_from_a_magic_bvn_to_a_real_one_and_back(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=ANYONE)
    clients.update(client, data={"bvn": BVN})
    assert clients.guards() == [client.client_id]
    clients.update(client, data={"bvn": ANYONE})
    assert clients.guards() == [None]


# --- erased -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pending_approval", "exited"),
        ("inactive", "exited"),
        ("active", "exited"),
        ("rejected", "exited"),
        ("exited", "exited"),
        ("blacklisted", "blacklisted"),
    ],
)
def test_an_erased_client_has_only_its_id_status_and_dates(clients: InMemoryClients, before: str, after: str) -> None:
    client = msgspec.structs.replace(
        clients.enroll(answer=FOUND, bvn=BVN, verify_bvn=True, meta={"a": 1}), status=before
    )
    clients.rows[client.key] = client
    erase(clients, client.client_id)
    left = clients.now(client.client_id)
    assert (left.bvn_hash, left.bvn_mask, left.bvn_sealed) == (None, None, None)
    assert (left.detail_sealed, left.phone_hash, left.email_hash) == (None, None, None)
    assert (left.client_id, left.number, left.created_at) == (client.client_id, client.number, client.created_at)
    assert msgspec.to_builtins(erase(clients, client.client_id).reply) == {
        "client_id": client.client_id,
        "status": after,
        "bvn_verified": False,
        "dateCreated": "2026-01-05T09:30:00.123Z",
        "dateErased": "2026-01-05T09:30:00.123Z",
    }


def test_an_erased_client_cannot_be_changed_and_its_bvn_is_free(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN)
    erase(clients, client.client_id)
    assert clients.update(client, data={"firstname": "Ada"}) == ERASED
    assert clients.update(client, status="active") == ERASED
    assert clients.guards() == [None]
    assert clients.enroll(entropy=1, bvn=BVN).client_id != client.client_id


def test_erasing_twice_changes_nothing(clients: InMemoryClients) -> None:
    client = clients.enroll(bvn=BVN)
    first = erase(clients, client.client_id)
    again = erase(clients, client.client_id)
    assert (again.reply, again.rows) == (first.reply, ())


def test_a_client_with_an_open_account_is_not_erased(clients: InMemoryClients) -> None:
    client = adjust_open_accounts(clients.enroll(status="active", bvn=BVN), 1)
    clients.rows[client.key] = client
    assert erase(clients, client.client_id) == ACCOUNTS_OPEN
    assert clients.now(client.client_id) == client


def test_an_unknown_client_cannot_be_erased(clients: InMemoryClients) -> None:
    assert erase(clients, "CLx") == UNKNOWN_CLIENT


def test_traces_of_a_client_in_other_slices_are_erased_too(clients: InMemoryClients) -> None:
    client, other = clients.enroll(), clients.enroll(entropy=1)
    traces = [
        RowErasure(Client, other.key, lambda row: msgspec.structs.replace(row, detail_sealed=None)),
        RowErasure(Client, b"nowhere", lambda row: row),
    ]
    erased = erase(clients, client.client_id, *traces)
    assert [row.client_id for row in erased.rows] == [client.client_id, other.client_id]
    assert clients.detail_of(other.client_id) == "{}"
    assert erase(clients, client.client_id, *traces).rows == ()


def test_a_client_with_a_transaction_in_progress_is_not_erased(clients: InMemoryClients) -> None:
    client = clients.enroll()
    assert (
        erase(clients, client.client_id, RowErasure(Client, client.key, lambda row: TRANSACTION_IN_PROGRESS))
        == TRANSACTION_IN_PROGRESS
    )
    assert clients.now(client.client_id) == client
