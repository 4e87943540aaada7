"""The webhooks of the OpenAPI documents: one per kind of event, with the headers that sign it.

Contract: events#payload, events#signatures, events#delivery
"""

from typing import Any

from kasuwa.api.openapi.schemas import SchemaSet, Struct
from kasuwa.transactions.event_payloads import EVENT_KINDS, TEST_EVENT, EndpointTestEvent
from kasuwa.webhooks.signatures import DEFAULT_HASH_HEADER

SIGNATURE_HEADERS = (
    (
        "ServiceHash",
        DEFAULT_HASH_HEADER,
        "Hexadecimal SHA-512 of the raw body followed by your newest key. A deployment may send it under another name.",
        {"type": "string", "pattern": "^[0-9a-f]{128}$"},
    ),
    (
        "WebhookId",
        "webhook-id",
        "Id of the event (Standard Webhooks). Every attempt to deliver an event has the same one.",
        {"type": "string"},
    ),
    (
        "WebhookTimestamp",
        "webhook-timestamp",
        "When this attempt was sent, in seconds since 1970 (Standard Webhooks).",
        {"type": "string", "pattern": "^[0-9]+$"},
    ),
    (
        "WebhookSignature",
        "webhook-signature",
        "`v1,` and the base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body` (Standard Webhooks). Its secret is "
        "`whsec_` and the base64 of your key.",
        {"type": "string"},
    ),
)
# Test events do not have these.
ORDER_HEADERS = (
    (
        "WebhookObject",
        "webhook-object",
        "The `txnRef` of what the event belongs to, such as the payment of a refund.",
        {"type": "string"},
    ),
    (
        "WebhookSequence",
        "webhook-sequence",
        "Number of the event among those of the same object, from 1. An event may arrive before an earlier one.",
        {"type": "string", "pattern": "^[0-9]+$"},
    ),
)
REQUIRED_HEADERS = frozenset(component for component, *_ in SIGNATURE_HEADERS)


def event_structs() -> list[Struct]:
    return list(dict.fromkeys([*(kind.payload for kind in EVENT_KINDS.values()), EndpointTestEvent]))


def webhook_parameters() -> dict[str, Any]:
    """Returns the headers of a delivery, as components."""
    return {
        component: {
            "name": name,
            "in": "header",
            "required": component in REQUIRED_HEADERS,
            "description": description,
            "schema": schema,
        }
        for component, name, description, schema in (*SIGNATURE_HEADERS, *ORDER_HEADERS)
    }


def describe_webhooks(schemas: SchemaSet) -> dict[str, Any]:
    """Returns every kind of event that the service sends to a merchant's endpoint."""
    kinds: dict[str, tuple[Struct, str]] = {name: (kind.payload, kind.summary) for name, kind in EVENT_KINDS.items()}
    kinds[TEST_EVENT] = (EndpointTestEvent, "A test event that a merchant sends to its own endpoint from the console")
    parameters = [{"$ref": f"#/components/parameters/{component}"} for component in webhook_parameters()]
    return {
        name: {
            "post": {
                "operationId": f"on_{name}",
                "tags": ["events"],
                "summary": summary,
                "description": "Answer with any 2xx within ten seconds. Any other answer is tried again later. Verify "
                "the signature before you read the body.",
                "security": [],
                "parameters": parameters,
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": schemas.reference(struct)}},
                },
                "responses": {
                    "2XX": {"description": "The event was received."},
                    "default": {"description": "The event was not received, and will be sent again."},
                },
            }
        }
        for name, (struct, summary) in kinds.items()
    }
