"""The OpenAPI documents are valid, and the running server keeps to them."""

import os
from collections.abc import Callable
from pathlib import Path
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
    positive_data_acceptance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.definitions import OPENAPI_31

from kasuwa.api.openapi.operations import NEEDS_MORE
from kasuwa.methods.tables import list_methods
from kasuwa.transactions.event_payloads import EVENT_KINDS
from kasuwa.wire.fields import READERS, Amount, NonNegativeInt, PercentOrAmount, PercentRate, scalar_schema
from tests.console.test_operator_pages import propose
from tests.console.visitor import sign_in_as
from tests.generators.environment import CACHE, REQUIREMENTS, run_tool, tools_directory
from tests.made_once import digest_of, made_once
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.investments.held import hold_deposit
from tests.running import Deployment
from tests.walk.openapi_documents import (
    COMPONENT,
    ERROR_BODY,
    action_operation,
    actions_document,
    example_of,
    json_of,
    path_operation,
    paths_document,
    resolved,
    schema_within,
    title_in,
)
from tests.walk.rows import (
    ACTION_ROWS,
    NOW,
    RESET,
    is_refusal,
    make_waiting_transfer,
    resolve_references,
    send_examples,
)
from tests.webhooks.event_log import events_of

METHODS = tuple(method.name for method in list_methods("test"))

