"""Receipts by mail: who gets one, and what it says. Contract: resources#receipt-mail"""

from typing import Any

import msgspec
import pytest

from kasuwa.methods.mail.model import MailRow, read_content
from kasuwa.terms.mail import MailTerms
from kasuwa.terms.sms import is_one_sms
from tests.methods.payment.in_memory_payments import APPROVED, CARD, DECLINED, InMemoryPayments, begin, paid_card
from tests.rule_context import VAULT, merchant

PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}


def open_books(*, receipts: bool = True, sms: bool = False, name: str = "Ada Stores") -> InMemoryPayments:
    of = merchant(mail=MailTerms(receipts=receipts, sms=sms))
    return InMemoryPayments(of=msgspec.structs.replace(of, name=name))


def read_mail(payments: InMemoryPayments) -> Any:
    [mail] = payments.of_type(MailRow)
    content = read_content(mail, VAULT.unseal)
    assert content is not None
    return mail, content


def test_the_payer_of_a_successful_payment_gets_a_receipt() -> None:
    payments = open_books()
    paying = paid_card(payments, user=PAYER)
    mail, content = read_mail(payments)
    assert (mail.purpose, mail.reference, mail.customer_id) == ("payment_receipt", paying.txn_ref, "")
    assert (content.to, content.to_name, content.subject) == ("ada@example.com", "Ada Obi", "Receipt from Ada Stores")
    for words in ("NGN 1,500.00", "Paid by: card", "5 January 2026", paying.txn_ref, "no money has moved"):
        assert words in content.text


def test_a_receipt_names_no_card() -> None:
    payments = open_books()
    paid_card(payments, user=PAYER)
    _, content = read_mail(payments)
    for part in (content.text, content.html, content.subject):
        assert CARD["card_no"][-4:] not in part
        assert CARD["card_no"][:6] not in part


def test_a_fee_that_the_payer_bears_is_in_the_receipt() -> None:
    payments = open_books()
    paying = paid_card(payments, user=PAYER, bearer="customer", amount="10000.00")
    fee = (paying.payment.charged - paying.row.amount) / 100
    assert f"Of this, fees: NGN {fee:,.2f}" in read_mail(payments)[1].text


@pytest.mark.parametrize("name", ['<b onclick="x">', "a@bank.example", "Ada\u202eevil"])
def test_what_a_payer_wrote_is_escaped(name: str) -> None:
    payments = open_books()
    paid_card(payments, user={**PAYER, "firstname": name})
    html = read_mail(payments)[1].html
    assert "<b onclick" not in html


def test_no_receipt_is_sent_unless_the_merchant_chose_so() -> None:
    payments = open_books(receipts=False)
    paid_card(payments, user=PAYER)
    assert payments.of_type(MailRow) == []


def test_a_payment_that_failed_or_has_no_address_has_no_receipt() -> None:
    payments = open_books()
    begin(payments, "ussd", user=PAYER).receive_answer(DECLINED)
    begin(payments, "ussd").receive_answer(APPROVED)
    assert payments.of_type(MailRow) == []


def test_a_card_that_is_only_saved_has_no_receipt() -> None:
    payments = open_books()
    schedule = {"06-01-2026": "500.00", "07-01-2026": "500.00"}
    plan = {"payment_schedule": schedule, "total": "1000.00"}
    paid_card(payments, user=PAYER, amount=None, installment=plan)
    assert payments.of_type(MailRow) == []


# --- by text message --------------------------------------------------------------------------------------------------


def pay_by_telephone(payments: InMemoryPayments, method: str = "phone", **changes: Any) -> Any:
    paying = begin(payments, method, **changes)
    paying.receive_answer(APPROVED)
    assert paying.row.status == "successful"
    return paying


def test_a_payer_who_gave_a_telephone_number_and_no_address_gets_a_text_message() -> None:
    payments = open_books(sms=True)
    paying = pay_by_telephone(payments)
    mail, content = read_mail(payments)
    assert (mail.purpose, mail.reference, mail.customer_id) == ("payment_receipt", paying.txn_ref, "")
    assert (content.channel, content.to, content.subject, content.html) == ("sms", "+2348031234567", "", "")
    assert content.text == (
        "Ada Stores: we have received your payment of NGN 1,500.00 on 5 January 2026. "
        f"Reference {paying.txn_ref}. A test: no money has moved."
    )
    assert is_one_sms(content.text)
    assert "8031234567" not in content.text


def test_a_payer_with_an_address_gets_a_mail_and_no_text_message() -> None:
    payments = open_books(sms=True)
    pay_by_telephone(payments, user=PAYER)
    assert read_mail(payments)[1].channel == "mail"


@pytest.mark.parametrize("chosen", [{"sms": False}, {"receipts": False, "sms": True}])
def test_no_text_message_is_sent_unless_the_merchant_chose_so(chosen: dict[str, Any]) -> None:
    payments = open_books(**chosen)
    pay_by_telephone(payments)
    assert payments.of_type(MailRow) == []


@pytest.mark.parametrize("method", ["account", "qrpay", "bank_transfer", "ussd"])
def test_a_payer_without_a_telephone_number_has_no_receipt(method: str) -> None:
    payments = open_books(sms=True)
    begin(payments, method).receive_answer(APPROVED)
    assert payments.of_type(MailRow) == []


def test_a_number_of_another_country_is_written_with_its_code() -> None:
    payments = open_books(sms=True)
    ghana = {"type": "ghana", "country": "GH", "currency": "GHS", "phonenumber": "0241234567", "network": "MTN"}
    pay_by_telephone(payments, "mobile_money", redirect_url=None, **ghana)
    _, content = read_mail(payments)
    assert content.to == "+233241234567"
    assert "GHS 1,500.00" in content.text


@pytest.mark.parametrize("name", ["A" * 100, "Ad\u00e9's {Stores}; \u20ac\n\u202eevil", "\u4e00\u4e8c"])
def test_a_text_message_is_one_whatever_the_merchant_is_called(name: str) -> None:
    payments = open_books(sms=True, name=name)
    paying = pay_by_telephone(payments, amount="9876543.10")
    text = read_mail(payments)[1].text
    assert is_one_sms(text)
    assert paying.txn_ref in text
