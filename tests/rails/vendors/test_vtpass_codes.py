"""Every code and status of VTpass, and the goods of a delivered bill."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from kasuwa.core.references import movement_reference, rail_key
from kasuwa.rails.catalogue.catalogue import GIVES_PIN, GIVES_TOKEN
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, BillOrder, FloatShort, NoAnswer, Unavailable
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.vtpass.bills import OUR_ACCOUNT, read_goods, read_payment, read_query

SENT_AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ORDER = BillOrder(
    key=rail_key(12, movement_reference("BP", 123_456_789, SENT_AT.date())),
    biller="ikeja-electric",
    paycode="ikeja-electric/prepaid",
    fulfillment=GIVES_TOKEN,
    reference="45012345678",
    amount=500_000,
    currency="NGN",
    sent_at=SENT_AT,
)

NOTICE = True
# What a code means at pay and at a query: a status, or the exception; and whether the operator is told.
CODES: dict[str, tuple[str | type[Exception], str | type[Exception], bool]] = {
    "099": (orders.UNKNOWN, orders.UNKNOWN, False),
    "089": (orders.UNKNOWN, orders.UNKNOWN, False),
    "015": (orders.UNREADABLE, orders.NOT_FOUND, False),
    "016": (orders.FAILED, orders.FAILED, False),
    "040": (orders.FAILED, orders.FAILED, False),
    "091": (orders.FAILED, orders.FAILED, False),
    "010": (orders.FAILED, orders.UNREADABLE, NOTICE),
    "012": (orders.FAILED, orders.UNREADABLE, NOTICE),
    "011": (orders.FAILED, orders.UNREADABLE, NOTICE),
    "013": (orders.FAILED, orders.UNREADABLE, False),
    "017": (orders.FAILED, orders.UNREADABLE, False),
    "031": (orders.FAILED, orders.UNREADABLE, False),
    "032": (orders.FAILED, orders.UNREADABLE, False),
    "018": (FloatShort, orders.UNREADABLE, NOTICE),
    "019": (Unavailable, orders.UNREADABLE, False),
    "025": (orders.FAILED, orders.FAILED, False),
    "026": (orders.FAILED, orders.FAILED, False),
    "030": (orders.UNREADABLE, Unavailable, False),  # pay queries before it reads this
    "034": (Unavailable, orders.UNREADABLE, False),
    "035": (Unavailable, orders.UNREADABLE, False),
    "083": (NoAnswer, Unavailable, False),
    "777": (orders.UNREADABLE, orders.UNREADABLE, False),
    **dict.fromkeys(OUR_ACCOUNT, (Unavailable, Unavailable, NOTICE)),
}


def meaning(read: Callable[[VendorReply, BillOrder], Answer], body: dict[str, Any]) -> tuple[Any, bool]:
    try:
        answer = read(VendorReply(200, body), ORDER)
    except (Unavailable, NoAnswer) as trouble:
        return type(trouble), bool(getattr(trouble, "notice", ""))
    return answer.status, bool(answer.notice)


@pytest.mark.parametrize("code", CODES)
def test_codes(code: str) -> None:
    at_pay, at_query, has_notice = CODES[code]
    body = {"code": code, "response_description": "WORDS"}
    assert meaning(read_payment, body) == (at_pay, has_notice)
    assert meaning(read_query, body)[0] == at_query


STATUSES = {
    "delivered": (orders.SUCCESSFUL, False),
    "initiated": (orders.PROCESSING, False),
    "pending": (orders.PROCESSING, False),
    "failed": (orders.FAILED, False),
    "reversed": (orders.FAILED, False),
    "resolved": (orders.UNREADABLE, NOTICE),
    "enchanted": (orders.UNREADABLE, NOTICE),
    None: (orders.UNREADABLE, NOTICE),
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("code", ["000", "001", "044", 1])
def test_statuses(status: str | None, code: str | int) -> None:
    body = {"code": code, "content": {"transactions": {"status": status}}}
    assert meaning(read_payment, body) == meaning(read_query, body) == STATUSES[status]


@pytest.mark.parametrize("content", [None, [], {"transactions": None}, {"errors": "x"}])
def test_missing_transaction_is_unreadable(content: Any) -> None:
    assert meaning(read_query, {"code": "000", "content": content}) == (orders.UNREADABLE, NOTICE)


@pytest.mark.parametrize(
    "difference", [{"amount": "4999.00"}, {"amount": 5000.01}, {"amount": "x"}, {"requestId": "202601052330other"}]
)
def test_another_amount_or_request_id_is_unreadable_and_tells_the_operator(difference: dict[str, Any]) -> None:
    body = {"code": "000", "content": {"transactions": {"status": "delivered"}}, **difference}
    assert meaning(read_query, body) == (orders.UNREADABLE, NOTICE)


@pytest.mark.parametrize(
    ("fulfillment", "body", "goods"),
    [
        (GIVES_TOKEN, {"token": "1234 5678 9012 3456 7890"}, {"token": "12345678901234567890"}),
        (GIVES_TOKEN, {"mainToken": "1234-5678-9012-3456-7890"}, {"token": "12345678901234567890"}),
        (GIVES_TOKEN, {"purchased_code": "Token : 12345678901234567890"}, {"token": "12345678901234567890"}),
        (GIVES_TOKEN, {"token": None, "Units": "79.9 kWh"}, {"units": "79.9"}),
        (GIVES_TOKEN, {"token": "123"}, {}),
        (GIVES_PIN, {"purchased_code": "Serial 1, pin: 2"}, {"pin": "Serial 1, pin: 2"}),
        (GIVES_PIN, {"tokens": ["111", "222"]}, {"pin": "111, 222"}),
        (GIVES_PIN, {"Voucher": "ABC-1"}, {"pin": "ABC-1"}),
        (GIVES_PIN, {"purchased_code": ""}, {}),
        ("topup", {"purchased_code": "x"}, {}),
    ],
)
def test_goods(fulfillment: str, body: dict[str, Any], goods: dict[str, str]) -> None:
    assert read_goods(body, fulfillment) == goods
