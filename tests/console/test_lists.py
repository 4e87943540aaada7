"""Lists of the console over HTTP: search, filters, saved filters, columns and CSV of every list."""

import csv
import io
import re
from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.console.kit.forms import convert_value
from kasuwa.console.kit.lists import is_query
from kasuwa.console.kit.saved_lists import MAX_SAVED
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.records.kind import RecordKind
from kasuwa.console.records.table import RECORD_KINDS
from kasuwa.core.banks import banks_by_code
from kasuwa.methods.tables import list_methods
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import NEWEST, Deployment, Deployments

pytestmark = pytest.mark.xdist_group("console")

LISTED = [kind for kind in RECORD_KINDS if kind.list_action]
AMOUNT_NAMES = {"amount", "discount", "shipping", "per_transaction", "per_day", "per_month"}
ADA = {"firstname": "Adaeze", "lastname": "Obiora", "email": "adaeze@example.com"}


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


@pytest.fixture(scope="module")
def world(deployments: Deployments) -> SampleMerchant:
    return SampleMerchant(deployments.for_version(NEWEST))


@pytest.fixture(scope="module")
def reader(deployments: Deployments, world: SampleMerchant) -> Visitor:
    return sign_in_as(deployments.for_version(NEWEST), "merchant:read-only", world.mid)


def references(page: PageReply) -> list[str]:
    """Returns the txnRefs of a list, in its order."""
    rows = page.text.partition("<tbody>")[2].split("<tr>")[1:]
    return [row.partition('class="mono" href="')[2].partition(">")[2].partition("<")[0] for row in rows]


# --- search -------------------------------------------------------------------------------------------------------


