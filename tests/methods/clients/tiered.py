"""Clients of each tier, for the tests of the limits by tier."""

from typing import Any

from tests.merchant_client import MerchantClient

ADDRESS = {"line1": "12 Marina Road", "city": "Lagos"}
PASSPORT = {"type": "passport", "number": "A01234567"}
# What a client of each tier has beyond that of the one below.
TIERS: dict[int, dict[str, Any]] = {
    0: {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"},
    1: {"phone": "08031234567", "dob": "1990-04-17", "photo": "ab" * 32, "bvn": "22222222222"},
    2: {},  # with a verified BVN
    3: {"addresses": [ADDRESS], "identification": PASSPORT},
}


def facts_of(tier: int) -> dict[str, Any]:
    return {name: fact for below in range(tier + 1) for name, fact in TIERS[below].items()}


def enroll_in(shop: MerchantClient, tier: int, **facts: Any) -> str:
    data = {**facts_of(tier), "bankAccount": {"bank_code": "058", "account_number": "0000000000"}, **facts}
    body = shop.put("clients", action="create", data=data, verify_bvn=tier > 1, status="active").body
    assert body["status"] == 200, body
    return str(body["data"]["client_id"])


def raise_to(shop: MerchantClient, client_id: str, tier: int) -> None:
    changed = shop.put("clients", action="update", client_id=client_id, data=facts_of(tier), verify_bvn=tier > 1).body
    assert changed["status"] == 200, changed


def turn_on(shop: MerchantClient, **fields: Any) -> None:
    assert shop.put("sandbox", action="client_tiers", is_on=True, **fields).body["status"] == 200


def view_tier(shop: MerchantClient, client_id: str) -> Any:
    return shop.put("clients", action="view", client_id=client_id).body.get("tier")
