"""Rotation of keys while requests run: the worker is killed in between, nothing becomes unreadable, no old ciphertext
stays, and processes that started before go on."""

import asyncio
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import psutil
import pytest

from kasuwa.core.keyring import INDEX, SEAL, UnknownVersion, make_header, named_version
from kasuwa.methods.clients.model import bvn_guard_key
from kasuwa.methods.clients.rules.index_client import hash_client
from kasuwa.methods.sealed_columns import SEALED_PLACES
from kasuwa.postgres.migrate import migrate
from kasuwa.privacy import key_moves
from kasuwa.settings.secret_key import SECRET_FILE, load_secret_key
from kasuwa.settings.settings import read_settings
from kasuwa.transactions.sealed_payers import PayerData, job_payer_aad, unseal_payer
from tests.command_processes import is_service_process
from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import ADA, BVN, create, enroll, list_all, view
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment, Deployments, running_deployment
from tests.sealed_rows import make_two_of_each, open_everything, read_vault

# How long processes may take to learn a version. A rotation takes twice as long.
UPDATE_SECONDS = 4
DEADLINE_SECONDS = 120.0
KILLS = 3
PAUSE_SECONDS = 0.05
SOME_ROUNDS = 10


class Load(threading.Thread):
    """Reads and writes sealed rows of a merchant until it is stopped. `failures` has replies that should not be."""

    def __init__(self, shop: MerchantClient, card: str, client_id: str) -> None:
        super().__init__(daemon=True)
        self._shop, self._card, self._client_id = shop, card, client_id
        self._stopping = threading.Event()
        self.failures: list[Any] = []
        self.rounds = 0

    def run(self) -> None:
        while not self._stopping.wait(PAUSE_SECONDS):
            self.rounds += 1
            email = f"payer{self.rounds}@example.com"
            for path, fields in (
                ("virtualcard", {"action": "get", "reference": self._card, "reveal": True}),
                ("clients", {"action": "update", "client_id": self._client_id, "data": {"middlename": email[:9]}}),
                ("resources", {"request": "customer", "name": "Ada Obi", "email": email}),
                ("resources", {"inquire": "customer", "email": email}),
            ):
                body = self._shop.put(path, **fields).body
                if body["status"] != 200:
                    self.failures.append((path, fields, body))
            self.look_up_client()

    def look_up_client(self) -> None:
        """The client is found by its hashes, and its BVN cannot be given to another, whatever key they are by."""
        for found_by in ({"phone": ADA["phone"]}, {"bvn": BVN}):
            if (body := list_all(self._shop, **found_by))["total"] != 1:
                self.failures.append((found_by, body))
        if (body := create(self._shop, bvn=BVN, phone="08030000000"))["status"] != 104:
            self.failures.append(("a second client with the BVN", body))

    def wait_for_rounds(self) -> None:
        until = time.monotonic() + DEADLINE_SECONDS
        while self.rounds <= SOME_ROUNDS and self.is_alive():
            assert time.monotonic() < until, "the load has stopped"
            time.sleep(0.05)

    def stop(self) -> None:
        self._stopping.set()
        self.join()


class Rotated(msgspec.Struct):
    """The deployment after a rotation of the root."""

    deployment: Deployment
    shop: MerchantClient
    load: Load
    kills: int
    processes: set[int]  # of the API, before the rotation
    plain: dict[Any, bytes]  # what every ciphertext held before the rotation


def pids(deployment: Deployment, part: str) -> set[int]:
    return {p.pid for p in psutil.process_iter() if is_service_process(p, part, deployment.directory)}


def wait_until(deployment: Deployment, query: str) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while not deployment.fetch(query)[0][0]:
        assert time.monotonic() < until, query
        time.sleep(0.05)


async def prepare(dsn: str, directory: Path) -> None:
    """Makes the database, in which processes learn versions fast."""
    connection = await asyncpg.connect(dsn)
    await migrate(connection, "test", load_secret_key(read_settings({}, data=directory)))
    await connection.execute("update deployment set key_update_seconds = $1", UPDATE_SECONDS)
    await connection.close()


