"""Applications that bundle the TypeScript client or trace it: what a bundler leaves out, and the spans."""

import json
from pathlib import Path
from typing import Any

import pytest

from clients.generate.surface import read_surface
from clients.generate.typescript import camel_case
from tests.clients.typescript_package import SOURCE, shared_distribution, url_of
from tests.merchant_client import MerchantClient
from tests.node import install_npm_packages, run_node
from tests.running import Deployment

# One worker runs them all, so that no other waits while the package is built.
pytestmark = pytest.mark.xdist_group("typescript")

TOOLS = Path(__file__).parent / "tools"
SETTINGS = "mid: process.env.KASUWA_MID, key: process.env.KASUWA_KEY, baseUrl: process.env.KASUWA_URL"
TRANSFER = '{ amount: "10.00", bankcode: "058", accountnumber: "0000000000" }'
ONE_PATH = f"""
import {{ connect, DisburseMethods, InsufficientFunds }} from "kasuwa-client";

const disburse = new DisburseMethods(connect({{ {SETTINGS} }}));
const sent = await disburse.transfer({TRANSFER});
console.log((await disburse.wait(sent)).txnStatus);
try {{
  await disburse.transfer({{ amount: "9999999.00", bankcode: "058", accountnumber: "0000000000" }});
}} catch (error) {{
  console.log(error instanceof InsufficientFunds, error.code);
}}
"""
ALL_PATHS = f"""
import {{ Kasuwa }} from "kasuwa-client";

const shop = new Kasuwa({{ {SETTINGS} }});
console.log((await shop.disburse.transfer({TRANSFER})).txnStatus);
"""
EVENTS_ALONE = """
import { signEvent, verifyEvent } from "kasuwa-client";

const { body, headers } = await signEvent({ kind: "transfer", txnRef: "1" }, "secret");
console.log((await verifyEvent(body, headers, "secret")).kind);
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An application with the built package, its bundler and OpenTelemetry."""
    packages = tmp_path / "node_modules"
    packages.mkdir()
    for installed in install_npm_packages(TOOLS).iterdir():
        (packages / installed.name).symlink_to(installed)
    (packages / "kasuwa-client").symlink_to(shared_distribution())
    return tmp_path


def environment_of(deployment: Deployment, shop: MerchantClient) -> dict[str, str]:
    return {"KASUWA_URL": url_of(deployment), "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}


def bundle(project: Path, name: str, program: str) -> str:
    """Returns a program with what it uses of the package, as esbuild makes it. Its file is NAME.bundle.mjs."""
    (project / f"{name}.mjs").write_text(program)
    options = ("--bundle", "--platform=neutral", "--log-level=warning", "--preserve-symlinks")
    target = project / f"{name}.bundle.mjs"
    esbuild = project / "node_modules" / "esbuild" / "bin" / "esbuild"
    assert run_node([esbuild, f"{name}.mjs", *options, f"--outfile={target}"], project) == ""
    return target.read_text()


def actions_in(text: str) -> set[str]:
    names = {f"{action.path}.{camel_case(action.method)}" for action in read_surface().actions}
    return {name for name in names if f'"{name}"' in text}


def test_a_bundle_has_the_paths_that_are_used_and_no_others(
    project: Path, deployment: Deployment, shop: MerchantClient
) -> None:
    environment = environment_of(deployment, shop)
    one, whole = bundle(project, "one", ONE_PATH), bundle(project, "whole", ALL_PATHS)
    assert run_node(["one.bundle.mjs"], project, environment) == "successful\ntrue insufficient_funds\n"
    assert run_node(["whole.bundle.mjs"], project, environment) == "successful\n"
    assert {name.partition(".")[0] for name in actions_in(one)} == {"disburse"}
    assert len(actions_in(whole)) == len(read_surface().actions)
    assert len(one) < len(whole) / 3
    events = bundle(project, "events", EVENTS_ALONE)
    assert run_node(["events.bundle.mjs"], project) == "transfer\n"
    assert actions_in(events) == set()
    assert "class Caller" not in events


def test_the_manifest_has_both_forms_and_no_side_effects() -> None:
    manifest = json.loads((SOURCE / "package.json").read_text())
    assert manifest["sideEffects"] is False
    assert {kind: entry["default"] for kind, entry in manifest["exports"]["."].items()} == {
        "import": "./dist/esm/index.js",
        "require": "./dist/cjs/index.js",
    }


TRACED = f"""
import {{ SpanKind, SpanStatusCode }} from "@opentelemetry/api";
import {{ BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor }} from "@opentelemetry/sdk-trace-base";
import {{ Kasuwa, tracingHook }} from "kasuwa-client";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({{ spanProcessors: [new SimpleSpanProcessor(exporter)] }});
const hooks = [tracingHook(provider.getTracer("shop"))];
let lost = 0;
const losesOne = async (url, init) => {{
  const answer = await fetch(url, init);
  lost += 1;
  if (lost === 1) throw new TypeError("fetch failed");
  return answer;
}};
const shop = new Kasuwa({{ {SETTINGS}, hooks, fetch: losesOne }});
await shop.disburse.transfer({{ ...{TRANSFER}, orderRef: "order-1", narration: "Ada Obi" }});
await shop.disburse.verify({{ txnRef: "unknown-reference" }}).catch(() => undefined);
const same = {{ requestId: "the-same" }};
await Promise.all([shop.resources.banks({{}}, same), shop.resources.wallet({{}}, same)]);
const spans = exporter.getFinishedSpans().map((span) => ({{
  name: span.name,
  isClient: span.kind === SpanKind.CLIENT,
  isError: span.status.code === SpanStatusCode.ERROR,
  ...span.attributes,
}}));
console.log(JSON.stringify(spans));
"""


def test_attempts_are_spans_of_the_real_sdk(project: Path, deployment: Deployment, shop: MerchantClient) -> None:
    (project / "traced.mjs").write_text(TRACED)
    options: list[str | Path] = ["--preserve-symlinks", "--preserve-symlinks-main", "traced.mjs"]
    text = run_node(options, project, environment_of(deployment, shop))
    spans: list[dict[str, Any]] = json.loads(text)
    assert all(span["isClient"] for span in spans)
    lost, sent, refused, *read = spans
    assert {span["name"] for span in read} == {"kasuwa resources.banks", "kasuwa resources.wallet"}
    assert [span["name"] for span in (lost, sent)] == ["kasuwa disburse.transfer"] * 2
    assert [span["kasuwa.attempt"] for span in (lost, sent)] == [1, 2]
    assert (lost["isError"], lost["error.type"]) == (True, "no_reply")
    assert (sent["isError"], sent["http.response.status_code"], sent["kasuwa.order_ref"]) == (False, 200, "order-1")
    assert (refused["isError"], refused["kasuwa.status"]) == (True, 104)
    assert refused["error.type"] == "transaction_not_found"
    assert [word for word in (shop.key, "0000000000", "Ada Obi", "unknown-reference") if word in text] == []
