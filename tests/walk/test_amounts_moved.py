"""Step-up authentication measures what was decoded of a request, for every action that needs the permission to pay.

Whatever else a body says, such as fields that another action has, changes nothing about what the action does, and so
nothing about the authentication that it needs.
"""

from typing import Any

import msgspec
import pytest

from kasuwa.api.dispatch import Dispatch
from kasuwa.api.routes import make_routes
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.core.action import PAY, Write, moves_at_least, permission_needed
from kasuwa.methods.tables import list_methods
from kasuwa.wire.decoding import InvalidRequest
from tests.rule_context import merchant
from tests.walk.rows import ActionRow

MERCHANT = merchant()
ROUTES = make_routes((*list_methods("test"), CONSOLE))
THRESHOLD = 100_000_000
LARGE = "1000000.00"
SMALL = "1500.00"
PAYING = [
    ActionRow(method.name, action.selector or method.selectors[0], action)
    for method in (*list_methods("test"), CONSOLE)
    for action in method.actions
    if action.permission == PAY
]
# The actions whose requests say in naira what they move. All others count as large, whatever they say: an approval and
# a loan name no amount, a refund and a card are in a currency that the request does not name.
MEASURED = {
    "bills-pay",
    "cashcode-generate",
    "disburse-transfer",
    "disburse-transfer-bulk",
    "investments-cashout",
    "investments-cashout-cashcode",
}
ORDER = {"amount": "1.00", "bankcode": "058", "accountnumber": "0000000000"}
# Fields that some other action has, and forms in which somebody might hide an amount.
EXTRAS: list[dict[str, Any]] = [
    {"data": []},
    {"data": [ORDER]},
    {"data": {"amount": "1.00"}},
    {"data": None},
    {"orders": [ORDER]},
    {"Amount": "1.00", "amount ": "1.00", "AMOUNT": 1},
    {"total": "1.00", "sum": 1},
    {"order": {"amount": "1.00"}},
    {"amount_moved": 1, "unknown": [[[{"amount": "1.00"}]]]},
]


def read(row: ActionRow, body: bytes) -> Any:
    """Returns the request as the API decodes it, which must be of the row's action."""
    parsed = Dispatch.parse_request(ROUTES["/" + row.method], body, MERCHANT)
    assert isinstance(parsed, tuple), parsed
    assert parsed[0] is row.action
    return parsed[1]


def is_large(row: ActionRow, body: bytes) -> bool:
    return moves_at_least(row.action, read(row, body), MERCHANT, THRESHOLD)


def with_amount(row: ActionRow, amount: str) -> dict[str, Any]:
    """Returns the row's example with an amount, where it has one."""
    fields = row.example
    if isinstance(fields.get("data"), list):
        fields["data"] = [{**order, "amount": amount} for order in fields["data"]]
    elif "amount" in fields:
        fields["amount"] = amount
    return fields


def test_exactly_these_actions_are_measured() -> None:
    measured = {row.title for row in PAYING if isinstance(row.action, Write) and row.action.amount_moved is not None}
    assert measured == MEASURED


@pytest.mark.parametrize("row", PAYING, ids=lambda row: row.title)
def test_the_amount_of_a_request_is_that_of_its_decoded_fields(row: ActionRow) -> None:
    assert is_large(row, msgspec.json.encode(with_amount(row, LARGE)))
    is_small = not is_large(row, msgspec.json.encode(with_amount(row, SMALL)))
    assert is_small == (row.title in MEASURED)


@pytest.mark.parametrize("row", PAYING, ids=lambda row: row.title)
@pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: "-".join(extra))
@pytest.mark.parametrize("amount", [SMALL, LARGE])
def test_other_fields_of_a_body_do_not_change_what_it_moves(row: ActionRow, extra: dict[str, Any], amount: str) -> None:
    plain = with_amount(row, amount)
    added = {name: value for name, value in extra.items() if name not in row.action.request.__struct_encode_fields__}
    noisy = msgspec.json.encode({**added, **plain, **added})
    assert is_large(row, noisy) == is_large(row, msgspec.json.encode(plain))
    assert permission_needed(row.action, read(row, noisy)) == permission_needed(
        row.action, read(row, msgspec.json.encode(plain))
    )


@pytest.mark.parametrize("row", [row for row in PAYING if "amount" in row.example], ids=lambda row: row.title)
def test_of_an_amount_that_is_named_twice_the_one_that_is_paid_counts(row: ActionRow) -> None:
    fields = msgspec.json.encode({name: value for name, value in row.example.items() if name != "amount"})
    for first, last in ((SMALL, LARGE), (LARGE, SMALL)):
        body = b'{"amount":"%s",%s,"amount":"%s"}' % (first.encode(), fields[1:-1], last.encode())
        request = read(row, body)
        if isinstance(request, InvalidRequest):
            assert is_large(row, body)
        else:
            assert is_large(row, body) == (request.amount >= THRESHOLD or row.title not in MEASURED)


@pytest.mark.parametrize("row", PAYING, ids=lambda row: row.title)
def test_a_request_that_cannot_be_decoded_counts_as_large(row: ActionRow) -> None:
    assert moves_at_least(row.action, InvalidRequest(()), MERCHANT, THRESHOLD)


def test_a_bulk_with_an_order_that_cannot_be_decoded_counts_as_large() -> None:
    row = next(row for row in PAYING if row.title == "disburse-transfer-bulk")
    invalid: list[Any] = [{**ORDER, "amount": "x"}, {}, [], 7, {**ORDER, "data": [], "amount": [1]}]
    for odd in invalid:
        body = {"action": "transfer", "type": "bulk", "data": [ORDER, odd]}
        assert is_large(row, msgspec.json.encode(body)), odd
