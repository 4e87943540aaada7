"""openapi-python-client makes clients of both OpenAPI documents without a warning, and they work."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.generators.environment import CACHE, REQUIREMENTS, ToolFailed, run_tool, tools_directory
from tests.made_once import digest_of, made_once
from tests.merchant_client import MerchantClient
from tests.running import Deployment

PROGRAMS = Path(__file__).parent / "programs"


def generate_client(deployment: Deployment, document: str, package: str, folder: Path) -> None:
    """Makes the package from a document of the running service, once for the same document. A warning fails."""
    with deployment.connect() as wire:
        described = wire.send("GET", document).raw

    def make(place: Path) -> None:
        place.mkdir()
        file, target = place / f"{package}.json", place / package
        file.write_bytes(described)
        options = ("--meta", "none", "--fail-on-warning", "--output-path", str(target))
        generator = tools_directory() / "openapi-python-client"
        assert run_tool([generator, "generate", "--path", file, *options], place) == f"Generating {target}\n"

    name = f"{package}-{digest_of(described, REQUIREMENTS, Path(__file__))}"
    (folder / package).symlink_to(made_once(CACHE / "clients" / name, make) / package)


def run_program(program: str, folder: Path, deployment: Deployment, shop: MerchantClient) -> Any:
    (folder / program).write_text((PROGRAMS / program).read_text())
    address = f"http://127.0.0.1:{deployment.port}"
    output = run_tool([tools_directory() / "python", folder / program, address, shop.mid, shop.key], folder)
    return msgspec.json.decode(output)


def test_the_client_of_the_actions_document_works(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    generate_client(deployment, "/openapi-actions.json", "kasuwa_actions", tmp_path)
    before = shop.wallet().balance
    seen = run_program("use_actions.py", tmp_path, deployment, shop)

    assert (seen["transfer"]["class"], seen["transfer"]["txnStatus"]) == ("DisburseTransferReply", "successful")
    assert (seen["verify"]["class"], seen["verify"]["amount"]) == ("DisburseVerifyReply", "1500.00")
    assert seen["repeated"] == seen["transfer"]
    assert shop.verify(seen["transfer"]["txnRef"])["txnStatus"] == "successful"
    paid = [seen["verify"][name] for name in ("amount", "fee", "vat")]
    assert before - shop.wallet().balance == sum(int(amount.replace(".", "")) for amount in paid)

    assert (seen["invalid"]["class"], seen["invalid"]["status"]) == ("ErrorBody", 104)
    assert seen["invalid"]["errors"][0]["field"] == "amount"
    assert (seen["uncovered"]["class"], seen["uncovered"]["status"]) == ("ErrorBody", 301)
    assert (seen["unauthorized"]["class"], seen["unauthorized"]["http"]) == ("ErrorBody", 401)

    assert seen["banks"]["000001"] == "Sterling Bank"
    assert seen["accountname"]["class"] == "ResourcesAccountNameReply"
    assert seen["wallet"]["data"][0]["currency"] == "NGN"


def test_the_client_of_the_paths_document_works(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    """A reply does not say which action it belongs to: here it is read as the first type that fits, and no field is
    lost. The document of actions has the type of each."""
    generate_client(deployment, "/openapi.json", "kasuwa_paths", tmp_path)
    seen = run_program("use_paths.py", tmp_path, deployment, shop)
    assert (seen["transfer"]["class"], seen["transfer"]["txnStatus"]) == ("DisburseTransferReply", "successful")
    assert (seen["verify"]["amount"], seen["verify"]["txnRef"]) == ("1500.00", seen["transfer"]["txnRef"])
    assert seen["unknown"]["class"] == "ErrorBody"
    assert seen["health"]["status"] == 200


def test_a_warning_of_the_generator_would_fail(tmp_path: Path) -> None:
    """Two schemas with one title are the fault that our documents avoid: the generator warns of it."""
    schemas = {name: {"title": "Same", "type": "object", "properties": {name: {}}} for name in ("One", "Other")}
    faulty = {
        "openapi": "3.1.0",
        "info": {"title": "x", "version": "1"},
        "components": {"schemas": schemas},
        "paths": {},
    }
    file = tmp_path / "faulty.json"
    file.write_bytes(msgspec.json.encode(faulty))
    options = ("--meta", "none", "--fail-on-warning", "--output-path", str(tmp_path / "faulty"))
    with pytest.raises(ToolFailed, match="Same"):
        run_tool([tools_directory() / "openapi-python-client", "generate", "--path", file, *options], tmp_path)
