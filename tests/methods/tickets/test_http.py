"""Tickets over HTTP: sold on a page, never oversold, admitted once. (Contract: resources#tickets)"""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.payment.payment_client import PaymentClient
from tests.pages.pdf_text import read_pdf_pages
from tests.payer_pages import open_payment, pay_by_card, pay_on_page
from tests.running import Deployment

BUYER = {"fullname": "Adaeze Obiora", "email": "adaeze@example.com"}


def make_link(shop: MerchantClient, **fields: Any) -> Any:
    kinds = [{"name": "Regular", "amount": "5000.00", "quantity": 2}, {"name": "Table", "amount": 40000}]
    body = shop.put("resources", request="ticket", **{"title": "Jazz Night", "ticket_data": kinds, **fields}).body
    assert body["status"] == 200, body
    return body["data"]


def sales(shop: MerchantClient, link_id: str) -> Any:
    body = shop.put("resources", inquire="ticket", link_id=link_id).body
    assert (body["status"], body["total"]) == (200, len(body["data"])), body
    return {**body["sale"], "tickets": body["data"]}


def test_tickets_are_bought_shown_and_used_once(shop: MerchantClient) -> None:
    link = make_link(shop, description="Freedom Park, Lagos, 5 January 2027 at 20:00")
    path = pay_on_page(shop, link["link"], {**BUYER, "count_0": "1", "count_1": "1"})
    found = sales(shop, link["link_id"])
    assert [(kind["name"], kind["sold"], kind["quantity"]) for kind in found["ticket_data"]] == [
        ("Regular", 1, 2),
        ("Table", 1, None),
    ]
    regular, table = found["tickets"]
    assert (regular["ticket"], table["ticket"], regular["email"]) == ("Regular", "Table", "adaeze@example.com")
    receipt = shop.connection.send("GET", path).raw.decode()
    for ticket in found["tickets"]:
        assert re.fullmatch("[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){2}", ticket["code"])
        assert ticket["code"] in receipt
    assert receipt.count("<svg") >= 2
    file = shop.connection.send("GET", f"{path}/receipt.pdf")
    assert (file.http, file.raw[:5]) == (200, b"%PDF-")
    assert "Your tickets for Jazz Night" in receipt
    assert "Freedom Park, Lagos, 5 January 2027 at 20:00" in receipt
    [_, printed] = read_pdf_pages(file.raw)
    assert printed.count("Jazz Night") == printed.count("Freedom Park, Lagos, 5 January 2027 at 20:00") == 2
    code = regular["code"].lower().replace("-", " ")
    assert shop.put("resources", inquire="ticket", code=code).body["data"] == regular
    used = shop.put("resources", request="ticket_use", code=code).body
    assert (used["message"], used["data"]["state"]) == ("Admitted", "used")
    again = shop.put("resources", request="ticket_use", code=code).body
    assert (again["status"], again["message"].partition(",")[0]) == (104, "The ticket was used already")
    wrong = code[:-1] + ("2" if code[-1] != "2" else "3")
    refused = shop.put("resources", request="ticket_use", code=wrong).body
    assert without_codes(refused["errors"]) == [{"field": "code", "reason": "a ticket code of 12 characters"}]


def test_the_last_ticket_is_sold_to_one_of_two_payers_at_once(shop: MerchantClient, deployment: Deployment) -> None:
    link = make_link(shop)
    pay_on_page(shop, link["link"], {**BUYER, "count_0": "1"})
    before = shop.wallet().balance

    def buy(number: int) -> str:
        with deployment.connect() as wire:
            path = open_payment(wire, link["link"], {**BUYER, "count_0": "1"})
            return pay_by_card(wire, path) if path else "refused"

    with ThreadPoolExecutor(4) as payers:
        pages = list(payers.map(buy, range(4)))
    assert sum("Payment successful" in page for page in pages) == 1
    found = sales(shop, link["link_id"])
    assert (found["ticket_data"][0]["sold"], found["ticket_data"][0]["reserved"]) == (2, 0)
    assert len({ticket["code"] for ticket in found["tickets"]}) == 2
    assert shop.wallet().balance > before
    page = shop.connection.send("GET", urlsplit(link["link"]).path).raw.decode()
    assert "sold out" in page


