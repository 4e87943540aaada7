"""The row of the action tables that a body selects, and the refusal of a body that selects none."""

from typing import Any

import msgspec
import pytest

from kasuwa.api.forwarding import select_write
from kasuwa.api.routes import Envelope, make_routes
from kasuwa.core.decision import FieldError, Refusal
from kasuwa.methods.tables import list_methods

PAYMENT = make_routes(list_methods("live"))["/payment"]
OTHER_TYPES = ("token", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money")


def test_a_body_that_is_not_utf8_selects_no_action() -> None:
    """Dispatch refuses it. What looks at a body before, to find its owner and its bound, must take it."""
    for body in (b'{"action":"\xff"}', b'[{"action":"\xff"}]', b'{"action":"charge","\xff":1}\xff'):
        assert select_write(PAYMENT, body) is None
        assert PAYMENT.body_limit(body) == PAYMENT.method.max_body_bytes


def errors_of(**fields: Any) -> tuple[FieldError, ...]:
    found = PAYMENT.select_action(msgspec.convert(fields, Envelope))
    assert isinstance(found, Refusal)
    return tuple(FieldError(fault.field, fault.reason) for fault in found.field_errors)


@pytest.mark.parametrize("kind", OTHER_TYPES)
def test_initiate_of_a_type_that_only_charge_takes_names_charge(kind: str) -> None:
    assert errors_of(action="initiate", paymentType=kind) == (
        FieldError("paymentType", f"one of card; use the action charge for {kind}"),
    )


@pytest.mark.parametrize("kind", ["voucher", "", None, 7, ["ussd"], {"ussd": 1}])
def test_an_unknown_payment_type_names_no_other_action(kind: Any) -> None:
    assert errors_of(action="initiate", paymentType=kind) == (FieldError("paymentType", "one of card"),)


def test_charge_takes_every_payment_type() -> None:
    for kind in ("card", *OTHER_TYPES):
        assert not isinstance(PAYMENT.select_action(Envelope(action="charge", payment_type=kind)), Refusal)
    [error] = errors_of(action="charge", paymentType="voucher")
    assert error.reason == f"one of {', '.join(('card', 'account', *OTHER_TYPES[2:], 'token'))}"
