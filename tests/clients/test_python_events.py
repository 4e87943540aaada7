"""verify_event: signatures of real deliveries, and of deliveries that were changed, replayed or signed by others."""

import base64
import hashlib
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from standardwebhooks.webhooks import Webhook

from kasuwa.transactions.event_fields import EventPayload
from kasuwa.transactions.event_payloads import EVENT_KINDS as EVENT_KINDS_OF_SERVICE
from kasuwa.transactions.event_payloads import EndpointTestEvent
from kasuwa.webhooks.signatures import sign, standard_secret
from kasuwa_client import (
    BillEvent,
    Event,
    InvalidSignature,
    Kasuwa,
    PaymentEvent,
    SavingsMovementEvent,
    TransferEvent,
    UnknownEvent,
    sign_event,
    verify_event,
)
from kasuwa_client.events import EVENT_KINDS, EventBase
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.inbox import running_inbox

KEY = "merchant-key"
NOW = 1_767_600_000
PAYLOAD = {
    "status": 200,
    "txnStatus": "successful",
    "txnRef": "GP|FD|1",
    "chargedAmount": "1500.00",
    "currency": "NGN",
    "paymentMethod": "transfer",
    "endpoint": "test",
    "kind": "transfer",
    "orderRef": "order-1",
    "novelty": {"a": 1},
}
BODY = json.dumps(PAYLOAD).encode()


def signed(body: bytes = BODY, key: str = KEY, at: int = NOW) -> dict[str, str]:
    """Returns the headers of a delivery, signed as the service signs it."""
    return sign(body, [key.encode()], "evt_1", at, "service-hash", has_bad_signature=False)


def verify(
    body: bytes | str = BODY, headers: dict[str, str] | None = None, key: Any = KEY, **options: Any
) -> TransferEvent:
    event = verify_event(body, signed() if headers is None else headers, key, **{"now": NOW, **options})
    assert isinstance(event, TransferEvent)
    return event


def read(payload: dict[str, Any]) -> Event:
    body = json.dumps(payload).encode()
    return verify_event(body, signed(body), KEY, now=NOW)


def test_a_signed_event_is_typed() -> None:
    event = verify()
    assert (event.event_id, event.sent_at) == ("evt_1", datetime.fromtimestamp(NOW, UTC))
    assert (event.txn_ref, event.txn_status, event.is_successful) == ("GP|FD|1", "successful", True)
    assert event.charged_amount == Decimal("1500.00")
    assert isinstance(event.charged_amount, Decimal)
    assert (event.order_ref, event.loan_id) == ("order-1", None)
    assert event.extra == {"novelty": {"a": 1}}
    assert event.raw == PAYLOAD


def test_every_kind_of_the_service_is_read_into_its_own_class() -> None:
    kinds: dict[str, type[EventPayload]] = {name: kind.payload for name, kind in EVENT_KINDS_OF_SERVICE.items()}
    kinds["test"] = EndpointTestEvent
    assert set(EVENT_KINDS) == set(kinds)
    for kind, struct in kinds.items():
        fields = msgspec.structs.fields(struct)
        sent = {field.encode_name: "1.00" for field in fields} | {"status": 200, "kind": kind}
        event = read(sent)
        assert isinstance(event, EventBase)
        assert (type(event).__name__, event.kind, event.extra) == (struct.__name__, kind, {})
        assert {event.wire_names[name] for name in event.wire_names} == set(sent)
        assert event.raw == sent


def test_fields_of_a_kind_are_decoded() -> None:
    bill = read({**PAYLOAD, "kind": "bill", "commission": "75.00"})
    assert isinstance(bill, BillEvent)
    assert (bill.commission, bill.order_ref) == (Decimal("75.00"), "order-1")
    payment = read({**PAYLOAD, "kind": "payment", "unappliedAmount": "0.50", "accountReference": "tenant 12"})
    assert isinstance(payment, PaymentEvent)
    assert (payment.unapplied_amount, payment.account_reference) == (Decimal("0.50"), "tenant 12")
    assert (payment.customer_txnref, payment.extra) == (None, {"orderRef": "order-1", "novelty": {"a": 1}})
    for kind in ("deposit", "cashout"):
        moved = read({**PAYLOAD, "kind": kind, "savings_id": "SV1"})
        assert isinstance(moved, SavingsMovementEvent)
        assert (moved.kind, moved.savings_id) == (kind, "SV1")


