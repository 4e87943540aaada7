"""Mails over HTTP: sent by the worker, kept in the outbox, told apart by merchant, erased. (resources#mail)"""

from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient
from tests.methods.invoices.test_http import made, register, show
from tests.running import Deployment
from tests.webhooks.event_log import wait_until


def send(shop: MerchantClient, invoice_id: str, **fields: Any) -> Any:
    return shop.put("resources", request="invoice_send", invoice_id=invoice_id, **fields).body


def list_mails(shop: MerchantClient, **fields: Any) -> Any:
    return shop.put("resources", inquire="mail", **fields).body["data"]


def read(shop: MerchantClient, mail_id: str) -> Any:
    return shop.put("resources", inquire="mail", mail_id=mail_id).body


def send_invoice_to(shop: MerchantClient, email: str) -> str:
    """Makes an invoice for a customer with this address, mails it and returns the id of the mail."""
    record = made(shop, customer_id=register(shop, email=email))
    return str(send(shop, record["invoice_id"])["data"]["mail_id"])


def wait_for(shop: MerchantClient, mail_id: str, status: str) -> Any:
    wait_until(f"the mail is {status}", lambda: read(shop, mail_id)["data"]["status"] == status)
    return read(shop, mail_id)["data"]


def test_an_invoice_is_mailed_by_the_worker_and_kept_in_the_outbox(shop: MerchantClient) -> None:
    record = made(shop)
    sent = send(shop, record["invoice_id"])
    assert (sent["status"], sent["message"], sent["data"]["mail_status"]) == (200, "Invoice Sent", "queued")
    mail = wait_for(shop, sent["data"]["mail_id"], "sent")
    assert [mail[name] for name in ("purpose", "reference", "to", "to_name", "attempts", "reply_code")] == [
        "invoice",
        record["invoice_id"],
        "ada@example.com",
        "Ada Obi",
        1,
        "250 2.0.0",
    ]
    for link in (record["link"], f"{record['link']}/invoice.pdf"):
        assert link in mail["text"]
        assert link in mail["html"]


@pytest.mark.parametrize(("address", "status", "code"), [("bounce", "failed", "550 5.1.1"), ("lost", "unknown", None)])
def test_a_mail_that_failed_is_seen_and_sent_again_by_a_person(
    shop: MerchantClient, address: str, status: str, code: str | None
) -> None:
    mail_id = send_invoice_to(shop, f"{address}@example.com")
    assert wait_for(shop, mail_id, status)["reply_code"] == code
    assert [mail["mail_id"] for mail in list_mails(shop, status=status)] == [mail_id]
    again = shop.put("resources", request="mail", mail_id=mail_id).body
    assert (again["message"], again["data"]["status"]) == ("The mail is queued again", "queued")
    wait_until("it is tried again", lambda: read(shop, mail_id)["data"]["attempts"] == 2)


def test_a_busy_mailbox_is_tried_for_days_and_then_given_up(shop: MerchantClient) -> None:
    shop.put("sandbox", action="freeze")
    mail_id = send_invoice_to(shop, "busy@example.com")
    wait_until("it was tried", lambda: read(shop, mail_id)["data"]["attempts"] >= 1)
    assert read(shop, mail_id)["data"]["status"] == "queued"
    assert shop.advance(days=3)["ran"]["mail"] == 8
    mail = read(shop, mail_id)["data"]
    assert (mail["status"], mail["attempts"], mail["sent_at"]) == ("failed", 9, None)
    refused = shop.put("resources", request="mail", mail_id="ML" + "0" * 32).body
    assert (refused["status"], refused["message"]) == (104, "Invalid Mail Reference")


def test_a_customer_is_reminded_at_nine_in_lagos(shop: MerchantClient) -> None:
    shop.put("sandbox", action="freeze")
    record = made(shop, date_due="2099-03-05")
    sent = send(shop, record["invoice_id"], reminders=True)["data"]
    assert (sent["reminders"], sent["next_reminder"]) == (True, "2099-03-02T08:00:00.000Z")
    assert show(shop, record["invoice_id"])["reminders"] is True


def test_merchants_see_and_send_only_their_own_mails(open_shop: Any) -> None:
    ours, theirs = open_shop(), open_shop()
    mail_id = send_invoice_to(theirs, "bounce@example.com")
    wait_for(theirs, mail_id, "failed")
    assert list_mails(ours) == []
    for fields in ({"inquire": "mail"}, {"request": "mail"}):
        reply = ours.put("resources", mail_id=mail_id, **fields).body
        assert (reply["status"], reply["message"]) == (104, "Invalid Mail Reference")


def test_a_repeated_request_mails_once(shop: MerchantClient) -> None:
    invoice_id = made(shop)["invoice_id"]
    assert send(shop, invoice_id)["message"] == "Invoice Sent"
    assert send(shop, invoice_id)["message"] == "Invoice Sent Already"
    assert len(list_mails(shop)) == 1


