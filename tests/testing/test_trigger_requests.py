"""`trigger`: every event that it names happens, with the fields that were changed."""

from collections.abc import Mapping
from typing import Any

import pytest

from kasuwa.testing.triggers import NOT_TRIGGERED, TRIGGERS, Step, TriggerError, collect_values, fill_fields, trigger
from kasuwa.transactions.event_payloads import EVENT_KINDS
from tests.merchant_client import MerchantClient

# What an event says beside its status, by the part of the name behind the dot.
STATES = {"late": ("step", "late"), "voided": ("invoiceStatus", "void")}
# Names of states of disputes that are not the state itself.
DISPUTE_STATES = {"opened": "needs_response"}


def make_send(shop: MerchantClient) -> Any:
    def send(path: str, fields: dict[str, Any], key: str) -> Mapping[str, Any]:
        sender = MerchantClient(shop.connection, shop.mid, key) if key else shop
        body: Mapping[str, Any] = sender.send_fields(path, fields).body
        assert body["status"] in (200, 202), (path, fields, body)
        return body

    return send


@pytest.mark.parametrize("name", TRIGGERS)
def test_each_event_happens_as_its_name_says(name: str, shop: MerchantClient) -> None:
    event = trigger(make_send(shop), name, {})
    kind, _, state = name.partition(".")
    payload = event["payload"]
    assert (event["kind"], payload["kind"]) == (kind, kind)
    if kind in ("dispute", "card_dispute"):
        assert payload["state"] == DISPUTE_STATES.get(state, state)
    elif state in STATES:
        field, value = STATES[state]
        assert payload[field] == value
    elif state:
        assert payload["txnStatus"] == state


def test_every_kind_of_event_is_triggered_or_named() -> None:
    triggered = {name.partition(".")[0] for name in TRIGGERS}
    assert triggered | set(NOT_TRIGGERED) == set(EVENT_KINDS)
    assert triggered.isdisjoint(NOT_TRIGGERED)
    assert all(NOT_TRIGGERED.values())


def test_a_kind_that_no_request_leads_to_is_refused_with_the_reason() -> None:
    with pytest.raises(TriggerError, match="no request leads to reversal: two operators decide"):
        trigger(lambda path, fields, key: {}, "reversal", {})


def test_a_kind_without_its_state_is_refused_with_the_states() -> None:
    with pytest.raises(TriggerError, match=r"did you mean dispute\.opened or dispute\.won or dispute\.lost\?"):
        trigger(lambda path, fields, key: {}, "dispute", {})


def test_what_was_set_for_an_event_is_put_back_also_after_a_refusal(shop: MerchantClient) -> None:
    send = make_send(shop)
    trigger(send, "transfer_approval.pending", {})
    with pytest.raises(AssertionError):
        trigger(send, "transfer_approval.pending", {"amount": "nothing"})
    made = shop.put("sandbox", action="new_key", name="other", scopes=["payout"]).body
    payer = MerchantClient(shop.connection, shop.mid, made["key"])
    assert payer.transfer(accountnumber="0000000000")["txnStatus"] == "successful"


def test_changed_fields_are_sent_with_every_request_that_has_them(shop: MerchantClient) -> None:
    send = make_send(shop)
    paid = trigger(send, "payment.successful", {"amount": "777.00", "customer_txnref": "basket-1"})["payload"]
    assert (paid["chargedAmount"], paid["customer_txnref"]) == ("777.00", "basket-1")
    disputed = trigger(send, "dispute.opened", {"amount": "900.00", "reason": "fraud"})["payload"]
    assert disputed["chargedAmount"] == "900.00"


def test_a_field_that_no_request_has_is_sent_with_the_last(shop: MerchantClient) -> None:
    sent = trigger(make_send(shop), "transfer.successful", {"narration": "salary", "amount": "10.00"})["payload"]
    assert sent["chargedAmount"] == "10.00"


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(TriggerError, match=r"did you mean dispute\.opened\?"):
        trigger(lambda path, fields, key: {}, "dispute.open", {})
    with pytest.raises(TriggerError, match=r"known are payment\.successful"):
        trigger(lambda path, fields, key: {}, "zzz", {})


def test_requests_that_lead_to_no_event_are_an_error() -> None:
    def send(path: str, fields: dict[str, Any], key: str) -> Mapping[str, Any]:
        return {"data": [], "last": 0, "more": False}

    with pytest.raises(TriggerError, match=r"transfer\.failed: .* no event of kind transfer"):
        trigger(send, "transfer.failed", {})


def test_placeholders_stand_for_values_of_replies() -> None:
    known = collect_values({"txnRef": "outer", "data": {"txnRef": "inner", "id": 5, "lines": [1]}})
    assert known == {"txnRef": "outer", "id": 5}
    filled = fill_fields({"a": "<txnRef>", "b": [{"c": "<id>"}], "d": "<txnRef>@x", "e": 1}, known)
    assert filled == {"a": "outer", "b": [{"c": 5}], "d": "outer@x", "e": 1}
    assert Step("disburse", {}).fields == {}
