"""Errors over HTTP say what is wrong for programs and for people: codes, links, hints, and the value that was sent."""

from typing import Any

import msgspec
import pytest

from kasuwa.api import body_errors, dispatch, routes, sent_values, server
from kasuwa.api.body_errors import BEYOND_LIMITS, EMPTY, FORM, MALFORMED, NO_OBJECT, NOT_ONE_OBJECT, XML, refuse_body
from kasuwa.api.dispatch import MISSING_HEADERS, NOT_AUTHENTICATED, refuse_headers
from kasuwa.api.replies import STILL_OPEN, action_reply, refusal_reply, with_address
from kasuwa.api.routes import NO_ACTION, UNKNOWN_ACTION
from kasuwa.api.sent_values import MAX_SHOWN, add_sent_values
from kasuwa.api.server import (
    LARGE_BODY,
    MANY_CALLBACKS,
    MANY_LARGE_BODIES,
    NOT_READY,
    PATH_UNKNOWN,
    PUT_INSTEAD,
    SIMILAR_PATH,
    body_error_reply,
)
from kasuwa.core.decision import FieldError, refuse_fields
from kasuwa.http.bodies import BodyMemoryTimeout, BodyTimeout, BodyTooLarge
from kasuwa.http.exchange import IncompleteBody
from kasuwa.methods.virtualcard.model import CARD_TERMINATED
from kasuwa.wire.masking import HIDDEN, make_echo
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.test_secrets import CARD, LOOSE

TRANSFER: dict[str, Any] = {"action": "transfer", "amount": "5.00", "bankcode": "058", "accountnumber": "0000000000"}


def ask(shop: MerchantClient, path: str, body: bytes, **headers: str) -> Any:
    return shop.send(path, body, headers=headers).body


# --- codes and links ------------------------------------------------------------------------------------------------


def test_an_error_has_its_code_and_the_address_of_its_page(deployment: Deployment, shop: MerchantClient) -> None:
    body = shop.put("disburse", **{**TRANSFER, "amount": "9999999.00"}).body
    assert (body["status"], body["code"]) == (301, "insufficient_funds")
    address, path = body["doc_url"].split("/docs/")
    assert address == f"http://127.0.0.1:{deployment.port}"
    page, anchor = path.split("#")
    assert f'id="{anchor}"'.encode() in shop.connection.send("GET", f"/docs/{page}").raw


def test_a_success_has_neither(shop: MerchantClient) -> None:
    body = shop.transfer()
    assert body["txnStatus"] == "successful"
    assert not {"code", "doc_url", "errors"} & set(body)


def test_an_address_is_put_before_the_link_alone() -> None:
    refusal = refuse_fields(FieldError("note", '"doc_url":"/ is a text'))
    body = with_address(refusal_reply(refusal, strict=False).body, "https://pay.example.com")
    assert body.count(b"https://pay.example.com") == 1
    assert b'"doc_url":"https://pay.example.com/docs/reference/errors.html#field_invalid"' in body
    assert with_address(body, "") == body


def test_without_an_address_the_link_is_a_path() -> None:
    body = with_address(refusal_reply(CARD_TERMINATED, strict=False).body, "")
    assert body.endswith(b'"code":"card_terminated","doc_url":"/docs/reference/errors.html#card_terminated"}')


class Pending(msgspec.Struct):
    status: int
    txnRef: str


def test_a_transaction_that_stays_open_has_the_code_and_its_own_fields() -> None:
    reply = msgspec.json.decode(action_reply(Pending(201, "GP1"), strict=False).body)
    path = f"/docs/reference/errors.html#{STILL_OPEN.error_code}"
    assert reply == {"status": 201, "txnRef": "GP1", "code": "rail_answer_unreadable", "doc_url": path}
    assert action_reply(Pending(200, "GP1"), strict=False).body == b'{"status":200,"txnRef":"GP1"}'


# --- fields ---------------------------------------------------------------------------------------------------------


def faults(shop: MerchantClient, path: str, **fields: Any) -> dict[str, tuple[str, str | None]]:
    body = shop.put(path, **fields).body
    assert body["code"] == "field_invalid", body
    return {fault["field"]: (fault["code"], fault.get("value")) for fault in body["errors"]}


def test_each_fault_has_its_code_and_the_value_that_was_sent(shop: MerchantClient) -> None:
    sent: dict[str, Any] = {"action": "transfer", "amount": "1,500.00", "bankcode": 58, "narration": ["x"]}
    assert faults(shop, "disburse", **sent) == {
        "amount": ("amount_has_separators", "1,500.00"),
        "bankcode": ("field_wrong_type", "58"),
        "narration": ("field_wrong_type", None),
        "accountnumber": ("field_required", None),
    }


