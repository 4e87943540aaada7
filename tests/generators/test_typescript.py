"""openapi-typescript makes types of both OpenAPI documents without a warning; programs compile with them and work."""

from pathlib import Path
from typing import Any

import msgspec

from tests.merchant_client import MerchantClient
from tests.node import install_npm_packages, run_node
from tests.running import Deployment

HERE = Path(__file__).parent
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


def make_types(deployment: Deployment, document: str, name: str, folder: Path) -> None:
    """Makes a file of types from a document of the running service. A warning fails."""
    with deployment.connect() as wire:
        (folder / f"{name}.json").write_bytes(wire.send("GET", document).raw)
    generator = folder / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
    said = run_node([generator, f"{name}.json", "-o", f"{name}.d.ts"], folder, {"NO_COLOR": "1"})
    assert "⚠" not in said, said
    assert f"{name}.json → " in said, said


def run_program(program: str, folder: Path, deployment: Deployment, shop: MerchantClient) -> Any:
    """Type-checks and compiles a program with the generated types, and runs it against the service."""
    (folder / f"{program}.ts").write_text((HERE / "programs" / f"{program}.ts").read_text())
    (folder / "tsconfig.json").write_bytes(msgspec.json.encode({**CONFIGURATION, "files": [f"{program}.ts"]}))
    assert run_node([folder / "node_modules" / "typescript" / "bin" / "tsc", "-p", "."], folder) == ""
    address = f"http://127.0.0.1:{deployment.port}"
    return msgspec.json.decode(run_node([f"{program}.js", address, shop.mid, shop.key], folder))


def test_the_types_of_the_actions_document_work(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(install_npm_packages(HERE / "typescript"))
    make_types(deployment, "/openapi-actions.json", "kasuwa-actions", tmp_path)
    seen = run_program("use_actions", tmp_path, deployment, shop)
    assert (seen["state"], seen["amount"]) == ("successful", "1500.00")
    assert shop.verify(seen["txnRef"])["txnStatus"] == "successful"
    assert (seen["status"], seen["faults"]) == (104, ["amount"])
    assert seen["banks"]["000001"] == "Sterling Bank"


def test_the_types_of_the_paths_document_work(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(install_npm_packages(HERE / "typescript"))
    make_types(deployment, "/openapi.json", "kasuwa-paths", tmp_path)
    seen = run_program("use_paths", tmp_path, deployment, shop)
    assert (seen["bulk"]["status"], len(seen["bulk"]["data"])) == (202, 1)
    assert seen["wallet"]["data"][0]["currency"] == "NGN"
