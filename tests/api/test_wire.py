"""The wire, byte by byte: who asks, what is asked, whether it is JSON and right, in this order. (Contract: #paths)"""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient, RawReply, without_codes
from tests.running import Deployment

WALLET = b'{"inquire":"wallet"}'
VERIFY = b'{"action":"verify","txnRef":"x"}'
UNKNOWN = {"status": 104, "message": "Invalid Transaction Reference"}


def refused(reply: RawReply) -> tuple[int, int]:
    """HTTP status and code of a refusal, whose shape is the same everywhere."""
    body = reply.body
    assert set(body) <= {"status", "message", "code", "doc_url", "errors"}, body
    assert isinstance(body["message"], str)
    assert body["message"]
    return reply.http, body["status"]


# --- who asks: 101 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"mid": "GP0000001"},
        {"key": "123456789"},
        {"mid": "GP0000001", "key": "wrong"},
        {"mid": "GP0000001", "key": ""},
        {"mid": "", "key": ""},
        {"mid": "GP9999999", "key": "123456789"},
        {"mid": "gp0000001", "key": "123456789"},
        {"mid": "GP0000001", "key": "123456789 1"},
        {"mid": "1", "key": "123456789"},
        {"mid": "' or 1=1 --", "key": "x"},
        {"mid": "é", "key": "é"},
        {"mid": "x" * 4000, "key": "x" * 4000},
        {"authorization": "Bearer 123456789"},
    ],
)
@pytest.mark.parametrize("body", [WALLET, b"not json"], ids=["request", "garbage"])
def test_without_the_right_headers_nobody_is_let_in(
    deployment: Deployment, headers: dict[str, str], body: bytes
) -> None:
    with deployment.connect() as wire:
        assert refused(wire.send("PUT", "/resources", body, headers)) == (401, 101)


def test_another_merchants_key_does_not_open(shop: MerchantClient) -> None:
    made = shop.put("sandbox", action="new_merchant").body
    assert refused(shop.send("resources", WALLET, headers={"key": made["key"]})) == (401, 101)
    assert refused(shop.send("resources", WALLET, headers={"mid": made["mid"]})) == (401, 101)


def test_header_names_may_have_any_case_and_values_are_trimmed(shop: MerchantClient) -> None:
    for names in (("mid", "key"), ("MID", "KEY"), ("Mid", "kEY")):
        headers = {names[0]: f"  {shop.mid}\t ", names[1]: f" {shop.key}  "}
        assert shop.connection.send("PUT", "/resources", WALLET, headers).body["status"] == 200


# --- what is asked: 102 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["nothing", "", "disburse/x", "Disburse", "resources/wallet", "sandbox.php", "%2e%2e"])
def test_an_unknown_path_is_404(shop: MerchantClient, path: str) -> None:
    assert refused(shop.send(path, VERIFY)) == (404, 102)


@pytest.mark.parametrize("path", ["disburse/", "/disburse", "//disburse//", "disburse//?x=/"])
def test_doubled_and_trailing_slashes_in_the_path_are_ignored(shop: MerchantClient, path: str) -> None:
    assert without_codes(shop.send(path, VERIFY).body) == UNKNOWN
    assert shop.connection.send("GET", "//healthz/").body["message"] == "up"


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PATCH", "OPTIONS"])
def test_a_wrong_verb_on_a_known_path_is_102(shop: MerchantClient, verb: str) -> None:
    assert refused(shop.send("disburse", VERIFY, verb=verb)) == (200, 102)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"action":"fly"}',
        b'{"action":"Transfer"}',
        b'{"action":""}',
        b'{"action":null}',
        b'{"action":7}',
        b'{"action":["verify"]}',
        b'{"action":{"verify":1}}',
        b'{"inquire":"verify","txnRef":"x"}',
        b'{"Action":"verify","txnRef":"x"}',
    ],
)
def test_an_unknown_or_missing_action_is_102(shop: MerchantClient, body: bytes) -> None:
    assert refused(shop.send("disburse", body)) == (200, 102)


def test_the_error_of_an_unknown_action_lists_the_known_ones(shop: MerchantClient) -> None:
    message = shop.send("disburse", b'{"action":"fly"}').body["message"]
    known = "Invalid method call: /disburse takes action, one of transfer, approve, reject, verify"
    assert message == f"{known}; there is no action fly"
    message = shop.send("resources", b'{"request":"holiday"}').body["message"]
    assert "inquire, one of banks, accountname, bvn, card" in message
    assert (
        "; or request, one of personalized-accounts, personalized_account, close_personalized_account, resend"
        in message
    )


