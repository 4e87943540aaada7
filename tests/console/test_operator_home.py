"""The operator's home, search, merchant health, trial balance, audit trail and account pickers over HTTP."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.authority.audit_trail import AuditRecord
from kasuwa.console.kit.audit_view import make_line
from kasuwa.console.operator.books import build_trial_balances
from kasuwa.console.operator.home import sum_by_rail
from kasuwa.console.operator.reads import AccountBalance, AccountSum
from kasuwa.ledger import chart
from tests.console.test_figures import total
from tests.console.test_overview import count_everything
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment
from tests.webhooks.event_log import events_of

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def admin(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:admin")


def page_of(shop: MerchantClient) -> str:
    return f"/operator/merchants/{shop.mid}"


# --- home -----------------------------------------------------------------------------------------------------------


def test_the_home_page_shows_volume_rails_endpoints_jobs_and_notices(
    deployment: Deployment, admin: Visitor, shop: MerchantClient
) -> None:
    shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/nobody")
    sent = shop.transfer(amount="1500.00", orderRef="contradicted")
    shop.put("sandbox", action="settle", orderRef="contradicted", outcome="failed")
    late = "update scheduled_job j set run_at = now() - interval '1 hour', leased_until = null from merchant m where"
    shop.transfer(accountnumber="0000000020")
    deployment.fetch(f"{late} m.merchant_id = j.merchant_id and m.mid = $1 and j.lane = 'bank'", shop.mid)
    count_everything(deployment, shop)
    assert admin.get("/").place == "/operator/home"
    page = admin.get("/operator/home?days=1").words
    assert "Money out NGN" in page
    assert "sandbox" in page.partition("Success by rail")[2]
    assert sent["txnRef"] in page.partition("Newest notices")[2]
    assert "Ledger invariants" in page
    assert "Failing endpoints" in page
    assert "Late jobs" in page


def test_success_is_counted_by_rail_and_paused_rails_are_shown() -> None:
    totals = [total("transfer", count=3), total("transfer", "failed", 1)]
    rails = sum_by_rail(totals, {"vendor"})
    assert [(rail.name, rail.successful, rail.failed, rail.success_rate, rail.is_paused) for rail in rails] == [
        ("without a rail", 3, 1, "75.0 %", False),
        ("vendor", 0, 0, "–", True),
    ]


# --- search ---------------------------------------------------------------------------------------------------------


def test_any_reference_is_found_over_all_merchants(admin: Visitor, open_shop: Callable[..., MerchantClient]) -> None:
    shop, other = open_shop(), open_shop()
    paid = PaymentClient(shop).paid(customer_txnref="basket-77")
    sent = shop.transfer(orderRef=f"order-of-{shop.mid}")
    [event, *_] = events_of(shop, txnRef=sent["txnRef"])
    for text in (sent["txnRef"], f"order-of-{shop.mid}", paid["txnRef"], "basket-77", event["event_id"]):
        found = admin.get(f"/operator/search?q={quote(text)}")
        seen = found.words if found.http == 200 else admin.get(found.place).words
        assert shop.mid in seen or shop.mid in found.text, text
    both = [merchant.transfer(orderRef="shared-ref") for merchant in (shop, other)]
    page = admin.get("/operator/search?q=shared-ref")
    assert page.http == 200
    assert all(merchant.mid in page.text for merchant in (shop, other))
    assert all(reply["txnRef"] in page.words for reply in both)
    assert "No results" in admin.get("/operator/search?q=nothing-has-this").words
    assert shop.mid in admin.get(f"/operator/search?q={shop.mid}").words


def test_a_reference_at_a_rail_and_an_account_number_are_found(
    deployment: Deployment, admin: Visitor, shop: MerchantClient
) -> None:
    sent = shop.transfer()
    merchant_id = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)[0][0]
    wire = f"kz{merchant_id}-{sent['txnRef'].lower().replace('|', '-')}"
    assert quote(sent["txnRef"], safe="") in admin.get(f"/operator/search?q={wire}").place
    payee: dict[str, Any] = {"name": "Ada Obi", "reference": "customer-17", "email": "ada@example.com"}
    made = shop.put("resources", request="personalized-accounts", **payee).body
    number = str(made.get("accountNumber") or made["data"]["accountNumber"])
    found = admin.get(f"/operator/search?q={number}")
    assert "customer-17" in (found.place or found.words)


def test_the_page_of_a_record_shows_its_postings_and_is_of_its_merchant_only(
    admin: Visitor, open_shop: Callable[..., MerchantClient]
) -> None:
    shop, other = open_shop(), open_shop()
    sent = shop.transfer(amount="1500.00")
    page = admin.get(f"{page_of(shop)}/records/{quote(sent['txnRef'], safe='')}")
    assert "rail:bank:NGN" in page.words
    assert "NGN 1,500.00" in page.words
    assert admin.get(f"{page_of(other)}/records/{quote(sent['txnRef'] + 'x', safe='')}").http == 404


# --- merchants and books --------------------------------------------------------------------------------------------


def test_the_page_of_a_merchant_shows_its_health(admin: Visitor, shop: MerchantClient) -> None:
    shop.transfer(amount="1500.00")
    shop.transfer(accountnumber="0000005100")
    page = admin.get(page_of(shop)).words
    assert "NGN, 7 days – of payments successful" in page
    assert "Out NGN 1,500.00" in page
    assert "No sufficient funds (1)" in page
    assert "Webhook not set" in page


def test_the_trial_balance_is_a_tree_whose_columns_are_equal() -> None:
    sums = [
        AccountSum("wallet", "NGN", 2, 0, 500, 10),
        AccountSum("outside", "NGN", 1, 600, 0, 0),
        AccountSum("income", "NGN", 1, 0, 100, 0),
    ]
    accounts = [
        AccountBalance("wallet:main:NGN", "NGN", 500, 10, 0),
        AccountBalance("outside:funding:NGN", "NGN", -600, 0, None),
    ]
    [balance] = build_trial_balances(sums, accounts)
    assert (balance.debit, balance.credit) == (600, 600)
    assert [(group.title, group.debit, group.credit) for group in balance.groups] == [
        ("Owed to the merchant", 0, 500),
        ("Owed by others", 600, 0),
        ("The operator's own", 0, 100),
    ]
    assert [kind.hidden_count for group in balance.groups for kind in group.kinds] == [1, 0, 1]


def test_every_kind_of_account_has_a_place_in_the_tree() -> None:
    sums = [AccountSum(kind, "NGN", 1, 1, 0, 0) for kind in chart.ACCOUNT_KINDS]
    [balance] = build_trial_balances(sums, [])
    assert balance.debit == len(chart.ACCOUNT_KINDS)
    assert "Other" not in [group.title for group in balance.groups]


def test_accounts_of_one_kind_are_listed_page_by_page(admin: Visitor, shop: MerchantClient) -> None:
    assert "wallet:main:NGN" in admin.get(f"{page_of(shop)}/books/wallet").words
    assert "No accounts" in admin.get(f"{page_of(shop)}/books/wallet?after=zzz").words
    assert admin.get(f"{page_of(shop)}/books/nonsense").http == 404


# --- audit trail ----------------------------------------------------------------------------------------------------


def entry(before: str, after: str) -> AuditRecord:
    return AuditRecord(1, 1, datetime(2026, 1, 5, tzinfo=UTC), "ada@example.com", "", "did", "it", before, after)


def test_before_and_after_are_compared_field_by_field() -> None:
    line = make_line(
        entry('{"limits":{"NGN":["1.00","50.00"]},"suspended":false}', '{"limits":{},"suspended":true}'), ""
    )
    assert [(field.name, field.before, field.after) for field in line.fields] == [
        ("Limits, NGN", "1.00, 50.00", ""),
        ("Suspended", "no", "yes"),
        ("Limits", "", "–"),
    ]
    assert line.has_before


def test_amounts_of_the_audit_trail_are_in_major_units() -> None:
    posting = '{"debit":"outside:funding:USD","credit":"wallet:main:USD","amount":123456,"kind":"manual posting"}'
    assert ("Amount", "USD 1,234.56") in [
        (field.name, field.after) for field in make_line(entry("", posting), "").fields
    ]
    rate = '{"currency":"KES","buy":1150,"sell":1225}'
    assert ("Buy", "NGN 11.50") in [(field.name, field.after) for field in make_line(entry("", rate), "").fields]
    request = '{"action":"disburse transfer","amount":"1500.00"}'
    assert ("Amount", "NGN 1,500.00") in [(f.name, f.after) for f in make_line(entry("", request), "").fields]


def test_plain_and_broken_values_of_the_audit_trail_are_shown_as_they_are() -> None:
    assert make_line(entry("", "buy 11.50"), "").text == "buy 11.50"
    assert make_line(entry("", '{"cut": "of'), "").text == '{"cut": "of'
    [field] = make_line(entry("operator:admin", "operator:support"), "").fields
    assert (field.before, field.after) == ("operator:admin", "operator:support")


def test_the_audit_trail_names_merchants_and_shows_both_values(
    admin: Visitor, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(name="Trail Stores")
    admin.get(page_of(shop))
    admin.post(f"{page_of(shop)}/suspend", confirmed="yes")
    page = admin.get("/operator/trail").words
    assert "suspended the merchant" in page
    assert "Field Before After Suspended no yes" in page
    assert "Trail Stores" in page
    admin.post(f"{page_of(shop)}/resume")


# --- approvals ------------------------------------------------------------------------------------------------------


def test_proposals_choose_accounts_from_those_of_the_merchant(admin: Visitor, shop: MerchantClient) -> None:
    assert "Choose an account" not in admin.get("/operator/approvals?kind=posting").words
    page = admin.get(f"/operator/approvals?kind=posting&mid={shop.mid}")
    assert 'value="wallet:main:NGN"' in page.text
    assert "wallet:main:NGN: 10,000,000.00 credit" in page.words
    assert "receivable:disputes:NGN: 0.00" in page.words
    assert "no merchant has this mid" in admin.get("/operator/approvals?mid=GP9999999").words
    wrong = admin.post(
        "/operator/approvals/posting", mid=shop.mid, debit="wallet:main:NGN", credit="", amount="x", reason="r"
    )
    assert wrong.http == 422
    assert '<option value="wallet:main:NGN" selected>' in wrong.text