def kill_worker(deployment: Deployment, killed: set[int]) -> None:
    """Kills the next worker that has not been killed yet."""
    until = time.monotonic() + DEADLINE_SECONDS
    while not (running := pids(deployment, "worker") - killed):
        assert time.monotonic() < until
        time.sleep(0.05)
    for pid in running:
        killed.add(pid)
        psutil.Process(pid).kill()


BEGUN_OR_DONE = """
    select bool_or(k.finished_at is not null or m.rewritten > 0)
    from data_key k join key_move m using (purpose, version)
"""
DONE = "select bool_and(finished_at is not null) from data_key"


@pytest.fixture(scope="module")
def rotated(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rotated]:
    dsn, directory = deployments.new_database("keys_rotated"), tmp_path_factory.mktemp("keys") / "data"
    directory.mkdir()
    asyncio.run(prepare(dsn, directory))
    with running_deployment(directory, dsn, KASUWA_WORKERS="2", KASUWA_CONSOLE="off") as deployment:
        shop, other = deployment.open_shop(), deployment.open_shop()
        with shop.connection, other.connection:
            make_two_of_each(shop, deployment)
            plain, processes = open_everything(deployment), pids(deployment, "api")
            load = Load(other, CardClient(other).reference, enroll(other, bvn=BVN)["client_id"])
            load.start()
            deployment.run_command("keys", "rotate", "--root", "--overlap-hours", "0")
            killed: set[int] = set()
            for _ in range(KILLS):
                wait_until(deployment, BEGUN_OR_DONE)
                kill_worker(deployment, killed)
            wait_until(deployment, DONE)
            load.wait_for_rounds()
            load.stop()
            yield Rotated(deployment, shop, load, len(killed), processes, plain)


def test_nothing_becomes_unreadable(rotated: Rotated) -> None:
    opened = open_everything(rotated.deployment)
    assert len(rotated.plain) > 30
    assert {key: opened.get(key) for key in rotated.plain} == rotated.plain


def test_requests_go_on_while_keys_are_rotated(rotated: Rotated) -> None:
    assert rotated.load.rounds > SOME_ROUNDS
    assert rotated.load.failures == []
    assert rotated.kills == KILLS
    assert rotated.processes == pids(rotated.deployment, "api"), "the processes that started before still serve"


def test_no_ciphertext_of_the_old_version_is_left(rotated: Rotated) -> None:
    counted = rotated.deployment.run_on_connection(lambda c: key_moves.count_ciphertexts(c, SEALED_PLACES))
    assert set(counted) == {2}
    columns = rotated.deployment.fetch(
        "select table_name, column_name from information_schema.columns where table_schema = 'public'"
        " and data_type = 'bytea'"
    )
    for table, column in columns:
        query = f"select count(*) from {table} where substring({column} from 1 for 8) = $1"
        assert rotated.deployment.fetch(query, make_header(1))[0][0] == 0, (table, column)


def test_clients_have_hashes_of_the_new_key_alone(rotated: Rotated) -> None:
    vault = asyncio.run(read_vault(rotated.deployment))
    [digest] = vault.index_digests
    rows = rotated.deployment.fetch(
        "select merchant_id, client_id, bvn_sealed, detail_sealed, bvn_hash, phone_hash, email_hash from client"
    )
    assert any(row[4] for row in rows)
    for merchant_id, client_id, bvn_sealed, detail_sealed, *hashes in rows:
        assert hash_client(vault, merchant_id, client_id, bvn_sealed, detail_sealed) == tuple(hashes)
    guards = {bvn_guard_key(row[0], row[4]) for row in rows if row[4] is not None}
    assert {row[0] for row in rotated.deployment.fetch("select key from client_bvn")} <= guards
    assert digest(b"x") != vault.digest(b"x")


