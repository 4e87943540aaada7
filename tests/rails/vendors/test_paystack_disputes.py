"""Answers to disputes at Paystack, played by its twin: what is handed in, what is refused, and lost answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from kasuwa.rails.ports import orders
from kasuwa.rails.ports.disputes import DisputeAnswer, EvidenceFile
from kasuwa.rails.ports.orders import NoAnswer, Unavailable
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_disputes import PaystackDisputeRules
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.vendors.paystack.disputes import PaystackDisputes
from kasuwa.rails.vendors.paystack.transfers import PaystackKeys
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

PDF = EvidenceFile("1.pdf", "application/pdf", b"%PDF-1.4 receipt")
EVIDENCE = DisputeAnswer(
    dispute_id="358950",
    is_accepted=False,
    amount=90_000,
    explanation="It was delivered on 3 January.",
    service="A pair of shoes",
    customer_name="Ada Obi",
    customer_email="ada@example.com",
    customer_phone="+2348031234567",
    files=(PDF,),
)
ACCEPTED = DisputeAnswer("358950", is_accepted=True, amount=90_000)


class VendorHarness:
    """The adapter, its vendor, and one dispute that waits for the merchant."""

    def __init__(self, twin: Twin, rules: PaystackRules, transport: Any, key: str) -> None:
        self.twin = twin
        self.rail = PaystackDisputes(transport, twin.url, PaystackKeys(key), Observed())
        rules.accounts.dispute("17000", 90_000)
        self.dispute = rules.accounts.disputes[358_950]
        self.vendor: PaystackDisputeRules = rules.accounts.dispute_answers


def at_paystack(work: Callable[[VendorHarness], Awaitable[Any]], key: str = "sk_test_1") -> Any:
    async def run() -> Any:
        rules = PaystackRules()
        async with twin_of(rules) as (twin, transport):
            return await work(VendorHarness(twin, rules, transport, key))

    return asyncio.run(run())


def test_texts_and_files_are_handed_in_once() -> None:
    async def work(harness: VendorHarness) -> None:
        second = EvidenceFile("2.png", "image/png", b"\x89PNG")
        answer = msgspec.structs.replace(EVIDENCE, files=(PDF, second))
        for _ in range(2):
            assert (await harness.rail.answer_dispute(answer)).status == orders.SUCCESSFUL
        assert harness.vendor.files == {"358950-1.pdf": PDF.content, "358950-2.png": second.content}
        [texts], [answered] = harness.vendor.evidence, harness.vendor.answers
        assert texts == {
            "customer_email": "ada@example.com",
            "customer_name": "Ada Obi",
            "customer_phone": "+2348031234567",
            "service_details": "A pair of shoes",
        }
        assert answered == {
            "resolution": "declined",
            "message": "It was delivered on 3 January.",
            "refund_amount": 0,
            "uploaded_filename": "358950-1.pdf",
            "evidence": 1,
        }
        assert harness.dispute.status == "awaiting-bank-feedback"

    at_paystack(work)


@pytest.mark.parametrize("asks_file", [True, False])
def test_accepted_dispute_is_accepted_there_with_its_amount(asks_file: bool) -> None:
    async def work(harness: VendorHarness) -> None:
        harness.vendor.asks_file_of_acceptance = asks_file
        assert (await harness.rail.answer_dispute(ACCEPTED)).status == orders.SUCCESSFUL
        [answered] = harness.vendor.answers
        assert (answered["resolution"], answered["refund_amount"]) == ("merchant-accepted", 90_000)
        assert harness.dispute.status == "resolved"
        assert harness.vendor.files[answered["uploaded_filename"]].startswith(b"%PDF-")

    at_paystack(work)


def test_texts_that_the_vendor_takes_only_together_are_left_out() -> None:
    async def work(harness: VendorHarness) -> None:
        answer = msgspec.structs.replace(EVIDENCE, customer_phone="")
        assert (await harness.rail.answer_dispute(answer)).status == orders.SUCCESSFUL
        assert (harness.vendor.evidence, len(harness.vendor.answers)) == ([], 1)

    at_paystack(work)


def test_what_the_vendor_does_not_take_is_left_to_the_operator() -> None:
    async def work(harness: VendorHarness) -> None:
        without_file = await harness.rail.answer_dispute(msgspec.structs.replace(EVIDENCE, files=()))
        assert (without_file.status, without_file.message) == (
            orders.FAILED,
            "paystack takes no evidence without a file",
        )
        unknown = await harness.rail.answer_dispute(msgspec.structs.replace(EVIDENCE, dispute_id="1"))
        assert (unknown.status, unknown.message) == (orders.FAILED, "Dispute not found")
        assert harness.vendor.answers == []

    at_paystack(work)


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_lost_answer_is_looked_up_and_the_dispute_answered_once(fault: FaultKind) -> None:
    async def work(harness: VendorHarness) -> None:
        error, is_done = FAULTS_OF_ORDERS[fault]
        harness.twin.add_fault(fault, "/dispute/358950/resolve")
        with pytest.raises(error):
            await harness.rail.answer_dispute(EVIDENCE)
        assert len(harness.vendor.answers) == is_done
        for client in (harness.rail._client,):
            client._held_until = 0.0
        assert (await harness.rail.answer_dispute(EVIDENCE)).status == orders.SUCCESSFUL
        assert len(harness.vendor.answers) == 1

    at_paystack(work)


def test_file_that_is_not_taken_leaves_the_dispute_open() -> None:
    async def work(harness: VendorHarness) -> None:
        harness.twin.add_fault("bad_gateway", "/_files")
        with pytest.raises(Unavailable, match="HTTP 502"):
            await harness.rail.answer_dispute(EVIDENCE)
        harness.twin.add_fault("drop", "/_files")
        with pytest.raises(Unavailable, match="a file was not uploaded"):
            await harness.rail.answer_dispute(EVIDENCE)
        harness.twin.add_fault("page", "/dispute/358950/upload_url")
        with pytest.raises(NoAnswer):
            await harness.rail.answer_dispute(EVIDENCE)
        assert (harness.dispute.status, harness.vendor.answers) == ("awaiting-merchant-feedback", [])

    at_paystack(work)


def test_wrong_key_tells_the_operator_and_nothing_is_shown() -> None:
    async def work(harness: VendorHarness) -> None:
        with pytest.raises(Unavailable) as caught:
            await harness.rail.answer_dispute(EVIDENCE)
        assert "check the keys" in caught.value.notice

    at_paystack(work, key="sk_test_wrong")
    assert "ada@example.com" not in f"{EVIDENCE!r} {PDF!r}"
