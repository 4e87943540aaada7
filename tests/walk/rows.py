"""The rows of the action tables, for the tests that walk over all of them. A new row is included at once.

The tests start from the row's own example request. `send_examples` sends the examples of all rows to one merchant in
the order of the tables, so that an example can name what an earlier one made. A placeholder in an example
(`"<client_id>"`, `"GP…"`) stands for the value of that name in the newest reply that has it.
"""

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from kasuwa.core.action import Action, Write, make_action_title
from kasuwa.core.codes import (
    AUTHENTICATION_FAILED,
    ERROR,
    INSUFFICIENT_FUNDS,
    INVALID_JSON,
    INVALID_METHOD,
    INVALID_REQUEST,
    NOT_VALIDATED,
)
from kasuwa.methods.tables import list_methods
from tests.merchant_client import MerchantClient, RawReply, new_reference, reference_numbers
from tests.payer_pages import pay_on_page

REFUSALS = frozenset(
    {AUTHENTICATION_FAILED, ERROR, INVALID_JSON, INVALID_METHOD, INVALID_REQUEST, INSUFFICIENT_FUNDS, NOT_VALIDATED}
)

# A business day that no other merchant of the tests has. References contain the date, so they differ from all others.
NOW = "2026-01-05T09:30:00+01:00"

Path = tuple[str | int, ...]


class ActionRow(NamedTuple):
    method: str
    selector: str
    action: Action

    @property
    def title(self) -> str:
        return f"{self.method}-{make_action_title(self.action).replace(' ', '-')}"

    @property
    def example(self) -> dict[str, Any]:
        return copy.deepcopy(dict(self.action.example))


ACTION_ROWS = tuple(
    ActionRow(method.name, action.selector or method.selectors[0], action)
    for method in list_methods("test")
    for action in method.actions
)


# Rows that reset a merchant's books: its references and its clock would be gone.
[RESET] = [row for row in ACTION_ROWS if row.title == "sandbox-reset"]


# --- the fields of a request --------------------------------------------------------------------------------


class Field(NamedTuple):
    path: Path
    required: bool

    @property
    def title(self) -> str:
        return ".".join(str(step) for step in self.path)


def fields_of(row: ActionRow) -> list[Field]:
    """Returns every field of the request's type, nested ones too, and any other field of its example."""
    found = {field.path: field for field in typed_fields(inspect.type_info(row.action.request), ())}
    for path in example_paths(row.action.example, ()):
        found.setdefault(path, Field(path, False))
    return list(found.values())


def typed_fields(kind: inspect.Type, path: Path) -> Iterator[Field]:
    for option in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(option, inspect.Metadata):
            yield from typed_fields(option.type, path)
        if isinstance(option, inspect.StructType):
            for field in option.fields:
                here = (*path, field.encode_name)
                yield Field(here, field.required and not path)
                yield from typed_fields(field.type, here)


def example_paths(given: Any, path: Path) -> Iterator[Path]:
    steps: Any = (
        given.items() if isinstance(given, Mapping) else enumerate(given) if isinstance(given, list | tuple) else ()
    )
    for step, value in steps:
        yield (*path, step)
        yield from example_paths(value, (*path, step))


