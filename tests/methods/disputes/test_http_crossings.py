"""Disputes over HTTP and what they cross: refunds, large files, the clock, a reset, an empty wallet."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import TOTAL, dispute_of, file_of, open_dispute
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment
from tests.walk.bounds import EVIDENCE_BODY

MIB = 1024 * 1024
PDF = b"%PDF-1.4\n"


@pytest.fixture
def client(shop: MerchantClient) -> PaymentClient:
    return PaymentClient(shop)


@pytest.mark.parametrize(
    ("refunded", "disputed"), [("1500.00", "1500.00"), ("1000.00", "1000.00"), ("700.00", "900.00")]
)
def test_a_refund_and_a_dispute_at_once_never_pay_twice(
    client: PaymentClient, deployment: Deployment, refunded: str, disputed: str
) -> None:
    # Of several payments, so that both orders occur. Each has room for one of the two alone.
    payments = [client.paid()["txnRef"] for _ in range(4)]

    def ask(place: int) -> Any:
        with deployment.connect() as wire:
            other = PaymentClient(MerchantClient(wire, client.shop.mid, client.shop.key))
            txn_ref = payments[place // 2]
            is_refund = (place + place // 2) % 2 == 0
            return other.refund(txn_ref, refunded) if is_refund else open_dispute(other, txn_ref, amount=disputed)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(ask, range(8)))
    for first, second in zip(replies[::2], replies[1::2], strict=True):
        assert sorted([first["status"], second["status"]]) == [104, 200]
    assert deployment.broken_invariants([client.shop.mid]) == []


def test_a_partial_refund_and_a_partial_dispute_share_a_payment(client: PaymentClient, deployment: Deployment) -> None:
    paid = client.paid()["txnRef"]
    opened = open_dispute(client, paid, amount="900.00")
    assert client.refund(paid, "600.01")["errors"][0]["reason"] == "at most 600.00, what is left to refund"
    assert client.refund(paid, "600.00")["refundableAmount"] == "0.00"
    assert open_dispute(client, paid)["status"] == 104
    won = {"dispute_id": opened["data"]["dispute_id"], "outcome": "won"}
    client.shop.put("sandbox", action="dispute_outcome", **won)
    assert client.refund(paid, "900.00")["refundedAmount"] == "1500.00"
    assert deployment.broken_invariants([client.shop.mid]) == []


def test_five_files_of_two_mebibytes_are_accepted_and_stored_encrypted(
    client: PaymentClient, deployment: Deployment
) -> None:
    opened = open_dispute(client, client.paid()["txnRef"])
    dispute_id = opened["data"]["dispute_id"]
    whole = PDF + bytes(2 * MIB - len(PDF))
    evidence = {"explanation": "see the files", "files": [file_of(whole)] * 5}
    first = client.pay(action="dispute_respond", dispute_id=dispute_id, evidence=evidence)
    assert first["data"]["state"] == "under_review", first
    shown = dispute_of(client, opened)["evidence"]["files"]
    assert shown == [{"name": "receipt.pdf", "media_type": "application/pdf", "size": 2 * MIB}] * 5
    stored = deployment.fetch("select content_sealed from dispute_file where dispute_id = $1", dispute_id)
    assert len(stored) == 5
    assert not any(PDF in bytes(row[0]) for row in stored)


def test_a_response_has_15_mib_and_no_more(client: PaymentClient) -> None:
    fields = {"action": "dispute_respond", "dispute_id": "DP0", "padding": ""}
    frame = len(msgspec.json.encode(fields))
    for size, is_within in EVIDENCE_BODY.sides:
        body = msgspec.json.encode({**fields, "padding": "x" * (size - frame)})
        assert len(body) == size
        assert client.shop.send("payment", body).http == (200 if is_within else 413), size


def test_large_bodies_are_for_evidence_alone(client: PaymentClient) -> None:
    opened = open_dispute(client, client.paid()["txnRef"])["data"]["dispute_id"]
    padding = "x" * MIB
    for fields in ({"action": "verify", "txnRef": "GP1", "padding": padding}, {"action": "refund", "padding": padding}):
        refused = client.shop.send_fields("payment", fields)
        assert (refused.http, refused.body["status"]) == (413, 103)
    too_many = {"action": "dispute_respond", "dispute_id": opened, "padding": "x" * 16 * MIB}
    assert client.shop.send_fields("payment", too_many).http == 413
    assert client.shop.send_fields("disburse", {**too_many, "padding": "x" * 2 * MIB}).http == 413


def test_a_clock_that_passes_the_deadline_while_responding_leaves_one_outcome(
    client: PaymentClient, deployment: Deployment
) -> None:
    for _ in range(3):
        opened = open_dispute(client, client.paid()["txnRef"], hours=1)
        dispute_id = opened["data"]["dispute_id"]

        def respond(wanted: str = dispute_id) -> Any:
            with deployment.connect() as wire:
                other = PaymentClient(MerchantClient(wire, client.shop.mid, client.shop.key))
                return other.pay(action="dispute_respond", dispute_id=wanted, evidence={"explanation": "x"})

        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(respond)
            client.shop.advance(hours=2)
            answered = answer.result()
        state = dispute_of(client, opened)["state"]
        assert (answered["status"], state) in ((200, "under_review"), (104, "expired"))
    assert deployment.broken_invariants([client.shop.mid]) == []


def test_a_reset_leaves_the_disputes_with_the_old_books(client: PaymentClient) -> None:
    opened = open_dispute(client, client.paid()["txnRef"], hours=1)
    client.shop.put("sandbox", action="reset")
    assert client.pay(action="disputes")["total"] == 0
    gone = client.pay(action="dispute", dispute_id=opened["data"]["dispute_id"])
    assert (gone["status"], gone["message"]) == (104, "Invalid Dispute Reference")
    client.shop.advance(hours=3)
    assert client.shop.put("resources", inquire="events").body["total"] == 0


def test_a_wallet_that_lacks_the_money_owes_it_and_pays_with_the_next_credit(
    client: PaymentClient, deployment: Deployment
) -> None:
    shop = client.shop
    deployment.run_command("merchant", "set", shop.mid, "--dispute-credit", '{"NGN": "1000.00"}')
    paid = client.paid()["txnRef"]
    while shop.wallet().balance > 50_000:
        part = min(shop.wallet().balance - 20_000, 999_900_000)
        shop.transfer(amount=f"{(part - 10_000) / 100:.2f}")
    there = shop.wallet().balance
    opened = open_dispute(client, paid)
    assert opened["data"]["held"] == f"{(there + 100_000) / 100:.2f}"
    client.pay(action="dispute_respond", dispute_id=opened["data"]["dispute_id"], accept=True)
    assert deployment.broken_invariants([shop.mid]) == []
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="10000.00")
    shop.advance(hours=2)
    assert shop.wallet().balance == there + 1_000_000 - TOTAL


def test_a_webhook_gets_every_step_of_a_dispute(client: PaymentClient, deployment: Deployment) -> None:
    client.shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/events")
    opened = open_dispute(client, client.paid()["txnRef"])
    dispute_id = opened["data"]["dispute_id"]
    client.pay(action="dispute_respond", dispute_id=dispute_id, accept=True)
    jobs = deployment.fetch(
        "select reference from scheduled_job where lane = 'webhook' and reference like $1", f"{dispute_id}/%"
    )
    assert sorted(row[0] for row in jobs) == [f"{dispute_id}/1", f"{dispute_id}/2"]


def test_an_operator_opens_hands_in_and_decides_a_dispute_by_hand(
    client: PaymentClient, deployment: Deployment, tmp_path: Path
) -> None:
    paid = client.paid()["txnRef"]
    printed = deployment.run_command("dispute", "open", client.shop.mid, paid, "fraudulent", "--amount", "200.00")
    dispute_id = printed.split(" ", 1)[1].strip()
    evidence = {"explanation": "mine", "files": [file_of(PDF)]}
    client.pay(action="dispute_respond", dispute_id=dispute_id, evidence=evidence)
    shown = deployment.run_command("dispute", "evidence", client.shop.mid, dispute_id, "--to", str(tmp_path))
    assert '"explanation": "mine"' in shown
    assert (tmp_path / "1.pdf").read_bytes() == PDF
    assert "yours again" in deployment.run_command("dispute", "outcome", client.shop.mid, dispute_id, "won")
    assert client.pay(action="dispute", dispute_id=dispute_id)["data"]["state"] == "won"


def test_erasing_a_customer_erases_the_evidence(client: PaymentClient, deployment: Deployment) -> None:
    shop = client.shop
    customer: dict[str, Any] = {"name": "Ada Obi", "email": "ada@example.com"}
    customer_id = shop.put("resources", request="customer", **customer).body["data"]["customer_id"]
    opened = open_dispute(client, client.paid()["txnRef"])
    dispute_id = opened["data"]["dispute_id"]
    evidence = {"customer_name": "Ada Obi", "files": [file_of(PDF)]}
    client.pay(action="dispute_respond", dispute_id=dispute_id, evidence=evidence)
    assert '"customer_name": "Ada Obi"' in deployment.run_command("customer", "export", shop.mid, customer_id)
    shop.put("sandbox", action="dispute_outcome", dispute_id=dispute_id, outcome="lost")
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    found = dispute_of(client, opened)["evidence"]
    assert (found["customer_name"], found["files"][0]["name"]) == (None, "")
    kept = deployment.fetch("select length(content_sealed) from dispute_file where dispute_id = $1", dispute_id)
    assert [row[0] for row in kept] == [0]


def test_references_of_disputes_and_settlements_are_found(client: PaymentClient) -> None:
    shop = client.shop
    paid = client.paid()["txnRef"]
    dispute_id = open_dispute(client, paid)["data"]["dispute_id"]
    client.pay(action="dispute_respond", dispute_id=dispute_id, accept=True)

    def find(reference: str) -> Any:
        return shop.put("resources", inquire="transaction", reference=reference).body["data"]

    found = find(dispute_id)
    assert (found["kind"], found["state"], found["amount"]) == ("dispute", "accepted", "1500.00")
    assert [one["reference"] for one in found["related"]] == [paid]
    assert ("dispute", dispute_id) in [(one["kind"], one["reference"]) for one in find(paid)["related"]]
    event = shop.put("resources", inquire="events", txnRef=dispute_id).body["data"][0]
    assert find(event["event_id"])["reference"] == dispute_id
    [settlement] = shop.put("resources", inquire="settlements").body["data"]
    assert find(settlement["settlement_id"])["amount"] == settlement["net"]
    listed = shop.put("resources", inquire="transactions", reference=dispute_id).body["data"]
    assert [line["txnRef"] for line in listed] == [paid]
    day = shop.now()[:10]
    period: dict[str, Any] = {"account": "wallet", "from": day, "to": day}
    statement = shop.put("resources", inquire="statement", **period).body
    totals = {total["kind"]: total["amount"] for total in statement["totals"]}
    assert totals["disputes"] == "-1500.00"
    for reference in (paid, dispute_id):
        steps = shop.put("sandbox", action="explain", txnRef=reference).body["data"]
        assert any(line["what"] == "posting" and line["said"] == "dispute" for line in steps) or reference == paid
    explained = shop.put("sandbox", action="explain", txnRef=paid).body["data"]
    assert [line["said"] for line in explained if line["what"] == "dispute"] == ["opened", "accepted"]
