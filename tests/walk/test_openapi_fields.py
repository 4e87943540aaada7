"""The OpenAPI documents describe every row of the action tables, so that generators make usable clients."""

import re
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from kasuwa.api.openapi.schemas import pascal_case
from kasuwa.authority.roles import ROLES_BY_PERMISSION
from kasuwa.core.action import AdminCommand, Write, make_action_title
from kasuwa.core.money import AMOUNT_PATTERN
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.methods.tables import list_methods
from kasuwa.transactions.event_payloads import EVENT_KINDS
from kasuwa.wire.decoding import decoder
from tests.walk.openapi_documents import (
    COMPONENT,
    ERROR_BODY,
    action_operation,
    actions_document,
    example_of,
    json_of,
    parts_of,
    path_operation,
    paths_document,
    properties_of,
    resolved,
    schema_within,
)
from tests.walk.rows import ACTION_ROWS, ActionRow

PATHS: Any = paths_document()
ACTIONS: Any = actions_document()
BOTH = {"paths": PATHS, "actions": ACTIONS}
# Placeholders of examples are texts like what they stand for, but that of a file is no base64.
A_FILE = "S0FTVVdB"


# --- what a client can rely on ----------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_every_action_has_an_operation_with_its_request_reply_and_example(row: ActionRow) -> None:
    operation = action_operation(ACTIONS, row)
    content = json_of(operation["requestBody"])
    request = resolved(ACTIONS, content["schema"])
    example = example_of(operation["requestBody"], row)
    assert example == row.example
    jsonschema_rs.validate(schema_within(ACTIONS, request), example)
    assert set(row.action.request.__struct_encode_fields__) <= set(request["properties"])
    request_type: Any = row.action.request
    sent = {name: A_FILE if value == "<file>" else value for name, value in example.items()}
    assert isinstance(decoder(request_type).decode(msgspec.json.encode(sent)), request_type)
    assert operation["summary"] == row.action.summary
    assert {"$ref": ERROR_BODY} in json_of(operation["responses"]["200"])["schema"]["anyOf"]


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_every_request_selects_its_action_by_constants(row: ActionRow) -> None:
    request = resolved(ACTIONS, json_of(action_operation(ACTIONS, row)["requestBody"])["schema"])
    constants = {name: found["const"] for name, found in request["properties"].items() if "const" in found}
    expected = {row.selector: row.action.name} | dict([row.action.variant] if row.action.variant else [])
    assert constants.items() >= expected.items()
    assert set(expected) <= set(request["required"])


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_the_body_of_a_path_takes_the_example_of_each_action(row: ActionRow) -> None:
    operation = path_operation(PATHS, row.method)
    content = json_of(operation["requestBody"])
    assert example_of(operation["requestBody"], row) == row.example
    jsonschema_rs.validate(schema_within(PATHS, content["schema"]), row.example)
    assert row.action.summary in operation["description"]


def test_operations_components_and_titles_have_unique_names() -> None:
    for document in BOTH.values():
        operations = [item[verb]["operationId"] for item in document["paths"].values() for verb in item]
        operations += [item["post"]["operationId"] for item in document["webhooks"].values()]
        assert len(operations) == len(set(operations))
        assert all(name.isidentifier() for name in operations)
        titles = [part["title"] for part in parts_of(document["components"]["schemas"]) if is_titled(part)]
        assert sorted(titles) == sorted(document["components"]["schemas"])


def is_titled(part: dict[str, Any]) -> bool:
    return isinstance(part.get("title"), str)


def test_both_documents_have_the_same_components_for_requests_replies_and_events() -> None:
    paths, actions = PATHS["components"], ACTIONS["components"]
    assert {name: paths["schemas"][name] for name in actions["schemas"]} == actions["schemas"]
    assert {part: paths[part] for part in paths if part != "schemas"} == {
        part: actions[part] for part in actions if part != "schemas"
    }


