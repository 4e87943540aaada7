"""Every field that the contract documents is read by its action, and texts that are only stored can be found again."""

from collections.abc import Callable

import pytest

from tests.merchant_client import MerchantClient, new_reference
from tests.running import Deployment
from tests.sealed_rows import open_everything
from tests.walk.contract_fields import CONTRACT_FIELDS, FREE_TEXT_FIELDS
from tests.walk.rows import ACTION_ROWS, NOW, ActionRow, fields_of, prepare_example, with_value
from tests.walk.test_tenancy import TABLES

BY_TITLE = {row.title: row for row in ACTION_ROWS}


def test_every_row_of_the_contract_is_in_the_tables() -> None:
    assert set(CONTRACT_FIELDS) <= set(BY_TITLE)
    assert set(FREE_TEXT_FIELDS) <= set(CONTRACT_FIELDS)


@pytest.mark.parametrize("title", CONTRACT_FIELDS)
def test_every_documented_field_is_read(title: str) -> None:
    """A field of the request's type is read, or refused by name: test_bad_input.py sends each."""
    known = {field.title for field in fields_of(BY_TITLE[title])}
    missing = tuple(name for name in CONTRACT_FIELDS[title] if name not in known)
    assert missing == ()


def rows_text(deployment: Deployment, shop: MerchantClient) -> str:
    """Returns all rows of a merchant as text, with what is encrypted in them."""
    found = [plain.decode(errors="replace") for plain in open_everything(deployment, shop.mid).values()]
    for (table,) in deployment.fetch(TABLES):
        query = f"select t::text from {table} t where merchant_id in (select merchant_id from merchant where mid = $1)"
        found += [row[0] for row in deployment.fetch(query, shop.mid)]
    return "\n".join(found)


def marked_value(name: str) -> str:
    mark = new_reference("kept")
    return f"{mark}@example.com" if name.endswith("email") else mark


@pytest.mark.parametrize("title", FREE_TEXT_FIELDS)
def test_documented_texts_are_kept(
    open_shop: Callable[..., MerchantClient], deployment: Deployment, title: str
) -> None:
    row: ActionRow = BY_TITLE[title]
    shop = open_shop(now=NOW)
    fields, marks = prepare_example(shop, row), {}
    for name in FREE_TEXT_FIELDS[title]:
        marks[name] = marked_value(name)
        fields = with_value(fields, tuple(name.split(".")), marks[name])
    received = shop.send_fields(row.method, fields)
    assert received.body["status"] in (200, 202), received.body
    text = rows_text(deployment, shop)
    dropped = tuple(name for name, mark in marks.items() if mark not in text and mark.encode().hex() not in text)
    assert dropped == ()
