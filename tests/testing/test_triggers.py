"""`trigger` of the pytest plugin."""

from decimal import Decimal

import pytest

from kasuwa.testing import SandboxMerchant
from kasuwa_client import DisputeEvent, InvoiceEvent, LoanEvent, Refused, TransferEvent


def test_a_triggered_event_is_returned_and_was_delivered(kasuwa: SandboxMerchant) -> None:
    disputed = kasuwa.trigger("dispute.opened", amount="900.00")
    assert isinstance(disputed, DisputeEvent)
    assert kasuwa.events.one(DisputeEvent, ref=disputed.txn_ref).event_id == disputed.event_id
    sent = kasuwa.trigger("transfer.successful", amount=10)
    assert isinstance(sent, TransferEvent)
    assert (sent.txn_status, str(sent.charged_amount)) == ("successful", "10.00")


def test_a_change_may_be_a_number_or_a_list(kasuwa: SandboxMerchant) -> None:
    sent = kasuwa.trigger("transfer.successful", amount=Decimal("20.50"))
    assert isinstance(sent, TransferEvent)
    assert str(sent.charged_amount) == "20.50"
    lent = kasuwa.trigger("loan.late", period=6, tax_applied=False)
    assert isinstance(lent, LoanEvent)
    assert len(kasuwa.client.loans.view(loan_id=lent.loan_id).data.schedule) == 6
    items = [{"description": "Hemming", "amount": "700.00"}]
    invoice = kasuwa.trigger("invoice", items=items)
    assert isinstance(invoice, InvoiceEvent)
    assert kasuwa.client.resources.invoice_detail(invoice_id=invoice.invoice_id).raw["data"]["total"] == "700.00"


def test_a_request_that_is_refused_names_its_reason(kasuwa: SandboxMerchant) -> None:
    with pytest.raises(Refused, match=r"transfer.successful: disburse refused a request: amount: "):
        kasuwa.trigger("transfer.successful", amount="nothing")
    with pytest.raises(Refused, match=r"did you mean loan\.late\?"):
        kasuwa.trigger("loan.lat")
