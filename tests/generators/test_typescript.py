"""openapi-typescript makes types of both OpenAPI documents without a warning; programs compile with them and work."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.made_once import digest_of, made_once
from tests.merchant_client import MerchantClient
from tests.node import CACHE, MANIFESTS, install_npm_packages, run_node
from tests.running import NEWEST, Deployment, Deployments

HERE = Path(__file__).parent
# One worker makes the types for both tests.
pytestmark = pytest.mark.xdist_group("typescript")
CONFIGURATION = {
    "compilerOptions": {
        "target": "es2022",
        "module": "commonjs",
        "moduleResolution": "node",
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "exactOptionalPropertyTypes": True,
        "lib": ["es2022"],
        "types": ["node"],
    },
}


PACKAGES = HERE / "typescript"
DOCUMENTS = {"kasuwa-actions": "/openapi-actions.json", "kasuwa-paths": "/openapi.json"}


@pytest.fixture(scope="module")
def compiled(deployments: Deployments) -> Path:
    """The folder of both programs, type-checked and compiled with the types of both documents of the running service.
    They are made once for the same documents and programs."""
    with deployments.for_version(NEWEST).connect() as wire:
        described = {name: wire.send("GET", path).raw for name, path in DOCUMENTS.items()}
    programs = [HERE / "programs" / name for name in ("use_actions.ts", "use_paths.ts")]

    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / "node_modules").symlink_to(install_npm_packages(PACKAGES))
        for name, document in described.items():
            make_types(document, name, folder)
        for program in programs:
            (folder / program.name).write_text(program.read_text())
        files = [program.name for program in programs]
        (folder / "tsconfig.json").write_bytes(msgspec.json.encode({**CONFIGURATION, "files": files}))
        assert run_node([folder / "node_modules" / "typescript" / "bin" / "tsc", "-p", "."], folder) == ""

    digest = digest_of(*described.values(), *programs, *(PACKAGES / name for name in MANIFESTS), Path(__file__))
    return made_once(CACHE / "built" / f"types-{digest}", make)


def make_types(document: bytes, name: str, folder: Path) -> None:
    """Makes a file of types from a document. A warning fails."""
    (folder / f"{name}.json").write_bytes(document)
    generator = folder / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
    output = run_node([generator, f"{name}.json", "-o", f"{name}.d.ts"], folder, {"NO_COLOR": "1"})
    assert "⚠" not in output, output
    assert f"{name}.json → " in output, output


def run_program(program: str, folder: Path, deployment: Deployment, shop: MerchantClient) -> Any:
    address = f"http://127.0.0.1:{deployment.port}"
    return msgspec.json.decode(run_node([f"{program}.js", address, shop.mid, shop.key], folder))


def test_the_types_of_the_actions_document_work(compiled: Path, deployment: Deployment, shop: MerchantClient) -> None:
    seen = run_program("use_actions", compiled, deployment, shop)
    assert (seen["state"], seen["amount"]) == ("successful", "1500.00")
    assert shop.verify(seen["txnRef"])["txnStatus"] == "successful"
    assert (seen["status"], seen["faults"]) == (104, ["amount"])
    assert seen["banks"]["000001"] == "Sterling Bank"


def test_the_types_of_the_paths_document_work(compiled: Path, deployment: Deployment, shop: MerchantClient) -> None:
    seen = run_program("use_paths", compiled, deployment, shop)
    assert (seen["bulk"]["status"], len(seen["bulk"]["data"])) == (202, 1)
    assert seen["wallet"]["data"][0]["currency"] == "NGN"