def test_a_part_of_a_reference_a_name_or_an_address_finds_payments(owner: Visitor, shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    shop.put("resources", request="customer", name="Adaeze Obiora", email=ADA["email"])
    first = payments.paid(user=ADA, customer_txnref="basket-4711")["txnRef"]
    second = payments.paid(user=ADA, customer_txnref="basket-4712")["txnRef"]
    other = payments.paid()["txnRef"]
    assert references(owner.get("/transactions?q=SKET-471")) == [second, first]
    for text in ("Adaeze", "obio", "adaeze obi", "adaeze@example.com", "ADAEZE@example.com"):
        assert references(owner.get(f"/transactions?q={quote(text)}")) == [second, first], text
    assert owner.get(f"/transactions?q={other[2:11]}").place == f"/transactions/{other}"
    assert "No results" in owner.get("/transactions?q=nobody").words
    exported = list(csv.DictReader(io.StringIO(owner.get("/transactions.csv?q=Adaeze").text)))
    assert {(row["txnRef"], row["customer"], row["email"]) for row in exported} == {
        (second, "Adaeze Obiora", ADA["email"]),
        (first, "Adaeze Obiora", ADA["email"]),
    }


def test_transactions_are_filtered_by_method_amount_currency_and_customer(owner: Visitor, shop: MerchantClient) -> None:
    paid, sent = PaymentClient(shop).paid(user=ADA)["txnRef"], shop.transfer(amount="20.00")["txnRef"]
    for query, found in (
        ("method=card", [paid]),
        ("min_amount=100", [paid]),
        ("max_amount=100", [sent]),
        ("currency=USD", []),
        (f"customer={ADA['email']}", [paid]),
        ("customer=nobody@example.com", []),
    ):
        assert references(owner.get(f"/transactions?{query}")) == found, query
    assert "digits with at most two decimals" in owner.get("/transactions?min_amount=x").words


def test_the_search_of_the_header_opens_whatever_has_the_reference(reader: Visitor, world: SampleMerchant) -> None:
    for kind in (
        "customers",
        "invoices",
        "disputes",
        "loans",
        "loan-products",
        "groups",
        "savings",
        "thrift",
        "clients",
        "beneficiaries",
        "cards",
    ):
        reference = world.records[kind]
        found = reader.get(f"/search?q={quote(reference, safe='')}").place
        assert found == f"/{kind}/{quote(reference, safe='')}"
        assert reader.get(found).http == 200
    assert reader.get("/search?q=bill-1").place == f"/transactions/{quote(world.records['bills'], safe='')}"
    people = reader.get("/search?q=adaeze")
    assert f'/customers/{world.records["customers"]}"' in people.text
    assert "No results" in reader.get("/search?q=zzzz").words
    assert reader.get("/search").http == 200


# --- saved filters and columns ------------------------------------------------------------------------------------


def test_a_filter_is_saved_under_a_name_used_and_deleted(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    owner.get("/transactions?status=failed&kind=transfer")
    saved = owner.post("/lists/transactions/save", name="Failed transfers", query="kind=transfer&status=failed")
    assert saved.place == "/transactions?kind=transfer&status=failed"
    page = owner.get("/transactions")
    assert 'href="/transactions?kind=transfer&amp;status=failed">Failed transfers</a>' in page.text
    colleague = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert "Failed transfers" not in colleague.get("/transactions").words
    owner.post("/lists/transactions/delete", name="Failed transfers")
    assert "Failed transfers" not in owner.get("/transactions").words


def test_saved_filters_are_limited_and_invalid_ones_refused(owner: Visitor) -> None:
    owner.get("/customers")
    for n in range(MAX_SAVED + 2):
        owner.post("/lists/customers/save", name=f"Filter {n}", query=f"search=name{n}")
    assert owner.get("/customers").text.count('class="chip"') == MAX_SAVED
    owner.post("/lists/customers/save", name="Filter 1", query="search=other")
    assert 'href="/customers?search=other">Filter 1</a>' in owner.get("/customers").text
    assert owner.post("/lists/customers/save", name="", query="search=x").place == "/customers?search=x"
    assert owner.post("/lists/no-such-list/save", name="x", query="search=x").http == 404
    assert not is_query('"><script>')


def test_a_user_chooses_the_columns_of_a_list(owner: Visitor, shop: MerchantClient) -> None:
    PaymentClient(shop).paid(user=ADA)
    assert '<th scope="col">Email</th>' not in owner.get("/transactions").text
    chosen = "/lists/transactions/columns"
    assert owner.post(chosen, columns="email", next="/transactions?kind=payment").place == "/transactions?kind=payment"
    page = owner.get("/transactions")
    assert '<th scope="col">Email</th>' in page.text
    assert ADA["email"] in page.words.partition("Email")[2]
    assert '<th scope="col">Status</th>' not in page.text
    owner.post(chosen)
    assert '<th scope="col">Status</th>' in owner.get("/transactions").text


def test_a_checkout_links_its_sale_its_payment_and_every_attempt(reader: Visitor, world: SampleMerchant) -> None:
    page = reader.get(f"/checkouts/{quote(world.records['checkouts'], safe='')}")
    assert f'href="/tickets/{world.records["tickets"]}"' in page.text
    payment = page.text.partition('href="/transactions/')[2].partition('"')[0]
    attempts = page.text.partition('aria-label="Payments"')[2]
    assert f'href="/transactions/{payment}"' in attempts
    assert "Payer's link" in page.words


# --- records ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LISTED, ids=lambda kind: kind.name)
def test_every_list_is_exported_as_csv(world: SampleMerchant, reader: Visitor, kind: RecordKind) -> None:
    answer = reader.get(f"/{kind.name}.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert world.records[kind.name] in {row[kind.key_field] for row in rows}


def test_an_export_of_loans_names_the_clients(world: SampleMerchant, reader: Visitor) -> None:
    rows = list(csv.DictReader(io.StringIO(reader.get("/loans.csv").text)))
    assert {row["client"] for row in rows} == {"Ada Obi"}


@pytest.mark.parametrize("kind", LISTED, ids=lambda kind: kind.name)
def test_every_filter_is_a_field_of_the_list_action(kind: RecordKind) -> None:
    methods = {method.name: method for method in (*list_methods("test"), CONSOLE)}
    actions: list[Any] = list(methods[kind.list_method or kind.method].actions)
    fields = {
        name
        for action in actions
        if action.name == kind.list_action
        for name in action.request.__struct_encode_fields__
    }
    assert {field.name for field in kind.filters} <= fields


def test_record_lists_are_filtered_and_name_people(world: SampleMerchant, reader: Visitor) -> None:
    loans = reader.get("/loans?state=pending_approval")
    assert world.records["loans"] in loans.text
    assert ">Ada Obi</a>" in loans.text
    assert "No results" in reader.get("/loans?state=closed_rejected").words
    assert "Adaeze" in reader.get("/customers?search=obio").words.partition("Created")[2]
    assert "No results" in reader.get("/customers?search=zzzz").words
    refused = reader.get("/settlements?from=2020-01-01&to=2026-01-01")
    assert refused.http == 200
    assert "The filter was not applied" in refused.words


def test_the_audit_trail_and_waiting_transfers_are_exported(owner: Visitor, shop: MerchantClient) -> None:
    owner.get("/beneficiaries")
    owner.post("/beneficiaries/new/create", name="=Bola", bankcode="058", accountnumber="0000000000")
    trail = list(csv.DictReader(io.StringIO(owner.get("/settings/trail.csv").text)))
    assert "add a beneficiary" in {row["action"] for row in trail}
    shop.put("sandbox", action="payout_policy", approve_above="100.00")
    sent = shop.transfer(amount="500.00")["txnRef"]
    waiting = list(csv.DictReader(io.StringIO(owner.get("/transfers/waiting.csv").text)))
    assert [(row["txnRef"], row["amount"]) for row in waiting] == [(sent, "500.00")]


# --- amounts with thousands separators, and wrong filters -----------------------------------------------------------


def test_filters_take_amounts_as_pages_print_them(owner: Visitor, shop: MerchantClient) -> None:
    large, small = shop.transfer(amount="1500.00")["txnRef"], shop.transfer(amount="15.00")["txnRef"]
    page = owner.get("/transactions?min_amount=1,500.00&max_amount=1,500").words
    assert (large in page, small in page) == (True, False)
    rows = list(csv.DictReader(io.StringIO(owner.get("/transactions.csv?min_amount=1,500.00").text)))
    assert [row["txnRef"] for row in rows] == [large]


def test_a_wrong_filter_is_named_and_not_taken_for_no_results(owner: Visitor, shop: MerchantClient) -> None:
    shop.transfer()
    for query in ("min_amount=1,50", "min_amount=1500,00", "max_amount=much", "from=tomorrow", "kind=no-such-kind"):
        page = owner.get(f"/transactions?{query}")
        assert ("No results" in page.words, 'class="fault"' in page.text) == (False, True), query
        exported = owner.get(f"/transactions.csv?{query}")
        assert (exported.http, 'class="fault"' in exported.text) == (422, True), query
    wrong = owner.get("/settlements.csv?from=yesterday")
    assert (wrong.http, "No results" in wrong.words) == (422, False)


def test_forms_take_amounts_as_pages_print_them(owner: Visitor, shop: MerchantClient) -> None:
    order = {"bankcode": "058", "accountnumber": "0000000000", "orderRef": "grouped"}
    owner.get("/transfers")
    assert "NGN 1,500.00" in owner.post("/transfers/preview", **order, amount="1,500.00").words
    assert owner.post("/transfers/send", **order, amount="1,500.00").http == 303
    assert shop.verify("grouped")["amount"] == "1500.00"
    bulk = b'amount,bankcode,accountnumber\n"2,500.50",058,0000000000\n"2,50",058,0000000000\n'
    preview = owner.upload("/transfers/bulk/preview", "file", bulk)
    assert "1 of 2 orders are valid" in preview.words
    assert "Amounts NGN 2,500.50" in preview.words
    assert owner.post("/transfers/preview", **order, amount="1,50").http == 422
    owner.get("/settings/payouts")
    assert owner.post("/settings/payouts", on_limit="refuse", approve_above="1,000,000.00").http == 303
    assert 'value="1000000.00"' in owner.get("/settings/payouts").text
    owner.get("/links")
    assert "NGN 12,000.00" in owner.post("/links/new/create", title="Class", amount="12,000").words


def test_every_form_field_of_an_amount_takes_thousands_separators() -> None:
    fields = [
        field
        for kind in RECORD_KINDS
        for form in (*kind.create_forms, *kind.update_forms)
        for field in form.fields
        if field.name.rpartition(".")[2] in AMOUNT_NAMES
    ]
    assert len(fields) > 5
    for field in fields:
        assert convert_value(field, "1,500.00") == "1500.00", field.name
        assert convert_value(field, "1,50") == "1,50", "what is wrong is left to the action to name"


def test_the_list_of_banks_names_each_bank_once_and_chooses_none(owner: Visitor) -> None:
    page = owner.get("/transfers").text
    options = re.findall(r'<option value="([^"]*)"( selected)?>([^<]*)</option>', page.partition('name="bankcode"')[2])
    names = [name for _, _, name in options]
    assert options[0] == ("", " selected", "Choose a bank")
    assert len(names) == len(set(names)) > 100
    assert all(code in banks_by_code() for code, _, _ in options[1:])
    assert ("058", "", "Guaranty Trust Bank") in options
