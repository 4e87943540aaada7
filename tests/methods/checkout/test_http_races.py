"""Two windows of one payer, and a killed service: a checkout is paid once. Contract: payment#checkout-attempts"""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from tests.command_processes import is_service_process
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import AUTH_CVV, OK_CARD, Payer, open_checkout, verify
from tests.running import Deployment, Deployments
from tests.simulate.processes import wait_until

ROUNDS = 5


@pytest.fixture(scope="module")
def two_processes(deployments: Deployments) -> Any:
    """A service with two API processes: writes of half of the merchants are sent on to the other."""
    with deployments.fresh("checkout", KASUWA_WORKERS="2") as deployment:
        yield deployment


def close(shop: MerchantClient, *windows: Payer) -> None:
    """Closes all connections. The next request of each opens another."""
    for window in windows:
        window.close()
    shop.connection.close()


def pay_fully(payer: Payer) -> None:
    """Pays by card with a PIN as fast as the page lets it. Another window may be faster."""
    payer.open("/card")
    if 'name="number"' not in payer.html:
        return
    reply = payer.send("pay", number=OK_CARD, expiry="12/30", cvv=AUTH_CVV["PIN"])
    if reply.http == 200 and 'value="pin"' in payer.html:
        payer.send("pin", pin="1234")


def begin_transfer(payer: Payer) -> None:
    payer.open("/bank_transfer")
    if 'name="channel"' in payer.html:
        payer.send("pay")


@pytest.mark.parametrize("second", [pay_fully, begin_transfer], ids=["two cards", "a card and a transfer"])
def test_two_windows_at_once_pay_a_checkout_at_most_once(two_processes: Deployment, second: Any) -> None:
    for _ in range(ROUNDS):
        shop = two_processes.open_shop()
        before = shop.wallet().balance
        begun = open_checkout(shop)
        windows = [Payer(shop, begun["checkoutURL"], two_processes.port) for _ in range(2)]
        with ThreadPoolExecutor(2) as both:
            list(both.map(lambda pair: pair[0](pair[1]), zip((pay_fully, second), windows, strict=True)))
        found = verify(shop, begun["txnRef"])
        if found["txnStatus"] != "successful":
            # One window began what the other did not end: a payer goes on with what the page shows.
            windows[0].open()
            windows[0].send("abandon")
            pay_fully(windows[0])
            found = verify(shop, begun["txnRef"])
        assert found["txnStatus"] == "successful"
        assert shop.wallet().balance == before + 150_000 - 2_250 - 169
        paid = shop.put("resources", inquire="transactions", kind="payment", status="successful").body["data"]
        assert len(paid) == 1
        assert two_processes.broken_invariants([shop.mid]) == []
        close(shop, *windows)


def test_the_same_form_sent_twice_at_once_makes_one_attempt(two_processes: Deployment) -> None:
    shop = two_processes.open_shop()
    begun = open_checkout(shop)
    windows = [Payer(shop, begun["checkoutURL"], two_processes.port) for _ in range(2)]
    for window in windows:
        window.open("/card")
    card = {"number": "4111110000000013", "expiry": "12/30", "cvv": "000"}
    with ThreadPoolExecutor(2) as both:
        replies = list(both.map(lambda window: window.send("pay", **card), windows))
    assert [reply.http for reply in replies] == [200, 200]
    assert verify(shop, begun["txnRef"])["checkout"]["attempts"] == 1
    close(shop, *windows)


def test_a_transfer_for_an_earlier_attempt_is_booked_and_returned(two_processes: Deployment) -> None:
    shop = two_processes.open_shop()
    begun = open_checkout(shop)
    payer = Payer(shop, begun["checkoutURL"], two_processes.port)
    begin_transfer(payer)
    account = payer.html.split('id="account-number"')[1].split(">")[1].split("<")[0]
    payer.send("abandon")
    late = shop.put("sandbox", action="pay_account", accountNumber=account, amount="1500.00").body
    assert late["message"] == "The payment is over; the money goes back to the payer"
    before = shop.wallet().balance
    pay_fully(payer)
    assert verify(shop, begun["txnRef"])["txnStatus"] == "successful"
    assert shop.wallet().balance == before + 150_000 - 2_250 - 169
    assert two_processes.broken_invariants([shop.mid]) == []
    close(shop, payer)


def test_a_service_killed_between_the_charge_and_the_mark_pays_the_checkout_once(two_processes: Deployment) -> None:
    shop = two_processes.open_shop()
    begun = open_checkout(shop)
    payer = Payer(shop, begun["checkoutURL"], two_processes.port)
    payer.pay_by_card()
    # The rail takes the money, and its answer is lost.
    payer.send("otp", otp="999999")
    assert payer.heading == "We are confirming your payment"
    for process in psutil.process_iter():
        for part in ("api", "worker"):
            if is_service_process(process, part, two_processes.directory):
                os.kill(process.pid, signal.SIGKILL)
    wait_until("the service is ready again", two_processes.is_ready)
    close(shop, payer)
    payer.open()
    assert payer.heading == "We are confirming your payment"
    refused = payer.post({"do": "pay", "channel": "ussd", "ussd_bank": "gtb", "number_of_attempt": "2", "total": "1"})
    assert refused.http == 303
    shop.advance(seconds=10)
    found = verify(shop, begun["txnRef"])
    assert (found["txnStatus"], found["checkout"]["attempts"]) == ("successful", 1)
    assert two_processes.broken_invariants([shop.mid]) == []
    close(shop, payer)


def test_of_merchants_who_want_one_custom_link_at_once_one_gets_it(two_processes: Deployment) -> None:
    shops = [two_processes.open_shop() for _ in range(6)]
    fields: dict[str, Any] = {"request": "paylink", "title": "Class", "custom_link": "wanted-by-all"}
    with ThreadPoolExecutor(len(shops)) as all_at_once:
        first = list(all_at_once.map(lambda shop: shop.put("resources", **fields).body["status"], shops))
        again = list(all_at_once.map(lambda shop: shop.put("resources", **fields).body["status"], shops))
    assert first.count(200) == 1
    assert again == [104] * len(shops)
    for shop in shops:
        shop.connection.close()
