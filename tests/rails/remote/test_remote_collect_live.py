"""The service in live with the example rail for cards, all other payments and accounts, and as the second biller.

What the rail took, gave back and delivered is compared with the books one to one at the end.
"""

import asyncio
import base64
import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kasuwa.core.references import rail_key, wire_reference
from kasuwa.rails.remote.signing import HEADER, RemoteSecret, sign
from kasuwa.rails.twins.server import Twin, TwinThread
from kasuwa.rails.twins.vtpass import VtpassRules
from tests.rails.live_merchant import add_merchant, fund
from tests.rails.remote.example_rails import SECRET, ExampleRail
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

# One deployment serves all of them.
pytestmark = pytest.mark.xdist_group("live remote collections")

METER, PAYCODE = "45012345678", "ikeja-electric/prepaid"
PAYING_EMAIL, CREDITED_NAME, CREDIT = "pays@example.com", "CREDITED OBI", 250_000
# The rail sells under the paycode of the first biller.
SELLS_THE_SAME = {'"items": [{"paycode": "power"': f'"items": [{{"paycode": "{PAYCODE}"'}


class CollectHarness:
    """A live deployment, the rail behind it, and a merchant with money."""

    def __init__(
        self, deployment: Deployment, rail: ExampleRail, vtpass: VtpassRules, settings: dict[str, str]
    ) -> None:
        self.deployment, self.rail, self.vtpass = deployment, rail, vtpass
        self.shop, self.merchant_id = add_merchant(deployment)
        fund(deployment, settings, self.merchant_id)

    def put(self, method: str, **fields: Any) -> Any:
        return self.shop.put(method, **fields).body

    def wait_for(self, txn_ref: str, status: str) -> Any:
        def look() -> Any:
            body = self.put("payment", action="verify", txnRef=txn_ref)
            return body if body.get("txnStatus") == status else None

        return wait_until(f"{txn_ref} is {status}", look)

    def wire(self, txn_ref: str) -> str:
        return wire_reference(rail_key(self.merchant_id, txn_ref))

    def request_account(self, reference: str, name: str) -> Any:
        fields = {"name": name, "reference": reference, "email": "ada@example.com"}
        return self.put("resources", request="personalized-accounts", **fields)

    def call_back(self, secret: RemoteSecret = SECRET, **fields: str) -> int:
        body = json.dumps(fields).encode()
        headers = {HEADER: str(sign(secret, int(time.time()), "POST", "/rails/remote", body))}
        with self.deployment.connect() as wire:
            return int(wire.send("POST", "/rails/remote", body, headers).http)

    def rows(self, query: str) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self.rail.directory / "rail.db")) as books:
            return books.execute(query).fetchall()

    def credits(self) -> list[Any]:
        return [json.loads(row[0]) for row in self.rows("select content from entry where kind = 'credits'")]

    def ended(self, kind: str) -> dict[str, int]:
        """Returns the amounts of the successful orders of a kind, by their key."""
        found = self.rows(f"select key, answer from entry where kind = '{kind}'")
        answers = {key: json.loads(answer) for key, answer in found}
        return {
            key: answer["amount"]
            for key, answer in answers.items()
            if answer["outcome"] == "successful" and answer.get("open_until", 0) < time.time()
        }

    def postings(self, side: str) -> dict[str, int]:
        query = f"""select p.reference, sum(p.amount)::bigint from posting p
                    where p.merchant_id = $1 and p.{side} like 'rail:%' and p.reference not like 'GP|BP|%' group by 1"""
        return {self.wire(row[0]): row[1] for row in self.deployment.fetch(query, self.merchant_id)}

    def compare_books(self) -> None:
        took = self.postings("debit")
        receipts = self.deployment.fetch("select rail_reference, txn_ref, amount from inbound_receipt")
        assert {row[0]: row[2] for row in receipts} == {one["rail_reference"]: one["amount"] for one in self.credits()}
        arrived = {self.wire(row[1]): row[2] for row in receipts}
        assert took == arrived | self.ended("payments/begin") | self.ended("payments/charge")
        assert self.postings("credit") == self.ended("refunds")
        bills = self.deployment.fetch("select txn_ref, amount, rail from transaction where kind = 'bill'")
        assert {self.wire(row[0]): row[1] for row in bills if row[2] == "remote"} == self.ended("bills")
        assert self.deployment.broken_invariants([self.shop.mid]) == []


