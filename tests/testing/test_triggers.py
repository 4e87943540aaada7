"""`trigger` of the pytest plugin."""

import pytest

from kasuwa.testing import SandboxMerchant
from kasuwa_client import DisputeEvent, Refused, TransferEvent


def test_a_triggered_event_is_returned_and_was_delivered(kasuwa: SandboxMerchant) -> None:
    disputed = kasuwa.trigger("dispute.opened", amount="900.00")
    assert isinstance(disputed, DisputeEvent)
    assert kasuwa.events.one(DisputeEvent, ref=disputed.txn_ref).event_id == disputed.event_id
    sent = kasuwa.trigger("transfer.successful", amount=10)
    assert isinstance(sent, TransferEvent)
    assert (sent.txn_status, str(sent.charged_amount)) == ("successful", "10.00")


def test_a_request_that_is_refused_names_its_reason(kasuwa: SandboxMerchant) -> None:
    with pytest.raises(Refused, match=r"transfer.successful: disburse refused a request: amount: "):
        kasuwa.trigger("transfer.successful", amount="nothing")
    with pytest.raises(Refused, match=r"did you mean loan\.late\?"):
        kasuwa.trigger("loan.lat")
