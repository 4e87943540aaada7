"""`kasuwa twin`: a simulator that a person starts, and a deployment that uses it by the printed settings."""

import contextlib
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.running import Deployments
from tests.webhooks.event_log import wait_until

SETTING = re.compile(r"export (KASUWA_[A-Z_]+)=(\S+)")


@contextlib.contextmanager
def running_twin(vendor: str) -> Iterator[dict[str, str]]:
    """Yields the settings that the command prints."""
    command = [sys.executable, "-m", "kasuwa", "twin", vendor]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Ctrl-C"):
                    break
            yield dict(SETTING.findall("".join(lines)))
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                assert process.wait(30) == 0
            finally:
                process.kill()


def test_deployment_in_test_uses_the_twins_by_their_printed_settings(deployments: Deployments) -> None:
    with (
        running_twin("vtpass") as vtpass,
        running_twin("dojah") as dojah,
        running_twin("paystack") as paystack,
        deployments.fresh("with-twins", **vtpass, **dojah, **paystack) as deployment,
    ):
        shop = deployment.open_shop()
        wait_until("the catalogue is fetched", lambda: shop.put("bills", action="pull").body["data"]["items"])
        bill: dict[str, Any] = {"paycode": "mtn/", "reference": "08031234567", "amount": "100.00", "orderRef": "one"}
        assert shop.put("bills", action="pay", **bill).body["txnStatus"] == "successful"
        assert shop.put("resources", inquire="bvn", bvn="22212345678").body["data"]["lastname"] == "OKAFOR"
        sent = shop.transfer(bankcode="058", accountnumber="0123456785", orderRef="two")
        assert sent["txnStatus"] == "processing"
        begun = shop.put("payment", action="initiate", paymentType="card", amount="1500.00").body
        pay_on_page(begun["authURL"])
        wait_until("the card is paid", lambda: is_paid(shop, begun["txnRef"]))
        shop.connection.close()


def pay_on_page(url: str) -> None:
    """Looks at the vendor's page and pays there, as a payer does."""
    with urllib.request.urlopen(url) as page:
        assert b"Pay NGN 1500.00" in page.read()
    with urllib.request.urlopen(url, b"do=pay") as returned:
        assert "/pay/" in returned.url


def is_paid(shop: MerchantClient, txn_ref: str) -> bool:
    found = shop.put("payment", action="verify", txnRef=txn_ref).body
    return bool(found["txnStatus"] == "successful")


@pytest.mark.parametrize(("words", "text"), [(["twin"], "vtpass"), (["twin", "nobody"], "No such command 'nobody'")])
def test_unknown_vendor_is_refused(words: list[str], text: str) -> None:
    done = subprocess.run([sys.executable, "-m", "kasuwa", *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert text in done.stdout + done.stderr