def rail_settings(rail: ExampleRail, vtpass: Twin) -> dict[str, str]:
    return {
        "KASUWA_ENVIRONMENT": "live",
        "KASUWA_CONSOLE": "off",
        "KASUWA_SECRET_KEY": base64.b64encode(bytes(range(32))).decode(),
        "KASUWA_RAIL_LOOPBACK": "on",
        "KASUWA_RAIL_CARD": "remote",
        "KASUWA_RAIL_COLLECT": "remote",
        "KASUWA_RAIL_ACCOUNTS": "remote",
        "KASUWA_RAIL_IDENTITY": "remote",
        "KASUWA_REMOTE_IDENTITY": "consent",
        "KASUWA_RAIL_BILLS": "vtpass,remote",
        "KASUWA_RAIL_BALANCE_SECONDS": "1",
        "KASUWA_REMOTE_BASE_URL": rail.url,
        "KASUWA_REMOTE_KEY_ID": SECRET.key_id,
        "KASUWA_REMOTE_SECRET_FILE": str(rail.directory / "secret"),
        "KASUWA_VTPASS_BASE_URL": vtpass.url,
        "KASUWA_VTPASS_API_KEY": "api-1",
        "KASUWA_VTPASS_PUBLIC_KEY": "PK_1",
        "KASUWA_VTPASS_SECRET_KEY": "SK_1",
        "KASUWA_VTPASS_PHONE": "08039999999",
    }


@pytest.fixture(scope="module")
def harness(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CollectHarness]:
    rules = VtpassRules()
    rules.are_twins_held_apart = False
    vtpass = Twin(rules)
    options = {"environment": "live", "open-seconds": "0.5"}
    with ExampleRail(tmp_path_factory.mktemp("rail"), SELLS_THE_SAME, **options) as rail, TwinThread(vtpass):
        settings = rail_settings(rail, vtpass)
        with deployments.fresh("live-remote-collect", **settings) as deployment:
            rail.options["callback"] = f"http://127.0.0.1:{deployment.port}/rails/remote"
            asyncio.run(rail.restart())
            harness = CollectHarness(deployment, rail, rules, settings)
            yield harness
            harness.compare_books()
            harness.shop.connection.close()


def test_a_card_is_paid_on_the_rails_page_saved_charged_again_and_refunded(harness: CollectHarness) -> None:
    user = {"email": PAYING_EMAIL, "firstname": "Ada"}
    begun = harness.put("payment", action="initiate", paymentType="card", amount="1500.00", user=user)
    assert begun["authURL"].startswith("http")
    paid = harness.wait_for(begun["txnRef"], "successful")
    assert paid["card"]["mask"].endswith("4081")
    charged = harness.put("payment", action="charge", paymentType="token", token=paid["cardToken"], amount="700.00")
    assert charged["txnStatus"] == "successful"
    refunded = harness.put("payment", action="refund", txnRef=begun["txnRef"], amount="500.00")
    assert refunded["txnStatus"] == "successful"


def test_payments_without_a_card_show_what_the_rail_says(harness: CollectHarness) -> None:
    body = {"action": "charge", "amount": "900.00", "user": {"email": PAYING_EMAIL}}
    by_code = harness.put("payment", paymentType="ussd", bank="gtb", **body)
    assert by_code["ussd_code"] == "*966*000*1#"
    by_transfer = harness.put("payment", paymentType="bank_transfer", **body)
    assert by_transfer["accountNumber"] == "9800000001"
    for begun in (by_code, by_transfer):
        harness.wait_for(begun["txnRef"], "successful")


