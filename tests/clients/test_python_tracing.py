"""OpenTelemetry spans of the Python client, with the real SDK. Each program is a process, with its tracer provider."""

import json
import subprocess
import sys
from typing import Any

from tests.clients.faulty_server import faulty_server, forward, reply
from tests.merchant_client import MerchantClient
from tests.running import Deployment

MUCH = "9999999.00"
# Makes a call, one that is refused, and one within a span of the application's. Prints the spans as they ended.
TRACED = f"""
import asyncio, json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from kasuwa_client import AsyncKasuwa, InsufficientFunds, Kasuwa

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
mid, key, url = sys.argv[1:]
order = dict(bankcode="058", accountnumber="0000000000")


async def use_both_at_once():
    async with AsyncKasuwa(mid=mid, key=key, base_url=url) as shop:
        with trace.get_tracer("shop").start_as_current_span("order"):
            await asyncio.gather(shop.resources.banks(), shop.resources.wallet())


with Kasuwa(mid=mid, key=key, base_url=url) as shop:
    shop.disburse.transfer(amount="10.00", order_ref="order-1", narration="Ada Obi", **order)
    try:
        shop.disburse.transfer(amount="{MUCH}", order_ref="order-2", **order)
    except InsufficientFunds:
        pass
asyncio.run(use_both_at_once())
print(json.dumps([json.loads(span.to_json()) for span in exporter.get_finished_spans()]))
"""
UNTRACED = """
import sys
from kasuwa_client import Kasuwa

mid, key, url = sys.argv[1:]
with Kasuwa(mid=mid, key=key, base_url=url) as shop:
    print(shop.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000").txn_status)
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


def run(program: str, shop: MerchantClient, url: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program, shop.mid, shop.key, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_calls_are_spans_below_those_of_the_application(deployment: Deployment, shop: MerchantClient) -> None:
    busy = reply(429, {"status": 204, "message": "Too many requests"})
    with faulty_server(busy, *[forward(deployment.port)] * 4) as server:
        text = run(TRACED, shop, server.url)
    spans: list[dict[str, Any]] = json.loads(text)
    paid, refused, *read, order = spans
    assert [paid["name"], refused["name"]] == ["kasuwa disburse.transfer"] * 2
    assert {span["name"] for span in read} == {"kasuwa resources.banks", "kasuwa resources.wallet"}
    assert {span["kind"] for span in (paid, refused, *read)} == {"SpanKind.CLIENT"}

    facts = paid["attributes"]
    assert (facts["kasuwa.order_ref"], facts["kasuwa.attempts"]) == ("order-1", 2)
    assert (facts["http.response.status_code"], facts["kasuwa.mid"]) == (200, shop.mid)
    assert [(event["name"], event["attributes"]["error.type"]) for event in paid["events"]] == [
        ("kasuwa.retry", "RateLimited")
    ]
    assert paid["status"] == {"status_code": "UNSET"}

    facts = refused["attributes"]
    assert (facts["error.type"], facts["kasuwa.status"]) == ("InsufficientFunds", 301)
    assert facts["kasuwa.code"] == "insufficient_funds"
    assert refused["status"] == {"status_code": "ERROR"}

    # Two calls at once are siblings, whichever ends first.
    assert [span["parent_id"] for span in read] == [order["context"]["span_id"]] * 2
    sent = [received.headers["traceparent"].split("-") for received in server.received]
    ids = [(trace, span) for _, trace, span, _ in sent]
    known = [(span["context"]["trace_id"][2:], span["context"]["span_id"][2:]) for span in (paid, paid, refused, *read)]
    assert sorted(ids) == sorted(known)

    # References are shown, and neither keys nor what a request is about.
    assert [word for word in (shop.key, "0000000000", "Ada Obi", MUCH) if word in text] == []


def test_an_application_without_opentelemetry_imports_nothing_for_it(
    deployment: Deployment, shop: MerchantClient
) -> None:
    output = run(UNTRACED, shop, f"http://127.0.0.1:{deployment.port}")
    assert output == "successful\n[]\n"
