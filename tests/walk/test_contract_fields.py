"""Every field that the contract documents is read by its action, and what is only kept can be found again."""

from collections.abc import Callable

import pytest

from tests.running import Deployment
from tests.shop import Shop, fresh
from tests.walk.contract_fields import CONTRACT, TEXTS
from tests.walk.rows import NOW, ROWS, Row, fields_of, ready, with_value
from tests.walk.test_tenancy import TABLES

BY_TITLE = {row.title: row for row in ROWS}


def test_every_row_of_the_contract_is_in_the_tables() -> None:
    assert set(CONTRACT) <= set(BY_TITLE)
    assert set(TEXTS) <= set(CONTRACT)


@pytest.mark.parametrize("title", CONTRACT)
def test_every_documented_field_is_read(title: str) -> None:
    """A field of the request's type is read or refused by name: tests/walk/test_bad_input.py sends each."""
    known = {field.title for field in fields_of(BY_TITLE[title])}
    missing = tuple(name for name in CONTRACT[title] if name not in known)
    assert missing == ()


def rows_text(deployment: Deployment, shop: Shop) -> str:
    """All rows of a merchant as text; those of its clients, which are encrypted, as their list shows them."""
    found = [str(shop.put("clients", action="list").body)]
    for (table,) in deployment.fetch(TABLES):
        query = f"select t::text from {table} t where merchant_id in (select merchant_id from merchant where mid = $1)"
        found += [row[0] for row in deployment.fetch(query, shop.mid)]
    return "\n".join(found)


def marked_value(name: str) -> str:
    mark = fresh("kept")
    return f"{mark}@example.com" if name.endswith("email") else mark


@pytest.mark.parametrize("title", TEXTS)
def test_documented_texts_are_kept(open_shop: Callable[..., Shop], deployment: Deployment, title: str) -> None:
    row: Row = BY_TITLE[title]
    shop = open_shop(now=NOW)
    fields, marks = ready(shop, row), {}
    for name in TEXTS[title]:
        marks[name] = marked_value(name)
        fields = with_value(fields, tuple(name.split(".")), marks[name])
    heard = shop.ask(row.method, fields)
    assert heard.body["status"] in (200, 202), heard.body
    text = rows_text(deployment, shop)
    dropped = tuple(name for name, mark in marks.items() if mark not in text and mark.encode().hex() not in text)
    assert dropped == ()
