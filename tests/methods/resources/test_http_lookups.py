"""Whom a BVN belongs to, what a card's first digits tell; and every look-up in each of its forms.

Contract: #replies, resources#banks
"""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes


def person_of(shop: MerchantClient, bvn: str, **headers: str) -> tuple[int, Any]:
    return shop.put("resources", headers=headers, inquire="bvn", bvn=bvn)


# --- each look-up in each of its forms ------------------------------------------------------------------------

FORMS = ("success", "not found", "unavailable", "timed out", "malformed")

# What is asked, the field that tells how it is answered, and that field's value for each of the forms.
LOOKUPS: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
    (
        {"inquire": "accountname", "bankcode": "058"},
        "accountnumber",
        ("0000000000", "0000000700", "0000009100", "0000009700", "000000"),
    ),
    ({"inquire": "bvn"}, "bvn", ("22222222222", "22222222201", "22222222291", "22222222296", "2222222222")),
]

ANSWERS = dict(zip(FORMS, ("success", "error", 204, 204, 104), strict=True))
FAULTS = {"accountname": "bank", "bvn": "identity"}

CASES = [
    pytest.param(asked, {field: value}, ANSWERS[form], id=f"{asked['inquire']}-{form}")
    for asked, field, values in LOOKUPS
    for form, value in zip(FORMS, values, strict=True)
]


@pytest.mark.parametrize(("asked", "magic", "status"), CASES)
def test_a_look_up_has_each_of_its_forms(shop: MerchantClient, asked: Any, magic: Any, status: Any) -> None:
    http, body = shop.put("resources", **asked, **magic)
    assert (http, body["status"]) == (200, status)
    if status == "error":
        assert set(body) == {"status", "resolved", "error", "message"}
        assert body["resolved"] is False
    elif status == 104:
        assert [fault["field"] for fault in body["errors"]] == list(magic)
    elif status == 204:
        assert set(body) == {"status", "message", "code", "doc_url"}


@pytest.mark.parametrize(("asked", "field", "values"), LOOKUPS, ids=[asked["inquire"] for asked, _, _ in LOOKUPS])
def test_a_late_rail_and_an_unavailable_one_have_different_messages(
    shop: MerchantClient, asked: Any, field: str, values: Any
) -> None:
    away, late = (shop.put("resources", **asked, **{field: values[form]}).body["message"] for form in (2, 3))
    assert "does not answer now" in away
    assert "has not answered in time" in late
    for scenario, words in (("rr=91", away), ("rr=97", late), ("http=timeout", late), ("http=500", away)):
        reply = shop.put("resources", headers={"x-sandbox-scenario": scenario}, **asked, **{field: values[0]})
        assert without_codes(reply.body) == {"status": 204, "message": words}, scenario


@pytest.mark.parametrize("form", [0, 1], ids=FORMS[:2])
@pytest.mark.parametrize(("asked", "field", "values"), LOOKUPS, ids=[asked["inquire"] for asked, _, _ in LOOKUPS])
def test_a_rail_that_declines_says_nothing_of_what_was_asked(
    shop: MerchantClient, asked: Any, field: str, values: Any, form: int
) -> None:
    question = {**asked, field: values[form]}
    shop.put("sandbox", action="fault", rail=FAULTS[asked["inquire"]], kind="decline")
    reply = shop.put("resources", **question).body
    assert set(reply) == {"status", "message", "code", "doc_url"}
    assert (reply["status"], reply["message"].partition(" declined: ")[2]) == (204, "Do not honour")
    assert shop.put("resources", headers={"x-sandbox-scenario": "rr=05"}, **question).body == reply
    unread = shop.put("resources", headers={"x-sandbox-scenario": "rr=ZZ"}, **question).body
    assert (set(unread), unread["status"]) == (set(reply), 201)
    assert shop.put("resources", **question).body["status"] == ("success", "error")[form]


@pytest.mark.parametrize("kind", ["timeout", "reset", "unavailable"])
@pytest.mark.parametrize(("asked", "field", "values"), LOOKUPS, ids=[asked["inquire"] for asked, _, _ in LOOKUPS])
def test_a_planned_fault_strikes_one_look_up(
    shop: MerchantClient, asked: Any, field: str, values: Any, kind: str
) -> None:
    shop.put("sandbox", action="fault", rail=FAULTS[asked["inquire"]], kind=kind)
    answers = [shop.put("resources", **asked, **{field: values[0]}).body["status"] for _ in range(2)]
    assert answers == [204, "success"]


