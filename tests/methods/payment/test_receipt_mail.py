"""Receipts by mail: who gets one, and what it says. Contract: resources#receipt-mail"""

from typing import Any

import pytest

from kasuwa.methods.mail.model import MailRow, read_content
from kasuwa.terms.mail import MailTerms
from tests.methods.payment.in_memory_payments import APPROVED, CARD, DECLINED, InMemoryPayments, begin, paid_card
from tests.rule_context import VAULT, merchant

PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}


def open_books(*, receipts: bool = True) -> InMemoryPayments:
    return InMemoryPayments(of=merchant(mail=MailTerms(receipts=receipts)))


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
