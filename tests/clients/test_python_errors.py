"""Every status of the contract as an exception, from the real service; and that no error or log shows a secret."""

import logging
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from kasuwa_client import (
    AuthenticationError,
    CallEvent,
    ErrorCode,
    FieldCode,
    InsufficientFunds,
    InvalidRequest,
    Kasuwa,
    KasuwaError,
    MalformedRequest,
    NotValidated,
    OutcomeUnknown,
    Refused,
    ReplyReceived,
    RequestSent,
    ServiceError,
    UnknownAction,
    UnreadableAnswer,
    UnreadableOutcome,
)
from kasuwa_client._action import Action
from tests.merchant_client import MerchantClient
from tests.running import Deployment

ACCOUNT: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
CARD: Any = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}


def call_unknown_action(shop: Kasuwa) -> Any:
    action: Action[Any] = Action("disburse.fly", "disburse", {"action": "fly"}, {}, "any")
    return shop.disburse._call(action, {})


def send_wrong_otp(shop: Kasuwa) -> Any:
    opened = shop.payment.charge_account(amount="2000.00", account={"bankcode": "058", "accountnumber": "0000000000"})
    return shop.payment.validate(txn_ref=opened.txn_ref, otp="000000", validate="account")


def lose_the_biller(shop: Kasuwa) -> Any:
    shop.sandbox.fault(rail="bank", kind="unavailable")
    return shop.resources.account_name(accountnumber="0040000008", bankcode="058")


REFUSALS: list[tuple[int, type[Refused], Callable[[Kasuwa], Any]]] = [
    (102, UnknownAction, call_unknown_action),
    (
        103,
        MalformedRequest,
        lambda shop: shop.resources.personalized_account(name="a", reference="x" * 300_000, email="a@b.co"),
    ),
    (104, InvalidRequest, lambda shop: shop.disburse.transfer(amount="0", bankcode="05", accountnumber="1")),
    (201, UnreadableAnswer, lambda shop: shop.with_options(scenario="rr=ZZ").resources.bvn(bvn="22222222222")),
    (203, NotValidated, send_wrong_otp),
    (204, ServiceError, lose_the_biller),
    (301, InsufficientFunds, lambda shop: shop.disburse.transfer(amount="9999999", **ACCOUNT)),
]


def check_refusals(shop: Kasuwa) -> dict[int, int]:
    """Calls for every refusal, and returns the HTTP status of each."""
    found = {}
    for status, kind, call in REFUSALS:
        with pytest.raises(Refused) as raised:
            call(shop)
        error = raised.value
        assert type(error) is kind, (status, error)
        assert (error.status, error.reply["status"], error.reply["message"]) == (status, status, error.message)
        assert error.request_id
        assert str(error).startswith(f"status {status}: {error.message}")
        assert not isinstance(error, OutcomeUnknown)
        found[status] = error.http_status
    return found


def test_a_refusal_is_an_exception_of_its_status(client: Kasuwa) -> None:
    # A body that is too large has HTTP 413 in any case.
    assert set(check_refusals(client).values()) == {200, 413}


def test_a_refusal_with_a_strict_http_code_is_the_same_exception(
    client: Kasuwa, shop: MerchantClient, deployment: Deployment
) -> None:
    deployment.run_command("merchant", "set", shop.mid, "--http-codes", "strict")
    expected = {102: 404, 103: 413, 104: 422, 201: 502, 203: 402, 204: 500, 301: 402}
    assert check_refusals(client) == expected


def test_a_wrong_key_is_an_authentication_error_without_the_key(connect: Callable[..., Kasuwa]) -> None:
    with pytest.raises(AuthenticationError) as raised:
        connect(key="wrong-secret").resources.wallet()
    assert (raised.value.status, raised.value.http_status) == (101, 401)
    assert "wrong-secret" not in str(raised.value) + repr(raised.value) + repr(vars(raised.value))


def test_an_invalid_request_names_every_fault(client: Kasuwa) -> None:
    with pytest.raises(InvalidRequest) as raised:
        client.disburse.transfer(amount="-5", bankcode="05", accountnumber="123", order_ref="x" * 101)
    assert {error.field for error in raised.value.errors} == {"amount", "bankcode", "accountnumber", "orderRef"}
    assert all(error.reason for error in raised.value.errors)


def test_an_error_has_its_code_and_the_page_about_it(client: Kasuwa) -> None:
    with pytest.raises(InvalidRequest) as raised:
        client.disburse.transfer(amount="-5", bankcode="058", accountnumber="0000000000")
    assert raised.value.code == ErrorCode.FIELD_INVALID
    assert raised.value.doc_url.endswith("/docs/reference/errors.html#field_invalid")
    [fault] = raised.value.errors
    assert (fault.field, fault.code, fault.value) == ("amount", FieldCode.AMOUNT_NEGATIVE, "-5")


def test_an_error_of_an_older_service_has_no_code() -> None:
    error = Refused("No", status=104, reply={"status": 104, "message": "No", "errors": [{"field": "a", "reason": "b"}]})
    assert (error.code, error.doc_url, error.errors[0].code, error.errors[0].value) == ("", "", "", None)


