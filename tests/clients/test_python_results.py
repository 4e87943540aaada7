"""Results of the Python client as values: frozen, comparable, copied and pickled; and replies of other versions."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from kasuwa_client import Result, types
from kasuwa_client._flow import DECODER
from kasuwa_client._notation import encode_fields
from kasuwa_client._tables import TYPES

REPLY: dict[str, Any] = {
    "status": 200,
    "txnStatus": "successful",
    "txnRef": "GP|FD|1",
    "orderRef": "order-1",
    "amount": "1500.00",
    "message": "Transfer Successful",
}


def decode(name: str, body: Any) -> Any:
    return DECODER.decode(name, body)


def test_a_result_is_frozen_and_compares_by_its_fields() -> None:
    state: types.TransferState = decode("TransferState", REPLY)
    assert state == decode("TransferState", dict(REPLY))
    assert state != decode("TransferState", {**REPLY, "amount": "1500.01"})
    assert len({state, decode("TransferState", REPLY)}) == 1
    with pytest.raises(FrozenInstanceError):
        state.amount = Decimal(0)  # type: ignore[misc]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_result_can_be_copied_and_pickled(copied: Any) -> None:
    state = decode("TransferState", {**REPLY, "novelty": 1})
    assert copied(state) == state
    assert copied(state).extra == {"novelty": 1}


def test_fields_that_are_unknown_or_missing_are_no_error() -> None:
    state: types.TransferState = decode("TransferState", {**REPLY, "novelty": [1], "data": None})
    assert state.extra == {"novelty": [1]}
    assert state.raw["novelty"] == [1]
    assert (state.fee, state.data) == (None, None)
    assert decode("TransferState", {}).txn_status is None


def test_a_field_can_be_read_by_its_name_on_the_wire() -> None:
    state = decode("TransferState", {**REPLY, "novelty": 1})
    assert (state.txnStatus, state.orderRef, state.novelty) == ("successful", "order-1", 1)
    with pytest.raises(AttributeError, match="TransferState has no field 'txnref'"):
        _ = state.txnref
    assert not hasattr(state, "__wrapped__")


@pytest.mark.parametrize("amount", ["many", [], True, {"value": 1}])
def test_a_value_of_another_form_is_kept_as_it_came(amount: Any) -> None:
    assert decode("TransferState", {**REPLY, "amount": amount}).amount == amount
    assert decode("TransferState", {**REPLY, "data": "later"}).data == "later"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-05T08:30:00.000Z", datetime(2026, 1, 5, 8, 30, tzinfo=UTC)),
        ("2026-01-05T09:30:00.000+01:00", datetime(2026, 1, 5, 8, 30, tzinfo=UTC)),
        ("2026-01-05T09:30:00", "2026-01-05T09:30:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_times_are_aware_or_stay_texts(text: str, expected: Any) -> None:
    assert decode("ClockReply", {"status": 200, "now": text}).now == expected


def test_every_result_type_decodes_an_empty_and_a_strange_object() -> None:
    kinds = [name for name, kind in vars(types).items() if isinstance(kind, type) and issubclass(kind, Result)]
    assert len(kinds) > 50
    for name in set(kinds) - {"Result"}:
        strange = dict.fromkeys((wire_name for wire_name, _ in TYPES[name].values()), object())
        for body in ({}, strange):
            assert decode(name, body).raw == body


# --- requests ---------------------------------------------------------------------------------------------------


FIELDS = {
    "at": ("at", "time"),
    "day": ("day", "date"),
    "count": ("count", "integer"),
    "postcode": ("postcode", "text|integer"),
    "address": ("address", "ClientAddress+"),
    "bank_account": ("bankAccount", "ClientBankAccount+"),
    "settings": ("interestSettings", "InterestSettings"),
    "schedule": ("schedule", "{decimal}"),
    "meta": ("meta", "document"),
    "flag": ("flag", "boolean"),
}


def encode(**values: Any) -> dict[str, Any]:
    return encode_fields(FIELDS, values, TYPES)


def test_values_are_encoded_by_their_type() -> None:
    lagos = timezone(timedelta(hours=1))
    assert encode(at=datetime(2026, 1, 5, 9, 30, tzinfo=lagos)) == {"at": "2026-01-05T09:30:00+01:00"}
    assert encode(day=date(2026, 1, 5), at="2026-01-05", flag=False, count=0) == {
        "day": "2026-01-05",
        "at": "2026-01-05",
        "flag": False,
        "count": 0,
    }
    assert encode(postcode=101241) == {"postcode": 101241}
    assert encode(schedule={"30-11-2030": Decimal("50.5")}) == {"schedule": {"30-11-2030": "50.5"}}
    assert encode(meta={"any": [1.5]}, flag=None) == {"meta": {"any": [1.5]}}


def test_fields_of_objects_are_accepted_by_both_names() -> None:
    wire = {"interestSettings": {"interestRate": "24", "interestFrequency": "annualized"}}
    assert encode(settings={"interest_rate": 24, "interest_frequency": "annualized"}) == wire
    assert encode(settings={"interestRate": "24", "interestFrequency": "annualized"}) == wire
    assert encode(address={"line1": "1 Road", "landmark": "the mast"}) == {
        "address": {"line1": "1 Road", "landmark": "the mast"}
    }


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"at": datetime(2026, 1, 5)}, "at: must have a time zone"),  # noqa: DTZ001
        ({"at": 5}, "at: must be a datetime"),
        ({"day": datetime(2026, 1, 5, tzinfo=UTC)}, "day: must be a date"),
        ({"count": True}, "count: must be a whole number, not bool"),
        ({"count": "3"}, "count: must be a whole number, not str"),
        ({"postcode": 1.5}, "postcode: must be one of text, integer, not float"),
        ({"settings": []}, "settings: must be a dict, not list"),
        ({"settings": {"rate": 1}}, "settings.rate: there is no such field"),
        ({"schedule": {"30-11-2030": 0.5}}, "schedule.30-11-2030: must not be a float"),
        ({"address": {"line1": 1}}, "address.line1: must be a text, not int"),
        ({"flag": "yes"}, "flag: must be True or False, not str"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused_with_its_name(values: dict[str, Any], fault: str) -> None:
    with pytest.raises(TypeError) as raised:
        encode(**values)
    assert str(raised.value).startswith(fault)