def test_a_value_near_one_of_a_list_is_answered_with_that_one(shop: MerchantClient) -> None:
    body = shop.put("sandbox", action="fault", rail="bannk", kind="timeout").body
    [fault] = body["errors"]
    assert fault["reason"].endswith("(did you mean bank?)")
    assert (fault["code"], fault["value"]) == ("field_not_a_choice", "bannk")


def test_no_secret_is_echoed(shop: MerchantClient) -> None:
    for name, value in LOOSE.items():
        wrong = f"{value}x"
        card = {"card_no": wrong, "ccv": wrong, "pin": wrong, "expiry_month": "13", "expiry_year": "x"}
        for path, fields in (
            ("payment", {"action": "initiate", "paymentType": "card", "amount": value, "card": {**card, name: wrong}}),
            ("payment", {"action": "validate", "txnRef": "x", "otp": wrong}),
            ("disburse", {**TRANSFER, "accountnumber": CARD, "bankcode": LOOSE["bvn"], "orderRef": [value]}),
            ("resources", {"inquire": "bvn", "bvn": wrong}),
        ):
            text = shop.send_fields(path, fields).raw.decode()
            assert '"status":104' in text, text
            assert wrong not in text
            assert CARD not in text
            assert LOOSE["bvn"] not in text


def shown(value: Any, field: str = "note") -> Any:
    refusal = refuse_fields(FieldError(field, "wrong"))
    [error] = add_sent_values(refusal, msgspec.json.encode({field.split(".")[0]: value})).field_errors
    return error.value if error.value is not msgspec.UNSET else None


def test_a_value_is_cut_after_100_characters_and_none_is_of_a_body_over_64_kib() -> None:
    assert [len(shown("x" * count)) for count in (99, 100, 101)] == [99, 100, 100]
    refusal = refuse_fields(FieldError("note", "wrong"))
    head = b'{"note":"ada","meta":"'
    for size, value in ((65_535, "ada"), (65_536, "ada"), (65_537, msgspec.UNSET)):
        body = head + b"x" * (size - len(head) - 2) + b'"}'
        assert len(body) == size
        [error] = add_sent_values(refusal, body).field_errors
        assert error.value == value


def test_a_value_is_short_and_printable_and_no_number_of_a_person() -> None:
    assert sent_values.MAX_BODY_BYTES == 64 * 1024
    assert shown("ada") == "ada"
    assert shown(True) == "true"
    assert shown(5) == "5"
    assert shown(["x"]) is None
    assert shown(None) is None
    assert len(shown("x" * 5_000)) == MAX_SHOWN
    assert shown("a\nb\u202ec\x1b[0m") == "a?b?c?[0m"
    assert shown("08012345678") == HIDDEN
    assert shown("0801 234-5678") == HIDDEN
    assert CARD not in shown(f"my card {CARD}")
    assert shown("1234", "card.pin") is None
    assert shown({"pin": "1234"}, "card.pin") == HIDDEN
    assert shown("739", "ccv") == HIDDEN
    assert shown([{"amount": "x"}], "split.0.amount") == "x"
    assert shown([{"amount": "x"}], "split.7.amount") is None
    assert shown("x" * 70_000) is None


# --- bodies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (b"", EMPTY),
        (b" \n", EMPTY),
        (b"action=transfer&amount=5", FORM),
        (b'--x1\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x1--', FORM),
        (b"<?xml version='1.0'?><a/>", XML),
        (b"[1, 2]", NO_OBJECT.fill(kind="an array")),
        (b'"text"', NO_OBJECT.fill(kind="a text")),
        (b"12", NO_OBJECT.fill(kind="a number")),
        (b"null", NO_OBJECT.fill(kind="null")),
        (b"true", NO_OBJECT.fill(kind="true or false")),
        (b'{"a": NaN}', NOT_ONE_OBJECT),
        (b'{"a" 1}', MALFORMED.fill(line=1, column=6, problem="Expecting ':' delimiter")),
        (
            b'{\n "action": "verify",\n}',
            MALFORMED.fill(line=2, column=20, problem="Illegal trailing comma before }"),
        ),
        (b'{"a": [1, 2 , ]}', MALFORMED.fill(line=1, column=13, problem="Illegal trailing comma before ]")),
        (
            b'{"a": 1, b}',
            MALFORMED.fill(line=1, column=10, problem="Expecting property name enclosed in double quotes"),
        ),
        (b'{"a": [1,,2]}', MALFORMED.fill(line=1, column=10, problem="Expecting value")),
        (b'{"a": 1', MALFORMED.fill(line=1, column=8, problem="Expecting ',' delimiter")),
        (b'{"a":' + b"9" * 70_000, NOT_ONE_OBJECT),
        (b"[" * 60_000, NOT_ONE_OBJECT),
    ],
)
def test_a_body_that_is_no_json_object_is_named(body: bytes, refusal: Any) -> None:
    assert body_errors.refuse_body is refuse_body
    assert refuse_body(body) == refusal


