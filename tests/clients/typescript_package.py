"""The TypeScript client, built as it is published, once for all runs; and a merchant that calls through it."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from clients.generate.surface import ActionSurface, client_value, read_surface
from clients.generate.typescript import camel_case, example_lines
from tests.clients.python_walk import find_action
from tests.made_once import digest_of, made_once
from tests.merchant_client import MerchantClient, RawReply
from tests.node import CACHE, COMPILER, find_node, install_npm_packages, run_node
from tests.running import Deployment

SOURCE = Path(__file__).parents[2] / "clients" / "typescript"
# Not part of the package: what a developer's own build leaves there.
LEFT_OUT_PARTS = frozenset({"node_modules", "dist", "test-dist"})
LEFT_OUT = shutil.ignore_patterns(*LEFT_OUT_PARTS, "*.tgz")


def shared_distribution() -> Path:
    """Returns the built package as it is published: its manifest and `dist`. It is built once for these sources.
    Raises NodeFailed with what the compiler reports."""

    def make(place: Path) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            folder = copy_sources(Path(temporary, "client"))
            run_node(["build.mjs"], folder)
            shutil.copytree(folder / "dist", place / "dist")
            shutil.copy(folder / "package.json", place)

    return made_once(CACHE / "built" / f"kasuwa-client-{digest_with()}", make)


def shared_package() -> Path:
    """Returns the sources with the built package, and its tests, the examples of all methods and the snippets of
    README.md, compiled against the built declarations. It is made once for these texts, and nothing may write to it.
    Raises NodeFailed with what the compiler reports."""
    distribution, examples, readme = shared_distribution(), examples_source(), readme_source()

    def make(place: Path) -> None:
        copy_sources(place)
        shutil.copytree(distribution / "dist", place / "dist")
        (place / "test" / "examples.ts").write_text(examples)
        (place / "test" / "readme.ts").write_text(readme)
        run_node([COMPILER, "--project", "tsconfig.test.json"], place)

    return made_once(CACHE / "built" / f"kasuwa-client-tests-{digest_with(examples, readme)}", make)


def copy_sources(folder: Path) -> Path:
    """Copies the sources to `folder`, with the packages that compile them."""
    shutil.copytree(SOURCE, folder, ignore=LEFT_OUT)
    (folder / "node_modules").symlink_to(install_npm_packages(SOURCE))
    return folder


def digest_with(*texts: str) -> str:
    """Returns a digest of the sources, of this module and of other texts."""
    parts = sorted(path for path in SOURCE.rglob("*") if path.is_file() and not LEFT_OUT_PARTS & set(path.parts))
    return digest_of(Path(__file__), *parts, *(text.encode() for text in texts))


def examples_source() -> str:
    """Returns a module that makes the call of every example."""
    calls = [f"  {line}" for action in read_surface().actions for line in example_lines(action)]
    head = ['import type { Kasuwa } from "kasuwa-client";', "", "export async function examples(shop: Kasuwa) {"]
    return "\n".join([*head, *calls, "}", ""])


def readme_source() -> str:
    """Returns a module with the snippets of README.md, each in a function of its own after its imports.

    They call the service at KASUWA_URL as the merchant KASUWA_MID. Their server listens on a free port.
    """
    found = [text.partition("```")[0] for text in (SOURCE / "README.md").read_text().split("```ts\n")[1:]]
    assert found
    imported: dict[str, str] = {}
    functions = []
    for number, snippet in enumerate(found):
        lines = snippet.splitlines()
        for line in lines:
            if line.startswith("import "):
                names, _, module = line.removeprefix("import ").removesuffix(";").partition(" from ")
                imported |= {name.strip(" {}"): module for name in names.split(",")}
        body = "\n".join(f"  {line}" for line in lines if not line.startswith("import "))
        # A test uses what the shop defines.
        end = "  return { order, receiver };\n" if "const receiver" in body else ""
        functions.append(f"export async function snippet{number}() {{\n{body}\n{end}}}\n")
    imports = "\n".join(f"import {{ {name} }} from {module};" for name, module in sorted(imported.items()))
    shop = 'const shop = new Kasuwa({ mid: "GP0000001", key: "123456789", baseUrl: "http://127.0.0.1:8080" });'
    snippets = f"export const snippets = [{', '.join(f'snippet{number}' for number in range(len(functions)))}];\n"
    source = "\n".join([imports, "", shop, "", *functions, snippets])
    given = {'"http://127.0.0.1:8080"': "KASUWA_URL", '"GP0000001"': "KASUWA_MID", '"123456789"': "KASUWA_KEY"}
    for text, variable in given.items():
        source = source.replace(text, f'String(process.env["{variable}"])')
    return source.replace("9999", "0")


class WireRecord(NamedTuple):
    """One call of the client: what was sent, and what it returned or threw."""

    action: ActionSurface
    asked: Mapping[str, Any]
    answer: Mapping[str, Any]


class TypeScriptClient(MerchantClient):
    """A merchant whose requests are calls of the TypeScript client, made by test/walk.ts in a process of Node.js."""

    def __init__(self, deployment: Deployment, shop: MerchantClient, package: Path) -> None:
        super().__init__(shop.connection, shop.mid, shop.key)
        self.calls: list[WireRecord] = []
        command = [str(find_node()), "test-dist/walk.js", shop.mid, shop.key]
        environment = {"KASUWA_URL": url_of(deployment)}
        self._process = subprocess.Popen(
            command, cwd=package, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send_fields(
        self, method: str, fields: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> RawReply:
        """Calls the method of the action that the fields select. Other spellings of an action have no method: their
        fields are sent as they are."""
        action = find_action(method, fields)
        if action is None:
            return super().send_fields(method, fields, headers=headers)
        asked = exact_fields(action, fields)
        order = {"path": action.path, "method": camel_case(action.method), "request": asked}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = msgspec.json.decode(self._process.stdout.readline())
        self.calls.append(WireRecord(action, {**asked, **action.selectors}, answer))
        wire = answer["wire"]
        return RawReply(wire["http"], wire["headers"], wire["text"].encode(), {})

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


def url_of(deployment: Deployment) -> str:
    return f"http://127.0.0.1:{deployment.port}"


def exact_fields(action: ActionSurface, fields: Mapping[str, Any]) -> dict[str, Any]:
    offered = {field.wire_name: field for field in action.fields}
    return {
        name: client_value(offered[name].type, value) if name in offered else value
        for name, value in fields.items()
        if name not in action.selectors and value is not None
    }
