"""The service in live with two vendors of transfers: the choice, balances, and a kill between the vendor and our books,
after which the vendors are named in another order."""

import contextlib
import http.client
import json
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial

import pytest

from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.server import Twin, TwinThread
from tests.rails.vendors.test_live import ACCOUNT, LiveHarness, Twins, kill_service, rail_settings, running_twins
from tests.running import Deployments, stop
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("live rails")

PATH = "/api/v2/disbursements/single"


class TwoVendors:
    """A live deployment with Monnify as its first choice and Paystack as its second."""

    def __init__(self, harness: LiveHarness, twins: Twins, monnify: Twin, rules: MonnifyRules) -> None:
        self.harness = harness
        self.twins = twins
        self.monnify = monnify
        self.rules = rules

    def rail_of(self, order_ref: str) -> str:
        [(rail,)] = self.harness.deployment.fetch("select rail from transaction where order_ref = $1", order_ref)
        return str(rail)

    def wait_for_watch(self) -> None:
        """Waits until the API process has read the balances that are written now: it does so between two reports."""
        for _ in range(2):
            [(now,)] = self.harness.deployment.fetch("select now()")
            newer = "select 1 from rail_health where process like '% api %' and seen_at > $1"
            wait_until("the API has reported", partial(self.harness.deployment.fetch, newer, now))

    def paid_by(self) -> tuple[int, int]:
        return len(self.rules.transfers), len(self.twins.paystack_rules.transfers)


def settings_of(twins: Twins, monnify: Twin) -> dict[str, str]:
    return rail_settings(twins) | {
        "KASUWA_RAIL_BANK": "monnify,paystack",
        "KASUWA_MONNIFY_API_KEY": "MK_PROD_1",
        "KASUWA_MONNIFY_SECRET_KEY": "secret-1",
        "KASUWA_MONNIFY_WALLET_ACCOUNT": "8016472829",
        "KASUWA_MONNIFY_BASE_URL": monnify.url,
        "KASUWA_RAIL_FLOAT_LEAST": "NGN:1000.00",
        "KASUWA_RAIL_BALANCE_SECONDS": "1",
    }


@pytest.fixture(scope="module")
def vendors(deployments: Deployments) -> Iterator[TwoVendors]:
    rules = MonnifyRules("MK_PROD_1")
    rules.are_twins_held_apart = False
    monnify = Twin(rules)
    with running_twins() as twins, TwinThread(monnify):
        settings = settings_of(twins, monnify)
        with deployments.fresh("live-choice", **settings) as deployment:
            harness = LiveHarness(deployment, twins, settings)
            yield TwoVendors(harness, twins, monnify, rules)
            assert deployment.broken_invariants([harness.shop.mid]) == []
            harness.shop.connection.close()


def test_first_vendor_pays_and_is_written_with_the_order(vendors: TwoVendors) -> None:
    vendors.harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, orderRef="first")
    vendors.harness.wait_for_transfer("first", "successful")
    assert (vendors.rail_of("first"), vendors.paid_by()) == ("monnify", (1, 0))


def test_order_that_cannot_be_sent_is_paid_by_the_second(vendors: TwoVendors) -> None:
    before = vendors.paid_by()
    vendors.monnify.add_fault("bad_gateway", "/api/v1/disbursements/account/validate")
    vendors.harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, orderRef="moved")
    vendors.harness.wait_for_transfer("moved", "successful")
    assert vendors.rail_of("moved") == "paystack"
    assert vendors.paid_by() == (before[0], before[1] + 1)


def test_low_balance_is_published_and_chooses_the_second(vendors: TwoVendors) -> None:
    deployment = vendors.harness.deployment
    vendors.rules.balance = Decimal(10)
    message = "our balance with monnify is 10.00 NGN, below 1000.00: fund it"
    wait_until("the notice", lambda: message in vendors.harness.notices())

    vendors.wait_for_watch()
    vendors.harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, amount="100.00", orderRef="short")
    assert vendors.rail_of("short") == "paystack"
    url = f"http://127.0.0.1:{deployment.metrics_port}/metrics"

    def is_published() -> bool:
        with urllib.request.urlopen(url) as reply:
            return 'kasuwa_rail_balance_minor{currency="NGN",rail="monnify"} 1000.0' in reply.read().decode()

    wait_until("the gauge", is_published)
    vendors.rules.balance = Decimal(10_000_000)
    wait_until("it has risen", lambda: not deployment.fetch("select 1 from rail_balance where is_low"))
    assert vendors.harness.notices().count(message) == 1


