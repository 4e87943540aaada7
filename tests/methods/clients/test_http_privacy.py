"""Personal data of clients: encrypted in the database, found by exact match, and encrypted where an earlier version
left it in clear."""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import BVN, create, enroll, list_all, update, view
from tests.running import Deployment

PERSON: dict[str, Any] = {
    "firstname": "Zainabsecret",
    "lastname": "Okonkwosecret",
    "email": "Zainab.Secret@Example.com",
    "phone": "0803 999 1234",
    "dob": "1988-02-29",
    "addresses": [{"line1": "77 Secretstreet", "country": "NG"}],
    "meta": {"passport": "SECRET1234"},
}
SECRETS = ("zainab", "okonkwo", "9991234", "999 1234", "1988-02-29", "secretstreet", "secret1234")


def test_no_column_of_a_clients_row_shows_who_it_is(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll(shop, **PERSON)["client_id"]
    [[text]] = deployment.fetch("select row_to_json(c)::text from client c where client_id = $1", client_id)
    assert not [secret for secret in SECRETS if secret in text.lower()]
    assert view(shop, client_id)["data"]["meta"] == PERSON["meta"]


@pytest.mark.parametrize(
    "asked",
    [
        {"phone": "+234 803 999 1234"},
        {"phone": "08039991234"},
        {"email": "zainab.secret@example.COM"},
        {"bvn": BVN},
        {"status": "inactive"},
        {"phone": "08039991234", "email": PERSON["email"], "status": "inactive"},
    ],
)
def test_a_client_is_found_by_exact_match(shop: MerchantClient, asked: dict[str, str]) -> None:
    found = create(shop, status="inactive", bvn=BVN, **PERSON)["data"]
    enroll(shop)
    listed = list_all(shop, **asked)
    assert ([row["client_id"] for row in listed["data"]], listed["total"]) == ([found["client_id"]], 1)


@pytest.mark.parametrize("asked", [{"phone": "08030000000"}, {"email": "a@b.co"}, {"bvn": "22299999999"}])
def test_a_filter_that_matches_nobody_lists_nobody(shop: MerchantClient, asked: dict[str, str]) -> None:
    enroll(shop, bvn=BVN, **PERSON)
    assert (list_all(shop, **asked)["data"], list_all(shop, **asked)["total"]) == ([], 0)


def test_a_rejected_client_may_apply_again(shop: MerchantClient) -> None:
    client_id = enroll(shop)["client_id"]
    for status in ("rejected", "pending_approval", "active"):
        assert update(shop, client_id, status=status)["data"]["status"] == status
