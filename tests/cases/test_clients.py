"""Cases of clients that were identified by a document, and changed afterwards."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cases.test_case_files import RecordingServer, play
from tests.cases.test_case_files import server as server
from tests.cases.test_collected_loans import export
from tests.cases.test_incidents import replay
from tests.merchant_client import MerchantClient
from tests.methods.loans.lending_client import GOOD, LendingClient
from tests.running import Deployment

PERSON = {
    "firstname": "Ada",
    "lastname": "Obi",
    "phone": "08031234567",
    "bankAccount": {"account_number": GOOD, "bank_code": "058"},
}
PASSPORT = {"type": "passport", "number": "A01234567"}


@pytest.fixture
def lender(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop()
    # The opening balance is older than what is played.
    shop.advance(minutes=1)
    return LendingClient(shop.connection, shop.mid, shop.key)


def create(lender: LendingClient, kind: str, status: str) -> str:
    person = {**PERSON, "identification": {**PASSPORT, "type": kind}}
    created = lender.put("clients", action="create", data=person, status=status).body
    assert created["status"] == 200, created
    return str(created["data"]["client_id"])


@pytest.mark.parametrize("kind", ["nin", "passport"])
def test_a_loan_of_a_client_with_a_document_is_made_again(
    kind: str, lender: LendingClient, deployment: Deployment
) -> None:
    loan_id = lender.request(create(lender, kind, "active"))["data"]["loan_id"]
    assert lender.loans("process", loan_id=loan_id, status="approve")["status"] == 200
    file = export(deployment, lender, loan_id)
    [sent] = [one.request for one in file.exchanges if one.action == "clients.create"]
    assert sent["data"]["identification"] == {"type": kind}
    assert [one.text for one in replay(file, deployment).differences] == []


def test_changes_of_a_client_are_made_again(lender: LendingClient, deployment: Deployment) -> None:
    client_id, document = create(lender, "nin", "pending_approval"), {"identification": PASSPORT}
    for changes in ({"status": "active"}, {"data": document}):
        changed = lender.put("clients", action="update", client_id=client_id, **changes).body
        assert changed["status"] == 200, changed
    file = export(deployment, lender, client_id)
    updates = [one.request for one in file.exchanges if one.action == "clients.update"]
    assert [one.get("data") for one in updates] == [None, {"identification": {"type": "passport"}}]
    assert [one.text for one in replay(file, deployment).differences] == []


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("clients.update", {"action": "update", "client_id": "c", "status": "active"}),
        ("clients.update", {"action": "update", "client_id": "c", "data": None}),
        ("clients.create", {}),
    ],
)
def test_a_request_without_a_person_is_sent_as_it_is(name: str, body: dict[str, Any], server: RecordingServer) -> None:
    assert play(server, (name, body)) == [("clients", body)]
