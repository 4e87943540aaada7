"""Descriptions of fields are read from the strings that follow them."""

import msgspec

from kasuwa.api.openapi.field_docs import describe_fields


class Order(msgspec.Struct, kw_only=True):
    """An order."""

    order_ref: str = msgspec.field(name="orderRef")
    "Your reference of the order,\n    on two lines."
    amount: int
    note: str = ""
    "A note to the payee."


class RefundedOrder(Order, kw_only=True):
    amount: int
    "What was refunded."


def test_descriptions_are_found_by_wire_name() -> None:
    assert describe_fields(Order) == {
        "orderRef": "Your reference of the order, on two lines.",
        "note": "A note to the payee.",
    }


def test_inherited_fields_keep_their_descriptions() -> None:
    assert describe_fields(RefundedOrder) == {
        "orderRef": "Your reference of the order, on two lines.",
        "amount": "What was refunded.",
        "note": "A note to the payee.",
    }
