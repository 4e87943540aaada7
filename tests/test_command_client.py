"""What an operator does for a person: show all that is kept of them, find them, erase them. (`kasuwa client`)"""

import msgspec

from tests.methods.clients.enrolment import BVN, create, enrol, list_all, update, view
from tests.running import Deployment
from tests.shop import Shop


def test_all_that_is_kept_of_a_client_can_be_exported(shop: Shop, deployment: Deployment) -> None:
    record = enrol(shop, bvn=BVN, meta={"a": [1.50]})
    told = msgspec.json.decode(deployment.command("client", "export", shop.mid, record["client_id"]))
    assert told == {"mid": shop.mid, "client": record, "records": {}}
    shown = msgspec.json.decode(deployment.command("client", "export", shop.mid, record["client_id"], "--reveal"))
    assert shown["client"] == {**record, "bvn": BVN}
    assert deployment.command("client", "find", shop.mid, "--bvn", BVN).split() == [record["client_id"]]


def test_a_client_can_be_erased(shop: Shop, deployment: Deployment) -> None:
    record = enrol(shop, bvn=BVN, meta={"a": 1}, status="active")
    client_id = record["client_id"]
    deployment.command("client", "erase", shop.mid, client_id, "--yes")
    left = view(shop, client_id)["data"]
    assert set(left) == {"client_id", "status", "bvn_verified", "dateCreated", "dateErased"}
    assert (left["status"], left["dateCreated"]) == ("exited", record["dateCreated"])
    assert list_all(shop)["data"] == [left]
    assert update(shop, client_id, data={"firstname": "Ada"})["status"] == 104
    assert create(shop, bvn=BVN)["status"] == 200
    assert msgspec.json.decode(deployment.command("client", "export", shop.mid, client_id))["client"] == left


def test_what_cannot_be_done_for_a_person_is_said_in_a_line(shop: Shop, deployment: Deployment) -> None:
    assert "Invalid Client Reference" in deployment.refused_command("client", "erase", shop.mid, "CLx", "--yes")
    assert "no merchant" in deployment.refused_command("client", "export", "GP9999999", "CLx")
    assert "eleven digits" in deployment.refused_command("client", "find", shop.mid, "--bvn", "x")
