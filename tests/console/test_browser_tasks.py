"""The tasks of people at the console, done in a real browser from the first page on, with at most four clicks each.

A click is a link, a button, or a form sent with the Enter key. Filling in a field is none.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import BROWSER_GROUP, OpenPage, browser, press_and_leave, reuse_page, reused
from tests.console.test_payer_search import BEHIND
from tests.console.visitor import browser_state_of, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment
from tests.webhooks.event_log import wait_until
from tests.webhooks.inbox import BROKEN, OK, running_inbox

__all__ = ["browser", "reuse_page", "reused"]
pytestmark = BROWSER_GROUP

MOST_CLICKS = 4
ADAEZE = {"firstname": "Adaeze", "lastname": "Obiora", "email": "adaeze@example.com"}
# A Visa card whose bank answers "insufficient funds".
EMPTY_CARD = "4111115100000011"
SLOW_RAIL = """
    insert into rail_timing (hour, rail, operation, is_answered, duration_ms, calls)
    values (date_trunc('hour', now()), 'tortoise', 'POST /transfer', true, 60000, 500)
"""


class Person:
    """A person at the console, whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()

    def link(self, name: str, within: Page | Locator | None = None) -> None:
        self.click((within or self.page).get_by_role("link", name=name, exact=True).first)

    def button(self, name: str, within: Page | Locator | None = None) -> None:
        self.click((within or self.page).get_by_role("button", name=name, exact=True).first)

    def search(self, text: str) -> None:
        self.page.get_by_role("searchbox").first.fill(text)
        self.clicks += 1
        press_and_leave(self.page.get_by_role("searchbox").first, "Enter")

    def enter(self, label: str, text: str, within: Page | Locator | None = None) -> None:
        (within or self.page).get_by_label(label, exact=True).first.fill(text)

    def sees(self, text: str) -> None:
        expect(self.page.locator("main")).to_contain_text(text)


@pytest.fixture
def come(deployment: Deployment, reuse_page: OpenPage) -> Iterator[Callable[..., Person]]:
    people: list[Person] = []

    def come_in(role: str, mid: str | None = None) -> Person:
        page = reuse_page(storage_state=browser_state_of(deployment, role, mid))
        page.goto(f"http://127.0.0.1:{deployment.console_port}")
        people.append(Person(page))
        return people[-1]

    yield come_in
    assert [person.clicks for person in people if person.clicks > MOST_CLICKS] == []


# --- payments ---------------------------------------------------------------------------------------------------------


def test_why_a_customers_payment_failed(
    deployment: Deployment, shop: MerchantClient, come: Callable[..., Person]
) -> None:
    failed = PaymentClient(shop).paid(EMPTY_CARD, user=ADAEZE)["txnRef"]
    PaymentClient(shop).paid()
    wait_until("the words are added", lambda: deployment.fetch(BEHIND, shop.mid)[0][0] == 0)
    owner = come("merchant:owner", shop.mid)
    owner.search("Obiora")
    owner.link(failed)
    owner.sees("Insufficient Funds")
    owner.sees("Nobody was charged")


def test_half_of_a_payment_is_refunded(shop: MerchantClient, come: Callable[..., Person]) -> None:
    paid = PaymentClient(shop).paid(amount="3000.00")["txnRef"]
    owner = come("merchant:owner", shop.mid)
    owner.link(paid)
    owner.page.get_by_role("textbox", name="Amount", exact=True).fill("1500")
    owner.button("Refund")
    owner.button("Refund NGN 1,500.00")
    expect(owner.page.locator(".status").nth(1)).to_have_text("partly refunded")