def with_value(fields: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Returns a copy with another value at one path. Missing objects on the path are made."""
    changed = copy.deepcopy(fields)
    place: Any = changed
    for step in path[:-1]:
        if isinstance(step, str) and not isinstance(place.get(step), dict | list):
            place[step] = {}
        place = place[step]
    place[path[-1]] = value
    return changed


def value_at(fields: Any, path: Path) -> Any:
    for step in path:
        fields = fields[step]
    return fields


# --- sending examples ---------------------------------------------------------------------------------------


class SentExample(NamedTuple):
    row: ActionRow
    fields: dict[str, Any]
    received: RawReply


# No server listens there: events stay scheduled, and can be sent again.
UNREACHABLE_URL = "http://127.0.0.1:9/events"
NEEDS_ENDPOINT = frozenset({"resources-resend"})
# The webhook URL is set only for a moment, so that deliveries of the worker do not change the replies of later rows.
SETS_ENDPOINT = frozenset({"resources-resend", "sandbox-webhook"})

# Rows that decide a transfer which waits for approval.
NEEDS_WAITING = frozenset({"disburse-approve", "disburse-reject"})
POLICY_TRIES = 30

# Nothing is due on the day of creation: the saved card is only confirmed.
LATER_INSTALLMENTS = {"payment_schedule": {"30-11-2030": "1000.00", "31-12-2030": "500.00"}, "total": "1500.00"}

# Rows that use up an object, or need one that no earlier row has used: it is made by the example of another row.
EXTRA_EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "sandbox-pay_account": ("payment-charge-bank_transfer", {}),
    "sandbox-card_purchase": ("virtualcard-create", {}),
    "sandbox-card_reverse": ("sandbox-card_authorize", {"amount": "1.00"}),
    "sandbox-redeem_cashcode": ("cashcode-generate", {"orderRef": "cash-1043"}),
    "investments-set_rollover": ("investments-create_savings", {"period": None, "term_days": 90}),
    # Into the fixed deposit that was made for the row before.
    "investments-certificate": (
        "investments-deposit",
        {"payment_method": "wallet", "card": None, "ip": None, "fingerprint": None},
    ),
    "sandbox-compare_worlds": ("sandbox-snapshot", {"name": "after the refund"}),
    "payment-disputes": ("sandbox-dispute", {}),
    "payment-dispute_respond": ("sandbox-dispute", {"amount": "100.00"}),
    "sandbox-dispute": ("payment-charge-token", {}),
    "resources-installments": ("payment-charge-token", {"amount": None, "installment": LATER_INSTALLMENTS}),
}


# An example names objects of its own path or of these. Look-ups and the sandbox may name any.
BUILDS_ON = {"loans": {"clients", "payment"}, "investments": {"clients", "payment"}}
NAME_ANYTHING = frozenset({"resources", "sandbox"})


# Fields in which an example gives what it makes a reference of the merchant's own; others name it by that.
GIVEN_REFERENCES = frozenset({"orderRef", "customer_txnref", "reference"})


def names_nothing(row: ActionRow) -> bool:
    """Returns whether the example of a row needs nothing that the examples of other rows make."""
    given = {
        value_at(other.action.example, path)
        for other in ACTION_ROWS
        if other != row
        for path in example_paths(other.action.example, ())
        if path[-1] in GIVEN_REFERENCES
    }
    values = [(path[-1], value_at(row.action.example, path)) for path in example_paths(row.action.example, ())]
    return row.title not in {*EXTRA_EXAMPLES, *NEEDS_ENDPOINT} and not any(
        is_placeholder(name, value) or (isinstance(value, str) and value in given) for name, value in values
    )


def is_prerequisite(row: ActionRow, wanted: ActionRow) -> bool:
    if wanted.method in NAME_ANYTHING:
        return True
    return row == wanted or row.method == wanted.method or row.method in BUILDS_ON.get(wanted.method, ())


def send_examples(
    shop: MerchantClient,
    until: ActionRow | None = None,
    before_each: Callable[[ActionRow, dict[str, Any]], None] = lambda row, fields: None,
    without: frozenset[str] = frozenset(),
) -> list[SentExample]:
    """Send the examples in order, all of them or those before one row that it may build on. `before_each` is called
    with each row and the fields that are about to be sent. Rows with the titles `without` are left out."""
    played: list[SentExample] = []
    # Those of waiting transfers come last, because they change balances and the log of events.
    for row in sorted(ACTION_ROWS, key=lambda row: row.title in NEEDS_WAITING):
        if row.title in without or (until is not None and not is_prerequisite(row, until)):
            continue
        if row.title in NEEDS_ENDPOINT:
            shop.put("sandbox", action="webhook", url=UNREACHABLE_URL)
        if row.title in EXTRA_EXAMPLES:
            title, changes = EXTRA_EXAMPLES[row.title]
            made = next(other for other in ACTION_ROWS if other.title == title)
            made_of = resolve_references({**made.example, **changes}, played)
            played.append(SentExample(made, {}, shop.send_fields(made.method, made_of)))
        if row.title in NEEDS_WAITING:
            played.append(SentExample(ACTION_ROWS[0], {}, make_waiting_transfer(shop)))
        if row == until and row.title not in NEEDS_TICKET:
            break
        if row.title in NEEDS_TICKET and (until is None or until.title in SHOWS_TICKET):
            buy_ticket(shop, played)
        if row == until:
            break
        fields = resolve_references(row.example, played)
        before_each(row, fields)
        played.append(SentExample(row, fields, shop.send_fields(row.method, fields)))
        if row.title in SETS_ENDPOINT:
            wait_until_tried(shop)
            shop.put("sandbox", action="webhook", url="")
    return played


def make_waiting_transfer(shop: MerchantClient) -> RawReply:
    """Makes a transfer with another key, which waits for approval."""
    shop.put("sandbox", action="payout_policy", approve_above="0.00")
    made = shop.put("sandbox", action="new_key", name="payroll", scopes=["payout"]).body
    payer = MerchantClient(shop.connection, shop.mid, made["key"])
    order = {"action": "transfer", "amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}
    waiting = payer.send_fields("disburse", order)
    # The process that answers may be another than the one that set the policy, and knows it within a second.
    for _ in range(POLICY_TRIES):
        if waiting.body["txnStatus"] == "pending":
            break
        time.sleep(0.1)
        waiting = payer.send_fields("disburse", order)
    shop.put("sandbox", action="payout_policy")
    return waiting


# Rows that show or use a ticket, and the first of them, before which one is bought. A payer buys it, not the merchant.
SHOWS_TICKET = frozenset({"resources-ticket_sales", "resources-ticket_by_code", "resources-ticket_use"})
NEEDS_TICKET = frozenset({"resources-ticket_sales"})


def buy_ticket(shop: MerchantClient, played: list[SentExample]) -> None:
    """Buys one ticket of the newest link that sells tickets, on its page."""
    [link] = [one.received.body["data"]["link"] for one in played if one.row.title == "resources-ticket"]
    pay_on_page(shop, link, {"count_0": "1", "fullname": "Ada Obi", "email": "ada@example.com"})


def prepare_example(shop: MerchantClient, row: ActionRow) -> dict[str, Any]:
    """Returns a row's example with references of its own, after the examples that it builds on were sent."""
    played = [] if names_nothing(row) else send_examples(shop, until=row)
    return with_fresh_references(row, resolve_references(row.example, played))


def wait_until_tried(shop: MerchantClient) -> None:
    """Waits until the worker has recorded an attempt for every event, so that later reads are the same."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        _, log = shop.put("resources", inquire="events")
        if all(line["attempts"] or line["state"] == "no_endpoint" for line in log["data"]):
            return
        time.sleep(0.05)
    raise AssertionError("the events were not tried")


def resolve_references(fields: dict[str, Any], played: list[SentExample]) -> dict[str, Any]:
    for path in list(example_paths(fields, ())):
        if is_placeholder(path[-1], value_at(fields, path)):
            wanted = placeholder_field(value_at(fields, path)) or path[-1]
            made = [value for one in played for name, value in leaves(one.received.body) if name == wanted]
            fields = with_value(fields, path, made[-1]) if made else fields
    return fields


# References of digits, and codes. An example shows some value, and stands for the one that the service assigned.
NUMBERED = frozenset({"accountNumber", "cashcode", "code"})


def is_placeholder(name: str | int, value: Any) -> bool:
    """Returns whether a value of an example is a placeholder for one that the service makes."""
    if not isinstance(name, str) or not isinstance(value, str):
        return False
    return placeholder_field(value) is not None or value.startswith("GP") or name.endswith("_id") or name in NUMBERED


def placeholder_field(value: Any) -> str | None:
    """Returns the field of an earlier reply that a placeholder such as `<cardToken>` names."""
    return value[1:-1] if isinstance(value, str) and value.startswith("<") and value.endswith(">") else None


# Besides orderRef: fields in which a merchant names an object that it creates.
REFERENCE_FIELDS = {"resources-personalized-accounts": "reference", "resources-personalized_account": "reference"}


# Email addresses that name an object.
ADDRESS_FIELDS = frozenset({("resources-customer", "email")})


def with_fresh_references(row: ActionRow, fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the request with new references, if it creates something under them. A bill also gets a new customer,
    because paying the same one twice would be refused as a likely duplicate."""
    if isinstance(row.action, Write) and row.action.accepts_idempotency_key:
        for path in list(example_paths(fields, ())):
            if path[-1] in ("orderRef", REFERENCE_FIELDS.get(row.title)):
                fields = with_value(fields, path, new_reference("walk"))
            if (row.title, path[-1]) in ADDRESS_FIELDS:
                fields = with_value(fields, path, f"{new_reference('walk')}@example.com")
        if "paycode" in fields:
            fields = with_value(fields, ("reference",), str(45_000_000_000 + next(reference_numbers)))
    return fields


def leaves(given: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every single value of a reply with the name of its field."""
    if isinstance(given, dict):
        for key, value in given.items():
            yield from leaves(value, key)
    elif isinstance(given, list):
        for value in given:
            yield from leaves(value, name)
    else:
        yield name, given


# --- judging replies ----------------------------------------------------------------------------------------


def is_refusal(body: Any) -> bool:
    return isinstance(body, dict) and body.get("status") in REFUSALS and isinstance(body.get("status"), int)


REFUSAL_FIELDS = ("status", "message", "code", "doc_url")


def check_reply(row: ActionRow, received: RawReply, text: str = "") -> None:
    """Asserts that a reply is a refusal in the form of the contract, or exactly of the action's reply type."""
    body = received.body
    assert received.http < 500, (text[:100], body)
    if is_refusal(body):
        assert set(REFUSAL_FIELDS) <= set(body) <= {*REFUSAL_FIELDS, "errors"}, body
        assert isinstance(body["message"], str), body
        for fault in body.get("errors", ()):
            assert {"field", "reason", "code"} <= set(fault) <= {"field", "reason", "code", "value"}, body
        return
    read = msgspec.json.decode(received.raw, type=row.action.reply)
    assert msgspec.to_builtins(read) == body, body
