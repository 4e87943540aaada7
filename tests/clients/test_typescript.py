"""The TypeScript client: built, packed and installed as users get it, and run in Node.js against a running service."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import kasuwa
from clients.generate import typescript
from clients.generate.surface import read_surface
from tests.clients.runtimes import find_runtimes
from tests.clients.typescript_package import SOURCE, TypeScriptClient, shared_package, url_of
from tests.examples import record
from tests.merchant_client import MerchantClient
from tests.node import INSTALL_SECONDS, find_npm, run_node, run_program
from tests.running import Deployment
from tests.walk.rows import NOW

# One worker runs them all, so that no other waits while the package is built.
pytestmark = pytest.mark.xdist_group("typescript")

NPM_OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
# Fields that the client adds to a request by itself.
MADE_FIELDS = frozenset({"orderRef"})


@pytest.fixture(scope="module")
def package() -> Path:
    return shared_package()


def test_the_generated_sources_are_current() -> None:
    written = {path: path.read_text() for path in typescript.FOLDER.glob("*.ts")}
    assert written == typescript.render_all(), "run `python -m clients.generate`"


def test_versions_are_in_step() -> None:
    manifest = json.loads((SOURCE / "package.json").read_text())
    lock = json.loads((SOURCE / "package-lock.json").read_text())
    [source] = re.findall(r'VERSION = "(.+)"', (SOURCE / "src" / "version.ts").read_text())
    assert {manifest["version"], lock["version"], lock["packages"][""]["version"], source} == {kasuwa.__version__}
    assert "dependencies" not in manifest


def test_calls_faults_and_events_behave_as_documented(package: Path, deployment: Deployment, tmp_path: Path) -> None:
    """Runs the client's own tests: calls, faults and events. The books of the merchants that they made are audited."""
    made = tmp_path / "merchants"
    settings = {"KASUWA_URL": url_of(deployment), "KASUWA_MERCHANTS_FILE": str(made)}
    files = sorted(str(path) for path in (package / "test-dist").glob("*.test.js"))
    assert len(files) == len(list((SOURCE / "test").glob("*.test.ts"))) > 0
    output = run_node(["--test", "--test-reporter=tap", *files], package, settings)
    assert re.search(r"^# fail 0$", output, re.MULTILINE), output
    merchants = made.read_text().split()
    assert len(merchants) > 20
    assert deployment.broken_invariants(merchants) == []


def test_every_action_is_called_with_its_example(
    package: Path, deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    client = TypeScriptClient(deployment, open_shop(now=NOW), package)
    texts = record(client)
    client.close()
    for path, text in texts.items():
        assert text == path.read_text()
    assert {call.action.title for call in client.calls} == {action.title for action in read_surface().actions}
    for call in client.calls:
        wire = call.answer["wire"]
        sent = {name: value for name, value in wire["sent"].items() if name in call.asked or name not in MADE_FIELDS}
        assert sent == call.asked
        returned = call.answer.get("returned", call.answer.get("refused", {}).get("reply"))
        assert with_exact_texts(returned, json.loads(wire["text"], parse_float=Decimal)) == returned


def with_exact_texts(returned: Any, raw: Any) -> Any:
    """Returns the raw reply with those of its numbers as texts that the client returned as texts of the same value."""
    if isinstance(raw, dict) and isinstance(returned, dict):
        return {name: with_exact_texts(returned.get(name), value) for name, value in raw.items()}
    if isinstance(raw, list) and isinstance(returned, list) and len(raw) == len(returned):
        return [with_exact_texts(*pair) for pair in zip(returned, raw, strict=True)]
    if isinstance(raw, int | Decimal) and not isinstance(raw, bool) and isinstance(returned, str):
        return returned if Decimal(returned) == raw else raw
    return raw


def test_the_snippets_of_the_readme_run(package: Path, deployment: Deployment, shop: MerchantClient) -> None:
    script = (
        'import { snippets } from "./test-dist/readme.js";'
        "for (const snippet of snippets) { await snippet(); }"
        "process.exit(0);"  # one of them starts a server
    )
    environment = {"KASUWA_URL": url_of(deployment), "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}
    output = run_node(["--input-type=module", "--eval", script], package, environment)
    assert output.startswith("successful\n")
    assert "replyReceived resources.banks kc-" in output


def test_the_package_runs_as_commonjs(package: Path, deployment: Deployment) -> None:
    output = run_node(["test-dist/commonjs.cjs"], package, {"KASUWA_URL": url_of(deployment)})
    assert output == "commonjs 1.0.0\n"


def test_the_package_works_in_every_runtime_that_is_here(
    package: Path, deployment: Deployment, shop: MerchantClient
) -> None:
    """`make test-runtimes` installs node 18 to 24, Deno and Bun. Without them this is the node of the system."""
    environment = {"KASUWA_URL": url_of(deployment), "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}
    expected = {
        "txnStatus": "successful",
        "refused": "transaction_not_found",
        "isListed": True,
        "failed": "ServiceUnreachable",
        "isKnown": True,
        "isAborted": True,
        "event": "transfer",
        "hooks": ["requestSent", "replyReceived"],
    }
    tried = {}
    for name, command in find_runtimes().items():
        output = run_program([*command, "test-dist/runtime.js"], package, INSTALL_SECONDS, environment)
        required = run_program([*command, "test-dist/commonjs.cjs"], package, INSTALL_SECONDS, environment)
        tried[name] = (json.loads(output), required)
    assert tried == dict.fromkeys(tried, (expected, f"commonjs {kasuwa.__version__}\n"))


def test_the_package_imports_nothing_but_its_own_files(package: Path) -> None:
    """Runtimes other than Node.js lack its modules. Node 18 loads Web Crypto from one, by a name that is a variable."""
    imported = {
        name
        for path in (package / "dist").glob("*/**/*.js")
        for name in re.findall(r"(?:from |import\(|require\()[\"']([^\"']+)", path.read_text())
    }
    assert len(imported) > 10
    assert [name for name in imported if not name.startswith(".")] == []


def test_no_public_type_is_any(package: Path) -> None:
    declarations = list((package / "dist").glob("*/**/*.d.ts"))
    assert len(declarations) > 20
    for path in declarations:
        text = re.sub(r"/\*.*?\*/|//.*", "", path.read_text(), flags=re.DOTALL)
        assert re.findall(r".*\bany\b.*", text) == [], path


def test_the_packed_package_works_in_an_empty_directory(package: Path, deployment: Deployment, tmp_path: Path) -> None:
    npm = find_npm()
    run_program([npm, "pack", "--pack-destination", tmp_path, *NPM_OPTIONS], package, INSTALL_SECONDS)
    [packed] = tmp_path.glob("kasuwa-client-*.tgz")
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_text('{"name": "shop", "private": true}')
    run_program([npm, "install", packed, *NPM_OPTIONS], project, INSTALL_SECONDS)
    installed = project / "node_modules" / "kasuwa-client"
    assert {path.name for path in installed.iterdir()} == {"dist", "package.json", "README.md", "LICENSE"}
    (project / "shop.mjs").write_text(
        'import { Kasuwa } from "kasuwa-client";\n'
        'const shop = new Kasuwa({ mid: "GP0000001", key: "123456789", baseUrl: process.env.KASUWA_URL });\n'
        "const { data } = await shop.resources.wallet();\n"
        'console.log(data.some((line) => line.currency === "NGN"));\n'
    )
    assert run_node(["shop.mjs"], project, {"KASUWA_URL": url_of(deployment)}) == "true\n"