@pytest.mark.parametrize("kind", ["satellite", None, 5, ["transfer"]])
def test_an_event_of_an_unknown_kind_is_still_readable(kind: Any) -> None:
    payload = {**PAYLOAD, "kind": kind} if kind is not None else {k: v for k, v in PAYLOAD.items() if k != "kind"}
    event = read(payload)
    assert isinstance(event, UnknownEvent)
    assert (event.kind, event.sent_kind, event.is_successful) == ("unknown", kind, True)
    assert (event.txn_ref, event.charged_amount) == ("GP|FD|1", Decimal("1500.00"))
    assert event.extra == {"orderRef": "order-1", "novelty": {"a": 1}}
    assert event.currency == "NGN"
    assert event.raw == payload


@pytest.mark.parametrize("case", [str.upper, str.title, str.lower])
def test_header_names_are_read_in_any_case(case: Callable[[str], str]) -> None:
    assert verify(headers={case(name): value for name, value in signed().items()}).order_ref == "order-1"


def test_a_body_as_text_is_accepted() -> None:
    assert verify(BODY.decode()).order_ref == "order-1"


def test_any_of_several_keys_is_enough() -> None:
    assert verify(key=["newer", KEY]).order_ref == "order-1"
    assert verify(key=(KEY, "older")).order_ref == "order-1"
    assert verify(key=standard_secret(KEY)).order_ref == "order-1"
    with pytest.raises(InvalidSignature):
        verify(key=["newer", "older"])


def without(*names: str) -> dict[str, str]:
    return {name: value for name, value in signed().items() if name not in names}


STANDARD = ("webhook-id", "webhook-timestamp", "webhook-signature")
OTHER_SIGNATURE = "v1," + base64.b64encode(hashlib.sha256(b"other").digest()).decode()


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (BODY.replace(b"1500.00", b"9500.00"), signed()),
        (BODY + b" ", signed()),
        (BODY, signed(key="another key")),
        (BODY, signed(at=NOW - 301)),
        (BODY, signed(at=NOW + 301)),
        (BODY, {**signed(), "webhook-id": "evt_2"}),
        (BODY, {**signed(), "webhook-timestamp": str(NOW + 1)}),
        (BODY, {**signed(), "webhook-timestamp": "soon"}),
        (BODY, {**signed(), "webhook-timestamp": "٣"}),
        (BODY, {**signed(), "webhook-signature": OTHER_SIGNATURE}),
        (BODY, {**signed(), "webhook-signature": signed()["webhook-signature"].replace("v1,", "v2,")}),
        (BODY, {**signed(), "webhook-signature": "v1,***"}),
        (BODY, {**signed(), "webhook-signature": ""}),
        (BODY, {**signed(), "service-hash": "0" * 128}),
        (BODY, {**signed(), "service-hash": "ü"}),
        (BODY, without("webhook-id")),
        (BODY, without("webhook-timestamp")),
        (BODY, without("webhook-signature")),
        (BODY, without(*STANDARD)),
        (BODY, {}),
        (b"", signed()),
    ],
)
def test_a_delivery_that_is_not_genuine_is_refused(body: bytes, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidSignature) as raised:
        verify(body, headers)
    assert KEY not in str(raised.value)


def test_a_delivery_with_the_service_hash_alone_is_accepted_on_request() -> None:
    event = verify(headers=without(*STANDARD), accept_service_hash_alone=True)
    assert (event.event_id, event.sent_at) == (None, None)
    named = {"x-hash" if name == "service-hash" else name: value for name, value in without(*STANDARD).items()}
    assert verify(headers=named, accept_service_hash_alone=True, hash_header="X-Hash").order_ref == "order-1"
    with pytest.raises(InvalidSignature):
        verify(BODY + b" ", without(*STANDARD), accept_service_hash_alone=True)
    with pytest.raises(InvalidSignature):
        verify(headers={}, accept_service_hash_alone=True)
    # A signature that is there must be right, whatever else is accepted.
    with pytest.raises(InvalidSignature):
        verify(headers={**signed(), "webhook-signature": OTHER_SIGNATURE}, accept_service_hash_alone=True)


