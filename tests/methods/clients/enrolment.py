"""Clients as tests over HTTP enrol them."""

from typing import Any

from tests.shop import Shop

ADA: dict[str, Any] = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
BVN, OTHER_BVN = "22212345678", "22287654321"


def create(shop: Shop, *, verify: bool = False, status: str | None = None, headers: Any = None, **data: Any) -> Any:
    said = {"data": {**ADA, **data}, "verify_bvn": verify, "status": status}
    return shop.put("clients", headers=headers, action="create", **said).body


def enrol(shop: Shop, **said: Any) -> Any:
    made = create(shop, **said)
    assert made["status"] == 200, made
    return made["data"]


def update(shop: Shop, client_id: str, **said: Any) -> Any:
    return shop.put("clients", action="update", client_id=client_id, **said).body


def view(shop: Shop, client_id: str) -> Any:
    return shop.put("clients", action="view", client_id=client_id).body


def list_all(shop: Shop, **said: Any) -> Any:
    return shop.put("clients", action="list", **said).body


def register(shop: Shop, bvn: str) -> Any:
    return shop.put("resources", inquire="bvn", bvn=bvn).body["data"]