def test_failed_payments_above_an_amount_are_exported(shop: MerchantClient, come: Callable[..., Person]) -> None:
    payments = PaymentClient(shop)
    large = payments.paid(EMPTY_CARD, amount="60000.00")["txnRef"]
    payments.paid(EMPTY_CARD, amount="40000.00")
    payments.paid(amount="70000.00")
    today = datetime.fromisoformat(shop.now())
    owner = come("merchant:owner", shop.mid)
    owner.link("Transactions")
    page = owner.page
    page.get_by_role("combobox", name="Status").select_option("failed")
    page.get_by_role("combobox", name="Kind").select_option("payment")
    owner.click(page.get_by_text("More filters"))
    owner.enter("Amount from", "50,000")
    owner.enter("From", f"{today - timedelta(days=30):%Y-%m-%d}")
    owner.button("Search")
    with page.expect_download() as landing:
        owner.link("Export as CSV")
    lines = Path(landing.value.path()).read_text().splitlines()
    assert [large in line for line in lines] == [False, True]


# --- money out --------------------------------------------------------------------------------------------------------


def test_a_transfer_is_proved_to_its_beneficiarys_bank(shop: MerchantClient, come: Callable[..., Person]) -> None:
    sent = shop.transfer(narration="Invoice 1042")["txnRef"]
    owner = come("merchant:owner", shop.mid)
    owner.link(sent)
    owner.link("Receipt")
    for proof in (sent, "Session", "1,500.00"):
        expect(owner.page.locator("body")).to_contain_text(proof)


def test_a_bulk_is_approved_by_somebody_who_knows_what_it_pays(
    shop: MerchantClient, come: Callable[..., Person]
) -> None:
    shop.put("sandbox", action="payout_policy", approve_bulk=True)
    order = {"amount": "2500.00", "bankcode": "058", "accountnumber": "0000000000", "narration": "Salary"}
    shop.bulk([{**order, "orderRef": f"salary-{number}"} for number in range(3)])
    owner = come("merchant:owner", shop.mid)
    owner.link("3 transfers wait for approval")
    owner.click(owner.page.get_by_role("link", name="See and decide"))
    owner.button("Approve the bulk")
    owner.sees("3 transfers to 1 account, together NGN 7,500.00")
    owner.button("Approve NGN 7,500.00")
    expect(owner.page.get_by_role("status").first).to_contain_text("7,500.00")


def test_how_much_arrives_tomorrow_is_on_the_first_page(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], come: Callable[..., Person]
) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")  # a Monday
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    PaymentClient(shop).paid(amount="5000.00")
    owner = come("merchant:owner", shop.mid)
    arriving = owner.page.get_by_role("region", name="Money that arrives")
    expect(arriving).to_contain_text("NGN tomorrow")
    expect(arriving.locator(".figure")).not_to_contain_text(" 0.00")
    assert owner.clicks == 0


# --- people, keys, events ---------------------------------------------------------------------------------------------


def test_a_colleague_who_may_only_read_is_invited(shop: MerchantClient, come: Callable[..., Person]) -> None:
    owner = come("merchant:owner", shop.mid)
    owner.link("Team")
    owner.enter("Email", f"reader.{shop.mid}@example.com")
    owner.page.get_by_role("combobox", name="Role").select_option("merchant:read-only")
    owner.button("Invite")
    expect(owner.page.get_by_role("row").filter(has_text=f"reader.{shop.mid}")).to_contain_text("read")


def test_a_key_is_rotated(shop: MerchantClient, come: Callable[..., Person]) -> None:
    owner = come("merchant:owner", shop.mid)
    owner.link("Settings")
    owner.page.get_by_label("Current key").select_option("works for 1 more day")
    owner.button("Create new key")
    key = owner.page.locator("[data-key]").inner_text()
    assert MerchantClient(shop.connection, shop.mid, key).put("resources", inquire="wallet").http == 200
    assert shop.put("resources", inquire="wallet").http == 200, "the old one works for a day"


def test_failed_events_are_sent_again(shop: MerchantClient, come: Callable[..., Person]) -> None:
    with running_inbox() as inbox:
        inbox.answers(then=BROKEN)
        shop.put("sandbox", action="webhook", url=inbox.url)
        sent = shop.transfer()["txnRef"]
        inbox.wait_for(1)
        owner = come("merchant:owner", shop.mid)
        inbox.answers(then=OK)
        owner.link("Events")
        owner.button("Resend")
        again = inbox.wait_for(2)[-1]
        assert again.payload["txnRef"] == sent