def test_a_code_that_is_used_at_two_gates_at_once_admits_once(shop: MerchantClient, deployment: Deployment) -> None:
    link = make_link(shop)
    pay_on_page(shop, link["link"], {**BUYER, "count_0": "1"})
    [ticket] = sales(shop, link["link_id"])["tickets"]

    def admit(number: int) -> int:
        with deployment.connect() as wire:
            gate = MerchantClient(wire, shop.mid, shop.key)
            return int(gate.put("resources", request="ticket_use", code=ticket["code"]).body["status"])

    with ThreadPoolExecutor(6) as gates:
        assert sorted(gates.map(admit, range(6))) == [104] * 5 + [200]
    assert sales(shop, link["link_id"])["ticket_data"][0]["used"] == 1


def test_a_refund_in_full_voids_the_ticket_and_puts_it_on_sale(shop: MerchantClient) -> None:
    link = make_link(shop)
    pay_on_page(shop, link["link"], {**BUYER, "count_0": "2"})
    first, second = sales(shop, link["link_id"])["tickets"]
    assert first["txnRef"] == second["txnRef"]
    PaymentClient(shop).refund(first["txnRef"], "10000.00")
    found = sales(shop, link["link_id"])
    assert ([ticket["state"] for ticket in found["tickets"]], found["ticket_data"][0]["sold"]) == (["void"] * 2, 0)
    refused = shop.put("resources", request="ticket_use", code=first["code"]).body
    assert refused["message"] == "The ticket is void: its payment was refunded"


def test_a_link_that_sells_tickets_is_no_plain_link(open_shop: Any) -> None:
    ours, theirs = open_shop(), open_shop()
    link = make_link(ours, custom_link=f"jazz-{ours.mid.lower()}", amount=700, frequency="daily")
    assert link["link"].endswith(f"/pay/link/jazz-{ours.mid.lower()}")
    page = ours.connection.send("POST", urlsplit(link["link"]).path, b"amount=5&fullname=Ada&email=a@b.ng", {})
    assert (page.http, "Choose at least one ticket" in page.raw.decode()) == (200, True)
    taken = theirs.put("resources", request="ticket", title="x", custom_link=f"jazz-{ours.mid.lower()}",
                       ticket_data=[{"name": "A", "amount": "0.50"}]).body  # fmt: skip
    assert {fault["field"] for fault in taken["errors"]} == {"custom_link", "ticket_data.0.amount"}
    unknown = theirs.put("resources", inquire="ticket", link_id=link["link_id"]).body
    assert (unknown["status"], unknown["message"]) == (104, "Invalid Link Reference")
    pay_on_page(ours, link["link"], {**BUYER, "count_0": "1"})
    [ticket] = sales(ours, link["link_id"])["tickets"]
    for fields in ({"inquire": "ticket"}, {"request": "ticket_use"}):
        reply = theirs.put("resources", **fields, code=ticket["code"]).body
        assert (reply["status"], reply["message"]) == (104, "Invalid Ticket Code")


def test_the_buyer_of_a_ticket_is_exported_and_erased(shop: MerchantClient, deployment: Deployment) -> None:
    link = make_link(shop)
    pay_on_page(shop, link["link"], {**BUYER, "count_0": "1"})
    customer = shop.put("resources", request="customer", name="Adaeze", email=BUYER["email"]).body["data"]
    exported = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer["customer_id"]))
    [ticket] = exported["records"]["ticket"]
    assert (ticket["name"], ticket["email"], ticket["state"]) == ("Adaeze Obiora", BUYER["email"], "valid")
    deployment.run_command("customer", "erase", shop.mid, customer["customer_id"], "--yes")
    [left] = sales(shop, link["link_id"])["tickets"]
    assert (left["name"], left["email"], left["state"]) == (None, None, "valid")
