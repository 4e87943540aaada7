"""Invoices, tickets and checkouts, and what they cross: disputes, a void, the clock, a reset, a revoked key."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import open_dispute
from tests.methods.invoices.test_http import events_of, made, show
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.tickets.test_http import BUYER, make_link, sales
from tests.payer_pages import begin_card, hidden_fields, open_payment, pay_by_card, pay_on_page, post_form
from tests.running import Deployment


def void(shop: MerchantClient, invoice_id: str) -> Any:
    return shop.put("resources", inquire="invoice", invoice_id=invoice_id, status="void").body


def test_an_invoice_that_is_being_paid_in_parts_is_voided_only_after_the_attempt(
    shop: MerchantClient, deployment: Deployment
) -> None:
    record = made(shop, charge_user="parts", date_due="2099-01-01")
    path = open_payment(shop.connection, record["link"], {"amount": "10000.00"})
    other = open_payment(shop.connection, record["link"], {"amount": "5000.00"})
    waiting = begin_card(shop.connection, path)
    refused = void(shop, record["invoice_id"])
    assert (refused["status"], show(shop, record["invoice_id"])["status"]) == (104, "unpaid")
    shop.advance(minutes=11)
    assert void(shop, record["invoice_id"])["data"]["status"] == "void"
    late = post_form(shop.connection, path, {**hidden_fields(waiting, "otp"), "otp": "123456"})
    assert late.http in (200, 303)
    assert "This invoice was canceled by the merchant" in pay_by_card(shop.connection, other)
    shown = show(shop, record["invoice_id"])
    assert (shown["status"], shown["paid"], shown["payments"]) == ("void", "0.00", [])
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_void_and_payments_at_once_leave_one_of_the_two(shop: MerchantClient, deployment: Deployment) -> None:
    for _ in range(3):
        record = made(shop)
        path = open_payment(shop.connection, record["link"], {})

        def act(place: int, record: Any = record, path: str = path) -> str:
            with deployment.connect() as wire:
                if place == 0:
                    return str(void(MerchantClient(wire, shop.mid, shop.key), record["invoice_id"])["status"])
                return pay_by_card(wire, path)

        with ThreadPoolExecutor(2) as pool:
            [status, page] = pool.map(act, range(2))
        was_paid = "Payment successful" in page
        expected = ("104", "paid") if was_paid else ("200", "void")
        assert (status, show(shop, record["invoice_id"])["status"]) == expected
    assert deployment.broken_invariants([shop.mid]) == []


def test_an_attempt_that_waits_over_the_due_date_still_pays_the_invoice(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now="2026-01-05T23:55:00+01:00")
    record = made(shop, date_due="2026-01-05")
    path = open_payment(shop.connection, record["link"], {})
    waiting = begin_card(shop.connection, path)
    shop.advance(minutes=6)
    assert show(shop, record["invoice_id"])["status"] == "overdue"
    post_form(shop.connection, path, {**hidden_fields(waiting, "otp"), "otp": "123456"})
    assert show(shop, record["invoice_id"])["status"] == "paid"
    states = [state for state, _, _ in events_of(shop, record["invoice_id"])]
    assert states == ["unpaid", "overdue", "paid"]
    assert deployment.broken_invariants([shop.mid]) == []


@pytest.mark.parametrize("outcome", ["won", "lost"])
def test_a_dispute_of_an_invoices_payment_is_shown_and_changes_no_state(
    shop: MerchantClient, deployment: Deployment, outcome: str
) -> None:
    record = made(shop)
    pay_on_page(shop, record["link"], {})
    [payment] = show(shop, record["invoice_id"])["payments"]
    opened = open_dispute(PaymentClient(shop), payment["txnRef"], amount="3000.00")
    shop.put("sandbox", action="dispute_outcome", dispute_id=opened["data"]["dispute_id"], outcome=outcome)
    shown = show(shop, record["invoice_id"])
    assert (shown["status"], shown["paid"], shown["refunded"]) == ("paid", "33000.00", "0.00")
    assert shown["payments"][0]["disputed"] == ("0.00" if outcome == "won" else "3000.00")
    assert deployment.broken_invariants([shop.mid]) == []


@pytest.mark.parametrize("outcome", ["won", "lost"])
def test_a_ticket_whose_payment_is_disputed_is_admitted_only_if_that_is_won(
    shop: MerchantClient, deployment: Deployment, outcome: str
) -> None:
    link = make_link(shop)
    pay_on_page(shop, link["link"], {**BUYER, "count_0": "1"})
    [ticket] = sales(shop, link["link_id"])["tickets"]
    client = PaymentClient(shop)
    assert client.refund(ticket["txnRef"], "1000.00")["status"] == 200
    opened = open_dispute(client, ticket["txnRef"], amount="4000.00")
    refused = shop.put("resources", request="ticket_use", code=ticket["code"]).body
    assert (refused["status"], "is disputed" in refused["message"]) == (104, True)
    shop.put("sandbox", action="dispute_outcome", dispute_id=opened["data"]["dispute_id"], outcome=outcome)
    used = shop.put("resources", request="ticket_use", code=ticket["code"]).body
    assert used["status"] == (200 if outcome == "won" else 104)
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_refunded_ticket_of_a_sold_out_event_is_sold_once_more(shop: MerchantClient, deployment: Deployment) -> None:
    link = make_link(shop)
    for _ in range(2):
        pay_on_page(shop, link["link"], {**BUYER, "count_0": "1"})
    assert open_payment(shop.connection, link["link"], {**BUYER, "count_0": "1"}) == ""
    first, _ = sales(shop, link["link_id"])["tickets"]

    def act(place: int) -> str:
        with deployment.connect() as wire:
            if place == 0:
                again = PaymentClient(MerchantClient(wire, shop.mid, shop.key))
                return str(again.refund(first["txnRef"], "5000.00")["status"])
            path = open_payment(wire, link["link"], {**BUYER, "count_0": "1"})
            return pay_by_card(wire, path) if path else ""

    with ThreadPoolExecutor(4) as pool:
        refunded, *pages = pool.map(act, range(4))
    sold = sum("Payment successful" in page for page in pages)
    assert (refunded, sales(shop, link["link_id"])["ticket_data"][0]["sold"]) == ("200", 1 + sold)
    if not sold:
        pay_on_page(shop, link["link"], {**BUYER, "count_0": "1"})
    assert open_payment(shop.connection, link["link"], {**BUYER, "count_0": "1"}) == ""
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_checkout_is_paid_although_the_key_that_opened_it_was_revoked(
    shop: MerchantClient, deployment: Deployment
) -> None:
    lines = deployment.run_command("merchant", "add-key", shop.mid, "--name", "shop", "--scope", "collect").splitlines()
    key_id, key = (next(line.split()[-1] for line in lines if line.startswith(word)) for word in ("key_id", "key "))
    cashier = MerchantClient(shop.connection, shop.mid, key)
    opened = cashier.put("payment", action="checkout", amount="1500.00", user={"email": "ada@example.com"}).body
    waiting = begin_card(shop.connection, urlsplit(opened["checkoutURL"]).path)
    deployment.run_command("merchant", "revoke-key", shop.mid, key_id)
    path = urlsplit(opened["checkoutURL"]).path
    post_form(shop.connection, path, {**hidden_fields(waiting, "otp"), "otp": "123456"})
    assert "Payment successful" in shop.connection.send("GET", path).raw.decode()
    assert shop.put("payment", action="verify", txnRef=opened["txnRef"]).body["txnStatus"] == "successful"


def test_a_reset_ends_the_pages_of_payers_who_are_just_paying(shop: MerchantClient, deployment: Deployment) -> None:
    record, link = made(shop), make_link(shop)
    paths = [
        open_payment(shop.connection, record["link"], {}),
        open_payment(shop.connection, link["link"], {**BUYER, "count_0": "1"}),
    ]
    waiting = [begin_card(shop.connection, path) for path in paths]
    assert shop.put("sandbox", action="reset").body["status"] == 200
    before = shop.wallet()
    for path, page in zip(paths, waiting, strict=True):
        assert post_form(shop.connection, path, {**hidden_fields(page, "otp"), "otp": "123456"}).http == 404
    for url in (record["link"], link["link"]):
        assert shop.connection.send("GET", urlsplit(url).path).http == 404
    assert shop.wallet() == before
    assert shop.put("resources", inquire="invoice").body["total"] == 0
    assert deployment.broken_invariants([shop.mid]) == []
