"""The OpenAPI document is valid, covers every row of the tables, and the running server keeps to it."""

from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.definitions import OPENAPI_31

from kasuwa.api_methods import methods_of
from kasuwa.core.decoding import decoder
from kasuwa.core.fields import (
    AMOUNT_REASON,
    READERS,
    Amount,
    NonNegativeInt,
    PercentOrAmount,
    PercentRate,
    scalar_schema,
)
from kasuwa.core.money import AMOUNT_PATTERN
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.rows import ACTION_ROWS, NOW, ActionRow, is_refusal, send_examples

METHODS = tuple(method.name for method in methods_of("test"))

# Few requests, and the same in every run: test_bad_input.py covers every field.
SHORT = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture
def document(deployment: Deployment) -> Any:
    with deployment.connect() as wire:
        received = wire.send("GET", "/openapi.json")
    assert received.http == 200
    return received.body


def operation_of(document: Any, method: str) -> Any:
    return document["paths"][f"/{method}"]["put"]


def title_in(row: ActionRow) -> str:
    """Returns the name of the row's request and example in the document."""
    return row.action.name if row.action.variant is None else f"{row.action.name} {row.action.variant[1]}"


def schema_within(document: Any, schema: Any) -> Any:
    """Returns a schema of the document with all schemas that it refers to, so that it can be used alone."""
    return {**schema, "components": document["components"]}


# --- the document -------------------------------------------------------------------------------------------


def test_the_document_is_valid_openapi(document: Any) -> None:
    assert document["openapi"].startswith("3.1.")
    assert list(jsonschema_rs.Draft202012Validator(OPENAPI_31).iter_errors(document)) == []


def test_every_schema_of_the_document_is_a_schema(document: Any) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema_within(document, schema))
        jsonschema_rs.Draft202012Validator(schema_within(document, schema))


def test_the_document_has_every_path_and_no_other(document: Any) -> None:
    assert set(document["paths"]) == {f"/{method}" for method in METHODS} | {"/healthz", "/readyz"}


def test_every_path_asks_for_mid_and_key(document: Any) -> None:
    schemes = document["components"]["securitySchemes"]
    for method in METHODS:
        needed = operation_of(document, method).get("security", document["security"])
        assert {schemes[name]["name"] for option in needed for name in option} == {"mid", "key"}


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_every_row_has_a_request_a_reply_and_an_example(document: Any, row: ActionRow) -> None:
    operation = operation_of(document, row.method)
    content = operation["requestBody"]["content"]["application/json"]
    (request,) = [option for option in content["schema"]["anyOf"] if option["title"] == title_in(row)]
    example = content["examples"][title_in(row)]["value"]
    assert example == row.example
    jsonschema_rs.validate(schema_within(document, request), example)
    assert set(row.action.request.__struct_encode_fields__) <= property_names(document, request)
    request_type: Any = row.action.request
    assert isinstance(decoder(request_type).decode(msgspec.json.encode(example)), request_type)
    assert row.action.summary in operation["description"]
    assert operation["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]


def property_names(document: Any, schema: Any) -> set[str]:
    if "$ref" in schema:
        return property_names(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    parts = [property_names(document, part) for part in schema.get("allOf", ())]
    return set(schema.get("properties", ())).union(*parts)


# --- the server ---------------------------------------------------------------------------------------------


def test_every_example_is_accepted_and_answered_as_described(
    document: Any, open_shop: Callable[..., MerchantClient]
) -> None:
    for row, fields, received in send_examples(open_shop(now=NOW)):
        assert received.http == 200
        assert not is_refusal(received.body), (row.title, fields, received.body)
        described = operation_of(document, row.method)["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema_rs.validate(schema_within(document, described), received.body)


def test_an_order_of_a_bulk_is_described_as_a_transfer_is(document: Any) -> None:
    orders = document["components"]["schemas"]["BulkRequest"]["properties"]["data"]["items"]
    assert {"amount", "bankcode", "accountnumber", "orderRef"} <= property_names(document, orders)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("method", METHODS)
def test_made_up_requests_are_answered_as_described(
    document: Any, shop: MerchantClient, deployment: Deployment, method: str, mode: GenerationMode
) -> None:
    """Each path has its own merchant, so that an advance over years finds nothing to do. The merchant's key is right:
    only the body is generated."""
    address = f"http://127.0.0.1:{deployment.port}"
    operation = schemathesis.openapi.from_dict({**document, "security": []})[f"/{method}"]["PUT"]
    with requests.Session() as session:

        @SHORT
        @given(case=operation.as_strategy(generation_mode=mode))
        def answers_as_described(case: Any) -> None:
            received = case.call_and_validate(base_url=address, session=session, headers=shop.headers, checks=CHECKS)
            assert received.status_code != 401

        answers_as_described()


# --- figures ------------------------------------------------------------------------------------------------

NUMBERS = ("0", "1", "0.01", "0.001", "9" * 9, "1" + "0" * 9, "1000", "1000.5", "3.0", "-1", "12.345678", "1.1234567")
LONG = tuple("9" * whole + end for whole in range(12, 18) for end in ("", ".9", ".99", ".999", ".9999"))


def accepts(kind: type, value: Any) -> bool:
    try:
        READERS[kind](value)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("kind", [Amount, PercentOrAmount, NonNegativeInt, PercentRate], ids=lambda kind: kind.__name__)
def test_a_figure_is_described_as_it_is_read(kind: type) -> None:
    described = jsonschema_rs.Draft202012Validator(scalar_schema(kind))
    zero = {"0"} if kind is Amount else set()  # a pattern of digits cannot leave out zero
    for text in sorted({*NUMBERS, *LONG} - zero):
        assert described.is_valid(text) == accepts(kind, text), text


def test_an_amount_as_a_number_is_described_as_it_is_read() -> None:
    described = jsonschema_rs.Draft202012Validator(scalar_schema(Amount))
    for number in (0, -1, 1, 10**15 - 1, 10**15, 10**17):
        assert described.is_valid(number) == accepts(Amount, number), number


def test_every_amount_of_the_document_has_the_one_description(document: Any) -> None:
    found = [schema for schema in schemas_in(document) if schema.get("description") == AMOUNT_REASON]
    assert len(found) > 10
    assert all(schema == scalar_schema(Amount) for schema in found)
    bounds = [schema for schema in schemas_in(document) if "[0-9]{1,13}" in str(schema.get("pattern", ""))]
    assert {schema["pattern"] for schema in bounds} == {f"^({AMOUNT_PATTERN})$"}


def schemas_in(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from schemas_in(inner)
