"""openapi-generator and datamodel-code-generator make clients of the document of actions, and they work.

openapi-generator needs Java, and its PHP client needs php and Guzzle: Debian packages (tests/packages.py).
"""

from pathlib import Path
from typing import Any

import msgspec

from tests.generators.environment import CACHE, REQUIREMENTS, run_tool, tools_directory
from tests.made_once import digest_of, made_once
from tests.merchant_client import MerchantClient
from tests.node import MANIFESTS, install_npm_packages, run_node
from tests.packages import find_java, find_php, need_package
from tests.running import Deployment

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
PACKAGES = HERE / "typescript"
GUZZLE = Path("/usr/share/php/GuzzleHttp/autoload.php")
# No pages and no empty tests: they are most of the files.
ALONE = "models,apis,supportingFiles,modelDocs=false,apiDocs=false,modelTests=false,apiTests=false"
COMPILER = {
    "compilerOptions": {
        "target": "es2022",
        "module": "commonjs",
        "moduleResolution": "node",
        "strict": True,
        "lib": ["es2022", "dom"],
        "types": ["node"],
    },
    "files": ["generated_client.ts"],
}


def read_document(deployment: Deployment) -> bytes:
    with deployment.connect() as wire:
        return wire.send("GET", "/openapi-actions.json").raw


def generate(generator: str, described: bytes, target: Path, *options: str) -> None:
    """Makes a client by openapi-generator, below a new directory."""
    find_java()
    target.mkdir()
    file = target / "openapi.json"
    file.write_bytes(described)
    program = tools_directory() / "openapi-generator-cli"
    alone = ("--global-property", ALONE)
    run_tool([program, "generate", "-g", generator, "-i", file, "-o", target / "generated", *alone, *options], target)


def made_client(name: str, described: bytes) -> Path:
    """Returns the directory of a client, by the content that it is made of."""
    return CACHE / "clients" / f"{name}-{digest_of(described, REQUIREMENTS, Path(__file__))}"


def run_program(command: list[str | Path], folder: Path, deployment: Deployment, shop: MerchantClient) -> Any:
    return msgspec.json.decode(run_tool([*command, address_of(deployment), shop.mid, shop.key], folder))


def address_of(deployment: Deployment) -> str:
    return f"http://127.0.0.1:{deployment.port}"


def check_calls(seen: Any, shop: MerchantClient) -> None:
    """Asserts what the three calls of every program replied."""
    assert (seen["transfer"]["txnStatus"], seen["verify"]["amount"]) == ("successful", "1500.00")
    assert seen["verify"]["txnRef"] == seen["transfer"]["txnRef"]
    assert shop.verify(seen["transfer"]["txnRef"])["txnStatus"] == "successful"
    assert (seen["refused"]["status"], seen["refused"]["code"]) == (104, "field_invalid")
    assert [fault["field"] for fault in seen["refused"]["errors"]] == ["amount"]


def test_the_python_client_of_openapi_generator_works(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    """The wire has a field `validate`, as models of pydantic have a method: the generator gives it another name."""
    described = read_document(deployment)
    options = ("--package-name", "kasuwa_generated", "--name-mappings", "validate=validate_text")
    made = made_once(made_client("python", described), lambda place: generate("python", described, place, *options))
    (tmp_path / "kasuwa_generated").symlink_to(made / "generated" / "kasuwa_generated")
    program = tmp_path / "generated_client.py"
    program.write_text((PROGRAMS / program.name).read_text())
    seen = run_program([tools_directory() / "python", program], tmp_path, deployment, shop)
    check_calls(seen, shop)
    classes = [seen[name]["class"] for name in ("transfer", "verify", "refused")]
    assert classes == ["DisburseTransferReply", "DisburseVerifyReply", "ErrorBody"]


def test_the_typescript_client_of_openapi_generator_works(deployment: Deployment, shop: MerchantClient) -> None:
    described, program = read_document(deployment), PROGRAMS / "generated_client.ts"

    def make(place: Path) -> None:
        generate("typescript-fetch", described, place)
        (place / "node_modules").symlink_to(install_npm_packages(PACKAGES))
        (place / program.name).write_text(program.read_text())
        (place / "tsconfig.json").write_bytes(msgspec.json.encode(COMPILER))
        assert run_node([place / "node_modules" / "typescript" / "bin" / "tsc", "-p", "."], place) == ""

    contents = digest_of(program, *(PACKAGES / name for name in MANIFESTS))
    folder = made_once(made_client(f"typescript-{contents}", described), make)
    output = run_node(["generated_client.js", address_of(deployment), shop.mid, shop.key], folder)
    check_calls(msgspec.json.decode(output), shop)


def test_the_php_client_of_openapi_generator_works(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    """Its class of a reply has the fields of the reply and of the error. It takes the values of one of them alone,
    unless it is made with a case for unknown ones: `status` is that unless it is the code of an error."""
    php = find_php()
    need_package("php-guzzlehttp-guzzle", GUZZLE)
    described = read_document(deployment)
    made = made_once(
        made_client("php", described),
        lambda place: generate("php", described, place, "--additional-properties", "enumUnknownDefaultCase=true"),
    )
    (tmp_path / "generated").symlink_to(made / "generated")
    program = tmp_path / "generated_client.php"
    program.write_text((PROGRAMS / program.name).read_text())
    check_calls(run_program([php, program], tmp_path, deployment, shop), shop)


def test_the_models_of_datamodel_code_generator_work(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    described = read_document(deployment)

    def make(place: Path) -> None:
        place.mkdir()
        file = place / "openapi.json"
        file.write_bytes(described)
        # An amount is a text then, not an object with a text.
        options = ("--output-model-type", "pydantic_v2.BaseModel", "--collapse-root-models")
        program = tools_directory() / "datamodel-codegen"
        target = place / "kasuwa_models.py"
        run_tool([program, "--input", file, "--input-file-type", "openapi", "--output", target, *options], place)

    made = made_once(made_client("models", described), make)
    (tmp_path / "kasuwa_models.py").symlink_to(made / "kasuwa_models.py")
    program = tmp_path / "generated_models.py"
    program.write_text((PROGRAMS / program.name).read_text())
    check_calls(run_program([tools_directory() / "python", program], tmp_path, deployment, shop), shop)