def test_jobs_of_payments_open_with_the_new_version(rotated: Rotated) -> None:
    vault = asyncio.run(read_vault(rotated.deployment))
    rows = rotated.deployment.fetch(
        "select merchant_id, reference, work ->> 'sealed_payer' from scheduled_job where work ->> 'sealed_payer' <> ''"
    )
    assert len(rows) >= 2
    for merchant_id, reference, encoded in rows:
        sealed = b64decode(encoded)
        assert named_version(sealed) == 2
        payer = unseal_payer(merchant_id, job_payer_aad(reference), sealed, vault.unseal)
        assert payer == PayerData("Ada Obi", "ada@example.com")


def test_the_old_version_is_refused_and_listed_as_retired(rotated: Rotated) -> None:
    lines = rotated.deployment.run_command("keys", "list", "--json").splitlines()
    listed = [msgspec.json.decode(line) for line in lines]
    seals = [(line["version"], line["state"]) for line in listed if line["purpose"] == SEAL]
    assert seals == [(1, "retired"), (2, "active")]
    assert [line["ciphertexts"] > 0 for line in listed if line["purpose"] == SEAL] == [False, True]
    indexes = [(line["version"], line["state"]) for line in listed if line["purpose"] == INDEX]
    assert indexes == [(1, "retired"), (2, "active")]
    shown = rotated.deployment.run_command("keys", "list")
    assert "seal 2  active  all merchants  made " in shown
    vault = asyncio.run(read_vault(rotated.deployment))
    with pytest.raises(UnknownVersion):
        vault.unseal(1, "place", make_header(1) + bytes(40))


def test_a_retired_key_is_dropped_and_new_processes_start_without_it(rotated: Rotated) -> None:
    deployment = rotated.deployment
    assert "version 2 is in use" in deployment.run_refused_command("keys", "drop", "2")
    deployment.run_command("keys", "drop", "1")
    actions = deployment.fetch("select action from audit_entry where actor like 'command:%' order by at desc limit 1")
    assert actions == [("dropped a key",)]
    assert "version 1 was dropped already" in deployment.run_refused_command("keys", "drop", "1")
    opened = open_everything(deployment)
    assert {key: opened.get(key) for key in rotated.plain} == rotated.plain
    kill_worker(deployment, set())
    wait_until(deployment, "select count(*) > 0 from pg_stat_activity where application_name = 'kasuwa presence'")
    assert rotated.shop.transfer()["status"] == 200


def test_the_secret_key_is_replaced_while_requests_run(rotated: Rotated) -> None:
    deployment, path = rotated.deployment, rotated.deployment.directory / SECRET_FILE
    old = path.read_text()
    assert "the old one decrypts nothing anymore" in deployment.run_command("keys", "rotate", "--kek")
    assert path.read_text() != old
    assert rotated.processes == pids(deployment, "api")
    client_id = enroll(rotated.shop)["client_id"]
    assert view(rotated.shop, client_id)["data"]["firstname"] == "Ada"
    new = path.read_text()
    path.write_text(old)
    assert "the secret key does not open this database" in deployment.run_refused_command("keys", "list")
    path.write_text(new)
    assert len(open_everything(deployment)) >= len(rotated.plain)


def test_one_merchants_key_is_rotated_alone(rotated: Rotated) -> None:
    """Processes that started before the secret key was replaced read the new one, to unwrap the version."""
    deployment, mid = rotated.deployment, rotated.shop.mid
    assert "no merchant has the mid" in deployment.run_refused_command("keys", "rotate", "--merchant", "GP9999999")
    deployment.run_command("keys", "rotate", "--merchant", mid, "--overlap-hours", "0")
    wait_until(deployment, DONE)
    rows = deployment.fetch("select mid, detail_sealed from client join merchant using (merchant_id)")
    assert {named_version(sealed) for owner, sealed in rows if owner == mid} == {3}
    assert {named_version(sealed) for owner, sealed in rows if owner != mid} == {2}
    assert rotated.processes == pids(deployment, "api")