def test_every_discriminator_names_a_required_constant_of_each_schema() -> None:
    found = [part for part in parts_of(PATHS) if "discriminator" in part]
    selectors = {part["discriminator"]["propertyName"] for part in found}
    assert selectors == {"action", "inquire", "request", "paymentType"}
    for part in found:
        name, mapping = part["discriminator"]["propertyName"], part["discriminator"]["mapping"]
        assert [option["$ref"] for option in part["oneOf"]] == list(mapping.values())
        for value, reference in mapping.items():
            schema = resolved(PATHS, {"$ref": reference})
            assert schema["properties"][name]["const"] == value
            assert name in schema["required"]


def test_every_reference_leads_to_a_component_and_every_component_is_used() -> None:
    for document in BOTH.values():
        wanted = {part["$ref"] for part in parts_of(document) if isinstance(part.get("$ref"), str)}
        wanted |= {target for part in parts_of(document) for target in mapped(part)}
        there = {f"#/components/{kind}/{name}" for kind in REFERENCED for name in document["components"][kind]}
        assert wanted == there


REFERENCED = ("schemas", "parameters", "responses", "headers")


def mapped(part: dict[str, Any]) -> list[str]:
    discriminator = part.get("discriminator")
    return list(discriminator["mapping"].values()) if isinstance(discriminator, dict) else []


def test_fields_that_a_reply_always_has_are_required() -> None:
    schemas = ACTIONS["components"]["schemas"]
    assert set(schemas["DisburseTransferReply"]["required"]) == {"status", "txnStatus", "txnRef", "orderRef", "message"}
    assert "batchRef" not in schemas["DisburseVerifyReply"]["required"]


def test_an_order_of_a_bulk_is_described_as_a_transfer_without_its_selector() -> None:
    schemas = ACTIONS["components"]["schemas"]
    orders = resolved(ACTIONS, schemas["DisburseTransferBulkRequest"]["properties"]["data"]["items"])
    transfer = schemas["DisburseTransferRequest"]["properties"]
    assert orders["properties"] == {name: found for name, found in transfer.items() if name != "action"}


def test_optional_fields_of_a_request_have_no_default_and_no_null() -> None:
    for row in ACTION_ROWS:
        request = json_of(action_operation(ACTIONS, row)["requestBody"])["schema"]
        for path, found in properties_of(ACTIONS, request):
            assert "default" not in found or "const" in found, (row.title, path)
            assert {"type": "null"} not in found.get("anyOf", ()), (row.title, path)


def test_every_amount_of_a_request_is_one_of_two_components_of_text() -> None:
    schemas = ACTIONS["components"]["schemas"]
    assert {schemas[name]["pattern"] for name in ("Amount", "AmountOrZero")} == {f"^({AMOUNT_PATTERN})$"}
    assert {schemas[name]["type"] for name in ("Amount", "AmountOrZero")} == {"string"}
    bounds = [part for part in parts_of(ACTIONS) if part.get("pattern") == f"^({AMOUNT_PATTERN})$"]
    assert len(bounds) == 2
    assert len([part for part in parts_of(ACTIONS) if part.get("$ref") == f"{COMPONENT}Amount"]) > 50


CHANNELS = ("card", "account", "ussd", "phone", "qrpay", "bank_transfer", "mobile_money", "token")


def reply_properties(title: str) -> dict[str, Any]:
    return dict(ACTIONS["components"]["schemas"][title]["properties"])


def test_a_payment_of_each_channel_has_a_reply_of_its_own() -> None:
    shown = {
        "ussd_code": {"ussd"},
        "enrolment": {"phone"},
        "qr_code": {"qrpay"},
        "accountNumber": {"bank_transfer"},
        "apply_auth": {"card"},
        "loan_id": {"card"},
        "cardToken": {"card", "token"},
    }
    replies = {channel: reply_properties(f"PaymentCharge{pascal_case(channel)}Reply") for channel in CHANNELS}
    for field, channels in shown.items():
        assert {channel for channel, reply in replies.items() if field in reply} == channels
    assert "PaymentReply" not in ACTIONS["components"]["schemas"]
    whole = set(PaymentReply.__struct_encode_fields__)
    assert set().union(*replies.values()) == whole
    assert max(len(replies[channel]) for channel in CHANNELS if channel != "card") <= 22


