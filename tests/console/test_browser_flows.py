"""Flows of the console in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyotp
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import BROWSER_GROUP, OpenPage, browser, press_and_leave, reuse_page, reused
from tests.console.page_checks import faults_in_all_viewports
from tests.console.visitor import browser_state_of, sign_in_link
from tests.merchant_client import MerchantClient
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment
from tests.webhooks.inbox import running_inbox

__all__ = ["browser", "reuse_page", "reused"]
pytestmark = BROWSER_GROUP

PASSWORD = "correct horse battery"


def press(page: Page | Locator, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


@pytest.fixture
def address(deployment: Deployment) -> str:
    return f"http://127.0.0.1:{deployment.console_port}"


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient, reuse_page: OpenPage) -> Page:
    return open_overview(deployment, shop, reuse_page)


def open_overview(deployment: Deployment, shop: MerchantClient, reuse_page: OpenPage) -> Page:
    page = reuse_page(storage_state=browser_state_of(deployment, "merchant:owner", shop.mid))
    page.goto(f"http://127.0.0.1:{deployment.console_port}")
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    return page


def test_an_invited_user_sets_up_a_second_factor_and_signs_in_with_it(
    deployment: Deployment, shop: MerchantClient, reuse_page: OpenPage, address: str
) -> None:
    page = reuse_page(width=360, theme="dark")
    email, link = sign_in_link(deployment, "merchant:owner", shop.mid, "invitation")
    page.goto(address + link)
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)
    press(page, "Set password and sign in")
    page.get_by_role("link", name=email).click()
    page.get_by_role("link", name="Set up second factor").click()
    secret = page.locator("code.copyable").inner_text().replace(" ", "")
    page.get_by_label("Code from the new authenticator").fill(pyotp.TOTP(secret).now())
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Turn on")
    expect(page.get_by_role("status")).to_contain_text("you need a code to sign in")
    press(page, "Sign out")
    page.get_by_label("Email", exact=True).fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")
    expect(page.get_by_role("heading", name="Enter your code")).to_be_visible()
    assert faults_in_all_viewports(page, "sign-in.code") == []
    # The code of now was used to switch it on, and works once: a clock a little ahead brings the next.
    deployment.fetch("update console_user set totp_step = totp_step - 1 where email = $1", email)
    page.get_by_label("Six-digit code from your authenticator").fill(pyotp.TOTP(secret).now())
    press(page, "Continue")
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()


def test_a_new_key_is_created_and_works(owner: Page, shop: MerchantClient) -> None:
    owner.get_by_role("list", name="Account").get_by_role("link", name="Settings").click()
    owner.get_by_label("Current key").select_option("works for 1 more hour")
    press(owner, "Create new key")
    key = owner.locator("[data-key]").inner_text()
    assert faults_in_all_viewports(owner, "settings.key") == []
    assert MerchantClient(shop.connection, shop.mid, key).put("resources", inquire="wallet").http == 200
    owner.get_by_role("link", name="Back to Settings").click()
    expect(owner.get_by_role("listitem").filter(has_text="valid until")).to_have_count(1)
    assert key not in owner.content()


def test_a_form_continues_after_step_up_authentication(
    deployment: Deployment, shop: MerchantClient, reuse_page: OpenPage, address: str
) -> None:
    page = reuse_page()
    email, link = sign_in_link(deployment, "merchant:owner", shop.mid, "invitation")
    page.goto(address + link)
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)
    press(page, "Set password and sign in")
    deployment.fetch_as_service("update console_session set verified_at = verified_at - interval '1 hour'")
    page.get_by_role("link", name="Team").click()
    page.get_by_label("Email", exact=True).fill(f"colleague.{shop.mid}@example.com")
    press(page, "Invite")
    expect(page.get_by_role("heading", name="Confirm your identity")).to_be_visible()
    assert faults_in_all_viewports(page, "confirm") == []
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Confirm")
    expect(page.get_by_role("row").filter(has_text=f"colleague.{shop.mid}@example.com")).to_have_count(1)
    assert email in page.content()


def test_a_webhook_url_is_set_and_events_arrive_and_are_resent(owner: Page, shop: MerchantClient) -> None:
    with running_inbox() as inbox:
        owner.get_by_role("list", name="Account").get_by_role("link", name="Settings").click()
        owner.get_by_label("URL").fill("ftp://127.0.0.1/")
        press(owner.locator("section", has_text="Webhook"), "Save")
        expect(owner.locator("#fault-url")).to_be_visible()
        owner.get_by_label("URL").fill(inbox.url)
        press(owner.locator("section", has_text="Webhook"), "Save")
        expect(owner.get_by_role("status")).to_contain_text("Events are sent to this URL")
        press(owner, "Send a test event")
        expect(owner.get_by_role("status")).to_contain_text("HTTP 200")
        assert inbox.wait_for(1)[0].payload["txnRef"] == "TEST"
        sent = shop.transfer()
        assert inbox.wait_for(2)[1].payload["txnRef"] == sent["txnRef"]
        owner.get_by_role("link", name="Events", exact=True).click()
        owner.get_by_role("link", name="evt_").click()
        press(owner, "Resend event")
        assert inbox.wait_for(3)[2].id == inbox.requests[1].id


def test_a_payment_is_refunded_from_its_page(owner: Page, shop: MerchantClient, address: str) -> None:
    paid = PaymentClient(shop).paid()
    owner.get_by_role("link", name="Transactions", exact=True).click()
    owner.get_by_role("link", name=paid["txnRef"]).click()
    amount = owner.get_by_role("textbox", name="Amount", exact=True)
    amount.fill("1000000.00")
    press(owner, "Refund")
    expect(owner.locator(".alert, .fault").first).to_be_visible()
    amount.fill("100.00")
    owner.get_by_label("Comment").fill("one shirt came back")
    press(owner, "Refund")
    expect(owner.get_by_role("heading", name="Refund NGN 100.00?")).to_be_visible()
    assert faults_in_all_viewports(owner, "confirm.refund") == []
    owner.get_by_role("link", name="Cancel").click()
    expect(amount).to_have_value("1500.00")
    amount.fill("100.00")
    owner.get_by_label("Comment").fill("one shirt came back")
    press(owner, "Refund")
    press(owner, "Refund NGN 100.00")
    expect(owner.get_by_role("status")).to_contain_text("Refund")
    expect(owner.locator(".status").nth(1)).to_have_text("partly refunded")
    expect(amount).to_have_value("1400.00")
    expect(owner.get_by_role("region", name="Refunds").get_by_role("row")).to_have_count(2)
    owner.goto(f"{address}/transactions?kind=refund")
    expect(owner.get_by_role("row").filter(has_text="100.00")).to_have_count(1)


def test_a_loan_is_approved_and_its_schedule_shown(owner: Page, shop: MerchantClient) -> None:
    lender = LendingClient(shop.connection, shop.mid, shop.key)
    asked = lender.request(lender.client())["data"]["loan_id"]
    owner.get_by_role("link", name="Loans").click()
    owner.get_by_role("link", name=asked).click()
    expect(owner.get_by_role("region", name="Schedule").get_by_role("row")).not_to_have_count(1)
    press(owner, "Approve and disburse")
    expect(owner.locator(".status").first).to_have_text("active")
    assert lender.view(asked)["state"] == "active"


def test_a_bulk_file_with_two_invalid_rows_sends_the_others(owner: Page, shop: MerchantClient, tmp_path: Path) -> None:
    rows = ["amount,bankcode,accountnumber,narration", "100.00,058,0000000000,one", "-5,058,0000000000,two"]
    rows += ["100.00,058,123,three", "200.50,058,0000000000,four"]
    (tmp_path / "orders.csv").write_text("\n".join(rows))
    owner.get_by_role("link", name="Transfers", exact=True).click()
    owner.get_by_label("CSV file").set_input_files(tmp_path / "orders.csv")
    press(owner, "Check file")
    expect(owner.get_by_role("heading", name="2 of 4 orders are valid")).to_be_visible()
    faults = owner.get_by_role("region", name="Orders with errors").locator(".fault")
    expect(faults).to_have_count(2)
    assert faults_in_all_viewports(owner, "transfers.bulk.preview") == []
    press(owner, "Send 2 transfers")
    expect(owner.get_by_role("heading", name="Bulk of NGN 300.50")).to_be_visible()
    assert faults_in_all_viewports(owner, "transfers.bulk.send") == []
    assert shop.put("sandbox", action="advance", seconds=1).http == 200
    assert shop.put("resources", inquire="events").body["total"] == 2


def test_a_transfer_is_previewed_and_sent_and_the_clock_advanced(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], reuse_page: OpenPage
) -> None:
    """The clock stands still, so that the worker does not find an end while we look."""
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    owner = open_overview(deployment, shop, reuse_page)
    owner.get_by_role("link", name="Transfers", exact=True).click()
    owner.get_by_label("Amount in NGN").fill("2500")
    owner.get_by_label("Bank", exact=True).select_option("Guaranty Trust Bank")
    owner.get_by_label("Account number").fill("0000000900")
    press(owner, "Preview")
    expect(owner.get_by_role("heading", name="Confirm transfer")).to_be_visible()
    assert faults_in_all_viewports(owner, "transfers.preview") == []
    press(owner, "Send transfer")
    expect(owner.locator(".status").first).to_have_text("pending")
    owner.get_by_role("link", name="Sandbox").click()
    before = shop.now()
    owner.get_by_label("Hours", exact=True).fill("2")
    press(owner, "Advance clock")
    expect(owner.get_by_role("status")).to_contain_text("disburse")
    assert shop.now() > before
    owner.get_by_role("link", name="Transactions", exact=True).click()
    expect(owner.get_by_role("row").filter(has_text="2,500.00").locator(".status")).to_have_text("successful")


def test_an_export_shows_its_progress_and_is_saved_as_a_file(owner: Page, shop: MerchantClient) -> None:
    shop.transfer()
    owner.get_by_role("link", name="Transactions", exact=True).click()
    with owner.expect_download() as landing:
        owner.get_by_role("link", name="Export as CSV").click()
    expect(owner.locator("[data-export-progress]")).to_have_text("1 rows exported.")
    content: Any = Path(landing.value.path()).read_text()
    assert len(content.splitlines()) == 2


def test_navigation_and_forms_work_with_the_keyboard_alone(owner: Page) -> None:
    owner.keyboard.press("Tab")
    expect(owner.get_by_role("link", name="Skip to content")).to_be_focused()
    owner.keyboard.press("Enter")
    assert owner.evaluate("location.hash") == "#content"
    owner.get_by_role("link", name="Transfers", exact=True).focus()
    press_and_leave(owner.locator(":focus"), "Enter")
    owner.get_by_label("Amount in NGN").focus()
    owner.keyboard.type("5")
    owner.keyboard.press("Tab")
    owner.keyboard.type("Zenith Bank")
    owner.keyboard.press("Tab")
    owner.keyboard.type("123")
    press_and_leave(owner.locator(":focus"), "Enter")
    expect(owner.locator("#fault-accountnumber")).to_be_visible()
    expect(owner.get_by_label("Account number")).to_have_attribute("aria-invalid", "true")


def test_the_menu_of_a_telephone_opens_the_pages(owner: Page) -> None:
    owner.set_viewport_size({"width": 360, "height": 800})
    link = owner.get_by_role("navigation", name="Pages").get_by_role("link", name="Customers")
    expect(link).to_be_hidden()
    press(owner, "Menu")
    expect(link).to_be_visible()
    assert faults_in_all_viewports(owner, "menu") == []
    owner.set_viewport_size({"width": 360, "height": 800})
    link.click()
    expect(owner.get_by_role("heading", name="Customers", level=1)).to_be_visible()


def test_a_list_is_filtered_saved_and_shown_with_other_columns(owner: Page, shop: MerchantClient) -> None:
    PaymentClient(shop).paid()
    shop.transfer(accountnumber="0000005100")
    owner.get_by_role("link", name="Transactions", exact=True).click()
    owner.get_by_role("combobox", name="Status").select_option("failed")
    press(owner, "Search")
    owner.get_by_text("Save this filter").click()
    owner.get_by_label("Name of the filter").fill("Failed ones")
    press(owner, "Save")
    owner.get_by_text("Columns", exact=True).click()
    owner.get_by_role("checkbox", name="Message").check()
    press(owner, "Show")
    expect(owner.get_by_role("columnheader", name="Message")).to_be_visible()
    owner.get_by_role("link", name="Clear").click()
    expect(owner.get_by_role("region", name="Transactions").get_by_role("row")).to_have_count(3)
    owner.get_by_role("link", name="Failed ones").click()
    expect(owner.get_by_role("region", name="Transactions").get_by_role("row")).to_have_count(2)
    assert faults_in_all_viewports(owner, "transactions.saved", has_chosen_columns=True) == []


def test_a_pending_transfer_is_ended_and_the_clock_advanced_in_context(owner: Page, shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber="0000000020")["txnRef"]
    owner.get_by_role("link", name="Transactions", exact=True).click()
    owner.get_by_role("link", name=sent).click()
    press(owner, "Complete as failed")
    expect(owner.locator(".status").first).to_have_text("failed")
    before = shop.now()
    owner.locator(".clock summary").click()
    press(owner, "7 days")
    expect(owner.locator(".status").first).to_have_text("failed")
    expect(owner.locator(".clock .tag")).to_have_text("moved")
    assert shop.now() > before


def test_the_search_of_the_header_finds_a_customer_by_name(owner: Page, shop: MerchantClient) -> None:
    shop.put("resources", request="customer", name="Adaeze Obiora", email="adaeze@example.com")
    owner.get_by_label("Reference, name, amount or email").fill("adae")
    press_and_leave(owner.locator(":focus"), "Enter")
    owner.get_by_role("link", name="Adaeze Obiora").click()
    expect(owner.get_by_role("heading", name="Adaeze Obiora")).to_be_visible()


def test_a_bulk_is_approved_after_its_sum_was_shown(owner: Page, shop: MerchantClient, address: str) -> None:
    shop.put("sandbox", action="payout_policy", approve_bulk=True)
    line = {"amount": "1250.50", "bankcode": "058", "accountnumber": "0000000000", "sender_name": "Ada Stores"}
    shop.bulk([{**line, "orderRef": f"salary-{n}", "narration": f"Salary of person {n}"} for n in range(60)])
    owner.goto(f"{address}/transfers/waiting")
    expect(owner.get_by_role("button", name="Approve the bulk")).to_have_count(0)
    owner.get_by_role("link", name="See and decide").click()
    panel = owner.get_by_role("region", name="What it pays")
    expect(panel).to_contain_text("75,030.00")
    expect(panel).to_contain_text("60")
    expect(owner.get_by_text("This page shows 50 of 60 orders.")).to_be_visible()
    press(owner, "Look up the names of these accounts")
    expect(owner.get_by_role("cell", name="Salary of person").first).to_be_visible()
    press(owner, "Approve the bulk")
    expect(owner.get_by_role("heading", name="Approve 60 transfers of NGN 75,030.00?")).to_be_visible()
    owner.get_by_role("link", name="Cancel").click()
    assert shop.status_of("salary-0") == "pending"
    press(owner, "Approve the bulk")
    press(owner, "Approve NGN 75,030.00")
    expect(owner.locator(".flash")).to_contain_text("Approved 60 orders, NGN 75,030.00.")
    expect(owner.get_by_role("button", name="Approve the bulk")).to_have_count(0)


def test_a_key_is_revoked_only_after_a_question(owner: Page, shop: MerchantClient, address: str) -> None:
    made = shop.put("sandbox", action="new_key", name="payroll", scopes=["payout"]).body
    client = MerchantClient(shop.connection, shop.mid, made["key"])
    owner.goto(f"{address}/settings/keys")
    row = owner.get_by_role("row").filter(has_text="payroll")
    press(row, "Revoke")
    expect(owner.get_by_role("heading", name="Revoke key 2, payroll?")).to_be_visible()
    owner.get_by_role("link", name="Cancel").click()
    assert client.transfer()["status"] == 200
    press(row, "Revoke")
    press(owner, "Revoke key 2")
    expect(owner.get_by_role("status")).to_contain_text("Key 2 no longer works.")
    expect(row).to_have_count(0)