# Few requests, and the same in every run: test_bad_input.py covers every field. More of them with KASUWA_LONG=1.
SHORT = settings(
    max_examples=100 if os.environ.get("KASUWA_LONG") == "1" else 8,
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


PATHS: Any = paths_document()
ACTIONS: Any = actions_document()
DOCUMENTS = {"paths": PATHS, "actions": ACTIONS}


# Kinds of events that no example leads to.
FROM_THE_WALLET: tuple[tuple[str, dict[str, Any]], ...] = (
    ("loans", {"action": "repay", "loan_id": "<loan_id>", "payment_method": "wallet", "amount": "100.00"}),
    (
        "investments",
        {"action": "deposit", "savings_id": "<savings_id>", "payment_method": "wallet", "amount": "100.00"},
    ),
)


# --- the documents ------------------------------------------------------------------------------------------


def test_the_documents_are_valid_openapi() -> None:
    """Validates by the meta-schema, and by a tool that also resolves references and compares operations. The tool takes
    long: it validates the same documents once."""
    contents = {f"{name}.json": msgspec.json.encode(document) for name, document in DOCUMENTS.items()}

    def validate(place: Path) -> None:
        place.mkdir()
        files = [place / name for name in contents]
        for file in files:
            file.write_bytes(contents[file.name])
        output = run_tool([tools_directory() / "openapi-spec-validator", *files], place)
        assert output.splitlines() == [f"{file}: OK" for file in files]

    for document in DOCUMENTS.values():
        assert document["openapi"].startswith("3.1.")
        assert list(jsonschema_rs.Draft202012Validator(OPENAPI_31).iter_errors(document)) == []
    made_once(CACHE / "validated" / digest_of(*contents.values(), REQUIREMENTS, Path(__file__)), validate)


def test_every_schema_of_the_documents_is_a_schema() -> None:
    schemas = PATHS["components"]["schemas"]
    for schema in schemas.values():
        jsonschema_rs.meta.validate(schema)
    # All at once: each brings along what it refers to.
    every = {"anyOf": [{"$ref": f"{COMPONENT}{name}"} for name in schemas]}
    jsonschema_rs.Draft202012Validator(schema_within(PATHS, every))


def test_every_path_asks_for_mid_and_key() -> None:
    for document in DOCUMENTS.values():
        schemes = document["components"]["securitySchemes"]
        for item in document["paths"].values():
            if "put" in item:
                needed = item["put"].get("security", document["security"])
                assert {schemes[name]["name"] for option in needed for name in option} == {"mid", "key"}


# --- the server ---------------------------------------------------------------------------------------------


def test_every_example_is_answered_as_described(open_shop: Callable[..., MerchantClient]) -> None:
    for row, fields, received in send_examples(open_shop(now=NOW)):
        assert received.http == 200
        assert not is_refusal(received.body), (row.title, fields, received.body)
        if not fields:
            continue
        # Against the reply of its action alone: an error would not be valid.
        options = json_of(action_operation(ACTIONS, row)["responses"]["200"])["schema"]["anyOf"]
        [reply] = [option for option in options if option["$ref"] != ERROR_BODY]
        jsonschema_rs.validate(schema_within(ACTIONS, reply), received.body)
        described = json_of(path_operation(PATHS, row.method)["responses"]["200"])["schema"]
        jsonschema_rs.validate(schema_within(PATHS, described), received.body)


def test_every_example_is_accepted_as_it_is(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> None:
    """A merchant with strict codes: a refusal has another HTTP status. A template without a placeholder is refused, or
    it would be an example."""
    shop = open_shop(now=NOW)
    deployment.run_command("merchant", "set", shop.mid, "--http-codes", "strict")
    address = f"http://127.0.0.1:{deployment.port}"
    described = schemathesis.openapi.from_dict({**PATHS, "security": []})
    refused: list[str] = []
    with requests.Session() as session:
        for row in ACTION_ROWS:
            operation = path_operation(PATHS, row.method)
            is_example = title_in(row) in json_of(operation["requestBody"]).get("examples", {})
            body = example_of(operation["requestBody"], row)
            case = described[f"/{row.method}"]["PUT"].Case(body=body, media_type="application/json")
            checks = [*CHECKS, *([positive_data_acceptance] if is_example else [])]
            received = case.call_and_validate(base_url=address, session=session, headers=shop.headers, checks=checks)
            if is_example:
                assert received.status_code == 200, (row.title, received.text)
            elif "<" not in str(body):
                assert received.status_code == 422, (row.title, received.text)
                refused.append(row.title.replace("-", " ", 1))
    assert sorted(refused) == sorted(NEEDS_MORE)


def reverse_transfer(deployment: Deployment, shop: MerchantClient) -> None:
    """Has two operators book that a transfer was taken back by its rail."""
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    sent = shop.transfer(amount="100.00", orderRef="taken-back")
    number = propose(finance, "reversal", mid=shop.mid, reference=sent["txnRef"])
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303


def order_from_empty_savings(shop: MerchantClient) -> None:
    """Makes a standing order whose first payment fails."""
    client_id = savers.enroll(shop)
    places = {"from": savers.open_savings(shop, client_id), "to": savers.open_savings(shop, client_id)}
    dates = {"frequency": "every_month", "from_date": shop.now()[:10]}
    assert savers.invest(shop, "standing_order", **places, **dates, amount="10.00")["status"] == 200


def test_every_kind_of_event_is_as_described(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> None:
    """The books are reset by the last example: events are read before it."""
    shop = open_shop(now=NOW)
    played = send_examples(shop, until=RESET)
    for method, fields in FROM_THE_WALLET:
        received = shop.send_fields(method, resolve_references(fields, played))
        assert received.body["status"] == 200, received.body
    # The examples leave a planned fault behind, so the other events are those of another merchant.
    other = open_shop(now=NOW)
    begun = other.put("payment", action="charge", paymentType="bank_transfer", amount="1000.00").body
    rejected = {"action": "pay_account", "accountNumber": begun["accountNumber"], "amount": "900.00", "rejected": True}
    assert other.put("sandbox", **rejected).body["status"] == 200
    reverse_transfer(deployment, other)
    assert make_waiting_transfer(other).body["status"] == 200
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    assert other.put("resources", request="payout_schedule", frequency="daily", **account).body["status"] == 200
    assert other.put("resources", request="settlement_events", daily=True).body["status"] == 200
    savers.open_savings(other, savers.enroll(other), "100.00", period=None, term_days=1)
    order_from_empty_savings(other)
    other.advance(days=1)
    # The schedule has paid out what there was.
    assert other.put("sandbox", action="fund_wallet", amount="500.00").body["status"] == 200
    hold_deposit(other)
    # A month passes for these.
    lender = open_shop(now=NOW)
    for name in ("loan_collected", "loan_collection_failed", "savings", "thrift_payout"):
        assert lender.put("sandbox", action="trigger", event=name).body["status"] == 200
    events = [event for one in (shop, other, lender) for event in events_of(one, limit=200)]
    for event in events:
        webhook = ACTIONS["webhooks"][event["kind"]]["post"]
        described = resolved(ACTIONS, json_of(webhook["requestBody"])["schema"])
        jsonschema_rs.validate(schema_within(ACTIONS, described), event["payload"])
        assert set(event["payload"]) <= set(described["properties"]), event
    assert {event["kind"] for event in events} == set(EVENT_KINDS)


@pytest.mark.chaos
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("method", METHODS)
def test_made_up_requests_are_answered_as_described(
    shop: MerchantClient, deployment: Deployment, method: str, mode: GenerationMode
) -> None:
    """Each path has its own merchant, so that an advance over years finds nothing to do. The merchant's key is right:
    only the body is generated."""
    address = f"http://127.0.0.1:{deployment.port}"
    operation = schemathesis.openapi.from_dict({**PATHS, "security": []})[f"/{method}"]["PUT"]
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
