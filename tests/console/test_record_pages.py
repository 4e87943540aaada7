"""Records of the slices: pages made from one table, and what was typed as the wire wants it."""

from typing import Any

import pytest

from kasuwa.app import methods_of
from kasuwa.console.actions import CONSOLE
from kasuwa.console.forms import Ask, typed
from kasuwa.console.record_table import TABLE, Records
from kasuwa.core.action import Method
from tests.console.visitor import Visitor, signed_in
from tests.methods.payment.till import Till, card
from tests.running import Deployment
from tests.shop import Shop

pytestmark = pytest.mark.xdist_group("console")

METHODS: dict[str, Method] = {method.name: method for method in (*methods_of("test"), CONSOLE)}
THERE = [kind for kind in TABLE if kind.method in METHODS]


@pytest.fixture
def owner(deployment: Deployment, shop: Shop) -> Visitor:
    return signed_in(deployment, "merchant:owner", shop.mid)


# --- what was typed -----------------------------------------------------------------------------------------------

ASKS = (
    Ask("name", "Name"),
    Ask("data.bankAccount.bank_code", "Bank"),
    Ask("data.bankAccount.account_number", "Account"),
    Ask("period", "Period", kind="whole"),
    Ask("tax_applied", "Tax", kind="flag"),
)


def test_what_was_typed_becomes_a_request() -> None:
    said = {"name": "Ada", "data.bankAccount.bank_code": "058", "period": "12", "tax_applied": "yes"}
    assert typed(ASKS, lambda name: said.get(name, "")) == {
        "name": "Ada",
        "data": {"bankAccount": {"bank_code": "058"}},
        "period": 12,
        "tax_applied": True,
    }


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "٣", "9" * 16])
def test_a_number_that_is_none_goes_as_it_was_typed(text: str) -> None:
    assert typed(ASKS, lambda name: text if name == "period" else "") == {"period": text}


# --- the table ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", THERE, ids=lambda kind: kind.name)
def test_every_action_that_a_row_names_is_there_and_takes_what_it_asks(kind: Records) -> None:
    actions = {action.name: action for action in METHODS[kind.method].actions}
    assert {name for name in (kind.lists, kind.shows, *(action for _, action in kind.beside)) if name} <= set(actions)
    for form in (*kind.makes, *kind.forms):
        fields: set[str] = {name for a in METHODS[kind.method].actions if a.name == form.action for name in names_of(a)}
        asked = {ask.name.partition(".")[0] for ask in form.asks} | dict(form.fixed).keys() | set(form.copies)
        assert asked <= fields, form.name


def names_of(action: Any) -> tuple[str, ...]:
    return tuple(action.request.__struct_encode_fields__)


# --- pages --------------------------------------------------------------------------------------------------------


def test_a_beneficiary_is_added_and_gets_its_part(owner: Visitor, shop: Shop) -> None:
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
    paid = Till(shop).paid(split=[{"ref_code": code, "percentage": "10"}])
    assert paid["txnStatus"] == "successful"
    assert owner.get("/beneficiaries/nobody").http == 404
    assert owner.post("/beneficiaries/new/nonsense").http == 404


def test_a_recurrent_payment_is_shown_stopped_and_started(owner: Visitor, shop: Shop) -> None:
    till, given = Till(shop), card(auth="PIN")
    begun = till.initiate(given, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
    assert till.charge(begun, given)["txnStatus"] == "successful"
    page = owner.get("/recurrents")
    assert "daily" in page.words
    link = page.text.partition('href="/recurrents/')[2].partition('"')[0]
    shown = owner.get(f"/recurrents/{link}")
    assert "Stop" in shown.words
    assert owner.post(f"/recurrents/{link}/stop").http == 303
    assert "Start again" in owner.get(f"/recurrents/{link}").words
    assert owner.post(f"/recurrents/{link}/start").http == 303
    assert owner.post(f"/recurrents/{link}/nonsense").http == 404


def test_another_merchants_records_are_not_found(deployment: Deployment, shop: Shop, owner: Visitor) -> None:
    owner.get("/beneficiaries")
    owner.post("/beneficiaries/new/create", name="Bola", bankcode="058", accountnumber="0000000000")
    code = owner.get("/beneficiaries").text.partition('href="/beneficiaries/')[2].partition('"')[0]
    other = deployment.open_shop()
    other.wire.close()
    stranger = signed_in(deployment, "merchant:owner", other.mid)
    assert "None yet" in stranger.get("/beneficiaries").words
    assert stranger.get(f"/beneficiaries/{code}").http == 404


def test_who_only_looks_is_offered_nothing_to_do(deployment: Deployment, shop: Shop) -> None:
    reader = signed_in(deployment, "merchant:read-only", shop.mid)
    page = reader.get("/beneficiaries")
    assert (page.http, "Add a beneficiary" in page.words) == (200, False)


def test_a_record_that_is_not_listed_is_found_by_its_reference(owner: Visitor) -> None:
    assert owner.get("/recurrents/find?reference=a%7Cb").place == "/recurrents/a%7Cb"
    assert owner.get("/recurrents/find").place == "/recurrents"


def test_a_bill_is_found_in_the_catalogue_its_customer_named_and_paid_once(owner: Visitor, shop: Shop) -> None:
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
    said = {"paycode": item, "reference": "00000000000", "amount": "5000.00", "orderRef": order_ref}
    before = shop.wallet().balance
    preview = owner.post(f"/bills/new/pay?{where}", **said)
    assert "Is this right?" in preview.words
    assert shop.wallet().balance == before
    for _ in range(2):
        assert owner.post(f"/bills/new/pay?{where}", **said, confirmed="yes").http == 200
    assert shop.put("resources", inquire="events").body["total"] == 1
    assert "successful" in owner.get(f"/bills/{order_ref}").words
    wrong = owner.post(f"/bills/new/pay?{where}", **{**said, "paycode": "nonsense"})
    assert (wrong.http, "Is this right?" in wrong.words) == (422, False)
