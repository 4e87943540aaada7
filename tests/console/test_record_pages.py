"""Record pages, and the conversion of forms to requests."""

from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.console.kit.forms import FormField, build_request
from kasuwa.console.kit.visit import has_action
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.records.collections import PAYER_CHOOSES, RECURRENTS
from kasuwa.console.records.fields import table_columns
from kasuwa.console.records.kind import RecordKind
from kasuwa.console.records.sales import TICKETS
from kasuwa.console.records.table import CARD_DISPUTES, RECORD_KINDS
from kasuwa.core.action import ApiMethod
from kasuwa.methods.tables import list_methods
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

PDF, PNG = b"%PDF-1.4", b"\x89PNG\r\n\x1a\n"
METHODS: dict[str, ApiMethod] = {method.name: method for method in (*list_methods("test"), CONSOLE)}
THERE = [kind for kind in RECORD_KINDS if kind.method in METHODS]


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


# --- what was typed -----------------------------------------------------------------------------------------------

ASKS = (
    FormField("name", "Name"),
    FormField("data.bankAccount.bank_code", "Bank"),
    FormField("data.bankAccount.account_number", "Account"),
    FormField("period", "Period", value_type="whole"),
    FormField("tax_applied", "Tax", value_type="flag"),
)


def test_a_submitted_form_becomes_a_request() -> None:
    fields = {"name": "Ada", "data.bankAccount.bank_code": "058", "period": "12", "tax_applied": "yes"}
    assert build_request(ASKS, lambda name: fields.get(name, "")) == {
        "name": "Ada",
        "data": {"bankAccount": {"bank_code": "058"}},
        "period": 12,
        "tax_applied": True,
    }


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "٣", "9" * 16])
def test_an_invalid_number_stays_a_text(text: str) -> None:
    assert build_request(ASKS, lambda name: text if name == "period" else "") == {"period": text}


# --- the table ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", THERE, ids=lambda kind: kind.name)
def test_every_action_of_a_record_kind_exists_and_takes_its_form_fields(kind: RecordKind) -> None:
    actions = {action.name: action for action in METHODS[kind.method].actions}
    assert {name for name in (kind.view_action, *(related.action for related in kind.related_lists)) if name} <= set(
        actions
    )
    assert not kind.list_action or has_action(METHODS.values(), kind.list_method or kind.method, kind.list_action)
    for form in (*kind.create_forms, *kind.update_forms):
        rows = [action for action in METHODS[kind.method].actions if action.name == form.action]
        fields = {name for action in rows for name in names_of(action)} | {
            row.variant[0] for row in rows if row.variant
        }
        asked = (
            {ask.name.partition(".")[0] for ask in form.fields}
            | dict(form.fixed_values).keys()
            | set(form.copied_fields)
        )
        assert asked <= fields, form.name


def names_of(action: Any) -> tuple[str, ...]:
    return tuple(action.request.__struct_encode_fields__)


# --- pages --------------------------------------------------------------------------------------------------------


def test_a_payment_link_is_created_listed_and_disabled(owner: Visitor, shop: MerchantClient) -> None:
    assert "None yet" in owner.get("/links").words
    assert owner.post("/links/new/create", title="Class", amount="x").http == 422
    made = owner.post("/links/new/create", title="Class", amount="5000.00", accept_number="yes")
    assert "/pay/link/" in made.words
    [link] = shop.put("resources", inquire="paylink").body["data"]
    assert link["link"] in owner.get("/links").words
    page = owner.get(f"/links/{link['link_id']}")
    assert "Disable" in page.words
    owner.post(f"/links/{link['link_id']}/disable")
    assert shop.put("resources", inquire="paylink").body["data"][0]["status"] == "disabled"


