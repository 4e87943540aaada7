"""Clients as tests over HTTP enroll them."""

from typing import Any

from tests.merchant_client import MerchantClient

ADA: dict[str, Any] = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
BVN, OTHER_BVN = "22212345678", "22287654321"


def create(
    shop: MerchantClient, *, verify: bool = False, status: str | None = None, headers: Any = None, **data: Any
) -> Any:
    fields = {"data": {**ADA, **data}, "verify_bvn": verify, "status": status}
    return shop.put("clients", headers=headers, action="create", **fields).body


def enroll(shop: MerchantClient, **fields: Any) -> Any:
    made = create(shop, **fields)
    assert made["status"] == 200, made
    return made["data"]


def update(shop: MerchantClient, client_id: str, **fields: Any) -> Any:
    return shop.put("clients", action="update", client_id=client_id, **fields).body


def view(shop: MerchantClient, client_id: str) -> Any:
    return shop.put("clients", action="view", client_id=client_id).body


def list_all(shop: MerchantClient, **fields: Any) -> Any:
    return shop.put("clients", action="list", **fields).body


def look_up_bvn(shop: MerchantClient, bvn: str) -> Any:
    return shop.put("resources", inquire="bvn", bvn=bvn).body["data"]
