"""Decoding a whole body: rules are checked in one pass, and card numbers are masked at every depth."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.action import Action
from kasuwa.methods.tables import list_methods
from kasuwa.wire.decoding import decode, mask_plan
from kasuwa.wire.field_rules import is_any_broken, run_field_rules
from kasuwa.wire.fields import Amount, BankCode, Reference, ShortText, read_scalar
from tests.rule_context import MERCHANT

PAN = "4111111111111111"
MASKED = "411111******1111"


class Inner(msgspec.Struct, kw_only=True):
    note: ShortText | None = None


class Outer(msgspec.Struct, kw_only=True):
    amount: Amount | None = None
    bank_code: BankCode | None = None
    reference: str | None = None
    order_ref: Reference | None = None
    narration: ShortText | None = None
    one: Inner | None = None
    several: list[Inner] | None = None


def read(**fields: Any) -> Any:
    return decode(Outer, msgspec.json.encode(fields), (), MERCHANT)


def test_card_numbers_in_free_texts_are_masked_at_every_depth() -> None:
    text = f"paid by {PAN} today"
    request = read(narration=text, one={"note": text}, several=[{"note": "short"}, {"note": text}])
    masked = f"paid by {MASKED} today"
    assert request.narration == masked
    assert request.one.note == masked
    assert [inner.note for inner in request.several] == ["short", masked]


def test_card_numbers_in_references_are_masked() -> None:
    assert read(order_ref=PAN).order_ref == MASKED
    assert read(order_ref=f"order-{PAN}").order_ref == f"order-{MASKED}"
    assert read(order_ref="GP|FD|236221303|20261115X").order_ref == "GP|FD|236221303|20261115X"


def test_texts_that_are_not_free_are_left_as_they_are() -> None:
    assert read(reference=PAN).reference == PAN


def test_fields_without_objects_are_not_searched() -> None:
    plan = mask_plan(Outer)
    assert [name for name, _ in plan.texts] == ["order_ref", "narration"]
    assert plan.inner == ("one", "several")


ACTIONS = [action for method in list_methods("test") for action in method.actions]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.name} {action.variant or ''}")
def test_the_fast_check_of_rules_agrees_with_the_full_one(action: Action) -> None:
    """Checks the example of each action, and the example without each of its fields."""
    example = dict(action.example or {})
    for dropped in (None, *example):
        body = msgspec.json.encode({name: value for name, value in example.items() if name != dropped})
        try:
            request = msgspec.json.decode(body, type=action.request, dec_hook=read_scalar)
        except (msgspec.ValidationError, NotImplementedError):
            continue
        values = {name: getattr(request, name) for name in action.request.__struct_fields__}
        named = list(run_field_rules(action.rules, MERCHANT, action.request, values))
        assert is_any_broken(action.rules, MERCHANT, request) is bool(named)