def test_what_is_only_read_says_so(shop: MerchantClient) -> None:
    reply = shop.connection.send("PUT", "/healthz", b"{}")
    assert (reply.http, without_codes(reply.body)) == (405, {"status": 102, "message": "Invalid method call: use GET"})


def test_the_root_names_the_documentation(shop: MerchantClient) -> None:
    reply = shop.connection.send("GET", "/")
    assert (reply.http, reply.body["status"]) == (200, 200)
    assert "/docs/" in reply.body["message"]
    assert shop.connection.send("GET", "/docs/index.html").http == 200


def test_post_is_taken_as_put(shop: MerchantClient) -> None:
    assert without_codes(shop.send("disburse", VERIFY, verb="POST").body) == UNKNOWN


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "application/x-www-form-urlencoded", "text/plain", "image/png", ""]
)
def test_a_body_is_json_whatever_its_type_says(shop: MerchantClient, kind: str) -> None:
    assert without_codes(shop.send("disburse", VERIFY, headers={"content-type": kind}).body) == UNKNOWN


def test_a_body_is_json_without_any_type(shop: MerchantClient) -> None:
    headers = {"mid": shop.mid, "key": shop.key}
    assert without_codes(shop.connection.send("PUT", "/disburse", VERIFY, headers).body) == UNKNOWN


def test_a_query_is_ignored(shop: MerchantClient) -> None:
    assert without_codes(shop.send("disburse?action=transfer", VERIFY).body) == UNKNOWN


# --- is it JSON: 103 ----------------------------------------------------------------------------------------


def nested(levels: int) -> bytes:
    """An ignored field that makes the whole body this deep."""
    inside = levels - 1
    return b'{"action":"verify","txnRef":"x","z":' + b"[" * inside + b"]" * inside + b"}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"not json",
        b"[]",
        b'[{"action":"verify","txnRef":"x"},{}]',
        b'[[{"action":"verify","txnRef":"x"}]]',
        b'["verify"]',
        b'[{"action":"verify","txnRef":"x"}',
        b'"verify"',
        b"null",
        b"17",
        b"{",
        b'{"action":"verify","txnRef":"x"',
        b'{"action":"verify","txnRef":"x"}}',
        b'{"action":"verify","txnRef":"x"} {}',
        b'{"action":"verify","txnRef":"x",}',
        b"{'action':'verify'}",
        b"action=verify&txnRef=x",
        b'{"action":"verify","txnRef":NaN}',
        b'{"action":"verify","txnRef":"x","z":"\xff"}',
        b'{"action":"verify","txnRef":"x","z":"\xc0\xaf"}',
        b'{"action":"verify","txnRef":"x","z":"\xed\xa0\x80"}',
        b'{"action":"verify","txnRef":"x","z":"\\ud800"}',
        b'{"action":"verify","txnRef":"\\ud800"}',
        b'{"action":"verify","txnRef":"x","z":"\\q"}',
        b'{"action":"verify","txnRef":"x\x00"}',
        b'{"action":"verify","txnRef":"x","z":01}',
        b'\xef\xbb\xbf{"action":"verify","txnRef":"x"}',
        '{"action":"verify","txnRef":"x"}'.encode("utf-16"),
        nested(33),
        nested(5000),
        b"[" * 200_000,
        b'{"a":' * 40_000,
    ],
    ids=lambda body: repr(body[:40]),
)
def test_what_is_not_one_json_object_is_103(shop: MerchantClient, body: bytes) -> None:
    assert refused(shop.send("disburse", body)) == (200, 103)


@pytest.mark.parametrize(
    "body",
    [
        nested(32),
        b' \r\n\t{"action" : "verify" , "txnRef":"x"} \n',
        b'{"txnRef":"x","action":"verify"}',
        b'[{"action":"verify","txnRef":"x"}]',
        b' [ {"txnRef":"x","action":"verify"} ] ',
        b'{"action":"verify","txnRef":"x","z":1e400,"y":-0,"w":123456789012345678901234567890}',
        b'{"action":"verify","txnRef":"x","":"","mid":"GP0000001","key":null}',
        b'{"action":"verify","txnRef":"\\ud83d\\ude00"}',
        '{"action":"verify","txnRef":"₦ 5"}'.encode(),
        b'{"\\u0061ction":"verify","txnRef":"x"}',
    ],
    ids=lambda body: repr(body[:40]),
)
def test_all_other_json_is_read_and_extra_fields_are_ignored(shop: MerchantClient, body: bytes) -> None:
    assert without_codes(shop.send("disburse", body).body) == UNKNOWN


