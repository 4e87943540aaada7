"""openapi-typescript makes types of both OpenAPI documents without a warning; programs compile with them and work."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient
from tests.node import install_npm_packages, run_node
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


@pytest.fixture(scope="module")
def compiled(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both programs, type-checked and compiled with the types of both documents."""
    folder = tmp_path_factory.mktemp("typescript")
    (folder / "node_modules").symlink_to(install_npm_packages(HERE / "typescript"))
    make_types(deployments.for_version(NEWEST), "/openapi-actions.json", "kasuwa-actions", folder)
    make_types(deployments.for_version(NEWEST), "/openapi.json", "kasuwa-paths", folder)
    programs = ("use_actions.ts", "use_paths.ts")
    for program in programs:
        (folder / program).write_text((HERE / "programs" / program).read_text())
    (folder / "tsconfig.json").write_bytes(msgspec.json.encode({**CONFIGURATION, "files": programs}))
    assert run_node([folder / "node_modules" / "typescript" / "bin" / "tsc", "-p", "."], folder) == ""
    return folder


def make_types(deployment: Deployment, document: str, name: str, folder: Path) -> None:
    """Makes a file of types from a document of the running service. A warning fails."""
    with deployment.connect() as wire:
        (folder / f"{name}.json").write_bytes(wire.send("GET", document).raw)
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