def test_a_link_whose_payer_chooses_the_amount_says_so(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    made = owner.post("/links/new/create", title="Gift")
    [link] = shop.put("resources", inquire="paylink").body["data"]
    assert link["amount"] == "0.00"
    for page in (made, owner.get("/links"), owner.get(f"/links/{link['link_id']}")):
        assert PAYER_CHOOSES in page.words
        assert "Amount NGN 0.00" not in page.words
    assert "0.00" not in owner.get("/links").words
    assert ",0.00," in owner.get("/links.csv").text
    operator = sign_in_as(deployment, "operator:support")
    assert "No fixed amount" in operator.get(f"/operator/merchants/{shop.mid}/records/{link['link_id']}").words


@pytest.mark.parametrize(
    ("frequency", "value", "text"),
    [
        ("daily", "00", "Daily, at 00:00"),
        ("daily", "23", "Daily, at 23:00"),
        ("weekly", "1", "Weekly, on Mondays"),
        ("weekly", "7", "Weekly, on Sundays"),
        ("monthly", "09", "Monthly, on day 9 of the month"),
        ("monthly", "30", "Monthly, on day 30 of the month"),
    ],
)
def test_the_value_of_a_recurrence_is_written_in_words(frequency: str, value: str, text: str) -> None:
    row = {"id": "RP1", "frequency": frequency, "value": value}
    assert RECURRENTS.present(row)["frequency"] == text
    assert text.endswith(RECURRENTS.present(row)["value"])
    assert row == {"id": "RP1", "frequency": frequency, "value": value}


def test_a_kind_of_tickets_without_a_limit_says_so() -> None:
    kinds = [{"name": "A", "quantity": None}, {"name": "B", "quantity": 5}]
    shown = TICKETS.present({"link_id": "PL1", "ticket_data": kinds})
    assert [kind["quantity"] for kind in shown["ticket_data"]] == ["no limit", 5]
    sold = {"code": "AAAA", "title": "Jazz", "phone": "0800", "checkoutRef": "CK1", "txnRef": "GP1"}
    shown = TICKETS.present({"link_id": "PL1", "ticket_data": [], "tickets": [sold]})
    assert shown["tickets"] == [{"code": "AAAA", "txnRef": "GP1"}]


def test_a_table_has_the_columns_of_all_its_rows() -> None:
    rows: list[dict[str, Any]] = [
        {"narration": "Card Funding", "txnRef": None},
        {"narration": "Card Purchase", "txnRef": "GP1", "fee": "0.00"},
    ]
    assert table_columns(rows) == ["narration", "txnRef", "fee"]


def test_a_card_dispute_says_what_the_card_got_in_its_own_currency() -> None:
    dispute = {"reference": "CARD1", "amount": "5.00", "currency": "USD", "credited": "7500.00", "card_currency": "NGN"}
    shown = CARD_DISPUTES.present(dispute)
    assert (shown["credited"], shown["card_reference"]) == ("NGN 7500.00", "CARD1")


def test_a_beneficiary_is_added_and_receives_its_share(owner: Visitor, shop: MerchantClient) -> None:
    assert "None yet" in owner.get("/beneficiaries").words
    fields = {"name": "Bola Ade", "bankcode": "058", "accountnumber": "123"}
    refused = owner.post("/beneficiaries/new/create", **fields)
    assert (refused.http, "ten digits" in refused.words) == (422, True)
    made = owner.post("/beneficiaries/new/create", **{**fields, "accountnumber": "0000000000"})
    assert made.http == 200
    page = owner.get("/beneficiaries")
    assert "Bola Ade" in page.words
    code = page.text.partition('href="/beneficiaries/')[2].partition('"')[0]
    assert "0000000000" in owner.get(f"/beneficiaries/{code}").words
    paid = PaymentClient(shop).paid(split=[{"ref_code": code, "percentage": "10"}])
    assert paid["txnStatus"] == "successful"
    assert owner.get("/beneficiaries/nobody").http == 404
    assert owner.post("/beneficiaries/new/nonsense").http == 404


def test_a_recurrent_payment_is_shown_stopped_and_started(owner: Visitor, shop: MerchantClient) -> None:
    payments, given = PaymentClient(shop), card(auth="PIN")
    begun = payments.initiate(given, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
    assert payments.charge(begun, given)["txnStatus"] == "successful"
    page = owner.get("/recurrents")
    assert "Daily, at 09:00" in page.words
    link = page.text.partition('href="/recurrents/')[2].partition('"')[0]
    shown = owner.get(f"/recurrents/{link}")
    for text in ("Stop", "Daily, at 09:00"):
        assert text in shown.words
    assert "Value" not in shown.words
    assert owner.post(f"/recurrents/{link}/stop", confirmed="yes").http == 303
    assert "Restart" in owner.get(f"/recurrents/{link}").words
    assert owner.post(f"/recurrents/{link}/start").http == 303
    assert owner.post(f"/recurrents/{link}/nonsense").http == 404


def test_a_dispute_is_shown_and_answered_with_files(owner: Visitor, shop: MerchantClient) -> None:
    paid = PaymentClient(shop).paid()["txnRef"]
    asked = {"action": "dispute", "txnRef": paid, "reason": "product not received"}
    dispute_id = shop.put("sandbox", **asked).body["data"]["dispute_id"]
    assert "product not received" in owner.get("/disputes").words
    link = quote(dispute_id, safe="")
    assert "Send evidence" in owner.get(f"/disputes/{link}").words
    fields = {"evidence.explanation": "delivered"}
    assert owner.upload(f"/disputes/{link}/evidence", "file", b"MZ", **fields).http == 422
    many = owner.upload(f"/disputes/{link}/evidence", "file", *[PDF] * 6, **fields)
    assert (many.http, "Too many files. Maximum number of files is 5." in many.words) == (400, True)
    largest = b"%PDF-" + bytes(2 * 1024 * 1024 - 5)
    sent = owner.upload(f"/disputes/{link}/evidence", "file", *[largest] * 2, *[PDF] * 2, PNG, **fields)
    assert sent.http == 303, sent.words
    shown = owner.get(f"/disputes/{link}")
    assert ("delivered" in shown.words, shown.text.count("application/pdf"), "image/png" in shown.words) == (
        True,
        4,
        True,
    )
    assert "Send evidence" not in shown.words


def test_settlements_are_listed_and_shown_with_their_lines(owner: Visitor, shop: MerchantClient) -> None:
    PaymentClient(shop).paid()
    page = owner.get("/settlements")
    assert "1,500.00" in page.words
    link = page.text.partition('href="/settlements/')[2].partition('"')[0]
    assert "Gross" in owner.get(f"/settlements/{link}").words


@pytest.mark.parametrize("role", ["merchant:owner", "merchant:developer"])
def test_daily_events_are_turned_on_and_off_on_the_page_of_settlements(
    deployment: Deployment, shop: MerchantClient, role: str
) -> None:
    visitor = sign_in_as(deployment, role, shop.mid)
    assert "Off: turn them on" in visitor.get("/settlements").words
    for daily, shown in (("yes", "Turn daily events off"), ("yes", "Turn daily events off"), ("no", "events on")):
        assert visitor.post("/events/settlements", daily=daily).place == "/settlements"
        page = visitor.get("/settlements")
        assert shown in page.words
        assert f"Daily events of settlements are {'on' if daily == 'yes' else 'off'}." in page.words
    visitor.post("/events/settlements", daily="perhaps")
    assert "daily: true or false" in visitor.get("/settlements").words
    [[count]] = deployment.fetch(
        "select count(*) from audit_entry join merchant using (merchant_id) where mid = $1"
        " and action = 'changed the daily events of settlements'",
        shop.mid,
    )
    assert count >= 3


@pytest.mark.parametrize("role", ["merchant:finance", "merchant:read-only"])
def test_roles_that_do_not_integrate_only_see_whether_daily_events_are_on(
    deployment: Deployment, shop: MerchantClient, role: str
) -> None:
    visitor = sign_in_as(deployment, role, shop.mid)
    page = visitor.get("/settlements")
    assert ("Off: turn them on" in page.words, "Turn daily events on" in page.words) == (True, False)
    assert visitor.post("/events/settlements", daily="yes").http == 403
    assert shop.put("resources", inquire="settlement_events").body["data"]["daily"] is False


def test_another_merchants_records_are_not_found(deployment: Deployment, shop: MerchantClient, owner: Visitor) -> None:
    owner.get("/beneficiaries")
    owner.post("/beneficiaries/new/create", name="Bola", bankcode="058", accountnumber="0000000000")
    code = owner.get("/beneficiaries").text.partition('href="/beneficiaries/')[2].partition('"')[0]
    other = deployment.open_shop()
    other.connection.close()
    stranger = sign_in_as(deployment, "merchant:owner", other.mid)
    assert "None yet" in stranger.get("/beneficiaries").words
    assert stranger.get(f"/beneficiaries/{code}").http == 404


def test_a_read_only_user_sees_no_forms(deployment: Deployment, shop: MerchantClient) -> None:
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    page = reader.get("/beneficiaries")
    assert (page.http, "Add a beneficiary" in page.words) == (200, False)


def test_the_search_form_redirects_to_the_record(owner: Visitor) -> None:
    assert owner.get("/recurrents/find?reference=a%7Cb").place == "/recurrents/a%7Cb"
    assert owner.get("/recurrents/find").place == "/recurrents"


def test_a_bill_is_chosen_from_the_catalogue_and_paid_once(owner: Visitor, shop: MerchantClient) -> None:
    page = owner.get("/bills")
    category = next(
        part.partition('"')[0] for part in page.text.split('href="/bills?category=')[1:] if "lectric" in part
    )
    page = owner.get(f"/bills?category={category}")
    biller = page.text.partition("&amp;biller=")[2].partition('"')[0]
    page = owner.get(f"/bills?category={category}&biller={biller}")
    item = page.text.partition("&amp;item=")[2].partition('"')[0]
    where = f"category={category}&biller={biller}&item={item}"
    page = owner.get(f"/bills?{where}")
    order_ref = page.text.partition('name="orderRef" value="')[2].partition('"')[0]
    fields = {"paycode": item, "reference": "00000000000", "amount": "5000.00", "orderRef": order_ref}
    before = shop.wallet().balance
    preview = owner.post(f"/bills/new/pay?{where}", **fields)
    assert "Confirm bill payment" in preview.words
    assert shop.wallet().balance == before
    for _ in range(2):
        assert owner.post(f"/bills/new/pay?{where}", **fields, confirmed="yes").http == 200
    assert shop.put("resources", inquire="events").body["total"] == 1
    assert "successful" in owner.get(f"/bills/{order_ref}").words
    wrong = owner.post(f"/bills/new/pay?{where}", **{**fields, "paycode": "nonsense"})
    assert (wrong.http, "Confirm bill payment" in wrong.words) == (422, False)


def key_of(page: str, name: str) -> str:
    return page.partition(f'href="/{name}/')[2].partition('"')[0]


def test_a_card_is_created_listed_blocked_and_terminated(owner: Visitor, shop: MerchantClient) -> None:
    assert "None yet" in owner.get("/cards").words
    billing = {
        "name": "Ada Obi",
        "address": "12 Marina Road",
        "city": "Lagos",
        "state": "Lagos",
        "postal_code": "101241",
    }
    fields = {f"billing.{name}": value for name, value in billing.items()}
    made = owner.post("/cards/new/create", **fields, amount="25.00", currency="USD")
    assert made.http == 200, made.words
    reference = key_of(owner.get("/cards").text, "cards")
    assert "25.00" in owner.get("/cards").words
    shown = owner.get(f"/cards/{reference}")
    assert ("active" in shown.words, "Card Funding" in shown.words) == (True, True)
    assert owner.post(f"/cards/{reference}/fund", amount="5.00").http == 303
    assert "30.00" in owner.get("/cards").words
    assert owner.post(f"/cards/{reference}/withdraw", amount="31.00").http == 422
    assert owner.post(f"/cards/{reference}/block").http == 303
    assert "Unblock" in owner.get(f"/cards/{reference}").words
    assert owner.post(f"/cards/{reference}/terminate", confirmed="yes").http == 303
    assert "terminated" in owner.get("/cards").words


def test_a_client_gets_a_loan_a_savings_account_and_a_thrift_plan(owner: Visitor, shop: MerchantClient) -> None:
    owner.get("/clients")
    person = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567", "dob": "1990-04-17", "gender": "female"}
    fields = {f"data.{name}": value for name, value in person.items()}
    account = {"data.bankAccount.account_number": "0000000000", "data.bankAccount.bank_code": "058"}
    assert owner.post("/clients/new/create", **{"data.firstname": "Ada"}).http == 422
    assert owner.post("/clients/new/create", **fields, **account, status="active").http == 200
    client = key_of(owner.get("/clients").text, "clients")
    assert "Obi" in owner.get(f"/clients/{client}").words
    interest = {"interestSettings.interestRate": "24", "interestSettings.interestFrequency": "annualized"}
    asked = {"client_id": client, "amount": "12000.00", "period": "12", **interest}
    assert owner.post("/loans/new/request", **{**asked, "period": "x"}).http == 422
    assert owner.post("/loans/new/request", **asked).http == 200
    loan = key_of(owner.get("/loans").text, "loans")
    page = owner.get(f"/loans/{loan}")
    assert ("Approve and disburse" in page.words, "Schedule" in page.words) == (True, True)
    assert owner.post(f"/loans/{loan}/approve").http == 303
    assert "Record a repayment" in owner.get(f"/loans/{loan}").words
    assert owner.post(f"/loans/{loan}/repay", amount="500.00").http == 303
    assert owner.post(f"/loans/{loan}/reject", confirmed="yes").http == 422
    opened = owner.post("/savings/new/create", name="Rainy days", client_id=client, period="12", **interest)
    assert opened.http == 200, opened.words
    savings = key_of(owner.get("/savings").text, "savings")
    assert owner.post(f"/savings/{savings}/deposit", amount="700.00").http == 303
    assert "700.00" in owner.get("/savings").words
    assert owner.post(f"/savings/{savings}/cashout", amount="200.00", method="cash").http == 303
    plan = {"name": "Market women", "amount": "100.00", "start_date": "2031-01-05", "member_required": "2"}
    assert owner.post("/thrift/new/create", **plan, frequency="every_week").http == 200
    thrift = key_of(owner.get("/thrift").text, "thrift")
    assert owner.post(f"/thrift/{thrift}/subscribe", savings_id=savings).http == 303
    assert savings in owner.get(f"/thrift/{thrift}").words


def test_an_account_is_opened_and_closed(owner: Visitor, shop: MerchantClient) -> None:
    assert "None yet" in owner.get("/accounts").words
    fields = {"name": "Ada Obi", "reference": "customer-17", "email": "ada@example.com"}
    assert owner.post("/accounts/new/open", **{**fields, "email": "ada"}).http == 422
    made = owner.post("/accounts/new/open", **fields)
    assert (made.http, "Wema Bank" in made.words) == (200, True)
    assert "Close" in owner.get("/accounts/customer-17").words
    assert owner.post("/accounts/customer-17/close", confirmed="yes").http == 303
    closed = owner.get("/accounts/customer-17").words
    assert "The account is closed" in closed
    [line] = shop.put("resources", inquire="accounts").body["data"]
    assert (line["reference"], line["state"]) == ("customer-17", "closed")
