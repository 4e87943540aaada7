"""Writes that arrive at a process that does not own the merchant: the owner decides them, and nothing else differs.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a payer's answer is sent to the owner             (decided where it arrived)
    the note of a console's action travels with it    (no audit entry)
    rate limits are shared                            (each process admits the whole burst)
"""

import base64
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import psutil
import pytest

from tests.api.test_metrics import value
from tests.command_processes import is_service_process
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.test_http_pages import ask_card
from tests.running import Deployment, Deployments
from tests.simulate.owners import ProcessConnection, others, owner_of
from tests.webhooks.event_log import wait_until

SECRET = base64.b64encode(bytes(range(32))).decode()
CARD = {"card_no": "4111111111111111", "expiry_month": "12", "expiry_year": "31", "ccv": "100", "pin": "7777"}


class Shop(NamedTuple):
    """One merchant, over a connection to its owner and over one to the other process."""

    at_owner: MerchantClient
    elsewhere: MerchantClient


def api_processes(deployment: Deployment) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if is_service_process(process, "api", deployment.directory)]


def merchant_number(deployment: Deployment, mid: str) -> int:
    return int(deployment.fetch("select merchant_id from merchant where mid = $1 and current", mid)[0][0])


def forwarded(deployment: Deployment, kind: str, outcome: str = "answered") -> float:
    return value(deployment, "kasuwa_forwarded_total", kind=kind, outcome=outcome)


def are_connected(deployment: Deployment) -> bool:
    return all(value(deployment, "kasuwa_owners_live", part=name) == 1 for name in ("api-1", "api-2"))


@pytest.fixture(scope="module")
def pair(deployments: Deployments) -> Iterator[Deployment]:
    """A service of two API processes."""
    with deployments.fresh("forwarding", KASUWA_WORKERS="2") as running:
        wait_until("they are connected", lambda: are_connected(running))
        yield running
        assert running.new_stderr() == ""


@pytest.fixture
def shop(pair: Deployment) -> Iterator[Shop]:
    made = pair.open_shop()
    made.connection.close()
    processes = api_processes(pair)
    owner = owner_of(merchant_number(pair, made.mid), processes)
    [other] = others(owner, processes)
    with ProcessConnection(owner, pair.port) as first, ProcessConnection(other, pair.port) as second:
        yield Shop(MerchantClient(first, made.mid, made.key), MerchantClient(second, made.mid, made.key))
    assert pair.broken_invariants([made.mid]) == []


def counted_more(deployment: Deployment, kind: str, work: Callable[[], Any], count: int = 1) -> Any:
    """Does something that must send `count` questions to owners."""
    before = forwarded(deployment, kind)
    result = work()
    wait_until(f"{kind} is counted", lambda: forwarded(deployment, kind) >= before + count)
    return result


def test_a_write_is_sent_to_the_owner_and_answered_as_there(pair: Deployment, shop: Shop) -> None:
    reply = counted_more(pair, "request", lambda: shop.elsewhere.transfer(orderRef="a"))
    assert (reply["status"], reply["txnStatus"]) == (200, "successful")
    assert shop.at_owner.transfer(orderRef="a") == reply
    refused = shop.elsewhere.transfer(orderRef="a", amount="7.00")
    assert refused["status"] == 104
    assert shop.at_owner.transfer(orderRef="a", amount="7.00") == refused
    assert shop.elsewhere.transfer(accountnumber="1") == shop.at_owner.transfer(accountnumber="1")
    assert shop.elsewhere.put("resources", inquire="wallet") == shop.at_owner.put("resources", inquire="wallet")
    assert value(pair, "kasuwa_decided_for_others_total", kind="request", why="reply lost") == 0


def test_headers_of_a_forwarded_request_count(shop: Shop) -> None:
    key = {"idempotency-key": "one key"}
    first = shop.elsewhere.transfer(headers=key, orderRef="k")
    assert first["txnStatus"] == "successful"
    assert shop.at_owner.transfer(headers=key, orderRef="k") == first
    assert shop.elsewhere.transfer(headers=key, amount="7.00")["status"] == 104
    assert shop.elsewhere.transfer(headers={"idempotency-key": ""})["status"] == 104
    assert shop.elsewhere.transfer(headers={"x-sandbox-scenario": "rr=51"})["txnStatus"] == "failed"
    bad = {"x-sandbox-scenario": "nonsense"}
    assert shop.elsewhere.transfer(headers=bad) == shop.at_owner.transfer(headers=bad)


def test_a_forwarded_request_has_the_scopes_and_the_identity_of_its_key(pair: Deployment, shop: Shop) -> None:
    made = shop.at_owner.put("sandbox", action="new_key", name="payroll", scopes=["payout", "approve"]).body
    shop.at_owner.put("sandbox", action="payout_policy", approve_above="0.00")
    everything, shop.elsewhere.key = shop.elsewhere.key, made["key"]
    wait_until("the key is known there", lambda: shop.elsewhere.put("resources", inquire="banks").http == 200)
    refused = shop.elsewhere.put("virtualcard", action="create").body
    assert (refused["status"], "scope issue" in refused["message"]) == (101, True)
    waiting = counted_more(pair, "request", lambda: shop.elsewhere.transfer(orderRef="waits"))
    assert waiting["message"] == "Waiting for approval"
    own = shop.elsewhere.put("disburse", action="approve", txnRef=waiting["txnRef"]).body
    assert (own["status"], "cannot approve" in own["message"]) == (104, True)
    shop.elsewhere.key = everything
    assert shop.elsewhere.put("disburse", action="approve", txnRef=waiting["txnRef"]).body["txnStatus"] == "successful"


