"""Reversals: money that a rail gave or took back after success is booked by two operators, once."""

from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec
import pytest

from kasuwa.console.operator.manual_posting import (
    ALREADY_REVERSED,
    NOT_LEFT,
    ManualPosting,
    ProposedPosting,
    Verdict,
    decide_verdict,
    need_verdict,
    posting_key,
)
from kasuwa.core.decision import AuditEntry, Decision, LoadedRows, Row
from kasuwa.methods.payment.model import Payment, RailReversal, payment_key, reversal_key
from kasuwa.pages.transfer_receipts import RETURNED as RETURNED_BY_BANK
from tests.console.test_operator_pages import propose
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.pages.pdf_text import read_pdf_pages
from tests.rule_context import MERCHANT, context
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

RETURNED = ProposedPosting("rail:bank:NGN", "wallet:main:NGN", 10_000, "reversed by the rail", "GP|FD|1")
VERDICT = Verdict(7, "approved", 3, RETURNED, AuditEntry("ada@example.com", "approved", "approval 7"))


def decided_with_webhook(rows: dict[bytes, Row | None]) -> Decision:
    decision = decide_verdict(VERDICT, context(has_webhook=True), LoadedRows(rows))
    assert isinstance(decision, Decision)
    return decision


def events_of_reversal(shop: MerchantClient, txn_ref: str) -> list[dict[str, str]]:
    found = [event["payload"] for event in shop.put("resources", inquire="events").body["data"]]
    return [payload for payload in found if payload.get("reversalOf") == txn_ref]


def read_receipt(shop: MerchantClient, sent: dict[str, str]) -> tuple[str, str, str]:
    """Returns the heading, the page and the file of the receipt of a transfer."""
    path = urlsplit(sent["receiptURL"]).path
    page = shop.connection.send("GET", path).raw.decode()
    [lines] = read_pdf_pages(shop.connection.send("GET", f"{path}/receipt.pdf").raw)
    return page[page.index("<h1>") :], page, " ".join(lines)


def test_a_second_approval_of_the_same_reversal_books_nothing() -> None:
    key, mark = posting_key(MERCHANT.merchant_id, 7), reversal_key(MERCHANT.merchant_id, "GP|FD|1")
    payment = payment_key(MERCHANT.merchant_id, "GP|FD|1")
    assert need_verdict(VERDICT, MERCHANT).rows == ((ManualPosting, key), (RailReversal, mark), (Payment, payment))
    rows: dict[bytes, Row | None] = {key: None, mark: None, payment: None}
    first = decide_verdict(VERDICT, context(), LoadedRows(rows))
    assert isinstance(first, Decision)
    reversal = first.rows[1]
    assert isinstance(reversal, RailReversal)
    assert (reversal.txn_ref, reversal.approval_id) == ("GP|FD|1", 7)
    [event] = first.events
    payload = msgspec.json.decode(event.payload)
    assert (event.kind, event.reference, first.numbers_used) == ("reversal", payload["txnRef"], 1)
    assert payload["txnRef"].startswith("GP|RV|")
    assert (payload["reversalOf"], payload["chargedAmount"], payload["currency"]) == ("GP|FD|1", "100.00", "NGN")
    assert (payload["paymentMethod"], payload["direction"]) == ("transfer", "credit")
    assert first.jobs == (), "there is no webhook"
    [job] = decided_with_webhook(rows).jobs
    assert (job.kind, job.lane, job.reference) == ("webhook.deliver", "webhook", event.reference)
    other = Verdict(8, "approved", 3, RETURNED, VERDICT.audit_entry)
    known: dict[bytes, Row | None] = {posting_key(MERCHANT.merchant_id, 8): None, mark: reversal}
    assert decide_verdict(other, context(), LoadedRows(known)) == ALREADY_REVERSED


