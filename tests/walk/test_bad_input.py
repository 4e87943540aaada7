"""Every field of every action with hostile values: the reply has the form of the contract, and no money moves.

The values are JSON text, because some have no Python object (1e400, half a surrogate pair). The service must not log an
error either; the `deployment` fixture checks that.
"""

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from kasuwa.core.action import Write, get_selecting_field
from tests.merchant_client import MerchantClient, RawReply
from tests.walk.rows import (
    ACTION_ROWS,
    NOW,
    ActionRow,
    Field,
    check_reply,
    fields_of,
    is_refusal,
    prepare_example,
    send_examples,
    with_fresh_references,
    with_value,
)

HOSTILE = (
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "1.5",
    "-0.0",
    "1e400",
    "1E-400",
    "9223372036854775808",
    "1" * 4000,
    "[]",
    "{}",
    "[null]",
    "[[[]]]",
    '{"a":1}',
    '{"$ne":null}',
    "[0,1,2]",
    '{"0":{"__proto__":1}}',
    '""',
    '" "',
    '"0"',
    '"-1"',
    '"1e5"',
    '"NaN"',
    '"null"',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00x"',
    '"\\ud83d\\ude00"',
    '"\\u202e\\u200b"',
    '"\\n\\r\\t\\b"',
    '"٣٤٥"',
    '"2026-13-45"',
    '"0000000000"',
    '"\'; drop table transaction; --"',
    '"%s%n{0}${jndi:ldap://x}"',
    '"<script>alert(1)</script>"',
    '"../../etc/passwd"',
    '"GP|FD|123456789|20260105A"',
    '"GP"',
    '"|"',
    *('"' + "x" * size + '"' for size in (101, 255, 100_000)),
)

# Each field gets every tenth value, and the next field the next tenth: together the fields of a slice get all, often.
# With KASUWA_LONG=1 each field gets all.
SHARE = 1 if os.environ.get("KASUWA_LONG") == "1" else 10

# Words that would reveal internals in a reply: the language, the database, source files.
INSIDES = re.compile(
    rb'Traceback|File "|\.py\b|asyncpg|msgspec|psycopg|violates|syntax error|relation "|SQLSTATE|/src/'
)

MARK = "\N{BLACK STAR} the place of the value \N{BLACK STAR}"

# Without a field that selects the row, another row answers.
REQUIRED = {
    row.title: [field for field in fields_of(row) if field.required and field.title != get_selecting_field(row.action)]
    for row in ACTION_ROWS
}


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    """A merchant with a fixed clock: what one request left open does not end while another is tested."""
    return open_shop(now=NOW)


# Any preference that cannot be met is ignored. (Contract: resources#personalized-accounts)
NEVER_REFUSED = {("resources", "bank")}


def title(value: Any) -> str:
    return str(value.title)


def send_with(shop: MerchantClient, row: ActionRow, example: dict[str, Any], field: Field, text: str) -> RawReply:
    fields = with_value(with_fresh_references(row, example), field.path, MARK)
    return shop.send(row.method, msgspec.json.encode(fields).replace(msgspec.json.encode(MARK), text.encode()))


def chooses_row(row: ActionRow, field: Field) -> bool:
    """Returns whether another value of the field selects another row of the table, with another reply."""
    variant = row.action.variant
    return field.path in ((variant[0] if variant is not None else "",), (get_selecting_field(row.action),))


def available(shop: MerchantClient) -> dict[str, int]:
    """Returns the available balance. It changes when a request is accepted, not when its outcome is known."""
    return {currency: wallet.available for currency, wallet in shop.wallets().items()}


@pytest.mark.chaos
@pytest.mark.parametrize("row", ACTION_ROWS, ids=title)
def test_whatever_a_field_holds_the_answer_is_of_the_contract(shop: MerchantClient, row: ActionRow) -> None:
    """If every hostile value of a field is refused, the balance is unchanged. After one that was accepted, the balance
    is read again."""
    example = prepare_example(shop, row)
    if not isinstance(row.action, Write):
        assert not is_refusal(shop.send_fields(row.method, example).body), "what a look-up names is there"
    had = available(shop)
    for n, field in enumerate(fields_of(row)):
        taken = False
        for text in HOSTILE[n % SHARE :: SHARE]:
            received = send_with(shop, row, example, field, text)
            if not chooses_row(row, field):
                check_reply(row, received, text)
            assert not INSIDES.search(received.raw), (field.title, text)
            taken = taken or not is_refusal(received.body)
        has = available(shop)
        assert taken or has == had, field.title
        had = has


@pytest.mark.parametrize("row", [row for row in ACTION_ROWS if REQUIRED[row.title]], ids=title)
def test_a_required_field_that_is_missing_is_named(shop: MerchantClient, row: ActionRow) -> None:
    had = shop.wallets()
    for field in REQUIRED[row.title]:
        fields = row.example
        del fields[str(field.path[0])]
        for value in (fields, {**fields, str(field.path[0]): None}):
            received = shop.send_fields(row.method, value)
            assert (received.http, received.body["status"]) == (200, 104), field.title
            assert {"field": field.title, "reason": "required", "code": "field_required"} in received.body["errors"]
    assert shop.wallets() == had


@pytest.mark.parametrize("row", ACTION_ROWS, ids=title)
def test_every_field_wrong_at_once_is_every_field_named(shop: MerchantClient, row: ActionRow) -> None:
    known = [str(field.path[0]) for field in fields_of(row) if len(field.path) == 1]
    typed = [name for name in known if name in row.action.request.__struct_encode_fields__]
    typed = [name for name in typed if (row.method, name) not in NEVER_REFUSED]
    fields = {**row.example, **dict.fromkeys(typed, -1.5)}
    received = shop.send_fields(row.method, fields)
    if typed:
        assert received.body["status"] == 104
        assert {fault["field"].partition(".")[0] for fault in received.body["errors"]} == set(typed)
    else:
        check_reply(row, received)


def add_strange_fields(row: ActionRow, fields: dict[str, Any]) -> None:
    strange = {"__class__": "x", "merchant_id": 1, "status": "successful", "": None, "\N{GRINNING FACE}": [{}]}
    known = {*row.action.request.__struct_encode_fields__, *fields}
    fields.update({name: value for name, value in strange.items() if name not in known})


def test_fields_nobody_asked_for_are_ignored(shop: MerchantClient) -> None:
    for sent in send_examples(shop, before_each=add_strange_fields):
        if sent.fields:
            check_reply(sent.row, sent.received)
        assert not is_refusal(sent.received.body), (sent.row.title, sent.received.body)


def forms_of(kind: inspect.Type) -> Iterator[str]:
    """Returns the patterns of every text in a request's type."""
    if isinstance(kind, inspect.StrType) and kind.pattern is not None:
        yield kind.pattern
    inner = [field.type for field in kind.fields] if isinstance(kind, inspect.StructType) else []
    inner += [getattr(kind, name) for name in ("type", "item_type", "value_type") if hasattr(kind, name)]
    for option in (*inner, *getattr(kind, "types", ())):
        yield from forms_of(option)


def test_no_form_lets_a_newline_follow() -> None:
    """Patterns must not end with `$`, which also matches before a final newline: a reference stored with one might not
    be found later."""
    forms = {form for row in ACTION_ROWS for form in forms_of(inspect.type_info(row.action.request))}
    assert len(forms) > 10
    assert [form for form in forms if form.endswith("$")] == []