# --- the register of BVNs -------------------------------------------------------------------------------------


def test_a_bvn_belongs_to_a_person_who_is_always_the_same(shop: MerchantClient) -> None:
    http, body = person_of(shop, "22212345678")
    assert (http, set(body), body["status"]) == (200, {"status", "data"}, "success")
    assert set(body["data"]) == {"firstname", "lastname", "dob", "bvn", "phone"}
    assert body["data"]["bvn"] == "22212345678"
    assert person_of(shop, "22212345678") == (http, body)


def test_the_documented_sample_exists(shop: MerchantClient) -> None:
    assert person_of(shop, "12345678901")[1]["status"] == "success"


def test_a_watch_listed_person_is_found_and_marked(shop: MerchantClient) -> None:
    _, body = person_of(shop, "22222222260")
    assert body["status"] == "success"
    assert "watch-listed" in body["message"]


@pytest.mark.parametrize(
    "bvn", ["", "2222222222", "222222222222", "33333333333", "12345678900", "2222222222x", None, 22]
)
def test_a_malformed_bvn_is_status_104(shop: MerchantClient, bvn: Any) -> None:
    body = shop.put("resources", inquire="bvn", bvn=bvn).body
    assert (body["status"], body["errors"][0]["field"]) == (104, "bvn")


def test_a_scenario_strikes_one_enquiry(shop: MerchantClient) -> None:
    for value, status in (("rr=01", "error"), ("rr=91", 204), ("rr=96", 204), ("http=timeout", 204), ("http=500", 204)):
        assert person_of(shop, "22222222222", **{"x-sandbox-scenario": value})[1]["status"] == status
    assert person_of(shop, "22222222222")[1]["status"] == "success"


def test_only_a_call_of_the_rail_uses_up_a_planned_fault(shop: MerchantClient) -> None:
    for rail in ("bank", "identity"):
        shop.put("sandbox", action="fault", rail=rail, kind="unavailable")
    no_account: dict[str, Any] = {"inquire": "accountname", "bankcode": "011", "accountnumber": "0123456780"}
    assert shop.put("resources", **no_account).body["status"] == "error"
    assert shop.put("resources", **{**no_account, "accountnumber": "0123456784"}).body["status"] == 204
    assert person_of(shop, "33333333333")[1]["status"] == 104
    assert person_of(shop, "22222222222")[1]["status"] == 204


# --- what a payment would cost --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"type": "account", "currency": "USD"}, "currency"),
        ({"type": "bank_transfer", "currency": "USD"}, "currency"),
        ({"type": "ussd", "currency": "GHS"}, "currency"),
        ({"type": "phone", "country": "GH"}, "country"),
        ({"type": "mobile_money", "country": "GH"}, "currency"),
        ({"type": "account", "card_no": "512345"}, "card_no"),
    ],
)
def test_what_is_always_refused_has_no_price(shop: MerchantClient, fields: dict[str, Any], field: str) -> None:
    body = shop.put("resources", inquire="charges", amount="100.00", **fields).body
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, [field])


def test_mobile_money_in_cedis_is_ghanas(shop: MerchantClient) -> None:
    asked: dict[str, Any] = {"inquire": "charges", "type": "mobile_money", "amount": "100.00", "currency": "GHS"}
    assert shop.put("resources", **asked) == shop.put("resources", **asked, country="GH")
    assert shop.put("resources", **asked).body["status"] == 200


# --- cards ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bin", "facts"),
    [
        ("539983", ("mastercard", "debit", "GTBank", "NG")),
        ("424242", ("visa", "credit", "Sandbox Bank International (US)", "US")),
        ("400000", ("visa", None, None, None)),
        ("650026", ("verve", None, None, None)),
        ("999999", (None, None, None, None)),
    ],
)
def test_a_card_is_known_by_its_first_six_digits(shop: MerchantClient, bin: str, facts: tuple[str | None, ...]) -> None:
    data = {"bin": bin, **dict(zip(("brand", "type", "issuer", "country"), facts, strict=True))}
    assert shop.put("resources", inquire="card", card_no=bin) == (200, {"status": 200, "data": data})


@pytest.mark.parametrize("value", ["", "53998", "5" * 20, "53998x", "٥٣٩٩٨٣", None, 539983])
def test_what_is_no_beginning_of_a_card_number_is_refused(shop: MerchantClient, value: Any) -> None:
    body = shop.put("resources", inquire="card", card_no=value).body
    assert (body["status"], body["errors"][0]["field"]) == (104, "card_no")