def test_money_that_comes_into_an_account_is_booked_once(harness: CollectHarness) -> None:
    opened = harness.request_account("credited", CREDITED_NAME)
    assert opened["status"] == 200
    booked = "select amount from inbound_receipt where account_number = $1"
    number = opened["data"]["accountNumber"]
    wait_until("the money is booked", lambda: harness.deployment.fetch(booked, number))
    [credit] = harness.credits()
    event = {"event": "credit", "key": credit["key"], "rail_reference": credit["rail_reference"]}
    assert harness.call_back(RemoteSecret("key-1", "a secret that somebody made up, wrongly"), **event) == 401
    for _ in range(2):
        assert harness.call_back(**event) == 200
    assert harness.call_back(event="credit", key="kz1-nobody", rail_reference="C-999999") == 200
    harness.deployment.fetch("update account_listing set listed_at = '2000-01-01', leased_until = '2000-01-01'")
    listed = "select 1 from account_listing where listed_at > now() - interval '1 hour'"
    wait_until("the account is listed", lambda: harness.deployment.fetch(listed))
    assert [row[0] for row in harness.deployment.fetch(booked, number)] == [CREDIT]
    [(txn_ref,)] = harness.deployment.fetch("select txn_ref from inbound_receipt where account_number = $1", number)
    refunded = harness.put("payment", action="refund", txnRef=txn_ref, amount="100.00")
    assert refunded["txnStatus"] == "successful", "the rail knows the payment by its own reference alone"


def test_money_that_was_never_announced_is_found_by_the_daily_list(harness: CollectHarness) -> None:
    harness.rail.options["callback"] = ""
    asyncio.run(harness.rail.restart())
    number = harness.request_account("silent", CREDITED_NAME)["data"]["accountNumber"]
    wait_until("the rail has the money", lambda: len(harness.credits()) == 2)
    harness.deployment.fetch("update account_listing set listed_at = '2000-01-01', leased_until = '2000-01-01'")
    booked = "select amount from inbound_receipt where account_number = $1"
    wait_until("the money is booked", lambda: harness.deployment.fetch(booked, number))


def test_bill_goes_to_the_second_biller_while_the_first_has_no_money(harness: CollectHarness) -> None:
    wait_until("the catalogue is fetched", lambda: harness.put("bills", action="pull")["data"]["items"])
    body = {"action": "pay", "paycode": PAYCODE, "reference": METER, "amount": "5000.00"}
    assert harness.put("bills", orderRef="first", **body)["txnStatus"] == "successful"
    assert len(harness.vtpass.bills) == 1
    harness.vtpass.balance = 0
    tried = 0

    def pay() -> Any:
        nonlocal tried
        tried += 1
        harness.put("bills", orderRef=f"second-{tried}", **body)
        return harness.ended("bills")

    wait_until("the balance was read, and the second biller has a bill", pay)
    rows = harness.deployment.fetch("select status, rail from transaction where kind = 'bill' order by seq")
    assert (tuple(rows[0]), tuple(rows[-1])) == (("successful", "vtpass"), ("successful", "remote"))
    assert len(harness.vtpass.bills) == 1
    other = harness.put(
        "bills",
        orderRef="other",
        **body | {"paycode": "dstv/dstv-padi", "reference": "1212121212", "amount": "1850.00"},
    )
    assert other["txnStatus"] == "pending", "the second biller does not sell it: it waits for the first"


def test_a_client_is_verified_once_the_person_has_agreed_on_the_rails_page(harness: CollectHarness) -> None:
    person = {"firstname": "Ada", "lastname": "Obi", "dob": "1990-01-02", "bvn": "22212345678", "phone": "08031234567"}
    begun = harness.put("clients", action="create", verify_bvn=True, data=person)
    made = begun["data"]
    assert (begun["status"], made["bvn_verified"], made["bvn_verification"]["state"]) == (
        202,
        False,
        "awaiting_consent",
    )
    assert made["bvn_verification"]["consent_url"] == "https://rail.example/consent/consent-22212345678"
    verified = harness.put("clients", action="update", client_id=made["client_id"], verify_bvn=True)
    assert (verified["status"], verified["data"]["bvn_verified"]) == (200, True)
    assert verified["data"]["bvn_verification"]["method"] == "consent"
    refusing = {**person, "bvn": "22212345679", "phone": "08031234568"}
    made = harness.put("clients", action="create", verify_bvn=True, data=refusing)["data"]
    refused = harness.put("clients", action="update", client_id=made["client_id"], verify_bvn=True)
    assert [error["field"] for error in refused["errors"]] == ["data.bvn"]
    looked_up = harness.put("resources", inquire="bvn", bvn="22212345678")
    assert (looked_up["status"], "must consent first" in looked_up["message"]) == (204, True)