def test_accounts_with_vendors_are_listed_and_proposed_to_be_the_same(vendors: TwoVendors) -> None:
    deployment = vendors.harness.deployment
    deployment.fetch("insert into vendor_account values ('monnify', 'former', now() - interval '1 day', now())")
    lines = deployment.run_command("rail", "accounts").splitlines()
    assert [line.split()[0] for line in lines] == ["monnify", "monnify", "paystack", "vtpass"]
    assert [line.rpartition(", ")[2] for line in lines] == ["keys not set", "set now", "set now", "set now"]
    own = lines[1].split()[1].removesuffix(":")
    proposed = deployment.run_command("rail", "accounts", "--same", "monnify")
    assert "is proposed: two operators approve it" in proposed
    [[proposal]] = deployment.fetch("select proposal from approval where kind = 'vendor_account'")
    named = {"accounts": [{"rail": "monnify", "account": "former", "same_as": own}]}
    assert json.loads(proposal) == named
    assert deployment.fetch("select 1 from vendor_account_alias") == []
    # What approving it writes.
    deployment.fetch("insert into vendor_account_alias (rail, account, same_as) values ('monnify', 'former', $1)", own)
    lines = deployment.run_command("rail", "accounts").splitlines()
    assert lines[0].endswith(f"0 open orders, the same as {own}")
    assert "the keys of remote are not set" in deployment.run_refused_command("rail", "accounts", "--same", "remote")


def test_changed_catalogue_of_bills_is_asked_for(vendors: TwoVendors) -> None:
    deployment = vendors.harness.deployment
    refused = vendors.harness.call_back({"type": "variations-update"}, "another-secret-of-enough-length")
    assert refused.http == 401
    assert deployment.fetch("select 1 from bill_refresh") == []
    assert vendors.harness.call_back({"type": "variations-update", "serviceID": "dstv"}).http == 200
    assert len(deployment.fetch("select 1 from bill_refresh")) == 1


def test_kill_after_which_the_vendors_are_named_in_another_order(vendors: TwoVendors) -> None:
    """Monnify has the order, and every process dies before its answer is recorded. Then Paystack is named first, and
    Monnify has the keys of another account."""
    harness, deployment, before = vendors.harness, vendors.harness.deployment, vendors.paid_by()
    vendors.monnify.add_fault("hang", PATH)

    def send() -> object:
        return harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, amount="77.00", orderRef="killed")

    vendors.wait_for_watch()
    with ThreadPoolExecutor(max_workers=1) as threads:
        sending = threads.submit(send)
        wait_until("the vendor has the order", lambda: vendors.paid_by()[0] > before[0])
        kill_service(deployment)
        with pytest.raises((OSError, http.client.HTTPException)):
            sending.result()
    deployment.fetch("update scheduled_job set leased_until = now() where leased_until is not null")
    account = "select rail_account from transaction where order_ref = 'killed'"
    written = deployment.fetch(account)
    former = {"rail": "monnify", "api_key": "MK_PROD_1", "secret_key": "secret-1", "wallet_account": "8016472829"}
    deployment._environment["KASUWA_RAIL_FORMER_ACCOUNTS"] = json.dumps([{**former, "base_url": vendors.monnify.url}])
    deployment._environment["KASUWA_MONNIFY_API_KEY"] = "MK_PROD_2"
    deployment._environment["KASUWA_RAIL_BANK"] = "paystack,monnify"
    process = deployment.start()
    try:
        deployment.wait_ready(process)
        with contextlib.closing(deployment.connect()) as connection:
            harness.shop.connection = connection
            harness.wait_for_transfer("killed", "successful")
            harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, amount="78.00", orderRef="after")
        assert vendors.rail_of("killed") == "monnify"
        assert deployment.fetch(account) == written != [("",)]
        assert vendors.rail_of("after") == "paystack"
        assert vendors.paid_by() == (before[0] + 1, before[1] + 1)
    finally:
        stop(process)
