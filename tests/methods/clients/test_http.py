"""Clients over HTTP: create, verify, update and list, failures of the BVN register, and tenancy."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.clients.enrollment import ADA, BVN, OTHER_BVN, create, enroll, list_all, look_up_bvn, update, view
from tests.running import Deployment

# --- a client's life ----------------------------------------------------------------------------------------


def test_a_created_client_is_returned_and_can_be_viewed(shop: MerchantClient) -> None:
    fields: dict[str, Any] = {
        "addresses": [{"line1": "1 Marina", "city": "Lagos", "country": "NG", "plot": 7}],
        "bankAccount": {"account_number": "0040000008", "bank_code": "058"},
        "meta": {"id_card_no": "A1", "score": 1.50},
    }
    made = create(shop, status="inactive", bvn=BVN, **fields)
    record = made["data"]
    assert (made["status"], record["status"], record["bvn_verified"]) == (200, "inactive", False)
    assert {name: record[name] for name in (*ADA, *fields)} == {**ADA, **fields}
    assert record["bvn"] == "222******78"
    assert view(shop, record["client_id"]) == {"status": 200, "message": "Client found", "data": record}


def test_an_update_is_answered_with_the_whole_client(shop: MerchantClient) -> None:
    client_id = enroll(shop, meta={"a": 1})["client_id"]
    changed = update(shop, client_id, data={"meta": {"phone": "x", "extra": {"b": [2]}}}, status="active")
    assert (changed["status"], changed["data"]["status"]) == (200, "active")
    assert changed["data"]["meta"] == {"a": 1, "phone": "x", "extra": {"b": [2]}}
    assert view(shop, client_id)["data"] == changed["data"]


def test_a_step_out_of_place_is_refused_and_changes_nothing(shop: MerchantClient) -> None:
    client_id = enroll(shop)["client_id"]
    for status in ("exited", "pending_approval", "blacklisted"):
        refused = update(shop, client_id, status=status, data={"lastname": "Eze"})
        assert refused["status"] == 104
        assert [fault["field"] for fault in refused["errors"]] == ["status"]
    assert view(shop, client_id)["data"]["lastname"] == "Obi"


def test_the_list_is_newest_first_and_goes_by_pages(shop: MerchantClient) -> None:
    made = [enroll(shop, firstname=name)["client_id"] for name in ("A", "B", "C", "D")]
    whole = list_all(shop)
    assert [row["client_id"] for row in whole["data"]] == made[::-1]
    assert (whole["status"], whole["total"], whole["offset"], whole["limit"]) == (200, 4, 0, 50)
    page = list_all(shop, offset=1, limits=2)
    assert [row["firstname"] for row in page["data"]] == ["C", "B"]
    assert (page["total"], page["offset"], page["limit"]) == (4, 1, 2)
    assert list_all(shop, offset=9)["data"] == []
    assert list_all(shop, limit=201)["status"] == 104


def test_a_clock_that_stands_still_does_not_mix_the_list_up(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    made = [enroll(shop)["client_id"] for _ in range(3)]
    assert [row["client_id"] for row in list_all(shop)["data"]] == made[::-1]


def test_every_fault_of_a_body_is_named(shop: MerchantClient) -> None:
    body = shop.put("clients", action="create", data={"lastname": " ", "dob": "x", "gender": "x", "phone": "1"}).body
    assert {fault["field"] for fault in body["errors"]} == {
        "data.firstname",
        "data.lastname",
        "data.dob",
        "data.gender",
        "data.phone",
    }
    assert list_all(shop)["total"] == 0


def named(answer: Any) -> set[str]:
    assert answer["status"] == 104, answer
    return {fault["field"] for fault in answer.get("errors", ())}


def test_a_fault_of_form_hides_none_of_the_person(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    account = {"account_number": "1234567890", "bank_code": "058"}
    fields = {"lastname": "Obi", "dob": "2026-01-05", "bankAccount": account}
    assert named(shop.put("clients", action="create", verify_bvn=True, data=fields).body) == {
        "data.firstname",
        "data.phone",
        "data.dob",
        "data.bankAccount.account_number",
        "data.bvn",
    }
    client_id = enroll(shop)["client_id"]
    assert named(update(shop, client_id, status="exited", data={"dob": "2026-01-05"})) == {"status", "data.dob"}
    assert named(update(shop, client_id, data={"gender": "x", "dob": "2026-01-05"})) == {"data.gender", "data.dob"}
    assert named(update(shop, client_id, data={"gender": "x", "dob": "2026-01-04"})) == {"data.gender"}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"email": "ada@example.com\n"}, "data.email"),
        ({"meta": {"a\0": 1}}, "data.meta.a\\u0000"),
        ({"dob": "1990-01-01 junk"}, "data.dob"),
        ({"phone": "2125551234"}, "data.phone"),
    ],
)
def test_what_only_looks_right_is_refused(shop: MerchantClient, value: Any, field: str) -> None:
    assert [fault["field"] for fault in create(shop, **value)["errors"]] == [field]
    assert enroll(shop, phone="2125551234", addresses=[{"country": "US"}])["phone"] == "2125551234"


@pytest.mark.parametrize("value", [{}, {"data": None}, {"data": []}, {"data": "x"}, {"data": {}, "status": "exited"}])
def test_a_client_without_data_is_refused(shop: MerchantClient, value: Any) -> None:
    assert shop.put("clients", action="create", **value).body["status"] == 104


def test_another_merchants_client_is_an_unknown_one(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    client_id = enroll(shop)["client_id"]
    stranger = open_shop()
    unknown = {"status": 104, "message": "Invalid Client Reference"}
    seen = view(stranger, client_id)
    assert seen == view(stranger, "CLx")
    assert seen == update(stranger, client_id, status="active") == update(stranger, "CLx", status="active")
    assert without_codes(seen) == unknown
    assert list_all(stranger)["total"] == 0
    assert view(shop, client_id)["data"]["status"] == "pending_approval"


# --- the register -------------------------------------------------------------------------------------------


def test_whom_the_register_knows_is_verified_however_a_bank_writes_it(shop: MerchantClient) -> None:
    known = look_up_bvn(shop, BVN)
    fields = {"firstname": known["lastname"].title(), "lastname": known["firstname"].lower(), "dob": known["dob"]}
    assert enroll(shop, verify=True, bvn=BVN, **fields)["bvn_verified"] is True


def test_a_mismatch_names_the_differing_fields(shop: MerchantClient) -> None:
    known = look_up_bvn(shop, BVN)
    refused = create(shop, verify=True, bvn=BVN, firstname=known["firstname"], lastname="Zzz", dob="1901-01-01")
    assert refused["status"] == 104
    assert [fault["field"] for fault in refused["errors"]] == ["data.lastname", "data.dob"]
    assert list_all(shop)["total"] == 0


@pytest.mark.parametrize(
    ("bvn", "status", "fields"),
    [
        ("22222222222", 200, []),
        ("22222222201", 104, ["data.bvn"]),
        ("22222222208", 104, ["data.firstname", "data.lastname"]),
        ("22222222260", 104, ["data.bvn"]),
        ("22222222291", 204, []),
        ("22222222296", 204, []),
        ("22222222", 104, ["data.bvn"]),
        ("11111111111", 104, ["data.bvn"]),
    ],
)
def test_a_magic_bvn_tells_how_the_register_answers(
    shop: MerchantClient, bvn: str, status: int, fields: list[str]
) -> None:
    request = {"bvn": bvn, "middlename": "Grace", "dob": "1990-04-17"}
    made = create(shop, verify=True, **request)
    assert made["status"] == status, made
    assert [fault["field"] for fault in made.get("errors", ())] == fields
    assert list_all(shop)["total"] == (status == 200)
    if status == 200:
        assert made["data"]["bvn_verified"] is True


def test_an_update_that_cannot_be_verified_changes_nothing(shop: MerchantClient) -> None:
    before = enroll(shop)
    for bvn in ("22222222201", "22222222208", "22222222260", "22222222291", "22222222296"):
        assert update(shop, before["client_id"], verify_bvn=True, data={"bvn": bvn, "lastname": "Eze"})["status"] != 200
    assert view(shop, before["client_id"])["data"] == before
    verified = update(shop, before["client_id"], verify_bvn=True, data={"bvn": "22222222222", "lastname": "Eze"})
    assert (verified["data"]["bvn_verified"], verified["data"]["lastname"]) == (True, "Eze")


def test_the_header_and_a_planned_fault_overrule_the_number(shop: MerchantClient) -> None:
    timeout = {"x-sandbox-scenario": "http=timeout"}
    assert create(shop, verify=True, bvn="22222222222", headers=timeout)["status"] == 204
    assert create(shop, verify=True, bvn="22222222222", headers={"x-sandbox-scenario": "rr=01"})["status"] == 104
    shop.put("sandbox", action="fault", rail="identity", kind="unavailable", times=1)
    assert create(shop, bvn=BVN)["status"] == 200, "asks nobody, so the fault is still to come"
    assert create(shop, verify=True, bvn="22222222222")["status"] == 204
    assert create(shop, verify=True, bvn="22222222222")["status"] == 200


def test_a_repeat_is_given_its_reply_also_when_the_register_is_gone(shop: MerchantClient) -> None:
    key = {"idempotency-key": "one"}
    first = create(shop, verify=True, bvn="22222222222", headers=key)
    shop.put("sandbox", action="fault", rail="identity", kind="unavailable", times=1)
    assert create(shop, verify=True, bvn="22222222222", headers=key) == first
    assert list_all(shop)["total"] == 1
    assert create(shop, verify=True, bvn="22222222222")["status"] == 204, "the fault was not used up"


def test_the_register_is_asked_only_for_what_would_otherwise_be_done(shop: MerchantClient) -> None:
    client_id = enroll(shop, bvn=BVN)["client_id"]
    shop.put("sandbox", action="fault", rail="identity", kind="unavailable", times=1)
    unknown = {"status": 104, "message": "Invalid Client Reference"}
    assert without_codes(update(shop, "CLx", verify_bvn=True, data={"bvn": "22222222291"})) == unknown
    assert named(create(shop, verify=True, bvn=BVN)) == {"data.bvn"}
    assert named(create(shop, verify=True, bvn="22222222222", dob="2999-01-01")) == {"data.dob"}
    assert named(update(shop, client_id, verify_bvn=True, status="exited")) == {"status"}
    assert create(shop, verify=True, bvn="22222222222")["status"] == 204, "the fault was still to come"
    assert create(shop, verify=True, bvn="22222222222")["status"] == 200


def test_the_kept_bvn_is_verified_and_stays_so_for_another_spelling(shop: MerchantClient) -> None:
    known = look_up_bvn(shop, BVN)
    names = {name: known[name].title() for name in ("firstname", "lastname")}
    client_id = enroll(shop, bvn=BVN, **names)["client_id"]
    ways: list[dict[str, Any]] = [{"data": {}}, {}]
    for value in ways:
        assert update(shop, client_id, verify_bvn=True, **value)["data"]["bvn_verified"] is True
    spelled = update(shop, client_id, data={"lastname": names["lastname"].upper()})
    assert spelled["data"]["bvn_verified"] is True
    assert update(shop, client_id, data={"lastname": "Zzz"})["data"]["bvn_verified"] is False
    assert named(update(shop, client_id, verify_bvn=True)) == {"data.lastname"}
    assert named(update(shop, enroll(shop)["client_id"], verify_bvn=True)) == {"data.bvn"}


# --- one client's alone -------------------------------------------------------------------------------------


def test_the_same_bvn_twice_names_the_client_and_belongs_to_one_merchant(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    first = enroll(shop, bvn=BVN)["client_id"]
    refused = create(shop, bvn=BVN)
    assert without_codes(refused["errors"]) == [{"field": "data.bvn", "reason": f"this is the BVN of client {first}"}]
    assert create(open_shop(), bvn=BVN)["status"] == 200
    update(shop, first, data={"bvn": OTHER_BVN})
    assert create(shop, bvn=BVN)["status"] == 200


def test_of_concurrent_creates_with_one_bvn_exactly_one_succeeds(shop: MerchantClient, deployment: Deployment) -> None:
    def bring(number: int) -> Any:
        with deployment.connect() as wire:
            return create(MerchantClient(wire, shop.mid, shop.key), bvn=BVN, firstname=f"Ada{number}")["status"]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(bring, range(16)))
    assert sorted(answers) == [104] * 15 + [200]
    assert sorted(answers).count(200) == list_all(shop)["total"] == 1


def test_a_bvn_is_nowhere_in_the_database_or_the_log(shop: MerchantClient, deployment: Deployment) -> None:
    bvn = "22298765438"
    client_id = enroll(shop, bvn=bvn)["client_id"]
    update(shop, client_id, data={"bvn": bvn}, status="active")
    create(shop, bvn=bvn)
    for table in ("client", "client_bvn", "idempotency_record", "scheduled_job", "event"):
        [[kept]] = deployment.fetch(f"select coalesce(string_agg(t::text, ''), '') from {table} t")
        assert bvn not in kept
        assert bvn.encode().hex() not in kept
    assert bvn.encode() not in deployment.out.read_bytes() + deployment.err.read_bytes()


# --- registers that compare, or need consent ------------------------------------------------------------------------


def test_a_register_that_only_compares_verifies_and_tells_nothing(shop: MerchantClient) -> None:
    made = enroll(shop, verify=True, bvn="22222222230", dob="1990-04-17")
    assert (made["bvn_verified"], made["bvn_verification"]["method"]) == (True, "match")
    refused = create(shop, verify=True, bvn="22222222235")
    assert [error["field"] for error in refused["errors"]] == ["data.firstname", "data.lastname"]
    assert "66 of 100" in refused["message"]
    looked_up = shop.put("resources", inquire="bvn", bvn="22222222230").body
    assert (looked_up["status"], "verify_bvn" in looked_up["message"]) == (204, True)


def test_a_person_consents_on_a_page_before_the_look_up(shop: MerchantClient) -> None:
    begun = create(shop, verify=True, bvn="22222222240", status="active")
    made = begun["data"]
    assert (begun["status"], made["status"], made["bvn_verified"]) == (202, "pending_approval", False)
    assert made["bvn_verification"]["consent_url"].startswith("https://")
    assert view(shop, made["client_id"])["data"]["bvn_verification"] == made["bvn_verification"]
    verified = update(shop, made["client_id"], verify_bvn=True, status="active")
    assert (verified["status"], verified["data"]["status"], verified["data"]["bvn_verified"]) == (200, "active", True)


def test_a_person_who_waits_or_refuses_is_not_verified(shop: MerchantClient) -> None:
    waits = create(shop, verify=True, bvn="22222222241")["data"]
    again = update(shop, waits["client_id"], verify_bvn=True)
    assert (again["status"], again["data"]["bvn_verification"]["state"]) == (202, "awaiting_consent")
    refuses = create(shop, verify=True, bvn="22222222242")["data"]
    refused = update(shop, refuses["client_id"], verify_bvn=True)
    assert [error["field"] for error in refused["errors"]] == ["data.bvn"]
    assert "bvn_verification" not in view(shop, refuses["client_id"])["data"]
