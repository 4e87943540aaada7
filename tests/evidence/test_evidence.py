"""`kasuwa evidence` on a running system: its files are read, and the signature is checked without the system."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kasuwa.audit.verify import ProofError, verify_evidence
from kasuwa.evidence.card_scan import CANARY
from kasuwa.evidence.readme import FILES
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment, Deployments

NAMES = [name for name, _, _ in FILES]


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    """A deployment of its own: the search reads every row."""
    with deployments.fresh("evidence") as running:
        yield running


@pytest.fixture(scope="module")
def shop(deployment: Deployment) -> Iterator[MerchantClient]:
    made = deployment.open_shop()
    with made.connection:
        yield made


class Evidence:
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def document(self, name: str) -> Any:
        return json.loads((self.directory / name).read_bytes())

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / name).read_text().splitlines()]

    @property
    def everything(self) -> str:
        return "".join(path.read_text() for path in sorted(self.directory.iterdir()))


@pytest.fixture(scope="module")
def filled(deployment: Deployment, shop: MerchantClient, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Evidence of a merchant with a payment, a user, a close and a restore that was tested: nothing needs attention."""
    directory = tmp_path_factory.mktemp("filled")
    log = directory / "service.log"
    log.write_text('{"event":"request","mid":"GP0000001","ms":3}\n')
    PaymentClient(shop).paid()
    shop.put("sandbox", action="close")
    deployment.run_command("user", "add", f"{shop.mid}@example.com", "--role", "merchant:finance", "--mid", shop.mid)
    deployment.run_command("restore-test", deployment.dsn, "--note", "of last night")
    output = deployment.run_command("evidence", "--out", str(directory / "evidence"), "--logs", str(log))
    assert "needs attention" not in output
    return Evidence(directory / "evidence")


def test_the_files_say_what_the_system_has(filled: Evidence, shop: MerchantClient, deployment: Deployment) -> None:
    assert {path.name for path in filled.directory.iterdir()} == {*NAMES, "README.md", "manifest.json"}
    keys = filled.lines("keys.jsonl")
    [own] = [key for key in keys if key.get("mid") == shop.mid and key["kind"] == "api key"]
    assert (own["scopes"], own["age_days"], own["is_valid"]) == (["all"], 0, True)
    kinds = {key["kind"] for key in keys}
    assert {"key-encryption key", "root secret", "close key", "api key"} <= kinds
    [sealing] = [key for key in keys if key["kind"] == "data key" and key["purpose"] == "seal"]
    assert (sealing["version"], sealing["state"], sealing["ciphertexts"] > 0) == (1, "active", True)
    [user] = [user for user in filled.lines("users.jsonl") if user["mid"] == shop.mid]
    assert (user["role"], user["state"], user["last_sign_in"]) == ("merchant:finance", "invited", None)
    books = filled.document("books.json")
    assert (books["violations"], books["approved_by_their_proposer"]) == (0, 0)
    assert books["newest_close"]["number"] >= 1
    scan = filled.document("card_data.json")
    assert (scan["canary"], scan["database"]["found"], scan["database"]["findings"]) == ("found", 0, [])
    assert scan["tables"]["posting"] > 0
    assert scan["database"]["rows"] == sum(scan["tables"].values())
    retention = filled.document("retention.json")
    assert {rule["overdue_rows"] for rule in retention["deleted_in_time"]} == {0}
    [newest, *_] = filled.lines("restore_tests.jsonl")
    assert (newest["after"]["is_right"], newest["after"]["note"]) == (True, "of last night")
    assert filled.document("sbom.json")["bomFormat"] == "CycloneDX"
    readme = (filled.directory / "README.md").read_text()
    assert all(f"| `{name}` |" in readme for name in NAMES)
    for requirement in ("3.3.1", "3.4.1", "3.5.1", "8.2.6", "10.3.4"):
        assert requirement in readme


def test_no_secret_is_in_any_file(filled: Evidence, shop: MerchantClient, deployment: Deployment) -> None:
    text = filled.everything
    assert shop.mid in text
    assert shop.key not in text
    for column, table in (("sealed", "merchant_key"), ("verifier", "merchant_key"), ("wrapped_root", "deployment")):
        for (value,) in deployment.fetch(f"select {column} from {table}"):
            assert value.hex() not in text
    for secret in deployment.directory.rglob("*.key"):
        assert secret.read_text().strip() not in text
    assert deployment.fetch("select action from audit_entry where action = 'made evidence'")


