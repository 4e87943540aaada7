"""The code of the guides, run as it is printed, in all four languages, against the real service."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.documentation.guide_programs import (
    GUIDES,
    LANGUAGES,
    OUTPUT,
    PAGES,
    ShellReader,
    compile_typescript,
    expected_output,
    program_of,
    read_blocks,
    read_samples,
    run_php,
    run_python,
    run_typescript,
    save_files,
)
from tests.merchant_client import MerchantClient
from tests.node import find_node
from tests.packages import find_openssl, find_php
from tests.running import Deployment, free_port, stop, terminated_with_us
from tests.simulate.processes import wait_until
from tests.source_rules import REPOSITORY

# One worker runs them all, so that the programs are compiled once.
pytestmark = pytest.mark.xdist_group("documentation")

OpenShop = Callable[..., MerchantClient]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files that the guides name, and their compiled programs in TypeScript."""
    directory = tmp_path_factory.mktemp("guides")
    save_files(directory)
    compile_typescript(directory)
    return directory


def environment_of(deployment: Deployment, shop: MerchantClient) -> dict[str, str]:
    return {
        "KASUWA_URL": f"http://127.0.0.1:{deployment.port}",
        "KASUWA_MID": shop.mid,
        "KASUWA_KEY": shop.key,
        "KASUWA_SIGNING_SECRET": shop.key,
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_sample_is_in_all_four_languages(page: Path) -> None:
    counts = {language: sum(block.language == language for block in read_blocks(page)) for language in LANGUAGES}
    helpers = sum(block.file == "kasuwa.php" for block in read_blocks(page))
    counts["php"] -= helpers
    assert len(set(counts.values())) == 1, counts
    assert counts["sh"] > 0
    for language in OUTPUT:
        assert expected_output(program_of(page, language), language) != []


def test_the_python_programs_are_formatted(tmp_path: Path) -> None:
    save_files(tmp_path)
    for page in PAGES:
        (tmp_path / f"{page.stem}.py").write_text(program_of(page, "python"))
    config = str(REPOSITORY / "pyproject.toml")
    checks = (["format", "--check"], ["check", "--ignore", "I001,E402"])
    for check in checks:
        command = [sys.executable, "-m", "ruff", *check, "--no-cache", "--config", config, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_get_the_replies_that_the_guide_shows(
    page: Path, deployment: Deployment, open_shop: OpenShop, programs: Path
) -> None:
    reader = ShellReader(programs, environment_of(deployment, open_shop(name="Ada Stores")))
    samples = list(read_samples(page))
    assert samples
    for sample in samples:
        reader.follow(sample)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_program_prints_what_the_guide_shows(
    page: Path, deployment: Deployment, open_shop: OpenShop
) -> None:
    program = program_of(page, "python")
    printed = run_python(program, environment_of(deployment, open_shop(name="Ada Stores")))
    assert printed == expected_output(program, "python")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_typescript_program_prints_what_the_guide_shows(
    page: Path, deployment: Deployment, open_shop: OpenShop, programs: Path
) -> None:
    printed = run_typescript(page, programs, environment_of(deployment, open_shop(name="Ada Stores")))
    assert printed == expected_output(program_of(page, "ts"), "ts")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_php_program_prints_what_the_guide_shows(
    page: Path, deployment: Deployment, open_shop: OpenShop, programs: Path
) -> None:
    program = program_of(page, "php")
    printed = run_php(program, programs, environment_of(deployment, open_shop(name="Ada Stores")))
    assert printed == expected_output(program, "php")


# --- receivers of events ----------------------------------------------------------------------------------------------


@contextmanager
def running_receiver(command: list[str], directory: Path, environ: dict[str, str], output: Path) -> Iterator[None]:
    with output.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=directory, env={**os.environ, **environ}, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        with terminated_with_us(process.pid, signal.SIGTERM):
            yield
    finally:
        stop(process)


def send_transfer(shop: MerchantClient) -> str:
    order = shop.put("disburse", action="transfer", amount="1500.00", bankcode="058", accountnumber="0000000000")
    return str(order.body["txnRef"])


def answer_to(url: str, body: bytes, headers: dict[str, str]) -> int | None:
    """Returns the HTTP status of an answer, or None if nobody listens yet."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


@pytest.mark.parametrize("language", ["python", "ts", "php"])
def test_the_receiver_accepts_a_delivery_and_rejects_a_forged_one(
    language: str, deployment: Deployment, shop: MerchantClient, programs: Path, tmp_path: Path
) -> None:
    port = free_port()
    commands = {
        "python": [sys.executable, "events.py"],
        "ts": [str(find_node()), "events.mjs"],
        "php": [str(find_php()), "-S", f"127.0.0.1:{port}", "events.php"],
    }
    environ = {**environment_of(deployment, shop), "EVENTS_PORT": str(port)}
    url, output = f"http://127.0.0.1:{port}/events", tmp_path / "output"
    with running_receiver(commands[language], programs, environ, output):
        forged = {"webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"}
        wait_until("it listens", lambda: answer_to(url, b"{}", forged) == 400)
        shop.put("sandbox", action="webhook", url=url)
        sent = send_transfer(shop)
        wait_until("the event was delivered", lambda: f"transfer {sent} successful" in output.read_text())

        def is_delivered() -> bool:
            return bool(shop.put("resources", inquire="events").body["data"][0]["state"] == "delivered")

        wait_until("the delivery was accepted", is_delivered)


def test_the_shell_script_tells_a_genuine_delivery_from_a_forged_one(
    deployment: Deployment, shop: MerchantClient, programs: Path, tmp_path: Path
) -> None:
    find_openssl()
    delivery = receive_delivery(shop, tmp_path)
    environ = {**os.environ, **environment_of(deployment, shop), **delivery}
    for changes, verdict in (({}, "genuine\n"), ({"KASUWA_SIGNING_SECRET": "another"}, "forged\n")):
        done = subprocess.run(
            ["sh", str(programs / "verify.sh")],
            cwd=tmp_path,
            env={**environ, **changes},
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.returncode) == (verdict, 0), done.stderr


def receive_delivery(shop: MerchantClient, directory: Path) -> dict[str, str]:
    """Receives one delivery. Saves its body as body.json, and returns its headers as the variables of the guide."""
    program = directory / "saving.py"
    program.write_text(SAVING_RECEIVER)
    port = free_port()
    with running_receiver([sys.executable, "saving.py"], directory, {"EVENTS_PORT": str(port)}, directory / "output"):
        url = f"http://127.0.0.1:{port}/events"
        wait_until("it listens", lambda: answer_to(url, b"{}", {}) == 400)
        shop.put("sandbox", action="webhook", url=url)
        send_transfer(shop)
        wait_until("a delivery was saved", (directory / "headers").exists)
    headers = dict(re.findall(r"^(webhook-\w+): (.*)$", (directory / "headers").read_text(), re.MULTILINE))
    return {name.upper().replace("-", "_"): value for name, value in headers.items()}


SAVING_RECEIVER = """\
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if "webhook-id" in self.headers:
            Path("body.json").write_bytes(body)
            Path("partial").write_text("".join(f"{name.lower()}: {value}\\n" for name, value in self.headers.items()))
            Path("partial").rename("headers")
        self.send_response(200 if "webhook-id" in self.headers else 400)
        self.end_headers()

HTTPServer(("127.0.0.1", int(os.environ["EVENTS_PORT"])), Receiver).serve_forever()
"""


# --- test values ------------------------------------------------------------------------------------------------------

TEST_VALUES = (GUIDES / "test-values.md").read_text()
CARDS = re.findall(r"^\| (\d{16}) \| (approved|declined)", TEST_VALUES, re.MULTILINE)
ACCOUNTS = re.findall(r"^\| (\d{10}) \| (successful|failed|pending|processing)", TEST_VALUES, re.MULTILINE)


def test_the_cards_and_accounts_have_the_outcomes_that_the_guide_names(shop: MerchantClient) -> None:
    assert (len(CARDS), len(ACCOUNTS)) == (2, 5)
    for number, outcome in CARDS:
        card = {"card_no": number, "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
        order: dict[str, Any] = {"paymentType": "card", "amount": "1500.00", "card": card}
        begun = shop.send_fields("payment", {"action": "initiate", **order}).body
        charge = {"action": "charge", **order, "txnRef": begun["txnRef"], "auth_type": "PIN"}
        charged = shop.send_fields("payment", charge).body
        assert charged["txnStatus"] == {"approved": "successful", "declined": "failed"}[outcome], charged
    for number, outcome in ACCOUNTS:
        order = {"action": "transfer", "amount": "10.00", "bankcode": "058", "accountnumber": number}
        assert shop.send_fields("disburse", order).body["txnStatus"] == outcome, number