def test_an_unreadable_answer_to_a_write_is_an_unknown_outcome(client: Kasuwa) -> None:
    with pytest.raises(UnreadableOutcome) as raised:
        client.with_options(scenario="rr=ZZ").disburse.transfer(amount="20.00", **ACCOUNT)
    assert isinstance(raised.value, OutcomeUnknown)
    assert raised.value.status == 201
    assert raised.value.state.txn_ref == raised.value.reply["txnRef"]
    client.sandbox.settle(txn_ref=raised.value.state.txn_ref, outcome="failed")
    assert client.disburse.wait(raised.value, seconds=30).txn_status == "failed"


def test_the_request_id_of_an_error_is_that_of_the_log(client: Kasuwa, deployment: Deployment) -> None:
    with pytest.raises(InvalidRequest) as raised:
        client.with_options(headers={"X-Request-Id": "trace-4711"}).disburse.verify(order_ref="no-such-order")
    assert raised.value.request_id == "trace-4711"


# --- arguments --------------------------------------------------------------------------------------------------


def test_wrong_arguments_raise_one_type_error_that_names_them_all(client: Kasuwa) -> None:
    wrong: Any = {"amount": 15.5, "bankcode": 58, "accountnumber": "0000000000", "narration": b"x"}
    with pytest.raises(TypeError) as raised:
        client.disburse.transfer(**wrong)
    faults = str(raised.value).split("; ")
    assert [fault.partition(":")[0] for fault in faults] == ["amount", "bankcode", "narration"]
    assert "must not be a float" in faults[0]


@pytest.mark.parametrize("amount", [15.5, True, Decimal("NaN"), Decimal("Infinity"), ["1"]])
def test_an_amount_that_is_not_exact_is_refused(client: Kasuwa, amount: Any) -> None:
    order: Any = {"amount": "1.00", **ACCOUNT}
    with pytest.raises(TypeError, match=r"^amount: must"):
        client.disburse.transfer(amount=amount, **ACCOUNT)
    wrong: Any = {**order, "amount": amount}
    with pytest.raises(TypeError, match=r"^data\[1\]\.amount: must"):
        client.disburse.transfer_bulk(data=[order, wrong])


@pytest.mark.parametrize("amount", [Decimal("1500"), Decimal("1.5E+3"), Decimal("1500.00"), "1500.00", 1500])
def test_exact_amounts_of_every_type_mean_the_same(client: Kasuwa, amount: Any) -> None:
    assert client.resources.charges(amount=amount, type="card").data.amount == Decimal("1500.00")


def test_unknown_and_misspelled_fields_of_objects_are_refused(client: Kasuwa) -> None:
    card: Any = {**CARD, "cvv": "100"}
    with pytest.raises(TypeError, match=r"card\.cvv: there is no such field; the fields are card_no, "):
        client.payment.initiate_card(card=card, amount="100.00")


# --- secrets ----------------------------------------------------------------------------------------------------


def test_hooks_and_logs_never_see_a_secret(
    connect: Callable[..., Kasuwa], shop: MerchantClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[CallEvent] = []
    hooked = connect(hooks=[seen.append])
    opened = hooked.payment.initiate_card(card=CARD, amount="100.00", meta={"note": "card 5123 4500 0000 0008"})
    hooked.payment.charge_card(card=CARD, txn_ref=opened.txn_ref, amount="100.00")
    hooked.payment.validate(txn_ref=opened.txn_ref, otp="123456")
    billing: Any = {"address": "1", "name": "Ada", "city": "Lagos", "state": "Lagos", "postal_code": "1"}
    made = hooked.virtualcard.create(billing=billing, amount=10, currency="USD")
    code = hooked.cashcode.generate(amount="500", pin="2580", channel="ATM")
    expired: Any = {**CARD, "expiry_year": "01"}
    with pytest.raises(KasuwaError) as raised:
        hooked.payment.initiate_card(card=expired, amount="100.00")
    shown = repr(seen) + caplog.text + repr([made, code, opened, hooked]) + repr(raised.value) + str(raised.value)
    secrets = [shop.key, CARD["card_no"], "5123 4500 0000 0008", "'123456'", "2580", "'1234'", "'000'"]
    secrets += [str(made.card_data.cardpan), f"'{made.card_data.cvv}'", str(code.cashcode)]
    assert [secret for secret in secrets if secret in shown] == []
    sent = [event for event in seen if isinstance(event, RequestSent)]
    assert {event.headers["key"] for event in sent} == {"***"}
    assert sent[0].body["card"]["card_no"] == "***"
    assert sent[0].body["amount"] == "100.00"
    assert len([event for event in seen if isinstance(event, ReplyReceived)]) == len(sent)


def test_a_hook_that_raises_does_not_change_the_call(
    connect: Callable[..., Kasuwa], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(event: CallEvent) -> None:
        raise RuntimeError("hook")

    assert connect(hooks=[broken]).resources.wallet().status == 200
    assert "a hook raised RuntimeError" in caplog.text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mid": ""}, "mid"),
        ({"key": "line\nbreak"}, "key"),
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "http://user:pass@host"}, "base_url"),
        ({"timeout": 0}, "timeout"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text) as raised:
        Kasuwa(**{"mid": "GP1", "key": "secret", **options})
    assert "line" not in str(raised.value)
    assert "pass" not in str(raised.value)
