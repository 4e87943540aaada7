"""Every field of every request, reply and event has a description: its meaning, and the form of its values."""

from typing import Any

import pytest

from kasuwa.wire.fields import AMOUNT_REASON
from tests.walk.openapi_documents import action_operation, actions_document, json_of, paths_document, properties_of
from tests.walk.rows import ACTION_ROWS, ActionRow

ACTIONS: Any = actions_document()
BOTH = {"paths": paths_document(), "actions": ACTIONS}


def undescribed(schema: Any) -> list[str]:
    return [path for path, found in properties_of(ACTIONS, schema) if not found.get("description", "").strip()]


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_every_field_of_a_request_has_a_description(row: ActionRow) -> None:
    assert undescribed(json_of(action_operation(ACTIONS, row)["requestBody"])["schema"]) == []


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_every_field_of_a_reply_has_a_description(row: ActionRow) -> None:
    assert undescribed(json_of(action_operation(ACTIONS, row)["responses"]["200"])["schema"]) == []


@pytest.mark.parametrize("kind", ACTIONS["webhooks"])
def test_every_field_of_an_event_has_a_description(kind: str) -> None:
    assert undescribed(json_of(ACTIONS["webhooks"][kind]["post"]["requestBody"])["schema"]) == []


def test_every_property_of_every_component_has_a_description() -> None:
    for document in BOTH.values():
        missing = [
            f"{name}.{path}"
            for name, schema in document["components"]["schemas"].items()
            for path, found in schema.get("properties", {}).items()
            if not found.get("description", "").strip()
        ]
        assert missing == []


def test_a_description_is_the_meaning_and_then_the_form() -> None:
    fields = ACTIONS["components"]["schemas"]["DisburseTransferRequest"]["properties"]
    assert fields["accountnumber"]["description"].endswith(" Ten digits.")
    assert fields["amount"]["description"].endswith(f"{AMOUNT_REASON[:1].upper()}{AMOUNT_REASON[1:]}.")
    assert fields["dry_run"]["description"].count(".") >= 1
