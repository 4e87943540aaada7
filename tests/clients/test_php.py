"""The PHP client: its generated sources, its own tests against a running service, and every action with its example."""

import json
import re
import subprocess
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import kasuwa
from clients.generate import php
from clients.generate.php_text import camel_case
from clients.generate.surface import read_surface
from tests.clients.php_client import SOURCE, PhpClient, is_offered, run_php, run_tests
from tests.clients.test_typescript import with_exact_texts
from tests.clients.typescript_package import url_of
from tests.examples import record
from tests.merchant_client import MerchantClient
from tests.packages import find_php_with_curl
from tests.running import Deployment
from tests.walk.rows import NOW


def test_the_generated_sources_are_current() -> None:
    assert php.written_files() == php.render_all(), "run `python -m clients.generate`"


def test_versions_are_in_step() -> None:
    manifest = json.loads((SOURCE / "composer.json").read_text())
    [source] = re.findall(r"VERSION = '(.+)'", (SOURCE / "src" / "Kasuwa.php").read_text())
    assert {manifest["version"], source} == {kasuwa.__version__}


def test_the_package_needs_php_and_its_extensions_alone() -> None:
    manifest = json.loads((SOURCE / "composer.json").read_text())
    assert list(manifest["require"]) == ["php", "ext-curl", "ext-json"]


def test_every_file_declares_the_class_that_it_is_named_after() -> None:
    """Autoloaders find a class by its name."""
    [(prefix, folder)] = json.loads((SOURCE / "composer.json").read_text())["autoload"]["psr-4"].items()
    files = list((SOURCE / folder).rglob("*.php"))
    assert len(files) > 300
    for path in files:
        namespace = (prefix + "\\".join(path.relative_to(SOURCE / folder).parent.parts)).rstrip("\\")
        text = path.read_text()
        assert f"\ndeclare(strict_types=1);\n\nnamespace {namespace};\n" in text, path
        assert re.findall(r"^(?:abstract |final )?(?:class|enum|interface) (\w+)", text, re.MULTILINE) == [path.stem]


def test_php_reads_every_file() -> None:
    """Loading a class finds more than `php -l` does: parents, interfaces and constants that are not there."""
    files = sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.php"))
    run_php(["-r", f"require 'test/service.php'; foreach ({php_list(files, 'src/')} as $file) require_once $file;"], {})
    for path in (name for name in files if name.startswith("test/")):
        run_php(["-l", path], {})


def php_list(files: list[str], prefix: str) -> str:
    return "[" + ", ".join(f"'{name}'" for name in files if name.startswith(prefix)) + "]"


def test_calls_behave_as_documented(deployment: Deployment, tmp_path: Path) -> None:
    assert len(run_tests(deployment, tmp_path, "calls.php")) > 15


def test_every_action_is_called_with_its_example(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    client = PhpClient(deployment, open_shop(now=NOW))
    texts = record(client)
    client.close()
    for path, text in texts.items():
        assert text == path.read_text()
    offered = {action.title for action in read_surface().actions if is_offered(action, action.example)}
    assert {call.action.title for call in client.calls} == offered
    assert len(read_surface().actions) - len(offered) <= 1
    for call in client.calls:
        wire = call.answer["wire"]
        sent = {name: value for name, value in wire["sent"].items() if name in call.asked or name != "orderRef"}
        assert sent == call.asked
        returned = call.answer.get("returned", call.answer.get("refused", {}).get("reply"))
        raw = without_empty_objects(json.loads(wire["text"], parse_float=Decimal))
        assert with_exact_texts(returned, raw) == without_empty_objects(returned)


def without_empty_objects(value: Any) -> Any:
    """Returns a value with empty lists in the place of empty objects: both are an empty array in PHP."""
    if isinstance(value, dict):
        return {name: without_empty_objects(inner) for name, inner in value.items()} or []
    return [without_empty_objects(inner) for inner in value] if isinstance(value, list) else value


def test_the_examples_of_all_methods_are_calls_of_php(tmp_path: Path) -> None:
    actions = read_surface().actions
    program = tmp_path / "examples.php"
    program.write_text("\n".join(["<?php", *(php.example_call(action) for action in actions), ""]))
    run_php(["-l", program], {})
    sources = "".join(path.read_text() for path in (SOURCE / "src" / "Api").glob("*.php"))
    for action in actions:
        assert f"$shop->{action.path}->{camel_case(action.method)}(" in sources


# What comes after the snippets: a paid order, its event twice, and a forged one.
PAID_ORDER = """
$charged = $shop->payment->chargeBankTransfer(amount: '1500.00');
$shop->sandbox->payAccount(accountNumber: $charged->accountNumber, amount: '1500.00');
$shop->payment->wait($charged);
$unpaid = [$charged->txnRef => 'shirt', 'GP-other' => 'hat'];
foreach ([$charged->txnRef, $charged->txnRef, 'GP-other'] as $reference) {
    $event = \\Kasuwa\\Webhook::signEvent(['kind' => 'payment', 'txnRef' => $reference], getenv('KASUWA_KEY'));
    echo receive($shop, $unpaid, ...$event), "\\n";
}
echo receive($shop, $unpaid, ...\\Kasuwa\\Webhook::signEvent(['kind' => 'payment'], 'another-key')), "\\n";
"""


def test_the_snippets_of_the_readme_run(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    found = [text.partition("```")[0] for text in (SOURCE / "README.md").read_text().split("```php\n")[1:]]
    given = {"'http://127.0.0.1:8080'": "KASUWA_URL", "'GP0000001'": "KASUWA_MID", "'123456789'": "KASUWA_KEY"}
    program = f"require {str(SOURCE / 'test' / 'service.php')!r};\n" + "\n".join(found).replace("<?php\n", "")
    for text, variable in given.items():
        program = program.replace(text, f"getenv('{variable}')")
    imports = dict.fromkeys(re.findall(r"^use .+;\n", program, re.MULTILINE))
    program = f"<?php\n\n{''.join(imports)}\n" + re.sub(r"^use .+;\n", "", program, flags=re.MULTILINE)
    program = program.replace("require 'vendor/autoload.php';\n", "")
    (tmp_path / "readme.php").write_text(program + PAID_ORDER)
    environment = {"KASUWA_URL": url_of(deployment), "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}
    output = run_php([tmp_path / "readme.php"], environment)
    assert output.startswith("successful\n")
    assert output.endswith("hand over the shirt\n200\n200\n200\n400\n")


def test_a_program_without_strict_types_cannot_send_a_float(deployment: Deployment, shop: MerchantClient) -> None:
    call = (
        "require 'test/service.php'; $shop = Kasuwa\\Kasuwa::fromEnvironment();"
        "try { $shop->disburse->transfer(amount: 0.1 + 0.2, bankcode: '058', accountnumber: '0000000000'); }"
        "catch (InvalidArgumentException $error) { echo $error->getMessage(); }"
    )
    environment = {"KASUWA_URL": url_of(deployment), "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}
    assert run_php(["-r", call], environment) == 'amount: pass an amount as a string such as "1500.00", not float'


def test_the_php_of_the_tests_has_curl_and_json() -> None:
    done = subprocess.run([find_php_with_curl(), "-m"], capture_output=True, text=True, check=True)
    assert {"curl", "json"} <= set(done.stdout.split())