def test_a_payer_gets_a_receipt_that_is_erased_with_the_payer(shop: MerchantClient, deployment: Deployment) -> None:
    deployment.change_settings(shop.mid, mail={"receipts": True})
    fields = {"account": {"accountnumber": "0000000000", "bankcode": "058"}, "user": {"email": "payer@example.com"}}
    asked = shop.put("payment", action="charge", paymentType="account", amount="1000.00", **fields).body
    shop.put("payment", action="validate", txnRef=asked["txnRef"], validate="account", otp="123456")
    [line] = list_mails(shop)
    assert [line[name] for name in ("purpose", "reference", "to")] == [
        "payment_receipt",
        asked["txnRef"],
        "payer@example.com",
    ]
    wait_for(shop, line["mail_id"], "sent")
    customer_id = register(shop, email="payer@example.com")
    exported = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))
    assert [mail["mail_id"] for mail in exported["records"]["mail"]] == [line["mail_id"]]
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    assert read(shop, line["mail_id"])["data"]["to"] is None


def test_mails_are_erased_with_their_customer(shop: MerchantClient, deployment: Deployment) -> None:
    customer_id = register(shop, email="erased@example.com")
    record = made(shop, customer_id=customer_id)
    mail_id = send(shop, record["invoice_id"])["data"]["mail_id"]
    wait_for(shop, mail_id, "sent")
    exported = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))
    [line] = exported["records"]["mail"]
    assert (line["to"], line["text"]) == ("erased@example.com", None)
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    mail = read(shop, mail_id)["data"]
    assert (mail["status"], mail["to"], mail["text"]) == ("sent", None, None)


# --- text messages ----------------------------------------------------------------------------------------------------

# No mail can be sent to it: its host is not written in ASCII.
NOT_MAILED = "ada@b\u00fccher.example"


def send_text_to(shop: MerchantClient, phone: str) -> str:
    """Makes an invoice for a customer with a number and no address that takes mail, and returns the id of its mail."""
    record = made(shop, customer_id=register(shop, email=NOT_MAILED, phone=phone))
    return str(send(shop, record["invoice_id"])["data"]["mail_id"])


def test_a_payer_by_telephone_gets_a_text_message_in_the_same_outbox(
    shop: MerchantClient, deployment: Deployment
) -> None:
    deployment.change_settings(shop.mid, mail={"receipts": True, "sms": True})
    asked = shop.put("payment", action="charge", paymentType="phone", amount="1000.00", phonenumber="08031234567").body
    shop.put("sandbox", action="settle", txnRef=asked["txnRef"], outcome="successful")
    [line] = list_mails(shop)
    assert [line[name] for name in ("purpose", "reference", "channel", "to", "subject")] == [
        "payment_receipt",
        asked["txnRef"],
        "sms",
        "+2348031234567",
        "",
    ]
    message = wait_for(shop, line["mail_id"], "sent")
    assert (message["attempts"], message["reply_code"], message["html"]) == (1, "200", "")
    assert asked["txnRef"] in message["text"]


@pytest.mark.parametrize(
    ("phone", "status", "code"), [("08030000550", "failed", "400"), ("08030000504", "unknown", None)]
)
def test_a_text_message_that_failed_is_seen_and_sent_again_by_a_person(
    shop: MerchantClient, deployment: Deployment, phone: str, status: str, code: str | None
) -> None:
    deployment.change_settings(shop.mid, mail={"sms": True})
    mail_id = send_text_to(shop, phone)
    assert wait_for(shop, mail_id, status)["reply_code"] == code
    assert shop.put("resources", request="mail", mail_id=mail_id).body["data"]["status"] == "queued"
    wait_until("it is tried again", lambda: read(shop, mail_id)["data"]["attempts"] == 2)


def test_a_text_message_is_exported_and_erased_with_its_customer(shop: MerchantClient, deployment: Deployment) -> None:
    deployment.change_settings(shop.mid, mail={"sms": True})
    customer_id = register(shop, email=NOT_MAILED, phone="08031234567")
    record = made(shop, customer_id=customer_id)
    mail_id = send(shop, record["invoice_id"])["data"]["mail_id"]
    wait_for(shop, mail_id, "sent")
    exported = msgspec.json.decode(deployment.run_command("customer", "export", shop.mid, customer_id))
    assert [(line["channel"], line["to"]) for line in exported["records"]["mail"]] == [("sms", "+2348031234567")]
    deployment.run_command("customer", "erase", shop.mid, customer_id, "--yes")
    erased = read(shop, mail_id)["data"]
    assert [erased[name] for name in ("status", "channel", "to", "text")] == ["sent", None, None, None]
