"""`kasuwa.events`: the receiver in the test process, and deliveries that are lost, repeated, late or out of order."""

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from kasuwa.testing import SandboxMerchant, Server
from kasuwa_client import BillEvent, InvalidSignature, TransferEvent, verify_event
from tests.webhooks.inbox import BROKEN, running_inbox


def send(kasuwa: SandboxMerchant, order_ref: str, account: str = "0000000000") -> None:
    kasuwa.client.disburse.transfer(amount="100.00", bankcode="058", accountnumber=account, order_ref=order_ref)


def arrived(kasuwa: SandboxMerchant) -> list[str]:
    return [str(delivery.event.raw["orderRef"]) for delivery in kasuwa.events.deliveries]


def test_one_finds_the_event_by_kind_reference_and_fields(kasuwa: SandboxMerchant) -> None:
    send(kasuwa, "good")
    send(kasuwa, "bad", "0000005100")
    found = kasuwa.events.one("transfer", ref="good")
    assert (found.txn_status, found.payment_method) == ("successful", "transfer")
    assert kasuwa.events.one(TransferEvent, txnStatus="failed").order_ref == "bad"
    assert kasuwa.events.one(TransferEvent, ref=found).order_ref == "good"
    assert [event.order_ref for event in kasuwa.events.all(TransferEvent)] == ["good", "bad"]
    assert kasuwa.events.all() == kasuwa.events.all("transfer") == kasuwa.events.all(TransferEvent)
    assert kasuwa.events.all("bill") == kasuwa.events.all("payment") == kasuwa.events.all(BillEvent) == []
    with pytest.raises(TypeError, match=r"no event has the field txn_status: did you mean txnStatus\?"):
        kasuwa.events.one("transfer", txn_status="failed")
    with pytest.raises(TypeError, match=r"no event has the field nothing_like_it$"):
        kasuwa.events.all(nothing_like_it=1)
    with pytest.raises(TypeError, match="ref: must be a text"):
        kasuwa.events.all(ref=5)


def test_one_that_finds_none_or_several_says_what_arrived(kasuwa: SandboxMerchant) -> None:
    send(kasuwa, "one")
    with pytest.raises(AssertionError) as error:
        kasuwa.events.one("refund", ref="two")
    lines = str(error.value).splitlines()
    assert lines[0] == "expected one event (kind='refund', ref='two'), found 0. Arrived:"
    assert lines[1].startswith("  transfer successful txnRef=GP|FD|")
    assert lines[1].endswith(" orderRef=one")
    send(kasuwa, "two")
    with pytest.raises(AssertionError, match="found 2"):
        kasuwa.events.one()
    with pytest.raises(AssertionError, match="kind='BillEvent'"):
        kasuwa.events.one(BillEvent)


def test_wait_takes_an_event_that_comes_by_itself(kasuwa: SandboxMerchant) -> None:
    kasuwa.freeze()
    sending = threading.Timer(0.2, send, (kasuwa, "late"))
    sending.start()
    assert kasuwa.events.wait("transfer", ref="late", seconds=60).txn_status == "successful"
    sending.join()
    with pytest.raises(AssertionError, match="found 0"):
        kasuwa.events.wait("refund", seconds=0.01)


def test_a_dropped_delivery_is_sent_again_later(kasuwa: SandboxMerchant) -> None:
    kasuwa.freeze()
    kasuwa.events.drop(times=2)
    send(kasuwa, "dropped")
    assert kasuwa.events.all() == []
    kasuwa.advance(seconds=5)
    assert kasuwa.events.all() == []
    kasuwa.advance(minutes=5)
    assert arrived(kasuwa) == ["dropped"]


def test_a_duplicate_is_two_deliveries_of_one_event(kasuwa: SandboxMerchant) -> None:
    kasuwa.events.duplicate()
    send(kasuwa, "twice")
    send(kasuwa, "once")
    assert {event.order_ref for event in kasuwa.events.all(TransferEvent)} == {"twice", "once"}
    assert sorted(arrived(kasuwa)) == ["once", "twice", "twice"]
    ids = {delivery.headers["webhook-id"] for delivery in kasuwa.events.deliveries}
    assert len(ids) == 2


def test_deliveries_of_a_block_come_in_reverse_order(kasuwa: SandboxMerchant) -> None:
    with kasuwa.events.reorder():
        for order_ref in ("first", "second", "third"):
            send(kasuwa, order_ref)
            kasuwa.events.flush()
        assert kasuwa.events.deliveries == []
    assert arrived(kasuwa) == ["third", "second", "first"]


def test_a_delayed_event_comes_so_much_later_in_business_time(kasuwa: SandboxMerchant) -> None:
    kasuwa.freeze()
    kasuwa.events.delay(hours=2)
    send(kasuwa, "delayed")
    kasuwa.events.flush()
    send(kasuwa, "in time")
    kasuwa.advance(hours=1, minutes=59)
    assert arrived(kasuwa) == ["in time"]
    kasuwa.advance(minutes=1)
    assert arrived(kasuwa) == ["in time", "delayed"]


def test_a_wrong_signature_is_rejected(kasuwa: SandboxMerchant) -> None:
    with kasuwa.scenario(webhook="bad-hash"):
        send(kasuwa, "forged")
    assert kasuwa.events.all() == []
    assert kasuwa.events.rejected == ["The webhook-signature header does not fit the body and the key"]
    with pytest.raises(AssertionError, match="rejected: The webhook-signature header"):
        kasuwa.events.one()


def test_deliveries_are_forwarded_until_the_application_accepts_them(kasuwa: SandboxMerchant) -> None:
    kasuwa.freeze()
    with running_inbox() as application:
        application.answers(BROKEN)
        kasuwa.events.forward_to(application.url)
        send(kasuwa, "forwarded")
        kasuwa.events.flush()
        kasuwa.advance(seconds=5)
        assert len(application.requests) == 2
        for request in application.requests:
            assert verify_event(request.body, request.headers, kasuwa.key).raw["orderRef"] == "forwarded"
    send(kasuwa, "nobody listens")
    kasuwa.events.flush()
    entries = kasuwa.explain(order_ref="nobody listens").raw["data"]
    assert [entry["http"] for entry in entries if entry["what"] == "webhook"] == [502]


def test_a_merchant_of_a_block_receives_nothing_after_it(kasuwa_server: Server) -> None:
    with kasuwa_server.merchant() as kasuwa:
        send(kasuwa, "within")
        kasuwa.events.flush()
    send(kasuwa, "after")
    kasuwa.advance(seconds=1)
    assert arrived(kasuwa) == ["within"]


def test_each_delivery_is_handed_over_once(kasuwa: SandboxMerchant) -> None:
    def receive(body: bytes, headers: Mapping[str, str]) -> Any:
        assert threading.current_thread() is threading.main_thread()
        return verify_event(body, headers, kasuwa.key).raw["orderRef"]

    send(kasuwa, "one")
    assert kasuwa.events.hand_over(receive) == ["one"]
    send(kasuwa, "two")
    assert kasuwa.events.hand_over(receive) == ["two"]
    assert kasuwa.events.hand_over(receive) == []
    send(kasuwa, "three")
    with pytest.raises(InvalidSignature):
        kasuwa.events.hand_over(lambda body, headers: verify_event(body + b" ", headers, kasuwa.key))
