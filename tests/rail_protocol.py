"""docs/rail-protocol.openapi.json, written from the types of the rail protocol by `python -m tests.rail_protocol`."""

import json
from typing import Any

import msgspec

from kasuwa.api.openapi.field_docs import describe_fields
from kasuwa.rails.remote import messages
from kasuwa.rails.remote.callbacks import PATH
from kasuwa.rails.remote.cards import PATH as CARDS_PATH
from kasuwa.rails.remote.paths import PATHS, RailPath
from kasuwa.rails.remote.signing import HEADER
from tests.source_rules import REPOSITORY

FILE = REPOSITORY / "docs" / "rail-protocol.openapi.json"
REFERENCE = "#/components/schemas/{name}"
SIGNATURE = {
    "name": HEADER,
    "in": "header",
    "required": True,
    "schema": {"type": "string", "pattern": "^t=[0-9]{1,12},k=[A-Za-z0-9._-]{1,64},v1=[0-9a-f]{64}$"},
}
REFUSALS = {
    "400": "invalid_request: the request cannot be read or is not valid. Nothing was done.",
    "401": "unauthorized: the signature is missing, wrong or too old. Nothing was done.",
    "404": "no_such_path: this is not served. Nothing was done.",
}
REFUSALS_OF_ORDERS = {
    "402": "insufficient_balance: our balance does not cover the order. Nothing was done.",
    "409": "key_reused: the key belongs to another order, which stays as it is.",
}
REFUSALS_OF_LOOKUPS = {"422": "declined: the look-up is refused. The merchant sees the message."}


def content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def operation_of(found: RailPath, schema_of: dict[type[Any], dict[str, Any]]) -> dict[str, Any]:
    refusals = REFUSALS | (REFUSALS_OF_ORDERS if found.is_order else REFUSALS_OF_LOOKUPS)
    signed = {HEADER: {"schema": SIGNATURE["schema"]}}
    answers = {
        "200": {"description": "The answer.", "headers": signed, "content": content(schema_of[found.answer])},
        **{
            status: {"description": text, "content": content(schema_of[messages.Refusal])}
            for status, text in sorted(refusals.items())
        },
    }
    return {
        "operationId": found.path.strip("/").replace("/", "_"),
        "summary": found.summary,
        "parameters": [SIGNATURE],
        "requestBody": {"required": True, "content": content(schema_of[found.request])},
        "responses": answers,
    }


def describe(schemas: dict[str, Any]) -> None:
    """Adds the descriptions of the fields, which the types have beside them."""
    for name, schema in schemas.items():
        for field, text in describe_fields(getattr(messages, name)).items():
            schema["properties"][field]["description"] = text


def write_document() -> str:
    types: list[type[Any]] = [
        messages.Refusal,
        messages.Callback,
        messages.CardMessage,
        messages.CardDecision,
        *(one for path in PATHS for one in (path.request, path.answer)),
    ]
    unique = list(dict.fromkeys(types))
    found, schemas = msgspec.json.schema_components(unique, ref_template=REFERENCE)
    describe(schemas)
    schema_of = dict(zip(unique, found, strict=True))
    callback = {
        "post": {
            "summary": "Tell us to ask. We answer 200; repeat it until then.",
            "parameters": [SIGNATURE],
            "requestBody": {"required": True, "content": content(schema_of[messages.Callback])},
            "responses": {"200": {"description": "Received."}, "401": {"description": "The signature is wrong."}},
        }
    }
    card = {
        "post": {
            "summary": "Announces what the card network asks of a card. We answer the decision.",
            "parameters": [SIGNATURE],
            "requestBody": {"required": True, "content": content(schema_of[messages.CardMessage])},
            "responses": {
                "200": {
                    "description": "The decision.",
                    "headers": {HEADER: {"schema": SIGNATURE["schema"]}},
                    "content": content(schema_of[messages.CardDecision]),
                },
                "400": {
                    "description": "The message has another form. Nothing was done.",
                    "content": content(schema_of[messages.Refusal]),
                },
                "401": {"description": "The signature is wrong. Nothing was done."},
                "503": {"description": "There is no decision: send it again."},
            },
        }
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Kasuwa rail protocol", "version": "1", "description": "See rail-protocol.md."},
        "servers": [{"url": "https://rail.example/v1"}],
        "paths": {found.path: {"post": operation_of(found, schema_of)} for found in PATHS},
        "webhooks": {PATH: callback, CARDS_PATH: card},
        "components": {"schemas": schemas},
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(write_document())
    print(f"written to {FILE}")