def test_an_invoice_of_three_lines_is_made_and_sent(shop: MerchantClient, come: Callable[..., Person]) -> None:
    customer: dict[str, Any] = {"name": "Adaeze Obiora", "email": "adaeze@example.com"}
    customer_id = shop.put("resources", request="customer", **customer).body["data"]["customer_id"]
    owner = come("merchant:owner", shop.mid)
    owner.link("Invoices")
    owner.link("Make an invoice")
    form = owner.page.locator("form[action='/invoices/new/create']")
    owner.enter("Customer", customer_id, form)
    for number, (what, price) in enumerate((("Fabric", "12,500"), ("Sewing", "8,000"), ("Delivery", "2,500")), 1):
        owner.enter(f"Item {number}", what, form)
        owner.enter(f"Price of item {number}", price, form)
    owner.button("Make an invoice", form)
    owner.button("Mail to the customer", owner.page.locator("form[action$='/send']"))
    owner.sees("23,000.00")
    [mail] = shop.put("resources", inquire="mail").body["data"]
    assert mail["to"] == "adaeze@example.com"


# --- lending ----------------------------------------------------------------------------------------------------------


def test_a_late_loan_shows_what_is_owed(open_shop: Callable[..., MerchantClient], come: Callable[..., Person]) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    loan = bank.lend()
    shop.advance(days=40)
    overdue = bank.loans("list")["data"][0]["overdue"]
    owner = come("merchant:owner", shop.mid)
    owner.link("1 loan is late")
    expect(owner.page.get_by_role("row").filter(has_text=loan)).to_contain_text(f"{float(overdue):,.2f}")
    owner.link(loan)
    owner.sees("In arrears")


# --- operators --------------------------------------------------------------------------------------------------------


def test_a_day_is_closed(deployment: Deployment, come: Callable[..., Person]) -> None:
    finance = come("operator:finance")
    finance.link("Daily closes")
    finance.button("Close the books now")
    finance.button("Close the books")
    expect(finance.page.get_by_role("status").first).to_contain_text("The books are closed")


def test_the_rail_that_is_slow_is_named(deployment: Deployment, come: Callable[..., Person]) -> None:
    deployment.fetch(SLOW_RAIL)
    support = come("operator:support")
    support.link("Calls of rails")
    support.sees("tortoise is the slowest")
    deployment.fetch("delete from rail_timing where rail = 'tortoise'")


def test_an_operators_mistake_is_reversed(
    deployment: Deployment, shop: MerchantClient, come: Callable[..., Person]
) -> None:
    first, second = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    first.get("/operator/approvals")
    fields = {"mid": shop.mid, "debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "777.00"}
    before = shop.wallet().balance
    assert first.post("/operator/approvals/posting", **fields, reason=f"mistake {shop.mid}").http == 303
    approve = "select max(approval_id) from approval where mid = $1"

    def decide() -> None:
        [[number]] = deployment.fetch(approve, shop.mid)
        second.get("/operator/approvals")
        assert second.post(f"/operator/approvals/{number}/approve").http == 303

    decide()
    assert shop.wallet().balance == before + 77_700
    finance = come("operator:finance")
    finance.link("Approvals")
    finance.link("Decided")
    mistake = finance.page.get_by_role("region").filter(has_text=f"mistake {shop.mid}")
    finance.link("Propose the reversal", mistake)
    finance.button("Propose", finance.page.locator("form[action='/operator/approvals/posting']"))
    expect(finance.page.get_by_role("status").first).to_contain_text("Proposed")
    decide()
    assert shop.wallet().balance == before


def test_a_new_merchant_is_taken_on(deployment: Deployment, come: Callable[..., Person]) -> None:
    admin = come("operator:admin")
    admin.link("Merchants")
    admin.enter("Name", "Bisi Stores")
    admin.button("Add merchant")
    mid = admin.page.locator("dd.mono").first.inner_text()
    admin.link("Invite the owner")
    admin.enter("Email of the first owner", f"owner.{mid}@example.com")
    admin.button("Invite owner")
    admin.sees(f"owner.{mid}@example.com")