def test_a_reversed_transfer_goes_back_to_the_wallet_once(deployment: Deployment, shop: MerchantClient) -> None:
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    sent = shop.transfer(amount="100.00")
    before = shop.wallet().balance
    number = propose(finance, "reversal", mid=shop.mid, reference=sent["txnRef"])
    again = finance.post("/operator/approvals/reversal", mid=shop.mid, reference=sent["txnRef"], reason="again")
    assert (again.http, "proposed or booked already" in again.words) == (422, True)
    assert finance.post(f"/operator/approvals/{number}/approve").http != 303
    assert shop.wallet().balance == before
    assert sent["txnRef"] in admin.get("/operator/approvals").words
    assert read_receipt(shop, sent)[0].startswith("<h1>Transfer paid</h1>")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert shop.wallet().balance == before + 10_000
    heading, page, file = read_receipt(shop, sent)
    assert heading.startswith("<h1>Transfer returned</h1>")
    for shown in (page, file):
        assert RETURNED_BY_BANK in shown
    [event] = events_of_reversal(shop, sent["txnRef"])
    assert (event["kind"], event["direction"], event["chargedAmount"]) == ("reversal", "credit", "100.00")
    again = finance.post("/operator/approvals/reversal", mid=shop.mid, reference=sent["txnRef"], reason="again")
    assert again.http == 422
    assert shop.put("disburse", action="verify", txnRef=sent["txnRef"]).body["txnStatus"] == "successful"
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_reversed_payment_is_taken_from_the_wallet(deployment: Deployment, shop: MerchantClient) -> None:
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    fields = {"name": "Ada Obi", "reference": "tenant", "email": "ada@example.com"}
    account = shop.send_fields("resources", {"request": "personalized-accounts", **fields}).body["data"]
    paid = {"action": "pay_account", "accountNumber": account["accountNumber"], "amount": "500.00"}
    reference = shop.send_fields("sandbox", paid).body["txnRef"]
    before = shop.wallet().balance
    number = propose(finance, "reversal", mid=shop.mid, reference=reference)
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert shop.wallet().balance == before - 50_000
    [event] = events_of_reversal(shop, reference)
    assert (event["direction"], event["paymentMethod"]) == ("debit", "bank_transfer")
    assert deployment.broken_invariants([shop.mid]) == []
    # It is the payer's: neither a refund nor a dispute pays it again.
    refund = shop.put("payment", action="refund", txnRef=reference, amount="1.00").body
    dispute = shop.put("sandbox", action="dispute", txnRef=reference, reason="fraudulent").body
    assert (refund["status"], dispute["status"]) == (104, 104)


def test_a_payment_that_was_disputed_after_the_proposal_is_not_reversed_as_well(
    deployment: Deployment, shop: MerchantClient
) -> None:
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    paid = PaymentClient(shop).paid()
    number = propose(finance, "reversal", mid=shop.mid, reference=paid["txnRef"])
    assert shop.put("sandbox", action="dispute", txnRef=paid["txnRef"], reason="fraudulent").body["status"] == 200
    before = shop.wallet().balance
    admin.get("/operator/approvals")
    answer = admin.post(f"/operator/approvals/{number}/approve")
    assert (answer.http, NOT_LEFT.message in answer.words) == (422, True)
    assert shop.wallet().balance == before


@pytest.mark.parametrize("reference", ["", "GP|FD|000000000|20260105X", "x' or 1=1"])
def test_only_a_transaction_that_has_ended_can_be_reversed(
    deployment: Deployment, shop: MerchantClient, reference: str
) -> None:
    finance = sign_in_as(deployment, "operator:finance")
    finance.get("/operator/approvals")
    answer = finance.post("/operator/approvals/reversal", mid=shop.mid, reference=reference, reason="r")
    assert (answer.http, "no transfer, bill or refund that has ended" in answer.words) == (422, True)


def test_a_repayment_that_its_rail_took_back_is_owed_again(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    shop = open_shop()
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    loan_id = bank.lend()
    before = bank.view(loan_id)["outstanding"]
    details = {"payment_method": "card", "amount": "1000.00", "card": card(auth="PIN")}
    paid = bank.loans("repay", loan_id=loan_id, **details)
    number = propose(finance, "reversal", mid=shop.mid, reference=paid["txnRef"])
    assert bank.view(loan_id)["outstanding"] != before
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert bank.view(loan_id)["outstanding"] == before
    again = {"action": "reverse", "txnRef": paid["txnRef"], "reason": "as well"}
    assert shop.put("loans", **again).body["status"] == 104
    assert deployment.broken_invariants([shop.mid]) == []