def test_bad_bodies_are_named_over_http(shop: MerchantClient) -> None:
    assert ask(shop, "disburse", b'{"a" 1}')["message"].endswith("line 1, column 6: Expecting ':' delimiter")
    assert ask(shop, "disburse", b"a=1&b=2")["code"] == FORM.error_code
    assert ask(shop, "disburse", b"\xff")["code"] == BEYOND_LIMITS.error_code


def test_bodies_that_cannot_be_read_have_codes() -> None:
    for error, code in (
        (BodyTooLarge(), LARGE_BODY.error_code),
        (BodyTimeout(), server.SLOW_BODY.error_code),
        (BodyMemoryTimeout(), MANY_LARGE_BODIES.error_code),
        (IncompleteBody(), server.BROKEN_BODY.error_code),
    ):
        assert f'"code":"{code}"'.encode() in body_error_reply(error, 1024).body
    assert b'"code":"too_many_callbacks"' in server.TOO_MANY_CALLBACKS.body
    assert MANY_CALLBACKS.message in server.TOO_MANY_CALLBACKS.body.decode()
    assert NOT_READY.fill(trouble="{x}").message == "{x}"


# --- actions, paths, methods and headers ----------------------------------------------------------------------------


def test_a_misspelled_action_is_answered_with_the_one_that_was_meant(shop: MerchantClient) -> None:
    body = shop.put("disburse", action="transfr").body
    assert (body["status"], body["code"]) == (102, UNKNOWN_ACTION.error_code)
    assert body["message"].endswith("; there is no action transfr (did you mean transfer?)")
    elsewhere = shop.put("disburse", action="initiate").body["message"]
    assert elsewhere.endswith("there is no action initiate (it is an action of /payment)")
    assert shop.put("disburse", amount="5").body["code"] == NO_ACTION.error_code


def test_an_echoed_action_is_short_and_on_one_line() -> None:
    assert make_echo("a\nb" + "x" * 500, routes.MAX_ECHOED) == "a?b" + "x" * (routes.MAX_ECHOED - 4) + "…"
    assert make_echo(f"pay {CARD}", routes.MAX_ECHOED) == "pay ***"
    assert make_echo(f"key {'0a' * 32}", routes.MAX_ECHOED) == "key ***"
    assert make_echo("order-2026-may", routes.MAX_ECHOED) == "order-2026-may"


def test_a_misspelled_path_is_answered_with_the_one_that_was_meant(shop: MerchantClient) -> None:
    reply = shop.send("disbruse", b"{}")
    assert (reply.http, reply.body["code"]) == (404, "path_unknown")
    assert reply.body["message"] == SIMILAR_PATH.fill(path="/disburse").message
    far = shop.send("nothing-like-it", b"{}").body
    assert far["message"] == PATH_UNKNOWN.message


def test_get_where_put_is_meant_is_answered_with_put(shop: MerchantClient) -> None:
    body = shop.connection.send("GET", "/disburse").body
    assert (body["status"], body["code"]) == (102, "http_method_not_allowed")
    assert body["message"] == PUT_INSTEAD.fill(path="/disburse", method="GET").message
    # A method that is not among those that people mix up is not named.
    assert shop.connection.send("TRACE", "/disburse").body["message"] == server.ONLY_PUT.message
    assert shop.connection.send("POST", "/readyz").body["code"] == server.ONLY_GET.error_code


def test_missing_headers_and_wrong_ones_differ_but_no_mid_from_another(shop: MerchantClient) -> None:
    def refusal(**headers: str) -> Any:
        return shop.connection.send("PUT", "/disburse", b"{}", headers).body

    missing = refusal(mid=shop.mid, authorization="Bearer x")
    assert missing["code"] == MISSING_HEADERS.error_code == "header_missing"
    assert missing["message"].endswith("there is no key header (did you mean it by authorization?)")
    assert refusal(mid="GP9999999") == refusal(mid=shop.mid)
    wrong, unknown = refusal(mid=shop.mid, key="wrong"), refusal(mid="GP9999999", key="wrong")
    assert wrong == unknown
    assert wrong["code"] == NOT_AUTHENTICATED.error_code == "authentication_failed"
    assert dispatch.refuse_headers is refuse_headers


def test_a_wrong_scenario_header_is_named_with_its_code(shop: MerchantClient) -> None:
    body = ask(shop, "disburse", b'{"action":"verify","txnRef":"x"}', **{"x-sandbox-scenario": "rx=1"})
    assert [fault["code"] for fault in body["errors"]] == ["header_invalid"]
