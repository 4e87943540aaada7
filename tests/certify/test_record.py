"""`kasuwa record` and `kasuwa serve --replay`: what was recorded is answered again, and nothing else."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kasuwa.integration.recording import read_recording
from kasuwa.integration.replay import Replayer
from kasuwa.testing.exchanges import Exchange, UnreadableRecording
from kasuwa.testing.golden import GoldenFiles
from kasuwa.testing.server import connect
from kasuwa_client import InvalidRequest, Kasuwa
from tests.command_processes import KasuwaProcess
from tests.merchant_client import MerchantClient
from tests.running import Deployment, stop
from tests.simulate.processes import clean_environment, run_command, wait_until

CARD = "4111111111111111"
APPLICATION = """
import sys
from kasuwa_client import Kasuwa

shop = Kasuwa.from_environment()
order = sys.argv[1] if len(sys.argv) > 1 else None
sent = shop.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000", order_ref=order)
print(shop.disburse.verify(txn_ref=sent.txn_ref).txn_status, sent.order_ref == order, sent.txn_ref)
checkout = shop.payment.checkout(amount="20.00", title="book", user={"email": "ada@example.com"})
print(checkout.checkout_url.startswith(shop.base_url))
"""


def run_application(url: str, *words: str) -> list[str]:
    environ = clean_environment({"KASUWA_URL": url, "KASUWA_MID": "GP0000001", "KASUWA_KEY": "any"})
    command = [sys.executable, "-c", APPLICATION, *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def record(deployment: Deployment, shop: MerchantClient, file: Path, *words: str) -> list[str]:
    environ = {"KASUWA_URL": f"http://127.0.0.1:{deployment.port}", "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}
    done = run_command(["record", "--to", str(file), "--", sys.executable, "-c", APPLICATION, *words], environ)
    assert (done.returncode, done.stderr) == (0, f"{file} has 3 of 3 requests\n")
    return done.stdout.splitlines()


@contextmanager
def replaying(file: Path, *words: str) -> Iterator[tuple[str, KasuwaProcess]]:
    """Yields the address of a replaying server, and its process. Its errors are in the file `errors` beside."""
    ready = file.with_name("ready.json")
    command = ["serve", "--port", "0", "--replay", str(file), "--ready-file", str(ready), *words]
    environ = clean_environment({"KASUWA_DATA": str(file.with_name("no-data"))})
    process = KasuwaProcess(command, environ, out=file.with_name("output"), err=file.with_name("errors"))
    try:
        wait_until("the replay is ready", ready.exists)
        yield json.loads(ready.read_text())["url"], process
    finally:
        stop(process)


def open_page(url: str, path: str) -> int:
    """Returns the HTTP status of a page."""
    try:
        with urllib.request.urlopen(url + path) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_an_application_that_is_recorded_gets_the_same_replies_again(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    file = tmp_path / "flow.json"
    printed = record(deployment, shop, file)
    recorded = json.loads(file.read_text())["exchanges"]
    assert [line["action"] for line in recorded] == ["disburse.transfer", "disburse.verify", "payment.checkout"]
    times = [line["timing"]["at_ms"] for line in recorded]
    assert times == sorted(times)
    assert times[0] == 0
    assert shop.key not in file.read_text()
    with replaying(file) as (url, process):
        assert run_application(url) == [printed[0], "True"]
        # Neither counts: a health check, and a page, which is never recorded.
        assert [open_page(url, path) for path in ("/healthz", "/pay/checkout/none")] == [200, 404]
    assert (process.returncode, file.with_name("errors").read_text()) == (0, "")
    assert not (tmp_path / "no-data").exists(), "a replay needs no database"
    assert not (tmp_path / "ready.json").exists()


def test_what_differs_from_the_recording_ends_with_exit_code_1(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    file = tmp_path / "flow.json"
    record(deployment, shop, file, "order-1")
    with (
        replaying(file) as (url, process),
        Kasuwa(mid="GP0000001", key="any", base_url=url) as client,
        pytest.raises(InvalidRequest) as refused,
    ):
        client.disburse.transfer(amount="1600.00", bankcode="058", accountnumber="0000000000", order_ref="order-1")
    assert refused.value.message == (
        "This request is not recorded. The next recorded one is number 1, disburse.transfer: "
        'amount is "1600.00", recorded was "1500.00"'
    )
    assert process.returncode == 1
    errors = "kasuwa: 1 requests were not recorded, 3 recorded ones did not come\n"
    assert file.with_name("errors").read_text() == errors
    with replaying(file, "--replay-loosely") as (url, process):
        assert run_application(url, "order-2")[0].split()[:2] == ["successful", "True"]
    assert process.returncode == 0


def test_a_golden_file_is_replayed_too(deployment: Deployment, tmp_path: Path) -> None:
    server = connect(f"http://127.0.0.1:{deployment.port}")
    order: Any = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}
    with server.merchant(golden_files=GoldenFiles(tmp_path, is_updating=True)) as kasuwa, kasuwa.golden("flow") as shop:
        for _ in range(2):
            sent = shop.client.disburse.transfer(**order)
            shop.client.disburse.verify(txn_ref=sent.txn_ref)
    with (
        replaying(tmp_path / "flow.json") as (url, process),
        Kasuwa(mid="GP0000001", key="any", base_url=url) as client,
    ):
        for _ in range(2):
            again = client.disburse.transfer(**order)
            assert again.order_ref is not None
            assert again.order_ref.startswith("kc-")
            assert client.disburse.verify(txn_ref=again.txn_ref).order_ref == again.order_ref
    assert process.returncode == 0


# --- matching -------------------------------------------------------------------------------------------------------

TRANSFER = {"action": "transfer", "amount": "1.00", "orderRef": "order-1"}
VERIFY = {"action": "verify", "txnRef": "GP00000000120260101A"}
RECORDED = [
    Exchange(
        "disburse.transfer", TRANSFER, 200, {"status": 202, "txnRef": "GP00000000120260101A", "orderRef": "order-1"}
    ),
    Exchange("disburse.verify", VERIFY, 200, {"status": 200, "txnStatus": "processing", "orderRef": "order-1"}),
    Exchange("disburse.verify", VERIFY, 200, {"status": 200, "txnStatus": "successful", "orderRef": "order-1"}),
]


def ask(replayer: Replayer, request: dict[str, Any], path: str = "disburse") -> dict[str, Any]:
    _, body = replayer.answer(path, json.dumps(request).encode())
    reply: dict[str, Any] = json.loads(body)
    return reply


def test_a_strict_replay_wants_the_order_of_the_recording() -> None:
    replayer = Replayer(RECORDED)
    early = ask(replayer, VERIFY)
    assert (early["status"], early["code"], early["nearest"]["number"]) == (104, "not_recorded", 1)
    assert "txnRef is not recorded" in early["message"]
    assert ask(replayer, TRANSFER)["txnRef"] == "GP00000000120260101A"
    assert [ask(replayer, VERIFY)["txnStatus"] for _ in range(2)] == ["processing", "successful"]
    assert "one more" in ask(replayer, VERIFY)["message"]
    assert (replayer.refused, replayer.unused) == (2, 0)


@pytest.mark.parametrize(
    ("request_", "difference"),
    [
        ({**TRANSFER, "amount": "2.00"}, 'amount is "2.00", recorded was "1.00"'),
        ({**TRANSFER, "amount": 1}, 'amount is 1, recorded was "1.00"'),
        ({"action": "transfer", "amount": "1.00"}, "orderRef is missing"),
        ({**TRANSFER, "narration": "x"}, "narration is not recorded"),
        (dict(reversed(TRANSFER.items())), "the fields are in another order"),
        ({**TRANSFER, "orderRef": "order-2"}, 'orderRef is "order-2", recorded was "order-1"'),
    ],
)
def test_a_strict_replay_names_what_differs(request_: dict[str, Any], difference: str) -> None:
    replayer = Replayer(RECORDED)
    assert ask(replayer, request_)["message"].endswith(f"disburse.transfer: {difference}")
    assert replayer.unused == 3


def test_another_path_is_another_request() -> None:
    assert "the path is payment, not disburse" in ask(Replayer(RECORDED), TRANSFER, "payment")["message"]


def test_a_loose_replay_answers_in_any_order_and_goes_on_with_the_last_reply() -> None:
    replayer = Replayer(RECORDED, is_loose=True)
    states = [ask(replayer, VERIFY)["txnStatus"] for _ in range(4)]
    assert states == ["processing", "successful", "successful", "successful"]
    own = ask(replayer, {**dict(reversed(TRANSFER.items())), "orderRef": "mine"})
    assert (own["orderRef"], own["txnRef"]) == ("mine", "GP00000000120260101A")
    assert ask(replayer, {**VERIFY, "txnRef": "GP00000000920260101Z"})["txnStatus"] == "successful"
    refused = ask(replayer, {**TRANSFER, "amount": "2.00"})
    assert "The nearest recorded one is number 1" in refused["message"]
    assert replayer.refused == 1


def test_a_reply_that_was_lost_is_lost_again() -> None:
    lost = Exchange("disburse.transfer", TRANSFER, failure="no reply")
    replayer = Replayer([lost, RECORDED[0]])
    assert replayer.answer("disburse", json.dumps(TRANSFER).encode()) == (None, b"")
    assert ask(replayer, TRANSFER)["status"] == 202


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"exchanges": [1]}', '{"exchanges": [{"action": "a"}]}', "\x00"])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    with pytest.raises(UnreadableRecording, match="is neither a recording nor a golden file"):
        read_recording(file, "")


def test_a_missing_file_is_one_line_of_errors(tmp_path: Path) -> None:
    done = run_command(["serve", "--replay", str(tmp_path / "none.json")], {"KASUWA_DATA": str(tmp_path)})
    reason = f"kasuwa: {tmp_path / 'none.json'} cannot be read: No such file or directory\n"
    assert (done.returncode, done.stderr) == (1, reason)


def test_a_recording_masks_secrets(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    code = f"""
from kasuwa_client import Kasuwa
card = {{"card_no": "{CARD}", "expiry_month": "12", "expiry_year": "30", "ccv": "123"}}
user = {{"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}}
Kasuwa.from_environment().payment.initiate_card(amount="10.00", card=card, user=user)
raise SystemExit(3)
"""
    file = tmp_path / "card.json"
    environ = {"KASUWA_URL": f"http://127.0.0.1:{deployment.port}", "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}
    done = run_command(["record", "--to", str(file), "--", sys.executable, "-c", code], environ)
    assert done.returncode == 3, done.stderr
    text = file.read_text()
    assert [secret for secret in (CARD, '"123"', shop.key) if secret in text] == []
    [exchange] = json.loads(text)["exchanges"]
    assert exchange["request"]["card"]["ccv"] == "***"
    card = {"card_no": CARD, "expiry_month": "12", "expiry_year": "30", "ccv": "123"}
    replayer = Replayer(read_recording(file, ""))
    assert ask(replayer, {**exchange["request"], "card": card}, "payment")["status"] == exchange["reply"]["status"]
