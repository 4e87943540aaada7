"""`kasuwa client`: export, find and erase the data of a client."""

from collections.abc import Callable
from typing import Any

import msgspec

from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import BVN, create, enroll, list_all, update, view
from tests.methods.disputes.dispute_client import dispute_of, file_of, open_dispute
from tests.methods.investments import savers
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment


def test_the_data_of_a_client_can_be_exported(shop: MerchantClient, deployment: Deployment) -> None:
    record = enroll(shop, bvn=BVN, meta={"a": [1.50]})
    exported = msgspec.json.decode(deployment.run_command("client", "export", shop.mid, record["client_id"]))
    assert exported == {"mid": shop.mid, "client": record, "records": {}}
    shown = msgspec.json.decode(deployment.run_command("client", "export", shop.mid, record["client_id"], "--reveal"))
    assert shown["client"] == {**record, "bvn": BVN}
    assert deployment.run_command("client", "find", shop.mid, "--bvn", BVN).split() == [record["client_id"]]


def test_a_client_can_be_erased(shop: MerchantClient, deployment: Deployment) -> None:
    record = enroll(shop, bvn=BVN, meta={"a": 1}, status="active")
    client_id = record["client_id"]
    deployment.run_command("client", "erase", shop.mid, client_id, "--yes")
    left = view(shop, client_id)["data"]
    assert set(left) == {"client_id", "status", "bvn_verified", "dateCreated", "dateErased"}
    assert (left["status"], left["dateCreated"]) == ("exited", record["dateCreated"])
    assert list_all(shop)["data"] == [left]
    assert update(shop, client_id, data={"firstname": "Ada"})["status"] == 104
    assert create(shop, bvn=BVN)["status"] == 200
    assert msgspec.json.decode(deployment.run_command("client", "export", shop.mid, client_id))["client"] == left


PAYER = {
    "firstname": "Adaeze",
    "lastname": "Obiora",
    "email": "adaeze@example.com",
    "ip": "198.51.100.7",
    "fingerprint": "device-of-adaeze",
}
CONTACT: dict[str, Any] = {"ip": "198.51.100.8", "fingerprint": "till-of-adaeze", "meta": {"note": "note-of-adaeze"}}
NAMES = (*PAYER.values(), "198.51.100.8", "till-of-adaeze", "note-of-adaeze")


def live_a_life(shop: MerchantClient) -> tuple[str, dict[str, str]]:
    """A client whose loan and savings are closed; and the references of what was moved for them, and a card's token."""
    client_id = savers.enroll(shop)
    terms: dict[str, Any] = {"interestSettings": {"interestRate": "12", "interestFrequency": "annualized"}, "period": 1}
    loan_id = shop.put("loans", action="request", client_id=client_id, amount=1000, **terms).body["data"]["loan_id"]
    assert shop.put("loans", action="process", loan_id=loan_id, status="approve").body["data"]["state"] == "active"
    repay: dict[str, Any] = {"action": "repay", "loan_id": loan_id, "user": PAYER, **CONTACT}
    first = shop.put("loans", **repay, payment_method="card", card=card(auth="PIN"), amount="100.00").body
    rest = shop.put("loans", action="view", loan_id=loan_id).body["data"]["outstanding"]["payoff"]
    second = shop.put("loans", **repay, payment_method="wallet", amount=rest).body
    shop.advance(minutes=1)
    savings_id = savers.open_savings(shop, client_id, name="Adaeze Obiora's fees", period=1)
    paid: dict[str, Any] = {"payment_method": "card", "card": card(auth="PIN"), "amount": "500.00", "user": PAYER}
    deposit = savers.invest(shop, "deposit", savings_id=savings_id, **paid, **CONTACT)
    brought = savers.invest(shop, "deposit", savings_id=savings_id, payment_method="wallet", amount="10.00", **CONTACT)
    thrift_id = savers.make_plan(shop, 2)
    assert savers.join(shop, thrift_id, savings_id)["status"] == 200
    assert savers.invest(shop, "cancel_plan", thrift_id=thrift_id)["status"] == 200
    sent = savers.cash_out(shop, savings_id, client_id, "50.00", "transfer")
    coded = savers.cash_out(shop, savings_id, client_id, "40.00", "cashcode")
    shop.advance(days=40)
    emptied = savers.cash_out(shop, savings_id, client_id, savers.view(shop, savings_id)["balance"])
    assert savers.view(shop, savings_id)["state"] == "closed", emptied
    token = shop.put("payment", action="verify", txnRef=deposit["txnRef"]).body["cardToken"]
    moved = {
        "repaid": first,
        "by_wallet": second,
        "deposit": deposit,
        "brought": brought,
        "sent": sent,
        "coded": coded,
        "cash": emptied,
    }
    refs = {name: answer["txnRef"] for name, answer in moved.items()}
    return client_id, {**refs, "token": token, "loan": loan_id, "savings": savings_id}


def exported(deployment: Deployment, shop: MerchantClient, client_id: str) -> Any:
    return msgspec.json.decode(deployment.run_command("client", "export", shop.mid, client_id))["records"]


def refs_of(records: Any, kind: str) -> list[str]:
    return [row["txn_ref"] for row in records[kind]]