def test_the_signature_is_checked_without_the_system(filled: Evidence, deployment: Deployment, tmp_path: Path) -> None:
    key = deployment.run_command("close", "--public-key").strip()
    command = [sys.executable, "-m", "kasuwa", "verify", str(filled.directory / "manifest.json"), "--key", key]
    clean = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KASUWA_DATA": str(tmp_path / "nothing")}
    checked = subprocess.run(command, env=clean, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "books.json: " in checked.stdout
    assert "evidence of the test environment" in checked.stdout
    keys, manifest = [bytes.fromhex(key)], filled.document("manifest.json")

    def refused(change: Callable[[Path], object], **fields: Any) -> str:
        copy = tmp_path / "copy"
        shutil.copytree(filled.directory, copy)
        change(copy)
        with pytest.raises(ProofError) as caught:
            verify_evidence({**manifest, **fields}, keys, copy)
        shutil.rmtree(copy)
        return str(caught.value)

    assert len(verify_evidence(manifest, keys, filled.directory)) == len(NAMES) + 2
    assert refused(lambda copy: (copy / "users.jsonl").unlink()) == "changed or missing: users.jsonl"
    assert refused(lambda copy: (copy / "books.json").write_text("{}")) == "changed or missing: books.json"
    assert refused(lambda copy: (copy / "more.json").write_text("{}")) == "not in the manifest: more.json"
    for field, value in (("made_at", "2020"), ("environment", "live"), ("files", manifest["files"][1:])):
        assert refused(lambda copy: None, **{field: value}) == "the signature of the manifest is wrong"
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex()
    assert "is signed by another key" in refused(lambda copy: None, public_key=other)


def test_what_needs_attention_is_named(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    """Card numbers in a table and in a log, a posting that was changed by the owner of the database, and a restore that
    has that change."""
    log = tmp_path / "service.log"
    log.write_text(f'{{"event":"paid with {CANARY}"}}\n')
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)

    async def harm(connection: Any) -> None:
        async with connection.transaction():
            await connection.execute("set local session_replication_role = replica")
            await connection.execute("update merchant set name = $2 where merchant_id = $1", merchant_id, f"x {CANARY}")
            await connection.execute("update posting set amount = amount + 1 where merchant_id = $1", merchant_id)

    async def mend(connection: Any) -> None:
        async with connection.transaction():
            await connection.execute("set local session_replication_role = replica")
            await connection.execute("update merchant set name = 'x' where merchant_id = $1", merchant_id)
            await connection.execute("update posting set amount = amount - 1 where merchant_id = $1", merchant_id)

    deployment.run_on_connection(harm)
    try:
        restored = deployment.run_any_command("restore-test", deployment.dsn)
        done = deployment.run_any_command("evidence", "--out", str(tmp_path / "evidence"), "--logs", str(log))
    finally:
        deployment.run_on_connection(mend)
    assert (done.returncode, done.stderr) == (1, "")
    made = Evidence(tmp_path / "evidence")
    assert (restored.returncode, made.lines("restore_tests.jsonl")[0]["after"]["is_right"]) == (1, False)
    scan, readme = made.document("card_data.json"), (made.directory / "README.md").read_text()
    assert [finding["what"] for finding in scan["logs"]["findings"]] == ["card number 411111******1111"]
    assert scan["database"]["findings"][0]["place"].startswith("merchant (")
    assert CANARY not in made.everything
    assert made.document("books.json")["violations"] > 0
    for line in ("card data in clear was found in 2 places", "the books have"):
        assert line in readme
        assert line in done.stdout


def test_a_directory_with_files_is_not_overwritten(deployment: Deployment, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")
    assert "is not an empty directory" in deployment.run_refused_command("evidence", "--out", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_copy_that_cannot_be_opened_is_no_restore(
    deployment: Deployment, deployments: Deployments, tmp_path: Path
) -> None:
    empty = deployments.new_database("restored-empty")
    assert "is empty" in deployment.run_refused_command("restore-test", empty)
    assert "no directory" in deployment.run_refused_command("restore-test", str(tmp_path / "nothing"))
