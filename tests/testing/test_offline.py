"""Tests that are recorded once with a server and replayed without one."""

import json
import subprocess
from pathlib import Path

import pytest

from kasuwa.testing import Server
from tests.testing.test_plugin import run_pytest

# Nobody listens there: a test that needs a server fails.
NO_SERVER = "http://127.0.0.1:9"
CARD = "4111111111111111"
SHOP = f"""
import asyncio
import os
from decimal import Decimal

import pytest

AMOUNT = os.environ.get("AMOUNT", "1500.00")
ORDER = dict(bankcode="058", accountnumber="0000000000")


def test_a_payout_and_its_event(kasuwa):
    with kasuwa.fault("bank", "timeout", times=1):
        sent = kasuwa.client.disburse.transfer(amount=AMOUNT, order_ref="mine", **ORDER)
    assert sent.txn_status == "processing"
    kasuwa.advance(hours=1)
    event = kasuwa.events.one("transfer", ref=sent, txnStatus="successful")
    assert event.charged_amount == Decimal("1500.00")
    assert kasuwa.wallet() == Decimal("48489.25")
    def receive(body, headers):
        return kasuwa.client.verify_event(body, headers).txn_status, int(headers["webhook-sequence"])

    [(status, sequence)] = kasuwa.events.hand_over(receive)
    assert status == "successful"
    assert sequence > 0


def test_two_shops_and_a_lost_delivery(kasuwa):
    other = kasuwa.shop(balance="100.00")
    kasuwa.events.drop()
    card = {{"card_no": "{CARD}", "expiry_month": "12", "expiry_year": "30", "ccv": "000"}}
    user = {{"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}}
    kasuwa.client.payment.initiate_card(amount="10.00", card=card, user=user)
    kasuwa.client.disburse.transfer(amount="20.00", **ORDER)
    other.client.disburse.transfer(amount="20.00", **ORDER)
    assert kasuwa.events.all("transfer") == []
    kasuwa.advance(minutes=1)
    assert len(kasuwa.events.all("transfer")) == len(other.events.all("transfer")) == 1
    assert other.wallet() < 80


@pytest.mark.parametrize("name", ["a b/c", "a_b_c"])
@pytest.mark.kasuwa_offline(loosely=True)
def test_calls_in_any_order(kasuwa, kasuwa_async, name):
    async def run():
        read = [kasuwa_async.resources.banks(), kasuwa_async.resources.wallet(), kasuwa_async.resources.banks()]
        return await asyncio.gather(*(reversed(read) if "REVERSE" in os.environ else read))

    assert len(asyncio.run(run())) == 3
"""


def run(folder: Path, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return run_pytest(folder, "-p", "no:xdist", "-rA", *options, KASUWA_TEST_URL=NO_SERVER, **environment)


@pytest.fixture
def recorded_shop(kasuwa_server: Server, tmp_path: Path) -> Path:
    (tmp_path / "test_shop.py").write_text(SHOP)
    done = run(tmp_path, "--kasuwa-record", "--kasuwa-url", kasuwa_server.url)
    assert "4 passed" in done.stdout, done.stdout
    return tmp_path


def test_recorded_tests_pass_without_a_server_and_say_what_is_not_recorded(
    recorded_shop: Path, kasuwa_server: Server
) -> None:
    files = sorted((recorded_shop / "recordings" / "test_shop").glob("*.json"))
    assert len(files) == 4, "names that a file cannot have are different files"
    texts = [file.read_text() for file in files]
    assert [word for word in (CARD, kasuwa_server.url, "127.0.0.1") for text in texts if word in text] == []
    payout = json.loads((files[0].parent / "test_a_payout_and_its_event.json").read_text())
    [event] = payout["events"]
    assert (event["to"], event["payload"]["orderRef"]) == ("<events 1>", "mine")
    assert payout["exchanges"][event["during"] - 1]["action"] == "sandbox.advance"

    # Another seed, and a proxy that does not answer.
    elsewhere = {"KASUWA_TEST_URL": NO_SERVER, "http_proxy": NO_SERVER, "REVERSE": "1"}
    done = run_pytest(recorded_shop, "-n", "2", "--kasuwa-offline", "--kasuwa-seed", "another", **elsewhere)
    assert "4 passed" in done.stdout, done.stdout
    # What is marked needs no option.
    done = run(recorded_shop, "-k", "any_order")
    assert "2 passed" in done.stdout, done.stdout

    done = run(recorded_shop, "--kasuwa-offline", "-k", "payout", AMOUNT="1600.00")
    assert "1 failed, 3 deselected, 1 error" in done.stdout, done.stdout
    difference = 'is number 3, disburse.transfer: amount is "1600.00", recorded was "1500.00"'
    assert done.stdout.count(difference) >= 2
    assert f"the test differs from {files[0].parent / 'test_a_payout_and_its_event.json'}" in done.stdout
    assert "recorded requests did not come." in done.stdout
    assert "If that is right, use --kasuwa-record." in done.stdout
    assert [file.read_text() for file in files] == texts, "a replay writes nothing"


UNRECORDED = """
import urllib.request

import pytest


def test_that_was_never_recorded(kasuwa):
    pass


def test_that_fails(kasuwa):
    assert kasuwa.wallet() == 0


def test_that_needs_a_server(kasuwa_server):
    pass


def test_that_opens_a_page(kasuwa):
    checkout = kasuwa.client.payment.checkout(amount="20.00", title="book", user={"email": "ada@example.com"})
    with urllib.request.urlopen(checkout.checkout_url) as page:
        assert page.status == 200
"""


def test_what_cannot_be_replayed_says_why(kasuwa_server: Server, tmp_path: Path) -> None:
    (tmp_path / "test_more.py").write_text(UNRECORDED)
    done = run(tmp_path, "--kasuwa-record", "--kasuwa-url", kasuwa_server.url, "-k", "fails or page")
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    [file] = (tmp_path / "recordings").rglob("*.json")
    assert file.name == "test_that_opens_a_page.json", "a failed test is not recorded"
    done = run(tmp_path, "--kasuwa-offline")
    missing = file.with_name("test_that_was_never_recorded.json")
    assert f"there is no recording {missing}: record it with --kasuwa-record" in done.stdout
    assert "pages and files are not recorded." in done.stdout
    assert "only the fixture kasuwa and those of its merchant work with --kasuwa-offline" in done.stdout
    assert "passed" not in done.stdout.splitlines()[-1]
    both = run(tmp_path, "--kasuwa-offline", "--kasuwa-record")
    assert "exclude each other" in both.stderr