# --- is it right: 104 ---------------------------------------------------------------------------------------


def test_every_fault_of_a_body_is_named_with_its_reason(shop: MerchantClient) -> None:
    reply = shop.send_fields("disburse", {"action": "transfer", "amount": "1e5", "bankcode": 58, "orderRef": 7})
    assert refused(reply) == (200, 104)
    assert {fault["field"] for fault in reply.body["errors"]} == {"amount", "bankcode", "accountnumber", "orderRef"}
    assert all({"field", "code", "reason"} <= set(fault) and fault["reason"] for fault in reply.body["errors"])


def test_the_message_names_the_first_faults(shop: MerchantClient) -> None:
    reply = shop.send_fields(
        "disburse", {"action": "transfer", "amuont": "5", "bankcode": 58, "sender_name": [], "orderRef": 7}
    )
    assert reply.body["message"] == (
        "amount: required (did you mean it by amuont?); "
        "bankcode: text, not a number: a bank code of 3, 5 or 6 digits; accountnumber: required; and 2 more"
    )
    reply = shop.send_fields("payment", {"action": "validate", "txnRef": "x", "otp": 123456})
    assert reply.body["message"] == "otp: text, not a number: 4 to 8 digits"


def test_an_empty_optional_field_is_an_absent_one(shop: MerchantClient) -> None:
    empty: dict[str, Any] = {"sender_name": "", "narration": "", "orderRef": "", "type": ""}
    assert shop.transfer(**empty)["txnStatus"] == "successful"
    card = {"card_no": "5123450000000008", "expiry_month": "01", "expiry_year": "39", "ccv": "100", "pin": ""}
    fields: dict[str, Any] = {"user": [], "currency": "", "customer_txnref": "", "redirect_url": "", "card": card}
    reply = shop.put("payment", action="initiate", paymentType="card", amount="100", **fields)
    assert reply.body["status"] == 202, reply


@pytest.mark.parametrize("value", ["1", 1.0, "1.0", 1])
def test_a_whole_number_is_one_however_it_is_written(shop: MerchantClient, value: object) -> None:
    reply = shop.put("resources", inquire="events", limit=value, offset=value).body
    assert (reply["status"], reply["limit"], reply["offset"]) == (200, 1, 1)
    assert shop.put("bills", action="pull", bills_id=value).body["data"]["bills"][0]["id"] == 1


def test_a_null_optional_field_is_an_absent_one_and_a_null_required_one_is_missing(shop: MerchantClient) -> None:
    assert without_codes(shop.put("disburse", action="verify", txnRef=None).body["errors"]) == [
        {"field": "txnRef", "reason": "required, or orderRef, or batchRef"}
    ]
    sent = shop.put(
        "disburse",
        action="transfer",
        amount="5",
        bankcode="058",
        accountnumber="0000000000",
        sender_name=None,
        narration=None,
        orderRef=None,
        type=None,
    )
    assert sent.body["txnStatus"] == "successful"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"action":"verify","txnRef":"a\\u0000b"}', "txnRef"),
        (b'{"action":"verify","txnRef":"x","z":{"deep":["a","\\u0000"]}}', "z.deep.1"),
    ],
)
def test_a_nul_character_is_refused_wherever_it_stands(shop: MerchantClient, body: bytes, field: str) -> None:
    reply = shop.send("disburse", body)
    assert refused(reply) == (200, 104)
    assert [fault["field"] for fault in reply.body["errors"]] == [field]


def test_checks_come_in_their_order(shop: MerchantClient) -> None:
    stranger = {"key": "wrong"}
    garbage, no_action, no_fields = b"garbage", b'{"amount":"-1"}', b'{"action":"transfer","amount":"-1"}'
    for body in (garbage, no_action, no_fields):
        assert refused(shop.send("disburse", body, headers=stranger)) == (401, 101)
    assert refused(shop.send("disburse", garbage)) == (200, 103)
    assert refused(shop.send("disburse", no_action)) == (200, 102)
    assert refused(shop.send("disburse", no_fields)) == (200, 104)