def test_an_export_includes_the_records_of_loans_and_savings(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now=savers.NOW)
    client_id, made = live_a_life(shop)
    stranger, _ = live_a_life(shop)
    records = exported(deployment, shop, client_id)
    assert refs_of(records, "payment") == [made["repaid"], made["deposit"]]
    for row, reference in zip(records["payment"], (made["loan"], made["savings"]), strict=True):
        assert (row["purpose"]["reference"], row["status"]) == (reference, "successful")
        assert (row["fullname"], row["email"]) == ("Adaeze Obiora", "adaeze@example.com")
        assert (row["card"][:6], row["card"][-4:], row["created_at"][:10]) == ("411111", "0013", "2026-01-05")
    assert len(refs_of(records, "transfer")) == 2, "the disbursement and the cash-out"
    assert refs_of(records, "transfer")[1] == made["sent"]
    assert refs_of(records, "cashcode") == [made["coded"]]
    assert sorted(refs_of(records, "movement")) == sorted([made["by_wallet"], made["brought"], made["cash"]])
    for row in records["payment"]:
        assert (row["ip"], row["fingerprint"]) == ("198.51.100.7", "device-of-adaeze")
        assert (row["purpose"]["ip"], row["purpose"]["fingerprint"]) == ("198.51.100.8", "till-of-adaeze")
    for row in (row for row in records["movement"] if row["txn_ref"] != made["cash"]):
        assert (row["ip"], row["fingerprint"]) == ("198.51.100.8", "till-of-adaeze")
        assert msgspec.json.decode(row["meta"]) == CONTACT["meta"]
    assert {row["token"] for row in records["saved_card"]} >= {f"{made['token'][:4]}****"}
    assert [len(records[table]) for table in ("loan", "loan_line", "savings", "thrift_member")] == [1, 1, 1, 1]
    assert made["token"] not in str(records)
    others = exported(deployment, shop, stranger)
    assert not {*refs_of(records, "payment")} & {*refs_of(others, "payment")}


def test_erasing_a_client_erases_payments_savings_and_cards(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now=savers.NOW)
    client_id, made = live_a_life(shop)
    other_id, others = live_a_life(shop)
    kept = exported(deployment, shop, other_id)
    charge: dict[str, Any] = {"action": "charge", "paymentType": "token", "amount": "5.00"}
    assert shop.put("payment", **charge, token=made["token"]).body["txnStatus"] == "successful"
    deployment.run_command("client", "erase", shop.mid, client_id, "--yes")
    records = exported(deployment, shop, client_id)
    assert not [name for name in NAMES if name in str(records)]
    assert refs_of(records, "payment") == [made["repaid"], made["deposit"]]
    assert "saved_card" not in records
    refused, unknown = (shop.put("payment", **charge, token=token).body for token in (made["token"], "xxxxxxxx.1"))
    assert refused == unknown
    assert refused["status"] == 104
    verified = shop.put("payment", action="verify", txnRef=made["deposit"]).body
    assert (verified["txnStatus"], verified["chargedAmount"]) == ("successful", 500)
    assert not [name for name in NAMES if name in str(verified)]
    assert "Adaeze" not in savers.view(shop, made["savings"])["name"]
    assert exported(deployment, shop, other_id) == kept
    assert shop.put("payment", **charge, token=others["token"]).body["txnStatus"] == "successful"
    assert deployment.broken_invariants([shop.mid]) == []


def test_erasing_a_client_erases_the_evidence_of_disputes(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now=savers.NOW)
    client_id, made = live_a_life(shop)
    client = PaymentClient(shop)
    opened = open_dispute(client, made["deposit"])
    dispute_id = opened["data"]["dispute_id"]
    evidence = {"customer_name": "Adaeze Obiora", "customer_email": PAYER["email"], "files": [file_of(b"%PDF-1.4\n")]}
    answered = client.pay(action="dispute_respond", dispute_id=dispute_id, evidence=evidence)
    assert answered["status"] == 200, answered
    records = exported(deployment, shop, client_id)
    assert [(row["dispute_id"], row["txn_ref"]) for row in records["dispute"]] == [(dispute_id, made["deposit"])]
    assert [row["customer_name"] for row in records["dispute_evidence"]] == ["Adaeze Obiora"]
    refused = deployment.run_refused_command("client", "erase", shop.mid, client_id, "--yes")
    assert "still under way" in refused
    assert exported(deployment, shop, client_id) == records
    shop.put("sandbox", action="dispute_outcome", dispute_id=dispute_id, outcome="lost")
    deployment.run_command("client", "erase", shop.mid, client_id, "--yes")
    found = dispute_of(client, opened)["evidence"]
    assert (found["customer_name"], found["customer_email"], found["files"][0]["name"]) == (None, None, "")
    kept = deployment.fetch("select length(content_sealed) from dispute_file where dispute_id = $1", dispute_id)
    assert [row[0] for row in kept] == [0]
    left = exported(deployment, shop, client_id)
    assert [row["state"] for row in left["dispute"]] == ["lost"]
    assert not [name for name in NAMES if name in str(left)]


def test_client_commands_report_errors_in_one_line(shop: MerchantClient, deployment: Deployment) -> None:
    assert "Invalid Client Reference" in deployment.run_refused_command("client", "erase", shop.mid, "CLx", "--yes")
    assert "no merchant" in deployment.run_refused_command("client", "export", "GP9999999", "CLx")
    assert "eleven digits" in deployment.run_refused_command("client", "find", shop.mid, "--bvn", "x")