def test_a_body_that_selects_nothing_is_refused_alike(shop: Shop) -> None:
    for body in (b"{", b"[]", b'{"action":"nothing"}', b'{"action":7}', b'[{"action":"transfer"}]', b"\xff"):
        here, there = shop.elsewhere.send("disburse", body), shop.at_owner.send("disburse", body)
        assert (here.http, here.body) == (there.http, there.body), body


def test_a_bulk_of_1000_and_a_clock_move_are_decided_by_the_owner(pair: Deployment, shop: Shop) -> None:
    order = {"amount": "1.00", "bankcode": "058", "accountnumber": "0000000000"}
    orders = [{**order, "orderRef": f"bulk-{number}"} for number in range(1000)]
    bulk = counted_more(
        pair, "request", lambda: shop.elsewhere.put("disburse", action="transfer", type="bulk", data=orders)
    )
    assert (bulk.http, bulk.body["status"]) == (200, 202), bulk
    moved = counted_more(pair, "request", lambda: shop.elsewhere.put("sandbox", action="advance", days=2))
    assert (moved.http, moved.body["status"]) == (200, 200), moved
    count = "select count(*) from transaction t join merchant m using (merchant_id) where mid = $1 and status = $2"
    assert pair.fetch(count, shop.elsewhere.mid, "successful")[0][0] == 1000


def test_wrong_codes_of_a_payer_are_counted_over_all_processes(pair: Deployment, shop: Shop) -> None:
    page = ask_card(shop.elsewhere)
    form = {"content-type": "application/x-www-form-urlencoded"}
    tries = []
    for wire in (shop.elsewhere, shop.at_owner, shop.elsewhere):
        answered = wire.connection.send("POST", page.path, b"decision=approve&otp=00000", form)
        tries.append(answered.http)
    assert tries == [200, 200, 303]
    assert shop.at_owner.put("payment", action="verify", txnRef=page.reference).body["txnStatus"] == "failed"
    wait_until("they are counted", lambda: forwarded(pair, "payer") >= 2)


def test_jobs_are_recorded_by_the_owner(pair: Deployment, shop: Shop) -> None:
    """The account is one of which the bank first says nothing. The worker asks again after 5 s."""
    open_transfer = shop.at_owner.transfer(accountnumber="0000009100")
    assert open_transfer["txnStatus"] in ("pending", "processing")
    pair.fetch(
        "update scheduled_job set run_at = now() where merchant_id = $1", merchant_number(pair, shop.at_owner.mid)
    )

    def is_final() -> bool:
        verified = shop.at_owner.put("disburse", action="verify", txnRef=open_transfer["txnRef"]).body
        return verified.get("txnStatus") in ("successful", "failed")

    wait_until("the worker has asked the bank", is_final)
    wait_until("it is counted", lambda: forwarded(pair, "job") >= 1)


def test_a_users_transfer_in_the_console_is_sent_to_the_owner_with_its_audit_entry(
    pair: Deployment, shop: Shop
) -> None:
    user = sign_in_as(pair, "merchant:owner", shop.at_owner.mid)
    order = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000", "narration": "rent"}
    sent = counted_more(pair, "request", lambda: user.post("/transfers/send", orderRef="console-1", **order))
    assert sent.http == 303, sent.text
    query = (
        "select a.subject, t.txn_ref from audit_entry a join merchant m using (merchant_id) join transaction t using"
        " (merchant_id) where m.mid = $1 and a.action = 'sent a transfer'"
    )
    [[subject, txn_ref]] = pair.fetch(query, shop.at_owner.mid)
    assert subject == txn_ref


def test_card_numbers_that_are_forwarded_are_in_no_log(pair: Deployment, shop: Shop) -> None:
    charge: dict[str, Any] = {"action": "initiate", "paymentType": "card", "card": CARD, "amount": "100.00"}
    reply = counted_more(pair, "request", lambda: shop.elsewhere.put("payment", **charge))
    assert reply.body["status"] == 202, reply
    printed = pair.out.read_text() + pair.err.read_text()
    assert "/payment" in printed
    assert CARD["card_no"] not in printed
    assert "7777" not in printed


def test_a_rate_limit_is_the_same_whatever_process_is_asked(deployments: Deployments) -> None:
    settings = {"KASUWA_ENVIRONMENT": "live", "KASUWA_SECRET_KEY": SECRET, "KASUWA_WORKERS": "2"}
    settings["KASUWA_CONSOLE"] = "off"
    with deployments.fresh("shared_limit", **settings) as live:
        mid, key, _ = (line.split()[1] for line in live.run_command("merchant", "add", "Ada Stores").splitlines())
        live.change_settings(mid, rate=(1, 20))
        first, second = api_processes(live)
        with ProcessConnection(first, live.port) as one, ProcessConnection(second, live.port) as two:
            shops = [MerchantClient(one, mid, key), MerchantClient(two, mid, key)]
            codes = [shops[n % 2].send_fields("resources", {"inquire": "wallet"}).http for n in range(60)]
        assert codes[:20] == [200] * 20
        assert 20 <= codes.count(200) <= 30
        assert set(codes) == {200, 429}
        assert live.new_stderr() == ""