def test_one_of_several_signatures_is_enough() -> None:
    both = f"{OTHER_SIGNATURE} v1a,asymmetric {signed()['webhook-signature']}"
    assert verify(headers={**signed(), "webhook-signature": both}).order_ref == "order-1"


def test_a_receiver_that_still_has_the_old_key_accepts_what_both_have_signed() -> None:
    keys = [b"the new key", KEY.encode()]
    headers = sign(BODY, keys, "evt_1", NOW, "service-hash", has_bad_signature=False)
    assert verify(headers=headers).order_ref == "order-1"
    with pytest.raises(InvalidSignature):
        verify(headers={**headers, "service-hash-previous": "0" * 128})
    hashes = {name: headers[name] for name in ("service-hash", "service-hash-previous")}
    assert verify(headers=hashes, accept_service_hash_alone=True).order_ref == "order-1"


def test_signatures_of_the_standard_library_are_accepted() -> None:
    made = Webhook(standard_secret(KEY)).sign("evt_1", datetime.fromtimestamp(NOW, UTC), BODY.decode())
    headers = {"webhook-id": "evt_1", "webhook-timestamp": str(NOW), "webhook-signature": made}
    assert verify(headers=headers).order_ref == "order-1"


@pytest.mark.parametrize("body", [b"no json", b"[]", b"1"])
def test_a_signed_body_that_is_no_event_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidSignature):
        verify(body, signed(body))


@pytest.mark.parametrize("key", ["", [], [""], None, [None], "whsec_", [KEY, "whsec_"], "whsec_%"])
def test_an_empty_key_is_an_error_of_the_caller(key: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        verify(key=key)


def test_real_deliveries_are_verified_also_after_the_key_was_rolled(
    shop: MerchantClient, client: Kasuwa, deployment: Deployment
) -> None:
    with running_inbox() as inbox:
        client.sandbox.webhook(url=inbox.url)
        made = client.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000")
        [letter] = inbox.wait_for(1)
        event = verify_event(letter.body, letter.headers, shop.key)
        assert isinstance(event, TransferEvent)
        assert (event.txn_ref, event.order_ref) == (made.txn_ref, made.order_ref)
        assert event.sent_at is not None
        assert abs(event.sent_at.timestamp() - time.time()) < 300
        rolled = deployment.run_command("merchant", "roll-key", shop.mid, "--overlap-hours", "1")
        new_key = rolled.split()[-1]
        assert new_key not in (shop.key, "")
        client.resources.resend(event_id=event.event_id)
        letter = inbox.wait_for(2)[1]
        assert verify_event(letter.body, letter.headers, [shop.key, new_key]).event_id == event.event_id
        client.sandbox.webhook(url="")


# --- signing for unit tests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [[KEY], ["newer-key", KEY]])
def test_a_signed_event_has_the_headers_that_the_service_sends(keys: list[str]) -> None:
    signed = sign_event(BODY, keys, event_id="evt_1", now=NOW)
    encoded = [key.encode() for key in keys]
    assert signed.headers == sign(BODY, encoded, "evt_1", NOW, "service-hash", has_bad_signature=False)
    assert signed.body == BODY


def test_a_signed_event_is_verified_by_its_key_alone() -> None:
    body, headers = sign_event(PAYLOAD | {"amount": Decimal("1.50")}, standard_secret(KEY))
    event = verify_event(body, headers, KEY)
    assert isinstance(event, TransferEvent)
    assert event.txn_ref == "GP|FD|1"
    hash_alone = {"service-hash": headers["service-hash"]}
    assert verify_event(body, hash_alone, KEY, accept_service_hash_alone=True).raw["amount"] == "1.50"
    with pytest.raises(InvalidSignature):
        verify_event(body, headers, "another key")
    old = sign_event(PAYLOAD, KEY, now=NOW, hash_header="x-hash")
    with pytest.raises(InvalidSignature, match="seconds old"):
        verify_event(old.body, old.headers, KEY, hash_header="x-hash")
    assert verify_event(old.body, old.headers, KEY, hash_header="x-hash", now=NOW).event_id == "evt_00000001"
    with pytest.raises(ValueError, match="key"):
        sign_event(PAYLOAD, "")