# Methods of pydantic's models. The wire has these names, which generators of pydantic models change.
NAMES_OF_METHODS = {"validate", "fields", "copy", "json", "dict", "schema", "construct", "register"}


def test_no_other_field_is_named_like_a_method_of_pydantic() -> None:
    named = {
        name
        for schema in ACTIONS["components"]["schemas"].values()
        for name in schema.get("properties", {})
        if name in NAMES_OF_METHODS or name.startswith(("model_", "_"))
    }
    assert named == {"validate", "fields"}


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_every_action_says_who_may_request_it_and_how_repeats_are_recognized(row: ActionRow) -> None:
    operation, action = action_operation(ACTIONS, row), row.action
    assert set(operation["x-roles"]) == ROLES_BY_PERMISSION[action.permission]
    repeats = operation["x-idempotency"]
    assert repeats["changes"] == isinstance(action, Write | AdminCommand)
    if isinstance(action, Write):
        names = {parameter["$ref"].rpartition("/")[2] for parameter in operation["parameters"]}
        assert ("IdempotencyKey" in names) == (repeats["header"] == "idempotency-key") == action.accepts_idempotency_key
        assert repeats["field"] is None or repeats["field"] in row.action.request.__struct_encode_fields__
    of_path = path_operation(PATHS, row.method)
    for name in ("x-scope", "x-roles", "x-idempotency"):
        assert of_path[name][make_action_title(action)] == operation[name]


def test_every_operation_parameter_header_and_tag_has_a_description() -> None:
    for document in BOTH.values():
        operations = [item[verb] for item in document["paths"].values() for verb in item]
        operations += [item["post"] for item in document["webhooks"].values()]
        assert all(operation["summary"].strip() for operation in operations)
        components = document["components"]
        described = [*components["parameters"].values(), *components["headers"].values(), *document["tags"]]
        described += [*components["responses"].values(), *components["securitySchemes"].values()]
        assert all(part["description"].strip() for part in described)


# --- environments -----------------------------------------------------------------------------------------------


def test_the_documents_of_live_show_nothing_of_the_test_environment() -> None:
    for document in (paths_document("live"), actions_document("live")):
        assert {path.partition("#")[0] for path in document["paths"]} == {
            f"/{method.name}" for method in list_methods("live")
        } | {"/healthz", "/readyz"}
        assert [name for name in document["components"]["schemas"] if name.startswith("Sandbox")] == []
        assert "sandbox" not in {tag["name"] for tag in document["tags"]}
        assert "x-sandbox-scenario" not in str(document)
        for item in document["paths"].values():
            for operation in item.values():
                content = operation["responses"]["200"].get("content", {}).get("application/json", {})
                shown = str(content.get("examples", {}))
                assert not re.search(r"sandbox|test bin|'test'", shown, re.IGNORECASE), shown
        assert "Example Bank" in str(document["paths"])


def test_the_documents_of_test_have_every_path_and_no_other() -> None:
    methods = {f"/{method.name}" for method in list_methods("test")}
    assert set(PATHS["paths"]) == methods | {"/healthz", "/readyz"}
    assert {path.partition("#")[0] for path in ACTIONS["paths"]} == methods | {"/healthz", "/readyz"}
    assert len(ACTIONS["paths"]) == len(ACTION_ROWS) + 2


def test_there_is_a_webhook_for_every_kind_of_event() -> None:
    for document in BOTH.values():
        assert set(document["webhooks"]) == {*EVENT_KINDS, "test"}
        for item in document["webhooks"].values():
            headers = [document["components"]["parameters"][name_of(part)] for part in item["post"]["parameters"]]
            assert {header["name"] for header in headers if header["required"]} == {
                "service-hash",
                "webhook-id",
                "webhook-timestamp",
                "webhook-signature",
            }
            assert {header["name"] for header in headers if not header["required"]} == {
                "webhook-object",
                "webhook-sequence",
            }


def name_of(reference: dict[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]
