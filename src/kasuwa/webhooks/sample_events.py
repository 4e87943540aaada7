"""Sample events of every kind, which a merchant sends to its own endpoint from the console. There is no transaction."""

from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from kasuwa.transactions.event_fields import EventPayload
from kasuwa.transactions.event_payloads import EVENT_KINDS, TEST_EVENT, build_test_event

TEST_REFERENCE = "TEST"
# Values of fields by name, where the type does not tell one.
SAMPLE_VALUES: dict[str, Any] = {
    "status": 200,
    "txn_status": "successful",
    "txn_ref": TEST_REFERENCE,
    "charged_amount": "1500.00",
    "currency": "NGN",
    "payment_method": "test",
    "amount": "1500.00",
    "commission": "15.00",
    "fee": "0.00",
    "vat": "0.00",
    "total": "1500.00",
    "outstanding": "0.00",
    "expected_amount": "1500.00",
    "respond_by": "2030-01-31T12:00:00Z",
    "step": "opened",
    "reason": "A sample reason",
    "reasons": ["A sample reason"],
    "requested_by": "A sample key",
    "account": "0000000000",
    "account_details": "Ada Obi",
    "bankname": "A sample bank",
    "number": "INV-000001",
    "source": "checkout",
    "term": 1,
    "cycle": 1,
    "cycles": 12,
    "owed": "0.00",
    "repaid": "0.00",
    "interest": "1500.00",
    "tax": "150.00",
    "balance": "101350.00",
    "rate": "10",
    "record_date": "2030-01-31",
    "members": 2,
    "gross": "1500.00",
    "withheld_tax": "150.00",
    "returned": "0.00",
    "shares": 5,
}

SAMPLE_KINDS = (TEST_EVENT, *EVENT_KINDS)


def build_sample_event(environment: str, kind: str) -> EventPayload:
    """Returns a sample event of a kind. All its references are TEST."""
    if kind == TEST_EVENT:
        return build_test_event(environment)
    payload = EVENT_KINDS[kind].payload
    hints = get_type_hints(payload)
    required = [field.name for field in msgspec.structs.fields(payload) if field.required]
    values = {name: sample_value(name, hints[name]) for name in required}
    return payload(**{**values, "kind": kind, "endpoint": environment})


def sample_value(name: str, hint: Any) -> Any:
    """Returns the value of a required field: by its name, else the first that its type allows."""
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        return SAMPLE_VALUES[name] if SAMPLE_VALUES.get(name) in choices else choices[0]
    return SAMPLE_VALUES.get(name, TEST_REFERENCE)
